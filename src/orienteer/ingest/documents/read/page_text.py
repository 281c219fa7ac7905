"""The lines of all pages of a document -> its blocks: paragraphs beneath their headings, tables, contents.

Only the whole document shows what is furniture of its pages, how large its letters usually are, and which words it has.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice, pairwise
from textwrap import dedent
from typing import NamedTuple
from unicodedata import normalize

from orienteer.ingest.documents.read.blocks import Block, Grid, Place, Prose
from orienteer.ingest.documents.read.page_layout import Line, joined, paragraphs
from orienteer.ingest.documents.read.titles import LONGEST, cleaned, is_generic

LARGE = 1.2
"""Times that the letters of a title are larger than most others on its page; those of a heading, `LARGER` times."""
LARGER = 1.12
FEWEST_LETTERS = 4
"""Of a title: less is a number or an initial."""
FEWEST_PAGES = 3
"""Pages that say the same at their edge: it is a header or a footer."""
_APART = 0.6  # heights of a letter between the text of a page and its header or footer
_EDGE = 3  # lines at the top and at the bottom of a page that may be its header or footer
_MOST_LEVELS = 5
_MOST_ENTRIES = 300  # of an outline that lead to one page
_LONGEST_HEADING, _MOST_HEADING_LINES = 150, 3
_LEADER = re.compile(r"(?:\s?\.){4,}\s*(?=[\divxlc]+\W*$)|\s?[·…_]{3,}\s*(?=[\divxlc]+\W*$)", re.IGNORECASE)
"""The dots of `Mooring fees ........ 12`."""
_NUMBER_AT_END = re.compile(r"\s[\divxlc]+$", re.IGNORECASE)
_PLACES = re.compile(r"^[^.!?]{1,80}?[,\s]\s*\d{1,4}(?:\s*[-–]\s*\d{1,4})?(?:,\s*\d{1,4}(?:\s*[-–]\s*\d{1,4})?)*,?$")
"""`mooring, 12, 45-47`"""
_INDEX_LINES = 10
_PREFIX = re.compile(r"(?:chapter|section|appendix|part|kapitel|teil|anhang)?(?:[a-z]?\d{0,8}|[ivxl]{1,6})")
_NUMBER = re.compile(r"\b(?:[0-9]{1,5}|[ivxl]{1,7})\b", re.IGNORECASE)
_MOST_NUMBERS = 4  # of a header or a footer
_DIGITS = "0123456789"
_A_WORD = re.compile(r"[^\W\d_]{3}")
_COMBINING = {
    "`": "\u0300",
    "´": "\u0301",
    "¨": "\u0308",
    "ˆ": "\u0302",
    "˜": "\u0303",
    "ˇ": "\u030c",
    "˝": "\u030b",
    "¸": "\u0327",
    "˚": "\u030a",
}
_ACCENT = re.compile(r"(?<=[^\W\d_])([´`¨ˆ˜ˇ˝˚¸])([A-Za-zı])")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})


class Entry(NamedTuple):
    """An entry of a document's outline."""

    level: int
    title: str
    page: int
    top: float | None
    """Where on the page it leads to, if the outline says so."""


@dataclass(slots=True)
class PageLines:
    """What stands on one page."""

    number: int
    regions: list[list[Line]]
    turned: list[list[Line]] = field(default_factory=list)
    """Text that stands at another angle than most."""
    remarks: list[str] = field(default_factory=list)
    """Values of form fields, and comments."""

    @property
    def lines(self) -> list[Line]:
        """All lines that stand as most do."""
        return [line for region in self.regions for line in region]


def largest_line(page: PageLines) -> str:
    """Return the first lines of the largest letters on a page, empty if most letters are as large."""
    sized = [line for line in page.lines if line.text and not line.rows]
    sizes = sorted(line.size for line in sized for _ in range(len(line.text)))
    if not sizes or sizes[-1] < LARGE * sizes[len(sizes) // 2]:
        return ""
    title = cleaned(joined(line.text for line in sized if line.size >= 0.95 * sizes[-1]))
    return title if FEWEST_LETTERS <= len(title) <= LONGEST and not is_generic(title) else ""


def blocks(pages: Sequence[PageLines], outline: Sequence[Entry], title: str) -> Iterator[Block]:
    """Yield the blocks of a document; what its pages repeat at their edges is there once."""
    titles = {_folded(entry.title) for entry in outline} - {""}
    furniture = _furniture(pages, titles)
    known = _vocabulary(pages)
    marks = _of_outline(pages, outline, furniture) if outline else _of_letters(pages, furniture, title)
    path = _Path()
    is_index = False
    for page in pages:
        path.page = page.number
        lines = [line for line in page.lines if id(line) not in furniture]
        is_index = _is_index(lines, is_late=is_index or page.number > 0.7 * pages[-1].number)
        is_contents = is_index or _is_contents(lines, titles)
        for region in (*page.regions, *page.turned):
            part: list[Line] = []
            for line in region:
                if id(line) in furniture:
                    continue
                if (mark := marks.get(id(line))) is not None:
                    yield from path.blocks(_blocks(part, path.place, known, is_contents=is_contents))
                    part = []
                    for level, heading in mark.headings:
                        yield from path.begin(level, heading)
                    if mark.is_heading:
                        continue
                part.append(line)
            yield from path.blocks(_blocks(part, path.place, known, is_contents=is_contents))
        yield from path.blocks(Prose(remark, path.place) for remark in page.remarks)
    yield from path.end(0)


@dataclass(slots=True)
class _Path:
    """The headings above a place. One that nothing stands beneath becomes a paragraph, for else it would be lost."""

    page: int = 1
    _headings: list[tuple[int, str]] = field(default_factory=list)
    _is_bare: bool = False

    @property
    def place(self) -> Place:
        return Place(tuple(heading for _, heading in self._headings), self.page)

    def begin(self, level: int, heading: str) -> Iterator[Block]:
        """Go beneath a heading."""
        yield from self.end(level)
        self._headings.append((level, heading))
        self._is_bare = True

    def end(self, level: int) -> Iterator[Block]:
        """Leave all headings of a level and below."""
        while self._headings and self._headings[-1][0] >= level:
            _, heading = self._headings.pop()
            if self._is_bare:
                yield Prose(heading, self.place)
            self._is_bare = False

    def blocks(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield what stands here."""
        for block in blocks:
            self._is_bare = False
            yield block


def _blocks(lines: list[Line], place: Place, known: Callable[[str], bool], *, is_contents: bool) -> Iterator[Block]:
    navigation = Place(place.headings, place.page, is_navigation=True)
    for kind, group in groupby(lines, key=lambda line: "table" if line.rows else is_contents or _is_entry(line)):
        part = list(group)
        if kind == "table":
            for header, *rows in (line.rows for line in part if line.rows):
                yield Grid(tuple(_clean(cell) for cell in header), [tuple(map(_clean, row)) for row in rows], place)
        elif is_contents or (kind and len(part) > 2):
            yield Prose("\n".join(_clean(_LEADER.sub(" … ", line.text)) for line in part), navigation)
        else:
            for paragraph in paragraphs(part):
                if paragraph[0].is_code:
                    text = dedent("\n".join(_clean(line.text) for line in paragraph))
                    yield Prose(text, place, is_code=True)
                else:
                    yield Prose(_clean(joined((line.text for line in paragraph), known=known)), place)


def _clean(text: str) -> str:
    """Return a text without ligatures, and with the accents of TeX, which stand before their letters, on them."""
    return _ACCENT.sub(_accented, text.translate(_LIGATURES))


def _accented(found: re.Match[str]) -> str:
    letter = normalize("NFC", found[2].replace("ı", "i") + _COMBINING[found[1]])
    return letter if len(letter) == 1 else found[0]


def _vocabulary(pages: Sequence[PageLines]) -> Callable[[str], bool]:
    """Return a function that tells whether a word, with its hyphens, stands in the midst of a line."""
    words = {
        word
        for page in pages
        for line in page.lines
        for word in re.findall(r"[^\W_]+(?:[-\u2010][^\W_]+)*(?=\W)", line.text.casefold())
    }
    return lambda word: word.casefold() in words


# -------------------------------------------------------------------------------------------------- headers and footers


def _furniture(pages: Sequence[PageLines], titles: set[str]) -> set[int]:
    """Return the ids of the lines that pages repeat at their edges, but for the first of each that says something.

    They stand apart from the text. A heading of the outline beside the number of the page is one, even if it is alone.
    """
    found: dict[tuple[str, int | None, bool], list[tuple[int, Line]]] = defaultdict(list)
    for page in pages:
        lines = sorted((line for line in page.lines if line.text and not line.rows), key=lambda line: line.top)
        edges = [(line, True) for line in lines[:_EDGE]] + [(line, False) for line in lines[_EDGE:][-_EDGE:]]
        for line, is_top in edges:
            for rest, shift in _keys(line, page.number):
                found[rest, shift, is_top].append((page.number, line))
    shifts = Counter(shift for (_, shift, _), places in found.items() if shift is not None for _ in places)
    usual = {shift for shift, count in shifts.items() if count >= max(FEWEST_PAGES, 0.2 * len(pages))}
    heads = {title.lstrip(_DIGITS) for title in titles}
    repeated: dict[int, tuple[str, int | None, bool]] = {}
    for key, places in found.items():
        head = _folded(key[0]).lstrip(_DIGITS)
        is_head = key[1] in usual and (head in heads or head.removeprefix("chapter").lstrip(_DIGITS) in heads)
        if is_head or len({page for page, _ in places}) >= FEWEST_PAGES:
            repeated.update((id(line), _HEAD if is_head else key) for _, line in places)
    furniture: set[int] = set()
    said: set[tuple[str, int | None, bool]] = {_HEAD}
    for page in pages:
        lines = sorted(page.lines, key=lambda line: line.top)
        if all(id(line) in repeated for line in lines):  # there is nothing that it frames
            continue
        for line in (*_apart(lines, repeated, 1), *_apart(lines[::-1], repeated, -1)):
            key = repeated[id(line)]
            if key in said or sum(map(str.isalpha, key[0])) < 2:
                furniture.add(id(line))
            said.add(key)
    return furniture


_HEAD = ("", None, True)
"""Stands for all headings at an edge: each is said beneath the heading itself."""


def _apart(lines: Sequence[Line], repeated: Collection[int], direction: int) -> Sequence[Line]:
    """Return the lines from an edge on that are repeated and stand apart from what follows."""
    count = 0
    for at, (line, after) in enumerate(pairwise(lines[: _EDGE + 1]), 1):
        if id(line) not in repeated:
            break
        gap = after.top - line.bottom if direction > 0 else line.top - after.bottom
        count = at if gap >= _APART * line.size else count
    return lines[:count]


def _keys(line: Line, page: int) -> Iterator[tuple[str, int | None]]:
    """Yield what a header or a footer repeats: its text, or the text beside a number that grows with the pages."""
    text = line.text.strip()
    if len(line.cells) >= 4 or not any(map(str.isalnum, text)):
        return
    if len(text) >= FEWEST_LETTERS:
        yield text, None
    for number in islice(_NUMBER.finditer(text), _MOST_NUMBERS):
        value = int(number[0]) if number[0].isdigit() else _value(number[0].lower())
        yield f"{text[: number.start()]}#{text[number.end() :]}", value - page


def _value(roman: str) -> int:
    values = ["ivxl".index(letter) for letter in roman]
    sizes = [(1, 5, 10, 50)[value] for value in values]
    return sum(-size if size < max(sizes[at:]) else size for at, size in enumerate(sizes))


# ------------------------------------------------------------------------------------------------------------- headings


class _Mark(NamedTuple):
    """What a line does to the headings: it ends some, begins others, and may be one itself."""

    headings: tuple[tuple[int, str], ...] = ()
    is_heading: bool = False


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, text.translate(_LIGATURES).casefold()))


def _of_outline(pages: Sequence[PageLines], outline: Sequence[Entry], furniture: set[int]) -> dict[int, _Mark]:
    """Return the headings of an outline by the ids of the lines that say them, or that they stand before."""
    marks: dict[int, _Mark] = {}
    of_page: dict[int, list[Entry]] = defaultdict(list)
    for entry in outline:
        of_page[entry.page].append(entry)
    waiting: list[tuple[int, str]] = []
    for page in pages:
        lines = [line for line in page.lines if id(line) not in furniture]
        folds = [_folded(line.text) for line in lines]
        before: dict[int, list[tuple[int, str]]] = defaultdict(list)
        before[0] += waiting
        waiting = []
        for entry in of_page[page.number][:_MOST_ENTRIES]:
            begin, count = _line_of(entry, lines, folds, marks)
            if count:
                said = joined(line.text for line in lines[begin : begin + count])
                text = said if len(_folded(said)) >= len(_folded(entry.title)) else entry.title
                for line in lines[begin : begin + count]:
                    marks[id(line)] = _Mark((), True)
                marks[id(lines[begin])] = _Mark(((entry.level, _clean(text)),), True)
            elif lines:
                before[begin].append((entry.level, entry.title))
            else:
                waiting.append((entry.level, entry.title))
        for at, headings in before.items():
            if headings and at < len(lines):
                own = marks.get(id(lines[at]), _Mark())
                marks[id(lines[at])] = _Mark((*headings, *own.headings), own.is_heading)
    return marks


def _line_of(entry: Entry, lines: Sequence[Line], folds: Sequence[str], marks: dict[int, _Mark]) -> tuple[int, int]:
    """Return where a heading is said: the first line and how many; none, and the line that it stands before."""
    title = _folded(entry.title)
    found = [
        (abs(line.top - entry.top) if entry.top is not None else at, at, count)
        for at, line in enumerate(lines)
        for count in range(1, _MOST_HEADING_LINES + 1)
        if folds[at] and id(line) not in marks and not line.rows and _says("".join(folds[at : at + count]), title)
    ]
    if found:
        _, at, count = min(found)
        return at, count
    if entry.top is None:
        return 0, 0
    below = [(line.top, at) for at, line in enumerate(lines) if line.top >= entry.top - line.size]
    return (min(below)[1] if below else max(0, len(lines) - 1)), 0


def _says(line: str, title: str) -> bool:
    longer, shorter = (line, title) if len(line) >= len(title) else (title, line)
    return bool(shorter) and longer.endswith(shorter) and _PREFIX.fullmatch(longer.removesuffix(shorter)) is not None


def _of_letters(pages: Sequence[PageLines], furniture: set[int], title: str) -> dict[int, _Mark]:
    """Return the headings that are set in larger letters, if a document has such and little else in them."""
    letters: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            letters[round(2 * line.size) / 2] += len(line.text)
    body = max(letters, key=lambda size: letters[size], default=0.0)
    groups = [
        part
        for page in pages
        for region in page.regions
        for size, group in groupby(region, key=lambda line: _large(line, body, furniture))
        if size and _is_heading(part := list(group), title)
    ]
    within = {id(line) for page in pages[1:] for line in page.lines}
    largest = max((part[0].size for part in groups if id(part[0]) in within), default=float("inf"))
    groups = [part for part in groups if part[0].size <= 1.05 * largest]  # larger ones stand on a cover alone
    if len(groups) < 2 or sum(len(line.text) for part in groups for line in part) > 0.15 * letters.total():
        return {}
    sizes: Counter[float] = Counter()
    for size in sorted((part[0].size for part in groups), reverse=True):
        sizes[next((one for one in sizes if size >= 0.95 * one), size)] += 1
    usual = [size for size, _ in sizes.most_common(_MOST_LEVELS)]
    marks: dict[int, _Mark] = {}
    for part in groups:
        level = sum(0.95 * size > part[0].size for size in usual)
        marks.update((id(line), _Mark((), True)) for line in part)
        marks[id(part[0])] = _Mark(((level, cleaned(_clean(joined(line.text for line in part)))),), True)
    return marks


def _is_heading(part: Sequence[Line], title: str) -> bool:
    text = joined(line.text for line in part)
    is_short = len(part) <= _MOST_HEADING_LINES and len(text) <= _LONGEST_HEADING
    return is_short and _A_WORD.search(text) is not None and _folded(text) not in _folded(title)


def _large(line: Line, body: float, furniture: set[int]) -> float:
    is_text = line.text and not (line.is_code or line.rows or id(line) in furniture)
    return round(line.size, 1) if is_text and line.size >= LARGER * body else 0.0


# ------------------------------------------------------------------------------------------------------------- contents


def _is_entry(line: Line) -> bool:
    return _LEADER.search(line.text) is not None


def _is_contents(lines: Sequence[Line], titles: set[str]) -> bool:
    """Return whether most lines of a page name a place by dots and a number, or are an entry of the outline."""
    entries = sum(_is_entry(line) or _folded(_before_number(line.text)) in titles for line in lines)
    return entries > 2 and entries >= 0.5 * len(lines)


def _before_number(text: str) -> str:
    """Return what stands before the number that ends a line, empty if none does."""
    number = _NUMBER_AT_END.search(text)
    return text[: number.start()] if number else ""


def _is_index(lines: Sequence[Line], *, is_late: bool) -> bool:
    """Return whether a page belongs to the index of a book: most lines end with numbers of pages."""
    if not is_late or len(lines) < _INDEX_LINES:
        return False
    return sum(_PLACES.match(line.text) is not None for line in lines) >= 0.6 * len(lines)
