"""Reads files as documents. Raises `BadInput`, with the reason, for a file that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from orienteer.errors import BadInput
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.read import collection
from orienteer.ingest.documents.read.blocks import Document, Page, lined
from orienteer.ingest.documents.read.book import read_book
from orienteer.ingest.documents.read.files import File
from orienteer.ingest.documents.read.kinds import CODE, EMPTY
from orienteer.ingest.documents.read.lines import read_lines, reads_as_prose
from orienteer.ingest.documents.read.mail import read_mail
from orienteer.ingest.documents.read.markdown import read_markdown, read_plain
from orienteer.ingest.documents.read.notebook import read_notebook
from orienteer.ingest.documents.read.office import read_office
from orienteer.ingest.documents.read.titles import of_text, titled
from orienteer.ingest.documents.read.webpage import read_html
from orienteer.ingest.formats.files import opened, stem, suffix
from orienteer.ingest.formats.letters import NAMES, UNICODE, read_text
from orienteer.ingest.tables.plan import table_of
from orienteer.plugins import fault, load

_MEGABYTE = 1 << 20
_APART = re.compile(r"[_\-]+")


class Convert(Protocol):
    """Turns files of other programs into documents."""

    def __call__(self, file: File, title: str) -> Document:
        """Return the document. Raises `BadInput`, `MissingExtra`."""


@dataclass(slots=True)
class DocumentReader:
    """Reads files, and remembers what should be said of them."""

    config: BuildConfig
    convert: Convert
    notes: list[str] = field(default_factory=list)

    def documents(self, file: File) -> Iterator[Document]:
        """Return the documents of a file. Raises `BadInput` if it cannot be read."""
        try:
            size = file.path.stat().st_size
        except OSError as error:
            raise BadInput(f"cannot be read: {error.strerror}") from error
        if size == 0:
            raise BadInput(EMPTY)
        most = self.config.largest_mb * _MEGABYTE
        if size > most:
            raise BadInput(f"{size / _MEGABYTE:,.0f} MB, more than largest_mb = {self.config.largest_mb}")
        if file.path.suffix.lower() == ".gz" and _unpacks_beyond(file.path, most):
            raise BadInput(f"unpacks to more than largest_mb = {self.config.largest_mb}")
        try:
            for document in self._read(file, file.path.name if file.kind == "unknown" else title_of(file.path)):
                self.notes += (f"{file.name}: {note}" for note in document.notes)
                yield document
        except OSError as error:
            raise BadInput(f"cannot be read: {error.strerror or error}") from error

    def _read(self, file: File, title: str) -> Iterator[Document]:
        match file.kind:
            case "converted":
                yield self.convert(file, title)
            case "table":
                yield from self._table(file, title)
            case "mail":
                yield _mail(file, title)
            case "registered":
                yield _document(file, title, _registered_page(file))
            case "office":
                yield _document(file, title, read_office(file.path))
            case "book":
                yield _document(file, title, read_book(file.path.read_bytes()))
            case _:
                yield self._text(file, title)

    def _text(self, file: File, title: str) -> Document:
        text, encoding = read_text(file.path)
        if encoding not in UNICODE:
            self.notes.append(f"{file.name}: no UTF-8, read as {NAMES.get(encoding, encoding)}")
        page = _page(file, text)
        if file.kind != "notebook":
            page.blocks = lined(page.blocks, text)
        return _document(file, title, page)

    def _table(self, file: File, title: str) -> Iterator[Document]:
        if collection.is_questions(file):
            raise BadInput("questions and their answers, no part of the documents")
        self.notes += (f"{file.name}: {note}" for note in table_of(file.path, is_named=False).notes.notes)
        dropped: list[tuple[int, str]] = []
        yield from collection.documents(
            file, title, self.config, drop=lambda reason, line, value: dropped.append((line, reason))
        )
        if dropped:
            line, reason = dropped[0]
            self.notes.append(f"{file.name}: {len(dropped)} rows left out, the first on line {line}: {reason}")


def _document(file: File, title: str, page: Page) -> Document:
    """Return a page as the document of its file."""
    has_title = bool(page.title)
    return Document(
        *(file.name, page.title or title, page.blocks, file.name, (file.path.name,)),
        has_title=has_title,
        notes=page.notes,
    )


def _mail(file: File, title: str) -> Document:
    with opened(file.path) as stream:
        mail = read_mail(stream.read())
    document = _document(file, title, Page(mail.title, mail.blocks))
    return replace(document, properties=mail.heads)


def _page(file: File, text: str) -> Page:
    """Return the text of a file as a page, by what its name says that it is, else by how it reads."""
    match file.kind:
        case "markdown":
            return titled(read_markdown(text))
        case "html":
            return titled(read_html(text))
        case "notebook":
            return titled(read_notebook(text))
        case "text":
            return of_text(Page(blocks=read_plain(text)))
        case _:
            is_prose = suffix(file.path) not in CODE and reads_as_prose(text)
            return of_text(Page(blocks=read_plain(text))) if is_prose else read_lines(text)


def _registered_page(file: File) -> Page:
    """Return the page that a package makes of a file: its reader returns Markdown. Raises `BadInput`."""
    name = suffix(file.path).removeprefix(".")
    read = load("readers", name)
    try:
        page = titled(read_markdown(read(file.path)))
    except (BadInput, OSError):
        raise
    except Exception as error:  # another package's code may fail in any way, and is named
        raise BadInput(fault("readers", name, f"it failed ({type(error).__name__}: {error})")) from error
    page.blocks = [replace(block, place=replace(block.place, span=None)) for block in page.blocks]
    return page


def _unpacks_beyond(path: Path, most: int) -> bool:
    """Return whether a gzip holds more bytes than that, reading no further."""
    with opened(path) as unpacked:
        while most >= 0 and (block := unpacked.read(_MEGABYTE)):
            most -= len(block)
    return most < 0


def title_of(path: Path) -> str:
    """Return a title made of a file's name, for want of a better one."""
    return _APART.sub(" ", stem(path)).strip() or path.name
