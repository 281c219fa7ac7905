"""Nodes and edges on their way into a graph, as columns; columns of edges become columns of numbers."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.elements import JsonValue, Node
from orienteer.errors import BadInput
from orienteer.index.arrays import Strings, StringWriter, encode
from orienteer.index.words import WordNumbers, string_hashes

MOST_TYPES = 1 << 15  # node types or edge types; an edge's kind has 16 bits, one of them its direction
_canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
_DANGLING_KEPT = 100  # dangling edges whose ids are remembered, for the report
_HASHED = 1 << 14  # ids that are hashed at once
_COLUMNS_KEPT = 2  # coded columns whose node numbers are remembered: those of sources and of targets


@dataclass(frozen=True, slots=True)
class NodeBatch:
    """Nodes as columns of one length. In a property, None marks a node without it."""

    ids: Sequence[str]
    types: Sequence[str]
    names: Sequence[str]
    """None of them empty."""
    texts: Sequence[str]
    properties: Mapping[str, Sequence[JsonValue]] = field(default_factory=dict)
    aliases: Sequence[tuple[str, ...]] | None = None
    """None if no node has any."""

    def __len__(self) -> int:
        return len(self.ids)

    def taking(self, places: Sequence[int]) -> NodeBatch:
        """Return some of the nodes."""
        return NodeBatch(
            ids=taking(self.ids, places),
            types=taking(self.types, places),
            names=taking(self.names, places),
            texts=taking(self.texts, places),
            properties={name: taking(cells, places) for name, cells in self.properties.items()},
            aliases=None if self.aliases is None else taking(self.aliases, places),
        )

    def nodes(self) -> Iterator[Node]:
        """Return the nodes one by one."""
        aliases = self.aliases if self.aliases is not None else repeat((), len(self))
        cells: Iterable[Any] = zip(*self.properties.values(), strict=True) if self.properties else repeat((), len(self))
        rows = zip(self.ids, self.types, self.names, self.texts, aliases, cells, strict=True)
        for node_id, kind, name, text, several, values in rows:
            pairs = zip(self.properties, values, strict=False)  # of values that have no names there are none
            said = {name: value for name, value in pairs if value is not None}
            yield Node(node_id, kind, name, text, several, said)


def taking(column: Sequence[Any], places: Sequence[int]) -> Sequence[Any]:  # Any: texts, or JSON values
    """Return some cells of a column."""
    if isinstance(column, CodedColumn):
        return CodedColumn(column.values, column.codes[np.asarray(places, np.int64)])
    if isinstance(column, Strings):
        return [column[place] for place in places]
    return list(map(column.__getitem__, places))


class CodedColumn(Sequence[Any]):  # Any: texts, or JSON values
    """A column of repeated values, `values[codes[i]]`. A `values` object that batches share is looked up once."""

    def __init__(self, values: Sequence[Any], codes: NDArray[np.integer[Any]]) -> None:
        self.values, self.codes = values, codes

    def map(self, function: Callable[[Any], Any]) -> CodedColumn:
        """Return the column with a function of each value."""
        return CodedColumn(list(map(function, self.values)), self.codes)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, index: Any) -> Any:  # Any: Sequence's overloads; slices are not used
        return self.values[self.codes[index]]

    def __iter__(self) -> Iterator[Any]:
        values = self.values if isinstance(self.values, list) else list(self.values)
        return map(values.__getitem__, self.codes.tolist())


@dataclass(frozen=True, slots=True)
class EdgeBatch:
    """Edges as columns of one length. `extras[i]` has the i-th edge's text, weight and properties; None for none."""

    sources: Sequence[str]
    types: Sequence[str]
    targets: Sequence[str]
    extras: Sequence[Mapping[str, JsonValue] | None] | None = None
    file: str = ""
    lines: Sequence[int] = ()
    numbers: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None
    """The sources and the targets by the numbers that a builder gave them, where these are known: no ids are needed."""


class _BatchOrigin(NamedTuple):
    first: int  # the number of the batch's first edge
    file: str
    lines: Sequence[int]


class EdgeTable:
    """All edges so far as columns of shape (edges,), in the order of reading. Nodes have the numbers of `add_node`."""

    def __init__(self, size: int, *, has_extras: bool) -> None:
        self.source = np.empty(size, np.int32)
        self.target = np.empty(size, np.int32)
        self.type = np.empty(size, np.uint16)
        self.extra = np.zeros(size if has_extras else 1, np.uint64)
        """The hash of the edge's extra; 0 for none."""
        self.number = np.full(size if has_extras else 1, -1, np.int32)
        """The place of the edge's extra in the spool; -1 for none."""
        self.has_extras = has_extras
        if not has_extras:  # a single value that looks like a column
            self.extra = np.broadcast_to(self.extra[:1], (size,))
            self.number = np.broadcast_to(self.number[:1], (size,))
        self.keep = np.empty(size, np.bool_)
        """False for edges to drop. Cleaning clears entries; dangling edges are False from the start."""
        self.symmetric: set[str] = set()
        self.type_names: list[str] = []
        self.node_type: NDArray[np.uint16] = np.zeros(0, np.uint16)
        self.node_type_names: list[str] = []
        self._batches: list[_BatchOrigin] = []
        self._dangling: dict[int, tuple[str, str]] = {}
        self.node_ids: Sequence[str] = ()
        """The ids of the nodes by number."""

    def __len__(self) -> int:
        return len(self.source)

    def origin(self, row: int) -> tuple[str, int]:
        """Return the file and the line that an edge was read from; line 0 if it is unknown."""
        first, file, lines = self._batches[bisect_right(self._batches, row, key=lambda batch: batch.first) - 1]
        return file, int(lines[row - first]) if lines else 0

    def by_file(self, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Part rows by the file that they were read from, in the order of reading."""
        files = np.unique([batch.file for batch in self._batches], return_inverse=True)[1]
        of_row = files[np.searchsorted([batch.first for batch in self._batches], rows, side="right") - 1]
        return sorted((rows[of_row == file] for file in np.unique(of_row)), key=lambda part: int(part[0]))

    def ids(self, row: int) -> tuple[str, str, str]:
        """Return source id, type and target id as read; `?` for the ends of dangling edges beyond the first 100."""
        if row in self._dangling:
            source, target = self._dangling[row]
        else:
            ends = (int(self.source[row]), int(self.target[row]))
            source, target = (self.node_ids[end] if end >= 0 else "?" for end in ends)
        return source, self.type_names[self.type[row]], target

    def turn(self, rows: NDArray[Any]) -> None:  # Any: numbers or a mask
        """Swap the ends of these edges."""
        self.source[rows], self.target[rows] = self.target[rows], self.source[rows]


class _EdgeColumns(NamedTuple):
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    types: NDArray[np.uint16]
    extra: NDArray[np.uint64] | None
    number: NDArray[np.int32] | None


def encode_extra(extra: Mapping[str, JsonValue]) -> bytes:
    """Return the stored form of an edge's text, weight and properties."""
    return encode(_canonical(extra))


def extra_hash(encoded: bytes) -> int:
    """Return the hash by which stored extras are compared; never 0, which marks an edge without any."""
    return int.from_bytes(hashlib.blake2b(encoded, digest_size=8).digest(), "little") or 1


class EdgeSpool:
    """Collects batches of edges. `rows` has the nodes' numbers by id and may grow; extras are written to `extras`."""

    def __init__(self, rows: Mapping[str, int], extras: StringWriter) -> None:
        self.types: dict[str, int] = {}
        """The edge types with their numbers, in the order of their first appearance."""
        self.count = 0
        self.extra_count = 0
        self._numbers: NodeNumbers | None = None  # of the first `_numbered` nodes
        self._numbered = 0
        self._rows, self._extras = rows, extras
        self._chunks: list[_EdgeColumns] = []
        self._batches: list[_BatchOrigin] = []
        self._dangling: dict[int, tuple[str, str]] = {}

    def add(self, batch: EdgeBatch) -> None:
        """Add edges between nodes that were added before."""
        self._batches.append(_BatchOrigin(self.count, batch.file, batch.lines))
        source, target = batch.numbers or (self._find(batch.sources), self._find(batch.targets))
        types = type_numbers(batch.types, self.types)
        for at in np.flatnonzero((source < 0) | (target < 0))[: _DANGLING_KEPT - len(self._dangling)]:
            self._dangling[self.count + int(at)] = (batch.sources[at], batch.targets[at])
        hashes, numbers = None, None
        if isinstance(batch.extras, CodedColumn):
            own_hashes, own_numbers = self._written(batch.extras.values)
            hashes, numbers = own_hashes[batch.extras.codes], own_numbers[batch.extras.codes]
        elif batch.extras is not None:
            hashes, numbers = self._written(batch.extras)
        self._chunks.append(_EdgeColumns(source, target, types, hashes, numbers))
        self.count += len(source)

    def _written(
        self, extras: Sequence[Mapping[str, JsonValue] | None]
    ) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        """Write extras; return the hash and the number of each: (extras,), 0 and -1 for none.

        An object that several edges share is written once.
        """
        hashes, numbers = np.zeros(len(extras), np.uint64), np.full(len(extras), -1, np.int32)
        written: dict[int, tuple[int, int]] = {}  # by identity
        for index, extra in enumerate(extras):
            if not extra:
                continue
            if id(extra) not in written:
                text = encode_extra(extra)
                written[id(extra)] = extra_hash(text), self.extra_count
                self._extras.add(text)
                self.extra_count += 1
            hashes[index], numbers[index] = written[id(extra)]
        return hashes, numbers

    def _find(self, ids: Sequence[str]) -> NDArray[np.int32]:
        """Return the number of each node: (ids,), -1 for unknown ids."""
        if self._numbers is None or self._numbered < len(self._rows):
            self._numbered = len(self._rows)
            self._numbers = NodeNumbers(id_hashes(self._rows), np.arange(self._numbered, dtype=np.int32))
        # A twentieth of a dict's time: numpy fetches from many places of memory at once.
        if self._numbers.is_exact:
            return self._numbers.find(ids)
        return np.fromiter(map(self._rows.get, ids, repeat(-1)), np.int32, len(ids))

    def table(self) -> EdgeTable:
        """Return all edges so far. The table replaces the spooled edges: changes to it last."""
        chunks, self._chunks = self._chunks, []
        table = EdgeTable(self.count, has_extras=self.extra_count > 0)
        end = self.count
        while chunks:  # each chunk is freed once it is copied
            chunk = chunks.pop()
            begin = end - len(chunk.source)
            table.source[begin:end], table.target[begin:end] = chunk.source, chunk.target
            table.type[begin:end] = chunk.types
            table.keep[begin:end] = (chunk.source >= 0) & (chunk.target >= 0)
            if self.extra_count and chunk.extra is not None and chunk.number is not None:
                table.extra[begin:end], table.number[begin:end] = chunk.extra, chunk.number
            end = begin
        extra, number = (table.extra, table.number) if self.extra_count else (None, None)
        self._chunks = [_EdgeColumns(table.source, table.target, table.type, extra, number)]
        table._batches, table._dangling, table.node_ids = self._batches, self._dangling, list(self._rows)
        return table

    def complete(self) -> None:
        """Free the index of nodes by id after the last edge."""
        self._numbers = None

    def forget(self) -> None:
        """Free the edges after they are written."""
        self._chunks = []


class NodeNumbers:
    """Finds the numbers of nodes by the hashes of their ids, in numpy."""

    def __init__(self, hashes: NDArray[np.uint64], numbers: NDArray[np.int32]) -> None:
        """Index the numbers of nodes, (ids,), by the hashes of their ids, (ids,), which `id_hashes` returns."""
        self._vocabulary = WordNumbers()
        places, _ = self._vocabulary.number(hashes)
        self._rows = np.full(len(self._vocabulary) + 1, -1, np.int32)  # the last entry is for unknown ids
        self._rows[places] = numbers
        self.is_exact = len(self._vocabulary) == len(hashes)
        """No two ids share a hash; else a found number may be another node's."""
        self._known: list[tuple[Sequence[str], NDArray[np.int32]]] = []  # values of coded columns, and their nodes

    def find(self, ids: Sequence[str]) -> NDArray[np.int32]:
        """Return the number of each node: (ids,), -1 for unknown ids."""
        if isinstance(ids, CodedColumn):
            nodes = next((rows for values, rows in self._known if values is ids.values), None)
            if nodes is None:
                nodes = self.of_hashes(id_hashes(ids.values))
                self._known = [*self._known, (ids.values, nodes)][-_COLUMNS_KEPT:]
            return np.asarray(nodes[ids.codes])
        return self.of_hashes(id_hashes(ids))

    def of_hashes(self, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the number of each node by the hash of its id: (hashes,), -1 for unknown ones."""
        return self._rows[self._vocabulary.find(hashes)]


def id_hashes(ids: Iterable[str]) -> NDArray[np.uint64]:
    """Return the hash of each id: (ids,)."""
    if isinstance(ids, Strings):
        return string_hashes(ids)
    rest = iter(ids)
    parts = iter(lambda: list(islice(rest, _HASHED)), [])
    return np.concatenate([np.zeros(0, np.uint64), *(string_hashes(Strings.of(part)) for part in parts)])


def type_number(numbers: dict[str, int], name: str) -> int:
    """Return the number of a type, the next one for a new type. Raises `BadInput` for too many types."""
    number = numbers.setdefault(name, len(numbers))
    if number == MOST_TYPES:
        raise BadInput(f"there are more than {MOST_TYPES} types (the next is {name!r}): is this column the type?")
    return number


def type_numbers(names: Sequence[str], numbers: dict[str, int]) -> NDArray[np.uint16]:
    """Return the number of each type, (names,); new types are added to `numbers` in the order of their appearance."""
    if isinstance(names, CodedColumn):
        used, firsts = np.unique(names.codes, return_index=True)
        by_code = np.zeros(len(names.values), np.uint16)
        for code in used[np.argsort(firsts)].tolist():  # by first appearance, whatever the order of the codes
            by_code[code] = type_number(numbers, names.values[code])
        return np.asarray(by_code[names.codes])
    for name in dict.fromkeys(names):
        type_number(numbers, name)
    return np.fromiter(map(numbers.__getitem__, names), np.uint16, len(names))
