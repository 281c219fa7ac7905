"""Chunk graphs whose names were found in other texts than they show, or in several corpora at once; for benchmarks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from orienteer.graph.builder import GraphBuilder
from orienteer.graph.store import Graph
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.intake import Shelf
from orienteer.ingest.documents.join.weaver import Weaver
from orienteer.records import Node


def in_order(graph: Graph) -> Iterator[Node]:
    """Return all nodes of a chunk graph, a document before its parts and those in their order."""
    every = [graph.arrays.node_at(row) for row in range(len(graph))]
    places = {node.id: (str(node.properties.get("document") or node.id), _order(node)) for node in every}
    yield from sorted(every, key=lambda node: places[node.id])


def weave(nodes: Iterable[Node], path: Path, seen: Callable[[Node], Node] = lambda node: node) -> dict[str, int]:
    """Publish nodes with edges of names alone, found in the nodes as `seen` shows them; return the edges by type.

    The nodes can be iterated again.
    """
    with tempfile.TemporaryDirectory() as real, tempfile.TemporaryDirectory() as shown:
        shelves = Shelf(Path(real)), Shelf(Path(shown))
        shelves[0].add(nodes)
        shelves[1].add(map(seen, nodes))
        with GraphBuilder(path) as builder:
            Weaver(builder, shelves[0], BuildConfig(), progress=silent).add_nodes()
            weaver = Weaver(builder, shelves[1], BuildConfig(), progress=silent)
            weaver.add_edges(None)
            builder.describe({"made_by": "build", "greatest_weights": weaver.greatest})
            builder.publish()
    return weaver.counts


def untitled(node: Node) -> Node:
    """Show a node without a title: a mark that is no word stands for it."""
    properties = {name: value for name, value in node.properties.items() if name != "heading"}
    return replace(node, name="-", properties=properties)


def first_named(node: Node) -> Node:
    """Show a passage without a title, so that its first name is taken for one; a table has none."""
    is_passage = node.type == "chunk" and "document" not in node.properties
    return replace(node, name=node.id) if is_passage else untitled(node)


def silent(stage: str, count: int) -> None:
    """Take no notice of progress."""


def _order(node: Node) -> int:
    order = node.properties.get("order")
    return order if isinstance(order, int) and node.type != "document" else -1
