"""The other ways in which the texts of a graph write a word: its forms in their languages, and near spellings.

An index has English stems. For other languages the distinct words of all texts are grouped by their stems at the first
question; in a graph of English texts this is never done. Spellings need no list of words: each word that differs in one
letter is looked up in the index.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain, islice

import Stemmer

from orienteer.index.arrays import Strings
from orienteer.index.bm25 import TextIndex
from orienteer.text.english import LANGUAGES
from orienteer.text.tokenizer import Tokenizer

_LEAST_SHARE, _LEAST_WORDS = 0.01, 10  # of the texts with a stop word, and of such words, in a language that is there
_MOST_TEXTS = 60_000  # that are read for their words: in some 5 s
_WORD = re.compile(r"[^\W\d_]{3,40}")
_MOST, _MOST_SPELLINGS = 20, 5  # forms of a word, and spellings
_SPELLED = range(4, 41)  # letters of a word that may be mistyped: shorter ones have too many neighbours
_LOOKED_AT = 50  # texts in which a spelling is looked for
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class WordForms:
    """Forms and spellings of words. Safe to share among threads."""

    def __init__(self, tokenizer: Tokenizer, index: TextIndex, texts: Strings) -> None:
        self._tokenizer, self._index, self._texts = tokenizer, index, texts

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages of the texts but English, told by stop words that no other language has."""
        in_languages = Counter(chain.from_iterable(LANGUAGES.values()))
        own = sorted(word for word, count in in_languages.items() if count == 1)
        counts = self._index.counts(self._tokenizer.stems_of(own))
        common = {
            word for word, count in zip(own, counts.tolist(), strict=True) if count > _LEAST_SHARE * len(self._texts)
        }
        others = sorted(LANGUAGES.keys() - {"en"})
        return tuple(language for language in others if len(LANGUAGES[language] & common) >= _LEAST_WORDS)

    @cached_property
    def _by_stem(self) -> Mapping[str, Mapping[str, list[str]]]:
        """By language and stem: the words of the texts with this stem."""
        if not self.languages or len(self._texts) > _MOST_TEXTS:
            return {}
        whole = unicodedata.normalize("NFKC", "\n".join(self._texts)).casefold()
        words = sorted(set(_WORD.findall(whole)).difference(*LANGUAGES.values()))
        groups: dict[str, dict[str, list[str]]] = {}
        for language in self.languages:
            by_stem = groups[language] = {}
            for word, stem in zip(words, Stemmer.Stemmer(language).stemWords(words), strict=True):
                by_stem.setdefault(stem, []).append(word)
        return groups

    def inflected(self, word: str) -> tuple[str, ...]:
        """Return the other words of the texts with the stem of a folded word, in a language of theirs but English."""
        stems = ((by_stem, Stemmer.Stemmer(language).stemWord(word)) for language, by_stem in self._by_stem.items())
        forms = chain.from_iterable(by_stem.get(stem, ()) for by_stem, stem in stems)
        return tuple(form for form in dict.fromkeys(forms) if form != word)[:_MOST]

    def spellings(self, word: str) -> tuple[str, ...]:
        """Return the words of the texts that differ from a folded word in one letter, or in the order of two.

        Those in most texts come first.
        """
        if len(word) not in _SPELLED or not word.isalpha():
            return ()
        others = sorted(set(_one_letter_apart(word)) - {word})
        counts = dict(zip(others, self._index.counts(self._tokenizer.stems_of(others)).tolist(), strict=True))
        found = sorted(filter(counts.__getitem__, others), key=lambda other: -counts[other])
        return tuple(islice(filter(self._is_written, found[:_MOST]), _MOST_SPELLINGS))

    def _is_written(self, word: str) -> bool:
        """Return whether a text has the very word. The index has only stems, and *paperness* has that of *paper*."""
        posting = self._index.posting(self._tokenizer.stem(word))
        rows = self._index.rows_of(posting)[:_LOOKED_AT].tolist() if posting is not None else ()
        return any(word in self._tokenizer.words(self._texts[row]) for row in rows)


def _one_letter_apart(word: str) -> Iterator[str]:
    letters = sorted({*_LETTERS, *word})
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        yield from (f"{before}{letter}{after}" for letter in letters)
        if after:
            yield f"{before}{after[1:]}"
            yield from (f"{before}{letter}{after[1:]}" for letter in letters)
        if len(after) > 1:
            yield f"{before}{after[1]}{after[0]}{after[2:]}"
