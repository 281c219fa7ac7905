"""Reads files as documents. Raises `BadInput`, with the reason, for a file that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from orienteer.errors import BadInput
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.read import collection
from orienteer.ingest.documents.read.blocks import Document, Page, Prose, lined
from orienteer.ingest.documents.read.book import read_book
from orienteer.ingest.documents.read.data import read_data
from orienteer.ingest.documents.read.files import File
from orienteer.ingest.documents.read.kinds import CODE, Kind, kind_of, kind_within
from orienteer.ingest.documents.read.lines import is_log, read_lines, read_log, reads_as_prose
from orienteer.ingest.documents.read.mail import mailbox_mails, read_mail
from orienteer.ingest.documents.read.markdown import read_markdown
from orienteer.ingest.documents.read.notebook import read_notebook
from orienteer.ingest.documents.read.office import read_office
from orienteer.ingest.documents.read.sections import sectioned
from orienteer.ingest.documents.read.titles import titled
from orienteer.ingest.documents.read.webpage import read_html
from orienteer.ingest.formats.files import opened, stem, suffix
from orienteer.ingest.formats.letters import NAMES, UNICODE, read_text
from orienteer.ingest.tables.plan import table_of
from orienteer.plugins import fault, load

_MEGABYTE = 1 << 20
_APART = re.compile(r"[_\-]+")
Convert: TypeAlias = Callable[[File, str], Document]
"""Converts a file of another program into a document with this title. Raises `BadInput`, `MissingExtra`."""


@dataclass(slots=True)
class DocumentReader:
    """Reads files, and collects notes about them."""

    config: BuildConfig
    convert: Convert
    notes: list[str] = field(default_factory=list)

    def documents(self, file: File) -> Iterator[Document]:
        """Return the documents of a file. Raises `BadInput` if it cannot be read, `NotRead` if its kind is not."""
        try:
            size = file.path.stat().st_size
            most = self.config.largest_mb * _MEGABYTE
            if size > most:
                raise BadInput(f"{size / _MEGABYTE:,.0f} MB, more than largest_mb = {self.config.largest_mb}")
            if file.path.suffix.lower() == ".gz" and _unpacks_beyond(file.path, most):
                raise BadInput(f"unpacks to more than largest_mb = {self.config.largest_mb}")
            kind = kind_within(file.path, file.kind)
            if file.kind not in (kind, "unknown", "text"):
                self.notes.append(f"{file.name}: no {file.kind}, as its name says: read as {_CALLED.get(kind, kind)}")
            is_titled = kind not in ("unknown", "data") and (file.kind != "unknown" or kind != "mail")
            title = title_of(file.path) if is_titled else file.path.name
            for document in self._documents(file._replace(kind=kind), title):
                self.notes += (f"{document.id}: {note}" for note in document.notes)
                yield document
        except OSError as error:
            raise BadInput(f"cannot be read: {error.strerror or error}") from error

    def _documents(self, file: File, title: str) -> Iterator[Document]:
        if file.kind == "table":
            yield from self._table(file, title)
        elif file.kind == "text" and self.config.lines:
            yield from self._lines(file)
        elif file.kind == "mailbox":
            yield from self._mailbox(file, title)
        elif file.kind == "pdf":
            yield self.convert(file, title)
        else:
            page = self._text(file) if file.kind in _TEXTS else _PAGES[file.kind](self, file.path)
            yield _document(file, title, page)

    def _said(self, file: File) -> str:
        text, encoding = read_text(file.path)
        if encoding not in UNICODE:
            self.notes.append(f"{file.name}: no UTF-8, read as {NAMES.get(encoding, encoding)}")
        return text

    def _lines(self, file: File) -> Iterator[Document]:
        """Yield each line that has words as a passage, named by its number from 1."""
        for number, line in enumerate(map(str.strip, self._said(file).split("\n")), 1):
            if line:
                yield Document(
                    *(f"{file.name}#{number}", "", [Prose(line)], file.name),
                    properties={"row": number},
                    is_whole=True,
                    is_row=True,
                    has_title=False,
                )

    def _text(self, file: File) -> Page:
        text = self._said(file)
        page = _TEXTS[file.kind](text, suffix(file.path))
        if file.kind != "notebook":
            page.blocks = lined(page.blocks, text)
        return page

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

    def _mailbox(self, file: File, title: str) -> Iterator[Document]:
        """Yield the mails of a mailbox. Their ids are those of the messages, so they stay when others are deleted."""
        taken: set[str] = set()
        for row, (line, each) in enumerate(mailbox_mails(_content(file.path)), 1):
            try:
                document = _document(file, title, read_mail(each, self.attached, line))
            except BadInput as error:
                self.notes.append(f"{file.name}:{line}: a mail was not read: {error}")
                continue
            called = str(document.properties.get("message_id", row))
            called = str(row) if called in taken else called
            taken.add(called)
            properties = {**document.properties, "row": row}
            yield replace(document, id=f"{file.name}#{called}", aliases=(), properties=properties)

    def attached(self, content: bytes, name: str) -> Page | None:
        """Return the page of a binary attachment of a mail, or None if its kind is not read."""
        with TemporaryDirectory() as folder:
            path = Path(folder, f"attached{Path(name).suffix}")
            path.write_bytes(content)
            kind = kind_within(path, kind_of(path) or "unknown")
            if kind not in ("pdf", "office", "book"):
                return None
            documents = list(self._documents(File(path, name, kind), name))
        return Page(blocks=[block for document in documents for block in document.blocks])


def _content(path: Path) -> bytes:
    with opened(path) as stream:
        return stream.read()


_PAGES: Mapping[Kind, Callable[[DocumentReader, Path], Page]] = {
    "office": lambda _, path: read_office(path),
    "book": lambda _, path: read_book(path.read_bytes()),
    "mail": lambda reader, path: read_mail(_content(path), reader.attached),
    "registered": lambda _, path: _registered_page(path),
}
"""Readers that turn a file into one page, by kind."""
_TEXTS: Mapping[Kind, Callable[[str, str], Page]] = {
    "markdown": lambda text, _: titled(read_markdown(text)),
    "html": lambda text, _: titled(read_html(text)),
    "notebook": lambda text, _: titled(read_notebook(text)),
    "text": lambda text, _: plain_page(text),
    "data": read_data,
    "unknown": lambda text, name: plain_page(text) if is_prose(text, name) else read_lines(text),
}
"""Readers of texts, by kind. They get the text and the suffix."""
_CALLED: Mapping[Kind, str] = {
    "html": "a web page",
    "pdf": "PDF",
    "mail": "e-mail",
    "mailbox": "e-mails",
    "unknown": "text",
    "data": "values",
}
"""Readable names of kinds, if they differ."""


def is_prose(text: str, name: str) -> bool:
    """Return whether a text with this suffix is read as paragraphs or as a log, not as a program."""
    return reads_as_prose(text) if name not in CODE else name == ".log" and is_log(text)


def plain_page(text: str) -> Page:
    """Return a plain text as a page: paragraphs under headings, or the lines of a log."""
    return read_log(text) if is_log(text) else sectioned(text)


def _document(file: File, title: str, page: Page) -> Document:
    """Return a page as the document of its file."""
    title = page.title or title
    return Document(
        *(file.name, title, page.blocks, file.name, (file.path.name,), page.properties),
        has_title=bool(page.title),
        notes=page.notes,
    )


def _registered_page(path: Path) -> Page:
    """Return the page of a file that an installed package converts to Markdown. Raises `BadInput`."""
    name = suffix(path).removeprefix(".")
    read = load("readers", name)
    try:
        page = titled(read_markdown(read(path)))
    except (BadInput, OSError):
        raise
    except Exception as error:  # another package's code may fail in any way, and is named
        raise BadInput(fault("readers", name, f"it failed ({type(error).__name__}: {error})")) from error
    page.blocks = [replace(block, place=replace(block.place, span=None, line=None)) for block in page.blocks]
    return page


def _unpacks_beyond(path: Path, most: int) -> bool:
    """Return whether a gzip file unpacks to more than `most` bytes, reading no further."""
    with opened(path) as unpacked:
        while most >= 0 and (block := unpacked.read(_MEGABYTE)):
            most -= len(block)
    return most < 0


def title_of(path: Path) -> str:
    """Return a title made from a file's name."""
    return _APART.sub(" ", stem(path)).strip() or path.name
