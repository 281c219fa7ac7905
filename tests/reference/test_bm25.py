"""Search against BM25 written out in plain Python, and against bm25s."""

import math
import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import lru_cache

import bm25s
import numpy as np
import pytest
from hypothesis import given, strategies as st

from orienteer.graph import Graph
from orienteer.records import Edge, Hit, Node

K1, B = 1.2, 0.75
LARGE, HUB, MIDDLE = 6_000, 5_200, 300  # nodes, and the degrees of the two hubs


class Oracle:
    """Lucene's BM25 over word lists. Words of these tests have no vowels, so that they are their own stems."""

    def __init__(self, documents):
        self.lengths = {name: len(words) for name, words in documents.items()}
        self.mean = sum(self.lengths.values()) / len(documents)
        self.postings = defaultdict(dict)
        for name, words in documents.items():
            for word, frequency in Counter(words).items():
                self.postings[word][name] = frequency

    def idf(self, word):
        has = len(self.postings.get(word, ()))
        return math.log(1 + (len(self.lengths) - has + 0.5) / (has + 0.5))

    @lru_cache  # noqa: B019  (a handful of queries, asked under many filters)
    def scores(self, query):
        """Score every document that has one of the words."""
        parts = defaultdict(list)
        for word in set(query.split()):
            for name, frequency in self.postings.get(word, {}).items():
                norm = K1 * (1 - B + B * self.lengths[name] / self.mean)
                parts[name].append(self.idf(word) * frequency / (frequency + norm))
        return {name: math.fsum(values) for name, values in parts.items()}

    def profile(self, name, query):
        """What a score is made of: documents of one profile tie exactly."""
        return self.lengths[name], tuple(
            self.postings.get(word, {}).get(name, 0) for word in sorted(set(query.split()))
        )


def assert_ranked(hits, oracle, query, k, allowed=None):
    """Check a ranking: the very scores, best first, ties by id, nothing better left out."""
    scores = {name: score for name, score in oracle.scores(query).items() if allowed is None or name in allowed}
    wanted = sorted(scores, key=lambda name: (-scores[name], name))[:k]
    assert len(hits) == len(wanted)
    for hit, name in zip(hits, wanted, strict=True):
        assert math.isclose(hit.score, scores[hit.id], rel_tol=1e-12)
        assert math.isclose(hit.score, scores[name], rel_tol=1e-12)
        if hit.id != name:  # rounding may part what only looks alike, but never documents that are alike
            assert oracle.profile(hit.id, query) != oracle.profile(name, query)
    assert list(hits) == sorted(hits, key=lambda hit: (-hit.score, hit.id))


def by_words(graph, query, k, **filters):
    """Return a ranking by BM25 alone: `Graph.search` puts what is named before it."""
    ranked = graph.arrays.searcher().search(query, k, mask=graph.arrays.mask(**{"node_types": None, **filters}))
    return tuple(Hit(graph.arrays.ids[row], float(score)) for row, score in zip(*ranked, strict=True))


def documents_of(nodes):
    """Return the words that each node is found by."""
    return {node.id: " ".join((node.name, *node.aliases, node.text)).split() for node in nodes}


# ------------------------------------------------------------------------------------------------ small random corpora

VOCABULARY = ("bdf", "bdg", "dfg", "fgk", "gkm", "kmn", "тест", "слова")
TEXTS = st.lists(st.lists(st.sampled_from(VOCABULARY), max_size=8).map(" ".join), min_size=1, max_size=12)
QUERIES = st.lists(st.sampled_from((*VOCABULARY, "zzz")), max_size=6).map(" ".join)


@given(TEXTS, st.lists(QUERIES, min_size=1, max_size=8), st.sampled_from((0, 1, 2, 5, 10**6)))
def test_search_equals_the_formula_on_any_small_corpus(build, texts, queries, k):
    nodes = [Node(f"bfg{at:03}".translate(DIGITS), name="ddd", text=text) for at, text in enumerate(texts)]
    graph, oracle = build(nodes), Oracle(documents_of(nodes))
    for query in queries:
        assert_ranked(by_words(graph, query, k), oracle, query, k)


DIGITS = str.maketrans("0123456789", "bdfghjklmn")  # letters in their order, so that ids sort as their numbers do


def test_names_and_aliases_are_part_of_the_document(build):
    nodes = [
        Node("b", name="bdf", text="dfg dfg"),
        Node("c", name="gkm", aliases=("bdf kmn", "bdf"), text="dfg"),
        Node("d", name="kmn", text="bdf"),
    ]
    graph, oracle = build(nodes), Oracle(documents_of(nodes))
    for query in ("bdf", "kmn", "dfg bdf", "gkm kmn"):
        assert_ranked(by_words(graph, query, 10), oracle, query, 10)


def test_a_node_without_a_name_is_found_by_its_id(build):
    assert [hit.id for hit in by_words(build([Node("bdf"), Node("dfg")]), "dfg", 5)] == ["dfg"]


@pytest.mark.parametrize("frequency", [254, 255, 256, 257, 300, 1_000, 70_000])
def test_term_frequencies_never_saturate(build, frequency):
    nodes = [
        Node("b", name="kmn", text="bdf " * frequency),
        Node("c", name="kmn", text="bdf " * (frequency + 1) + "dfg"),
        Node("d", name="kmn", text="bdf " * (frequency - 1) + "dfg " * 300),
        Node("f", name="kmn", text="dfg"),
    ]
    graph, oracle = build(nodes), Oracle(documents_of(nodes))
    for query in ("bdf", "dfg", "bdf dfg kmn"):
        assert_ranked(by_words(graph, query, 10), oracle, query, 10)


def test_ties_go_by_id(build):
    nodes = [Node(name, name="kmn", text="bdf dfg") for name in ("é", "z", "b", "10", "9", "B", "\U0001f9ec", "\uffee")]
    hits = by_words(build(nodes), "dfg", 100)
    assert [hit.id for hit in hits] == sorted(node.id for node in nodes)
    assert len({hit.score for hit in hits}) == 1


def test_repeated_words_of_a_query_count_once(build):
    graph = build([Node("b", text="bdf bdf dfg"), Node("c", text="dfg kmn"), Node("d", text="bdf")])
    assert by_words(graph, "bdf bdf dfg bdf", 9) == by_words(graph, "bdf dfg", 9)


def test_a_query_without_known_words_finds_nothing(small):
    for query in ("", " ", "zzzzz", "?!", "\U0001f9ec"):
        assert by_words(small, query, 5) == ()


def test_texts_may_all_be_empty(build):
    graph = build([Node("+"), Node("-")])
    assert by_words(graph, "bdf", 5) == ()
    assert graph.neighbors("+", "bdf").total == 0


# --------------------------------------------------------------------------------------------------- one large corpus


@dataclass
class Large:
    """A graph large enough that common terms are pruned and a hub's neighbours are more than a few."""

    graph: Graph
    oracle: Oracle
    nodes: dict[str, Node]
    edges: list[Edge]
    words: list[str]
    queries: list[str] = field(default_factory=list)

    def around(self, node, edge_types=None, direction=None):
        """Return the neighbours by the plain list of edges."""
        out = {e.target for e in self.edges if e.source == node and (edge_types is None or e.type in edge_types)}
        into = {e.source for e in self.edges if e.target == node and (edge_types is None or e.type in edge_types)}
        return {"out": out, "in": into, None: out | into}[direction] - {node}


@pytest.fixture(scope="module")
def large(build):
    random_ = random.Random(20_000)
    letters = "bcdfghjklmnpqrtvwxz"
    words = sorted({"".join(random_.choices(letters, k=4)) for _ in range(600)})
    random_.shuffle(words)
    weights = [1 / (rank + 2) for rank in range(len(words))]
    nodes = {}
    for at in range(LARGE):
        text = random_.choices(words, weights, k=random_.choice((0, 3, 5, 8, 13, 40)))
        if random_.random() < 0.02:
            text += [random_.choice(words[:30])] * random_.choice((254, 255, 256, 300, 700))
        if at % 50 == 0:  # exact copies, so that there are ties
            text = [words[0], words[5], words[100]]
        year = {"year": 1900 + at % 100} if at % 3 else {}
        name = words[at % len(words)]
        nodes[f"n{at:05}"] = Node(f"n{at:05}", ("gene", "drug", "term")[at % 7 % 3], name, " ".join(text), (), year)
    ids = list(nodes)
    edges = [Edge("n00000", random_.choice(("binds", "treats")), other) for other in random_.sample(ids, HUB)]
    edges += [Edge(other, "in", "n00000") for other in random_.sample(ids, 200)]
    edges += [Edge("n00001", "binds", other) for other in random_.sample(ids, MIDDLE)] * 2
    edges += [Edge(*random_.choices(ids, k=1), "treats", *random_.choices(ids, k=1)) for _ in range(3_000)]
    made = Large(
        build(random_.sample(list(nodes.values()), LARGE), edges),
        Oracle(documents_of(nodes.values())),
        nodes,
        edges,
        words,
    )
    made.queries = [
        " ".join(
            [*random_.sample(words[:8], random_.choice((0, 1, 3))), *random_.sample(words, random_.choice((1, 2, 4)))]
        )
        for _ in range(25)
    ]
    return made


@pytest.mark.parametrize("k", [0, 1, 2, 5, 20, 500, 10**6])
def test_search_equals_the_formula_on_a_large_corpus(large, k):
    for query in large.queries[: 25 if k < 500 else 6]:
        assert_ranked(by_words(large.graph, query, k), large.oracle, query, k)


@pytest.mark.parametrize("k", [1, 10, 10**6])
@pytest.mark.parametrize("node_types", [None, ["drug"], ["gene", "term"], []])
@pytest.mark.parametrize("where", [(), ("year >= 1950",), ("year<1990", "year != 1955"), ("year = 1",)])
def test_filters_restrict_a_search_and_leave_the_scores_alone(large, k, node_types, where):
    allowed = {
        node.id
        for node in large.nodes.values()
        if (node_types is None or node.type in node_types) and passes(node, where)
    }
    for query in large.queries[:4]:
        hits = by_words(large.graph, query, k, node_types=node_types, where=where)
        assert_ranked(hits, large.oracle, query, k, allowed)


def passes(node, where):
    """Tell whether a node meets the conditions that this file uses."""
    checks = {
        "year >= 1950": lambda year: year >= 1950,
        "year<1990": lambda year: year < 1990,
        "year != 1955": lambda year: year != 1955,
        "year = 1": lambda year: year == 1,
    }
    return all("year" in node.properties and checks[one](node.properties["year"]) for one in where)


@pytest.mark.parametrize("k", [1, 20, 10**6])
@pytest.mark.parametrize("node", ["n00000", "n00001", "n04321"])
@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"edge_types": ["binds"]},
        {"direction": "in"},
        {"direction": "out", "edge_types": ["treats", "binds"]},
        {"node_types": ["drug"]},
        {"where": ("year >= 1950",)},
        {"node_types": ["gene", "drug"], "where": ("year<1990", "year != 1955"), "edge_types": ["treats"]},
        {"edge_types": []},
    ],
    ids=str,
)
def test_a_neighborhood_is_ranked_by_the_formula_and_the_rest_by_id(large, node, filters, k):
    around = large.around(node, filters.get("edge_types"), filters.get("direction"))
    allowed = {
        one
        for one in around
        if large.nodes[one].type in filters.get("node_types", ("gene", "drug", "term"))
        and passes(large.nodes[one], filters.get("where", ()))
    }
    for query in large.queries[:3]:
        page = large.graph.neighbors(node, query, k=k, **filters)
        assert page.total == len(allowed)
        matching = [hit for hit in page.hits if hit.score > 0]
        assert_ranked(matching, large.oracle, query, k, allowed)
        silent = sorted(allowed - large.oracle.scores(query).keys())
        assert [hit.id for hit in page.hits[len(matching) :]] == silent[: max(0, k - len(matching))]


def test_both_sides_of_the_size_of_a_neighborhood_are_tried(large):
    assert large.graph.neighbors("n00000").total > 4_500
    assert 250 < large.graph.neighbors("n00001").total < 400
    assert large.graph.neighbors("n04321").total < 20


def test_pages_of_a_neighborhood_make_up_the_whole(large):
    query = large.queries[0]
    for node, size in (("n00000", 997), ("n00001", 7)):
        whole = large.graph.neighbors(node, query, k=10**6)
        pages = [large.graph.neighbors(node, query, k=size, offset=at) for at in range(0, whole.total + size, size)]
        assert [(hit.id, hit.score) for page in pages for hit in page.hits] == [
            (hit.id, hit.score) for hit in whole.hits
        ]
        assert {page.total for page in pages} == {whole.total}


def test_neighbors_of_several_nodes_are_ranked_together(large):
    starts = ["n00001", "n00002", "n04321"]
    allowed = set().union(*(large.around(one) for one in starts))
    for query in large.queries[:5]:
        page = large.graph.neighbors(starts, query, k=15)
        assert page.total == len(allowed)
        assert_ranked([hit for hit in page.hits if hit.score > 0], large.oracle, query, 15, allowed)


def test_the_order_of_the_words_does_not_matter(large):
    for query in large.queries:
        turned = " ".join(reversed(query.split()))
        assert by_words(large.graph, query, 50) == by_words(large.graph, turned, 50)


def test_scores_do_not_depend_on_k(large):
    for query in large.queries:
        assert by_words(large.graph, query, 3) == by_words(large.graph, query, 400)[:3]


# ------------------------------------------------------------------------------------------- words that most nodes have


@pytest.fixture(scope="module")
def crowded(build):
    """Give a graph whose common words have so many nodes that a search must leave most of them out, and its oracle."""
    random_ = random.Random(40_000)
    words = [
        "".join(letters) for letters in zip(*(random_.sample("bcdfghjklmnpqrtvwxz", 19) for _ in range(3)), strict=True)
    ]
    nodes = []
    for at in range(40_000):
        text = [word for place, word in enumerate(words) if random_.random() < 0.95 / (1 + place / 3)]
        text += random_.choices(words, k=random_.choice((0, 1, 9, 30)))
        nodes.append(Node(f"n{at:05}", "odd" if at % 2 else "even", "kkk", " ".join(text)))
    return build(nodes), Oracle(documents_of(nodes)), words


@pytest.mark.parametrize("k", [1, 2, 5, 20, 300])
@pytest.mark.parametrize(
    "picked", [[0], [0, 1], [2, 1, 0], [18, 0, 1], [5, 10, 15, 0], [3, 4, 5, 6, 7], [1, 17, 18, 2]]
)
def test_common_words_are_pruned_without_a_loss(crowded, picked, k):
    graph, oracle, words = crowded
    query = " ".join(words[place] for place in picked)
    assert sum(len(oracle.postings[words[place]]) for place in picked) > 32_768
    assert_ranked(by_words(graph, query, k), oracle, query, k)
    if k < 20:
        odd = {name for name in oracle.lengths if int(name[1:]) % 2}
        assert_ranked(by_words(graph, query, k, node_types=["odd"]), oracle, query, k, odd)


# ------------------------------------------------------------------------------------------------------------- bm25s


def test_scores_equal_those_of_bm25s(large):
    ids = sorted(large.nodes)
    documents = documents_of(large.nodes.values())
    peer = bm25s.BM25(method="lucene", k1=K1, b=B, dtype="float64")
    peer.index([documents[name] for name in ids], show_progress=False)
    for query in large.queries[:8]:
        words = list(dict.fromkeys(query.split()))
        theirs = peer.get_scores([word for word in words if large.oracle.postings.get(word)])
        ours = {hit.id: hit.score for hit in by_words(large.graph, query, 10**6)}
        np.testing.assert_allclose([ours.get(name, 0.0) for name in ids], theirs, rtol=1e-5, atol=1e-6)


def test_scores_equal_those_of_bm25s_on_texts_that_are_stemmed(build):
    texts = [
        "Running runners ran a 10ms race", "The races were run in 10 ms", "p53 binds DNA", "binding of p 53",
        "Straße und STRASSE", "東京都の地図", "cities, city's CITY", "naïve café",
    ]  # fmt: skip
    graph = build([Node(f"{at}", name="-", text=text) for at, text in enumerate(texts)])
    documents = [graph.arrays.tokenizer.terms(text) for text in texts]
    peer = bm25s.BM25(method="lucene", k1=K1, b=B, dtype="float64")
    peer.index(documents, show_progress=False)
    for query in ("run race 10ms", "p53", "strasse", "東京", "city", "café naïve 53"):
        theirs = peer.get_scores(
            [term for term in graph.arrays.tokenizer.query(query) if any(term in d for d in documents)]
        )
        ours = {hit.id: hit.score for hit in by_words(graph, query, 99)}
        np.testing.assert_allclose([ours.get(str(at), 0.0) for at in range(len(texts))], theirs, rtol=1e-5, atol=1e-6)
