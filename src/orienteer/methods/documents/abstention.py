"""Whether the passages that were found answer a question at all, by what the best of them have of its words.

The thresholds are calibrated by `benchmarks/folders.py --calibrate` on questions that their folders cannot answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from orienteer.display import counted
from orienteer.graph.store import Graph
from orienteer.records import Refusal
from orienteer.retrieval.graph_text import shown_of
from orienteer.text.function_words import telling

READ = 5
"""Passages that are looked at, the first of the ranking."""
LEAST_HELD = 0.45
"""Share of the question, by the idf of its telling words, that one passage has to hold with its title."""
LEAST_NEAR = 0.35
"""Cosine of the nearest passage, where there are vectors, from which on fewer words are enough."""


class Grounds(NamedTuple):
    """What speaks for passages answering a question."""

    held: float
    """The share of its telling words, by their idf, that the best passage has with its title; 0 to 1."""
    together: float
    """The same of all the passages that were looked at."""
    near: float | None
    """The greatest cosine of one of them; None without vectors."""
    absent: tuple[str, ...]
    """Its telling words that no passage of the graph has, as the question spells them."""


def grounds(graph: Graph, question: str, rows: Sequence[int]) -> Grounds:
    """Return what the first passages have of a question."""
    arrays, shown = graph.arrays, shown_of(graph, question)
    words = dict.fromkeys(telling(question))
    absent = tuple(word for word in words if not any(term in shown.weights for term in arrays.tokenizer.expand(word)))
    rarest = float(np.log1p(len(graph)))  # what a word weighs that no passage has
    total = shown.weight(shown.weights.keys()) + rarest * len(absent)
    held, all_terms = 0.0, set[str]()
    for row in rows[:READ]:
        text = f"{arrays.names[row]}\n{arrays.texts[row]}"
        terms = {term for *_, found in shown.found(text) for term in found}
        held, all_terms = max(held, shown.weight(terms)), all_terms | terms
    near = None
    if arrays.searcher.has_vectors and rows and question.strip():
        some = np.array(sorted(rows[:READ]), np.int32)
        near = float(arrays.searcher("dense").scores(question, some).max())
    together = shown.weight(all_terms)
    return Grounds(held / total if total else 0.0, together / total if total else 0.0, near, absent)


def refusal(found: Grounds) -> Refusal | None:
    """Return that nothing answers the question, where too little speaks for any passage; None where enough does."""
    least = LEAST_HELD if found.near is None or found.near < LEAST_NEAR else LEAST_HELD / 2
    if found.held >= least:
        return None
    return Refusal(kind="not_here", words=found.absent, text=f"nothing here answers this{_absent(found.absent)}")


def _absent(words: Sequence[str]) -> str:
    return f"; not in these documents: {', '.join(words)}" if words else ""


def spoken(total: int, subject: str) -> str:
    """Say how many documents speak of something."""
    return f"{counted(total, 'document')} {'speaks' if total == 1 else 'speak'} of {subject}"
