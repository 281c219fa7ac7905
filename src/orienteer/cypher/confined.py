"""Statements of strangers, answered by worker processes behind walls; `worker` is their end."""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orienteer.cypher.algebra.engine import Arrays
from orienteer.cypher.names import Bounds, QueryTable
from orienteer.cypher.patterns import Scope, kind_of_parameter
from orienteer.cypher.syntax import CypherStatement
from orienteer.elements import JsonValue
from orienteer.errors import (
    BadOption,
    BadQuery,
    Error,
    NotAGraph,
    QueryStopped,
    Unknown,
    UnknownProperty,
    UnknownType,
)
from orienteer.graph.store import Graph
from orienteer.query.expressions import Binary, parts
from orienteer.sandbox.workers import PYTHON, DeadlinePassed, NotReady, PipeError, Worker, packages

WORKERS = 4
"""Processes that may answer at once, each started when all others are busy."""
_PROGRAM = Path(__file__).with_name("worker.py")
_GRACE = 1.0  # seconds beyond the statement's own limit, after which its worker is killed
_START = 30.0  # seconds that a worker may take to start
_LONGEST = 16 << 20  # bytes of an answer: ten times the largest one that the bounds allow

_ERRORS: Mapping[str, type[Error]] = {
    kind.__name__: kind for kind in (BadOption, BadQuery, NotAGraph, QueryStopped, UnknownProperty, UnknownType)
}
"""What a statement can raise, by the name that a worker sends."""


class ConfinedEngine:
    """Answers statements in worker processes. Safe to share among threads: each takes a worker, or waits its turn.

    A statement without a text was made by our own code, and is answered in this process.
    """

    def __init__(self, graph: Graph) -> None:
        self._own = Arrays(graph)
        self.names = self._own.names
        self._turns = _Turns([_Process(graph.path, graph.arrays.generation) for _ in range(WORKERS)])
        weakref.finalize(self, _end, self._turns.processes)

    def answer(self, statement: CypherStatement, parameters: Mapping[str, JsonValue], bounds: Bounds) -> QueryTable:
        """Return the answer to a statement; see `Engine.answer`."""
        if not statement.text:
            return self._own.answer(statement, parameters, bounds)
        view = None if statement.view is None else statement.view.model_dump()
        scope = Scope(self.names, parameters)
        used = {name: scope.value(name) for name in statement.parameters}
        for name, value in used.items():
            # JSON cannot hold all of what Python can.
            kind_of_parameter(name, value)
        request = {"text": statement.text, "view": view, "parameters": used, "laid": statement.laid, **bounds._asdict()}
        with self._turns.turn(bounds.seconds) as process:
            message = process.ask(request, bounds.seconds)
        if message is None:
            # The graph on disk is another by now; this one is mapped here. An expression may match without end.
            if any(part.operator == "=~" for part in parts(statement, Binary)):
                raise QueryStopped("=~ is not answered over a graph that was published again: open the graph again")
            return self._own.answer(statement, parameters, bounds)
        if "error" in message:
            raise _error(message)
        return QueryTable.model_validate(message)

    def check(self, statement: CypherStatement, parameters: Mapping[str, JsonValue]) -> None:
        """Raise the errors of `answer` that need no look at the graph."""
        self._own.check(statement, parameters)

    def close(self) -> None:
        """End the workers once their statements have ended; the next statement starts another."""
        self._turns.close()


class _Process:
    """One worker over a graph, started when needed and killed when too slow. One thread at a time."""

    def __init__(self, path: Path, generation: str) -> None:
        self._path, self._generation = path, generation
        self._worker: Worker | None = None
        self.held: frozenset[str] = frozenset()
        """The names of the worker's walls: file size, memory, landlock, lifeline."""

    def ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any] | None:  # Any: JSON
        """Return the worker's answer; None if the graph on disk is another by now. Raises `QueryStopped`."""
        worker = self._running()
        if worker is None:
            return None
        deadline = time.monotonic() + seconds + _GRACE
        try:
            worker.pipe.send(request, deadline)
            return worker.pipe.receive(deadline)
        except DeadlinePassed as fault:
            self.close()
            raise QueryStopped(
                f"the query took longer than {seconds:g} s and was stopped: begin with a node by its id, give types to "
                "nodes and edges, and use fewer hops"
            ) from fault
        except PipeError as fault:
            cause = worker.cause(fault)
            self.close()
            raise QueryStopped(
                f"the query broke the Cypher worker ({cause}): it has been started again; ask for less, with types in "
                "the pattern and a LIMIT"
            ) from fault
        except BaseException:
            # An interrupt: a late answer would be taken for the next request's.
            self.close()
            raise

    def _running(self) -> Worker | None:
        if self._worker is not None and self._worker.is_running and self._worker.is_ours:
            return self._worker
        self.close()
        command = [sys.executable, *PYTHON, str(_PROGRAM), str(self._path.absolute()), self._generation]
        worker = Worker(command, longest=_LONGEST, environment=packages())
        try:
            self.held = worker.ready(_START)
        except NotReady as fault:
            if fault.extra == "generation":
                return None
            paths = [self._path, Path(sys.executable)]
            raise QueryStopped(f"the Cypher worker did not start on {self._path} ({fault})", paths=paths) from fault
        self._worker = worker
        return worker

    def close(self) -> None:
        """End the worker."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()


class _Turns:
    """Hands processes to threads in the order in which they came; an idle one that ran last goes first."""

    def __init__(self, processes: Iterable[_Process]) -> None:
        self.processes = tuple(processes)
        self._idle = list(reversed(self.processes))
        self._waiting: deque[_Waiter] = deque()
        self._leaving = set[_Process]()
        self._lock = threading.Lock()

    @contextmanager
    def turn(self, seconds: float) -> Iterator[_Process]:
        """Wait for a process and take it. Raises `QueryStopped` after so many seconds."""
        waiter = _Waiter()
        with self._lock:
            if self._idle:
                waiter.process = self._idle.pop()
            else:
                self._waiting.append(waiter)
        if waiter.process is None:
            waiter.is_given.wait(seconds)
            with self._lock:
                if waiter.process is None:
                    self._waiting.remove(waiter)
                    raise QueryStopped(f"other queries kept the Cypher workers busy for {seconds:g} s: ask again")
        try:
            yield waiter.process
        finally:
            self._give(waiter.process)

    def _give(self, process: _Process) -> None:
        with self._lock:
            is_leaving = process in self._leaving
            self._leaving.discard(process)
        if is_leaving:
            process.close()
        with self._lock:
            if not self._waiting:
                self._idle.append(process)
                return
            first = self._waiting.popleft()
            first.process = process
            first.is_given.set()

    def close(self) -> None:
        """End all workers, each once it is idle."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._leaving = {process for process in self.processes if process not in idle}
        for process in idle:
            process.close()
            self._give(process)


class _Waiter:
    """A thread that waits for a process."""

    def __init__(self) -> None:
        self.is_given = threading.Event()
        self.process: _Process | None = None


def _error(message: Mapping[str, Any]) -> Error:  # Any: JSON
    """Return the error that a worker met."""
    kind, text = _ERRORS.get(str(message["error"]), QueryStopped), str(message["message"])
    return kind(text, message.get("near") or ()) if issubclass(kind, Unknown) else kind(text)


def _end(processes: Iterable[_Process]) -> None:
    for process in processes:
        process.close()
