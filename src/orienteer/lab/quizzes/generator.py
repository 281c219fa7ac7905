"""The generator of questions: kinds take turns, drafts are drawn until one is an item, and what is dropped is counted.

`questions.generate_questions` and `quiz.generate_quiz` call it: the one over patterns, the other over the grid.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from orienteer.errors import BadOption, Error
from orienteer.lab.evaluation.examples import Cell, QuizItem
from orienteer.lab.quizzes.plan import QuestionPlan

Item = TypeVar("Item")
QuestionKind = TypeVar("QuestionKind")
Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Generated(Generic[QuestionKind, Item]):
    """Items, and the reasons why drafts became none."""

    items: tuple[Item, ...]
    asked: int
    """The number of items asked for."""
    rejected: Counter[str]
    """Drafts that became no item, by `checks.REASONS`."""
    exhausted: tuple[QuestionKind, ...] = ()
    """Kinds that gave no more items."""
    stopped: Error | None = None
    """The error that ended it early, of a budget or a model; None where nothing did."""
    plans: tuple[QuestionPlan, ...] = ()
    """The plan of each item; empty where a model wrote the items."""


Quiz: TypeAlias = Generated[Cell, QuizItem]


class PlannedItem(NamedTuple, Generic[Item]):
    """An item and the plan that it was made of."""

    item: Item
    plan: QuestionPlan


def generate(
    kinds: Iterable[QuestionKind],
    count: int,
    attempt: Callable[[QuestionKind, int], PlannedItem[Item] | str | None],
    *,
    patience: int = sys.maxsize,
    progress: Progress,
) -> Generated[QuestionKind, Item]:
    """Return items of all kinds in turn, `count` of them at the most.

    `attempt(kind, number)` draws once and returns an item, the reason why there is none, or None where the kind gives
    no more. A kind also gives no more after `patience` failed attempts in a row.
    """
    kinds = tuple(kinds)
    open_, drafts, rejected = list(kinds), list[PlannedItem[Item]](), Counter[str]()
    while open_ and len(drafts) < count:
        for kind in list(open_):
            if len(drafts) == count:
                break
            for _ in range(patience):
                outcome = attempt(kind, len(drafts) + 1)
                if not isinstance(outcome, str):
                    break
                rejected[outcome] += 1
            else:
                outcome = None
            if outcome is None:
                open_.remove(kind)
                continue
            drafts.append(outcome)
            progress("questions", len(drafts))
    return Generated(
        items=tuple(draft.item for draft in drafts),
        asked=count,
        rejected=rejected,
        exhausted=tuple(kind for kind in kinds if kind not in open_),
        plans=tuple(draft.plan for draft in drafts),
    )


def check_numbers(count: int, random_seed: int) -> None:
    """Raise `BadOption` where the number of questions or the seed is negative."""
    if count < 0 or random_seed < 0:
        raise BadOption(f"the number of questions is {count} and the seed {random_seed}: both must be 0 or more")
