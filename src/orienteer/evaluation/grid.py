"""The grid that questions are balanced over: answer type x pattern x difficulty. GraphScout (003), 3.3.1 and B.3."""

from __future__ import annotations

from itertools import product
from typing import Literal, NamedTuple, TypeAlias, get_args

from orienteer.evaluation.examples import AnswerType

Difficulty: TypeAlias = Literal["simple", "medium", "hard"]
QuizPattern: TypeAlias = Literal["<h,_,_>", "<h,r,_>", "<h,*,t>", "<h,r,t>", "hybrid"]
"""What of a triple is given: `_` is asked for, `*` is a relation that is asked for between two that are given."""


class Cell(NamedTuple):
    """One place of the grid."""

    answer_type: AnswerType
    pattern: QuizPattern
    difficulty: Difficulty


def is_legal(cell: Cell) -> bool:
    """Say whether appendix B.3 allows a cell: nothing hybrid is simple."""
    return not (cell.pattern == "hybrid" and cell.difficulty == "simple")


CELLS: tuple[Cell, ...] = tuple(
    cell
    for cell in (Cell(*kinds) for kinds in product(get_args(AnswerType), get_args(QuizPattern), get_args(Difficulty)))
    if is_legal(cell)
)
"""The cells that may be asked of; there is no order of merit among them."""
