"""Parts of a course side by side, each as soon as what it waits for is done; their record is in their own order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, NamedTuple, TypeVar

from orienteer.agents.workflow import Workflow

T = TypeVar("T")


class Task(NamedTuple, Generic[T]):
    """A part of a course, and the parts before it that it waits for."""

    work: Callable[[Workflow, Sequence[T]], T]
    """Takes its own fork of the course and what those that it waits for gave."""
    after: tuple[int, ...] = ()
    """Places of earlier tasks."""


def side_by_side(flow: Workflow, tasks: Sequence[Task[T]]) -> list[T]:
    """Return what each task gave, in order. Raises the first task's error once all have ended."""
    if not tasks:
        return []
    forks = [flow.fork() for _ in tasks]
    futures: list[Future[T]] = []
    # A thread each: one that waits takes no time from others, and what it waits for was begun before it.
    with ThreadPoolExecutor(len(tasks), thread_name_prefix="graphsearch") as pool:
        for task, fork in zip(tasks, forks, strict=True):
            futures.append(pool.submit(_done, task, fork, [futures[place] for place in task.after]))
    for fork in forks:
        flow.join(fork)
    return [future.result() for future in futures]


def _done(task: Task[T], fork: Workflow, before: Sequence[Future[T]]) -> T:
    return task.work(fork, [one.result() for one in before])
