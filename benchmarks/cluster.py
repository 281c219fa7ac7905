"""Questions over the nodes of a Ray cluster beside threads here: how long 64 questions take, and how often is asked.

    python benchmarks/cluster.py --ray 127.0.0.1:6380 [--questions N] [--seconds S] [--json FILE]

The nodes run already (docs/ray.md); where they are other machines, --host is an address of this one that they reach.
The model is the script's own: it waits, says one sentence, and counts. A question is one call. The first figure is what
the whole command takes, Python's start and the cluster's included; the second is from the first call to the last reply.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from orienteer.graph.store import Graph
from orienteer.ingest.demo import demo_records
from report import Report

METHOD = ("--method", "bm25", "--answers")


class _Server(ThreadingHTTPServer):
    request_queue_size = 256

    def __init__(self, host: str, seconds: float) -> None:
        super().__init__((host, 0), _Handler)
        self.seconds = seconds
        self.spans: list[tuple[float, float]] = []
        """When each call came, and when it was answered."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else a reply in two writes takes 40 ms more
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        began = time.monotonic()
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        time.sleep(self.server.seconds)
        message = {"role": "assistant", "content": "The answer is in the evidence."}
        choices = [{"index": 0, "finish_reason": "stop", "message": message}]
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        reply = {"id": "1", "object": "chat.completion", "created": 0, "model": body["model"], "choices": choices}
        content = json.dumps({**reply, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.server.spans.append((began, time.monotonic()))
        self.wfile.write(content)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ray", required=True, metavar="ADDRESS")
    parser.add_argument("--questions", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--json", type=Path)
    flags = parser.parse_args()
    report = Report({})
    server = _Server(flags.host, flags.seconds)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        Graph.from_records(*demo_records(), path=folder / "languages")
        rows = [{"id": f"q{at}", "question": f"Who designed Python? {at}"} for at in range(flags.questions)]
        asked = [{**row, "nodes": ["person:guido-van-rossum"]} for row in rows]
        (folder / "questions.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in asked), encoding="utf-8")
        for label, more in (
            ("one thread", ("--workers", "1")),
            ("8 threads", ("--workers", "8")),
            ("the cluster, 8 at once", ("--workers", "8", "--ray", flags.ray)),
            ("the cluster", ("--ray", flags.ray)),
        ):
            measure(report, server, folder, label, more)
    server.shutdown()
    report.write(flags.json) if flags.json else None


def measure(report: Report, server: _Server, folder: Path, label: str, more: Sequence[str]) -> None:
    """Run the questions once, and add what that took."""
    server.spans.clear()
    target = folder / label
    url = f"http://{server.server_address[0]!s}:{server.server_port}/v1"
    command = [sys.executable, "-m", "orienteer", "eval", "run", str(folder / "languages")]
    command += [str(folder / "questions.jsonl"), *METHOD, "--model", "scripted", "--base-url", url]
    started = time.monotonic()
    subprocess.run([*command, "-o", str(target), *more], check=True, capture_output=True)
    report.add(f"{label}: the command", time.monotonic() - started, "s")
    report.add(f"{label}: first call to last reply", max(end for _, end in server.spans) - server.spans[0][0], "s")
    report.add(f"{label}: calls", len(server.spans), "")
    lines = (target / "results.jsonl").read_text(encoding="utf-8").splitlines()
    report.add(f"{label}: lines", len({json.loads(line)["id"] for line in lines}), "")


if __name__ == "__main__":
    main()
