"""The tables of an import whose rows can be followed, and why those of another cannot."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from orienteer.graph.format import Manifest
from orienteer.ingest.importer import Importer, ImportOptions, written_options
from orienteer.ingest.tables.mapping import FileMapping
from orienteer.ingest.update.reading import SourceTable
from orienteer.ingest.update.whole import ImportWhole


def tables_by_rows(
    importer: Importer, options: ImportOptions, *, not_looked_at: Collection[Path] = ()
) -> list[SourceTable]:
    """Return the tables of an import in the order in which they are read. Raises `ImportWhole`.

    The files that are `not_looked_at` may have null words that their tables do not know.

    What a row of these gives depends on the row alone, and on which other nodes and edges there are.
    """
    plan = importer.plan
    if importer.layout is not None:
        raise ImportWhole("the source is read as a whole, not by rows")
    if importer.unreadable:
        raise ImportWhole(f"{importer.unreadable[0].file} cannot be read")
    if plan.by_values:
        raise ImportWhole(f"{plan.by_values[0]}: its values tell what its columns are, and every row may change that")
    tables = [
        SourceTable(
            mapped.table, mapped.mapping, importer.columns, bool(plan.nodes), mapped.table.path not in not_looked_at
        )
        for mapped in (*plan.nodes, *plan.edges)
    ]
    for source in tables:
        if why := _why_not(source.mapping, has_nodes=source.has_nodes):
            raise ImportWhole(f"{source.mapping.file}: {why}")
    if len({source.path for source in tables}) < len(tables):
        raise ImportWhole("one file holds several tables")
    named = {*options.columns.values(), *options.private, *options.explode}
    if missing := named - {column for source in tables for column in source.table.columns}:
        raise ImportWhole(f"{min(missing)} is a key within cells, not a column")
    return tables


def _why_not(mapping: FileMapping, *, has_nodes: bool) -> str:
    """Return why a table's rows cannot be followed; empty where they can."""
    if mapping.links:
        return f"{next(iter(mapping.links))} leads to rows of other tables"
    if mapping.having("label"):
        return f"the first rows of each type tell its label ({mapping.having('label')[0]})"
    if mapping.is_of_edges and not has_nodes and mapping.having("about source", "about target"):
        return "the first row that names a node describes it"
    if not mapping.is_of_edges and not mapping.having("id", "prefixed id"):
        return "ids are numbers of lines"
    return ""


def options_differ(manifest: Manifest, options: ImportOptions, target: Path) -> str:
    """Return how a graph was made by other options; empty if it was not."""
    before, now = manifest.provenance.get("options", {}), written_options(options)
    if not (names := sorted(name for name in {*before, *now} if before.get(name) != now.get(name))):
        return ""
    name = names[0]
    return f"{target} was made with other options: {name} was {before.get(name)!r}, and is {now.get(name)!r}"
