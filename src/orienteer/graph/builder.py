"""Nodes, then edges, in a stream; a published generation out. Memory holds ids and edge numbers, never texts."""

from __future__ import annotations

import hashlib
import json
from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import repeat
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import orienteer
from orienteer.errors import BadInput, DuplicateNode
from orienteer.graph import adjacency, format
from orienteer.graph.format import EdgeCount, Manifest
from orienteer.graph.properties import PropertyWriter
from orienteer.graph.properties import write as write_properties
from orienteer.index.arrays import Folder, StringWriter, decode, encode, save
from orienteer.index.names import NameKind, NamesWriter
from orienteer.index.postings import PostingsWriter
from orienteer.index.tokenizer import Tokenizer
from orienteer.index.words import Vocabulary
from orienteer.records import JsonValue, Node

_json = json.JSONEncoder(ensure_ascii=False).encode
_canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
Progress = Callable[[str, int], None]
"""Called with what is being done and how much of it is done."""
IDENTIFIER_PROPERTY = "identifier"  # a property whose values name their node, as an id does
MOST_TYPES = 1 << 15  # node types or edge types; an edge's kind has 16 bits, one of them its direction
_BATCH = 20_000
_SLICE = 1 << 22  # edges handled at once
_DANGLING_KEPT = 100  # dangling rows whose ids are remembered, for the report


@dataclass(frozen=True, slots=True)
class EdgeBatch:
    """Edges as columns. `extras[i]` is what the i-th edge carries: keys text, weight, properties; None for nothing."""

    sources: Sequence[str]
    types: Sequence[str]
    targets: Sequence[str]
    extras: Sequence[Mapping[str, JsonValue] | None] | None = None
    file: str = ""
    lines: Sequence[int] = ()


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
        if not has_extras:  # one value that looks like a column: no edge carries anything
            self.extra = np.broadcast_to(self.extra[:1], (size,))
            self.number = np.broadcast_to(self.number[:1], (size,))
        self.keep = np.empty(size, np.bool_)
        """Cleaning clears it for edges to leave out; dangling ones are left out already."""
        self.symmetric: set[str] = set()
        self.type_names: list[str] = []
        self.node_type: NDArray[np.uint16] = np.zeros(0, np.uint16)
        self.node_type_names: list[str] = []
        self._batches: list[tuple[int, str, Sequence[int]]] = []
        self._dangling: dict[int, tuple[str, str]] = {}
        self._node_ids: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.source)

    def origin(self, row: int) -> tuple[str, int]:
        """Return the file and the line that an edge was read from; line 0 where it is not known."""
        first, file, lines = self._batches[bisect_right(self._batches, row, key=lambda one: one[0]) - 1]
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


class _IdTable(NamedTuple):
    """Node ids by hash."""

    vocabulary: Vocabulary
    rows: NDArray[np.int32]
    is_exact: bool


class GraphBuilder:
    """Spools what it is given beside the target; `publish` makes it the graph. Leaves nothing behind on failure.

    Use as a context manager. Raises `BadInput` where the target may not be written and `GraphBusy` where another
    process is writing there.
    """

    def __init__(
        self,
        path: Path,
        *,
        force: bool = False,
        provenance: Mapping[str, Any] | None = None,  # Any: JSON
        stem: bool = True,
        progress: Progress | None = None,
    ) -> None:
        format.check_target(path, force=force)
        self._path, self._force = path, force
        self._provenance = dict(provenance or {})
        self._tokenizer = Tokenizer(stem=stem)
        self._progress = progress if progress is not None else _quietly
        self._rows: dict[str, int] = {}
        self._node_types: dict[str, int] = {}
        self._edge_types: dict[str, int] = {}
        self._types = array("H")
        self._content = array("q")
        self._properties: dict[str, PropertyWriter] = {}
        self._table_of_ids: _IdTable | None = None
        self._chunks: list[_Chunk] = []
        self._batches: list[tuple[int, str, Sequence[int]]] = []
        self._dangling: dict[int, tuple[str, str]] = {}
        self._edge_count = 0
        self._extra_count = 0
        self._table: EdgeTable | None = None

    def __enter__(self) -> GraphBuilder:
        with ExitStack() as stack:
            self._work = stack.enter_context(format.publishing(self._path))
            format.check_target(self._path, force=self._force)  # again, now that nobody else can change it
            self._spool = self._work / "spool"
            self._spool.mkdir()
            self._names, self._texts, self._aliases, self._extras = (
                StringWriter(self._spool, name) for name in ("name", "text", "aliases", "extra")
            )
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    @property
    def node_count(self) -> int:
        """Count the nodes so far."""
        return len(self._rows)

    def has(self, node_id: str) -> bool:
        """Tell whether a node of this id was added."""
        return node_id in self._rows

    def add_node(self, node: Node) -> bool:
        """Add a node; False where the very same one is there already. Raises `DuplicateNode`, `BadInput`."""
        encoded = {key: _encoded(value) for key, value in node.properties.items()}
        content = hash((node.type, node.name, node.text, node.aliases, tuple(encoded.items())))
        known = self._rows.get(node.id)
        if known is not None:
            if self._content[known] == content:
                return False
            raise DuplicateNode(f"two different nodes have the id {node.id!r}: give each its own")
        if not node.id:
            raise BadInput(f"a node has no id (its name is {node.name!r}): every node needs one")
        row = self._rows[node.id] = len(self._rows)
        self._content.append(content)
        self._types.append(_number(self._node_types, node.type))
        for key, data in encoded.items():
            self._property(key).add(row, node.properties[key], data)
        self._names.add(encode(node.name or node.id))
        self._texts.add(encode(node.text))
        self._aliases.add(encode(_json(node.aliases)) if node.aliases else b"")
        if len(self._rows) % _BATCH == 0:
            self._progress("reading nodes", len(self._rows))
        return True

    def _property(self, name: str) -> PropertyWriter:
        writer = self._properties.get(name)
        if writer is None:
            writer = self._properties[name] = PropertyWriter(self._spool / f"p{len(self._properties)}")
        return writer

    def _find(self, ids: Sequence[str]) -> NDArray[np.int32]:
        """Return the numbers of nodes, -1 for unknown ones.

        By the hashes of strings that Python has at hand: a table in numpy takes a twentieth of a dict's time, for it
        waits for many places of memory at once. Should two ids ever share a hash, the dict answers.
        """
        if self._table_of_ids is None or len(self._table_of_ids.rows) <= len(self._rows):
            hashes = _hashes(self._rows)
            vocabulary = Vocabulary()
            numbers, _ = vocabulary.number(hashes)
            rows = np.full(len(vocabulary) + 1, -1, np.int32)  # the last stands for what is not found
            rows[numbers] = np.arange(len(numbers), dtype=np.int32)
            self._table_of_ids = _IdTable(vocabulary, rows[: len(numbers) + 1], len(vocabulary) == len(numbers))
        table = self._table_of_ids
        if not table.is_exact:
            return np.fromiter(map(self._rows.get, ids, repeat(-1)), np.int32, len(ids))
        return table.rows[table.vocabulary.find(_hashes(ids))]

    def add_edges(self, batch: EdgeBatch) -> None:
        """Add edges; the nodes that they join come before them."""
        size = len(batch.sources)
        self._batches.append((self._edge_count, batch.file, batch.lines))
        source, target = self._find(batch.sources), self._find(batch.targets)
        for name in dict.fromkeys(batch.types):
            _number(self._edge_types, name)
        types = np.fromiter(map(self._edge_types.__getitem__, batch.types), np.uint16, size)
        for at in np.flatnonzero((source < 0) | (target < 0))[: _DANGLING_KEPT - len(self._dangling)]:
            self._dangling[self._edge_count + int(at)] = (batch.sources[at], batch.targets[at])
        extra, number = self._spool_extras(batch.extras) if batch.extras is not None else (None, None)
        self._chunks.append(_Chunk(source, target, types, extra, number))
        self._edge_count += size
        self._table = None
        self._progress("reading edges", self._edge_count)

    def _spool_extras(
        self, extras: Sequence[Mapping[str, JsonValue] | None]
    ) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        hashes, numbers = np.zeros(len(extras), np.uint64), np.full(len(extras), -1, np.int32)
        for index, extra in enumerate(extras):
            if not extra:
                continue
            data = encode(_canonical(extra))
            hashes[index] = int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little") or 1
            numbers[index] = self._extra_count
            self._extras.add(data)
            self._extra_count += 1
        return hashes, numbers

    @property
    def edges(self) -> EdgeTable:
        """All edges so far, for cleaning; what is changed there is what `publish` writes."""
        if self._table is None:
            self._table = self._joined()
        table = self._table
        table.type_names = list(self._edge_types)
        table.node_type = np.array(self._types, np.uint16)
        table.node_type_names = list(self._node_types)
        return table

    def _joined(self) -> EdgeTable:
        chunks, self._chunks = self._chunks, []
        table = EdgeTable(self._edge_count, has_extras=self._extra_count > 0)
        end = self._edge_count
        while chunks:  # each is let go once it is copied
            chunk = chunks.pop()
            begin = end - len(chunk.source)
            table.source[begin:end], table.target[begin:end] = chunk.source, chunk.target
            table.type[begin:end] = chunk.types
            table.keep[begin:end] = (chunk.source >= 0) & (chunk.target >= 0)
            if self._extra_count and chunk.extra is not None and chunk.number is not None:
                table.extra[begin:end], table.number[begin:end] = chunk.extra, chunk.number
            end = begin
        extra, number = (table.extra, table.number) if self._extra_count else (None, None)
        self._chunks = [_Chunk(table.source, table.target, table.type, extra, number)]
        table._batches, table._dangling, table._node_ids = self._batches, self._dangling, list(self._rows)
        return table

    def publish(
        self, *, labels: Mapping[str, str] | None = None, also_called: Mapping[str, Sequence[str]] | None = None
    ) -> Manifest:
        """Write the indexes and make this the graph. Raises `BadInput` for a graph without nodes."""
        if not self._rows:
            raise BadInput("there are no nodes: a graph needs at least one")
        for writer in (self._names, self._texts, self._aliases, self._extras):
            writer.close()
        ids = list(self._rows)
        order = sorted(range(len(ids)), key=ids.__getitem__)
        place = np.empty(len(ids), np.int32)
        place[order] = np.arange(len(ids), dtype=np.int32)
        types = np.array(self._types, np.uint16)[order]
        triples, symmetric = self._write_edges(place, types)
        self._table, self._chunks = None, []  # texts want the room
        text = self._write_nodes(ids, order)
        write_properties(self._work, list(self._properties.values()), place)
        save(self._work, "node_type", types)
        generation, created = format.new_generation()
        manifest = Manifest(
            generation=generation,
            created=created,
            made_by=orienteer.__version__,
            tokenizer=self._tokenizer.id,
            nodes=len(ids),
            edges=sum(one.count for one in triples),
            node_types=dict(
                zip(self._node_types, np.bincount(types, minlength=len(self._node_types)).tolist(), strict=True)
            ),
            edge_types=_by_type(self._edge_types, triples),
            triples=triples,
            symmetric=symmetric,
            labels=dict(labels or {}),
            also_called={name: tuple(words) for name, words in (also_called or {}).items()},
            text=text,
            properties=tuple(self._properties),
            provenance=self._provenance,
        )
        for file in self._spool.iterdir():
            file.unlink()
        self._spool.rmdir()
        self._progress("publishing", len(ids))
        return format.publish(self._path, self._work, manifest)

    def _write_edges(
        self, place: NDArray[np.int32], types: NDArray[np.uint16]
    ) -> tuple[tuple[EdgeCount, ...], tuple[str, ...]]:
        """Write the adjacency; return how many edges join which types, and the symmetric edge types."""
        table = self.edges
        self._progress("sorting edges", len(table))
        kept: NDArray[np.int64] | slice = slice(None) if table.keep.all() else np.flatnonzero(table.keep)
        source, target, edge_type = place[table.source[kept]], place[table.target[kept]], table.type[kept]
        numbers = self._write_extras(table.number[kept]) if self._extra_count else None
        adjacency.write(self._work, len(place), source, target, edge_type, numbers)
        wide = len(self._node_types)
        counts = np.zeros(len(self._edge_types) * wide * wide, np.int64)
        for low in range(0, len(source), _SLICE):
            part = slice(low, low + _SLICE)
            code = (edge_type[part].astype(np.int64) * wide + types[source[part]]) * wide + types[target[part]]
            counts += np.bincount(code, minlength=len(counts))
        node_names, edge_names = list(self._node_types), list(self._edge_types)
        triples = tuple(
            EdgeCount(
                source=node_names[one // wide % wide],
                type=edge_names[one // wide // wide],
                target=node_names[one % wide],
                count=int(counts[one]),
            )
            for one in np.flatnonzero(counts).tolist()
        )
        return triples, tuple(sorted(table.symmetric))

    def _write_extras(self, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """Write what the kept edges carry; return its new numbers."""
        carrying = np.flatnonzero(numbers >= 0)
        spooled = Folder(self._spool).strings("extra")
        with StringWriter(self._work, "edge_extra") as writer:
            for low in range(0, len(carrying), _BATCH):
                writer.extend(spooled.take(numbers[carrying[low : low + _BATCH]].astype(np.int64)))
        renumbered = np.full(len(numbers), -1, np.int32)
        renumbered[carrying] = np.arange(len(carrying), dtype=np.int32)
        return renumbered

    def _write_nodes(self, ids: list[str], order: Sequence[int]) -> dict[str, float]:
        spooled = Folder(self._spool)
        columns = [spooled.strings(name) for name in ("name", "text", "aliases")]
        names = NamesWriter(self._tokenizer)
        with ExitStack() as stack:
            postings = stack.enter_context(PostingsWriter(self._work, self._tokenizer))
            writers = [stack.enter_context(StringWriter(self._work, one)) for one in ("id", "name", "text", "aliases")]
            for low in range(0, len(order), _BATCH):
                part = order[low : low + _BATCH]
                encoded_ids = [encode(ids[old]) for old in part]
                raw = [column.take(np.array(part)) for column in columns]
                for column in columns:
                    column.forget()
                for writer, data in zip(writers, (encoded_ids, *raw), strict=True):
                    writer.extend(data)
                given = [decode(one) for one in raw[0]]
                aliases: list[list[str]] = [json.loads(one) if one else [] for one in raw[2]]
                rows = range(low, low + len(part))
                postings.add([" ".join((n, *a, decode(t))) for n, a, t in zip(given, aliases, raw[1], strict=True)])
                _add_names(names, rows, [ids[old] for old in part], given, aliases)
                self._progress("indexing nodes", low + len(part))
            statistics = postings.finish()
        if IDENTIFIER_PROPERTY in self._properties:
            _add_identifiers(names, self._properties[IDENTIFIER_PROPERTY], order)
        names.finish(self._work)
        return statistics


def _encoded(value: JsonValue) -> bytes:
    """Return a value as JSON; whole numbers and texts, which nearly all are, by the short way."""
    if type(value) is int:
        return str(value).encode()
    return encode(encode_basestring(value) if type(value) is str else _json(value))


def _hashes(ids: Collection[str]) -> NDArray[np.uint64]:
    hashes = np.fromiter(map(hash, ids), np.int64, len(ids)).view(np.uint64)
    hashes[hashes == 0] = 1  # 0 marks an empty slot; it is the hash of an empty text, which is no node
    return hashes


def _by_type(names: Iterable[str], triples: Sequence[EdgeCount]) -> dict[str, int]:
    counts = dict.fromkeys(names, 0)
    for one in triples:
        counts[one.type] += one.count
    return counts


def _add_names(
    names: NamesWriter, rows: Sequence[int], ids: Sequence[str], given: Sequence[str], aliases: Sequence[Sequence[str]]
) -> None:
    names.add(rows, NameKind.NAME, given)
    apart = [at for at, (node_id, name) in enumerate(zip(ids, given, strict=True)) if node_id != name]
    names.add([rows[at] for at in apart], NameKind.IDENTIFIER, [ids[at] for at in apart])
    called = [(row, alias) for row, several in zip(rows, aliases, strict=True) for alias in several]
    names.add([row for row, _ in called], NameKind.ALIAS, [alias for _, alias in called])


def _add_identifiers(names: NamesWriter, identifiers: PropertyWriter, order: Sequence[int]) -> None:
    """Let the values of the identifying property name their nodes."""
    place = {old: row for row, old in enumerate(order)}
    found = [
        (place[old], one)
        for old, value in identifiers.values()
        for one in (value if isinstance(value, list) else [value])
        if isinstance(one, str)
    ]
    names.add([row for row, _ in found], NameKind.IDENTIFIER, [one for _, one in found])


def _number(numbers: dict[str, int], name: str) -> int:
    number = numbers.setdefault(name, len(numbers))
    if number == MOST_TYPES:
        raise BadInput(f"there are more than {MOST_TYPES} types (the next is {name!r}): is this column the type?")
    return number


def _quietly(stage: str, count: int) -> None:
    """Tell nobody."""
