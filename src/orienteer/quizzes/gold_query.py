"""A plan as Cypher: the gold query, its nodes as parameters, that ends in the form which `proving` takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from orienteer.evaluation.examples import AnswerType
from orienteer.graph.store import Graph
from orienteer.quizzes.plan import Plan
from orienteer.quizzes.proof import FORMS
from orienteer.quizzes.questions.gold import arrow, escaped
from orienteer.records import JsonValue


class Query(NamedTuple):
    """A statement with its parameters."""

    text: str
    parameters: dict[str, JsonValue]


class _Given(NamedTuple):
    """How a query says a node's id, and the node's type."""

    id: str
    type: str


def gold_query(graph: Graph, plan: Plan, answer_type: AnswerType) -> Query:
    """Return the Cypher that proves the answer of a plan.

    Where a node is described, the query also says that no other one fits: were there two, nothing would answer.
    """
    parameters = {f"node{number}": graph.ids[row] for number, row in enumerate(plan.named, 1)}
    given = [_Given(f"${name}", graph.type_at(row)) for name, row in zip(parameters, plan.named, strict=True)]
    if plan.first is None:
        paths, apart = _paths(plan, "x", given, given)
    else:
        named, own = given[: len(plan.first.named)], given[len(plan.first.named) :]
        found = _Given("first.id", plan.conditions[0].steps[0].start)
        paths, apart = _paths(plan.first, "first", named, named)
        others, parted = _paths(plan.first, "other", named, named)
        alone = " AND ".join([*parted, "other.id <> first.id"])
        onward, further = _paths(plan, "x", [found, *own], [found, *given])
        paths, apart = [*paths, *onward], [*apart, *further]
        apart.append(f"NOT EXISTS {{ MATCH {', '.join(others)} WHERE {alone} }}")
    # One MATCH each: within one, an edge would not be walked twice.
    matches = " ".join(f"MATCH {path}" for path in paths)
    where = f" WHERE {' AND '.join(dict.fromkeys(apart))}" if apart else ""
    return Query(f"{matches}{where} {FORMS[answer_type]}", dict(parameters))


def _paths(
    stage: Plan, unknown: str, anchors: Sequence[_Given], given: Sequence[_Given]
) -> tuple[list[str], list[str]]:
    """Return a path a condition to what is unknown, and what says that no node comes twice.

    `anchors` are what the conditions start from, and after them a target; `given` is all that no walk may come to. Only
    nodes of one type are told apart: others cannot be the same.
    """
    target = None if stage.target is None else anchors[-1]
    paths, apart = list[str](), list[str]()
    for number, (condition, anchor) in enumerate(zip(stage.conditions, anchors, strict=False), 1):
        start = "(first)" if anchor.id == "first.id" else f"(:{escaped(anchor.type)} {{id: {anchor.id}}})"
        names = [f"{unknown}{number}_{hop}" for hop in range(1, len(condition.steps))] + [unknown]
        nodes = [_Given(f"{name}.id", step.end) for name, step in zip(names, condition.steps, strict=True)]
        path = start
        for step, name in zip(condition.steps, names, strict=True):
            path += f"{arrow(step)}({name}:{escaped(step.end)})"
        paths.append(path)
        others = [(node, one) for node in nodes for one in given if (node, one) != (nodes[-1], target)]
        others += [(one, other) for at, one in enumerate(nodes) for other in nodes[at + 1 :]]
        apart += [f"{one.id} <> {other.id}" for one, other in others if one.type == other.type]
    return paths, apart if target is None else [*apart, f"{unknown}.id = {target.id}"]
