"""What one query may spend. Every part of the algebra pays before it works."""

from __future__ import annotations

import time

from orienteer.errors import QueryStopped
from orienteer.patience import check_patience

BATCH = 1 << 17  # rows of one batch, more or less: bounds the memory


class Budget:
    """The limits of one query. Every method raises `QueryStopped` before the work that would exceed a limit.

    None is no limit. The time limit of the request, if it has one, always holds; it raises `BudgetExhausted`.
    """

    def __init__(
        self,
        *,
        seconds: float | None = None,
        edges: int | None = None,
        rows: int | None = None,
        size: int | None = None,
    ) -> None:
        """Allow this many seconds, edges walked, rows held at once, and bytes of texts and lists held at once."""
        self._seconds, self._until = seconds, None if seconds is None else time.monotonic() + seconds
        self._edges, self._rows, self._size = edges, rows, size
        self.walked = 0
        """The edges that were walked so far."""

    def walk(self, edges: int, *, are_rows: bool = False) -> None:
        """Pay for edges that are about to be read, or for rows of lists."""
        self.walked += edges
        if self._edges is not None and self.walked > self._edges:
            if are_rows:
                raise QueryStopped(f"the query makes more than {self._edges:,} rows of lists: take fewer lists apart")
            raise QueryStopped(
                f"the query walks more than {self._edges:,} edges: name more of its node types, edge types and nodes"
            )
        self.check()

    def hold(self, rows: int, size: int = 0) -> None:
        """Pay for rows that are about to be held at once, with the bytes of their texts and lists."""
        if self._rows is not None and rows > self._rows:
            raise QueryStopped(f"the query holds more than {self._rows:,} rows at once: ask for fewer rows or groups")
        if self._size is not None and size > self._size:
            raise QueryStopped(
                f"the query holds more than {self._size >> 20:,} MB of texts and lists: return less, or count instead"
            )
        self.check()

    def check(self) -> None:
        """Compare the clock with the time limits."""
        check_patience()
        if self._until is not None and time.monotonic() > self._until:
            raise QueryStopped(
                f"the query took longer than {self._seconds:g} s: name more of its node types, edge types and nodes"
            )
