"""`orienteer mcp` as a process: nothing but the protocol on standard output, and what is wrong is told at once."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from mcp import Client, StdioServerParameters

from fakes import Answer, FakeServer
from fakes.talks import NO_MESSAGES, run

ERAS = ("legacy", "auto")
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


@pytest.fixture
def environment(tmp_path):
    """Give an environment with nothing set and a cache of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ORIENTEER_", "OPENAI_"))}
    return {
        **kept,
        "ORIENTEER_CACHE": str(tmp_path / "cache"),
        "ORIENTEER_VECTORS": "off",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }


@pytest.fixture
def start(environment, tmp_path):
    """Give a function that starts the command with some arguments, as a host does; it is ended with the test."""
    started = []

    def begin(*arguments, flags=("-X", "dev")):
        process = subprocess.Popen(
            [sys.executable, *flags, "-m", "orienteer", "mcp", *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=tmp_path,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


def send(process, *messages):
    for message in messages:
        process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def requests(*calls):
    yield HELLO
    yield {"jsonrpc": "2.0", "method": "notifications/initialized"}
    for number, (method, params) in enumerate(calls, 2):
        yield {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


# ---------------------------------------------------------------------------------------------------------- the streams


def test_standard_output_has_the_protocol_alone(start, languages):
    process = start(languages.path)
    calls = [
        ("tools/call", {"name": name, "arguments": arguments})
        for name, arguments in (
            ("ask", {"question": "Who designed Rust?"}),
            ("search", {"query": "Rust"}),
            ("search", {"query": 7}),
            ("node", {"node": "nobody"}),
        )
    ]
    send(process, *requests(("tools/list", {}), *calls, ("no/such/method", {})))
    answers = [json.loads(process.stdout.readline()) for _ in range(7)]
    process.stdin.close()
    rest = process.stdout.read()
    assert process.wait(20) == 0
    assert rest == b""
    by_number = {answer["id"]: answer for answer in answers}
    assert sorted(by_number) == [1, 2, 3, 4, 5, 6, 7]
    assert len(by_number[2]["result"]["tools"]) == 8
    assert [by_number[number]["result"]["isError"] for number in (3, 4, 5, 6)] == [False, False, True, True]
    assert "error" in by_number[7]


def test_lines_that_are_no_messages_are_replied_to_and_do_not_end_it(start, languages):
    process = start(languages.path)
    cases = [case for case in NO_MESSAGES.values() if case[0].strip()]
    process.stdin.write(b"\n \n\xff\xfe\n" + b"".join(text + b"\n" for text, _ in cases))
    send(process, HELLO)
    wanted = [None, *(request_id for _, ids in cases for request_id in ids)]
    answers = [json.loads(process.stdout.readline()) for _ in wanted]
    assert [answer["id"] for answer in answers] == wanted
    assert all(answer["error"]["code"] in (-32700, -32600) for answer in answers)
    answer = json.loads(process.stdout.readline())
    assert (answer["id"], answer["result"]["serverInfo"]["name"]) == (1, "orienteer")


def test_a_call_that_is_cancelled_after_its_reply_does_no_harm(start, languages):
    """opencode 1.18 says so of each call that has ended."""
    process = start(languages.path)
    search = {"name": "search", "arguments": {"query": "Rust"}}
    send(process, *requests(("tools/call", search)))
    assert [json.loads(process.stdout.readline())["id"] for _ in range(2)] == [1, 2]
    gone = {"requestId": 2, "reason": "AbortError: The operation was aborted."}
    again = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": search}
    send(process, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": gone}, again)
    answer = json.loads(process.stdout.readline())
    assert (answer["id"], answer["result"]["isError"]) == (3, False)


def test_it_starts_without_numpy():
    """Codex 0.171 begins a session before its servers are up: what the list of tools does not need comes later."""
    loads = (
        "import sys; from orienteer.serve import ServedGraphs, command_line, mcp_server, serve_stdio; "
        "sys.exit('numpy' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    assert subprocess.run([sys.executable, "-c", loads], env=environment, check=False).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_when_it_is_told_to(start, languages, sent):
    process = start(languages.path)
    send(process, HELLO)
    process.stdout.readline()
    process.send_signal(sent)
    assert process.wait(20) == -sent


# ----------------------------------------------------------------------------------------------- by the official client


def parameters(environment, *arguments):
    return StdioServerParameters(
        command=sys.executable, args=["-X", "dev", "-m", "orienteer", "mcp", *map(str, arguments)], env=environment
    )


@pytest.mark.parametrize("era", ERAS)
def test_the_tools_are_there_soon_and_answer(environment, languages, era):
    async def use():
        started = time.monotonic()
        async with Client(
            parameters(environment, languages.path, "--name", f"again={languages.path}"), mode=era
        ) as client:
            tools = (await client.list_tools()).tools
            seconds = time.monotonic() - started
            found = await client.call_tool("search", {"graph": "again", "query": "Rust"})
            return seconds, [tool.name for tool in tools], found

    seconds, names, found = run(use())
    assert seconds < 30  # 0.7 s where nothing else runs: benchmarks measure it
    assert names[0] == "ask"
    assert "[language:rust]" in found.content[0].text


@pytest.mark.parametrize("era", ERAS)
def test_leaving_a_question_stops_it(environment, languages, era):
    import asyncio

    def searching(body, _):
        return Answer(calls=[("search_in_graph", {"query": f"rust {len(body['messages'])}"})], delay=0.05)

    async def use(url):
        given = ("--model", "fake", "--base-url", url, "--budget-calls", "200")
        async with Client(parameters(environment, languages.path, *given), mode=era) as client:
            begun = asyncio.Event()

            async def progress(done, total, message):
                begun.set()

            question = asyncio.create_task(
                client.call_tool("ask", {"question": "What suits a beginner?"}, progress_callback=progress)
            )
            await begun.wait()
            question.cancel()
            await asyncio.gather(question, return_exceptions=True)
            await asyncio.sleep(0.5)  # calls in flight end
            calls = len(server.requests)
            await asyncio.sleep(0.7)
            assert len(server.requests) == calls
            return await client.call_tool("search", {"query": "Rust"})

    with FakeServer(searching) as server:
        assert "[language:rust]" in run(use(server.url)).content[0].text
        assert 0 < len(server.requests) < 150


def test_a_folder_of_documents_is_read_while_its_tools_are_there(environment, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ferry.md").write_text("# Ferries\n\nThe night ferry leaves Hammerfest at nine.\n")

    async def use():
        async with Client(parameters(environment, folder)) as client:
            assert (await client.list_tools()).tools[0].name == "ask"
            found = await client.call_tool("ask", {"question": "When does the night ferry leave Hammerfest?"})
            schema = await client.read_resource("orienteer://notes/schema")
            return found.content[0].text, schema.contents[0].text

    told, schema = run(use())
    assert "at nine" in told
    assert "ferry.md" in told
    assert str(tmp_path) not in told
    assert "chunk" in schema


# ------------------------------------------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nowhere"], "nowhere does not exist"),
        ([], "no graph is named"),
        (["--name", "beers"], "write NAME=DIR"),
        (["{graph}", "{graph}"], "are both called 'languages': name one with --name"),
        (["{graph}", "--model", "local:none.gguf"], "none.gguf does not exist: give a .gguf file"),
        (["{graph}", "--budget-seconds", "0"], "seconds"),
        (["{graph}", "--budget-usd", "1", "--model", "fake", "--base-url", "http://127.0.0.1:9/v1"], "price"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_served(start, languages, arguments, expected):
    process = start(*(argument.format(graph=languages.path) for argument in arguments), flags=())
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert out == b""
    assert err.decode().startswith("error: ")
    assert expected in err.decode()


def test_a_file_that_is_no_pointer_is_told(start, tmp_path):
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "orienteer.json").write_text('{"format": 1}')
    _, err = (process := start(folder, flags=())).communicate(timeout=60)
    assert process.returncode == 2
    assert "is damaged" in err.decode()
