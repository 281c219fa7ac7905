"""One turn of a model inside an allowance: claimed, checked against the tools' schemas, repaired at most once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from orienteer.errors import BudgetExhausted, nearest
from orienteer.llm.conversation import MOST_CALLS, Conversation
from orienteer.llm.schema import decode, faults
from orienteer.protocols import LanguageModel, Run
from orienteer.records import (
    NOT_RUN,
    JsonValue,
    Message,
    Observation,
    Reply,
    Sampling,
    ToolCall,
    ToolSpec,
    Usage,
)

Check: TypeAlias = Callable[[JsonValue], Sequence[str]]
"""Says what is wrong with a reply beyond its schema, a sentence for each fault."""

_LONGEST_FAULT = 2_000
"""Characters of what is said about a message: it repeats the model's names, of any length, and is paid for."""
_NOT_RUN = "Not run, for another call of this message is wrong. Send all calls again."


def call(
    model: LanguageModel,
    messages: Sequence[Message],
    *,
    run: Run,
    tools: Sequence[ToolSpec] = (),
    schema: Mapping[str, JsonValue] | None = None,
    sampling: Sampling | None = None,
    check: Check | None = None,
    repairs: bool = True,
) -> Reply:
    """Return the model's next message, after one repair turn where it is no sound call of the tools.

    An object of a schema may be judged further by `check`; without `repairs` the first reply stays as it is.

    Every request to the model is claimed from the run first and charged to it after. Raises `BudgetExhausted` before
    the first request, never for the second: where nothing is left for a repair, the reply stays as it is. What is
    wrong with the repaired reply is for the caller to see (`arguments_of`).
    """
    talk = Conversation(model, messages, sampling=sampling, tools=tools)
    reply = exchange(talk, run, schema=schema, check=check, repairs=repairs, tools=tools)
    return reply.model_copy(update={"usage": sum((step.reply.usage for step in talk.steps), Usage())})


def exchange(
    talk: Conversation,
    run: Run,
    *,
    schema: Mapping[str, JsonValue] | None = None,
    check: Check | None = None,
    repairs: bool = True,
    tools: Sequence[ToolSpec] = (),
) -> Reply:
    """Return the reply to a talk's opening, or to what was told of its faults; each request is a step of the talk.

    Raises as `call` does.
    """
    advice: dict[str, str] = {}

    def refuse(reply: Reply) -> Iterator[Observation]:
        """Say of each call what is wrong with it, where any is."""
        faults = {call.id: _fault(call, tools) for call in reply.message.tool_calls}
        if repairs and any(faults.values()):
            told = {name: f"{_cut_off(reply)}{fault}" if fault else _NOT_RUN for name, fault in faults.items()}
            advice.update(told)
            yield from (Observation(text, error=NOT_RUN) for text in told.values())

    first = talk.turn(run, schema=schema, observe=refuse if tools else None).reply
    notice = _advice(first, tools, schema, check) if repairs else None
    if not advice and notice is None:
        return first
    try:
        second = talk.turn(run, notice=notice, schema=schema).reply
    except BudgetExhausted:
        return first
    return second.model_copy(update={"repaired": 1})


def arguments_of(call: ToolCall, tools: Sequence[ToolSpec]) -> dict[str, JsonValue]:
    """Return the arguments of a call. Raises `ValueError`, in words for the model, where the call is not sound."""
    specs = {tool.name: tool for tool in tools}
    if call.name not in specs:
        near = nearest(call.name, specs, most=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise ValueError(f"There is no tool {call.name!r}. {hint}The tools are {', '.join(specs) or 'none'}.")
    try:
        arguments = decode(call.arguments or "{}")
    except ValueError as error:
        raise ValueError(f"The arguments of {call.name} are no JSON: {error}.") from error
    if not isinstance(arguments, dict):
        raise ValueError(f"The arguments of {call.name} must be a JSON object, not {call.arguments[:80]}.")
    found = faults(arguments, {"type": "object", **specs[call.name].parameters})
    if found:
        raise ValueError(f"The arguments of {call.name} are wrong: {'; '.join(found)}.")
    return arguments


def left_out(reply: Reply) -> str | None:
    """Return what to tell the model about calls that were left out of its message, None where none were."""
    if not reply.calls_left_out:
        return None
    return f"Only the first {MOST_CALLS} calls were run; the others were left out. Make fewer."


def _advice(
    reply: Reply, tools: Sequence[ToolSpec], schema: Mapping[str, JsonValue] | None, check: Check | None
) -> str | None:
    """Return what to tell the model about a reply in words; None where it is sound."""
    cut = _cut_off(reply)
    if tools:
        names = ", ".join(tool.name for tool in tools)
        return None if reply.message.tool_calls else f"{cut}Reply with a call of one of these tools: {names}."
    fault = _schema_fault(reply.message.content or "", schema, check) if schema is not None else None
    return f"{cut}{fault} Send it again, right." if fault else None


def _cut_off(reply: Reply) -> str:
    return "Your reply was cut off at the length limit; be shorter. " if reply.truncated else ""


def _fault(call: ToolCall, tools: Sequence[ToolSpec]) -> str | None:
    try:
        arguments_of(call, tools)
    except ValueError as error:
        return f"{_cut(str(error))} Call it again, right."
    return None


def _schema_fault(text: str, schema: Mapping[str, JsonValue], check: Check | None) -> str | None:
    try:
        value = decode(text)
    except ValueError as error:
        return f"Your reply is no JSON: {error}."
    if found := faults(value, schema):
        return f"Your reply does not fit its schema: {_cut('; '.join(found))}."
    wrong = check(value) if check is not None else ()
    return f"Your reply cannot be used: {_cut('; '.join(wrong))}." if wrong else None


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_FAULT else f"{text[:_LONGEST_FAULT]} ..."
