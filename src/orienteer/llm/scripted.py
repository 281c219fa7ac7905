"""A model whose answers are a function of the conversation: for tests, ours and yours."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from orienteer.records import JsonValue, Message, Price, Reply, Sampling, ToolCall, ToolSpec, Usage

Said: TypeAlias = Message | str | Sequence[tuple[str, Mapping[str, JsonValue]]]
"""A message, its text, or its tool calls as pairs of name and arguments."""
Policy: TypeAlias = Callable[[Sequence[Message], Sequence[ToolSpec], Sampling], Said]


class ScriptedModel:
    """Answers with what its policy makes of the conversation. It keeps no state, so parallel agents cannot race."""

    def __init__(
        self, policy: Policy, name: str = "scripted", *, usage: Usage | None = None, price: Price | None = None
    ) -> None:
        self._policy, self._name, self._price = policy, name, price
        self._usage = usage if usage is not None else Usage(calls=1)

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    @property
    def price(self) -> Price | None:
        """The price it was given, for tests of budgets of money; None where it was given none."""
        return self._price

    def chat(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        schema: Mapping[str, JsonValue] | None = None,
        sampling: Sampling | None = None,
        seconds: float | None = None,
    ) -> Reply:
        """Return what the policy says; the schema is for the policy to know."""
        move = self._policy(messages, tools, sampling if sampling is not None else Sampling())
        return Reply(message=_message(move, turn=len(messages)), usage=self._usage)


def _message(said: Said, *, turn: int) -> Message:
    if isinstance(said, Message):
        return said
    if isinstance(said, str):
        return Message(role="assistant", content=said)
    calls = tuple(
        ToolCall(id=f"call_{turn}_{place}", name=name, arguments=json.dumps(dict(arguments), ensure_ascii=False))
        for place, (name, arguments) in enumerate(said)
    )
    return Message(role="assistant", tool_calls=calls)
