"""Confines a program that somebody else's library starts: the thread that starts it gives up everything first.

The kernel binds a program to what its starting thread has given up, and leaves the other threads alone. So a thread is
made only for this, and ends when the program runs.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

from orienteer.sandbox import confinement, readable_files

T = TypeVar("T")

_LOADERS = ("/lib64/ld-*.so*", "/lib/ld-*.so*", "/lib/*-linux-gnu/ld-*.so*")  # start programs with shared libraries
_PROGRAM = confinement.READ_FILE | confinement.EXECUTE


def launched(start: Callable[[], T], program: Path, *, longest: int) -> tuple[T, frozenset[str]]:
    """Call `start`; return its result, and the names of the walls around the program that it starts.

    The program can open itself and shared libraries for reading, and nothing else. It has no network, sends no signals,
    starts nothing, and writes at most `longest` bytes at once, as far as this system can enforce that. Raises what
    `start` raises.
    """
    if not sys.platform.startswith("linux"):
        return start(), frozenset()
    left = _left(program)
    results: list[T] = []
    errors: list[BaseException] = []
    walls: set[str] = set()

    def run() -> None:
        try:
            confinement.drop_privileges()
            if confinement.keep_files(left):
                walls.add("landlock")
            if confinement.filter_launch(longest=longest):
                walls.add("seccomp")
            results.append(start())
        except BaseException as error:  # noqa: BLE001  # the waiting caller raises it
            errors.append(error)

    with _UNCOLLECTED:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    if errors:
        raise errors[0]
    return results[0], frozenset(walls)


class _CollectionPause:
    """A time without garbage collection, which must not run in a confined thread: that one can free no resource.

    Several threads may be inside; the last one to leave turns the collection on again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._collects = False

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._collects = gc.isenabled()
                gc.disable()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside and self._collects:
                gc.enable()


_UNCOLLECTED = _CollectionPause()


@cache
def _left(program: Path) -> tuple[tuple[Path, int], ...]:
    """Return the files that a program needs to start."""
    loaders = {loader for pattern in _LOADERS for loader in Path("/").glob(pattern[1:])}
    return (*readable_files.of_system(), *((path, _PROGRAM) for path in (program, *loaders)))
