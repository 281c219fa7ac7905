"""Where the ends of a table of edges lead, if the nodes are tables whose ids or names are not the nodes' own ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from orienteer.errors import BadInput
from orienteer.ingest.tables.draft import TableKey
from orienteer.ingest.tables.links import closeness, resolved
from orienteer.ingest.tables.mapper import Mapper
from orienteer.ingest.tables.mapping import ColumnLink, FileMapping
from orienteer.ingest.tables.plan import Table
from orienteer.ingest.tables.profile import ColumnProfile, profiles_of
from orienteer.ingest.tables.settling import quoted
from orienteer.ingest.tables.spec import TableSpec

End = Literal["source", "target"]
ENDS: tuple[End, End] = ("source", "target")
ENOUGH = 0.5
"""Share of the different values of an end that have to be ids of nodes, or keys of a table."""


def with_ends(mapping: FileMapping, table: Table, mapper: Mapper, spec: TableSpec | None) -> FileMapping:
    """Return a mapping of edges whose ends lead to the tables that have them.

    Raises `BadInput` where two tables have the values of an end, and its name does not tell which is meant.
    """
    columns = {end: mapping.having(end)[0] for end in ENDS}
    named = {end: spec.end(end)[1:] if spec and spec.columns else ("", "") for end in ENDS}
    if not mapper.keys and not any(node_type for node_type, _ in named.values()):
        return mapping
    profiles = profiles_of(table, set(columns.values()))
    roles, why = dict(mapping.columns), []
    for end, column in columns.items():
        link = _named(named[end], end, mapper, table) or _by_values(profiles[column], end, mapper, mapping, columns)
        if link is not None:
            roles[column] = str(link)
            why.append(f"{column} leads to {link.node_type}.{link.key}")
    return mapping.model_copy(update={"columns": roles, "why": "; ".join([mapping.why, *why])})


def _named(named: tuple[str, str], end: End, mapper: Mapper, table: Table) -> ColumnLink | None:
    """Return where a person says that an end leads."""
    node_type, column = named
    if not node_type:
        return None
    keys = [key for key in mapper.keys if key.table == node_type and column in ("", key.column)]
    if not keys:
        known = ", ".join(dict.fromkeys(f"{key.table}.{key.column}" for key in mapper.keys)) or "none"
        raise BadInput(f"{table.file}: {end}=...@{'.'.join(filter(None, named))} names no key of a table: {known}")
    return ColumnLink(node_type, keys[0].column, "", end)


def _by_values(
    profile: ColumnProfile, end: End, mapper: Mapper, mapping: FileMapping, columns: Mapping[End, str]
) -> ColumnLink | None:
    """Return the table that has the values of an end; None where the values are ids of nodes, or of nothing here."""
    values = list(profile.counts)
    own = [key for key in mapper.keys if key.is_id and key.table not in mapper.prefixed]
    if not values or resolved(values, {value for key in own for value in key.values}) >= ENOUGH:
        return None
    ranked = [
        (closeness(profile.name, key.table, key.column), resolved(values, key.values), -key.rank, key)
        for key in mapper.keys
    ]
    fitting = [candidate for candidate in ranked if candidate[1] >= ENOUGH]
    if not fitting:
        return None
    best = max(fitting, key=lambda candidate: candidate[:3])
    rivals = [key for *order, key in fitting if order == list(best[:3]) and key.table != best[3].table]
    if rivals:
        raise BadInput(_ambiguous(mapping, columns, [best[3], *rivals]))
    return ColumnLink(best[3].table, best[3].column, "", end)


def _ambiguous(mapping: FileMapping, columns: Mapping[End, str], keys: list[TableKey]) -> str:
    types = [key.table for key in keys]
    line = f"{mapping.file}:source={columns['source']}@{types[0]},target={columns['target']}@{types[1]}"
    return (
        f"{mapping.file}: its ends are ids of several tables: {', '.join(types)}. "
        f"Say which is meant where: --edges {quoted(line)}"
    )
