"""Several files at once, to an address or from there, with the bytes that have gone so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Event, Lock

from orienteer.display import Count
from orienteer.graph.builder import Progress

_AT_ONCE = 4  # files: more gain nothing where one has a part in flight for each connection
_TELL_SECONDS = 0.25


class Meter:
    """Counts the bytes that several threads move."""

    def __init__(self) -> None:
        self.moved = 0
        self._adding, self._ended = Lock(), Event()

    def add(self, count: int) -> None:
        """Add some bytes. Raises `InterruptedError` where another file has failed, for then all are left."""
        if self._ended.is_set():
            raise InterruptedError
        with self._adding:
            self.moved += count

    def end(self) -> None:
        """Have whatever still moves stop."""
        self._ended.set()


def moved_together(moves: Sequence[Callable[[Meter], None]], total: int, *, stage: str, tell: Progress) -> None:
    """Move files, each by a function that tells a meter of its bytes, `total` of them in all.

    The first that fails ends all, and its error is raised.
    """
    meter = Meter()
    with ThreadPoolExecutor(_AT_ONCE, "transfer") as workers:
        waiting = {workers.submit(move, meter) for move in moves}
        try:
            while waiting:
                done, waiting = wait(waiting, _TELL_SECONDS, FIRST_EXCEPTION)
                failures = [error for future in done if (error := future.exception()) is not None]
                if failures:
                    raise next((error for error in failures if not isinstance(error, InterruptedError)), failures[0])
                if meter.moved:
                    tell(stage, Count(meter.moved, of=total))
        finally:
            meter.end()
            workers.shutdown(wait=True, cancel_futures=True)
