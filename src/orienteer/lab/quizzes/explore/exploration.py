"""A quiz that a model writes: orders in turn over the grid, many episodes at once, every item proved before it is kept.

GraphScout (003), section 3.3. The work can be taken up again after any end: in a folder of its own lie

    conditions.json      what it depends on
    episodes.jsonl       one line an episode that has ended: its item, or why there is none
    trajectories.jsonl   how each of them went, written before its line
    replies/             replies of the model to the episodes in flight, so that none is paid twice
    .lock                held by whoever writes
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event, Lock
from typing import Literal

from pydantic import Field

from orienteer.cypher.session import Cypher
from orienteer.errors import BudgetExhausted, Error, ModelError, ModelRefused
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.examples import Cell, QuizItem
from orienteer.lab.evaluation.running.asker import ResumableModel
from orienteer.lab.evaluation.running.runs import graph_hash
from orienteer.lab.quizzes.explore.orders import ATTEMPTS, Objectives, QuizOrder
from orienteer.lab.quizzes.explore.report import CheckedReport, Maker, QuizReport, check
from orienteer.lab.quizzes.explore.scout import (
    MAX_CALLS,
    Conditions,
    EpisodeEnd,
    Episodes,
    QuizEpisode,
    Scout,
    ScoutConfig,
    Walker,
    held_episodes,
    probed,
)
from orienteer.lab.quizzes.generator import Generated, Progress, Quiz, check_numbers
from orienteer.lab.quizzes.proof import Fault, Ledger
from orienteer.llm.replies import ReplyFile
from orienteer.options import Options
from orienteer.protocols import LanguageModel, Run
from orienteer.sandbox.tiers import Choice

WORKERS = 8
"""Episodes at once: all their waiting is on the model."""


class ExploreConfig(Options):
    """How a model writes a quiz."""

    quizzer: Literal["model", "random-walk"] = "model"
    """`model` explores with tools; `random-walk` writes from a walk's text in one call: table 2's ablation."""
    max_calls: int = Field(default=MAX_CALLS, ge=1)
    """Calls of tools in an episode at the most. The paper's T."""
    workers: int = Field(default=WORKERS, ge=1)
    """Episodes at once."""
    temperature: float = 0.7
    """Temperature of exploring and writing; ours."""
    tier: Choice = "auto"
    """Where the model's code runs."""
    retry_cpython: bool = False
    """Run code again in `cpython` where `monty` lacks something that it asks for."""
    probe: bool = True
    """Drop what the model answers rightly without tools and graph."""


def explore(
    graph: Graph,
    count: int,
    *,
    model: LanguageModel,
    run: Run,
    random_seed: int = 0,
    avoid: Collection[str] = frozenset(),
    progress: Progress = lambda stage, count: None,
    config: ExploreConfig | None = None,
    folder: Path | None = None,
) -> Quiz:
    """Return items that a model wrote and the graph proves, `count` of them at the most, evenly over the grid.

    A place of the grid is given three tries, each from another node, and then left. With a folder everything is
    written down as it comes, and the same call goes on where an earlier one ended. A spent budget or a model that
    failed for good ends it; what is there is returned, and `stopped` says so. Raises `BadOption`, `BadInput` where the
    folder holds another quiz, `GraphBusy` where another process writes it, `MissingExtra` without Cypher or a sandbox.
    """
    config = ExploreConfig() if config is None else config
    check_numbers(count, random_seed)
    Cypher(graph).query("MATCH (n) RETURN count(n)")  # an engine that is missing is told before a model is paid
    maker = Maker(config.quizzer, random_seed, graph_hash(graph))
    conditions = Conditions(
        graph_sha256=maker.graph_sha256,
        random_seed=random_seed,
        quizzer=config.quizzer,
        model=model.name,
        max_calls=config.max_calls,
        temperature=config.temperature,
        probe=config.probe,
        avoid_sha256=hashlib.sha256("\n".join(sorted(avoid)).encode()).hexdigest(),
    )
    with held_episodes(folder, conditions) as episodes:
        quizzer = _quizzer(graph, config)
        work = _Work(graph, config, maker, frozenset(avoid), episodes, model, run, quizzer, progress)
        return work.quiz(count)


@dataclass(slots=True)
class _Work:
    """One attempt at a quiz."""

    graph: Graph
    config: ExploreConfig
    maker: Maker
    avoid: frozenset[str]
    episodes: Episodes
    model: LanguageModel
    run: Run
    quizzer: Scout | Walker
    progress: Progress
    stopping: Event = field(default_factory=Event)
    _lock: Lock = field(default_factory=Lock)
    _ledger: Ledger = field(default_factory=Ledger)
    _filled: dict[int, EpisodeEnd] = field(default_factory=dict)
    """The episode that filled a place."""
    _rejected: Counter[str] = field(default_factory=Counter)
    _left: list[Cell] = field(default_factory=list)

    def quiz(self, count: int) -> Quiz:
        """Fill as many places as there are to be filled."""
        self._take_up(count)
        stopped = self._fill([place for place in range(count) if place not in self._filled])
        items = tuple(done.item for _, done in sorted(self._filled.items()) if done.item is not None)
        exhausted = tuple(dict.fromkeys(self._left))
        return Generated(items=items, asked=count, rejected=self._rejected, exhausted=exhausted, stopped=stopped)

    def _take_up(self, count: int) -> None:
        """Take in what earlier attempts have ended, in their order."""
        for done in self.episodes.done.values():
            if done.place < count:
                self._count(done)

    def _fill(self, places: list[int]) -> Error | None:
        """Work on places side by side; return what ended the work early."""
        stopped: Error | None = None
        pool = ThreadPoolExecutor(self.config.workers, thread_name_prefix="quiz")
        try:
            futures = [pool.submit(self._place, place) for place in places]
            for future in as_completed(futures):
                error = future.exception()
                if isinstance(error, (BudgetExhausted, ModelError)):
                    # Those that were interrupted for it say so too: the first one is the cause.
                    stopped = stopped or error
                    self.stopping.set()
                elif error is not None:
                    raise error
        except BaseException:  # an interrupt, a mistake of ours: nobody waits for what is under way
            self.stopping.set()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return stopped

    def _place(self, place: int) -> None:
        """Try a place of the quiz until it has an item. Raises `BudgetExhausted`, `ModelError`."""
        objectives = Objectives(self.graph, self.maker.random_seed, self.maker.quizzer, self.avoid)
        for attempt in range(ATTEMPTS):
            name = objectives.name(place, attempt)
            if name in self.episodes.done:
                continue
            if self.stopping.is_set():
                return
            order = objectives.order(place, attempt)
            if order is None:
                self._end(QuizEpisode(None, (Fault("no seed", "no node to begin from"),), ()), place, name)
                continue
            if self._end(self._episode(order), place, name):
                return
        with self._lock:
            self._left.append(objectives.cell(place))

    def _episode(self, order: QuizOrder) -> QuizEpisode:
        """Have one question written, and put to a model that sees no graph."""
        model = ResumableModel(self.model, stopping=self.stopping)
        model.begin(ReplyFile(self.episodes.replies.file((order.id, "quiz"))))
        try:
            episode = self.quizzer.explore(order, model, self.run, partial(self._check, order))
            if episode.item is None or not self.config.probe:
                return episode
            is_known, trajectory = probed(episode.item, model, self.run)
        except ModelRefused as refused:
            if refused.status is None:  # nothing would be answered
                raise
            return QuizEpisode(None, (Fault("refused", str(refused)),), ())
        faults = (Fault("known", "it is answered without the graph"),) if is_known else ()
        return QuizEpisode(None if is_known else episode.item, faults, (*episode.trajectories, trajectory))

    def _check(self, order: QuizOrder, report: QuizReport, *, touched: Collection[str]) -> CheckedReport:
        checked = check(self.graph, report, order, self.maker, touched=touched, avoid=self.avoid)
        with self._lock:
            repeated = self._repeated(checked.item)
        return checked if repeated is None else CheckedReport(None, (repeated,))

    def _repeated(self, item: QuizItem | None) -> Fault | None:
        fault = self._ledger.fault(item) if item is not None else None
        # True and false are balanced by what is ordered: items come in any order here.
        return fault if fault is not None and fault.reason != "unbalanced" else None

    def _end(self, episode: QuizEpisode, place: int, name: str) -> bool:
        """Write an episode down and tell whether it gave an item: another may have asked the same meanwhile."""
        with self._lock:
            repeated = self._repeated(episode.item)
            item = episode.item if repeated is None else None
            faults = episode.faults if repeated is None else (repeated,)
            done = EpisodeEnd(
                id=name,
                place=place,
                item=item,
                reason=faults[0].reason if faults else None,
                details=tuple(fault.detail for fault in faults),
            )
            self.episodes.add(done, episode.trajectories)
            self._count(done)
        return item is not None

    def _count(self, done: EpisodeEnd) -> None:
        if done.item is None:
            self._rejected[done.reason or ""] += 1
            return
        self._ledger.keep(done.item)
        self._filled[done.place] = done
        self.progress("questions", len(self._filled))


def _quizzer(graph: Graph, config: ExploreConfig) -> Scout | Walker:
    if config.quizzer == "random-walk":
        return Walker(graph, temperature=config.temperature)
    return Scout(
        graph,
        ScoutConfig(
            max_calls=config.max_calls,
            temperature=config.temperature,
            tier=config.tier,
            retry_cpython=config.retry_cpython,
        ),
    )
