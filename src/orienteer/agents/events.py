"""The events of a question as they happen: steps of agents, observations, hits, the answer, the end."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Literal, TypeAlias

from orienteer.errors import Error
from orienteer.records import Observed, Ranked, Record, Result, Step, ToolCall, Trajectory

News: TypeAlias = Step | Ranked | str | Trajectory
"""What a method tells its run while it works."""


class StepEvent(Record):
    """A turn of an agent. Its observations follow, an event each."""

    kind: Literal["step"] = "step"
    agent: int | None
    """Which agent it was, from 0; None for the call that answers."""
    step: Step


class ObservationEvent(Record):
    """The result of one call of the step before."""

    kind: Literal["observation"] = "observation"
    agent: int | None
    call: ToolCall
    observation: Observed


class HitEvent(Record):
    """One hit of the ranking, best first."""

    kind: Literal["hit"] = "hit"
    hit: Ranked


class NoteEvent(Record):
    """Something that a person should know while the method runs."""

    kind: Literal["note"] = "note"
    text: str


class AnswerEvent(Record):
    """The answer in words."""

    kind: Literal["answer"] = "answer"
    answer: str


class DoneEvent(Record):
    """The end, with the whole result."""

    kind: Literal["done"] = "done"
    result: Result


Event: TypeAlias = StepEvent | ObservationEvent | HitEvent | NoteEvent | AnswerEvent | DoneEvent


class Stream(Iterator[Event]):
    """The events of one question, which is worked on in a thread of its own.

    Closing the stream, or dropping the last reference to it, stops the work at its next call of a model. Errors of the
    work are raised where the stream is read.
    """

    def __init__(
        self,
        work: Callable[[Callable[[News], None]], Result],
        *,
        stop: Callable[[], None],
        begin: Callable[[int | None], Trajectory],
    ) -> None:
        """`begin` returns what an agent, or for None the call that answers, began with: a trajectory without steps."""
        self._begin = begin
        self._ear = _Ear()
        self._is_closed = False
        pool = ThreadPoolExecutor(1, thread_name_prefix="orienteer")
        self._future: Future[Result] = pool.submit(work, self._ear.hear)
        self._future.add_done_callback(self._ear.end)
        pool.shutdown(wait=False)
        self._stop = weakref.finalize(self, stop)

    def __next__(self) -> Event:
        event = None if self._is_closed else self._ear.events.get()
        if event is None:
            failure = None if self._is_closed else self._future.exception()
            self._is_closed = True
            if failure is not None:
                raise failure
            raise StopIteration
        return event

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening, and the work with it."""
        self._is_closed = True
        self._stop()
        self._ear.events.put(None)

    def interrupt(self, *, patience: float) -> tuple[Trajectory, ...]:
        """Close; return whole trajectories where the work ends within `patience` seconds, else the steps so far.

        An agent that waits for its model ends only once the model has answered.
        """
        self.close()
        try:
            return self._future.result(patience).trajectories
        except (TimeoutError, Error):  # a method that does not end in order when it is stopped
            return self._partial()

    def _partial(self) -> tuple[Trajectory, ...]:
        """Return the steps so far as a trajectory for each agent, by their numbers, the answering call last."""
        steps_by_agent = sorted(self._ear.steps.copy().items(), key=lambda item: (item[0] is None, item[0] or 0))
        return tuple(
            self._begun(agent).model_copy(update={"steps": tuple(steps), "stopped_by": "interrupted"})
            for agent, steps in steps_by_agent
        )

    def _begun(self, agent: int | None) -> Trajectory:
        """Return the trajectory that an agent began with: from its method, else as its course told it."""
        begun = self._begin(agent)
        return self._ear.begun if agent == 0 and begun.toolbox is None and self._ear.begun is not None else begun


class _Ear:
    """The working side of a stream: turns news into events. It holds no reference to the stream, which may be gone."""

    def __init__(self) -> None:
        self.events: SimpleQueue[Event | None] = SimpleQueue()
        self.steps: dict[int | None, list[Step]] = {}
        """By agent."""
        self.begun: Trajectory | None = None
        """The trajectory that the course of a method without agents began with."""

    def hear(self, news: News) -> None:
        if isinstance(news, str):
            self.events.put(NoteEvent(text=news))
        elif isinstance(news, Trajectory):
            self.begun = self.begun or news
        elif isinstance(news, Step):
            self.steps.setdefault(news.agent, []).append(news)
            self.events.put(StepEvent(agent=news.agent, step=news))
            calls = {call.id: call for call in news.reply.message.tool_calls}
            for seen in news.observations:
                if seen.call_id in calls:
                    self.events.put(ObservationEvent(agent=news.agent, call=calls[seen.call_id], observation=seen))

    def end(self, future: Future[Result]) -> None:
        if future.exception() is None:
            result = future.result()
            for hit in result.hits:
                self.events.put(HitEvent(hit=hit))
            if result.answer is not None:
                self.events.put(AnswerEvent(answer=result.answer))
            self.events.put(DoneEvent(result=result))
        self.events.put(None)
