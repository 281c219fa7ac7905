"""What the routes of one server share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Receive

from orienteer.methods.table import AUTO, METHODS
from orienteer.patience import Patience, check_patience, within
from orienteer.records import Result
from orienteer.serve.door import served_methods
from orienteer.serve.graphs import Answering, ServedGraphs
from orienteer.serve.http.feedback import FeedbackFile
from orienteer.serve.http.leaving import while_there
from orienteer.serve.http.metrics import Metrics
from orienteer.serve.http.slots import Slots
from orienteer.serve.views.outside import for_outside

LOOK_UP_THREADS = 2
"""One interpreter lock: two threads are as fast as forty, and kinder to the slowest request."""
LOOK_UP_SECONDS = 10.0
"""Of a look-up, its time in line among them."""
_GRACE = 1.0  # seconds in which a look-up that looks at its time says itself that it is over
_T = TypeVar("_T")


@dataclass(slots=True)
class Site:
    """The graphs, what answers, what is allowed, and the places and threads that requests share."""

    answering: Answering
    graphs: ServedGraphs = field(default_factory=ServedGraphs)
    metrics: Metrics = field(default_factory=Metrics)
    methods: Collection[str] = field(default_factory=served_methods)
    has_cypher: bool = False
    has_mcp: bool = False
    """Whether agents find tools at `/mcp`."""
    lists_methods: bool = False
    """Whether `/v1/models` also has each graph with each method."""
    has_metrics: bool = True
    logs_questions: bool = False
    """Whether the log has what was asked."""
    feedback: FeedbackFile | None = None
    slots: Slots = field(default_factory=Slots)
    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(LOOK_UP_THREADS, "look-up"))
    large_pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "large look-up"))
    """A thread for look-ups that may be large, of many nodes or ways between them: the others do not wait for them."""
    question_pool: ThreadPoolExecutor = field(init=False)
    """Threads for what holds a slot."""

    def __post_init__(self) -> None:
        self.question_pool = ThreadPoolExecutor(self.slots.most_running, "question")

    @property
    def offered(self) -> tuple[str, ...]:
        """The methods that can answer here: those that need a model only where there is one."""
        has_model = self.answering.model is not None
        return tuple(name for name in self.methods if name == AUTO or has_model or not METHODS[name].needs_model)

    async def look_up(
        self, function: Callable[[], _T], *, receive: Receive | None = None, is_large: bool = False
    ) -> _T:
        """Return what a short function gives, in one of the threads of look-ups.

        It ends where it looks at its patience, once its client, of whom `receive` tells, has left, or after
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

    async def in_a_place(self, function: Callable[[], _T]) -> _T:
        """Take a place, perhaps after waiting in line, and return what a function gives that may take long.

        The place is kept until the function has ended, also where whoever waits for it has left. Raises `Refused` with
        503 where the line is full.
        """
        slot = await self.slots.take()
        running = asyncio.ensure_future(self.beside(function))

        def end(ended: asyncio.Future[_T]) -> None:
            slot.free()
            if not ended.cancelled():
                ended.exception()  # nobody may be there to hear of it

        running.add_done_callback(end)
        return await asyncio.shield(running)

    async def beside(self, function: Callable[[], _T]) -> _T:
        """Return what a function gives that may take long; whoever calls holds a slot."""
        return await asyncio.get_running_loop().run_in_executor(self.question_pool, function)


def json_of(record: BaseModel, paths: Sequence[Path], *, has_trajectories: bool = False) -> Response:
    """Return a record as it may leave this machine; a result without its trajectories, unless they are asked for."""
    left_out = {"trajectories"} if isinstance(record, Result) and not has_trajectories else None
    return Response(for_outside(record, paths).model_dump_json(exclude=left_out), media_type="application/json")
