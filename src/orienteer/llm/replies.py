"""Record a model's replies in a file, and replay them without the model.

A cassette holds one JSON line for each reply, found again by the whole request: a changed prompt, tool or setting
misses instead of replaying a stale reply. Requests and replies are all that is stored; keys and headers never are.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from orienteer.errors import BadInput, BadOption, ReplayMiss
from orienteer.protocols import LanguageModel
from orienteer.records import JsonValue, Message, Price, Record, Reply, Sampling, ToolSpec


class ChatRequest(Record):
    """Everything that a reply depends on."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    reply_schema: dict[str, Any] | None = None  # Any: a JSON schema
    sampling: Sampling = Sampling()

    @classmethod
    def of(
        cls,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        schema: Mapping[str, JsonValue] | None = None,
        sampling: Sampling | None = None,
    ) -> ChatRequest:
        """Return the request that a call of `LanguageModel.chat` makes."""
        return cls(
            model=model,
            messages=tuple(messages),
            tools=tuple(tools),
            reply_schema=None if schema is None else dict(schema),
            sampling=Sampling() if sampling is None else sampling,
        )

    @property
    def key(self) -> str:
        """The request's sha256, in hexadecimal."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


class Recorded(Record):
    """One line of a cassette."""

    version: Literal[1] = 1
    key: str
    ordinal: int
    """How many times the same request had been made before."""
    request: ChatRequest
    reply: Reply


class Recording:
    """A model that writes down each reply of another, in the order of the requests' completion."""

    def __init__(self, model: LanguageModel, path: Path) -> None:
        if path.exists():
            raise BadOption(f"{path} exists; a recording begins anew, so remove it or name another file")
        self._model = model
        self._path = path
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name of the model that is recorded."""
        return self._model.name

    @property
    def price(self) -> Price | None:
        """What the model that is recorded costs."""
        return self._model.price

    def chat(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        schema: Mapping[str, JsonValue] | None = None,
        sampling: Sampling | None = None,
        seconds: float | None = None,
    ) -> Reply:
        """Return the model's reply, once it is on disk."""
        request = ChatRequest.of(self.name, messages, tools, schema, sampling)
        ordinal = _count(self._seen, request.key, self._lock)
        reply = self._model.chat(messages, tools=tools, schema=schema, sampling=sampling, seconds=seconds)
        line = Recorded(key=request.key, ordinal=ordinal, request=request, reply=reply).model_dump_json() + "\n"
        with self._lock:
            _append(self._path, line.encode())
        return reply


class RecordedModel:
    """Answers as a recording did. Raises `ReplayMiss` for a request that is not in it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = tuple(_read(path))
        self._replies = {(line.key, line.ordinal): line.reply for line in self._lines}
        names = sorted({line.request.model for line in self._lines})
        if len(names) != 1:
            raise BadInput(f"{path} must hold the replies of one model, holds those of {', '.join(names) or 'none'}")
        self._name = names[0]
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name of the model that was recorded."""
        return self._name

    @property
    def price(self) -> Price | None:
        """None: a recording holds what its calls have cost, and no price."""
        return None

    def chat(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        schema: Mapping[str, JsonValue] | None = None,
        sampling: Sampling | None = None,
        seconds: float | None = None,
    ) -> Reply:
        """Return the reply that was recorded for this very request; a repeated request gets the next one."""
        request = ChatRequest.of(self.name, messages, tools, schema, sampling)
        key = request.key
        ordinal = _count(self._seen, key, self._lock)
        reply = self._replies.get((key, ordinal))
        if reply is None:
            raise ReplayMiss(f"{self._path} has no reply to this request: {self._difference(request, key, ordinal)}")
        return reply

    def _difference(self, request: ChatRequest, key: str, ordinal: int) -> str:
        if ordinal and (key, ordinal - 1) in self._replies:
            return f"it was recorded {ordinal} times and is now asked once more"
        told = [(_differences(request, line.request), number) for number, line in enumerate(self._lines, 1)]
        nearest, number = min(told, key=lambda one: (len(one[0]), one[1]))
        return f"compared with the nearest, in line {number}, {'; '.join(nearest[:3])}. Record it anew."


def _count(seen: Counter[str], key: str, lock: threading.Lock) -> int:
    """Return how often the key was counted before."""
    with lock:
        seen[key] += 1
        return seen[key] - 1


def _append(path: Path, line: bytes) -> None:
    """Append in a single write, so that a process that dies leaves whole lines only."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def _read(path: Path) -> Iterator[Recorded]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read as a recording: {error}") from error
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        try:
            recorded = Recorded.model_validate_json(line)
        except ValidationError as error:
            raise BadInput(f"{path}, line {number}, is no line of a recording: {error.errors()[0]['msg']}") from error
        if recorded.key != recorded.request.key:
            raise BadInput(f"{path}, line {number}: the request was changed after it was recorded; record it anew")
        yield recorded


def _differences(asked: ChatRequest, recorded: ChatRequest) -> list[str]:
    """Name what differs, the smallest part of it that can be named."""
    found: list[str] = []
    for path, (now, then) in _leaves(asked.model_dump(mode="json"), recorded.model_dump(mode="json"), ""):
        found.append(f"{path} is {_shown(now)}, was {_shown(then)}")
    return found


def _leaves(now: JsonValue, then: JsonValue, path: str) -> Iterator[tuple[str, tuple[JsonValue, JsonValue]]]:
    if now == then:
        return
    if isinstance(now, dict) and isinstance(then, dict):
        for name in sorted(now.keys() | then.keys()):
            yield from _leaves(now.get(name), then.get(name), f"{path}.{name}".lstrip("."))
    elif isinstance(now, list) and isinstance(then, list):
        for place in range(max(len(now), len(then))):
            one = now[place] if place < len(now) else None
            other = then[place] if place < len(then) else None
            yield from _leaves(one, other, f"{path}[{place}]")
    else:
        yield path, (now, then)


def _shown(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:79]}…"
