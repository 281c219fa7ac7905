"""Runs many independent tasks at once: `Threads` in this process, `connect.cluster` on the nodes of a Ray cluster.

A caller describes its tasks as a `Job` and takes the results; it does not know where they are computed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from orienteer.llm.replies import ReplyStore
from orienteer.protocols import Embedder, LanguageModel

Piece = TypeVar("Piece")
Outcome = TypeVar("Outcome")
"""The result of a piece."""


class Opener(Protocol):
    """Opens models and embedders by their names, with the keys of its machine."""

    def open_model(self, name: str | None = None) -> LanguageModel:
        """Return the model of this name."""

    def open_embedder(self, name: str, *, threads: int = 1) -> Embedder:
        """Return the embedder of this name."""


@dataclass(frozen=True, slots=True)
class Place:
    """The environment of a job in a process other than the caller's."""

    opener: Opener
    open_replies: Callable[[Path], ReplyStore]
    """Opens the replies in a file on the caller's machine."""
    at_once: int
    """Pieces at once in this process, at most."""
    processes: int
    """Processes that run the job, at most; each has its share of a limit over all."""


@dataclass(frozen=True, slots=True)
class Worker(Generic[Piece, Outcome]):
    """Runs pieces, several at once."""

    do: Callable[[Piece], Outcome]
    stop: Callable[[], None] | None = None
    """Makes running pieces end soon; None if they must be waited for."""


class Recipe(Protocol[Piece, Outcome]):
    """Opens a worker in another process. It is pickled: it has paths, names and options, but no keys or arrays."""

    def open(self, place: Place) -> Worker[Piece, Outcome]:
        """Return the worker of this process. Raises `Error` if something is missing here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Generic[Piece, Outcome]):
    """Work in pieces that can each run alone, in any order, and again if the result was lost."""

    name: str
    here: Worker[Piece, Outcome]
    recipe: Recipe[Piece, Outcome]
    threads: int
    """Pieces at once in one process."""
    limit: int | None = None
    """Pieces at once over all processes; None if each process has only its own limit."""
    waits: bool = True
    """Whether a piece waits, as for a model. Others, one at a time, run in the caller's thread, so that no other thread
    takes part in their time."""
    keep: Callable[[Outcome], None] | None = None
    """Called with the result of each piece, in the caller's process, as soon as it is there, even if another piece has
    failed or the caller was interrupted. Several threads may call it at once."""


class Executor(Protocol):
    """Runs the pieces of a job, many at once."""

    places: int | None
    """Pieces that may wait for a model at once; None if the job decides."""

    def results(
        self, job: Job[Piece, Outcome], pieces: Iterable[Piece], *, in_order: bool = False
    ) -> Generator[Outcome, None, None]:
        """Yield each piece's result, as completed or in the order of the pieces.

        Pieces are taken at need. When a piece raises, or the caller ends, no other is started; running ones are
        stopped, or waited for if the worker cannot stop them.
        """


_AHEAD = 256  # pieces that are started, at most, before the first result is taken, if results are in order


class Threads:
    """Runs pieces in threads of this process, since all waiting is on models."""

    places: int | None = None

    def results(
        self, job: Job[Piece, Outcome], pieces: Iterable[Piece], *, in_order: bool = False
    ) -> Generator[Outcome, None, None]:
        """Yield each piece's result; see `Executor.results`."""
        at_once = job.threads if job.limit is None else min(job.threads, job.limit)

        def work(piece: Piece) -> Outcome:
            outcome = job.here.do(piece)
            if job.keep is not None:
                job.keep(outcome)
            return outcome

        if at_once == 1 and not job.waits:
            yield from map(work, pieces)
            return
        pool = ThreadPoolExecutor(at_once, thread_name_prefix=job.name)
        waiting: deque[Future[Outcome]] = deque()  # few pieces, however many there are
        most = max(_AHEAD, 2 * at_once) if in_order else 2 * at_once
        try:
            for piece in pieces:
                waiting.append(pool.submit(work, piece))
                yield from _completed(waiting, most - 1, in_order=in_order)
            yield from _completed(waiting, 0, in_order=in_order)
        except BaseException:  # an interrupt, a full disk, our own mistake
            if job.here.stop is not None:
                job.here.stop()
            raise
        finally:
            pool.shutdown(wait=job.here.stop is None, cancel_futures=True)


def _completed(waiting: deque[Future[Outcome]], most: int, *, in_order: bool) -> Iterator[Outcome]:
    """Yield results, and drop their pieces, until at most `most` wait; in order, also the next ones that are done."""
    while waiting and (len(waiting) > most or (in_order and waiting[0].done())):
        if in_order:
            yield waiting.popleft().result()
            continue
        done, rest = wait(waiting, return_when=FIRST_COMPLETED)
        waiting.clear()
        waiting.extend(rest)
        yield from (future.result() for future in done)
