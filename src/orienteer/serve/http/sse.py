"""Server-sent events: how they are written, and a reply that sends them while their client is there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from orienteer.serve.http.leaving import left

PING_SECONDS = 15.0
"""Silence after which a comment is sent: proxies close silent connections."""
SEND_SECONDS = 30.0
"""Within which a client must take what is sent; one that reads no more frees its place."""
PING = b": still here\n\n"


def event(kind: str, text: str, number: int | None = None) -> bytes:
    """Return an event with JSON, which has no line breaks."""
    name = "" if number is None else f"id: {number}\n"
    return f"{name}event: {kind}\ndata: {text}\n\n".encode()


class EventReply(Response):
    """A reply of chunks; whoever leaves, or takes nothing any more, ends the generator that makes them.

    `closed` is called at the end, however it came.
    """

    media_type = "text/event-stream"

    def __init__(self, chunks: AsyncGenerator[bytes, None], closed: Callable[[], None]) -> None:
        super().__init__(headers={"x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._chunks, self._closed = chunks, closed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the chunks until they end or the client leaves."""
        sending, leaving = asyncio.create_task(self._sent(send)), asyncio.create_task(left(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
            self._closed()

    async def _sent(self, send: Send) -> None:
        async with aclosing(self._chunks) as chunks:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async for chunk in chunks:
                async with asyncio.timeout(SEND_SECONDS):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
