"""The ledger: what each row of a graph's tables gave it. An update compares today's rows with it.

It is a piece next to the graph. Files, for the n-th table:
    ledger.json                     the tables as they were when they were read
    n_hash.u8, n_node.i4            of a table of nodes: a hash of each row, and the row of its node (-1: it gave none)
    n_source.i4, n_target.i4        of a table of edges: the rows of the nodes that each row joins (-1: no such node)
    n_type.u1 or .u2                its index among the types of the table's edges, if these are several
    n_extra.u8                      a hash of its text, weight and properties (0: none), if any row has some
    n_stray_row.i8, n_stray_source.u8, n_stray_target.u8
                                    the rows that join a missing node, and hashes of their ends' ids
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from orienteer.errors import NotAGraph
from orienteer.graph import pieces
from orienteer.graph.edges import CodedColumn
from orienteer.graph.format import sha256_of
from orienteer.index.arrays import Folder, Strings, save
from orienteer.index.words import string_hashes, word_hash
from orienteer.ingest.formats.table import Batch
from orienteer.ingest.tables.mapping import FileMapping
from orienteer.records import JsonValue, Record
from orienteer.version import __version__

PIECE = "ledger"
ABOUT = "ledger.json"
_FORMAT = 1

Numbers: TypeAlias = NDArray[np.int32]
"""Numbers of nodes; -1 for none."""


class LedgerFile(Record):
    """A file as it was when it was read."""

    path: str
    bytes: int
    modified: int
    """Nanoseconds."""
    sha256: str
    mapping: FileMapping | None = None
    """None for a file whose rows are not noted."""
    edge_types: tuple[str, ...] = ()
    """The types of its edges, by number."""
    dropped: dict[str, int] = {}
    """Rows that were dropped for a fault of their own, by reason."""
    has_extras: bool = False

    @property
    def is_of_edges(self) -> bool:
        """Return whether each of its rows is an edge."""
        return self.mapping is not None and self.mapping.is_of_edges

    def is_as_before(self, path: Path) -> bool:
        """Return whether a file has the same size and time, or else the same content."""
        try:
            status = path.stat()
        except OSError:
            return False
        if status.st_size != self.bytes:
            return False
        return status.st_mtime_ns == self.modified or sha256_of(path) == self.sha256


class TypeCuts(NamedTuple):
    """Counts of the rows of an edge type that are not edges of the graph."""

    dangling: int = 0
    duplicate: int = 0
    mirrored: int = 0
    differing: int = 0
    """Mirrored rows with a text, weight or properties that are not kept."""


class LedgerAbout(Record):
    """The facts of a ledger."""

    format: int = _FORMAT
    made_by: str = __version__
    """The version that read the tables; another may read them differently."""
    generation: str
    tables: tuple[LedgerFile, ...]
    why_whole: str = ""
    """Why its sources are always imported in full, if they are: then files are noted, but no rows."""
    repeated: int = 0
    """Rows of nodes that equal an earlier one."""
    cuts: dict[str, TypeCuts] = {}
    """By edge type."""
    database: JsonValue = None
    """What `connect.update` remembers of the database that the graph was made of."""


def stamped(path: Path) -> LedgerFile:
    """Return the state of a file before it is read."""
    status = path.stat()
    return LedgerFile(path=str(path), bytes=status.st_size, modified=status.st_mtime_ns, sha256=sha256_of(path))


@dataclass(frozen=True, slots=True)
class NodeRows:
    """The rows of a table of nodes, in their order."""

    hashes: NDArray[np.uint64]
    """(rows,)"""
    nodes: Numbers
    """(rows,)"""

    def placed(self, place: Numbers) -> NodeRows:
        """Return the rows with each node number n replaced by `place[n]`."""
        # -1 takes the last.
        return replace(self, nodes=np.append(place, np.int32(-1))[self.nodes])


@dataclass(frozen=True, slots=True)
class EdgeRows:
    """The rows of a table of edges that name two ends, in their order."""

    sources: Numbers
    """(rows,)"""
    targets: Numbers
    """(rows,)"""
    kinds: NDArray[np.unsignedinteger[Any]]
    """(rows,): the index of the type among `types`."""
    types: tuple[str, ...]
    extras: NDArray[np.uint64] | None = None
    """(rows,): hashes of texts, weights and properties, 0 for none; None if no row has any."""
    stray: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """(stray,): the rows with a missing end, ascending."""
    stray_sources: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    """(stray,): the hash of the source's id."""
    stray_targets: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    """(stray,): the hash of the target's id."""

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def extra_hashes(self) -> NDArray[np.uint64]:
        """Return the hash of each row's text, weight and properties: (rows,), 0 for none."""
        return np.zeros(len(self), np.uint64) if self.extras is None else self.extras

    def placed(self, place: Numbers) -> EdgeRows:
        """Return the rows with each node number n replaced by `place[n]`."""
        # -1 takes the last.
        places = np.append(place, np.int32(-1))
        return replace(self, sources=places[self.sources], targets=places[self.targets])

    def where(self, mask: NDArray[np.bool_]) -> EdgeRows:
        """Return the rows under a mask, (rows,); they must have both ends."""
        extras = None if self.extras is None else self.extras[mask]
        return EdgeRows(self.sources[mask], self.targets[mask], self.kinds[mask], self.types, extras)


def joined(parts: Sequence[EdgeRows], types: Sequence[str]) -> EdgeRows:
    """Return the rows of all parts, in order; their kinds are indexes into `types`."""
    parts = [EdgeRows(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.uint16), ()), *parts]
    begins = np.cumsum([0, *map(len, parts)])
    return EdgeRows(
        np.concatenate([part.sources for part in parts]),
        np.concatenate([part.targets for part in parts]),
        np.concatenate([part.kinds.astype(np.uint16, copy=False) for part in parts]),
        tuple(types),
        np.concatenate([part.extra_hashes for part in parts])
        if any(part.extras is not None for part in parts)
        else None,
        np.concatenate([part.stray + begin for part, begin in zip(parts, begins, strict=False)]),
        np.concatenate([part.stray_sources for part in parts]),
        np.concatenate([part.stray_targets for part in parts]),
    )


class Ledger:
    """A graph's ledger; a table's rows are read at first use, and are the same object each time."""

    def __init__(self, about: LedgerAbout, folder: Path) -> None:
        self.about = about
        self._folder = Folder(folder)
        self._read: dict[str, NodeRows | EdgeRows] = {}

    @property
    def tables(self) -> Mapping[str, LedgerFile]:
        """Return the tables by path, in the order in which they were read."""
        return {table.path: table for table in self.about.tables}

    def nodes(self, path: str) -> NodeRows:
        """Return the rows of a table of nodes."""
        rows = self._rows(path)
        assert isinstance(rows, NodeRows)  # the caller has looked at its mapping
        return rows

    def edges(self, path: str) -> EdgeRows:
        """Return the rows of a table of edges."""
        rows = self._rows(path)
        assert isinstance(rows, EdgeRows)  # the caller has looked at its mapping
        return rows

    def _rows(self, path: str) -> NodeRows | EdgeRows:
        if path in self._read:
            return self._read[path]
        number, table = next((at, table) for at, table in enumerate(self.about.tables) if table.path == path)

        def array(name: str, *codes: str) -> NDArray[Any]:  # Any: the type that the code names
            return self._folder.array(f"{number}_{name}", *codes)

        rows: NodeRows | EdgeRows
        if table.is_of_edges:
            sources = array("source", "i4")
            is_of_one = len(table.edge_types) <= 1
            rows = EdgeRows(
                sources,
                array("target", "i4"),
                np.zeros(len(sources), np.uint8) if is_of_one else array("type", "u1", "u2"),
                table.edge_types,
                array("extra", "u8") if table.has_extras else None,
                array("stray_row", "i8"),
                array("stray_source", "u8"),
                array("stray_target", "u8"),
            )
        else:
            rows = NodeRows(array("hash", "u8"), array("node", "i4"))
        self._read[path] = rows
        return rows


def read_ledger(path: Path, generation: str) -> Ledger | None:
    """Return the ledger of a graph's generation, or None without an intact one of this version."""
    try:
        folder = pieces.piece(path, PIECE)
        if folder is None:
            return None
        about = LedgerAbout.model_validate_json((folder / ABOUT).read_bytes())
    except (NotAGraph, ValidationError, OSError):
        # Without it the update is a full import.
        return None
    is_ours = (about.format, about.made_by, about.generation) == (_FORMAT, __version__, generation)
    return Ledger(about, folder) if is_ours else None


def write_ledger(folder: Path, about: LedgerAbout, rows: Iterable[NodeRows | EdgeRows]) -> None:
    """Write a ledger into a folder: its facts, and the rows of its tables in order."""
    for number, of_table in enumerate(rows):
        for name, array in _arrays(of_table).items():
            save(folder, f"{number}_{name}", array)
    (folder / ABOUT).write_text(about.model_dump_json(), encoding="utf-8")


def _arrays(rows: NodeRows | EdgeRows) -> dict[str, NDArray[Any]]:  # Any: of different types
    if isinstance(rows, NodeRows):
        return {"hash": rows.hashes, "node": rows.nodes}
    arrays: dict[str, NDArray[Any]] = {
        "source": rows.sources,
        "target": rows.targets,
        "stray_row": rows.stray,
        "stray_source": rows.stray_sources,
        "stray_target": rows.stray_targets,
    }
    if len(rows.types) > 1:
        arrays["type"] = rows.kinds.astype(np.uint8 if len(rows.types) <= 1 << 8 else np.uint16)
    if rows.extras is not None:
        arrays["extra"] = rows.extras
    return arrays


# Hashes of rows.


_PRIME = np.uint64(0xD6E8FEB86659FD93)  # degski's multiplier, as in `index.words`


def row_hashes(batch: Batch) -> NDArray[np.uint64]:
    """Return a hash of each row's cells with the names of their columns: (rows,).

    Texts count by their bytes, other values by their type and their `repr`; an empty cell counts like a missing column.
    Equal rows have equal hashes, whichever reader they come from.
    """
    total = np.zeros(len(batch), np.uint64)
    for name, cells in batch.columns.items():
        hashes = _cell_hashes(cells)
        value = hashes ^ np.uint64(word_hash(name.encode(errors="surrogatepass")))
        for _ in range(2):
            value = (value ^ value >> np.uint64(31)) * _PRIME
        value ^= value >> np.uint64(30)
        value[hashes == 0] = 0
        total += value
    return total


def _cell_hashes(cells: Sequence[Any]) -> NDArray[np.uint64]:  # Any: whatever a file format can hold
    """Return the hash of each cell, (cells,); 0 for an empty one."""
    if isinstance(cells, CodedColumn):
        return np.asarray(_cell_hashes(cells.values)[cells.codes])
    if isinstance(cells, Strings):
        return string_hashes(cells)
    # A value that is not a text is written so that it equals no text.
    texts = (cell if isinstance(cell, str) else f"\0{type(cell).__name__} {cell!r}" for cell in cells)
    hashes = string_hashes(Strings.of(texts))
    hashes[[cell is None for cell in cells]] = 0
    return hashes
