"""The text about a graph that a model reads before it explores it by code. GraphScout (003), B.4.2.

Node types, their properties, edge types with the node types that they join, and examples of code that run on this very
graph. In a view all names are those of the view.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from orienteer.cypher.names import Catalog, View, identifiers, viewed_schema
from orienteer.cypher.session import Cypher
from orienteer.errors import TooManyEdges
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.records import Direction, Triple
from orienteer.retrieval.graph_text import (
    MOST_TRIPLES,
    MOST_TYPES,
    PARTIAL,
    partly,
    triples_by_size,
    types_by_size,
)
from orienteer.text.sentences import one_line

_PROPERTIES = 20  # of each node type
_LOOKED_AT = 200  # nodes among which an example's is chosen
_FEW = 50  # neighbours of an example's node at the most, where one has so few: an example is to be quick
_STEPS = 3  # of a walk for an example
_MANY = 20_000  # edges of one of its steps at the most
_LONGEST_NAME = 80  # characters by which an example gives a node
_ALTERNATIVES = 4  # edge types of one pattern
_WORD = re.compile(r"[^\W\d]\w*")


class Description(NamedTuple):
    """The parts of a prompt that come from the graph. Of its nodes they hold one id and one word of a name, no more."""

    scope: str
    """Which label all nodes have, and which way arrows may point."""
    node_types: str
    properties: str
    """The properties of each node type; empty without code."""
    edge_types: str
    examples: str
    """Code that runs; empty without code."""


def describe(graph: Graph, view: View | None, *, has_code: bool, is_plain: bool = False) -> Description:
    """Return the description of a graph, a plain one without counts.

    With code, the copy that Cypher reads is made if it is missing.
    """
    wording = Wording(graph, view, is_plain=is_plain)
    catalog = Cypher(graph).names.catalog if has_code else None
    return Description(
        scope=wording.scope,
        node_types="\n".join(_node_types(wording)),
        properties="\n".join(_properties(wording, catalog)) if catalog is not None else "",
        edge_types="\n".join(_edge_types(wording)),
        examples="\n\n".join(examples(graph, view)) if has_code else "",
    )


class Wording:
    """How a graph's types and nodes are written in Cypher, in a view or without one."""

    def __init__(self, graph: Graph, view: View | None, *, is_plain: bool = False) -> None:
        self.graph, self.view, self.is_plain = graph, view, is_plain
        self.schema = graph.schema if view is None else viewed_schema(graph.schema, view)
        self._identifiers = None if view is None else identifiers(graph.arrays, view)

    def counted(self, name: str, count: int) -> str:
        """Return how many there are of a type, and that it is held in part; nothing in a plain description."""
        return "" if self.is_plain else f": {count:,}{partly(self.graph, name)}"

    @property
    def scope(self) -> str:
        """Which label all nodes have, and which way arrows may point."""
        arrows = "an arrow must point as in the list of edge types, or be left out: (a)-[:X]-(b)"
        if self.view is None:
            return f"A node has one label, its type. Edges have a direction: {arrows}."
        but = f", but for {', '.join(self.view.directed)}" if self.view.directed else ""
        both = f"Edges can be walked from either end: an arrow matches whichever way it points{but}."
        if self.view.label is None:
            return f"A node has one label, its type. {both}"
        return (
            f"Every node has the label {quoted(self.view.label)} beside its type: (n:{quoted(self.view.label)}). {both}"
        )

    def label(self, name: str) -> str:
        """Return the name of a node type or an edge type in Cypher, as `type(r)` returns it."""
        return name if self.view is None else self.schema.label(name)

    def identifier(self, row: int) -> str:
        """Return the `id` of a node."""
        return self.graph.arrays.ids[row] if self._identifiers is None else self._identifiers.of(row)

    def node(self, variable: str, name: str, conditions: str = "") -> str:
        """Return the pattern for a node of a type."""
        return f"({variable}:{quoted(self.label(name))}{conditions})"

    def edge(self, triple: Triple, direction: Direction = "out") -> str:
        """Return the pattern for an edge, seen from its source or, for `in`, from its target."""
        bare = f"-[:{quoted(self.label(triple.type))}]-"
        if triple.type in self.schema.symmetric:
            return bare
        return f"{bare}>" if direction == "out" else f"<{bare}"


def examples(graph: Graph, view: View | None) -> list[str]:
    """Return examples of code: what is around a node, words in names, what joins two nodes, a path that is counted."""
    wording = Wording(graph, view)
    walk = _walk(graph)
    if walk is None:
        name = max(graph.schema.node_types, key=lambda node_type: graph.schema.node_types[node_type])
        return [_code(f"MATCH {wording.node('n', name)} RETURN n.id AS id, n.name AS name ORDER BY id LIMIT 5")]
    first, name = walk.steps[0].near, graph.arrays.names[walk.row]
    begin = wording.node("a", first, " {id: $id}")
    return [
        "# what is around a node, by edge type\n"
        + _code(
            f"MATCH {begin}-[r]-(b) RETURN type(r) AS edge, count(DISTINCT b) AS n ORDER BY n DESC",
            {"id": wording.identifier(walk.row)},
        ),
        "# nodes of any type whose name has a word\n"
        + _code(
            "MATCH (n) WHERE toLower(n.name) CONTAINS toLower($word) "
            "RETURN n.id AS id, labels(n)[0] AS type, n.name AS name ORDER BY name LIMIT 5",
            {"word": max(re.findall(r"\w+", name), key=len, default=name)},
        ),
        _joining(wording, walk),
        _counted(wording, walk),
    ]


def _joining(wording: Wording, walk: _Walk) -> str:
    """Return code that finds what joins two nodes known by name, by any edge of theirs; of a short walk, one step."""
    step, *others = walk.steps
    begin, parameters = _anchor_pattern(wording, "a", step.near, walk.row)
    pattern = f"{begin}-[r{_any_type(wording, step)}]-{wording.node('b', step.far)}"
    if not others:
        found = "RETURN b.id AS id, b.name AS name, type(r) AS edge ORDER BY name LIMIT 10"
        return "# the neighbours of a node, and by which edge\n" + _code(f"MATCH {pattern} {found}", parameters)
    second = others[0]
    end, other = _anchor_pattern(wording, "c", second.far, second.row, parameter="other")
    found = "RETURN b.id AS id, b.name AS name, type(r) AS first, type(s) AS second ORDER BY name LIMIT 10"
    return "# what joins two nodes, by any of several edge types\n" + _code(
        f"MATCH {pattern}-[s{_any_type(wording, second)}]-{end} {found}", parameters | other
    )


def _counted(wording: Wording, walk: _Walk) -> str:
    """Return code that walks on from a node, and says which of the last nodes is met by most ways."""
    path, parameters = _anchor_pattern(wording, "a", walk.steps[0].near, walk.row)
    for variable, step in zip("bcd", walk.steps, strict=False):
        path += f"{wording.edge(step.triple, step.direction)}{wording.node(variable, step.far)}"
    far, before = "abcd"[len(walk.steps)], "abcd"[len(walk.steps) - 1]
    number = f"count(DISTINCT {before})"
    counted = f"RETURN {far}.id AS id, {far}.name AS name, {number} AS n ORDER BY n DESC, id LIMIT 3"
    edges = ("one edge", "two edges", "three edges")[len(walk.steps) - 1]
    return f"# {edges} away: which is met by most ways\n" + _code(f"MATCH {path} {counted}", parameters)


def _anchor_pattern(
    wording: Wording, variable: str, node_type: str, row: int, *, parameter: str = "name"
) -> tuple[str, dict[str, str]]:
    """Return the pattern for a node that is given by its name, or by its id if the name is long, and its value."""
    name = wording.graph.arrays.names[row]
    key, value = ("name", name) if len(name) <= _LONGEST_NAME else ("id", wording.identifier(row))
    return wording.node(variable, node_type, f" {{{key}: ${parameter}}}"), {parameter: value}


def _any_type(wording: Wording, step: _Step) -> str:
    """Return the edge types that join the two node types of a step, whichever way, that of the step first: `:A|B`."""
    ends = {step.near, step.far}
    types = [triple.type for triple in triples_by_size(wording.graph) if {triple.source, triple.target} == ends]
    several = dict.fromkeys((step.triple.type, *types))
    return ":" + "|".join(quoted(wording.label(name)) for name in islice(several, _ALTERNATIVES))


class _Step(NamedTuple):
    """A step along a kind of edge, and a node that it leads to."""

    triple: Triple
    direction: Direction
    row: int

    @property
    def near(self) -> str:
        """Return the type of the node that it leaves."""
        return self.triple.source if self.direction == "out" else self.triple.target

    @property
    def far(self) -> str:
        """Return the type of the node that it leads to."""
        return self.triple.target if self.direction == "out" else self.triple.source


class _Walk(NamedTuple):
    """A node, and up to three steps that can be walked from it."""

    row: int
    steps: tuple[_Step, ...]


def quoted(name: str) -> str:
    """Return a type as Cypher takes it: in backticks unless it is a plain word."""
    return name if _WORD.fullmatch(name) else f"`{name.replace('`', '``')}`"


def _code(query: str, parameters: dict[str, str] | None = None) -> str:
    """Return code that runs a query and prints its rows."""
    argument = f", {json.dumps(parameters, ensure_ascii=False)}" if parameters else ""
    text = json.dumps(query, ensure_ascii=False)  # whose escapes are Python's as well
    return f"rows = cypher({text}{argument})\nprint(rows)"


def _walk(graph: Graph) -> _Walk | None:
    """Return a walk for examples: along common edge types, with several between two node types if possible."""
    triples = triples_by_size(graph)
    pairs = Counter(frozenset((triple.source, triple.target)) for triple in triples)
    for first in sorted(triples, key=lambda triple: pairs[frozenset((triple.source, triple.target))] < 2):
        # An example takes the first nodes that edges of this kind leave; a kind with too many edges to read has none.
        rows = graph.arrays.first_of([first.source], _LOOKED_AT)
        try:
            entries = graph.arrays.entries(rows, [first.target], [first.type], "out")
        except TooManyEdges:
            continue
        rows = np.unique(entries.owner[entries.neighbor != entries.owner]).astype(np.int32)
        if len(rows):
            # The first node with few neighbours, else the first node.
            few = (row for row in rows.tolist() if len(graph.arrays.adjacency.neighbors(row)) <= _FEW)
            row = int(next(few, int(rows[0])))
            reached = graph.arrays.entries(np.array([row], np.int32), [first.target], [first.type], "out").neighbor
            begin = _Step(first, "out", int(reached[reached != row][0]))
            return _Walk(row, _longer(graph, triples, begin, row, np.unique(reached[reached != row])))
    return None


def _longer(graph: Graph, triples: Sequence[Triple], begin: _Step, row: int, rim: Rows) -> tuple[_Step, ...]:
    """Return up to three steps that never come back: each set of nodes is new."""
    steps, seen = [begin], np.union1d(np.array([row]), rim)
    while len(steps) < _STEPS:
        found = _next(graph, triples, [step.triple for step in steps], steps[-1].far, rim, seen)
        if found is None:
            break
        step, rim = found
        steps.append(step)
        seen = np.union1d(seen, rim)
    return tuple(steps)


def _next(
    graph: Graph, triples: Sequence[Triple], walked: Sequence[Triple], node_type: str, rows: Rows, seen: Rows
) -> tuple[_Step, Rows] | None:
    """Return a step from these nodes to nodes not seen before, and those: along the commonest kind of edge."""
    directions: tuple[Direction, ...] = ("out", "in")
    # An example with a new kind of edge shows more: kinds that were walked come last.
    for triple in sorted(triples, key=lambda triple: triple in walked):
        for direction in directions:
            near, far = (triple.source, triple.target) if direction == "out" else (triple.target, triple.source)
            if near != node_type:
                continue
            try:
                entries = graph.arrays.entries(rows.astype(np.int32), [far], [triple.type], direction)
            except TooManyEdges:  # that is more than an example needs
                continue
            reached = np.setdiff1d(entries.neighbor, seen)
            if len(reached) and len(entries.neighbor) <= _MANY:
                return _Step(triple, direction, int(reached[0])), reached
    return None


def _node_types(wording: Wording) -> Iterator[str]:
    names = types_by_size(wording.graph)
    for name in names[:MOST_TYPES]:
        count = wording.counted(name, wording.graph.schema.node_types[name])
        yield f"- {quoted(one_line(wording.label(name)))}{count}"
    if len(names) > MOST_TYPES:
        yield f"- {len(names) - MOST_TYPES} rarer ones"


def _properties(wording: Wording, catalog: Catalog) -> Iterator[str]:
    yield "- every node: id, name"
    for name in islice(wording.graph.schema.node_types, MOST_TYPES):
        own = [
            f"{quoted(one_line(key))} ({column.kind})"
            for key, column in catalog.node_columns.items()
            if name in column.types and key not in ("id", "name")
        ]
        more = f", {len(own) - _PROPERTIES} more" if len(own) > _PROPERTIES else ""
        if own:
            yield f"- {quoted(one_line(wording.label(name)))}: {', '.join(own[:_PROPERTIES])}{more}"


def _edge_types(wording: Wording) -> Iterator[str]:
    triples = triples_by_size(wording.graph)
    for triple in triples[:MOST_TRIPLES]:
        called = wording.label(triple.type)
        label = wording.graph.schema.label(triple.type)
        meaning = f" [{one_line(label)}]" if wording.view is None and label != called else ""
        source, target = (one_line(quoted(wording.label(end))) for end in (triple.source, triple.target))
        count = wording.counted(triple.type, wording.graph.schema.edges[triple])
        yield f"- ({source}){one_line(wording.edge(triple))}({target}){meaning}{count}"
    if len(triples) > MOST_TRIPLES:
        yield f"- {len(triples) - MOST_TRIPLES} rarer ones"
    if wording.graph.schema.partial and not wording.is_plain:
        yield PARTIAL
