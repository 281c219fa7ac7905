"""Finds names in many texts at once, by statistics of the corpus: without a model or a list of names.

Names have two sources. Titles: their words, with and without a trailing "(...)", are looked up in every text, the
longest first. Runs of capitalised words: joined across `of`, `the`, `de` and similar words. A word that the corpus
writes in lower case more often than in upper case is not a name by itself, and is cut off at the beginning of a
sentence. docs/guides/documents.md describes the edges that names make.

Texts are read once. Each word becomes its number and a byte that says what stands before it (`_Tokens`); the rest is
arithmetic over these.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.index import words
from orienteer.index.arrays import begins_of, decode, encode
from orienteer.text.proper_names import LONGEST, OPENING, PARTICLES, says_nothing

Flags = NDArray[np.bool_]
Indexes = NDArray[np.int64]

_WORD, _UPPER, _LOWER, _SPACE, _MARK, _QUOTE = (1 << at for at in range(6))
_LAST_CASED = 0x1F200  # no letter from here on has a case
# What stands between a word and the one before it, where both may belong to one name.
_GAPS = ("", " ", ". ", " & ", ". & ", "'", "’", "-")
_OTHER, _PLAIN, _STOP, _AND, _STOP_AND, _GLUE = range(6)
_GAP, _FIRST, _BREAK = 7, 8, 16
_BATCH = 1 << 20  # characters that are read at once
_KEPT = 1 << 24  # bytes of words that are kept in memory
_JOINED = 2  # words that join two parts of a name, at most


def _class(character: str) -> int:
    """Return what a character is, as flags."""
    return (
        _WORD * (character.isalnum() or character == "_")
        | _UPPER * (character.isupper() and ord(character) < _LAST_CASED)
        | _LOWER * character.islower()
        | _SPACE * character.isspace()
        | _MARK * (character in ".!?:;•\n|")
        | _QUOTE * (character in '"“‘«([')
    )


_ASCII = np.array([_class(chr(code)) if code < 128 else 0 for code in range(256)], np.uint8)


class CaseCounts:
    """How often a corpus writes each word with and without a capital; the first word of a sentence does not count."""

    def __init__(self, lower: Mapping[str, int] | None = None, upper: Mapping[str, int] | None = None) -> None:
        self.lower = dict(lower or {})
        """How often each folded word is written in lower case."""
        self.upper = dict(upper or {})
        """How often it is written with a capital."""

    def add(self, texts: Iterable[str], times: int = 1) -> None:
        """Count the words of texts; with `times=-1` they are subtracted."""
        scan = NameScan()
        for text in texts:
            scan.add_text(0, text)
        for side, own in ((self.lower, scan.case.lower), (self.upper, scan.case.upper)):
            for word, count in own.items():
                side[word] = side.get(word, 0) + times * count
                if side[word] <= 0:
                    del side[word]

    def is_common(self, word: str) -> bool:
        """Return whether a folded word is written in lower case more often than with a capital."""
        lower, upper = self.lower.get(word, 0), self.upper.get(word, 0)
        return lower > upper or (lower == upper and word in OPENING)

    def is_unknown(self, word: str) -> bool:
        """Return whether a word has only begun sentences, so that its capital says nothing."""
        return word not in self.upper and word not in self.lower


class _Tokens(NamedTuple):
    """The words of several texts."""

    forms: NDArray[np.int32]  # (words,): the number of each word as it is written
    marks: NDArray[np.uint8]  # (words,): the number of the gap before it; whether it begins a sentence, or a line
    firsts: Indexes  # (texts + 1,): the index of each text's first word


class _Vocabulary:
    """The words of a corpus, as they are written and folded."""

    def __init__(self) -> None:
        self._numbers = words.WordNumbers()
        self.folds: dict[str, int] = {}
        """The folded words with their numbers."""
        self.written: list[str] = []
        """By form."""
        self.fold_of: list[int] = []
        """By form."""

    def tokens(self, texts: Sequence[str]) -> _Tokens:
        """Find and number the words of several texts: runs of letters, digits and `_`."""
        encoded = [encode(text) for text in texts]
        # Eight bytes at the end, so that a word's last block may be read past its end.
        buffer = np.frombuffer(b"\n" + b"\n".join(encoded) + b"\n" + bytes(8), np.uint8)
        classes = _classes(buffer)
        is_word = (classes & _WORD).view(np.bool_)
        edges = np.flatnonzero(is_word[1:] != is_word[:-1]) + 1
        starts, ends = edges[0::2], edges[1::2]
        before = np.concatenate([np.zeros(min(1, len(ends)), np.int64), ends[:-1]])
        marks = _gaps(buffer, starts, before)
        # The last mark or quote before a word: a mark, or a quote after a space, makes it the first of a sentence.
        telling = np.flatnonzero(classes & (_MARK | _QUOTE))
        last = telling[np.searchsorted(telling, starts) - 1]  # the buffer begins with a mark
        is_first = (last >= before) & (((classes[last] & _MARK) > 0) | ((classes[last - 1] & _SPACE) > 0))
        marks |= is_first.astype(np.uint8) * np.uint8(_FIRST)
        lines = np.flatnonzero(buffer == 10)
        begins = lines[np.searchsorted(lines, starts) - 1] >= before
        marks |= begins.astype(np.uint8) * np.uint8(_BREAK)
        text_begins = 1 + begins_of(np.fromiter(map(len, encoded), np.int64, len(encoded)) + 1)
        return _Tokens(self._number(buffer, starts, ends), marks, np.searchsorted(starts, text_begins))

    def _number(self, buffer: NDArray[np.uint8], starts: Indexes, ends: Indexes) -> NDArray[np.int32]:
        numbers, new = self._numbers.number(words.hashes_in(buffer, starts, ends - starts))
        utf8 = buffer.tobytes()
        for start, end in zip(starts[new].tolist(), ends[new].tolist(), strict=True):
            self.written.append(decode(utf8[start:end]))
            self.fold_of.append(self.folds.setdefault(self.written[-1].casefold(), len(self.folds)))
        return numbers


def _classes(buffer: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the class of the character that each byte belongs to; marks and quotes have theirs at the first byte."""
    classes = _ASCII[buffer]
    leads = np.flatnonzero(buffer >= 0xC0)
    if not len(leads):
        return classes
    sizes = np.where(buffer[leads] >= 0xF0, 4, np.where(buffer[leads] >= 0xE0, 3, 2))
    codes = buffer[leads].astype(np.int64) & (0x7F >> sizes)
    for at in (1, 2, 3):
        longer = sizes > at
        codes[longer] = codes[longer] << 6 | buffer[leads[longer] + at] & 0x3F
    distinct, number = np.unique(codes, return_inverse=True)
    own = np.array([_class(chr(code)) for code in distinct.tolist()], np.uint8)[number]
    classes[leads] = own
    for at in (1, 2, 3):
        longer = sizes > at
        classes[leads[longer] + at] = own[longer] & (_WORD | _SPACE)
    return classes


def _gaps(buffer: NDArray[np.uint8], starts: Indexes, before: Indexes) -> NDArray[np.uint8]:
    """Return the number of the gap before each word: (words,)."""
    gaps = np.zeros(len(starts), np.uint8)
    sizes = starts - before
    for number, gap in enumerate(map(str.encode, _GAPS)):
        if gap:
            at = np.flatnonzero(sizes == len(gap))
            for place, byte in enumerate(gap):
                at = at[buffer[before[at] + place] == byte]
            gaps[at] = number
    return gaps


def keys_of(names: Sequence[str]) -> NDArray[np.uint64]:
    """Return the hash of each name: (names,). A name is folded words with a space between them, as of `key_of`."""
    parts = [name.split(" ") for name in names]
    every = words.hashes_of([word for own in parts for word in own])
    return words.phrases(every, begins_of(np.fromiter(map(len, parts), np.int64, len(parts))))


def _may_stand_alone(word: str) -> bool:
    return len(word) > 1 and not says_nothing(word)


class Found(NamedTuple):
    """Occurrences of names in texts, in their order; a title comes before a run that begins with the same word."""

    starts: Indexes  # (names,): the index of the first word
    sizes: Indexes  # (names,): words
    is_title: Flags  # (names,)
    keys: NDArray[np.uint64]  # (names,): the hash of the folded words


class _Rules:
    """What makes names of words: the titles of a corpus, and the case of its words."""

    def __init__(self, vocabulary: _Vocabulary, titles: Collection[str], case: CaseCounts) -> None:
        folded = list(vocabulary.folds)
        self._fold_of = np.array(vocabulary.fold_of, np.int64)  # by form
        self._hashes = words.hashes_of(folded)  # by folded word, as the arrays that follow
        self._is_common = np.array([case.is_common(word) for word in folded], np.bool_)
        self._is_unknown = np.array([case.is_unknown(word) for word in folded], np.bool_)
        self._may_stand_alone = np.array(list(map(_may_stand_alone, folded)), np.bool_)
        written = vocabulary.written  # by form, as the arrays that follow
        firsts = [_class(word[0]) for word in written]
        self._is_capital = np.array([first & _UPPER for first in firsts], np.bool_)
        self._is_small = np.array([first & _LOWER for first in firsts], np.bool_)
        self._joins = np.array([word in PARTICLES for word in written], np.bool_)
        self._is_letter = np.array([len(word) == 1 for word in written], np.bool_)
        self._is_s = np.array([word == "s" for word in written], np.bool_)
        names = [title for title in titles if self._may_be_name(title)]
        self._titles = words.WordNumbers()
        self._titles.number(keys_of(names))
        self._lengths = np.zeros(len(folded), np.uint16)  # a bit for each length of a title that begins with the word
        for title in names:
            first, size = vocabulary.folds.get(title.partition(" ")[0]), title.count(" ") + 1
            if first is not None and size <= LONGEST:
                self._lengths[first] |= 1 << size

    def _may_be_name(self, title: str) -> bool:
        """Return whether folded words may be a name: several words with a letter, or a word but dates and numbers."""
        return any(map(str.isalpha, title)) if " " in title else _may_stand_alone(title)

    def find(self, tokens: _Tokens, is_cell: Flags | None = None) -> Found:
        """Return the names in texts. Of the texts that are cells, (texts,), each may be a title in any case."""
        folds = self._fold_of[tokens.forms]
        found = [self._title_places(tokens, folds), self._run_places(tokens, folds)]
        if is_cell is not None and is_cell.any():
            found.append(self._cells(tokens, folds, is_cell))
        starts, sizes, is_title = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.lexsort((-sizes, ~is_title, starts))
        starts, sizes, is_title = starts[order], sizes[order], is_title[order]
        begins = begins_of(sizes)
        every = np.repeat(starts - begins[:-1], sizes) + np.arange(begins[-1])
        return Found(starts, sizes, is_title, words.phrases(self._hashes[folds[every]], begins))

    def _title_places(self, tokens: _Tokens, folds: Indexes) -> tuple[Indexes, Indexes, Flags]:
        """Return where titles stand within lines: the longest at each word, none within the one before."""
        lengths = self._lengths[folds]
        may_begin = np.flatnonzero((lengths > 0) & ~self._is_small[tokens.forms])
        lines = np.cumsum(tokens.marks & _BREAK > 0)
        size_at = np.zeros(len(folds), np.int64)
        for size in range(1, LONGEST + 1):  # a longer one replaces a shorter one
            at = may_begin[(lengths[may_begin] >> size & 1) > 0]
            at = at[at + size <= len(folds)]
            at = at[lines[at] == lines[at + size - 1]]
            every = folds[at[:, None] + np.arange(size)]
            keys = words.phrases(self._hashes[every.ravel()], np.arange(len(at) + 1) * size)
            is_here = self._titles.find(keys) >= 0
            if size == 1:
                is_here &= ~self._is_common[folds[at]]
            size_at[at[is_here]] = size
        starts, end = list[int](), 0
        for start in np.flatnonzero(size_at).tolist():
            if start >= end:
                starts.append(start)
                end = start + int(size_at[start])
        chosen = np.array(starts, np.int64)
        return chosen, size_at[chosen], np.ones(len(chosen), np.bool_)

    def _cells(self, tokens: _Tokens, folds: Indexes, is_cell: Flags) -> tuple[Indexes, Indexes, Flags]:
        """Return the cells that are a title as a whole."""
        sizes = np.diff(tokens.firsts)
        keys = words.phrases(self._hashes[folds], tokens.firsts)
        is_title = is_cell & (sizes > 0) & (self._titles.find(keys) >= 0)
        return tokens.firsts[:-1][is_title], sizes[is_title], is_title[is_title]

    def _run_places(self, tokens: _Tokens, folds: Indexes) -> tuple[Indexes, Indexes, Flags]:
        """Return where runs of capitalised words stand, and the parts that joining words divide them into."""
        forms, gaps = tokens.forms, tokens.marks & np.uint8(_GAP)
        # A unit is a word with a capital and what an apostrophe or a hyphen joins to it: `O'Brien`, but `Queen` of
        # `Queen's`.
        is_glued = (gaps >= _GLUE) & ~self._is_s[forms]
        chain = np.cumsum(~is_glued) - 1
        starts = np.flatnonzero(self._is_capital[forms])
        starts = starts[np.diff(chain[starts], prepend=-1) > 0]  # the first of its chain
        if not len(starts):
            return starts, starts, np.zeros(0, np.bool_)
        ends = np.append(np.flatnonzero(~is_glued)[1:], len(forms))[chain[starts]]
        is_linked, is_joined = self._links(forms, gaps, starts, ends)
        heads = np.flatnonzero(~is_linked)  # the first unit of each run
        tails = np.append(heads[1:], len(starts))
        heads += self._is_dropped(tokens, folds, starts, ends, heads, tails - heads == 1)
        first, size = starts[heads.clip(max=len(starts) - 1)], tails - heads
        is_word = (size == 1) & (ends[tails - 1] - first == 1)
        stays = (size > 0) & ~(is_word & self._is_common[folds[first]])
        heads, tails = heads[stays], tails[stays]
        # The parts of each run: they begin where a joining word stands before a unit.
        units = np.repeat(heads, tails - heads) + _counted(tails - heads)
        is_head = np.zeros(len(starts), np.bool_)
        is_head[heads] = True
        part = units[is_head[units] | is_joined[units]]
        part_ends = units[np.append(is_head[units] | is_joined[units], True)[1:]]
        counts = np.diff(np.append(np.flatnonzero(is_head[part]), len(part)))
        several = np.repeat(counts, counts)
        first = np.concatenate([starts[heads], starts[part[several > 1]]])
        last = np.concatenate([ends[tails - 1], ends[part_ends[several > 1]]])
        size, own = last - first, folds[first]
        is_part = np.arange(len(first)) >= len(heads)
        stays = (size > 1) | (self._may_stand_alone[own] & ~(is_part & self._is_common[own]))
        return first[stays], size[stays], np.zeros(int(stays.sum()), np.bool_)

    def _links(
        self, forms: NDArray[np.int32], gaps: NDArray[np.uint8], starts: Indexes, ends: Indexes
    ) -> tuple[Flags, Flags]:
        """Return which units go on the run of the unit before, and which of them after a joining word: (units,) each.

        Up to two joining words may stand between them, and a full stop after an initial.
        """
        apart = starts - np.concatenate([[-9], ends[:-1]])[: len(starts)]  # words between
        begin = starts - apart  # the word after the unit before
        begin = begin.clip(min=0, max=max(0, len(forms) - 1))
        gap = gaps[begin]
        after_initial = self._is_letter[forms[begin - 1]]
        follows = (gap == _PLAIN) | (gap == _AND) | (after_initial & ((gap == _STOP) | (gap == _STOP_AND)))
        joining = np.where(apart > 0, apart, 0) + ((gap == _AND) | (gap == _STOP_AND))
        is_linked = follows & (apart >= 0) & (apart <= _JOINED)
        for further in range(1, _JOINED + 1):
            at = np.flatnonzero(apart >= further)
            at = at[is_linked[at]]
            word = begin[at] + further
            joining[at] += gaps[word] == _AND
            is_linked[at] &= self._joins[forms[word - 1]] & ((gaps[word] == _PLAIN) | (gaps[word] == _AND))
        is_linked &= joining <= _JOINED
        return is_linked, is_linked & (joining > 0)

    def _is_dropped(
        self, tokens: _Tokens, folds: Indexes, starts: Indexes, ends: Indexes, heads: Indexes, is_alone: Flags
    ) -> Flags:
        """Return which runs lose their first unit: a common or unknown word that begins a sentence: (runs,)."""
        first, end = starts[heads], ends[heads]
        after = np.append(tokens.marks & _GAP, np.uint8(_OTHER))[end]
        is_word = (end - first == 1) & (is_alone | ((after != _STOP) & (after != _STOP_AND)))
        is_common = is_word & self._is_common[folds[first]]
        is_unknown = is_alone & (~is_word | self._is_unknown[folds[first]])
        return np.asarray((is_common | is_unknown) & (tokens.marks[first] & _FIRST > 0))


def _counted(sizes: Indexes) -> Indexes:
    """Return 0, 1, 2 ... for each of several runs of these lengths."""
    begins = begins_of(sizes)
    return np.arange(begins[-1]) - np.repeat(begins[:-1], sizes)


class Texts(NamedTuple):
    """What some texts are texts of: columns of shape (texts,)."""

    part: NDArray[np.int32]
    row: NDArray[np.int32]  # of a table; -1 for none
    column: NDArray[np.int32]  # the same; a text with a column is a cell


class NamedTexts(NamedTuple):
    """Some texts, and the names in them: `names` has an entry for each occurrence, and so have `part` and the rest."""

    names: Found
    part: NDArray[np.int32]
    row: NDArray[np.int32]
    column: NDArray[np.int32]
    written: Callable[[int], str]
    """Returns an occurrence as it is written; its words alone if it is a title."""


class NameScan:
    """Reads texts once, and finds the names in them as often as titles and counts of words are known.

    What was read is kept in a temporary file, where it is much: five bytes a word.
    """

    def __init__(self) -> None:
        self._vocabulary = _Vocabulary()
        self._counts = np.zeros(0, np.int64)  # by form, without the first words of sentences
        self._spool = tempfile.SpooledTemporaryFile(_KEPT)  # noqa: SIM115  it lives as long as this
        weakref.finalize(self, self._spool.close)
        self._batches: list[tuple[Indexes, Texts]] = []  # the first word of each text
        self._waiting: list[tuple[str, bool, int, int, int]] = []
        self._size = 0

    def add_text(self, part: int, text: str, *, row: int = -1, column: int = -1, is_counted: bool = True) -> None:
        """Add a text of a part; the texts of a part come one after another. In some texts case means nothing."""
        if self._size > _BATCH and self._waiting[-1][2] != part:
            self._read()
        self._waiting.append((text, is_counted, part, row, column))
        self._size += len(text)

    def _read(self) -> None:
        if not self._waiting:
            return
        texts, is_counted, *where = zip(*self._waiting, strict=True)
        self._waiting, self._size = [], 0
        tokens = self._vocabulary.tokens(texts)
        counts = np.repeat(np.array(is_counted), np.diff(tokens.firsts)) & (tokens.marks & _FIRST == 0)
        counted = np.bincount(tokens.forms[counts], minlength=len(self._vocabulary.written))
        counted[: len(self._counts)] += self._counts
        self._counts = counted
        self._spool.write(tokens.forms.tobytes() + tokens.marks.tobytes())
        self._batches.append((tokens.firsts, Texts(*(np.array(column, np.int32) for column in where))))

    @property
    def case(self) -> CaseCounts:
        """The counts of each word with and without a capital."""
        self._read()
        sides: tuple[dict[str, int], dict[str, int]] = {}, {}
        for word, count in zip(self._vocabulary.written, self._counts.tolist(), strict=True):
            if count and not word[0].isdigit():
                side, folded = sides[not word[0].islower()], word.casefold()
                side[folded] = side.get(folded, 0) + count
        return CaseCounts(*sides)

    def names(self, titles: Collection[str], case: CaseCounts) -> Iterator[NamedTexts]:
        """Yield the names in all texts, some texts at a time; `titles` are folded words with spaces between them."""
        self._read()
        rules = _Rules(self._vocabulary, titles, case)
        self._spool.seek(0)
        for firsts, texts in self._batches:
            size = int(firsts[-1])
            forms = np.frombuffer(self._spool.read(4 * size), np.int32)
            marks = np.frombuffer(self._spool.read(size), np.uint8)
            found = rules.find(_Tokens(forms, marks, firsts), texts.column >= 0)
            at = np.searchsorted(firsts, found.starts, side="right") - 1

            written = partial(self._written, _Tokens(forms, marks, firsts), found)
            yield NamedTexts(found, texts.part[at], texts.row[at], texts.column[at], written)

    def _written(self, tokens: _Tokens, found: Found, name: int) -> str:
        start, size = int(found.starts[name]), int(found.sizes[name])
        own: list[str] = [self._vocabulary.written[form] for form in tokens.forms[start : start + size].tolist()]
        if found.is_title[name]:
            return " ".join(own)
        gaps = (_GAPS[mark & _GAP] for mark in tokens.marks[start + 1 : start + size].tolist())
        return own[0] + "".join(gap + word for gap, word in zip(gaps, own[1:], strict=True))


def names_in(text: str) -> list[str]:
    """Return the runs of capitalised words in one text, each once, as they are written."""
    scan = NameScan()
    scan.add_text(0, text)
    found = next(scan.names((), CaseCounts()))
    _, at = np.unique(found.names.keys, return_index=True)
    return [found.written(name) for name in np.sort(at).tolist()]
