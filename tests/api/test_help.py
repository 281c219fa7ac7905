"""`help(Graph)` and `help(Retriever)`: what is shown, that all of it is explained, and that its examples are true."""

import doctest
import inspect
import pydoc
import re
from pathlib import Path

import pytest

from orienteer import Graph, Retriever, Session
from orienteer.ingest import demo_records

SHOWN = {
    Graph: {
        "from_csv",
        "from_frames",
        "from_networkx",
        "from_records",
        "intersect",
        "is_in_place",
        "iter_edges",
        "list",
        "neighbors",
        "node",
        "node_ids",
        "open",
        "path",
        "paths",
        "place",
        "schema",
        "search",
        "to_frames",
        "to_networkx",
    },
    Retriever: {"aask", "answers", "as_functions", "ask", "asearch", "astream", "check", "search", "start", "stream"},
}


@pytest.mark.parametrize("owner", SHOWN)
def test_help_shows_what_users_need_and_nothing_else(owner):
    text = pydoc.render_doc(owner, renderer=pydoc.plaintext)
    shown = set(re.findall(r"^ \|  (?:async )?(\w+)(?:\(.*| = .*)?$", text, re.MULTILINE))
    assert {name for name in shown if not name.startswith("_")} - {"Methods", "Data", owner.__name__} == SHOWN[owner]
    assert {name for name in dir(owner) if not name.startswith("_")} == SHOWN[owner]


OF_A_TOOL = {
    *(
        "all_ranked",
        "all_rows",
        "answer",
        "comment",
        "edge_types",
        "graph",
        "is_finished",
        "last",
        "mode",
        "node_types",
    ),
    *("offers_mode", "offers_passages", "payment", "ranked", "reasons", "reply_tokens", "rows", "save", "saves_sets"),
    *("characters_a_token", "is_plain", "mends_names", "offers_offset", "reply_characters"),
    *("are_whole", "is_set", "takes_kinds", "whole_answer"),
    "sets",
}


def test_a_session_shows_what_tools_need_and_explains_it():
    assert {name for name in dir(Session) if not name.startswith("_")} == OF_A_TOOL
    text = inspect.getdoc(Session)
    assert {name for name in OF_A_TOOL if f"`{name}`" not in text} == set()
    assert not [name for name in inspect.signature(Session).parameters if name.startswith("_")]


@pytest.mark.parametrize(("owner", "name"), [(owner, name) for owner in SHOWN for name in sorted(SHOWN[owner])])
def test_a_member_tells_its_parameters_and_shows_an_example(owner, name):
    member = getattr(owner, name)
    text = inspect.getdoc(member)
    assert ">>> " in text
    if not callable(member):
        return
    parameters = set(inspect.signature(member).parameters) - {"self"}
    unexplained = {parameter for parameter in parameters if f"`{parameter}`" not in text}
    assert not unexplained
    if parameters:
        assert "Raises `" in text or "what is raised" in text


def test_what_is_asked_is_what_a_search_takes():
    from orienteer.retriever import Asked

    named = {
        name for name, what in inspect.signature(Retriever.search).parameters.items() if what.kind is what.KEYWORD_ONLY
    }
    assert named == {*Asked.__annotations__, "budget"}
    assert all(f"`{name}`" in inspect.getdoc(Retriever.ask) for name in named)


@pytest.mark.parametrize("owner", SHOWN)
def test_the_class_tells_its_parameters(owner):
    text = inspect.getdoc(owner)
    if owner is Retriever:
        named = [one for one, what in inspect.signature(owner).parameters.items() if what.kind is not what.VAR_KEYWORD]
        assert {one for one in named if f"`{one}`" not in text} == set()


@pytest.mark.slow
@pytest.mark.parametrize("owner", SHOWN)
def test_the_examples_are_true(owner, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nodes, edges = demo_records()
    Graph.from_records(nodes, edges, path="languages")
    names = {"graph": Graph.open("languages"), "retriever": Retriever("languages", "anchor"), "Path": Path}
    runner, told = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS), []
    for title in ["", *sorted(SHOWN[owner], key=lambda name: (name.startswith("a"), name != "asearch", name))]:
        text = inspect.getdoc(getattr(owner, title) if title else owner)
        test = doctest.DocTestParser().get_doctest(text, names, title, None, 0)
        runner.run(test, out=told.append, clear_globs=False)
        names |= test.globs
    assert not runner.failures, "".join(told)
