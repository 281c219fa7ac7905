"""Which names stand in which passages of a graph, and which passages a name titles: what a walk goes over.

Names are the entities of a graph that has them: what its passages have edges `mentions` and `titled` to. In a graph of
passages alone they are those that `orienteer build` found by statistics of the corpus and kept beside the graph
(`orienteer.graph.pieces.incidence`); they are found when they are missed.
"""

from __future__ import annotations

import logging
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orienteer.graph import pieces
from orienteer.graph.names import CorpusNames, find_names
from orienteer.graph.pieces.incidence import (
    PIECE,
    Lists,
    NameIncidence,
    Numbers,
    distinct_lists,
    incidence_of,
    read_names,
    write_names,
)
from orienteer.graph.reserved import DOCUMENT
from orienteer.graph.store import Graph
from orienteer.graph.titles import TitleFinder
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.records import Node
from orienteer.retrieval.spaces import Spaces
from orienteer.text.proper_names import LEAST_CHUNKS, LONGEST

logger = logging.getLogger(__name__)

MENTIONS, TITLED = "mentions", "titled"
"""Edge types from a passage to an entity that it names, and to the one that its title names."""
_COMMON = 0.02  # share of the nodes that may have the one word of a name, as in graph/titles.py
_PATIENCE = 60.0  # seconds that another process may take to make the piece
_WORD = re.compile(r"\w+")
_JOINTS = (" ", "-", "'", "’")


@dataclass(frozen=True, slots=True)
class Incidence:
    """Names and passages by number, and where each stands."""

    passages: Rows
    """The row of each passage, ascending."""
    written: Callable[[int], str]
    """Returns a name, given its number, as it is first written."""
    held: Lists
    """Names of each passage."""
    holders: Lists
    """Passages of each name."""
    titled: Lists
    """Passages that each name titles, which hold it too."""
    find: Callable[[str], Numbers]
    """Returns the numbers of the names that stand in a text, ascending: the longest first, no word part of two. A name
    has a capital or a digit where it stands there; one of a single word is in few nodes; one that is no title is no
    part of a longer run of capitalised words."""
    rows: Rows | None = None
    """The row of each name, ascending, where names are entities."""
    note: str = ""
    """Why it could not be kept beside the graph, where it could not."""

    def weights(self) -> NDArray[np.float32]:
        """Return how much each name says: ln(1 + passages / passages that hold it)."""
        counts = np.maximum(self.holders.counts(), 1)
        return np.log1p(len(self.passages) / counts).astype(np.float32)  # (names,)

    def places(self, rows: Rows) -> Numbers:
        """Return the numbers of the passages of some rows, all of which are one."""
        return self.passages.searchsorted(rows).astype(np.int32)


def open_incidence(graph: Graph, spaces: Spaces) -> Incidence | None:
    """Return the names of a graph's passages: its entities, else what statistics find; None without passages.

    Raises `NotAGraph` for damage, `GraphBusy` where another process does not finish what it writes there.
    """
    if not spaces.has_passages:
        return None
    entities = _of_entities(graph, spaces)
    return entities if entities is not None else _kept(graph, spaces.passages)


# ------------------------------------------------------------------------------------------------------- entities


def _of_entities(graph: Graph, spaces: Spaces) -> Incidence | None:
    """Return the incidence that an extracted knowledge base holds; None where no passage has an edge to an entity."""
    kinds = [name for name in (MENTIONS, TITLED) if name in graph.arrays.types.edges]
    if not kinds or not spaces.entities.any():
        return None
    passages = np.flatnonzero(spaces.passages).astype(np.int32)
    rows = np.flatnonzero(spaces.entities).astype(np.int32)
    entries = graph.arrays.adjacency.entries(passages, graph.arrays.kind_mask(kinds, None))
    entries = entries.where(spaces.entities[entries.neighbor])
    if not len(entries.owner):
        return None
    holder, name = passages.searchsorted(entries.owner), rows.searchsorted(entries.neighbor)
    listing = distinct_lists(holder, name, len(passages), len(rows))
    is_title = np.isin(entries.kind >> 1, [graph.arrays.types.edges.index(name) for name in kinds if name == TITLED])
    titles = TitleFinder(graph.arrays)

    def find(text: str) -> Numbers:
        named = titles(text)
        return rows.searchsorted(named[spaces.entities[named]]).astype(np.int32)

    return Incidence(
        passages=passages,
        written=lambda number: str(graph.arrays.names[int(rows[number])]),
        held=listing,
        holders=listing.inverted(len(rows)),
        titled=distinct_lists(name[is_title], holder[is_title], len(rows), len(passages)),
        find=find,
        rows=rows,
    )


# -------------------------------------------------------------------------------------------- names by statistics


def _kept(graph: Graph, passages: Mask) -> Incidence:
    """Return the names that lie beside a graph, found and put there where there are none.

    Where nothing may be written there they live as long as who asked, and the incidence notes it.
    """

    def fitting(folder: Path) -> NameIncidence | None:
        names = read_names(folder, graph.arrays.manifest.generation)
        return names if names is not None and len(names.held.begins) == passages.sum() + 1 else None

    def write(work: Path) -> None:
        write_names(graph, _names_of(graph, passages), work)

    names, why = pieces.piece_or_made(
        graph.path, graph.arrays.manifest.generation, PIECE, read=fitting, write=write, patience=_PATIENCE
    )
    if names is not None:
        return _incidence(graph, passages, names)
    note = f"names are found by every process anew, for {why}"
    logger.warning("%s", note)
    return _incidence(graph, passages, incidence_of(graph, _names_of(graph, passages)), note)


def _incidence(graph: Graph, passages: Mask, names: NameIncidence, note: str = "") -> Incidence:
    return Incidence(
        passages=np.flatnonzero(passages).astype(np.int32),
        written=names.written.__getitem__,
        held=names.held,
        holders=names.holders,
        titled=names.titled,
        find=_NamesIn(graph, names),
        note=note,
    )


def _names_of(graph: Graph, passages: Mask) -> CorpusNames:
    return find_names(_Ordered(graph, passages), progress=_silent)


class _Ordered:
    """The documents and passages of a graph, each document before its parts and those in their order."""

    def __init__(self, graph: Graph, passages: Mask) -> None:
        self._graph = graph
        types = [DOCUMENT] if DOCUMENT in graph.arrays.types.nodes else []
        documents = graph.arrays.mask(types) if types else None
        rows = np.flatnonzero(passages if documents is None else passages | documents).astype(np.int32)
        named, order = (
            graph.arrays.properties.values(name, rows) if name in graph.arrays.properties.names else [None] * len(rows)
            for name in ("document", "order")
        )
        ids = [graph.arrays.ids[row] for row in rows.tolist()]
        places = [
            (name if isinstance(name, str) else own, isinstance(name, str), at if isinstance(at, int) else 0)
            for own, name, at in zip(ids, named, order, strict=True)
        ]
        self._rows = [int(rows[at]) for at in sorted(range(len(rows)), key=places.__getitem__)]

    def __iter__(self) -> Iterator[Node]:
        return map(self._graph.arrays.node_at, self._rows)


class _NamesIn:
    """Finds names in a text by their words, the longest first. Safe to share among threads."""

    def __init__(self, graph: Graph, names: NameIncidence) -> None:
        self._graph, self._keys, self._numbers = graph, names.keys, names.numbers
        self._is_title = names.titled.counts() > 0  # (names,)
        self._most = max(LEAST_CHUNKS, _COMMON * len(graph))

    def __call__(self, text: str) -> Numbers:
        words = list(_WORD.finditer(text))
        folded = [word[0].casefold() for word in words]
        has_capital = [not word[0][0].islower() for word in words]
        numbers: set[int] = set()
        at = 0
        while at < len(words):
            length, number = self._longest(folded, has_capital, at)
            if length and (self._is_title[number] or not _is_inside(text, words, has_capital, at, at + length)):
                numbers.add(number)
            at += max(1, length)
        return np.array(sorted(numbers), np.int32)

    def _longest(self, words: list[str], has_capital: list[bool], at: int) -> tuple[int, int]:
        """Return how many words the longest name from one on has, and its number; 0 for none."""
        if not self._begins(words[at]):
            return 0, -1
        for length in range(min(LONGEST, len(words) - at), 0, -1):
            key = " ".join(words[at : at + length])
            place = bisect_left(self._keys, key)
            is_there = place < len(self._keys) and self._keys[place] == key
            if is_there and any(has_capital[at : at + length]) and not (length == 1 and self._is_common(key)):
                return length, int(self._numbers[place])
        return 0, -1

    def _begins(self, word: str) -> bool:
        """Say whether any name begins with a word."""
        place = bisect_left(self._keys, word)
        return place < len(self._keys) and self._keys[place].startswith(word)

    def _is_common(self, word: str) -> bool:
        postings = map(self._graph.arrays.text_index.posting, self._graph.arrays.tokenizer.expand(word))
        return any(posting is not None and posting.end - posting.begin > self._most for posting in postings)


def _is_inside(text: str, words: list[re.Match[str]], has_capital: list[bool], begin: int, end: int) -> bool:
    """Say whether words are part of a longer run of capitalised ones, and so may name something else altogether.

    The first word of a text has a capital whatever it is.
    """
    before = begin > 1 and has_capital[begin - 1] and text[words[begin - 1].end() : words[begin].start()] in _JOINTS
    after = end < len(words) and has_capital[end] and text[words[end - 1].end() : words[end].start()] == " "
    return before or after


def _silent(stage: str, count: int) -> None:
    """Take no notice of progress."""
