"""A server of ours on loopback, in a thread of the test, and a client that can send what no client would."""

from __future__ import annotations

import asyncio
import http.client
import json
import selectors
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn
from starlette.types import ASGIApp

from orienteer.graph import Graph
from orienteer.llm import Budget
from orienteer.protocols import LanguageModel
from orienteer.serve import (
    Answering,
    Connection,
    HttpSite,
    ServedGraph,
    guard_rules,
    http_application,
    listening_socket,
    read_page_files,
    uvicorn_configuration,
)
from orienteer.settings import Settings

WAIT = 20.0
"""Seconds within which everything happens."""


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        error: dict[str, Any] = self.json["error"]
        assert list(error)[:3] == ["message", "status", "value"]
        assert error["status"] == self.status
        return error


class Client:
    """Asks one server."""

    def __init__(self, port: int, site: HttpSite) -> None:
        self.port, self.site = port, site
        self.url = f"http://127.0.0.1:{port}"

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        timeout: float = WAIT,
    ) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, dict(headers or {}))
            reply = connection.getresponse()
            fields = {name.lower(): value for name, value in reply.getheaders()}
            return Reply(reply.status, fields, reply.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Reply:
        return self.send("GET", path, headers=headers)

    def post(self, path: str, values: Any, *, timeout: float = WAIT, **headers: str) -> Reply:
        sent = {"content-type": "application/json", **headers}
        return self.send("POST", path, json.dumps(values).encode(), sent, timeout=timeout)

    @contextmanager
    def stream(self, path: str, values: Any, **headers: str) -> Iterator[Iterator[bytes]]:
        """Give the lines of a reply as they come; leaving hangs up."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        sent = {"content-type": "application/json", "accept": "text/event-stream", **headers}
        try:
            connection.request("POST", path, json.dumps(values).encode(), sent)
            reply = connection.getresponse()
            assert reply.status == 200, reply.read()
            yield iter(reply.readline, b"")
        finally:
            if connection.sock is not None:
                connection.sock.close()
            connection.close()

    def events(self, values: Any) -> list[dict[str, Any]]:
        """Return the events of a question, each with its id."""
        with self.stream("/api/ask", values) as lines:
            return list(events_of(lines))


def events_of(lines: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    """Yield events: `id`, `event`, and what `data` holds."""
    event: dict[str, Any] = {}
    for line in lines:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name in ("id", "event"):
            event[name] = value
        elif name == "data":
            event["data"] = json.loads(value)
        elif not line.strip() and event:
            yield event
            event = {}


@contextmanager
def serving(
    graphs: Mapping[str, Graph | Path],
    *,
    model: LanguageModel | None = None,
    budget: Budget | None = None,
    keys: tuple[str, ...] = (),
    hosts: tuple[str, ...] = (),
    origins: tuple[str, ...] = (),
    page: Path | None = None,
    around: Callable[[ASGIApp], ASGIApp] = lambda app: app,
    speed: float = 1.0,
    most_connections: int | None = None,
    settings: Settings | None = None,
    has_cypher: bool = False,
    **site_fields: Any,
) -> Iterator[Client]:
    """Serve graphs until the end of the block, with what a test puts around the application.

    The server's loop takes a second for `speed` seconds, so that what it waits for long is over soon.
    """
    answering = Answering(settings or Settings(), budget or Budget(calls=30, seconds=45.0), model, has_cypher)
    site = HttpSite(answering=answering, **site_fields)
    for name, graph in graphs.items():
        served = ServedGraph(name, site.answering, count_reload=site.metrics.count_reload)
        served.open(graph.path if isinstance(graph, Graph) else graph)
        site.graphs.add(served)
    files = read_page_files() if page is None else read_page_files(page)
    let_in = guard_rules("127.0.0.1", keys=keys, allowed_hosts=hosts, origins=origins, open_paths=tuple(files))
    listener = listening_socket("127.0.0.1", 0)
    config = uvicorn_configuration(around(http_application(site, let_in, files)))
    if most_connections is not None:
        config.http = type("Few", (Connection,), {"most": most_connections})
    server = uvicorn.Server(config)

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: QuickLoop(speed)) as runner:
            runner.run(server.serve(sockets=[listener]))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        until(lambda: server.started)
        yield Client(listener.getsockname()[1], site)
    finally:
        server.should_exit = True
        thread.join(WAIT)
        listener.close()


class QuickLoop(asyncio.SelectorEventLoop):
    """A loop whose seconds are as many times shorter."""

    def __init__(self, speed: float) -> None:
        class Selector(selectors.DefaultSelector):  # type: ignore[misc]  # which one it is, the system says
            def select(self, timeout: float | None = None) -> Any:
                return super().select(None if timeout is None else timeout / speed)

        self._speed = speed
        super().__init__(Selector())

    def time(self) -> float:
        return super().time() * self._speed


def until(holds: Any) -> None:
    """Wait until something holds."""
    end = time.monotonic() + WAIT
    while not holds():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.01)
