"""What a chat client sends, read as a question to a graph: its words, its chores, and what it follows.

A client sends far more than is read here. What would change the form of the reply, and cannot be done, is refused:
`n: 2`, a schema, forced tools, pictures. What would only change how a model picks its words is ignored: `temperature`,
`max_tokens`, `stop`, `seed`, tools that it may call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from orienteer.errors import Refused
from orienteer.options import Options
from orienteer.records import JsonValue
from orienteer.serve.door import LONGEST_QUESTION
from orienteer.serve.follow_up import Turn
from orienteer.serve.http.bodies import example

CHORE_HEADER = "x-openwebui-task"
_CHORE = "### Task:"
"""With this Open WebUI begins what it wants for itself: a title, tags, questions that could follow."""
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
    """Base of what clients send: they send far more than is read here."""

    model_config = ConfigDict(extra="ignore")


class ContentPart(_Lenient):
    """A part of a message: of these, texts are read."""

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
    """What a stream holds besides words."""

    include_usage: bool = False


class ChatBody(_Lenient):
    """A request for a chat completion. Fields that are not here, as `temperature` and `tools`, are left alone."""

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
    """Return whether a choice of tools lets the model answer in words."""
    if isinstance(choice, Mapping) and choice.get("type") == "allowed_tools":
        allowed = choice.get("allowed_tools", choice)
        return isinstance(allowed, Mapping) and allowed.get("mode") == "auto"
    return choice in (None, "auto", "none")


_CAN: dict[str, tuple[Callable[[Any], bool], str]] = {  # Any: JSON
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
"""For each field whether a value can be met, and why others cannot."""


def check_can_be_met(body: ChatBody) -> None:
    """Raise `Refused` with 400, naming the field, for what would change the form of the reply and cannot be done."""
    for field, (can, why) in _CAN.items():
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
            told = f"messages[{last}].content[{place}] is of the type {part.type[:100]!r}"
            raise Refused(400, f"{told}: a question is text alone")


def question_of(messages: Sequence[ChatMessage]) -> str:
    """Return the last thing that a person said. Raises `Refused` with 422 if it is nothing, or too long."""
    question = next((turn.words for turn in reversed(messages) if turn.role == "user"), "").strip()
    if not question:
        raise Refused(422, "messages hold no question: the last message of the role user must have text")
    if len(question) > LONGEST_QUESTION:
        raise Refused(
            422, f"messages end with a question of {len(question):,} characters: it may have {LONGEST_QUESTION:,}"
        )
    return question


def chore_reply(body: ChatBody, *, is_told: bool = False) -> str | None:
    """Return what a client wants for itself, made without a model; None if a person asks.

    A title is made out of the first question; there are no tags, and nothing to follow. `is_told` says that a header
    says so.
    """
    asked = next((turn.words for turn in reversed(body.messages) if turn.role == "user"), "").strip()
    first = _first_question(body.messages, asked)
    title = " ".join(first.split())[:_LONGEST_TITLE] or "A question to the graph"
    if is_told or asked.startswith(_CHORE):
        return json.dumps({"title": title, "tags": [], "follow_ups": [], "queries": []}, ensure_ascii=False)
    if not first or not any(map(_wants_title, _instructions(body.messages, asked))):
        return None  # without a conversation, "suggest a film with a short title about a chat" is a question
    return json.dumps({"title": title}, ensure_ascii=False) if body.wants_json else title


def _instructions(messages: Sequence[ChatMessage], asked: str) -> Iterator[str]:
    """Yield what may say that a title is wanted: the last words of the user, and what stands before a single turn."""
    yield asked
    if sum(turn.role == "user" for turn in messages) == 1:
        yield from (turn.words for turn in messages if turn.role in ("system", "developer"))


def _wants_title(prompt: str) -> bool:
    """Return whether a prompt begins by asking for a title of a conversation, and says how long it may be.

    LibreChat: "Provide a concise, 5-word-or-less title for the conversation, ..."; LobeChat: "You are a professional
    conversation summarizer. Generate a concise title that ...".
    """
    head = prompt[:_HEAD]
    return all(sign.search(head) for sign in (_WANTS_TITLE, _OF_A_TALK, _HOW_LONG))


def _first_question(messages: Sequence[ChatMessage], asked: str) -> str:
    """Return the first thing that a person said in the conversation that a prompt quotes, or goes on."""
    quoted = _SAID_FIRST.search(asked)
    if quoted is not None:
        return quoted[1].removesuffix("</user>")
    said = (turn.words for turn in messages if turn.role == "user")
    return next((words for words in said if not words.startswith(_CHORE) and not _wants_title(words)), "")


def turns_before(messages: Sequence[ChatMessage]) -> tuple[Turn, ...]:
    """Return what was said before the last question; nothing if a person has not asked before."""
    last = max(place for place, turn in enumerate(messages) if turn.role == "user")
    said = (turn for turn in messages[:last] if turn.role in ("user", "assistant"))
    turns = tuple(Turn("user" if turn.role == "user" else "assistant", turn.words) for turn in said)
    return turns if any(turn.role == "user" for turn in turns) else ()
