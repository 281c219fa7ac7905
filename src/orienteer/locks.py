"""A lock between processes, held through a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orienteer.errors import BadInput, GraphBusy


@contextmanager
def locked(file: Path, *, busy: str) -> Iterator[None]:
    """Hold a lock that the system lets go when the process ends, however it ends.

    Raises `GraphBusy`, with these words, where another process holds it, or has just given up and taken away the
    folder that it had made; `BadInput` where a link stands in the file's place, through which nothing is made.
    """
    if file.is_symlink():
        raise BadInput(f"{file} is a link: remove it")
    try:
        stream = file.open("a+")
    except FileNotFoundError as error:
        raise GraphBusy(busy) from error
    with stream:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:  # Windows has no narrower one
            if not isinstance(error, BlockingIOError) and sys.platform != "win32":
                raise
            raise GraphBusy(busy) from error
        yield
