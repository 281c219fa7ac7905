"""Connections: how long one has to say what it wants and to take its reply, and which one goes when there are too many.

uvicorn bounds how many there are, but not how long a head may take, so a few hundred that never end one keep everyone
out. Here a new connection gets in unless all others are asking something. It takes the place of an idle one: of the
address with the most idle connections, the one that has waited longest goes.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""Within which a new connection must have sent a whole head, and one that is kept from the first byte of the next."""
REQUEST_SECONDS = 30.0
"""Within which the rest must have come. What reads a body waits less long, and says so (`bodies`)."""
TAKE_SECONDS = 30.0
"""Within which a client that is sent more than it takes must take `LEAST_TAKEN`, or all there is."""
LEAST_TAKEN = 30_000
"""Bytes: a kilobyte a second."""
MOST_CONNECTIONS = 400


class Connection(H11Protocol):
    """A connection of uvicorn's that ends when its client takes too long."""

    most = MOST_CONNECTIONS
    """Of them at once."""

    def __init__(self, *args: Any, **options: Any) -> None:  # Any: what uvicorn hands on
        super().__init__(*args, **options)
        self._late: asyncio.TimerHandle | None = None
        self._awaited: object = None  # compared by identity
        """The request whose body is awaited, `_HEAD`, or None."""
        self._stalled: asyncio.TimerHandle | None = None
        self._waits_since = self.loop.time()

    @property
    def _is_waiting(self) -> bool:
        """Return whether no request is under way."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def _address(self) -> str:
        return self.client[0] if self.client is not None else ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Take a connection, in place of another where there are too many."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # so that it tells of every byte that its client does not take
        self._make_room()
        self._await(_HEAD, HEAD_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._await(None)
        self._heed_stall(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, and say until when what is still to come must be here."""
        super().data_received(data)
        if self._is_waiting:
            self._await(_HEAD, HEAD_SECONDS)
        else:
            self._await_rest()

    def on_response_complete(self) -> None:
        """Wait for the next request, as long as uvicorn keeps a connection that says nothing."""
        self._waits_since = self.loop.time()
        super().on_response_complete()  # which begins the next request where it has come already
        self._await_rest()

    def pause_writing(self) -> None:
        """Note that the client does not take what it is sent."""
        super().pause_writing()
        self._heed_stall(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """Note that the client has taken all."""
        super().resume_writing()
        self._heed_stall(None)

    def _await_rest(self) -> None:
        is_all_there = self._is_waiting or not self.cycle.more_body
        self._await(None if is_all_there else self.cycle, REQUEST_SECONDS)

    def _await(self, awaited: object, seconds: float = 0.0) -> None:
        """Close the connection unless something comes in time; None for nothing. What is awaited gets no more time."""
        if awaited is self._awaited or (awaited is not None and self.transport.is_closing()):
            return
        if self._late is not None:
            self._late.cancel()
        self._awaited = awaited
        self._late = None if awaited is None else self.loop.call_later(seconds, self.transport.abort)

    def _heed_stall(self, unsent: int | None) -> None:
        """Look in a while whether the client has taken something of so many bytes; None where there are none."""
        if self._stalled is not None:
            self._stalled.cancel()
        self._stalled = None if unsent is None else self.loop.call_later(TAKE_SECONDS, self._end_stall, unsent)

    def _end_stall(self, unsent: int) -> None:
        left = self.transport.get_write_buffer_size()
        if unsent - left < LEAST_TAKEN:
            self.transport.abort()
        else:
            self._heed_stall(left)

    def _make_room(self) -> None:
        others = [each for each in self.connections if isinstance(each, Connection) and each is not self]
        open_ones = [each for each in others if not each.transport.is_closing()]
        if len(open_ones) < self.most:
            return
        waiting = [each for each in open_ones if each._is_waiting] or [self]
        held = Counter(each._address for each in waiting)
        longest = min(waiting, key=lambda each: (-held[each._address], each._waits_since))
        longest.transport.abort()


_HEAD: Final = object()
