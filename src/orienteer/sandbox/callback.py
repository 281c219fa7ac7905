"""A call that a model's code makes of a function of ours: checked before it is made, bounded in number."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence

from orienteer.errors import BadOption
from orienteer.records import JsonValue
from orienteer.sandbox.interpreter import Functions

_DEEPEST = 32  # lists in lists that an argument may hold
_MOST_VALUES = 200_000  # that the arguments of one call may hold
_MOST_CHARACTERS = 2_000_000
_MOST_BITS = 1_024  # of a whole number: Python refuses to write those of many thousands
_MOST_RETURNED = 16_000_000  # characters, as JSON: a worker takes frames of some size only


def serve(functions: Functions, name: str, positional: Sequence[object], named: Mapping[str, object]) -> JsonValue:
    """Return what a function gives to a call that code made.

    Raises `BadOption` for arguments that are no JSON, too large, or do not fit the function, and whatever the function
    raises.
    """
    function = functions[name]
    counted = _Counted()
    values = [counted.plain(one) for one in positional]
    options = {key: counted.plain(one) for key, one in named.items()}
    try:
        inspect.signature(function).bind(*values, **options)
    except TypeError as error:
        raise BadOption(f"{name}{_form(functions, name)}: {error}") from error
    return _sound(function(*values, **options))


def _sound(value: JsonValue) -> JsonValue:
    """Return a value whose texts are whole: half a surrogate pair, which broken graphs hold, crosses no pipe.

    Raises `BadOption` where it is too large for one.
    """
    text = json.dumps(value, ensure_ascii=False)
    if len(text) > _MOST_RETURNED:
        raise BadOption(f"the result is larger than {_MOST_RETURNED:,} characters: ask for less")
    try:
        text.encode()
    except UnicodeEncodeError:
        sound: JsonValue = json.loads(text.encode(errors="replace"))
        return sound
    return value


def _form(functions: Functions, name: str) -> str:
    """Return how a function is called, without the types."""
    signature = inspect.signature(functions[name])
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


class _Counted:
    """Copies values that are JSON, and counts them: they come from a model's code and may be of any size."""

    def __init__(self) -> None:
        self._values = self._characters = 0

    def plain(self, value: object, depth: int = 0) -> JsonValue:
        """Return a value as JSON has it. Raises `BadOption` where it is none, or is too large."""
        self._values += 1
        if depth > _DEEPEST or self._values > _MOST_VALUES:
            raise BadOption(f"an argument nests deeper than {_DEEPEST} or holds more than {_MOST_VALUES:,} values")
        if value is None or isinstance(value, float):
            return value
        if isinstance(value, int):
            return _whole(value)
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list | tuple | set | frozenset):
            return [self.plain(one, depth + 1) for one in value]
        if isinstance(value, dict):
            return {self._key(key): self.plain(one, depth + 1) for key, one in value.items()}
        raise BadOption(
            f"an argument holds a {type(value).__name__}: only None, booleans, numbers, text, lists and dicts can be"
        )

    def _text(self, text: str) -> str:
        self._characters += len(text)
        if self._characters > _MOST_CHARACTERS:
            raise BadOption(f"the arguments hold more than {_MOST_CHARACTERS:,} characters of text")
        return text

    def _key(self, key: object) -> str:
        if not isinstance(key, str):
            raise BadOption(f"a dict in an argument has a key of type {type(key).__name__}: keys must be text")
        return self._text(key)


def _whole(number: int) -> int:
    if number.bit_length() > _MOST_BITS:
        raise BadOption(f"an argument holds a whole number of more than {_MOST_BITS:,} bits")
    return number
