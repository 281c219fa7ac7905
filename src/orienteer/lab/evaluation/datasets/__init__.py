"""Benchmarks and files of questions, each a line in the table, recognised by their content."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from pathlib import Path

from orienteer.errors import BadInput, BadOption, nearest
from orienteer.graph.format import is_graph
from orienteer.graph.store import Graph
from orienteer.ingest.formats.files import stem
from orienteer.lab.evaluation.datasets import knowledge_bases, passages, rows
from orienteer.lab.evaluation.datasets.rows import Dataset
from orienteer.lab.evaluation.examples import QuestionSet
from orienteer.plugins import load, refused, registered

QUESTIONS = "questions"
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

    In a folder of several files of questions `split` names one: `musique` is `musique.json`. `exact` is the benchmark
    of this package, unless there is a file of that name. The graph resolves answers that are names to nodes. Raises
    `BadInput` if nothing is recognised or a file is broken, and `BadOption` for an unknown data set or split.
    """
    if str(path) == EXACT and not path.exists():
        path = Path(str(resources.files("orienteer.lab").joinpath(EXACT, "questions.jsonl")))
    if not path.exists():
        raise BadInput(f"{path} does not exist: name a file of questions, or the folder of a data set")
    found = _recognised(path) if dataset is None else named(dataset)
    if found is None and path.is_dir() and (files := _files_of_questions(path)):
        split = next(iter(files)) if split is None and len(files) == 1 else split
        if split not in files:
            raise BadInput(
                f"{path} holds several files of questions: name one of them with --split ({', '.join(files)}), or a "
                "data set with --dataset"
            )
        path, split = files[split], None
        found = _recognised(path)
    if found is None:
        looked = "; ".join(f"{one.name}: {one.looks_for}" for one in DATASETS)
        raise BadInput(
            f"{path} holds no questions in a known form. Looked for: {looked}. Name the data set with --dataset."
        )
    return found.read(path, split=split, graph=graph)


def _files_of_questions(folder: Path) -> dict[str, Path]:
    """Return the files that are a data set each, by name: those of a folder, or of `questions` in it.

    GraphSearch publishes six: `datasets/questions/NAME.json`, their passages in `datasets/contexts/NAME.txt`.
    """
    folders = (folder, folder / QUESTIONS, folder / "datasets" / QUESTIONS)
    files = [file for each in folders if each.is_dir() for file in rows.files_in(each, root=folder)]
    return {stem(file): file for file in files if _recognised(file) is not None}


def _recognised(path: Path) -> Dataset | None:
    return next((dataset for dataset in DATASETS if dataset.recognises(path)), None)


def are_questions(path: Path, dataset: str | None = None) -> bool:
    """Return whether a path is no graph, and `read_questions` finds questions there."""
    if not path.exists():
        return str(path) == EXACT
    has_any = dataset is not None or _recognised(path) is not None or bool(_files_of_questions(path))
    return has_any and not is_graph(path)


# The split that a student learns from, the splits that are watched while it learns, and others that files are named by.
TRAIN, WATCHED = "train", ("val", "validation")
_SPLITS = (TRAIN, *WATCHED, "dev", "test")


def read_taught(
    path: Path, *, dataset: str | None, split: str | None, is_test_allowed: bool, graph: Graph | None
) -> tuple[QuestionSet, str | None]:
    """Return questions that a student may learn from, and their split: `train`, if they have any and none is named.

    The questions of `test.jsonl` are of the split `test`, unless they name their own. Raises `BadOption` for another
    split than those that teach, unless allowed, and `BadInput` if there is no `train`.
    """
    if split not in (None, TRAIN, *WATCHED) and not is_test_allowed:
        raise BadOption(
            f"a student learns from {TRAIN} and val alone, not from the split {split!r}: leave --split out to ask "
            f"{TRAIN!r}, or allow it with --allow-test"
        )
    files = [stem(path)] if path.is_file() else list(_files_of_questions(path))
    if split is dataset is None and len(files) > 1 and TRAIN in files and _recognised(path) is None:
        split = TRAIN
    names = [split] if split in files else files
    name = names[0] if len(names) == 1 and names[0] in _SPLITS else None
    found = read_questions(path, dataset=dataset, split=None if files == [split] == [name] else split, graph=graph)
    splits = {str(one.fields["split"]) for one in found.examples if "split" in one.fields}
    if name is not None and not splits:
        examples = (one.model_copy(update={"fields": {**one.fields, "split": name}}) for one in found.examples)
        found, splits = replace(found, examples=tuple(examples)), {name}
    if split not in (None, name) or not splits:
        return found, split
    if split is None and TRAIN not in splits:
        there = ", ".join(sorted(splits))
        raise BadInput(f"{path} has no split {TRAIN!r}, only {there}: name the one that a student may see with --split")
    split = split or TRAIN
    return replace(found, examples=tuple(rows.of_split(found.examples, split, path=path))), split


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


__all__ = ["DATASETS", "Dataset", "are_questions", "named", "read_questions", "read_taught"]
