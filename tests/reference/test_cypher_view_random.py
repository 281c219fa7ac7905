"""Random patterns on random graphs through a view, against brute force over the edges that the store holds.

The graphs have what makes a view hard: identifiers that nodes of two types share or only some have, ids that do not
begin as others of their type, names with quotes, backticks, backslashes and spaces, edge types that join several pairs
of types, in both ways, parallel edges, and one type that keeps its direction.
"""

from collections import Counter

import numpy as np
import pytest

from orienteer.cypher import Cypher, View
from orienteer.errors import BadQuery
from orienteer.records import Edge, Node

LABEL = "dom'a`in"
TYPES = {"Disease": "Disease", "Body Part": "Body_Part", "sym`p'": "sym_p", "Gene": "Gene"}
JOINS = {
    "r": [("Disease", "Body Part")],
    "located in": [("Disease", "Body Part"), ("Gene", "Body Part"), ("Gene", "Gene")],
    "d'd": [("Disease", "Gene")],
    "w`w": [("sym`p'", "Gene"), ("Gene", "sym`p'")],
    "dir": [("Gene", "Gene")],
}
SUFFIXES = ("1", "2", "x:y", "it's", "b`q", "ba\\ck", "::z", "e\u0301")


class Made:
    """A random graph, and what its nodes and edges are called in the view."""

    def __init__(self, build, chance):
        share = chance.choice([0.0, 0.5, 1.0])
        nodes = [Node(f"{one}::!", one, properties={"identifier": "!"} if share else {}) for one in TYPES]  # the first
        for at in range(8):
            name, suffix = chance.choice(list(TYPES)), chance.choice(SUFFIXES)
            given = {"identifier": str(chance.choice(SUFFIXES[:4]))} if chance.random() < share else {}
            node = f"{name}::{suffix}{at}" if chance.random() < 0.85 else f"odd{at}"
            nodes.append(Node(node, str(name), f"n{at % 3}", properties=given))
        edges = []
        for _ in range(14):
            edge_type = str(chance.choice(list(JOINS)))
            source, target = JOINS[edge_type][int(chance.integers(len(JOINS[edge_type])))]
            ends = [str(chance.choice([one.id for one in nodes if one.type == kind])) for kind in (source, target)]
            if ends[0] != ends[1]:
                edges.append(Edge(ends[0], edge_type, ends[1]))
        self.graph = build(nodes, edges)
        self.edges = [(one.source, one.type, one.target) for one in self.graph.iter_edges()]
        self.type = {one.id: one.type for one in nodes}
        self.shown = {one.id: one.properties.get("identifier", one.id.removeprefix(f"{one.type}::")) for one in nodes}
        joined = {name: {(self.type[a], self.type[b]) for a, one, b in self.edges if one == name} for name in JOINS}
        self.called = {name: _called(name, pairs) for name, pairs in joined.items() if pairs}
        self.view = View(label=LABEL, directed=("dir",) if joined["dir"] else ())

    def walks(self, start, pattern, used=()):
        """Return each way to walk a pattern from a node: its nodes and edges in turn."""
        if not pattern:
            yield (start,)
            return
        (names, arrow, least, most), wanted, *rest = pattern
        rim = [((start,), used)]
        for length in range(1, most + 1):
            rim = [
                ((*walk, at, other), (*seen, at))
                for walk, seen in rim
                for at, edge in enumerate(self.edges)
                if at not in seen and (names is None or edge[1] in names)
                for other in _ends(edge, walk[-1], "--" if names != ("dir",) else arrow)
            ]
            for walk, seen in rim if length >= least else ():
                if wanted is None or self.type[walk[-1]] in wanted:
                    for further in self.walks(walk[-1], rest, seen):
                        yield (*walk[:-1], *further)


def _called(name, pairs):
    parts = [name] if len(pairs) > 1 else [next(iter(pairs))[0], name, next(iter(pairs))[1]]
    return "_".join("".join(one if one.isalnum() else " " for one in "_".join(parts)).split()).upper()


def _ends(edge, node, arrow):
    if edge[0] == node and arrow != "<-":
        yield edge[2]
    if edge[2] == node and arrow != "->":
        yield edge[0]


def quoted(name):
    return "`" + name.replace("`", "``") + "`"


def text_of(value):
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def random_node(chance):
    """Return labels as they are written, and the types that they mean."""
    name, other = (str(one) for one in chance.choice(list(TYPES), 2, replace=False))
    domain = quoted(LABEL)
    return [
        ("", None), ("", None), ("", None), (f":{domain}", None), (f":{quoted(name)}", {name}),
        (f":{quoted(TYPES[name])}:{domain}", {name}), (f":{domain}:{quoted(name)}", {name}),
        (f":{quoted(name)}|{quoted(TYPES[other])}", {name, other}),
    ][int(chance.integers(8))]  # fmt: skip


def random_pattern(made, chance, first):
    """Return a pattern as it is written behind its first node, and as `walks` takes it."""
    text, pattern = "", []
    for at in range(int(chance.integers(1, 3))):
        known = list(made.called)
        names = (str(chance.choice(known)),) if chance.random() < 0.5 else None
        arrow = str(chance.choice(["->", "<-", "--"]))
        least, most = (1, 1) if chance.random() < 0.7 else ((1, 2), (2, 2))[int(chance.integers(2))]
        labels, types = random_node(chance)
        edge = "" if names is None else f":{quoted(names[0] if chance.random() < 0.4 else made.called[names[0]])}"
        hops = f"*{least}..{most}" if most > 1 else ""
        left, right = {"->": ("-", "->"), "<-": ("<-", "-"), "--": ("-", "-")}[arrow]
        text += f"{left}[{edge}{hops}]{right}({first}{at}{labels})"
        pattern += [(names, arrow, least, most), types]
    return text, pattern


def asked(made, query):
    """Return the rows of an answer with lists as tuples, None where the pattern fits no types of this graph."""
    try:
        found = Cypher(made.graph).query(query, view=made.view, limit=None, seconds=60)
    except BadQuery as error:
        if "No edge of this graph fits" not in str(error):
            raise
        return None
    return Counter(tuple(tuple(one) if isinstance(one, list) else one for one in row) for row in found.rows)


def check_walks(made, chance):
    """Ids, labels and types of what a pattern finds, with a condition on an id, by rows and counted."""
    (labels, types), (text, pattern) = random_node(chance), random_pattern(made, chance, "m")
    starts = [one for one in made.type if types is None or made.type[one] in types]
    given = made.shown[str(chance.choice(list(made.type)))]
    operator = str(chance.choice(["=", "<>", "IN"]))
    means = {"=": lambda one: one == given, "<>": lambda one: one != given, "IN": lambda one: one in (given, "?")}
    walks = [one for start in starts for one in made.walks(start, pattern) if means[operator](made.shown[one[-1]])]
    last = f"m{len(pattern) // 2 - 1}"
    value = f"[{text_of(given)}, '?']" if operator == "IN" else text_of(given)
    start = f"MATCH p = (n{labels}){text} WHERE {last}.id {operator} {value}"
    ids, types_of = "[x IN nodes(p) | x.id] AS ids", "[x IN relationships(p) | type(x)]"
    expected = Counter(
        (
            tuple(made.shown[one] for one in walk[::2]),
            tuple(made.called[made.edges[one][1]] for one in walk[1::2]),
            (TYPES[made.type[walk[-1]]], LABEL),
        )
        for walk in walks
    )
    found = asked(made, f"{start} RETURN {ids}, {types_of} AS types, labels({last}) AS labels")
    assert (found or Counter()) == expected, start
    ends = {}
    for walk in walks:
        ends.setdefault(made.shown[walk[0]], set()).add(walk[-1])
    counted = asked(made, f"{start} WITH n.id AS id, count(DISTINCT {last}) AS k RETURN id, k")
    assert (counted or Counter()) == Counter((one, len(other)) for one, other in ends.items()), start
    both = asked(made, f"{start} RETURN n.id AS id UNION MATCH (n:Gene) RETURN n.id AS id")
    genes = {made.shown[one] for one in made.type if made.type[one] == "Gene"}
    assert both is None or set(both) == {(one,) for one in {*ends, *genes}}, start
    return found is not None and bool(walks)


def check_conditions(made, chance):
    """OPTIONAL MATCH, EXISTS and COUNT from every node of some labels."""
    (labels, types), (text, pattern) = random_node(chance), random_pattern(made, chance, "m")
    starts = [one for one in made.type if types is None or made.type[one] in types]
    walks = {start: list(made.walks(start, pattern)) for start in starts}
    bare, last = text.replace("(m0", "(").replace("(m1", "("), f"m{len(pattern) // 2 - 1}"
    having, without = ([(made.shown[one],) for one in starts if bool(walks[one]) == is_so] for is_so in (True, False))
    expected = {
        f"MATCH (n{labels}) WHERE EXISTS {{ (n){bare} }} RETURN n.id": having,
        f"MATCH (n{labels}) WHERE NOT (n){bare} RETURN n.id": without,
        f"MATCH (n{labels}) WHERE COUNT {{ (n){bare} }} < 2 RETURN count(*)": [
            (sum(len(found) < 2 for found in walks.values()),)
        ],
        f"MATCH (n{labels}) OPTIONAL MATCH (n){text} RETURN n.id, {last}.id, labels({last})[1]": [
            (made.shown[one], made.shown[end], LABEL) if end is not None else (made.shown[one], None, None)
            for one in starts
            for end in [walk[-1] for walk in walks[one]] or [None]
        ],
    }
    answers = {query: asked(made, query) for query in expected}
    for query, found in answers.items():
        assert found is None or found == Counter(expected[query]), query
        assert found is not None or not any(walks.values()), query
    return any(walks.values())


@pytest.mark.parametrize("seed", range(4))
def test_random_patterns_through_a_view(build, seed):
    chance = np.random.default_rng(seed)
    made = Made(build, chance)
    found = [check(made, chance) for _ in range(10) for check in (check_walks, check_conditions)]
    assert sum(found) >= 5, "most patterns fit nothing: they test nothing"
