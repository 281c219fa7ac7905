"""How tools are offered to a model: by a server's native calls, or in words, as Qwen's chat template writes them.

In words, calls and results stand between the marks `<tool_call>`, `<tool_response>` and `<tools>`, so that any server
will do (GraphScout, 003, 3.2 and B.4.1). Calls in words are read in either dialect: one or several between their
marks, or a bare JSON object. The model is told of calls that cannot be read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from orienteer.llm.conversation import MOST_CALLS, Dialect, Read
from orienteer.llm.spoken import after_thinking, as_text, calls_in
from orienteer.records import Message, ToolCall, ToolSpec

_CALL, _CALL_END = "<tool_call>", "</tool_call>"
# What only the program around a model writes, and chat templates do. A node's text that has it could feign a turn.
_MARKS = re.compile(
    r"<(?=/?(?:tool_call|tool_response|tools|think|start_of_turn|end_of_turn|s)>|[|｜])"
    r"|\[(?=/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT)\])",
    re.IGNORECASE,
)
_RESPONSE = re.compile(r"^[ \t]*<tool_response>", re.MULTILINE)  # at a line's begin: no JSON of a call holds that
_LENIENT = json.JSONDecoder(strict=False)
_MOST_SHOWN = 200  # characters of a broken call that its refusal repeats
RULES = """
# Tools

These functions are there to be called; each line is the JSON schema of one:
<tools>
{tools}
</tools>

To call one write a JSON object of its name and its arguments between these two marks, then stop. Several calls may
follow one another. What a call gives comes back between <tool_response> marks; never write these yourself.
<tool_call>
{{"name": NAME, "arguments": {{...}}}}
</tool_call>
""".rstrip()

COMPACT_RULES = """
Tools:
{tools}

Call them so:
<tool_call>
{{"name": NAME, "arguments": {{...}}}}
</tool_call>
""".rstrip()


class Native:
    """The protocol's own tool calls. Marks of a dialect are made harmless in all results."""

    def __init__(self, *, reads_words: bool = False) -> None:
        """With `reads_words`, calls that a model writes into its prose are found too."""
        self._reads_words = reads_words

    def written(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], offered: Sequence[ToolSpec]
    ) -> tuple[tuple[Message, ...], tuple[ToolSpec, ...]]:
        """Return the messages and the tools that are offered."""
        plain = (
            message.model_copy(update={"content": harmless(message.content or "")})
            if message.role == "tool"
            else message
            for message in messages
        )
        return tuple(plain), tuple(offered)

    def read(self, message: Message, *, turn: int) -> Read:
        """Return the reply as it is, or with the calls that it makes in words."""
        return read_calls(message, turn=turn) if self._reads_words else Read(message)


class Qwen:
    """Calls in words. Every request has all the tools in its system prompt."""

    def written(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], offered: Sequence[ToolSpec]
    ) -> tuple[tuple[Message, ...], tuple[ToolSpec, ...]]:
        """Return the messages in Qwen's form, and no tools beside them."""
        return write_words(messages, tools), ()

    def read(self, message: Message, *, turn: int) -> Read:
        """Return the reply with its calls."""
        return read_calls(message, turn=turn)


class Compact(Qwen):
    """Qwen's form with a line for each tool in place of its JSON schema: what a small model learns and can afford."""

    def written(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], offered: Sequence[ToolSpec]
    ) -> tuple[tuple[Message, ...], tuple[ToolSpec, ...]]:
        """Return the messages in Qwen's form, tools as signatures, and no tools beside them."""
        return write_words(messages, tools, rules=COMPACT_RULES, line=signature), ()


DIALECTS: Mapping[str, Dialect] = {"native": Native(), "qwen": Qwen(), "compact": Compact()}
"""By the name that a trajectory keeps. To change what one writes, rename it: old requests are written again."""


def write_words(
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    *,
    rules: str = RULES,
    line: Callable[[ToolSpec], str] | None = None,
) -> tuple[Message, ...]:
    """Return a conversation in Qwen's form: tools in the system message, calls and results between their marks.

    `rules` say how tools are called, and hold a `line` for each: its JSON schema where no other is given.

    The thoughts of earlier replies are left out, for they take much room.
    """
    sent: list[Message] = []
    for message in messages:
        if message.role == "tool":
            response = f"<tool_response>\n{harmless(message.content or '')}\n</tool_response>"
            if sent[-1].role == "user" and (sent[-1].content or "").startswith("<tool_response>"):
                response = f"{sent.pop().content}\n{response}"
            sent.append(Message(role="user", content=response))
        elif message.role == "user" and sent and sent[-1].role == "user":  # a notice after results
            sent.append(Message(role="user", content=f"{sent.pop().content}\n\n{message.content or ''}"))
        else:
            sent.append(Message(role=message.role, content=_in_marks(message)))
    if tools:
        listed = rules.format(tools="\n".join(map(line or _json_of, tools)))
        sent[0] = Message(role="system", content=f"{sent[0].content or ''}\n{listed}")
    return tuple(sent)


def signature(tool: ToolSpec) -> str:
    """Return a tool as a line.

    >>> signature(ToolSpec(name="follow", description="", parameters={"properties": {"start": {"type": "string"},
    ...     "steps": {"items": {"properties": {"edge": {}, "type": {}}}}}, "required": ["start", "steps"]}))
    'follow(start, steps: [{edge, type}])'
    """
    properties: Mapping[str, Any] = tool.parameters.get("properties", {})  # Any: a JSON schema
    required = tool.parameters.get("required", ())
    parts = (f"{name}{'' if name in required else '?'}{_form(schema)}" for name, schema in properties.items())
    return f"{tool.name}({', '.join(parts)})"


def _form(schema: Mapping[str, Any]) -> str:  # Any: a JSON schema
    """Return what a list holds, and nothing for a plain value."""
    if "items" not in schema:
        return ""
    members = schema["items"].get("properties")
    return f": [{{{', '.join(members)}}}]" if members else ": [...]"


def _json_of(tool: ToolSpec) -> str:
    """Return the JSON schema of a tool, as Qwen's chat template writes it."""
    return json.dumps({"type": "function", "function": tool.model_dump()}, ensure_ascii=False)


def read_calls(message: Message, *, turn: int) -> Read:
    """Return a reply with its calls, whether they are native or in words."""
    text = message.content or ""
    spoken, *feigned = _RESPONSE.split(after_thinking(text), 1)
    begin = text.rindex(after_thinking(text))
    text = text[: begin + len(spoken)] if feigned else text
    if message.tool_calls:
        return Read(message.model_copy(update={"content": _before(text, begin) or None}), feigned=bool(feigned))
    if text.find(_CALL, begin) < 0:
        spoken_calls = calls_in(spoken)
        if not spoken_calls:
            return Read(message.model_copy(update={"content": text or None}), feigned=bool(feigned))
        parts, broken = [(call.name, call.arguments) for call in spoken_calls], list[str]()
        text = text[: begin + spoken_calls[0].start].strip()
    else:
        parts, broken = _marked(spoken)
        text = text if broken and not parts else _before(text, begin)
    left_out = max(0, len(parts) - MOST_CALLS)
    calls = tuple(
        ToolCall(id=f"call_{turn}_{place}", name=name, arguments=arguments)
        for place, (name, arguments) in enumerate(parts[:MOST_CALLS])
    )
    message = Message(role="assistant", content=text or None, tool_calls=calls)
    return Read(message, tuple(broken), bool(feigned), left_out)


def harmless(text: str) -> str:
    """Return a text in which a space breaks up the marks of dialects and chat templates."""
    return _MARKS.sub(r"\g<0> ", text)


def _marked(text: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the name and arguments of each call between marks, and a sentence for each that cannot be read."""
    parts: list[tuple[str, str]] = []
    broken: list[str] = []
    at = text.find(_CALL)
    while at >= 0 and len(parts) + len(broken) <= MOST_CALLS:
        begin = at + len(_CALL)
        end = text.find(_CALL_END, _past_object(text, begin))  # a mark inside the JSON ends nothing
        inner = text[begin : len(text) if end < 0 else end].strip()
        calls = calls_in(inner) or calls_in(_on_one_line(inner))
        parts += [(call.name, call.arguments) for call in calls]
        if not calls:
            broken.append(_fault(inner))
        at = -1 if end < 0 else text.find(_CALL, end)
    return parts, broken


def _past_object(text: str, begin: int) -> int:
    """Return where the JSON object that comes next ends; `begin` where no object comes next."""
    place = text.find("{", begin)
    if place < 0 or text[begin:place].strip():
        return begin
    try:
        return _LENIENT.raw_decode(text, place)[1]
    except (ValueError, RecursionError):
        return begin


def _on_one_line(inner: str) -> str:
    """Return JSON in strict form although its texts hold raw line breaks, as small models write; empty for no JSON."""
    try:
        value, _ = _LENIENT.raw_decode(inner)
        return json.dumps(value)  # in ASCII: a half of a surrogate pair could not be written down
    except (ValueError, RecursionError):
        return ""


def _fault(inner: str) -> str:
    shown = inner if len(inner) <= _MOST_SHOWN else f"{inner[:_MOST_SHOWN]} ..."
    try:
        json.loads(inner)
    except (ValueError, RecursionError) as error:
        why = f"it is no JSON ({error})" if isinstance(error, ValueError) else "it nests too deeply"
    else:
        why = 'it needs the members "name" and "arguments"'
    return f"A tool call could not be read: {why}. It was: {shown}"


def _before(text: str, begin: int) -> str:
    """Return the words of a reply before its first call."""
    at = text.find(_CALL, begin)
    return (text if at < 0 else text[:at]).strip()


def _in_marks(message: Message) -> str:
    text = message.content or ""
    if message.role != "assistant":
        return text
    calls = (f"{_CALL}\n{as_text(call)}\n{_CALL_END}" for call in message.tool_calls)
    return "\n".join(part for part in (after_thinking(text), *calls) if part)
