"""What a chat client sends, read as a question to a graph: its words, its chores, and what it follows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pydantic import ConfigDict, Field

from orienteer.errors import BudgetExhausted, ModelError, Refused
from orienteer.llm.budget import Allowance, Budget
from orienteer.llm.exchange import ask_for
from orienteer.llm.prompts import prompt_of
from orienteer.options import Options
from orienteer.protocols import LanguageModel
from orienteer.records import JsonValue, Usage
from orienteer.serve.door import LONGEST_QUESTION

CHORE = "### Task:"
"""With this Open WebUI begins what it wants for itself: a title, tags, questions that could follow."""
CHORE_HEADER = "x-openwebui-task"
_TURNS = 6  # messages before the question that are read with it
_LONGEST_TURN = 1_500  # characters
_LONGEST_TITLE = 60  # characters
_REWORDING = Budget(calls=2, seconds=15.0)  # one call, and a repair
_SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"question": {"type": "string"}},
    "required": ["question"],
    "additionalProperties": False,
}


class _Lenient(Options, use_attribute_docstrings=False):
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


class FollowUp(NamedTuple):
    """A question in words that can be understood alone."""

    question: str
    note: str | None = None
    """What could not be done."""
    usage: Usage = Usage()


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


def follows(messages: Sequence[ChatMessage]) -> bool:
    """Say whether a person has asked before."""
    return sum(turn.role == "user" for turn in messages) > 1


def understood_alone(messages: Sequence[ChatMessage], model: LanguageModel | None) -> FollowUp:
    """Return the last question put in words that need no conversation; without a model as it is, which a note tells."""
    question = question_of(messages)
    if not follows(messages):
        return FollowUp(question)
    if model is None:
        return FollowUp(question, "asked as it stands: without a model, what was said before is not read")
    last = max(place for place, turn in enumerate(messages) if turn.role == "user")
    before = [turn for turn in messages[:last] if turn.role in ("user", "assistant")][-_TURNS:]
    turns = "\n".join(f"{turn.role}: {turn.words[:_LONGEST_TURN]}" for turn in before)
    run = Allowance(_REWORDING, reserve=0)
    try:
        prompt = prompt_of("follow-up", package=__package__ or "orienteer.serve.http")
        value = ask_for(model, run, prompt, _SCHEMA, question=question, turns=turns).value
    except (BudgetExhausted, ModelError):
        value = None
    reworded = "" if value is None else str(value["question"]).strip()[:LONGEST_QUESTION]
    if not reworded:
        return FollowUp(question, "asked as it stands: the model could not put it in words of its own", run.usage())
    note = None if reworded == question else f"asked as: {reworded}"
    return FollowUp(reworded, note, run.usage())
