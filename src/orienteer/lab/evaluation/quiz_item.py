"""A question of a quiz, and the grid that quizzes are balanced over: answer type x pattern x difficulty.

GraphScout (003), 3.3.1 and B.3.
"""

from __future__ import annotations

from itertools import product
from typing import Literal, NamedTuple, TypeAlias, get_args

from orienteer.lab.evaluation.examples import AnswerType
from orienteer.records import JsonValue, Record

Difficulty: TypeAlias = Literal["simple", "medium", "hard"]
QuizPattern: TypeAlias = Literal["<h,_,_>", "<h,r,_>", "<h,*,t>", "<h,r,t>", "hybrid"]
"""What a question gives of a triple (head, relation, tail): `_` is asked for, `*` is a relation that is asked for."""


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
"""The legal cells, in no order of merit."""


class QuizItem(Record):
    """A question with its answer, its clues and its proof. As JSON it is a line of a question file (`eval run`)."""

    id: str
    question: str
    nodes: tuple[str, ...] = ()
    """Ids of the nodes that answer, ascending; none for a boolean or a number."""
    answers: tuple[str, ...]
    """Names of the nodes of a `set`, each once; of an `entity` its name and aliases; else the one value: True, False,
    a number."""
    answer_type: AnswerType
    pattern: QuizPattern
    difficulty: Difficulty
    hops: int
    """Edges of the path that the gold query walks: from the first node named, through what is asked, to the last."""
    anchors: tuple[str, ...]
    """Ids of the nodes that the question names; the seed is the first."""
    edge_types: tuple[str, ...] = ()
    clue_nodes: tuple[str, ...]
    """Ids of nodes that question and answer were made of. GraphScout (003), 3.3.4."""
    gold_query: str
    """Cypher that proves the answer; it was run again before the item was kept."""
    gold_parameters: dict[str, JsonValue] = {}
    quizzer: str = "templates"
    """Who wrote it: `templates`, or the model with its kind: `model`, `random-walk`."""
    trajectory: str | None = None
    """The id of the trajectory in the file beside, where a model explored."""
    random_seed: int
    graph_sha256: str

    @property
    def cell(self) -> Cell:
        """Return the cell of the grid that the question was made for."""
        return Cell(self.answer_type, self.pattern, self.difficulty)
