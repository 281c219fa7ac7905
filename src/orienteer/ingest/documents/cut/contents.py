"""Recognises passages that merely lead to others: tables of contents, navigation, the index of a book."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

# These two begin with a character, not with a condition or a choice: a search then skips to the next such character.
_DOTS = r"\.(?<!\.\.)(?<!\.\s\.)\s?(?:\.\s?){3,}\s*"
_MARKS = re.compile(r"[.·…_](?:(?<=\.)\s?\.\s?\.\s?\.|(?<!\.)[·…_]{2})")
"""What every leader has."""
_LEADER = re.compile(
    rf"{_DOTS}[\divxlc]+\W*$|(?:[^\s·…_]|(?<![·…_])[·…_])\s*[·…_]{{3,}}\s*[\divxlc]+\W*$", re.IGNORECASE
)
"""`Mooring fees ........ 12`"""
_RUN = re.compile(_DOTS)
_LEADERS = re.compile(rf"{_DOTS}\d{{1,4}}\b")
"""The same wherever lines end: a PDF often has none."""
_NUMBER = r"\d{1,4}(?:\s?[-–]\s?\d{1,4})?"
_PLACES = re.compile(rf"^(?=.*[^\W\d_])(?P<words>\S.{{0,90}}?)[,\s]\s*(?P<pages>{_NUMBER}(?:,\s?{_NUMBER})*)$")
"""`mooring, 12, 45-47`, `2.3 Mooring fees  14`"""
_DEEP = re.compile(r"^(?:[A-Z]|\d{1,3})(?:\.\d{1,3})+\.?\s+[^\W\d_][^.!?:]{0,80}$")
_SECTION = re.compile(
    r"^(?:(?:[A-Z]\.)?\d{1,3}(?:\.\d{1,3})*\.?|(?:chapter|part|appendix|kapitel)\s+\w+)\s+\S*[^\W\d_]", re.IGNORECASE
)
"""`2.3 Mooring fees`"""
_CALLED = re.compile(
    r"(?:(?:table of )?contents|(?:\w+ )?index|list of (?:figures|tables)|inhalt(?:sverzeichnis)?|(?:sach)?register"
    r"|sommaire|table des mati[eè]res|[ií]ndice|inhoud(?:sopgave)?)\W*$",
    re.IGNORECASE,
)
"""What lists of places are called."""
_SENTENCE = re.compile(r"(?:^|[.!?])[^.!?\w]*+\w[^.!?]{25,}+[.!?](?:\s|$)")
LEAST_LINES = 6
"""Lines that a list of places has at the least."""
MOSTLY, NEARLY = 0.6, 0.9
"""Share of its lines that have to lead somewhere, and of these that are in order."""
MOSTLY_SORTED = 0.7
"""The same of words: each program has an order of its own for spaces, signs and capitals."""
_SHORT = 70  # characters of a line that names a place
_FEW = 3  # leaders that tell what other lines are


def is_contents(text: str, links: Sequence[str], headings: Sequence[str] = ()) -> bool:
    """Return whether a passage merely leads to others: nearly all of its lines name a place, and none says anything.

    `links` are where its hyperlinks lead, `headings` those above it. Names with numbers are places where the numbers
    rise, and sections have numbers or the list is called a list of contents; or where the names are in the order of the
    alphabet, and some have several numbers, as in an index. Any others are a table of data.

    >>> is_contents("\\n".join(f"{at}. Chapter {at} ........ {at}0" for at in range(1, 9)), ())
    True
    >>> is_contents("\\n".join(["Home", "About", "News", "Boats", "Fees", "Contact"]), list("abcdef"))
    True
    >>> is_contents("\\n".join(["Ada 34", "Ben 25", "Eva 41", "Jon 19", "Noor 52", "Olaf 33"]), ())
    False
    """
    if text.count("\n") < LEAST_LINES - 1:  # nearly every passage
        return (".." in text or ". ." in text) and _is_run_of_places(text)
    has_marks = _MARKS.search(text) is not None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    least = max(LEAST_LINES, MOSTLY * len(lines))
    found = [_LEADER.search(line) for line in lines] if has_marks else []
    led = [(leader.string[: leader.start()].casefold(), leader[0]) for leader in found if leader is not None]
    if len(led) >= least:  # else they are prices
        pages = [int(number[-1]) for _, tail in led if (number := re.findall(r"\d+", tail))]
        return _is_in_order(pages) or _is_in_order([re.sub(r"\W", "", words) for words, _ in led], MOSTLY_SORTED)
    if has_marks and _is_run_of_places(text):
        return True
    is_called = any(_CALLED.match(words) is not None for words in (*lines[:1], *headings[-1:]))
    ends = sum(line[-1].isdigit() for line in lines)
    begins = sum(not line[:6].isalpha() for line in lines)
    if not is_called and max(ends, begins, len(links)) < least or len(lines) < LEAST_LINES or _says(text):
        return False
    if len(links) >= least and sum(len(line) <= _SHORT for line in lines) >= least:
        return True
    places = [place for line in lines if (place := _PLACES.match(_RUN.sub(" ", line))) is not None]
    sections = sum(_SECTION.match(line) is not None for line in lines)
    if len(places) < least:
        return (is_called and sections >= least) or sum(_DEEP.match(line) is not None for line in lines) >= least
    numbers = [list(map(int, re.findall(r"\d+", place["pages"]))) for place in places]
    firsts = [first for first, *others in numbers if not others]
    is_of_sections = is_called or sections >= least or len(led) >= _FEW
    if is_of_sections and len(firsts) >= NEARLY * len(places) and _is_in_order(firsts):
        return True
    is_index = len({place["pages"].count(",") for place in places}) > 1
    is_rising = sum(one == sorted(one) for one in numbers) >= NEARLY * len(numbers)
    return is_index and is_rising and _is_in_order([place["words"].casefold() for place in places])


def _is_run_of_places(text: str) -> bool:
    """Return whether a text has several leaders and no sentence, wherever its lines end."""
    return len(_LEADERS.findall(text)) >= LEAST_LINES and not _says(text)


def _says(text: str) -> bool:
    return _SENTENCE.search(_RUN.sub(" ", text)) is not None


def _is_in_order(values: Sequence[Any], share: float = NEARLY) -> bool:  # Any: numbers, or words
    rises = sum(one <= other for one, other in pairwise(values))
    return rises >= share * (len(values) - 1) and bool(values) and bool(values[0] != values[-1])
