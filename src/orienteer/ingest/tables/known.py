"""Mappings of tables whose columns have known names, and the lines that settle what is not clear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orienteer.errors import BadInput
from orienteer.graph.reserved import CHUNK
from orienteer.ingest.formats import suffixes
from orienteer.ingest.tables.columns import Columns, EdgeRoles, NodeRoles
from orienteer.ingest.tables.mapping import IGNORED, PROPERTY, ColumnLink, FileMapping, Kind
from orienteer.ingest.tables.plan import Table
from orienteer.ingest.tables.type_names import edge_type_of, node_type_of

BY_NAME = "known names of columns"


def nodes_mapping(table: Table, columns: Columns) -> FileMapping:
    """Map a table of nodes by the names of its columns. Raises `BadInput` where none has the ids."""
    roles = NodeRoles(columns)
    id_name = roles.id_column(table.columns)
    if id_name is None:
        raise BadInput(
            f"{table.file} has no column for the ids of its nodes. Its columns are: {', '.join(table.columns)}. "
            f"Name it: {nodes_line(table)}"
        )
    ranked = sorted((name for name in table.columns if name != id_name), key=lambda name: roles.of(name)[1])
    texts = {"": PROPERTY, "private": IGNORED}
    by_column = {name: texts.get(roles.of(name)[0], roles.of(name)[0]) for name in ranked}
    by_column |= {name: str(ColumnLink(name, "", columns.explode[name])) for name in ranked if name in columns.explode}
    kind: Kind = "both" if any(name in columns.explode for name in ranked) else "nodes"
    type_name = CHUNK if table.is_corpus else "node"
    types = [name for name, role in by_column.items() if role == "type"]
    why = "; ".join([BY_NAME, *(f"{name}: the type where {types[0]} is empty" for name in types[1:])])
    return FileMapping(file=table.file, kind=kind, type=type_name, columns={id_name: "id", **by_column}, why=why)


def edges_mapping(table: Table, columns: Columns, *, type_name: str = "", has_nodes: bool = True) -> FileMapping:
    """Map a table of edges by the names of its columns. Raises `BadInput` where none has an end."""
    if not table.has_header:
        roles = dict(zip(table.columns, ("source", "type", "target"), strict=True))
        kind: Kind = "edges" if has_nodes else "both"
        return FileMapping(file=table.file, kind=kind, type="edge", columns=roles, why="no header: bare triples")
    edge = EdgeRoles.of(table.columns, columns, table.file)
    by_column = {edge.source: "source", edge.target: "target"}
    by_column |= {edge.type: "type"} if edge.type else {}
    by_column |= dict.fromkeys(edge.texts, "text") | ({edge.weight: "weight"} if edge.weight else {})
    by_column |= {edge.display: "label"} if edge.display else {}
    by_column |= dict.fromkeys(edge.source_sides, "about source") | dict.fromkeys(edge.target_sides, "about target")
    for name in table.columns:
        by_column.setdefault(name, PROPERTY)
    by_column |= {name: IGNORED for name in table.columns if name in columns.private}
    return FileMapping(
        file=table.file,
        kind="edges" if has_nodes else "both",
        type=type_name or "edge",
        columns=by_column,
        why=BY_NAME,
    )


def nodes_line(table: Table, columns: Sequence[str] = ()) -> str:
    """Return the flag that makes nodes of a table."""
    names = columns or table.columns
    second = f",name={names[1]}" if len(names) > 1 else ""
    return f"--nodes {quoted(f'{table.file}:id={names[0]}{second},type={node_type_of(table.name)}')}"


def edges_line(table: Table) -> str:
    """Return the flag that makes edges of a table."""
    first, second = (*table.columns, "COLUMN", "COLUMN")[:2]
    return f"--edges {quoted(f'{table.file}:source={first},target={second},type={edge_type_of(table.name)}')}"


def quoted(text: str) -> str:
    """Return an argument as a shell takes it."""
    import shlex

    return shlex.quote(text)


def unclear(tables: Sequence[Table]) -> str:
    """Say which tables are not clear, and which line settles each."""
    if not tables:
        return f"There is no table of nodes or edges to read. What is read: {suffixes()}."
    seen = "; ".join(
        f"{table.file} (its columns are: {', '.join(table.columns)}): {nodes_line(table)} or {edges_line(table)}"
        for table in tables
    )
    return f"It is not clear whether the rows are nodes or edges. Say so, with the columns that fit: {seen}"


def no_header(table: Table) -> str:
    """Say that a table has no row of names, and how to name its columns."""
    numbers = [f"column_{place}" for place in range(1, len(table.columns) + 1)]
    return (
        f"{table.file} has no row with the names of its columns: it begins with {', '.join(table.columns[:4])}. "
        f"Add one, or name columns by their places: {nodes_line(table, numbers)}"
    )


def check_columns(table: Table, names: Mapping[str, str] | Sequence[str]) -> None:
    """Raise `BadInput` if a table lacks a column that a person named."""
    for name in names:
        for absent in table.lacks(name):
            part = f", a part of {name!r}" if absent != name else ""
            raise BadInput(f"{table.file} has no column {absent!r}{part}. Its columns are: {', '.join(table.columns)}.")
