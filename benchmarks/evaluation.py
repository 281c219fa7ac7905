"""An evaluation against a scripted model over HTTP: its throughput and memory, and that killing it costs nothing.

    python benchmarks/evaluation.py [--json FILE] [--questions 1000] [--workers 32] [--milliseconds 50]

Each run is a process of its own, `orienteer eval run`, over a small graph. One is let alone; another is killed twice
with SIGKILL and taken up again. Both must have asked the server the same, each request once, and have written the same
results but for their times. The server answers after some milliseconds, and beside it the floor is measured: what the
runs would take if asking cost nothing but that wait. Last, methods without a model, where all that counts is what the
runner adds to the method's own time.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from orienteer.graph.store import Graph
from orienteer.lab.evaluation.examples import Example, Gold, QuestionSet
from orienteer.lab.evaluation.running.runner import evaluate
from orienteer.records import Edge, Node, Question
from orienteer.settings import Settings
from report import Report, Target

TOPICS = ("amber", "basalt", "copper", "dolomite", "emerald", "feldspar", "gypsum", "halite")
STEPS = 3
"""Calls of the model for a question: two searches, then the answer."""
KILLS = 2
TARGETS = {
    "peak memory, all questions": Target(1.1, "a fifth of them"),
    "bm25: runner beside the method": Target(1),
    "requests paid twice": Target(0),
    "results that differ": Target(0),
}


def main() -> None:
    """Run all measurements."""
    parser = argparse.ArgumentParser(description="Measure the evaluation runner.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--questions", type=int, default=1000, metavar="N")
    parser.add_argument("--workers", type=int, default=32, metavar="W")
    parser.add_argument("--milliseconds", type=float, default=50, metavar="MS", help="what the model takes to answer")
    options = parser.parse_args()
    report = Report(TARGETS)
    with tempfile.TemporaryDirectory(prefix="orienteer-evaluation-") as folder:
        bench = Bench(Path(folder), options.workers, options.milliseconds / 1000)
        bench.over_http(report, options.questions)
        bench.without_model(report, options.questions)
    if options.json:
        report.write(options.json)


class Ran(NamedTuple):
    """A process that came to its end."""

    seconds: float
    peak_bytes: int


class Bench:
    """A graph, and runs over it."""

    def __init__(self, folder: Path, workers: int, wait: float) -> None:
        self.folder, self.workers, self.wait = folder, workers, wait
        nodes = [Node(f"n{at}", "sample", f"Sample {at}", f"A piece of {_topic(at)}.") for at in range(2000)]
        edges = [Edge(f"n{at}", "found beside", f"n{(at * 7 + 1) % 2000}") for at in range(2000)]
        Graph.from_records(nodes, edges, path=folder / "graph")

    def over_http(self, report: Report, count: int) -> None:
        """Measure a run with a model, and one that is killed."""
        with served(self.wait) as server:
            small = self.run("small", count // 5, server)
            server.asked.clear()
            whole = self.run("unbroken", count, server)
            unbroken = server.forget()
            self.kill("broken", count, server)
            self.run("broken", count, server)
            broken = server.forget()
        floor = count * STEPS * self.wait / self.workers
        report.add("questions a second", count / whole.seconds, "1/s")
        per, ideal = whole.seconds / count * 1e3, floor / count * 1e3
        report.add("question, model over HTTP", per, "ms", peer="the model's own wait", peer_value=ideal)
        name, few = "a fifth of them", small.peak_bytes / 2**20
        report.add("peak memory, all questions", whole.peak_bytes / 2**20, "MB", peer=name, peer_value=few)
        report.add("requests paid twice", sum((broken - unbroken).values()), "", peer="asked", peer_value=count * STEPS)
        differs = sum(a != b for a, b in zip(self.results("broken"), self.results("unbroken"), strict=True))
        report.add("results that differ", differs, "")

    def without_model(self, report: Report, count: int) -> None:
        """Measure what the runner adds to methods that need no model."""
        graph = Graph.open(self.folder / "graph")
        examples = tuple(
            Example(question=Question(id=one["id"], text=one["question"]), gold=Gold(nodes={one["nodes"][0]: 1.0}))
            for one in _questions(count)
        )
        for method in ("bm25", "anchor"):
            started = time.perf_counter()
            done = evaluate(
                graph, QuestionSet("jsonl", examples, ""), [method], self.folder / method, settings=Settings()
            )
            own = done.usage.seconds
            beside = (time.perf_counter() - started - own) / count * 1e3
            report.add(
                f"{method}: runner beside the method", beside, "ms", peer="the method", peer_value=own / count * 1e3
            )

    def run(self, name: str, count: int, server: Server) -> Ran:
        """Run to the end."""
        started = time.perf_counter()
        process = self._start(name, count, server)
        _, status, used = os.wait4(process.pid, 0)
        if os.waitstatus_to_exitcode(status):
            raise SystemExit(f"{name} failed: {(self.folder / f'{name}.err').read_text()}")
        return Ran(time.perf_counter() - started, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024))

    def kill(self, name: str, count: int, server: Server) -> None:
        """Begin a run, and kill it while it works; a third of the questions are asked in between."""
        for turn in range(1, KILLS + 1):
            process = self._start(name, count, server)
            server.stop_after(count * STEPS * turn // (KILLS + 1), self.workers)
            process.send_signal(signal.SIGKILL)
            process.wait()
            server.go_on()

    def results(self, name: str) -> list[Any]:  # Any: JSON
        """Return what a run has written, without times, in the order of the questions."""
        lines = [_without_times(line) for line in _lines(self.folder / name)]
        return sorted(lines, key=lambda line: line["id"])

    def _start(self, name: str, count: int, server: Server) -> subprocess.Popen[bytes]:
        file = self.folder / f"{count}.jsonl"
        file.write_text("".join(json.dumps(one) + "\n" for one in _questions(count)))
        command = [sys.executable, "-m", "orienteer", "eval", "run", self.folder / "graph", file, "-m", "ark agents=1"]
        command += ["--model", "scripted", "--base-url", server.url, "--workers", self.workers]
        with (self.folder / f"{name}.err").open("wb") as errors:
            return subprocess.Popen(
                [*map(str, command), "-o", str(self.folder / name)], stdout=subprocess.DEVNULL, stderr=errors
            )


class Server(ThreadingHTTPServer):
    """A model that searches twice and answers; it can stop answering, to be asked all that is asked."""

    request_queue_size = 256
    daemon_threads = True

    def __init__(self, wait: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pause = wait
        self.asked: Counter[int] = Counter()
        self._left = sys.maxsize
        self._waiting = 0
        self._change = threading.Condition()

    @property
    def url(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def admit(self, body: bytes) -> bool:
        """Count a request that is answered; keep one that is not until it is to be dropped."""
        with self._change:
            if self._left > 0:
                self._left -= 1
                self.asked[hash(body)] += 1
                return True
            self._waiting += 1
            self._change.notify_all()
            self._change.wait_for(lambda: self._left > 0)
            self._waiting -= 1
            return False

    def stop_after(self, total: int, workers: int) -> None:
        """Answer until so many requests were answered in all, and return when every worker waits for the next one."""
        with self._change:
            self._left = total - sum(self.asked.values())
            self._change.wait_for(lambda: self._waiting == workers)

    def go_on(self) -> None:
        """Drop what waits, and answer again."""
        with self._change:
            self._left = sys.maxsize
            self._change.notify_all()

    def forget(self) -> Counter[int]:
        """Return how often each request was answered, and begin anew."""
        asked, self.asked = self.asked, Counter()
        return asked


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if not self.server.admit(body):
            self.close_connection = True
            return
        time.sleep(self.server.pause)
        messages = json.loads(body)["messages"]
        turns = sum(message["role"] == "assistant" for message in messages)
        topic = next(one for one in TOPICS if one in messages[1]["content"])
        calls: list[tuple[str, dict[str, Any]]] = [("search_in_graph", {"query": f"{topic} {turns}"})]
        if turns == STEPS - 1:
            calls = [("add_to_answer", {"nodes": ["n1"], "reasoning": "it fits"}), ("finish", {})]
        self._reply(calls)

    def _reply(self, calls: list[tuple[str, dict[str, Any]]]) -> None:
        said = [
            {"id": f"c{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for at, (name, arguments) in enumerate(calls)
        ]
        choice = {"index": 0, "message": {"role": "assistant", "tool_calls": said}, "finish_reason": "tool_calls"}
        usage = {"prompt_tokens": 1000, "completion_tokens": 20}
        data = json.dumps({"model": "scripted", "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def served(wait: float) -> Iterator[Server]:
    """Give a server that runs."""
    server = Server(wait)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _questions(count: int) -> Iterator[dict[str, Any]]:  # Any: JSON
    for at in range(count):
        yield {"id": f"q{at}", "question": f"Which samples are of {_topic(at)}, case {at}?", "nodes": [f"n{at}"]}


def _topic(at: int) -> str:
    return TOPICS[at % len(TOPICS)]


def _lines(run: Path) -> Iterator[dict[str, Any]]:  # Any: JSON
    with (run / "results.jsonl").open() as lines:
        yield from map(json.loads, lines)


def _without_times(value: Any) -> Any:  # Any: JSON
    if isinstance(value, dict):
        return {name: _without_times(one) for name, one in value.items() if name != "seconds"}
    return [_without_times(one) for one in value] if isinstance(value, list) else value


if __name__ == "__main__":
    main()
