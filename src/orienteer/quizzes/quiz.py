"""A quiz: the items that were kept, why others were not, and their lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orienteer.errors import Error
from orienteer.evaluation.grid import CELLS, Cell
from orienteer.evaluation.quiz_item import QuizItem


@dataclass(frozen=True, slots=True)
class Quiz:
    """The items that were found, and why others were not. 003, section 3.3."""

    items: tuple[QuizItem, ...]
    asked: int
    """How many were wanted."""
    rejected: Counter[str]
    """Items that were not kept, by `checking.REASONS`."""
    exhausted: tuple[Cell, ...] = ()
    """Cells of which the graph gave no more."""
    stopped: Error | None = None
    """What ended it early: a budget, a model that fails. None where nothing did."""


def balance(items: Iterable[QuizItem]) -> dict[Cell, int]:
    """Return how many items each legal cell has, in the order of the grid, empty ones too."""
    counts = Counter(item.cell for item in items)
    return {cell: counts[cell] for cell in CELLS}


def written(cell: Cell) -> str:
    """Return a cell as people read it: `set <h,r,_> medium`."""
    return " ".join(cell)


def as_lines(items: Sequence[QuizItem]) -> str:
    """Return items as JSON lines, what does not apply left out."""
    return "".join(
        json.dumps(item.model_dump(mode="json", exclude_none=True), ensure_ascii=False) + "\n" for item in items
    )
