"""A gold query of the quizzer answered without the engine and without the code that wrote it.

The text of the query is read by patterns of its own, and its walks are taken one node after another over the store's
arrays, in plain Python. Beside it, what the query's shape is: its edges, its edge types, its node types.
"""

import re
from typing import NamedTuple

ID = r"(?:first\.id|\$\w+)"
NODE = re.compile(rf"\((\w*)(?::`((?:[^`]|``)+)`)?(?: \{{id: ({ID})\}})?\)")
EDGE = re.compile(r"(<?)-(?:\[:`((?:[^`]|``)+)`\])?-(>?)")
ALONE = re.compile(r"(?: AND|(?<=WHERE)) NOT EXISTS \{ MATCH (.*?) WHERE (.*?) \}")


class Edge(NamedTuple):
    edge_type: str | None
    arrow: str  # "<", ">" or "" for either
    node: str
    node_type: str


class Path(NamedTuple):
    start: str  # the parameter of an id, or `first.id`
    start_type: str | None
    edges: tuple[Edge, ...]


class Read(NamedTuple):
    """A gold query as it is written."""

    paths: tuple[Path, ...]
    conditions: tuple[tuple[str, str, str], ...]
    others: tuple[Path, ...]
    """Of the node that must not be there beside `first`."""
    apart: tuple[tuple[str, str, str], ...]
    ending: str


def read(query):
    """Return the parts of a gold query."""
    body, _, ending = query.partition(" RETURN ")
    others, apart = (), ()
    if found := ALONE.search(body):
        others = tuple(map(_path, re.split(r", (?=\()", found[1])))
        apart = _conditions(found[2])
        body = body.replace(found[0], "").removesuffix(" WHERE")
    matches, _, where = body.partition(" WHERE ")
    paths = tuple(map(_path, re.split(r" ?MATCH ", matches)[1:]))
    return Read(paths, _conditions(where), others, apart, ending)


def _path(text):
    node = NODE.match(text)
    start, at, edges = node[3] or node[1], node.end(), []
    while at < len(text):
        edge = EDGE.match(text, at)
        after = NODE.match(text, edge.end())
        edges.append(Edge(_plain(edge[2]), edge[1] or edge[3], after[1], _plain(after[2])))
        at = after.end()
    return Path("first.id" if start == "first" else start, _plain(node[2]), tuple(edges))


def _plain(name):
    return None if name is None else name.replace("``", "`")


def _conditions(text):
    return tuple(tuple(re.split(" (<>|=) ", one)) for one in text.split(" AND ")) if text else ()


# ------------------------------------------------------------------------------------------------------------- shape


def hops(query):
    """Count the edges of a gold query's path, the proof that a node is the only one left out."""
    return sum(len(path.edges) for path in read(query).paths)


def edge_types(query):
    """Return the types of a gold query's edges, None for any."""
    return [edge.edge_type for path in read(query).paths for edge in path.edges]


def node_types(query):
    """Return the types of all nodes of a gold query."""
    paths = read(query).paths
    return {edge.node_type for path in paths for edge in path.edges} | {
        path.start_type for path in paths if path.start_type is not None
    }


# ----------------------------------------------------------------------------------------------------------- answers


def answered(graph, query, parameters):
    """Return the ids that a gold query counts, ascending."""
    asked, given = read(query), {f"${name}": graph.arrays.row(value) for name, value in parameters.items()}
    onward = [path for path in asked.paths if path.edges[-1].node == "x"]
    before = [path for path in asked.paths if path.edges[-1].node == "first"]
    if not before:
        return sorted(graph.arrays.ids[row] for row in _met(graph, onward, asked.conditions, given))
    found = set()
    others = _met(graph, asked.others, asked.apart, given)
    for first in _met(graph, before, asked.conditions, given):
        if not others - {first}:
            found |= _met(graph, onward, asked.conditions, {**given, "first.id": first})
    return sorted(graph.arrays.ids[row] for row in found)


def described(graph, query, parameters, *, is_literal=False):
    """Return the ids of the nodes that a hybrid's first pattern finds; or all of which its words alone hold."""
    asked, given = read(query), {f"${name}": graph.arrays.row(value) for name, value in parameters.items()}
    before = [path for path in asked.paths if path.edges[-1].node == "first"]
    return sorted(graph.arrays.ids[row] for row in _met(graph, before, () if is_literal else asked.conditions, given))


def literal(graph, query, parameters):
    """Return the ids that answer where nothing but the question's own words is known: a named node may answer too."""
    asked, given = read(query), {f"${name}": graph.arrays.row(value) for name, value in parameters.items()}
    onward = [path for path in asked.paths if path.edges[-1].node == "x"]
    before = [path for path in asked.paths if path.edges[-1].node == "first"]
    found = set()
    for first in _met(graph, before, (), given) if before else (None,):
        found |= _met(graph, onward, (), {**given, "first.id": first})
    return sorted(graph.arrays.ids[row] for row in found)


def _met(graph, paths, conditions, given):
    """Return the rows in which all paths end."""
    ends = [set(_ends(graph, path, conditions, given)) for path in paths]
    return set.intersection(*ends)


def _ends(graph, path, conditions, given):
    start = given[path.start]
    if path.start_type is not None and graph.arrays.type_at(start) != path.start_type:
        return
    walks = [(start, given)]
    for edge in path.edges:
        walks = [
            (row, bound)
            for at, held in walks
            for row in set(_neighbors(graph, at, edge))
            if _holds(conditions, bound := {**held, f"{edge.node}.id": row})
        ]
    for row, _ in walks:
        yield row


def _neighbors(graph, row, edge):
    begin, end = int(graph.arrays.adjacency.indptr[row]), int(graph.arrays.adjacency.indptr[row + 1])
    for at in range(begin, end):
        other, kind = int(graph.arrays.adjacency.neighbor[at]), int(graph.arrays.adjacency.kind[at])
        if edge.edge_type is not None and graph.arrays.types.edges[kind >> 1] != edge.edge_type:
            continue
        if edge.arrow and (edge.arrow == "<") != bool(kind & 1):
            continue
        if other != row and graph.arrays.type_at(other) == edge.node_type:
            yield other


def _holds(conditions, bound):
    """Tell whether nothing that is known speaks against the conditions."""
    for left, sign, right in conditions:
        if left in bound and right in bound and (bound[left] == bound[right]) != (sign == "="):
            return False
    return True
