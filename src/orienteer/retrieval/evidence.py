"""Evidence for a question: passages and statements with scores, and their text for a model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

from orienteer.graph.reserved import DOCUMENT, PASSAGES
from orienteer.graph.store import Graph
from orienteer.records import Edge, Node, Trajectory
from orienteer.retrieval.graph_text import arrow, indented
from orienteer.text.sentences import single_spaced, tokens as count_tokens

UNPAID = "The budget has no call left for a search by meaning: ranked by words."
TOKENS = 6_000
"""What evidence may take of a prompt. LightRAG's context holds 6,000 of entities and 8,000 of relations."""
# Of the budget; what a section leaves over goes to the one before it, so that the passages get the rest.
_SHARES = {"passages": 0.55, "nodes": 0.15, "edges": 0.15, "paths": 0.15}
# Tokens of a label in brackets, without its prefix.
_LABEL = 4
_HEADINGS = {"passages": "Passages", "nodes": "Entities and facts", "edges": "Relations", "paths": "Paths"}

_T = TypeVar("_T")


class Scored(NamedTuple, Generic[_T]):
    """A node, an edge or a path with its score and why it was found. Scores of different retrievers do not compare."""

    item: _T
    score: float
    why: str = ""


EdgePath = tuple[Edge, ...]
"""Edges joined end to end, whichever way each points."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Nodes, edges and paths for a question, each tuple best first. GraphSearch (002), section 3.1."""

    nodes: tuple[Scored[Node], ...] = ()
    edges: tuple[Scored[Edge], ...] = ()
    paths: tuple[Scored[EdgePath], ...] = ()
    reason: str = ""
    """Why there is nothing, or less than there might be."""
    trajectories: tuple[Trajectory, ...] = ()
    """The trajectories of agents that were asked to find it."""

    def __bool__(self) -> bool:
        return bool(self.nodes or self.edges or self.paths)

    def semantic(self) -> Evidence:
        """Return the passages, or all nodes if none is a passage."""
        passages = tuple(scored for scored in self.nodes if scored.item.type in PASSAGES)
        return Evidence(nodes=passages or self.nodes, reason=self.reason)

    def relational(self) -> Evidence:
        """Return everything but passages and documents: entities, facts, communities, edges, paths."""
        others = tuple(scored for scored in self.nodes if scored.item.type not in PASSAGES | {DOCUMENT})
        return Evidence(nodes=others, edges=self.edges, paths=self.paths, reason=self.reason)

    @staticmethod
    def joined(parts: Iterable[Evidence], *, in_order: bool = False) -> Evidence:
        """Return several as one: each item once, with its best score and all reasons, best first.

        With `in_order`, the items of each part stay behind those of the parts before it: the scores of different
        retrievers are on different scales.
        """
        several = list(parts)
        return Evidence(
            nodes=_joined((part.nodes for part in several), lambda node: node.id, in_order=in_order),
            edges=_joined((part.edges for part in several), ends, in_order=in_order),
            paths=_joined((part.paths for part in several), lambda path: tuple(map(ends, path)), in_order=in_order),
            reason="; ".join(dict.fromkeys(part.reason for part in several if part.reason)),
            trajectories=tuple(trajectory for part in several for trajectory in part.trajectories),
        )


def ends(edge: Edge) -> tuple[str, str, str, str]:
    """Return the identity of an edge; parallel edges of one type differ in their text."""
    return edge.source, edge.type, edge.target, edge.text


def _joined(
    groups: Iterable[tuple[Scored[_T], ...]], key: Callable[[_T], Hashable], *, in_order: bool
) -> tuple[Scored[_T], ...]:
    best: dict[Hashable, Scored[_T]] = {}
    for scored in (scored for group in groups for scored in group):
        earlier = best.get(key(scored.item), scored)
        reasons = dict.fromkeys(filter(None, (earlier.why, scored.why)))
        best[key(scored.item)] = Scored(earlier.item, max(earlier.score, scored.score), "; ".join(reasons))
    return tuple(best.values() if in_order else sorted(best.values(), key=lambda scored: -scored.score))


def unpaid(evidence: Evidence) -> Evidence:
    """Return evidence with one more reason: the budget could not pay for vectors."""
    return replace(evidence, reason="; ".join(filter(None, (UNPAID, evidence.reason))))


# --------------------------------------------------------------------------------------------------------------- text


class EvidenceText(NamedTuple):
    """Evidence as a model reads it."""

    text: str
    labels: Mapping[str, tuple[str, ...]]
    """The ids of the nodes that each label stands for: one of a node, two of a relation, several of a path."""
    left_out: int
    """Pieces that there was no room for."""


class _Piece(NamedTuple):
    text: str
    ids: tuple[str, ...]


def render(evidence: Evidence, graph: Graph, tokens: int = TOKENS, *, prefix: str = "") -> EvidenceText:
    """Return evidence as lines `[C1] ...` under headings, best first, as many as the budget has room for.

    Labels: C a passage, N an entity or another node, E a relation, P a path; `prefix` precedes each, to
    distinguish those of several searches.
    """
    sections = {
        "passages": [_of_node(scored.item) for scored in evidence.nodes if scored.item.type in PASSAGES],
        "nodes": [_of_node(scored.item) for scored in evidence.nodes if scored.item.type not in PASSAGES],
        "edges": [_of_edge(scored.item, graph) for scored in evidence.edges],
        "paths": [_of_path(scored.item, graph) for scored in evidence.paths],
    }
    fitting = _fitting(sections, tokens, _LABEL + count_tokens(prefix))
    labels: dict[str, tuple[str, ...]] = {}
    lines: list[str] = []
    for name, letter in zip(sections, "CNEP", strict=True):
        if fitting[name]:
            lines.append(f"{_HEADINGS[name]}:")
        labelled = {f"{prefix}{letter}{number}": piece for number, piece in enumerate(fitting[name], 1)}
        labels |= {label: piece.ids for label, piece in labelled.items()}
        pieces = [f"[{label}] {piece.text}" for label, piece in labelled.items()]
        # Models read the very end with most care: the best path is last (PathRAG).
        lines += pieces[::-1] if name == "paths" else pieces
    text = "\n".join(lines) or f"(nothing was found{': ' if evidence.reason else ''}{evidence.reason})"
    left_out = sum(map(len, sections.values())) - sum(map(len, fitting.values()))
    return EvidenceText(text, labels, left_out)


def _fitting(sections: Mapping[str, list[_Piece]], tokens: int, label: int) -> dict[str, list[_Piece]]:
    """Return the pieces of each section that fit into its share and what the sections after it left over."""
    whole = sum(_SHARES[name] for name, pieces in sections.items() if pieces)
    fitting: dict[str, list[_Piece]] = {}
    left = 0.0
    for name, pieces in reversed(list(sections.items())):
        left += tokens * _SHARES[name] / whole if pieces else 0.0
        fitting[name] = []
        for piece in pieces:
            heading = "" if fitting[name] else f"{_HEADINGS[name]}:"
            cost = count_tokens(heading) + label + count_tokens(piece.text)
            # A piece too large is skipped: a later one may fit.
            if cost <= left:
                fitting[name].append(piece)
                left -= cost
    return fitting


def _of_node(node: Node) -> _Piece:
    heading = f"{single_spaced(node.name)} ({node.type})"
    # A text is data: on indented lines of its own it cannot pass for a label or a heading.
    return _Piece("\n".join([heading, *indented(node.text)]), (node.id,))


def _of_edge(edge: Edge, graph: Graph) -> _Piece:
    keywords = edge.properties.get("keywords")
    notes = [*map(str, keywords)] if isinstance(keywords, (list, tuple)) else []
    if edge.weight != 1.0:
        notes.append(f"weight {edge.weight:g}")
    note = f" ({single_spaced(', '.join(notes))})" if notes else ""
    text = f": {single_spaced(edge.text)}" if edge.text else ""
    line = f"{_name(graph, edge.source)} {arrow(edge.type, 'out')} {_name(graph, edge.target)}{note}{text}"
    return _Piece(line, (edge.source, edge.target))


def _of_path(path: EdgePath, graph: Graph) -> _Piece:
    # The walk begins at the end of its first edge that the second edge does not share.
    after = {path[1].source, path[1].target} if len(path) > 1 else {path[0].target}
    ids = [path[0].source if path[0].target in after else path[0].target]
    line = _name(graph, ids[0])
    for edge in path:
        is_out = edge.source == ids[-1]
        ids.append(edge.target if is_out else edge.source)
        line += f" {arrow(edge.type, 'out' if is_out else 'in')} {_name(graph, ids[-1])}"
    return _Piece("\n".join([line, *(f"  {single_spaced(edge.text)}" for edge in path if edge.text)]), tuple(ids))


def _name(graph: Graph, node_id: str) -> str:
    return single_spaced(graph.arrays.names[graph.arrays.row(node_id)])
