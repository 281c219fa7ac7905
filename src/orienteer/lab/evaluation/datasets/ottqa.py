"""OTT-QA: questions over tables and passages, in its own files or as a table of questions beside tables and passages.

Gold are the passages that hold the answer and the segments of the table whose rows lead to it, as importing the
tables gives them. Only the traced questions (`dev.traced.json`, `train.traced.json`) say which they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from orienteer.errors import BadInput
from orienteer.graph.store import Graph
from orienteer.ingest.formats.files import stem
from orienteer.ingest.tables.values import identifier
from orienteer.lab.evaluation.datasets.rows import (
    Dataset,
    QuestionRow,
    digest,
    examples_of,
    fields,
    files_in,
    keys,
    listed,
    of_split,
    required,
    rows,
)
from orienteer.lab.evaluation.examples import Example, Gold, QuestionSet
from orienteer.lab.formats import ottqa
from orienteer.records import Question

COLUMNS = frozenset({"question_id", "question", "table_id"})
ANSWERS = ("answer", "answer-text")
NODES = ("answer_nodes", "answer-node")
OWN = (*ANSWERS, *NODES, "question_id", "question", "gold_passages", "gold_rows", "question_postag", "version")
FOLDERS = ("", "released_data")
TRACED = ".traced.json"


def _question_files(path: Path) -> list[Path]:
    """Return the files of questions: only the traced ones, if there are any."""
    files = [
        file for name in FOLDERS for file in (files_in(path / name, root=path) if path.is_dir() else [])
    ] or files_in(path)
    tables = [file for file in files if keys(file) >= COLUMNS]
    return [file for file in tables if file.name.endswith(TRACED)] or tables


def recognises(path: Path) -> bool:
    """Whether there are questions with `question_id` and `table_id`."""
    return bool(_question_files(path))


def read(path: Path, *, split: str | None, graph: Graph | None) -> QuestionSet:
    """Read the file of questions; the one that the split names, if there are several."""
    candidates = _question_files(path)
    files = [file for file in candidates if split is not None and file.name.split(".")[0] == split] or candidates
    if len(files) != 1:
        names = ", ".join(file.name for file in files) or "none"
        raise BadInput(f"{path} holds {len(files)} files of OTT-QA's questions ({names}): name the file, or a --split")
    file = files[0]
    counts, table_files = _row_counts(file)
    table = rows(file)
    words = stem(file).casefold().replace(".", "_").split("_")
    file_split = next((word for word in words if word in ("train", "dev", "test")), None)
    examples = examples_of(table, lambda row: _example(row, counts, file, file_split), path=file)
    chosen = tuple(of_split(examples, split, path=file))
    return QuestionSet("ottqa", chosen, digest([file, *table_files]), notes=_notes(chosen), remarks=_notes)


def _notes(examples: Sequence[Example]) -> tuple[str, ...]:
    bare = sum(not example.gold.nodes for example in examples)
    return (f"{bare} of {len(examples)} questions do not say where their answer is found",) if bare else ()


def _row_counts(file: Path) -> tuple[Mapping[str, int], list[Path]]:
    """Return the number of rows of each table near the questions, and the files that were read to know it."""
    for folder in (file.parent, file.parent.parent):
        tables = ottqa.recognize(folder)
        if tables is not None:
            read = [] if tables.is_official else [tables.files[0]]
            return {table.id: len(table.rows) for table in tables.tables()}, read
    return {}, []


def _example(row: QuestionRow, counts: Mapping[str, int], file: Path, split: str | None) -> Example:
    traced = listed(next((row[key] for key in NODES if row.get(key)), None))
    if row.get("gold_passages") is not None:
        passages, lines = listed(row["gold_passages"]), listed(row.get("gold_rows"))
    else:
        passages = sorted({node[2] for node in traced if node[2]})
        lines = sorted({node[1][0] for node in traced})
    table_id = required(row, "table_id", path=file)
    if lines and table_id not in counts:
        raise BadInput(f"{file}: the table {table_id!r} is not beside the questions: keep OTT-QA's folders together")
    gold = [*passages, *(ottqa.segment_of(table_id, line, counts[table_id]) for line in lines)]
    answer = next((identifier(row[key]) for key in ANSWERS if row.get(key)), "")
    own_fields = fields(row, but=OWN)
    own_fields.setdefault("where", "+".join(sorted({node[3] for node in traced})) or None)
    own_fields.setdefault("split", split)
    return Example(
        question=Question(id=required(row, "question_id", path=file), text=required(row, "question", path=file)),
        gold=Gold(nodes=dict.fromkeys(gold, 1.0), answers=(answer,) if answer else (), answer_type="entity"),
        fields={name: value for name, value in own_fields.items() if value is not None},
    )


DATASET = Dataset(
    name="ottqa",
    about="Questions over tables and passages of Wikipedia (MIT); gold passages and gold segments of tables.",
    url="https://github.com/wenhuchen/OTT-QA (released_data/dev.traced.json, data/)",
    looks_for="questions with question_id, question and table_id",
    recognises=recognises,
    read=read,
)
