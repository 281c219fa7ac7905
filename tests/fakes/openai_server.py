"""A real HTTP server on loopback that speaks chat completions and embeddings, and can be told to misbehave.

What it answers is a function of the request and of how often this very request came before, never of a shared
counter: parallel clients cannot race for its script.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, NamedTuple, TypeAlias


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One reply, faults included."""

    content: str | None = None
    calls: Sequence[tuple[str, str | Mapping[str, Any]]] = ()
    """Tool calls; arguments given as text are sent as they are."""
    status: int = 200
    message: str = "scripted"
    """The words of an error."""
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    dropped: Literal["before", "within"] | None = None
    """Where the connection is cut: before the reply, or in the middle of its body."""
    finish_reason: str | None = None
    usage: Mapping[str, Any] | None = field(default_factory=lambda: {"prompt_tokens": 100, "completion_tokens": 10})
    choice: Mapping[str, Any] = field(default_factory=dict)
    """What else stands beside the message, as token ids and log-probabilities do."""
    vectors: Sequence[Sequence[float]] | None = None
    """Embeddings, in place of a completion; sent last first, as the order of a reply is nobody's promise."""
    body: str | None = None
    """The whole body, in place of a completion."""
    parts: Sequence[str] | None = None
    """The words in pieces, an event each, where the request asks for a stream; None streams nothing."""
    held: threading.Event | None = None
    """What a stream waits for after its first piece."""


Policy: TypeAlias = Callable[[dict[str, Any], int], Answer]


class Seen(NamedTuple):
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float


class FakeServer:
    """Serves one policy: (request body, times it came before) -> answer. Use it as a context manager."""

    def __init__(
        self,
        policy: Policy,
        *,
        refuses: Mapping[str, str] | None = None,
        ignores: Sequence[str] = (),
        pages: Mapping[str, Any] | None = None,
        port: int = 0,
        paths: Collection[str] = ("/v1/chat/completions", "/v1/embeddings"),
        missing: int = 404,
    ) -> None:
        """It answers at these paths, and with the status `missing` at others."""
        self.policy, self.paths, self.missing = policy, paths, missing
        self.refuses = dict(refuses or {})
        """Parameters that are answered with 400, and the words of the refusal."""
        self.ignores = frozenset(ignores)
        """Parameters that are taken and never seen by the policy."""
        self.pages = {"/v1/models": {"object": "list", "data": [{"id": "fake", "object": "model"}]}, **(pages or {})}
        """What paths give to GET, as JSON."""
        self.requests: list[Seen] = []
        self.closing = threading.Event()
        self._came: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), _Handler, self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [seen.body for seen in self.requests]

    def __enter__(self) -> FakeServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, seen: Seen) -> Answer:
        key = json.dumps(seen.body, sort_keys=True)
        with self._lock:
            self.requests.append(seen)
            before = self._came[key]
            self._came[key] += 1
        for name, words in self.refuses.items():
            if name in seen.body:
                return Answer(status=400, message=words)
        return self.policy({name: value for name, value in seen.body.items() if name not in self.ignores}, before)


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # so that closing waits for every handler, and no socket outlives the test

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], fake: FakeServer) -> None:
        super().__init__(address, handler)
        self.fake = fake


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        if (page := self.server.fake.pages.get(self.path)) is not None:
            self._send(200, json.dumps(page))
        else:
            self._send(404, _error("no such path", None))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        fake = self.server.fake
        if self.path not in fake.paths:
            self._send(fake.missing, _error("no such path", None))
            return
        body = json.loads(raw)
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = fake.answer(Seen(self.path, headers, body, time.monotonic()))
        fake.closing.wait(answer.delay)
        with contextlib.suppress(ConnectionError):  # a client that timed out is gone
            if answer.parts is not None and answer.status == 200 and body.get("stream"):
                self._stream(answer)
            else:
                self._reply(answer)

    def _stream(self, answer: Answer) -> None:
        """Send the words an event each, what was used, and the end; cut in the middle where the answer says so."""
        self.send_response(200)
        headers = {"content-type": "text/event-stream", "transfer-encoding": "chunked", "connection": "close"}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        for place, event in enumerate(_events(answer)):
            if place and answer.dropped == "within":
                self._cut()
                return
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
            self.wfile.flush()
            if not place and answer.held is not None:
                answer.held.wait(30)
        self.wfile.write(b"0\r\n\r\n")

    def _reply(self, answer: Answer) -> None:
        if answer.dropped == "before":
            self._cut()
        elif answer.status != 200:
            self._send(answer.status, answer.body or _error(answer.message, answer.code), answer.headers)
        else:
            body = answer.body if answer.body is not None else _completion(answer)
            self._send(200, body, answer.headers, cut=answer.dropped == "within")

    def _send(self, status: int, text: str, headers: Mapping[str, str] | None = None, *, cut: bool = False) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", "connection": "close", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        self.wfile.flush()
        if cut:
            self._cut()

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


def _error(message: str, code: str | None) -> str:
    return json.dumps({"error": {"message": message, "type": "scripted", "code": code}})


def _embeddings(vectors: Sequence[Sequence[float]], usage: Mapping[str, Any] | None) -> str:
    rows = [{"object": "embedding", "index": place, "embedding": list(one)} for place, one in enumerate(vectors)]
    reply: dict[str, Any] = {"object": "list", "data": rows[::-1], "model": "fake"}
    return json.dumps({**reply, "usage": usage} if usage is not None else reply)


def _events(answer: Answer) -> Iterator[bytes]:
    choices = [{"index": 0, "delta": {"content": part}, "finish_reason": None} for part in answer.parts or ()]
    choices += [{"index": 0, "delta": {}, "finish_reason": answer.finish_reason or "stop"}]
    for choice in choices:
        yield b"data: %b\n\n" % json.dumps({"model": "fake", "choices": [choice]}).encode()
    if answer.usage is not None:
        yield b"data: %b\n\n" % json.dumps({"model": "fake", "choices": [], "usage": answer.usage}).encode()
    yield b"data: [DONE]\n\n"


def _completion(answer: Answer) -> str:
    if answer.vectors is not None:
        return _embeddings(answer.vectors, answer.usage)
    message: dict[str, Any] = {"role": "assistant", "content": answer.content}
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{place}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
                },
            }
            for place, (name, arguments) in enumerate(answer.calls)
        ]
    reason = answer.finish_reason or ("tool_calls" if answer.calls else "stop")
    completion = {
        "id": "completion",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [{"index": 0, "message": message, "finish_reason": reason, **answer.choice}],
    }
    if answer.usage is not None:
        completion["usage"] = answer.usage
    return json.dumps(completion)
