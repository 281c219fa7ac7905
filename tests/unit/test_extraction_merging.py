"""Records of chunks -> entities, facts and edges: what is merged, what is kept apart, and where each was said."""

from __future__ import annotations

import math

import pytest

from fakes.inside import inside
from orienteer.ingest import (
    ExtractedEntity,
    Merger,
    Statement,
    StatementMember,
    edge_type,
    entity_type,
    folded_name,
    relation_statement,
    triple_statement,
)


def nothing_is_taken(node_id):
    return False


def made(merger, *, chunks=4, is_taken=nothing_is_taken):
    nodes = {node.id: node for node in merger.nodes(is_taken)}
    return nodes, list(merger.edges(chunks))


def of_type(edges, kind):
    return [(edge.source, edge.target) for edge in edges if edge.type == kind]


def test_one_name_is_one_entity_however_it_is_written_and_keeps_every_source():
    merger = Merger()
    merger.add("c1", [ExtractedEntity("Ada  Holm", "Person", "A captain.")])
    merger.add(
        "c2", [ExtractedEntity("ADA HOLM", "person", "Sails."), ExtractedEntity("Ada Holm", "person", "A captain.")]
    )
    nodes, edges = made(merger)
    (ada,) = nodes.values()
    assert (ada.id, ada.type, ada.name, ada.aliases) == ("person:ada holm", "person", "Ada Holm", ("ADA HOLM",))
    assert ada.text == "A captain.\nSails."
    assert of_type(edges, "mentions") == [("c1", ada.id), ("c2", ada.id)]
    assert edges[0].weight == pytest.approx(math.log(1 + 4 / 2), abs=1e-4)


def test_two_types_of_one_name_stay_apart_also_in_statements():
    merger = Merger()
    merger.add(
        "c1",
        [ExtractedEntity("Salt", "film"), ExtractedEntity("Salt", "place")],
        [
            Statement("Salt, a film, is named so.", (StatementMember("Salt"), StatementMember("Ada"))),
        ],
    )
    merger.add("c2", [ExtractedEntity("Salt", "place")], [triple_statement("Salt", "lies in", "Norway")])
    nodes, edges = made(merger)
    assert {"film:salt", "place:salt"} <= nodes.keys()
    assert ("fact", "film:salt") in {(nodes[fact].type, entity) for fact, entity in of_type(edges, "member")}
    assert of_type(edges, "lies_in") == [("place:salt", "name:norway")], "the type that the name has in its own chunk"
    assert ("c2", "film:salt") not in of_type(edges, "mentions")


def test_triples_are_edges_with_a_direction_and_facts_with_words():
    merger = Merger()
    merger.add(
        "c1",
        statements=[triple_statement("Ada", "Was born in", "Łódź"), triple_statement("Ada", "was born in", "Łódź")],
    )
    merger.add("c2", statements=[triple_statement("Ada", "was  born in", "łódź")])
    merger.add("c2", statements=[triple_statement("Łódź", "was born in", "Ada")])
    nodes, edges = made(merger)
    born = {(edge.source, edge.target): edge for edge in edges if edge.type == "was_born_in"}
    edge = born["name:ada", "name:łódź"]
    assert edge.weight == 2.0, "chunks that state it"
    assert edge.properties["sources"] == ["c1", "c2"]
    assert born["name:łódź", "name:ada"].weight == 1.0
    assert merger.labels() == {"was_born_in": "Was born in"}
    texts = sorted(node.text for node in nodes.values() if node.type == "fact")
    assert texts == ["Ada Was born in Łódź", "Łódź was born in Ada"]
    states = of_type(edges, "states")
    members = {(edge.source, edge.properties["role"]): edge.target for edge in edges if edge.type == "member"}
    for chunk, node in states:
        assert nodes[node].type == "fact"
        assert chunk in ("c1", "c2")
        assert {members[node, "subject"], members[node, "object"]} == {"name:ada", "name:łódź"}


def test_relations_add_up_their_strengths_once_a_chunk():
    merger = Merger()
    said = relation_statement("Ada", "Noor", "They sail.", keywords=("sea",), strength=7.0)
    merger.add(
        "c1", statements=[said, relation_statement("Ada", "Noor", "They row.", keywords=("sea", "oar"), strength=2.0)]
    )
    merger.add("c2", statements=[said])
    _, edges = made(merger)
    (edge,) = [one for one in edges if one.type == "related_to"]
    assert (edge.weight, edge.text) == (14.0, "They sail.\nThey row.")
    assert edge.properties == {"keywords": ["sea", "oar"], "sources": ["c1", "c2"]}


def test_facts_have_members_with_weights_and_no_edges_between_these():
    members = (
        StatementMember("Ada", "captain", 90.0),
        StatementMember("1969", "when", 40.0),
        StatementMember("Bergen"),
    )
    entities = [ExtractedEntity("Ada", "person"), ExtractedEntity("1969", "date"), ExtractedEntity("Bergen", "place")]
    merger = Merger()
    merger.add("c1", entities, [Statement("Ada reached Bergen in 1969.", members, score=8.0)])
    nodes, edges = made(merger)
    (node,) = [one for one in nodes.values() if one.type == "fact"]
    assert (node.name, node.properties) == ("Ada, 1969, Bergen", {"score": 8.0})
    assert {(edge.target, edge.weight, edge.properties.get("role")) for edge in edges if edge.type == "member"} == {
        ("person:ada", 90.0, "captain"),
        ("date:1969", 40.0, "when"),
        ("place:bergen", 1.0, None),
    }
    assert {edge.type for edge in edges} == {"mentions", "states", "member"}


@pytest.mark.parametrize(
    "name", ["北京大学", "جامعة القاهرة", "C++", "$1,363.00", "1969", "CO₂", "O'Brien & Søn", "x²"]
)
def test_names_of_every_script_with_digits_and_symbols_survive(name):
    merger = Merger()
    merger.add("c1", [ExtractedEntity(name, "thing")], [triple_statement(name, "属于", "D")])
    nodes, edges = made(merger)
    assert next(iter(nodes.values())).name == name
    assert [edge.type for edge in edges if edge.properties.get("sources")] == ["属于"]


def test_names_that_differ_by_a_symbol_are_two():
    assert len({folded_name(name) for name in ("C", "C++", "C#", "x2", "x²", "CO2", "CO₂")}) == 7
    assert folded_name("O’Brien–Holm  ") == folded_name("o'brien-holm")


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (triple_statement("Ada", "-", "Noor"), "a predicate without a word"),
        (triple_statement("Ada", "", "Noor"), "a predicate without a word"),
        (triple_statement("Ada", "knows", "ADA"), "a statement about one entity"),
        (triple_statement("Ada", "knows", " ?"), "a member without a name"),
        (Statement(" ", (StatementMember("Ada"), StatementMember("Noor"))), "a statement without words"),
        (Statement("Ada sails.", (StatementMember("Ada"),)), "a statement about one entity"),
    ],
)
def test_what_is_no_statement_is_counted_with_its_reason(record, reason):
    merger = Merger()
    merger.add("c7", statements=[record, triple_statement("Ada", "knows", "Noor")])
    (rejected,) = merger.rejects.by_reason()
    assert (rejected.reason, rejected.count) == (reason, 1)
    assert rejected.examples[0].startswith("c7: ")
    assert "1 record left out" in rejected.render()
    assert merger.facts == 1


def test_rejects_keep_the_first_few_of_each_reason():
    merger = Merger()
    for place in range(5):
        merger.add(f"c{place}", [ExtractedEntity("...")])
    (rejected,) = merger.rejects.by_reason()
    assert rejected.count == 5
    assert [one.partition(":")[0] for one in rejected.examples] == ["c0", "c1", "c2"]


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("Research Paper", "research_paper"),
        ("document", "document_entity"),
        ("Fact", "fact_entity"),
        ("", "name"),
        ("Unknown", "name"),
        ("人物", "人物"),
        ("नगर की नदी", "नगर_की_नदी"),
    ],
)
def test_types_are_lower_snake_case_and_never_those_of_chunks(written, kind):
    assert entity_type(written) == kind


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("was born in", "was_born_in"),
        ("IS-A", "is_a"),
        ("mentions", "mentions_relation"),
        ("co-occurs", "co_occurs_relation"),
        ("导演", "导演"),
        ("का पिता", "का_पिता"),
        ("की पिता", "की_पिता"),
        ("เกิดที่", "เกิดที่"),
        ("وُلِدَ في", "وُلِدَ_في"),
        ("->", ""),
        ("x" * 61, "related_to"),
    ],
)
def test_predicates_are_edge_types_and_never_those_of_chunks(written, kind):
    assert edge_type(written) == kind


def test_an_id_that_a_chunk_has_is_left_to_it():
    merger = Merger()
    merger.add("name:ada", statements=[triple_statement("Ada", "knows", "Noor")])
    nodes, edges = made(merger, is_taken=lambda node_id: node_id == "name:ada")
    assert {node.name: node.id for node in nodes.values() if node.type == "name"} == {
        "Ada": "name:ada~",
        "Noor": "name:noor",
    }
    assert of_type(edges, "knows") == [("name:ada~", "name:noor")]


def test_rare_predicates_are_related_to_beyond_a_number_of_edge_types(monkeypatch):
    monkeypatch.setattr(inside(Merger), "MOST_EDGE_TYPES", 2)
    merger = Merger()
    for place in range(3):
        merger.add(
            f"c{place}",
            statements=[
                triple_statement(f"a{place}", "knows", "Noor"),
                triple_statement(f"a{place}", f"p{place}", "x"),
            ],
        )
    _, edges = made(merger)
    assert {edge.type for edge in edges if "sources" in edge.properties} == {"knows", "p0", "related_to"}
    assert sorted(edge.text for edge in edges if edge.type == "related_to") == ["p1", "p2"]
    assert merger.labels() == {}


def test_rare_types_keep_what_they_are_and_stay_apart(monkeypatch):
    monkeypatch.setattr(inside(Merger), "MOST_NODE_TYPES", 1)
    merger = Merger()
    merger.add("c", [ExtractedEntity(name, "person") for name in ("Ada", "Noor")])
    merger.add("c", [ExtractedEntity("Salt", "film"), ExtractedEntity("Salt", "place")])
    nodes, _ = made(merger)
    rare = {node.id: (node.type, node.properties.get("stated_type")) for node in nodes.values() if node.name == "Salt"}
    assert rare == {"film:salt": ("name", "film"), "place:salt": ("name", "place")}


def test_of_many_descriptions_the_first_are_told_and_every_source_is_kept():
    merger = Merger()
    for at in range(50):
        said = relation_statement("Ada", "Noor", f"They sail, time {at}.", keywords=(f"k{at}",))
        merger.add(f"c{at}", [ExtractedEntity("Ada", "", f"Captain {at}."), ExtractedEntity("Noor")], [said])
    nodes, edges = made(merger, chunks=50)
    assert nodes["name:ada"].text.split("\n") == [f"Captain {at}." for at in range(20)]
    assert len([one for one in edges if (one.type, one.target) == ("mentions", "name:ada")]) == 50
    (edge,) = [one for one in edges if one.type == "related_to"]
    assert edge.text.split("\n") == [f"They sail, time {at}." for at in range(20)]
    assert edge.properties["keywords"] == [f"k{at}" for at in range(20)]
    assert (len(edge.properties["sources"]), edge.weight) == (50, 50.0)


def test_titles_are_titled():
    merger = Merger()
    merger.add("c1", [ExtractedEntity("Ada Holm", is_title=True), ExtractedEntity("Bergen")])
    _, edges = made(merger)
    assert of_type(edges, "titled") == [("c1", "name:ada holm")]


def test_a_statement_needs_no_edge():
    said = Statement("Ada met Noor.", (StatementMember("Ada"), StatementMember("Noor")))
    merger = Merger()
    merger.add("c", statements=[said])
    _, edges = made(merger)
    assert {edge.type for edge in edges} == {"mentions", "states", "member"}
