"""`select`: makes a set of sets, of a name or of types, keeps what meets conditions, orders it, cuts it. For plans."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from orienteer.cypher.names import MOST_ROWS, QueryTable
from orienteer.cypher.session import Cypher
from orienteer.errors import BadOption, UnknownProperty, nearest
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.records import JsonValue, Observation
from orienteer.retrieval.graph_text import arrow, title
from orienteer.text.sentences import flat, one_line, value_text
from orienteer.tools import texts
from orienteer.tools.session import ReplyLines, Session, counted, unknown_node
from orienteer.tools.walks import aggregated, meets, quantity, sort_places

_DESCRIPTION = (
    "Make a set of what several sets have in common, of the nodes of a name, or of all nodes of some types; keep those "
    "whose properties meet conditions; put them in order by a property or by what is around them; cut."
)
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=", "contains")
AGGREGATES = ("count", "sum", "mean", "min", "max")
OWN = ("name", "text")
"""Fields of every node, which are read if no property has the name."""
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
        "edge_types": texts.EDGE_TYPES,
        "node_types": texts.NODE_TYPES,
        "direction": texts.DIRECTION,
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
            "of": {**texts.PLAIN_NODES, "description": "Sets or nodes: what they have in common is taken"},
            "named": {"type": "string", "description": "All nodes of this name or alias"},
            "node_types": {
                **texts.NODE_TYPES,
                "description": "Keep nodes of these types; all of them without a set",
            },
            "where": {"type": "array", "items": _CONDITION, "description": "Conditions on properties, all to be met"},
            "order": {**_ORDER, "description": "By a property, or by the neighbours' number or property"},
            "limit": {"type": "integer", "minimum": 1, "description": "Nodes to keep at the most"},
        }
        self.spec = texts.spec("select", _DESCRIPTION, properties)

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the number of nodes left, the first of them, and the name of the saved set."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        until = time.monotonic() + self._seconds
        rows = self._base(arguments, notes)
        if types := texts.texts(arguments, "node_types"):
            mask = graph.arrays.mask(session.node_types(types, notes))
            assert mask is not None, "there are types"
            rows = rows[mask[rows]]
        for condition in cast(list[dict[str, Any]], arguments.get("where") or []):
            comparison, wanted = condition["comparison"], condition["value"]
            values = self._values(rows, condition["property"], until)
            rows = rows[
                np.array([value is not None and meets(value, comparison, wanted) for value in values], np.bool_)
            ]
        if order := cast(dict[str, Any], arguments.get("order") or {}):
            rows = self._ordered(rows, order, notes, until)
        chosen = rows[: texts.number(arguments, "limit", len(rows))]
        name = session.save(chosen)
        reply = ReplyLines(session, notes)
        cut = f" of {len(rows)}" if len(chosen) < len(rows) else ""
        reply.say(f"{f'{name}: ' if name else ''}{counted(len(chosen), 'node')}{cut}")
        shown = chosen[:_SHOWN].tolist()
        reply.list(shown, (title(graph, row) for row in shown))
        return reply.observation()

    def _base(self, arguments: Mapping[str, JsonValue], notes: list[str]) -> Rows:
        """Return the rows to begin with, a set in its own order. Raises `UnknownNode`, `BadOption`."""
        session, graph = self._session, self._session.graph
        if named := texts.text(arguments, "named"):
            if not (rows := graph.arrays.candidates(named)):
                raise unknown_node(graph, named, longest=200)
            return np.unique(np.array(rows, np.int32))
        if not (references := texts.texts(arguments, "of")):
            if not (types := texts.texts(arguments, "node_types")):
                raise BadOption("select needs sets (of), a name (named) or types (node_types)")
            return graph.arrays.all_of(session.node_types(types, []))
        first = np.array(session.ranked(references[0], notes), np.int32)
        others = [session.rows(reference, notes) for reference in references[1:]]
        return first if not others else first[np.isin(first, reduce(np.intersect1d, others))]

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
        numbers = self._aggregates(rows, order, notes, until)
        lowest = np.nan_to_num(-numbers if descending else numbers, nan=np.inf, posinf=np.inf, neginf=-np.inf)
        return rows[np.argsort(lowest, kind="stable")]

    def _aggregates(self, rows: Rows, order: Mapping[str, Any], notes: list[str], until: float) -> NDArray[np.float64]:
        """Return by row the aggregate over its distinct neighbours: (len(rows),) float64, NaN for none."""
        session, graph = self._session, self._session.graph
        types, edges = session.type_filters(order.get("node_types"), order.get("edge_types"), notes)
        entries = graph.arrays.entries(np.unique(rows), types, edges, order.get("direction"))
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

    def bare(written: str) -> str:
        return "".join(letter for letter in written.casefold() if letter.isalnum())

    same = [other for other in names if bare(other) == bare(name)]
    if len(same) == 1:
        return same[0]
    near = nearest(name, names)
    hint = f" Near: {', '.join(near)}." if near else ""
    raise UnknownProperty(f"No node has a property {name[:200]!r}.{hint} In this graph: {', '.join(names[:40])}.", near)


# `cypher`: a read-only statement over the graph, for what the other tools cannot ask in one call.


_CYPHER_DESCRIPTION = (
    "Run one read-only Cypher query: MATCH, OPTIONAL MATCH, WHERE, WITH, RETURN, ORDER BY, SKIP, LIMIT, UNWIND, UNION. "
    "Node types are labels, edge types relationship types. Every node has id and name; texts are not in it: search "
    "those. No CALL { } and no reduce(): use EXISTS { }, COUNT { }, OPTIONAL MATCH with collect(). RETURN nodes or "
    "their ids, so that the result is a set."
)
_SET_ROWS = 10_000  # rows that are read for the set; what is shown is less
_SECONDS = 10.0
_NODE, _EDGE = frozenset({"id", "type", "name"}), frozenset({"source", "type", "target"})
_CELL = 120  # characters of a value at the least; few values share half of the reply


class RunCypher:
    """A query in Cypher."""

    def __init__(self, session: Session) -> None:
        self._session = session
        properties = {
            "query": {"type": "string", "description": "The statement"},
            "k": texts.count(texts.NEIGHBORS_K),
        }
        self.spec = texts.spec("cypher", _CYPHER_DESCRIPTION, properties, ["query"])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the rows with their total number, and a set of the nodes in the first column that has any."""
        query = texts.text(arguments, "query") or ""
        table = Cypher(self._session.graph).query(query, limit=min(_SET_ROWS, MOST_ROWS), seconds=_SECONDS)
        rows = self._nodes(table)
        reply = ReplyLines(self._session)
        reply.say_all(map(flat, table.notes))
        name = self._session.save(np.array(rows, np.int32)) if rows else ""
        about = f"{name}: {counted(len(set(rows)), 'node')} in " if name else ""
        cut = f", of which {len(table.rows)} were read" if table.truncated else ""
        head = f"{about}{counted(table.total, 'row')}{cut}: {flat(' | '.join(table.columns))}"
        shown = table.rows[: texts.number(arguments, "k", texts.NEIGHBORS_K)]
        wide = max(_CELL, self._session.reply_characters // 2 // max(1, len(shown) * len(table.columns)))
        lines = (" | ".join(self._cell(value, wide) for value in row) for row in shown)
        if self._session.offers_offset:
            reply.page(range(len(shown)), lines, lambda rows: f"{head}{_rest(rows, table.total)}")
        else:
            reply.say(head)
            for place, line in enumerate(lines):
                if not reply.say(line):
                    reply.say(f"... {len(shown) - place} more rows did not fit into this reply")
                    break
        ids = dict.fromkeys(self._session.graph.arrays.ids[row] for row in rows)
        return Observation(reply.text(), tuple(ids))

    def _nodes(self, table: QueryTable) -> list[int]:
        """Return the nodes of the first column that holds only nodes or ids, each once, as rows of the graph."""
        for column in range(len(table.columns)):
            cells = [self._row(row[column]) for row in table.rows]
            nodes = [row for row in cells if row is not None]
            if nodes and len(nodes) == sum(row[column] is not None for row in table.rows):
                return list(dict.fromkeys(nodes))
        return []

    def _row(self, value: JsonValue) -> int | None:
        if isinstance(value, dict) and set(value) >= _NODE:
            value = value["id"]
        return self._session.graph.arrays.ids.find(value) if isinstance(value, str) else None

    def _cell(self, value: JsonValue, wide: int) -> str:
        """Return a value as one line, which is cut unless it is a node or an edge."""
        text = self._text(value)
        is_whole = isinstance(value, dict) and (set(value) >= _NODE or set(value) >= _EDGE)
        return flat(text) if is_whole else one_line(text, wide)

    def _text(self, value: JsonValue) -> str:
        """Return a value as text: nodes as every reply shows them, edges as arrows, in lists and paths too."""
        graph = self._session.graph
        if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
            return f"[{', '.join(map(self._text, value))}]"
        if not isinstance(value, dict):
            return value_text(value)
        if set(value) >= _NODE:
            row = self._row(value)
            return title(graph, row) if row is not None else str(value["id"])
        if set(value) >= _EDGE:
            label = graph.schema.label(str(value["type"]))
            return f"[{value['source']}] {arrow(label, 'out')} [{value['target']}]"
        if isinstance(nodes := value.get("nodes"), list) and isinstance(edges := value.get("edges"), list):
            return ", ".join(map(self._text, [*nodes, *edges]))  # a path
        return value_text(value)


def _rest(shown: int, total: int) -> str:
    """Return the hint for the rows after the first `shown`, because no set keeps them."""
    return f". Shown 1-{shown}; SKIP {shown} in the statement for more." if shown < total else ""
