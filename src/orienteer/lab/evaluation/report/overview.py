"""The top of the page: the verdict and what it rests on, the table of all methods, quality against cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from orienteer.lab.evaluation.report.material import Material, MethodColumn
from orienteer.lab.evaluation.running.runs import RunManifest
from orienteer.lab.evaluation.scores.comparison import Comparison, PairedDifference, kind_of
from orienteer.lab.evaluation.scores.judge import CRITERIA, SCORES
from orienteer.lab.evaluation.scores.published import Published, published_rows
from orienteer.lab.evaluation.scores.table import Estimate
from orienteer.page import svg
from orienteer.page.numerals import NOTHING, figure

_COUNTS = {
    "n": "questions asked",
    "failed": "of them failed; they count as 0",
    "unranked": "questions without gold nodes, left out of the measures of rankings",
    "missing": "questions of the run without a result of this method",
    "outside": "hits that cannot answer by the benchmark's rule, dropped from the official measures",
    "unjudged": "verdicts that are lacking, left out of the judged measures",
}
_ALWAYS = frozenset({"n", "failed", "unranked"})
_COSTS = (
    "calls",
    "tokens",
    "output_tokens",
    "USD",
    "iterations",
    "tool_calls",
    "retrievals",
    "set_joins",
    "context_tokens",
)
_HASHED = 12  # digits of a prompt's hash
_OUTCOMES = {"helped": "helped", "did not help": "not"}


@dataclass(frozen=True, slots=True)
class Heading:
    """The title, the verdict, and what the figures depend on."""

    material: Material
    manifest: RunManifest
    """Of the first run."""
    comparison: Comparison | None
    outcome: str
    """The outcome of the verdict, as a CSS class."""
    pairs: Sequence[tuple[PairedDifference, Markup]]
    """The differences that the verdict rests on, with a picture of each."""
    conditions: Sequence[Mapping[str, str]]
    """The conditions of each run, by name; empty texts are not shown."""


class MeasureCell(NamedTuple):
    """A cell of the table: a measure of a method, None if it has none."""

    estimate: Estimate | None
    is_best: bool


class CostCell(NamedTuple):
    """A cell of the table: the cost of a question, as a number to sort by and as text."""

    value: float | None
    text: str


@dataclass(frozen=True, slots=True)
class MethodRow:
    """A method in the table, ours or one from a paper."""

    name: str
    kind: str
    colour: str | None
    """As CSS. None for a method from a paper."""
    counts: Sequence[int | None]
    estimates: Sequence[MeasureCell]
    costs: Sequence[CostCell]


@dataclass(frozen=True, slots=True)
class MethodTable:
    """The table of all methods: its columns, its rows, and the notes below it."""

    counts: Mapping[str, str]
    """The columns of numbers, with what each counts."""
    measures: Sequence[str]
    costs: Sequence[str]
    rows: Sequence[MethodRow]
    published: Sequence[Published]
    is_even: bool
    """Whether all methods were asked the same questions."""

    @property
    def names(self) -> Sequence[str]:
        """Return the names of the columns."""
        return ["method", *self.counts, *self.measures, "p50", "p95", *self.costs]


class Trade(NamedTuple):
    """Plots of quality against the cost of a question, by measure."""

    plots: Mapping[str, Sequence[Markup]]
    cost: str | None
    """The unit of cost. None if no method called a model."""
    unnamed: int
    """The most marks that had no room for a name, in the plots of one measure."""


def header(material: Material) -> Heading:
    """Return the title, the verdict, and the conditions of the figures."""
    comparison = material.comparison
    pairs = comparison.pairs if comparison else ()
    ends = [0.0, *(end for pair in pairs for end in (pair.low, pair.high))]
    bars = []
    for pair in pairs:
        colour = "var(--quiet)" if pair.low <= 0 <= pair.high else "var(--accent)"
        bar = svg.bar(pair.points, pair.low, pair.high, colour=colour, lowest=min(ends), highest=max(ends))
        bars.append((pair, bar))
    outcome = _OUTCOMES.get(comparison.outcome, "open") if comparison else "open"
    conditions = [_conditions(run.manifest) for run in material.runs]
    return Heading(material, material.runs[0].manifest, comparison, outcome, bars, conditions)


def _conditions(manifest: RunManifest) -> dict[str, str]:
    """Return the conditions of the figures of a run."""
    chosen = [f"split {manifest.split}"] if manifest.split else []
    chosen += [*manifest.where, *([f"limit {manifest.limit:,}"] if manifest.limit else [])]
    served = f"served as {manifest.served_model}" if manifest.served_model else None
    budget = (f"{limit:g} {name} a question" for name, limit in manifest.budget.items() if limit is not None)
    commit = f", commit {manifest.commit}" if manifest.commit else ""
    return {
        "graph": f"{manifest.graph}, {manifest.nodes:,} nodes, {manifest.edges:,} edges, {manifest.graph_sha256}",
        "questions": f"{manifest.count:,} of {manifest.dataset}, {manifest.questions_sha256}",
        "chosen": ", ".join(chosen),
        "k": f"{manifest.k}, random seed {manifest.random_seed}",
        "may answer": ", ".join(manifest.candidates or ()),
        "model": ", ".join(filter(None, (manifest.model, served, manifest.base_url))),
        "answers": "asked for" if manifest.answers else "not asked for",
        "budget": ", ".join(budget),
        "prompts": ", ".join(f"{name} {sha256[:_HASHED]}" for name, sha256 in manifest.prompts.items()),
        "made": f"{manifest.created} by orienteer {manifest.orienteer}, Python {manifest.python}{commit}",
        "notes": " · ".join(manifest.notes),
    }


def method_table(material: Material) -> MethodTable:
    """Return a row for each method, and for each published one of this data set."""
    columns = material.columns
    judged = {*SCORES, *(name for criteria in CRITERIA.values() for name in criteria)}  # these have a part of their own
    names = dict.fromkeys(name for column in columns for name in column.row.measures)
    measures = [name for name in names if name not in judged]
    counts = {
        name: meaning
        for name, meaning in _COUNTS.items()
        if name in _ALWAYS or any(getattr(column.row, name) for column in columns)
    }
    costs = [name for name in _COSTS if any(_cost(column, name) for column in columns)]
    best = {}
    for name in measures if material.is_even else ():
        best[name] = max(column.row.measures[name].mean for column in columns if name in column.row.measures)
    rows = []
    for column in columns:
        row = column.row
        estimates = [_measure_cell(row.measures.get(name), best.get(name)) for name in measures]
        spent = [CostCell(row.milliseconds[name], figure(row.milliseconds[name])) for name in ("p50", "p95")]
        spent += [_cost_cell(_cost(column, name), name) for name in costs]
        own_counts = [getattr(row, name) for name in counts]
        rows.append(MethodRow(column.name, kind_of(column.method), column.colour, own_counts, estimates, spent))
    published = {row.model_dump_json(): row for run in material.runs for row in published_rows(run.manifest)}
    for paper in published.values():
        estimates = [_measure_cell(paper.measures.get(name), None) for name in measures]
        unknown = [_cost_cell(None, name) for name in ("p50", "p95", *costs)]
        kind = f"published: {paper.published}"
        rows.append(MethodRow(paper.method, kind, None, [None] * len(counts), estimates, unknown))
    return MethodTable(counts, measures, costs, rows, list(published.values()), material.is_even)


def _measure_cell(estimate: Estimate | None, best: float | None) -> MeasureCell:
    return MeasureCell(estimate, estimate is not None and best is not None and estimate.mean >= best)


def _cost_cell(value: float | None, name: str) -> CostCell:
    if value is None:
        return CostCell(None, NOTHING)
    return CostCell(value, f"{value:.4f}" if name == "USD" else figure(value))


def trade(material: Material) -> Trade:
    """Plot quality against what a question costs and against how long it takes."""
    cost = _cost_shown(material.columns)
    unnamed = 0
    plots = {}
    for measure in material.measures:
        columns = [column for column in material.columns if measure in column.row.measures]
        scatters = [svg.scatter(_points(columns, measure, "ms"), "ms a question, median (log)", measure)]
        if cost is not None:
            scatters.append(svg.scatter(_points(columns, measure, cost), f"{cost} a question (log)", measure))
        unnamed = max(unnamed, *(scatter.unnamed for scatter in scatters))
        plots[measure] = [scatter.svg for scatter in scatters]
    return Trade(plots, cost, unnamed)


def _cost(column: MethodColumn, name: str) -> float | None:
    """Return the average cost of a question in some unit; None if a price is unknown."""
    row = column.row
    if name == "USD":
        return None if row.usage.usd is None else row.usage.usd / row.n
    return row.milliseconds["p50"] if name == "ms" else row.work[name]


def _cost_shown(columns: Sequence[MethodColumn]) -> str | None:
    """Return the unit of cost: money if all prices are known, else tokens, else calls; None without any cost."""
    for name in ("USD", "tokens", "calls"):
        costs = [_cost(column, name) for column in columns]
        if None not in costs and any(costs):
            return name
    return None


def _points(columns: Sequence[MethodColumn], measure: str, cost: str) -> list[svg.Point]:
    points = []
    for column in columns:
        estimate, spent = column.row.measures[measure], _cost(column, cost)
        if spent is not None:
            points.append(svg.Point(column.name, column.colour, spent, estimate.mean, estimate.low, estimate.high))
    return points
