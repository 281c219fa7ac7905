"""Text whose lines mean something: programs and logs. A block is a line, a section a definition.

What begins a definition is told by the words of many languages, not by their grammars: where it is wrong, a chunk
begins a line too early or too late, and nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

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
"""What stands as far left as a definition and does not end it."""
_BEFORE = re.compile(r"[ \t]*(?:@|#|//|/\*|\*|--|;;|///|'''|\"\"\")")
_WORD = re.compile(r"[^\W\d_]{2,}[,.;:!?)]*$")
_PROSE_WORDS, _PROSE_SHARE = 6, 0.5
"""A line of prose has as many words or more, and a text of prose as many such lines, counted in its first 200."""
_DAY = (
    r"\d{4}[-/.]\d\d[-/.]\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}/[A-Z][a-z]{2}/\d{4}"
    r"|(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} {1,2}\d{1,2}(?= )"
)
_TIME = re.compile(rf"(?:\S+ \S+ \S+ )?[\[(<]?(?:(?P<day>{_DAY})\b|(?P<clock>\d\d:\d\d:\d\d))")
"""What a line of a log begins with; in those of web servers an address and two names stand before it."""
_LEAST_LOG, _LOG_SHARE = 5, 0.6
_LOG_LINES = 50
"""Lines of a block of a log."""


def read_lines(text: str) -> Page:
    """Return the lines of a text as blocks, each beneath the definition that it belongs to."""
    lines = list(text_lines(text))
    step = 1 + len(lines) // (MOST_BLOCKS // 2)
    blocks: list[Block] = Blocks()
    for headings, section in groupby(_placed(lines), key=lambda placed: placed.headings):
        inside = [placed.line for placed in section if placed.line.text.strip()]
        for at in range(0, len(inside), step):
            part = inside[at : at + step]
            shown = "\n".join(line.text.rstrip() for line in part)
            blocks.append(Prose(shown, Place(headings, span=span_of(part)), is_code=True))
    return Page(blocks=blocks)


def reads_as_prose(text: str) -> bool:
    """Return whether most lines of a text are words, as in a README, and not code or values."""
    lines = [line for line in text[: 1 << 16].split("\n")[:200] if line.strip()]
    wordy = sum(
        sum(map(bool, map(_WORD.match, line.split()))) >= min(_PROSE_WORDS, max(2, len(line.split()) - 1))
        for line in lines
    )
    indented = sum(line[:1] in " \t" and not line.lstrip()[:1].isalpha() for line in lines)
    return bool(lines) and wordy > _PROSE_SHARE * len(lines) and indented < len(lines) / 2


def is_log(text: str) -> bool:
    """Return whether most lines of a text begin with a time, by its first 200."""
    lines = [line for line in text[: 1 << 16].split("\n")[:200] if line.strip()]
    return len(lines) >= _LEAST_LOG and sum(map(bool, map(_TIME.match, lines))) > _LOG_SHARE * len(lines)


def read_log(text: str) -> Page:
    """Return the lines of a log, beneath their days; beneath runs, each of which begins earlier, where it has none."""
    blocks: list[Block] = Blocks()
    heading, last, run, waiting = "", "", 1, list[TextLine]()

    def leave() -> None:
        if waiting:
            shown = "\n".join(line.text.rstrip() for line in waiting)
            place = Place((heading,) if heading else (), span=span_of(waiting))
            blocks.append(Prose(shown, place, is_code=True))
            waiting.clear()

    for line in text_lines(text):
        if not line.text.strip():
            continue
        time = _TIME.match(line.text[:LONGEST])
        now = heading
        if time is not None and time["day"]:
            now = time["day"]
        elif time is not None:
            run += time["clock"] < last
            last, now = time["clock"], f"run {run}"
        if now != heading or len(waiting) == _LOG_LINES:
            leave()
            heading = now
        waiting.append(line)
    leave()
    return Page(blocks=blocks)


@dataclass(frozen=True, slots=True)
class _PlacedLine:
    line: TextLine
    headings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Definition:
    at: int
    indent: int
    title: str


def _placed(lines: Sequence[TextLine]) -> Iterator[_PlacedLine]:
    """Yield each line with the definitions that it stands in, outermost first."""
    starts = {_beginning(lines, found.at): found for found in _definitions(lines)}
    open_ones: list[_Definition] = []
    last = 0  # line of the last definition: what stands before it, as decorators do, is part of it
    for at, line in enumerate(lines):
        begins = starts.get(at)
        if begins is not None:
            open_ones = [*_around(open_ones, begins.indent)[: MOST_LEVELS - 1], begins]
            last = begins.at
        elif open_ones and at > last and not _INSIDE.match(line.text):
            open_ones = _around(open_ones, _indent(line.text))
        yield _PlacedLine(line, tuple(definition.title for definition in open_ones))


def _definitions(lines: Sequence[TextLine]) -> Iterator[_Definition]:
    """Yield the definitions that are sections: those at the left, and those one level within them."""
    outer: int | None = None  # the indentation of what stands within the last definition at the left
    for at, line in enumerate(lines):
        found = _definition(at, line.text)
        if found is None:
            continue
        if found.indent == 0:
            outer = None
            yield found
        elif outer in (None, found.indent):
            outer = found.indent
            yield found


def _definition(at: int, text: str) -> _Definition | None:
    if len(text) > LONGEST or not text.strip():
        return None
    match = _DEFINITION.match(text)
    if match is not None:
        return _Definition(at, _indent(text), f"{match['word']} {match['name'].rstrip(':.')}")
    function = _C_FUNCTION.match(text)
    if function is not None and function["first"] not in _NO_FUNCTIONS and not text.rstrip().endswith((",", ":")):
        return _Definition(at, 0, function["name"])
    return None


def _around(definitions: Sequence[_Definition], indent: int) -> list[_Definition]:
    """Return the definitions that something with this indentation may stand in."""
    return [outer for outer in definitions if outer.indent < indent]


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" \t")) + 3 * (len(text) - len(text.lstrip("\t")))


def _beginning(lines: Sequence[TextLine], at: int) -> int:
    """Return where a definition begins: with the decorators and remarks that stand right above it."""
    while at and _BEFORE.match(lines[at - 1].text):
        at -= 1
    return at
