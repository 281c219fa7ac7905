"""JSON lines: one object a line.

A part of the file at a time, some thousands of lines: by Arrow as columns where it reads them as Python's `json` does,
else all its objects at once, and line by line where something is wrong with one of them.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from orienteer.errors import BadInput
from orienteer.ingest.bounds import DEEPEST, is_deep, parsed
from orienteer.ingest.formats.arrow import BOM, ahead, has_arrow
from orienteer.ingest.formats.arrow_objects import ObjectParser
from orienteer.ingest.formats.files import opened, opened_text
from orienteer.ingest.formats.table import Batch, Drop, ObjectRows, is_sparse, is_unicode, shown

PEEKED = 100
"""Objects whose keys are taken for the table's columns before it is read."""
BLOCK = 1 << 23
"""Bytes that are taken from a file at once, and more only for a longer line."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
"""What an escaped letter begins with that may be half of one."""


class JsonLines:
    """Reads objects; a key that one of them lacks is empty there."""

    def columns(self, path: Path) -> tuple[str, ...]:
        """Return the keys of the first objects, in the order in which they come."""
        with opened_text(path) as text:
            parsed = (parse(line, path, number) for number, line in enumerate(text, 1) if line.strip())
            return tuple(dict.fromkeys(key for row in islice(parsed, PEEKED) for key in row))

    def batches(self, path: Path, *, rows: int, drop: Drop, header: bool) -> Iterator[Batch]:
        """Read the objects in batches; a line that is no JSON object is an error."""
        with opened(path, has_lines=True) as raw:
            for part, columns in ahead(_parsed(raw, rows)):
                if columns is None:
                    columns = _columns_at_once(part)
                if columns is None:
                    yield from _line_by_line(part, path, drop)
                elif part.line_count:
                    yield Batch(columns, range(part.line, part.line + part.line_count))


class _Part(NamedTuple):
    """Some whole lines of a file."""

    content: bytes
    line: int
    """The number of the first."""
    line_count: int


Columns = dict[str, Sequence[Any]]  # Any: JSON values


def _parsed(raw: BinaryIO, rows: int) -> Iterator[tuple[_Part, Columns | None]]:
    """Yield the parts of a file of at most so many lines, and their columns where Arrow reads them."""
    parser = ObjectParser() if has_arrow() else None
    for part in _parts(raw, rows):
        yield part, parser.columns(part.content, part.line_count) if parser else None


def _parts(raw: BinaryIO, rows: int) -> Iterator[_Part]:
    line = 1
    for content in _blocks(raw):
        ends = np.flatnonzero(np.frombuffer(content, np.uint8) == ord("\n"))[rows - 1 :: rows] + 1
        begin = 0
        for end in dict.fromkeys([*ends.tolist(), len(content)]):
            part = content[begin:end]
            count = _line_count(part)
            yield _Part(part, line, count)
            line += count
            begin = end


def _blocks(raw: BinaryIO) -> Iterator[bytes]:
    """Yield a file in parts that end with a line."""
    waiting = raw.read(BLOCK).removeprefix(BOM)
    while content := raw.read(BLOCK):
        waiting += content
        end = max(waiting.rfind(b"\n"), waiting.rfind(b"\r", 0, -1)) + 1  # a CR at the end may be half of a CR LF
        if end:
            yield waiting[:end]
            waiting = waiting[end:]
    if waiting:
        yield waiting


def _line_count(content: bytes) -> int:
    """Count the lines of a text as Python does: they end with LF, CR, or both."""
    ends = int(np.count_nonzero(np.frombuffer(content, np.uint8) == ord("\n")))
    if b"\r" in content:
        ends += content.count(b"\r") - content.count(b"\r\n")
    return ends + (not content.endswith((b"\n", b"\r")))


def _columns_at_once(part: _Part) -> Columns | None:
    """Return the columns of lines, each of which is an object in UTF-8 and nothing else; None where one is not."""
    try:
        text = part.content.decode().replace("\r\n", "\n")
        rows = _objects(text)
    except (ValueError, RecursionError):
        return None
    names = dict.fromkeys(chain.from_iterable(rows))
    if len(rows) < part.line_count or is_sparse(len(names) * len(rows), sum(map(len, rows))):
        return None
    if _SURROGATE.search(text) and not is_unicode(json.dumps(rows, ensure_ascii=False)):
        return None
    return {name: [row.get(name) for row in rows] for name in names}


def _objects(text: str) -> list[dict[str, Any]]:  # Any: JSON values
    """Return the objects of lines. Raises `ValueError` or `RecursionError` for anything else."""
    decode, rows, at, has_deep = json.JSONDecoder().raw_decode, [], 0, text.count("[") + text.count("{") > DEEPEST
    while at < len(text):
        begin = at
        row, at = decode(text, at)
        if not isinstance(row, dict) or not text.startswith("\n", at) and at < len(text):
            raise ValueError(text[begin:at])
        if has_deep and text.count("[", begin, at) + text.count("{", begin, at) > DEEPEST and is_deep(row):
            raise ValueError(text[begin:at])
        rows.append(row)
        at += 1
    return rows


def _line_by_line(part: _Part, path: Path, drop: Drop) -> Iterator[Batch]:
    """Read lines one after another, and tell what is wrong with one of them, and where."""
    taken = ObjectRows()
    for number, line in enumerate(io.StringIO(part.content.decode("utf-8", "surrogateescape"), newline=""), part.line):
        if not line.strip():
            continue
        if not is_unicode(line):
            drop("bad encoding", number, shown(line))
            continue
        row = parse(line, path, number)
        if _SURROGATE.search(line) and not is_unicode(json.dumps(row, ensure_ascii=False)):
            drop("bad encoding", number, shown(line))
            continue
        taken.add(row, number)
        if taken.is_full:
            yield taken.batch()
            taken = ObjectRows()
    if taken.rows:
        yield taken.batch()


def parse(line: str, path: Path, number: int) -> dict[str, Any]:  # Any: JSON values
    """Return the object of one line. Raises `BadInput` that says where it breaks."""
    try:
        row = parsed(line)
    except json.JSONDecodeError as error:
        raise BadInput(
            f"{path}, line {number}, column {error.colno}: broken JSON ({error.msg}); "
            "each line has to be one JSON object: is the file cut short?"
        ) from error
    except ValueError as error:
        raise BadInput(f"{path}, line {number}: JSON that cannot be read ({error})") from error
    if not isinstance(row, dict):
        raise BadInput(f"{path}, line {number}: {shown(line.strip())} is no JSON object; each line has to be one")
    return row
