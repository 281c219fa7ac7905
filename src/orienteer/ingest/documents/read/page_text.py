"""The lines of all pages of a document -> its blocks: paragraphs under their headings, tables, contents.

Only the whole document shows which lines its pages repeat, the usual size of its letters, and its words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice, pairwise
from math import inf
from textwrap import dedent
from typing import NamedTuple, TypeAlias
from unicodedata import normalize

from orienteer.ingest.documents.read.blocks import Block, Grid, Place, Prose
from orienteer.ingest.documents.read.page_layout import Line, joined, paragraphs
from orienteer.ingest.documents.read.titles import LONGEST, cleaned, is_generic

LARGE = 1.2
"""Times that the letters of a title are larger than most others on its page; those of a heading, `LARGER` times."""
LARGER = 1.12
FEWEST_LETTERS = 4
"""Of a title: a shorter one is a number or an initial."""
FEWEST_PAGES = 3
"""Pages with the same line at their edge: it is a header or a footer."""
_APART = 0.6  # heights of a letter between the text of a page and its header or footer
_NEAR = 0.25  # heights of a letter between the lines of one title
_EDGE = 3  # lines at the top and at the bottom of a page that may be its header or footer
_MOST_ENTRIES = 300  # of an outline that lead to one page
_LONGEST_HEADING, _MOST_HEADING_LINES = 150, 3
_LEADER = re.compile(r"(?:\s?\.){4,}\s*(?=[\divxlc]+\W*$)|\s?[·…_]{3,}\s*(?=[\divxlc]+\W*$)", re.IGNORECASE)
"""The dots of `Mooring fees ........ 12`."""
_PLACES = re.compile(r"^[^.!?]{1,80}?[,\s]\s*\d{1,4}(?:\s*[-–]\s*\d{1,4})?(?:,\s*\d{1,4}(?:\s*[-–]\s*\d{1,4})?)*,?$")
"""`mooring, 12, 45-47`"""
_INDEX_LINES = 10
_PREFIX = re.compile(r"(?:chapter|section|appendix|part|kapitel|teil|anhang)?(?:[a-z]?\d{0,8}|[ivxl]{1,6})")
_NUMBER = re.compile(r"\b(?:[0-9]{1,5}|[ivxl]{1,7})\b", re.IGNORECASE)
_MOST_NUMBERS = 4  # of a header or a footer
_DIGITS = "0123456789"
_A_WORD = re.compile(r"[^\W\d_]{3}")
_COMBINING = dict(zip("`´¨ˆ˜ˇ˝¸˚", "\u0300\u0301\u0308\u0302\u0303\u030c\u030b\u0327\u030a", strict=True))
_ACCENT = re.compile(r"(?<=[^\W\d_])([´`¨ˆ˜ˇ˝˚¸])([A-Za-zı])")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})


class Heading(NamedTuple):
    """A heading, or an entry of a document's outline; level 0 is the highest."""

    level: int
    title: str
    page: int
    top: float | None = None
    """Where on the page an entry leads to, or None if the outline does not say."""


@dataclass(slots=True)
class PageLines:
    """The text of one page."""

    number: int
    regions: list[list[Line]]
    turned: list[list[Line]] = field(default_factory=list)
    """Text at another angle than most."""
    remarks: list[str] = field(default_factory=list)
    """Values of form fields, and comments."""
    is_picture: bool = False
    """The page has pictures alone."""
    is_unknown: bool = False
    """The file does not say what most letters of the page are."""

    @property
    def lines(self) -> list[Line]:
        """All lines of `regions`."""
        return [line for region in self.regions for line in region]


_Parts: TypeAlias = dict[int, "list[Line | Heading]"]
"""What replaces a line: headings, and the line if it is not one. The key is the line's id."""


def largest_line(page: PageLines) -> str:
    """Return the first lines of the largest letters on a page, empty if most letters are as large."""
    sized = [line for line in page.lines if line.text and not line.rows]
    sizes = sorted(line.size for line in sized for _ in range(len(line.text)))
    if not sizes or sizes[-1] < LARGE * sizes[len(sizes) // 2]:
        return ""
    first = next(part for part in _of_one_size(sized) if part[0].size >= 0.95 * sizes[-1])
    title = cleaned(joined(line.text for line in first))
    return title if FEWEST_LETTERS <= len(title) <= LONGEST and not is_generic(title) else ""


def blocks(pages: Sequence[PageLines], outline: Sequence[Heading], title: str) -> Iterator[Block]:
    """Yield the blocks of a document; a line that its pages repeat at their edges is kept once."""
    titles = {_folded(entry.title) for entry in outline} - {""}
    furniture = _furniture(pages, titles)
    known = _vocabulary(pages)
    pages = [
        replace(page, regions=[[line for line in region if id(line) not in furniture] for region in page.regions])
        for page in pages
    ]
    parts = _of_outline(pages, outline)
    parts |= _of_letters(pages, title, outline, parts)
    path: list[Heading] = []
    for item, after in pairwise([*_items(pages, parts, titles, known), Heading(0, "", 0)]):
        if isinstance(item, Heading):
            path = [heading for heading in path if heading.level < item.level]
            if isinstance(after, Heading) and after.level <= item.level:  # without text under it, it would be lost
                yield Prose(item.title, Place(tuple(heading.title for heading in path), item.page))
            path.append(item)
        else:
            yield replace(item, place=replace(item.place, headings=tuple(heading.title for heading in path)))


def _items(
    pages: Sequence[PageLines], parts: _Parts, titles: set[str], known: Collection[str]
) -> Iterator[Block | Heading]:
    """Yield the headings of a document, and its blocks without theirs."""
    for page in pages:
        is_contents = _leads_elsewhere(page.lines, titles, is_late=page.number > 0.7 * pages[-1].number)
        for region in (*page.regions, *page.turned):
            items = [item for line in region for item in parts.get(id(line), [line])]
            for kind, group in groupby(items, key=lambda item: _kind(item, is_contents=is_contents)):
                part, place = list(group), Place((), page.number)
                lines = [item for item in part if isinstance(item, Line)]
                if kind == "heading":
                    yield from (item for item in part if isinstance(item, Heading))
                elif kind == "table":
                    for header, *rows in ([tuple(map(_clean, row)) for row in line.rows or ()] for line in lines):
                        yield Grid(header, rows, place)
                elif kind == "entry" and (is_contents or len(part) > 2):
                    text = "\n".join(_clean(_LEADER.sub(" … ", line.text)) for line in lines)
                    yield Prose(text, replace(place, is_navigation=True))
                else:
                    yield from _blocks(lines, place, known)
        yield from (Prose(remark, Place((), page.number)) for remark in page.remarks)


def _kind(item: Line | Heading, *, is_contents: bool) -> str:
    if isinstance(item, Heading):
        return "heading"
    return "table" if item.rows else "entry" if is_contents or _LEADER.search(item.text) else "text"


def _blocks(lines: Sequence[Line], place: Place, known: Collection[str]) -> Iterator[Block]:
    for paragraph in paragraphs(lines):
        if paragraph[0].is_code:
            yield Prose(dedent("\n".join(_clean(line.text) for line in paragraph)), place, is_code=True)
        else:
            yield Prose(_clean(joined((line.text for line in paragraph), known)), place)


def _clean(text: str) -> str:
    """Return a text without ligatures, and with the accents of TeX, which are before their letters, on them."""
    return _ACCENT.sub(_accented, text.translate(_LIGATURES))


def _accented(found: re.Match[str]) -> str:
    letter = normalize("NFC", found[2].replace("ı", "i") + _COMBINING[found[1]])
    return letter if len(letter) == 1 else found[0]


def _vocabulary(pages: Iterable[PageLines]) -> set[str]:
    """Return the words within the lines of a document, with their hyphens, case-folded."""
    return {
        word
        for page in pages
        for line in page.lines
        for word in re.findall(r"[^\W_]+(?:[-\u2010][^\W_]+)*(?=\W)", line.text.casefold())
    }


# -------------------------------------------------------------------------------------------------- headers and footers


def _furniture(pages: Sequence[PageLines], titles: set[str]) -> set[int]:
    """Return the ids of the lines that pages repeat at their edges, except the first of each that has words.

    Free space separates them from the text. A heading of the outline next to the page number needs no repetition.
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
        if all(id(line) in repeated for line in lines):  # there is no text between them
            continue
        for line in (*_framing(lines, repeated), *_framing(lines[::-1], repeated)):
            key = repeated[id(line)]
            if key in said or sum(map(str.isalpha, key[0])) < 2:
                furniture.add(id(line))
            said.add(key)
    return furniture


_HEAD = ("", None, True)
"""The key of all headings at an edge: the text under each has it as its heading."""


def _framing(lines: Sequence[Line], repeated: Collection[int]) -> Sequence[Line]:
    """Return the lines from an edge on that are repeated, up to a gap."""
    count = 0
    for at, (line, after) in enumerate(pairwise(lines[: _EDGE + 1]), 1):
        if id(line) not in repeated:
            break
        count = at if max(after.top - line.bottom, line.top - after.bottom) >= _APART * line.size else count
    return lines[:count]


def _keys(line: Line, page: int) -> Iterator[tuple[str, int | None]]:
    """Yield what a header or a footer repeats: its text, or the text around a number that grows with the pages."""
    text = line.text.strip()
    if len(line.cells) >= 4 or not any(map(str.isalnum, text)):
        return
    if len(text) >= FEWEST_LETTERS:
        yield text, None
    for number in islice(_NUMBER.finditer(text), _MOST_NUMBERS):
        value = int(number[0]) if number[0].isdigit() else _value(number[0].lower())
        yield f"{text[: number.start()]}#{text[number.end() :]}", value - page


def _value(roman: str) -> int:
    sizes = [{"i": 1, "v": 5, "x": 10, "l": 50}[letter] for letter in roman]
    return sum(-size if size < max(sizes[at:]) else size for at, size in enumerate(sizes))


# ------------------------------------------------------------------------------------------------------------- headings


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, text.translate(_LIGATURES).casefold()))


def _of_outline(pages: Iterable[PageLines], outline: Iterable[Heading]) -> _Parts:
    """Return the parts of the lines that are headings of an outline, or that follow one."""
    parts: _Parts = {}
    of_page: dict[int, list[Heading]] = defaultdict(list)
    for entry in outline:
        of_page[entry.page].append(entry)
    waiting: list[Heading] = []  # of pages without text
    for page in pages:
        lines, entries = page.lines, of_page[page.number][:_MOST_ENTRIES]
        if not lines:
            waiting += entries
            continue
        folds = [_folded(line.text) for line in lines]
        before: dict[int, list[Heading]] = defaultdict(list, {0: waiting})
        waiting = []
        for entry in entries:
            begin, count = _line_of(entry, lines, folds, parts)
            if not count:
                before[begin].append(entry)
                continue
            said = joined(line.text for line in lines[begin : begin + count])
            text = _clean(said) if len(_folded(said)) >= len(_folded(entry.title)) else entry.title
            parts.update((id(line), []) for line in lines[begin : begin + count])
            parts[id(lines[begin])] = [entry._replace(title=text)]
        for at, headings in before.items():
            parts[id(lines[at])] = [*headings, *parts.get(id(lines[at]), [lines[at]])]
    return parts


def _line_of(entry: Heading, lines: Sequence[Line], folds: Sequence[str], parts: _Parts) -> tuple[int, int]:
    """Return the first line of a heading and how many it has; or the line that it is before, and 0."""
    title = _folded(entry.title)
    found = [
        (abs(line.top - entry.top) if entry.top is not None else at, at, count)
        for at, line in enumerate(lines)
        for count in range(1, _MOST_HEADING_LINES + 1)
        if folds[at] and id(line) not in parts and not line.rows and _says("".join(folds[at : at + count]), title)
    ]
    if found:
        _, at, count = min(found)
        return at, count
    if entry.top is None:
        return 0, 0
    below = [(line.top, at) for at, line in enumerate(lines) if line.top >= entry.top - line.size]
    return (min(below)[1] if below else len(lines) - 1), 0


def _says(line: str, title: str) -> bool:
    longer, shorter = (line, title) if len(line) >= len(title) else (title, line)
    return bool(shorter) and longer.endswith(shorter) and _PREFIX.fullmatch(longer.removesuffix(shorter)) is not None


def _of_letters(pages: Sequence[PageLines], title: str, outline: Iterable[Heading], parts: _Parts) -> _Parts:
    """Return the parts of the lines in larger letters: headings, if there are several and they have little text.

    Beneath the entries of an outline are those in smaller letters than the lines that it names: it may have chapters
    alone. `parts` are the outline's.
    """
    letters: Counter[float] = Counter()
    least, depth = inf, max((entry.level + 1 for entry in outline), default=0)
    for page in pages:
        for line in page.lines:
            letters[round(2 * line.size) / 2] += len(line.text)
            is_entry = line not in parts.get(id(line), [line])
            least = min(least, 0.95 * line.size) if is_entry else least
    body = max(letters, key=lambda size: letters[size], default=0.0)
    groups = [
        (page.number, part)
        for page in pages
        for region in page.regions
        for part in _of_one_size(region)
        if part[0].size < least
        and all(_is_large(line, body) for line in part)
        and _is_heading(part, title if page is pages[0] else "")
    ]
    largest = max((part[0].size for page, part in groups if page > pages[0].number), default=inf)
    groups = [
        (page, part) for page, part in groups if part[0].size <= 1.05 * largest
    ]  # larger ones are on a cover alone
    if len(groups) < 2 or sum(len(line.text) for _, part in groups for line in part) > 0.15 * letters.total():
        return {}
    sizes: list[float] = []  # one for each level
    for size in sorted((part[0].size for _, part in groups), reverse=True):
        sizes += [] if sizes and size >= 0.95 * sizes[-1] else [size]
    found: _Parts = {}
    for number, part in groups:
        level = depth + sum(0.95 * size > part[0].size for size in sizes)
        above = [item for line in part for item in parts.get(id(line), []) if isinstance(item, Heading)]
        found.update((id(line), []) for line in part)
        found[id(part[0])] = [*above, Heading(level, cleaned(_clean(joined(line.text for line in part))), number)]
    return found


def _is_heading(part: Sequence[Line], title: str) -> bool:
    text = joined(line.text for line in part)
    is_short = len(part) <= _MOST_HEADING_LINES and len(text) <= _LONGEST_HEADING
    return is_short and _A_WORD.search(text) is not None and _folded(text) not in _folded(title)


def _of_one_size(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Yield lines with those that follow closely in letters as large."""
    part: list[Line] = []
    for line in lines:
        last = part[-1] if part else line
        if part and (line.top - last.bottom > _NEAR * line.size or abs(line.size - last.size) > 0.05 * line.size):
            yield part
            part = []
        part.append(line)
    if part:
        yield part


def _is_large(line: Line, body: float) -> bool:
    return bool(line.text) and not line.is_code and not line.rows and line.size >= LARGER * body


# ------------------------------------------------------------------------------------------------------------- contents


def _leads_elsewhere(lines: Sequence[Line], titles: set[str], *, is_late: bool) -> bool:
    """Return whether a page belongs to a table of contents or, late in a document, to an index.

    Most lines of contents end with dots and a number, or are an entry of the outline with a number; most lines of an
    index end with numbers.
    """
    texts = [line.text for line in lines]
    entries = sum(_LEADER.search(text) is not None or _folded(text.rpartition(" ")[0]) in titles for text in texts)
    places = sum(_PLACES.match(text) is not None for text in texts)
    is_index = is_late and len(lines) >= _INDEX_LINES and places >= 0.6 * len(lines)
    return is_index or (entries > 2 and entries >= 0.5 * len(lines))
