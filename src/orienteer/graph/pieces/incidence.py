"""The names in each passage, stored next to a graph as a piece of its generation.

`orienteer build` writes it with the names that it found for its edges. For a graph without it, the first question that
needs it finds the names and writes them (`orienteer.retrieval.expansion.incidence`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import NotAGraph
from orienteer.graph import format
from orienteer.graph.names import CorpusNames
from orienteer.graph.pieces.vectors import PieceFile
from orienteer.graph.store import Graph
from orienteer.index.arrays import Folder, StringWriter, begins_of, encode, runs, save
from orienteer.index.name_scan import CaseCounts
from orienteer.records import Record

PIECE = "names"
ABOUT = "names.json"
_FORMAT = 1
_LISTS = ("held", "holders", "titled")
Numbers = NDArray[np.int32]


class IncidenceAbout(Record):
    """Facts about the stored names of a graph."""

    format: int = _FORMAT
    generation: str
    passages: int
    names: int
    mentions: int
    files: dict[PieceFile, int] = {}
    """The bytes of each file."""


class Lists(NamedTuple):
    """A list of numbers for each of several owners: of names for each passage, or of passages for each name."""

    begins: NDArray[np.int64]  # (owners + 1,): the begin of each list in `members`
    members: Numbers  # list after list, ascending within a list

    def of(self, owner: int) -> Numbers:
        """Return the list of an owner: (n,), ascending."""
        return self.members[int(self.begins[owner]) : int(self.begins[owner + 1])]

    def counts(self) -> NDArray[np.int64]:
        """Return the length of each list: (owners,)."""
        return np.diff(self.begins)

    def inverted(self, size: int) -> Lists:
        """Return, for each of `size` members, the owners whose lists contain it."""
        owners = np.repeat(np.arange(len(self.begins) - 1, dtype=np.int32), self.counts())
        order = np.argsort(self.members, kind="stable")
        return lists_of(self.members[order], owners[order], size)


def lists_of(things: Numbers, members: Numbers, size: int) -> Lists:
    """Return a list for each of `size` owners. `things`, ascending, has the owner of each of `members`."""
    return Lists(begins_of(np.bincount(things, minlength=size)), np.asarray(members, np.int32))


def distinct_lists(things: NDArray[np.int64], members: NDArray[np.int64], size: int, width: int) -> Lists:
    """Return the distinct members of each of `size` owners, ascending; members are below `width`."""
    # `np.unique` hashes first, which takes several times as long as to sort.
    keys, _ = runs(np.sort(things * width + members))
    return lists_of((keys // width).astype(np.int32), (keys % width).astype(np.int32), size)


class NameIncidence(NamedTuple):
    """The names of passages, both by number; passages are numbered in the order of their rows."""

    held: Lists
    """The names in each passage."""
    holders: Lists
    """The passages with each name."""
    titled: Lists
    """The passages that have each name as a title."""
    keys: Sequence[str]
    """The names in the compared form, sorted."""
    numbers: Numbers
    """(keys,): the number of each key's name."""
    written: Sequence[str]
    """The names as written, by number."""
    case: StoredCase | None = None
    """The counts of each word with and without a capital, if they were stored."""


class StoredCase(NamedTuple):
    """The counts of words in lower case and with a capital, by which names are recognised."""

    words: Sequence[str]
    """Folded, sorted."""
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]

    def counts(self) -> CaseCounts:
        """Return the counts as a dict for each side."""
        words = list(self.words)
        sides = (self.lower.tolist(), self.upper.tolist())
        lower, upper = ({word: count for word, count in zip(words, side, strict=True) if count} for side in sides)
        return CaseCounts(lower, upper)


def stored_case(case: CaseCounts) -> StoredCase:
    """Return the stored form of counts."""
    words = sorted(case.lower.keys() | case.upper.keys())
    lower, upper = (np.array([side.get(word, 0) for word in words], np.int64) for side in (case.lower, case.upper))
    return StoredCase(words, lower, upper)


def incidence_of(graph: Graph, names: CorpusNames) -> NameIncidence:
    """Return the incidence of these names with the graph's passages, numbered in the order of their rows."""
    row_of = {node_id: row for row, node_id in enumerate(graph.arrays.ids)}
    return incidence_at(np.array([row_of[part.id] for part in names.parts], np.int64), names)


def incidence_at(rows: NDArray[np.int64], names: CorpusNames) -> NameIncidence:
    """Return the incidence of these names with passages in these rows, (parts,), numbered in the order of the rows."""
    place = np.sort(rows).searchsorted(rows)  # (parts,): the number of each part among the passages
    count, width = len(names.parts), len(names.names)
    owner = place[np.repeat(np.arange(count), np.diff(names.begins))]
    of_passages = distinct_lists(owner, names.members.astype(np.int64), count, width)
    pairs = [(name, place[part]) for name, parts in names.titled.items() for part in parts]
    titles = np.array(pairs, np.int64).reshape(-1, 2)
    order = sorted(range(width), key=names.keys.__getitem__)
    return NameIncidence(
        held=of_passages,
        holders=of_passages.inverted(width),
        titled=distinct_lists(titles[:, 0], titles[:, 1], width, count),
        keys=[names.keys[name] for name in order],
        numbers=np.array(order, np.int32),
        written=names.names,
        case=None if names.case is None else stored_case(names.case),
    )


def write_names(graph: Graph, names: CorpusNames, folder: Path) -> None:
    """Write the names of a graph's passages into a folder. Raises `NotAGraph` if the graph was replaced."""
    if format.read_pointer(graph.path).generation != graph.arrays.manifest.generation:
        raise NotAGraph(f"{graph.path} was replaced by another graph meanwhile: open it again", paths=[graph.path])
    write_incidence(incidence_of(graph, names), graph.arrays.manifest.generation, folder)


def write_incidence(incidence: NameIncidence, generation: str, folder: Path) -> None:
    """Write the names of the passages of a generation into a folder."""
    for label, lists in zip(_LISTS, incidence[:3], strict=True):
        save(folder, f"{label}_begin", lists.begins)
        save(folder, label, lists.members)
    save(folder, "number", incidence.numbers)
    with StringWriter(folder, "key") as keys, StringWriter(folder, "written") as written:
        keys.extend(map(encode, incidence.keys))
        written.extend(map(encode, incidence.written))
    if incidence.case is not None:
        save(folder, "lower", incidence.case.lower)
        save(folder, "upper", incidence.case.upper)
        with StringWriter(folder, "word") as words:
            words.extend(map(encode, incidence.case.words))
    about = IncidenceAbout(
        generation=generation,
        passages=len(incidence.held.begins) - 1,
        names=len(incidence.written),
        mentions=len(incidence.held.members),
        files={file.name: file.stat().st_size for file in sorted(folder.iterdir())},
    )
    (folder / ABOUT).write_text(about.model_dump_json(indent=1), encoding="utf-8")


def read_names(folder: Path, generation: str) -> NameIncidence | None:
    """Map the files of `write_names`; None for another graph or format. Raises `NotAGraph` for damage."""
    try:
        about = IncidenceAbout.model_validate_json((folder / ABOUT).read_bytes())
        if (about.generation, about.format) != (generation, _FORMAT):
            return None
        format.check_sizes(folder, about.files)
        arrays = Folder(folder, about.files)
        of_passages, holders, titled = (
            Lists(arrays.array(f"{label}_begin", "i8"), arrays.array(label, "i4")) for label in _LISTS
        )
        keys, written = arrays.strings("key"), arrays.strings("written")
        case = None
        if arrays.has("word.utf8"):
            case = StoredCase(arrays.strings("word"), arrays.array("lower", "i8"), arrays.array("upper", "i8"))
        incidence = NameIncidence(of_passages, holders, titled, keys, arrays.array("number", "i4"), written, case)
        if _fits(incidence, about):
            return incidence
    except (FileNotFoundError, ValueError, LookupError) as error:
        raise format.damaged(folder, error) from error
    raise format.damaged(folder, "its lists do not fit one another")


def _fits(incidence: NameIncidence, about: IncidenceAbout) -> bool:
    """Return whether the lists and their members fit the numbers of names and passages."""
    sizes = (about.passages, about.names), (about.names, about.passages), (about.names, about.passages)
    is_named = not len(incidence.numbers) or 0 <= incidence.numbers.min() <= incidence.numbers.max() < about.names
    case = incidence.case
    return (
        is_named
        and (case is None or len(case.words) == len(case.lower) == len(case.upper))
        and len(incidence.keys) == len(incidence.numbers)
        and len(incidence.written) == about.names
        and all(
            len(lists.begins) == things + 1
            and lists.begins[0] == 0
            and lists.begins[-1] == len(lists.members)
            and (np.diff(lists.begins) >= 0).all()
            and (not len(lists.members) or 0 <= lists.members.min() <= lists.members.max() < width)
            for lists, (things, width) in zip(incidence[:3], sizes, strict=True)
        )
    )
