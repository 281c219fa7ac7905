"""A model that is watched, and coroutines of a test that end."""

import asyncio
import threading
import time

from orienteer.llm import Budget, ScriptedModel
from orienteer.serve import Answering, ServedGraph, ServedGraphs
from orienteer.settings import Settings


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


def graphs_at(folders, *, model=None, budget=None, settings=None):
    """Return graphs by name as a server has them, none of them opened yet."""
    answering = Answering(settings or Settings(), budget or Budget(), model)
    graphs = ServedGraphs()
    for name, folder in folders.items():
        graph = ServedGraph(name, answering)
        graph.lie_at(folder)
        graphs.add(graph)
    return graphs
