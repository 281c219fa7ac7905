"""Models' replies in files, keyed by the whole request: a changed prompt, tool or setting misses.

A file has one JSON line for each reply. A recording has the requests too, so that it can be replayed without the model.
Neither ever has a server's key or headers.
"""

from __future__ import annotations

import hashlib
import json
from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from threading import Lock
from typing import Any, Literal, Protocol, TypeAlias, Unpack

from pydantic import ValidationError

from orienteer.errors import BadInput, BadOption, ReplayMiss
from orienteer.files import append_line
from orienteer.llm.schema import short_json
from orienteer.protocols import ChatOptions, LanguageModel, manner_of
from orienteer.records import JsonValue, Manner, Message, Price, Record, Reply, Sampling, ToolCall, ToolSpec, Usage


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
        seconds: float | None = None,
    ) -> ChatRequest:
        """Return the request of a call of `LanguageModel.chat`; its time limit is no part of it."""
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


class RecordedReply(Record):
    """A line of a file of replies."""

    version: Literal[1] = 1
    key: str
    ordinal: int = 0
    """The number of equal requests before."""
    request: ChatRequest | None = None
    """None in a file that is only replayed with the model: there the key is enough."""
    manner: Manner | None = None
    """How the model was spoken to, which a replay repeats; None with `request`."""
    reply: Reply


class ReplyStore(Protocol):
    """Replies by request. The n-th of several equal requests has the n-th reply."""

    def count(self, key: str) -> int:
        """Count a request, and return how many equal ones were counted before."""

    def get(self, key: str, ordinal: int = 0) -> Reply | None:
        """Return the reply to a request after `ordinal` equal ones, or None."""

    def add(self, key: str, reply: Reply, *, ordinal: int = 0) -> None:
        """Store a reply; it outlives this process when this returns."""


class ReplyFile:
    """The replies of a file by request. Safe among threads, and among processes that add to one file.

    It is a `ReplyStore`. A line that cannot be read, such as one that a kill has cut short, is ignored: its request is
    made again.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, Lock()
        self._places: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        """The ordinals of a key's lines, with their offsets."""
        self._end = 0
        """The offset after the lines that were read so far."""
        self._counts: Counter[str] = Counter()

    def count(self, key: str) -> int:
        """Count a request, and return how many equal ones were counted before."""
        with self._lock:
            self._counts[key] += 1
            return self._counts[key] - 1

    def get(self, key: str, ordinal: int = 0) -> Reply | None:
        """Return the reply to a request after `ordinal` equal ones, or None."""
        with self._lock:
            self._read_on()
            places = self._places.get(key, [])
            if ordinal >= len(places):
                return None
            with self._path.open("rb") as file:
                file.seek(places[ordinal][1])
                return RecordedReply.model_validate_json(file.readline()).reply

    def add(
        self,
        key: str,
        reply: Reply,
        *,
        ordinal: int = 0,
        request: ChatRequest | None = None,
        manner: Manner | None = None,
    ) -> None:
        """Append a reply; it outlives this process when this returns."""
        line = RecordedReply(key=key, ordinal=ordinal, request=request, manner=manner, reply=reply).model_dump_json()
        with self._lock:
            self._read_on()
            is_cut = self._path.exists() and self._path.stat().st_size > self._end
            append_line(self._path, f"\n{line}" if is_cut else line)

    def _read_on(self) -> None:
        """Read the lines that any process has added since."""
        if not self._path.exists() or self._path.stat().st_size == self._end:
            return
        with self._path.open("rb") as file:
            file.seek(self._end)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                with suppress(ValidationError):
                    recorded = RecordedReply.model_validate_json(line)
                    insort(self._places[recorded.key], (recorded.ordinal, self._end))
                self._end += len(line)


class Recording:
    """A model that records each reply of another, in the order in which they arrive."""

    def __init__(self, model: LanguageModel, path: Path) -> None:
        if path.exists():
            raise BadOption(f"{path} exists; a recording starts with a new file: remove it, or name another")
        self._model, self._replies = model, ReplyFile(path)
        self.name, self.price = model.name, model.price

    @property
    def manner(self) -> Manner:
        """How the recorded model is spoken to."""
        return manner_of(self._model)

    def chat(self, messages: Sequence[Message], **options: Unpack[ChatOptions]) -> Reply:
        """Return the model's reply after recording it."""
        request = ChatRequest.of(self.name, messages, **options)
        ordinal = self._replies.count(request.key)
        reply = self._model.chat(messages, **options)
        self._replies.add(request.key, reply, ordinal=ordinal, request=request, manner=self.manner)
        return reply


class RecordedModel:
    """Answers from a recording. Raises `ReplayMiss` for a request that is not in it."""

    def __init__(self, path: Path) -> None:
        """Raises `BadInput` for a file that is not a recording of one model, line by line."""
        self._path, self._replies = path, ReplyFile(path)
        self._requests: list[ChatRequest] = []
        self._manner: Manner | None = None
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"{path} cannot be read as a recording: {error}") from error
        for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
            try:
                recorded = RecordedReply.model_validate_json(line)
            except ValidationError as error:
                fault = error.errors()[0]["msg"]
                raise BadInput(f"{path}, line {number}, is not a line of a recording: {fault}") from error
            if recorded.request is None or recorded.key != recorded.request.key:
                raise BadInput(f"{path}, line {number}: the request was changed after it was recorded; record it again")
            self._requests.append(recorded.request)
            self._manner = self._manner or recorded.manner
        names = sorted({request.model for request in self._requests})
        if len(names) != 1:
            raise BadInput(f"{path} must hold the replies of one model, holds those of {', '.join(names) or 'none'}")
        self.name = names[0]
        # A recording has the costs of its calls, but no price.
        self.price: Price | None = None

    @property
    def manner(self) -> Manner:
        """How the model that was recorded was spoken to."""
        return self._manner or Manner()

    def chat(self, messages: Sequence[Message], **options: Unpack[ChatOptions]) -> Reply:
        """Return the recorded reply to this request; a repeated request gets the next one."""
        request = ChatRequest.of(self.name, messages, **options)
        reply = self._replies.get(request.key, self._replies.count(request.key))
        if reply is not None:
            return reply
        miss = f"{self._path} has no reply to this request"
        if count := self._requests.count(request):
            raise ReplayMiss(f"{miss}: it was recorded {count} times and is now asked once more")
        now = request.model_dump(mode="json")
        differences = [list(_leaves(now, then.model_dump(mode="json"), "")) for then in self._requests]
        number, nearest = min(enumerate(differences, 1), key=lambda pair: (len(pair[1]), pair[0]))
        changes = "; ".join(nearest[:3])
        raise ReplayMiss(f"{miss}: compared with the nearest, in line {number}, {changes}. Record it again.")


def _leaves(now: JsonValue, then: JsonValue, path: str) -> Iterator[str]:
    """Yield the differences, each for the smallest part that has a name."""
    if now == then:
        return
    if isinstance(now, dict) and isinstance(then, dict):
        for name in sorted(now.keys() | then.keys()):
            yield from _leaves(now.get(name), then.get(name), f"{path}.{name}".lstrip("."))
    elif isinstance(now, list) and isinstance(then, list):
        for place, (left, right) in enumerate(zip_longest(now, then)):
            yield from _leaves(left, right, f"{path}[{place}]")
    else:
        yield f"{path} is {short_json(now)}, was {short_json(then)}"


# A model whose replies are a function of the conversation, for tests.

Move: TypeAlias = Message | str | Sequence[tuple[str, Mapping[str, JsonValue]]]
"""A message, its text, or its tool calls as pairs of name and arguments."""
Policy: TypeAlias = Callable[[Sequence[Message], Sequence[ToolSpec], Sampling], Move]


class ScriptedModel:
    """Answers by a function of the conversation. It has no state, so parallel agents cannot race."""

    def __init__(
        self, policy: Policy, name: str = "scripted", *, usage: Usage | None = None, price: Price | None = None
    ) -> None:
        self._policy = policy
        self.name, self.price = name, price
        self._usage = usage if usage is not None else Usage(calls=1)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        schema: Mapping[str, JsonValue] | None = None,
        sampling: Sampling | None = None,
        seconds: float | None = None,
    ) -> Reply:
        """Return the policy's reply; the schema is ignored."""
        move = self._policy(messages, tools, sampling if sampling is not None else Sampling())
        if isinstance(move, str):
            move = Message(role="assistant", content=move)
        if not isinstance(move, Message):
            calls = [
                ToolCall(
                    id=f"call_{len(messages)}_{number}",
                    name=name,
                    arguments=json.dumps(dict(arguments), ensure_ascii=False),
                )
                for number, (name, arguments) in enumerate(move)
            ]
            move = Message(role="assistant", tool_calls=tuple(calls))
        return Reply(message=move, usage=self._usage)
