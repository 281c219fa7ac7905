"""The columns of a report: each method of each run, and which of them are variants of one method that was swept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orienteer.evaluation.running.runs import Line, StoredRun
from orienteer.evaluation.scores.table import Row, value_order

_AXES = ("agents", "max_steps")  # of ARK's figure 2, where they are swept: rows, then columns
_FEWEST = 3  # variants: fewer are read in the table


@dataclass(frozen=True, slots=True)
class Column:
    """One method of one run."""

    number: int
    name: str
    """The method, with the run's folder behind it in brackets where several runs have it."""
    run: StoredRun
    method: str
    lines: Mapping[str, Line]
    """By the question's id, the last where it was asked again."""
    row: Row
    """Its figures over all its questions."""

    @property
    def colour(self) -> str:
        """Return its colour, as CSS; there are eight."""
        return f"var(--c{self.number % 8})"


@dataclass(frozen=True, slots=True)
class Sweep:
    """Variants of one method in one run, by the values of the options in which they differ."""

    method: str
    run: str
    axes: Mapping[str, tuple[str, ...]]
    """Values of each swept option, in order; the first two options span the tables."""
    cells: Mapping[tuple[str, ...], Column]
    """By a value for each axis."""


def sweeps(columns: Sequence[Column]) -> list[Sweep]:
    """Return what was swept: for each run and method with several variants, the options in which they differ."""
    families: dict[tuple[str, str], list[Column]] = {}
    for one in columns:
        families.setdefault((str(one.run.path), one.method.split(" ", 1)[0]), []).append(one)
    found = []
    for (_, method), family in families.items():
        options = [one.run.manifest.methods.get(one.method, {}) for one in family]
        settled = [{name: _written(value) for name, value in those.items()} for those in options]
        names = dict.fromkeys(name for those in settled for name in those)
        swept = [name for name in names if len({those.get(name, "") for those in settled}) > 1]
        if len(family) < _FEWEST or not swept:
            continue
        swept.sort(key=lambda name: _AXES.index(name) if name in _AXES else len(_AXES))
        axes = {name: tuple(sorted({those.get(name, "") for those in settled}, key=value_order)) for name in swept}
        cells = {tuple(those.get(name, "") for name in swept): one for those, one in zip(settled, family, strict=True)}
        found.append(Sweep(method, family[0].run.path.name, axes, cells))
    return found


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
