"""A model that plays a script by the names of prompts, and notes every request it was sent."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple, TypeAlias

from orienteer.errors import ModelError
from orienteer.llm import ScriptedModel, prompt_of
from orienteer.records import Dialect, Manner, Message, Sampling

PACKAGES = ("orienteer.reading", "orienteer.methods", "orienteer.retrieval")
AGENT = "agent"
"""The script of a conversation whose system prompt is made of the graph."""
CONVERSATIONS = (AGENT, "react", "reflexion")
"""What goes on for several turns; every other prompt is one request, and perhaps a repair."""
NO_OBJECT = "I cannot say that in JSON."

Said: TypeAlias = Message | str | Mapping[str, Any] | Sequence[tuple[str, Mapping[str, Any]]]  # Any: JSON
Line: TypeAlias = Said | Callable[[str], Said]
"""What is said, or a function of the prompt's user message."""
Script: TypeAlias = Mapping[str, Sequence[Line]]
"""By prompt, what is said turn by turn, or request by request; the last line is said again."""


class Sent(NamedTuple):
    """One request, each part as canonical JSON, so that equal text is equal to the byte."""

    messages: str
    tools: str
    schema: str
    sampling: str


class Recorder:
    """Notes what it is sent, and answers from its script. Safe among threads."""

    def __init__(
        self, script: Script, *, dialect: Dialect | None = None, is_faulty: bool = False, fails_at: int | None = None
    ) -> None:
        """`is_faulty` breaks the first reply to every request of an object; `fails_at` is a request, from 1."""
        self.name, self.price, self.manner = "recorder", None, Manner(dialect=dialect, why=f"it takes {dialect}")
        self.sent: list[Sent] = []
        self.prompts: Counter[str] = Counter()
        """How often each prompt was sent, the repairs too."""
        self._script, self._is_faulty, self._fails_at = script, is_faulty, fails_at
        self._came: Counter[str] = Counter()
        self._lock = threading.Lock()

    def chat(self, messages, *, tools=(), schema=None, sampling=None, seconds=None):
        """Return the script's reply. Raises `ModelError` at the request that is to fail."""
        sampling = sampling or Sampling()
        with self._lock:
            self.sent.append(sent(messages, tools, schema, sampling))
            number = len(self.sent)
        if number == self._fails_at:
            raise ModelError("the server is gone")
        line = self._line(messages, has_schema=schema is not None)
        return ScriptedModel(lambda *_: line, self.name).chat(messages, tools=tools, sampling=sampling)

    def _line(self, messages: Sequence[Message], *, has_schema: bool) -> Any:  # Any: what a ScriptedModel takes
        name = PROMPTS.get(messages[0].content or "", AGENT)
        with self._lock:
            self.prompts[name] += 1
        if has_schema and self._is_faulty and len(messages) == 2:
            return NO_OBJECT
        lines = self._script[name]
        line = lines[min(self._turn(name, messages), len(lines) - 1)]
        line = line(messages[1].content or "") if callable(line) else line
        return json.dumps(line, ensure_ascii=False) if isinstance(line, Mapping) else line

    def _turn(self, name: str, messages: Sequence[Message]) -> int:
        if name in CONVERSATIONS:
            return sum(message.role == "assistant" for message in messages)
        with self._lock:
            self._came[name] += 1
            return self._came[name] - 1


def sent(messages, tools, schema, sampling) -> Sent:
    """Return a request in canonical JSON."""
    return Sent(
        canonical([message.model_dump(mode="json") for message in messages]),
        canonical([tool.model_dump(mode="json") for tool in tools]),
        canonical(schema),
        canonical(sampling.model_dump(mode="json")),
    )


def canonical(value: object) -> str:
    """Return JSON whose text is equal where the values are."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _prompts() -> dict[str, str]:
    """Return the name of each prompt by its system message."""
    names = {
        (package, path.name.removesuffix(".md"))
        for package in PACKAGES
        for path in files(package).joinpath("prompts").iterdir()
        if path.name.endswith(".md")
    }
    return {prompt_of(name, package).system: name for package, name in sorted(names)}


PROMPTS = _prompts()
