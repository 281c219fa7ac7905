"""What a chat client sends, read as a question to a graph: its words, its chores, and what it follows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

from pydantic import ConfigDict, Field

from orienteer.errors import Refused
from orienteer.options import Options
from orienteer.serve.door import LONGEST_QUESTION
from orienteer.serve.follow_up import Turn

CHORE = "### Task:"
"""With this Open WebUI begins what it wants for itself: a title, tags, questions that could follow."""
CHORE_HEADER = "x-openwebui-task"
_LONGEST_TITLE = 60  # characters


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
        return "\n".join(part.text for part in self.content if part.type == "text")


class StreamOptions(_Lenient):
    """What a stream holds besides words."""

    include_usage: bool = False


class ChatBody(_Lenient):
    """A request for a chat completion. What else clients send, as `temperature` and `tools`, is left alone."""

    model: Annotated[str, Field(min_length=1, max_length=1_000)]
    messages: Annotated[tuple[ChatMessage, ...], Field(min_length=1, max_length=1_000)]
    stream: bool = False
    stream_options: StreamOptions | None = None


def question_of(messages: Sequence[ChatMessage]) -> str:
    """Return the last thing that a person said. Raises `Refused` with 422 where it is nothing, or too long."""
    question = next((turn.words for turn in reversed(messages) if turn.role == "user"), "").strip()
    if not question:
        raise Refused(422, "messages hold no question: the last message of the role user must have text")
    if len(question) > LONGEST_QUESTION:
        raise Refused(422, f"the question has {len(question):,} characters: it may have {LONGEST_QUESTION:,}")
    return question


def chore_reply(question: str) -> str:
    """Return what a chore asks for, without a model: a title out of the first question, no tags, nothing to follow."""
    _, _, told = question.partition("<chat_history>")
    lines = (line.strip() for line in told.partition("</chat_history>")[0].splitlines())
    first = next((line.partition(":")[2] for line in lines if line.lower().startswith("user:")), "")
    title = " ".join(first.split())[:_LONGEST_TITLE] or "A question to the graph"
    return json.dumps({"title": title, "tags": [], "follow_ups": [], "queries": []}, ensure_ascii=False)


def turns_before(messages: Sequence[ChatMessage]) -> tuple[Turn, ...]:
    """Return what was said before the last question; nothing where a person has not asked before."""
    last = max(place for place, turn in enumerate(messages) if turn.role == "user")
    said = (turn for turn in messages[:last] if turn.role in ("user", "assistant"))
    turns = tuple(Turn("user" if turn.role == "user" else "assistant", turn.words) for turn in said)
    return turns if any(turn.role == "user" for turn in turns) else ()
