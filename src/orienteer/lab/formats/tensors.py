"""Tensors that torch has saved, read without torch: a ZIP archive with a small pickle and the raw numbers beside it.

Nothing is unpacked to disk, nothing compressed is read (torch compresses nothing, and what unfolds to more than the
file is no tensor), and the pickle goes through the reader that runs nothing: it gives a view of a storage, whose
numbers are read afterwards.
"""

from __future__ import annotations

import math
import zipfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadInput
from orienteer.ingest.bounds import memory_told
from orienteer.ingest.formats.files import require
from orienteer.lab.formats.pickles import refusals, value
from orienteer.lab.formats.stand_ins import MOST_DIMENSIONS, BadPickle, Calls, PickleName, never

Tensor: TypeAlias = NDArray[Any]  # Any: numbers, of the type that was saved

STORAGES = {
    "LongStorage": "i8",
    "IntStorage": "i4",
    "ShortStorage": "i2",
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "BoolStorage": "b1",
    "DoubleStorage": "f8",
    "FloatStorage": "f4",
    "HalfStorage": "f2",
}
"""numpy's types by torch's classes."""
PICKLE, BYTE_ORDER = "data.pkl", "byteorder"
MOST_PICKLE_BYTES = 1 << 20
"""The pickle of a tensor has some hundred bytes."""
LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""How files begin that torch wrote before 1.6."""


class TensorStorage(NamedTuple):
    """A storage of a file that `torch.save` wrote: its kind, its key and its number of values."""

    kind: str
    key: str
    size: int


class _View(NamedTuple):
    """A tensor as a part of a storage: where it begins, and in each dimension its size and its step, in numbers."""

    storage: TensorStorage
    offset: int
    sizes: tuple[int, ...]
    steps: tuple[int, ...]


def tensor(path: Path) -> Tensor:
    """Return the one tensor of a file that `torch.save` wrote, as an array that is only for reading.

    Memory holds its numbers once. Raises `BadInput` for what is no single tensor, and for a file that is not whole.
    """
    require(path)
    with path.open("rb") as raw:
        head = raw.read(len(LEGACY))
    if head == LEGACY:
        raise BadInput(
            f"{path} was saved by torch in its old form (before 1.6), which is not read: "
            "write it again with torch.save(torch.load(path), path)"
        )
    try:
        with memory_told(path), zipfile.ZipFile(path) as archive:
            return _Archive(archive, path).tensor()
    # A damaged directory of the archive shows in as many ways as it has fields: names, versions, places past the end.
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise BadInput(f"{path} is no whole file of torch.save ({error}); fetch the file again") from error


class _Archive:
    """One opened file."""

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self._archive, self._path = archive, path
        pickles = [name for name in archive.namelist() if name == PICKLE or name.endswith(f"/{PICKLE}")]
        if len(pickles) != 1:
            self._refuse(f"{len(pickles)} files named {PICKLE} where one is expected")
        self._root = pickles[0].removesuffix(PICKLE)

    def _refuse(self, what: str) -> NoReturn:
        raise BadPickle(
            f"{self._path}: {what}; only single tensors that torch.save wrote are read, and nothing was run"
        )

    def tensor(self) -> Tensor:
        """Return the one tensor."""
        content = self._read(PICKLE, most=MOST_PICKLE_BYTES)
        with refusals(f"{self._path}, {PICKLE}"):
            view = value(content, calls=_CALLS, persistent=_storage)
        if not isinstance(view, _View):
            self._refuse(f"a {type(view).__name__} where a tensor is expected")
        numbers = self._numbers(view.storage)
        if 0 in view.sizes:
            tensor: Tensor = numbers[:0].reshape(view.sizes)
        else:
            strides = [step * numbers.itemsize for step in view.steps]
            tensor = np.lib.stride_tricks.as_strided(numbers[view.offset :], view.sizes, strides)
        tensor.flags.writeable = False
        return tensor

    def _numbers(self, storage: TensorStorage) -> Tensor:
        """Return the numbers of a storage, shape (size,), in the byte order of the file."""
        order = (
            self._read(BYTE_ORDER, most=16) if f"{self._root}{BYTE_ORDER}" in self._archive.namelist() else b"little"
        )
        if order not in (b"little", b"big"):
            self._refuse(f"the byte order {order!r}")
        kind = np.dtype(STORAGES[storage.kind]).newbyteorder("<" if order == b"little" else ">")
        expected = storage.size * kind.itemsize
        content = self._read(f"data/{storage.key}", most=expected)
        if len(content) != expected:
            self._refuse(f"a storage of {len(content)} bytes where {expected} are expected")
        return np.frombuffer(content, kind)

    def _read(self, name: str, *, most: int) -> bytes:
        """Return a member's bytes. Refuses one that is packed, or larger than it may be, before it is read."""
        try:
            member = self._archive.getinfo(f"{self._root}{name}")
        except KeyError:
            return self._refuse(f"no {name}")
        if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
            self._refuse(f"{name} is compressed")
        if member.file_size > min(most, self._path.stat().st_size):
            self._refuse(f"{name} has {member.file_size:,} bytes")
        return self._archive.read(member)


def _storage(pid: object) -> TensorStorage:
    """Return the storage that a persistent id names: ("storage", class, key, device, count)."""
    match pid:
        case ("storage", PickleName(name=("torch", kind)), str(key), str(), int(count)) if (
            kind in STORAGES and key.isascii() and key.isdigit() and count >= 0
        ):
            return TensorStorage(kind, key, count)
        case _:
            raise ValueError("a storage of another kind")


def _rebuilt(storage: object, offset: object, size: object, stride: object, *rest: object) -> _View:
    """Return the view that torch's function of a like name makes. Raises `ValueError` if it leaves its storage."""
    sizes, steps = _counts(size), _counts(stride)
    if not isinstance(storage, TensorStorage) or type(offset) is not int or len(sizes) != len(steps):
        raise ValueError("a tensor of another form")
    last = offset + sum((n - 1) * step for n, step in zip(sizes, steps, strict=True) if n)
    if not 0 <= offset <= last < max(storage.size, 1) or math.prod(sizes) > storage.size:
        raise ValueError("a tensor that lies outside of its storage, or repeats it")
    return _View(storage, offset, sizes, steps)


def _counts(counts: object) -> tuple[int, ...]:
    if (
        not isinstance(counts, tuple)
        or len(counts) > MOST_DIMENSIONS
        or not all(type(count) is int and 0 <= count < 1 << 48 for count in counts)
    ):
        raise ValueError("a tensor of another form")
    return counts


_CALLS: Calls = {
    **{("torch", name): never for name in STORAGES},
    **{("torch._utils", name): _rebuilt for name in ("_rebuild_tensor", "_rebuild_tensor_v2")},
}
