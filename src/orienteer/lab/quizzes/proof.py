"""A plan as Cypher, the gold query; and what a gold query proves when it is run. GraphScout (003), appendix B.3.3.

The query of an item has one form an answer type, and gives one row:

- `entity`, `set`: `RETURN count(DISTINCT x) AS number, collect(DISTINCT x.id) AS ids`: the size is counted, never read
  off a list that may have been cut.
- `boolean`: `RETURN count(DISTINCT x) AS number`, with a witness beside it where there is one: `min(x.id) AS witness`.
  It is true where the count is above 0.
- `number`: one aggregate, `RETURN count(DISTINCT x) AS number`.

`LIMIT` stands in none of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from orienteer.cypher.session import Cypher
from orienteer.cypher.table import QueryTable
from orienteer.cypher.tokens import tokenize
from orienteer.errors import BadOption, BadQuery, QueryStopped, Unknown
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.examples import AnswerType
from orienteer.lab.quizzes.gold import MOST_IN_SET
from orienteer.lab.quizzes.plan import EdgeStep, QuestionPlan
from orienteer.records import JsonValue

SECONDS = 30.0
"""A gold query that takes longer proves nothing."""
FORMS: Mapping[AnswerType, str] = {
    "entity": "RETURN count(DISTINCT x) AS number, collect(DISTINCT x.id) AS ids",
    "set": "RETURN count(DISTINCT x) AS number, collect(DISTINCT x.id) AS ids",
    "boolean": "RETURN count(DISTINCT x) AS number, min(x.id) AS witness",
    "number": "RETURN count(DISTINCT x) AS number",
}
"""How the query of each answer type ends."""
_AGGREGATES = frozenset({"count", "sum", "avg", "min", "max"})


class Fault(NamedTuple):
    """Why an item is not kept."""

    reason: str
    """One of `checks.REASONS`."""
    detail: str
    """What is wrong with this item, for whoever may mend it."""


class Proof(NamedTuple):
    """The result of a gold query that was run again."""

    number: int | float
    """The count or other aggregate; of an entity or a set, its size."""
    nodes: tuple[str, ...] = ()
    """The ids of an entity or a set, ascending."""
    witness: str | None = None
    """The node that a boolean's query names."""

    def answers(self, graph: Graph, answer_type: AnswerType) -> tuple[str, ...]:
        """Return the answers as an item holds them: names of a set, an entity's name and aliases, else the value."""
        if answer_type == "boolean":
            return (str(self.number > 0),)
        if answer_type == "number":
            return (str(self.number) if isinstance(self.number, int) else f"{self.number:.12g}",)
        rows = [graph.arrays.row(node) for node in self.nodes]
        if answer_type == "entity":
            return tuple(
                dict.fromkeys(name for row in rows for name in (graph.arrays.names[row], *graph.arrays.aliases_at(row)))
            )
        return tuple(dict.fromkeys(graph.arrays.names[row] for row in rows))


def prove(graph: Graph, answer_type: AnswerType, query: str, parameters: Mapping[str, JsonValue]) -> Proof | Fault:
    """Run a gold query and return what it proves, or why it proves nothing. Raises `MissingExtra` without Cypher."""
    try:
        words = [token.value.lower() for token in tokenize(query) if token.kind == "word"]
        if "limit" in words:
            return Fault("unproved", "the gold query has a LIMIT, which makes a count a guess: leave it out")
        table = _query(graph, query, parameters)
    except (BadOption, BadQuery, QueryStopped, Unknown) as error:
        return Fault("unproved", f"the gold query fails: {error}")
    if table.total != 1 or not table.rows:
        return Fault("unproved", f"the gold query gives {table.total} rows: it must give one, {FORMS[answer_type]}")
    if _AGGREGATES.isdisjoint(words):
        return Fault("unproved", f"the gold query aggregates nothing: let it end in {FORMS[answer_type]}")
    if answer_type in ("entity", "set"):
        return _of_nodes(graph, answer_type, table.rows[0])
    return _of_number(answer_type, table.rows[0])


def _query(graph: Graph, query: str, parameters: Mapping[str, JsonValue]) -> QueryTable:
    """Return the rows of a query; one that was stopped runs once more, in a fresh engine.

    Memory that earlier queries have left occupied may stop a query, and no item may depend on that.
    """
    try:
        return Cypher(graph).query(query, parameters, limit=2, seconds=SECONDS)
    except QueryStopped:
        Cypher(graph).close()
        return Cypher(graph).query(query, parameters, limit=2, seconds=SECONDS)


def _of_number(answer_type: AnswerType, row: tuple[JsonValue, ...]) -> Proof | Fault:
    number = row[0]
    if isinstance(number, bool) or not isinstance(number, int | float):
        return Fault("unproved", f"the gold query gives {number!r}, no number: let it end in {FORMS[answer_type]}")
    if answer_type == "number":
        return Proof(number)
    witness = next((value for value in row[1:] if isinstance(value, str)), None)
    return Proof(number, witness=witness)


def _of_nodes(graph: Graph, answer_type: AnswerType, row: tuple[JsonValue, ...]) -> Proof | Fault:
    form = FORMS[answer_type]
    number, ids = (row[0], row[1]) if len(row) == 2 else (None, None)
    if isinstance(number, bool) or not isinstance(number, int) or not isinstance(ids, list):
        return Fault("unproved", f"the gold query must give a count and a list of ids: let it end in {form}")
    nodes = tuple(sorted({node for node in ids if isinstance(node, str) and graph.arrays.ids.find(node) is not None}))
    if len(nodes) != len(ids) or len(nodes) != number:
        return Fault("unproved", f"the count is {number} and {len(nodes)} of the {len(ids)} are ids of nodes: {form}")
    if answer_type == "entity" and number != 1:
        return Fault("empty" if number == 0 else "not unique", f"{number} nodes answer: exactly one has to")
    if answer_type == "set" and number < 2:
        return Fault("empty", f"{number} nodes answer: a set has 2 to {MOST_IN_SET}")
    if answer_type == "set" and number > MOST_IN_SET:
        return Fault(
            "oversized", f"{number} nodes answer: a set has {MOST_IN_SET} at the most, so ask for more of them"
        )
    return Proof(number, nodes)


# ------------------------------------------------------------------------------------------------- a plan as Cypher


class GoldQuery(NamedTuple):
    """A statement with its parameters."""

    text: str
    parameters: dict[str, JsonValue]


class _Node(NamedTuple):
    """The expression of a node's id in a query, and the node's type."""

    id: str
    type: str


def gold_query(graph: Graph, plan: QuestionPlan, answer_type: AnswerType) -> GoldQuery:
    """Return the Cypher that proves the answer of a plan, its nodes as parameters, in the form that `prove` takes.

    Where a node is described instead of named, the query also says that no other node fits the description: were there
    two, nothing would answer.
    """
    parameters = {f"node{number}": graph.arrays.ids[row] for number, row in enumerate(plan.named, 1)}
    fixed = [_Node(f"${name}", graph.arrays.type_at(row)) for name, row in zip(parameters, plan.named, strict=True)]
    if plan.first is None:
        paths, apart = _paths(plan, "x", fixed, fixed)
    else:
        named, own = fixed[: len(plan.first.named)], fixed[len(plan.first.named) :]
        first = _Node("first.id", plan.conditions[0].steps[0].start)
        paths, apart = _paths(plan.first, "first", named, named)
        others, parted = _paths(plan.first, "other", named, named)
        alone = " AND ".join([*parted, "other.id <> first.id"])
        onward, further = _paths(plan, "x", [first, *own], [first, *fixed])
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
        anchor = f"{{id: {_text(graph.arrays.ids[condition.anchor])}}}"
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
    plan: QuestionPlan, unknown: str, anchors: Sequence[_Node], fixed: Sequence[_Node]
) -> tuple[list[str], list[str]]:
    """Return one MATCH path per condition, and the WHERE conditions that keep nodes distinct.

    `anchors` are the nodes that the conditions start from, followed by the target if there is one; no walk may come to
    a node of `fixed`. Only nodes of one type are compared: others cannot be the same.
    """
    target = None if plan.target is None else anchors[-1]
    paths, apart = list[str](), list[str]()
    for number, (condition, anchor) in enumerate(zip(plan.conditions, anchors, strict=False), 1):
        start = "(first)" if anchor.id == "first.id" else f"(:{_escaped(anchor.type)} {{id: {anchor.id}}})"
        names = [f"{unknown}{number}_{hop}" for hop in range(1, len(condition.steps))] + [unknown]
        nodes = [_Node(f"{name}.id", step.end) for name, step in zip(names, condition.steps, strict=True)]
        paths.append(_path(start, names, condition.steps))
        pairs = [(node, other) for node in nodes for other in fixed if (node, other) != (nodes[-1], target)]
        pairs += [(node, other) for at, node in enumerate(nodes) for other in nodes[at + 1 :]]
        apart += [f"{node.id} <> {other.id}" for node, other in pairs if node.type == other.type]
    return paths, apart if target is None else [*apart, f"{unknown}.id = {target.id}"]


def _path(start: str, names: Sequence[str], steps: Sequence[EdgeStep]) -> str:
    """Return a pattern from a node along steps; `names` are the names of the nodes that they lead to."""
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
