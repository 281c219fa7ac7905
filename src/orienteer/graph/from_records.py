"""A graph from records, or from mappings with the same keys."""

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

_EDGE_BATCH = 50_000  # edges that are handed over at once


def write_records(
    path: Path,
    nodes: Iterable[Node | Mapping[str, Any]],  # Any: JSON
    edges: Iterable[Edge | Mapping[str, Any]],
    *,
    force: bool = False,
) -> None:
    """Publish a graph of these records. Edges stay as they are, parallel ones too.

    Raises `BadInput` for two different nodes with the same id, an edge to a missing node, or an unknown key.
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


def _node(record: Mapping[str, Any]) -> Node:
    """Return a mapping as a node. Raises `BadInput`."""
    checked = _checked(record, Node)
    return Node(**{**checked, "aliases": tuple(checked.get("aliases", ()))})


def _checked(record: Mapping[str, Any], kind: type[Node] | type[Edge]) -> dict[str, Any]:
    keys = [field.name for field in fields(kind)]
    for key in record:
        if key not in keys:
            near = nearest(str(key), keys, most=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise BadInput(f"a {kind.__name__.lower()} has no key {key!r}; put it under 'properties'.{hint}")
    required = keys[: 1 if kind is Node else 3]
    if lacking := [name for name in required if not isinstance(record.get(name), str)]:
        raise BadInput(f"{dict(record)!r} lacks {' and '.join(lacking)}: each must be a text")
    for name in ("type", "name", "text"):
        if not isinstance(record.get(name, ""), str):
            raise BadInput(f"{name} is {record[name]!r} in {dict(record)!r}: it must be a text")
    if kind is Edge and (
        not isinstance(record.get("weight", 1.0), int | float) or isinstance(record.get("weight"), bool)
    ):
        raise BadInput(f"weight is {record['weight']!r} in {dict(record)!r}: it must be a number")
    aliases = record.get("aliases", ())
    if isinstance(aliases, str) or not all(isinstance(alias, str) for alias in aliases):
        raise BadInput(f"aliases is {aliases!r} in {dict(record)!r}: it must be a list of texts")
    try:
        json.dumps(record.get("properties", {}))
    except (TypeError, ValueError) as error:
        raise BadInput(f"properties of {dict(record)!r} cannot be kept: {error}; use what JSON has") from error
    return dict(record)


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
