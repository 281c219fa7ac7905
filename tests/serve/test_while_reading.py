"""A folder that is still being read: what has been read answers by words, over every face, and says so."""

import re
import threading
import time
from contextlib import contextmanager

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")
pytest.importorskip("mcp", reason="the extra mcp is not installed")

from mcp import Client

from fakes.http_site import serving, until
from fakes.inside import inside
from fakes.talks import run
from orienteer.errors import BadInput
from orienteer.ingest import PartialBuilder, PartialGraph, graph_at
from orienteer.llm import Budget
from orienteer.serve import Answering, BuildStage, ServedGraph, ServedGraphs, build_progress_of, mcp_server
from orienteer.settings import Settings

TEXTS = {
    "a-payroll.md": "# Payroll\n\nPayroll records are kept for seven years, then they are shredded.\n",
    "b-travel.md": "# Travel\n\nStaff travel by train, second class.\n",
    "c-parking.md": "# Parking\n\nBicycles are parked in the cellar.\n",
}
SO_FAR = "answers come from these, and what is not found may be in the others"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """Have a part made after each file."""
    monkeypatch.setattr(inside(PartialBuilder), "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(inside(PartialBuilder), "LEAST_GROWTH", 1.0)
    monkeypatch.setattr(inside(PartialBuilder), "MOST_SHARE", 1e9)
    monkeypatch.setattr(inside(PartialBuilder), "MOST_SHARE_AT_THE_END", 1e9)


class Held:
    """The reading of a folder that goes on file by file, as a test lets it."""

    def __init__(self, folder, cache):
        self._folder, self._cache = folder, cache
        self._may_go_on = threading.Semaphore(0)
        self.heard = 0

    def __call__(self, progress, hear):
        def held(interim):
            hear(interim)
            self.heard += 1
            assert self._may_go_on.acquire(timeout=30)

        return graph_at(self._folder, cache=self._cache, progress=progress, hear=held).path

    def go_on(self, files=1):
        self._may_go_on.release(files)


@contextmanager
def reading(folder, tmp_path, **site_fields):
    """Serve a folder whose reading stops after each file, from the moment when one is read."""
    held = Held(folder, tmp_path / "cache")
    with serving({}, **site_fields) as client:
        graph = ServedGraph("notes", client.site.answering, count_reload=lambda: None)
        client.site.graphs.add(graph)
        graph.make(folder, held)
        try:
            until(lambda: held.heard == 1 and graph.interim is not None)
            client.held, client.graph = held, graph
            yield client
        finally:
            held.go_on(10)
            until(lambda: graph.is_ready or graph.failure is not None)


def without_time(note):
    """Return a note without the time left, which only a slow reading tells."""
    return re.sub(r", about [\d.,]+ \w+ left", "", note)


def test_what_was_read_answers_and_every_answer_says_so(folder, tmp_path):
    with reading(folder, tmp_path) as client:
        asked = client.post("/api/ask", {"question": "How long are payroll records kept?"}).json
        assert without_time(asked["notes"][0]) == f"1 of 3 files are read so far: {SO_FAR}"
        assert asked["answer"].startswith("Payroll records are kept for seven years")
        assert asked["method"] == "documents"
        searched = client.post("/api/search", {"query": "train"}).json
        assert searched["hits"] == []
        assert without_time(searched["notes"][0]) == f"1 of 3 files are read so far: {SO_FAR}"
        client.held.go_on()
        until(lambda: client.post("/api/search", {"query": "train"}).json["hits"])
        assert client.post("/api/search", {"query": "train"}).json["notes"][0].startswith("2 of 3 files are read so")


def test_the_last_event_has_the_note(folder, tmp_path):
    with reading(folder, tmp_path) as client:
        last = client.events({"question": "Where are bicycles parked?"})[-1]
        assert last["event"] == "done"
        assert last["data"]["result"]["notes"][0].startswith("1 of 3 files are read so far")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/schema", None),
        ("GET", "/api/info", None),
        ("GET", "/api/node?id=a-payroll.md", None),
        ("GET", "/api/file?id=a-payroll.md", None),
        ("POST", "/api/list", {}),
        ("POST", "/api/list", {"group_by": "type"}),
        ("POST", "/api/neighbors", {"node": "a-payroll.md"}),
    ],
)
def test_look_ups_note_it_too(folder, tmp_path, method, path, body):
    with reading(folder, tmp_path) as client:
        reply = client.get(path) if method == "GET" else client.post(path, body)
        assert [*map(without_time, reply.json["notes"])] == [f"1 of 3 files are read so far: {SO_FAR}"]
        assert str(tmp_path) not in reply.body.decode()


def test_a_name_that_is_not_there_yet_is_not_said_to_be_missing(folder, tmp_path):
    with reading(folder, tmp_path) as client:
        refused = client.get("/api/node?id=b-travel.md")
        assert refused.status == 404
        assert f"(1 of 3 files are read so far: {SO_FAR})" in without_time(refused.error["message"])
        refused = client.post("/api/ask", {"question": "train", "node_types": ["table"]})
        assert refused.status == 400
        assert "(1 of 3 files are read so far" in without_time(refused.error["message"])


def test_the_list_of_graphs_says_how_far_it_is(folder, tmp_path):
    with reading(folder, tmp_path) as client:
        graph = client.get("/api/graphs").json["graphs"][0]
        assert (graph["is_ready"], graph["is_partial"], graph["files"], graph["of_files"]) == (False, True, 1, 3)
        assert (graph["stage"], graph["done"], graph["of"]) == ("reading documents", 1, 3)
        assert without_time(graph["note"]) == f"1 of 3 files are read so far: {SO_FAR}"
        assert graph["nodes"] == 2
        assert client.get("/ready").status == 503
        assert client.get("/api/info").json["stale"] is False
        client.held.go_on(2)
        until(lambda: client.held.heard == 3)
        graph = client.get("/api/graphs").json["graphs"][0]
        assert (graph["is_partial"], graph["files"], graph["of_files"]) == (True, 3, 3)
        assert graph["note"].startswith("all 3 files are read, and answer by words: what joins them is being found")
        client.held.go_on()
        until(lambda: client.get("/ready").status == 200)
        graph = client.get("/api/graphs").json["graphs"][0]
        assert (graph["is_ready"], graph["is_partial"], graph["note"], graph["files"]) == (True, False, None, None)
        assert client.post("/api/ask", {"question": "train"}).json["notes"] == [
            "no model is configured: answered by documents"
        ]


def test_chat_clients_are_told(folder, tmp_path):
    with reading(folder, tmp_path) as client:
        (model,) = client.get("/v1/models").json["data"]
        assert model["id"] == "orienteer/notes"
        assert model["created"] > 1_700_000_000
        body = {"model": "orienteer/notes", "messages": [{"role": "user", "content": "Where are bicycles parked?"}]}
        said = client.post("/v1/chat/completions", body).json["choices"][0]["message"]["content"]
        assert without_time(said).endswith(f"(1 of 3 files are read so far: {SO_FAR})")
        with client.stream("/v1/chat/completions", {**body, "stream": True}) as lines:
            assert "1 of 3 files are read so far" in b"".join(lines).decode()


async def _called(graphs, calls):
    async with Client(mcp_server(graphs)) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        replies = [await client.call_tool(name, arguments) for name, arguments in calls]
        return tools, [(reply.is_error, reply.content[0].text) for reply in replies]


def test_agents_find_their_tools_at_once_and_are_told_what_answers(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(inside(mcp_server), "_PATIENCE_SECONDS", 0.0)
    graphs, held = ServedGraphs(), Held(folder, tmp_path / "cache")
    graph = ServedGraph("notes", Answering(Settings(), Budget()))
    graphs.add(graph)
    tools, [(is_error, text)] = run(_called(graphs, [("search", {"query": "train"})]))  # before anything is read
    assert tools[0] == "ask"
    assert is_error
    assert "the graph 'notes' is still being made" in text
    graph.make(folder, held)
    until(lambda: held.heard == 1 and graph.interim is not None)
    calls = [
        ("ask", {"question": "Where are bicycles parked?"}),
        ("search", {"query": "payroll"}),
        ("node", {"node": "b-travel.md"}),
        ("schema", {}),
    ]
    _, replies = run(_called(graphs, calls))
    assert [is_error for is_error, _ in replies][:2] == [False, False]
    for _, text in replies:
        assert "1 of 3 files are read so far" in text
        assert "what is not found may be in the others" in text
    held.go_on(10)
    until(lambda: graph.is_ready)
    _, [(_, text)] = run(_called(graphs, [("search", {"query": "bicycles"})]))
    assert "so far" not in text


def test_a_call_waits_for_the_first_passages(folder, tmp_path):
    graphs, held = ServedGraphs(), Held(folder, tmp_path / "cache")
    graph = ServedGraph("notes", Answering(Settings(), Budget()))
    graphs.add(graph)

    def begin(progress, hear):
        time.sleep(0.3)
        return held(progress, hear)

    graph.make(folder, begin)
    _, [(is_error, text)] = run(_called(graphs, [("search", {"query": "payroll"})]))
    assert not is_error
    assert "a-payroll.md" in text
    held.go_on(10)
    until(lambda: graph.is_ready)


def test_agents_over_http_are_told(folder, tmp_path):
    with reading(folder, tmp_path, has_mcp=True) as client:

        async def asked():
            async with Client(f"{client.url}/mcp") as agent:
                return (await agent.call_tool("ask", {"question": "Where are bicycles parked?"})).content[0].text

        assert "note: 1 of 3 files are read so far" in run(asked())


def test_changed_sources_are_answered_from_the_graph_before(folder, tmp_path):
    graph_at(folder, cache=tmp_path / "cache")
    (folder / "b-travel.md").write_text("# Travel\n\nStaff travel by bus.\n")
    with reading(folder, tmp_path) as client:
        result = client.post("/api/ask", {"question": "How do staff travel?"}).json
        assert "train" in result["answer"]
        assert result["notes"][0].startswith("the sources have changed and are being read again")
        assert "answers come from the graph as it was before" in result["notes"][0]
        graph = client.get("/api/graphs").json["graphs"][0]
        assert (graph["is_partial"], graph["files"]) == (True, None)
        client.held.go_on()
        until(lambda: client.graph.is_ready)
        assert "bus" in client.post("/api/ask", {"question": "How do staff travel?"}).json["answer"]


def test_a_failure_after_a_part_is_told(folder, tmp_path):
    def make(progress, hear):
        graph_at(folder, cache=tmp_path / "cache", progress=progress, hear=hear)
        raise BadInput("the disk is full")

    with serving({}) as client:
        graph = ServedGraph("notes", client.site.answering, count_reload=lambda: None)
        client.site.graphs.add(graph)
        graph.make(folder, make)
        until(lambda: graph.failure is not None)
        assert client.post("/api/search", {"query": "x"}).error["message"] == (
            "the graph 'notes' could not be made: the disk is full"
        )
        listed = client.get("/api/graphs").json["graphs"][0]
        assert (listed["is_partial"], listed["is_failed"], listed["stage"]) == (False, True, "the disk is full")
        assert client.get("/ready").error["message"] == "a graph could not be made: the log says why"


def test_questions_during_every_change_of_generation_are_answered(folder, tmp_path):
    for number in range(12):
        (folder / f"d{number}.md").write_text(f"# Note {number}\n\nPayroll note {number}.\n")
    failed, stop = [], threading.Event()
    with reading(folder, tmp_path) as client:

        def ask():
            while not stop.is_set():
                reply = client.post("/api/ask", {"question": "payroll"})
                if reply.status != 200:
                    failed.append(reply.body)

        askers = [threading.Thread(target=ask) for _ in range(3)]
        for asker in askers:
            asker.start()
        client.held.go_on(30)
        until(lambda: client.graph.is_ready)
        stop.set()
        for asker in askers:
            asker.join()
    assert failed == []


def test_a_stage_tells_the_time_left():
    stage = BuildStage("reading documents", 30, 120, began=-1e9)
    assert stage.left.startswith(", about ")
    assert stage.left.endswith(" min left")
    told = build_progress_of(PartialGraph(None, 20, 120), stage)
    assert told.startswith("20 of 120 files are read so far, about ")
    assert BuildStage("reading", 30, None).left == ""


def test_files_that_change_while_a_folder_is_served_are_told_until_they_are_read(folder, tmp_path):
    cache = tmp_path / "cache"
    with serving({"notes": graph_at(folder, cache=cache).path}) as client:

        def asked():
            return client.post("/api/ask", {"question": "Where are bicycles parked?"}).json

        def has_changed():
            return any("have changed" in note for note in asked()["notes"])

        assert not has_changed()
        (folder / "c-parking.md").write_text("# Parking\n\nBicycles are parked in the big yard.\n")
        until(has_changed)
        assert "cellar" in str(asked()["hits"])
        assert str(folder) not in str(asked()["notes"])
        graph_at(folder, cache=cache)
        until(lambda: not has_changed())
        assert "yard" in str(asked()["hits"])
