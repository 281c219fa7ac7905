"""The replies of a model to the questions in flight: written down before they are used, so that none is paid twice.

One file holds the replies to one question under one method, and is removed when the result is written. A question that
a kill has cut off begins anew and finds its replies there, as long as it asks what it asked before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock

from orienteer.errors import BudgetExhausted
from orienteer.files import read_lines
from orienteer.lab.evaluation.running.journal import Pair
from orienteer.lab.evaluation.running.runs import REPLIES
from orienteer.llm.replies import ChatRequest, ReplyStore
from orienteer.protocols import LanguageModel, manner_of
from orienteer.records import JsonValue, Manner, Message, Price, Reply, Sampling, ToolSpec, Usage


class ReplyFolder:
    """The folder of a run that holds the files."""

    def __init__(self, run: Path) -> None:
        self._folder = run / REPLIES

    def file(self, pair: Pair) -> Path:
        """Return where the replies to a question are; an id may hold what no file's name may."""
        digest = hashlib.sha256(json.dumps(pair).encode()).hexdigest()
        return self._folder / f"{digest[:32]}.jsonl"

    def count(self, pairs: Sequence[Pair]) -> int:
        """Count the replies that are there for these questions."""
        if not self._folder.exists():
            return 0
        return sum(1 for pair in pairs for _ in read_lines(self.file(pair)))

    def prepare(self) -> None:
        """Make the folder."""
        self._folder.mkdir(exist_ok=True)

    def forget(self, pair: Pair) -> None:
        """Remove the replies to a question that has its result."""
        self.file(pair).unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove the folder, where no question needs it any more."""
        with suppress(OSError):
            self._folder.rmdir()


class ResumableModel:
    """A model that answers from the stored replies to a question, and stores every new one. Safe among threads.

    It serves one question at a time, which `begin` names; all threads that this question starts may use it.
    """

    def __init__(self, model: LanguageModel, *, stopping: Event) -> None:
        """Once `stopping` is set, nothing more is asked: `BudgetExhausted`."""
        self._model, self._stopping = model, stopping
        self._replies: ReplyStore | None = None
        self._lock = Lock()
        self.served = frozenset[str]()
        """What the server's replies to the question in hand call the model."""
        self.spent = Usage()
        """What the question in hand has taken, the stored replies included."""

    @property
    def name(self) -> str:
        """The model as its server spells it."""
        return self._model.name

    @property
    def price(self) -> Price | None:
        """What the model costs, None where that is not known."""
        return self._model.price

    @property
    def manner(self) -> Manner:
        """How the model is spoken to."""
        return manner_of(self._model)

    def begin(self, replies: ReplyStore) -> None:
        """Take up a question whose replies are kept here."""
        self._replies, self.spent, self.served = replies, Usage(), frozenset()

    def chat(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        schema: Mapping[str, JsonValue] | None = None,
        sampling: Sampling | None = None,
        seconds: float | None = None,
    ) -> Reply:
        """Return the stored reply to this very request, else the model's, once it is on disk."""
        assert self._replies is not None  # whoever asks has begun a question
        if self._stopping.is_set():
            raise BudgetExhausted("interrupted", "stopped by whoever asked")
        replies, key = self._replies, ChatRequest.of(self.name, messages, tools, schema, sampling).key
        ordinal = replies.count(key)
        reply = replies.get(key, ordinal)
        if reply is None:
            reply = self._model.chat(messages, tools=tools, schema=schema, sampling=sampling, seconds=seconds)
            replies.add(key, reply, ordinal=ordinal)
        with self._lock:
            self.spent += reply.usage
            if reply.model is not None:
                self.served |= {reply.model}
        return reply
