"""The records that faces show, made of a graph or a retriever and plain arguments.

A node is named by its id, a name or an alias, or by a part of a name that no other node has; a record's notes say
where that was not plain. Empty filters let everything pass. All raise what the methods of `Graph` and `Retriever` do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from orienteer.errors import BadOption, UnknownNode
from orienteer.records import WalkedEdge
from orienteer.serve.views.records import (
    Group,
    Grouping,
    IntersectPage,
    KindCount,
    ListedNode,
    Listing,
    NeighborsPage,
    NodePage,
    PathsPage,
    PathView,
    SchemaEdge,
    SchemaView,
)

if TYPE_CHECKING:  # whoever wants the names of the records alone loads no graph
    from orienteer.graph.store import Graph
    from orienteer.index.searchers import Mode
    from orienteer.llm.budget import Budget
    from orienteer.records import Direction, Edge, Kind, Ranked, Result
    from orienteer.retrieval.graph_text import Presentation
    from orienteer.retriever import Retriever

_EDGES_TOLD = 3
"""Edges that the reason for a hit names; all of them are in its `edges`."""


class Named(NamedTuple):
    """The node that a text names."""

    id: str
    notes: tuple[str, ...]
    """How the text was read, where that was not plain."""


def node_named(graph: Graph, text: str) -> Named:
    """Return the node of an id, a name or an alias, else that of a part of a name that no other node has.

    Where other nodes bear the name too, a note lists them. Raises `UnknownNode` with near names, `AmbiguousNode`.
    """
    from orienteer.graph.search.names import shared_name

    arrays, note = graph.arrays, None
    try:
        row = arrays.row(text)
    except UnknownNode:
        if (part := arrays.named_in_part(text)) is None:
            raise
        row = part
        note = f"{text!r} is read as {arrays.names[row]} ({arrays.ids[row]}), the only name that holds it"
    else:
        if (sharing := shared_name(arrays, text)) is not None:
            note = f"{sharing}. Read as {arrays.ids[row]}; for another give its id"
    return Named(str(arrays.ids[row]), () if note is None else (note,))


# --------------------------------------------------------------------------------------------------------- questions


def searcher(graph: Graph, mode: Mode = "lexical") -> Retriever:
    """Return what searches a graph by names and words, or by meaning in other modes: a server keeps it.

    Making one looks at the graph's sources, to tell whether they have changed.
    """
    from orienteer.index.searchers import ranking_of
    from orienteer.retriever import Retriever
    from orienteer.serve.word_search import PATH
    from orienteer.settings import Settings

    ranking = ranking_of(mode)
    method = PATH if ranking.kind == "lexical" else ranking.kind
    options: dict[str, Any] = {}  # Any: of several types
    if method == "hybrid":
        options = {"weight": ranking.weight, "fusion": ranking.fusion}
    return Retriever(graph, method, settings=Settings(), **options)


def search(
    graph: Graph,
    query: str,
    k: int = 20,
    *,
    node_types: Sequence[str] = (),
    where: Sequence[str] = (),
    mode: Mode = "lexical",
    called: str | None = None,
) -> Result:
    """Return the nodes that words name, then those whose texts match them best; by meaning in other modes.

    `called` is what the graph is called in the commands that notes name: its folder's name unless given.
    """
    return search_by(searcher(graph, mode), query, k, node_types=node_types, where=where, called=called)


def search_by(
    searcher: Retriever,
    query: str,
    k: int = 20,
    *,
    node_types: Sequence[str] = (),
    where: Sequence[str] = (),
    called: str | None = None,
) -> Result:
    """Return what `search` does, by a `searcher` that was kept."""
    result = searcher.search(query, k, node_types=node_types, where=where)
    path = searcher.graph.path
    notes = (_called(note, path, path.name if called is None else called) for note in result.notes)
    return result.model_copy(update={"trajectories": (), "notes": tuple(notes)})


def _called(note: str, path: Path, called: str) -> str:
    """Return a note whose command names a graph by what it is called, not by where it lies."""
    return note.replace(f"orienteer list {quote(str(path))}", f"orienteer list {quote(called)}")


def ask(
    retriever: Retriever,
    question: str,
    k: int = 20,
    *,
    node_types: Sequence[str] = (),
    where: Sequence[str] = (),
    reading: str | None = None,
    budget: Budget | None = None,
    has_answer: bool = True,
    has_trajectories: bool = False,
) -> Result:
    """Return the ranking for a question and, with `has_answer`, an answer; its trajectories only where asked for."""
    run = retriever.ask if has_answer else retriever.search
    result = run(question, k, node_types=node_types, where=where, reading=reading, budget=budget)
    return result if has_trajectories else result.model_copy(update={"trajectories": ()})


# ------------------------------------------------------------------------------------------------------------- lists


def list_nodes(
    graph: Graph,
    *,
    node_types: Sequence[str] = (),
    where: Sequence[str] = (),
    sort: str | None = None,
    descending: bool = False,
    k: int = 20,
    offset: int = 0,
) -> Listing:
    """Return the nodes that pass the filters: how many, and a page of them in order."""
    page = graph.list(node_types=node_types or None, where=where, sort=sort, descending=descending, k=k, offset=offset)
    hits = (
        ListedNode(id=node.id, type=node.type, name=node.name, properties=dict(node.properties)) for node in page.hits
    )
    return Listing(total=page.total, offset=page.offset, hits=tuple(hits), missing=page.missing)


def list_groups(
    graph: Graph,
    group_by: str,
    *,
    node_types: Sequence[str] = (),
    where: Sequence[str] = (),
    sort: str | None = None,
    descending: bool = False,
    k: int = 20,
    offset: int = 0,
) -> Grouping:
    """Return the values of a field among the nodes that pass the filters, with the number of nodes that have each."""
    page = graph.list(
        node_types=node_types or None,
        where=where,
        sort=sort,
        descending=descending,
        group_by=group_by,
        k=k,
        offset=offset,
    )
    return Grouping(
        total=page.total,
        groups=tuple(Group(value=group.value, count=group.count) for group in page.groups),
        offset=page.offset,
        distinct=page.distinct,
        missing=page.missing,
    )


# ------------------------------------------------------------------------------------------------------------- walks


def neighbors(
    graph: Graph,
    node: str,
    query: str | None = None,
    *,
    node_types: Sequence[str] = (),
    edge_types: Sequence[str] = (),
    direction: Direction | None = None,
    where: Sequence[str] = (),
    k: int = 20,
    offset: int = 0,
    mode: Mode = "lexical",
) -> NeighborsPage:
    """Return the neighbours of a node: how many, of which kinds, and a page of them; `query` ranks them."""
    from orienteer.retrieval.graph_text import Presentation

    named = node_named(graph, node)
    page = graph.neighbors(
        named.id,
        query,
        node_types=node_types or None,
        edge_types=edge_types or None,
        direction=direction,
        where=where,
        k=k,
        offset=offset,
        mode=mode,
    )
    show = Presentation(graph, query or "")
    return NeighborsPage(
        node=named.id,
        total=page.total,
        counts=_counts(page.counts),
        offset=page.offset,
        hits=tuple(_hit(graph, show, hit.id, hit.score, hit.edges) for hit in page.hits),
        notes=named.notes,
    )


def intersect(graph: Graph, nodes: Sequence[str], *, node_types: Sequence[str] = (), k: int = 20) -> IntersectPage:
    """Return what touches all of several nodes, else most of them, with the edges."""
    from orienteer.retrieval.graph_text import Presentation

    if isinstance(nodes, str):
        raise BadOption(f"nodes is the text {nodes!r}: write a list, [{nodes!r}]")
    named = [node_named(graph, node) for node in nodes]
    ids = tuple(dict.fromkeys(node.id for node in named))
    show = Presentation(graph, "")
    hits = (
        _hit(graph, show, common.id, common.members, common.edges, f"touches {common.members} of {len(ids)}")
        for common in graph.intersect(ids, node_types=node_types or None, k=k)
    )
    return IntersectPage(hits=tuple(hits), nodes=ids, notes=tuple(note for node in named for note in node.notes))


def paths(graph: Graph, a: str, b: str, *, max_length: int = 4, k: int = 10) -> PathsPage:
    """Return the shortest paths between two nodes, whichever way edges point."""
    ends = node_named(graph, a), node_named(graph, b)
    shortest = graph.paths(ends[0].id, ends[1].id, max_length, k=k)
    arrays = graph.arrays
    return PathsPage(
        paths=tuple(
            PathView(length=path.length, nodes=path.nodes, edges=tuple(map(_walked, path.edges))) for path in shortest
        ),
        names={node: arrays.names[arrays.row(node)] for path in shortest for node in path.nodes},
        notes=tuple(note for end in ends for note in end.notes),
    )


def _hit(graph: Graph, show: Presentation, node_id: str, score: float, edges: Sequence[Edge], note: str = "") -> Ranked:
    """Return a node as a hit with the edges that lead to it, of which its reason names the first."""
    from orienteer.retrieval.graph_text import edge_lines, ends_of

    lines = edge_lines(graph, edges)
    more = [f"and {len(lines) - _EDGES_TOLD} more"] if len(lines) > _EDGES_TOLD else []
    why = "; ".join(filter(None, (note, *lines[:_EDGES_TOLD], *more)))
    hit = show(graph.arrays.row(node_id), score=float(score), why=why)
    return hit.model_copy(update={"edges": _walked(edges), "ends": ends_of(graph, node_id, edges)})


def _walked(edges: Iterable[Edge]) -> tuple[WalkedEdge, ...]:
    return tuple(WalkedEdge(source=edge.source, type=edge.type, target=edge.target) for edge in edges)


def _counts(counts: Mapping[Kind, int]) -> tuple[KindCount, ...]:
    return tuple(KindCount(**kind._asdict(), count=count) for kind, count in counts.items())


# ---------------------------------------------------------------------------------------------- a node and the schema


def node(graph: Graph, node: str) -> NodePage:
    """Return a node in full, with what leads away from it, counted."""
    import numpy as np

    from orienteer.retrieval.graph_text import source_of

    named = node_named(graph, node)
    arrays, full = graph.arrays, graph.node(named.id)
    row = arrays.row(full.id)
    counts = arrays.counts(arrays.adjacency.entries(np.array([row], np.int32)))
    return NodePage(
        id=full.id,
        type=full.type,
        name=full.name,
        aliases=full.aliases,
        text=full.text,
        properties=dict(full.properties),
        degree=int(arrays.adjacency.degree(np.array([row], np.int32))[0]),
        counts=_counts(counts),
        source=source_of(graph, row),
        notes=named.notes,
    )


def schema(graph: Graph) -> SchemaView:
    """Return the node types and the edge types of a graph, what these join, and what people call them."""
    known = graph.schema
    return SchemaView(
        node_types=dict(known.node_types),
        edges=tuple(SchemaEdge(**triple._asdict(), count=count) for triple, count in known.edges.items()),
        symmetric=tuple(sorted(known.symmetric)),
        labels=dict(known.labels),
        also_called={name: tuple(words) for name, words in known.also_called.items()},
        partial=tuple(sorted(known.partial)),
    )
