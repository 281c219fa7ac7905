"""The requests of a trajectory, exactly as they were sent: what a model is trained on, and what a person reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from orienteer.agents.dialect import DIALECTS
from orienteer.llm.conversation import elide, spoken
from orienteer.llm.wire import Asked
from orienteer.llm.wire import request as body_of
from orienteer.records import Message, Sampling, ToolSpec, Trajectory


class Request(NamedTuple):
    """One request as it was put to `LanguageModel.chat`; `body` is what of it went to a server."""

    step: int
    """From 1."""
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    schema: dict[str, Any] | None  # Any: a JSON schema
    sampling: Sampling
    wants_tokens: bool = False
    lacks: tuple[str, ...] = ()
    """Parameters that it was sent without."""
    is_refused: bool = False
    """The server refused it so; the next request is the same in another way."""

    def body(self, model: str) -> dict[str, Any]:  # Any: JSON
        """Return the body of the request, as a server of chat completions takes it."""
        asked = Asked(self.messages, self.tools, self.schema, self.sampling, self.wants_tokens)
        return body_of(model, asked, lacks=frozenset(self.lacks))


def requests(trajectory: Trajectory) -> Iterator[Request]:
    """Yield every request to the model, in order; none where no model took the steps, as in a fixed course's own."""
    if trajectory.model is None:
        return
    dialect = DIALECTS[trajectory.dialect]
    messages = list(trajectory.opening)
    for number, step in enumerate(trajectory.steps, 1):
        told = [Message(role="user", content=step.notice)] if step.notice else []
        shown = elide([*messages, *told], step.elided, trajectory.elision)
        sent, tools = dialect.written(shown, trajectory.tools, trajectory.tools if step.offers_tools else ())
        request = Request(number, sent, tools, step.reply_schema, trajectory.sampling, step.reply.wanted_tokens)
        for lacks in step.reply.refused:
            yield request._replace(lacks=lacks, is_refused=True)
        yield request._replace(lacks=step.reply.lacks)
        if step.error is None:
            seen = (Message(role="tool", content=one.text, tool_call_id=one.call_id) for one in step.observations)
            messages += [*told, *spoken(step.reply, has_tools=bool(trajectory.tools)), *seen]
