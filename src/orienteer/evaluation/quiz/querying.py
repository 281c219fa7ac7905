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

    A described node is counted before it is gone on from: where several fit, nothing answers.
    """
    parts, parameters = list[str](), dict[str, JsonValue]()
    given = list[str]()
    for stage, unknown in _stages(plan):
        told = stage.first is None
        starts = _starts(stage, told=told, taken=len(parameters))
        for name, row in starts:
            parameters[name] = graph.ids[row]
        given += [f"${name}" for name, _ in starts]
        paths, apart = _paths(stage, unknown, [name for name, _ in starts], given, told=told)
        parts += [*paths, *([f"WHERE {' AND '.join(apart)}"] if apart else [])]
        if stage is not plan:
            # Counted on the way: the one node that is described, or none at all.
            parts.append(
                f"WITH collect(DISTINCT {unknown}) AS firsts WHERE size(firsts) = 1 UNWIND firsts AS {unknown}"
            )
            given.append(f"{unknown}.id")
    return Query(" ".join([*parts, FORMS[answer_type]]), parameters)


def _stages(plan: Plan) -> list[tuple[Plan, str]]:
    return [(plan, "x")] if plan.first is None else [(plan.first, "first"), (plan, "x")]


def _starts(stage: Plan, *, told: bool, taken: int) -> list[tuple[str, int]]:
    """Return the parameters of the nodes that a stage names, with their rows."""
    rows = [condition.anchor for condition in stage.conditions][0 if told else 1 :]
    rows += [] if stage.target is None else [stage.target]
    return [(f"node{number}", row) for number, row in enumerate(rows, taken + 1)]


def _paths(
    stage: Plan, unknown: str, names: Sequence[str], given: Sequence[str], *, told: bool
) -> tuple[list[str], list[str]]:
    """Return a MATCH a condition, and what says that no node comes twice."""
    paths, apart = list[str](), list[str]()
    for number, condition in enumerate(stage.conditions):
        if not told and number == 0:
            path, anchor = "(first)", "first.id"
        else:
            anchor = "$" + names[number if told else number - 1]
            path = f"(:{escaped(condition.steps[0].start)} {{id: {anchor}}})"
        middles = [f"{unknown}{number + 1}_{hop}" for hop in range(1, len(condition.steps))]
        for step, node in zip(condition.steps, [*middles, unknown], strict=True):
            path += f"{arrow(step)}({node}:{escaped(step.end)}{_only(stage, node, unknown, names)})"
        paths.append(f"MATCH {path}")
        others = [one for one in given if one != anchor]
        nodes = middles if stage.target is not None else [*middles, unknown]
        apart += [f"{node}.id <> {one}" for node in nodes for one in (anchor, *others)]
        apart += [
            f"{one}.id <> {other}.id" for at, one in enumerate(middles) for other in [*middles, unknown][at + 1 :]
        ]
    return paths, list(dict.fromkeys(apart))


def _only(stage: Plan, node: str, unknown: str, names: Sequence[str]) -> str:
    return f" {{id: ${names[-1]}}}" if stage.target is not None and node == unknown else ""
