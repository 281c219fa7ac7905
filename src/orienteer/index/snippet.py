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
    found = [(match.start(), match.end(), match[0]) for match in _WORD.finditer(text)]
    matches = [(start, end, hit) for start, end, word in found if (hit := frozenset(terms(word)) & weights.keys())]
    if not matches:
        return _cut(text, 0, width)
    best, best_weight = matches[0][0], 0.0
    for index, (start, _, _) in enumerate(matches):
        inside: set[str] = set()
        for _, end, hit in matches[index:]:
            if end - start > width - 40:
                break
            inside |= hit
        weight = sum(weights[term] for term in inside)
        if weight > best_weight:
            best, best_weight = start, weight
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
