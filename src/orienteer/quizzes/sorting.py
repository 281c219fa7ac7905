"""Questions sorted by a model that sees the question and the definitions of the kinds, and nothing else.

GraphScout (003), appendix B.1: what was assigned to a question when it was written is kept from the judge, for a writer
may not have held to it; figure 7 shows what the judge says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from string import Template
from threading import Lock

from pydantic import ValidationError

from orienteer.errors import BadInput, BudgetExhausted, ModelError
from orienteer.evaluation.examples import AnswerType
from orienteer.evaluation.grid import Difficulty, QuizPattern
from orienteer.evaluation.quiz_item import QuizItem
from orienteer.evaluation.running.runs import append, mend, read_lines
from orienteer.llm import call
from orienteer.llm.prompts import prompt_of
from orienteer.llm.recorded import Request
from orienteer.llm.schema import JsonSchema, decode, faults
from orienteer.protocols import LanguageModel, Run
from orienteer.quizzes.categories import AXES, PACKAGE, listed
from orienteer.records import Message, Record, Sampling

WORKERS = 8
_SAMPLING = Sampling(temperature=0.0)
_SCHEMA: JsonSchema = {
    "type": "object",
    "properties": {axis: {"type": "string", "enum": list(kinds)} for axis, kinds in AXES.items()},
    "required": list(AXES),
    "additionalProperties": False,
}


class Sorted(Record):
    """What a judge says of one question."""

    id: str
    model: str
    request_sha256: str
    """Of all that the judge was shown."""
    answer_type: AnswerType
    pattern: QuizPattern
    difficulty: Difficulty


@dataclass(frozen=True, slots=True)
class Sorting:
    """What a judge says of a quiz, as far as it came."""

    verdicts: tuple[Sorted, ...]
    """In the order of the questions."""
    unread: int
    """Questions of which its reply fits no kind, not even after a repair turn: left out, and counted."""
    stopped: BudgetExhausted | ModelError | None = None
    """What ended the work early."""


def sort_questions(
    items: Sequence[QuizItem],
    model: LanguageModel,
    run: Run,
    *,
    file: Path | None = None,
    workers: int = WORKERS,
    progress: Callable[[str, int], None] = lambda stage, count: None,
) -> Sorting:
    """Return of what kind a model takes each question to be, from its words alone.

    Each verdict is appended to `file` as it comes, and what this model has said there of the very same request is not
    asked again. Raises `BadInput` where the file holds something else.
    """
    judge = _Judge(model, run, file, progress)
    with ThreadPoolExecutor(max(1, workers)) as pool:
        found = tuple(pool.map(judge.sort, items))
    return Sorting(tuple(one for one in found if one is not None), judge.unread, judge.stopped)


class _Judge:
    """What the threads share."""

    def __init__(self, model: LanguageModel, run: Run, file: Path | None, progress: Callable[[str, int], None]) -> None:
        self._model, self._run, self._file, self._progress = model, run, file, progress
        self._known = _read(file) if file is not None else {}
        self._lock, self._done = Lock(), 0
        self.unread = 0
        self.stopped: BudgetExhausted | ModelError | None = None

    def sort(self, item: QuizItem) -> Sorted | None:
        """Return what is said of one question; None where nothing is, or nothing that can be read."""
        messages = _messages(item.question)
        key = Request(model=self._model.name, messages=messages, reply_schema=dict(_SCHEMA), sampling=_SAMPLING).key
        verdict = self._known.get((item.id, key))
        if verdict is None and self.stopped is None:
            verdict = self._ask(item.id, key, messages)
        with self._lock:
            self._done += 1
            self._progress("questions judged", self._done)
        return verdict

    def _ask(self, item_id: str, key: str, messages: Sequence[Message]) -> Sorted | None:
        try:
            reply = call(self._model, messages, run=self._run, schema=_SCHEMA, sampling=_SAMPLING)
        except (BudgetExhausted, ModelError) as error:
            self.stopped = self.stopped or error
            return None
        verdict = _verdict(reply.message.content or "", item_id, self._model.name, key)
        if verdict is None:
            with self._lock:
                self.unread += 1
        elif self._file is not None:
            append(self._file, verdict)
        return verdict


def _messages(question: str) -> tuple[Message, ...]:
    prompt = prompt_of("quiz-judge", PACKAGE)
    return (
        Message(role="system", content=Template(prompt.system).substitute(categories=listed())),
        Message(role="user", content=Template(prompt.user).substitute(question=question)),
    )


def _verdict(text: str, item_id: str, model: str, key: str) -> Sorted | None:
    try:
        said = decode(text)
    except ValueError:
        return None
    if not isinstance(said, dict) or faults(said, _SCHEMA):
        return None
    return Sorted.model_validate({"id": item_id, "model": model, "request_sha256": key, **said})


def _read(file: Path) -> dict[tuple[str, str], Sorted]:
    """Return the verdicts of a file by question and request."""
    mend(file)
    try:
        found = [Sorted.model_validate_json(line) for line in read_lines(file)]
    except ValidationError as error:
        raise BadInput(f"{file} holds a line that is no verdict: remove the file, and judge anew") from error
    return {(one.id, one.request_sha256): one for one in found}
