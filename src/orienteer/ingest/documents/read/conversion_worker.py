"""Other programs' files -> blocks as JSON, in a process of its own.

A PDF from somebody else may take all memory, all time, or the process with it, or use a fault of a parser
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
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from orienteer.errors import BadInput
from orienteer.ingest.documents.read.archive import ENCRYPTED
from orienteer.ingest.documents.read.blocks import Block, Grid, Place, Prose
from orienteer.ingest.documents.read.titles import cleaned, is_generic
from orienteer.sandbox import confinement, frames, readable_files

MOST_CHARACTERS = 128 << 20
"""Characters that one file may give: its text, and some more for every block, row and cell."""
LONGEST = 2 * MOST_CHARACTERS
"""Bytes of an answer."""
MOST_MEMORY = 4 << 30
"""Bytes of memory that a conversion may take, if the system can enforce it."""
_BLOCK, _CELL = 100, 4  # characters that a block, and a cell or a row, take beside their text
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


class FileKind(NamedTuple):
    """A kind of file that one process reads."""

    library: str
    read: Callable[[OfficeFile, Any], Read]  # Any: the library


KINDS = {"pdf": FileKind("pdfplumber", read_pdf)}
OF_SUFFIX = {".pdf": "pdf"}


# ------------------------------------------------------------------------------------------------- blocks as JSON


def _block(block: Block) -> Read:
    place = block.place
    where = {"headings": place.headings, "page": place.page, "span": place.span, "anchors": place.anchors}
    if isinstance(block, Prose):
        return {"text": block.text, "code": block.is_code, "links": block.links, **where}
    return {"header": block.header, "rows": list(block.rows), "caption": block.caption, "links": block.links, **where}


if __name__ == "__main__":
    main()
