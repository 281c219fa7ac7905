"""The contract of `KnowledgeBase`: what holds for each retriever, over graphs of every kind and shape."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import numpy as np
import pytest

from fakes.embedder import WordEmbedder
from orienteer.graph import PASSAGES, Graph, give_vectors
from orienteer.llm import Allowance
from orienteer.records import Edge, Node
from orienteer.retrieval import BASES, Query, Spaces, open_base

pytestmark = pytest.mark.slow

PASSED = [Node(f"c{at}", "chunk", f"Title {at}", f"The river Rhine passes Basel in {at}.") for at in range(4)]
SAME = [Node(f"c{at}", "chunk", "Same", "Same words of Basel") for at in range(8)]
ENTITIES = [
    Node("e1", "city", "Basel"),
    Node("e2", "river", "Rhine"),
    Node("e3", "person", "Ada Holm", "A writer of Basel."),
]
FACTS = [Node("f1", "fact", "passes", "The Rhine passes Basel."), Node("f2", "fact", "born", "Ada Holm is of Basel.")]
STATED = [
    Edge("f1", "member", "e1"),
    Edge("f1", "member", "e2"),
    Edge("f2", "member", "e3"),
    Edge("f2", "member", "e1"),
    Edge("e2", "passes", "e1"),
    Edge("e3", "born_in", "e1"),
]
HELD = [
    Edge("c0", "mentions", "e1"),
    Edge("c0", "mentions", "e2"),
    Edge("c1", "titled", "e1"),
    Edge("c0", "states", "f1"),
]
REPORT = Node("k", "community", "Basel", "A report of Basel and the Rhine")
SHAPES = {
    "one entity": ([Node("a", "city", "Basel", "On the Rhine")], []),
    "one passage": ([Node("a", "chunk", "Basel", "On the Rhine")], []),
    "one fact": ([Node("a", "fact", "Basel", "Basel lies on the Rhine")], []),
    "passages without edges": (PASSED, []),
    "entities without edges": (ENTITIES, []),
    "texts that are all the same": (SAME, []),
    "facts and communities without passages": (
        [*ENTITIES, *FACTS, REPORT],
        [*STATED, Edge("e1", "in_community", "k"), Edge("e2", "in_community", "k")],
    ),
    "a knowledge base": ([*PASSED, *ENTITIES, *FACTS], [*HELD, *STATED]),
    "weights of nothing": (
        [*PASSED, *ENTITIES, *FACTS],
        [Edge(one.source, one.type, one.target, weight=0.0) for one in (*HELD, *STATED)],
    ),
    "weights below nothing": (
        [*PASSED, *ENTITIES, *FACTS],
        [Edge(one.source, one.type, one.target, weight=-2.0) for one in (*HELD, *STATED)],
    ),
    "types of any kind": (
        [*PASSED, Node("x", "Weird Type!", "Basel"), Node("d", "document", "Doc", "Basel Rhine")],
        [Edge("c0", "mentions", "x"), Edge("c0", "part_of", "d"), Edge("x", "co occurs", "x")],
    ),
    "other scripts": (
        [
            Node("a", "chunk", "波音", "波音 747 首飞 1969"),
            Node("b", "chunk", "كتاب", "كتاب عن 1,363.00"),
            Node("e", "company", "波音"),
        ],
        [Edge("a", "mentions", "e")],
    ),
}
TEXTS = [
    "",
    "  ",
    "?!",
    "Which river passes Basel?",
    "Who is Ada Holm?",
    "波音 何时首飞?",
    "كتاب 1,363.00",
    "the of and",
]


@pytest.fixture(params=BASES)
def name(request):
    return request.param


@pytest.fixture(scope="module", params=SHAPES)
def graph(request, build):
    return build(*SHAPES[request.param])


def queries():
    for text in TEXTS:
        yield Query(text)
        yield Query(text, low=("Basel", ""), high=("passes",), answer_types=("city", "planet", "chunk"))


def with_some_vectors(nodes, edges, path, chosen):
    graph = Graph.from_records(nodes, edges, path=path)
    texts = [f"{node.name}. {node.text}" for node in nodes if node.id in chosen]
    vectors = WordEmbedder().embed(texts, kind="document").astype(np.float16)
    give_vectors(graph, [node.id for node in nodes if node.id in chosen], vectors, embedder="words")
    return Graph.open(graph.path, embedder=lambda _: WordEmbedder())


def checked(evidence):
    ids = [one.item.id for one in evidence.nodes]
    scores = [one.score for one in evidence.nodes]
    assert evidence or evidence.reason
    assert len(set(ids)) == len(ids)
    assert all(map(math.isfinite, scores))
    assert scores == sorted(scores, reverse=True)


def test_every_shape_and_question_gives_evidence_or_a_reason(graph, name):
    options = [{}, {"k": 1}, {"k": 500}, *({"node_types": (one,)} for one in graph.arrays.types.nodes)]
    base = open_base(name, graph)
    assert base.name == name
    for chosen in options:
        for query in queries():
            checked(base.gather(replace(query, **chosen), Allowance()))


@pytest.mark.parametrize("chosen", [{"c0", "e1", "f1"}, {"e1"}, {"c0", "c1", "c2", "c3"}])
def test_vectors_may_be_there_for_some_nodes(scratch, name, chosen):
    nodes, edges = SHAPES["a knowledge base"]
    base = open_base(name, with_some_vectors(nodes, edges, scratch(), chosen))
    for query in queries():
        checked(base.gather(query, Allowance()))
    if name != "light":  # its passages are those that hold what it picks
        found = base.gather(Query("Which river passes Basel in 3?"), Allowance())
        assert "c3" in [one.item.id for one in found.nodes]


def test_conditions_hold_before_the_cut(build, name):
    nodes = [
        Node(f"c{at:02}", "chunk", f"Basel {at}", "Basel " * (40 - at) + "lies here.", (), {"year": at})
        for at in range(30)
    ]
    nodes += [Node("t", "table", "Other", "Of Basel too, and of much besides that says nothing.", (), {"year": 99})]
    graph = build(nodes)
    for options in ({"where": ("year = 99",)}, {"node_types": ("table",)}):
        evidence = open_base(name, graph).gather(Query("Where is Basel?", k=1, **options), Allowance())
        assert [one.item.id for one in evidence.nodes if one.item.type in PASSAGES] == ["t"]


def test_threads_that_come_at_once_find_the_same(scratch, name):
    graph = Graph.from_records(*SHAPES["a knowledge base"], path=scratch())
    base, together = open_base(name, graph), Barrier(4, timeout=30)

    def ask(_):
        together.wait()
        return base.gather(Query("Which river passes Basel?"), Allowance())

    with ThreadPoolExecutor(4) as threads:
        one, *others = threads.map(ask, range(4))
    assert one.nodes
    assert others == [one] * 3


def test_without_passages_facts_and_communities_are_no_passages(build):
    graph = build(*SHAPES["facts and communities without passages"])
    assert {graph.arrays.ids[row] for row in np.flatnonzero(Spaces(graph).passages)} == {"e1", "e2", "e3"}
    assert Spaces(build(*SHAPES["one fact"])).answers().tolist() == [True]
