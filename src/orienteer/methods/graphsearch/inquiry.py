"""What both forms share: sub-queries answered side by side, then draft, verdict and expansion in rounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, NamedTuple, TypeVar

from orienteer.agents.workflow import Workflow
from orienteer.errors import BudgetExhausted
from orienteer.methods.graphsearch.queries import Channel, GraphSearchConfig, SubAnswer, SubQuery, history, quoted
from orienteer.methods.graphsearch.sources import Sources

WITH_REFERENCES = (
    "Where a sub-query takes the answer of an earlier one, write a reference in its place, as shown above."
)
WITHOUT_REFERENCES = (
    "Each sub-query must be understood by itself: no references and no unknowns that another sub-query would find."
)
T = TypeVar("T")


class Stage(NamedTuple, Generic[T]):
    """A part of a course, and the earlier parts that it waits for."""

    work: Callable[[Workflow, Sequence[T]], T]
    """Takes its own fork of the course, and the results of the stages that it waits for."""
    after: tuple[int, ...] = ()
    """Places of earlier stages."""


def side_by_side(flow: Workflow, stages: Sequence[Stage[T]]) -> list[T]:
    """Run stages in threads, each as soon as what it waits for is done, and return their results in order.

    Their records join the course in the order of the stages. Raises the first stage's error once all have ended.
    """
    if not stages:
        return []
    forks = [flow.fork() for _ in stages]
    futures: list[Future[T]] = []

    def result(stage: Stage[T], fork: Workflow, before: Sequence[Future[T]]) -> T:
        return stage.work(fork, [future.result() for future in before])

    # A thread each: one that waits takes no time from others, and what it waits for was begun before it.
    with ThreadPoolExecutor(len(stages), thread_name_prefix="graphsearch") as pool:
        for stage, fork in zip(stages, forks, strict=True):
            futures.append(pool.submit(result, stage, fork, [futures[place] for place in stage.after]))
    for fork in forks:
        flow.join(fork)
    return [future.result() for future in futures]


class DraftVerdict(NamedTuple):
    """Whether the evidence bears the draft, and what is wrong where it does not."""

    accept: bool
    missing: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()
    word: str = "rejected"
    """What notes call a verdict that does not accept."""


class Inquiry(ABC):
    """Sub-queries and their answers: of one channel, or of both in one plan."""

    name: str

    def __init__(self, sources: Sources, config: GraphSearchConfig) -> None:
        self.sources, self.config = sources, config
        self.answers: list[SubAnswer] = []
        self.newest: list[SubAnswer] = []
        """Those of the answers that the last plan led to."""
        self.draft = ""
        self.is_accepted: bool | None = None
        """None where nothing was verified."""
        self.reply: Mapping[str, Any] | None = None  # Any: a reply that fits its schema
        """The answer to the question, where it came with the verdict."""
        self.spent: BudgetExhausted | None = None
        """The budget that ended it early."""

    def run(self, flow: Workflow, before: Sequence[None] = ()) -> None:
        """Work through the modules; it waits for no other stage. A spent budget ends it with what there is.

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
    def _stages(self, queries: Sequence[SubQuery]) -> Sequence[Stage[SubAnswer]]:
        """Return what is to be done for these sub-queries, in the order of the record."""

    @abstractmethod
    def _verdict(self, flow: Workflow) -> DraftVerdict:
        """Return the verdict on the draft."""

    @abstractmethod
    def _expanded(self, flow: Workflow, verdict: DraftVerdict) -> Sequence[SubQuery]:
        """Return sub-queries for what is missing."""

    def _answer(self, flow: Workflow, queries: Sequence[SubQuery]) -> None:
        """Gather and answer. Raises `BudgetExhausted` where that cut some short, with what there is of them kept."""
        self.newest = side_by_side(flow, self._stages(queries))
        self.answers += self.newest
        for answer in self.newest:
            if answer.spent is not None:
                raise answer.spent

    def _reflect(self, flow: Workflow) -> None:
        """Draft and verify; where that is rejected, ask for what is missing, and draft and verify again."""
        config = self.config
        for left in reversed(range(config.rounds + 1)):
            verdict = self._judged(flow)
            if verdict is None or verdict.accept or not config.expansion:
                return
            if not left:
                flow.notes.append(f"{self.name}: {verdict.word} still after {config.rounds} rounds of expansion")
                return
            queries = self._fresh(flow, self._expanded(flow, verdict))
            if not queries:
                flow.notes.append(f"{self.name}: {verdict.word}, and nothing new to ask for")
                return
            self._answer(flow, queries)

    def _judged(self, flow: Workflow) -> DraftVerdict | None:
        """Return the verdict on a new draft; None where nothing is verified."""
        if self.config.drafting:
            self.draft, self.is_accepted = flow.ask("graphsearch-draft", **self._history(flow)).strip(), None
            if not self.draft:
                flow.notes.append(f"{self.name}: the model wrote no draft")
        if not self.config.verification:
            return None
        return self._marked(flow, self._verdict(flow))

    def _marked(self, flow: Workflow, verdict: DraftVerdict) -> DraftVerdict:
        """Keep a verdict, and return it."""
        self.is_accepted = verdict.accept
        flow.marks.append(f"{self.name}: {'accepted' if verdict.accept else verdict.word}")
        return verdict

    def _history(self, flow: Workflow) -> dict[str, str]:
        """Return what drafting reads: the question, and every grounded sub-query, context and answer (equation 3)."""
        return {"question": flow.question.text, "history": history(self.answers, self.config.history_tokens)}

    def _history_with_draft(self, flow: Workflow) -> dict[str, str]:
        """Return what verification and expansion read: the same, and the draft (equations 4 and 5)."""
        return {**self._history(flow), "draft": quoted(self.draft) if self.draft else "  (no draft was written)"}

    def _fresh(self, flow: Workflow, queries: Sequence[SubQuery]) -> list[SubQuery]:
        """Return the sub-queries that are new, with those that they wait for, at most `new_queries`."""
        earlier = {answer.query.shown.casefold() for answer in self.answers}
        new = {query.shown.casefold(): query.name for query in reversed(queries)}
        wanted = {name for shown, name in new.items() if shown not in earlier}
        for query in reversed(queries):
            wanted |= set(query.needs) if query.name in wanted else set()
        return self._first(flow, [query for query in queries if query.name in wanted], self.config.new_queries)

    def _first(self, flow: Workflow, queries: Sequence[SubQuery], most: int) -> list[SubQuery]:
        if len(queries) > most:
            flow.notes.append(f"{self.name}: of {len(queries)} sub-queries the first {most} are answered")
        return list(queries[:most])

    def _last_number(self) -> int:
        """Return the number of the last sub-query so far, 0 before the first."""
        return max((int(answer.query.name) for answer in self.answers), default=0)


def label_of(channel: Channel, query: SubQuery) -> str:
    """Return the label of a sub-query in a channel: S2, R2."""
    return f"{channel[0].upper()}{query.name}"
