"""What a model reads about a graph before it explores it by code, from the graph's schema. GraphScout (003), B.4.2.

Node types, their properties, edge types with the node types that they join, and examples of code that run on this very
graph. In a view all names are those of the view.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from orienteer.cypher.names import Catalog
from orienteer.cypher.session import Cypher
from orienteer.cypher.view import View, identifiers, viewed_schema
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.records import Direction, Triple
from orienteer.retrieval.graph_text import MOST_TRIPLES, MOST_TYPES, triples_by_size, types_by_size
from orienteer.text.lines import one_line

_PROPERTIES = 20  # of each node type
_LOOKED_AT = 200  # nodes among which an example's is chosen
_FEW = 50  # neighbours of an example's node at the most, where one has so few: an example is to be quick
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


def describe(graph: Graph, view: View | None, *, has_code: bool) -> Description:
    """Return the description of a graph. With code, the copy that Cypher reads is made if it is missing.

    Raises `MissingExtra` with code and without the extra `cypher`.
    """
    wording = Wording(graph, view)
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

    def __init__(self, graph: Graph, view: View | None) -> None:
        self.graph, self.view = graph, view
        self.schema = graph.schema if view is None else viewed_schema(graph.schema, view)
        self._identifiers = None if view is None else identifiers(graph.arrays, view)

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

    def node_type(self, name: str) -> str:
        """Return the name of a node type in Cypher."""
        return name if self.view is None else self.schema.label(name)

    def edge_type(self, name: str) -> str:
        """Return the name of an edge type in Cypher, as `type(r)` returns it."""
        return name if self.view is None else self.schema.label(name)

    def identifier(self, row: int) -> str:
        """Return the `id` of a node."""
        return self.graph.arrays.ids[row] if self._identifiers is None else self._identifiers.of(row)

    def node(self, variable: str, name: str, conditions: str = "") -> str:
        """Return the pattern for a node of a type."""
        return f"({variable}:{quoted(self.node_type(name))}{conditions})"

    def edge(self, triple: Triple, direction: Direction = "out") -> str:
        """Return the pattern for an edge, seen from its source or, for `in`, from its target."""
        bare = f"-[:{quoted(self.edge_type(triple.type))}]-"
        if triple.type in self.schema.symmetric:
            return bare
        return f"{bare}>" if direction == "out" else f"<{bare}"


def examples(graph: Graph, view: View | None) -> list[str]:
    """Return examples of code: what is around a node, one step, two steps counted, words in names."""
    wording = Wording(graph, view)
    steps = _steps(wording)
    if steps is None:
        name = max(graph.schema.node_types, key=lambda node_type: graph.schema.node_types[node_type])
        return [_code(f"MATCH {wording.node('n', name)} RETURN n.id AS id, n.name AS name ORDER BY id LIMIT 5")]
    first, second, row = steps
    parameters = {"id": wording.identifier(row)}
    start = wording.node("a", first.source, " {id: $id}")
    step = f"{start}{wording.edge(first)}{wording.node('b', first.target)}"
    pieces = [
        "# what is around a node, by edge type\n"
        + _code(f"MATCH {start}-[r]-(b) RETURN type(r) AS edge, count(DISTINCT b) AS n ORDER BY n DESC", parameters),
        "# the neighbours by one edge type\n"
        + _code(f"MATCH {step} RETURN b.id AS id, b.name AS name ORDER BY name LIMIT 10", parameters),
        "# nodes of a type whose name has a word\n"
        + _code(
            f"MATCH {wording.node('n', first.source)} WHERE toLower(n.name) CONTAINS toLower($word) "
            "RETURN n.id AS id, n.name AS name ORDER BY name LIMIT 5",
            {"word": _word(graph.arrays.names[row])},
        ),
    ]
    if second is not None:
        triple, direction = second
        far = triple.target if direction == "out" else triple.source
        path = f"{step}{wording.edge(triple, direction)}{wording.node('c', far)}"
        counted = "RETURN c.id AS id, c.name AS name, count(DISTINCT b) AS n ORDER BY n DESC, id LIMIT 3"
        pieces.append(
            "# two steps, counted: the first of these is met most often\n"
            + _code(f"MATCH {path} {counted}", parameters)
        )
    return pieces


def quoted(name: str) -> str:
    """Return a type as Cypher takes it: in backticks unless it is a plain word."""
    return name if _WORD.fullmatch(name) else f"`{name.replace('`', '``')}`"


def _code(query: str, parameters: dict[str, str] | None = None) -> str:
    """Return code that runs a query and prints its rows."""
    argument = f", {json.dumps(parameters, ensure_ascii=False)}" if parameters else ""
    text = json.dumps(query, ensure_ascii=False)  # whose escapes are Python's as well
    return f"rows = cypher({text}{argument})\nprint(rows)"


def _steps(wording: Wording) -> tuple[Triple, tuple[Triple, Direction] | None, int] | None:
    """Return the commonest kind of edge, one that leads on from it, and a node that the first kind leaves."""
    graph = wording.graph
    triples = triples_by_size(graph)
    for first in triples:
        rows = _sources(graph, first)
        if len(rows):
            row = _quick(graph, rows)
            reached = graph.arrays.entries(np.array([row], np.int32), [first.target], [first.type], "out").neighbor
            return first, _next(graph, triples, first, np.unique(reached[reached != row])), row
    return None


def _next(graph: Graph, triples: Sequence[Triple], first: Triple, rows: Rows) -> tuple[Triple, Direction] | None:
    """Return the commonest other kind of edge around these nodes, with the direction in which it is walked."""
    directions: tuple[Direction, ...] = ("out", "in")
    for triple in triples:
        for direction in directions:
            near, far = (triple.source, triple.target) if direction == "out" else (triple.target, triple.source)
            if triple == first or near != first.target:
                continue
            entries = graph.arrays.entries(rows, [far], [triple.type], direction)
            if (entries.neighbor != entries.owner).any():
                return triple, direction
    return None


def _sources(graph: Graph, triple: Triple) -> Rows:
    """Return the first nodes that edges of a kind leave: (n,), ascending."""
    rows = np.flatnonzero(graph.arrays.node_types == graph.arrays.types.nodes.index(triple.source))[:_LOOKED_AT].astype(
        np.int32
    )
    entries = graph.arrays.entries(rows, [triple.target], [triple.type], "out")
    return np.unique(entries.owner[entries.neighbor != entries.owner]).astype(np.int32)


def _quick(graph: Graph, rows: Rows) -> int:
    """Return the first node with few neighbours; without one, the first node."""
    few = (row for row in rows.tolist() if len(graph.arrays.adjacency.neighbors(row)) <= _FEW)
    return int(next(few, int(rows[0])))


def _word(name: str) -> str:
    """Return the longest word of a name; the name where it has no word."""
    return max(re.findall(r"\w+", name), key=len, default=name)


def _node_types(wording: Wording) -> Iterator[str]:
    names = types_by_size(wording.graph)
    for name in names[:MOST_TYPES]:
        yield f"- {quoted(one_line(wording.node_type(name)))}: {wording.graph.schema.node_types[name]:,}"
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
            yield f"- {quoted(one_line(wording.node_type(name)))}: {', '.join(own[:_PROPERTIES])}{more}"


def _edge_types(wording: Wording) -> Iterator[str]:
    triples = triples_by_size(wording.graph)
    for triple in triples[:MOST_TRIPLES]:
        called = wording.edge_type(triple.type)
        label = wording.graph.schema.label(triple.type)
        meaning = f" [{one_line(label)}]" if wording.view is None and label != called else ""
        source, target = (one_line(quoted(wording.node_type(end))) for end in (triple.source, triple.target))
        count = wording.graph.schema.edges[triple]
        yield f"- ({source}){one_line(wording.edge(triple))}({target}){meaning}: {count:,}"
    if len(triples) > MOST_TRIPLES:
        yield f"- {len(triples) - MOST_TRIPLES} rarer ones"
