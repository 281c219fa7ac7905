"""Several processes that serve one address: each has the graphs mapped, and takes the next connection when it is idle.

They are forked before any of them has a thread, so graphs are opened once and their memory is shared. Whoever started
them waits, starts one that died again, and hands the signal to end on. A worker whose starter is gone ends by itself.

A worker that dies after it has served is started again, however often: memory may run out once a week. One that ends
before it serves is a failed start; after a few within a minute no other is tried until the first of them is a minute
old, and the server ends once nobody is left.
"""

from __future__ import annotations

import logging
import os
import signal
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FrameType
from typing import NoReturn, Protocol

from orienteer.errors import BadOption, Error
from orienteer.serve.http.server import GRACE_SECONDS

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 0.1
_MOST_FAILURES = 3  # starts within `_MINUTE` that come to nothing
_MINUTE = 60.0  # seconds
_PID = struct.Struct("=i")


class Processes(Protocol):
    """What starts and ends workers."""

    def start(self) -> int:
        """Start a worker and return its number. Raises `OSError` if the system has no room for it."""

    def ready(self) -> list[int]:
        """Return the workers that serve and were not told of before."""

    def ended(self) -> list[tuple[int, str]]:
        """Return the workers that have ended and were not told of before, each with the cause."""

    def end(self, worker: int) -> None:
        """Tell a worker to end in order."""

    def kill(self, worker: int) -> None:
        """End a worker at once; nothing is told of it any more."""


class Workers:
    """Keeps so many workers. Only the main thread may use it."""

    def __init__(
        self,
        count: int,
        processes: Processes,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._count, self._processes, self._clock, self._sleep = count, processes, clock, sleep
        self._there: set[int] = set()
        self._serving: set[int] = set()
        self._failures: deque[float] = deque()
        """When starts came to nothing, within the last minute."""
        self._ends_at: float | None = None
        self._told_by: int | None = None

    def run(self, started: Callable[[], None]) -> None:
        """Serve until this process is told to end; `started` is called once all workers answer.

        Raises `Error` if no worker is left and none can be started.
        """
        kept = {number: signal.signal(number, self._end) for number in (signal.SIGTERM, signal.SIGINT)}
        has_started = False
        try:
            self._start()
            while self._there:
                self._look()
                if not has_started and len(self._serving) == self._count:
                    has_started = True
                    started()
                self._sleep(_LOOK_SECONDS)
        finally:
            self._kill()
            for number, handler in kept.items():
                signal.signal(number, handler)
        if self._told_by is None:
            raise Error("no worker of the server stays: its log says why")
        signal.raise_signal(self._told_by)  # as one server ends that is told to

    def _look(self) -> None:
        """Start workers in place of those that have ended, or kill those that do not end in time."""
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

    def _note_end(self, why: str, *, has_served: bool) -> None:
        if has_served:
            logger.warning("a worker has ended (%s): another is started", why)
        else:
            self._failures.append(self._clock())
            logger.warning("a worker has ended before it served (%s)", why)

    def _start(self) -> None:
        """Start the workers that are missing, unless too many starts have failed."""
        while self._failures and self._failures[0] < self._clock() - _MINUTE:
            self._failures.popleft()
        while len(self._there) < self._count and len(self._failures) < _MOST_FAILURES:
            try:
                self._there.add(self._processes.start())
            except OSError as error:
                self._note_end(str(error.strerror or error), has_served=False)

    def _end(self, number: int, frame: FrameType | None) -> None:
        """Have all workers end in order, as a signal told."""
        self._told_by = number
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
        """`serve_one` serves until its process is told to end, and calls what it is given once it does.

        Raises `BadOption` where processes cannot be forked.
        """
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
            self._work()
        return pid

    def _work(self) -> NoReturn:
        """Serve, in a new process, which ends here."""
        code = 1
        try:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            os.close(self._held_line)
            threading.Thread(target=_end_with, args=(self._lifeline,), daemon=True).start()
            self._serve_one(lambda: _tell(self._is_ready))
            code = 0
        except Exception:
            logger.exception("a worker has ended")
        finally:
            os._exit(code)

    def ready(self) -> list[int]:
        """Return the workers that have told that they serve."""
        try:
            return [pid for (pid,) in _PID.iter_unpack(os.read(self._ready, 1_000 * _PID.size))]
        except BlockingIOError:
            return []

    def ended(self) -> list[tuple[int, str]]:
        """Return the workers that have ended, with their exit code or signal."""
        return list(self._reaped())

    def _reaped(self) -> Iterator[tuple[int, str]]:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:  # none is left
                return
            if pid == 0:
                return
            yield pid, _why(status)

    def end(self, worker: int) -> None:
        """Send SIGTERM."""
        with suppress(ProcessLookupError):  # it has ended this very moment
            os.kill(worker, signal.SIGTERM)

    def kill(self, worker: int) -> None:
        """Send SIGKILL, and wait until the worker is gone."""
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(worker, signal.SIGKILL)
            os.waitpid(worker, 0)


def _tell(pipe: int) -> None:
    os.write(pipe, _PID.pack(os.getpid()))


def _end_with(lifeline: int) -> None:
    """End this process in order when whoever started it is gone."""
    os.read(lifeline, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def _why(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
