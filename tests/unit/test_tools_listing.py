"""`list_nodes`: what an agent sees of a listing, and the set that it can go on from."""

import pytest

from clinic import ask, members
from orienteer.errors import BadOption
from orienteer.records import Node, ToolboxSpec
from orienteer.tools import Toolbox, open_toolbox

BEERS = [
    Node("b1", "beer", "Duvel", properties={"abv": 8.5, "country": "Belgium"}),
    Node("b2", "beer", "Samichlaus", properties={"abv": 14, "country": "Austria"}),
    Node("b3", "beer", "Orval", properties={"abv": 6.2, "country": "Belgium"}),
    Node("b4", "beer", "Mystery"),
    Node("y1", "brewery", "Orval Abbey", properties={"country": "Belgium"}),
]


@pytest.fixture
def lister(make):
    return Toolbox.full(make(BEERS, []), more=("list_nodes",))


def test_the_page_is_in_order_and_the_set_is_whole(lister):
    reply = ask(lister, "list_nodes", node_types=["beer"], sort="abv", descending=True, k=2)
    lines = reply.text.splitlines()
    assert lines[0] == "@1: 4 nodes, 1 of them without abv. Shown 1-2; offset=2 for more."
    assert lines[1:3] == ["[b2] Samichlaus (beer) abv: 14", "[b1] Duvel (beer) abv: 8.5"]
    assert reply.nodes == ("b2", "b1")
    assert members(lister, "@1") == {"b1", "b2", "b3", "b4"}
    assert ask(lister, "list_nodes", node_types=["beer"], sort="abv", k=2, offset=2).nodes == ("b2", "b4")


def test_an_answer_takes_the_set_in_its_order(lister):
    ask(lister, "list_nodes", node_types=["beer"], sort="abv", k=1)
    ask(lister, "add_to_answer", nodes=["@1"])
    assert [lister.session.graph.arrays.ids[row] for row in lister.session.answer] == ["b3", "b1", "b2", "b4"]


def test_values_are_counted(lister):
    lines = ask(lister, "list_nodes", where=["country != Austria"], group_by="country").text.splitlines()
    assert lines[:2] == ["@1: 3 nodes, 1 value.", "Belgium: 3"]
    lines = ask(lister, "list_nodes", group_by="country").text.splitlines()
    assert lines[:4] == ["@2: 5 nodes, 3 values.", "Belgium: 3", "Austria: 1", "(no value): 1"]


def test_nothing_and_beyond_the_end(lister):
    assert ask(lister, "list_nodes", where=["abv > 99"]).text.startswith("@1: 0 nodes.")
    assert "None from 9 on." in ask(lister, "list_nodes", offset=9).text


def test_what_there_is_not_comes_back_with_what_is_near(lister):
    reply = ask(lister, "list_nodes", sort="abw")
    assert (reply.error, "Near: abv" in reply.text) == ("UnknownProperty", True)
    assert "is read as 'brewery'" in ask(lister, "list_nodes", node_types=["breweri"]).text


def test_agents_have_it_on_request_alone(make):
    graph = make(BEERS, [])
    assert "list_nodes" not in [spec.name for spec in Toolbox.full(graph).specs]
    again = open_toolbox(graph, ToolboxSpec(name="full", options={"more": ["list_nodes"]}))
    assert again.specs[-1].name == "list_nodes"
    with pytest.raises(BadOption, match="no installed package has a tool 'nothing'"):
        Toolbox.full(graph, more=("nothing",))


def test_a_page_names_the_rows_that_fit(make):
    toolbox = Toolbox.full(
        make([Node(f"n{at:03}", "T", f"{'long ' * 30}{at}") for at in range(90)]), more=["list_nodes"]
    )
    found = ask(toolbox, "list_nodes", k=90)
    shown = len(found.nodes)
    assert 0 < shown < 90
    assert found.text.splitlines()[0] == f"@1: 90 nodes. Shown 1-{shown}; offset={shown} for more."
    assert ask(toolbox, "list_nodes", k=90, offset=shown).nodes[0] == f"n{shown:03}"
    groups = ask(toolbox, "list_nodes", k=90, group_by="name").text.splitlines()
    assert groups[0].endswith(f"90 values. Shown 1-{len(groups) - 3}; offset={len(groups) - 3} for more.")
