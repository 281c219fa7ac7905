"""The time limit of a request: an interface sets it, and long work checks it.

It is set for the working thread, as a database limits a statement, so that no function in between passes it on.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from orienteer.errors import BudgetExhausted


class Patience:
    """The time limit of one request, from now on; its caller may give up before. Safe to share among threads."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._ends = seconds, time.monotonic() + seconds
        self._is_given_up = False

    def give_up(self) -> None:
        """End it now: the caller has left."""
        self._is_given_up = True

    def check(self) -> None:
        """Raise `BudgetExhausted` after its end."""
        if self._is_given_up or time.monotonic() > self._ends:
            raise self.over()

    def over(self) -> BudgetExhausted:
        """Return the error for its end."""
        return BudgetExhausted("seconds", f"this took more than {self._seconds:g} s: ask for less at once")


_PATIENCE: ContextVar[Patience | None] = ContextVar("patience", default=None)


@contextmanager
def within(patience: Patience | None) -> Iterator[None]:
    """Limit the block's work by this patience; None for work that is done once and lasts."""
    before = _PATIENCE.set(patience)
    try:
        yield
    finally:
        _PATIENCE.reset(before)


def check_patience() -> None:
    """Raise `BudgetExhausted` after the request's time limit, if it has one."""
    patience = _PATIENCE.get()
    if patience is not None:
        patience.check()
