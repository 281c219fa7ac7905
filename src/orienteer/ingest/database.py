"""A database that speaks Bolt -> a graph directory and a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from orienteer.connect.bolt.server import Server
from orienteer.connect.source import Database
from orienteer.display import Count
from orienteer.errors import BadOption
from orienteer.graph.builder import GraphBuilder, Progress
from orienteer.graph.edges import EdgeTable
from orienteer.ingest.importer import ImportOptions, import_with
from orienteer.ingest.report import Ignored, Report, Tally
from orienteer.ingest.tables.columns import Columns


def import_database(
    server: Server, target: Path | None, *, options: ImportOptions | None = None, progress: Progress | None = None
) -> Report:
    """Make a graph of all that a database holds and publish it at the target; without a target only report.

    Nothing is left behind where the server fails on the way. Raises `BadInput`, `BadOption`, `DatabaseAway`,
    `DatabaseRefused`.
    """
    return imported_database(server, target, options=options or ImportOptions(), progress=progress).report


class ImportedDatabase(NamedTuple):
    """An import that was made."""

    report: Report
    database: Database
    """The database as it was read."""


def imported_database(
    server: Server,
    target: Path | None,
    *,
    options: ImportOptions,
    progress: Progress | None = None,
    see_rows: Callable[[EdgeTable], None] | None = None,
) -> ImportedDatabase:
    """Make a graph as `import_database` does. `see_rows` is shown all edges before any is left out."""
    _refuse_files(options, server)
    totals: dict[str, int] = {}
    opened: list[Database] = []

    def tell(stage: str, count: int) -> None:
        if progress is not None:
            progress(stage, Count(count, of=max(totals[stage], count)) if stage in totals else count)

    def open_layout(columns: Columns, tally: Tally) -> Database:
        opened.append(Database(server, columns, tally, totals, see_rows=see_rows))
        return opened[0]

    def origin(builder: GraphBuilder, left_out: Sequence[Ignored]) -> Mapping[str, Any]:  # Any: JSON
        about = {"address": str(server.address), "server": server.agent, "id": opened[0].id_property}
        return {"database": about | ({"changed_by": options.changed_by} if options.changed_by else {})}

    report = import_with([], target, options=options, progress=tell, beside=origin, open_layout=open_layout)
    return ImportedDatabase(report, opened[0])


def _refuse_files(options: ImportOptions, server: Server) -> None:
    """Raise `BadOption` for options that are about files."""
    for name in ("nodes", "edges", "mapping"):
        if getattr(options, name):
            raise BadOption(f"--{name} is about tables, and {server.address} is a database: leave it out")
