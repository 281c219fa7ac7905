"""Edges on their way into a graph: batches of text columns in, columns of numbers out."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadInput
from orienteer.index.arrays import StringWriter, encode
from orienteer.index.words import WordNumbers
from orienteer.records import JsonValue

MOST_TYPES = 1 << 15  # node types or edge types; an edge's kind has 16 bits, one of them its direction
_canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
_DANGLING_KEPT = 100  # dangling rows whose ids are remembered, for the report
_COLUMNS_KEPT = 2  # sets of values whose node numbers are remembered: those of sources and of targets


class Coded(Sequence[str]):
    """A column of texts that repeat: the values once, and which of them each row has.

    Batches that share one `values` object have their values looked up once.
    """

    def __init__(self, values: Sequence[str], codes: NDArray[np.integer[Any]]) -> None:
        self.values, self.codes = values, codes

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, index: Any) -> Any:  # Any: Sequence's overloads; slices are not used
        return self.values[self.codes[index]]

    def __iter__(self) -> Iterator[str]:
        return map(self.values.__getitem__, self.codes.tolist())


@dataclass(frozen=True, slots=True)
class EdgeBatch:
    """Edges as columns. `extras[i]` is what the i-th edge carries: keys text, weight, properties; None for nothing."""

    sources: Sequence[str]
    types: Sequence[str]
    targets: Sequence[str]
    extras: Sequence[Mapping[str, JsonValue] | None] | None = None
    file: str = ""
    lines: Sequence[int] = ()


class _Batch(NamedTuple):
    """Where a batch came from."""

    first: int  # the number of its first edge
    file: str
    lines: Sequence[int]


class EdgeTable:
    """All edges added so far as columns, in reading order. Nodes are numbered in the order of `add_node`."""

    def __init__(self, size: int, *, has_extras: bool) -> None:
        self.source = np.empty(size, np.int32)
        self.target = np.empty(size, np.int32)
        self.type = np.empty(size, np.uint16)
        self.extra = np.zeros(size if has_extras else 1, np.uint64)
        """Hash of what the edge carries; 0 for nothing."""
        self.number = np.full(size if has_extras else 1, -1, np.int32)
        """Place of what it carries in the spool."""
        self.has_extras = has_extras
        if not has_extras:  # one value that looks like a column: no edge carries anything
            self.extra = np.broadcast_to(self.extra[:1], (size,))
            self.number = np.broadcast_to(self.number[:1], (size,))
        self.keep = np.empty(size, np.bool_)
        """Cleaning clears it for edges to leave out; dangling ones are left out already."""
        self.symmetric: set[str] = set()
        self.type_names: list[str] = []
        self.node_type: NDArray[np.uint16] = np.zeros(0, np.uint16)
        self.node_type_names: list[str] = []
        self._batches: list[_Batch] = []
        self._dangling: dict[int, tuple[str, str]] = {}
        self._node_ids: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.source)

    def origin(self, row: int) -> tuple[str, int]:
        """Return the file and the line that an edge was read from; line 0 where it is not known."""
        first, file, lines = self._batches[bisect_right(self._batches, row, key=lambda one: one.first) - 1]
        return file, int(lines[row - first]) if lines else 0

    def ids(self, row: int) -> tuple[str, str, str]:
        """Return source id, type and target id as they were read; `?` for ends of late dangling rows."""
        if row in self._dangling:
            source, target = self._dangling[row]
        else:
            source, target = (
                self._node_ids[end] if end >= 0 else "?" for end in (int(self.source[row]), int(self.target[row]))
            )
        return source, self.type_names[self.type[row]], target

    def turn(self, rows: NDArray[Any]) -> None:  # Any: numbers or a mask
        """Swap the ends of these edges."""
        self.source[rows], self.target[rows] = self.target[rows], self.source[rows]


class _Chunk(NamedTuple):
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    types: NDArray[np.uint16]
    extra: NDArray[np.uint64] | None
    number: NDArray[np.int32] | None


class EdgeSpool:
    """Takes batches of edges in; `rows` numbers the nodes by id and grows meanwhile, `extras` takes what they carry."""

    def __init__(self, rows: Mapping[str, int], extras: StringWriter) -> None:
        self.types: dict[str, int] = {}
        """The edge types, in the order in which they first come."""
        self.count = 0
        self.extra_count = 0
        self._numbers = _NodeNumbers(rows)
        self._rows, self._extras = rows, extras
        self._chunks: list[_Chunk] = []
        self._batches: list[_Batch] = []
        self._dangling: dict[int, tuple[str, str]] = {}

    def add(self, batch: EdgeBatch) -> None:
        """Take edges in; the nodes that they join are there already."""
        self._batches.append(_Batch(self.count, batch.file, batch.lines))
        source, target = self._numbers.find(batch.sources), self._numbers.find(batch.targets)
        types = self._type_numbers(batch.types)
        for at in np.flatnonzero((source < 0) | (target < 0))[: _DANGLING_KEPT - len(self._dangling)]:
            self._dangling[self.count + int(at)] = (batch.sources[at], batch.targets[at])
        extra, number = self._spool(batch.extras) if batch.extras is not None else (None, None)
        self._chunks.append(_Chunk(source, target, types, extra, number))
        self.count += len(source)

    def _type_numbers(self, types: Sequence[str]) -> NDArray[np.uint16]:
        if isinstance(types, Coded):
            used, firsts = np.unique(types.codes, return_index=True)
            numbers = np.zeros(len(types.values), np.uint16)
            for one in used[np.argsort(firsts)].tolist():  # as they come, whatever the order of their codes
                numbers[one] = type_number(self.types, types.values[one])
            return np.asarray(numbers[types.codes])
        for name in dict.fromkeys(types):
            type_number(self.types, name)
        return np.fromiter(map(self.types.__getitem__, types), np.uint16, len(types))

    def _spool(self, extras: Sequence[Mapping[str, JsonValue] | None]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        hashes, numbers = np.zeros(len(extras), np.uint64), np.full(len(extras), -1, np.int32)
        for index, extra in enumerate(extras):
            if not extra:
                continue
            data = encode(_canonical(extra))
            hashes[index] = int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little") or 1
            numbers[index] = self.extra_count
            self._extras.add(data)
            self.extra_count += 1
        return hashes, numbers

    def table(self) -> EdgeTable:
        """Return all edges so far. The table takes over what was spooled: changes to it stay."""
        chunks, self._chunks = self._chunks, []
        table = EdgeTable(self.count, has_extras=self.extra_count > 0)
        end = self.count
        while chunks:  # each is let go once it is copied
            chunk = chunks.pop()
            begin = end - len(chunk.source)
            table.source[begin:end], table.target[begin:end] = chunk.source, chunk.target
            table.type[begin:end] = chunk.types
            table.keep[begin:end] = (chunk.source >= 0) & (chunk.target >= 0)
            if self.extra_count and chunk.extra is not None and chunk.number is not None:
                table.extra[begin:end], table.number[begin:end] = chunk.extra, chunk.number
            end = begin
        extra, number = (table.extra, table.number) if self.extra_count else (None, None)
        self._chunks = [_Chunk(table.source, table.target, table.type, extra, number)]
        table._batches, table._dangling, table._node_ids = self._batches, self._dangling, list(self._rows)
        return table

    def forget(self) -> None:
        """Let go of the edges: they are written."""
        self._chunks = []


class _Table(NamedTuple):
    """Node numbers by the hash of the id."""

    vocabulary: WordNumbers
    rows: NDArray[np.int32]
    is_exact: bool


class _NodeNumbers:
    """Finds nodes by id.

    By the hashes of strings that Python has at hand: a table in numpy takes a twentieth of a dict's time, for it
    waits for many places of memory at once. Should two ids ever share a hash, the dict answers.
    """

    def __init__(self, rows: Mapping[str, int]) -> None:
        self._rows = rows
        self._made: _Table | None = None
        self._size = -1
        self._known: list[tuple[Sequence[str], NDArray[np.int32]]] = []  # values of coded columns, and their nodes

    def find(self, ids: Sequence[str]) -> NDArray[np.int32]:
        """Return the numbers of nodes, -1 for unknown ones."""
        table = self._table()
        if isinstance(ids, Coded):
            known = next((rows for values, rows in self._known if values is ids.values), None)
            if known is None:
                known = self._find(table, ids.values)
                self._known = [*self._known, (ids.values, known)][-_COLUMNS_KEPT:]
            return np.asarray(known[ids.codes])
        return self._find(table, ids)

    def _table(self) -> _Table:
        if self._made is None or self._size < len(self._rows):
            vocabulary = WordNumbers()
            numbers, _ = vocabulary.number(_hashes(self._rows))
            rows = np.full(len(vocabulary) + 1, -1, np.int32)  # the last stands for what is not found
            rows[numbers] = np.arange(len(numbers), dtype=np.int32)
            self._made = _Table(vocabulary, rows, len(vocabulary) == len(numbers))
            self._size, self._known = len(self._rows), []
        return self._made

    def _find(self, table: _Table, ids: Sequence[str]) -> NDArray[np.int32]:
        if not table.is_exact:
            return np.fromiter(map(self._rows.get, ids, repeat(-1)), np.int32, len(ids))
        return table.rows[table.vocabulary.find(_hashes(ids))]


def _hashes(ids: Collection[str]) -> NDArray[np.uint64]:
    hashes = np.fromiter(map(hash, ids), np.int64, len(ids)).view(np.uint64)
    hashes[hashes == 0] = 1  # 0 marks an empty slot; it is the hash of an empty text, which is no node
    return hashes


def type_number(numbers: dict[str, int], name: str) -> int:
    """Return the number of a type, the next one for a new type. Raises `BadInput` where there are too many."""
    number = numbers.setdefault(name, len(numbers))
    if number == MOST_TYPES:
        raise BadInput(f"there are more than {MOST_TYPES} types (the next is {name!r}): is this column the type?")
    return number
