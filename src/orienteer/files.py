"""Files that a person names, there whole or not at all; and a lock between processes, held through a file."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from orienteer.errors import BadInput, GraphBusy


@contextmanager
def whole(path: Path, *, errors: str = "strict") -> Iterator[TextIO]:
    """Give a text file to write, which stands at the path once all is written; what stood there stays till then.

    A link is followed. What is no ordinary file, such as a pipe or a device, is written straight into: another file in
    its place would be no pipe. Raises `OSError`.
    """
    target = path.resolve() if path.is_symlink() else path
    if target.exists() and not target.is_file():
        with target.open("w", encoding="utf-8", errors=errors) as file:
            yield file
        return
    new = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}")
    try:
        with new.open("x", encoding="utf-8", errors=errors) as file:
            yield file
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text file as `whole` does."""
    with whole(path) as file:
        file.write(text)


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
