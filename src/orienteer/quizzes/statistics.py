"""What a quiz is made of: its shares by kind, the lengths of its questions, its clues. GraphScout (003), figures 7, 8.

Without a judge the shares are those that were assigned. With one they are the judge's, each axis with how often it
agrees with what was assigned: as a share, and beyond chance, by Cohen's kappa.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from orienteer.evaluation.quiz_item import QuizItem
from orienteer.quizzes.categories import AXES
from orienteer.quizzes.sorting import Sorted
from orienteer.records import Record
from orienteer.text.sentences import tokens


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


def statistics_of(items: Sequence[QuizItem], verdicts: Sequence[Sorted] = ()) -> QuizStatistics:
    """Return what a quiz is made of; with verdicts of a judge, also what that makes of its questions."""
    by_id = {one.id: one for one in verdicts}
    judged = [(item, by_id[item.id]) for item in items if item.id in by_id]
    return QuizStatistics(
        items=len(items),
        judged=len(judged),
        judge=", ".join(sorted({one.model for _, one in judged})) or None,
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
    firsts, seconds = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    observed = sum(one == other for one, other in pairs) / len(pairs)
    expected = sum(count * seconds[kind] for kind, count in firsts.items()) / len(pairs) ** 2
    return None if expected == 1 else (observed - expected) / (1 - expected)


def _axis(axis: str, items: Sequence[QuizItem], judged: Sequence[tuple[QuizItem, Sorted]]) -> Axis:
    assigned = _shares(axis, [getattr(item, axis) for item in items])
    if not judged:
        return Axis(assigned=assigned)
    pairs = [(str(getattr(item, axis)), str(getattr(verdict, axis))) for item, verdict in judged]
    confusion: dict[str, dict[str, int]] = {}
    for (one, other), count in sorted(Counter(pairs).items()):
        confusion.setdefault(one, {})[other] = count
    return Axis(
        assigned=assigned,
        judged=_shares(axis, [other for _, other in pairs]),
        agreement=sum(one == other for one, other in pairs) / len(pairs),
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
