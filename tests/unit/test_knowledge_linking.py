"""Ends of triples: names that are ids or begin as variables do, and what linking asks of a server and of threads."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from fakes.embedder import WordEmbedder, embedded
from orienteer.errors import BudgetExhausted
from orienteer.graph import Graph
from orienteer.llm import Allowance, Budget
from orienteer.protocols import Embedded
from orienteer.records import Edge, Node, Usage
from orienteer.retrieval import Spaces, TripleMatcher, TriplePattern


def match(graph, *triples):
    return TripleMatcher(graph, Spaces(graph)).match([TriplePattern(*triple) for triple in triples], run=Allowance())


@pytest.fixture(scope="module")
def bands(build):
    nodes = [Node("300", "film", "Troy"), Node("7", "film", "300"), Node("d", "person", "Zack Snyder")]
    nodes += [Node("q [1],", "drummer", "?uestlove"), Node("r]", "band", "The Roots"), Node("t", "team", "Team #7")]
    edges = [Edge("d", "made", "7"), Edge("d", "saw", "300"), Edge("q [1],", "plays in", "r]"), Edge("t", "hired", "d")]
    return build(nodes, edges)


def test_a_name_counts_before_an_id_that_is_written_alike(bands):
    """Models know names. The ids of a corpus are often numbers, and so are the names of films and years."""
    assert {one.item.id for one in match(bands, ("?x", "made", "300")).evidence.nodes} == {"7", "d"}
    assert match(bands, ("?x", "saw", "300")).sound == ()
    assert match(bands, ("Zack Snyder", "made", "7")).sound == ({},)  # an id that is nobody's name is one


def test_a_node_whose_name_begins_as_a_variable_does_is_no_variable(bands):
    assert match(bands, ("?uestlove", "plays in", "?band")).sound == ({"?band": "r]"},)
    assert match(bands, ("team #7", "hired", "?who")).sound == ({"?who": "d"},)


def test_ids_with_brackets_and_commas_are_bound_as_they_are(bands):
    assert match(bands, ("?who", "plays in", "The Roots")).sound == ({"?who": "q [1],"},)


@pytest.mark.parametrize("nameless", ["", "?", " ? "])
def test_variables_without_a_name_are_apart_and_are_not_told(build, nameless):
    nodes = [Node(name, "thing", name) for name in "ABC"]
    graph = build(nodes, [Edge("A", "holds", "B"), Edge("C", "holds", "B")])
    assert match(graph, (nameless, "holds", "B"), (nameless, "holds", "B")).bindings == (({}, 1.0),)


def test_a_graph_without_edges_gives_what_is_linked_and_says_why_no_more(build):
    graph = build([Node("a", "thing", "A"), Node("b", "thing", "Bee Gees")], [])
    found = match(graph, ("A", "sang", "Bee Gee"))
    assert (found.bindings, found.sound) == ((), ())
    assert [one.item.id for one in found.evidence.nodes] == ["a", "b"]
    assert found.reason == "(A, sang, Bee Gee) is matched by nothing"


class PaidEmbedder(WordEmbedder):
    def embed_metered(self, texts, *, kind, seconds=None):
        return Embedded(self.embed(texts, kind=kind), Usage(calls=1))


def test_only_a_name_that_no_node_bears_is_embedded_and_a_spent_budget_is_told(small_records, scratch):
    path = embedded(Graph.from_records(*small_records, path=scratch()), scratch()).path
    graph = Graph.open(path, embedder=lambda name: PaidEmbedder())
    spent = Allowance(Budget(calls=1), reserve=1)
    asked = TriplePattern("Ada Holm", "directed", "?f")
    assert TripleMatcher(graph, Spaces(graph)).match([asked], run=spent).sound == ({"?f": "f1"}, {"?f": "f2"})
    with pytest.raises(BudgetExhausted):
        TripleMatcher(graph, Spaces(graph)).match([asked._replace(subject="Ada Holmm")], run=spent)
    assert spent.usage().calls == 0
    paid = Allowance(Budget(calls=1), reserve=0)
    assert TripleMatcher(graph, Spaces(graph)).match([asked._replace(subject="Ada Holmm")], run=paid).sound
    assert paid.usage().calls == 1


@pytest.mark.slow
def test_a_matcher_is_shared_among_threads(build):
    nodes = [Node(f"n{number:02}", "thing", f"name {number}") for number in range(40)]
    edges = [
        Edge(f"n{a:02}", kind, f"n{b:02}") for a in range(40) for b, kind in ((a * 7 % 40, "met"), (a * 3 % 40, "saw"))
    ]
    graph = build(nodes, edges)
    asked = [[TriplePattern(f"name {a}", "met", "?x"), TriplePattern("?x", "saw", "?y")] for a in range(40)]
    alone = [TripleMatcher(graph).match(one, run=Allowance()) for one in asked]
    shared = TripleMatcher(graph)
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda one: shared.match(one, run=Allowance()), asked)) == alone
    assert sum(bool(one.sound) for one in alone) > 20
