"""Errors of the first tier's code, written for the code's author, and the features of Python that the tier lacks."""

from __future__ import annotations

import builtins
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_monty import Frame, MontyRuntimeError, MontySyntaxError

# An error goes to a model: these bound what it reads.
_LONGEST_MESSAGE = 2_000  # characters
_LONGEST_LINE = 160  # characters of a line of code
_MOST_FRAMES = 6

_UNSUPPORTED = re.compile(r"does not (?:yet )?support (?:the )?(.+)")
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")
_NOT_IMPORTED = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_NO_MEMBER = re.compile(r"module '([\w.]+)' has no attribute '(\w+)'")
_NO_METHOD = re.compile(r"(?:type object )?'(\w+)' (?:object )?has no attribute '(\w+)'")
_NO_INSTANCE = re.compile(r"cannot create '(\w+)' instances")
_NO_NAME = re.compile(r"name '(\w+)' is not defined")
_NO_GENERATOR = "'list' object is not an iterator"
_IN_CALLBACK = "cannot suspend in this synchronous context"


def describe(error: MontyRuntimeError | MontySyntaxError) -> str:
    """Return an error with the lines of code that led to it, the outermost first."""
    frames = error.traceback()
    lines = [_line(frame, frames[0].filename) for frame in frames]
    if len(lines) > _MOST_FRAMES:
        half = _MOST_FRAMES // 2
        lines = [*lines[:half], f"... {len(lines) - _MOST_FRAMES} more ...", *lines[-half:]]
    return "\n".join([*lines, _cut(error.display("type-msg"), _LONGEST_MESSAGE)])


def _line(frame: Frame, current: str) -> str:
    """Return a frame as one line: `line 3 of earlier code, in f: return x / 0`."""
    within = f", in {frame.function_name}" if frame.function_name not in (None, "<module>") else ""
    earlier = "" if frame.filename == current else " of earlier code"
    source = f": {_cut(frame.source_line.strip(), _LONGEST_LINE)}" if frame.source_line else ""
    return f"line {frame.line}{earlier}{within}{source}"


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[:characters]} ... ({len(text):,} characters)"


def missing(error: MontyRuntimeError | MontySyntaxError) -> str | None:
    """Return the feature of Python that the code asked for and this tier lacks; None where CPython would fail as well.

    The wording of the interpreter's error is the only sign. Code that raises such an error itself is believed: the
    second tier then shows it the same error.
    """
    raised, message = type(error.exception()), error.display("msg")[:_LONGEST_MESSAGE]
    if raised is NotImplementedError:
        return _unsupported(message)
    if raised is ModuleNotFoundError and (match := _NO_MODULE.match(message)):
        return f"module {match[1]}"
    if raised is ImportError and (match := _NOT_IMPORTED.match(message)):
        return f"{match[2]}.{match[1]}"
    if raised is NameError and (match := _NO_NAME.match(message)):
        return f"builtin {match[1]}" if match[1] in vars(builtins) else None
    if raised is TypeError:
        return _instance(message)
    return _member(message) if raised is AttributeError else None


def _instance(message: str) -> str | None:
    """Return the type that this tier cannot make, or cannot step through; None where the code is wrong."""
    if message == _NO_GENERATOR:
        return "generator expressions beside lists: `next(iter([...]))` does what next() on one would"
    match = _NO_INSTANCE.match(message)
    return f"builtin {match[1]}" if match and hasattr(builtins, match[1]) else None


def _unsupported(message: str) -> str | None:
    if _IN_CALLBACK in message:
        return "calls of cypher inside sorted, min, max, map and the like"
    if message.startswith("Wildcard imports"):
        return "`from ... import *`"
    match = _UNSUPPORTED.search(message)
    return match[1] if match else None


def _member(message: str) -> str | None:
    """Return the attribute that CPython's module or type has; None where the code is wrong."""
    if match := _NO_MEMBER.match(message):
        return f"{match[1]}.{match[2]}"
    match = _NO_METHOD.match(message)
    if match is None or match[2].startswith("__"):
        return None
    kind = getattr(builtins, match[1], None)
    return f"{match[1]}.{match[2]}" if isinstance(kind, type) and hasattr(kind, match[2]) else None
