"""Typed triplets over the graph: candidate sets of their ends, pruned by intersection with typed neighbours.

SUBSTITUTE and GROUND_TRIPLETS of SAGE (004), appendices C.1 and C.2, are one algorithm over different first sets. The
paper intersects the candidates of a triplet's head with `neighbors(h, e, -)`: meant are the nodes from which an edge of
that type leads to a candidate of the tail, and likewise for the tail. The result is the largest choice of sets in which
every candidate has a partner for each of its triplets: it does not depend on the order of the triplets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.errors import BadOption, UnknownProperty, UnknownType
from orienteer.graph.adjacency import distinct
from orienteer.graph.properties import Condition
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.lab.baselines.baseline import TEXT, Baseline
from orienteer.lab.baselines.listwise import reranked
from orienteer.protocols import Run
from orienteer.query.budget import Budget
from orienteer.query.plan import Hop
from orienteer.query.sets import Sets, turned
from orienteer.query.store import Store
from orienteer.records import Direction, Question, Result
from orienteer.retrieval.graph_text import arrow, edge_note, schema_lines
from orienteer.tools.session import Session
from orienteer.tools.texts import LARGEST_K

MOST_SYMBOLS = 24
"""Symbols, and triplets, of a pattern at most: no question has more."""
_NAMED = 3  # ends of a triplet that a reason names


@dataclass(frozen=True, slots=True)
class Symbol:
    """An end of triplets: a constant if it has a text to search for, else a variable."""

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
    """Return a pattern in the graph's own types, without parts that it cannot match; each change is a note."""
    session = Session(graph)
    symbols = {name: _symbol(session, symbol, notes) for name, symbol in pattern.symbols.items()}
    triplets = (_triplet(session, triplet, symbols, notes) for triplet in pattern.triplets)
    return TripletPattern(pattern.target, symbols, tuple(dict.fromkeys(filter(None, triplets))))


def _types(
    named: Sequence[str], types_of: Callable[[Sequence[str], list[str]], Iterable[str]], kind: str, notes: list[str]
) -> tuple[str, ...]:
    """Return types as the graph spells them; an unknown one is left out, with a note."""
    types: list[str] = []
    for name in named:
        try:
            types += types_of([name], notes)
        except UnknownType as error:
            notes.append(f"any {kind} type is taken: {error}")
    return tuple(types)


def _symbol(session: Session, symbol: Symbol, notes: list[str]) -> Symbol:
    types, conditions, text = _types(symbol.node_types, session.node_types, "node", notes), [], symbol.text
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
    return Symbol(types, text, tuple(conditions))


def _triplet(session: Session, triplet: Triplet, symbols: Mapping[str, Symbol], notes: list[str]) -> Triplet | None:
    """Return a triplet as the schema allows it, turned or without its edge type if need be, or None."""
    if triplet.head == triplet.tail or not {triplet.head, triplet.tail} <= set(symbols):
        notes.append(f"left out: {_in_words(triplet)} joins no two nodes of the pattern")
        return None
    types = _types(triplet.edge_types, session.edge_types, "edge", notes)
    triplet = replace(triplet, edge_types=types)
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
    left, query = dict(candidates), Sets(Store.of(graph), Budget())
    joins = rounds = 0
    is_changed = bool(triplets)
    while is_changed:
        is_changed, rounds = False, rounds + 1
        # Small sets first: what they prune is not walked from.
        for triplet in sorted(triplets, key=lambda triplet: min(len(left[triplet.head]), len(left[triplet.tail]))):
            mask = graph.arrays.kind_mask(triplet.edge_types or None, "out" if triplet.is_directed else None)
            hop = Hop(frozenset() if mask is None else frozenset(np.flatnonzero(mask).tolist()))
            for end, other, way in ((triplet.head, triplet.tail, hop), (triplet.tail, triplet.head, turned(hop))):
                rows = query.joined(left[end].astype(np.int64), way, left[other].astype(np.int64))
                is_changed = is_changed or len(rows) < len(left[end])
                left[end] = rows.astype(np.int32)
                joins += 1
    return Grounding(left, joins, rounds)


# --------------------------------------------------------------------------------------- the first sets, and widening


def _grounded(workflow: Workflow, pattern: TripletPattern, *, widths: Sequence[int], enough: int) -> Mapping[str, Rows]:
    """Return the candidates of every symbol, for the least width at which the target has enough, else for the last."""
    graph, question, target = workflow.graph, workflow.question, pattern.target
    constants: dict[str, tuple[int, ...]] = {}
    sets: dict[str, Rows] = {}
    missing: list[str] = []
    for name, symbol in pattern.symbols.items():
        mask = graph.arrays.mask(symbol.node_types or None, symbol.where)
        sets[name] = np.flatnonzero(np.ones(len(graph), np.bool_) if mask is None else mask).astype(np.int32)
        if symbol.text:
            # Exact names come before hits of a search: any of the best `width` may be meant.
            named = [row for row in graph.arrays.candidates(symbol.text) if mask is None or mask[row]]
            hits = workflow.search(symbol.text, widths[-1], node_types=symbol.node_types, where=symbol.where)
            if rows := tuple(dict.fromkeys((*named, *hits))):
                constants[name] = rows
            else:
                # Without a constant nothing would be left: its triplets are left out, and a note says so.
                missing.append(name)
    workflow.notes += [f"not found, so left out: {pattern.symbols[name].text!r}" for name in sorted(missing)]
    triplets = [triplet for triplet in pattern.triplets if {triplet.head, triplet.tail}.isdisjoint(missing)]
    answers = graph.arrays.mask(question.node_types or None, question.where)
    if answers is not None:
        sets[target] = sets[target][answers[sets[target]]]
    candidates: Mapping[str, Rows] = sets
    for width in widths:
        chosen = {name: np.unique(np.array(rows[:width], np.int32)) for name, rows in constants.items()}
        first = {name: np.intersect1d(rows, chosen[name]) if name in chosen else rows for name, rows in sets.items()}
        candidates, joins, _ = ground(graph, triplets, first)
        workflow.set_joins += joins
        if len(candidates[target]) >= enough or not chosen:
            break
    if not len(candidates[target]):
        workflow.notes.append("no node fits the whole pattern")
    return candidates


# ------------------------------------------------------------------------------------------------------- the ranking


def fitting(
    workflow: Workflow,
    pattern: TripletPattern | None,
    *,
    widths: Sequence[int],
    first: int,
    enough: int = 1,
) -> dict[int, str]:
    """Return `k` rows with their reasons: grounded ones, `first` at most, then free ones of the target's type.

    Without a pattern it is plain search. The widening ends at the first of the `widths` with `enough` grounded nodes.
    """
    if pattern is None:
        return workflow.plain_search()
    question = workflow.question
    sets = _grounded(workflow, pattern, widths=widths, enough=enough)
    best, _ = workflow.rank(sets[pattern.target], question.k)
    ranked = {row: _why(workflow.graph, pattern, sets, row) for row in best.tolist()}
    types = question.node_types or pattern.symbols[pattern.target].node_types
    free = workflow.search(question.text, question.k, node_types=types, where=question.where)
    return mixed(ranked, free, first=first, k=question.k)


def _why(graph: Graph, pattern: TripletPattern, candidates: Mapping[str, Rows], row: int) -> str:
    """Return the edges of a target that fit the pattern, in words."""
    parts = []
    for triplet in pattern.triplets:
        if pattern.target not in (triplet.head, triplet.tail):
            continue
        is_head = triplet.head == pattern.target
        other = triplet.tail if is_head else triplet.head
        direction: Direction | None = None if not triplet.is_directed else "out" if is_head else "in"
        kinds = graph.arrays.kind_mask(triplet.edge_types or None, direction)
        entries = graph.arrays.adjacency.entries(np.array([row], np.int32), kinds)
        near = distinct(entries.neighbor[np.isin(entries.neighbor, candidates[other])])[:_NAMED].tolist()
        if near:
            note = edge_note(graph, graph.arrays.edges_to(entries, near[0]), graph.arrays.ids[near[0]])
            parts.append(f"{note} {', '.join(graph.arrays.names[end] for end in near)}")
    return "; ".join(dict.fromkeys(parts)) or "fits the pattern"


def mixed(grounded: Mapping[int, str], free: Sequence[int], *, first: int, k: int) -> dict[int, str]:
    """Return `k` rows with their reasons: `first` grounded ones, then free ones, then the other grounded ones."""
    reasons = dict.fromkeys(free, "found by plain search") | dict(grounded)
    rows = dict.fromkeys((*list(grounded)[:first], *free, *grounded))
    return {row: reasons[row] for row in list(rows)[:k]}


# `4stepfocus`: triplets from the question, intersected over the graph, then ordered by text and by a model.
#
# Paper: Boer et al. 2024, 4StepFocus; after SAGE (004), appendix C.1 and table 4: two calls of the model.
#
# 1. a call writes triplets and the variable that answers the question;
# 2. SUBSTITUTE prunes the candidates of every variable by its typed neighbours until nothing changes;
# 3. the candidates that are left are ordered by text, and further nodes of the wanted type follow;
# 4. a call reranks the first 20 (`listwise`).
#
# Deviations:
# 1. BM25 takes the place of the vectors of step 3, and finds constants, unless `mode` says otherwise; a node of just
#    the constant's name comes before others.
# 2. A constant may be any of the best 5 nodes; the paper gives no number. There is no widening, as in the paper.
# 3. Triplets are checked against the schema first: near forms of a type are taken, a reversed edge is turned, and parts
#    that the graph cannot match are left out, each with a note. The paper's algorithm would end with nothing.
# 4. A constant that no node matches is left out. Vectors always find a node.
# 5. The prompts are our own.


def _object(*fields: str) -> dict[str, Any]:
    properties = dict.fromkeys(fields, TEXT)
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": list(fields)}


def _list_of(*fields: str) -> dict[str, Any]:
    return {"type": "array", "maxItems": MOST_SYMBOLS, "items": _object(*fields)}


TRIPLETS = _object("target", "variables", "constants", "triplets")
TRIPLETS["properties"] |= {
    "variables": _list_of("name", "type"),
    "constants": _list_of("name", "text", "type"),
    "triplets": _list_of("head", "edge", "tail"),
}
"""The reply of the first call. An empty type or edge means any."""


class FourStepFocusConfig(WorkflowConfig):
    """4StepFocus's settings."""

    candidates: int = Field(default=5, ge=1, le=LARGEST_K)
    """Nodes that a constant may be, at the most; ours."""
    rerank_first: bool = True
    """Let the model order the first 20. Step 4 of the paper."""


class FourStepFocus(Baseline[FourStepFocusConfig]):
    """Triplets, intersection, order, rerank."""

    name = "4stepfocus"
    settings = FourStepFocusConfig

    def retrieve(self, question: Question, run: Run) -> Result:
        """Ground what the question asks for, fill up with plain search, rerank."""
        config, workflow = self.config, self.start(question, run)

        def ranking() -> dict[int, str]:
            return fitting(workflow, self._pattern(workflow), widths=(config.candidates,), first=question.k)

        return reranked(workflow, ranking, rerank_first=config.rerank_first)

    def _pattern(self, workflow: Workflow) -> TripletPattern | None:
        """Return the pattern that the model takes the question for, or None if its reply cannot be read."""
        schema = "\n".join(schema_lines(self._graph))
        reply = workflow.ask_for("4stepfocus", TRIPLETS, schema=schema, question=workflow.question.text)
        if reply is None:
            workflow.notes.append("the model's triplets cannot be read: found by plain search")
            return None
        symbols: dict[str, Symbol] = {}
        for item in (*reply["variables"], *reply["constants"]):  # of a name given twice the constant counts
            types = tuple(filter(None, [item["type"].strip()]))
            symbols[item["name"].strip()] = Symbol(types, item.get("text", "").strip())
        target = reply["target"].strip()
        if target not in symbols:
            workflow.notes.append(f"the target {target!r} is no variable of the triplets: found by plain search")
            return None
        triplets = tuple(
            Triplet(item["head"].strip(), tuple(filter(None, [item["edge"].strip()])), item["tail"].strip())
            for item in reply["triplets"]
        )
        return resolved(TripletPattern(target, symbols, triplets), self._graph, workflow.notes)
