"""A plan as Cypher: the gold query that proves its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from orienteer.evaluation.examples import AnswerType
from orienteer.graph.store import Graph
from orienteer.quizzes.plan import EdgeStep, QuestionPlan
from orienteer.quizzes.proof import FORMS
from orienteer.records import JsonValue


class GoldQuery(NamedTuple):
    """A statement with its parameters."""

    text: str
    parameters: dict[str, JsonValue]


class _Node(NamedTuple):
    """How a query says a node's id, and the node's type."""

    id: str
    type: str


def gold_query(graph: Graph, plan: QuestionPlan, answer_type: AnswerType) -> GoldQuery:
    """Return the Cypher that proves the answer of a plan, its nodes as parameters, in the form that `prove` takes.

    Where a node is described, the query also says that no other one fits: were there two, nothing would answer.
    """
    parameters = {f"node{number}": graph.ids[row] for number, row in enumerate(plan.named, 1)}
    given = [_Node(f"${name}", graph.type_at(row)) for name, row in zip(parameters, plan.named, strict=True)]
    if plan.first is None:
        paths, apart = _paths(plan, "x", given, given)
    else:
        named, own = given[: len(plan.first.named)], given[len(plan.first.named) :]
        first = _Node("first.id", plan.conditions[0].steps[0].start)
        paths, apart = _paths(plan.first, "first", named, named)
        others, parted = _paths(plan.first, "other", named, named)
        alone = " AND ".join([*parted, "other.id <> first.id"])
        onward, further = _paths(plan, "x", [first, *own], [first, *given])
        paths, apart = [*paths, *onward], [*apart, *further]
        apart.append(f"NOT EXISTS {{ MATCH {', '.join(others)} WHERE {alone} }}")
    return GoldQuery(_statement(paths, list(dict.fromkeys(apart)), FORMS[answer_type]), dict(parameters))


def literal_query(graph: Graph, plan: QuestionPlan) -> str:
    """Return Cypher that gives back the ids of the answers of a plan without a `first` and a `target`, ids as literals.

    A constraint on a property is a part of the query. One on words is not, for a query engine has no terms: then the
    query gives the nodes among which the constraint decides.
    """
    paths, apart = list[str](), list[str]()
    for number, condition in enumerate(plan.conditions, 1):
        names = [f"a{number}", *(f"m{number}_{hop}" for hop in range(1, len(condition.steps))), "x"]
        anchor = f"{{id: {_text(graph.ids[condition.anchor])}}}"
        paths.append(_path(f"({names[0]}:{_escaped(condition.steps[0].start)} {anchor})", names[1:], condition.steps))
        apart += [f"{name}.id <> {other}.id" for at, name in enumerate(names) for other in names[at + 1 :]]
    if plan.constraint is not None and plan.constraint.property is not None:
        value = _text(plan.constraint.phrase.lower())
        apart.append(f"toLower(toString(x.{_escaped(plan.constraint.property)})) = {value}")
    return _statement(paths, apart, "RETURN DISTINCT x.id")


def _statement(paths: Sequence[str], conditions: Sequence[str], ending: str) -> str:
    # One MATCH each: within one, an edge would not be walked twice.
    matches = " ".join(f"MATCH {path}" for path in paths)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"{matches}{where} {ending}"


def _paths(
    plan: QuestionPlan, unknown: str, anchors: Sequence[_Node], given: Sequence[_Node]
) -> tuple[list[str], list[str]]:
    """Return a path a condition to what is unknown, and what says that no node comes twice.

    `anchors` are what the conditions start from, and after them a target; `given` is all that no walk may come to. Only
    nodes of one type are told apart: others cannot be the same.
    """
    target = None if plan.target is None else anchors[-1]
    paths, apart = list[str](), list[str]()
    for number, (condition, anchor) in enumerate(zip(plan.conditions, anchors, strict=False), 1):
        start = "(first)" if anchor.id == "first.id" else f"(:{_escaped(anchor.type)} {{id: {anchor.id}}})"
        names = [f"{unknown}{number}_{hop}" for hop in range(1, len(condition.steps))] + [unknown]
        nodes = [_Node(f"{name}.id", step.end) for name, step in zip(names, condition.steps, strict=True)]
        paths.append(_path(start, names, condition.steps))
        pairs = [(node, other) for node in nodes for other in given if (node, other) != (nodes[-1], target)]
        pairs += [(node, other) for at, node in enumerate(nodes) for other in nodes[at + 1 :]]
        apart += [f"{node.id} <> {other.id}" for node, other in pairs if node.type == other.type]
    return paths, apart if target is None else [*apart, f"{unknown}.id = {target.id}"]


def _path(start: str, names: Sequence[str], steps: Sequence[EdgeStep]) -> str:
    """Return a pattern from a node along steps, the nodes that they lead to named."""
    hops = zip(names, steps, strict=True)
    return start + "".join(f"{_arrow(step)}({name}:{_escaped(step.end)})" for name, step in hops)


def _arrow(step: EdgeStep) -> str:
    edge = f"[:{_escaped(step.edge_type)}]" if step.edge_type is not None else ""
    if step.edge_type is None or step.is_forward is None:
        return f"-{edge}-"
    return f"-{edge}->" if step.is_forward else f"<-{edge}-"


def _escaped(name: str) -> str:
    """Return the name of a type or a property as Cypher takes any."""
    return "`" + name.replace("`", "``") + "`"


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
