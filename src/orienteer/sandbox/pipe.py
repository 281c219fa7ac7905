"""Messages to and from an untrusted process: each has a deadline and a largest size, and must be JSON."""

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


class PipeError(Exception):
    """The other end has broken the protocol; the message says how."""


class PipeClosed(PipeError):
    """The other end is gone."""


class DeadlinePassed(Exception):
    """The deadline has passed."""


class Pipe:
    """Two pipes to a process, one for each direction. Whatever it sends or withholds, this end keeps its deadlines."""

    def __init__(self, to: IO[bytes], of: IO[bytes], *, longest: int, kill: Callable[[], None]) -> None:
        self._to, self._of, self._longest, self._kill = to.fileno(), of.fileno(), longest, kill
        if sys.platform != "win32":
            os.set_blocking(self._to, False)
            os.set_blocking(self._of, False)

    def send(self, content: Mapping[str, JsonValue], deadline: float) -> None:
        """Send a message. Raises `PipeError`, `DeadlinePassed`."""
        self.send_bytes(json.dumps(content).encode(), deadline)

    def send_bytes(self, message: bytes, deadline: float) -> None:
        """Send the bytes of a message or a file, after their number. Raises `PipeError`, `DeadlinePassed`."""
        left = memoryview(struct.pack("!I", len(message)) + message)
        with self._until(deadline):
            while left:
                try:
                    left = left[self._write(left, deadline) :]
                except BlockingIOError:
                    continue
                except OSError as error:  # Windows has an error of its own for a broken pipe
                    raise PipeClosed("it ended") from error

    def receive(self, deadline: float) -> dict[str, JsonValue]:
        """Return the next message. Raises `PipeError`, `DeadlinePassed`."""
        try:
            content = json.loads(self.receive_bytes(deadline))
        except (ValueError, RecursionError) as error:
            raise PipeError("it sent something that is not a message") from error
        if not isinstance(content, dict):
            raise PipeError("it sent something that is not a message")
        return content

    def receive_bytes(self, deadline: float) -> bytearray:
        """Return the next message as bytes. Raises `PipeError`, `DeadlinePassed`."""
        with self._until(deadline):
            size = struct.unpack("!I", self._read(4, deadline))[0]
            if size > self._longest:
                raise PipeError(f"it sent a message of more than {self._longest:,} bytes")
            return self._read(size, deadline)

    def has_more(self) -> bool:
        """Tell whether a message can be read, or the other end is gone."""
        return is_ready(self._of, select.POLLIN, 0)

    def _read(self, size: int, deadline: float) -> bytearray:
        parts = bytearray()
        while len(parts) < size:
            if sys.platform != "win32":
                _wait(self._of, select.POLLIN, deadline)
            part = os.read(self._of, min(size - len(parts), _PART))
            if not part:
                raise PipeClosed("it ended")
            parts += part
        return parts

    def _write(self, message: memoryview, deadline: float) -> int:
        """Write a part of a message; return how many bytes. Raises `DeadlinePassed`."""
        if sys.platform != "win32":
            _wait(self._to, select.POLLOUT, deadline)
        return os.write(self._to, message[:_PART])

    @contextmanager
    def _until(self, deadline: float) -> Iterator[None]:
        """Keep to a deadline on Windows, where pipes cannot be polled: killing the process closes its pipes."""
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
        except PipeClosed:
            if is_late.is_set():
                raise DeadlinePassed from None
            raise
        finally:
            timer.cancel()


def _wait(descriptor: int, event: int, deadline: float) -> None:
    """Wait until a pipe can be read or written. Raises `DeadlinePassed`."""
    while (left := deadline - time.monotonic()) > 0:
        if is_ready(descriptor, event, left):
            return
    raise DeadlinePassed


def is_ready(descriptor: int, event: int, seconds: float) -> bool:
    """Wait at most so many seconds until a pipe can be read or written; tell whether it can."""
    poll = select.poll()  # select() takes no descriptor above 1,023, and a server may have as many
    poll.register(descriptor, event)
    return bool(poll.poll(seconds * 1000))
