"""The answers of another system as a run, so that every table and comparison has them beside ours.

    {"id": "test-hetionet-1", "answer": 12}                        words, a number, true or false, a list of names
    {"id": "test-hetionet-2", "nodes": ["Gene::1", "Gene::2"]}     all nodes that answer
    {"id": "test-hetionet-3", "hits": ["Gene::2", "Gene::1"]}      a ranking, which claims no answer
    {"id": "test-hetionet-4", "answer": null}                      it says that there is no answer

A question without a line counts as one that failed.
"""

from __future__ import annotations

from pathlib import Path

from orienteer.errors import BadInput
from orienteer.lab.evaluation.datasets.rows import QuestionRow, digest, required, rows, unique
from orienteer.lab.evaluation.examples import Example, QuestionSet
from orienteer.lab.evaluation.running.runner import RunConfig, begin, claim
from orienteer.lab.evaluation.running.runs import Journal, Line, RunManifest, lock, provenance
from orienteer.records import Ranked, Reading, Refusal

FORMS = ("answer", "nodes", "hits")


def store_answers(
    file: Path, method: str, questions: QuestionSet, examples: tuple[Example, ...], path: Path, config: RunConfig
) -> None:
    """Write a run at `path` of the answers in a file. Raises `BadInput` for answers to other questions."""
    table = [(required(row, "id", path=file), row) for row in rows(file)]
    unique((question for question, _ in table), path=file)
    of_question = dict(table)
    if unknown := of_question.keys() - {example.question.id for example in examples}:
        raise BadInput(f"{file} answers {min(unknown)!r}, which is none of the questions: choose those that it answers")
    lines = [_line(file, method, example, of_question.get(example.question.id)) for example in examples]
    manifest = RunManifest(
        graph="",
        graph_sha256="",
        nodes=0,
        edges=0,
        dataset=questions.name,
        questions_sha256=questions.sha256,
        count=len(examples),
        candidates=questions.candidates,
        methods={method: {"answers_sha256": digest([file])}},
        notes=questions.notes_on(examples),
        **provenance(),
        **config.model_dump(exclude={"workers", "retry_failed"}),
    )
    claim(path)
    with lock(path):
        begin(path, manifest, examples)
        journal = Journal(path)
        for line in lines:
            if (line.id, method) not in journal.done:
                journal.add(line, ())


def _line(file: Path, method: str, example: Example, row: QuestionRow | None) -> Line:
    question = example.question
    line = Line(id=question.id, method=method, question=question.text, gold=example.gold, fields=example.fields)
    if row is None:
        return line.model_copy(update={"error": f"{file.name} has no line for this question"})
    filled = {name: value for name, value in row.items() if value is not None and name not in ("id", "question")}
    said = [name for name in FORMS if name in filled]
    if len(said) > 1 or (filled and not said):
        raise BadInput(f"{file}: {question.id!r} has {', '.join(filled)}; it needs one of {', '.join(FORMS)}")
    form = said[0] if said else None
    value = filled.get(form or "")
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, list | dict) for item in items) or (form in ("nodes", "hits") and items is not value):
        raise BadInput(f"{file}: {form} of {question.id!r} is {str(value)[:60]}; see orienteer eval score --help")
    texts, is_read = [str(item) for item in items if item is not None], form == "nodes"
    is_refused = form is None or (form == "answer" and not any(text.strip() for text in texts))
    ranked = [Ranked(id=one, type="", name=one, score=0.0, complete=is_read) for one in texts if form != "answer"]
    return line.model_copy(
        update={
            "hits": tuple(ranked),
            "answer": "\n".join(texts) if form == "answer" and not is_refused else None,
            "reading": Reading(complete=True, total=len(set(texts))) if is_read else None,
            "refusal": Refusal(kind="not_understood", text="it says that there is no answer") if is_refused else None,
        }
    )
