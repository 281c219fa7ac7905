"""Our records in the form of OpenAI's chat completions, and back. Nothing that a server sends is trusted."""

from __future__ import annotations

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from orienteer.llm.forms import object_in, read_spoken
from orienteer.llm.replies import ChatRequest
from orienteer.llm.responses import completion_of
from orienteer.llm.schema import GRAMMAR, without_turn_end
from orienteer.llm.spoken import call_schema, in_words
from orienteer.records import Message, Raw, ToolCall

Way: TypeAlias = Literal["tools", "schema", "text"]
"""How a call is asked for: as a tool call, as JSON by a schema, in words."""
Body: TypeAlias = dict[str, Any]  # Any: JSON of the wire, checked where it is read

# More than any model reads or writes in one call: a larger count of a server is not believed.
_MOST_TOKENS = 1 << 24
_TOKENS = ("return_token_ids", "logprobs")  # the first is vLLM's
STREAM = "stream"
"""The parameter that asks for a reply while it is written."""
_STREAM_NAMED = re.compile(r"\bstream")  # but not "upstream"
_REFUSALS = (400, 404, 405, 422, 501)
# A parameter that an error names, which may stand in the text of a question too.
_NAMED = r"[\"'`]{0}\\?[\"'`]|\b(?:argument|parameter)\b.*\b{0}\b"
_CUT = ("length", "max_tokens", "max_output_tokens", "model_length")
REFUSAL = "refusal"
"""The finish reason of a reply in which the model refuses; its raw text says why."""
_WITHHELD = (REFUSAL, "filter", "safety", "prohibited", "recitation", "error")
_SAMPLING = {"temperature": "temperature", "top_p": "top_p", "max_tokens": "max_tokens", "random_seed": "seed"}


@dataclass(frozen=True, slots=True)
class Answered:
    """The content of a server's reply."""

    message: Message
    truncated: bool
    tokens: tuple[int, int, int] | None
    """Prompt, cached and completion tokens; None if the server does not report them."""
    model: str | None = None
    """The server's name for the model that answered."""
    raw: Raw = Raw()


def way_of(request: ChatRequest, lacks: Set[str]) -> Way | None:
    """Return the best way that this server has to ask for a call or an object; None for prose."""
    if request.tools and "tools" not in lacks:
        return "tools"
    if request.tools or request.reply_schema is not None:
        return "schema" if "response_format" not in lacks else "text"
    return None


def body_of(request: ChatRequest, *, lacks: Set[str], wants_tokens: bool = False, streams: bool = False) -> Body:
    """Return the body of a request, without the parameters that the server lacks.

    `wants_tokens` asks for token ids and log-probabilities, `streams` for a stream that ends with the usage.
    """
    way = way_of(request, lacks)
    body: Body = {"model": request.model, "messages": []}
    schema = None if request.reply_schema is None else dict(request.reply_schema)
    grammar = schema.pop(GRAMMAR, None) if schema is not None else None
    if way == "tools":
        messages: Sequence[Message] = request.messages
        body["tools"] = [{"type": "function", "function": tool.model_dump()} for tool in request.tools]
    else:
        messages, rules = request.messages, schema if way == "text" else None
        if "tools" in lacks or request.tools or rules:
            messages = in_words(messages, tools=request.tools, schema=rules)
    body["messages"] = [_message(message) for message in messages]
    if way == "schema" and grammar is not None and "grammar" not in lacks:
        body["grammar"] = grammar  # llama.cpp takes one of the two
    elif way == "schema":
        schema = call_schema(request.tools) if request.tools else schema or {}
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
    for ours, theirs in _SAMPLING.items():
        value = getattr(request.sampling, ours)
        if value is not None and (theirs not in lacks or theirs == "max_tokens"):
            body["max_completion_tokens" if theirs in lacks else theirs] = value
    if wants_tokens:
        body |= {name: True for name in _TOKENS if name not in lacks}
    if streams and STREAM not in lacks:
        body |= {STREAM: True, "stream_options": {"include_usage": True}}
    return body


def blamed(status: int, text: str, body: Body) -> str | None:
    """Return the parameter of the request that the server refuses, or None if it refuses something else."""
    text = text.lower()
    # The conversation is too long, and the other ways to ask make it longer.
    if "context" in text:
        return None
    for name in _TOKENS:
        if name in body and name in text:
            return name
    if STREAM in body and status in _REFUSALS and _STREAM_NAMED.search(text):
        return STREAM
    for name in ("max_tokens", "temperature", "top_p", "seed"):
        is_named = name in text and ("support" in text or "max_completion_tokens" in text)
        if name != "max_tokens" and status in (400, 422):
            is_named = is_named or re.search(_NAMED.format(name), text) is not None
        if name in body and is_named:
            return name
    for name, word in (("tools", "tool"), ("response_format", "schema"), ("grammar", "grammar")):
        if name in body and (status in (400, 422) or (status in (404, 500, 501) and word in text)):
            return name
    return None


def answer(body: object, request: ChatRequest) -> Answered:
    """Read a server's reply. Raises `ValueError` with the reason if it is not a chat completion."""
    if not isinstance(body, dict):
        raise ValueError("it is not a JSON object")
    if "choices" not in body and "output" in body:
        body = completion_of(body)
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        raise ValueError(f"it has no choices; {body['error']}" if "error" in body else "it has no choices")
    message = choice["message"]
    # Servers differ: thoughts have two names, token ids come in vLLM's form, log-probabilities in the protocol's.
    detail = choice.get("logprobs")
    listed = detail.get("content") if isinstance(detail, dict) else None
    said = _parts(message.get("content"))
    refused, reason = _text(message.get("refusal")) or said.get(REFUSAL), _text(choice.get("finish_reason"))
    sent = message.get("tool_calls") or message.get("function_call")
    raw = Raw(
        text=refused or said.get("text"),
        reasoning=_text(message.get("reasoning_content") or message.get("reasoning")) or said.get("thinking"),
        calls=json.dumps(sent) if sent else None,
        finish_reason=REFUSAL if refused else reason,
        prompt_token_ids=_numbers(body.get("prompt_token_ids"), int),
        token_ids=_numbers(choice.get("token_ids"), int),
        logprobs=_numbers([token.get("logprob") if isinstance(token, dict) else None for token in listed], float)
        if isinstance(listed, list)
        else None,
    )
    is_cut = (raw.finish_reason or "").casefold() in _CUT
    text, calls = _read(raw, sent, request, is_cut=is_cut)
    return Answered(
        message=Message(role="assistant", content=text or None, tool_calls=calls),
        truncated=is_cut,
        tokens=_tokens(body.get("usage")),
        model=_text(body.get("model")),
        raw=raw,
    )


def is_withheld(raw: Raw) -> bool:
    """Return whether the model refused, or the server gave less than it wrote: such a reply says nothing."""
    return any(word in (raw.finish_reason or "").casefold() for word in _WITHHELD)


def _read(raw: Raw, sent: object, request: ChatRequest, *, is_cut: bool) -> tuple[str, tuple[ToolCall, ...]]:
    """Return the words of a reply and its calls. Calls in words stay there if one of them is broken."""
    if is_withheld(raw):
        return "", ()
    text, turn = raw.text or "", len(request.messages)
    calls = _calls(sent, turn=turn)
    if request.tools and not calls:
        spoken = read_spoken(text, turn=turn)
        if spoken.calls and not spoken.broken:
            return text[: spoken.start].strip(), spoken.calls
    elif request.reply_schema is not None and not calls and not is_cut:
        return object_in(text) or text, calls
    return without_turn_end(text), calls


def _parts(content: object) -> dict[str, str]:
    """Return the words of a message's content, a text or a list of parts, by their kind: text, thinking, refusal."""
    said: dict[str, str] = {}
    for part in content if isinstance(content, list) else (content,):
        named = part if isinstance(part, dict) else {"text": part}
        is_thought = "thinking" in named or str(named.get("type")).startswith(("reasoning", "summary"))
        kind = REFUSAL if REFUSAL in named else "thinking" if is_thought else "text"
        held = named.get(kind, named.get("text"))
        words = "".join(_parts(held).values()) if isinstance(held, list) else _text(held)
        if words is not None:
            said[kind] = said.get(kind, "") + words
    return said


def _text(sent: object) -> str | None:
    return _sound(sent) if isinstance(sent, str) else None


_Number = TypeVar("_Number", int, float)


def _numbers(sent: object, kind: type[_Number]) -> tuple[_Number, ...] | None:
    """Return a list of numbers, or None: a mask of half a reply would be useless."""
    if not isinstance(sent, list):
        return None
    wanted = (int, float) if kind is float else (int,)
    # `bool` is an `int` for Python; the bound excludes infinity, which JSON cannot represent.
    is_sound = all(type(number) in wanted and abs(number) < _MOST_TOKENS for number in sent)
    return tuple(kind(number) for number in sent) if is_sound else None


def _message(message: Message) -> Body:
    wire: Body = {"role": message.role, "content": message.content}
    if message.tool_calls:
        wire["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    elif message.content is None:
        wire["content"] = ""  # null is allowed only with calls
    if message.tool_call_id is not None:
        wire["tool_call_id"] = message.tool_call_id
    return wire


def _calls(sent: object, *, turn: int) -> tuple[ToolCall, ...]:
    calls: dict[str, ToolCall] = {}
    for place, entry in enumerate(sent if isinstance(sent, list) else (sent,)):
        function = entry.get("function", entry) if isinstance(entry, dict) else None  # some leave out the inner object
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            continue
        call_id = entry.get("id")
        if not isinstance(call_id, str) or not call_id or call_id in calls:
            call_id = f"call_{turn}_{place}"
        arguments = function.get("arguments")
        # A few servers send them parsed, against the protocol.
        if not isinstance(arguments, str):
            arguments = json.dumps({} if arguments is None else arguments, ensure_ascii=False)
        calls[call_id] = ToolCall(id=_sound(call_id), name=_sound(function["name"]), arguments=_sound(arguments))
    return tuple(calls.values())


def _tokens(usage: object) -> tuple[int, int, int] | None:
    if not isinstance(usage, dict):
        return None
    prompt, completion = plausible(usage.get("prompt_tokens")), plausible(usage.get("completion_tokens"))
    if prompt is None or completion is None:
        return None
    details = usage.get("prompt_tokens_details")
    cached = plausible(details.get("cached_tokens")) if isinstance(details, dict) else None
    return prompt, min(cached or 0, prompt), completion


def plausible(tokens: object) -> int | None:
    """Return a server's number of tokens, or None if it is not plausible."""
    if not isinstance(tokens, int) or isinstance(tokens, bool):
        return None
    return tokens if 0 <= tokens < _MOST_TOKENS else None


def _sound(text: str) -> str:
    """Return the text with halves of surrogate pairs replaced; a reply that is cut inside an emoji ends in one."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# A chat completion as a stream of server-sent events, each a chunk of the message. Lines that are not chunks are
# ignored, and the completion that they add up to is read like any other reply.

_DATA = "data:"
_END = "[DONE]"
_TEXTS = ("reasoning_content", "reasoning", REFUSAL)
_OF_KIND = {"text": "content", "thinking": "reasoning", REFUSAL: REFUSAL}
_ENDED = ("response.completed", "response.incomplete", "response.failed")  # the events that end a response


class PartReader:
    """Passes on the words of a reply while its bytes arrive."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def feed(self, piece: bytes) -> None:
        """Read some bytes of the stream. Raises whatever the listener raises."""
        *lines, self._rest = (self._rest + self._decoder.decode(piece)).split("\n")
        for line in lines:
            if words := _words(_chunk(line)):
                self._on_text(words)


def is_stream(text: str) -> bool:
    """Return whether a body is a stream of events: servers that cannot stream answer in one piece."""
    return text.lstrip().startswith((_DATA, ":", "event:"))


def completion_in(text: str) -> dict[str, Any]:  # Any: JSON of the wire, checked where it is read
    """Return the completion that a stream adds up to, in the form of a reply in one piece.

    Raises `ValueError` if the stream breaks off.
    """
    whole: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant"}
    choice: dict[str, Any] = {"message": message}
    has_ended = False
    for line in text.split("\n"):
        has_ended = has_ended or line.removeprefix(_DATA).strip() == _END
        chunk = _chunk(line)
        if "error" in chunk:
            return chunk
        if chunk.get("type") in _ENDED and isinstance(chunk.get("response"), dict):
            return dict(chunk["response"])
        whole |= {name: chunk[name] for name in ("model", "usage") if chunk.get(name) is not None}
        if (reason := _choice(chunk).get("finish_reason")) is not None:
            choice["finish_reason"] = reason
        delta = _delta(chunk)
        said = {_OF_KIND[kind]: words for kind, words in _parts(delta.get("content")).items()}
        for name, words in (*said.items(), *((name, delta.get(name)) for name in _TEXTS)):
            if isinstance(words, str):
                message[name] = message.get(name, "") + words
    if not has_ended and "finish_reason" not in choice:
        raise ValueError("the stream of its reply broke off")
    return {**whole, "choices": [choice]}


def _chunk(line: str) -> dict[str, Any]:
    """Return the chunk of a line, which is empty for a line without one."""
    if not line.startswith(_DATA):
        return {}
    try:
        chunk = json.loads(line.removeprefix(_DATA))
    except (ValueError, RecursionError):
        return {}
    return chunk if isinstance(chunk, dict) else {}


def _words(chunk: dict[str, Any]) -> str | None:
    """Return the words of a chunk that are said, and not thought."""
    if chunk.get("type") == "response.output_text.delta":
        return _text(chunk.get("delta"))
    return _parts(_delta(chunk).get("content")).get("text")


def _choice(chunk: dict[str, Any]) -> dict[str, Any]:
    """Return the first choice of a chunk; the last chunk, with the usage, has none."""
    choices = chunk.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}


def _delta(chunk: dict[str, Any]) -> dict[str, Any]:
    delta = _choice(chunk).get("delta")
    return delta if isinstance(delta, dict) else {}
