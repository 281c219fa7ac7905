"""Evaluations as tables for people."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.evaluation.running.runner import Progress
    from orienteer.evaluation.running.runs import StoredRun
    from orienteer.evaluation.scores.comparison import Comparison, PairedDifference
    from orienteer.evaluation.scores.published import Published
    from orienteer.evaluation.scores.table import Estimate, Row
    from orienteer.records import Usage

_ALWAYS = ("n", "failed", "unranked")
_WHERE_ANY = ("missing", "outside", "unjudged")
_FAILED = 5  # failed questions of a method that are named


def table(out: Output, rows: Sequence[Row], published: Sequence[Published] = ()) -> None:
    """Print a row for each method: its measures with their intervals, how long it took, what it did.

    In a terminal that is too narrow for that, what it took stands in a table of its own.
    """
    names, found, taken = _who(rows, published), _found(rows, published), _taken(rows, published)
    whole = [[*a, *b, *c] for a, b, c in zip(names, found, taken, strict=True)]
    if not sys.stdout.isatty() or _width(whole) <= shutil.get_terminal_size().columns:
        out.table(whole[1:], header=whole[0])
        return
    for part in (found, taken):
        lines = [[*a, *b] for a, b in zip(names, part, strict=True)]
        out.table(lines[1:], header=lines[0])
        out.print()


def _who(rows: Sequence[Row], published: Sequence[Published]) -> list[list[str]]:
    """Return a header, and for each row what tells it from others."""
    several = len({row.run for row in rows}) > 1
    fields = _names(row.by for row in rows)
    lines = [[*(["run"] if several else []), "method", *fields]]
    for row in rows:
        lines.append([*([row.run] if several else []), row.method, *(row.by.get(name, "-") for name in fields)])
    for one in published:
        lines.append([*(["-"] if several else []), f"{one.method} (published)", *("-" for _ in fields)])
    return lines


def _found(rows: Sequence[Row], published: Sequence[Published]) -> list[list[str]]:
    """Return a header, and for each row how many questions it is of and how well they were answered."""
    counts = [*_ALWAYS, *(name for name in _WHERE_ANY if any(getattr(row, name) for row in rows))]
    measures = _names([*(row.measures for row in rows), *(one.measures for one in published)])
    lines = [[*counts, *measures]]
    for row in rows:
        numbers = [f"{getattr(row, name):,}" for name in counts]
        lines.append([*numbers, *(estimate(row.measures.get(name)) for name in measures)])
    for one in published:
        lines.append([*("-" for _ in counts), *(estimate(one.measures.get(name)) for name in measures)])
    return lines


def _taken(rows: Sequence[Row], published: Sequence[Published]) -> list[list[str]]:
    """Return a header, and for each row what a question took; dollars are of all together."""
    work = [name for name in _names(row.work for row in rows) if any(row.work.get(name) for row in rows)]
    costs = any(row.usage.usd for row in rows)
    fails = ["tool failures"] if any(row.tool_failures for row in rows) else []
    header = ["ms p50", "ms p95", *(name.replace("_", " ") for name in work), *fails, *(["USD"] if costs else [])]
    lines = [header]
    for row in rows:
        times = [_figure(row.milliseconds.get(name)) for name in ("p50", "p95")]
        done = [_figure(row.work.get(name, 0)) for name in work]
        failed = ["-" if row.tool_failures is None else share(row.tool_failures) for _ in fails]
        lines.append([*times, *done, *failed, *([_usd(row.usage.usd)] if costs else [])])
    return [*lines, *(["-"] * len(header) for _ in published)]


def comparison(out: Output, found: Comparison) -> None:
    """Print a verdict, then what it rests on."""
    out.print(found.verdict)
    out.print()
    out.table(
        [
            [
                one.method,
                one.kind,
                f"{share(one.mean)} [{share(one.low, 2)}, {share(one.high, 2)}]",
                _figure(one.cost.milliseconds),
                f"{one.cost.calls:.3g}",
                _usd(one.cost.usd),
            ]
            for one in found.standings
        ],
        header=("method", "kind", found.measure, "ms", "calls", "USD"),
    )
    for rows in (found.pairs, found.groups):
        if rows:
            out.print()
            _differences(out, rows)


def estimate(found: Estimate | None) -> str:
    """Write a mean and its interval: `.482 [.44, .52]`."""
    if found is None:
        return "-"
    if found.low is None or found.high is None:
        return share(found.mean)
    return f"{share(found.mean)} [{share(found.low, 2)}, {share(found.high, 2)}]"


def share(value: float, digits: int = 3) -> str:
    """Write a share of 1 as tables do, without its leading zero; what is larger, in as many figures."""
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("0.") else f"{value:.{digits - 1}f}"


def progress(found: Progress) -> str:
    """Say in a line how far a run has come, and what it has cost so far."""
    parts = [f"{found.failed:,} failed", *spent(found.usage)]
    if found.asked and found.seconds:
        parts.append(f"{found.asked / found.seconds:.3g} questions/s")
    return ", ".join(parts)


def spent(usage: Usage) -> list[str]:
    """Return what calls of a model came to, in parts; nothing where there were none."""
    if not usage.calls:
        return []
    usd = [f"{usage.usd:.4f} USD"] if usage.usd is not None else []
    return [f"{usage.calls:,} calls", f"{usage.tokens:,} tokens", *usd]


def failures(runs: Iterable[StoredRun]) -> Iterator[str]:
    """Name the questions that failed, by run and method: the first ones, with the reason of the first."""
    from orienteer.evaluation.scores.scorer import latest

    for run in runs:
        for method, lines in latest(run.lines).items():
            failed = [line for line in lines if line.error is not None]
            if failed:
                ids = ", ".join(repr(line.id) for line in failed[:_FAILED])
                more = f" and {len(failed) - _FAILED:,} more (results.jsonl has all)" if len(failed) > _FAILED else ""
                yield f"{run.path.name}: failed under {method}: {ids}{more}; the first with: {failed[0].error}"


def _differences(out: Output, rows: Sequence[PairedDifference]) -> None:
    fields = list(dict.fromkeys(name for row in rows for name in row.by))
    out.table(
        [
            [
                *(row.by.get(name, "-") for name in fields),
                row.ours,
                row.theirs,
                f"{row.n:,}",
                f"{row.points:+.1f} [{row.low:+.1f}, {row.high:+.1f}]",
                f"{row.p:.3f}" if row.p >= 0.001 else "<.001",
                f"{row.better:,}",
                f"{row.worse:,}",
            ]
            for row in rows
        ],
        header=(*fields, "ours", "theirs", "n", "points", "p", "better", "worse"),
    )


def _names(each: Iterable[Mapping[str, object]]) -> list[str]:
    """Return all keys in the order of their first coming."""
    return list(dict.fromkeys(name for one in each for name in one))


def _width(lines: Sequence[Sequence[str]]) -> int:
    return sum(max(map(len, column)) + 2 for column in zip(*lines, strict=True))


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _usd(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
