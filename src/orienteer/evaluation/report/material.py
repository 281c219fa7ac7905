"""What a report is made of: the methods of all runs side by side, their questions, and what the graph says of gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from orienteer.errors import BadOption, NotAGraph, Unknown, UsageError
from orienteer.evaluation.examples import Example
from orienteer.evaluation.report.columns import Column, Sweep, sweeps
from orienteer.evaluation.running.manifest import graph_hash
from orienteer.evaluation.running.runs import StoredRun
from orienteer.evaluation.scores.comparison import Comparison, compare
from orienteer.evaluation.scores.measures import RANKING
from orienteer.evaluation.scores.scorer import default_measures, latest, scorer
from orienteer.evaluation.scores.table import NO_VALUE, rows, value_order, values_of
from orienteer.graph.store import Graph
from orienteer.records import Node

SWITCHED = (*RANKING, "EM", "F1", "Rouge-L", "QwenScore")
MOST_VALUES = 24  # of a field, for a reader to take in; with more it is no kind of question
FEWEST_EACH = 2  # questions for each value, on average: else a field names the question


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a gold node."""

    type: str
    name: str
    text: str | None = None
    """Its whole description. None where only a hit told of the node."""


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
        self.columns = _columns(runs, measure, random_seed)
        self.comparison, self.trouble = _compared(runs, measure, random_seed)
        named = [name for run in runs for name in default_measures(run)]
        self.headline = measure or (self.comparison.measure if self.comparison else next(iter(named), RANKING[0]))
        self.measures = self._switched()

    def _switched(self) -> tuple[str, ...]:
        """Return the measures that plots and breakdowns can be looked at by, the one of the verdict first."""
        known = {name for column in self.columns for name in column.row.measures}
        return tuple(dict.fromkeys(name for name in (self.headline, *SWITCHED) if name in known))

    @cached_property
    def is_even(self) -> bool:
        """Tell whether every method has results of the same questions."""
        return len({(one.run.manifest.questions_sha256, frozenset(one.lines)) for one in self.columns}) == 1

    @cached_property
    def sweeps(self) -> list[Sweep]:
        """What was swept in these runs."""
        return sweeps(self.columns)

    @cached_property
    def chosen(self) -> tuple[Column, ...]:
        """The columns but for the variants of a sweep, which would crowd every picture: they have one of their own."""
        swept = {one.number for sweep in self.sweeps for one in sweep.cells.values()}
        return tuple(one for one in self.columns if one.number not in swept) or self.columns

    @cached_property
    def questions(self) -> dict[tuple[str, str], Example]:
        """The questions of all runs, by the hash of their file and their id."""
        return {(run.manifest.questions_sha256, one.question.id): one for run in self.runs for one in run.examples}

    @cached_property
    def fields(self) -> dict[str, tuple[str, ...]]:
        """The fields that sort questions into few kinds, with their values in order."""
        lines = {(one.run.manifest.questions_sha256, key): line for one in self.columns for key, line in
                 one.lines.items()}  # fmt: skip
        found = {}
        for name in (*dict.fromkeys(name for line in lines.values() for name in line.fields), "answer_type"):
            counts = Counter(value for line in lines.values() for value in values_of(line, name))
            kinds = [value for value in counts if value != NO_VALUE]
            if 1 < len(counts) <= MOST_VALUES and kinds and len(lines) >= FEWEST_EACH * len(kinds):
                found[name] = tuple(sorted(counts, key=value_order))
        return found

    @cached_property
    def unsplit(self) -> tuple[str, ...]:
        """The fields of the questions that have too many values to sort by, or one alone."""
        every = dict.fromkeys(name for one in self.columns for line in one.lines.values() for name in line.fields)
        return tuple(name for name in every if name not in self.fields)

    @cached_property
    def gold(self) -> dict[str, Known]:
        """What is known of the gold nodes: from the graph, else from the hits that any method had."""
        wanted = {node for one in self.questions.values() for node in one.gold.nodes}
        if self.graph is not None:
            nodes = (_node(self.graph, one) for one in wanted)
            return {node.id: Known(node.type, node.name, node.text) for node in nodes if node is not None}
        hits = (hit for one in self.columns for line in one.lines.values() for hit in line.hits)
        return {hit.id: Known(hit.type, hit.name) for hit in hits if hit.id in wanted}


def _columns(runs: Sequence[StoredRun], measure: str | None, random_seed: int) -> tuple[Column, ...]:
    """Return the methods of each run as they were asked for, which need not be the order in which results came."""
    found: list[Column] = []
    grouped = {place: latest(run.lines) for place, run in enumerate(runs)}
    seen = Counter(method for those in grouped.values() for method in those)
    short = Counter((runs[place].path.name, method) for place, those in grouped.items() for method in those)
    for place, run in enumerate(runs):
        measures = [*([measure] if measure else []), *default_measures(run)]
        made = {row.method: row for row in rows([run], measures=measures, random_seed=random_seed)}
        asked = {method: number for number, method in enumerate(run.manifest.methods)}
        for method, lines in sorted(grouped[place].items(), key=lambda item: asked.get(item[0], len(asked))):
            folder = run.path.name if short[run.path.name, method] == 1 else str(run.path)
            name = method if seen[method] == 1 else f"{method} [{folder}]"
            by_id = {line.id: line for line in lines}
            found.append(Column(len(found), name, run, method, by_id, made[method]))
    return tuple(found)


def _compared(runs: Sequence[StoredRun], measure: str | None, random_seed: int) -> tuple[Comparison | None, str | None]:
    """Return the comparison, or why there is none: a report of runs that cannot be compared is still one."""
    try:
        return compare(runs, measure=measure, random_seed=random_seed), None
    except UsageError as error:
        return None, str(error)


def _require_graph(runs: Sequence[StoredRun], graph: Graph) -> None:
    hashed = graph_hash(graph)
    if other := next((run for run in runs if run.manifest.graph_sha256 != hashed), None):
        raise BadOption(
            f"{graph.path} is not the graph that {other.path} was run on ({other.manifest.graph}): name that one, "
            "or none"
        )


def _graph_nearby(runs: Sequence[StoredRun]) -> Graph | None:
    """Return the graph of the runs where a folder of its name lies here, or beside a run, and is that very graph."""
    for run in runs:
        for folder in (Path(), run.path.parent, run.path.parent.parent):
            try:
                graph = Graph.open(folder / Path(run.manifest.graph).name)
            except (NotAGraph, OSError):
                continue
            if all(graph_hash(graph) == one.manifest.graph_sha256 for one in runs):
                return graph
    return None


def _node(graph: Graph, node_id: str) -> Node | None:
    try:
        return graph.node(node_id)
    except Unknown:  # gold that this graph does not hold
        return None
