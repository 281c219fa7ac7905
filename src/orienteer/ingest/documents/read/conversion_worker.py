"""Other programs' files -> blocks as JSON, in a process of its own.

A PDF or an archive from somebody else may take all memory, all time, or the process with it, or use a fault of a parser
to do as its author likes. So the process loads the libraries of one kind of file, then gives up what it can: files but
these libraries, every byte written, the network, other processes (`sandbox.confining`). Only then do files come, as
bytes: it never opens one. Whatever the libraries print goes nowhere. `converter` starts it, waits, and ends it.

Its arguments are the kind of file and the number of the pipe that ends with its parent. It says {"ready"}, what holds
it, or {"extra"}, what is to be installed. A request is two messages or more: the suffix, the bytes in parts, an empty
one. The answer is one: {"title", "blocks"} or {"error"}.
"""

from __future__ import annotations

import json
import os
import re
import sys
import sysconfig
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, NamedTuple

from orienteer.errors import BadInput
from orienteer.ingest.documents.read.archive import ENCRYPTED, check_archive
from orienteer.ingest.documents.read.blocks import Block, Grid, Page, Place, Prose
from orienteer.ingest.documents.read.markdown import read_markdown
from orienteer.ingest.documents.read.markup import tags_of
from orienteer.ingest.documents.read.titles import cleaned, is_generic, titled
from orienteer.ingest.documents.read.webpage import MOST_COLUMNS
from orienteer.sandbox import confinement, frames, readable_files

MOST_CHARACTERS = 128 << 20
"""Characters that one file may give: its text, and some more for every block, row and cell."""
LONGEST = 2 * MOST_CHARACTERS
"""Bytes of an answer."""
MOST_MEMORY = 4 << 30
"""Bytes of memory that a conversion may take, if the system can enforce it."""
_SLIDE = re.compile(r"<!-- Slide number: (\d+) -->")
_BLOCK, _CELL = 100, 4  # characters that a block, and a cell or a row, take beside their text
_STYLES = "\n".join(
    [
        "p[style-name='Title'] => h1:fresh",
        *(f"p[style-name='heading {level}'] => h{level + 1}:fresh" for level in range(1, 6)),
    ]
)
"""What Word calls a title stands above its headings of level 1."""
_LEAST = 2

Read = dict[str, Any]  # Any: JSON


class OfficeFile(NamedTuple):
    """A file as it came: nothing can be opened by its name here."""

    suffix: str
    stream: BytesIO


def main() -> None:
    """Answer requests until there are no more."""
    requests, answers = frames.take_streams()
    kind, lifeline = sys.argv[1], int(sys.argv[2])
    confinement.end_with(lifeline)
    # markitdown guesses what a file is with magika, whose onnxruntime tells its makers of its use; here nobody guesses
    sys.modules["magika"] = ModuleType("magika")
    try:
        library = import_module(KINDS[kind].library)
    except ImportError:
        frames.send(answers, json.dumps({"extra": "docs"}).encode())
        return
    frames.send(answers, json.dumps({"ready": _shut(lifeline)}).encode())
    while (suffix := frames.receive(requests)) is not None:
        source = OfficeFile(suffix.decode(), _received(requests))
        frames.send(answers, _answer(source, KINDS[kind].read, library))


def _received(requests: BinaryIO) -> BytesIO:
    """Return the bytes of a file, which come in parts."""
    stream = BytesIO()
    while part := frames.receive(requests):
        stream.write(part)
    stream.seek(0)
    return stream


def _answer(source: OfficeFile, read: Callable[[OfficeFile, Any], Read], library: Any) -> bytes:  # Any: it has no types
    try:
        message = json.dumps(read(source, library), ensure_ascii=False).encode(errors="replace")
    except MemoryError:
        return _refusal("takes too much memory")
    except BadInput as error:
        return _refusal(str(error))
    except RecursionError:
        return _refusal("nests too deeply: save it again")
    except Exception as error:  # noqa: BLE001  # the libraries raise whatever a broken file makes them stumble over
        reason = " ".join(str(error).split())[:200]
        if _is_of_encryption(error):
            return _refusal(ENCRYPTED)
        kind = type(error).__name__
        named = reason if kind in _WRAPPERS and reason else f"{kind}{': ' if reason else ''}{reason}"
        return _refusal(f"cannot be read ({named}): save it again")
    return message if len(message) <= LONGEST else _refusal(f"gives more than {LONGEST >> 20} MB as text: split it")


_WRAPPERS = frozenset(["PdfminerException"])
"""Errors whose names say nothing: they hold another error of the same words."""


def _is_of_encryption(error: BaseException) -> bool:
    """Return whether a library stumbled over a password; pdfplumber wraps what its parser says of one."""
    errors = [error, *error.args, error.__cause__, error.__context__]
    return any("Password" in type(each).__name__ or "Encrypt" in type(each).__name__ for each in errors)


def _refusal(error: str) -> bytes:
    return json.dumps({"error": error}).encode()


def _shut(lifeline: int) -> list[str]:
    """Give up every right that reading a file does not need; return the restrictions that hold, by name."""
    library, folders = Path(os.__file__).parent, list(_folders())
    left = (*readable_files.of_python(), *(rule for folder in folders for rule in readable_files.of_package(folder)))
    confined = confinement.shut(memory=MOST_MEMORY, left=left, probes=[library, *folders])
    if confined["landlock"]:  # what is not loaded is not there, and what asks for it is told so
        sys.path[:] = [str(library), str(library / readable_files.COMPILED)]
    confined["seccomp"] = confinement.enforce(confinement.filter_program(opens=True, lifeline=lifeline))
    return [name for name, holds in confined.items() if holds]


def _folders() -> Iterator[Path]:
    """Yield the folders of all packages that are loaded: they load more of their own, and tables, when they need it."""
    library = Path(os.__file__).parent
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if "." in name or file is None or not hasattr(module, "__path__"):
            continue
        folder = Path(file).parent
        if folder.parent != library:
            yield folder
    for place in {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")}:
        yield from place.glob("*.libs")  # shared libraries of wheels, called as these are and not as the package


class _Blocks:
    """The blocks of one file, of a bounded size: a small file may say one text a million times."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._left = MOST_CHARACTERS

    def add(self, block: Block) -> None:
        """Take a block, whose rows may come in a stream. Raises `BadInput` if that makes too many."""
        self.spend((*block.place.headings, *block.place.anchors, *block.links), beside=_BLOCK)
        if isinstance(block, Grid):
            self.spend(block.header)
            rows = []
            for row in block.rows:
                self.spend(row)
                rows.append(row)
            block = replace(block, rows=rows)
        else:
            self.spend((block.text,))
        self._blocks.append(block)

    def spend(self, texts: Sequence[str], *, beside: int = _CELL) -> None:
        """Count texts, and what they take beside. Raises `BadInput` if they are too many."""
        self._left -= sum(map(len, texts)) + _CELL * len(texts) + beside
        if self._left < 0:
            raise BadInput(f"holds more than {MOST_CHARACTERS:,} characters of text: split it")

    def written(self, title: str, *, empty: str) -> Read:
        """Return the blocks as JSON. Raises `BadInput` if there are none."""
        if not self._blocks:
            raise BadInput(empty)
        return {"title": title, "blocks": [_block(block) for block in self._blocks]}


# ------------------------------------------------------------------------------------------------------ what it reads


def read_pdf(source: OfficeFile, library: Any) -> Read:  # Any: pdfplumber has no types
    """Return the paragraphs and the ruled tables of a PDF, each with its page."""
    blocks = _Blocks()
    largest = ""
    with library.open(source.stream, laparams={}) as pdf:
        named = cleaned(str((pdf.metadata or {}).get("Title") or ""))
        for number, page in enumerate(pdf.pages, 1):
            if number == 1:
                largest = _largest_line(page)
            for block in _page(page, number):
                blocks.add(block)
            page.close()
    title = named if not is_generic(named) else largest
    return blocks.written(title, empty="no text: it holds pictures alone, as a scan does")


def _largest_line(page: Any) -> str:  # Any: pdfplumber has no types
    """Return the first lines of the largest letters on a page, empty if most letters are as large."""
    letters = [letter for letter in page.chars[:MOST_LETTERS] if str(letter["text"]).strip()]
    sizes = sorted(float(letter["size"]) for letter in letters)
    if not sizes or sizes[-1] < LARGE * sizes[len(sizes) // 2]:
        return ""
    words = page.filter(lambda part: part["object_type"] != "char" or part["size"] >= 0.95 * sizes[-1]).extract_text()
    title = cleaned(words)
    return title if FEWEST_LETTERS <= len(title) <= LONGEST_TITLE and not is_generic(title) else ""


MOST_LETTERS = 20_000
"""Letters of a page among which the largest are looked for."""
LARGE = 1.2
"""Times that the letters of a title are larger than most others on its page."""
FEWEST_LETTERS, LONGEST_TITLE = 4, 200
"""Characters of a title: less is a number or an initial, more a poster."""


def _page(page: Any, number: int) -> Iterator[Block]:  # Any: pdfplumber has no types
    tables = [(table.bbox, rows) for table in page.find_tables() if (rows := _filled(table.extract()))]
    for box in page.objects.get("textboxhorizontal", []):
        middle = ((box["x0"] + box["x1"]) / 2, (box["top"] + box["bottom"]) / 2)
        text = " ".join(str(box.get("text", "")).split())
        if text and not any(
            left <= middle[0] <= right and up <= middle[1] <= low for (left, up, right, low), _ in tables
        ):
            yield Prose(text, Place(page=number))
    for _, (header, *rows) in tables:
        yield Grid(header, rows, Place(page=number))


def _filled(rows: Sequence[Sequence[str | None]]) -> list[tuple[str, ...]]:
    """Return the rows of a table that are not empty; no row at all if the table is too small to be one."""
    cells = [tuple(" ".join((cell or "").split()) for cell in row) for row in rows]
    filled_rows = [row for row in cells if any(row)]
    is_table = len(filled_rows) >= _LEAST and max(map(len, filled_rows), default=0) >= _LEAST
    return filled_rows if is_table else []


def read_office(source: OfficeFile, library: Any) -> Read:  # Any: markitdown has no types
    """Return the blocks of a Word or PowerPoint file, by way of Markdown."""
    check_archive(source.stream)
    kinds = {".docx": library.converters.DocxConverter, ".pptx": library.converters.PptxConverter}
    about = library.StreamInfo(extension=source.suffix)
    named = _core_title(source.stream)
    page = kinds[source.suffix]().convert(source.stream, about, style_map=_STYLES)
    return _paged(named, page.markdown)


def _core_title(stream: BytesIO) -> str:
    """Return the title among the properties of an Office file, empty for one that a program or a template put there."""
    with zipfile.ZipFile(stream) as archive:
        try:
            text = archive.read("docProps/core.xml").decode(errors="replace")
        except KeyError:
            text = ""
    stream.seek(0)
    title = next((tag.text for tag in tags_of(text) if tag.name == "title"), "")  # no entity is resolved
    return "" if is_generic(cleaned(title)) else cleaned(title)


def _paged(named: str, markdown: str) -> Read:
    """Return the blocks of Markdown; of slides each with its number, beneath a heading of its own."""
    parts = _SLIDE.split(markdown)
    document = read_markdown(parts[0])
    titles = [document.title]
    blocks = _Blocks()
    for block in document.blocks:
        blocks.add(_headed(block))
    for number, text in zip(parts[1::2], parts[2::2], strict=True):
        slide = read_markdown(text)
        title = cleaned(slide.title) or next((path[0] for path in _paths(slide) if path), "")
        heading = f"{title or 'Slide'} {number}" if title in ("", titles[-1]) else title
        for block in slide.blocks:
            rest = block.place.headings[1:] if block.place.headings[:1] == (title,) else block.place.headings
            blocks.add(_headed(replace(block, place=Place((heading, *rest), int(number), None, block.place.anchors))))
        titles.append(title)
    first = next((title for title in titles if not is_generic(title)), "")
    return blocks.written(first or named or titled(document).title, empty="no text")


def _paths(page: Page) -> Iterator[tuple[str, ...]]:
    return (block.place.headings for block in page.blocks)


def _headed(block: Block) -> Block:
    """Take the first row of a table for its header, if Word names none."""
    if isinstance(block, Prose) or any(block.header):
        return block
    header, *rows = block.rows or [block.header]
    return replace(block, header=header, rows=rows)


def read_workbook(source: OfficeFile, library: Any) -> Read:  # Any: openpyxl has no types
    """Return the sheets of a workbook, those without any cell left out."""
    check_archive(source.stream)
    book = library.load_workbook(source.stream, read_only=True, data_only=True)
    title = cleaned(str(book.properties.title or ""))
    grids, room = _Blocks(), _Blocks()
    for sheet in book.worksheets:
        rows = []
        for cells in sheet.iter_rows(values_only=True, max_col=MOST_COLUMNS):
            is_empty = cells.count(None) == len(cells)  # as most are where a sheet says that it is large
            if not is_empty and any(row := _cells(cells)):
                room.spend(row)
                rows.append(row)
        caption = ""
        while len(rows) > 2 and sum(map(bool, rows[0])) == 1 < sum(map(bool, rows[1])):  # a title above the header
            caption = " ".join(filter(None, (caption, *rows.pop(0))))
        width = max(map(len, rows), default=0)
        if rows:
            header = tuple(name or f"column_{at}" for at, name in enumerate(_padded(rows[0], width), 1))
            headings = () if len(book.worksheets) == 1 and is_generic(sheet.title) else (sheet.title,)
            grids.add(Grid(header, (_padded(row, width) for row in rows[1:]), Place(headings), caption))
    return grids.written("" if is_generic(title) else title, empty="no cell with anything in it")


def _cells(cells: Sequence[Any]) -> tuple[str, ...]:  # Any: what a cell can hold
    """Return cells as text, the empty ones at the end left out."""
    texts = ["" if cell is None else cell.isoformat() if hasattr(cell, "isoformat") else str(cell) for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    return tuple(texts)


def _padded(row: tuple[str, ...], width: int) -> tuple[str, ...]:
    return (*row, *[""] * (width - len(row)))


class FileKind(NamedTuple):
    """A kind of file that one process reads."""

    library: str
    read: Callable[[OfficeFile, Any], Read]  # Any: the library


KINDS = {
    "pdf": FileKind("pdfplumber", read_pdf),
    "office": FileKind("markitdown", read_office),
    "workbook": FileKind("openpyxl", read_workbook),
}
OF_SUFFIX = {".pdf": "pdf", ".docx": "office", ".pptx": "office", ".xlsx": "workbook", ".xlsm": "workbook"}


# ------------------------------------------------------------------------------------------------- blocks as JSON


def _block(block: Block) -> Read:
    place = block.place
    where = {"headings": place.headings, "page": place.page, "span": place.span, "anchors": place.anchors}
    if isinstance(block, Prose):
        return {"text": block.text, "code": block.is_code, "links": block.links, **where}
    return {"header": block.header, "rows": list(block.rows), "caption": block.caption, "links": block.links, **where}


if __name__ == "__main__":
    main()
