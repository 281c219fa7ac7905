"""The few objects that a pickle may hold besides plain values: what stands in for each, and all of it as JSON.

None of them has an attribute that a file can set, or does anything with what it is given before it is asked for it.
"""

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
