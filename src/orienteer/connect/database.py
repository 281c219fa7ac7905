"""A database that speaks Bolt, as the core uses it: asked in place, imported, updated, examined."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from orienteer.addresses import Address
from orienteer.connect.bolt import Server, database_login
from orienteer.graph.builder import Progress
from orienteer.graph.store import Graph
from orienteer.ingest.databases import Finding
from orienteer.ingest.importer import ImportOptions
from orienteer.ingest.report import Report


class BoltDatabase:
    """A `Database` (orienteer.ingest.databases) at a server that speaks Bolt."""

    def __init__(self, address: Address) -> None:
        """Raises `BadOption` for half a login, and `MissingExtra`."""
        self.address = address
        self._login = database_login()
        self._server: Server | None = None

    def _connected(self, seconds: float | None = None) -> Server:
        """Return the connection; the server is asked to stop a statement after `seconds`."""
        if self._server is None:
            self._server = Server(self.address, self._login, seconds=seconds)
        return self._server

    def in_place(self) -> Graph:
        """Return the database as a graph, which closes the connection when it is closed."""
        from orienteer.connect.in_place.graph import SECONDS, GraphInPlace

        return GraphInPlace.of(self._connected(SECONDS))

    def import_graph(self, target: Path | None, options: ImportOptions, progress: Progress | None) -> Report:
        """Make a graph of all that the database holds."""
        from orienteer.connect.source import import_database

        return import_database(self._connected(), target, options=options, progress=progress)

    def update_graph(self, target: Path, options: ImportOptions, progress: Progress | None) -> Report:
        """Bring a graph up to date with the database that it was imported from."""
        from orienteer.connect.update import update_database

        return update_database(self._connected(), target, options=options, progress=progress)

    def examine(self) -> Sequence[Finding]:
        """Return the findings on a database that is asked in place."""
        from orienteer.connect.in_place.examination import examine

        return examine(self._connected())

    def close(self) -> None:
        """Close all connections."""
        if self._server is not None:
            self._server.close()
