"""The tables of an import, each with its mapping: by hand, by the names of files and columns, else by the values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from orienteer.errors import BadInput, UnclearTables
from orienteer.graph.reserved import CHUNK
from orienteer.ingest.formats.delimited import numbered
from orienteer.ingest.report import Ignored
from orienteer.ingest.tables.columns import Columns, EdgeRoles, NodeRoles, ends as ends_of, refuse_private
from orienteer.ingest.tables.draft import Draft
from orienteer.ingest.tables.ends import with_ends
from orienteer.ingest.tables.header import bare, headless, is_headless
from orienteer.ingest.tables.inside import declared_keys, stated_links, stored_as
from orienteer.ingest.tables.kinds import sort_tables
from orienteer.ingest.tables.mapper import Mapper
from orienteer.ingest.tables.mapping import IGNORED, ColumnLink, FileMapping
from orienteer.ingest.tables.plan import EDGE_WORDS, JOIN, Table, table_of, words_in
from orienteer.ingest.tables.profile import ColumnProfile, cleaned, columns_with_nulls, profiles_of
from orienteer.ingest.tables.settling import check_columns, no_header, nodes_line, unclear
from orienteer.ingest.tables.spec import TableSpec
from orienteer.ingest.tables.type_names import edge_type_of, words_of

NO_TYPES = frozenset({"graph", "kg", "network", "net", "pairs", "train", "valid", "test", "one", "two"}) | EDGE_WORDS
"""Words of a file's name that are no type of edges."""
BY_NAME = "known names of columns"


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
        self._nodes = [self._of_named_nodes(table) for table in found.nodes]
        self._edges = [self._of_named_edges(table) for table in found.edges]
        self._open = [self._draft(table) for table in found.unknown]

    @property
    def drafts(self) -> list[Draft]:
        """Return the tables with what their columns hold."""
        return [*self._nodes, *self._open, *self._edges]

    def around(self, kept: Mapping[str, FileMapping]) -> ImportPlan:
        """Return how each table is read if mappings, by file, are kept. Nobody has looked for null words."""
        drafts, nodes, edges = (
            [_fresh(draft, kept.get(draft.file)) for draft in several]
            for several in (self._open, self._nodes, self._edges)
        )
        mapper = Mapper(drafts, has_edges=bool(edges))
        ends = [self._with_ends(draft, mapper) for draft in edges]
        mappings = [*map(mapper.of_named, nodes), *mapper.mappings(ends), *ends]
        guesses = list[str]()
        for draft, mapping in zip((*nodes, *drafts, *edges), mappings, strict=True):
            table = draft.table
            has_half = words_in(table.path) & EDGE_WORDS and any(ends_of(table.columns, self._columns))
            if not mapping.is_of_edges and has_half and not self._specs.get(table.path):
                EdgeRoles.of(table.columns, self._columns, table.path)  # says which end is missing
            guesses += [f"{table.file}: {guess}" for guess in (*draft.guesses, *draft.questions)]
        if not mappings:
            raise UnclearTables(unclear(self._others))
        tables = (draft.table for draft in (*nodes, *drafts, *edges))
        mapped = tuple(MappedTable(table, mapping) for table, mapping in zip(tables, mappings, strict=True))
        return ImportPlan(mapped, tuple(self._others), tuple(self._found.ignored), tuple(guesses))

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

    def _of_named_nodes(self, table: Table) -> Draft:
        """Draft a table of nodes by the names of its columns. Raises `BadInput` where none has the ids."""
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
        """Draft a table of edges by the names of its columns. Raises `BadInput` where none has an end."""
        spec = self._specs.get(table.path)
        is_by_hand = spec is not None and bool(spec.columns)
        if not table.has_header and not is_by_hand:
            triple = dict(zip(table.columns, ("source", "type", "target"), strict=True))
            return _named_draft(table, triple, "edge", "no header: bare triples")
        columns, type_name, why = self._columns, edge_type_of(table.name), BY_NAME
        if spec is not None and spec.columns:
            columns, type_name = _by_hand(table, spec, columns)
            why = "as given"
        elif NO_TYPES & {*words_of(table.name)}:
            type_name = "edge"
        edge = EdgeRoles.of(table.columns, columns, table.file)
        given = {edge.source: "source", edge.target: "target"}
        given |= {edge.type: "type"} if edge.type else {}
        given |= dict.fromkeys(edge.texts, "text") | ({edge.weight: "weight"} if edge.weight else {})
        given |= {edge.display: "label"} if edge.display else {}
        given |= dict.fromkeys(edge.source_sides, "about source") | dict.fromkeys(edge.target_sides, "about target")
        given |= {name: IGNORED for name in table.columns if name in columns.private}
        return _named_draft(table, given, type_name, why)

    def _with_ends(self, draft: Draft, mapper: Mapper) -> FileMapping:
        """Return the mapping of a table of edges, whose ends lead to the tables that have them."""
        if draft.kept is not None:
            return draft.kept
        spec, has_nodes = self._specs.get(draft.table.path), bool(self._nodes or self._open)
        mapping = mapper.of_named(draft).model_copy(
            update={"kind": "edges" if has_nodes else "both", "undirected": spec is not None and spec.undirected}
        )
        is_told = draft.table.has_header or (spec is not None and bool(spec.columns))
        return with_ends(mapping, draft.table, mapper, spec) if is_told else mapping


def _named_draft(table: Table, given: Mapping[str, str], called: str, why: str) -> Draft:
    """Return a table whose columns have known names; only what the others hold is asked of their values."""
    others = [name for name in table.columns if name not in given]
    return Draft(table, table.name, profiles_of(table, others) if others else {}, given, called, why=why)


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
        profiles = draft.profiles if draft is not None and draft.table == each.table.joining(()) else {}
        names = value_columns(each.table, each.mapping, has_nodes=bool(made.nodes))
        tables.append(replace(each, table=with_nulls(each.table, names, notes, profiles)))
    return replace(made, tables=tuple(tables), notes=tuple(notes))


def with_nulls(
    table: Table, names: Sequence[str], notes: list[str], known: Mapping[str, ColumnProfile] = MappingProxyType({})
) -> Table:
    """Return a table with the null words of some columns known; it is read for those that have no profile yet."""
    others = [name for name in names if name not in known]
    found = columns_with_nulls(table, others) if others else ()
    profiles = {**known, **(profiles_of(table, found) if found else {})}
    return cleaned(table, {name: profiles[name] for name in names if name in profiles}, notes)


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
