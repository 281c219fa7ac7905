"""Questions with their gold answers. A method only ever sees the question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from orienteer.records import JsonValue, Question, Record

AnswerType: TypeAlias = Literal["entity", "boolean", "number", "set"]


class Gold(Record):
    """What answers a question: nodes, words, or both."""

    nodes: dict[str, float] = {}
    """Node ids with their relevance, above 0. Empty where the benchmark names no nodes."""
    answers: tuple[str, ...] = ()
    """Every answer where the type is `set`; else other ways to write the one answer."""
    answer_type: AnswerType | None = None
    evidence: tuple[str, ...] = ()
    """Texts that the answer rests on, where the benchmark gives texts in place of nodes."""


class Example(Record):
    """A question, its gold, and whatever else the benchmark says of it: `fields` are what results are split by."""

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
    """Of the files that were read, so that a figure names its questions."""
    candidates: tuple[str, ...] | None = None
    """Node types that may answer by the benchmark's own rule: its official figures drop other hits. None: no rule."""
    notes: tuple[str, ...] = ()
    """What was left out or could not be resolved; never silent."""
    remarks: Callable[[Sequence[Example]], tuple[str, ...]] | None = None
    """Gives the notes for some of the questions. None: they are the same for any."""
    meta: Mapping[str, JsonValue] = field(default_factory=dict)

    def notes_on(self, asked: Sequence[Example]) -> tuple[str, ...]:
        """Return the notes for those questions that are asked."""
        return self.notes if self.remarks is None else self.remarks(asked)
