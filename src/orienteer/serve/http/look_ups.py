"""The routes that read a graph without a question: each returns the record of the command with its name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from inspect import getdoc
from itertools import chain
from typing import Annotated, Any, Literal, NamedTuple

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel
from starlette.responses import Response, StreamingResponse

from orienteer.cypher.names import QueryTable
from orienteer.display import clean
from orienteer.errors import Refused, without_paths
from orienteer.options import Options
from orienteer.reading import Overview
from orienteer.records import FileRows, Record, Result
from orienteer.retriever import overview as overview_of
from orienteer.serve.graphs import Generation, ServedGraph
from orienteer.serve.http import bodies
from orienteer.serve.http.guard import ASKED
from orienteer.serve.http.site import Site, json_of, while_there
from orienteer.serve.views import answers, documents, pages, records

READER = "anchor"
"""The method that reads the questions whose answers are listed or counted: it asks no model."""
BOM = "\ufeff"
"""By this spreadsheets know that a CSV file is UTF-8."""
GraphName = Annotated[str | None, Query(alias="graph", max_length=1_000)]
NodeId = Annotated[str, Query(alias="id", min_length=1, max_length=1_000)]
Parts = Annotated[int, Query(ge=1, le=200)]
Offset = Annotated[int | None, Query(ge=0, le=1_000_000)]


class ServedView(Record):
    """A graph of this server."""

    name: str
    is_ready: bool
    """Whether it answers from all of its sources."""
    is_partial: bool = False
    """Whether it answers during a build: from the files read so far, or from the version before its sources changed."""
    is_failed: bool = False
    """Whether its build failed; the stage says why."""
    stage: str | None = None
    """The progress of its build, or why that failed."""
    done: int | None = None
    of: int | None = None
    seconds_left: int | None = None
    """Of this stage, estimated; None if unknown."""
    files: int | None = None
    """Files that a partial graph answers from; None if it is the version before its sources changed."""
    of_files: int | None = None
    note: str | None = None
    """The same in words: the note of every answer."""
    vectors_seconds_left: int | None = None
    """Until its vectors are built, estimated; None if none are being built. Until then words are compared."""
    nodes: int = 0
    edges: int = 0
    node_types: dict[str, int] = {}
    edge_types: dict[str, int] = {}
    labels: dict[str, str] = {}
    generation: str | None = None


class ServerView(Record):
    """The graphs and features of a server."""

    graphs: tuple[ServedView, ...]
    methods: tuple[str, ...]
    model: str | None
    """None without a model."""
    has_cypher: bool
    has_feedback: bool
    has_mcp: bool
    """Whether agents find tools at `/mcp`."""


class SavedFeedback(Record):
    """The reply to feedback."""

    kept: bool = True


def takes(body: type[Options]) -> dict[str, Any]:  # Any: JSON
    """Return the OpenAPI description of a body."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": body.model_json_schema()}}}}


def look_up_routes(site: Site) -> APIRouter:
    """Return the routes of `/api` that take a body and return a record."""
    router = APIRouter(prefix="/api", tags=["look-ups"])
    for look_up in LOOK_UPS:
        router.add_api_route(
            look_up.path,
            _answering(site, look_up),
            methods=["POST"],
            response_model=look_up.record,
            description=getdoc(look_up.body),
            openapi_extra=takes(look_up.body),
        )
    return router


class LookUp(NamedTuple):
    """A route that reads a graph: its body, which says what it does, its record, and the function that makes that."""

    path: str
    body: type[bodies.Body]
    record: Any  # Any: a record, or several that it may be
    view: Callable[..., BaseModel]
    """Takes a graph and the fields of the body."""
    is_large: bool = False
    """Whether its work grows with the nodes that a request names, or with the number of paths between them."""

    def read(self, generation: Generation, body: bodies.Body) -> BaseModel:
        """Return the record that a body asks for."""
        if isinstance(body, bodies.FacetsBody):
            return self.view(generation.retriever(READER), **body.model_dump(exclude={"graph", "format"}))
        if not isinstance(body, bodies.SearchBody):
            return self.view(generation.graph, **body.model_dump(exclude={"graph"}))
        filters = {"node_types": body.node_types, "where": body.where}
        return pages.search(
            generation.searcher(body.mode), body.query, body.most_hits, called=generation.name, **filters
        )


def _answering(site: Site, look_up: LookUp) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        body = await bodies.body_of(request, look_up.body)
        if isinstance(body, bodies.SearchBody):
            request.scope[ASKED] = body.query
        if isinstance(body, bodies.AnswersBody):
            wants_csv = "text/csv" in request.headers.get("accept", "")
            if (form := body.format or ("csv" if wants_csv else None)) is not None:
                return await _file(site, request, body, form)
        view = partial(look_up.read, body=body)
        return await _read(site, request, body.graph, view, is_large=look_up.is_large)

    return answer


async def _file(site: Site, request: Request, body: bodies.AnswersBody, form: Literal["csv", "json"]) -> Response:
    """Return the whole table that a body asks for, part by part; each part waits for a thread of look-ups."""
    served = site.graphs.named(body.graph)

    def read() -> Iterator[str]:
        generation = served.current()
        with generation.explained():
            options = body.model_dump(exclude={"graph", "format", "offset", "k"})
            table = answers.answer_table(generation.retriever(READER), **options)
        return chain([BOM], table.csv()) if form == "csv" else table.json()

    parts = await site.look_up(read, receive=request.receive, is_large=True)

    async def sent() -> AsyncIterator[str]:
        while (part := await site.look_up(partial(next, parts, None), is_large=True)) is not None:
            yield part

    name = {"content-disposition": f'attachment; filename="answers.{form}"'}
    media_type = "text/csv; charset=utf-8" if form == "csv" else "application/json"
    return StreamingResponse(sent(), media_type=media_type, headers=name)


async def _read(
    site: Site, request: Request, name: str | None, view: Callable[[Generation], BaseModel], *, is_large: bool = False
) -> Response:
    """Return the record that a view makes from a graph."""
    served = site.graphs.named(name)

    def read() -> Response:
        generation = served.current()
        return json_of(generation.read(view), generation.paths)

    return await site.look_up(read, receive=request.receive, is_large=is_large)


LOOK_UPS = (
    LookUp("/search", bodies.SearchBody, Result, pages.search),
    LookUp("/neighbors", bodies.NeighborsBody, records.NeighborsPage, pages.neighbors),
    LookUp("/intersect", bodies.IntersectBody, records.IntersectPage, pages.intersect, is_large=True),
    LookUp("/paths", bodies.PathsBody, records.PathsPage, pages.paths, is_large=True),
    LookUp("/list", bodies.ListBody, records.Listing | records.Grouping, pages.list_nodes),
    LookUp("/subgraph", bodies.SubgraphBody, records.Subgraph, pages.subgraph, is_large=True),
    LookUp("/facets", bodies.FacetsBody, records.Facets, answers.facets, is_large=True),
    LookUp("/answers", bodies.AnswersBody, records.Answers, answers.answers, is_large=True),
)


def graph_routes(site: Site) -> APIRouter:
    """Return the routes of `/api` that are read by `GET`."""
    router = APIRouter(prefix="/api", tags=["graphs"])

    @router.get("/graphs", response_model=ServerView)
    async def graphs(request: Request) -> Response:
        """List the graphs of this server, and what it can do."""
        model = site.answering.model

        def read() -> Response:
            view = ServerView(
                graphs=tuple(map(served_view, site.graphs)),
                methods=site.offered,
                model=None if model is None else model.name,
                has_cypher=site.answering.runs_cypher,
                has_feedback=site.feedback is not None,
                has_mcp=site.has_mcp,
            )
            return json_of(view, site.graphs.paths)

        return await site.look_up(read, receive=request.receive)

    @router.get("/schema", response_model=records.SchemaView)
    async def schema(request: Request, graph: GraphName = None) -> Response:
        """List the node types and edge types, which types each edge joins, and their labels."""
        return await _read(site, request, graph, lambda generation: pages.schema(generation.graph))

    @router.get("/info", response_model=records.GraphInfo)
    async def info(request: Request, graph: GraphName = None) -> Response:
        """Describe a graph: its nodes and edges by type, its size, its sources."""

        def view(generation: Generation) -> BaseModel:
            return pages.info(generation.graph).model_copy(update={"name": generation.name})

        return await _read(site, request, graph, view)

    @router.get("/overview", response_model=Overview)
    async def overview(request: Request, graph: GraphName = None, examples: bool = True) -> Response:
        """Say what a graph is about, with questions that are proved to have an answer; quickly without `examples`."""

        def view(generation: Generation) -> BaseModel:
            return overview_of(generation.graph, has_examples=examples and not generation.is_part)

        return await _read(site, request, graph, view, is_large=examples)

    @router.get("/node", response_model=records.NodePage)
    async def node(request: Request, node: NodeId, graph: GraphName = None) -> Response:
        """Return one node in full."""
        return await _read(site, request, graph, lambda generation: pages.node(generation.graph, node))

    @router.get("/rows", response_model=FileRows)
    async def rows(request: Request, node: NodeId, graph: GraphName = None) -> Response:
        """Return the rows of the tables that a node was imported from, as they are in their files."""
        return await _read(site, request, graph, lambda one: pages.file_rows(one.graph, node), is_large=True)

    router.include_router(_document_routes(site))
    return router


def _document_routes(site: Site) -> APIRouter:
    router, pictures = APIRouter(), documents.PagePictures()

    @router.get("/file", response_model=documents.DocumentPage)
    async def file(
        request: Request, node: NodeId, graph: GraphName = None, k: Parts = documents.PARTS, offset: Offset = None
    ) -> Response:
        """Return the document of a node around its place. Its words are those of the graph."""
        view = partial(documents.document, node=node, k=k, offset=offset)
        return await _read(site, request, graph, lambda generation: view(generation.graph))

    @router.get("/page", response_class=Response, responses={200: {"content": {"image/png": {}}}})
    async def page(
        request: Request,
        node: NodeId,
        graph: GraphName = None,
        page: Offset = None,
        begin: Annotated[int, Query(ge=0)] = 0,
        end: Offset = None,
    ) -> Response:
        """Return a page of a PDF as a picture, with the boxes of some characters of a passage's text in `x-boxes`."""
        served = site.graphs.named(graph)

        def draw() -> Response:
            generation = served.current()
            with generation.explained():
                drawn = pictures.picture(generation.graph, node, page=page, begin=begin, end=end)
            boxes = ";".join(",".join(map(str, box)) for box in drawn.boxes)
            return Response(drawn.png, media_type="image/png", headers={"x-pages": str(drawn.pages), "x-boxes": boxes})

        drawing = asyncio.get_running_loop().run_in_executor(site.page_pool, draw)
        return await while_there(request.receive, drawing)

    return router


def choice_routes(site: Site) -> APIRouter:
    """Return the routes that the operator has to enable: Cypher and feedback."""
    router = APIRouter(prefix="/api", tags=["by choice"])

    @router.post("/cypher", response_model=QueryTable, openapi_extra=takes(bodies.CypherBody))
    async def cypher(request: Request) -> Response:
        """Query a graph in Cypher, read-only. Only where the server was started with `--cypher`."""
        if not site.answering.runs_cypher:
            raise Refused(403, "Cypher is off: start the server with --cypher")
        body = await bodies.body_of(request, bodies.CypherBody)
        served = site.graphs.named(body.graph)

        def query() -> Response:
            # Few servers answer Cypher.
            from orienteer.cypher.session import Cypher

            generation = served.current()
            table = Cypher(generation.graph).query(
                body.query, body.parameters, limit=body.limit, seconds=body.seconds, proofs=body.proofs
            )
            return json_of(table, generation.paths)

        return await while_there(request.receive, site.in_a_slot(query))

    @router.post("/feedback", response_model=SavedFeedback, openapi_extra=takes(bodies.FeedbackBody))
    async def feedback(request: Request) -> Response:
        """Keep a question with its hits for `eval`. Only where the server was started with `--feedback FILE`."""
        file = site.feedback
        if file is None:
            raise Refused(403, "feedback is not kept: start the server with --feedback FILE")
        body = await bodies.body_of(request, bodies.FeedbackBody)

        def view(generation: Generation) -> BaseModel:
            nodes = [pages.node_named(generation.graph, node).id for node in body.nodes]
            file.add(generation.name, body.question, nodes, is_good=body.is_good)
            return SavedFeedback()

        return await _read(site, request, body.graph, view)

    return router


def served_view(served: ServedGraph) -> ServedView:
    """Return what is known of a graph, also during its build."""
    facts: dict[str, Any] = {"name": served.name, "is_ready": served.is_ready}  # Any: the fields of the view
    if served.failure is not None:
        why = clean(without_paths(served.failure.public, served.paths))
        return ServedView(**facts, is_failed=True, stage=why)
    interim, stage = served.interim, served.stage
    if stage is not None:
        left = stage.seconds_left
        facts |= {"stage": clean(stage.text), "done": stage.done, "of": stage.of}
        facts["seconds_left"] = None if left is None else round(left)
        if interim is None:
            return ServedView(**facts)
    generation = served.current()
    schema, manifest = generation.graph.schema, generation.graph.arrays.manifest
    if (note := generation.interim_note()) is not None and interim is not None:
        facts |= {"is_partial": True, "files": interim.files, "of_files": interim.of, "note": note}
    vectors_left = served.vectors_left(generation.graph)
    return ServedView(
        **facts,
        vectors_seconds_left=None if vectors_left is None else round(vectors_left),
        nodes=manifest.nodes,
        edges=manifest.edges,
        node_types=dict(schema.node_types),
        edge_types=dict(schema.edge_types),
        labels=dict(schema.labels),
        generation=manifest.generation,
    )
