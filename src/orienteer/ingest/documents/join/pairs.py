"""Edges between the parts of a build: order, hyperlinks, titles mentioned, rare names shared."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.edges import CodedColumn, EdgeBatch
from orienteer.graph.names import CorpusNames
from orienteer.graph.reserved import DOCUMENT, LINKS_TO, MENTIONS, NEXT, PART_OF, SHARES_NAMES
from orienteer.index.arrays import begins_of, runs
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.read.blocks import MID
from orienteer.ingest.documents.read.markdown import anchor_of
from orienteer.records import Edge, JsonValue, Node

SHOWN = 5
"""Shared names that an edge lists, the rarest first."""
LEAST_HOLDERS = 2
"""Chunks that a name stands in to join them."""
_PAIRS = 1 << 22  # pairs that are weighed at once, to bound memory
_MOST_REACHED = 1 << 23  # pairs that are weighed for the parts near new ones: about two seconds
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
_ENDINGS = ("", ".md", ".markdown", ".mdx", ".html", ".htm", "/index.md", "/README.md", "/index.html")


class PlainEdge(NamedTuple):
    """An edge that says nothing but its type: a build has hundreds of thousands."""

    source: str
    type: str
    target: str


def order_edges(nodes: Iterable[Node]) -> Iterator[PlainEdge]:
    """Return the edges of parts to their documents, and of each part to the next."""
    before: Node | None = None
    for node in nodes:
        document = node.properties.get("document")
        if isinstance(document, str) and node.type != DOCUMENT:
            yield PlainEdge(node.id, PART_OF, document)
            if before is not None and before.properties.get("document") == document:
                yield PlainEdge(before.id, NEXT, node.id)
        before = node


def link_edges(nodes: Iterable[Node], targets: Targets) -> Iterator[PlainEdge]:
    """Return the edges that hyperlinks make, given the targets of all nodes; a link out of the documents makes none."""
    for node in nodes if targets.has_links else ():
        for target in targets.linked(node.id, node.properties.get("links"), str(node.properties.get("file", ""))):
            yield PlainEdge(node.id, LINKS_TO, target)


class Targets:
    """Where hyperlinks lead."""

    def __init__(self) -> None:
        self.has_links = False
        """Whether a node that was noted has links."""
        self._files: dict[str, str] = {}
        """Documents by file."""
        self._stems: dict[str, str] = {}
        """Files by what a wiki link may call them: a name without its ending, a title."""
        self._anchors: dict[tuple[str, str], str] = {}
        self._resolved: dict[tuple[str, str], str | None] = {}
        """Files by the path of a link and the folder that it stands in."""

    def noted(self, nodes: Iterable[Node]) -> Iterator[Node]:
        """Yield the nodes, and take each in."""
        for node in nodes:
            properties = node.properties
            self.add(node.id, node.type, node.name, properties.get("file"), properties.get("anchors"))
            self.has_links = self.has_links or "links" in properties
            yield node

    def add(self, node_id: str, kind: str, name: str, file: JsonValue, anchors: JsonValue) -> None:
        """Take in a node, in the order of the shelf: the first of several with one name or anchor has it."""
        if kind == DOCUMENT and isinstance(file, str):
            self._files[file] = node_id
            for called in (posixpath.splitext(posixpath.basename(file))[0], name):
                self._stems.setdefault(called.casefold(), file)
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
        path: str = unquote(link.partition("#")[0].partition("?")[0])
        anchor = unquote(link.partition("#")[2])
        target = (self._file(path, file) or self._stems.get(path.strip().casefold())) if path else file
        if target is None:
            return None
        for spelled in (anchor, anchor_of(anchor)) if anchor else ():
            if (target, spelled) in self._anchors:
                return self._anchors[target, spelled]
        return self._files.get(target)

    def _file(self, path: str, file: str) -> str | None:
        start = "" if path.startswith("/") else posixpath.dirname(file)
        if (start, path) not in self._resolved:
            self._resolved[start, path] = self._resolve(start, path)
        return self._resolved[start, path]

    def _resolve(self, start: str, path: str) -> str | None:
        whole = posixpath.normpath(posixpath.join(start, path.lstrip("/")))
        spellings = [whole + ending for ending in _ENDINGS]
        if whole.endswith(".html"):  # a page as it is published, of a source in Markdown
            spellings.append(whole.removesuffix(".html") + ".md")
        return next((spelling for spelling in spellings if spelling in self._files), None)


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
    """Pairs of parts, each once: columns of shape (pairs,)."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    weight: NDArray[np.float64]
    """The sum of the weights of the names that both have."""
    names: NDArray[np.int32]
    """(pairs, SHOWN): the rarest of these names, the rarest first; -1 in place of further ones."""

    def take(self, at: NDArray[Any]) -> Pairs:  # Any: numbers or a mask
        """Return some of the pairs."""
        return Pairs(*(column[at] for column in self))


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
        pairs = pairs.take(new[pairs.first] | new[pairs.second])
    if not len(pairs.first):
        return
    # Nearly all edges share one name, and many the same: what they say is made, and stored, once.
    weight = pairs.weight.round(4)
    code = np.unique(weight, return_inverse=True)[1].astype(np.int64)
    for column in pairs.names.T:
        code = np.unique(code * (len(names.names) + 1) + column + 1, return_inverse=True)[1]
    examples = np.unique(code, return_index=True)[1]
    extras: list[dict[str, JsonValue]] = [
        {"weight": value, "properties": {"names": [names.names[name] for name in shown if name >= 0]}}
        for value, shown in zip(weight[examples].tolist(), pairs.names[examples].tolist(), strict=True)
    ]
    ids = [part.id for part in names.parts]
    yield EdgeBatch(
        CodedColumn(ids, pairs.first),
        CodedColumn([SHARES_NAMES], np.zeros(len(code), np.int8)),
        CodedColumn(ids, pairs.second),
        CodedColumn(extras, code),
    )


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
    rarest = sorted(np.flatnonzero(is_rare).tolist(), key=lambda name: (-names.weights[name], names.names[name]))
    rank = np.zeros(len(names.names), np.int64)
    rank[rarest] = np.arange(len(rarest))
    # The names of each part, the rarest first.
    member = member[np.argsort(owner.astype(np.int64) * len(rank) + rank[member])]
    order = np.argsort(member, kind="stable")
    holders, ends = owner[order], np.cumsum(np.bincount(member, minlength=len(names.names)))
    starts = ends - np.bincount(member, minlength=len(names.names))
    if among is not None:
        owner, member = owner[among[owner]], member[among[owner]]
    reach = (ends - starts)[member]
    chosen: list[Pairs] = []
    for low, high in _blocks(owner, reach):
        own, named, width = owner[low:high], member[low:high], reach[low:high]
        at = np.repeat(starts[named] - (np.cumsum(width) - width), width) + np.arange(int(width.sum()))
        chosen.append(_strongest(np.repeat(own, width), holders[at], np.repeat(named, width), names, strongest))
    if not chosen:
        nothing = np.zeros(0, np.int32)
        return Pairs(nothing, nothing, np.zeros(0), np.zeros((0, SHOWN), np.int32))
    pairs = Pairs(*(np.concatenate(columns) for columns in zip(*chosen, strict=True)))
    # Each pair once, the part that comes earlier first.
    first, second = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    once = np.unique(first.astype(np.int64) * size + second, return_index=True)[1]
    return Pairs(first, second, pairs.weight, pairs.names).take(once)


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


def _strongest(
    first: NDArray[np.int32], second: NDArray[np.int32], named: NDArray[np.int32], names: CorpusNames, most: int
) -> Pairs:
    """Add up the names that join each two parts, (names,) each, and keep the strongest pairs of each first part.

    A part and itself are no pair. Ties go to the second part that comes earlier.
    """
    apart = np.flatnonzero(first != second)
    key = first[apart].astype(np.int64) * len(names.parts) + second[apart]
    order = np.argsort(key, kind="stable")
    named = named[apart[order]]
    key, counts = runs(key[order])
    begins = begins_of(counts)
    weight = np.add.reduceat(names.weights[named], begins[:-1]) if len(key) else np.zeros(0)
    first, second = (key // len(names.parts)).astype(np.int32), (key % len(names.parts)).astype(np.int32)
    documents = np.array([part.document for part in names.parts], np.int64)
    group = first.astype(np.int64) * 2 + (documents[first] == documents[second])
    # Equal sums of unequal order differ in their last bits: they are ties all the same.
    order = np.lexsort((second, -weight.round(9), group))
    group = group[order]
    group_counts = runs(group)[1]
    place = np.arange(len(group)) - np.repeat(begins_of(group_counts)[:-1], group_counts)
    strongest = order[place < np.where(group & 1, max(1, most // 3), most)]
    further = np.arange(SHOWN)
    at = begins[strongest, None] + further
    shown = np.where(further < counts[strongest, None], named[np.minimum(at, len(named) - 1)] if len(named) else -1, -1)
    return Pairs(first[strongest], second[strongest], weight[strongest], shown.astype(np.int32))
