"""What a person is shown of a passage: the part that fits a question best, whole sentences or rows of it.

A text that is short enough is shown whole. Of a longer one it is the run of neighbouring sentences, or of rows beneath
their header, in which the rarest words of the question stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from orienteer.text.sentences import split

LONGEST = 800
"""Characters of an excerpt. A paragraph has some 600."""
_WORD = re.compile(r"[^\W_]+")
_WRAPPED = 40
"""Characters of a line from which on it may have been wrapped, with at least five words."""


class PassageExcerpt(NamedTuple):
    """A part of a text."""

    text: str
    span: tuple[int, int]
    """The characters of the whole text that it was taken from, the end left out; the header of a table not counted."""
    marks: tuple[tuple[int, int], ...]
    """Where words of the question stand in it: characters of the excerpt."""
    best: int
    """Where its best sentence or row begins in the whole text."""


class TextPiece(NamedTuple):
    """A sentence, or a row of a table, by its characters in the whole text."""

    begin: int
    end: int
    terms: frozenset[str]
    """The terms of the question that stand in it."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The terms of a question and how to find them. For one question: it remembers the words of texts."""

    weights: Mapping[str, float]
    """By term: its idf."""
    terms: Callable[[str], Set[str]]
    """The terms of a word."""
    _known: dict[str, Set[str]] = field(default_factory=dict)

    def found(self, text: str) -> list[tuple[int, int, Set[str]]]:
        """Return where words of the question stand in a text, and which of its terms each is."""
        known, places = self._known, []
        for word in _WORD.finditer(text):
            terms = known.get(word[0])
            if terms is None:
                terms = self._terms_of(word[0])
            if terms:
                places.append((word.start(), word.end(), terms))
        return places

    def terms_in(self, text: str) -> frozenset[str]:
        """Return the terms of the question that stand in a text."""
        known, standing = self._known, set[str]()
        for word in _WORD.findall(text):  # without places that takes half the time of `found`
            terms = known.get(word)
            if terms is None:
                terms = self._terms_of(word)
            if terms:
                standing |= terms
        return frozenset(standing)

    def _terms_of(self, word: str) -> Set[str]:
        """Return which terms of the question a word is, and remember it."""
        terms = self._known[word] = self.weights.keys() & self.terms(word)
        return terms

    def weight(self, terms: Set[str]) -> float:
        """Return what some terms weigh together."""
        return sum(self.weights[term] for term in sorted(terms))


def excerpt(text: str, shown: Shown, *, header: int = 0, longest: int = LONGEST) -> PassageExcerpt:
    """Return the part of a text that fits a question best, at most `longest` characters and an ellipsis at each end.

    The first `header` lines are those of a table, and stand above what is shown of it, as far as `longest` goes.
    """
    above, body = _parted(text, header)
    pieces = pieces_of(text, shown, begin=len(above))
    if not pieces:
        return PassageExcerpt(text[:longest], (0, min(len(text), longest)), (), 0)
    best = max(pieces, key=lambda piece: shown.weight(piece.terms))
    begin, end = (len(above), len(text)) if len(body) <= longest else _window(pieces, best, shown, longest)
    begin, end = centred(text, (begin, end), shown, longest)
    cut = f"{'…' if begin > len(above) else ''}{text[begin:end].strip()}{'…' if end < len(text.rstrip()) else ''}"
    text_shown = f"{above[:longest]}{cut}"
    marks = tuple((start, stop) for start, stop, _ in shown.found(text_shown))
    return PassageExcerpt(text_shown, (begin, end), marks, best.begin)


def centred(text: str, span: tuple[int, int], shown: Shown, longest: int) -> tuple[int, int]:
    """Return a span, or of one that is too long the part around the rarest word of the question, cut at spaces."""
    begin, end = span
    if end - begin <= longest:
        return span
    places = [(-shown.weight(terms), start) for start, _, terms in shown.found(text[begin:end])]
    first = max(begin, begin + min(places, default=(0.0, 0))[1] - longest // 3)
    first = min(first, end - longest)
    if first > begin and (space := text.find(" ", first, first + longest // 4)) >= 0:
        first = space + 1
    last = min(end, first + longest)
    if last < end and (space := text.rfind(" ", first + longest // 2, last)) >= 0:
        last = space
    return first, last


def pieces_of(text: str, shown: Shown, *, begin: int = 0) -> list[TextPiece]:
    """Return the sentences of a text, from a place in it on. A line ends one, unless it was only wrapped there."""
    pieces = []
    at = begin
    for paragraph in _paragraphs(text[begin:]):
        for sentence in split(paragraph):
            at = text.index(sentence, at)
            pieces.append(TextPiece(at, at + len(sentence), shown.terms_in(sentence)))
            at += len(sentence)
    return pieces


def _paragraphs(text: str) -> Iterator[str]:
    """Return the lines of a text, those in one that were only wrapped: a line of prose that goes on in lower case."""
    paragraph: list[str] = []
    for line in text.split("\n"):
        if paragraph and not (_goes_on(paragraph[-1]) and line.lstrip()[:1].islower()):
            yield "\n".join(paragraph)
            paragraph = []
        paragraph.append(line)
    yield "\n".join(paragraph)


def _goes_on(line: str) -> bool:
    """Say whether a line of prose may go on in the next."""
    words = line.split()
    is_prose = len(words) >= 5 and sum(word.strip(",'\"()-").isalpha() for word in words) >= 0.7 * len(words)
    return is_prose and len(line.strip()) >= _WRAPPED and line.rstrip()[-1] not in ".!?:;|"


def _parted(text: str, header: int) -> tuple[str, str]:
    """Return the header of a table with its line end, and the rest."""
    lines = text.split("\n", header)
    above = "\n".join(lines[:header]) + "\n" if header and len(lines) > header else ""
    return above, text[len(above) :]


def _window(pieces: Sequence[TextPiece], best: TextPiece, shown: Shown, longest: int) -> tuple[int, int]:
    """Return the run of pieces around the best one that has most of the question's terms, and room."""
    at = pieces.index(best)
    low = high = at
    has = set(best.terms)
    while True:
        sides = []
        for side in (low - 1, high + 1):
            if 0 <= side < len(pieces):
                begin, end = pieces[min(low, side)].begin, pieces[max(high, side)].end
                if end - begin <= longest:
                    sides.append((shown.weight(pieces[side].terms - has), side > high, side))
        if not sides:
            return pieces[low].begin, pieces[high].end
        side = max(sides)[2]  # among equals what comes after: it is read on
        has |= pieces[side].terms
        low, high = min(low, side), max(high, side)
