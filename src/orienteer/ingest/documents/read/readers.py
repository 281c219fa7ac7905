"""Files -> documents: one function a kind of file. Raises `BadInput` for a file that cannot be read, and says why."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from orienteer.errors import BadInput
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.read import collection
from orienteer.ingest.documents.read.blocks import Document
from orienteer.ingest.documents.read.encoding import read_text
from orienteer.ingest.documents.read.files import File
from orienteer.ingest.documents.read.markdown import read_markdown, read_plain
from orienteer.ingest.documents.read.webpage import read_html
from orienteer.ingest.formats.files import opened, stem

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
        """Return the documents of a file. Raises `BadInput` where it cannot be read."""
        try:
            size = file.path.stat().st_size
        except OSError as error:
            raise BadInput(f"cannot be read: {error.strerror}") from error
        if size == 0:
            raise BadInput("empty")
        most = self.config.largest_mb * _MEGABYTE
        if size > most:
            raise BadInput(f"{size / _MEGABYTE:,.0f} MB, more than largest_mb = {self.config.largest_mb}")
        if file.path.suffix.lower() == ".gz" and _unpacks_beyond(file.path, most):
            raise BadInput(f"unpacks to more than largest_mb = {self.config.largest_mb}")
        try:
            yield from _READERS[file.kind](self, file, title_of(file.path))
        except OSError as error:
            raise BadInput(f"cannot be read: {error.strerror or error}") from error

    def _markdown(self, file: File, title: str) -> Iterator[Document]:
        markdown = read_markdown(self._text(file))
        yield Document(
            file.name,
            markdown.title or title,
            markdown.blocks,
            file.name,
            _aliases(file),
            has_title=bool(markdown.title),
        )

    def _html(self, file: File, title: str) -> Iterator[Document]:
        page = read_html(self._text(file))
        yield Document(
            file.name, page.title or title, page.blocks, file.name, _aliases(file), has_title=bool(page.title)
        )

    def _plain(self, file: File, title: str) -> Iterator[Document]:
        blocks = read_plain(self._text(file))
        yield Document(file.name, title, blocks, file.name, _aliases(file), has_title=False)

    def _table(self, file: File, title: str) -> Iterator[Document]:
        if collection.is_questions(file):
            raise BadInput("questions and their answers, no part of the documents")
        dropped: list[int] = []
        yield from collection.documents(file, title, self.config, drop=lambda reason, line, value: dropped.append(line))
        if dropped:
            self.notes.append(f"{file.name}: {len(dropped)} rows left out, the first on line {dropped[0]}: no UTF-8")

    def _converted(self, file: File, title: str) -> Iterator[Document]:
        yield self.convert(file, title)

    def _text(self, file: File) -> str:
        text, encoding = read_text(file.path)
        if encoding == "cp1252":
            self.notes.append(f"{file.name}: no UTF-8, read as Windows-1252")
        return text


_READERS: dict[str, Callable[[DocumentReader, File, str], Iterator[Document]]] = {
    "markdown": DocumentReader._markdown,
    "html": DocumentReader._html,
    "text": DocumentReader._plain,
    "table": DocumentReader._table,
    "converted": DocumentReader._converted,
}


def _unpacks_beyond(path: Path, most: int) -> bool:
    """Say whether a gzip holds more bytes than that, reading no further."""
    with opened(path) as unpacked:
        while most >= 0 and (block := unpacked.read(_MEGABYTE)):
            most -= len(block)
    return most < 0


def title_of(path: Path) -> str:
    """Return a title made of a file's name, for want of a better one."""
    return _APART.sub(" ", stem(path)).strip() or path.name


def _aliases(file: File) -> tuple[str, ...]:
    return (file.path.name,)
