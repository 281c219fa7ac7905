"""The GraphML of our own export, read back exactly: its fields mean what they say, nothing is guessed or cleaned."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orienteer.errors import BadInput
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.edges import EdgeBatch
from orienteer.ingest import portable
from orienteer.ingest.bounds import parsed
from orienteer.ingest.formats.element import EdgeElement, Fields, NodeElement
from orienteer.ingest.formats.table import EDGE_ROWS
from orienteer.ingest.tables.labels import Labels
from orienteer.records import JsonValue, Node

PROPERTY = "property."
"""What stands before the name of a property that a field of ours has too."""
JSON = "JSON"
"""What stands in the description of a key whose values are JSON; a text that is none stands for itself."""


def is_json(text: str) -> bool:
    """Say whether a text could be taken for a value in JSON."""
    return from_json(text) is not text or text[:1] in tuple('"[{')


def from_json(text: str) -> Any:  # Any: JSON
    """Return the value that a text spells as JSON, else the very text."""
    try:
        return parsed(text)
    except ValueError:
        return text


class Exported:
    """Takes the elements of one file."""

    def __init__(self, path: Path, meta: Mapping[str, Any], builder: GraphBuilder) -> None:  # Any: JSON
        if meta.get("version") != portable.VERSION:
            raise BadInput(
                f"{path} is an export of version {meta.get('version')}; this reads {portable.VERSION}: "
                "upgrade orienteer"
            )
        self._path, self._meta, self._builder = path, meta, builder
        self._waiting: list[EdgeElement] = []

    def add_node(self, element: NodeElement) -> None:
        """Take a node. Raises `BadInput` where the file was changed, and `DuplicateNode`."""
        fields = dict(element.fields)
        try:
            node_type, name = str(fields.pop("type")), str(fields.pop("name"))
        except KeyError as error:
            raise BadInput(f"{self._path}, line {element.line}: {error} is missing; export the graph again") from error
        text, aliases = str(fields.pop("text", "")), fields.pop("aliases", ())
        self._builder.add_node(Node(element.id, node_type, name, text, tuple(aliases), _properties(fields)))

    def add_edge(self, element: EdgeElement) -> None:
        """Take an edge, whose nodes were taken before."""
        self._waiting.append(element)
        if len(self._waiting) == EDGE_ROWS:
            self._flush()

    def finish(self) -> Labels:
        """Mark what is symmetric, and return the labels."""
        self._flush()
        return portable.finished(self._meta, self._builder.edges)

    def _flush(self) -> None:
        elements, self._waiting = self._waiting, []
        missing = next((element for element in elements if "type" not in element.fields), None)
        if missing is not None:
            raise BadInput(f"{self._path}, line {missing.line}: 'type' is missing; export the graph again")
        extras = [_extras(element.fields) for element in elements]
        self._builder.add_edges(
            EdgeBatch(
                [element.source for element in elements],
                [str(element.fields["type"]) for element in elements],
                [element.target for element in elements],
                extras if any(extras) else None,
                str(self._path),
                [element.line for element in elements],
            )
        )


def _extras(fields: Fields) -> dict[str, JsonValue]:
    """Return what an edge carries besides its type."""
    rest = {name: value for name, value in fields.items() if name not in ("type", "symmetric")}
    extras: dict[str, JsonValue] = {name: rest.pop(name) for name in ("text", "weight") if name in rest}
    return extras | ({"properties": _properties(rest)} if rest else {})


def _properties(fields: Fields) -> dict[str, JsonValue]:
    return {name.removeprefix(PROPERTY): value for name, value in fields.items()}
