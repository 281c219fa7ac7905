"""A plan as data: steps that make sets of nodes out of the graph and of one another, and the set that answers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, get_args

from pydantic import Field, ValidationError

from orienteer.cypher.session import Cypher
from orienteer.errors import Error, UnknownProperty, UnknownType, nearest
from orienteer.graph.store import Graph
from orienteer.llm.schema import JsonSchema, object_of
from orienteer.query.likeness import ORDERED, quantity
from orienteer.records import Direction, Record
from orienteer.retrieval.graph_text import arrow, triples_by_size
from orienteer.retrieval.mentions import letter_likeness
from orienteer.tools.session import Session
from orienteer.tools.texts import LARGEST_K

Comparison: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">=", "contains"]
Aggregate: TypeAlias = Literal["count", "sum", "mean", "min", "max"]
Given: TypeAlias = Literal["nodes", "count", "exists"]
COMPARISONS, AGGREGATES = get_args(Comparison), get_args(Aggregate)
MOST_STEPS = 16
_OWN = ("name", "text")  # fields of every node, which are read if no property has the name


class _PlanStep(Record):
    into: str
    """The name of the set that it makes."""


class FindStep(_PlanStep):
    """The `k` nodes nearest to a text, by meaning or by words."""

    op: Literal["vector_search", "lexical_search"]
    query: str
    node_types: tuple[str, ...] = ()
    of: str | None = None
    """Search only in this set."""
    k: int = 20


class CypherStep(_PlanStep):
    """The nodes in the first column of a read-only statement that holds any; in it `$NAME` is the ids of a set."""

    op: Literal["cypher"]
    query: str


class MatchStep(_PlanStep):
    """The nodes one edge away from a set, a node, or all nodes of a type."""

    op: Literal["match"]
    start: str
    edge_types: tuple[str, ...] = ()
    node_types: tuple[str, ...] = ()
    direction: Direction | None = None


class CombineStep(_PlanStep):
    """What several sets have in common, or hold together, or the first without the others; in the order of the first.

    A union is in no order of its own.
    """

    op: Literal["intersect", "union", "difference"]
    of: tuple[str, ...] = Field(min_length=2)


class FilterStep(_PlanStep):
    """The nodes of a set whose property compares as asked."""

    op: Literal["filter"]
    of: str
    property: str
    comparison: Comparison
    value: bool | int | float | str


class OrderStep(_PlanStep):
    """A set in order: of a property, or of an aggregate over the distinct neighbours of each node."""

    op: Literal["order"]
    of: str
    property: str | None = None
    aggregate: Aggregate | None = None
    edge_types: tuple[str, ...] = ()
    node_types: tuple[str, ...] = ()
    direction: Direction | None = None
    descending: bool = True


class LimitStep(_PlanStep):
    """The first `k` of a set."""

    op: Literal["limit"]
    of: str
    k: int = Field(ge=1)


PlanStep: TypeAlias = FindStep | CypherStep | MatchStep | CombineStep | FilterStep | OrderStep | LimitStep
KINDS: Mapping[str, type[PlanStep]] = {
    op: kind for kind in get_args(PlanStep) for op in get_args(kind.model_fields["op"].annotation)
}
_PAPER_KINDS = ("vector_search", "cypher")


class SparkPlan(Record):
    """What the model writes. Systems of this kind run generated code; this is data, and cannot do more than it says."""

    version: Literal[1] = 1
    steps: tuple[Annotated[PlanStep, Field(discriminator="op")], ...]
    answer: str
    """The set whose nodes are the result, in its own order if a step made one, else ranked by the question."""
    give: Given = "nodes"
    """What is asked for: the nodes, how many there are, or whether there is any."""


def reads(step: PlanStep) -> tuple[str, ...]:
    """Return the names of the sets, nodes or types that a step begins with."""
    if isinstance(step, CypherStep):
        return tuple(sorted(_statement(step.query).parameters))
    if isinstance(step, MatchStep):
        return (step.start,)
    if isinstance(step, CombineStep):
        return step.of
    return () if step.of is None else (step.of,)


def needed(plan: SparkPlan) -> tuple[PlanStep, ...]:
    """Return the steps that the answer comes from, in order."""
    wanted, steps = {plan.answer}, list[PlanStep]()
    for step in reversed(plan.steps):
        if step.into in wanted:
            steps.append(step)
            wanted.update(reads(step))
    return tuple(reversed(steps))


def step_json(step: PlanStep) -> dict[str, Any]:
    """Return a step as a prompt shows it, default values left out."""
    values = step.model_dump(mode="json", exclude_defaults=True)
    arguments = {name: value for name, value in values.items() if name not in ("op", "into")}
    return {"op": step.op, **arguments, "into": step.into}


def in_words(step: PlanStep) -> str:
    """Return a step in a few words, for a hit's reason."""
    if isinstance(step, MatchStep):
        return f"match {', '.join(step.edge_types) or 'any edge'}"
    if isinstance(step, FilterStep):
        return f"filter {step.property} {step.comparison} {str(step.value)[:40]}"
    if isinstance(step, OrderStep):
        return f"order by {' of '.join(filter(None, (step.aggregate, step.property)))}"
    return step.op


_TEXT: dict[str, Any] = {"type": ["string", "null"]}
_TEXTS: dict[str, Any] = {"type": ["array", "null"], "items": {"type": "string"}}
_NUMBER: dict[str, Any] = {"type": ["integer", "null"]}


def _schema(kinds: Iterable[str], *, is_paper: bool = False) -> dict[str, Any]:
    """Return the schema of a plan: flat, so that every server can enforce it. Operations are checked afterwards."""
    ours = {
        "start": _TEXT,
        "of": {"type": ["string", "array", "null"], "items": {"type": "string"}},
        "edge_types": _TEXTS,
        "direction": {"enum": ["out", "in", None]},
        "property": _TEXT,
        "comparison": {"enum": [*COMPARISONS, None]},
        "value": {"type": ["string", "number", "boolean", "null"]},
        "aggregate": {"enum": [*AGGREGATES, None]},
        "descending": {"type": ["boolean", "null"]},
    }
    step: dict[str, JsonSchema] = {
        "op": {"enum": list(kinds)},
        "into": {"type": "string"},
        "query": {"type": "string"} if is_paper else _TEXT,
        "node_types": _TEXTS,
        "k": _NUMBER,
        **({} if is_paper else ours),
    }
    optional = [name for name in step if name not in ("op", "into", *["query"] * is_paper)]
    steps = object_of(step, optional=optional)
    plan: dict[str, JsonSchema] = {
        "steps": {"type": "array", "minItems": 1, "maxItems": MOST_STEPS, "items": steps},
        "answer": {"type": "string"},
        **({} if is_paper else {"version": _NUMBER, "give": {"enum": [*get_args(Given), None]}}),
    }
    return object_of(plan, optional=["version", "give"])


SCHEMA = _schema(KINDS)
PAPER_SCHEMA = _schema(_PAPER_KINDS, is_paper=True)


# A plan checked against the graph's schema before any of it runs: near forms are taken, impossible steps reported.


ErrorKind: TypeAlias = Literal["plan", "constraint", "structure", "semantic", "over-retrieval"]
"""What went wrong: the form of the plan, or one of the paper's kinds of error that a program can tell (table 7)."""
Types: TypeAlias = frozenset[str]
_LONGEST_SET = 60  # characters of a set's name
_LISTED = 6
_ALIKE = 0.75


class PlanFault(NamedTuple):
    """What is wrong with a plan."""

    kind: ErrorKind
    text: str


class CheckedPlan(NamedTuple):
    """A plan as it can run, or what is wrong with it."""

    plan: SparkPlan | None
    faults: tuple[PlanFault, ...] = ()
    notes: tuple[str, ...] = ()
    """What was read otherwise than it was written."""


class Refused(Exception):
    """A step that cannot run, or has come to nothing."""

    def __init__(self, kind: ErrorKind, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class TypedHop(NamedTuple):
    """A step along edges as the schema has it: which way, and the node types that it leads to."""

    direction: Direction | None
    types: Types


def meaning(graph: Graph, name: str, sets: Iterable[str]) -> Literal["set", "type", "node"] | None:
    """Return the meaning of a name in a step: a set of the plan, else a node type, else nodes of that name."""
    if name in sets:
        return "set"
    try:
        graph.arrays.types.node_numbers([name])
    except UnknownType:
        if name.strip() and graph.arrays.candidates(name):
            return "node"
        words = graph.schema.also_called
        aliases = (alias for node_type in graph.schema.node_types for alias in words.get(node_type, ()))
        return "type" if name.casefold() in map(str.casefold, aliases) else None
    return "type"


def check(
    graph: Graph,
    plan: Mapping[str, Any],  # Any: JSON that fits `plan.SCHEMA`
    *,
    offers_cypher: bool = True,
) -> CheckedPlan:
    """Return the plan with its types resolved, or everything that is wrong with it."""
    checker = _Checker(graph, {str(step["into"]) for step in plan["steps"]}, offers_cypher=offers_cypher)
    steps, faults = list[PlanStep](), list[PlanFault]()
    for number, step in enumerate(plan["steps"], 1):
        try:
            steps.append(checker.step(step))
        except Refused as refused:
            faults.append(PlanFault(refused.kind, f"step {number} ({step['op']}): {refused}"))
            checker.sets.setdefault(str(step["into"]), None)  # what reads it is not at fault
    answer = plan["answer"]
    if answer not in checker.sets:
        near = nearest(answer, checker.sets, most=1)
        if not near:
            sets = ", ".join(checker.sets)
            faults.append(PlanFault("plan", f"the answer {answer[:80]!r} is no set of the plan; there are {sets}"))
        else:
            checker.notes.append(f"the answer {answer[:80]!r} is read as {near[0]!r}")
            answer = near[0]
    if faults:
        return CheckedPlan(None, tuple(faults), tuple(checker.notes))
    give: Given = plan.get("give") or "nodes"
    return CheckedPlan(SparkPlan(steps=tuple(steps), answer=answer, give=give), (), tuple(checker.notes))


class _Checker:
    """Checks one plan's steps in turn, and keeps which node types each set may hold."""

    def __init__(self, graph: Graph, planned: Set[str], *, offers_cypher: bool) -> None:
        self._planned = planned
        self._graph, self._session, self._offers_cypher = graph, Session(graph), offers_cypher
        self.sets: dict[str, Types | None] = {}
        """Node types by set; None if they are not known."""
        self.notes: list[str] = []

    def step(self, written: Mapping[str, Any]) -> PlanStep:
        """Return a step as it can run. Raises `Refused`."""
        step = _read(written)
        name = step.into
        if not name.strip() or len(name) > _LONGEST_SET:
            raise Refused("plan", f"`into` must name a set in 1 to {_LONGEST_SET} characters")
        if name in self.sets:
            raise Refused("plan", f"there is a set {name!r} already: take another name")
        try:
            step, types = self._checked(step)
        except UnknownType as error:
            raise Refused("structure", str(error)) from error
        except UnknownProperty as error:
            raise Refused("constraint", str(error)) from error
        except Error as error:
            raise Refused("plan", str(error)) from error
        self.sets[name] = types
        return step

    def _checked(self, step: PlanStep) -> tuple[PlanStep, Types | None]:
        starts = [self._types_of(name) for name in reads(step)]
        if isinstance(step, FindStep):
            return self._find(step, starts)
        if isinstance(step, CypherStep):
            if not self._offers_cypher:
                raise Refused("plan", "there is no cypher here: use match, intersect, filter and order")
            Cypher(self._graph).check(step.query, {name: [] for name in reads(step)})
            return step, None
        if isinstance(step, MatchStep):
            edges, types = self._edge_types(step.edge_types), self._node_types(step.node_types)
            hop = self._hop(starts[0], edges, types, step.direction)
            resolved = {"edge_types": edges, "node_types": types, "direction": hop.direction}
            return step.model_copy(update=resolved), hop.types
        if isinstance(step, CombineStep):
            return step, self._combined(step, starts)
        if isinstance(step, FilterStep):
            if step.comparison in ORDERED and math.isnan(quantity(step.value)):
                wants = f"{step.value!r} is no number, date or price: {step.comparison} needs one"
                raise Refused("constraint", wants)
            return step.model_copy(update={"property": self._property(step.property, starts[0])}), starts[0]
        if isinstance(step, OrderStep):
            return self._order(step, starts[0]), starts[0]
        return step, starts[0]

    def _types_of(self, name: str) -> Types | None:
        """Return the node types that a reference may hold. Raises `Refused` if it means nothing."""
        graph = self._graph
        if name in self._planned and name not in self.sets:
            raise Refused("plan", f"the set {name!r} is not made before it: put the step that makes it first")
        kind = meaning(graph, name, self.sets)
        if kind == "set":
            return self.sets[name]
        if kind == "type":
            return frozenset(self._node_types([name]))
        if kind == "node":
            return frozenset(graph.arrays.type_at(row) for row in graph.arrays.candidates(name))
        names = nearest(name, (*self.sets, *graph.schema.node_types), most=3)
        near = list(dict.fromkeys([*names, *graph.arrays.near_names(name, most=3)]))
        hint = f" Near: {', '.join(near)}." if near else ""
        sets = f"sets made before it: {', '.join(self.sets)}" if self.sets else "no set is made before it"
        raise Refused("semantic", f"{name[:80]!r} is no set, node type or name of a node here; {sets}.{hint}")

    def _find(self, step: FindStep, starts: Sequence[Types | None]) -> tuple[PlanStep, Types | None]:
        if not step.query.strip():
            raise Refused("plan", "the query is empty")
        if step.of is not None and step.of not in self.sets:
            raise Refused("plan", f"{step.of[:80]!r} is no set: to search nodes of a type, give node_types")
        types = frozenset(self._node_types(step.node_types)) or None
        most = max(1, min(step.k, LARGEST_K))
        if most != step.k:
            self.notes.append(f"k of {step.into!r} is {step.k}: read as {most}")
        return step.model_copy(update={"node_types": tuple(types or ()), "k": most}), self._common([types, *starts])

    def _combined(self, step: CombineStep, types: Sequence[Types | None]) -> Types | None:
        if step.op == "difference":
            return types[0]
        if step.op == "intersect":
            return self._common(types)
        known = [names for names in types if names is not None]
        return frozenset[str]().union(*known) if len(known) == len(types) else None

    def _common(self, types: Sequence[Types | None]) -> Types | None:
        """Return the types common to all of these, or None if they are unknown. Raises `Refused`."""
        bounds = [names for names in types if names is not None]
        if not bounds:
            return None
        common = frozenset.intersection(*bounds)
        if not common:
            shown = " and ".join(", ".join(sorted(names)) for names in bounds)
            raise Refused("structure", f"nothing is of the types {shown} at once")
        return common

    def _order(self, step: OrderStep, types: Types | None) -> PlanStep:
        if step.aggregate is None:
            if step.property is None:
                raise Refused("plan", "order needs `property`, `aggregate`, or both")
            if step.edge_types or step.node_types or step.direction:
                raise Refused("plan", "edge_types, node_types and direction go with an `aggregate` only")
            return step.model_copy(update={"property": self._property(step.property, types)})
        if step.property is None and step.aggregate != "count":
            raise Refused("plan", f"the aggregate {step.aggregate!r} needs a `property` of the neighbours")
        edges, around = self._edge_types(step.edge_types), self._node_types(step.node_types)
        hop = self._hop(types, edges, around, step.direction)
        name = None if step.property is None else self._property(step.property, hop.types)
        resolved = {"edge_types": edges, "node_types": around, "direction": hop.direction, "property": name}
        return step.model_copy(update=resolved)

    def _property(self, name: str, types: Types | None) -> str:
        """Return a property that some of these node types have. Raises `UnknownProperty`, `Refused`."""
        graph = self._graph
        try:
            meant = property_of(graph, name)
        except UnknownProperty as error:
            if not error.near or letter_likeness(name, error.near[0]) < _ALIKE:
                raise
            meant = error.near[0]
        if meant != name:
            self.notes.append(f"the property {name!r} is read as {meant!r}")
        having = types_with(graph, meant)
        if types is not None and not types & having:
            raise Refused(
                "constraint",
                f"no {' or '.join(sorted(types)[:_LISTED])} has {meant!r}; of {', '.join(sorted(having)[:_LISTED])}",
            )
        return meant

    def _node_types(self, names: Sequence[str]) -> tuple[str, ...]:
        types = self._graph.arrays.types
        read = self._session.node_types([name for name in names if name.strip()], self.notes)
        return tuple(types.nodes[number] for number in types.node_numbers(read))

    def _edge_types(self, names: Sequence[str]) -> tuple[str, ...]:
        types = self._graph.arrays.types
        read = self._session.edge_types([name for name in names if name.strip()], self.notes)
        return tuple(types.edges[number] for number in types.edge_numbers(read))

    def _hop(
        self, starts: Types | None, edges: Sequence[str], ends: Sequence[str], direction: Direction | None
    ) -> TypedHop:
        """Return the end of edges from nodes of some types, turned if they point the other way."""
        if types := self._reached(starts, edges, ends, direction):
            return TypedHop(direction, types)
        if direction is not None and (types := self._reached(starts, edges, ends, None)):
            self.notes.append(f"structure: {', '.join(edges) or 'edges'} ({direction}) are walked the other way")
            return TypedHop(None, types)
        edge = f"edge of type {', '.join(edges)}" if edges else "edge"
        to = f" to {' or '.join(ends)}" if ends else ""
        start = " or ".join(sorted(starts)[:_LISTED]) if starts is not None else "any node"
        raise Refused("structure", f"no {edge} leads from {start}{to}. {self._ways(starts)}")

    def _reached(
        self, starts: Types | None, edges: Sequence[str], ends: Sequence[str], direction: Direction | None
    ) -> Types:
        schema, types = self._graph.schema, set[str]()
        for triple in schema.edges:
            if edges and triple.type not in edges:
                continue
            either = direction is None or triple.type in schema.symmetric
            if (either or direction == "out") and (starts is None or triple.source in starts):
                types.add(triple.target)
            if (either or direction == "in") and (starts is None or triple.target in starts):
                types.add(triple.source)
        return frozenset(types & set(ends)) if ends else frozenset(types)

    def _ways(self, starts: Types | None) -> str:
        schema, ways = self._graph.schema, dict[str, None]()
        for triple in triples_by_size(self._graph):
            if starts is None or {triple.source, triple.target} & starts:
                ways[f"{triple.source} {arrow(schema.label(triple.type), 'out')} {triple.target}"] = None
        more = ", ..." if len(ways) > _LISTED else ""
        return f"There are: {', '.join(list(ways)[:_LISTED])}{more}" if ways else "It has no edges."


def types_with(graph: Graph, name: str) -> Types:
    """Return the node types whose nodes, or some of them, have a property."""
    if name not in graph.arrays.properties.names:
        return frozenset(graph.schema.node_types)  # every node has a name and a text
    return graph.arrays.types_with(name)


def walks(step: PlanStep) -> bool:
    """Return whether a step follows edges that the plan names: SAGE's policy `-Edge` asks this."""
    if isinstance(step, CypherStep):
        from orienteer.cypher.syntax import EdgePattern  # plans without Cypher need not load it
        from orienteer.query.expressions import parts

        return any(parts(_statement(step.query), EdgePattern))
    return isinstance(step, MatchStep) or (isinstance(step, OrderStep) and step.aggregate is not None)


def puts_in_order(step: PlanStep) -> bool:
    """Return whether a step orders its set; no ranking may change the plan's own order."""
    if isinstance(step, CypherStep):
        return bool(_statement(step.query).queries[-1][-1].order)
    return isinstance(step, OrderStep)


@lru_cache(maxsize=64)
def _statement(text: str) -> Any:  # Any: a statement of a part that need not be loaded
    from orienteer.cypher.parser import parse

    return parse(text)


def _read(written: Mapping[str, Any]) -> PlanStep:
    """Return a step as its operation has it. Raises `Refused`."""
    kind = KINDS[written["op"]]
    fields = kind.model_fields
    values = {name: value for name, value in written.items() if value not in (None, "", [])}
    if strange := sorted(set(values) - set(fields)):
        takes = ", ".join(name for name in fields if name not in ("op", "into"))
        raise Refused("plan", f"{', '.join(strange)} cannot stand here: it takes {takes}")
    if lacking := [name for name, field in fields.items() if field.is_required() and name not in values]:
        raise Refused("plan", f"{', '.join(lacking)} is missing")
    if isinstance(values.get("of"), str) and kind is CombineStep:
        raise Refused("plan", "`of` must list two sets or more")
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise Refused("plan", f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def property_of(graph: Graph, name: str) -> str:
    """Return a property by its name, whatever its case and punctuation. Raises `UnknownProperty` with near names."""
    names: Sequence[str] = (*graph.arrays.properties.names, *_OWN)
    if name in names:
        return name

    def bare(written: str) -> str:
        return "".join(letter for letter in written.casefold() if letter.isalnum())

    same = [other for other in names if bare(other) == bare(name)]
    if len(same) == 1:
        return same[0]
    near = nearest(name, names)
    hint = f" Near: {', '.join(near)}." if near else ""
    raise UnknownProperty(f"No node has a property {name[:200]!r}.{hint} In this graph: {', '.join(names[:40])}.", near)
