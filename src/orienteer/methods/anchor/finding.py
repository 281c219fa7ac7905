"""All that was understood and found for one question: what the hits, the notes and the trajectory are written from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.methods.anchor.answer_type import Wanted
from orienteer.methods.anchor.linker import Anchor
from orienteer.methods.anchor.question_words import Reading
from orienteer.methods.anchor.reach import Reached
from orienteer.methods.anchor.scorer import Scores

_ALIKE = 0.8  # ways of at least this share of the best fit lead to what is counted


@dataclass(frozen=True, slots=True)
class Finding:
    """One question, as far as `anchor` came with it."""

    reading: Reading
    anchors: tuple[Anchor, ...]
    wanted: Wanted
    reached: tuple[Sequence[Reached], ...]
    """By anchor, what it leads to."""
    scores: Scores

    def best(self, at: int) -> Reached | None:
        """Return the best of an anchor's ways to the wanted types; None where there is none."""
        return next((one for one in self.reached[at] if one.way is not None), None)

    def reasons(self, at: int, rows: NDArray[np.int32]) -> list[Reached | None]:
        """Return by row what leads from an anchor to a node most strongly; None where nothing does."""
        best: list[Reached | None] = [None] * len(rows)
        most = np.zeros(len(rows))
        for one in self.reached[at]:
            if not len(one.rows):
                continue
            places = one.rows.searchsorted(rows)
            is_there = one.rows.take(places, mode="clip") == rows
            strength = np.where(is_there, one.strength.take(places, mode="clip"), 0.0)
            for better in np.flatnonzero(strength > most).tolist():
                best[better], most[better] = one, strength[better]
        return best

    def counted(self) -> Rows | None:
        """Return what the best fitting ways of all anchors lead to; None where no way was found."""
        sets = [rows for at in range(len(self.anchors)) if (rows := self._counted(at)) is not None]
        if not sets:
            return None
        rows, times = np.unique(np.concatenate(sets), return_counts=True)
        own = [candidate.row for anchor in self.anchors for candidate in anchor.candidates]
        rows = rows[times == times.max()]
        return np.asarray(np.setdiff1d(rows, own), np.int32)

    def _counted(self, at: int) -> Rows | None:
        best = self.best(at)
        if best is None or best.way is None:
            return None
        alike = [
            one.rows
            for one in self.reached[at]
            if one.way is not None
            and one.start is best.start
            and one.way.types == best.way.types
            and one.way.fit >= _ALIKE * best.way.fit
        ]
        return np.unique(np.concatenate(alike))


def phrase_of(kinds: Sequence[int], graph: Graph) -> str:
    """Return the edge types of one step, as they are read."""
    return " or ".join(dict.fromkeys(graph.schema.label(graph.types.edges[kind >> 1]) for kind in kinds))
