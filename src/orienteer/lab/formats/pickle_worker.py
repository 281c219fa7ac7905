"""The process that unpickles one file: it has no network, no files and little memory, and sends back only JSON.

It runs as a script with four arguments: the file, what to read (`value`, `members` or `tensor`), the number of
characters that it may send, and the number of its end of the lifeline. Answers go to standard output, each as four
bytes of length and JSON; the numbers of a tensor follow its shape as bytes.

`find_class` knows a dozen names. A file that gets past it still runs in here, where `sandbox.confinement` has taken
everything away; the parent (`pickles`) believes nothing that it reads.
"""

from __future__ import annotations

import collections
import json
import math
import os
import pickle
import sys
import zipfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

if TYPE_CHECKING:
    from orienteer.sandbox import confinement, frames
else:  # loaded as single files: the package takes long to import
    sys.path.insert(0, str(Path(__file__).parents[2] / "sandbox"))
    import confinement
    import frames

    del sys.path[0]

_MEMORY = (1 << 30, 16)  # bytes in any case, and for each byte of the file
_SECONDS = (3, 1 << 20)  # of the processor: in any case, and bytes of the file for one more
_DEEPEST = 40  # values within values; STaRK's knowledge bases need about six
_MOST_DIMENSIONS = 8
_BATCH = 256  # members of a dictionary that are sent at once
_STORAGES = {
    "LongStorage": "i8", "IntStorage": "i4", "ShortStorage": "i2", "CharStorage": "i1", "ByteStorage": "u1",
    "BoolStorage": "b1", "DoubleStorage": "f8", "FloatStorage": "f4", "HalfStorage": "f2",
}  # fmt: skip
_NUMPY = {
    ("multiarray", "_reconstruct"): lambda *_: np.ndarray((0,), "b"),  # its state, which follows, has the rest
    ("multiarray", "scalar"): np._core.multiarray.scalar,  # type: ignore[attr-defined]  # as pickles name it
    ("numeric", "_frombuffer"): np._core.numeric._frombuffer,  # type: ignore[attr-defined]
}
_NAMES: dict[tuple[str, str], Any] = {
    **{
        (core, kind.__name__): kind
        for core in ("builtins", "__builtin__")
        for kind in (set, frozenset, bytes, bytearray)
    },
    ("collections", "OrderedDict"): collections.OrderedDict,
    ("_codecs", "encode"): lambda text, _: text.encode("latin1"),  # how protocol 2 spells bytes
    ("numpy", "ndarray"): None,  # only handed to `_reconstruct`
    ("numpy", "dtype"): np.dtype,
    **{(f"numpy.{core}.{module}", name): made for core in ("core", "_core") for (module, name), made in _NUMPY.items()},
}
_TENSOR_NAMES = {
    **_NAMES,
    **{("torch", name): name for name in _STORAGES},
    **{("torch._utils", name): lambda *view: view for name in ("_rebuild_tensor", "_rebuild_tensor_v2")},
}


class _Unpickler(pickle.Unpickler):
    """Python's unpickler, with names of its own."""

    def __init__(self, stream: BinaryIO, names: dict[tuple[str, str], Any]) -> None:
        super().__init__(stream, encoding="latin1")
        self._names = names

    def find_class(self, module: str, name: str) -> Any:
        """Return the stand-in of a name; nothing is imported."""
        if (module, name) not in self._names:
            raise ValueError(f"the name {module}.{name}")
        return self._names[module, name]

    def persistent_load(self, pid: Any) -> Any:
        """Return the storage that a tensor names: ("storage", class, key, device, count)."""
        match pid:
            case ("storage", str(kind), str(key), str(), int(count)) if (
                self._names is _TENSOR_NAMES and kind in _STORAGES and key.isascii() and key.isdigit() and count >= 0
            ):
                return kind, key, count
        raise ValueError("a storage of another kind")


class _Values:
    """Turns Python's and numpy's values into those of JSON, no more of them than a file of its size can mean."""

    def __init__(self, most: int) -> None:
        self._left = most

    def json(self, value: Any, depth: int = 0) -> Any:
        """Return the value as JSON: tuples, sets and arrays as lists, keys as text. Raises `ValueError`."""
        if isinstance(value, np.generic):
            value = value.item()
        self._left -= len(value) + 1 if isinstance(value, str | bytes | bytearray) else 1
        if depth > _DEEPEST or self._left < 0:
            raise ValueError("values in values without end")
        if value is None or isinstance(value, str | bool | int | float):
            return value
        if isinstance(value, dict):
            return {self._key(key): self.json(member, depth + 1) for key, member in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            if len(value) > self._left:
                raise ValueError("values in values without end")
            members = [self.json(member, depth + 1) for member in value]
            return sorted(members, key=str) if isinstance(value, set | frozenset) else members
        if isinstance(value, np.ndarray):
            return self.json(value.tolist() if value.size <= self._left else [0] * value.size, depth + 1)
        if isinstance(value, bytes | bytearray):
            return value.decode("utf-8", "replace")
        raise ValueError(f"{type(value).__name__} as a value")

    def _key(self, key: Any) -> str:
        if not (key is None or isinstance(key, str | bytes | int | float | np.generic)):
            raise ValueError(f"a key of the type {type(key).__name__}")
        text = str(key)
        self._left -= len(text)
        return text


def main() -> None:
    """Read the file, send its content, and end."""
    path, form, most, lifeline = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    confinement.end_with(lifeline)
    _, answers = frames.take_streams()
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        "".encode("cp437")  # zipfile's encoding is a module that could not be loaded later
        walls = confinement.shut(memory=_MEMORY[0] + _MEMORY[1] * size, left=(), probes=())
        if sys.platform != "win32":
            confinement.limit_use(_SECONDS[0] + size // _SECONDS[1], 64)
        walls["seccomp"] = confinement.enforce(confinement.filter_program(opens=False, lifeline=lifeline))
        _send(answers, {"ready": [name for name, holds in walls.items() if holds]})
        try:
            if form == "tensor":
                numbers = _tensor(stream, size)
                _send(answers, {"kind": numbers.dtype.str[1:], "shape": numbers.shape})
                frames.send(answers, numbers.tobytes())
            else:
                _send_values(answers, _Unpickler(stream, _NAMES).load(), form, _Values(most))
        except MemoryError:
            _send(answers, {"error": "more values than there is memory for"})
        except RecursionError:
            _send(answers, {"error": "values in values without end"})
        except Exception as error:  # noqa: BLE001  # a broken file makes the unpickler raise anything
            _send(answers, {"error": str(error) or type(error).__name__})


def _send_values(answers: BinaryIO, value: Any, form: str, values: _Values) -> None:
    if form == "value":
        _send(answers, {"value": values.json(value)})
        return
    if not isinstance(value, dict):
        raise ValueError("something else than one dictionary")
    members = iter(value.items())
    while batch := dict(islice(members, _BATCH)):
        _send(answers, {"members": values.json(batch)})
    _send(answers, {"members": {}})


def _tensor(stream: BinaryIO, size: int) -> Any:  # Any: numpy's array
    """Return the one tensor of a file that `torch.save` wrote: a ZIP archive of a small pickle and the raw numbers."""
    with zipfile.ZipFile(stream) as archive:
        names = archive.namelist()
        pickles = [name for name in names if name == "data.pkl" or name.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise ValueError(f"{len(pickles)} files named data.pkl where one is expected")
        root = pickles[0].removesuffix("data.pkl")

        def read(name: str) -> bytes:
            if root + name not in names:
                raise ValueError(f"no {name}")
            member = archive.getinfo(root + name)
            if member.compress_type != zipfile.ZIP_STORED or not member.compress_size == member.file_size <= size:
                raise ValueError(f"{name} is compressed")  # torch compresses nothing
            return archive.read(member)

        with archive.open(pickles[0]) as pickled:
            view = _Unpickler(pickled, _TENSOR_NAMES).load()  # type: ignore[arg-type]  # a ZIP member reads as a file
        match view:
            case ((kind, key, count), int(offset), tuple(sizes), tuple(steps), *_) if _is_shape(sizes, steps):
                pass
            case _:
                raise ValueError(f"a {type(view).__name__} where a tensor is expected")
        last = offset + sum((n - 1) * step for n, step in zip(sizes, steps, strict=True) if n)
        if not 0 <= offset <= last < max(count, 1) or math.prod(sizes) > count:
            raise ValueError("a tensor that lies outside of its storage, or repeats it")
        order = read("byteorder") if f"{root}byteorder" in names else b"little"
        dtype = np.dtype(_STORAGES[kind]).newbyteorder(">" if order == b"big" else "<")
        content = read(f"data/{key}")
        if len(content) != count * dtype.itemsize:
            raise ValueError(f"a storage of {len(content)} bytes where {count * dtype.itemsize} are expected")
        numbers = np.frombuffer(content, dtype)
        if 0 in sizes:
            return np.zeros(sizes, dtype.newbyteorder("<"))
        strides = [step * dtype.itemsize for step in steps]
        seen = np.lib.stride_tricks.as_strided(numbers[offset:], sizes, strides)
        return np.ascontiguousarray(seen, dtype.newbyteorder("<")).reshape(sizes)


def _is_shape(sizes: tuple[Any, ...], steps: tuple[Any, ...]) -> bool:
    counts = (*sizes, *steps)
    is_counted = all(type(count) is int and 0 <= count < 1 << 48 for count in counts)
    return len(sizes) == len(steps) <= _MOST_DIMENSIONS and is_counted


def _send(answers: BinaryIO, message: dict[str, Any]) -> None:
    frames.send(answers, json.dumps(message, ensure_ascii=False).encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
