"""Parquet packs a million values in a few bytes: what a file comes to is told by its pages before it is read."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from orienteer.errors import BadInput
from orienteer.ingest import MOST_BATCH, Parquet, checked_parquet, parquet_pages, rows_that_fit

pytestmark = [pytest.mark.corpus("attacks by files"), pytest.mark.slow]

pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

ROWS = 2_000
BIG = pa.DictionaryArray.from_arrays(pa.array([0] * ROWS, pa.int32()), pa.array(["y" * 200_000]))
HOSTILE = {
    "one value": pa.array(["x" * (80 << 20)]),
    "one text for many rows": BIG,
    "one text for many lists": pa.ListArray.from_arrays(pa.array(range(ROWS + 1), pa.int32()), BIG),
    "one text for many structures": pa.StructArray.from_arrays([BIG], ["inner"]),
    "one list": pa.ListArray.from_arrays(pa.array([0, 10_000_000], pa.int32()), pa.nulls(10_000_000, pa.int8())),
}


def write(path: Path, column: Any) -> Path:
    table = pa.table({"id": [f"n{row}" for row in range(len(column))], "x": column})
    pq.write_table(table, path, compression="zstd", dictionary_pagesize_limit=1 << 27, store_schema=False)
    return path


def read(path: Path) -> list[Any]:
    return list(Parquet().batches(path, rows=5_000, drop=pytest.fail, header=True))


@pytest.mark.parametrize("what", HOSTILE)
def test_a_column_that_unpacks_to_hundreds_of_times_its_size_is_refused(what: str, tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", HOSTILE[what])
    assert path.stat().st_size < 100_000
    with pytest.raises(BadInput, match=r"t\.parquet.* more than 200 times its size"):
        read(path)


def test_a_directory_that_lies_about_its_pages_is_not_believed(tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", HOSTILE["one value"])
    told = pq.ParquetFile(path).metadata.row_group(0).column(1).total_uncompressed_size
    data = bytearray(path.read_bytes())
    true, lie = _varint(told), _varint(1_000)
    at = data.rfind(true)
    data[at : at + len(true)] = lie[:-1] + bytes([lie[-1] | 128]) + b"\x80" * (len(true) - len(lie) - 1) + b"\0"
    path.write_bytes(data)
    assert pq.ParquetFile(path).metadata.row_group(0).column(1).total_uncompressed_size == 1_000
    with pytest.raises(BadInput, match="column 'x', comes to more than 200 times its size"):
        read(path)


def _varint(number: int) -> bytes:
    number *= 2  # zigzag
    found = []
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_pages_are_those_that_the_directory_tells_of(version: str, compression: str, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    words = random.Random(1).choices([f"word{one}" for one in range(5_000)], k=20_000)
    table = pa.table({"a": words, "b": [[1, 2], None] * 10_000, "c": [1.5] * 20_000})
    pq.write_table(
        table, path, compression=compression, data_page_version=version, data_page_size=4_096, row_group_size=9_000
    )
    data, metadata = path.read_bytes(), pq.ParquetFile(path).metadata
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for chunk in map(group.column, range(metadata.num_columns)):
            start = min(chunk.data_page_offset, chunk.dictionary_page_offset or chunk.data_page_offset)
            found = list(parquet_pages(data, start, chunk.total_compressed_size))
            assert sum(page.values for page in found) == chunk.num_values
            headers = chunk.total_uncompressed_size - sum(page.unpacked for page in found)
            assert 0 < headers < 200 * len(found)


def test_damaged_headers_are_our_error(tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", pa.array(["a", "b", "c"]))
    whole = path.read_bytes()
    draw = random.Random(2)
    for _ in range(300):
        data = bytearray(whole)
        for at in (draw.randrange(4, len(data) - 8) for _ in range(3)):
            data[at] = draw.randrange(256)
        path.write_bytes(data)
        said = ""
        try:
            read(path)
        except BadInput as error:
            said = str(error)
        assert not said or str(path) in said


def test_rows_that_are_wide_come_a_few_at_a_time(tmp_path: Path) -> None:
    draw = random.Random(3)
    path = write(tmp_path / "t.parquet", pa.array([draw.randbytes(100_000).hex() for _ in range(500)]))
    assert rows_that_fit(checked_parquet(path), 5_000) <= MOST_BATCH // 200_000
    batches = read(path)
    assert sum(map(len, batches)) == 500
    assert max(sum(map(len, batch.columns["x"])) for batch in batches) <= MOST_BATCH


def test_texts_that_repeat_come_as_they_are(tmp_path: Path) -> None:
    values = {
        "few": ["a", "b", None, "a"] * 500,
        "all": [f"n{row}" for row in range(2_000)],
        "lists": [["a", "b"], [], None, ["a", None]] * 500,
        "inner": [{"k": "v"}, {"k": None}] * 1_000,
        "bytes": [b"\xff", b"a"] * 1_000,
    }
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(values), path)
    (batch,) = read(path)
    assert {name: list(column) for name, column in batch.columns.items()} == values


@pytest.mark.parametrize(
    ("kind", "number", "text"),
    [
        (pa.duration("ns"), 2**62, f"{2**62} ns"),
        (pa.duration("s"), 2**60, f"{2**60} s"),
        (pa.timestamp("ns"), 2**60 + 1, "2006-07-14T23:58:24.606846977"),
        (pa.timestamp("us"), 2**62, f"{2**62} us"),
        (pa.time64("ns"), 1, "00:00:00.000000001"),
    ],
)
def test_times_that_python_has_not_come_as_text(kind: Any, number: int, text: str, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": ["a", "b"], "x": pa.array([number, None], pa.int64()).cast(kind)}), path)
    (batch,) = read(path)
    assert list(batch.columns["x"]) == [text, None]


def test_a_type_that_cannot_be_read_is_told_with_its_column(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    inner = pa.array([2**62], pa.int64()).cast(pa.duration("ns"))
    pq.write_table(pa.table({"x": pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), inner)}), path)
    with pytest.raises(BadInput, match=r"t\.parquet, column 'x'.*write that column as text"):
        read(path)
