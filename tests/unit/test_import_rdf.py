"""RDF as a graph: ids, types, names, texts, properties and edges, in every syntax."""

from __future__ import annotations

import gzip
import sys

import pytest

from orienteer.errors import BadInput, BadOption, MissingExtra
from orienteer.graph import Graph
from orienteer.ingest import RDF_SYNTAXES, ImportOptions, import_graph, validate_sources

pytest.importorskip("pyoxigraph")

pytestmark = pytest.mark.slow

PREFIXES = """
@prefix ex: <http://ex.org/> .
@prefix on: <http://ex.org/onto#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
LENS = {
    "lens.nt": """
        <http://ex.org/ada> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://ex.org/Person> .
        <http://ex.org/ada> <http://xmlns.com/foaf/0.1/name> "Ada Holm"@en .
        <http://ex.org/ada> <http://ex.org/born> "1961"^^<http://www.w3.org/2001/XMLSchema#integer> .
        <http://ex.org/ada> <http://ex.org/knows> _:x .
        _:x <http://xmlns.com/foaf/0.1/name> "Noor" .
    """,
    "lens.ttl": """
        PREFIX foaf: <http://xmlns.com/foaf/0.1/>
        <http://ex.org/ada> a <http://ex.org/Person> ; foaf:name "Ada Holm"@en ;
            <http://ex.org/born> 1961 ; <http://ex.org/knows> [ foaf:name "Noor" ] .
    """,
    "lens.rdf": """<?xml version="1.0"?>
        <!DOCTYPE rdf:RDF [ <!ENTITY e "http://ex.org/" > ]>
        <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:f="http://xmlns.com/foaf/0.1/"
            xmlns:n="http://www.w3.org/2001/XMLSchema#" xmlns:y="http://ex.org/">
        <y:Person rdf:about="&e;ada"><f:name xml:lang="en">Ada Holm</f:name>
        <y:born rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">1961</y:born>
        <y:knows><rdf:Description><f:name>Noor</f:name></rdf:Description></y:knows></y:Person></rdf:RDF>
    """,
    "lens.jsonld": """{"@context": {"name": "http://xmlns.com/foaf/0.1/name", "@vocab": "http://ex.org/"},
        "@id": "http://ex.org/ada", "@type": "Person", "name": {"@value": "Ada Holm", "@language": "en"},
        "born": 1961, "knows": {"name": "Noor"}}
    """,
}
LENS["lens.nq"] = LENS["lens.nt"]
LENS["lens.trig"] = LENS["lens.ttl"]
LENS["lens.owl"] = LENS["lens.xml"] = LENS["lens.rdf"]


@pytest.fixture
def made(scratch):
    """Give a function that imports files, given by name and content, and opens the graph."""

    def make(files, **options):
        if isinstance(files, str):
            files = {"a.ttl": PREFIXES + files}
        folder, target = scratch(), scratch()
        folder.mkdir()
        for name, text in files.items():
            data = text.encode()
            (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        report = import_graph([folder], target, options=ImportOptions(**options))
        return Graph.open(target), report

    return make


def edges(graph):
    return sorted((edge.source, edge.type, edge.target) for edge in graph.iter_edges())


def carried(graph, edge_type):
    found = [
        (edge.source, edge.target, edge.text, edge.weight, dict(edge.properties))
        for edge in graph.iter_edges()
        if edge.type == edge_type
    ]
    return sorted(found, key=str)


# ------------------------------------------------------------------------------------------------------- every syntax


@pytest.mark.parametrize("packing", ["", ".gz"])
@pytest.mark.parametrize("suffix", sorted(RDF_SYNTAXES))
def test_every_syntax_says_the_same(suffix, packing, made):
    graph, report = made({f"lens{suffix}{packing}": LENS[f"lens{suffix}"]})
    short = graph.node("Ada Holm").id
    assert short == ("y:ada" if suffix in (".rdf", ".owl", ".xml") else "http://ex.org/ada")
    ada, noor = graph.node(short), graph.node("Noor")
    assert (ada.type, ada.name, ada.properties["born"]) == ("Person", "Ada Holm", 1961)
    assert (noor.id, noor.type) == ("_:b1", "node")
    assert edges(graph) == [(short, "knows", "_:b1")]
    assert not report.dropped


def test_files_of_a_folder_are_one_graph_and_blank_nodes_are_their_files_own(made):
    graph, _ = made(
        {
            "a.ttl": "@prefix ex: <http://ex.org/> . ex:a ex:to _:x . _:x ex:n 1 .",
            "b.nt": "<http://ex.org/a> <http://ex.org/to> _:x .\n_:x <http://ex.org/n> '2' .\n".replace("'", '"'),
            "README.md": "Two files.",
        }
    )
    assert edges(graph) == [("ex:a", "to", "_:b1"), ("ex:a", "to", "_:b2")]
    assert [graph.node(f"_:b{number}").properties["n"] for number in (1, 2)] == [1, "2"]


def test_statements_of_a_node_may_be_scattered(made):
    lines = [f'<e:{number % 50}> <p:v{number // 50}> "{number}" .' for number in range(1000)]
    graph, _ = made({"a.nt": "\n".join(lines)})
    assert graph.arrays.manifest.nodes == 50
    assert dict(graph.node("e:7").properties) == {f"v{time}": str(50 * time + 7) for time in range(20)}


@pytest.mark.parametrize(
    "keys", ['"@context": {"to": "e:to"}, "@id": "e:a"', '"@id": "e:a", "@context": {"to": "e:to"}']
)
def test_json_ld_is_read_whatever_the_order_of_its_keys(keys, made):
    graph, _ = made({"a.jsonld": f'{{{keys}, "to": {{"@id": "e:b"}}}}'})
    assert edges(graph) == [("e:a", "to", "e:b")]


def test_xml_that_is_no_rdf_is_none_of_ours(tmp_path):
    (tmp_path / "a.xml").write_text("<note/>")
    with pytest.raises(BadInput, match=r"a\.xml: XML that is no RDF is not among the formats"):
        validate_sources([tmp_path / "a.xml"])


# ------------------------------------------------------------------------------------------------------------ naming


def test_ids_are_short_where_a_file_says_how(made):
    graph, _ = made("ex:a on:p on:b , <http://other.org/c> , <http://ex.org/> , <#me> , <urn:isbn:1> .")
    ids = [target for _, _, target in edges(graph)]
    assert ids == ["a.ttl#me", "http://ex.org/", "http://other.org/c", "on:b", "urn:isbn:1"]
    assert graph.node("on:b").properties == {"iri": "http://ex.org/onto#b"}
    assert graph.node("a.ttl#me").properties == {}
    assert [graph.node(one).name for one in ids] == ["me", "ex.org", "c", "b", "1"]


def test_an_iri_that_looks_like_a_prefixed_one_keeps_its_id(made):
    graph, _ = made("ex:a on:p <ex:a> .")
    assert edges(graph) == [("http://ex.org/a", "p", "ex:a")]


def test_names_and_aliases_by_language(made):
    text = """
        ex:lodz rdfs:label "Łódź"@pl , "Lodz"@en-GB , "Lodsch"@de ; skos:prefLabel "Boat City"@en ;
            skos:altLabel "Bootstadt"@de , "HollyŁódź" .
        ex:only rdfs:label "nur"@de , "seul"@fr . ex:untold rdfs:label "Plain" , "Einfach"@de .
        ex:New%20York_City ex:p 1 .
    """
    graph, report = made(text)
    lodz = graph.node("ex:lodz")
    assert (lodz.name, lodz.aliases) == ("Boat City", ("Lodz", "HollyŁódź"))
    names = {node_id: graph.node(node_id).name for node_id in ("ex:only", "ex:untold", "ex:New%20York_City")}
    assert names == {"ex:only": "nur", "ex:untold": "Plain", "ex:New%20York_City": "New York City"}
    assert report.notes == (
        "left out 5 values in other languages than 'en' (de 3, pl 1, fr 1): --language picks another",
    )
    german, _ = made(text, language="de")
    assert german.node("ex:lodz").name == "Lodsch"
    assert german.node("ex:lodz").aliases == ("Bootstadt", "HollyŁódź")
    assert german.node("ex:untold").name == "Einfach"


def test_text_is_what_describes_and_what_is_prose(made):
    graph, _ = made("""
        ex:a rdfs:comment "A town." ; skos:definition "A town. It lies on the coast." ;
            on:motto "From a little boat" ; on:history "Founded by two sisters who sold salt to sailors." ;
            on:remark "Ein Satz mit mehr als sechs Worten auf Deutsch."@de .
    """)
    assert graph.node("ex:a").text == (
        "A town. It lies on the coast.\nFounded by two sisters who sold salt to sailors.\n"
        "Ein Satz mit mehr als sechs Worten auf Deutsch."
    )
    assert graph.node("ex:a").properties["motto"] == "From a little boat"
    assert [hit.id for hit in graph.search("sisters sold salt", 3)] == ["ex:a"]


def test_literals_have_their_types(made):
    graph, _ = made("""
        ex:a on:whole 7 ; on:broken 1.50 ; on:double 1e3 ; on:yes true ; on:no "0"^^xsd:boolean ;
            on:day "2001-02-03Z"^^xsd:date ; on:time "2001-02-03T04:05:06Z"^^xsd:dateTime ; on:year "1998"^^xsd:gYear ;
            on:wrong "seven"^^xsd:integer ; on:long "123456789012345678901"^^xsd:integer ; on:nan "NaN"^^xsd:double ;
            on:own "POINT(1 2)"^^on:wkt ; on:code "007" ; on:empty "" ; on:several 3 , 1 , 3 , "x" .
    """)
    properties = dict(graph.node("ex:a").properties)
    assert properties.pop("iri") == "http://ex.org/a"
    assert properties == {
        "whole": 7,
        "broken": 1.5,
        "double": 1000.0,
        "yes": True,
        "no": False,
        "day": "2001-02-03",
        "time": "2001-02-03T04:05:06Z",
        "year": 1998,
        "wrong": "seven",
        "long": 123456789012345678901,
        "own": "POINT(1 2)",
        "code": "007",
        "several": [3, 1, "x"],
    }
    assert [type(properties[name]) for name in ("whole", "broken", "double", "year")] == [int, float, float, int]


# ------------------------------------------------------------------------------------------------------------- types


def test_the_most_specific_type_comes_first(made):
    graph, _ = made("""
        on:City rdfs:subClassOf on:Town . on:Town rdfs:subClassOf on:Place .
        ex:a a owl:Thing , on:Place , skos:Concept , on:City ; on:p 1 . ex:b a owl:NamedIndividual ; on:p 1 .
        ex:c a skos:Concept ; on:p 1 . ex:d on:p 1 . ex:e a on:Unsaid ; on:p 1 .
    """)
    types = {node_id: graph.node(node_id).type for node_id in ("ex:a", "ex:b", "ex:c", "ex:d", "ex:e")}
    assert types == {"ex:a": "City", "ex:b": "NamedIndividual", "ex:c": "Concept", "ex:d": "node", "ex:e": "Unsaid"}
    assert graph.node("ex:a").properties["types"] == ["City", "Place", "Concept"]
    # An edge leads to a class that is a node; nothing describes Concept, Thing or Unsaid.
    assert [edge for edge in edges(graph) if edge[1] == "type"] == [
        ("ex:a", "type", "on:City"),
        ("ex:a", "type", "on:Place"),
    ]


def test_what_is_used_as_a_class_or_a_predicate_is_one(made):
    graph, _ = made("ex:a a on:Kind ; on:to ex:b . on:Kind rdfs:subClassOf on:Sort . on:to rdfs:label 'leads to' .")
    types = {node_id: graph.node(node_id).type for node_id in graph.node_ids()}
    assert types == {"ex:a": "Kind", "ex:b": "node", "on:Kind": "Class", "on:Sort": "Class", "on:to": "Property"}


def test_predicates_and_classes_that_end_alike_keep_their_prefixes(made):
    graph, _ = made("""
        @prefix o2: <http://two.org/> .
        ex:a on:part ex:b ; o2:part ex:c ; <http://three.org/part> ex:d ; on:size 1 ; o2:size 2 ; on:iri 3 ; o2:only 4 .
        ex:a a on:Kind . ex:b a o2:Kind . ex:c a on:Other , o2:Other .
    """)
    assert [edge_type for _, edge_type, _ in edges(graph)] == ["http://three.org/part", "o2:part", "on:part"]
    assert dict(graph.node("ex:a").properties) == {
        "on:size": 1,
        "o2:size": 2,
        "on:iri": 3,
        "only": 4,
        "iri": "http://ex.org/a",
    }
    assert [graph.node(one).type for one in ("ex:a", "ex:b", "ex:c")] == ["on:Kind", "o2:Kind", "Other"]
    assert graph.node("ex:c").properties["types"] == ["Other", "o2:Other"]


def test_labels_of_predicates_and_classes(made):
    graph, report = made("""
        @prefix wdt: <http://www.wikidata.org/prop/direct/> .
        @prefix wd: <http://www.wikidata.org/entity/> .
        @prefix wikibase: <http://wikiba.se/ontology#> .
        on:RO_52 rdfs:label "is located in"@en , "liegt in"@de ; skos:altLabel "lies in" .
        ex:a on:RO_52 ex:b ; a on:C7 ; wdt:P17 ex:c . on:C7 rdfs:label "city" .
        wd:P17 wikibase:directClaim wdt:P17 ; rdfs:label "country"@en .
    """)
    assert report.labels == {"RO_52": "is located in", "C7": "city", "P17": "country"}
    assert graph.schema.also_called["RO_52"] == ("lies in",)
    assert graph.node("ex:a").type == "C7"


def test_roles_by_hand(made):
    text = """
        ex:a on:kind ex:Town ; on:called "Salt" ; rdfs:label "SLT" ; on:story "Old." ; on:secret "x" , ex:b .
        ex:b on:kind "village" ; on:p 1 .
    """
    columns = {"type": "on:kind", "name": "called", "text": "http://ex.org/onto#story"}
    graph, report = made(text, columns=columns, private=("secret",))
    node = graph.node("ex:a")
    assert (node.type, node.name, node.aliases, node.text) == ("Town", "Salt", ("SLT",), "Old.")
    assert graph.node("ex:b").type == "village"
    assert "secret" not in node.properties
    assert edges(graph) == []
    assert report.private == {"secret": 2}
    with pytest.raises(BadInput, match=r"--column name.*'nme'.*onto#called"):
        made(text, columns={"name": "nme"})
    with pytest.raises(BadInput, match="--private.*'nme'"):
        made(text, private=("nme",))
    with pytest.raises(BadOption, match="--column source"):
        made(text, columns={"source": "x"})
    with pytest.raises(BadOption, match="--explode"):
        made(text, explode={"x": "y"})


# ------------------------------------------------------------------------------------------------------------ shapes


def test_lists_are_edges_with_places(made):
    graph, _ = made("""
        ex:a on:l ( ex:b "two" ( ex:c 4 ) [ on:n 5 ] ) ; on:none () ; on:bad _:loop .
        _:loop rdf:first ex:d ; rdf:rest _:loop .
        ex:e on:l _:shared . ex:f on:l _:shared . _:shared rdf:first ex:g ; rdf:rest rdf:nil .
    """)
    assert carried(graph, "l") == [
        ("ex:a", "_:b7", "", 1.0, {"position": 4}),
        ("ex:a", "ex:b", "", 1.0, {"position": 0}),
        ("ex:a", "ex:c", "", 1.0, {"position": 2}),
        ("ex:e", "ex:g", "", 1.0, {"position": 0}),
        ("ex:f", "ex:g", "", 1.0, {"position": 0}),
    ]
    assert graph.node("ex:a").properties["l"] == ["two", 4]
    assert carried(graph, "bad") == [("ex:a", "ex:d", "", 1.0, {"position": 0})]
    assert {edge_type for _, edge_type, _ in edges(graph)} == {"l", "bad"}


def test_a_cell_of_which_more_is_said_stays_a_node(made):
    graph, _ = made("ex:a on:l _:x . _:x rdf:first ex:b ; rdf:rest ( ex:c ) ; rdfs:label 'head' .")
    assert edges(graph) == [("_:b1", "first", "ex:b"), ("_:b1", "rest", "ex:c"), ("ex:a", "l", "_:b1")]


def test_restrictions_of_owl_are_edges(made):
    graph, _ = made("""
        ex:wheel rdfs:subClassOf ex:part ,
            [ a owl:Restriction ; owl:onProperty on:part_of ; owl:someValuesFrom ex:car ] .
        ex:car rdfs:subClassOf [ a owl:Restriction ; owl:onProperty on:wheels ; owl:cardinality 4 ] .
        ex:odd owl:equivalentClass [ owl:intersectionOf ( ex:part
            [ a owl:Restriction ; owl:onProperty on:part_of ; owl:someValuesFrom ex:van ] ) ] .
    """)
    there = edges(graph)
    assert ("ex:wheel", "part_of", "ex:car") in there
    assert ("ex:wheel", "subClassOf", "ex:part") in there
    # What is no plain relation stays as it is written.
    (cardinality,) = [target for source, name, target in there if (source, name) == ("ex:car", "subClassOf")]
    assert (graph.node(cardinality).type, graph.node(cardinality).properties) == ("Restriction", {"cardinality": 4})
    assert len([edge for edge in there if edge[1] == "someValuesFrom"]) == 1
    assert len([edge for edge in there if edge[1] == "intersectionOf"]) == 2


def test_a_remark_on_a_restriction_is_carried_by_its_edge(made):
    graph, _ = made("""
        ex:wheel rdfs:subClassOf _:r . _:r a owl:Restriction ; owl:onProperty on:part_of ; owl:someValuesFrom ex:car .
        [] a owl:Axiom ; owl:annotatedSource ex:wheel ; owl:annotatedProperty rdfs:subClassOf ;
            owl:annotatedTarget _:r ; on:source "PMID:1" .
    """)
    assert carried(graph, "part_of") == [("ex:wheel", "ex:car", "", 1.0, {"source": "PMID:1"})]
    assert list(graph.node_ids()) == ["ex:car", "ex:wheel"]


@pytest.mark.parametrize(
    "said",
    [
        "ex:a on:to ex:b {| on:since 1991 ; on:by ex:c , ex:d ; rdfs:comment 'Signed.' ; on:weight 0.5 |} .",
        "ex:a on:to ex:b . << ex:a on:to ex:b >> on:since 1991 ; on:by ex:c , ex:d ; rdfs:comment 'Signed.' ; "
        "on:weight 0.5 .",
        "ex:a on:to ex:b . [] a rdf:Statement ; rdf:subject ex:a ; rdf:predicate on:to ; rdf:object ex:b ; "
        "on:since 1991 ; on:by ex:c , ex:d ; rdfs:comment 'Signed.' ; on:weight 0.5 .",
        "ex:a on:to ex:b . [] a owl:Axiom ; owl:annotatedSource ex:a ; owl:annotatedProperty on:to ; "
        "owl:annotatedTarget ex:b ; on:since 1991 ; on:by ex:c , ex:d ; rdfs:comment 'Signed.' ; on:weight 0.5 .",
    ],
    ids=["annotation", "quoted", "statement", "axiom"],
)
def test_what_is_said_of_a_statement_is_carried_by_its_edge(said, made):
    graph, report = made(said)
    assert carried(graph, "to") == [("ex:a", "ex:b", "Signed.", 0.5, {"since": 1991, "by": ["ex:c", "ex:d"]})]
    assert list(graph.node_ids()) == ["ex:a", "ex:b"]
    assert not report.dropped


def test_what_is_said_of_what_is_not_stated_stays_a_node(made):
    graph, _ = made("[] a rdf:Statement ; rdf:subject ex:a ; rdf:predicate on:to ; rdf:object ex:b ; on:since 1991 .")
    assert edges(graph) == [("_:b1", "object", "ex:b"), ("_:b1", "predicate", "on:to"), ("_:b1", "subject", "ex:a")]
    assert (graph.node("_:b1").type, graph.node("_:b1").properties) == ("Statement", {"since": 1991})


def test_what_is_said_of_a_value_or_a_type_is_counted(made):
    text = """ex:a on:size 1 {| on:by ex:c |} . ex:a a on:Kind {| on:by ex:d |} ."""
    graph, report = made(text)
    assert list(graph.node_ids()) == ["ex:a"]
    (cut,) = report.dropped
    assert (cut.reason, cut.count) == ("about a value", 2)
    with pytest.raises(BadInput, match="--strict: 2 about a value"):
        made(text, strict=True)


def test_named_graphs_are_carried_by_edges(made):
    graph, report = made(
        {
            "a.trig": PREFIXES + "GRAPH ex:g1 { ex:a on:to ex:b ; on:n 1 } GRAPH ex:g2 { ex:a on:to ex:b } "
            "ex:a on:to ex:b . ex:g1 on:n 2 ."
        }
    )
    assert [one[-1] for one in carried(graph, "to")] == [{"graph": "ex:g1"}, {"graph": "ex:g2"}, {}]
    assert graph.node("ex:a").properties["n"] == 1
    assert graph.node("ex:g1").properties["n"] == 2
    assert not report.merged


# ------------------------------------------------------------------------------------------------------------- faults


def test_a_malformed_line_is_dropped_and_counted(made):
    lines = [
        "\ufeff# a comment",
        "<e:a> <p:q> <e:b> .",
        "",
        '<e:a> <p:q> "never closed .',
        '<e:a> <p:r> "fine" .',
        "what is this",
        '<e:a> <p:s> "fine, too"@en .',
    ]
    graph, report = made({"a.nt": "\n".join(lines)})
    assert {"r": "fine", "s": "fine, too"}.items() <= graph.node("e:a").properties.items()
    (cut,) = report.dropped
    assert (cut.reason, cut.count, [place.line for place in cut.first]) == ("malformed", 2, [4, 6])
    assert cut.first[1].value.startswith("what is this (")
    with pytest.raises(BadInput, match=r"--strict: 2 malformed \(first: .*a\.nt, line 4"):
        made({"a.nt": "\n".join(lines)}, strict=True)


def test_duplicates_are_told_by_their_lines(made):
    _, report = made({"a.nt": "# first\n<e:a> <p:q> <e:b> .\n<e:a> <p:q> <e:c> .\n\n<e:a> <p:q> <e:b> .\n"})
    (cut,) = report.merged
    assert (cut.reason, [place.line for place in cut.first]) == ("duplicate", [5])


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("a.ttl", "@prefix ex: <http://ex.org/> .\nex:a ex:p ex:b .\nex:a ex:p .\n", r"a\.ttl, line 3: .*mend it"),
        ("a.ttl", "<e:a> <p:q> <e:b> .\n<e:a> <p:q> zz:c .\n", r"line 2: The prefix zz: has not been declared"),
        ("a.trig", "GRAPH <e:g> { <e:a> <p:q> <e:b> ", r"a\.trig, line 1"),
        ("a.rdf", LENS["lens.rdf"].replace("</rdf:RDF>", ""), r"a\.rdf ends before its outermost element"),
        ("a.rdf", LENS["lens.rdf"].split("61</y:born>")[0], r"a\.rdf ends before its outermost element"),
        ("a.rdf", LENS["lens.rdf"].replace("</y:born>", "</y:bo"), r"a\.rdf"),
        ("a.owl", "Ontology(<http://ex.org/>)", r"a\.owl"),
        (
            "a.owl",
            '<Ontology xmlns="http://www.w3.org/2002/07/owl#"><A><Class IRI="#B"/></A></Ontology>',
            "OWL/XML perhaps",
        ),
        ("a.jsonld", '{"@id": "e:a", ', r"a\.jsonld, line 1"),
        ("a.jsonld", '{"@context": "https://schema.org", "name": "A"}', "no address is ever fetched"),
        ("a.nt", "", "is empty"),
        ("a.nt", "# nothing but this\n", "hold no node"),
        ("a.nt", "ex:a ex:p ex:b .\n", r"hold no node: 1 malformed \(first: .*a\.nt, line 1: ex:a"),
        ("a.nt.gz", b"no gzip", "no gzip file"),
        ("a.ttl.gz", gzip.compress(b"<e:a> <p:q> <e:b> .\n" * 9, mtime=0)[:-9], "cut short"),
    ],
)
def test_what_is_not_whole_is_refused(name, text, match, tmp_path):
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadInput, match=match):
        import_graph([tmp_path / name], tmp_path / "graph")
    assert not (tmp_path / "graph").exists()


def test_statements_nested_without_end_do_not_end_the_process(made):
    nested = "<e:a> <p:q> " + "<<( <e:a> <p:q> " * 50_000 + "<e:b>" + " )>>" * 50_000 + " .\n"
    graph, report = made({"a.nt": nested + "<e:a> <p:q> <e:b> .\n"})
    assert edges(graph) == [("e:a", "q", "e:b")]
    assert [(cut.reason, cut.count) for cut in report.dropped] == [("malformed", 1)]
    with pytest.raises(BadInput, match=r"a\.ttl: quoted statements are nested too deeply"):
        made({"a.ttl": nested})


@pytest.mark.parametrize(
    "entities",
    [
        '<!ENTITY a "ten"><!ENTITY b "&a;&a;&a;">',
        f'<!ENTITY a "{"x" * 300}">',
        '<!ENTITY a SYSTEM "file:///etc/hostname">',
        "<!-- " + "x" * 70_000 + ' --><!ENTITY a "late">',
        "<!-- " + "x" * (65_536 - 35) + ' --><!ENTITY a "on the edge">',
    ],
)
def test_entities_that_could_unpack_to_something_huge_are_refused(entities, tmp_path):
    (tmp_path / "a.rdf").write_text(
        f'<!DOCTYPE r [{entities}]><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"></r:RDF>'
    )
    with pytest.raises(BadInput, match="XML entity"):
        validate_sources([tmp_path / "a.rdf"])


def test_rdf_stands_alone(tmp_path, made):
    (tmp_path / "a.nt").write_text("<e:a> <p:q> <e:b> .\n")
    (tmp_path / "b.csv").write_text("source,target\nx,y\n")
    with pytest.raises(BadInput, match=r"a\.nt is RDF and .*b\.csv is not"):
        validate_sources([tmp_path / "a.nt", tmp_path / "b.csv"])
    report = validate_sources([tmp_path])  # a folder with tables is read as tables
    assert [(one.file, one.reason) for one in report.ignored] == [(str(tmp_path / "a.nt"), "no table")]
    with pytest.raises(BadInput, match=r"missing\.ttl does not exist"):
        validate_sources([tmp_path / "a.nt", tmp_path / "missing.ttl"])
    with pytest.raises(BadInput, match=r"a\.nt holds a whole graph, not a table: import it alone, without --nodes"):
        validate_sources([], options=ImportOptions(edges=(tmp_path / "a.nt",)))


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    (tmp_path / "a.nt").write_text("<e:a> <p:q> <e:b> .\n")
    with pytest.raises(MissingExtra, match=r"a\.nt needs the extra 'rdf': pip install 'orienteer\[rdf\]'"):
        import_graph([tmp_path / "a.nt"], tmp_path / "graph")
    assert not (tmp_path / "graph").exists()
