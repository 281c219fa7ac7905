"""Text whose lines mean something: programs and logs. A block is a line, a section a definition.

Definitions are recognized by the keywords of many languages, not by grammars. If this is wrong, a chunk
begins a line too early or too late, but nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from orienteer.ingest.documents.read.blocks import MOST_BLOCKS, Block, Blocks, Page, Place, Prose
from orienteer.ingest.documents.read.markdown import TextLine, span_of, text_lines

LONGEST = 400
"""Characters of a line in which a definition is looked for."""
MOST_LEVELS = 2
"""Definitions within definitions that are sections of their own: a class and its methods."""
_WORDS = (
    "def class func function fn struct enum interface trait impl type module namespace sub object record protocol macro"
)
_DEFINITION = re.compile(
    r"(?P<indent>[ \t]*)(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|unsafe|pub"
    r"|pub\(\w+\)|open|override|data|sealed|local|extern|const|inline|virtual|declare)[ \t]+)*"
    rf"(?P<word>{_WORDS.replace(' ', '|')})[ \t]+(?:\([^()]*\)[ \t]*)?(?P<name>[A-Za-z_$][\w$.:]*)"
)
_C_FUNCTION = re.compile(r"(?P<first>[A-Za-z_]\w*+)[\w \t*&:<>,]*[ \t*&](?P<name>[A-Za-z_~][\w:~]*)[ \t]*\([^;]*$")
_NO_FUNCTIONS = frozenset(["if", "for", "while", "switch", "return", "else", "do", "elif", "with", "print", "assert"])
_INSIDE = re.compile(r"[ \t]*(?:[)}\]>{#]|//|/\*|\*|--|end\b|else\b|$)")
"""Lines that are as far left as a definition but do not end it."""
_BEFORE = re.compile(r"[ \t]*(?:@|#|//|/\*|\*|--|;;|///|'''|\"\"\")")
_WORD = re.compile(r"[^\W\d_]{2,}[,.;:!?)]*$")
_PROSE_WORDS, _PROSE_SHARE = 6, 0.5
"""Minimum words of a line of prose, and share of such lines in a text of prose, by its first 200 lines."""
_DAY = (
    r"\d{4}[-/.]\d\d[-/.]\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}/[A-Z][a-z]{2}/\d{4}"
    r"|(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} {1,2}\d{1,2}(?= )"
)
_TIME = re.compile(rf"(?:\S+ \S+ \S+ )?[\[(<]?(?:(?P<day>{_DAY})\b|(?P<clock>\d\d:\d\d:\d\d))")
"""The beginning of a log line. Web servers put an address and two names before it."""
_LEAST_LOG, _LOG_SHARE = 5, 0.6
_LOG_LINES = 50
"""Lines of a block of a log."""


def read_lines(text: str) -> Page:
    """Return the lines of a text as blocks, each under its definition."""
    lines = list(text_lines(text))
    return _page(_defined(lines), 1 + len(lines) // (MOST_BLOCKS // 2))


def _page(placed: Iterable[tuple[tuple[str, ...], TextLine]], most: int) -> Page:
    """Return lines, given with their headings, as blocks of at most `most` lines."""
    blocks: list[Block] = Blocks()
    for headings, section in groupby(placed, key=itemgetter(0)):
        inside = [line for _, line in section if line.text.strip()]
        for at in range(0, len(inside), most):
            part = inside[at : at + most]
            shown = "\n".join(line.text.rstrip() for line in part)
            blocks.append(Prose(shown, Place(headings, span=span_of(part)), is_code=True))
    return Page(blocks=blocks)


def reads_as_prose(text: str) -> bool:
    """Return whether most lines of a text are prose, as in a README, not code or values."""
    lines = _first_lines(text)
    wordy = sum(
        sum(map(bool, map(_WORD.match, line.split()))) >= min(_PROSE_WORDS, max(2, len(line.split()) - 1))
        for line in lines
    )
    indented = sum(line[:1] in " \t" and not line.lstrip()[:1].isalpha() for line in lines)
    return bool(lines) and wordy > _PROSE_SHARE * len(lines) and indented < len(lines) / 2


def is_log(text: str) -> bool:
    """Return whether most lines of a text begin with a time, by its first 200."""
    lines = _first_lines(text)
    return len(lines) >= _LEAST_LOG and sum(map(bool, map(_TIME.match, lines))) > _LOG_SHARE * len(lines)


def _first_lines(text: str) -> list[str]:
    return [line for line in text[: 1 << 16].split("\n")[:200] if line.strip()]


def read_log(text: str) -> Page:
    """Return the lines of a log under their days. Without days, a new run begins when the clock goes back."""
    return _page(_timed(text), _LOG_LINES)


def _timed(text: str) -> Iterator[tuple[tuple[str, ...], TextLine]]:
    headings, last, run = tuple[str, ...](), "", 1
    for line in text_lines(text):
        time = _TIME.match(line.text[:LONGEST])
        if time is not None and time["clock"]:
            run += time["clock"] < last
            last = time["clock"]
        if time is not None:
            headings = (time["day"] or f"run {run}",)
        yield headings, line


class _Definition(NamedTuple):
    indent: int
    title: str


def _defined(lines: Sequence[TextLine]) -> Iterator[tuple[tuple[str, ...], TextLine]]:
    """Yield each line with the definitions that contain it, outermost first."""
    starts = {_beginning(lines, at): (at, found) for at, found in _definitions(lines)}
    around: list[_Definition] = []
    last = 0  # line of the last definition: what stands before it, as decorators do, is part of it
    for at, line in enumerate(lines):
        begins = starts.get(at)
        if begins is not None or (around and at > last and not _INSIDE.match(line.text)):
            indent = indent_of(line.text) if begins is None else begins[1].indent
            around = [outer for outer in around if outer.indent < indent]
        if begins is not None:
            last = begins[0]
            around = [*around[: MOST_LEVELS - 1], begins[1]]
        yield tuple(definition.title for definition in around), line


def _definitions(lines: Sequence[TextLine]) -> Iterator[tuple[int, _Definition]]:
    """Yield the definitions that are sections, by line: those at the left, and those one level deeper."""
    outer: int | None = None  # the indentation of what stands within the last definition at the left
    for at, line in enumerate(lines):
        found = _definition(line.text)
        if found is not None and (found.indent == 0 or outer in (None, found.indent)):
            outer = found.indent or None
            yield at, found


def _definition(text: str) -> _Definition | None:
    if len(text) > LONGEST or not text.strip():
        return None
    match = _DEFINITION.match(text)
    if match is not None:
        return _Definition(indent_of(text), f"{match['word']} {match['name'].rstrip(':.')}")
    function = _C_FUNCTION.match(text)
    if function is not None and function["first"] not in _NO_FUNCTIONS and not text.rstrip().endswith((",", ":")):
        return _Definition(0, function["name"])
    return None


def indent_of(text: str) -> int:
    """Return the indentation of a line, in columns."""
    wide = text.expandtabs(4)
    return len(wide) - len(wide.lstrip(" "))


def _beginning(lines: Sequence[TextLine], at: int) -> int:
    """Return the first line of a definition, with the decorators and comments directly above it."""
    while at and _BEFORE.match(lines[at - 1].text):
        at -= 1
    return at
