"""Edges between the parts of a build: order, hyperlinks, titles mentioned, rare names shared."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.edges import EdgeBatch
from orienteer.graph.names import CorpusNames
from orienteer.graph.reserved import DOCUMENT, LINKS_TO, MENTIONS, NEXT, PART_OF, SHARES_NAMES
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.read.blocks import MID
from orienteer.ingest.documents.read.markdown import anchor_of
from orienteer.records import Edge, JsonValue, Node

SHOWN = 5
"""Shared names that an edge lists, the rarest first."""
LEAST_HOLDERS = 2
"""Chunks that a name stands in to join them."""
_BATCH = 20_000
_PAIRS = 1 << 22  # pairs that are weighed at once, to bound memory
_MOST_REACHED = 1 << 23  # pairs that are weighed for the parts near new ones: about two seconds
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
_ENDINGS = ("", ".md", ".markdown", ".mdx", ".html", ".htm", "/index.md", "/README.md", "/index.html")


def order_edges(nodes: Iterable[Node]) -> Iterator[Edge]:
    """Return the edges of parts to their documents, and of each part to the next."""
    before: Node | None = None
    for node in nodes:
        document = node.properties.get("document")
        if isinstance(document, str) and node.type != DOCUMENT:
            yield Edge(node.id, PART_OF, document)
            if before is not None and before.properties.get("document") == document:
                yield Edge(before.id, NEXT, node.id)
        before = node


def link_edges(nodes: Iterable[Node]) -> Iterator[Edge]:
    """Return the edges that hyperlinks within the documents make; those that lead elsewhere make none.

    The nodes can be iterated again.
    """
    targets = Targets()
    for node in nodes:
        targets.add(node.id, node.type, node.name, node.properties.get("file"), node.properties.get("anchors"))
    for node in nodes:
        for target in targets.linked(node.id, node.properties.get("links"), str(node.properties.get("file", ""))):
            yield Edge(node.id, LINKS_TO, target)


class Targets:
    """Where hyperlinks lead."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        """Documents by file."""
        self._stems: dict[str, str] = {}
        """Files by what a wiki link may call them: a name without its ending, a title."""
        self._anchors: dict[tuple[str, str], str] = {}

    def add(self, node_id: str, kind: str, name: str, file: JsonValue, anchors: JsonValue) -> None:
        """Take in a node, in the order of the shelf: the first of several with one name or anchor has it."""
        if kind == DOCUMENT and isinstance(file, str):
            self._files[file] = node_id
            for called in called_by(file, name):
                self._stems.setdefault(called, file)
        for anchor in anchors if isinstance(anchors, list) else ():
            place = "" if str(anchor).startswith(MID) else str(file)
            self._anchors.setdefault((place, str(anchor)), node_id)

    def linked(self, node_id: str, links: JsonValue, file: str) -> list[str]:
        """Return the nodes that the links of a node lead to, each once, but not itself."""
        ends = [self.of(str(link), file) for link in links] if isinstance(links, list) else []
        return [end for end in dict.fromkeys(ends) if end is not None and end != node_id]

    def of(self, link: str, file: str) -> str | None:
        """Return the node that a link in a file leads to, None if it leads out of the documents."""
        if link.startswith(MID):
            return self._anchors.get(("", link))
        if _SCHEME.match(link):
            return None
        path, anchor = path_of(link), unquote(link.partition("#")[2])
        target = (self._file(path, file) or self._stems.get(path.strip().casefold())) if path else file
        if target is None:
            return None
        for spelled in (anchor, anchor_of(anchor)) if anchor else ():
            if (target, spelled) in self._anchors:
                return self._anchors[target, spelled]
        return self._files.get(target)

    def _file(self, path: str, file: str) -> str | None:
        start = "" if path.startswith("/") else posixpath.dirname(file)
        whole = posixpath.normpath(posixpath.join(start, path.lstrip("/")))
        spellings = [whole + ending for ending in _ENDINGS]
        if whole.endswith(".html"):  # a page as it is published, of a source in Markdown
            spellings.append(whole.removesuffix(".html") + ".md")
        return next((spelling for spelling in spellings if spelling in self._files), None)


def path_of(link: str) -> str:
    """Return the path in a link, without query and anchor."""
    path: str = unquote(link.partition("#")[0].partition("?")[0])
    return path


def called_by(file: str, name: str) -> tuple[str, str]:
    """Return what a wiki link may call a document: its file's name without its ending, and its title, both folded."""
    return posixpath.splitext(posixpath.basename(file))[0].casefold(), name.casefold()


class Touched:
    """Tells which links may lead to some documents, now or before, by the last part of their paths."""

    def __init__(self, documents: Iterable[tuple[str, str]]) -> None:
        """Take the file and the title of each document."""
        self._tails = {"", ".", ".."}  # what these lead to depends on where they stand
        self._called: set[str] = set()
        self._known: dict[str, bool] = {}
        for file, name in documents:
            self._called.update(called_by(file, name))
            base, above = posixpath.basename(file), posixpath.basename(posixpath.dirname(file))
            self._tails.update(base.removesuffix(ending) for ending in _ENDINGS)
            self._tails.add(above)
            self._tails.add(base.removesuffix(".md") + ".html")

    def may_be(self, link: str) -> bool:
        """Return whether a link may lead to one of them."""
        if link.startswith(MID):
            return True
        known = self._known.get(link)
        if known is None:
            path = "" if _SCHEME.match(link) else path_of(link)
            is_near = posixpath.basename(posixpath.normpath(path)) in self._tails
            known = self._known[link] = bool(path) and (is_near or path.strip().casefold() in self._called)
        return known


def mention_edges(names: CorpusNames) -> Iterator[Edge]:
    """Return the edges of chunks to chunks whose title they mention.

    Weight: idf of the title / chunks so titled. A chunk does not mention its own title, nor that of its document.
    Properties: `names` that are mentioned; in a table also `rows`, as numbered in the file, and `columns`.
    """
    mentions: dict[tuple[int, int], list[tuple[int, int | None, int | None]]] = {}
    parts = names.parts
    last = -1
    for mention in names.mentions:
        if mention.part != last:  # mentions come part by part
            yield from _mentioning(names, mentions)
            mentions, last = {}, mention.part
        titled = names.titled[mention.name]
        if mention.part in titled:
            continue
        for target in titled:
            is_own = parts[target].document == parts[mention.part].document and parts[target].opens
            if not is_own:
                mentions.setdefault((mention.part, target), []).append((mention.name, mention.row, mention.column))
    yield from _mentioning(names, mentions)


def _mentioning(
    names: CorpusNames, mentions: dict[tuple[int, int], list[tuple[int, int | None, int | None]]]
) -> Iterator[Edge]:
    for (source, target), places in mentions.items():
        weight = max(float(names.weights[name]) / len(names.titled[name]) for name, _, _ in places)
        properties: dict[str, JsonValue] = {"names": list(dict.fromkeys(names.names[name] for name, _, _ in places))}
        for label, values in (
            ("rows", [row for _, row, _ in places]),
            ("columns", [column for _, _, column in places]),
        ):
            stated = sorted({value for value in values if value is not None})
            if stated:
                properties[label] = stated
        yield Edge(names.parts[source].id, MENTIONS, names.parts[target].id, "", round(weight, 4), properties)


class Pairs(NamedTuple):
    """Pairs of parts, each once, and what joins them weighs."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    weight: NDArray[np.float64]


def shared_edges(
    names: CorpusNames, config: BuildConfig, *, new: NDArray[np.bool_] | None = None
) -> Iterator[EdgeBatch]:
    """Return the edges between chunks that share rare names, the strongest of each chunk; those of `new` ones alone.

    Weight: sum of the idf of the names that both have and that stand in `shared_most` chunks at the most.
    Properties: `names`, the rarest of them.
    """
    is_rare = rare(names, config)
    among = None if new is None else _near(names, is_rare, new)
    pairs = shared_pairs(names, is_rare, strongest=config.strongest, among=among)
    if new is not None:
        is_wanted = new[pairs.first] | new[pairs.second]
        pairs = Pairs(pairs.first[is_wanted], pairs.second[is_wanted], pairs.weight[is_wanted])
    order = sorted(np.flatnonzero(is_rare).tolist(), key=lambda name: (-names.weights[name], names.names[name]))
    place = np.full(len(names.names), -1, np.int64)
    place[order] = np.arange(len(order))
    written = [names.names[name] for name in order]
    rare_names: list[frozenset[int]] = [frozenset()] * len(names.parts)
    for part in range(len(names.parts)) if new is None else {*pairs.first.tolist(), *pairs.second.tolist()}:
        members = names.of(part)
        rare_names[part] = frozenset(place[members[is_rare[members]]].tolist())
    ids = [part.id for part in names.parts]
    for low in range(0, len(pairs.first), _BATCH):
        here = [column[low : low + _BATCH].tolist() for column in pairs]
        extras: list[dict[str, JsonValue]] = [
            {
                "weight": round(weight, 4),
                "properties": {
                    "names": [written[name] for name in sorted(rare_names[first] & rare_names[second])[:SHOWN]]
                },
            }
            for first, second, weight in zip(*here, strict=True)
        ]
        sources, targets = ([ids[part] for part in column] for column in here[:2])
        yield EdgeBatch(sources, [SHARES_NAMES] * len(sources), targets, extras)


def rare(names: CorpusNames, config: BuildConfig) -> NDArray[np.bool_]:
    """Mark the names that may join chunks, (names,): those in two chunks at least, and in `shared_most` at most."""
    counts = np.bincount(names.members, minlength=len(names.names))
    return (counts >= LEAST_HOLDERS) & (counts <= config.shared_most)


def _near(names: CorpusNames, is_rare: NDArray[np.bool_], new: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark some parts and those that share a rare name with one of them: (parts,); the first alone if that is much."""
    owner, held = _rare_names(names, is_rare)
    is_shared = np.zeros(len(names.names), np.bool_)
    is_shared[held[new[owner]]] = True
    near = new.copy()
    near[owner[is_shared[held]]] = True
    reach = np.bincount(held, minlength=len(names.names))[held[near[owner]]].sum()
    return near if reach <= _MOST_REACHED else new


def _rare_names(names: CorpusNames, is_rare: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the rare names of parts: two columns, part and name, part after part."""
    owner = np.repeat(np.arange(len(names.parts), dtype=np.int32), np.diff(names.begins))
    stays = is_rare[names.members]
    return owner[stays], names.members[stays]


def shared_pairs(
    names: CorpusNames, is_rare: NDArray[np.bool_], *, strongest: int, among: NDArray[np.bool_] | None = None
) -> Pairs:
    """Return the pairs that are among the strongest of either of the two, or of those `among`, (parts,), that are one.

    Parts of one document compete among themselves, for a third of the places, so that they crowd out no others.
    """
    size = len(names.parts)
    owner, member = _rare_names(names, is_rare)
    order = np.argsort(member, kind="stable")
    holders, ends = owner[order], np.cumsum(np.bincount(member, minlength=len(names.names)))
    starts = ends - np.bincount(member, minlength=len(names.names))
    documents = np.array([part.document for part in names.parts], np.int64)
    if among is not None:
        owner, member = owner[among[owner]], member[among[owner]]
    reach = (ends - starts)[member]
    chosen: list[Pairs] = []
    for low, high in _blocks(owner, reach):
        own, named, width = owner[low:high], member[low:high], reach[low:high]
        at = np.repeat(starts[named] - (np.cumsum(width) - width), width) + np.arange(int(width.sum()))
        pairs = _summed(np.repeat(own, width), holders[at], np.repeat(names.weights[named], width), size)
        chosen.append(_strongest(pairs, documents, strongest))
    if not chosen:
        return Pairs(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))
    return _once(Pairs(*(np.concatenate(columns) for columns in zip(*chosen, strict=True))), size)


def _blocks(owner: NDArray[np.int32], reach: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Cut entries where a new part begins, so that no block makes more pairs than memory should hold."""
    running = np.cumsum(reach)
    low = 0
    while low < len(owner):
        before = int(running[low - 1]) if low else 0
        high = max(int(np.searchsorted(running, before + _PAIRS, "right")), low + 1)
        if high < len(owner):
            begin = int(np.searchsorted(owner, owner[high], "left"))
            high = begin if begin > low else int(np.searchsorted(owner, owner[low], "right"))
        yield low, high
        low = high


def _summed(first: NDArray[Any], second: NDArray[Any], weight: NDArray[np.float64], size: int) -> Pairs:
    """Add up what joins each two parts, a part and itself left out."""
    apart = first != second
    key = first[apart].astype(np.int64) * size + second[apart]
    order = np.argsort(key, kind="stable")
    key = key[order]
    begins = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])) if len(key) else np.zeros(0, np.int64)
    total = np.add.reduceat(weight[apart][order], begins) if len(key) else np.zeros(0)
    return Pairs((key[begins] // size).astype(np.int32), (key[begins] % size).astype(np.int32), total)


def _strongest(pairs: Pairs, documents: NDArray[np.int64], most: int) -> Pairs:
    """Keep the strongest pairs of each first part; ties go to the second that comes earlier."""
    same = documents[pairs.first] == documents[pairs.second]
    group = pairs.first.astype(np.int64) * 2 + same
    # Equal sums of unequal order differ in their last bits: they are ties all the same.
    order = np.lexsort((pairs.second, -pairs.weight.round(9), group))
    group = group[order]
    begins = np.concatenate([[True], group[1:] != group[:-1]]) if len(group) else np.zeros(0, np.bool_)
    place = np.arange(len(group)) - np.maximum.accumulate(np.where(begins, np.arange(len(group)), 0))
    strongest = order[place < np.where(group & 1, max(1, most // 3), most)]
    return Pairs(pairs.first[strongest], pairs.second[strongest], pairs.weight[strongest])


def _once(pairs: Pairs, size: int) -> Pairs:
    """Keep each pair once, the part that comes earlier first."""
    low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    _, at = np.unique(low.astype(np.int64) * size + high, return_index=True)
    return Pairs(low[at], high[at], pairs.weight[at])
