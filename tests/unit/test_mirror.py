"""The rules for duplicates and mirrored relations, against a plain reading of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from orienteer.graph import EdgeBatch, GraphBuilder
from orienteer.ingest import DropCounts, clean_edges
from orienteer.records import Node

Row = tuple[str, str, str, str]  # source, type, target, note


class Cleaned:
    """What is left of rows, and what was said of the others."""

    def __init__(self, path: Path, node_types: Mapping[str, str], rows: Sequence[Row]) -> None:
        self.tally = DropCounts()
        with GraphBuilder(path) as builder:
            for node_id, node_type in node_types.items():
                builder.add_node(Node(node_id, node_type, node_id))
            extras: list[Any] = [{"properties": {"note": row[3]}} if row[3] else None for row in rows]
            columns = [[row[at] for row in rows] for at in range(3)]
            builder.add_edges(EdgeBatch(*columns, extras, "edges.tsv", range(2, 2 + len(rows))))
            table = builder.edges
            clean_edges(table, self.tally)
            kept = [row for row in range(len(rows)) if table.keep[row]]
            self.rows = [(*table.ids(row), rows[row][3]) for row in kept]
            self.symmetric = table.symmetric

    @property
    def counts(self) -> dict[str, int]:
        return {cut.reason: cut.count for cut in (*self.tally.dropped, *self.tally.merged)}


def cleaned(tmp_path: Path, node_types: Mapping[str, str], rows: Sequence[Row]) -> Cleaned:
    return Cleaned(tmp_path / "graph", node_types, rows)


GENES = dict.fromkeys("abcdefgh", "gene")
MIXED = {"a": "gene", "b": "gene", "x": "drug", "y": "drug"}


def test_what_a_mirrored_row_says_otherwise_is_told(tmp_path: Path) -> None:
    rows = [
        ("a", "binds", "b", "5 nM"),
        ("b", "binds", "a", "7 nM"),
        ("a", "binds", "c", "x"),
        ("c", "binds", "a", "x"),
    ]
    found = cleaned(tmp_path, GENES, rows)
    assert found.rows == [rows[0], rows[2]]
    (note,) = found.tally.notes
    assert note.startswith("1 mirrored rows carry another text")


def test_of_parallel_mirrored_rows_that_say_the_same_nothing_is_told(tmp_path: Path) -> None:
    one, other = ("a", "binds", "b", "x"), ("a", "binds", "b", "y")
    rows = [one, other, ("b", "binds", "a", "y"), ("b", "binds", "a", "x")]
    found = cleaned(tmp_path, GENES, rows)
    assert (found.rows, found.tally.notes) == ([one, other], [])


def test_a_mirrored_relation_within_a_type_is_stored_once_as_symmetric(tmp_path: Path) -> None:
    rows = [("b", "binds", "a", ""), ("a", "binds", "b", ""), ("a", "binds", "c", ""), ("c", "binds", "a", "")]
    found = cleaned(tmp_path, GENES, rows)
    assert found.rows == [("b", "binds", "a", ""), ("a", "binds", "c", "")]
    assert found.symmetric == {"binds"}
    assert found.counts == {"mirrored": 2}
    (cut,) = found.tally.merged
    assert [(place.file, place.line, place.value) for place in cut.first] == [
        ("edges.tsv", 3, "a -> binds -> b"),
        ("edges.tsv", 5, "c -> binds -> a"),
    ]


def test_between_two_types_all_edges_take_the_direction_of_the_first_row(tmp_path: Path) -> None:
    rows = [("x", "hits", "a", ""), ("b", "hits", "y", ""), ("y", "hits", "b", ""), ("a", "hits", "x", "")]
    found = cleaned(tmp_path, MIXED, rows)
    assert sorted(found.rows) == [("x", "hits", "a", ""), ("y", "hits", "b", "")]
    assert found.symmetric == set()


def test_each_pair_of_types_has_a_direction_of_its_own(tmp_path: Path) -> None:
    types = {"g": "gene", "d": "drug", "p": "pathway", "q": "pathway"}
    rows = [("d", "r", "g", ""), ("g", "r", "d", ""), ("g", "r", "p", ""), ("p", "r", "g", "")]
    rows += [("q", "r", "g", ""), ("g", "r", "q", "")]
    found = cleaned(tmp_path, types, rows)
    assert sorted(found.rows) == [("d", "r", "g", ""), ("g", "r", "p", ""), ("g", "r", "q", "")]


def test_a_text_that_differs_between_the_directions_does_not_matter_and_the_first_stays(tmp_path: Path) -> None:
    rows = [("a", "binds", "b", "a binds b"), ("b", "binds", "a", "b is bound by a")]
    assert cleaned(tmp_path, GENES, rows).rows == [("a", "binds", "b", "a binds b")]


@pytest.mark.parametrize(("alone", "is_mirrored"), [(1, True), (2, False)])
def test_ninety_nine_percent_of_the_rows_need_their_reverse(alone: int, is_mirrored: bool, tmp_path: Path) -> None:
    pairs = [(f"n{n}", f"n{n + 1}") for n in range(0, 198, 2)][: (199 - alone) // 2]
    rows = [row for a, b in pairs for row in ((a, "r", b, ""), (b, "r", a, ""))]
    rows += [(f"n{n}", "r", "hub", "") for n in range(alone)]
    types = dict.fromkeys([f"n{n}" for n in range(200)] + ["hub"], "t")
    found = cleaned(tmp_path, types, rows)
    assert (2 * len(pairs) >= 0.99 * len(rows)) is is_mirrored
    assert len(found.rows) == (len(pairs) + alone if is_mirrored else len(rows))
    assert (found.symmetric == {"r"}) is is_mirrored


def test_a_row_without_reverse_is_turned_where_its_relation_is_mirrored(tmp_path: Path) -> None:
    drugs = {f"d{n}": "drug" for n in range(101)}
    rows = [row for n in range(100) for row in ((f"d{n}", "hits", "g", ""), ("g", "hits", f"d{n}", ""))]
    rows.append(("g", "hits", "d100", ""))
    found = cleaned(tmp_path, {"g": "gene"} | drugs, rows)
    assert sorted(found.rows) == sorted((f"d{n}", "hits", "g", "") for n in range(101))


def test_loops_neither_make_nor_break_a_mirror_and_stay(tmp_path: Path) -> None:
    loops = [(one, "r", one, "") for one in "abcdefgh"]
    assert cleaned(tmp_path / "1", GENES, loops).rows == loops
    assert cleaned(tmp_path / "2", GENES, [*loops, ("a", "r", "b", "")]).symmetric == set()
    found = cleaned(tmp_path / "3", GENES, [*loops, ("a", "r", "b", ""), ("b", "r", "a", "")])
    assert found.rows == [*loops, ("a", "r", "b", "")]


def test_true_mutual_rows_stay(tmp_path: Path) -> None:
    rows = [("a", "depends", "b", ""), ("b", "depends", "a", ""), ("a", "depends", "c", ""), ("c", "depends", "d", "")]
    found = cleaned(tmp_path, GENES, rows)
    assert found.rows == rows
    assert found.counts == {}


def test_only_rows_equal_in_every_column_are_duplicates(tmp_path: Path) -> None:
    rows = [("a", "r", "b", "1"), ("a", "r", "b", "2"), ("a", "s", "b", "1"), ("a", "r", "b", "1"), ("a", "r", "b", "")]
    found = cleaned(tmp_path, GENES, rows)
    assert found.rows == [rows[0], rows[1], rows[2], rows[4]]
    assert found.counts == {"duplicate": 1}
    assert found.tally.merged[0].first[0].line == 5


def test_parallel_edges_of_a_mirrored_relation_stay_as_many_as_one_direction_has(tmp_path: Path) -> None:
    rows = [
        ("a", "r", "b", "1"),
        ("a", "r", "b", "2"),
        ("b", "r", "a", "1"),
        ("b", "r", "a", "2"),
        ("b", "r", "a", "3"),
    ]
    found = cleaned(tmp_path, GENES, rows)
    assert found.rows == [("a", "r", "b", "1"), ("a", "r", "b", "2"), ("a", "r", "b", "3")]


def test_rows_that_lead_nowhere_are_dropped_with_their_ids(tmp_path: Path) -> None:
    rows = [("a", "r", "b", ""), ("a", "r", "nobody", ""), ("ghost", "r", "b", "")]
    found = cleaned(tmp_path, GENES, rows)
    assert found.rows == rows[:1]
    (cut,) = found.tally.dropped
    assert (cut.reason, cut.count) == ("dangling", 2)
    assert [place.value for place in cut.first] == ["a -> r -> nobody", "ghost -> r -> b"]


def test_nothing_to_clean_is_no_error(tmp_path: Path) -> None:
    assert cleaned(tmp_path, GENES, []).rows == []


NODES = {"a": "gene", "b": "gene", "c": "gene", "x": "drug", "y": "drug", "p": "pathway"}
ROW = st.tuples(*(st.sampled_from(list(one)) for one in ("abcxyp", "rs", "abcxyp", ["", "n"])))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(rows=st.lists(ROW, max_size=30), reverse=st.booleans())
def test_cleaning_agrees_with_a_plain_reading_of_the_rules(rows: list[Row], reverse: bool, tmp_path_factory) -> None:
    if reverse:
        rows = rows + [(target, kind, source, note) for source, kind, target, note in rows]
    found = cleaned(tmp_path_factory.mktemp("mirror"), NODES, rows)
    unique = list(dict.fromkeys(rows))
    for kind in "rs":
        ours = [row for row in found.rows if row[1] == kind]
        here = [row for row in unique if row[1] == kind]
        straight = [row for row in here if row[0] != row[2]]
        ends = {(row[0], row[2]) for row in here}
        back = [row for row in straight if (row[2], row[0]) in ends]
        if not straight or len(back) < 0.99 * len(straight):
            assert ours == here
            assert kind not in found.symmetric
            continue
        count = Counter((row[0], row[2]) for row in here)
        left = Counter((row[0], row[2]) for row in ours)
        for a, b in {tuple(sorted(pair)) for pair in ends}:
            assert left[a, b] + (left[b, a] if a != b else 0) == max(count[a, b], count[b, a])
            assert a == b or not (left[a, b] and left[b, a])
        for first in here:
            types = (NODES[first[0]], NODES[first[2]])
            if types[0] != types[1]:
                leader = next(row for row in here if {NODES[row[0]], NODES[row[2]]} == set(types))
                along = (NODES[leader[0]], NODES[leader[2]])
                assert all(
                    (NODES[r[0]], NODES[r[2]]) == along for r in ours if {NODES[r[0]], NODES[r[2]]} == set(types)
                )
        assert (kind in found.symmetric) == any(NODES[row[0]] == NODES[row[2]] for row in straight)
    assert len(found.rows) + sum(found.counts.values()) == len(rows)
