"""A conversation with a model. Every request that was sent is recorded as a step, answered or not."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, NamedTuple, Protocol, TypeAlias, get_args

from orienteer.errors import BadInput, BudgetExhausted, Error, ModelError
from orienteer.llm.budget import cut_off_by
from orienteer.llm.replies import ChatRequest
from orienteer.llm.schema import decode, faults, json_object
from orienteer.llm.spoken import after_thinking
from orienteer.llm.wire import REFUSAL, is_withheld
from orienteer.protocols import LanguageModel, Run, Streaming
from orienteer.records import (
    JsonValue,
    Message,
    Observation,
    Observed,
    Question,
    Raw,
    Reply,
    Sampling,
    Step,
    StoppedBy,
    ToolSpec,
    Trajectory,
    Usage,
)
from orienteer.text.sentences import CHARACTERS_A_TOKEN

MOST_CALLS = 32
"""Tool calls that one message may make; a whole question takes some twenty."""
ELISION = "[left out to save room: call the tool again where this is needed]"
Observe: TypeAlias = Callable[[Reply], Iterable[Observation]]
"""Runs the calls of a reply one after another; calls beyond the last observation are not run."""

Hear: TypeAlias = Callable[[str], None]
"""Receives the words of a reply while they are written, some at a time."""


class Read(NamedTuple):
    """A reply as it was read."""

    message: Message
    """With its calls separated from its words."""
    broken: tuple[str, ...] = ()
    """The faults of calls that could not be read, a sentence each."""
    feigned: bool = False
    """The model wrote results of tools itself; that part was left out."""
    left_out: int = 0
    """Calls in words beyond those that one turn may make."""


class ModelRequest(NamedTuple):
    """A model request in its final form."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    """Tools that are not written in the messages."""
    schema: Mapping[str, JsonValue] | None = None
    """The schema that the server forces on the reply, or None for a free reply."""


class Dialect(Protocol):
    """How a conversation is written for a model, and how its replies are read."""

    def written(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], offered: Sequence[ToolSpec]
    ) -> ModelRequest:
        """Return a request, with those of all the conversation's tools that are offered now."""

    def read(self, message: Message, *, turn: int) -> Read:
        """Return a reply with its calls separated from its words."""


class Turn(NamedTuple):
    """A reply, with `broken` and `feigned` of `Read`."""

    reply: Reply
    broken: tuple[str, ...] = ()
    feigned: bool = False


class Conversation:
    """A conversation with one model, in one thread."""

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
        """Without a dialect nothing is rewritten. Beyond `context_tokens` the oldest observations are left out."""
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
        """Ask once, run the calls of the reply, and record both. Without `is_read`, calls in words stay words.

        `hear` is called with the words while they are written, if the model can stream. Raises `BudgetExhausted` and
        `ModelError`; a request that had been sent by then is a step with the error.
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
            shown, offered = elide(messages, self._elided, ELISION), self._tools if offers_tools else ()
            sent = ModelRequest(shown, offered)
            if self._dialect is not None:
                sent = self._dialect.written(shown, self._tools, offered)
            forced = sent.schema if schema is None else schema
            reply = charged(self._model, sent.messages, sent.tools, forced, self._sampling, run=run, hear=hear)
        except (ModelError, BudgetExhausted) as failed:
            lost, cause = step.reply, failed if isinstance(failed, ModelError) else failed.__cause__
            if isinstance(cause, ModelError) and cause.sent:
                *refused, lacks = cause.sent
                tried = {"wanted_tokens": cause.wanted_tokens, "streamed": cause.streamed}
                lost = lost.model_copy(update={"lacks": lacks, "refused": tuple(refused), **tried})
            self._record(run, step, began, reply=lost, error=str(failed))
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
                observed.append(Observed.of(call, seen))
                self._messages.append(Message(role="tool", content=seen.text, tool_call_id=call.id))
        finally:  # a step whose call failed has been paid for
            self._record(run, step, began, reply=reply, observations=tuple(observed), unread=len(read.broken))
        return Turn(reply, read.broken, read.feigned)

    def _record(self, run: Run, step: Step, began: float, **update: object) -> None:
        step = step.model_copy(update={**update, "seconds": time.monotonic() - began})
        self.steps.append(step)
        run.tell(step)

    def _fit(self, messages: Sequence[Message]) -> None:
        """Leave out the oldest observations until the request fits."""
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
    """Return the model's next message, and charge the call to the run that it was claimed from.

    `hear` is called with its words while they are written, if the model can stream and neither tools nor a schema are
    given. Calls beyond the first `MOST_CALLS` are left out of the message and counted; the raw reply has them. Raises
    `BudgetExhausted` if the time ends within the request (`cut_off_by`), `ModelError` if the model failed.
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
    calls = reply.message.tool_calls
    if reply.raw is None:  # of a model that runs here, or was recorded
        text = json.dumps([call.model_dump() for call in calls]) if calls else None
        reply = reply.model_copy(update={"raw": Raw(text=reply.message.content, calls=text)})
    if len(calls) > MOST_CALLS:
        message = reply.message.model_copy(update={"tool_calls": calls[:MOST_CALLS]})
        reply = reply.model_copy(update={"message": message, "calls_left_out": len(calls) - MOST_CALLS})
    return reply


def left_out(reply: Reply) -> str | None:
    """Return a note for the model about calls that were left out of its message, or None."""
    if not reply.calls_left_out:
        return None
    return f"Only the first {MOST_CALLS} calls were run; the others were left out. Make fewer."


def no_answer(reply: Reply) -> str | None:
    """Return why the words of a reply are no answer, or None: it is empty, cut off, refused or withheld."""
    if reply.truncated:
        return "the model's reply was cut off at the length limit"
    if reply.raw is not None and is_withheld(reply.raw):
        if reply.raw.finish_reason == REFUSAL:
            return f"the model refused: {_cut(reply.raw.text or '')}"
        return f"the server withheld the model's reply ({reply.raw.finish_reason})"
    return None if after_thinking(reply.message.content or "") else "the model said nothing"


def elide(messages: Sequence[Message], call_ids: Collection[str], elision: str) -> tuple[Message, ...]:
    """Return the messages without the observations of some calls."""
    return tuple(
        message.model_copy(update={"content": elision}) if message.tool_call_id in call_ids else message
        for message in messages
    )


def spoken(reply: Reply, *, has_tools: bool) -> tuple[Message, ...]:
    """Return the messages that later requests show of a reply; an empty reply only if there are tools."""
    return (reply.message,) if has_tools or reply.message.content else ()


def renamed(message: Message, earlier: Sequence[Message]) -> Message:
    """Return a reply whose calls have unique ids: some servers count from the start in every reply."""
    used = {call.id for sent in earlier for call in sent.tool_calls}
    calls = []
    for call in message.tool_calls:
        name, number = call.id, 2
        while name in used:
            name, number = f"{call.id}_{number}", number + 1
        used.add(name)
        calls.append(call.model_copy(update={"id": name}))
    return message.model_copy(update={"tool_calls": tuple(calls)})


def _size(message: Message) -> int:
    return len(message.content or "") + sum(len(call.arguments) + len(call.name) for call in message.tool_calls)


# One question to a model: a prompt, its values, the schema of the reply, a check, a repair, and the record of it.

Check: TypeAlias = Callable[[JsonValue], Sequence[str]]
"""Returns the faults of a reply beyond its schema, a sentence each."""

# Characters of a fault: it repeats the model's names, of any length, and is paid for.
_LONGEST_FAULT = 2_000


class Exchange(NamedTuple):
    """A question to a model, and its reply."""

    reply: Reply
    value: dict[str, Any] | None  # Any: JSON, as its schema says
    """The object of the reply; None without a schema, or if no reply fits it, repaired or not."""
    trajectory: Trajectory


def begin(
    model: LanguageModel,
    prompt: Prompt,
    values: Mapping[str, object],
    *,
    question: Question,
    method: str,
    sampling: Sampling,
    **fields: Any,  # Any: fields of a trajectory
) -> Trajectory:
    """Return a trajectory without steps, whose opening is the prompt filled with the values.

    `fields` are further ones of it, such as the tools of an agent and its dialect.
    """
    return Trajectory(
        question=question,
        method=method,
        model=model.name,
        prompt=prompt.name,
        prompt_version=prompt.version,
        prompt_hash=prompt.sha256,
        sampling=sampling,
        opening=prompt.filled(values),
        **fields,
    )


def first_request(begun: Trajectory, schema: Mapping[str, Any] | None = None) -> ChatRequest:
    """Return the request that `ask` makes of a trajectory, before any repair: its key finds an earlier reply."""
    assert begun.model is not None  # `begin` names it
    return ChatRequest.of(begun.model, begun.opening, schema=schema, sampling=begun.sampling)


def ask(
    model: LanguageModel,
    run: Run,
    begun: Trajectory,
    *,
    schema: Mapping[str, Any] | None = None,
    check: Check | None = None,
    repairs: bool = True,
    agent: int | None = 0,
    hear: Hear | None = None,
) -> Exchange:
    """Return a model's reply to the opening of a trajectory, after one repair turn if it violates the schema.

    `check` may find further faults in an object that fits the schema. Without `repairs`, or without budget for one, the
    first reply stays; the repaired reply is not checked again. `hear` is called with the words of the first reply while
    they are written. Each request is claimed from the run, charged to it, and is a step of the trajectory.

    Raises `BudgetExhausted` and `ModelError`, which then have the trajectory so far.
    """
    talk = Conversation(model, begun.opening, sampling=begun.sampling, agent=agent)
    try:
        reply = talk.turn(run, schema=schema, hear=hear).reply
        if repairs and schema is not None and (fault := _fault(reply, schema, check)) is not None:
            with suppress(BudgetExhausted):
                reply = talk.turn(run, notice=fault, schema=schema).reply.model_copy(update={"repaired": 1})
    except (BudgetExhausted, ModelError) as failed:
        ending = {"steps": tuple(talk.steps), "stopped_by": ending_of(failed), "error": str(failed)}
        failed.trajectories += (begun.model_copy(update=ending),)
        raise
    content = reply.message.content
    trajectory = begun.model_copy(update={"steps": tuple(talk.steps), "answer": content})
    return Exchange(reply, None if schema is None else object_of(content or "", schema), trajectory)


def ask_for(
    model: LanguageModel, run: Run, prompt: Prompt, schema: Mapping[str, Any], *, question: str, **values: str
) -> Exchange:
    """Return a model's reply to a prompt about a question. Raises as `ask` does."""
    sampling = Sampling(temperature=0.0, random_seed=run.random_seed)
    values = {**values, "question": question}
    begun = begin(model, prompt, values, question=Question(text=question), method=prompt.name, sampling=sampling)
    return ask(model, run, begun, schema=schema)


def object_of(text: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the object in a JSON text, or None if it is not an object that fits the schema."""
    value = json_object(text)
    return None if value is None or faults(value, schema) else value


def ending_of(failed: BudgetExhausted | ModelError) -> StoppedBy:
    """Return the limit that ended a trajectory, or "error"."""
    limit = failed.limit if isinstance(failed, BudgetExhausted) else "error"
    assert limit in get_args(StoppedBy)
    return limit  # type: ignore[return-value]  # asserted above


def recorded_by(error: Error) -> tuple[Trajectory, ...]:
    """Return the trajectories of the calls that led to an error, except those without a request."""
    return tuple(record for record in error.trajectories if isinstance(record, Trajectory) and record.steps)


def _fault(reply: Reply, schema: Mapping[str, Any], check: Check | None) -> str | None:
    """Return a message to the model about a faulty reply, or None."""
    try:
        value = decode(reply.message.content or "")
    except ValueError as error:
        fault = f"Your reply is no JSON: {error}."
    else:
        if wrong := faults(value, schema):
            fault = f"Your reply does not fit its schema: {_cut('; '.join(wrong))}."
        elif check is not None and (wrong := tuple(check(value))):
            fault = f"Your reply cannot be used: {_cut('; '.join(wrong))}."
        else:
            return None
    cut = "Your reply was cut off at the length limit; be shorter. " if reply.truncated else ""
    return f"{cut}{fault} Send it again, right."


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_FAULT else f"{text[:_LONGEST_FAULT]} ..."


# Prompts as files of a package, `prompts/NAME.md`: the one place that reads them.

_FIRST_LINE = re.compile(r"version: ([1-9][0-9]{0,3})\n")


class Prompt(NamedTuple):
    """The contents of a prompt's file.

    Its first line is its version. Then comes the system message, and after a line `---` the user's, with placeholders.
    """

    name: str
    version: int
    """From 1. It rises with each change of the words, so that figures name the prompt that they were made with."""
    system: str
    user: str
    """`$content` if the file has no such line: then all that the user says is a value."""
    sha256: str
    """Of the words, without the line of the version."""

    def filled(self, values: Mapping[str, object]) -> tuple[Message, Message]:
        """Return the two messages that open a conversation, the placeholders of the user's message filled."""
        content = Template(self.user).substitute(values)
        return Message(role="system", content=self.system), Message(role="user", content=content)


@cache
def prompt_of(name: str, package: str = "orienteer.methods") -> Prompt:
    """Return the prompt of a name. Raises `BadInput` if the package has none, or one without a version."""
    try:
        text = files(package).joinpath(f"prompts/{name}.md").read_text(encoding="utf-8")
    except (FileNotFoundError, ModuleNotFoundError) as error:
        raise BadInput(f"No prompt {name!r} in the package {package!r}: write prompts/{name}.md there.") from error
    if (first := _FIRST_LINE.match(text)) is None:
        raise BadInput(f"The prompt {name!r} of {package!r} must begin with the line 'version: 1', or a later number.")
    words = text[first.end() :]
    system, _, user = words.partition("\n---\n")
    return Prompt(
        name, int(first[1]), system.strip(), user.strip() or "$content", hashlib.sha256(words.encode()).hexdigest()
    )


def prompts_of(package: str) -> tuple[Prompt, ...]:
    """Return all prompts of a package, by name. Raises as `prompt_of` does."""
    names = sorted(file.name for file in (files(package) / "prompts").iterdir() if file.is_file())
    return tuple(prompt_of(name.removesuffix(".md"), package) for name in names)
