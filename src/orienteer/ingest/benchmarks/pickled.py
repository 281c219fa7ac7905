"""The few objects that a pickle may hold besides plain values, each made by our own code, and all of it as JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadInput
from orienteer.records import JsonValue

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


class Refused(BadInput):
    """A pickle holds what is not read: nothing of it was run."""


class Members(dict[Any, Any]):
    """A set: its members by their types and texts, for 1 and "1" are two."""


class Named:
    """A name that a pickle may use; it has no attributes, so that nothing can be set on it."""

    __slots__ = ("name",)

    def __init__(self, name: tuple[str, str]) -> None:
        self.name = name


class Type:
    """numpy's dtype, of numbers and texts only."""

    __slots__ = ("code", "order")
    known = re.compile(r"[biufSU]\d{1,9}|O8?")

    def __init__(self, code: Any, *rest: Any) -> None:
        if not isinstance(code, str) or not self.known.fullmatch(code):
            raise ValueError(f"numpy's type {code!r}")
        self.code, self.order = code, "="

    def build(self, state: Any) -> None:
        """Take the state that a pickle gives: version, byte order, and nothing of structured types."""
        order = state[1]
        if order not in ("<", ">", "|", "=") or any(part is not None for part in state[2:5]):
            raise ValueError("a structured type of numpy")
        self.order = order

    def read(self, raw: bytes, count: int) -> NDArray[Any]:
        """Return that many values of this type. Raises `ValueError` where the bytes are not as many."""
        if self.code.startswith("O"):
            raise ValueError("numpy's objects as bytes")
        kind = np.dtype(self.order + self.code)
        if not kind.itemsize and count > 1:
            raise ValueError("an array of nothing")
        if len(raw) != count * kind.itemsize:
            raise ValueError(f"{len(raw)} bytes where {count * kind.itemsize} are expected")
        return np.frombuffer(raw, kind, count) if kind.itemsize else np.zeros(count, kind)


class Array:
    """numpy's array, made empty and then given its content."""

    __slots__ = ("values",)

    def __init__(self, *arguments: Any) -> None:
        self.values: list[Any] = []

    def build(self, state: Any) -> None:
        """Take the state that a pickle gives: version, shape, type, order, and the content."""
        _, shape, kind, is_fortran, raw = state
        count = _count(shape)
        if isinstance(raw, list):
            if len(raw) != count:
                raise ValueError(f"{len(raw)} objects where {count} are expected")
            self.values = list(raw)  # flat: nothing that is read here has tables of objects
            return
        read = _of_type(kind).read(bytes(raw), count)
        self.values = read.reshape(shape, order="F" if is_fortran else "C").tolist() if count else []


def _count(shape: Any) -> int:
    if (
        not isinstance(shape, tuple)
        or len(shape) > MOST_DIMENSIONS
        or not all(type(n) is int and n >= 0 for n in shape)
    ):
        raise ValueError(f"the shape {shape!r:.40}")
    return math.prod(shape)


def _of_type(kind: Any) -> Type:
    if not isinstance(kind, Type):
        raise ValueError("an array without a type")
    return kind


def _scalar(kind: Any, raw: Any) -> Any:
    return _of_type(kind).read(bytes(raw), 1)[0].item()


def _buffer(raw: Any, kind: Any, shape: Any, order: Any) -> Array:
    made = Array()
    made.build((1, shape, kind, order == "F", raw))
    return made


def _reconstruct(kind: Any, shape: Any, code: Any) -> Array:
    if not isinstance(kind, Named) or kind.name != ("numpy", "ndarray"):
        raise ValueError("an array of another class")
    return Array()


def _bytes(content: Any = b"", encoding: Any = None) -> bytes:
    """Return bytes as the protocols spell them: as they are, or as text in Latin-1."""
    if isinstance(content, str) and encoding in ("latin1", "latin-1"):
        return content.encode("latin1")
    if isinstance(content, bytes) and encoding is None:
        return content
    raise ValueError(f"bytes made of {type(content).__name__}")


def _dictionary(pairs: Any = ()) -> dict[Any, Any]:
    return {key_of(key): one for key, one in pairs}


def members(found: Any = ()) -> Members:
    """Return a set. Raises `ValueError` for a member that is no plain value."""
    return Members((f"{type(one).__name__} {key_of(one)!r}", one) for one in found)


def _never(*arguments: Any) -> NoReturn:
    raise ValueError("a class that is only named")


_NUMPY: Calls = {
    ("multiarray", "_reconstruct"): _reconstruct,
    ("multiarray", "scalar"): _scalar,
    ("numeric", "_frombuffer"): _buffer,
}
CALLS: Calls = {
    **{(core, name): members for core in ("builtins", "__builtin__") for name in ("set", "frozenset")},
    **{(core, name): _bytes for core in ("builtins", "__builtin__") for name in ("bytes", "bytearray")},
    ("collections", "OrderedDict"): _dictionary,
    ("_codecs", "encode"): _bytes,
    ("numpy", "ndarray"): _never,
    ("numpy", "dtype"): Type,
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


class Plain:
    """Turns what a pickle holds into JSON values, no deeper and no larger than a file of its size can mean."""

    def __init__(self, size: int, file: object) -> None:
        self._file = file
        self._left = MOST_UNFOLDED * size + 1000
        self._characters = MOST_REPEATED * size + 1000

    def of(self, found: Any, depth: int = 0) -> JsonValue:
        """Return the value as JSON has it. Raises `BadInput` for what JSON cannot say."""
        kind = type(found)
        if kind is str:
            return self._text(found)
        if found is None or kind is bool or kind is int or kind is float:
            return found  # type: ignore[no-any-return]  # one of these four
        self._left -= 1
        if depth > MOST_DEPTH or self._left < 0:
            self._refuse()
        if kind is dict:
            self._left -= len(found)
            return {self._text(str(key)): self.of(one, depth + 1) for key, one in found.items()}
        if kind is list or kind is tuple:
            self._left -= len(found)
            return [self.of(one, depth + 1) for one in found]
        return self._other(found, depth)

    def _text(self, found: str) -> str:
        self._characters -= len(found)
        return found if self._characters >= 0 else self._refuse()

    def _refuse(self) -> NoReturn:
        raise Refused(f"{self._file}: values in values without end in a pickle; write it again as JSON or Parquet")

    def _other(self, found: Any, depth: int) -> JsonValue:
        if isinstance(found, Members):
            return [self.of(one, depth + 1) for one in sorted(found.values(), key=str)]
        if isinstance(found, Array):
            return self.of(found.values, depth + 1)
        if isinstance(found, bytes):
            return found.decode("utf-8", "replace")
        raise Refused(
            f"{self._file}: a pickle holds {type(found).__name__} as a value; write it again as JSON or Parquet"
        )
