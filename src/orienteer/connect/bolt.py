"""One database on a server, by the official driver. Every trouble becomes one sentence of ours."""

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
LONGEST_TOLD = 200
"""Characters of what a server says that a message repeats."""
UNAUTHORIZED = ("Neo.ClientError.Security.Unauthorized", "Neo.ClientError.Security.AuthenticationRateLimit")
FORBIDDEN = "Neo.ClientError.Security.Forbidden"
READ_ONLY = ("Neo.ClientError.Statement.AccessMode", "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase")
"""How servers refuse to write in a session that asked for reading alone."""
TIMED_OUT = ("TransactionTimedOut", "TransactionTimedOutClientConfiguration")
"""How the codes end with which servers stop what takes too long."""
BUSY = "Neo.TransientError."
"""How the codes begin of what may pass by itself."""
TRANSACTION = re.compile(r"[\w.:-]{1,100}")
"""The id of a transaction."""
OF_STATEMENTS = ("Neo.ClientError.Statement.", "Neo.ClientError.Procedure.", "Neo.DatabaseError.")
"""How the codes begin with which servers say that a statement is none, or cannot be carried out."""
NO_DATABASE = "Neo.ClientError.Database.DatabaseNotFound"


class Server:
    """An open database. Safe to share among threads."""

    def __init__(
        self, address: Address, login: Login | None, *, seconds: float | None = None, mark: str | None = None
    ) -> None:
        """Reach the server and the database. Raises `MissingExtra`, `DatabaseAway`, `DatabaseRefused`.

        The server is asked to stop a statement after so many seconds; not every one does. None leaves it to the server.
        `mark` is a word that its statements bear in a comment, by which they can be found and ended.
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
                """What the server calls itself."""
            self.rows("RETURN 1")  # only now does a server look for the database
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the server."""
        with suppress(Exception):  # it may be gone
            self._driver.close()

    def another(self) -> Server:
        """Open the same database once more, for statements that may have to be ended. Raises as `Server`."""
        mark = f"orienteer-{secrets.token_hex(6)}"
        return Server(self.address, self._login, seconds=self._seconds, mark=mark)

    def end(self, mark: str) -> None:
        """End the statements with a mark that the server still works at: some go on when nobody listens any more."""
        with suppress(Error):  # a server that knows no such statement, or does not let this user, has limits of its own
            for own_id, text in self.rows("SHOW TRANSACTIONS YIELD transactionId, currentQuery"):
                if mark in str(text) and TRANSACTION.fullmatch(str(own_id)):
                    self.rows(f"TERMINATE TRANSACTION '{own_id}'")

    def stream(self, statement: str, **parameters: Any) -> Iterator[list[Any]]:  # Any: values of the database
        """Run a reading statement and yield its rows as the server sends them.

        Raises as `Server`, and `QueryStopped` where it takes longer than the server allows.
        """
        return self.ask(statement, parameters, self._seconds)

    def ask(
        self, statement: str, parameters: Mapping[str, Any], seconds: float | None
    ) -> Generator[list[Any], None, None]:  # Any: values of the database
        """Run a reading statement that the server is asked to stop after so many seconds, as `stream` does."""
        import neo4j

        text = statement if self.mark is None else f"/* {self.mark} */ {statement}"
        with self._own_errors(), self.session() as session:
            for record in session.run(neo4j.Query(text, timeout=seconds), dict(parameters)):
                yield record.values()

    def rows(self, statement: str, **parameters: Any) -> list[list[Any]]:  # Any: values of the database
        """Run a reading statement and return all its rows. Raises as `Server`."""
        return list(self.stream(statement, **parameters))

    def session(self) -> neo4j.Session:
        """Open a session on the database that asks for reading alone; not every server keeps to that."""
        import neo4j

        return self._driver.session(
            database=self.address.database, default_access_mode=neo4j.READ_ACCESS, fetch_size=FETCHED
        )

    def lets_write(self, statement: str) -> bool:
        """Say whether a writing statement passes; it is rolled back. Raises as `Server` where that cannot be told."""
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
        """Turn what the driver raises into an error of ours."""
        from neo4j.exceptions import ConfigurationError, DriverError, Neo4jError

        try:
            yield
        except (DriverError, Neo4jError, ConfigurationError, OSError) as error:
            raise self.trouble(error) from error

    def trouble(self, error: Exception) -> Error:
        """Return what an error of the driver means, in one sentence."""
        from neo4j.exceptions import DriverError, Neo4jError

        code, said = getattr(error, "code", None) or "", told(error)
        if code in UNAUTHORIZED:
            what = "refuses this user: check" if self._login is not None else "wants to know who asks: set"
            return DatabaseRefused(f"{self.address} {what} NEO4J_USERNAME and NEO4J_PASSWORD")
        if code == NO_DATABASE:
            return DatabaseRefused(
                f"{self.address.server} has no database {self.address.database!r}{self._others()}",
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

    def _others(self) -> str:
        """Return the names of the databases that there are, where the server tells them."""
        from neo4j.exceptions import DriverError, Neo4jError

        try:
            with self._driver.session(database=SYSTEM) as session:
                names = sorted({str(record["name"]) for record in session.run("SHOW DATABASES")} - {SYSTEM})
        except (DriverError, Neo4jError, OSError, KeyError):  # it is told what is missing in any case
            names = []
        return f": it has {', '.join(names)}" if names else ": check its name"


def database_login(*, environment: Mapping[str, str] | None = None) -> Login | None:
    """Return who asks a database, as the environment says; None where it names nobody. Raises `BadOption`."""
    environment = os.environ if environment is None else environment
    user, password = environment.get("NEO4J_USERNAME"), environment.get("NEO4J_PASSWORD")
    if user and not password:
        raise BadOption("NEO4J_USERNAME is set and NEO4J_PASSWORD is not: set both, or neither")
    return Login(user or "neo4j", password) if password else None


def complaint(error: Error) -> str | None:
    """Return what a server finds wrong with a statement itself; None for any other trouble."""
    from neo4j.exceptions import Neo4jError

    cause = error.__cause__
    if not isinstance(cause, Neo4jError) or not isinstance(error, DatabaseAway):
        return None
    return told(cause) if str(cause.code).startswith(OF_STATEMENTS) else None


def told(error: BaseException) -> str:
    """Return what a server said, or why it did not: one line, of bounded length."""
    from neo4j.exceptions import Neo4jError

    text = (error.message if isinstance(error, Neo4jError) else str(error)) or type(error).__name__
    cause = error.__cause__
    if isinstance(cause, OSError) and cause.strerror:
        text = cause.strerror
    line = " ".join(str(text).split())
    return line if len(line) <= LONGEST_TOLD else f"{line[:LONGEST_TOLD]} ..."


def quoted(name: str) -> str:
    """Return a label, a type or a property as a statement writes it."""
    return "`" + name.replace("`", "``") + "`"


# What kind of value the driver has given.


def is_node(value: Any) -> bool:  # Any: a value of the database, as below
    """Tell whether a value is a node."""
    import neo4j.graph

    return isinstance(value, neo4j.graph.Node)


def is_edge(value: Any) -> bool:
    """Tell whether a value is an edge; its ends may be known by their element ids alone."""
    import neo4j.graph

    return isinstance(value, neo4j.graph.Relationship)


def is_path(value: Any) -> bool:
    """Tell whether a value is a path."""
    import neo4j.graph

    return isinstance(value, neo4j.graph.Path)


def is_time(value: Any) -> bool:
    """Tell whether a value is a date, a time or a span of time."""
    return type(value).__module__.startswith("neo4j.time") or hasattr(value, "isoformat")


def is_point(value: Any) -> bool:
    """Tell whether a value is a point: to the driver a tuple, which nothing else is."""
    return isinstance(value, tuple)
