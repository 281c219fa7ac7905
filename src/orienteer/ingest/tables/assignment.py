"""The tables of an import, each with its mapping: by hand, by the names of files and columns, else by the values."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from orienteer.errors import BadInput, UnclearTables
from orienteer.graph.reserved import CHUNK
from orienteer.ingest.formats.delimited import numbered
from orienteer.ingest.report import Ignored
from orienteer.ingest.tables.columns import (
    Columns,
    EdgeRoles,
    NodeRoles,
    check_named,
    edge_columns,
    ends as ends_of,
    refuse_private,
)
from orienteer.ingest.tables.draft import Draft, TableKey
from orienteer.ingest.tables.inside import declares_keys, stated_links, stored_as
from orienteer.ingest.tables.kinds import bare, headless, is_headless, sort_tables
from orienteer.ingest.tables.links import closeness, resolved
from orienteer.ingest.tables.mapper import Mapper
from orienteer.ingest.tables.mapping import IGNORED, ColumnLink, FileMapping
from orienteer.ingest.tables.plan import EDGE_WORDS, Table, table_of, words_in
from orienteer.ingest.tables.profile import ColumnProfile, profiles_of, with_nulls
from orienteer.ingest.tables.spec import TableSpec, check_columns, no_header, nodes_line, unclear
from orienteer.ingest.tables.type_names import edge_type_of, words_of

NO_TYPES = frozenset({"graph", "kg", "network", "net", "pairs", "train", "valid", "test", "one", "two"}) | EDGE_WORDS
"""Words of a file's name that are no type of edges."""
BY_NAME = "known names of columns"
ENDS: tuple[Literal["source", "target"], ...] = ("source", "target")
ENOUGH = 0.5
"""Share of the different values of an end that have to be ids of nodes, or keys of a table."""


@dataclass(frozen=True, slots=True)
class MappedTable:
    """A table and how it is read."""

    table: Table
    mapping: FileMapping

    def __post_init__(self) -> None:
        """Let the table join the columns that the mapping names together."""
        object.__setattr__(self, "table", self.table.joining(self.mapping.columns))


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What is read as what."""

    tables: tuple[MappedTable, ...] = ()
    others: tuple[Table, ...] = ()
    """Tables beside them, which may hold the labels of codes."""
    ignored: tuple[Ignored, ...] = ()
    guesses: tuple[str, ...] = ()
    """What the values told, each with its file: everything that a person may want to settle."""
    notes: tuple[str, ...] = ()

    @property
    def nodes(self) -> list[MappedTable]:
        """Return the tables whose rows are nodes."""
        return [mapped for mapped in self.tables if not mapped.mapping.is_of_edges]

    @property
    def edges(self) -> list[MappedTable]:
        """Return the tables whose rows are edges."""
        return [mapped for mapped in self.tables if mapped.mapping.is_of_edges]

    @property
    def all_tables(self) -> list[Table]:
        """Return the tables that are read, and the others."""
        return [*(mapped.table for mapped in self.tables), *self.others]

    @property
    def directed(self) -> frozenset[str]:
        """Return the types of edges whose ends have names of their own, so that their order means something."""
        links = [(each.mapping, link) for each in self.tables for link in each.mapping.links.values()]
        return frozenset(link.edge_type or mapping.type or "" for mapping, link in links if not mapping.undirected)

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the files that the graph is made of."""
        return tuple(dict.fromkeys(mapped.table.path for mapped in self.tables))


class Assignment:
    """The tables of some sources, and the mappings of each.

    Raises `BadInput` that names the option which settles what is not clear. `without` are files that are left out,
    `UnreadableFile` names one more. A table that is named without its columns takes the place of all that would be
    recognised.
    """

    def __init__(
        self,
        sources: Sequence[Path],
        columns: Columns,
        *,
        nodes: Sequence[TableSpec] = (),
        edges: Sequence[TableSpec] = (),
        without: Collection[Path] = (),
    ) -> None:
        """Sort the tables, and profile those whose names do not decide."""
        self._specs = {spec.path: spec for spec in (*nodes, *edges)}
        found = sort_tables(sources, columns, by_hand={path.resolve() for path in (*without, *self._specs)})
        self._found, self._columns = found, columns
        if any(not spec.columns for spec in nodes):
            found.others += [*found.nodes, *found.unknown]
            found.nodes, found.unknown = [], []
        if any(not spec.columns for spec in edges):
            found.others += found.edges
            found.edges = []
        for spec in nodes:
            table = _named(spec)
            (found.unknown if spec.columns else found.nodes).append(table)
        found.edges += [_sure_edges(_named(spec), spec, columns) for spec in edges]
        self._others = [table for table in found.others if table not in found.unknown]
        self._nodes = [self._of_named_nodes(table) for table in found.nodes]
        self._edges = [self._of_named_edges(table) for table in found.edges]
        self._open = [self._draft(table) for table in found.unknown]

    @property
    def drafts(self) -> list[Draft]:
        """Return the tables with what their columns hold."""
        return [*self._nodes, *self._open, *self._edges]

    def around(self, kept: Mapping[str, FileMapping]) -> ImportPlan:
        """Return how each table is read if mappings, by file, are kept. Nobody has looked for null words."""
        nodes, drafts, edges = (
            [_fresh(draft, kept.get(draft.file)) for draft in several]
            for several in (self._nodes, self._open, self._edges)
        )
        mapper = Mapper(drafts, has_edges=bool(edges))
        ends = [self._with_ends(draft, mapper) for draft in edges]
        mappings = [*map(mapper.of_named, nodes), *mapper.mappings(ends), *ends]
        mapped, guesses = list[MappedTable](), list[str]()
        for draft, mapping in zip((*nodes, *drafts, *edges), mappings, strict=True):
            table = draft.table
            if draft.kept is None and not mapping.is_of_edges and mapping.same is None:
                told = tuple(name for name in self._columns.text_from if name in table.columns)
                mapping = mapping.model_copy(update={"text_from": told})
            mapped.append(MappedTable(table, mapping))
            has_half = words_in(table.path) & EDGE_WORDS and any(ends_of(table.columns, self._columns))
            if not mapping.is_of_edges and has_half and not self._specs.get(table.path):
                EdgeRoles.of(table.columns, self._columns, table.path)  # says which end is missing
            guesses += [f"{table.file}: {guess}" for guess in (*draft.guesses, *draft.questions)]
        if not mapped:
            raise UnclearTables(unclear(self._others))
        named = {name for each in mapped if not each.mapping.is_of_edges for name in each.table.columns}
        check_named(Columns(text_from=self._columns.text_from), named)
        return ImportPlan(tuple(mapped), tuple(self._others), tuple(self._found.ignored), tuple(guesses))

    def _draft(self, table: Table) -> Draft:
        """Profile a table whose names do not decide. Raises `UnclearTables` if it has no header."""
        if is_headless(table):
            raise UnclearTables(no_header(table))
        spec = self._specs.get(table.path)
        given = {column: role for role, column in (spec.columns if spec else {}).items() if role != "type"}
        given |= {
            column: role.removeprefix("node_")
            for role, column in self._columns.roles.items()
            if role in ("id", "name", "text", "aliases", "type", "node_type") and column in table.columns
        }
        called = spec.columns.get("type", "") if spec else ""
        if called in table.columns:
            given, called = {**given, called: "type"}, ""
        check_columns(table, given)
        refuse_private(self._columns.private, given)
        stated = stated_links(table, self._found.unknown)
        hidden = self._columns.private
        # A column that leads to a private key has its values.
        private = [name for name in table.columns if name in hidden or stated.get(name, ("", ""))[1] in hidden]
        stored = stored_as(table)
        if stored is not None and stored.id in table.columns and "id" not in given.values():
            given = {str(stored.id): "id", **given}
        name = CHUNK if table.is_corpus else table.name
        draft = Draft(table, name, profiles_of(table), given, called, private)
        draft.stated = stated
        draft.is_declared = declares_keys(table, self._found.unknown)
        return draft

    def _of_named_nodes(self, table: Table) -> Draft:
        """Draft a table of nodes by the names of its columns. Raises `BadInput` if none has the ids."""
        roles = NodeRoles(self._columns)
        id_name = roles.id_column(table.columns)
        if id_name is None:
            raise BadInput(
                f"{table.file} has no column for the ids of its nodes. Its columns are: {', '.join(table.columns)}. "
                f"Name it: {nodes_line(table)}"
            )
        ranked = sorted((name for name in table.columns if name != id_name), key=lambda name: roles.of(name)[1])
        given = {id_name: "id"} | {name: role for name in ranked if (role := roles.of(name)[0])}
        given |= {name: IGNORED for name, role in given.items() if role == "private"}
        exploded = {name: kind for name, kind in self._columns.explode.items() if name in table.columns}
        given |= {name: str(ColumnLink(name, "", kind)) for name, kind in exploded.items()}
        types = [name for name, role in given.items() if role == "type"]
        why = [BY_NAME, *(f"{name}: the type where {types[0]} is empty" for name in types[1:])]
        return _named_draft(table, given, CHUNK if table.is_corpus else "node", "; ".join(why))

    def _of_named_edges(self, table: Table) -> Draft:
        """Draft a table of edges by the names of its columns. Raises `BadInput` if none has an end."""
        spec = self._specs.get(table.path)
        columns, type_name, why = self._columns, edge_type_of(table.name), BY_NAME
        if spec is not None and spec.columns:
            columns, type_name = _by_hand(table, spec, columns)
            why = "as given"
        elif not table.has_header:
            triple = dict(zip(table.columns, ("source", "type", "target"), strict=True))
            return _named_draft(table, triple, "edge", "no header: bare triples")
        elif NO_TYPES & {*words_of(table.name)}:
            type_name = "edge"
        given = edge_columns(table.columns, columns, table.file)
        given |= {name: IGNORED for name in table.columns if name in columns.private}
        return _named_draft(table, given, type_name, why)

    def _with_ends(self, draft: Draft, mapper: Mapper) -> FileMapping:
        """Return the mapping of a table of edges, whose ends lead to the tables that have them.

        Raises `BadInput` if two tables have the values of an end, and its name does not say which is meant.
        """
        if draft.kept is not None:
            return draft.kept
        table, spec = draft.table, self._specs.get(draft.table.path)
        mapping = mapper.of_named(draft).model_copy(
            update={
                "kind": "edges" if self._nodes or self._open else "both",
                "undirected": spec is not None and spec.undirected,
            }
        )
        given = spec.columns if spec is not None else {}
        columns = {end: mapping.having(end)[0] for end in ENDS}
        named = {end: given[end].partition("@")[2] if given else "" for end in ENDS}
        if not (table.has_header or given) or not (mapper.keys or any(named.values())):
            return mapping
        profiles = profiles_of(table, set(columns.values()))
        roles, why = dict(mapping.columns), [mapping.why]
        for end, column in columns.items():
            name = named[end]
            keys = [_named_key(name, end, mapper, table)] if name else _keys_by_values(profiles[column], mapper)
            types = [key.table for key in keys]
            if len(keys) > 1:
                ends = f"source={columns['source']}@{types[0]},target={columns['target']}@{types[1]}"
                raise BadInput(
                    f"{table.file}: its ends are ids of several tables: {', '.join(types)}. "
                    f"Say which is meant where: --edges {shlex.quote(f'{table.file}:{ends}')}"
                )
            for key in keys:
                roles[column] = str(ColumnLink(key.table, key.column, "", end))
                why.append(f"{column} leads to {key.table}.{key.column}")
        return mapping.model_copy(update={"columns": roles, "why": "; ".join(why)})


def _named_key(named: str, end: str, mapper: Mapper, table: Table) -> TableKey:
    """Return the key that a person names for an end, `style` or `style.code`. Raises `BadInput` if there is none."""
    node_type, _, column = named.partition(".")
    keys = [key for key in mapper.keys if key.table == node_type and column in ("", key.column)]
    if not keys:
        known = ", ".join(dict.fromkeys(f"{key.table}.{key.column}" for key in mapper.keys)) or "none"
        raise BadInput(f"{table.file}: {end}=...@{named} names no key of a table: {known}")
    return keys[0]


def _keys_by_values(profile: ColumnProfile, mapper: Mapper) -> list[TableKey]:
    """Return the key that has the values of an end, and those of other tables that have them as well.

    Empty if the values are ids of nodes, or of nothing here.
    """
    values = list(profile.counts)
    own = [key for key in mapper.keys if not key.rank and key.table not in mapper.prefixed]
    if not values or resolved(values, {value for key in own for value in key.values}) >= ENOUGH:
        return []
    scores = [
        (closeness(profile.name, key.table, key.column), resolved(values, key.values), -key.rank) for key in mapper.keys
    ]
    best = max((score for score in scores if score[1] >= ENOUGH), default=None)
    fitting = [key for key, score in zip(mapper.keys, scores, strict=True) if score == best]
    return [key for place, key in enumerate(fitting) if not place or key.table != fitting[0].table]


def _named_draft(table: Table, given: Mapping[str, str], called: str, why: str) -> Draft:
    """Return the draft of a table whose columns have known names; only the other columns are profiled."""
    others = [name for name in table.columns if name not in given]
    return Draft(table, table.name, profiles_of(table, others) if others else {}, given, called, why=why)


def _fresh(draft: Draft, kept: FileMapping | None) -> Draft:
    """Return a draft without decisions, except those that are kept."""
    called = (kept.type or "") if kept is not None and not kept.is_of_edges else draft.called
    return replace(draft, called=called, kept=kept, guesses=[], questions=[], links={}, joined={}, names=())


def value_columns(table: Table, mapping: FileMapping, *, has_nodes: bool) -> list[str]:
    """Return the columns that may have null words: all except ids and ignored columns.

    Ends are ids where nodes have a table of their own, which may have one that is called NA.
    """
    fixed = mapping.having("id", "prefixed id", IGNORED, *(("source", "target") if has_nodes else ()))
    return [name for name in table.columns if name not in fixed] if table.format.is_text else []


def emptied(made: ImportPlan, drafts: Sequence[Draft] = ()) -> ImportPlan:
    """Return a plan whose tables know their null words, from the profiles of drafts if these are of the same table."""
    notes, by_file, tables = list(made.notes), {draft.file: draft for draft in drafts}, list[MappedTable]()
    for each in made.tables:
        draft = by_file.get(each.table.file)
        profiles = draft.profiles if draft is not None and draft.table == each.table.joining(()) else {}
        names = value_columns(each.table, each.mapping, has_nodes=bool(made.nodes))
        tables.append(replace(each, table=with_nulls(each.table, names, notes, profiles)))
    return replace(made, tables=tuple(tables), notes=tuple(notes))


def _named(spec: TableSpec) -> Table:
    """Return a table that a person names; it has no header where its columns are named by their places."""
    table = table_of(spec.path, is_named=True)
    columns = [column.partition("@")[0] for role, column in spec.columns.items() if role != "type"]
    numbers = numbered(len(table.columns))
    is_by_places = columns and set(columns) <= set(numbers) - set(table.columns)
    return headless(table) if is_by_places and table.format.is_text else table


def _sure_edges(table: Table, spec: TableSpec, columns: Columns) -> Table:
    """Return the table as one of edges. Raises `BadInput` if it cannot be one."""
    if spec.columns or None not in ends_of(table.columns, columns):
        return table
    triple = bare(table, columns)
    if triple is None:
        EdgeRoles.of(table.columns, columns, table.file)  # says which end is missing
    return triple or table


def _by_hand(table: Table, spec: TableSpec, columns: Columns) -> tuple[Columns, str]:
    """Return the roles of columns as a person gave them for this table, and the type of its edges."""
    roles = {role: column.partition("@")[0] for role, column in spec.columns.items()}
    type_name = roles.pop("type", "")
    check_columns(table, list(roles.values()))
    if type_name in table.columns:
        roles, type_name = {**roles, "edge_type": type_name}, ""
    return replace(columns, roles=roles), type_name or edge_type_of(table.name)
