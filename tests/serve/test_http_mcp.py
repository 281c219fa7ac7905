"""`/mcp` of `orienteer serve`: the library's own client over loopback in both eras, and the guard before it."""

import asyncio
import json
import threading
import time

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")
pytest.importorskip("mcp", reason="the extra mcp is not installed")

import httpx2
from mcp import Client as McpClient
from mcp.client.streamable_http import streamable_http_client

from fakes.http_site import serving, until
from fakes.talks import run
from orienteer.serve import LOOK_UP_THREADS, QuestionSlots

ERAS = ("legacy", "auto")
KEY = "a key of sixteen and more"
FORMS = {"accept": "application/json, text/event-stream"}
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
QUESTION = {"question": "Who designed Rust?"}
LONG = {"question": "What suits a beginner?"}
"""A question that no rule reads: agents search for it until they are stopped."""


@pytest.fixture
def beside(languages):
    """Give a server with the routes for agents, and a key."""
    with serving({"languages": languages}, keys=(KEY,), has_mcp=True) as client:
        yield client


def talk(client, era, use, *, key=None):
    """Return what a client of the protocol does with a server."""

    async def talked():
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as sender,
            McpClient(streamable_http_client(f"{client.url}/mcp", http_client=sender), mode=era) as agent,
        ):
            return await use(agent)

    return run(talked())


@pytest.mark.parametrize("era", ERAS)
def test_agents_ask_beside_programs(beside, era):
    async def use(agent):
        told = []

        async def progress(done, total, message):
            told.append(done)

        tools = (await agent.list_tools()).tools
        answer = await agent.call_tool("ask", QUESTION, progress_callback=progress)
        wrong = await agent.call_tool("node", {"node": "Rusty"})
        blank = await agent.call_tool("ask", {"question": ""})
        schema = await agent.read_resource("orienteer://languages/schema")
        return tools, answer, wrong, blank, schema, told

    tools, answer, wrong, blank, schema, told = talk(beside, era, use, key=KEY)
    assert len(tools) == 8
    assert "Graydon Hoare" in answer.content[0].text
    assert wrong.is_error
    assert blank.is_error
    assert blank.content[0].text.startswith("question is ''")
    assert schema.contents[0].text.startswith("node types: ")
    assert told == list(range(1, len(told) + 1))
    listed = beside.get("/api/graphs", authorization=f"Bearer {KEY}").json
    assert listed["has_mcp"] is True
    assert "/mcp" not in beside.get("/openapi.json", authorization=f"Bearer {KEY}").json["paths"]


@pytest.mark.parametrize("era", ERAS)
def test_without_the_key_nobody_comes_in(beside, era):
    with pytest.raises(BaseException) as refused:  # noqa: PT011  # the library raises a group of its own errors
        talk(beside, era, lambda agent: agent.list_tools(), key="another key of sixteen")
    assert not isinstance(refused.value, KeyboardInterrupt)
    reply = beside.post("/mcp", HELLO, **FORMS)
    assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")
    assert reply.error["message"].startswith("a key is needed")


@pytest.mark.parametrize(
    ("headers", "status"), [({"host": "evil.example"}, 421), ({"origin": "https://evil.example"}, 403)]
)
def test_the_guard_checks_hosts_and_origins(beside, headers, status):
    sent = {"content-type": "application/json", "authorization": f"Bearer {KEY}", **FORMS, **headers}
    reply = beside.send("POST", "/mcp", json.dumps(HELLO).encode(), sent)
    assert (reply.status, reply.error["status"]) == (status, status)


def test_there_is_no_redirect_and_every_reply_has_the_guards_headers(beside):
    reply = beside.post("/mcp", HELLO, authorization=f"Bearer {KEY}", **FORMS)
    assert reply.status == 200
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert beside.get("/mcp", authorization=f"Bearer {KEY}").status == 405


def test_a_server_without_agents_has_no_such_place(client):
    assert client.post("/mcp", HELLO, **FORMS).status == 404
    assert client.get("/api/graphs").json["has_mcp"] is False


@pytest.mark.parametrize("era", ERAS)
def test_questions_of_agents_take_the_places_of_all(languages, searcher, era):
    model = searcher(turns=400, seconds=0.05)
    with serving({"languages": languages}, model=model.model, has_mcp=True, slots=QuestionSlots(1, 0)) as client:

        async def use(agent):
            first = asyncio.create_task(agent.call_tool("ask", LONG))
            while not client.site.slots.running:
                await asyncio.sleep(0.01)
            refused = await agent.call_tool("ask", LONG)
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            return refused

        refused = talk(client, era, use)
        assert refused.is_error
        assert "1 questions run and 0 wait: come again in" in refused.content[0].text
        until(lambda: client.site.slots.running == 0)
        spent = model.calls
        time.sleep(0.3)
        assert model.calls == spent


@pytest.mark.parametrize("era", ERAS)
def test_cypher_of_agents_takes_a_place_like_a_question(languages, searcher, era):
    model = searcher(turns=400, seconds=0.05)
    options = {"model": model.model, "has_mcp": True, "has_cypher": True, "slots": QuestionSlots(1, 0)}
    statement = {"query": "MATCH (l:language) RETURN l.name ORDER BY l.year LIMIT 1"}
    with serving({"languages": languages}, **options) as client:

        async def use(agent):
            question = asyncio.create_task(agent.call_tool("ask", LONG))
            while not client.site.slots.running:
                await asyncio.sleep(0.01)
            refused = await agent.call_tool("cypher", statement)
            looked_up = await agent.call_tool("search", {"query": "Rust"})
            question.cancel()
            await asyncio.gather(question, return_exceptions=True)
            while client.site.slots.running:
                await asyncio.sleep(0.01)
            return refused, looked_up, await agent.call_tool("cypher", statement)

        refused, looked_up, answered = talk(client, era, use)
        assert refused.is_error
        assert "1 questions run and 0 wait: come again in" in refused.content[0].text
        assert not looked_up.is_error
        assert answered.content[0].text.startswith("1 row: l.name")
        until(lambda: client.site.slots.running == 0)


@pytest.mark.parametrize(
    ("tool", "arguments", "threads"),
    [
        ("search", {"query": "Rust"}, ("pool", LOOK_UP_THREADS)),
        ("paths", {"a": "Rust", "b": "Swift"}, ("large_pool", 1)),
    ],
)
def test_look_ups_of_agents_take_the_threads_of_all_look_ups(languages, tool, arguments, threads):
    go_on = threading.Event()
    with serving({"languages": languages}, has_mcp=True) as client:
        pool, count = threads

        async def use(agent):
            await agent.call_tool(tool, arguments)
            for _ in range(count):
                getattr(client.site, pool).submit(go_on.wait)
            look_up = asyncio.create_task(agent.call_tool(tool, arguments))
            done, _ = await asyncio.wait({look_up}, timeout=0.5)
            go_on.set()
            return done, await look_up

        done, found = talk(client, "auto", use)
        assert not done
        assert "[language:rust]" in found.content[0].text
