"""Other programs' files -> blocks as JSON, in a process of its own: `python -m orienteer.build.documents.converter`.

A PDF or an archive from somebody else may take all memory, all time, or the process with it. Requests come as lines
on standard input, {"path", "kind"}; replies go out as lines: {"title", "blocks"} or {"error"}. Nothing else is written
there, whatever the libraries print. `conversion` starts it, waits, and ends it.
"""

from __future__ import annotations

import json
import os
import re
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from orienteer.build.documents.blocks import Block, Grid, Place, Prose, Span
from orienteer.build.documents.markdown import MOST_COLUMNS, read_markdown
from orienteer.errors import BadInput, MissingExtra

MOST_UNPACKED = 1 << 30
"""Bytes that an archive may unpack to."""
MOST_RATIO = 200
"""How many times its own size an archive of more than some megabytes may unpack to."""
SMALL = 16 << 20
MOST_MEMORY = 4 << 30
"""Bytes of memory that a conversion may take, where the system can hold it to that."""
_SLIDE = re.compile(r"<!-- Slide number: (\d+) -->")
_STYLES = "\n".join(
    [
        "p[style-name='Title'] => h1:fresh",
        *(f"p[style-name='heading {level}'] => h{level + 1}:fresh" for level in range(1, 6)),
    ]
)
"""What Word calls a title stands above its headings of level 1."""
_LEAST = 2

Read = dict[str, Any]  # Any: JSON


def main() -> int:
    """Answer requests until there are no more."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # libraries may print what they like
    _limit_memory()
    for line in sys.stdin:
        request = json.loads(line)
        replies.write(json.dumps(_answer(Path(request["path"]), request["kind"])) + "\n")
        replies.flush()
    return 0


def _answer(path: Path, suffix: str) -> Read:
    try:
        return READERS[suffix](path)
    except MissingExtra as error:
        return {"error": str(error), "extra": error.extra}
    except BadInput as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "takes too much memory"}
    except Exception as error:  # noqa: BLE001  # the libraries raise whatever a broken file makes them stumble over
        said = " ".join(str(error).split())[:200]
        return {"error": f"cannot be read ({type(error).__name__}{': ' if said else ''}{said}): save it again"}


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MOST_MEMORY if hard == resource.RLIM_INFINITY else min(MOST_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def check_archive(path: Path) -> None:
    """Raise `BadInput` for a file that is no ZIP archive, or one that unpacks to far more than it is."""
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise BadInput(f"no whole archive ({error}): save it again") from error
    packed = max(1, path.stat().st_size)
    if unpacked > MOST_UNPACKED or (unpacked > SMALL and unpacked > MOST_RATIO * packed):
        raise BadInput(f"unpacks from {packed:,} bytes to {unpacked:,}: a bomb, or a file to be split first")


def _library(name: str, path: Path) -> Any:  # Any: these have no types
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(f"reading {path.name}", "docs") from error


# ------------------------------------------------------------------------------------------------------ what it reads


def read_pdf(path: Path) -> Read:
    """Return the paragraphs and the ruled tables of a PDF, each with its page."""
    pdfplumber = _library("pdfplumber", path)
    blocks: list[Block] = []
    with pdfplumber.open(path, laparams={}) as pdf:
        title = str((pdf.metadata or {}).get("Title") or "").strip()
        for number, page in enumerate(pdf.pages, 1):
            blocks += _page(page, number)
            page.close()
    if not blocks:
        raise BadInput("no text: it holds pictures alone, as a scan does")
    return _written(title, blocks)


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
    """Return a table's rows with something in them; none where it is too small to be a table."""
    cells = [tuple(" ".join((cell or "").split()) for cell in row) for row in rows]
    kept = [row for row in cells if any(row)]
    is_table = len(kept) >= _LEAST and max(map(len, kept), default=0) >= _LEAST
    return kept if is_table else []


def read_office(path: Path) -> Read:
    """Return the blocks of a Word or PowerPoint file, by way of Markdown."""
    markitdown = _library("markitdown", path)
    check_archive(path)
    kinds = {".docx": markitdown.converters.DocxConverter, ".pptx": markitdown.converters.PptxConverter}
    with path.open("rb") as stream:
        about = markitdown.StreamInfo(extension=path.suffix.lower())
        made = kinds[path.suffix.lower()]().convert(stream, about, style_map=_STYLES)
    return _paged(str(made.title or "").strip(), made.markdown)


def _paged(title: str, markdown: str) -> Read:
    """Return the blocks of Markdown; of slides each with its number."""
    parts = _SLIDE.split(markdown)
    found = read_markdown(parts[0])
    blocks = list(found.blocks)
    for number, text in zip(parts[1::2], parts[2::2], strict=True):
        slide = read_markdown(text)
        path = (slide.title,) if slide.title else ()
        for block in slide.blocks:
            place = block.place
            blocks.append(replace(block, place=Place((*path, *place.headings), int(number), None, place.anchors)))
    if not blocks:
        raise BadInput("no text")
    return _written(title or found.title, list(map(_headed, blocks)))


def _headed(block: Block) -> Block:
    """Take the first row of a table for its header, where Word does not say which row is one."""
    if isinstance(block, Prose) or any(block.header):
        return block
    header, *rows = block.rows or [block.header]
    return replace(block, header=header, rows=rows)


def read_workbook(path: Path) -> Read:
    """Return the sheets of a workbook, those without any cell left out."""
    openpyxl = _library("openpyxl", path)
    check_archive(path)
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    grids: list[Block] = []
    for sheet in book.worksheets:
        rows = [row for cells in sheet.iter_rows(values_only=True, max_col=MOST_COLUMNS) if any(row := _cells(cells))]
        width = max(map(len, rows), default=0)
        if rows:
            header = tuple(name or f"column_{at}" for at, name in enumerate(_padded(rows[0], width), 1))
            headings = (sheet.title,) if len(book.worksheets) > 1 else ()
            grids.append(Grid(header, [_padded(row, width) for row in rows[1:]], Place(headings)))
    if not grids:
        raise BadInput("no cell with anything in it")
    return _written(str(book.properties.title or "").strip(), grids)


def _cells(cells: Sequence[Any]) -> tuple[str, ...]:  # Any: what a cell can hold
    """Return cells as text, the empty ones at the end left out."""
    texts = ["" if cell is None else cell.isoformat() if hasattr(cell, "isoformat") else str(cell) for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    return tuple(texts)


def _padded(row: tuple[str, ...], width: int) -> tuple[str, ...]:
    return (*row, *[""] * (width - len(row)))


READERS: dict[str, Callable[[Path], Read]] = {
    ".pdf": read_pdf,
    ".docx": read_office,
    ".pptx": read_office,
    ".xlsx": read_workbook,
    ".xlsm": read_workbook,
}


# ------------------------------------------------------------------------------------------------- blocks as JSON


def _written(title: str, blocks: Sequence[Block]) -> Read:
    return {"title": title, "blocks": [_block(block) for block in blocks]}


def _block(block: Block) -> Read:
    place = block.place
    where = {"headings": place.headings, "page": place.page, "span": place.span, "anchors": place.anchors}
    if isinstance(block, Prose):
        return {"text": block.text, "code": block.is_code, "links": block.links, **where}
    return {"header": block.header, "rows": list(block.rows), "caption": block.caption, "links": block.links, **where}


def blocks_of(read: Read) -> list[Block]:
    """Return the blocks of a reply."""
    return [_back(one) for one in read["blocks"]]


def _back(one: Read) -> Block:
    span = Span(*one["span"]) if one["span"] else None
    place = Place(tuple(one["headings"]), one["page"], span, tuple(one["anchors"]))
    if "text" in one:
        return Prose(one["text"], place, tuple(one["links"]), one["code"])
    return Grid(tuple(one["header"]), [tuple(row) for row in one["rows"]], place, one["caption"], tuple(one["links"]))


if __name__ == "__main__":
    sys.exit(main())
