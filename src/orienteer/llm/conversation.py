"""A conversation with a model, recorded as it goes: every request that was sent is a step, answered or not."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from orienteer.errors import BudgetExhausted, ModelError
from orienteer.llm.budget import cut_off_by
from orienteer.protocols import LanguageModel, Run, Streaming
from orienteer.records import (
    JsonValue,
    Message,
    Observation,
    Observed,
    Raw,
    Reply,
    Sampling,
    Step,
    ToolSpec,
    Usage,
)
from orienteer.text.lines import CHARACTERS_A_TOKEN

MOST_CALLS = 32
"""Calls of tools that one message may make: a question takes some twenty in all."""
ELISION = "[left out to save room: call the tool again where this is needed]"
Observe: TypeAlias = Callable[[Reply], Iterable[Observation]]
"""Runs the calls of a reply, one after another; those that it says nothing of are not run."""

Hear: TypeAlias = Callable[[str], None]
"""Takes the words of a reply as they are written, some at a time."""


class Read(NamedTuple):
    """A reply as it was read."""

    message: Message
    """Its thought and its calls apart."""
    broken: tuple[str, ...] = ()
    """What is wrong with calls that could not be read, a sentence for each."""
    feigned: bool = False
    """It went on to write what a tool gives; that part was left out."""
    left_out: int = 0
    """Calls in words beyond those that one turn may make."""


class Written(NamedTuple):
    """A request as it is sent."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    """Those that go beside the messages."""
    schema: Mapping[str, JsonValue] | None = None
    """What the server is to hold the reply to; None where the reply is free."""


class Dialect(Protocol):
    """How a conversation is written to a model, and what it says is read."""

    def written(self, messages: Sequence[Message], tools: Sequence[ToolSpec], offered: Sequence[ToolSpec]) -> Written:
        """Return messages and tools as they are sent: of all the tools of the talk those that are offered now."""

    def read(self, message: Message, *, turn: int) -> Read:
        """Return a reply with its calls apart from its words."""


class Turn(NamedTuple):
    """What one request came to."""

    reply: Reply
    broken: tuple[str, ...] = ()
    """What is wrong with calls that could not be read, a sentence for each."""
    feigned: bool = False
    """The model wrote results of tools itself."""


class Conversation:
    """A talk with one model. Not shared among threads."""

    def __init__(
        self,
        model: LanguageModel,
        opening: Sequence[Message],
        *,
        sampling: Sampling | None,
        tools: Sequence[ToolSpec] = (),
        dialect: Dialect | None = None,
        agent: int | None = 0,
        context_tokens: int | None = None,
    ) -> None:
        """Without a dialect everything goes as it is. Beyond `context_tokens` the oldest observations are left out."""
        self._model, self._sampling, self._tools, self._dialect = model, sampling, tuple(tools), dialect
        self._agent, self._context_tokens = agent, context_tokens
        self._messages = list(opening)
        self._elided: set[str] = set()
        self.steps: list[Step] = []

    def turn(
        self,
        run: Run,
        *,
        notice: str | None = None,
        schema: Mapping[str, JsonValue] | None = None,
        offers_tools: bool = True,
        is_read: bool = True,
        observe: Observe | None = None,
        hear: Hear | None = None,
    ) -> Turn:
        """Ask once, run what was called, record both; unless `is_read` the reply is taken as it is, calls in words too.

        `hear` is called with the words as they are written, where the model can. Raises `BudgetExhausted` and
        `ModelError`. Where the request had been sent by then, it is a step with the error.
        """
        run.check()
        began = time.monotonic()
        messages = [*self._messages, Message(role="user", content=notice)] if notice else self._messages
        self._fit(messages)
        step = Step(
            reply=Reply(message=Message(role="assistant")),
            elided=tuple(sorted(self._elided)),
            notice=notice,
            offers_tools=offers_tools,
            reply_schema=None if schema is None else dict(schema),
            agent=self._agent,
        )
        try:
            sent = self._sent(messages, offers_tools)
            held = sent.schema if schema is None else schema
            reply = charged(self._model, sent.messages, sent.tools, held, self._sampling, run=run, hear=hear)
        except (ModelError, BudgetExhausted) as failed:
            lost = step.reply.model_copy(update=_attempts(failed))
            self._keep(run, step, began, reply=lost, error=str(failed))
            raise
        read = Read(reply.message)
        if is_read and self._dialect is not None:
            read = self._dialect.read(reply.message, turn=len(self.steps))
        message, more = renamed(read.message, self._messages), reply.calls_left_out + read.left_out
        reply = reply.model_copy(update={"message": message, "calls_left_out": more})
        self._messages = [*messages, *spoken(reply, has_tools=bool(self._tools))]
        observed: list[Observed] = []
        try:
            for call, seen in zip(message.tool_calls, () if observe is None else observe(reply), strict=False):
                observed.append(Observed(call_id=call.id, text=seen.text, nodes=seen.nodes, error=seen.error))
                self._messages.append(Message(role="tool", content=seen.text, tool_call_id=call.id))
        finally:  # a step whose call failed has been paid for
            self._keep(run, step, began, reply=reply, observations=tuple(observed), unread=len(read.broken))
        return Turn(reply, read.broken, read.feigned)

    def _sent(self, messages: Sequence[Message], offers_tools: bool) -> Written:
        shown = elide(messages, self._elided, ELISION)
        tools = self._tools if offers_tools else ()
        if self._dialect is None:
            return Written(shown, tools)
        return self._dialect.written(shown, self._tools, tools)

    def _keep(self, run: Run, step: Step, began: float, **update: object) -> None:
        step = step.model_copy(update={**update, "seconds": time.monotonic() - began})
        self.steps.append(step)
        run.tell(step)

    def _fit(self, messages: Sequence[Message]) -> None:
        """Add the calls of the oldest observations to those left out until the request fits."""
        if self._context_tokens is None:
            return
        size = sum(_size(message) for message in elide(messages, self._elided, ELISION))
        for message in messages:
            if size <= self._context_tokens * CHARACTERS_A_TOKEN:
                return
            if message.role == "tool" and message.tool_call_id and message.tool_call_id not in self._elided:
                self._elided.add(message.tool_call_id)
                size -= max(0, _size(message) - len(ELISION))


def charged(
    model: LanguageModel,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    schema: Mapping[str, JsonValue] | None,
    sampling: Sampling | None,
    *,
    run: Run,
    hear: Hear | None = None,
) -> Reply:
    """Return the model's next message as it is, and charge the call to the run that it was claimed from.

    `hear` is called with its words as they are written, where the model can and neither calls nor an object are wanted.
    Calls beyond the first `MOST_CALLS` of a message are left out of it and counted; the raw reply has them. Raises
    `BudgetExhausted` where the time ends within the request (`cut_off_by`), `ModelError` where the model failed.
    """
    spent = Usage()
    try:
        with cut_off_by(run):
            seconds = run.seconds_left()
            if hear is not None and isinstance(model, Streaming) and not tools and schema is None:
                reply = model.chat_stream(messages, hear=hear, sampling=sampling, seconds=seconds)
            else:
                reply = model.chat(messages, tools=tools, schema=schema, sampling=sampling, seconds=seconds)
        spent = reply.usage
    finally:
        run.charge(spent)
    if reply.raw is None:  # of a model that runs here, or was recorded
        reply = reply.model_copy(update={"raw": raw_of(reply.message)})
    return _bounded(reply)


def raw_of(message: Message) -> Raw:
    """Return a message as what a reply was read from."""
    calls = json.dumps([call.model_dump() for call in message.tool_calls]) if message.tool_calls else None
    return Raw(text=message.content, calls=calls)


def _bounded(reply: Reply) -> Reply:
    calls = reply.message.tool_calls
    if len(calls) <= MOST_CALLS:
        return reply
    message = reply.message.model_copy(update={"tool_calls": calls[:MOST_CALLS]})
    return reply.model_copy(update={"message": message, "calls_left_out": len(calls) - MOST_CALLS})


def left_out(reply: Reply) -> str | None:
    """Return what to tell the model about calls that were left out of its message, None where none were."""
    if not reply.calls_left_out:
        return None
    return f"Only the first {MOST_CALLS} calls were run; the others were left out. Make fewer."


def elide(messages: Sequence[Message], call_ids: Collection[str], elision: str) -> tuple[Message, ...]:
    """Return messages with the observations of these calls left out."""
    return tuple(
        message.model_copy(update={"content": elision}) if message.tool_call_id in call_ids else message
        for message in messages
    )


def spoken(reply: Reply, *, has_tools: bool) -> tuple[Message, ...]:
    """Return what of a reply the model is shown in later requests: without tools, not that it said nothing."""
    return (reply.message,) if has_tools or reply.message.content else ()


def renamed(message: Message, earlier: Sequence[Message]) -> Message:
    """Return a reply whose calls have ids of their own: some servers begin anew in every reply."""
    used = {call.id for sent in earlier for call in sent.tool_calls}
    calls = []
    for call in message.tool_calls:
        name, number = call.id, 2
        while name in used:
            name, number = f"{call.id}_{number}", number + 1
        used.add(name)
        calls.append(call.model_copy(update={"id": name}))
    return message.model_copy(update={"tool_calls": tuple(calls)})


def _attempts(failed: ModelError | BudgetExhausted) -> dict[str, object]:
    """Return in which ways a request went that failed, as a reply keeps them."""
    cause = failed if isinstance(failed, ModelError) else failed.__cause__
    if not isinstance(cause, ModelError) or not cause.sent:
        return {}
    *refused, lacks = cause.sent
    return {"lacks": lacks, "refused": tuple(refused), "wanted_tokens": cause.wanted_tokens, "streamed": cause.streamed}


def _size(message: Message) -> int:
    return len(message.content or "") + sum(len(call.arguments) + len(call.name) for call in message.tool_calls)
