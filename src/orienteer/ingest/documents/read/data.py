"""Texts of keys and values as blocks: YAML, JSON, TOML, INI, properties. A line is shown after the path of its keys.

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
from orienteer.ingest.documents.read.lines import indent_of
from orienteer.ingest.documents.read.markdown import TextLine, span_of, text_lines

LONGEST = 2_000
"""Maximum characters of a line of JSON; a file with longer lines is reformatted first."""
MOST_DEEP, LONGEST_LABEL = 24, 100
"""Maximum keys in a path before a line, and characters of each."""
FREE, MOST_TIMES = 1 << 10, 5
"""Characters allowed for the paths of any file, plus this many times the length of its text."""
_WORD = r"[^\s#=:\"']"
_KEY = re.compile(
    rf"(?P<key>\"(?:[^\"\\]|\\.)*+\"|'[^']*+'|(?![;\[\]{{}},&*!|>%@`]){_WORD}++(?:[ \t]++{_WORD}++)*+)"
    r"[ \t]*+(?P<sign>:(?=\s|$)|:?=)[ \t]*+(?P<value>.*)"
)
_SECTION = re.compile(r"\[\[?[ \t]*(?P<name>[^\s\[\]{}][^\[\]{},]*)\]\]?\s*(?:[#;].*)?$")
_DASH = re.compile(r"(?:-[ \t]+)+|-$")
_REMARK = re.compile(r"[#;]|//")
_OPENS = re.compile(r"[\[{(]?$|[|>][+-]?\d?[+-]?\s*(?:#.*)?$")
"""A value that continues on the lines below."""
_NAMES = {"id": 1, "key": 1, "name": 2, "title": 2, "label": 2}
"""Keys whose values name a list item. Higher numbers are better."""
_ESCAPES = re.compile(r'(?:\\u[0-9a-fA-F]{4})++|\\["\\/bfnrt]')
"""Of JSON: `M\\u00fcller\\nKai` is two words."""


class _Open(NamedTuple):
    """A section, a key or a list item that contains the lines below."""

    indent: int
    label: str
    number: int = 0
    """The position of a list item, from 1."""
    rank: int = 0
    """How well a list item is named; 0 if only by its number."""


def read_data(text: str, suffix: str) -> Page:
    """Return the lines of a text of keys and values, each after the path of its keys."""
    notes: list[str] = []
    is_json = is_laid_out = False
    if suffix in (".json", ".geojson", ".webmanifest", ""):
        try:
            value, is_json = json.loads(text), True
            if max(map(len, text.split("\n"))) > LONGEST:
                text, is_laid_out = json.dumps(value, indent=1, ensure_ascii=False), True
        except (ValueError, RecursionError) as error:
            notes.append(f"no whole JSON ({str(error)[:80]}): its lines were read")
    reader = _Reader(len(text), is_json=is_json, is_laid_out=is_laid_out)
    lines = [line for line in text_lines(text) if line.text.strip()]
    for line, below in zip(lines, [*lines[1:], TextLine("", 0)], strict=True):
        reader.read(line, below.text)
    if reader.is_spent:
        notes.append("its keys are long and deep: from some line on they do not stand before each line")
    return Page(blocks=reader.blocks, notes=notes)


class _Reader:
    def __init__(self, length: int, *, is_json: bool, is_laid_out: bool) -> None:
        self.blocks: list[Block] = Blocks()
        self._left = FREE + MOST_TIMES * length
        """Characters still allowed for paths."""
        self._is_json, self._is_laid_out = is_json, is_laid_out
        """The text was reformatted, so its lines are not those of the file."""
        self._open: list[_Open] = []
        self._tables = Counter[str]()
        """The number of items of each `[[list]]`."""
        self._is_in_list = False
        """The outermost level is a list."""

    @property
    def is_spent(self) -> bool:
        """Whether paths were omitted because of their length."""
        return self._left < 0

    def read(self, line: TextLine, below: str) -> None:
        """Read a line, given the one below it."""
        indent, text = indent_of(line.text), line.text.strip()
        section = _SECTION.match(text) if indent == 0 else None
        if section is not None:
            names = [part.strip("\"' ") for part in section["name"].split(".")]
            self._open = [_Open(-1, name) for name in names[:MOST_DEEP]]
            if text.startswith("[["):  # a thing of a list, which what stands beneath may name
                self._tables[section["name"]] += 1
                number = self._tables[section["name"]]
                self._enter(_Open(-1, str(number), number))
        elif _REMARK.match(text):
            self._say(line, self._path(indent), "", text)
        elif text.strip("}]), "):  # else what was opened ends, as the next line shows
            self._line(line, indent, text, indent_of(below) - indent, below)

    def _line(self, line: TextLine, indent: int, text: str, further: int, below: str) -> None:
        dash = _DASH.match(text)
        is_thing = dash is not None or (text == "{" and (indent > 0 or self._is_in_list))
        before = self._leave(indent, is_thing=is_thing)
        self._is_in_list |= text == "[" and all(one.indent < 0 for one in self._open)
        if is_thing:
            self._enter(_Open(indent, str(before + 1), before + 1))
        if dash is not None:
            indent, text = indent + len(dash[0]), text[len(dash[0]) :]
        if text in ("---", "...") or not text.strip("{}[](), "):
            return
        key, path = _KEY.match(text), self._path(indent + 1)
        if key is None:  # a thing of a list, or the next line of a value
            self._say(line, path[:-1] if dash is not None else path, ": ", _unquoted(text.rstrip(",")))
            return
        name, value = key["key"].strip("\"'"), key["value"].rstrip(",").strip()
        is_above = further > 0 or (further == 0 and not value and below.lstrip().startswith("- "))
        if not (is_above and _OPENS.match(value)):
            shown = _unquoted(value)
            self._say(line, path, SEPARATOR, f"{name}{': ' if key['sign'] == ':' else ' = '}{shown}")
            rank = _NAMES.get(name.casefold(), 0)
            if shown and self._open and self._open[-1].number and self._open[-1].rank < rank:
                self._open[-1] = self._open[-1]._replace(label=shown[:LONGEST_LABEL], rank=rank)
        self._enter(_Open(indent, name[:LONGEST_LABEL]))

    def _enter(self, one: _Open) -> None:
        if len(self._open) < MOST_DEEP:
            self._open.append(one)

    def _leave(self, indent: int, *, is_thing: bool) -> int:
        """Close what does not contain a line with this indentation. A list item belongs to the key at its left.

        Returns the number of the previous item of its list, or 0.
        """
        before = 0
        while self._open and (
            self._open[-1].indent > indent
            or (self._open[-1].indent == indent and (self._open[-1].number > 0 or not is_thing))
        ):
            left = self._open.pop()
            before = left.number if left.indent == indent else 0
        return before

    def _path(self, indent: int) -> tuple[str, ...]:
        return tuple(one.label for one in self._open if one.indent < indent)

    def _say(self, line: TextLine, path: Sequence[str], joint: str, text: str) -> None:
        """Add a block: the text after its path, unless `joint` is empty or paths have become too long."""
        before = f"{SEPARATOR.join(path)}{joint}" if path and joint else ""
        self._left -= len(before)
        place = Place(tuple(path[:1]), span=None if self._is_laid_out else span_of([line]))
        said = text if self.is_spent else before + text
        self.blocks.append(Prose(_ESCAPES.sub(_unescaped, said) if self._is_json else said, place, is_code=True))


def _unescaped(escapes: re.Match[str]) -> str:
    """Return the letters that stand escaped in JSON; a space for each that is no letter, as the end of a line."""
    return "".join(letter if letter.isprintable() else " " for letter in json.loads(f'"{escapes[0]}"'))


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value
