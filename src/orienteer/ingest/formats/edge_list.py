"""Edge lists: a line is two ids, parted by spaces, tabs or a comma, without a row of names before the first.

    networkx                `1 2`, `1 2 {'weight': 3.0}`, `1 2 3.0`
    SNAP, KONECT and others  comments that begin with `#` or `%`, then two numbers a line

A third field is a weight, or what networkx knows of an edge as Python writes it. Files named `.edgelist`, `.edges` or
`.el` are read so; of other texts those whose first lines are two ids and not the names of columns: they come after a
comment, or are numbers, or are ids that come again.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from orienteer.errors import BadInput
from orienteer.ingest.bounds import is_deep
from orienteer.ingest.formats.files import opened_text, suffix
from orienteer.ingest.formats.table import Batch, Drop, shown
from orienteer.ingest.tables.values import numeric

SUFFIXES = (".edgelist", ".edges", ".el")
COMMENTS = ("#", "%")
SEPARATOR = re.compile(r"\s*,\s*|\s+")
PEEKED = 1_000
"""Lines by which a list is told from a table."""
HEAD = 1 << 18
"""Characters of these lines at the most."""
LONGEST_DATA = 1 << 16
"""Characters of what Python writes of an edge: deeper or longer texts take its parser long."""


class EdgeList:
    """Reads the two ids of each line, and the weight or the data after them."""

    def columns(self, path: Path) -> tuple[str, ...]:
        """Return the names that the fields of the first line are given."""
        first = next(self.batches(path, rows=1, drop=lambda *told: None, header=False), None)
        if first is None:
            raise _refusal(path, 1, 0)
        return tuple(first.columns)

    def batches(self, path: Path, *, rows: int, drop: Drop, header: bool) -> Iterator[Batch]:
        """Read the list in batches; a line of one field, or of more than three, is an error."""
        with opened_text(path) as text:
            waiting = _rows(text, path)
            while several := list(islice(waiting, rows)):
                yield _batch(several, path, drop)


def is_edge_list(path: Path) -> bool:
    """Return whether a file of text is such a list, by its name or its first lines. False where it cannot be read."""
    if suffix(path) in SUFFIXES:
        return True
    try:
        with opened_text(path) as text:
            head = text.read(HEAD)
    except BadInput:
        return False  # whoever reads it as a table says so
    lines = head.splitlines()[: PEEKED if len(head) < HEAD else -1]
    texts = [line for line in lines if line.strip() and not line.startswith(COMMENTS)]
    pairs = [SEPARATOR.split(line.strip()) for line in texts]
    if not pairs or any(len(pair) != 2 or '"' in "".join(pair) for pair in pairs):
        return False
    first, later = pairs[0], {name for pair in pairs[1:] for name in pair}
    has_comment = any(line.startswith(COMMENTS) for line in lines[:1])
    return has_comment or all(numeric(name) is not None for name in first) or later.issuperset(first)


def _rows(text: TextIO, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Return the lines that are neither blank nor comments: their numbers and their fields."""
    for number, line in enumerate(text, 1):
        line = line.strip()
        if line and not line.startswith(COMMENTS):
            fields = SEPARATOR.split(line, maxsplit=2)
            if len(fields) == 3 and not fields[2].startswith("{"):  # what networkx writes third has spaces of its own
                fields = SEPARATOR.split(line)
            if not 2 <= len(fields) <= 3:
                raise _refusal(path, number, len(fields))
            yield number, fields


def _batch(several: Sequence[tuple[int, list[str]]], path: Path, drop: Drop) -> Batch:
    rows, lines = [(*fields, None)[:3] for _, fields in several], [number for number, _ in several]
    batch = Batch(dict(zip(("source", "target", "third"), zip(*rows, strict=True), strict=True)), lines).decoded(drop)
    columns = {**batch.columns}
    texts = zip(columns.pop("third"), batch.lines, strict=True)
    thirds = [None if text is None else _value(text, path, line) for text, line in texts]
    if any(isinstance(third, dict) for third in thirds):
        columns["data"] = [third if isinstance(third, dict) else {"weight": third} for third in thirds]
    elif any(third is not None for third in thirds):
        columns["weight"] = thirds
    return Batch(columns, batch.lines)


def _value(text: str, path: Path, number: int) -> float | dict[str, Any]:  # Any: what Python's literals hold
    """Return the weight that a text spells, or the data. Raises `BadInput` for neither."""
    weight = numeric(text)
    if weight is not None:
        return weight
    attributes = None
    if text.startswith("{") and len(text) <= LONGEST_DATA:
        with suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            attributes = ast.literal_eval(text)
    if not isinstance(attributes, dict) or is_deep(attributes):
        raise BadInput(
            f"{path}, line {number}: {shown(text)} is no weight and no data of an edge; a list of triples "
            "(source, relation, target) is named .tsv, and parted by tabs"
        )
    return attributes


def _refusal(path: Path, number: int, count: int) -> BadInput:
    return BadInput(
        f"{path}, line {number}: {count} fields, where an edge list has two ids and perhaps a weight; "
        "name a table with a row of names .csv or .tsv"
    )
