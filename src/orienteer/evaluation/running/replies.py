"""The replies of a model to the questions in flight: written down before they are used, so that none is paid twice.

One file holds the replies to one question under one method. It goes when the result is written; a question that a kill
has cut off begins anew and finds its replies there, each by the whole request that it answers, for as long as it asks
what it asked before.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock

from pydantic import ValidationError

from orienteer.errors import BadInput, BudgetExhausted
from orienteer.evaluation.running.journal import Pair
from orienteer.evaluation.running.runs import REPLIES
from orienteer.files import append_line, mend, read_lines
from orienteer.llm.replies import ChatRequest
from orienteer.protocols import LanguageModel
from orienteer.records import JsonValue, Message, Price, Record, Reply, Sampling, ToolSpec, Usage


class Kept(Record):
    """A reply and the key of the request that it answers. Of equal requests the first reply comes first."""

    key: str
    reply: Reply


class Replies:
    """The folder of a run that holds them."""

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


class KeepingModel:
    """A model that answers from the replies kept of a question, and keeps every new one. Safe among threads.

    It serves one question at a time, which `begin` names; all threads that this question starts may use it.
    """

    def __init__(self, model: LanguageModel, *, stopping: Event, served: set[str]) -> None:
        """Once `stopping` is set, nothing more is asked: `BudgetExhausted`. `served` takes what the server's replies
        call the model.
        """
        self._model, self._stopping, self._served = model, stopping, served
        self._file: Path | None = None
        self._kept: defaultdict[str, deque[Reply]] = defaultdict(deque)
        self._lock = Lock()
        self.spent = Usage()
        """What the question in hand has taken, the replies that were kept included."""

    @property
    def name(self) -> str:
        """The model as its server spells it."""
        return self._model.name

    @property
    def price(self) -> Price | None:
        """What the model costs, None where that is not known."""
        return self._model.price

    def begin(self, file: Path) -> None:
        """Take up a question whose replies belong in this file. Raises `BadInput` where it holds something else."""
        mend(file)
        kept: defaultdict[str, deque[Reply]] = defaultdict(deque)
        for data in read_lines(file):
            try:
                one = Kept.model_validate_json(data)
            except ValidationError as error:
                raise BadInput(
                    f"{file} holds a line that is no reply: remove it, and the question is paid anew"
                ) from error
            kept[one.key].append(one.reply)
        self._file, self._kept, self.spent = file, kept, Usage()

    def chat(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        schema: Mapping[str, JsonValue] | None = None,
        sampling: Sampling | None = None,
        seconds: float | None = None,
    ) -> Reply:
        """Return the reply that was kept for this very request, else the model's, once it is on disk."""
        assert self._file is not None  # whoever asks has begun a question
        if self._stopping.is_set():
            raise BudgetExhausted("interrupted", "stopped by whoever asked")
        file = self._file
        key = ChatRequest.of(self.name, messages, tools, schema, sampling).key
        reply = self._find(key)
        if reply is None:
            reply = self._model.chat(messages, tools=tools, schema=schema, sampling=sampling, seconds=seconds)
            append_line(file, Kept(key=key, reply=reply).model_dump_json())
        with self._lock:
            self.spent += reply.usage
            if reply.model is not None:
                self._served.add(reply.model)
        return reply

    def _find(self, key: str) -> Reply | None:
        with self._lock:
            return self._kept[key].popleft() if self._kept.get(key) else None
