"""Questions with their gold answers. A method only ever sees the question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal, NamedTuple, TypeAlias, get_args

from orienteer.records import JsonValue, Question, Record

AnswerType: TypeAlias = Literal["entity", "boolean", "number", "set"]


class Gold(Record):
    """The gold of a question: nodes, words, or both."""

    nodes: dict[str, float] = {}
    """Node ids with their relevance, above 0. Empty if the benchmark names no nodes."""
    answers: tuple[str, ...] = ()
    """All answers if the type is `set`; otherwise different ways to write the one answer."""
    answer_type: AnswerType | None = None
    evidence: tuple[str, ...] = ()
    """Texts that the answer rests on, if the benchmark gives texts instead of nodes."""
    unanswerable: bool = False
    """Whether the question has no answer, so that a refusal is right."""
    sealed: tuple[str, ...] = ()
    """Hashes of the forms of the answer, if the benchmark does not tell it (`verdicts.seal`)."""


class Example(Record):
    """A question, its gold, and the benchmark's own fields, by which results can be split."""

    question: Question
    gold: Gold = Gold()
    fields: dict[str, JsonValue] = {}


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The questions of one file or one split of a benchmark."""

    name: str
    """The data set: `stark`, `grbench`, `jsonl` and so on."""
    examples: tuple[Example, ...]
    sha256: str
    """The hash of the files that were read, so that figures identify their questions."""
    candidates: tuple[str, ...] | None = None
    """Node types that may answer by the benchmark's own rule: its official figures drop other hits. None: no rule."""
    notes: tuple[str, ...] = ()
    """What was left out or could not be resolved: nothing is dropped silently."""
    remarks: Callable[[Sequence[Example]], tuple[str, ...]] | None = None
    """Returns the notes for some of the questions. None: the same notes apply to any."""
    meta: Mapping[str, JsonValue] = field(default_factory=dict)

    def notes_on(self, examples: Sequence[Example]) -> tuple[str, ...]:
        """Return the notes on some of the questions."""
        return self.notes if self.remarks is None else self.remarks(examples)


# A question of a quiz, and the grid that quizzes are balanced over: answer type x pattern x difficulty.
#
# GraphScout (003), 3.3.1 and B.3.


Difficulty: TypeAlias = Literal["simple", "medium", "hard"]
# What a question gives of a triple (head, relation, tail): `_` is asked for, `*` is a relation that is asked for.
QuizPattern: TypeAlias = Literal["<h,_,_>", "<h,r,_>", "<h,*,t>", "<h,r,t>", "hybrid"]


class Cell(NamedTuple):
    """One place of the grid."""

    answer_type: AnswerType
    pattern: QuizPattern
    difficulty: Difficulty


def is_legal(cell: Cell) -> bool:
    """Return whether appendix B.3 allows a cell: nothing hybrid is simple."""
    return not (cell.pattern == "hybrid" and cell.difficulty == "simple")


# The legal cells, in no order of merit.
CELLS: tuple[Cell, ...] = tuple(
    cell
    for cell in (Cell(*kinds) for kinds in product(get_args(AnswerType), get_args(QuizPattern), get_args(Difficulty)))
    if is_legal(cell)
)


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
    """The id of the trajectory in the quiz's folder of episodes, if a model explored."""
    random_seed: int
    graph_sha256: str

    @property
    def cell(self) -> Cell:
        """Return the cell of the grid that the question was made for."""
        return Cell(self.answer_type, self.pattern, self.difficulty)
