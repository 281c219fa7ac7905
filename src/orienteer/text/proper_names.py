"""Names in texts, by statistics of the corpus alone: no model, no list of names.

Two sources. Titles: their words, with and without a trailing "(...)", are looked up in every text, the longest first.
Runs of capitalised words, joined across `of`, `the`, `de` and their like. What a capital letter means is told by the
corpus: a word that it writes in lower case more often than in upper case is no name by itself, and is cut off where a
sentence begins with it. docs/documents.md says what these edges carry.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

LONGEST = 12
"""Words of a title that is looked for in texts."""
LEAST_CHUNKS = 20
"""A name in no more chunks than this is never too common."""
LONGEST_TITLE = 300
"""Characters of a title; what is longer is a text."""
_WORD = re.compile(r"\w+")
_QUOTES = '"“‘«(\\['
_MARKS = ".!?:;•\n|"
# From one mark to the next at the most, so that nothing is looked at twice, whatever a text holds.
_FIRST = re.compile(rf"(?:\A[{_QUOTES}]*+|[{_MARKS}]|\s[{_QUOTES}])[^\w{_MARKS}{_QUOTES}]*+(\w+)")
"""The first word of a sentence, a line, a cell or a quotation, whose capital says nothing."""
_BRACKETED = re.compile(r"\s*\([^()]*\)\s*$")
_JOINING = "of|the|de|la|le|du|des|del|della|di|da|do|dos|van|der|den|von|zu|zur|y|e|el|al|bin|ibn|&"
_JOINED = re.compile(rf" (?:(?:{_JOINING}) )+")
_PARTICLES = frozenset(_JOINING.split("|"))
_OPENING = frozenset(
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
"""Words that begin sentences and no name, for corpora too small to tell."""
_LAST_CASED = 0x1F200
"""No letter from here on has a case."""
_CALENDAR = frozenset(
    [
        *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october"),
        *("november", "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        *("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
    ]
)


@lru_cache(maxsize=1)
def _run() -> re.Pattern[str]:
    """Return the pattern of a run of capitalised words; what a capital is, Unicode says. Made once a process."""
    upper = _class(str.isupper)
    capital = rf"[{upper}]\w*+(?:['’\-](?!s\b)\w+)*+"
    gap = r"(?:[ \-]|\. (?<=\b\w\. ))"  # after an initial, a full stop as well
    return re.compile(rf"(?<!\w){capital}(?:{gap}(?:(?:{_JOINING}) ){{0,2}}{capital})*")


def _class(is_kind: Callable[[str], bool]) -> str:
    """Return all characters of a kind, as they stand within the brackets of a pattern."""
    codes = [code for code in range(_LAST_CASED) if is_kind(chr(code))]
    spans: list[list[int]] = []
    for code in codes:
        if spans and spans[-1][1] == code - 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    return "".join(f"\\U{low:08x}" if low == high else f"\\U{low:08x}-\\U{high:08x}" for low, high in spans)


def key_of(text: str) -> str:
    """Return a name as it is compared: its words in folded letters, one space between them."""
    return " ".join(_WORD.findall(text)).casefold()


def surfaces(title: str) -> list[str]:
    """Return how a title may stand in a text: as it is, and without a trailing bracket. Folded."""
    if len(title) > LONGEST_TITLE:
        return []
    found = dict.fromkeys([key_of(title), key_of(_BRACKETED.sub("", unicodedata.normalize("NFC", title)))])
    return [one for one in found if one]


class Case:
    """How often a corpus writes each word with and without a capital, where a capital says something."""

    def __init__(self) -> None:
        self._words: Counter[str] = Counter()

    def add(self, text: str) -> None:
        """Count the words of a text."""
        self._words.update(_WORD.findall(text))
        self._words.subtract(_FIRST.findall(text))

    def settle(self) -> None:
        """Add up the spellings of each word. Nothing is counted after it."""
        self._upper: dict[str, int] = {}
        self._lower: dict[str, int] = {}
        for word, count in self._words.items():
            if count > 0 and not word[0].isdigit():
                counts = self._lower if word[0].islower() else self._upper
                folded = word.casefold()
                counts[folded] = counts.get(folded, 0) + count
        self._words.clear()

    def is_common(self, word: str) -> bool:
        """Say whether a word, given folded, is written in lower case more often than not."""
        lower, upper = self._lower.get(word, 0), self._upper.get(word, 0)
        return lower > upper or (lower == upper and word in _OPENING)

    def is_unknown(self, word: str) -> bool:
        """Say whether a word only ever stood where its capital says nothing."""
        return word not in self._upper and word not in self._lower


@dataclass(slots=True)
class Found:
    """The names of one text."""

    titles: dict[str, str] = field(default_factory=dict)
    """Titles of the corpus that stand in it: folded, and as they are written here."""
    runs: dict[str, str] = field(default_factory=dict)
    """Runs of capitalised words, the same."""


class Finder:
    """Finds names in texts, given the titles of a corpus and how it writes its words."""

    def __init__(self, titles: Iterable[str], case: Case) -> None:
        self._case = case
        self._titles = frozenset(title for title in titles if self._may_be_name(title))
        lengths: dict[str, set[int]] = {}
        for title in self._titles:
            first, count = title.partition(" ")[0], title.count(" ") + 1
            if count <= LONGEST:
                lengths.setdefault(first, set()).add(count)
        self._lengths = {first: sorted(counts, reverse=True) for first, counts in lengths.items()}
        self._run = _run()

    def find(self, text: str) -> Found:
        """Return the names in a piece of prose."""
        found = Found()
        self._titles_in(text, found.titles)
        for run in self._runs_in(text):
            parts = _JOINED.split(run)  # who is of somewhere names that too: University of Oxford, Oxford
            for name in (run, *parts) if len(parts) > 1 else (run,):
                folded = key_of(name)
                if folded and self._may_be_name(folded) and (name is run or not self._case.is_common(folded)):
                    found.runs.setdefault(folded, name)
        return found

    def cell(self, text: str) -> Found:
        """Return the names in a cell of a table, which may be a title as a whole, however it is written."""
        found = self.find(text)
        whole = key_of(text)
        if whole in self._titles and not _says_nothing(whole):
            found.titles.setdefault(whole, text)
        return found

    def _may_be_name(self, folded: str) -> bool:
        """Say whether words may be a name: several may, one only where the corpus does not write it in lower case."""
        if " " in folded:
            return any(char.isalpha() for char in folded)
        return len(folded) > 1 and not _says_nothing(folded)

    def _titles_in(self, text: str, into: dict[str, str]) -> None:
        for line in text.split("\n"):
            words = _WORD.findall(line)
            folded = " ".join(words).casefold().split(" ")
            end = 0
            for at, lengths in enumerate(map(self._lengths.get, folded)):
                if lengths is None or at < end or words[at][0].islower():
                    continue
                for length in lengths:
                    title = folded[at] if length == 1 else " ".join(folded[at : at + length])
                    if title in self._titles and not (length == 1 and self._case.is_common(title)):
                        end = at + length
                        into.setdefault(title, " ".join(words[at:end]))
                        break

    def _runs_in(self, text: str) -> Iterator[str]:
        firsts: set[int] | None = None
        for found in self._run.finditer(text):
            run = found[0]
            head, _, rest = run.partition(" ")
            folded = head.casefold()
            is_common, is_unknown = self._case.is_common(folded), not rest and self._case.is_unknown(folded)
            if is_common or is_unknown:
                if firsts is None:
                    firsts = {first.start(1) for first in _FIRST.finditer(text)}
                if found.start() in firsts:
                    run = _trimmed(rest)
            if run and not (" " not in run and self._case.is_common(run.casefold())):
                yield run


def idf(count: int, chunks: int) -> float:
    """Return how much a name says that stands in `count` of so many chunks."""
    return math.log(1 + chunks / count)


def most_chunks(chunks: int, share: float) -> int:
    """Return in how many chunks a name may stand."""
    return max(LEAST_CHUNKS, int(chunks * share))


def _says_nothing(word: str) -> bool:
    return word.isdigit() or word in _CALENDAR


def _trimmed(run: str) -> str:
    """Return a run without the small words that it begins with."""
    words = run.split(" ")
    while words and words[0] in _PARTICLES:
        words.pop(0)
    return " ".join(words)
