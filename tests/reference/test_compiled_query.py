"""Compiled searches against numpy's: the same rows and the very same scores, and never loaded unasked."""

import json
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orienteer.errors import MissingExtra
from orienteer.graph import Graph
from orienteer.records import Edge, Node

LARGE, HUB, MIDDLE = 9_000, 6_000, 900  # nodes, and the degrees of two hubs: one above what is looked up one by one
KS = (1, 2, 10, 300, 10**6)
QUERIES = st.lists(st.integers(0, 399).map(lambda number: int(number**2 / 400)), min_size=1, max_size=7)


class Twins:
    """One graph, opened both ways."""

    def __init__(self, graph):
        pytest.importorskip("numba")
        self.plain = graph
        self.compiled = Graph.open(graph.path, compiled=True)

    def check(self, terms, k, **filters):
        """Search both ways; return how many rows were found."""
        ours, right = (graph.arrays.text_index.search(terms, k, **filters) for graph in (self.compiled, self.plain))
        assert ours.rows.dtype == right.rows.dtype
        assert ours.rows.tolist() == right.rows.tolist()
        assert ours.scores.tolist() == right.scores.tolist()
        return len(ours.rows)


@pytest.fixture(scope="module")
def words():
    drawn = random.Random(3)
    return ["".join(drawn.choices("bcdfghjklmnpqrtvwxz", k=5)) for _ in range(400)]


@pytest.fixture(scope="module")
def twins(build, words):
    """Common words and rare ones, frequencies beyond a byte, copies that tie, hubs, parallel edges and loops."""
    drawn = random.Random(4)
    weights = [1 / (rank + 2) for rank in range(len(words))]
    ids = [f"n{at:05}" for at in range(LARGE)]
    nodes = []
    for at, node in enumerate(ids):
        text = drawn.choices(words, weights, k=drawn.choice((0, 3, 8, 30)))
        if at % 60 == 0:
            text += [drawn.choice(words[:40])] * drawn.choice((254, 255, 256, 300, 900))
        if at % 50 == 0:
            text = [words[0], words[9], words[90]]
        nodes.append(Node(node, ("gene", "drug")[at % 2], "", " ".join(text), (), {"year": 1900 + at % 100}))
    edges = [Edge("n00000", drawn.choice(("binds", "treats")), other) for other in drawn.sample(ids, HUB)]
    edges += [Edge(other, "binds", "n00001") for other in drawn.sample(ids, MIDDLE)] * 3
    edges += [Edge(drawn.choice(ids), "treats", drawn.choice(ids)) for _ in range(3_000)]
    return Twins(build(nodes, [*edges, Edge("n00000", "binds", "n00000")]))


@pytest.mark.parametrize("k", KS)
@given(query=QUERIES)
def test_the_whole_graph(twins, words, k, query):
    twins.check([words[number] for number in query], k)


@pytest.mark.parametrize("k", KS)
@given(query=QUERIES, share=st.sampled_from((0, 0.001, 0.1, 0.9)), seed=st.integers(0, 99))
def test_under_a_mask(twins, words, k, query, share, seed):
    mask = np.random.default_rng(seed).random(LARGE) < share
    twins.check([words[number] for number in query], k, mask=mask)


@pytest.mark.parametrize("k", KS)
@given(query=QUERIES, count=st.sampled_from((0, 1, 10, 255, 3_000, 4_096, 4_097, LARGE)), seed=st.integers(0, 99))
def test_among_some_nodes(twins, words, k, query, count, seed):
    draw = np.random.default_rng(seed)
    among = np.sort(draw.choice(LARGE, count, replace=False)).astype(np.int32)
    terms = [words[number] for number in query]
    twins.check(terms, k, among=among)
    twins.check(terms, k, among=among, mask=draw.random(LARGE) < 0.5)


@pytest.mark.parametrize("node", ["n00000", "n00001", "n00017"])
@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"node_types": ["drug"]},
        {"edge_types": ["binds"]},
        {"direction": "in"},
        {"where": ["year >= 1990"]},
        {"node_types": ["gene"], "edge_types": ["treats"], "direction": "out", "where": ["year < 1950"]},
    ],
)
def test_neighborhoods_with_parallel_edges_and_every_filter(twins, words, node, filters):
    for k, offset in ((1, 0), (20, 0), (20, 15), (10_000, 0)):
        asked = f"{words[0]} {words[9]} {words[200]}"
        ours = twins.compiled.neighbors(node, asked, k=k, offset=offset, **filters)
        assert ours == twins.plain.neighbors(node, asked, k=k, offset=offset, **filters)


def test_searches_by_words_with_filters(twins, words):
    for query in (words[0], f"{words[1]} {words[90]}", " ".join(words[:12]), "", "nothing", f"nothing {words[5]}"):
        for filters in ({}, {"node_types": ["drug"]}, {"where": ["year = 1950"]}, {"where": ["year = 3000"]}):
            assert twins.compiled.search(query, 20, **filters) == twins.plain.search(query, 20, **filters)


def test_frequencies_beyond_a_byte_count_whole(twins, words):
    ours = twins.compiled.arrays.text_index
    posting = max(map(ours.posting, words[:40]), key=lambda one: one.nodes)
    assert (ours._frequencies[posting.begin : posting.end] == 255).any()
    assert twins.check([posting.term], LARGE) == posting.nodes


def test_copies_tie_and_come_by_id(twins, words):
    terms = [words[0], words[9], words[90]]
    for k in range(1, 40, 7):
        twins.check(terms, k)
    scores = twins.compiled.arrays.text_index.search(terms, 40).scores.tolist()
    assert len(set(scores)) < len(scores)


@given(
    texts=st.lists(st.lists(st.sampled_from(("bdf", "bdg", "тест")), max_size=5).map(" ".join), min_size=1, max_size=9),
    query=st.lists(st.sampled_from(("bdf", "bdg", "тест", "zzz")), max_size=4).map(" ".join),
    k=st.sampled_from((0, 1, 3, 10**6)),
)
def test_any_small_graph(build, texts, query, k):
    twins = Twins(build([Node(f"n{at}", name="", text=text) for at, text in enumerate(texts)]))
    assert twins.compiled.search(query, k) == twins.plain.search(query, k)
    rows = np.arange(len(texts), dtype=np.int32)
    twins.check(query.split(), k, among=rows)
    twins.check(query.split(), k, among=rows[:0])
    twins.check(query.split(), k, mask=np.zeros(len(texts), np.bool_))


# ------------------------------------------------------------------------------------------------------ only if asked


def test_without_numba_asking_for_it_says_what_to_install(small, monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(MissingExtra, match=r"pip install 'orienteer\[fast\]'"):
        Graph.open(small.path, compiled=True)
    assert Graph.open(small.path).search("ferry", 5)


def test_no_command_loads_numba(small):
    commands = [
        ["search", small.path, "ferry"],
        ["neighbors", small.path, "f1", "--query", "captain"],
        ["intersect", small.path, "f1", "f2"],
        ["paths", small.path, "f1", "f2"],
        ["ask", small.path, "Who directed Night Ferry?"],
    ]
    code = (
        "import json, sys; from orienteer.serve import main\n"
        "codes = [main(command) for command in json.loads(sys.argv[1])]\n"
        "print(json.dumps([codes, [name.split('.')[0] for name in sys.modules]]))"
    )
    arguments = json.dumps([[str(part) for part in command] for command in commands])
    done = subprocess.run([sys.executable, "-c", code, arguments], capture_output=True, text=True, check=True)
    codes, loaded = json.loads(done.stdout.splitlines()[-1])
    assert codes == [0] * len(commands)
    assert "numpy" in loaded
    assert not {"numba", "llvmlite"} & set(loaded)
