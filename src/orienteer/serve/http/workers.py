"""Several processes that serve one address: each has the graphs mapped, and takes the next connection when it is idle.

They are forked before any of them has a thread, so graphs are opened once and their memory is shared. Whoever started
them waits, starts one that died again, and hands the signal to end on. A worker whose starter is gone ends by itself.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType

from orienteer.errors import BadOption, Error
from orienteer.serve.http.server import GRACE_SECONDS

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 0.1
_MOST_FAILURES = 3  # workers in a row that end before they serve


class Workers:
    """The processes. Only the main thread may use them."""

    def __init__(self, count: int, serve_one: Callable[[Callable[[], None]], None]) -> None:
        """`serve_one` serves until its process is told to end, and calls what it is given once it does.

        Raises `BadOption` where processes cannot be forked.
        """
        if not hasattr(os, "fork"):
            raise BadOption("--workers needs a system that can fork: start several servers, at ports of their own")
        self._count, self._serve_one = count, serve_one
        self._ready, self._is_ready = os.pipe()
        self._lifeline, self._held_line = os.pipe()
        os.set_blocking(self._ready, False)
        self._pids: set[int] = set()
        self._failures = 0  # since one was ready
        self._ends_at: float | None = None
        self._told_by: int | None = None

    def run(self, started: Callable[[], None]) -> None:
        """Serve until this process is told to end; `started` is called once all workers answer.

        Raises `Error` where no worker stays.
        """
        kept = {number: signal.signal(number, self._end) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            self._start()
            left = self._count
            while self._pids:
                self._look()
                if left and (left := max(0, left - self._new_ready())) == 0:
                    started()
                time.sleep(_LOOK_SECONDS)
        finally:
            self._kill()
            for number, handler in kept.items():
                signal.signal(number, handler)
        if self._failures >= _MOST_FAILURES:
            raise Error("no worker of the server stays: its log says why")
        if self._told_by is not None:
            signal.raise_signal(self._told_by)  # as one server ends that is told to

    def _start(self) -> None:
        while len(self._pids) < self._count:
            pid = os.fork()
            if pid == 0:
                self._work()
            self._pids.add(pid)

    def _work(self) -> None:
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

    def _look(self) -> None:
        """Start workers in place of those that have ended, or kill those that do not end in time."""
        while self._pids and (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
            self._pids.discard(ended[0])
            if self._ends_at is None:
                self._failures += 1
                logger.warning("a worker has ended (%s): another is started", _why(ended[1]))
        if self._ends_at is not None:
            if time.monotonic() > self._ends_at:
                self._kill()
        elif self._failures >= _MOST_FAILURES:
            self._end_all()
        else:
            self._start()

    def _new_ready(self) -> int:
        """Return how many more workers answer now."""
        try:
            count = len(os.read(self._ready, 1_000))
        except BlockingIOError:
            return 0
        self._failures = 0
        return count

    def _end(self, number: int, frame: FrameType | None) -> None:
        """Have all workers end in order, as a signal told."""
        self._told_by = number
        self._end_all()

    def _end_all(self) -> None:
        self._ends_at = self._ends_at or time.monotonic() + GRACE_SECONDS + 5
        for pid in self._pids:
            os.kill(pid, signal.SIGTERM)

    def _kill(self) -> None:
        for pid in self._pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self._pids.clear()


def _tell(pipe: int) -> None:
    os.write(pipe, b".")


def _end_with(lifeline: int) -> None:
    """End this process in order when whoever started it is gone."""
    os.read(lifeline, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def _why(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
