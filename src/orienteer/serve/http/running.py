"""A question under way: its place, its thread, and its events as the loop hears them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from starlette.types import Receive

from orienteer.agents.events import DoneEvent, Event, RunningQuestion
from orienteer.errors import BadOption
from orienteer.llm.budget import Budget
from orienteer.records import Result
from orienteer.serve.door import served_method
from orienteer.serve.follow_up import FollowUp, Turn, understood_alone
from orienteer.serve.graphs import Generation
from orienteer.serve.http.bodies import AskBody
from orienteer.serve.http.leaving import while_there
from orienteer.serve.http.site import Site
from orienteer.serve.http.slots import Slot


class Question:
    """A question that runs in a thread of its own and holds a place until that thread has ended.

    Closing it stops it at its next call of the model. The place is kept until then: a client that asks and leaves,
    again and again, cannot have more calls under way than there are places.
    """

    def __init__(self, site: Site, slot: Slot) -> None:
        self._site, self._slot = site, slot
        self._loop = asyncio.get_running_loop()
        self._heard: asyncio.Queue[Event | None] = asyncio.Queue()
        self._running: RunningQuestion | None = None
        """None before it has begun, and after it has ended: it refers back to whoever hears it."""
        self._failure: BaseException | None = None
        self._is_beginning = False
        self._is_closed = False

    async def start(self, generation: Generation, body: AskBody, *, hears_parts: bool = False) -> str:
        """Begin, and return the name of the method. Raises `BadOption`, `Unknown`: nothing was spent by then."""

        def begin() -> str:
            retriever = generation.retriever(body.method)
            running = retriever.start(
                body.question,
                body.most_hits,
                listen=lambda event: self._tell(generation.noted_event(event)),
                node_types=body.node_types,
                where=body.where,
                reading=body.reading,
                budget=smaller_budget(self._site.answering.budget, body.budget),
                has_answer=not body.no_answer,
                hears_parts=hears_parts,
            )
            self._running = running
            running.future.add_done_callback(lambda future: self._in_loop(lambda: self._end(future)))
            return retriever.method.name

        async def beginning() -> str:
            try:
                with generation.telling():
                    return await self._site.beside(begin)
            finally:
                self._is_beginning = False
                if self._is_closed:  # whoever asked left before it had quite begun
                    self.close()

        self._is_beginning = True
        return await asyncio.shield(beginning())

    def _end(self, future: Future[Result]) -> None:
        """Note the end, also of a question whose client has left: what it has spent counts."""
        self._running, self._failure = None, future.exception()
        if self._failure is None:
            self._site.metrics.count_usage(future.result().usage)
        self._slot.free()
        self._heard.put_nowait(None)

    def _tell(self, event: Event) -> None:
        self._in_loop(lambda: self._heard.put_nowait(event))

    def _in_loop(self, call: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop is closed: the server has ended
            self._loop.call_soon_threadsafe(call)

    async def next(self) -> Event | None:
        """Return the next event, None after the last one. Raises what the work raised."""
        event = await self._heard.get()
        if event is None and self._failure is not None:
            raise self._failure
        return event

    async def events(self) -> AsyncGenerator[Event, None]:
        """Yield what is still to be heard."""
        while (event := await self.next()) is not None:
            yield event

    async def result(self) -> Result:
        """Return the result."""
        result = None
        async for event in self.events():
            if isinstance(event, DoneEvent):
                result = event.result
        assert result is not None  # the last event has it, unless one is raised
        return result

    def close(self) -> None:
        """Stop the work, where it has not ended; free the place where it never began."""
        self._is_closed = True
        if self._running is not None:
            self._running.close()
        elif not self._is_beginning:
            self._slot.free()


@dataclass(frozen=True, slots=True)
class Begun:
    """A question that has been let in and has begun."""

    question: Question
    generation: Generation
    graph: str
    method: str
    follow_up: FollowUp
    """How the question was put in words that need nothing of what was said before."""

    @property
    def note(self) -> str | None:
        """What to say beside an answer in words: that not all of the graph is there yet, how the question was read."""
        return "; ".join(filter(None, (self.generation.tell_interim(), self.follow_up.note))) or None


async def begun(
    site: Site,
    body: AskBody,
    receive: Receive,
    *,
    hears_parts: bool = False,
    before: Sequence[Turn] = (),
) -> Begun:
    """Take a place and begin a question; who leaves while in line is forgotten.

    A question that follows others is put in words of its own once there is a place for it. Raises `Refused`,
    `BadOption` and `Unknown`: all that can be refused is refused before a reply begins.
    """
    served = site.graphs.named(body.graph)
    served_method(body.method, site.methods)
    if not body.question.strip():
        raise BadOption("the question is empty: write in words what you want to know")
    generation = await site.look_up(served.current, receive=receive)
    question = Question(site, await while_there(receive, site.slots.take()))
    try:
        follow_up = FollowUp(body.question)
        if before:
            follow_up = await while_there(receive, site.beside(partial(_reworded, site, generation, body, before)))
            site.metrics.count_usage(follow_up.usage)
            left = smaller_budget(site.answering.budget, body.budget).without(follow_up.usage)
            body = body.model_copy(update={"question": follow_up.question, "budget": left})
        method = await question.start(generation, body, hears_parts=hears_parts)
    except BaseException:
        question.close()
        raise
    return Begun(question, generation, served.name, method, follow_up)


def _reworded(site: Site, generation: Generation, body: AskBody, before: Sequence[Turn]) -> FollowUp:
    """Return a question in words of its own. Raises what asking it would raise, before a model is paid."""
    with generation.telling():
        generation.retriever(body.method).check(
            body.question, body.most_hits, node_types=body.node_types, where=body.where, reading=body.reading
        )
    budget = smaller_budget(site.answering.budget, body.budget)
    return understood_alone(body.question, before, site.answering.model, budget)


def smaller_budget(most: Budget, asked: Budget) -> Budget:
    """Return the smaller of two budgets, limit by limit."""
    limits = {}
    for name in Budget.model_fields:
        given = [limit for limit in (getattr(most, name), getattr(asked, name)) if limit is not None]
        limits[name] = min(given) if given else None
    return Budget(**limits)
