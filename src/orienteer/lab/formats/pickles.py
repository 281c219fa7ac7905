"""Python's pickles, read by Python's own unpickler, which here knows a dozen names and may look up no other.

A pickle is a program for a small stack machine whose instructions may import and call anything. Three walls stand
between a file and this process:

    instructions     each is looked at before any is carried out: what makes instances is refused, lengths are held
                     against the file, and dictionaries and sets become our own classes (`benchmarks.instructions`)
    names            `find_class` imports nothing: it gives the stand-ins of numpy's arrays and scalars, ordered
                     dictionaries, sets, and what a caller names besides (`benchmarks.stand_ins`)
    what comes of it values that refer to one another in circles, or would unfold to much more than the file holds,
                     are refused

A dictionary of many members is read batch by batch: memory holds one batch, and what several members refer to.
"""

from __future__ import annotations

import io
import mmap
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from orienteer.ingest.bounds import memory_told
from orienteer.ingest.formats.files import require
from orienteer.ingest.formats.table import shown
from orienteer.lab.formats.instructions import OWN_CLASSES, Data, parts, references
from orienteer.lab.formats.stand_ins import (
    CALLS,
    MOST_UNFOLDED,
    BadPickle,
    Call,
    Calls,
    Dictionary,
    Members,
    PickleName,
    Unfolder,
)
from orienteer.records import JsonValue

_ERRORS = (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, LookupError, OverflowError)


def load(path: Path) -> JsonValue:
    """Return the value that a pickle holds, as JSON has it: tuples, sets and arrays as lists, keys as text.

    Raises `BadInput` for anything but plain values and numpy's, and for a file that is not whole.
    """
    with mapped_pickle(path) as pickled, refusals(path):
        return Unfolder(len(pickled)).json(value(pickled))


def items(path: Path) -> Iterator[tuple[str, JsonValue]]:
    """Return the members of the one dictionary that a pickle holds, one at a time, as JSON has them.

    Memory holds one batch of members, and what several refer to. Raises `BadInput` as `load` does, while it is read.
    """
    with mapped_pickle(path) as pickled:
        unfolder = Unfolder(len(pickled))
        batches = _values(pickled, is_streamed=True)
        while True:
            with refusals(path):
                batch = next(batches, None)
                if batch is None:
                    return
                if not isinstance(batch, Dictionary):
                    raise ValueError("something else than one dictionary")
                members = [(unfolder.text(str(key)), unfolder.json(member)) for key, member in batch.items()]
            yield from members


def value(pickled: Data, *, calls: Calls | None = None, persistent: Call | None = None) -> Any:
    """Return the value of a pickle, of plain values and stand-ins; `calls` are further names that it may use.

    Raises one of the errors that `refusals` turns into `BadInput`.
    """
    return next(_values(pickled, calls=calls, persistent=persistent))


@contextmanager
def refusals(file: object) -> Iterator[None]:
    """Turn what stops the reading of a pickle into the error that names its file."""
    try:
        yield
    except _ERRORS as error:
        raise BadPickle(
            f"{file}: {shown(str(error))} in a pickle; only plain values, numpy's and torch's arrays are read, and "
            "nothing was run. If you trust the file, write it again as JSON or Parquet."
        ) from error


@contextmanager
def mapped_pickle(path: Path) -> Iterator[mmap.mmap]:
    """Give a file as mapped memory. Raises `BadInput` if the file is missing, or memory is short."""
    require(path)
    with memory_told(path), path.open("rb") as raw, mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        yield mapped


def _values(
    pickled: Data, *, calls: Calls | None = None, persistent: Call | None = None, is_streamed: bool = False
) -> Iterator[Any]:
    unpickler = _Unpickler({**CALLS, **(calls or {})}, persistent, MOST_UNFOLDED * len(pickled) + 1000)
    for part in parts(pickled, references(pickled), is_streamed=is_streamed):
        yield unpickler.read(part)


class _Unpickler(pickle.Unpickler):
    """Python's unpickler, part by part, without a way to anything but the stand-ins."""

    def __init__(self, calls: Calls, persistent: Call | None, most: int) -> None:
        self._part = io.BytesIO()
        super().__init__(self._part, encoding="latin1")
        self._calls, self._left = calls, most
        self._persistent: Call | None = (Dictionary, Members).__getitem__
        self.read(OWN_CLASSES)
        self._persistent = persistent

    def read(self, part: bytes) -> Any:
        """Return the value of the next part."""
        self._part.seek(0)
        self._part.truncate()
        self._part.write(part)
        self._part.seek(0)
        return self.load()

    def find_class(self, module: str, name: str) -> PickleName:
        """Return the stand-in of a name; nothing is imported."""
        if (module, name) not in self._calls:
            raise ValueError(f"the name {module}.{name}")
        return PickleName((module, name), partial(self._charged, self._calls[module, name]))

    def _charged(self, call: Call, *arguments: Any) -> Any:
        """Call, and count what it makes: a few bytes can call again and again for a copy of something large."""
        result = call(*arguments)
        self._left -= len(result) if isinstance(result, bytes | list | dict) else 0
        if self._left < 0:
            raise ValueError("values without end")
        return result

    def persistent_load(self, pid: Any) -> Any:
        """Return a value that lies outside the pickle, if the caller says how."""
        if self._persistent is None:
            raise ValueError("a value that lies outside the file")
        return self._persistent(pid)
