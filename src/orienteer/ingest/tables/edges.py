"""Rows of other people's tables -> batches of edges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orienteer.graph.edges import EdgeBatch, NodeBatch
from orienteer.ingest.formats import Batch
from orienteer.ingest.formats.table import shown
from orienteer.ingest.report import RowPlace, Tally
from orienteer.ingest.tables.cells import blank_rows, holds, texts_of
from orienteer.ingest.tables.columns import REPEATED, Columns, EdgeRoles, edge_role
from orienteer.ingest.tables.mapping import IGNORED, PROPERTY, FileMapping
from orienteer.ingest.tables.nodes import NodeMaker
from orienteer.ingest.tables.values import finite, number, opened, plain, text_of
from orienteer.records import JsonValue

DEFAULT_TYPE = "edge"
Extra = dict[str, Any]  # Any: text, weight and properties, as JSON


class EdgeMaker:
    """Makes batches of edges. Values other than ends and types become extras."""

    def __init__(
        self,
        roles: EdgeRoles,
        columns: Columns,
        *,
        tally: Tally,
        file: str,
        is_text: bool,
        mapping: FileMapping | None = None,
    ) -> None:
        self._roles = roles
        self._type = (mapping.type if mapping else None) or DEFAULT_TYPE
        self._private = frozenset(columns.private)
        self._ignored = frozenset(mapping.having(IGNORED) if mapping else ()) - self._private
        self._properties = frozenset(mapping.having(PROPERTY) if mapping else ())
        self._formed = mapping.formed if mapping else {}
        self._tally = tally
        self._file = file
        self._is_text = is_text
        self.seen: set[str] = set()
        """All columns, and all keys of opened objects, so far."""
        self.labels: dict[str, str] = {}
        """Readable words that stand beside the edge types."""
        self.has_nodes = True
        """Nodes have a table of their own; otherwise the rows' columns about their ends describe them."""

    def of_batch(self, batch: Batch) -> EdgeBatch:
        """Make a batch of edges; rows that lack an end go to the report."""
        self.seen.update(batch.columns)
        sources, targets = self._ids(batch, self._roles.source), self._ids(batch, self._roles.target)
        empty = blank_rows(sources) | blank_rows(targets)
        if empty:
            for row in sorted(empty):
                value = shown(f"{sources[row]} -> {targets[row]}")
                self._tally.drop("empty id", [RowPlace(file=self._file, line=batch.lines[row], value=value)])
            batch = batch.without(empty)
            sources, targets = self._ids(batch, self._roles.source), self._ids(batch, self._roles.target)
        types = self._types(batch)
        extras = self._extras(batch, types)
        return EdgeBatch(
            sources=sources,
            types=types,
            targets=targets,
            extras=extras if extras is not None and any(extras) else None,
            file=self._file,
            lines=batch.lines,
        )

    def nodes(self, batch: Batch, maker: NodeMaker, *, present: Any) -> Iterator[NodeBatch]:  # Any: it has `has`
        """Make the nodes that the rows name and that are not known yet, with the columns about them."""
        roles = self._roles
        for end, described in ((roles.source, roles.source_sides), (roles.target, roles.target_sides)):
            ids = list(self._ids(batch, end))
            first = dict(zip(reversed(ids), range(len(ids))[::-1], strict=True))
            rows = sorted(row for node_id, row in first.items() if node_id.strip() and not present.has(node_id))
            columns = {name: batch.columns[column] for column, name in described.items() if column in batch.columns}
            if rows:
                about = Batch(columns, batch.lines).taking(rows)
                yield from (nodes for _, nodes in maker.named([ids[row] for row in rows], about))

    @staticmethod
    def _ids(batch: Batch, column: str) -> Sequence[str]:
        return texts_of(batch.columns.get(column, ("",) * len(batch)))

    def _types(self, batch: Batch) -> Sequence[str]:
        if self._roles.type is None or self._roles.type not in batch.columns:
            return [self._type] * len(batch)
        types = self._ids(batch, self._roles.type)
        return [name or self._type for name in types] if holds(types, [""]) else types

    def _extras(self, batch: Batch, types: Sequence[str]) -> list[Extra | None] | None:
        """Collect the values of all columns but ends and type, column by column; None without such columns."""
        names = [name for name in batch.columns if self._is_extra(name)]
        if not names:
            return None
        # The better known of two texts has to come first.
        names.sort(key=lambda name: edge_role(name))
        extras: list[Extra | None] = [None] * len(batch)
        for name in names:
            for row, value in enumerate(batch.columns[name]):
                if value is None or value == "":
                    continue
                if name == self._roles.display and self.labels.setdefault(types[row], text_of(value)) == value:
                    continue
                extras[row] = self._with(extras[row], name, value, batch.columns)
        return extras

    def _is_extra(self, name: str) -> bool:
        roles = self._roles
        if name in (roles.source, roles.target, roles.type) or name in self._ignored:
            return False
        side = roles.source_sides.get(name) or roles.target_sides.get(name)
        return side is None or (self.has_nodes and side not in REPEATED)

    def _with(self, extra: Extra | None, name: str, value: Any, columns: Mapping[str, Any]) -> Extra | None:
        """Add one cell to the extras of an edge; an object is opened."""
        if name in self._private:
            self._tally.leave_out(name)
            return extra
        members = opened(value)
        if members is None:
            cell = plain(value)
            return extra if cell is None else self._put(extra, name, cell)
        for key, inner in members.items():
            self.seen.add(key)
            cell = plain(inner)
            if key in self._private:
                self._tally.leave_out(key)
            elif cell is not None:
                extra = self._put(extra, key if key not in columns else f"{name}.{key}", cell)
        return extra

    def _put(self, extra: Extra | None, name: str, value: JsonValue) -> Extra:
        extra = extra or {}
        if name in self._formed:
            if kept := self._formed[name].kept(value):
                extra.setdefault("properties", {}).update(kept)
            return extra
        role = "" if name in self._properties else edge_role(name)[0]
        if (role == "text" or name in self._roles.texts) and "text" not in extra:
            extra["text"] = text_of(value)
        elif (role == "weight" or name == self._roles.weight) and "weight" not in extra and finite(value) is not None:
            extra["weight"] = finite(value)
        else:
            if self._is_text and isinstance(value, str):
                value = number(value)
            extra.setdefault("properties", {})[name] = value
        return extra
