"""Why a row was found: the one or two best things that spoke for it, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from orienteer.graph.store import Graph
from orienteer.retrieval.expansion.votes import Held

MOST = 2
"""Things that a reason names."""
_LENGTH = 60
"""Characters of a name that a reason shows."""


def name_of(graph: Graph, row: int) -> str:
    """Return what a reason calls a node: its name in one line, cut where it is long; its id where it has none."""
    name = " ".join(graph.arrays.names[row].split()) or graph.arrays.ids[row]
    return name if len(name) <= _LENGTH else f"{name[: _LENGTH - 1]}…"


def fact_of(graph: Graph, row: int) -> str:
    """Return a fact's short form in quotes: it is made of names and commas itself."""
    return f'"{name_of(graph, row)}"'


def leaves_open(words: Iterable[str], name: str) -> str:
    """Return that a passage says words of the question that another one, called by its name, has not."""
    return f"says {', '.join(words)}, which {name} leaves open"


def because(said: str, names: Iterable[str], otherwise: str) -> str:
    """Return a reason with the first names, each once; another reason where there are none."""
    first = list(dict.fromkeys(names))[:MOST]
    return f"{said} {', '.join(first)}" if first else otherwise


def holds(held: Held, row: int) -> Iterator[int]:
    """Yield the places of the items that a passage holds, the best first."""
    yield from np.unique(held.item[held.passage == row]).tolist()
