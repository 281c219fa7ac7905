"""The compatibility view: a graph named as GraphScout's authors named theirs, so that traces made there run here.

Paper 003, appendices B.2.2 and B.4.2: a node's `id` is its identifier alone (`DOID:10652`), every node has the domain's
label beside its type (`(d:Disease:biomedical)`), types are written with underscores (`Cellular_Component`), an edge
type names the types that it joins (`DISEASE_DOWNREGULATES_GENE`), and a pattern's arrow may point either way, because
there each edge lay in the graph in both directions. The graph itself is not changed, and without a view has its own
ids, codes and directions.
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
_HIDDEN = ("id", "name")  # in Cypher a property that is called so stands behind what every node has


class View(Record):
    """How a graph is to look in Cypher. A view is asked for by each statement; there is none by default."""

    label: str | None = None
    """The domain label of every node, beside its type: `biomedical`. None: types are the only labels."""
    identifier: str = "identifier"
    """The property that is shown as a node's `id`. A node without it shows what its id has behind the type."""
    directed: tuple[str, ...] = ()
    """Edge types whose arrow keeps its meaning where a pattern names them alone: GRBench has `Gene-regulates-Gene`."""


def viewed_schema(schema: Schema, view: View) -> Schema:
    """Return a schema whose labels are the names that types have in a view; the names they had before are known too.

    Raises `BadOption` where the domain label is the name of a node type, or no name at all.
    """
    nodes = {one: _underscored(schema.label(one)) for one in schema.node_types}
    edges = _edge_names(schema, nodes)
    labels = {**_apart(nodes), **_apart(edges)}
    if view.label is not None and not (view.label.isprintable() and 0 < len(view.label) <= _LONGEST_LABEL):
        raise BadOption(
            f"The label {view.label[:40]!r} cannot be read: it needs 1 to {_LONGEST_LABEL} printable characters."
        )
    if view.label is not None and view.label.casefold() in {one.casefold() for one in (*nodes, *nodes.values())}:
        raise BadOption(f"The label {view.label!r} is a node type of this graph: a domain label needs another name.")
    known = {one: (schema.label(one), *schema.also_called.get(one, ())) for one in labels}
    return replace(schema, labels=labels, also_called=known)


def _underscored(name: str) -> str:
    """Return words joined by underscores: `Cellular Component` as `Cellular_Component`."""
    return "_".join("".join(one if one.isalnum() else " " for one in name).split()) or name


def _edge_names(schema: Schema, nodes: dict[str, str]) -> dict[str, str]:
    """Return what each edge type is called: with the types that it joins where these are the same for all its edges."""
    joined: dict[str, list[Triple]] = {}
    for triple in schema.edges:
        joined.setdefault(triple.type, []).append(triple)
    found = {}
    for one, triples in joined.items():
        words = [_underscored(schema.label(one))]
        if len(triples) == 1:
            words = [nodes[triples[0].source], *words, nodes[triples[0].target]]
        found[one] = "_".join(words).upper()
    return found


def _apart(names: dict[str, str]) -> dict[str, str]:
    """Return the names that one type alone has, in the view and before; the others keep their own."""
    counts = Counter(key for name, one in names.items() for key in {one.casefold(), name.casefold()})
    return {name: one if counts[one.casefold()] == 1 else name for name, one in names.items()}


class Identifiers:
    """The nodes of a graph by what a view shows as their ids. Two nodes of different types may share one.

    Reading them takes time in a large graph: `identifiers` keeps them.
    """

    def __init__(self, graph: Nodes, view: View) -> None:
        self._ids, self._node_types, self._type_names = graph.ids, graph.node_types, graph.types.nodes
        self._given = _given(graph, view.identifier)
        self.property = view.identifier if self._given else None
        """The property that holds identifiers; None where no node of this graph has it as a text."""
        self.prefixes = dict(self._prefixes())
        """What stands before the identifier in ids, by node type; types whose ids do not begin so are not here."""
        self.complete = self._complete()
        """The node types of which every node has the property."""

    def of(self, row: int) -> str:
        """Return the identifier of the node of a row."""
        if (given := self._given.get(row)) is not None:
            return given
        node, prefix = self._ids[row], self.prefixes.get(self._type_names[self._node_types[row]], "")
        return str(node).removeprefix(prefix)

    def rows(self, identifier: str) -> tuple[int, ...]:
        """Return the rows of the nodes that an identifier means, ascending; none where there is no such node."""
        found = set(self._rows.get(identifier, ()))
        for prefix in ("", *self.prefixes.values()):
            row = self._ids.find(f"{prefix}{identifier}")
            if row is not None and self.of(row) == identifier:
                found.add(row)
        return tuple(sorted(found))

    @cached_property
    def _rows(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for row, identifier in self._given.items():
            found.setdefault(identifier, []).append(row)
        return found

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
        wide = len(self._type_names)
        rows = np.fromiter(self._given, np.int64, len(self._given))
        having = np.bincount(self._node_types[rows], minlength=wide)
        counts = np.bincount(self._node_types, minlength=wide)
        return frozenset(name for number, name in enumerate(self._type_names) if having[number] == counts[number])


def identifiers(graph: Nodes, view: View) -> Identifiers:
    """Return what leads from nodes to what a view shows as their ids, and back; read once for a property."""
    return graph.once(("identifiers", view.identifier), lambda: Identifiers(graph, view))


def _given(graph: Nodes, name: str) -> dict[int, str]:
    """Return the values of a property by row; none where they are not all texts that the copy holds."""
    if name not in graph.properties.names or name in _HIDDEN:
        return {}
    rows, raw = graph.properties.column(name)
    values = json.loads(b"[%s]" % b",".join(raw))  # all at once: one by one it takes ten times as long
    if not all(isinstance(one, str) and len(one) <= LONGEST_IDENTIFIER for one in values):
        return {}
    return dict(zip(rows.tolist(), values, strict=True))


def _plain(text: str) -> str:
    return text.casefold().replace("_", " ").replace("-", " ")
