"""The kinds of a quiz's questions: their meanings, the verdicts of a judge, and statistics.

The judge is a model that sees a question and the definitions of the kinds, and nothing else: the assigned kinds are
kept from it, for a writer may have missed them. GraphScout (003), section 3.3.1, appendix B.1 and B.3; figures 7 and 8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np
from pydantic import ValidationError

from orienteer.errors import BadInput, BudgetExhausted, ModelError
from orienteer.files import append_line, mend, read_lines
from orienteer.lab.evaluation.examples import AnswerType, Difficulty, QuizItem, QuizPattern
from orienteer.lab.quizzes.generator import Ask, Progress, ask_each
from orienteer.llm.conversation import begin, first_request, prompt_of
from orienteer.llm.schema import object_of
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Record, Sampling
from orienteer.text.sentences import tokens

PACKAGE = "orienteer.lab.quizzes"
"""The package with the prompts of the quiz."""
AXES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"answer_type": get_args(AnswerType), "pattern": get_args(QuizPattern), "difficulty": get_args(Difficulty)}
)
"""The three ways in which questions differ, with the kinds of each."""
WORKERS = 8
_SAMPLING = Sampling(temperature=0.0)
_SCHEMA = object_of({axis: {"type": "string", "enum": list(kinds)} for axis, kinds in AXES.items()})


@cache
def definitions() -> Mapping[str, Mapping[str, str]]:
    """Return the meaning of each kind, by axis and kind."""
    meanings: dict[str, dict[str, str]] = {}
    for part in ("\n" + prompt_of("categories", PACKAGE).system).split("\n# ")[1:]:
        axis, *kinds = part.split("\n## ")
        pairs = (kind.partition("\n") for kind in kinds)
        meanings[axis.strip()] = {kind.strip(): meaning.strip() for kind, _, meaning in pairs}
    return MappingProxyType(meanings)


def definitions_text() -> str:
    """Return all definitions as a prompt shows them."""
    return "\n\n".join(
        f"{axis}:\n" + "\n".join(f"- {kind}: {meaning}" for kind, meaning in kinds.items())
        for axis, kinds in definitions().items()
    )


# ------------------------------------------------------------------------------------------------------------ the judge


class Verdict(Record):
    """The kinds that a judge gives a question."""

    id: str
    model: str
    request_sha256: str
    """Of all that the judge was shown."""
    answer_type: AnswerType
    pattern: QuizPattern
    difficulty: Difficulty


@dataclass(frozen=True, slots=True)
class Sorting:
    """The verdicts on a quiz, as far as the judge came."""

    verdicts: tuple[Verdict, ...]
    """In the order of the questions."""
    unread: int
    """Questions left out because the reply fits no kind, not even after a repair turn."""
    stopped: BudgetExhausted | ModelError | None = None
    """The error that ended the work early."""


def sort_questions(
    items: Sequence[QuizItem],
    model: LanguageModel,
    run: Run,
    *,
    file: Path | None = None,
    workers: int = WORKERS,
    progress: Progress = lambda stage, count: None,
) -> Sorting:
    """Return the kinds that a model gives each question, from its words alone.

    Each verdict is appended to `file` as it comes, and what this model has said there of the very same request is not
    asked again. Raises `BadInput` if the file holds something else.
    """
    known = {} if file is None else _read(file)
    prompt = prompt_of("quiz-judge", PACKAGE)
    prompt = prompt._replace(system=Template(prompt.system).substitute(categories=definitions_text()))

    def judge(item: QuizItem, ask: Ask) -> Verdict | Literal["unread"] | None:
        question, values = Question(id=item.id, text=item.question), {"question": item.question}
        begun = begin(model, prompt, values, question=question, method="quiz: judge", sampling=_SAMPLING)
        key = first_request(begun, _SCHEMA).key
        if (item.id, key) in known:
            return known[item.id, key]
        exchange = ask(begun, _SCHEMA)
        if exchange is None or exchange.value is None:
            return None if exchange is None else "unread"
        verdict = Verdict(id=item.id, model=model.name, request_sha256=key, **exchange.value)
        if file is not None:
            append_line(file, verdict.model_dump_json())
        return verdict

    stage = "questions judged"
    outcomes, stopped = ask_each(items, judge, model=model, run=run, workers=workers, stage=stage, progress=progress)
    verdicts = tuple(outcome for outcome in outcomes if isinstance(outcome, Verdict))
    return Sorting(verdicts, outcomes.count("unread"), stopped)


def _read(file: Path) -> dict[tuple[str, str], Verdict]:
    """Return the verdicts of a file by question and request."""
    mend(file)
    try:
        verdicts = [Verdict.model_validate_json(line) for line in read_lines(file)]
    except ValidationError as error:
        raise BadInput(f"{file} has a line that is not a verdict: remove the file and judge again") from error
    return {(verdict.id, verdict.request_sha256): verdict for verdict in verdicts}


# ----------------------------------------------------------------------------------------------------------- statistics


class Axis(Record):
    """One way in which questions differ, over a quiz."""

    assigned: dict[str, float]
    """Share of the questions that each kind was assigned to, for every kind."""
    judged: dict[str, float] | None = None
    """Share of the questions that the judge gives each kind; None without a judge."""
    agreement: float | None = None
    """Share of the judged questions on which both agree."""
    kappa: float | None = None
    """Cohen's kappa; None without a judge, or if both know one and the same kind only."""
    confusion: dict[str, dict[str, int]] = {}
    """Questions by the kind assigned and the kind judged, without zeros."""


class Distribution(Record):
    """The distribution of a count over the questions."""

    least: int
    quarter: float
    median: float
    three_quarters: float
    most: int
    mean: float
    counts: dict[int, int]
    """Questions by value, ascending."""


class QuizStatistics(Record):
    """Statistics of a quiz."""

    items: int
    judged: int = 0
    """Questions that a judge sorted; 0 if the shares are the assigned ones."""
    judge: str | None = None
    """The model that judged."""
    axes: dict[str, Axis]
    question_tokens: Distribution | None
    """Our own count, not a model's. None of an empty quiz."""
    clue_nodes: Distribution | None


def statistics_of(items: Sequence[QuizItem], verdicts: Sequence[Verdict] = ()) -> QuizStatistics:
    """Return the statistics of a quiz, with verdicts also those of its judge."""
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
    """Return Cohen's kappa of two raters (Cohen 1960); None without pairs, or if both know one kind only."""
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
