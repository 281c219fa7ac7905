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
import math
import mmap
import pickle
import pickletools
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadInput
from orienteer.ingest.bounds import memory_told
from orienteer.ingest.formats.files import require
from orienteer.ingest.formats.table import shown
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


# The instructions of a pickle, looked over and written anew before Python's unpickler sees any of them.
#
# `pickletools.genops` reads them and carries nothing out. A first pass refuses every instruction that no pickle of
# plain values needs (they make instances, or belong to the text protocol), every length beyond the end of the file and
# every huge integer; it notes which values are referred to later. A second pass writes the same instructions once more:
#
#     EMPTY_DICT, EMPTY_SET      calls of our own classes, so that the file never chooses what is hashed
#     FROZENSET                  TUPLE, for the same reason
#     BINPUT, MEMOIZE            left out where nothing refers to the value; else numbered in turn, for the unpickler
#                                makes room for as many values as the highest number says
#     PROTO, FRAME               left out: each part becomes one frame of its own


Data: TypeAlias = bytes | mmap.mmap
MOST_INTEGER_BITS = 512
"""No counter has more."""
OWN_CLASSES = b"K\x00Qq\x00K\x01Qq\x01."
"""A pickle that puts our classes of dictionaries and sets, which are persistent values 0 and 1, under 0 and 1."""
_FIRST = 2

_LATEST = 5
_GETS = frozenset(("BINGET", "LONG_BINGET"))
_PUTS = frozenset(("BINPUT", "LONG_BINPUT", "MEMOIZE"))
_NUMBERS = frozenset(("LONG1", "LONG4"))
_SETS = frozenset(("SETITEM", "SETITEMS"))
_REPLACED: Mapping[str, bytes] = {
    "EMPTY_DICT": b"h\x00)R",
    "EMPTY_SET": b"h\x01)R",
    "FROZENSET": b"t",
    "PROTO": b"",
    "FRAME": b"",
}
_COPIED = frozenset((
    "MARK", "STOP", "POP", "POP_MARK", "DUP", "NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "BINFLOAT",
    "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8", "BINUNICODE",
    "SHORT_BINUNICODE", "BINUNICODE8", "EMPTY_LIST", "APPEND", "APPENDS", "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2",
    "TUPLE3", "ADDITEMS", "GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD", "BINPERSID",
))  # fmt: skip
ALLOWED = _GETS | _PUTS | _NUMBERS | _SETS | _COPIED | _REPLACED.keys()
"""Names of the instructions that are read, as `pickletools` has them."""


def references(pickled: Data) -> set[int]:
    """Return the numbers of the values that are referred to. Raises `ValueError` for an instruction that is not read.

    Every instruction of the file is looked at, up to STOP.
    """
    numbers: set[int] = set()
    argument: Any  # an integer, a text or bytes, as the instruction has it
    for instruction, argument, place in _instructions(pickled):
        name = instruction.name
        if name in _GETS:
            numbers.add(argument)
        elif name not in ALLOWED:
            old = ", of the text protocol," if not instruction.proto else ""
            raise ValueError(f"byte {place}: the instruction {name}{old}")
        elif name in _NUMBERS and argument.bit_length() > MOST_INTEGER_BITS:
            raise ValueError(f"byte {place}: an integer of {argument.bit_length():,} bits")
        elif name == "PROTO" and argument > _LATEST:
            raise ValueError(f"byte {place}: protocol {argument}")
    return numbers


def _instructions(pickled: Data) -> Iterator[tuple[pickletools.OpcodeInfo, Any, int]]:
    """Return each instruction with its argument and its place; a mapped file is read as any file."""
    if not isinstance(pickled, bytes):
        pickled.seek(0)
    instructions = pickletools.genops(cast(bytes, pickled))
    return cast(Iterator[tuple[pickletools.OpcodeInfo, Any, int]], instructions)


def _effect(instruction: pickletools.OpcodeInfo) -> int:
    """Return how many values an instruction adds, not counting those above the mark that it removes."""
    before, after = instruction.stack_before, instruction.stack_after
    if pickletools.markobject in before:
        return len(after) - before.index(pickletools.markobject)
    return len(after) - len(before) - after.count(pickletools.markobject)


_EFFECTS = {instruction.name: _effect(instruction) for instruction in pickletools.opcodes}
_TO_MARK = frozenset(
    instruction.name for instruction in pickletools.opcodes if pickletools.markobject in instruction.stack_before
)


def parts(pickled: Data, referred: Collection[int], *, is_streamed: bool) -> Iterator[bytes]:
    """Write the instructions of a pickle anew: as one pickle, or as one for each batch of a dictionary's members.

    Raises `ValueError` if the file holds no value, or several. The values on the stack are counted on the way: a
    batch ends where only the dictionary is left. After a file's nonsense the count is any number, and the unpickler
    finds the nonsense.
    """
    puts, gets = _renumbered(referred)
    written, copied, memoized, place = bytearray(), 0, 0, 0
    depth, marks, is_batch = 0, [0], False
    for instruction, argument, place in _instructions(pickled):
        if copied < 0:  # the instruction before this one was replaced
            copied = place
        if is_batch:
            yield _framed(written + pickled[copied:place])
            written, copied, is_batch = bytearray(_REPLACED["EMPTY_DICT"]), place, False
        name = instruction.name
        if name in _PUTS:
            new: bytes | None = puts.get(memoized if argument is None else argument, b"")
            memoized += 1
        else:
            new = gets[argument] if name in _GETS else _REPLACED.get(name)
            if name == "MARK":
                marks.append(depth)
            depth = (marks.pop() if name in _TO_MARK and marks else depth) + _EFFECTS[name]
            is_batch = is_streamed and depth == 1 and name in _SETS
        if new is not None:
            written += pickled[copied:place]
            written += new
            copied = -1
    if depth:
        raise ValueError(f"{depth + 1} values where one is expected")
    yield _framed(written + pickled[copied:place])


def _renumbered(referred: Collection[int]) -> tuple[dict[int, bytes], dict[int, bytes]]:
    """Return the instructions that note each value that is referred to, and those that take it out again."""
    numbers = {old: new for new, old in enumerate(sorted(referred), _FIRST)}
    puts = {old: b"r" + struct.pack("<I", new) for old, new in numbers.items()}
    gets = {old: b"h" + bytes([new]) if new < 256 else b"j" + struct.pack("<I", new) for old, new in numbers.items()}
    return puts, gets


def _framed(written: bytes | bytearray) -> bytes:
    return b"\x95" + struct.pack("<Q", len(written) + 1) + written + b"."


# The few objects that a pickle may hold besides plain values: what stands in for each, and all of it as JSON.
#
# None of them has an attribute that a file can set, or does anything with what it is given before it is asked for it.


Call: TypeAlias = Callable[..., Any]
"""What stands in for a function or a class that a pickle may name. Any: it gets what the file holds."""
Calls: TypeAlias = Mapping[tuple[str, str], Call]

MOST_DEPTH = 40
"""Values within values; STaRK's knowledge bases need about six."""
MOST_UNFOLDED = 8
"""Values that one byte of the file may come to, by references to what was there before. A real file stays below 1."""
MOST_REPEATED = 32
"""Characters that one byte of the file may come to likewise: the names of fields are referred to, not repeated."""
MOST_DIMENSIONS = 8


class BadPickle(BadInput):
    """A pickle holds what is not read: nothing of it was run."""


class PickleName:
    """A name that a pickle may use: it can be called, and that is all."""

    __slots__ = ("_call", "name")

    def __init__(self, name: tuple[str, str], call: Call) -> None:
        self.name, self._call = name, call

    def __call__(self, *arguments: Any) -> Any:
        """Return what stands in for what the name would give."""
        return self._call(*arguments)

    def __setstate__(self, state: Any) -> NoReturn:
        raise ValueError(f"a state for the name {'.'.join(self.name)}")


class Dictionary(dict[str | bytes, Any]):
    """A dictionary whose keys are found by their text: see `key_of`."""

    __slots__ = ()

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key if type(key) is str else key_of(key), value)


class Members(list[Any]):
    """The members of a set, in the order of the file: nothing hashes them."""

    __slots__ = ()
    add = list.append


class Dtype:
    """numpy's dtype, of numbers and texts only."""

    __slots__ = ("_code", "_order")
    allowed = re.compile(r"[biufSU]\d{1,9}|O8?")

    def __init__(self, code: Any, *rest: Any) -> None:
        if not isinstance(code, str) or not self.allowed.fullmatch(code):
            raise ValueError(f"numpy's type {code[:40] if isinstance(code, str) else type(code).__name__}")
        self._code, self._order = code, "="

    def __setstate__(self, state: Any) -> None:
        """Take the state that a pickle gives: version, byte order, and nothing of structured types."""
        match state:
            case (int(), "<" | ">" | "|" | "=" as order, None, None, None, *_):
                self._order = order
            case _:
                raise ValueError("a structured type of numpy")

    def read(self, raw: Any, count: int) -> NDArray[Any]:
        """Return the values of this type that the bytes hold, shape (count,). Raises `ValueError` for more or fewer."""
        if self._code.startswith("O") or not isinstance(raw, bytes | bytearray):
            raise ValueError(f"numpy's values of the type {self._code} as {type(raw).__name__}")
        kind = np.dtype(self._order + self._code)
        if not kind.itemsize and count > 1:
            raise ValueError("an array of nothing")
        if len(raw) != count * kind.itemsize:
            raise ValueError(f"{len(raw)} bytes where {count * kind.itemsize} are expected")
        return np.frombuffer(raw, kind, count) if kind.itemsize else np.zeros(count, kind)


class ArrayState:
    """numpy's array, as a pickle writes it: version, shape, type, order, content."""

    __slots__ = ("_state",)

    def __init__(self, *state: Any) -> None:
        self._state = state

    def __setstate__(self, state: Any) -> None:
        self._state = state

    def values(self) -> list[Any]:
        """Return the values, in lists as the shape says; objects flat. Raises `ValueError` if parts do not fit."""
        match self._state:
            case (int(), tuple(shape), Dtype() as kind, is_fortran, raw) if len(shape) <= MOST_DIMENSIONS:
                pass
            case _:
                raise ValueError("an array of another form")
        if not all(type(size) is int and size >= 0 for size in shape):
            raise ValueError("an array of another shape")
        count = math.prod(shape)
        if isinstance(raw, list):
            if len(raw) != count:
                raise ValueError(f"{len(raw)} objects where {count} are expected")
            return raw
        values: list[Any] = kind.read(raw, count).reshape(shape, order="F" if is_fortran else "C").tolist()
        return values if count else []


def _scalar(kind: Any, raw: Any) -> Any:
    if not isinstance(kind, Dtype):
        raise ValueError("a number without a type")
    return kind.read(raw, 1)[0].item()


def _empty_array(kind: Any, shape: Any, code: Any) -> ArrayState:
    if not isinstance(kind, PickleName) or kind.name != ("numpy", "ndarray"):
        raise ValueError("an array of another class")
    return ArrayState()


def _bytes(content: Any = b"", encoding: Any = None) -> bytes:
    """Return bytes as the protocols spell them: as they are, or as text in Latin-1."""
    if isinstance(content, str) and encoding in ("latin1", "latin-1"):
        return content.encode("latin1")
    if isinstance(content, bytes) and encoding is None:
        return content
    raise ValueError(f"bytes made of {type(content).__name__}")


def _dictionary(pairs: Any = ()) -> Dictionary:
    return Dictionary((key_of(key), value) for key, value in pairs)


def never(*arguments: Any) -> NoReturn:
    """Refuse to call a class that files only name."""
    raise ValueError("a class that is only named")


_NUMPY: Calls = {
    ("multiarray", "_reconstruct"): _empty_array,
    ("multiarray", "scalar"): _scalar,
    ("numeric", "_frombuffer"): lambda raw, kind, shape, order: ArrayState(1, shape, kind, order == "F", raw),
}
CALLS: Calls = {
    **{(core, name): Members for core in ("builtins", "__builtin__") for name in ("set", "frozenset")},
    **{(core, name): _bytes for core in ("builtins", "__builtin__") for name in ("bytes", "bytearray")},
    ("collections", "OrderedDict"): _dictionary,
    ("_codecs", "encode"): _bytes,
    ("numpy", "ndarray"): never,
    ("numpy", "dtype"): Dtype,
    **{(f"numpy.{core}.{module}", name): call for core in ("core", "_core") for (module, name), call in _NUMPY.items()},
}


def key_of(key: Any) -> str | bytes:
    """Return a plain value as it is found again: as text, as `str` has it. Raises `ValueError` for any other.

    JSON makes text of keys too, but for `True` and `None`, which stay as Python spells them, and bytes, which stay.
    Numbers hash to themselves, so that whoever writes a file can choose keys that all meet; texts and bytes hash by a
    number that each process draws for itself.
    """
    if type(key) in (str, bytes):
        return key  # type: ignore[no-any-return]  # one of these two
    if key is None or type(key) in (int, float, bool):
        return str(key)
    raise ValueError(f"a key of the type {type(key).__name__}")


class Unfolder:
    """Turns what a pickle holds into JSON values, no deeper and no larger than a file of its size can mean."""

    def __init__(self, size: int) -> None:
        self._values = MOST_UNFOLDED * size + 1000
        self._characters = MOST_REPEATED * size + 1000

    def json(self, value: Any, depth: int = 0) -> JsonValue:
        """Return the value as JSON has it. Raises `ValueError` for what JSON cannot say, and for what is too much."""
        kind = type(value)
        if kind is str:
            return self.text(value)
        if value is None or kind is bool or kind is int or kind is float:
            return value  # type: ignore[no-any-return]  # one of these four
        self._values -= 1
        if depth > MOST_DEPTH or self._values < 0:
            raise ValueError("values in values without end")
        if kind is Dictionary:
            self._values -= len(value)
            return {self.text(str(key)): self.json(member, depth + 1) for key, member in value.items()}
        if kind is list or kind is tuple or kind is Members:
            self._values -= len(value)
            members = [self.json(member, depth + 1) for member in value]
            return sorted(members, key=str) if kind is Members else members
        if kind is ArrayState:
            return self.json(value.values(), depth + 1)
        if kind is bytes or kind is bytearray:
            return self.text(value.decode("utf-8", "replace"))
        raise ValueError(f"{kind.__name__} as a value")

    def text(self, text: str) -> str:
        """Return a text that a graph can hold: Python writes lone surrogates, which become question marks."""
        self._characters -= len(text)
        if self._characters < 0:
            raise ValueError("values in values without end")
        return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


# Tensors that torch has saved, read without torch: a ZIP archive with a small pickle and the raw numbers beside it.
#
# Nothing is unpacked to disk, nothing compressed is read (torch compresses nothing, and what unfolds to more than the
# file is no tensor), and the pickle goes through the reader that runs nothing: it gives a view of a storage, whose
# numbers are read afterwards.


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
