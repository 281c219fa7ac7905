"""Every generated question against brute force over the edges, and its Cypher against a reading of it by hand."""

import re
from dataclasses import replace

import networkx
import pytest

import towns
from fakes.inside import inside
from orienteer.lab.quizzes import (
    PLAN_PATTERNS,
    EdgeStep,
    QuestionPlan,
    WalkCondition,
    generate_questions,
    literal_query,
    solve_plan,
)

pytestmark = pytest.mark.slow

GRAPHS = [
    pytest.param(towns.records(1, ["town", "person", "club"], ["located in", "member of", "knows"]), id="three types"),
    pytest.param(towns.records(2, ["node"], ["is_a"]), id="one type"),
    pytest.param(towns.records(3, ["a b", "c`d"], ["has tag", "odd`type", "cites"]), id="odd names"),
]


@pytest.fixture(scope="module", params=GRAPHS)
def graph(request, build):
    return build(*request.param)


@pytest.fixture(scope="module")
def generated(graph):
    return generate_questions(graph, 50, random_seed=3)


def _network(graph):
    network = networkx.MultiDiGraph()
    for row, node_id in enumerate(graph.node_ids()):
        network.add_node(node_id, type=graph.arrays.type_at(row))
    for edge in graph.iter_edges():
        network.add_edge(edge.source, edge.target, type=edge.type)
    return network


def _moved(network, node, step):
    """Return where a step leads from a node, by looking at each of its edges."""
    out = {b for _, b, kind in network.out_edges(node, data="type") if step.edge_type in (None, kind)}
    into = {a for a, _, kind in network.in_edges(node, data="type") if step.edge_type in (None, kind)}
    found = out | into if step.is_forward is None else out if step.is_forward else into
    return {one for one in found if network.nodes[one]["type"] == step.end}


def _walks(network, anchor, steps):
    """Return the ends of all walks along these steps on which no node comes twice."""
    walks = [(anchor,)]
    for step in steps:
        walks = [(*walk, one) for walk in walks for one in _moved(network, walk[-1], step) if one not in walk]
    return {walk[-1] for walk in walks}


def _holds(graph, constraint, node):
    if constraint is None:
        return True
    if constraint.property is not None:
        value = graph.node(node).properties.get(constraint.property)
        return isinstance(value, str) and value.casefold() == constraint.phrase.casefold()
    found = graph.node(node)
    return set(constraint.terms) <= set(
        graph.arrays.tokenizer.terms(" ".join([found.name, *found.aliases, found.text]))
    )


def _by_hand(graph, network, plan):
    sets = [_walks(network, graph.arrays.ids[one.anchor], one.steps) for one in plan.conditions]
    found = set.intersection(*sets) - {graph.arrays.ids[row] for row in plan.anchors}
    return {one for one in found if _holds(graph, plan.constraint, one)}


def test_gold_is_complete(graph, generated):
    network = _network(graph)
    assert len(generated.items) > 20
    for question, plan in zip(generated.items, generated.plans, strict=True):
        assert set(question.nodes) == _by_hand(graph, network, plan), question
        assert list(question.nodes) == sorted(question.nodes)
        assert 1 <= len(question.nodes) <= 20
        assert len(set(question.anchors)) == len(PLAN_PATTERNS[question.pattern].hops)
        assert set(question.anchors).isdisjoint(question.nodes)
        assert question.answer_type == ("entity" if len(question.nodes) == 1 else "set")
        assert {graph.node(one).type for one in question.nodes} == {question.node_type}
        assert {graph.node(one).name for one in question.nodes} == set(question.answers)


def test_every_condition_is_needed(graph, generated):
    network = _network(graph)
    for question, plan in zip(generated.items, generated.plans, strict=True):
        gold = set(question.nodes)
        of_type = {one for one, kind in network.nodes(data="type") if kind == question.node_type}
        assert gold != of_type - set(question.anchors)
        if plan.constraint is not None:
            assert gold < _by_hand(graph, network, replace(plan, constraint=None))
            assert gold < {one for one in of_type if _holds(graph, plan.constraint, one)}
        for left_out in range(len(plan.conditions)) if len(plan.conditions) > 1 else ():
            rest = (*plan.conditions[:left_out], *plan.conditions[left_out + 1 :])
            assert gold < _by_hand(graph, network, replace(plan, conditions=rest))


# ------------------------------------------------------------------------- Cypher, as far as these questions use it

_NAME = r"`((?:[^`]|``)*)`"
_STRING = r"'((?:[^'\\]|\\.)*)'"
_NODE = re.compile(rf"\((\w+):{_NAME}(?: \{{id: {_STRING}\}})?\)")
_EDGE = re.compile(rf"(<?)-(?:\[:{_NAME}\])?-(>?)")


def _plain(text):
    return re.sub(r"\\(.)", r"\1", text)


def _matches(network, path, bound):
    """Return all ways to lay one path over the graph that agree with what is bound."""
    node = _NODE.match(path)
    rows = [{**bound}]
    rows = _bind(network, rows, node, None, None)
    at = node.end()
    while at < len(path):
        edge = _EDGE.match(path, at)
        after = _NODE.match(path, edge.end())
        rows = _bind(network, rows, after, node[1], edge)
        node, at = after, after.end()
    return rows


def _bind(network, rows, node, before, edge):
    name, label = node[1], node[2].replace("``", "`")
    found = []
    for row in rows:
        for one, kind in network.nodes(data="type"):
            if kind != label or row.get(name, one) != one or (node[3] is not None and _plain(node[3]) != one):
                continue
            if edge is None or _joined(network, row[before], one, edge):
                found.append({**row, name: one})
    return found


def _joined(network, a, b, edge):
    wanted = None if edge[2] is None else edge[2].replace("``", "`")

    def along(source, target):
        return any(wanted in (None, one["type"]) for one in (network.get_edge_data(source, target) or {}).values())

    return (along(a, b) and not edge[1]) or (along(b, a) and not edge[3])


def _run(graph, network, query):
    matches, where = query.removesuffix(" RETURN DISTINCT x.id").split(" WHERE ", 1)
    rows = [{}]
    for path in re.split(r"(?:^| )MATCH ", matches)[1:]:
        rows = [new for row in rows for new in _matches(network, path, row)]
    for condition in where.split(" AND "):
        if apart := re.fullmatch(r"(\w+)\.id <> (\w+)\.id", condition):
            rows = [row for row in rows if row[apart[1]] != row[apart[2]]]
        else:
            value = re.fullmatch(rf"toLower\(toString\(x\.{_NAME}\)\) = {_STRING}", condition)
            name, wanted = value[1].replace("``", "`"), _plain(value[2])
            rows = [row for row in rows if str(graph.node(row["x"]).properties.get(name)).lower() == wanted]
    return {row["x"] for row in rows}


def test_the_query_proves_the_answers(graph, generated):
    network = _network(graph)
    for question, plan in zip(generated.items[:25], generated.plans[:25], strict=True):
        found = _run(graph, network, question.gold_query)
        if plan.constraint is not None and plan.constraint.property is None:
            found = {one for one in found if _holds(graph, plan.constraint, one)}
        assert found == set(question.nodes), question.gold_query


def test_directions_loops_and_parallel_edges(small):
    anchor = small.arrays.row("p1")
    both = EdgeStep("person", "admires", None, "person")
    out = EdgeStep("person", "wrote", True, "film")
    back = EdgeStep("film", "wrote", False, "person")

    def found(*conditions):
        return [small.arrays.ids[row] for row in solve_plan(small, QuestionPlan("one_hop", conditions)).rows]

    assert found(WalkCondition(anchor, (both,))) == ["p2"]
    assert found(WalkCondition(anchor, (out,))) == ["f2"]
    assert found(WalkCondition(small.arrays.row("f2"), (back,))) == ["p1"]
    assert found(WalkCondition(small.arrays.row("c1"), (EdgeStep("place", "twinned with", None, "place"),))) == []
    assert found(WalkCondition(anchor, (out, back))) == []
    assert literal_query(small, QuestionPlan("one_hop", (WalkCondition(anchor, (out,)),))) == (
        "MATCH (a1:`person` {id: 'p1'})-[:`wrote`]->(x:`film`) WHERE a1.id <> x.id RETURN DISTINCT x.id"
    )


def test_what_leads_too_far_to_be_walked_is_oversized(graph, monkeypatch):
    monkeypatch.setattr(inside(solve_plan), "MOST_WALKS", 4)
    made = generate_questions(graph, 12, random_seed=3)
    assert made.items
    assert made.rejected["oversized"] > 0
    network = _network(graph)
    for question, plan in zip(made.items, made.plans, strict=True):
        assert set(question.nodes) == _by_hand(graph, network, plan), question
