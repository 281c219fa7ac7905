"""Office files as archives: their parts as XML trees, and the relations between the parts.

The file is untrusted. No part may declare a document type, so that no entity is resolved, and each part is read once:
a thousand slides that are one part are one slide. The tags and attributes of all parts together are counted.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator, Mapping
from functools import lru_cache
from io import BytesIO
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from orienteer.errors import BadInput
from orienteer.ingest.documents.read.archive import BROKEN, check_archive
from orienteer.ingest.formats.letters import decoded

MOST_MARKS = 8_000_000
"""Maximum start tags, end tags and attributes of a file. A standard of 5,000 pages has three million."""
MOST_PART = 1 << 27
"""Bytes of one part."""
LONGEST_NAMESPACE = 1_000
"""Characters: the parser repeats a namespace in every name."""


class Relation(NamedTuple):
    """A link from a part to another part or to an address."""

    kind: str = ""
    """The last word of its type: `header`, `hyperlink`."""
    target: str = ""
    """The name of a part."""
    address: str = ""
    """The external address, as written."""


class Part(NamedTuple):
    """A part as a tree; its tags and attributes have local names, but `r:id` for the id of a relation."""

    root: Element
    relations: Mapping[str, Relation]

    def relation(self, element: Element, attribute: str = "r:id") -> Relation:
        """Return the relation that an attribute names."""
        return self.relations.get(element.get(attribute, ""), Relation())


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

    def __contains__(self, name: str) -> bool:
        return name.casefold() in self._names

    def part(self, name: str) -> Part:
        """Read a part. Raises `BadInput` if it is missing, broken or too large."""
        self._read.add(name.casefold())
        return Part(self._tree(name), self.relations(name))

    def once(self, relation: Relation) -> Part | None:
        """Return the target part of a relation, or None if it was already read or is broken (added to `faults`)."""
        if not relation.target or relation.target.casefold() in self._read:
            return None
        try:
            return self.part(relation.target)
        except BadInput as error:
            self.faults.append(str(error))
            return None

    def linked(self, relations: Mapping[str, Relation], *kinds: str) -> Iterator[Part]:
        """Yield the parts of these kinds, in the order of the kinds. Each is read once."""
        for kind in kinds:
            for relation in relations.values():
                if relation.kind == kind and (part := self.once(relation)) is not None:
                    yield part

    def relations(self, name: str) -> dict[str, Relation]:
        """Return the relations of a part by their ids. The name "" means the whole archive."""
        folder, file = posixpath.split(name)
        place = posixpath.join(folder, "_rels", f"{file}.rels")
        relations = {}
        for one in self._tree(place).iter("r:Relationship") if place in self else ():
            kind, target = one.get("Type", "").rpartition("/")[2], one.get("Target", "")
            path = posixpath.normpath(posixpath.join("/", folder, unquote(target.replace("\\", "/")))).strip("/")
            is_part = one.get("TargetMode") != "External"
            relations[one.get("Id", "")] = Relation(kind, path) if is_part else Relation(kind, address=target)
        return relations

    def _tree(self, name: str) -> Element:
        parser = ElementTree.XMLParser(target=_Builder())
        try:
            information = self._archive.getinfo(self._names[name.casefold()])
            if information.file_size > MOST_PART:
                raise BadInput(f"its part {name} has {information.file_size:,} bytes: split it")
            text, _ = decoded(self._archive.read(information))
            self._left -= text.count("<") + text.count("=")
            if self._left < 0:
                raise BadInput(f"has more than {MOST_MARKS:,} tags and attributes: split it")
            parser.feed(text)
            root: Element = parser.close()
        except KeyError as error:
            raise BadInput(f"its part {name} is missing: save it again") from error
        except ElementTree.ParseError as error:
            raise BadInput(f"its part {name} is no XML ({error}): save it again") from error
        except BROKEN as error:
            raise BadInput(f"its part {name} is broken ({error}): save it again") from error
        return root


@lru_cache(maxsize=10_000)
def _local(name: str) -> str:
    """Return a name without its namespace. Names of relations get the prefix `r:`, since `id` has other uses."""
    space, _, local = name.rpartition("}")
    return f"r:{local}" if space.endswith("/relationships") else local


class _Builder(ElementTree.TreeBuilder):
    """Builds a tree of local names."""

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        """Begin an element."""
        return super().start(_local(tag), {_local(name): attrs[name] for name in attrs} if attrs else attrs)

    def start_ns(self, prefix: str, uri: str) -> None:
        """Refuse a long namespace."""
        if len(uri) > LONGEST_NAMESPACE:
            raise BadInput(f"has a namespace of {len(uri):,} characters: save it again")

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        """Refuse a document type, whose entities could be anything."""
        raise BadInput(f"declares a document type ({name[:40]}), as no Office program does: save it again")
