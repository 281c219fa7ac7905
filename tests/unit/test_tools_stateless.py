"""The tools of a server that keeps nothing: names are mended, no set is named, replies keep to their tokens."""

import json

import pytest

from orienteer.errors import UnknownType
from orienteer.records import Node
from orienteer.text.lines import CHARACTERS_A_TOKEN_OF_IDS
from orienteer.tools.session import ReplyLines, Session
from orienteer.tools.toolbox import STATELESS_TOKENS, Toolbox, open_stateless, open_toolbox


@pytest.fixture
def stateless(graph):
    return open_stateless(graph)


def test_no_text_of_a_tool_names_a_set(stateless):
    offered = json.dumps([spec.model_dump() for spec in stateless.specs])
    assert "@" not in offered
    assert " set" not in offered.replace(" set of ", " ")
    assert "among" not in offered
    assert [spec.name for spec in stateless.specs] == [
        *("search_in_graph", "search_in_neighborhood", "follow", "intersect", "paths", "read_node", "schema"),
        "list_nodes",
    ]


def test_agents_tools_still_do(graph):
    offered = json.dumps([spec.model_dump() for spec in Toolbox.full(graph).specs])
    assert "or a saved set such as @2" in offered
    assert "Search only in this saved set" in offered


def test_replies_name_no_set_and_no_answer(stateless):
    replies = [
        stateless.call("search_in_graph", {"query": "aspirin"}),
        stateless.call("search_in_neighborhood", {"node": "Aspirin"}),
        stateless.call("follow", {"start": "Aspirin", "steps": [{"edge": "treats"}, {}]}),
        stateless.call("intersect", {"nodes": ["Aspirin", "Ibuprofen"]}),
        stateless.call("paths", {"a": "Aspirin", "b": "Ibuprofen"}),
        stateless.call("read_node", {"node": ["Aspirin", "Ibuprofen"]}),
        stateless.call("list_nodes", {"group_by": "type"}),
    ]
    for reply in replies:
        assert "@" not in reply.text
        assert "answer:" not in reply.text
        assert "  " not in reply.text.replace("\n  ", "\n")
    assert stateless.session.sets == []


def test_near_types_and_parts_of_names_are_mended_with_a_note(stateless):
    reply = stateless.call("search_in_neighborhood", {"node": "Aspirin", "edge_types": ["treat"]}).text
    assert reply.startswith("'treat' is read as 'treats'")


def test_mending_and_saving_are_two_choices(graph):
    notes = []
    assert Session(graph, saves_sets=False, mends_names=True).edge_types(["treat"], notes) == ["treats"]
    assert notes == ["'treat' is read as 'treats'"]
    for session in (Session(graph, saves_sets=False), Session(graph, mends_names=False)):
        with pytest.raises(UnknownType):
            session.edge_types(["treat"], [])
    assert Session(graph).edge_types(["treat"], []) == ["treats"]


def test_a_reply_keeps_to_its_tokens_where_most_of_it_is_ids(make):
    graph = make([Node(f"Gene::{at:06d}", "Gene", f"G{at}") for at in range(500)])
    box = open_stateless(graph)
    reply = box.call("list_nodes", {"k": 100}).text
    assert len(reply) <= STATELESS_TOKENS * CHARACTERS_A_TOKEN_OF_IDS
    assert ReplyLines(Session(graph)).room > ReplyLines(box.session).room // 2
    assert Session(graph, 100).reply_characters == 400  # agents' budgets were chosen so
    assert open_toolbox(graph, box.spec).specs == box.specs
