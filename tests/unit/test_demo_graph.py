"""The demo graph is sound, and the gold of every question about it follows from its edges."""

import json
from collections import Counter
from pathlib import Path

import pytest

from orienteer.ingest import demo_questions, demo_records

NODES, EDGES = demo_records()
BY_ID = {node.id: node for node in NODES}
TOY = Path(__file__).parents[1] / "toy" / "questions.jsonl"
QUESTIONS = [json.loads(line) for line in TOY.read_text(encoding="utf-8").splitlines()]
JOINS = {
    ("language", "designed_by", "person"),
    ("language", "influenced_by", "language"),
    ("language", "developed_at", "organization"),
    ("language", "supports", "paradigm"),
    ("implementation", "implements", "language"),
    ("implementation", "written_in", "language"),
    ("software", "written_in", "language"),
    ("person", "worked_at", "organization"),
    ("person", "received", "award"),
    ("person", "created", "software"),
}


def named(name, node_type):
    """The one node of this type with this name or alias."""
    (found,) = [node.id for node in NODES if node.type == node_type and name in (node.name, *node.aliases)]
    return found


def out(sources, edge_type):
    """What edges of this type lead to from any of the nodes."""
    return {edge.target for edge in EDGES if edge.type == edge_type and edge.source in sources}


def into(targets, edge_type, node_type):
    """The nodes of this type from which edges lead to any of the nodes."""
    sources = {edge.source for edge in EDGES if edge.type == edge_type and edge.target in targets}
    return {source for source in sources if BY_ID[source].type == node_type}


def languages_by(designer):
    return into({named(designer, "person")}, "designed_by", "language")


def influenced_by(language):
    return into({named(language, "language")}, "influenced_by", "language")


def worked_at(organization):
    return into({named(organization, "organization")}, "worked_at", "person")


def with_most(edge_type):
    counts = Counter(edge.source for edge in EDGES if edge.type == edge_type)
    return {node for node, count in counts.items() if count == max(counts.values())}


GOLD = {
    "t01": lambda: {
        node.id for node in NODES if {"borrow", "checker", "compile", "races"} <= set(node.text.lower().split())
    },
    "t02": lambda: out({named("Erlang", "language")}, "designed_by"),
    "t03": lambda: into({named("JavaScript", "language")}, "implements", "implementation"),
    "t04": lambda: out(out({named("Go", "language")}, "designed_by"), "worked_at"),
    "t05": lambda: influenced_by("Erlang") & influenced_by("Ruby"),
    "t06": lambda: into({named("Bell Labs", "organization")}, "developed_at", "language"),
    "t07": lambda: {
        end
        for edge in EDGES
        if (edge.source, edge.type, edge.target)
        == (named("Ruby", "language"), "influenced_by", named("Perl", "language"))
        for end in (edge.source, edge.target)
    },
    "t08": lambda: with_most("received"),
    "t09": lambda: languages_by("Matz"),
    "t10": lambda: languages_by("Anders Hejlsberg"),
    "t11": lambda: {node.id for node in NODES if "intercal" in f"{node.name} {node.aliases} {node.text}".lower()},
    "t12": lambda: into({named("Oberon", "software")}, "created", "person"),
}
DEMO_GOLD = [
    lambda: languages_by("Niklaus Wirth"),
    lambda: worked_at("Bell Labs") & worked_at("Google"),
    lambda: into(languages_by("Bjarne Stroustrup"), "written_in", "implementation"),
]


def test_it_has_the_size_that_is_promised():
    assert 140 <= len(NODES) <= 170
    assert 450 <= len(EDGES) <= 560


def test_ids_are_unique_readable_and_sorted():
    ids = [node.id for node in NODES]
    assert len(set(ids)) == len(ids)
    assert ids == sorted(ids)
    assert all(node.id.startswith(f"{node.type}:") and node.id.isascii() and " " not in node.id for node in NODES)


def test_edges_are_unique_sorted_and_join_the_types_that_they_should():
    keys = [(edge.source, edge.type, edge.target) for edge in EDGES]
    assert len(set(keys)) == len(keys)
    assert keys == sorted(keys)
    assert {(BY_ID[edge.source].type, edge.type, BY_ID[edge.target].type) for edge in EDGES} == JOINS
    assert all(edge.source != edge.target for edge in EDGES)


def test_no_node_stands_alone():
    assert {end for edge in EDGES for end in (edge.source, edge.target)} == set(BY_ID)


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.id)
def test_a_node_has_a_name_and_a_description_of_its_own(node):
    assert node.name
    assert 40 <= len(node.text) <= 400
    assert 12 <= len(node.text.split()) <= 40
    assert node.text.endswith(".")
    assert [other.id for other in NODES if other.text == node.text] == [node.id]
    assert len({node.name, *node.aliases}) == 1 + len(node.aliases)


def test_a_name_belongs_to_one_node_of_its_type_and_some_to_nodes_of_two_types():
    assert max(Counter((node.type, node.name) for node in NODES).values()) == 1
    types = {name: {node.type for node in NODES if node.name == name} for name in {node.name for node in NODES}}
    assert {name for name, among in types.items() if len(among) > 1} == {"Mozilla", "Oberon"}


def test_properties_have_their_types():
    for node in NODES:
        for key, value in node.properties.items():
            if key == "typing":
                assert value in ("static", "dynamic")
            else:
                assert key == ("born" if node.type == "person" else "year")
                assert type(value) is int
    assert all("year" in node.properties for node in NODES if node.type == "language")


def test_time_runs_forwards():
    """Designers were grown up, and only living languages were influenced by younger ones."""
    for edge in EDGES:
        born = BY_ID[edge.target].properties.get("born")
        if edge.type == "designed_by" and born is not None:
            assert BY_ID[edge.source].properties["year"] - born >= 20, edge
    younger = {
        (edge.source, edge.target)
        for edge in EDGES
        if edge.type == "influenced_by"
        and BY_ID[edge.target].properties["year"] > BY_ID[edge.source].properties["year"]
    }
    assert younger == {("language:rust", "language:swift")}


def test_toy_questions_are_twelve_of_as_many_patterns():
    assert [question["id"] for question in QUESTIONS] == sorted(GOLD)
    assert len({question["pattern"] for question in QUESTIONS}) == len(QUESTIONS) == 12


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_gold_of_a_toy_question_follows_from_the_edges(question):
    gold = GOLD[question["id"]]()
    assert question["nodes"] == sorted(gold)
    names = [BY_ID[node].name for node in question["nodes"]]
    other = {"count": [str(len(gold))], "yes or no": [str(bool(gold))]}
    assert question["answers"] == other.get(question["pattern"], names)


def test_gold_of_the_demo_questions_follows_from_the_edges():
    questions = demo_questions()
    assert [question.nodes for question in questions] == [tuple(sorted(gold())) for gold in DEMO_GOLD]
    assert all(question.nodes for question in questions)


def test_the_misspelt_name_is_nowhere_in_the_graph():
    (question,) = [question for question in QUESTIONS if question["pattern"] == "typing error"]
    assert "Hejlsburg" in question["question"]
    assert not any("Hejlsburg" in f"{node.name} {node.aliases} {node.text}" for node in NODES)
