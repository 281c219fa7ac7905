"""The bodies of requests: a class for each, whose fields are the options of the command with the same name."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import from_json
from starlette.requests import ClientDisconnect, Request

from orienteer.errors import BadOption, Refused
from orienteer.llm.budget import Budget
from orienteer.options import Options
from orienteer.records import JsonValue
from orienteer.serve.door import LONGEST_QUERY, LONGEST_QUESTION, MOST_HITS, Turn
from orienteer.serve.http.guard import are_finite
from orienteer.serve.views.pages import MOST_NODES

MOST_BYTES = 256 * 1024
"""Of a body."""
BODY_SECONDS = 20.0
"""The time limit for receiving a body."""
MOST_HISTORY = 20
"""Previous questions; only the last few are read."""
_MOST_FILTERS = 50
_LONGEST_NAME = 1_000  # characters of an id, a name, a type or a condition
_MOST_ROWS = 1_000  # of a Cypher answer
_MOST_PROOFS = 20
_CYPHER_SECONDS = 10.0

Name = Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME)]
Names = Annotated[tuple[Name, ...], Field(max_length=_MOST_FILTERS)]
Nodes = Annotated[tuple[Name, ...], Field(min_length=1, max_length=MOST_HITS)]
Query = Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY)]
Question = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]


WHOLE = BeforeValidator(lambda value: int(value) if isinstance(value, float) and value.is_integer() else value)
"""Takes `2.0` as a whole number, like JSON schema. Otherwise numbers are strict: neither `false` nor `"2"` is one."""
Yes = Annotated[bool, Field(strict=True)]
K = Annotated[int, Field(strict=True, ge=0, le=MOST_HITS), WHOLE]
Weighted = Annotated[str, Field(pattern=r"^hybrid:(0?\.[0-9]{1,2}|[01](\.0{1,2})?)$", examples=["hybrid:0.65"])]
"""At most two decimals: a searcher is kept for each weight."""
Mode = Literal["lexical", "dense", "hybrid", "rrf"] | Weighted
Offset = Annotated[int, Field(strict=True, ge=0, le=1_000_000_000), WHOLE]


def example(**values: JsonValue) -> ConfigDict:
    """Return the configuration of a body with an example of it, over the graph about programming languages."""
    return ConfigDict(json_schema_extra={"examples": [values]})


class Body(Options):
    """Base of the bodies. `graph` is optional if one graph is served."""

    graph: Name | None = None


class RankedBody(Body):
    """Base of the bodies that ask for a ranking."""

    k: K = 20
    top_k: K | None = Field(default=None, description="Another name of k, which clients of LightRAG send.")

    @property
    def most_hits(self) -> int:
        """The number of hits, by either name."""
        return self.k if self.top_k is None else self.top_k

    @model_validator(mode="after")
    def _has_one_k(self) -> Self:
        if self.top_k is not None and "k" in self.model_fields_set and self.k != self.top_k:
            raise ValueError(f"k is {self.k} and top_k {self.top_k}, which mean the same: give one of them")
        return self


class SearchBody(RankedBody):
    """Rank the nodes that best match some words."""

    model_config = example(query="borrow checker", k=3)

    query: Query
    node_types: Names = ()
    where: Names = ()
    mode: Mode = "lexical"


class NeighborsBody(Body):
    """List the neighbours of a node with the edges that lead to them, counted by kind."""

    model_config = example(node="Rust", node_types=["language"], k=3)

    node: Name
    query: Query | None = None
    node_types: Names = ()
    edge_types: Names = ()
    direction: Literal["out", "in"] | None = None
    where: Names = ()
    k: K = 20
    offset: Offset = 0
    mode: Mode = "lexical"


class IntersectBody(Body):
    """List the nodes connected to all of several nodes, or to most of them, with the edges."""

    model_config = example(nodes=["Rust", "Swift"], node_types=["language"])

    nodes: Annotated[tuple[Name, ...], Field(min_length=1, max_length=_MOST_FILTERS)]
    node_types: Names = ()
    k: K = 20


class PathsBody(Body):
    """List the shortest paths between two nodes, whatever the direction of the edges."""

    model_config = example(a="Rust", b="Python", k=2)

    a: Name
    b: Name
    max_length: Annotated[int, Field(strict=True, ge=1, le=8), WHOLE] = 4
    k: K = 10


class ListBody(Body):
    """List nodes by type and property, without words; with `group_by` the values of a field."""

    model_config = example(node_types=["language"], where=["year >= 2000"], sort="year", k=3)

    node_types: Names = ()
    where: Names = ()
    sort: Name | None = None
    descending: Yes = False
    group_by: Name | None = None
    k: K = 20
    offset: Offset = 0


class SubgraphBody(Body):
    """Return some nodes, with the most joined of their neighbours, and all edges among them, for a picture."""

    model_config = example(nodes=["Rust"], around=10)

    nodes: Annotated[tuple[Name, ...], Field(min_length=1, max_length=MOST_NODES)]
    around: Annotated[int, Field(strict=True, ge=0, le=500), WHOLE] = 0


class FacetsBody(Body):
    """Count all nodes that meet a question by type, by the values of their properties, and by their neighbours."""

    model_config = example(reading='language that <-influenced_by- "Rust"')

    question: Question | None = None
    reading: Question | None = None
    node_types: Names = ()
    where: Names = ()


class AnswersBody(FacetsBody):
    """List all nodes that meet a question, or have the ids `nodes`, as a table, sorted by any column.

    With `format`, or `accept: text/csv`, the reply is the whole table as a file, without `offset` and `k`.
    """

    nodes: Annotated[tuple[Name, ...], Field(max_length=MOST_NODES)] = ()
    sort: Name | None = None
    descending: Yes = False
    columns: Names = ()
    offset: Offset = 0
    k: K = 20
    format: Literal["csv", "json"] | None = None


class PreviousTurn(Options):
    """A previous question of the conversation, and its answer."""

    question: Question
    answer: Annotated[str, Field(max_length=LONGEST_QUESTION)] = ""


class AskBody(RankedBody):
    """As `orienteer ask`. A budget holds within the server's own.

    `history` has the previous questions, the earliest first: with a model, the question is reworded so that it can be
    understood alone.
    """

    model_config = example(question="Which languages influenced both Rust and Swift?", k=3)

    question: Question
    node_types: Names = ()
    where: Names = ()
    method: Name = "auto"
    budget: Budget = Budget()
    reading: Question | None = None
    offset: Offset = 0
    no_answer: Yes = False
    trajectories: Yes = False
    history: Annotated[tuple[PreviousTurn, ...], Field(max_length=MOST_HISTORY)] = ()

    @property
    def filters(self) -> dict[str, Any]:  # Any: the options of `Retriever.check`
        """What the hits are to be."""
        return self.model_dump(include={"node_types", "where", "reading", "offset"})

    @property
    def before(self) -> tuple[Turn, ...]:
        """The turns before the question."""
        return tuple(
            turn for past in self.history for turn in (Turn("user", past.question), Turn("assistant", past.answer))
        )


class CypherBody(Body):
    """As `orienteer cypher`."""

    model_config = example(query="MATCH (l:language) RETURN l.name ORDER BY l.year LIMIT 3")

    query: Question
    parameters: dict[str, JsonValue] = {}
    limit: Annotated[int, Field(strict=True, ge=0, le=_MOST_ROWS), WHOLE] = 100
    seconds: Annotated[float, Field(gt=0, le=_CYPHER_SECONDS)] = _CYPHER_SECONDS
    proofs: Annotated[int, Field(strict=True, ge=0, le=_MOST_PROOFS), WHOLE] = 0


class FeedbackBody(Body):
    """Whether the hits of a question answer it."""

    model_config = example(question="Who designed Rust?", nodes=["person:graydon-hoare"], is_good=True)

    question: Question
    nodes: Nodes
    is_good: Yes


_B = TypeVar("_B", bound=Options)


async def body_of(request: Request, kind: type[_B]) -> _B:
    """Return the body of a request. Raises `Refused`: 413, 400 for invalid JSON, 422 for another shape."""
    # JSON by the content type alone, so that no form of another site's page can send a body.
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/json":
        raise Refused(422, "the body must be JSON: send content-type: application/json", value=content_type)
    content = await content_of(request)
    try:
        values = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise Refused(400, f"the body is not JSON: {error}") from error
    if not are_finite(values):
        raise Refused(400, "the body is not JSON: a number in it is larger than any double")
    return shaped(kind, values)


def shaped(kind: type[_B], values: Any) -> _B:  # Any: JSON
    """Return values as a body. Raises `Refused` with 422."""
    if not isinstance(values, Mapping):
        raise Refused(422, "the body must be a JSON object")
    try:
        return kind.model_validate(values, context="")
    except BadOption as error:
        raise Refused(422, str(error), value=error.value) from None


async def content_of(request: Request) -> bytes:
    """Return the bytes of a body. Raises `Refused`: 413 if it is too large, 408 if it does not come, 499."""
    too_large = Refused(413, f"the body is larger than {MOST_BYTES // 1024} kB")
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > MOST_BYTES:
        raise too_large
    chunks, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                chunks.append(chunk)
                size += len(chunk)
                if size > MOST_BYTES:
                    raise too_large
    except TimeoutError:
        raise Refused(408, f"the body did not come within {BODY_SECONDS:g} s") from None
    except ClientDisconnect:
        raise Refused(499, "the client has left") from None
    return b"".join(chunks)


# A chat client's request, read as a question to a graph: its words, its chores, and the turns before it.
#
# A client sends far more than is read here. Fields that would change the form of the reply, and cannot be respected,
# are refused: `n: 2`, a schema, forced tools, pictures. Fields that only change how a model picks its words are
# ignored: `temperature`, `max_tokens`, `stop`, `seed`, tools that it may call.


CHORE_HEADER = "x-openwebui-task"
# Open WebUI begins its own requests so: for a title, tags, follow-up questions.
_CHORE = "### Task:"
_LONGEST_TITLE = 60  # characters
_HEAD = 1_000  # characters of a prompt that say what it wants
_WANTS_TITLE = re.compile(
    r"(?:^|[.!:\n])[ \t]*(?:please\s)?"
    r"(?:analy[sz]e|create|generate|give|make|propose|provide|suggest|summari[sz]e|write)\b"
    r"[^?]{0,200}?\ban?\s(?:[^?.\n]{0,80}\s)?title\b(?!\sof\b)",
    re.IGNORECASE,
)
_OF_A_TALK = re.compile(r"\b(?:conversation|chat|dialog(?:ue)?|messages?|thread|topic)\b", re.IGNORECASE)
_HOW_LONG = re.compile(r"\b(?:concise|short|brief)\b|\d[- ](?:words?|characters?)\b", re.IGNORECASE)
_SAID_FIRST = re.compile(r"^[ \t]*(?:(?:user|human)[ \t]*:|<user>)\s*(\S.*)", re.IGNORECASE | re.MULTILINE)
_TEXTS = ("text", "input_text")


class _Lenient(Options):
    """Base of the records of clients, which send more fields than are read here."""

    model_config = ConfigDict(extra="ignore")


class ContentPart(_Lenient):
    """A part of a message. Only texts are read."""

    type: str
    text: str = ""


class ChatMessage(_Lenient):
    """A turn of the conversation."""

    role: str
    content: str | tuple[ContentPart, ...] | None = None

    @property
    def words(self) -> str:
        """Its text, the parts of a list joined."""
        if self.content is None or isinstance(self.content, str):
            return self.content or ""
        return "\n".join(part.text for part in self.content if part.type in _TEXTS)


class StreamOptions(_Lenient):
    """The parts of a stream besides words."""

    include_usage: bool = False


class ChatBody(_Lenient):
    """A request for a chat completion. Other fields, such as `temperature` and `tools`, are ignored."""

    model_config = example(
        model="orienteer/languages", messages=[{"role": "user", "content": "Which languages influenced Rust?"}]
    )

    model: Annotated[str, Field(min_length=1, max_length=1_000)]
    messages: Annotated[tuple[ChatMessage, ...], Field(min_length=1, max_length=1_000)]
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: JsonValue = None
    tool_choice: JsonValue = None
    function_call: JsonValue = None
    response_format: JsonValue = None
    logprobs: JsonValue = None
    top_logprobs: JsonValue = None
    modalities: JsonValue = None
    audio: JsonValue = None
    web_search_options: JsonValue = None

    @property
    def wants_json(self) -> bool:
        """Whether the reply is to be JSON."""
        return isinstance(self.response_format, Mapping) and self.response_format.get("type") != "text"


def _allows_words(choice: Any) -> bool:  # Any: JSON
    """Return whether a choice of tools permits an answer in words."""
    if isinstance(choice, Mapping) and choice.get("type") == "allowed_tools":
        allowed = choice.get("allowed_tools", choice)
        return isinstance(allowed, Mapping) and allowed.get("mode") == "auto"
    return choice in (None, "auto", "none")


# For each field whether a value can be respected, and why others cannot.
_LIMITS: dict[str, tuple[Callable[[Any], bool], str]] = {  # Any: JSON
    "n": (lambda n: n is None or (n == 1 and n is not True), "one choice is written"),
    "tool_choice": (_allows_words, "tools of a client are not called: leave it out, or say auto or none"),
    "function_call": (_allows_words, "functions of a client are not called: leave it out, or say auto or none"),
    "response_format": (lambda form: form in (None, {"type": "text"}), "answers are text"),
    "logprobs": (lambda wanted: wanted in (None, False), "there are no log probabilities"),
    "top_logprobs": (lambda count: count in (None, 0), "there are no log probabilities"),
    "modalities": (lambda kinds: kinds in (None, [], ["text"]), "answers are text"),
    "audio": (lambda form: form is None, "answers are text"),
    "web_search_options": (lambda options: options is None, "only the graph is searched"),
}


def check_can_be_met(body: ChatBody) -> None:
    """Raise `Refused` with 400, naming the field, if a field asks for a form of reply that is not possible."""
    for field, (can, why) in _LIMITS.items():
        if not can(value := getattr(body, field)):
            raise Refused(400, f"{field} is {json.dumps(value, ensure_ascii=False)[:100]}: {why}")
    last = max(
        (place for place, turn in enumerate(body.messages) if turn.role not in ("system", "developer")), default=0
    )
    turn = body.messages[last]
    if turn.role in ("assistant", "tool", "function"):
        why = "an answer is not gone on with: end with a question of the role user"
        raise Refused(400, f"messages end with a turn of the role {turn.role}: {why}")
    for place, part in enumerate(turn.content if isinstance(turn.content, tuple) else ()):
        if part.type not in _TEXTS:
            name = f"messages[{last}].content[{place}]"
            raise Refused(400, f"{name} is of the type {part.type[:100]!r}: a question is text alone")


def question_of(messages: Sequence[ChatMessage]) -> str:
    """Return the last words of the person. Raises `Refused` with 422 if they are empty or too long."""
    question = next((turn.words for turn in reversed(messages) if turn.role == "user"), "").strip()
    if not question:
        raise Refused(422, "messages hold no question: the last message of the role user must have text")
    if len(question) > LONGEST_QUESTION:
        raise Refused(
            422, f"messages end with a question of {len(question):,} characters: it may have {LONGEST_QUESTION:,}"
        )
    return question


def chore_reply(body: ChatBody, *, is_marked: bool = False) -> str | None:
    """Return the reply to a client's own request, such as the first question for a title; None if a person asks."""
    asked = next((turn.words for turn in reversed(body.messages) if turn.role == "user"), "").strip()
    if (quoted := _SAID_FIRST.search(asked)) is not None:
        first = quoted[1].removesuffix("</user>")
    else:
        said = (turn.words for turn in body.messages if turn.role == "user")
        first = next((words for words in said if not words.startswith(_CHORE) and not _wants_title(words)), "")
    title = " ".join(first.split())[:_LONGEST_TITLE] or "A question to the graph"
    if is_marked or asked.startswith(_CHORE):
        return json.dumps({"title": title, "tags": [], "follow_ups": [], "queries": []}, ensure_ascii=False)
    prompts = [asked]
    # The system turns may ask for a title, too.
    if sum(turn.role == "user" for turn in body.messages) == 1:
        prompts += [turn.words for turn in body.messages if turn.role in ("system", "developer")]
    if not first or not any(map(_wants_title, prompts)):
        # Without a conversation, "suggest a film with a short title about a chat" is a question.
        return None
    return json.dumps({"title": title}, ensure_ascii=False) if body.wants_json else title


def _wants_title(prompt: str) -> bool:
    """Return whether a prompt begins by asking for a title of a conversation, and limits its length."""
    # LibreChat: "Provide a concise, 5-word-or-less title for the conversation, ..."; LobeChat: "You are a professional
    # conversation summarizer. Generate a concise title that ...".
    head = prompt[:_HEAD]
    return all(sign.search(head) for sign in (_WANTS_TITLE, _OF_A_TALK, _HOW_LONG))


def turns_before(messages: Sequence[ChatMessage]) -> tuple[Turn, ...]:
    """Return the turns before the last question; none if the person has not asked before."""
    last = max(place for place, turn in enumerate(messages) if turn.role == "user")
    said = (turn for turn in messages[:last] if turn.role in ("user", "assistant"))
    turns = tuple(Turn("user" if turn.role == "user" else "assistant", turn.words) for turn in said)
    return turns if any(turn.role == "user" for turn in turns) else ()
