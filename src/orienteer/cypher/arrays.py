"""Cypher over the arrays of a graph: statements compiled to the query algebra, without a copy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from typing import Any

import numpy as np

from orienteer.cypher.compiler import CompiledStatement, compile_statement
from orienteer.cypher.names import Bounds, Catalog, Identifiers, NameMap, QueryTable, View, ViewedNames
from orienteer.cypher.syntax import CypherStatement
from orienteer.graph.store import Graph
from orienteer.query.budget import Budget
from orienteer.query.columns import Col, EdgeRef, NodeRef, Numbers, Path, column
from orienteer.query.store import Store
from orienteer.query.tables import Tables
from orienteer.records import JsonValue

MOST_WALKED = 50_000_000
"""Edges that one statement may walk."""
MOST_HELD = 2_000_000
"""Rows that one statement may hold at once."""


class ArrayEngine:
    """Answers statements over one graph, in this process. It holds the graph's arrays, not the graph."""

    def __init__(self, graph: Graph) -> None:
        self._store = Store.of(graph)
        nothing: dict[str, Any] = {}
        self._catalog = Catalog(
            version=0,
            engine="",
            node_tables=nothing,
            edge_tables=nothing,
            table_numbers=nothing,
            node_columns=nothing,
            edge_columns=nothing,
            left_out=nothing,
            edge_left_out=nothing,
        )
        self.names = NameMap(graph.schema, self._catalog)
        self._schema = graph.schema
        self._views: dict[View, tuple[NameMap, Identifiers, Mapping[str, Any]]] = {}

    def answer(self, statement: CypherStatement, parameters: Mapping[str, JsonValue], bounds: Bounds) -> QueryTable:
        """Return the answer to a statement; see `Engine.answer`."""
        names, shown_by, options = self._view(statement.view)
        compiled = self._compiled(statement, parameters, names, shown_by)
        budget = Budget(seconds=bounds.seconds, edges=MOST_WALKED, rows=MOST_HELD)
        tables = Tables(self._store, budget, parameters, view=options)
        results = _Results(self._store, names, shown_by)
        rows, total, size = list[tuple[JsonValue, ...]](), 0, 0
        for batch in tables.batches(compiled.table):
            total += batch.size
            if not batch.size or len(rows) >= bounds.rows or size > bounds.characters:
                continue
            part = batch.take(np.arange(min(batch.size, bounds.rows - len(rows))))
            columns = [map(results.value, part.columns[name].values()) for name in compiled.columns]
            for row in zip(*columns, strict=True):
                size += len(json.dumps(row, ensure_ascii=False))
                if size > bounds.characters:
                    break
                rows.append(row)
        return QueryTable(columns=compiled.columns, rows=tuple(rows), total=total, truncated=len(rows) < total)

    def check(self, statement: CypherStatement, parameters: Mapping[str, JsonValue]) -> None:
        """Raise the errors of `answer` that need no look at the graph."""
        names, shown_by, _ = self._view(statement.view)
        self._compiled(statement, parameters, names, shown_by)

    def close(self) -> None:
        """Do nothing: there is nothing to free."""

    def _compiled(
        self,
        statement: CypherStatement,
        parameters: Mapping[str, JsonValue],
        names: NameMap,
        shown_by: Identifiers | None,
    ) -> CompiledStatement:
        def rows_of(identifier: str) -> tuple[int, ...]:
            if shown_by is not None:
                return shown_by.rows(identifier)
            row = self._store.ids.find(identifier)
            return () if row is None else (row,)

        return compile_statement(statement, self._store, names, parameters, rows_of)

    def _view(self, view: View | None) -> tuple[NameMap, Identifiers | None, Mapping[str, Any]]:
        """Return the names of a view, its identifiers, and what expressions take of it."""
        if view is None:
            return self.names, None, {}
        if view not in self._views:
            shown_by = Identifiers(self._store, view)
            names = ViewedNames(self._schema, self._catalog, view, shown_by)
            domain = [] if view.label is None else [view.label]

            def ids(rows: Numbers) -> Col:
                return column([None if row < 0 else shown_by.of(row) for row in rows.tolist()])

            options = {"id": ids, "type": names.called, "labels": lambda label: [label, *domain]}
            self._views[view] = names, shown_by, options
        return self._views[view]


class _Results:
    """Values as JSON: nodes, edges and paths as maps, by the names of a statement's view."""

    def __init__(self, store: Store, names: NameMap, shown_by: Identifiers | None) -> None:
        self._store, self._names, self._shown_by = store, names, shown_by

    def value(self, value: Any) -> JsonValue:  # Any: Cypher's values
        """Return a value as JSON."""
        if isinstance(value, NodeRef):
            return self._node(value.row)
        if isinstance(value, EdgeRef):
            return self._edge(value.at)
        if isinstance(value, Path):
            return {"nodes": list(map(self.value, value.nodes)), "edges": list(map(self.value, value.edges))}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}
        if isinstance(value, date):
            return value.isoformat()
        if isinstance(value, float) and value - value != 0:
            return str(value)  # JSON has no NaN and no infinity
        plain: JsonValue = value
        return plain

    def _id(self, row: int) -> str:
        return str(self._store.ids[row]) if self._shown_by is None else self._shown_by.of(row)

    def _node(self, row: int) -> JsonValue:
        return {
            "id": self._id(row),
            "type": self._names.called(str(self._store.types.nodes[self._store.node_types[row]])),
            "name": self._store.names[row],
            "properties": self._store.properties.of(row),
        }

    def _edge(self, at: int) -> JsonValue:
        source, target, number = (int(ends[0]) for ends in self._store.ends_of(np.array([at])))
        record: dict[str, JsonValue] = {
            "source": self._id(source),
            "type": self._names.called(str(self._store.types.edges[number])),
            "target": self._id(target),
        }
        extra = self._store.adjacency.extra(at)
        if extra is not None and self._store.extras is not None:
            carried = json.loads(self._store.extras.raw(extra))
            own = {name: carried[name] for name in ("weight", "text") if name in carried} | carried.get(
                "properties", {}
            )
            if own:
                record["properties"] = own
        return record
