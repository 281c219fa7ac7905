"""The server over standard input and output, for a host that starts it as a process.

While it serves, whatever else is written to standard output goes to standard error, and standard input is empty for
everything else in the process.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from typing import Any, TextIO, cast

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from orienteer.serve.mcp.messages import received


def serve(server: Server[Any]) -> None:
    """Serve until the host closes standard input. An interruption ends the process."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # else it would wait for the thread that waits for the next line
    asyncio.run(_serve(server))


async def _serve(server: Server[Any]) -> None:
    lines = _Lines(_own_input())
    async with stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (incoming, outgoing):
        lines.replies = outgoing
        await server.run(incoming, outgoing, server.create_initialization_options())


def _own_input() -> TextIO:
    """Return standard input; from now on everything else that reads it, a child too, finds it empty."""
    own, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return open(own, encoding="utf-8", errors="replace", closefd=False)  # a thread may wait in it


class _Lines:
    """The lines that are messages. The library drops all others in silence: here they are replied to."""

    replies: Any = None  # Any: the library's stream, of a private class

    def __init__(self, lines: TextIO) -> None:
        self._lines = anyio.wrap_file(lines)

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._lines:
            if not line.strip():
                continue
            got = received(line)
            for error in got.errors:
                await self.replies.send(SessionMessage(error))
            if got.message is not None:
                yield line
