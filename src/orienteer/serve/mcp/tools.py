"""The tools as data, and their replies. This module loads no graph, so that tools are listed at once.

Each wraps one of the stateless tools of agents, with its own name and a short description for a model that has forty
other tools. Replies are lines with ids in brackets; texts of nodes are indented.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from orienteer.display import clean, counted, cut
from orienteer.errors import BadOption, without_paths
from orienteer.llm.schema import read_arguments
from orienteer.serve.door import LONGEST_QUERY, LONGEST_QUESTION, raise_failure
from orienteer.serve.views.records import answers_of, lines_between
from orienteer.text.sentences import one_line, single_spaced

if TYPE_CHECKING:
    from orienteer.agents.events import Event
    from orienteer.graph.store import Graph
    from orienteer.records import JsonValue, Result
    from orienteer.serve.graphs import Generation
    from orienteer.tools.session import Session

ASK = "ask"
CYPHER = "cypher"
ROWS = "rows"
"""The parameter that asks for the rows of files, which are read like a large look-up."""
GRAPH = "graph"
"""The parameter that names the graph if several are served."""
ASK_K = 10
"""Hits of a question by default."""
MOST_ROWS = 100
"""The most rows of a call."""
_MOST_NODES = 50  # nodes that are intersected
_BOUNDS = frozenset({"additionalProperties", "minimum", "maximum", "minItems", "maxItems"})


_TEXT: dict[str, Any] = {"type": "string"}


def _text(description: str) -> dict[str, Any]:
    return {**_TEXT, "description": description}


def _texts(description: str = "", **bounds: int) -> dict[str, Any]:
    about = {"description": description} if description else {}
    return {"type": "array", "items": _TEXT, **bounds, **about}


def _count(default: int, most: int = MOST_ROWS) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": most, "default": default}


_OFFSET: dict[str, Any] = {"type": "integer", "minimum": 0}
_TEXT_OR_NONE = {"type": ["string", "null"]}


def _form(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object that has all of these properties."""
    return {"type": "object", "properties": properties, "required": list(properties)}


_FOUND = {"id": _TEXT, "name": _TEXT, "type": _TEXT}
_LOOKED_UP = _form(text=_TEXT, nodes={"type": "array", "items": _form(**_FOUND)})
_ANSWERED = _form(
    text=_TEXT,
    reading=_TEXT_OR_NONE,
    answer=_TEXT_OR_NONE,
    total={"type": ["integer", "null"], "description": "Nodes that meet all of it"},
    offset={"type": "integer"},
    groups={"type": "array", "items": {"type": "array"}, "description": "Pairs of a group and its number, the first"},
    group_count={"type": "integer"},
    nodes={"type": "array", "items": _form(**_FOUND, why=_TEXT, complete={"type": "boolean"})},
)
_NODE = _text("Id, exact name, or `name (Type)`")
_TYPES = _texts()
_WHERE = _texts("Such as `year >= 2000`")


def _without_bounds(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without the keywords that only refuse."""
    return {keyword: rule for keyword, rule in schema.items() if keyword not in _BOUNDS}


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """A tool for a host's model."""

    name: str
    description: str
    properties: Mapping[str, Any]  # Any: a JSON schema nests without end
    required: tuple[str, ...] = ()
    inner: str = ""
    """The stateless tool that it wraps; empty for `ask`."""
    defaults: Mapping[str, JsonValue] = field(default_factory=dict)
    """Default arguments of the inner tool."""

    @property
    def output_schema(self) -> dict[str, Any]:
        """The JSON schema of the structured content of a reply."""
        return _ANSWERED if self.name == ASK else _LOOKED_UP

    def parameters(self, graphs: Sequence[str]) -> dict[str, Any]:
        """Return the JSON schema that calls are checked against; with several graphs the caller names one."""
        properties, required = dict(self.properties), self.required
        if len(graphs) > 1:
            properties, required = {GRAPH: {**_TEXT, "enum": list(graphs)}, **properties}, (GRAPH, *required)
        return {
            "type": "object",
            "properties": properties,
            **({"required": list(required)} if required else {}),
            "additionalProperties": False,
        }

    def published_schema(self, graphs: Sequence[str]) -> dict[str, Any]:
        """Return the schema sent to hosts: `parameters` without bounds, which our errors explain better.

        Some hosts refuse a call by its schema themselves, in fewer words than ours ("params must NOT have additional
        properties", Gemini CLI 0.61). The graphs are listed only in the schema of `ask`.
        """
        full = self.parameters(graphs)
        properties = {name: _without_bounds(schema) for name, schema in full["properties"].items()}
        if GRAPH in properties and self.name != ASK:
            properties[GRAPH] = _TEXT
        return {**_without_bounds(full), "properties": properties}


_TABLE = (
    McpTool(
        name=ASK,
        description="Answer a question from the graph: ranked nodes, each with the edges or words that support it. "
        "Start here.",
        properties={
            "question": _text("In whole words"),
            "k": _count(ASK_K),
            "offset": _OFFSET,
            "node_types": _TYPES,
            "reading": _text("A line: `count A per -edge-> B`"),
        },
        required=("question",),
    ),
    McpTool(
        name="search",
        description="Find nodes by words of their names and texts. Edges are not searched.",
        properties={"query": _TEXT, "node_types": _TYPES, "where": _WHERE, "k": _count(10), "offset": _OFFSET},
        required=("query",),
        inner="search_in_graph",
        defaults={"k": 10},
    ),
    McpTool(
        name="neighbors",
        description="List what is one edge away from a node, counted by edge type. A query ranks.",
        properties={
            "node": _NODE,
            "query": _TEXT,
            "node_types": _TYPES,
            "edge_types": _TYPES,
            "k": _count(20),
            "offset": _OFFSET,
        },
        required=("node",),
        inner="search_in_neighborhood",
    ),
    McpTool(
        name="intersect",
        description="Find the nodes joined to every one of several nodes.",
        properties={
            "nodes": _texts(_NODE["description"], minItems=2, maxItems=_MOST_NODES),
            "node_types": _TYPES,
            "edge_types": _TYPES,
            "k": _count(20),
            "offset": _OFFSET,
        },
        required=("nodes",),
        inner="intersect",
    ),
    McpTool(
        name="paths",
        description="Find the shortest paths between two nodes, whichever way edges point.",
        properties={"a": _NODE, "b": _TEXT, "max_length": _count(4, 4), "k": _count(10)},
        required=("a", "b"),
        inner="paths",
    ),
    McpTool(
        name="node",
        description="Read one node, its edges by type, or its file's `rows`.",
        properties={
            "node": _NODE,
            "offset": {**_OFFSET, "description": "Characters to skip"},
            ROWS: {"type": "boolean"},
        },
        required=("node",),
        inner="read_node",
    ),
    McpTool(
        name="schema",
        description="List the node types, and which edge types join which of them.",
        properties={},
        inner="schema",
    ),
    McpTool(
        name="list",
        description="List nodes by type and property, without words: how many, the largest, or counted by value.",
        properties={
            "node_types": _TYPES,
            "where": _WHERE,
            "sort": _text("A property, or name, id, type or degree"),
            "descending": {"type": "boolean"},
            "group_by": _text("Count by the values of it"),
            "k": _count(20),
            "offset": _OFFSET,
        },
        inner="list_nodes",
    ),
)
_CYPHER = McpTool(
    name=CYPHER,
    description="Run one read-only Cypher statement: MATCH, WHERE, WITH, RETURN, ORDER BY, SKIP, LIMIT. Node types are "
    "labels; every node has id and name. Texts are not in it.",
    properties={"query": _TEXT, "k": _count(20)},
    required=("query",),
    inner="cypher",
)


def tools_of(*, offers_cypher: bool) -> dict[str, McpTool]:
    """Return the tools by name, with Cypher only if the operator enables it."""
    return {tool.name: tool for tool in (*_TABLE, *((_CYPHER,) if offers_cypher else ()))}


class Checked(NamedTuple):
    """A call that can be made."""

    graph: str
    arguments: dict[str, JsonValue]
    note: str
    """How arguments were read that do not follow the schema; else empty."""


def checked(tool: McpTool, arguments: Mapping[str, JsonValue], graphs: Sequence[str]) -> Checked:
    """Return the graph of a call and its other arguments. Raises `BadOption` for wrong ones."""
    try:
        read = read_arguments(tool.name, arguments, tool.parameters(graphs))
    except ValueError as error:
        raise BadOption(str(error)) from None
    given = read.value
    for name, value in given.items():
        most = LONGEST_QUESTION if name == "question" else LONGEST_QUERY
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str) and len(text) > most:
                raise BadOption(f"{name} has {len(text):,} characters: at most {most:,} are read.")
    return Checked(str(given.pop(GRAPH, graphs[0])), given, read.note)


class Reply(NamedTuple):
    """A reply as text, and its structured content besides that text."""

    text: str
    content: dict[str, JsonValue]

    def noted(self, *notes: str | None) -> Reply:
        """Return the reply below notes; None and the empty text are none."""
        return self._replace(text="\n".join((*filter(None, notes), self.text)))


def look_up(tool: McpTool, graph: Graph, arguments: Mapping[str, JsonValue]) -> Reply:
    """Return the reply of any tool but `ask`. Raises `Error` for its arguments, `NotAGraph` for a damaged graph."""
    from orienteer.graph.damage import damage_told
    from orienteer.tools.toolbox import open_stateless

    with damage_told(graph.path, graph.generation):
        toolbox = open_stateless(graph, offers_cypher=tool.name == CYPHER)
        given = dict(arguments)
        if given.pop(ROWS, False):
            return _rows_of(graph, str(given["node"]), toolbox.session)
        seen = toolbox.call(tool.inner, {**tool.defaults, **given})
        nodes = ({"id": node.id, "name": clean(node.name), "type": node.type} for node in map(graph.node, seen.nodes))
        return Reply(seen.text, {"nodes": list(nodes)})


def _rows_of(graph: Graph, node: str, session: Session) -> Reply:
    """Return the rows of files that a node was imported from, as many as a reply has room for."""
    from orienteer.serve.views.pages import file_rows
    from orienteer.tools.session import ReplyLines

    # A session reads nodes as agents write them.
    notes: list[str] = []
    found = file_rows(graph, graph.arrays.ids[int(session.rows(node, notes)[0])])
    reply = ReplyLines(session, [*notes, *(f"note: {one_line(clean(note), _NOTE)}" for note in found.notes)])
    lines = []
    for row in found.rows:
        lines.append(f"{one_line(single_spaced(clean(row.file)))}, line {row.line:,}")
        cells = ((one_line(clean(name)), one_line(clean(text))) for name, text in row.cells.items())
        lines += [f"  {name}: {text}" for name, text in cells]
    if left := lines[reply.say_all(lines) :]:
        heads = sum(not line.startswith("  ") for line in left)
        reply.say_rest(f"{counted(heads, 'row')} and {counted(len(left) - heads, 'cell')} more")
    return Reply(reply.text(), {"nodes": []})


# The tool `ask`: a question with progress, stopped if the caller leaves, and its result as lines.


_STEP = 120  # characters of a line of progress
_NOTE = 300
_WHY = 240
_QUOTATION = 1_200
_MOST_GROUPS = 200


EventsOf: TypeAlias = Callable[["Generation", Mapping[str, Any]], AsyncGenerator["Event", None]]  # Any: checked JSON
"""Answers a question, given the arguments of a call of `ask`, and yields its events; closing it stops the question."""


async def own_events(generation: Generation, asked: Mapping[str, Any]) -> AsyncGenerator[Event, None]:  # Any: as above
    """Yield the events of a question by the method of the settings. Raises as `Retriever.astream` does."""
    retriever = await asyncio.to_thread(generation.retriever)
    with generation.explained():
        async with aclosing(retriever.astream(**asked)) as events:
            async for event in events:
                yield generation.noted_event(event)


async def result_of(
    events: AsyncGenerator[Event, None], *, notify: Callable[[str], Awaitable[None]], paths: Sequence[Path]
) -> Result:
    """Return the result of a question; `notify` gets each step without `paths`. Cancelling stops it. Raises `Error`."""
    from orienteer.retriever import failure

    result: Result | None = None
    async with aclosing(events):
        async for event in events:
            if event.kind == "done":
                result = event.result
            elif (line := _step(event)) is not None:
                await notify(one_line(single_spaced(clean(without_paths(line, paths))), _STEP))
    # A stream ends with a result, or raises.
    assert result is not None
    raise_failure(result)
    error = failure(result)
    if error is None or any(str(error) in note for note in result.notes):
        return result
    return result.model_copy(update={"notes": (*result.notes, error.public)})


def _step(event: Event) -> str | None:
    """Return the progress line of an event, or None for events that the reply reports."""
    if event.kind == "observation":
        return f"{event.call.name}: {event.observation.text}"
    if event.kind == "note":
        return event.text
    if event.kind == "step" and event.agent is None:
        return "writes the answer"
    return None


def reply_of(result: Result, graph: Graph, k: int) -> Reply:
    """Return a result as a tool's reply: the reading line, the answer, notes, and numbered hits."""
    groups = _groups(result)
    content: dict[str, JsonValue] = {
        "reading": None if result.reading is None else result.reading.text,
        "answer": result.answer,
        "total": result.total,
        "offset": result.offset,
        "groups": [list(row) for row in groups[:_MOST_GROUPS]],
        "group_count": len(groups),
        "nodes": [hit.model_dump(include={"id", "name", "type", "why", "complete"}) for hit in result.hits],
    }
    return Reply(_text_of(result, graph, k), content)


def _groups(result: Result) -> tuple[tuple[JsonValue, ...], ...]:
    return result.table.rows if result.table is not None and result.table.kind == "groups" else ()


def _text_of(result: Result, graph: Graph, k: int) -> str:
    from orienteer.tools.session import ReplyLines
    from orienteer.tools.toolbox import open_stateless

    reply = ReplyLines(open_stateless(graph).session)
    lines = [*result.read_as, _answer(result, reply.room // 2), *_notes(result)]
    reply.say_all("\n".join(filter(None, lines)).splitlines())
    if not result.hits:
        nothing = "Nothing was found. Try other words, or fewer filters."
        reply.say(f"None from {result.offset} on." if result.offset else nothing)
        return reply.text()
    end = result.offset + len(result.hits)
    more = f"; offset={end} for more" if len(result.hits) == k and end != result.total else ""
    which = f"{result.offset + 1}-{end}" if result.offset else counted(end, "hit")
    reply.say(f"{which}, best first{more}")
    reply.list(range(len(result.hits)), _hits(result, reply.snippets(len(result.hits)).width))
    return reply.text()


def _notes(result: Result) -> Iterator[str]:
    """Yield the notes of a result that its other lines do not repeat, and the limit that ended it early."""
    from orienteer.retriever import LIMITS, NO_MODEL

    if result.stopped_by in LIMITS:
        yield f"note: the budget of {result.stopped_by} ended: this was found until then"
    refused = None if result.refusal is None else result.refusal.text
    for note in result.notes:
        # The instructions say that there is no model.
        if not note.startswith(NO_MODEL) and (refused is None or refused not in note):
            yield f"note: {one_line(note, _NOTE)}"


def _answer(result: Result, room: int) -> str:
    """Return the answer, cut to `room` characters, with what it quotes: each a line, with its source."""
    if result.answer_kind == "quotation" and result.answer is not None:
        places = [citation.source.place for citation in result.citations if citation.source is not None]
        where = f" (quoted from {', '.join(places)})" if places else ""
        return f"answer: “{one_line(result.answer, _QUOTATION)}”{where}"
    answers = answers_of(result, larger_k="k=", most_k=MOST_ROWS)
    quotes = [f"\n  rests on {one_line(citation.told, _QUOTATION)}" for citation in result.citations if citation.quote]
    of = f" ({counted(len(groups), 'group')})" if (groups := _groups(result)) else ""
    return cut(f"answer{of}: {'; '.join(answers)}{''.join(quotes)}", room) if answers else ""


def _hits(result: Result, width: int) -> Iterator[str]:
    """Yield each hit as a line, with up to `width` characters of its text; some have a heading above."""
    between = lines_between(result)
    for place, hit in enumerate(result.hits, 1):
        heading = f"{between[place]}\n" if place in between else ""
        name = one_line(hit.name)
        title = f"[{hit.id}] {name} ({hit.type})" if name != hit.id else f"[{hit.id}] ({hit.type})"
        where = f" {hit.source.place}" if hit.source is not None and hit.source.place else ""
        why = " | ".join(filter(None, (one_line(hit.why, _WHY), one_line(" ".join(hit.text.split()), width))))
        yield f"{heading}{result.offset + place}. {title}{where}{f': {why}' if why else ''}"
