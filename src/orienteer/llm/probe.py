"""Finds out what a server really does, by seven tiny requests: many accept a parameter and silently ignore it.

The words and the parameters contradict each other on purpose ("Say hello." with a schema of calls), so only a server
that respects the parameter answers as the parameter asks.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from orienteer.errors import ModelError
from orienteer.llm.abilities import Abilities, Outcome
from orienteer.llm.openai import OpenAIModel, Server
from orienteer.llm.replies import ChatRequest
from orienteer.llm.schema import GRAMMAR, JsonSchema, decode, faults
from orienteer.llm.spoken import call_schema
from orienteer.llm.wire import Answered, Body, blamed, body_of, plausible
from orienteer.records import JsonValue, Message, Sampling, ToolSpec, Usage

if TYPE_CHECKING:
    import httpx2

_PARAMETERS: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
_TOOLS = (
    ToolSpec(name="weather", description="Tell the weather of a city.", parameters=_PARAMETERS),
    ToolSpec(name="population", description="Tell how many people live in a city.", parameters=_PARAMETERS),
)
_TWO_CALLS = "What is the weather in Oslo, and what is it in Rome? Call weather twice now, once for each city."
_NO_CALL = "Say hello."
_GRAMMAR = 'root ::= "{\\"city\\": " ("\\"Oslo\\"" | "\\"Rome\\"") "}"'
_LONG = "Write 60 random digits, separated by spaces, and nothing else."
# The limit of the replies that should be cut: 60 digits take more.
_SHORT_TOKENS = 16
# The limit of the replies that should be calls: two of them take some 60; a model that thinks first takes more.
_CALL_TOKENS = 400
_SEEDS = (7, 7, 8)
# Statuses of servers for abilities that they lack; llama-cpp-python fails with 500 over `tool_choice`.
_REFUSALS = (400, 404, 422, 500, 501)
_PAGE_SECONDS = 5.0
# The pages where llama.cpp, LM Studio and Ollama report the context that they run a model with.
_OWN_PAGES = (
    ("props", "default_generation_settings"),
    ("api/v0/models", "data"),
    ("api/ps", "models"),
)
# Its names in LM Studio, vLLM, OpenRouter and Ollama, Groq, llama.cpp.
_CONTEXTS = ("loaded_context_length", "max_model_len", "context_length", "context_window", "n_ctx")


class Probe:
    """Probes the server of one model."""

    def __init__(self, model: OpenAIModel) -> None:
        self._model = model
        self._lacks: frozenset[str] = frozenset()
        self._usage = Usage()

    def abilities(self) -> Abilities:
        """Return the server's abilities. Raises `ModelError` if it is unreachable or refuses the plainest request.

        The parameters that a plain request was refused for are left out of all others.
        """
        plain = []
        for seed in _SEEDS:
            sampling = Sampling(temperature=1.0, max_tokens=_SHORT_TOKENS, random_seed=seed)
            request = ChatRequest.of(self._model.name, (Message(role="user", content=_LONG),), sampling=sampling)
            plain.append(self._reply_to(request))
        first, again, other = (reply.raw.text for reply in plain)
        if "seed" in self._lacks:
            seed_outcome: Outcome = "refused"
        elif not first or first == again == other:  # equal replies to all seeds say nothing
            seed_outcome = "unknown"
        else:
            seed_outcome = "kept" if first == again else "ignored"
        offered = self._reply_if_accepted(_TWO_CALLS)
        required = self._reply_if_accepted(_NO_CALL, tool_choice="required")
        held = self._reply_if_accepted(_NO_CALL, call_schema(_TOOLS))
        bound = self._reply_if_accepted(_NO_CALL, {GRAMMAR: _GRAMMAR})
        return Abilities(
            url=self._model.base_url,
            model=self._model.name,
            probed=datetime.now(UTC).isoformat(timespec="seconds"),
            tools=_calls(offered, 1),
            parallel_calls=_calls(offered, 2) if offered is not None and offered.message.tool_calls else "unknown",
            required_tools=_calls(required, 1),
            json_schema=_follows(held, lambda value: not faults(value, call_schema(_TOOLS))),
            grammar=_follows(bound, lambda value: value in ({"city": "Oslo"}, {"city": "Rome"})),
            length_limit=_limited(plain[0]),
            logprobs=self._given("logprobs", plain[0].raw.logprobs),
            token_ids=self._given("return_token_ids", plain[0].raw.token_ids),
            usage="kept" if plain[0].tokens is not None else "ignored",
            seed=seed_outcome,
            context_tokens=_context(self._model),
            lacks=tuple(sorted(self._lacks)),
            spent=self._usage,
        )

    def _reply_to(self, request: ChatRequest) -> Answered:
        """Return the reply to a request, sent each time without the parameter that was refused. Raises `ModelError`."""
        while True:
            body = body_of(request, lacks=self._lacks, wants_tokens=True)
            reply, took = self._sent(body)
            if reply.is_success:
                return self._read(reply, request, took)
            lacking = blamed(reply.status_code, reply.text, body)
            if lacking is None:
                raise self._model.server.failure(reply)
            self._lacks |= {lacking}

    def _reply_if_accepted(self, words: str, schema: JsonSchema | None = None, **more: str) -> Answered | None:
        """Return the reply to a request with a schema, or with tools; None if it is refused."""
        request = ChatRequest.of(
            self._model.name,
            (Message(role="user", content=words),),
            () if schema else _TOOLS,
            schema,
            Sampling(temperature=0.0, max_tokens=_CALL_TOKENS),
        )
        reply, took = self._sent({**body_of(request, lacks=self._lacks), **more})
        if reply.is_success:
            return self._read(reply, request, took)
        if reply.status_code in _REFUSALS:
            return None
        raise self._model.server.failure(reply)

    def _sent(self, body: Body) -> tuple[httpx2.Response, float]:
        """Return the reply to a body, and the seconds that it took."""
        began = time.monotonic()
        return self._model.server.complete(body), time.monotonic() - began

    def _read(self, reply: httpx2.Response, request: ChatRequest, seconds: float) -> Answered:
        read = self._model.read(reply, request)
        self._usage += self._model.usage_of(read, seconds)
        return read

    def _given(self, parameter: str, values: tuple[float, ...] | None) -> Outcome:
        if parameter in self._lacks:
            return "refused"
        return "kept" if values else "ignored"


def _context(model: OpenAIModel) -> int | None:
    """Return the context length that the server reports, or None."""
    base = model.base_url.rstrip("/")
    root = base.removesuffix("/v1")
    pages = [(f"{base}/models", "data")]
    if root != base:
        pages += [(f"{root}/{path}", member) for path, member in _OWN_PAGES]
    config = model.config.model_copy(update={"retries": 0, "timeout_seconds": _PAGE_SECONDS})
    with closing(Server(model.name, config)) as server:
        for url, member in pages:
            try:
                page = json.loads(server.get(url).text)
            except (ModelError, ValueError, RecursionError):  # no such page
                continue
            # Some servers list their models, with the name under one of three keys; others describe a single one.
            entry = page.get(member) if isinstance(page, dict) else None
            if not isinstance(entry, dict):
                entries = [each for each in entry if isinstance(each, dict)] if isinstance(entry, list) else []
                names = ("id", "name", "model")
                named = [each for each in entries if model.name in map(each.get, names)]
                entry = named[0] if named else entries[0] if len(entries) == 1 else {}
            for name in _CONTEXTS:
                if tokens := plausible(entry.get(name)):
                    return tokens
    return None


def _calls(reply: Answered | None, number: int) -> Outcome:
    """Return whether a reply makes `number` calls; a reply that was cut short is inconclusive."""
    if reply is None:
        return "refused"
    calls = [call for call in reply.message.tool_calls if call.name in {tool.name for tool in _TOOLS}]
    if len(calls) >= number:
        return "kept"
    return "unknown" if reply.truncated else "ignored"


def _follows(reply: Answered | None, is_held: Callable[[JsonValue], bool]) -> Outcome:
    """Return whether a reply is JSON and nothing else, as it was to be."""
    if reply is None:
        return "refused"
    if reply.truncated:
        return "unknown"
    try:
        return "kept" if is_held(decode(reply.raw.text or "")) else "ignored"
    except ValueError:
        return "ignored"


def _limited(reply: Answered) -> Outcome:
    """Return whether a reply ended at its limit and was marked as cut."""
    if reply.truncated:
        return "kept"
    written = reply.tokens[2] if reply.tokens is not None else 0
    return "ignored" if written >= _SHORT_TOKENS else "unknown"
