"""TREC's files: `NAME.queries` with id and text, `NAME.qrels` with four columns.

mFAR publishes STaRK so: a corpus of `id<TAB>json`, `NAME.queries` and `NAME.qrels` for each split.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from orienteer.errors import BadInput, Error
from orienteer.graph.store import Graph
from orienteer.ingest.formats.files import opened_text
from orienteer.lab.evaluation.datasets.rows import Dataset, digest, files_in, unique, unknown_split
from orienteer.lab.evaluation.examples import Example, Gold, QuestionSet
from orienteer.records import Question

QUERIES, QRELS = "queries", "qrels"


def _kind(file: Path) -> tuple[str, str] | None:
    """Return the kind and the split that a file's name tells: `val.queries`, `qrels.test.tsv`. None for any other."""
    words = [word for word in file.name.casefold().removesuffix(".gz").split(".") if word not in ("tsv", "txt")]
    kind = next(
        (kind for kind in (QUERIES, QRELS) if kind in words or words[:1] and words[0].endswith(f"_{kind}")), None
    )
    if kind is None:
        return None
    return kind, ".".join(word for word in words if word != kind).removesuffix(f"_{kind}")


def _pairs(path: Path) -> dict[str, tuple[Path, Path]]:
    """Return the files of queries and qrels by split; for a file, it and the one beside it."""
    own = None if path.is_dir() else _kind(path)
    files = {kind: file for file in files_in(path if path.is_dir() else path.parent) if (kind := _kind(file))}
    splits = sorted({split for _, split in files} if own is None else {own[1]})
    if path.is_file() and own is None:
        return {}
    by_split = {
        split: (files.get((QUERIES, split)) or files.get((QUERIES, "")), files.get((QRELS, split))) for split in splits
    }
    return {split: (queries, qrels) for split, (queries, qrels) in by_split.items() if queries and qrels}


def recognises(path: Path) -> bool:
    """Whether there are files of queries and qrels, by their names and first lines."""
    pairs = _pairs(path)
    try:
        return bool(pairs) and all(
            next(_columns(queries, 2), None) and next(_columns(qrels, 4), None) for queries, qrels in pairs.values()
        )
    except Error:
        return False


def read(path: Path, *, split: str | None, graph: Graph | None) -> QuestionSet:
    """Read the queries with their judgements, if any; a relevance of 0 or less is not gold.

    A note tells of judgements whose queries are missing.
    """
    pairs = _pairs(path)
    if not pairs:
        raise BadInput(f"{path} holds no queries and qrels: name a folder with NAME.queries and NAME.qrels")
    if split is not None and split not in pairs:
        raise unknown_split(split, [name for name in pairs if name], path=path)
    chosen = {split: pairs[split]} if split is not None else pairs
    examples: list[Example] = []
    lost: list[str] = []
    for name, (queries, qrels) in chosen.items():
        judged = _judgements(qrels)
        several = queries in [other for label, (other, _) in pairs.items() if label != name]
        for query_id, text in _columns(queries, 2):
            if several and query_id not in judged:
                continue  # the queries of all splits lie in one file
            gold = Gold(nodes=judged.get(query_id, {}))
            own_fields = {"split": name} if name else {}
            examples.append(
                Example(question=Question(id=query_id, text=text.strip()), gold=gold, fields=dict(own_fields))
            )
        ids = {example.question.id for example in examples}
        lost += [query_id for query_id in judged if query_id not in ids]
    unique((example.question.id for example in examples), path=path)
    files = list(dict.fromkeys(file for pair in chosen.values() for file in pair))
    notes = (f"{len(lost)} queries have judgements and no text, so they are not asked: {lost[0]}",) if lost else ()
    return QuestionSet("trec", tuple(examples), digest(files), notes=notes)


def _columns(file: Path, count: int) -> Iterator[list[str]]:
    """Read lines of columns: two with a tab between them, four with any space. Raises `BadInput` for another line."""
    with opened_text(file) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            columns = line.rstrip("\r\n").split("\t", 1) if count == 2 else line.split()
            if len(columns) != count or not all(column.strip() for column in columns):
                raise BadInput(f"{file}, line {number}: {line.strip()[:60]!r} does not have {count} columns")
            yield columns


def _judgements(file: Path) -> dict[str, dict[str, float]]:
    judgements: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for query_id, _, document, relevance in _columns(file, 4):
        try:
            value = float(relevance)
        except ValueError as error:
            raise BadInput(
                f"{file}: {relevance!r} is not a relevance: the four columns are query, 0, node, relevance"
            ) from error
        if not math.isfinite(value):
            raise BadInput(
                f"{file}: the relevance {relevance!r} of {document!r} for {query_id!r} is not a finite number"
            )
        if value > 0:
            judgements[query_id][document] = value
    return judgements


DATASET = Dataset(
    name="trec",
    about="Queries (id, tab, text) with judgements in TREC's four columns, as mFAR publishes STaRK; one pair a split.",
    looks_for="NAME.queries and NAME.qrels, or queries.tsv and qrels.tsv",
    recognises=recognises,
    read=read,
)
