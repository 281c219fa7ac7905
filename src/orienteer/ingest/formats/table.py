"""What every reader of tables gives: batches of rows, kept as columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from orienteer.errors import BadInput
from orienteer.graph.edges import taking
from orienteer.ingest.bounds import MOST_HELD

EDGE_ROWS = 50_000
"""Rows in a batch of edges, which are short and many."""
NODE_ROWS = 5_000
"""Rows in a batch of nodes: their texts may be long."""
JOIN = "+"
"""Between the names of columns that are one together."""
MOST_EMPTY, FEWEST_CELLS = 32, 100_000
"""Most cells of a batch for each filled one, in batches of more than `FEWEST_CELLS`."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a table as columns; `lines[i]` is where the i-th row begins in its file."""

    columns: Mapping[str, Sequence[Any]]  # Any: whatever the file's format can hold
    lines: Sequence[int]

    def __len__(self) -> int:
        return len(self.lines)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Return the rows in order, each by column."""
        for values in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, values, strict=True))

    def without(self, rows: Collection[int]) -> Batch:
        """Leave out some rows, given by their place in the batch."""
        return self.taking([row for row in range(len(self)) if row not in rows]) if rows else self

    def taking(self, rows: Sequence[int]) -> Batch:
        """Return some rows, given by their place in the batch, also one several times."""
        columns = {name: taking(values, rows) for name, values in self.columns.items()}
        return Batch(columns, list(map(self.lines.__getitem__, rows)))

    def decoded(self, drop: Drop) -> Batch:
        """Leave out the rows with bytes that are no UTF-8 (which decoding marked with surrogates), and tell of each."""
        columns, bad = dict(self.columns), set[int]()
        for name, values in self.columns.items():
            if not is_unicode(name):
                bad.update(row for row, cell in enumerate(columns.pop(name)) if cell is not None)
            else:
                bad |= _undecodable(values)
        return Batch(columns, self.lines).dropping(bad, drop)

    def dropping(self, bad: Collection[int], drop: Drop) -> Batch:
        """Leave out the rows that are not text, and tell of each."""
        for row in sorted(bad):
            cells = (str(values[row]) for values in self.columns.values() if values[row] is not None)
            drop("bad encoding", self.lines[row], shown(", ".join(cells)))
        return self.without(bad)


def batched(
    rows: Iterator[tuple[int, Sequence[Any]]], names: Sequence[str], most: int, drop: Drop
) -> Iterator[Batch]:  # Any: whatever the file's format can hold
    """Yield rows, each after its line, in batches of so many at most, of fewer if they are large."""
    while taken := list(_some(rows, most)):
        columns = zip(*(cells for _, cells in taken), strict=True)
        yield Batch(dict(zip(names, columns, strict=True)), [line for line, _ in taken]).decoded(drop)


def _some(rows: Iterator[tuple[int, Sequence[Any]]], most: int) -> Iterator[tuple[int, Sequence[Any]]]:
    """Yield the next rows, fewer if they are large."""
    held = 0
    for row in islice(rows, most):
        yield row
        held += sum([len(cell) for cell in row[1] if isinstance(cell, str)])
        if held > MOST_HELD:
            return


Drop = Callable[[str, int, str], None]
"""Tells the report of a row that cannot be used: the reason, its line, what stood there."""


def refusing(path: Path, remedy: str, *, place: str = "line") -> Drop:
    """Return what refuses a whole file, with `BadInput`, for one row that cannot be used."""

    def refuse(reason: str, line: int, value: str) -> None:
        raise BadInput(f"{path}, {place} {line}: {reason} ({value}); {remedy}")

    return refuse


class Reader(Protocol):
    """How one file format is read. `header` false: the file has no row of names, its columns are numbered."""

    def columns(self, path: Path) -> tuple[str, ...]:
        """Return the column names; of a delimited file its first row, whatever that holds."""

    def batches(self, path: Path, *, rows: int, drop: Drop, header: bool) -> Iterator[Batch]:
        """Read the table in batches of this many rows. Raises `BadInput` if the file is not whole."""


class FileNotes(NamedTuple):
    """What is not a matter of course in how a file is read."""

    notes: tuple[str, ...] = ()
    """What a person should see, without the file's name."""
    guesses: tuple[str, ...] = ()
    """The notes that may be wrong, so that --strict refuses them."""
    encoding: str = ""
    """The encoding, if it was guessed."""
    is_headless: bool = False
    """The first row is a row like the others, by its numbers."""


@runtime_checkable
class NotingReader(Protocol):
    """A reader that guesses, or skips what it finds around a table."""

    def notes(self, path: Path) -> FileNotes:
        """Return what to say of a file."""


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: what it is called, how its files are named, how they are read."""

    name: str
    suffixes: tuple[str, ...]
    reader: Reader
    is_text: bool = False
    """Cells are text only: numbers have to be recognised, and the row of names may be missing."""


_TEXTS = {str, list, dict}
"""Types of cells that are texts, or may hold some."""


def _undecodable(values: Sequence[Any]) -> set[int]:  # Any: whatever the file's format can hold
    """Return the places of the values that are not text, or hold some."""
    types = set(map(type, values))
    if not types & _TEXTS:
        return set()
    texts: Sequence[str] = values if types == {str} else list(map(_text, values))
    if is_unicode("".join(texts)):
        return set()
    return {row for row, text in enumerate(texts) if not is_unicode(text)}


def _text(cell: Any) -> str:  # Any: JSON
    """Return all texts of a cell as one."""
    if isinstance(cell, list | dict):
        return json.dumps(cell, ensure_ascii=False)
    return cell if isinstance(cell, str) else ""


class PointedText(str):
    """The text of a number that a file holds as one: its point parts decimals, not thousands."""

    __slots__ = ()


def is_unicode(text: str) -> bool:
    """Return whether the text can be written as UTF-8: a lone surrogate cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_sparse(cells: int, filled: int) -> bool:
    """Return whether a batch has too many cells for those that say something: rows of ever new keys fill a square."""
    return cells > FEWEST_CELLS + MOST_EMPTY * filled


class ObjectRows(NamedTuple):
    """Objects, each with its own keys, and the line of each."""

    rows: Sequence[dict[str, Any]]  # Any: JSON values
    lines: Sequence[int]


def full_parts(rows: Sequence[Collection[str]]) -> Iterator[slice]:
    """Yield the parts in which rows become batches that are not empty for the most part.

    Each row has its own keys, and a batch has a cell for each key of any of its rows.
    """
    waiting = [slice(0, len(rows))] if rows else []
    while waiting:
        part = waiting.pop()
        some, half = rows[part], (part.start + part.stop) // 2
        if len(some) > 1 and is_sparse(len(set[str]().union(*some)) * len(some), sum(map(len, some))):
            waiting += [slice(half, part.stop), slice(part.start, half)]
        else:
            yield part


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Sequence[Any]]:  # Any: JSON values
    """Return objects as columns, in the order in which their keys come; None where an object lacks a key."""
    shapes = list(dict.fromkeys(map(tuple, rows)))
    if len(shapes) == 1:  # nearly always, and faster
        return {name: list(map(itemgetter(name), rows)) for name in shapes[0]}
    return {name: [row.get(name) for row in rows] for name in dict.fromkeys(chain.from_iterable(shapes))}


def shown(value: object) -> str:
    """Return a value for a report: printable, in one line, short."""
    text = str(value).encode("utf-8", "replace").decode()
    return repr(text if len(text) <= 60 else text[:57] + "...")[1:-1]
