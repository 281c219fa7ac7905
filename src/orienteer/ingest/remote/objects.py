"""The files at an address: `site` reads those of a server, `bucket` reads and writes those of an S3 store.

Servers may be hostile or broken. Each read is limited in size and time: a small file has to arrive within
`SMALL_SECONDS`, each `PART_BYTES` of a larger one within `PART_SECONDS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import closing
from time import monotonic
from typing import NamedTuple

from orienteer.errors import BadOption, NotAGraph, StoreFailed
from orienteer.ingest.remote.address import Address
from orienteer.llm.address import OFFLINE, is_loopback, is_offline

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
        if reply is not None:  # a server might answer "not modified" all the same: then the file is too short
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
