"""Look-ups over HTTP: each gives what the command of its name prints, and more."""

import gc
import json
import threading
import weakref
from pathlib import Path
from urllib.parse import quote

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from fakes.http_site import serving, until
from fakes.inside import inside
from orienteer.display import Count
from orienteer.errors import BadInput
from orienteer.graph import Graph
from orienteer.ingest import BuildOptions, build_graph, demo_records
from orienteer.records import Node
from orienteer.serve import ServedGraph, ServedGraphs, main


@pytest.fixture
def printed(capsys):
    """Give a function that returns the JSON of a command."""

    def run(*words):
        assert main([*map(str, words), "--json", "-q"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


ROWS = [
    ("search", ("borrow checker", "-k", 3), {"query": "borrow checker", "k": 3}),
    ("search", ("Go", "--type", "person"), {"query": "Go", "node_types": ["person"]}),
    ("search", ("a", "--where", "year >= 2010"), {"query": "a", "where": ["year >= 2010"]}),
    ("neighbors", ("Erlang", "--query", "telephone", "-k", 2), {"node": "Erlang", "query": "telephone", "k": 2}),
    ("neighbors", ("Erlang", "--edge", "designed_by"), {"node": "Erlang", "edge_types": ["designed_by"]}),
    ("neighbors", ("Rust", "--direction", "in", "--offset", 1), {"node": "Rust", "direction": "in", "offset": 1}),
    ("intersect", ("Erlang", "Ruby", "--type", "language"), {"nodes": ["Erlang", "Ruby"], "node_types": ["language"]}),
    ("paths", ("Niklaus Wirth", "Go", "-k", 2), {"a": "Niklaus Wirth", "b": "Go", "k": 2}),
    ("list", ("--type", "language", "--sort", "year", "-k", 4), {"node_types": ["language"], "sort": "year", "k": 4}),
    ("list", ("--group-by", "type"), {"group_by": "type"}),
]


@pytest.mark.parametrize(("name", "words", "body"), ROWS)
def test_a_look_up_gives_what_its_command_prints(client, languages, printed, name, words, body):
    expected = printed(name, languages.path, *words)
    reply = client.post(f"/api/{name}", {"graph": "languages", **body})
    assert reply.status == 200, reply.body
    shown = reply.json
    if name == "search":
        for result in (expected, shown):
            result["usage"]["seconds"] = 0
    assert {field: shown[field] for field in expected} == expected


@pytest.mark.parametrize(
    ("name", "words", "query"), [("schema", (), ""), ("node", ("Rust",), "&id=Rust"), ("info", (), "")]
)
def test_what_is_read_by_get_is_what_the_command_prints(client, languages, printed, name, words, query):
    expected = printed({"node": "show"}.get(name, name), languages.path, *words)
    shown = client.get(f"/api/{name}?graph=languages{query}").json
    assert {field: shown[field] for field in expected} == expected


def test_an_id_may_hold_any_character(build, languages):
    strange = "a/b?c#d::e %2F\u202e"
    graph = build([Node(strange, "t", "x")])
    with serving({"only": graph}) as client:
        assert client.get(f"/api/node?id={quote(strange, safe='')}").json["id"] == strange


def test_names_leave_without_what_steers_a_terminal(build):
    graph = build([Node("n", "t", "a\u202eb\x1b[2Jc")])
    with serving({"only": graph}) as client:
        assert client.get("/api/node?id=n").json["name"] == "ab [2Jc"


def test_the_graphs_are_told_with_what_the_server_can_do(client):
    told = client.get("/api/graphs").json
    assert [graph["name"] for graph in told["graphs"]] == ["languages", "small"]
    assert told["graphs"][0]["nodes"] == 169
    assert told["graphs"][0]["node_types"]["language"] == 45
    assert (told["model"], told["has_cypher"], told["has_feedback"]) == (None, False, False)
    assert "anchor" in told["methods"]
    assert not {"graphscout", "ark"} & set(told["methods"])  # a sandbox, and what needs a model


def test_a_picture_has_all_edges_among_its_nodes(client, small):
    nodes = ["p1", "f1", "f2", "Salt (film)", "nobody"]
    picture = client.post("/api/subgraph", {"graph": "small", "nodes": nodes}).json
    inside = {"p1", "f1", "f2"}
    expected = {(e.source, e.type, e.target) for e in small.iter_edges() if {e.source, e.target} <= inside}
    assert {(e["source"], e["type"], e["target"]) for e in picture["edges"]} == expected
    assert picture["unknown"] == ["nobody"]


def test_a_paragraph_is_opened_at_its_place_in_its_document(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    body = "".join(f"## Part {n}\n\nParagraph number {n} tells of {'salt ' * 60}.\n\n" for n in range(6))
    (folder / "salt.md").write_text(f"# Salt\n\n{body}")
    target = tmp_path / "graph"
    build_graph([folder], target, options=BuildOptions())
    graph = Graph.open(target)
    chunks = sorted(
        (node for node in map(graph.node, graph.node_ids()) if node.type == "chunk"),
        key=lambda node: node.properties["order"],
    )
    assert len(chunks) > 2
    with serving({"notes": target}) as client:
        page = client.get(f"/api/file?id={chunks[2].id.replace('#', '%23')}&k=3").json
        assert page["name"] == "Salt"
        assert page["file"] == "salt.md"
        assert (page["total"], page["place"], page["offset"]) == (len(chunks), 2, 1)
        assert [part["text"] for part in page["parts"]] == [chunk.text for chunk in chunks[1:4]]
        whole = client.get(f"/api/file?id={page['id']}&k=200").json
        assert [part["id"] for part in whole["parts"]] == [chunk.id for chunk in chunks]
        assert whole["parts"][0]["source"]["file"] == "salt.md"
        about = client.get("/api/info")
        assert about.json["name"] == "notes"
        assert str(tmp_path) not in about.body.decode()


def test_a_node_of_no_document_is_a_page_of_one_part(client):
    page = client.get("/api/file?id=Rust&graph=languages").json
    assert [part["id"] for part in page["parts"]] == ["language:rust"]
    assert page["file"] is None


# ------------------------------------------------------------------------------------------------------- generations


def test_a_new_generation_is_taken_without_a_failed_request(scratch, monkeypatch):
    monkeypatch.setattr(inside(ServedGraphs), "LOOK_SECONDS", 0.0)
    path = scratch()
    Graph.from_records([Node("n0", "t", "first")], [], path=path)
    with serving({"g": path}) as client:
        before = client.get("/api/graphs").json["graphs"][0]["generation"]
        for number in range(1, 4):
            Graph.from_records([Node(f"n{number}", "t", f"name {number}")], [], path=path, force=True)
            assert client.get(f"/api/node?id=n{number}").status == 200
            assert client.get(f"/api/node?id=n{number - 1}").status == 404
        assert client.get("/api/graphs").json["graphs"][0]["generation"] != before
        assert b"orienteer_reloads_total 3.0" in client.get("/metrics").body


def test_the_last_generation_goes_with_its_last_request(scratch, monkeypatch):
    """Some forty mapped files go with it: no reference may lead around to it, for the collector comes seldom."""
    monkeypatch.setattr(inside(ServedGraphs), "LOOK_SECONDS", 0.0)
    path = scratch()
    nodes, edges = demo_records()
    Graph.from_records(nodes, edges, path=path)
    gc.disable()
    try:
        with serving({"g": path}) as client:
            graph = weakref.ref(client.site.graphs.named("g").current().graph.arrays)
            question = {"question": "Who designed Python?", "k": 2}
            assert client.events(question)[-1]["event"] == "done"
            assert client.post("/api/ask", question).status == 200
            assert client.post("/api/ask", {**question, "node_types": ["persn"]}).status == 400
            assert client.post("/api/search", {"query": "Rust"}).status == 200
            with client.stream("/api/ask", question) as lines:
                next(lines)
            Graph.from_records(nodes, edges, path=path, force=True)
            assert client.get("/api/node?id=Rust").status == 200
            until(lambda: graph() is None)
    finally:
        gc.enable()


def test_a_generation_that_cannot_be_opened_leaves_the_last_one(scratch, monkeypatch):
    monkeypatch.setattr(inside(ServedGraphs), "LOOK_SECONDS", 0.0)
    path = scratch()
    Graph.from_records([Node("n", "t", "here")], [], path=path)
    with serving({"g": path}) as client:
        (path / "orienteer.json").write_text("{}")
        assert client.get("/api/node?id=n").status == 200
        (path / "orienteer.json").unlink()
        assert client.get("/api/node?id=n").status == 200


def test_a_graph_that_is_being_made_says_how_far_it_is(scratch):
    path, go_on = scratch(), threading.Event()
    with serving({}) as client:
        served = ServedGraph("late", client.site.answering, count_reload=client.site.metrics.count_reload)
        client.site.graphs.add(served)

        def make(progress, hear):
            progress("reading files", Count(3, of=10))
            go_on.wait(20)
            Graph.from_records([Node("n", "t", "here")], [], path=path)
            return path

        served.make(path, make)
        until(lambda: served.stage is not None and served.stage.done == 3)
        refused = client.get("/api/node?id=n")
        assert refused.status == 503
        assert refused.headers["retry-after"] == "2"
        told = refused.error["message"]
        assert told.startswith("the graph 'late' is still being made (reading files: 3 of 10")
        assert told.endswith("): come again in a moment")
        told = client.get("/api/graphs").json["graphs"][0]
        assert (told["is_ready"], told["stage"], told["done"], told["of"]) == (False, "reading files", 3, 10)
        assert client.get("/ready").status == 503
        go_on.set()
        until(lambda: client.get("/ready").status == 200)
        assert client.get("/api/node?id=n").status == 200


def test_a_graph_that_cannot_be_made_says_why_without_a_path(tmp_path):
    with serving({}) as client:
        served = ServedGraph("broken", client.site.answering, count_reload=lambda: None)
        client.site.graphs.add(served)

        def make(progress, hear):
            raise BadInput(f"{tmp_path / 'x'} holds nothing to read")

        served.make(tmp_path / "x", make)
        until(lambda: served.failure is not None)
        assert client.get("/api/node?id=n").error["message"] == (
            "the graph 'broken' could not be made: x holds nothing to read"
        )


def test_a_bug_in_the_making_is_told_as_one():
    with serving({}) as client:
        served = ServedGraph("broken", client.site.answering, count_reload=lambda: None)
        client.site.graphs.add(served)
        served.make(Path("x"), lambda progress, hear: Path(1))
        until(lambda: served.failure is not None)
        assert client.get("/api/node?id=n").status == 500
