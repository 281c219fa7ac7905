"""What crosses a seam. Records in memory are tuples and dataclasses; records that are written down are pydantic.

All are frozen. Ids are strings; higher scores are better; ties go by id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from orienteer.display import COLUMNS, counted, frame, result_html, types_html
from orienteer.errors import BadInput
from orienteer.options import Options
from orienteer.page.network import DrawnTypes
from orienteer.page.notebook import MOST_HITS, Bundle, Content, DrawnNode, GraphAtHand, Table, view

JsonValue: TypeAlias = None | bool | int | float | str | list[Any] | dict[str, Any]  # Any: JSON nests without end
Direction: TypeAlias = Literal["out", "in"]
StoppedBy: TypeAlias = Literal["finish", "steps", "calls", "tokens", "seconds", "usd", "interrupted", "error"]
Dialect: TypeAlias = Literal["native", "qwen", "schema", "terse"]
"""How calls of tools are written: as the protocol has them, in words, as Qwen's chat template does, as JSON objects
that the server holds the model to, or in words with the tools as signatures, for small models."""
TRAJECTORY_VERSION: Final = 2

# ---------------------------------------------------------------------------------------- the graph, in memory


@dataclass(frozen=True, slots=True)
class Node:
    """A typed node with text. `text` is what the index sees besides the name and aliases; edges are never in it."""

    id: str
    type: str = "node"
    name: str = ""
    text: str = ""
    aliases: tuple[str, ...] = ()
    properties: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edge:
    """A typed directed edge. Parallel edges, also of one type, are different edges."""

    source: str
    type: str
    target: str
    text: str = ""
    weight: float = 1.0
    properties: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def extras(self) -> dict[str, JsonValue]:
        """Return what it carries besides its ends and its type, defaults left out."""
        carried: dict[str, JsonValue] = {}
        if self.text:
            carried["text"] = self.text
        if self.weight != 1.0:
            carried["weight"] = self.weight
        if self.properties:
            carried["properties"] = dict(self.properties)
        return carried


class Triple(NamedTuple):
    """The schema's view of an edge: which node types it joins."""

    source: str
    type: str
    target: str


class Kind(NamedTuple):
    """How a neighbour is reached: the key of the counts in every neighbourhood reply."""

    edge_type: str
    direction: Direction
    node_type: str


@dataclass(frozen=True, slots=True)
class Schema:
    """The types of a graph, how many there are of each, and what people call them."""

    node_types: Mapping[str, int]
    edges: Mapping[Triple, int]
    symmetric: frozenset[str] = frozenset()
    """Edge types without a direction: each edge is stored once."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Readable label of a type whose name is a code; both are accepted wherever a type is."""
    also_called: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Further words for a node type or an edge type."""
    partial: frozenset[str] = frozenset()
    """Types of nodes or edges of which the graph holds only some, so that a count of them is a lower bound."""

    @property
    def edge_types(self) -> dict[str, int]:
        """Count the edges of each edge type."""
        counts: dict[str, int] = {}
        for triple, count in self.edges.items():
            counts[triple.type] = counts.get(triple.type, 0) + count
        return counts

    def label(self, type_name: str) -> str:
        """Return the readable label of a type: the type itself where it has none."""
        return self.labels.get(type_name, type_name)

    def _repr_html_(self) -> str:
        table = self._drawn.table()
        return types_html(self._title, [(table.header, table.rows)], picture=self._drawn.svg())

    def _repr_mimebundle_(self, **_: object) -> Bundle:
        return self._drawn.view(self._title, [self._drawn.table()])

    @property
    def _title(self) -> str:
        return f"{counted(len(self.node_types), 'node type')}, {counted(len(self.edge_types), 'edge type')}"

    @property
    def _drawn(self) -> DrawnTypes:
        return DrawnTypes(self.node_types, self.edges.items(), self.labels, self.symmetric)


class Hit(NamedTuple):
    """One place of a ranking."""

    id: str
    score: float


Ranking: TypeAlias = tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Neighbor:
    """One neighbour with its score and every edge that leads to it."""

    id: str
    score: float
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """A page of the neighbours of one node or several, best first, and the counts of all of them."""

    total: int
    """How many neighbours pass the filters."""
    counts: Mapping[Kind, int]
    """Neighbours by edge type, direction and node type; a neighbour reached in two ways counts in both."""
    offset: int
    hits: tuple[Neighbor, ...]


@dataclass(frozen=True, slots=True)
class Common:
    """A node that touches several of the nodes asked about."""

    id: str
    members: int
    """How many of these nodes it touches."""
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Path:
    """A walk between two nodes; `edges[i]` holds the edges between `nodes[i]` and `nodes[i + 1]`, either way."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[Edge, ...], ...]

    @property
    def length(self) -> int:
        """Count the steps."""
        return len(self.edges)


@dataclass(frozen=True, slots=True)
class Observation:
    """What a tool call gave: text for the model, node ids for us. Nothing ever parses the text."""

    text: str
    nodes: tuple[str, ...] = ()
    error: str | None = None


class AnswerPart(NamedTuple):
    """Some words of an answer while the model writes it, read as far as they can be."""

    text: str


# ------------------------------------------------------------------------------------------ records written down


class Record(BaseModel):
    """Base of the records that are written to disk or sent."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)  # checks are built by the first one made


class Question(Record):
    """What a person asks, and of what kind the hits are to be. A method sees this and never the gold answer."""

    id: str = ""
    text: str
    k: int = Field(default=20, ge=1)
    """Hits at the most. Recall is taken at 20 throughout; SAGE, section 3."""
    node_types: tuple[str, ...] = ()
    """Keep hits of these node types only."""
    where: tuple[str, ...] = ()
    """Keep hits that meet these conditions on properties only."""
    reading: str | None = None
    """How it is to be read, in place of its words: a line as `Reading.text` has it."""


class ToolCall(Record):
    """A call as the model wrote it; `arguments` is its raw JSON text, parsed once, in the loop."""

    id: str
    name: str
    arguments: str


class Message(Record):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


class ToolSpec(Record):
    """A tool as data: the one source of prompt, serving and training."""

    name: str
    description: str
    parameters: dict[str, Any]  # Any: a JSON schema


class Sampling(Record):
    """How a model is asked to choose its words; recorded for each agent."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    random_seed: int | None = None


class Usage(Record):
    """What was spent. `usd` is None where a price is not known, never a silent zero."""

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    usd: float | None = 0.0

    @property
    def tokens(self) -> int:
        """Count prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            seconds=self.seconds + other.seconds,
            usd=None if self.usd is None or other.usd is None else self.usd + other.usd,
        )


class Raw(Record):
    """A reply as the model gave it, before anything was read out of it."""

    text: str | None = None
    """Its words: thoughts, and calls that it wrote into them, are still there."""
    reasoning: str | None = None
    """Its thoughts, where the server parts them from its words."""
    calls: str | None = None
    """Its native tool calls as they came: a list, as JSON in ASCII. None where it made none."""
    finish_reason: str | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    """Token ids of the request, as the server's chat template wrote it; None where the server gives none."""
    token_ids: tuple[int, ...] | None = None
    """Token ids of the reply."""
    logprobs: tuple[float, ...] | None = None
    """Natural logarithm of each token's probability, in the order of the tokens."""


class Price(Options):
    """US dollars for a million tokens."""

    prompt: float = Field(ge=0, description="Tokens that a model reads.")
    completion: float = Field(ge=0, description="Tokens that it writes, its thoughts among them.")
    cached: float | None = Field(
        default=None,
        ge=0,
        description="Prompt tokens that the server had in its cache; None charges them as any other.",
    )

    def usd(self, *, prompt_tokens: int, cached_tokens: int, completion_tokens: int) -> float:
        """Return the dollars that these tokens cost; cached tokens are among the prompt tokens."""
        cached = self.prompt if self.cached is None else self.cached
        fresh = prompt_tokens - cached_tokens
        return (fresh * self.prompt + cached_tokens * cached + completion_tokens * self.completion) / 1_000_000


class Manner(Record):
    """How a model is spoken to, as its server was found to take it, or as the model's own file says."""

    dialect: Dialect | None = None
    """How calls are written in a course of many turns; None leaves that to the method."""
    context_tokens: int | None = None
    """What a request and its reply may hold together; None where that is not known."""
    keeps_schema: bool = False
    """Whether it is known to hold replies to a JSON schema."""
    why: str = ""
    """Why so, for a person."""


class Reply(Record):
    """One answer of a model."""

    message: Message
    """What was read of it: calls apart from words, each with an id of its own, no more of them than may be run."""
    raw: Raw | None = None
    """What it was read from."""
    lacks: tuple[str, ...] = ()
    """Parameters that the request was sent without, because the server does not take them; tools and schema are then
    written in words (`llm.wire.body_of`)."""
    wanted_tokens: bool = False
    """The request asked for token ids and log-probabilities, too."""
    streamed: bool = False
    """The request asked for the words as they are written, unless `lacks` says otherwise."""
    refused: tuple[tuple[str, ...], ...] = ()
    """What the same request lacked each time that the server had refused it."""
    usage: Usage = Field(default_factory=Usage)
    truncated: bool = False
    """The server cut the reply at its length limit."""
    repaired: int = 0
    """Repair turns that it took to get a valid call."""
    calls_left_out: int = 0
    """Calls of the message beyond those that one turn may make: they are not in it, and were not run."""
    model: str | None = None
    """The model's name in the server's reply, where an alias is resolved; None where the server gives none."""


NOT_RUN = "NotRun"
"""The error of an observation whose call was not run: a replay does not run it either."""


class Observed(Record):
    """An observation as it is written down, tied to its call."""

    call_id: str
    text: str
    nodes: tuple[str, ...] = ()
    error: str | None = None

    @staticmethod
    def of(call: ToolCall, observation: Observation) -> Observed:
        """Return the observation of a call."""
        return Observed(call_id=call.id, text=observation.text, nodes=observation.nodes, error=observation.error)


class Step(Record):
    """One request to a model: what was new in it, the reply, and what each of its calls gave. A repair is a step."""

    reply: Reply
    """An empty message where the request failed."""
    error: str | None = None
    """Why the request failed. Neither its notice nor its reply became part of the conversation."""
    offers_tools: bool = True
    """Whether the trajectory's tools were offered."""
    reply_schema: dict[str, Any] | None = None  # Any: a JSON schema
    """The schema of the object that was asked for; None where words or calls were."""
    observations: tuple[Observed, ...] = ()
    elided: tuple[str, ...] = ()
    """Ids of earlier calls whose observation was left out of this request, to fit the context."""
    notice: str | None = None
    """What the model was told, as a user, right before this request: to call a tool, or that its budget is spent."""
    seconds: float = 0.0
    agent: int | None = 0
    """Which of the agents took it, from 0. None is the call for the answer, which none of them makes."""
    unread: int = 0
    """Calls of tools in the reply's words that could not be read, and were not run; `graphscout` tells the model so."""

    @staticmethod
    def of(call: ToolCall, observation: Observation) -> Step:
        """Return the step of a call that a program made, without a model."""
        reply = Reply(message=Message(role="assistant", tool_calls=(call,)))
        return Step(reply=reply, observations=(Observed.of(call, observation),))


class ToolboxSpec(Record):
    """Which toolbox an agent had: `orienteer.tools.toolbox` opens the same again."""

    name: str
    options: dict[str, Any] = {}  # Any: JSON


RefusalKind: TypeAlias = Literal["unknown_name", "not_understood", "not_here", "unsupported"]


class Reading(Record):
    """How a question was read: as a query over the schema, without a model."""

    text: str | None = None
    """The query as a line, which `ask(reading=...)` takes back; None where the question was not understood."""
    cypher: str | None = None
    """The same in Cypher; None where one statement cannot say it."""
    not_understood: tuple[str, ...] = ()
    """Words that are no name, kind, edge, property or value of the graph."""
    complete: bool = False
    """Every word was understood and every condition was met exactly."""
    total: int | None = None
    """How many nodes meet every condition."""


class Refusal(Record):
    """Why no number, no yes and no no is said."""

    kind: RefusalKind
    words: tuple[str, ...] = ()
    """The words that it is about, as the question spells them."""
    near: tuple[str, ...] = ()
    """Names of the graph that are spelled nearly so."""
    text: str = ""
    """The same in words."""


class Trajectory(Record):
    """Everything one agent did. `agents.requests` gives back every request, exactly, and guesses nothing."""

    version: Literal[2] = TRAJECTORY_VERSION
    question: Question
    method: str
    model: str | None = None
    prompt: str | None = None
    """The name of the prompt that it was begun with, `prompts/NAME.md`; None where no model was asked."""
    prompt_version: int | None = None
    prompt_hash: str | None = None
    """The sha256 of its words."""
    sampling: Sampling = Field(default_factory=Sampling)
    dialect: Dialect = "native"
    """How calls and what they give are written to the model."""
    toolbox: ToolboxSpec | None = None
    """The toolbox that ran its calls; None where it made none."""
    tools: tuple[ToolSpec, ...] = ()
    opening: tuple[Message, ...] = ()
    elision: str = ""
    """What a request holds in place of an observation that was left out."""
    steps: tuple[Step, ...] = ()
    reading: Reading | None = None
    """How its question was read; None for methods that read nothing exactly."""
    selected: tuple[str, ...] = ()
    """Ids of the nodes that it ends with, best first. Of a question that was read exactly they meet all of it."""
    nearby: tuple[str, ...] = ()
    """Ids of the hits that meet only some of a question that was read exactly; none of them is selected."""
    answer: str | None = None
    stopped_by: StoppedBy = "finish"
    error: str | None = None
    notes: tuple[str, ...] = ()
    set_joins: int = 0
    """Sets of candidates that were intersected with typed neighbours beside the tool calls."""
    marks: tuple[str, ...] = ()
    """What a program can tell of the course, in fixed words of its method; those of `spark` stand in its docs."""
    embedding: Usage = Field(default_factory=Usage)
    """What the searches spent on a server that embeds."""

    @model_validator(mode="before")
    @classmethod
    def _is_of_this_version(cls, value: object) -> object:
        """Refuse a trajectory of another version: by its number, before its fields are found to be others."""
        version = value.get("version", TRAJECTORY_VERSION) if isinstance(value, Mapping) else TRAJECTORY_VERSION
        if version != TRAJECTORY_VERSION:
            raise BadInput(
                f"a trajectory of version {version!r} cannot be read: this orienteer reads version "
                f"{TRAJECTORY_VERSION}; ask again, or run the evaluation anew in another folder"
            )
        return value

    @property
    def usage(self) -> Usage:
        """Add up what the steps and their searches spent."""
        return sum((step.reply.usage for step in self.steps), self.embedding)


class Source(Record):
    """Where in a person's own files a hit comes from."""

    file: str | None = None
    line: int | None = None
    """The line of the file on which the best sentence stands, or its paragraph begins."""
    page: int | None = None
    heading: str | None = None
    rows: str | None = None
    """Of a table: its rows, from 1, the header not counted. The row that fits best, or the first and the last."""

    @property
    def place(self) -> str:
        """Say where it is in one line: `notes.md:14`, `manual.pdf, page 3`, `prices.xlsx, Tariffs, data row 12`."""
        file = self.file or ""
        if self.line is not None:
            return f"{file}:{self.line}"
        is_sheet = self.rows is not None and self.heading is not None
        row = f"data row{'s' if '-' in self.rows else ''} {self.rows}" if self.rows is not None else ""
        page = f"page {self.page}" if self.page is not None else ""
        return ", ".join(filter(None, (file, page, self.heading if is_sheet else "", row)))


class WalkedEdge(Record):
    """An edge that speaks for a hit, in its own direction, by the ids of its ends."""

    source: str
    type: str
    target: str


class EdgeEnd(Record):
    """A node that an edge leads to, with what a person calls it."""

    id: str
    type: str
    name: str


class Ranked(Record):
    """What a person sees of a hit."""

    id: str
    type: str
    name: str
    score: float
    votes: int | None = None
    why: str = ""
    text: str = ""
    """The part of its text that fits the question best."""
    span: tuple[int, int] | None = None
    """Of a passage: the characters of its whole text that this part was taken from, the end left out."""
    marks: tuple[tuple[int, int], ...] = ()
    """Of a passage: where words of the question stand in `text`, characters each."""
    source: Source | None = None
    complete: bool = False
    """It meets every condition of the question, as it was read; what meets some of them is nearby."""
    edges: tuple[WalkedEdge, ...] = ()
    """The edges that lead from it to what the question names."""
    ends: tuple[EdgeEnd, ...] = ()
    """The nodes that these edges join, itself left out; empty in files that are older than the field."""
    alike: tuple[str, ...] = ()
    """Ids of passages that say nearly the same, and are no hits of their own for that."""

    def cells(self, place: int, *, is_nearby: bool = False) -> tuple[str, ...]:
        """Return what a table shows of the hit at a place from 1: a text for each of `display.COLUMNS`.

        Of what `is_nearby` it says so: it meets only some of the question.
        """
        votes = counted(self.votes, "vote") if self.votes is not None else ""
        why = "; ".join(filter(None, ("nearby" if is_nearby else "", votes, self.why)))
        where = self.source.place if self.source is not None and self.span is not None else ""
        return (str(place), self.name, self.type, why, self.text, where or self.id)


class Citation(Record):
    """What a part of an answer rests on."""

    begin: int
    end: int
    """The characters of the text, the end left out."""
    ids: tuple[str, ...]
    """The nodes that say it."""
    source: Source | None = None
    """Where it stands, of a quotation."""
    text: Literal["answer", "long_answer"] = "answer"
    """Which of the two the characters are of. In what a model wrote they are the brackets that hold the ids."""


AnswerKind: TypeAlias = Literal["entity", "set", "number", "boolean", "quotation", "text"]


class Result(Record):
    """What every method returns."""

    version: Literal[1] = 1
    question: str
    method: str
    hits: tuple[Ranked, ...] = ()
    answer: str | None = None
    long_answer: str | None = None
    """How the answer follows, step by step, with citations; None for methods that do not write it."""
    answer_kind: AnswerKind | None = None
    """What the answer is, where a method answers without a model; `text` where a model wrote it."""
    citations: tuple[Citation, ...] = ()
    """What the answer rests on, where a method quotes, and where a model cites nodes by their ids."""
    reading: Reading | None = None
    """How the question was read; None for methods that read nothing exactly."""
    refusal: Refusal | None = None
    """Why the question has no exact answer; None where it has one, and for methods that read nothing exactly."""
    trajectories: tuple[Trajectory, ...] = Field(default=(), repr=False)
    usage: Usage = Field(default_factory=Usage)
    stopped_by: StoppedBy = "finish"
    notes: tuple[str, ...] = ()
    """What was degraded or could not be done: fallbacks, failed agents, things the graph does not hold."""
    _graph: GraphAtHand = PrivateAttr(default_factory=GraphAtHand)
    # What a notebook's picture asks for neighbours.

    def to_frame(self) -> Any:  # Any: a pandas DataFrame, where pandas is installed
        """Return the hits as a table, one row each. Raises `UsageError` without pandas."""
        fields = ("id", "type", "name", "score", "votes", "why", "text")
        rows = [{"rank": place, **hit.model_dump(include=set(fields))} for place, hit in enumerate(self.hits, 1)]
        return frame(rows, ["rank", *fields])

    @property
    def meeting(self) -> str | None:
        """Say how many nodes meet all of a question where they are too many for an answer that names them; else None.

        A larger k lists more of them.
        """
        total = self.reading.total if self.reading is not None and self.answer is None else None
        if not total:
            return None
        listed = sum(hit.complete for hit in self.hits)
        which = "all are listed" if listed == total else f"the first {listed} are listed"
        return f"{counted(total, 'node')} {'meets' if total == 1 else 'meet'} all of it: {which}"

    @property
    def spent(self) -> str:
        """Say in one line which method ran, what it took, and what ended it."""
        usage, seconds = self.usage, self.usage.seconds
        parts = [self.method, f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"]
        if usage.calls:
            parts += [counted(usage.calls, "call"), counted(usage.tokens, "token")]
            parts += [f"{usage.usd:.4f} USD"] if usage.usd is not None else []
        if self.stopped_by != "finish":
            parts.append(f"ended by {self.stopped_by}")
        return ", ".join(parts)

    def _repr_html_(self) -> str:
        from orienteer.page.network import evidence  # here: only a notebook draws

        edges = [edge for hit in self._drawn for edge in _walked(hit)]
        picture = evidence([hit.id for hit in self._drawn], edges, {end.id: end.name for end in self._ends})
        return result_html(self.question, self._told, self._rows, (self.spent, *self.notes), picture=picture)

    def _repr_mimebundle_(self, **_: object) -> Bundle:
        hits = {hit.id: hit for hit in self.hits}
        drawn = self._drawn[:MOST_HITS]
        paths = {hit.id: _walked(hit) for hit in drawn if hit.edges}
        joined = {end for edges in paths.values() for source, _, target in edges for end in (source, target)}
        strong = [hit.id for hit in drawn]
        nodes = [
            DrawnNode(end.id, end.type, end.name, about=_about(hits[end.id]) if end.id in hits else ())
            for end in self._ends
            if end.id in joined or end.id in strong
        ]
        edges = [edge for led in paths.values() for edge in led]
        tables = [Table(tuple(COLUMNS), self._rows, tuple(hits))]
        lines = (self.spent, *self.notes)
        return view(Content(self.question, self._told, nodes, edges, strong, paths, tables, lines), self._graph)

    @property
    def _drawn(self) -> tuple[Ranked, ...]:
        """Return the hits of a picture: those that meet all of the question where there are any."""
        return tuple(hit for hit in self.hits if hit.complete) or self.hits  # what is nearby would hide what answers

    @property
    def _ends(self) -> tuple[EdgeEnd, ...]:
        """Return the hits and what their edges join, each once; what an older file does not name goes by its id."""
        named = {hit.id: EdgeEnd(id=hit.id, type=hit.type, name=hit.name) for hit in self.hits}
        named = {end.id: end for hit in self.hits for end in hit.ends} | named
        edges = [edge for hit in self.hits for edge in hit.edges]
        unnamed = {end: EdgeEnd(id=end, type="?", name=end) for edge in edges for end in (edge.source, edge.target)}
        return tuple((unnamed | named).values())

    @property
    def _told(self) -> list[str]:
        """Return the answer and how the question was read, a paragraph each."""
        answer = [text for text in (self.answer, self.long_answer) if text] if self.answer is not None else []
        if self.reading is not None and self.reading.text is not None:
            answer.insert(0, f"read as: {self.reading.text}")
        elif self.refusal is not None:
            answer.insert(0, f"{'no exact answer: ' * (self.reading is not None)}{self.refusal.text}")
        answer += [f"quoted from {cited.source.place}" for cited in self.citations if cited.source is not None]
        return [*answer, self.meeting] if self.meeting is not None else answer

    @property
    def _rows(self) -> list[tuple[str, ...]]:
        """Return the hits as rows of a table."""
        is_read = self.reading is not None and self.reading.complete
        return [hit.cells(place, is_nearby=is_read and not hit.complete) for place, hit in enumerate(self.hits, 1)]


def with_graph(result: Result, graph: GraphAtHand) -> Result:
    """Return a result whose picture in a notebook may ask a graph for neighbours."""
    known = result.model_copy()
    known._graph = graph
    return known


def _walked(hit: Ranked) -> list[tuple[str, str, str]]:
    return [(edge.source, edge.type, edge.target) for edge in hit.edges]


def _about(hit: Ranked) -> tuple[str, ...]:
    """Return what a card says of a hit: why it is one, the best part of its text, and where that stands."""
    return tuple(filter(None, (hit.why, hit.text, hit.source.place if hit.source is not None else "")))
