"""What each row of the tables of a graph gave it: a piece beside the graph, by which an update tells what changed.

Files, for the n-th table:
    ledger.json                     the tables as they were when they were read
    n_hash.u8, n_node.i4            of a table of nodes: a hash of each row, and the row of its node (-1: it gave none)
    n_source.i4, n_target.i4        of a table of edges: the rows of the nodes that each row joins (-1: no such node)
    n_type.u1 or .u2                its place among the types of the table's edges, where these are several
    n_extra.u8                      a hash of its text, weight and properties (0: none), where some row has any
    n_stray_row.i8, n_stray_source.u8, n_stray_target.u8
                                    the rows that join a node that is not there, and hashes of their ends' ids
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

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
from orienteer.records import Record
from orienteer.version import __version__

PIECE = "ledger"
ABOUT = "ledger.json"
_FORMAT = 1

Numbers: TypeAlias = NDArray[np.int32]
"""Numbers of nodes; -1 for none."""


TimeFunction: TypeAlias = Literal["", "date", "datetime", "localdatetime"]
"""The function of openCypher that makes such a time of a text; empty for numbers and texts."""


class Mark(Record):
    """The highest value of the property when the database was read."""

    function: TimeFunction
    value: int | float | str

    @property
    def term(self) -> str:
        """Return what gives the value in a statement, whose parameter `mark` it is."""
        return f"{self.function}($mark)" if self.function else "$mark"


class DatabaseMarks(Record):
    """What is remembered of a database, so that its changes can be told."""

    changed_by: str
    """The property."""
    nodes: Mark
    edges: Mark | None
    """None where no edge has the property."""
    id_property: str
    labels: dict[str, int]
    """Nodes by label."""
    sets: tuple[tuple[tuple[str, ...], int], ...]
    """Nodes by all their labels."""
    unsure: tuple[str, ...] = ()
    """Types of edges some of which led to nodes that were not there when nodes were read: their counts tell nothing."""
    edge_names: tuple[str, ...] = ()
    """The properties of edges, in the order in which they were met."""


class LedgerFile(Record):
    """A file as it was when it was read."""

    path: str
    bytes: int
    modified: int
    """Nanoseconds."""
    sha256: str
    columns: tuple[str, ...] = ()
    mapping: FileMapping | None = None
    """None for a file that is not known by rows."""
    edge_types: tuple[str, ...] = ()
    """The types of its edges, by number."""
    dropped: dict[str, int] = {}
    """Rows that gave nothing whatever else the graph holds, by reason."""
    has_extras: bool = False

    @property
    def is_of_edges(self) -> bool:
        """Say whether each of its rows is an edge."""
        return self.mapping is not None and self.mapping.is_of_edges

    def is_read_as(self, mapping: FileMapping) -> bool:
        """Say whether its columns were read by the same mapping, in whatever way its file was named."""
        if self.mapping is None or list(self.mapping.columns) != list(mapping.columns):
            return False
        return self.mapping == mapping.model_copy(update={"file": self.mapping.file})

    def is_as_before(self, path: Path) -> bool:
        """Say whether a file has the same size and time, or else the same content."""
        try:
            status = path.stat()
        except OSError:
            return False
        if status.st_size != self.bytes:
            return False
        return status.st_mtime_ns == self.modified or sha256_of(path) == self.sha256


class TypeCuts(NamedTuple):
    """The rows of a type of edges that are no edges of the graph."""

    dangling: int = 0
    duplicate: int = 0
    mirrored: int = 0
    differing: int = 0
    """Mirrored rows that carry something that is not kept."""


class LedgerAbout(Record):
    """The facts of a ledger."""

    format: int = _FORMAT
    made_by: str = __version__
    """The version whose import read the tables: another may read them otherwise."""
    generation: str
    tables: tuple[LedgerFile, ...]
    why_whole: str = ""
    """Why its sources are imported as a whole, if they are: their files are noted, and no rows."""
    repeated: int = 0
    """Rows of nodes that are equal to an earlier one."""
    cuts: dict[str, TypeCuts] = {}
    """By edge type."""
    database: DatabaseMarks | None = None
    """What tells the changes of the database that the graph was made of. Its edges are then the one table."""


def tables_of(address: str, rows: EdgeRows) -> tuple[LedgerFile, LedgerFile]:
    """Return the edges and the nodes of a database as two tables without a file."""
    no_file: dict[str, Any] = {"bytes": 0, "modified": 0, "sha256": ""}  # Any: fields of a record
    edges = FileMapping(file=address, kind="edges", columns={"source": "source", "target": "target"})
    nodes = FileMapping(file=address, kind="nodes", columns={"id": "id"})
    has_extras = rows.extras is not None
    return (
        LedgerFile(**no_file, path=address, mapping=edges, edge_types=rows.types, has_extras=has_extras),
        LedgerFile(**no_file, path=f"{address}#nodes", mapping=nodes),
    )


def stamped(path: Path) -> LedgerFile:
    """Return a file as it is now, before it is read."""
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
        """Return the rows with the nodes where `place` has each number."""
        return replace(self, nodes=_placed(self.nodes, place))


@dataclass(frozen=True, slots=True)
class EdgeRows:
    """The rows of a table of edges that name two ends, in their order."""

    sources: Numbers
    """(rows,)"""
    targets: Numbers
    """(rows,)"""
    kinds: NDArray[np.unsignedinteger[Any]]
    """(rows,): the place of the type among `types`."""
    types: tuple[str, ...]
    extras: NDArray[np.uint64] | None
    """(rows,): hashes of what they carry, 0 for nothing; None where no row carries anything."""
    stray: NDArray[np.int64]
    """(stray,): the rows with an end that is no node, ascending."""
    stray_sources: NDArray[np.uint64]
    """(stray,): the hash of the source's id."""
    stray_targets: NDArray[np.uint64]
    """(stray,): the hash of the target's id."""

    def __len__(self) -> int:
        return len(self.sources)

    def placed(self, place: Numbers) -> EdgeRows:
        """Return the rows with the nodes where `place` has each number."""
        return replace(self, sources=_placed(self.sources, place), targets=_placed(self.targets, place))


def _placed(numbers: Numbers, place: Numbers) -> Numbers:
    """Return the place of each number; of none none."""
    return np.asarray(np.append(place, np.int32(-1))[numbers])  # -1 takes the last


class Ledger:
    """The ledger beside a graph; rows are read when they are asked for."""

    def __init__(self, about: LedgerAbout, folder: Path) -> None:
        self.about = about
        self._folder = Folder(folder)
        self._read: dict[str, NodeRows | EdgeRows] = {}

    @property
    def tables(self) -> Mapping[str, LedgerFile]:
        """Return the tables by path, in the order in which they were read."""
        return {table.path: table for table in self.about.tables}

    def nodes(self, path: str) -> NodeRows:
        """Return what the rows of a table of nodes gave; the same object whenever it is asked for."""
        rows = self._rows(path)
        assert isinstance(rows, NodeRows)  # the caller has looked at its mapping
        return rows

    def edges(self, path: str) -> EdgeRows:
        """Return what the rows of a table of edges gave; the same object whenever it is asked for."""
        rows = self._rows(path)
        assert isinstance(rows, EdgeRows)  # the caller has looked at its mapping
        return rows

    def _rows(self, path: str) -> NodeRows | EdgeRows:
        if path not in self._read:
            self._read[path] = self._rows_of(path)
        return self._read[path]

    def _rows_of(self, path: str) -> NodeRows | EdgeRows:
        number, table = next((at, table) for at, table in enumerate(self.about.tables) if table.path == path)
        if not table.is_of_edges:
            return NodeRows(self._array(number, "hash", "u8"), self._array(number, "node", "i4"))
        sources = self._array(number, "source", "i4")
        is_of_one = len(table.edge_types) <= 1
        return EdgeRows(
            sources,
            self._array(number, "target", "i4"),
            np.zeros(len(sources), np.uint8) if is_of_one else self._array(number, "type", "u1", "u2"),
            table.edge_types,
            self._array(number, "extra", "u8") if table.has_extras else None,
            self._array(number, "stray_row", "i8"),
            self._array(number, "stray_source", "u8"),
            self._array(number, "stray_target", "u8"),
        )

    def _array(self, number: int, name: str, *codes: str) -> NDArray[Any]:  # Any: the type that the code names
        return self._folder.array(f"{number}_{name}", *codes)


def read_ledger(path: Path, generation: str) -> Ledger | None:
    """Return the ledger of a graph's generation; None without a sound one of this version."""
    try:
        folder = pieces.piece(path, PIECE)
        if folder is None:
            return None
        about = LedgerAbout.model_validate_json((folder / ABOUT).read_bytes())
    except (NotAGraph, ValidationError, OSError):  # it costs an import, and nothing else
        return None
    is_ours = (about.format, about.made_by, about.generation) == (_FORMAT, __version__, generation)
    return Ledger(about, folder) if is_ours else None


def write_ledger(folder: Path, about: LedgerAbout, rows: Iterable[NodeRows | EdgeRows]) -> None:
    """Write a ledger into a folder: its facts, and the rows of its tables in their order."""
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


# What the rows of a table say, as numbers that can be compared.


_PRIME = np.uint64(0xD6E8FEB86659FD93)  # degski's multiplier, as in `index.words`


def row_hashes(batch: Batch) -> NDArray[np.uint64]:
    """Return a hash of each row's cells with the names of their columns: (rows,).

    Texts count by their bytes, other values by their type and how Python writes them; a cell without a value counts
    as little as a column that is not there. The same rows have the same hashes, whichever reader they come from.
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
    """Return the hash of each cell, (cells,); 0 for one without a value."""
    if isinstance(cells, CodedColumn):
        return np.asarray(_cell_hashes(cells.values)[cells.codes])
    if isinstance(cells, Strings):
        return string_hashes(cells)
    hashes = string_hashes(Strings.of(map(_written, cells)))
    hashes[[cell is None for cell in cells]] = 0
    return hashes


def _written(cell: Any) -> str:  # Any: whatever a file format can hold
    """Return a cell as a text that no other value has."""
    return cell if isinstance(cell, str) else f"\0{type(cell).__name__} {cell!r}"
