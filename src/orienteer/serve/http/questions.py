"""`POST /api/ask`: a question answered whole, or as events while it is worked on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import Future
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from orienteer.agents.events import DoneEvent, Event, NoteEvent, RunningQuestion
from orienteer.errors import BadOption
from orienteer.llm.budget import Budget
from orienteer.records import Result
from orienteer.retriever import failure
from orienteer.serve.door import FollowUp, Turn, served_method, understood_alone
from orienteer.serve.graphs import Generation
from orienteer.serve.http.bodies import AskBody, body_of
from orienteer.serve.http.guard import ASKED, problem_of
from orienteer.serve.http.look_ups import takes
from orienteer.serve.http.site import Site, Slot, json_of, left, while_there
from orienteer.serve.views.outside import for_outside


def question_routes(site: Site) -> APIRouter:
    """Return the route that asks."""
    router = APIRouter(prefix="/api", tags=["questions"])

    @router.post("/ask", response_model=Result, openapi_extra=takes(AskBody))
    async def ask(request: Request) -> Response:
        """Find ranked evidence for a question and, with a model, an answer.

        With `accept: text/event-stream` the reply is a stream: `begin`, then `step`, `observation`, `note`,
        `answer_part`, `hit`, `answer` as they happen, and `done` or `error` last.
        """
        body = await body_of(request, AskBody)
        wants_events = "text/event-stream" in request.headers.get("accept", "")
        request.scope[ASKED] = body.question
        running = await begun(site, body, request.receive, hears_parts=wants_events, before=body.before)
        if wants_events:
            chunks = _chunks(running, request.scope["request_id"], has_trajectories=body.trajectories)
            return EventReply(chunks, running.question.close)
        try:
            result = await while_there(request.receive, running.question.result())
        finally:
            running.question.close()
        raise_failure(result)
        result = running.follow_up.told_in(result)
        return json_of(result, running.generation.paths, has_trajectories=body.trajectories)

    return router


def raise_failure(result: Result) -> None:
    """Raise why a result is none; hits that were found before the model failed are a result, and its notes tell."""
    error = failure(result)
    if error is not None and not result.hits:
        raise error


async def _chunks(running: Begun, request_id: str, *, has_trajectories: bool) -> AsyncGenerator[bytes, None]:
    """Yield the events of a question, and its end; a comment where nothing was said for a while."""
    paths, number = running.generation.paths, 0
    generation = running.generation.graph.generation
    about = {"kind": "begin", "request": request_id, "graph": running.graph, "method": running.method}
    yield event("begin", json.dumps({**about, "generation": generation}), number)
    if (note := running.follow_up.note) is not None:
        number += 1
        yield event("note", NoteEvent(text=note).wire(), number)
    try:
        async for happened in with_pings(running.question):
            if happened is None:
                yield PING
                continue
            if happened.kind == "done":
                raise_failure(happened.result)
                happened = DoneEvent(result=running.follow_up.told_in(happened.result))
            number += 1
            text = for_outside(happened, paths).wire(has_trajectories=has_trajectories)
            yield event(happened.kind, text, number)
    except Exception as error:  # noqa: BLE001  # the status has been sent: what went wrong is the last event
        yield event("error", error_text(error, paths, request_id), number + 1)


def error_text(error: Exception, paths: tuple[Path, ...], request_id: str) -> str:
    """Return an error as the JSON of an event, in the one shape of all errors."""
    return json.dumps({"kind": "error", **problem_of(error, paths, request_id=request_id).body()})


async def with_pings(question: Question) -> AsyncGenerator[Event | None, None]:
    """Yield the events of a question, None where nothing was said for a while."""
    while True:
        try:
            async with asyncio.timeout(PING_SECONDS):
                happened = await question.next()
        except TimeoutError:
            yield None
            continue
        if happened is None:
            return
        yield happened


# A question under way: its place, its thread, and its events as the loop hears them.


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
                with generation.explained():
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
        return "; ".join(filter(None, (self.generation.interim_note(), self.follow_up.note))) or None


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
    with generation.explained():
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


# Server-sent events: how they are written, and a reply that sends them while their client is there.


PING_SECONDS = 15.0
"""Silence after which a comment is sent: proxies close silent connections."""
SEND_SECONDS = 30.0
"""Within which a client must take what is sent; one that reads no more frees its place."""
PING = b": still here\n\n"


def event(kind: str, text: str, number: int | None = None) -> bytes:
    """Return an event with JSON, which has no line breaks."""
    name = "" if number is None else f"id: {number}\n"
    return f"{name}event: {kind}\ndata: {text}\n\n".encode()


class EventReply(Response):
    """A reply of chunks; whoever leaves, or takes nothing any more, ends the generator that makes them.

    `closed` is called at the end, however it came.
    """

    media_type = "text/event-stream"

    def __init__(self, chunks: AsyncGenerator[bytes, None], closed: Callable[[], None]) -> None:
        super().__init__(headers={"x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._chunks, self._closed = chunks, closed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the chunks until they end or the client leaves."""
        sending, leaving = asyncio.create_task(self._sent(send)), asyncio.create_task(left(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
            self._closed()

    async def _sent(self, send: Send) -> None:
        async with aclosing(self._chunks) as chunks:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async for chunk in chunks:
                async with asyncio.timeout(SEND_SECONDS):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
