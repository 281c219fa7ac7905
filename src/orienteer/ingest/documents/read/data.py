"""Texts of keys and values as blocks: YAML, JSON, TOML, INI, properties. A line is shown beneath the path of its keys.

What stands within what is told by indentation, `[section]` and brackets, whatever the language: comments are kept, and
a broken file is read as far as its lines go.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from orienteer.graph.reserved import SEPARATOR
from orienteer.ingest.documents.read.blocks import Block, Blocks, Page, Place, Prose
from orienteer.ingest.documents.read.markdown import TextLine, span_of, text_lines

LONGEST = 2_000
"""Characters of a line of JSON; a longer one is a file that a program wrote, and is laid out first."""
MOST_DEEP, LONGEST_LABEL = 24, 100
"""Keys within keys, and characters of each, that stand before a line."""
FREE, MOST_TIMES = 1 << 10, 5
"""Characters that the paths of any file may come to, and how many times its text those of a long one."""
_WORD = r"[^\s#=:\"']"
_KEY = re.compile(
    rf"(?P<key>\"(?:[^\"\\]|\\.)*+\"|'[^']*+'|(?![;\[\]{{}},&*!|>%@`]){_WORD}++(?:[ \t]++{_WORD}++)*+)"
    r"[ \t]*+(?P<sign>:(?=\s|$)|:?=)[ \t]*+(?P<value>.*)"
)
_SECTION = re.compile(r"\[\[?[ \t]*(?P<name>[^\s\[\]{}][^\[\]{},]*)\]\]?\s*(?:[#;].*)?$")
_DASH = re.compile(r"(?:-[ \t]+)+|-$")
_REMARK = re.compile(r"[#;]|//")
_OPENS = re.compile(r"[\[{(]?$|[|>][+-]?\d?[+-]?\s*(?:#.*)?$")
"""A value that stands on the lines below."""
_NAMES = {"id": 1, "key": 1, "name": 2, "title": 2, "label": 2}
"""Keys whose values name the thing of a list, the better ones with a higher number."""


class _Open(NamedTuple):
    """A key, or a thing of a list, that lines below stand within."""

    indent: int
    label: str
    named: int = -1
    """How well a thing of a list is named, 0 by its number; -1 for a key."""


def read_data(text: str, suffix: str) -> Page:
    """Return the lines of a text of keys and values, each with the keys that it stands within before it."""
    notes: list[str] = []
    is_laid_out = False
    if suffix in (".json", ".geojson", ".webmanifest", ""):
        try:
            value = json.loads(text)
            if max(map(len, text.split("\n"))) > LONGEST:
                text, is_laid_out = json.dumps(value, indent=1, ensure_ascii=False), True
        except (ValueError, RecursionError) as error:
            notes.append(f"no whole JSON ({str(error)[:80]}): its lines were read")
    reader = _Reader(len(text), is_laid_out=is_laid_out)
    lines = [line for line in text_lines(text) if line.text.strip()]
    for line, below in zip(lines, [*lines[1:], TextLine("", 0)], strict=True):
        reader.read(line, below.text)
    if reader.is_spent:
        notes.append("its keys are long and deep: from some line on they do not stand before each line")
    return Page(blocks=reader.blocks, notes=notes)


class _Reader:
    def __init__(self, length: int, *, is_laid_out: bool) -> None:
        self.blocks: list[Block] = Blocks()
        self._left = FREE + MOST_TIMES * length
        """Characters that paths may come to."""
        self._is_laid_out = is_laid_out
        """The lines are no lines of the file."""
        self._section: tuple[str, ...] = ()
        self._open: list[_Open] = []
        self._counts: dict[int, int] = {}
        """Things of the list that stands at an indentation."""
        self._tables = Counter[str]()
        """Of each `[[list]]` the things."""
        self._is_in_list = False
        """What stands outermost are the things of a list."""

    @property
    def is_spent(self) -> bool:
        """Whether paths were left out for their length."""
        return self._left < 0

    def read(self, line: TextLine, below: str) -> None:
        """Take a line and the one below it."""
        indent, text = _indent(line.text), line.text.strip()
        section = _SECTION.match(text) if indent == 0 else None
        if section is not None:
            self._leave(-1)
            self._section = tuple(part.strip("\"' ") for part in section["name"].split("."))[:MOST_DEEP]
            if text.startswith("[["):  # a thing of a list, which what stands beneath may name
                self._tables[section["name"]] += 1
                self._enter(-1, str(self._tables[section["name"]]), named=0)
        elif not text.strip("}]), "):  # what was opened ends, as the next line shows
            return
        elif _REMARK.match(text):
            self._say(line, text, self._path(indent), text)
        else:
            self._line(line, indent, text, below)

    def _line(self, line: TextLine, indent: int, text: str, below: str) -> None:
        dash = _DASH.match(text)
        is_thing = dash is not None or (text == "{" and (indent > 0 or self._is_in_list))
        self._leave(indent, is_thing=is_thing)
        self._is_in_list |= text == "[" and not self._open
        if is_thing:
            self._counts[indent] = self._counts.get(indent, 0) + 1
            self._enter(indent, str(self._counts[indent]), named=0)
        if dash is not None:
            indent, text = indent + len(dash[0]), text[len(dash[0]) :]
        if text in ("---", "...") or not text.strip("{}[](), "):
            return
        key = _KEY.match(text)
        path = self._path(indent + 1)
        if key is None:
            self._value(line, text, path[:-1] if dash is not None else path)
            return
        name, value = key["key"].strip("\"'"), key["value"].rstrip(",").strip()
        further = _indent(below) - _indent(line.text)
        is_above = further > 0 or (further == 0 and not value and below.lstrip().startswith("- "))
        if not (is_above and _OPENS.match(value)):
            shown = _unquoted(value)
            said = f"{name}{': ' if key['sign'] == ':' else ' = '}{shown}"
            self._say(line, SEPARATOR.join((*path, said)), path, said)
            self._name(name, shown)
        self._enter(indent, name)

    def _value(self, line: TextLine, text: str, path: Sequence[str]) -> None:
        """Take a line without a key: a thing of a list, or the next line of a value."""
        said = _unquoted(text.rstrip(","))
        self._say(line, f"{SEPARATOR.join(path)}: {said}" if path else said, path, said)

    def _enter(self, indent: int, label: str, *, named: int = -1) -> None:
        if len(self._open) < MOST_DEEP:
            self._open.append(_Open(indent, label[:LONGEST_LABEL], named))

    def _name(self, name: str, value: str) -> None:
        """Call the thing of a list that a line stands in by the name that it gives, if that is a better one."""
        rank = _NAMES.get(name.casefold(), 0)
        if value and self._open and 0 <= self._open[-1].named < rank:
            self._open[-1] = _Open(self._open[-1].indent, value[:LONGEST_LABEL], rank)

    def _leave(self, indent: int, *, is_thing: bool = False) -> None:
        """Leave what a line with this indentation does not stand within; a thing stands within the key at its left."""
        while self._open and (
            self._open[-1].indent > indent
            or (self._open[-1].indent == indent and (self._open[-1].named >= 0 or not is_thing))
        ):
            self._open.pop()
        for deeper in [at for at in self._counts if at > indent or (at == indent and not is_thing)]:
            del self._counts[deeper]

    def _path(self, indent: int) -> tuple[str, ...]:
        return (*self._section, *(one.label for one in self._open if one.indent < indent))

    def _say(self, line: TextLine, text: str, path: Sequence[str], bare: str) -> None:
        """Add a block: the text, or without its path if paths have come to too much."""
        self._left -= len(text) - len(bare)
        place = Place(tuple(path[:1]), span=None if self._is_laid_out else span_of([line]))
        self.blocks.append(Prose(bare if self.is_spent else text, place, is_code=True))


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value


def _indent(text: str) -> int:
    wide = text.expandtabs(4)
    return len(wide) - len(wide.lstrip(" "))
