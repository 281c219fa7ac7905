"""What agents did, counted as their trajectories stream by: nothing of them is kept but numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from orienteer.evaluation.report.columns import Column
from orienteer.evaluation.running.runs import NO_RETRIEVAL, StoredRun
from orienteer.evaluation.scores.measures import evidence_recall
from orienteer.evaluation.scores.scorer import is_ranked
from orienteer.llm.schema import decode
from orienteer.records import Observed, ToolCall, Trajectory

GLOBAL = frozenset({"search_in_graph", "search_passages"})
NEIGHBOURHOOD = frozenset({"follow", "search_in_neighborhood"})


class Walk(NamedTuple):
    """The calls of one trajectory that read the graph."""

    searches: int
    """Global ones: over the whole graph."""
    neighbourhood: int
    """Along edges, from a node."""
    others: int
    is_reanchored: bool
    """It searched globally after it had gone along edges."""
    is_searching_again: bool
    """It searched globally after its first step (ARK, table 10)."""
    empty: int
    """Calls that gave no node."""
    refused: int
    repeated: int
    """Calls that it had made before, to the letter."""

    @property
    def calls(self) -> int:
        """Count the calls that read the graph."""
        return self.searches + self.neighbourhood + self.others

    @property
    def is_global_only(self) -> bool:
        """Tell whether it never did but search globally (ARK, table 9)."""
        return self.searches > 0 and self.searches == self.calls


class Walks:
    """What the trajectories of all columns come to."""

    def __init__(self) -> None:
        self.walks: dict[int, dict[str, tuple[Walk, ...]]] = {}
        """By column and question: those of its trajectories that called a tool which reads the graph."""
        self.evidence: dict[int, dict[str, list[float]]] = {}
        """By column and question: the share of gold seen up to each step."""

    def read(
        self,
        run: StoredRun,
        columns: Sequence[Column],
        hear: Callable[[Column, str, Sequence[Trajectory]], None] | None = None,
    ) -> None:
        """Take in the trajectories of a run, one result after another; `hear` is handed each before it is let go."""
        named = {one.method: one for one in columns if one.run is run}
        for question, method, trajectories in run.trajectories():
            column = named[method]
            walks = tuple(walk for one in trajectories if (walk := walk_of(one)).calls)
            if walks:
                self.walks.setdefault(column.number, {})[question] = walks
            line = column.lines[question]
            if is_ranked(line) and line.error is None:
                shares = evidence_recall(trajectories, line.gold.nodes)
                self.evidence.setdefault(column.number, {})[question] = shares
            if hear is not None and trajectories:
                hear(column, question, trajectories)

    def curve(self, column: Column) -> list[float]:
        """Return what `table.evidence_curves` does for this column, from what was kept: empty where no step was taken.

        A question that ended early keeps its last share, one that failed or took no step has 0.
        """
        known = self.evidence.get(column.number, {})
        shares = [known.get(key, []) for key, line in column.lines.items() if is_ranked(line)]
        length = max(map(len, shares), default=0)
        if not length:
            return []
        padded = [one + (one[-1:] or [0.0]) * (length - len(one)) for one in shares]
        means: list[float] = np.mean(padded, axis=0).tolist()  # of (questions, steps)
        return means


def walk_of(trajectory: Trajectory) -> Walk:
    """Count the calls of a trajectory; those that never got a reply count as calls alone."""
    seen: set[tuple[str, str]] = set()
    numbers = dict.fromkeys(("searches", "neighbourhood", "others", "empty", "refused", "repeated"), 0)
    reanchored = again = False
    for place, step in enumerate(trajectory.steps):
        replies = {one.call_id: one for one in step.observations}
        for call in _reading(step.reply.message.tool_calls):
            kind = _kind(call.name)
            reanchored |= kind == "searches" and numbers["neighbourhood"] > 0
            again |= kind == "searches" and place > 0
            numbers[kind] += 1
            key = call.name, _canonical(call.arguments)
            numbers["repeated"] += key in seen
            seen.add(key)
            if (what := _fruitless(replies.get(call.id))) is not None:
                numbers[what] += 1
    return Walk(is_reanchored=reanchored, is_searching_again=again, **numbers)


def total(walks: Iterable[Walk]) -> Mapping[str, int]:
    """Add up the calls of walks by kind."""
    walks = tuple(walks)
    return {
        "global": sum(one.searches for one in walks),
        "neighbourhood": sum(one.neighbourhood for one in walks),
        "others": sum(one.others for one in walks),
    }


def _reading(calls: Iterable[ToolCall]) -> Iterable[ToolCall]:
    return (call for call in calls if call.name not in NO_RETRIEVAL)


def _kind(name: str) -> str:
    if name in GLOBAL:
        return "searches"
    return "neighbourhood" if name in NEIGHBOURHOOD else "others"


def _fruitless(reply: Observed | None) -> str | None:
    if reply is None:
        return None
    if reply.error is not None:
        return "refused"
    return None if reply.nodes else "empty"


def _canonical(arguments: str) -> str:
    """Return the same text for the same arguments, in whatever order and spacing they were written."""
    try:
        return json.dumps(decode(arguments), sort_keys=True)
    except ValueError:
        return arguments
