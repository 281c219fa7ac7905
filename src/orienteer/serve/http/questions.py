"""`POST /api/ask`: a question answered whole, or as events while it is worked on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import Future
from contextlib import aclosing, suppress
from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from orienteer.agents.events import DoneEvent, Event, NoteEvent, RunningQuestion
from orienteer.errors import BadOption
from orienteer.llm.budget import Budget
from orienteer.records import Result
from orienteer.serve.door import FollowUp, Turn, raise_failure, served_method, understood_alone
from orienteer.serve.graphs import Generation
from orienteer.serve.http.bodies import AskBody, body_of
from orienteer.serve.http.guard import ASKED, problem_of
from orienteer.serve.http.look_ups import takes
from orienteer.serve.http.site import Site, Slot, json_of, left, while_there
from orienteer.serve.views.outside import for_outside


def question_routes(site: Site) -> APIRouter:
    """Return the route of questions."""
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
        running = await start_question(site, body, request.receive, hears_parts=wants_events, before=body.before)
        if wants_events:
            chunks = _chunks(running, request.scope["request_id"], has_trajectories=body.trajectories)
            return EventReply(chunks, running.question.close)
        result = await running.result(request.receive)
        return json_of(result, running.generation.paths, has_trajectories=body.trajectories)

    return router


async def _chunks(running: StartedQuestion, request_id: str, *, has_trajectories: bool) -> AsyncGenerator[bytes, None]:
    """Yield the events of a question, its end last; a comment after a silence."""
    paths, number = running.generation.paths, 0
    generation = running.generation.graph.generation
    about = {"kind": "begin", "request": request_id, "graph": running.graph, "method": running.method}
    yield event("begin", json.dumps({**about, "generation": generation}), number)
    if (note := running.follow_up.note) is not None:
        number += 1
        yield event("note", NoteEvent(text=note).wire(), number)
    try:
        async for next_event in with_pings(running.question):
            if next_event is None:
                yield PING
                continue
            if next_event.kind == "done":
                raise_failure(next_event.result)
                next_event = DoneEvent(result=running.follow_up.added_to(next_event.result))
            number += 1
            text = for_outside(next_event, paths).wire(has_trajectories=has_trajectories)
            yield event(next_event.kind, text, number)
    except Exception as error:  # noqa: BLE001  # the status has been sent: the error is the last event
        problem = problem_of(error, paths, request_id=request_id)
        yield event("error", json.dumps({"kind": "error", **problem.body()}), number + 1)


async def with_pings(question: Question) -> AsyncGenerator[Event | None, None]:
    """Yield the events of a question, and None after a silence."""
    while True:
        try:
            async with asyncio.timeout(PING_SECONDS):
                next_event = await question.next()
        except TimeoutError:
            yield None
            continue
        if next_event is None:
            return
        yield next_event


# A running question: its slot, its thread, and its events in the loop.


class Question:
    """A question in a thread. Closing it stops it at its next call of the model, and only that frees its slot."""

    def __init__(self, site: Site, slot: Slot) -> None:
        self._site, self._slot = site, slot
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        # None before it has begun, and after it has ended: it refers back to its listener.
        self._running: RunningQuestion | None = None
        self._failure: BaseException | None = None
        self._is_beginning = False
        self._is_closed = False

    async def start(self, generation: Generation, body: AskBody, *, hears_parts: bool = False) -> str:
        """Begin, and return the method's name. Raises `BadOption`, `Unknown`, before anything is spent."""

        def begin() -> str:
            def listen(event: Event) -> None:
                noted = generation.noted_event(event)
                self._in_loop(lambda: self._events.put_nowait(noted))

            retriever = generation.retriever(body.method)
            running = retriever.start(
                body.question,
                body.most_hits,
                listen=listen,
                **body.filters,
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
                    return await self._site.in_question_thread(begin)
            finally:
                self._is_beginning = False
                # The client left before the question had quite begun.
                if self._is_closed:
                    self.close()

        self._is_beginning = True
        return await asyncio.shield(beginning())

    def _end(self, future: Future[Result]) -> None:
        """Note the end, also if the client has left: its usage counts."""
        self._running, self._failure = None, future.exception()
        if self._failure is None:
            self._site.metrics.count_usage(future.result().usage)
        self._slot.free()
        self._events.put_nowait(None)

    def _in_loop(self, call: Callable[[], object]) -> None:
        # If the loop is closed, the server has ended.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call)

    async def next(self) -> Event | None:
        """Return the next event, None after the last one. Raises the error of the question."""
        event = await self._events.get()
        if event is None and self._failure is not None:
            raise self._failure
        return event

    async def events(self) -> AsyncGenerator[Event, None]:
        """Yield the events that are left."""
        while (event := await self.next()) is not None:
            yield event

    async def result(self) -> Result:
        """Return the result."""
        return [event async for event in self.events() if isinstance(event, DoneEvent)][-1].result

    def close(self) -> None:
        """Stop the question if it runs; free its slot if it never began."""
        self._is_closed = True
        if self._running is not None:
            self._running.close()
        elif not self._is_beginning:
            self._slot.free()


@dataclass(frozen=True, slots=True)
class StartedQuestion:
    """A question that was accepted and has begun."""

    question: Question
    generation: Generation
    graph: str
    method: str
    follow_up: FollowUp
    """How the question was reworded."""

    async def result(self, receive: Receive) -> Result:
        """Return the whole result; if the client leaves, the question stops. Raises its failure, `Refused`."""
        try:
            result = await while_there(receive, self.question.result())
        finally:
            self.question.close()
        raise_failure(result)
        return self.follow_up.added_to(result)

    @property
    def note(self) -> str | None:
        """The note next to an answer in words: that the graph is incomplete, how the question was reworded."""
        return "; ".join(filter(None, (self.generation.interim_note(), self.follow_up.note))) or None


async def start_question(
    site: Site, body: AskBody, receive: Receive, *, hears_parts: bool = False, before: Sequence[Turn] = ()
) -> StartedQuestion:
    """Take a slot and begin a question. Raises `Refused`, `BadOption` and `Unknown`."""
    served = site.graphs.named(body.graph)
    # All that can be refused is refused before a reply begins, and before a slot is taken if possible.
    served_method(body.method, site.methods)
    if not body.question.strip():
        raise BadOption("the question is empty: write in words what you want to know")
    generation = await site.look_up(served.current, receive=receive)
    question = Question(site, await while_there(receive, site.slots.take()))
    try:
        follow_up = FollowUp(body.question)
        # It waits for its slot before it is reworded: that may cost a call of a model.
        if before:
            budget = smaller_budget(site.answering.budget, body.budget)

            def reword() -> FollowUp:
                # What the question itself would raise is raised before a model is paid.
                with generation.explained():
                    generation.retriever(body.method).check(body.question, body.most_hits, **body.filters)
                return understood_alone(body.question, before, site.answering.model, budget)

            follow_up = await while_there(receive, site.in_question_thread(reword))
            site.metrics.count_usage(follow_up.usage)
            left = budget.without(follow_up.usage)
            body = body.model_copy(update={"question": follow_up.question, "budget": left})
        method = await question.start(generation, body, hears_parts=hears_parts)
    except BaseException:
        question.close()
        raise
    return StartedQuestion(question, generation, served.name, method, follow_up)


def smaller_budget(most: Budget, asked: Budget) -> Budget:
    """Return the smaller of two budgets, limit by limit."""
    both = {name: (getattr(most, name), getattr(asked, name)) for name in Budget.model_fields}
    return Budget(**{name: min((one for one in pair if one is not None), default=None) for name, pair in both.items()})


# Server-sent events, and a reply that sends them until its client leaves.


PING_SECONDS = 15.0
"""Silence after which a comment is sent: proxies close silent connections."""
SEND_SECONDS = 30.0
"""The time in which a client must take an event; one that reads no more frees its slot."""
PING = b": still here\n\n"


def event(kind: str, text: str, number: int | None = None) -> bytes:
    """Return an event with JSON, which has no line breaks."""
    name = "" if number is None else f"id: {number}\n"
    return f"{name}event: {kind}\ndata: {text}\n\n".encode()


class EventReply(Response):
    """A reply of chunks. A client that leaves, or takes no more, ends their generator; `closed` is always called."""

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
