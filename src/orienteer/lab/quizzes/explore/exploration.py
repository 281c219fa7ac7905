"""A quiz that a model writes: orders in turn over the grid, many episodes at once, every item proved before it is kept.

GraphScout (003), section 3.3. The work can be resumed after any end, from a folder of its own:

    conditions.json      what the quiz depends on
    episodes.jsonl       one line an episode that has ended: its item, or why there is none
    trajectories.jsonl   the trajectories of each, written before its line
    replies/             replies of the model to the episodes in flight, so that none is paid twice
    .lock                held by the process that writes
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor, as_completed
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
from orienteer.lab.quizzes.explore.report import (
    ATTEMPTS,
    CheckedReport,
    Maker,
    Objectives,
    QuizOrder,
    QuizReport,
    check,
)
from orienteer.lab.quizzes.explore.scout import (
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
from orienteer.protocols import LanguageModel, Run

WORKERS = 8
"""Episodes at once: all their waiting is on the model."""


class ExploreConfig(ScoutConfig):
    """How a model writes a quiz."""

    quizzer: Literal["model", "random-walk"] = "model"
    """`model` explores with tools; `random-walk` writes from a walk's text in one call: table 2's ablation."""
    workers: int = Field(default=WORKERS, ge=1)
    """Episodes at once."""
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
    """Return items that a model wrote and the graph proves, at most `count`, evenly over the grid.

    A place of the grid is given three tries, each from another node, and then left. With a folder everything is
    written down as it comes, and the same call resumes the work. A spent budget or a model that failed for good ends
    it; the items so far are returned, and `stopped` has the error. Raises `BadOption`, `BadInput` if the folder holds
    another quiz, `GraphBusy` if another process writes it, `MissingExtra` without a sandbox.
    """
    config = ExploreConfig() if config is None else config
    check_numbers(count, random_seed)
    Cypher(graph).query("MATCH (n) RETURN count(n)")  # raises for a missing engine, before a model is paid
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
        return _Exploration(graph, config, maker, frozenset(avoid), episodes, model, run, progress).quiz(count)


class _Exploration:
    """One attempt at a quiz."""

    def __init__(
        self,
        graph: Graph,
        config: ExploreConfig,
        maker: Maker,
        avoid: frozenset[str],
        episodes: Episodes,
        model: LanguageModel,
        run: Run,
        progress: Progress,
    ) -> None:
        self._graph, self._config, self._maker, self._avoid = graph, config, maker, avoid
        self._episodes, self._model, self._run, self._progress = episodes, model, run, progress
        self._objectives = Objectives(graph, maker.random_seed, maker.quizzer, avoid)
        self._quizzer: Scout | Walker = Scout(graph, config) if config.quizzer == "model" else Walker(graph, config)
        self._stopping, self._lock, self._ledger = Event(), Lock(), Ledger()
        self._filled: dict[int, EpisodeEnd] = {}
        """The episode that filled a place."""
        self._rejected, self._left = Counter[str](), list[Cell]()

    def quiz(self, count: int) -> Quiz:
        """Fill as many places as can be filled, from earlier attempts and side by side."""
        for done in self._episodes.done.values():
            if done.place < count:
                self._count(done)
        stopped: Error | None = None
        pool = ThreadPoolExecutor(self._config.workers, thread_name_prefix="quiz")
        try:
            futures = [pool.submit(self._place, place) for place in range(count) if place not in self._filled]
            for future in as_completed(futures):
                error = future.exception()
                if isinstance(error, (BudgetExhausted, ModelError)):
                    # Those that were interrupted for it raise too: the first one is the cause.
                    stopped = stopped or error
                    self._stopping.set()
                elif error is not None:
                    raise error
        except BaseException:  # an interrupt, a mistake of ours: nobody waits for what is under way
            self._stopping.set()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        items = tuple(done.item for _, done in sorted(self._filled.items()) if done.item is not None)
        exhausted = tuple(dict.fromkeys(self._left))
        return Generated(items=items, asked=count, rejected=self._rejected, exhausted=exhausted, stopped=stopped)

    def _place(self, place: int) -> None:
        """Try a place of the quiz until it has an item. Raises `BudgetExhausted`, `ModelError`."""
        for attempt in range(ATTEMPTS):
            name = self._objectives.name(place, attempt)
            if name in self._episodes.done:
                continue
            if self._stopping.is_set():
                return
            order = self._objectives.order(place, attempt)
            no_seed = QuizEpisode(None, (Fault("no seed", "no node to begin from"),), ())
            episode = no_seed if order is None else self._episode(order)
            with self._lock:
                repeated = self._repeated(episode.item)
                item, faults = (episode.item, episode.faults) if repeated is None else (None, (repeated,))
                reason, details = faults[0].reason if faults else None, tuple(fault.detail for fault in faults)
                done = EpisodeEnd(id=name, place=place, item=item, reason=reason, details=details)
                self._episodes.add(done, episode.trajectories)
                self._count(done)
            if item is not None:
                return
        with self._lock:
            self._left.append(self._objectives.cell(place))

    def _episode(self, order: QuizOrder) -> QuizEpisode:
        """Have one question written, and put to a model that sees no graph."""
        model = ResumableModel(self._model, stopping=self._stopping)
        model.begin(ReplyFile(self._episodes.replies.file((order.id, "quiz"))))
        try:
            episode = self._quizzer.explore(order, model, self._run, partial(self._check, order))
            if episode.item is None or not self._config.probe:
                return episode
            is_known, trajectory = probed(episode.item, model, self._run)
        except ModelRefused as refused:
            if refused.status is None:  # nothing would be answered
                raise
            return QuizEpisode(None, (Fault("refused", str(refused)),), ())
        faults = (Fault("known", "it is answered without the graph"),) if is_known else ()
        return QuizEpisode(None if is_known else episode.item, faults, (*episode.trajectories, trajectory))

    def _check(self, order: QuizOrder, report: QuizReport, *, touched: Collection[str]) -> CheckedReport:
        checked = check(self._graph, report, order, self._maker, touched=touched, avoid=self._avoid)
        with self._lock:
            repeated = self._repeated(checked.item)
        return checked if repeated is None else CheckedReport(None, (repeated,))

    def _repeated(self, item: QuizItem | None) -> Fault | None:
        fault = self._ledger.fault(item) if item is not None else None
        # True and false are balanced by the orders: items come in any order here.
        return fault if fault is not None and fault.reason != "unbalanced" else None

    def _count(self, done: EpisodeEnd) -> None:
        if done.item is None:
            self._rejected[done.reason or ""] += 1
            return
        self._ledger.keep(done.item)
        self._filled[done.place] = done
        self._progress("questions", len(self._filled))
