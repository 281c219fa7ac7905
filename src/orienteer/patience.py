"""How long whoever asked waits for a piece of work: a face sets it, and what may take long looks at it.

It is set for the thread that works, as a database sets the time of a statement, so that no function between the two
has to hand it on.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from orienteer.errors import BudgetExhausted


class Patience:
    """The time of one request, from now on. Whoever asked may give it up before. Safe to share among threads."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._ends = seconds, time.monotonic() + seconds
        self._is_given_up = False

    def give_up(self) -> None:
        """End it now: whoever asked has left."""
        self._is_given_up = True

    def check(self) -> None:
        """Raise `BudgetExhausted` once it has ended."""
        if self._is_given_up or time.monotonic() > self._ends:
            raise self.over()

    def over(self) -> BudgetExhausted:
        """Return the error that says so."""
        return BudgetExhausted("seconds", f"this took more than {self._seconds:g} s: ask for less at once")


_PATIENCE: ContextVar[Patience | None] = ContextVar("patience", default=None)


@contextmanager
def within(patience: Patience | None) -> Iterator[None]:
    """Have what is done in the block end with this patience; None for what is made once and lasts."""
    before = _PATIENCE.set(patience)
    try:
        yield
    finally:
        _PATIENCE.reset(before)


def check_patience() -> None:
    """Raise `BudgetExhausted` if whoever asked waits no longer. Does nothing where nobody has said how long."""
    patience = _PATIENCE.get()
    if patience is not None:
        patience.check()
