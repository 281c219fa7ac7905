"""The material of a report: the methods of all runs, their questions, and the gold nodes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from orienteer.errors import BadOption, NotAGraph, Unknown, UsageError
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.examples import Example
from orienteer.lab.evaluation.running.manifest import graph_hash
from orienteer.lab.evaluation.running.runs import Line, StoredRun
from orienteer.lab.evaluation.scores.comparison import Comparison, compare
from orienteer.lab.evaluation.scores.measures import RANKING
from orienteer.lab.evaluation.scores.scorer import default_measures, latest, lead_of_runs, scorer
from orienteer.lab.evaluation.scores.table import NO_VALUE, Row, score_runs, value_order, values_of

SWITCHED = (*RANKING, "EM", "F1", "Rouge-L", "QwenScore")
MOST_VALUES = 24  # of a field by which questions are split: more are too many for a reader
FEWEST_EACH = 2  # questions for each value, on average: with fewer, a field is more like an id
_FIRST_OPTIONS = ("agents", "max_steps")  # ARK, figure 2: where they are swept, rows, then columns
_FEWEST_VARIANTS = 3  # fewer are read in the table


@dataclass(frozen=True, slots=True)
class GoldNode:
    """A gold node, as far as it is known."""

    type: str
    name: str
    text: str | None = None
    """Its whole description. None if only a hit told of the node."""


@dataclass(frozen=True, slots=True)
class MethodColumn:
    """One method of one run."""

    number: int
    name: str
    """The method, followed by the run's folder in brackets if several runs have the method."""
    run: StoredRun
    method: str
    lines: Mapping[str, Line]
    """By the question's id; the last line of a question that was asked again."""
    row: Row
    """Its figures over all its questions."""

    @property
    def colour(self) -> str:
        """Return its colour as CSS, one of eight."""
        return f"var(--c{self.number % 8})"


@dataclass(frozen=True, slots=True)
class Sweep:
    """The variants of one method in one run, by the values of the options in which they differ."""

    method: str
    run: str
    axes: Mapping[str, tuple[str, ...]]
    """The values of each swept option, in order; the first two options span the tables."""
    cells: Mapping[tuple[str, ...], MethodColumn]
    """By a value for each axis."""


class Material:
    """The runs of a report, read once."""

    def __init__(
        self, runs: Sequence[StoredRun], *, graph: Graph | None, measure: str | None, random_seed: int
    ) -> None:
        if not runs:
            raise BadOption("there is no run to report on: name a folder that eval run -o wrote")
        self.runs, self.random_seed = tuple(runs), random_seed
        if measure is not None:
            for run in runs:
                scorer(measure, run)
        if graph is not None:
            _require_graph(runs, graph)
        self.graph = graph if graph is not None else _graph_nearby(runs)
        self.lead = lead_of_runs(runs, chosen=measure)
        """The measure of the verdict, the first of the table and the plots, and why."""
        leading = (self.lead.measure, *self.lead.beside)
        self.columns = _columns(runs, leading, random_seed)
        self.comparison, self.trouble = _comparison(runs, measure, random_seed)
        measured = {name for column in self.columns for name in column.row.measures}
        self.measures = tuple(name for name in dict.fromkeys((*leading, *SWITCHED)) if name in measured)
        """The measures that plots and breakdowns can be looked at by, the one of the verdict first."""

    @cached_property
    def is_even(self) -> bool:
        """Whether every method has results on the same questions."""
        return len({(column.run.manifest.questions_sha256, frozenset(column.lines)) for column in self.columns}) == 1

    @cached_property
    def sweeps(self) -> list[Sweep]:
        """The sweeps in these runs."""
        return sweeps(self.columns)

    @cached_property
    def chosen(self) -> tuple[MethodColumn, ...]:
        """The columns except for the variants of a sweep, which would crowd every picture and have one of their own."""
        variants = {column.number for sweep in self.sweeps for column in sweep.cells.values()}
        return tuple(column for column in self.columns if column.number not in variants) or self.columns

    @cached_property
    def questions(self) -> dict[tuple[str, str], Example]:
        """The questions of all runs, by the hash of their file and their id."""
        return {
            (run.manifest.questions_sha256, example.question.id): example
            for run in self.runs
            for example in run.examples
        }

    @cached_property
    def fields(self) -> dict[str, tuple[str, ...]]:
        """The fields that sort questions into few kinds, with their values in order."""
        lines = {
            (column.run.manifest.questions_sha256, question): line
            for column in self.columns
            for question, line in column.lines.items()
        }
        fields = {}
        for name in (*dict.fromkeys(name for line in lines.values() for name in line.fields), "answer_type"):
            counts = Counter(value for line in lines.values() for value in values_of(line, name))
            kinds = [value for value in counts if value != NO_VALUE]
            if 1 < len(counts) <= MOST_VALUES and kinds and len(lines) >= FEWEST_EACH * len(kinds):
                fields[name] = tuple(sorted(counts, key=value_order))
        return fields

    @cached_property
    def unsplit(self) -> tuple[str, ...]:
        """The fields of the questions with too many values to split by, or only one."""
        names = dict.fromkeys(name for column in self.columns for line in column.lines.values() for name in line.fields)
        return tuple(name for name in names if name not in self.fields)

    @cached_property
    def gold(self) -> dict[str, GoldNode]:
        """The gold nodes that are known, from the graph, else from the hits of any method."""
        ids = {node_id for example in self.questions.values() for node_id in example.gold.nodes}
        if self.graph is not None:
            return _gold_nodes(self.graph, ids)
        hits = (hit for column in self.columns for line in column.lines.values() for hit in line.hits)
        return {hit.id: GoldNode(hit.type, hit.name) for hit in hits if hit.id in ids}


def sweeps(columns: Sequence[MethodColumn]) -> list[Sweep]:
    """Return the sweeps: for each run and method with several variants, the options in which they differ."""
    families: dict[tuple[str, str], list[MethodColumn]] = {}
    for column in columns:
        families.setdefault((str(column.run.path), column.method.split(" ", 1)[0]), []).append(column)
    return [
        sweep
        for (_, method), family in families.items()
        if len(family) >= _FEWEST_VARIANTS and (sweep := _sweep(method, family)) is not None
    ]


def _sweep(method: str, family: Sequence[MethodColumn]) -> Sweep | None:
    """Lay the variants of a method out by the options in which they differ; None if they differ in none."""
    settings = []
    for column in family:
        options = column.run.manifest.methods.get(column.method, {})
        settings.append({
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in options.items()
        })  # fmt: skip
    names = dict.fromkeys(name for setting in settings for name in setting)
    swept = [name for name in names if len({setting.get(name, "") for setting in settings}) > 1]
    if not swept:
        return None
    swept.sort(key=lambda name: _FIRST_OPTIONS.index(name) if name in _FIRST_OPTIONS else len(_FIRST_OPTIONS))
    axes = {name: tuple(sorted({setting.get(name, "") for setting in settings}, key=value_order)) for name in swept}
    places = (tuple(setting.get(name, "") for name in swept) for setting in settings)
    return Sweep(method, family[0].run.path.name, axes, dict(zip(places, family, strict=True)))


def _columns(runs: Sequence[StoredRun], leading: Sequence[str], random_seed: int) -> tuple[MethodColumn, ...]:
    """Return the methods of each run in the order in which they were asked for, not that of the results."""
    columns: list[MethodColumn] = []
    lines_of = [latest(run.lines) for run in runs]
    runs_with = Counter(method for by_method in lines_of for method in by_method)
    folders_with = Counter(
        (run.path.name, method) for run, by_method in zip(runs, lines_of, strict=True) for method in by_method
    )
    for run, by_method in zip(runs, lines_of, strict=True):
        measures = [*leading, *default_measures(run)]
        row_of = {row.method: row for row in score_runs([run], measures=measures, random_seed=random_seed)}
        order = {method: number for number, method in enumerate(run.manifest.methods)}
        for method, lines in sorted(by_method.items(), key=lambda item: order.get(item[0], len(order))):
            folder = run.path.name if folders_with[run.path.name, method] == 1 else str(run.path)
            name = method if runs_with[method] == 1 else f"{method} [{folder}]"
            by_id = {line.id: line for line in lines}
            columns.append(MethodColumn(len(columns), name, run, method, by_id, row_of[method]))
    return tuple(columns)


def _comparison(
    runs: Sequence[StoredRun], measure: str | None, random_seed: int
) -> tuple[Comparison | None, str | None]:
    """Return the comparison, or why there is none: runs that cannot be compared still have a report."""
    try:
        return compare(runs, measure=measure, random_seed=random_seed), None
    except UsageError as error:
        return None, str(error)


def _require_graph(runs: Sequence[StoredRun], graph: Graph) -> None:
    sha256 = graph_hash(graph)
    if other := next((run for run in runs if run.manifest.graph_sha256 != sha256), None):
        raise BadOption(
            f"{graph.path} is not the graph that {other.path} was run on ({other.manifest.graph}): name "
            "that graph, or leave it out"
        )


def _graph_nearby(runs: Sequence[StoredRun]) -> Graph | None:
    """Return the graph of the runs if a folder with its name, here or beside a run, holds this very graph."""
    for run in runs:
        for folder in (Path(), run.path.parent, run.path.parent.parent):
            try:
                graph = Graph.open(folder / Path(run.manifest.graph).name)
            except (NotAGraph, OSError):
                continue
            if all(graph_hash(graph) == other.manifest.graph_sha256 for other in runs):
                return graph
    return None


def _gold_nodes(graph: Graph, ids: Iterable[str]) -> dict[str, GoldNode]:
    nodes = {}
    for node_id in ids:
        with suppress(Unknown):  # gold that this graph does not hold
            node = graph.node(node_id)
            nodes[node_id] = GoldNode(node.type, node.name, node.text)
    return nodes
