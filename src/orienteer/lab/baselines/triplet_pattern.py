"""Typed triplets over the graph: candidate sets of their ends, pruned by intersection with typed neighbours.

SUBSTITUTE and GROUND_TRIPLETS of SAGE (004), appendices C.1 and C.2, are one algorithm over different first sets. The
paper intersects the candidates of a triplet's head with `neighbors(h, e, -)`: meant are the nodes from which an edge of
that type leads to a candidate of the tail, and likewise for the tail. The result is the largest choice of sets in which
every candidate has a partner for each of its triplets: it does not depend on the order of the triplets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.errors import BadOption, UnknownProperty, UnknownType
from orienteer.graph.adjacency import KindMask, distinct
from orienteer.graph.properties import Condition
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.lab.baselines.listwise import reranked
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Direction, Question, Result
from orienteer.retrieval.graph_text import arrow, edge_note, schema_lines
from orienteer.tools.session import Session
from orienteer.tools.texts import LARGEST_K

MOST_SYMBOLS = 24
"""Symbols, and triplets, of a pattern at the most: no question has more."""
_NAMED = 3  # ends of a triplet that a reason names


@dataclass(frozen=True, slots=True)
class Symbol:
    """An end of triplets: a constant where it has a text to be searched for, else a variable."""

    node_types: tuple[str, ...] = ()
    """Alternatives; empty for any type."""
    text: str = ""
    where: tuple[str, ...] = ()
    """Conditions on properties, such as `year >= 2000`."""


@dataclass(frozen=True, slots=True)
class Triplet:
    """Two symbols and the edge that must lead from one to the other."""

    head: str
    edge_types: tuple[str, ...]
    """Alternatives; empty for any type."""
    tail: str
    is_directed: bool = True


@dataclass(frozen=True, slots=True)
class TripletPattern:
    """What a question asks for: the symbol that answers it, and the triplets around."""

    target: str
    symbols: Mapping[str, Symbol]
    triplets: tuple[Triplet, ...] = ()


class Grounding(NamedTuple):
    """Candidate sets that no triplet prunes any further."""

    candidates: Mapping[str, Rows]
    joins: int
    """The number of intersections made."""
    rounds: int
    """Passes over all triplets; the last one changes nothing."""


# ----------------------------------------------------------------------------------- a pattern in the graph's types


def resolved(pattern: TripletPattern, graph: Graph, notes: list[str]) -> TripletPattern:
    """Return a pattern in the graph's own types, without parts that it cannot match; `notes` tells each change."""
    session = Session(graph)
    symbols = {name: _symbol(session, symbol, notes) for name, symbol in pattern.symbols.items()}
    triplets = (_triplet(session, triplet, symbols, notes) for triplet in pattern.triplets)
    return TripletPattern(pattern.target, symbols, tuple(dict.fromkeys(filter(None, triplets))))


def _symbol(session: Session, symbol: Symbol, notes: list[str]) -> Symbol:
    types: list[str] = []
    for name in symbol.node_types:
        try:
            types += session.node_types([name], notes)
        except UnknownType as error:
            notes.append(f"any node type is taken: {error}")
    conditions, text = [], symbol.text
    for condition in symbol.where:
        try:
            session.graph.arrays.mask(None, [condition])
            conditions.append(condition)
        except UnknownProperty as error:
            parsed = Condition.parse(condition)
            if parsed.comparison == "=" and not text:
                text = parsed.value  # where there is no such property, the value may be the name or a word of the text
                notes.append(f"{condition!r} is read as a search for {text!r}, for there is no such property")
            else:
                notes.append(f"the condition {condition!r} is left out: {error}")
        except BadOption as error:
            notes.append(f"the condition {condition!r} is left out: {error}")
    return Symbol(tuple(types), text, tuple(conditions))


def _triplet(session: Session, triplet: Triplet, symbols: Mapping[str, Symbol], notes: list[str]) -> Triplet | None:
    """Return a triplet as the schema allows it, turned or without its edge type if need be; None where it cannot be."""
    if triplet.head == triplet.tail or not {triplet.head, triplet.tail} <= set(symbols):
        notes.append(f"left out: {_in_words(triplet)} joins no two nodes of the pattern")
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
        notes.append(f"turned round, as the graph has it: {_in_words(triplet)}")
        return turned
    free = replace(triplet, edge_types=(), is_directed=False)
    if types and (joins(free) or joins(replace(free, head=free.tail, tail=free.head))):
        notes.append(f"any edge is taken, for the graph has none such between these types: {_in_words(triplet)}")
        return free
    notes.append(f"left out, for no edge joins these types: {_in_words(triplet)}")
    return None


def _are_joined(graph: Graph, symbols: Mapping[str, Symbol], triplet: Triplet) -> bool:
    """Return whether the schema has an edge from the head's types to the tail's."""
    types = graph.arrays.types
    edges = set(types.edge_numbers(triplet.edge_types))
    heads, tails = (set(types.node_numbers(symbols[end].node_types)) for end in (triplet.head, triplet.tail))

    def fits(source: str, target: str) -> bool:
        ends = types.node_numbers([source])[0], types.node_numbers([target])[0]
        return (not heads or ends[0] in heads) and (not tails or ends[1] in tails)

    return any(
        fits(edge.source, edge.target) or (edge.type in graph.schema.symmetric and fits(edge.target, edge.source))
        for edge in graph.schema.edges
        if not edges or types.edge_numbers([edge.type])[0] in edges
    )


def _in_words(triplet: Triplet) -> str:
    edge = " or ".join(triplet.edge_types) or "any edge"
    head, tail = (end.lstrip("\0") for end in (triplet.head, triplet.tail))  # as in names that are made up
    return f"{head} {arrow(edge, 'out' if triplet.is_directed else None)} {tail}"


# ------------------------------------------------------------------------------------------------ the paper's loop


def ground(graph: Graph, triplets: Sequence[Triplet], candidates: Mapping[str, Rows]) -> Grounding:
    """Intersect each end's candidates with the typed neighbours of the other's until nothing changes.

    GROUND_TRIPLETS and the loop of SUBSTITUTE; SAGE, appendices C.2 and C.1. Rows go in and come out ascending.
    """
    sets = dict(candidates)
    joins = rounds = 0
    is_changed = bool(triplets)
    while is_changed:
        is_changed, rounds = False, rounds + 1
        # Small sets first: what they prune is not walked from.
        for triplet in sorted(triplets, key=lambda triplet: min(len(sets[triplet.head]), len(sets[triplet.tail]))):
            head, tail = triplet.head, triplet.tail
            out, back = _kinds(graph, triplet)
            for end, other, kinds, returning in ((head, tail, out, back), (tail, head, back, out)):
                rows = _joined(graph, sets[end], sets[other], kinds, returning)
                is_changed = is_changed or len(rows) < len(sets[end])
                sets[end] = rows
                joins += 1
    return Grounding(sets, joins, rounds)


def _kinds(graph: Graph, triplet: Triplet) -> tuple[KindMask | None, KindMask | None]:
    """Return the kinds of edge that match a triplet, as seen from its head and from its tail."""
    directions: tuple[Direction | None, Direction | None] = ("out", "in") if triplet.is_directed else (None, None)
    head, tail = (graph.arrays.kind_mask(triplet.edge_types or None, direction) for direction in directions)
    return head, tail


def _joined(graph: Graph, rows: Rows, others: Rows, kinds: KindMask | None, returning: KindMask | None) -> Rows:
    """Return the rows that have an edge to any of the others, ascending; walked from the side with fewer edges."""
    adjacency = graph.arrays.adjacency
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


def grounded(
    workflow: Workflow, pattern: TripletPattern, *, widths: Sequence[int], enough: int = 1
) -> Mapping[str, Rows]:
    """Return the candidates of every symbol, for the least width at which the target has enough, else for the last.

    A constant may be each of the best `width` nodes that a search for its text finds among its types, nodes of exactly
    this name first. A constant that no node matches is left out with its triplets, for nothing would be left; the
    workflow's notes say so.
    """
    graph, question = workflow.graph, workflow.question
    constants = {name: _named(workflow, symbol, widths[-1]) for name, symbol in pattern.symbols.items() if symbol.text}
    missing = {name for name, rows in constants.items() if not rows}
    workflow.notes += [f"not found, so left out: {pattern.symbols[name].text!r}" for name in sorted(missing)]
    triplets = [triplet for triplet in pattern.triplets if not missing & {triplet.head, triplet.tail}]
    sets = {name: _members(graph, symbol) for name, symbol in pattern.symbols.items()}
    answers = graph.arrays.mask(question.node_types or None, question.where)
    if answers is not None:
        sets[pattern.target] = sets[pattern.target][answers[sets[pattern.target]]]
    result = Grounding(sets, 0, 0)
    for width in widths:
        chosen = {name: np.unique(np.array(rows[:width], np.int32)) for name, rows in constants.items() if rows}
        first = {name: np.intersect1d(rows, chosen[name]) if name in chosen else rows for name, rows in sets.items()}
        result = ground(graph, triplets, first)
        workflow.set_joins += result.joins
        if len(result.candidates[pattern.target]) >= enough or not chosen:
            break
    if not len(result.candidates[pattern.target]):
        workflow.notes.append("no node fits the whole pattern")
    return result.candidates


def _members(graph: Graph, symbol: Symbol) -> Rows:
    """Return every node that a symbol may be by its types and conditions alone, ascending."""
    mask = graph.arrays.mask(symbol.node_types or None, symbol.where)
    return np.arange(len(graph), dtype=np.int32) if mask is None else np.flatnonzero(mask).astype(np.int32)


def _named(workflow: Workflow, symbol: Symbol, width: int) -> tuple[int, ...]:
    """Return the nodes that a constant may be: nodes of exactly this name, then those that a search for it finds."""
    graph = workflow.graph
    mask = graph.arrays.mask(symbol.node_types or None, symbol.where)
    named = [row for row in graph.arrays.candidates(symbol.text) if mask is None or mask[row]]
    hits = workflow.search(symbol.text, width, node_types=symbol.node_types, where=symbol.where)
    return tuple(dict.fromkeys((*named, *hits)))


# ------------------------------------------------------------------------------------------------------- the ranking


def fitting(
    workflow: Workflow,
    pattern: TripletPattern | None,
    *,
    widths: Sequence[int],
    first: int,
    enough: int = 1,
) -> dict[int, str]:
    """Return `k` rows with their reasons: grounded ones, `first` at the most, then free ones of the target's type.

    Without a pattern it is plain search. `widths` and `enough` are those of `grounded`.
    """
    if pattern is None:
        return workflow.plain_search()
    question = workflow.question
    sets = grounded(workflow, pattern, widths=widths, enough=enough)
    ranked = ordered(workflow, pattern, sets, question.k)
    types = question.node_types or pattern.symbols[pattern.target].node_types
    free = workflow.search(question.text, question.k, node_types=types, where=question.where)
    return mixed(ranked, free, first=first, k=question.k)


def ordered(workflow: Workflow, pattern: TripletPattern, candidates: Mapping[str, Rows], k: int) -> dict[int, str]:
    """Return the `k` candidates of the target that match the question best, each with the edges that fit."""
    rows, _ = workflow.rank(candidates[pattern.target], k)
    return {row: _evidence(workflow.graph, pattern, candidates, row) for row in rows.tolist()}


def _evidence(graph: Graph, pattern: TripletPattern, candidates: Mapping[str, Rows], row: int) -> str:
    parts = []
    for triplet in pattern.triplets:
        if pattern.target not in (triplet.head, triplet.tail):
            continue
        out, back = _kinds(graph, triplet)
        other, kinds = (triplet.tail, out) if triplet.head == pattern.target else (triplet.head, back)
        entries = graph.arrays.adjacency.entries(np.array([row], np.int32), kinds)
        near = distinct(entries.neighbor[np.isin(entries.neighbor, candidates[other])])[:_NAMED].tolist()
        if near:
            note = edge_note(graph, graph.arrays.edges_to(entries, near[0]), graph.arrays.ids[near[0]])
            parts.append(f"{note} {', '.join(graph.arrays.names[end] for end in near)}")
    return "; ".join(dict.fromkeys(parts)) or "fits the pattern"


def mixed(grounded: Mapping[int, str], free: Sequence[int], *, first: int, k: int) -> dict[int, str]:
    """Return `k` rows with their reasons: `first` grounded ones, then free ones, then the other grounded ones."""
    reasons = dict.fromkeys(free, "found by plain search") | dict(grounded)
    ahead = list(grounded)[:first]
    rows = dict.fromkeys((*ahead, *(row for row in free if row not in ahead), *grounded))
    return {row: reasons[row] for row in list(rows)[:k]}


# `4stepfocus`: triplets from the question, intersected over the graph, then ordered by text and by a model.
#
# Paper: Boer et al. 2024, 4StepFocus; after SAGE (004), appendix C.1 and table 4: two calls of the model.
#
# 1. a call writes triplets and the variable that answers the question; 2. SUBSTITUTE prunes the candidates of every
# variable by its typed neighbours until nothing changes (`triplet_pattern`); 3. the candidates that are left are
# ordered by text, and further nodes of the wanted type follow; 4. a call reranks the first 20 (`listwise`).
#
# Deviations:
# 1. BM25 stands in for the vectors of step 3 and for finding constants, unless `mode` says otherwise; a node of just
# the
#    constant's name comes before others.
# 2. A constant may be any of the best 5 nodes; the paper gives no number. There is no widening, as in the paper.
# 3. Triplets are checked against the schema first: near forms of a type are taken, a reversed edge is turned, and parts
#    that the graph cannot match are left out, each with a note. The paper's algorithm would end with nothing.
# 4. A constant that no node matches is left out. Vectors always find a node, here too where `mode` uses them.
# 5. The prompts are our own.


_TEXT = {"type": "string"}
_OBJECT = {"type": "object", "additionalProperties": False}
TRIPLETS: dict[str, Any] = {
    **_OBJECT,
    "properties": {
        "target": _TEXT,
        "variables": {
            "type": "array",
            "maxItems": MOST_SYMBOLS,
            "items": {**_OBJECT, "properties": {"name": _TEXT, "type": _TEXT}, "required": ["name", "type"]},
        },
        "constants": {
            "type": "array",
            "maxItems": MOST_SYMBOLS,
            "items": {
                **_OBJECT,
                "properties": {"name": _TEXT, "text": _TEXT, "type": _TEXT},
                "required": ["name", "text", "type"],
            },
        },
        "triplets": {
            "type": "array",
            "maxItems": MOST_SYMBOLS,
            "items": {
                **_OBJECT,
                "properties": {"head": _TEXT, "edge": _TEXT, "tail": _TEXT},
                "required": ["head", "edge", "tail"],
            },
        },
    },
    "required": ["target", "variables", "constants", "triplets"],
}
"""What the first call gives. An empty type or edge stands for any."""


class FourStepFocusConfig(WorkflowConfig):
    """4StepFocus's settings."""

    candidates: int = Field(default=5, ge=1, le=LARGEST_K)
    """Nodes that a constant may be, at the most; ours."""
    rerank_first: bool = True
    """Let the model order the first 20. Step 4 of the paper."""


class FourStepFocus:
    """Triplets, intersection, order, rerank."""

    name = "4stepfocus"

    def __init__(self, graph: Graph, model: LanguageModel, config: FourStepFocusConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or FourStepFocusConfig()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Ground what the question asks for, fill up with plain search, rerank."""
        config = self.config
        workflow = Workflow(self._graph, self._model, run, question=question, method=self.name, config=config)

        def ranking() -> dict[int, str]:
            return fitting(workflow, self._pattern(workflow), widths=(config.candidates,), first=question.k)

        return reranked(workflow, ranking, rerank_first=config.rerank_first)

    def _pattern(self, workflow: Workflow) -> TripletPattern | None:
        """Return what the model takes the question to ask for; None where its reply cannot be read."""
        schema = "\n".join(schema_lines(self._graph))
        reply = workflow.ask_for("4stepfocus", TRIPLETS, schema=schema, question=workflow.question.text)
        if reply is None:
            workflow.notes.append("the model's triplets cannot be read: found by plain search")
            return None
        symbols = dict(_symbols(reply))
        target = reply["target"].strip()
        if target not in symbols:
            workflow.notes.append(f"the target {target!r} is no variable of the triplets: found by plain search")
            return None
        triplets = tuple(
            Triplet(item["head"].strip(), tuple(filter(None, [item["edge"].strip()])), item["tail"].strip())
            for item in reply["triplets"]
        )
        return resolved(TripletPattern(target, symbols, triplets), self._graph, workflow.notes)


def _symbols(reply: dict[str, Any]) -> Iterator[tuple[str, Symbol]]:
    """Yield the ends of triplets by name, constants last, so that of a name given twice the constant counts."""
    for item in (*reply["variables"], *reply["constants"]):
        yield item["name"].strip(), Symbol(tuple(filter(None, [item["type"].strip()])), item.get("text", "").strip())
