"""What a knowledge base gives for a question: passages and statements, each with its score and what found it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

from orienteer.graph.reserved import DOCUMENT, PASSAGES
from orienteer.records import Edge, Node, Trajectory

UNPAID = "The budget has no call left for a search by meaning: ranked by words."

_T = TypeVar("_T")


class Scored(NamedTuple, Generic[_T]):
    """Something found, how good it is, and what found it. Scores compare within one retriever's evidence alone."""

    item: _T
    score: float
    why: str = ""


Path = tuple[Edge, ...]
"""Edges that join end to end, whichever way each points."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was found, best first in each tuple. GraphSearch (002), section 3.1."""

    nodes: tuple[Scored[Node], ...] = ()
    edges: tuple[Scored[Edge], ...] = ()
    paths: tuple[Scored[Path], ...] = ()
    reason: str = ""
    """Why there is nothing, or less than there might be."""
    trajectories: tuple[Trajectory, ...] = ()
    """What agents did to find it, where any were asked."""

    def __bool__(self) -> bool:
        return bool(self.nodes or self.edges or self.paths)

    def semantic(self) -> Evidence:
        """Return the passages; every node where there is no passage among them."""
        passages = tuple(one for one in self.nodes if one.item.type in PASSAGES)
        return Evidence(nodes=passages or self.nodes, reason=self.reason)

    def relational(self) -> Evidence:
        """Return everything but what is read: entities, facts, communities, edges, paths."""
        others = tuple(one for one in self.nodes if one.item.type not in PASSAGES | {DOCUMENT})
        return Evidence(nodes=others, edges=self.edges, paths=self.paths, reason=self.reason)

    @staticmethod
    def joined(parts: Iterable[Evidence], *, in_order: bool = False) -> Evidence:
        """Return several as one: each thing once, with its best score and every reason, best first.

        `in_order` leaves what each part has behind what the parts before it have: scores of different retrievers are
        on different scales.
        """
        several = list(parts)
        return Evidence(
            nodes=_joined((one.nodes for one in several), lambda node: node.id, in_order=in_order),
            edges=_joined((one.edges for one in several), ends, in_order=in_order),
            paths=_joined((one.paths for one in several), lambda path: tuple(map(ends, path)), in_order=in_order),
            reason="; ".join(dict.fromkeys(one.reason for one in several if one.reason)),
            trajectories=tuple(trajectory for one in several for trajectory in one.trajectories),
        )


def ends(edge: Edge) -> tuple[str, str, str, str]:
    """Return what tells an edge apart from others; parallel edges of one type by what they say."""
    return edge.source, edge.type, edge.target, edge.text


def _joined(
    groups: Iterable[tuple[Scored[_T], ...]], key: Callable[[_T], Hashable], *, in_order: bool
) -> tuple[Scored[_T], ...]:
    found: dict[Hashable, Scored[_T]] = {}
    for one in (one for group in groups for one in group):
        known = found.get(key(one.item), one)
        reasons = dict.fromkeys(filter(None, (known.why, one.why)))
        found[key(one.item)] = Scored(known.item, max(known.score, one.score), "; ".join(reasons))
    return tuple(found.values() if in_order else sorted(found.values(), key=lambda one: -one.score))


def unpaid(evidence: Evidence) -> Evidence:
    """Return evidence with the reason that the budget could not pay for vectors."""
    return replace(evidence, reason="; ".join(filter(None, (UNPAID, evidence.reason))))
