"""Example plans made from a graph's own edges and run over it: only those that find something are shown."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np

from orienteer.cypher.kinds import quoted
from orienteer.errors import Error, TooManyEdges
from orienteer.graph.store import Graph
from orienteer.llm.conversation import prompt_of
from orienteer.methods.spark.execution import Execution
from orienteer.methods.spark.plan import (
    CypherStep,
    FilterStep,
    FindStep,
    Given,
    MatchStep,
    PlanStep,
    SparkPlan,
    check,
    step_json,
)
from orienteer.query.likeness import is_date, is_price, quantity
from orienteer.records import Direction, JsonValue, ToolCall, Triple
from orienteer.retrieval.graph_text import PARTIAL, arrow, partly, triples_by_size, types_by_size
from orienteer.retrieval.schema import describe
from orienteer.text.sentences import CHARACTERS_A_TOKEN, one_line
from orienteer.tools.toolbox import Toolbox

MOST_EXAMPLES = 7
_TRIPLES = 6  # of the largest ones that are tried
_LOOKED_AT = 200  # nodes among which one for an example is sought
_SECONDS = 5.0
_LONGEST = 60  # characters of a name in an example
_FILTERED = ("year", "integer", "number", "date", "price", "text", "long text")


class PlanExample(NamedTuple):
    """A question, a plan for it, and the graph's data that both contain."""

    question: str
    masked: str
    """The question, with words such as `<name of a city>` for data of the graph."""
    plan: SparkPlan
    values: tuple[tuple[str, str], ...]
    """Texts of the data, each with the words that stand for it if data is not shown."""

    def without_values(self) -> PlanExample:
        """Return it with words such as `<name of a city>` for data of the graph."""
        steps = tuple(self._without(step) for step in self.plan.steps)
        return PlanExample(self.masked, self.masked, self.plan.model_copy(update={"steps": steps}), ())

    def _without(self, step: PlanStep) -> PlanStep:
        words = dict(self.values)
        if isinstance(step, FindStep):
            return step.model_copy(update={"query": words.get(step.query, step.query)})
        if isinstance(step, MatchStep):
            return step.model_copy(update={"start": words.get(step.start, step.start)})
        if isinstance(step, FilterStep):
            return step.model_copy(update={"value": words.get(str(step.value), "<value>")})
        if isinstance(step, CypherStep):
            query = step.query
            for value, word in self.values:
                query = query.replace(json.dumps(value, ensure_ascii=False), json.dumps(word))
                query = query.replace(f"= {value} ", f"= {word} ")
            return step.model_copy(update={"query": query})
        return step


class _Draft(NamedTuple):
    """An example before it has been run."""

    questions: tuple[str, str]
    """With data of the graph, and without."""
    steps: list[dict[str, Any]]
    values: dict[str, str]
    give: Given = "nodes"
    query: str = ""
    """The same as one Cypher statement, where the paper's form has it."""


def examples_of(graph: Graph, *, offers_cypher: bool, faithful: bool = False) -> tuple[PlanExample, ...]:
    """Return up to seven example plans, each of a different kind and each with a result over this graph.

    `faithful` ones are up to four, each one Cypher statement as in the paper.
    """
    makers: list[Callable[[Graph], Iterator[_Draft]]] = [_walks, _filters, _meets, _counts]
    if faithful:
        makers = [_in_cypher(make) for make in makers]
    else:
        makers += [_unites, _takes_away, _in_cypher(_walks) if offers_cypher else _describes]
    examples = []
    for make in makers:
        for draft in make(graph):
            checked = check(graph, {"steps": draft.steps, "answer": draft.steps[-1]["into"], "give": draft.give})
            if checked.plan is not None and _gives(graph, checked.plan, offers_cypher=offers_cypher):
                examples.append(PlanExample(*draft.questions, checked.plan, tuple(draft.values.items())))
                break
    return tuple(examples[:MOST_EXAMPLES])


def _gives(graph: Graph, plan: SparkPlan, *, offers_cypher: bool) -> bool:
    """Return whether a plan has a result."""
    toolbox = Toolbox.full(graph, offers_cypher=offers_cypher, names_first=False)

    def use(tool: str, **arguments: JsonValue) -> Any:  # Any: an observation
        return toolbox.observe(ToolCall(id="example", name=tool, arguments=json.dumps(arguments)))

    try:
        # Without vectors: examples are the same for everyone, and cost no embedding.
        execution = Execution(graph, toolbox.session, use, seconds=_SECONDS, has_vectors=False)
        return bool(execution.run(plan).rows)
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
    return {"op": "match", "start": start, "edge_types": [triple.type], "node_types": [triple.source], "into": into}


def _word(node_type: str) -> str:
    return f"<name of a {node_type}>"


def _asking(beginning: str, value: str, word: str, steps: list[dict[str, Any]], query: str = "") -> _Draft:
    """Return the draft of a question that ends in a text of the data; `word` replaces it if data is hidden."""
    return _Draft((f"{beginning} {value}?", f"{beginning} {word}?"), steps, {value: word}, query=query)


def _pattern(triple: Triple, end: str, name: str | None = None) -> str:
    """Return the Cypher pattern of an edge from `a` to the node `end`, which may have this name."""
    source, edge, target = map(quoted, triple)
    called = "" if name is None else f" {{name: {json.dumps(name, ensure_ascii=False)}}}"
    return f"MATCH (a:{source})-[:{edge}]->({end}:{target}{called})"


def _walks(graph: Graph) -> Iterator[_Draft]:
    for triple in triples_by_size(graph)[:_TRIPLES]:
        for end in list(_ends(graph, triple))[:2]:
            label = graph.schema.label(triple.type)
            steps = [_search(end.name, triple.target, "named"), _match("named", triple, "found")]
            asks, query = f"Which {triple.source} has the relation {label!r} to", _pattern(triple, "b", end.name)
            yield _asking(asks, end.name, _word(triple.target), steps, f"{query} RETURN DISTINCT a")


def _filters(graph: Graph) -> Iterator[_Draft]:
    uses = [use for use in property_uses(graph) if use.format in _FILTERED]
    for use in sorted(uses, key=lambda use: (use.is_code, "text" in use.format)):  # models err most with numbers
        for triple in [triple for triple in triples_by_size(graph) if triple.source == use.node_type][:_TRIPLES]:
            for end in list(_ends(graph, triple))[:20]:
                [stored] = graph.arrays.properties.values(use.name, np.array([end.source], np.int32))
                value: JsonValue = stored
                # Nobody quotes a long text in a question: its longest word stands for it.
                if use.format == "long text" and isinstance(value, str):
                    value = max(re.findall(r"[^\W\d_]+", value), key=len, default=None)
                if isinstance(value, str | int | float) and 0 < len(str(value)) <= _LONGEST:
                    yield _filtered(triple, end, use, value)


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
    text, key = json.dumps(value, ensure_ascii=False), f"a.{quoted(use.name)}"
    holds = f"toLower({key}) CONTAINS toLower({text})" if is_part else f"{key} = {text}"
    query = f"{_pattern(triple, 'b', end.name)} WHERE {holds} RETURN DISTINCT a"
    return _Draft((shown, masked), steps, words, query=query)


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
                query = f"{_pattern(triple, 'b', end.name)} {_pattern(other, 'c', name)} RETURN DISTINCT a"
                yield _Draft((shown, masked), steps, values, query=query)


def _counts(graph: Graph) -> Iterator[_Draft]:
    for triple in triples_by_size(graph)[:_TRIPLES]:
        counted = {"edge_types": [triple.type], "node_types": [triple.source]}
        steps: list[dict[str, Any]] = [
            {"op": "order", "of": triple.target, "aggregate": "count", **counted, "into": "ordered"},
            {"op": "limit", "of": "ordered", "k": 3, "into": "first"},
        ]
        label = graph.schema.label(triple.type)
        question = f"Which {triple.target} has the most {triple.source} by {label}?"
        query = f"{_pattern(triple, 'b')} RETURN b, count(DISTINCT a) AS number ORDER BY number DESC LIMIT 3"
        yield _Draft((question, question), steps, {}, query=query)


def _unites(graph: Graph) -> Iterator[_Draft]:
    return _of_two(graph, "How many {} have the relation {!r} to {} or to {}?", "union", "count")


def _takes_away(graph: Graph) -> Iterator[_Draft]:
    return _of_two(graph, "Is there any {} that has the relation {!r} to {} and not to {}?", "difference", "exists")


def _of_two(graph: Graph, asks: str, op: str, give: Given) -> Iterator[_Draft]:
    """Yield drafts over what is around two nodes of a type, each begun with by its exact name."""
    for triple in triples_by_size(graph)[:_TRIPLES]:
        for one, other in pairwise(islice(_ends(graph, triple), 10)):
            around = [_match(one.name, triple, "around_one"), _match(other.name, triple, "around_other")]
            steps = [*around, {"op": op, "of": ["around_one", "around_other"], "into": "found"}]
            values = {one.name: _word(triple.target), other.name: f"<name of another {triple.target}>"}
            label = graph.schema.label(triple.type)
            shown, masked = (asks.format(triple.source, label, *names) for names in (values, values.values()))
            if len(values) == 2:
                yield _Draft((shown, masked), steps, values, give)


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


def _in_cypher(make: Callable[[Graph], Iterator[_Draft]]) -> Callable[[Graph], Iterator[_Draft]]:
    """Return a maker of the same examples, each as one statement."""
    return lambda graph: (
        draft._replace(steps=[{"op": "cypher", "query": draft.query, "into": "found"}]) for draft in make(graph)
    )


# A graph's schema for a prompt: its types, relations and properties with what each is good for, and no node's data.


_PROFILE_LOOKED_AT = 60  # nodes of a type whose values are read
_SAMPLES = 2
_LONGEST_SAMPLE = 40
_LONG_TEXT = 60  # characters of a value from which on it is read for words
# Parts of the names of properties that count something, and the words of a question that asks for the most of it.
_COUNTED = {
    "citation": "most cited",
    "views": "most viewed",
    "vote": "most votes",
    "sales": "best selling",
    "population": "most people",
    "size": "largest",
    **dict.fromkeys(("count", "number", "total", "degree"), "most ..."),
}
_RATED = ("rating", "score", "overall", "stars", "impact")
_CODE = re.compile(r"(^|[_ .-])(id|ids|identifiers?|codes?|uri|url|hash|uuid|isbn|asin)$|inchi|smiles")
_CODED = re.compile(r"\S*[\d()\[\]=/]\S*|\S{40,}")  # one word that no sentence has: N06AX11, CC(=O)O, a/b
_CODE_HINT = "a code: only where the question gives it"


class PropertyUse(NamedTuple):
    """A property of a node type: what its values are, and what it is good for."""

    node_type: str
    name: str
    format: str
    """number, integer, year, date, price, yes or no, text, long text, or a list of one of these."""
    hint: str
    samples: tuple[JsonValue, ...]
    is_code: bool
    """Whether it only distinguishes nodes, as an id does."""


def property_uses(graph: Graph) -> tuple[PropertyUse, ...]:
    """Return the properties of each node type, as seen in a sample of its nodes."""
    arrays, uses = graph.arrays, []
    for name in arrays.properties.names:
        for node_type, picked in arrays.rows_with(name, _PROFILE_LOOKED_AT).items():
            values = [value for value in arrays.properties.values(name, picked) if value is not None]
            items = [item for value in values for item in (value if isinstance(value, list) else [value])]
            # It is a code, formula or address if its name says so (paperId), or most of its values look so.
            coded = [item for item in items if _format(item) in ("text", "long text") and _CODED.fullmatch(str(item))]
            words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).casefold()
            shape, is_code = format_of(values, name), bool(_CODE.search(words)) or len(coded) * 2 > len(items)
            short = (one_line(item, _LONGEST_SAMPLE) if isinstance(item, str) else item for item in items)
            samples = tuple(dict.fromkeys(item for item in short if isinstance(item, str | int | float)))[:_SAMPLES]
            hint = _CODE_HINT if is_code else _hint(name, shape)
            uses.append(PropertyUse(node_type, name, shape, hint, samples, is_code))
    order = {name: place for place, name in enumerate(types_by_size(graph))}
    return tuple(sorted(uses, key=lambda use: (order[use.node_type], use.name)))


def format_of(values: Sequence[JsonValue], name: str = "") -> str:
    """Return the format of values; of a mixture, that of most."""
    if values and sum(isinstance(value, list) for value in values) * 2 > len(values):
        items = [item for value in values if isinstance(value, list) for item in value]
        return f"list of {format_of(items)}" if items else "list"
    kinds = [_format(value) for value in values]
    most = max(dict.fromkeys(kinds), key=kinds.count, default="text")
    are_years = all(isinstance(value, int) and 1000 <= value <= 2100 for value in values)
    return "year" if most == "integer" and ("year" in name.casefold() or are_years) else most


def _format(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "yes or no"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if is_date(value):
        return "date"
    if is_price(value):
        return "price"
    if not isinstance(value, str):
        return "map"
    if not math.isnan(quantity(value)):
        return "number as text"
    return "long text" if len(value) > _LONG_TEXT else "text"


def _hint(name: str, shape: str) -> str:
    """Return a question's phrase for this property, from its name and format."""
    words = name.casefold()
    is_number = "number" in shape or shape == "integer"
    if is_number and (most := next((phrase for part, phrase in _COUNTED.items() if part in words), None)):
        return f'order by it for "{most}" and for the opposite'
    if is_number and "rank" in words:
        return 'order by it, descending false, for "best"'
    if is_number and any(part in words for part in _RATED):
        return 'filter it for "rated above ...", order by it for "best"'
    return {
        "year": '= for "in 1999", < and > for "before" and "after", order for "oldest" and "newest"',
        "date": "write dates 2016-02-11; = with a month or < and > with a year are understood",
        "price": "a text with a currency: compare with a plain number such as 20",
        "integer": '< and > for limits, order for "largest" and "smallest"',
        "number": '< and > for limits, order for "largest" and "smallest"',
        "number as text": "compare with a plain number",
        "yes or no": "= true or = false",
        "long text": "contains, with one or two telling words",
        "text": "= for the whole value, contains for a part",
    }.get(shape.removeprefix("list of "), "contains")


# The prompt of one graph: operations, schema and examples under a budget of tokens. After the paper's appendix H.


_SHARES = {"types": 0.2, "relations": 0.4, "properties": 0.4}
# The share of the room after the fixed text that examples may take.
_EXAMPLES = 0.4
_LONGEST_NAME = 80

_FINDING = (
    '- lexical_search: {"query", "k", "node_types"?, "of"?}: the k nodes whose names and texts have the words; '
    "`of` is a set to search in",
)
_BY_MEANING = '- vector_search: {"query", "k", "node_types"?, "of"?}: the k nodes nearest in meaning'
_PAPER_SEARCH = '- vector_search: {"query", "k", "node_types"?}: the k nodes whose names and texts are most like a text'
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
    '- union: {"of": [sets]}: the nodes of all these sets together',
    '- difference: {"of": [sets]}: the nodes of the first set that are in none of the others',
)
_GIVE = (
    'If the question asks how many there are, write "give": "count" after "answer"; if it asks whether there is any, '
    '"give": "exists": the answer is then a number, or yes or no.'
)
_CYPHER = (
    '- cypher: {"query"}: one read-only statement, MATCH ... WHERE ... RETURN n; node types are labels, edge types '
    "relationship types, both in backticks; every node has id and name; texts are not in it; $NAME is the list of the "
    "ids of an earlier set: WHERE n.id IN $NAME"
)


class PlanPrompt(NamedTuple):
    """The values of the prompt's placeholders besides the question."""

    operations: str
    graph: str
    examples: str


def prompt_for(
    graph: Graph,
    examples: Sequence[PlanExample],
    *,
    tokens: int,
    samples: bool,
    has_vectors: bool,
    offers_cypher: bool,
    faithful: bool = False,
) -> PlanPrompt:
    """Return the prompt of a graph, with at most `tokens` tokens before the question.

    A `faithful` one offers the paper's two kinds of steps, and counts and explains nothing of the schema.
    """
    by_meaning = _BY_MEANING if has_vectors else _BY_WORDS
    cypher = (_CYPHER,) if offers_cypher else ()
    kinds = (_PAPER_SEARCH, _CYPHER) if faithful else (*_FINDING, by_meaning, *_SETS, *cypher, _GIVE)
    operations = "\n".join(kinds)
    text = prompt_of("spark-faithful" if faithful else "spark")
    room = tokens * CHARACTERS_A_TOKEN - len(text.system) - len(text.user) - len(operations)
    lines = []
    for example in examples:
        seen = example if samples else example.without_values()
        plan: dict[str, Any] = {"steps": [step_json(step) for step in seen.plan.steps], "answer": seen.plan.answer}
        plan |= {} if seen.plan.give == "nodes" else {"give": seen.plan.give}
        [*_, last] = seen.plan.steps
        shown = last.query if faithful and isinstance(last, CypherStep) else json.dumps(plan, ensure_ascii=False)
        lines.append(f"{one_line(seen.question, 200)}\n{shown}")
    examples_text = _fitted(lines, int(room * _EXAMPLES), "")
    room -= len(examples_text)
    return PlanPrompt(operations, _graph(graph, room, samples=samples, faithful=faithful), examples_text or "none")


def _graph(graph: Graph, room: int, *, samples: bool, faithful: bool) -> str:
    """Return the schema in three parts; each leaves to the next what it does not need."""
    types = ["node types, with how many there are:"]
    for name in types_by_size(graph):
        types.append(f"- {_cut(name)} {graph.schema.node_types[name]}{partly(graph, name)}{_also(graph, name)}")
    parts = {"types": types, "relations": _relations(graph), "properties": _properties(graph, samples=samples)}
    if faithful:  # as the paper's appendix H has it, without counts and hints
        described = describe(graph, None, has_code=True, is_plain=True)
        parts = {
            "types": ["Node labels:", *described.node_types.splitlines()],
            "relations": ["Relations:", *described.edge_types.splitlines()],
            "properties": ["Properties:", *described.properties.splitlines()],
        }
    written, left, shares = [], room, 1.0
    for name, lines in parts.items():
        part = _fitted(lines, int(left * _SHARES[name] / shares), name)
        left, shares = left - len(part) - 1, shares - _SHARES[name]
        if part:
            written.append(part)
    return "\n".join(written)


def _relations(graph: Graph) -> Iterable[str]:
    schema = graph.schema
    yield "edge types, with what they lead from and to, and how many there are:"
    for triple in triples_by_size(graph):
        label = schema.label(triple.type)
        means = f" means {_cut(label)!r}" if label != triple.type else ""
        direction: Direction | None = None if triple.type in schema.symmetric else "out"
        ends = f"{_cut(triple.source)} {arrow(_cut(triple.type), direction)} {_cut(triple.target)}"
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
        yield f"- {_cut(use.node_type)}.{_cut(use.name)} ({use.format}{such_as}): {use.hint}"


def _also(graph: Graph, name: str, *, ends: tuple[str, ...] = ()) -> str:
    """Return the other names of a type, except those that repeat the ends of an edge."""
    words = graph.schema.also_called.get(name, ())
    words = tuple(word for word in words if not ends or any(end not in word for end in ends))
    return f", also called {', '.join(map(_cut, words[:3]))}" if words else ""


def _fitted(lines: Iterable[str], room: int, what: str) -> str:
    """Return as many lines as there is room for, and the number of the others."""
    fitting, left = list[str](), list(lines)
    rest = len(f"\n- {len(left)} more {what}")
    while left and sum(len(line) + 1 for line in (*fitting, left[0])) + (rest if what else 0) <= room:
        fitting.append(left.pop(0))
    if left and fitting and what:
        fitting.append(f"- {len(left)} more {what}")
    return "\n".join(fitting)


def _cut(name: str) -> str:
    return one_line(name, _LONGEST_NAME)
