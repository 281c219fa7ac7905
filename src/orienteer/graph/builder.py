"""Builds a generation from a stream of nodes, then edges. Memory holds ids and numbers, never texts."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.display import Count
from orienteer.elements import JsonValue, Node
from orienteer.errors import BadInput, DuplicateNode, Error
from orienteer.graph import adjacency, publication
from orienteer.graph.edges import CodedColumn, EdgeBatch, EdgeSpool, EdgeTable, NodeBatch, taking, type_number
from orienteer.graph.format import TEXT_TYPES, EdgeCount, Manifest
from orienteer.graph.node_indexer import NodeIndexer
from orienteer.graph.properties import PropertyWriter, encode_value, write as write_properties
from orienteer.index.arrays import Folder, StringWriter, encode, save
from orienteer.text.tokenizer import Tokenizer
from orienteer.version import __version__

_json = json.JSONEncoder(ensure_ascii=False).encode
Progress = Callable[[str, int], None]
"""Called with the name of a stage and the number done."""
IDENTIFIER_PROPERTY = "identifier"  # a property whose values name their node, as an id does
_BATCH = 20_000  # nodes between two reports of progress, and nodes or extras that are copied at once
_SLICE = 1 << 16  # edges that are counted at once: their columns stay in a processor's cache


class RepeatedNode(Error):
    """An id that is there already, where nobody has kept what the first node holds."""


class AddedNodes(NamedTuple):
    """What became of nodes that were added together."""

    numbers: NDArray[np.int32]
    """The number of each: (nodes,)."""
    repeats: Sequence[int]
    """The places of those that were there already, exactly so."""


class GraphBuilder:
    """Spools nodes and edges next to the target; `publish` makes them the graph. A failure leaves no files.

    Use as a context manager. Raises `BadInput` if the target may not be written, `GraphBusy` if another process is
    writing there.
    """

    def __init__(
        self,
        path: Path,
        *,
        force: bool = False,
        provenance: Mapping[str, Any] | None = None,  # Any: JSON
        stem: bool = True,
        progress: Progress | None = None,
        only_counts: bool = False,
    ) -> None:
        """Check the target. `only_counts`: count nodes and edges, whatever they hold; there is nothing to publish.

        A node whose id is there already raises `RepeatedNode` then.
        """
        publication.check_target(path, force=force)
        self._path, self._force = path, force
        self.provenance = dict(provenance or {})
        self.only_counts = only_counts
        self._tokenizer = Tokenizer(stem=stem)
        self._progress: Progress = progress if progress is not None else lambda stage, count: None
        self._rows: dict[str, int] = {}
        self._ids: list[str] = []
        """The first of them by number, as many as were asked for."""
        self._node_types: dict[str, int] = {}
        self._types = array("H")
        self._content = array("q")
        self._properties: dict[str, PropertyWriter] = {}
        self._table: EdgeTable | None = None
        self._cleaned: EdgeTable | None = None
        """The edges that were cleaned before more were added: their changes are kept."""

    def __enter__(self) -> GraphBuilder:
        with ExitStack() as stack:
            self._work = stack.enter_context(publication.publishing(self._path))
            publication.check_target(self._path, force=self._force)  # again, under the lock
            self._spool = self._work / "spool"
            self._spool.mkdir()
            self._names, self._texts, self._aliases, self._extras = (
                StringWriter(self._spool, name) for name in ("name", "text", "aliases", "extra")
            )
            self._edges = EdgeSpool(self._rows, self._extras)
            self._digests = stack.enter_context(publication.Digests())
            self._indexer = stack.enter_context(NodeIndexer(self._work, self._tokenizer))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def describe(self, provenance: Mapping[str, Any]) -> None:  # Any: JSON
        """Set the provenance of the graph, if it is known only after reading."""
        self.provenance = dict(provenance)

    @property
    def spool(self) -> Path:
        """Return a folder for a reader's temporary files; publishing removes it."""
        return self._spool

    def tell(self, stage: str, count: int) -> None:
        """Report the progress of a reader before its first node."""
        self._progress(stage, count)

    @property
    def node_count(self) -> int:
        """Count the nodes so far."""
        return len(self._rows)

    def has(self, node_id: str) -> bool:
        """Return whether a node with this id was added."""
        return node_id in self._rows

    def number(self, node_id: str) -> int:
        """Return the number of a node that was added: how many were before it."""
        return self._rows[node_id]

    def ids(self, numbers: NDArray[np.int32]) -> list[str]:
        """Return the ids of nodes by their numbers."""
        if len(self._ids) < len(self._rows):
            self._ids = list(self._rows)
        return list(map(self._ids.__getitem__, numbers.tolist()))

    def add_node(self, node: Node) -> bool:
        """Add a node; False for an exact repetition. Raises `DuplicateNode`, `BadInput`."""
        earlier = self._rows.get(node.id)
        if self.only_counts:
            if earlier is not None:
                raise RepeatedNode(node.id)
            encoded = {}
        else:
            encoded = {key: encode_value(value) for key, value in node.properties.items()}
            content = hash((node.type, node.name or node.id, node.text, node.aliases))
            content = _signed(content + sum(hash(text) * _factor(key) for key, text in encoded.items()))
            if earlier is not None:
                if self._content[earlier] == content:
                    return False
                raise DuplicateNode(f"two different nodes have the id {node.id!r}: give each its own")
            self._content.append(content)
        if not node.id:
            raise BadInput(f"a node has no id (its name is {node.name!r}): every node needs one")
        row = self._rows[node.id] = len(self._rows)
        self._types.append(type_number(self._node_types, node.type))
        if len(self._rows) % _BATCH == 0:
            self._progress("reading nodes", len(self._rows))
        if self.only_counts:
            return True
        for key, text in encoded.items():
            writer = self._properties.get(key)
            if writer is None:
                writer = self._properties[key] = PropertyWriter(self._spool / f"p{len(self._properties)}")
            writer.extend((row,), (text,))
        self._names.add(encode(node.name or node.id))
        self._texts.add(encode(node.text))
        self._aliases.add(encode(_json(node.aliases)) if node.aliases else b"")
        self._indexer.add([(node.id, node.name or node.id, node.aliases, node.text)])
        return True

    def add_nodes(self, batch: NodeBatch) -> AddedNodes:
        """Add nodes. Raises `DuplicateNode` that knows the place of the second, `BadInput`."""
        first, ids = len(self._rows), list(batch.ids)
        distinct = set(ids)
        if "" in distinct:
            raise BadInput("a node has no id: every node needs one")
        encoded: dict[str, Sequence[bytes | None]] = {}
        contents = np.zeros(0, np.int64)
        if not self.only_counts:
            encoded = {
                key: values.map(_encoded) if isinstance(values, CodedColumn) else list(map(_encoded, values))
                for key, values in batch.properties.items()
            }
            contents = _contents(batch, encoded)
        numbers, repeats = np.arange(first, first + len(ids), dtype=np.int32), list[int]()
        if len(distinct) == len(ids) and self._rows.keys().isdisjoint(distinct):
            self._rows.update(zip(ids, range(first, first + len(ids)), strict=True))
            self._content.frombytes(contents.tobytes())
        else:
            numbers, repeats = self._among_others(ids, contents)
            new = sorted(set(range(len(ids))).difference(repeats))
            batch, encoded = batch.taking(new), {key: taking(values, new) for key, values in encoded.items()}
        types = list(batch.types)
        for name in dict.fromkeys(types):
            type_number(self._node_types, name)
        self._types.extend(map(self._node_types.__getitem__, types))
        if len(self._rows) // _BATCH > first // _BATCH:
            self._progress("reading nodes", len(self._rows))
        if not self.only_counts:
            self._write(first, batch, encoded)
        return AddedNodes(numbers, repeats)

    def _among_others(self, ids: Sequence[str], contents: NDArray[np.int64]) -> tuple[NDArray[np.int32], list[int]]:
        """Number nodes of which some are there already: return the numbers, and the places of the repetitions."""
        numbers, repeats = np.empty(len(ids), np.int32), list[int]()
        for place, node_id in enumerate(ids):
            there = self._rows.get(node_id)
            if there is None:
                there = self._rows[node_id] = len(self._rows)
                self._content.extend(contents[place : place + 1].tolist())
            elif self.only_counts:
                raise RepeatedNode(node_id)
            elif self._content[there] == contents[place]:
                repeats.append(place)
            else:
                raise DuplicateNode(f"two different nodes have the id {node_id!r}: give each its own", place=place)
            numbers[place] = there
        return numbers, repeats

    def _write(self, first: int, batch: NodeBatch, encoded: Mapping[str, Sequence[bytes | None]]) -> None:
        """Write what nodes hold, the first of which is row `first`."""
        having: dict[str, Sequence[int]] = {}
        for key, values in encoded.items():
            is_full = None not in (values.values if isinstance(values, CodedColumn) else values)
            having[key] = (
                range(len(values)) if is_full else [at for at, value in enumerate(values) if value is not None]
            )
        for key in sorted(filter(having.get, having), key=lambda key: having[key][0]):  # as `add_node` meets them
            writer = self._properties.get(key)
            if writer is None:
                writer = self._properties[key] = PropertyWriter(self._spool / f"p{len(self._properties)}")
            values, rows = encoded[key], having[key]
            if len(rows) < len(batch):
                values = taking(values, rows)
            writer.extend([first + at for at in rows], [value for value in values if value is not None])
        names, texts = list(batch.names), list(batch.texts)
        aliases = batch.aliases if batch.aliases is not None else [()] * len(batch)
        self._names.extend_texts(names)
        self._texts.extend_texts(texts)
        self._aliases.extend(encode(_json(several)) if several else b"" for several in aliases)
        self._indexer.add(zip(batch.ids, names, aliases, texts, strict=True))

    def add_edges(self, batch: EdgeBatch) -> None:
        """Add edges between nodes that were added before."""
        self._edges.add(batch)
        self._table, self._cleaned = None, self._table or self._cleaned
        self._progress("reading edges", self._edges.count)

    @property
    def edges(self) -> EdgeTable:
        """Return all edges so far for cleaning; `publish` writes them with the changes."""
        if self._table is None:
            self._table = self._edges.table()
            if self._cleaned is not None:
                self._table.keep[: len(self._cleaned)] = self._cleaned.keep
                self._table.symmetric |= self._cleaned.symmetric
        table = self._table
        table.type_names = list(self._edges.types)
        table.node_type = np.array(self._types, np.uint16)
        table.node_type_names = list(self._node_types)
        return table

    def publish(
        self,
        *,
        labels: Mapping[str, str] | None = None,
        also_called: Mapping[str, Sequence[str]] | None = None,
        text_types: Collection[str] = (),
        partial: Collection[str] = (),
    ) -> Manifest:
        """Write the indexes and make this the graph. Raises `BadInput` for a graph without nodes.

        `text_types` are the types of nodes that were read, if all other nodes were made from those. The rarity of a
        word and the mean length of a text then count only nodes of these types: a passage is ranked as if the other
        nodes did not exist. `partial` are types of nodes or edges that the graph contains only in part.
        """
        if not self._rows:
            raise BadInput("there are no nodes: a graph needs at least one")
        for writer in (self._names, self._texts, self._aliases, self._extras):
            writer.close()
        self._edges.complete()
        ids = list(self._rows)
        order = np.array(sorted(range(len(ids)), key=ids.__getitem__))
        place = np.empty(len(ids), np.int32)
        place[order] = np.arange(len(ids), dtype=np.int32)
        types = np.array(self._types, np.uint16)
        read = [self._node_types[name] for name in text_types if name in self._node_types]
        measured = np.isin(types, read) if read else None
        types = types[order]
        identifying = self._properties.get(IDENTIFIER_PROPERTY)
        identifiers = (
            [(row, name) for row, value in identifying.added() for name in names_in(value)] if identifying else []
        )
        indexing = self._indexer.finish(place, identifiers, measured=measured)
        if measured is not None:
            self.provenance[TEXT_TYPES] = sorted(text_types)
        self._write_nodes(ids, order)
        write_properties(self._work, list(self._properties.values()), place)
        text = indexing.result()  # edges need the memory
        self._digests.add(*self._work.glob("*.*"))
        triples, symmetric = self._write_edges(place, types)
        save(self._work, "node_type", types)
        generation, created = publication.new_generation()
        manifest = Manifest(
            generation=generation,
            created=created,
            made_by=__version__,
            tokenizer=self._tokenizer.id,
            nodes=len(ids),
            edges=sum(triple.count for triple in triples),
            node_types=dict(
                zip(self._node_types, np.bincount(types, minlength=len(self._node_types)).tolist(), strict=True)
            ),
            edge_types=count_types(self._edges.types, triples),
            triples=triples,
            symmetric=symmetric,
            labels=dict(labels or {}),
            also_called={name: tuple(words) for name, words in (also_called or {}).items()},
            partial=tuple(sorted(partial)),
            text=text,
            properties=tuple(self._properties),
            provenance=self.provenance,
        )
        for file in self._spool.iterdir():
            file.unlink()
        self._spool.rmdir()
        self._progress("publishing", len(ids))
        return publication.publish(self._path, self._work, manifest, self._digests)

    def _write_edges(
        self, place: NDArray[np.int32], types: NDArray[np.uint16]
    ) -> tuple[tuple[EdgeCount, ...], tuple[str, ...]]:
        """Write the adjacency; return the number of edges of each triple of types, and the symmetric edge types."""
        table = self.edges
        self._progress("sorting edges", len(table))
        chosen: NDArray[np.int64] | slice = slice(None) if table.keep.all() else np.flatnonzero(table.keep)
        source, target, edge_type = place[table.source[chosen]], place[table.target[chosen]], table.type[chosen]
        extra = None
        if self._edges.extra_count:
            # The extras of the edges that stay are written, and numbered anew: (edges,), -1 for none.
            numbers = table.number[chosen]
            spooled = Folder(self._spool).strings("extra")
            new_number = np.full(len(spooled) + 1, -1, np.int32)  # the last entry is for edges without
            new_number[numbers] = 0
            new_number[-1] = -1
            used = np.flatnonzero(new_number >= 0)
            new_number[used] = np.arange(len(used), dtype=np.int32)
            with StringWriter(self._work, "edge_extra") as writer:
                for low in range(0, len(used), _BATCH):
                    writer.extend(spooled.take(used[low : low + _BATCH]))
            extra = new_number[numbers]
            del numbers, new_number, used
        symmetric = tuple(sorted(table.symmetric))
        self._table = self._cleaned = None
        self._edges.forget()
        del table, chosen  # sorting needs the memory
        adjacency.write(self._work, len(place), source, target, edge_type, extra)
        return count_edges(source, target, edge_type, types, list(self._node_types), list(self._edges.types)), symmetric

    def _write_nodes(self, ids: list[str], order: NDArray[np.int64]) -> None:
        spooled = Folder(self._spool)
        columns = [spooled.strings(name) for name in ("name", "text", "aliases")]
        with ExitStack() as stack:
            writers = [
                stack.enter_context(StringWriter(self._work, name)) for name in ("id", "name", "text", "aliases")
            ]
            for low in range(0, len(order), _BATCH):
                part = order[low : low + _BATCH]
                writers[0].extend(encode(ids[old]) for old in part.tolist())
                for writer, column in zip(writers[1:], columns, strict=True):
                    writer.extend(column.take(part))
                    column.forget()
                self._progress("indexing nodes", Count(low + len(part), of=len(order)))


def _contents(batch: NodeBatch, encoded: Mapping[str, Sequence[bytes | None]]) -> NDArray[np.int64]:
    """Return a number for all that a node holds, (nodes,), whatever the order of its properties, as `add_node` does."""
    aliases = batch.aliases if batch.aliases is not None else repeat((), len(batch))
    contents = np.array(list(map(hash, zip(batch.types, batch.names, batch.texts, aliases, strict=True))), np.int64)
    for key, values in encoded.items():
        own: Sequence[bytes | None] = values.values if isinstance(values, CodedColumn) else values
        hashes = np.array([0 if value is None else hash(value) for value in own], np.int64) * _factor(key)
        contents += hashes[values.codes] if isinstance(values, CodedColumn) else hashes
    return contents


def _factor(key: str) -> int:
    """Return a number by which a property's hash is told from that of others: odd, of 64 bits."""
    return _signed(hash(key) << 1 | 1)


def _signed(number: int) -> int:
    """Return the last 64 bits of a number, as numpy has them after an overflow."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def _encoded(value: JsonValue) -> bytes | None:
    return None if value is None else encode_value(value)


def names_in(value: JsonValue) -> list[str]:
    """Return the names of a node in its value of the identifying property."""
    return [name for name in (value if isinstance(value, list) else [value]) if isinstance(name, str)]


def count_edges(
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    edge_type: NDArray[np.uint16],
    types: NDArray[np.uint16],
    node_names: Sequence[str],
    edge_names: Sequence[str],
) -> tuple[EdgeCount, ...]:
    """Count the edges of each triple of types; the first three are of shape (edges,), `types` (nodes,)."""
    wide = len(node_names)
    counts = np.zeros(len(edge_names) * wide * wide, np.int64)
    for low in range(0, len(source), _SLICE):
        part = slice(low, low + _SLICE)
        code = (edge_type[part].astype(np.int64) * wide + types[source[part]]) * wide + types[target[part]]
        counts += np.bincount(code, minlength=len(counts))
    return tuple(
        EdgeCount(
            source=node_names[code // wide % wide],
            type=edge_names[code // wide // wide],
            target=node_names[code % wide],
            count=int(counts[code]),
        )
        for code in np.flatnonzero(counts).tolist()
    )


def count_types(names: Iterable[str], triples: Sequence[EdgeCount]) -> dict[str, int]:
    """Count the edges of each type, 0 for a type without any."""
    counts = dict.fromkeys(names, 0)
    for triple in triples:
        counts[triple.type] += triple.count
    return counts
