"""A question as words: folded and stemmed as the index has them, with the place in the text where each stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from orienteer.text import english
from orienteer.text.tokenizer import Tokenizer

LONGEST = 300  # words that are read of a question; what comes after is no question any more
_CHUNK = re.compile(r"\S+")
_RUN = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|«([^»]+)»|(?<!\w)'([^']+)'(?!\w)|`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a question."""

    text: str
    stem: str
    start: int
    end: int
    """Where it stands in the question; the whole run of characters where words part otherwise than runs do."""
    is_quoted: bool
    after_comma: bool
    """Punctuation that parts clauses stands before it."""
    stands_alone: bool
    """It begins a run of characters without spaces."""
    in_code: bool
    """It stands in a run of characters without spaces that holds digits, as identifiers do."""

    @property
    def is_stop(self) -> bool:
        """Tell whether it names nothing by itself."""
        return self.text in english.STOP


@dataclass(frozen=True, slots=True)
class Reading:
    """A question and its words."""

    text: str
    words: tuple[Word, ...]

    def surface(self, first: int, last: int) -> str:
        """Return the characters of the words from `first` up to, not including, `last`."""
        return self.text[self.words[first].start : self.words[last - 1].end]

    def folded(self, first: int, last: int) -> list[str]:
        """Return the folded words from `first` up to, not including, `last`."""
        return [word.text for word in self.words[first:last]]

    def respelled(self, place: int, other: str, stem: str) -> Reading:
        """Return the question with another word at a place, with a capital or in capitals as the one that was there."""
        word = self.words[place]
        old = self.text[word.start : word.end]
        new = other.upper() if old.isupper() else other.capitalize() if old[:1].isupper() else other
        shift = len(new) - len(old)
        words = [
            one if at < place else replace(one, start=one.start + shift * (at > place), end=one.end + shift)
            for at, one in enumerate(self.words)
        ]
        words[place] = replace(words[place], text=other, stem=stem)
        return Reading(self.text[: word.start] + new + self.text[word.end :], tuple(words))

    def is_quoted(self, first: int, last: int) -> bool:
        """Tell whether all these words stand in quotation marks."""
        return all(word.is_quoted for word in self.words[first:last])

    def is_written_as_name(self, index: int) -> bool:
        """Tell whether a word has a capital letter that no beginning of a sentence explains."""
        word = self.words[index]
        surface = self.text[word.start : word.end]
        if any(letter.isupper() for letter in surface[1:]):
            return True
        before = self.text[: word.start].rstrip()
        return surface[:1].isupper() and bool(before) and before[-1] not in ".?!:"


def read(text: str, tokenizer: Tokenizer) -> Reading:
    """Return the words of a question, the first of them where it is overlong."""
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    words: list[Word] = []
    after_comma = False
    for chunk in _CHUNK.finditer(text):
        if len(words) >= LONGEST:
            break
        folded = tokenizer.words(chunk[0])
        in_code = any(letter.isdigit() for letter in chunk[0])
        for word, (start, end) in zip(folded, _places(chunk, folded), strict=True):
            after_comma |= bool(words) and any(mark in text[words[-1].end : start] for mark in ",;:()")
            is_quoted = any(low < start and end < high for low, high in quoted)
            words.append(
                Word(word, tokenizer.stem(word), start, end, is_quoted, after_comma, start == chunk.start(), in_code)
            )
            after_comma = False
    return Reading(text, tuple(words))


def _places(chunk: re.Match[str], folded: Sequence[str]) -> list[tuple[int, int]]:
    """Return where in the text each word of a run without spaces stands."""
    runs = [(chunk.start() + run.start(), chunk.start() + run.end()) for run in _RUN.finditer(chunk[0])]
    return runs if len(runs) == len(folded) else [chunk.span()] * len(folded)
