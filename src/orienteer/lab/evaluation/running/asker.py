"""One question under one method: asked, and made into what is written down of it."""

from __future__ import annotations

import copy
import hashlib
import json
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Lock
from typing import NamedTuple, Unpack

from orienteer.errors import BadInput, BadOption, BudgetExhausted, Error, MissingExtra, NotAGraph
from orienteer.executors import Place, Worker
from orienteer.files import read_lines
from orienteer.graph.store import Graph
from orienteer.ingest.sources import graph_directory
from orienteer.lab.evaluation.examples import Example
from orienteer.lab.evaluation.running.runs import ANSWER, REPLIES, Line, Pair, graph_hash, work_of
from orienteer.lab.evaluation.running.sweep import Variant
from orienteer.llm.budget import Budget
from orienteer.llm.replies import ChatRequest, ReplyFile, ReplyStore
from orienteer.protocols import ChatOptions, LanguageModel, manner_of
from orienteer.records import (
    Manner,
    Message,
    Price,
    Reply,
    Result,
    Trajectory,
    Usage,
)
from orienteer.retriever import LIMITS, Retriever, failure
from orienteer.settings import Settings
from orienteer.tools.texts import LARGEST_K

# How questions are asked, in this process or another, which opens everything by paths and names.


_FEWEST_PLACES = 8  # for calls under way at once


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingRecipe:
    """The parts of an `Asker` in any process. Pickled settings leave their keys behind."""

    graph: Path
    published_at: str | None
    """The address of a graph that was pulled from there; each machine pulls it into its own cache."""
    graph_sha256: str
    run: Path
    """The folder of the run, on the machine that writes it."""
    variants: tuple[Variant, ...]
    question: str
    """Any of the questions."""
    model: str | None
    budget: Budget
    k: int
    random_seed: int
    answers: bool
    settings: Settings

    def open(self, place: Place) -> Worker[Task, Outcome]:
        """Open graph, model and methods. Raises `BadInput` for another graph, and as `Graph.open` and `Asker` do."""
        directory = self.graph
        if self.published_at is not None:
            directory = graph_directory(Path(self.published_at), cache=self.settings.cache)
        graph = Graph.open(directory, embedder=self.settings.open_embedder)
        if graph_hash(graph) != self.graph_sha256:
            if self.published_at is not None:
                raise BadInput(f"{self.published_at} was published again since this run began: repeat the command")
            raise BadInput(
                f"{self.graph} differs from this machine's graph: copy it again, name a path that all machines "
                "share, or push it (orienteer push) and name its address"
            )
        model = None
        if self.model is not None:
            settings, limit = self.settings, self.settings.server.get("concurrency")
            if isinstance(limit, int):  # one of several processes has its share of the calls under way, at least 1
                settings = replace(
                    settings, server={**settings.server, "concurrency": max(1, limit // place.processes)}
                )
            model = model_for(settings, self.variants, place.at_once, name=self.model)
        asker = Asker(self, graph, model, open_replies=place.open_replies)
        asker.prepare()
        return Worker(asker.ask, asker.stopping.set)


def model_for(
    settings: Settings, variants: Sequence[Variant], questions: int, *, name: str | None = None
) -> LanguageModel:
    """Open a model with a place for each call that so many questions at once may have under way."""
    places = questions * max(variant.agents for variant in variants)
    server = {"concurrency": max(_FEWEST_PLACES, places), **settings.server}
    return replace(settings, server=server).open_model(name)


# The replies of a model to the questions in flight: written before they are used, so that none is paid twice.
#
# One file holds the replies to one question under one method, and is removed when the result is written. A question
# that a kill has cut off begins anew and finds its replies there, as long as it asks what it asked before.


class ReplyFolder:
    """The folder of these files in a run."""

    def __init__(self, run: Path) -> None:
        self._folder = run / REPLIES

    def file(self, pair: Pair) -> Path:
        """Return the file of the replies to a question, named by a hash: an id may have any characters."""
        digest = hashlib.sha256(json.dumps(pair).encode()).hexdigest()
        return self._folder / f"{digest[:32]}.jsonl"

    def count(self, pairs: Sequence[Pair]) -> int:
        """Count the replies that are there for these questions."""
        if not self._folder.exists():
            return 0
        return sum(1 for pair in pairs for _ in read_lines(self.file(pair)))

    def prepare(self) -> None:
        """Make the folder."""
        self._folder.mkdir(exist_ok=True)

    def forget(self, pair: Pair) -> None:
        """Remove the replies to a question that has its result."""
        self.file(pair).unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove the folder if no question needs it any more."""
        with suppress(OSError):
            self._folder.rmdir()


class ResumableModel:
    """A model that answers from the stored replies to a question, and stores every new one. Safe among threads.

    It serves one question at a time, which `begin` names; all threads that this question starts may use it.
    """

    def __init__(self, model: LanguageModel, *, stopping: Event) -> None:
        """Once `stopping` is set, nothing more is asked: `BudgetExhausted`."""
        self._model, self._stopping = model, stopping
        self._replies: ReplyStore | None = None
        self._lock = Lock()
        self.served = frozenset[str]()
        """Names of the model in the server's replies to the current question."""
        self.spent = Usage()
        """The usage of the current question, the stored replies included."""

    @property
    def name(self) -> str:
        """The model as its server spells it."""
        return self._model.name

    @property
    def price(self) -> Price | None:
        """The price of the model, or None if it is not known."""
        return self._model.price

    @property
    def manner(self) -> Manner:
        """The model's dialect."""
        return manner_of(self._model)

    def begin(self, replies: ReplyStore) -> None:
        """Begin a question whose replies are stored here."""
        self._replies, self.spent, self.served = replies, Usage(), frozenset()

    def chat(self, messages: Sequence[Message], **options: Unpack[ChatOptions]) -> Reply:
        """Return the stored reply to this very request, else the model's, once it is on disk."""
        assert self._replies is not None  # whoever asks has begun a question
        if self._stopping.is_set():
            raise BudgetExhausted("interrupted", "stopped by the caller")
        replies, key = self._replies, ChatRequest.of(self.name, messages, **options).key
        ordinal = replies.count(key)
        reply = replies.get(key, ordinal)
        if reply is None:
            reply = self._model.chat(messages, **options)
            replies.add(key, reply, ordinal=ordinal)
        with self._lock:
            self.spent += reply.usage
            if reply.model is not None:
                self.served |= {reply.model}
        return reply


_NO_TIME = Budget(seconds=1e-9)


class Task(NamedTuple):
    """A question and what it is asked of."""

    example: Example
    variant: Variant

    @property
    def pair(self) -> Pair:
        """The key of its result."""
        return self.example.question.id, self.variant.label


class Outcome(NamedTuple):
    """The outcome of a task."""

    line: Line
    trajectories: tuple[Trajectory, ...]
    served: frozenset[str] = frozenset()
    """Names of the model in the server's replies."""


class _QuestionSlot(NamedTuple):
    """Asks questions under one method: one at a time if there is a model, which keeps their replies."""

    retriever: Retriever
    model: ResumableModel | None


class Asker:
    """Asks questions under several methods, many at once. Safe among threads."""

    def __init__(
        self,
        recipe: AskingRecipe,
        graph: Graph,
        model: LanguageModel | None,
        *,
        open_replies: Callable[[Path], ReplyStore] = ReplyFile,
    ) -> None:
        """`open_replies` gives the replies of a file, which may be on another machine."""
        self._recipe, self._graph, self._model, self._open_replies = recipe, graph, model, open_replies
        self._replies, self._answers = ReplyFolder(recipe.run), recipe.answers
        self._settings = replace(recipe.settings, model=None)
        self._first: dict[str, _QuestionSlot] = {}
        self._free: defaultdict[str, deque[_QuestionSlot]] = defaultdict(deque)
        self.stopping = Event()
        """Once it is set, nothing more is asked of the model."""

    def uses_model(self, variant: Variant) -> bool:
        """Return whether questions under a method cost calls of the model."""
        asks = self._answers or variant.method.asks_model
        return variant.method.needs_model or (asks and self._model is not None)

    def prepare(self) -> None:
        """Open the methods. Raises `BadOption` for one that cannot work with this graph, model, budget or k.

        Only a method itself knows whether it can rank more nodes than tools show. If more are asked for, it gets the
        question with no time to answer it, so that no model is paid.
        """
        for variant in self._recipe.variants:
            slot = self._first[variant.label] = self._make(variant)
            self._free[variant.label].append(slot)
            if (k := variant.k or self._recipe.k) > LARGEST_K:
                try:
                    slot.retriever.search(self._recipe.question, k, budget=_NO_TIME)
                except BadOption as error:
                    raise BadOption(f"{variant.label!r}: {error}") from error
                except Error:  # such as the spent budget
                    pass

    def ask(self, task: Task) -> Outcome:
        """Return the outcome of a question; one that fails has its error.

        Raises `BadOption`, `MissingExtra` or `NotAGraph`, since every question would fail alike.
        """
        label = task.variant.label
        slot = self._first[label]
        if slot.model is not None:  # without one a retriever is safe among threads
            try:
                slot = self._free[label].pop()
            except IndexError:
                slot = self._make(task.variant)
        if slot.model is not None:
            slot.model.begin(self._open_replies(self._replies.file(task.pair)))
        started = time.perf_counter()
        try:
            ask = slot.retriever.ask if self._answers else slot.retriever.search
            outcome = outcome_of(task, ask(task.example.question.text, task.variant.k or self._recipe.k))
        except (BadOption, MissingExtra, NotAGraph):
            raise
        except Error as error:
            usage = slot.model.spent if slot.model is not None else Usage()
            line = _line(task, usage.model_copy(update={"seconds": time.perf_counter() - started}))
            limit = error.limit if isinstance(error, BudgetExhausted) and error.limit in LIMITS else "error"
            outcome = Outcome(line.model_copy(update={"stopped_by": limit, "error": str(error)}), ())
        finally:
            served = frozenset() if slot.model is None else slot.model.served
            if slot.model is not None:
                self._free[label].append(slot)
        return outcome._replace(served=served)

    def _make(self, variant: Variant) -> _QuestionSlot:
        if not self.uses_model(variant):
            return _QuestionSlot(self._retriever(variant, None), None)
        assert self._model is not None or variant.method.needs_model
        model = None if self._model is None else ResumableModel(self._model, stopping=self.stopping)
        if variant.label in self._first and not variant.method.asks_model:
            # The method itself knows of no model, and what it has learnt of the graph is the same for everyone.
            retriever = copy.copy(self._first[variant.label].retriever)
            retriever.model = model
            return _QuestionSlot(retriever, model)
        return _QuestionSlot(self._retriever(variant, model), model)

    def _retriever(self, variant: Variant, model: LanguageModel | None) -> Retriever:
        return Retriever(
            self._graph,
            variant.method.name,
            model=model,
            budget=self._recipe.budget,
            random_seed=self._recipe.random_seed,
            settings=replace(self._settings, options=variant.options),
        )


def outcome_of(task: Task, result: Result) -> Outcome:
    """Return the result and the trajectories as lines of a run."""
    hits = {hit.id for hit in result.hits}
    cited = [
        node
        for trajectory in result.trajectories
        if trajectory.method == ANSWER
        for node in trajectory.selected
        if node not in hits
    ]
    line = _line(task, result.usage).model_copy(
        update={
            "hits": result.hits,
            "answer": result.answer,
            "long_answer": result.long_answer,
            "reading": result.reading,
            "refusal": result.refusal,
            "cited": tuple(dict.fromkeys(cited)),
            "work": work_of(result.trajectories),
            "stopped_by": result.stopped_by,
            "notes": result.notes,
            "error": None if (failed := failure(result)) is None else str(failed),
        }
    )
    return Outcome(line, result.trajectories)


def _line(task: Task, usage: Usage) -> Line:
    question, gold, fields = task.example.question, task.example.gold, task.example.fields
    line = Line(id=question.id, method=task.variant.label, question=question.text, gold=gold, fields=fields)
    return line.model_copy(update={"usage": usage, "seconds": usage.seconds})
