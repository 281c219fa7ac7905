"""Plans of SPARK equal a brute-force evaluation of docs/explanations/spark.md over the records: random plans."""

import json
import math
import random
from collections import defaultdict
from datetime import date

import pytest

from orienteer.graph import EdgeBatch, Graph, GraphBuilder
from orienteer.llm import Allowance, ScriptedModel
from orienteer.methods import Spark, SparkConfig, check_plan
from orienteer.records import Edge, Node, Question

TYPES = ("Apple", "Berry", "Cherry")
EDGES = (
    ("likes", "Apple", "Berry"),
    ("near", "Berry", "Berry"),
    ("owns", "Cherry", "Apple"),
    ("near", "Apple", "Apple"),
)
PLANS = 200
"""Plans over each graph that can run."""


class World:
    """One random graph: its records, and what the documents say of it."""

    def __init__(self, seed, path, *, loops):
        chance = random.Random(seed)
        self.nodes = {}
        for number in range(45):
            properties = {
                "size": chance.choice([1, 2, 2.5, 7, "12", None]),
                "price": chance.choice(["$3", "$1,200.50", "EUR 20", "free", None]),
                "day": chance.choice(["2015-12-31", "2016-02-11", "2016-02-28", "2017-05-01", None]),
                "tags": chance.choice([["Red", "round"], ["red"], "Sour", None]),
            }
            held = {name: value for name, value in properties.items() if value is not None}
            node = Node(f"n{number:02}", TYPES[number % 3], f"word{number:02}x", "some text", properties=held)
            self.nodes[node.id] = node
        of = {kind: [node.id for node in self.nodes.values() if node.type == kind] for kind in TYPES}
        self.edges = []
        for kind, source, target in EDGES:
            for _ in range(60):
                ends = chance.choice(of[source]), chance.choice(of[target])
                if loops or ends[0] != ends[1]:
                    self.edges.append(Edge(ends[0], kind, ends[1]))
        with GraphBuilder(path) as builder:
            for node in self.nodes.values():
                builder.add_node(node)
            columns = ([getattr(edge, part) for edge in self.edges] for part in ("source", "type", "target"))
            builder.add_edges(EdgeBatch(*columns, [{} for _ in self.edges]))
            builder.edges.symmetric.add("near")
            builder.publish()

    def around(self, node, step):
        """Return the distinct neighbours of a node by a step's filters, with the number of edges to each."""
        found = defaultdict(int)
        for edge in self.edges:
            if edge.source == edge.target or (step.edge_types and edge.type not in step.edge_types):
                continue
            for way, near, far in (("out", edge.source, edge.target), ("in", edge.target, edge.source)):
                is_way = step.direction in (None, way) or edge.type == "near"
                if near == node and is_way and (not step.node_types or self.nodes[far].type in step.node_types):
                    found[far] += 1
        return found

    def value(self, node, name):
        return getattr(self.nodes[node], name) if name == "name" else self.nodes[node].properties.get(name)

    # The meaning of each step, by docs/explanations/spark.md. A set is a list of ids, best first.

    def named(self, name, sets):
        if name in sets:
            return sets[name]
        of_type = [node.id for node in self.nodes.values() if node.type == name]
        return of_type or [node.id for node in self.nodes.values() if node.name == name]

    def made(self, step, sets):  # noqa: C901 (a case for each kind of step)
        if step.op == "lexical_search":
            return [node.id for node in self.nodes.values() if node.name == step.query]
        first, *others = [self.named(name, sets) for name in ([step.start] if step.op == "match" else _many(step.of))]
        if step.op == "match":
            nodes, edges = defaultdict(int), defaultdict(int)
            for node in first:
                for far, count in self.around(node, step).items():
                    nodes[far] += 1
                    edges[far] += count
            if len(step.edge_types) > 1 or len(step.node_types) > 1:
                return sorted(nodes)
            return sorted(nodes, key=lambda node: (-nodes[node], -edges[node], node))
        if step.op == "intersect":
            return [node for node in first if all(node in other for other in others)]
        if step.op == "difference":
            return [node for node in first if not any(node in other for other in others)]
        if step.op == "union":
            return list(dict.fromkeys(node for part in (first, *others) for node in part))
        if step.op == "filter":
            return [node for node in first if meets(self.value(node, step.property), step.comparison, step.value)]
        if step.op == "limit":
            return first[: step.k]
        if step.aggregate is None:
            return self.by_property(first, step)
        keys = {node: self.aggregate(node, step) for node in first}
        known = [node for node in first if keys[node] is not None]
        known.sort(key=keys.__getitem__, reverse=False) if not step.descending else known.sort(key=lambda n: -keys[n])
        return known + [node for node in first if keys[node] is None]

    def by_property(self, nodes, step):
        values = {node: self.value(node, step.property) for node in nodes}
        firsts = {node: value[0] if isinstance(value, list) else value for node, value in values.items()}
        sizes = [node for node in nodes if not math.isnan(size(firsts[node]))]
        words = [node for node in nodes if values[node] is not None and node not in sizes]
        sizes.sort(key=lambda node: -size(firsts[node]) if step.descending else size(firsts[node]))
        words.sort(key=lambda node: text(values[node]), reverse=step.descending)
        return [*sizes, *words, *(node for node in nodes if values[node] is None)]

    def aggregate(self, node, step):
        far = list(self.around(node, step))
        if step.property is None:
            return len(far)
        numbers = [number for number in (size(self.value(one, step.property)) for one in far) if number == number]
        if step.aggregate == "count":
            return len(numbers)
        if not numbers:
            return None
        totals = {"sum": sum(numbers), "mean": sum(numbers) / len(numbers), "min": min(numbers), "max": max(numbers)}
        return totals[step.aggregate]


def _many(of):
    return [of] if isinstance(of, str) else of


def text(value):
    return ", ".join(map(str, value)).casefold() if isinstance(value, list) else str(value).casefold()


def size(value):
    """Return a number, a price, or a date as its year and the part of it that has passed."""
    if isinstance(value, list | None):
        return math.nan
    written = str(value)
    if written[:4].isdecimal() and written[4:5] == "-":
        day = date(*map(int, written.split("-")))
        days = date(day.year + 1, 1, 1) - date(day.year, 1, 1)
        return day.year + (day - date(day.year, 1, 1)).days / days.days
    try:
        return float(written.removeprefix("$").removeprefix("EUR ").replace(",", ""))
    except ValueError:
        return math.nan


def meets(value, comparison, wanted):
    if value is None:
        return False
    items = value if isinstance(value, list) else [value]
    if comparison == "contains":
        return any(str(wanted).casefold() in str(item).casefold() for item in items)
    if comparison in ("=", "!="):
        is_same = any(is_equal(item, wanted) for item in items)
        return is_same if comparison == "=" else not is_same
    compare = {"<": float.__lt__, "<=": float.__le__, ">": float.__gt__, ">=": float.__ge__}[comparison]
    return any(compare(*numbers(item, wanted)) is True for item in items)


def numbers(item, wanted):
    is_dated = isinstance(item, str) and item[4:5] == "-"
    is_year = not (isinstance(wanted, str) and wanted[4:5] == "-") and float(size(wanted)).is_integer()
    return (float(int(size(item))) if is_dated and is_year else float(size(item))), float(size(wanted))


def is_equal(item, wanted):
    if isinstance(item, str) and isinstance(wanted, str) and item[4:5] == wanted[4:5] == "-":
        return item.startswith(wanted)
    one, other = numbers(item, wanted)
    return one == other or str(item).casefold() == str(wanted).casefold()


def random_step(chance, number, names):
    """Return a step of a random kind. `names` are the sets before it."""
    base = chance.choice([*names, *names, *TYPES, f"word{chance.randrange(45):02}x"])
    of = [chance.choice([*names, *TYPES]) for _ in range(chance.choice([2, 2, 3]))]
    edges = {"edge_types": chance.choice([[], ["likes"], ["near"], ["owns", "near"]])}
    edges |= {"node_types": chance.choice([[], [], [chance.choice(TYPES)]])}
    edges |= {"direction": chance.choice([None, None, "out", "in"])}
    name, wanted = chance.choice(
        [
            ("size", 2),
            ("size", 2.5),
            ("price", 20),
            ("price", "$3"),
            ("day", 2016),
            ("day", "2016-02-11"),
            ("tags", "red"),
        ]
    )
    signs = ["=", "!=", "contains"] if name == "tags" else ["=", "!=", "<", "<=", ">", ">="]
    op = chance.choice(
        ["lexical_search", *["match"] * 4, "intersect", "union", "difference", "filter", "order", "limit"]
    )
    kinds = {
        "lexical_search": {"query": f"word{chance.randrange(45):02}x", "k": 1},
        "match": {"start": base, **edges},
        "intersect": {"of": of},
        "union": {"of": of},
        "difference": {"of": of},
        "filter": {"of": base, "property": name, "comparison": chance.choice(signs), "value": wanted},
        "limit": {"of": base, "k": chance.choice([1, 3, 8])},
        "order": {"of": base, "descending": chance.random() < 0.5}
        | chance.choice(
            [
                {"property": chance.choice(["size", "price", "day", "tags", "name"])},
                {"aggregate": "count", **edges},
                {"aggregate": chance.choice(["count", "sum", "mean", "min", "max"]), "property": "size", **edges},
            ]
        ),
    }
    return {"op": op, "into": f"s{number}", **kinds[op]}


def expected(world, plan):
    """Return the nodes of the answer, None where a step that has to find something finds nothing."""
    sets, steps = {}, []
    wanted = {plan.answer}
    for step in reversed(plan.steps):
        if step.into in wanted:
            steps.insert(0, step)
            wanted |= set(_many(getattr(step, "start", None) or getattr(step, "of", None) or []))
    for step in steps:
        sets[step.into] = world.made(step, sets)
        uses = [
            other.op != "union" and not (other.op == "difference" and other.of[0] != step.into)
            for other in steps
            if step.into in _many(getattr(other, "start", None) or getattr(other, "of", None) or [])
        ]
        is_needed = any(uses) or step.into == plan.answer
        if plan.give != "nodes":
            is_needed = step.op == "lexical_search"
        if is_needed and not sets[step.into]:
            return None, steps
    return sets[plan.answer], steps


def is_ordered(name, steps):
    step = next((step for step in steps if step.into == name), None)
    if step is None or step.op == "order":
        return step is not None
    return step.op in ("filter", "limit", "intersect", "difference") and is_ordered(_many(step.of)[0], steps)


@pytest.fixture(scope="module")
def worlds(scratch):
    worlds = []
    for seed in (1, 2):
        path = scratch()
        world = World(seed, path, loops=seed == 2)
        worlds.append((world, Graph.open(path)))
    return worlds


@pytest.mark.parametrize("at", [0, 1])
def test_random_plans_equal_brute_force(worlds, at):
    world, graph = worlds[at]
    given = []
    model = ScriptedModel(lambda *_: json.dumps(given[-1]))
    spark = Spark(graph, model, SparkConfig(cypher=False, fill=False))
    chance, ran, found, proved, counted, ops = random.Random(at), 0, 0, 0, 0, set()
    while ran < PLANS:
        steps = []
        for number in range(chance.randrange(1, 7)):
            steps.append(random_step(chance, number, [step["into"] for step in steps]))
        plan = {
            "steps": steps,
            "answer": steps[-1]["into"],
            "give": chance.choice(["nodes", "nodes", "count", "exists"]),
        }
        checked = check_plan(graph, plan)
        if checked.faults:  # of types that never meet
            continue
        ran += 1
        nodes, needed = expected(world, checked.plan)
        given.append(plan)
        result = spark.retrieve(Question(text="which?", k=100), Allowance())
        hits = [hit.id for hit in result.hits]
        if nodes is None:
            assert "fallback" in result.trajectories[0].marks, plan
            continue
        assert "fallback" not in result.trajectories[0].marks, (plan, result.notes)
        assert (hits if is_ordered(plan["answer"], needed) else sorted(hits)) == (
            nodes if is_ordered(plan["answer"], needed) else sorted(nodes)
        ), plan
        answers = {"nodes": None, "count": str(len(nodes)), "exists": "yes" if nodes else "no"}
        if plan["give"] == "count" and any("cut the plan's set" in note for note in result.notes):
            assert {step.op for step in needed} & {"lexical_search", "limit"}, plan  # a number of some is none
            assert result.answer is None
        else:
            counted += plan["give"] == "count"
            assert result.answer == answers[plan["give"]]
        edges = {(edge.source, edge.type, edge.target) for edge in world.edges}
        for hit in result.hits:
            proof = [(edge.source, edge.type, edge.target) for edge in hit.edges]
            assert set(proof) <= edges
            # The edges of a proof alone, as a graph, are enough.
            if {step.op for step in needed} <= {"lexical_search", "match", "intersect", "union", "filter"}:
                proved += 1
                alone = World.__new__(World)
                alone.nodes, alone.edges = world.nodes, [Edge(*edge) for edge in proof]
                assert hit.id in (expected(alone, checked.plan.model_copy(update={"give": "count"}))[0] or ()), plan
        found += bool(nodes)
        ops |= {step.op for step in needed}
    assert found > PLANS / 2
    assert proved > PLANS
    assert counted > 0
    assert {"union", "difference", "intersect", "match", "filter", "order", "limit", "lexical_search"} <= ops
