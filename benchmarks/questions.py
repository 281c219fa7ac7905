"""What a question costs that brings another k, another type filter or another condition, as those of a server do.

    python benchmarks/questions.py [--sizes N ...] [--rounds N] [--methods NAME ...] [--processor] [--json FILE]

Each figure is a median in milliseconds, and its ratio to the same question asked again with the same k and filters.
Every round takes another question, asks it once to warm up, and then measures each case once, in an order that
changes. The k, types or condition of a case are new in each round, and as many nodes pass as before: what is measured
is that they changed. The constructor is that of a `Retriever` on a graph that earlier ones have used; the first one
on its graph has a row of its own, what it loads of the code included. The graph has N nodes of twelve types with
generated texts, a property, three edges a node, and vectors that no model makes. `ark` is one agent, with a script
that answers at once. On a busy machine take `--processor`, with OPENBLAS_NUM_THREADS=1: numpy's threads wait actively.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from orienteer import Edge, Graph, Node, Result, Retriever, ScriptedModel
from orienteer.graph.embedding import give_vectors
from orienteer.records import Message, Sampling, ToolSpec
from orienteer.settings import Settings
from report import Report
from retrievers import EMBEDDER, Corpus, Words

METHODS = ("anchor", "hippo", "sage", "ark")
OPTIONS: Mapping[str, dict[str, Any]] = {"ark": {"agents": 1}}  # Any: an option's value
AGAIN = "same question again"
K, TYPES = 20, 12
MOST_ROUNDS = 30
"""Rounds for which there is another k near 20 and another pair of types."""
_LARGEST = 1_000_000

Asked = dict[str, Any]  # Any: k, node_types and where
Calls = list[tuple[str, dict[str, Any]]]  # Any: JSON


def main() -> None:
    """Measure every size."""
    parser = argparse.ArgumentParser(description="Measure a second question with another k or other filters.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[30_000], metavar="N", help="nodes of the graphs")
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help=f"questions of each, {MOST_ROUNDS} at most")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, metavar="NAME")
    parser.add_argument("--processor", action="store_true", help="measure processor time in place of elapsed time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args()
    if not 1 <= options.rounds <= MOST_ROUNDS:
        parser.error(f"--rounds is {options.rounds}: it must be 1 to {MOST_ROUNDS}")
    clock = time.process_time if options.processor else time.perf_counter
    report = Report({})
    for size in options.sizes:
        with tempfile.TemporaryDirectory(prefix="orienteer-questions-") as folder:
            corpus, path = Corpus(size), Path(folder) / "graph"
            build(corpus, path)
            cases = {method: Cases(method, path, clock) for method in options.methods}
            for number, question in enumerate(corpus.queries(options.rounds)):
                for method in options.methods:
                    cases[method].measure(question, number)
        for method in options.methods:
            cases[method].show(report, f"{size:,} {method}")
    if options.json:
        report.write(options.json)


def build(corpus: Corpus, path: Path) -> None:
    """Write a graph of a node for each passage, joined to those that it names, with a vector for each."""
    rng, embedder = np.random.default_rng(3), Words()
    numbers = rng.integers(0, _LARGEST, corpus.size).tolist()
    passages = list(corpus.passages())
    nodes = [
        Node(f"n{at}", f"type{at % TYPES}", passage.title, passage.text, properties={"number": numbers[at]})
        for at, passage in enumerate(passages)
    ]
    edges = [
        Edge(f"n{at}", f"edge{place}", f"n{other}")
        for at, passage in enumerate(passages)
        for place, other in enumerate(passage.named)
    ]
    graph = Graph.from_records(nodes, edges, path=path)
    by_id = {node.id: f"{node.name}. {node.text}" for node in nodes}
    ids = list(graph.node_ids())
    give_vectors(graph, ids, embedder.embed([by_id[name] for name in ids], kind="document"), embedder=EMBEDDER)


class Cases:
    """The ways to ask one method a question again, and the milliseconds that each took."""

    def __init__(self, method: str, path: Path, clock: Callable[[], float]) -> None:
        embedder = Words()
        self._graph = Graph.open(path, embedder=lambda _: embedder)  # its own: a first Retriever finds nothing ready
        self._method, self._model = method, ScriptedModel(_explore) if method == "ark" else None
        self._clock = clock
        self._times: dict[str, list[float]] = {}
        started = clock()
        self._retriever = self._made()
        self._first = 1e3 * (clock() - started)

    def measure(self, question: str, number: int) -> None:
        """Ask one question in all ways, in an order that changes with the number of the round."""
        self._ask(question, _asked())
        cases: list[tuple[str, Callable[[], object]]] = [
            (AGAIN, lambda: self._ask(question, _asked())),
            ("another k", lambda: self._ask(question, _asked(k=_k(number)))),
            ("another type filter", lambda: self._ask(question, _asked(node_types=_node_types(number)))),
            ("another condition", lambda: self._ask(question, _asked(where=_where(number)))),
            ("constructor", lambda: self._made()),
        ]
        for place in range(len(cases)):
            name, run = cases[(place + number) % len(cases)]
            started = self._clock()
            run()
            self._times.setdefault(name, []).append(1e3 * (self._clock() - started))

    def show(self, report: Report, label: str) -> None:
        """Print the medians."""
        medians = {name: float(np.median(times)) for name, times in self._times.items()}
        again = medians[AGAIN]
        report.add(f"{label}: {AGAIN}", again, "ms")
        for name in ("another k", "another type filter", "another condition", "constructor"):
            report.add(f"{label}: {name}", medians[name], "ms", peer=AGAIN, peer_value=again)
        report.add(f"{label}: constructor, the first one", self._first, "ms", peer=AGAIN, peer_value=again)

    def _ask(self, question: str, asked: Asked) -> Result:
        result = self._retriever.search(question, **asked)
        errors = [
            seen.text
            for course in result.trajectories
            for step in course.steps
            for seen in step.observations
            if seen.error
        ]
        if not result.hits or errors:
            raise SystemExit(f"{self._method}: not answered as it should be: {errors or 'no hits'}, {result.notes}")
        return result

    def _made(self) -> Retriever:
        options = OPTIONS.get(self._method, {})
        return Retriever(self._graph, self._method, model=self._model, settings=Settings(), **options)


def _asked(*, k: int = K, node_types: Sequence[str] = ("type0", "type1"), where: str = "number >= 250000") -> Asked:
    return {"k": k, "node_types": list(node_types), "where": [where]}


def _k(number: int) -> int:
    """Return another k for each round, in turn above and below."""
    distance = number // 2 + 1
    return K + distance if number % 2 else K - distance


def _node_types(number: int) -> tuple[str, str]:
    """Return another pair of types for each round; all types have as many nodes."""
    pairs = [(low, high) for low in range(TYPES) for high in range(low + 1, TYPES)]
    low, high = pairs[number + 1]  # the first pair is that of every other question
    return f"type{low}", f"type{high}"


def _where(number: int) -> str:
    return f"number >= {250_001 + number}"


def _explore(messages: Sequence[Message], tools: Sequence[ToolSpec], sampling: Sampling) -> Calls:
    """Return the next call of an agent that searches, looks around a node, answers with what it saw and ends."""
    question = next(message.content for message in messages if message.role == "user")
    script: list[Calls] = [
        [("search_in_graph", {"query": question, "k": 100})],  # so many that some pass all filters
        [("search_in_neighborhood", {"node": "n0", "query": question})],
        [("add_to_answer", {"nodes": ["@1"], "reasoning": "they have words of the question"})],
        [("finish", {})],
    ]
    return script[sum(message.role == "assistant" for message in messages)]


if __name__ == "__main__":
    main()
