"""The rows that `eval show` prints: one for each method of each run, or for each value of a field of the questions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np

from orienteer.errors import BadOption, nearest
from orienteer.lab.evaluation.running.runs import Line, StoredRun
from orienteer.lab.evaluation.scores.scorer import (
    Judgements,
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
    random_seed: int = 0,
) -> list[Row]:
    """Return a row for each method, in the order of the runs and of their lines.

    With `by`, a row for each method and value of that field of the questions, methods side by side; with several
    fields, for each combination of values. A question whose field is a list counts once for each value in it. Without
    `measures`, those of `default_measures`. What leads is `by_measure`, else the first of `measures`, else what the
    questions' gold calls for. Raises `BadOption` for an unknown measure, and for a field that no question
    has.
    """
    for field in by:
        require_field(runs, field)
    split_rows = [
        row.model_copy(update={"run": name})
        for name, run in zip(names_of(runs), runs, strict=True)
        for row in _rows_of(run, measures, by_measure, by, random_seed)
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


def _rows_of(
    run: StoredRun, measures: Sequence[str], by_measure: str | None, by: Sequence[str], random_seed: int
) -> list[Row]:
    judgements = judgements_of(run)
    lead = lead_of_runs([run], chosen=by_measure or next(iter(measures), None))
    names = dict.fromkeys([*([by_measure] if by_measure else []), *(measures or default_measures(run, judgements))])
    scorers = [scorer(name, run, judgements) for name in names]
    split_rows = []
    for method, lines in latest(run.lines).items():
        applying = [measure for measure in scorers if gives_answers(lines) or not measure.is_of_answers]
        absent = len({example.question.id for example in run.examples} - {line.id for line in lines})
        groups: dict[tuple[str, ...], list[Line]] = {}
        for line in lines:
            for values in product(*(values_of(line, field) for field in by)):
                groups.setdefault(values, []).append(line)
        for values, group in groups.items():
            row = _row(run, group, applying, random_seed)
            labels = {"method": method, "by": dict(zip(by, values, strict=True)), "missing": absent}
            labels |= {"measure": lead.measure, "why": lead.why}
            split_rows.append(row.model_copy(update={**labels, "unjudged": _unjudged(group, judgements)}))
    return split_rows


def _row(run: StoredRun, lines: Sequence[Line], scorers: Sequence[LineScorer], random_seed: int) -> Row:
    candidates = run.manifest.candidates
    milliseconds = np.array([line.seconds for line in lines]) * 1000
    estimates = {}
    for measure in scorers:
        if values := [value for value in map(measure.of, lines) if value is not None]:
            mean, low, high = mean_interval(values, random_seed=random_seed)
            estimates[measure.name] = Estimate(mean=mean, low=low, high=high, n=len(values))
    return Row(
        run=run.path.name,
        method=lines[0].method,
        n=len(lines),
        failed=sum(line.error is not None for line in lines),
        missing=0,
        unranked=sum(not is_ranked(line) for line in lines),
        outside=sum(candidates is not None and hit.type not in candidates for line in lines for hit in line.hits),
        unjudged=0,
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


def _unjudged(lines: Sequence[Line], judgements: Judgements) -> int:
    """Count the missing judgements among the scores that a judge was asked for."""
    scores = {score for _, _, score in judgements}
    return sum(lacks_judgement(line, score, judgements) for line in lines for score in scores)
