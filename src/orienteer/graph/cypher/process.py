"""The other end of the worker: started when it is needed, killed when it takes too long, started again when it died."""

from __future__ import annotations

import json
import os
import select
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from orienteer.errors import QueryStopped
from orienteer.graph.cypher.table import Bounds
from orienteer.records import JsonValue
from orienteer.sandbox.pipe import is_ready

_GRACE = 1.0  # seconds: the engine's own limit bounds neither its planner nor its lists
_START = 30.0  # seconds
_KEPT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "PYTHONPATH", "PYTHONHOME")


class Answer(NamedTuple):
    """What the engine gave: rows, or what it complained of."""

    rows: list[list[Any]]  # Any: JSON
    total: int
    error: str | None


class Process:
    """One worker over one database. Not shared among threads; its owner takes turns."""

    def __init__(self, file: Path) -> None:
        self.file = file
        """The database."""
        self._worker: subprocess.Popen[bytes] | None = None
        self.held: frozenset[str] = frozenset()
        """Which limits hold the worker: file size, memory, landlock."""

    def ask(self, text: str, parameters: Mapping[str, JsonValue], bounds: Bounds) -> Answer:
        """Return what the engine answers. Raises `QueryStopped` where it takes too long or breaks."""
        seconds = bounds.seconds
        request = {"text": text, "parameters": dict(parameters), **bounds._asdict()}
        worker = self._running()
        answer = self._exchanged(worker, request, seconds + _GRACE)
        if answer is None:
            raise QueryStopped(_stopped(worker, seconds))
        error = answer.get("error")
        if error is not None and error.startswith("Interrupted"):
            raise QueryStopped(_too_long(seconds))
        return Answer(answer.get("rows", []), answer.get("total", 0), error)

    def close(self) -> None:
        """End the worker."""
        worker, self._worker = self._worker, None
        if worker is not None:
            end(worker)

    @property
    def is_running(self) -> bool:
        """Tell whether a worker is there to be asked."""
        return self._worker is not None and self._worker.poll() is None

    @property
    def worker(self) -> subprocess.Popen[bytes] | None:
        """The process that runs, if one does."""
        return self._worker

    def _running(self) -> subprocess.Popen[bytes]:
        if self._worker is not None and self._worker.poll() is None:  # as is_running, in words a type checker reads
            return self._worker
        self.close()
        worker = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("worker.py")), str(self.file.absolute())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _KEPT if name in os.environ},  # and no keys of anybody's
            cwd=self.file.parent,
        )
        self._worker = worker
        answer = self._exchanged(worker, None, _START)
        if answer is None:
            raise QueryStopped(f"the Cypher engine did not start on {self.file} (exit code {worker.poll()})")
        self.held = frozenset(answer["ready"])
        return worker

    def _exchanged(
        self, worker: subprocess.Popen[bytes], request: Mapping[str, Any] | None, seconds: float
    ) -> dict[str, Any] | None:
        """Return an answer; None where the worker ended before it gave one, or was killed for its slowness."""
        try:
            assert worker.stdin is not None
            if request is not None:
                data = _encode(request).encode()
                worker.stdin.write(struct.pack("!I", len(data)) + data)
                worker.stdin.flush()
            body = _answer(worker, seconds)
            answer: dict[str, Any] | None = json.loads(body) if body else None
        except (OSError, ValueError):  # the pipe is closed, or the answer was cut off
            answer = None
        if answer is None:
            end(worker)
            self._worker = None
        return answer


@contextmanager
def _killed_after(worker: subprocess.Popen[bytes], seconds: float) -> Iterator[None]:
    """Kill a worker that gives no answer in time."""
    killer = threading.Timer(seconds, worker.kill)
    killer.daemon = True
    killer.start()
    try:
        yield
    finally:
        killer.cancel()


def _answer(worker: subprocess.Popen[bytes], seconds: float) -> bytes:
    """Return what a worker says; nothing where it ends before, or is killed for saying nothing in time."""
    assert worker.stdout is not None
    if sys.platform == "win32":  # pipes cannot be waited for there
        with _killed_after(worker, seconds):
            return _message(worker.stdout)
    if not is_ready(worker.stdout.fileno(), select.POLLIN, seconds):
        worker.kill()
    return _message(worker.stdout)


def _message(stream: IO[bytes]) -> bytes:
    head = stream.read(4)
    return stream.read(struct.unpack("!I", head)[0]) if len(head) == 4 else b""


_encode = json.JSONEncoder(ensure_ascii=False).encode


def end(worker: subprocess.Popen[bytes]) -> None:
    """Kill a worker, wait for its end and close its pipes."""
    worker.kill()
    worker.wait()
    for stream in (worker.stdin, worker.stdout):
        if stream is not None:
            try:
                stream.close()
            except OSError:  # a request that it never read is still in the buffer
                continue


def _stopped(worker: subprocess.Popen[bytes], seconds: float) -> str:
    if worker.returncode == -9 or sys.platform == "win32":
        return _too_long(seconds)
    return (
        f"the query broke the Cypher engine (exit code {worker.returncode}): it has been started again; "
        "ask for less, with types in the pattern and a LIMIT"
    )


def _too_long(seconds: float) -> str:
    return (
        f"the query took longer than {seconds:g} s and was stopped: begin with a node by its id, give types to nodes "
        "and edges, and use fewer hops"
    )
