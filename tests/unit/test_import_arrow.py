"""Delimited text read by Arrow gives what Python's `csv` gives: rows, lines, refusals."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st

from fakes.inside import inside
from orienteer.errors import BadInput
from orienteer.graph import CodedColumn
from orienteer.index import Strings
from orienteer.ingest import DelimitedText, FieldDialect, has_arrow

pytest.importorskip("pyarrow")

pytestmark = pytest.mark.slow

QUOTED = FieldDialect(",", is_quoted=True)
PLAIN = FieldDialect("\t", is_quoted=False)


def read(path: Path, dialect: FieldDialect | None, *, header: bool = True, rows: int = 3) -> list[object]:
    """Return the rows with their lines, and the rows that were dropped; of a file that is refused the refusal alone."""
    told: list[object] = []

    def drop(*row: object) -> None:
        told.append(("dropped", row))

    try:
        for batch in DelimitedText(dialect).batches(path, rows=rows, drop=drop, header=header):
            told += zip(batch.lines, batch.rows(), strict=bool(batch.columns))
    except BadInput as error:
        return [str(error).partition("; ")[0]]  # the remedies differ
    return told


def both(
    path: Path, dialect: FieldDialect | None, *, block: int, header: bool = True
) -> tuple[list[object], list[object]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inside(has_arrow), "BLOCK", block)
        by_arrow = read(path, dialect, header=header)
        patch.setattr(inside(DelimitedText), "has_arrow", lambda: False)
        return by_arrow, read(path, dialect, header=header)


def is_refusal(told: list[object]) -> bool:
    return len(told) == 1 and isinstance(told[0], str)


CELLS = st.text(st.sampled_from('ab ",\t\n\r\0é\u2003\ufeff'), max_size=6)


@settings(max_examples=400, deadline=None)
@given(
    content=st.text(st.sampled_from('ab",\n\n\r é\0\ufeff'), max_size=60),
    block=st.integers(1, 30),
    header=st.booleans(),
)
@example(content='a,b\n1,5" pipe\n2,"x\ny"\n', block=14, header=True)
@example(content='a,b\n1,2\n"x",""\n\n3,4', block=8, header=True)
@example(content='"a\nb",c\n1,2\n', block=9, header=True)
def test_any_text_is_read_as_csv_reads_it(
    content: str, block: int, header: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("text") / "t.csv"
    path.write_bytes(content.encode() or b"\n")
    by_arrow, by_csv = both(path, QUOTED, block=block, header=header)
    assert by_arrow == by_csv or is_refusal(by_arrow) == is_refusal(by_csv) is True  # of two faults either is told


@settings(max_examples=200, deadline=None)
@given(rows=st.lists(st.tuples(CELLS, CELLS), max_size=12), block=st.integers(1, 60))
def test_tables_as_spreadsheets_write_them(
    rows: list[tuple[str, str]], block: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("table") / "t.csv"
    lines = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in (("x", "y"), *rows)]
    path.write_bytes("\n".join(lines).encode())
    by_arrow, by_csv = both(path, QUOTED, block=block)
    assert by_arrow == by_csv
    assert [list(row[1].values()) for row in by_arrow] == [list(row) for row in rows]  # type: ignore[attr-defined]


@settings(max_examples=200, deadline=None)
@given(content=st.text(st.sampled_from('ab"\t\n\r é'), max_size=40), block=st.integers(1, 30))
def test_tabs_without_quotes(content: str, block: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("tabs") / "t.tsv"
    path.write_bytes(content.encode() or b"\n")
    by_arrow, by_csv = both(path, PLAIN, block=block)
    assert by_arrow == by_csv or is_refusal(by_arrow) == is_refusal(by_csv) is True


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfid,name\n1,a\n2,b\n",
        b"id,name\n1,caf\xe9\n2,\xc3\xa9\n",  # one row is damaged
        b"id,name\n1,a\n2\n",
        b"id,id\n1,2\n",
        b"id,name\r\n1,a\r\n\r\n2,b\r\n",
        b"id,name\r1,a\r2,b\r",
        b'id,name\n1,"open\n2,b\n',
        b'id,name\n1,"a"b\n',
        b",name\n0,a\n",
    ],
)
@pytest.mark.parametrize("block", [1, 7, 1 << 20])
def test_odd_files(content: bytes, block: int, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    by_arrow, by_csv = both(path, None, block=block)
    assert by_arrow == by_csv
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(content))
    by_arrow, by_csv = both(packed, None, block=block)
    assert by_arrow == by_csv


def test_columns_come_as_bytes_and_repeating_ones_coded(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,kind\n" + "".join(f"{row},{'ab'[row % 2]}\n" for row in range(5_000)))
    batch = next(DelimitedText().batches(path, rows=5_000, drop=lambda *_: None, header=True))
    assert isinstance(batch.columns["id"], Strings)
    assert isinstance(batch.columns["kind"], CodedColumn)
    assert list(batch.columns["kind"])[:3] == ["a", "b", "a"]
    assert batch.lines == range(2, 5_002)
