"""The tables of an import, each with its mapping: by hand, by the names of files and columns, else by the values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orienteer.errors import UnclearTables
from orienteer.graph.reserved import CHUNK
from orienteer.ingest.formats.delimited import numbered
from orienteer.ingest.report import Ignored
from orienteer.ingest.tables.columns import Columns, EdgeRoles, ends, refuse_private
from orienteer.ingest.tables.database import declared_keys, stored_as
from orienteer.ingest.tables.draft import Draft
from orienteer.ingest.tables.ends import with_ends
from orienteer.ingest.tables.header import bare, headless, is_headless
from orienteer.ingest.tables.inside import stated_links
from orienteer.ingest.tables.kinds import sort_tables
from orienteer.ingest.tables.known import check_columns, edges_mapping, no_header, nodes_mapping, unclear
from orienteer.ingest.tables.mapper import Mapper
from orienteer.ingest.tables.mapping import IGNORED, FileMapping
from orienteer.ingest.tables.plan import EDGE_WORDS, JOIN, Table, table_of, words_in
from orienteer.ingest.tables.profile import ColumnProfile, cleaned, columns_with_nulls, profiles_of
from orienteer.ingest.tables.spec import TableSpec
from orienteer.ingest.tables.type_names import edge_type_of, words_of

NO_TYPES = frozenset({"graph", "kg", "network", "net", "pairs", "train", "valid", "test", "one", "two"}) | EDGE_WORDS
"""Words of a file's name that are no type of edges."""


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
        """Return the tables that are read, and those beside them."""
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
        """Sort the tables, and profile those that only their values can tell."""
        found = sort_tables(
            sources, columns, by_hand={path.resolve() for path in (*without, *(spec.path for spec in (*nodes, *edges)))}
        )
        self._found, self._columns = found, columns
        self._specs = {spec.path: spec for spec in (*nodes, *edges)}
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
        self.drafts = [self._draft(table) for table in found.unknown]

    def around(self, kept: Mapping[str, FileMapping]) -> ImportPlan:
        """Return how each table is read if mappings, by file, are kept. Nobody has looked for null words."""
        found, guesses = self._found, list[str]()
        drafts = [_fresh(draft, kept.get(draft.file)) for draft in self.drafts]
        mapper = Mapper(drafts, has_edges=bool(found.edges))
        mapped = [MappedTable(table, nodes_mapping(table, self._columns)) for table in found.nodes]
        edges = [MappedTable(table, kept.get(table.file) or self._of_edges(table, mapper)) for table in found.edges]
        mappings = mapper.mappings([each.mapping for each in edges])
        for draft, mapping in zip(drafts, mappings, strict=True):
            table = draft.table
            has_half = words_in(table.path) & EDGE_WORDS and any(ends(table.columns, self._columns))
            if not mapping.is_of_edges and has_half and not self._specs.get(table.path):
                EdgeRoles.of(table.columns, self._columns, table.path)  # says which end is missing
            guesses += [f"{table.file}: {guess}" for guess in (*draft.guesses, *draft.questions)]
            mapped.append(MappedTable(table, mapping))
        mapped += edges
        if not mapped:
            raise UnclearTables(unclear(self._others))
        return ImportPlan(tuple(mapped), tuple(self._others), tuple(found.ignored), tuple(guesses))

    def _draft(self, table: Table) -> Draft:
        """Profile a table that only its values can tell; what they do not tell either is refused."""
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
        private = [name for name in self._columns.private if name in table.columns]
        stored = stored_as(table)
        if stored is not None and stored.id in table.columns and "id" not in given.values():
            given = {str(stored.id): "id", **given}
        name = CHUNK if table.is_corpus else table.name
        draft = Draft(table, name, profiles_of(table), given, called, private)
        draft.declared = declared_keys(table, self._found.unknown)
        draft.stated = stated_links(table)
        draft.joint = [part for name in draft.declared or () for part in name.split(JOIN) if JOIN in name]
        return draft

    def _of_edges(self, table: Table, mapper: Mapper) -> FileMapping:
        spec = self._specs.get(table.path)
        has_nodes = bool(self._found.nodes or self._found.unknown)
        if spec is None or not spec.columns:
            words = set(words_of(table.name))
            type_name = "" if words & NO_TYPES else edge_type_of(table.name)
            mapping = edges_mapping(table, self._columns, type_name=type_name, has_nodes=has_nodes)
        else:
            columns, type_name = _by_hand(table, spec, self._columns)
            mapping = edges_mapping(table, columns, type_name=type_name, has_nodes=has_nodes)
            mapping = mapping.model_copy(update={"why": "as given", "undirected": spec.undirected})
        return with_ends(mapping, table, mapper, spec) if table.has_header else mapping


def _fresh(draft: Draft, kept: FileMapping | None) -> Draft:
    """Return a draft of which nothing is decided yet but what is kept."""
    called = (kept.type or "") if kept is not None and not kept.is_of_edges else draft.called
    return replace(draft, called=called, kept=kept, guesses=[], questions=[], links={}, joined={}, names=())


def value_columns(table: Table, mapping: FileMapping, *, has_nodes: bool) -> list[str]:
    """Return the columns of a table in which null words may stand: all but ids, and what is left out.

    Ends are ids where nodes have a table of their own, which may have one that is called NA.
    """
    fixed = mapping.having("id", "prefixed id", IGNORED, *(("source", "target") if has_nodes else ()))
    return [name for name in table.columns if name not in fixed] if table.format.is_text else []


def emptied(made: ImportPlan, drafts: Sequence[Draft] = ()) -> ImportPlan:
    """Return a plan whose tables know their null words: of the profiles of drafts, where these are of the table."""
    notes, by_file, tables = list(made.notes), {draft.file: draft for draft in drafts}, list[MappedTable]()
    for each in made.tables:
        draft = by_file.get(each.table.file)
        profiles = draft.profiles if draft is not None and draft.table == each.table.joining(()) else None
        names = value_columns(each.table, each.mapping, has_nodes=bool(made.nodes))
        tables.append(replace(each, table=with_nulls(each.table, names, notes, profiles)))
    return replace(made, tables=tuple(tables), notes=tuple(notes))


def with_nulls(
    table: Table, names: Sequence[str], notes: list[str], profiles: Mapping[str, ColumnProfile] | None = None
) -> Table:
    """Return a table with the null words of some columns known; it is read if there are no profiles of it."""
    if profiles is None:
        found = columns_with_nulls(table, names) if names else ()
        profiles = profiles_of(table, found) if found else {}
    return cleaned(table, {name: profiles[name] for name in names if name in profiles}, notes)


def _named(spec: TableSpec) -> Table:
    """Return a table that a person names; it has no header where its columns are named by their places."""
    table = table_of(spec.path, is_named=True)
    columns = [column.partition("@")[0] for role, column in spec.columns.items() if role != "type"]
    numbers = numbered(len(table.columns))
    return headless(table) if columns and set(columns) <= set(numbers) - set(table.columns) else table


def _sure_edges(table: Table, spec: TableSpec, columns: Columns) -> Table:
    """Return the table as one of edges. Raises `BadInput` if it cannot be one."""
    if spec.columns or None not in ends(table.columns, columns):
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
