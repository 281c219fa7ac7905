"""A plan as data: steps that make sets of nodes out of the graph and of one another, and the set that answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from orienteer.records import Direction, Record
from orienteer.tools.comparisons import Aggregate, Comparison
from orienteer.tools.select import AGGREGATES, COMPARISONS

MOST_STEPS = 16


class _Step(Record):
    into: str
    """The set that it makes."""


class Find(_Step):
    """The `k` nodes nearest to a text, by meaning or by words."""

    op: Literal["vector_search", "lexical_search"]
    query: str
    node_types: tuple[str, ...] = ()
    of: str | None = None
    """Search only in this set."""
    k: int = 20


class CypherStep(_Step):
    """The nodes in the first column of a read-only statement that holds any."""

    op: Literal["cypher"]
    query: str


class Match(_Step):
    """The nodes one edge away from a set, a node, or all nodes of a type."""

    op: Literal["match"]
    start: str
    edge_types: tuple[str, ...] = ()
    node_types: tuple[str, ...] = ()
    direction: Direction | None = None


class Intersect(_Step):
    """What several sets have in common, in the order of the first."""

    op: Literal["intersect"]
    of: tuple[str, ...] = Field(min_length=2)


class Filter(_Step):
    """Those of a set whose property is as wanted."""

    op: Literal["filter"]
    of: str
    property: str
    comparison: Comparison
    value: bool | int | float | str


class Order(_Step):
    """A set in order: of a property, or of what the distinct neighbours of each node come to."""

    op: Literal["order"]
    of: str
    property: str | None = None
    aggregate: Aggregate | None = None
    edge_types: tuple[str, ...] = ()
    node_types: tuple[str, ...] = ()
    direction: Direction | None = None
    descending: bool = True


class Limit(_Step):
    """The first `k` of a set."""

    op: Literal["limit"]
    of: str
    k: int = Field(ge=1)


Step: TypeAlias = Find | CypherStep | Match | Intersect | Filter | Order | Limit
KINDS: Mapping[str, type[Step]] = {
    "vector_search": Find,
    "lexical_search": Find,
    "cypher": CypherStep,
    "match": Match,
    "intersect": Intersect,
    "filter": Filter,
    "order": Order,
    "limit": Limit,
}


class Plan(Record):
    """What the model writes. Systems of this kind run generated code; this is data, and cannot do more than it says."""

    version: Literal[1] = 1
    steps: tuple[Annotated[Step, Field(discriminator="op")], ...]
    answer: str
    """The set whose nodes are the result: in its order where a step has put it in order, else as the question has."""


def reads(step: Step) -> tuple[str, ...]:
    """Return what a step begins with: sets, nodes or types by their names."""
    if isinstance(step, CypherStep):
        return ()
    if isinstance(step, Match):
        return (step.start,)
    if isinstance(step, Intersect):
        return step.of
    return () if step.of is None else (step.of,)


def needed(plan: Plan) -> tuple[Step, ...]:
    """Return the steps that the answer comes from, in order."""
    wanted, found = {plan.answer}, list[Step]()
    for step in reversed(plan.steps):
        if step.into in wanted:
            found.append(step)
            wanted.update(reads(step))
    return tuple(reversed(found))


def shown(step: Step) -> dict[str, Any]:
    """Return a step as a prompt shows it: what is as it would be anyway left out."""
    given = step.model_dump(mode="json", exclude_defaults=True)
    return {"op": step.op, **{name: value for name, value in given.items() if name not in ("op", "into")}} | {
        "into": step.into
    }


def told(step: Step) -> str:
    """Return a step in a few words, for a hit's reason."""
    if isinstance(step, Match):
        return f"match {', '.join(step.edge_types) or 'any edge'}"
    if isinstance(step, Filter):
        return f"filter {step.property} {step.comparison} {str(step.value)[:40]}"
    if isinstance(step, Order):
        return f"order by {' of '.join(filter(None, (step.aggregate, step.property)))}"
    return step.op


_TEXT: dict[str, Any] = {"type": ["string", "null"]}
_TEXTS: dict[str, Any] = {"type": ["array", "null"], "items": {"type": "string"}}
_NUMBER: dict[str, Any] = {"type": ["integer", "null"]}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "steps": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_STEPS,
            "items": {
                "type": "object",
                "properties": {
                    "op": {"enum": list(KINDS)},
                    "into": {"type": "string"},
                    "query": _TEXT,
                    "start": _TEXT,
                    "of": {"type": ["string", "array", "null"], "items": {"type": "string"}},
                    "node_types": _TEXTS,
                    "edge_types": _TEXTS,
                    "direction": {"enum": ["out", "in", None]},
                    "property": _TEXT,
                    "comparison": {"enum": [*COMPARISONS, None]},
                    "value": {"type": ["string", "number", "boolean", "null"]},
                    "aggregate": {"enum": [*AGGREGATES, None]},
                    "descending": {"type": ["boolean", "null"]},
                    "k": _NUMBER,
                },
                "required": ["op", "into"],
                "additionalProperties": False,
            },
        },
        "answer": {"type": "string"},
        "version": _NUMBER,
    },
    "required": ["steps", "answer"],
    "additionalProperties": False,
}
"""What the model is held to: flat, so that every server can keep it. What an operation takes is checked after."""
