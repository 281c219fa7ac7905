"""The state that the routes of one server share."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Receive

from orienteer.errors import Refused
from orienteer.methods.table import AUTO, METHODS
from orienteer.patience import Patience, check_patience, within
from orienteer.records import Result
from orienteer.serve.door import RUNNING, WAITING, served_methods
from orienteer.serve.graphs import Answering, ServedGraphs
from orienteer.serve.views.outside import json_outside

if TYPE_CHECKING:
    from orienteer.records import Usage


# Feedback on answers, stored as questions for `orienteer eval`: a line each.


MOST_BYTES = 64_000_000
"""Of the file: a stranger with a key cannot fill the disk."""


class FeedbackFile:
    """A file of questions that grows by a line for each thumb. Safe to share among threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writing = threading.Lock()

    def add(self, graph: str, question: str, nodes: Sequence[str], *, is_good: bool) -> None:
        """Append a question with its hits as gold, or as rejected. Raises `Refused` if the file is full."""
        gold, rejected = (nodes, ()) if is_good else ((), nodes)
        row = {"question": question, "nodes": list(gold), "graph": graph, "is_good": is_good}
        line = json.dumps({**row, **({"rejected": list(rejected)} if rejected else {})}, ensure_ascii=False)
        with self._writing:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                if os.fstat(descriptor).st_size > MOST_BYTES:
                    raise Refused(503, "the file of feedback is full", headers={"retry-after": "3600"})
                os.write(descriptor, f"{line}\n".encode())
            finally:
                os.close(descriptor)


# Work that ends when its client leaves.


_T = TypeVar("_T")
_PROMPT_SECONDS = 0.05


async def left(receive: Receive) -> None:
    """Return once the client has left. The body of its request must have been read before."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def while_there(receive: Receive, work: Awaitable[_T]) -> _T:
    """Return the result of some work. If the client leaves first, cancel it and raise `Refused` with 499."""
    tasks: list[asyncio.Future[Any]] = [working := asyncio.ensure_future(work)]  # Any: nothing comes of the other one
    try:
        # Most work is short, and its client stays.
        await asyncio.wait(tasks, timeout=_PROMPT_SECONDS)
        if not working.done():
            tasks.append(asyncio.create_task(left(receive)))
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise Refused(499, "the client has left")
    finally:
        for task in tasks:
            task.cancel()
        if not working.done() or len(tasks) > 1:
            await asyncio.gather(*tasks, return_exceptions=True)


# Counters for Prometheus: requests by their route's template, questions, tokens, reloads; never a name.


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)  # seconds


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter("orienteer_requests", "Requests", ["route", "status"], registry=self._registry)
        self._seconds = Histogram(
            "orienteer_request_seconds", "Seconds of a request", ["route"], registry=self._registry, buckets=_BUCKETS
        )
        self._tokens = Counter("orienteer_model_tokens", "Tokens of the model", ["kind"], registry=self._registry)
        self._calls = Counter("orienteer_model_calls", "Calls of the model", registry=self._registry)
        self._reloads = Counter("orienteer_reloads", "New generations of graphs taken", registry=self._registry)

    def watch(self, slots: Slots) -> None:
        """Add gauges of the slots of questions."""
        for name, about, count in (
            ("orienteer_questions_running", "Questions that run", lambda: slots.running),
            ("orienteer_questions_waiting", "Questions in line", lambda: slots.waiting),
            (
                "orienteer_questions_turned_away",
                "Questions turned away, for the line was full",
                lambda: slots.turned_away,
            ),
        ):
            Gauge(name, about, registry=self._registry).set_function(count)

    def count_request(self, route: str, status: int, seconds: float) -> None:
        """Count a request that has ended."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def count_usage(self, usage: Usage) -> None:
        """Count the usage of a question."""
        self._calls.inc(usage.calls)
        self._tokens.labels("prompt").inc(usage.prompt_tokens)
        self._tokens.labels("completion").inc(usage.completion_tokens)

    def count_reload(self) -> None:
        """Count a new generation of a graph."""
        self._reloads.inc()

    def text(self) -> bytes:
        """Return all counters in the format of Prometheus."""
        return generate_latest(self._registry)


# A limited number of questions run at once, and a limited number wait in line. More are refused at once, with the time
# to come again.


PATIENCE = 30.0
"""Seconds in line."""
# Seconds of a question, before any has ended.
_FIRST_GUESS = 2.0
_WEIGHT = 0.2  # of the last question in the moving mean


class Slots:
    """The slots of questions. Belongs to one event loop."""

    def __init__(self, running: int = RUNNING, waiting: int = WAITING) -> None:
        self.most_running, self._most_waiting = running, waiting
        self._free = asyncio.Semaphore(running)
        self.waiting = 0
        self.running = 0
        self.turned_away = 0
        self._mean = _FIRST_GUESS

    async def take(self) -> Slot:
        """Wait for a slot. Raises `Refused` (503) if the queue is full."""
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

    def _full(self) -> Refused:
        self.turned_away += 1
        seconds = max(1, round(self._mean * (1 + self.waiting / self.most_running)))
        message = f"{self.most_running} questions run and {self._most_waiting} wait: come again in {seconds} s"
        return Refused(503, message, headers={"retry-after": str(seconds)})


class Slot:
    """One slot, given back once."""

    def __init__(self, slots: Slots) -> None:
        self._slots: Slots | None = slots
        self._began = time.monotonic()

    def free(self) -> None:
        """Give the slot back; a second time does nothing."""
        slots, self._slots = self._slots, None
        if slots is not None:
            slots.running -= 1
            slots._mean += _WEIGHT * ((time.monotonic() - self._began) - slots._mean)
            slots._free.release()


LOOK_UP_THREADS = 2
"""One interpreter lock: two threads are as fast as forty, and kinder to the slowest request."""
LOOK_UP_SECONDS = 10.0
"""Of a look-up, including its time in line."""
_GRACE = 1.0  # seconds in which a look-up that checks its time reports the end itself


@dataclass(slots=True)
class Site:
    """The graphs, the model, the rules, and the slots and threads that requests share."""

    answering: Answering
    graphs: ServedGraphs = field(default_factory=ServedGraphs)
    metrics: Metrics = field(default_factory=Metrics)
    methods: Collection[str] = field(default_factory=served_methods)
    has_mcp: bool = False
    """Whether agents find tools at `/mcp`."""
    lists_methods: bool = False
    """Whether `/v1/models` also has each graph with each method."""
    has_metrics: bool = True
    logs_questions: bool = False
    """Whether the log has questions and searches."""
    feedback: FeedbackFile | None = None
    slots: Slots = field(default_factory=Slots)
    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(LOOK_UP_THREADS, "look-up"))
    large_pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "large look-up"))
    """A thread for large look-ups, of many nodes or paths between them: the others do not wait for them."""
    page_pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "page picture"))
    """A thread for pictures of pages, which wait for another process."""
    question_pool: ThreadPoolExecutor = field(init=False)
    """Threads for work that holds a slot."""

    def __post_init__(self) -> None:
        self.question_pool = ThreadPoolExecutor(self.slots.most_running, "question")

    @property
    def offered(self) -> tuple[str, ...]:
        """The methods that can answer here: those that need a model only if there is one."""
        has_model = self.answering.model is not None
        return tuple(name for name in self.methods if name == AUTO or has_model or not METHODS[name].needs_model)

    async def look_up(
        self, function: Callable[[], _T], *, receive: Receive | None = None, is_large: bool = False
    ) -> _T:
        """Return the result of a short function, run in one of the threads of look-ups.

        The function ends at its next check of patience after its client (`receive`) has left, or after
        `LOOK_UP_SECONDS`, which raises `BudgetExhausted`.
        """
        patience = Patience(LOOK_UP_SECONDS)

        def work() -> _T:
            with within(patience):
                check_patience()
                return function()

        pool = self.large_pool if is_large else self.pool
        working = asyncio.get_running_loop().run_in_executor(pool, work)
        try:
            async with asyncio.timeout(LOOK_UP_SECONDS + _GRACE):
                return await (working if receive is None else while_there(receive, working))
        except TimeoutError:
            raise patience.over() from None
        finally:
            patience.give_up()

    async def in_a_slot(self, function: Callable[[], _T]) -> _T:
        """Wait for a slot, and return the result of a long function. Raises `Refused` (503) for a full queue."""
        slot = await self.slots.take()
        running = asyncio.ensure_future(self.in_question_thread(function))

        def end(ended: asyncio.Future[_T]) -> None:
            slot.free()
            if not ended.cancelled():
                # Nobody may be waiting for the error.
                ended.exception()

        # The slot is kept until the function has ended, even if its client has left.
        running.add_done_callback(end)
        return await asyncio.shield(running)

    async def in_question_thread(self, function: Callable[[], _T]) -> _T:
        """Return the result of a long function; the caller holds a slot."""
        return await asyncio.get_running_loop().run_in_executor(self.question_pool, function)


def json_of(record: BaseModel, paths: Sequence[Path], *, has_trajectories: bool = False) -> Response:
    """Return a record as JSON without our paths; a result without its trajectories, unless requested."""
    left_out = ("trajectories",) if isinstance(record, Result) and not has_trajectories else ()
    return Response(json_outside(record, paths, exclude=left_out), media_type="application/json")
