"""Typed triplets over the graph: candidate sets of their ends, pruned by intersection with typed neighbours.

SUBSTITUTE and GROUND_TRIPLETS of SAGE (004), appendices C.1 and C.2, are one algorithm over different first sets. The
paper intersects the candidates of a triplet's head with `neighbors(h, e, -)`: meant are the nodes from which an edge of
that type leads to a candidate of the tail, and likewise for the tail. The result is the largest choice of sets in which
every candidate has a partner for each of its triplets: it does not depend on the order of the triplets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from orienteer.agents.workflow import Workflow
from orienteer.errors import BadOption, UnknownProperty, UnknownType
from orienteer.graph.adjacency import KindMask
from orienteer.graph.properties import Condition
from orienteer.graph.store import Graph, distinct
from orienteer.index.arrays import Rows
from orienteer.records import Direction
from orienteer.tools.rendering import edge_note
from orienteer.tools.session import Session

MOST_SYMBOLS = 24
"""Symbols, and triplets, of a pattern at the most: no question has more."""
_NAMED = 3  # ends of a triplet that a reason names


@dataclass(frozen=True, slots=True)
class Symbol:
    """An end of triplets: a constant where it has a text to be searched for, else a variable."""

    node_types: tuple[str, ...] = ()
    """Any of these; all where there is none."""
    text: str = ""
    where: tuple[str, ...] = ()
    """Conditions on properties, such as `year >= 2000`."""


@dataclass(frozen=True, slots=True)
class Triplet:
    """Two symbols and the edge that must lead from one to the other."""

    head: str
    edge_types: tuple[str, ...]
    """Any of these; all where there is none."""
    tail: str
    is_directed: bool = True


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a question asks for: the symbol that answers it, and the triplets around."""

    target: str
    symbols: Mapping[str, Symbol]
    triplets: tuple[Triplet, ...] = ()


class Grounded(NamedTuple):
    """Candidate sets that no triplet prunes any further."""

    candidates: Mapping[str, Rows]
    joins: int
    """Intersections that were made."""
    rounds: int
    """Passes over all triplets; the last one changes nothing."""


# -------------------------------------------------------------------------------- a pattern that the graph can have


def resolved(pattern: Pattern, graph: Graph, notes: list[str]) -> Pattern:
    """Return a pattern in the graph's own types, what it cannot have left out; each change is said in `notes`."""
    session = Session(graph)
    symbols = {name: _symbol(session, one, notes) for name, one in pattern.symbols.items()}
    triplets = (_triplet(session, one, symbols, notes) for one in pattern.triplets)
    return Pattern(pattern.target, symbols, tuple(dict.fromkeys(one for one in triplets if one is not None)))


def _symbol(session: Session, symbol: Symbol, notes: list[str]) -> Symbol:
    types: list[str] = []
    for name in symbol.node_types:
        try:
            types += session.node_types([name], notes)
        except UnknownType as error:
            notes.append(f"any node type is taken: {error}")
    kept, text = [], symbol.text
    for condition in symbol.where:
        try:
            session.graph.mask(None, [condition])
            kept.append(condition)
        except UnknownProperty as error:
            asked = Condition.parse(condition)
            if asked.comparison == "=" and not text:
                text = asked.value  # a value of what is no property may be the name or a word of the text
                notes.append(f"{condition!r} is read as a search for {text!r}, for there is no such property")
            else:
                notes.append(f"the condition {condition!r} is left out: {error}")
        except BadOption as error:
            notes.append(f"the condition {condition!r} is left out: {error}")
    return Symbol(tuple(types), text, tuple(kept))


def _triplet(session: Session, triplet: Triplet, symbols: Mapping[str, Symbol], notes: list[str]) -> Triplet | None:
    """Return a triplet as the schema has it, turned or without its edge type if need be; None where it has none."""
    if triplet.head == triplet.tail or not {triplet.head, triplet.tail} <= set(symbols):
        notes.append(f"left out: {_told(triplet)} joins no two nodes of the pattern")
        return None
    types: list[str] = []
    for name in triplet.edge_types:
        try:
            types += session.edge_types([name], notes)
        except UnknownType as error:
            notes.append(f"any edge type is taken: {error}")
    triplet = replace(triplet, edge_types=tuple(types))
    joins = partial(_are_joined, session.graph, symbols)
    turned = replace(triplet, head=triplet.tail, tail=triplet.head)
    if joins(triplet) or (not triplet.is_directed and joins(turned)):
        return triplet
    if joins(turned):
        notes.append(f"turned round, as the graph has it: {_told(triplet)}")
        return turned
    free = replace(triplet, edge_types=(), is_directed=False)
    if types and (joins(free) or joins(replace(free, head=free.tail, tail=free.head))):
        notes.append(f"any edge is taken, for the graph has none such between these types: {_told(triplet)}")
        return free
    notes.append(f"left out, for no edge joins these types: {_told(triplet)}")
    return None


def _are_joined(graph: Graph, symbols: Mapping[str, Symbol], triplet: Triplet) -> bool:
    """Tell whether the schema has an edge from the head's types to the tail's."""
    types = graph.types
    edges = set(types.edge_numbers(triplet.edge_types))
    heads, tails = (set(types.node_numbers(symbols[end].node_types)) for end in (triplet.head, triplet.tail))

    def fits(source: str, target: str) -> bool:
        ends = types.node_numbers([source])[0], types.node_numbers([target])[0]
        return (not heads or ends[0] in heads) and (not tails or ends[1] in tails)

    return any(
        fits(one.source, one.target) or (one.type in graph.schema.symmetric and fits(one.target, one.source))
        for one in graph.schema.edges
        if not edges or types.edge_numbers([one.type])[0] in edges
    )


def _told(triplet: Triplet) -> str:
    edge = " or ".join(triplet.edge_types) or "any edge"
    return f"{triplet.head} -{edge}-{'>' if triplet.is_directed else ''} {triplet.tail}"


# ------------------------------------------------------------------------------------------------ the paper's loop


def ground(graph: Graph, triplets: Sequence[Triplet], candidates: Mapping[str, Rows]) -> Grounded:
    """Intersect each end's candidates with the typed neighbours of the other's until nothing changes.

    GROUND_TRIPLETS and the loop of SUBSTITUTE; SAGE, appendices C.2 and C.1. Rows go in and come out sorted.
    """
    sets = dict(candidates)
    joins = rounds = 0
    is_changed = bool(triplets)
    while is_changed:
        is_changed, rounds = False, rounds + 1
        # Small sets first: what they prune is not walked from.
        for one in sorted(triplets, key=lambda one: min(len(sets[one.head]), len(sets[one.tail]))):
            out, back = _kinds(graph, one)
            for end, other, kinds, returning in ((one.head, one.tail, out, back), (one.tail, one.head, back, out)):
                kept = _joined(graph, sets[end], sets[other], kinds, returning)
                is_changed = is_changed or len(kept) < len(sets[end])
                sets[end] = kept
                joins += 1
    return Grounded(sets, joins, rounds)


def _kinds(graph: Graph, triplet: Triplet) -> tuple[KindMask | None, KindMask | None]:
    """Return the kinds of edge that a triplet is, as seen from its head and from its tail."""
    directions: tuple[Direction | None, Direction | None] = ("out", "in") if triplet.is_directed else (None, None)
    head, tail = (graph.kind_mask(triplet.edge_types or None, direction) for direction in directions)
    return head, tail


def _joined(graph: Graph, rows: Rows, others: Rows, kinds: KindMask | None, returning: KindMask | None) -> Rows:
    """Return those of some rows that have an edge to any of the others, walked from the side with fewer edges."""
    adjacency = graph.adjacency
    if not len(rows) or not len(others):
        return rows[:0]
    if adjacency.degree(others).sum() < adjacency.degree(rows).sum():
        around = distinct(adjacency.entries(others, returning).neighbor)
        return rows[np.isin(rows, around, assume_unique=True)]
    entries = adjacency.entries(rows, kinds)
    is_other = np.zeros(len(graph), np.bool_)
    is_other[others] = True
    return distinct(entries.owner[is_other[entries.neighbor]])


# --------------------------------------------------------------------------------------- the first sets, and widening


def grounded(workflow: Workflow, pattern: Pattern, *, widths: Sequence[int], enough: int = 1) -> Mapping[str, Rows]:
    """Return the candidates of every symbol, for the least width at which the target has enough, else for the last.

    A constant may be each of the best `width` nodes that a search for its text finds among its types, those of just
    this name first. One that no node answers to is left out with its triplets, for nothing would be left; so it is
    said in the workflow's notes.
    """
    graph, question = workflow.graph, workflow.question
    found = {name: _found(workflow, one, widths[-1]) for name, one in pattern.symbols.items() if one.text}
    missing = {name for name, rows in found.items() if not rows}
    workflow.notes += [f"not found, so left out: {pattern.symbols[name].text!r}" for name in sorted(missing)]
    triplets = [one for one in pattern.triplets if not missing & {one.head, one.tail}]
    sets = {name: _members(graph, one) for name, one in pattern.symbols.items()}
    answers = graph.mask(question.node_types or None, question.where)
    if answers is not None:
        sets[pattern.target] = sets[pattern.target][answers[sets[pattern.target]]]
    result = Grounded(sets, 0, 0)
    for width in widths:
        chosen = {name: np.unique(np.array(rows[:width], np.int32)) for name, rows in found.items() if rows}
        first = {name: np.intersect1d(rows, chosen[name]) if name in chosen else rows for name, rows in sets.items()}
        result = ground(graph, triplets, first)
        workflow.set_joins += result.joins
        if len(result.candidates[pattern.target]) >= enough or not chosen:
            break
    if not len(result.candidates[pattern.target]):
        workflow.notes.append("no node fits the whole pattern")
    return result.candidates


def _members(graph: Graph, symbol: Symbol) -> Rows:
    """Return every node that a symbol may be by its types and conditions alone."""
    mask = graph.mask(symbol.node_types or None, symbol.where)
    return np.arange(len(graph), dtype=np.int32) if mask is None else np.flatnonzero(mask).astype(np.int32)


def _found(workflow: Workflow, symbol: Symbol, width: int) -> tuple[int, ...]:
    """Return the nodes that a constant may be, best first: of this name exactly, then as searches rank its text."""
    graph = workflow.graph
    mask = graph.mask(symbol.node_types or None, symbol.where)
    named = [row for row in graph.candidates(symbol.text) if mask is None or mask[row]]
    found = workflow.search(symbol.text, width, node_types=symbol.node_types, where=symbol.where)
    return tuple(dict.fromkeys((*named, *found)))


# -------------------------------------------------------------------------------------------------- what comes of it


def fitting(
    workflow: Workflow,
    pattern: Pattern | None,
    *,
    widths: Sequence[int],
    first: int,
    enough: int = 1,
) -> dict[int, str]:
    """Return `k` rows with their reasons: grounded ones, `first` at the most, then free ones of the target's type.

    Without a pattern it is plain search. `widths` and `enough` are those of `grounded`.
    """
    if pattern is None:
        return workflow.plain()
    question = workflow.question
    sets = grounded(workflow, pattern, widths=widths, enough=enough)
    kept = ordered(workflow, pattern, sets, question.k)
    types = question.node_types or pattern.symbols[pattern.target].node_types
    free = workflow.search(question.text, question.k, node_types=types, where=question.where)
    return mixed(kept, free, first=first, k=question.k)


def ordered(workflow: Workflow, pattern: Pattern, candidates: Mapping[str, Rows], k: int) -> dict[int, str]:
    """Return the `k` candidates of the target that match the question best, each with the edges that fit."""
    rows, _ = workflow.rank(candidates[pattern.target], k)
    return {row: _evidence(workflow.graph, pattern, candidates, row) for row in rows.tolist()}


def _evidence(graph: Graph, pattern: Pattern, candidates: Mapping[str, Rows], row: int) -> str:
    parts = []
    for one in pattern.triplets:
        if pattern.target not in (one.head, one.tail):
            continue
        out, back = _kinds(graph, one)
        other, kinds = (one.tail, out) if one.head == pattern.target else (one.head, back)
        entries = graph.adjacency.entries(np.array([row], np.int32), kinds)
        near = distinct(entries.neighbor[np.isin(entries.neighbor, candidates[other])])[:_NAMED].tolist()
        if near:
            note = edge_note(graph, graph.edges_to(entries, near[0]), graph.ids[near[0]])
            parts.append(f"{note} {', '.join(graph.names[end] for end in near)}")
    return "; ".join(dict.fromkeys(parts)) or "fits the pattern"


def mixed(grounded: Mapping[int, str], free: Sequence[int], *, first: int, k: int) -> dict[int, str]:
    """Return `first` grounded rows, then free ones up to `k`, then what is left of the grounded; none twice."""
    reasons = dict.fromkeys(free, "found by plain search") | dict(grounded)
    ahead = list(grounded)[:first]
    rows = dict.fromkeys((*ahead, *(row for row in free if row not in ahead), *grounded))
    return {row: reasons[row] for row in list(rows)[:k]}
