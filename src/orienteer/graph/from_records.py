"""Records, or mappings with the same keys, to a graph."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from orienteer.errors import BadInput, nearest
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.edges import EdgeBatch
from orienteer.records import Edge, Node

_EDGE_BATCH = 50_000


def write_records(
    path: Path,
    nodes: Iterable[Node | Mapping[str, Any]],  # Any: JSON
    edges: Iterable[Edge | Mapping[str, Any]],
    *,
    force: bool = False,
) -> None:
    """Publish a graph of these records. Edges are kept as they are, parallel ones too.

    Raises `BadInput` for two different nodes of one id, an edge to a node that is not there, or a key that no record
    has.
    """
    with GraphBuilder(path, force=force, provenance={"made_by": "from_records"}) as builder:
        for node in nodes:
            builder.add_node(node if isinstance(node, Node) else _node(node))
        for batch in _batches(edge if isinstance(edge, Edge) else Edge(**_checked(edge, Edge)) for edge in edges):
            builder.add_edges(batch)
        table = builder.edges
        missing = np.flatnonzero(~table.keep)
        if len(missing):
            source, edge_type, end = table.ids(int(missing[0]))
            raise BadInput(f"the edge {source!r} -{edge_type}-> {end!r} joins a node that is not there: add the node")
        builder.publish()


def _node(given: Mapping[str, Any]) -> Node:
    checked = _checked(given, Node)
    return Node(**{**checked, "aliases": tuple(checked.get("aliases", ()))})


def _checked(given: Mapping[str, Any], kind: type[Node] | type[Edge]) -> dict[str, Any]:
    known = [field.name for field in fields(kind)]
    for key in given:
        if key not in known:
            near = nearest(str(key), known, most=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise BadInput(f"a {kind.__name__.lower()} has no key {key!r}; put it under 'properties'.{hint}")
    required = known[: 1 if kind is Node else 3]
    if lacking := [name for name in required if not isinstance(given.get(name), str)]:
        raise BadInput(f"{dict(given)!r} lacks {' and '.join(lacking)}: each must be a text")
    for name in ("type", "name", "text"):
        if not isinstance(given.get(name, ""), str):
            raise BadInput(f"{name} is {given[name]!r} in {dict(given)!r}: it must be a text")
    if kind is Edge and (
        not isinstance(given.get("weight", 1.0), int | float) or isinstance(given.get("weight"), bool)
    ):
        raise BadInput(f"weight is {given['weight']!r} in {dict(given)!r}: it must be a number")
    aliases = given.get("aliases", ())
    if isinstance(aliases, str) or not all(isinstance(one, str) for one in aliases):
        raise BadInput(f"aliases is {aliases!r} in {dict(given)!r}: it must be a list of texts")
    try:
        json.dumps(given.get("properties", {}))
    except (TypeError, ValueError) as error:
        raise BadInput(f"properties of {dict(given)!r} cannot be kept: {error}; use what JSON has") from error
    return dict(given)


def _batches(edges: Iterable[Edge]) -> Iterator[EdgeBatch]:
    waiting: list[Edge] = []
    for edge in edges:
        waiting.append(edge)
        if len(waiting) == _EDGE_BATCH:
            yield _batch(waiting)
            waiting = []
    if waiting:
        yield _batch(waiting)


def _batch(edges: Sequence[Edge]) -> EdgeBatch:
    extras = [edge.extras for edge in edges]
    return EdgeBatch(
        sources=[edge.source for edge in edges],
        types=[edge.type for edge in edges],
        targets=[edge.target for edge in edges],
        extras=extras if any(extras) else None,
    )
