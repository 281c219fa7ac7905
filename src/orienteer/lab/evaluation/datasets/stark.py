"""STaRK's questions: the official folders of csv and split files, and one table with a column for the split.

    qa/{amazon,mag,prime}/stark_qa/stark_qa.csv                        id, query, answer_ids = "[12, 34]"
    qa/{amazon,mag,prime}/stark_qa/stark_qa_human_generated_eval.csv   the questions that people wrote: split `human`
    qa/{amazon,mag,prime}/split/{train,val,test,test-0.1}.index        one question *id* a line, no row numbers

Node ids are the numbers of the knowledge base as text, as importing it gives them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from orienteer.errors import BadInput
from orienteer.graph.store import Graph
from orienteer.ingest.formats.files import stem, suffix
from orienteer.ingest.tables.values import identifier
from orienteer.lab.evaluation.datasets.rows import (
    Dataset,
    QuestionRow,
    digest,
    examples_of,
    fields,
    files_in,
    keys,
    of_split,
    required,
    rows,
    unknown_split,
)
from orienteer.lab.evaluation.examples import Example, Gold, QuestionSet
from orienteer.records import Question

KNOWLEDGE_BASES = ("amazon", "mag", "prime")
CANDIDATES = {"amazon": ("product",), "mag": ("paper",)}
"""Node types that may answer, by knowledge base; every node of PRIME may. The official figures drop other hits."""
COLUMNS = frozenset({"query", "answer_ids"})
OWN = ("id", "query", "answer_ids")
HUMAN = "human"
"""The split of the questions that people wrote, which have a file of their own."""


def _question_files(path: Path) -> list[Path]:
    folders = [path, path / "stark_qa"] if path.is_dir() else [path]
    return [file for folder in folders for file in files_in(folder, root=folders[0]) if keys(file) >= COLUMNS]


def _is_human(file: Path) -> bool:
    return "human" in stem(file).casefold()


def recognises(path: Path) -> bool:
    """Whether a table has the columns `query` and `answer_ids`."""
    return bool(_question_files(path))


def read(path: Path, *, split: str | None, graph: Graph | None) -> QuestionSet:
    """Read one knowledge base's questions: the generated ones, or those that people wrote for the split `human`."""
    file = _question_file(path, split)
    base = _knowledge_base(file)
    table = rows(file)
    indexes = {} if _is_human(file) else _indexes(file)
    split_of = _splits(indexes)
    examples = examples_of(table, lambda row: _example(row, split_of, file), path=file)
    files = [file]
    if split in indexes and split is not None:
        examples = _chosen(examples, _ids(indexes[split]), indexes[split])
        files.append(indexes[split])
    elif not _is_human(file):
        splits = {*indexes, *(str(example.fields["split"]) for example in examples if "split" in example.fields)}
        if split is not None and split not in splits:
            others = {HUMAN} if any(map(_is_human, files_in(file.parent))) else set()
            raise unknown_split(split, splits | others, path=file)
        examples = of_split(examples, split, path=file)
        files += indexes.values()
    notes = () if base else ("It is not known which knowledge base this is, so no node types are left out as answers.",)
    return QuestionSet(
        name="stark",
        examples=tuple(examples),
        sha256=digest(files),
        candidates=CANDIDATES.get(base or ""),
        notes=notes,
        meta={"knowledge_base": base, "human": _is_human(file)},
    )


def _question_file(path: Path, split: str | None) -> Path:
    """Return the file to read. Raises `BadInput` if there is none, or one for each of several knowledge bases."""
    is_human = split == HUMAN
    if path.is_file() and (split is None or _is_human(path) == is_human):
        return path
    base = _knowledge_base(path) if path.is_file() else None
    tables = _question_files(path.parent if path.is_file() else path)
    files = [file for file in tables if _is_human(file) == is_human and base in (None, _knowledge_base(file))]
    if len(files) == 1:
        return files[0]
    if not files:
        raise BadInput(f"{path} holds no table of STaRK's questions for the split {split} (query, answer_ids)")
    names = ", ".join(file.name for file in files)
    raise BadInput(f"{path} holds the questions of several knowledge bases ({names}): name one of the files")


def _knowledge_base(file: Path) -> str | None:
    """Return the knowledge base by the names of the file and of its two nearest folders."""
    for name in (stem(file), *(folder.name for folder in list(file.resolve().parents)[:2])):
        words = name.casefold().replace("primekg", "prime").replace("-", "_").split("_")
        base_name = next((base for base in KNOWLEDGE_BASES if base in words), None)
        if base_name is not None:
            return base_name
    return None


def _indexes(file: Path) -> dict[str, Path]:
    """Return the files of the splits beside a table, by split."""
    folder = next((folder for folder in (file.parent / "split", file.parent.parent / "split") if folder.is_dir()), None)
    return (
        {index.name.removesuffix(".index"): index for index in files_in(folder) if suffix(index) == ".index"}
        if folder
        else {}
    )


def _ids(index: Path) -> list[str]:
    return index.read_text(encoding="utf-8", errors="replace").split()


def _splits(indexes: dict[str, Path]) -> dict[str, str]:
    """Return the split of each question; samples of a split (`test-0.1`) do not rename it."""
    return {question_id: name for name, index in indexes.items() if "-" not in name for question_id in _ids(index)}


def _chosen(examples: Sequence[Example], ids: Iterable[str], index: Path) -> list[Example]:
    by_id = {example.question.id: example for example in examples}
    missing = [question_id for question_id in ids if question_id not in by_id]
    if missing:
        raise BadInput(
            f"{index} names the question {missing[0]!r}, which is not in the table: download both from the same release"
        )
    return [by_id[question_id] for question_id in ids]


def _example(row: QuestionRow, split_of: dict[str, str], file: Path) -> Example:
    question_id = required(row, "id", path=file)
    own_fields = fields(row, but=OWN)
    if _is_human(file):
        own_fields["split"] = HUMAN
    elif question_id in split_of:
        own_fields["split"] = split_of[question_id]
    return Example(
        question=Question(id=question_id, text=required(row, "query", path=file)),
        gold=Gold(nodes=dict.fromkeys(_answer_ids(row["answer_ids"], question_id, file), 1.0)),
        fields=own_fields,
    )


def _answer_ids(value: Any, question_id: str, file: Path) -> list[str]:  # Any: a list, or one written as text
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)  # a literal: nothing in it is run
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise BadInput(
                f"{file}: the answer_ids of question {question_id} are not a list: {value[:60]!r}"
            ) from error
    if not isinstance(value, list) or not all(isinstance(answer_id, int | str) for answer_id in value):
        raise BadInput(f"{file}: the answer_ids of question {question_id} are not a list of ids: {str(value)[:60]!r}")
    return list(map(identifier, value))


DATASET = Dataset(
    name="stark",
    about=(
        "Questions over the semi-structured knowledge bases AMAZON, MAG and PRIME (CC BY 4.0). Answers changed between "
        "releases, so the hash of the table and of the split that was read goes with every figure."
    ),
    url="https://huggingface.co/datasets/snap-stanford/stark",
    looks_for="a table with the columns query and answer_ids (qa/{amazon,mag,prime}/stark_qa/stark_qa.csv)",
    recognises=recognises,
    read=read,
)
