"""A database that speaks Bolt -> a graph directory and a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from orienteer.bolt.server import Server
from orienteer.display import Count
from orienteer.errors import BadOption
from orienteer.graph.builder import GraphBuilder, Progress
from orienteer.ingest.formats.bolt import Database
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
    options = options or ImportOptions()
    _refuse_files(options, server)
    totals: dict[str, int] = {}
    opened: list[Database] = []

    def tell(stage: str, count: int) -> None:
        if progress is not None:
            progress(stage, Count(count, of=max(totals[stage], count)) if stage in totals else count)

    def open_layout(columns: Columns, tally: Tally) -> Database:
        opened.append(Database(server, columns, tally, totals))
        return opened[0]

    def origin(builder: GraphBuilder, left_out: Sequence[Ignored]) -> Mapping[str, Any]:  # Any: JSON
        return {"database": {"address": str(server.address), "server": server.agent, "id": opened[0].id_property}}

    return import_with([], target, options=options, progress=tell, beside=origin, open_layout=open_layout)


def _refuse_files(options: ImportOptions, server: Server) -> None:
    """Raise `BadOption` for options that are about files."""
    for name in ("nodes", "edges", "mapping"):
        if getattr(options, name):
            raise BadOption(f"--{name} is about tables, and {server.address} is a database: leave it out")
