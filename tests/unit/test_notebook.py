"""What a notebook keeps of a result, a graph and a schema, with anywidget and without it."""

import gc
import json
import os
import pickle
import subprocess
import sys
import weakref

import pytest

from fakes.inside import inside
from fakes.notebooks import VIEW, shown
from orienteer import Graph, Retriever
from orienteer.ingest import demo_records
from orienteer.page import WIDGET, DrawnNode
from orienteer.records import Ranked, Result, WalkedEdge
from orienteer.serve import intersect_page, neighbors_page
from orienteer.settings import Settings

pytestmark = pytest.mark.slow

QUESTION = "Which people who received the Turing Award designed a language that influenced Python?"
MOST_BYTES = 210_000
PROGRAM = f"""
from orienteer import Graph, Retriever
from orienteer.ingest import demo_records
graph = Graph.from_records(*demo_records(), path={{path!r}})
shown = Retriever(graph, "anchor").ask({QUESTION!r})
"""


@pytest.fixture
def graph(scratch):
    return Graph.from_records(*demo_records(), path=scratch())


@pytest.fixture
def result(graph):
    return Retriever(graph, "anchor", settings=Settings()).ask(QUESTION)


def test_hits_name_what_their_edges_join(result):
    first = result.hits[0]
    assert first.name == "Dennis Ritchie"
    assert [(end.id, end.type, end.name) for end in first.ends] == [
        ("award:turing-award", "award", "Turing Award"),
        ("language:c", "language", "C"),
        ("language:python", "language", "Python"),
    ]


def test_every_end_of_every_edge_has_a_name(graph, result):
    around = neighbors_page(graph, "language:python", k=50).hits
    common = intersect_page(graph, ["language:python", "language:c"]).hits
    hits = [*result.hits, *around, *common]
    assert sum(len(hit.edges) for hit in hits) > 25
    for hit in hits:
        ends = {end for edge in hit.edges for end in (edge.source, edge.target)} - {hit.id}
        assert {end.id for end in hit.ends} == ends
        assert len(hit.ends) == len(ends)
        assert all((end.name, end.type) == (graph.node(end.id).name, graph.node(end.id).type) for end in hit.ends)


def test_a_result_file_of_before_is_read_and_drawn_by_ids(monkeypatch, result):
    written = json.loads(result.model_dump_json())
    for hit in written["hits"]:
        del hit["ends"]
    old = Result.model_validate_json(json.dumps(written))
    assert old.hits[0].edges == result.hits[0].edges
    assert ">award:turing-award</text>" in old._repr_html_()
    nodes = {node["id"]: node for node in shown(monkeypatch, old).content["nodes"]}
    assert (nodes["award:turing-award"]["name"], nodes["award:turing-award"]["type"]) == ("award:turing-award", "?")


def test_what_is_sent_is_json_and_says_what_the_html_says(monkeypatch, result):
    content = json.loads(json.dumps(shown(monkeypatch, result).content))
    assert content["title"] == QUESTION
    assert content["paragraphs"][-1] == "Dennis Ritchie, John McCarthy"
    assert content["grows"] is True
    assert content["strong"] == [
        "person:dennis-ritchie",
        "person:john-mccarthy",
    ]  # what is nearby is in the table alone
    assert len(content["tables"][0]["rows"]) == len(content["tables"][0]["nodes"]) == len(result.hits)
    ids = {node["id"] for node in content["nodes"]}
    assert {end for edge in content["edges"] for end in (edge["source"], edge["target"])} <= ids
    assert content["nodes"][0]["about"][0] == result.hits[0].why
    page = result._repr_html_()
    assert all(line in page for line in content["lines"])


def test_pictures_are_bounded(monkeypatch):
    edges = [
        tuple(WalkedEdge(source=f"h{hit}", type="t", target=f"e{hit}.{n}") for n in range(40)) for hit in range(60)
    ]
    hits = [Ranked(id=f"h{n}", type="t", name=f"h{n}", score=1.0, edges=walked) for n, walked in enumerate(edges)]
    content = shown(monkeypatch, Result(question="q", method="m", hits=tuple(hits))).content
    assert len(content["nodes"]) == 300
    assert len(content["strong"]) == len(content["paths"]) == 25


def test_neighbours_come_by_pages(monkeypatch, graph, result):
    node = max(graph.node_ids(), key=lambda node: graph.neighbors(node, k=0).total)
    widget = shown(monkeypatch, result)
    first = json.loads(json.dumps(widget.hear({"node": node, "offset": 0})))
    second = widget.hear({"node": node, "offset": 20})
    assert first["error"] is None
    assert first["total"] == graph.neighbors(node).total > 20
    assert len(first["nodes"]) == 20
    assert not {drawn["id"] for drawn in first["nodes"]} & {drawn["id"] for drawn in second["nodes"]}
    assert all(node in (edge["source"], edge["target"]) for edge in first["edges"])


@pytest.mark.parametrize(
    "message", [None, 1, "x", [], {}, {"node": 1, "offset": 0}, {"node": "a"}, {"node": "a", "offset": "0"}]
)
def test_other_messages_are_let_go(monkeypatch, result, message):
    assert shown(monkeypatch, result).hear(message) is None


def test_errors_are_told(monkeypatch, result):
    widget = shown(monkeypatch, result)
    assert "nobody" in widget.hear({"node": "nobody", "offset": 0})["error"]
    assert "offset" in widget.hear({"node": "language:python", "offset": -1})["error"]


def test_a_result_and_its_picture_keep_no_graph_open(monkeypatch, scratch):
    gc.collect()
    gc.disable()
    try:
        graph = Graph.from_records(*demo_records(), path=scratch())
        result = Retriever(graph, "anchor", settings=Settings()).ask(QUESTION)
        widget, held = shown(monkeypatch, result), weakref.ref(graph)
        del graph
        assert held() is None
    finally:
        gc.enable()
    assert "the graph is closed" in widget.hear({"node": "language:python", "offset": 0})["error"]
    assert shown(monkeypatch, result).content["grows"] is False


def test_a_result_is_equal_and_written_by_what_it_says(result):
    again = Result.model_validate_json(result.model_dump_json())
    assert again == result
    assert "_graph" not in result.model_dump()
    assert "GraphAtHand" not in repr(result)
    assert pickle.loads(pickle.dumps(result)) == result


def test_without_a_notebook_or_edges_there_is_html_alone(monkeypatch, result):
    assert result._repr_mimebundle_() == ({}, {})  # a terminal
    monkeypatch.setattr(inside(DrawnNode), "_has_kernel", lambda: True)
    monkeypatch.setattr(inside(DrawnNode), "_widget_class", lambda: None)
    assert result._repr_mimebundle_() == ({}, {})
    assert Result(question="q", method="m")._repr_mimebundle_() == ({}, {})


@pytest.mark.process
def test_nothing_is_imported_before_a_notebook_displays_something(scratch):
    told = run(
        PROGRAM.format(path=str(scratch())),
        "import sys",
        "shown._repr_html_(), shown._repr_mimebundle_()",
        "print([name for name in ('anywidget', 'ipywidgets', 'IPython', 'traitlets') if name in sys.modules])",
    )
    assert told == "[]"


@pytest.mark.process
def test_a_kernel_without_anywidget_shows_html(scratch):
    told = run(
        "import sys, types",
        "sys.modules['anywidget'] = None",  # as where it is not installed
        "shell = types.SimpleNamespace(kernel=object())",
        "sys.modules['IPython'] = types.SimpleNamespace(get_ipython=lambda: shell)",
        PROGRAM.format(path=str(scratch())),
        "print(shown._repr_mimebundle_(), '<svg' in shown._repr_html_())",
    )
    assert told == "({}, {}) True"


def run(*lines):
    """Return what a program prints, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_module_is_small_and_its_licences_are_there():
    assert {file.name for file in WIDGET.iterdir()} == {"widget.js", "widget.css", "LICENSES.txt"}
    assert sum(file.stat().st_size for file in WIDGET.iterdir()) <= MOST_BYTES
    assert (WIDGET / "LICENSES.txt").read_text("utf-8").count("Permission is hereby granted") == 5


def test_anywidget_makes_the_widget(monkeypatch, result):
    pytest.importorskip("anywidget", reason="needs the extra notebook")
    monkeypatch.setattr(inside(DrawnNode), "_has_kernel", lambda: True)
    bundle, _ = result._repr_mimebundle_()
    assert list(bundle) == [VIEW]
    assert bundle[VIEW]["model_id"]


def test_a_notebook_that_was_run_holds_the_widget_and_the_html(scratch):
    pytest.importorskip("anywidget", reason="needs the extra notebook")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    sources = (f"{PROGRAM.format(path=str(scratch()))}shown", "graph", "graph.schema")
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    written = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(written, timeout=100, kernel_name="python3").execute()
    outputs = [output["data"] for cell in written.cells for output in cell.outputs]
    assert len(outputs) == 3
    states = written.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    for output in outputs:
        assert "<svg" in output["text/html"]
        assert "<script" not in output["text/html"]
        state = states[output[VIEW]["model_id"]]["state"]
        assert state["content"]["nodes"]
        assert "render" in state["_esm"]
