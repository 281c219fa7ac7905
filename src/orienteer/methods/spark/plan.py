"""A plan as data: steps that make sets of nodes out of the graph and of one another, and the set that answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from orienteer.records import Direction, Record
from orienteer.tools.comparisons import Aggregate, Comparison
from orienteer.tools.select import AGGREGATES, COMPARISONS

MOST_STEPS = 16


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
    """The nodes in the first column of a read-only statement that holds any."""

    op: Literal["cypher"]
    query: str


class MatchStep(_PlanStep):
    """The nodes one edge away from a set, a node, or all nodes of a type."""

    op: Literal["match"]
    start: str
    edge_types: tuple[str, ...] = ()
    node_types: tuple[str, ...] = ()
    direction: Direction | None = None


class IntersectStep(_PlanStep):
    """What several sets have in common, in the order of the first."""

    op: Literal["intersect"]
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


PlanStep: TypeAlias = FindStep | CypherStep | MatchStep | IntersectStep | FilterStep | OrderStep | LimitStep
KINDS: Mapping[str, type[PlanStep]] = {
    "vector_search": FindStep,
    "lexical_search": FindStep,
    "cypher": CypherStep,
    "match": MatchStep,
    "intersect": IntersectStep,
    "filter": FilterStep,
    "order": OrderStep,
    "limit": LimitStep,
}


class SparkPlan(Record):
    """What the model writes. Systems of this kind run generated code; this is data, and cannot do more than it says."""

    version: Literal[1] = 1
    steps: tuple[Annotated[PlanStep, Field(discriminator="op")], ...]
    answer: str
    """The set whose nodes are the result, in its own order where a step made one, else ranked by the question."""


def reads(step: PlanStep) -> tuple[str, ...]:
    """Return the names of the sets, nodes or types that a step begins with."""
    if isinstance(step, CypherStep):
        return ()
    if isinstance(step, MatchStep):
        return (step.start,)
    if isinstance(step, IntersectStep):
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


def shown(step: PlanStep) -> dict[str, Any]:
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
"""The schema of a plan: flat, so that every server can enforce it. Arguments of operations are checked afterwards."""
