"""The address of a database: `bolt://HOST[:PORT]/DB`, `neo4j://HOST[:PORT]/DB`. It never has a password."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from orienteer.errors import BadOption

SCHEMES = tuple(f"{kind}{security}" for kind in ("bolt", "neo4j") for security in ("", "+s", "+ssc"))
"""The driver's schemes: `+s` is encrypted, `+ssc` too, with a self-signed certificate."""
PORT = 7687
FORM = "bolt://HOST[:PORT]/DATABASE"


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a database."""

    scheme: str
    host: str
    port: int
    database: str

    def __str__(self) -> str:
        return f"{self.server}/{self.database}"

    @property
    def server(self) -> str:
        """Return the server's address for the driver."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> Address:
        """Parse an address. Raises `BadOption`, which repeats no address that may have a password."""
        try:
            parts = urlsplit(text)
            host, port = parts.hostname, parts.port or PORT
        except ValueError as error:
            raise BadOption(f"the address of the database is invalid ({error}): write {FORM}") from error
        if parts.username is not None or parts.password is not None:
            raise BadOption(
                f"the address names a user or a password, which others could read: write {FORM}, and set "
                "NEO4J_USERNAME and NEO4J_PASSWORD"
            )
        if parts.query or parts.fragment:
            raise BadOption(f"the address of the database has a ? or #: write {FORM}")
        database = unquote(parts.path.strip("/"))
        if parts.scheme not in SCHEMES or not host or not database or "/" in database:
            raise BadOption(f"{text} is not the address of a database: write {FORM}")
        return cls(parts.scheme, host, port, database)


def is_address(text: str) -> bool:
    """Return whether a text is meant as the address of a database."""
    return text.partition("://")[0].lower() in SCHEMES and "://" in text


def address_in(path: Path) -> str | None:
    """Return the address that was given instead of a path, which merges its two slashes; None for a path."""
    scheme, slash, rest = str(path).partition(":/")
    return f"{scheme}://{rest.lstrip('/')}" if slash and scheme.lower() in SCHEMES else None


@dataclass(frozen=True, slots=True)
class Login:
    """The user and password for a server. It is never shown or stored."""

    user: str = field(repr=False)
    password: str = field(repr=False)
