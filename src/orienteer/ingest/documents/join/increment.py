"""What joins new parts to a graph that stays: the edges that a build would give them, and the names that they bring.

Edges of names between parts that stay are left as they are: their weights are of the corpus that they were made in. The
names themselves are counted anew, and parts that come get their edges by these. So a graph differs from one that is
built anew by edges between parts that stay: by their weights, by the strongest of each part, and by the names that have
become known, too common, or a part of a longer title since.
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
    add_node,
    corpus_names,
    having_words,
    is_telling,
    name_untitled,
    parts_of,
)
from orienteer.graph.pieces.incidence import NameIncidence, StoredCase, distinct_lists, stored_case
from orienteer.graph.reserved import CHUNK, DOCUMENT, LINKS_TO
from orienteer.graph.store import Graph
from orienteer.index.name_scan import CaseCounts, NameScan
from orienteer.index.postings import Layout
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.join.pairs import PlainEdge, Targets, Touched, mention_edges, order_edges, shared_edges
from orienteer.ingest.documents.join.shelved import ShelfMark, Shelved, mark_of
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
    """The ids of those that are as they were."""
    gone: NDArray[np.int64]
    """The places, among those of `Shelved`, of those that the graph has no longer, or otherwise."""

    @property
    def new(self) -> list[Node]:
        """Those that the graph does not have, or otherwise."""
        return [node for node in self.now if node.id not in self.kept]


class LinkChange(NamedTuple):
    """The edges of hyperlinks that come, and those between nodes that stay that go."""

    edges: list[PlainEdge]
    lost: list[tuple[int, str, int]]
    """As in `Revision.lost`."""


class Increment:
    """The edges and the names of what comes to a graph. `names` are those that lie beside it."""

    def __init__(self, graph: Graph, shelved: Shelved, changed: ChangedNodes, config: BuildConfig) -> None:
        self._graph, self._shelved, self._changed, self._config = graph, shelved, changed, config
        self._new = {node.id: node for node in changed.new}
        self._stays = np.ones(len(shelved.rows), np.bool_)  # (n,): by place
        self._stays[changed.gone] = False

    def order_edges(self) -> Iterator[PlainEdge]:
        """Return the edges of order that come."""
        return (edge for edge in order_edges(self._changed.now) if {edge.source, edge.target} & self._new.keys())

    # ---------------------------------------------------------------------------------------------------------- links

    def link_change(self) -> LinkChange:
        """Return how the edges of hyperlinks change: exactly as a build would make them."""
        old = self._sources()
        has_links = any(node.properties.get("links") for node in self._new.values())
        if not len(old) and not has_links:
            return LinkChange([], [])
        targets = self._targets()
        edges = [
            PlainEdge(node.id, LINKS_TO, target)
            for node in self._new.values()
            for target in targets.linked(node.id, node.properties.get("links"), str(node.properties.get("file", "")))
        ]
        lost: list[tuple[int, str, int]] = []
        arrays, shelved = self._shelved.arrays, self._shelved
        links = arrays.properties.every("links", shelved.rows[old])
        place = {int(shelved.rows[at]): at for at in old.tolist()}
        kinds = arrays.types.kind_mask([LINKS_TO], "out") if LINKS_TO in arrays.types.edges else None
        for row, its_links in zip(shelved.rows[old].tolist(), links, strict=True):
            node_id = shelved.ids[place[row]]
            now = targets.linked(node_id, its_links, shelved.marks[place[row]].file)
            had: dict[str, int] = {}
            if kinds is not None:
                around = arrays.adjacency.entries(np.array([row], np.int32), kinds).neighbor.tolist()
                had = {arrays.ids[other]: other for other in around}
            staying = {node_id: other for node_id, other in had.items() if self._row_stays(other)}
            edges += [PlainEdge(node_id, LINKS_TO, target) for target in now if target not in staying]
            lost += [(row, LINKS_TO, other) for target, other in staying.items() if target not in now]
        return LinkChange(edges, lost)

    def _sources(self) -> Numbers:
        """Return the places of the nodes that stay whose links may lead elsewhere than before."""
        shelved, arrays = self._shelved, self._shelved.arrays
        if "links" not in arrays.properties.names:
            return np.zeros(0, np.int64)
        names = arrays.names
        gone = self._changed.gone.tolist()
        documents = [
            (shelved.marks[at].file, str(names[int(shelved.rows[at])])) for at in gone if shelved.is_document[at]
        ]
        documents += [
            (str(node.properties.get("file")), node.name) for node in self._changed.now if node.type == DOCUMENT
        ]
        touched = Touched(documents)
        having = np.searchsorted(shelved.rows, arrays.properties.rows("links"))
        may_be = np.zeros(len(shelved.rows), np.bool_)
        for at, links in zip(having.tolist(), arrays.properties.every("links", shelved.rows[having]), strict=True):
            may_be[at] = isinstance(links, list) and any(touched.may_be(str(link)) for link in links)
        if LINKS_TO in arrays.types.edges and len(gone):
            entries = arrays.adjacency.entries(
                shelved.rows[np.sort(self._changed.gone)], arrays.types.kind_mask([LINKS_TO], "in")
            )
            may_be[np.searchsorted(shelved.rows, entries.neighbor)] = True
        files = {mark_file for mark_file, _ in documents}
        may_be[[at for at in having.tolist() if shelved.marks[at].file in files]] = True
        return np.flatnonzero(may_be & self._stays)

    def _row_stays(self, row: int) -> bool:
        return bool(self._stays[np.searchsorted(self._shelved.rows, row)])

    def _targets(self) -> Targets:
        """Return where links lead now."""
        shelved, arrays = self._shelved, self._shelved.arrays
        anchors = arrays.properties.every("anchors", shelved.rows)
        there: list[tuple[ShelfMark, int | Node]] = [
            (shelved.marks[at], at)
            for at in np.flatnonzero(self._stays).tolist()
            if shelved.is_document[at] or anchors[at] is not None
        ]
        there += [(mark_of(node.id, node.type, node.properties), node) for node in self._new.values()]
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
    """A part of the new corpus: the place of one that stays, or the number of one that comes."""

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
    """The names of a graph whose parts change, and the edges that they give to those that come."""

    def __init__(
        self, graph: Graph, shelved: Shelved, changed: ChangedNodes, names: NameIncidence, config: BuildConfig
    ) -> None:
        assert names.case is not None  # the caller has checked
        self._graph, self._shelved, self._changed, self._config = graph, shelved, changed, config
        self._names = names
        self._case = _counted(names.case, shelved, changed)
        self._passages = np.flatnonzero(~shelved.is_document)  # places, in the order in which the names number them
        self._stays = np.ones(len(shelved.rows), np.bool_)
        self._stays[changed.gone] = False
        new_ids = {node.id for node in changed.new}
        parts = [(part, node) for part, node in parts_of(changed.now)]
        untitled = NameScan()
        for number, (part, node) in enumerate(parts):
            if part.is_untitled and node.type == CHUNK:
                untitled.add_text(number, node.text)
        name_untitled(untitled, [part for part, _ in parts], self._case)
        self._coming = [(part, node) for part, node in parts if node.id in new_ids]
        self._ordered = self._order()
        self._number_of_new = {place.at: number for number, place in enumerate(self._ordered) if place.is_new}
        self._number_of_old = np.full(len(shelved.rows), -1, np.int64)  # (n,): by place
        for number, place in enumerate(self._ordered):
            if not place.is_new:
                self._number_of_old[place.at] = number

    def _order(self) -> list[_Place]:
        """Return all parts of the new corpus, in the order of the shelf."""
        marks = self._shelved.marks
        places = [_Place(marks[at], False, at) for at in self._passages.tolist() if self._stays[at]]
        places += [
            _Place(mark_of(node.id, node.type, node.properties), True, at) for at, (_, node) in enumerate(self._coming)
        ]
        return sorted(places)

    @cached_property
    def corpus(self) -> CorpusNames:
        """The names of the new corpus; the mentions are those that a part that comes makes or gets."""
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
        by_number = [""] * len(written)
        for key, number in keys.items():
            by_number[number] = key
        return self._settled(np.concatenate(members, 1), np.concatenate(titled, 1), mentions, written, by_number)

    def edges(self) -> Iterator[EdgeBatch | Edge]:
        """Return the edges of names between a part that comes and any other."""
        names = self.corpus
        is_new = np.array([place.is_new for place in self._ordered], np.bool_)
        new = {node.id for _, node in self._coming}
        for edge in mention_edges(names):
            if edge.source in new or edge.target in new:
                yield edge
        yield from shared_edges(names, self._config, new=is_new)

    def incidence(self, layout: Layout) -> NameIncidence:
        """Return the names as they are stored beside the new generation."""
        names = self.corpus
        coming = {
            node.id: int(row)
            for node, row in zip(sorted(self._changed.new, key=lambda node: node.id), layout.new, strict=True)
        }
        rows = np.array(
            [
                coming[self._coming[place.at][1].id] if place.is_new else layout.old[self._shelved.rows[place.at]]
                for place in self._ordered
            ],
            np.int64,
        )
        number = np.argsort(np.argsort(rows))  # of each part among the passages
        count, width = len(rows), len(names.names)
        owner = number[np.repeat(np.arange(count), np.diff(names.begins))]
        held = distinct_lists(owner, names.members.astype(np.int64), count, width)
        pairs = np.array([(name, part) for name, parts in names.titled.items() for part in parts], np.int64).reshape(
            -1, 2
        )
        order = sorted(range(width), key=names.keys.__getitem__)
        return NameIncidence(
            held=held,
            holders=held.inverted(width),
            titled=distinct_lists(pairs[:, 0], number[pairs[:, 1]], width, count),
            keys=[names.keys[name] for name in order],
            numbers=np.array(order, np.int32),
            written=names.names,
            case=stored_case(self._case),
        )

    # ---------------------------------------------------------------------------------------------------------- names

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
        """Return the names in the parts that come, and those that these bring in parts that stay."""
        new_titles = {key for part, _ in self._coming for title in part.titles for key in surfaces(title)}
        still_titles = set(self._old_titled()[1].tolist())
        titles = {key for key, number in keys.items() if number in still_titles} | new_titles
        own = self._names_of(self._coming, titles)
        brought = {*new_titles, *(key for key in own.keys if key not in keys)}
        places, everywhere = self._hearing(brought, keys)
        nodes = [self._shelved.node(at) for at in places]
        others = self._names_of([(DocumentPart(node.id, 0), node) for node in nodes], titles)
        new_numbers = np.array([self._number_of_new[at] for at in range(len(self._coming))], np.int64)
        return (
            _Found(own, new_numbers, frozenset(own.keys) - everywhere),
            _Found(others, self._number_of_old[places], frozenset(brought) - everywhere),
        )

    def _names_of(self, parts: Sequence[tuple[DocumentPart, Node]], titles: set[str]) -> CorpusNames:
        scan = NameScan()
        for number, (_, node) in enumerate(parts):
            add_node(scan, number, node)
        return corpus_names(scan, [part for part, _ in parts], titles, self._case, None)

    def _hearing(self, brought: Iterable[str], keys: Mapping[str, int]) -> tuple[Numbers, frozenset[str]]:
        """Return the places of parts that stay and may hold one of these names, and names whose words are everywhere.

        Such a name is too common, as far as can be told without reading most of the texts.
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
        place = np.where(keep, np.cumsum(keep) - 1, -1)
        stays = keep[held.members]
        begins = np.concatenate([[0], np.cumsum(stays)])[held.begins]
        of_titles = titled[:, keep[titled[1]]]
        lists = distinct_lists(place[of_titles[1]], of_titles[0], int(keep.sum()), count)
        return CorpusNames(
            parts=self._parts(),
            names=tuple(name for name, is_kept in zip(written, keep.tolist(), strict=True) if is_kept),
            weights=np.array([idf(int(number), count) for number in counts[keep]], np.float64),
            begins=begins,
            members=place[held.members[stays]].astype(np.int32),
            titled={int(name): tuple(lists.of(int(name)).tolist()) for name in np.flatnonzero(lists.counts())},
            mentions=tuple(
                replace(mention, name=int(place[mention.name]))
                for mention in sorted(mentions, key=lambda mention: mention.part)
                if keep[mention.name]
            ),
            keys=tuple(key for key, is_kept in zip(keys, keep.tolist(), strict=True) if is_kept),
        )

    def _parts(self) -> tuple[DocumentPart, ...]:
        numbers: dict[str, int] = {}
        parts = []
        for place in self._ordered:
            node_id = self._coming[place.at][1].id if place.is_new else self._shelved.ids[place.at]
            number = numbers.setdefault(f"{place.mark.file}\0{place.mark.document}", len(numbers))
            parts.append(DocumentPart(node_id, number, opens=place.mark.order == 0))
        return tuple(parts)


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
