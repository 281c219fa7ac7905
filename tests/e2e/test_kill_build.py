"""A build that is killed goes on where it was: nothing that was answered is asked again, and the graph is the same."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from fakes.embedder import WordEmbedder
from fakes.openai_server import Answer, FakeServer
from orienteer.graph import Graph

FILES = 24
CONCURRENCY = 8
"""Calls that a model has under way. When as many wait, every reply that came before them is on disk."""


class Server:
    """Embeds and describes; from a request on, it lets all of one kind wait until they are released."""

    def __init__(self):
        self.texts: Counter[str] = Counter()
        """Texts whose vectors were sent."""
        self.chunks: Counter[str] = Counter()
        """Chunks whose descriptions were sent."""
        self._lock = threading.Lock()
        self.release()

    def hold(self, kind, *, after, waiting):
        """Let requests of a kind wait once so many were answered; `is_full` when so many wait."""
        self._kind, self._after, self._waiting = kind, after, waiting
        self._held = 0
        self.is_full, self._go = threading.Event(), threading.Event()

    def release(self):
        self._kind = ""
        if hasattr(self, "_go"):
            self._go.set()

    def answer(self, body, times):
        kind = "texts" if "input" in body else "chunks"
        inputs = body["input"] if kind == "texts" else [body["messages"][1]["content"]]
        with self._lock:
            is_held = kind == self._kind and self._after <= 0
            if is_held:
                self._held += 1
                if self._held == self._waiting:
                    self.is_full.set()
                go = self._go
            else:
                getattr(self, kind).update(inputs)
                self._after -= kind == self._kind
        if is_held:
            go.wait(30)  # whoever asked is dead by then
        return _vectors(inputs) if kind == "texts" else _described(inputs[0])


def _vectors(texts):
    return Answer(vectors=WordEmbedder(dimension=24).embed(texts, kind="document").tolist())


def _described(text):
    last = text.split()[-1].strip(".")
    answer = {"title": f"About {last}", "topic": f"What {last} does.", "events": []}
    return Answer(content=json.dumps({**answer, "entities": [{"name": "Ada Holm", "details": "Sails."}]}))


def contents(path):
    graph = Graph.open(path)
    edges = {(edge.source, edge.type, edge.target): edge for edge in graph.iter_edges()}
    return {node_id: graph.node(node_id) for node_id in graph.node_ids()}, edges


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_killed_twice_it_pays_for_nothing_twice_and_makes_the_graph_of_an_unbroken_build(process, cli, home):
    docs = home / "docs"
    docs.mkdir()
    for at in range(FILES):
        words = f"The ferry number {at} of Ada Holm crosses the sound. It is late. It is night. It meets boat{at}."
        (docs / f"{at:02}.txt").write_text(words, encoding="utf-8")
    server = Server()
    with FakeServer(server.answer) as served:
        arguments = [
            "build",
            docs,
            "--chunks",
            "semantic",
            "--embedder",
            "openai:fake",
            "--model",
            "m",
            "--base-url",
            served.url,
        ]
        for kind, after, waiting in (("texts", 6, 1), ("chunks", 5, CONCURRENCY)):
            server.hold(kind, after=after, waiting=waiting)
            running = process(*arguments, "-o", "graph")
            assert server.is_full.wait(60)
            assert len(getattr(server, kind)) >= after
            running.send_signal(signal.SIGKILL)
            running.communicate()
            server.release()
            assert cli("info", "graph").code == 2  # nothing was published
        before = len(server.chunks)
        ran = cli(*arguments, "-o", "graph", "--json")
        assert ran.code == 0, ran.err
        assert ran.json["usage"]["calls"] == FILES - before
        assert len(server.chunks) == FILES
        assert max(server.chunks.values()) == 1
        assert max(server.texts.values()) == 1
        os.environ["ORIENTEER_CACHE"] = str(home / "other-cache")  # `home` puts it back
        unbroken = cli(*arguments, "-o", "unbroken", "--json")
        assert unbroken.code == 0, unbroken.err
        assert unbroken.json["usage"]["calls"] == FILES
    assert contents(Path("graph")) == contents(Path("unbroken"))
    assert {path.name for path in Path("graph").iterdir()} <= {"orienteer.json", "generations", "pieces", ".lock"}
