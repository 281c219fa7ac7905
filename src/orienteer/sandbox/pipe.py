"""Messages to and from a process that is not trusted: each has a deadline and a largest size, and must be JSON."""

from __future__ import annotations

import json
import os
import select
import struct
import time
from collections.abc import Mapping
from typing import IO

from orienteer.records import JsonValue


class Broken(Exception):
    """The other end says what it may not; the message says what."""


class Ended(Broken):
    """The other end is gone."""


class TooLate(Exception):
    """The deadline has passed."""


class Pipe:
    """Two pipes to a process, one each way. Nothing that it sends, or does not send, holds this end past a deadline."""

    def __init__(self, to: IO[bytes], of: IO[bytes], *, longest: int) -> None:
        self._to, self._of, self._longest = to.fileno(), of.fileno(), longest
        os.set_blocking(self._to, False)
        os.set_blocking(self._of, False)

    def send(self, content: Mapping[str, JsonValue], deadline: float) -> None:
        """Send a message. Raises `Broken`, `TooLate`."""
        data = json.dumps(content).encode()
        left = memoryview(struct.pack("!I", len(data)) + data)
        while left:
            _wait(self._to, select.POLLOUT, deadline)
            try:
                left = left[os.write(self._to, left) :]
            except BlockingIOError:
                continue
            except BrokenPipeError as error:
                raise Ended("it ended") from error

    def receive(self, deadline: float) -> dict[str, JsonValue]:
        """Return the next message. Raises `Broken`, `TooLate`."""
        size = struct.unpack("!I", self._read(4, deadline))[0]
        if size > self._longest:
            raise Broken(f"it sent a message of more than {self._longest:,} bytes")
        try:
            content = json.loads(self._read(size, deadline))
        except (ValueError, RecursionError) as error:
            raise Broken("it sent what is no message") from error
        if not isinstance(content, dict):
            raise Broken("it sent what is no message")
        return content

    def has_more(self) -> bool:
        """Tell whether something waits to be read: a message, or that the other end is gone."""
        return is_ready(self._of, select.POLLIN, 0)

    def _read(self, size: int, deadline: float) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            _wait(self._of, select.POLLIN, deadline)
            part = os.read(self._of, min(size - len(parts), 1 << 16))
            if not part:
                raise Ended("it ended")
            parts += part
        return bytes(parts)


def _wait(descriptor: int, event: int, deadline: float) -> None:
    """Wait until a pipe can be read or written. Raises `TooLate`."""
    while (left := deadline - time.monotonic()) > 0:
        if is_ready(descriptor, event, left):
            return
    raise TooLate


def is_ready(descriptor: int, event: int, seconds: float) -> bool:
    """Wait until a pipe can be read or written, for some seconds; tell whether it can."""
    poll = select.poll()  # select() knows no descriptors beyond 1,023, and a server may have as many
    poll.register(descriptor, event)
    return bool(poll.poll(seconds * 1000))
