"""A line of a quiz: a question of the grid with its answer, its clues and its proof."""

from __future__ import annotations

from orienteer.evaluation.examples import AnswerType
from orienteer.evaluation.grid import Cell, Difficulty, QuizPattern
from orienteer.records import JsonValue, Record


class QuizItem(Record):
    """A question with its answer, its clues and its proof. It is also a line of a question file (`eval run`)."""

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
        """Return the place of the grid that it was made for."""
        return Cell(self.answer_type, self.pattern, self.difficulty)
