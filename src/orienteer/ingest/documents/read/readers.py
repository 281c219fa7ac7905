"""Reads files as documents. Raises `BadInput`, with the reason, for a file that cannot be read."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from orienteer.errors import BadInput
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.read import collection
from orienteer.ingest.documents.read.blocks import Document, Page, lined
from orienteer.ingest.documents.read.files import File
from orienteer.ingest.documents.read.markdown import read_markdown, read_plain
from orienteer.ingest.documents.read.webpage import read_html
from orienteer.ingest.formats.files import LFS_POINTER, opened, stem

_MEGABYTE = 1 << 20
_APART = re.compile(r"[_\-]+")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""What a file may begin with, the longer ones before those that they begin with."""
_LAST_RESORT = "cp1252"
_SAMPLE = 4096
_MOST_CONTROLS = 0.1


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
            raise BadInput("empty")
        most = self.config.largest_mb * _MEGABYTE
        if size > most:
            raise BadInput(f"{size / _MEGABYTE:,.0f} MB, more than largest_mb = {self.config.largest_mb}")
        if file.path.suffix.lower() == ".gz" and _unpacks_beyond(file.path, most):
            raise BadInput(f"unpacks to more than largest_mb = {self.config.largest_mb}")
        try:
            title = title_of(file.path)
            if file.kind == "converted":
                yield self.convert(file, title)
            else:
                yield from self._table(file, title) if file.kind == "table" else self._text(file, title)
        except OSError as error:
            raise BadInput(f"cannot be read: {error.strerror or error}") from error

    def _text(self, file: File, title: str) -> Iterator[Document]:
        text, encoding = read_text(file.path)
        if encoding == "cp1252":
            self.notes.append(f"{file.name}: no UTF-8, read as Windows-1252")
        if file.kind == "text":
            page = Page(blocks=read_plain(text))
        else:
            page = read_markdown(text) if file.kind == "markdown" else read_html(text)
        names = (file.path.name,)
        blocks = lined(page.blocks, text)
        yield Document(file.name, page.title or title, blocks, file.name, names, has_title=bool(page.title))

    def _table(self, file: File, title: str) -> Iterator[Document]:
        if collection.is_questions(file):
            raise BadInput("questions and their answers, no part of the documents")
        dropped: list[int] = []
        yield from collection.documents(file, title, self.config, drop=lambda reason, line, value: dropped.append(line))
        if dropped:
            self.notes.append(f"{file.name}: {len(dropped)} rows left out, the first on line {dropped[0]}: no UTF-8")


def _unpacks_beyond(path: Path, most: int) -> bool:
    """Say whether a gzip holds more bytes than that, reading no further."""
    with opened(path) as unpacked:
        while most >= 0 and (block := unpacked.read(_MEGABYTE)):
            most -= len(block)
    return most < 0


def title_of(path: Path) -> str:
    """Return a title made of a file's name, for want of a better one."""
    return _APART.sub(" ", stem(path)).strip() or path.name


class DecodedText(NamedTuple):
    """The text of a file."""

    text: str
    encoding: str
    """As Python calls it; `cp1252` where the bytes are no Unicode and could be told apart no better."""


def read_text(path: Path) -> DecodedText:
    """Return a file's text with its line ends as `\\n`. Raises `BadInput` for bytes that are no text."""
    content = path.read_bytes()
    if content.startswith(LFS_POINTER):
        raise BadInput("a Git LFS pointer, not the text: run `git lfs pull` where it was cloned")
    text, encoding = _decoded(content)
    if "\0" in text or _is_noise(text):
        raise BadInput("no text: its bytes are those of a binary file")
    return DecodedText(text.replace("\r\n", "\n").replace("\r", "\n"), encoding)


def _decoded(content: bytes) -> tuple[str, str]:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            try:
                return content.decode(encoding), encoding
            except UnicodeDecodeError as error:
                raise BadInput(f"marked as {encoding}, but byte {error.start} is none: save it as UTF-8") from error
    try:
        return content.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return content.decode(_LAST_RESORT, "replace"), _LAST_RESORT


def _is_noise(text: str) -> bool:
    """Say whether a text is full of control characters, as machine code is."""
    sample = text[:_SAMPLE]
    controls = sum(char < " " and char not in "\t\n\r\f\x1b" for char in sample)
    return controls > _MOST_CONTROLS * max(1, len(sample))
