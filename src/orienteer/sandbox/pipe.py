"""Messages to and from a process that is not trusted: each has a deadline and a largest size, and must be JSON."""

from __future__ import annotations

import json
import os
import select
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from orienteer.records import JsonValue

_PART = 1 << 16  # bytes, as many as a pipe holds


class Broken(Exception):
    """The other end says what it may not; the message says what."""


class Ended(Broken):
    """The other end is gone."""


class TooLate(Exception):
    """The deadline has passed."""


class Pipe:
    """Two pipes to a process, one each way. Nothing that it sends, or does not send, holds this end past a deadline."""

    def __init__(self, to: IO[bytes], of: IO[bytes], *, longest: int, kill: Callable[[], None]) -> None:
        self._to, self._of, self._longest, self._kill = to.fileno(), of.fileno(), longest, kill
        if sys.platform != "win32":
            os.set_blocking(self._to, False)
            os.set_blocking(self._of, False)

    def send(self, content: Mapping[str, JsonValue], deadline: float) -> None:
        """Send a message. Raises `Broken`, `TooLate`."""
        self.send_bytes(json.dumps(content).encode(), deadline)

    def send_bytes(self, data: bytes, deadline: float) -> None:
        """Send bytes as they are, of a message or of a file, behind their number. Raises `Broken`, `TooLate`."""
        left = memoryview(struct.pack("!I", len(data)) + data)
        with self._until(deadline):
            while left:
                try:
                    left = left[self._write(left, deadline) :]
                except BlockingIOError:
                    continue
                except OSError as error:  # Windows says that a pipe is broken in words of its own
                    raise Ended("it ended") from error

    def receive(self, deadline: float) -> dict[str, JsonValue]:
        """Return the next message. Raises `Broken`, `TooLate`."""
        try:
            content = json.loads(self.receive_bytes(deadline))
        except (ValueError, RecursionError) as error:
            raise Broken("it sent what is no message") from error
        if not isinstance(content, dict):
            raise Broken("it sent what is no message")
        return content

    def receive_bytes(self, deadline: float) -> bytearray:
        """Return the next message unread. Raises `Broken`, `TooLate`."""
        with self._until(deadline):
            size = struct.unpack("!I", self._read(4, deadline))[0]
            if size > self._longest:
                raise Broken(f"it sent a message of more than {self._longest:,} bytes")
            return self._read(size, deadline)

    def has_more(self) -> bool:
        """Tell whether something waits to be read: a message, or that the other end is gone."""
        return is_ready(self._of, select.POLLIN, 0)

    def _read(self, size: int, deadline: float) -> bytearray:
        parts = bytearray()
        while len(parts) < size:
            if sys.platform != "win32":
                _wait(self._of, select.POLLIN, deadline)
            part = os.read(self._of, min(size - len(parts), _PART))
            if not part:
                raise Ended("it ended")
            parts += part
        return parts

    def _write(self, data: memoryview, deadline: float) -> int:
        if sys.platform != "win32":
            _wait(self._to, select.POLLOUT, deadline)
        return os.write(self._to, data[:_PART])

    @contextmanager
    def _until(self, deadline: float) -> Iterator[None]:
        """Keep to a deadline on Windows, where pipes cannot be waited for: the process is killed, and its pipes end."""
        if sys.platform != "win32":
            yield
            return
        is_late = threading.Event()

        def give_up() -> None:
            is_late.set()
            self._kill()

        timer = threading.Timer(max(0.0, deadline - time.monotonic()), give_up)
        timer.daemon = True
        timer.start()
        try:
            yield
        except Ended:
            if is_late.is_set():
                raise TooLate from None
            raise
        finally:
            timer.cancel()


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
