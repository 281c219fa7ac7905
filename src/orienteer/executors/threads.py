"""The executor of one process: threads, since all waiting is on models."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from orienteer.executors.executor import Given, Job, Piece

_AHEAD = 256
"""Pieces that are begun, at the most, before the first of them is taken, where their order is kept."""


class Threads:
    """Does pieces in threads of this process."""

    places: int | None = None

    def results(
        self, job: Job[Piece, Given], pieces: Iterable[Piece], *, in_order: bool = False
    ) -> Generator[Given, None, None]:
        """Yield what comes of each piece; see `Executor.results`."""
        at_once = job.threads if job.limit is None else min(job.threads, job.limit)

        def work(piece: Piece) -> Given:
            given = job.here.do(piece)
            if job.keep is not None:
                job.keep(given)
            return given

        if at_once == 1 and not job.waits:
            yield from map(work, pieces)
            return
        pool = ThreadPoolExecutor(at_once, thread_name_prefix=job.name)
        try:
            if in_order:
                yield from _ordered(pool, work, pieces, max(_AHEAD, 2 * at_once))
            else:
                yield from _unordered(pool, work, pieces, 2 * at_once)
        except BaseException:  # an interrupt, a full disk, a mistake of ours
            if job.here.stop is not None:
                job.here.stop()
            raise
        finally:
            pool.shutdown(wait=job.here.stop is None, cancel_futures=True)


def _unordered(
    pool: ThreadPoolExecutor, work: Callable[[Piece], Given], pieces: Iterable[Piece], most: int
) -> Generator[Given, None, None]:
    """Yield results as they come; few pieces wait to begin or to be taken, however many there are."""
    waiting: set[Future[Given]] = set()
    for piece in pieces:
        waiting.add(pool.submit(work, piece))
        if len(waiting) >= most:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    while waiting:
        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        yield from (future.result() for future in done)


def _ordered(
    pool: ThreadPoolExecutor, work: Callable[[Piece], Given], pieces: Iterable[Piece], most: int
) -> Generator[Given, None, None]:
    waiting: deque[Future[Given]] = deque()
    for piece in pieces:
        waiting.append(pool.submit(work, piece))
        while waiting and (len(waiting) >= most or waiting[0].done()):
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
