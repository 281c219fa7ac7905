"""The records that all interfaces show, made from a graph or a retriever and plain arguments.

A node is named by its id, a name, an alias, or a part of a name that no other node has: a note of the record says so.
An option that is empty or None counts as not given. All raise the errors of the methods of `Graph` and `Retriever`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from orienteer.errors import BadOption, NotAGraph, UnknownNode, UsageError, without_paths
from orienteer.records import WalkedEdge
from orienteer.serve.views import records

if TYPE_CHECKING:
    from orienteer.graph.store import Graph
    from orienteer.index.arrays import Rows
    from orienteer.index.searchers import Mode
    from orienteer.records import Edge, FileRows, Kind, Ranked, Result
    from orienteer.retrieval.graph_text import Presentation
    from orienteer.retriever import Retriever


# Edges that the reason for a hit names; all of them are in its `edges`.
_EDGES_NAMED = 3


class Named(NamedTuple):
    """The node that a text names."""

    id: str
    notes: tuple[str, ...]
    """How the text was read, unless it is plainly the node's."""


def node_named(graph: Graph, text: str) -> Named:
    """Return the node with an id, a name or an alias, else the only node with a name that contains the text.

    If other nodes have the name too, a note lists them. Raises `UnknownNode` with near names, `AmbiguousNode`.
    """
    from orienteer.graph.search import shared_name

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


def _given(options: Mapping[str, Any]) -> dict[str, Any]:  # Any: options of several types
    """Return the options that are set: an empty filter lets everything pass."""
    return {name: value for name, value in options.items() if value is not None and value != () and value != []}


# ------------------------------------------------------------------------------------------------- searches and lists


def searcher(graph: Graph, mode: Mode = "lexical") -> Retriever:
    """Return a retriever that searches by names and words, or by meaning in other modes. A server keeps it."""
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
    searcher: Retriever,
    query: str,
    k: int = 20,
    *,
    called: str | None = None,
    **filters: Any,  # Any: of `search`
) -> Result:
    """Return the nodes whose names match some words, then those whose texts match best.

    `called` is the graph's name in the commands that notes suggest; by default its folder's name.
    """
    result = searcher.search(query, k, **_given(filters))
    path = searcher.graph.path
    here, there = (f"orienteer list {quote(name)}" for name in (str(path), path.name if called is None else called))
    notes = tuple(note.replace(here, there) for note in result.notes)
    return result.model_copy(update={"trajectories": (), "notes": notes})


def list_nodes(graph: Graph, **options: Any) -> records.Listing | records.Grouping:  # Any: the options of `Graph.list`
    """Return a page of the nodes that pass some filters; with `group_by`, of the values of a field with counts."""
    kind = records.Listing if options.get("group_by") is None else records.Grouping
    return kind.model_validate(graph.list(**_given(options)), from_attributes=True)


# ------------------------------------------------------------------------------------------------------------- walks


def neighbors(
    graph: Graph,
    node: str,
    query: str | None = None,
    **options: Any,  # Any: of `Graph.neighbors`
) -> records.NeighborsPage:
    """Return a page of the neighbours of a node, with counts by kind. `query` ranks them."""
    from orienteer.retrieval.graph_text import Presentation

    named = node_named(graph, node)
    page = graph.neighbors(named.id, query, **_given(options))
    show = Presentation(graph, query or "")
    return records.NeighborsPage(
        node=named.id,
        total=page.total,
        counts=_counts(page.counts),
        offset=page.offset,
        hits=tuple(_hit(graph, show, hit.id, hit.score, hit.edges) for hit in page.hits),
        notes=named.notes,
    )


def intersect(graph: Graph, nodes: Sequence[str], **options: Any) -> records.IntersectPage:  # Any: of `Graph.intersect`
    """Return the nodes that touch all of several nodes, else most of them, with the edges."""
    from orienteer.retrieval.graph_text import Presentation

    named = [node_named(graph, node) for node in _list_of(nodes)]
    ids = tuple(dict.fromkeys(node.id for node in named))
    show = Presentation(graph, "")
    hits = (
        _hit(graph, show, common.id, common.members, common.edges, f"touches {common.members} of {len(ids)}")
        for common in graph.intersect(ids, **_given(options))
    )
    return records.IntersectPage(
        hits=tuple(hits), nodes=ids, notes=tuple(note for node in named for note in node.notes)
    )


def _list_of(nodes: Sequence[str]) -> Sequence[str]:
    """Return a list of nodes. Raises `BadOption` for a text: its characters are not nodes."""
    if isinstance(nodes, str):
        raise BadOption(f"nodes is the text {nodes!r}: write a list, [{nodes!r}]")
    return nodes


def paths(graph: Graph, a: str, b: str, *, max_length: int = 4, k: int = 10) -> records.PathsPage:
    """Return the shortest paths between two nodes, along edges of either direction."""
    ends = node_named(graph, a), node_named(graph, b)
    shortest = graph.paths(ends[0].id, ends[1].id, max_length, k=k)
    arrays = graph.arrays
    return records.PathsPage(
        paths=tuple(records.PathView.model_validate(path, from_attributes=True) for path in shortest),
        names={node: arrays.names[arrays.row(node)] for path in shortest for node in path.nodes},
        notes=tuple(note for end in ends for note in end.notes),
    )


def _hit(graph: Graph, show: Presentation, node_id: str, score: float, edges: Sequence[Edge], note: str = "") -> Ranked:
    """Return a node as a hit with the edges that lead to it; its reason names the first of them."""
    from orienteer.retrieval.graph_text import edge_lines, ends_of

    lines = edge_lines(graph, edges)
    more = [f"and {len(lines) - _EDGES_NAMED} more"] if len(lines) > _EDGES_NAMED else []
    why = "; ".join(filter(None, (note, *lines[:_EDGES_NAMED], *more)))
    hit = show(graph.arrays.row(node_id), score=float(score), why=why)
    return hit.model_copy(update={"edges": _walked(edges), "ends": ends_of(graph, node_id, edges)})


def _walked(edges: Iterable[Edge]) -> tuple[WalkedEdge, ...]:
    return tuple(WalkedEdge(source=edge.source, type=edge.type, target=edge.target) for edge in edges)


def _counts(counts: Mapping[Kind, int]) -> tuple[records.KindCount, ...]:
    return tuple(records.KindCount(**kind._asdict(), count=count) for kind, count in counts.items())


# ---------------------------------------------------------------------------------------------- a node and the schema


def node(graph: Graph, node: str) -> records.NodePage:
    """Return a node in full, with counts of its neighbours."""
    import numpy as np

    from orienteer.retrieval.graph_text import source_of

    named = node_named(graph, node)
    arrays, full = graph.arrays, graph.node(named.id)
    row = arrays.row(full.id)
    counts = arrays.counts(arrays.adjacency.entries(np.array([row], np.int32)))
    return records.NodePage(
        **{field.name: getattr(full, field.name) for field in fields(full)},
        degree=int(arrays.adjacency.degree(np.array([row], np.int32))[0]),
        counts=_counts(counts),
        source=source_of(graph, row),
        notes=named.notes,
    )


def file_rows(graph: Graph, node: str) -> FileRows:
    """Return the rows of files that a node was imported from, the files named as in `info`."""
    from orienteer.ingest.file_rows import file_rows
    from orienteer.ingest.provenance import sources_of

    named = node_named(graph, node)
    found, roots = file_rows(graph, named.id), sources_of(graph.arrays.manifest)
    rows = [row.model_copy(update={"file": relative_paths(row.file, roots)}) for row in found.rows]
    return found.model_copy(update={"rows": tuple(rows), "notes": (*named.notes, *found.notes)})


def schema(graph: Graph) -> records.SchemaView:
    """Return the node types and edge types of a graph, what each edge joins, and their labels."""
    known = graph.schema
    return records.SchemaView(
        node_types=dict(known.node_types),
        edges=tuple(records.SchemaEdge(**triple._asdict(), count=count) for triple, count in known.edges.items()),
        symmetric=tuple(sorted(known.symmetric)),
        labels=dict(known.labels),
        also_called={name: tuple(words) for name, words in known.also_called.items()},
        partial=tuple(sorted(known.partial)),
    )


# A graph and its sources, without their folders on this machine.


def info(graph: Graph) -> records.GraphInfo:
    """Return a graph's sizes and types, its sources, and the files of these that were skipped."""
    from orienteer.graph.format import is_pulled, read_pointer
    from orienteer.ingest.provenance import is_stale, skipped_groups, sources_of
    from orienteer.ingest.report import MEANING

    manifest = graph.arrays.manifest
    provenance = relative_paths(manifest.provenance, sources_of(manifest))
    build: dict[str, Any] = manifest.provenance.get("options") or {}  # Any: JSON
    form = build.get("extract")
    try:
        pieces = tuple(read_pointer(graph.path).pieces)
    except NotAGraph:
        # It is gone, and its open files can still be read.
        pieces = ()
    return records.GraphInfo(
        name=graph.path.resolve().name,
        generation=graph.generation,
        nodes=manifest.nodes,
        edges=manifest.edges,
        node_types=manifest.node_types,
        edge_types=manifest.edge_types,
        partial=manifest.partial,
        not_read=tuple(records.NotRead(**group._asdict()) for group in skipped_groups(manifest)),
        dropped=tuple(
            records.DroppedRows(**rows, meaning=MEANING.get(rows["reason"], ""))
            for rows in provenance.get("dropped") or ()
        ),
        mapping=tuple(provenance.get("mapping") or ()),
        bytes=sum(record.bytes for record in manifest.files.values()),
        format=manifest.format,
        provenance=provenance,
        extraction=None if form is None else records.ExtractedBy(form=form, model=build.get("extracting_model")),
        indexes=("lexical", "names", *pieces),
        stale=bool(manifest.provenance.get("sources")) and not is_pulled(graph.path) and is_stale(manifest),
    )


def relative_paths(value: Any, roots: Sequence[Path]) -> Any:  # Any: JSON in and out
    """Return JSON in which every path is relative to one of the folders that a person named.

    If `/home/ada/beers` was named, `/home/ada/beers/a.csv` becomes `a.csv`, and the folder itself `beers`. Any other
    path becomes the name of its file.
    """
    if isinstance(value, dict):
        return {name: relative_paths(member, roots) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [relative_paths(member, roots) for member in value]
    if not isinstance(value, str):
        return value
    root = next((root for root in roots if value != str(root) and Path(value).is_relative_to(root)), None)
    if root is not None:
        return Path(value).relative_to(root).as_posix()
    return Path(value).name if Path(value).is_absolute() else without_paths(value, roots)


# For a picture of an answer: some nodes with all edges among them.


MOST_NODES = 2_000
"""Nodes of a picture: a browser draws them with ease, and nobody reads more."""
MOST_EDGES = 20_000
"""Edges of a picture."""


def subgraph(graph: Graph, nodes: Sequence[str], *, around: int = 0) -> records.Subgraph:
    """Return some nodes, up to `around` of their neighbours, and all edges among them except loops.

    The neighbours with the most edges to the nodes come first. A node is its id, a name, or `name (Type)` and `[id]` as
    replies show it. A text that names no node, or several, is `unknown`. Nodes beyond `MOST_NODES` and edges beyond
    `MOST_EDGES` are dropped, and `truncated` says so.
    """
    import numpy as np

    from orienteer.tools.session import Session

    if around < 0:
        raise BadOption(f"around is {around}: it must be 0 or more")
    # A session reads nodes as agents write them and answers show them.
    session = Session(graph)
    drawn: dict[int, None] = {}
    unknown: list[str] = []
    for node in _list_of(nodes):
        try:
            drawn |= dict.fromkeys(session.rows(node, []).tolist())
        except UsageError:
            unknown.append(node)
    rows = [*drawn, *_joined_nodes(graph, list(drawn), around)]
    kept = rows[:MOST_NODES]
    edges = list(islice(_edges_between(graph, np.unique(np.array(kept, np.int32))), MOST_EDGES + 1))
    arrays = graph.arrays
    degrees = arrays.adjacency.degree(np.array(kept, np.int32)).tolist()
    return records.Subgraph(
        nodes=tuple(
            records.DrawnNode(id=arrays.ids[row], type=arrays.type_at(row), name=arrays.names[row], degree=degree)
            for row, degree in zip(kept, degrees, strict=True)
        ),
        edges=tuple(edges[:MOST_EDGES]),
        truncated=len(kept) < len(rows) or len(edges) > MOST_EDGES,
        unknown=tuple(unknown),
    )


def _joined_nodes(graph: Graph, rows: Sequence[int], most: int) -> list[int]:
    """Return up to `most` neighbours of some rows, those with the most edges to them first."""
    import numpy as np

    if not most or not rows:
        return []
    inside = np.unique(np.array(rows, np.int32))
    reached, counts = np.unique(graph.arrays.adjacency.entries(inside).neighbor, return_counts=True)
    outside = ~np.isin(reached, inside)
    reached, counts = reached[outside], counts[outside]
    best: list[int] = reached[np.lexsort((reached, -counts))][:most].tolist()
    return best


def _edges_between(graph: Graph, rows: Rows) -> Iterator[WalkedEdge]:
    """Yield the edges among `rows` ((n,) int32, ascending), each type once between two nodes."""
    import numpy as np

    arrays = graph.arrays
    entries = arrays.adjacency.entries(rows)
    # An edge is stored at both of its ends.
    is_inside = np.isin(entries.neighbor, rows) & (entries.kind & 1 == 0)
    places = zip(entries.owner[is_inside], entries.kind[is_inside] >> 1, entries.neighbor[is_inside], strict=True)
    for source, edge_type, target in dict.fromkeys((int(a), int(kind), int(b)) for a, kind, b in places):
        yield WalkedEdge(source=arrays.ids[source], type=arrays.types.edges[edge_type], target=arrays.ids[target])
