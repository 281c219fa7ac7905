"""Many independent pieces of work at once: the seam. `threads` does them here, `cluster` on the nodes of a Ray cluster.

Who has such work describes it as a `Job` and takes the results; it does not know where they are made.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from orienteer.llm.replies import ReplyStore
from orienteer.protocols import Embedder, LanguageModel

Piece = TypeVar("Piece")
Outcome = TypeVar("Outcome")
"""What comes of a piece."""


class Opener(Protocol):
    """Opens models and embedders by their names, with the keys of the machine that it is on."""

    def open_model(self, name: str | None = None) -> LanguageModel:
        """Return the model of this name."""

    def open_embedder(self, name: str, *, threads: int = 1) -> Embedder:
        """Return the embedder of this name."""


@dataclass(frozen=True, slots=True)
class Place:
    """What work finds in a process that is not the caller's."""

    opener: Opener
    open_replies: Callable[[Path], ReplyStore]
    """Gives the replies of a file that lies where the caller is."""
    at_once: int
    """Pieces that this process is given at one time, at the most."""
    processes: int
    """Processes that do the job, at the most: what is limited over all of them together, each has its share of."""


@dataclass(frozen=True, slots=True)
class Worker(Generic[Piece, Outcome]):
    """Does pieces, several at once."""

    do: Callable[[Piece], Outcome]
    stop: Callable[[], None] | None = None
    """Makes pieces under way end soon; None where they have to be waited for."""


class Recipe(Protocol[Piece, Outcome]):
    """How work is opened elsewhere. It is pickled: it holds paths, names and options, and neither keys nor arrays."""

    def open(self, place: Place) -> Worker[Piece, Outcome]:
        """Return what does the pieces in this process. Raises `Error` where something is missing here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Generic[Piece, Outcome]):
    """Work of which each piece can be done alone, in any order, and again if what came of it was lost."""

    name: str
    here: Worker[Piece, Outcome]
    recipe: Recipe[Piece, Outcome]
    threads: int
    """Pieces at once in one process."""
    limit: int | None = None
    """Pieces at once over all processes; None where each process has its own limit alone."""
    waits: bool = True
    """Whether a piece waits for somebody else, as for a model. One at a time of those that do not is done in the very
    thread of the caller, so that nothing else takes part in its time."""
    keep: Callable[[Outcome], None] | None = None
    """Called with what came of each piece, in the caller's process, as soon as it is there: also where another piece
    has failed meanwhile, or the caller was interrupted. Several threads may call it at once."""


class Executor(Protocol):
    """Does the pieces of a job, many at once."""

    places: int | None
    """Pieces that wait for a model which may be under way at once; None where the job itself says."""

    def results(
        self, job: Job[Piece, Outcome], pieces: Iterable[Piece], *, in_order: bool = False
    ) -> Generator[Outcome, None, None]:
        """Yield what comes of each piece: as it comes, or in the order of the pieces.

        Pieces are taken as they are needed. When a piece raises, or the caller ends, no other is begun; those under
        way are stopped, or waited for where the work has no way to be stopped.
        """


# The executor of one process: threads, since all waiting is on models.


_AHEAD = 256
"""Pieces that are begun, at the most, before the first of them is taken, where their order is kept."""


class Threads:
    """Does pieces in threads of this process."""

    places: int | None = None

    def results(
        self, job: Job[Piece, Outcome], pieces: Iterable[Piece], *, in_order: bool = False
    ) -> Generator[Outcome, None, None]:
        """Yield what comes of each piece; see `Executor.results`."""
        at_once = job.threads if job.limit is None else min(job.threads, job.limit)

        def work(piece: Piece) -> Outcome:
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
    pool: ThreadPoolExecutor, work: Callable[[Piece], Outcome], pieces: Iterable[Piece], most: int
) -> Generator[Outcome, None, None]:
    """Yield results as they come; few pieces wait to begin or to be taken, however many there are."""
    waiting: set[Future[Outcome]] = set()
    for piece in pieces:
        waiting.add(pool.submit(work, piece))
        if len(waiting) >= most:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    while waiting:
        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        yield from (future.result() for future in done)


def _ordered(
    pool: ThreadPoolExecutor, work: Callable[[Piece], Outcome], pieces: Iterable[Piece], most: int
) -> Generator[Outcome, None, None]:
    waiting: deque[Future[Outcome]] = deque()
    for piece in pieces:
        waiting.append(pool.submit(work, piece))
        while waiting and (len(waiting) >= most or waiting[0].done()):
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
