"""The server over standard input and output, for a host that starts it as a process.

While it serves, the library sends whatever else is written to standard output to standard error.
"""

from __future__ import annotations

import asyncio
import signal
from typing import Any

from mcp.server import Server
from mcp.server.stdio import stdio_server


def serve(server: Server[Any]) -> None:
    """Serve until the host closes standard input. An interruption ends the process."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # else it would wait for the thread that waits for the next line
    asyncio.run(_serve(server))


async def _serve(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
