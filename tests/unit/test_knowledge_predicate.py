"""Predicates of triples: which edge types they fit, and that what only says how passages were joined fits none."""

import pytest

from orienteer.llm import Allowance
from orienteer.records import Edge, Node
from orienteer.retrieval import UNMATCHED_COST, Predicates, Spaces, TripleMatcher, TriplePattern

NEAR = [
    "shares border with",
    "named after",
    "next to",
    "is similar to",
    "mentioned in",
    "part of",
    "links to",
    "",
    "?p",
]


def match(graph, *triples):
    return TripleMatcher(graph, Spaces(graph)).match([TriplePattern(*triple) for triple in triples], run=Allowance())


@pytest.fixture(scope="module")
def towns(build):
    """Passages, with every type of edge that building joins passages by."""
    nodes = [Node(str(number), "chunk", name) for number, name in enumerate(("Sofia", "Serbia", "Sofia Vergara"))]
    kinds = ("mentions", "shares_names", "similar", "next", "links_to", "part_of")
    return build(nodes, [Edge("0", kind, "1") for kind in kinds] + [Edge("0", "similar", "2")])


@pytest.mark.parametrize("predicate", NEAR)
def test_how_passages_were_joined_says_no_predicate(towns, predicate):
    """On MuSiQue's passages `shares border with` once fitted `shares_names`: 8 bindings taken for sound, 8 wrong."""
    found = match(towns, ("Sofia", predicate, "?x"))
    assert found.sound == ()
    assert found.bindings[0][0] == {"?x": "1"}  # it stays evidence, and what names the other end comes first
    assert found.bindings[0][1] <= UNMATCHED_COST
    assert all(one.why.endswith("; predicate unmatched") for one in found.evidence.edges)


def test_the_same_words_are_edge_types_as_any_other_in_a_graph_that_a_person_brings(build):
    graph = build([Node("h", "organ", "Heart"), Node("v", "tissue", "Valve")], [Edge("v", "part_of", "h")])
    assert Predicates(graph).fit("part of").kinds.max() == 1.0
    assert match(graph, ("?x", "part of", "Heart")).sound == ({"?x": "v"},)


def test_relations_of_entities_that_are_called_so_are_relations_also_beside_passages(build):
    nodes = [Node("h", "organ", "Heart"), Node("v", "tissue", "Valve"), Node("d#0", "chunk", "Heart")]
    graph = build(nodes, [Edge("v", "part_of", "h"), Edge("d#0", "mentions", "h")])
    assert match(graph, ("?x", "part of", "Heart")).sound == ({"?x": "v"},)


def test_in_a_graph_of_both_relations_of_entities_are_sound_and_standing_together_is_not(build):
    nodes = [Node(name, "name", name) for name in ("Ann", "Bob", "Cy")] + [Node("d#0", "chunk", "Ann")]
    edges = [Edge("Ann", "co_occurs", "Bob", "met"), Edge("Ann", "married", "Cy"), Edge("d#0", "mentions", "Ann")]
    graph = build(nodes, edges)
    assert match(graph, ("Ann", "occurs in", "?x")).sound == ()
    assert match(graph, ("Ann", "was married to", "?x")).sound == ({"?x": "Cy"},)
    assert match(graph, ("Ann", "met", "?x")).sound == ({"?x": "Bob"},)  # by what stands between them
