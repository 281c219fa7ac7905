"""What speaks for a hit, as a tree of the edges that lead from it to what the question names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from orienteer.agents.events import Event
from orienteer.errors import Unknown
from orienteer.llm.schema import decode
from orienteer.records import Direction, EdgeEnd, Ranked, Schema, WalkedEdge
from orienteer.retrieval.graph_text import arrow, ends_of
from orienteer.serve.views import pages

if TYPE_CHECKING:
    from orienteer.graph.store import Graph

_MOST_ANCHORS = 5
_LONGEST = 3  # edges of a path
_PATHS = 2  # between a hit and a node that was looked at
_NODES = ("node", "nodes", "start")
"""The arguments by which calls of tools name nodes."""


def why_lines(graph: Graph, hit: Ranked, steps: Iterable[Event]) -> Iterator[str]:
    """Yield the hit, and beneath it what leads from it to what the question names.

    Where the method tells no edges, these are the shortest paths to the nodes that its tools were called on.
    """
    yield f"{hit.name} ({hit.type})"
    edges, ends = hit.edges, hit.ends
    if not edges:
        edges = tuple(_edges_to(graph, hit.id, _looked_at(graph, steps)))
        ends = ends_of(graph, hit.id, edges)
    if edges:
        yield from _tree(graph.schema, hit.id, edges, ends)
    else:
        yield f"  {hit.why or 'by the words of its name and text'}"


def _tree(schema: Schema, root: str, edges: Sequence[WalkedEdge], ends: Iterable[EdgeEnd]) -> Iterator[str]:
    """Yield a line for each node that the edges reach, indented by its distance from the root."""
    named = {end.id: end for end in ends}
    reached, open_nodes = {root}, [(root, 1)]
    while open_nodes:
        node, depth = open_nodes.pop()
        found = []
        for edge in edges:
            other = edge.target if edge.source == node else edge.source if edge.target == node else None
            if other is None or other in reached:
                continue
            reached.add(other)
            walked: Direction = "out" if edge.source == node else "in"
            direction = None if edge.type in schema.symmetric else walked
            found.append((other, f"{arrow(schema.label(edge.type), direction)} {named[other].name}"))
        for other, line in found:
            yield f"{'  ' * depth}{line} ({named[other].type})"
        open_nodes += [(other, depth + 1) for other, _ in reversed(found)]


def _looked_at(graph: Graph, steps: Iterable[Event]) -> list[str]:
    """Return the nodes that tools were called on, in order."""
    nodes: dict[str, None] = {}
    for event in steps:
        if event.kind != "observation":
            continue
        try:
            arguments = decode(event.call.arguments or "{}")
        except ValueError:
            continue
        given = arguments if isinstance(arguments, dict) else {}
        for value in (given[name] for name in _NODES if name in given):
            for text in value if isinstance(value, list) else [value]:
                try:
                    nodes[pages.node_named(graph, str(text)).id] = None
                except Unknown:  # a saved set, or a name that the tool refused
                    continue
    return list(nodes)[:_MOST_ANCHORS]


def _edges_to(graph: Graph, hit: str, anchors: Iterable[str]) -> Iterator[WalkedEdge]:
    for anchor in anchors:
        if anchor != hit:
            for path in pages.paths(graph, hit, anchor, max_length=_LONGEST, k=_PATHS).paths:
                for edges in path.edges:
                    yield from edges
