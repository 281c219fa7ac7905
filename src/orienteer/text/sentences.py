"""Texts become sentences; and the count of tokens of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

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
