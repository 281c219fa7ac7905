"""A worker's end of its pipes: messages that come and go, each as four bytes of length and what it holds.

It imports nothing of the package: workers load it as a file of its own, and start fast. The parent's end is `pipe`.
"""

from __future__ import annotations

import os
import struct
from typing import BinaryIO, NamedTuple


class Streams(NamedTuple):
    """Where requests come from, and answers go to."""

    requests: BinaryIO
    answers: BinaryIO


def take_streams() -> Streams:
    """Return the pipes that were standard input and output, which lead nowhere from now on.

    Whatever a library prints must not stand between answers.
    """
    streams = Streams(os.fdopen(os.dup(0), "rb", 0), os.fdopen(os.dup(1), "wb", 0))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.close(nothing)
    return streams


def send(stream: BinaryIO, data: bytes) -> None:
    """Send a message."""
    left = memoryview(struct.pack("!I", len(data)) + data)
    while left:
        left = left[stream.write(left) :]


def receive(stream: BinaryIO) -> bytes | None:
    """Return the next message; None where no more will come."""
    head = _read(stream, 4)
    return _read(stream, struct.unpack("!I", head)[0]) if len(head) == 4 else None


def _read(stream: BinaryIO, size: int) -> bytes:
    parts, left = [], size
    while left and (part := stream.read(left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
