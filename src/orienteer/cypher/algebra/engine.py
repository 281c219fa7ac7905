"""The engine: the query algebra over the arrays of a graph, in this process and without a copy."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from orienteer.cypher.algebra.expressions import Expressions
from orienteer.cypher.algebra.names import names_of, shown_names
from orienteer.cypher.algebra.patterns import inner_match
from orienteer.cypher.algebra.results import FullAnswer, RecordMaker
from orienteer.cypher.algebra.statements import CompiledStatement, compiled_statement, inner_clauses
from orienteer.cypher.names import Bounds, Identifiers, NameMap, QueryTable, View, identifiers
from orienteer.cypher.patterns import Scope
from orienteer.cypher.syntax import CypherStatement
from orienteer.elements import JsonValue
from orienteer.errors import QueryStopped
from orienteer.query.budget import Budget
from orienteer.query.evaluate import Shown
from orienteer.query.store import Store
from orienteer.query.tables import Tables

if TYPE_CHECKING:
    from orienteer.graph.store import Graph

MOST_EDGES = 200_000_000
"""Edges that a statement may walk."""
MOST_ROWS = 5_000_000
"""Rows that a step of a statement may hold."""
MOST_BYTES = 256 << 20
"""Bytes of texts and lists that a step of a statement may hold."""
_RECORDS = 256  # rows that are made at once


class _Viewed(NamedTuple):
    """The names of one view."""

    names: NameMap
    identifiers: Identifiers | None
    shown: Shown
    records: RecordMaker


class Arrays:
    """Answers statements over the arrays of a graph. Safe to share among threads."""

    def __init__(self, graph: Graph) -> None:
        self._store = Store.of(graph)
        self._graph = weakref.ref(graph)  # the graph holds this
        self._viewed: dict[View | None, _Viewed] = {None: self._of_view(None, None)}
        types = self._store.types
        self._node_numbers = {name: number for number, name in enumerate(types.nodes)}
        self._edge_numbers = {name: number for number, name in enumerate(types.edges)}

    @property
    def names(self) -> NameMap:
        """The look-up of the graph's own names."""
        return self._viewed[None].names

    def answer(self, statement: CypherStatement, parameters: Mapping[str, JsonValue], bounds: Bounds) -> QueryTable:
        """Return the answer to a statement. Raises what `Cypher.query` raises."""
        viewed = self._view(statement.view)
        scope = Scope(viewed.names, parameters)
        budget = Budget(seconds=bounds.seconds, edges=MOST_EDGES, rows=MOST_ROWS, size=MOST_BYTES)
        compiled = self._compiled(statement, scope, viewed)
        tables = Tables(self._store, budget, parameters, viewed.shown)
        rows, total, left, is_full = list[tuple[JsonValue, ...]](), 0, bounds.characters, False
        try:
            for batch in tables.batches(compiled.table):
                total += batch.size
                wanted = min(batch.size, bounds.rows - len(rows))
                for low in range(0, 0 if is_full else wanted, _RECORDS):  # the other rows are only counted
                    budget.check()
                    part = batch.take(np.arange(low, min(low + _RECORDS, wanted)))
                    columns = [part.columns[name] for name in compiled.columns]
                    try:
                        for row, length in viewed.records.rows(columns, left):
                            rows.append(row)
                            left -= length
                    except FullAnswer:
                        is_full = True
                        break
        except RecursionError:
            raise QueryStopped("the query nests its values too deep: take lists apart by UNWIND") from None
        except MemoryError:
            raise QueryStopped("the query needs more memory than there is: return less, or count instead") from None
        return QueryTable(
            columns=compiled.names,
            rows=tuple(rows),
            total=total,
            truncated=len(rows) < total,
            notes=tuple(scope.notes),
        )

    def check(self, statement: CypherStatement, parameters: Mapping[str, JsonValue]) -> None:
        """Raise the errors of `answer` that need no look at the graph."""
        viewed = self._view(statement.view)
        self._compiled(statement, Scope(viewed.names, parameters), viewed)

    def close(self) -> None:
        """There is nothing to free."""

    def _compiled(self, statement: CypherStatement, scope: Scope, viewed: _Viewed) -> CompiledStatement:
        def rows_with_id(word: str) -> Iterable[int]:
            if viewed.identifiers is not None:
                return viewed.identifiers.rows(word)
            row = self._store.ids.find(word)
            return () if row is None else (row,)

        numbers = self._node_numbers, self._edge_numbers
        compiler = Expressions(scope, self._store, *numbers, rows_with_id, inner_clauses, inner_match)
        return compiled_statement(statement, compiler)

    def _view(self, view: View | None) -> _Viewed:
        if view not in self._viewed:
            graph = self._graph()
            assert graph is not None, "whoever asks holds the graph"
            assert view is not None, "the graph's own names are there from the start"
            self._viewed[view] = self._of_view(view, identifiers(graph.arrays, view))
        return self._viewed[view]

    def _of_view(self, view: View | None, shown: Identifiers | None) -> _Viewed:
        names = names_of(self._store, view)
        return _Viewed(names, shown, shown_names(self._store, names, shown), RecordMaker(self._store, names, shown))
