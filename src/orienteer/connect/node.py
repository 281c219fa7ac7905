"""What runs on the nodes of a Ray cluster: a process that does pieces, and one that keeps replies where the caller is.

Only paths, names, options, pieces and what comes of them cross the network. A model is opened here, with the key that
the environment of this node holds.
"""

from __future__ import annotations

import pickle
import socket
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, cast

from orienteer.errors import Error, UsageError
from orienteer.executors.executor import Opener, Place, Recipe, Worker
from orienteer.llm.replies import ReplyFile
from orienteer.records import Reply
from orienteer.version import __version__

_FILES = 1_000
"""Files of replies that are remembered as far as they were read; another is read anew."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An error of ours: it is raised again where the caller is."""

    error: Error


class NodeProcess:
    """An actor: work that is opened once, and pieces that are done by it, several at once."""

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
        """Return what comes of a piece, or the `Failure` that it ended in."""
        assert self._worker is not None  # `begin` is awaited
        try:
            return self._worker.do(piece)
        except Error as error:
            return Failure(error)

    def stop(self) -> None:
        """Have pieces under way end soon."""
        if self._worker is not None and self._worker.stop is not None:
            self._worker.stop()


class ReplyKeeper:
    """An actor on the caller's machine: it keeps the replies of models to pieces that are done on other nodes."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, ReplyFile] = OrderedDict()
        self._lock = Lock()

    def get(self, path: str, key: str, ordinal: int) -> Reply | None:
        """Return a reply of a file, None where it has none."""
        return self._file(path).get(key, ordinal)

    def add(self, path: str, key: str, reply: Reply, ordinal: int) -> None:
        """Append a reply to a file, unless it is there: a piece whose node seemed lost may be done twice at once."""
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
        """Count a request, and return how many equal ones were counted before."""
        with self._lock:
            self._counts[key] += 1
            return self._counts[key] - 1

    def get(self, key: str, ordinal: int = 0) -> Reply | None:
        """Return the reply to a request that was made so many times before, None where the file has none."""
        return self._get(key, ordinal)

    def add(self, key: str, reply: Reply, *, ordinal: int = 0) -> None:
        """Have a reply kept; it is in the file when this returns."""
        self._add(key, reply, ordinal)


def _here() -> str:
    return f"the node {socket.gethostname()}"
