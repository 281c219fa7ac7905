"""The requests of a trajectory, exactly as they were sent: what a model is trained on, and what a person reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from orienteer.agents.dialect import DIALECTS
from orienteer.llm.conversation import elide, spoken
from orienteer.llm.replies import ChatRequest
from orienteer.llm.wire import body_of
from orienteer.records import Message, Trajectory


class SentRequest(NamedTuple):
    """One request as it was put to a model; `body` is what of it went to a server."""

    step: int
    """From 1."""
    chat: ChatRequest
    wants_tokens: bool = False
    streams: bool = False
    lacks: tuple[str, ...] = ()
    """Parameters that it was sent without."""
    is_refused: bool = False
    """The server refused it so; the next request is the same in another way."""

    def body(self) -> dict[str, Any]:  # Any: JSON
        """Return the body of the request, as a server of chat completions takes it."""
        return body_of(self.chat, lacks=frozenset(self.lacks), wants_tokens=self.wants_tokens, streams=self.streams)


def requests(trajectory: Trajectory) -> Iterator[SentRequest]:
    """Yield every request to the model, in order; none where no model took the steps, as in a fixed course's own."""
    if trajectory.model is None:
        return
    dialect = DIALECTS[trajectory.dialect]
    messages = list(trajectory.opening)
    for number, step in enumerate(trajectory.steps, 1):
        notices = [Message(role="user", content=step.notice)] if step.notice else []
        shown = elide([*messages, *notices], step.elided, trajectory.elision)
        sent = dialect.written(shown, trajectory.tools, trajectory.tools if step.offers_tools else ())
        schema = sent.schema if step.reply_schema is None else step.reply_schema
        chat = ChatRequest.of(trajectory.model, sent.messages, sent.tools, schema, trajectory.sampling)
        request = SentRequest(number, chat, step.reply.wanted_tokens, step.reply.streamed)
        for lacks in step.reply.refused:
            yield request._replace(lacks=lacks, is_refused=True)
        yield request._replace(lacks=step.reply.lacks)
        if step.error is None:
            seen = (Message(role="tool", content=seen.text, tool_call_id=seen.call_id) for seen in step.observations)
            messages += [*notices, *spoken(step.reply, has_tools=bool(trajectory.tools)), *seen]
