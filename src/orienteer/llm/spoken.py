"""Tool calls in words, for servers without `tools` and for models that write a call into their prose."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from orienteer.llm.forms import THOUGHTS, after_draft
from orienteer.llm.schema import json_object, object_of, without_turn_end
from orienteer.records import JsonValue, Message, ToolCall, ToolSpec

_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)  # what follows a backslash is a character, also a brace
_BOX = re.compile(r"(?:(?<!\$)\$++|\\[(\[])?\s*\\boxed\{")
_HALF_END = re.compile(r"(?:<[|｜/]?[^<>\s]{0,34}|(?:(?<!\$)\$++|\\[(\[])?\s*\\\w*|(?<!\$)\$++)\Z")
_MOST_BOXES = 8  # of an answer
_BOX_END = re.compile(r"\A\s*(?:\$+|\\[)\]])")
_BOLD = re.compile(r"(?<![\w*])\*\*(?=[^\s*])([^*]+)(?<=[^\s*])\*\*(?![\w*])")
_WHOLE = re.compile(r"(\*\*|`)([^*`]+)\1\.?")
_STYLED = re.compile(r"\\(?:text|textbf|textit|texttt|textrm|mathrm|mathbf|mathit|mathsf|emph)\s*\{")
_ESCAPED = re.compile(r"\\([{}_%&$#])")
_CALLS = "calls"
# Calls in a forced reply; a small model would go on until it is cut off.
_MOST_FORCED = 4
_WORDS = object_of({"words": {"type": "string"}})
_WORDS_RULE = 'To say something in place of a call, as an answer is said, reply with {"words": TEXT}.'


def call_schema(tools: Sequence[ToolSpec], *, takes_words: bool = False) -> dict[str, JsonValue]:
    """Return the JSON schema of one call of any of these tools; with `takes_words`, also of an object of words."""
    calls: list[JsonValue] = []
    for tool in tools:
        arguments = {"type": "object", **tool.parameters, "additionalProperties": False}
        calls.append(object_of({"name": {"const": tool.name}, "arguments": arguments}))
    return {"oneOf": [*calls, *([_WORDS] if takes_words else [])]}


def calls_schema(tools: Sequence[ToolSpec]) -> dict[str, JsonValue]:
    """Return the JSON schema of an object with one or more calls, in the form of `as_calls`."""
    calls = {"type": "array", "items": call_schema(tools), "minItems": 1, "maxItems": _MOST_FORCED}
    return object_of({_CALLS: calls})


def as_calls(calls: Iterable[ToolCall]) -> str:
    """Return calls as one JSON object, their arguments untouched."""
    return f'{{"{_CALLS}": [{", ".join(map(as_text, calls))}]}}'


def number_of_calls(text: str) -> int:
    """Return the number of calls, sound or not, in an object of calls; 0 for any other text."""
    calls = (json_object(text) or {}).get(_CALLS)
    return len(calls) if isinstance(calls, list) else 0


def words_in(text: str) -> str | None:
    """Return the words of a reply that is an object of words, or None."""
    members = json_object(text) or {}
    words = members.get("words") if len(members) == 1 else None
    return words if isinstance(words, str) else None


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


def after_thinking(text: str) -> str:
    """Return a reasoning model's words after its thoughts, or "" if it was cut off before."""
    words = text[after_draft(text) :].strip()
    return "" if words.startswith(THOUGHTS) else words


def may_be_thinking(words: str) -> bool:
    """Return whether the first words of a reply may still become the beginning of a thought."""
    is_heading = words.startswith("<|") and "<|message|>" not in words
    return is_heading or any(begun.startswith(words) for begun in THOUGHTS)


def bare(text: str) -> str:
    """Return an answer without what only sets it off: bold type, `\\boxed{}`, marks of code around the whole."""
    for _ in range(_MOST_BOXES):
        if (box := _BOX.search(text)) is None or (end := closing_brace(text, box.end())) is None:
            break
        rest = _BOX_END.sub("", text[end + 1 :], 1)
        text = f"{text[: box.start()]}{unstyled(text[box.end() : end])}{rest}".strip()
    whole = _WHOLE.fullmatch(text)
    return whole[2].strip() if whole else _BOLD.sub(r"\1", text)


def bare_so_far(words: str) -> str:
    """Return the beginning of an answer that `bare` reads alike whatever follows: no open mark, no half of an end."""
    words = without_turn_end(_HALF_END.sub("", words)).rstrip()
    for mark in ("**", "`"):
        words = words[: words.rfind(mark)] if words.count(mark) % 2 else words
    box = _BOX.search(words)
    if box is not None and closing_brace(words, box.end()) is None:
        words = words[: box.start()]
    words = words.rstrip()
    return words.removesuffix("*").rstrip() if words.count("*") % 2 else words


def closing_brace(text: str, start: int) -> int | None:
    """Return the index of the brace that closes the one open at `start`, or None."""
    depth = 1
    for sign in _BRACES.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(sign[0], 0)
        if not depth:
            return sign.start()
    return None


def unstyled(inner: str) -> str:
    """Return an answer freed of the marks that only style it."""
    lines = (" ".join(line.split()) for line in inner.splitlines())
    text = "\n".join(line for line in lines if line)
    while True:
        styled = _STYLED.match(text)
        if styled and closing_brace(text, styled.end()) == len(text) - 1:
            text = text[styled.end() : -1].strip()
        elif len(text) > 1 and text[0] == text[-1] == "$" and "$" not in text[1:-1] and text[-2] != "\\":
            text = text[1:-1].strip()
        else:
            return _ESCAPED.sub(r"\1", text)


def as_text(call: ToolCall) -> str:
    """Return a call in the form that the prompt asks for, its arguments untouched."""
    return f'{{"name": {json.dumps(call.name, ensure_ascii=False)}, "arguments": {call.arguments or "{}"}}}'


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
