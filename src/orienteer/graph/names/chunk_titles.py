"""The titles by which other texts may name a chunk: its document's title, and its heading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from orienteer.graph.reserved import DOCUMENT, SEPARATOR, TABLE
from orienteer.records import Node


@dataclass(slots=True)
class DocumentPart:
    """A chunk or a table segment, without its text."""

    id: str
    document: int
    """The number of its document; a row of a collection is a document of its own."""
    titles: tuple[str, ...] = ()
    """Its titles as written; the document's first, if it opens the document."""
    opens: bool = False
    """It is the first part of its document."""
    is_untitled: bool = False
    """It opens a document whose only title, if any, is the name of its file."""


@dataclass(slots=True)
class _Document:
    number: int = -1
    id: str = ""
    title: str = ""
    is_untitled: bool = False
    headings: set[str] = field(default_factory=set)


def parts_of(nodes: Iterable[Node]) -> Iterator[tuple[DocumentPart, Node]]:
    """Yield the parts among nodes, each with its titles. A document has to come before its parts."""
    here = _Document()
    count = 0
    for node in nodes:
        if node.type == DOCUMENT:
            here = _Document(count, node.id, node.name, bool(node.properties.get("untitled")))
            count += 1
        elif node.properties.get("document") == here.id and here.id:
            yield _inner(node, here), node
        else:  # a row of a collection
            title = _written(node) if node.name == node.id else node.name
            yield DocumentPart(node.id, count, (title,) if title else (), opens=True, is_untitled=not title), node
            count += 1


def _inner(node: Node, here: _Document) -> DocumentPart:
    opens = node.properties.get("order") == 0
    titles: list[str] = []
    if opens or (node.type == TABLE and not node.properties.get("heading")):
        titles.append(here.title)  # a table has its page's title
    written = _written(node) if opens and here.is_untitled else ""
    if written:
        titles.append(written)
    heading = str(node.properties.get("heading", ""))
    if heading and heading not in here.headings:
        here.headings.add(heading)
        titles.append(heading.rsplit(SEPARATOR, 1)[-1])
    is_untitled = opens and here.is_untitled and not written
    return DocumentPart(node.id, here.number, tuple(filter(None, titles)), opens, is_untitled)


def _written(node: Node) -> str:
    """Return the title that a model wrote for a part, if one did."""
    title = node.properties.get("title")
    return title if isinstance(title, str) else ""
