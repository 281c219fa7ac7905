"""The edges of nodes of a database, as the store's adjacency gives them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orienteer.connect.bolt.server import Server, quoted
from orienteer.connect.in_place.conditions import EVERY, Conditions
from orienteer.connect.in_place.seen import SeenNodes, StandIn
from orienteer.errors import TooManyEdges
from orienteer.graph.adjacency import Entries, KindMask
from orienteer.graph.properties import Condition
from orienteer.index.arrays import Rows

MOST_ENDS = 50_000
"""Edge ends of one question to the server. More are refused, never cut short in silence."""
REMEMBERED = 64
"""Neighbourhoods that are kept: a tool asks for the same one several times."""


class EdgesInPlace(StandIn):
    """Asks the server for edges. Safe to share among threads."""

    def __init__(self, server: Server, seen: SeenNodes, types: Sequence[str]) -> None:
        super().__init__(server)
        self._seen, self._types = seen, types
        self._numbers = {name: number for number, name in enumerate(types)}
        self._known: OrderedDict[tuple[bytes, bytes, tuple[Condition, ...]], Entries] = OrderedDict()
        self._extras: list[dict[str, Any]] = []  # Any: values of the database
        self._lock = Lock()

    def entries(self, rows: Rows, kinds: KindMask | None = None, conditions: Conditions = EVERY) -> Entries:
        """Return the edges of these rows, as `Adjacency.entries` does, without those that the server can leave out.

        `conditions` are those on their neighbours. Raises `TooManyEdges`.
        """
        key = (rows.tobytes(), b"" if kinds is None else kinds.tobytes(), conditions.tests)
        with self._lock:
            if key not in self._known:
                self._known[key] = self._fetched(rows, kinds, conditions)
                while len(self._known) > REMEMBERED:
                    self._known.popitem(last=False)
            self._known.move_to_end(key)
            return self._known[key]

    def neighbors(self, row: int) -> NDArray[np.int32]:
        """Return the neighbours of a row: (n,), ascending, one entry for each edge."""
        return self.entries(np.array([row], np.int32)).neighbor

    def between(self, row: int, other: int) -> Entries:
        """Return the edges between a row and another, seen from the first."""
        statement = (
            "UNWIND $ids AS id MATCH (n)-[r]-(m) WHERE elementId(n) = id AND elementId(m) = $other AND id <> $other "
        )
        return self._asked(statement, np.array([row], np.int32), None, other=self._seen.element_ids[other])

    def extras(self, at: int) -> dict[str, Any]:  # Any: values of the database
        """Return the properties of the edge of an entry."""
        return self._extras[at]

    def _fetched(self, rows: Rows, kinds: KindMask | None, conditions: Conditions) -> Entries:
        """Ask for the edges of some rows. Of kinds that all point one way no others are sent."""
        if not len(rows) or (kinds is not None and not kinds.any()):
            return self._sorted(rows, [], kinds)
        left = right = "-"
        names = ""
        if kinds is not None:
            ways = kinds.reshape(-1, 2)
            if not ways.all(axis=1).all() and len(wanted := np.flatnonzero(ways.any(axis=1))) < len(self._types):
                names = ":" + "|".join(quoted(self._types[number]) for number in wanted.tolist())
            left, right = ("<-" if not ways[:, 0].any() else "-"), ("->" if not ways[:, 1].any() else "-")
        where = f"WHERE elementId(n) = id{conditions.where('m')} "
        statement = f"UNWIND $ids AS id MATCH (n){left}[r{names}]{right}(m) {where}"
        return self._asked(statement, rows, kinds, **conditions.parameters)

    def _asked(self, statement: str, rows: Rows, kinds: KindMask | None, **parameters: Any) -> Entries:  # Any: as above
        ids = [self._seen.element_ids[row] for row in rows.tolist()]
        returned = (
            "RETURN id, elementId(startNode(r)) = id AS leaves, type(r) AS type, elementId(m) AS other, "
            f"properties(r) AS more LIMIT {MOST_ENDS + 1}"
        )
        records = self._server.rows(statement + returned, ids=ids, **parameters)
        if len(records) > MOST_ENDS:
            raise TooManyEdges(
                f"There are more than {MOST_ENDS:,} edges here: name edge_types or a direction, or begin from fewer "
                "nodes."
            )
        return self._sorted(rows, records, kinds)

    def _sorted(self, rows: Rows, records: Sequence[Sequence[Any]], kinds: KindMask | None) -> Entries:
        """Return records as entries: in the order of the rows, then by neighbour and kind, without loops."""
        records = [record for record in records if record[0] != record[3] and record[2] in self._numbers]
        place = {self._seen.element_ids[row]: number for number, row in enumerate(rows.tolist())}
        rows_there = self._seen.rows_by_element([record[3] for record in records])
        records = [record for record in records if record[3] in rows_there]
        neighbor = np.array([rows_there[record[3]] for record in records], np.int32)
        kind = np.array([self._numbers[record[2]] * 2 + (not record[1]) for record in records], np.uint16)
        at = np.arange(len(self._extras), len(self._extras) + len(records), dtype=np.int64)
        self._extras += [record[4] for record in records]
        order = np.array([place[record[0]] for record in records], np.int64)
        by = np.lexsort((kind, neighbor, order))
        entries = Entries(rows[order[by]] if len(by) else rows[:0], neighbor[by], kind[by], at[by])
        return entries if kinds is None else entries.where(kinds[entries.kind])
