"""Plain JSON lines, the form that is written here too: `{"id", "question", "nodes", "answers", ...}`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, get_args

from orienteer.errors import BadInput
from orienteer.graph.store import Graph
from orienteer.ingest.formats.files import suffix
from orienteer.ingest.tables.values import identifier
from orienteer.lab.evaluation.datasets.dataset import Dataset, of_split
from orienteer.lab.evaluation.datasets.rows import QuestionRow, digest, fields, files_in, keys, rows, the_one, unique
from orienteer.lab.evaluation.examples import AnswerType, Example, Gold, QuestionSet
from orienteer.records import Question

SUFFIXES = (".jsonl", ".ndjson")
OWN = ("id", "question", "nodes", "answers", "answer_type")


def _question_files(path: Path) -> list[Path]:
    return [file for file in files_in(path) if suffix(file) in SUFFIXES and "question" in keys(file)]


def recognises(path: Path) -> bool:
    """Say whether there is one file of JSON lines with questions."""
    return len(_question_files(path)) == 1


def read(path: Path, *, split: str | None, graph: Graph | None) -> QuestionSet:
    """Read the questions; one without an id gets its place in the file, from 1."""
    file = the_one(_question_files(path), path, of="questions")
    examples = [_example(row, number, file) for number, row in enumerate(rows(file), 1)]
    unique((example.question.id for example in examples), path=file)
    return QuestionSet("jsonl", tuple(of_split(examples, split, path=file)), digest([file]))


def _example(row: QuestionRow, number: int, file: Path) -> Example:
    text = row.get("question")
    if not isinstance(text, str) or not text.strip():
        raise BadInput(f"{file}, question {number}: question is {text!r}; it must be text")
    if isinstance(row.get("id"), list | dict | bool):
        raise BadInput(f"{file}, question {number}: the id is {row['id']!r}; it must be text or a number")
    question = Question(id=identifier(row.get("id")) or str(number), text=text)
    gold = Gold(
        nodes=_nodes(row.get("nodes"), number, file),
        answers=_answers(row.get("answers"), number, file),
        answer_type=_answer_type(row.get("answer_type"), number, file),
    )
    return Example(question=question, gold=gold, fields=fields(row, but=OWN))


def _nodes(value: Any, number: int, file: Path) -> dict[str, float]:  # Any: JSON
    if value is None:
        return {}
    if isinstance(value, list) and not any(isinstance(item, list | dict | bool) for item in value):
        ids = list(map(identifier, value))
        if all(node_id.strip() for node_id in ids):
            return dict.fromkeys(ids, 1.0)
    if isinstance(value, dict) and all(
        isinstance(relevance, int | float) and not isinstance(relevance, bool) and math.isfinite(relevance)
        for relevance in value.values()
    ):
        return {node: float(relevance) for node, relevance in value.items() if relevance > 0}
    raise BadInput(f"{file}, question {number}: nodes is {value!r}; it must be a list of ids, or ids with relevances")


def _answers(value: Any, number: int, file: Path) -> tuple[str, ...]:  # Any: JSON
    if value is None:
        return ()
    if isinstance(value, list) and not any(isinstance(item, list | dict) for item in value):
        texts = tuple(map(identifier, value))
        if all(text.strip() for text in texts):  # every answer would contain an empty one
            return texts
    raise BadInput(f"{file}, question {number}: answers is {value!r}; it must be a list of texts")


def _answer_type(value: Any, number: int, file: Path) -> AnswerType | None:  # Any: JSON
    types: tuple[AnswerType, ...] = get_args(AnswerType)
    if value is not None and value not in types:
        raise BadInput(f"{file}, question {number}: answer_type is {value!r}; it must be one of: {', '.join(types)}")
    return next((name for name in types if name == value), None)


DATASET = Dataset(
    name="jsonl",
    about='JSON lines: {"id", "question", "nodes": [ids] or {id: relevance}, "answers": [texts], ...}, also as .gz.',
    looks_for="one .jsonl file whose lines have a 'question'",
    recognises=recognises,
    read=read,
)
