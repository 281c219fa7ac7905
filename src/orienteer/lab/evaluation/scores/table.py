"""The rows that `eval show` prints: one for each method of each run, or for each value of a field of the questions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from orienteer.errors import BadOption, nearest
from orienteer.lab.evaluation.running.runs import Line, StoredRun
from orienteer.lab.evaluation.scores.scorer import (
    LineScorer,
    default_measures,
    gives_answers,
    is_ranked,
    judgements_of,
    lacks_judgement,
    latest,
    lead_of_runs,
    scorer,
)
from orienteer.lab.evaluation.scores.statistics import mean_interval
from orienteer.records import JsonValue, Record, Usage

NO_VALUE = "-"


class Estimate(Record):
    """A measure over the questions that it applies to."""

    mean: float
    low: float | None
    high: float | None
    """Ends of its 95 % interval. None if only the mean was published."""
    n: int | None
    """Questions that it is the mean of."""


class Row(Record):
    """The figures of one method over the questions of a run, or over those with one value of a field."""

    run: str
    """Name of the run's folder; its path if several have this name."""
    method: str
    by: dict[str, str] = {}
    """The fields that the rows are split by, and this row's values of them; `-` for questions without one."""
    n: int
    """The number of questions asked."""
    failed: int
    """The number of them that failed; they count as 0 in every measure."""
    missing: int
    """Questions of the run that this method has no line for, as in a run that was cut off."""
    unranked: int
    """Questions without gold nodes: left out of the measures of rankings."""
    outside: int
    """Hits whose node type may not answer: the official measures drop them."""
    unjudged: int
    """Judgements that are lacking, unreadable or not asked for yet: left out of the judged measures."""
    measure: str = ""
    """The leading measure."""
    why: str = ""
    """The reason why it leads, in a sentence."""
    measures: dict[str, Estimate]
    """The leading one first; without those of answers if the method gives none, and those that apply to no question."""
    milliseconds: dict[str, float]
    """The median and the 95th percentile of a question: `p50` and `p95`."""
    usage: Usage
    """Of all questions together."""
    work: dict[str, float]
    """Means for a question: calls, iterations, tool_calls, retrievals, set_joins, tokens, output_tokens,
    context_tokens."""
    tool_failures: float | None = None
    """The share of the models' tool calls that could not be read or came back as an error (GraphScout, 003, table 5).
    None without tool calls."""


def score_runs(
    runs: Sequence[StoredRun],
    *,
    measures: Sequence[str] = (),
    by_measure: str | None = None,
    by: Sequence[str] = (),
    is_together: bool = False,
    random_seed: int = 0,
) -> list[Row]:
    """Return a row for each method of each run, or of all together, in the order of the runs and of their lines.

    With `by`, a row for each method and value of that field of the questions, methods side by side; with several
    fields, for each combination of values. A question whose field is a list counts once for each value in it. Without
    `measures`, those of `default_measures`. What leads is `by_measure`, else the first of `measures`, else what the
    questions' gold calls for. Raises `BadOption` for an unknown measure, and for a field that no question
    has.
    """
    for field in by:
        require_field(runs, field)
    names = zip(names_of(runs), runs, strict=True)
    split_rows = [
        row.model_copy(update={"run": name})
        for name, some in ([(f"{len(runs)} runs", runs)] if is_together else [(n, [r]) for n, r in names])
        for row in _rows_of(some, measures, by_measure, by, random_seed)
    ]
    return sorted(split_rows, key=lambda row: [value_order(row.by[field]) for field in by])


def names_of(runs: Sequence[StoredRun]) -> list[str]:
    """Return a name for each run: its folder's, or its whole path if several folders have this name."""
    counts = Counter(run.path.name for run in runs)
    return [run.path.name if counts[run.path.name] == 1 else str(run.path) for run in runs]


def values_of(line: Line, field: str) -> tuple[str, ...]:
    """Return the values of a field of a question, or `-`; `answer_type` is that of the gold by default."""
    value: JsonValue = line.fields.get(field, line.gold.answer_type if field == "answer_type" else None)
    values = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(NO_VALUE if item is None else str(item) for item in values)) or (NO_VALUE,)


def value_order(value: str) -> tuple[bool, bool, float, str]:
    """Order values: numbers by size, then texts, then those of questions without one."""
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if math.isnan(number):  # the text "nan" too: it has no place among numbers
        return value == NO_VALUE, True, 0.0, value
    return False, False, number, value


def require_field(runs: Sequence[StoredRun], field: str) -> None:
    """Raise `BadOption` if no question has this field."""
    fields = {"answer_type", *(name for run in runs for line in run.lines for name in line.fields)}
    if field not in fields:
        near = nearest(field, fields)
        hint = f"Near: {', '.join(near)}. " if near else ""
        raise BadOption(f"No question has a field {field!r}. {hint}There are: {', '.join(sorted(fields))}.")


class _Scored(NamedTuple):
    """A line, the scorers of its run, and the number of judgements that it lacks."""

    line: Line
    scorers: Mapping[str, LineScorer]
    candidates: Sequence[str] | None
    unjudged: int


def _rows_of(
    runs: Sequence[StoredRun], measures: Sequence[str], by_measure: str | None, by: Sequence[str], random_seed: int
) -> list[Row]:
    judged = [judgements_of(run) for run in runs]
    lead = lead_of_runs(runs, chosen=by_measure or next(iter(measures), None))
    shown = measures or [name for run, own in zip(runs, judged, strict=True) for name in default_measures(run, own)]
    names = dict.fromkeys([*([by_measure] if by_measure else []), *shown])
    methods: dict[str, list[_Scored]] = {}
    for run, own in zip(runs, judged, strict=True):
        scorers, scores = {name: scorer(name, run, own) for name in names}, {score for _, _, score in own}
        for method, lines in latest(run.lines).items():
            methods.setdefault(method, []).extend(
                _Scored(one, scorers, run.manifest.candidates, sum(lacks_judgement(one, name, own) for name in scores))
                for one in lines
            )
    split_rows = []
    asked = sum(len({example.question.id for example in run.examples}) for run in runs)
    for scored in methods.values():
        has_answers = gives_answers([one.line for one in scored])
        applying = [name for name, measure in scored[0].scorers.items() if has_answers or not measure.is_of_answers]
        groups: dict[tuple[str, ...], list[_Scored]] = {}
        for one in scored:
            for values in product(*(values_of(one.line, field) for field in by)):
                groups.setdefault(values, []).append(one)
        labels = {"missing": asked - len(scored), "measure": lead.measure, "why": lead.why}
        for values, group in groups.items():
            row = _row(group, applying, random_seed)
            split_rows.append(row.model_copy(update={**labels, "by": dict(zip(by, values, strict=True))}))
    return split_rows


def _row(scored: Sequence[_Scored], measures: Sequence[str], random_seed: int) -> Row:
    lines = [one.line for one in scored]
    milliseconds = np.array([line.seconds for line in lines]) * 1000
    estimates = {}
    for name in measures:
        if values := [value for one in scored if (value := one.scorers[name].of(one.line)) is not None]:
            mean, low, high = mean_interval(values, random_seed=random_seed)
            estimates[name] = Estimate(mean=mean, low=low, high=high, n=len(values))
    return Row(
        run="",
        method=lines[0].method,
        n=len(lines),
        failed=sum(line.error is not None for line in lines),
        missing=0,
        unranked=sum(not is_ranked(line) for line in lines),
        outside=sum(
            one.candidates is not None and hit.type not in one.candidates for one in scored for hit in one.line.hits
        ),
        unjudged=sum(one.unjudged for one in scored),
        measures=estimates,
        milliseconds={name: float(np.percentile(milliseconds, rank)) for name, rank in (("p50", 50), ("p95", 95))},
        usage=sum((line.usage for line in lines), Usage()),
        work=work(lines),
        tool_failures=tool_failures(lines),
    )


def work(lines: Sequence[Line]) -> dict[str, float]:
    """Return the mean work of a question: calls of a model, turns, calls of tools that read, set joins, tokens."""
    totals = {
        "calls": sum(line.usage.calls for line in lines),
        "iterations": sum(line.work.iterations for line in lines),
        "tool_calls": sum(line.work.tool_calls for line in lines),
        "retrievals": sum(line.work.retrievals for line in lines),
        "set_joins": sum(line.work.set_joins for line in lines),
        "tokens": sum(line.usage.tokens for line in lines),
        "output_tokens": sum(line.usage.completion_tokens for line in lines),
        "context_tokens": sum(line.work.context_tokens for line in lines),
    }
    return {name: total / len(lines) for name, total in totals.items()}


def tool_failures(lines: Sequence[Line]) -> float | None:
    """Return the share of the models' tool calls that failed, unreadable ones included; None without tool calls."""
    calls = sum(line.work.tool_calls for line in lines)
    return sum(line.work.failed_calls for line in lines) / calls if calls else None
