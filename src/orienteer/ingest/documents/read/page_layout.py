"""Where words stand on a page -> its lines in reading order, and its tables.

Lengths are points, and y grows downwards. The order in which a program wrote the words is a strong sign: two texts side
by side are columns if it wrote one after the other, and cells of rows if it went to and fro.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import NamedTuple

WIDE = 0.9
"""Heights of a letter that a gap between two cells has at the least; between words it is narrower."""
SLACK = 3.0
"""Points that two drawn lines may be apart and still meet."""
MOST_EDGES, MOST_CELLS = 4_000, 20_000
"""Of one page, and of one table: a drawing has more."""
MOST_BANDS = 200
LONGEST_LABEL = 60
"""Characters of a cell that several rows share, if it is said in each of them."""
_LEAST = 3  # lines of a column, and of a table without rules
_PROSE, _LABEL = 25, 20  # characters of a line: prose has more, the labels of a list fewer
_ROW = re.compile(r"[\W\d]*[A-Za-z]?[\W\d]*$")  # a number, a letter, a mark
_FROM_RIGHT = re.compile("[\u0590-\u08ff]")  # Hebrew, Arabic, Syriac, Thaana
_ITEM = re.compile(r"(?:[•▪◦‣●○■□➢✓–—*·-]|\d{1,3}[.)]|[A-Za-z]\)|\([A-Za-z\d]{1,3}\))\s")


class Word(NamedTuple):
    """A word and its box."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


class Edge(NamedTuple):
    """A drawn line, across or upright."""

    is_upright: bool
    at: float
    begin: float
    end: float


@dataclass(slots=True)
class Run:
    """Words of one line without a wide gap, or a ruled table."""

    words: list[Word]
    order: int
    left: float
    top: float
    right: float
    bottom: float
    rows: list[tuple[str, ...]] | None = None

    @property
    def height(self) -> float:
        """The height of its tallest letters."""
        return self.bottom - self.top

    @property
    def text(self) -> str:
        """Its words in the order in which they are read."""
        words = reversed(self.words) if _is_from_right(self.words) else self.words
        return " ".join(word.text for word in words)

    def add(self, word: Word) -> None:
        """Take a further word."""
        self.words.append(word)
        self.left, self.right = min(self.left, word.left), max(self.right, word.right)
        self.top, self.bottom = min(self.top, word.top), max(self.bottom, word.bottom)


class Cell(NamedTuple):
    """A part of a line, far from its other parts."""

    text: str
    left: float
    right: float


@dataclass(slots=True)
class Line:
    """A line of text with its cells, or a table."""

    cells: list[Cell]
    left: float
    top: float
    right: float
    bottom: float
    size: float
    """The height of most of its letters."""
    is_code: bool = False
    rows: list[tuple[str, ...]] | None = None
    text: str = field(init=False)

    def __post_init__(self) -> None:
        self.text = " ".join(cell.text for cell in self.cells)

    @property
    def is_row(self) -> bool:
        """Return whether its cells stand further apart than sentences do."""
        return any(after.left - cell.right > 1.5 * self.size for cell, after in pairwise(self.cells))


def lines(words: Sequence[Word], edges: Sequence[Edge] = ()) -> list[list[Line]]:
    """Return the lines of a page by columns and parts, in reading order, with its tables among them."""
    runs, taken = [], set()
    for rows, box, inside in ruled(words, edges):
        taken.update(inside)
        runs.append(Run([], min(inside), *box, rows))
    runs += _runs([(at, word) for at, word in enumerate(words) if at not in taken])
    regions = [_lines(region) for region in _regions(runs)]
    return [_with_tables(region) for region in _with_code(regions)]


def _runs(words: Iterable[tuple[int, Word]]) -> list[Run]:
    runs: list[Run] = []
    for order, word in words:
        if runs and _continues(runs[-1], word):
            runs[-1].add(word)
        else:
            runs.append(Run([word], order, *word[1:]))
    return runs


def _continues(run: Run, word: Word) -> bool:
    last = run.words[-1]
    height = min(last.bottom - last.top, word.bottom - word.top)
    gap = max(word.left - last.right, last.left - word.right)  # some scripts run from the right
    return _overlap(last.top, last.bottom, word.top, word.bottom) and -0.4 * height < gap < WIDE * height


def _overlap(top: float, bottom: float, top2: float, bottom2: float) -> bool:
    return min(bottom, bottom2) - max(top, top2) >= 0.5 * min(bottom - top, bottom2 - top2)


def _is_from_right(words: Sequence[Word]) -> bool:
    """Return whether words are of a script that runs from right to left, and stand from left to right here."""
    return len(words) > 1 and words[0].left < words[-1].left and _is_right_to_left(words[0].text + words[-1].text)


def _is_right_to_left(text: str) -> bool:
    return _FROM_RIGHT.search(text) is not None


# -------------------------------------------------------------------------------------------------------- reading order


def _regions(runs: list[Run]) -> Iterator[list[Run]]:
    """Yield the parts of a page in reading order: a part has no columns that are read one after the other."""
    if len(runs) < 2 * _LEAST:
        yield runs
        return
    if sides := _columns(runs):
        for side in sides:
            yield from _regions(side)
        return
    bands = _bands(runs)
    free, least = [_free(band) for band in bands], WIDE * median(run.height for run in runs)
    plain: list[Run] = []
    at = 0
    while at < len(bands):
        end = _common(free, at, least) if len(bands) <= MOST_BANDS else at + 1
        sides = _columns([run for band in bands[at:end] for run in band]) if len(bands) > 1 else ()
        if not sides:
            plain += bands[at]
            at += 1
            continue
        if plain:
            yield plain
            plain = []
        for side in sides:
            yield from _regions(side)
        at = end
    if plain:
        yield plain


def _bands(runs: list[Run]) -> list[list[Run]]:
    """Return runs parted where nothing stands across the whole width."""
    bands: list[list[Run]] = []
    low = 0.0
    for run in sorted(runs, key=lambda run: run.top):
        if not bands or run.top > low + 0.2 * run.height:
            bands.append([])
            low = run.bottom
        bands[-1].append(run)
        low = max(low, run.bottom)
    return bands


def _common(free: Sequence[Sequence[tuple[float, float]]], begin: int, least: float) -> int:
    """Return the end of the bands from `begin` on that one strip from top to bottom parts."""
    strips, end = free[begin], begin + 1
    while end < len(free):
        strips = [
            both
            for left, right in strips
            for left2, right2 in free[end]
            if (both := (max(left, left2), min(right, right2)))[1] - both[0] > least
        ]
        if not any(left > float("-inf") and right < float("inf") for left, right in strips):
            break
        end += 1
    return end


def _free(runs: Sequence[Run]) -> list[tuple[float, float]]:
    """Return the strips from top to bottom in which nothing stands, also left and right of everything."""
    free, right = [], float("-inf")
    for run in sorted(runs, key=lambda run: run.left):
        if run.left > right:
            free.append((right, run.left))
        right = max(right, run.right)
    return [*free, (right, float("inf"))]


def _columns(runs: list[Run]) -> tuple[list[Run], ...]:
    """Return the runs left and right of a strip that parts two columns; empty if there is none."""
    if len(runs) < 2 * _LEAST:
        return ()
    least = WIDE * median(run.height for run in runs)
    strips = sorted(_free(runs)[1:-1], key=lambda strip: strip[0] - strip[1])
    for left, right in strips[:8]:
        if right - left < least:
            break
        sides = [run for run in runs if run.right <= left], [run for run in runs if run.left >= right]
        if _are_columns(*sides):
            return sides
    return ()


def _are_columns(left: list[Run], right: list[Run]) -> bool:
    """Return whether what stands left of a strip is read before what stands right of it, not row by row."""
    if any(run.rows for run in (*left, *right)) and min(len(left), len(right)) == 1:
        return False
    sides = [_rows(left), _rows(right)]
    fewest = min(map(len, sides))
    if fewest < _LEAST:
        return False
    order = sorted([(run.order, False) for run in left] + [(run.order, True) for run in right])
    changes = sum(side != side2 for (_, side), (_, side2) in pairwise(order))
    letters = [sum(len(word.text) + 1 for run in side for word in run.words) for side in (left, right)]
    lengths = [count / len(rows) for count, rows in zip(letters, sides, strict=True)]
    tops = sorted(row[0].bottom for row in sides[0])
    height = median(run.height for run in left)
    aligned = sum(_is_near(tops, row[0].bottom, 0.25 * height) for row in sides[1])
    is_aligned = aligned >= 0.8 * fewest
    if changes > 1 + 0.25 * fewest:
        return min(lengths) >= _PROSE and aligned < 0.3 * fewest
    labels = [sum(_ROW.match(run.text) is not None for run in side) >= 0.7 * len(side) for side in (left, right)]
    is_list = min(lengths) < _LABEL and max(lengths) >= 2 * min(lengths)
    return not (is_aligned and (any(labels) or is_list))


def _is_near(sorted_numbers: Sequence[float], number: float, most: float) -> bool:
    at = bisect_left(sorted_numbers, number - most)
    return at < len(sorted_numbers) and sorted_numbers[at] <= number + most


def _rows(runs: Iterable[Run]) -> list[list[Run]]:
    """Return runs by the lines that they stand on, from top to bottom."""
    rows: list[list[Run]] = []
    widest: Run | None = None
    for run in sorted(runs, key=lambda run: run.top + run.bottom):
        if widest is None or not _overlap(widest.top, widest.bottom, run.top, run.bottom) or run.rows or widest.rows:
            rows.append([])
            widest = run
        rows[-1].append(run)
        if run.right - run.left > widest.right - widest.left:
            widest = run
    return rows


def _lines(runs: list[Run]) -> list[tuple[Line, list[Run]]]:
    """Return runs as lines, each with its cells and the words of each."""
    found = []
    for row in _rows(runs):
        row.sort(key=lambda run: run.left)
        cells = [row[0]]
        for run in row[1:]:
            if run.left - cells[-1].right < WIDE * min(run.height, cells[-1].height):
                for word in run.words:
                    cells[-1].add(word)
            else:
                cells.append(run)
        parts = [Cell(cell.text, cell.left, cell.right) for cell in cells]
        if _is_right_to_left(parts[0].text) and _is_right_to_left(parts[-1].text):
            parts.reverse()
        largest = max(cells, key=lambda cell: cell.right - cell.left)
        box = min(run.left for run in row), min(run.top for run in row), max(run.right for run in row)
        bottom, rows = max(run.bottom for run in row), row[0].rows
        size = median(word.bottom - word.top for word in largest.words) if largest.words else 0.0
        found.append((Line(parts, *box, bottom, size, rows=rows), cells))
    return found


# ----------------------------------------------------------------------------------------------------------------- code


def _with_code(regions: list[list[tuple[Line, list[Run]]]]) -> list[list[Line]]:
    """Mark the lines whose letters are all of one width, as programs and printouts have; they keep their spaces."""
    widths: Counter[float] = Counter()
    for region in regions:
        for _, cells in region:
            parts = [word for cell in cells for word in cell.words]
            text = "".join(word.text for word in parts)  # digits are of one width in most fonts
            if len(parts) > 1 and len(text) > 7 and any(map(str.isalpha, text)) and (width := _width(parts)):
                widths[round(width, 1)] += 1
    known = {width for width, count in widths.items() if count > 1}
    for region in regions if known else ():
        left = min(line.left for line, _ in region)
        for line, cells in region:
            width = _width([word for cell in cells for word in cell.words])
            if width and any(abs(width - one) <= 0.06 for one in known):
                line.is_code = True
                line.text = _spaced(cells, left, width)
        _leave_single_words([line for line, _ in region])
    return [[line for line, _ in region] for region in regions]


def _leave_single_words(region: Sequence[Line]) -> None:
    """Take single words for code only beside more of it: the letters of one word may have one width by chance."""
    beside: set[int] = set()
    for ordered in (region, region[::-1]):
        is_beside = False
        for line in ordered:
            is_single = line.is_code and " " not in line.text.strip()
            is_beside = line.is_code and (is_beside or not is_single)
            beside.update([id(line)] if is_beside else [])
    for line in region:
        if line.is_code and id(line) not in beside:
            line.is_code, line.text = False, line.text.strip()


def _width(words: Sequence[Word]) -> float:
    """Return the width of a letter if all letters of some words have the same, else 0."""
    if not words:  # a table
        return 0.0
    widths = [(word.right - word.left) / len(word.text) for word in words]
    low, high = min(widths), max(widths)
    height = max(word.bottom - word.top for word in words)
    is_one = high - low <= 0.015 * high and 0.38 * height <= low <= 0.8 * height
    return low if is_one else 0.0


def _spaced(cells: Sequence[Run], left: float, width: float) -> str:
    text = ""
    for word in sorted((word for cell in cells for word in cell.words), key=lambda word: word.left):
        at = round((word.left - left) / width)
        text += " " * max(min(at - len(text), 200), 1 if text else 0) + word.text
    return text


# --------------------------------------------------------------------------------------------------------------- tables


def _with_tables(region: list[Line]) -> list[Line]:
    """Return lines, those put together whose cells stand in three columns or more."""
    found: list[Line] = []
    waiting: list[Line] = []
    for line in region:
        is_cells = len(line.cells) > 1 and not line.is_code
        is_more = bool(waiting) and len(line.cells) == 1 and line.left > waiting[-1].cells[0].right
        if not (is_cells or is_more):
            found += [*_table(waiting), line]
            waiting = []
        else:
            waiting.append(line)
    return found + _table(waiting)


def _table(waiting: list[Line]) -> list[Line]:
    """Return lines as one table if their cells stand in three columns or more."""
    cells = [cell for line in waiting for cell in line.cells]
    if len(waiting) < _LEAST or sum(len(cell.text) for cell in cells) > 40 * len(cells):
        return waiting
    height = median(line.size for line in waiting)
    begins, right = [], float("-inf")
    for cell in sorted(cells, key=lambda cell: cell.left):
        if cell.left > right + 0.3 * height:
            begins.append(cell.left)
        right = max(right, cell.right)
    if len(begins) < _LEAST or len(cells) < 0.5 * len(begins) * len(waiting):
        return waiting
    rows: list[list[str]] = []
    low = waiting[0].top
    for line in waiting:
        row = [""] * len(begins)
        for cell in line.cells:
            at = bisect_right(begins, cell.left) - 1
            row[at] = f"{row[at]} {cell.text}".strip()
        is_more = bool(rows) and not row[0] and line.top - low < 0.5 * height
        if is_more and all(above or not cell for above, cell in zip(rows[-1], row, strict=True)):
            rows[-1] = [joined([above, cell]) for above, cell in zip(rows[-1], row, strict=True)]
        else:
            rows.append(row)
        low = line.bottom
    if len(rows) < 2:
        return waiting
    box = min(line.left for line in waiting), waiting[0].top, max(line.right for line in waiting), waiting[-1].bottom
    return [Line([], *box, height, rows=[tuple(row) for row in rows])]


def ruled(
    words: Sequence[Word], edges: Sequence[Edge]
) -> Iterator[tuple[list[tuple[str, ...]], tuple[float, float, float, float], list[int]]]:
    """Yield the tables that drawn lines make: the rows, the box, and which of the words are in it.

    A cell that spans several rows is said in each of them, if it is short.
    """
    for upright, across in _meshes(edges):
        lefts, tops = _merged([edge.at for edge in upright]), _merged([edge.at for edge in across])
        for begin, end in ((edge.begin, edge.end) for edge in across):  # many tables have no line at their sides
            lefts = lefts if any(abs(begin - one) <= SLACK for one in lefts) or begin > lefts[0] else [begin, *lefts]
            lefts = lefts if any(abs(end - one) <= SLACK for one in lefts) or end < lefts[-1] else [*lefts, end]
        for begin, end in ((edge.begin, edge.end) for edge in upright):
            tops = tops if any(abs(begin - one) <= SLACK for one in tops) or begin > tops[0] else [begin, *tops]
            tops = tops if any(abs(end - one) <= SLACK for one in tops) or end < tops[-1] else [*tops, end]
        columns, rows = len(lefts) - 1, len(tops) - 1
        if columns < 2 or rows < 2 or columns * rows > MOST_CELLS:
            continue
        first = _spans(upright, across, lefts, tops)
        inside: dict[tuple[int, int], list[int]] = defaultdict(list)
        for at, word in enumerate(words):
            column = bisect_right(lefts, (word.left + word.right) / 2) - 1
            row = bisect_right(tops, (word.top + word.bottom) / 2) - 1
            if 0 <= column < columns and 0 <= row < rows:
                inside[first[row, column]].append(at)
        if len({row for row, _ in inside}) < 2 or len({column for _, column in inside}) < 2:
            continue
        texts = {place: _cell([words[at] for at in found]) for place, found in inside.items()}
        used = sorted({column for _, column in texts})
        grid = [
            tuple(_said(texts.get(first[row, column], ""), first[row, column], (row, column)) for column in used)
            for row in range(rows)
        ]
        own = {row for row, _ in texts}  # others only go on with what stands above
        kept = [row for at, row in enumerate(grid) if at in own and any(row)]
        yield kept, (lefts[0], tops[0], lefts[-1], tops[-1]), [at for found in inside.values() for at in found]


def _said(text: str, first: tuple[int, int], place: tuple[int, int]) -> str:
    """Return what a cell says that begins at `first` and goes on at `place`."""
    return text if first == place or (first[1] == place[1] and len(text) <= LONGEST_LABEL) else ""


def _cell(words: list[Word]) -> str:
    return joined([" ".join(run.text for run in sorted(row, key=_left)) for row in _rows(_runs(enumerate(words)))])


def _left(run: Run) -> float:
    return run.left


def _spans(
    upright: list[Edge], across: list[Edge], lefts: list[float], tops: list[float]
) -> dict[tuple[int, int], tuple[int, int]]:
    """Return for each cell the first one that no line parts from it."""
    walls = [_covers(upright, lefts), _covers(across, tops)]
    first: dict[tuple[int, int], tuple[int, int]] = {}
    for row, (top, bottom) in enumerate(pairwise(tops)):
        for column, (left, right) in enumerate(pairwise(lefts)):
            place = row, column
            if column and not _is_wall(walls[0][column], (top + bottom) / 2):
                place = first[row, column - 1]
            elif row and not _is_wall(walls[1][row], (left + right) / 2):
                place = first[row - 1, column]
            first[row, column] = place
    return first


def _covers(edges: list[Edge], places: list[float]) -> list[list[tuple[float, float]]]:
    covers: list[list[tuple[float, float]]] = [[] for _ in places]
    for edge in edges:
        at = min(range(len(places)), key=lambda at: abs(places[at] - edge.at))
        covers[at].append((edge.begin, edge.end))
    return covers


def _is_wall(covers: Iterable[tuple[float, float]], at: float) -> bool:
    return any(begin <= at <= end for begin, end in covers)


def _merged(places: Iterable[float]) -> list[float]:
    """Return places in order, those within `SLACK` as one."""
    found: list[float] = []
    for place in sorted(places):
        if not found or place - found[-1] > SLACK:
            found.append(place)
    return found


def _meshes(edges: Sequence[Edge]) -> Iterator[tuple[list[Edge], list[Edge]]]:
    """Yield the upright and the other edges that hang together, two of each at the least."""
    if len(edges) > MOST_EDGES:
        return
    upright = [edge for edge in edges if edge.is_upright]
    across = sorted((edge for edge in edges if not edge.is_upright), key=lambda edge: edge.at)
    places = [edge.at for edge in across]
    root = list(range(len(across)))

    def top(at: int) -> int:
        while root[at] != at:
            root[at] = at = root[root[at]]
        return at

    def meets(edge: Edge) -> list[int]:
        near = range(bisect_left(places, edge.begin - SLACK), bisect_right(places, edge.end + SLACK))
        return [at for at in near if across[at].begin - SLACK <= edge.at <= across[at].end + SLACK]

    met = [(edge, crossed[0]) for edge in upright if (crossed := meets(edge)) and _join(root, top, crossed)]
    meshes: dict[int, tuple[list[Edge], list[Edge]]] = defaultdict(lambda: ([], []))
    for edge, at in met:
        meshes[top(at)][0].append(edge)
    for at, edge in enumerate(across):
        if top(at) in meshes:
            meshes[top(at)][1].append(edge)
    yield from (mesh for mesh in meshes.values() if min(map(len, mesh)) > 1)


def _join(root: list[int], top: Callable[[int], int], crossed: Sequence[int]) -> bool:
    for at in crossed:
        root[top(at)] = top(crossed[0])
    return True


# ----------------------------------------------------------------------------------------------------------- paragraphs


def joined(texts: Iterable[str], *, known: Callable[[str], bool] | None = None) -> str:
    """Return lines as one text; a word parted by a hyphen is put together.

    `known` tells whether a word stands elsewhere in the document: it decides between `well-known` and `wellknown`.

    >>> joined(["the com-", "puter", "of Smith-", "Jones"])
    'the computer of Smith-Jones'
    """
    whole = ""
    for text in texts:
        if (parted := _PARTED.search(whole)) is None or (more := _WORD.match(text)) is None:
            whole = f"{whole} {text}" if whole and text and not _is_solid(whole[-1], text[0]) else whole + text
            continue
        is_hyphen = not more[0][0].islower() and not (parted[1] + more[0]).isupper()
        if known is not None and known(parted[0] + more[0]) != known(parted[1] + more[0]):
            is_hyphen = known(parted[0] + more[0])
        whole = whole + text if is_hyphen else whole[:-1] + text
    return whole


_PARTED = re.compile(r"(\w+)[-­‐]$")
_WORD = re.compile(r"[^\W_]+")


def _is_solid(last: str, first: str) -> bool:
    """Return whether a script without spaces goes on at a line's end."""
    return min(last, first) >= "⺀" and max(last, first) < "가" and last.isalpha() and first.isalpha()


def paragraphs(region: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield the lines of a part of a page by paragraphs."""
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
    """Return how far one line of a paragraph, or of code, is usually below the other."""
    pairs = [
        (line, below.top - line.top) for line, below in pairwise(region) if line.is_code == is_code == below.is_code
    ]
    near = [step for line, step in pairs if 0.4 * line.size < step < 1.6 * line.size]
    if not near or len(near) < 0.2 * len(pairs):
        near = [step for line, step in pairs if 0 < step < 2.6 * line.size]  # lines of double height
    return median(near) if near else 0.0


def _begins(paragraph: Sequence[Line], line: Line, after: Line | None, usual: float, right: float) -> bool:
    """Return whether a line begins a paragraph after others."""
    last, size = paragraph[-1], line.size
    step = line.top - last.top
    if line.is_code and last.is_code:
        return step > 3 * usual or step < 0
    if line.is_code != last.is_code or not 0 <= step <= 1.22 * usual + 0.5 or abs(size - last.size) > 0.2 * size:
        return True
    if _ITEM.match(line.text) or line.is_row or (last.is_row and line.left <= last.left + size):
        return True
    if paragraph[0].is_row and line.left > paragraph[0].cells[1].left - size:  # it goes on in its column
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
