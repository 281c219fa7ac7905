"""Which names stand in which passages, kept beside a graph as a piece of its generation.

`orienteer build` writes it with what it found for its edges; who asks a graph that has none finds the names and writes
them then (`orienteer.retrieval.expansion.incidence`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import NotAGraph
from orienteer.graph import format
from orienteer.graph.format import FileName
from orienteer.graph.names.mentions import Names
from orienteer.graph.store import Graph
from orienteer.index.arrays import Folder, StringWriter, encode, save
from orienteer.records import Record

PIECE = "names"
ABOUT = "names.json"
_FORMAT = 1
_LISTS = ("held", "holders", "titled")
Numbers = NDArray[np.int32]


class IncidenceAbout(Record):
    """What names that lie beside a graph say of themselves."""

    format: int = _FORMAT
    generation: str
    passages: int
    names: int
    mentions: int
    files: dict[FileName, int] = {}
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


def listed(things: NDArray[np.int64], members: NDArray[np.int64], size: int, width: int) -> Lists:
    """Return the distinct members of each thing, ascending."""
    keys = np.unique(things * width + members)
    return lists_of((keys // width).astype(np.int32), (keys % width).astype(np.int32), size)


class Found(NamedTuple):
    """What is kept of the names of passages."""

    held: Lists
    holders: Lists
    titled: Lists
    keys: Sequence[str]
    """The names as they are compared, sorted."""
    numbers: Numbers
    """The number of the name of each key."""
    written: Sequence[str]


def found_of(graph: Graph, names: Names) -> Found:
    """Return where each of these names stands, by the numbers of the graph's passages: in the order of their rows."""
    rows = np.array([graph.row(part.id) for part in names.parts], np.int64)
    place = np.sort(rows).searchsorted(rows)  # (parts,): the number of the passage that each part is
    count, width = len(names.parts), len(names.names)
    owner = place[np.repeat(np.arange(count), np.diff(names.begins))]
    held = listed(owner, names.members.astype(np.int64), count, width)
    pairs = [(name, place[part]) for name, parts in names.titled.items() for part in parts]
    titles = np.array(pairs, np.int64).reshape(-1, 2)
    order = sorted(range(width), key=names.keys.__getitem__)
    return Found(
        held=held,
        holders=held.turned(width),
        titled=listed(titles[:, 0], titles[:, 1], width, count),
        keys=[names.keys[name] for name in order],
        numbers=np.array(order, np.int32),
        written=names.names,
    )


def write_names(graph: Graph, names: Names, folder: Path) -> None:
    """Write the names of a graph's passages into a folder. Raises `NotAGraph` where the graph was replaced."""
    if format.read_pointer(graph.path).generation != graph.manifest.generation:
        raise NotAGraph(f"{graph.path} was replaced by another graph meanwhile: open it again")
    found = found_of(graph, names)
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


def read_names(folder: Path, generation: str) -> Found | None:
    """Map what `write_names` wrote; None where that is of another graph or format. Raises `NotAGraph` for damage."""
    try:
        about = IncidenceAbout.model_validate_json((folder / ABOUT).read_bytes())
        if (about.generation, about.format) != (generation, _FORMAT):
            return None
        format.check_sizes(folder, about.files)
        arrays = Folder(folder, about.files)
        held, holders, titled = (Lists(arrays.array(f"{one}_begin", "i8"), arrays.array(one, "i4")) for one in _LISTS)
        keys, written = arrays.strings("key"), arrays.strings("written")
        found = Found(held, holders, titled, keys, arrays.array("number", "i4"), written)
        if _fits(found, about):
            return found
    except (FileNotFoundError, ValueError, LookupError) as error:
        raise format.damaged(folder, error) from error
    raise format.damaged(folder, "its lists do not fit one another")


def _fits(found: Found, about: IncidenceAbout) -> bool:
    """Tell whether lists are as many, and their members such, as there are names and passages."""
    sizes = (about.passages, about.names), (about.names, about.passages), (about.names, about.passages)
    is_named = not len(found.numbers) or 0 <= found.numbers.min() <= found.numbers.max() < about.names
    return (
        is_named
        and len(found.keys) == len(found.numbers)
        and len(found.written) == about.names
        and all(
            len(lists.begins) == things + 1
            and lists.begins[0] == 0
            and lists.begins[-1] == len(lists.members)
            and (np.diff(lists.begins) >= 0).all()
            and (not len(lists.members) or 0 <= lists.members.min() <= lists.members.max() < width)
            for lists, (things, width) in zip(found[:3], sizes, strict=True)
        )
    )
