"""JSON lines: one object a line.

Some thousand lines at a time by pydantic's parser, which refuses halves of letters; by Python's, line by line, where
something is wrong with one of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from itertools import chain, islice, repeat
from operator import add
from pathlib import Path
from typing import Any, TextIO

from pydantic_core import from_json

from orienteer.errors import BadInput
from orienteer.ingest.bounds import DEEPEST, is_deep, parsed
from orienteer.ingest.formats.files import INFINITE, NAN, opened_text, tell_no_numbers
from orienteer.ingest.formats.table import Batch, Drop, ObjectRows, columns_of, full_parts, is_unicode, shown

PEEKED = 100
"""Objects whose keys are taken for the table's columns before it is read."""
BLOCK = 1 << 20
"""Characters of lines that are taken from a file at once, and more only for a longer line."""


class JsonLines:
    """Reads objects; a key that one of them lacks is empty there."""

    def columns(self, path: Path) -> tuple[str, ...]:
        """Return the keys of the first objects, in the order in which they come."""
        return tuple(dict.fromkeys(key for row in first_objects(path) for key in row))

    def batches(self, path: Path, *, rows: int, drop: Drop, header: bool) -> Iterator[Batch]:
        """Read the objects in batches; a line that is no JSON object is an error."""
        with opened_text(path) as text:
            for taken in objects_of(text, path, rows=rows, drop=drop):
                yield Batch(columns_of(taken.rows), taken.lines)


def first_objects(path: Path) -> list[dict[str, Any]]:  # Any: JSON values
    """Return the objects of the first lines. Raises `BadInput` for a line that holds none."""
    with opened_text(path) as text:
        return list(islice((parse(line, path, number) for number, line in enumerate(text, 1) if line.strip()), PEEKED))


def objects_of(text: TextIO, path: Path, *, rows: int, drop: Drop) -> Iterator[ObjectRows]:
    """Read the objects, at most so many at once. Raises `BadInput` for a line that is no JSON object."""
    number = 1
    while block := text.readlines(BLOCK):
        for begin in range(0, len(block), rows):
            lines = block[begin : begin + rows]
            objects = _at_once(lines, number) or _line_by_line(lines, number, path, drop)
            for part in full_parts(objects.rows):
                yield ObjectRows(objects.rows[part], objects.lines[part])
            number += len(lines)


def _at_once(lines: Sequence[str], first: int) -> ObjectRows | None:
    """Return the objects of lines, each of which is one in Unicode and nothing else; None where one is not."""
    text = "".join(lines)
    if NAN in text or INFINITE in text:  # it may be a value, which is to be told
        return None
    try:
        rows = list(map(from_json, lines))
    except (ValueError, TypeError):  # the latter for letters that are none
        return None
    if set(map(type, rows)) != {dict}:
        return None
    if any(infinite in chain.from_iterable(map(dict.values, rows)) for infinite in (math.inf, -math.inf)):
        return None
    opened = map(add, map(str.count, lines, repeat("[")), map(str.count, lines, repeat("{")))
    if max(opened) > DEEPEST and any(map(is_deep, rows)):
        return None
    return ObjectRows(rows, range(first, first + len(rows)))


def _line_by_line(lines: Sequence[str], first: int, path: Path, drop: Drop) -> ObjectRows:
    """Read lines one after another, and tell what is wrong with one of them, and where."""
    rows, numbers = [], []
    for number, line in enumerate(lines, first):
        if not line.strip():
            continue
        row = parse(line, path, number)
        if is_unicode(json.dumps(row, ensure_ascii=False)):
            tell_no_numbers(line, number, drop)
            rows.append(row)
            numbers.append(number)
        else:
            drop("bad encoding", number, shown(line))
    return ObjectRows(rows, numbers)


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
