"""Delimited files spoiled as real ones are: how much of the clean table is read, and whether a loss is said."""

from __future__ import annotations

import csv
import io
import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from spoiled import SPOILS, Clean, Score, cells_of, clean_table, f1_of, scores_of

FILES = 8  # of each spoil
WHOLE = ("nothing", "empty rows", "line ends", "quoted newlines", "blank columns")
"""Spoils after which the whole table is read. After the others some is not, or all is refused."""
UNSAID = ("header twice", "footer", "preamble")
"""Spoils of which nothing is said at times: rows that are none are read as rows, a title as the header."""


def table_of(seed: object) -> tuple[Clean, random.Random]:
    chance = random.Random(str(seed))
    return clean_table(chance), chance


@pytest.mark.parametrize("spoil", SPOILS)
def test_a_spoil_leaves_the_keys_of_all_rows_in_the_file(spoil: str) -> None:
    for seed in range(FILES):
        table, chance = table_of(seed)
        content, rows = SPOILS[spoil](table, chance)
        assert [row[0] for row in rows] == [row[0] for row in table.rows]
        assert (content == table.text().encode()) == (spoil == "nothing")
        assert all(row[0].encode() in content or row[0].encode("utf-16-le") in content for row in rows)


def test_cells_are_counted_by_row_and_column() -> None:
    table, _ = table_of("cells")
    clean = cells_of(table.head, table.rows, table.head[0])
    again = list(csv.reader(io.StringIO(table.text(), newline=""), delimiter=table.delimiter))
    assert f1_of(cells_of(again[0], again[1:], table.head[0]), clean) == 1
    assert f1_of(cells_of(again[0], again[2:], table.head[0]), clean) < 1
    assert f1_of(cells_of(again[0], [row[::-1] for row in again[1:]], table.head[0]), clean) < 0.1
    assert f1_of(cells_of(again[1], again[2:], table.head[0]), clean) == 0


@pytest.mark.slow
@pytest.mark.parametrize("spoil", SPOILS)
def test_what_is_not_read_is_said(spoil: str, tmp_path: Path) -> None:
    scores: list[Score] = []
    for seed in range(FILES):
        table, chance = table_of(f"{spoil}-{seed}")
        scores.append(scores_of(tmp_path, str(seed), table, SPOILS[spoil](table, chance), ["ours"])["ours"])
    if spoil in WHOLE:
        assert [score.f1 for score in scores] == [1.0] * FILES
    if spoil not in UNSAID:
        assert all(score.is_honest for score in scores), scores
