"""Graphs that a server gives out: by names that are given, never by a path of a request."""

import shutil
from pathlib import Path

import pytest

from fakes.talks import graphs_at
from orienteer.errors import NotAGraph, Refused, UsageError
from orienteer.graph import Graph
from orienteer.llm import ScriptedModel
from orienteer.records import Node
from orienteer.serve import ServedGraph, named_folders


def test_a_folder_has_its_own_name_or_a_given_one(tmp_path):
    assert named_folders([tmp_path / "beers", Path("data/films/")], ["sea=x/y=z"]) == {
        "beers": tmp_path / "beers",
        "films": Path("data/films/"),
        "sea": Path("x/y=z"),
    }


@pytest.mark.parametrize(
    ("directories", "names", "expected"),
    [
        ([], [], "no graph is named"),
        ([Path("a/beers"), Path("b/beers")], [], "a/beers and b/beers are both called 'beers'"),
        ([Path("a")], ["a=b"], "both called 'a': name one with --name NAME=b"),
        ([], ["beers"], "--name beers: write NAME=DIR"),
        ([], ["=x"], "--name =x: write NAME=DIR, as in --name beers=x$"),
        ([], ["x="], "write NAME=DIR"),
    ],
)
def test_names_that_do_not_tell_graphs_apart_are_refused(directories, names, expected):
    with pytest.raises(UsageError, match=expected):
        named_folders(directories, names)


def test_no_request_names_a_path(small):
    graphs = graphs_at({"films": small.path})
    for name in (str(small.path), "../films", "", "film"):
        with pytest.raises(Refused, match="is served here: take films"):
            graphs.named(name)


def test_what_answers_is_kept_for_a_generation(small):
    model = ScriptedModel(lambda messages, tools, sampling: "")
    films = graphs_at({"films": small.path}, model=model).named("films")
    assert films.current() is films.current()
    assert films.current().retriever() is films.current().retriever()
    assert films.current().retriever().graph is films.current().graph
    assert films.current().retriever().model is model


def test_what_is_no_graph_is_told_before_it_is_opened(tmp_path):
    with pytest.raises(NotAGraph):
        graphs_at({"none": tmp_path / "none"})


def test_a_graph_is_opened_by_its_first_request(scratch, monkeypatch):
    path = scratch()
    Graph.from_records([Node("a", "thing", "A")], [], path=path)
    opened = []
    open_graph = Graph.open
    monkeypatch.setattr(Graph, "open", lambda path, **more: opened.append(path) or open_graph(path, **more))
    things = graphs_at({"things": path}).named("things")
    assert things.is_ready
    assert not opened
    assert things.current() is things.current()
    assert opened == [path]


def test_a_graph_that_is_gone_before_its_first_request_is_told_then(scratch):
    path = scratch()
    Graph.from_records([Node("a", "thing", "A")], [], path=path)
    things = graphs_at({"things": path}).named("things")
    shutil.rmtree(path)
    with pytest.raises(NotAGraph):
        things.current()


def test_a_pointer_is_looked_at_once_a_second_at_the_most(small, monkeypatch):
    looks = []
    monkeypatch.setattr(ServedGraph, "_pointer_stamp", lambda graph: looks.append(graph))
    films = graphs_at({"films": small.path}).named("films")
    first = films.current()
    assert all(films.current() is first for _ in range(50))
    assert len(looks) <= 2
