"""The ordered answer, and the end."""

from clinic import ask
from orienteer.records import Edge, Node
from orienteer.tools import Toolbox


def answer(toolbox):
    return [toolbox.session.graph.arrays.ids[row] for row in toolbox.session.answer]


def test_the_order_of_adding_is_the_ranking(toolbox):
    ask(toolbox, "add_to_answer", nodes=["d2", "c1"])
    found = ask(toolbox, "add_to_answer", nodes=["c2", "d2"])
    assert answer(toolbox) == ["d2", "c1", "c2"]
    assert found.nodes == ("c2",)
    assert found.text == "added 1; answer: 3 nodes (Malaria; Aspirin; Ibuprofen)"


def test_a_set_is_added_in_the_order_in_which_it_was_shown(toolbox):
    shown = ask(toolbox, "search_in_graph", query="yellow skin fever").nodes
    assert list(shown) != sorted(shown)  # else this shows nothing
    ask(toolbox, "add_to_answer", nodes=["@1"])
    assert answer(toolbox) == list(shown)


def test_a_set_of_follow_is_added_by_distinct_members(toolbox):
    ask(toolbox, "intersect", nodes=["c1", "c2"])
    shown = ask(
        toolbox, "follow", start="Fever", steps=[{"edge": "presents"}, {"edge": "associates"}, {}, {}], k=50
    ).nodes
    assert list(shown) != sorted(shown)
    ask(toolbox, "add_to_answer", nodes=[f"@{len(toolbox.session.sets)}"])
    assert answer(toolbox) == list(shown)


def test_a_set_adds_all_its_members_also_those_beyond_the_page(toolbox):
    ask(toolbox, "search_in_neighborhood", node="Malaria", k=1)
    ask(toolbox, "add_to_answer", nodes=["@1"])
    assert set(answer(toolbox)) == {"c1", "c3", "g2", "s1", "s2"}


def test_a_set_may_be_added_with_exceptions(toolbox):
    ask(toolbox, "search_in_neighborhood", node="Malaria")
    ask(toolbox, "search_in_neighborhood", node="Malaria", node_types=["Compound"])
    ask(toolbox, "add_to_answer", nodes=["@1"], **{"except": ["@2", "HBB"]})
    assert set(answer(toolbox)) == {"s1", "s2"}


def test_a_wrong_name_does_not_lose_the_right_ones(toolbox):
    found = ask(toolbox, "add_to_answer", nodes=["c1", "nobody", "Jaundice (Symptom)", "@9", "c2"])
    assert answer(toolbox) == ["c1", "s1", "c2"]
    assert "nobody" in found.text
    assert "@9" in found.text


def test_the_reason_is_kept_for_the_nodes_that_it_added(toolbox):
    ask(toolbox, "add_to_answer", nodes=["c1"], reasoning="first")
    ask(toolbox, "add_to_answer", nodes=["c1", "c2"], reasoning="second")
    assert {toolbox.session.graph.arrays.ids[row]: why for row, why in toolbox.session.reasons.items()} == {
        "c1": "first",
        "c2": "second",
    }


def test_an_answer_has_an_end(make):
    leaves = [Node(f"n{at:04}", text="word") for at in range(1_200)]
    many = make([Node("hub"), *leaves], [Edge("hub", "has", leaf.id) for leaf in leaves])
    toolbox = Toolbox.full(many)
    ask(toolbox, "search_in_neighborhood", node="hub")
    found = ask(toolbox, "add_to_answer", nodes=["@1"])
    assert len(answer(toolbox)) == 1_000
    assert "200 were left out" in found.text
    assert len(found.nodes) <= 1_000


def test_nodes_can_be_taken_back(toolbox):
    ask(toolbox, "add_to_answer", nodes=["c1", "c2", "d1"])
    ask(toolbox, "intersect", nodes=["d3", "d3"])
    assert ask(toolbox, "remove_from_answer", nodes=["c2", "@1", "g1"]).text == "removed 2; answer: 1 node (Jaundice)"
    assert answer(toolbox) == ["d1"]


def test_an_empty_answer_is_sent_back_once_naming_the_last_result(toolbox):
    ask(toolbox, "search_in_graph", query="yellow")
    ask(toolbox, "search_in_graph", query="zebra")  # empty: not the one to take
    first = ask(toolbox, "finish")
    assert first.error == "EmptyAnswer"
    assert "@1" in first.text
    assert not toolbox.session.is_finished
    assert ask(toolbox, "finish", comment="there is none").error is None
    assert toolbox.session.is_finished
    assert toolbox.session.comment == "there is none"


def test_an_empty_answer_is_sent_back_also_where_nothing_was_found_at_all(toolbox):
    assert ask(toolbox, "finish").error == "EmptyAnswer"


def test_an_answer_is_taken_at_once(toolbox):
    ask(toolbox, "add_to_answer", nodes=["c1"])
    found = ask(toolbox, "finish")
    assert (found.error, found.text) == (None, "finished; answer: 1 node (Aspirin)")
    assert toolbox.session.is_finished
