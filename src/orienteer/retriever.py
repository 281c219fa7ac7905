"""`Retriever` joins a graph, a method, a model and a budget."""

from __future__ import annotations

import time
import weakref
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex, TypedDict, Unpack

from orienteer.addresses import is_address
from orienteer.errors import BadOption, BudgetExhausted, Error, ModelError, nearest
from orienteer.graph.damage import damage_told
from orienteer.graph.drawn import drawn_neighbours
from orienteer.graph.format import is_graph, is_pulled, is_untouched
from orienteer.graph.store import Graph
from orienteer.ingest.stores import may_be_address
from orienteer.llm.budget import Allowance, Budget
from orienteer.methods.table import AUTO, METHODS, MethodCard, chosen, method_of_settings, options_by_method, over
from orienteer.page.notebook import GraphAtHand
from orienteer.plugins import fault, own, registered
from orienteer.protocols import Answering, Exploring, LanguageModel, Leaving, Method, News, manner_of
from orienteer.records import Manner, Question, Result, Trajectory
from orienteer.settings import Settings, read_settings

if TYPE_CHECKING:
    from orienteer.agents.events import Event, RunningQuestion, Stream
    from orienteer.graph.columns import NodeTable
    from orienteer.methods.ark import Reranker
    from orienteer.reading.overview import Overview

NO_MODEL = "no model is configured"
"""The beginning of the note of a result whose method was chosen for lack of a model."""
LIMITS = ("calls", "tokens", "seconds", "usd")
"""The limits of a budget that can end a question although the model works."""

_KEYWORDS = ("graph", "method", "model", "budget", "random_seed", "rerank", "settings")
"""The keywords of a `Retriever` that are not options of a method."""


class Asked(TypedDict, total=False):
    """How a question is asked, as `Retriever.search` describes it."""

    node_types: Sequence[str]
    where: Sequence[str]
    reading: str | None
    offset: int


class Retriever:
    """Answers questions over a graph by a method, with or without a model. Safe to share among threads.

        >>> from orienteer import Graph, Retriever
        >>> retriever = Retriever(Graph.open("languages"), method="anchor", most_hops=2)
        >>> retriever.search("Which language did Matz design?", k=1).hits[0].name
        'Ruby'

    `graph` is an open graph, its path, the path of tables or documents (a graph of them is built in the cache), the
    address of a graph, s3://BUCKET/NAME or https://HOST/PATH, which is pulled into the cache, a data frame, a dict of
    frames by name as for `Graph.from_frames`, or a graph of networkx. `method` is one of
    `orienteer methods`; the default, `auto`, takes the best that can run. `model` is a model, or its name as its server
    spells it. `budget` limits each question, and everything random derives from `random_seed`. `settings` are those of
    the environment and of `orienteer.toml`, as `read_settings` reads them; they supply whatever is not given here.

    `rerank` is your function that reorders a method's ranking, if the method takes one, as `ark` does: called with the
    question and the hits, it returns their ids, best first. Unknown ids are dropped, and missing hits come last.

    Further keywords are options of the method, as `orienteer methods NAME` lists them; they are checked here.

    Raises `NotAGraph`, and `BadOption` for an unknown method or option, and if the method lacks a model.
    """

    def __init__(
        self,
        graph: Any,  # a Graph, a path, frames of any package, or a network: their packages may not be here
        method: str | None = None,
        *,
        model: str | LanguageModel | None = None,
        budget: Budget | None = None,
        random_seed: int = 0,
        rerank: Reranker | None = None,
        settings: Settings | None = None,
        **options: Any,  # checked against the method's configuration
    ) -> None:
        settings = read_settings() if settings is None else settings
        self.graph = graph if isinstance(graph, Graph) else _opened(graph, settings)
        self.budget = settings.limits() if budget is None else budget
        if isinstance(model, str) or (model is None and settings.model is not None):
            model = settings.open_model(model)
        self.model = model
        self._require_price(self.budget)
        asked_for = method if method is not None else method_of_settings(settings)
        self.method = chosen(asked_for, self.graph, self.model)
        self._require_in_place()
        is_fallback = asked_for == AUTO and self.model is None
        self.notes = (f"{NO_MODEL}: answered by {self.method.name}",) if is_fallback else ()
        """The notes of every result of this retriever."""
        self._stale = _staleness(self.graph)
        self.notes = (*self.notes, *self._stale)
        self.runs_cypher = True
        """Whether a Cypher statement is run in place of a question. A server decides."""
        self._random_seed = random_seed
        by_method, given = options_by_method(settings), {**settings.options, **options}
        names = dict.fromkeys((self.method.name.partition(":")[0], self.method.name))  # of sage:ark, those of sage too
        own = {key: value for name in names for key, value in by_method.get(name, {}).items()}
        passed = {key: value for key, value in given.items() if self._is_of_next(key)}
        self._options = self._checked({**own, **{key: value for key, value in given.items() if key not in passed}})
        if self.method.slot == "seeds":
            self._choose_seeds()
        inner = self.method.over
        of_inner = {} if inner is None else by_method.get(inner.name, {})
        self._inner_options = self.method.options_below(self._options, {**of_inner, **passed})
        with self._damage_told():
            below = None if inner is None else inner.make(self.graph, model=self.model, options=self._inner_options)
            self._then = below if self.method.slot == "then" else None
            self._made: Method = self.method.make(
                self.graph, model=self.model, options=self._options, rerank=rerank, inner=below
            )

    def __repr__(self) -> str:
        model = f", model={self.model.name!r}" if self.model is not None else ""
        return f"Retriever({self.graph!r}, {self.method.name!r}{model})"

    def search(
        self,
        question: str,
        k: int = 20,
        *,
        node_types: Sequence[str] = (),
        where: Sequence[str] = (),
        reading: str | None = None,
        offset: int = 0,
        budget: Budget | None = None,
    ) -> Result:
        """Return the ranking for a question, without an answer, in the cheapest way.

            >>> retriever.search("Which language did Matz design?", node_types=["language"]).hits[0].id
            'language:ruby'

        `question` is a text in words. The ranking has at most `k` hits; `node_types` keeps nodes of these types, and
        `where` those whose properties meet conditions such as `year >= 2000`. `budget` replaces the retriever's for
        this question. `reading` is a line such as `result.reading.text`, corrected by hand: the method `anchor` takes
        it instead of the question's words. The hits begin behind `offset` others; the order of the nodes that meet a
        reading does not depend on `k`. Methods that ask a model take an offset only for what they read exactly.

        Raises `BadOption`, `UnknownType` and `UnknownProperty`, before a model is paid. A model that fails or a budget
        that ends raises nothing: see `stopped_by` and `notes` of the result.
        """
        record = self._question(question, k, node_types=node_types, where=where, reading=reading, offset=offset)
        return self._run(record, k, self._allowance(budget, has_answer=False), has_answer=False)

    def ask(self, question: str, k: int = 20, *, budget: Budget | None = None, **asked: Unpack[Asked]) -> Result:
        """Return the ranking for a question, and an answer if the method or a model gives one.

            >>> result = retriever.ask("Which language did Matz design?", k=1)
            >>> result.hits[0].why, result.answer
            ('Yukihiro Matsumoto <-designed_by- Ruby', 'Ruby')

        The answer is the method's own. If it has none, one more call asks the model over the hits, unless the question
        was read exactly, or `reader` or `documents` refused it; without a model, or behind an `offset`, it is None. If
        nothing that was found answers, it is None, and `refusal` says why. `question`, `k`, `budget`, what is `asked`
        besides (`node_types`, `where`, `reading`, `offset`), and what is raised, are those of `search`.
        """
        record = self._question(question, k, **asked)
        return self._run(record, k, self._allowance(budget, has_answer=True), has_answer=True)

    def stream(
        self,
        question: str,
        k: int = 20,
        *,
        budget: Budget | None = None,
        has_answer: bool = True,
        hears_parts: bool = False,
        **asked: Unpack[Asked],
    ) -> Stream:
        """Return the events of a question as they happen: steps, observations, hits, the answer, the end.

            >>> with retriever.stream("Which language did Matz design?", k=1) as events:
            ...     kinds = [event.kind for event in events]
            >>> kinds[-2:]
            ['answer', 'done']

        Leaving the `with` early ends the question. `has_answer` asks for an answer too; with `hears_parts` a model's
        answer arrives while it is written, if its server streams. `question`, `k`, `budget`, `asked`, and
        what is raised, are those of `ask`.
        """
        from orienteer.agents.events import Stream

        record = self._question(question, k, **asked)
        return Stream(
            lambda listen: self._started(record, k, budget, listen, has_answer=has_answer, hears_parts=hears_parts)
        )

    def start(
        self,
        question: str,
        k: int = 20,
        *,
        listen: Callable[[Event], None],
        budget: Budget | None = None,
        has_answer: bool = True,
        hears_parts: bool = False,
        **asked: Unpack[Asked],
    ) -> RunningQuestion:
        """Begin a question and return at once: `listen` is called with each event as it happens, for servers.

            >>> kinds = []
            >>> running = retriever.start(
            ...     "Which language did Matz design?", k=1, listen=lambda event: kinds.append(event.kind)
            ... )
            >>> running.future.result().answer, kinds[-2:]
            ('Ruby', ['answer', 'done'])

        The working threads call it, one at a time, so that none waits for events. After the last event,
        `running.future` has the result or the error; `running.close()` ends the question and its events. An error in
        `listen` ends the question, too. `question`, `k`, `budget`, `has_answer`, `hears_parts`, `asked`, and
        what is raised, are those of `stream`.
        """
        record = self._question(question, k, **asked)
        return self._started(record, k, budget, listen, has_answer=has_answer, hears_parts=hears_parts)

    def _started(
        self,
        question: Question,
        k: int,
        budget: Budget | None,
        listen: Callable[[Event], None],
        *,
        has_answer: bool,
        hears_parts: bool = False,
    ) -> RunningQuestion:
        from orienteer.agents.events import RunningQuestion

        listeners: list[Callable[[News], None]] = []
        allowance = self._allowance(budget, has_answer=has_answer, listener=lambda news: listeners[0](news))
        allowance.hears_parts = hears_parts

        def work(hear: Callable[[News], None]) -> Result:
            listeners.append(hear)
            return self._run(question, k, allowance, has_answer=has_answer)

        return RunningQuestion(
            work, listen=listen, stop=allowance.stop, begin=lambda agent: self._opening(question, agent)
        )

    async def asearch(
        self, question: str, k: int = 20, *, budget: Budget | None = None, **asked: Unpack[Asked]
    ) -> Result:
        """Search in a worker thread, for running event loops such as a notebook's.

            >>> import asyncio
            >>> asyncio.run(retriever.asearch("Which language did Matz design?")).hits[0].id
            'language:ruby'

        `question`, `k`, `budget`, `asked`, and what is raised, are those of `ask`. If the task is cancelled, no further
        call is made.
        """
        record = self._question(question, k, **asked)
        return await self._in_thread(record, k, budget, has_answer=False)

    async def aask(self, question: str, k: int = 20, *, budget: Budget | None = None, **asked: Unpack[Asked]) -> Result:
        """Ask in a worker thread, for running event loops such as a notebook's.

            >>> asyncio.run(retriever.aask("Which language did Matz design?")).answer
            'Ruby'

        `question`, `k`, `budget`, `asked`, and what is raised, are those of `ask`. If the task is cancelled, no further
        call is made.
        """
        record = self._question(question, k, **asked)
        return await self._in_thread(record, k, budget, has_answer=True)

    async def astream(
        self, question: str, k: int = 20, *, budget: Budget | None = None, **asked: Unpack[Asked]
    ) -> AsyncGenerator[Event, None]:
        """Yield the events of a question as they happen, for running event loops such as a notebook's.

            >>> async def kinds():
            ...     return [event.kind async for event in retriever.astream("Which language did Matz design?", k=1)]
            >>> asyncio.run(kinds())[-1]
            'done'

        `question`, `k`, `budget`, `asked`, and what is raised, are those of `ask`.
        """
        import asyncio

        record = self._question(question, k, **asked)
        loop = asyncio.get_running_loop()
        heard: asyncio.Queue[Event | None] = asyncio.Queue()

        def hear(event: Event | None) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody listens any more
                loop.call_soon_threadsafe(heard.put_nowait, event)

        running = self._started(record, k, budget, hear, has_answer=True)
        running.future.add_done_callback(lambda _: hear(None))
        try:
            while (event := await heard.get()) is not None:
                yield event
            running.future.result()  # raises what the work raised
        finally:
            running.close()

    def answers(
        self,
        question: str,
        *,
        reading: str | None = None,
        node_types: Sequence[str] = (),
        where: Sequence[str] = (),
    ) -> NodeTable:
        """Return all nodes that meet a `question`, as a table.

            >>> table = retriever.answers("Which languages influenced Rust?").sorted("year").select(["name", "year"])
            >>> table.total, table.values(0, 2), len("".join(table.csv()).splitlines())
            (8, [('Scheme', 1975), ('C++', 1985)], 9)

        They are in the order that is asked for, else by id. `reading` is a line such as `result.reading.text` to use in
        place of the words; `node_types` and `where` are those of `search`. Raises `BadOption` with the reason if the
        question was not read exactly, or if the method reads none, and what `search` raises.
        """
        from orienteer.graph.columns import table_of
        from orienteer.methods.anchor.anchor import Anchor

        if not isinstance(self._made, Anchor):
            raise BadOption(f"the method {self.method.name!r} reads no question exactly: take anchor")
        record = self._question(question or reading or "", 1, reading=reading, node_types=node_types, where=where)
        exact = self._made.read(record, self._allowance(None, has_answer=False))
        if exact.failed is not None:
            raise exact.failed
        if exact.rows is None:
            raise BadOption(f"no exact answer: {exact.refusal.text if exact.refusal is not None else ''}")
        return table_of(self.graph.arrays, exact.rows, exact.reading.text)

    def as_functions(self) -> tuple[Callable[..., str], ...]:
        """Return `search_graph`, `graph_neighbors` and `ask_graph`, plain functions for agent frameworks.

            >>> search_graph, graph_neighbors, ask_graph = retriever.as_functions()
            >>> ask_graph("Which language did Matz design?").splitlines()[1]
            'answer: Ruby'

        A framework makes tools of their names, docstrings and annotations. Replies are texts of at most 1,500 tokens,
        with ids in brackets that later calls accept; an error is a text too. The functions keep no state, and any
        number of threads may call them.
        """
        from orienteer.tools.functions import plain_functions

        def ask(question: str, k: int) -> Result:
            result = self.ask(question, k)
            if (error := failure(result)) is not None and not result.hits:
                raise error
            return result

        return plain_functions(self.graph, ask)

    def check(self, question: str, k: int = 20, **asked: Unpack[Asked]) -> None:
        """Raise what `ask` would raise before a model is paid, for servers that spend something first.

            >>> retriever.check("Which language did Matz design?", where=["year > 1990"])

        `question`, `k` and `asked` are those of `ask`. Raises `BadOption`, `UnknownType`, `UnknownProperty`.
        """
        self._question(question, k, **asked)

    def _question(
        self,
        text: str,
        k: int,
        *,
        node_types: Sequence[str] = (),
        where: Sequence[str] = (),
        reading: str | None = None,
        offset: int = 0,
    ) -> Question:
        """Return a question, checked before a model is paid. Raises `BadOption`, `UnknownType`, `UnknownProperty`.

        Methods find one hit at the least, and those in front of an offset, too: `_limited` cuts both.
        """
        if not isinstance(text, str):
            raise BadOption(f"the question must be text, is {text!r}")
        if not text.strip():
            raise BadOption("the question is empty: write in words what you want to know")
        for name, number in (("k", k), ("offset", offset)):
            if not isinstance(number, SupportsIndex) or int(number) < 0:
                raise BadOption(f"{name} is {number!r}: it must be a whole number, 0 or more")
        if offset and not self.method.reads and self.model is not None and self.method.asks_model:
            raise self._without_offset(self.method.name, offset)
        for name, values in (("node_types", node_types), ("where", where)):
            if isinstance(values, str):
                raise BadOption(f"{name} is the text {values!r}: write a list, [{values!r}]")
        if reading is not None and not self.method.reads:
            raise BadOption(f"the method {self.method.name!r} reads no question exactly: reading goes with anchor")
        with self._damage_told():
            self.graph.arrays.mask(tuple(node_types) or None, tuple(where))
        most = max(1, int(k), min(int(offset) + int(k), len(self.graph)) if offset else 0)
        types, conditions = tuple(node_types), tuple(where)
        return Question(text=text, k=most, offset=int(offset), node_types=types, where=conditions, reading=reading)

    def _without_offset(self, name: str, offset: int) -> BadOption:
        return BadOption(
            f"offset is {offset}, and {name!r} asks a model, which ranks differently each time: raise k, or take the "
            "method anchor"
        )

    def _opening(self, question: Question, agent: int | None) -> Trajectory:
        """Return a trajectory without steps: the method's own if it has one, else one with the question."""
        for made in (self._made, self._then):
            if agent is not None and isinstance(made, Exploring):
                return made.begin_agent(question, agent, random_seed=self._random_seed)
        method = "answer" if agent is None else self.method.name
        return Trajectory(question=question, method=method, model=self.model.name if self.model else None)

    async def _in_thread(self, question: Question, k: int, budget: Budget | None, *, has_answer: bool) -> Result:
        import asyncio  # half the time that it takes to open a graph: only for those who have a loop

        running = self._started(question, k, budget, lambda event: None, has_answer=has_answer)
        try:
            return await asyncio.wrap_future(running.future)
        except asyncio.CancelledError:
            running.close()
            raise

    def _run(self, question: Question, k: int, allowance: Allowance, *, has_answer: bool) -> Result:
        started = time.perf_counter()
        with self._damage_told(), self._package_named():
            road = self._road(question, allowance) if has_answer and question.reading is None else None
            result = self._limited(road, question, k, has_answer=True) if road is not None else None
            result = result or self._result(question, k, allowance, has_answer=has_answer)
        usage = allowance.usage().model_copy(update={"seconds": time.perf_counter() - started})
        # A note on the form of tool calls, if the model and not the method chose it.
        manner = manner_of(self.model) if self.model is not None else Manner()
        spoken = {trajectory.dialect for trajectory in result.trajectories if trajectory.tools and trajectory.model}
        adapted = (manner.why,) if manner.dialect in spoken - {"native"} else ()
        notes = (*(self.notes if road is None else self._stale), *adapted, *result.notes)
        line = (result.reading.text if result.reading is not None and result.refusal is None else "") or ""
        if (result.refusal is not None or line) and not self.graph.is_in_place:
            manifest = self.graph.arrays.manifest
            if any(table.get("questions") for table in manifest.provenance.get("mapping") or ()):
                from orienteer.ingest.provenance import open_questions  # only now: others need nothing of an import

                notes += open_questions(manifest, result.question, line)
        result = result.model_copy(update={"usage": usage, "notes": notes})
        result._graph = GraphAtHand(weakref.ref(self.graph), drawn_neighbours)  # for its picture in a notebook
        return result.model_copy(update={"stopped_by": "interrupted"}) if allowance.is_stopped else result

    def _road(self, question: Question, allowance: Allowance) -> Result | None:
        """Return what a question gives that asks for no ranking; None for all others."""
        from orienteer.reading.roads import road_of

        if self.graph.is_in_place:
            return None
        left, about = allowance.seconds_left(), lambda: overview(self.graph)
        return road_of(self.graph, question, about, runs_cypher=self.runs_cypher, seconds=left)

    def _result(self, question: Question, k: int, allowance: Allowance, *, has_answer: bool) -> Result:
        if self._then is None:
            return self._answered(self._made, self.method, question, k, allowance, has_answer=has_answer)
        assert isinstance(self._made, Leaving), "a card whose slot is `then` is of a method that leaves questions"
        first, result = replace(self.method, over=None), self._made.retrieve(question, allowance)
        is_settled = question.reading is not None or allowance.is_stopped
        why = None if is_settled else self._made.leaves(question, result, self._then)
        if why is None:
            return self._answered(self._made, first, question, k, allowance, has_answer=has_answer, found=result)
        assert self.method.over is not None, "it was made"
        if question.offset and self.method.over.asks_model:
            raise self._without_offset(self.method.over.name, question.offset)
        other = self._answered(self._then, self.method.over, question, k, allowance, has_answer=has_answer)
        calls = tuple(one for one in result.trajectories if one.model is not None)
        notes = (f"{why}: asked by {self._then.name}", *other.notes)
        return other.model_copy(update={"trajectories": (*calls, *other.trajectories), "notes": notes})

    def _answered(
        self,
        method: Method,
        card: MethodCard,
        question: Question,
        k: int,
        allowance: Allowance,
        *,
        has_answer: bool,
        found: Result | None = None,
    ) -> Result:
        """Return the result of a method with this card, or what it has `found`, with an answer."""
        asks = has_answer and not question.offset
        model = self.model if asks else None
        if model is not None and isinstance(method, Answering):
            from orienteer.agents.answer import as_written, settled

            answered = settled(method.retrieve_and_answer(question, allowance, model))
            return self._limited(as_written(answered), question, k, has_answer=True)
        result = method.retrieve(question, allowance) if found is None else found
        has_declined = False
        if card.needs_model and result.answer is not None:
            from orienteer.agents.answer import settled

            answered, result = result, settled(result)
            has_declined = result is not answered
        result = self._limited(result, question, k, has_answer=has_answer)
        # what was read exactly has its whole answer, and what a model would not read is not to be answered by one
        reading = result.reading
        is_read = reading is not None and (reading.complete or (result.refusal is not None and card.asks))
        if result.answer is not None or is_read or has_declined or allowance.is_stopped or not asks:
            return result
        if model is None and (result.hits or result.refusal is not None):
            return result
        from orienteer.agents.answer import answer, as_written, without

        if model is None:
            return without(result)

        allowance.allow_answer()
        if allowance.hears_parts:  # whoever reads the answer while it is written sees what it cites
            for hit in result.hits:
                allowance.tell(hit)
        return as_written(answer(result, model=model, run=allowance, graph=self.graph))

    def _require_in_place(self) -> None:
        """Raise `BadOption` if the graph stays in a database and the method needs its own copy."""
        if self.graph.is_in_place and not self.method.works_in_place:
            able = ", ".join(card.name for card in METHODS.values() if card.works_in_place)
            raise BadOption(
                f"the method {self.method.name!r} needs a graph of one's own: orienteer import {self.graph.place} -o "
                f"DIR makes one. In place, with a model, answers: {able}"
            )

    def _choose_seeds(self) -> None:
        """Choose the method that finds the seeds; a graph of documents has no schema for a plan."""
        named = str(self._options.get("seeds", AUTO))
        if self.method.over is None and named == AUTO:
            may_plan = self.model is not None and not self.graph.arrays.is_made_of_documents and "spark" in METHODS
            why = "a graph with a schema, and a model" if may_plan else "no model, or no schema to plan by"
            named = "spark" if may_plan else "hybrid"
            self.notes = (*self.notes, f"seeds by {named}: {why}")
        if self.method.over is None and named != "hybrid":
            self.method = over(self.method, chosen(named, self.graph, self.model))

    def _limited(self, result: Result, question: Question, k: int, *, has_answer: bool) -> Result:
        """Apply the filters, offset, `k` and the kind of result to every method's result."""
        hits = result.hits
        mask = self.graph.arrays.mask(question.node_types or None, question.where)
        if mask is not None:
            hits = tuple(hit for hit in hits if mask[self.graph.arrays.row(hit.id)])
        update: dict[str, Any] = {"hits": hits[question.offset - result.offset :][:k], "offset": question.offset}
        if not has_answer:
            update |= {"answer": None, "long_answer": None, "answer_kind": None, "citations": (), "table": None}
        return result.model_copy(update=update)

    def _damage_told(self) -> AbstractContextManager[None]:
        return damage_told(self.graph.path, self.graph.arrays.manifest.generation)

    @contextmanager
    def _package_named(self) -> Iterator[None]:
        """Raise an `Error` that names the package, if a method of another package fails in a way of its own."""
        try:
            yield
        except Error:
            raise
        except Exception as error:
            name = self.method.name
            for group in ("methods", "retrievers"):
                if name not in own(group) and name in registered(group):
                    failure = f"it failed ({type(error).__name__}: {error})"
                    raise Error(fault(group, name, failure)) from error
            raise

    def _is_of_next(self, option: str) -> bool:
        """Return whether an option is not the method's own, and is of the one that goes on: `agents`, of reader:ark."""
        cards = (self.method, self.method.over) if self.method.slot == "then" else ()
        configs = [card.config_class() if card is not None else None for card in cards]
        return [config is not None and option in config.model_fields for config in configs] == [False, True]

    def _checked(self, options: Mapping[str, Any]) -> dict[str, Any]:
        config = self.method.config_class()
        for name in set(options).difference(() if config is None else config.model_fields):
            if near := nearest(name, _KEYWORDS):
                raise BadOption(f"Retriever has no keyword {name!r}. Near: {', '.join(near)}.")
        if config is None:
            if options:
                raise BadOption(f"the method {self.method.name!r} has no options, got {', '.join(options)}")
            return {}
        return config.read(options, where=f"{self.method.name}.").chosen

    def _require_price(self, budget: Budget) -> None:
        if self.model is not None:
            budget.require_price(self.model.name, self.model.price)

    def _allowance(
        self, budget: Budget | None, *, has_answer: bool, listener: Callable[[News], None] | None = None
    ) -> Allowance:
        """Return a question's budget, with the last turns and the answer reserved."""
        if budget is not None:
            self._require_price(budget)
        budget = self.budget if budget is None else budget
        inner = self.method.over
        if inner is not None and self.method.slot in ("seeds", "then"):  # of the two that one asks
            agents = inner.turns_kept(self._inner_options)
        else:
            agents = self.method.turns_kept(self._options)
        answers = has_answer and self.model is not None
        reserve = agents + int(answers)
        if budget.calls is not None:
            reserve = min(reserve, budget.calls - 1)  # a last turn answers from what a first one has found
        return Allowance(
            budget,
            random_seed=self._random_seed,
            listener=listener,
            reserve=reserve,
            keeps_answer=answers and agents > 0,  # without agents no other call comes out of the reserve
        )


def _opened(path: Any, settings: Settings) -> Graph:  # Any: as the retriever takes it
    """Open the graph at a path, or build the graph of the sources there in the cache, of frames, or of a network."""
    if not isinstance(path, str | Path):
        from orienteer.ingest.graph import graph_from

        return graph_from(path)
    if is_address(str(path)):
        from orienteer.ingest.databases import open_database  # few graphs stay in a database

        return open_database(str(path), settings).in_place()
    folder = Path(path)
    if may_be_address(path) or (folder.exists() and not is_graph(folder)):
        from orienteer.ingest.cached import up_to_date  # here: whoever opens a graph needs no importer

        ready = None if may_be_address(path) else up_to_date(folder, cache=settings.cache)
        if ready is None:
            from orienteer.ingest.sources import graph_directory

            ready = graph_directory(folder, cache=settings.cache)
        folder = ready
    from orienteer.ingest.graph import Graph as PublicGraph  # with the ways to data frames and networks

    return PublicGraph.open(folder, embedder=settings.open_embedder)


def overview(graph: Graph, *, has_examples: bool = True) -> Overview:
    """Return what a graph is about, with questions that are proved to have an answer, once for an open graph."""
    from orienteer.reading.overview import overview_of

    prover = "documents" if graph.arrays.is_made_of_documents else "anchor"
    if not has_examples or graph.is_in_place:
        return overview_of(graph, None)
    return graph.arrays.once("overview", lambda: overview_of(graph, Retriever(graph, prover, settings=Settings()).ask))


def _staleness(graph: Graph) -> tuple[str, ...]:
    """Return a note if the files that a graph was made of have changed since."""
    provenance = graph.arrays.manifest.provenance
    if not provenance.get("sources") or is_pulled(graph.path) or is_untouched(provenance):
        return ()
    from orienteer.ingest.provenance import is_stale  # only now: a question needs nothing of an import

    again = "orienteer build --update" if graph.arrays.is_made_of_documents else "orienteer import --force"
    return (
        (f"the graph is older than its sources: make it again with {again}",) if is_stale(graph.arrays.manifest) else ()
    )


def failure(result: Result) -> Error | None:
    """Return the error of a failed result, for `ask` and `eval run`: a dead model, or a budget without hits."""
    has_no_answer = any(
        trajectory.method == "answer" and trajectory.stopped_by == "error" for trajectory in result.trajectories
    )
    if result.stopped_by == "error" or has_no_answer:
        errors = [trajectory.error for trajectory in result.trajectories if trajectory.error is not None]
        return ModelError(errors[-1] if errors else "the model failed")
    limit = result.stopped_by
    if limit in LIMITS and not result.hits:
        return BudgetExhausted(limit, f"nothing was found before the budget of {limit} ended: raise --budget-{limit}")
    return None
