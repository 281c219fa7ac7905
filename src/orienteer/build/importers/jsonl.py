"""JSON lines: one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from orienteer.build.importers.files import opened_text
from orienteer.build.importers.table import Batch, Drop, is_unicode, shown
from orienteer.errors import BadInput

PEEKED = 100
"""Objects whose keys are taken for the table's columns before it is read."""


class JsonLines:
    """Reads objects; a key that one of them lacks is empty there."""

    def columns(self, path: Path) -> tuple[str, ...]:
        """Return the keys of the first objects, in the order in which they come."""
        with opened_text(path) as text:
            parsed = (parse(line, path, number) for number, line in enumerate(text, 1) if line.strip())
            return tuple(dict.fromkeys(key for row in islice(parsed, PEEKED) for key in row))

    def batches(self, path: Path, *, rows: int, drop: Drop, header: bool) -> Iterator[Batch]:
        """Read the objects in batches; a line that is no JSON object is an error."""
        taken: list[dict[str, Any]] = []  # Any: JSON values
        lines: list[int] = []
        with opened_text(path) as text:
            for number, line in enumerate(text, 1):
                if not line.strip():
                    continue
                if not is_unicode(line):
                    drop("bad encoding", number, shown(line))
                    continue
                row = parse(line, path, number)
                if "\\u" in line and not is_unicode(json.dumps(row, ensure_ascii=False)):
                    drop("bad encoding", number, shown(line))
                    continue
                taken.append(row)
                lines.append(number)
                if len(taken) == rows:
                    yield _batch(taken, lines)
                    taken, lines = [], []
        if taken:
            yield _batch(taken, lines)


def parse(line: str, path: Path, number: int) -> dict[str, Any]:  # Any: JSON values
    """Return the object of one line. Raises `BadInput` that says where it breaks."""
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInput(
            f"{path}, line {number}, column {error.colno}: broken JSON ({error.msg}); "
            "each line has to be one JSON object: is the file cut short?"
        ) from error
    except (RecursionError, ValueError) as error:
        raise BadInput(f"{path}, line {number}: JSON that cannot be read ({error})") from error
    if not isinstance(row, dict):
        raise BadInput(f"{path}, line {number}: {shown(line.strip())} is no JSON object; each line has to be one")
    return row


def _batch(rows: list[dict[str, Any]], lines: list[int]) -> Batch:
    names = dict.fromkeys(key for row in rows for key in row)
    return Batch({name: [row.get(name) for row in rows] for name in names}, lines)
