"""The material of a report: the methods of all runs, their questions, and the gold nodes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from orienteer.errors import BadOption, Unknown, UsageError
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.examples import Example
from orienteer.lab.evaluation.running.runs import NO_RETRIEVAL, Line, StoredRun, graph_hash, graph_nearby
from orienteer.lab.evaluation.scores.comparison import Comparison, compare
from orienteer.lab.evaluation.scores.measures import RANKING, evidence_recall
from orienteer.lab.evaluation.scores.scorer import default_measures, is_ranked, latest, lead_of_runs, scorer
from orienteer.lab.evaluation.scores.table import NO_VALUE, Row, score_runs, value_order, values_of
from orienteer.lab.replay import key_of
from orienteer.page.svg import percent
from orienteer.records import Ranked, Trajectory

SWITCHED = (*RANKING, "EM", "F1", "Rouge-L", "QwenScore")
MOST_VALUES = 24  # of a field by which questions are split: more are too many for a reader
FEWEST_EACH = 2  # questions for each value, on average: with fewer, a field is more like an id
_FIRST_OPTIONS = ("agents", "max_steps")  # ARK, figure 2: where they are swept, rows, then columns
_FEWEST_VARIANTS = 3  # fewer are read in the table


@dataclass(frozen=True, slots=True)
class GoldNode:
    """A gold node, with its text if a graph is known."""

    type: str
    name: str
    text: str | None = None
    """Its whole description. None if the node is known only as a hit."""


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
            sha256 = graph_hash(graph)
            if other := next((run for run in runs if run.manifest.graph_sha256 != sha256), None):
                raise BadOption(
                    f"{graph.path} is not the graph that {other.path} was run on ({other.manifest.graph}): name "
                    "that graph, or leave it out"
                )
        self.graph = graph if graph is not None else graph_nearby(runs)
        self.lead = lead_of_runs(runs, chosen=measure)
        """The measure of the verdict, the first of the table and the plots, and why."""
        leading = (self.lead.measure, *self.lead.beside)
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
        self.columns = tuple(columns)
        self.comparison: Comparison | None = None
        self.trouble: str | None = None
        """The reason why there is no comparison: runs that cannot be compared still have a report."""
        try:
            self.comparison = compare(runs, measure=measure, random_seed=random_seed)
        except UsageError as error:
            self.trouble = str(error)
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
            nodes = {}
            for node_id in ids:
                with suppress(Unknown):  # gold that this graph does not hold
                    node = self.graph.node(node_id)
                    nodes[node_id] = GoldNode(node.type, node.name, node.text)
            return nodes
        hits = (hit for column in self.columns for line in column.lines.values() for hit in line.hits)
        return {hit.id: GoldNode(hit.type, hit.name) for hit in hits if hit.id in ids}


def sweeps(columns: Sequence[MethodColumn]) -> list[Sweep]:
    """Return the sweeps: for each run and method with several variants, the options in which they differ."""
    families: dict[tuple[str, str], list[MethodColumn]] = {}
    for column in columns:
        families.setdefault((str(column.run.path), column.method.split(" ", 1)[0]), []).append(column)
    sweeps = []
    for (_, method), family in families.items():
        settings = [
            {
                name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                for name, value in column.run.manifest.methods.get(column.method, {}).items()
            }
            for column in family
        ]
        names = dict.fromkeys(name for setting in settings for name in setting)
        swept = [name for name in names if len({setting.get(name, "") for setting in settings}) > 1]
        if len(family) < _FEWEST_VARIANTS or not swept:
            continue
        swept.sort(key=lambda name: _FIRST_OPTIONS.index(name) if name in _FIRST_OPTIONS else len(_FIRST_OPTIONS))
        axes = {name: tuple(sorted({setting.get(name, "") for setting in settings}, key=value_order)) for name in swept}
        places = (tuple(setting.get(name, "") for name in swept) for setting in settings)
        sweeps.append(Sweep(method, family[0].run.path.name, axes, dict(zip(places, family, strict=True))))
    return sweeps


# How the tools were used: breadth against depth, by kind of question and by outcome (ARK, paper 001, A.4 and 5.8).
#
# Calls are counted while the trajectories are read one after another: only numbers stay in memory.


GLOBAL = frozenset({"search_in_graph", "search_passages"})
NEIGHBOURHOOD = frozenset({"follow", "search_in_neighborhood"})
SUCCESS = "Hit@5"  # ARK, tables 9 and 10, figure 5
_OUTCOMES = {f"hit ({SUCCESS})": 1.0, "miss": 0.0}
_BINS = ((0, "0"), (1, "1"), (2, "2"), (4, "3–4"), (9, "5–9"))
_MORE = "10+"


class CallCounts(NamedTuple):
    """The numbers of calls in one trajectory that read the graph."""

    searches: int
    """Global searches, over the whole graph."""
    neighbourhood: int
    """Along edges, from a node."""
    others: int
    is_reanchored: bool
    """Whether it searched globally after it had gone along edges."""
    is_searching_again: bool
    """Whether it searched globally after its first step (ARK, table 10)."""
    empty: int
    """Calls that returned no node."""
    refused: int
    repeated: int
    """Calls that it had made before, with the same arguments."""
    success: float | None = None
    """The score of what it selected itself, by the measure of success; None without gold nodes."""

    @property
    def calls(self) -> int:
        """Count the calls that read the graph."""
        return self.searches + self.neighbourhood + self.others

    @property
    def is_global_only(self) -> bool:
        """Whether all its calls were global searches (ARK, table 9)."""
        return self.searches > 0 and self.searches == self.calls


class TrajectoryCounts:
    """The counts of the trajectories of all columns."""

    def __init__(self) -> None:
        self.calls: dict[int, dict[str, tuple[CallCounts, ...]]] = {}
        """By column and question: the counts of each trajectory that read the graph."""
        self.evidence: dict[int, dict[str, list[float]]] = {}
        """By column and question: the share of the gold nodes seen up to each step."""

    def read(
        self,
        run: StoredRun,
        columns: Sequence[MethodColumn],
        listener: Callable[[MethodColumn, str, Sequence[Trajectory]], None] | None = None,
    ) -> None:
        """Count the trajectories of a run, one result after another, and pass each on to the listener."""
        by_method = {column.method: column for column in columns if column.run is run}
        success = scorer(SUCCESS, run).of
        for question, method, trajectories in run.trajectories():
            column = by_method[method]
            line = column.lines[question]
            every = (count_calls(one)._replace(success=success(_as_line(one, line, run))) for one in trajectories)
            if counts := tuple(counts for counts in every if counts.calls):
                self.calls.setdefault(column.number, {})[question] = counts
            if is_ranked(line) and line.error is None:
                shares = evidence_recall(trajectories, line.gold.nodes)
                self.evidence.setdefault(column.number, {})[question] = shares
            if listener is not None and trajectories:
                listener(column, question, trajectories)

    def curve(self, column: MethodColumn) -> list[float]:
        """Return the mean share of the gold nodes seen up to each step (GraphSearch, figure 6b); [] without steps.

        A question that ended early keeps its last share, one that failed or took no step has 0, and one without gold
        nodes is left out.
        """
        by_question = self.evidence.get(column.number, {})
        shares = [by_question.get(question, []) for question, line in column.lines.items() if is_ranked(line)]
        length = max(map(len, shares), default=0)
        if not length:
            return []
        padded = [steps + (steps[-1:] or [0.0]) * (length - len(steps)) for steps in shares]
        means: list[float] = np.mean(padded, axis=0).tolist()  # of (questions, steps)
        return means


def _as_line(trajectory: Trajectory, line: Line, run: StoredRun) -> Line:
    """Return a question's line with what one trajectory selected as its ranking."""
    known, [kind, *_] = {hit.id: hit for hit in line.hits}, run.manifest.candidates or ("",)
    chosen = (*trajectory.selected, *trajectory.nearby)
    hits = tuple(known.get(node) or Ranked(id=node, type=kind, name=node, score=0) for node in chosen)
    return line.model_copy(update={"hits": hits, "error": None})


def count_calls(trajectory: Trajectory) -> CallCounts:
    """Count the calls of a trajectory; a call without a reply counts only as a call."""
    earlier: set[tuple[str, str]] = set()
    numbers = dict.fromkeys(("searches", "neighbourhood", "others", "empty", "refused", "repeated"), 0)
    is_reanchored = is_searching_again = False
    for place, step in enumerate(trajectory.steps):
        replies = {reply.call_id: reply for reply in step.observations}
        for call in step.reply.message.tool_calls:
            if call.name in NO_RETRIEVAL:
                continue
            is_search = call.name in GLOBAL
            is_reanchored |= is_search and numbers["neighbourhood"] > 0
            is_searching_again |= is_search and place > 0
            numbers["searches" if is_search else "neighbourhood" if call.name in NEIGHBOURHOOD else "others"] += 1
            numbers["repeated"] += key_of(call) in earlier
            earlier.add(key_of(call))
            if (reply := replies.get(call.id)) is not None:
                numbers["refused"] += reply.error is not None
                numbers["empty"] += reply.error is None and not reply.nodes
    return CallCounts(is_reanchored=is_reanchored, is_searching_again=is_searching_again, **numbers)


def tool_use(material: Material, counts: TrajectoryCounts) -> dict[str, Any]:  # Any: what a template shows
    """Return the use of tools by each method: over all questions, in hits and in misses, and by kind of question.

    Without methods if no trajectory read the graph.
    """
    columns = [column for column in material.columns if column.number in counts.calls]
    chosen = [column for column in columns if column in material.chosen] or columns

    def use(column: MethodColumn, fits: Callable[[Line, CallCounts], bool]) -> dict[str, Any]:  # Any: as above
        by_question = counts.calls[column.number].items()
        fitting = [one for question, those in by_question for one in those if fits(column.lines[question], one)]
        return {"method": column.name, **_figures(fitting)}

    def outcome(column: MethodColumn, score: float, *, is_of_question: bool) -> dict[str, Any]:  # Any: as above
        success = scorer(SUCCESS, column.run).of
        return use(column, lambda line, one: (success(line) if is_of_question else one.success) == score)

    def kind(field: str, value: str) -> list[dict[str, Any]]:  # Any: as above
        return [use(column, lambda line, _: value in values_of(line, field)) for column in chosen]

    return {
        "methods": [use(column, lambda *_: True) for column in columns],
        "outcomes": [
            (f"{'question: ' * is_of_question}{name}", outcome(column, score, is_of_question=is_of_question))
            for column in chosen
            for is_of_question in (False, True)
            for name, score in _OUTCOMES.items()
        ],
        "fields": {field: {value: kind(field, value) for value in values} for field, values in material.fields.items()},
        "success": SUCCESS,
    }


def _figures(trajectories: Sequence[CallCounts]) -> dict[str, Any]:  # Any: what a template shows
    """Return the figures of tool use of trajectories, perhaps none; shares are texts."""
    total = {
        name: sum(getattr(counts, name) for counts in trajectories)
        for name in ("searches", "neighbourhood", "others", "calls", "empty", "refused", "repeated")
    }

    def of_all(name: str) -> str:
        return percent(sum(getattr(counts, name) for counts in trajectories), len(trajectories))

    along = [counts.neighbourhood for counts in trajectories]
    bins = Counter(next((name for most, name in _BINS if number <= most), _MORE) for number in along)
    return {
        "trajectories": trajectories,
        "mean": total["calls"] / max(1, len(trajectories)),
        "kinds": {"global": total["searches"], "neighbourhood": total["neighbourhood"], "others": total["others"]},
        # Breadth is the share of global calls among those and the ones along edges (ARK, figure 3).
        "breadth": percent(total["searches"], total["searches"] + total["neighbourhood"]),
        "rates": {
            "global only": of_all("is_global_only"),
            "re-anchored": of_all("is_reanchored"),
            "global again": of_all("is_searching_again"),
            "no node": percent(total["empty"], total["calls"]),
            "refused": percent(total["refused"], total["calls"]),
            "repeated": percent(total["repeated"], total["calls"]),
        },
        "median": median(along or [0]),
        # Shares of trajectories by their number of calls along edges.
        "depths": {name: bins[name] / max(1, len(along)) for name in (*(name for _, name in _BINS), _MORE)},
    }
