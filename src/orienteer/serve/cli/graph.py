"""Commands that read a graph and ask no question: info, schema, search, neighbors, intersect, paths, show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from orienteer.display import counted
from orienteer.serve.cli import rendering
from orienteer.serve.cli.arguments import Directory, K, NodeName, Types, Where, open_graph
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.graph.store import Graph
    from orienteer.records import Edge, Ranked

GROUPS: Mapping[str, str] = {}
SearchMode = Annotated[
    str,
    typer.Option(
        metavar="lexical|dense|hybrid|hybrid:W|rrf",
        help="By words (BM25), by meaning (vectors: see orienteer embed), or by both; W is the share of words.",
    ),
]


def info(out: Output, directory: Directory) -> None:
    """Say what a graph is: how many nodes and edges of which types, how large, made of what."""
    from orienteer.graph.format import read_pointer
    from orienteer.ingest.provenance import is_stale

    graph = open_graph(directory, out)
    manifest = graph.manifest
    facts: dict[str, Any] = {
        "nodes": manifest.nodes,
        "edges": manifest.edges,
        "node_types": manifest.node_types,
        "edge_types": manifest.edge_types,
        "bytes": sum(record.bytes for record in manifest.files.values()),
        "format": manifest.format,
        "provenance": manifest.provenance,
        "extraction": _extraction(manifest.provenance.get("options") or {}),
        "indexes": ["lexical", "names", *read_pointer(graph.path).pieces],
        "stale": is_stale(manifest),
    }
    if out.as_json:
        out.json(facts)
    else:
        rendering.info(out, facts)


def _extraction(options: Mapping[str, Any]) -> dict[str, Any] | None:  # Any: JSON
    """Return in which form a build extracted, and the model that did; None of a graph without."""
    form = options.get("extract")
    return None if form is None else {"form": form, "model": options.get("extracting_model")}


def schema(out: Output, directory: Directory) -> None:
    """List the node types and edge types, which types an edge joins, and what they are called."""
    graph = open_graph(directory, out)
    found = graph.schema
    if not out.as_json:
        rendering.schema(out, found)
        return
    out.json(
        {
            "node_types": found.node_types,
            "edges": [{**triple._asdict(), "count": count} for triple, count in found.edges.items()],
            "symmetric": found.symmetric,
            "labels": found.labels,
            "also_called": found.also_called,
        }
    )


def search(
    out: Output,
    directory: Directory,
    words: Annotated[str, typer.Argument(metavar="WORDS", help="Words of names and texts.")],
    k: K = 20,
    types: Types = None,
    where: Where = None,
    mode: SearchMode = "lexical",
) -> None:
    """Rank the nodes that match words best."""
    from orienteer.index.searchers import ranking_of
    from orienteer.retriever import Retriever
    from orienteer.settings import Settings

    graph = open_graph(directory, out)
    ranking = ranking_of(mode)
    method = "bm25" if ranking.kind == "lexical" else ranking.kind
    options: dict[str, Any] = {}  # Any: of several types
    if method == "hybrid":
        options = {"weight": ranking.weight, "fusion": ranking.fusion}
    retriever = Retriever(graph, method, settings=Settings(), **options)
    found = retriever.search(words, k, node_types=types or (), where=where or ())
    if out.as_json:
        out.json(found.model_dump(mode="json", exclude={"trajectories"}))
        return
    rendering.hits(out, found.hits)
    for note in found.notes:
        out.note(f"note: {note}")


def neighbors(
    out: Output,
    directory: Directory,
    node: NodeName,
    query: Annotated[
        str | None, typer.Option(metavar="WORDS", help="Words to rank the neighbours by; the others follow.")
    ] = None,
    types: Types = None,
    edges: Annotated[
        list[str] | None, typer.Option("--edge", "-e", metavar="E", help="Walk this edge type only. Repeatable.")
    ] = None,
    direction: Annotated[
        Literal["out", "in"] | None, typer.Option(metavar="out|in", help="Only edges that leave or reach the node.")
    ] = None,
    where: Where = None,
    k: K = 20,
    offset: Annotated[int, typer.Option(metavar="N", min=0, help="Where the page begins.")] = 0,
    mode: SearchMode = "lexical",
) -> None:
    """List the neighbours of a node with the edges that lead to them, counted by kind."""
    graph = open_graph(directory, out)
    found = graph.neighbors(
        node,
        query,
        node_types=types,
        edge_types=edges,
        direction=direction,
        where=where or (),
        k=k,
        offset=offset,
        mode=mode,
    )
    hits = [_hit(graph, one.id, one.score, one.edges, query=query or "") for one in found.hits]
    if out.as_json:
        out.json(
            {
                "node": graph.ids[graph.row(node)],
                "total": found.total,
                "counts": [{**kind._asdict(), "count": count} for kind, count in found.counts.items()],
                "offset": found.offset,
                "hits": _with_edges(zip(hits, (one.edges for one in found.hits), strict=True)),
            }
        )
        return
    from orienteer.tools.rendering import counts_line

    out.print(f"{counted(found.total, 'neighbour')}: {counts_line(graph, found.counts)}")
    rendering.hits(out, hits)
    if hits and found.total > offset + len(hits):
        out.note(f"{found.total - offset - len(hits):,} more: --offset {offset + len(hits)}")


def intersect(
    out: Output,
    directory: Directory,
    nodes: Annotated[list[str], typer.Argument(metavar="NODE", help="Ids, exact names or aliases.")],
    types: Types = None,
    k: K = 20,
) -> None:
    """List the nodes that touch all of several nodes, or most of them, with the edges."""
    graph = open_graph(directory, out)
    found = graph.intersect(nodes, node_types=types, k=k)
    given = len(graph.rows(nodes))
    hits = [_hit(graph, one.id, one.members, one.edges, note=f"touches {one.members} of {given}") for one in found]
    if out.as_json:
        out.json({"hits": _with_edges(zip(hits, (one.edges for one in found), strict=True))})
    else:
        rendering.hits(out, hits)


def paths(
    out: Output,
    directory: Directory,
    a: NodeName,
    b: NodeName,
    max_length: Annotated[int, typer.Option(metavar="N", help="Edges at the most.")] = 4,
    k: Annotated[int, typer.Option("-k", metavar="N", min=0, help="Paths at the most.")] = 10,
) -> None:
    """List the shortest paths between two nodes, whichever way edges point."""
    graph = open_graph(directory, out)
    found = graph.paths(a, b, max_length, k=k)
    if out.as_json:
        edges = [[[_edge(edge) for edge in hop] for hop in path.edges] for path in found]
        out.json(
            {
                "paths": [
                    {"length": path.length, "nodes": path.nodes, "edges": hops}
                    for path, hops in zip(found, edges, strict=True)
                ]
            }
        )
        return
    if not found and k:
        out.print(f"no path of {counted(max_length, 'edge')} or fewer")
    for number, path in enumerate(found, 1):
        out.print(f"{number}. {' - '.join(graph.names[graph.row(one)] for one in path.nodes)}")
        for hop in path.edges:
            for line in rendering.edge_lines(graph, hop):
                out.print(f"   {line}")


def show(out: Output, directory: Directory, node: NodeName) -> None:
    """Print one node in full."""
    graph = open_graph(directory, out)
    row = graph.row(node)
    found = graph.node_at(row)
    degree = int(graph.adjacency.degree(graph.rows([found.id]))[0])
    if not out.as_json:
        rendering.node(out, found, degree=degree)
        return
    out.json(
        {
            "id": found.id,
            "type": found.type,
            "name": found.name,
            "aliases": found.aliases,
            "text": found.text,
            "properties": found.properties,
            "degree": degree,
        }
    )


def _hit(graph: Graph, node_id: str, score: float, edges: Iterable[Edge], *, query: str = "", note: str = "") -> Ranked:
    from orienteer.agents.hits import present

    lines = rendering.edge_lines(graph, edges)
    more = [f"and {len(lines) - 3} more"] if len(lines) > 3 else []
    why = "; ".join(filter(None, [note, *lines[:3], *more]))
    return present(graph, graph.row(node_id), score=float(score), query=query, why=why)


def _with_edges(hits: Iterable[tuple[Ranked, Iterable[Edge]]]) -> list[dict[str, Any]]:
    return [{**hit.model_dump(mode="json"), "edges": [_edge(edge) for edge in edges]} for hit, edges in hits]


def _edge(edge: Edge) -> dict[str, str]:
    return {"source": edge.source, "type": edge.type, "target": edge.target}


COMMANDS = {
    "info": (info, "info hetionet --json"),
    "schema": (schema, "schema hetionet"),
    "search": (search, "search hetionet 'lipid metabolism' --type Gene -k 5"),
    "neighbors": (neighbors, "neighbors hetionet Gene::9021 --query lipid --type Disease"),
    "intersect": (intersect, "intersect hetionet multiple\\ sclerosis Compound::DB00014 --type Gene"),
    "paths": (paths, "paths hetionet Gene::9021 Disease::DOID:1936 --max-length 3"),
    "show": (show, "show hetionet Gene::9021"),
}
