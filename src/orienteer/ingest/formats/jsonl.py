"""JSON lines: one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from orienteer.errors import BadInput
from orienteer.ingest.bounds import MOST_HELD, parsed
from orienteer.ingest.formats.files import opened_text
from orienteer.ingest.formats.table import Batch, Drop, is_sparse, is_unicode, shown

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
        taken = _Rows()
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
                taken.add(row, number, len(line))
                if len(taken.rows) == rows or taken.is_full:
                    yield taken.batch()
                    taken = _Rows()
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


@dataclass(slots=True)
class _Rows:
    """Objects that wait to be a batch. Each has its own keys, and a batch has a cell for each key of any of them."""

    rows: list[dict[str, Any]] = field(default_factory=list)  # Any: JSON values
    lines: list[int] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    characters: int = 0
    """Characters of their lines."""
    filled: int = 0
    """Cells that say something."""

    def add(self, row: dict[str, Any], line: int, length: int) -> None:
        self.rows.append(row)
        self.lines.append(line)
        if not row.keys() <= self.names.keys():
            self.names |= dict.fromkeys(row)
        self.characters += length
        self.filled += len(row)

    @property
    def is_full(self) -> bool:
        """Say whether the rows are large already, or their table would be empty for the most part."""
        return self.characters > MOST_HELD or is_sparse(len(self.names) * len(self.rows), self.filled)

    def batch(self) -> Batch:
        return Batch({name: [row.get(name) for row in self.rows] for name in self.names}, self.lines)
