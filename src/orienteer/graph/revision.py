"""A new generation out of an old one: some rows go, nodes and edges come, and all else is copied without being read.

The files are those that `GraphBuilder` would write of the same nodes and edges, byte for byte, if it saw the types and
the properties in the same order. Nothing of what goes is left in them. Arrays are merged by numpy; texts that stand
together are copied together.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadInput, DuplicateNode
from orienteer.graph import properties as property_revision
from orienteer.graph import publication
from orienteer.graph.adjacency import EDGE_FILES, Adjacency, EdgeEnds, all_ends, write_joined
from orienteer.graph.builder import IDENTIFIER_PROPERTY, count_edges, count_types, names_in
from orienteer.graph.edges import CodedColumn, EdgeBatch, encode_extra, type_number
from orienteer.graph.format import TEXT_TYPES, EdgeCount, Manifest, generation_of, read_pointer
from orienteer.graph.node_indexer import NodeIndexer
from orienteer.graph.store import Graph
from orienteer.index.arrays import Folder, Rows, decode, encode, save
from orienteer.index.postings import Layout, layout_of, revise_names, revise_texts, write_strings
from orienteer.records import Node
from orienteer.version import __version__

_json = json.JSONEncoder(ensure_ascii=False).encode
_BATCH = 20_000  # names that are read at once: bounds the memory
_NONE = np.zeros(0, np.int32)


@dataclass(frozen=True, slots=True)
class Revision:
    """What changes of a graph. Edges of the rows that go go with them."""

    gone: Rows = field(default_factory=lambda: _NONE)
    nodes: Sequence[Node] = ()
    """Nodes that come; one may have the id of a row that goes."""
    edges: Sequence[EdgeBatch] = ()
    """Edges that come, between nodes that come or stay."""
    lost: Sequence[tuple[int, str, int]] = ()
    """Edges that go though both their ends stay: all of a type from one row to another."""
    symmetric: frozenset[str] = frozenset()
    """Types of edges without a direction, besides those of the graph."""
    edge_types: Sequence[str] = ()
    """Types of edges that are kept although no edge may be of them."""
    directed: frozenset[str] = frozenset()
    """Types of edges of the graph that have a direction from now on."""
    renewed: Collection[str] = ()
    """Ids of nodes that come in the place of rows that go, and keep the edges of these."""


Piece = Callable[[Path, str, Layout], None]
"""Writes a piece of the new generation into a folder; it is given the generation's name and where the rows are."""


def revise(
    graph: Graph,
    revision: Revision,
    work: Path,
    *,
    provenance: Mapping[str, Any],  # Any: JSON
    facts: Mapping[str, Any] | None = None,  # Any: of different types
    pieces: Mapping[str, Piece] | None = None,
) -> Manifest:
    """Publish the revised graph in the place of an open one, together with pieces of the new generation.

    `work` is the folder that `publication.publishing` gives: its lock keeps others from publishing meanwhile. `facts`
    are fields of the manifest that change beside what is counted, such as labels. Raises `BadInput` if no node is left
    or an edge joins a node that is not there, `DuplicateNode`.
    """
    with publication.Digests() as digests:
        folder = work / "arrays"
        folder.mkdir(0o700)
        revised = _Revised(graph, revision, folder)
        manifest = revised.write(work / "new", provenance, digests).model_copy(update=facts or {})
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
        double = next((node_id for node_id, other in zip(ids, ids[1:], strict=False) if node_id == other), None)
        kept = (node_id for node_id in ids if self._stays(node_id))
        if (double := next(kept, double)) is not None:
            raise DuplicateNode(f"two different nodes have the id {double!r}: give each its own")
        if ids and not ids[0]:
            raise BadInput("a node has no id: every node needs one")
        self.layout = layout_of(self._arrays.ids, revision.gone, [encode(node_id) for node_id in ids])
        if not len(self.layout):
            raise BadInput("there are no nodes: a graph needs at least one")

    def _stays(self, node_id: str) -> bool:
        row = self._arrays.ids.find(node_id)
        return row is not None and not self._goes[row]

    def write(self, scratch: Path, provenance: Mapping[str, Any], digests: publication.Digests) -> Manifest:
        """Write all files and return the manifest, with no files in it."""
        manifest, provenance = self._manifest, dict(provenance)
        if (text_types := manifest.provenance.get(TEXT_TYPES)) is not None:
            provenance[TEXT_TYPES] = text_types
        nodes = self._nodes_of_old(digests) if self._keeps_nodes else self._write_nodes(scratch, text_types, digests)
        if self._keeps_edges(nodes):
            self._take_over(EDGE_FILES, digests)
            edge_names, triples = list(manifest.edge_types), manifest.triples
        else:
            edge_names = self._write_edges()
            triples = self._triples(nodes, edge_names)
        generation, created = publication.new_generation()
        counts = np.bincount(nodes.types, minlength=len(nodes.names)).tolist()
        return manifest.model_copy(
            update={
                "generation": generation,
                "created": created,
                "made_by": __version__,
                "nodes": len(self.layout),
                "edges": sum(triple.count for triple in triples),
                "node_types": dict(zip(nodes.names, counts, strict=True)),
                "edge_types": count_types(edge_names, triples),
                "triples": triples,
                "symmetric": self._symmetric(edge_names),
                "text": nodes.text,
                "properties": nodes.properties,
                "provenance": provenance,
                "files": {},
            }
        )

    # --------------------------------------------------------------------------------------- what is taken over unread

    @property
    def _keeps_nodes(self) -> bool:
        """Tell whether all nodes are as before."""
        return not len(self._revision.gone) and not self._nodes

    def _keeps_edges(self, nodes: _Nodes) -> bool:
        """Tell whether the same rows, of the same types, are joined as before."""
        revision, counts = self._revision, self._manifest.edge_types
        unused = {name for name, count in counts.items() if not count}
        return (
            not revision.edges
            and not revision.lost
            and counts.keys() >= {*revision.edge_types} >= unused
            and len(revision.gone) == len(self._nodes) == len(revision.renewed)
            and nodes.names == list(self._manifest.node_types)
            and np.array_equal(nodes.types, self._arrays.node_types)
        )

    def _take_over(self, names: Collection[str], digests: publication.Digests) -> None:
        """Take over files, which are never written to again, by their names without suffixes."""
        for name, record in self._manifest.files.items():
            if name.split(".")[0] in names:
                digests.take_over(self._old.path / name, self._folder / name, record.sha256)

    def _nodes_of_old(self, digests: publication.Digests) -> _Nodes:
        self._take_over({name.split(".")[0] for name in self._manifest.files} - EDGE_FILES, digests)
        manifest, types = self._manifest, self._arrays.node_types
        return _Nodes(list(manifest.node_types), types, manifest.text, manifest.properties)

    # ---------------------------------------------------------------------------------------------------------- nodes

    def _write_nodes(self, scratch: Path, text_types: Sequence[str] | None, digests: publication.Digests) -> _Nodes:
        """Write the files of all nodes."""
        names, types = self._write_types()
        numbers = [number for number, name in enumerate(names) if name in (text_types or ())]
        self._write_strings()
        text = self._write_indexes(scratch, np.isin(types, numbers) if numbers else None)
        properties = property_revision.revise(
            self._folder, self._old, self._manifest.properties, self.layout, self._nodes
        )
        digests.add(*self._folder.iterdir())
        return _Nodes(names, types, text, properties)

    def _symmetric(self, edge_names: Sequence[str]) -> tuple[str, ...]:
        """Return those of the edge types that have no direction."""
        without = {*self._manifest.symmetric, *self._revision.symmetric} - self._revision.directed
        return tuple(sorted(without & {*edge_names}))

    def _write_types(self) -> tuple[list[str], NDArray[np.uint16]]:
        """Write the node type of each row; return the names of the types, and the types by row, (rows,)."""
        old, stays = self._arrays.node_types, self.layout.stays
        counts = np.bincount(old[stays], minlength=len(self._manifest.node_types))
        numbers, place = _numbered(self._manifest.node_types, counts)
        new = np.array([type_number(numbers, node.type) for node in self._nodes], np.uint16)
        types = self.layout.merged(place[old], new)
        save(self._folder, "node_type", types)
        return list(numbers), types

    def _write_strings(self) -> None:
        origin = self.layout.origin
        columns = {
            "id": [node.id for node in self._nodes],
            "name": [node.name or node.id for node in self._nodes],
            "text": [node.text for node in self._nodes],
            "aliases": [_json(node.aliases) if node.aliases else "" for node in self._nodes],
        }
        for name, texts in columns.items():
            write_strings(self._folder, name, self._old.strings(name), origin, list(map(encode, texts)))

    # -------------------------------------------------------------------------------------------------------- indexes

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
        gone = [name for part in self._names_of(~self.layout.stays) for name in part]
        revise_names(
            self._folder,
            self._old,
            new,
            self.layout,
            tokenizer,
            gone=gone,
            stay=lambda: self._names_of(self.layout.stays),
        )
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

    # ---------------------------------------------------------------------------------------------------------- edges

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
        come, coming = self._coming(numbers, len(extras))
        for name in self._revision.edge_types:
            type_number(numbers, name)
        has_extras = len(extras) + len(coming) > 0
        if has_extras:
            origin = np.concatenate([extras, -1 - np.arange(len(coming))])
            strings = self._old.strings("edge_extra") if len(extras) else None
            write_strings(self._folder, "edge_extra", strings, origin, coming)
        write_joined(self._folder, len(self.layout), stay, come, has_extras=has_extras)
        return list(numbers)

    def _staying(self) -> EdgeEnds:
        """Return the ends of the edges that stay, by new rows."""
        place = self.layout.old.copy()
        rows = dict(zip((node.id for node in self._nodes), self.layout.new.tolist(), strict=True))
        for node_id in self._revision.renewed:
            place[self._arrays.ids.find(node_id)] = rows[node_id]
        ends = all_ends(self._arrays.adjacency)
        ends = ends._replace(row=place[ends.row], neighbor=place[ends.neighbor])
        keep = (ends.row >= 0) & (ends.neighbor >= 0)
        keep[self._lost()] = False
        return ends if keep.all() else ends.where(keep)

    def _triples(self, nodes: _Nodes, edge_names: Sequence[str]) -> tuple[EdgeCount, ...]:
        """Count the edges that were written by the types that they join."""
        ends = all_ends(Adjacency(Folder(self._folder)))
        going = ends.kind & 1 == 0
        kinds = (ends.kind[going] >> 1).astype(np.uint16)
        return count_edges(ends.row[going], ends.neighbor[going], kinds, nodes.types, nodes.names, edge_names)

    def _lost(self) -> NDArray[np.int64]:
        """Return the places of both ends of the edges that go though their nodes stay."""
        if not self._revision.lost:
            return np.zeros(0, np.int64)
        numbers = {name: number for number, name in enumerate(self._manifest.edge_types)}
        sources, names, targets = zip(*self._revision.lost, strict=True)
        source, target = np.array(sources, np.int32), np.array(targets, np.int32)
        kind = np.fromiter(map(numbers.__getitem__, names), np.int64, len(names)) << 1
        adjacency = self._arrays.adjacency
        places = [adjacency.places(source, target, kind), adjacency.places(target, source, kind + 1)]
        return np.concatenate(places)

    def _coming(self, numbers: dict[str, int], first_extra: int) -> tuple[EdgeEnds, list[bytes]]:
        """Return both ends of the edges that come, by new rows, and their extras; add new types to `numbers`."""
        types: list[int] = []
        extras: list[int] = []
        coming: list[bytes] = []
        sources, targets = [_NONE], [_NONE]
        for batch in self._revision.edges:
            sources.append(self._rows_of(batch.sources))
            targets.append(self._rows_of(batch.targets))
            types += [type_number(numbers, name) for name in batch.types]
            for carried in batch.extras or (None,) * len(batch.types):
                extras.append(first_extra + len(coming) if carried else -1)
                coming += [encode_extra(carried)] if carried else []
        source, target, extra = np.concatenate(sources), np.concatenate(targets), np.array(extras, np.int32)
        kind, is_apart = np.array(types, np.int64) << 1, source != target
        ends = EdgeEnds(
            np.concatenate([source, target[is_apart]]),
            np.concatenate([target, source[is_apart]]),
            np.concatenate([kind, kind[is_apart] | 1]).astype(np.uint16),
            np.concatenate([extra, extra[is_apart]]),
        )
        return ends, coming

    def _rows_of(self, ids: Sequence[str]) -> NDArray[np.int32]:
        """Return the new row of each of some nodes, (ids,); of a coded column each of its texts is looked up once."""
        if isinstance(ids, CodedColumn):
            return np.asarray(self._rows_of(ids.values)[ids.codes])
        return np.fromiter(map(self._new_row.__getitem__, ids), np.int32, len(ids))

    @cached_property
    def _new_row(self) -> _NewRows:
        coming = zip((node.id for node in self._nodes), self.layout.new.tolist(), strict=True)
        return _NewRows(self._arrays.ids.find, self.layout, coming)


class _NewRows(dict[str, int]):
    """The new row of each node by id; those of nodes that stay are looked up when they are asked for."""

    def __init__(self, find: Callable[[str], int | None], layout: Layout, coming: Any) -> None:  # Any: dict's own
        super().__init__(coming)
        self._find, self._layout = find, layout

    def __missing__(self, node_id: str) -> int:
        row = self._find(node_id)
        place = -1 if row is None else int(self._layout.old[row])
        if place < 0:
            raise BadInput(f"an edge joins {node_id!r}, a node that is not there: add the node")
        self[node_id] = place
        return place


def _numbered(names: Mapping[str, int], counts: NDArray[np.int64]) -> tuple[dict[str, int], NDArray[np.uint16]]:
    """Return new numbers for the types that still have members, in the old order; and by old number, (types,)."""
    place = (np.cumsum(counts > 0) - 1).astype(np.uint16)
    return {name: int(place[old]) for old, name in enumerate(names) if counts[old]}, place
