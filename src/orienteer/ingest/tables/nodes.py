"""Rows of other people's tables -> nodes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import itemgetter, methodcaller
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadInput, DuplicateNode
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.edges import CodedColumn, EdgeBatch, NodeBatch, taking
from orienteer.graph.reserved import CHUNK
from orienteer.ingest.formats import Batch
from orienteer.ingest.formats.table import is_sparse, shown
from orienteer.ingest.report import RowPlace, Tally
from orienteer.ingest.tables.cells import blank_rows, has_objects, is_text, is_text_or_nothing, texts_of
from orienteer.ingest.tables.columns import Columns, NodeRoles, plainly
from orienteer.ingest.tables.mapping import IGNORED, FileMapping
from orienteer.ingest.tables.values import (
    items,
    number,
    numeric,
    opened,
    parts_of,
    plain,
    text_of,
    without_decimal,
)
from orienteer.records import JsonValue, Node

DEFAULT_TYPE = "node"
"""What a row of a corpus is where it says nothing else."""
MOST_KNOWN = 1 << 16
"""Texts of a column of which a maker remembers what they become."""
INNER = frozenset({"type", "name", "name part", "text", "aliases", "formed", "link"})
"""Roles that a key of an object within a row takes only where nothing else says what the row is."""


class MadeNodes(NamedTuple):
    """Nodes, and the rows that they were made of, in step."""

    nodes: NodeBatch
    rows: Batch


class LinkCells(NamedTuple):
    """Cells of a column that names other nodes, in step: the nodes whose rows they are of, and their lines."""

    nodes: Sequence[str] | NDArray[np.int32]
    """Their ids, or the numbers that a builder gives them."""
    values: Any  # Any: a list or another column of whatever a file format can hold; some may say nothing
    lines: Any  # Any: a list or another sequence of numbers


class NodeMaker:
    """Makes nodes of rows by the known names of columns, and collects what list columns turn into."""

    only_counts = False
    """Nodes are counted: nothing but their ids, types and links is wanted."""

    def __init__(
        self,
        columns: Columns,
        *,
        tally: Tally,
        is_text: bool = False,
        mapping: FileMapping | None = None,
        joined: Collection[str] = (),
    ) -> None:
        """`joined` are the columns that are made of several, and so are no properties."""
        self._roles = NodeRoles(columns, mapping)
        self._tally = tally
        self._is_text = is_text
        self._type = (mapping.type if mapping else None) or DEFAULT_TYPE
        self._is_settled = self._type not in (DEFAULT_TYPE, CHUNK)
        """What rows are is told, so that no key within an object says it: a user's name is no name of the issue."""
        self._is_prefixed = mapping is not None and bool(mapping.having("prefixed id"))
        self._linked = mapping.links if mapping else {}
        self._formed = mapping.formed if mapping else {}
        self._joined = joined
        self._text_from = mapping.text_from if mapping else columns.text_from
        self._id_column = mapping.id_column if mapping else None
        self._known: dict[str, dict[str, Mapping[str, JsonValue]]] = {}
        """Of each column of a form of its own, what texts become; for they repeat."""
        self.links: dict[str, list[LinkCells]] = {name: [] for name in self._linked}
        """Of each column that names other nodes, its cells, a batch at a time."""
        self.members: dict[str, tuple[list[str], list[str]]] = {}
        """Of each exploded column the ids of the nodes and, in step, the members of their lists."""

    @property
    def seen(self) -> set[str]:
        """Every column, and every key of an opened object, that said anything."""
        return self._roles.seen

    def of_batch(self, batch: Batch, *, id_column: str | None, file: str) -> Iterator[MadeNodes]:
        """Make a node of each row; rows without an id go to the report.

        Without a column of ids a row's id is its type and its line.
        """
        own = texts_of(batch.lines if id_column is None else batch.columns.get(id_column, ("",) * len(batch)))
        others = Batch({name: cells for name, cells in batch.columns.items() if name != id_column}, batch.lines)
        if blank := blank_rows(own):
            for row in sorted(blank):
                first = next((cells[row] for cells in others.columns.values() if cells[row]), "")
                self._tally.drop("empty id", [RowPlace(file=file, line=batch.lines[row], value=shown(first))])
            kept = [row for row in range(len(batch)) if row not in blank]
            batch, others, own = batch.taking(kept), others.taking(kept), taking(own, kept)
        own = list(own)
        is_prefixed = self._is_prefixed or id_column is None
        ids = [f"{self._type}:{each}" for each in own] if is_prefixed else own
        for rows, nodes in self.named(ids, others, names=own if self._is_prefixed else ids):
            yield MadeNodes(nodes, batch if len(rows) == len(batch) else batch.taking(rows))

    def node(self, node_id: str, fields: Mapping[str, Any]) -> Node:  # Any: whatever a file format can hold
        """Make one node of its fields."""
        batch = Batch({name: [cell] for name, cell in fields.items()}, [1])
        return next(node for _, nodes in self.named([node_id], batch) for node in nodes.nodes())

    def named(
        self, ids: Sequence[str], batch: Batch, *, names: Sequence[str] | None = None
    ) -> Iterator[tuple[Sequence[int], NodeBatch]]:
        """Make nodes of rows whose ids are given, with their places, fewer at a time where objects differ much.

        `names` are those of nodes that nothing else names, their ids if not given.
        """
        names = ids if names is None else names
        objects = {
            name: list(map(opened, cells))
            for name, cells in batch.columns.items()
            if self._roles.of(name)[0] == "" and has_objects(cells)
        }
        keys = {name: dict.fromkeys(chain.from_iterable(filter(None, several))) for name, several in objects.items()}
        filled = sum(map(len, filter(None, chain.from_iterable(objects.values()))))
        if len(ids) > 1 and is_sparse(sum(map(len, keys.values())) * len(ids), filled):
            half = len(ids) // 2
            for part in (range(half), range(half, len(ids))):
                for rows, nodes in self.named(taking(ids, part), batch.taking(part), names=taking(names, part)):
                    yield [part[row] for row in rows], nodes
            return
        said = _Said(self, ids, batch.lines)
        told = (names if name == self._id_column else batch.columns.get(name) for name in self._text_from)
        for name, cells in batch.columns.items():
            inner = objects.get(name)
            said.take(name, cells if inner is None else _where(cells, inner, is_there=False))
        for name, inner in objects.items():
            for key in keys[name]:
                values, beside = [one.get(key) if one else None for one in inner], batch.columns.get(key)
                if beside is None and not self._is_settled:
                    said.take(key, values, stored=key)
                    continue
                if beside is not None and not self._is_settled:
                    said.take(key, _where(values, beside, is_there=False), stored=key)
                    values = _where(values, beside, is_there=True)
                said.take(key, values, stored=f"{name}.{key}")
        yield range(len(ids)), said.nodes(names, [cells for cells in told if cells is not None])

    def _forms(self, column: str, cells: Sequence[Any]) -> dict[str, Sequence[JsonValue]]:
        """Return the properties that a column of a form of its own becomes: one is of the texts of another form."""
        formed, known = self._formed[column], self._known.setdefault(column, {})
        if len(known) > MOST_KNOWN:
            known.clear()

        def kept(value: Any) -> Mapping[str, JsonValue]:
            cell = plain(value)
            return {} if cell is None else formed.kept(cell)

        def of_text(value: str) -> Mapping[str, JsonValue]:
            found = known.get(value)
            if found is None:
                found = known[value] = formed.kept(value) if value else {}
            return found

        found = _each(cells, of_text if is_text(cells) else kept)
        names = {name: None for each in (found.values if isinstance(found, CodedColumn) else found) for name in each}
        return {name: _each(found, methodcaller("get", name)) for name in names}

    def number(self, numbers: NDArray[np.int32]) -> None:
        """Take the numbers that a builder has given to the nodes that were made last."""
        for batches in self.links.values():
            if batches and not isinstance(batches[-1].nodes, np.ndarray):
                batches[-1] = batches[-1]._replace(nodes=numbers)


class _Said:
    """What the columns of some rows have said so far of the nodes that they are."""

    def __init__(self, maker: NodeMaker, ids: Sequence[str], lines: Sequence[int]) -> None:
        self._maker, self._ids, self._lines = maker, ids, lines
        self._best: dict[str, list[tuple[int, str, Sequence[Any]]]] = {}
        """By role the columns that may say it, with their rank."""
        self._aliases: list[Sequence[Any]] = []
        self._properties: dict[str, Sequence[JsonValue]] = {}

    def take(self, name: str, cells: Sequence[Any], *, stored: str = "") -> None:  # Any: whatever a file can hold
        """Take a column, or a key of objects, which is kept as `stored`."""
        maker = self._maker
        role, rank = maker._roles.of(name)
        if stored and (role == "link" or (maker._is_settled and rank >= 0 and role in INNER)):
            role = ""
        if role == "text" and maker._text_from:
            role = IGNORED if name in maker._text_from else ""
        stored = stored or name
        if role in ("private", "link", "explode"):
            self._lead_away(role, name, cells)
        elif role == "type" or (role != IGNORED and not maker.only_counts):
            if role == "":
                self._keep(stored, _each(cells, _cell_of_text if maker._is_text else plain))
            elif role == "aliases":
                self._aliases.append(cells)
            elif role == "formed":
                for own, values in maker._forms(name, cells).items():
                    self._keep(own, values)
            else:
                self._best.setdefault(role, []).append((rank, stored, cells))
                self._properties.setdefault(stored, ())  # its place, if it is a property after all

    def _lead_away(self, role: str, name: str, cells: Sequence[Any]) -> None:
        """Take a column that becomes edges, or that nobody may see."""
        maker = self._maker
        if role == "private":
            if said := sum(1 for cell in cells if plain(cell) is not None):
                maker._tally.leave_out(name, said)
        elif role == "link":
            maker.links[name].append(LinkCells(self._ids, cells, self._lines))
            if name not in maker._joined and not maker.only_counts and set(map(type, cells)) != {int}:
                self._keep(name, _each(cells, partial(_linked_property, maker._linked[name].separator)))
        else:
            nodes, members = maker.members.setdefault(name, ([], []))
            for node_id, cell in zip(self._ids, cells, strict=True):
                several = list(dict.fromkeys(items(plain(cell))))
                nodes += [node_id] * len(several)
                members += several

    def nodes(self, names: Sequence[str], told: Sequence[Sequence[Any]]) -> NodeBatch:  # Any: as above
        """Return the nodes; `names` are those of nodes that no column names, `told` the columns of a chosen text."""
        maker, size = self._maker, len(self._ids)
        types = self._types()
        if maker.only_counts:
            return NodeBatch(self._ids, types, names, names)
        parts = sorted(self._best.get("name part", ()), key=lambda part: part[0])
        if parts:
            by_row = zip(*(_words(cells) for _, _, cells in parts), strict=True)
            whole = (" ".join(word.strip() for word in words if word) for words in by_row)
            names = [name or otherwise for name, otherwise in zip(whole, names, strict=True)]
            for _, stored, cells in parts:
                self._keep(stored, list(map(plain, cells)))
        best = self._chosen("name")
        if best is not None:
            names = [name or otherwise for name, otherwise in zip(_words(best), names, strict=True)]
        texts: Sequence[Any] | None = self._chosen("text")
        if maker._text_from:
            # A node is ranked by its name in any case.
            rows = ((name, map(_text, cells)) for name, *cells in zip(names, *told, strict=True))
            texts = ["\n".join(text for text in row if text and text != name) for name, row in rows]
        elif texts is None:
            texts = [""] * size
        elif not is_text(texts):
            texts = list(map(_text, texts))
        return NodeBatch(
            ids=self._ids,
            types=types,
            names=names,
            texts=texts,
            properties={name: cells for name, cells in self._properties.items() if len(cells)},
            aliases=_aliases(self._aliases, names) if self._aliases else None,
        )

    def _chosen(self, role: str) -> Sequence[Any] | None:
        """Return the best column of a role, with gaps filled by the next, or None; other values become properties."""
        ranked = sorted(self._best.get(role, ()), key=lambda column: column[0])
        if len(ranked) < 2:
            return ranked[0][2] if ranked else None
        best: list[JsonValue] = [None] * len(self._ids)
        for _, stored, cells in ranked:
            values = list(map(plain, cells))
            self._keep(stored, [None if own is None else value for own, value in zip(best, values, strict=True)])
            best = [value if own is None else own for own, value in zip(best, values, strict=True)]
        return best

    def _types(self) -> list[str]:
        """Return the type of each node; the further ones of nodes that have several are a property."""
        types = [""] * len(self._ids)
        for _, stored, cells in sorted(self._best.get("type", ()), key=lambda column: column[0]):
            told: Sequence[Any] = cells
            further: Sequence[JsonValue] = [None] * len(cells)
            if not is_text_or_nothing(cells) or plainly(stored) == "category":
                pairs = _each(cells, partial(_type, stored))
                told, further = _each(pairs, itemgetter(0)), _each(pairs, itemgetter(1))
            rows = zip(types, cells, further, strict=True)
            self._keep(stored, [plain(cell) if kind else more for kind, cell, more in rows])
            types = [kind or own or "" for kind, own in zip(types, told, strict=True)]
        return [kind or self._maker._type for kind in types] if "" in types else types

    def _keep(self, name: str, cells: Sequence[JsonValue]) -> None:
        """Store a property; a row without a value keeps the one stored before."""
        if self._maker.only_counts or not len(cells):
            return
        before = self._properties.get(name)
        if before is not None and len(before):
            cells = [own if cell is None else cell for own, cell in zip(before, cells, strict=True)]
        self._properties[name] = cells


def add_made(builder: GraphBuilder, made: MadeNodes, tally: Tally, *, file: str) -> NDArray[np.int32]:
    """Add nodes, count those that are there already, and return the number of each.

    Raises `DuplicateNode` that says where.
    """
    ids, lines = made.nodes.ids, made.rows.lines
    try:
        numbers, repeats = builder.add_nodes(made.nodes)
    except DuplicateNode as error:
        node_id, line = ids[error.place], lines[error.place]
        raise DuplicateNode(
            f"Two different nodes have the id {node_id!r}: the second is at {file}, line {line}; remove one",
            place=error.place,
        ) from error
    for row in repeats:
        tally.merge("duplicate", [RowPlace(file=file, line=lines[row], value=shown(ids[row]))])
    return numbers


def explode(makers: Sequence[NodeMaker], columns: Columns, builder: GraphBuilder) -> None:
    """Turn the members of list columns into nodes, `COLUMN:MEMBER`, and edges to them.

    Raises `BadInput` if no node has such a column.
    """
    missing = set(columns.explode) - {column for maker in makers for column in maker.seen}
    if missing:
        raise BadInput(f"--explode: no table of nodes has a column {min(missing)!r}.")
    for maker in makers:
        for column, (nodes, members) in maker.members.items():
            ids = [f"{column}:{member}" for member in members]
            for node_id, member in dict(zip(ids, members, strict=True)).items():
                builder.add_node(Node(node_id, column, member))
            types = [columns.explode[column]] * len(nodes)
            builder.add_edges(EdgeBatch(sources=nodes, types=types, targets=ids, file=column))


def _where(cells: Sequence[Any], others: Sequence[Any], *, is_there: bool) -> list[Any]:  # Any: as files hold them
    """Return the cells whose row has a cell in another column, or has none; None in place of the others."""
    return [cell if (other is not None) == is_there else None for cell, other in zip(cells, others, strict=True)]


def _each(cells: Sequence[Any], function: Callable[[Any], Any]) -> Sequence[Any]:  # Any: cells, and what they become
    """Return a function of each cell, of cells that repeat only once."""
    return cells.map(function) if isinstance(cells, CodedColumn) else list(map(function, cells))


def _cell_of_text(cell: Any) -> JsonValue:  # Any: JSON, within an object
    return number(cell) if cell and isinstance(cell, str) else plain(cell)


def _linked_property(separator: str, value: Any) -> JsonValue:  # Any: whatever a file format can hold
    """Return the property of a cell that names other nodes; None for numbers, which add nothing."""
    cell = plain(value)
    if cell is None or isinstance(cell, int | float):
        return None
    if isinstance(cell, str) and numeric(without_decimal(cell)) is not None:
        return None
    return list(parts_of(cell, separator)) if separator else cell


def _aliases(columns: Sequence[Sequence[Any]], names: Sequence[str]) -> list[tuple[str, ...]]:  # Any: JSON
    """Return the aliases of each row, of all columns that hold some, without its name."""
    return [
        tuple(dict.fromkeys(alias for cell in cells for alias in items(plain(cell)) if alias != name))
        for name, *cells in zip(names, *columns, strict=True)
    ]


def _type(column: str, value: Any) -> tuple[str | None, JsonValue]:  # Any: whatever a file format can hold
    """Return the node type of a cell, and the further ones if it has several (a list, or KGX's category)."""
    cell = plain(value)
    if cell is None:
        return None, None
    if isinstance(cell, list) or (plainly(column) == "category" and "|" in text_of(cell)):
        several = items(cell)
        if several:
            return several[0], list(several[1:]) or None
    return text_of(cell), None


def _words(cells: Sequence[Any]) -> Sequence[str | None]:  # Any: whatever a file format can hold
    """Return cells as texts, None for empty ones."""
    if is_text_or_nothing(cells):
        return cells
    return [None if cell is None else text_of(cell) for cell in map(plain, cells)]


def _text(value: Any) -> str:  # Any: whatever a file format can hold
    """Return a cell as the text of a node: the members of lists and objects, a line each."""
    cell = plain(value)
    cell = list(cell.values()) if isinstance(cell, dict) else cell
    return "" if cell is None else "\n".join(map(_text, cell)) if isinstance(cell, list) else text_of(cell)
