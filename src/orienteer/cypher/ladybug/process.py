"""The parent's end of the worker, which is started when needed, killed when too slow, and started again."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from orienteer.cypher.names import Bounds
from orienteer.errors import QueryStopped
from orienteer.records import JsonValue
from orienteer.sandbox.workers import PYTHON, DeadlinePassed, NotReady, PipeError, Worker, packages

_PROGRAM = Path(__file__).with_name("worker.py")
_GRACE = 1.0  # seconds beyond the engine's own limit, which bounds neither its planner nor its lists
_START = 30.0  # seconds that a worker may take to start
_LONGEST = 16 << 20  # bytes of an answer: ten times the largest one that the worker's bounds allow


class Answer(NamedTuple):
    """The engine's rows, or its complaint."""

    rows: list[list[Any]]  # Any: JSON
    total: int
    error: str | None


class Process:
    """One worker over one database. One thread at a time: its owner gives turns."""

    def __init__(self, file: Path) -> None:
        self.file = file
        """The database."""
        self._worker: Worker | None = None
        self.held: frozenset[str] = frozenset()
        """The names of the worker's walls: file size, memory, landlock, lifeline."""

    def ask(self, text: str, parameters: Mapping[str, JsonValue], bounds: Bounds) -> Answer:
        """Return the engine's answer. Raises `QueryStopped` where it takes too long or breaks."""
        seconds = bounds.seconds
        request = {"text": text, "parameters": dict(parameters), **bounds._asdict()}
        worker = self._running()
        deadline = time.monotonic() + seconds + _GRACE
        try:
            worker.pipe.send(request, deadline)
            answer = _answer(worker.pipe.receive(deadline))
        except DeadlinePassed as fault:
            self.close()
            raise QueryStopped(_too_long(seconds)) from fault
        except PipeError as fault:
            cause = worker.cause(fault)
            self.close()
            raise QueryStopped(_broken(cause)) from fault
        except BaseException:  # an interrupt: a late answer would be taken for the next request's
            self.close()
            raise
        if answer.error is not None and answer.error.startswith("Interrupted"):
            raise QueryStopped(_too_long(seconds))
        return answer

    def move_to(self, file: Path) -> None:
        """Answer from another database from now on."""
        if file != self.file:
            self.close()
            self.file = file

    def close(self) -> None:
        """End the worker."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()

    @property
    def is_running(self) -> bool:
        """Tell whether a worker is ready for a request."""
        return self._worker is not None and self._worker.is_running

    @property
    def worker(self) -> subprocess.Popen[bytes] | None:
        """Return the running process; None without one."""
        return None if self._worker is None else self._worker.popen

    def _running(self) -> Worker:
        if self._worker is not None and self._worker.is_running:  # as `is_running`, so that a type checker follows
            return self._worker
        self.close()
        command = [sys.executable, *PYTHON, str(_PROGRAM), str(self.file.absolute())]
        worker = Worker(command, longest=_LONGEST, environment=packages(), folder=self.file.parent)
        try:
            self.held = worker.ready(_START)
        except NotReady as fault:
            told = f"the Cypher engine did not start on {self.file} ({fault})"
            raise QueryStopped(told, paths=[self.file, Path(sys.executable)]) from fault
        self._worker = worker
        return worker


def _answer(message: Mapping[str, Any]) -> Answer:  # Any: JSON
    """Read a message as an answer. Raises `PipeError` for another form: a query may have broken the engine."""
    rows, total, error = message.get("rows", []), message.get("total", 0), message.get("error")
    is_table = isinstance(rows, list) and all(isinstance(row, list) for row in rows) and isinstance(total, int)
    if not is_table or not (error is None or isinstance(error, str)):
        raise PipeError("it answered in an unknown form")
    return Answer(rows, total, error)


def _broken(cause: str) -> str:
    """Return the message for a query that broke the engine."""
    return (
        f"the query broke the Cypher engine ({cause}): it has been started again; "
        "ask for less, with types in the pattern and a LIMIT"
    )


def _too_long(seconds: float) -> str:
    return (
        f"the query took longer than {seconds:g} s and was stopped: begin with a node by its id, give types to nodes "
        "and edges, and use fewer hops"
    )
