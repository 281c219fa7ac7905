"""Builds a graph from records, or from mappings with the same keys."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from orienteer.elements import Edge, Node
from orienteer.errors import BadInput, BadOption, nearest
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.edges import EdgeBatch
from orienteer.graph.properties import json_value, node_id

_EDGE_BATCH = 50_000  # edges that are added at once


def write_records(
    path: Path,
    nodes: Iterable[Node | Mapping[str, Any]],  # Any: JSON
    edges: Iterable[Edge | Mapping[str, Any]],
    *,
    force: bool = False,
    symmetric: Iterable[str] = (),
) -> None:
    """Publish a graph of these records. All edges are kept, parallel ones too.

    Edges of the `symmetric` types have no direction. Raises `BadInput` for two different nodes with the same id, an
    edge to a missing node, or a value that JSON lacks.
    """
    for name, records in (("nodes", nodes), ("edges", edges)):
        if isinstance(records, str | bytes) or not isinstance(records, Iterable):
            raise BadOption(f"{name} is {records!r}: give a list of records, or of mappings with the same keys")
    with GraphBuilder(path, force=force, provenance={"made_by": "from_records"}) as builder:
        for node in nodes:
            builder.add_node(node if isinstance(node, Node) else _node(node))
        records_of_edges = (edge if isinstance(edge, Edge) else _edge(edge) for edge in edges)
        while batch := list(islice(records_of_edges, _EDGE_BATCH)):
            sources, targets = [edge.source for edge in batch], [edge.target for edge in batch]
            types, extras = [edge.type for edge in batch], [edge.extras for edge in batch]
            builder.add_edges(EdgeBatch(sources, types, targets, extras if any(extras) else None))
        table = builder.edges
        missing = np.flatnonzero(~table.keep)
        if len(missing):
            source, edge_type, end = table.ids(int(missing[0]))
            raise BadInput(f"the edge {source!r} -{edge_type}-> {end!r} refers to a missing node: add the node")
        table.symmetric.update(symmetric)
        builder.publish()


def _node(record: Mapping[str, Any]) -> Node:
    """Return a mapping as a node. Raises `BadInput`."""
    fields = _checked(record, Node)
    aliases = fields.get("aliases", ())
    if isinstance(aliases, str) or not all(isinstance(alias, str) for alias in aliases):
        raise BadInput(f"aliases is {aliases!r} in {dict(record)!r}: it must be a list of texts")
    return Node(**{**fields, "aliases": tuple(aliases)})


def _edge(record: Mapping[str, Any]) -> Edge:
    """Return a mapping as an edge. Raises `BadInput`."""
    fields = _checked(record, Edge)
    if "type" not in fields:
        raise BadInput(f"{dict(record)!r} lacks type: every edge needs one")
    weight = fields.get("weight", 1.0)
    if not isinstance(weight, int | float) or isinstance(weight, bool):
        raise BadInput(f"weight is {weight!r} in {dict(record)!r}: it must be a number")
    return Edge(**fields)


def _checked(record: Mapping[str, Any], kind: type[Node] | type[Edge]) -> dict[str, Any]:
    """Return a mapping's values of a record's fields: ids as text, and all other keys among the properties."""
    what = kind.__name__.lower()
    if not isinstance(record, Mapping):
        raise BadInput(f"{record!r} is no {what}: give a {kind.__name__}, or a mapping with the same keys")
    names = [field.name for field in fields(kind)]
    flat: dict[str, Any] = {str(key): value for key, value in record.items() if key not in names}
    ours = {name: record[name] for name in names if name in record and not _is_missing(record[name])}
    for name in ("id",) if kind is Node else ("source", "target"):
        if name not in ours:
            near = nearest(name, flat, most=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise BadInput(f"{dict(record)!r} lacks {name}: every {what} needs one.{hint}")
        value, ours[name] = ours[name], node_id(ours[name])
        if ours[name] is None:
            raise BadInput(f"{name} is {value!r} in {dict(record)!r}: it must be a text or a whole number")
    for name in ("type", "name", "text"):
        if not isinstance(ours.get(name, ""), str):
            raise BadInput(f"{name} is {ours[name]!r} in {dict(record)!r}: it must be a text")
    properties = ours.get("properties", {})
    if not isinstance(properties, Mapping):
        raise BadInput(f"properties is {properties!r} in {dict(record)!r}: it must be a mapping")
    twice = next((name for name in flat if name in properties), None)
    if twice is not None:
        raise BadInput(f"{dict(record)!r} has {twice!r} twice, as a key and under 'properties': leave out one")
    try:
        ours["properties"] = json_value({**properties, **flat})
    except (TypeError, RecursionError) as error:
        raise BadInput(f"properties of {dict(record)!r} are not JSON: {error}") from error
    return ours


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or pandas' NA."""
    return value is None or (isinstance(value, float) and math.isnan(value)) or str(value) == "<NA>"
