"""A document as a page shows it: its passages in order, from the graph, with their forms; pages of PDFs as pictures.

The words are those of the graph. Only a file that the graph was made from is opened, and only if its bytes are still
the same: for the forms of Markdown and HTML, and for pictures of pages.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING

from orienteer.errors import BadInput, MissingExtra, UsageError
from orienteer.graph.reserved import CELLS, DOCUMENT, PART_OF, PASSAGES, SEPARATOR
from orienteer.ingest.documents.read.forms import Fitted, Form, Kind, Style, fitted
from orienteer.records import Direction, JsonValue, Source
from orienteer.retrieval.graph_text import header_lines, source_of
from orienteer.serve.views.pages import node_named
from orienteer.serve.views.records import View

if TYPE_CHECKING:
    from orienteer.graph.arrays import GraphArrays
    from orienteer.graph.store import Graph
    from orienteer.ingest.documents.read.converter import Converter, PagePicture
    from orienteer.ingest.provenance import DocumentStamp

PARTS, MOST_HEADINGS, MOST_MARKED_UP = 20, 500, 1 << 20
"""Parts of a page by default; headings of an outline; bytes of a source whose forms are read."""
_MARKED_UP = ("markdown", "html")
PICTURE_SECONDS, _KEPT = 4.0, 24
"""Processor time of a picture; pictures that are kept."""


class TextSpan(View):
    """Some characters of a passage's text that stand out."""

    begin: int
    end: int
    style: Style
    address: str = ""
    """Of a link, as written."""


class TextBlock(View):
    """Some characters of a passage's text. The blocks of a passage hold all of its words, in order."""

    kind: Kind
    """`line` where the form is not known; each line of code is a block."""
    begin: int
    end: int
    level: int = 0
    """Of a heading from 1 in its document; of others the lists around them."""
    number: int | None = None
    """Of an item in a numbered list."""
    spans: tuple[TextSpan, ...] = ()
    rows: tuple[tuple[tuple[int, int], ...], ...] = ()
    """The cells of a table, row by row, as characters of the text; the first row is the header."""


class DocumentPart(View):
    """A passage of a document."""

    id: str
    type: str
    name: str
    text: str
    source: Source | None
    headings: tuple[str, ...] = ()
    """The headings that it stands beneath, outermost first."""
    blocks: tuple[TextBlock, ...] = ()


class OutlineEntry(View):
    """A heading of a document, or a page of one without headings."""

    text: str
    """Empty for a page."""
    level: int
    offset: int
    """The part that it stands above or in."""
    page: int | None


class DocumentPage(View):
    """Some passages of a document in their order, as the graph has them."""

    id: str
    name: str
    file: str | None
    """Relative to the folder that was read."""
    total: int
    """Parts in all."""
    offset: int
    """The position of the first one here."""
    place: int
    """The position of the passage that was asked for; 0 for a document."""
    parts: tuple[DocumentPart, ...]
    outline: tuple[OutlineEntry, ...] = ()
    """Of the whole document; only if no `offset` was given."""
    headings: int = 0
    """Entries of the whole outline, of which `outline` has the first."""
    has_pictures: bool = False
    """Whether `/api/page` draws its pages."""
    notes: tuple[str, ...] = ()


def document(graph: Graph, node: str, *, k: int = PARTS, offset: int | None = None) -> DocumentPage:
    """Return `k` passages of a node's document: from `offset` on, else around the node.

    A node that is neither a document nor a passage is a document of one passage. Raises `UnknownNode`, `AmbiguousNode`.
    """
    arrays = graph.arrays
    asked = arrays.row(node_named(graph, node).id)
    owners = _joined(arrays, asked, direction="out")
    owner = owners[0] if owners else asked
    # The properties of a passage take longer to read than all else: they are read once.
    facts = {row: arrays.properties.of(row) for row in _joined(arrays, owner, direction="in") or [owner]}
    rows = sorted(facts, key=lambda row: (order if isinstance(order := facts[row].get("order"), int) else 0, row))
    place = rows.index(asked) if asked in rows else 0
    start = max(0, min(place - k // 2, len(rows) - k)) if offset is None else offset
    whole = arrays.node_at(owner)
    file = whole.properties.get("file")
    known = _stamps(graph).get(file)
    stamp = _unchanged(known)
    # A graph of the files that are read so far has no stamps.
    forms, reason = _forms_or_reason(file if known is not None else None, stamp)
    parts = tuple(_parts(arrays, {row: facts[row] for row in rows}, forms))
    outline = tuple(_outline(parts)) or tuple(_pages(parts))
    note = None if known is None else _no_pictures(file, stamp)
    return DocumentPage(
        id=whole.id,
        name=whole.name,
        file=file if isinstance(file, str) else None,
        total=len(rows),
        offset=start,
        place=place,
        parts=tuple(
            part.model_copy(update={"source": source_of(graph, row)})
            for row, part in zip(rows[start : start + k], parts[start : start + k], strict=True)
        ),
        outline=outline[:MOST_HEADINGS] if offset is None else (),
        headings=len(outline),
        has_pictures=note == "",
        notes=tuple(filter(None, (note, reason))),
    )


def _joined(arrays: GraphArrays, row: int, *, direction: Direction) -> list[int]:
    """Return the row of a passage's document, or the rows of a document's passages."""
    import numpy as np

    here, there = (PASSAGES, {DOCUMENT}) if direction == "out" else ({DOCUMENT}, PASSAGES)
    if PART_OF not in arrays.types.edges or arrays.type_at(row) not in here:
        return []
    entries = arrays.entries(np.array([row], np.int32), edge_types=[PART_OF], direction=direction)
    rows: list[int] = entries.neighbor.tolist()
    return [other for other in rows if arrays.type_at(other) in there]


# ------------------------------------------------------------------------------------------------------------- forms


def _parts(
    arrays: GraphArrays, facts: Mapping[int, Mapping[str, JsonValue]], forms: Sequence[Form]
) -> Iterator[DocumentPart]:
    """Yield the passages of a document, of their sources the pages alone, with the forms of their lines."""
    texts = [arrays.texts[row] for row in facts]
    lines = [list(_lines(text, own.get("header"))) for text, own in zip(texts, facts.values(), strict=True)]
    fits = fitted((text[slice(*cell)] for text, own in zip(texts, lines, strict=True) for cell in chain(*own)), forms)
    for (row, about), text, own in zip(facts.items(), texts, lines, strict=True):
        heading, page = about.get("heading"), about.get("page")
        path = tuple(heading.split(SEPARATOR)) if isinstance(heading, str) else ()
        found = [[next(fits) for _ in line] for line in own]
        above = max(0, header_lines(about, text) - 1) if "header" in about else len(own)
        blocks = list(_prose(text, own[:above], found[:above], len(path)))
        if grid := tuple(map(tuple, own[above:])):
            cells = zip(chain(*grid), chain(*found[above:]), strict=True)
            spans = tuple(span for cell, fit in cells for span in _spans(text, cell, fit))
            blocks.append(TextBlock(kind="table", begin=grid[0][0][0], end=len(text), spans=spans, rows=grid))
        yield DocumentPart(
            id=arrays.ids[row],
            type=arrays.type_at(row),
            name=arrays.names[row],
            text=text,
            source=Source(page=page) if isinstance(page, int) else None,
            headings=path,
            blocks=tuple(blocks),
        )


def _lines(text: str, header: JsonValue) -> Iterator[list[tuple[int, int]]]:
    """Yield the lines of a passage, each as its cells in a table, else as one cell: characters of the text."""
    begin = 0
    for line in text.split("\n"):
        cells = []
        for cell in line.split(CELLS, len(header) - 1) if isinstance(header, list) and header else [line]:
            cells.append((begin, begin + len(cell)))
            begin += len(cell) + len(CELLS)
        begin += 1 - len(CELLS)
        yield cells


def _prose(
    text: str, lines: Sequence[Sequence[tuple[int, int]]], fits: Sequence[Sequence[Fitted]], depth: int
) -> Iterator[TextBlock]:
    """Yield the lines of a passage that stands beneath so many headings as blocks."""
    top = min((fit.form.level for fit, *_ in fits if fit.form.kind == "heading"), default=0)
    for line, (fit, *_) in zip(lines, fits, strict=True):
        begin, end, form = line[0][0], line[-1][1], fit.form
        is_cut = form.kind == "item" and fit.at > 0  # it goes on without its mark
        if text[begin:end].strip():
            yield TextBlock(
                kind="paragraph" if is_cut else form.kind,
                begin=begin,
                end=end,
                level=depth + 1 + form.level - top if form.kind == "heading" else form.level,
                number=None if is_cut else form.number,
                spans=tuple(_spans(text, (begin, end), fit)),
            )


def _spans(text: str, line: tuple[int, int], fit: Fitted) -> Iterator[TextSpan]:
    """Yield the runs of a form within a line, as characters of the text."""
    places = [at for at in range(*line) if not text[at].isspace()] if fit.form.runs else []
    for run in fit.form.runs:
        begin, end = max(0, run.begin - fit.at), min(len(places), run.end - fit.at)
        if begin < end:
            yield TextSpan(begin=places[begin], end=places[end - 1] + 1, style=run.style, address=run.address)


def _outline(parts: Sequence[DocumentPart]) -> Iterator[OutlineEntry]:
    """Yield the headings of a document, those above a passage and those in it."""
    before: tuple[str, ...] = ()
    for offset, part in enumerate(parts):
        above = enumerate(part.headings, 1)
        new = [(level, text) for level, text in above if part.headings[:level] != before[:level]]
        inside = ((block.level, part.text[block.begin : block.end]) for block in part.blocks if block.kind == "heading")
        for level, text in (*new, *inside):
            yield OutlineEntry(text=text, level=level, offset=offset, page=_page(part))
        before = part.headings


def _pages(parts: Sequence[DocumentPart]) -> Iterator[OutlineEntry]:
    for page, offsets in groupby(range(len(parts)), key=lambda offset: _page(parts[offset])):
        if page is not None:
            yield OutlineEntry(text="", level=1, offset=next(offsets), page=page)


def _page(part: DocumentPart) -> int | None:
    return part.source.page if part.source is not None else None


# ----------------------------------------------------------------------------------------------------------- sources


def _stamps(graph: Graph) -> Mapping[JsonValue, DocumentStamp]:
    """Return the stamps of the files that the graph was made from, by name: no path comes from a request."""
    from orienteer.ingest.provenance import DocumentStamp, is_chunk_graph, listed

    manifest = graph.arrays.manifest
    stamps = listed(manifest, "sources" if is_chunk_graph(manifest) else "beside", DocumentStamp)
    return {stamp.name: stamp for stamp in stamps}


def _unchanged(stamp: DocumentStamp | None) -> DocumentStamp | None:
    """Return the stamp of a file if that looks unchanged."""
    return stamp if stamp is not None and stamp.is_of(Path(stamp.path)) else None


def _content(stamp: DocumentStamp) -> bytes:
    """Return the bytes of a source. Raises `BadInput` if they are not those that the graph was made from, `OSError`."""
    content = Path(stamp.path).read_bytes()
    if hashlib.sha256(content).hexdigest() != stamp.sha256:
        raise BadInput(f"{stamp.name} has changed since it was read")
    return content


def _forms_or_reason(file: JsonValue, stamp: DocumentStamp | None) -> tuple[Sequence[Form], str]:
    """Return the forms of a document's source, and the reason if a source with forms is shown without them."""
    from orienteer.ingest.documents.read.kinds import kind_of

    reason = f"{file} is gone, or has changed since it was read"
    try:
        if stamp is not None:
            return _forms(stamp), ""
    except BadInput as error:
        reason = str(error)
    except OSError:
        pass  # it has gone this moment
    has_forms = isinstance(file, str) and kind_of(Path(file)) in _MARKED_UP
    return (), f"shown as plain text: {reason}" if has_forms else ""


@lru_cache(4)
def _forms(stamp: DocumentStamp) -> Sequence[Form]:
    """Return the forms of a source. Raises `BadInput` if it is too large or another by now, `OSError`."""
    from orienteer.ingest.documents.read.forms import forms_of
    from orienteer.ingest.documents.read.kinds import kind_of, kind_within
    from orienteer.ingest.documents.read.markdown import html_of
    from orienteer.ingest.formats.letters import read_text

    path = Path(stamp.path)
    kind = kind_within(path, kind_of(path) or "unknown")
    if kind not in _MARKED_UP:
        return ()
    if stamp.bytes > MOST_MARKED_UP:
        raise BadInput(f"{stamp.name} is larger than 1 MB")
    text = read_text(path, _content(stamp)).text
    return forms_of(html_of(text) if kind == "markdown" else text)


# --------------------------------------------------------------------------------------------------- pictures of pages


def _no_pictures(file: JsonValue, stamp: DocumentStamp | None) -> str | None:
    """Return why the pages of a PDF are not drawn; "" if they are, None for another document."""
    if not isinstance(file, str) or not file.casefold().endswith(".pdf"):
        return None
    if find_spec("pypdfium2") is None:
        return str(MissingExtra("a picture of the page", "docs"))
    return f"no picture of the page: {file} is gone, or has changed since it was read" if stamp is None else ""


class PagePictures:
    """Draws pages of PDFs in a process of its own, one at a time, and keeps the last ones. Safe to share."""

    def __init__(self) -> None:
        self._drawing = threading.Lock()
        self._converter: Converter | None = None
        self._drawn = lru_cache(_KEPT)(self._draw)

    def picture(self, graph: Graph, node: str, *, page: int | None, begin: int, end: int | None) -> PagePicture:
        """Return a page of a passage's PDF with the boxes of some words. Raises `UsageError`, `BadInput`."""
        arrays = graph.arrays
        row = arrays.row(node_named(graph, node).id)
        file, own = (arrays.properties.of(row).get(name) for name in ("file", "page"))
        stamp = _unchanged(_stamps(graph).get(file))
        if (note := _no_pictures(file, stamp)) or stamp is None:
            raise UsageError(note or f"{node} is no passage of a PDF")
        number = page or (own if isinstance(own, int) else 1)
        words = arrays.texts[row][begin:end] if number == own else ""
        with self._drawing:
            return self._drawn(stamp, number, words)

    def _draw(self, stamp: DocumentStamp, number: int, words: str) -> PagePicture:
        from orienteer.ingest.documents.read.converter import Converter

        self._converter = self._converter or Converter(seconds=PICTURE_SECONDS)
        try:
            return self._converter.picture(_content(stamp), number, words)
        except OSError as error:
            raise BadInput(f"{stamp.name} cannot be read: {error.strerror}") from error
