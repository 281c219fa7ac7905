"""The routes that read a graph and ask no question: each gives the record of the command of its name, whole."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from orienteer.cypher.names import QueryTable
from orienteer.display import clean
from orienteer.errors import Refused, without_paths
from orienteer.graph.store import Graph
from orienteer.options import Options
from orienteer.records import Record, Result
from orienteer.serve.graphs import Generation, ServedGraph
from orienteer.serve.http.bodies import (
    Body,
    CypherBody,
    FacetsBody,
    FeedbackBody,
    IntersectBody,
    ListBody,
    NeighborsBody,
    PathsBody,
    SearchBody,
    SubgraphBody,
    body_of,
)
from orienteer.serve.http.guard import ASKED
from orienteer.serve.http.site import FeedbackFile, Site, json_of, while_there
from orienteer.serve.views import pages
from orienteer.serve.views.records import (
    Facets,
    GraphInfo,
    Grouping,
    IntersectPage,
    Listing,
    NeighborsPage,
    NodePage,
    PathsPage,
    SchemaView,
    Subgraph,
)

GraphName = Annotated[str | None, Query(alias="graph", max_length=1_000)]
NodeId = Annotated[str, Query(alias="id", min_length=1, max_length=1_000)]
Parts = Annotated[int, Query(ge=1, le=200)]
Offset = Annotated[int | None, Query(ge=0, le=1_000_000)]


class ServedView(Record):
    """A graph of this server."""

    name: str
    is_ready: bool
    """Whether it answers from all that it is made of."""
    is_partial: bool = False
    """Whether it answers while it is made: from what was read so far, or as it was before its sources changed."""
    is_failed: bool = False
    """Whether it could not be made; its stage says why."""
    stage: str | None = None
    """How far its making has come, where it is not ready; why it could not be made."""
    done: int | None = None
    of: int | None = None
    seconds_left: int | None = None
    """Of this stage, about; None where nobody knows."""
    files: int | None = None
    """Files that a partial one answers from; None where it is that from before its sources changed."""
    of_files: int | None = None
    note: str | None = None
    """The same in words, as every answer says it."""
    vectors_seconds_left: int | None = None
    """Until its vectors are there, about: until then words are compared; None where none are being made."""
    nodes: int = 0
    edges: int = 0
    node_types: dict[str, int] = {}
    edge_types: dict[str, int] = {}
    labels: dict[str, str] = {}
    generation: str | None = None


class ServerView(Record):
    """What a server has."""

    graphs: tuple[ServedView, ...]
    methods: tuple[str, ...]
    model: str | None
    """None where nothing is asked of a model."""
    has_cypher: bool
    has_feedback: bool
    has_mcp: bool
    """Whether agents find tools at `/mcp`."""


class Kept(Record):
    """That feedback was kept."""

    kept: bool = True


def takes(body: type[Options]) -> dict[str, Any]:  # Any: JSON
    """Return what OpenAPI says of a body."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": body.model_json_schema()}}}}


def look_up_routes(site: Site) -> APIRouter:
    """Return the routes of `/api` that take a body and give a record."""
    router = APIRouter(prefix="/api", tags=["look-ups"])
    for look_up in LOOK_UPS:
        router.add_api_route(
            look_up.path,
            _answering(site, look_up),
            methods=["POST"],
            response_model=look_up.record,
            description=look_up.view.__doc__,
            openapi_extra=takes(look_up.body),
        )
    return router


class LookUp(NamedTuple):
    """A route that reads a graph: what it takes, what it gives, and what makes that."""

    path: str
    body: type[Body]
    record: Any  # Any: a record, or several that it may be
    view: Callable[[Generation, Any], BaseModel]  # Any: its body
    is_large: bool = False
    """Whether its work grows with what a request names, or with what lies between that."""


def _answering(site: Site, look_up: LookUp) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        body = await body_of(request, look_up.body)
        if isinstance(body, SearchBody):
            request.scope[ASKED] = body.query
        served = site.graphs.named(body.graph)

        def read() -> Response:
            generation = served.current()
            return _told(generation, lambda: look_up.view(generation, body))

        return await site.look_up(read, receive=request.receive, is_large=look_up.is_large)

    return answer


def _told(generation: Generation, view: Callable[[], BaseModel]) -> Response:
    """Return what a view gives; of a graph that is still being made it, or its error, says so."""
    with generation.telling():
        return json_of(generation.noted(view()), generation.paths)


def _search(generation: Generation, body: SearchBody) -> Result:
    """Rank the nodes that best match some words."""
    searcher, called = generation.searcher(body.mode), generation.name
    return pages.search_by(
        searcher, body.query, body.most_hits, node_types=body.node_types, where=body.where, called=called
    )


def _neighbors(generation: Generation, body: NeighborsBody) -> NeighborsPage:
    """List the neighbours of a node with the edges that lead to them, counted by kind."""
    options = body.model_dump(exclude={"graph", "node", "query"})
    return pages.neighbors(generation.graph, body.node, body.query, **options)


def _intersect(generation: Generation, body: IntersectBody) -> IntersectPage:
    """List the nodes connected to all of several nodes, or to most of them, with the edges."""
    return pages.intersect(generation.graph, body.nodes, node_types=body.node_types, k=body.k)


def _paths(generation: Generation, body: PathsBody) -> PathsPage:
    """List the shortest paths between two nodes, whatever the direction of the edges."""
    return pages.paths(generation.graph, body.a, body.b, max_length=body.max_length, k=body.k)


def _list(generation: Generation, body: ListBody) -> Listing | Grouping:
    """List nodes by type and property, without words; with `group_by` the values of a field."""
    options = body.model_dump(exclude={"graph", "group_by"})
    if body.group_by is None:
        return pages.list_nodes(generation.graph, **options)
    return pages.list_groups(generation.graph, body.group_by, **options)


def _subgraph(generation: Generation, body: SubgraphBody) -> Subgraph:
    """Return some nodes and all edges among them, for a picture."""
    return pages.subgraph(generation.graph, body.nodes, around=body.around)


def _facets(generation: Generation, body: FacetsBody) -> Facets:
    """Count some nodes by type and by the values of their properties."""
    return pages.facets(generation.graph, body.nodes)


LOOK_UPS = (
    LookUp("/search", SearchBody, Result, _search),
    LookUp("/neighbors", NeighborsBody, NeighborsPage, _neighbors),
    LookUp("/intersect", IntersectBody, IntersectPage, _intersect, is_large=True),
    LookUp("/paths", PathsBody, PathsPage, _paths, is_large=True),
    LookUp("/list", ListBody, Listing | Grouping, _list),
    LookUp("/subgraph", SubgraphBody, Subgraph, _subgraph, is_large=True),
    LookUp("/facets", FacetsBody, Facets, _facets, is_large=True),
)


def graph_routes(site: Site) -> APIRouter:
    """Return the routes of `/api` that are read by `GET`."""
    router = APIRouter(prefix="/api", tags=["graphs"])

    async def shown(request: Request, name: str | None, view: Callable[[Graph], BaseModel]) -> Response:
        served = site.graphs.named(name)

        def read() -> Response:
            generation = served.current()
            return _told(generation, lambda: view(generation.graph))

        return await site.look_up(read, receive=request.receive)

    @router.get("/graphs", response_model=ServerView)
    async def graphs(request: Request) -> Response:
        """List the graphs of this server, and what it can do."""
        return await site.look_up(lambda: json_of(_server_view(site), site.graphs.paths), receive=request.receive)

    @router.get("/schema", response_model=SchemaView)
    async def schema(request: Request, graph: GraphName = None) -> Response:
        """List the node types and edge types, which types each edge joins, and their labels."""
        return await shown(request, graph, pages.schema)

    @router.get("/info", response_model=GraphInfo)
    async def info(request: Request, graph: GraphName = None) -> Response:
        """Describe a graph: its nodes and edges by type, its size, its sources."""
        name = site.graphs.named(graph).name
        return await shown(request, graph, lambda opened: pages.info(opened).model_copy(update={"name": name}))

    @router.get("/node", response_model=NodePage)
    async def node(request: Request, node: NodeId, graph: GraphName = None) -> Response:
        """Return one node in full."""
        return await shown(request, graph, lambda opened: pages.node(opened, node))

    @router.get("/file", response_model=pages.DocumentPage)
    async def file(
        request: Request, node: NodeId, graph: GraphName = None, k: Parts = pages.PARTS, offset: Offset = None
    ) -> Response:
        """Return the document of a node around its place, from the graph: no file is read."""
        return await shown(request, graph, lambda opened: pages.document(opened, node, k=k, offset=offset))

    return router


def choice_routes(site: Site) -> APIRouter:
    """Return the routes that whoever runs the server has chosen: Cypher, and feedback."""
    router = APIRouter(prefix="/api", tags=["by choice"])

    @router.post("/cypher", response_model=QueryTable, openapi_extra=takes(CypherBody))
    async def cypher(request: Request) -> Response:
        """Query a graph in Cypher, read-only. Only where the server was started with `--cypher`."""
        if not site.has_cypher:
            raise Refused(403, "Cypher is off: start the server with --cypher")
        body = await body_of(request, CypherBody)
        served = site.graphs.named(body.graph)
        return await while_there(request.receive, site.in_a_place(lambda: _queried(served, body)))

    @router.post("/feedback", response_model=Kept, openapi_extra=takes(FeedbackBody))
    async def feedback(request: Request) -> Response:
        """Keep a question with its hits for `eval`. Only where the server was started with `--feedback FILE`."""
        file = site.feedback
        if file is None:
            raise Refused(403, "feedback is not kept: start the server with --feedback FILE")
        body = await body_of(request, FeedbackBody)
        served = site.graphs.named(body.graph)
        return await site.look_up(lambda: _kept(file, served, body), receive=request.receive)

    return router


def _kept(file: FeedbackFile, served: ServedGraph, body: FeedbackBody) -> Response:
    generation = served.current()
    with generation.telling():
        nodes = [pages.node_named(generation.graph, node).id for node in body.nodes]
    file.add(served.name, body.question, nodes, is_good=body.is_good)
    return json_of(Kept(), generation.paths)


def _queried(served: ServedGraph, body: CypherBody) -> Response:
    from orienteer.cypher.session import Cypher  # few servers answer Cypher

    generation = served.current()
    table = Cypher(generation.graph).query(body.query, body.parameters, limit=body.limit, seconds=body.seconds)
    return json_of(table, generation.paths)


def _server_view(site: Site) -> ServerView:
    model = site.answering.model
    return ServerView(
        graphs=tuple(map(_served, site.graphs)),
        methods=site.offered,
        model=None if model is None else model.name,
        has_cypher=site.has_cypher,
        has_feedback=site.feedback is not None,
        has_mcp=site.has_mcp,
    )


def _served(served: ServedGraph) -> ServedView:
    about, stage = ServedView(name=served.name, is_ready=served.is_ready), served.stage
    if served.failure is not None:
        failed = without_paths(served.failure.public, served.paths)
        return about.model_copy(update={"is_failed": True, "stage": clean(failed)})
    interim = served.interim
    if stage is not None:
        left = stage.seconds_left
        told = {"stage": clean(stage.text), "done": stage.done, "of": stage.of, "seconds_left": _whole(left)}
        about = about.model_copy(update=told)
        if interim is None:
            return about
    generation = served.current()
    known, manifest = generation.graph.schema, generation.graph.arrays.manifest
    if (note := generation.tell_interim()) is not None and interim is not None:
        read = {"is_partial": True, "files": interim.files, "of_files": interim.of, "note": note}
        about = about.model_copy(update=read)
    return about.model_copy(
        update={
            "vectors_seconds_left": _whole(served.vectors_left(generation.graph)),
            "nodes": manifest.nodes,
            "edges": manifest.edges,
            "node_types": dict(known.node_types),
            "edge_types": dict(known.edge_types),
            "labels": dict(known.labels),
            "generation": manifest.generation,
        }
    )


def _whole(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds)
