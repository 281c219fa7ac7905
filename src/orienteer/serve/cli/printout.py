"""Results as text for people."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orienteer.display import counted
from orienteer.serve.cli.output import Output
from orienteer.serve.views import wording

if TYPE_CHECKING:
    from orienteer.graph.store import Graph
    from orienteer.records import Ranked, Result, Schema, Source
    from orienteer.serve.views.records import GraphInfo, NeighborsPage, NodePage

_LONG = 100  # characters of a snippet in a table
_ALIKE = 3  # passages that say nearly the same, by their ids
_SCHEMA_HEADER = ("label", "also called", "count")


def print_hits(out: Output, graph: Graph, hits: Iterable[Ranked]) -> None:
    """Print a ranking: each hit's rank, its node, and why it is there; of documents a block for each passage."""
    if graph.arrays.is_made_of_documents:
        print_blocks(out, graph, hits)
        return
    rows = []
    for rank, hit in enumerate(hits, 1):
        text = " ".join(hit.text.split())
        text = text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"
        votes = counted(hit.votes, "vote") if hit.votes is not None else ""
        why = " | ".join(filter(None, (votes, hit.why, text)))
        rows.append([str(rank), hit.name, hit.type, hit.id, why])
    if rows:
        out.table(rows, header=("rank", "name", "type", "id", "why"))
    else:
        out.print("no hits")


def print_blocks(out: Output, graph: Graph, hits: Iterable[Ranked]) -> None:
    """Print hits as blocks, with a blank line between them."""
    place = 0
    for place, hit in enumerate(hits, 1):
        if place > 1:
            out.print()
        print_hit(out, graph, place, hit)
    if not place:
        out.print("no hits")


def print_result(out: Output, graph: Graph, result: Result, *, has_answer: bool = True) -> None:
    """Print the result of a question: how it was read, the answer, and the hits, what meets all of it first.

    Without `has_answer` the answer stands there already.
    """
    reading, refusal = result.reading, result.refusal
    if (read := wording.read_as(result)) is not None:
        out.print(read)
    if result.answer_kind == "quotation":
        _print_quotation(out, graph, result)
    elif has_answer and (answers := wording.answers_of(result, larger_k="-k ")):
        out.print("\n\n".join(answers))
    if reading is not None and out.verbosity and reading.cypher is not None:
        out.print(f"in Cypher: {reading.cypher}")
    if not result.hits:
        out.print("no hits")
    lines = wording.lines_between(result)
    says_more = reading is not None or result.answer is not None or refusal is not None
    for place, hit in enumerate(result.hits, 1):
        if says_more or place > 1:
            out.print()
        if line := lines.get(place):
            out.print(f"{line}\n")
        print_hit(out, graph, place, hit)


def _print_quotation(out: Output, graph: Graph, result: Result) -> None:
    """Print an answer that is quoted, and where it stands."""
    out.print(f"“{result.answer}”")
    for citation in result.citations:
        out.print(f"   quoted from {place_of(graph, citation.source)}")


def print_hit(out: Output, graph: Graph, place: int, hit: Ranked) -> None:
    """Print a hit as a block: its rank, name, type and id, why it is there, and the best of its text.

    Of a passage, where it stands, its text with the matching words marked, and why.
    """
    votes = f"  {counted(hit.votes, 'vote')}" if hit.votes is not None else ""
    out.print(f"{place}. {hit.name} ({hit.type})  {hit.id}{votes}")
    if hit.span is not None:
        if where := place_of(graph, hit.source):
            out.print(f"   {where}")
        out.marked(hit.text, hit.marks, indent=3)
        if hit.why:
            out.print(f"   why: {hit.why}")
        if hit.alike:
            out.print(
                f"   and {len(hit.alike):,} like it: {', '.join(hit.alike[:_ALIKE])}{', …' * (len(hit.alike) > _ALIKE)}"
            )
        return
    text = " ".join(hit.text.split())
    for line in (hit.why, text if len(text) <= _LONG or out.verbosity else f"{text[: _LONG - 1]}…"):
        if line:
            out.print(f"   {line}")


def place_of(graph: Graph, source: Source | None) -> str:
    """Say where a passage stands, by a path that opens from here: `notes/ferries.md:3`; nothing where none is known."""
    from orienteer.ingest.provenance import path_of

    path = path_of(graph.arrays.manifest, source.file) if source is not None and source.file is not None else None
    if source is None or path is None:
        return source.place if source is not None else ""
    here = Path.cwd()
    shown = path.relative_to(here) if path.is_relative_to(here) else path
    return source.model_copy(update={"file": os.fspath(shown)}).place


def print_node(out: Output, node: NodePage) -> None:
    """Print a node in full."""
    out.print(f"{node.name} ({node.type})")
    fields: list[tuple[str, str]] = [("id", node.id)]
    fields += [("aliases", "; ".join(node.aliases))] if node.aliases else []
    fields += [("edges", str(node.degree))]
    fields += [(name, _value(value)) for name, value in node.properties.items()]
    out.table(fields)
    if node.text:
        out.print()
        out.print(node.text)


def print_neighbors(out: Output, graph: Graph, page: NeighborsPage) -> None:
    """Print a page of the neighbours of a node, beneath the counts of all of them by kind."""
    from orienteer.records import Kind
    from orienteer.retrieval.graph_text import counts_line

    counts = {Kind(kind.edge_type, kind.direction, kind.node_type): kind.count for kind in page.counts}
    out.print(f"{counted(page.total, 'neighbour')}: {counts_line(graph, counts)}")
    print_hits(out, graph, page.hits)


def print_schema(out: Output, schema: Schema) -> None:
    """Print the types of a graph, most frequent first."""

    def row(name: str, text: str, count: int) -> list[str]:
        label = schema.label(name)
        text += " (partial)" if name in schema.partial else ""
        return [text, label if label != name else "", ", ".join(schema.also_called.get(name, ())), f"{count:,}"]

    counts = sorted(schema.node_types.items(), key=lambda item: -item[1])
    out.table([row(name, name, count) for name, count in counts], header=("node type", *_SCHEMA_HEADER))
    out.print()
    rows = []
    for triple, count in sorted(schema.edges.items(), key=lambda item: -item[1]):
        point = "-" if triple.type in schema.symmetric else "->"
        rows.append(row(triple.type, f"{triple.source} -{triple.type}{point} {triple.target}", count))
    out.table(rows, header=("edges", *_SCHEMA_HEADER))


def print_info(out: Output, info: GraphInfo, *, sources: Iterable[Path]) -> None:
    """Print what a graph is, and where the files are that it was made of."""
    rows = [["nodes", f"{info.nodes:,}"], ["edges", f"{info.edges:,}"], ["bytes", f"{info.bytes:,}"]]
    rows += [["format", str(info.format)], ["indexes", ", ".join(info.indexes)]]
    rows += [["made by", str(info.provenance.get("made_by", "unknown"))]]
    if info.extraction is not None:
        rows += [["extracted", f"{info.extraction.form}, by {info.extraction.model or 'statistics'}"]]
    rows += [["source", str(source)] for source in sources]
    rows += [["partial", ", ".join(info.partial)]] if info.partial else []
    rows += [["stale", "yes: a source has changed or is gone"]] if info.stale else []
    out.table(rows)
    for title, sizes in (("node types", info.node_types), ("edge types", info.edge_types)):
        out.print()
        out.print(title)
        counts = sorted(sizes.items(), key=lambda item: -item[1])
        out.table([[f"  {name}", f"{count:,}"] for name, count in counts])


def option_table(out: Output, schema: Mapping[str, Any]) -> None:
    """Print the options of a JSON schema, a row each."""
    from orienteer.options import in_words

    rows = [
        [name, in_words(option), _value(option.get("default")), option.get("description", "")]
        for name, option in schema["properties"].items()
    ]
    out.table(rows, header=("option", "value", "default", "meaning")) if rows else out.print("It has no options.")


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
