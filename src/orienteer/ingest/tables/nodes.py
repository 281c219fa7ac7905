"""Rows of other people's tables, and fields of their knowledge bases, -> nodes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadInput, DuplicateNode
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.edges import CodedColumn, EdgeBatch, NodeBatch
from orienteer.graph.reserved import CHUNK
from orienteer.ingest.formats import Batch
from orienteer.ingest.formats.table import shown
from orienteer.ingest.report import RowPlace, Tally
from orienteer.ingest.tables.cells import blank_rows, has_objects, is_text, is_text_or_nothing
from orienteer.ingest.tables.columns import Columns, NodeRoles, plainly
from orienteer.ingest.tables.mapping import IGNORED, FileMapping
from orienteer.ingest.tables.values import (
    identifier,
    is_prose,
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
NAMES = ("title", "name", "DisplayName", "case_name")
"""Fields that name a node, best first; after them TYPE_name (`brand_name`)."""
TEXTS = frozenset({"abstract", "description", "feature", "features", "summary", "definition", "text", "plain_text"})
"""Fields that are text however short they are."""
ALIASES = frozenset({"alias", "aliases", "other_names", "synonyms", "synonym"})
MOST_KNOWN = 1 << 16
"""Texts of a column of which a maker remembers what they become."""
INNER = frozenset({"type", "name", "name part", "text", "aliases", "formed", "link"})
"""Roles that a key of an object within a row takes only where nothing else says what the row is."""
INNER_TEXTS = ("text", "desc")
"""Keys of objects in lists that hold the prose (a gene's remarks from the literature, its protein families)."""


class NodeRow(NamedTuple):
    """A node and the line it came from."""

    node: Node
    line: int


@dataclass(slots=True)
class _Cells:
    """What the cells of one row have said so far."""

    id: str
    best: dict[str, tuple[int, str, JsonValue]] = field(default_factory=dict)
    """By role the best candidate: its rank, its column, its value."""
    name_parts: dict[int, str] = field(default_factory=dict)
    aliases: list[str] = field(default_factory=list)
    properties: dict[str, JsonValue] = field(default_factory=dict)

    def take_best(self, role: str, rank: int, column: str, cell: JsonValue) -> None:
        """Take a cell for a role unless there is a better one; the other becomes a property, as parts of names do."""
        losing: tuple[int, str, JsonValue] | None = (rank, column, cell)
        if role == "name part":
            self.name_parts[rank] = text_of(cell).strip()
        elif role not in self.best or rank < self.best[role][0]:
            losing = self.best.get(role)
            self.best[role] = (rank, column, cell)
        if losing is not None:
            self.properties[losing[1]] = losing[2]


class LinkCells(NamedTuple):
    """Cells of a column that names other nodes, in step: the nodes whose rows they are of, and their lines."""

    nodes: list[str] | NDArray[np.int32]
    """Their ids, or the numbers that a builder gives them."""
    values: Any  # Any: a list or another column of whatever a file format can hold; some may say nothing
    lines: Any  # Any: a list or another sequence of numbers


class NodeMaker:
    """Makes nodes of rows by the known names of columns, and collects what list columns turn into."""

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
        self._known: dict[str, dict[str, Mapping[str, JsonValue]]] = {}
        """Of each column of a form of its own, what texts become; for they repeat."""
        self._line = 0
        self._linking: dict[str, LinkCells] = {}
        """The link cells of the batch whose rows are made one by one."""
        self.links: dict[str, list[LinkCells]] = {name: [] for name in self._linked}
        """Of each column that names other nodes, its cells, a batch at a time."""
        self.members: dict[str, tuple[list[str], list[str]]] = {}
        """Of each exploded column the ids of the nodes and, in step, the members of their lists."""

    @property
    def seen(self) -> set[str]:
        """Every column, and every key of an opened object, that said anything."""
        return self._roles.seen

    def of_batch(self, batch: Batch, *, id_column: str | None, file: str) -> Iterator[NodeRow]:
        """Make a node of each row; rows without an id go to the report.

        Without a column of ids a row's id is its type and its line.
        """
        names = [name for name in batch.columns if name != id_column]
        others = zip(*(batch.columns[name] for name in names), strict=True) if names else ((),) * len(batch)
        ids: Sequence[Any] = batch.lines
        if id_column is not None:
            ids = batch.columns.get(id_column, (None,) * len(batch))
        before = f"{self._type}:" if self._is_prefixed or id_column is None else ""
        self._linking = {column: LinkCells([], [], []) for column in self.links}
        for column, cells in self._linking.items():
            self.links[column].append(cells)
        for line, value, values in zip(batch.lines, ids, others, strict=True):
            node_id = identifier(value)
            if not node_id.strip():
                first_value = next((cell for cell in values if cell), "")
                self._tally.drop("empty id", [RowPlace(file=file, line=line, value=shown(first_value))])
                continue
            self._line = line
            yield NodeRow(self.node(f"{before}{node_id}", dict(zip(names, values, strict=True))), line)

    def as_columns(self, batch: Batch, id_column: str | None, builder: GraphBuilder) -> NodeBatch | None:
        """Make the nodes of a batch column by column; None where some cell needs a look at its row.

        That is so for ids that a row or a node of the builder has already, for objects in cells, and for two columns
        that could be the name, the text or the type.
        """
        roles = {name: self._roles.of(name)[0] for name in batch.columns if name != id_column}
        by_role = {
            kind: [name for name, role in roles.items() if role == kind] for kind in ("", "aliases", "formed", "link")
        }
        named = {role: name for name, role in roles.items() if role in ("name", "text", "type")}
        if sum(map(len, by_role.values())) + len(named) < sum(role != IGNORED for role in roles.values()):
            return None
        own: Sequence[Any] = batch.lines if id_column is None else batch.columns.get(id_column, ("",) * len(batch))
        own = own if is_text(own) else list(map(identifier, own))
        is_prefixed = self._is_prefixed or id_column is None
        ids = [f"{self._type}:{each}" for each in own] if is_prefixed else list(own)
        if blank_rows(own) or not builder.are_new(ids) or any(has_objects(batch.columns[name]) for name in by_role[""]):
            return None
        texts = batch.columns[named["text"]] if "text" in named else [""] * len(batch)
        names = batch.columns[named["name"]] if "name" in named else own if self._is_prefixed else ids
        if not (is_text_or_nothing(texts) and is_text_or_nothing(names)):
            return None
        types, further = self._types(batch, named["type"]) if "type" in named else ([self._type] * len(batch), {})
        names = [name or each for name, each in zip(names, own if self._is_prefixed else ids, strict=True)]
        properties: dict[str, Sequence[JsonValue]] = {}
        for name, role in roles.items():
            if role == "link":
                numbers = np.arange(builder.node_count, builder.node_count + len(ids), dtype=np.int32)
                self.links[name].append(LinkCells(numbers, batch.columns[name], batch.lines))
            if builder.only_counts:
                continue
            if role == "":
                properties[name] = self._property(batch.columns[name])
            elif role == "formed":
                properties |= self._forms(name, batch.columns[name])
            elif role == "link" and name not in self._joined:
                properties[name] = _each(batch.columns[name], partial(_linked_property, self._linked[name].separator))
        aliases = [batch.columns[name] for name in by_role["aliases"]]
        return NodeBatch(
            ids=ids,
            types=types,
            names=names,
            texts=texts if is_text(texts) else [text or "" for text in texts],
            properties=properties | further,
            aliases=_aliases(aliases, names) if aliases else None,
        )

    def _types(self, batch: Batch, name: str) -> tuple[list[str], dict[str, list[JsonValue]]]:
        """Return the type of each row, and the further ones of rows that have several."""
        cells = batch.columns[name]
        if is_text_or_nothing(cells) and plainly(name) != "category":
            return [cell or self._type for cell in cells], {}
        several = cells.values if isinstance(cells, CodedColumn) else cells
        told = [_type((0, name, cell) if (cell := plain(value)) is not None else None, self._type) for value in several]
        if isinstance(cells, CodedColumn):
            told = [told[code] for code in cells.codes.tolist()]
        return [kind for kind, _ in told], {name: [further.get(name) for _, further in told]}

    def _property(self, cells: Sequence[Any]) -> Sequence[JsonValue]:  # Any: whatever a file format can hold
        return _each(cells, _cell_of_text if self._is_text else plain)

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
        return {name: _each(found, partial(_value_under, name)) for name in names}

    def node(self, node_id: str, row: Mapping[str, Any]) -> Node:  # Any: whatever a file format can hold
        """Make a node of one row: of its columns, then of the keys of the objects that they hold."""
        cells = _Cells(node_id)
        objects: list[tuple[str, dict[str, Any]]] = []
        for column, value in row.items():
            if value is None or value == "":
                continue
            inner = opened(value) if self._roles.of(column)[0] == "" else None
            if inner is None:
                self._take(cells, column, value)
            else:
                objects.append((column, inner))
        for column, inner in objects:
            for key, value in inner.items():
                is_own = key not in row and not self._is_settled
                self._take(cells, key, value, stored=key if is_own else f"{column}.{key}")
        type_name, further = _type(cells.best.get("type"), self._type)
        parts = " ".join(cells.name_parts[rank] for rank in sorted(cells.name_parts))
        name = text_of(cells.best["name"][2]) if "name" in cells.best else parts or self._unprefixed(cells.id)
        text = cells.best["text"][2] if "text" in cells.best else ""
        text = "\n".join(map(text_of, text)) if isinstance(text, list) else text_of(text)
        aliases = tuple(alias for alias in dict.fromkeys(cells.aliases) if alias != name)
        return Node(cells.id, type_name, name, text, aliases, cells.properties | further)

    def _unprefixed(self, node_id: str) -> str:
        return node_id.removeprefix(f"{self._type}:") if self._is_prefixed else node_id

    def _take(self, cells: _Cells, column: str, value: Any, *, stored: str = "") -> None:
        """Take what one cell says; `stored` is its name as a property where that differs."""
        role, rank = self._roles.of(column)
        if stored and self._is_settled and rank >= 0 and role in INNER:
            role = ""
        cell: JsonValue = value if value.__class__ is str and value else plain(value)
        if cell is None:
            return
        if role == "":
            cells.properties[stored or column] = number(cell) if self._is_text and isinstance(cell, str) else cell
        elif role == "aliases":
            cells.aliases += items(cell)
        elif role == "private":
            self._tally.leave_out(column)
        elif role == "link":
            self._take_link(cells, column, cell)
        elif role == "formed":
            cells.properties |= self._formed[column].kept(cell)
        elif role == "explode":
            nodes, members = self.members.setdefault(column, ([], []))
            several = list(dict.fromkeys(items(cell)))
            nodes += [cells.id] * len(several)
            members += several
        elif role != IGNORED:
            cells.take_best(role, rank, stored or column, cell)

    def _take_link(self, cells: _Cells, column: str, cell: JsonValue) -> None:
        """Take a cell that names other nodes. Words stay a property too; numbers say nothing but where they lead."""
        for place, value in zip(self._linking[column], (cells.id, cell, self._line), strict=True):
            place.append(value)
        kept = _linked_property(self._linked[column].separator, cell)
        if kept is not None and column not in self._joined:
            cells.properties[column] = kept


def add_once(builder: GraphBuilder, node: Node, tally: Tally, *, file: str, line: int) -> None:
    """Add a node, or count it if the same node is there already. Raises `DuplicateNode` that says where."""
    try:
        is_new = builder.add_node(node)
    except DuplicateNode as error:
        raise DuplicateNode(
            f"Two different nodes have the id {node.id!r}: the second is at {file}, line {line}; remove one"
        ) from error
    if not is_new:
        tally.merge("duplicate", [RowPlace(file=file, line=line, value=shown(node.id))])


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


def _each(cells: Sequence[Any], function: Callable[[Any], Any]) -> Sequence[Any]:  # Any: cells, and what they become
    """Return a function of each cell, of cells that repeat only once."""
    return cells.map(function) if isinstance(cells, CodedColumn) else list(map(function, cells))


def _value_under(name: str, kept: Mapping[str, JsonValue]) -> JsonValue:
    return kept.get(name)


def _cell_of_text(cell: str) -> JsonValue:
    return number(cell) if cell else None


def _linked_property(separator: str, value: Any) -> JsonValue:  # Any: whatever a file format can hold
    """Return what a cell that names other nodes is as a property too; None for numbers, which say no more."""
    cell = plain(value)
    if (
        isinstance(cell, int | float)
        or cell is None
        or (isinstance(cell, str) and numeric(without_decimal(cell)) is not None)
    ):
        return None
    return list(parts_of(cell, separator)) if separator else cell


def _aliases(columns: Sequence[Sequence[Any]], names: Sequence[str]) -> list[tuple[str, ...]]:  # Any: JSON
    """Return the aliases of each row, of all columns that hold some, without its name."""
    return [
        tuple(dict.fromkeys(alias for cell in cells for alias in items(plain(cell)) if alias != name))
        for name, *cells in zip(names, *columns, strict=True)
    ]


def _type(best: tuple[int, str, JsonValue] | None, default: str) -> tuple[str, dict[str, JsonValue]]:
    """Return the node type, and the further ones where a row has several (a list, or KGX's category)."""
    if best is None:
        return default, {}
    _, column, value = best
    if isinstance(value, list) or (plainly(column) == "category" and "|" in text_of(value)):
        several = items(value)
        if several:
            return several[0], {column: list(several[1:])} if several[1:] else {}
    return text_of(value), {}


def node_of_fields(node_id: str, node_type: str, fields: Mapping[str, Any]) -> Node:  # Any: JSON
    """Make a node. Fields of objects count as fields of the node; what says nothing is left out."""
    flat = {key: value for key, content in _flat(fields) if (value := plain(content)) is not None}
    named = next((key for key in (*NAMES, f"{node_type}_name") if isinstance(flat.get(key), str)), None)
    name = text_of(flat.pop(named)) if named else node_id
    aliases: list[str] = []
    texts: list[str] = []
    properties: dict[str, JsonValue] = {}
    for key, value in flat.items():
        if key in ALIASES:
            aliases += items(value)
        elif (prose := _prose(key, value)) is not None:
            texts.append(prose)
        else:
            properties[key] = value
    others = tuple(alias for alias in dict.fromkeys(aliases) if alias != name)
    return Node(node_id, node_type, name, "\n".join(dict.fromkeys(texts)), others, properties)


def _flat(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return fields and the fields of objects; an inner one gets its outer's name before it where both exist."""
    for key, value in fields.items():
        if not isinstance(value, Mapping):
            yield key, value
            continue
        for inner, content in value.items():
            yield (f"{key}.{inner}" if inner in fields or isinstance(content, Mapping) else str(inner)), content


def _prose(key: str, value: JsonValue) -> str | None:
    """Return a value as text if it is prose, None if it is a property."""
    if isinstance(value, list):
        if value and all(isinstance(member, dict) for member in value):
            several = [
                next((member[key] for key in INNER_TEXTS if isinstance(member.get(key), str)), "") for member in value
            ]
            inner = list(filter(None, several))
            return "\n".join(inner) if inner else None
        members = [member for member in value if isinstance(member, str)]
        has_prose = len(members) == len(value) and (key in TEXTS or any(map(is_prose, members)))
        return "\n".join(members) if has_prose else None
    return value if isinstance(value, str) and (key in TEXTS or is_prose(value)) else None
