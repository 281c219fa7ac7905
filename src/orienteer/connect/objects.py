"""The address of a graph, and its files: `site` reads those of a server, `bucket` reads and writes those of a store.

Servers may be hostile or broken. Each read is limited in size and time: a small file has to arrive within
`SMALL_SECONDS`, each `PART_BYTES` of a larger one within `PART_SECONDS`.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

from orienteer.errors import BadOption, NotAGraph, StoreFailed
from orienteer.ingest.stores import FORM
from orienteer.llm.address import OFFLINE, is_address, is_loopback, is_offline, show

ENDPOINT = "AWS_ENDPOINT_URL"
"""The environment variable for an S3 store other than Amazon's."""
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


def address_of(text: str) -> Address:
    """Return the address in a text, or in a path of one, which has single slashes.

        >>> str(address_of("s3:/graphs/films"))
        's3://graphs/films'

    Raises `BadOption` for an address with a password, of another form, or without encryption over a network.
    """
    if (found := FORM.fullmatch(text)) is None:
        raise BadOption(f"{text} is not an address: write s3://BUCKET/NAME or https://HOST/PATH")
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
        raise BadOption(f"{address} is not an address of a server: write https://HOST/PATH")
    if scheme == "http" and not is_loopback(str(address)):
        raise BadOption(f"{address} would go over the network unprotected: take https://, or s3:// with {ENDPOINT}")
    return address


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


SMALL_BYTES, SMALL_SECONDS = 1 << 20, 10.0
"""A file up to this size, such as a pointer, has to arrive within this time, including retries."""
PART_SECONDS, PART_BYTES = 30.0, 512 << 10
"""Each part of a larger file has to arrive within this time: with four files at once, 70 kB a second."""


class Content(NamedTuple):
    """A small file at an address."""

    text: bytes
    e_tag: str | None
    """The server's tag of this content, if it has one."""


class Pace:
    """The remaining time of a read: `seconds` for each part."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._lack = PART_BYTES
        self._until = monotonic() + seconds

    def left(self) -> float:
        """Return the seconds until the next part is due; not below 0."""
        return max(0.0, self._until - monotonic())

    def add(self, count: int) -> None:
        """Count received bytes."""
        self._lack -= count
        if self._lack <= 0:
            self._lack, self._until = PART_BYTES, monotonic() + self.seconds


class Reply(NamedTuple):
    """A file that is being received."""

    parts: Generator[bytes | memoryview, None, None]
    e_tag: str | None


class Objects(ABC):
    """The files under an address, by their names there. Safe to share among threads.

    Each method raises `StoreFailed` if the store does not answer, refuses, or is too slow, `ObjectMissing` for a
    missing file.
    """

    def __init__(self, address: Address, server: str) -> None:
        """Raises `BadOption` for a server on another machine while offline; no request is sent yet."""
        if is_offline() and not is_loopback(server):
            raise BadOption(f"{address} is not on this machine, and {OFFLINE} is set: unset it, or name a folder")
        self.address = address

    def read(self, name: str, most: int) -> Content:
        """Return a file of at most `most` bytes. Raises `NotAGraph` for a larger one."""
        content = self.read_changed(name, most, e_tag=None)
        if content is None:
            raise StoreFailed(f"{self.name(name)}: the server says that it is as before, which it was not asked")
        return content

    def read_changed(self, name: str, most: int, *, e_tag: str | None) -> Content | None:
        """Return a file as `read` does, or None if it still has this tag."""
        pace = Pace(PART_SECONDS if most > SMALL_BYTES else SMALL_SECONDS)
        text = bytearray()
        reply = self._open(name, e_tag, pace)
        if reply is None:
            return None
        with closing(self._paced(name, reply, pace)) as parts:
            for part in parts:
                text += part
                if len(text) > most:
                    raise NotAGraph(f"{self.name(name)} is larger than {most:,} bytes: it is no file of a graph")
        return Content(bytes(text), reply.e_tag)

    def stream(self, name: str) -> Generator[memoryview, None, None]:
        """Yield a file in parts."""
        pace = Pace(PART_SECONDS)
        reply = self._open(name, None, pace)
        # A server might answer "not modified" all the same: then the file is too short.
        if reply is not None:
            yield from self._paced(name, reply, pace)

    def name(self, name: str) -> str:
        """Return a file's name for messages."""
        return f"{self.address}/{name}"

    def close(self) -> None:  # noqa: B027  # a bucket's library closes its own
        """Close all connections."""

    @abstractmethod
    def _open(self, name: str, e_tag: str | None, pace: Pace) -> Reply | None:
        """Request a file; return None if it still has this tag."""

    def _paced(self, name: str, reply: Reply, pace: Pace) -> Generator[memoryview, None, None]:
        with closing(reply.parts):
            for part in reply.parts:
                if not pace.left():
                    raise self.slow(name, pace)
                pace.add(len(part))
                yield memoryview(part)

    def slow(self, name: str, pace: Pace) -> StoreFailed:
        """Return the error of a read after its time."""
        return StoreFailed(
            f"{self.name(name)} comes too slowly (the next part not in {pace.seconds:g} s): try again later"
        )
