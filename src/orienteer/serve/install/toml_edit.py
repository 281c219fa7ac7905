"""TOML, edited as text: a table is put at the end, and what is ours is found by its keys, never by marks."""

from __future__ import annotations

import json
import re
import tomllib
from itertools import groupby
from typing import Any, NamedTuple

from orienteer.serve.install.edits import CannotEdit, Editor, KeyPath, append_block, cut_block, newline_of

_KEY_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*')"""
_KEY = rf"{_KEY_PART}(?:[ \t]*\.[ \t]*{_KEY_PART})*"
_HEADER = re.compile(rf"\[\[?[ \t]*({_KEY})[ \t]*\]\]?[^\n]*")
_ASSIGNMENT = re.compile(rf"({_KEY})[ \t]*=[ \t]*")
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*+"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*+|[\[\]{}\n]|[^\"'\#\[\]{}\n]+",
    re.DOTALL,
)
_BETWEEN = re.compile(r"(?:[ \t\r\n]++|\#[^\n]*+)*+")


class _Item(NamedTuple):
    """A header, or a key with its value: its whole path of keys, where it begins, and where its last line ends.

    `value` is where the value begins and ends; of a header it is None.
    """

    path: KeyPath
    begin: int
    end: int
    value: tuple[int, int] | None


def parse(text: str) -> dict[str, Any]:  # Any: TOML
    """Return what a text says. Raises `CannotEdit`."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CannotEdit(f"it is no TOML: {error}") from error


def put(text: str, path: KeyPath, value: object) -> str:
    """Return a text with a value at a path of keys: a table at the end of the text, anything else within its table.

    Raises `CannotEdit`.
    """
    parse(text)
    if isinstance(value, dict):
        lines = [
            f"[{'.'.join(map(_key, path))}]",
            *(f"{_key(key)} = {_written(inner)}" for key, inner in value.items()),
        ]
        return append_block(text, "\n".join(lines))
    items = _items(text)
    for item in items:
        if item.path == path and item.value is not None:
            begin, end = item.value
            return text[:begin] + _written(value) + text[end:]
    at = next((place for place, item in enumerate(items) if item.path == path[:-1] and item.value is None), None)
    if at is None:
        raise CannotEdit(f"{'.'.join(path[:-1])} is no table with a header of its own")
    while at + 1 < len(items) and items[at + 1].value is not None:
        at += 1
    end = items[at].end
    return f"{text[:end]}{newline_of(text)}{_key(path[-1])} = {_written(value)}{text[end:]}"


def cut(text: str, path: KeyPath) -> str:
    """Return a text without the table at a path of keys and its sub-tables, however they are written."""
    parse(text)
    runs = [list(run) for is_ours, run in groupby(_items(text), lambda item: item.path[: len(path)] == path) if is_ours]
    for run in reversed(runs):  # comments between two of our lines go with them
        text = cut_block(text, run[0].begin, run[-1].end)
    return text


EDITOR = Editor(parse, put, cut)


def _items(text: str) -> list[_Item]:
    """Return the headers and assignments of a valid text, in their order."""
    items: list[_Item] = []
    table: KeyPath = ()
    at = _after_blanks(text, 0)
    while at < len(text):
        begin = max(text.rfind("\n", 0, at) + 1, items[-1].end if items else 0)
        if (header := _HEADER.match(text, at)) is not None:
            table = _keys(header[1])
            items.append(_Item(table, begin, _line_end(text, header.end()), None))
        elif (assignment := _ASSIGNMENT.match(text, at)) is not None:
            value_end, end = _value_end(text, assignment.end())
            path = (*table, *_keys(assignment[1]))
            items.append(_Item(path, begin, _line_end(text, end), (assignment.end(), value_end)))
        else:
            raise CannotEdit("it is written in a way that is not edited here")
        at = _after_blanks(text, items[-1].end)
    return items


def _after_blanks(text: str, at: int) -> int:
    """Return the place after blanks, line ends and comments."""
    match = _BETWEEN.match(text, at)
    return match.end() if match else at


def _value_end(text: str, at: int) -> tuple[int, int]:
    """Return where a value ends that begins at a place, and where its last line does."""
    depth, end = 0, at
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise CannotEdit("it is written in a way that is not edited here")
        if token[0] == "\n" and not depth:
            break
        at = token.end()
        depth += (token[0] in "[{") - (token[0] in "]}")
        if not token[0].startswith("#"):
            end = at - (len(token[0]) - len(token[0].rstrip()))
    return end, at


def _line_end(text: str, at: int) -> int:
    """Return the place before the carriage return, if one stands before the end of a line."""
    return at - 1 if text[at - 1 : at] == "\r" else at


def _keys(text: str) -> KeyPath:
    """Return a dotted key as its parts, quotes and escapes read."""
    content: Any = tomllib.loads(f"{text} = 0")  # Any: TOML
    path: list[str] = []
    while isinstance(content, dict):
        [(key, content)] = content.items()
        path.append(key)
    return tuple(path)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _written(key)


def _written(value: object) -> str:
    """Return a text, number, truth value or list of these as TOML: like JSON, which may hold a delete character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
