"""Commands that read a graph without a question: info, schema, search, neighbors, ..., show, cypher, list."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orienteer.display import counted, value_cell
from orienteer.errors import BadOption
from orienteer.serve.cli import answering
from orienteer.serve.cli.arguments import Directory, K, NodeName, Types, Where, open_graph, open_place
from orienteer.serve.cli.output import Output, Rows, Tabular

if TYPE_CHECKING:
    from orienteer.records import JsonValue
    from orienteer.serve.views.records import View

_FIELDS = ("field", "value")
SearchMode = Annotated[
    str,
    typer.Option(
        metavar="lexical|dense|hybrid|hybrid:W|rrf",
        help="By words (BM25), by meaning (vectors: see orienteer embed), or by both; W is the weight of words.",
    ),
]


def _show(out: Output, page: View, printed: Callable[[], None], rows: Callable[[], Rows] | None = None) -> None:
    """Print a record as JSON, as `rows`, by default its fields, or by `printed`; then its notes."""
    out.show(page.printed(), printed, rows or (lambda: (_FIELDS, list(page.printed().items()))))
    out.notes(getattr(page, "notes", ()))


def info(out: Tabular, directory: Directory) -> None:
    """Describe a graph: its nodes and edges by type, its size, its sources."""
    from orienteer.ingest import bounds
    from orienteer.ingest.provenance import selection_of, skipped_groups, sources_of
    from orienteer.retriever import overview
    from orienteer.serve.views import pages

    graph = open_graph(directory, out)
    manifest, facts = graph.arrays.manifest, pages.info(graph)

    def printed() -> None:
        about = overview(graph)
        asks = [f"  {example.question}" for example in about.examples]
        for line in (about.text, *(["you could ask", *asks] if asks else []), ""):
            out.print(line)
        answering.print_info(out, facts, graph.schema, sources=sources_of(manifest))
        chosen = [(name, value) for name, value in selection_of(manifest) if value]
        lines = [f"{name}: {value if isinstance(value, str) else ', '.join(value)}" for name, value in chosen]
        lines += bounds.lines(skipped_groups(manifest), most=None, named=bounds.KEPT if out.verbosity else bounds.SHOWN)
        if lines:
            out.print()
        for line in lines:
            out.print(line)

    _show(out, facts, printed)


def schema(out: Tabular, directory: Directory) -> None:
    """List the node types and edge types, which types each edge joins, and their labels."""
    from orienteer.serve.views import pages

    graph = open_graph(directory, out)
    page, label = pages.schema(graph), graph.schema.label
    kinds = [("", name, "", label(name), count) for name, count in page.node_types.items()]
    kinds += [(edge.source, edge.type, edge.target, label(edge.type), edge.count) for edge in page.edges]
    header = ("source", "type", "target", "label", "count")
    _show(out, page, lambda: answering.print_schema(out, graph.schema), lambda: (header, kinds))


def search(
    out: Tabular,
    directory: Directory,
    words: Annotated[str, typer.Argument(metavar="WORDS", help="Words to look for in names and texts.")],
    k: K = 20,
    types: Types = None,
    where: Where = None,
    mode: SearchMode = "lexical",
) -> int:
    """Rank the nodes that best match some words."""
    from orienteer.serve.views import pages

    graph = open_graph(directory, out)
    result = pages.search(pages.searcher(graph, mode), words, k, node_types=types, where=where, called=str(directory))
    out.show(
        result.model_dump(mode="json", exclude={"trajectories"}),
        lambda: answering.print_hits(out, graph, result.hits),
        lambda: answering.hit_rows(graph, result.hits),
    )
    out.notes(result.notes if not out.as_json else ())
    return int(not result.hits and k > 0)


def neighbors(
    out: Tabular,
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
) -> int:
    """List the neighbours of a node with the edges that lead to them, counted by kind."""
    from orienteer.serve.views import pages

    graph = open_graph(directory, out)
    filters = {"node_types": types, "edge_types": edges, "direction": direction, "where": where}
    page = pages.neighbors(graph, node, query, k=k, offset=offset, mode=mode, **filters)
    _show(out, page, lambda: answering.print_neighbors(out, graph, page), lambda: answering.hit_rows(graph, page.hits))
    if page.hits and page.more and not out.as_json:
        out.note(f"{page.more:,} more: --offset {offset + len(page.hits)}")
    return int(not page.total)


def intersect(
    out: Tabular,
    directory: Directory,
    nodes: Annotated[list[str], typer.Argument(metavar="NODE", help="Ids, names or aliases.")],
    types: Types = None,
    k: K = 20,
) -> int:
    """List the nodes connected to all of several nodes, or to most of them, with the edges."""
    from orienteer.serve.views import pages

    graph = open_graph(directory, out)
    page = pages.intersect(graph, nodes, node_types=types, k=k)
    _show(out, page, lambda: answering.print_hits(out, graph, page.hits), lambda: answering.hit_rows(graph, page.hits))
    return int(not page.hits and k > 0)


def paths(
    out: Tabular,
    directory: Directory,
    a: NodeName,
    b: NodeName,
    max_length: Annotated[int, typer.Option(metavar="N", help="Maximum number of edges in a path.")] = 4,
    k: Annotated[int, typer.Option("-k", metavar="N", min=0, help="Maximum number of paths.")] = 10,
) -> int:
    """List the shortest paths between two nodes, whatever the direction of the edges."""
    from orienteer.retrieval.graph_text import edge_lines
    from orienteer.serve.views import pages

    graph = open_graph(directory, out)
    page = pages.paths(graph, a, b, max_length=max_length, k=k)

    def printed() -> None:
        if not page.paths and k:
            out.print(f"no path of {counted(max_length, 'edge')} or fewer")
        for number, path in enumerate(page.paths, 1):
            names = " - ".join(page.names[node] for node in path.nodes)
            out.print(f"{number}. {names}", "dim", marks=[(len(f"{number}. "), len(f"{number}. {names}"))])
            for hop in path.edges:
                for line in edge_lines(graph, hop):
                    out.print(f"   {line}")

    def rows() -> Rows:
        hops = [(number, *hop) for number, path in enumerate(page.paths, 1) for hop in enumerate(path.edges, 1)]
        return ("path", "step", "source", "type", "target"), [
            (number, step, page.names[edge.source], edge.type, page.names[edge.target])
            for number, step, edges in hops
            for edge in edges
        ]

    _show(out, page, printed, rows)
    return int(not page.paths and k > 0)


def show(
    out: Tabular,
    directory: Directory,
    node: NodeName,
    rows: Annotated[
        bool, typer.Option("--rows", help="Print the rows of the tables that it was imported from.")
    ] = False,
) -> int:
    """Print one node in full."""
    from orienteer.serve.views import pages

    graph = open_graph(directory, out)
    if not rows:
        page = pages.node(graph, node)
        _show(out, page, lambda: answering.print_node(out, page))
        return 0
    found = pages.file_rows(graph, node)
    cells = [(row.file, row.line, *cell) for row in found.rows for cell in row.cells.items()]

    def printed() -> None:
        for row in found.rows:
            out.print(f"{row.file}, line {row.line:,}", "cyan")
            out.table(list(row.cells.items()))

    out.show(found, printed, lambda: (("file", "line", *_FIELDS), cells))
    out.notes(found.notes)
    return int(not found.rows)


def cypher(
    out: Tabular,
    directory: Directory,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One read-only statement.")],
    parameters: Annotated[
        list[str] | None,
        typer.Option("--param", metavar="NAME=VALUE", help="A value for $NAME, as JSON or plain text. Repeatable."),
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=0, help="Maximum number of rows.")] = 100,
    label: Annotated[
        str | None,
        typer.Option("--view", metavar="LABEL", help="Name ids and types as GraphScout's graphs do, with this label."),
    ] = None,
    seconds: Annotated[float, typer.Option(metavar="S", help="Stop the query after this many seconds.")] = 10.0,
    proofs: Annotated[int, typer.Option(metavar="N", min=0, help="Say what the first N rows rest on.")] = 0,
) -> None:
    """Query a graph in Cypher, read-only."""
    from orienteer.cypher.names import View
    from orienteer.cypher.session import Cypher

    graph = open_place(directory, out)
    values: dict[str, JsonValue] = {}
    for text in parameters or ():
        name, equals, value = text.partition("=")
        if not equals or not name.removeprefix("$"):
            raise BadOption(f"--param {text!r} has no value: write --param NAME=VALUE")
        try:
            values[name.removeprefix("$")] = json.loads(value)
        except ValueError:
            values[name.removeprefix("$")] = value
    view = None if label is None else View(label=label)
    table = Cypher(graph).query(query, values, limit=limit, seconds=seconds, view=view, proofs=proofs)

    def printed() -> None:
        out.table([[value_cell(value) for value in row] for row in table.rows], header=table.columns)
        for number, proof in enumerate(table.proofs, 1):
            answering.print_proof(out, number, proof)

    out.show(table.model_dump(mode="json"), printed, lambda: (table.columns, table.rows))
    out.notes(table.notes)
    if table.truncated and not out.as_json:
        out.note(f"{len(table.rows):,} of {counted(table.total, 'row')}: raise --limit, or use SKIP and LIMIT")


def list_nodes(
    out: Tabular,
    directory: Directory,
    types: Types = None,
    where: Where = None,
    sort: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Order by a property, or by name, id, type or degree (number of edges)."),
    ] = None,
    descending: Annotated[bool, typer.Option("--descending", help="From the largest value on.")] = False,
    group_by: Annotated[
        str | None, typer.Option(metavar="FIELD", help="Count the nodes by the value of a field, most first.")
    ] = None,
    count: Annotated[bool, typer.Option("--count", help="Print how many there are, and list none.")] = False,
    k: K = 20,
    offset: Annotated[int, typer.Option(metavar="N", min=0, help="Number of nodes or groups to skip.")] = 0,
) -> int:
    """List, count, sort and group nodes by type and property. Those without a value come last."""
    from orienteer.serve.views import pages
    from orienteer.serve.views.records import Grouping

    counts = count and group_by is None
    order = {"sort": sort, "descending": descending, "group_by": group_by, "k": 0 if counts else k, "offset": offset}
    page = pages.list_nodes(open_graph(directory, out), node_types=types, where=where, **order)
    if counts:
        out.show(page.printed(), str(page.total), lambda: (("count",), [(page.total,)]))
        return int(not page.total)
    printed = partial(answering.print_listing, out, page, str(group_by or sort or ""))
    _show(out, page, printed, lambda: answering.listing_rows(page, str(group_by)))
    listed = page.groups if isinstance(page, Grouping) else page.hits
    is_missing_listed = isinstance(page, Grouping) and any(group.value is None for group in page.groups)
    if page.missing and not is_missing_listed:
        out.note(f"{page.missing:,} of them have no {group_by or sort}: they come last")
    if listed and page.more:
        out.note(f"{page.more:,} more: --offset {page.offset + len(listed)}")
    return int(not page.total)


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
    "list": (list_nodes, "list beers --type beer --where 'abv >= 8' --sort abv --descending -k 5"),
}
