"""A program that another's library starts, held all the same: the thread that starts it has given up everything before.

What a thread has given up by the kernel's walls, the programs that it starts have given up too; the other threads keep
it. So a thread is made for this alone, and ends when the program runs.
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

_LOADERS = ("/lib64/ld-*.so*", "/lib/ld-*.so*", "/lib/*-linux-gnu/ld-*.so*")  # they start whatever is not in one piece
_PROGRAM = confinement.READ_FILE | confinement.EXECUTE


def launched(start: Callable[[], T], program: Path, *, longest: int) -> tuple[T, frozenset[str]]:
    """Return what `start` gives, and by name what holds the program that it starts: what this system can do of it.

    The program opens itself and shared libraries, for reading, and nothing else; has no network and no signals; starts
    nothing; and writes at most `longest` bytes at once. Raises what `start` raises.
    """
    if not sys.platform.startswith("linux"):
        return start(), frozenset()
    left = _left(program)
    given: list[T] = []
    failed: list[BaseException] = []
    held: set[str] = set()

    def run() -> None:
        try:
            confinement.drop_privileges()
            if confinement.keep_files(left):
                held.add("landlock")
            if confinement.filter_launch(longest=longest):
                held.add("seccomp")
            given.append(start())
        except BaseException as error:  # noqa: BLE001  # whoever waits for the thread raises it
            failed.append(error)

    with _UNCOLLECTED:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    if failed:
        raise failed[0]
    return given[0], frozenset(held)


class _Uncollected:
    """Time without garbage collection: it would run in such a thread, too, which can end and remove nothing.

    Several threads may be in it; who leaves last lets it run again.
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


_UNCOLLECTED = _Uncollected()


@cache
def _left(program: Path) -> tuple[tuple[Path, int], ...]:
    """Return the files that a program needs to start."""
    loaders = {one for pattern in _LOADERS for one in Path("/").glob(pattern[1:])}
    return (*readable_files.of_system(), *((one, _PROGRAM) for one in (program, *loaders)))
