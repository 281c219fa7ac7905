"""The few operations that the golds over the parish need beyond those of `Frames`: its cells are all texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from .frames import Frames


def id_of(w: Frames, kind: str, *names: str) -> frozenset[str]:
    """Return the nodes of a kind with one of these names, each of which only one node may bear."""
    ids = w.named(*names, kind=kind)
    if len(ids) != len(names):
        raise ValueError(f"shared by two: {', '.join(names)}")
    return ids


def leading(w: Frames, kind: str, edge: str, targets: Iterable[str]) -> frozenset[str]:
    """Return the nodes of a kind with an edge to one of these nodes: employees, projects and vehicles share one."""
    return w.into(edge, targets) & w.all(kind)


def numbers(w: Frames, kind: str, column: str) -> pd.Series[Any]:
    """Return a property as numbers, less any unit after them, by id; nodes without it are left out."""
    return w.values(kind, column).str.extract(r"^(-?\d+(?:\.\d+)?)(?: \w+)?$", expand=False).astype(float)


def equal(w: Frames, kind: str, column: str, text: str) -> frozenset[str]:
    """Return the nodes of a kind whose property says exactly this."""
    values = w.values(kind, column)
    return frozenset(values.index[values == text])


def number_of(w: Frames, kind: str, name: str, column: str) -> float:
    """Return the number that a property of the only node with a name says."""
    (id_,) = id_of(w, kind, name)
    return float(numbers(w, kind, column)[id_])


def text_of(w: Frames, kind: str, name: str, column: str) -> frozenset[str]:
    """Return the text that a property of the only node with a name says."""
    (id_,) = id_of(w, kind, name)
    return frozenset([str(w.values(kind, column)[id_])])
