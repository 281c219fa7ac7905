"""Sentences, token counts, snippets and key phrases of texts."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from itertools import groupby

from orienteer.elements import JsonValue

_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = rf"[^\W\d_{_CJK}]{{1,8}}|\d{{1,4}}|[{_CJK}]|[^\w\s]|_+"
# A sentence ends with its mark and the quotes and brackets that close after it, before a space. In scripts without
# spaces it ends with its mark. No run of marks is tried from its middle.
_WESTERN = r"[.!?…](?<![.!?…]{2})[.!?…]*+[\"'”’»)\]]*+(?=\s)"
_END = re.compile(_WESTERN)  # a pattern that begins with one set of characters is searched for six times as fast
_END_ANYWHERE = re.compile(rf"{_WESTERN}|[。！？]+[」』”’）]*")
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
_TAIL = 24  # characters before a full stop that are searched for an abbreviation: more than the longest one has


@cache
def token_pattern() -> re.Pattern[str]:
    """Return the pattern of a token, compiled at first use: it takes 2 ms."""
    return re.compile(_TOKEN)


def tokens(text: str) -> int:
    """Count tokens: each eight letters of a word, four digits, mark, or character of a script without spaces is one."""
    return len(token_pattern().findall(text))


def split(text: str) -> Iterator[str]:
    """Yield the sentences of a text, in order, without the space between them."""
    start = 0
    is_western = text.isascii() or not any(mark in text for mark in "。！？")
    for mark in (_END if is_western else _END_ANYWHERE).finditer(text):
        end = mark.end()
        if mark[0][0] not in "。！？":
            # A lower-case letter follows no end of a sentence, nor is a title's or an initial's full stop one.
            after = _BEGIN.match(text, end)
            if after is not None and after[1].islower():
                continue
            short = _SHORT.search(text[max(0, end - _TAIL) : end]) if mark[0] == "." else None
            if short and (len(short[1]) == 1 and short[1].isupper() or short[1].casefold() in _ABBREVIATIONS):
                continue
        yield text[start:end].strip()
        start = end
    if rest := text[start:].strip():
        yield rest


def pieces(text: str, most: int) -> Iterator[str]:
    """Cut a text into pieces of at most `most` tokens, between words where possible."""
    if len(text) <= most or tokens(text) <= most:
        yield text
        return
    start = 0
    while start < len(text):
        end = start
        for count, token in enumerate(token_pattern().finditer(text, start), 1):
            if count > most:
                space = max(text.rfind(blank, start + 1, token.start()) for blank in " \t\n")
                end = space + 1 if space > start + (end - start) // 2 else end
                break
            end = token.end()
        else:
            end = len(text)
        yield text[start:end]
        start = end


CHARACTERS_A_TOKEN = 4
"""A token of English or JSON, about: for limits of requests, where `sentences.tokens` would take too long."""
CHARACTERS_A_TOKEN_OF_IDS = 2.75
"""The same of lines that are mostly ids: replies about Hetionet and the demo graph under o200k_base."""
LONGEST_NAME = 200
"""Characters of a name in a reply; the id next to it is never cut."""
_MARGIN = 40  # characters of a window that are left for the text around the matches


def flat(text: str) -> str:
    """Return a text without line breaks: with them, an id, a type or a name could forge lines of a reply."""
    return " ".join(text.splitlines())


def single_spaced(text: str) -> str:
    """Return a text on one line, with one space between its words."""
    return " ".join(text.split())


def value_text(value: JsonValue) -> str:
    """Return a property's value as text: a string unchanged, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def one_line(text: str, longest: int = LONGEST_NAME) -> str:
    """Return a text without line breaks, cut to `longest` characters."""
    text = flat(text)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def snippet(text: str, weights: Mapping[str, float], terms: Callable[[str], Set[str]], *, width: int = 300) -> str:
    """Return the window of at most `width` characters that holds the most weight of distinct query terms.

    `weights` maps a query term to its weight (its idf); `terms` returns the terms of a word. Without a match, the
    snippet is the beginning of the text.
    """
    words = text.split()
    text = " ".join(words)
    if len(text) <= width:
        return text

    # The words that match: their starts and ends in the text, and the terms that they match.
    sought, spaced = frozenset(weights), f" {text} "
    matches: list[tuple[int, int, Set[str]]] = []
    # A text repeats its words: ask for each of them once.
    for word in [word for word in set(words) if not sought.isdisjoint(terms(word))]:
        matched, at = sought.intersection(terms(word)), spaced.find(f" {word} ")
        while at >= 0:
            matches.append((at, at + len(word), matched))
            at = spaced.find(f" {word} ", at + len(word))
    matches.sort(key=lambda match: match[0])

    # The window is cut at spaces; an ellipsis marks each side where text is left out.
    start = max(0, _best_start(matches, weights, width - _MARGIN) - _MARGIN // 2)
    if start and " " in text[start : start + 20]:
        start = text.find(" ", start) + 1
    end = start + width - 2
    if end < len(text):
        space = text.rfind(" ", start, end)
        end = space if space > start + width // 2 else end
    return f"{'…' if start else ''}{' '.join(text[start:end].split())}{'…' if end < len(text) else ''}"


def _best_start(matches: Sequence[tuple[int, int, Set[str]]], weights: Mapping[str, float], width: int) -> int:
    """Return the start of the heaviest window, by two pointers over the matches that count the terms inside."""
    best, heaviest = matches[0][0] if matches else 0, 0.0
    inside = dict.fromkeys(weights, 0)
    weight, after = 0.0, 0
    for first, _, first_terms in matches:
        while after < len(matches) and matches[after][1] - first <= width:
            for term in matches[after][2]:
                weight += 0 if inside[term] else weights[term]
                inside[term] += 1
            after += 1
        if weight > heaviest + 1e-9:  # sums round
            best, heaviest = first, weight
        for term in first_terms:
            if inside[term]:  # a word longer than the window was never inside
                inside[term] -= 1
                weight -= 0 if inside[term] else weights[term]
    return best


_WORD = re.compile(r"\w+|[^\w\s]")
_COMMON = 0.1  # a word in a larger share of the texts is not part of a phrase
_LONGEST = 3  # words of a phrase
_LEAST_LETTERS = 3  # of a word: shorter ones say little by themselves


class Phrases:
    """Ranks the key phrases of texts: runs of words that are rarer in the rest of the corpus.

    All texts of the corpus are counted first.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts: Counter[str] = Counter()
        self._texts = 0
        for text in texts:
            self._texts += 1
            self._counts.update({word for word in _words(text) if word.isalpha()})

    def of(self, text: str, most: int = 5) -> list[str]:
        """Return at most `most` key phrases, by the sum of tf · idf, best first. No two phrases share a word."""
        words = _words(text)
        weight = {
            word: count * math.log(1 + self._texts / max(1, self._counts[word]))
            for word, count in Counter(words).items()
        }
        ranked: dict[str, float] = {}
        limit = max(2, _COMMON * self._texts)
        is_content = {
            word: len(word) >= _LEAST_LETTERS and word.isalpha() and self._counts[word] <= limit for word in weight
        }
        for is_phrase, group in groupby(words, is_content.__getitem__):
            run = list(group) if is_phrase else []
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


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
