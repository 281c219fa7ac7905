"""The application: the faces of a server over one site, behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp

from orienteer.errors import Error, Refused
from orienteer.serve.http.description import description_of, operation_id
from orienteer.serve.http.docs_page import docs_page
from orienteer.serve.http.guard import Guard, Rules
from orienteer.serve.http.look_ups import choice_routes, graph_routes, look_up_routes
from orienteer.serve.http.metrics import CONTENT_TYPE
from orienteer.serve.http.openai_form import openai_error, openai_routes
from orienteer.serve.http.page_files import page_routes
from orienteer.serve.http.problems import Problem, problem_of
from orienteer.serve.http.questions import question_routes
from orienteer.serve.http.site import Site
from orienteer.version import __version__

if TYPE_CHECKING:
    from orienteer.serve.mcp.http import HttpFace

_QUIET: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
"""FastAPI's own telemetry would send errors with what was asked, wherever the environment says."""
_DESCRIPTION = 'Evidence in knowledge graphs. Errors have one shape: {"error": {"message", "status", "value"}}.'


def application(site: Site, rules: Rules, page: Mapping[str, Path]) -> ASGIApp:
    """Return the whole server as ASGI; `page` holds the files of the page by the paths of requests."""
    site.metrics.watch(site.slots)
    for_agents = _for_agents(site)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for pool in (site.pool, site.large_pool, site.question_pool):
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
    )
    _tell_errors(app, site)
    faces = (look_up_routes, graph_routes, question_routes, choice_routes, openai_routes)
    for face in faces:
        app.include_router(face(site))
    _add_upkeep(app, site)
    _add_description(app)
    if for_agents is not None:
        app.router.routes.extend(for_agents.routes)
    app.include_router(page_routes(page))
    return Guard(app, rules, site.metrics, logs_questions=site.logs_questions)


def _for_agents(site: Site) -> HttpFace | None:
    """Return `/mcp`, where the server has it: its package takes half a second to load."""
    if not site.has_mcp:
        return None
    from orienteer.serve.http.mcp_face import mcp_face

    return mcp_face(site)


def _add_upkeep(app: FastAPI, site: Site) -> None:
    """Add what watches the server."""

    @app.get("/health", tags=["upkeep"])
    async def health() -> Response:
        """Say that the server runs. Needs no key."""
        return JSONResponse({"status": "ok"})

    @app.get("/ready", tags=["upkeep"])
    async def ready() -> Response:
        """Say that every graph answers. Needs no key."""
        if any(graph.failure is not None for graph in site.graphs):
            raise Refused(503, "a graph could not be made: the log says why")  # coming again is of no use
        if not all(graph.is_ready for graph in site.graphs):
            raise Refused(503, "a graph is still being made", headers={"retry-after": "2"})
        return JSONResponse({"status": "ready"})

    if site.has_metrics:

        @app.get("/metrics", tags=["upkeep"], response_class=PlainTextResponse)
        async def metrics() -> Response:
            """Return counters as Prometheus reads them."""
            return Response(site.metrics.text(), media_type=CONTENT_TYPE)


def _add_description(app: FastAPI) -> None:
    """Add what describes the server."""
    schema: dict[str, object] = {}

    def described() -> dict[str, object]:
        if not schema:
            schema.update(description_of(app))
        return schema

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        return JSONResponse(described())

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return docs_page(described())


def _tell_errors(app: FastAPI, site: Site) -> None:
    """Give every error the one shape."""

    async def tell(request: Request, error: Exception) -> Response:
        return reply(request, problem_of(error, site.graphs.paths, request_id=request.scope["request_id"]))

    async def tell_missing(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # it is registered for these alone
        path = request.url.path
        told = {404: f"nothing is at {path!r}: /docs lists what is", 405: f"{path} does not take {request.method}"}
        message = told.get(error.status_code, str(error.detail))
        return reply(request, Problem(error.status_code, message, path, error.headers or {}))

    async def tell_shape(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # as above
        fault = error.errors()[0]
        name = str(fault["loc"][-1])
        value = fault["input"] if isinstance(fault["input"], str) else None
        said = "is missing" if fault["type"] == "missing" else f"cannot be used: {fault['msg']}"
        return reply(request, Problem(422, f"{name} {said}", value))

    def reply(request: Request, problem: Problem) -> Response:
        return openai_error(problem) if request.url.path.startswith("/v1/") else problem.response()

    app.add_exception_handler(Error, tell)
    app.add_exception_handler(Exception, tell)
    app.add_exception_handler(HTTPException, tell_missing)
    app.add_exception_handler(RequestValidationError, tell_shape)
