"""A report as one self-contained HTML page: the verdict and what it rests on, tables and plots, every question."""

from __future__ import annotations

import tempfile
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

from orienteer.display import counted
from orienteer.files import replacing
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.report.material import GoldNode, Material, MethodColumn, Sweep, TrajectoryCounts, tool_use
from orienteer.lab.evaluation.report.payload import HITS, TrajectoryPacker, has_steps, packed, question_texts
from orienteer.lab.evaluation.running.runs import Line, RunManifest, StoredRun
from orienteer.lab.evaluation.scores.comparison import kind_of
from orienteer.lab.evaluation.scores.judge import CRITERIA, FULL_MARKS, SCORES, read_judgements
from orienteer.lab.evaluation.scores.published import published_rows
from orienteer.lab.evaluation.scores.table import (
    Estimate,
    Row,
    score_runs,
    tool_failures,
    value_order,
    values_of,
    work,
)
from orienteer.page import svg
from orienteer.page.svg import NOTHING, figure, pieces, share

# A part of the page, or of one of its tables, as its template takes it.
Part: TypeAlias = dict[str, Any]  # Any: what a template shows
# Rows by value, then by the number of their column.
RowsByValue: TypeAlias = Mapping[str, Mapping[int, Row]]

_NAMES = {
    "table": "Methods",
    "trade": "Latency and cost",
    "fields": "Kinds of question",
    "nodes": "Kinds of gold node",
    "tools": "Tools",
    "effort": "What it took",
    "landscape": "Landscape",
    "evidence": "Evidence",
    "judged": "Judged answers",
    "failures": "Failures",
    "questions": "Every question",
}
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
    *("calls", "tokens", "output_tokens", "USD", "iterations", "tool_calls", "retrievals", "set_joins"),
    "context_tokens",
)
_HASHED = 12  # digits of a prompt's hash
UNSEEN = "unknown: in no ranking"
_MOST_TYPES = 16
_LENGTHS = {"no description": 0, "under 100 characters": 100, "100 to 499": 500, "500 to 1,999": 2_000}
_LONG = "2,000 and more"
_MEASURE = "Recall@20"
_FEWEST = 5  # questions of a value that may be called badly found
# The common name of a script, by the first word of the names of its characters.
_SCRIPTS = {"CJK": "CJK", "HIRAGANA": "CJK", "KATAKANA": "CJK", "BOPOMOFO": "CJK"}
_SWEPT_MEASURES = ("Hit@1", "Recall@20")  # ARK (paper 001), figure 2
_DEEPEST = 70  # per cent of the colour: the figures stay readable on it
_REMEDIES = {
    "effort": "What questions took by kind: no method of these runs called a model.",
    "landscape": "A landscape over swept options: eval sweep DIR QUESTIONS --method M --set NAME=V1,V2 -o RUN.",
    "evidence": "Evidence step by step: no method of these runs took two steps or more over questions with gold nodes.",
    "judged": "Judged answers: run with --answers, then eval judge RUN --model NAME.",
}


def write_report(
    runs: Sequence[StoredRun],
    path: Path,
    *,
    graph: Graph | None = None,
    measure: str | None = None,
    random_seed: int = 0,
) -> None:
    """Write a report on runs as one HTML page, which loads nothing and needs no network.

    The graph gives the types and texts of gold nodes; without one, the runs' graph is looked for by its name, here and
    next to the runs. Verdict, table and plots go by `measure`, else by what the questions' gold calls for. Runs that
    cannot be compared are shown side by side without a verdict. Trajectories are read one result at a time.

    Raises `BadOption` without runs, for an unknown measure and for another graph than that of the runs, and `BadInput`
    for broken files of a run.
    """
    material = Material(runs, graph=graph, measure=measure, random_seed=random_seed)
    first = material.runs[0].manifest
    with replacing(path, errors="replace") as page, tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        trajectories = TrajectoryPacker(material, file)  # the last part of the page, but read first
        counts = TrajectoryCounts()
        for run in material.runs:
            counts.read(run, material.columns, trajectories.add)
        # None is a part that these runs have no figures for.
        parts: Part = {
            "header": _header(material),
            "table": _method_table(material),
            "trade": _trade(material) if material.measures else None,
            "fields": _fields(material) if material.measures else None,
            "nodes": _nodes(material),
            "tools": tool_use(material, counts),
            "effort": _efforts(material),
            "landscape": [_landscape(sweep, material.measures[:1]) for sweep in material.sweeps] or None,
            "evidence": _evidence(material, counts),
            "judged": _judged(material),
            "failures": _failures(material),
        }
        parts["absent"] = _absent(material, parts)
        page.writelines(
            pieces(
                __package__ or __name__,
                "page.html",
                style="page.css",
                script="page.js",
                title=f"{first.dataset} on {first.graph}: {counted(len(material.columns), 'method')}",
                parts=parts,
                contents={name: text for name, text in _NAMES.items() if parts.get(name, True) is not None},
                measures=material.measures,
                swept=len(material.columns) - len(material.chosen),
                hits=HITS,
                shortened=trajectories.shortened,
                questions=packed(question_texts(material)),
                trajectories=trajectories.elements(),
            )
        )


# The verdict and what it rests on, the table of all methods, quality against cost.


def _header(material: Material) -> Part:
    """Return the title, the verdict, and the conditions of the figures."""
    comparison = material.comparison
    pairs = comparison.pairs if comparison else ()
    ends = [0.0, *(end for pair in pairs for end in (pair.low, pair.high))]
    bars = []
    for pair in pairs:
        colour = "var(--quiet)" if pair.low <= 0 <= pair.high else "var(--accent)"
        bar = svg.bar(pair.points, pair.low, pair.high, colour=colour, lowest=min(ends), highest=max(ends))
        bars.append((pair, bar))
    outcomes = {"helped": "helped", "did not help": "not"}  # as CSS classes
    return {
        "material": material,
        "manifest": material.runs[0].manifest,
        "comparison": comparison,
        "outcome": outcomes.get(comparison.outcome, "open") if comparison else "open",
        "pairs": bars,
        "conditions": [_conditions(run.manifest) for run in material.runs],
    }


def _conditions(manifest: RunManifest) -> dict[str, str]:
    """Return the conditions of the figures of a run; empty texts are not shown."""
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


def _method_table(material: Material) -> Part:
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
    # Nothing is the best where the methods were asked different questions.
    best = {name: 0.0 for name in measures if material.is_even}
    for column in columns:
        best |= {name: max(best[name], column.row.measures[name].mean) for name in best if name in column.row.measures}

    def estimates(own: Mapping[str, Estimate], best: Mapping[str, float]) -> list[tuple[Estimate | None, bool]]:
        cells = [own.get(name) for name in measures]
        return [
            (cell, cell is not None and name in best and cell.mean >= best[name])
            for name, cell in zip(measures, cells, strict=True)
        ]

    rows: list[Part] = []
    for column in columns:
        row = column.row
        spent = [(row.milliseconds[name], figure(row.milliseconds[name])) for name in ("p50", "p95")]
        rows.append({
            "name": column.name,
            "kind": kind_of(column.method),
            "colour": column.colour,
            "counts": [getattr(row, name) for name in counts],
            "estimates": estimates(row.measures, best),
            "costs": [*spent, *(_cost_cell(_cost(column, name), name) for name in costs)],
        })  # fmt: skip
    published = {row.model_dump_json(): row for run in material.runs for row in published_rows(run.manifest)}
    for paper in published.values():
        rows.append({
            "name": paper.method,
            "kind": f"published: {paper.published}",
            "colour": None,
            "counts": [None] * len(counts),
            "estimates": estimates(paper.measures, {}),
            "costs": [_cost_cell(None, name) for name in ("p50", "p95", *costs)],
        })  # fmt: skip
    return {
        "counts": counts,
        "measures": measures,
        "costs": costs,
        "names": ["method", *counts, *measures, "p50", "p95", *costs],
        "rows": rows,
        "published": list(published.values()),
        "is_even": material.is_even,
    }


def _cost_cell(value: float | None, name: str) -> tuple[float | None, str]:
    """Return a cost as a number to sort by and as text."""
    return value, NOTHING if value is None else f"{value:.4f}" if name == "USD" else figure(value)


def _trade(material: Material) -> Part:
    """Plot quality against what a question costs and against how long it takes."""
    columns = material.columns
    # Money if all prices are known, else tokens, else calls; None if no method called a model.
    cost = None
    for name in ("USD", "tokens", "calls"):
        costs = [_cost(column, name) for column in columns]
        if None not in costs and any(costs):
            cost = name
            break

    def plot(measure: str, unit: str, label: str) -> svg.Scatter:
        points = []
        for column in columns:
            estimate, spent = column.row.measures.get(measure), _cost(column, unit)
            if estimate is not None and spent is not None:
                points.append(svg.Point(column.name, column.colour, spent, estimate.mean, estimate.low, estimate.high))
        return svg.scatter(points, label, measure)

    plots = {}
    for measure in material.measures:
        plots[measure] = [plot(measure, "ms", "ms a question, median (log)")]
        if cost is not None:
            plots[measure].append(plot(measure, cost, f"{cost} a question (log)"))
    return {
        "plots": {measure: [scatter.svg for scatter in scatters] for measure, scatters in plots.items()},
        "cost": cost,
        "unnamed": max(scatter.unnamed for scatters in plots.values() for scatter in scatters),
    }


def _cost(column: MethodColumn, name: str) -> float | None:
    """Return the average cost of a question in some unit; None if a price is unknown."""
    row = column.row
    if name == "USD":
        return None if row.usage.usd is None else row.usage.usd / row.n
    return row.milliseconds["p50"] if name == "ms" else row.work[name]


# Quality and work by kind of question, and by kind of gold node.


def _fields(material: Material) -> Part:
    """Return a table for each field with few values, by measure."""
    splits = {name: _by_field(material, name) for name in material.fields}
    tables = {measure: _tables(material, splits, measure) for measure in material.measures} if splits else {}
    return {"tables": tables, "unsplit": material.unsplit}


def _nodes(material: Material) -> Part:
    """Return the share of gold nodes found by type, by length of text, and by script of the name."""
    has_graph = material.graph is not None
    part: Part = {"tables": [], "measure": _MEASURE, "fewest": _FEWEST, "has_graph": has_graph}
    if not any(line.gold.nodes for column in material.columns for line in column.lines.values()):
        return part
    kinds: dict[str, Callable[[GoldNode], str]] = {
        "node type": lambda node: node.type,
        "script of the name": script_of_name,
    }
    if has_graph:
        kinds["description"] = length_of_text
    types = Counter(node.type for node in material.gold.values())
    common = frozenset(name for name, _ in types.most_common(_MOST_TYPES))
    splits = {name: by_node_property(material, name, kind, common) for name, kind in kinds.items()}
    return {**part, "tables": _tables(material, splits, _MEASURE)}


def _efforts(material: Material) -> Mapping[str, Sequence[Part]] | None:
    """Return the work over all questions and by each field; None if no method called a model."""
    # Figures 5 and 6 and table 5 of GraphScout (paper 003).
    columns = [column for column in material.chosen if column.row.usage.calls]

    def effort(value: str, column: MethodColumn, lines: Sequence[Line]) -> Part:
        facts = {"work": work(lines), "failed": tool_failures(lines)}
        return {"value": value, "method": column.name, "n": len(lines), **facts}

    tables = {"": [effort("", column, list(column.lines.values())) for column in columns]}
    for field, values in material.fields.items():
        lines: dict[str, dict[int, list[Line]]] = {value: {} for value in values}
        for column in columns:
            for line in column.lines.values():
                for value in values_of(line, field):
                    lines.setdefault(value, {}).setdefault(column.number, []).append(line)
        tables[field] = [
            effort(value, column, by_column[column.number])
            for value, by_column in lines.items()
            for column in columns
            if column.number in by_column
        ]
    return tables if columns else None


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

    def parts(line: Line) -> Iterator[Line]:
        """Yield the line once for each kind of its gold nodes, with only those as gold."""
        kinds: dict[str, dict[str, float]] = {}
        for node_id, relevance in line.gold.nodes.items():
            if relevance > 0:
                kinds.setdefault(value_of(node_id), {})[node_id] = relevance
        for value, nodes in kinds.items():
            gold = line.gold.model_copy(update={"nodes": nodes})
            yield line.model_copy(update={"id": f"{line.id} {value}", "gold": gold, "fields": {name: value}})

    by_value: dict[str, dict[int, Row]] = {}
    for column in material.chosen:
        lines = tuple(part for line in column.lines.values() for part in parts(line))
        if not lines:
            continue
        run = replace(column.run, lines=lines)
        for row in score_runs([run], measures=[_MEASURE], by=[name], random_seed=material.random_seed):
            by_value.setdefault(row.by[name], {})[column.number] = row
    lengths = [*_LENGTHS, _LONG]

    def order(value: str) -> tuple[bool, int, tuple[bool, bool, float, str]]:
        return value == UNSEEN, lengths.index(value) if value in lengths else 0, value_order(value)

    return {value: by_value[value] for value in sorted(by_value, key=order)}


def length_of_text(node: GoldNode) -> str:
    """Return the band of lengths that a node's text is in."""
    length = len((node.text or "").strip())
    return next((name for name, below in _LENGTHS.items() if length < below or not length), _LONG)


def script_of_name(node: GoldNode) -> str:
    """Return the script of most letters of a name."""
    letters = filter(str.isalpha, unicodedata.normalize("NFKC", node.name))
    words = (unicodedata.name(letter, "UNKNOWN").split(" ", 1)[0].split("-", 1)[0] for letter in letters)
    counts = Counter(_SCRIPTS.get(word, word.capitalize()) for word in words)
    return counts.most_common(1)[0][0] if counts else "no letters"


def _tables(material: Material, splits: Mapping[str, RowsByValue], measure: str) -> list[Part]:
    """Return a table for each split, values down and methods across, all pictures on one scale."""
    all_rows = [row for split in splits.values() for by_column in split.values() for row in by_column.values()]
    estimates = [row.measures[measure] for row in all_rows if measure in row.measures]
    highest = max([1.0, *(estimate.high or estimate.mean for estimate in estimates)])

    def quality(row: Row | None, column: MethodColumn) -> Part | None:
        if row is None or measure not in row.measures:
            return None
        estimate, whole = row.measures[measure], column.row.measures.get(measure)
        # The whole interval lies below the method's mean over all its questions.
        is_low = whole is not None and row.n >= _FEWEST and estimate.high is not None and estimate.high < whole.mean
        bar = svg.bar(estimate.mean, estimate.low, estimate.high, colour=column.colour, lowest=0.0, highest=highest)
        return {"bar": bar, "mean": estimate.mean, "n": estimate.n or 0, "is_low": is_low}

    tables = []
    for name, split in splits.items():
        measured = {number for rows in split.values() for number, row in rows.items() if measure in row.measures}
        columns = [column for column in material.chosen if column.number in measured]
        lines = [
            (
                value,
                max(row.n for row in rows.values()),
                [quality(rows.get(column.number), column) for column in columns],
            )
            for value, rows in split.items()
            if rows
        ]
        tables.append({"name": name, "methods": [column.name for column in columns], "rows": lines})
    return tables


# Swept options as a landscape, evidence step by step, judged answers, and what failed.


def _landscape(sweep: Sweep, leading: Sequence[str]) -> Part:
    """Return three heat tables for each combination of the values of the third and further options."""
    # Figure 2 of ARK (paper 001).
    others = list(sweep.axes)[2:]
    tables = {}
    for values in product(*(sweep.axes[name] for name in others)):
        title = ", ".join(f"{name} = {value}" for name, value in zip(others, values, strict=True))
        cells = {place[:2]: column for place, column in sweep.cells.items() if place[2:] == values}
        if cells:
            measures = list(dict.fromkeys(name for column in cells.values() for name in column.row.measures))
            shown = [name for name in dict.fromkeys((*leading, *_SWEPT_MEASURES, *measures)) if name in measures][:2]
            tables[title] = [_heat(sweep, cells, measure) for measure in (*shown, "seconds")]
    return {"method": sweep.method, "run": sweep.run, "tables": tables}


def _heat(sweep: Sweep, cells: Mapping[tuple[str, ...], MethodColumn], measure: str) -> Part:
    """Return one measure of a sweep: rows of the first option, if several were swept, and columns of the second."""
    down, across = ["", *sweep.axes][-2:] if len(sweep.axes) == 1 else list(sweep.axes)[:2]
    if measure == "seconds":
        values = {place: column.row.usage.seconds / column.row.n for place, column in cells.items()}
    else:
        estimates = {place: column.row.measures.get(measure) for place, column in cells.items()}
        values = {place: estimate.mean for place, estimate in estimates.items() if estimate is not None}
    low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)

    def cell(place: tuple[str, ...]) -> tuple[str, float] | None:
        """Return the figure and the depth of its colour in per cent."""
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
    return {"measure": measure, "down": down, "across": across, "columns": columns, "rows": rows}


def _evidence(material: Material, counts: TrajectoryCounts) -> Part | None:
    """Return the share of gold nodes that agents had seen after each step; None without steps."""
    # A single call for the answer is a step that observes nothing: methods that only rank have no curve.
    curves = {column.name: curve for column in material.chosen if any(curve := counts.curve(column))}
    longer = {name: curve for name, curve in curves.items() if len(curve) > 1}
    if not longer:
        return None
    colours = {column.name: column.colour for column in material.columns}
    at_once = ", ".join(f"{name} {share(curve[0])}" for name, curve in curves.items() if len(curve) == 1)
    return {"curves": svg.curves(longer, colours, "step", "evidence recall"), "at_once": at_once}


def _judged(material: Material) -> tuple[Sequence[Part], Sequence[tuple[str, str]]] | None:
    """Return a table for each score of the judges with its criteria, and the judges; None if nothing was judged."""
    measures = {name for column in material.columns for name in column.row.measures}
    scores = [score for score in CRITERIA if score in measures]
    if not scores:
        return None

    def mark(column: MethodColumn, name: str) -> Part | None:
        estimate = column.row.measures.get(name)
        if estimate is None:
            return None
        highest = 1.0 if name == "QwenScore" else FULL_MARKS
        bar = svg.bar(estimate.mean, estimate.low, estimate.high, colour=column.colour, lowest=0.0, highest=highest)
        return {"bar": bar, "mean": estimate.mean}

    tables = []
    for score in scores:
        names = (score, *CRITERIA[score])
        columns = [column for column in material.columns if any(name in column.row.measures for name in names)]
        methods = {column.name: [mark(column, name) for name in names] for column in columns}
        tables.append({"names": names, "methods": methods})
    judges = {(judgement.score, judgement.model) for run in material.runs for judgement in read_judgements(run.path)}
    return tables, sorted(judges)


def _failures(material: Material) -> Sequence[Part]:
    """Return every error with its method and questions, the most frequent first."""
    places = {question: place for place, question in enumerate(material.questions)}
    questions: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for column in material.columns:
        for question, line in column.lines.items():
            if line.error is not None:
                # -1 is a question that the page's list does not have.
                place = places.get((column.run.manifest.questions_sha256, question), -1)
                questions.setdefault((column.name, line.error), []).append((question, place))
    return [
        {"method": method, "error": error, "questions": failed}
        for (method, error), failed in sorted(questions.items(), key=lambda item: -len(item[1]))
    ]


def _absent(material: Material, parts: Part) -> Sequence[str]:
    """Return the parts that these runs have no figures for, and how to get them."""
    lacking = [remedy for name, remedy in _REMEDIES.items() if parts[name] is None]
    if material.graph is None:
        lacking.append(
            "Lengths of descriptions and types of all gold nodes: name the graph with eval report --graph DIR."
        )
    if not any(has_steps(line) for column in material.columns for line in column.lines.values()):
        lacking.append("Trajectories and tool use: no method of these runs has steps.")
    return lacking
