"""Arrays and strings in a folder: written once, then mapped read-only."""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Rows: TypeAlias = NDArray[np.int32]
"""Sorted distinct node numbers of one graph."""
Array: TypeAlias = NDArray[Any]  # Any: the element type is in the file's name

_WAITING = 1 << 20  # bytes that wait in memory before they are written
_KINDS = ("u1", "u2", "u4", "u8", "i1", "i4", "i8", "f2", "f4", "f8")
_CODES = {np.dtype(code).str[1:]: np.dtype(code) for code in _KINDS}


def file_name(name: str, dtype: np.dtype[Any]) -> str:
    """Return the file of an array: the suffix tells the element type, little-endian."""
    return f"{name}.{dtype.str[1:]}"


def save(folder: Path, name: str, array: Array) -> None:
    """Write one flat array."""
    array = np.ascontiguousarray(array)
    with (folder / file_name(name, array.dtype)).open("wb") as file:
        array.tofile(file)


def create(folder: Path, name: str, dtype: Any, length: int) -> Array:  # Any: whatever numpy takes for a dtype
    """Make a file of zeros and map it for writing."""
    kind = np.dtype(dtype)
    path = folder / file_name(name, kind)
    if length == 0:
        path.touch()
        return np.zeros(0, kind)
    return np.memmap(path, kind, "w+", shape=(length,))


def runs(values: Array) -> tuple[Array, NDArray[np.int64]]:
    """Return the distinct values of a sorted array and how often each stands."""
    if not len(values):
        return values, np.zeros(0, np.int64)
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return values[starts], np.diff(np.append(starts, len(values)))


def check_counts(counts: NDArray[np.int64], most: int) -> None:
    """Raise `IndexError` for lengths of parts that are no such: numpy would make room for as many as they say.

    Parts do not overlap: together they have no more entries than there are.
    """
    if len(counts) and not (int(counts.min()) >= 0 and int(counts.max()) <= most and int(counts.sum()) <= most):
        raise IndexError(f"parts of {counts.min()} to {counts.max()} entries, of {most}")


def check_ends(offsets: NDArray[np.int64], most: int, name: str) -> None:
    """Raise `ValueError` where offsets do not begin at nothing and end with so many entries; what lies between them
    is checked where it is read."""
    if not len(offsets) or int(offsets[0]) != 0 or int(offsets[-1]) != most:
        raise ValueError(f"the offsets of {name} do not fit its {most:,} entries")


class Folder:
    """The arrays of a folder, mapped when they are asked for. Raises `FileNotFoundError` for what is not there."""

    def __init__(self, path: Path, names: Iterable[str] | None = None) -> None:
        self.path = path
        self._names = frozenset(names if names is not None else (file.name for file in path.iterdir()))

    def bytes(self, name: str) -> mmap.mmap | bytes:
        """Map a file; an empty one gives empty bytes."""
        with (self.path / name).open("rb") as file:
            if file.seek(0, 2) == 0:
                return b""
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def array(self, name: str, *codes: str) -> Array:
        """Map the array that was saved under this name with one of these element types."""
        code = next((code for code in codes if f"{name}.{code}" in self._names), codes[0])
        return np.frombuffer(self.bytes(f"{name}.{code}"), _CODES[code])

    def has(self, name: str) -> bool:
        """Tell whether a file belongs to the folder."""
        return name in self._names

    def strings(self, name: str) -> Strings:
        """Map strings that `StringWriter` wrote."""
        offsets, data = self.array(f"{name}.at", "i8"), self.bytes(f"{name}.utf8")
        check_ends(offsets, len(data), name)
        return Strings(offsets, data)


class Strings(Sequence[str]):
    """Strings on disk, decoded one by one."""

    def __init__(self, offsets: NDArray[np.int64], data: mmap.mmap | bytes) -> None:
        self._offsets = offsets
        self._data = data

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @property
    def size(self) -> int:
        """Count the bytes of all strings."""
        return len(self._data)

    def __getitem__(self, index: Any) -> Any:  # Any: Sequence's overloads; slices are not used
        return decode(self.raw(index))

    def raw(self, index: int) -> bytes:
        """Return one string as UTF-8."""
        start, end = self._offsets[index], self._offsets[index + 1]
        if not 0 <= start <= end:  # who reads all of them reads nothing twice
            raise IndexError(f"a string from {start} to {end}")
        return self._data[start:end]

    def take(self, indexes: NDArray[np.int64]) -> list[bytes]:
        """Return several strings as UTF-8."""
        first, last = self._offsets[indexes], self._offsets[indexes + 1]
        if (last < first).any():
            raise IndexError("strings that end before they begin")
        starts, ends, data = first.tolist(), last.tolist(), self._data
        return [data[start:end] for start, end in zip(starts, ends, strict=True)]

    def forget(self) -> None:
        """Let go of the memory that holds what was read, where the system can; it is read again when needed."""
        if isinstance(self._data, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            self._data.madvise(mmap.MADV_DONTNEED)

    def __iter__(self) -> Iterator[str]:
        return (decode(self.raw(index)) for index in range(len(self)))

    def find(self, text: str) -> int | None:
        """Return the place of a string among sorted ones."""
        wanted = encode(text)
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self.raw(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self.raw(low) == wanted else None


class StringWriter:
    """Appends strings to a file; `close` writes their offsets.

    The file is open only while it is written to, so that hundreds of writers may wait side by side.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._sizes = array("q")
        self._waiting = bytearray()
        self._is_closed = False

    def __enter__(self) -> StringWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, data: bytes) -> None:
        """Append one string, given as UTF-8."""
        self._sizes.append(len(data))
        self._waiting += data
        if len(self._waiting) > _WAITING:
            self._flush()

    def extend(self, texts: Iterable[bytes]) -> None:
        """Append several."""
        texts = list(texts)
        self._sizes.extend(map(len, texts))
        self._waiting += b"".join(texts)
        if len(self._waiting) > _WAITING:
            self._flush()

    def _flush(self) -> None:
        with (self._folder / f"{self._name}.utf8").open("ab") as file:
            file.write(self._waiting)
        self._waiting.clear()

    @property
    def files(self) -> tuple[Path, Path]:
        """Name the two files."""
        offsets = file_name(f"{self._name}.at", np.dtype(np.int64))
        return self._folder / f"{self._name}.utf8", self._folder / offsets

    def close(self) -> None:
        """Finish both files."""
        if self._is_closed:
            return
        self._is_closed = True
        self._flush()
        offsets = np.zeros(len(self._sizes) + 1, np.int64)
        np.cumsum(np.frombuffer(self._sizes, np.int64), out=offsets[1:])
        save(self._folder, f"{self._name}.at", offsets)


def encode(text: str) -> bytes:
    """Return UTF-8; lone surrogates, which broken input holds, go through and come back."""
    return text.encode(errors="surrogatepass")


def decode(data: bytes) -> str:
    """Return the text of what `encode` gave."""
    return data.decode(errors="surrogatepass")
