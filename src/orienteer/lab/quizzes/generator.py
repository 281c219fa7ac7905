"""Work on many questions: kinds take turns until there are enough items, or a model is asked of each of them.

`questions.generate_questions` draws plans over patterns, `quiz.generate_quiz` over the grid.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from orienteer.errors import BadOption, BudgetExhausted, Error, ModelError
from orienteer.lab.evaluation.examples import Cell, QuizItem
from orienteer.lab.quizzes.plan import QuestionPlan
from orienteer.llm.conversation import Exchange, ask
from orienteer.llm.schema import JsonSchema
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Trajectory

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")
QuestionKind = TypeVar("QuestionKind")
Progress = Callable[[str, int], None]
Ask = Callable[[Trajectory, JsonSchema | None], Exchange | None]


@dataclass(frozen=True, slots=True)
class Generated(Generic[QuestionKind, Item]):
    """Items, and the reasons why drafts were rejected."""

    items: tuple[Item, ...]
    asked: int
    """The number of items asked for."""
    rejected: Counter[str]
    """Rejected drafts, by `proof.REASONS`."""
    exhausted: tuple[QuestionKind, ...] = ()
    """Kinds that gave no more items."""
    stopped: Error | None = None
    """The error of a budget or a model that ended it early, if any."""
    plans: tuple[QuestionPlan, ...] = ()
    """The plan of each item; empty if a model wrote the items."""


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
    """Return items of all kinds in turn, at most `count`.

    `attempt(kind, number)` draws once and returns an item, the reason why there is none, or None if the kind gives no
    more. A kind also gives no more after `patience` failed attempts in a row.
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


def ask_each(
    items: Iterable[Item],
    work: Callable[[Item, Ask], Outcome],
    *,
    model: LanguageModel,
    run: Run,
    workers: int,
    stage: str,
    progress: Progress,
) -> tuple[list[Outcome], BudgetExhausted | ModelError | None]:
    """Return the outcome of each item, worked on by threads, and the error that ended the asking early, if any.

    `work` is given a function that asks the model, and returns None once a budget is spent or a model has failed.
    """
    lock, done = Lock(), 0
    stopped: BudgetExhausted | ModelError | None = None

    def ask_unless_stopped(begun: Trajectory, schema: JsonSchema | None) -> Exchange | None:
        nonlocal stopped
        if stopped is not None:
            return None
        try:
            return ask(model, run, begun, schema=schema)
        except (BudgetExhausted, ModelError) as error:
            stopped = stopped or error
            return None

    def one(item: Item) -> Outcome:
        nonlocal done
        outcome = work(item, ask_unless_stopped)
        with lock:
            done += 1
            progress(stage, done)
        return outcome

    with ThreadPoolExecutor(max(1, workers)) as pool:
        outcomes = list(pool.map(one, items))
    return outcomes, stopped


def check_numbers(count: int, random_seed: int) -> None:
    """Raise `BadOption` if the number of questions or the seed is negative."""
    if count < 0 or random_seed < 0:
        raise BadOption(f"the number of questions is {count} and the seed {random_seed}: both must be 0 or more")
