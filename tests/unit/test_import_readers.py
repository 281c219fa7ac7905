"""Readers give every cell back, number the lines right, and refuse what is not whole."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import assume, given, settings, strategies as st

from orienteer.errors import BadInput, MissingExtra
from orienteer.ingest import Batch, DelimitedText, FormatReader, JsonLines, Parquet, format_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


class Dropped(list[tuple[str, int, str]]):
    def __call__(self, reason: str, line: int, value: str) -> None:
        self.append((reason, line, value))


def read(reader: FormatReader, path: Path, *, rows: int = 100, header: bool = True) -> list[Batch]:
    dropped = Dropped()
    batches = list(reader.batches(path, rows=rows, drop=dropped, header=header))
    assert not dropped
    return batches


def column(batches: list[Batch], name: str) -> list[object]:
    return [value for batch in batches for value in batch.columns[name]]


def lines(batches: list[Batch]) -> list[int]:
    return [line for batch in batches for line in batch.lines]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(cells=st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8), rows=st.integers(1, 4))
def test_csv_gives_any_unicode_cell_back(cells: list[tuple[str, str]], rows: int, tmp_path_factory) -> None:
    assume(all(map(any, cells)))  # a row of nothing is no row
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "name"), *cells])
    batches = read(DelimitedText(), path, rows=rows)
    assert column(batches, "id") == [cell[0] for cell in cells]
    assert column(batches, "name") == [cell[1] for cell in cells]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(values=st.lists(TEXT, min_size=1, max_size=8), rows=st.integers(1, 4))
def test_jsonl_gives_any_unicode_value_back(values: list[str], rows: int, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("jsonl") / "t.jsonl"
    path.write_text("".join(json.dumps({"name": value}) + "\n" for value in values), encoding="utf-8")
    batches = read(JsonLines(), path, rows=rows)
    assert column(batches, "name") == values
    assert lines(batches) == list(range(1, len(values) + 1))


def test_line_numbers_count_the_lines_that_quoted_fields_span(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'id,text\r\na,"one\r\ntwo\nthree"\r\n\r\nb,x\r\nc,"y\nz"\r\nd,w\r\n')
    batches = read(DelimitedText(), path)
    assert column(batches, "id") == ["a", "b", "c", "d"]
    assert column(batches, "text")[0] == "one\r\ntwo\nthree"
    assert lines(batches) == [2, 6, 7, 9]


@pytest.mark.parametrize(
    ("name", "content", "cells"),
    [
        ("t.tsv", 'id\tname\n1\t"Weird Al" Yankovic\n2\t5" nail\n', ['"Weird Al" Yankovic', '5" nail']),
        ("t.tsv", 'id\tname\n1\t"tab\there"\n2\t"a ""b"""\n', ["tab\there", 'a "b"']),
        ("t.csv", "id;name\n1;a,b\n2;c\n", ["a,b", "c"]),
        ("t.csv", "id\tname\n1\ta\n2\tb\n", ["a", "b"]),
        ("t.txt", "id\tname\n1\ta, b\n2\tb\n", ["a, b", "b"]),
        ("t.csv", "\ufeffid,name\n1,a\n2,b\n", ["a", "b"]),
    ],
    ids=["literal quotes", "quoted fields", "semicolons", "tabs in a csv", "commas in a txt", "byte order mark"],
)
def test_separators_and_quotes_are_told_from_the_file(
    name: str, content: str, cells: list[str], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8", newline="")
    batches = read(DelimitedText(), path)
    assert column(batches, "id") == ["1", "2"]
    assert column(batches, "name") == cells


def test_a_column_without_a_name_is_named_by_its_place(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(",id\n0,a\n1,b\n")
    assert column(read(DelimitedText(), path), "column_1") == ["0", "1"]


def test_without_a_header_every_row_is_data(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("a\tr\tb\nb\tr\tc\n")
    batches = read(DelimitedText(), path, header=False)
    assert column(batches, "column_1") == ["a", "b"]
    assert lines(batches) == [1, 2]


def test_gzip_reads_as_its_content(tmp_path: Path) -> None:
    path = tmp_path / "edges.sif.gz"
    path.write_bytes(gzip.compress(b"source\tmetaedge\ttarget\nGene::1\tGiG\tGene::2\n"))
    found = format_of(path)
    assert found is not None
    batches = read(found.reader, path)
    assert column(batches, "metaedge") == ["GiG"]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_undecodable_rows_are_dropped_and_told(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    rows = [b"id,name", b"1,good", b"2,caf\xe9", b"3,caf\xc3\xa9"]
    objects = [b'{"id": 1, "name": "good"}', b'{"id": 2, "name": "caf\xe9"}', b'{"id": 3, "name": "caf\xc3\xa9"}']
    path.write_bytes(b"\n".join(rows if name.endswith("csv") else [b"", *objects]))
    found = format_of(path)
    assert found is not None
    dropped = Dropped()
    batches = list(found.reader.batches(path, rows=10, drop=dropped, header=True))
    assert column(batches, "name") == ["good", "café"]
    assert [(reason, line) for reason, line, _ in dropped] == [("bad encoding", 3)]
    dropped[0][2].encode()


def test_a_lone_surrogate_written_as_an_escape_is_bad_encoding(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": "a", "name": "\\ud83d"}\n{"id": "b", "name": "\\ud83d\\ude00"}\n')
    dropped = Dropped()
    batches = list(JsonLines().batches(path, rows=10, drop=dropped, header=True))
    assert column(batches, "name") == ["\U0001f600"]
    assert [line for _, line, _ in dropped] == [1]


def test_parquet_drops_text_that_is_no_utf8(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    binary = pa.array([b"good", b"caf\xe9", None])
    text = pa.Array.from_buffers(pa.string(), 3, binary.buffers())
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": ["1", "2", "3"], "name": text}), path)
    dropped = Dropped()
    batches = list(Parquet().batches(path, rows=10, drop=dropped, header=True))
    assert column(batches, "id") == ["1", "3"]
    assert column(batches, "name") == ["good", None]
    assert [(reason, line) for reason, line, _ in dropped] == [("bad encoding", 2)]


def test_parquet_gives_the_values_that_pyarrow_gives(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "dictionary": pa.array(["x", None, "y", "x"]).dictionary_encode(),
            "text": pa.array(["a", None, "", "é"], pa.large_string()),
            "whole": pa.array([1, 2, 3, 2**62]),
            "holes": pa.array([1, None, 3, 4]),
            "truth": pa.array([True, False, True, False]),
            "list": pa.array([["p"], [], None, ["q", "r"]]),
            "real": pa.array([0.5, None, 1.0, -2.0]),
        }
    )
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    batches = read(Parquet(), path, rows=3)
    assert {name: column(batches, name) for name in table.column_names} == table.to_pydict()
    assert [len(batch) for batch in batches] == [3, 1]
    assert lines(batches) == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", ["date", "time"])
def test_a_day_that_is_further_off_than_pythons_is_read(kind: str, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    days = 10**8
    far = pa.array([days, None], pa.int32()).cast("date32")
    if kind == "time":
        far = pa.array([days * 86_400_000, None]).cast(pa.timestamp("ms"))
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"far": far}), path)
    assert column(read(Parquet(), path, rows=3), "far") == [f"{days} day", None]


def _read_all(reader: FormatReader, path: Path) -> None:
    reader.columns(path)
    list(reader.batches(path, rows=10, drop=Dropped(), header=True))


def damaged(tmp_path: Path, name: str, content: bytes) -> str:
    path = tmp_path / name
    path.write_bytes(content)
    found = format_of(path)
    assert found is not None
    with pytest.raises(BadInput) as raised:
        _read_all(found.reader, path)
    message = str(raised.value)
    assert str(path) in message
    return message


def test_damaged_files_say_what_is_wrong(tmp_path: Path) -> None:
    whole = gzip.compress(("id,name\n" + "".join(f"{n},{n * 7919 % 1000}\n" for n in range(5000))).encode())
    assert "cut short" in damaged(tmp_path, "t.csv.gz", whole[: len(whole) // 2])
    assert "no gzip file" in damaged(tmp_path, "u.csv.gz", b"id,name\n1,2\n")
    assert "git lfs pull" in damaged(
        tmp_path, "v.sif.gz", b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n"
    )
    assert "git lfs pull" in damaged(
        tmp_path, "v.parquet", b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n"
    )
    assert "is empty" in damaged(tmp_path, "w.csv", b"")
    assert "line 2: cut short; 1 of 1 rows" in damaged(tmp_path, "x.csv", b"id,name,city\n1,2")
    assert "line 3: too many cells; 2 of 3 rows" in damaged(tmp_path, "y.csv", b"id,name\n1,2\n3,4,5\n3,4,5,6\n")
    assert "is the file cut short" in damaged(tmp_path, "z.csv", b'id,name\n1,"open\n')
    assert "line 2, column 7" in damaged(tmp_path, "b.jsonl", b'{"id": 1}\n{"id":')
    assert "line 1: [1] is no JSON object" in damaged(tmp_path, "c.jsonl", b"[1]\n")
    assert "cannot be read" in damaged(tmp_path, "d.jsonl", b"[" * 100_000)


def test_names_in_another_encoding_say_so(tmp_path: Path) -> None:
    assert "save it as UTF-8" in damaged(
        tmp_path, "t.csv", "id,größe,".encode("latin-1") + "ß\n1,2,3\n4,ä,ö\n".encode()
    )


def test_a_table_all_in_latin_1_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("id,größe\n1,café\n2,Łódź\n".replace("Ł", "L").replace("ź", "z").encode("latin-1"))
    reader = format_of(path).reader
    assert reader.columns(path) == ("id", "größe")
    batches = list(reader.batches(path, rows=10, drop=Dropped(), header=True))
    assert column(batches, "größe") == ["café", "Lódz"]


def test_parquet_without_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"orienteer\[parquet\]"):
        Parquet().columns(tmp_path / "nodes.parquet")


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_text_is_read_without_pyarrow(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / name
    path.write_text('id,name\n1,"a"\n' if name == "t.csv" else '{"id": "1", "name": "a"}\n')
    (batch,) = read(format_of(path).reader, path)
    assert [*batch.rows()] == [{"id": "1", "name": "a"}]


def test_a_parquet_file_cut_short_says_so(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    whole = io.BytesIO()
    pq.write_table(pa.table({"id": list(map(str, range(1000)))}), whole)
    assert "no whole Parquet file" in damaged(tmp_path, "t.parquet", whole.getvalue()[:500])


def test_a_file_of_another_format_is_not_guessed() -> None:
    assert format_of(Path("graph.json")) is None
    assert format_of(Path("nodes.parquet.gz")) is None
