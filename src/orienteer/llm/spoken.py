"""Tool calls in words, for servers without `tools` and for models that write a call into their prose."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from orienteer.llm.schema import decode
from orienteer.records import JsonValue, Message, ToolCall, ToolSpec

THINK = "<think>"
"""The beginning of a reasoning model's thoughts."""
# Some servers put the opening mark into the prompt, so that only the closing one is left.
_DRAFT = re.compile(r"\s*<think>.*?</think>|.*?</think>[ \t]*(?=\n)", re.DOTALL)
_BRACE = re.compile(r'\{(?=\s*["}])')  # of an object: a name follows, or its end
_MOST_READINGS = 8  # of a character: calls stand in few lists and objects
_MOST_FAILURES = 200  # each costs a look at the whole text: Python counts its lines for the error
_CALLS = "calls"
_OPENING = re.compile(r'\{\s*"calls"\s*:\s*\[\s*$')
# Calls in a forced reply; a small model would go on until it is cut off.
_MOST_FORCED = 4
_WORDS: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"words": {"type": "string"}},
    "required": ["words"],
    "additionalProperties": False,
}
_WORDS_RULE = 'To say something in place of a call, as an answer is said, reply with {"words": TEXT}.'


class Spoken(NamedTuple):
    """A call in a text, with its offset."""

    name: str
    arguments: str
    """Exactly as the model wrote them."""
    start: int


def call_schema(tools: Sequence[ToolSpec], *, takes_words: bool = False) -> dict[str, JsonValue]:
    """Return the JSON schema of one call of any of these tools; with `takes_words`, also of an object of words."""
    calls: list[JsonValue] = []
    for tool in tools:
        arguments = {"type": "object", **tool.parameters, "additionalProperties": False}
        calls.append(
            {
                "type": "object",
                "properties": {"name": {"const": tool.name}, "arguments": arguments},
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
        )
    return {"oneOf": [*calls, *([_WORDS] if takes_words else [])]}


def calls_schema(tools: Sequence[ToolSpec]) -> dict[str, JsonValue]:
    """Return the JSON schema of an object with one or more calls, in the form of `as_calls`."""
    calls = {"type": "array", "items": call_schema(tools), "minItems": 1, "maxItems": _MOST_FORCED}
    return {
        "type": "object",
        "properties": {_CALLS: calls},
        "required": [_CALLS],
        "additionalProperties": False,
    }


def as_calls(calls: Iterable[ToolCall]) -> str:
    """Return calls as one JSON object, their arguments untouched."""
    return f'{{"{_CALLS}": [{", ".join(map(as_text, calls))}]}}'


def number_of_calls(text: str) -> int:
    """Return the number of calls, sound or not, in an object of calls; 0 for any other text."""
    calls = _json_object(text).get(_CALLS)
    return len(calls) if isinstance(calls, list) else 0


def before_calls(text: str) -> str:
    """Return the words before an object of calls, without its opening."""
    return _OPENING.sub("", text).strip()


def words_in(text: str) -> str | None:
    """Return the words of a reply that is an object of words, or None."""
    members = _json_object(text)
    words = members.get("words") if len(members) == 1 else None
    return words if isinstance(words, str) else None


def _json_object(text: str) -> dict[str, JsonValue]:
    try:
        value = decode(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def in_words(
    messages: Sequence[Message],
    *,
    tools: Sequence[ToolSpec],
    schema: Mapping[str, JsonValue] | None,
    takes_words: bool = False,
) -> tuple[Message, ...]:
    """Return the conversation without tool calls: the tools in the system prompt, calls and results as text.

    With `takes_words` the rules allow an object of words in place of a call.
    """
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    rules = _rules(tools, schema)
    if takes_words:
        rules += f"\n{_WORDS_RULE}"
    written = [_in_words(message, names) for message in messages]
    if rules and written and written[0].role == "system":
        written[0] = Message(role="system", content=f"{written[0].content or ''}\n\n{rules}".lstrip())
    elif rules:
        written.insert(0, Message(role="system", content=rules))
    # Many chat templates refuse two user messages in a row, so neighbours of one role are joined.
    joined: list[Message] = []
    for message in written:
        if joined and joined[-1].role == message.role:
            content = f"{joined[-1].content or ''}\n\n{message.content or ''}"
            joined[-1] = Message(role=message.role, content=content)
        else:
            joined.append(message)
    return tuple(joined)


def calls_in(text: str) -> tuple[Spoken, ...]:
    """Return the calls in a text: JSON objects with a name and arguments, anywhere in it."""
    calls: list[Spoken] = []
    begin = _after_draft(text)
    for place, end in _objects(text, begin):
        if place >= begin and (call := _call(_members(text, place), place)) is not None:
            calls.append(call)
            begin = end  # inside a call are its arguments
    return tuple(calls)


def object_in(text: str) -> str | None:
    """Return the first JSON object in a text, as text, or None."""
    return next((text[place:end] for place, end in _objects(text, _after_draft(text))), None)


def after_thinking(text: str) -> str:
    """Return a reasoning model's words after its thoughts, or "" if it was cut off before."""
    words = text[_after_draft(text) :].strip()
    return "" if words.startswith(THINK) else words


def as_text(call: ToolCall) -> str:
    """Return a call in the form that the prompt asks for, its arguments untouched."""
    return f'{{"name": {json.dumps(call.name, ensure_ascii=False)}, "arguments": {call.arguments or "{}"}}}'


def _after_draft(text: str) -> int:
    """Return the offset of the end of a reasoning model's thoughts; a call in them is only considered."""
    thought = _DRAFT.match(text)
    return thought.end() if thought else 0


def _rules(tools: Sequence[ToolSpec], schema: Mapping[str, JsonValue] | None) -> str:
    if tools:
        listed = "\n".join(
            f"- {tool.name}: {tool.description}\n  arguments: {json.dumps(tool.parameters, ensure_ascii=False)}"
            for tool in tools
        )
        return (
            f"You have these tools; the form of their arguments is given as JSON schema.\n{listed}\n"
            'Reply with one call and nothing else, as a JSON object: {"name": NAME, "arguments": {...}}'
        )
    if schema is not None:
        return f"Reply with one JSON object and nothing else. Its JSON schema: {json.dumps(schema, ensure_ascii=False)}"
    return ""


def _in_words(message: Message, names: Mapping[str, str]) -> Message:
    if message.role == "tool":
        name = names.get(message.tool_call_id or "", "the tool")
        return Message(role="user", content=f"Result of {name}:\n{message.content or ''}")
    if message.tool_calls:
        parts = [message.content or "", *map(as_text, message.tool_calls)]
        return Message(role=message.role, content="\n".join(part for part in parts if part))
    return message


def _objects(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the offsets of the begin and the end of each JSON object in a text, nested ones too, in order."""
    scan = json.JSONDecoder().raw_decode
    # An untrusted text may have braces without end. The search gives up after some that begin no object, or when it
    # has read each character several times.
    room, failures = _MOST_READINGS * len(text), 0
    for brace in _BRACE.finditer(text, start):
        place = brace.start()
        try:
            end = scan(text, place)[1]
        except (ValueError, RecursionError) as error:
            # This brace begins no object.
            failures += 1
            room -= getattr(error, "pos", place) - place
        else:
            room -= end - place
            yield place, end
        if room < 0 or failures > _MOST_FAILURES:
            return


def _members(text: str, start: int) -> dict[str, str]:
    """Return the members of the JSON object at `start`, each value in its original text."""
    scan = json.JSONDecoder().raw_decode
    members: dict[str, str] = {}
    place = _skip(text, start + 1)
    while text[place] != "}":
        name, place = scan(text, place)
        begin = _skip(text, _skip(text, place) + 1)
        _, end = scan(text, begin)
        members[name] = text[begin:end]
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return members


def _skip(text: str, place: int) -> int:
    while text[place] in " \t\r\n":
        place += 1
    return place


def _call(members: Mapping[str, str], start: int) -> Spoken | None:
    written = members.get("arguments", members.get("parameters"))
    if written is None or "name" not in members:
        return None
    try:
        name = decode(members["name"])
        inner = decode(written) if written.startswith('"') else None  # some models quote the object once more
    except ValueError:
        return None
    if not isinstance(name, str):
        return None
    return Spoken(name, inner if isinstance(inner, str) else written, start)
