"""Benchmarks and files of questions, each a line in the table, recognised by their content."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from orienteer.errors import BadInput, BadOption, nearest
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.datasets import knowledge_bases, passages, rows
from orienteer.lab.evaluation.datasets.rows import Dataset
from orienteer.lab.evaluation.examples import QuestionSet
from orienteer.plugins import load, refused, registered

# In the order in which they are tried: the particular before the general.
DATASETS: tuple[Dataset, ...] = (
    knowledge_bases.STARK,
    knowledge_bases.GRBENCH,
    *passages.DATASETS,
    knowledge_bases.TREC,
    rows.DATASET,
)


# The benchmark that is part of the package, by the name that stands for its file; CARD.md is beside it.
EXACT = "exact"


def read_questions(
    path: Path, *, dataset: str | None = None, split: str | None = None, graph: Graph | None = None
) -> QuestionSet:
    """Return the questions of a file or a folder, as the data set that its content shows or that is named.

    `exact` is the benchmark of this package, unless there is a file of that name. The graph resolves answers that are
    names to nodes. Raises `BadInput` if nothing is recognised or a file is broken, and `BadOption` for an unknown data
    set or split.
    """
    if str(path) == EXACT and not path.exists():
        path = Path(str(files("orienteer.lab").joinpath(EXACT, "questions.jsonl")))
    if not path.exists():
        raise BadInput(f"{path} does not exist: name a file of questions, or the folder of a data set")
    return (recognise(path) if dataset is None else named(dataset)).read(path, split=split, graph=graph)


def named(name: str) -> Dataset:
    """Return a data set by its name, ours or an installed package's. Raises `BadOption` that lists them."""
    own = {dataset.name: dataset for dataset in DATASETS}
    dataset = own[name] if name in own else load("datasets", name, own)
    if dataset is None:
        names = [*own, *registered("datasets", own)]
        near = "".join(f" Did you mean {near_name}?" for near_name in nearest(name, names, most=1))
        raise BadOption(f"No data set {name!r}.{near} There are: {', '.join(names)}.")
    if not isinstance(dataset, Dataset) or dataset.name != name:
        raise refused("datasets", name, f"{dataset!r} is no Dataset of that name")
    return dataset


def recognise(path: Path) -> Dataset:
    """Return the data set at a path. Raises `BadInput` that lists what was looked for."""
    dataset = next((dataset for dataset in DATASETS if dataset.recognises(path)), None)
    if dataset is None:
        looked = "; ".join(f"{dataset.name}: {dataset.looks_for}" for dataset in DATASETS)
        raise BadInput(
            f"{path} holds no questions in a known form. Looked for: {looked}. Name the data set with --dataset."
        )
    return dataset


__all__ = ["DATASETS", "Dataset", "named", "read_questions", "recognise"]
