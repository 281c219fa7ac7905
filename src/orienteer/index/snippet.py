"""The part of a text that shows best why it matched."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_WORD = re.compile(r"\S+")


def snippet(text: str, weights: Mapping[str, float], terms: Callable[[str], list[str]], *, width: int = 300) -> str:
    """Return the window of at most `width` characters that holds the most weight of distinct query terms.

    `weights` maps a query term to its weight (its idf), `terms` turns text into terms. Without a match it is the
    beginning of the text.
    """
    text = " ".join(text.split()) if len(text) < 50_000 else text
    if len(text) <= width:
        return text
    known: dict[str, frozenset[str]] = {}
    matches: list[tuple[int, int, frozenset[str]]] = []
    for match in _WORD.finditer(text):
        word = match[0]
        hit = known.get(word)
        if hit is None:
            hit = known[word] = frozenset(terms(word)) & weights.keys()
        if hit:
            matches.append((match.start(), match.end(), hit))
    if not matches:
        return _cut(text, 0, width)
    best, best_weight = matches[0][0], 0.0
    counts = dict.fromkeys(weights, 0)
    weight, after = 0.0, 0
    for start, _, hit in matches:
        while after < len(matches) and matches[after][1] - start <= width - 40:
            for term in matches[after][2]:
                weight += 0 if counts[term] else weights[term]
                counts[term] += 1
            after += 1
        if weight > best_weight + 1e-9:  # sums round
            best, best_weight = start, weight
        for term in hit:
            if counts[term]:  # a word longer than the window was never inside
                counts[term] -= 1
                weight -= 0 if counts[term] else weights[term]
    return _cut(text, max(0, best - 20), width)


def _cut(text: str, start: int, width: int) -> str:
    """Cut at spaces, marking what is left out."""
    if start:
        start = text.find(" ", start) + 1 if " " in text[start : start + 20] else start
    end = start + width - 2
    if end < len(text):
        space = text.rfind(" ", start, end)
        end = space if space > start + width // 2 else end
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
