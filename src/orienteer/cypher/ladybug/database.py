"""The derived database: a table for each node type and each edge type, made from the graph's own arrays.

It holds every node with id and name, every edge except loops, and each property whose values are all of one kind and
at most 200 characters long. Longer texts are left to the search.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from orienteer.cypher.kinds import kind_of_values, quoted, rendered
from orienteer.cypher.names import Catalog, PropertyColumn, engine_names
from orienteer.errors import MissingExtra, NotAGraph
from orienteer.graph.format import damaged
from orienteer.graph.pieces import piece
from orienteer.records import JsonValue, Triple

if TYPE_CHECKING:
    from orienteer.graph.store import Graph

VERSION = 1
DATABASE, CATALOG = "cypher.lbug", "catalog.json"
_OWN = ("id", "name")  # columns of every node; properties of these names are not copied
_POOL = 512 << 20  # bytes of the engine's buffer while the copy is written
_EDGES_AT_ONCE = 2_000_000  # copied in one statement: bounds the memory
_TYPES = {"text": "STRING", "integer": "INT64", "float": "DOUBLE", "boolean": "BOOL"}
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # the system's errors for a full disk


class _Values(NamedTuple):
    """The values of a property of nodes or edges."""

    places: NDArray[np.int64]  # (values,): rows of nodes, or places in `_Edges`; ascending
    values: list[JsonValue]
    column: PropertyColumn


def engine() -> str:
    """Return the engine's name and version. Raises `MissingExtra` where it is not installed."""
    try:
        return f"ladybug {metadata.version('ladybug')}"
    except metadata.PackageNotFoundError as error:
        raise MissingExtra("Cypher", "cypher") from error


def write_copy(graph: Graph, folder: Path) -> None:
    """Write the database and its catalog into a folder. Raises `MissingExtra`, and `OSError` for a full disk."""
    name = engine()
    try:
        import ladybug
        import pyarrow
    except ModuleNotFoundError as error:
        raise MissingExtra("Cypher", "cypher") from error
    size = graph.arrays.manifest.nodes * 200 + graph.arrays.manifest.edges * 100 + (1 << 28)
    with _disk_trouble(folder / DATABASE):
        database = ladybug.Database(
            str(folder / DATABASE), buffer_pool_size=_POOL, max_db_size=1 << (size * 8).bit_length(), max_num_threads=2
        )
        connection = ladybug.Connection(database)
        catalog = _Copy(graph, connection, pyarrow, name).write()
        connection.execute("CHECKPOINT")
        connection.close()
        database.close()
    (folder / DATABASE).chmod(0o444)
    (folder / CATALOG).write_text(catalog.model_dump_json(indent=1), encoding="utf-8")


@contextmanager
def _disk_trouble(file: Path) -> Iterator[None]:
    """Turn the engine's errors about the disk into the system's errors."""
    try:
        yield
    except RuntimeError as error:
        if "IO exception" not in str(error):
            raise
        number = next((code for code in _DISK if os.strerror(code) in str(error)), errno.EIO)
        raise OSError(number, os.strerror(number), str(file)) from error


def read_catalog(folder: Path) -> Catalog | None:
    """Return a copy's catalog; None where there is none for this version and this engine.

    Raises `NotAGraph` for damage.
    """
    about = about_copy(folder)
    if about is None or about.is_stale or about.engine != engine():
        return None
    try:
        catalog = Catalog.model_validate_json((folder / CATALOG).read_bytes())
        _ = [
            column.value_kind for columns in (catalog.node_columns, catalog.edge_columns) for column in columns.values()
        ]
        return catalog
    except (ValidationError, KeyError) as error:
        raise damaged(folder / CATALOG, error) from error


class CopyAbout(NamedTuple):
    """Facts about a copy on disk."""

    engine: str
    """The engine that made it, with its version."""
    is_stale: bool
    """It was made by another engine or version: the next statement makes it again."""
    size: int
    """Bytes."""
    left_out: Mapping[str, str]
    """Properties of nodes that are not in the copy, each with the reason."""


def is_copy_new(path: Path) -> bool:
    """Tell whether the first Cypher statement over the graph at a path will have to make the copy that it reads."""
    try:
        folder = piece(path, "cypher")
    except NotAGraph:  # damaged: it is made anew
        return True
    copy = about_copy(folder) if folder is not None else None
    return copy is None or copy.is_stale


def about_copy(folder: Path) -> CopyAbout | None:
    """Return the facts about a copy, even where the engine is not installed.

    None for a folder without a readable copy: the next statement makes one.
    """
    try:
        size = (folder / DATABASE).stat().st_size
        content = json.loads((folder / CATALOG).read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    made_by = str(content.get("engine"))
    try:
        is_stale = content.get("version") != VERSION or made_by != engine()
    except MissingExtra:
        is_stale = content.get("version") != VERSION
    left_out = content.get("left_out")
    return CopyAbout(made_by, is_stale, size, left_out if isinstance(left_out, dict) else {})


class _Copy:
    """Writes one copy."""

    def __init__(self, graph: Graph, connection: Any, pyarrow: Any, engine_name: str) -> None:  # Any: no types there
        self._graph, self._connection, self._arrow, self._engine = graph, connection, pyarrow, engine_name
        schema = graph.schema
        self._node_tables = engine_names(schema.node_types)
        self._edge_tables = engine_names(schema.edge_types, taken=self._node_tables.values())
        self._ids = pyarrow.array(list(graph.arrays.ids), pyarrow.string())
        self._left_out: dict[str, str] = {"text": "texts are for search"}
        self._edge_left_out: dict[str, str] = {}

    def write(self) -> Catalog:
        nodes = self._node_properties()
        self._write_nodes(nodes)
        edges, loops = self._edges()
        properties = self._edge_properties(edges)
        self._write_edges(edges, properties)
        return Catalog(
            version=VERSION,
            engine=self._engine,
            node_tables=self._node_tables,
            edge_tables=self._edge_tables,
            table_numbers=self._table_numbers(),
            node_columns={name: values.column for name, values in nodes.items()},
            edge_columns={name: values.column for name, values in properties.items()},
            left_out=self._left_out,
            edge_left_out=self._edge_left_out,
            loops=loops,
        )

    def _run(self, text: str, parameters: Mapping[str, Any] | None = None) -> Any:  # Any: the engine's result
        return self._connection.execute(text, dict(parameters or {}))

    def _table_numbers(self) -> dict[str, str]:
        """Return the node type of each table by the engine's number."""
        result = self._run("CALL show_tables() RETURN id, name, type")
        types = {table: name for name, table in self._node_tables.items()}
        numbers = {}
        while result.has_next():
            number, name, kind = result.get_next()
            if kind == "NODE" and name in types:
                numbers[str(number)] = types[name]
        return numbers

    # ---------------------------------------------------------------------------------------------------- nodes

    def _node_properties(self) -> dict[str, _Values]:
        properties = self._graph.arrays.properties
        by_name: dict[str, _Values] = {}
        names = [name for name in properties.names if name not in _OWN]
        columns = engine_names(names, taken=_OWN)
        for name in names:
            rows, raw = properties.column(name)
            values = [json.loads(text) for text in raw]
            kind, reason = kind_of_values(values)
            if reason:
                self._left_out[name] = reason
                continue
            types = [
                self._graph.arrays.types.nodes[number] for number in np.unique(self._graph.arrays.node_types[rows])
            ]
            by_name[name] = _Values(
                rows.astype(np.int64), values, PropertyColumn(column=columns[name], kind=kind, types=tuple(types))
            )
        return by_name

    def _write_nodes(self, properties: Mapping[str, _Values]) -> None:
        graph = self._graph
        # One thread keeps the order of the rows: results name a node by its place in its table.
        self._connection.set_max_threads_for_exec(1)
        for number, node_type in enumerate(graph.arrays.types.nodes):
            rows = np.flatnonzero(graph.arrays.node_types == number)
            own = [values for values in properties.values() if node_type in values.column.types]
            declared = "".join(f", {quoted(values.column.column)} {_declared(values.column.kind)}" for values in own)
            table = quoted(self._node_tables[node_type])
            self._run(f"CREATE NODE TABLE {table}(id STRING PRIMARY KEY, name STRING{declared})")
            columns = {
                "id": self._ids.take(self._arrow.array(rows)),
                "name": self._arrow.array([graph.arrays.names[row] for row in rows.tolist()], self._arrow.string()),
                **{f"p{place}": self._column(values, rows) for place, values in enumerate(own)},
            }
            self._copy(f"COPY {table} FROM $rows", self._arrow.table(columns))
        self._connection.set_max_threads_for_exec(2)

    def _column(self, source: _Values, places: NDArray[np.int64]) -> Any:  # Any: an Arrow array
        """Return the values of a property at these ascending places, null where it has none."""
        at = source.places.searchsorted(places)
        is_there = (at < len(source.places)) & (source.places[np.minimum(at, len(source.places) - 1)] == places)
        values = [
            source.values[place] if there else None for place, there in zip(at.tolist(), is_there.tolist(), strict=True)
        ]
        return self._arrow.array(_converted(values, source.column.kind), self._arrow_type(source.column.kind))

    def _arrow_type(self, kind: str) -> Any:  # Any: an Arrow type
        """Return Arrow's type for a column's kind."""
        arrow = self._arrow
        types = {"text": arrow.string(), "integer": arrow.int64(), "float": arrow.float64(), "boolean": arrow.bool_()}
        return arrow.list_(types[kind[:-2]]) if kind.endswith("[]") else types[kind]

    def _copy(self, text: str, rows: Any) -> None:  # Any: an Arrow table
        if rows.num_rows:
            self._run(text, {"rows": rows})

    # ---------------------------------------------------------------------------------------------------- edges

    def _edges(self) -> tuple[_Edges, dict[str, int]]:
        """Return all edges except loops, and the number of loops of each type that has any."""
        graph, adjacency = self._graph, self._graph.arrays.adjacency
        source = np.repeat(np.arange(len(graph), dtype=np.int32), np.diff(adjacency.indptr))
        goes = adjacency.kind & 1 == 0
        is_loop = goes & (source == adjacency.neighbor)
        counts = np.bincount(adjacency.kind[is_loop] >> 1, minlength=len(graph.arrays.types.edges))
        loops = {name: int(count) for name, count in zip(graph.arrays.types.edges, counts, strict=True) if count}
        at = np.flatnonzero(goes & ~is_loop)
        return _Edges(at, source[at], adjacency.neighbor[at], adjacency.kind[at] >> 1), loops

    def _edge_properties(self, edges: _Edges) -> dict[str, _Values]:
        if not self._graph.arrays.has_extras:
            return {}
        carriers: dict[str, tuple[list[int], list[JsonValue]]] = {}
        for place, at in enumerate(edges.at.tolist()):
            for name, value in _carried(self._graph.arrays.extras(at)):
                places, values = carriers.setdefault(name, ([], []))
                places.append(place)
                values.append(value)
        properties: dict[str, _Values] = {}
        columns = engine_names(carriers)
        for name, (places, values) in carriers.items():
            kind, reason = kind_of_values(values)
            if reason:
                self._edge_left_out[name] = reason
                continue
            types = [self._graph.arrays.types.edges[number] for number in np.unique(edges.type[places]).tolist()]
            if name == "weight":  # an edge without a weight weighs 1
                places, values = _completed(edges, places, values)
            column = PropertyColumn(column=columns[name], kind=kind, types=tuple(types))
            properties[name] = _Values(np.array(places, np.int64), values, column)
        return properties

    def _write_edges(self, edges: _Edges, properties: Mapping[str, _Values]) -> None:
        graph = self._graph
        triples: dict[str, list[Triple]] = {name: [] for name in graph.schema.edge_types}
        for triple in graph.schema.edges:
            triples[triple.type].append(triple)
        for edge_type, joined in triples.items():
            own = [values for values in properties.values() if edge_type in values.column.types]
            declared = "".join(f", {quoted(values.column.column)} {_declared(values.column.kind)}" for values in own)
            pairs = ", ".join(
                f"FROM {quoted(self._node_tables[triple.source])} TO {quoted(self._node_tables[triple.target])}"
                for triple in joined
            )
            table = quoted(self._edge_tables[edge_type])
            self._run(f"CREATE REL TABLE {table}({pairs}{declared})")
            for triple in joined:
                source, target = (self._node_tables[node_type] for node_type in (triple.source, triple.target))
                copy = f"COPY {table} FROM $rows (from={rendered(source)}, to={rendered(target)})"
                for part in self._parts(edges, triple):
                    self._copy(copy, self._edge_rows(edges, part, own))

    def _parts(self, edges: _Edges, triple: Triple) -> Iterator[NDArray[np.int64]]:
        types = self._graph.arrays.types
        source, target = (types.nodes.index(node_type) for node_type in (triple.source, triple.target))
        node_types = self._graph.arrays.node_types
        of_type = edges.of_type(types.edges.index(triple.type))
        fits = (node_types[edges.source[of_type]] == source) & (node_types[edges.target[of_type]] == target)
        places = of_type[fits]
        return (places[low : low + _EDGES_AT_ONCE] for low in range(0, len(places), _EDGES_AT_ONCE))

    def _edge_rows(self, edges: _Edges, places: NDArray[np.int64], own: Sequence[_Values]) -> Any:  # Any: Arrow
        columns = {
            "from": self._ids.take(self._arrow.array(edges.source[places])),
            "to": self._ids.take(self._arrow.array(edges.target[places])),
            **{f"p{number}": self._column(values, places) for number, values in enumerate(own)},
        }
        return self._arrow.table(columns)


class _Edges(NamedTuple):
    """All edges that are copied, as aligned arrays of shape `(edges,)`."""

    at: NDArray[np.int64]
    """The places of the edges in the adjacency arrays."""
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    type: NDArray[Any]  # Any: one or two bytes

    def of_type(self, number: int) -> NDArray[np.int64]:
        """Return the places of the edges of a type: (n,) int64, ascending."""
        return np.flatnonzero(self.type == number)


def _completed(edges: _Edges, places: list[int], values: list[JsonValue]) -> tuple[list[int], list[JsonValue]]:
    """Return the weights of all edges whose type has any weights: 1 for an edge without one."""
    weighed = dict(zip(places, values, strict=True))
    everywhere = np.flatnonzero(np.isin(edges.type, np.unique(edges.type[places]))).tolist()
    return everywhere, [weighed.get(place, 1.0) for place in everywhere]


def _carried(extras: Mapping[str, Any]) -> Iterable[tuple[str, JsonValue]]:  # Any: JSON
    """Return an edge's text, weight and properties by name; of two with one name, the property."""
    carried = dict(extras)
    properties = carried.pop("properties", {})
    return {**carried, **properties}.items()


def _converted(values: list[JsonValue], kind: str) -> list[Any]:  # Any: what Arrow takes
    """Return values for Arrow: whole numbers among floats become floats."""
    if kind == "float":
        return [None if number is None else float(number) for number in values if not isinstance(number, list | dict)]
    return values


def _declared(kind: str) -> str:
    return f"{_TYPES[kind[:-2]]}[]" if kind.endswith("[]") else _TYPES[kind]
