"""A graph as two flat tables, nodes and edges: how the fields of records are written in columns, and read back exactly.

A column is of the narrowest kind that holds all its values, so that other programs find numbers where there are
numbers. Where one column has values of several kinds, lists or empty texts, its cells are JSON; a text that no JSON
could be taken for stands there as it is. `meta.json` beside the tables says the kind of every column.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from orienteer.errors import BadInput, MissingExtra
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.edges import EdgeBatch
from orienteer.graph.store import Graph
from orienteer.ingest.formats.delimited import DelimitedText, FieldDialect
from orienteer.ingest.formats.files import stem, suffix
from orienteer.ingest.formats.parquet import Parquet
from orienteer.ingest.formats.table import EDGE_ROWS, NODE_ROWS, Reader, refusing
from orienteer.ingest.portable import JSON, PROPERTY, TABLES, Dump, finished, from_json, is_json
from orienteer.ingest.tables.labels import Labels
from orienteer.records import Edge, JsonValue, Node

AGAIN = "export the graph again"
Row = dict[str, JsonValue]
NODE_FIELDS, EDGE_FIELDS = ("id", "type", "name", "text", "aliases"), ("source", "type", "target", "text", "weight")
"""Columns that every table of nodes, and of edges, has first; a property of such a name has another one."""
TEXT, WHOLE, NUMBER, MIXED, TRUTH, TEXTS = "text", "whole", "number", "mixed", "truth", "texts"
"""Kinds of columns: texts, none empty; whole numbers; numbers with a fraction; both, none of the second being whole;
true or false; lists of texts, none empty."""
EXACT = 2**53
"""Whole numbers up to here are exact as numbers with a fraction."""
Kinds = dict[str, str]


def node_row(node: Node) -> Row:
    """Return a node as a row; what it lacks is left out."""
    row: Row = {"id": node.id, "type": node.type, "name": node.name}
    if node.text:
        row["text"] = node.text
    if node.aliases:
        row["aliases"] = list(node.aliases)
    return row | _own(node.properties, NODE_FIELDS)


def edge_row(edge: Edge) -> Row:
    """Return an edge as a row."""
    row: Row = {"source": edge.source, "type": edge.type, "target": edge.target, **edge.extras}
    row.pop("properties", None)
    return row | _own(edge.properties, EDGE_FIELDS)


def _own(properties: Mapping[str, JsonValue], taken: Sequence[str]) -> Row:
    return {
        PROPERTY + name if name in taken or name.startswith(PROPERTY) or not name else name: value
        for name, value in properties.items()
    }


def kinds_of(rows: Iterable[Row], fields: Sequence[str]) -> Kinds:
    """Return the kind of each column, the fields first."""
    kinds: dict[str, str | None] = dict.fromkeys(fields)
    for row in rows:
        for name, value in row.items():
            kind = _kind(value)
            before = kinds.get(name)
            kinds[name] = kind if before is None or before == kind else _wider(before, kind)
    filled = {name: kind for name, kind in kinds.items() if kind is not None or name in fields[:3]}
    return {name: TEXT if kind is None else NUMBER if kind == FRACTION else kind for name, kind in filled.items()}


def _kind(value: JsonValue) -> str:
    if isinstance(value, bool):
        return TRUTH
    if isinstance(value, int):
        return WHOLE if abs(value) < EXACT else JSON
    if isinstance(value, float):
        return JSON if math.isnan(value) else NUMBER if value.is_integer() else FRACTION
    if isinstance(value, str):
        return TEXT if value else JSON
    is_texts = isinstance(value, list) and value and all(isinstance(member, str) and member for member in value)
    return TEXTS if is_texts else JSON


FRACTION = "fraction"
"""A number with a fraction that is not whole; only while kinds are found."""


def _wider(first: str, second: str) -> str:
    """Return the kind that holds the values of both."""
    both = {first, second}
    if both <= {NUMBER, FRACTION}:
        return NUMBER
    return MIXED if both <= {WHOLE, FRACTION, MIXED} else JSON


def cell_of(value: JsonValue, kind: str) -> str:
    """Return a value as the cell of a text file."""
    if isinstance(value, str) and (kind == TEXT or (value and not is_json(value))):
        return value
    return json.dumps(value, ensure_ascii=False)


def _value(cell: Any, kind: str) -> Any:  # Any: whatever a file format can hold
    """Return the value of a cell that is filled: of a text file a text, of Parquet what its column holds."""
    if kind == TEXT or (kind == JSON and not isinstance(cell, str)):
        return str(cell)
    value = from_json(cell) if isinstance(cell, str) else cell
    return int(value) if kind == MIXED and isinstance(value, float) and value.is_integer() else value


@dataclass(frozen=True, slots=True)
class FlatDump:
    """A folder of such tables that `export` wrote."""

    dump: Dump

    @property
    def files(self) -> tuple[Path, ...]:
        """Return its three files."""
        return self.dump.files

    def read(self, builder: GraphBuilder) -> Labels:
        """Read the tables into the builder, and return the labels of types. Raises `BadInput` for changed ones."""
        _, nodes, edges = self.files
        for rows, lines in self._rows(nodes, NODE_ROWS):
            for row, line in zip(rows, lines, strict=True):
                self._require(row, NODE_FIELDS[:3], nodes, line)
                node_id, kind, name = (str(row.pop(field)) for field in NODE_FIELDS[:3])
                text, aliases = row.pop("text", ""), row.pop("aliases", ())
                properties = _properties(row)
                builder.add_node(Node(node_id, kind, name, str(text), tuple(map(str, aliases)), properties))
        for rows, lines in self._rows(edges, EDGE_ROWS):
            for row, line in zip(rows, lines, strict=True):
                self._require(row, EDGE_FIELDS[:3], edges, line)
            ends = {field: [str(row.pop(field)) for row in rows] for field in EDGE_FIELDS[:3]}
            extras = [_extras(row) for row in rows]
            some = extras if any(extras) else None
            builder.add_edges(EdgeBatch(ends["source"], ends["type"], ends["target"], some, str(edges), lines))
        return finished(self.dump.meta, builder.edges)

    def _rows(self, path: Path, rows: int) -> Iterator[tuple[list[dict[str, Any]], Sequence[int]]]:  # Any: JSON
        """Return the rows of a table by their columns, without the cells that say nothing."""
        tables = self.dump.meta[TABLES]
        kinds = tables.get(stem(path))
        if not isinstance(kinds, dict):
            raise BadInput(f"{self.files[0]} does not say what the columns of {path.name} hold; {AGAIN}")
        reader: Reader = Parquet() if suffix(path) == ".parquet" else DelimitedText(FieldDialect(",", True))
        for batch in reader.batches(path, rows=rows, drop=refusing(path, AGAIN), header=True):
            filled = (
                {name: cell for name, cell in row.items() if cell is not None and cell != ""} for row in batch.rows()
            )
            yield (
                [{name: _value(cell, str(kinds.get(name, TEXT))) for name, cell in row.items()} for row in filled],
                (batch.lines),
            )

    def _require(self, row: Mapping[str, Any], fields: Sequence[str], path: Path, line: int) -> None:  # Any: JSON
        missing = next((field for field in fields if field not in row), None)
        if missing is not None:
            raise BadInput(f"{path}, line {line}: {missing!r} is missing; {AGAIN}")


def _properties(row: Mapping[str, Any]) -> dict[str, JsonValue]:  # Any: JSON
    return {name.removeprefix(PROPERTY): value for name, value in row.items()}


def _extras(row: dict[str, Any]) -> dict[str, JsonValue]:  # Any: JSON
    extras: dict[str, JsonValue] = {field: row.pop(field) for field in EDGE_FIELDS[3:] if field in row}
    return extras | ({"properties": _properties(row)} if row else {})


def write(graph: Graph, folder: Path, form: str) -> dict[str, Kinds | str]:
    """Write the two tables as CSV or Parquet. Return what `meta.json` says of them. Raises `MissingExtra`."""
    nodes = lambda: (node_row(graph.node(node_id)) for node_id in graph.node_ids())  # noqa: E731
    edges = lambda: map(edge_row, graph.iter_edges())  # noqa: E731
    facts: dict[str, Kinds | str] = {"format": form}
    for name, rows, fields in (("nodes", nodes, NODE_FIELDS), ("edges", edges, EDGE_FIELDS)):
        kinds = kinds_of(rows(), fields)
        facts[name] = kinds
        writer = _write_csv if form == "csv" else _write_parquet
        writer(folder / f"{name}.{form}", rows(), kinds)
    return facts


def _write_csv(path: Path, rows: Iterable[Row], kinds: Kinds) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)  # lines end with CR LF: with LF alone it would leave a CR within a cell unquoted
        writer.writerow(kinds)
        for row in rows:
            writer.writerow(cell_of(row[name], kind) if name in row else "" for name, kind in kinds.items())


def _write_parquet(path: Path, rows: Iterable[Row], kinds: Kinds) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra(f"writing {path.name}", "parquet") from error
    types = {
        **{WHOLE: pyarrow.int64(), NUMBER: pyarrow.float64(), MIXED: pyarrow.float64(), TRUTH: pyarrow.bool_()},
        TEXTS: pyarrow.list_(pyarrow.string()),
    }
    schema = pyarrow.schema([(name, types.get(kind, pyarrow.string())) for name, kind in kinds.items()])
    waiting = iter(rows)
    with parquet.ParquetWriter(path, schema) as writer:
        while several := list(islice(waiting, NODE_ROWS)):
            columns = {
                name: [
                    None if name not in row else cell_of(row[name], kind) if kind == JSON else row[name]
                    for row in several
                ]
                for name, kind in kinds.items()
            }
            writer.write_table(pyarrow.table(columns, schema=schema))
