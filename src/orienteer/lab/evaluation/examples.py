"""Questions with their gold answers. A method only ever sees the question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from orienteer.records import JsonValue, Question, Record

AnswerType: TypeAlias = Literal["entity", "boolean", "number", "set"]


class Gold(Record):
    """The gold of a question: nodes, words, or both."""

    nodes: dict[str, float] = {}
    """Node ids with their relevance, above 0. Empty where the benchmark names no nodes."""
    answers: tuple[str, ...] = ()
    """All answers if the type is `set`; otherwise different ways to write the one answer."""
    answer_type: AnswerType | None = None
    evidence: tuple[str, ...] = ()
    """Texts that the answer rests on, if the benchmark gives texts instead of nodes."""


class Example(Record):
    """A question, its gold, and whatever else the benchmark says about it: results can be split by `fields`."""

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
    """Returns the notes for some of the questions. None: the same notes hold for any."""
    meta: Mapping[str, JsonValue] = field(default_factory=dict)

    def notes_on(self, examples: Sequence[Example]) -> tuple[str, ...]:
        """Return the notes that hold for some of the questions."""
        return self.notes if self.remarks is None else self.remarks(examples)
