"""Why a node is in a set: a tree with a leg for each condition, and legs of what each leg leads to.

The compounds that treat a disease that is associated with PTGS2 and TNF, of Betamethasone:

    Betamethasone
        Leads         -treats-> asthma
            Leads     -associates-> PTGS2
            Leads     -associates-> TNF
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from orienteer.elements import JsonValue
from orienteer.query.plan import (
    Among,
    Best,
    Both,
    Compared,
    Counted,
    Covering,
    Either,
    Every,
    Has,
    Hop,
    Leads,
    Meets,
    NodeSet,
    Without,
)
from orienteer.query.sets import Sets

_SHOWN = 3  # examples of a count
_MOST_SHOWN = 20  # examples of a count that asks for so many, or of a set that is covered


class WalkedStep(NamedTuple):
    """One edge of a walk."""

    kind: int
    """Edge type * 2, + 1 if the edge was walked against its direction."""
    at: int
    """The place of the edge in the adjacency arrays, at the end that it was walked from."""
    row: int
    """The node that it leads to."""


@dataclass(frozen=True, slots=True)
class Leg:
    """How a node meets one condition."""

    nodes: NodeSet
    """The condition. Of a `Without` the leg says that the node is not in its part: nothing was found there."""
    steps: tuple[WalkedStep, ...] = ()
    """The edges that were walked: of a `Leads`."""
    end: Witness | None = None
    """The node at the end of the walk."""
    value: JsonValue = None
    """The value that was compared, the number that was counted, or what was measured."""
    examples: tuple[Leg, ...] = ()
    """Some of what was counted: three, or as many as the condition asks for up to 20, each with its step."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A node with a leg for each of its conditions."""

    row: int
    legs: tuple[Leg, ...] = ()
    nodes: NodeSet = Every()
    """The set that it is in."""

    def layers(self) -> Iterator[tuple[int, float, Witness | None]]:
        """Yield each row that the walks reach, with its column in a picture, and with its proof at the end of a walk.

        Columns are the variables of the set in its order, from 1; names with no condition of their own come last. Rows
        on a walk come before its end, in the order of its steps.
        """
        walks = list(dict.fromkeys(_walks(self.nodes)))
        ways = {walk: at for at, (walk, is_name) in enumerate((pair for pair in walks if not pair[1]), 1)}
        yield from self._layers({walk: ways.get(walk, len(ways) + 1) for walk, _ in walks})

    def _layers(self, columns: Mapping[NodeSet, int]) -> Iterator[tuple[int, float, Witness | None]]:
        for leg in self.legs:
            for part in (leg, *leg.examples):
                for place, step in enumerate(part.steps[:-1], 1):
                    yield step.row, columns[leg.nodes] - 1 / (1 + place), None
                if part.end is not None:
                    yield part.end.row, columns[leg.nodes], part.end
                    yield from part.end._layers(columns)

    def steps(self) -> Iterator[tuple[int, WalkedStep]]:
        """Yield every edge of the tree, each with the row that it was walked from; the nearest first."""
        for leg in self.legs:
            for part in (leg, *leg.examples):
                row = self.row
                for step in part.steps:
                    yield row, step
                    row = step.row
                if part.end is not None:
                    yield from part.end.steps()


def _walks(nodes: NodeSet) -> Iterator[tuple[NodeSet, bool]]:
    """Yield the conditions that lead to other nodes, in their order, and whether to named ones that lead no further."""
    match nodes:
        case Both(parts=parts) | Either(parts=parts):
            for part in parts:
                yield from _walks(part)
        case Without(base=base):
            yield from _walks(base)
        case Leads(target=target) | Counted(target=target) | Covering(target=target):
            onward = list(_walks(target))
            yield nodes, not onward and _is_named(target)
            yield from onward
        case Best(base=base, measure=measure):
            yield from _walks(base)
            yield nodes, False
            yield from _walks(measure.target or Every())


def _is_named(nodes: NodeSet) -> bool:
    return isinstance(nodes, Among) or (isinstance(nodes, Both | Either) and any(map(_is_named, nodes.parts)))


def witness(sets: Sets, row: int, nodes: NodeSet) -> Witness:
    """Return the proof that a node is in a set. It reads the edges of the nodes that it names, and no more."""
    return Witness(row, tuple(_legs(sets, row, nodes)), nodes)


def _legs(sets: Sets, row: int, nodes: NodeSet) -> Iterator[Leg]:  # noqa: C901 (a case for each kind of set)
    match nodes:
        case Every():
            return
        case Both(parts=parts):
            for part in parts:
                yield from _legs(sets, row, part)
        case Either(parts=parts):
            for part in parts:
                if len(sets.keep(np.array([row]), part)):
                    yield from _legs(sets, row, part)
        case Has(property=name) | Compared(property=name) | Meets(property=name):
            yield Leg(nodes, value=sets.store.values(name, np.array([row]), sets.budget)[0])
        case Leads():
            yield _walk(sets, row, nodes)
        case Counted(hop=hop, target=target) | Covering(hop=hop, target=target):
            are_edges = isinstance(nodes, Counted) and nodes.are_edges
            count = int(sets.counts(np.array([row]), hop, target, are_edges=are_edges)[0])
            most = int(max(nodes.number, _SHOWN)) if isinstance(nodes, Counted) else _MOST_SHOWN
            yield Leg(nodes, value=count, examples=_examples(sets, row, hop, target, most))
        case Best(base=base, measure=measure):
            yield from _legs(sets, row, base)
            examples: tuple[Leg, ...] = ()
            if measure.hop is not None:
                examples = _examples(sets, row, measure.hop, measure.target or Every(), _SHOWN)
            yield Leg(nodes, value=float(sets.measured(np.array([row]), measure)[0]), examples=examples)
        case Without(base=base):
            yield from _legs(sets, row, base)
            yield Leg(nodes)
        case _:  # named nodes, columns of tables, expressions
            yield Leg(nodes)


def _examples(sets: Sets, row: int, hop: Hop, target: NodeSet, most: int) -> tuple[Leg, ...]:
    """Return a leg, of one step, to each of the first distinct nodes of a set that a hop leads to."""
    wanted, legs = sets.mask(target), dict[int, Leg]()
    for walked in sets.store.around(np.array([row]), hop, sets.budget):
        for place in np.flatnonzero(wanted[walked.far]).tolist():
            end, at = int(walked.far[place]), int(walked.at[place])
            if end not in legs:
                step = WalkedStep(int(sets.store.adjacency.kind[at]), at, end)
                legs[end] = Leg(Leads(hop, target), (step,), witness(sets, end, target))
            if len(legs) >= min(most, _MOST_SHOWN):
                return tuple(legs.values())
    return tuple(legs.values())


def _walk(sets: Sets, row: int, nodes: Leads) -> Leg:
    """Return a shortest walk into the target, found ring by ring."""
    store, target = sets.store, sets.mask(nodes.target)
    if nodes.least == 0 and target[row]:
        return Leg(nodes, end=witness(sets, row, nodes.target))
    rings: list[dict[int, tuple[int, WalkedStep]]] = []  # each ring's nodes, with the node and the step before
    ring, seen = np.array([row]), np.zeros(store.size, np.bool_)
    while len(ring) and (not nodes.most or len(rings) < nodes.most):
        came: dict[int, tuple[int, WalkedStep]] = {}
        counts = len(rings) + 1 >= nodes.least
        for walked in store.around(ring, nodes.hop, sets.budget):
            found = np.flatnonzero(target[walked.far])[:1] if counts else walked.far[:0]
            ends, first = np.unique(walked.far, return_index=True)
            for place in (found if len(found) else first[~seen[ends]]).tolist():
                end, at = int(walked.far[place]), int(walked.at[place])
                came[end] = int(ring[walked.near[place]]), WalkedStep(int(store.adjacency.kind[at]), at, end)
            if len(found):
                end = int(walked.far[found[0]])
                steps, node = [came[end][1]], came[end][0]
                for earlier in reversed(rings):
                    steps.append(earlier[node][1])
                    node = earlier[node][0]
                return Leg(nodes, tuple(reversed(steps)), witness(sets, end, nodes.target))
        rings.append(came)
        ring = np.array(list(came), np.int64)
        if len(rings) >= nodes.least:
            # Shorter walks may pass a node again on their way to `least` steps.
            seen[ring] = True
    raise AssertionError(f"row {row} is not in the set")
