"""Finds the names in each chunk, from which link edges and name edges are made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orienteer.elements import JsonValue, Node
from orienteer.graph.reserved import CELLS, CHUNK, DOCUMENT, SEPARATOR, TABLE
from orienteer.index import words
from orienteer.index.arrays import Rows, Strings, begins_of, runs
from orienteer.index.bm25 import TextIndex
from orienteer.index.name_scan import CaseCounts, NameScan, keys_of
from orienteer.index.words import WordNumbers
from orienteer.text.proper_names import idf, key_of, most_chunks, surfaces
from orienteer.text.tokenizer import Tokenizer


@dataclass(slots=True)
class DocumentPart:
    """A chunk or a table segment, without its text."""

    id: str
    document: int
    """The number of its document; a row of a collection is a document of its own."""
    titles: tuple[str, ...] = ()
    """The titles by which texts may name it, as written: its document's, if it opens the document, and its heading."""
    opens: bool = False
    """It is the first part of its document."""
    is_untitled: bool = False
    """It opens a document whose only title, if any, is the name of its file."""


def parts_of(nodes: Iterable[Node]) -> Iterator[tuple[DocumentPart, Node]]:
    """Yield the parts among nodes, each with its titles. A document must come before its parts."""
    document: Node | None = None
    headings: set[str] = set()  # of the document, so far
    number = count = 0
    for node in nodes:
        if node.type == DOCUMENT:
            document, headings, number = node, set(), count
            count += 1
            continue
        title = node.properties.get("title")
        written = title if isinstance(title, str) else ""  # by a model
        if document is None or not document.id or node.properties.get("document") != document.id:  # a collection's row
            title = written if node.name == node.id else node.name
            yield DocumentPart(node.id, count, (title,) if title else (), opens=True, is_untitled=not title), node
            count += 1
            continue
        opens = node.properties.get("order") == 0
        titles: list[str] = []
        if opens or (node.type == TABLE and not node.properties.get("heading")):
            titles.append(document.name)  # a table has its page's title
        needs_title = opens and bool(document.properties.get("untitled"))
        if needs_title:
            titles.append(written)
        heading = str(node.properties.get("heading", ""))
        if heading not in headings:
            headings.add(heading)
            titles.append(heading.rsplit(SEPARATOR, 1)[-1])
        titled = tuple(filter(None, titles))
        yield DocumentPart(node.id, number, titled, opens, needs_title and not written), node


Progress = Callable[[str, int], None]
_NAMES = 1 << 31  # more than there are names
_EVERY = 2_000  # chunks between two reports of progress
NAME_SHARE = 0.02
"""The share of chunks above which a name says little about any. A common word is often above it, a name seldom."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A title that occurs in a chunk."""

    part: int
    """The number of the chunk."""
    name: int
    """The number of the title."""
    row: int | None = None
    """In a table, the number of the row, counted from 1 as in the file."""
    column: int | None = None


@dataclass(frozen=True, slots=True)
class CorpusNames:
    """The informative names of a corpus, and the parts that they occur in."""

    parts: tuple[DocumentPart, ...]
    names: tuple[str, ...]
    """The names by number, as first written."""
    weights: NDArray[np.float64]
    """(names,): the idf of each, ln(1 + chunks / chunks with the name)."""
    begins: NDArray[np.int64]
    """(parts + 1,): the begin of each part's names in `members`."""
    members: NDArray[np.int32]
    """The numbers of names, part after part, ascending within a part."""
    titled: dict[int, tuple[int, ...]]
    """By name, the parts that have it as a title."""
    mentions: tuple[Mention, ...]
    keys: tuple[str, ...] = ()
    """The compared forms by number: `key_of` the name, for a title also without its bracket."""
    case: CaseCounts | None = None
    """The counts of each word with and without a capital."""

    def of(self, part: int) -> NDArray[np.int32]:
        """Return the numbers of the names of a part: (n,), ascending."""
        return self.members[self.begins[part] : self.begins[part + 1]]


def find_names(nodes: Iterable[Node], *, progress: Progress, share: float = NAME_SHARE) -> CorpusNames:
    """Find the names in all nodes; one in more than this share of the chunks, and in more than 20, is dropped."""
    scan, untitled = NameScan(), NameScan()
    parts: list[DocumentPart] = []
    for part, node in parts_of(nodes):
        add_part(scan, len(parts), part, node)
        if part.is_untitled and node.type == CHUNK:
            untitled.add_text(len(parts), node.text)
        parts.append(part)
        if len(parts) % _EVERY == 0:
            progress("finding names", len(parts))
    case = scan.case
    name_untitled(untitled, parts, case)
    titles = {surface for part in parts for title in part.titles for surface in surfaces(title)}
    return replace(corpus_names(scan, parts, titles, case, share), case=case)


def add_part(scan: NameScan, number: int, part: DocumentPart, node: Node) -> None:
    """Add the titles of a part and its text, a table's cell by cell, with row and column for those below its header."""
    for title in part.titles:
        scan.add_text(number, title, is_counted=False)
    if node.type != TABLE:
        scan.add_text(number, node.text)
        return
    lines = node.text.split("\n")
    first = whole_number(node.properties.get("first_row"), 1)
    body = len(lines) - whole_number(node.properties.get("rows"), 0)
    for at, line in enumerate(lines):
        for column, cell in enumerate(line.split(CELLS)):
            if at < body:
                scan.add_text(number, cell)
            else:
                scan.add_text(number, cell, row=first + at - body, column=column)


def name_untitled(untitled: NameScan, parts: Sequence[DocumentPart], case: CaseCounts) -> None:
    """Use the first name in the text of each untitled part as its title: right nearly every second time."""
    for found in untitled.names((), case):
        for number, first in zip(*np.unique(found.part, return_index=True), strict=True):
            parts[number].titles = (*parts[number].titles, found.written(int(first)))


def corpus_names(
    scan: NameScan, parts: Sequence[DocumentPart], titles: Collection[str], case: CaseCounts, share: float | None
) -> CorpusNames:
    """Return the names in at least two chunks or a title, but not in too many; without a share, all names.

    `parts` are those that the scan has read, by number; `titles` are looked up in the texts: `surfaces` of titles.
    """
    numbers, count = WordNumbers(), len(parts)
    written: dict[int, tuple[int, int, str]] = {}  # by name: the first part with it, where, and how that writes it
    titled: dict[int, list[int]] = {}
    own = list(dict.fromkeys(surface for part in parts for title in part.titles for surface in surfaces(title)))
    title_numbers = dict(zip(own, numbers.number(keys_of(own))[0].tolist(), strict=True))
    for place, document_part in enumerate(parts):
        for title in document_part.titles:
            for surface in surfaces(title):
                number = title_numbers[surface]
                written.setdefault(number, (place, len(written) - _NAMES, " ".join(title.split())))
                if place not in titled.setdefault(number, []):
                    titled[number].append(place)
    pairs = [np.array([part * _NAMES + name for name, several in titled.items() for part in several], np.int64)]
    mentions = [np.zeros((4, 0), np.int64)]
    for texts in scan.names(titles, case):
        names = numbers.number(texts.names.keys)[0].astype(np.int64)
        pairs.append(runs(np.sort(texts.part.astype(np.int64) * _NAMES + names))[0])
        for name, first in zip(*(column.tolist() for column in np.unique(names, return_index=True)), strict=True):
            part = int(texts.part[first])
            if name not in written or part < written[name][0]:
                written[name] = part, first, texts.written(first)
        # A mention counts once in a row.
        at = np.flatnonzero(texts.names.is_title)
        columns = np.stack([texts.part[at], names[at], texts.row[at], texts.column[at]])
        mentions.append(columns[:, np.sort(np.unique(columns[:3], axis=1, return_index=True)[1])])
    held = runs(np.sort(np.concatenate(pairs)))[0]
    owner, member = held // _NAMES, held % _NAMES
    counts = np.bincount(member, minlength=len(numbers))
    is_title = np.zeros(len(counts), np.bool_)
    is_title[list(titled)] = True
    keep = (counts > 0) if share is None else is_telling(counts, is_title, count, share)
    kept = sorted(np.flatnonzero(keep).tolist(), key=lambda name: written[name][:2])  # as they come in the corpus
    renumbered = np.full(len(keep), -1, np.int64)
    renumbered[kept] = np.arange(len(kept))
    remains = keep[member]
    held = np.sort(owner[remains] * _NAMES + renumbered[member[remains]])
    surface_of = {number: surface for surface, number in title_numbers.items()}
    return CorpusNames(
        parts=tuple(parts),
        names=tuple(written[name][2] for name in kept),
        weights=np.array([idf(int(number), count) for number in counts[kept]], np.float64),
        begins=begins_of(np.bincount(held // _NAMES, minlength=count)),
        members=(held % _NAMES).astype(np.int32),
        titled={int(renumbered[old]): tuple(several) for old, several in titled.items() if keep[old]},
        mentions=tuple(
            Mention(part, int(renumbered[name]), row if row >= 0 else None, column if column >= 0 else None)
            for part, name, row, column in np.concatenate(mentions, 1).T.tolist()
            if keep[name]
        ),
        keys=tuple(surface_of.get(name) or key_of(written[name][2]) for name in kept),
    )


def is_telling(counts: NDArray[np.int64], is_title: NDArray[np.bool_], parts: int, share: float) -> NDArray[np.bool_]:
    """Mark the names in at least two of `parts` chunks, or a title, but not in too many: all of shape (names,)."""
    return ((counts >= 2) | is_title) & (counts > 0) & (counts <= most_chunks(parts, share))


def whole_number(value: JsonValue, default: int) -> int:
    """Return a property that is a whole number; for any other value, the default."""
    return value if isinstance(value, int) else default


class IndexedNames(Protocol):
    """The indexes of a graph that phrases are looked up in: `graph.arrays` is one."""

    text_index: TextIndex
    tokenizer: Tokenizer
    names: Strings


Place: TypeAlias = Literal["first", "inside", "scattered"]
"""Where a text has the words of a phrase: in a row, as its first words or further inside, or not in a row."""


def having_terms(graph: IndexedNames, terms: Sequence[str]) -> Rows:
    """Return the rows that have all these terms in names, aliases or text: (n,), ascending; none without a term."""
    postings = [graph.text_index.posting(term) for term in dict.fromkeys(terms)]
    if not postings or None in postings:
        return np.zeros(0, np.int32)
    rarest, *others = sorted((posting for posting in postings if posting), key=lambda posting: posting.nodes)
    rows = graph.text_index.rows_of(rarest)
    for posting in others:
        rows = graph.text_index.filter_rows(posting, rows) if len(rows) else rows
    return rows


def having_words(graph: IndexedNames, phrase: Sequence[str]) -> Rows:
    """Return the rows that have the terms of all these words: (n,), ascending. They may have the words."""
    return having_terms(graph, [graph.tokenizer.expand(word)[0] for word in phrase])


def phrase_places(
    graph: IndexedNames, texts: Strings, rows: Rows, phrase: Sequence[str], *, in_row: bool = False
) -> Iterator[tuple[int, Place]]:
    """Yield each of the ascending rows with all the words of a phrase in its text, and the phrase's place there.

    With `in_row`, those with the words in a row alone.
    """
    if not len(rows) or not phrase:
        return
    own = [f" {word} ".encode() for word in phrase]
    wanted, longest = f" {' '.join(phrase)} ".encode(), max(own, key=len)
    for row, text in zip(rows.tolist(), words.spaced(texts.take(rows), graph.tokenizer), strict=True):
        if longest not in text:  # most names lack it, for their texts have it
            continue
        if b"  " in text and any(word + b" " in text for word in own[:-1]):  # punctuation is spaces
            text = b" %b " % b" ".join(text.split())
        at = text.find(wanted)
        if at >= 0:
            yield row, "inside" if text[:at].strip() else "first"
        elif not in_row and all(word in text for word in own):
            yield row, "scattered"


def named_in_part(graph: IndexedNames, phrase: Sequence[str], most: int | None = None) -> list[int]:
    """Return the rows whose name contains some folded words in a row, ascending; none if over `most` have them all."""
    rows = having_words(graph, phrase)
    if most is not None and len(rows) > most:
        return []
    return [row for row, _ in phrase_places(graph, graph.names, rows, phrase, in_row=True)]
