"""`select`: makes a set of sets, of a name or of types, keeps what meets conditions, orders it, cuts it. For plans."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadOption, UnknownProperty, nearest
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.records import JsonValue, Observation
from orienteer.retrieval.graph_text import title
from orienteer.tools import parameters
from orienteer.tools.comparisons import aggregated, meets, quantity, sort_places
from orienteer.tools.session import ReplyLines, Session, counted, unknown_node

_DESCRIPTION = (
    "Make a set of what several sets have in common, of the nodes of a name, or of all nodes of some types; keep those "
    "whose properties meet conditions; put them in order by a property or by what is around them; cut."
)
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=", "contains")
AGGREGATES = ("count", "sum", "mean", "min", "max")
OWN = ("name", "text")
"""Fields of every node, which are read where no property has the name."""
_TEXT = {"type": "string"}
_CONDITION = {
    "type": "object",
    "properties": {
        "property": _TEXT,
        "comparison": {"enum": list(COMPARISONS)},
        "value": {"type": ["string", "number", "boolean"]},
    },
    "required": ["property", "comparison", "value"],
    "additionalProperties": False,
}
_ORDER = {
    "type": "object",
    "properties": {
        "property": _TEXT,
        "aggregate": {"enum": list(AGGREGATES)},
        "edge_types": parameters.EDGE_TYPES,
        "node_types": parameters.NODE_TYPES,
        "direction": parameters.DIRECTION,
        "descending": {"type": "boolean"},
    },
    "additionalProperties": False,
}
_SHOWN = 5
SECONDS = 10.0
"""How long the values of properties may be read."""
_BLOCK = 20_000  # rows between two looks at the clock


class Select:
    """Sets out of sets."""

    def __init__(self, session: Session, *, seconds: float = SECONDS) -> None:
        self._session, self._seconds = session, seconds
        properties: dict[str, Any] = {
            "of": {**parameters.PLAIN_NODES, "description": "Sets or nodes: what they have in common is taken"},
            "named": {"type": "string", "description": "All nodes of this name or alias"},
            "node_types": {
                **parameters.NODE_TYPES,
                "description": "Keep nodes of these types; all of them without a set",
            },
            "where": {"type": "array", "items": _CONDITION, "description": "Conditions on properties, all to be met"},
            "order": {**_ORDER, "description": "By a property, or by the neighbours' number or property"},
            "limit": {"type": "integer", "minimum": 1, "description": "Nodes to keep at the most"},
        }
        self.spec = parameters.spec("select", _DESCRIPTION, properties)

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return how many nodes are left, the first of them, and the set that they are saved as."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        until = time.monotonic() + self._seconds
        rows = self._base(arguments, notes)
        if types := parameters.texts(arguments, "node_types"):
            mask = graph.arrays.mask(session.node_types(types, notes))
            assert mask is not None, "there are types"
            rows = rows[mask[rows]]
        for condition in cast(list[dict[str, Any]], arguments.get("where") or []):
            rows = self._meeting(rows, condition, until)
        if order := cast(dict[str, Any], arguments.get("order") or {}):
            rows = self._ordered(rows, order, notes, until)
        chosen = rows[: parameters.number(arguments, "limit", len(rows))]
        name = session.save(chosen)
        reply = ReplyLines(session)
        reply.say_all(notes)
        cut = f" of {len(rows)}" if len(chosen) < len(rows) else ""
        reply.say(f"{f'{name}: ' if name else ''}{counted(len(chosen), 'node')}{cut}")
        shown = chosen[:_SHOWN].tolist()
        reply.list(shown, (title(graph, row) for row in shown))
        return Observation(reply.text(), tuple(graph.arrays.ids[row] for row in reply.shown))

    def _base(self, arguments: Mapping[str, JsonValue], notes: list[str]) -> Rows:
        """Return the rows to begin with, a set in its own order. Raises `UnknownNode`, `BadOption`."""
        session, graph = self._session, self._session.graph
        if named := parameters.text(arguments, "named"):
            if not (rows := graph.arrays.candidates(named)):
                raise unknown_node(graph, named, longest=200)
            return np.unique(np.array(rows, np.int32))
        if not (references := parameters.texts(arguments, "of")):
            if not (types := parameters.texts(arguments, "node_types")):
                raise BadOption("select needs sets (of), a name (named) or types (node_types)")
            return graph.arrays.all_of(session.node_types(types, []))
        first = np.array(session.ranked(references[0], notes), np.int32)
        others = [session.rows(reference, notes) for reference in references[1:]]
        return first if not others else first[np.isin(first, reduce(np.intersect1d, others))]

    def _meeting(self, rows: Rows, condition: Mapping[str, Any], until: float) -> Rows:
        values = self._values(rows, condition["property"], until)
        comparison, wanted = condition["comparison"], condition["value"]
        keep = [value is not None and meets(value, comparison, wanted) for value in values]
        return rows[np.array(keep, np.bool_)]

    def _values(self, rows: Rows, name: str, until: float) -> list[JsonValue]:
        """Return a property of each node, None for a node without it. Raises `UnknownProperty`, `BadOption`."""
        graph = self._session.graph
        property_name = property_of(graph, name)
        values: list[JsonValue] = []
        for low in range(0, len(rows), _BLOCK):
            if time.monotonic() > until:
                raise BadOption(f"reading {name!r} of {len(rows):,} nodes takes too long: begin with a smaller set")
            block = rows[low : low + _BLOCK]
            if property_name in graph.arrays.properties.names:
                values += graph.arrays.properties.values(property_name, block)
            else:
                values += [
                    (graph.arrays.names if property_name == "name" else graph.arrays.texts)[row]
                    for row in block.tolist()
                ]
        return values

    def _ordered(self, rows: Rows, order: Mapping[str, Any], notes: list[str], until: float) -> Rows:
        how, name = order.get("aggregate"), order.get("property")
        descending = order.get("descending", True)
        if how is None:
            if not name:
                raise BadOption("order needs a property, an aggregate, or both")
            values = self._values(rows, name, until)
            return rows[np.array(sort_places(values, descending=descending), np.intp)]
        if how != "count" and not name:
            raise BadOption(f"the aggregate {how!r} needs a property of the neighbours")
        numbers = self._around(rows, order, notes, until)
        lowest = np.nan_to_num(-numbers if descending else numbers, nan=np.inf, posinf=np.inf, neginf=-np.inf)
        return rows[np.argsort(lowest, kind="stable")]

    def _around(self, rows: Rows, order: Mapping[str, Any], notes: list[str], until: float) -> NDArray[np.float64]:
        """Return for each row the aggregate over its distinct neighbours: (len(rows),) float64, NaN for none."""
        session, graph = self._session, self._session.graph
        edges, types = order.get("edge_types"), order.get("node_types")
        entries = graph.arrays.entries(
            np.unique(rows),
            session.node_types(types, notes) if types else None,
            session.edge_types(edges, notes) if edges else None,
            order.get("direction"),
        )
        pairs = np.unique(entries.owner.astype(np.int64) << 32 | entries.neighbor)
        owner, neighbor = pairs >> 32, (pairs & 0xFFFFFFFF).astype(np.int32)
        numbers = np.zeros(len(pairs))
        if name := order.get("property"):
            distinct, place = np.unique(neighbor, return_inverse=True)
            quantities = [quantity(value) for value in self._values(distinct, name, until)]
            numbers = np.array(quantities, np.float64)[place] if quantities else numbers
        sorter = np.argsort(rows, kind="stable")
        at = sorter[np.searchsorted(rows, owner, sorter=sorter)] if len(owner) else owner
        return aggregated(at.astype(np.int64), numbers, len(rows), order["aggregate"])


def property_of(graph: Graph, name: str) -> str:
    """Return a property by its name, whatever its case and punctuation. Raises `UnknownProperty` with near names."""
    names: Sequence[str] = (*graph.arrays.properties.names, *OWN)
    if name in names:
        return name
    same = [other for other in names if _bare(other) == _bare(name)]
    if len(same) == 1:
        return same[0]
    near = nearest(name, names)
    hint = f" Near: {', '.join(near)}." if near else ""
    raise UnknownProperty(f"No node has a property {name[:200]!r}.{hint} In this graph: {', '.join(names[:40])}.", near)


def _bare(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
