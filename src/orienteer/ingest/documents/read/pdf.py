"""PDF: the text of each page by PDFium, in reading order, with its tables, headings, form fields and comments.

It runs in a process that may read nothing and that a page may cost (`conversion_worker`).
"""

from __future__ import annotations

import math
import re
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from ctypes import c_double, c_float, c_ushort, cast, create_string_buffer
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from orienteer.errors import BadInput
from orienteer.ingest.documents.read.archive import ENCRYPTED
from orienteer.ingest.documents.read.blocks import Page
from orienteer.ingest.documents.read.page_layout import Edge, Word, lines
from orienteer.ingest.documents.read.page_text import Entry, PageLines, blocks, largest_line
from orienteer.ingest.documents.read.titles import cleaned, is_generic

MOST_CHARACTERS = 1 << 26
"""Of one file."""
_MOST_ENTRIES, _MOST_REMARKS, _MOST_SEGMENTS, _MOST_DEPTH = 50_000, 10_000, 50_000, 8
_SHORTEST = 3.0  # points of a drawn line that may belong to a table
_STRAIGHT = 0.6
_WORD = re.compile("[^\\s\\x00-\\x1f\u200b\ufffe]+[\\x02\ufffe]?")
"""PDFium writes a hyphen at the end of a line as U+0002 and the next line right after it."""
_UNKNOWN = re.compile("[\\x00\ufffd\ue000-\uf8ff]")
_SCALAR = 0x110000
_LONG = 9  # letters of a word that may be two

Raw = Any  # handles of PDFium: its binding has no types
Matrix = tuple[float, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the reading of a file may take, and what of it is left out."""

    seconds: float
    """Processor time of all pages; what was read until then is kept."""
    page_seconds: float = 20.0
    """Processor time of one page: the system ends the process then (`SIGPROF`)."""
    until: int | None = None
    """The last page that is read."""
    failed: Sequence[tuple[int, str]] = ()
    """Pages that ended the process before, and how."""


def read_pdf(data: bytes, bounds: Bounds, begin: Callable[[int], None]) -> Page:
    """Return the text of a PDF; its notes say what of it was not read. `begin` hears the number of each page.

    Raises `BadInput` for a file that is encrypted, broken or without text.
    """
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if pdfium.FPDF_GetLastError() in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
            raise BadInput(ENCRYPTED) from error
        raise BadInput(f"cannot be read ({str(error).removesuffix('.')}): save it again") from error
    with document:
        reading = _Reading(document, bounds)
        reading.read(begin)
        return reading.page()


class _Reading:
    """One file that is being read."""

    def __init__(self, document: Raw, bounds: Bounds) -> None:
        self._document, self._bounds = document, bounds
        with suppress(pypdfium2.PdfiumError):
            document.init_forms()
        self._count = len(document)
        self._pages: list[PageLines] = []
        self._pictures = self._unknown = 0
        self._notes: list[str] = []

    def read(self, begin: Callable[[int], None]) -> None:
        """Read page by page, as long as the bounds allow."""
        until = min(self._count, self._bounds.until or self._count)
        failed = dict(self._bounds.failed)
        left = MOST_CHARACTERS
        began = time.process_time()
        why = "the next ones ended the process that reads it"
        number = 0
        for number in range(1, until + 1):
            if number in failed:
                self._notes.append(f"page {number} was not read: {failed[number]}")
                continue
            begin(number)
            _allow(self._bounds.page_seconds)
            try:
                page = self._page(number)
            except Exception as error:  # noqa: BLE001  # a broken page costs itself
                reason = " ".join(str(error).split())[:100]
                self._notes.append(f"page {number} was not read: {reason or type(error).__name__}")
                continue
            finally:
                _allow(0.0)
            self._pages.append(page)
            left -= sum(len(line.text) + 100 for line in page.lines)
            if left < 0:
                why = "the others hold too much text"
                break
            if time.process_time() - began >= self._bounds.seconds:
                why = f"the others take more than seconds = {self._bounds.seconds:g} of processor time"
                break
        if number < self._count:
            self._notes.insert(0, f"pages 1 to {number} of {self._count}: {why}")

    def page(self) -> Page:
        """Return what was read. Raises `BadInput` if that is nothing."""
        named = cleaned(self._document.get_metadata_value("Title") or "")
        title = "" if is_generic(named) else named
        if not title and self._pages and self._pages[0].number == 1:
            title = largest_line(self._pages[0])
        page = Page(title)
        for block in blocks(self._pages, list(_outline(self._document)), title):
            page.blocks.append(block)
        if not page.blocks:
            raise BadInput(self._notes[0] if self._notes else "no text: it holds pictures alone, as a scan does")
        page.lift_title()
        if self._pictures:
            self._notes.append(f"{self._pictures} of {self._count} pages hold pictures alone")
        if self._unknown:
            self._notes.append(f"{self._unknown} of {self._count} pages have letters whose meaning the file keeps")
        if attached := self._document.count_attachments():
            self._notes.append(f"{attached} files attached to it were not read")
        page.notes = self._notes
        return page

    def _page(self, number: int) -> PageLines:
        page = self._document[number - 1]
        try:
            text = page.get_textpage()
            try:
                letters, groups = _words(text.raw)
            finally:
                text.close()
            main = max(groups, key=lambda angle: len(groups[angle]) * (2 if angle == 0 else 1), default=0)
            edges = list(_edges(page.raw, main)) if main % 90 == 0 else []
            regions = lines(groups.pop(main, []), edges)
            turned = [region for angle in sorted(groups) for region in lines(groups[angle])]
            remarks = list(_remarks(page.raw, self._document.formenv))
            if not any(regions) and not remarks and _has_picture(page.raw):
                self._pictures += 1
            if len(_UNKNOWN.findall(letters)) > 0.3 * max(10, len(letters)):
                self._unknown += 1
            return PageLines(number, regions, turned, remarks)
        finally:
            page.close()


def _allow(seconds: float) -> None:
    """Have the system end this process after some processor time; 0 is as long as it likes."""
    if hasattr(signal, "setitimer"):
        with suppress(OSError):
            signal.setitimer(signal.ITIMER_PROF, seconds)


# ---------------------------------------------------------------------------------------------------------------- words


def _words(text: Raw) -> tuple[str, dict[int, list[Word]]]:
    """Return the letters of a page, and its words by the angle that they are turned by, as if they were upright."""
    letters = _letters(text)
    groups: dict[int, list[Word]] = defaultdict(list)
    box = pdfium.FS_RECTF()
    spans = [found.span() for found in _WORD.finditer(letters)]
    if any(len(_parted(text, span, box)) > 1 for span in spans if span[1] - span[0] >= _LONG):
        spans = [part for span in spans for part in _parted(text, span, box)]
    end = 0  # of the word before
    for first, last in ((begin, end - 1) for begin, end in spans):
        turned = pdfium.FPDFText_GetCharAngle(text, first)
        angle = round(math.degrees(-turned)) % 360 if turned > 0 else 0
        angle = 90 * round(angle / 90) % 360 if abs(angle - 90 * round(angle / 90)) < 3 else angle
        word = letters[first : last + 1]
        word = word if word[-1] not in "\x02\ufffe" else f"{word[:-1]}-"
        left, bottom, right, top = _box(text, first, box)
        if last > first:
            left2, bottom2, right2, top2 = _box(text, last, box)
            left, right = (left, right2) if left <= left2 else (left2, right)
            bottom, top = min(bottom, bottom2), max(top, top2)
        if angle:
            corners = [_turned(x, y, angle) for x in (left, right) for y in (bottom, top)]
            (left, right), (top, bottom) = ((min(side), max(side)) for side in zip(*corners, strict=True))
        else:
            top, bottom = -top, -bottom
        words = groups[angle]
        if end and end + 1 == first and not angle and words and _is_one(text, words[-1], left, top, bottom, end, box):
            before = words.pop()
            word, left = before.text + word, before.left
            top, bottom = min(top, before.top), max(bottom, before.bottom)
        words.append(Word(word, left, top, right, bottom))
        end = last + 1
    return letters, groups


def _parted(text: Raw, span: tuple[int, int], box: Raw) -> list[tuple[int, int]]:
    """Return the parts of a word that stand apart: PDFium overlooks narrow spaces of some programs."""
    boxes = [_box(text, at, box) for at in range(*span)]
    gaps = [after[0] - before[2] for before, after in pairwise(boxes)]
    usual = median(gaps) if gaps else 0.0
    parts = [at for at, gap in enumerate(gaps, span[0] + 1) if gap - usual > 0.17 * (boxes[0][3] - boxes[0][1])]
    return list(pairwise([span[0], *parts, span[1]]))


def _letters(text: Raw) -> str:
    """Return the letters of a page, one for each that PDFium counts."""
    count = pdfium.FPDFText_CountChars(text)
    buffer = (c_ushort * (count + 1))()
    if pdfium.FPDFText_GetText(text, 0, count, buffer) == count + 1:
        letters = bytes(buffer)[:-2].decode("utf-16-le", "replace")
        if len(letters) == count:
            return letters
    codes = [pdfium.FPDFText_GetUnicode(text, at) for at in range(count)]
    return "".join([chr(code) if code < _SCALAR and not 0xD800 <= code < 0xE000 else "\ufffd" for code in codes])


def _is_one(text: Raw, before: Word, left: float, top: float, bottom: float, space: int, box: Raw) -> bool:
    """Return whether PDFium found a space within a word whose letters stand apart."""
    height, gap = bottom - top, left - before.right
    is_near = -0.5 * height < gap < 0.2 * height and min(bottom, before.bottom) - max(top, before.top) > 0.8 * height
    if not is_near or not pdfium.FPDFText_IsGenerated(text, space):
        return False
    within = _box(text, space - 1, box)[0] - _box(text, space - 2, box)[2] if len(before.text) > 1 else 0.0
    return gap < max(0.03 * height, within + 0.02 * height)


def _box(text: Raw, at: int, box: Raw) -> tuple[float, float, float, float]:
    """Return the box of a letter as its font draws any: left, bottom, right, top."""
    pdfium.FPDFText_GetLooseCharBox(text, at, box)
    if box.top - box.bottom < 0.1 or box.right - box.left > 50 * (box.top - box.bottom):  # the font does not say
        x, y = c_double(), c_double()
        pdfium.FPDFText_GetCharOrigin(text, at, x, y)
        size = pdfium.FPDFText_GetFontSize(text, at) or 1.0
        return x.value, y.value - 0.2 * size, max(box.right, x.value + 0.1 * size), y.value + 0.9 * size
    return box.left, box.bottom, box.right, box.top


def _turned(x: float, y: float, angle: int) -> tuple[float, float]:
    """Return a point as it is where text that was turned by an angle stands upright; y then grows downwards."""
    if not angle:
        return x, -y
    cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return x * cosine + y * sine, x * sine - y * cosine


# ------------------------------------------------------------------------------------------------------ lines, pictures


def _objects(page: Raw) -> Iterator[tuple[Raw, int, Matrix]]:
    """Yield what is drawn on a page, each with its kind and where its points come to stand."""
    waiting = [(page, pdfium.FPDFPage_CountObjects, pdfium.FPDFPage_GetObject, (1.0, 0.0, 0.0, 1.0, 0.0, 0.0), 0)]
    while waiting:
        parent, count, get, outer, depth = waiting.pop()
        for at in range(count(parent)):
            one = get(parent, at)
            kind = pdfium.FPDFPageObj_GetType(one)
            if kind in (pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_IMAGE):
                yield one, kind, _within(one, outer)
            elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth < _MOST_DEPTH:
                more = (pdfium.FPDFFormObj_CountObjects, pdfium.FPDFFormObj_GetObject)
                waiting.append((one, *more, _within(one, outer), depth + 1))


def _within(one: Raw, outer: Matrix) -> Matrix:
    own = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(one, own):
        return outer
    a, b, c, d, e, f = outer
    return (
        *(own.a * a + own.b * c, own.a * b + own.b * d, own.c * a + own.d * c, own.c * b + own.d * d),
        *(own.e * a + own.f * c + e, own.e * b + own.f * d + f),
    )


def _has_picture(page: Raw) -> bool:
    return any(kind == pdfium.FPDF_PAGEOBJ_IMAGE for _, kind, _ in _objects(page))


def _edges(page: Raw, angle: int) -> Iterator[Edge]:
    """Yield the straight lines of a page, and the sides of its boxes."""
    left = _MOST_SEGMENTS
    for path, kind, matrix in _objects(page):
        if kind != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        count = pdfium.FPDFPath_CountSegments(path)
        left -= count
        if left < 0:
            return
        if count > 1:
            yield from _sides(path, count, matrix, angle)


def _sides(path: Raw, count: int, matrix: Matrix, angle: int) -> Iterator[Edge]:
    a, b, c, d, e, f = matrix
    x, y = c_float(), c_float()
    start = last = (0.0, 0.0)
    for at in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(path, at)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        point = _turned(a * x.value + c * y.value + e, b * x.value + d * y.value + f, angle)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield from _edge(last, point)
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield from _edge(point, start)
        last = point


def _edge(begin: tuple[float, float], end: tuple[float, float]) -> Iterator[Edge]:
    (x, y), (x2, y2) = begin, end
    if abs(x - x2) < _STRAIGHT and abs(y - y2) > _SHORTEST:
        yield Edge(True, (x + x2) / 2, min(y, y2), max(y, y2))
    elif abs(y - y2) < _STRAIGHT and abs(x - x2) > _SHORTEST:
        yield Edge(False, (y + y2) / 2, min(x, x2), max(x, x2))


# --------------------------------------------------------------------------------------------------- forms and comments


def _remarks(page: Raw, forms: Raw) -> Iterator[str]:
    """Yield the values of the form fields on a page, each behind its name, and the comments."""
    handle = getattr(forms, "raw", None)
    for at in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MOST_REMARKS)):
        note = pdfium.FPDFPage_GetAnnot(page, at)
        kind = pdfium.FPDFAnnot_GetSubtype(note)
        if kind == pdfium.FPDF_ANNOT_WIDGET and handle is not None:
            value = _value(handle, note)
            name = _said(pdfium.FPDFAnnot_GetFormFieldAlternateName, handle, note)
            name = name or _said(pdfium.FPDFAnnot_GetFormFieldName, handle, note)
            if value:
                yield f"{name}: {value}" if name else value
        elif kind not in _SILENT and (comment := _said(pdfium.FPDFAnnot_GetStringValue, note, b"Contents")):
            yield comment
        pdfium.FPDFPage_CloseAnnot(note)


_SILENT = (pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP)
_BUTTONS = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)


def _value(handle: Raw, note: Raw) -> str:
    kind = pdfium.FPDFAnnot_GetFormFieldType(handle, note)
    if kind == pdfium.FPDF_FORMFIELD_PUSHBUTTON or (kind in _BUTTONS and not pdfium.FPDFAnnot_IsChecked(handle, note)):
        return ""
    value = _said(pdfium.FPDFAnnot_GetFormFieldValue, handle, note)
    if value or kind != pdfium.FPDF_FORMFIELD_LISTBOX:
        return value
    count = min(pdfium.FPDFAnnot_GetOptionCount(handle, note), _MOST_REMARKS)
    return ", ".join(_said(pdfium.FPDFAnnot_GetOptionLabel, handle, note, at) for at in range(count))


def _said(get: Callable[..., int], *arguments: Raw) -> str:
    """Return a text that PDFium writes as UTF-16 into a buffer, in one line."""
    size = get(*arguments, None, 0)
    buffer = create_string_buffer(size + 2)
    get(*arguments, cast(buffer, get.argtypes[-2]) if hasattr(get, "argtypes") else buffer, size)
    return " ".join(buffer.raw[:size].decode("utf-16-le", "replace").rstrip("\0").split())


# -------------------------------------------------------------------------------------------------------------- outline


def _outline(document: Raw) -> Iterator[Entry]:
    """Yield the entries of the outline that lead to a page."""
    for at, mark in enumerate(document.get_toc()):
        if at == _MOST_ENTRIES:
            return
        title = " ".join(mark.get_title().split())
        place = mark.get_dest()
        page = place.get_index() if place is not None else None
        if page is None or not any(map(str.isalnum, title)) or _OF_A_PAGE.fullmatch(title):
            continue
        view, points = place.get_view()
        tops = {pdfium.PDFDEST_VIEW_XYZ: 1, pdfium.PDFDEST_VIEW_FITH: 0, pdfium.PDFDEST_VIEW_FITBH: 0}
        top = points[tops[view]] if view in tops and len(points) > tops[view] else 0.0
        yield Entry(mark.level, cleaned(title), page + 1, -top if top else None)


_OF_A_PAGE = re.compile(r"(?:page|slide|seite|folie)?\s*\d+", re.IGNORECASE)
