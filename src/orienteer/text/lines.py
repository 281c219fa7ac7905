"""Texts in a reply or a prompt: as one line, as the part that shows a match best, and what room they take."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence, Set
from typing import NamedTuple

from orienteer.records import JsonValue

CHARACTERS_A_TOKEN = 4
"""A token of English or JSON, about: for limits of requests, where `sentences.tokens` would take too long."""
CHARACTERS_A_TOKEN_OF_IDS = 2.75
"""The same of lines that are mostly ids: replies about Hetionet and the demo graph under o200k_base."""
LONGEST_NAME = 200
"""Characters of a name in a reply; the id beside it is never cut."""
_MARGIN = 40  # characters of a window that are left for the text around the matches


def flat(text: str) -> str:
    """Return a text without line breaks: an id, a type or a name that has some could forge lines of a reply."""
    return " ".join(text.splitlines())


def single_spaced(text: str) -> str:
    """Return a text on one line, with one space between its words."""
    return " ".join(text.split())


def value_text(value: JsonValue) -> str:
    """Return a property's value as text: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def one_line(text: str, longest: int = LONGEST_NAME) -> str:
    """Return a text without line breaks, cut to `longest` characters."""
    text = flat(text)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


class _WordMatch(NamedTuple):
    """A word of the text that matches."""

    start: int
    end: int
    terms: frozenset[str]


def snippet(text: str, weights: Mapping[str, float], terms: Callable[[str], Set[str]], *, width: int = 300) -> str:
    """Return the window of at most `width` characters that holds the most weight of distinct query terms.

    `weights` maps a query term to its weight (its idf); `terms` returns the terms of a word. Without a match, the
    beginning of the text comes back.
    """
    words = text.split()
    text = " ".join(words)
    if len(text) <= width:
        return text
    matches = _matches(words, text, weights, terms)
    return _cut(text, max(0, _best_start(matches, weights, width - _MARGIN) - _MARGIN // 2), width)


def _matches(
    words: Sequence[str], text: str, weights: Mapping[str, float], terms: Callable[[str], Set[str]]
) -> list[_WordMatch]:
    """Return the words that match, in order; `text` has single spaces between its words."""
    sought = frozenset(weights)
    text = f" {text} "
    matches: list[_WordMatch] = []
    for word in set(words):  # a text repeats its words: ask for each of them once
        its = sought.intersection(terms(word))
        if not its:
            continue
        at = text.find(f" {word} ")
        while at >= 0:
            matches.append(_WordMatch(at, at + len(word), its))
            at = text.find(f" {word} ", at + len(word))
    return sorted(matches)


def _best_start(matches: Sequence[_WordMatch], weights: Mapping[str, float], width: int) -> int:
    """Return the start of the heaviest window, by two pointers over the matches that count the terms inside."""
    best, heaviest = matches[0].start if matches else 0, 0.0
    inside = dict.fromkeys(weights, 0)
    weight, after = 0.0, 0
    for first in matches:
        while after < len(matches) and matches[after].end - first.start <= width:
            for term in matches[after].terms:
                weight += 0 if inside[term] else weights[term]
                inside[term] += 1
            after += 1
        if weight > heaviest + 1e-9:  # sums round
            best, heaviest = first.start, weight
        for term in first.terms:
            if inside[term]:  # a word longer than the window was never inside
                inside[term] -= 1
                weight -= 0 if inside[term] else weights[term]
    return best


def _cut(text: str, start: int, width: int) -> str:
    """Cut a window out of a text, at spaces; an ellipsis marks each side where text is left out."""
    if start:
        start = text.find(" ", start) + 1 if " " in text[start : start + 20] else start
    end = start + width - 2
    if end < len(text):
        space = text.rfind(" ", start, end)
        end = space if space > start + width // 2 else end
    return f"{'…' if start else ''}{' '.join(text[start:end].split())}{'…' if end < len(text) else ''}"
