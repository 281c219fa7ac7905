"""The kinds of a quiz's questions: what they mean, what a judge makes of them, and how they are spread.

The judge is a model that sees a question and the definitions of the kinds, and nothing else: what was assigned to a
question when it was written is kept from it, for a writer may not have held to it. GraphScout (003), section 3.3.1,
appendix B.1 and B.3; figures 7 and 8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from threading import Lock
from types import MappingProxyType
from typing import get_args

import numpy as np
from pydantic import ValidationError

from orienteer.errors import BadInput, BudgetExhausted, ModelError
from orienteer.files import append_line, mend, read_lines
from orienteer.lab.evaluation.examples import AnswerType
from orienteer.lab.evaluation.quiz_item import Difficulty, QuizItem, QuizPattern
from orienteer.llm.exchange import ask, begin, first_request
from orienteer.llm.prompts import prompt_of
from orienteer.llm.schema import JsonSchema
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Record, Sampling, Trajectory
from orienteer.text.sentences import tokens

PACKAGE = "orienteer.lab.quizzes"
"""Where the prompts of the quiz lie."""
AXES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"answer_type": get_args(AnswerType), "pattern": get_args(QuizPattern), "difficulty": get_args(Difficulty)}
)
"""The three ways in which questions differ, with the kinds of each."""
WORKERS = 8
_SAMPLING = Sampling(temperature=0.0)
_SCHEMA: JsonSchema = {
    "type": "object",
    "properties": {axis: {"type": "string", "enum": list(kinds)} for axis, kinds in AXES.items()},
    "required": list(AXES),
    "additionalProperties": False,
}


@cache
def definitions() -> Mapping[str, Mapping[str, str]]:
    """Return what each kind means, by axis and kind."""
    meanings: dict[str, dict[str, str]] = {}
    for part in ("\n" + prompt_of("categories", PACKAGE).system).split("\n# ")[1:]:
        axis, *kinds = part.split("\n## ")
        pairs = (kind.partition("\n") for kind in kinds)
        meanings[axis.strip()] = {kind.strip(): meaning.strip() for kind, _, meaning in pairs}
    return MappingProxyType(meanings)


def listed() -> str:
    """Return all definitions as a prompt shows them."""
    return "\n\n".join(
        f"{axis}:\n" + "\n".join(f"- {kind}: {meaning}" for kind, meaning in kinds.items())
        for axis, kinds in definitions().items()
    )


# ------------------------------------------------------------------------------------------------------------ the judge


class Verdict(Record):
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

    verdicts: tuple[Verdict, ...]
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
        verdicts = tuple(pool.map(judge.sort, items))
    return Sorting(tuple(verdict for verdict in verdicts if verdict is not None), judge.unread, judge.stopped)


class _Judge:
    """What the threads share."""

    def __init__(self, model: LanguageModel, run: Run, file: Path | None, progress: Callable[[str, int], None]) -> None:
        self._model, self._run, self._file, self._progress = model, run, file, progress
        self._verdicts = _read(file) if file is not None else {}
        prompt = prompt_of("quiz-judge", PACKAGE)
        self._prompt = prompt._replace(system=Template(prompt.system).substitute(categories=listed()))
        self._lock, self._done = Lock(), 0
        self.unread = 0
        self.stopped: BudgetExhausted | ModelError | None = None

    def sort(self, item: QuizItem) -> Verdict | None:
        """Return the verdict on one question; None where there is none, or none that can be read."""
        begun = begin(
            self._model,
            self._prompt,
            {"question": item.question},
            question=Question(id=item.id, text=item.question),
            method="quiz: judge",
            sampling=_SAMPLING,
        )
        key = first_request(begun, _SCHEMA).key
        verdict = self._verdicts.get((item.id, key))
        if verdict is None and self.stopped is None:
            verdict = self._ask(begun, key)
        with self._lock:
            self._done += 1
            self._progress("questions judged", self._done)
        return verdict

    def _ask(self, begun: Trajectory, key: str) -> Verdict | None:
        try:
            kinds = ask(self._model, self._run, begun, schema=_SCHEMA).value
        except (BudgetExhausted, ModelError) as error:
            self.stopped = self.stopped or error
            return None
        if kinds is None:
            with self._lock:
                self.unread += 1
            return None
        verdict = Verdict(id=begun.question.id, model=self._model.name, request_sha256=key, **kinds)
        if self._file is not None:
            append_line(self._file, verdict.model_dump_json())
        return verdict


def _read(file: Path) -> dict[tuple[str, str], Verdict]:
    """Return the verdicts of a file by question and request."""
    mend(file)
    try:
        verdicts = [Verdict.model_validate_json(line) for line in read_lines(file)]
    except ValidationError as error:
        raise BadInput(f"{file} holds a line that is no verdict: remove the file, and judge anew") from error
    return {(verdict.id, verdict.request_sha256): verdict for verdict in verdicts}


# ----------------------------------------------------------------------------------------------------------- statistics


class Axis(Record):
    """One way in which questions differ, over a quiz."""

    assigned: dict[str, float]
    """Share of the questions that each kind was assigned to; every kind is there, also at 0."""
    judged: dict[str, float] | None = None
    """Share of the questions that the judge gives each kind; None without a judge."""
    agreement: float | None = None
    """Share of the judged questions of which both say the same."""
    kappa: float | None = None
    """Cohen's kappa; None without a judge, and where both know one and the same kind only."""
    confusion: dict[str, dict[str, int]] = {}
    """Questions by the kind assigned and the kind judged, what is 0 left out."""


class Distribution(Record):
    """How a count is spread over the questions."""

    least: int
    quarter: float
    median: float
    three_quarters: float
    most: int
    mean: float
    counts: dict[int, int]
    """Questions by value, ascending."""


class QuizStatistics(Record):
    """What a quiz is made of."""

    items: int
    judged: int = 0
    """Questions that a judge sorted; 0 where the shares are the assigned ones."""
    judge: str | None = None
    """The model that judged."""
    axes: dict[str, Axis]
    question_tokens: Distribution | None
    """Our own count, not a model's. None of an empty quiz."""
    clue_nodes: Distribution | None


def statistics_of(items: Sequence[QuizItem], verdicts: Sequence[Verdict] = ()) -> QuizStatistics:
    """Return what a quiz is made of; with verdicts of a judge, also what that makes of its questions."""
    by_id = {verdict.id: verdict for verdict in verdicts}
    judged = [(item, by_id[item.id]) for item in items if item.id in by_id]
    return QuizStatistics(
        items=len(items),
        judged=len(judged),
        judge=", ".join(sorted({verdict.model for _, verdict in judged})) or None,
        axes={axis: _axis(axis, items, judged) for axis in AXES},
        question_tokens=_distribution([tokens(item.question) for item in items]),
        clue_nodes=_distribution([len(item.clue_nodes) for item in items]),
    )


def kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return Cohen's kappa of two that each sorted the same things: agreement beyond what chance would give.

    None without pairs, and where chance alone gives full agreement: both know one and the same kind only. Cohen 1960.
    """
    if not pairs:
        return None
    firsts, seconds = (Counter(kinds) for kinds in zip(*pairs, strict=True))
    observed = sum(first == second for first, second in pairs) / len(pairs)
    expected = sum(count * seconds[kind] for kind, count in firsts.items()) / len(pairs) ** 2
    return None if expected == 1 else (observed - expected) / (1 - expected)


def _axis(axis: str, items: Sequence[QuizItem], judged: Sequence[tuple[QuizItem, Verdict]]) -> Axis:
    assigned = _shares(axis, [getattr(item, axis) for item in items])
    if not judged:
        return Axis(assigned=assigned)
    pairs = [(str(getattr(item, axis)), str(getattr(verdict, axis))) for item, verdict in judged]
    confusion: dict[str, dict[str, int]] = {}
    for (own, judges), count in sorted(Counter(pairs).items()):
        confusion.setdefault(own, {})[judges] = count
    return Axis(
        assigned=assigned,
        judged=_shares(axis, [judges for _, judges in pairs]),
        agreement=sum(own == judges for own, judges in pairs) / len(pairs),
        kappa=kappa(pairs),
        confusion=confusion,
    )


def _shares(axis: str, kinds: Sequence[str]) -> dict[str, float]:
    counts = Counter(kinds)
    return {kind: counts[kind] / len(kinds) if kinds else 0.0 for kind in AXES[axis]}


def _distribution(values: Sequence[int]) -> Distribution | None:
    if not values:
        return None
    quarter, median, three_quarters = np.percentile(values, (25, 50, 75)).tolist()
    return Distribution(
        least=min(values),
        quarter=quarter,
        median=median,
        three_quarters=three_quarters,
        most=max(values),
        mean=sum(values) / len(values),
        counts=dict(sorted(Counter(values).items())),
    )
