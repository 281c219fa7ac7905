"""What cost turns in a trajectory: calls that failed, were made before, or led nowhere; replies cut, broken or empty.

It reads the record alone, without graph or model, and reports what is sure. Nothing that a fixed course did by itself
is a turn: only requests to a model are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

from orienteer.display import counted
from orienteer.llm.schema import decode, faults
from orienteer.records import NOT_RUN, JsonValue, Observed, Record, Step, ToolCall, Trajectory
from orienteer.text.english import STOP
from orienteer.text.lines import flat
from orienteer.text.tokenizer import Tokenizer

FindingKind: TypeAlias = Literal["failed", "repeated", "unused", "cut", "empty"]
_ANSWERING = frozenset({"add_to_answer", "remove_from_answer", "finish"})
"""Tools that are called for what they do: nobody need use what they give."""
_LONGEST = 300  # characters of a reason, of its begin and its end together
_SAVED_SET = re.compile(r"@\d+")


class Finding(Record):
    """One thing that cost a turn, or a part of one."""

    kind: FindingKind
    step: int | None
    """The turn, from 1; None for what the trajectory lacks as a whole."""
    tool: str | None = None
    """Which tool was called; None where the finding is about the reply itself."""
    error: str | None = None
    """The kind of error of a call that failed, as its observation has it."""
    why: str


class Lint(NamedTuple):
    """What was found in a trajectory, and what of it was in vain."""

    findings: tuple[Finding, ...]
    turns: int
    tokens: int
    turns_in_vain: int
    """Turns that brought nothing: each call has a finding, or the reply has one and makes no call."""
    tokens_in_vain: int


def lint(trajectory: Trajectory) -> Lint:
    """Return what cost turns in a trajectory; one that no model made has no turns."""
    steps = trajectory.steps if trajectory.model is not None else ()
    findings: list[Finding] = []
    in_vain: list[Step] = []
    for place, about_calls in enumerate(_of_calls(trajectory) if steps else ()):
        about_reply = tuple(_of_reply(trajectory, place))
        findings += [*_of_request(steps[place], place + 1), *about_reply, *filter(None, about_calls)]
        if all(about_calls) if about_calls else about_reply:
            in_vain.append(steps[place])
    return Lint(
        (*findings, *_of_end(trajectory)) if steps else (),
        len(steps),
        _tokens(steps),
        len(in_vain),
        _tokens(in_vain),
    )


def together(lints: Iterable[Lint]) -> Lint:
    """Return what was found in several trajectories as one."""
    parts = tuple(lints)
    return Lint(
        tuple(finding for part in parts for finding in part.findings),
        sum(part.turns for part in parts),
        sum(part.tokens for part in parts),
        sum(part.turns_in_vain for part in parts),
        sum(part.tokens_in_vain for part in parts),
    )


# -------------------------------------------------------------------------------------------------------- replies


def _of_request(step: Step, number: int) -> Iterator[Finding]:
    """Yield what a turn cost beside its reply, which may be sound."""
    ways = [*step.reply.refused, step.reply.lacks]
    for before, after in pairwise(ways):
        without = ", ".join(sorted({*after} - {*before})) or "what it refused"
        yield Finding(kind="failed", step=number, why=f"the server refused the request: sent again without {without}")
    if step.reply.calls_left_out:
        left_out = counted(step.reply.calls_left_out, "call")
        yield Finding(kind="failed", step=number, why=f"{left_out} beyond those that one turn may make")


def _of_reply(trajectory: Trajectory, place: int) -> Iterator[Finding]:
    """Yield what is wrong with the reply of a turn, apart from its calls."""
    step, number = trajectory.steps[place], place + 1
    if step.error is not None:
        yield Finding(kind="failed", step=number, why=f"the request failed: {_short(step.error)}")
        return
    if step.reply.truncated:
        tokens = counted(step.reply.usage.completion_tokens, "token")
        yield Finding(kind="cut", step=number, why=f"the reply was cut off at its length limit, after {tokens}")
    if step.unread:
        unread = counted(step.unread, "call")
        yield Finding(kind="failed", step=number, why=f"{unread} in words could not be read")
    if not step.reply.message.tool_calls and not step.reply.truncated and not step.unread:
        yield from _of_words(trajectory, place)


def _of_words(trajectory: Trajectory, place: int) -> Iterator[Finding]:
    """Yield what is wrong with a whole reply without calls."""
    step, number = trajectory.steps[place], place + 1
    following = trajectory.steps[place + 1] if place + 1 < len(trajectory.steps) else None
    text = step.reply.message.content or ""
    if not text.strip():
        yield Finding(kind="empty", step=number, why="the reply has neither words nor a call")
    elif step.reply_schema is not None:
        yield from _of_object(number, text, step.reply_schema, following)
    elif trajectory.tools and step.offers_tools and following is not None and following.reply_schema is None:
        yield Finding(kind="failed", step=number, why="the reply calls nothing, and does not end the course")


def _of_object(number: int, text: str, schema: Mapping[str, Any], following: Step | None) -> Iterator[Finding]:
    """Yield what is wrong with a reply that was to be an object."""
    try:
        value = decode(text)
    except ValueError as error:
        yield Finding(kind="failed", step=number, why=f"the reply is no JSON: {_short(str(error))}")
        return
    if wrong := faults(value, schema):
        yield Finding(kind="failed", step=number, why=f"the reply does not fit its schema: {_short('; '.join(wrong))}")
    elif following is not None and following.notice and following.reply_schema == schema:
        yield Finding(kind="failed", step=number, why=f"the reply was sent back: {_short(following.notice)}")
    elif _is_empty(value):
        yield Finding(kind="empty", step=number, why=f"the object of the reply holds nothing: {_short(text)}")


def _of_end(trajectory: Trajectory) -> Iterator[Finding]:
    """Yield that an agent came to no answer."""
    if trajectory.tools and not trajectory.selected and not (trajectory.answer or "").strip():
        why = f"it ended with neither an answer nor a node, by {trajectory.stopped_by}"
        yield Finding(kind="empty", step=None, why=why)


def _is_empty(value: JsonValue) -> bool:
    """Tell whether JSON holds nothing but nulls, zeros, empty texts and empty lists; true and false are something."""
    if isinstance(value, dict):
        return all(map(_is_empty, value.values()))
    return not isinstance(value, bool) and not value


# ---------------------------------------------------------------------------------------------------------- calls


def _of_calls(trajectory: Trajectory) -> list[list[Finding | None]]:
    """Return for each turn what is to be said of each of its calls, None where there is nothing."""
    before: dict[tuple[str, str], tuple[int, str]] = {}
    used = _Used(trajectory)
    turns: list[list[Finding | None]] = []
    for number, step in enumerate(trajectory.steps, 1):
        observed = {seen.call_id: seen for seen in step.observations}
        turn: list[Finding | None] = []
        for call in step.reply.message.tool_calls:
            earlier = before.get(_key(call))
            before[_key(call)] = (number, call.id)
            found = _of_call(call, observed.get(call.id), number, earlier, step.elided)
            if found is None and call.id in observed and used.is_unused(number, call, observed[call.id]):
                nodes = counted(len(observed[call.id].nodes), "node")
                why = f"nothing of it was used later, {nodes}: {_short(call.arguments)}"
                found = Finding(kind="unused", step=number, tool=call.name, why=why)
            turn.append(found)
        turns.append(turn)
    return turns


def _of_call(
    call: ToolCall, seen: Observed | None, number: int, earlier: tuple[int, str] | None, elided: Sequence[str]
) -> Finding | None:
    """Return why a call gave nothing, by what it gave, or by the same call before."""
    again = "" if earlier is None else f" (the same call as in turn {earlier[0]})"
    if seen is None:
        return Finding(kind="failed", step=number, tool=call.name, why=f"it was not run{again}")
    if seen.error is not None:
        why = f"it was not run{again}" if seen.error == NOT_RUN else f"{_short(seen.text)}{again}"
        return Finding(kind="failed", step=number, tool=call.name, error=seen.error, why=why)
    if earlier is None:
        return None
    lost = ", whose result had been left out to save room" if earlier[1] in elided else ""
    why = f"the same call as in turn {earlier[0]}{lost}: {_short(call.arguments)}"
    return Finding(kind="repeated", step=number, tool=call.name, why=why)


def _key(call: ToolCall) -> tuple[str, str]:
    """Return what equal calls have in common: blanks and the order of arguments make no difference."""
    try:
        return call.name, json.dumps(decode(call.arguments), sort_keys=True)
    except ValueError:
        return call.name, call.arguments


class _Used:
    """Tells which results a model made nothing of.

    A result is used where something that it was the first to show is in what the model wrote later, in words, thoughts
    or arguments: a node's id, a saved set, a word of the result that is no everyday word. What the last turn but one
    gave has been read for the ending.
    """

    def __init__(self, trajectory: Trajectory) -> None:
        self._steps = trajectory.steps
        self._written = ["\n".join(_written_in(step)) for step in trajectory.steps]
        asked = [trajectory.question.text, *(message.content or "" for message in trajectory.opening)]
        self._known = [_words("\n".join(asked))]
        """Words that stood in the talk before the results of each turn came."""
        for step, written in zip(self._steps, self._written, strict=True):
            seen = "\n".join(seen.text for seen in step.observations)
            self._known[-1] |= _words(f"{step.notice or ''}\n{written}")
            self._known.append(self._known[-1] | _words(seen))
        looking = [number for number, step in enumerate(self._steps, 1) if _looks(step)]
        self._last_look = looking[-1] if looking and looking[-1] < len(self._steps) else None

    def is_unused(self, number: int, call: ToolCall, seen: Observed) -> bool:
        """Tell whether nothing of a result with nodes, in a turn from 1, was used later."""
        if call.name in _ANSWERING or not seen.nodes or number == self._last_look:
            return False
        later = "\n".join(self._written[number:])
        new = _words(seen.text) - self._known[number - 1]
        # A result that shows nothing new may have been a check: whether it was of use cannot be told.
        return bool(new) and new.isdisjoint(_words(later)) and not any(node in later for node in seen.nodes)


def _looks(step: Step) -> bool:
    """Tell whether a turn got a result that is there to be read."""
    answering = {call.id for call in step.reply.message.tool_calls if call.name in _ANSWERING}
    return any(seen.error is None and seen.call_id not in answering for seen in step.observations)


def _written_in(step: Step) -> Iterator[str]:
    """Yield what a model wrote in a turn: words, thoughts, the arguments of calls."""
    reply = step.reply
    yield reply.message.content or ""
    for call in reply.message.tool_calls:
        try:
            yield from _texts(decode(call.arguments))  # not as JSON, where letters and line breaks may be escaped
        except ValueError:
            yield call.arguments
    if reply.raw is not None:
        yield from filter(None, (reply.raw.text, reply.raw.reasoning))


def _words(text: str) -> set[str]:
    """Return the words of a text that tell something, and the saved sets that it names."""
    return {word for word in Tokenizer.words(text) if word not in STOP} | set(_SAVED_SET.findall(text))


# --------------------------------------------------------------------------------------------------------- helpers


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield the texts and numbers that a value holds."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _texts(part)
    else:
        yield str(value)


def _short(text: str) -> str:
    """Return a text in one line, its middle left out where it is long: errors of code stand at the end of it."""
    line, half = flat(text), _LONGEST // 2
    return line if len(line) <= _LONGEST else f"{line[:half]} … {line[-half:]}"


def _tokens(steps: Iterable[Step]) -> int:
    return sum(step.reply.usage.tokens for step in steps)
