"""The words on a page -> its lines in reading order, with its tables.

Lengths are in points, and y grows downwards. The order in which a program wrote the words is a strong sign: of two
texts side by side, it writes columns one after the other, and the cells of rows in turn.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, pairwise
from math import inf
from operator import attrgetter
from statistics import median
from typing import TypeAlias, TypeVar

WIDE = 0.9
"""Heights of a letter: the smallest gap between two cells. Words are closer."""
SLACK = 3.0
"""Points that two drawn lines may be apart and still meet."""
MOST_EDGES, MOST_CELLS = 2_000, 20_000
"""Of one page, and of one table: a drawing has more."""
MOST_BANDS = 200
LONGEST_LABEL = 60
"""Characters of a cell that spans several rows and is repeated in each of them."""
_LEAST = 3  # lines of a column, and of a table without rules
_LABEL = 20  # characters of a line: the labels of a list have fewer
_ROW = re.compile(r"[\W\d]*[A-Za-z]?[\W\d]*$")  # a number, a letter, a symbol
_FULL_WIDTH = "⺀"  # the first letter of Chinese and Japanese, which have one width in all fonts
_FROM_RIGHT = re.compile("[\u0590-\u08ff]")  # Hebrew, Arabic, Syriac, Thaana
_ITEM = re.compile(r"(?:[•▪◦‣●○■□➢✓–—*·-]|\d{1,3}[.)]|[A-Za-z]\)|\([A-Za-z\d]{1,3}\))\s")

Rows: TypeAlias = "list[tuple[str, ...]]"
Font: TypeAlias = bytes | int | None
"""Its name, or a number if it has none."""
Strip: TypeAlias = tuple[float, float]
"""The left and the right end of a free strip."""
Index: TypeAlias = tuple[int, int]
"""The row and the column of a cell."""


@dataclass(slots=True)
class Box:
    """A rectangle; a drawn line is one without width or without height."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        """Points from its top to its bottom."""
        return self.bottom - self.top

    def is_beside(self, other: Box) -> bool:
        """Return whether two boxes are on one line."""
        common = min(self.bottom, other.bottom) - max(self.top, other.top)
        return common >= 0.5 * min(self.bottom - self.top, other.bottom - other.top)


@dataclass(slots=True)
class Word(Box):
    """A word, or all words of a cell."""

    order: int
    """The index of its first character in the order of writing."""
    text: str
    font: Font = None


@dataclass(slots=True)
class Run(Box):
    """Words of one line without a wide gap, or those of a table with rules."""

    words: list[Word]
    rows: Rows | None = None


@dataclass(slots=True)
class Line(Box):
    """A line of text with its cells, or a table."""

    cells: list[Word]
    text: str = ""
    size: float = 0.0
    """The height of most of its letters."""
    is_code: bool = False
    rows: Rows | None = None

    @property
    def is_row(self) -> bool:
        """Return whether its cells are further apart than sentences are."""
        return any(after.left - cell.right > 1.5 * self.size for cell, after in pairwise(self.cells))


_AnyBox = TypeVar("_AnyBox", bound=Box)


def lines(words: Sequence[Word], edges: Sequence[Box] = ()) -> list[list[Line]]:
    """Return the lines of a page by columns and bands in reading order, with its tables among them."""
    tables = list(_ruled(words, edges))
    taken = {word.order for table in tables for word in table.words}
    runs = tables + _runs(word for word in words if word.order not in taken)
    fixed = cache(partial(_fixed_fonts, words))
    return [_with_tables(_lines(region, fixed)) for region in _regions(runs)]


def _around(boxes: Collection[Box]) -> tuple[float, float, float, float]:
    """Return the sides of the box around others."""
    lefts, tops, rights, bottoms = zip(*((box.left, box.top, box.right, box.bottom) for box in boxes), strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _runs(words: Iterable[Word]) -> list[Run]:
    groups: list[list[Word]] = []
    for word in words:
        if groups and _continues(groups[-1][-1], word):
            groups[-1].append(word)
        else:
            groups.append([word])
    return [Run(*_around(group), group) for group in groups]


def _continues(last: Word, word: Word) -> bool:
    height = min(last.height, word.height)
    gap = max(word.left - last.right, last.left - word.right)  # some scripts run from the right
    return last.is_beside(word) and -0.4 * height < gap < WIDE * height


# -------------------------------------------------------------------------------------------------------- reading order


def _apart(boxes: Iterable[_AnyBox], begin: str, end: str, heights: float) -> list[list[_AnyBox]]:
    """Return boxes in groups with free space of so many `heights` of a box between; `begin` and `end` name sides."""
    groups: list[list[_AnyBox]] = []
    begins, ends, last = attrgetter(begin), attrgetter(end), -inf
    for box in sorted(boxes, key=begins):
        if begins(box) > last + heights * box.height:
            groups.append([])
        groups[-1].append(box)
        last = max(last, ends(box))
    return groups


def _regions(runs: list[Run]) -> Iterator[list[Run]]:
    """Yield the parts of a page in reading order: no part has columns to read one after the other."""
    if sides := _columns(runs):
        for side in sides:
            yield from _regions(side)
        return
    least = WIDE * median(run.height for run in runs) if runs else 0.0
    bands = _apart(runs, "top", "bottom", 0.2)
    free = [_free(band, least) for band in bands]
    plain: list[Run] = []
    at = 0
    while at < len(bands):
        end = _common(free, at, least) if len(bands) <= MOST_BANDS else at + 1
        if sides := _columns([run for band in bands[at:end] for run in band]):
            yield from [plain] if plain else []
            for side in sides:
                yield from _regions(side)
            plain, at = [], end
        else:
            plain += bands[at]
            at += 1
    yield from [plain] if plain else []


def _free(runs: Iterable[Run], least: float) -> list[Strip]:
    """Return the free strips from top to bottom of `least` points, also those left and right of everything."""
    sides = [_around(group) for group in _apart(runs, "left", "right", 0.0)]
    ends = [-inf, *(end for left, _, right, _ in sides for end in (left, right)), inf]
    return [(left, right) for left, right in zip(ends[::2], ends[1::2], strict=True) if right - left >= least]


def _common(free: Sequence[Sequence[Strip]], begin: int, least: float) -> int:
    """Return the end of the bands from `begin` on that share a free strip between texts, of `least` points."""
    strips = free[begin]
    for end in range(begin + 1, len(free)):
        strips = [
            (max(left, left2), min(right, right2))
            for left, right in strips
            for left2, right2 in free[end]
            if right - left2 > least and right2 - left > least
        ]
        if not any(left > -inf and right < inf for left, right in strips):
            return end
    return len(free)


def _columns(runs: list[Run]) -> tuple[list[Run], ...]:
    """Return the runs left and right of a strip between two columns; empty if there is none."""
    if len(runs) < 2 * _LEAST:
        return ()
    strips = _free(runs, WIDE * median(run.height for run in runs))
    between = [(left, right) for left, right in strips if left > -inf and right < inf]
    for left, right in sorted(between, key=lambda strip: strip[0] - strip[1])[:8]:
        sides = [run for run in runs if run.right <= left], [run for run in runs if run.left >= right]
        if _are_columns(*sides):
            return sides
    return ()


def _are_columns(left: list[Run], right: list[Run]) -> bool:
    """Return whether the text left of a strip is read before the text right of it, not row by row."""
    sides = [_rows(left), _rows(right)]
    fewest = min(map(len, sides))
    if fewest < _LEAST:
        return False
    order = sorted((run.words[0].order, side) for side, runs in enumerate((left, right)) for run in runs)
    changes = sum(side != side2 for (_, side), (_, side2) in pairwise(order))
    if changes > 1 + 0.25 * fewest:
        return False
    letters = [sum(len(word.text) + 1 for run in side for word in run.words) for side in (left, right)]
    lengths = [count / len(rows) for count, rows in zip(letters, sides, strict=True)]
    step = 0.25 * median(run.height for run in left)
    near = {round(row[0].bottom / step) + more for row in sides[0] for more in (-1, 0, 1)}
    aligned = sum(round(row[0].bottom / step) in near for row in sides[1])
    labels = [
        sum(_ROW.match(_text(run.words)) is not None for run in side) >= 0.7 * len(side) for side in (left, right)
    ]
    is_list = min(lengths) < _LABEL and max(lengths) >= 2 * min(lengths)
    return not (aligned >= 0.8 * fewest and (any(labels) or is_list))


# ---------------------------------------------------------------------------------------------------------------- lines


def _rows(runs: Iterable[Run]) -> list[list[Run]]:
    """Return runs by their lines, from top to bottom."""
    rows: list[list[Run]] = []
    widest: Run | None = None
    for run in sorted(runs, key=lambda run: run.top + run.bottom):
        if widest is None or not widest.is_beside(run) or run.rows or widest.rows:
            rows.append([])
            widest = run
        rows[-1].append(run)
        if run.right - run.left > widest.right - widest.left:
            widest = run
    return rows


def _lines(runs: list[Run], fixed: Callable[[], Collection[Font]]) -> list[Line]:
    """Return the lines of a region. `fixed` returns the fonts of code, whose lines keep their spaces."""
    margin = min(run.left for run in runs)
    found = []
    for row in _rows(runs):
        if row[0].rows:
            found.append(Line(*_around(row), [], rows=row[0].rows))
            continue
        cells: list[list[Word]] = []
        for run in sorted(row, key=attrgetter("left")):
            last = Box(*_around(cells[-1])) if cells else run
            if cells and run.left - last.right < WIDE * min(run.height, last.height):
                cells[-1] += run.words
            else:
                cells.append([*run.words])
        words = [word for cell in cells for word in cell]
        line = Line(*_around(row), [Word(*_around(cell), cell[0].order, _text(cell)) for cell in cells])
        if all(_FROM_RIGHT.search(cell.text) for cell in (line.cells[0], line.cells[-1])):
            line.cells.reverse()
        line.size = median(word.height for word in max(cells, key=lambda cell: cell[-1].right - cell[0].left))
        is_more = len(words) > 1 or (bool(found) and found[-1].is_code)  # a single word may end a paragraph
        line.is_code = is_more and _is_code(words, fixed)
        line.text = _spaced(words, margin) if line.is_code else " ".join(cell.text for cell in line.cells)
        found.append(line)
    return found


def _text(words: Sequence[Word]) -> str:
    """Return words in the order of reading: a script from right to left may be written from left to right."""
    is_turned = len(words) > 1 and words[0].left < words[-1].left and _FROM_RIGHT.search(words[0].text + words[-1].text)
    return " ".join(word.text for word in (reversed(words) if is_turned else words))


def _fixed_fonts(words: Iterable[Word]) -> set[Font]:
    """Return the fonts whose letters have one width, as in programs and printouts. A font may come in several sizes."""
    widths: dict[Font, list[float]] = defaultdict(list)
    distinct = {(word.font, word.text): word for word in words if len(word.text) > 1 and word.text[0].isalpha()}
    for word in distinct.values():
        width = (word.right - word.left) / len(word.text)
        widths[word.font].append(width if word.text[0] < _FULL_WIDTH else 0.0)
    usual = {font: median(found) for font, found in widths.items()}
    near = {font: sum(abs(one - usual[font]) < 0.015 * usual[font] for one in found) for font, found in widths.items()}
    return {font for font, count in near.items() if count >= 1.5 + 0.4 * len(widths[font])}  # of three words, all


def _is_code(words: Sequence[Word], fixed: Callable[[], Collection[Font]]) -> bool:
    """Return whether the letters of all words have one width, in fonts where that is no chance."""
    widths = [(word.right - word.left) / len(word.text) for word in words]
    return 0 < max(widths) <= 1.02 * min(widths) and all(word.font in fixed() for word in words)


def _spaced(words: Sequence[Word], margin: float) -> str:
    """Return words of one width with the spaces between them, from the left margin of their text on."""
    width = median((word.right - word.left) / len(word.text) for word in words)
    text = ""
    for word in sorted(words, key=attrgetter("left")):
        at = round((word.left - margin) / width)
        text += " " * max(min(at - len(text), 200), 1 if text else 0) + word.text
    return text


# --------------------------------------------------------------------------------------------------------------- tables


def _grid(
    words: Iterable[Word], lefts: Sequence[float], tops: Sequence[float], whole: Mapping[Index, Index]
) -> tuple[Rows, list[Word]]:
    """Return the rows of a table between these sides, and its words; empty without two rows and two columns.

    `whole` has the first cell of each that is part of a larger one. The text of a cell that spans several rows is
    repeated in each of them, if it is short.
    """
    inside: dict[Index, list[Word]] = defaultdict(list)
    for word in words:
        row = bisect_right(tops, (word.top + word.bottom) / 2) - 1
        column = bisect_right(lefts, min(word.left + word.height / 2, (word.left + word.right) / 2)) - 1
        if 0 <= row < len(tops) - 1 and 0 <= column < len(lefts) - 1:
            inside[whole.get((row, column), (row, column))].append(word)
    texts = {place: _of_cell(found) for place, found in inside.items()}
    rows, columns = sorted({row for row, _ in texts}), sorted({column for _, column in texts})
    if min(len(rows), len(columns)) < 2:
        return [], []

    def text(row: int, column: int) -> str:
        first = whole.get((row, column), (row, column))
        text = texts.get(first, "")
        return text if first == (row, column) or (first[1] == column and len(text) <= LONGEST_LABEL) else ""

    return [tuple(text(row, column) for column in columns) for row in rows], [*chain(*inside.values())]


def _of_cell(words: Sequence[Word]) -> str:
    rows = _rows(_runs(words))
    return joined(" ".join(_text(run.words) for run in sorted(row, key=attrgetter("left"))) for row in rows)


def _with_tables(region: list[Line]) -> list[Line]:
    """Return lines, those as one table whose cells make three columns or more."""
    found: list[Line] = []
    waiting: list[Line] = []
    for line in region:
        is_cells = len(line.cells) > 1 and not line.is_code
        is_more = bool(waiting) and len(line.cells) == 1 and line.left > waiting[-1].cells[0].right
        if is_cells or is_more:
            waiting.append(line)
        else:
            found += [*_table(waiting), line]
            waiting = []
    return found + _table(waiting)


def _table(waiting: list[Line]) -> list[Line]:
    """Return lines as one table if their cells make three columns or more."""
    cells = [cell for line in waiting for cell in line.cells]
    if len(waiting) < _LEAST or sum(len(cell.text) for cell in cells) > 40 * len(cells):
        return waiting
    height = median(line.size for line in waiting)
    lefts = [min(cell.left for cell in group) for group in _apart(cells, "left", "right", 0.3)]
    if len(lefts) < _LEAST or len(cells) < 0.5 * len(lefts) * len(waiting):
        return waiting
    tops: list[float] = []
    above: set[int] = set()
    low = -inf
    for line in waiting:
        columns = {bisect_right(lefts, cell.left) for cell in line.cells}
        if not (1 not in columns and line.top - low < 0.5 * height and columns <= above):  # else it goes on
            tops.append(line.top)
            above = set()
        above |= columns
        low = line.bottom
    rows, _ = _grid(cells, [*lefts, inf], [*tops, inf], {})
    return [Line(*_around(waiting), [], size=height, rows=rows)] if rows else waiting


def _ruled(words: Sequence[Word], edges: Sequence[Box]) -> Iterator[Run]:
    """Yield the tables between drawn lines."""
    for mesh in _meshes(edges):
        upright, across = [edge for edge in mesh if edge.height], [edge for edge in mesh if not edge.height]
        if min(len(upright), len(across)) < 2:
            continue
        left, top, right, bottom = box = _around(mesh)  # many tables have no line at their sides
        lefts = _merged([left, right, *(edge.left for edge in upright)])
        tops = _merged([top, bottom, *(edge.top for edge in across)])
        if min(len(lefts), len(tops)) < 3 or len(lefts) * len(tops) > MOST_CELLS:
            continue
        rows, inside = _grid(words, lefts, tops, _whole(upright, across, lefts, tops))
        if rows:
            yield Run(*box, sorted(inside, key=attrgetter("order")), rows)


def _meshes(edges: Sequence[Box]) -> Iterator[list[Box]]:
    """Yield the drawn lines that cross or meet one another, directly or by others."""
    waiting = list(edges) if len(edges) <= MOST_EDGES else []
    while waiting:
        mesh = [waiting.pop(0)]
        for one in mesh:  # it grows
            left, top, right, bottom = one.left - SLACK, one.top - SLACK, one.right + SLACK, one.bottom + SLACK
            is_upright, near, waiting = one.height > 0, waiting, []
            for edge in near:
                meets = edge.left <= right and left <= edge.right and edge.top <= bottom and top <= edge.bottom
                (mesh if meets and (edge.height > 0) != is_upright else waiting).append(edge)
        yield mesh


def _whole(upright: list[Box], across: list[Box], lefts: Sequence[float], tops: Sequence[float]) -> dict[Index, Index]:
    """Return for each cell the first cell that no line separates from it."""
    walls = [[edge for edge in upright if abs(edge.left - at) <= SLACK] for at in lefts]
    floors = [[edge for edge in across if abs(edge.top - at) <= SLACK] for at in tops]
    whole: dict[Index, Index] = {}
    for row, (top, bottom) in enumerate(pairwise(tops)):
        for column, (left, right) in enumerate(pairwise(lefts)):
            place = row, column
            if column and not any(edge.top <= (top + bottom) / 2 <= edge.bottom for edge in walls[column]):
                place = whole[row, column - 1]
            elif row and not any(edge.left <= (left + right) / 2 <= edge.right for edge in floors[row]):
                place = whole[row - 1, column]
            whole[row, column] = place
    return whole


def _merged(numbers: Iterable[float]) -> list[float]:
    """Return numbers in order, without those within `SLACK` of the one before."""
    return [number for before, number in pairwise([-inf, *sorted(numbers)]) if number - before > SLACK]


# ----------------------------------------------------------------------------------------------------------- paragraphs


def joined(texts: Iterable[str], known: Collection[str] | None = None) -> str:
    """Return lines as one text, with the words joined that a hyphen divides between lines.

    `known`, the other words of the document, case-folded, decides between `well-known` and `wellknown`.

    >>> joined(["the com-", "puter", "of Smith-", "Jones"])
    'the computer of Smith-Jones'
    """
    whole = ""
    for text in texts:
        if (parted := _PARTED.search(whole)) is None or (more := _WORD.match(text)) is None:
            whole = f"{whole} {text}" if whole and text and not _is_solid(whole[-1], text[0]) else whole + text
            continue
        is_hyphen = not more[0][0].islower() and not (parted[1] + more[0]).isupper()
        hyphened, plain = (parted[0] + more[0]).casefold(), (parted[1] + more[0]).casefold()
        if known is not None and (hyphened in known) != (plain in known):
            is_hyphen = hyphened in known
        whole = whole + text if is_hyphen else whole[:-1] + text
    return whole


_PARTED = re.compile(r"(\w+)[-­‐]$")
_WORD = re.compile(r"[^\W_]+")


def _is_solid(last: str, first: str) -> bool:
    """Return whether a line ends and the next begins in a script without spaces."""
    return min(last, first) >= _FULL_WIDTH and max(last, first) < "가" and last.isalpha() and first.isalpha()


def paragraphs(region: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield the lines of a region by paragraphs."""
    usual = _usual(region, is_code=False), _usual(region, is_code=True)
    right = max((line.right for line in region), default=0.0)
    paragraph: list[Line] = []
    for at, line in enumerate(region):
        after = region[at + 1] if at + 1 < len(region) else None
        if paragraph and _begins(paragraph, line, after, usual[line.is_code], right):
            yield paragraph
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield paragraph


def _usual(region: Sequence[Line], *, is_code: bool) -> float:
    """Return the usual distance of one line of a paragraph, or of code, from the next."""
    pairs = [
        (line, below.top - line.top) for line, below in pairwise(region) if line.is_code == is_code == below.is_code
    ]
    near = [step for line, step in pairs if 0.4 * line.size < step < 1.6 * line.size]
    if not near or len(near) < 0.2 * len(pairs):
        near = [step for line, step in pairs if 0 < step < 2.6 * line.size]  # lines of double height
    return median(near) if near else 0.0


def _begins(paragraph: Sequence[Line], line: Line, after: Line | None, usual: float, right: float) -> bool:
    """Return whether a line begins a new paragraph after the lines of one."""
    last, size = paragraph[-1], line.size
    step = line.top - last.top
    if line.is_code and last.is_code:
        return step > 3 * usual or step < 0
    if line.is_code != last.is_code or not 0 <= step <= 1.22 * usual + 0.5 or abs(size - last.size) > 0.2 * size:
        return True
    if _ITEM.match(line.text) or line.is_row or (last.is_row and line.left <= last.left + size):
        return True
    if paragraph[0].is_row and line.left > paragraph[0].cells[1].left - size:  # the text of its column continues
        return False
    if (
        (is_short := last.right < right - 0.25 * (right - last.left))
        and last.text[-1:] in ".:;!?"
        and line.text[0].isupper()
    ):
        return True
    indent = line.left - last.left
    if indent > 0.6 * size:
        is_back = after is not None and abs(after.left - last.left) < 0.5 * size < line.left - after.left
        return is_back and not _ITEM.match(paragraph[0].text) and (len(paragraph) > 1 or not is_short)
    return indent < -0.6 * size and len(paragraph) > 1
