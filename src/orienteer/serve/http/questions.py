"""`POST /api/ask`: a question answered whole, or as events while it is worked on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import Response

from orienteer.agents.events import DoneEvent, Event, NoteEvent
from orienteer.records import Result
from orienteer.retriever import failure
from orienteer.serve.http.bodies import AskBody, body_of
from orienteer.serve.http.guard import ASKED
from orienteer.serve.http.leaving import while_there
from orienteer.serve.http.look_ups import takes
from orienteer.serve.http.problems import problem_of
from orienteer.serve.http.running import Begun, Question, begun
from orienteer.serve.http.site import Site, json_of
from orienteer.serve.http.sse import PING, PING_SECONDS, EventReply, event
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
