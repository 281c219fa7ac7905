"""Every door that takes a text reads one of twice the length in at most three times as long, whatever it holds."""

import time
from contextlib import suppress
from io import StringIO
from itertools import count, cycle, islice
from urllib.parse import quote

import pytest

from orienteer import Graph, Retriever, ScriptedModel
from orienteer.errors import Error
from orienteer.ingest import demo_records
from orienteer.methods import METHODS
from orienteer.serve import main, search_page, searcher_of
from orienteer.tools import Toolbox

UNITS = {
    "letter": "a",
    "capital": "A",
    "digit": "1",
    "space": " ",
    "line break": "\n",
    "tab": "\t",
    "quote": '"',
    "quoted": '"a ',
    "apostrophe": "'",
    "backtick": "`",
    "bracket": "(",
    "square": "[",
    "curly": "{",
    "tag": "<a ",
    "letters and dots": "a.",
    "letters and dashes": "a-",
    "code": "A1",
    "codes": "A-1 ",
    "numbers": "1 ",
    "letters": "a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9 ",
    "not": "not ",
    "and not": "and not (",
    "commas": ", ",
    "list": "a,",
    "slashes": "a/",
    "underscores": "_",
    "scripts": "aяあ",
    "pairs": "あ",
    "marks": "a\u0301",
    "picture": "😀 ",
    "stars": "*",
    "signs": "> 1 ",
    "of": "A of ",
    "question": "Which language is influenced by what? ",
    "citations": "[a] ",
    "answers": "answer: a\n",
    "fence": "```\n",
    "thought": "<think>",
}
MOST = 3.0
QUICK = 0.02
"""CPU seconds within which whatever comes is quick enough."""
NUMBERS = count()


def shapes(graph):
    """Return by name what makes a text of some length."""
    made = {name: lambda n, unit=unit: (unit * (n // len(unit) + 1))[:n] for name, unit in UNITS.items()}
    names = [graph.node(node).name for node in islice(graph.node_ids(), 200)]
    made["names"] = lambda n: " ".join(islice(cycle(names), n // 4))[:n]
    made["names joined"] = lambda n: " and ".join(islice(cycle(names), n // 4))[:n]
    made["words"] = lambda n: " ".join(f"zq{number:x}x" for number in range(n // 4))[:n]
    made["different numbers"] = lambda n: " ".join(map(str, range(n // 2)))[:n]
    return made


def seconds(call, text, *of):
    begin = time.process_time()
    with suppress(Error):  # refused is answered
        call(f"x{next(NUMBERS)} {text}", *of)  # no text is remembered
    return time.process_time() - begin


def slow(call, graph, *of, longest=8_000, quick=QUICK):
    """Return the shapes that a call takes too long for, with what two doublings of the length cost."""
    found = {}
    for name, make in shapes(graph).items():
        if seconds(call, make(longest), *of) > quick:
            first, second, third = (
                min(seconds(call, make(length), *of) for _ in range(3))
                for length in (longest // 4, longest // 2, longest)
            )
            # Of one doubling in two alone the machine may be the reason, or a table that grows.
            if third > quick and min(second / first, third / second) > MOST:
                found[name] = f"x{second / first:.1f}, x{third / second:.1f}, {third:.2f} s"
    return found


@pytest.fixture(scope="module")
def graph(scratch):
    return Graph.from_records(*demo_records(), path=scratch())


def with_reply(graph, name, text):
    """Have a method ask a model that says a text to everything."""
    model = ScriptedModel(lambda messages, tools, sampling: text)
    return Retriever(graph, method=name, model=model).ask("Who designed Python?", 5)


FREE = [
    name for name, method in METHODS.items() if not method.needs_model and name not in ("dense", "hybrid", "text-rag")
]
ASKING = [name for name, method in METHODS.items() if method.needs_model]


@pytest.mark.timing
@pytest.mark.parametrize("name", FREE)
def test_a_question_by_every_method_without_a_model(graph, name):
    retriever = Retriever(graph, method=name)
    retriever.search("Who designed Python?")
    assert slow(lambda text: retriever.ask(text, 20), graph) == {}


@pytest.mark.timing
@pytest.mark.parametrize("name", ASKING)
def test_the_reply_of_a_model_to_every_method(graph, name):
    assert slow(lambda text: with_reply(graph, name, text), graph) == {}


LOOK_UPS = {
    "search": lambda graph, text: graph.search(text, 20),
    "neighbors": lambda graph, text: graph.neighbors("award:turing-award", text),
    "neighbors of": lambda graph, text: graph.neighbors(text),
    "node": lambda graph, text: graph.node(text),
    "paths": lambda graph, text: graph.paths(text, "award:turing-award"),
    "where": lambda graph, text: graph.list(where=[text]),
    "where value": lambda graph, text: graph.list(where=[f"year > {text}"[:500]]),
    "sort": lambda graph, text: graph.list(sort=text),
    "type": lambda graph, text: graph.search("award", node_types=[text]),
    "reading": lambda graph, text: Retriever(graph, method="anchor").search("languages", reading=text),
    "page of search": lambda graph, text: search_page(searcher_of(graph), text),
}


@pytest.mark.timing
@pytest.mark.parametrize("name", LOOK_UPS)
def test_a_look_up(graph, name):
    assert slow(lambda text: LOOK_UPS[name](graph, text), graph) == {}


NODE = "award:turing-award"
SHORT, LONG = 3_900, 7_900
"""Characters of a text that the door lets in, of a name or a look-up's words and of a question."""
ENDPOINTS = {
    "/api/search": (SHORT, lambda text: {"query": text}),
    "/api/neighbors": (SHORT, lambda text: {"node": NODE, "query": text}),
    "/api/intersect": (900, lambda text: {"nodes": [NODE, text]}),
    "/api/paths": (900, lambda text: {"a": NODE, "b": text}),
    "/api/list": (900, lambda text: {"where": [text]}),
    "/api/subgraph": (900, lambda text: {"nodes": [text]}),
    "/api/facets": (900, lambda text: {"nodes": [text]}),
    "/api/ask": (LONG, lambda text: {"question": text}),
    "/api/cypher": (LONG, lambda text: {"query": text}),
    "/v1/chat/completions": (LONG, lambda text: {"model": "demo", "messages": [{"role": "user", "content": text}]}),
    "/mcp": (SHORT, lambda text: rpc("tools/call", name="search", arguments={"query": text})),
}
"""The bodies of the endpoints by their path, with the length of their text."""
RPC = {"accept": "application/json, text/event-stream"}


def rpc(method, **params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


@pytest.fixture(scope="module")
def served(graph):
    pytest.importorskip("fastapi", reason="needs the extra serve")
    pytest.importorskip("mcp", reason="needs the extra serve")
    from fakes.http_site import serving

    with serving({"demo": graph}, has_mcp=True, has_cypher=True) as client:
        yield client


@pytest.fixture(scope="module")
def agent(served):
    """Give the headers of a client of MCP."""
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}}
    return {**RPC, "mcp-session-id": served.post("/mcp", rpc("initialize", **about), **RPC).headers["mcp-session-id"]}


@pytest.mark.timing
@pytest.mark.parametrize("path", ENDPOINTS)
def test_the_body_of_every_endpoint(graph, served, agent, path):
    longest, body = ENDPOINTS[path]
    headers = agent if path == "/mcp" else {}
    assert served.post(path, body("Python"), **headers).status in (200, 400, 404)  # it is read, not turned away
    assert slow(lambda text: served.post(path, body(text), **headers), graph, longest=longest) == {}


@pytest.mark.timing
@pytest.mark.parametrize("path", ["/api/node", "/api/file"])
def test_a_name_in_an_address(graph, served, path):
    assert slow(lambda text: served.get(f"{path}?node={quote(text)}"), graph, longest=900) == {}


COMMANDS = {
    "ask": lambda text: [text],
    "ask --reading": lambda text: ["languages", "--reading", text],
    "search": lambda text: [text],
    "search --where": lambda text: ["languages", "--where", text],
    "show": lambda text: [text],
    "neighbors": lambda text: [NODE, "--query", text],
    "intersect": lambda text: [NODE, text],
    "paths": lambda text: [NODE, text],
    "list --where": lambda text: ["--where", text],
    "cypher": lambda text: [text],
    "chat": lambda text: [],
}
"""The arguments of the commands that take a text; `chat` reads it."""


@pytest.mark.timing
@pytest.mark.parametrize("command", COMMANDS)
def test_the_text_of_a_command(graph, command, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("ORIENTEER_CACHE", str(tmp_path))

    def run(text):
        monkeypatch.setattr("sys.stdin", StringIO(text))
        with suppress(SystemExit):
            main([command.split()[0], str(graph.path), *COMMANDS[command](text)])
        capsys.readouterr()

    assert slow(run, graph, quick=0.2) == {}


@pytest.mark.timing
def test_the_arguments_of_every_tool(graph):
    toolbox = Toolbox.full(graph)
    for spec in toolbox.specs:
        for name, schema in spec.parameters["properties"].items():
            if schema.get("type") == "string":
                assert slow(lambda text, *of: toolbox.call(of[0], {of[1]: text}), graph, spec.name, name) == {}


def test_words_that_are_not_read_are_told(graph):
    anchor = Retriever(graph, method="anchor")
    assert not any("words of a question" in note for note in anchor.search("Who designed Python? " * 100).notes)
    for text in ("Who designed Python? " * 101, "a." * 301):
        assert anchor.search(text).notes[-1] == "300 words of a question are read: of this one the first"


@pytest.mark.parametrize("name", ["anchor", "documents", "hippo", "bm25"])
@pytest.mark.parametrize("letter", ["A", "1", "я"])
def test_a_word_of_8_000_letters_is_read_at_once(graph, name, letter):
    retriever = Retriever(graph, method=name)
    retriever.search("Who designed Python?")
    for call in (retriever.ask, retriever.search, graph.search):
        assert min(seconds(lambda text, call=call: call(text), letter * 8_000) for _ in range(2)) < 0.2
