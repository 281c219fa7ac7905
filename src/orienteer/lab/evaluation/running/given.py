"""The answers of another system as a run, so that every table and comparison has them beside ours.

    {"id": "test-hetionet-1", "answer": 12}                        words, a number, true or false, a list of names
    {"id": "test-hetionet-2", "nodes": ["Gene::1", "Gene::2"]}     all nodes that answer
    {"id": "test-hetionet-3", "hits": ["Gene::2", "Gene::1"]}      a ranking, which claims no answer
    {"id": "test-hetionet-4", "answer": null}                      it says that there is no answer

A question without a line counts as one that failed.
"""

from __future__ import annotations

import platform
from pathlib import Path

from orienteer.errors import BadInput
from orienteer.lab.evaluation.datasets.rows import QuestionRow, rows
from orienteer.lab.evaluation.examples import Example, QuestionSet
from orienteer.lab.evaluation.running.runner import RunConfig, begin, claim
from orienteer.lab.evaluation.running.runs import Journal, Line, RunManifest, commit, lock, now
from orienteer.records import Ranked, Reading, Refusal
from orienteer.version import __version__


def store_answers(
    file: Path, method: str, questions: QuestionSet, examples: tuple[Example, ...], path: Path, config: RunConfig
) -> None:
    """Write a run at `path` of the answers in a file. Raises `BadInput` for answers to other questions."""
    given = {str(row.get("id")): row for row in rows(file)}
    if unknown := given.keys() - {example.question.id for example in examples}:
        raise BadInput(f"{file} answers {min(unknown)!r}, which is none of the questions: choose those that it answers")
    lines = [_line(file, method, example, given.get(example.question.id)) for example in examples]
    manifest = RunManifest(
        graph="",
        graph_sha256="",
        nodes=0,
        edges=0,
        dataset=questions.name,
        questions_sha256=questions.sha256,
        count=len(examples),
        candidates=questions.candidates,
        methods={method: {}},
        notes=questions.notes_on(examples),
        orienteer=__version__,
        python=platform.python_version(),
        commit=commit(),
        created=now(),
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
    answer, nodes, hits = (row.get(name) for name in ("answer", "nodes", "hits"))
    if not all(
        ids is None or (isinstance(ids, list) and all(isinstance(one, str) for one in ids)) for ids in (nodes, hits)
    ):
        raise BadInput(f"{file}: nodes and hits of {question.id!r} must be lists of ids")
    if isinstance(answer, list):
        answer = "\n".join(map(str, answer))
    is_read, is_refused = nodes is not None, nodes is None and hits is None and answer is None
    ranked = [Ranked(id=one, type="", name=one, score=0.0, complete=is_read) for one in nodes or hits or ()]
    return line.model_copy(
        update={
            "hits": tuple(ranked),
            "answer": None if answer is None else str(answer),
            "reading": Reading(complete=True, total=len(ranked)) if is_read else None,
            "refusal": Refusal(kind="not_understood", text="it says that there is no answer") if is_refused else None,
        }
    )
