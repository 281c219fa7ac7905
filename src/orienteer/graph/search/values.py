"""Values of properties as words that can be searched: `Belgium` is the country of seven breweries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from orienteer.graph.arrays import GraphArrays
from orienteer.graph.properties import Condition
from orienteer.graph.search.names import phrases
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.text.english import STOP
from orienteer.text.lines import single_spaced
from orienteer.text.plurals import plural

_LONGEST = 6  # words of a value that is looked for inside a longer query
_MOST_WORDS = 40  # of a query: bounds the time
_NAMED = 3  # node types that a sentence names


class ValueMatch(NamedTuple):
    """Words of a query that are the value of a property."""

    name: str
    """The property."""
    value: str
    """As the query has it."""
    rows: Rows
    """The nodes with it: (n,), ascending."""
    is_whole: bool
    """Whether the query, or what it quotes, is the value."""

    @property
    def condition(self) -> str:
        """The condition that these nodes meet, for `where`."""
        return f"{self.name}={self.value}"


class ValueSearch:
    """Finds the nodes that have the words of a query as a value. Safe to share among threads."""

    def __init__(self, arrays: GraphArrays) -> None:
        self._arrays = arrays

    def matches(self, query: str, *, among: Rows | None = None, mask: Mask | None = None) -> list[ValueMatch]:
        """Return the properties that have a query as a value, else those that have the longest parts of it.

        Exact but for case. `among`, ascending rows, and `mask`, (nodes,), restrict the nodes.
        """
        whole = [match for phrase in phrases(query) for match in self._of(phrase, among, mask, is_whole=True)]
        return whole or list(self._inside(query, among, mask))

    def _of(self, text: str, among: Rows | None, mask: Mask | None, *, is_whole: bool) -> Iterator[ValueMatch]:
        properties = self._arrays.properties
        text = single_spaced(text)
        for name in properties.having(text) if text else ():
            rows = np.flatnonzero(properties.mask([Condition(name, "=", text)])).astype(np.int32)
            if among is not None:
                rows = np.intersect1d(rows, among)
            if mask is not None:
                rows = rows[mask[rows]]
            if len(rows):
                yield ValueMatch(name, text, rows, is_whole)

    def _inside(self, query: str, among: Rows | None, mask: Mask | None) -> Iterator[ValueMatch]:
        """Yield the values that stand in a query, from left to right, the longest at each word; no word is in two."""
        own = query.split()[:_MOST_WORDS]
        at = 0
        while at < len(own):
            end = min(len(own), at + _LONGEST)
            while end > at and not (matches := self._part(own[at:end], among, mask)):
                end -= 1
            if end > at:
                yield from matches
            at = max(end, at + 1)

    def _part(self, own: Sequence[str], among: Rows | None, mask: Mask | None) -> list[ValueMatch]:
        text = " ".join(own).strip(".,;:?!'\"")
        if text.casefold() in STOP:
            return []
        return list(self._of(text, among, mask, is_whole=False))

    def sentence(self, match: ValueMatch) -> str:
        """Return what a value is to the nodes that have it: `it is the country of 7 breweries`."""
        arrays = self._arrays
        numbers, counts = np.unique(arrays.node_types[match.rows], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        nouns = [
            arrays.schema.label(arrays.types.nodes[number]).replace("_", " ") for number in numbers[order].tolist()
        ]
        parts = [
            f"{count:,} {noun if count == 1 else plural(noun)}"
            for noun, count in zip(nouns, counts[order].tolist(), strict=True)
        ]
        if len(parts) > _NAMED:
            parts = [*parts[:_NAMED], f"{sum(counts[order][_NAMED:].tolist()):,} others"]
        listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
        return f"it is the {match.name.replace('_', ' ')} of {listed}"
