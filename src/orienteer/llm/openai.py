"""Any server that speaks OpenAI's chat completions: OpenAI, vLLM, Ollama, llama.cpp, LM Studio, OpenRouter."""

from __future__ import annotations

import json
import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal, Self
from urllib.parse import unquote, urlsplit

from pydantic import Field, model_validator

from orienteer.errors import BadOption, ModelError, ModelLate, ModelRefused
from orienteer.llm.budget import price_of
from orienteer.llm.replies import ChatRequest
from orienteer.llm.spoken import object_in
from orienteer.llm.transport import is_address, show
from orienteer.llm.wire import (
    Answered,
    Body,
    PartReader,
    Way,
    answer,
    blamed,
    body_of,
    completion_in,
    is_stream,
    way_of,
)
from orienteer.options import Options
from orienteer.records import JsonValue, Manner, Message, Price, Reply, Sampling, ToolSpec, Usage

if TYPE_CHECKING:
    import httpx2
    import openai

    from orienteer.llm.abilities import Abilities

logger = logging.getLogger(__name__)

OPENAI_URL = "https://api.openai.com/v1"
_TRIED_AGAIN = (408, 409, 429)  # by the SDK, as are all from 500 up but these
_LATE = (504, 524)
"""What a gateway answers for a server that was too slow: it may still be at it, so that asking again pays twice."""
_LONGEST_TIMEOUT = 1_000_000  # seconds: systems wait for a connection no longer than twice as long
_MOST_RETRIES = 100
_PROSE_BEFORE_DOUBT = 2
"""Replies without a call, a repair turn among them, after which a server is taken to ignore how it is asked."""


class OpenAIConfig(Options):
    """Where a model is served, and how patiently it is asked."""

    base_url: str | None = Field(default=None, repr=False)
    """Address of the server, usually ending in /v1. None is OpenAI's own. It may hold a password."""
    api_key: str | None = Field(default=None, repr=False)
    """A server at an address of one's own may need none."""
    timeout_seconds: float = Field(default=120.0, gt=0, le=_LONGEST_TIMEOUT)
    """How long one attempt may take, all in all. A server that asks for a longer pause gets none."""
    retries: int = Field(default=4, ge=0, le=_MOST_RETRIES)
    """Further attempts where no connection was made, or after 429 or 5xx; they back off, and honour Retry-After."""
    concurrency: int = Field(default=8, ge=1)
    """Calls under way at one time; further ones wait."""
    mode: Literal["auto", "tools", "schema", "text"] = "auto"
    """How calls are asked for. `auto` begins with tools and steps down where the server does not have them."""
    records_tokens: bool = False
    """Ask for token ids and log-probabilities with each reply, which training needs: vLLM gives both."""
    price: Price | None = None
    """What the model costs here. None takes the list price on OpenAI's own server, and is unknown on any other."""

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


class OpenAIModel:
    """A model behind an OpenAI-compatible server; safe among threads.

    `chat` is one logical request: retries of the transport and a step down to what the server understands happen
    inside it, and only the reply that was read counts in its usage. Where the server does not say what it used, the
    tokens are 0 and `usd` is None.
    """

    def __init__(self, name: str, config: OpenAIConfig | None = None, *, abilities: Abilities | None = None) -> None:
        """`abilities` are those that the server was found to have; a mode that is set goes before them."""
        self._name = name
        self.config = config if config is not None else OpenAIConfig()
        self.abilities = abilities
        self._places = threading.BoundedSemaphore(self.config.concurrency)
        self._lock = threading.Lock()
        self._client: openai.OpenAI | None = None
        self._lacks: frozenset[str] = {
            "schema": frozenset({"tools"}),
            "text": frozenset({"tools", "response_format"}),
        }.get(self.config.mode, frozenset())
        if abilities is not None and self.config.mode == "auto":
            self._lacks |= abilities.unheeded
        self._heeded: set[Way] = set()
        self._prose = 0

    @property
    def name(self) -> str:
        """The model as its server spells it."""
        return self._name

    @property
    def base_url(self) -> str:
        """The address of the server, as it may be shown: a password in it is left out."""
        return show(self.config.base_url or OPENAI_URL)

    @property
    def concurrency(self) -> int:
        """How many calls may be under way at one time."""
        return self.config.concurrency

    @property
    def price(self) -> Price | None:
        """What the model costs, None where that is not known."""
        if self.config.price is not None:
            return self.config.price
        return price_of(self._name) if _host(self.base_url) == _host(OPENAI_URL) else None

    @property
    def manner(self) -> Manner:
        """How the model is spoken to, where its server was asked what it does."""
        if self.abilities is None:
            return Manner()
        manner = self.abilities.manner
        kept = {"keeps_schema": manner.keeps_schema and "response_format" not in self._lacks}
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
        """Return the model's next message. Raises `ModelError` when the server failed, never for what it says.

        `ModelLate` where these seconds were over before the server had answered; the wait for a place counts.
        """
        return self._reply(ChatRequest.of(self._name, messages, tools, schema, sampling), seconds)

    def chat_stream(
        self,
        messages: Sequence[Message],
        *,
        hear: Callable[[str], None],
        sampling: Sampling | None = None,
        seconds: float | None = None,
    ) -> Reply:
        """Return what `chat` does, and call `hear` with the words as the server writes them.

        A server that does not stream, or that is to record tokens, answers in one piece. Raises as `chat` does, and
        what `hear` raises.
        """
        from orienteer.llm.transport import heard_by

        request = ChatRequest.of(self._name, messages, (), None, sampling)
        if self.config.records_tokens:
            return self._reply(request, seconds)
        parts = PartReader(hear)
        with heard_by(parts.feed):
            reply = self._reply(request, seconds, streams=True)
        if parts.failure is not None:
            raise parts.failure
        return reply

    def _reply(self, request: ChatRequest, seconds: float | None, *, streams: bool = False) -> Reply:
        from orienteer.llm.transport import time_limit

        wants_tokens = self.config.records_tokens
        with time_limit(seconds), self._place(seconds):
            started = time.monotonic()
            sent: list[frozenset[str]] = []
            try:
                read = self._ask(request, sent, streams=streams)
            except ModelError as failed:
                failed.sent, failed.wanted_tokens, failed.streamed = _lacking(sent), wants_tokens, streams
                raise
            took = time.monotonic() - started
        *refused, lacks = _lacking(sent)
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
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    @contextmanager
    def _place(self, seconds: float | None) -> Iterator[None]:
        """Hold one of the places of calls that are under way. Raises `ModelLate` where none is free in time."""
        if not self._places.acquire(timeout=None if seconds is None else min(max(0.0, seconds), threading.TIMEOUT_MAX)):
            raise ModelLate(f"{self.base_url} was still answering other calls when the budget of seconds ended")
        try:
            yield
        finally:
            self._places.release()

    def _ask(self, request: ChatRequest, sent: list[frozenset[str]], *, streams: bool) -> Answered:
        """Send the request, each time without what the server turns out to lack, until it takes it.

        What each one lacked is added to `sent`.
        """
        import openai

        lacks, refusal = self._lacks, None
        while True:
            body = body_of(request, lacks=lacks, wants_tokens=self.config.records_tokens, streams=streams)
            sent.append(lacks)
            try:
                read = self.read(self.post(body), request)
            except openai.APIStatusError as error:
                lacking = self._blamed(error, body)
                if lacking is None:
                    # A way that fails as well shows that the first refusal was about something else.
                    is_same = refusal is not None and error.status_code in (400, 422)
                    raise self.failure(refusal if is_same and refusal else error) from error
                refusal = refusal or error
                lacks |= {lacking}
            except openai.OpenAIError as error:
                raise self.failure(error) from error
            else:
                self._learn(request, lacks, read)
                return read

    def post(self, body: Body) -> str:
        """Return the text of the server's reply to a body, after the SDK's own retries. Raises the SDK's errors."""
        # The text itself, not the SDK's objects: those take what a careless server sends on trust.
        # As extra body, for the SDK would walk through every tool's schema to see what to rename in it.
        create = self._connect().chat.completions.with_raw_response.create
        text: str = create(model=body["model"], messages=[], extra_body=body).text
        return text

    def read(self, text: str, request: ChatRequest) -> Answered:
        """Return what a server's reply holds. Raises `ModelError` where it is no chat completion."""
        try:
            return answer(completion_in(text) if is_stream(text) else json.loads(text), request)
        except (ValueError, RecursionError) as error:
            raise ModelError(
                f"{self.base_url} answered with something that is no chat completion ({_short(str(error))}): "
                f"{_short(text)!r}. Is the base URL right? It usually ends in /v1."
            ) from error

    def _connect(self) -> openai.OpenAI:
        with self._lock:
            if self._client is None:
                if self.config.api_key is None and self.config.base_url is None:
                    raise ModelRefused(
                        f"No API key for {self._name!r}: set ORIENTEER_API_KEY or OPENAI_API_KEY, "
                        "or name a server that needs none by its base URL."
                    )
                self._client = open_client(self.config)
                weakref.finalize(self, self._client.close)
            return self._client

    def _blamed(self, error: openai.APIStatusError, body: Body) -> str | None:
        lacking = blamed(error.status_code, error.message, body)
        is_fixed = lacking in ("tools", "response_format") and self.config.mode != "auto"
        return None if is_fixed else lacking

    def _learn(self, request: ChatRequest, lacks: frozenset[str], read: Answered) -> None:
        """Remember what the server lacks, and what it takes but ignores."""
        way = way_of(request, lacks)
        with self._lock:
            # What has worked before is there: this one conversation was refused for something else.
            proven = {{"tools": "tools", "schema": "response_format", "text": ""}[heeded] for heeded in self._heeded}
            new = lacks - self._lacks - proven
            if new:
                logger.warning("%s at %s does not take %s", self._name, self.base_url, ", ".join(sorted(new)))
            self._lacks |= new
            if way is None:
                return
            text = read.message.content or ""
            if read.message.tool_calls or (not request.tools and object_in(text) is not None):
                self._heeded.add(way)
                self._prose = 0
                return
            is_current = way == way_of(request, self._lacks)  # else another thread has stepped down meanwhile
            if is_current and text and not read.truncated and way not in self._heeded:
                self._doubt(way)

    def _doubt(self, way: Way) -> None:
        self._prose += 1
        if self._prose >= _PROSE_BEFORE_DOUBT and way != "text" and self.config.mode == "auto":
            self._prose = 0
            self._lacks |= {"tools" if way == "tools" else "response_format"}
            logger.warning("%s at %s ignores %s; asking in another way", self._name, self.base_url, way)

    def usage_of(self, read: Answered, seconds: float) -> Usage:
        """Return what a reply took, with its price where that is known."""
        if read.tokens is None:
            return Usage(calls=1, seconds=seconds, usd=None)
        prompt, cached, completion = read.tokens
        spent = {"prompt_tokens": prompt, "cached_tokens": cached, "completion_tokens": completion}
        usd = self.price.usd(**spent) if self.price is not None else None
        return Usage(calls=1, seconds=seconds, usd=usd, **spent)

    def failure(self, error: openai.OpenAIError, *, offers: str = "chat completions") -> ModelError:
        """Say in our words what a server of these or the way to it did, and what to do about it."""
        import openai

        tries = f"{self.config.retries + 1} attempts"
        if isinstance(error, openai.APITimeoutError):
            waited = f"{self.config.timeout_seconds:g} s in any of {tries}"
            return ModelError(
                f"{self._name!r} at {self.base_url} did not answer within {waited}; raise timeout_seconds, or the "
                "budget of seconds where that is less"
            )
        if isinstance(error, openai.APIStatusError):
            return self._status_failure(error, tries, offers)
        cause = _short(str(error.__cause__ or error))
        return ModelError(f"{self.base_url} cannot be reached after {tries} ({cause}); is the server running?")

    def _status_failure(self, error: openai.APIStatusError, tries: str, offers: str) -> ModelError:
        body = error.body
        words = str(body["message"]) if isinstance(body, dict) and "message" in body else error.message
        reason = _short(words.replace(self.config.api_key, "***") if self.config.api_key else words)
        match error.status_code:
            case status if 300 <= status < 400 and "location" in error.response.headers:
                to = show(error.response.headers["location"])
                return ModelRefused(
                    f"{self.base_url} sends the request on to {_short(to)}: redirects are not followed; where that is "
                    "the server that you mean, name it as the base URL"
                )
            case 401:
                return ModelRefused(
                    f"{self.base_url} does not accept the API key; check ORIENTEER_API_KEY or OPENAI_API_KEY"
                )
            case 403:
                return ModelRefused(f"{self.base_url} does not let this API key use {self._name!r}: {reason}")
            case 404:
                return ModelRefused(
                    f"{self.base_url} has no model {self._name!r}, or no {offers} there; check the model's "
                    f"name and the base URL, which usually ends in /v1: {reason}"
                )
            case 429 if error.code == "insufficient_quota":
                return ModelRefused(f"the account behind the API key has no credit left at {self.base_url}: {reason}")
            case status if _pause(error.response.headers) > self.config.timeout_seconds:
                return ModelError(
                    f"{self.base_url} answered {status} and asks to wait {_pause(error.response.headers):g} s, longer "
                    f"than the {self.config.timeout_seconds:g} s that an attempt may take: {reason}"
                )
            case 429:
                return ModelError(f"{self.base_url} still limits the rate after {tries}: {reason}")
            case 408 | 409:
                return ModelError(f"{self.base_url} answered {error.status_code} to each of {tries}: {reason}")
            case status if status >= 500:
                slow = "the server behind it was too slow, and is not asked again: it may be at it, and be paid"
                failed = f"failed with {status} in each of {tries}"
                is_slow = status in _LATE and not _pause(error.response.headers)
                return ModelError(f"{self.base_url} {f'answered {status}: {slow}' if is_slow else failed}: {reason}")
            case status:
                return ModelRefused(
                    f"{self.base_url} refused the request to {self._name!r} with {status}: {reason}", status
                )


def _lacking(sent: Sequence[frozenset[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(sorted(lacks)) for lacks in sent)


def open_client(config: OpenAIConfig) -> openai.OpenAI:
    """Return the SDK's client of a server, as patient as the configuration says. Who opens it closes it."""
    import httpx2
    import openai

    from orienteer.llm.transport import Transport, fail_attempt

    def judge(response: httpx2.Response) -> None:
        """Say to the SDK whether to try again, and when: it would believe the server, and sleep for up to a minute."""
        pause = _pause(response.headers)
        status = response.status_code
        is_passing = status in _TRIED_AGAIN or (status >= 500 and (status not in _LATE or pause > 0))
        if is_passing:
            asks = f" and asks to wait {pause:g} s" if pause else ""
            fail_attempt(f"{show(base_url)} answered {status}{asks}", pause)
        response.headers["x-should-retry"] = "true" if is_passing and pause <= config.timeout_seconds else "false"
        response.headers["retry-after-ms"] = f"{pause * 1000:.0f}"

    base_url = config.base_url or OPENAI_URL
    parts = urlsplit(base_url)
    client = httpx2.Client(
        transport=Transport(base_url),
        auth=(unquote(parts.username), unquote(parts.password or "")) if parts.username else None,
        follow_redirects=False,
        trust_env=False,
        event_hooks={"response": [judge]},
    )
    try:
        return openai.OpenAI(
            base_url=show(base_url),  # a password in it would stand in the log of the HTTP client
            api_key=config.api_key or "none",
            timeout=config.timeout_seconds,
            max_retries=config.retries,
            http_client=client,
        )
    except httpx2.InvalidURL as error:
        raise ModelRefused(f"{show(base_url)} is not the address of a server: {error}") from error


def _pause(headers: Mapping[str, str]) -> float:
    """Return the seconds that a server asks to wait before the next attempt, 0 where it asks for none."""
    after = headers.get("retry-after", "")
    for pause, unit in ((headers.get("retry-after-ms", ""), 1000), (after, 1)):
        with suppress(ValueError):
            seconds = float(pause) / unit
            return seconds if seconds > 0 else 0.0  # nor does it ask for "nan"
    with suppress(ValueError, OverflowError):
        return _until(after)
    return 0.0


def _until(date: str) -> float:
    """Return the seconds until a date as HTTP writes it, 0 where it is none, or over.

    Raises `ValueError`, `OverflowError`.
    """
    from email.utils import mktime_tz, parsedate_tz

    parsed = parsedate_tz(date)
    return max(0.0, mktime_tz(parsed) - time.time()) if parsed is not None else 0.0


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 300 else f"{text[:299]}…"
