"""JSON lines read some thousand at once give what each line gives: rows, lines, refusals."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from fakes.inside import inside
from orienteer.errors import BadInput
from orienteer.ingest import JsonLines

pytestmark = pytest.mark.slow


def exact(value: Any) -> object:
    """Return a value that differs from any other: 1 from 1.0 and from True, -0.0 from 0.0, and no NaN from itself."""
    if isinstance(value, float):
        return "float", "nan" if math.isnan(value) else value.hex()
    if isinstance(value, list):
        return [exact(member) for member in value]
    if isinstance(value, dict):
        return [(key, exact(member)) for key, member in value.items()]
    return type(value), value


def read(path: Path, *, rows: int = 3) -> list[object]:
    """Return the rows with their lines and the columns of their batches, what was dropped, and what was refused."""
    told: list[object] = []

    def drop(*row: object) -> None:
        told.append(row)

    try:
        for batch in JsonLines().batches(path, rows=rows, drop=drop, header=True):
            told.append(list(batch.columns))
            told += zip(batch.lines, map(exact, batch.rows()), strict=bool(batch.columns))
    except BadInput as error:
        told.append(str(error))
    return told


def both_ways(path: Path, *, block: int) -> list[list[object]]:
    """Read a file at once, and line by line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inside(JsonLines), "BLOCK", block)
        ways = [read(path)]
        patch.setattr(inside(JsonLines), "_at_once", lambda lines, first: None)
        return [*ways, read(path)]


def check(content: bytes, folder: Path, *, block: int) -> None:
    path = folder / "t.jsonl"
    path.write_bytes(content)
    at_once, by_line = both_ways(path, block=block)
    assert at_once == by_line


TEXTS = st.text(st.sampled_from('ab"\\{}[],: \n\0é\u2003😀'), max_size=5) | st.sampled_from(
    ["2020-01-01", "2020-01-01T10:00:00Z", "2020-01-01 10:00", "null", "1", "a", "x: {", "[1]"]
)
NUMBERS = st.integers(-3, 3) | st.sampled_from(
    [0.5, 1.5, -0.0, 1.0, 1e300, 2**53 + 1, 2**63, 2**70, -(2**63), math.inf, math.nan, 1e-7]
)
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(TEXTS, SCALARS, max_size=2) | st.just([[]])
KEYS = st.sampled_from(["a", "b", "c d", "", "é", 'q"', ":", "2020-01-01", "\ud800", "null", "a\n"])
# Columns of one kind, with a cell now and then that is another.
KINDS = (
    *(TEXTS, NUMBERS, st.integers(), st.floats(), st.booleans(), st.none(), st.none() | TEXTS, st.none() | NUMBERS),
    *(st.lists(kind, max_size=2) for kind in (TEXTS, st.integers(), st.floats(), st.booleans(), st.none() | TEXTS)),
)


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, Any]]:
    keys = draw(st.lists(KEYS, max_size=4, unique=True))
    kinds = {key: draw(st.sampled_from(KINDS)) for key in keys}
    rows = []
    for _ in range(draw(st.integers(0, 9))):
        strange = draw(st.integers(0, 20)) == 0
        present = draw(st.permutations(keys)) if strange else keys
        row = {key: draw(VALUES if strange else kinds[key]) for key in present}
        if keys and draw(st.integers(0, 3)) == 0:
            row.pop(draw(st.sampled_from(keys)))
        rows.append(row)
    return rows


@settings(max_examples=250, deadline=None)
@given(
    rows=tables(),
    is_ascii=st.booleans(),
    separators=st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " :  ")]),
    end=st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n", "\r", " \n"]),
    block=st.sampled_from([1, 20, 50, 1 << 20]),
)
def test_tables_as_programs_write_them(
    rows: list[dict[str, Any]],
    is_ascii: bool,
    separators: tuple[str, str],
    end: str,
    block: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    lines = [json.dumps(row, ensure_ascii=is_ascii, separators=separators) for row in rows] or [""]
    content = end.join(lines).encode(errors="surrogatepass") or b"\n"
    check(content, tmp_path_factory.mktemp("table"), block=block)


PIECES = st.sampled_from(
    [
        *('{"a":1}', '{"a": 1.0}', '{"b":"x"}', '{"a":"x","b":null}', '{"a":1,"a":2}', '{"\\u0061":3}', "{}", "null"),
        *('{"a":', '{"a":[', '{"a":{', "}", "]", '"', "{", ",", ":", "1", "1.5", "-0", "1e5", "NaN", "Infinity", "Inf"),
        *("true", "tru", "\\", "\\u", "\\ud83d", "\\ude00", " ", "\t", "\n", "\n", "\n", "\r", "\0", "\ufeff", "é"),
        *("\x0b", "\u2003", "\ud800", "[]", "[1, 2]", "[[1]]", '"2020-01-01"', "01", "1.", "12345678901234567890"),
    ]
)


@settings(max_examples=250, deadline=None)
@given(pieces=st.lists(PIECES, max_size=14), block=st.integers(1, 60))
@example(pieces=['{"a":1}', " ", "null", " ", '{"b":"x"}', "\n", '{"a":', "\n", "1", "}"], block=60)
@example(pieces=['{"a":1}', "null", "}", "\n"], block=60)
@example(pieces=['{"a":1}', '{"a":1}', "\n", '{"a":', "\n", "1", "}"], block=60)
@example(pieces=["{}", "\n", "{}"], block=60)
@example(pieces=['{"a":"', ': {"a":1}"}', "\n"], block=60)
@example(pieces=['{"a":null,"b":[', "null", ",", "true", "]", "}"], block=60)
def test_any_text_is_read_as_its_lines_are(
    pieces: list[str], block: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    check("".join(pieces).encode(errors="surrogatepass") or b"\n", tmp_path_factory.mktemp("text"), block=block)


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": ' + b"[" * 20_000 + b"]" * 20_000 + b"}\n",
        b'{"a": ' * 20_000 + b"1" + b"}" * 20_000 + b"\n",
        b'{"a": ' + b"[" * 101 + b"]" * 101 + b"}\n",
        b"null\n",
        b'{"a": "' + b'\\"' * 20_000 + b"\n",
        b'{"a": ' + b"1" * 5_000 + b"}\n",
        b'\xef\xbb\xbf{"a": 1}\n{"a": 2}\n',
        b'{"a": "\xff"}\n{"a": "b"}\n',
        b'{"\xff": 1}\n',
        b'{"a": 1}\n\n\n{"a": 2}',
        b"".join(b'{"k%d": 1}\n' % number for number in range(1_100)),
        b"{" + b", ".join(b'"k%d": 1' % number for number in range(1_100)) + b"}\n",
        b'{"a": 1e999}\n{"a": 0.5}\n',
        b'{"a": 9007199254740993.0}\n{"a": 0.1}\n{"a": 3}\n',
        b'{"a\\"": 3}\n{"a\\"": 0.5}\n',
        b'{"a": null, "b": null}\n{"b": 1, "a": 1}\n',
    ],
)
@pytest.mark.parametrize("block", [7, 1 << 20])
def test_odd_files(content: bytes, block: int, tmp_path: Path) -> None:
    check(content, tmp_path, block=block)
    packed = tmp_path / "t.jsonl.gz"
    packed.write_bytes(gzip.compress(content))
    at_once, by_line = both_ways(packed, block=block)
    assert at_once == by_line


def test_lines_that_are_whole_only_together_are_refused(tmp_path: Path) -> None:
    between = "\ue000"  # what the reader puts between lines
    for lines in (
        ['{"a": 1}, {"a": 2}', '{"a": [{}', "{}]}"],
        [f'{{"a": "{between}"}}, "{between}", {{}}', '{"a": [{}', "{}]}"],
        ['{}, "\\ue000", {}', '{"a": [{}', "{}]}"],
        ['{"a": "', '"}', "{}, {}"],
    ):
        path = tmp_path / "t.jsonl"
        path.write_text("\n".join(lines))
        with pytest.raises(BadInput, match="line 1, column"):
            list(JsonLines().batches(path, rows=100, drop=pytest.fail, header=True))


def test_lines_are_counted_and_columns_kept_in_order(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f'{{"id": "{row}", "year": {row}}}\n' for row in range(5_000)) + '\n{"late": null}\n')
    first, last = JsonLines().batches(path, rows=5_000, drop=pytest.fail, header=True)
    assert first.columns == {"id": list(map(str, range(5_000))), "year": list(range(5_000))}
    assert first.lines == range(1, 5_001)
    assert (last.columns, list(last.lines)) == ({"late": [None]}, [5_002])
