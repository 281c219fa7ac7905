"""One question of a chat: told step by step, and stopped by Ctrl-C."""

from __future__ import annotations

from collections.abc import Sequence
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from orienteer.agents.events import Event, RunningQuestion
from orienteer.serve.chat.screen import Screen
from orienteer.serve.cli.answering import retries_shown, show_event
from orienteer.serve.heard_words import HeardWords

if TYPE_CHECKING:
    from orienteer.records import Result
    from orienteer.retriever import Retriever


class Answered(NamedTuple):
    """A question that was answered."""

    result: Result
    steps: tuple[Event, ...]
    """What was told on the way: steps, observations and notes."""
    heard: HeardWords
    """The words of the answer that were printed while the model wrote them."""


class Asking:
    """Asks questions one after another. Those that were stopped may still wait for a last reply of a model."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._stopped: list[RunningQuestion] = []

    @property
    def is_waiting(self) -> bool:
        """Say whether a question that was stopped still waits for a model."""
        return any(not running.future.done() for running in self._stopped)

    def ask(self, retriever: Retriever, question: str, k: int, node_types: Sequence[str]) -> Answered:
        """Return what a question gives; its steps are shown as they happen where a model takes them.

        At a terminal the words of the answer are printed as they come, where the model's server streams.

        Raises as `Retriever.ask` does, and `KeyboardInterrupt` once the question is stopped: no further call is made.
        """
        told: SimpleQueue[Event | None] = SimpleQueue()
        steps: list[Event] = []
        heard = HeardWords()
        with retries_shown(self._screen), self._screen.waiting("looking") as waiting:
            running = retriever.start(
                question, k, listen=told.put, node_types=node_types, hears_parts=self._screen.has_terminal
            )
            running.future.add_done_callback(lambda _: told.put(None))
            try:
                while (event := told.get()) is not None:
                    if event.kind in ("step", "observation", "note"):
                        steps.append(event)
                        self._show(event, has_agents=retriever.method.needs_model)
                        waiting.tell("looking")
                    elif event.kind == "hit" and retriever.model is not None and not heard:  # it reads them now
                        waiting.tell("writing the answer")
                    elif event.kind == "answer_part":
                        waiting.end()
                        heard.hear(event.text)
                        self._screen.words(event.text)
            except KeyboardInterrupt:
                running.close()
                self._stopped.append(running)
                raise
        return Answered(running.future.result(), tuple(steps), heard)

    def _show(self, event: Event, *, has_agents: bool) -> None:
        if self._screen.verbosity or has_agents or event.kind == "note":
            show_event(self._screen, event, has_agents=has_agents, is_whole=bool(self._screen.verbosity))
