"""The events of a question as they happen: steps of agents, observations, hits, the answer, the end."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, ClassVar, Literal, TypeAlias

from orienteer.errors import Error
from orienteer.protocols import News
from orienteer.records import AnswerPart, Observed, Ranked, Record, Result, Step, ToolCall, Trajectory


class _Event(Record):
    """Base of the events."""

    omitted: ClassVar[dict[str, Any]] = {}  # Any: nested names of fields
    """Fields that other events of the question have, or nobody reads: they are not sent."""

    def wire(self, *, has_trajectories: bool = False) -> str:
        """Return the event as JSON for sending: each thing of a question goes over the wire once.

        With `has_trajectories` the end has the trajectories too, whole.
        """
        return self.model_dump_json(exclude=self.omitted)


class StepEvent(_Event):
    """A turn of an agent. Its observations follow, an event each."""

    omitted = {"step": {"observations": True, "reply": {"raw"}}}

    kind: Literal["step"] = "step"
    agent: int | None
    """Which agent it was, from 0; None for the call that answers."""
    step: Step


class ObservationEvent(_Event):
    """The result of one call of the step before."""

    kind: Literal["observation"] = "observation"
    agent: int | None
    call: ToolCall
    observation: Observed


class HitEvent(_Event):
    """One hit of the ranking, best first."""

    kind: Literal["hit"] = "hit"
    hit: Ranked


class NoteEvent(_Event):
    """Something that a person should know while the method runs."""

    kind: Literal["note"] = "note"
    text: str


class AnswerPartEvent(_Event):
    """Some words of the answer as the model writes them, for who listens with `hears_parts`.

    They are words of the result: what the model says before its answer, which becomes `long_answer`, a blank line, and
    the answer, with ids where the model wrote labels. The answer follows whole, as it was read.
    """

    kind: Literal["answer_part"] = "answer_part"
    text: str


class AnswerEvent(_Event):
    """The answer in words."""

    kind: Literal["answer"] = "answer"
    answer: str


class DoneEvent(_Event):
    """The end, with the whole result; over the wire without the hits and trajectories, which were sent before."""

    omitted = {"result": {"hits", "trajectories"}}

    kind: Literal["done"] = "done"
    result: Result

    def wire(self, *, has_trajectories: bool = False) -> str:
        """Return the event as JSON."""
        return self.model_dump_json(exclude={"result": {"hits"}} if has_trajectories else self.omitted)


Event: TypeAlias = StepEvent | ObservationEvent | HitEvent | NoteEvent | AnswerPartEvent | AnswerEvent | DoneEvent


class RunningQuestion:
    """A question that runs in a thread of its own; the listener is called for each event, one at a time.

    `future` is its result, or what it raised, once every event was told. No thread waits beside the one that works.
    """

    def __init__(
        self,
        work: Callable[[Callable[[News], None]], Result],
        *,
        listen: Callable[[Event], None],
        stop: Callable[[], None],
        begin: Callable[[int | None], Trajectory],
    ) -> None:
        """`begin` returns what an agent, or for None the call that answers, began with: a trajectory without steps."""
        self._begin, self._stop = begin, stop
        self._builder = _EventBuilder(listen)
        pool = ThreadPoolExecutor(1, thread_name_prefix="orienteer")
        builder = self._builder  # no reference to the question in its thread

        def run() -> Result:
            result = work(builder.on_news)
            builder.end(result)
            return result

        self.future: Future[Result] = pool.submit(run)
        pool.shutdown(wait=False)

    def close(self) -> None:
        """Stop the work at its next call of a model; no further event is reported."""
        self._builder.is_closed = True
        self._stop()

    def interrupt(self, *, patience: float) -> tuple[Trajectory, ...]:
        """Close; return whole trajectories if the work ends within `patience` seconds, else the steps so far.

        An agent that waits for its model ends only once the model has answered.
        """
        self.close()
        try:
            return self.future.result(patience).trajectories
        except (TimeoutError, Error):  # a method that does not end in order when it is stopped
            pass
        # The steps so far are a trajectory for each agent, by their numbers, the answering call last.
        partial = []
        reported = self._builder.begun
        steps_by_agent = sorted(self._builder.steps.copy().items(), key=lambda item: (item[0] is None, item[0] or 0))
        for agent, steps in steps_by_agent:
            begun = self._begin(agent)
            # What its method does not know, the course itself has reported.
            begun = reported if agent == 0 and begun.toolbox is None and reported is not None else begun
            partial.append(begun.model_copy(update={"steps": tuple(steps), "stopped_by": "interrupted"}))
        return tuple(partial)


class Stream(Iterator[Event]):
    """The events of one question, which runs in a thread of its own, to be read one by one.

    Closing the stream, or dropping the last reference to it, stops the work at its next call of a model. Errors of the
    work are raised where the stream is read.
    """

    def __init__(self, start: Callable[[Callable[[Event], None]], RunningQuestion]) -> None:
        """`start` begins the question with a listener."""
        self._events: SimpleQueue[Event | None] = SimpleQueue()
        self._is_closed = False
        events = self._events  # no reference to the stream, which may be gone
        self._running = start(events.put)
        self._running.future.add_done_callback(lambda _: events.put(None))
        self._stop = weakref.finalize(self, self._running.close)

    def __next__(self) -> Event:
        event = None if self._is_closed else self._events.get()
        if event is None:
            failure = None if self._is_closed else self._running.future.exception()
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
        self._events.put(None)

    def interrupt(self, *, patience: float) -> tuple[Trajectory, ...]:
        """Close; return what `RunningQuestion.interrupt` does."""
        self.close()
        return self._running.interrupt(patience=patience)


class _EventBuilder:
    """Converts the news of the work into events."""

    def __init__(self, listen: Callable[[Event], None]) -> None:
        self._listen = listen
        self.is_closed = False
        self.steps: dict[int | None, list[Step]] = {}
        """By agent."""
        self.begun: Trajectory | None = None
        """The trajectory that the course of a method without agents began with."""
        self._hits: list[Ranked] = []
        """Those that were sent before the end."""

    def on_news(self, news: News) -> None:
        if isinstance(news, str):
            self._tell(NoteEvent(text=news))
        elif isinstance(news, AnswerPart):
            self._tell(AnswerPartEvent(text=news.text))
        elif isinstance(news, Ranked):
            self._hits.append(news)
            self._tell(HitEvent(hit=news))
        elif isinstance(news, Trajectory):
            self.begun = self.begun or news
        elif isinstance(news, Step):
            self.steps.setdefault(news.agent, []).append(news)
            self._tell(StepEvent(agent=news.agent, step=news))
            calls = {call.id: call for call in news.reply.message.tool_calls}
            for seen in news.observations:
                if seen.call_id in calls:
                    self._tell(ObservationEvent(agent=news.agent, call=calls[seen.call_id], observation=seen))

    def end(self, result: Result) -> None:
        assert not self._hits or result.hits == tuple(self._hits)  # they are told once the ranking is settled
        for hit in result.hits[len(self._hits) :]:
            self._tell(HitEvent(hit=hit))
        if result.answer is not None:
            self._tell(AnswerEvent(answer=result.answer))
        self._tell(DoneEvent(result=result))

    def _tell(self, event: Event) -> None:
        if not self.is_closed:
            self._listen(event)
