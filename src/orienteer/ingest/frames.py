"""Graphs of networkx and data frames.

A network is read like the file that networkx would write, a frame like a table. The packages are loaded only for
their own objects.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, time
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from orienteer.errors import BadInput, BadOption, MissingExtra, UsageError
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.properties import MISSING, json_value, node_id
from orienteer.graph.store import Graph
from orienteer.ingest import export, portable
from orienteer.ingest.export import meta_of
from orienteer.ingest.formats.element_maker import AttributedGraph
from orienteer.ingest.formats.elements import EdgeElement, GraphReader, NodeElement
from orienteer.ingest.importer import ImportOptions, import_graph, imported
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
from orienteer.ingest.provenance import MAPPED
from orienteer.ingest.report import Ignored, Report, Tally
from orienteer.ingest.tables.columns import Columns, NodeRoles, ends
from orienteer.ingest.tables.plan import PROSE

logger = logging.getLogger(__name__)

ARROW = "__arrow_c_stream__"
"""The method of a frame of any package that supports Arrow's interface."""
META = "orienteer"
"""The attribute of a network, or of a frame, with the metadata of the graph."""
NETWORK = Path("the network")
"""The path of a network in messages."""


def write_sources(path: Path, source: str | Path, *, force: bool = False) -> None:
    """Publish a graph of a folder of tables, as `orienteer import` does, and log dropped rows and skipped files."""
    if not isinstance(source, str | Path):
        raise BadOption(f"folder is {source!r}: give the path of a folder of tables, or of a table")
    _log(import_graph([Path(source)], path, options=ImportOptions(force=force)), str(source), str)


def _log(report: Report, source: str, named: Callable[[str], str]) -> None:
    """Log what a person should know of an import; `named` gives the names of files in messages."""
    for cut in report.dropped:
        logger.warning("%s: dropped %d %s", source, cut.count, cut.reason)
    for file in report.unreadable:
        logger.warning("%s: left out, for it cannot be read: %s", named(file.file), file.reason)
    for file in report.ignored:
        if file.is_telling:
            logger.warning("%s: ignored %s", named(file.file), file.reason)
    for mapping in report.mapping:
        for question in mapping.questions:
            logger.warning("%s: open: %s", named(mapping.file), question)


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


def is_network(value: object) -> bool:
    """Return whether a value is a graph of networkx, or has its interface."""
    return all(hasattr(value, name) for name in ("nodes", "edges", "graph", "is_directed", "is_multigraph"))


def write_network(path: Path, network: Any, *, force: bool = False) -> None:  # Any: networkx has no types
    """Publish a graph of a network. Raises `BadOption` for anything else, `BadInput` for values that JSON excludes."""
    if not is_network(network):
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
            graph.add(element)
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
    rows: Callable[[], Iterator[Sequence[Any]]]  # Any: whatever a frame holds
    meta: Mapping[str, Any] | None  # Any: JSON


ALONE = "rows"
"""The name of a frame that has none."""
_EXACT: Mapping[str, tuple[str, ...]] = {"nodes": FLAT_NODE_FIELDS, "edges": FLAT_EDGE_FIELDS}
_FOLDER = "tables"  # a name that says nothing of what is in it
_LONGEST_NAME = 200  # bytes: the name is that of a file


def write_frames(path: Path, frames: Mapping[str, Any], *, force: bool = False) -> None:  # Any: frames of any package
    """Publish a graph of frames by their names, by the plan of a folder of such tables. Logs as `write_sources` does.

    Frames that `to_frames` made give their graph back exactly. Raises `BadOption` for anything but frames, `BadInput`
    for values that JSON lacks, and as `import_graph` does.
    """
    tables = {_name(name): frame_of(frame, name) for name, frame in frames.items() if frame is not None}
    if not tables:
        raise BadOption("there are no frames: give at least one data frame, such as from_frames({'teams': frame})")
    _check_roles(tables)
    with tempfile.TemporaryDirectory(prefix="orienteer-") as scratch:
        folder = Path(scratch, _FOLDER)
        folder.mkdir()
        files = {name: folder / f"{name}.jsonl" for name in (*tables, *_EXACT)}
        meta = _exact_meta(tables)
        if meta is not None:
            (folder / portable.META).write_text(json.dumps(meta), encoding="utf-8")
            files["edges"].touch()
        for name, table in tables.items():
            with files[name].open("w", encoding="utf-8") as lines:
                for row in _json_rows(name, table):
                    record = row if meta is None else _record(row, _EXACT[name])
                    lines.write(f"{json.dumps(record)}\n")

        def named(text: str) -> str:
            """Return a text with the names of frames instead of the paths of files."""
            for name, file in files.items():
                text = text.replace(str(file), name)
            return text

        def origin(builder: GraphBuilder, left_out: Sequence[Ignored]) -> Mapping[str, Any]:  # Any: JSON
            told = json.loads(named(json.dumps(builder.provenance, ensure_ascii=False)))
            return {**told, "made_by": "from_frames", "given": [], "sources": [], MAPPED: []}

        try:
            made = imported([folder], path, options=ImportOptions(force=force), beside=origin)
        except BadInput as error:
            raise BadInput(named(str(error))) from error
        _log(made.report, "frames", named)


def _name(name: object) -> str:
    """Return the name of a frame. Raises `BadOption` for one that a table cannot have."""
    text = name if isinstance(name, str) and name.strip() and name.isprintable() else "."
    is_long = len(text.encode()) > _LONGEST_NAME
    if text[0] == "." or "/" in text or text.casefold() in PROSE or is_long:
        raise BadOption(
            f"a frame is called {name!r:.80}: give it a short name of words, as a file has, such as 'teams'"
        )
    return text


def _check_roles(tables: Mapping[str, FrameRows]) -> None:
    """Raise `BadInput` if a frame that is called `nodes` or `edges` is none."""
    lacks: dict[str, str] = {}
    if "nodes" in tables and NodeRoles(Columns()).id_column(tables["nodes"].columns) is None:
        lacks["nodes"] = "no column of ids: name one of them id"
    if "edges" in tables and None in ends(tables["edges"].columns, Columns()):
        lacks["edges"] = "no columns for the two ends of its edges: name two of them source and target"
    for name, what in lacks.items():
        raise BadInput(f"{name} has {what}; its columns are {', '.join(tables[name].columns)}")


def _exact_meta(tables: Mapping[str, FrameRows]) -> Mapping[str, Any] | None:  # Any: JSON
    """Return the metadata of a graph that `to_frames` gave; None for other frames."""
    if "nodes" not in tables or not tables.keys() <= _EXACT.keys():
        return None
    has_fields = all(set(_EXACT[name][:3]) <= set(table.columns) for name, table in tables.items())
    metas = [table.meta for table in tables.values()]
    ours = [meta for meta in metas if isinstance(meta, Mapping) and meta.get("format") == portable.KIND]
    return ours[0] if has_fields and len(ours) == len(metas) else None


def _json_rows(name: str, table: FrameRows) -> Iterator[dict[str, Any]]:  # Any: JSON
    """Yield the rows of a frame as JSON, with null for missing values. Raises `BadInput` for other values."""
    twice = [column for column, count in Counter(table.columns).items() if count > 1]
    if twice:
        raise BadInput(f"{name} has two columns named {twice[0]!r}: rename one of them")
    days = _columns_of_days(table)
    for place, row in enumerate(table.rows(), 1):
        cells = {}
        for column, value in zip(table.columns, row, strict=True):
            try:
                cells[column] = json_value(value.date() if column in days and _is_time(value) else value)
            except (TypeError, RecursionError) as error:
                raise BadInput(f"{name}, row {place}, column {column!r}: {error}; use what JSON has") from error
        yield cells


def _columns_of_days(table: FrameRows) -> set[str]:
    """Return the columns of times that are all midnight: frames of pandas have no dates."""
    days, others = set[str](), set[str]()
    for row in table.rows():
        for column, value in zip(table.columns, row, strict=True):
            if column not in others and _is_time(value):
                (days if value.tzinfo is None and value.time() == time() else others).add(column)
    return days - others


def _is_time(value: Any) -> bool:  # Any: whatever a frame holds
    """Return whether a cell holds a point in time; a missing one of pandas is of the same class."""
    return isinstance(value, datetime) and str(value) not in MISSING


def _record(row: Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:  # Any: JSON
    """Return a flat row of `to_frames` as a record of an export: without missing values, properties on their own."""
    filled = {name: value for name, value in row.items() if value is not None}
    properties = {name.removeprefix(PROPERTY): value for name, value in filled.items() if name not in fields}
    return {**{name: filled.get(name) for name in fields}, "properties": properties}


def is_frame(value: object) -> bool:
    """Return whether a value is a frame of pandas or polars, or has Arrow's interface."""
    polars = sys.modules.get("polars")
    is_lazy = polars is not None and isinstance(value, polars.LazyFrame)
    pandas = sys.modules.get("pandas")
    return is_lazy or hasattr(value, ARROW) or (pandas is not None and isinstance(value, pandas.DataFrame))


def frame_of(frame: Any, name: str) -> FrameRows:  # Any: a frame of any package
    """Return the rows of a frame of pandas or polars, or of any object with Arrow's interface."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        meta = frame.attrs.get(META)
        is_named = any(level is not None for level in frame.index.names)
        # Two columns of one name are told by whoever reads them.
        frame = frame.reset_index(allow_duplicates=True) if is_named else frame
        columns = tuple(map(_column, frame.columns))
        return FrameRows(columns, lambda: frame.itertuples(index=False, name=None), meta)
    if polars is not None and isinstance(frame, polars.DataFrame | polars.LazyFrame):
        frame = frame.lazy().collect()
        return FrameRows(tuple(frame.columns), frame.iter_rows, None)
    if not hasattr(frame, ARROW):
        raise BadOption(
            f"{name} is {frame!r:.80}, a {type(frame).__name__}: give a data frame of pandas or polars, or Arrow's"
        )
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtra(f"reading {name} by Arrow", "parquet") from error
    try:
        table = pyarrow.table(frame)
    except (pyarrow.ArrowException, TypeError) as error:
        raise BadOption(
            f"{name} is a {type(frame).__name__}, one column: give a frame, as {name}.to_frame()"
        ) from error

    def rows() -> Iterator[Sequence[Any]]:  # Any: as above
        for batch in table.to_batches():
            yield from zip(*(column.to_pylist() for column in batch), strict=True)

    return FrameRows(tuple(table.column_names), rows, None)


def _column(name: Any) -> str:  # Any: a name of pandas can be anything
    """Return the name of a column; those of several levels are joined: `goals_sum` of `("goals", "sum")`."""
    return "_".join(part for part in map(str, name) if part) if isinstance(name, tuple) else str(name)


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
