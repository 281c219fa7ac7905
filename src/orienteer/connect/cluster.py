"""The executor of many machines: the nodes of a running Ray cluster.

A process on each CPU opens the work once and does several pieces at a time. A thread here waits for each piece, so
that `Threads` takes and orders the results. If a process dies, another one repeats its unfinished pieces; replies of
models that it received are not lost, for the caller keeps them.
"""

from __future__ import annotations

import os
import pickle
import socket
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from threading import Condition, Lock, Thread
from types import TracebackType
from typing import Any, Generic, Self, cast

from orienteer.errors import BadOption, Error, MissingExtra, UsageError
from orienteer.executors import Job, Opener, Outcome, Piece, Place, Recipe, Threads, Worker
from orienteer.llm.replies import ReplyFile
from orienteer.records import Reply
from orienteer.version import __version__

AUTO = "auto"
"""The address of this machine's cluster."""
A_PROCESS = 8
"""Pieces that wait for a model in one process at a time, as many as threads on one machine."""
# Processes that may die over one piece before the piece is blamed.
_ATTEMPTS = 3
# Seconds without a working process after which the work ends.
_PATIENCE = 120.0
# Seconds between two checks for new nodes.
_LOOK_SECONDS = 5.0
_CONNECT_SECONDS = 5.0


class Cluster:
    """A running Ray cluster; the caller is on one of its nodes. A context manager."""

    def __init__(self, address: str, opener: Opener) -> None:
        """`opener` is pickled to the nodes. Raises `BadOption` for an invalid address, `MissingExtra`."""
        host, _, port = address.rpartition(":")
        if address != AUTO and not (host and "/" not in host and port.isdecimal()):
            raise BadOption(
                f"--ray must be HOST:PORT of a cluster's head, such as 192.0.2.1:6379, or {AUTO}, is {address!r}: "
                "start one with ray start --head, and join this machine to it; see docs/guides/ray.md"
            )
        self._address, self._opener = address, pickle.dumps(opener)
        try:
            import ray
        except ImportError as error:
            raise MissingExtra("work on a cluster", "ray") from error
        self._ray = ray
        self.places: int | None = None

    def __enter__(self) -> Self:
        """Connect. Raises `BadOption` if no cluster answers."""
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        # Ray itself would try for minutes.
        if self._address != AUTO:
            host, _, port = self._address.rpartition(":")
            try:
                socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()
            except (OSError, OverflowError) as error:
                raise BadOption(
                    f"no Ray cluster answers at {self._address} ({error}): is it started, and the port right?"
                ) from error
        try:
            self._ray.init(address=self._address, log_to_driver=False, configure_logging=False, logging_level="ERROR")
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise BadOption(f"--ray {self._address}: {_first_line(error)}; see docs/guides/ray.md") from error
        self.places = A_PROCESS * self._cpus()
        return self

    def __exit__(self, *_: object) -> None:
        self._ray.shutdown()

    def results(
        self, job: Job[Piece, Outcome], pieces: Iterable[Piece], *, in_order: bool = False
    ) -> Generator[Outcome, None, None]:
        """Yield the result of each piece; see `Executor.results`. Raises `Error` if no node is left."""
        pieces = iter(pieces)
        first = list(islice(pieces, 1))
        if not first:
            return
        processes = self._cpus() if job.limit is None else min(self._cpus(), job.limit)
        at_once = processes * job.threads if job.limit is None else job.limit
        with _Crew(self._ray, job, self._opener, processes) as crew:
            there = Worker(crew.do, None if job.here.stop is None else crew.stop)
            spread = replace(job, here=there, threads=at_once, waits=True)
            yield from Threads().results(spread, chain(first, pieces), in_order=in_order)

    def _cpus(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 0)))


@dataclass(slots=True, eq=False)
class _Process:
    """A process on a node, and the number of its unfinished pieces."""

    actor: Any  # Ray has no type for it
    is_ready: bool = False
    pieces: int = 0


class _Crew(Generic[Piece, Outcome]):
    """The processes that do a job, each on a CPU of some node. One that dies is replaced if a CPU is free."""

    def __init__(self, ray: Any, job: Job[Piece, Outcome], opener: bytes, processes: int) -> None:
        self._ray, self._most, self._threads = ray, processes, job.threads
        self._recipe, self._opener = pickle.dumps(job.recipe), opener
        self._changed = Condition()
        self._processes: list[_Process] = []
        self._failure: Error | None = None
        self._failed_starts = self._calls = 0
        self._last_look = self._last_ready = time.monotonic()
        self._kind = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD")(
            NodeProcess
        ).options(max_concurrency=job.threads + 2)  # beside its pieces, it hears `stop`
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            ray.get_runtime_context().get_node_id(), soft=False
        )
        # Without arguments, so that it can be restarted: files are opened at first use.
        self._keeper = ray.remote(
            num_cpus=0, max_restarts=-1, max_task_retries=-1, max_concurrency=16, scheduling_strategy=here
        )(ReplyKeeper).remote()

    def __enter__(self) -> Self:
        with self._changed:
            self._fill()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Wait for unfinished pieces, so that their paid replies are kept, and end all processes."""
        try:
            with self._changed:
                self._changed.wait_for(lambda: self._calls == 0)
        finally:
            with self._changed:
                self._failure = Error("the work has ended")
                self._changed.notify_all()
            for process in self._processes:
                self._ray.kill(process.actor)
            self._ray.kill(self._keeper)

    def stop(self) -> None:
        """Ask the unfinished pieces to end soon."""
        for process in self._processes:
            process.actor.stop.remote()

    def do(self, piece: Piece) -> Outcome:
        """Return the outcome of a piece. Raises its error, and `Error` if processes die over it, or none is left."""
        lost = ""
        for _ in range(_ATTEMPTS):
            process = self._take()
            try:
                given = self._ray.get(process.actor.do.remote(piece))
            except self._ray.exceptions.RayTaskError:
                # A mistake of ours: it would happen again.
                self._give_back(process)
                raise
            except self._ray.exceptions.RayError as error:
                lost = _first_line(error)
                # A process that is alive but out of reach is ended once it is reached.
                self._give_back(process)
                with self._changed:
                    if process in self._processes:
                        self._processes.remove(process)
                        self._ray.kill(process.actor)
                        self._last_look, self._last_ready = 0.0, time.monotonic()
                        self._changed.notify_all()
            else:
                self._give_back(process)
                if isinstance(given, Failure):
                    raise given.error
                return given  # type: ignore[no-any-return]  # what the work gives
        raise Error(f"{_ATTEMPTS} processes died over one piece of work, the last one so: {lost}")

    def _take(self) -> _Process:
        with self._changed:
            while True:
                if self._failure is not None:
                    raise self._failure
                self._fill()
                free = [one for one in self._processes if one.is_ready and one.pieces < self._threads]
                if free:
                    process = min(free, key=lambda one: one.pieces)
                    process.pieces += 1
                    self._calls += 1
                    return process
                self._changed.wait(1.0)
                # A cluster that lost its nodes reports nothing: the command would wait for ever.
                now = time.monotonic()
                if any(process.is_ready for process in self._processes):
                    self._last_ready = now
                elif now - self._last_ready > _PATIENCE:
                    nodes = sum(node["Alive"] for node in self._ray.nodes())
                    raise Error(
                        f"no process could work for {_PATIENCE:g} s, with {nodes} nodes alive: look at ray status. "
                        "What is done is kept: the same command goes on from there"
                    )

    def _give_back(self, process: _Process) -> None:
        with self._changed:
            process.pieces -= 1
            self._calls -= 1
            self._changed.notify()

    def _fill(self) -> None:
        """Start a process for each CPU without one: at the beginning, and after nodes died or came."""
        if self._processes and time.monotonic() - self._last_look < _LOOK_SECONDS:
            return
        self._last_look = time.monotonic()
        alive = sum(int(node["Resources"].get("CPU", 0)) for node in self._ray.nodes() if node["Alive"])
        for _ in range(min(self._most, alive) - len(self._processes)):
            process = _Process(self._kind.remote())
            self._processes.append(process)
            Thread(target=self._begin, args=(process,), daemon=True).start()

    def _begin(self, process: _Process) -> None:
        """Let a process open the work, and then hand it to those who wait for one."""
        try:
            begun = process.actor.begin.remote(
                __version__,
                self._recipe,
                self._opener,
                self._keeper,
                at_once=self._threads,
                processes=self._most,
            )
            failure = self._ray.get(begun)
        except self._ray.exceptions.RayTaskError as error:
            failure = Failure(Error(f"a node cannot begin: {error}"))
        except self._ray.exceptions.RayError as error:
            # The cause comes last.
            self._note_failed_start(process, str(error).strip().rpartition("\n")[2])
            return
        with self._changed:
            if failure is not None:
                self._failure = self._failure or failure.error
            process.is_ready = failure is None
            self._changed.notify_all()

    def _note_failed_start(self, process: _Process, why: str) -> None:
        with self._changed:
            if process in self._processes:
                self._processes.remove(process)
            self._failed_starts += 1
            if self._failed_starts >= _ATTEMPTS * self._most:
                self._failure = self._failure or Error(
                    f"processes die on the nodes before they can work ({why}): is this version of Orienteer, with its "
                    "extra ray, installed on every node?"
                )
            self._changed.notify_all()


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


# The processes of a Ray cluster: `NodeProcess` on each node does pieces, `ReplyKeeper` where the caller is keeps
# replies. Only paths, names, options, pieces and results cross the network. A model is opened on the node, with the key
# in that node's environment.


# Files of replies that are kept open; a further one has to be read again.
_FILES = 1_000


@dataclass(frozen=True, slots=True)
class Failure:
    """An error that the caller raises again."""

    error: Error


class NodeProcess:
    """An actor that opens the work once and does several pieces at once."""

    def __init__(self) -> None:
        self._worker: Worker[Any, Any] | None = None  # Any: pieces and results of any job

    def begin(
        self, version: str, recipe: bytes, opener: bytes, keeper: Any, *, at_once: int, processes: int
    ) -> Failure | None:
        """Open the work. `keeper` is the actor of a `ReplyKeeper`, for which Ray has no type."""
        if version != __version__:
            return Failure(UsageError(f"{_here()} has Orienteer {__version__}, the caller {version}: install the same"))

        def open_replies(path: Path) -> KeptReplies:
            import ray

            return KeptReplies(
                lambda key, ordinal: ray.get(keeper.get.remote(str(path), key, ordinal)),
                lambda key, reply, ordinal: ray.get(keeper.add.remote(str(path), key, reply, ordinal)),
            )

        try:
            work: Recipe[Any, Any] = pickle.loads(recipe)
            self._worker = work.open(Place(cast("Opener", pickle.loads(opener)), open_replies, at_once, processes))
        except Error as error:
            error.add(f"on {_here()}: what a command names must be there, by the same path, on every node")
            return Failure(error)
        return None

    def do(self, piece: Any) -> Any:
        """Return the result of a piece, or its `Failure`."""
        assert self._worker is not None  # `begin` is awaited
        try:
            return self._worker.do(piece)
        except Error as error:
            return Failure(error)

    def stop(self) -> None:
        """Ask the unfinished pieces to end soon."""
        if self._worker is not None and self._worker.stop is not None:
            self._worker.stop()


class ReplyKeeper:
    """An actor on the caller's machine that keeps the replies of models to the pieces on other nodes."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, ReplyFile] = OrderedDict()
        self._lock = Lock()

    def get(self, path: str, key: str, ordinal: int) -> Reply | None:
        """Return a reply of a file, or None."""
        return self._file(path).get(key, ordinal)

    def add(self, path: str, key: str, reply: Reply, ordinal: int) -> None:
        """Append a reply to a file, unless it is there: a piece may be done twice if its node seemed lost."""
        file = self._file(path)
        with self._lock:
            if file.get(key, ordinal) is None:
                file.add(key, reply, ordinal=ordinal)

    def _file(self, path: str) -> ReplyFile:
        with self._lock:
            file = self._files.pop(path, None) or ReplyFile(Path(path))
            self._files[path] = file
            if len(self._files) > _FILES:
                self._files.popitem(last=False)
            return file


class KeptReplies:
    """The replies of a file that a `ReplyKeeper` keeps. Safe among threads."""

    def __init__(self, get: Callable[[str, int], Reply | None], add: Callable[[str, Reply, int], None]) -> None:
        """`get` and `add` call those of the keeper for this file."""
        self._get, self._add = get, add
        self._counts, self._lock = Counter[str](), Lock()

    def count(self, key: str) -> int:
        """Count a request, and return the number of equal ones before."""
        with self._lock:
            self._counts[key] += 1
            return self._counts[key] - 1

    def get(self, key: str, ordinal: int = 0) -> Reply | None:
        """Return the reply to a request after `ordinal` equal ones, or None."""
        return self._get(key, ordinal)

    def add(self, key: str, reply: Reply, *, ordinal: int = 0) -> None:
        """Keep a reply; it is in the file when this returns."""
        self._add(key, reply, ordinal)


def _here() -> str:
    return f"the node {socket.gethostname()}"
