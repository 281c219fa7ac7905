"""A model that is watched, and coroutines of a test that end."""

import asyncio
import threading
import time

from orienteer.llm import Budget, ScriptedModel
from orienteer.serve import Answering, ServedGraph, ServedGraphs
from orienteer.settings import Settings

NO_MESSAGES = {
    "broken": (b'{"jsonrpc": "2.0", "id": 300,', [None]),
    "cut within a text": (b'{"jsonrpc": "2.0", "id": 1, "method": "pi', [None]),
    "a word": (b"hello", [None]),
    "half a surrogate": (b'{"jsonrpc": "2.0", "id": 302, "method": "ping", "params": {"a": "\\ud83d"}}', [302]),
    "not a number": (b'{"jsonrpc": "2.0", "id": "x", "method": "ping", "params": {"a": NaN}}', ["x"]),
    "deep": (b'{"jsonrpc": "2.0", "id": 4, "method": "ping", "params": {"a": %s}}' % (b"[" * 80 + b"]" * 80), [4]),
    "deeper": (b"[" * 100_000, [None]),
    "a batch": (
        b'[{"jsonrpc": "2.0", "id": 5, "method": "ping"}, {"jsonrpc": "2.0", "id": 6, "method": "ping"}]',
        [5, 6],
    ),
    "an empty batch": (b"[]", [None]),
    "a number": (b"17", [None]),
    "an empty object": (b"{}", [None]),
    "no method": (b'{"jsonrpc": "2.0", "id": 8}', [8]),
    "no version": (b'{"id": 9, "method": "ping"}', [9]),
    "a method that is no text": (b'{"jsonrpc": "2.0", "id": 10, "method": 7}', [10]),
    "params in a list": (b'{"jsonrpc": "2.0", "id": 11, "method": "ping", "params": [1]}', [11]),
    "a fraction as id": (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', [None]),
    "true as id": (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', [None]),
    "null as id": (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', [None]),
}
"""What is not one message of JSON-RPC, with the ids of the errors that reply to it."""


class Searcher:
    """A model that searches on and on, so many turns, and then answers; it counts its calls."""

    def __init__(self, turns=4, seconds=0.0, fails=None):
        self.turns, self.seconds, self.fails, self.calls = turns, seconds, fails, 0
        self._lock = threading.Lock()

    def _policy(self, messages, tools, sampling):
        with self._lock:
            self.calls += 1
        time.sleep(self.seconds)
        if self.fails is not None:
            raise self.fails
        turn = sum(message.role == "assistant" for message in messages)
        if not tools:
            return "Graydon Hoare [person:graydon-hoare] designed it."
        if turn < self.turns:
            return [("search_in_graph", {"query": f"rust {turn}"})]
        return [("add_to_answer", {"nodes": ["Graydon Hoare"]}), ("finish", {})]

    @property
    def model(self):
        return ScriptedModel(self._policy)


def run(coroutine, seconds=60):
    """Run a coroutine to its end, however the server behaves."""

    async def bounded():
        return await asyncio.wait_for(coroutine, seconds)

    return asyncio.run(bounded())


def graphs_at(folders, *, model=None, budget=None, settings=None, runs_cypher=False):
    """Return graphs by name as a server has them, none of them opened yet."""
    answering = Answering(settings or Settings(), budget or Budget(), model, runs_cypher)
    graphs = ServedGraphs()
    for name, folder in folders.items():
        graph = ServedGraph(name, answering)
        graph.set_directory(folder)
        graphs.add(graph)
    return graphs
