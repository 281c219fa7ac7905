"""Commands that read a graph and ask no question: info, schema, search, neighbors, intersect, paths, show, cypher."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from orienteer.display import counted
from orienteer.errors import BadOption
from orienteer.serve.cli import printout
from orienteer.serve.cli.arguments import Directory, K, NodeName, Types, Where, node_of, open_graph
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.graph.store import Graph
    from orienteer.records import Edge, JsonValue, Ranked

SearchMode = Annotated[
    str,
    typer.Option(
        metavar="lexical|dense|hybrid|hybrid:W|rrf",
        help="By words (BM25), by meaning (vectors: see orienteer embed), or by both; W is the weight of words.",
    ),
]


def info(out: Output, directory: Directory) -> None:
    """Describe a graph: its nodes and edges by type, its size, its sources."""
    from orienteer.graph.format import read_pointer
    from orienteer.ingest import skips
    from orienteer.ingest.provenance import is_stale, selection_of, skipped_groups

    graph = open_graph(directory, out)
    manifest = graph.arrays.manifest
    build: dict[str, Any] = manifest.provenance.get("options") or {}  # Any: JSON
    form = build.get("extract")
    facts: dict[str, Any] = {
        "nodes": manifest.nodes,
        "edges": manifest.edges,
        "node_types": manifest.node_types,
        "edge_types": manifest.edge_types,
        "partial": manifest.partial,
        "not_read": [group._asdict() for group in skipped_groups(manifest)],
        "mapping": manifest.provenance.get("mapping") or [],
        "bytes": sum(record.bytes for record in manifest.files.values()),
        "format": manifest.format,
        "provenance": manifest.provenance,
        "extraction": None if form is None else {"form": form, "model": build.get("extracting_model")},
        "indexes": ["lexical", "names", *read_pointer(graph.path).pieces],
        "stale": is_stale(manifest),
    }
    if out.as_json:
        out.json(facts)
    else:
        printout.print_info(out, facts)
        chosen = selection_of(manifest)
        told = [f"{name}: {', '.join(globs)}" for name, globs in chosen if globs]
        told += skips.lines(skipped_groups(manifest), most=None, named=skips.KEPT if out.verbosity else skips.SHOWN)
        if told:
            out.print()
        for line in told:
            out.print(line)


def schema(out: Output, directory: Directory) -> None:
    """List the node types and edge types, which types each edge joins, and their labels."""
    graph = open_graph(directory, out)
    if not out.as_json:
        printout.print_schema(out, graph.schema)
        return
    out.json(
        {
            "node_types": graph.schema.node_types,
            "edges": [{**triple._asdict(), "count": count} for triple, count in graph.schema.edges.items()],
            "symmetric": graph.schema.symmetric,
            "labels": graph.schema.labels,
            "also_called": graph.schema.also_called,
            "partial": graph.schema.partial,
        }
    )


def search(
    out: Output,
    directory: Directory,
    words: Annotated[str, typer.Argument(metavar="WORDS", help="Words to look for in names and texts.")],
    k: K = 20,
    types: Types = None,
    where: Where = None,
    mode: SearchMode = "lexical",
) -> None:
    """Rank the nodes that best match some words."""
    from orienteer.index.searchers import ranking_of
    from orienteer.retriever import Retriever
    from orienteer.serve.word_search import PATH
    from orienteer.settings import Settings

    graph = open_graph(directory, out)
    ranking = ranking_of(mode)
    method = PATH if ranking.kind == "lexical" else ranking.kind
    options: dict[str, Any] = {}  # Any: of several types
    if method == "hybrid":
        options = {"weight": ranking.weight, "fusion": ranking.fusion}
    retriever = Retriever(graph, method, settings=Settings(), **options)
    result = retriever.search(words, k, node_types=types or (), where=where or ())
    if out.as_json:
        out.json(result.model_dump(mode="json", exclude={"trajectories"}))
        return
    printout.print_hits(out, graph, result.hits)
    for note in result.notes:
        out.note(f"note: {note}")


def neighbors(
    out: Output,
    directory: Directory,
    node: NodeName,
    query: Annotated[
        str | None, typer.Option(metavar="WORDS", help="Rank the neighbours by these words; those without them follow.")
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
    offset: Annotated[int, typer.Option(metavar="N", min=0, help="Number of neighbours to skip.")] = 0,
    mode: SearchMode = "lexical",
) -> None:
    """List the neighbours of a node with the edges that lead to them, counted by kind."""
    graph = open_graph(directory, out)
    node = node_of(graph, node, out)
    page = graph.neighbors(
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
    hits = [_hit(graph, hit.id, hit.score, hit.edges, query=query or "") for hit in page.hits]
    if out.as_json:
        out.json(
            {
                "node": node,
                "total": page.total,
                "counts": [{**kind._asdict(), "count": count} for kind, count in page.counts.items()],
                "offset": page.offset,
                "hits": [_with_edges(hit, neighbor.edges) for hit, neighbor in zip(hits, page.hits, strict=True)],
            }
        )
        return
    from orienteer.retrieval.graph_text import counts_line

    out.print(f"{counted(page.total, 'neighbour')}: {counts_line(graph, page.counts)}")
    printout.print_hits(out, graph, hits)
    if hits and page.total > offset + len(hits):
        out.note(f"{page.total - offset - len(hits):,} more: --offset {offset + len(hits)}")


def intersect(
    out: Output,
    directory: Directory,
    nodes: Annotated[list[str], typer.Argument(metavar="NODE", help="Ids, names or aliases.")],
    types: Types = None,
    k: K = 20,
) -> None:
    """List the nodes connected to all of several nodes, or to most of them, with the edges."""
    graph = open_graph(directory, out)
    nodes = [node_of(graph, node, out) for node in nodes]
    shared = graph.intersect(nodes, node_types=types, k=k)
    total = len(graph.arrays.rows(nodes))
    hits = [_hit(graph, hit.id, hit.members, hit.edges, note=f"touches {hit.members} of {total}") for hit in shared]
    if out.as_json:
        out.json({"hits": [_with_edges(hit, node.edges) for hit, node in zip(hits, shared, strict=True)]})
    else:
        printout.print_hits(out, graph, hits)


def paths(
    out: Output,
    directory: Directory,
    a: NodeName,
    b: NodeName,
    max_length: Annotated[int, typer.Option(metavar="N", help="Maximum number of edges in a path.")] = 4,
    k: Annotated[int, typer.Option("-k", metavar="N", min=0, help="Maximum number of paths.")] = 10,
) -> None:
    """List the shortest paths between two nodes, whatever the direction of the edges."""
    graph = open_graph(directory, out)
    shortest = graph.paths(node_of(graph, a, out), node_of(graph, b, out), max_length, k=k)
    if out.as_json:
        out.json(
            {
                "paths": [
                    {
                        "length": path.length,
                        "nodes": path.nodes,
                        "edges": [[_edge(edge) for edge in hop] for hop in path.edges],
                    }
                    for path in shortest
                ]
            }
        )
        return
    if not shortest and k:
        out.print(f"no path of {counted(max_length, 'edge')} or fewer")
    for number, path in enumerate(shortest, 1):
        out.print(f"{number}. {' - '.join(graph.arrays.names[graph.arrays.row(node)] for node in path.nodes)}")
        for hop in path.edges:
            for line in printout.edge_lines(graph, hop):
                out.print(f"   {line}")


def show(out: Output, directory: Directory, node: NodeName) -> None:
    """Print one node in full."""
    graph = open_graph(directory, out)
    full = graph.node(node_of(graph, node, out))
    degree = int(graph.arrays.adjacency.degree(graph.arrays.rows([full.id]))[0])
    if not out.as_json:
        printout.print_node(out, full, degree=degree)
        return
    out.json(
        {
            "id": full.id,
            "type": full.type,
            "name": full.name,
            "aliases": full.aliases,
            "text": full.text,
            "properties": full.properties,
            "degree": degree,
        }
    )


def _hit(graph: Graph, node_id: str, score: float, edges: Iterable[Edge], *, query: str = "", note: str = "") -> Ranked:
    from orienteer.retrieval.graph_text import present

    lines = printout.edge_lines(graph, edges)
    more = [f"and {len(lines) - 3} more"] if len(lines) > 3 else []
    why = "; ".join(filter(None, [note, *lines[:3], *more]))
    return present(graph, graph.arrays.row(node_id), score=float(score), query=query, why=why)


def _with_edges(hit: Ranked, edges: Iterable[Edge]) -> dict[str, Any]:  # Any: JSON
    return {**hit.model_dump(mode="json"), "edges": [_edge(edge) for edge in edges]}


def _edge(edge: Edge) -> dict[str, str]:
    return {"source": edge.source, "type": edge.type, "target": edge.target}


def cypher(
    out: Output,
    directory: Directory,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One read-only statement.")],
    parameters: Annotated[
        list[str] | None,
        typer.Option("--param", metavar="NAME=VALUE", help="A value for $NAME, as JSON or plain text. Repeatable."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="Maximum number of rows.")] = 100,
    label: Annotated[
        str | None,
        typer.Option("--view", metavar="LABEL", help="Name ids and types as GraphScout's graphs do, with this label."),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="S", help="Stop the query after this many seconds.")
    ] = 10.0,
) -> None:
    """Query a graph in Cypher, read-only. Needs the extra `cypher`."""
    from orienteer.cypher.ladybug.database import is_copy_new
    from orienteer.cypher.session import Cypher
    from orienteer.cypher.view import View

    graph = open_graph(directory, out)
    values = dict(map(_parameter, parameters or ()))
    if is_copy_new(graph.path):
        out.note("making the copy of the graph that Cypher reads, once for each graph")
    view = None if label is None else View(label=label)
    table = Cypher(graph).query(query, values, limit=limit, seconds=seconds, view=view)
    for note in table.notes:
        out.note(f"note: {note}")
    if out.as_json:
        out.json(table.model_dump(mode="json"))
        return
    out.table([[_cell(value) for value in row] for row in table.rows], header=table.columns)
    if table.truncated:
        out.note(f"{len(table.rows):,} of {counted(table.total, 'row')}: raise --limit, or use SKIP and LIMIT")


def _parameter(text: str) -> tuple[str, JsonValue]:
    name, equals, value = text.partition("=")
    if not equals or not name.removeprefix("$"):
        raise BadOption(f"--param {text!r} has no value: write --param NAME=VALUE")
    try:
        return name.removeprefix("$"), json.loads(value)
    except ValueError:
        return name.removeprefix("$"), value


def _cell(value: JsonValue) -> str:
    """Return a value as text; a node as `name (id)`, an edge as `source -type-> target`."""
    if isinstance(value, dict) and {"id", "type", "name"} <= set(value):
        return f"{value['name']} ({value['id']})"
    if isinstance(value, dict) and {"source", "type", "target"} <= set(value):
        return f"{value['source']} -{value['type']}-> {value['target']}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


COMMANDS = {
    "info": (info, "info hetionet --json"),
    "schema": (schema, "schema hetionet"),
    "search": (search, "search hetionet 'lipid metabolism' --type Gene -k 5"),
    "neighbors": (neighbors, "neighbors hetionet Gene::9021 --query lipid --type Disease"),
    "intersect": (intersect, "intersect hetionet multiple\\ sclerosis Compound::DB00014 --type Gene"),
    "paths": (paths, "paths hetionet Gene::9021 Disease::DOID:1936 --max-length 3"),
    "show": (show, "show hetionet Gene::9021"),
    "cypher": (
        cypher,
        "cypher hetionet 'MATCH (g:Gene {name: $name})-[r]-(d:Disease) RETURN type(r), d.name' --param name=TP53",
    ),
}
