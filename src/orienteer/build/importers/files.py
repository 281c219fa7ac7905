"""Files opened once, with one clear error for each way in which they can be damaged."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from orienteer.errors import BadInput

LFS_POINTER = b"version https://git-lfs.github.com/spec/"


def suffix(path: Path) -> str:
    """Return the suffix that tells the format: `.sif` of `edges.sif.gz`."""
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def stem(path: Path) -> str:
    """Return the file's name without the suffixes that tell its format."""
    name = path.name[:-3] if path.name.lower().endswith(".gz") else path.name
    return Path(name).stem


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


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading, unpacked where it is a gzip. Raises `BadInput` while reading where it is cut short."""
    require(path)
    try:
        with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as raw:
            yield cast(BinaryIO, raw)  # a GzipFile reads like any binary file
    except EOFError as error:
        raise BadInput(f"{path} is cut short: its gzip stream has no end; fetch the file again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise BadInput(f"{path} is no gzip file, or a damaged one ({error}); fetch the file again") from error


@contextmanager
def opened_text(path: Path) -> Iterator[TextIO]:
    """Open a text file. Bytes that are no UTF-8 come as lone surrogates, for the reader to report."""
    with opened(path) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8-sig", errors="surrogateescape", newline="")
        try:
            yield text
        finally:
            text.detach()


def whole_json(path: Path) -> Any:  # Any: JSON
    """Return what a JSON file holds. Raises `BadInput` where it is none, or not whole."""
    with opened(path) as raw:
        data = raw.read()
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is no whole JSON file ({error}); fetch the file again") from error
