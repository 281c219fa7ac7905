"""The compatibility view: a graph named as GraphScout's authors named theirs, so that traces made there run here.

Paper 003, appendices B.2.2 and B.4.2: a node's `id` is its identifier alone (`DOID:10652`), every node has the domain's
label beside its type (`(d:Disease:biomedical)`), types are written with underscores (`Cellular_Component`), an edge
type names the types that it joins (`DISEASE_DOWNREGULATES_GENE`), and a pattern's arrow may point either way, because
their graphs store each edge in both directions. The graph itself does not change; without a view it has its own ids,
codes and directions.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

import numpy as np

from orienteer.errors import BadOption
from orienteer.graph.nodes import Nodes
from orienteer.records import Record, Schema, Triple

LONGEST_IDENTIFIER = 200  # characters: a property with longer values is not in the copy that Cypher reads
_LONGEST_LABEL = 100  # characters
_SEPARATORS = ("::", ":")
_HIDDEN = ("id", "name")  # in Cypher, properties of these names are hidden by those of every node


class View(Record):
    """The names of a graph in Cypher. Each statement names its view; there is none by default."""

    label: str | None = None
    """The domain label of every node, beside its type: `biomedical`. None: types are the only labels."""
    identifier: str = "identifier"
    """The property that is shown as a node's `id`. A node without it shows its id without the type."""
    directed: tuple[str, ...] = ()
    """Edge types whose arrow keeps its meaning where a pattern names them alone: GRBench has `Gene-regulates-Gene`."""


def viewed_schema(schema: Schema, view: View) -> Schema:
    """Return a schema whose labels are the view's names of types; the former names are other words for them.

    Raises `BadOption` for a domain label that is the name of a node type, or no name at all.
    """
    nodes = {node_type: _underscored(schema.label(node_type)) for node_type in schema.node_types}
    edges = _edge_names(schema, nodes)
    labels = {**_apart(nodes), **_apart(edges)}
    if view.label is not None and not (view.label.isprintable() and 0 < len(view.label) <= _LONGEST_LABEL):
        raise BadOption(
            f"The label {view.label[:40]!r} cannot be read: it needs 1 to {_LONGEST_LABEL} printable characters."
        )
    if view.label is not None and view.label.casefold() in {name.casefold() for name in (*nodes, *nodes.values())}:
        raise BadOption(f"The label {view.label!r} is a node type of this graph: a domain label needs another name.")
    other_words = {type_name: (schema.label(type_name), *schema.also_called.get(type_name, ())) for type_name in labels}
    return replace(schema, labels=labels, also_called=other_words)


def _underscored(name: str) -> str:
    """Return words joined by underscores: `Cellular Component` as `Cellular_Component`."""
    return "_".join("".join(character if character.isalnum() else " " for character in name).split()) or name


def _edge_names(schema: Schema, nodes: dict[str, str]) -> dict[str, str]:
    """Return the name of each edge type: with its end types if these are the same for all its edges."""
    joined: dict[str, list[Triple]] = {}
    for triple in schema.edges:
        joined.setdefault(triple.type, []).append(triple)
    names = {}
    for edge_type, triples in joined.items():
        words = [_underscored(schema.label(edge_type))]
        if len(triples) == 1:
            words = [nodes[triples[0].source], *words, nodes[triples[0].target]]
        names[edge_type] = "_".join(words).upper()
    return names


def _apart(names: dict[str, str]) -> dict[str, str]:
    """Return the view's name of each type, or its own name where the view's name would be ambiguous."""
    counts = Counter(key for name, shown in names.items() for key in {shown.casefold(), name.casefold()})
    return {name: shown if counts[shown.casefold()] == 1 else name for name, shown in names.items()}


class Identifiers:
    """The nodes of a graph by the ids that a view shows. Two nodes of different types may share an id.

    Reading them takes time in a large graph: `identifiers` remembers them.
    """

    def __init__(self, graph: Nodes, view: View) -> None:
        self._ids, self._node_types, self._type_names = graph.ids, graph.node_types, graph.types.nodes
        self._by_row = _texts_of(graph, view.identifier)
        self.property = view.identifier if self._by_row else None
        """The property with the identifiers; None where no node of this graph has it as a text."""
        self.prefixes = dict(self._prefixes())
        """By node type, the beginning of ids before the identifier; only for types whose ids have one."""
        self.complete = self._complete()
        """The node types whose nodes all have the property."""

    def of(self, row: int) -> str:
        """Return the identifier of the node at a row."""
        if (identifier := self._by_row.get(row)) is not None:
            return identifier
        node, prefix = self._ids[row], self.prefixes.get(self._type_names[self._node_types[row]], "")
        return str(node).removeprefix(prefix)

    def rows(self, identifier: str) -> tuple[int, ...]:
        """Return the rows of the nodes that an identifier means, ascending; empty if there is none."""
        rows = set(self._rows.get(identifier, ()))
        for prefix in ("", *self.prefixes.values()):
            row = self._ids.find(f"{prefix}{identifier}")
            if row is not None and self.of(row) == identifier:
                rows.add(row)
        return tuple(sorted(rows))

    @cached_property
    def _rows(self) -> dict[str, list[int]]:
        """Return the rows by the values of the property, ascending."""
        rows: dict[str, list[int]] = {}
        for row, identifier in self._by_row.items():
            rows.setdefault(identifier, []).append(row)
        return rows

    def _prefixes(self) -> Iterable[tuple[str, str]]:
        for number, name in enumerate(self._type_names):
            rows = np.flatnonzero(self._node_types == number)
            first = self._ids[int(rows[0])] if len(rows) else ""
            for separator in _SEPARATORS:
                length = len(name) + len(separator)
                if _plain(first[:length]) == _plain(f"{name}{separator}") and len(first) > length:
                    yield name, first[:length]
                    break

    def _complete(self) -> frozenset[str]:
        """Return the node types whose nodes all have the property."""
        wide = len(self._type_names)
        rows = np.fromiter(self._by_row, np.int64, len(self._by_row))
        having = np.bincount(self._node_types[rows], minlength=wide)
        counts = np.bincount(self._node_types, minlength=wide)
        return frozenset(name for number, name in enumerate(self._type_names) if having[number] == counts[number])


def identifiers(graph: Nodes, view: View) -> Identifiers:
    """Return the map between nodes and the ids that a view shows; it is read once for each property."""
    return graph.once(("identifiers", view.identifier), lambda: Identifiers(graph, view))


def _texts_of(graph: Nodes, name: str) -> dict[int, str]:
    """Return the values of a property by row; empty unless all are texts that are short enough for the copy."""
    if name not in graph.properties.names or name in _HIDDEN:
        return {}
    rows, raw = graph.properties.column(name)
    values = json.loads(b"[%s]" % b",".join(raw))  # a single call: one for each value takes ten times as long
    if not all(isinstance(value, str) and len(value) <= LONGEST_IDENTIFIER for value in values):
        return {}
    return dict(zip(rows.tolist(), values, strict=True))


def _plain(text: str) -> str:
    return text.casefold().replace("_", " ").replace("-", " ")
