"""PDF: the text of each page by PDFium in reading order, and its picture; in a confined process, which it may end."""

from __future__ import annotations

import json
import math
import re
import signal
import struct
import time
import unicodedata
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from ctypes import c_float, c_int, c_ushort, c_void_p, cast, create_string_buffer
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from orienteer.errors import BadInput
from orienteer.ingest.documents.read.archive import ENCRYPTED
from orienteer.ingest.documents.read.blocks import Page
from orienteer.ingest.documents.read.page_layout import Box, Word, lines
from orienteer.ingest.documents.read.page_text import Heading, PageLines, blocks, largest_line
from orienteer.ingest.documents.read.titles import cleaned, is_generic

MOST_CHARACTERS = 1 << 26
"""Of one file."""
_MOST_ENTRIES, _MOST_REMARKS, _MOST_SEGMENTS, _MOST_DEPTH = 50_000, 10_000, 50_000, 8
_HEADS = {"Author": "author", "CreationDate": "created", "ModDate": "modified"}
"""Metadata by the keys of a PDF."""
_DATE = re.compile(r"D:(\d{4})(\d\d)(\d\d).*")
_SHORTEST = 3.0  # points of a drawn line that may belong to a table
_STRAIGHT = 0.6
_WORD = re.compile("[^\\s\\x00-\\x1f\u200b\ufffe]+[\\x02\ufffe]?")
"""PDFium writes a hyphen at the end of a line as U+0002, and the next line directly after it."""
_UNKNOWN = re.compile("[\\x00\ufffd\ue000-\uf8ff]")
_SCALAR = 0x110000
_LONGEST_NAME = 100  # bytes of a font's name
_LONG = 9  # letters of a text that may be two words

Raw = Any  # handles of PDFium: its binding has no types
Sides = tuple[float, float, float, float]
"""Left, top, right, bottom; y grows downwards."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of reading a file, and the pages to skip."""

    seconds: float
    """Processor time of all pages; what was read until then is kept."""
    page_seconds: float = 20.0
    """Processor time of one page: the system then ends the process (`SIGPROF`)."""
    until: int | None = None
    """The last page to read."""
    failed: Sequence[tuple[int, str]] = ()
    """Pages that ended the process before, and how."""


def read_pdf(data: bytes, bounds: Bounds, begin: Callable[[int], None]) -> Page:
    """Return the text of a PDF, with notes on what was not read; `begin` gets each page's number. Raises `BadInput`."""
    with _opened(data) as document:
        pages, notes = _pages(document, bounds, begin)
        return _text(document, pages, notes)


def _opened(data: bytes) -> Raw:
    """Return a document with its forms. Raises `BadInput`."""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if pdfium.FPDF_GetLastError() in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
            raise BadInput(ENCRYPTED) from error
        raise BadInput(f"cannot be read ({str(error).removesuffix('.')}): save it again") from error
    with suppress(pypdfium2.PdfiumError):
        document.init_forms()
    return document


def _pages(document: Raw, bounds: Bounds, begin: Callable[[int], None]) -> tuple[list[PageLines], list[str]]:
    """Return the pages that the bounds allow, and notes on the others."""
    pages: list[PageLines] = []
    notes: list[str] = []
    failed = dict(bounds.failed)
    left = MOST_CHARACTERS
    began = time.process_time()
    why = "the next ones ended the process that reads it"
    number, count = 0, len(document)
    for number in range(1, min(count, bounds.until or count) + 1):
        if number not in failed:
            begin(number)
            _allow(bounds.page_seconds)
            try:
                pages.append(_page(document, number))
                left -= sum(len(line.text) + 100 for line in pages[-1].lines)
            except Exception as error:  # noqa: BLE001  # a broken page costs itself
                failed[number] = " ".join(str(error).split())[:100] or type(error).__name__
            finally:
                _allow(0.0)
        if number in failed:
            notes.append(f"page {number} was not read: {failed[number]}")
        elif left < 0:
            why = "the others hold too much text"
            break
        elif time.process_time() - began >= bounds.seconds:
            why = f"the others take more than seconds = {bounds.seconds:g} of processor time"
            break
    return pages, [f"pages 1 to {number} of {count}: {why}", *notes] if number < count else notes


def _text(document: Raw, pages: Sequence[PageLines], notes: list[str]) -> Page:
    """Return the text of some pages. Raises `BadInput` if there is none."""
    named = cleaned(document.get_metadata_value("Title") or "")
    title = "" if is_generic(named) else named
    if not title and pages and pages[0].number == 1:
        title = largest_line(pages[0])
    said = ((name, document.get_metadata_value(key)) for key, name in _HEADS.items())
    page = Page(title, heads={name: _DATE.sub(r"\1-\2-\3", cleaned(value)) for name, value in said if value})
    for block in blocks(pages, list(_outline(document)), title):
        page.blocks.append(block)
    if not page.blocks:
        raise BadInput(notes[0] if notes else "no text: it holds pictures alone, as a scan does")
    page.lift_title()
    counts = {
        "{} of {} pages hold pictures alone": sum(page.is_picture for page in pages),
        "{} of {} pages have letters whose meaning the file keeps": sum(page.is_unknown for page in pages),
        "{} files attached to it were not read": document.count_attachments(),
    }
    page.notes = notes + [note.format(count, len(document)) for note, count in counts.items() if count]
    return page


def _page(document: Raw, number: int) -> PageLines:
    page = document[number - 1]
    try:
        text = page.get_textpage()
        try:
            letters, groups = _words(text.raw)
        finally:
            text.close()
        main = max(groups, key=lambda angle: len(groups[angle]) * (2 if angle == 0 else 1), default=0)
        regions = lines(groups.pop(main, []), list(_edges(page, main)))
        turned = [region for angle in sorted(groups) for region in lines(groups[angle])]
        remarks = list(_remarks(page.raw, document.formenv))
        pictures = page.get_objects([pdfium.FPDF_PAGEOBJ_IMAGE], _MOST_DEPTH)
        is_picture = not any(regions) and not remarks and any(pictures)
        is_unknown = len(_UNKNOWN.findall(letters)) > 0.3 * max(10, len(letters))
        return PageLines(number, regions, turned, remarks, is_picture, is_unknown)
    finally:
        page.close()


def _allow(seconds: float) -> None:
    """Have the system end this process after some processor time; 0 is no limit."""
    if hasattr(signal, "setitimer"):
        with suppress(OSError):
            signal.setitimer(signal.ITIMER_PROF, seconds)


# ---------------------------------------------------------------------------------------------------------------- words


def _words(text: Raw) -> tuple[str, dict[int, list[Word]]]:
    """Return the letters of a page, and its words by their angle in degrees, in the coordinates of upright text."""
    letters = _letters(text)
    groups: dict[int, list[Word]] = defaultdict(list)
    box, name, flags = pdfium.FS_RECTF(), create_string_buffer(_LONGEST_NAME), c_int()
    spans = [found.span() for found in _WORD.finditer(letters)]
    if any(len(_parted(text, span, box)) > 1 for span in spans if span[1] - span[0] >= _LONG):
        spans = [part for span in spans for part in _parted(text, span, box)]
    before = -1  # the end of the word before
    for first, end in spans:
        turned = pdfium.FPDFText_GetCharAngle(text, first)
        angle = round(math.degrees(-turned)) % 360 if turned > 0 else 0
        word = letters[first:end]
        word = word if word[-1] not in "\x02\ufffe" else f"{word[:-1]}-"
        left, top, right, bottom = _box(text, first, box)
        if end - first > 1:
            left2, top2, right2, bottom2 = _box(text, end - 1, box)
            left, top, right, bottom = min(left, left2), min(top, top2), max(right, right2), max(bottom, bottom2)
        if angle:
            left, top, right, bottom = _upright(angle).on_rect(left, -bottom, right, -top)
        pdfium.FPDFText_GetFontInfo(text, first, name, _LONGEST_NAME, flags)
        font = (
            name.value or cast(pdfium.FPDFTextObj_GetFont(pdfium.FPDFText_GetTextObject(text, first)), c_void_p).value
        )
        words = groups[angle]
        words.append(Word(left, top, right, bottom, first, word, font))
        if before + 1 == first and not angle and len(words) > 1 and _is_one(text, words[-2], words[-1], before, box):
            begun, more = words[-2], words.pop()
            begun.top, begun.right, begun.bottom = min(begun.top, top), right, max(begun.bottom, bottom)
            begun.text += more.text
        before = end
    return letters, groups


def _parted(text: Raw, span: tuple[int, int], box: Raw) -> list[tuple[int, int]]:
    """Return the words of a text without spaces: PDFium overlooks narrow spaces of some programs."""
    boxes = [_box(text, at, box) for at in range(*span)]
    gaps = [after[0] - before[2] for before, after in pairwise(boxes)]
    usual = median(gaps) if gaps else 0.0
    parts = [at for at, gap in enumerate(gaps, span[0] + 1) if gap - usual > 0.17 * (boxes[0][3] - boxes[0][1])]
    return list(pairwise([span[0], *parts, span[1]]))


def _letters(text: Raw) -> str:
    """Return the letters of a page, one for each character that PDFium counts."""
    count = pdfium.FPDFText_CountChars(text)
    buffer = (c_ushort * (count + 1))()
    size = pdfium.FPDFText_GetText(text, 0, count, buffer)
    letters = bytes(buffer)[:-2].decode("utf-16-le", "replace")
    if size == count + 1 and len(letters) == count:
        return letters
    codes = [pdfium.FPDFText_GetUnicode(text, at) for at in range(count)]  # slower
    return "".join([chr(code) if code < _SCALAR and not 0xD800 <= code < 0xE000 else "\ufffd" for code in codes])


def _is_one(text: Raw, before: Word, word: Word, space: int, box: Raw) -> bool:
    """Return whether two words are one whose letters are apart, with a space that only PDFium found."""
    height, gap = word.height, word.left - before.right
    common = min(word.bottom, before.bottom) - max(word.top, before.top)
    if not (-0.5 * height < gap < 0.2 * height and common > 0.8 * height and pdfium.FPDFText_IsGenerated(text, space)):
        return False
    within = _box(text, space - 1, box)[0] - _box(text, space - 2, box)[2] if len(before.text) > 1 else 0.0
    return gap < max(0.03 * height, within + 0.02 * height)


def _box(text: Raw, at: int, box: Raw) -> Sides:
    """Return the box of a letter, as high as its font."""
    pdfium.FPDFText_GetLooseCharBox(text, at, box)
    has_height = box.top - box.bottom > 0.1  # else the font does not say
    top = box.top if has_height else box.bottom + (pdfium.FPDFText_GetFontSize(text, at) or 1.0)
    return box.left, -top, box.right, -box.bottom


def _upright(angle: int) -> Raw:
    """Return the matrix that makes text upright that is turned by `angle` degrees; y then grows downwards."""
    cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return pypdfium2.PdfMatrix(cosine, sine, sine, -cosine, 0, 0)


# ---------------------------------------------------------------------------------------------------------- drawn lines


def _edges(page: Raw, angle: int) -> Iterator[Box]:
    """Yield the straight lines of a page and the sides of its rectangles, as they are with text of `angle` upright."""
    left = _MOST_SEGMENTS
    x, y = c_float(), c_float()
    for path in page.get_objects([pdfium.FPDF_PAGEOBJ_PATH], _MOST_DEPTH):
        count = pdfium.FPDFPath_CountSegments(path)
        left -= count
        if left < 0:
            return
        matrix, within = path.get_matrix(), path.container
        while within is not None:
            matrix, within = matrix.multiply(within.get_matrix()), within.container
        matrix = matrix.multiply(_upright(angle))
        start = last = (0.0, 0.0)
        for at in range(count):
            segment = pdfium.FPDFPath_GetPathSegment(path, at)
            pdfium.FPDFPathSegment_GetPoint(segment, x, y)
            point = matrix.on_point(x.value, y.value)
            kind = pdfium.FPDFPathSegment_GetType(segment)
            if kind == pdfium.FPDF_SEGMENT_MOVETO:
                start = point
            elif kind == pdfium.FPDF_SEGMENT_LINETO:
                yield from _edge(last, point)
            if pdfium.FPDFPathSegment_GetClose(segment):
                yield from _edge(point, start)
            last = point


def _edge(begin: tuple[float, float], end: tuple[float, float]) -> Iterator[Box]:
    (left, right), (top, bottom) = sorted((begin[0], end[0])), sorted((begin[1], end[1]))
    if right - left < _STRAIGHT and bottom - top > _SHORTEST:
        yield Box((left + right) / 2, top, (left + right) / 2, bottom)
    elif bottom - top < _STRAIGHT and right - left > _SHORTEST:
        yield Box(left, (top + bottom) / 2, right, (top + bottom) / 2)


# --------------------------------------------------------------------------------------------------- forms and comments


def _remarks(page: Raw, forms: Raw) -> Iterator[str]:
    """Yield the values of the form fields on a page, each after its name, and the comments."""
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
    options = range(min(pdfium.FPDFAnnot_GetOptionCount(handle, note), _MOST_REMARKS))
    chosen = [at for at in options if pdfium.FPDFAnnot_IsOptionSelected(handle, note, at)]
    shown = options if kind == pdfium.FPDF_FORMFIELD_LISTBOX and not chosen else chosen
    labels = [_said(pdfium.FPDFAnnot_GetOptionLabel, handle, note, at) for at in shown]
    return ", ".join(labels) or _said(pdfium.FPDFAnnot_GetFormFieldValue, handle, note)


def _said(get: Callable[..., int], *arguments: Raw) -> str:
    """Return a text that PDFium writes as UTF-16 into a buffer, in one line."""
    size = get(*arguments, None, 0)
    buffer = create_string_buffer(size + 2)
    get(*arguments, cast(buffer, get.argtypes[-2]) if hasattr(get, "argtypes") else buffer, size)
    return " ".join(buffer.raw[:size].decode("utf-16-le", "replace").rstrip("\0").split())


# -------------------------------------------------------------------------------------------------------------- outline


def _outline(document: Raw) -> Iterator[Heading]:
    """Yield the entries of the outline that lead to a page, or that have such entries beneath them."""
    above: list[Heading] = []  # those that lead to none
    for at, mark in enumerate(document.get_toc()):
        if at == _MOST_ENTRIES:
            return
        title = " ".join(mark.get_title().split())
        place = mark.get_dest()
        page = place.get_index() if place is not None else None
        if not any(map(str.isalnum, title)):
            continue
        above = [entry for entry in above if entry.level < mark.level]
        if page is None:
            above.append(Heading(mark.level, cleaned(title), 0))
            continue
        view, points = place.get_view()
        tops = {pdfium.PDFDEST_VIEW_XYZ: 1, pdfium.PDFDEST_VIEW_FITH: 0, pdfium.PDFDEST_VIEW_FITBH: 0}
        top = points[tops[view]] if view in tops and len(points) > tops[view] else 0.0
        found = Heading(mark.level, cleaned(title), page + 1, -top if top else None)
        yield from (entry._replace(page=found.page, top=found.top) for entry in above)
        yield found
        above = []


# ------------------------------------------------------------------------------------------------------------- pictures

_WIDEST, _LARGEST = 1_400, 4.0  # pixels of a picture's longer side; pixels of a point
_MOST_BOXES = 200


def draw_page(data: bytes, *, number: int, words: str, seconds: float) -> list[bytes]:
    """Return the facts about a page, as JSON, and its picture, as PNG. Raises `BadInput`.

    The boxes are those of the lines of `words` that stand in its text, whatever spaces, marks and hyphens are between.
    """
    _allow(seconds)
    try:
        with _opened(data) as document:
            if not 1 <= number <= len(document):
                raise BadInput(f"there are {len(document)} pages")
            page = document[number - 1]
            scale = min(_WIDEST / max(1.0, *page.get_size()), _LARGEST)
            bitmap = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False)
            width, height = bitmap.width, bitmap.height
            boxes = [box for span in _found(page, words) for box in _boxes(page, span, width, height)]
            facts = {"pages": len(document), "boxes": boxes[:_MOST_BOXES]}
            pixels = memoryview(bitmap.buffer)
            rows = (b"\0" + pixels[at * bitmap.stride : at * bitmap.stride + 3 * width] for at in range(height))
            return [json.dumps(facts).encode(), _png(width, height, b"".join(rows))]
    finally:
        _allow(0.0)


def _png(width: int, height: int, rows: bytes) -> bytes:
    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack("!I", len(content)) + name + content + struct.pack("!I", zlib.crc32(name + content))

    head = chunk(b"IHDR", struct.pack("!IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows, 4)) + chunk(b"IEND", b"")


def _found(page: Raw, words: str) -> Iterator[tuple[int, int]]:
    """Yield the characters of a page in which some words stand: all of them in one place, else line by line."""
    text = page.get_textpage()
    letters = [(letter, at) for at, each in enumerate(_letters(text)) for letter in _plain(each)]
    written, begin = "".join(letter for letter, _ in letters), 0
    whole = _plain(words)
    for part in [whole] if whole in written else filter(None, map(_plain, words.split("\n"))):
        place = written.find(part, begin)
        place = place if place >= 0 else written.find(part)
        if part and place >= 0:
            begin = place + len(part)
            yield letters[place][1], letters[begin - 1][1] + 1


def _plain(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKC", text).casefold() if letter.isalnum())


def _boxes(page: Raw, span: tuple[int, int], width: int, height: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield the boxes of some characters, one a line, in the pixels of a picture."""
    text = page.get_textpage()
    x, y = c_int(), c_int()
    for at in range(min(pdfium.FPDFText_CountRects(text, span[0], span[1] - span[0]), _MOST_BOXES)):
        corners = []
        left, bottom, right, top = text.get_rect(at)
        for across, up in ((left, top), (right, bottom)):
            pdfium.FPDF_PageToDevice(page, 0, 0, width, height, 0, across, up, x, y)
            corners.append((x.value, y.value))
        (x1, y1), (x2, y2) = corners
        yield min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)
