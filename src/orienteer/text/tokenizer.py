"""Words and terms of a text, by the same rules for the texts of a graph and for queries.

A *word* is a run of letters, marks and digits after folding (NFKC, casefold); runs of Chinese, Japanese and Korean
characters become overlapping pairs. A *term* is an entry of the index: words are stemmed, and a word of one run of
digits and one run of letters (`10ms`, `p53`) gives three terms, the whole and its two parts.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import Stemmer

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_MIXED = re.compile(r"([0-9]+)([a-z]+)|([a-z]+)([0-9]+)")
# Characters that Unicode says to ignore: soft hyphens, joiners, direction marks, variation selectors.
_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_CJK = "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"  # noqa: E501
_REMEMBERED = 1 << 17  # words whose stem and terms are cached: memory against stemming again
_CJK_RUN = re.compile(f"([{_CJK}]+)")
# All combining marks lie below this code point, except variation selectors, which are removed before.
_LAST_MARK = 0x1F000


@lru_cache(maxsize=1)
def _unicode_word() -> re.Pattern[str]:
    """Return the pattern of a word in any script. `\\w` alone would break words at vowel signs and other marks."""
    spans: list[list[int]] = []  # of marks: the first and the last code
    for code in range(0x300, _LAST_MARK):
        if not unicodedata.category(chr(code)).startswith("M"):
            continue
        if spans and spans[-1][1] == code - 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    ranges = "".join(f"{chr(low)}-{chr(high)}" for low, high in spans)
    # A mark with no letter before it belongs to no word.
    return re.compile(f"[^\\W_](?:[^\\W_]|[{ranges}])*")


class Tokenizer:
    """Words and terms of a text. Safe to share among threads."""

    def __init__(self, *, stem: bool = True) -> None:
        self.stems = stem
        self._stemmer = stemmer = Stemmer.Stemmer("english")
        self._lock = lock = threading.Lock()

        # The cached functions refer to no tokenizer: one that is no longer used is freed at once, without a collection.
        def stem_of(word: str) -> str:
            if not word.isascii():
                return word
            with lock:  # a stemmer keeps state
                return str(stemmer.stemWord(word))

        self.stem = lru_cache(_REMEMBERED)(stem_of if stem else str)
        """Return the English stem of a word; numbers and words of other scripts stay unchanged."""
        self.expand = expand = partial(_expand, self.stem, {})
        """Return the terms of a word: its stem; if it mixes digits and letters, the whole word and its parts."""
        self.terms_of = lru_cache(_REMEMBERED)(
            lambda token: frozenset(term for word in Tokenizer.words(token) for term in expand(word))
        )
        """Return the distinct terms of a short piece of text, which texts repeat."""

    @property
    def id(self) -> str:
        """Return the name of the rules, for the manifest; a graph with other rules must be rebuilt."""
        return "unicode-1/english-3" if self.stems else "unicode-1"

    @staticmethod
    def words(text: str) -> list[str]:
        """Return the folded words of a text, in order."""
        if text.isascii():
            return _ASCII_WORD.findall(text.lower())
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold())
        words: list[str] = []
        for run in _unicode_word().findall(folded):
            if run.isascii():  # as nearly every run is, whatever else the text holds
                words.append(run)
                continue
            # Runs in scripts without spaces, at the odd places, become overlapping pairs of characters.
            for index, piece in enumerate(_CJK_RUN.split(run)):
                if index % 2 and len(piece) > 1:
                    words.extend(piece[at : at + 2] for at in range(len(piece) - 1))
                elif piece:
                    words.append(piece)
        return words

    def stems_of(self, words: Sequence[str]) -> list[str]:
        """Return the stems of many words, each as `stem` returns it."""
        if not self.stems:
            return list(words)
        with self._lock:
            stems = self._stemmer.stemWords(words)
        return [stem if word.isascii() else word for word, stem in zip(words, stems, strict=True)]

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text, in order, repeats kept."""
        return [term for word in self.words(text) for term in self.expand(word)]

    def query(self, text: str) -> list[str]:
        """Return the distinct terms of a query, in the order of their first appearance."""
        return list(dict.fromkeys(self.terms(text)))


def _expand(stem: Callable[[str], str], known: dict[str, tuple[str, ...]], word: str) -> tuple[str, ...]:
    terms = known.get(word)
    if terms is None:
        mixed = _MIXED.fullmatch(word)
        terms = (word, *(stem(part) for part in mixed.groups() if part)) if mixed else (stem(word),)
        if len(known) < _REMEMBERED * 8:
            known[word] = terms
    return terms


_PAIRS = """
    person:people child:children man:men woman:women mouse:mice foot:feet tooth:teeth goose:geese datum:data
    criterion:criteria phenomenon:phenomena analysis:analyses hypothesis:hypotheses basis:bases axis:axes
    matrix:matrices index:indices taxon:taxa genus:genera medium:media leaf:leaves life:lives shelf:shelves
    series:series species:species software:software equipment:equipment people:people data:data
"""
_IRREGULAR = dict(pair.split(":") for pair in _PAIRS.split())
_SINGULAR = {plural: singular for singular, plural in _IRREGULAR.items()}
_PLURAL_ENDINGS = (("s", ""), ("es", ""), ("ies", "y"), ("ves", "f"), ("ves", "fe"), ("zzes", "z"))


def plural(noun: str) -> str:
    """Return the plural of a noun phrase: of its last word, or of each alternative between slashes."""
    if "/" in noun:
        return "/".join(map(plural, noun.split("/")))
    head, space, word = noun.rpartition(" ")
    if word.lower() in _IRREGULAR:
        return head + space + _IRREGULAR[word.lower()]
    if not (word.isupper() and len(word) > 1):
        if word.endswith(("s", "x", "z", "ch", "sh")):
            return f"{noun}es"
        if word.endswith("y") and word[-2:-1] not in "aeiou":
            return f"{noun[:-1]}ies"
    return f"{noun}s"


@lru_cache(maxsize=4_096)
def singulars(word: str) -> frozenset[str]:
    """Return a word with the singulars that it may be the plural of: `patients` of `patient`, or of `patients`."""
    ended = (f"{word.removesuffix(end)}{own}" for end, own in _PLURAL_ENDINGS if word.endswith(end))
    return frozenset((word, _SINGULAR.get(word, word), *ended))
