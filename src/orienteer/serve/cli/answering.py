"""Printing: a question's steps while it runs, results, and the records of graphs."""

from __future__ import annotations

import json
import logging
import os
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orienteer.display import counted, value_cell
from orienteer.serve.cli.output import Output, Rows
from orienteer.serve.views import records
from orienteer.serve.views.records import NO_ANSWER, PUT_RIGHT, Grouping, Listing, SentWords
from orienteer.text.sentences import value_text

if TYPE_CHECKING:
    from orienteer.agents.events import Event
    from orienteer.cypher.names import RowProof
    from orienteer.graph.store import Graph
    from orienteer.records import Ranked, Result, Schema, Source
    from orienteer.retriever import Retriever
    from orienteer.serve.views.records import GraphInfo, NeighborsPage, NodePage


_REMARK = 160  # characters of a model's words in a turn without a call
# Characters of the arguments of a call: a model may write megabytes.
_ARGUMENTS = 2_000
_SIDE_BY_SIDE = 2.0  # seconds within which agents make the same attempt, each with a delay of its own


class _Retries(logging.Handler):
    """Notes the retries of a model's server, once for parallel agents."""

    def __init__(self, out: Output) -> None:
        super().__init__()
        self._out = out
        self._attempt, self._at = 0, 0.0

    def emit(self, record: logging.LogRecord) -> None:
        match record.args:
            case (float(), int(attempt), int(most)):
                if attempt == self._attempt and record.created < self._at + _SIDE_BY_SIDE:
                    return
                self._attempt, self._at = attempt, record.created
                self._out.note(f"the model's server failed to answer: retrying ({attempt} of {most})")


@contextmanager
def retries_shown(out: Output) -> Iterator[None]:
    """Show the retries of a model's server, which are only logged."""
    logger, handler = logging.getLogger("orienteer.llm.openai.retries"), _Retries(out)
    level, propagates = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagates


def print_outcome(
    out: Output, graph: Graph, result: Result, words: SentWords | None = None, *, most: int | None = None
) -> None:
    """Print a result, unless in another form, then its notes and costs. Raises the error that ended it early, if any.

    `words` of the answer that are printed already are not printed again. Of the hits at most `most` are printed.
    """
    from orienteer.retriever import NO_MODEL, failure

    rest = words.rest(result) if words else None
    if rest:
        out.words(rest)
    error = failure(result)
    if error is None or result.hits:
        # The printed words cannot be withdrawn.
        if words and rest is None:
            out.note(f"note: {NO_ANSWER if result.answer is None else PUT_RIGHT}")
        if not out.form:
            shown = result.model_copy(update={"hits": result.hits[:most]})
            print_result(out, graph, shown, has_answer=rest is None)
            if more := len(result.hits) - len(shown.hits):
                out.note(f"{more} more: -k {len(result.hits)} prints them")
        if sys.stdout.isatty():
            out.print()
        refused = result.refusal.text if result.refusal is not None and not out.form else None
        for note in result.notes:
            is_said = note.startswith(NO_MODEL) and not out.verbosity  # by the name of the method
            if not is_said and (error is None or str(error) not in note) and (refused is None or refused not in note):
                out.note(f"note: {note}")
        out.note(result.spent)
    if error is not None:
        raise error


def hear(out: Output, event: Event, words: SentWords, *, has_agents: bool) -> None:
    """Show a step of a question while it runs, as much as the person wants, and words of its answer, noting these."""
    if event.kind == "answer_part":
        words.add(event.text)
        out.words(event.text)
    elif out.verbosity or has_agents or event.kind == "note":
        show_event(out, event, has_agents=has_agents, is_whole=bool(out.verbosity))


def show_event(out: Output, event: Event, *, has_agents: bool, is_whole: bool) -> None:
    """Show a step as notes: a call with its observation, or the model's words; long texts only if `is_whole`."""
    from orienteer.llm.spoken import after_thinking

    if event.kind == "note":
        out.note(event.text)
    elif event.kind == "step" and event.step.error is not None:
        # The error is printed at the end.
        pass
    elif event.kind == "step" and event.agent is not None and not event.step.reply.message.tool_calls:
        remark = after_thinking(event.step.reply.message.content or "") or "nothing"
        if not is_whole:
            remark = textwrap.shorten(remark, _REMARK, placeholder=" ...")
        cut = " (cut off at the length limit)" if event.step.reply.truncated else ""
        out.note(f"[{event.agent + 1}] said: {remark}{cut}")
    elif event.kind == "observation":
        agent = f"[{event.agent + 1}] " if has_agents and event.agent is not None else ""
        lines = event.observation.text.strip().splitlines() or [""]
        if not is_whole:
            # The first line, with the next one if the first is a heading.
            lines = [" ".join(lines[: 2 if lines[0].endswith(":") else 1])]
        arguments = _compact(event.call.arguments)
        cut = f" ... {len(arguments):,} characters" if len(arguments) > _ARGUMENTS else ""
        out.note(f"{agent}{event.call.name}({arguments[:_ARGUMENTS]}{cut})")
        for line in lines:
            out.note(f"    {line}")


def _compact(arguments: str) -> str:
    """Return a JSON object as the arguments of a call, `query="x", k=5`; another text unchanged."""
    from orienteer.llm.schema import json_object

    if (values := json_object(arguments or "{}")) is None:
        return arguments
    return ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in values.items())


# Results as text for people.


_SNIPPET_LINES = 2  # of a terminal
_ALIKE = 3  # passages that say nearly the same, by their ids
_SCHEMA_HEADER = ("label", "also called", "count")


def print_hits(out: Output, graph: Graph, hits: Sequence[Ranked]) -> None:
    """Print a ranking: on a terminal, and for documents, a block for each hit; elsewhere a table."""
    if not hits:
        out.print("no hits")
        return
    rows = []
    for rank, hit in enumerate(hits, 1):
        if sys.stdout.isatty() or graph.arrays.is_made_of_documents:
            if rank > 1:
                out.print()
            print_hit(out, graph, rank, hit)
            continue
        votes = counted(hit.votes, "vote") if hit.votes is not None else ""
        why = " | ".join(filter(None, (votes, hit.why, " ".join(hit.text.split()))))
        rows.append([str(rank), hit.name, hit.type, hit.id, why])
    if rows:
        out.table(rows, header=("rank", "name", "type", "id", "why"))


def hit_rows(graph: Graph, hits: Iterable[Ranked]) -> Rows:
    """Return hits as rows; `complete` says which of them answer a question."""
    header = ("place", "id", "type", "name", "complete", "score", "why", "text", "source")
    return header, [
        (place, *(getattr(hit, name) for name in header[1:-1]), place_of(graph, hit.source))
        for place, hit in enumerate(hits, 1)
    ]


def result_rows(
    retriever: Retriever, result: Result, k: int | None, *, node_types: Sequence[str], where: Sequence[str]
) -> Rows:
    """Return an answer as rows: all nodes of a set, or `k` of them; the numbers of groups; else the answer or hits."""
    reading, graph = result.reading, retriever.graph
    if result.table is not None:
        return result.table.columns, result.table.rows
    if result.answer is not None and result.answer_kind not in ("entity", "set"):
        quoted = [(cited.quote, place_of(graph, cited.source)) for cited in result.citations if cited.quote]
        return ("answer", "source"), quoted or [(result.answer, None)]
    if not result.total or reading is None or reading.text is None:
        return hit_rows(graph, result.hits)
    table = retriever.answers(result.question, reading=reading.text, node_types=node_types, where=where)
    return [column.name for column in table.columns], table.values(result.offset, k)


def print_result(out: Output, graph: Graph, result: Result, *, has_answer: bool = True) -> None:
    """Print the reading line, the answer unless `has_answer` is False, and the hits, complete matches first."""
    reading, refusal = result.reading, result.refusal
    if read := "\n".join(result.read_as):
        out.print(read, "cyan" if reading is not None and reading.text is not None else "yellow")
    if result.answer_kind == "quotation":
        out.print(f"“{result.answer}”", "bold")
    elif has_answer and (answers := records.answers_of(result, larger_k="-k ")):
        out.print("\n\n".join(answers), "bold")
    _print_quoted(out, graph, result)
    if reading is not None and out.verbosity and reading.cypher is not None:
        out.print(f"in Cypher: {reading.cypher}")
    if not result.hits and not result.total and (result.table is None or not result.table.rows):
        out.print("no hits")
    lines = records.lines_between(result)
    says_more = reading is not None or result.answer is not None or refusal is not None
    for place, hit in enumerate(result.hits, 1):
        if says_more or place > 1:
            out.print()
        if line := lines.get(place):
            out.print(f"{line}\n", "dim")
        print_hit(out, graph, place, hit)


def _print_quoted(out: Output, graph: Graph, result: Result) -> None:
    """Print what the answer rests on, with the places."""
    for citation in result.citations:
        if citation.quote:
            out.print(f"“{citation.quote}”")
        if citation.source is not None:
            out.print(f"   quoted from {place_of(graph, citation.source)}")


def print_hit(out: Output, graph: Graph, place: int, hit: Ranked) -> None:
    """Print a hit as a block: its name and id, its source, its reason and its text; of a passage with its marks."""
    votes = f"  {counted(hit.votes, 'vote')}" if hit.votes is not None else ""
    at = len(f"{place}. ")
    out.print(f"{place}. {hit.name} ({hit.type})  {hit.id}{votes}", "dim", marks=[(at, at + len(hit.name))])
    if hit.span is None:
        if hit.why:
            out.print(hit.why, indent=3)
        if text := " ".join(hit.text.split()):
            out.print(text, "dim", indent=3, lines=0 if out.verbosity else _SNIPPET_LINES)
        return
    if where := place_of(graph, hit.source):
        out.print(f"   {where}", "cyan")
    out.print(hit.text, marks=hit.marks, indent=3)
    if hit.why:
        out.print(f"why: {hit.why}", "dim", indent=3)
    if hit.alike:
        more = ", …" * (len(hit.alike) > _ALIKE)
        out.print(f"   and {len(hit.alike):,} like it: {', '.join(hit.alike[:_ALIKE])}{more}", "dim")


def place_of(graph: Graph, source: Source | None) -> str:
    """Return a passage's source by a path that opens from here, such as `notes/ferries.md:3`; empty if unknown."""
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
    aliases = [("aliases", "; ".join(node.aliases))] if node.aliases else []
    properties = [(name, value_cell(value)) for name, value in node.properties.items()]
    out.table([("id", node.id), *aliases, ("edges", str(node.degree)), *properties])
    if node.text:
        out.print()
        out.print(node.text)


def print_neighbors(out: Output, graph: Graph, page: NeighborsPage) -> None:
    """Print counts of the neighbours of a node by kind, then a page of them."""
    from orienteer.records import Kind
    from orienteer.retrieval.graph_text import counts_line

    counts = {Kind(kind.edge_type, kind.direction, kind.node_type): kind.count for kind in page.counts}
    out.print(f"{counted(page.total, 'neighbour')}: {counts_line(graph, counts)}")
    print_hits(out, graph, page.hits)


def print_listing(out: Output, page: Listing | Grouping, field: str) -> None:
    """Print nodes or groups, with their number; `field` is that of the order or of the groups."""
    if isinstance(page, Grouping):
        out.print(f"{counted(page.total, 'node')}, {counted(page.distinct, 'group')}")
        header: tuple[str, ...] = (field, "count")
        cells = [["(none)" if one.value is None else value_text(one.value), f"{one.count:,}"] for one in page.groups]
    else:
        out.print(counted(page.total, "node"))
        header, cells = ("name", "type", "id", "properties"), []
        for node in page.hits:
            # The property of the order comes first.
            names = sorted(node.properties, key=lambda name: name.casefold() != field.casefold())
            properties = "; ".join(f"{name}={value_text(node.properties[name])}" for name in names)
            cells.append([node.name, node.type, node.id, properties])
    if cells:
        out.table(cells, header=header, cuts_last=isinstance(page, Listing))


def listing_rows(page: Listing | Grouping, field: str) -> Rows:
    """Return nodes with a column for each property, or groups with their sizes."""
    if isinstance(page, Grouping):
        return (field, "count"), [(group.value, group.count) for group in page.groups]
    names = dict.fromkeys(name for node in page.hits for name in node.properties)
    header = ("id", "type", "name", *names)
    return header, [(node.id, node.type, node.name, *map(node.properties.get, names)) for node in page.hits]


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


def print_info(out: Output, info: GraphInfo, schema: Schema, *, sources: Iterable[Path]) -> None:
    """Print the facts about a graph, and the paths of its sources."""
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
        labels = {name: label if (label := schema.label(name)) != name else "" for name in sizes}
        out.table(
            [[f"  {name}", labels[name], f"{count:,}"][:: 1 if any(labels.values()) else 2] for name, count in counts]
        )
    if info.dropped:
        out.print()
        out.print("rows of the sources that are not in the graph")
    for lost in info.dropped:
        meaning = f": {lost.meaning}" if lost.meaning else ""
        out.print(f"  {lost.file or 'all files'}: {lost.count:,} {lost.reason}{meaning}")
    asked = [(mapping["file"], question) for mapping in info.mapping for question in mapping.get("questions", ())]
    if asked:
        out.print()
        out.print("open questions about the tables, each with the answer that was taken")
    for file, question in asked:
        out.print(f"  {file}: {question}")


def option_table(out: Output, schema: Mapping[str, Any]) -> None:
    """Print the options of a JSON schema, a row each."""
    from orienteer.options import in_words

    rows = [
        [name, in_words(option), value_cell(option.get("default")), option.get("description", "")]
        for name, option in schema["properties"].items()
    ]
    out.table(rows, header=("option", "value", "default", "meaning")) if rows else out.print("It has no options.")


def print_proof(out: Output, number: int, proof: RowProof | None) -> None:
    """Print what a row of a Cypher answer rests on, name by name, and what that rests on in its turn."""
    about = f"row {number}"
    while proof is not None:
        out.print(f"\n{about}" if proof.laid else f"\n{about}: there is no pattern to lay")
        for laid in proof.laid:
            out.table([(f"  {name}", value_cell(value)) for name, value in laid.items()])
        for pattern in proof.absent:
            out.print(f"  nothing fits {pattern}")
        proof = proof.before
        about = "before its WITH: " + ", ".join(proof.values) if proof else ""
