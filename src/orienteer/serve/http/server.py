"""Listening: a socket that is bound before anything is promised, slow clients, worker processes."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from orienteer.errors import BadOption, Error, UsageError

GRACE_SECONDS = 10
"""The time for running requests to end after SIGTERM; then questions are stopped."""
_KEEP_ALIVE_SECONDS = 30
_MOST_OF_A_HEAD = 64 * 1024  # bytes of a request line and its headers


def listening(host: str, port: int) -> socket.socket:
    """Return a listening socket; a port of 0 is any free one. Raises `UsageError` if the system refuses."""
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
    """Return the server's address for a browser on this machine."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: ASGIApp, listener: socket.socket, *, started: Callable[[], None]) -> None:
    """Serve until a signal ends the process; `started` is called once requests are answered."""
    # The guard logs errors without their request.
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    # It would warn of replies to clients that have left.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    _Server(configuration(app), started).run(sockets=[listener])


def configuration(app: ASGIApp) -> uvicorn.Config:
    """Return the configuration of uvicorn."""
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
    """A server that reports when it has started."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_start()


# Connections: time limits for requests and for taking replies, and the choice of one to close if there are too many.
#
# uvicorn limits their number, but not the time of a head, so a few hundred that never end one would keep everyone out.
# Here a new connection gets in unless all others have a request. It replaces an idle one: of the address with the most
# idle connections, the one that has waited longest.


HEAD_SECONDS = 10.0
"""The time for a whole head: of a new connection, and of one that is kept, from the first byte of the next request."""
REQUEST_SECONDS = 30.0
"""The time for the rest. The reader of bodies waits less long, and says so (`bodies`)."""
TAKE_SECONDS = 30.0
"""The time in which a slow client must take `LEAST_TAKEN` of a reply, or all that is left."""
LEAST_TAKEN = 30_000
"""Bytes: a kilobyte a second."""
MOST_CONNECTIONS = 400


class Connection(H11Protocol):
    """A connection of uvicorn's that ends if its client takes too long."""

    most = MOST_CONNECTIONS
    """The limit of connections at once."""

    def __init__(self, *args: Any, **options: Any) -> None:  # Any: what uvicorn hands on
        super().__init__(*args, **options)
        self._late: asyncio.TimerHandle | None = None
        # It is compared by identity.
        # The request whose body is awaited, `_HEAD`, or None.
        self._awaited: object = None
        self._stalled: asyncio.TimerHandle | None = None
        self._waits_since = self.loop.time()

    @property
    def _is_waiting(self) -> bool:
        """Whether no request is running."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def _address(self) -> str:
        return self.client[0] if self.client is not None else ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Take a connection, closing another if there are too many."""
        super().connection_made(transport)
        # So the transport reports every byte that its client does not take.
        transport.set_write_buffer_limits(high=0)
        self._make_room()
        self._await(_HEAD, HEAD_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._await(None)
        self._watch_stall(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, and set the time limit for the rest."""
        super().data_received(data)
        if self._is_waiting:
            self._await(_HEAD, HEAD_SECONDS)
        else:
            self._await_rest()

    def on_response_complete(self) -> None:
        """Wait for the next request, as long as uvicorn keeps a silent connection."""
        self._waits_since = self.loop.time()
        # This begins the next request if it is here already.
        super().on_response_complete()
        self._await_rest()

    def pause_writing(self) -> None:
        """Note that the client does not take its reply."""
        super().pause_writing()
        self._watch_stall(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """Note that the client has taken all."""
        super().resume_writing()
        self._watch_stall(None)

    def _await_rest(self) -> None:
        is_all_there = self._is_waiting or not self.cycle.more_body
        self._await(None if is_all_there else self.cycle, REQUEST_SECONDS)

    def _await(self, awaited: object, seconds: float = 0.0) -> None:
        """Close the connection unless `awaited` comes in time; None cancels. The same `awaited` gets no more time."""
        if awaited is self._awaited or (awaited is not None and self.transport.is_closing()):
            return
        if self._late is not None:
            self._late.cancel()
        self._awaited = awaited
        self._late = None if awaited is None else self.loop.call_later(seconds, self.transport.abort)

    def _watch_stall(self, unsent: int | None) -> None:
        """Check after a while whether the client has taken some of the `unsent` bytes; None cancels."""
        if self._stalled is not None:
            self._stalled.cancel()
        self._stalled = None if unsent is None else self.loop.call_later(TAKE_SECONDS, self._end_stall, unsent)

    def _end_stall(self, unsent: int) -> None:
        left = self.transport.get_write_buffer_size()
        if unsent - left < LEAST_TAKEN:
            self.transport.abort()
        else:
            self._watch_stall(left)

    def _make_room(self) -> None:
        others = [each for each in self.connections if isinstance(each, Connection) and each is not self]
        open_ones = [each for each in others if not each.transport.is_closing()]
        if len(open_ones) < self.most:
            return
        waiting = [each for each in open_ones if each._is_waiting] or [self]
        held = Counter(each._address for each in waiting)
        longest = min(waiting, key=lambda each: (-held[each._address], each._waits_since))
        longest.transport.abort()


_HEAD: Final = object()


# Several processes that serve one address: each has the graphs mapped, and takes the next connection when it is idle.
#
# They are forked before any of them has a thread, so graphs are opened once and their memory is shared. The parent
# waits, restarts a worker that died, and passes on the signal to end. A worker whose parent is gone ends by itself.
#
# A worker that dies after it has served is always restarted: memory may run out once a week. One that ends before it
# serves is a failed start. After three within a minute none is tried until the first is a minute old, and the server
# ends once no worker is left.


logger = logging.getLogger(__name__)

_LOOK_SECONDS = 0.1
_MOST_FAILURES = 3  # starts within `_MINUTE` that come to nothing
_MINUTE = 60.0  # seconds
_PID = struct.Struct("=i")


class Workers:
    """Keeps `count` workers. Only the main thread may use it."""

    def __init__(
        self,
        count: int,
        processes: Forks,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._count, self._processes, self._clock, self._sleep = count, processes, clock, sleep
        self._there: set[int] = set()
        self._serving: set[int] = set()
        # The times of failed starts within the last minute.
        self._failures: deque[float] = deque()
        self._ends_at: float | None = None
        self._signal: int | None = None

    def run(self, started: Callable[[], None]) -> None:
        """Serve until a signal; `started` is called once all workers answer. Raises `Error` if none can start."""
        kept = {number: signal.signal(number, self._end) for number in (signal.SIGTERM, signal.SIGINT)}
        has_started = False
        try:
            self._start()
            while self._there:
                if ready := self._there.intersection(self._processes.ready()):
                    self._serving |= ready
                    self._failures.clear()
                for worker, why in self._processes.ended():
                    self._there.discard(worker)
                    if self._ends_at is None:
                        self._note_end(why, has_served=worker in self._serving)
                    self._serving.discard(worker)
                if self._ends_at is None:
                    self._start()
                elif self._clock() > self._ends_at:
                    self._kill()
                if not has_started and len(self._serving) == self._count:
                    has_started = True
                    started()
                self._sleep(_LOOK_SECONDS)
        finally:
            self._kill()
            for number, handler in kept.items():
                signal.signal(number, handler)
        if self._signal is None:
            raise Error("no worker of the server stays: its log says why")
        # The process ends like a single server.
        signal.raise_signal(self._signal)

    def _note_end(self, why: str, *, has_served: bool) -> None:
        if has_served:
            logger.warning("a worker has ended (%s): another is started", why)
        else:
            self._failures.append(self._clock())
            logger.warning("a worker has ended before it served (%s)", why)

    def _start(self) -> None:
        """Start the missing workers, unless too many starts have failed."""
        while self._failures and self._failures[0] < self._clock() - _MINUTE:
            self._failures.popleft()
        while len(self._there) < self._count and len(self._failures) < _MOST_FAILURES:
            try:
                self._there.add(self._processes.start())
            except OSError as error:
                self._note_end(str(error.strerror or error), has_served=False)

    def _end(self, number: int, frame: FrameType | None) -> None:
        """Have all workers end in order, after a signal."""
        self._signal = number
        self._ends_at = self._ends_at or self._clock() + GRACE_SECONDS + 5
        for worker in self._there:
            self._processes.end(worker)

    def _kill(self) -> None:
        for worker in self._there:
            self._processes.kill(worker)
        self._there.clear()


class Forks:
    """Workers that are forks of this process."""

    def __init__(self, serve_one: Callable[[Callable[[], None]], None]) -> None:
        """`serve_one` serves until a signal, and calls its argument once it does. Raises `BadOption`."""
        if not hasattr(os, "fork"):
            raise BadOption("--workers needs a system that can fork: start several servers, at ports of their own")
        self._serve_one = serve_one
        self._ready, self._is_ready = os.pipe()
        self._lifeline, self._held_line = os.pipe()
        os.set_blocking(self._ready, False)

    def start(self) -> int:
        """Fork a worker."""
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                for number in (signal.SIGTERM, signal.SIGINT):
                    signal.signal(number, signal.SIG_DFL)
                os.close(self._held_line)
                threading.Thread(target=_end_with, args=(self._lifeline,), daemon=True).start()
                self._serve_one(self._report_ready)
                code = 0
            except Exception:
                logger.exception("a worker has ended")
            finally:
                os._exit(code)
        return pid

    def _report_ready(self) -> None:
        os.write(self._is_ready, _PID.pack(os.getpid()))

    def ready(self) -> list[int]:
        """Return the workers that have reported that they serve."""
        try:
            return [pid for (pid,) in _PID.iter_unpack(os.read(self._ready, 1_000 * _PID.size))]
        except BlockingIOError:
            return []

    def ended(self) -> list[tuple[int, str]]:
        """Return the workers that have ended, with their exit code or signal."""
        ended = []
        # No worker may be left.
        with suppress(ChildProcessError):
            while (waited := os.waitpid(-1, os.WNOHANG))[0]:
                code = os.waitstatus_to_exitcode(waited[1])
                ended.append((waited[0], signal.Signals(-code).name if code < 0 else f"exit code {code}"))
        return ended

    def end(self, worker: int) -> None:
        """Send SIGTERM."""
        # The worker may have ended this very moment.
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGTERM)

    def kill(self, worker: int) -> None:
        """Send SIGKILL, and wait until the worker is gone."""
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(worker, signal.SIGKILL)
            os.waitpid(worker, 0)


def _end_with(lifeline: int) -> None:
    """End this process in order when its parent is gone."""
    os.read(lifeline, 1)
    os.kill(os.getpid(), signal.SIGTERM)
