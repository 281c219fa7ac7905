"""Texts become sentences; and the count of tokens of a text."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from typing import NamedTuple

from orienteer.records import JsonValue

_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = rf"[^\W\d_{_CJK}]{{1,8}}|\d{{1,4}}|[{_CJK}]|[^\w\s]|_+"
# A sentence ends with its mark and the quotes and brackets that close after it, before a space. In scripts without
# spaces it ends with its mark.
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s)|[。！？]+[」』”’）]*")
_BEGIN = re.compile(r"\s+[\"'“‘«(\[]*(\w)")
_SHORT = re.compile(r"(?:^|[\s(\[\"'“‘])((?:[A-Za-z]\.)*[A-Za-z]|[A-Za-z]{2,6})\.$")
_ABBREVIATIONS = frozenset(
    [
        *("mr", "mrs", "ms", "dr", "prof", "st", "mt", "ft", "sr", "jr", "rev", "gen", "col", "capt", "lt", "sgt"),
        *("gov", "sen", "rep", "hon", "no", "nos", "vol", "vols", "fig", "figs", "eq", "eqs", "sec", "ch", "art", "p"),
        *("pp", "vs", "v", "cf", "ca", "etc", "al", "approx", "dept", "univ", "inc", "ltd", "co", "corp", "jan", "feb"),
        *("mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "e.g", "i.e", "a.m", "p.m", "u.s"),
        *("ed", "eds", "trans", "op", "ser", "tab", "dir", "est"),
    ]
)
"""Words whose full stop ends no sentence."""
_TAIL = 24
"""Characters before a full stop that are read to tell an abbreviation: more than the longest one has."""


@cache
def _token() -> re.Pattern[str]:
    """Return the pattern of a token, made by the first who counts: it takes 2 ms."""
    return re.compile(_TOKEN)


def tokens(text: str) -> int:
    """Count tokens: each eight letters of a word, four digits, mark, or character of a script without spaces is one."""
    return len(_token().findall(text))


def split(text: str) -> Iterator[str]:
    """Return the sentences of a text, in order, without the space between them."""
    start = 0
    for end in _END.finditer(text):
        if _ends(text, end):
            yield text[start : end.end()].strip()
            start = end.end()
    if rest := text[start:].strip():
        yield rest


def _ends(text: str, mark: re.Match[str]) -> bool:
    """Return whether a mark ends a sentence, rather than a title, an initial or a number."""
    if mark[0][0] in "。！？":
        return True
    after = _BEGIN.match(text, mark.end())
    if after is not None and after[1].islower():
        return False
    if mark[0] != ".":
        return True
    short = _SHORT.search(text[max(0, mark.end() - _TAIL) : mark.end()])
    return short is None or not (len(short[1]) == 1 and short[1].isupper() or short[1].casefold() in _ABBREVIATIONS)


def pieces(text: str, most: int) -> Iterator[str]:
    """Cut a text into pieces of at most `most` tokens, between words where possible."""
    if len(text) <= most or tokens(text) <= most:
        yield text
        return
    start = 0
    while start < len(text):
        end = _reach(text, start, most)
        yield text[start:end]
        start = end


def _reach(text: str, start: int, most: int) -> int:
    """Return the end of a piece of at most `most` tokens."""
    end = start
    for count, token in enumerate(_token().finditer(text, start), 1):
        if count > most:
            space = text.rfind(" ", start + 1, token.start())
            return space + 1 if space > start + (end - start) // 2 else end
        end = token.end()
    return len(text)


# Texts in a reply or a prompt: as one line, as the part that shows a match best, and what room they take.


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


# Key phrases of a text by the statistics of its corpus: runs of words that are rarer elsewhere than here.


_WORD = re.compile(r"\w+|[^\w\s]")
_COMMON = 0.1
"""A word in a larger share of the texts is no part of a phrase."""
_LONGEST = 3  # words of a phrase
_LEAST_LETTERS = 3  # of a word: shorter ones say little by themselves


class Phrases:
    """Ranks the phrases of texts, once all texts of a corpus are counted."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts: Counter[str] = Counter()
        self._texts = 0
        for text in texts:
            self._texts += 1
            self._counts.update({word for word in _words(text) if word.isalpha()})

    def of(self, text: str, most: int = 5) -> list[str]:
        """Return at most `most` key phrases of a text, by the sum of tf · idf of their words, the best first.

        No two phrases share a word.
        """
        words = _words(text)
        weight = {
            word: count * math.log(1 + self._texts / max(1, self._counts[word]))
            for word, count in Counter(words).items()
        }
        ranked: dict[str, float] = {}
        for run in self._runs(words):
            for part in (run[at : at + _LONGEST] for at in range(0, len(run), _LONGEST)):
                ranked.setdefault(" ".join(part), sum(weight[word] for word in part))
        chosen: list[str] = []
        seen: set[str] = set()
        for phrase in sorted(ranked, key=lambda phrase: (-ranked[phrase], phrase)):
            parts = set(phrase.split(" "))
            if not parts & seen:
                chosen.append(phrase)
                seen |= parts
            if len(chosen) == most:
                break
        return chosen

    def _is_telling(self, word: str) -> bool:
        """Tell whether a word may be part of a phrase: letters only, not too short, and not too common."""
        return len(word) >= _LEAST_LETTERS and word.isalpha() and self._counts[word] <= max(2, _COMMON * self._texts)

    def _runs(self, words: Iterable[str]) -> Iterable[list[str]]:
        run: list[str] = []
        for word in words:
            if self._is_telling(word):
                run.append(word)
            elif run:
                yield run
                run = []
        if run:
            yield run


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
