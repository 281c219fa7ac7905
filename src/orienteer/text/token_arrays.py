"""Where tokens begin in a long text, in arrays; apart from `sentences`, for whoever counts a few needs no numpy."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from orienteer.text.sentences import token_pattern

_ASCII = 128
_LIMITS = (1 << 40, 1, 4, 1 << 40, 8)
"""Characters of one token, by kind: a run of spaces is none."""


def token_starts(text: str) -> NDArray[np.bool_]:
    """Return which characters of a text begin a token: (characters,). Of a long text it is quicker to count these."""
    codes = np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), "<u4")
    kinds = _ascii_kinds().take(codes, mode="clip")
    others = np.flatnonzero(codes >= _ASCII)
    if len(others):
        distinct, number = np.unique(codes[others], return_inverse=True)
        kinds[others] = np.array([_kind(chr(code)) for code in distinct.tolist()], np.uint8)[number]
    starts = np.ones(len(codes), np.bool_)
    starts[1:] = kinds[1:] != kinds[:-1]
    begins = np.flatnonzero(starts)
    limits = np.array(_LIMITS)[kinds[begins]]
    counts = (np.diff(np.append(begins, len(codes))) - 1) // limits  # further tokens of each run
    further = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    starts[np.repeat(begins, counts) + further * np.repeat(limits, counts)] = True
    return starts & (kinds > 0)


def _kind(character: str) -> int:
    """Return the index in `_LIMITS` of a character's kind: a space, another mark, a digit, `_`, or a letter."""
    if character.isspace():
        return 0
    if character == "_":
        return 3
    match = token_pattern().match(character * 2)
    return 1 if match is None or match.end() < 2 else 2 if character.isdecimal() else 4


@cache
def _ascii_kinds() -> NDArray[np.uint8]:
    return np.array([_kind(chr(code)) for code in range(_ASCII)], np.uint8)
