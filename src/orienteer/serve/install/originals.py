"""Other people's files: read with care, changed at one stroke, and copied once before."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from orienteer.errors import Error
from orienteer.files import exchange
from orienteer.serve.install.edits import CannotEdit

COPY_SUFFIX = ".before-orienteer"
_MOST_BYTES = 64_000_000
"""Of a file that is edited: far above any configuration, and read and shown in seconds."""
_BYTE_ORDER_MARK = "\ufeff"


class Original(NamedTuple):
    """A file as it was read; None stands for no file."""

    content: bytes | None

    @property
    def text(self) -> str:
        """Its text, without a byte order mark. Raises `CannotEdit` for what is no UTF-8."""
        try:
            return (self.content or b"").decode().removeprefix(_BYTE_ORDER_MARK)
        except UnicodeDecodeError as error:
            raise CannotEdit("it is no UTF-8") from error

    def encoded(self, text: str) -> bytes:
        """Return a text as the file would hold it, with a byte order mark where it has one."""
        mark = _BYTE_ORDER_MARK.encode()
        return (mark if (self.content or b"").startswith(mark) else b"") + text.encode()


def read_original(file: Path) -> Original:
    """Return what a file holds. Raises `CannotEdit` where it is nothing that can be read, and replaced, as a file."""
    try:
        if not file.exists():
            if file.is_symlink():
                raise CannotEdit("it is a link that leads nowhere")
            return Original(None)
        if not file.is_file():
            raise CannotEdit("it is a folder" if file.is_dir() else "it is no ordinary file")
        size = file.stat().st_size
        if size > _MOST_BYTES:
            raise CannotEdit(f"it has {size:,} bytes, and more than {_MOST_BYTES:,} are not edited")
        return Original(file.read_bytes())
    except OSError as error:
        raise CannotEdit(f"it cannot be read: {error.strerror or error}") from error


def is_file(file: Path) -> bool:
    """Tell whether a path is a file, as far as that can be told: one in a closed folder is none."""
    try:
        return file.is_file()
    except PermissionError:
        return False


def check_writable(file: Path) -> None:
    """Raise `CannotEdit` for a file that is read-only, which its folder would let us replace."""
    if file.exists() and not (file.stat().st_mode & 0o222 and os.access(file, os.W_OK)):
        raise CannotEdit("it is read-only")


def real(file: Path) -> Path:
    """Return the file that a path leads to through all links; of links in a circle, one of them."""
    return Path(os.path.realpath(file))


def copy_of(file: Path) -> Path:
    """Return where the copy of a file lies, beside the real one where it is a link."""
    target = real(file)
    return target.with_name(target.name + COPY_SUFFIX)


def read_copy(file: Path) -> bytes | None:
    """Return what a file held before its first change by us, where that is kept."""
    copy = copy_of(file)
    return copy.read_bytes() if copy.is_file() and not copy.is_symlink() else None


def write_change(file: Path, before: bytes | None, after: bytes | None, *, keeps_copy: bool) -> Path | None:
    """Change a file, and return where the copy of what it held first is, if there is one; None stands for no file.

    `keeps_copy` makes that copy where there is none; it is never replaced. It goes where the file holds the same again.
    Raises `CannotEdit` where the file was changed meanwhile; `OSError`.
    """
    copy = copy_of(file)
    real(file).parent.mkdir(parents=True, exist_ok=True)
    is_first = keeps_copy and before is not None and not os.path.lexists(copy)
    if is_first and before is not None:
        mode = file.stat().st_mode & 0o777
        exchange(copy, None, before)
        copy.chmod(mode)
    try:
        exchange(file, before, after)
    except BaseException as error:
        if is_first:
            copy.unlink()
        if isinstance(error, Error):
            raise CannotEdit("it has changed since it was read; run the command again") from error
        raise
    if after is not None and read_copy(file) == after:
        copy.unlink()
    return copy if copy.exists() else None
