"""The top of the page: the verdict and what it rests on, the table of all methods, quality against cost."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

from markupsafe import Markup

from orienteer.lab.evaluation.report.material import GoldNode, Material, MethodColumn, Sweep, TrajectoryCounts
from orienteer.lab.evaluation.report.payload import has_steps
from orienteer.lab.evaluation.running.runs import Line, RunManifest
from orienteer.lab.evaluation.scores.comparison import Comparison, PairedDifference, kind_of
from orienteer.lab.evaluation.scores.judge import CRITERIA, FULL_MARKS, SCORES, read_judgements
from orienteer.lab.evaluation.scores.table import (
    Estimate,
    Published,
    Row,
    published_rows,
    score_runs,
    tool_failures,
    value_order,
    values_of,
    work,
)
from orienteer.page import svg
from orienteer.page.svg import NOTHING, figure, share

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


# Quality and work by kind of question, and by kind of gold node.


UNSEEN = "unknown: in no ranking"
_MOST_TYPES = 16
_LENGTHS = ((0, "no description"), (100, "under 100 characters"), (500, "100 to 499"), (2_000, "500 to 1,999"))
_LONG = "2,000 and more"
_MEASURE = "Recall@20"
_FEWEST = 5  # questions of a value that may be called badly found
# The common name of a script, by the first word of the names of its characters.
_SCRIPTS = {"CJK": "CJK", "HIRAGANA": "CJK", "KATAKANA": "CJK", "BOPOMOFO": "CJK"}

RowsByValue = Mapping[str, Mapping[int, Row]]
"""Rows by value, then by the number of their column."""


class Quality(NamedTuple):
    """A cell of a breakdown: how well a method does on the questions of a value."""

    bar: Markup
    mean: float
    n: int
    is_low: bool
    """Whether the whole interval lies below the method's mean over all its questions."""


class Breakdown(NamedTuple):
    """A table of values down, methods across."""

    name: str
    methods: Sequence[str]
    rows: Sequence[tuple[str, int, Sequence[Quality | None]]]
    """Value, number of questions, a cell for each method."""


class Breakdowns(NamedTuple):
    """The tables of a part of the page."""

    tables: Mapping[str, Sequence[Breakdown]]
    """By measure."""
    measure: str
    fewest: int
    unsplit: Sequence[str] = ()
    has_graph: bool = True


class Effort(NamedTuple):
    """The average work of a method on the questions of a value."""

    value: str
    method: str
    n: int
    work: Mapping[str, float]
    failed: float | None
    """The share of failed tool calls. None without tool calls."""


def fields(material: Material) -> Breakdowns:
    """Return a table for each field with few values, by measure."""
    splits = {name: _by_field(material, name) for name in material.fields}
    tables = {measure: _tables(material, splits, measure) for measure in material.measures} if splits else {}
    return Breakdowns(tables, _MEASURE, _FEWEST, unsplit=material.unsplit)


def nodes(material: Material) -> Breakdowns:
    """Return how many gold nodes are found, by their type, the length of their text, and the script of their name."""
    has_graph = material.graph is not None
    if not any(line.gold.nodes for column in material.columns for line in column.lines.values()):
        return Breakdowns({}, _MEASURE, _FEWEST, has_graph=has_graph)
    kinds: dict[str, Callable[[GoldNode], str]] = {
        "node type": lambda node: node.type,
        "script of the name": script_of_name,
    }
    if has_graph:
        kinds["description"] = length_of_text
    types = Counter(node.type for node in material.gold.values())
    common = frozenset(name for name, _ in types.most_common(_MOST_TYPES))
    splits = {name: by_node_property(material, name, kind, common) for name, kind in kinds.items()}
    return Breakdowns({_MEASURE: _tables(material, splits, _MEASURE)}, _MEASURE, _FEWEST, has_graph=has_graph)


def effort(material: Material) -> Mapping[str, Sequence[Effort]] | None:
    """Return the work over all questions and by each field (GraphScout, paper 003: figures 5 and 6, table 5).

    None if no method called a model.
    """
    columns = [column for column in material.chosen if column.row.usage.calls]
    if not columns:
        return None
    tables = {"": [_effort("", column, list(column.lines.values())) for column in columns]}
    for field, values in material.fields.items():
        lines: dict[str, dict[int, list[Line]]] = {value: {} for value in values}
        for column in columns:
            for line in column.lines.values():
                for value in values_of(line, field):
                    lines.setdefault(value, {}).setdefault(column.number, []).append(line)
        tables[field] = [
            _effort(value, column, by_column[column.number])
            for value, by_column in lines.items()
            for column in columns
            if column.number in by_column
        ]
    return tables


def _effort(value: str, column: MethodColumn, lines: Sequence[Line]) -> Effort:
    return Effort(value, column.name, len(lines), work(lines), tool_failures(lines))


def _by_field(material: Material, field: str) -> RowsByValue:
    by_value: dict[str, dict[int, Row]] = {value: {} for value in material.fields[field]}
    for run in material.runs:
        columns = [column for column in material.chosen if column.run is run]
        if not columns or not (field == "answer_type" or any(field in line.fields for line in run.lines)):
            continue
        numbers = {column.method: column.number for column in columns}
        measured = {name for column in columns for name in column.row.measures}
        measures = [name for name in material.measures if name in measured]
        last = replace(run, lines=tuple(line for column in columns for line in column.lines.values()))
        for row in score_runs([last], measures=measures, by=[field], random_seed=material.random_seed):
            by_value[row.by[field]][numbers[row.method]] = row
    return by_value


def by_node_property(
    material: Material, name: str, kind: Callable[[GoldNode], str], common: frozenset[str]
) -> RowsByValue:
    """Return rows by a property of gold nodes; each line is measured once for each value among its gold."""

    def value_of(node_id: str) -> str:
        node = material.gold.get(node_id)
        value = UNSEEN if node is None else kind(node)
        return value if name != "node type" or node is None or value in common else "other types"

    by_value: dict[str, dict[int, Row]] = {}
    for column in material.chosen:
        lines = tuple(part for line in column.lines.values() for part in _parts(line, name, value_of))
        if not lines:
            continue
        run = replace(column.run, lines=lines)
        for row in score_runs([run], measures=[_MEASURE], by=[name], random_seed=material.random_seed):
            by_value.setdefault(row.by[name], {})[column.number] = row
    lengths = [*(length for _, length in _LENGTHS), _LONG]

    def order(value: str) -> tuple[bool, int, tuple[bool, bool, float, str]]:
        return value == UNSEEN, lengths.index(value) if value in lengths else 0, value_order(value)

    return {value: by_value[value] for value in sorted(by_value, key=order)}


def _parts(line: Line, name: str, value_of: Callable[[str], str]) -> Iterator[Line]:
    """Yield the line once for each kind of its gold nodes, with only those as gold."""
    kinds: dict[str, dict[str, float]] = {}
    for node_id, relevance in line.gold.nodes.items():
        if relevance > 0:
            kinds.setdefault(value_of(node_id), {})[node_id] = relevance
    for value, nodes in kinds.items():
        gold = line.gold.model_copy(update={"nodes": nodes})
        yield line.model_copy(update={"id": f"{line.id} {value}", "gold": gold, "fields": {name: value}})


def length_of_text(node: GoldNode) -> str:
    """Return the band of lengths that a node's text is in."""
    length = len((node.text or "").strip())
    return next((name for below, name in _LENGTHS if length < below or not length), _LONG)


def script_of_name(node: GoldNode) -> str:
    """Return the script of most letters of a name."""
    letters = filter(str.isalpha, unicodedata.normalize("NFKC", node.name))
    words = (unicodedata.name(letter, "UNKNOWN").split(" ", 1)[0].split("-", 1)[0] for letter in letters)
    counts = Counter(_SCRIPTS.get(word, word.capitalize()) for word in words)
    return counts.most_common(1)[0][0] if counts else "no letters"


def _tables(material: Material, splits: Mapping[str, RowsByValue], measure: str) -> list[Breakdown]:
    """Return a table for each split, all pictures on one scale."""
    all_rows = [row for split in splits.values() for by_column in split.values() for row in by_column.values()]
    estimates = [row.measures[measure] for row in all_rows if measure in row.measures]
    highest = max([1.0, *(estimate.high or estimate.mean for estimate in estimates)])
    return [_table(material, name, split, measure, highest) for name, split in splits.items()]


def _table(material: Material, name: str, split: RowsByValue, measure: str, highest: float) -> Breakdown:
    with_measure = {
        number for by_column in split.values() for number, row in by_column.items() if measure in row.measures
    }
    columns = [column for column in material.chosen if column.number in with_measure]
    lines = []
    for value, by_column in split.items():
        if by_column:
            cells = [_quality(by_column.get(column.number), column, measure, highest) for column in columns]
            lines.append((value, max(row.n for row in by_column.values()), cells))
    return Breakdown(name, [column.name for column in columns], lines)


def _quality(row: Row | None, column: MethodColumn, measure: str, highest: float) -> Quality | None:
    if row is None or measure not in row.measures:
        return None
    estimate, whole = row.measures[measure], column.row.measures.get(measure)
    is_low = whole is not None and row.n >= _FEWEST and estimate.high is not None and estimate.high < whole.mean
    bar = svg.bar(estimate.mean, estimate.low, estimate.high, colour=column.colour, lowest=0.0, highest=highest)
    return Quality(bar, estimate.mean, estimate.n or 0, is_low)


# Swept options as a landscape, evidence step by step, judged answers, and what failed.


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
