"""The plain functions by themselves: what they reply, and that errors are replies."""

import inspect
import re
from concurrent.futures import ThreadPoolExecutor
from typing import get_type_hints

import pytest

from adapters.conftest import QUESTION, RUBY
from orienteer import Edge, Node, Retriever, ScriptedModel
from orienteer.errors import ModelError
from orienteer.settings import Settings


@pytest.fixture
def functions(retriever):
    return {function.__name__: function for function in retriever.as_functions()}


def test_names_docstrings_and_annotations_make_a_tool(functions):
    assert list(functions) == ["search_graph", "graph_neighbors", "ask_graph"]
    for function in functions.values():
        hints = get_type_hints(function)
        assert hints.pop("return") is str
        assert set(hints) == set(inspect.signature(function).parameters)
        for name in hints:
            assert f"\n    {name}: " in inspect.getdoc(function)


def test_search_shows_ids_that_go_back_in(functions):
    assert f"[{RUBY}] Ruby (language)" in functions["search_graph"]("Ruby", k=2)
    reply = functions["graph_neighbors"](f"[{RUBY}]", node_types=["person"])
    assert "[person:yukihiro-matsumoto] Yukihiro Matsumoto (person)" in reply


def test_ask_tells_reading_answer_and_hits(functions):
    lines = functions["ask_graph"](QUESTION).splitlines()
    assert lines[0].startswith("read as: language")
    assert lines[1] == "answer: Ruby"
    assert f"[{RUBY}] Ruby (language): Yukihiro Matsumoto <-designed_by- Ruby" in lines[2]


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("graph_neighbors", {"node": "rubby"}, "rubby"),
        ("search_graph", {"query": "Ruby", "node_types": ["nonesuch"]}, "nonesuch"),
        ("ask_graph", {"question": " "}, "the question is empty"),
    ],
)
def test_an_error_is_a_reply(functions, name, arguments, told):
    reply = functions[name](**arguments)
    assert reply.startswith("error: ")
    assert told in reply


@pytest.mark.parametrize("k", [-3, 0, 10**6])
def test_any_number_of_nodes_is_a_reply(functions, k):
    assert "Ruby" in functions["search_graph"]("Ruby", k=k)


def test_neighbors_are_read_page_by_page(build):
    graph = build([Node(f"n{n}", "thing") for n in range(31)], [Edge("n0", "near", f"n{n}") for n in range(1, 31)])
    _, neighbors, _ = Retriever(graph, "bm25", settings=Settings()).as_functions()
    first, second = neighbors("n0"), neighbors("n0", offset=20)
    assert "offset=20" in first
    shown = [set(re.findall(r"\[(n\d+)\]", reply)) for reply in (first, second)]
    assert shown[0] | shown[1] == {f"n{n}" for n in range(1, 31)}
    assert not shown[0] & shown[1]
    assert neighbors("n0", offset=-5) == first


def test_a_failed_model_is_a_reply(languages):
    def fail(messages, tools, sampling):
        raise ModelError("the server is gone")

    *_, ask = Retriever(languages, "ark", model=ScriptedModel(fail), settings=Settings()).as_functions()
    assert ask(QUESTION).startswith("error: ")


def test_replies_keep_to_their_size_and_steer_no_terminal(build):
    nodes = [Node(f"n{n}", "thing", f"beetle\x1b[2J {n}", "beetle " * 400) for n in range(300)]
    edges = [Edge("n0", "near", f"n{n}") for n in range(1, 300)]
    search, neighbors, ask = Retriever(build(nodes, edges), "bm25", settings=Settings()).as_functions()
    for reply in (search("beetle", k=100), neighbors("n0"), ask("beetle")):
        assert len(reply) <= 4_000
        assert "\x1b" not in reply
        assert "[n" in reply


@pytest.mark.slow
def test_threads_may_call_them(functions):
    with ThreadPoolExecutor(8) as pool:
        replies = set(pool.map(lambda _: functions["ask_graph"](QUESTION), range(32)))
    assert len(replies) == 1
