"""HyperGraphRAG's questions over one domain each, of which GraphSearch takes Medicine, Agriculture and Legal.

`datasets/DOMAIN/questions.json` (Medicine is `hypertension`): a list of `{question, golden_answers, context, nary,
nhop}`. The answers are other ways to write one; `context` are the texts that the question was made from, some of them
twice. The corpus is `contexts/DOMAIN_contexts.json`, which `orienteer build` reads. The files name no passages: where a
graph is given, gold are the chunks and tables that hold these texts whole, the first where several do.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np

from orienteer.graph.store import Graph
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
    rows,
    the_one,
)
from orienteer.lab.evaluation.examples import Example, Gold, QuestionSet
from orienteer.records import Question

COLUMNS = frozenset({"question", "golden_answers", "context"})
PASSAGES = ("chunk", "table")
PLACE = "\0place"
"""The column of a question's place in its file, from 1: its id, since the files give none."""


def _question_files(path: Path) -> list[Path]:
    return [file for file in files_in(path) if file.suffix == ".json" and keys(file) >= COLUMNS]


def recognises(path: Path) -> bool:
    """Whether there is one JSON file of questions with `golden_answers` and `context`."""
    return len(_question_files(path)) == 1


def read(path: Path, *, split: str | None, graph: Graph | None) -> QuestionSet:
    """Read the questions; each is named by its place in the file, from 1."""
    file = the_one(_question_files(path), path, of="HyperGraphRAG's questions")
    table = [{**row, PLACE: str(place)} for place, row in enumerate(rows(file), 1)]
    examples: Sequence[Example] = examples_of(table, _example, path=file)
    if graph is not None:
        examples = _placed(examples, graph)
    chosen = tuple(of_split(examples, split, path=file))
    notes = _notes if graph is not None else None
    return QuestionSet(
        "hypergraphrag", chosen, digest([file]), notes=notes(chosen) if notes is not None else (), remarks=notes
    )


def _notes(examples: Sequence[Example]) -> tuple[str, ...]:
    bare = sum(not example.gold.nodes for example in examples)
    if not bare:
        return ()
    return (f"{bare} of {len(examples)} questions have evidence that no single passage of the graph contains",)


def _example(row: QuestionRow) -> Example:
    text = row["question"]
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{text!r} is not a question")
    return Example(
        question=Question(id=row[PLACE], text=text),
        gold=Gold(answers=_texts(row["golden_answers"]), evidence=_texts(row["context"])),
        fields=fields(row, but=(PLACE, *COLUMNS)),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in listed(value) if isinstance(text, str) and text.strip()))


def _placed(examples: Sequence[Example], graph: Graph) -> list[Example]:
    """Return the questions with the passages that contain their evidence; no passages if one is missing."""
    holders = _holders(graph, {text for example in examples for text in example.gold.evidence})
    placed = []
    for example in examples:
        passages = [holders.get(text) for text in example.gold.evidence]
        nodes = {} if None in passages else {node: 1.0 for node in passages if node is not None}
        placed.append(example.model_copy(update={"gold": example.gold.model_copy(update={"nodes": nodes})}))
    return placed


def _holders(graph: Graph, texts: Collection[str]) -> dict[str, str]:
    """Return for each text the id of the first passage that contains it, spaces and case aside."""
    kinds = [name for name in PASSAGES if name in graph.arrays.types.nodes]
    mask = graph.arrays.mask(kinds) if kinds else None
    places = range(len(graph)) if mask is None else np.flatnonzero(mask).tolist()
    passages = [_plainly(graph.arrays.texts[row]) for row in places]
    starts = list(accumulate((len(passage) + 1 for passage in passages), initial=0))
    whole = "\n".join(passages)  # searched as one text: no passage contains a line end any more
    places_of = {text: whole.find(_plainly(text)) for text in texts}
    return {text: graph.arrays.ids[places[bisect_right(starts, at) - 1]] for text, at in places_of.items() if at >= 0}


def _plainly(text: str) -> str:
    return "".join(text.split()).casefold()


DATASET = Dataset(
    name="hypergraphrag",
    about="Questions over guidelines, agriculture, law and others, made from facts of these texts (MIT).",
    url="https://github.com/LHRLAB/HyperGraphRAG (evaluation/README.md says where datasets and contexts lie)",
    looks_for="a JSON list of questions with golden_answers and context",
    recognises=recognises,
    read=read,
)
