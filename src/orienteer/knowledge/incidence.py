"""Which names stand in which passages of a graph, and which passages a name titles: what a walk goes over.

Names are the entities of a graph that has them: what its passages have edges `mentions` and `titled` to. In a graph of
passages alone they are found by statistics of the corpus, as `orienteer build` finds them for its edges; that is kept
beside the graph, a piece of its generation, and made where it is missed.
"""

from __future__ import annotations

import errno
import logging
import re
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from orienteer.build.documents.config import BuildConfig
from orienteer.build.documents.mentions import Names, find_names
from orienteer.build.documents.names import LEAST_CHUNKS, LONGEST
from orienteer.errors import GraphBusy, NotAGraph
from orienteer.graph import format
from orienteer.graph.store import Graph
from orienteer.graph.titles import TitlesIn
from orienteer.index.arrays import Folder, Rows, StringWriter, encode, save
from orienteer.index.bm25 import Mask
from orienteer.knowledge.evidence import DOCUMENT
from orienteer.knowledge.spaces import Spaces
from orienteer.records import Node, Record

logger = logging.getLogger(__name__)

PIECE = "names"
ABOUT = "names.json"
_FORMAT = 1
MENTIONS, TITLED = "mentions", "titled"
"""Edge types from a passage to an entity that it names, and to the one that its title names."""
_COMMON = 0.02  # share of the nodes that may have the one word of a name, as in graph/titles.py
_PATIENCE = 60.0  # seconds that another process may take to make the piece
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
_WORD = re.compile(r"\w+")
_JOINTS = (" ", "-", "'", "’")

_LISTS = ("held", "holders", "titled")
Numbers = NDArray[np.int32]


class IncidenceAbout(Record):
    """What names that lie beside a graph say of themselves."""

    format: int = _FORMAT
    generation: str
    passages: int
    names: int
    mentions: int
    files: dict[str, int] = {}
    """The bytes of each file."""


class Lists(NamedTuple):
    """For each of several things a list of numbers."""

    begins: NDArray[np.int64]  # (things + 1,)
    members: Numbers  # list after list, ascending within one

    def of(self, thing: int) -> Numbers:
        """Return the list of one thing."""
        return self.members[int(self.begins[thing]) : int(self.begins[thing + 1])]

    def counts(self) -> NDArray[np.int64]:
        """Return the length of each list."""
        return np.diff(self.begins)

    def turned(self, size: int) -> Lists:
        """Return for each of so many members the things whose lists it is in."""
        owners = np.repeat(np.arange(len(self.begins) - 1, dtype=np.int32), self.counts())
        order = np.argsort(self.members, kind="stable")
        return lists_of(self.members[order], owners[order], size)


def lists_of(things: Numbers, members: Numbers, size: int) -> Lists:
    """Return a list for each of so many things, of members that stand in the order of their things."""
    begins = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(things, minlength=size), out=begins[1:])
    return Lists(begins, np.asarray(members, np.int32))


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
    known = [name for name in (MENTIONS, TITLED) if name in graph.types.edges]
    if not known or not spaces.entities.any():
        return None
    passages = np.flatnonzero(spaces.passages).astype(np.int32)
    rows = np.flatnonzero(spaces.entities).astype(np.int32)
    entries = graph.adjacency.entries(passages, graph.kind_mask(known, None))
    entries = entries.where(spaces.entities[entries.neighbor])
    if not len(entries.owner):
        return None
    holder, name = passages.searchsorted(entries.owner), rows.searchsorted(entries.neighbor)
    held = _listed(holder, name, len(passages), len(rows))
    is_title = np.isin(entries.kind >> 1, [graph.types.edges.index(one) for one in known if one == TITLED])
    titles = TitlesIn(graph)

    def find(text: str) -> Numbers:
        named = titles(text)
        return rows.searchsorted(named[spaces.entities[named]]).astype(np.int32)

    return Incidence(
        passages=passages,
        written=lambda number: str(graph.names[int(rows[number])]),
        held=held,
        holders=held.turned(len(rows)),
        titled=_listed(name[is_title], holder[is_title], len(rows), len(passages)),
        find=find,
        rows=rows,
    )


def _listed(things: NDArray[np.int64], members: NDArray[np.int64], size: int, width: int) -> Lists:
    """Return the distinct members of each thing, ascending."""
    keys = np.unique(things * width + members)
    return lists_of((keys // width).astype(np.int32), (keys % width).astype(np.int32), size)


# -------------------------------------------------------------------------------------------- names by statistics


class _Found(NamedTuple):
    """What is kept of the names of passages."""

    held: Lists
    holders: Lists
    titled: Lists
    keys: Sequence[str]
    """The names as they are compared, sorted."""
    numbers: Numbers
    """The number of the name of each key."""
    written: Sequence[str]


def _kept(graph: Graph, passages: Mask) -> Incidence:
    """Return the names that lie beside a graph, found and put there where there are none.

    Where nothing may be written there they live as long as who asked, and the incidence notes it.
    """
    deadline = time.monotonic() + _PATIENCE
    note = f"{graph.path} was replaced since it was opened: names were found in what is open"
    while format.read_pointer(graph.path).generation == graph.manifest.generation:
        folder = format.piece(graph.path, PIECE)
        found = _read(folder, graph.manifest.generation) if folder is not None and folder.is_dir() else None
        if found is not None:
            return _incidence(graph, passages, found)
        try:
            format.publish_piece(
                graph.path, PIECE, lambda work: write_names(graph, passages, work, _names_of(graph, passages))
            )
        except GraphBusy:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)  # another process makes it
        except OSError as error:
            if error.errno not in _READ_ONLY:
                raise
            note = f"names are found by every process anew, for {graph.path} cannot be written: {error.strerror}"
            break
    logger.warning("%s", note)
    return _incidence(graph, passages, _found(graph, passages, _names_of(graph, passages)), note)


def _incidence(graph: Graph, passages: Mask, found: _Found, note: str = "") -> Incidence:
    return Incidence(
        passages=np.flatnonzero(passages).astype(np.int32),
        written=found.written.__getitem__,
        held=found.held,
        holders=found.holders,
        titled=found.titled,
        find=_NamesIn(graph, found),
        note=note,
    )


def _names_of(graph: Graph, passages: Mask) -> Names:
    return find_names(_Ordered(graph, passages), BuildConfig(), progress=_silent)


def _found(graph: Graph, passages: Mask, names: Names) -> _Found:
    """Return where each of these names stands, by the numbers of the graph's passages."""
    # (parts,): the number of the passage that each part is
    place = np.flatnonzero(passages).searchsorted([graph.row(part.id) for part in names.parts])
    count, width = len(names.parts), len(names.names)
    owner = place[np.repeat(np.arange(count), np.diff(names.begins))]
    held = _listed(owner, names.members.astype(np.int64), count, width)
    pairs = [(name, place[part]) for name, parts in names.titled.items() for part in parts]
    titles = np.array(pairs, np.int64).reshape(-1, 2)
    order = sorted(range(width), key=names.keys.__getitem__)
    return _Found(
        held=held,
        holders=held.turned(width),
        titled=_listed(titles[:, 0], titles[:, 1], width, count),
        keys=[names.keys[name] for name in order],
        numbers=np.array(order, np.int32),
        written=names.names,
    )


def write_names(graph: Graph, passages: Mask, folder: Path, names: Names) -> None:
    """Write the names of a graph's passages into a folder. Raises `NotAGraph` where the graph was replaced."""
    if format.read_pointer(graph.path).generation != graph.manifest.generation:
        raise NotAGraph(f"{graph.path} was replaced by another graph meanwhile: open it again")
    found = _found(graph, passages, names)
    for label, lists in zip(_LISTS, found[:3], strict=True):
        save(folder, f"{label}_begin", lists.begins)
        save(folder, label, lists.members)
    save(folder, "number", found.numbers)
    with StringWriter(folder, "key") as keys, StringWriter(folder, "written") as written:
        keys.extend(map(encode, found.keys))
        written.extend(map(encode, found.written))
    about = IncidenceAbout(
        generation=graph.manifest.generation,
        passages=len(found.held.begins) - 1,
        names=len(found.written),
        mentions=len(found.held.members),
        files={file.name: file.stat().st_size for file in sorted(folder.iterdir())},
    )
    (folder / ABOUT).write_text(about.model_dump_json(indent=1), encoding="utf-8")


def _read(folder: Path, generation: str) -> _Found | None:
    """Map what `write_names` wrote; None where that is of another graph or format. Raises `NotAGraph` for damage."""
    remedy = f"remove the folder {folder}, and the next question makes it again"
    try:
        about = IncidenceAbout.model_validate_json((folder / ABOUT).read_bytes())
        sizes = {name: (folder / name).stat().st_size for name in about.files}
    except (FileNotFoundError, ValidationError) as error:
        raise NotAGraph(f"{folder} is damaged ({error}): {remedy}") from error
    if (about.generation, about.format) != (generation, _FORMAT):
        return None
    if wrong := [name for name, size in about.files.items() if sizes[name] != size]:
        raise NotAGraph(f"{folder / wrong[0]} is cut off: {remedy}")
    arrays = Folder(folder, about.files)
    held, holders, titled = (Lists(arrays.array(f"{one}_begin", "i8"), arrays.array(one, "i4")) for one in _LISTS)
    return _Found(held, holders, titled, arrays.strings("key"), arrays.array("number", "i4"), arrays.strings("written"))


class _Ordered:
    """The documents and passages of a graph, each document before its parts and those in their order."""

    def __init__(self, graph: Graph, passages: Mask) -> None:
        self._graph = graph
        known = [DOCUMENT] if DOCUMENT in graph.types.nodes else []
        documents = graph.mask(known) if known else None
        rows = np.flatnonzero(passages if documents is None else passages | documents).astype(np.int32)
        named, order = (
            graph.properties.values(name, rows) if name in graph.properties.names else [None] * len(rows)
            for name in ("document", "order")
        )
        ids = [graph.ids[row] for row in rows.tolist()]
        places = [
            (one if isinstance(one, str) else own, isinstance(one, str), at if isinstance(at, int) else 0)
            for own, one, at in zip(ids, named, order, strict=True)
        ]
        self._rows = [int(rows[at]) for at in sorted(range(len(rows)), key=places.__getitem__)]

    def __iter__(self) -> Iterator[Node]:
        return map(self._graph.node_at, self._rows)


class _NamesIn:
    """Finds names in a text by their words, the longest first. Safe to share among threads."""

    def __init__(self, graph: Graph, found: _Found) -> None:
        self._graph, self._keys, self._numbers = graph, found.keys, found.numbers
        self._is_title = found.titled.counts() > 0  # (names,)
        self._most = max(LEAST_CHUNKS, _COMMON * len(graph))

    def __call__(self, text: str) -> Numbers:
        words = list(_WORD.finditer(text))
        folded = [word[0].casefold() for word in words]
        has_capital = [not word[0][0].islower() for word in words]
        found: set[int] = set()
        at = 0
        while at < len(words):
            length, number = self._longest(folded, has_capital, at)
            if length and (self._is_title[number] or not _is_inside(text, words, has_capital, at, at + length)):
                found.add(number)
            at += max(1, length)
        return np.array(sorted(found), np.int32)

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
        postings = map(self._graph.text_index.posting, self._graph.tokenizer.expand(word))
        return any(one is not None and one.end - one.begin > self._most for one in postings)


def _is_inside(text: str, words: list[re.Match[str]], has_capital: list[bool], begin: int, end: int) -> bool:
    """Say whether words are part of a longer run of capitalised ones, and so may name something else altogether.

    The first word of a text has a capital whatever it is.
    """
    before = begin > 1 and has_capital[begin - 1] and text[words[begin - 1].end() : words[begin].start()] in _JOINTS
    after = end < len(words) and has_capital[end] and text[words[end - 1].end() : words[end].start()] == " "
    return before or after


def _silent(stage: str, count: int) -> None:
    """Take no notice of progress."""
