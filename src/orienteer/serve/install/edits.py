"""What the editors of configuration files have in common: a text is changed, and what it then says is proved."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

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


# JSON with comments and trailing commas, edited as text: every character that is not ours stays where it is.


_BLANKS = " \t\r\n"
_STRING = r'"(?:[^"\\]++|\\.)*+(?:"|\Z)'
_COMMENTS = re.compile(rf"{_STRING}|//[^\r\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMAS = re.compile(rf"{_STRING}|,(?=[{_BLANKS}]*+[}}\]])", re.DOTALL)
_INDENTED_KEY = re.compile(r'[\r\n]([ \t]+)"')


class _Source(NamedTuple):
    """A text in three forms of one length, so that a place in one is a place in all."""

    text: str
    bare: str
    """With blanks for comments."""
    plain: str
    """With blanks for trailing commas, too: JSON."""
    comment_ends: frozenset[int]
    """Where comments end that only a line end ends."""


class _Member(NamedTuple):
    """A key of an object with its value: where the key begins, where the value begins and where it ends."""

    key: str
    begin: int
    value: int
    end: int


class _Object(NamedTuple):
    """An object: the places of its braces, and its members in their order."""

    brace: int
    close: int
    members: list[_Member]

    def find(self, key: str) -> _Member | None:
        """Return the member of a key. Raises `CannotEdit` where there are several."""
        found = [member for member in self.members if member.key == key]
        if len(found) > 1:
            raise CannotEdit(f"it has {key!r} twice, and programs differ about which of them counts")
        return found[0] if found else None


def parse(text: str) -> dict[str, Any]:  # Any: JSON
    """Return what a text says; nothing where it is blank but for comments. Raises `CannotEdit`."""
    return _content(_source(text))


def put(text: str, path: KeyPath, value: object) -> str:
    """Return a text with a value at a path of keys; objects on the way are made. Raises `CannotEdit`."""
    source = _source(text)
    if not source.plain.strip(_BLANKS):
        line_end = newline_of(text)
        gap = line_end if text and not text.endswith("\n") else ""
        return text + gap + _dumps(nested(path, value), indent=2).replace("\n", line_end) + line_end
    inside = _root(source)
    for depth, key in enumerate(path):
        member = inside.find(key)
        if member is None:
            return _insert(source, inside, key, nested(path[depth + 1 :], value))
        if depth + 1 < len(path):
            inside = _object(source, member)
            continue
        is_inline = not re.search(r"[\r\n]", text[member.value : member.end])
        written = _written(source, value, indent=_indent_at(text, member.begin), is_inline=is_inline)
        return text[: member.value] + written + text[member.end :]
    raise AssertionError("a path has a key")


def cut(text: str, path: KeyPath) -> str:
    """Return a text without the value at a path of keys, and without the comma that it needed. Raises `CannotEdit`."""
    source = _source(text)
    inside = _root(source)
    for key in path[:-1]:
        if (member := inside.find(key)) is None:
            return text
        inside = _object(source, member)
    if (member := inside.find(path[-1])) is None:
        return text
    return _cut_member(source, inside, member)


EDITOR = Editor(parse, put, cut)


def _source(text: str) -> _Source:
    comment_ends: set[int] = set()

    def blank(match: re.Match[str]) -> str:
        if match[0].startswith('"'):
            return match[0]
        if match[0].startswith("/*") and not (len(match[0]) > 3 and match[0].endswith("*/")):
            raise CannotEdit("a comment does not end")
        if match[0].startswith("//"):
            comment_ends.add(match.end())
        return " " * len(match[0])

    bare = _COMMENTS.sub(blank, text)
    plain = _LAST_COMMAS.sub(lambda match: match[0] if match[0] != "," else " ", bare)
    return _Source(text, bare, plain, frozenset(comment_ends))


def _content(source: _Source) -> dict[str, Any]:  # Any: JSON
    if not source.plain.strip(_BLANKS):
        return {}
    try:
        content = json.loads(source.plain, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise CannotEdit(f"line {error.lineno} is no JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; thousands of brackets
        raise CannotEdit(f"it is no JSON that can be read here: {error}") from error
    if not isinstance(content, dict):
        raise CannotEdit("it holds no object")
    return content


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _root(source: _Source) -> _Object:
    """Return the object that a text is. Raises `CannotEdit` for a text that is none."""
    _content(source)
    return _members(source.plain, source.plain.find("{"))


def _object(source: _Source, member: _Member) -> _Object:
    if source.plain[member.value] != "{":
        raise CannotEdit(f"{member.key!r} is no object")
    return _members(source.plain, member.value)


def _members(plain: str, brace: int) -> _Object:
    """Return the object that opens at a place of valid JSON."""
    decoder = json.JSONDecoder()
    members: list[_Member] = []
    at = _next(plain, brace + 1, _BLANKS)
    while plain[at] != "}":
        key, after = decoder.raw_decode(plain, at)
        value = _next(plain, after, _BLANKS + ":")
        _, end = decoder.raw_decode(plain, value)
        members.append(_Member(key, at, value, end))
        at = _next(plain, end, _BLANKS + ",")
    return _Object(brace, at, members)


def _next(plain: str, at: int, skipped: str) -> int:
    """Return the first place from `at` on whose character is not among those that are skipped."""
    while plain[at] in skipped:
        at += 1
    return at


def _insert(source: _Source, inside: _Object, key: str, value: object) -> str:
    """Return the text with a new member at the end of an object, set as its other members are."""
    text, line_end = source.text, newline_of(source.text)
    last = inside.members[-1] if inside.members else None
    if last is None:
        is_inline = not re.search(r"[\r\n]", text.strip(_BLANKS)) and bool(text.strip(_BLANKS + "{}"))
        indent = _indent_at(text, inside.brace) + _unit(text)
    else:
        is_inline = not re.search(r"[\r\n]", text[inside.brace : last.begin])
        indent = _indent_at(text, last.begin)
    colon = ":" if is_inline and _is_tight(source) else ": "
    written = _written(source, value, indent=indent, is_inline=is_inline)
    member = _dumps(key) + colon + written
    end = len(text[: inside.close].rstrip(_BLANKS))  # of what stands before the closing brace, a comment perhaps
    lead = line_end + indent
    if last is None:
        if is_inline:
            return text[:end] + member + text[end:]
        tail = "" if re.search(r"[\r\n]", text[end : inside.close]) else line_end + _indent_at(text, inside.brace)
        return text[:end] + lead + member + tail + text[end:]
    comma = _comma_after(source, last, inside)
    if is_inline:
        lead = "" if _is_tight(source) else " "
        end = last.end if comma is None else comma + 1
    if comma is not None:
        return text[:end] + lead + member + "," + text[end:]
    return text[: last.end] + "," + text[last.end : end] + lead + member + text[end:]


def _cut_member(source: _Source, inside: _Object, member: _Member) -> str:
    text, at = source.text, inside.members.index(member)
    inner = text[inside.brace + 1 : member.begin] + text[member.end : inside.close]
    if len(inside.members) == 1 and not inner.strip(_BLANKS):
        return text[: inside.brace + 1] + text[inside.close :]
    start, end = len(text[: member.begin].rstrip(_BLANKS)), member.end
    comma = _comma_after(source, member, inside)
    rest_of_line = re.match(r"[^\r\n]*", text[end if comma is None else comma + 1 :])
    if start in source.comment_ends and rest_of_line is not None and rest_of_line[0].strip():
        start = member.begin  # or the rest of the line would become part of a comment
    if comma is not None:
        return text[:start] + text[end:comma] + text[comma + 1 :]
    if at:
        comma = source.bare.rindex(",", inside.members[at - 1].end, member.begin)
        return text[:comma] + text[comma + 1 : start] + text[end:]
    return text[:start] + text[end:]


def _comma_after(source: _Source, member: _Member, inside: _Object) -> int | None:
    """Return the place of the comma that follows a member, if there is one."""
    after = _next(source.bare, member.end, _BLANKS)
    return after if after < inside.close and source.bare[after] == "," else None


def _written(source: _Source, value: object, *, indent: str, is_inline: bool) -> str:
    if is_inline:
        separators = (",", ":") if _is_tight(source) else (", ", ": ")
        return _dumps(value, separators=separators)
    lines = _dumps(value, indent=_unit(source.text))
    return lines.replace("\n", newline_of(source.text) + indent)


def _dumps(value: object, *, indent: str | int | None = None, separators: tuple[str, str] | None = None) -> str:
    """Return a value as JSON that can be encoded: escapes stand only for what is half of a character."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    is_whole = not re.search("[\ud800-\udfff]", text)
    return text if is_whole else json.dumps(value, indent=indent, separators=separators)


def _is_tight(source: _Source) -> bool:
    """Tell whether a text has no blank after its first colon, as programs write JSON for programs."""
    return re.search(r'":[ \t\r\n]', source.bare) is None and '":' in source.bare


def _unit(text: str) -> str:
    """Return by what a text indents: the blanks before its first key that has any, else two."""
    match = _INDENTED_KEY.search(text)
    return match[1] if match else "  "


def _indent_at(text: str, place: int) -> str:
    """Return the blanks that the line of a place begins with."""
    begin = max(text.rfind("\n", 0, place), text.rfind("\r", 0, place)) + 1
    return text[begin : begin + len(text[begin:place]) - len(text[begin:place].lstrip(" \t"))]
