"""EPUB books as blocks, chapter by chapter in reading order.

A book is an archive of web pages, listed in an XML file. We read only that file's tags, so no entity is ever resolved
and no other file is requested.
"""

from __future__ import annotations

import posixpath
import zipfile
from dataclasses import replace
from io import BytesIO
from urllib.parse import unquote

from orienteer.errors import BadInput
from orienteer.ingest.documents.read.archive import BROKEN, check_archive
from orienteer.ingest.documents.read.blocks import Block, Blocks, Page, Place, Prose
from orienteer.ingest.documents.read.markup import tags_of
from orienteer.ingest.documents.read.titles import cleaned
from orienteer.ingest.documents.read.webpage import read_html
from orienteer.ingest.formats.letters import decoded

_CONTAINER = "META-INF/container.xml"
_PROTECTED = "META-INF/encryption.xml"
_PAGES = frozenset(["application/xhtml+xml", "text/html"])


def read_book(content: bytes) -> Page:
    """Return the title and the chapters of a book. Raises `BadInput` if it is broken or a decompression bomb."""
    stream = BytesIO(content)
    check_archive(stream)
    try:
        with zipfile.ZipFile(stream) as archive:
            return _read(archive)
    except BROKEN as error:
        raise BadInput(f"a broken or protected book ({error}): save it again without protection") from error


def _read(archive: zipfile.ZipFile) -> Page:
    tags = tags_of(_text(archive, _CONTAINER))
    root = next((tag.attributes.get("full-path", "") for tag in tags if tag.name == "rootfile"), "")
    if not root:
        raise BadInput("no book: it does not say where its contents are")
    title, chapters = _contents(archive, root)
    blocks: list[Block] = Blocks()
    for name in chapters:
        page = read_html(_text(archive, name))
        heading = "" if page.title == title else page.title or page.top
        for block in page.blocks:
            headings = block.place.headings
            whole = headings if not heading or heading in headings[:1] else (heading, *headings)
            links = tuple(link for link in block.links if "://" in link)
            blocks.append(replace(block, place=Place(whole), links=links))
    if not any(isinstance(block, Prose) for block in blocks) and _PROTECTED in archive.namelist():
        raise BadInput("protected: its text is encrypted")
    return Page(title, blocks)


def _contents(archive: zipfile.ZipFile, root: str) -> tuple[str, list[str]]:
    """Return the title of a book, and the names of its pages in reading order."""
    pages: dict[str, str] = {}
    order: list[str] = []
    title = ""
    for name, about, text in tags_of(_text(archive, root)):
        if name == "title":
            title = title or text
        elif name == "item" and about.get("media-type") in _PAGES:
            path = posixpath.join(posixpath.dirname(root), unquote(about.get("href", "")))
            pages[about.get("id", "")] = posixpath.normpath(path)
        elif name == "itemref":
            order.append(about.get("idref", ""))
    return cleaned(title), list(dict.fromkeys(pages[key] for key in order if key in pages))


def _text(archive: zipfile.ZipFile, name: str) -> str:
    """Return a page of the archive, or "" if it is missing: the others are still readable."""
    try:
        content = archive.read(name)
    except KeyError:
        return ""
    return decoded(content)[0]
