"""Puts passages behind that lead to others or repeat one before them: contents pages, and what is nearly the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from orienteer.graph.reserved import CONTENTS
from orienteer.graph.store import Graph

SHINGLE = 4
"""Words in a row that two passages are compared by. Broder 1997, On the resemblance and containment of documents."""
ALIKE = 0.8
"""Jaccard similarity of their shingles from which on a passage is told beneath another."""


class Folded(NamedTuple):
    """Passages that a person reads, in order, and what was folded beneath each."""

    rows: list[int]
    alike: dict[int, list[int]]
    """By row: the rows that say nearly the same, in order; rows without any are left out."""


def folded(graph: Graph, rows: Sequence[int], words_of: Callable[[int], Sequence[str]]) -> Folded:
    """Return rows without those that nearly repeat one before them, contents pages last.

    `words_of` returns the words of a row's text.
    """
    is_contents = [bool(graph.arrays.properties.of(row).get(CONTENTS)) for row in rows]
    order = sorted(range(len(rows)), key=lambda place: is_contents[place])
    first: list[tuple[int, frozenset[tuple[str, ...]]]] = []
    alike: dict[int, list[int]] = {}
    for row in (rows[place] for place in order):
        own = shingles(words_of(row))
        like = next((other for other, theirs in first if _jaccard(own, theirs) >= ALIKE), None)
        if like is None:
            first.append((row, own))
        else:
            alike.setdefault(like, []).append(row)
    return Folded([row for row, _ in first], alike)


def shingles(words: Sequence[str]) -> frozenset[tuple[str, ...]]:
    """Return the runs of `SHINGLE` words; fewer words are one run."""
    if len(words) < SHINGLE:
        return frozenset([tuple(words)])
    return frozenset(zip(*(words[at:] for at in range(SHINGLE)), strict=False))


def _jaccard(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    if min(len(one), len(other)) < ALIKE * max(len(one), len(other)):  # it could not be reached
        return 0.0
    return len(one & other) / len(one | other)
