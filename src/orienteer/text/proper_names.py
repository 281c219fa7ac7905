"""Names in texts, by statistics of the corpus: without a model or a list of names.

Names have two sources. Titles: their words, with and without a trailing "(...)", are looked up in every text, the
longest first. Runs of capitalised words: joined across `of`, `the`, `de` and similar words. A word that the corpus
writes in lower case more often than in upper case is not a name by itself, and is cut off at the beginning of a
sentence. docs/documents.md describes the edges that names make.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import dropwhile

LONGEST = 12
"""Words of the longest title that is looked up in texts: bounds the time."""
LEAST_CHUNKS = 20
"""A name in this many chunks or fewer is never too common."""
LONGEST_TITLE = 300  # characters; anything longer is a text
_WORD = re.compile(r"\w+")
_QUOTES = '"“‘«(\\['
_MARKS = ".!?:;•\n|"
# At most from one mark to the next, so that no character is read twice, whatever a text holds.
_FIRST = re.compile(rf"(?:\A[{_QUOTES}]*+|[{_MARKS}]|\s[{_QUOTES}])[^\w{_MARKS}{_QUOTES}]*+(\w+)")
"""The first word of a sentence, a line, a cell or a quotation, whose capital says nothing."""
_BRACKETED = re.compile(r"(?<!\s)\s*\([^()]*\)\s*$")
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
"""Words that begin sentences and no names, for corpora with too few examples."""
_LAST_CASED = 0x1F200  # no letter from here on has a case
_CALENDAR = frozenset(
    [
        *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october"),
        *("november", "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        *("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
    ]
)


@lru_cache(maxsize=1)
def _run() -> re.Pattern[str]:
    """Return the pattern of a run of capitalised words, by Unicode's capitals. It is compiled once in a process."""
    spans: list[list[int]] = []  # of capitals: the first and the last code
    for code in filter(lambda code: chr(code).isupper(), range(_LAST_CASED)):
        if spans and spans[-1][1] == code - 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    upper = "".join(f"\\U{low:08x}" if low == high else f"\\U{low:08x}-\\U{high:08x}" for low, high in spans)
    # Not `(...)*+`: Python 3.11.2, which Debian 12 has, forgets the lookahead in a possessive group. Nothing behind it
    # can fail, so that no way back is ever tried.
    capital = rf"[{upper}]\w*+(?:['’\-](?!s\b)\w++)*"
    gap = r"(?:[ \-]|\. (?<=\b\w\. ))"  # after an initial, a full stop as well
    return re.compile(rf"(?<!\w){capital}(?:{gap}(?:(?:{_JOINING}) ){{0,2}}{capital})*")


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


class CaseCounts:
    """How often a corpus writes each word with and without a capital; the first word of a sentence does not count."""

    def __init__(self, lower: Mapping[str, int] | None = None, upper: Mapping[str, int] | None = None) -> None:
        self._words: Counter[str] = Counter()
        self.lower = dict(lower or {})
        """How often each folded word is written in lower case, after `settle`."""
        self.upper = dict(upper or {})
        """How often it is written with a capital."""

    def add(self, text: str) -> None:
        """Count the words of a text."""
        self._words.update(_WORD.findall(text))
        self._words.subtract(_FIRST.findall(text))

    def take_back(self, text: str) -> None:
        """Subtract the words of a text from the counts."""
        self._words.subtract(_WORD.findall(text))
        self._words.update(_FIRST.findall(text))

    def settle(self) -> None:
        """Add up the spellings of each word. Call it after the last `add`."""
        for word, count in self._words.items():
            if count and not word[0].isdigit():
                counts = self.lower if word[0].islower() else self.upper
                folded = word.casefold()
                counts[folded] = counts.get(folded, 0) + count
                if counts[folded] <= 0:
                    del counts[folded]
        self._words.clear()

    def is_common(self, word: str) -> bool:
        """Return whether a folded word is written in lower case more often than with a capital."""
        lower, upper = self.lower.get(word, 0), self.upper.get(word, 0)
        return lower > upper or (lower == upper and word in _OPENING)

    def is_unknown(self, word: str) -> bool:
        """Return whether a word has only begun sentences, so that its capital says nothing."""
        return word not in self.upper and word not in self.lower


@dataclass(slots=True)
class TextNames:
    """The names of one text."""

    titles: dict[str, str] = field(default_factory=dict)
    """Titles of the corpus that occur in the text: the folded form, and the form that is written here."""
    runs: dict[str, str] = field(default_factory=dict)
    """Runs of capitalised words, in the same two forms."""


class Finder:
    """Finds names in texts, by the titles of a corpus and the case of its words."""

    def __init__(self, titles: Iterable[str], case: CaseCounts) -> None:
        self._case = case
        self._titles = frozenset(title for title in titles if self._may_be_name(title))
        lengths: dict[str, set[int]] = {}
        for title in self._titles:
            first, count = title.partition(" ")[0], title.count(" ") + 1
            if count <= LONGEST:
                lengths.setdefault(first, set()).add(count)
        self._lengths = {first: sorted(counts, reverse=True) for first, counts in lengths.items()}
        self._run = _run()

    def find(self, text: str) -> TextNames:
        """Return the names in a piece of prose."""
        names = TextNames()
        for line in text.split("\n"):
            words = _WORD.findall(line)
            words_folded = " ".join(words).casefold().split(" ")
            end = 0
            for at, lengths in enumerate(map(self._lengths.get, words_folded)):
                if lengths is None or at < end or words[at][0].islower():
                    continue
                for length in lengths:
                    title = words_folded[at] if length == 1 else " ".join(words_folded[at : at + length])
                    if title in self._titles and not (length == 1 and self._case.is_common(title)):
                        end = at + length
                        names.titles.setdefault(title, " ".join(words[at:end]))
                        break
        for run in self._runs_in(text):
            parts = _JOINED.split(run)  # `University of Oxford` names Oxford as well
            for name in (run, *parts) if len(parts) > 1 else (run,):
                folded = key_of(name)
                if folded and self._may_be_name(folded) and (name is run or not self._case.is_common(folded)):
                    names.runs.setdefault(folded, name)
        return names

    def cell(self, text: str) -> TextNames:
        """Return the names in a cell of a table. The whole cell may be a title, in any case of letters."""
        names = self.find(text)
        whole = key_of(text)
        if whole in self._titles and not _says_nothing(whole):
            names.titles.setdefault(whole, text)
        return names

    def _may_be_name(self, folded: str) -> bool:
        """Return whether folded words may be a name: several words with a letter, or a word but dates and numbers."""
        if " " in folded:
            return any(char.isalpha() for char in folded)
        return len(folded) > 1 and not _says_nothing(folded)

    def _runs_in(self, text: str) -> Iterator[str]:
        """Yield the runs of capitalised words, without a common word at the beginning of a sentence."""
        firsts: set[int] | None = None
        for match in self._run.finditer(text):
            run = match[0]
            head, _, rest = run.partition(" ")
            folded = head.casefold()
            is_common, is_unknown = self._case.is_common(folded), not rest and self._case.is_unknown(folded)
            if is_common or is_unknown:
                if firsts is None:
                    firsts = {first.start(1) for first in _FIRST.finditer(text)}
                if match.start() in firsts:
                    run = " ".join(dropwhile(_PARTICLES.__contains__, rest.split(" ")))
            if run and (" " in run or not self._case.is_common(run.casefold())):
                yield run


def idf(count: int, chunks: int) -> float:
    """Return the inverse document frequency of a name that occurs in `count` of `chunks` chunks."""
    return math.log(1 + chunks / count)


def most_chunks(chunks: int, share: float) -> int:
    """Return the number of chunks above which a name is too common."""
    return max(LEAST_CHUNKS, int(chunks * share))


def _says_nothing(word: str) -> bool:
    return word.isdigit() or word in _CALENDAR
