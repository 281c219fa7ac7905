"""Nodes as a table: their own fields, their properties, and each neighbour that a node has at most one of."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from orienteer.display import frame
from orienteer.errors import BadOption, nearest
from orienteer.graph.arrays import GraphArrays
from orienteer.graph.listing import ordered
from orienteer.index.arrays import Rows, decode
from orienteer.patience import check_patience
from orienteer.text.sentences import value_text

_OWN = ("id", "type", "name", "text")
_PART = 1_000  # rows that are written at once
_FORMULA = re.compile(r"\A(?=[=+\-@\t\r])")
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of a text: names are other people's."""


class Column(NamedTuple):
    """A column of a table of nodes."""

    name: str
    kind: Literal["own", "property", "edge"]
    """`edge`: the node that an edge of one type leads to, as `{"id": ..., "name": ...}`."""
    source: str
    """The field, the property, or the edge type."""
    edge: int = -1
    """The number of the edge type * 2, + 1 if it is walked against its direction."""
    having: Rows | None = None
    """(n,): the nodes that have a neighbour, ascending."""
    others: Rows | None = None
    """(n,): their neighbours."""


@dataclass(frozen=True, eq=False)
class NodeTable:
    """A table of nodes, made by `table_of`. It reads the cells that are asked for, so that a page of many costs little.

    `sorted(name, descending=)` and `select(names)` give another table, `values(offset, k)` a page of its rows, `csv()`
    and `json()` all of them as pieces of text.
    """

    arrays: GraphArrays
    rows: Rows
    """In the order of the table."""
    columns: tuple[Column, ...]
    """Own fields, then properties that some node has, then neighbours."""
    reading: str | None = None
    """The line that the nodes meet; None if they were given."""

    @property
    def total(self) -> int:
        """The number of nodes."""
        return len(self.rows)

    def select(self, names: Sequence[str]) -> NodeTable:
        """Return the table with these columns, all of them without names. Raises `BadOption` with near names."""
        every = {column.name: column for column in self.columns}
        for name in names:
            if name not in every:
                near = nearest(name, every)
                hint = f" Near: {', '.join(near)}." if near else ""
                raise BadOption(f"No column {name!r}.{hint} In this table: {', '.join(every)}.", value=name)
        return replace(self, columns=tuple(every[name] for name in names)) if names else self

    def sorted(self, name: str | None, *, descending: bool = False) -> NodeTable:
        """Return the table in the order of a column: numbers and dates, then texts, then nodes without a value.

        Ties are broken by id. Without a name the order stays, or is turned round. Raises `BadOption`.
        """
        if name is None:
            return replace(self, rows=self.rows[::-1]) if descending else self
        rows, column = np.sort(self.rows), self.select([name]).columns[0]
        if column.kind == "property":
            return replace(self, rows=ordered(self.arrays, rows, column.source, descending=descending).rows)
        cells = self._cells(column, rows)
        texts = [(cell["name"] if isinstance(cell, dict) else cell or "").casefold() for cell in cells]
        ranks = {text: rank for rank, text in enumerate(sorted({*texts} - {""}, reverse=descending))}
        keys = np.array([ranks.get(text, len(ranks)) for text in texts], np.int64)
        return replace(self, rows=rows[np.argsort(keys, kind="stable")])

    def values(self, offset: int = 0, k: int | None = None) -> list[tuple[Any, ...]]:
        """Return the cells of `k` rows from `offset` on, to the end without `k`."""
        rows = self.rows[offset : None if k is None else offset + k]
        return list(zip(*(self._cells(column, rows) for column in self.columns), strict=True))

    def csv(self) -> Iterator[str]:
        """Yield all rows as `csv_lines` writes them, the header first, some rows at a time."""
        yield csv_lines([[column.name for column in self.columns]])
        for begin in range(0, len(self.rows), _PART):
            yield csv_lines(self.values(begin, _PART))

    def json(self) -> Iterator[str]:
        """Yield all rows as a JSON list of objects, some rows at a time."""
        for begin in range(0, max(1, len(self.rows)), _PART):
            text = ",\n".join(json.dumps(one, ensure_ascii=False) for one in self._objects(begin, _PART))
            yield f"{',' if begin else '['}\n{text}"
        yield "\n]\n"

    def to_frame(self) -> Any:  # Any: a pandas DataFrame, if pandas is installed
        """Return all rows as a data frame. Raises `UsageError` without pandas."""
        return frame(self._objects(), [column.name for column in self.columns])

    def _objects(self, offset: int = 0, k: int | None = None) -> list[dict[str, Any]]:  # Any: JSON
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.values(offset, k)]

    def _cells(self, column: Column, rows: Rows) -> list[Any]:  # Any: JSON
        arrays = self.arrays
        if column.kind == "property":
            return arrays.properties.values(column.source, rows)
        if column.having is None or column.others is None:
            if column.source == "type":
                return [arrays.type_at(row) for row in rows.tolist()]
            strings = {"id": arrays.ids, "name": arrays.names, "text": arrays.texts}[column.source]
            return [decode(text) for text in strings.take(rows.astype(np.int64))]
        at = column.having.searchsorted(rows)
        there = column.having.take(at, mode="clip") == rows
        cells: list[Any] = [None] * len(rows)
        for place, other in zip(np.flatnonzero(there).tolist(), column.others[at[there]].tolist(), strict=True):
            cells[place] = {"id": arrays.ids[other], "name": arrays.names[other]}
        return cells


def table_of(arrays: GraphArrays, rows: Rows, reading: str | None = None) -> NodeTable:
    """Return the table of some nodes, distinct and in this order, with all columns."""
    own = [Column(name, "own", name) for name in _OWN if name != "text" or arrays.texts.sizes[rows].any()]
    names = [name for name in arrays.properties.names if np.isin(arrays.properties.rows(name), rows).any()]
    found = [Column(name, "property", name) for name in names]
    columns: dict[str, Column] = {}
    for column in (*own, *found, *_neighbours(arrays, rows)):
        name = f"{column.name} ({column.kind})" if column.name in columns else column.name
        columns[name] = column._replace(name=name)
    return NodeTable(arrays, rows, tuple(columns.values()), reading)


def _neighbours(arrays: GraphArrays, rows: Rows) -> Iterator[Column]:
    """Yield a column for each kind of edge that leads from every node to at most one other."""
    entries = arrays.adjacency.entries(np.sort(rows))
    symmetric = [edge for edge, name in enumerate(arrays.types.edges) if name in arrays.schema.symmetric]
    kinds = entries.kind.astype(np.int64)
    kinds -= kinds & np.isin(kinds >> 1, symmetric)
    for kind in np.unique(kinds).tolist():
        check_patience()
        is_of = kinds == kind
        pairs = np.unique(entries.owner[is_of].astype(np.int64) * len(arrays) + entries.neighbor[is_of])
        having, others = (part.astype(np.int32) for part in np.divmod(pairs, len(arrays)))
        if (np.diff(having) > 0).all():
            edge = arrays.types.edges[kind >> 1]
            label = arrays.schema.label(edge)
            yield Column(f"<- {label}" if kind & 1 else label, "edge", edge, kind, having, others)


def csv_lines(rows: Iterable[Sequence[Any]]) -> str:  # Any: JSON
    """Return rows as CSV (RFC 4180). A text that a spreadsheet would run as a formula has an apostrophe before it."""
    out = io.StringIO()
    csv.writer(out).writerows([map(_cell, row) for row in rows])
    return out.getvalue()


def _cell(value: Any) -> str:  # Any: JSON
    text = value["name"] if isinstance(value, dict) and value.keys() == {"id", "name"} else value
    if isinstance(text, str):
        return _FORMULA.sub("'", _STEERING.sub("", text))
    return "" if text is None else value_text(text)
