"""The archive that an Office file is: its parts as trees of XML, and the relations that lead from one to another.

The file is untrusted. No part may declare a document type, so that no entity is resolved, and each part is read once:
a thousand slides that are one part are one slide. The tags and attributes of all parts together are counted.
"""

from __future__ import annotations

import lzma
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from orienteer.errors import BadInput
from orienteer.ingest.documents.read.archive import check_archive
from orienteer.ingest.formats.letters import decoded

MOST_MARKS = 8_000_000
"""Tags and attributes of a file, its end tags counted. A standard of 5,000 pages has three million."""
MOST_PART = 1 << 27
"""Bytes of one part."""
LONGEST_NAMESPACE = 1_000
"""Characters: the parser repeats a namespace in every name."""
_RELATION = re.compile(r"officeDocument/(?:2006/)?relationships$")
BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(NotImplementedError, RuntimeError, ValueError, OSError),
)
"""What Python's readers of archives raise for a broken one."""


class Relation(NamedTuple):
    """Where a part leads."""

    kind: str
    """The last word of its type: `header`, `hyperlink`."""
    target: str
    """The name of a part, or an address as it is written."""
    is_external: bool


class Part(NamedTuple):
    """A part as a tree; its tags and attributes have local names, but `r:id` for the id of a relation."""

    name: str
    root: Element
    relations: Mapping[str, Relation]

    def target(self, element: Element, attribute: str = "r:id") -> Relation | None:
        """Return the relation that an attribute names."""
        return self.relations.get(element.get(attribute, ""))


class Package:
    """Reads the parts of an archive. Raises `BadInput` if it is broken or unpacks to too much."""

    def __init__(self, content: bytes) -> None:
        stream = BytesIO(content)
        check_archive(stream)
        self._archive = zipfile.ZipFile(stream)
        self._names = {name.replace("\\", "/").casefold(): name for name in self._archive.namelist()}
        self._left = MOST_MARKS
        self._read: set[str] = set()
        self.faults: list[str] = []
        """Why parts were not read."""

    def main(self) -> str:
        """Return the name of the part that holds the document; empty if none does."""
        return next((one.target for one in self.relations("").values() if one.kind == "officeDocument"), "")

    def __contains__(self, name: str) -> bool:
        return name.casefold() in self._names

    def bytes_of(self, name: str) -> bytes:
        """Return the bytes of a part. Raises `BadInput` if it is missing, broken or too large."""
        try:
            information = self._archive.getinfo(self._names[name.casefold()])
            if information.file_size > MOST_PART:
                raise BadInput(f"its part {name} has {information.file_size:,} bytes: split it")
            return self._archive.read(information)
        except KeyError as error:
            raise BadInput(f"its part {name} is missing: save it again") from error
        except BROKEN as error:
            raise BadInput(f"its part {name} is broken ({error}): save it again") from error

    def part(self, name: str) -> Part:
        """Return a part. Raises `BadInput` if it is missing, broken or too large."""
        self._read.add(name.casefold())
        return Part(name, self._tree(name), self.relations(name))

    def linked(self, relations: Mapping[str, Relation], *kinds: str) -> Iterator[Part]:
        """Yield the parts of some kinds, each if it is not read yet; a broken one is a fault."""
        parts = (self.once(relation) for relation in relations.values() if relation.kind in kinds)
        return (part for part in parts if part is not None)

    def once(self, relation: Relation | None) -> Part | None:
        """Return the part that a relation leads to; None if it is read already, or broken, which is a fault."""
        if relation is None or relation.is_external or relation.target.casefold() in self._read:
            return None
        try:
            return self.part(relation.target)
        except BadInput as error:
            self.faults.append(str(error))
            return None

    def optional(self, name: str) -> Element | None:
        """Return a part as a tree; None if there is none, or a broken one, which is a fault."""
        part = self.once(Relation("", name, False)) if name in self else None
        return None if part is None else part.root

    def relations(self, name: str) -> dict[str, Relation]:
        """Return where a part leads, by the id of the relation; the whole archive is the part without a name."""
        folder, file = posixpath.split(name)
        place = posixpath.join(folder, "_rels", f"{file}.rels")
        if place not in self:
            return {}
        relations = {}
        for one in self._tree(place).iter("Relationship"):
            target, is_external = one.get("Target", ""), one.get("TargetMode") == "External"
            if not is_external:
                target = posixpath.normpath(posixpath.join("/", folder, unquote(target.replace("\\", "/")))).strip("/")
            relations[one.get("Id", "")] = Relation(one.get("Type", "").rpartition("/")[2], target, is_external)
        return relations

    def _tree(self, name: str) -> Element:
        text, _ = decoded(self.bytes_of(name))
        self._left -= text.count("<") + text.count("=")
        if self._left < 0:
            raise BadInput(f"has more than {MOST_MARKS:,} tags and attributes: split it")
        parser = ElementTree.XMLParser(target=_Builder())
        try:
            parser.feed(text)
            root: Element = parser.close()
        except (ElementTree.ParseError, ValueError) as error:
            raise BadInput(f"its part {name} is no XML ({error}): save it again") from error
        return root


class _LocalNames(dict[str, str]):
    """Names without their namespaces; one of relations has its prefix, for `id` is also an attribute of others."""

    def __missing__(self, name: str) -> str:
        space, _, local = name.rpartition("}")
        local = self[name] = f"r:{local}" if _RELATION.search(space) else local
        return local


class _Builder(ElementTree.TreeBuilder):
    """Builds a tree of local names."""

    def __init__(self) -> None:
        super().__init__()
        self._local = _LocalNames()

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        """Begin an element."""
        local = self._local
        return super().start(local[tag], {local[name]: value for name, value in attrs.items()} if attrs else attrs)

    def start_ns(self, prefix: str, uri: str) -> None:
        """Refuse a long namespace."""
        if len(uri) > LONGEST_NAMESPACE:
            raise BadInput(f"has a namespace of {len(uri):,} characters: save it again")

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        """Refuse a document type, whose entities could be anything."""
        raise BadInput(f"declares a document type ({name[:40]}), as no Office program does: save it again")
