"""Node types and edge types by the names that people use: the code, or its readable label."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadOption, UnknownType, nearest
from orienteer.graph.adjacency import KindMask
from orienteer.records import Direction, Kind, Schema


@dataclass(frozen=True, slots=True)
class TypeNames:
    """The types of a graph by number and by name."""

    schema: Schema
    nodes: Sequence[str]
    edges: Sequence[str]

    def node_numbers(self, names: Iterable[str]) -> list[int]:
        """Return the numbers of node types, ascending. Raises `UnknownType`."""
        return _numbers("node type", names, self.nodes, self.schema.labels)

    def edge_numbers(self, names: Iterable[str]) -> list[int]:
        """Return the numbers of edge types, ascending; a shared label means all its types. Raises `UnknownType`."""
        return _numbers("edge type", names, self.edges, self.schema.labels)

    def node_mask(self, names: Collection[str]) -> NDArray[np.bool_]:
        """Mark node types: (node types,). Raises `UnknownType`."""
        mask = np.zeros(len(self.nodes), np.bool_)
        mask[self.node_numbers(names)] = True
        return mask

    def kind_mask(self, names: Collection[str] | None, direction: Direction | None) -> KindMask | None:
        """Mark the kinds of edges to walk: (2 * edge types,); None for all kinds. A symmetric edge has no direction.

        Raises `UnknownType`, `BadOption`.
        """
        if names is None and direction is None:
            return None
        if direction not in (None, "out", "in"):
            raise BadOption(f"direction is {direction!r}: it must be out or in")
        mask = np.zeros((len(self.edges), 2), np.bool_)
        numbers = range(len(self.edges)) if names is None else self.edge_numbers(names)
        for number in numbers:
            if direction is None or self.edges[number] in self.schema.symmetric:
                mask[number] = True
            else:
                mask[number, int(direction == "in")] = True
        return mask.ravel()

    def kind(self, kind: int, node_type: int) -> Kind:
        """Return the kind of an edge (edge type * 2 + incoming) to a neighbour of this node type, by names."""
        edge_type = self.edges[kind >> 1]
        incoming = kind & 1 and edge_type not in self.schema.symmetric
        return Kind(edge_type, "in" if incoming else "out", self.nodes[node_type])


def _numbers(what: str, names: Iterable[str], types: Sequence[str], labels: Mapping[str, str]) -> list[int]:
    places = {name: number for number, name in enumerate(types)}
    numbers: list[int] = []
    for name in names:
        if name in places:
            numbers.append(places[name])
            continue
        folded = name.casefold()
        same = [
            place
            for type_name, place in places.items()
            if folded in (type_name.casefold(), labels.get(type_name, type_name).casefold())
        ]
        if not same:
            raise _unknown(what, name, types, labels)
        numbers += same
    return sorted(set(numbers))


def _unknown(what: str, name: str, types: Sequence[str], labels: Mapping[str, str]) -> UnknownType:
    """Return the error for an unknown type, with near names and those of the graph."""
    readable = [labels.get(type_name, type_name) for type_name in types]
    near = nearest(name, dict.fromkeys([*types, *readable]))
    hint = f" Near: {', '.join(near)}." if near else ""
    shown = ", ".join(dict.fromkeys(readable[:40])) + (", ..." if len(readable) > 40 else "")
    return UnknownType(f"No {what} {name!r}.{hint} In this graph: {shown}.", near)
