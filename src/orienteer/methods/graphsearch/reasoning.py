"""What both forms share: sub-queries answered side by side, then draft, verdict and expansion in rounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from orienteer.agents.workflow import Workflow
from orienteer.errors import BudgetExhausted
from orienteer.methods.graphsearch.concurrency import Task, side_by_side
from orienteer.methods.graphsearch.config import Channel, GraphSearchConfig
from orienteer.methods.graphsearch.queries import SubQuery
from orienteer.methods.graphsearch.sources import Sources
from orienteer.methods.graphsearch.turns import Turn, quoted, written

WITH_REFERENCES = (
    "Where a sub-query takes the answer of an earlier one, write a reference in its place, as shown above."
)
WITHOUT_REFERENCES = (
    "Each sub-query must be understood by itself: no references and no unknowns that another sub-query would find."
)


Outcome: TypeAlias = Turn | SubQuery
"""What comes of a task: an answered sub-query, or one that was grounded for others to answer."""


class Verdict(NamedTuple):
    """Whether the evidence bears the draft, and what is wrong where it does not."""

    accept: bool
    missing: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()


class Reasoning(ABC):
    """Sub-queries and what came of them: of one channel, or of both in one plan."""

    name: str

    def __init__(self, sources: Sources, config: GraphSearchConfig) -> None:
        self.sources, self.config = sources, config
        self.turns: list[Turn] = []
        self.draft = ""
        self.is_accepted: bool | None = None
        """None where nothing was verified."""
        self.spent: BudgetExhausted | None = None
        """The budget that ended it early."""

    def run(self, flow: Workflow, before: Sequence[None] = ()) -> None:
        """Work through the modules; it waits for no other task. A spent budget ends it with what there is.

        Raises `ModelError`.
        """
        try:
            self._answer(flow, self._decomposed(flow))
            self._reflect(flow)
        except BudgetExhausted as spent:
            self.spent = spent

    @abstractmethod
    def _decomposed(self, flow: Workflow) -> Sequence[SubQuery]:
        """Return the sub-queries of the question."""

    @abstractmethod
    def _tasks(self, queries: Sequence[SubQuery]) -> Sequence[Task[Outcome]]:
        """Return what is to be done for these sub-queries, in the order of the record."""

    @abstractmethod
    def _verdict(self, flow: Workflow) -> Verdict:
        """Return the verdict on the draft."""

    @abstractmethod
    def _expanded(self, flow: Workflow, verdict: Verdict) -> Sequence[SubQuery]:
        """Return sub-queries for what is missing."""

    def _answer(self, flow: Workflow, queries: Sequence[SubQuery]) -> None:
        """Gather and answer. Raises `BudgetExhausted` where that cut some short, with what there is of them kept."""
        turns = [one for one in side_by_side(flow, self._tasks(queries)) if isinstance(one, Turn)]
        self.turns += turns
        for turn in turns:
            if turn.spent is not None:
                raise turn.spent

    def _reflect(self, flow: Workflow) -> None:
        """Draft and verify; where that is rejected, ask for what is missing, and draft and verify again."""
        config = self.config
        for left in reversed(range(config.rounds + 1)):
            if config.drafting:
                self.draft, self.is_accepted = self._drafted(flow), None
            if not config.verification:
                return
            verdict = self._verdict(flow)
            self.is_accepted = verdict.accept
            flow.marks.append(f"{self.name}: {'accepted' if verdict.accept else 'rejected'}")
            if verdict.accept or not config.expansion:
                return
            if not left:
                flow.notes.append(f"{self.name}: rejected still after {config.rounds} rounds of expansion")
                return
            queries = self._fresh(flow, self._expanded(flow, verdict))
            if not queries:
                flow.notes.append(f"{self.name}: rejected, and nothing new to ask for")
                return
            self._answer(flow, queries)

    def _drafted(self, flow: Workflow) -> str:
        said = flow.ask("graphsearch-draft", **self._seen(flow)).strip()
        if not said:
            flow.notes.append(f"{self.name}: the model wrote no draft")
        return said

    def _seen(self, flow: Workflow) -> dict[str, str]:
        """Return what drafting reads: the question, and every grounded sub-query, context and answer (equation 3)."""
        return {"question": flow.question.text, "history": written(self.turns, self.config.history_tokens)}

    def _seen_with_draft(self, flow: Workflow) -> dict[str, str]:
        """Return what verification and expansion read: that, and the draft (equations 4 and 5)."""
        return {**self._seen(flow), "draft": quoted(self.draft) if self.draft else "  (no draft was written)"}

    def _fresh(self, flow: Workflow, queries: Sequence[SubQuery]) -> list[SubQuery]:
        """Return the sub-queries that were not asked before, with those that they wait for, as many as may be."""
        asked = {turn.query.shown.casefold() for turn in self.turns}
        new = {one.shown.casefold(): one.name for one in reversed(queries) if one.shown.casefold() not in asked}
        wanted = set(new.values())
        for one in reversed(queries):
            wanted |= set(one.needs) if one.name in wanted else set()
        return self._first(flow, [one for one in queries if one.name in wanted], self.config.new_queries)

    def _first(self, flow: Workflow, queries: Sequence[SubQuery], most: int) -> list[SubQuery]:
        if len(queries) > most:
            flow.notes.append(f"{self.name}: of {len(queries)} sub-queries the first {most} are answered")
        return list(queries[:most])

    def _number(self) -> int:
        """Return the number of the last sub-query so far."""
        return max((int(turn.query.name) for turn in self.turns), default=0)


def letter(channel: Channel) -> str:
    """Return what labels of a channel begin with."""
    return channel[0].upper()
