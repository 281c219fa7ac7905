"""Example plans made from a graph's own edges and run over it: only those that find something are shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from orienteer.errors import Error, TooManyEdges
from orienteer.graph.store import Graph
from orienteer.methods.spark.check import check
from orienteer.methods.spark.execution import Execution
from orienteer.methods.spark.plan import CypherStep, FilterStep, FindStep, PlanStep, SparkPlan
from orienteer.methods.spark.profile import PropertyUse, property_uses
from orienteer.records import JsonValue, ToolCall, Triple
from orienteer.retrieval.graph_text import triples_by_size
from orienteer.text.lines import one_line
from orienteer.tools.toolbox import Toolbox

MOST_EXAMPLES = 5
_TRIPLES = 6  # of the largest ones that are tried
_LOOKED_AT = 200  # nodes among which one for an example is sought
_SECONDS = 5.0
_LONGEST = 60  # characters of a name in an example
_FILTERED = ("year", "integer", "number", "date", "price", "text", "long text")


class PlanExample(NamedTuple):
    """A question, a plan for it, and the graph's data that stands in both."""

    question: str
    masked: str
    """The question, with words such as `<name of a city>` for data of the graph."""
    plan: SparkPlan
    values: tuple[tuple[str, str], ...]
    """Texts of the data, each with the words that stand for it where data is not shown."""

    def without_values(self) -> PlanExample:
        """Return it with words such as `<name of a city>` where data of the graph stands."""
        steps = tuple(self._without(step) for step in self.plan.steps)
        return PlanExample(self.masked, self.masked, self.plan.model_copy(update={"steps": steps}), ())

    def _without(self, step: PlanStep) -> PlanStep:
        words = dict(self.values)
        if isinstance(step, FindStep):
            return step.model_copy(update={"query": words.get(step.query, step.query)})
        if isinstance(step, FilterStep):
            return step.model_copy(update={"value": words.get(str(step.value), "<value>")})
        if isinstance(step, CypherStep):
            query = step.query
            for value, word in self.values:
                query = query.replace(json.dumps(value, ensure_ascii=False), json.dumps(word))
            return step.model_copy(update={"query": query})
        return step


class _Draft(NamedTuple):
    """An example before it has been run."""

    questions: tuple[str, str]
    """With data of the graph, and without."""
    steps: list[dict[str, Any]]
    values: dict[str, str]


def examples_of(graph: Graph, *, offers_cypher: bool) -> tuple[PlanExample, ...]:
    """Return up to five example plans, each of a different kind and each with a result over this graph."""
    makers: list[Callable[[Graph], Iterator[_Draft]]] = [_walks, _filters, _meets, _counts]
    makers.append(_statements if offers_cypher else _describes)
    examples = []
    for make in makers:
        for draft in make(graph):
            checked = check(graph, {"steps": draft.steps, "answer": draft.steps[-1]["into"]})
            if checked.plan is not None and _gives(graph, checked.plan, offers_cypher=offers_cypher):
                examples.append(PlanExample(*draft.questions, checked.plan, tuple(draft.values.items())))
                break
    return tuple(examples[:MOST_EXAMPLES])


def _gives(graph: Graph, plan: SparkPlan, *, offers_cypher: bool) -> bool:
    """Tell whether a plan has a result."""
    toolbox = Toolbox.full(graph, offers_cypher=offers_cypher, offers_select=True, names_first=False)

    def use(tool: str, **arguments: JsonValue) -> Any:  # Any: an observation
        return toolbox.observe(ToolCall(id="example", name=tool, arguments=json.dumps(arguments)))

    try:
        # Without vectors: examples are the same for everyone, and cost no embedding.
        return bool(Execution(graph, toolbox.session, use, seconds=_SECONDS, has_vectors=False).run(plan).rows)
    except Error:  # an example that cannot be run is none
        return False


class _Ending(NamedTuple):
    """The name of a node that an edge leads to, and the row of the node that it comes from."""

    name: str
    source: int


def _ends(graph: Graph, triple: Triple) -> Iterator[_Ending]:
    """Yield nodes that edges of a kind lead to; nodes with 2 to 20 such edges come first."""
    rows = graph.arrays.first_of([triple.target], _LOOKED_AT)
    try:
        entries = graph.arrays.entries(rows, [triple.source], [triple.type], "in")
    except TooManyEdges:
        return
    owners, first, counts = np.unique(entries.owner, return_index=True, return_counts=True)
    order = np.lexsort((owners, -((counts > 1) & (counts <= 20)).astype(np.int8)))
    for at in order.tolist():
        name = graph.arrays.names[int(owners[at])]
        if name.strip() and len(name) <= _LONGEST and one_line(name) == name:
            yield _Ending(name, int(entries.neighbor[first[at]]))


def _search(name: str, node_type: str, into: str) -> dict[str, Any]:
    return {"op": "lexical_search", "query": name, "node_types": [node_type], "k": 1, "into": into}


def _match(start: str, triple: Triple, into: str) -> dict[str, Any]:
    return {
        "op": "match",
        "start": start,
        "edge_types": [triple.type],
        "node_types": [triple.source],
        "into": into,
    }


def _word(node_type: str) -> str:
    return f"<name of a {node_type}>"


def _asking(beginning: str, value: str, word: str, steps: list[dict[str, Any]]) -> _Draft:
    """Return the draft of a question that ends in a text of the data, for which `word` stands where data is hidden."""
    return _Draft((f"{beginning} {value}?", f"{beginning} {word}?"), steps, {value: word})


def _walks(graph: Graph) -> Iterator[_Draft]:
    for triple in triples_by_size(graph)[:_TRIPLES]:
        for end in list(_ends(graph, triple))[:2]:
            label = graph.schema.label(triple.type)
            steps = [_search(end.name, triple.target, "named"), _match("named", triple, "found")]
            yield _asking(f"Which {triple.source} has the relation {label!r} to", end.name, _word(triple.target), steps)


def _filters(graph: Graph) -> Iterator[_Draft]:
    uses = [use for use in property_uses(graph) if use.format in _FILTERED]
    for use in sorted(uses, key=lambda use: (use.is_code, "text" in use.format)):  # models err most with numbers
        for triple in [triple for triple in triples_by_size(graph) if triple.source == use.node_type][:_TRIPLES]:
            for end in list(_ends(graph, triple))[:20]:
                [stored] = graph.arrays.properties.values(use.name, np.array([end.source], np.int32))
                if (value := _value_in_words(stored, use.format)) is not None:
                    yield _filtered(triple, end, use, value)


def _value_in_words(value: JsonValue, shape: str) -> str | int | float | None:
    """Return a value as a question would say it, a long text by its longest word; None where nobody would say it."""
    if shape == "long text" and isinstance(value, str):
        value = max(re.findall(r"[^\W\d_]+", value), key=len, default=None)
    return value if isinstance(value, str | int | float) and 0 < len(str(value)) <= _LONGEST else None


def _filtered(triple: Triple, end: _Ending, use: PropertyUse, value: str | int | float) -> _Draft:
    is_part = use.format == "long text"
    condition = {"property": use.name, "comparison": "contains" if is_part else "=", "value": value}
    steps = [
        _search(end.name, triple.target, "named"),
        _match("named", triple, "around"),
        {"op": "filter", "of": "around", **condition, "into": "found"},
    ]
    words = {end.name: _word(triple.target), str(value): f"<{use.format}>"}
    clause = f"has in its {use.name} the word" if is_part else f"has the {use.name}"
    shown, masked = (
        f"Which {triple.source} around {name} {clause} {text}?"
        for name, text in ((end.name, value), (_word(triple.target), f"<{use.format}>"))
    )
    return _Draft((shown, masked), steps, words)


def _meets(graph: Graph) -> Iterator[_Draft]:
    for triple in triples_by_size(graph)[:_TRIPLES]:
        for end in list(_ends(graph, triple))[:10]:
            others = graph.arrays.entries(np.array([end.source], np.int32), None, None, "out")
            for kind, neighbor in zip(others.kind.tolist(), others.neighbor.tolist(), strict=True):
                other = Triple(triple.source, graph.arrays.types.edges[kind >> 1], graph.arrays.type_at(neighbor))
                name = graph.arrays.names[neighbor]
                if name == end.name or other not in graph.schema.edges or one_line(name, _LONGEST) != name:
                    continue
                steps = [
                    _search(end.name, triple.target, "one"),
                    _search(name, other.target, "other"),
                    _match("one", triple, "around_one"),
                    _match("other", other, "around_other"),
                    {"op": "intersect", "of": ["around_one", "around_other"], "into": "both"},
                ]
                values = {end.name: _word(triple.target), name: f"<name of another {other.target}>"}
                shown, masked = (
                    f"Which {triple.source} is joined to both {first} and {second}?"
                    for first, second in (values, values.values())
                )
                yield _Draft((shown, masked), steps, values)


def _counts(graph: Graph) -> Iterator[_Draft]:
    for triple in triples_by_size(graph)[:_TRIPLES]:
        counted = {"edge_types": [triple.type], "node_types": [triple.source]}
        steps: list[dict[str, Any]] = [
            {"op": "order", "of": triple.target, "aggregate": "count", **counted, "into": "ordered"},
            {"op": "limit", "of": "ordered", "k": 3, "into": "first"},
        ]
        label = graph.schema.label(triple.type)
        question = f"Which {triple.target} has the most {triple.source} by {label}?"
        yield _Draft((question, question), steps, {})


def _describes(graph: Graph) -> Iterator[_Draft]:
    for triple in triples_by_size(graph)[:_TRIPLES]:
        for end in list(_ends(graph, triple))[:5]:
            text = graph.arrays.texts[end.source] or graph.arrays.names[end.source]
            query = " ".join(one_line(text, 400).split()[:5])
            if not query:
                continue
            steps: list[dict[str, Any]] = [
                {"op": "vector_search", "query": query, "node_types": [triple.source], "k": 20, "into": "alike"},
                {"op": "match", "start": "alike", "edge_types": [triple.type], "node_types": [triple.target]},
            ]
            steps[-1]["into"] = "found"
            yield _asking(f"Which {triple.target} has to do with", query, f"<what the {triple.source} is like>", steps)


def _statements(graph: Graph) -> Iterator[_Draft]:
    for triple in triples_by_size(graph)[:_TRIPLES]:
        for end in list(_ends(graph, triple))[:2]:
            source, edge, target = (f"`{name.replace('`', '``')}`" for name in triple)
            value = json.dumps(end.name, ensure_ascii=False)
            query = f"MATCH (a:{source})-[:{edge}]->(b:{target} {{name: {value}}}) RETURN DISTINCT a"
            steps = [{"op": "cypher", "query": query, "into": "found"}]
            beginning = f"Which {triple.source} leads by {graph.schema.label(triple.type)} to"
            yield _asking(beginning, end.name, _word(triple.target), steps)
