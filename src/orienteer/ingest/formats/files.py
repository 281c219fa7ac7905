"""Files opened once, with one clear error for each way in which they can be damaged."""

from __future__ import annotations

import gzip
import io
import json
import math
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from orienteer.errors import BadInput
from orienteer.ingest.bounds import MOST_RECORD, check_ratio, memory_told, parsed, too_long
from orienteer.ingest.formats.table import Drop

READ = 1 << 18
"""Bytes that are taken from a file at once."""
NEWLINE = b"\n"
UTF8 = "utf-8-sig"
"""The encoding of texts, with a byte order mark or without one."""
WIDE = ("utf-16", "utf-32")
"""Encodings whose bytes are not told apart by ASCII, so that a damaged letter cannot be marked."""
NAN = "NaN"
"""What Python writes into JSON for a number that is none; JSON itself has no such value."""
INFINITE = "Infinity"
"""The same for one that has no end, and what a number is that no float holds: 1e999."""
_HUGE = r"\d[eE]\+?\d{3}"
_MAY_BE_NONE = re.compile(rf"{NAN}|{INFINITE}|{_HUGE}")
_NO_NUMBER = re.compile(rf'"(?:[^"\\]|\\.)*"|{NAN}|-?{INFINITE}|-?[\d.]*{_HUGE}\d*')
LFS_POINTER = b"version https://git-lfs.github.com/spec/"


def suffix(path: Path) -> str:
    """Return the suffix that tells the format: `.sif` of `edges.sif.gz`."""
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def stem(path: Path) -> str:
    """Return the file's name without the suffixes that tell its format."""
    name = path.name[:-3] if path.name.lower().endswith(".gz") else path.name
    return Path(name).stem


def stray(link: Path, root: Path) -> str:
    """Return the reason not to follow a link in a folder; empty if it leads to a file within the folder."""
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):  # older versions of Python have another error for a ring of links
        return "a link to nothing"
    return "" if target.is_relative_to(root) else "a link out of the folder"


def require(path: Path) -> None:
    """Raise `BadInput` unless the path is a file that has content of its own."""
    try:
        with path.open("rb") as raw:
            head = raw.read(len(LFS_POINTER))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from error
    if not head:
        raise BadInput(f"{path} is empty: write the table again, or leave the file out")
    if head == LFS_POINTER:
        raise BadInput(f"{path} is a Git LFS pointer, not the data: run `git lfs pull` where it was cloned")


class MeasuredBytes(io.RawIOBase):
    """The bytes of a file, unpacked if it is a gzip, measured as they come."""

    def __init__(self, path: Path, packed: BinaryIO, *, has_lines: bool) -> None:
        self._path, self._packed, self._has_lines = path, packed, has_lines
        self._is_gzip = path.suffix.lower() == ".gz"
        self._bytes = cast(BinaryIO, gzip.GzipFile(fileobj=packed)) if self._is_gzip else packed
        self.unpacked = 0
        """Bytes that have been read."""
        self._lines = 1
        self._line = 0  # bytes of the line that has not ended yet
        self._allowed = math.inf

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:  # Any: the buffer that io gives
        """Take what comes next. Raises `BadInput` if a line is too long, or a file unpacks to too much."""
        content = self._bytes.read(len(buffer))
        buffer[: len(content)] = content
        self.unpacked += len(content)
        if self._is_gzip:
            remedy = "gunzip it and read what comes of it, if that is what it should hold"
            check_ratio(self._path, self._packed.tell(), self.unpacked, remedy=remedy)
        if self._has_lines and content:
            self._measure(content)
        if self.unpacked > self._allowed:
            raise too_long(self._path, f"after line {self._lines:,}", "row")
        return len(content)

    def allow(self, count: int) -> None:
        """Raise `BadInput` as soon as more bytes than that are read from here on, unless it is called again."""
        self._allowed = self.unpacked + count

    def readall(self) -> bytes:
        """Take all that is left, measured as it comes."""
        return b"".join(iter(lambda: self.read(READ) or b"", b""))

    def _measure(self, content: bytes) -> None:
        """Count lines, and the bytes of the last. Raises `BadInput` if a line is too long."""
        end = max(content.rfind(b"\n"), content.rfind(b"\r") if self._line else -1)
        self._line = self._line + len(content) if end < 0 else len(content) - end - 1
        if self._line > MOST_RECORD:
            raise too_long(self._path, f"line {self._lines + content.count(NEWLINE):,}", "line")
        self._lines += content.count(NEWLINE)


@contextmanager
def opened(path: Path, *, has_lines: bool = False, content: bytes | None = None) -> Iterator[io.BufferedReader]:
    """Open a file, or what was read of it as `content`, for reading, unpacked if it is a gzip.

    Reading raises `BadInput` if the file is cut short, or comes to more than a file of its size may; with `has_lines`
    also if one of its lines does.
    """
    require(path)
    try:
        with memory_told(path), path.open("rb") if content is None else io.BytesIO(content) as packed:
            yield io.BufferedReader(MeasuredBytes(path, packed, has_lines=has_lines), READ)
    except EOFError as error:
        raise BadInput(f"{path} is cut short: its gzip stream has no end; fetch the file again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise BadInput(f"{path} is no gzip file, or a damaged one ({error}); fetch the file again") from error


@contextmanager
def opened_text(path: Path, *, has_lines: bool = True, encoding: str = UTF8, after: int = 0) -> Iterator[TextIO]:
    """Open a text file, or the rest of one after some bytes.

    Bytes that are no UTF-8 come as lone surrogates, for the reader to report.
    """
    with opened(path, has_lines=has_lines) as raw:
        for passed in range(0, after, READ):
            raw.read(min(READ, after - passed))
        own = encoding.removesuffix("-sig") if after else encoding  # a mark in the middle is a letter
        errors = "replace" if own.startswith(WIDE) else "surrogateescape"
        text = io.TextIOWrapper(raw, encoding=own, errors=errors, newline="")
        try:
            yield text
        finally:
            text.detach()


def measured(text: TextIO) -> MeasuredBytes:
    """Return what measures a file that was opened as text."""
    return cast(MeasuredBytes, cast(io.BufferedReader, text.buffer).raw)


def whole_json(path: Path, drop: Drop | None = None) -> Any:  # Any: JSON
    """Return the value of a JSON file, and tell what is no number. Raises `BadInput` for a broken or unfinished one."""
    with opened(path) as raw:
        content = raw.read()
        try:
            value = parsed(content)
        except ValueError as error:
            raise BadInput(f"{path} is no whole JSON file ({error}); fetch the file again") from error
        if drop is not None:
            tell_no_numbers(content.decode(json.detect_encoding(content), "replace"), 1, drop)
        return value


def tell_no_numbers(text: str, line: int, drop: Drop) -> None:
    """Tell of each `NaN`, and of each number that is infinite, in a JSON text that begins on a line."""
    for found in _NO_NUMBER.finditer(text) if _MAY_BE_NONE.search(text) else ():
        said = found.group()
        if said[0] != '"' and not math.isfinite(float(said)):  # not a text, or a number like 0.1e200
            drop(NAN if said == NAN else INFINITE, line + text.count("\n", 0, found.start()), "")
