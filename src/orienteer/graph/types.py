"""Node types and edge types by whatever name a person gives them: the code, or its readable label."""

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
        """Return the numbers of node types. Raises `UnknownType`."""
        return _numbers("node type", names, self.nodes, self.schema.labels)

    def edge_numbers(self, names: Iterable[str]) -> list[int]:
        """Return the numbers of edge types; a label that several share gives all of them. Raises `UnknownType`."""
        return _numbers("edge type", names, self.edges, self.schema.labels)

    def node_mask(self, names: Collection[str]) -> NDArray[np.bool_]:
        """Mark node types: one entry a type."""
        mask = np.zeros(len(self.nodes), np.bool_)
        mask[self.node_numbers(names)] = True
        return mask

    def kind_mask(self, names: Collection[str] | None, direction: Direction | None) -> KindMask | None:
        """Mark the kinds of edge to walk; None where all are walked. A symmetric edge has no direction."""
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
        """Return what a kind number means at a neighbour of a type."""
        edge_type = self.edges[kind >> 1]
        incoming = kind & 1 and edge_type not in self.schema.symmetric
        return Kind(edge_type, "in" if incoming else "out", self.nodes[node_type])


def _numbers(what: str, names: Iterable[str], known: Sequence[str], labels: Mapping[str, str]) -> list[int]:
    places = {name: number for number, name in enumerate(known)}
    found: list[int] = []
    for name in names:
        if name in places:
            found.append(places[name])
            continue
        folded = name.casefold()
        same = [place for one, place in places.items() if folded in (one.casefold(), labels.get(one, one).casefold())]
        if not same:
            raise _unknown(what, name, known, labels)
        found += same
    return sorted(set(found))


def _unknown(what: str, name: str, known: Sequence[str], labels: Mapping[str, str]) -> UnknownType:
    readable = [labels.get(one, one) for one in known]
    near = nearest(name, dict.fromkeys([*known, *readable]))
    hint = f" Near: {', '.join(near)}." if near else ""
    shown = ", ".join(dict.fromkeys(readable[:40])) + (", ..." if len(readable) > 40 else "")
    return UnknownType(f"No {what} {name!r}.{hint} In this graph: {shown}.", near)
