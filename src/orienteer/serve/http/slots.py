"""So many questions run at once, so many wait in line; more are turned away at once, and told when to come again."""

from __future__ import annotations

import asyncio
import time

from orienteer.errors import Refused
from orienteer.serve.door import RUNNING, WAITING

PATIENCE = 30.0
"""Seconds in line."""
_FIRST_GUESS = 2.0  # seconds of a question, before any has ended
_WEIGHT = 0.2  # of the last question in the moving mean


class Slots:
    """The places of questions. Belongs to one event loop."""

    def __init__(self, running: int = RUNNING, waiting: int = WAITING) -> None:
        self.most_running, self._most_waiting = running, waiting
        self._free = asyncio.Semaphore(running)
        self.waiting = 0
        self.running = 0
        self.turned_away = 0
        self._mean = _FIRST_GUESS

    async def take(self) -> Slot:
        """Return a place, perhaps after waiting in line. Raises `Refused` with 503 where the line is full."""
        if self._free.locked() and self.waiting >= self._most_waiting:
            raise self._full()
        self.waiting += 1
        try:
            async with asyncio.timeout(PATIENCE):
                await self._free.acquire()
        except TimeoutError:
            raise self._full() from None
        finally:
            self.waiting -= 1
        self.running += 1
        return Slot(self)

    def give_back(self, seconds: float) -> None:
        """Free a place that was held for so long."""
        self.running -= 1
        self._mean += _WEIGHT * (seconds - self._mean)
        self._free.release()

    def _full(self) -> Refused:
        self.turned_away += 1
        seconds = max(1, round(self._mean * (1 + self.waiting / self.most_running)))
        message = f"{self.most_running} questions run and {self._most_waiting} wait: come again in {seconds} s"
        return Refused(503, message, headers={"retry-after": str(seconds)})


class Slot:
    """One place, given back once."""

    def __init__(self, slots: Slots) -> None:
        self._slots: Slots | None = slots
        self._began = time.monotonic()

    def free(self) -> None:
        """Give the place back; a second time does nothing."""
        slots, self._slots = self._slots, None
        if slots is not None:
            slots.give_back(time.monotonic() - self._began)
