"""Sort tables by the names of files and columns: nodes, edges, or unknown until their values are profiled."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from orienteer.errors import BadInput
from orienteer.graph.format import is_graph
from orienteer.ingest.formats import format_of, suffixes
from orienteer.ingest.formats.delimited import numbered
from orienteer.ingest.formats.files import suffix
from orienteer.ingest.formats.objects import LINES, SUFFIXES
from orienteer.ingest.formats.sqlite import is_database
from orienteer.ingest.report import Ignored
from orienteer.ingest.tables.columns import (
    ENDS,
    Columns,
    EdgeRoles,
    NodeRoles,
    edge_role,
    ends,
    has_sure_ends,
    node_role,
    plainly,
)
from orienteer.ingest.tables.inside import is_container, stored_as, tables_in
from orienteer.ingest.tables.plan import (
    EDGE_WORDS,
    NODE_WORDS,
    Table,
    asks,
    folders_within,
    is_candidate,
    listing,
    no_table,
    table_of,
    unreadable,
    words_in,
)
from orienteer.ingest.tables.values import numeric

TRIPLE = 3
_ENDS = frozenset(chain.from_iterable(ENDS))
TELLING = frozenset({"name", "type", "text", "aliases"})
"""A table with an id and one of these describes nodes."""


@dataclass(eq=False)
class SortedTables:
    """Tables sorted by their names; the values of `unknown` tables decide."""

    nodes: list[Table] = field(default_factory=list)
    edges: list[Table] = field(default_factory=list)
    unknown: list[Table] = field(default_factory=list)
    others: list[Table] = field(default_factory=list)
    """Tables beside a graph, which may hold the labels of its codes."""
    ignored: list[Ignored] = field(default_factory=list)


def sort_tables(sources: Sequence[Path], columns: Columns, *, by_hand: Collection[Path] = ()) -> SortedTables:
    """Return the tables of some sources by their names, without those that a person names elsewhere.

    Raises `BadInput`, `UnreadableFile` for a file of a folder.
    """
    tables, ignored = tables_of(sources, by_hand)
    found = SortedTables(ignored=ignored)
    triples: list[Table] = []
    hinted: list[Table] = []
    for table in tables:
        words = words_in(Path(table.name) if table.called else table.path)
        if stored_as(table) is not None:
            found.unknown.append(table)  # a database says itself what leads where
        elif words & NODE_WORDS and not words & EDGE_WORDS:
            found.nodes.append(table)
        elif joins(table, columns) or (words & EDGE_WORDS and None not in ends(table.columns, columns)):
            (found.edges if words & EDGE_WORDS or has_sure_ends(table.columns, columns) else hinted).append(table)
        elif (triple := bare(table, columns)) is not None:
            triples.append(triple)
        elif asks(table):
            found.others.append(table)
        else:
            # A table of nothing but numbers stays as it is: without names nobody knows what they are.
            has_words = any(numeric(name) is None for name in table.columns)
            found.unknown.append(headless(table) if has_words and is_headless(table) else table)
    # `from` and `to` may be days: where no table is called one of nodes, the values tell.
    (found.edges if found.nodes else found.unknown).extend(hinted)
    # Three unknown columns beside a table of edges are something else; alone they are the edges.
    is_alone = not found.edges or any(table.is_named or words_in(table.path) & EDGE_WORDS for table in triples)
    (found.edges if is_alone else found.others).extend(triples)
    beside = [table for table in found.unknown if not table.is_named and _is_beside(table, found, columns)]
    found.others += beside
    found.unknown = [table for table in found.unknown if table not in beside]
    return found


def _is_beside(table: Table, found: SortedTables, columns: Columns) -> bool:
    """Return whether a table is no part of a graph that is whole without it, but may hold the labels of its codes."""
    if words_in(table.path) & EDGE_WORDS:
        return False
    of_types = (e for e in found.edges if not e.has_header or EdgeRoles.of(e.columns, columns, e.path).type is not None)
    has_types = any(True for _ in of_types)
    roles = NodeRoles(columns)
    meanings = {roles.of(name)[0] for name in table.columns}
    has_id = roles.id_column(table.columns) is not None
    describes_nodes = has_id and (bool(meanings & TELLING) or columns.role("id") in table.columns)
    return bool(found.nodes) or (has_types and not describes_nodes)


def tables_of(sources: Sequence[Path], by_hand: Collection[Path] = ()) -> tuple[list[Table], list[Ignored]]:
    """Return the tables of some sources, without those that are named elsewhere, and the files that are not tables."""
    tables: list[Table] = []
    ignored: list[Ignored] = []
    for source in sources:
        if is_graph(source):
            raise BadInput(f"{source} is a graph already: give the tables that it was made from, or export it first")
        if not source.is_dir():
            if is_database(source) or source.resolve() not in by_hand:
                tables += _inside(source, is_named=True) or [table_of(source, is_named=True)]
            continue
        inside = [path for path in listing(source) if path.resolve() not in by_hand]
        readable: list[Path] = []
        for path in inside:
            with unreadable(path):
                found = _inside(path, is_named=False)
                if not found and is_candidate(path):
                    found = [table_of(path, is_named=False)]
            tables += found
            readable += [path] if found else []
        ignored += [no_table(path) for path in inside if path not in readable]
        if not readable and not by_hand:
            empty = next((path for path in inside if format_of(path) is not None and path.stat().st_size == 0), None)
            if empty is not None:
                raise BadInput(f"{empty} is empty, and no other file there is a table: write it again")
            if below := ", ".join(folders_within(source)[:3]):
                raise BadInput(f"{source} holds no table, but folders that do ({below}): name one of them")
            raise BadInput(f"{source} holds no table. Formats that can be read: {suffixes()}.")
    return tables, ignored


def _inside(path: Path, *, is_named: bool) -> list[Table]:
    """Return the tables in a file that may hold several. Raises `BadInput`."""
    if not is_container(path):
        return []
    try:
        return tables_in(path)
    except BadInput:
        if is_named or suffix(path) not in (*SUFFIXES, *LINES):
            raise
        return []  # any program's JSON or YAML may lie beside tables


def joins(table: Table, columns: Columns) -> bool:
    """Return whether the columns are those of edges, and not those of nodes that have a `start` and an `end`."""
    if None in ends(table.columns, columns):
        return False
    roles = {node_role(name)[0] for name in table.columns}
    return not {"id", "name"} <= roles or columns.role("source") is not None


def bare(table: Table, columns: Columns) -> Table | None:
    """Return the table as bare triples: three columns, and a first row that does not name them; else None."""
    if not table.format.is_text or len(table.columns) != TRIPLE:
        return None
    names = [name for name in table.columns if node_role(name)[0] or edge_role(name)[0] or plainly(name) in _ENDS]
    # One known word alone may be data.
    is_named = len(names) > 1 or bool(set(table.columns) & set(columns.roles.values()))
    return None if is_named or _has_header(table) else headless(table)


def headless(table: Table) -> Table:
    """Return the table with numbered columns: its first row is data."""
    return replace(table, columns=tuple(numbered(len(table.columns))), has_header=False)


def is_headless(table: Table) -> bool:
    """Return whether the first row of a text is data: it has numbers wherever the rows below have them."""
    return table.format.is_text and table.has_header and len(table.columns) > 1 and table.notes.is_headless


def _has_header(table: Table) -> bool:
    """Return whether the first row of three differs from all rows below: triples repeat their predicates and ends."""
    batch = next(headless(table).batches(), None)
    rows = [] if batch is None else list(zip(*batch.columns.values(), strict=True))[1:]
    if not rows:
        return False  # a header alone would be an empty table
    subject, predicate, target = table.columns
    predicates = {row[1] for row in rows}
    ends = {row[place] for row in rows for place in (0, 2)}
    is_resource = any("://" in name or name.startswith("<") for name in table.columns)
    return not (predicate in predicates or {subject, target} & ends or is_resource)
