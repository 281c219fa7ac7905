"""Statistics of a graph's similarities, as in SAGE's appendix (paper 004): tables 3, 5, 17 to 19, figures 5 to 13.

They are taken over the candidate pairs (see `similarity`), as the percentiles are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.join.similar_chunks import Fields, KindPair, Kinds, packed, thresholds_of
from orienteer.ingest.documents.join.similarity import PERCENTILES, correlations, percentile_table

BINS = 40
JOINED = {
    "chunk-chunk": ("topic", "content"),
    "table-table": ("title", "column", "description"),
    "table-chunk": ("title", "column", "summary"),
}
"""Similarities that are looked at two by two. SAGE, figures 7, 10 and 13."""
MOST_COUNTED = 50
"""Names of a chunk from which on they are counted as one group."""
_DIGITS = 4

Values = NDArray[np.float64]


def statistics(
    several: Sequence[KindPair], kinds: Kinds, config: BuildConfig, *, is_measured: bool = False
) -> dict[str, Any]:  # Any: JSON
    """Return the figures of a graph's similarities, by pair of kinds and by similarity.

    `thresholds` are those that made its edges; `percentiles` is table 5; `means` table 3; `correlations` tables 17 to
    19; `histograms` are figures 5, 6, 9, 11 and 12, with what lies at some percentiles; `counts` says how many chunks
    and tables hold how many names and events, the last count with all above it: figures 5, 8 and 12. Where the pairs
    were measured, `joint` has how often two similarities come together: figures 7, 10 and 13.
    """
    whole = {alike.name: replace(alike.pool, signals={**alike.pool.signals, **alike.beside}) for alike in several}
    figures: dict[str, Any] = {  # Any: JSON
        "candidates": {alike.name: len(alike.pool.pairs) for alike in several},
        "nodes": {"chunk": len(kinds.chunks.parts), "table": len(kinds.tables.parts)},
        "thresholds": {
            alike.name: {name: round(value, 6) for name, value in thresholds_of(alike.pool, config).items()}
            for alike in several
        },
        "percentiles": [row._asdict() for row in percentile_table([alike.pool for alike in several], nodes_of(kinds))],
        "means": {
            name: {
                key: round(float(values.mean()), _DIGITS) if len(values) else 0.0
                for key, values in pairs.signals.items()
            }
            for name, pairs in whole.items()
        },
        "correlations": {name: correlations(pairs) for name, pairs in whole.items()},
        "histograms": {
            name: {key: histogram(values) for key, values in pairs.signals.items()} for name, pairs in whole.items()
        },
        "counts": _counts(several, kinds),
    }
    if is_measured:
        figures["joint"] = {
            name: {
                f"{first}, {second}": joint(pairs.signals[first], pairs.signals[second])
                for first, second in combinations(JOINED[name], 2)
            }
            for name, pairs in whole.items()
        }
    return figures


def nodes_of(kinds: Kinds) -> int:
    """Return how many nodes may be joined."""
    return len(kinds.chunks.parts) + len(kinds.tables.parts)


def histogram(values: Values, *, bins: int = BINS) -> dict[str, Any]:  # Any: JSON
    """Return how often values, (pairs,), fall into each of equal bins, and the values at the percentiles of table 5.

    `edges` has one number more than `counts`; all of it is empty if there are no pairs.
    """
    if not len(values):
        return {"edges": [], "counts": [], "percentiles": {}}
    counts, edges = np.histogram(values, bins=bins)
    at = {str(percentile): round(float(np.percentile(values, percentile)), _DIGITS) for percentile in PERCENTILES}
    return {
        "edges": [round(float(edge), _DIGITS) for edge in edges],
        "counts": [int(count) for count in counts],
        "percentiles": at,
    }


def joint(first: Values, second: Values, *, bins: int = BINS) -> dict[str, Any]:  # Any: JSON
    """Return how often two values of the same pairs, (pairs,) each, fall into each cell of a grid.

    `x` and `y` are the edges of its columns and rows; `cells` has `[column, row, count]` for each that is not empty.
    """
    if not len(first):
        return {"x": [], "y": [], "cells": []}
    counts, x, y = np.histogram2d(first, second, bins=bins)
    columns, rows = np.nonzero(counts)
    cells = zip(columns.tolist(), rows.tolist(), counts[columns, rows].astype(int).tolist(), strict=True)
    return {
        "x": [round(float(edge), _DIGITS) for edge in x],
        "y": [round(float(edge), _DIGITS) for edge in y],
        "cells": [list(cell) for cell in cells],
    }


def _counts(several: Sequence[KindPair], kinds: Kinds) -> dict[str, dict[str, list[int]]]:
    """Return how many parts of each kind hold none, one, two ... names, and events where a model wrote any."""
    sets_of = {"entities": several[0].entities.sets}
    if any(kinds.events):
        sets_of["events"] = packed(kinds.events).sets
    parts: Mapping[str, Fields] = {"chunk": kinds.chunks, "table": kinds.tables}
    return {
        what: {
            kind: np.bincount(np.diff(sets.begins)[fields.parts].clip(max=MOST_COUNTED), minlength=1).tolist()
            for kind, fields in parts.items()
            if fields.parts
        }
        for what, sets in sets_of.items()
    }
