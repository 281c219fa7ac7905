"""Actions of Graph-CoT as a model writes them, `Function[argument, argument]`: read, never evaluated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

ARGUMENTS: Mapping[str, int] = MappingProxyType(
    {"RetrieveNode": 1, "NodeFeature": 2, "NeighbourCheck": 2, "NodeDegree": 2, "Finish": 1}
)
"""How many arguments each function takes."""
_CALL = re.compile(r"(?<!\w)[^\WA-Za-z_]*+([A-Za-z_]\w*+)[ \t]*\[")
_ACTION = re.compile(r"\baction\b[ \t]*\d*[ \t]*[:.]", re.IGNORECASE)
_SPELLED = {"neighborcheck": "NeighbourCheck", **{name.casefold(): name for name in ARGUMENTS}}
_CALLS = 4  # calls that one action may hold


class ActionCall(NamedTuple):
    """A function as the model wrote it."""

    name: str
    arguments: tuple[str, ...]


def parse(text: str) -> tuple[ActionCall, ...]:
    """Return the calls of an action, in order: `Function[argument, argument]`, at most four.

    The first `Action:` that holds any call counts, for a model that writes on has made up its observations; without
    that mark, every call of a known function counts. An argument in quotes ends with its quote, any other at a comma
    outside of brackets. A function of one argument takes commas as they are; two arguments are parted by the last
    comma. An open bracket goes to the end of its line.
    """
    marks = [mark.span() for mark in _ACTION.finditer(text)]
    ends = [*(begin for begin, _ in marks[1:]), len(text)]
    actions = (_calls(text, at, end, is_marked=True) for (_, at), end in zip(marks, ends, strict=True))
    return next(filter(None, actions), ()) if marks else _calls(text, 0, len(text), is_marked=False)


def _calls(text: str, at: int, until: int, *, is_marked: bool) -> tuple[ActionCall, ...]:
    """Return the calls that begin in a part of a text; without the mark of an action, those of known functions."""
    calls: list[ActionCall] = []
    while (match := _CALL.search(text, at)) is not None and match.start() < until and len(calls) < _CALLS:
        name = _SPELLED.get(match[1].casefold(), match[1])
        at = match.end()
        if name in ARGUMENTS or is_marked:
            end = _closing(text, at)
            calls.append(ActionCall(name, _arguments(text[at:end], ARGUMENTS.get(name, 2))))
            at = end
    return tuple(calls)


def _closing(text: str, at: int) -> int:
    """Return where the bracket that was opened before `at` closes: quoted arguments may hold brackets."""
    depth, is_start = 1, True
    while at < len(text) and text[at] != "\n":
        mark = text[at]
        if is_start and mark in "\"'" and (end := _quoted_end(text, at)) is not None:
            at, is_start = end, False
            continue
        depth += (mark == "[") - (mark == "]")
        if not depth:
            return at
        is_start = mark == "," or (is_start and mark == " ")
        at += 1
    return at


def _quoted_end(text: str, at: int) -> int | None:
    """Return where a quoted argument ends; None where what opens at `at` is an apostrophe in a name."""
    mark, end = text[at], text.find(text[at], at + 1)
    line = text.find("\n", at) if "\n" in text[at:] else len(text)
    while -1 < end < line:
        if text[end + 1 : line].lstrip(" ")[:1] in ("", ",", "]"):
            return end + 1
        end = text.find(mark, end + 1)
    return None


def _arguments(inner: str, count: int) -> tuple[str, ...]:
    """Return the arguments; where there are too many parts, the first ones belong together."""
    parts = split(inner, strip=False)
    extra = len(parts) - count
    if extra > 0:
        parts = [",".join(parts[: extra + 1]), *parts[extra + 1 :]]
    return tuple(_unquoted(part) for part in parts)


def split(text: str, *, strip: bool = True) -> list[str]:
    """Return the parts of a text between commas that stand outside of brackets and of quoted parts."""
    parts, begin, at, depth, is_start = [], 0, 0, 0, True
    while at < len(text):
        mark = text[at]
        if is_start and mark in "\"'" and (end := _quoted_end(text, at)) is not None:
            at, is_start = end, False
            continue
        depth = max(0, depth + (mark == "[") - (mark == "]"))
        is_start = (mark == "," and not depth) or (is_start and mark == " ")
        if mark == "," and not depth:
            parts.append(text[begin:at])
            begin = at + 1
        at += 1
    parts.append(text[begin:])
    return [_unquoted(part) for part in parts if part.strip()] if strip else parts


def _unquoted(part: str) -> str:
    part = part.strip()
    return part[1:-1].strip() if len(part) > 1 and part[0] == part[-1] and part[0] in "\"'" else part


def names_function(text: str) -> bool:
    """Return whether one of the functions is called within a text."""
    return any(match[1].casefold() in _SPELLED for match in _CALL.finditer(text))
