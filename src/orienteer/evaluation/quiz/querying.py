"""A plan as Cypher: the gold query, its nodes as parameters, that ends in the form which `proving` takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from orienteer.evaluation.examples import AnswerType
from orienteer.evaluation.questions.gold import arrow, escaped
from orienteer.evaluation.quiz.plan import Plan
from orienteer.evaluation.quiz.proving import FORMS
from orienteer.graph.store import Graph
from orienteer.records import JsonValue


class Query(NamedTuple):
    """A statement with its parameters."""

    text: str
    parameters: dict[str, JsonValue]


def gold_query(graph: Graph, plan: Plan, answer_type: AnswerType) -> Query:
    """Return the Cypher that proves the answer of a plan.

    Where a node is described, the query also says that no other one fits: were there two, nothing would answer.
    """
    parameters = {f"node{number}": graph.ids[row] for number, row in enumerate(plan.named, 1)}
    given = [f"${name}" for name in parameters]
    if plan.first is None:
        paths, apart = _paths(plan, "x", given, given)
    else:
        first, own = given[: len(plan.first.named)], given[len(plan.first.named) :]
        paths, apart = _paths(plan.first, "first", first, first)
        others, parted = _paths(plan.first, "other", first, first)
        alone = " AND ".join([*parted, "other.id <> first.id"])
        onward, further = _paths(plan, "x", ["first.id", *own], ["first.id", *given])
        paths, apart = [*paths, *onward], [*apart, *further]
        apart.append(f"NOT EXISTS {{ MATCH {', '.join(others)} WHERE {alone} }}")
    # One MATCH each: within one, an edge would not be walked twice.
    matches = " ".join(f"MATCH {path}" for path in paths)
    where = f" WHERE {' AND '.join(dict.fromkeys(apart))}" if apart else ""
    return Query(f"{matches}{where} {FORMS[answer_type]}", dict(parameters))


def _paths(stage: Plan, unknown: str, anchors: Sequence[str], given: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return a path a condition to what is unknown, and what says that no node comes twice.

    `anchors` are the ids that the conditions start from, and after them that of a target; `given` are all that no walk
    may come to.
    """
    target = None if stage.target is None else anchors[-1]
    paths, apart = list[str](), list[str]()
    for number, (condition, anchor) in enumerate(zip(stage.conditions, anchors, strict=False), 1):
        start = "(first)" if anchor == "first.id" else f"(:{escaped(condition.steps[0].start)} {{id: {anchor}}})"
        middles = [f"{unknown}{number}_{hop}" for hop in range(1, len(condition.steps))]
        nodes = [*middles, unknown]
        path = start
        for step, node in zip(condition.steps, nodes, strict=True):
            path += f"{arrow(step)}({node}:{escaped(step.end)})"
        paths.append(path)
        apart += [f"{node}.id <> {one}" for node in nodes for one in given if (node, one) != (unknown, target)]
        apart += [f"{one}.id <> {other}.id" for at, one in enumerate(nodes) for other in nodes[at + 1 :]]
    return paths, apart if target is None else [*apart, f"{unknown}.id = {target}"]
