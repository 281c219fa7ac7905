"""Questions over the nodes of a Ray cluster beside threads here: how long 64 questions take, and how often is asked.

    python benchmarks/cluster.py --ray 127.0.0.1:6380 [--questions N] [--seconds S] [--json FILE]

The nodes run already (docs/guides/ray.md): on other machines, --host is an address of this one that they reach.
The model is the script's own: it waits, says one sentence, and counts. A question is one call. The first figure is what
the whole command takes, Python's start and the cluster's included; the second is from the first call to the last reply.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from orienteer.graph.store import Graph
from orienteer.ingest.demo import demo_records
from report import Report, command_line
from scripted import served

METHOD = ("--method", "bm25", "--answers")


class Span(NamedTuple):
    """When a call came, and when it was answered."""

    began: float
    ended: float


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--ray", required=True, metavar="ADDRESS")
    parser.add_argument("--questions", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--host", default="127.0.0.1")
    flags = parser.parse_args()
    report = Report({})
    spans: list[Span] = []

    def answer(body: object) -> str:
        began = time.monotonic()
        time.sleep(flags.seconds)
        spans.append(Span(began, time.monotonic()))
        return "The answer is in the evidence."

    with tempfile.TemporaryDirectory() as name, served(answer, flags.host) as url:
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
            spans.clear()
            measure(report, spans, folder, label, ("--base-url", url, *more))
    report.write(flags.json)


def measure(report: Report, spans: Sequence[Span], folder: Path, label: str, more: Sequence[str]) -> None:
    """Run the questions once, and add what that took."""
    target = folder / label
    command = [sys.executable, "-m", "orienteer", "eval", "run", str(folder / "languages")]
    command += [str(folder / "questions.jsonl"), *METHOD, "--model", "scripted"]
    started = time.monotonic()
    subprocess.run([*command, "-o", str(target), *more], check=True, capture_output=True)
    report.add(f"{label}: the command", time.monotonic() - started, "s")
    report.add(f"{label}: first call to last reply", max(span.ended for span in spans) - spans[0].began, "s")
    report.add(f"{label}: calls", len(spans), "")
    lines = (target / "results.jsonl").read_text(encoding="utf-8").splitlines()
    report.add(f"{label}: lines", len({json.loads(line)["id"] for line in lines}), "")


if __name__ == "__main__":
    main()
