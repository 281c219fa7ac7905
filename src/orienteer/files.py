"""Files that a person names: there whole or not at all."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


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
