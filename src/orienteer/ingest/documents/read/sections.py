"""Headings and contents of a text without marks.

A heading is a line between blank lines that is numbered, underlined or in capitals. Several of one form, one after the
other, are a list; what nothing stands beneath stays a paragraph, so that nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from orienteer.ingest.documents.cut.contents import LEAST_LINES, is_contents
from orienteer.ingest.documents.read.blocks import Block, Blocks, Page, Place, Prose, Span, moved
from orienteer.ingest.documents.read.markdown import read_plain
from orienteer.ingest.documents.read.titles import of_text, titled

LONGEST, LONGEST_CAPITALS = 90, 60
"""Characters of a heading, and of one in capitals."""
_NUMBERED = re.compile(
    r"(?:(?P<word>(?i:part|book|chapter|section|article|appendix|annex|kapitel|teil|abschnitt|artikel|anhang|chapitre"
    r"|partie|cap[ií]tulo|secci[oó]n|anexo)|§)\s*(?:[IVXLC]{1,7}|[A-Z]|\d{1,3}(?:\.\d{1,3})*)(?![\w.])"
    r"|(?P<number>\d{1,3}(?:\.\d{1,3})*)[.)]?(?=\s)|(?P<roman>[IVXLC]{1,7})\.(?=\s))(?P<words>.*)"
)
"""`2.3 Mooring fees`, `CHAPTER IV`, `IV. Fees`."""
_NO_WORDS = re.compile(r"[,;!?]$|[.!?] +[A-Z]|[={}<>|\\]|https?:")
"""What a heading does not have."""
_NO_CAPITALS = re.compile(r"[.:]$|\d{3}|_|\S-\S*\d")
_MOST_WORDS, _LEAST_CAPITALS = 12, 4
_RULE = re.compile(r"(?P<mark>[=\-~^\"'`#*+.:_])(?P=mark){2,}$")


class _Heading(NamedTuple):
    """A line that may be a heading."""

    form: tuple[str, int]
    """Its mark or its word, and how deep its number is: ("number", 2) of `2.3`."""
    words: str
    number: tuple[int, ...] = ()
    lines: int = 1
    """Lines that it takes, with those that underline it."""


def sectioned(text: str) -> Page:
    """Return a plain text as a page: paragraphs under their headings, the table of contents as navigation."""
    page, sections = of_text(Page(blocks=read_plain(text))), _Sections(text)
    found = [_heading(block.text) if isinstance(block, Prose) else None for block in page.blocks]
    lists = _lists(found)
    for at, (block, heading) in enumerate(zip(page.blocks, found, strict=True)):
        if heading is None or at in lists or not isinstance(block, Prose):
            is_one = isinstance(block, Prose) and is_contents(block.text, ())
            sections.take(block, is_navigation=lists.get(at, 0) >= LEAST_LINES or is_one)
        else:
            sections.enter(heading, block)
    sections.leave(0)
    whole = Page(page.title, sections.blocks)
    first = next((heading.form[0] for heading in found if heading is not None), "a")
    return titled(whole) if whole.title or not first[-1].isalpha() else whole


def _lists(found: Sequence[_Heading | None]) -> dict[int, int]:
    """Return the indexes of list items that look like headings, each with the length of its list.

    Those are neighbours of one form whose numbers rise, and all but the last of many neighbours until one falls.
    """
    lists: dict[int, int] = {}
    for is_none, places in groupby(range(len(found)), key=lambda at: found[at] is None):
        run = [] if is_none else [(at, heading) for at in places if (heading := found[at]) is not None]
        falls = [at for at in range(1, len(run)) if () < run[at][1].number <= run[at - 1][1].number]
        first = falls[-1] if falls else len(run) - 1
        if first >= LEAST_LINES:
            lists.update((at, first) for at, _ in run[:first])
            run = run[first:]
        for _, alike in groupby(enumerate(run), key=lambda one: (one[1][1].form, sum(at <= one[0] for at in falls))):
            several = [at for _, (at, _) in alike]
            lists.update((at, len(several)) for at in several if len(several) > 1)
    return lists


class _Sections:
    def __init__(self, text: str) -> None:
        self.blocks: list[Block] = Blocks()
        self._text = text
        self._path: list[tuple[_Heading, Prose | None]] = []
        """The headings above, each with its block until it has content."""
        self._levels: dict[tuple[str, int], float] = {}
        """The level of each form. A new form is one level below the heading before it."""

    def take(self, block: Block, *, is_navigation: bool = False, level: int | None = None) -> None:
        """Add a block under all headings, or only the first `level` of them."""
        headings = tuple(heading.words for heading, _ in self._path[:level])
        if any(bare is not None for _, bare in self._path):
            self._path = [(heading, None) for heading, _ in self._path]
        place = block.place
        if headings or is_navigation:
            block = moved(block, Place(headings, place.page, place.span, place.anchors, place.line, is_navigation))
        self.blocks.append(block)

    def enter(self, heading: _Heading, block: Prose) -> None:
        """Begin a section. The heading is the first lines of a block; the rest becomes a paragraph."""
        level = self._level(heading.form)
        levels = [self._level(each.form) for each, _ in self._path]
        self.leave(next((at for at, each in enumerate(levels) if each >= level), len(levels)))
        self._path.append((heading, block))
        lines = block.text.split("\n", heading.lines)[heading.lines :]
        if lines:
            span = block.place.span
            if span is not None:
                rest = self._text[span.start : span.end].split("\n", heading.lines)[-1]
                span = Span(span.end - len(rest), span.end)
            self.take(Prose(lines[0], replace(block.place, span=span)))

    def leave(self, level: int) -> None:
        """End the sections from a level on. Headings without content become paragraphs."""
        bare = [block for _, block in self._path[level:] if block is not None]
        first = len(self._path) - len(bare)
        for block in bare:
            self.take(block, level=first)
        del self._path[level:]

    def _level(self, form: tuple[str, int]) -> float:
        if form not in self._levels:
            alike = next((each for each in self._levels if each[0] == form[0]), None)
            above = max((self._levels[heading.form] for heading, _ in self._path), default=0.0)
            known = above + 1 if alike is None else self._levels[alike] + (form[1] - alike[1]) / 100
            self._levels[form] = known
        return self._levels[form]


def _heading(text: str) -> _Heading | None:
    """Return the heading that a paragraph is or begins with, or None."""
    lines = text.split("\n", 3)
    rules = [_RULE.match(line) for line in lines[:3]]
    if len(lines) > 2 and rules[0] and rules[2] and not rules[1] and lines[0][0] == lines[2][0]:
        return _underlined(lines[1], lines[2], "over", 3)
    if len(lines) > 1 and rules[1] and not rules[0] and len(lines[1]) >= len(lines[0]) / 2:
        return _underlined(lines[0], lines[1], "", 2)
    line = lines[0]
    if len(lines) > 1 or len(line) > LONGEST:
        return None
    numbered = _NUMBERED.match(line)
    if _NO_WORDS.search(line if numbered is None else numbered["words"]):
        return None
    if numbered is not None:
        form = (numbered["word"] or ("roman" if numbered["roman"] else "number")).casefold()
        words = numbered["words"].strip(" .:-–—")
        is_title = bool(words) and (words[0].isupper() or "." in (numbered["number"] or "") or not words[0].isalpha())
        if len(words.split()) <= _MOST_WORDS and (is_title or (form not in ("roman", "number") and not words)):
            is_named = any(map(str.isalpha, words)) or form not in ("roman", "number")
            number = tuple(map(int, numbered["number"].split("."))) if numbered["number"] else ()
            return _Heading((form, max(0, len(number) - 1)), line, number) if is_named else None
    letters = [letter for letter in line if letter.isalpha()]
    is_loud = len(letters) >= _LEAST_CAPITALS and all(map(str.isupper, letters)) and len(line) <= LONGEST_CAPITALS
    return _Heading(("capitals", 0), line) if is_loud and not _NO_CAPITALS.search(line) else None


def _underlined(words: str, rule: str, mark: str, lines: int) -> _Heading | None:
    is_heading = len(words) <= LONGEST and any(map(str.isalpha, words)) and not words.endswith((",", ";"))
    return _Heading((mark + rule[0], 0), words, lines=lines) if is_heading else None
