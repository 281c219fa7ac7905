"""One question under one method: asked, and made into what is written down of it."""

from __future__ import annotations

import copy
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import NamedTuple

from orienteer.errors import BadOption, BudgetExhausted, Error, MissingExtra, NotAGraph
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.examples import Example
from orienteer.lab.evaluation.running.journal import Pair
from orienteer.lab.evaluation.running.replies import ReplyFolder, ResumableModel
from orienteer.lab.evaluation.running.runs import ANSWER, Line, work_of
from orienteer.lab.evaluation.running.sweep import Variant
from orienteer.llm.budget import Budget
from orienteer.llm.replies import ReplyFile, ReplyStore
from orienteer.protocols import LanguageModel
from orienteer.records import Result, StoppedBy, Trajectory, Usage
from orienteer.retriever import LIMITS, Retriever, failure
from orienteer.settings import Settings
from orienteer.tools.parameters import LARGEST_K

_NO_TIME = Budget(seconds=1e-9)


class Task(NamedTuple):
    """A question and what it is asked of."""

    example: Example
    variant: Variant

    @property
    def pair(self) -> Pair:
        """What its result is found by."""
        return self.example.question.id, self.variant.label


class Outcome(NamedTuple):
    """What came of a task."""

    line: Line
    trajectories: tuple[Trajectory, ...]
    served: frozenset[str] = frozenset()
    """What the server calls the model in its replies."""


class _Desk(NamedTuple):
    """Where questions are asked under one method: one at a time where there is a model, for it keeps their replies."""

    retriever: Retriever
    model: ResumableModel | None


class Asker:
    """Asks questions under several methods, many at once. Safe among threads."""

    def __init__(
        self,
        graph: Graph,
        replies: ReplyFolder,
        *,
        model: LanguageModel | None,
        budget: Budget,
        k: int,
        random_seed: int,
        answers: bool,
        settings: Settings,
        open_replies: Callable[[Path], ReplyStore] = ReplyFile,
    ) -> None:
        """`open_replies` gives the replies of a file, which may lie on another machine."""
        self._graph, self._replies, self._model, self._budget = graph, replies, model, budget
        self._open_replies = open_replies
        self._k, self._random_seed, self._answers = k, random_seed, answers
        self._settings = replace(settings, model=None)
        self._first: dict[str, _Desk] = {}
        self._free: defaultdict[str, deque[_Desk]] = defaultdict(deque)
        self.stopping = Event()
        """Once it is set, nothing more is asked of the model."""

    def uses_model(self, variant: Variant) -> bool:
        """Return whether questions under a method cost calls of the model."""
        return variant.method.needs_model or (self._answers and self._model is not None)

    def prepare(self, variants: Iterable[Variant], question: str) -> None:
        """Open the methods. Raises `BadOption` for one that cannot work with this graph, model, budget or k.

        Only a method itself knows whether it can rank more nodes than tools show. Where more are asked for, it gets
        the question with no time to answer it, so that no model is paid.
        """
        for variant in variants:
            desk = self._first[variant.label] = self._make(variant)
            self._free[variant.label].append(desk)
            if (k := variant.k or self._k) > LARGEST_K:
                try:
                    desk.retriever.search(question, k, budget=_NO_TIME)
                except BadOption as error:
                    raise BadOption(f"{variant.label!r}: {error}") from error
                except Error:  # such as the spent budget
                    pass

    def ask(self, task: Task) -> Outcome:
        """Return what came of a question; one that fails has its error.

        Raises what would befall every question alike: `BadOption`, `MissingExtra`, `NotAGraph`.
        """
        desk = self._take(task.variant)
        if desk.model is not None:
            desk.model.begin(self._open_replies(self._replies.file(task.pair)))
        started = time.perf_counter()
        try:
            ask = desk.retriever.ask if self._answers else desk.retriever.search
            outcome = outcome_of(task, ask(task.example.question.text, task.variant.k or self._k))
        except (BadOption, MissingExtra, NotAGraph):
            raise
        except Error as error:
            usage = desk.model.spent if desk.model is not None else Usage()
            outcome = _failed(task, error, usage.model_copy(update={"seconds": time.perf_counter() - started}))
        finally:
            served = frozenset() if desk.model is None else desk.model.served
            if desk.model is not None:
                self._free[task.variant.label].append(desk)
        return outcome._replace(served=served)

    def _take(self, variant: Variant) -> _Desk:
        first = self._first[variant.label]
        if first.model is None:  # a retriever is safe among threads
            return first
        try:
            return self._free[variant.label].pop()
        except IndexError:
            return self._make(variant)

    def _make(self, variant: Variant) -> _Desk:
        if not self.uses_model(variant):
            return _Desk(self._retriever(variant, None), None)
        assert self._model is not None or variant.method.needs_model
        model = None if self._model is None else ResumableModel(self._model, stopping=self.stopping)
        if variant.label in self._first and not variant.method.needs_model:
            # The method itself knows of no model, and what it has learnt of the graph is the same for everyone.
            retriever = copy.copy(self._first[variant.label].retriever)
            retriever.model = model
            return _Desk(retriever, model)
        return _Desk(self._retriever(variant, model), model)

    def _retriever(self, variant: Variant, model: LanguageModel | None) -> Retriever:
        return Retriever(
            self._graph,
            variant.method.name,
            model=model,
            budget=self._budget,
            random_seed=self._random_seed,
            settings=replace(self._settings, options=variant.options),
        )


def outcome_of(task: Task, result: Result) -> Outcome:
    """Return the result and the trajectories as lines of a run."""
    example = task.example
    hits = {hit.id for hit in result.hits}
    cited = [
        node
        for trajectory in result.trajectories
        if trajectory.method == ANSWER
        for node in trajectory.selected
        if node not in hits
    ]
    line = Line(
        id=example.question.id,
        method=task.variant.label,
        question=example.question.text,
        hits=result.hits,
        answer=result.answer,
        long_answer=result.long_answer,
        reading=result.reading,
        refusal=result.refusal,
        cited=tuple(dict.fromkeys(cited)),
        gold=example.gold,
        fields=example.fields,
        usage=result.usage,
        seconds=result.usage.seconds,
        work=work_of(result.trajectories),
        stopped_by=result.stopped_by,
        notes=result.notes,
        error=None if (failed := failure(result)) is None else str(failed),
    )
    return Outcome(line, result.trajectories)


def _failed(task: Task, error: Error, usage: Usage) -> Outcome:
    stopped_by: StoppedBy = "error"
    if isinstance(error, BudgetExhausted) and error.limit in LIMITS:
        stopped_by = error.limit  # type: ignore[assignment]  # one of them, as has just been asked
    example = task.example
    line = Line(
        id=example.question.id,
        method=task.variant.label,
        question=example.question.text,
        gold=example.gold,
        fields=example.fields,
        usage=usage,
        seconds=usage.seconds,
        stopped_by=stopped_by,
        error=str(error),
    )
    return Outcome(line, ())
