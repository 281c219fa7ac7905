"""Patterns of several edges, however they are joined, against brute force."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from orienteer.cypher import Cypher
from orienteer.graph import Graph
from orienteer.records import Edge, Node

NODE_TYPES = ("Gene", "process", "effect")
EDGE_TYPES = {"binds": (0, 0), "takes part": (0, 1), "causes": (2, 0), "regulates": None}
BACK = {"->": "<-", "<-": "->", "--": "--"}


@pytest.fixture(scope="module", params=[4, 11])
def made(request, scratch):
    """Give a graph with parallel edges whose types join several pairs of node types."""
    chance = np.random.default_rng(request.param)
    nodes = [
        Node(f"n{at:02}", NODE_TYPES[at % 3], f"name {at % 7}", properties={"year": 1990 + at % 9}) for at in range(21)
    ]
    edges = []
    for name, ends in EDGE_TYPES.items():
        for _ in range(24):
            source, target = (int(one) for one in chance.integers(0, 21, 2))
            if source == target or (ends and (source % 3, target % 3) != ends):
                continue
            for _ in range(int(1 + (chance.random() < 0.3))):
                weight = {"w": int(chance.integers(0, 10))}
                edges.append(Edge(nodes[source].id, name, nodes[target].id, properties=weight))
    return Graph.from_records(nodes, edges, path=scratch()), nodes, edges


class Cases:
    """Random patterns with all ways to lay them on a graph."""

    def __init__(self, nodes, edges, seed):
        self.nodes, self.edges = {node.id: node for node in nodes}, edges
        self.types = sorted({edge.type for edge in edges})
        self.chance = np.random.default_rng(seed)
        self.around = defaultdict(list)
        for number, edge in enumerate(edges):
            self.around[edge.source].append((number, edge.target, "->"))
            self.around[edge.target].append((number, edge.source, "<-"))

    def solve(self, pattern, types, laid, used=frozenset()):
        """Return what each name of a pattern stands for; no edge stands twice."""
        if not pattern:
            yield laid
            return
        start, edge_types, arrow, end, name = pattern[0]
        if start not in laid and end in laid:
            start, end, arrow = end, start, BACK[arrow]
        fits = [one.id for one in self.nodes.values() if types[start] in (None, one.type)]
        for begin in [laid[start]] if start in laid else fits:
            for number, other, way in self.around[begin]:
                if number in used or arrow not in ("--", way):
                    continue
                if (edge_types and self.edges[number].type not in edge_types) or other != laid.get(end, other):
                    continue
                if end not in laid and types[end] not in (None, self.nodes[other].type):
                    continue
                yield from self.solve(
                    pattern[1:], types, {**laid, start: begin, end: other, name: number}, used | {number}
                )

    def pattern(self):
        """Return edges between names, a ring now and then, and the types of the nodes."""
        chance, names, pattern = self.chance, ["a"], []
        for at in range(int(chance.integers(2, 5))):
            start = names[-1] if chance.random() < 0.7 else names[int(chance.integers(len(names)))]
            names.append("bcdef"[at])
            types = tuple(chance.choice(self.types, int(chance.integers(0, 3)), replace=False))
            pattern.append((start, types, str(chance.choice(["->", "<-", "--"])), names[-1], f"r{at}"))
        if chance.random() < 0.2:
            pattern.append((names[-1], (), "--", names[0], f"r{len(pattern)}"))
        return pattern, names, {one: chance.choice(NODE_TYPES) if chance.random() < 0.3 else None for one in names}

    def conditions(self, names, pattern, solution, anchors):
        """Return conditions, as text and as what tells whether they hold."""
        chance, nodes, edges = self.chance, self.nodes, self.edges
        chosen = [names[int(one)] for one in chance.permutation(len(names))]
        found = [
            (f"{one}.id = '{solution[one]}'", lambda laid, n=one, i=solution[one]: laid[n] == i)
            for one in chosen[:anchors]
        ]
        one, other = chosen[0], chosen[-1]
        edge, second = (pattern[int(at)][4] for at in chance.integers(0, len(pattern), 2))
        further = [
            (f"{one}.name <> {other}.name", lambda laid: nodes[laid[one]].name != nodes[laid[other]].name),
            (
                f"{edge}.w <= {second}.w",
                lambda laid: edges[laid[edge]].properties["w"] <= edges[laid[second]].properties["w"],
            ),
            (f"{edge}.w > 3", lambda laid: edges[laid[edge]].properties["w"] > 3),
            (f"{other}.year > 1993", lambda laid: nodes[laid[other]].properties["year"] > 1993),
        ]
        return found + [further[int(at)] for at in chance.permutation(4)[: int(chance.integers(0, 3))]]

    def text(self, pattern, types, seen):
        """Return a pattern as Cypher, each type where its node stands first."""
        return ", ".join(
            f"{self._node(start, types, seen)}{'<-' if arrow == '<-' else '-'}"
            f"[{name}{':' if edge_types else ''}{'|'.join(f'`{one}`' for one in edge_types)}]"
            f"{'->' if arrow == '->' else '-'}{self._node(end, types, seen)}"
            for start, edge_types, arrow, end, name in pattern
        )

    def _node(self, name, types, seen):
        label = f":{types[name]}" if types[name] and name not in seen else ""
        seen.add(name)
        return f"({name}{label})"

    def small(self):
        """Return a pattern with all its solutions, neither none nor thousands."""
        while True:
            pattern, names, types = self.pattern()
            solutions = [one for one, _ in zip(self.solve(pattern, types, {}), range(2000), strict=False)]
            if 0 < len(solutions) < 2000:
                return pattern, names, types, solutions


def where(conditions):
    return f" WHERE {' AND '.join(text for text, _ in conditions)}" if conditions else ""


def holds(conditions, laid):
    return all(test(laid) for _, test in conditions)


def columns(names):
    return ", ".join(f"{one}.id" for one in names)


def check_one_match(made, how_many, seed):
    graph, nodes, edges = made
    cases = Cases(nodes, edges, seed)
    for _ in range(how_many):
        pattern, names, types, solutions = cases.small()
        conditions = cases.conditions(names, pattern, solutions[0], int(cases.chance.integers(0, 3)))
        text = f"MATCH {cases.text(pattern, types, set())}{where(conditions)} RETURN {columns(names)}"
        right = Counter(tuple(one[name] for name in names) for one in solutions if holds(conditions, one))
        assert Counter(Cypher(graph).query(text, limit=100_000).rows) == right, text


def check_two_parts(made, how_many, seed):
    """The second part in a MATCH of its own, behind a WITH, optional, or as a condition."""
    graph, nodes, edges = made
    cases = Cases(nodes, edges, seed)
    for _ in range(how_many):
        pattern, names, types, solutions = cases.small()
        cut = int(cases.chance.integers(1, len(pattern)))
        first, second = pattern[:cut], pattern[cut:]
        known = [one for one in names if any(one in (edge[0], edge[3]) for edge in first)]
        conditions = cases.conditions(known, first, solutions[0], int(cases.chance.integers(0, 2)))
        others = [one for one in names if one not in known] or known
        asked = cases.conditions(others if cases.chance.random() < 0.5 else names, second, solutions[0], 0)
        laid = [one for one in cases.solve(first, types, {}) if holds(conditions, one)]
        found = [(one, [two for two in cases.solve(second, types, one) if holds(asked, two)]) for one in laid]
        if sum(len(ends) for _, ends in found) > 3000:
            continue
        seen = set()
        begin = f"MATCH {cases.text(first, types, seen)}{where(conditions)}"
        rest = f"{cases.text(second, types, seen)}{where(asked)}"
        every = Counter(tuple(two[name] for name in names) for _, ends in found for two in ends)
        for between in ("", f" WITH {', '.join(known)}"):
            text = f"{begin}{between} MATCH {rest} RETURN {columns(names)}"
            assert Counter(Cypher(graph).query(text, limit=100_000).rows) == every, text
        every.update(tuple(one.get(name) for name in names) for one, ends in found if not ends)
        ids = [(tuple(one[name] for name in known), len(ends)) for one, ends in found]
        also = " AND" if conditions else " WHERE"
        expected = {
            f"{begin} OPTIONAL MATCH {rest} RETURN {columns(names)}": every,
            f"{begin}{also} EXISTS {{ MATCH {rest} }} RETURN {columns(known)}": Counter(one for one, k in ids if k),
            f"{begin}{also} NOT EXISTS {{ MATCH {rest} }} RETURN {columns(known)}": Counter(
                one for one, k in ids if not k
            ),
            f"{begin} RETURN {columns(known)}, COUNT {{ {rest} }} AS k": Counter((*one, k) for one, k in ids),
        }
        for text, right in expected.items():
            assert Counter(Cypher(graph).query(text, limit=100_000).rows) == right, text


def test_edges_of_one_match(made):
    check_one_match(made, 60, seed=1)


def test_two_parts_of_a_query(made):
    check_two_parts(made, 25, seed=2)


def test_parts_without_a_node_in_common(made):
    """Each is joined on its own; what compares them comes last, and no edge stands in both."""
    graph, nodes, edges = made
    cases = Cases(nodes, edges, seed=3)
    for _ in range(15):
        pattern, _, types, _ = cases.small()
        pattern = pattern[:2]
        names = sorted({one for edge in pattern for one in (edge[0], edge[3])})
        other = [(start.upper(), kinds, arrow, end.upper(), f"s{name}") for start, kinds, arrow, end, name in pattern]
        every = {**types, **{name.upper(): None for name in types}}
        one = next(cases.solve(pattern, every, {}))
        two = next(cases.solve(other, every, {}))
        first, second = names[0], names[-1].upper()
        text = (
            f"MATCH {cases.text(pattern, every, set())}, {cases.text(other, every, set())} "
            f"WHERE {first}.id = '{one[first]}' AND {second}.id = '{two[second]}' "
            f"AND {names[1]}.year <> {second}.year RETURN {columns(names)}, {second}.id"
        )
        year = {node.id: node.properties["year"] for node in nodes}
        right = Counter(
            (*(left[name] for name in names), two[second])
            for left in cases.solve(pattern, every, {first: one[first]})
            for laid in cases.solve(other, every, {second: two[second]})
            if year[left[names[1]]] != year[two[second]]
            and {left[edge[4]] for edge in pattern}.isdisjoint(laid[edge[4]] for edge in other)
        )
        assert Counter(Cypher(graph).query(text, limit=100_000).rows) == right, text


def test_a_condition_on_an_edge_counts_for_all_its_rows(scratch):
    """The engine read one of an edge's rows once the next edge had been walked from them: parallel edges show it."""
    nodes = [Node(f"p{at}", "package" if at % 2 else "source", f"p{at}") for at in range(8)]
    edges = [
        Edge(f"p{one}", "depends", f"p{other}", properties={"w": (one + other + twice) % 4})
        for one in range(8)
        for other in range(8)
        if one != other
        for twice in range(1 + (one + other) % 2)
    ]
    graph = Graph.from_records(nodes, edges, path=scratch())
    numbered = list(enumerate(edges))
    right = Counter(
        (first.source, first.target, third.target)
        for one, first in numbered
        for two, second in numbered
        if second.source == first.target == "p3" and two != one and first.properties["w"] > 1
        for three, third in numbered
        if third.source == second.target and three not in (one, two) and third.properties["w"] < first.properties["w"]
    )
    found = Cypher(graph).query(
        "MATCH (a)-[r]->(b)-[]->(c)-[s]->(d) WHERE b.id = 'p3' AND r.w > 1 AND s.w < r.w RETURN a.id, b.id, d.id",
        limit=100_000,
    )
    assert Counter(found.rows) == right


def test_types_properties_and_texts_may_be_called_as_the_engines_variables_are(scratch):
    """What the engine joins in which order is read off its own text, where `v0` may be a variable or a type."""
    found = []
    for a, b, r, s, key, text in (("A", "B", "R", "S", "k", "x"), ("v0", "v1", "v2", "v3", "v4", "nodes(v5")):
        chance = np.random.default_rng(3)
        nodes = [Node(f"n{at}", (a, b)[at % 2], "x", properties={key: (text, "y")[at % 3 == 0]}) for at in range(12)]
        ends = chance.integers(0, 12, (40, 2)).tolist()
        edges = [Edge(f"n{one}", (r, s)[(one + two) % 2], f"n{two}") for one, two in ends if one != two]
        cypher = Cypher(Graph.from_records(nodes, edges, path=scratch()))
        for query in (
            f"MATCH (x:{a}) WHERE EXISTS {{ (x)-[:{r}]-(y)-[:{s}]-(z) WHERE y.{key} = '{text}' }} RETURN x.id",
            f"MATCH (x:{a}) RETURN x.id, COUNT {{ (x)--(y:{b})-[:{s}]-(z) WHERE y.{key} <> z.{key} }} AS number",
            f"MATCH (x:{a}) OPTIONAL MATCH (x)-[:{r}]-(y)-[:{s}]-(z:{b}) WHERE z.{key} = '{text}' RETURN x.id, z.id",
            f"MATCH (x:{a})-[:{r}]-(y), (z:{b})-[:{s}]-(w) WHERE y.{key} = '{text}' AND w.{key} = 'y' RETURN x.id",
        ):
            table = cypher.query(query, limit=None)
            assert table.rows, query
            found.append((sorted(map(repr, table.rows)), table.notes))
    assert found[:4] == found[4:]
