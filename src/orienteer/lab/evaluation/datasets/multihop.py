"""HotpotQA, 2WikiMultiHopQA and MuSiQue: questions over passages, in HippoRAG's files or as two tables.

HippoRAG's files: `NAME.json`, a list of questions with their paragraphs or context, and `NAME_corpus.json`, a list of
`{title, text}`. Tables: questions with `gold_pids`, and beside them a corpus with `pid`, `title` and `text`.
A passage's node is its `pid`, or its place in the list, from 0: as importing the corpus gives it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

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
    unpacked,
)
from orienteer.lab.evaluation.examples import Example, Gold, QuestionSet
from orienteer.records import Question

CORPUS = "_corpus"
"""How HippoRAG ends the name of the file of passages."""
TELLING: Mapping[str, frozenset[str]] = {
    "musique": frozenset({"hops", "decomposition", "question_decomposition", "paragraphs"}),
    "2wikimultihopqa": frozenset({"evidences", "evidences_id"}),
    "hotpotqa": frozenset({"supporting_facts"}),
}
"""Columns that only this data set has, among the questions; those of 2WikiMultiHopQA come before HotpotQA's."""
QUESTION_COLUMNS = frozenset({"question", "answer"})
GOLD_COLUMNS = ("gold_pids", "supporting_facts", "paragraphs")
OWN = ("id", "_id", "question", "answer", "answer_aliases", "gold_pids", "context_pids", "context", "paragraphs")
WRITTEN_AS_JSON = ("decomposition", "evidences", "supporting_facts", "question_decomposition")


def kind_of(file: Path) -> str | None:
    """Return which of the three data sets a file's columns show, None for any other file."""
    columns = keys(file)
    if not columns >= QUESTION_COLUMNS or not columns & set(GOLD_COLUMNS):
        return None
    return next((name for name, telling in TELLING.items() if columns & telling), None)


def recognises(path: Path, *, name: str) -> bool:
    """Whether there is one file with the columns of this data set, and none of the others."""
    kinds = [kind for file in files_in(path) if (kind := kind_of(file)) is not None]
    return kinds == [name]


def read(path: Path, *, split: str | None, graph: Graph | None, name: str) -> QuestionSet:
    """Read the questions, and the passages where the gold ones are named by title and text."""
    candidates = [file for file in files_in(path) if kind_of(file) == name]
    if len(candidates) != 1:
        names = ", ".join(file.name for file in candidates) or "none"
        raise BadInput(
            f"{path} holds {len(candidates)} files of the questions of {name} ({names}): name the file itself"
        )
    file = candidates[0]
    files = [file]
    table = rows(file)
    passages: Passages | None = None
    if "gold_pids" not in keys(file):
        corpus = file.with_name(f"{stem(file)}{CORPUS}{file.suffix}")
        passages = Passages(corpus)
        files.append(corpus)
    examples = examples_of(table, lambda row: _example(row, file, name, passages), path=file)
    chosen = tuple(of_split(examples, split, path=file))
    return QuestionSet(name, chosen, digest(files), notes=_notes(chosen), remarks=_notes)


def _notes(examples: Sequence[Example]) -> tuple[str, ...]:
    lost = [example.question.id for example in examples if not example.gold.nodes]
    if not lost:
        return ()
    return (f"{len(lost)} of {len(examples)} questions have no gold passages in the corpus: {lost[0]}",)


class Passages:
    """HippoRAG's corpus by title."""

    def __init__(self, file: Path) -> None:
        if not file.exists():
            raise BadInput(f"{file} is missing: put the passages beside the questions under this name")
        self._by_title: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        for place, row in enumerate(rows(file)):
            self._by_title[identifier(row.get("title"))].append((str(place), _plainly(identifier(row.get("text")))))

    def find(self, title: str, text: str) -> str | None:
        """Return the passage with this title and text, spaces aside; None if there is none."""
        plain = _plainly(text)
        return next((place for place, other in self._by_title.get(title, ()) if other == plain), None)


def _plainly(text: str) -> str:
    return "".join(text.split())


def _example(row: QuestionRow, file: Path, name: str, passages: Passages | None) -> Example:
    question_id = identifier(row.get("id")) or required(row, "_id", path=file)
    nodes = map(identifier, listed(row["gold_pids"])) if passages is None else _by_text(row, passages)
    aliases = [alias for alias in listed(row.get("answer_aliases")) if isinstance(alias, str) and alias.strip()]
    answer = required(row, "answer", path=file)
    return Example(
        question=Question(id=question_id, text=required(row, "question", path=file)),
        gold=Gold(
            nodes=dict.fromkeys(nodes, 1.0),
            answers=tuple(dict.fromkeys([answer, *aliases])),
            answer_type="boolean" if answer in ("yes", "no") else "entity",
        ),
        fields=_fields(row, question_id, name),
    )


def _fields(row: QuestionRow, question_id: str, name: str) -> dict[str, Any]:  # Any: JSON
    """Return the benchmark's own fields; MuSiQue's type and hops stand in the id (`3hop1__...`)."""
    opened = {key: unpacked(row[key]) for key in WRITTEN_AS_JSON if key in row}
    own_fields: dict[str, Any] = fields({**row, **opened}, but=OWN)
    if name == "musique" and "hop" in (kind := question_id.split("__")[0]):
        own_fields.setdefault("type", kind)
        if kind[0].isdigit():
            own_fields.setdefault("hops", int(kind[0]))
    return own_fields


def _by_text(row: QuestionRow, passages: Passages) -> list[str]:
    """Return the gold passages of one of HippoRAG's questions; none if the corpus lacks one of them."""
    places = [passages.find(title, text) for title, text in dict.fromkeys(_gold_texts(row))]
    return [place for place in places if place is not None] if None not in places else []


def _gold_texts(row: QuestionRow) -> Iterable[tuple[str, str]]:
    """Return title and text of each gold passage."""
    if "paragraphs" in row:
        for paragraph in row["paragraphs"]:
            if paragraph.get("is_supporting", True):
                yield paragraph["title"], paragraph.get("paragraph_text") or paragraph.get("text") or ""
        return
    titles = dict.fromkeys(fact[0] for fact in row["supporting_facts"])
    context = [(title, " ".join(sentences)) for title, sentences in row["context"] if title in titles]
    yield from context
    for title in titles.keys() - {title for title, _ in context}:
        yield title, ""  # not in the context, so it is not found: a question needs all of its gold passages


def _dataset(name: str, about: str, url: str, looks_for: str) -> Dataset:
    return Dataset(name, about, looks_for, partial(recognises, name=name), partial(read, name=name), url)


DATASETS = (
    _dataset(
        "2wikimultihopqa",
        "Questions over two and more passages of Wikipedia, with their evidence as triples (Apache-2.0).",
        "https://huggingface.co/datasets/osunlp/HippoRAG_2 (2wikimultihopqa.json, 2wikimultihopqa_corpus.json)",
        "questions with answers and evidences, and gold_pids or context",
    ),
    _dataset(
        "musique",
        "Questions of two to four hops (CC BY 4.0); `type` is the shape that the id names: 2hop, 3hop1, 4hop3.",
        "https://huggingface.co/datasets/osunlp/HippoRAG_2 (musique.json, musique_corpus.json)",
        "questions with answers and hops or paragraphs, and gold_pids or is_supporting",
    ),
    _dataset(
        "hotpotqa",
        "Questions over two passages of Wikipedia (CC BY-SA 4.0); `type` is bridge or comparison.",
        "https://huggingface.co/datasets/osunlp/HippoRAG_2 (hotpotqa.json, hotpotqa_corpus.json)",
        "questions with answers and supporting_facts, and gold_pids or context",
    ),
)
