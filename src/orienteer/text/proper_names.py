"""What tells the names in a text: titles as they are compared, words that begin sentences, how rare a name is.

`index.name_scan` finds them.
"""

from __future__ import annotations

import math
import re
import unicodedata

LONGEST = 12
"""Words of the longest title that is looked up in texts: bounds the time."""
LEAST_CHUNKS = 20
"""A name in this many chunks or fewer is never too common."""
LONGEST_TITLE = 300  # characters; anything longer is a text
_WORD = re.compile(r"\w+")
_BRACKETED = re.compile(r"(?<!\s)\s*\([^()]*\)\s*$")
PARTICLES = frozenset(
    [
        *("of", "the", "de", "la", "le", "du", "des", "del", "della", "di", "da", "do", "dos", "van", "der", "den"),
        *("von", "zu", "zur", "y", "e", "el", "al", "bin", "ibn"),
    ]
)
"""Words that join the capitalised words of a name."""
OPENING = frozenset(
    [
        *("a", "an", "the", "this", "that", "these", "those", "there", "here", "it", "its", "he", "she", "they", "we"),
        *("i", "you", "his", "her", "their", "our", "my", "your"),
        *("who", "what", "when", "where", "which", "why", "how"),
        *("in", "on", "at", "by", "for", "from", "of", "to", "with", "as", "after", "before", "since", "during", "and"),
        *("but", "or", "nor", "so", "yet", "if", "while", "although", "because", "however", "then", "thus", "also"),
        *("is", "are", "was", "were", "be", "do", "does", "did", "has", "have", "had", "can", "will", "not", "no"),
        *("all", "some", "many", "most", "each", "every", "both", "one", "two", "other", "such", "see", "note"),
    ]
)
"""Words that begin sentences and no names, for corpora with too few examples."""
CALENDAR = frozenset(
    [
        *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october"),
        *("november", "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        *("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
    ]
)
"""Months and days of the week."""


def key_of(text: str) -> str:
    """Return the form in which names are compared: folded words with one space between them."""
    return " ".join(_WORD.findall(text)).casefold()


def without_bracket(title: str) -> str:
    """Return a title without the bracket at its end, which distinguishes equal names: `Salt (film)`."""
    return _BRACKETED.sub("", title)


def surfaces(title: str) -> list[str]:
    """Return the folded forms of a title in a text: whole, and without a trailing bracket."""
    if len(title) > LONGEST_TITLE:
        return []
    keys = dict.fromkeys([key_of(title), key_of(without_bracket(unicodedata.normalize("NFC", title)))])
    return [key for key in keys if key]


def idf(count: int, chunks: int) -> float:
    """Return the inverse document frequency of a name that occurs in `count` of `chunks` chunks."""
    return math.log(1 + chunks / count)


def most_chunks(chunks: int, share: float) -> int:
    """Return the number of chunks above which a name is too common."""
    return max(LEAST_CHUNKS, int(chunks * share))


def says_nothing(word: str) -> bool:
    """Return whether a folded word is a number, a month or a day."""
    return word.isdigit() or word in CALENDAR
