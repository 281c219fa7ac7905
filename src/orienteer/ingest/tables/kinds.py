"""What each table holds by the names of files and columns: nodes, edges, or what only its values can tell."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orienteer.errors import BadInput
from orienteer.graph.format import is_graph
from orienteer.ingest.formats import format_of, suffixes
from orienteer.ingest.formats.files import suffix
from orienteer.ingest.formats.objects import LINES, SUFFIXES
from orienteer.ingest.formats.sqlite import is_database
from orienteer.ingest.report import Ignored
from orienteer.ingest.tables.columns import NODE_RANKS, Columns, EdgeRoles, NodeRoles, ends, has_sure_ends, plainly
from orienteer.ingest.tables.header import bare, with_header_checked
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

TELLING = frozenset({"name", "type", "text", "aliases"})
"""A table with an id and one of these describes nodes."""


@dataclass(eq=False)
class SortedTables:
    """Tables by what their names say; `unknown` tables are told by their values."""

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
            found.unknown.append(with_header_checked(table))
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
    has_types = any(
        not edges.has_header or EdgeRoles.of(edges.columns, columns, edges.path).type is not None
        for edges in found.edges
    )
    return bool(found.nodes) or (has_types and not describes(table, columns))


def tables_of(sources: Sequence[Path], by_hand: Collection[Path] = ()) -> tuple[list[Table], list[Ignored]]:
    """Return the tables of some sources, without those that are named elsewhere, and the files that are none."""
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
            raise _no_table_in(source, inside)
    return tables, ignored


def _no_table_in(source: Path, inside: Sequence[Path]) -> BadInput:
    """Return what to say of a folder without a table."""
    empty = next((path for path in inside if format_of(path) is not None and path.stat().st_size == 0), None)
    if empty is not None:
        return BadInput(f"{empty} is empty, and no other file there is a table: write it again")
    if below := folders_within(source):
        return BadInput(f"{source} holds no table, but folders that do ({', '.join(below[:3])}): name one of them")
    return BadInput(f"{source} holds no table. Formats that can be read: {suffixes()}.")


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
    roles = {NODE_RANKS.get(plainly(name), ("", 0))[0] for name in table.columns}
    return not {"id", "name"} <= roles or columns.role("source") is not None


def describes(table: Table, columns: Columns) -> bool:
    """Return whether the names of columns are those of nodes."""
    roles = NodeRoles(columns)
    meanings = {roles.of(name)[0] for name in table.columns}
    has_id = roles.id_column(table.columns) is not None
    return has_id and (bool(meanings & TELLING) or columns.role("id") in table.columns)
