"""What one hop adds on knowledge graphs, without a model; and SPARK end to end, its model a script behind HTTP.

    python benchmarks/expansion.py --data FOLDER [--graphs FOLDER] [--work FOLDER] [--markdown FILE]

Over a part of PrimeKG with STaRK's questions and over Hetionet with GRBench's, both embedded. Rankings are of 100
nodes; every figure comes out of `orienteer eval run`, a run that is there goes on. The plans are written by
`planner.py`: they measure the course and no model.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import planner
from orienteer.lab.evaluation.running.runs import StoredRun, read_run
from orienteer.lab.evaluation.scores.comparison import PairedDifference, compare
from orienteer.lab.evaluation.scores.table import Row, score_runs
from orienteer.records import Trajectory
from report import markdown, orienteer, page_options, write_page
from scripted import served

MEASURES = (*(f"Recall@{k}" for k in (1, 2, 5, 10, 20, 50, 100)), "Hit@1", "Hit@5", "MRR")
TABLES: tuple[dict[str, str | None], ...] = (
    {
        "bm25": None,
        "dense": None,
        "hybrid": None,
        "sage": "hybrid",
        "sage trust=0.3": "hybrid",
        "sage pruning=hybrid": "hybrid",
    },
    {"anchor": None, "sage:anchor policy=+edge": "anchor", "sage:anchor policy=-edge": "anchor"},
)
"""Methods without a model, and whose ranking each one expands."""
PLANNED = {"spark": None, "sage:spark policy=+edge": "spark", "sage:spark policy=-edge": "spark"}
FAILED = ("plan", "constraint", "structure", "semantic", "over-retrieval", "fallback")
MODEL = "planner"


class Set(NamedTuple):
    """A graph and questions about it."""

    name: str
    graph: str
    questions: str
    where: tuple[str, ...] = ()


SETS = (
    Set("STaRK's questions over a part of PrimeKG", "primekg_ibd", "primekg_ibd/stark_questions.parquet"),
    Set(
        "GRBench, biomedical, over Hetionet",
        "hetionet",
        "grbench/grbench.jsonl.gz",
        ("domain=biomedical", "edges_complete=true"),
    ),
)


class Bench:
    """Where things are, and what every run has in common."""

    def __init__(self, data: Path, graphs: Path, work: Path, limit: int | None) -> None:
        self.data, self.graphs, self.work = data, graphs, work
        self._limit = [] if limit is None else ["--limit", str(limit)]

    def part(self, one: Set) -> Iterator[str]:
        """Run both halves over a set and give its lines of the page."""
        orienteer("embed", self.graphs / one.graph, "--embedder", "minilm", "--quiet")
        plain, said = self._run(one, [name for methods in TABLES for name in methods], f"{one.graph}-plain")
        yield f"## {one.name}"
        yield from ("```text", f"$ {said}", "```", "")
        yield counted(plain)
        for methods in TABLES:
            yield from ("", *table(plain, methods))
        with served(planner.reply) as url:
            flags = ("--model", MODEL, "--base-url", url)
            planned, said = self._run(one, list(PLANNED), f"{one.graph}-planned", *flags)
        yield from ("", "```text", f"$ {said.replace(url, 'URL')}", "```", "")
        yield from (*table(planned, PLANNED), "", *courses(planned), "")

    def _run(self, one: Set, methods: Sequence[str], name: str, *flags: str) -> tuple[StoredRun, str]:
        run = self.work / name
        asked = [part for method in methods for part in ("--method", method)]
        asked += [part for condition in one.where for part in ("--where", condition)]
        asked += ["-k", "100", *self._limit, *flags]
        orienteer("eval", "run", self.graphs / one.graph, self.data / one.questions, *asked, "-o", run, "-q")
        return read_run(run), f"orienteer eval run {one.graph} {one.questions} {shlex.join(asked)} -o RUN"


def counted(run: StoredRun) -> str:
    """Say how many questions there are."""
    [first, *_] = score_runs([run], measures=MEASURES[:1])
    return f"n = {first.n}, {first.n - first.unranked} of them with gold nodes. Means and gains in points."


def table(run: StoredRun, methods: Mapping[str, str | None]) -> list[str]:
    """Return a row for each measure: each method's mean with its interval, and its paired gain over what it expands."""
    found = {row.method: row for row in score_runs([run], measures=MEASURES)}
    rows = []
    for measure in MEASURES:
        pairs = compare([run], measure=measure).pairs
        cells = [f"{_mean(found[name], measure)}{_gain(pairs, name, over)}" for name, over in methods.items()]
        rows.append([measure, *cells])
    if not any(found[name].work["calls"] for name in methods):  # asked one by one: else they wait for one another
        rows.append(["ms p50", *(f"{found[name].milliseconds['p50']:.0f}" for name in methods)])
    return markdown(["", *(f"`{name}`" for name in methods)], rows)


def _mean(row: Row, measure: str) -> str:
    one = row.measures[measure]
    return f"{100 * one.mean:.1f} [{100 * (one.low or 0):.1f}, {100 * (one.high or 0):.1f}]"


def _gain(pairs: Sequence[PairedDifference], method: str, over: str | None) -> str:
    """Return the paired difference of two methods with its interval, whichever way round it was taken."""
    for one in pairs:
        if (one.ours, one.theirs) == (method, over):
            return _signed(one.points, one.low, one.high)
        if (one.theirs, one.ours) == (method, over):
            return _signed(0 - one.points, 0 - one.high, 0 - one.low)
    return ""


def _signed(points: float, low: float, high: float) -> str:
    return f"; {points:+.1f} [{low:+.1f}, {high:+.1f}]"


def courses(run: StoredRun) -> list[str]:
    """Return what became of the plans: calls, repairs, fallbacks, and the errors that a program can tell."""
    kept: dict[str, list[Sequence[Trajectory]]] = {}
    for _, method, trajectories in run.trajectories():
        kept.setdefault(method, []).append(trajectories)
    rows = []
    for row in sorted(score_runs([run], measures=MEASURES[:1]), key=lambda one: list(PLANNED).index(one.method)):
        asked = kept[row.method]
        marks = [{mark for one in trajectories for mark in one.marks} for trajectories in asked]
        counted = Counter(mark for some in marks for mark in some)
        repaired = sum(calls(one) > 1 for one in asked)
        sound = sum(not some & set(FAILED) for some in marks)
        failed = [counted[one] for one in FAILED]
        rows.append([row.method, row.n, f"{row.work['calls']:.2f}", repaired, counted["edges"], sound, *failed])
    return markdown(["method", "questions", "calls", "repaired", "along edges", "no error", *FAILED], rows)


def calls(trajectories: Sequence[Trajectory]) -> int:
    """Return how often the model was called for a question."""
    return sum(step.reply.usage.calls for one in trajectories for step in one.steps)


def main() -> None:
    parser = page_options(__doc__)
    parser.add_argument("--graphs", type=Path, metavar="FOLDER", help="graphs of those names that are made already")
    parser.add_argument("--limit", type=int, metavar="N", help="ask N of the questions of each set")
    parser.add_argument("--only", metavar="GRAPH", help="measure one graph")
    options = parser.parse_args()

    def parts(work: Path) -> Iterator[str]:
        bench = Bench(options.data, options.graphs or options.data, work, options.limit)
        for one in SETS:
            if options.only in (None, one.graph) and (options.data / one.questions).exists():
                yield from bench.part(one)
            else:
                print(f"{one.name}: left out", file=sys.stderr)

    write_page(options, parts)


if __name__ == "__main__":
    main()
