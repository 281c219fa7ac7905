"""How the tools were used: breadth against depth, by kind of question and by outcome (ARK, paper 001, A.4 and 5.8).

Calls are counted while the trajectories are read one after another: only numbers stay in memory.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from statistics import fmean, median
from typing import NamedTuple

import numpy as np

from orienteer.lab.evaluation.report.material import Material, MethodColumn
from orienteer.lab.evaluation.running.runs import NO_RETRIEVAL, Line, StoredRun
from orienteer.lab.evaluation.scores.measures import evidence_recall
from orienteer.lab.evaluation.scores.scorer import is_ranked, scorer
from orienteer.lab.evaluation.scores.table import values_of
from orienteer.llm.schema import decode
from orienteer.page.numerals import percent
from orienteer.records import Trajectory

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
        for question, method, trajectories in run.trajectories():
            column = by_method[method]
            if counts := tuple(counts for counts in map(count_calls, trajectories) if counts.calls):
                self.calls.setdefault(column.number, {})[question] = counts
            line = column.lines[question]
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
            key = call.name, _canonical(call.arguments)
            numbers["repeated"] += key in earlier
            earlier.add(key)
            if (reply := replies.get(call.id)) is not None:
                numbers["refused"] += reply.error is not None
                numbers["empty"] += reply.error is None and not reply.nodes
    return CallCounts(is_reanchored=is_reanchored, is_searching_again=is_searching_again, **numbers)


def _canonical(arguments: str) -> str:
    """Return the same text for the same arguments, whatever their order and spacing."""
    try:
        return json.dumps(decode(arguments), sort_keys=True)
    except ValueError:
        return arguments


class ToolUse(NamedTuple):
    """How some trajectories of a method, perhaps none, used the tools."""

    method: str
    trajectories: Sequence[CallCounts]

    @property
    def mean(self) -> float:
        """Return the mean number of calls of a trajectory."""
        return fmean(counts.calls for counts in self.trajectories)

    @property
    def kinds(self) -> Mapping[str, int]:
        """Return the number of calls by kind."""
        return {
            "global": sum(counts.searches for counts in self.trajectories),
            "neighbourhood": sum(counts.neighbourhood for counts in self.trajectories),
            "others": sum(counts.others for counts in self.trajectories),
        }

    @property
    def breadth(self) -> str:
        """Return the share of global calls among those and the ones along edges (ARK, figure 3)."""
        kinds = self.kinds
        return percent(kinds["global"], kinds["global"] + kinds["neighbourhood"])

    @property
    def rates(self) -> Mapping[str, str]:
        """Return three shares of the trajectories, then three of their calls."""
        trajectories = self.trajectories
        calls = sum(counts.calls for counts in trajectories)
        return {
            "global only": percent(sum(counts.is_global_only for counts in trajectories), len(trajectories)),
            "re-anchored": percent(sum(counts.is_reanchored for counts in trajectories), len(trajectories)),
            "global again": percent(sum(counts.is_searching_again for counts in trajectories), len(trajectories)),
            "no node": percent(sum(counts.empty for counts in trajectories), calls),
            "refused": percent(sum(counts.refused for counts in trajectories), calls),
            "repeated": percent(sum(counts.repeated for counts in trajectories), calls),
        }

    @property
    def median(self) -> float:
        """Return the median number of calls along edges."""
        return median(counts.neighbourhood for counts in self.trajectories)

    @property
    def depths(self) -> Mapping[str, float]:
        """Return the share of trajectories by their number of calls along edges."""
        names = Counter(
            next((name for most, name in _BINS if counts.neighbourhood <= most), _MORE) for counts in self.trajectories
        )
        return {name: names[name] / len(self.trajectories) for name in (*(name for _, name in _BINS), _MORE)}


class ToolTables(NamedTuple):
    """The part of the page on tools; without methods if no trajectory read the graph."""

    methods: Sequence[ToolUse]
    outcomes: Sequence[tuple[str, ToolUse]]
    """The hits and the misses of each method that is no variant of a sweep."""
    fields: Mapping[str, Mapping[str, Sequence[ToolUse]]]
    """By field and value, for each such method."""
    success: str


def tool_use(material: Material, counts: TrajectoryCounts) -> ToolTables:
    """Return how each method used the tools: over all questions, in hits and in misses, and by kind of question."""
    columns = [column for column in material.columns if column.number in counts.calls]
    chosen = [column for column in columns if column in material.chosen] or columns

    def use(column: MethodColumn, fits: Callable[[Line], bool]) -> ToolUse:
        by_question = counts.calls[column.number]
        fitting = (calls for question, calls in by_question.items() if fits(column.lines[question]))
        return ToolUse(column.name, list(chain.from_iterable(fitting)))

    def outcome(column: MethodColumn, score: float) -> ToolUse:
        success = scorer(SUCCESS, column.run).of
        return use(column, lambda line: success(line) == score)

    def kind(field: str, value: str) -> list[ToolUse]:
        return [use(column, lambda line: value in values_of(line, field)) for column in chosen]

    outcomes = [(name, outcome(column, score)) for column in chosen for name, score in _OUTCOMES.items()]
    fields = {field: {value: kind(field, value) for value in values} for field, values in material.fields.items()}
    return ToolTables([use(column, lambda line: True) for column in columns], outcomes, fields, SUCCESS)
