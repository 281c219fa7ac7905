"""Evaluations for people: tables of their figures, and how far a run has come."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from orienteer.display import counted
from orienteer.page.numerals import figure, share
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.lab.evaluation.running.runner import Progress
    from orienteer.lab.evaluation.running.runs import StoredRun
    from orienteer.lab.evaluation.scores.comparison import Comparison, PairedDifference
    from orienteer.lab.evaluation.scores.judge import Judgement
    from orienteer.lab.evaluation.scores.published import Published
    from orienteer.lab.evaluation.scores.table import Estimate, Row
    from orienteer.records import Usage

_ALWAYS = ("n", "failed", "unranked")
_WHERE_ANY = ("missing", "outside", "unjudged")
_MOST_FAILURES = 5  # failed questions of a method that are named
_TICK = 0.1  # seconds between two updates of a line that moves
_LINE = 30.0  # seconds between two lines where none moves


class Ticker:
    """Shows how far a run has come: a line that moves on a terminal, elsewhere a line now and then."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._moves = sys.stderr.isatty()
        self._next = 0.0

    def __call__(self, progress: Progress) -> None:
        """Show this, unless something was shown just now."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (_TICK if self._moves else _LINE)
        if not progress.asked:
            if progress.done:
                self._out.note(f"continuing: {progress.done:,} of {progress.total:,} results exist already")
            return
        line = f"{progress.done:,} of {progress.total:,}: {progress_line(progress)}"
        if self._moves:
            self._out.progress(line[: shutil.get_terminal_size().columns - 12], progress.done)
        else:
            self._out.note(line)


class JudgementCounter:
    """Shows verdicts as they come, and what they cost."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self.verdicts = self.unread = 0
        from orienteer.records import Usage  # most commands need no records

        self.usage = Usage()

    def __call__(self, judgement: Judgement) -> None:
        """Count one more, and show it."""
        self.verdicts += 1
        self.unread += judgement.error is not None
        self.usage += judgement.usage
        self._out.progress("verdicts", self.verdicts)

    def end(self) -> None:
        """Say how many there are, and what they cost together."""
        unread = [f"{self.unread:,} of them unreadable"] if self.unread else []
        self._out.note(", ".join([counted(self.verdicts, "new verdict"), *unread, *_costs(self.usage)]))


def progress_line(progress: Progress) -> str:
    """Say in a line how far a run has come, and what it has cost so far."""
    parts = [f"{progress.failed:,} failed", *_costs(progress.usage)]
    if progress.asked and progress.seconds:
        parts.append(f"{progress.asked / progress.seconds:.3g} questions/s")
    return ", ".join(parts)


def _costs(usage: Usage) -> list[str]:
    """Return what calls of a model came to, in parts; nothing where there were none."""
    if not usage.calls:
        return []
    usd = [f"{usage.usd:.4f} USD"] if usage.usd is not None else []
    return [f"{usage.calls:,} calls", f"{usage.tokens:,} tokens", *usd]


def failures(runs: Iterable[StoredRun]) -> Iterator[str]:
    """Name the questions that failed, by run and method: the first ones, with the reason of the first."""
    from orienteer.lab.evaluation.scores.scorer import latest

    for run in runs:
        for method, lines in latest(run.lines).items():
            failed = [line for line in lines if line.error is not None]
            if failed:
                ids = ", ".join(repr(line.id) for line in failed[:_MOST_FAILURES])
                rest = len(failed) - _MOST_FAILURES
                more = f" and {rest:,} more (results.jsonl has all)" if rest > 0 else ""
                yield f"{run.path.name}: failed under {method}: {ids}{more}; the first with: {failed[0].error}"


def reasons(rows: Iterable[Row]) -> list[str]:
    """Say which measure leads and why, run by run where the runs differ in that."""
    by_run = {row.run: row.why for row in rows}
    if len(set(by_run.values())) == 1:
        return list(by_run.values())[:1]
    return [f"{run}: {why}" for run, why in by_run.items()]


def print_table(out: Output, rows: Sequence[Row], published: Sequence[Published] = ()) -> None:
    """Print a row for each method: its measures with their intervals, its times, the work it did.

    In a terminal that is too narrow for that, times and work stand in a table of their own.
    """
    labels, measures, costs = _labels(rows, published), _measures(rows, published), _work(rows, published)
    lines = [[*label, *measured, *cost] for label, measured, cost in zip(labels, measures, costs, strict=True)]
    width = sum(max(map(len, column)) + 2 for column in zip(*lines, strict=True))
    if not sys.stdout.isatty() or width <= shutil.get_terminal_size().columns:
        out.table(lines[1:], header=lines[0])
        return
    for part in (measures, costs):
        lines = [[*label, *cells] for label, cells in zip(labels, part, strict=True)]
        out.table(lines[1:], header=lines[0])
        out.print()


def _labels(rows: Sequence[Row], published: Sequence[Published]) -> list[list[str]]:
    """Return a header, and the cells by which each row is told from others: its run, its method, its group."""
    several = len({row.run for row in rows}) > 1
    fields = _keys(row.by for row in rows)
    lines = [[*(["run"] if several else []), "method", *fields]]
    for row in rows:
        lines.append([*([row.run] if several else []), row.method, *(row.by.get(name, "-") for name in fields)])
    for paper in published:
        lines.append([*(["-"] if several else []), f"{paper.method} (published)", *("-" for _ in fields)])
    return lines


def _measures(rows: Sequence[Row], published: Sequence[Published]) -> list[list[str]]:
    """Return a header, and for each row how many questions were asked and how well they were answered."""
    counts = [*_ALWAYS, *(name for name in _WHERE_ANY if any(getattr(row, name) for row in rows))]
    measures = _keys([*(row.measures for row in rows), *(paper.measures for paper in published)])
    lines = [[*counts, *measures]]
    for row in rows:
        numbers = [f"{getattr(row, name):,}" for name in counts]
        lines.append([*numbers, *(_interval(row.measures.get(name)) for name in measures)])
    for paper in published:
        lines.append([*("-" for _ in counts), *(_interval(paper.measures.get(name)) for name in measures)])
    return lines


def _work(rows: Sequence[Row], published: Sequence[Published]) -> list[list[str]]:
    """Return a header, and for each row the time and work of a question; dollars are of all questions together."""
    work = [name for name in _keys(row.work for row in rows) if any(row.work.get(name) for row in rows)]
    usd = ["USD"] if any(row.usage.usd for row in rows) else []
    fails = ["tool failures"] if any(row.tool_failures for row in rows) else []
    header = ["ms p50", "ms p95", *(name.replace("_", " ") for name in work), *fails, *usd]
    lines = [header]
    for row in rows:
        times = [_figure(row.milliseconds.get(name)) for name in ("p50", "p95")]
        numbers = [_figure(row.work.get(name, 0)) for name in work]
        shares = ["-" if row.tool_failures is None else share(row.tool_failures) for _ in fails]
        lines.append([*times, *numbers, *shares, *(_usd(row.usage.usd) for _ in usd)])
    return [*lines, *(["-"] * len(header) for _ in published)]


def _keys(mappings: Iterable[Mapping[str, object]]) -> list[str]:
    """Return the keys of all mappings, each once, in the order in which they first come."""
    return list(dict.fromkeys(key for mapping in mappings for key in mapping))


def print_comparison(out: Output, comparison: Comparison) -> None:
    """Print a verdict and what it is by, then what it rests on."""
    out.print(comparison.verdict)
    out.print(comparison.why)
    out.print()
    beside = _keys(standing.beside for standing in comparison.standings)
    out.table(
        [
            [
                standing.method,
                standing.kind,
                f"{share(standing.mean)} [{share(standing.low, 2)}, {share(standing.high, 2)}]",
                *(_interval(standing.beside.get(name)) for name in beside),
                _figure(standing.cost.milliseconds),
                f"{standing.cost.calls:.3g}",
                _usd(standing.cost.usd),
            ]
            for standing in comparison.standings
        ],
        header=("method", "kind", comparison.measure, *beside, "ms", "calls", "USD"),
    )
    for differences in (comparison.pairs, comparison.groups):
        if differences:
            out.print()
            _print_differences(out, differences)


def _print_differences(out: Output, differences: Sequence[PairedDifference]) -> None:
    fields = _keys(difference.by for difference in differences)
    out.table(
        [
            [
                *(difference.by.get(name, "-") for name in fields),
                difference.ours,
                difference.theirs,
                f"{difference.n:,}",
                f"{difference.points:+.1f} [{difference.low:+.1f}, {difference.high:+.1f}]",
                f"{difference.p:.3f}" if difference.p >= 0.001 else "<.001",
                f"{difference.better:,}",
                f"{difference.worse:,}",
            ]
            for difference in differences
        ],
        header=(*fields, "ours", "theirs", "n", "points", "p", "better", "worse"),
    )


def _interval(estimate: Estimate | None) -> str:
    """Write a mean and its interval: `.482 [.44, .52]`."""
    if estimate is None:
        return "-"
    if estimate.low is None or estimate.high is None:
        return share(estimate.mean)
    return f"{share(estimate.mean)} [{share(estimate.low, 2)}, {share(estimate.high, 2)}]"


def _figure(value: float | None) -> str:
    return "-" if value is None else figure(value)


def _usd(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
