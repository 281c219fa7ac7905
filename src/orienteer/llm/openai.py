"""Any server that speaks OpenAI's chat completions: OpenAI, vLLM, Ollama, llama.cpp, LM Studio, OpenRouter."""

from __future__ import annotations

import json
import logging
import random
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from email.utils import mktime_tz, parsedate_tz
from typing import TYPE_CHECKING, Literal, Self
from urllib.parse import unquote, urlsplit

from pydantic import Field, model_validator

from orienteer.errors import BadOption, ModelError, ModelLate, ModelRefused
from orienteer.llm import wire
from orienteer.llm.address import is_address, show
from orienteer.llm.budget import price_of
from orienteer.llm.forms import object_in
from orienteer.llm.replies import ChatRequest
from orienteer.llm.responses import response_body
from orienteer.options import Options
from orienteer.records import JsonValue, Manner, Message, Price, Reply, Sampling, ToolSpec, Usage
from orienteer.version import __version__

if TYPE_CHECKING:
    import httpx2

    from orienteer.llm.abilities import Abilities

logger = logging.getLogger(__name__)
retries = logging.getLogger(f"{__name__}.retries")
"""Logs each pause before a further attempt: its seconds, its number, and how many there may be."""

OPENAI_URL = "https://api.openai.com/v1"
CHAT = "chat/completions"
_RESPONSES = "responses"
_PASSING = (408, 409, 429)  # statuses of failures that may pass, as may all from 500 up but these
# A gateway's statuses for a server that was too slow: it may still be at it, so that asking again pays twice.
_LATE = (504, 524)
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0  # seconds before a further attempt, doubled each time
_LONGEST_TIMEOUT = 1_000_000  # seconds: systems wait for a connection no longer than twice as long
_MOST_RETRIES = 100
# Replies without a call, a repair turn among them, after which a server is taken to ignore how it is asked.
_PROSE_BEFORE_DOUBT = 2


class OpenAIConfig(Options):
    """The server of a model, with its time-out, retries and price."""

    base_url: str | None = Field(default=None, repr=False)
    """The server's address, usually ending in /v1; it may have a password. None is OpenAI's own."""
    api_key: str | None = Field(default=None, repr=False)
    """Optional with a base URL."""
    timeout_seconds: float = Field(default=120.0, gt=0, le=_LONGEST_TIMEOUT)
    """The limit of one attempt in all. A server that asks for a longer pause is not asked again."""
    retries: int = Field(default=4, ge=0, le=_MOST_RETRIES)
    """Further attempts after a failed connection, 429 or 5xx, with a growing pause or that of Retry-After."""
    concurrency: int = Field(default=8, ge=1)
    """Calls under way at one time; further ones wait."""
    mode: Literal["auto", "tools", "schema", "text"] = "auto"
    """How calls are asked for. `auto` begins with tools and steps down if the server lacks them."""
    records_tokens: bool = False
    """Ask for token ids and log-probabilities with each reply, for training: vLLM returns both."""
    price: Price | None = None
    """The model's price. None is the list price on OpenAI's own server, and unknown on any other."""

    @model_validator(mode="after")
    def _check_access(self) -> Self:
        if self.base_url is not None and not is_address(self.base_url):
            raise BadOption(f"the base URL must look like http://localhost:8000/v1, is {show(self.base_url)!r}")
        if self.base_url is not None and ("?" in self.base_url or "#" in self.base_url):
            raise BadOption(
                f"the base URL {show(self.base_url)!r} goes on with ? or #: leave that out, keys belong in api_key"
            )
        if self.api_key is not None and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise BadOption("the API key holds characters that no key has; was it copied whole?")
        return self


class Server:
    """A server that speaks OpenAI's protocol, asked for one model: its key, its attempts and its failures."""

    def __init__(self, model: str, config: OpenAIConfig) -> None:
        self.model, self.config = model, config
        self.url = show(config.base_url or OPENAI_URL)
        """The address, without a password, which may be shown."""
        self.price: Price | None = config.price
        """What the model costs, or None if that is not known."""
        if self.price is None and urlsplit(self.url).hostname == urlsplit(OPENAI_URL).hostname:
            self.price = price_of(model)
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None
        self._path: str | None = None
        """Where it was found to answer chats."""

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def post(self, path: str, body: wire.Body, *, on_bytes: Callable[[bytes], None] | None = None) -> httpx2.Response:
        """Return the reply to a body, sent again after a failure that may pass.

        `on_bytes` is called with the bytes of a reply as they arrive. Raises `ModelError` if there is no reply.
        """
        return self._ask("POST", path, body, on_bytes)

    def complete(self, body: wire.Body, *, on_bytes: Callable[[bytes], None] | None = None) -> httpx2.Response:
        """Return the reply to a chat completion, or a response if the server has only these. Raises as `post` does."""
        reply = self.post(CHAT, body, on_bytes=on_bytes) if self._path != _RESPONSES else None
        if reply is not None and reply.is_success:
            self._path = CHAT
        if reply is not None and (self._path == CHAT or reply.status_code not in (404, 405)):
            return reply
        instead = self.post(_RESPONSES, response_body(body), on_bytes=on_bytes)
        if reply is not None and (instead.status_code in (404, 405) or instead.status_code >= 500):
            return reply
        self._path = _RESPONSES
        return instead

    def get(self, url: str) -> httpx2.Response:
        """Return the page at an address of this server. Raises `ModelError` without a reply."""
        return self._ask("GET", url, None, None)

    def _ask(
        self, method: str, url: str, body: wire.Body | None, on_bytes: Callable[[bytes], None] | None
    ) -> httpx2.Response:
        from orienteer.llm.transport import NotSentError, seconds_left

        client, attempts, number = self._connect(), self.config.retries + 1, 0
        content = None if body is None else json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        while True:
            number += 1
            unsent: NotSentError | None = None
            reply: httpx2.Response | None = None
            try:
                reply = client.request(method, url, content=content, extensions={"on_bytes": on_bytes})
            except NotSentError as error:
                unsent, pause = error, 0.0
                cause = "did not answer in time" if error.is_late else f"cannot be reached ({error})"
            else:
                status, pause = reply.status_code, _pause(reply.headers)
                if status not in _PASSING and (status < 500 or (status in _LATE and not pause)):
                    return reply
                cause = f"answered {status}{f' and asks to wait {pause:g} s' if pause else ''}"
            backoff = min(_FIRST_PAUSE * 2 ** (number - 1), _LONGEST_PAUSE)
            if seconds_left() <= max(pause, backoff):
                late = "and the question's budget of seconds leaves no time to try again"
                raise ModelLate(f"{self.url} {cause}, {late}") from unsent
            if number == attempts or pause > self.config.timeout_seconds:
                if reply is not None:
                    return reply
                if unsent is not None and unsent.is_late:
                    cause = f"did not answer within {self.config.timeout_seconds:g} s in any of {attempts} attempts"
                    advice = "raise timeout_seconds, or the budget of seconds where that is less"
                    raise ModelError(f"{self.model!r} at {self.url} {cause}; {advice}") from unsent
                cause = f"cannot be reached after {attempts} attempts ({_short(str(unsent))})"
                raise ModelError(f"{self.url} {cause}; is the server running?") from unsent
            # Up to a quarter less, so that agents side by side do not come back all at once.
            wait = pause or backoff * random.uniform(0.75, 1)
            retries.info("Asking again in %f seconds (retry %i of %i)", wait, number, attempts - 1)
            time.sleep(wait)

    def _connect(self) -> httpx2.Client:
        import httpx2

        from orienteer.llm.transport import Transport

        config = self.config
        with self._lock:
            if self._client is not None:
                return self._client
            if config.api_key is None and config.base_url is None:
                raise ModelRefused(
                    f"No API key for {self.model!r}: set ORIENTEER_API_KEY or OPENAI_API_KEY, "
                    "or name a server that needs none by its base URL."
                )
            base_url = config.base_url or OPENAI_URL
            parts = urlsplit(base_url)
            try:
                self._client = httpx2.Client(
                    # A password in it would be in the log of the HTTP client.
                    base_url=self.url,
                    transport=Transport(base_url),
                    auth=(unquote(parts.username), unquote(parts.password or "")) if parts.username else None,
                    headers={
                        "content-type": "application/json",
                        "user-agent": f"orienteer/{__version__}",
                        **({"authorization": f"Bearer {config.api_key}"} if config.api_key else {}),
                    },
                    timeout=config.timeout_seconds,
                    follow_redirects=False,
                    trust_env=False,
                )
            except httpx2.InvalidURL as error:
                raise ModelRefused(f"{self.url} is not the address of a server: {error}") from error
            weakref.finalize(self, self._client.close)
            return self._client

    def failure(self, reply: httpx2.Response, *, offers: str = "chat completions") -> ModelError:
        """Return an error that explains a refusal or a failure, and its remedy."""
        tries = f"{self.config.retries + 1} attempts"
        # A proxy in front of the server may answer with anything: an error without an object has only its status.
        body: object = None
        with suppress(ValueError, RecursionError):
            body = json.loads(reply.text)
        stated = body.get("error", body) if isinstance(body, dict) else None
        fault = stated if isinstance(stated, dict) else {}
        words = str(fault.get("message", reply.text or reply.reason_phrase))
        reason = _short(words.replace(self.config.api_key, "***") if self.config.api_key else words)
        pause = _pause(reply.headers)
        match reply.status_code:
            case status if 300 <= status < 400 and "location" in reply.headers:
                to = show(reply.headers["location"])
                return ModelRefused(
                    f"{self.url} sends the request on to {_short(to)}: redirects are not followed; if that is "
                    "the right server, name it as the base URL"
                )
            case 401:
                return ModelRefused(
                    f"{self.url} does not accept the API key; check ORIENTEER_API_KEY or OPENAI_API_KEY"
                )
            case 403:
                return ModelRefused(f"{self.url} does not let this API key use {self.model!r}: {reason}")
            case 404:
                return ModelRefused(
                    f"{self.url} has no model {self.model!r}, or no {offers} there; check the model's "
                    f"name and the base URL, which usually ends in /v1: {reason}"
                )
            case 429 if fault.get("code") == "insufficient_quota":
                return ModelRefused(f"the account behind the API key has no credit left at {self.url}: {reason}")
            case status if pause > self.config.timeout_seconds:
                return ModelError(
                    f"{self.url} answered {status} and asks to wait {pause:g} s, longer "
                    f"than the {self.config.timeout_seconds:g} s that an attempt may take: {reason}"
                )
            case 429:
                return ModelError(f"{self.url} still limits the rate after {tries}: {reason}")
            case status if status in _LATE and not pause:
                slow = "the server behind it was too slow, and is not asked again: it may be at it, and be paid"
                return ModelError(f"{self.url} answered {status}: {slow}: {reason}")
            case status if status >= 500 or status in _PASSING:
                return ModelError(f"{self.url} failed with {status} in each of {tries}: {reason}")
            case status:
                return ModelRefused(f"{self.url} refused the request to {self.model!r} with {status}: {reason}", status)


class OpenAIModel:
    """A model behind an OpenAI-compatible server; safe among threads.

    `chat` is one logical request. Repeated attempts, and steps down to what the server understands, happen inside it;
    its usage counts only the reply that was read. If the server does not report usage, the tokens are 0 and `usd` is
    None.
    """

    def __init__(self, name: str, config: OpenAIConfig | None = None, *, abilities: Abilities | None = None) -> None:
        """`abilities` are those that the server was found to have; a mode that is set overrides them."""
        self.config = config if config is not None else OpenAIConfig()
        self.server = Server(name, self.config)
        self.name, self.base_url = name, self.server.url
        self.price, self.concurrency = self.server.price, self.config.concurrency
        self.abilities = abilities
        self._slots = threading.BoundedSemaphore(self.config.concurrency)
        self._lock = threading.Lock()
        self._lacks: frozenset[str] = {
            "schema": frozenset({"tools"}),
            "text": frozenset({"tools", "response_format"}),
        }.get(self.config.mode, frozenset())
        if abilities is not None and self.config.mode == "auto":
            self._lacks |= abilities.unheeded
        self._heeded: set[wire.Way] = set()
        self._prose = 0

    @property
    def manner(self) -> Manner:
        """How the model is spoken to, if its server was probed."""
        if self.abilities is None:
            return Manner()
        manner = self.abilities.manner
        kept = {
            "keeps_schema": manner.keeps_schema and "response_format" not in self._lacks,
            "keeps_grammar": manner.keeps_grammar and self._lacks.isdisjoint(("response_format", "grammar")),
        }
        fixed = {} if self.config.mode == "auto" else {"dialect": None}
        return manner.model_copy(update=kept | fixed)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        schema: Mapping[str, JsonValue] | None = None,
        sampling: Sampling | None = None,
        seconds: float | None = None,
    ) -> Reply:
        """Return the model's next message. Raises `ModelError` if the server failed, never for a reply's content.

        Raises `ModelLate` after `seconds`, which include the wait for a slot.
        """
        return self._reply(ChatRequest.of(self.name, messages, tools, schema, sampling), seconds, None)

    def chat_stream(
        self,
        messages: Sequence[Message],
        *,
        hear: Callable[[str], None],
        sampling: Sampling | None = None,
        seconds: float | None = None,
    ) -> Reply:
        """Return the same as `chat`, and call `hear` with the words as the server writes them.

        A server that cannot stream, or that records tokens, answers in one piece. Raises as `chat` does, and whatever
        `hear` raises.
        """
        request = ChatRequest.of(self.name, messages, (), None, sampling)
        return self._reply(request, seconds, None if self.config.records_tokens else wire.PartReader(hear).feed)

    def _reply(self, request: ChatRequest, seconds: float | None, on_bytes: Callable[[bytes], None] | None) -> Reply:
        """Return the reply to a request, streamed with `on_bytes`."""
        from orienteer.llm.transport import time_limit

        wants_tokens, streams = self.config.records_tokens, on_bytes is not None
        lacked: list[tuple[str, ...]] = []  # by each request that was sent
        with time_limit(seconds), self._slot(seconds):
            started = time.monotonic()
            try:
                read = self._ask(request, lacked, on_bytes)
            except ModelError as failed:
                failed.sent, failed.wanted_tokens, failed.streamed = tuple(lacked), wants_tokens, streams
                raise
            took = time.monotonic() - started
        *refused, lacks = lacked
        return Reply(
            message=read.message,
            raw=read.raw,
            wanted_tokens=wants_tokens,
            streamed=streams,
            lacks=lacks,
            refused=tuple(refused),
            usage=self.usage_of(read, took),
            truncated=read.truncated,
            model=read.model,
        )

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self.server.close()

    @contextmanager
    def _slot(self, seconds: float | None) -> Iterator[None]:
        """Take one of the slots for calls under way. Raises `ModelLate` if all stay taken."""
        if not self._slots.acquire(timeout=None if seconds is None else min(max(0.0, seconds), threading.TIMEOUT_MAX)):
            raise ModelLate(f"{self.base_url} was still answering other calls when the budget of seconds ended")
        try:
            yield
        finally:
            self._slots.release()

    def _ask(
        self, request: ChatRequest, lacked: list[tuple[str, ...]], on_bytes: Callable[[bytes], None] | None
    ) -> wire.Answered:
        """Send the request, each time without the parameter that it was refused for, until the server accepts it.

        Adds to `lacked` the parameters that each one went without.
        """
        lacks, refusal = self._lacks, None
        while True:
            body = wire.body_of(
                request, lacks=lacks, wants_tokens=self.config.records_tokens, streams=on_bytes is not None
            )
            lacked.append(tuple(sorted(lacks)))
            reply = self.server.complete(body, on_bytes=on_bytes)
            if reply.is_success:
                read = self.read(reply, request)
                self._learn(request, lacks, read)
                return read
            lacking = wire.blamed(reply.status_code, reply.text, body)
            is_fixed = lacking in ("tools", "response_format") and self.config.mode != "auto"
            if lacking is None or is_fixed:
                # A way that fails as well shows that the first refusal was about something else.
                is_same = refusal is not None and reply.status_code in (400, 422)
                raise self.server.failure(refusal if is_same and refusal is not None else reply)
            refusal = reply if refusal is None else refusal
            lacks |= {lacking}

    def read(self, reply: httpx2.Response, request: ChatRequest) -> wire.Answered:
        """Return the content of a server's reply. Raises `ModelError` if it is not a chat completion."""
        text = reply.text
        try:
            return wire.answer(wire.completion_in(text) if wire.is_stream(text) else json.loads(text), request)
        except (ValueError, RecursionError) as error:
            raise ModelError(
                f"{self.base_url} answered with something that is not a chat completion ({_short(str(error))}): "
                f"{_short(text)!r}. Is the base URL right? It usually ends in /v1."
            ) from error

    def _learn(self, request: ChatRequest, lacks: frozenset[str], read: wire.Answered) -> None:
        """Remember what the server lacks, and what it accepts but ignores."""
        way = wire.way_of(request, lacks)
        parameters: dict[wire.Way, str] = {"tools": "tools", "schema": "response_format", "text": ""}
        with self._lock:
            # What has worked before is there: this one conversation was refused for something else.
            new = lacks - self._lacks - {parameters[heeded] for heeded in self._heeded}
            if new:
                logger.warning("%s at %s does not take %s", self.name, self.base_url, ", ".join(sorted(new)))
            self._lacks |= new
            if way is None:
                return
            text = read.message.content or ""
            if read.message.tool_calls or (not request.tools and object_in(text) is not None):
                self._heeded.add(way)
                self._prose = 0
                return
            # Another thread may have stepped down meanwhile.
            is_current = way == wire.way_of(request, self._lacks)
            if not is_current or not text or read.truncated or way in self._heeded:
                return
            self._prose += 1
            if self._prose >= _PROSE_BEFORE_DOUBT and way != "text" and self.config.mode == "auto":
                self._prose = 0
                self._lacks |= {parameters[way]}
                logger.warning("%s at %s ignores %s; asking in another way", self.name, self.base_url, way)

    def usage_of(self, read: wire.Answered, seconds: float) -> Usage:
        """Return the usage of a reply, with its price if that is known."""
        if read.tokens is None:
            return Usage(calls=1, seconds=seconds, usd=None)
        prompt, cached, completion = read.tokens
        spent = {"prompt_tokens": prompt, "cached_tokens": cached, "completion_tokens": completion}
        usd = self.price.usd(**spent) if self.price is not None else None
        return Usage(calls=1, seconds=seconds, usd=usd, **spent)


def _pause(headers: Mapping[str, str]) -> float:
    """Return the seconds that a server asks to wait before the next attempt, or 0."""
    after = headers.get("retry-after", "")
    for pause, unit in ((headers.get("retry-after-ms", ""), 1000), (after, 1)):
        with suppress(ValueError):
            seconds = float(pause) / unit
            return seconds if seconds > 0 else 0.0  # "nan" is no request to wait either
    with suppress(ValueError, OverflowError):
        date = parsedate_tz(after)
        return max(0.0, mktime_tz(date) - time.time()) if date is not None else 0.0
    return 0.0


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 300 else f"{text[:299]}…"
