"""A graph -> files that other programs read, and that import gives back exactly: JSON lines, CSV, Parquet, GraphML."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO
from xml.sax.saxutils import escape, quoteattr

from orienteer.errors import BadInput, BadOption
from orienteer.graph.format import is_link
from orienteer.graph.store import Graph
from orienteer.ingest import flat_tables, portable
from orienteer.ingest.portable import JSON, PROPERTY, is_json
from orienteer.records import Edge, JsonValue, Node
from orienteer.version import __version__

Target = Literal["jsonl", "graphml", "csv", "parquet"]

ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped."""
PARTS = frozenset(
    {portable.META, portable.NODES, portable.EDGES}
    | {f"{name}.{form}" for name in ("nodes", "edges") for form in portable.FORMS}
)
"""Files of an export that is a folder."""
GRAPHML = "http://graphml.graphdrawing.org/xmlns"


def export_graph(graph: Graph, to: str, out: Path, *, force: bool = False) -> None:
    """Write the graph as a folder of JSON lines, CSV or Parquet, or as one GraphML file, whole or not at all.

    Raises `BadInput` if the path is taken and `force` was not given, or what lies there is no earlier export.
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
    """Say whether a folder holds nothing but an earlier export: files of its names, no links and no folders."""
    paths = list(folder.iterdir())
    is_ours = all(path.name in PARTS and path.is_file() and not is_link(path) for path in paths)
    has_tables = any(path.suffix.removeprefix(".") in portable.FORMS for path in paths)
    return is_ours and (not has_tables or portable.recognize([folder]) is not None)  # others name tables so, too


def meta_of(graph: Graph) -> dict[str, Any]:
    """Return what an export says of the graph as a whole."""
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
    meta = json.dumps(meta_of(graph), ensure_ascii=False, indent=1)
    (folder / portable.META).write_text(meta + "\n", encoding="utf-8")
    _lines(folder / portable.NODES, (_node(graph.node(node_id)) for node_id in graph.node_ids()))
    edges = graph.iter_edges()
    rows = ({"source": edge.source, "type": edge.type, "target": edge.target, **edge.extras} for edge in edges)
    _lines(folder / portable.EDGES, rows)


def _write_tables(graph: Graph, folder: Path, *, form: str) -> None:
    folder.mkdir()
    meta = meta_of(graph) | {portable.TABLES: flat_tables.write(graph, folder, form)}
    written = json.dumps(meta, ensure_ascii=False, indent=1)
    (folder / portable.META).write_text(written + "\n", encoding="utf-8")


def _lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _node(node: Node) -> dict[str, Any]:
    return {
        "id": node.id,
        "type": node.type,
        "name": node.name,
        "text": node.text,
        "aliases": list(node.aliases),
        "properties": dict(node.properties),
    }


# ------------------------------------------------------------------------------------------------------- GraphML

Fields = dict[str, JsonValue]


class _FieldKey(NamedTuple):
    """How a field is declared."""

    id: str
    is_json: bool
    """Values are JSON; a text that is no JSON stands as it is."""


NODE_FIELDS = frozenset({"type", "name", "text", "aliases"})
EDGE_FIELDS = frozenset({"type", "text", "weight", "symmetric"})


def _write_graphml(graph: Graph, path: Path) -> None:
    """Write GraphML in a stream. A first pass collects the fields, for the file declares them at its top.

    Descriptions, which other programs pass over, say what import needs to give the graph back.
    """
    symmetric = graph.schema.symmetric
    node_kinds: dict[str, str] = {}
    edge_kinds: dict[str, str] = {}
    for node_id in graph.node_ids():
        _widen(node_kinds, _node_fields(graph.node(node_id)))
    for edge in graph.iter_edges():
        _widen(edge_kinds, _edge_fields(edge, symmetric))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="{GRAPHML}">\n')
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
    fields: Fields = {"type": node.type, "name": node.name}
    if node.text:
        fields["text"] = node.text
    if node.aliases:
        fields["aliases"] = list(node.aliases)
    return fields | _own(node.properties, NODE_FIELDS)


def _edge_fields(edge: Edge, symmetric: frozenset[str]) -> Fields:
    fields: Fields = {"type": edge.type, **edge.extras}
    fields.pop("properties", None)  # each is a field of its own, below
    if edge.type in symmetric:
        fields["symmetric"] = True
    return fields | _own(edge.properties, EDGE_FIELDS)


def _own(properties: Mapping[str, JsonValue], taken: frozenset[str]) -> Fields:
    """Return properties under names that no field of ours has."""
    return {
        PROPERTY + name if name in taken or name.startswith(PROPERTY) else name: value
        for name, value in properties.items()
    }


def _widen(kinds: dict[str, str], fields: Fields) -> None:
    """Note the GraphML type of each field: the narrowest that holds all its values."""
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
