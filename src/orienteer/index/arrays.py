"""Arrays and strings in a folder: written once, then mapped read-only."""

from __future__ import annotations

import mmap
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Rows: TypeAlias = NDArray[np.int32]
"""Sorted distinct node numbers of one graph."""
Array: TypeAlias = NDArray[Any]  # Any: the element type is in the file's name

_TAKEN = 1 << 12  # strings that are read at once
_FEW = 16  # strings that are read one by one: the calls of numpy take longer
_COPIED = 1 << 13  # strings that are copied at once
_WAITING = 1 << 20  # bytes buffered in memory before they are written
_KINDS = ("u1", "u2", "u4", "u8", "i1", "i4", "i8", "f2", "f4", "f8")
_CODES = {np.dtype(code).str[1:]: np.dtype(code) for code in _KINDS}


def file_name(name: str, dtype: np.dtype[Any]) -> str:
    """Return an array's file name; the suffix encodes its dtype, little-endian."""
    return f"{name}.{dtype.str[1:]}"


def save(folder: Path, name: str, array: Array) -> None:
    """Write one flat array."""
    array = np.ascontiguousarray(array)
    with (folder / file_name(name, array.dtype)).open("wb") as file:
        array.tofile(file)


def create(folder: Path, name: str, dtype: Any, length: int) -> Array:  # Any: whatever numpy takes for a dtype
    """Create a file of zeros and map it for writing: an array of shape `(length,)`, written as its entries are set."""
    kind = np.dtype(dtype)
    path = folder / file_name(name, kind)
    if length == 0:
        path.touch()
        return np.zeros(0, kind)
    return np.memmap(path, kind, "w+", shape=(length,))


def runs(values: Array) -> tuple[Array, NDArray[np.int64]]:
    """Return the distinct values of a sorted array, ascending, and the count of each: two arrays of one length."""
    if not len(values):
        return values, np.zeros(0, np.int64)
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return values[starts], np.diff(np.append(starts, len(values)))


def begins_of(counts: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the begin of each of several runs of these lengths, and the end of the last one: (runs + 1,)."""
    begins = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=begins[1:])
    return begins


def inserted(old: Array, at: NDArray[np.int64], new: Array) -> Array:
    """Return an array with values put into it: `new[i]` before the old value at `at[i]`, which ascends."""
    values = np.empty(len(old) + len(new), old.dtype)
    places = at + np.arange(len(new))
    is_new = np.zeros(len(values), np.bool_)
    is_new[places] = True
    values[places] = new
    values[~is_new] = old
    return values


def check_counts(counts: NDArray[np.int64], most: int) -> None:
    """Raise `IndexError` unless these can be the lengths of parts of `most` entries that do not overlap.

    Numpy would make room for as many entries as a damaged file says.
    """
    if len(counts) and not (int(counts.min()) >= 0 and int(counts.max()) <= most and int(counts.sum()) <= most):
        raise IndexError(f"parts of {counts.min()} to {counts.max()} entries, of {most}")


def check_ends(offsets: NDArray[np.int64], most: int, name: str) -> None:
    """Raise `ValueError` unless the offsets begin at 0 and end at `most`; the others are checked when read."""
    if not len(offsets) or int(offsets[0]) != 0 or int(offsets[-1]) != most:
        raise ValueError(f"the offsets of {name} do not fit its {most:,} entries")


class Folder:
    """The arrays of a folder, mapped at use. Raises `FileNotFoundError` for a missing file."""

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
        """Map the array saved under this name with one of these element types: flat, read-only."""
        code = next((code for code in codes if f"{name}.{code}" in self._names), codes[0])
        return np.frombuffer(self.bytes(f"{name}.{code}"), _CODES[code])

    def has(self, name: str) -> bool:
        """Return whether a file belongs to the folder."""
        return name in self._names

    def strings(self, name: str) -> Strings:
        """Map strings that `StringWriter` wrote."""
        offsets, utf8 = self.array(f"{name}.at", "i8"), self.bytes(f"{name}.utf8")
        check_ends(offsets, len(utf8), name)
        return Strings(offsets, utf8)


class Strings(Sequence[str]):
    """Strings in one run of bytes, on disk or in memory, decoded one by one."""

    def __init__(self, offsets: NDArray[np.int64], utf8: mmap.mmap | bytes) -> None:
        self._offsets = offsets
        self._at = offsets.data  # one by one, numpy takes twice the time
        self._utf8 = utf8

    @classmethod
    def of(cls, texts: Iterable[str]) -> Strings:
        """Return some texts as one run of bytes."""
        texts = list(texts)
        whole = "".join(texts)
        if whole.isascii():  # as most are: a letter is a byte
            return cls(begins_of(np.fromiter(map(len, texts), np.int64, len(texts))), whole.encode())
        encoded = list(map(encode, texts))
        return cls(begins_of(np.fromiter(map(len, encoded), np.int64, len(encoded))), b"".join(encoded))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @property
    def size(self) -> int:
        """Count the bytes of all strings."""
        return len(self._utf8)

    def __getitem__(self, index: Any) -> Any:  # Any: Sequence's overloads; slices are not used
        return decode(self.raw(index))

    def raw(self, index: int) -> bytes:
        """Return one string as UTF-8."""
        start, end = self._at[index], self._at[index + 1]
        # The file is untrusted: with this a reader of all strings reads no byte twice.
        if not 0 <= start <= end:
            raise IndexError(f"a string from {start} to {end}")
        return self._utf8[start:end]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Return the number of bytes of each string: (strings,)."""
        return np.diff(self._offsets)

    def ending(self, byte: bytes) -> NDArray[np.int64]:
        """Return the indexes of the strings whose last byte is this one, ascending."""
        at = np.flatnonzero(self.sizes)
        is_last = np.frombuffer(self._utf8, np.uint8)[self._offsets[at + 1] - 1] == ord(byte)
        return np.asarray(at[is_last])

    @property
    def bounds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first and last place (exclusive) of each string in the run of bytes: two arrays (strings,)."""
        return self._offsets[:-1], self._offsets[1:]

    def places(self, text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where a text begins and ends (exclusive) in the run of bytes, wherever it occurs, also over two."""
        wanted = encode(text)
        begins = list[int]()
        place = self._utf8.find(wanted)
        while place >= 0:  # occurrences may overlap, so each is looked for from the place after the one before
            begins.append(place)
            place = self._utf8.find(wanted, place + 1)
        return np.array(begins, np.int64), np.array(begins, np.int64) + len(wanted)

    def having(self, text: str) -> Iterator[str]:
        """Yield each string that contains a text."""
        wanted = encode(text)
        place = self._utf8.find(wanted)
        while place >= 0:
            at = int(self._offsets.searchsorted(place, side="right"))
            if place + len(wanted) <= self._offsets[at]:  # else it is over two
                yield self[at - 1]
            place = self._utf8.find(wanted, max(int(self._offsets[at]), place + 1))

    def take(self, indexes: NDArray[np.int64] | Rows) -> list[bytes]:
        """Return several strings as UTF-8, in the order of `indexes`. Raises `IndexError` for damaged offsets."""
        if len(indexes) < _FEW:
            return list(map(self.raw, indexes.tolist()))
        first, last = self._offsets[indexes], self._offsets[indexes + 1]
        if (last < first).any():
            raise IndexError("strings that end before they begin")
        starts, ends, utf8 = first.tolist(), last.tolist(), self._utf8
        return [utf8[start:end] for start, end in zip(starts, ends, strict=True)]

    def forget(self) -> None:
        """Release the memory of the pages read so far, if the system can; a later access reads them again."""
        if isinstance(self._utf8, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            self._utf8.madvise(mmap.MADV_DONTNEED)

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _TAKEN):
            utf8, sizes = self.run(first, min(first + _TAKEN, len(self)))
            ends = np.cumsum(sizes).tolist()
            starts = [0, *ends[:-1]]
            if utf8.isascii():  # nearly always, and twice as fast
                text = utf8.decode()
                yield from [text[start:end] for start, end in zip(starts, ends, strict=True)]
            else:
                yield from [decode(utf8[start:end]) for start, end in zip(starts, ends, strict=True)]

    def find(self, text: str) -> int | None:
        """Return the index of a string, or None if it is missing; the strings must be sorted by their UTF-8."""
        wanted = encode(text)
        place = self.place(wanted)
        return place if place < len(self) and self.raw(place) == wanted else None

    def place(self, text: bytes) -> int:
        """Return the number of strings before a text, given as UTF-8; the strings must be sorted by theirs."""
        return bisect_left(range(len(self)), text, key=self.raw)

    def run(self, first: int, last: int) -> tuple[bytes, NDArray[np.int64]]:
        """Return the strings from one index to another (exclusive) as one UTF-8, and the sizes of each."""
        ends = self._offsets[first : last + 1]
        if int(ends[0]) < 0 or (ends[1:] < ends[:-1]).any():
            raise IndexError("strings that end before they begin")
        return self._utf8[int(ends[0]) : int(ends[-1])], np.diff(ends)


class StringWriter:
    """Appends strings to a file; `close` writes their offsets.

    The file is open only while it is written to, so that there may be hundreds of writers.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._sizes = array("q")
        self._waiting = bytearray()
        self._written = 0
        self._is_closed = False

    def __enter__(self) -> StringWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, text: bytes) -> None:
        """Append one string, given as UTF-8."""
        self.extend([text])

    def extend(self, texts: Iterable[bytes]) -> None:
        """Append several strings, each as UTF-8."""
        texts = list(texts)
        self._sizes.extend(map(len, texts))
        self._waiting += b"".join(texts)
        if len(self._waiting) > _WAITING:
            self._flush()

    def extend_texts(self, texts: Sequence[str]) -> None:
        """Append several strings."""
        whole = "".join(texts)
        if whole.isascii():  # nearly always, and faster
            self._sizes.extend(map(len, texts))
            self._waiting += whole.encode()
            if len(self._waiting) > _WAITING:
                self._flush()
        else:
            self.extend(map(encode, texts))

    def copy(self, strings: Strings, first: int, last: int) -> None:
        """Append the strings from one index to another (exclusive), without decoding any."""
        for low in range(first, last, _COPIED):
            utf8, sizes = strings.run(low, min(low + _COPIED, last))
            self._sizes.frombytes(sizes.astype(np.int64).tobytes())
            self._waiting += utf8
            if len(self._waiting) > _WAITING:
                self._flush()

    def _flush(self) -> None:
        with (self._folder / f"{self._name}.utf8").open("ab") as file:
            file.truncate(self._written)  # without what was written when somebody interrupted
            file.write(self._waiting)
        self._written, self._waiting = self._written + len(self._waiting), bytearray()

    def so_far(self) -> Strings:
        """Map the strings appended until now; more may be appended."""
        self._flush()
        offsets = begins_of(np.array(self._sizes, np.int64))
        return Strings(offsets, Folder(self._folder, ()).bytes(f"{self._name}.utf8"))

    @property
    def files(self) -> tuple[Path, Path]:
        """Return the paths of the text file and of the offsets file."""
        offsets = file_name(f"{self._name}.at", np.dtype(np.int64))
        return self._folder / f"{self._name}.utf8", self._folder / offsets

    def close(self) -> None:
        """Finish both files."""
        if self._is_closed:
            return
        self._is_closed = True
        self._flush()
        save(self._folder, f"{self._name}.at", begins_of(np.array(self._sizes, np.int64)))


def encode(text: str) -> bytes:
    """Return UTF-8. Broken input may hold lone surrogates; `decode` restores them."""
    return text.encode(errors="surrogatepass")


def decode(utf8: bytes) -> str:
    """Return the text that `encode` was called with."""
    return utf8.decode(errors="surrogatepass")
