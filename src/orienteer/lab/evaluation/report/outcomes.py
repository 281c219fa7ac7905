"""Swept options as a landscape, evidence step by step, judged answers, and what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

from markupsafe import Markup

from orienteer.lab.evaluation.report.material import Material, MethodColumn, Sweep
from orienteer.lab.evaluation.report.payload import has_steps
from orienteer.lab.evaluation.report.tools import TrajectoryCounts
from orienteer.lab.evaluation.scores.judge import CRITERIA, FULL_MARKS, read_judgements
from orienteer.page import svg
from orienteer.page.numerals import figure, share

_SWEPT_MEASURES = ("Hit@1", "Recall@20")  # ARK (paper 001), figure 2
_DEEPEST = 70  # per cent of the colour: the figures stay readable on it
_REMEDIES = {
    "effort": "What questions took by kind: no method of these runs called a model.",
    "landscape": "A landscape over swept options: eval sweep DIR QUESTIONS --method M --set NAME=V1,V2 -o RUN.",
    "evidence": "Evidence step by step: no method of these runs took two steps or more over questions with gold nodes.",
    "judged": "Judged answers: run with --answers, then eval judge RUN --model NAME.",
}


class HeatTable(NamedTuple):
    """One measure of a sweep: rows of the first option, columns of the second."""

    measure: str
    down: str
    """The name of the first option. Empty if only one was swept."""
    across: str
    columns: Sequence[str]
    rows: Mapping[str, Sequence[tuple[str, float] | None]]
    """The figure and the depth of its colour in per cent, for each column."""


class Landscape(NamedTuple):
    """The heat tables of a sweep, by the values of the third and further options."""

    method: str
    run: str
    tables: Mapping[str, Sequence[HeatTable]]


class EvidenceCurves(NamedTuple):
    """How much of the gold nodes agents had seen after each step."""

    curves: Markup
    at_once: str
    """Methods that took one step, with their share."""


class Mark(NamedTuple):
    """A mark of a judge, and a picture of its interval."""

    bar: Markup
    mean: float


class ScoreTable(NamedTuple):
    """A score of a judge and its criteria, for each method that was judged."""

    names: Sequence[str]
    """The score, then its criteria."""
    methods: Mapping[str, Sequence[Mark | None]]


class Failures(NamedTuple):
    """An error, and the questions at which a method failed with it."""

    method: str
    error: str
    questions: Sequence[tuple[str, int]]
    """Id and place in the page's list, -1 where it is not listed."""


def landscapes(material: Material) -> Sequence[Landscape] | None:
    """Return the heat tables of each sweep (ARK, paper 001, figure 2); None without a sweep."""
    return [_landscape(sweep, material.measures[:1]) for sweep in material.sweeps] or None


def _landscape(sweep: Sweep, leading: Sequence[str]) -> Landscape:
    """Return three tables for each combination of the values of the third and further options."""
    others = list(sweep.axes)[2:]
    tables = {}
    for values in product(*(sweep.axes[name] for name in others)):
        title = ", ".join(f"{name} = {value}" for name, value in zip(others, values, strict=True))
        cells = {place[:2]: column for place, column in sweep.cells.items() if place[2:] == values}
        if cells:
            measures = list(dict.fromkeys(name for column in cells.values() for name in column.row.measures))
            shown = [name for name in dict.fromkeys((*leading, *_SWEPT_MEASURES, *measures)) if name in measures][:2]
            tables[title] = [_heat(sweep, cells, measure) for measure in (*shown, "seconds")]
    return Landscape(sweep.method, sweep.run, tables)


def _heat(sweep: Sweep, cells: Mapping[tuple[str, ...], MethodColumn], measure: str) -> HeatTable:
    down, across = ["", *sweep.axes][-2:] if len(sweep.axes) == 1 else list(sweep.axes)[:2]
    if measure == "seconds":
        values = {place: column.row.usage.seconds / column.row.n for place, column in cells.items()}
    else:
        estimates = {place: column.row.measures.get(measure) for place, column in cells.items()}
        values = {place: estimate.mean for place, estimate in estimates.items() if estimate is not None}
    low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)

    def cell(place: tuple[str, ...]) -> tuple[str, float] | None:
        value = values.get(place)
        if value is None:
            return None
        depth = _DEEPEST * (value - low) / (high - low) if high > low else _DEEPEST / 2
        return f"{figure(value)} s" if measure == "seconds" else share(value), depth

    columns = sweep.axes[across]
    rows = {
        first: [cell((first, second) if down else (second,)) for second in columns]
        for first in (sweep.axes[down] if down else ("",))
    }
    return HeatTable(measure, down, across, columns, rows)


def evidence(material: Material, counts: TrajectoryCounts) -> EvidenceCurves | None:
    """Return how much of the gold nodes agents had seen after each step; None without steps."""
    # A single call for the answer is a step that observes nothing: methods that only rank have no curve.
    curves = {column.name: curve for column in material.chosen if any(curve := counts.curve(column))}
    longer = {name: curve for name, curve in curves.items() if len(curve) > 1}
    if not longer:
        return None
    colours = {column.name: column.colour for column in material.columns}
    at_once = ", ".join(f"{name} {share(curve[0])}" for name, curve in curves.items() if len(curve) == 1)
    return EvidenceCurves(svg.curves(longer, colours, "step", "evidence recall"), at_once)


def judged(material: Material) -> tuple[Sequence[ScoreTable], Sequence[tuple[str, str]]] | None:
    """Return the scores of judges with each criterion, and the judges; None if nothing was judged."""
    measures = {name for column in material.columns for name in column.row.measures}
    scores = [score for score in CRITERIA if score in measures]
    if not scores:
        return None
    judges = {(judgement.score, judgement.model) for run in material.runs for judgement in read_judgements(run.path)}
    return [_score_table(material, (score, *CRITERIA[score])) for score in scores], sorted(judges)


def _score_table(material: Material, names: Sequence[str]) -> ScoreTable:
    methods = {
        column.name: [_mark(column, name) for name in names]
        for column in material.columns
        if any(name in column.row.measures for name in names)
    }
    return ScoreTable(names, methods)


def _mark(column: MethodColumn, name: str) -> Mark | None:
    estimate = column.row.measures.get(name)
    if estimate is None:
        return None
    highest = 1.0 if name == "QwenScore" else FULL_MARKS
    bar = svg.bar(estimate.mean, estimate.low, estimate.high, colour=column.colour, lowest=0.0, highest=highest)
    return Mark(bar, estimate.mean)


def failures(material: Material) -> Sequence[Failures]:
    """Return every error with its method and questions, the most frequent first."""
    places = {question: place for place, question in enumerate(material.questions)}
    questions: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for column in material.columns:
        for question, line in column.lines.items():
            if line.error is not None:
                place = places.get((column.run.manifest.questions_sha256, question), -1)
                questions.setdefault((column.name, line.error), []).append((question, place))
    every_error = [Failures(method, error, failed) for (method, error), failed in questions.items()]
    return sorted(every_error, key=lambda failures: -len(failures.questions))


def absent(material: Material, parts: Mapping[str, object]) -> Sequence[str]:
    """Return the parts that these runs have no figures for, and how to get them."""
    lacking = [remedy for name, remedy in _REMEDIES.items() if parts[name] is None]
    if material.graph is None:
        lacking.append(
            "Lengths of descriptions and types of all gold nodes: name the graph with eval report --graph DIR."
        )
    if not any(has_steps(line) for column in material.columns for line in column.lines.values()):
        lacking.append("Trajectories and tool use: no method of these runs has steps.")
    return lacking
