"""Makes a new generation from an old one: rows are removed, nodes and edges are added, and the rest is copied unread.

The files are those that `GraphBuilder` would write for the same nodes and edges, byte for byte, if it saw the types and
the properties in the same order. They contain nothing of removed rows. Arrays are merged by numpy; runs of old texts
are copied together.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.elements import Node
from orienteer.errors import BadInput, DuplicateNode
from orienteer.graph import properties as property_revision, publication
from orienteer.graph.adjacency import EDGE_FILES, Adjacency, EdgeEnds, all_ends, write_joined
from orienteer.graph.builder import IDENTIFIER_PROPERTY, count_edges, count_types, names_in
from orienteer.graph.edges import CodedColumn, EdgeBatch, encode_extra, type_number
from orienteer.graph.format import FORMAT, TEXT_TYPES, Manifest, generation_of, read_pointer
from orienteer.graph.node_indexer import NodeIndexer
from orienteer.graph.store import Graph
from orienteer.index.arrays import Folder, Rows, decode, encode, save
from orienteer.index.postings import Layout, layout_of, revise_names, revise_texts, write_strings
from orienteer.version import __version__

_json = json.JSONEncoder(ensure_ascii=False).encode
_BATCH = 20_000  # names that are read at once: bounds the memory
_NONE = np.zeros(0, np.int32)


@dataclass(frozen=True, slots=True)
class Revision:
    """The changes of a graph. Edges of removed rows are removed with them."""

    gone: Rows = field(default_factory=lambda: _NONE)
    """Removed rows."""
    nodes: Sequence[Node] = ()
    """Added nodes; one may have the id of a removed row."""
    edges: Sequence[EdgeBatch] = ()
    """Added edges, between added nodes or those that stay."""
    lost: Sequence[tuple[int, str, int]] = ()
    """Removed edges between nodes that stay: all of a type from one row to another."""
    symmetric: frozenset[str] = frozenset()
    """Types of edges without a direction, besides those of the graph."""
    edge_types: Sequence[str] = ()
    """Types of edges that are kept even if no edge has them."""
    directed: frozenset[str] = frozenset()
    """Types of edges of the graph that have a direction from now on."""
    renewed: Collection[str] = ()
    """Ids of added nodes that replace removed rows and keep the edges of these."""


Piece = Callable[[Path, str, Layout], None]
"""Writes a piece of the new generation, of this name and with these rows, into a folder."""


def revise(
    graph: Graph,
    revision: Revision,
    work: Path,
    *,
    provenance: Mapping[str, Any],  # Any: JSON
    facts: Mapping[str, Any] | None = None,  # Any: of different types
    pieces: Mapping[str, Piece] | None = None,
) -> Manifest:
    """Replace an open graph by the revised one, together with pieces of the new generation.

    `work` is the folder of `publication.publishing`, whose lock keeps others from publishing meanwhile. `facts` are
    changed fields of the manifest besides counts, such as labels. Raises `BadInput` if no node is left or an edge
    refers to a missing node, `DuplicateNode`.
    """
    with publication.Digests() as digests:
        folder = work / "arrays"
        folder.mkdir(0o700)
        revised = _Revised(graph, revision, folder)
        manifest = replace(revised.write(work / "new", provenance, digests), **facts or {})
        folders: dict[str, Path] = {}
        for name, write in (pieces or {}).items():
            folders[name] = work / name
            folders[name].mkdir(0o700)
            write(folders[name], manifest.generation, revised.layout)
        return publication.publish(graph.path, folder, manifest, digests, pieces=folders)


class _Nodes(NamedTuple):
    """The nodes of the new generation."""

    names: list[str]
    """Of their types, by number."""
    types: NDArray[np.uint16]
    """(rows,)"""
    text: dict[str, float]
    properties: tuple[str, ...]


class _Revised:
    """One revision. Each method writes some of its files."""

    def __init__(self, graph: Graph, revision: Revision, folder: Path) -> None:
        self._arrays, self._manifest, self._folder = graph.arrays, graph.arrays.manifest, folder
        self._old = Folder(generation_of(graph.path, read_pointer(graph.path)), self._manifest.files)
        self._revision = revision
        self._nodes = sorted(revision.nodes, key=lambda node: node.id)
        self._goes = np.zeros(len(self._arrays.ids), np.bool_)  # (old rows,)
        self._goes[revision.gone] = True
        ids = [node.id for node in self._nodes]
        for node_id, following in zip_longest(ids, ids[1:]):
            row = self._arrays.ids.find(node_id)
            if node_id == following or (row is not None and not self._goes[row]):
                raise DuplicateNode(f"two different nodes have the id {node_id!r}: give each its own")
        if ids and not ids[0]:
            raise BadInput("a node has no id: every node needs one")
        self.layout = layout_of(self._arrays.ids, revision.gone, [encode(node_id) for node_id in ids])
        if not len(self.layout):
            raise BadInput("there are no nodes: a graph needs at least one")
        self._new_row = dict(zip(ids, self.layout.new.tolist(), strict=True))
        """The new rows of nodes by id: the added ones, and those that stay and were looked up."""

    def write(self, scratch: Path, provenance: Mapping[str, Any], digests: publication.Digests) -> Manifest:
        """Write all files and return the manifest, without the files."""
        manifest, provenance = self._manifest, dict(provenance)
        if (text_types := manifest.provenance.get(TEXT_TYPES)) is not None:
            provenance[TEXT_TYPES] = text_types
        if self._nodes or len(self._revision.gone):
            nodes = self._write_nodes(scratch, text_types, digests)
        else:
            self._take_over({name.split(".")[0] for name in manifest.files} - EDGE_FILES, digests)
            nodes = _Nodes(list(manifest.node_types), self._arrays.node_types, manifest.text, manifest.properties)
        # Edges refer to rows and types by number: they stay valid if neither moved, and their files are linked.
        revision, counts = self._revision, manifest.edge_types
        keeps_edges = (
            not revision.edges
            and not revision.lost
            and counts.keys() >= {*revision.edge_types} >= {name for name, count in counts.items() if not count}
            and len(revision.gone) == len(self._nodes) == len(revision.renewed)
            and nodes.names == list(manifest.node_types)
            and np.array_equal(nodes.types, self._arrays.node_types)
        )
        if keeps_edges:
            self._take_over(EDGE_FILES, digests)
            edge_names, triples = list(manifest.edge_types), manifest.triples
        else:
            edge_names = self._write_edges()
            ends = all_ends(Adjacency(Folder(self._folder)))
            is_outgoing = ends.kind & 1 == 0
            kinds = (ends.kind[is_outgoing] >> 1).astype(np.uint16)
            source, target = ends.row[is_outgoing], ends.neighbor[is_outgoing]
            triples = count_edges(source, target, kinds, nodes.types, nodes.names, edge_names)
        undirected = {*manifest.symmetric, *self._revision.symmetric} - self._revision.directed
        generation, created = publication.new_generation()
        node_counts = np.bincount(nodes.types, minlength=len(nodes.names)).tolist()
        return replace(
            manifest,
            format=FORMAT,
            generation=generation,
            created=created,
            made_by=__version__,
            nodes=len(self.layout),
            edges=sum(triple.count for triple in triples),
            node_types=dict(zip(nodes.names, node_counts, strict=True)),
            edge_types=count_types(edge_names, triples),
            triples=triples,
            symmetric=tuple(sorted(undirected & {*edge_names})),
            text=nodes.text,
            properties=nodes.properties,
            provenance=dict(provenance),
            files={},
        )

    def _take_over(self, names: Collection[str], digests: publication.Digests) -> None:
        """Link unchanged files into the new generation, by their names without suffixes."""
        for name, record in self._manifest.files.items():
            if name.split(".")[0] in names:
                digests.take_over(self._old.path / name, self._folder / name, record.sha256)

    def _write_nodes(self, scratch: Path, text_types: Sequence[str] | None, digests: publication.Digests) -> _Nodes:
        """Write the files of all nodes."""
        old, names = self._arrays.node_types, self._manifest.node_types
        numbers, place = _numbered(names, np.bincount(old[self.layout.stays], minlength=len(names)))
        new = np.array([type_number(numbers, node.type) for node in self._nodes], np.uint16)
        types = self.layout.merged(place[old], new)
        save(self._folder, "node_type", types)
        columns = {
            "id": [node.id for node in self._nodes],
            "name": [node.name or node.id for node in self._nodes],
            "text": [node.text for node in self._nodes],
            "aliases": [_json(node.aliases) if node.aliases else "" for node in self._nodes],
        }
        origin = self.layout.origin
        for name, texts in columns.items():
            write_strings(self._folder, name, self._old.strings(name), origin, list(map(encode, texts)))
        read = [number for name, number in numbers.items() if name in (text_types or ())]
        text = self._write_indexes(scratch, np.isin(types, read) if read else None)
        properties = property_revision.revise(
            self._folder, self._old, self._manifest.properties, self.layout, self._nodes
        )
        digests.add(*self._folder.iterdir())
        return _Nodes(list(numbers), types, text, properties)

    def _write_indexes(self, scratch: Path, measured: NDArray[np.bool_] | None) -> dict[str, float]:
        """Write the indexes of texts and names; return the statistics of texts."""
        scratch.mkdir()
        tokenizer = self._arrays.tokenizer
        identifiers = [
            (row, name)
            for row, node in enumerate(self._nodes)
            for name in names_in(node.properties.get(IDENTIFIER_PROPERTY))
        ]
        with NodeIndexer(scratch, tokenizer) as indexer:
            for node in self._nodes:
                indexer.add([(node.id, node.name or node.id, node.aliases, node.text)])
            indexer.finish(np.arange(len(self._nodes), dtype=np.int32), identifiers).result()
        new = Folder(scratch)
        text = revise_texts(self._folder, self._old, new, self.layout, measured=measured)
        stays = self.layout.stays
        gone = [name for part in self._names_of(~stays) for name in part]
        stay = partial(self._names_of, stays)
        revise_names(self._folder, self._old, new, self.layout, tokenizer, gone=gone, stay=stay)
        shutil.rmtree(scratch)
        return text

    def _names_of(self, mask: NDArray[np.bool_]) -> Iterator[list[str]]:
        """Yield the names, aliases and identifiers of some rows, (rows,), in parts."""
        for rows in np.array_split(np.flatnonzero(mask), range(_BATCH, int(mask.sum()), _BATCH)):
            for name in ("name", "id"):
                yield list(map(decode, self._old.strings(name).take(rows)))
            aliases = filter(None, self._old.strings("aliases").take(rows))
            yield [alias for several in aliases for alias in json.loads(several)]
            if IDENTIFIER_PROPERTY in self._manifest.properties:
                values = self._arrays.properties.values(IDENTIFIER_PROPERTY, rows.astype(np.int32))
                yield [name for value in values for name in names_in(value)]

    def _write_edges(self) -> list[str]:
        """Write the adjacency and the extras; return the names of the edge types."""
        stay = self._staying()
        names = self._manifest.edge_types
        counts = np.bincount(stay.kind >> 1, minlength=len(names))
        numbers, place = _numbered(names, counts + [name in self._revision.edge_types for name in names])
        extras = np.zeros(0, np.int64)
        if stay.extra is not None:
            used = np.zeros(int(stay.extra.max(initial=-1)) + 2, np.bool_)  # (extras + 1,): the last: without one
            used[stay.extra] = True
            extras = np.flatnonzero(used[:-1])
            extra_place = np.full(len(used), -1, np.int32)
            extra_place[extras] = np.arange(len(extras), dtype=np.int32)
            stay = stay._replace(extra=extra_place[stay.extra])
        stay = stay._replace(kind=place[stay.kind >> 1] << np.uint16(1) | stay.kind & np.uint16(1))
        added, new_extras = self._added(numbers, len(extras))
        for name in self._revision.edge_types:
            type_number(numbers, name)
        has_extras = len(extras) + len(new_extras) > 0
        if has_extras:
            origin = np.concatenate([extras, -1 - np.arange(len(new_extras))])
            strings = self._old.strings("edge_extra") if len(extras) else None
            write_strings(self._folder, "edge_extra", strings, origin, new_extras)
        write_joined(self._folder, len(self.layout), stay, added, has_extras=has_extras)
        return list(numbers)

    def _staying(self) -> EdgeEnds:
        """Return the ends of the edges that stay, by new rows."""
        place = self.layout.old.copy()
        for node_id in self._revision.renewed:
            place[self._arrays.ids.find(node_id)] = self._new_row[node_id]
        ends = all_ends(self._arrays.adjacency)
        ends = ends._replace(row=place[ends.row], neighbor=place[ends.neighbor])
        keep = (ends.row >= 0) & (ends.neighbor >= 0)
        if self._revision.lost:
            numbers = {name: number for number, name in enumerate(self._manifest.edge_types)}
            sources, names, targets = zip(*self._revision.lost, strict=True)
            source, target = np.array(sources, np.int32), np.array(targets, np.int32)
            kind = np.fromiter(map(numbers.__getitem__, names), np.int64, len(names)) << 1
            adjacency = self._arrays.adjacency
            keep[adjacency.places(source, target, kind)] = keep[adjacency.places(target, source, kind + 1)] = False
        return ends if keep.all() else ends.where(keep)

    def _added(self, numbers: dict[str, int], first_extra: int) -> tuple[EdgeEnds, list[bytes]]:
        """Return both ends of the added edges, by new rows, and their extras; add new types to `numbers`."""
        types: list[int] = []
        extras: list[int] = []
        new_extras: list[bytes] = []
        sources, targets = [_NONE], [_NONE]
        for batch in self._revision.edges:
            sources.append(self._rows_of(batch.sources))
            targets.append(self._rows_of(batch.targets))
            types += [type_number(numbers, name) for name in batch.types]
            for values in batch.extras or (None,) * len(batch.types):
                extras.append(first_extra + len(new_extras) if values else -1)
                new_extras += [encode_extra(values)] if values else []
        source, target, extra = np.concatenate(sources), np.concatenate(targets), np.array(extras, np.int32)
        kind, is_apart = np.array(types, np.int64) << 1, source != target
        ends = EdgeEnds(
            np.concatenate([source, target[is_apart]]),
            np.concatenate([target, source[is_apart]]),
            np.concatenate([kind, kind[is_apart] | 1]).astype(np.uint16),
            np.concatenate([extra, extra[is_apart]]),
        )
        return ends, new_extras

    def _rows_of(self, ids: Sequence[str]) -> NDArray[np.int32]:
        """Return the new row of each of some nodes, (ids,); each text of a coded column is looked up once."""
        if isinstance(ids, CodedColumn):
            return np.asarray(self._rows_of(ids.values)[ids.codes])
        for node_id in ids:
            if node_id not in self._new_row:  # a node that stays
                row = self._arrays.ids.find(node_id)
                place = -1 if row is None else int(self.layout.old[row])
                if place < 0:
                    raise BadInput(f"an edge refers to {node_id!r}, a missing node: add the node")
                self._new_row[node_id] = place
        return np.fromiter(map(self._new_row.__getitem__, ids), np.int32, len(ids))


def _numbered(names: Mapping[str, int], counts: NDArray[np.int64]) -> tuple[dict[str, int], NDArray[np.uint16]]:
    """Return new numbers of the types that still have members, in the old order; and by old number, (types,)."""
    place = (np.cumsum(counts > 0) - 1).astype(np.uint16)
    return {name: int(place[old]) for old, name in enumerate(names) if counts[old]}, place
