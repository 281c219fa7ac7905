"""Graphs of networkx and data frames.

A network is read like the file that networkx would write, a frame like a table. The packages are loaded only for
their own objects.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from orienteer.errors import BadInput, BadOption, MissingExtra, UsageError
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.from_records import write_records
from orienteer.graph.properties import json_value, node_id
from orienteer.graph.store import Graph
from orienteer.ingest import export, portable
from orienteer.ingest.export import meta_of
from orienteer.ingest.formats.elements import EdgeElement, GraphReader, NodeElement
from orienteer.ingest.formats.graph_file import AttributedGraph
from orienteer.ingest.importer import ImportOptions, import_graph
from orienteer.ingest.portable import (
    FLAT_EDGE_FIELDS,
    FLAT_NODE_FIELDS,
    MIXED,
    NUMBER,
    PROPERTY,
    TRUTH,
    WHOLE,
    ExportedGraph,
)
from orienteer.ingest.report import Tally
from orienteer.ingest.tables.columns import EDGE_RANKS, NODE_RANKS, Columns, ends, plainly
from orienteer.ingest.tables.edges import DEFAULT_TYPE

logger = logging.getLogger(__name__)

META = "orienteer"
"""The attribute of a network, or of a frame, with the metadata of the graph."""
NETWORK = Path("the network")
"""The path of a network in messages."""
Rows = Iterator[dict[str, Any]]  # Any: whatever a frame holds


def write_sources(path: Path, source: str | Path, *, force: bool = False) -> None:
    """Publish a graph of a folder of tables, as `orienteer import` does, and log dropped rows and skipped files."""
    if not isinstance(source, str | Path):
        raise BadOption(f"folder is {source!r}: give the path of a folder of tables, or of a table")
    report = import_graph([Path(source)], path, options=ImportOptions(force=force))
    for cut in report.dropped:
        logger.warning("%s: dropped %d %s", source, cut.count, cut.reason)
    for file in report.unreadable:
        logger.warning("%s: left out, for it cannot be read: %s", file.file, file.reason)
    for file in report.ignored:
        if file.is_telling:
            logger.warning("%s: ignored %s", file.file, file.reason)


# ------------------------------------------------------------------------------------------------------- networkx


def network_of(graph: Graph) -> Any:  # Any: networkx has no types
    """Return a graph as a `MultiDiGraph` of networkx; see `Graph.to_networkx`."""
    network = _package("networkx", "to_networkx").MultiDiGraph(**{META: meta_of(graph)})
    for name in graph.node_ids():
        row = export.node_row(graph.node(name))
        network.add_node(row.pop("id"), **row)
    for edge in graph.iter_edges():
        fields = export.edge_row(edge)
        network.add_edge(fields.pop("source"), fields.pop("target"), **fields)
    return network


def frames_of(graph: Graph) -> tuple[Any, Any]:  # Any: frames of pandas
    """Return the nodes and the edges of a graph as two data frames; see `Graph.to_frames`."""
    pandas = _package("pandas", "to_frames")
    tables = (
        ([export.node_row(graph.node(name)) for name in graph.node_ids()], FLAT_NODE_FIELDS),
        ([export.edge_row(edge) for edge in graph.iter_edges()], FLAT_EDGE_FIELDS),
    )
    frames = []
    for rows, fields in tables:
        columns = {
            name: pandas.Series([row.get(name) for row in rows], dtype=_DTYPES.get(kind, "object"))
            for name, kind in export.kinds_of(rows, fields).items()
        }
        frames.append(pandas.DataFrame(columns))
        frames[-1].attrs[META] = meta_of(graph)
    return frames[0], frames[1]


def write_network(path: Path, network: Any, *, force: bool = False) -> None:  # Any: networkx has no types
    """Publish a graph of a network. Raises `BadOption` for anything else, `BadInput` for values that JSON excludes."""
    if not all(hasattr(network, name) for name in ("nodes", "edges", "graph", "is_directed", "is_multigraph")):
        raise BadOption(f"{network!r} is no graph of networkx: give a Graph, DiGraph, MultiGraph or MultiDiGraph of it")
    tally = Tally()
    reader = NetworkReader(network, tally)
    with GraphBuilder(path, force=force, provenance={"made_by": "from_networkx"}) as builder:
        graph = (
            AttributedGraph(reader, Columns(), builder, tally)
            if reader.meta is None
            else ExportedGraph(NETWORK, reader.meta, builder)
        )
        for element in reader.elements():
            if isinstance(element, NodeElement):
                graph.add_node(element)
            else:
                graph.add_edge(element)
        labels = graph.finish()
        if not builder.node_count:
            raise BadInput("the network has no nodes: a graph needs at least one")
        builder.publish(labels=labels.labels, also_called=labels.also_called, text_types=labels.text_types)


class NetworkReader(GraphReader):
    """Reads a graph of networkx in memory. An element's line is its number, from 1."""

    def __init__(self, network: Any, tally: Tally) -> None:  # Any: networkx has no types
        super().__init__(NETWORK, tally)
        self._network = network
        meta = network.graph.get(META)
        self.meta = meta if isinstance(meta, Mapping) and meta.get("format") == portable.KIND else None
        self.edge_names = dict.fromkeys(str(key) for _, _, attributes in network.edges(data=True) for key in attributes)

    def elements(self) -> Iterator[NodeElement | EdgeElement]:
        """Yield the nodes, then the edges; keys of parallel edges are types if they are texts."""
        network = self._network
        for self.place, (node, attributes) in enumerate(network.nodes(data=True), 1):
            self.add_node(_named(node), self._fields(attributes), self.place)
            yield from self.taken()
        keyed = network.edges(keys=True, data=True) if network.is_multigraph() else network.edges(data=True)
        for self.place, (source, target, *key, attributes) in enumerate(keyed, 1):
            kind = key[0] if key and isinstance(key[0], str) else ""
            fields = self._fields(attributes)
            self.add_edge(EdgeElement(_named(source), _named(target), kind, network.is_directed(), fields, self.place))
            yield from self.taken()

    def _fields(self, data: Mapping[Any, Any]) -> dict[str, Any]:  # Any: whatever a network holds
        try:
            return {str(key): json_value(value) for key, value in data.items()}
        except (TypeError, RecursionError) as error:
            raise BadInput(f"an attribute of {dict(data)!r} cannot be kept: {error}; use what JSON has") from error


def _named(node: Any) -> str:  # Any: a node of networkx can be anything
    """Return the id of a node, as networkx writes it into files."""
    name = node_id(node)
    return str(node) if name is None else name


# ---------------------------------------------------------------------------------------------------- data frames


class FrameRows(NamedTuple):
    """A frame as rows."""

    columns: tuple[str, ...]
    rows: Rows
    meta: Mapping[str, Any] | None  # Any: JSON


def write_frames(path: Path, nodes: Any, edges: Any, *, force: bool = False) -> None:  # Any: frames of any package
    """Publish a graph of two frames. Raises `BadOption` without frames, `BadInput` for frames without ids or ends."""
    if nodes is None and edges is None:
        raise BadOption("nodes and edges are both None: give a data frame of one of them at least")
    edge_rows = [] if edges is None else list(_edge_rows(frame := frame_of(edges, "edges")))
    meta = None if edges is None else frame.meta
    if nodes is None:
        names = dict.fromkeys(chain.from_iterable((row["source"], row["target"]) for row in edge_rows))
        node_rows: Rows = ({"id": name} for name in names)
    else:
        node_rows = _node_rows(frame_of(nodes, "nodes"))
    symmetric = meta.get("symmetric", ()) if isinstance(meta, Mapping) else ()
    write_records(path, node_rows, edge_rows, force=force, symmetric=symmetric)


def frame_of(frame: Any, name: str) -> FrameRows:  # Any: a frame of any package
    """Return the rows of a frame of pandas or polars, or of any object with Arrow's interface."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        meta = frame.attrs.get(META)
        frame = frame.reset_index() if any(level is not None for level in frame.index.names) else frame
        columns = tuple(map(str, frame.columns))
        rows = (dict(zip(columns, row, strict=True)) for row in frame.itertuples(index=False, name=None))
        return FrameRows(columns, rows, meta)
    if polars is not None and isinstance(frame, polars.DataFrame | polars.LazyFrame):
        frame = frame.lazy().collect()
        return FrameRows(tuple(frame.columns), frame.iter_rows(named=True), None)
    if not hasattr(frame, "__arrow_c_stream__"):
        raise BadOption(
            f"{name} is {frame!r:.80}, a {type(frame).__name__}: give a data frame of pandas or polars, or Arrow's"
        )
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtra(f"reading {name} by Arrow", "parquet") from error
    table = pyarrow.table(frame)
    return FrameRows(
        tuple(table.column_names), (row for batch in table.to_batches() for row in batch.to_pylist()), None
    )


def _node_rows(frame: FrameRows) -> Rows:
    """Yield the rows of a frame of nodes as records. Raises `BadInput` if no column has ids."""
    ours = _renamed(frame.columns, FLAT_NODE_FIELDS, NODE_RANKS)
    if "id" not in ours.values():
        raise BadInput(f"nodes has no column of ids; its columns are {', '.join(frame.columns)}: name one of them id")
    for row in frame.rows:
        record = _record(row, ours)
        if isinstance(record.get("name"), int | float):
            record["name"] = str(record["name"])
        yield record


def _edge_rows(frame: FrameRows) -> Rows:
    """Yield the rows of a frame of edges as records. Raises `BadInput` if no column has an end."""
    source, target = ends(frame.columns, Columns())
    if source is None or target is None:
        raise BadInput(
            f"edges has no column for the {'source' if source is None else 'target'} of its edges; its columns are "
            f"{', '.join(frame.columns)}: name two of them source and target"
        )
    ours = {source: "source", target: "target"}
    ours |= _renamed([name for name in frame.columns if name not in ours], FLAT_EDGE_FIELDS, EDGE_RANKS)
    for row in frame.rows:
        record = _record(row, ours)
        record["type"] = DEFAULT_TYPE if record.get("type") is None else str(record["type"])
        yield record


def _renamed(names: Sequence[str], fields: Sequence[str], ranks: Mapping[str, tuple[str, int]]) -> dict[str, str]:
    """Return the fields of columns: those with a field's own name, else the best of the known names."""
    ours = {name: name for name in names if name in fields}
    ranked = sorted((ranks[plainly(name)][1], name) for name in names if plainly(name) in ranks)
    for _, name in ranked:
        field = ranks[plainly(name)][0]
        if name not in ours and field not in ours.values():
            ours[name] = field
    return ours


def _record(row: Mapping[str, Any], ours: Mapping[str, str]) -> dict[str, Any]:  # Any: whatever a frame holds
    """Return a row as a record without missing values; other columns than fields are properties."""
    record: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, float) and value != value or str(value) in ("NaT", "<NA>") or value is None:
            continue
        if name in ours:
            record[ours[name]] = value.tolist() if hasattr(value, "tolist") else value
        else:
            properties[name.removeprefix(PROPERTY)] = value
    return {**record, "properties": properties}


_DTYPES = {WHOLE: "Int64", NUMBER: "float64", MIXED: "float64", TRUTH: "boolean"}


def _package(name: str, method: str) -> Any:  # Any: an optional package
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise UsageError(
            f"{method} needs {name}: pip install {name}. Without it: orienteer export, or node_ids and iter_edges."
        ) from None
