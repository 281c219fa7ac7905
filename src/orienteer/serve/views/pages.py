"""The records that faces show, made of a graph or a retriever and plain arguments.

A node is named by its id, a name or an alias, or by a part of a name that no other node has; a record's notes say
where that was not plain. Empty filters let everything pass. All raise what the methods of `Graph` and `Retriever` do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from orienteer.errors import BadOption, NotAGraph, UnknownNode, UsageError, without_paths
from orienteer.graph.reserved import DOCUMENT, PART_OF, PASSAGES
from orienteer.patience import check_patience
from orienteer.records import Direction, Source, WalkedEdge
from orienteer.serve.views.records import (
    DrawnNode,
    ExtractedBy,
    Facet,
    Facets,
    GraphInfo,
    Group,
    Grouping,
    IntersectPage,
    KindCount,
    ListedNode,
    Listing,
    NeighborsPage,
    NodePage,
    NotRead,
    PathsPage,
    PathView,
    SchemaEdge,
    SchemaView,
    Subgraph,
    View,
)

if TYPE_CHECKING:
    from orienteer.graph.arrays import GraphArrays
    from orienteer.graph.listing import ListedGroup
    from orienteer.graph.store import Graph
    from orienteer.index.arrays import Rows
    from orienteer.index.searchers import Mode
    from orienteer.llm.budget import Budget
    from orienteer.records import Edge, Kind, Ranked, Result
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


# A document as the graph holds it: its parts in order, around one of them.


PARTS = 20
"""Parts of a page unless asked otherwise."""


class DocumentPart(View):
    """A piece of prose or of a table."""

    id: str
    type: str
    name: str
    text: str
    source: Source | None


class DocumentPage(View):
    """Some parts of a document in their order. What a reader sees was read from the graph, never from a file."""

    id: str
    name: str
    file: str | None
    """Beneath the folder that was read."""
    total: int
    """Parts in all."""
    offset: int
    """The place of the first one that is here."""
    place: int
    """The place of the part that was asked for; that of the first one for a document."""
    parts: tuple[DocumentPart, ...]
    notes: tuple[str, ...] = ()


def document(graph: Graph, node: str, *, k: int = PARTS, offset: int | None = None) -> DocumentPage:
    """Return the document that a node is, or is a part of: `k` parts from `offset` on, else around the node.

    A node of another kind is a document of one part. Raises `UnknownNode`, `AmbiguousNode`.
    """
    from orienteer.retrieval.graph_text import source_of

    arrays = graph.arrays
    asked = arrays.row(node_named(graph, node).id)
    owners = _joined(arrays, asked, direction="out")
    owner = owners[0] if owners else asked
    rows = sorted(_joined(arrays, owner, direction="in"), key=lambda row: (_order(arrays, row), row)) or [owner]
    place = rows.index(asked) if asked in rows else 0
    start = max(0, min(place - k // 2, len(rows) - k)) if offset is None else offset
    whole = arrays.node_at(owner)
    file = whole.properties.get("file")
    return DocumentPage(
        id=whole.id,
        name=whole.name,
        file=file if isinstance(file, str) else None,
        total=len(rows),
        offset=start,
        place=place,
        parts=tuple(
            DocumentPart(id=part.id, type=part.type, name=part.name, text=part.text, source=source_of(graph, row))
            for row in rows[start : start + k]
            for part in (arrays.node_at(row),)
        ),
    )


def _joined(arrays: GraphArrays, row: int, *, direction: Direction) -> list[int]:
    """Return the rows at the other ends of a node's edges to its document, or from its parts."""
    import numpy as np

    here, there = (PASSAGES, {DOCUMENT}) if direction == "out" else ({DOCUMENT}, PASSAGES)
    if PART_OF not in arrays.types.edges or arrays.type_at(row) not in here:
        return []
    entries = arrays.entries(np.array([row], np.int32), edge_types=[PART_OF], direction=direction)
    rows: list[int] = entries.neighbor.tolist()
    return [other for other in rows if arrays.type_at(other) in there]


def _order(arrays: GraphArrays, row: int) -> int:
    order = arrays.properties.of(row).get("order")
    return order if isinstance(order, int) else 0


# What a graph is and what it was made of, without where that lies on this machine.


def info(graph: Graph) -> GraphInfo:
    """Return what a graph is: its sizes and types, what it was made of, what was not read of that."""
    from orienteer.graph.format import is_pulled
    from orienteer.ingest.provenance import is_stale, skipped_groups, sources_of

    manifest = graph.arrays.manifest
    provenance = beneath(manifest.provenance, sources_of(manifest))
    build: dict[str, Any] = manifest.provenance.get("options") or {}  # Any: JSON
    form = build.get("extract")
    return GraphInfo(
        name=graph.path.resolve().name,
        generation=graph.generation,
        nodes=manifest.nodes,
        edges=manifest.edges,
        node_types=manifest.node_types,
        edge_types=manifest.edge_types,
        partial=manifest.partial,
        not_read=tuple(
            NotRead(reason=group.reason, number=group.number, files=tuple(group.files))
            for group in skipped_groups(manifest)
        ),
        mapping=tuple(provenance.get("mapping") or ()),
        bytes=sum(record.bytes for record in manifest.files.values()),
        format=manifest.format,
        provenance=provenance,
        extraction=None if form is None else ExtractedBy(form=form, model=build.get("extracting_model")),
        indexes=("lexical", "names", *_pieces(graph)),
        stale=bool(manifest.provenance.get("sources")) and not is_pulled(graph.path) and is_stale(manifest),
    )


def _pieces(graph: Graph) -> Iterable[str]:
    """Return what lies beside a graph; nothing of one that is gone, whose open files can still be read."""
    from orienteer.graph.format import read_pointer

    try:
        return read_pointer(graph.path).pieces
    except NotAGraph:
        return ()


def beneath(value: Any, roots: Sequence[Path]) -> Any:  # Any: JSON in and out
    """Return JSON with every path beneath one of the folders that a person named, which is its name alone.

    `/home/ada/beers/a.csv` is `a.csv` where `/home/ada/beers` was named, and `/home/ada/beers` is `beers`. Any other
    path is the name of its file.
    """
    if isinstance(value, dict):
        return {name: beneath(member, roots) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [beneath(member, roots) for member in value]
    if not isinstance(value, str):
        return value
    root = next((root for root in roots if value != str(root) and Path(value).is_relative_to(root)), None)
    if root is not None:
        return Path(value).relative_to(root).as_posix()
    return Path(value).name if Path(value).is_absolute() else without_paths(value, roots)


# What a picture of an answer needs: some nodes with all edges among them, and facets of a set of hits.


MOST_NODES = 2_000
"""Nodes of a picture: a browser draws so many with ease, and nobody reads more."""
MOST_EDGES = 20_000
"""Edges of a picture."""
MOST_PROPERTIES = 40
"""Properties that facets show."""
MOST_VALUES = 20
"""Values of a property that facets show."""


def subgraph(graph: Graph, nodes: Sequence[str], *, around: int = 0) -> Subgraph:
    """Return some nodes and all edges among them, loops left out, and of their neighbours up to `around`.

    Of the neighbours those come first that the most edges join to the nodes.
    A node is its id, a name, or what replies show: `name (Type)`, `[id]`. What names no node, or several, is `unknown`.
    Nodes beyond `MOST_NODES` and edges beyond `MOST_EDGES` are left out, and `truncated` says so.
    """
    import numpy as np

    if isinstance(nodes, str):
        raise BadOption(f"nodes is the text {nodes!r}: write a list, [{nodes!r}]")
    if around < 0:
        raise BadOption(f"around is {around}: it must be 0 or more")
    drawn = _drawn(graph, nodes)
    rows = drawn.rows + _joined_nodes(graph, drawn.rows, around)
    kept = rows[:MOST_NODES]
    edges = list(islice(_among(graph, np.unique(np.array(kept, np.int32))), MOST_EDGES + 1))
    arrays = graph.arrays
    degrees = arrays.adjacency.degree(np.array(kept, np.int32)).tolist()
    return Subgraph(
        nodes=tuple(
            DrawnNode(id=arrays.ids[row], type=arrays.type_at(row), name=arrays.names[row], degree=degree)
            for row, degree in zip(kept, degrees, strict=True)
        ),
        edges=tuple(edges[:MOST_EDGES]),
        truncated=len(kept) < len(rows) or len(edges) > MOST_EDGES,
        unknown=drawn.unknown,
    )


class _Drawn(NamedTuple):
    rows: list[int]
    unknown: tuple[str, ...]


def _drawn(graph: Graph, nodes: Sequence[str]) -> _Drawn:
    """Return the rows of what is asked for, each once, in this order."""
    from orienteer.tools.session import Session

    session = Session(graph)  # which reads what agents write, as an answer has it
    rows: dict[int, None] = {}
    unknown: list[str] = []
    for node in nodes:
        try:
            rows |= dict.fromkeys(session.rows(node, []).tolist())
        except UsageError:
            unknown.append(node)
    return _Drawn(list(rows), tuple(unknown))


def _joined_nodes(graph: Graph, rows: Sequence[int], most: int) -> list[int]:
    """Return as many neighbours of some nodes as `most`, those first that the most edges join to them."""
    import numpy as np

    if not most or not rows:
        return []
    inside = np.unique(np.array(rows, np.int32))
    reached, counts = np.unique(graph.arrays.adjacency.entries(inside).neighbor, return_counts=True)
    outside = ~np.isin(reached, inside)
    reached, counts = reached[outside], counts[outside]
    best: list[int] = reached[np.lexsort((reached, -counts))][:most].tolist()
    return best


def _among(graph: Graph, rows: Rows) -> Iterator[WalkedEdge]:
    """Yield the edges among some rows, (n,) int32, ascending: each kind once between two of them."""
    import numpy as np

    arrays = graph.arrays
    entries = arrays.adjacency.entries(rows)
    is_inside = np.isin(entries.neighbor, rows) & (entries.kind & 1 == 0)  # an edge stands at both of its ends
    places = zip(entries.owner[is_inside], entries.kind[is_inside] >> 1, entries.neighbor[is_inside], strict=True)
    for source, edge_type, target in dict.fromkeys((int(a), int(kind), int(b)) for a, kind, b in places):
        yield WalkedEdge(source=arrays.ids[source], type=arrays.types.edges[edge_type], target=arrays.ids[target])


# ------------------------------------------------------------------------------------------------------------ facets


def facets(graph: Graph, nodes: Sequence[str]) -> Facets:
    """Return some nodes, by their ids, counted by type and by the values of their properties.

    Properties that the most nodes have come first, and of each its most frequent values. Raises `UnknownNode`.
    """
    from orienteer.graph.listing import group_values

    if isinstance(nodes, str):
        raise BadOption(f"nodes is the text {nodes!r}: write a list, [{nodes!r}]")
    arrays = graph.arrays
    rows = arrays.rows(nodes)
    counted = []
    for name in arrays.properties.names:
        check_patience()
        facet = _facet(name, group_values(arrays.properties.values(name, rows)))
        if facet.groups:
            counted.append(facet)
    counted.sort(key=lambda facet: facet.missing)  # stable: else in the order of the graph
    types = group_values(arrays.type_at(row) for row in rows.tolist())
    return Facets(total=len(rows), types=_shown(types), properties=tuple(counted[:MOST_PROPERTIES]))


def _facet(name: str, groups: Sequence[ListedGroup]) -> Facet:
    having = [group for group in groups if group.value is not None]
    missing = sum(group.count for group in groups if group.value is None)
    return Facet(name=name, groups=_shown(having[:MOST_VALUES]), distinct=len(having), missing=missing)


def _shown(groups: Sequence[ListedGroup]) -> tuple[Group, ...]:
    return tuple(Group(value=group.value, count=group.count) for group in groups)
