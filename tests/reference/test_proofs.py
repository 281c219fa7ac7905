"""Random reading lines against brute force, and every proof alone: its edges, as a graph, satisfy the line."""

import random
from collections import defaultdict
from functools import lru_cache

import pytest

import towns
from orienteer import Retriever
from orienteer.errors import BadOption
from orienteer.graph import Graph

KINDS = ("town", "river", "road")
EDGES = ("crosses", "feeds", "near")
SEEDS = (1, 2, 3, 4)
LINES = 260
MOST_SHOWN = 20  # examples of a count that a proof holds


class Brute:
    """What a line means, node by node; `edges` are (source, type, target)."""

    def __init__(self, nodes, edges):
        self.nodes = {node.id: node for node in nodes}
        self.beside = defaultdict(set)
        for source, edge, target in edges:
            if source != target:
                self.beside[source, edge, "out"].add(target)
                self.beside[target, edge, "in"].add(source)

    def meets(self, node, spec):
        """Return whether a node is in a set `(kinds, names, conditions)`."""
        kinds, names, conditions = spec
        one = self.nodes[node]
        if (kinds and one.type not in kinds) or (names and one.name not in names):
            return False
        return all(self.holds(node, condition) for condition in conditions)

    def holds(self, node, condition):
        match condition:
            case ("not", inner):
                return self.is_denied(node, inner)
            case ("value", key, value):
                return self.nodes[node].properties.get(key) == value
            case ("has", key):
                return key in self.nodes[node].properties
            case ("either", options):
                return any(all(self.holds(node, part) for part in option) for option in options)
            case ("edge", extent, edge, way, target):
                around = self.beside[node, edge, way]
                reached = {other for other in around if self.meets(other, target)}
                if extent == "every":
                    return bool(reached) and reached == {other for other in self.nodes if self.meets(other, target)}
                if extent == "only":
                    of_kind = {other for other in around if not target[0] or self.nodes[other].type in target[0]}
                    return bool(reached) and reached == of_kind
                return bool(reached)
            case ("count", edge, way, target, sign, number):
                count = sum(self.meets(other, target) for other in self.beside[node, edge, way])
                return {">=": count >= number, "=": count == number, "<": count < number}[sign]
        raise AssertionError(condition)

    def is_denied(self, node, condition):
        """Return whether a condition is known not to hold: a node without a value may have any."""
        match condition:
            case ("not", inner):
                return self.holds(node, inner)
            case ("value", key, value):
                return self.nodes[node].properties.get(key) not in (None, value)
            case ("either", options):
                return all(any(self.is_denied(node, part) for part in option) for option in options)
        return not self.holds(node, condition)


class Lines:
    """Random sets, and their text."""

    def __init__(self, chance, nodes):
        self.chance, self.nodes = chance, nodes

    def spec(self, depth):
        kinds = tuple(self.chance.sample(KINDS, self.chance.choice((0, 1, 1, 1, 2))))
        if depth == 0 or (depth < 2 and self.chance.random() < 0.3):
            if self.chance.random() < 0.5:
                return kinds, (), ()
            named = self.chance.sample([node for node in self.nodes if not kinds or node.type in kinds], 2)
            return kinds, tuple(node.name for node in named[: self.chance.choice((1, 2))]), ()
        return kinds, (), tuple(self.condition(depth) for _ in range(self.chance.choice((1, 1, 2, 3))))

    def condition(self, depth):
        draw = self.chance.random()
        if draw < 0.1:
            area = self.chance.choice(("northern", "southern"))
            return self.chance.choice((("value", "area", area), ("has", "area")))
        if draw < 0.2:
            return "not", self.condition(depth)
        if draw < 0.3:
            return "either", tuple((self.condition(depth),) for _ in range(2))
        edge, way = self.chance.choice(EDGES), self.chance.choice(("out", "in"))
        target = self.spec(depth - 1)
        if draw < 0.42:
            return "count", edge, way, target, self.chance.choice((">=", ">=", "=", "<")), self.chance.choice((1, 2, 3))
        extent = self.chance.choice(("some",) * 8 + ("every", "only"))
        return "edge", extent, edge, way, target

    def text(self, spec):
        kinds, names, conditions = spec
        parts = ["|".join(kinds) or ("" if names else "anything"), " or ".join(f'"{name}"' for name in names)]
        if conditions:
            parts.append("that " + " and ".join(map(self.said, conditions)))
        return " ".join(filter(None, parts))

    def said(self, condition):
        match condition:
            case ("not", inner):
                return f"not {self.said(inner)}"
            case ("value", key, value):
                return f'{key} = "{value}"'
            case ("has", key):
                return f"has {key}"
            case ("either", options):
                return "(" + " or ".join(" and ".join(map(self.said, option)) for option in options) + ")"
            case ("edge", extent, edge, way, target):
                return f"{self.arrow(edge, way)} {'' if extent == 'some' else extent} ({self.text(target)})"
            case ("count", edge, way, target, sign, number):
                return f"number of {self.arrow(edge, way)} ({self.text(target)}) {sign} {number}"
        raise AssertionError(condition)

    def arrow(self, edge, way):
        return f"-{edge}->" if way == "out" else f"<-{edge}-"


def shows_all(spec):
    """Return whether a proof holds all that a set asks for: of `every`, no more nodes than it shows."""
    return all(
        "every" not in str(condition) and ("count" not in str(condition) or "'='" not in str(condition))
        for condition in spec[2]
    )


@lru_cache
def world(seed):
    nodes, edges = towns.records(seed, KINDS, EDGES, nodes=60, edges=150)
    return nodes, [(edge.source, edge.type, edge.target) for edge in edges], Graph.from_records(nodes, edges)


@pytest.mark.parametrize("seed", SEEDS)
def test_lines_give_what_brute_force_gives_and_each_proof_alone_satisfies_its_line(seed):
    nodes, edges, graph = world(seed)
    brute, lines = Brute(nodes, edges), Lines(random.Random(seed), nodes)
    ask = Retriever(graph, "anchor")
    answered = hits = nested = 0
    while answered < LINES:
        spec = lines.spec(2)
        try:
            result = ask.ask("anything", k=100, reading=lines.text(spec))
        except BadOption:  # no edge of the graph joins these kinds of nodes
            continue
        answered += 1
        found = {hit.id: hit for hit in result.hits if hit.complete}
        assert found.keys() == {node.id for node in nodes if brute.meets(node.id, spec)}, lines.text(spec)
        for hit in found.values():
            proof = {(edge.source, edge.type, edge.target) for edge in hit.edges}
            assert proof <= set(edges)
            if shows_all(spec):
                assert Brute(nodes, proof).meets(hit.id, spec), (lines.text(spec), hit.id, hit.why, proof)
                hits += 1
                nested += len(proof) > 1
    assert hits > 300
    assert nested > 30
