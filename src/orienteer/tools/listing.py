"""`list_nodes`: nodes by type and property without words, counted, sorted, grouped. For agents that ask for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orienteer.graph.listing import ListedGroup, grouped, matching, ordered
from orienteer.records import JsonValue, Observation
from orienteer.retrieval.graph_text import title
from orienteer.text.lines import one_line, value_text
from orienteer.tools import parameters
from orienteer.tools.session import ReplyLines, Session, counted, shown_range

LIST_NODES = "list_nodes"
_DESCRIPTION = (
    "List nodes by type and property, without words: how many there are, in the order of a property, or counted by its "
    "values. Use it for how many, for the largest and the oldest, and for what a property's values are."
)
_FIELD = "a property, or name, id, type or degree (the number of edges)"
_VALUE = 80  # characters of a value in a line


class ListNodes:
    """Lists, counts, sorts and groups nodes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        properties: dict[str, Any] = {
            "node_types": parameters.NODE_TYPES,
            "where": parameters.WHERE,
            "sort": {"type": "string", "description": f"Order by {_FIELD}; nodes without a value come last"},
            "descending": {"type": "boolean", "description": "From the largest value on"},
            "group_by": {"type": "string", "description": f"Count the nodes by the values of {_FIELD}"},
            "k": parameters.count(parameters.NEIGHBORS_K),
            "offset": parameters.offset(),
        }
        self.spec = parameters.spec(LIST_NODES, _DESCRIPTION, properties)

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return how many nodes pass the filters, and a page of them or of their groups."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        types = parameters.texts(arguments, "node_types")
        node_types = session.node_types(types, notes) if types else None
        rows = matching(graph.arrays, node_types, parameters.texts(arguments, "where") or ())
        sort, group_by = parameters.text(arguments, "sort"), parameters.text(arguments, "group_by")
        descending = arguments.get("descending") is True
        k, offset = parameters.number(arguments, "k", parameters.NEIGHBORS_K), parameters.number(arguments, "offset", 0)
        reply = ReplyLines(session)
        reply.say_all(notes)
        if group_by is not None:
            groups = grouped(graph.arrays, rows, group_by, sort=sort, descending=descending)
            session.save(rows)
            self._say_groups(reply, groups, total=len(rows), k=k, offset=offset)
            return Observation(reply.text())
        order = ordered(graph.arrays, rows, sort, descending=descending)
        page = order.rows[offset : offset + k]
        name = session.save(rows, first=order.rows)
        without = f", {order.missing} of them without {sort}" if order.missing else ""
        what = f"{f'{name}: ' if name else ''}{counted(len(rows), 'node')}{without}"
        reply.page(
            page.tolist(),
            (f"{title(graph, row)}{self._value(row, sort)}" for row in page.tolist()),
            lambda shown: f"{what}{_shown(shown, offset, len(rows))}",
        )
        return Observation(reply.text(), tuple(graph.arrays.ids[row] for row in reply.shown))

    def _say_groups(self, reply: ReplyLines, groups: Sequence[ListedGroup], *, total: int, k: int, offset: int) -> None:
        page = groups[offset : offset + k]
        saved = f"@{len(self._session.sets)}: " if self._session.saves_sets else ""
        what = f"{saved}{counted(total, 'node')}, {counted(len(groups), 'value')}"
        reply.page(
            range(len(page)),
            (
                f"{'(no value)' if group.value is None else one_line(value_text(group.value), _VALUE)}: {group.count}"
                for group in page
            ),
            lambda shown: f"{what}{_shown(shown, offset, len(groups))}",
        )

    def _value(self, row: int, sort: str | None) -> str:
        """Return the property that nodes are sorted by, of this one; empty where it has none."""
        arrays = self._session.graph.arrays
        field = {name.casefold(): name for name in arrays.properties.names}.get((sort or "").casefold())
        value = None if field is None else arrays.properties.of(row).get(field)
        return "" if value is None else f" {field}: {one_line(value_text(value), _VALUE)}"


def _shown(rows: int, offset: int, of: int) -> str:
    """Return which rows a page of so many shows, where they are not all."""
    return "." if rows == of else f". {shown_range(offset, rows, of)}"
