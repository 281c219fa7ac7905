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
from orienteer.evaluation.grid import Cell
from orienteer.evaluation.quiz_item import QuizItem
from orienteer.quizzes.plan import QuestionPlan

Item = TypeVar("Item")
Kind = TypeVar("Kind")
Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Generated(Generic[Kind, Item]):
    """The items that were found, and why others were not."""

    items: tuple[Item, ...]
    asked: int
    """How many were wanted."""
    rejected: Counter[str]
    """Drafts that became no item, by `checks.REASONS`."""
    exhausted: tuple[Kind, ...] = ()
    """Kinds of which there were no more."""
    stopped: Error | None = None
    """What ended it early: a budget, a model that fails. None where nothing did."""
    plans: tuple[QuestionPlan, ...] = ()
    """What each item was made of; none of what a model wrote."""


Quiz: TypeAlias = Generated[Cell, QuizItem]


class Made(NamedTuple, Generic[Item]):
    """An item, and what it was made of."""

    item: Item
    plan: QuestionPlan


def generate(
    kinds: Iterable[Kind],
    count: int,
    attempt: Callable[[Kind, int], Made[Item] | str | None],
    *,
    patience: int = sys.maxsize,
    progress: Progress,
) -> Generated[Kind, Item]:
    """Return items of all kinds in turn, `count` of them at the most.

    `attempt(kind, number)` draws once: what it made, why it made none, or None where the kind gives no more. After as
    many attempts in vain as `patience`, one after another, a kind gives no more either.
    """
    kinds = tuple(kinds)
    open_, made, rejected = list(kinds), list[Made[Item]](), Counter[str]()
    while open_ and len(made) < count:
        for kind in list(open_):
            if len(made) == count:
                break
            for _ in range(patience):
                outcome = attempt(kind, len(made) + 1)
                if not isinstance(outcome, str):
                    break
                rejected[outcome] += 1
            else:
                outcome = None
            if outcome is None:
                open_.remove(kind)
                continue
            made.append(outcome)
            progress("questions", len(made))
    return Generated(
        items=tuple(draft.item for draft in made),
        asked=count,
        rejected=rejected,
        exhausted=tuple(kind for kind in kinds if kind not in open_),
        plans=tuple(draft.plan for draft in made),
    )


def check_numbers(count: int, random_seed: int) -> None:
    """Raise `BadOption` where a number of questions, or a seed, is below nothing."""
    if count < 0 or random_seed < 0:
        raise BadOption(f"the number of questions is {count} and the seed {random_seed}: both must be 0 or more")
