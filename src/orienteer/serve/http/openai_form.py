"""`/v1`: graphs as models for clients that speak OpenAI's form. `orienteer/GRAPH[:METHOD]` is the name of a model.

Errors are those of the other routes, with what OpenAI's have besides: `type`, `param`, `code`.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import AsyncGenerator, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from orienteer.agents.events import Event
from orienteer.display import clean
from orienteer.errors import BadOption, Refused
from orienteer.methods.table import AUTO, METHODS
from orienteer.records import Ranked, Result, Usage
from orienteer.serve.door import served_method
from orienteer.serve.graphs import ServedGraph
from orienteer.serve.heard_words import NO_ANSWER, PUT_RIGHT, HeardWords
from orienteer.serve.http.bodies import AskBody, body_of
from orienteer.serve.http.chat_messages import (
    CHORE_HEADER,
    ChatBody,
    check_can_be_met,
    chore_reply,
    question_of,
    turns_before,
)
from orienteer.serve.http.guard import ASKED
from orienteer.serve.http.leaving import while_there
from orienteer.serve.http.look_ups import takes
from orienteer.serve.http.problems import Problem, problem_of
from orienteer.serve.http.questions import raise_failure, with_pings
from orienteer.serve.http.running import Begun, begun
from orienteer.serve.http.site import Site
from orienteer.serve.http.sse import PING, EventReply
from orienteer.serve.views.outside import for_outside

PREFIX = "orienteer/"
K = 10
"""Hits that a chat client is shown."""
SHOWS_EVENTS = "x-openwebui-chat-id"
"""A header of Open WebUI, which shows steps and sources beside an answer."""
_BRACKETS = re.compile(r"\[([^\[\]]+)\]")
_LONGEST_STEP = 120  # characters of a step
_FIELD = re.compile(r"[a-z_]+")


class _Named(NamedTuple):
    graph: ServedGraph
    method: str


class _Head(NamedTuple):
    """What all chunks of a reply repeat."""

    id: str
    model: str
    created: int

    def fields(self, kind: str) -> dict[str, Any]:  # Any: JSON
        return {**self._asdict(), "object": kind}


def openai_routes(site: Site) -> APIRouter:
    """Return the routes of `/v1`."""
    router = APIRouter(prefix="/v1", tags=["chat"])

    @router.get("/models")
    async def models() -> Response:
        """List the graphs as models; with `--list-methods` also each with each method that can answer over it."""
        return JSONResponse({"object": "list", "data": await site.look_up(lambda: list(_models(site)))})

    @router.get("/models/{model:path}")
    async def model(model: str) -> Response:
        """Return one model, also a graph with a method that is not listed."""
        graph = _named(site, model).graph
        return JSONResponse(await site.look_up(lambda: _model(graph, model)))

    @router.post("/chat/completions", openapi_extra=takes(ChatBody))
    async def chat(request: Request) -> Response:
        """Answer the last question of a conversation, with its evidence, whole or as a stream."""
        body = await body_of(request, ChatBody)
        named = _named(site, body.model)
        head = _Head(f"chatcmpl-{uuid.uuid4().hex}", body.model, int(time.time()))
        if (chore := chore_reply(body, is_told=CHORE_HEADER in request.headers)) is not None:
            return _chore(head, chore, is_stream=body.stream)
        check_can_be_met(body)
        question = question_of(body.messages)
        asked = AskBody(graph=named.graph.name, question=question, k=K, method=named.method)
        request.scope[ASKED] = question
        before = turns_before(body.messages)
        running = await begun(site, asked, request.receive, hears_parts=body.stream, before=before)
        if body.stream:
            reply = _Streamed(
                head,
                request_id=request.scope["request_id"],
                shows_events=SHOWS_EVENTS in request.headers,
                has_usage=body.stream_options is not None and body.stream_options.include_usage,
            )
            return EventReply(reply.chunks(running), running.question.close)
        try:
            result = await while_there(request.receive, running.question.result())
        finally:
            running.question.close()
        raise_failure(result)
        result = for_outside(result, running.generation.paths)
        return JSONResponse(_completion(head, running.follow_up.told_in(result), running.note))

    return router


def _models(site: Site) -> Iterator[dict[str, Any]]:  # Any: JSON
    """Yield the models: a graph alone is answered by `auto`."""
    for graph in site.graphs:
        yield _model(graph, f"{PREFIX}{graph.name}")
        if not site.lists_methods or not _answers(graph):
            continue
        has_vectors = graph.current().graph.arrays.searcher.has_vectors
        for name in site.offered:
            if name != AUTO and (has_vectors or not METHODS[name].needs_vectors):
                yield _model(graph, f"{PREFIX}{graph.name}:{name}")


def _answers(graph: ServedGraph) -> bool:
    return graph.is_ready or graph.interim is not None


def _model(graph: ServedGraph, name: str) -> dict[str, Any]:  # Any: JSON
    """Return a graph as a model, created when its generation was; 0 while it is made."""
    created = 0
    if _answers(graph):
        manifest = graph.current().graph.arrays.manifest
        created = int(datetime.fromisoformat(manifest.created).timestamp())
    return {"id": name, "object": "model", "created": created, "owned_by": "orienteer"}


def _named(site: Site, model: str) -> _Named:
    """Return what the name of a model means. Raises `Refused`: 404, or 400 for a method that is not served."""
    rest = model.removeprefix(PREFIX)
    for graph in sorted(site.graphs, key=lambda graph: -len(graph.name)):  # a graph's name may hold a colon
        if rest == graph.name or rest.startswith(f"{graph.name}:"):
            try:
                return _Named(graph, served_method(rest[len(graph.name) + 1 :] or AUTO, site.offered))
            except BadOption as error:
                raise Refused(400, f"model {model[:100]!r}: {error}", value=model) from None
    raise Refused(404, f"model {model[:100]!r} is not served here: GET /v1/models lists those that are", value=model)


def openai_error(problem: Problem) -> Response:
    """Return an error as OpenAI's clients read it: `param` is the field with which the message begins."""
    body: dict[str, Any] = problem.body()  # Any: JSON
    begin = _FIELD.match(problem.message)
    field = begin[0] if begin is not None and begin[0] in ChatBody.model_fields else None
    body["error"] |= {
        "type": "invalid_request_error" if problem.status < 500 else "server_error",
        "param": field,
        "code": "model_not_found" if problem.status == 404 and field == "model" else None,
    }
    return JSONResponse(body, problem.status, headers=dict(problem.headers))


# ------------------------------------------------------------------------------------------------------------- replies


def _completion(head: _Head, result: Result, note: str | None) -> dict[str, Any]:  # Any: JSON
    message = {"role": "assistant", "content": in_words(result, note), "refusal": None}
    return {
        **head.fields("chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": _usage(result.usage),
        "orienteer": _own(result),
    }


def _own(result: Result) -> dict[str, Any]:  # Any: JSON
    """Return the result as the key that clients of ours read; the others keep it and do not look."""
    return result.model_dump(mode="json", exclude={"trajectories"})


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.tokens,
    }


def in_words(result: Result, note: str | None, *, has_answer: bool = True) -> str:
    """Return an answer as text: the answer, how it follows, the hits by number, and what should be known of it.

    Without `has_answer` the answer has been told already.
    """
    places = {hit.id: place for place, hit in enumerate(result.hits, 1)}
    parts = [_numbered(result, "answer", places), _numbered(result, "long_answer", places)] if has_answer else []
    is_read = result.reading is not None and result.reading.complete
    lines = (_line(place, hit, is_nearby=is_read and not hit.complete) for place, hit in enumerate(result.hits, 1))
    parts.append("\n".join(lines))
    if has_answer and not any(parts):
        parts.append(result.refusal.text if result.refusal is not None else "Nothing was found.")
    parts.append(f"({note})" if note else "")
    return clean("\n\n".join(filter(None, parts)))


def _line(place: int, hit: Ranked, *, is_nearby: bool) -> str:
    where = f", {hit.source.place}" if hit.source is not None and hit.source.file else ""
    why = "; ".join(filter(None, ("nearby" if is_nearby else "", hit.why)))
    why = f": {why}" if why else ""
    return f"[{place}] {hit.name} ({hit.type}, `{hit.id}`{where}){why}"


def _numbered(result: Result, field: str, places: dict[str, int]) -> str:
    """Return a text of the result in which its citations are the numbers of hits."""
    text = result.answer if field == "answer" else result.long_answer
    if text is None:
        return ""
    for cited in sorted(result.citations, key=lambda cited: -cited.begin):
        numbers = [places[node] for node in cited.ids if node in places]
        if cited.text == field and cited.source is None and numbers:
            marks = "".join(f"[{number}]" for number in numbers)
            text = f"{text[: cited.begin]}{marks}{text[cited.end :]}"
    return text


def _with_numbers(text: str, places: Mapping[str, int]) -> str:
    """Return words in which brackets that hold ids of hits have their numbers, as the whole answer would."""

    def numbered(brackets: re.Match[str]) -> str:
        names = [brackets[1]] if brackets[1] in places else [name.strip() for name in re.split("[,;]", brackets[1])]
        return "".join(f"[{places[name]}]" for name in dict.fromkeys(names) if name in places) or brackets[0]

    return _BRACKETS.sub(numbered, text)


def _chore(head: _Head, text: str, *, is_stream: bool) -> Response:
    if not is_stream:
        message = {"role": "assistant", "content": text, "refusal": None}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        return JSONResponse({**head.fields("chat.completion"), "choices": choices, "usage": _usage(Usage())})
    chunks = [_chunk(head, {"role": "assistant", "content": text}), _chunk(head, {}, finish="stop"), _END]
    return Response(b"".join(chunks), media_type="text/event-stream")


_END = b"data: [DONE]\n\n"


def _chunk(head: _Head, delta: dict[str, Any], *, finish: str | None = None, **more: Any) -> bytes:  # Any: JSON
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return _line_of({**head.fields("chat.completion.chunk"), "choices": choices, **more})


def _line_of(value: dict[str, Any]) -> bytes:  # Any: JSON
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


class _Streamed:
    """An answer as a stream of chunks: its words as the model writes them, where it streams, then the numbered hits.

    A citation is the number of its hit where the hits were settled before the answer, else an id, as in the list below.
    """

    def __init__(self, head: _Head, *, request_id: str, shows_events: bool, has_usage: bool) -> None:
        self._head, self._request_id = head, request_id
        self._shows_events, self._has_usage = shows_events, has_usage
        self._heard = HeardWords()
        self._places: dict[str, int] = {}
        """Numbers of the hits that were told."""

    async def chunks(self, running: Begun) -> AsyncGenerator[bytes, None]:
        """Yield the chunks; an error is the last one."""
        yield _chunk(self._head, {"role": "assistant", "content": ""})
        paths = running.generation.paths
        try:
            async for event in with_pings(running.question):
                if event is None:
                    yield PING
                elif event.kind == "done":
                    raise_failure(event.result)
                    for chunk in self._answered(for_outside(event.result, paths), running):
                        yield chunk
                elif event.kind == "hit":
                    self._places[event.hit.id] = len(self._places) + 1
                elif event.kind == "answer_part":
                    self._heard.hear(event.text)
                    yield _chunk(self._head, {"content": self._shown(event.text)})
                elif self._shows_events and (told := _step(event)):
                    yield _chunk(self._head, {}, event=_status(told, is_done=False))
            yield _END
        except Exception as error:  # noqa: BLE001  # the status has been sent
            yield _line_of(problem_of(error, paths, request_id=self._request_id).body())

    def _shown(self, words: str) -> str:
        return clean(_with_numbers(words, self._places))

    def _rest(self, result: Result, note: str | None) -> str:
        """Return what follows the words that were told; they cannot be taken back, and are put right where need be."""
        rest = self._heard.rest(result) if self._heard else None
        if not self._heard:
            return in_words(result, note)
        if rest is not None:
            evidence = in_words(result, note, has_answer=False)
            return self._shown(rest) + (f"\n\n{evidence}" if evidence else "")
        told = NO_ANSWER if result.answer is None else PUT_RIGHT
        return "\n\n".join(("", f"({told})", in_words(result, note)))

    def _answered(self, result: Result, running: Begun) -> Iterator[bytes]:
        head = self._head
        text = self._rest(result, running.note)
        result = running.follow_up.told_in(result)
        if self._shows_events:
            for hit in result.hits:
                yield _chunk(head, {}, event={"type": "source", "data": _source(hit)})
            yield _chunk(head, {}, event=_status("done", is_done=True))
        for line in text.splitlines(keepends=True):
            yield _chunk(head, {"content": line})
        yield _chunk(head, {}, finish="stop", orienteer=_own(result))
        if self._has_usage:
            usage = _usage(result.usage)
            yield _line_of({**head.fields("chat.completion.chunk"), "choices": [], "usage": usage})


def _step(event: Event) -> str:
    """Return a step in a line, nothing for an event that is none."""
    if event.kind != "observation":
        return ""
    first = next(iter(event.observation.text.splitlines()), "")
    return clean(f"{event.call.name}: {first}")[:_LONGEST_STEP]


def _status(text: str, *, is_done: bool) -> dict[str, Any]:  # Any: JSON
    return {"type": "status", "data": {"description": text, "done": is_done, "hidden": is_done}}


def _source(hit: Ranked) -> dict[str, Any]:  # Any: JSON
    name = f"{hit.name} ({hit.type})"
    return {
        "source": {"name": name, "id": hit.id},
        "document": [hit.text or hit.why or hit.name],
        "metadata": [{"source": hit.id, "name": name}],
    }
