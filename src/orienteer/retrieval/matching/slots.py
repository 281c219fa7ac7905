"""The meaning of an end of a triple: nodes of that name, or a variable. GraphSearch (002), section 3.1.2; ours.

A text is a variable where it is written as one (`?name`, `Entity#2`, `#2`, nothing at all), and where it only says the
type of a node (`a film`). Any other text is a name, and so is a node's name that looks like a variable, `?uestlove` or
`Team #7`. A name is linked to the nodes that bear it, else to the node whose id it is, else to nodes whose name or
text is most like it, each with a share from 0 to 1 that says how like; a name that is like none stays unlinked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.protocols import Run
from orienteer.retrieval.mentions import TypeLinker, letter_likeness, spelled, word_shares
from orienteer.retrieval.query import Spaces
from orienteer.text.proper_names import without_bracket

LINKS = 10
"""Nodes that a name may mean at the most."""
_SEARCHED = 50  # nodes that are compared with a name which none bears
# Shares: the same name in other capitals, as an alias or with other endings; names alike; told of in a text; near in
# meaning.
_OTHERWISE, _CLOSE, _TOLD, _NEAR = 0.95, 0.9, 0.4, 0.6
_LIKE, _SPELLED, _COVERED, _COSINE = 0.5, 0.9, 0.8, 0.6  # the least of each measure that makes a link
_BESIDE = 0.6  # share of the best link that another must have to stand beside it
_NUMBERED = re.compile(r"([^\W\d_]*)\s*#\s*(\d{1,9})")
_QUOTES = "\"'`“”„‘’«»「」"
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Slot:
    """An end of one or several triples."""

    key: str
    """Equal for texts that mean the same end."""
    written: str
    is_variable: bool
    rows: Rows
    """The nodes that a name may mean, ascending; empty for a variable and for a name that is not linked."""
    shares: NDArray[np.float64]
    """How surely it means each of them, (rows,), 0 to 1."""
    types: Mask | None = None
    """By node type, whether a variable's words name it; None where they name none."""
    words: str = ""
    """What the text says, to rank by."""

    @property
    def is_unlinked(self) -> bool:
        """Return whether it is a name that nothing in the graph is like."""
        return not self.is_variable and not len(self.rows)


class SlotLinker:
    """Reads the ends of triples. Nodes are linked among entities; among passages where there are none."""

    def __init__(self, spaces: Spaces, types: TypeLinker, run: Run) -> None:
        self._spaces, self._graph, self._types, self._run = spaces, spaces.graph, types, run
        self.mask: Mask = spaces.entities if spaces.entities.any() else spaces.passages
        """The nodes that an end may mean."""

    def slots(self, texts: Sequence[str]) -> tuple[list[Slot], list[int]]:
        """Return the distinct ends, and for each text the place of its end. Raises as `Spaces.pay` does."""
        slots: dict[str, Slot] = {}
        keys: list[str] = []
        for number, text in enumerate(texts):
            slot = self._variable(text.strip(), number) or self._typed(text.strip())
            if slot is None:
                key = f"= {' '.join(text.split()).casefold()}"
                slot = slots[key] if key in slots else self._named(key, text.strip())
            slots.setdefault(slot.key, slot)
            keys.append(slot.key)
        places = {key: place for place, key in enumerate(slots)}
        return list(slots.values()), [places[key] for key in keys]

    def _variable(self, text: str, number: int) -> Slot | None:
        """Return the variable that a text is written as; None where a node is named so."""
        numbered = _NUMBERED.fullmatch(text)
        kind = "" if numbered is None or numbered[1].casefold() == "entity" else numbered[1]
        name = text[1:].strip() if text.startswith("?") else ""
        if (kind or name) and spelled(self._graph, text):
            return None
        if numbered is not None:
            return _free(f"# {int(numbered[2])}", text, self._types.link(kind), kind)
        if name:
            return _free(f"? {name}", text, self._types.link(name), name)
        return _free(f"?? {number}", "", None, "") if text in ("", "?") else None

    def _typed(self, text: str) -> Slot | None:
        """Return the variable that a text stands for if it says a node type alone, else None."""
        types = self._types.link(text)
        if types is None or (not self._types.has_article(text) and self._borne(text)):
            return None
        return _free(f"type {np.flatnonzero(types).tolist()}", text, types, text)

    def _named(self, key: str, text: str) -> Slot:
        shares = self._borne(text) or self._alike(text)
        best = max(shares.values(), default=0.0)
        likeliest = sorted((-share, row) for row, share in shares.items() if share >= _BESIDE * best)[:LINKS]
        rows = np.array(sorted(row for _, row in likeliest), np.int32)
        return Slot(key, text, False, rows, np.array([shares[row] for row in rows.tolist()], np.float64), words=text)

    def _borne(self, text: str) -> dict[int, float]:
        """Return the nodes that bear a name, as it is written or without what a bracket says of it."""
        for name, share in ((text, 1.0), (text.strip(_QUOTES), 1.0), (without_bracket(text), _CLOSE)):
            alike = spelled(self._graph, name)
            rows = self._bearing(name, alike) if name else []
            shares = dict.fromkeys(alike, share * _OTHERWISE) | dict.fromkeys(rows, share)
            if allowed := {row: share for row, share in shares.items() if self.mask[row]}:
                return allowed
        return {}

    def _bearing(self, name: str, alike: Sequence[int]) -> list[int]:
        """Return the nodes that a name means first; nodes of that name come before the node of that id."""
        rows = self._graph.arrays.candidates(name)
        if not alike or rows != [self._graph.arrays.ids.find(name)]:
            return rows
        return [
            row for row in alike if name in (self._graph.arrays.names[row], *self._graph.arrays.aliases_at(row))
        ] or [*alike]

    # --------------------------------------------------------------------------------- names that no node bears

    def _alike(self, text: str) -> dict[int, float]:
        """Return the nodes whose name or text is like a name, or, where there are vectors, near in meaning."""
        graph = self._graph
        terms = graph.arrays.tokenizer.query(text)
        if not terms:
            return {}
        stemmed = [link.row for link in graph.arrays.name_index.stem_links(graph.arrays.tokenizer.words(text))]
        shares = {row: _OTHERWISE for row in stemmed if self.mask[row]}
        weights = self._weights(terms)
        near = [row for name in graph.arrays.near_names(text) for row in spelled(graph, name)]
        self._spaces.pay(self._run, [text])
        hits = self._spaces.search(text, _SEARCHED, self.mask).rows.tolist()
        rows = np.array(sorted({*hits, *(row for row in near if self.mask[row])}), np.int32)
        covered, meant = self._covered(weights, rows), self._meant(text, rows)
        for row, *others in zip(rows.tolist(), covered.tolist(), meant.tolist(), strict=True):
            share = max(self._like(text, weights, row), *others)
            if share > shares.get(row, 0.0):
                shares[row] = share
        return shares

    def _weights(self, terms: Iterable[str]) -> dict[str, float]:
        """Return how much each term says: its idf."""
        index = self._graph.arrays.text_index
        postings = {term: index.posting(term) for term in terms}
        return {term: posting.idf if posting is not None else index.idf(0) for term, posting in postings.items()}

    def _like(self, text: str, weights: Mapping[str, float], row: int) -> float:
        """Return how alike a name and a node's names are: by the weight of shared words, or letter by letter."""
        name = self._graph.arrays.names[row]
        best = 0.0
        for other in dict.fromkeys((name, without_bracket(name), *self._graph.arrays.aliases_at(row))):
            others = self._weights(self._graph.arrays.tokenizer.query(other))
            both = sum(weight for term, weight in weights.items() if term in others)
            whole = sum(weights.values()) + sum(others.values())
            like = 2 * both / whole if whole else 0.0
            best = max(best, like if like >= _LIKE else 0.0, _spelled_alike(text, other))
        return _CLOSE * best

    def _covered(self, weights: Mapping[str, float], rows: Rows) -> NDArray[np.float64]:
        """Return how much of a name of several words stands in the words of each node, (rows,)."""
        if len(weights) < 2:
            return np.zeros(len(rows))
        index = self._graph.arrays.text_index
        covered = word_shares(index, [[term] for term in weights], rows, index.idf(0))
        return np.where(covered >= _COVERED, _TOLD * covered, 0.0)

    def _meant(self, text: str, rows: Rows) -> NDArray[np.float64]:
        """Return how near each node is in meaning, (rows,); zeros where words alone count."""
        if self._spaces.mode == "lexical" or not len(rows):
            return np.zeros(len(rows))
        cosines = self._graph.arrays.searcher("dense").scores(text, rows)
        return np.where(cosines >= _COSINE, _NEAR * cosines, 0.0)


def _free(key: str, written: str, types: Mask | None, words: str) -> Slot:
    return Slot(key, written, True, np.zeros(0, np.int32), np.zeros(0), types, words.replace("_", " "))


def _spelled_alike(text: str, other: str) -> float:
    """Return the share of letters that two names have in common, where it is high and their numbers are the same."""
    if _DIGITS.findall(text) != _DIGITS.findall(other):
        return 0.0
    likeness = letter_likeness(text, other)
    return likeness if likeness >= _SPELLED else 0.0
