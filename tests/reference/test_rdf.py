"""RDF as imported against rdflib: whatever a graph of statements is, and whichever syntax it is written in."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings, strategies as st

from orienteer.graph import Graph
from orienteer.ingest import import_graph

pytest.importorskip("pyoxigraph")
rdflib = pytest.importorskip("rdflib")
from rdflib.collection import Collection  # noqa: E402 (after the check that it is there)
from rdflib.compare import isomorphic  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
SPACE = "http://ex.org/"
WRITTEN = {"nt": "nt", "ttl": "turtle", "rdf": "xml", "jsonld": "json-ld", "trig": "trig"}
NODES = st.integers(0, 5).map(lambda one: f"n{one}") | st.integers(0, 3).map(lambda one: f"_:x{one}")
LITERALS = (
    st.integers(-(10**15), 10**15)
    | st.booleans()
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8).filter(str.strip)
)
STATEMENTS = st.lists(st.tuples(NODES, st.integers(0, 3), NODES | LITERALS), min_size=1, max_size=25)


def term(value):
    if isinstance(value, str) and value.startswith("_:"):
        return rdflib.BNode(value[2:])
    return rdflib.URIRef(SPACE + value)


def as_rdflib(statements):
    """Return the statements as rdflib's graph; what leads to a literal has a predicate of its own."""
    graph = rdflib.Graph()
    for source, predicate, found in statements:
        is_node = isinstance(found, str) and (found.startswith("_:") or found[1:].isdigit() and found[0] == "n")
        name = f"to{predicate}" if is_node else f"has{predicate}"
        graph.add((term(source), rdflib.URIRef(SPACE + name), term(found) if is_node else rdflib.Literal(found)))
    return graph


def given_back(graph):
    """Return an imported graph as rdflib's."""
    back = rdflib.Graph()

    def node(node_id):
        if node_id.startswith("_:"):
            return rdflib.BNode(node_id[2:])
        return rdflib.URIRef(graph.node(node_id).properties.get("iri", node_id))

    for node_id in graph.node_ids():
        for name, value in graph.node(node_id).properties.items():
            for one in value if isinstance(value, list) else [value]:
                if name != "iri":
                    back.add((node(node_id), rdflib.URIRef(SPACE + name), rdflib.Literal(one)))
    for edge in graph.iter_edges():
        back.add((node(edge.source), rdflib.URIRef(SPACE + edge.type), node(edge.target)))
    return back


@settings(max_examples=8)
@pytest.mark.parametrize("suffix", WRITTEN)
@given(statements=STATEMENTS)
def test_every_statement_comes_back(suffix, statements, scratch):
    folder = scratch()
    folder.mkdir()
    file = folder / f"a.{suffix}"
    wanted = as_rdflib(statements)
    wanted.serialize(file, format=WRITTEN[suffix], encoding="utf-8")
    if suffix == "jsonld":  # as which rdflib loses loops of blank nodes
        wanted = rdflib.Graph().parse(file, format="json-ld")
        assume(len(wanted))
    report = import_graph([folder], folder / "graph")
    graph = Graph.open(folder / "graph")
    assume(not any(cut.reason == "mirrored" for cut in report.merged))  # two directions that are stored as one
    assert isomorphic(wanted, given_back(graph))


@settings(max_examples=8)
@given(members=st.lists(st.integers(0, 5), max_size=6))
def test_lists_have_the_members_that_rdflib_counts(members, scratch):
    wanted, folder = rdflib.Graph(), scratch()
    folder.mkdir()
    head = rdflib.BNode()
    Collection(wanted, head, [rdflib.URIRef(f"{SPACE}n{one}") for one in members])
    if not members:
        head = rdflib.RDF.nil
    wanted.add((rdflib.URIRef(SPACE + "a"), rdflib.URIRef(SPACE + "list"), head))
    wanted.add((rdflib.URIRef(SPACE + "a"), rdflib.URIRef(SPACE + "size"), rdflib.Literal(len(members))))
    wanted.serialize(folder / "a.rdf", format="xml")
    import_graph([folder], folder / "graph")
    graph = Graph.open(folder / "graph")
    found = sorted((edge.properties["position"], edge.target[-1]) for edge in graph.iter_edges())
    assert [int(one) for _, one in found] == [int(str(one)[-1]) for one in Collection(wanted, head)]
