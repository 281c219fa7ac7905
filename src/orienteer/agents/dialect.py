"""The ways to offer tools to a model: native calls, calls in words, or JSON objects that a schema forces.

In words, calls and results stand between the marks `<tool_call>`, `<tool_response>` and `<tools>`, as Qwen's chat
template writes them, so that any server will do (GraphScout, 003, 3.2 and B.4.1). Calls in words are read in every
dialect: one or several between their marks, or a bare JSON object. The model is told of calls that cannot be read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from orienteer.llm.conversation import MOST_CALLS, Dialect, ModelRequest, Read
from orienteer.llm.forms import SpokenCalls, fault, read_spoken
from orienteer.llm.spoken import (
    after_thinking,
    as_calls,
    as_text,
    call_schema,
    calls_schema,
    in_words,
    number_of_calls,
    words_in,
)
from orienteer.protocols import LanguageModel, manner_of
from orienteer.records import Dialect as DialectName, JsonValue, Message, ToolSpec
from orienteer.text.sentences import CHARACTERS_A_TOKEN
from orienteer.tools.answer import FINISH

_CALL, _CALL_END = "<tool_call>", "</tool_call>"
# What only the program around a model writes, and chat templates do. A node's text that has it could feign a turn, or a
# call of a model that quotes it.
_MARKS = re.compile(
    r"<(?=/?(?:(?:start_of_turn|end_of_turn|s|eos|escape|tools|tool_response|[\w:]*think(?:ing)?)>"
    r"|(?:\w+:)?(?:tool_?calls?|(?:start_)?function(?:_calls?)?|invoke|parameter|arg_key|arg_value)[\s=>])|[|｜])"
    r"|\[(?=/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT|ARGS|CALL_ID|THINK)\])"
    r"|```(?=tool_c)|\bAction(?= Input:)|\bto(?==functions\.)"
    r"|(?<=[\"'])(?:arguments|parameters|args|(?:tool_|action_)?input)(?=[\"']\s*:\s*[\"']?\{)",
    re.IGNORECASE,
)
_RESPONSE = re.compile(r"^[ \t]*<tool_response>", re.MULTILINE)  # at a line's begin: no JSON of a call holds that
REPLY_TOKENS = 1_024
"""Room that a request leaves for its reply: a call takes some 50 tokens, a script of GraphScout's some 300."""
# Characters a token of replies that are mostly ids: if the context is known, none of them may go beyond it.
_DENSEST = 2.75
# Tokens of messages below which nothing more is left out: the prompt and the last result.
_LEAST_ROOM = 512
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

TERSE_RULES = """
Tools:
{tools}

Reply with calls alone:
{{"calls": [{{"name": NAME, "arguments": {{...}}}}, ...]}}
""".rstrip()


class Native:
    """The protocol's own tool calls. Marks of a dialect are made harmless in all results."""

    def written(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], offered: Sequence[ToolSpec]
    ) -> ModelRequest:
        """Return the messages and the tools that are offered."""
        return ModelRequest(tuple(_with_harmless_results(messages)), tuple(offered))

    def read(self, message: Message, *, turn: int) -> Read:
        """Return the reply with its calls, also those in words."""
        return read_calls(message, turn=turn)


class Qwen:
    """Calls in words. Every request has all the tools in its system prompt."""

    def written(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], offered: Sequence[ToolSpec]
    ) -> ModelRequest:
        """Return the messages in Qwen's form, and no tools."""
        return ModelRequest(write_words(messages, tools))

    def read(self, message: Message, *, turn: int) -> Read:
        """Return the reply with its calls."""
        return read_calls(message, turn=turn)


class Terse:
    """A line for each tool in place of its JSON schema, calls as one JSON object: what a small model can afford.

    A server that keeps a schema can be held to such objects (`held`); one that does not is read as it comes.
    """

    def written(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], offered: Sequence[ToolSpec]
    ) -> ModelRequest:
        """Return the messages with results between Qwen's marks and tools as signatures, and no tools."""
        return ModelRequest(write_words(messages, tools, rules=TERSE_RULES, line=signature, write_reply=_as_object))

    def read(self, message: Message, *, turn: int) -> Read:
        """Return the reply with its calls out of their object."""
        read, text = read_calls(message, turn=turn), after_thinking(message.content or "")
        said = len(read.message.tool_calls) + read.left_out
        is_broken = said < number_of_calls(text) or (not said and text.startswith("{"))
        return read._replace(broken=(fault(text),)) if is_broken and not read.broken else read

    @staticmethod
    def call_schema(offered: Sequence[ToolSpec]) -> Mapping[str, JsonValue]:
        """Return the JSON schema of a reply that calls some of these tools."""
        return calls_schema(offered)


class Schema:
    """Calls as JSON objects, to which the server holds the model, for one that passes over tools but keeps a schema.

    Every request has all the tools in its system prompt. A model that is held to calls can say nothing else: where no
    tool ends the course, an object of words may stand in place of a call.
    """

    def written(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], offered: Sequence[ToolSpec]
    ) -> ModelRequest:
        """Return the messages in plain words, and a schema for the reply while tools are offered."""
        takes_words = bool(tools) and all(tool.name != FINISH for tool in tools)
        plain = _with_harmless_results(messages)
        spoken = in_words(tuple(plain), tools=tools, schema=None, takes_words=takes_words)
        return ModelRequest(spoken, schema=call_schema(offered, takes_words=takes_words) if offered else None)

    def read(self, message: Message, *, turn: int) -> Read:
        """Return the reply with its call, or with its words out of their object."""
        read = read_calls(message, turn=turn)
        words = words_in(read.message.content or "") if not read.message.tool_calls else None
        return read if words is None else read._replace(message=Message(role="assistant", content=words or None))


DIALECTS: Mapping[DialectName, Dialect] = {"native": Native(), "qwen": Qwen(), "schema": Schema(), "terse": Terse()}
"""By the name that a trajectory keeps. To change what one writes, rename it: old requests are written again."""


def dialect_for(model: LanguageModel) -> DialectName:
    """Return the dialect of a course with a model: as the model is known to be spoken to, else native calls."""
    return manner_of(model).dialect or "native"


def room_for(model: LanguageModel, tools: Sequence[ToolSpec], most_tokens: int | None) -> int | None:
    """Return the token limit for a request's messages, `most_tokens` or less, or None.

    If the model's context is known, the tools, which every request has, and a reply fit in beside them.
    """
    known = manner_of(model).context_tokens
    if known is None:
        return most_tokens
    offered = sum(len(json.dumps(tool.model_dump())) for tool in tools) // CHARACTERS_A_TOKEN
    room = max(_LEAST_ROOM, int((known - offered - REPLY_TOKENS) * _DENSEST / CHARACTERS_A_TOKEN))
    return room if most_tokens is None else min(room, most_tokens)


def write_words(
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    *,
    rules: str = RULES,
    line: Callable[[ToolSpec], str] | None = None,
    write_reply: Callable[[Message], str] | None = None,
) -> tuple[Message, ...]:
    """Return a conversation in Qwen's form: tools in the system message, calls and results between their marks.

    `rules` say how tools are called, and hold a `line` for each: its JSON schema if no other is given. `write_reply`
    writes an earlier reply with its calls: between marks if no other way is given.

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
            sent.append(Message(role=message.role, content=(write_reply or _in_marks)(message)))
    if tools:
        schemas = ({"type": "function", "function": tool.model_dump()} for tool in tools)  # as Qwen's template has them
        lines = map(line, tools) if line is not None else (json.dumps(each, ensure_ascii=False) for each in schemas)
        listed = rules.format(tools="\n".join(lines))
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
    """Return the members of a list, and nothing for a plain value."""
    if "items" not in schema:
        return ""
    members = schema["items"].get("properties")
    return f": [{{{', '.join(members)}}}]" if members else ": [...]"


def read_calls(message: Message, *, turn: int) -> Read:
    """Return a reply with its calls, whether they are native or in words."""
    text = message.content or ""
    said, *feigned = _RESPONSE.split(after_thinking(text), 1)
    begin = text.rindex(after_thinking(text))
    text = text[: begin + len(said)] if feigned else text
    read = read_spoken(said, turn=turn)
    calls = message.tool_calls or read.calls[:MOST_CALLS]
    if calls:
        text = text[: begin + read.start].strip()
    if message.tool_calls:
        read = SpokenCalls()
    message = Message(role="assistant", content=text or None, tool_calls=calls)
    return Read(message, read.broken, bool(feigned), max(0, len(read.calls) - MOST_CALLS))


def harmless(text: str) -> str:
    """Return a text in which a space breaks up the marks of dialects and chat templates."""
    return _MARKS.sub(r"\g<0> ", text)


def _with_harmless_results(messages: Iterable[Message]) -> Iterable[Message]:
    return (
        message.model_copy(update={"content": harmless(message.content or "")}) if message.role == "tool" else message
        for message in messages
    )


def _as_object(message: Message) -> str:
    parts = (after_thinking(message.content or ""), as_calls(message.tool_calls) if message.tool_calls else "")
    return "\n".join(filter(None, parts)) if message.role == "assistant" else message.content or ""


def _in_marks(message: Message) -> str:
    text = message.content or ""
    if message.role != "assistant":
        return text
    calls = (f"{_CALL}\n{as_text(call)}\n{_CALL_END}" for call in message.tool_calls)
    return "\n".join(part for part in (after_thinking(text), *calls) if part)
