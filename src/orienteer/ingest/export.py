"""Exports a graph as JSON lines, CSV, Parquet or GraphML, which an import reads back exactly."""

from __future__ import annotations

import csv
import json
import math
import re
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO
from xml.sax.saxutils import escape, quoteattr

from orienteer.errors import BadInput, BadOption, MissingExtra
from orienteer.graph.format import is_link
from orienteer.graph.store import Graph
from orienteer.ingest import portable
from orienteer.ingest.formats.table import NODE_ROWS
from orienteer.ingest.portable import (
    FLAT_EDGE_FIELDS,
    FLAT_NODE_FIELDS,
    JSON,
    MIXED,
    NUMBER,
    PROPERTY,
    TABLES,
    TEXT,
    TEXTS,
    TRUTH,
    WHOLE,
    is_json,
)
from orienteer.records import Edge, JsonValue, Node
from orienteer.version import __version__

Target = Literal["jsonl", "graphml", "csv", "parquet"]

ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 excludes, even escaped."""
PARTS = frozenset(
    {portable.META, portable.NODES, portable.EDGES}
    | {f"{name}.{form}" for name in ("nodes", "edges") for form in portable.FORMS}
)
"""Files of an export folder."""
GRAPHML = "http://graphml.graphdrawing.org/xmlns"


def export_graph(graph: Graph, to: str, out: Path, *, force: bool = False) -> None:
    """Write the graph as a folder of JSON lines, CSV or Parquet, or as one GraphML file, atomically.

    Raises `BadInput` if the path exists and `force` is not set, or if it is not an earlier export.
    """
    writers: Mapping[str, Callable[[Graph, Path], None]] = {"jsonl": _write_jsonl, "graphml": _write_graphml} | {
        form: partial(_write_tables, form=form) for form in portable.FORMS
    }
    if to not in writers:
        raise BadOption(f"No export format {to!r}. There are: {', '.join(writers)}.")
    if (out.exists() or out.is_symlink()) and not force:
        raise BadInput(f"{out} exists already: replace it with --force, or name another path")
    if is_link(out) or (out.exists() and not out.is_file() and not out.is_dir()):
        raise BadInput(f"{out} is a link, or no ordinary file: name another path")
    if out.is_dir() and not _is_replaceable(out):
        raise BadInput(f"{out} is a folder with other files: name another path")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".export-", dir=out.parent) as folder:
        aside = Path(folder) / "made"
        writers[to](graph, aside)
        if out.is_dir():
            for path in out.iterdir():
                path.unlink()
            out.rmdir()
        elif aside.is_dir():
            with suppress(FileNotFoundError):
                out.unlink()
        aside.replace(out)


def _is_replaceable(folder: Path) -> bool:
    """Return whether a folder has nothing but an earlier export: files of its names, no links and no folders."""
    paths = list(folder.iterdir())
    is_ours = all(path.name in PARTS and path.is_file() and not is_link(path) for path in paths)
    has_tables = any(path.suffix.removeprefix(".") in portable.FORMS for path in paths)
    # Tables of others have such names.
    return is_ours and (not has_tables or portable.recognize([folder]) is not None)


def meta_of(graph: Graph) -> dict[str, Any]:
    """Return the metadata of an export."""
    schema = graph.schema
    return {
        "format": portable.KIND,
        "version": portable.VERSION,
        "made_by": __version__,
        "symmetric": sorted(schema.symmetric),
        "labels": dict(schema.labels),
        "also_called": {name: list(words) for name, words in schema.also_called.items()},
        **({"partial": sorted(schema.partial)} if schema.partial else {}),
        **({"text_types": list(graph.arrays.text_types)} if graph.arrays.text_types else {}),
    }


# ---------------------------------------------------------------------------------------------------- JSON lines


def _write_jsonl(graph: Graph, folder: Path) -> None:
    folder.mkdir()
    _write_meta(folder, meta_of(graph))
    nodes = (
        {
            "id": node.id,
            "type": node.type,
            "name": node.name,
            "text": node.text,
            "aliases": list(node.aliases),
            "properties": dict(node.properties),
        }
        for node in map(graph.node, graph.node_ids())
    )
    edges = (
        {"source": edge.source, "type": edge.type, "target": edge.target, **edge.extras} for edge in graph.iter_edges()
    )
    for name, rows in ((portable.NODES, nodes), (portable.EDGES, edges)):
        with (folder / name).open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _write_meta(folder: Path, meta: Mapping[str, Any]) -> None:
    text = json.dumps(meta, ensure_ascii=False, indent=1)
    (folder / portable.META).write_text(text + "\n", encoding="utf-8")


# ------------------------------------------------------------------------------------------------------- GraphML

Fields = dict[str, JsonValue]


class _FieldKey(NamedTuple):
    """The declaration of a field."""

    id: str
    is_json: bool
    """Values are JSON; a text that is not JSON is written as it is."""


NODE_FIELDS = frozenset({"type", "name", "text", "aliases"})
EDGE_FIELDS = frozenset({"type", "text", "weight", "symmetric"})


def _write_graphml(graph: Graph, path: Path) -> None:
    """Write GraphML as a stream."""
    symmetric = graph.schema.symmetric
    node_kinds: dict[str, str] = {}
    edge_kinds: dict[str, str] = {}
    # The head of the file declares the fields, so a first pass collects them.
    for node_id in graph.node_ids():
        _widen(node_kinds, _node_fields(graph.node(node_id)))
    for edge in graph.iter_edges():
        _widen(edge_kinds, _edge_fields(edge, symmetric))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="{GRAPHML}">\n')
        # Other programs ignore descriptions: this one has the metadata for an exact import.
        file.write(f"<desc>{escape(json.dumps(meta_of(graph)))}</desc>\n")
        nodes = _declare(file, "node", node_kinds)
        edges = _declare(file, "edge", edge_kinds)
        file.write('<graph id="G" edgedefault="directed">\n')
        for node_id in graph.node_ids():
            file.write(f"<node id={_attribute(node_id)}>")
            _write_fields(file, nodes, _node_fields(graph.node(node_id)))
            file.write("</node>\n")
        for number, edge in enumerate(graph.iter_edges()):
            file.write(f'<edge id="e{number}" source={_attribute(edge.source)} target={_attribute(edge.target)}>')
            _write_fields(file, edges, _edge_fields(edge, symmetric))
            file.write("</edge>\n")
        file.write("</graph>\n</graphml>\n")


def _node_fields(node: Node) -> Fields:
    fields = node_row(node, NODE_FIELDS)
    # GraphML has it as an attribute of the element.
    del fields["id"]
    return fields


def _edge_fields(edge: Edge, symmetric: frozenset[str]) -> Fields:
    fields: Fields = {"type": edge.type, **edge.extras}
    # Each is a field of its own, below.
    fields.pop("properties", None)
    if edge.type in symmetric:
        fields["symmetric"] = True
    return fields | _renamed(edge.properties, EDGE_FIELDS)


def _widen(kinds: dict[str, str], fields: Fields) -> None:
    """Note the GraphML type of each field: the narrowest one for all its values."""
    for name, value in fields.items():
        kind = _kind(value)
        kind_before = kinds.setdefault(name, kind)
        if kind_before != kind:
            kinds[name] = "double" if {kind_before, kind} == {"double", "long"} else JSON


def _kind(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "long" if -(2**63) <= value < 2**63 else JSON
    if isinstance(value, str):
        return "string"
    return "double" if isinstance(value, float) else JSON


def _declare(file: TextIO, domain: str, kinds: Mapping[str, str]) -> dict[str, _FieldKey]:
    """Write the declarations of the fields, and return their keys by name."""
    keys = {}
    for number, (name, kind) in enumerate(kinds.items()):
        key = keys[name] = _FieldKey(f"{domain[0]}{number}", kind == JSON)
        kind, note = ("string", f"<desc>{JSON}</desc>") if key.is_json else (kind, "")
        file.write(f'<key id="{key.id}" for="{domain}" attr.name={_attribute(name)} attr.type="{kind}">{note}</key>\n')
    return keys


def _write_fields(file: TextIO, keys: Mapping[str, _FieldKey], fields: Fields) -> None:
    for name, value in fields.items():
        key = keys[name]
        is_bare = isinstance(value, str) and not (key.is_json and is_json(value))
        text = value if is_bare else json.dumps(value, ensure_ascii=False)
        # A bare carriage return would be read back as a newline.
        file.write(f'<data key="{key.id}">{escape(_legal(str(text)), {chr(13): "&#13;"})}</data>')


def _attribute(text: str) -> str:
    return quoteattr(_legal(text))


def _legal(text: str) -> str:
    return ILLEGAL.sub("\ufffd", text)


# A graph as two flat tables, nodes and edges, which are read back exactly.
#
# A column has the narrowest kind for all its values, so that other programs find numbers as numbers. The cells of a
# column with several kinds, lists or empty texts are JSON; a text that cannot be taken for JSON is written as it is.
# `meta.json` has the kind of every column.


Row = dict[str, JsonValue]
EXACT = 2**53
"""Integers up to here are exact as floats."""
Kinds = dict[str, str]


def node_row(node: Node, reserved: Collection[str] = FLAT_NODE_FIELDS) -> Row:
    """Return a node as a row without empty fields; properties with `reserved` names are renamed."""
    row: Row = {"id": node.id, "type": node.type, "name": node.name}
    if node.text:
        row["text"] = node.text
    if node.aliases:
        row["aliases"] = list(node.aliases)
    return row | _renamed(node.properties, reserved)


def edge_row(edge: Edge) -> Row:
    """Return an edge as a row."""
    row: Row = {"source": edge.source, "type": edge.type, "target": edge.target, **edge.extras}
    row.pop("properties", None)
    return row | _renamed(edge.properties, FLAT_EDGE_FIELDS)


def _renamed(properties: Mapping[str, JsonValue], reserved: Collection[str]) -> Row:
    """Return properties, with a prefix to names that are reserved, empty, or begin with the prefix."""
    return {
        PROPERTY + name if name in reserved or name.startswith(PROPERTY) or not name else name: value
        for name, value in properties.items()
    }


def kinds_of(rows: Iterable[Row], fields: Sequence[str]) -> Kinds:
    """Return the kind of each column, the fields first."""
    kinds: dict[str, str | None] = dict.fromkeys(fields)
    for row in rows:
        for name, value in row.items():
            kind = _flat_kind(value)
            before = kinds.get(name)
            kinds[name] = kind if before is None or before == kind else _wider(before, kind)
    filled = {name: kind for name, kind in kinds.items() if kind is not None or name in fields[:3]}
    return {name: TEXT if kind is None else NUMBER if kind == FRACTION else kind for name, kind in filled.items()}


def _flat_kind(value: JsonValue) -> str:
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
"""The kind of a float with a fraction; it occurs only while kinds are collected."""


def _wider(first: str, second: str) -> str:
    """Return the narrowest kind for the values of both."""
    both = {first, second}
    if both <= {NUMBER, FRACTION}:
        return NUMBER
    return MIXED if both <= {WHOLE, FRACTION, MIXED} else JSON


def cell_of(value: JsonValue, kind: str) -> str:
    """Return a value as the cell of a text file."""
    if isinstance(value, str) and (kind == TEXT or (value and not is_json(value))):
        return value
    return json.dumps(value, ensure_ascii=False)


def _write_tables(graph: Graph, folder: Path, *, form: str) -> None:
    """Write the two tables as CSV or Parquet. Raises `MissingExtra`."""
    folder.mkdir()
    nodes = lambda: (node_row(graph.node(node_id)) for node_id in graph.node_ids())  # noqa: E731
    edges = lambda: map(edge_row, graph.iter_edges())  # noqa: E731
    facts: dict[str, Kinds | str] = {"format": form}
    for name, rows, fields in (("nodes", nodes, FLAT_NODE_FIELDS), ("edges", edges, FLAT_EDGE_FIELDS)):
        kinds = kinds_of(rows(), fields)
        facts[name] = kinds
        writer = _write_csv if form == "csv" else _write_parquet
        writer(folder / f"{name}.{form}", rows(), kinds)
    _write_meta(folder, meta_of(graph) | {TABLES: facts})


def _write_csv(path: Path, rows: Iterable[Row], kinds: Kinds) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        # Lines end with CR LF: with LF alone it would leave a CR within a cell unquoted.
        writer = csv.writer(file)
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
