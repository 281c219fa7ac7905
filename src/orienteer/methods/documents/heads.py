"""Answers from the metadata of the documents: their senders, receivers, authors and dates, as a table of its own."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import PurePosixPath
from typing import NamedTuple

from orienteer.display import counted
from orienteer.elements import Edge, JsonValue, Node
from orienteer.graph.reserved import DOCUMENT, PASSAGES
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.methods.documents.rows import PlacedRow, TableRows
from orienteer.reading.query import Among, ExactQuery, parts_of
from orienteer.text.proper_names import key_of

MOST_DOCUMENTS = 20_000
"""Maximum documents of the table. More are a collection, not a person's files."""
MOST_NAMED = 2_000
"""People up to which their addresses are names of theirs."""
LONGEST_HEADER = 1_000
"""Characters after which the readers cut a header."""
_KINDS = {
    ".pdf": "PDF",
    **dict.fromkeys([".xlsx", ".xlsm", ".ods"], "spreadsheet"),
    **dict.fromkeys([".pptx", ".pptm", ".ppsx", ".potx", ".potm"], "presentation"),
    **dict.fromkeys([".md", ".markdown", ".mdx", ".mkd", ".org"], "note"),
    ".ipynb": "notebook",
}
"""Types of documents by suffix; with a sender and a subject they are mails, any others texts."""
_TYPES = re.compile(
    r"\b(?:e-?mail|message|mail|pdf|spreadsheet|workbook|presentation|note|notebook)s?\b", re.IGNORECASE
)
"""Words for these types: a question without any is not about the table."""
_EDGES = {"from": "sent by", "to": "sent to", "cc": "copied to", "author": "written by", "authors": "written by"}
"""The edges to people, by property."""
_DATES = ("date", "created")
"""Properties with the date of a document, the best first."""
_COLUMNS = ("status", "tags", "attachments")
"""Properties that are columns as they are."""
_APART = re.compile(r"[;&]|\band\b")
"""Separators of authors."""
_ADDRESS = re.compile(r"(?<![^\s<>()\":])[^\s<>()\":@]++@[^\s<>()\":@]++")
_BRACKETS = re.compile(r"^[^\"<(]*:|[<>()\"']")
"""The name of a group before an address, and marks around names and addresses."""


class DocumentHeads(TableRows):
    """The documents of a graph as a table, asked by the same rules as any table. Safe to share among threads.

    People with one full name are one person, and so are those with one address whose names share a word.
    """

    def may_answer(self, question: str) -> bool:
        """Return whether a question names a type of document, and the documents name people."""
        return _TYPES.search(question) is not None and self.rows is not None

    @cached_property
    def rows(self) -> Graph | None:
        """The documents and their people as a graph, or None without people or with too many documents."""
        nodes, named = list[Node](), list[tuple[str, str, list[Person]]]()
        for document in self.documents:
            properties = document.properties
            columns = {name: properties[name] for name in _COLUMNS if name in properties}
            if day := day_of(properties):
                columns["date"] = day
            nodes.append(Node(document.id, _kind(document), document.name, "", (), columns))
            for name, edge in _EDGES.items():
                if people := people_of(properties.get(name), are_addressed=not name.startswith("author")):
                    named.append((document.id, edge, people))
        ids = _identified({person for _, _, people in named for person in people})
        names = defaultdict[str, Counter[str]](Counter)
        for _, _, people in named:
            for person in people:
                names[ids[person]][person.name or person.address] += 1
        for person, node in ids.items():
            if person.address and len(ids) <= MOST_NAMED:  # an address is a name, too
                names[node][person.address] += 0
        for node, counts in names.items():
            name, *others = (name for name, _ in counts.most_common())
            nodes.append(Node(node, "person", name, "", tuple(others)))
        edges = [
            Edge(document, edge, end)
            for document, edge, people in named
            for end in dict.fromkeys(ids[person] for person in people)
        ]
        return Graph.from_records(nodes, edges) if edges else None

    @cached_property
    def documents(self) -> list[Node]:
        """The nodes of documents, none if they are too many; a passage without one is a document itself."""
        arrays = self._graph.arrays
        rows = arrays.all_of([kind for kind in (DOCUMENT, *PASSAGES) if kind in arrays.types.nodes])
        alone = [owner is None for owner in arrays.properties.every("document", rows)]
        return list(map(arrays.node_at, rows[alone].tolist())) if sum(alone) <= MOST_DOCUMENTS else []

    def _is_of_one_kind(self, query: ExactQuery, found: Rows) -> bool:
        """Return whether the query names one kind of row, and each name in it belongs to one person."""
        assert self.rows is not None
        arrays = self.rows.arrays
        meant = [part.rows for part in parts_of(query) if isinstance(part, Among)]
        names = [arrays.names[row] for rows in meant for row in rows]
        first_names = {f" {key_of(name)} " for name in names if " " not in name and "@" not in name}
        people = [f" {key_of(arrays.names[row])} " for row in arrays.all_of(["person"]).tolist()]
        is_shared = any(name != person and name in person for name in first_names for person in people)
        return not is_shared and all(len(rows) == 1 for rows in meant) and super()._is_of_one_kind(query, found)

    def _row_of(self, node: str) -> PlacedRow | None:
        """Return the first passage of a document, with its metadata as the text; None for a person."""
        arrays = self._graph.arrays
        if node not in self._graph:
            return None
        first = arrays.ids.find(f"{node}#0")
        properties = self._graph.node(node).properties
        values = ((name, properties.get(name)) for name in (*_EDGES, *_DATES, *_COLUMNS))
        text = "; ".join(f"{name}: {_text(value)}" for name, value in values if value is not None)
        return PlacedRow(arrays.row(node) if first is None else first, 0, text)

    def _notes(self, placed: list[PlacedRow]) -> Iterator[str]:
        """Yield notes on what the table lacks."""
        yield "read of the documents' own metadata"
        properties = [document.properties for document in self.documents]
        lacking = {
            "without a date": sum(not day_of(one) for one in properties),
            "without a sender or author": sum(not {"from", "author", "authors"} & one.keys() for one in properties),
            "with more receivers than are kept": sum(
                len(str(one.get(name, ""))) >= LONGEST_HEADER for one in properties for name in ("to", "cc")
            ),
        }
        yield from (f"{counted(count, 'document')} {what}" for what, count in lacking.items() if count)
        if self._graph.arrays.manifest.provenance.get("not_read"):
            yield "files that were not read do not count"


def _kind(document: Node) -> str:
    """Return the type of a document in the table."""
    if {"from", "subject"} <= document.properties.keys():
        return "mail"
    return _KINDS.get(PurePosixPath(document.id).suffix.lower(), "text")


def day_of(properties: Mapping[str, JsonValue], names: Sequence[str] = _DATES) -> str:
    """Return the day of a document as an ISO 8601 date, empty without one. Earlier names come first."""
    for name in names:
        try:
            return datetime.fromisoformat(str(properties.get(name))).date().isoformat()
        except ValueError:
            continue
    return ""


class Person(NamedTuple):
    """A person as a document writes them; the name or the address may be empty."""

    name: str
    address: str


def people_of(value: JsonValue, *, are_addressed: bool = True) -> list[Person]:
    """Return the people of a header; of a list of authors, which have no addresses, unless they are addressed.

    >>> people_of("Holm, Ada <ada@x.example>, ben@x.example")
    [Person(name='Ada Holm', address='ada@x.example'), Person(name='', address='ben@x.example')]
    >>> [person.name for person in people_of("Ada Holm, Ben Moe and Vik, Noor", are_addressed=False)]
    ['Ada Holm', 'Ben Moe', 'Noor Vik']
    """
    people = list[Person]()
    for text in map(str, value if isinstance(value, list) else [value] if value is not None else []):
        if "@" in text:
            people += map(_addressed, _pieces(text))
        elif not are_addressed:
            people += (Person(name, "") for part in _APART.split(text) for name in _listed(part))
    return [person for person in people if person.name or person.address]


def _pieces(text: str) -> Iterator[str]:
    """Yield the parts of a header with an address each; a comma in a name parts nothing."""
    waiting: list[str] = []
    for piece in text.replace(";", ",").split(","):
        waiting.append(piece)
        if "@" in piece:
            yield ",".join(waiting)
            waiting.clear()


def _addressed(piece: str) -> Person:
    """Return the person of a part of a header with one address."""
    found = [match[0] for match in _ADDRESS.finditer(piece)]
    address = found[-1] if found else ""
    name = _BRACKETS.sub(" ", piece.replace(address, " ") if address else piece).strip(" ,")
    return Person(next(_listed(name), ""), address.casefold())


def _listed(names: str) -> Iterator[str]:
    """Yield the names between commas; `Holm, Ada` is one, turned round."""
    parts = [" ".join(part.split()) for part in names.split(",") if part.strip()]
    if len(parts) == 2 and all(" " not in part and "." not in part for part in parts):
        parts = [f"{parts[1]} {parts[0]}"]
    yield from parts


def _identified(people: Collection[Person]) -> dict[Person, str]:
    """Return the id of each person's node."""
    above: dict[str, str] = {}

    def top(mark: str) -> str:
        while above.setdefault(mark, mark) != mark:
            above[mark] = mark = above[above[mark]]
        return mark

    own = {person: f"person:{key_of(person.name) or person.address}" for person in people}
    # A short name is of its address alone: `Ada` of two addresses is two people.
    own |= {one: f"person:{key_of(one.name)} {one.address}" for one in people if one.address and " " not in one.name}
    first: dict[tuple[str, str], str] = {}
    named = defaultdict[str, list[str]](list)
    for person, mark in sorted(own.items()):
        for word in key_of(person.name).split() if person.address else ():
            above[top(mark)] = top(first.setdefault((person.address, word), mark))
        if person.address and person.name:
            named[person.address].append(mark)
    for person, mark in own.items():  # an address alone means the one person who has it
        owners = {top(other) for other in named[person.address]} if not person.name else set[str]()
        if len(owners) == 1:
            above[top(mark)] = owners.pop()
    return {person: top(mark) for person, mark in own.items()}


def _text(value: JsonValue) -> str:
    """Return a value as text, a list with commas."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
