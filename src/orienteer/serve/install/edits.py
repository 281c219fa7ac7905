"""What the editors of configuration files have in common: a text is changed, and what it then says is proved."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from orienteer.errors import Error

KeyPath = tuple[str, ...]
"""The keys that lead from the whole file to a value."""


class CannotEdit(Error):
    """A file is not understood, or not to be touched: it stays as it is. The message says why, without a full stop."""


class NotOurs(CannotEdit):
    """Somebody else has what bears our name, or has changed what we wrote."""


class Editor(NamedTuple):
    """The editor of a format: three functions over a file's text, which raise `CannotEdit`."""

    parse: Callable[[str], dict[str, Any]]  # Any: what a configuration file holds
    """What the text says; nothing for a text without content."""
    put: Callable[[str, KeyPath, Any], str]
    """The text with a value at a path of keys, whatever stood there before."""
    cut: Callable[[str, KeyPath], str]
    """The text without the value at a path of keys."""


def put_value(editor: Editor, text: str, path: KeyPath, value: object) -> str:
    """Return a text with a value at a path. Raises `CannotEdit`, also where the new text would not say just that."""
    with _shallow():
        return _proved(editor, editor.put(text, path, value), _with_value(editor.parse(text), path, value))


def cut_value(editor: Editor, text: str, path: KeyPath) -> str:
    """Return a text without the value at a path. Raises `CannotEdit` as `put_value` does."""
    with _shallow():
        return _proved(editor, editor.cut(text, path), _without_value(editor.parse(text), path))


@contextmanager
def _shallow() -> Iterator[None]:
    """Raise `CannotEdit` for a text that is nested so deep that it can just be read, and no more."""
    try:
        yield
    except RecursionError as error:
        raise CannotEdit("it is nested too deep") from error


def newline_of(text: str) -> str:
    """Return what ends the first line of a text, a line feed where it has one line."""
    match = re.search(r"\r?\n", text)
    return match[0] if match else "\n"


def append_block(text: str, block: str) -> str:
    """Append lines after an empty one, so that `cut_block` gives the same text back.

    The new text ends with a line end where the old one did. `block` has line feeds between its lines and none at its
    end.
    """
    newline = newline_of(text)
    block = block.replace("\n", newline)
    if not text:
        return block + newline
    return f"{text}{newline}{block}{newline}" if text.endswith("\n") else f"{text}{newline}{newline}{block}"


def cut_block(text: str, begin: int, end: int) -> str:
    """Return a text without the lines from `begin` to `end`, and without the empty line that `append_block` made.

    `begin` is the first character of a line, `end` the end of one, before what ends it.
    """
    before, after = text[:begin], text[end:]
    if not after:
        return _without_newline(_without_newline(before))
    after = re.sub(r"\A\r?\n", "", after)
    shorter = _without_newline(before)
    return (shorter if shorter.endswith("\n") else before) + after


def nested(path: Sequence[str], value: object) -> object:
    """Return a value within dictionaries, one for each key of a path."""
    for key in reversed(path):
        value = {key: value}
    return value


def _without_newline(text: str) -> str:
    return re.sub(r"\r?\n\Z", "", text)


def _proved(editor: Editor, text: str, wanted: Mapping[str, Any]) -> str:  # Any: as above
    """Return a text that says what is wanted, empty tables aside. Raises `CannotEdit` for any other."""
    if _filled(editor.parse(text)) != _filled(wanted):
        raise CannotEdit("it is written in a way that is not edited here")
    return text


def _filled(content: Mapping[str, Any]) -> dict[str, Any]:  # Any: as above
    return {key: value for key, value in content.items() if value != {}}


def _with_value(content: Mapping[str, Any], path: KeyPath, value: object) -> dict[str, Any]:  # Any: as above
    key, rest = path[0], path[1:]
    if not rest:
        return {**content, key: value}
    inner = content.get(key, {})
    if not isinstance(inner, dict):
        raise CannotEdit(f"{key} is no table of names")
    return {**content, key: _with_value(inner, rest, value)}


def _without_value(content: Mapping[str, Any], path: KeyPath) -> dict[str, Any]:  # Any: as above
    key, rest = path[0], path[1:]
    if not rest:
        return {other: value for other, value in content.items() if other != key}
    inner = content.get(key)
    return {**content, key: _without_value(inner, rest)} if isinstance(inner, dict) else dict(content)
