"""The application: all endpoints of a server over one site, behind the guard."""

from __future__ import annotations

import gzip
import json
import re
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from datetime import datetime
from inspect import signature
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Scope

from orienteer.agents.events import Event
from orienteer.display import clean
from orienteer.errors import BadOption, Error, Refused
from orienteer.methods.table import AUTO, METHODS
from orienteer.records import Result, Usage
from orienteer.serve.door import raise_failure, served_method
from orienteer.serve.graphs import Generation, ServedGraph
from orienteer.serve.http import bodies, questions
from orienteer.serve.http.description import PROBLEMS, description_of, docs_page, operation_id, text_for_models
from orienteer.serve.http.guard import ASKED, Guard, Problem, Rules, accepts_gzip, problem_of
from orienteer.serve.http.look_ups import LOOK_UPS, choice_routes, graph_routes, look_up_routes, served_view, takes
from orienteer.serve.http.site import CONTENT_TYPE, Site
from orienteer.serve.mcp.tools import CYPHER, ROWS, Reply
from orienteer.serve.views.outside import for_outside
from orienteer.serve.views.records import NO_ANSWER, PUT_RIGHT, SentWords
from orienteer.version import __version__

if TYPE_CHECKING:
    from orienteer.serve.mcp.http import HttpFace

# FastAPI's own telemetry would send errors with their questions to an address of the environment.
_QUIET: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
_DESCRIPTION = 'Evidence in knowledge graphs. Errors have one shape: {"error": {"message", "status", "value"}}.'


def application(site: Site, rules: Rules, page: Mapping[str, Path]) -> ASGIApp:
    """Return the server as an ASGI application; `page` has the files of the page by request path."""
    site.metrics.watch(site.slots)
    for_agents = mcp_face(site) if site.has_mcp else None

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for pool in (site.pool, site.large_pool, site.page_pool, site.question_pool):
                stack.callback(pool.shutdown, wait=False, cancel_futures=True)
            if for_agents is not None:
                await stack.enter_async_context(for_agents.lifespan())
            yield

    app = FastAPI(
        title="Orienteer",
        version=__version__,
        description=_DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
        generate_unique_id_function=operation_id,
        telemetry=_QUIET,
        responses=PROBLEMS,
    )
    _handle_errors(app, site)
    plain: list[Route] = []
    for routes in (look_up_routes, questions.question_routes, graph_routes, choice_routes, openai_routes):
        app.include_router(router := routes(site))
        plain += _plain(router)
    app.router.routes[:0] = plain
    _add_upkeep(app, site)
    _add_description(app, site)
    if for_agents is not None:
        app.router.routes.extend(for_agents.routes)
    app.router.routes.extend(page_routes(page))
    return Guard(app, rules, site.metrics, logs_questions=site.logs_questions)


def _plain(router: APIRouter) -> Iterator[Route]:
    """Yield the routes that read a request themselves. FastAPI describes them; its way to them takes long."""
    for route in router.routes:
        if isinstance(route, APIRoute) and [*signature(route.endpoint).parameters] == ["request"]:
            yield _PlainRoute(route.path, route.endpoint, methods=[*(route.methods or ())])


class _PlainRoute(Route):
    """A route that tells the guard, which counts requests by route, what it is."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, own = super().matches(scope)
        return match, {**own, "route": self}


def _add_upkeep(app: FastAPI, site: Site) -> None:
    """Add the endpoints for monitoring."""

    @app.get("/health", tags=["upkeep"])
    async def health() -> Response:
        """Report that the server runs. Needs no key."""
        return JSONResponse({"status": "ok"})

    @app.get("/ready", tags=["upkeep"])
    async def ready() -> Response:
        """Report that every graph answers. Needs no key."""
        if any(graph.failure is not None for graph in site.graphs):
            # Trying again would be useless.
            raise Refused(503, "a graph could not be made: the log says why")
        if not all(graph.is_ready for graph in site.graphs):
            raise Refused(503, "a graph is still being made", headers={"retry-after": "2"})
        return JSONResponse({"status": "ready"})

    if site.has_metrics:

        @app.get("/metrics", tags=["upkeep"], response_class=Response, responses={200: {"content": {"text/plain": {}}}})
        async def metrics() -> Response:
            """Return counters in the format of Prometheus."""
            return Response(site.metrics.text(), media_type=CONTENT_TYPE)


def _add_description(app: FastAPI, site: Site) -> None:
    """Add the description of the server."""
    schema: dict[str, object] = {}

    def described() -> dict[str, object]:
        if not schema:
            schema.update(description_of(app))
        return schema

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        return JSONResponse(described())

    @app.get("/llms.txt", include_in_schema=False)
    async def llms() -> Response:
        """Tell a model what is served here, and how to ask."""
        views = await site.look_up(lambda: list(map(served_view, site.graphs)))
        return PlainTextResponse(text_for_models(views, has_mcp=site.has_mcp))

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return docs_page(described())


def _handle_errors(app: FastAPI, site: Site) -> None:
    """Give every error the same shape."""

    async def of_ours(request: Request, error: Exception) -> Response:
        return reply(request, problem_of(error, site.graphs.paths, request_id=request.scope["request_id"]))

    async def of_routing(request: Request, error: Exception) -> Response:
        # The handler is registered only for these.
        assert isinstance(error, HTTPException)
        path = request.url.path
        messages = {404: f"nothing is at {path!r}: /docs lists what is", 405: f"{path} does not take {request.method}"}
        message = messages.get(error.status_code, str(error.detail))
        return reply(request, Problem(error.status_code, message, path, error.headers or {}))

    async def of_shape(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        fault = error.errors()[0]
        name = str(fault["loc"][-1])
        value = fault["input"] if isinstance(fault["input"], str) else None
        why = "is missing" if fault["type"] == "missing" else f"cannot be used: {fault['msg']}"
        return reply(request, Problem(422, f"{name} {why}", value))

    def reply(request: Request, problem: Problem) -> Response:
        return openai_error(problem) if request.url.path.startswith("/v1/") else problem.response()

    app.add_exception_handler(Error, of_ours)
    app.add_exception_handler(Exception, of_ours)
    app.add_exception_handler(HTTPException, of_routing)
    app.add_exception_handler(RequestValidationError, of_shape)


# `/mcp`: the graphs as tools of third-party agents, behind the guard. Long calls take the slots of questions.


# Tools that do the same as large look-ups.
_LARGE = {ROWS, *(look_up.path.removeprefix("/") for look_up in LOOK_UPS if look_up.is_large)}


def mcp_face(site: Site) -> HttpFace:
    """Return the routes and the lifespan of the protocol over a site's graphs. Needs the extra `mcp`."""
    # Its package takes half a second to load, and may be missing.
    from orienteer.serve.mcp.http import http_face
    from orienteer.serve.mcp.server import server

    async def events_of(generation: Generation, asked: Mapping[str, Any]) -> AsyncGenerator[Event, None]:
        body = bodies.shaped(bodies.AskBody, {**asked, "method": AUTO})
        question = questions.Question(site, await site.slots.take())
        try:
            await question.start(generation, body)
            async with aclosing(question.events()) as events:
                async for event in events:
                    yield event
        finally:
            question.close()

    async def run_in(tool: str, read: Callable[[], Reply]) -> Reply:
        if tool == CYPHER:
            return await site.in_a_slot(read)
        return await site.look_up(read, is_large=tool in _LARGE)

    made = server(site.graphs, offers_cypher=site.answering.runs_cypher, events_of=events_of, run_in=run_in)
    return http_face(made, is_behind_door=True)


# `/v1`: graphs as models for clients that speak OpenAI's form. `orienteer/GRAPH[:METHOD]` is the name of a model.
#
# Errors are those of the other routes, with three more fields of OpenAI's: `type`, `param`, `code`.


PREFIX = "orienteer/"
K = 10
"""Hits that a chat client gets."""
SHOWS_EVENTS = "x-openwebui-chat-id"
"""A header of Open WebUI, which shows steps and sources next to an answer."""
_BRACKETS = re.compile(r"\[([^\[\]]+)\]")
_LONGEST_STEP = 120  # characters of a step
_FIELD = re.compile(r"[a-z_]+")


class _Named(NamedTuple):
    graph: ServedGraph
    method: str


class _Head(NamedTuple):
    """The fields that all chunks of a reply repeat."""

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

    @router.post("/chat/completions", openapi_extra=takes(bodies.ChatBody))
    async def chat(request: Request) -> Response:
        """Answer the last question of a conversation, with its evidence, whole or as a stream."""
        body = await bodies.body_of(request, bodies.ChatBody)
        named = _named(site, body.model)
        head = _Head(f"chatcmpl-{uuid.uuid4().hex}", body.model, int(time.time()))
        if (chore := bodies.chore_reply(body, is_marked=bodies.CHORE_HEADER in request.headers)) is not None:
            # Chores of a chat client, such as a title, are answered without a search: nothing is retrieved for them.
            if not body.stream:
                return JSONResponse(_completion(head, chore, Usage()))
            chunks = [_chunk(head, {"role": "assistant", "content": chore}), _chunk(head, {}, finish="stop"), _END]
            return Response(b"".join(chunks), media_type="text/event-stream")
        bodies.check_can_be_met(body)
        question = bodies.question_of(body.messages)
        asked = bodies.AskBody(graph=named.graph.name, question=question, k=K, method=named.method)
        request.scope[ASKED] = question
        before = bodies.turns_before(body.messages)
        running = await questions.start_question(site, asked, request.receive, hears_parts=body.stream, before=before)
        if body.stream:
            reply = _AnswerStream(
                head,
                request_id=request.scope["request_id"],
                shows_events=SHOWS_EVENTS in request.headers,
                has_usage=body.stream_options is not None and body.stream_options.include_usage,
            )
            return questions.EventReply(reply.chunks(running), running.question.close)
        result = for_outside(await running.result(request.receive), running.generation.paths)
        words = completion_in_words(result, running.note)
        return JSONResponse({**_completion(head, words, result.usage), "orienteer": _as_json(result)})

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
    """Return a graph as a model, created at the time of its generation; at 0 during its build."""
    created = 0
    if _answers(graph):
        manifest = graph.current().graph.arrays.manifest
        created = int(datetime.fromisoformat(manifest.created).timestamp())
    return {"id": name, "object": "model", "created": created, "owned_by": "orienteer"}


def _named(site: Site, model: str) -> _Named:
    """Return the graph and method of a model's name. Raises `Refused`: 404, or 400 for a method that is not served."""
    rest = model.removeprefix(PREFIX)
    # A graph's name may have a colon: the longest name wins.
    for graph in sorted(site.graphs, key=lambda graph: -len(graph.name)):
        if rest == graph.name or rest.startswith(f"{graph.name}:"):
            try:
                return _Named(graph, served_method(rest[len(graph.name) + 1 :] or AUTO, site.offered))
            except BadOption as error:
                raise Refused(400, f"model {model[:100]!r}: {error}", value=model) from None
    raise Refused(404, f"model {model[:100]!r} is not served here: GET /v1/models lists those that are", value=model)


def openai_error(problem: Problem) -> Response:
    """Return an error in OpenAI's form: `param` is the field at the beginning of the message."""
    body: dict[str, Any] = problem.body()  # Any: JSON
    begin = _FIELD.match(problem.message)
    field = begin[0] if begin is not None and begin[0] in bodies.ChatBody.model_fields else None
    body["error"] |= {
        "type": "invalid_request_error" if problem.status < 500 else "server_error",
        "param": field,
        "code": "model_not_found" if problem.status == 404 and field == "model" else None,
    }
    return JSONResponse(body, problem.status, headers=dict(problem.headers))


# ------------------------------------------------------------------------------------------------------------- replies


def _as_json(result: Result) -> dict[str, Any]:  # Any: JSON
    """Return the result for the key `orienteer`, which other clients ignore."""
    return result.model_dump(mode="json", exclude={"trajectories"})


def _completion(head: _Head, words: str, usage: Usage) -> dict[str, Any]:  # Any: JSON
    message = {"role": "assistant", "content": words, "refusal": None}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return {**head.fields("chat.completion"), "choices": choices, "usage": _usage(usage)}


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.tokens,
    }


def completion_in_words(result: Result, note: str | None, *, has_answer: bool = True) -> str:
    """Return the answer (unless `has_answer` is False) or why there is none, the numbered hits and the note as text."""
    places = {hit.id: place for place, hit in enumerate(result.hits, 1)}
    parts = [_numbered(result, "answer", places), _numbered(result, "long_answer", places)] if has_answer else []
    if has_answer and not any(parts):
        nothing = result.meeting or ("" if result.hits else "Nothing was found.")
        parts = [result.refusal.text if result.refusal is not None else nothing]
    if has_answer:
        parts.append("\n".join(citation.told for citation in result.citations if citation.quote))
    # Below an exact answer, what is nearby would be noise in a chat: it is counted.
    meeting = [hit for hit in result.hits if hit.complete]
    shown = meeting if meeting and result.reading is not None and result.reading.complete else result.hits
    lines = []
    for hit in shown:
        where = f", {hit.source.place}" if hit.source is not None and hit.source.file else ""
        why = f": {hit.why}" if hit.why else ""
        lines.append(f"[{places[hit.id]}] {hit.name} ({hit.type}, `{hit.id}`{where}){why}")
    parts.append("\n".join(lines))
    nearby = len(result.hits) - len(shown)
    parts.append(f"({nearby} more meet{'s' * (nearby == 1)} only some of it)" if nearby else "")
    parts.append(f"({note})" if note else "")
    return clean("\n\n".join(filter(None, parts)))


def _numbered(result: Result, field: str, places: dict[str, int]) -> str:
    """Return a text of the result with the numbers of hits as citations."""
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
    """Return words with the numbers of hits in brackets instead of their ids."""

    def numbered(brackets: re.Match[str]) -> str:
        names = [brackets[1]] if brackets[1] in places else [name.strip() for name in re.split("[,;]", brackets[1])]
        return "".join(f"[{places[name]}]" for name in dict.fromkeys(names) if name in places) or brackets[0]

    return _BRACKETS.sub(numbered, text)


_END = b"data: [DONE]\n\n"


def _chunk(head: _Head, delta: dict[str, Any], *, finish: str | None = None, **more: Any) -> bytes:  # Any: JSON
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return _line_of({**head.fields("chat.completion.chunk"), "choices": choices, **more})


def _line_of(value: dict[str, Any]) -> bytes:  # Any: JSON
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


class _AnswerStream:
    """An answer as a stream of chunks: its words as the model writes them, then the numbered hits.

    A citation is the number of its hit if the hits came before the answer, else an id of the list.
    """

    def __init__(self, head: _Head, *, request_id: str, shows_events: bool, has_usage: bool) -> None:
        self._head, self._request_id = head, request_id
        self._shows_events, self._has_usage = shows_events, has_usage
        self._sent = SentWords()
        # Numbers of the hits so far.
        self._places: dict[str, int] = {}

    async def chunks(self, running: questions.StartedQuestion) -> AsyncGenerator[bytes, None]:
        """Yield the chunks; an error is the last one."""
        yield _chunk(self._head, {"role": "assistant", "content": ""})
        paths = running.generation.paths
        try:
            async for event in questions.with_pings(running.question):
                if event is None:
                    yield questions.PING
                elif event.kind == "done":
                    raise_failure(event.result)
                    for chunk in self._answered(for_outside(event.result, paths), running):
                        yield chunk
                elif event.kind == "hit":
                    self._places[event.hit.id] = len(self._places) + 1
                elif event.kind == "answer_part":
                    self._sent.add(event.text)
                    yield _chunk(self._head, {"content": clean(_with_numbers(event.text, self._places))})
                elif self._shows_events and (step := _step(event)):
                    yield _chunk(self._head, {}, event=_status(step, is_done=False))
            yield _END
        except Exception as error:  # noqa: BLE001  # the status has been sent
            yield _line_of(problem_of(error, paths, request_id=self._request_id).body())

    def _rest(self, result: Result, note: str | None) -> str:
        """Return the text after the words that were sent, which cannot be withdrawn; a wrong answer is corrected."""
        if not self._sent:
            return completion_in_words(result, note)
        rest = self._sent.rest(result)
        if rest is not None:
            evidence = completion_in_words(result, note, has_answer=False)
            return clean(_with_numbers(rest, self._places)) + (f"\n\n{evidence}" if evidence else "")
        correction = NO_ANSWER if result.answer is None else PUT_RIGHT
        return "\n\n".join(("", f"({correction})", completion_in_words(result, note)))

    def _answered(self, result: Result, running: questions.StartedQuestion) -> Iterator[bytes]:
        head = self._head
        text = self._rest(result, running.note)
        result = running.follow_up.added_to(result)
        if self._shows_events:
            for hit in result.hits:
                name = f"{hit.name} ({hit.type})"
                source = {
                    "source": {"name": name, "id": hit.id},
                    "document": [hit.text or hit.why or hit.name],
                    "metadata": [{"source": hit.id, "name": name}],
                }
                yield _chunk(head, {}, event={"type": "source", "data": source})
            yield _chunk(head, {}, event=_status("done", is_done=True))
        for line in text.splitlines(keepends=True):
            yield _chunk(head, {"content": line})
        yield _chunk(head, {}, finish="stop", orienteer=_as_json(result))
        if self._has_usage:
            usage = _usage(result.usage)
            yield _line_of({**head.fields("chat.completion.chunk"), "choices": [], "usage": usage})


def _step(event: Event) -> str:
    """Return a tool call as a line; empty for other events."""
    if event.kind != "observation":
        return ""
    first = next(iter(event.observation.text.splitlines()), "")
    return clean(f"{event.call.name}: {first}")[:_LONGEST_STEP]


def _status(text: str, *, is_done: bool) -> dict[str, Any]:  # Any: JSON
    return {"type": "status", "data": {"description": text, "done": is_done, "hidden": is_done}}


# The files of the page: a fixed list made at the start, so that no request path leads into a folder.


PAGE = Path(__file__).parents[1] / "page"
INDEX = "index.html"
_FOREVER = "public, max-age=31536000, immutable"
# The types of the system differ from machine to machine.
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".woff2": "font/woff2"}


def page_files(folder: Path = PAGE) -> dict[str, Path]:
    """Return the files of a page by request path, without links."""
    assets = folder / "assets"
    files = {f"/{file.relative_to(folder).as_posix()}": file for file in sorted(assets.rglob("*"))}
    files["/"] = folder / INDEX
    return {path: file for path, file in files.items() if file.is_file() and not file.is_symlink()}


def page_routes(files: Mapping[str, Path]) -> list[Route]:
    """Return a route for each file. Browsers keep assets, whose names have hashes, for ever, and never the page."""
    return [Route(path, _sender(file, is_asset=path != "/"), methods=["GET"]) for path, file in files.items()]


def _sender(file: Path, *, is_asset: bool) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint that sends a file, compressed once at the start for clients that read this."""
    media_type = _TYPES.get(file.suffix) or guess_type(file.name)[0] or "application/octet-stream"
    headers = {"cache-control": _FOREVER if is_asset else "no-store"}
    content = file.read_bytes()
    zipped = gzip.compress(content, mtime=0)

    async def send(request: Request) -> Response:
        if accepts_gzip(request.headers):
            return Response(zipped, media_type=media_type, headers={**headers, "content-encoding": "gzip"})
        return Response(content, media_type=media_type, headers=headers)

    return send
