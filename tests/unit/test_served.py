"""Graphs that a server gives out: by names that are given, never by a path of a request."""

from pathlib import Path

import pytest

from orienteer.errors import BadOption, NotAGraph, UsageError
from orienteer.llm.scripted import ScriptedModel
from orienteer.serve.served import ServedGraphs, by_name


def test_a_folder_has_its_own_name_or_a_given_one(tmp_path):
    assert by_name([tmp_path / "beers", Path("data/films/")], ["sea=x/y=z"]) == {
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
        ([], ["=x"], "write NAME=DIR"),
        ([], ["x="], "write NAME=DIR"),
    ],
)
def test_names_that_do_not_tell_graphs_apart_are_refused(directories, names, expected):
    with pytest.raises(UsageError, match=expected):
        by_name(directories, names)


def test_no_request_names_a_path(small):
    graphs = ServedGraphs({"films": small.path})
    for name in (str(small.path), "../films", "", "film"):
        with pytest.raises(BadOption, match="is served here: take films"):
            graphs.graph(name)


def test_what_answers_is_kept_for_a_generation(small):
    model = ScriptedModel(lambda messages, tools, sampling: "")
    graphs = ServedGraphs({"films": small.path}, model=model)
    assert graphs.graph("films") is graphs.graph("films")
    assert graphs.retriever("films") is graphs.retriever("films")
    assert graphs.retriever("films").graph is graphs.graph("films")
    assert graphs.retriever("films").model is model


def test_a_graph_that_is_not_there_is_told_when_it_is_asked_for(tmp_path):
    graphs = ServedGraphs({"none": tmp_path / "none"})
    assert graphs.names == ("none",)
    with pytest.raises(NotAGraph):
        graphs.graph("none")
