"""The protocol between the caller who runs a model's Python and the interpreter that it runs in."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from orienteer.errors import BadOption
from orienteer.records import JsonValue

Tier: TypeAlias = Literal["monty", "cpython"]
Functions: TypeAlias = Mapping[str, Callable[..., JsonValue]]
"""The functions that the code may call, by name. They run in our own process. An `Error` that one raises becomes an
exception in the code, with its message; any other exception is a bug, and `run` raises it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one run of code."""

    seconds: float = 20.0
    """Wall time of a run, its calls of functions included. A run that takes longer is killed, and its state is lost."""
    memory_mb: int = 512
    """Memory of the code."""
    output_characters: int = 8_000
    """Characters of printed text that come back: the first and the last of them, with the number left out."""
    calls: int = 500
    """Calls of functions in a run."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run of code."""

    printed: str
    """Standard output, cut to the limit; a line in the gap says how much was left out."""
    error: str | None = None
    """The error that ended the code, with its line, written for the code's author; None without one."""
    missing: str | None = None
    """The feature that the code needed and this tier lacks, in a few words, or None."""
    is_lost: bool = False
    """Whether the state of earlier runs is gone because the process was killed or died."""
    left_out: int = 0
    """Characters of printed text that were left out."""
    seconds: float = 0.0


class Interpreter(Protocol):
    """A Python that keeps its state from run to run until it is closed. One thread only."""

    @property
    def tier(self) -> Tier:
        """The name of the tier, for the trajectory."""

    def run(self, code: str) -> RunResult:
        """Run code; its errors come back in the result, ours propagate. Raises `MissingExtra`, `UnsafeSandbox`."""

    def close(self) -> None:
        """End its process and its state. Closing twice does no harm."""


# A model's code calls one of our functions: the arguments are checked first, and all sizes are bounded.

# The first three bound the time that one call may take us.
_DEEPEST = 32  # levels of lists in lists in an argument
_MOST_VALUES = 200_000  # in the arguments of one call
_MOST_CHARACTERS = 2_000_000  # of text in the arguments of one call
_MOST_BITS = 1_024  # of a whole number: Python refuses to write numbers of many thousands of digits
_MOST_RETURNED = 16_000_000  # characters of a result, as JSON: a worker's messages have a largest size


def serve(functions: Functions, name: str, positional: Sequence[object], named: Mapping[str, object]) -> JsonValue:
    """Return the result of a call that code made.

    Raises `BadOption` for arguments that are not JSON, are too large or do not fit the function, and for too large a
    result; and whatever the function raises.
    """
    function = functions[name]
    counted = _ArgumentReader()
    values = [counted.plain(value) for value in positional]
    options = {key: counted.plain(value) for key, value in named.items()}
    try:
        inspect.signature(function).bind(*values, **options)
    except TypeError as error:
        # The signature without types: `(number, k=5)`.
        signature = inspect.signature(function)
        bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
        form = signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)
        raise BadOption(f"{name}{form}: {error}") from error
    value = function(*values, **options)
    text = json.dumps(value, ensure_ascii=False)
    if len(text) > _MOST_RETURNED:
        raise BadOption(f"the result is larger than {_MOST_RETURNED:,} characters: ask for less")
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates, from broken graphs, become question marks
        sound: JsonValue = json.loads(text.encode(errors="replace"))
        return sound
    return value


class _ArgumentReader:
    """Copies the arguments of one call as JSON and counts them: a model's code may send any size."""

    def __init__(self) -> None:
        self._values = self._characters = 0

    def plain(self, value: object, depth: int = 0) -> JsonValue:
        """Return a value as JSON. Raises `BadOption` for a value that is not JSON or is too large."""
        self._values += 1
        if depth > _DEEPEST or self._values > _MOST_VALUES:
            raise BadOption(f"an argument nests deeper than {_DEEPEST} or holds more than {_MOST_VALUES:,} values")
        if value is None or isinstance(value, float):
            return value
        if isinstance(value, int):
            if value.bit_length() > _MOST_BITS:
                raise BadOption(f"an argument holds a whole number of more than {_MOST_BITS:,} bits")
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list | tuple | set | frozenset):
            return [self.plain(item, depth + 1) for item in value]
        if isinstance(value, dict):
            return {self._key(key): self.plain(item, depth + 1) for key, item in value.items()}
        raise BadOption(
            f"an argument holds a {type(value).__name__}: only None, booleans, numbers, text, lists and dicts can be"
        )

    def _text(self, text: str) -> str:
        self._characters += len(text)
        if self._characters > _MOST_CHARACTERS:
            raise BadOption(f"the arguments hold more than {_MOST_CHARACTERS:,} characters of text")
        return text

    def _key(self, key: object) -> str:
        """Return a key of a dict. Raises `BadOption` unless it is text."""
        if not isinstance(key, str):
            raise BadOption(f"a dict in an argument has a key of type {type(key).__name__}: keys must be text")
        return self._text(key)
