"""The prompt of one graph: operations, schema and examples under a budget of tokens. After the paper's appendix H."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orienteer.graph.store import Graph
from orienteer.llm.prompts import prompt_of
from orienteer.methods.spark.examples import PlanExample
from orienteer.methods.spark.plan import shown
from orienteer.methods.spark.profile import property_uses
from orienteer.records import Direction
from orienteer.retrieval.graph_text import PARTIAL, arrow, partly, triples_by_size, types_by_size
from orienteer.text.lines import CHARACTERS_A_TOKEN, one_line

_SHARES = {"types": 0.2, "relations": 0.4, "properties": 0.4}
_EXAMPLES = 0.4
"""The share of the room after the fixed text that examples may take."""
_LONGEST_NAME = 80

_FINDING = (
    '- lexical_search: {"query", "k", "node_types"?, "of"?}: the k nodes whose names and texts have the words; '
    "`of` is a set to search in",
)
_BY_MEANING = '- vector_search: {"query", "k", "node_types"?, "of"?}: the k nodes nearest in meaning'
_BY_WORDS = '- vector_search: the same here, for descriptions: {"query", "k", "node_types"?, "of"?}'
_SETS = (
    '- match: {"start", "edge_types"?, "node_types"?, "direction"?: "out" or "in"}: the nodes one edge away from a set',
    '- intersect: {"of": [sets]}: the nodes that all sets have in common',
    '- filter: {"of", "property", "comparison": one of = != < <= > >= contains, "value"}: those that meet a condition; '
    "`name` and `text` can be filtered too",
    '- order: {"of", "property", "descending"?: true} or {"of", "aggregate": one of count sum mean min max, '
    '"property"?, "edge_types"?, "node_types"?, "descending"?}: by a property, or by the number '
    "or a property of the neighbours",
    '- limit: {"of", "k"}: the first k',
)
_CYPHER = (
    '- cypher: {"query"}: one read-only statement, MATCH ... WHERE ... RETURN n; node types are labels, edge types '
    "relationship types, both in backticks; every node has id and name; texts are not in it"
)


class PlanPrompt(NamedTuple):
    """The values of the prompt's placeholders besides the question."""

    operations: str
    graph: str
    examples: str


def prompt_for(
    graph: Graph, examples: Sequence[PlanExample], *, tokens: int, samples: bool, has_vectors: bool, offers_cypher: bool
) -> PlanPrompt:
    """Return the prompt of a graph, at most so many tokens before the question. With less room it shows less."""
    operations = "\n".join(_operations(has_vectors=has_vectors, offers_cypher=offers_cypher))
    text = prompt_of("spark")
    room = tokens * CHARACTERS_A_TOKEN - len(text.system) - len(text.user) - len(operations)
    examples_text = _fitted(_told(examples, samples=samples), int(room * _EXAMPLES), "")
    return PlanPrompt(operations, _graph(graph, room - len(examples_text), samples=samples), examples_text or "none")


def _operations(*, has_vectors: bool, offers_cypher: bool) -> Iterable[str]:
    yield from _FINDING
    yield _BY_MEANING if has_vectors else _BY_WORDS
    yield from _SETS
    if offers_cypher:
        yield _CYPHER


def _told(examples: Sequence[PlanExample], *, samples: bool) -> Iterable[str]:
    for example in examples:
        seen = example if samples else example.without_values()
        plan = {"steps": [shown(step) for step in seen.plan.steps], "answer": seen.plan.answer}
        yield f"{_plain(seen.question, 200)}\n{json.dumps(plan, ensure_ascii=False)}"


def _graph(graph: Graph, room: int, *, samples: bool) -> str:
    """Return the schema in three parts; each leaves to the next what it does not need."""
    parts = {"types": _types(graph), "relations": _relations(graph), "properties": _properties(graph, samples=samples)}
    written, left, shares = [], room, 1.0
    for name, lines in parts.items():
        part = _fitted(lines, int(left * _SHARES[name] / shares), name)
        left, shares = left - len(part) - 1, shares - _SHARES[name]
        if part:
            written.append(part)
    return "\n".join(written)


def _types(graph: Graph) -> Iterable[str]:
    yield "node types, with how many there are:"
    for name in types_by_size(graph):
        yield f"- {_plain(name)} {graph.schema.node_types[name]}{partly(graph, name)}{_also(graph, name)}"


def _relations(graph: Graph) -> Iterable[str]:
    schema = graph.schema
    yield "edge types, with what they lead from and to, and how many there are:"
    for triple in triples_by_size(graph):
        label = schema.label(triple.type)
        means = f" means {_plain(label)!r}" if label != triple.type else ""
        direction: Direction | None = None if triple.type in schema.symmetric else "out"
        ends = f"{_plain(triple.source)} {arrow(_plain(triple.type), direction)} {_plain(triple.target)}"
        also = _also(graph, triple.type, ends=(triple.source, triple.target))
        yield f"- {ends} {schema.edges[triple]}{partly(graph, triple.type)}{means}{also}"
    if schema.partial:
        yield PARTIAL


def _properties(graph: Graph, *, samples: bool) -> Iterable[str]:
    uses = property_uses(graph)
    if not uses:
        yield "properties: none but name and text"
        return
    yield "properties, with what their values are and what they are good for:"
    for use in uses:
        values = ", ".join(json.dumps(value, ensure_ascii=False) for value in use.samples)
        such_as = f", such as {values}" if samples and values else ""
        yield f"- {_plain(use.node_type)}.{_plain(use.name)} ({use.format}{such_as}): {use.hint}"


def _also(graph: Graph, name: str, *, ends: tuple[str, ...] = ()) -> str:
    """Return what else a type is called, without names that only repeat the ends of an edge."""
    words = graph.schema.also_called.get(name, ())
    words = tuple(word for word in words if not ends or any(end not in word for end in ends))
    return f", also called {', '.join(map(_plain, words[:3]))}" if words else ""


def _fitted(lines: Iterable[str], room: int, what: str) -> str:
    """Return as many lines as there is room for, and the number of the others."""
    fitting, left = list[str](), list(lines)
    rest = len(f"\n- {len(left)} more {what}")
    while left and sum(len(line) + 1 for line in (*fitting, left[0])) + (rest if what else 0) <= room:
        fitting.append(left.pop(0))
    if left and fitting and what:
        fitting.append(f"- {len(left)} more {what}")
    return "\n".join(fitting)


def _plain(name: str, longest: int = _LONGEST_NAME) -> str:
    return one_line(name, longest)
