"""Files written in full or not at all, files of lines that outlive a kill, the cache, a lock between processes."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from orienteer.errors import BadInput, BadOption, Error, GraphBusy

_BLOCK = 1 << 16  # bytes that are read at once


@contextmanager
def replacing(path: Path, *, errors: str = "strict") -> Iterator[TextIO]:
    """Yield a text file to write; it replaces the file at the path when it is complete.

    A link is followed. A pipe or a device is written to directly. Raises `OSError`.
    """
    target = path.resolve() if path.is_symlink() else path
    if target.exists() and not target.is_file():
        with target.open("w", encoding="utf-8", errors=errors) as file:
            yield file
        return
    new = _temporary_name(target)
    try:
        with new.open("x", encoding="utf-8", errors=errors) as file:
            yield file
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text file as `replacing` does."""
    with replacing(path) as file:
        file.write(text)


def exchange(path: Path, before: bytes | None, after: bytes | None) -> None:
    """Replace the content of a third-party file in one step, and keep its mode and owner; None means no file.

    A link is followed. Raises `Error` if the content is not `before` any longer; `OSError`.
    """
    target = path.resolve()
    status = target.stat() if before is not None else None
    new = _temporary_name(target)
    try:
        if after is not None:
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(after)
                file.flush()
                os.fsync(file.fileno())
            if status is not None:
                made = new.stat()
                if (made.st_uid, made.st_gid) != (status.st_uid, status.st_gid):
                    shutil.chown(new, status.st_uid, status.st_gid)
                new.chmod(stat.S_IMODE(status.st_mode))
        if (target.read_bytes() if target.exists() else None) != before:
            raise Error(f"{path} has changed since it was read; run the command again", paths=[path])
        if after is None:
            target.unlink()
        else:
            new.replace(target)
    finally:
        new.unlink(missing_ok=True)


def _temporary_name(target: Path) -> Path:
    """Return a new name next to a file, for its replacement."""
    return target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}")


def append_line(path: Path, line: str) -> None:
    """Append a line in one write, so that a process that dies leaves whole lines, except perhaps the last."""
    content = f"{line}\n".encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        if os.write(descriptor, content) < len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    finally:
        os.close(descriptor)


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the complete lines of a file, none if it is missing. Raises `BadInput` for a pipe or a device."""
    if not path.exists():
        return
    check_ordinary(path)
    with path.open("rb") as lines:
        for line in lines:
            if line.endswith(b"\n") and line.strip():
                yield line


def mend(path: Path) -> None:
    """Remove a last line that a kill has left unfinished."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        end = file.seek(0, os.SEEK_END)
        while end:
            begin = max(0, end - _BLOCK)
            file.seek(begin)
            whole_lines = file.read(end - begin).rfind(b"\n") + 1
            if whole_lines:
                file.truncate(begin + whole_lines)
                return
            end = begin
        file.truncate(0)


def cache_folder(cache: Path, *names: str) -> Path:
    """Return a folder in the cache, which may be missing.

    The cache has texts of private folders and is trusted: raises `BadOption` if another user owns a folder of it or may
    write to one.
    """
    folder = cache
    _check_own(folder)
    for name in names:
        folder /= name
        _check_own(folder)
    return folder


def make_cache_folder(cache: Path, *names: str) -> Path:
    """Return a folder in the cache as `cache_folder` does, created if missing, that no other user can enter.

    The folders `names` are ours, and are closed to others (mode 0700). So is a new cache; an existing one may have
    other content, and keeps its mode. Raises `OSError` too.
    """
    cache.mkdir(0o700, parents=True, exist_ok=True)
    folder = cache_folder(cache)
    for name in names:
        folder /= name
        folder.mkdir(0o700, exist_ok=True)
        _check_own(folder)
        status = folder.stat()
        if sys.platform != "win32" and status.st_uid == os.geteuid() and status.st_mode & _OTHERS:
            folder.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS)
    return folder


_OTHERS, _WRITE_OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO, stat.S_IWGRP | stat.S_IWOTH


def _check_own(folder: Path) -> None:
    """Raise `BadOption` for a folder that another user owns (the superuser may) or may write to."""
    if sys.platform == "win32":
        return
    try:
        status = folder.stat()
    except OSError:
        # Creating the folder, or reading a file in it, reports this.
        return
    remedy = "or set ORIENTEER_CACHE to a folder of your own"
    if status.st_uid not in (0, os.geteuid()):
        fault = f"the cache {folder} belongs to the user {status.st_uid}, who could put other graphs there"
        raise BadOption(f"{fault}: chown -R {os.geteuid()} {folder}, {remedy}", paths=[folder])
    if status.st_mode & _WRITE_OF_OTHERS:
        fault = f"other users may write to the cache {folder} (mode {stat.S_IMODE(status.st_mode):o})"
        raise BadOption(f"{fault}: chmod 700 {folder} if all in it is yours, {remedy}", paths=[folder])


def check_ordinary(path: Path) -> None:
    """Raise `BadInput` for a pipe or a device: reading one may never end."""
    if path.exists() and not path.is_file():
        raise BadInput(f"{path} is not an ordinary file: remove it, or name another folder", paths=[path])


@contextmanager
def locked(file: Path, *, busy: str) -> Iterator[None]:
    """Hold a lock that the system releases when the process ends, however it ends.

    Raises `GraphBusy`, with the message `busy`, if another process holds it, or has just removed the folder that it
    had made; `BadInput` if the file is a link.
    """
    if file.is_symlink():
        raise BadInput(f"{file} is a link: remove it", paths=[file])
    try:
        stream = file.open("a+")
    except FileNotFoundError as error:
        raise GraphBusy(busy, paths=[file]) from error
    with stream:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # Windows raises no narrower error.
            if not isinstance(error, BlockingIOError) and sys.platform != "win32":
                raise
            raise GraphBusy(busy, paths=[file]) from error
        yield
