"""Recognises passages that merely lead to others: tables of contents, navigation, the index of a book."""

from __future__ import annotations

import re
from collections.abc import Sequence

_DOTS = r"(?<!\.)(?<!\.\s)(?:\.\s?){4,}\s*"
_LEADER = re.compile(
    rf"{_DOTS}[\divxlc]+\W*$|(?:[^\s·…_]|(?<![·…_])[·…_])\s*[·…_]{{3,}}\s*[\divxlc]+\W*$", re.IGNORECASE
)
"""`Mooring fees ........ 12`"""
_PLACES = re.compile(r"^[^.!?]{1,80}?[,\s]\s*\d{1,4}(?:\s*[-–]\s*\d{1,4})?(?:,\s*\d{1,4}(?:\s*[-–]\s*\d{1,4})?)*$")
"""`mooring, 12, 45-47`"""
_NUMBERED = re.compile(r"^\d+(?:\.\d+)*\.?\s+\S[^.!?:]{0,80}$")
"""`2.3 Mooring fees`"""
_SENTENCE = re.compile(r"(?:^|[.!?])[^.!?\w]*+\w[^.!?]{25,}+[.!?](?:\s|$)")
LEAST_LINES = 6
"""Lines that a list of places has at the least."""
MOSTLY = 0.6
"""Share of its lines that have to lead somewhere."""
_SHORT = 70  # characters of a line that names a place


def is_contents(text: str, links: Sequence[str]) -> bool:
    """Return whether a passage merely leads to others: nearly all of its lines name a place, and none says anything.

    `links` are where its hyperlinks lead.

    >>> is_contents("\\n".join(f"{at}. Chapter {at} ........ {at}0" for at in range(1, 9)), ())
    True
    >>> is_contents("\\n".join(["Home", "About", "News", "Boats", "Fees", "Contact"]), list("abcdef"))
    True
    >>> is_contents("Fees are due in May.\\nThey are paid at the office of the harbour.", ())
    False
    """
    if _leaders(text) >= LEAST_LINES and not _SENTENCE.search(_LEADER.sub("", text)):
        return True
    if text.count("\n") < LEAST_LINES - 1 or _SENTENCE.search(text):  # nearly every passage
        return False
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) < LEAST_LINES:
        return False
    least = MOSTLY * len(lines)
    has_leaders = any(mark in text for mark in "·…_") or text.count(".") >= 4 * least
    for pattern in (_LEADER, _PLACES, _NUMBERED) if has_leaders else (_PLACES, _NUMBERED):
        if sum(pattern.search(line) is not None for line in lines) >= least:
            return True
    return len(links) >= least and sum(len(line) <= _SHORT for line in lines) >= MOSTLY * len(lines)


def _leaders(text: str) -> int:
    """Return how many runs of dots lead to a number, wherever lines end: a PDF often has none."""
    return len(re.findall(rf"{_DOTS}\d{{1,4}}\b", text)) if text.count(".") >= 4 * LEAST_LINES else 0
