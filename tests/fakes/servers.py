"""One small model behind servers of several kinds: each passes over something else that it is asked for.

The model itself does what it is told by whatever reaches it: with tools or a schema it calls them, in words too where
it is shown how; what a server ignores never reaches it.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from fakes.openai_server import Answer, FakeServer

Body: TypeAlias = dict[str, Any]
Call: TypeAlias = tuple[str, Mapping[str, Any]]
WEATHER: Sequence[Call] = (("weather", {"city": "Oslo"}), ("weather", {"city": "Rome"}))


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How a server differs from one that does all it is asked for."""

    name: str
    ignores: Sequence[str] = ()
    """Parameters that are taken and never heeded."""
    refuses: Mapping[str, str] = field(default_factory=dict)
    """Parameters that are answered with 400, and the words of the refusal."""
    fails_over: str | None = None
    """A parameter that is answered with 500."""
    spoils: Callable[[Answer], Answer] = lambda answer: answer
    """What becomes of each reply on its way out."""
    pages: Mapping[str, Any] = field(default_factory=dict)
    finds: Mapping[str, Any] = field(default_factory=dict)
    """What the probe is to find otherwise than of a sound server."""
    dialect: str | None = None
    """How its model is spoken to."""

    def serve(self, course: Sequence[Sequence[Call]] = ()) -> FakeServer:
        """Return the server, not yet started. The course is what its model does in a conversation, turn by turn."""

        def policy(body: Body, _before: int) -> Answer:
            if self.fails_over in body:
                return Answer(status=500, message=f"Internal error: {self.fails_over}")
            return self.spoils(said(body, course))

        return FakeServer(policy, refuses=self.refuses, ignores=self.ignores, pages=self.pages)


def said(body: Body, course: Sequence[Sequence[Call]]) -> Answer:
    """Return what the model says to what reached it."""
    messages = body["messages"]
    words = messages[-1]["content"]
    if body.get("grammar"):
        return Answer(content=json.dumps({"city": "Oslo"}))
    if "random digits" in words:
        return _digits(body)
    if messages[0]["role"] == "system" and course:
        turn = sum(message["role"] == "assistant" for message in messages)
        calls = course[min(turn, len(course) - 1)]
    else:
        calls = WEATHER if "twice" in words or body.get("tool_choice") or body.get("response_format") else ()
    if body.get("response_format"):
        return Answer(content=json.dumps({"name": calls[0][0], "arguments": calls[0][1]}))
    if body.get("tools"):
        return Answer(calls=calls) if calls else Answer(content="Hello!")
    if "<tool_call>" in messages[0]["content"]:  # it is told how calls are written
        marked = (json.dumps({"name": name, "arguments": arguments}) for name, arguments in calls)
        return Answer(content="\n".join(f"<tool_call>\n{call}\n</tool_call>" for call in marked))
    return Answer(content="I would look that up.")


def _digits(body: Body) -> Answer:
    """Return 60 digits, a token each, as many as the limit allows, the same for the same seed."""
    limit = body.get("max_tokens", body.get("max_completion_tokens", 60))
    written = min(60, limit)
    digits = random.Random(body.get("seed")).choices("0123456789", k=written)
    return Answer(
        content=" ".join(digits),
        finish_reason="length" if written == limit else "stop",
        usage={"prompt_tokens": 20, "completion_tokens": written},
        choice={
            "logprobs": {"content": [{"token": digit, "logprob": -2.3} for digit in digits]}
            if body.get("logprobs")
            else None,
            **({"token_ids": [ord(digit) for digit in digits]} if body.get("return_token_ids") else {}),
        },
    )


def _without_usage(answer: Answer) -> Answer:
    return replace(answer, usage=None)


def _always_stops(answer: Answer) -> Answer:
    return replace(answer, finish_reason="stop")


def _one_call(answer: Answer) -> Answer:
    return replace(answer, calls=answer.calls[:1])


def _thinks_aloud(answer: Answer) -> Answer:
    words = answer.content if answer.content and not re.match(r"\s*\{", answer.content) else None
    return answer if words is None else replace(answer, content=f"<think>\nHm.\n</think>\n{words}")


SOUND = Kind(name="sound")
FAULTY = (
    Kind(
        name="passes over tools",  # llama.cpp with a template that knows none
        ignores=("tools", "tool_choice", "return_token_ids"),
        pages={"/props": {"default_generation_settings": {"n_ctx": 4096}}},
        finds={
            **{"tools": "ignored", "required_tools": "ignored", "parallel_calls": "unknown"},
            **{"token_ids": "ignored", "context_tokens": 4096},
        },
        dialect="schema",
    ),
    Kind(
        name="passes over tools and schemas",
        ignores=("tools", "tool_choice", "response_format", "grammar"),
        finds={
            **{"tools": "ignored", "required_tools": "ignored", "parallel_calls": "unknown"},
            **{"json_schema": "ignored", "grammar": "ignored"},
        },
        dialect="qwen",
    ),
    Kind(
        name="refuses tools",  # Ollama, for a model whose template has none
        refuses={"tools": "this model does not support tools"},
        pages={"/api/ps": {"models": [{"name": "other"}, {"name": "fake", "context_length": 8192}]}},
        finds={
            **{"tools": "refused", "required_tools": "refused", "parallel_calls": "unknown"},
            "context_tokens": 8192,
        },
        dialect="schema",
    ),
    Kind(
        name="fails where a call is required",  # llama-cpp-python
        fails_over="tool_choice",
        finds={"required_tools": "refused"},
    ),
    Kind(
        name="makes one call at a time and passes over schemas",
        ignores=("response_format",),
        spoils=_one_call,
        finds={"parallel_calls": "ignored", "json_schema": "ignored"},
    ),
    Kind(
        name="tells neither usage nor log-probabilities",
        ignores=("logprobs", "return_token_ids"),
        spoils=_without_usage,
        finds={"usage": "ignored", "logprobs": "ignored", "token_ids": "ignored"},
    ),
    Kind(
        name="passes over limits and seeds",
        ignores=("max_tokens", "seed"),
        spoils=_always_stops,
        pages={"/v1/models": {"data": [{"id": "fake", "max_model_len": 32768}]}},
        finds={"length_limit": "ignored", "seed": "ignored", "context_tokens": 32768},
    ),
    Kind(
        name="refuses what is not OpenAI's",  # and what its reasoning models no longer take
        refuses={
            "return_token_ids": "Unrecognized request argument supplied: return_token_ids",
            "grammar": "Unrecognized request argument supplied: grammar",
            "logprobs": "You are not allowed to request logprobs from this model",
            "max_tokens": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            "seed": "'seed' is not supported",
            "temperature": "Unsupported value: 'temperature' does not support 0.0 with this model",
        },
        spoils=_thinks_aloud,
        finds={
            **{"logprobs": "refused", "token_ids": "refused", "seed": "refused", "grammar": "refused"},
            "lacks": ("logprobs", "max_tokens", "return_token_ids", "seed", "temperature"),
        },
    ),
)
"""Eight kinds, each with another fault, and what the probe is to find of each."""
