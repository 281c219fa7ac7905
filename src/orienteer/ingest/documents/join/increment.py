"""What joins new parts to a graph that stays: the edges that a build would give them, and the names that they bring.

Edges of names between parts that stay are left as they are: their weights are of the corpus that they were made in. The
names themselves are counted anew, and new parts get their edges by these. So the graph differs from a new build in the
edges between parts that stay: in their weights, in the strongest of each part, and in the names that have become known,
too common, or a part of a longer title since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.edges import EdgeBatch
from orienteer.graph.names import (
    CorpusNames,
    DocumentPart,
    Mention,
    add_part,
    corpus_names,
    having_words,
    is_telling,
    name_untitled,
    parts_of,
)
from orienteer.graph.pieces.incidence import NameIncidence, StoredCase, distinct_lists, incidence_at
from orienteer.graph.reserved import CHUNK, DOCUMENT, LINKS_TO
from orienteer.index.arrays import Rows
from orienteer.index.name_scan import CaseCounts, NameScan
from orienteer.index.postings import Layout
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.join.pairs import PlainEdge, Targets, mention_edges, order_edges, shared_edges
from orienteer.ingest.documents.join.shelved import ShelfMark, Shelved
from orienteer.records import Edge, Node
from orienteer.text.proper_names import idf, key_of, most_chunks, surfaces

Numbers = NDArray[np.int64]
_MOST_READ = 20  # times as many texts as a name may stand in are read to find it


@dataclass(frozen=True, slots=True)
class ChangedNodes:
    """The nodes of the files that changed."""

    now: Sequence[Node]
    """All that these files have now, in the order of the shelf."""
    kept: frozenset[str]
    """The ids of the unchanged ones."""
    gone: NDArray[np.int64]
    """The places, among those of `Shelved`, of the nodes that are no longer there, or are changed."""

    @property
    def new(self) -> list[Node]:
        """The nodes that the graph does not have, or has otherwise."""
        return [node for node in self.now if node.id not in self.kept]

    def staying(self, shelved: Shelved) -> NDArray[np.bool_]:
        """Mark the places of the nodes that stay: (n,)."""
        stays = np.ones(len(shelved.rows), np.bool_)
        stays[self.gone] = False
        return stays


def new_order_edges(changed: ChangedNodes) -> Iterator[PlainEdge]:
    """Return the new edges of order."""
    new = {node.id for node in changed.new}
    return (edge for edge in order_edges(changed.now) if {edge.source, edge.target} & new)


class LinkChange(NamedTuple):
    """The new edges of hyperlinks, and the removed ones between nodes that stay."""

    edges: list[PlainEdge]
    lost: list[tuple[int, str, int]]
    """As in `Revision.lost`."""


def link_change(shelved: Shelved, changed: ChangedNodes) -> LinkChange:
    """Return how the edges of hyperlinks change: exactly as a build would make them."""
    arrays, stays = shelved.arrays, changed.staying(shelved)
    linking = np.zeros(0, np.int64)
    if "links" in arrays.properties.names:
        linking = np.searchsorted(shelved.rows, arrays.properties.rows("links"))
        linking = linking[stays[linking]]
    if _ends(shelved.node(at) for at in changed.gone.tolist()) == _ends(changed.new):
        # Only edges to nodes that are made anew go.
        linking = linking[np.isin(shelved.rows[linking], _leading_to(shelved, np.sort(changed.gone)))]
    sources = [(node.id, node.properties.get("links"), str(node.properties.get("file", ""))) for node in changed.new]
    if not len(linking) and not any(links for _, links, _ in sources):
        return LinkChange([], [])
    old = zip(linking.tolist(), arrays.properties.every("links", shelved.rows[linking]), strict=True)
    sources += [(shelved.ids[at], links, shelved.marks[at].file) for at, links in old]
    targets = _targets(shelved, changed, stays)
    now = {(source, target): None for source, links, file in sources for target in targets.linked(source, links, file)}
    had: dict[tuple[str, str], tuple[int, int]] = {}
    if LINKS_TO in arrays.types.edges and len(linking):
        kinds = arrays.types.kind_mask([LINKS_TO], "out")
        entries = arrays.adjacency.entries(shelved.rows[linking], kinds)
        at, end = np.searchsorted(shelved.rows, entries.owner), np.searchsorted(shelved.rows, entries.neighbor)
        columns = (column[stays[end]].tolist() for column in (at, end, entries.owner, entries.neighbor))
        had = {(shelved.ids[a], shelved.ids[b]): (row, other) for a, b, row, other in zip(*columns, strict=True)}
    return LinkChange(
        [PlainEdge(source, LINKS_TO, target) for source, target in now if (source, target) not in had],
        [(row, LINKS_TO, other) for ends, (row, other) in had.items() if ends not in now],
    )


def _ends(nodes: Iterable[Node]) -> set[tuple[str, ...]]:
    """Return what links may call the ends among some nodes: titles of documents, and anchors, each with its file."""
    ends = set[tuple[str, ...]]()
    for node in nodes:
        file, anchors = str(node.properties.get("file")), node.properties.get("anchors")
        ends |= {(file, node.id, node.name, str(node.properties.get("row")))} if node.type == DOCUMENT else set()
        ends |= {(file, str(anchor)) for anchor in anchors} if isinstance(anchors, list) else set()
    return ends


def _leading_to(shelved: Shelved, places: Numbers) -> Rows:
    """Return the rows with a hyperlink to a node at one of these places."""
    arrays = shelved.arrays
    if LINKS_TO not in arrays.types.edges or not len(places):
        return np.zeros(0, np.int32)
    return arrays.adjacency.entries(shelved.rows[places], arrays.types.kind_mask([LINKS_TO], "in")).neighbor


def _targets(shelved: Shelved, changed: ChangedNodes, stays: NDArray[np.bool_]) -> Targets:
    """Return where links lead now."""
    arrays = shelved.arrays
    anchors = arrays.properties.every("anchors", shelved.rows)
    there: list[tuple[ShelfMark, int | Node]] = [
        (shelved.marks[at], at)
        for at in np.flatnonzero(stays).tolist()
        if shelved.is_document[at] or anchors[at] is not None
    ]
    there += [(ShelfMark.of(node), node) for node in changed.new]
    targets = Targets()
    for mark, node in sorted(there, key=lambda pair: pair[0]):
        if isinstance(node, Node):
            targets.add(node.id, node.type, node.name, mark.file, node.properties.get("anchors"))
        else:
            kind = "" if mark.is_part else DOCUMENT
            name = "" if mark.is_part else str(arrays.names[int(shelved.rows[node])])
            targets.add(shelved.ids[node], kind, name, mark.file, anchors[node])
    return targets


class _Place(NamedTuple):
    """A part of the new corpus: the place of one that stays, or the number of a new one."""

    mark: ShelfMark
    is_new: bool
    at: int


class _Found(NamedTuple):
    """Names that were found in some parts."""

    names: CorpusNames
    parts: Numbers
    """(parts,): their numbers in the new corpus."""
    wanted: frozenset[str]
    """The keys of those that count."""


class NameIncrement:
    """The names of a graph whose parts change, and the edges that they give to new parts."""

    def __init__(self, shelved: Shelved, changed: ChangedNodes, names: NameIncidence, config: BuildConfig) -> None:
        assert names.case is not None  # the caller has checked
        self._shelved, self._changed, self._config = shelved, changed, config
        self._names = names
        self._case = _counted(names.case, shelved, changed)
        self._passages = np.flatnonzero(~shelved.is_document)  # places, in the order in which the names number them
        self._stays = changed.staying(shelved)
        parts = list(parts_of(changed.now))
        self._coming = [(part, node) for part, node in parts if node.id not in changed.kept]
        self._scan = _scanned(self._coming)  # before some get a title from their text
        untitled = NameScan()
        for number, (part, node) in enumerate(parts):
            if part.is_untitled and node.type == CHUNK:
                untitled.add_text(number, node.text)
        name_untitled(untitled, [part for part, _ in parts], self._case)
        marks = shelved.marks
        self._ordered = sorted(
            [_Place(marks[at], False, at) for at in self._passages.tolist() if self._stays[at]]
            + [_Place(ShelfMark.of(node), True, at) for at, (_, node) in enumerate(self._coming)]
        )
        """All parts of the new corpus, in the order of the shelf."""
        self._number_of_new = np.zeros(len(self._coming), np.int64)
        self._number_of_old = np.full(len(shelved.rows), -1, np.int64)  # (n,): by place
        for number, place in enumerate(self._ordered):
            (self._number_of_new if place.is_new else self._number_of_old)[place.at] = number

    @cached_property
    def corpus(self) -> CorpusNames:
        """The names of the new corpus; the mentions are those that a new part makes or gets."""
        keys = {key: int(number) for key, number in zip(self._names.keys, self._names.numbers, strict=True)}
        written = list(self._names.written)
        members, titled = [self._old_members()], [self._old_titled()]
        mentions: list[Mention] = []
        for names, parts, wanted in self._found(keys):
            place = np.array(
                [_number(keys, written, key, name) for key, name in zip(names.keys, names.names, strict=True)], np.int64
            )
            is_wanted = np.array([key in wanted for key in names.keys], np.bool_)
            part = parts[np.repeat(np.arange(len(parts)), np.diff(names.begins))]
            chosen = is_wanted[names.members]
            members.append(np.stack([part[chosen], place[names.members[chosen]]]))
            pairs = [(at, name) for name, several in names.titled.items() if is_wanted[name] for at in several]
            at, name = np.array(pairs, np.int64).reshape(-1, 2).T
            titled.append(np.stack([parts[at], place[name]]))
            mentions += [
                replace(mention, part=int(parts[mention.part]), name=int(place[mention.name]))
                for mention in names.mentions
                if is_wanted[mention.name]
            ]
        by_number = sorted(keys, key=keys.__getitem__)
        return self._settled(np.concatenate(members, 1), np.concatenate(titled, 1), mentions, written, by_number)

    def edges(self) -> Iterator[EdgeBatch | Edge]:
        """Return the edges of names between a new part and any other."""
        names = self.corpus
        is_new = np.array([place.is_new for place in self._ordered], np.bool_)
        new = {node.id for _, node in self._coming}
        for edge in mention_edges(names):
            if edge.source in new or edge.target in new:
                yield edge
        yield from shared_edges(names, self._config, new=is_new)

    def incidence(self, layout: Layout) -> NameIncidence:
        """Return the names as they are stored beside the new generation."""
        coming = {
            node.id: int(row)
            for node, row in zip(sorted(self._changed.new, key=lambda node: node.id), layout.new, strict=True)
        }
        rows = [
            coming[self._coming[place.at][1].id] if place.is_new else layout.old[self._shelved.rows[place.at]]
            for place in self._ordered
        ]
        return incidence_at(np.array(rows, np.int64), self.corpus)

    def _old_members(self) -> Numbers:
        """Return the names of the parts that stay: (2, n), part and name."""
        held = self._names.held
        part = self._number_of_old[self._passages][np.repeat(np.arange(len(self._passages)), held.counts())]
        return np.stack([part[part >= 0], held.members[part >= 0].astype(np.int64)])

    def _old_titled(self) -> Numbers:
        """Return the titles of the parts that stay: (2, n), part and name."""
        titled = self._names.titled
        part = self._number_of_old[self._passages[titled.members]]
        name = np.repeat(np.arange(len(titled.begins) - 1), titled.counts())
        return np.stack([part[part >= 0], name[part >= 0]])

    def _found(self, keys: Mapping[str, int]) -> tuple[_Found, _Found]:
        """Return the names in the new parts, and those that these bring in parts that stay."""
        new_titles = {key for part, _ in self._coming for title in part.titles for key in surfaces(title)}
        still_titles = set(self._old_titled()[1].tolist())
        titles = {key for key, number in keys.items() if number in still_titles} | new_titles
        own = self._names_of(self._scan, self._coming, titles)
        brought = {*new_titles, *(key for key in own.keys if key not in keys)}
        places, everywhere = self._hearing(brought, keys)
        heard = self._staying(places)
        others = self._names_of(_scanned(heard), heard, titles)
        return (
            _Found(own, self._number_of_new, frozenset(own.keys) - everywhere),
            _Found(others, self._number_of_old[places], frozenset(brought) - everywhere),
        )

    def _staying(self, places: Numbers) -> list[tuple[DocumentPart, Node]]:
        """Return parts that stay, with their titles, which depend on all before them in their documents."""
        marks = self._shelved.marks
        documents = {marks[at][:3] for at in places}
        near = sorted((mark, at) for at, mark in enumerate(marks) if mark[:3] in documents)
        found = {node.id: (part, node) for part, node in parts_of(self._shelved.node(at) for _, at in near)}
        return [found[self._shelved.ids[at]] for at in places]

    def _names_of(self, scan: NameScan, parts: Sequence[tuple[DocumentPart, Node]], titles: set[str]) -> CorpusNames:
        return corpus_names(scan, [part for part, _ in parts], titles, self._case, None)

    def _hearing(self, brought: Iterable[str], keys: Mapping[str, int]) -> tuple[Numbers, frozenset[str]]:
        """Return the places of parts that stay and may hold one of these names, and names whose words are everywhere.

        Such a name is too common, as far as one can tell without reading most of the texts.
        """
        arrays, most = self._shelved.arrays, most_chunks(len(self._ordered), self._config.name_share)
        known, everywhere = self._names.titled.counts(), set[str]()
        texts: dict[int, str] = {}
        places: set[int] = set()
        for key in sorted(brought):
            number = keys.get(key)
            if number is not None and known[number]:  # it was a title: every part that has it is known
                places.update(self._passages[self._names.holders.of(number)].tolist())
                continue
            here = np.searchsorted(self._shelved.rows, having_words(arrays, arrays.tokenizer.words(key)))
            here = here[self._stays[here] & ~self._shelved.is_document[here]]
            if len(here) > _MOST_READ * most:
                everywhere.add(key)
                continue
            for at in here.tolist():
                if at not in texts:
                    row = int(self._shelved.rows[at])
                    texts[at] = f" {key_of(arrays.names[row])} {key_of(arrays.texts[row])} "
                if f" {key} " in texts[at]:
                    places.add(at)
        staying = np.array(sorted(at for at in places if self._stays[at]), np.int64)
        return staying, frozenset(everywhere)

    def _settled(
        self, members: Numbers, titled: Numbers, mentions: list[Mention], written: list[str], keys: list[str]
    ) -> CorpusNames:
        """Return the telling names among all, by new numbers."""
        count, width = len(self._ordered), len(written)
        held = distinct_lists(members[0], members[1], count, width)
        counts = np.bincount(held.members, minlength=width)
        is_title = np.zeros(width, np.bool_)
        is_title[titled[1]] = True
        keep = is_telling(counts, is_title, count, self._config.name_share)
        kept = np.flatnonzero(keep).tolist()
        place = np.where(keep, np.cumsum(keep) - 1, -1)
        stays = keep[held.members]
        of_titles = titled[:, keep[titled[1]]]
        lists = distinct_lists(place[of_titles[1]], of_titles[0], len(kept), count)
        return CorpusNames(
            parts=self._parts(),
            names=tuple(written[name] for name in kept),
            weights=np.array([idf(int(number), count) for number in counts[keep]], np.float64),
            begins=np.concatenate([[0], np.cumsum(stays)])[held.begins],
            members=place[held.members[stays]].astype(np.int32),
            titled={int(name): tuple(lists.of(int(name)).tolist()) for name in np.flatnonzero(lists.counts())},
            mentions=tuple(
                replace(mention, name=int(place[mention.name]))
                for mention in sorted(mentions, key=lambda mention: mention.part)
                if keep[mention.name]
            ),
            keys=tuple(keys[name] for name in kept),
            case=self._case,
        )

    def _parts(self) -> tuple[DocumentPart, ...]:
        numbers: dict[tuple[str, str], int] = {}
        parts = []
        for mark, is_new, at in self._ordered:
            node_id = self._coming[at][1].id if is_new else self._shelved.ids[at]
            number = numbers.setdefault((mark.file, mark.document), len(numbers))
            parts.append(DocumentPart(node_id, number, opens=mark.order == 0))
        return tuple(parts)


def _scanned(parts: Sequence[tuple[DocumentPart, Node]]) -> NameScan:
    scan = NameScan()
    for number, (part, node) in enumerate(parts):
        add_part(scan, number, part, node)
    return scan


def _number(keys: dict[str, int], written: list[str], key: str, name: str) -> int:
    """Return the number of a name, the next one for a new name."""
    number = keys.setdefault(key, len(written))
    if number == len(written):
        written.append(name)
    return number


def _counted(stored: StoredCase, shelved: Shelved, changed: ChangedNodes) -> CaseCounts:
    """Return how the new corpus writes words."""
    case = stored.counts()
    gone = changed.gone[~shelved.is_document[changed.gone]]
    case.add((shelved.arrays.texts[row] for row in shelved.rows[gone].tolist()), times=-1)
    case.add(node.text for node in changed.new if node.type != DOCUMENT)
    return case
