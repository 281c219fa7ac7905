"""A plan in words: one, several, whether; and what two walks may not be taken for."""

import numpy as np
import pytest

from orienteer.graph import Graph
from orienteer.ingest import demo_records
from orienteer.lab.quizzes import (
    EdgeStep,
    QuestionPlan,
    QuestionWriter,
    WalkCondition,
    singular_predicate,
    whether_question,
)
from orienteer.records import Edge, Node


@pytest.fixture(scope="module")
def languages(scratch):
    """Give the graph about programming languages that ships with the package."""
    return Graph.from_records(*demo_records(), path=scratch())


def test_two_walks_of_two_steps_need_not_meet_in_one_node(languages):
    chance = np.random.default_rng(1)
    steps = (EdgeStep("award", "received", False, "person"), EdgeStep("person", "designed_by", False, "language"))
    awards = [languages.arrays.row(name) for name in ("Turing Award", "Grace Murray Hopper Award")]
    plan = QuestionPlan("<h,r,t>", tuple(WalkCondition(row, steps) for row in awards))
    for _ in range(6):
        question = QuestionWriter(languages, chance).question(plan, "set")
        assert "both" not in question
        assert question.count("people that received") == 2


def test_a_name_that_two_types_have_is_said_with_its_type_whatever_the_name_holds(build):
    nodes = [Node("p", "package", "Git-Buildpackage"), Node("s", "source", "Git-Buildpackage")]
    graph = build([*nodes, Node("t", "tag", "Useful Tools")], [Edge("p", "has", "t"), Edge("s", "has", "t")])
    for node in nodes:
        condition = WalkCondition(graph.arrays.row(node.id), (EdgeStep(node.type, None, None, "tag"),))
        question = QuestionWriter(graph, np.random.default_rng(1)).question(
            QuestionPlan("<h,_,_>", (condition,)), "entity"
        )
        assert f"the {node.type} Git-Buildpackage" in question


@pytest.mark.parametrize(
    ("several", "one"),
    [
        ("bind X", "binds X"),
        ("are bound by X", "is bound by X"),
        ("are kinds of X", "is a kind of X"),
        ("are authors of X", "is an author of X"),
        ("are part of X", "is part of X"),
        ("are similar to kinds of X", "is similar to kinds of X"),
        ("are linked to Sons of X", "is linked to Sons of X"),
        ("have the tag X", "has the tag X"),
        ("negatively regulate X", "negatively regulates X"),
        ("pre-depend on X", "pre-depends on X"),
        ("directed X", "directed X"),
        ("wrote X", "wrote X"),
        ("were directed by X", "was directed by X"),
        ("carry X", "carries X"),
    ],
)
def test_what_is_said_of_several_is_said_of_one(several, one):
    assert singular_predicate(several) == one


def test_a_thing_is_it_and_a_person_is_them(languages):
    steps = (
        EdgeStep("language", "influenced_by", True, "language"),
        EdgeStep("language", "designed_by", True, "person"),
    )
    onward = (*steps[:1], EdgeStep("language", "developed_at", True, "organization"))
    wording = QuestionWriter(languages, np.random.default_rng(1))
    asked = [
        wording.question(QuestionPlan("<h,r,_>", (WalkCondition(languages.arrays.row("C"), one),)), "entity")
        for one in (steps, onward)
    ]
    assert "designed by them" in asked[0]
    assert "developed at it" in asked[1]


@pytest.mark.parametrize(
    ("predicate", "question"),
    [
        ("bind Y", "does X bind Y?"),
        ("are bound by Y", "is X bound by Y?"),
        ("are members of Y", "is X a member of Y?"),
        ("have Y as a hypernym", "does X have Y as a hypernym?"),
        ("wrote Y", "did X write Y?"),
        ("directed Y", "did X direct Y?"),
        ("were written by Y", "was X written by Y?"),
    ],
)
def test_what_is_said_of_several_is_asked_of_one(predicate, question):
    assert whether_question("X", predicate) == question
