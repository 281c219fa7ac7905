"""One database on a server, over Bolt. Each error of the driver becomes a one-line error of `orienteer.errors`."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from orienteer.addresses import Address, Login
from orienteer.errors import BadOption, DatabaseAway, DatabaseRefused, Error, MissingExtra, QueryStopped
from orienteer.version import __version__

if TYPE_CHECKING:
    import neo4j


FETCHED = 2_000
"""Rows that the server sends at once; it waits until they are taken."""
SYSTEM = "system"
"""The database about the others."""
CONNECT_SECONDS = 10.0
LONGEST_QUOTED = 200
"""Characters of a server's message that an error repeats."""
UNAUTHORIZED = ("Neo.ClientError.Security.Unauthorized", "Neo.ClientError.Security.AuthenticationRateLimit")
FORBIDDEN = "Neo.ClientError.Security.Forbidden"
READ_ONLY = ("Neo.ClientError.Statement.AccessMode", "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase")
"""Codes with which servers refuse to write in a read-only session."""
TIMED_OUT = ("TransactionTimedOut", "TransactionTimedOutClientConfiguration")
"""Ends of the codes for statements that took too long."""
BUSY = "Neo.TransientError."
"""Start of the codes for passing trouble."""
TRANSACTION = re.compile(r"[\w.:-]{1,100}")
"""The id of a transaction."""
OF_STATEMENTS = ("Neo.ClientError.Statement.", "Neo.ClientError.Procedure.", "Neo.DatabaseError.")
"""Starts of the codes for statements that are invalid, or cannot be carried out."""
NO_DATABASE = "Neo.ClientError.Database.DatabaseNotFound"


class Server:
    """An open database. Safe to share among threads."""

    def __init__(
        self, address: Address, login: Login | None, *, seconds: float | None = None, mark: str | None = None
    ) -> None:
        """Connect to the database. Raises `MissingExtra`, `DatabaseAway`, `DatabaseRefused`.

        The server is asked to stop a statement after `seconds`; not every server does. With None it decides by itself.
        Statements have `mark` in a comment, so that they can be found and ended.
        """
        try:
            import neo4j
        except ImportError as error:
            raise MissingExtra(f"a database such as {address}", "neo4j") from error
        self.address, self._login, self._seconds, self.mark = address, login, seconds, mark
        self._driver = neo4j.GraphDatabase.driver(
            address.server,
            auth=(login.user, login.password) if login is not None else None,
            user_agent=f"orienteer/{__version__}",
            connection_timeout=CONNECT_SECONDS,
            telemetry_disabled=True,
        )
        try:
            with self._own_errors():
                self.agent = str(self._driver.get_server_info().agent)
                """The server's name and version."""
            # Only now does a server look for the database.
            self.rows("RETURN 1")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        # The connection may be gone already.
        with suppress(Exception):
            self._driver.close()

    def another(self) -> Server:
        """Open the database again, for statements that may have to be ended. Raises as `Server`."""
        mark = f"orienteer-{secrets.token_hex(6)}"
        return Server(self.address, self._login, seconds=self._seconds, mark=mark)

    def end(self, mark: str) -> None:
        """End the running statements with a mark: some servers go on after the connection is cut."""
        # Some servers lack the statement, or do not allow it, and have limits of their own.
        with suppress(Error):
            for own_id, text in self.rows("SHOW TRANSACTIONS YIELD transactionId, currentQuery"):
                if mark in str(text) and TRANSACTION.fullmatch(str(own_id)):
                    self.rows(f"TERMINATE TRANSACTION '{own_id}'")

    def stream(self, statement: str, **parameters: Any) -> Iterator[list[Any]]:  # Any: values of the database
        """Run a reading statement and yield its rows as they arrive. Raises as `Server`, and `QueryStopped`."""
        return self.ask(statement, parameters, self._seconds)

    def ask(
        self, statement: str, parameters: Mapping[str, Any], seconds: float | None
    ) -> Generator[list[Any], None, None]:  # Any: values of the database
        """Run a reading statement as `stream` does; the server is asked to stop it after `seconds`."""
        import neo4j

        text = statement if self.mark is None else f"/* {self.mark} */ {statement}"
        with self._own_errors(), self.session() as session:
            for record in session.run(neo4j.Query(text, timeout=seconds), dict(parameters)):
                yield record.values()

    def rows(self, statement: str, **parameters: Any) -> list[list[Any]]:  # Any: values of the database
        """Run a reading statement and return all its rows. Raises as `Server`."""
        return list(self.stream(statement, **parameters))

    def session(self) -> neo4j.Session:
        """Open a read-only session on the database; not every server enforces that."""
        import neo4j

        return self._driver.session(
            database=self.address.database, default_access_mode=neo4j.READ_ACCESS, fetch_size=FETCHED
        )

    def allows_writes(self, statement: str) -> bool:
        """Return whether a writing statement succeeds; it is rolled back. Raises as `Server` for any other error."""
        from neo4j.exceptions import Neo4jError

        with self._own_errors(), self.session() as session, session.begin_transaction() as transaction:
            try:
                transaction.run(statement).consume()
            except Neo4jError as error:
                if error.code not in (FORBIDDEN, *READ_ONLY):
                    raise
                return False
            finally:
                if not transaction.closed():
                    transaction.rollback()
            return True

    @contextmanager
    def _own_errors(self) -> Iterator[None]:
        """Translate errors of the driver."""
        from neo4j.exceptions import ConfigurationError, DriverError, Neo4jError

        try:
            yield
        except (DriverError, Neo4jError, ConfigurationError, OSError) as error:
            raise self._translated(error) from error

    def _translated(self, error: Exception) -> Error:
        """Return our error for an error of the driver."""
        from neo4j.exceptions import DriverError, Neo4jError

        code, said = getattr(error, "code", None) or "", error_message(error)
        if code in UNAUTHORIZED:
            what = "refuses this user: check" if self._login is not None else "wants to know who asks: set"
            return DatabaseRefused(f"{self.address} {what} NEO4J_USERNAME and NEO4J_PASSWORD")
        if code == NO_DATABASE:
            return DatabaseRefused(
                f"{self.address.server} has no database {self.address.database!r}{self._database_names()}",
                value=self.address.database,
            )
        if code == FORBIDDEN:
            return DatabaseRefused(f"{self.address} does not let this user read what is needed: {said}")
        if code.endswith(TIMED_OUT):
            return QueryStopped(
                f"{self.address} stopped a statement for its time ({said}): allow it longer there (in ArcadeDB "
                "arcadedb.command.timeout, in Neo4j db.transaction.timeout)"
            )
        if code.startswith(BUSY):
            return QueryStopped(f"{self.address} has too much to do ({said}): ask again")
        if isinstance(error, Neo4jError) and not isinstance(error, DriverError):
            return DatabaseAway(f"{self.address} failed: {said}")
        return DatabaseAway(
            f"no database server answers at {self.address.server} ({said}): start it, or check the address"
        )

    def _database_names(self) -> str:
        """Return the end of a message: the names of the databases, if the server lists them."""
        from neo4j.exceptions import DriverError, Neo4jError

        try:
            with self._driver.session(database=SYSTEM) as session:
                names = sorted({str(record["name"]) for record in session.run("SHOW DATABASES")} - {SYSTEM})
        except (DriverError, Neo4jError, OSError, KeyError):
            # The message names the missing database in any case.
            names = []
        return f": it has {', '.join(names)}" if names else ": check its name"


def database_login(*, environment: Mapping[str, str] | None = None) -> Login | None:
    """Return the user and password from the environment, or None. Raises `BadOption`."""
    environment = os.environ if environment is None else environment
    user, password = environment.get("NEO4J_USERNAME"), environment.get("NEO4J_PASSWORD")
    if user and not password:
        raise BadOption("NEO4J_USERNAME is set and NEO4J_PASSWORD is not: set both, or neither")
    return Login(user or "neo4j", password) if password else None


def statement_error(error: Error) -> str | None:
    """Return a server's message about an invalid statement, or None for any other error."""
    from neo4j.exceptions import Neo4jError

    cause = error.__cause__
    if not isinstance(cause, Neo4jError) or not isinstance(error, DatabaseAway):
        return None
    return error_message(cause) if str(cause.code).startswith(OF_STATEMENTS) else None


def error_message(error: BaseException) -> str:
    """Return the message of a server, or of the network, as one line of bounded length."""
    from neo4j.exceptions import Neo4jError

    text = (error.message if isinstance(error, Neo4jError) else str(error)) or type(error).__name__
    cause = error.__cause__
    if isinstance(cause, OSError) and cause.strerror:
        text = cause.strerror
    line = " ".join(str(text).split())
    return line if len(line) <= LONGEST_QUOTED else f"{line[:LONGEST_QUOTED]} ..."


def is_node(value: Any) -> bool:  # Any: a value of the database, as below
    """Return whether a value is a node."""
    import neo4j.graph

    return isinstance(value, neo4j.graph.Node)


def is_edge(value: Any) -> bool:
    """Return whether a value is an edge; its ends may have element ids alone."""
    import neo4j.graph

    return isinstance(value, neo4j.graph.Relationship)


def is_path(value: Any) -> bool:
    """Return whether a value is a path."""
    import neo4j.graph

    return isinstance(value, neo4j.graph.Path)


def is_time(value: Any) -> bool:
    """Return whether a value is a date, a time or a duration."""
    return type(value).__module__.startswith("neo4j.time") or hasattr(value, "isoformat")


def is_point(value: Any) -> bool:
    """Return whether a value is a point: the driver has tuples for these alone."""
    return isinstance(value, tuple)
