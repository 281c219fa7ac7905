"""Addresses of graphs: s3://BUCKET/NAME, and https://HOST/PATH of any server of files."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from orienteer.errors import BadOption
from orienteer.llm.address import is_address, is_loopback, show

ENDPOINT = "AWS_ENDPOINT_URL"
"""The environment variable for an S3 store other than Amazon's."""
_FORM = re.compile(r"(s3|https?):/+(.+)", re.IGNORECASE | re.DOTALL)
_PART = re.compile(r"[^\s\x00-\x1f\x7f?#%\\]+")
_KEYS = "keys are read from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"


@dataclass(frozen=True, slots=True)
class Address:
    """An address of a graph, without any secret."""

    scheme: str
    host: str
    """The host with its port; of s3 the bucket."""
    parts: tuple[str, ...]
    """The folders down to the graph."""

    def __str__(self) -> str:
        return "/".join((f"{self.scheme}://{self.host}", *self.parts))

    @property
    def name(self) -> str:
        """Return the graph's own name: the last part."""
        return self.parts[-1] if self.parts else self.host.partition(":")[0]

    @property
    def is_bucket(self) -> bool:
        """Return whether it can be written to."""
        return self.scheme == "s3"


def may_be_address(path: str | Path) -> bool:
    """Return whether a path has the form of an address, valid or not."""
    return _FORM.fullmatch(path.as_posix() if isinstance(path, Path) else path) is not None


def address_of(path: str | Path) -> Address | None:
    """Return the address in a path, or None for a local path.

    A command line turns the argument `s3://bucket/name` into the path `s3:/bucket/name`: both are read.

        >>> str(address_of(Path("s3://graphs/films")))
        's3://graphs/films'

    Raises `BadOption` for an address with a password, of another form, or without encryption over a network.
    """
    text = path.as_posix() if isinstance(path, Path) else path
    if (found := _FORM.fullmatch(text)) is None:
        return None
    scheme, rest = found[1].lower(), found[2].rstrip("/")
    host, *parts = rest.split("/")
    _check_bare(f"{scheme}://{rest}", host)
    for part in (host, *parts):
        if not _PART.fullmatch(part) or part in (".", ".."):
            raise BadOption(
                f"{scheme}://{rest} has the part {part!r}: write names between single slashes, nothing escaped",
                value=part,
            )
    address = Address(scheme, host, tuple(parts))
    if scheme == "s3" and not parts:
        raise BadOption(f"{address} names a bucket and no graph in it: write s3://BUCKET/NAME")
    if scheme != "s3" and not is_address(str(address)):
        raise BadOption(f"{address} is no address of a server: write https://HOST/PATH")
    if scheme == "http" and not is_loopback(str(address)):
        raise BadOption(f"{address} would go over the network unprotected: take https://, or s3:// with {ENDPOINT}")
    return address


def shown(path: Path) -> str:
    """Return a path as a person wrote it, even if a command line has turned an address into it."""
    return str(address_of(path) or path)


def _check_bare(text: str, host: str) -> None:
    """Raise `BadOption`, without quoting a secret, for an address that may have one."""
    if "@" in host:
        raise BadOption(f"the address {show(text)} has a user name or a password in it: leave them out, {_KEYS}")
    if "?" in text or "#" in text:
        raise BadOption(f"the address {show(text)} goes on after a ? or a #: leave that out, {_KEYS}")


def endpoint() -> str:
    """Return the store's address from the environment, or an empty text for Amazon's. Raises `BadOption`."""
    url = os.environ.get(ENDPOINT, "").strip()
    if url and (show(url) != url or not is_address(url)):
        raise BadOption(f"{ENDPOINT} is {show(url)!r}: write http(s)://HOST:PORT, with no user name, password or query")
    return url.rstrip("/")
