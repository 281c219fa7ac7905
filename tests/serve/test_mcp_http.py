"""The same server at `/mcp` of an application: no redirect, both eras, other hosts refused, who leaves stops."""

import asyncio
import contextlib
import json
import os
import socket
import threading
import time
from contextlib import asynccontextmanager

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

import httpx2
import uvicorn
from mcp import Client
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from fakes.talks import NO_MESSAGES, graphs_at, run
from orienteer.llm import Budget
from orienteer.serve import MOST_BODY_BYTES, McpSessions, mcp_http_face, mcp_server
from orienteer.settings import Settings

ERAS = ("legacy", "auto")
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    },
}


def application(face):
    """Return an application with routes of its own, which takes over the server's and enters its lifespan."""

    async def health(request):
        return PlainTextResponse("ok")

    @asynccontextmanager
    async def lifespan(app):
        async with face.lifespan():
            yield

    app = Starlette(routes=[Route("/health", health)], lifespan=lifespan)
    app.router.routes.extend(face.routes)
    return app


@contextlib.contextmanager
def listening(graphs, **options):
    """Serve on loopback; give the address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = uvicorn.Config(
        application(mcp_http_face(mcp_server(graphs), **options)),
        port=port,
        log_level="error",
        lifespan="on",
        ws="none",
    )
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        running.should_exit = True
        thread.join(30)


@pytest.fixture(scope="module")
def address(languages):
    with listening(graphs_at({"languages": languages.path})) as url:
        yield url


@pytest.mark.parametrize("era", ERAS)
def test_both_eras_beside_other_routes(address, era):
    async def use():
        told = []

        async def progress(done, total, message):
            told.append((done, message))

        async with Client(f"{address}/mcp", mode=era) as client:
            tools = (await client.list_tools()).tools
            found = await client.call_tool("ask", {"question": "Who designed Rust?"}, progress_callback=progress)
            node = await client.read_resource("orienteer://languages/node/language%3Arust")
            return tools, found, node, told

    tools, found, node, told = run(use())
    assert len(tools) == 8
    assert "Graydon Hoare" in found.content[0].text
    assert "[language:rust]" in node.contents[0].text
    assert [done for done, _ in told] == list(range(1, len(told) + 1))
    assert told
    assert httpx2.get(f"{address}/health").text == "ok"


def test_there_is_no_redirect(address):
    answer = httpx2.post(f"{address}/mcp", json=HELLO, headers=HEADERS, follow_redirects=False)
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Content-Type": "text/plain"}, 400),
    ],
)
def test_other_hosts_origins_and_forms_are_refused(address, headers, status):
    answer = httpx2.post(f"{address}/mcp", content=json.dumps(HELLO), headers={**HEADERS, **headers})
    assert answer.status_code == status


def test_behind_a_door_the_door_decides(languages):
    with listening(graphs_at({"languages": languages.path}), is_behind_door=True) as url:
        answer = httpx2.post(f"{url}/mcp", json=HELLO, headers={**HEADERS, "Host": "graphs.example"})
        assert answer.status_code == 200


def test_a_body_has_a_size(address):
    body = {**HELLO, "params": {"x": "y" * MOST_BODY_BYTES}}
    assert httpx2.post(f"{address}/mcp", json=body, headers=HEADERS).status_code == 413


@pytest.mark.parametrize("era", ERAS)
def test_who_leaves_stops_the_question(languages, searcher, era):
    model = searcher(turns=400, seconds=0.05)
    graphs = graphs_at(
        {"languages": languages.path},
        model=model.model,
        budget=Budget(),
        settings=Settings(method="ark", options={"agents": 1, "max_steps": 400}),
    )

    async def use(url):
        async with Client(f"{url}/mcp", mode=era) as client:
            begun = asyncio.Event()

            async def progress(done, total, message):
                begun.set()

            question = asyncio.create_task(
                client.call_tool("ask", {"question": "Who designed Rust?"}, progress_callback=progress)
            )
            await begun.wait()
            question.cancel()
            await asyncio.gather(question, return_exceptions=True)
            await asyncio.sleep(0.5)
            calls = model.calls
            await asyncio.sleep(0.6)
            return calls

    with listening(graphs) as url:
        assert run(use(url)) == model.calls


def test_a_connection_that_is_dropped_stops_the_question_too(languages, searcher):
    model = searcher(turns=400, seconds=0.05)
    graphs = graphs_at(
        {"languages": languages.path},
        model=model.model,
        budget=Budget(),
        settings=Settings(method="ark", options={"agents": 1, "max_steps": 400}),
    )
    call = {"name": "ask", "arguments": {"question": "Who designed Rust?"}}
    with listening(graphs) as url:
        session = httpx2.post(f"{url}/mcp", json=HELLO, headers=HEADERS).headers["mcp-session-id"]
        headers = {**HEADERS, "Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-11-25"}
        body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
        with httpx2.stream("POST", f"{url}/mcp", json=body, headers=headers) as answer:
            assert answer.status_code == 200
            while model.calls < 3:
                time.sleep(0.01)
        time.sleep(0.5)
        calls = model.calls
        time.sleep(0.6)
        assert model.calls == calls


def test_no_stream_stands_open_that_a_shutdown_would_wait_for(languages):
    with listening(graphs_at({"languages": languages.path})) as url:
        session = httpx2.post(f"{url}/mcp", json=HELLO, headers=HEADERS).headers["mcp-session-id"]
        answer = httpx2.get(f"{url}/mcp", headers={"Accept": "text/event-stream", "Mcp-Session-Id": session})
        assert answer.status_code == 405
        assert httpx2.delete(f"{url}/mcp", headers={"Mcp-Session-Id": session}).status_code == 405


def test_nothing_is_kept_of_sessions_so_none_locks_others_out(address):
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    with httpx2.Client(headers=HEADERS) as client:
        sessions = [client.post(f"{address}/mcp", json=HELLO).headers["mcp-session-id"] for _ in range(1_010)]
        assert len(set(sessions)) == 1_010
        for session in (sessions[0], sessions[-1]):
            assert client.post(f"{address}/mcp", json=call, headers={"Mcp-Session-Id": session}).status_code == 200
        forged = client.post(f"{address}/mcp", json=call, headers={"Mcp-Session-Id": "0" * len(sessions[0])})
        assert (forged.status_code, forged.json()["error"]["code"]) == (404, -32600)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_processes_take_each_others_sessions_and_cancellations():
    sessions = McpSessions()
    session = sessions.new()
    if (pid := os.fork()) == 0:
        if sessions.has(session):
            sessions.cancel(session, 7)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert sessions.is_cancelled(session, 7)
    assert not sessions.is_cancelled(session, "7")
    assert not sessions.is_cancelled(sessions.new(), 7)
    assert not sessions.has(session[:-1])
    assert not McpSessions().has(session)


def test_the_revision_without_sessions_is_served_beside_the_others(address):
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    body = {"jsonrpc": "2.0", "id": "a", "method": "server/discover", "params": {"_meta": meta}}
    headers = {**HEADERS, "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover"}
    answer = httpx2.post(f"{address}/mcp", json=body, headers=headers)
    assert "2026-07-28" in answer.json()["result"]["supportedVersions"]
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("case", NO_MESSAGES)
def test_what_is_no_message_gets_an_error(address, case, version):
    text, ids = NO_MESSAGES[case]
    answer = httpx2.post(f"{address}/mcp", content=text, headers={**HEADERS, "Mcp-Protocol-Version": version})
    assert answer.status_code == 400
    assert answer.json()["id"] == (ids[0] if len(ids) == 1 else None)
    assert answer.json()["error"]["code"] in (-32700, -32600)


@pytest.mark.parametrize("era", ERAS)
def test_many_at_once(address, era):
    async def use():
        async with Client(f"{address}/mcp", mode=era) as client:
            calls = [client.call_tool("search", {"query": query}) for query in ["Rust", "Python", "C", "Java"] * 8]
            return await asyncio.gather(*calls)

    replies = run(use())
    assert len(replies) == 32
    assert not [reply for reply in replies if reply.is_error]
