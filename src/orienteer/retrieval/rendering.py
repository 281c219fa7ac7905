"""Evidence as text for a model, under a budget of tokens, each piece with a label that leads back to ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from orienteer.graph.reserved import PASSAGES
from orienteer.graph.store import Graph
from orienteer.records import Edge, Node
from orienteer.retrieval.evidence import Evidence, Path
from orienteer.text.sentences import tokens as count_tokens

TOKENS = 6_000
"""What evidence may take of a prompt. LightRAG's context holds 6,000 of entities and 8,000 of relations."""
_SHARES = {"passages": 0.55, "nodes": 0.15, "edges": 0.15, "paths": 0.15}
"""Of the budget; what a section leaves over goes to the one before it, so that the passages get the rest."""
_LABEL = 4
"""Tokens of a label in brackets, without its prefix."""
_HEADINGS = {"passages": "Passages", "nodes": "Entities and facts", "edges": "Relations", "paths": "Paths"}


class Rendered(NamedTuple):
    """Evidence as a model reads it."""

    text: str
    labels: Mapping[str, tuple[str, ...]]
    """The ids of the nodes that each label stands for: one of a node, two of a relation, several of a path."""
    tokens: int
    left_out: int
    """Pieces that there was no room for."""


class _Piece(NamedTuple):
    text: str
    ids: tuple[str, ...]


def render(evidence: Evidence, graph: Graph, tokens: int = TOKENS, *, prefix: str = "") -> Rendered:
    """Return evidence as lines `[C1] ...` under headings, best first, as many as the budget has room for.

    Labels: C a passage, N an entity or another node, E a relation, P a path; `prefix` stands before each, to tell those
    of several searches apart. What a text says is data: it stands on lines of its own, indented, so that no text can
    pass for a label or a heading. Paths stand last and the best of them at the very end, where models read with most
    care (PathRAG).
    """
    pieces = {
        "passages": [_of_node(one.item) for one in evidence.nodes if one.item.type in PASSAGES],
        "nodes": [_of_node(one.item) for one in evidence.nodes if one.item.type not in PASSAGES],
        "edges": [_of_edge(one.item, graph) for one in evidence.edges],
        "paths": [_of_path(one.item, graph) for one in evidence.paths],
    }
    taken = _fitting(pieces, tokens, _LABEL + count_tokens(prefix))
    labels: dict[str, tuple[str, ...]] = {}
    lines: list[str] = []
    for name, letter in zip(pieces, "CNEP", strict=True):
        shown = taken[name]
        if shown:
            lines.append(f"{_HEADINGS[name]}:")
        labelled = {f"{prefix}{letter}{number}": piece for number, piece in enumerate(shown, 1)}
        labels |= {label: piece.ids for label, piece in labelled.items()}
        said = [f"[{label}] {piece.text}" for label, piece in labelled.items()]
        lines += said[::-1] if name == "paths" else said
    text = "\n".join(lines) or f"(nothing was found{': ' if evidence.reason else ''}{evidence.reason})"
    left_out = sum(map(len, pieces.values())) - sum(map(len, taken.values()))
    return Rendered(text, labels, count_tokens(text), left_out)


def _fitting(pieces: Mapping[str, list[_Piece]], tokens: int, label: int) -> dict[str, list[_Piece]]:
    """Return the pieces of each section that fit into its share and what the sections after it left over."""
    whole = sum(_SHARES[name] for name, some in pieces.items() if some)
    taken: dict[str, list[_Piece]] = {}
    left = 0.0
    for name in reversed(list(pieces)):
        some = pieces[name]
        left += tokens * _SHARES[name] / whole if some else 0.0
        taken[name] = []
        for piece in some:
            heading = "" if taken[name] else f"{_HEADINGS[name]}:"
            cost = count_tokens(heading) + label + count_tokens(piece.text)
            if cost <= left:  # a piece too large is passed over: what stands behind it may have room
                taken[name].append(piece)
                left -= cost
    return taken


def _of_node(node: Node) -> _Piece:
    lines = [
        f"{_line(node.name)} ({node.type})",
        *(f"  {_line(line)}" for line in node.text.splitlines() if line.strip()),
    ]
    return _Piece("\n".join(lines), (node.id,))


def _of_edge(edge: Edge, graph: Graph) -> _Piece:
    source, target = (_name(graph, node) for node in (edge.source, edge.target))
    keywords = edge.properties.get("keywords")
    known = [*map(str, keywords)] if isinstance(keywords, (list, tuple)) else []
    if edge.weight != 1.0:
        known.append(f"weight {edge.weight:g}")
    more = f" ({_line(', '.join(known))})" if known else ""
    said = f": {_line(edge.text)}" if edge.text else ""
    return _Piece(f"{source} -{edge.type}-> {target}{more}{said}", (edge.source, edge.target))


def _of_path(path: Path, graph: Graph) -> _Piece:
    ids = list(_walked(path))
    text = _name(graph, ids[0])
    for edge, before, after in zip(path, ids, ids[1:], strict=False):
        arrow = f"-{edge.type}->" if edge.source == before else f"<-{edge.type}-"
        text += f" {arrow} {_name(graph, after)}"
    said = [f"  {_line(edge.text)}" for edge in path if edge.text]
    return _Piece("\n".join([text, *said]), tuple(ids))


def _walked(path: Path) -> Iterator[str]:
    """Return the ids of a path's nodes in the order of the walk."""
    first = path[0]
    after = {path[1].source, path[1].target} if len(path) > 1 else {first.target}
    here = first.source if first.target in after else first.target
    yield here
    for edge in path:
        here = edge.target if edge.source == here else edge.source
        yield here


def _name(graph: Graph, node_id: str) -> str:
    return _line(graph.names[graph.row(node_id)])


def _line(text: str) -> str:
    return " ".join(text.split())
