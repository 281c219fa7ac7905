"""Work that ends when whoever asked for it leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from starlette.types import Receive

from orienteer.errors import Refused

_T = TypeVar("_T")


async def left(receive: Receive) -> None:
    """Return once the client has left. The body of its request has been read before."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def while_there(receive: Receive, work: Awaitable[_T]) -> _T:
    """Return what some work gives; cancel it where the client leaves first. Raises `Refused` with 499 then."""
    working, leaving = asyncio.ensure_future(work), asyncio.create_task(left(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise Refused(499, "the client has left")
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)
