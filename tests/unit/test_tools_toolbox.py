"""All tools of one agent by name."""

import pytest

from clinic import ask
from orienteer.errors import UnknownNode
from orienteer.records import ToolCall
from orienteer.tools import Toolbox

pytestmark = pytest.mark.slow

ALL = ["search_in_graph", "search_in_neighborhood", "follow", "intersect", "paths", "read_node", "schema"]
ALL += ["add_to_answer", "remove_from_answer", "finish"]


def test_the_tools(toolbox):
    assert [spec.name for spec in toolbox.specs] == ALL


def test_call_raises_and_observe_answers(toolbox):
    with pytest.raises(UnknownNode):
        toolbox.call("read_node", {"node": "nobody"})
    found = ask(toolbox, "read_node", node="nobody")
    assert found.error == "UnknownNode"
    assert "Not in this graph: 'nobody'" in found.text


def test_an_unknown_tool_gets_the_nearest_and_all(toolbox):
    found = ask(toolbox, "search_graph", query="x")
    assert found.error == "BadCall"
    assert "Did you mean search_in_graph?" in found.text
    assert all(name in found.text for name in ALL)


def test_a_missing_argument_comes_back_as_text(toolbox):
    found = ask(toolbox, "search_in_neighborhood", query="x")
    assert (found.error, found.nodes) == ("BadCall", ())
    assert "node is missing" in found.text


@pytest.mark.parametrize("arguments", ["", "{", "[]", "null", "7", '"x"', "{'node': 'a'", '{"node": "a"} and more'])
def test_malformed_arguments_come_back_as_text(toolbox, arguments):
    found = toolbox.observe(ToolCall(id="1", name="read_node", arguments=arguments))
    assert found.error == "BadCall"
    assert "read_node" in found.text


def test_a_search_that_was_made_before_is_said_and_still_answered(toolbox):
    first = ask(toolbox, "search_in_graph", query="yellow", k=3)
    again = ask(toolbox, "search_in_graph", k=3, query="yellow")
    assert again.nodes == first.nodes
    assert again.text.startswith("You asked just this before.\n")
    assert not ask(toolbox, "search_in_graph", query="yellow", k=2).text.startswith("You asked")


def test_arguments_are_read_as_they_are_meant_and_the_model_is_told(toolbox, graph):
    read = ask(toolbox, "search_in_graph", query="yellow", k="2")
    plain = ask(Toolbox.full(graph), "search_in_graph", query="yellow", k=2)
    assert (read.nodes, read.text) == (plain.nodes, f'note: k, "2", was read as 2\n{plain.text}')


def test_toolboxes_share_a_graph_and_nothing_else(graph):
    one, other = Toolbox.full(graph), Toolbox.full(graph)
    ask(one, "search_in_graph", query="yellow")
    ask(one, "add_to_answer", nodes=["c1"])
    assert (other.session.sets, other.session.answer) == ([], [])
    assert not ask(other, "search_in_graph", query="yellow").text.startswith("You asked")


def test_the_state_of_the_answer_ends_every_reply(toolbox):
    ask(toolbox, "add_to_answer", nodes=["c1"])
    for name, arguments in {
        "search_in_graph": {"query": "zebra"},
        "search_in_neighborhood": {"node": "x1"},
        "follow": {"start": "d1", "steps": [{}]},
        "intersect": {"nodes": ["x1", "x1"]},
        "paths": {"a": "c1", "b": "x1"},
        "read_node": {"node": "c1"},
        "schema": {},
        "add_to_answer": {"nodes": ["c1"]},
        "remove_from_answer": {"nodes": ["c2"]},
        "finish": {},
    }.items():
        assert ask(toolbox, name, **arguments).text.endswith("answer: 1 node (Aspirin)"), name


@pytest.mark.parametrize(("name", "arguments"), [("read_node", {"node": "nobody"}), ("read_node", {}), ("look_up", {})])
def test_the_state_of_the_answer_ends_also_what_went_wrong(toolbox, name, arguments):
    ask(toolbox, "add_to_answer", nodes=["c1"])
    assert ask(toolbox, name, **arguments).text.endswith("answer: 1 node (Aspirin)")


def test_the_state_of_the_answer_is_in_a_refused_finish(toolbox):
    assert "answer" in ask(toolbox, "finish").text.casefold()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_node", {"node": "x" * 50_000}),
        ("search_in_graph", {"query": "x", "where": ["y" * 50_000]}),
        ("search_in_graph", {"query": "x", "node_types": ["y" * 50_000]}),
        ("search_in_graph", {"query": " ".join(f"unknown{at}" for at in range(9_000))}),
        ("x" * 50_000, {}),
        ("search_in_neighborhood", {"node": "c1", "edge_types": ["y" * 50_000]}),
    ],
)
def test_also_errors_stay_under_the_budget(toolbox, name, arguments):
    found = ask(toolbox, name, **arguments)
    assert 0 < len(found.text) <= toolbox.session.reply_tokens * 4
