"""The description of a data set: its name, where it is from, how it is recognised and read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from orienteer.errors import BadOption
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.examples import Example, QuestionSet


class Reads(Protocol):
    """Reads a data set's questions from a file or a folder."""

    def __call__(self, path: Path, *, split: str | None, graph: Graph | None) -> QuestionSet:
        """Return the questions. Raises `BadInput` for broken files, `BadOption` for an unknown split."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """One benchmark. Nothing is ever downloaded: `url` is where a person gets the files."""

    name: str
    about: str
    """What it is and its terms; how its files are hashed, if not by `digest`."""
    looks_for: str
    """What it is recognised by, as messages put it."""
    recognises: Callable[[Path], bool]
    """Whether a file or a folder holds it, by columns, keys and names. Raises nothing."""
    read: Reads
    url: str = ""


def of_split(examples: Sequence[Example], split: str | None, *, path: Path, field: str = "split") -> list[Example]:
    """Return the examples of one split, all of them for None. Raises `BadOption` that lists the splits."""
    if split is None:
        return list(examples)
    chosen = [example for example in examples if example.fields.get(field) == split]
    if not chosen:
        raise unknown_split(
            split, {str(example.fields[field]) for example in examples if field in example.fields}, path=path
        )
    return chosen


def unknown_split(split: str, splits: Iterable[str], *, path: Path) -> BadOption:
    """Return the error for a split that the questions do not have."""
    names = sorted(splits)
    if not names:
        return BadOption(f"{path} has no splits: leave out --split {split}")
    return BadOption(f"{path} has no split {split!r}. There are: {', '.join(names)}.")
