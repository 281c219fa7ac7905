"""What a model is told of a graph before it writes code: types by size, types held in part, shapes of examples."""

import re

import pytest

from orienteer.graph import EdgeBatch, Graph, GraphBuilder
from orienteer.llm import ScriptedModel
from orienteer.methods import GraphScout, GraphScoutConfig, prompt_for
from orienteer.records import Edge, Kind, Node, Question
from orienteer.retrieval import PARTIAL_NOTE, code_examples, counts_line, schema_lines

pytest.importorskip("pydantic_monty")

NODES = [
    Node("a1", "Anatomy", "liver"),
    *(Node(f"d{at}", "Disease", f"disease {at}") for at in range(3)),
    *(Node(f"c{at}", "Compound", f"compound {at}") for at in range(4)),
    *(Node(f"g{at}", "Gene", f"gene {at}") for at in range(9)),
]
EDGES = [
    Edge("c0", "treats", "d0"),
    Edge("c0", "palliates", "d1"),
    Edge("c1", "treats", "d1"),
    Edge("d0", "associates", "g0"),
    Edge("d1", "associates", "g0"),
    Edge("d1", "associates", "g1"),
    *(Edge(f"g{at}", "expressed_in", "a1") for at in range(9)),
]


@pytest.fixture(scope="module")
def partial(scratch):
    """Give a graph that holds only some edges of one type, and some nodes of another."""
    with GraphBuilder(path := scratch()) as builder:
        for node in NODES:
            builder.add_node(node)
        builder.add_edges(
            EdgeBatch(*zip(*[(edge.source, edge.type, edge.target) for edge in EDGES], strict=True)),
        )
        builder.publish(partial=["associates", "Disease"])
    return Graph.open(path)


def system_of(graph, **options):
    model = ScriptedModel(lambda *_: pytest.fail("nobody was to be asked"))
    scout = GraphScout(graph, model, GraphScoutConfig(**options))
    return scout.begin_agent(Question(text="?"), 0, random_seed=0).opening[0].content


@pytest.mark.slow
def test_the_first_line_names_the_largest_types(partial):
    assert "a knowledge graph of Gene, Compound, Disease. " in system_of(partial)


def test_types_that_are_held_in_part_are_told_in_every_schema(partial):
    system = system_of(partial)
    assert "- Disease: 3 (partial)" in system
    assert "- (Disease)-[:associates]->(Gene): 3 (partial)" in system
    assert "- (Compound)-[:treats]->(Disease): 2\n" in system
    assert PARTIAL_NOTE in system
    lines = schema_lines(partial)
    assert "Disease 3 (partial)" in lines[0]
    assert "Disease -associates-> Gene 3 (partial)" in lines
    assert PARTIAL_NOTE in lines
    plan = prompt_for(partial, (), tokens=1_500, samples=False, has_vectors=False, offers_cypher=False).graph
    assert "- Disease -associates-> Gene 3 (partial)" in plan
    assert PARTIAL_NOTE in plan
    assert counts_line(partial, {Kind("associates", "out", "Gene"): 2}) == "-associates-> Gene 2 (partial)"


@pytest.mark.slow
def test_of_a_whole_graph_nothing_is_told(build):
    assert "partial" not in system_of(build(NODES, EDGES))


def test_the_examples_have_the_commonest_shapes(build):
    """What joins two nodes by any of several edge types, with `type(r)`; three edges, and which node is met most."""
    around, words, joining, counted = code_examples(build(NODES, EDGES), None)
    assert "type(r) AS edge, count(DISTINCT b)" in around
    assert re.search(r"MATCH \(n\) WHERE toLower\(n.name\) CONTAINS", words)  # without a label
    assert "labels(n)[0] AS type" in words
    assert (
        "(a:Compound {name: $name})-[r:treats|palliates]-(b:Disease)-[s:associates]-(c:Gene {name: $other})" in joining
    )
    assert "type(r) AS first, type(s) AS second" in joining
    assert (
        "-[:treats]->(b:Disease)-[:associates]->(c:Gene)-[:expressed_in]->(d:Anatomy) "
        "RETURN d.id AS id, d.name AS name, count(DISTINCT c) AS n"
    ) in counted


def test_a_node_with_a_long_name_is_given_by_its_id(build):
    nodes = [Node("one", "Town", "long " * 50), Node("two", "Town", "short")]
    joining = code_examples(build(nodes, [Edge("one", "near", "two")]), None)[2]
    assert "(a:Town {id: $name})" in joining
    assert '{"name": "one"}' in joining
