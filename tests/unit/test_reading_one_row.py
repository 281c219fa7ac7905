"""What is said of one row of a table is met by one: Ann's role in a concert is not anybody's role there."""

import itertools

import pytest

from orienteer import Graph, Retriever
from orienteer.records import Edge, Node

PUPILS, CONCERTS, ROLES = ("Ann Moss", "Ben Oak", "Cid Elm"), ("Spring Night", "Summer Day"), ("solo", "duet", "choir")
ROWS = [
    *(("Ann Moss", "Spring Night", "solo"), ("Ann Moss", "Spring Night", "duet"), ("Ann Moss", "Summer Day", "choir")),
    *(("Ben Oak", "Spring Night", "choir"), ("Ben Oak", "Summer Day", "solo"), ("Cid Elm", "Summer Day", "duet")),
]
KINDS = ("pupil", "concert", "role")


@pytest.fixture(scope="module")
def school():
    nodes = [Node(name, kind, name) for kind, own in zip(KINDS, (PUPILS, CONCERTS, ROLES), strict=True) for name in own]
    nodes += [Node(f"appearance:{at}", "appearance") for at in range(len(ROWS))]
    edges = [
        Edge(f"appearance:{at}", kind, name)
        for at, row in enumerate(ROWS)
        for kind, name in zip(KINDS, row, strict=True)
    ]
    return Retriever(Graph.from_records(nodes, edges), "anchor")


def told(answer):
    return set(answer.split(", ")) if answer else set()


@pytest.mark.parametrize(("pupil", "concert"), [*itertools.product(PUPILS, CONCERTS)])
def test_the_role_of_one_in_a_concert(school, pupil, concert):
    truth = {role for who, where, role in ROWS if (who, where) == (pupil, concert)}
    for question in (f"What role did {pupil} have in {concert}?", f"roles of {pupil} in {concert}"):
        assert told(school.ask(question).answer) == truth, question


@pytest.mark.parametrize(("role", "concert"), [*itertools.product(ROLES, CONCERTS)])
def test_who_had_a_role_in_a_concert(school, role, concert):
    truth = {who for who, where, own in ROWS if (own, where) == (role, concert)}
    result = school.ask(f"Which pupils were {role} in {concert}?")
    assert told(result.answer) == truth
    assert result.reading.complete
    assert school.ask(f"How many pupils were {role} in {concert}?").answer == str(len(truth))


def test_two_of_one_kind_are_two_rows_and_what_may_be_either_is_refused(school):
    both = {role for who, _, role in ROWS if who == "Ann Moss"} & {role for who, _, role in ROWS if who == "Ben Oak"}
    assert told(school.ask("roles of Ann Moss and Ben Oak").answer) == both
    for question in (
        "Which role did Ann Moss and Ben Oak have in Summer Day?",
        "Which pupils were not solo in Spring Night?",
        "Which pupils were solo in Spring Night and in Summer Day?",
    ):
        assert school.ask(question).answer is None, question


@pytest.mark.parametrize("verbs", ["founded and manages", "founded, manages and owns", "founded or owns"])
@pytest.mark.parametrize("shop", ["Alpha Shop", "Gamma Shop"])
def test_verbs_joined_by_and_hold_together_where_nobody_has_two_of_a_deed(verbs, shop):
    deeds = {"Ann": {"Alpha Shop": {"founded", "manages", "owns"}}, "Cy": {"Gamma Shop": {"founded"}}}
    deeds |= {"Bob": {"Gamma Shop": {"owns"}, "Beta Shop": {"manages"}}}
    nodes = [Node(name, "shop", name) for name in ("Alpha Shop", "Beta Shop", "Gamma Shop")]
    nodes += [Node(name, "person", name) for name in deeds]
    edges = [Edge(who, deed, what) for who, own in deeds.items() for what, done in own.items() for deed in done]
    said = set(verbs.replace(",", "").split()) - {"and", "or"}
    holds = said.intersection if "or" in verbs.split() else said.issubset
    truth = {who for who, own in deeds.items() if holds(own.get(shop, set()))}
    graph = Graph.from_records(nodes, edges)
    assert told(Retriever(graph, "anchor").ask(f"Who {verbs} {shop}?").answer) == truth
