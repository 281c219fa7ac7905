"""A worker's end of its pipes: each message is four bytes of length, then the content.

This file imports nothing of the package, so that workers can load it by itself and start fast. `pipe` is the parent's
end.
"""

from __future__ import annotations

import os
import struct
from typing import BinaryIO, NamedTuple


class Streams(NamedTuple):
    """The pipe of the requests and the pipe of the answers."""

    requests: BinaryIO
    answers: BinaryIO


def take_streams() -> Streams:
    """Take over standard input and output as pipes; both lead nowhere from now on.

    A library that prints would break the messages otherwise.
    """
    streams = Streams(os.fdopen(os.dup(0), "rb", 0), os.fdopen(os.dup(1), "wb", 0))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.close(nothing)
    return streams


def send(stream: BinaryIO, message: bytes) -> None:
    """Send a message."""
    left = memoryview(struct.pack("!I", len(message)) + message)
    while left:
        left = left[stream.write(left) :]


def receive(stream: BinaryIO) -> bytes | None:
    """Return the next message; None after the last one."""
    head = _read(stream, 4)
    return _read(stream, struct.unpack("!I", head)[0]) if len(head) == 4 else None


def _read(stream: BinaryIO, size: int) -> bytes:
    parts, left = [], size
    while left and (part := stream.read(left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
