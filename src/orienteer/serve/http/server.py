"""Listening: a socket that is ours before anything is promised, and an end in order."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from orienteer.errors import UsageError
from orienteer.serve.http.connections import MOST_CONNECTIONS, Connection

GRACE_SECONDS = 10
"""That what is under way has to end after SIGTERM; then questions are stopped."""
_KEEP_ALIVE_SECONDS = 30
_MOST_OF_A_HEAD = 64 * 1024  # bytes of a request line and its headers


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; a port of 0 is any free one. Raises `UsageError` where that cannot be."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # asyncio sends small replies at once over sockets that say they are TCP alone; else each would wait 40 ms.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, os.name == "posix")
            listener.bind((host, port))
            listener.listen(MOST_CONNECTIONS)
        except BaseException:
            listener.close()
            raise
        return listener
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"nothing can listen at {host}, port {port}: {why}; take another with --port") from error


def address_of(listener: socket.socket) -> str:
    """Return where a browser on this machine finds the server."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: ASGIApp, listener: socket.socket, *, started: Callable[[], None]) -> None:
    """Serve until the process is told to end; `started` is called once requests are answered."""
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # what fails is told by `problems`, without its request
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns of what is sent to clients that have left
    _Server(configuration(app), started).run(sockets=[listener])


def configuration(app: ASGIApp) -> uvicorn.Config:
    """Return how uvicorn serves an application of ours."""
    return uvicorn.Config(
        app,
        http=Connection,
        log_config=None,  # its own access log has query strings; ours is the guard's
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        h11_max_incomplete_event_size=_MOST_OF_A_HEAD,
    )


class _Server(uvicorn.Server):
    """A server that says when it has started."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._tell_started()
