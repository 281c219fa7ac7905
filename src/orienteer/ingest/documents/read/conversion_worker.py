"""A PDF -> its blocks as JSON, in a process of its own.

A PDF from somebody else may take all memory, all time, or the process with it, or use a fault of the library that reads
it to do as its author likes. So the process loads the library, then gives up what it can: files but those of its
libraries, every byte written, the network, other processes (`sandbox.confinement`). Only then do files come, as bytes:
it never opens one. Whatever the library prints goes nowhere. `converter` starts it, waits, and ends it.

Its last argument is the number of the pipe that ends with its parent. It says {"ready"}, what holds it, or {"extra"},
what is to be installed. A request is three messages or more: the bounds, the bytes in parts, an empty one. The answers
are {"begins"} for each page, with its number, then {"title", "blocks", "notes"} or {"error"}.
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
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

from orienteer.errors import BadInput
from orienteer.ingest.documents.read.archive import check_archive
from orienteer.ingest.documents.read.blocks import Block, Grid, Page, Place, Prose
from orienteer.ingest.documents.read.markdown import MOST_COLUMNS, read_markdown
from orienteer.ingest.documents.read.titles import cleaned, is_generic, titled
from orienteer.ingest.documents.read.webpage import html_tokens
from orienteer.sandbox import confinement, frames, readable_files

if TYPE_CHECKING:
    from orienteer.ingest.documents.read.pdf import Bounds

MOST_CHARACTERS = 128 << 20
"""Characters that one file may give: its text, and some more for every block, row and cell."""
LONGEST = 2 * MOST_CHARACTERS
"""Bytes of an answer."""
MOST_MEMORY = 4 << 30
"""Bytes of memory that the process may take, if the system can enforce it."""
_READER = "orienteer.ingest.documents.read.pdf"
_SLIDE = re.compile(r"<!-- Slide number: (\d+) -->")
_BLOCK, _CELL = 100, 4  # characters that a block, and a cell or a row, take beside their text
_STYLES = "\n".join(
    [
        "p[style-name='Title'] => h1:fresh",
        *(f"p[style-name='heading {level}'] => h{level + 1}:fresh" for level in range(1, 6)),
    ]
)
"""What Word calls a title stands above its headings of level 1."""

Read: TypeAlias = "Callable[[bytes, Bounds, Callable[[int], None]], Page]"


def main(read: Read | None = None) -> None:
    """Answer requests until there are no more, each with what `read` makes of a file."""
    requests, answers = frames.take_streams()
    kind, lifeline = sys.argv[1], int(sys.argv[2])
    confinement.end_with(lifeline)
    # markitdown guesses what a file is with magika, whose onnxruntime tells its makers of its use; here nobody guesses
    sys.modules["magika"] = ModuleType("magika")
    try:
        reader = import_module(_READER if kind == "pdf" else KINDS[kind].library)
    except ImportError:
        frames.send(answers, json.dumps({"extra": "docs"}).encode())
        return
    frames.send(answers, json.dumps({"ready": _shut(lifeline)}).encode())
    while (settings := frames.receive(requests)) is not None:
        data = _received(requests)
        asked = json.loads(settings)
        suffix = asked.pop("suffix")
        bounds = asked if kind != "pdf" else reader.Bounds(**asked)
        if kind != "pdf":
            source, read_one = OfficeFile(suffix, BytesIO(data)), KINDS[kind].read
            frames.send(answers, _answer(lambda: read_one(source, reader)))  # noqa: B023  # called at once
            continue
        begin = _telling(answers)
        frames.send(answers, _answer(lambda: (read or reader.read_pdf)(data, bounds, begin)))  # noqa: B023


def _received(requests: BinaryIO) -> bytes:
    """Return the bytes of a file, which come in parts."""
    stream = BytesIO()
    while part := frames.receive(requests):
        stream.write(part)
    return stream.getvalue()


def _telling(answers: BinaryIO) -> Callable[[int], None]:
    return lambda page: frames.send(answers, json.dumps({"begins": page}).encode())


def _answer(read: Callable[[], Page]) -> bytes:
    try:
        message = json.dumps(read(), ensure_ascii=False, default=_fields).encode(errors="replace")
    except MemoryError:
        return _refusal("takes too much memory")
    except BadInput as error:
        return _refusal(str(error))
    except RecursionError:
        return _refusal("nests too deeply: save it again")
    except Exception as error:  # noqa: BLE001  # the library raises whatever a broken file makes it stumble over
        reason = " ".join(str(error).split())[:200]
        return _refusal(f"cannot be read ({type(error).__name__}{': ' if reason else ''}{reason}): save it again")
    return message if len(message) <= LONGEST else _refusal(f"gives more than {LONGEST >> 20} MB as text: split it")


def _fields(record: Any) -> dict[str, Any]:  # Any: a page, a block, or the place of one
    return {name: getattr(record, name) for name in record.__slots__}


def _refusal(error: str) -> bytes:
    return json.dumps({"error": error}).encode()


def _shut(lifeline: int) -> list[str]:
    """Give up every right that reading a file does not need; return the restrictions that hold, by name."""
    library, folders = Path(os.__file__).parent, list(_folders())
    left = (*readable_files.of_python(), *(rule for folder in folders for rule in readable_files.of_package(folder)))
    confined = confinement.shut(memory=MOST_MEMORY, left=left, probes=[library, *folders])
    if confined["landlock"]:  # what is not loaded is not there, and what asks for it is told so
        sys.path[:] = [str(library), str(library / readable_files.COMPILED)]
    program = confinement.filter_program(opens=True, lifeline=lifeline, more=confinement.TIMER)
    confined["seccomp"] = confinement.enforce(program)
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

    def written(self, title: str, *, empty: str) -> Page:
        """Return the blocks as a page. Raises `BadInput` if there are none."""
        if not self._blocks:
            raise BadInput(empty)
        return Page(title, self._blocks)


# --------------------------------------------------------------------------------------------------------------- Office


class OfficeFile(NamedTuple):
    """A file as it came: nothing can be opened by its name here."""

    suffix: str
    stream: BytesIO


def read_office(source: OfficeFile, library: Any) -> Page:  # Any: markitdown has no types
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
    tags = iter(html_tokens(text))  # no XML is parsed, so that no entity is resolved
    title = next((next(tags, tag).text for tag in tags if tag.tag == "dc:title"), "")
    return "" if is_generic(cleaned(title)) else cleaned(title)


def _paged(named: str, markdown: str) -> Page:
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


def read_workbook(source: OfficeFile, library: Any) -> Page:  # Any: openpyxl has no types
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
    read: Callable[[OfficeFile, Any], Page]  # Any: the library


KINDS = {"office": FileKind("markitdown", read_office), "workbook": FileKind("openpyxl", read_workbook)}
OF_SUFFIX = {".pdf": "pdf", ".docx": "office", ".pptx": "office", ".xlsx": "workbook", ".xlsm": "workbook"}


if __name__ == "__main__":
    main()
