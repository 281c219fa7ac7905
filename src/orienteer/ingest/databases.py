"""Databases by their address: what a connector does, which the annex `connect` registers for Bolt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, TypeAlias

from orienteer.addresses import Address
from orienteer.errors import BadOption
from orienteer.graph.builder import Progress
from orienteer.graph.store import Graph
from orienteer.ingest.importer import ImportOptions
from orienteer.ingest.report import Report
from orienteer.llm.address import OFFLINE, is_of_this_machine
from orienteer.plugins import require
from orienteer.settings import Settings

State: TypeAlias = Literal["well", "warning", "problem"]
"""Whether questions are answered as they should be, less well than they might be, or not at all."""


class Finding(NamedTuple):
    """One observation about a database and its server."""

    about: str
    state: State
    told: str
    remedy: str = ""
    """What to do; empty if all is well."""


class Database(Protocol):
    """A database at an address. `close` it after an import, an update or an examination."""

    address: Address

    def in_place(self) -> Graph:
        """Return the database as a graph. Raises `DatabaseRefused` if our session could write to it."""

    def import_graph(self, target: Path | None, options: ImportOptions, progress: Progress | None) -> Report:
        """Make a graph at the target, or only report. Raises `BadInput`, `BadOption`."""

    def update_graph(self, target: Path, options: ImportOptions, progress: Progress | None) -> Report:
        """Bring the graph at the target up to date. Raises `BadInput`, `BadOption`."""

    def examine(self) -> Sequence[Finding]:
        """Return the findings on a database that is asked in place."""

    def close(self) -> None:
        """Close all connections."""


def open_database(text: str, settings: Settings) -> Database:
    """Open the database at an address, as the user whom `NEO4J_USERNAME` and `NEO4J_PASSWORD` name.

    Raises `BadOption`, `MissingExtra`, `DatabaseAway`, `DatabaseRefused`.
    """
    address = Address.parse(text)
    if settings.offline and not is_of_this_machine(address.host):
        raise BadOption(f"the database is at {address}, and {OFFLINE} allows this machine only: unset it")
    database: Database = require("databases", "bolt")(address)
    return database
