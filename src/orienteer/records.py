"""Records of the interfaces: tuples and dataclasses in memory, pydantic models in files.

All are frozen. Ids are strings; higher scores are better; ties are broken by id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from orienteer.display import COLUMNS, counted, frame, result_html
from orienteer.elements import (
    Common as Common,
    Direction as Direction,
    Edge as Edge,
    Hit as Hit,
    JsonValue as JsonValue,
    Kind as Kind,
    Neighbor as Neighbor,
    Neighborhood as Neighborhood,
    Node as Node,
    Path as Path,
    Ranking as Ranking,
    Schema as Schema,
    Triple as Triple,
)
from orienteer.errors import BadInput
from orienteer.options import Options
from orienteer.page.notebook import MOST_HITS, Bundle, Content, DrawnNode, GraphAtHand, Table, view

StoppedBy: TypeAlias = Literal["finish", "steps", "calls", "tokens", "seconds", "usd", "interrupted", "error"]
Dialect: TypeAlias = Literal["native", "qwen", "schema", "terse"]
"""The form of tool calls: the protocol's, Qwen's chat template in words, JSON objects that the server enforces, or
words with the tools as signatures, for small models."""
TRAJECTORY_VERSION: Final = 2


@dataclass(frozen=True, slots=True)
class Observation:
    """The result of a tool call: text for the model, node ids for programs. The text is never parsed."""

    text: str
    nodes: tuple[str, ...] = ()
    error: str | None = None


class AnswerPart(NamedTuple):
    """Some words of an answer while the model writes it, parsed as far as possible."""

    text: str


class Record(BaseModel):
    """Base of the records that are written to disk or sent."""

    # The first instance builds the checks: an import stays fast.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Question(Record):
    """A person's question, and filters of its hits. A method sees this and never the gold answer."""

    id: str = ""
    text: str
    k: int = Field(default=20, ge=1)
    """Hits at most, those in front of the offset included. Recall is taken at 20 throughout; SAGE, section 3."""
    offset: int = Field(default=0, ge=0)
    """Hits in front that are not returned."""
    node_types: tuple[str, ...] = ()
    """Keep only hits of these node types."""
    where: tuple[str, ...] = ()
    """Keep only hits that meet these conditions on properties."""
    reading: str | None = None
    """The reading to use instead of interpreting the words: a line like `Reading.text`."""


class ToolCall(Record):
    """A call in the model's own form; `arguments` is its raw JSON text, parsed once, in the loop."""

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
    """A tool as data: the only source for prompts, serving and training."""

    name: str
    description: str
    parameters: dict[str, Any]  # Any: a JSON schema


class Sampling(Record):
    """The sampling parameters of a model; recorded for each agent."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    random_seed: int | None = None


class Usage(Record):
    """Spent resources. `usd` is None, not 0, if a price is unknown."""

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
    """A model's reply before it is parsed."""

    text: str | None = None
    """Its words, with the thoughts and calls in them."""
    reasoning: str | None = None
    """Its thoughts, if the server separates them from its words."""
    calls: str | None = None
    """Its native tool calls, unparsed: a list, as JSON in ASCII. None without any."""
    finish_reason: str | None = None
    """In the server's words, or "refusal" if the server marks its words as one."""
    prompt_token_ids: tuple[int, ...] | None = None
    """Token ids of the request in the server's chat template, if the server returns them."""
    token_ids: tuple[int, ...] | None = None
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
    """A model's profile for requests, from probes of its server or from the model's own file."""

    dialect: Dialect | None = None
    """The form of calls in a dialogue of many turns; None leaves it to the method."""
    context_tokens: int | None = None
    """The limit of a request and its reply together, if it is known."""
    keeps_schema: bool = False
    """Whether replies are known to keep to a JSON schema."""
    keeps_grammar: bool = False
    """Whether replies are known to keep to a grammar, in GBNF, that stands in a JSON schema (`llm.schema.GRAMMAR`)."""
    why: str = ""
    """The reason, for a person."""


class Reply(Record):
    """A model's reply."""

    message: Message
    """The parsed reply: calls separate from words, each with its own id, at most as many as may be run."""
    raw: Raw | None = None
    lacks: tuple[str, ...] = ()
    """Parameters that the request lacked, because the server does not support them; tools and schema are then written
    in words (`llm.wire.body_of`)."""
    wanted_tokens: bool = False
    """The request also asked for token ids and log-probabilities."""
    streamed: bool = False
    """The request asked for a stream of words, unless `lacks` contradicts."""
    refused: tuple[tuple[str, ...], ...] = ()
    """The parameters that the same request lacked each time that the server refused it."""
    usage: Usage = Field(default_factory=Usage)
    truncated: bool = False
    repaired: int = 0
    """The number of repair turns before a valid call."""
    calls_left_out: int = 0
    """The number of calls beyond those that one turn may make: they are not in the message, and were not run."""
    model: str | None = None
    """The model's name in the server's reply, which resolves an alias, if there is one."""


NOT_RUN = "NotRun"
"""The error of an observation whose call was not run: a replay does not run it either."""


class Observed(Record):
    """An observation in a file, with the id of its call."""

    call_id: str
    text: str
    nodes: tuple[str, ...] = ()
    error: str | None = None

    @staticmethod
    def of(call: ToolCall, observation: Observation) -> Observed:
        """Return the observation of a call."""
        return Observed(call_id=call.id, text=observation.text, nodes=observation.nodes, error=observation.error)


class Step(Record):
    """One request to a model: its new parts, the reply, and the results of its calls. A repair is a step."""

    reply: Reply
    """An empty message if the request failed."""
    error: str | None = None
    """The reason of a failed request. Neither its notice nor its reply became part of the conversation."""
    offers_tools: bool = True
    reply_schema: dict[str, Any] | None = None  # Any: a JSON schema
    """The schema of the requested object; None for words or calls."""
    observations: tuple[Observed, ...] = ()
    elided: tuple[str, ...] = ()
    """Ids of earlier calls without their observations in this request, to fit the context."""
    notice: str | None = None
    """A user message right before this request: to call a tool, or that the budget is spent."""
    seconds: float = 0.0
    agent: int | None = 0
    """The number of its agent, from 0. None is the call for the answer, which no agent makes."""
    unread: int = 0
    """Tool calls in the reply's words that could not be parsed and were not run; `graphscout` reports them."""

    @staticmethod
    def of(call: ToolCall, observation: Observation) -> Step:
        """Return the step of a call that a program made, without a model."""
        reply = Reply(message=Message(role="assistant", tool_calls=(call,)))
        return Step(reply=reply, observations=(Observed.of(call, observation),))


class ToolboxSpec(Record):
    """An agent's toolbox, for `orienteer.tools.toolbox` to open it again."""

    name: str
    options: dict[str, Any] = {}  # Any: JSON


RefusalKind: TypeAlias = Literal["unknown_name", "not_understood", "not_here", "unsupported"]


class Sense(Record):
    """What a question means if one of its names is of this type."""

    label: str
    text: str
    """The query as a line."""


class Reading(Record):
    """The reading of a question: a query over the schema, which a reader made or a person wrote."""

    text: str | None = None
    """The query as a line, which `ask(reading=...)` accepts; None if the question was not understood."""
    by: str = ""
    """The name of the reader, which refused as well if `text` is None; empty for a line that a person wrote."""
    rules: tuple[str, ...] = ()
    """The rules of the grammar that it was read by, the widest first; empty for other readers."""
    senses: tuple[Sense, ...] = ()
    """What the question means by each type that a name is of, the first as in `text`; empty if there is one."""
    notes: tuple[str, ...] = ()
    """What was read otherwise than it is written."""
    cypher: str | None = None
    """The query in Cypher; None if one statement cannot express it."""
    not_understood: tuple[str, ...] = ()
    """Words that are no name, kind, edge, property or value of the graph."""
    complete: bool = False
    """Every word was understood and every condition was met exactly."""
    total: int | None = None
    agreed: bool | None = None
    """Whether a second reader read the same; None if none was asked."""


class Refusal(Record):
    """The reason why a question has no exact answer."""

    kind: RefusalKind
    words: tuple[str, ...] = ()
    """The words that it is about, in the question's spelling."""
    near: tuple[str, ...] = ()
    """Names of the graph with a similar spelling."""
    text: str = ""
    questions: tuple[str, ...] = ()
    """The nearest questions that are understood, made of the words that were."""
    lines: tuple[str, ...] = ()
    """The lines of readers that do not agree; `ask(reading=...)` takes the one that is meant."""


class Trajectory(Record):
    """The complete record of one agent. `agents.requests` rebuilds every request from it, exactly."""

    version: Literal[2] = TRAJECTORY_VERSION
    question: Question
    method: str
    model: str | None = None
    prompt: str | None = None
    """The name of its prompt, `prompts/NAME.md`; None without a model."""
    prompt_version: int | None = None
    prompt_hash: str | None = None
    sampling: Sampling = Field(default_factory=Sampling)
    dialect: Dialect = "native"
    """The form of calls and observations for the model."""
    toolbox: ToolboxSpec | None = None
    """The toolbox that ran its calls; None without calls."""
    tools: tuple[ToolSpec, ...] = ()
    opening: tuple[Message, ...] = ()
    elision: str = ""
    """The text that replaces an omitted observation in a request."""
    steps: tuple[Step, ...] = ()
    reading: Reading | None = None
    """The reading of its question; None for methods without exact readings."""
    selected: tuple[str, ...] = ()
    """Ids of its hits, best first. With an exact reading they meet all of it."""
    nearby: tuple[str, ...] = ()
    """Ids of the hits that meet only some of an exact reading; none of them is selected."""
    answer: str | None = None
    stopped_by: StoppedBy = "finish"
    error: str | None = None
    notes: tuple[str, ...] = ()
    set_joins: int = 0
    """Sets of candidates that were intersected with typed neighbours, besides the tool calls."""
    marks: tuple[str, ...] = ()
    """Facts about the trajectory in fixed words of its method, for programs; the docs list those of `spark`."""
    embedding: Usage = Field(default_factory=Usage)
    """The cost of the searches on a server that embeds."""

    @model_validator(mode="before")
    @classmethod
    def _is_of_this_version(cls, value: object) -> object:
        """Refuse a trajectory of another version by its number, before its fields are found to differ."""
        version = value.get("version", TRAJECTORY_VERSION) if isinstance(value, Mapping) else TRAJECTORY_VERSION
        if version != TRAJECTORY_VERSION:
            raise BadInput(
                f"a trajectory of version {version!r} cannot be read: this orienteer reads version "
                f"{TRAJECTORY_VERSION}; ask again, or rerun the evaluation in another folder"
            )
        return value

    @property
    def usage(self) -> Usage:
        """Add up the cost of the steps and their searches."""
        return sum((step.reply.usage for step in self.steps), self.embedding)


class Source(Record):
    """The origin of a hit in the user's files."""

    file: str | None = None
    line: int | None = None
    """The line of the best sentence, or the first one of its paragraph."""
    page: int | None = None
    heading: str | None = None
    rows: str | None = None
    """The rows of a table, from 1, without the header: the best row, or the first and the last."""

    @property
    def place(self) -> str:
        """Return its place in one line: `notes.md:14`, `manual.pdf, page 3`, `prices.xlsx, Tariffs, data row 12`."""
        file = self.file or ""
        if self.line is not None:
            return f"{file}:{self.line}"
        is_sheet = self.rows is not None and self.heading is not None
        row = f"data row{'s' if '-' in self.rows else ''} {self.rows}" if self.rows is not None else ""
        page = f"page {self.page}" if self.page is not None else ""
        return ", ".join(filter(None, (file, page, self.heading if is_sheet else "", row)))


class FileRow(Record):
    """A row of a table that a graph was imported from."""

    file: str
    line: int
    """Or the number of the row, as programs for tables count."""
    cells: dict[str, str]


class FileRows(Record):
    """The rows of a node."""

    rows: tuple[FileRow, ...] = ()
    notes: tuple[str, ...] = ()


class WalkedEdge(Record):
    """An edge that supports a hit, in its own direction, by the ids of its ends."""

    source: str
    type: str
    target: str


class EdgeEnd(Record):
    """A node that an edge leads to, with its name."""

    id: str
    type: str
    name: str
    role: str = ""
    """What it is in a proof: `named` in the question, or the label of its type; empty on the way and elsewhere."""
    layer: float = 0
    """Its column in a picture of a proof, 0 being the hit's: 1, 2, ... for the variables of the reading in their order,
    the last for names; less than the next by a fraction for nodes on a way of several edges. 0 elsewhere."""


class Ranked(Record):
    """A hit with all that is displayed of it."""

    id: str
    type: str
    name: str
    score: float
    votes: int | None = None
    why: str = ""
    text: str = ""
    """The part of its text that matches the question best."""
    span: tuple[int, int] | None = None
    """The characters of this part in a passage's whole text, the end excluded."""
    marks: tuple[tuple[int, int], ...] = ()
    """The characters of the question's words in a passage's `text`."""
    source: Source | None = None
    complete: bool = False
    """It is of the set that answers: it meets every condition of the question's reading or plan. Of a list that has
    such hits the others are nearby, or fill it up."""
    edges: tuple[WalkedEdge, ...] = ()
    """The edges that lead from it to nodes that the question names."""
    ends: tuple[EdgeEnd, ...] = ()
    """The other nodes that these edges join; empty in files older than the field."""
    meets: tuple[str, ...] = ()
    """What it meets of the question that no edge shows, in words: values, counts, negations; of another node of its
    proof, behind that node's name."""
    alike: tuple[str, ...] = ()
    """Ids of nearly equal passages, which for that reason are not hits."""

    def cells(self, place: int, *, is_nearby: bool = False) -> tuple[str, ...]:
        """Return the hit at a place, from 1, as a table row: a text for each of `display.COLUMNS`."""
        votes = counted(self.votes, "vote") if self.votes is not None else ""
        why = "; ".join(filter(None, ("nearby" if is_nearby else "", votes, self.why)))
        where = self.source.place if self.source is not None and self.span is not None else ""
        return (str(place), self.name, self.type, why, self.text, where or self.id)


class Citation(Record):
    """The source of a part of an answer."""

    begin: int
    end: int
    """The characters of the text, the end excluded. In a model's text they are the brackets around the ids."""
    ids: tuple[str, ...]
    source: Source | None = None
    text: Literal["answer", "long_answer"] = "answer"
    """The text that the characters are in."""
    quote: str = ""
    """The sentence or row of the source, if a model answers in other words than its."""

    @property
    def told(self) -> str:
        """Its quotation with the place, in one line; empty without one."""
        place = self.source.place if self.source is not None else ""
        return f"“{self.quote}”{f' ({place})' if place else ''}" if self.quote else ""


AnswerKind: TypeAlias = Literal["entity", "set", "number", "boolean", "quotation", "text"]


class ResultTable(Record):
    """What a question gives that asks for no ranking, as a table; the answer has it in words."""

    kind: Literal["groups", "overview", "compare", "cypher"]
    """`groups`: all groups, the largest first, each with its number, as for each disease its number of compounds."""
    columns: tuple[str, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    readings: tuple[str, ...] = ()
    """For the first groups the reading lines of their nodes, for `ask(reading=...)`; empty if none can be written."""


class Result(Record):
    """The result of a method."""

    version: Literal[1] = 1
    question: str
    method: str
    hits: tuple[Ranked, ...] = ()
    offset: int = 0
    """The number of hits in front of these."""
    answer: str | None = None
    long_answer: str | None = None
    """The derivation of the answer, step by step, with citations; None for methods that do not write it."""
    answer_kind: AnswerKind | None = None
    """The kind of an answer without a model; `text` for a model's."""
    citations: tuple[Citation, ...] = ()
    """The sources of the answer, if a method quotes, or a model cites nodes by their ids."""
    table: ResultTable | None = None
    """All groups, if the question asks for a number of each, or what is in the graph, a comparison, a Cypher statement
    give; None for all others."""
    reading: Reading | None = None
    """The reading of the question; None for methods without exact readings."""
    refusal: Refusal | None = None
    """The reason why the question has no answer, or no exact one; None if nobody refused it."""
    total: int | None = None
    """The number of nodes of the set that answers, listed or not; None if no set was found exactly."""
    trajectories: tuple[Trajectory, ...] = Field(default=(), repr=False)
    usage: Usage = Field(default_factory=Usage)
    stopped_by: StoppedBy = "finish"
    notes: tuple[str, ...] = ()
    """Limits of the result: fallbacks, failed agents, things that the graph lacks."""
    _graph: GraphAtHand = PrivateAttr(default_factory=GraphAtHand)
    # The graph for neighbours in a notebook's picture.

    def to_frame(self) -> Any:  # Any: a pandas DataFrame, if pandas is installed
        """Return the hits as a table, one row each. Raises `UsageError` without pandas."""
        fields = ("id", "type", "name", "score", "votes", "why", "text")
        rows = [{"rank": place, **hit.model_dump(include=set(fields))} for place, hit in enumerate(self.hits, 1)]
        return frame(rows, ["rank", *fields])

    @property
    def is_unread(self) -> bool:
        """Whether the question could not be read exactly: the hits are the nearest nodes by names and words."""
        return self.refusal is not None and self.reading is not None and self.reading.text is None

    @property
    def read_as(self) -> tuple[str, ...]:
        """The line of the reading, or why there is no exact answer and what has one; empty for methods without."""
        if self.reading is not None and self.reading.text is not None:
            return (f"read as: {self.reading.text}",)
        if self.refusal is None:
            return ()
        why = f"{'no exact answer: ' * (self.reading is not None)}{self.refusal.text}"
        return (why, *(f"you could ask: {question}" for question in self.refusal.questions))

    @property
    def meeting(self) -> str | None:
        """A note on the number of nodes that meet all of a question, if no answer names them or not all are listed."""
        listed = sum(hit.complete for hit in self.hits)
        is_said = self.answer is not None and (not self.total or listed == self.total)
        if self.total is None or self.refusal is not None or is_said:
            return None
        if not self.total:
            return "none: the graph holds no such thing"
        meet = f"{counted(self.total, 'node')} {'meets' if self.total == 1 else 'meet'} all of it"
        if not listed:
            return f"{meet}, and none comes after the first {self.offset:,}" if self.offset >= self.total else meet
        first, last = self.offset + 1, self.offset + listed
        which = f"{first:,} to {last:,} are" if self.offset else f"the first {last:,} are"
        if listed == 1:
            which = f"number {first:,} is" if self.offset else "the first is"
        return f"{meet}: {'all are' if listed == self.total else which} listed"

    @property
    def spent(self) -> str:
        """The method, its cost and its end, in one line."""
        usage, seconds = self.usage, self.usage.seconds
        parts = [self.method, f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"]
        if usage.calls:
            parts += [counted(usage.calls, "call"), counted(usage.tokens, "token")]
            parts += [f"{usage.usd:.4f} USD"] if usage.usd is not None else []
        if self.stopped_by != "finish":
            parts.append(f"ended by {self.stopped_by}")
        return ", ".join(parts)

    @property
    def _roles(self) -> dict[str, str]:
        """By id, what the nodes of the ways to the hits stand for in the question."""
        told = {end.id: end.role for hit in self.hits for end in hit.ends if end.role}
        return {node: "named in the question" if role == "named" else role for node, role in told.items()}

    @property
    def _layers(self) -> dict[str, float]:
        """By id, the columns of the nodes of the ways to the hits; of a node with several the last."""
        ends = sorted((end for hit in self.hits for end in hit.ends), key=lambda end: end.layer)
        return {end.id: end.layer for end in ends}

    def _edges_of(self, hit: Ranked) -> list[tuple[str, str, str]]:
        return [(edge.source, self._graph.label(edge.type), edge.target) for edge in hit.edges]

    def _repr_html_(self) -> str:
        from orienteer.page.network import evidence  # here: only a notebook draws

        hits = self._picture_hits
        edges = [edge for hit in hits for edge in self._edges_of(hit)]
        names = {end.id: end.name for end in self._ends}
        picture = evidence([hit.id for hit in hits], edges, names, self._roles, self._layers)
        return result_html(self.question, self._paragraphs, self._rows, (self.spent, *self.notes), picture=picture)

    def _repr_mimebundle_(self, **_: object) -> Bundle:
        return view(self.picture(), self._graph)

    def picture(self) -> Content:
        """Return the texts, the network and the table that notebooks and hosts of agents show."""
        from orienteer.page.network import columns_of  # here: only a notebook draws

        # A hit's card has its reason, the best part of its text, and its place.
        about = {
            hit.id: tuple(filter(None, (hit.why, hit.text, hit.source.place if hit.source is not None else "")))
            for hit in self.hits
        }
        hits = self._picture_hits[:MOST_HITS]
        paths = {hit.id: self._edges_of(hit) for hit in hits if hit.edges}
        joined = {end for edges in paths.values() for source, _, target in edges for end in (source, target)}
        strong, roles = [hit.id for hit in hits], self._roles
        nodes = [
            DrawnNode(end.id, end.type, end.name, about=about.get(end.id) or tuple(filter(None, (roles.get(end.id),))))
            for end in self._ends
            if end.id in joined or end.id in strong
        ]
        edges = [edge for path in paths.values() for edge in path]
        titles, types = {"named in the question"}, {node.id: node.type for node in nodes}
        columns = [("Answers" if hits and hits[0].complete else "Hits", strong)]
        for ids in columns_of(strong, edges, self._layers)[1:]:
            told = {roles.get(node) or types[node] for node in ids}
            columns.append((" · ".join(sorted(told if told == titles else {types[node] for node in ids})), ids))
        tables = [Table(tuple(COLUMNS), self._rows, tuple(about))]
        lines = (self.spent, *self.notes)
        return Content(self.question, self._paragraphs, nodes, edges, strong, paths, tables, lines, columns)

    @property
    def _picture_hits(self) -> tuple[Ranked, ...]:
        """Return the hits that meet all of the question, which nearby ones would hide, or else all; none unread."""
        return () if self.is_unread else tuple(hit for hit in self.hits if hit.complete) or self.hits

    @property
    def _ends(self) -> tuple[EdgeEnd, ...]:
        """Return the hits and the other ends of their edges, each once; without a name in older files, by id."""
        named = {hit.id: EdgeEnd(id=hit.id, type=hit.type, name=hit.name) for hit in self.hits}
        named = {end.id: end for hit in self.hits for end in hit.ends} | named
        edges = [edge for hit in self.hits for edge in hit.edges]
        unnamed = {end: EdgeEnd(id=end, type="?", name=end) for edge in edges for end in (edge.source, edge.target)}
        return tuple((unnamed | named).values())

    @property
    def _paragraphs(self) -> list[str]:
        """Return the reading and the answer, a paragraph each."""
        answers = [self.answer, self.long_answer] if self.answer is not None else []
        quoted = [
            citation.told or f"quoted from {citation.source.place}"
            for citation in self.citations
            if citation.source is not None
        ]
        return list(filter(None, (*self.read_as, *answers, *quoted, self.meeting)))

    @property
    def _rows(self) -> list[tuple[str, ...]]:
        """Return the hits as table rows."""
        is_read = self.reading is not None and self.reading.complete
        return [hit.cells(place, is_nearby=is_read and not hit.complete) for place, hit in enumerate(self.hits, 1)]
