"""Which texts hold the words of a phrase, in a row or in any order: for names that are given in part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from orienteer.index import words
from orienteer.index.arrays import Rows, Strings, decode
from orienteer.index.bm25 import TextIndex
from orienteer.text.tokenizer import Tokenizer


class IndexedNames(Protocol):
    """What is looked at of a graph: `graph.arrays` is one."""

    text_index: TextIndex
    tokenizer: Tokenizer
    names: Strings


class PhrasePlaces(NamedTuple):
    """Texts that have all the words of a phrase."""

    rows: Rows
    """(n,): their nodes, ascending."""
    first: NDArray[np.int64]
    """(n,): where the words stand in a row for the first time, counted in words; -1 where they do not."""


def having_terms(graph: IndexedNames, terms: Sequence[str]) -> Rows:
    """Return the rows that have all these terms in names, aliases or text: (n,), ascending; none without a term."""
    postings = [graph.text_index.posting(term) for term in dict.fromkeys(terms)]
    if not postings or None in postings:
        return np.zeros(0, np.int32)
    rarest, *others = sorted((posting for posting in postings if posting), key=lambda posting: posting.nodes)
    rows = graph.text_index.rows_of(rarest)
    for posting in others:
        rows = graph.text_index.having(posting, rows)
    return rows


def having_words(graph: IndexedNames, phrase: Sequence[str]) -> Rows:
    """Return the rows that may have all these words, each as it is: (n,), ascending. They have their terms."""
    return having_terms(graph, [graph.tokenizer.expand(word)[0] for word in phrase])


def phrase_places(graph: IndexedNames, texts: Strings, rows: Rows, phrase: Sequence[str]) -> PhrasePlaces:
    """Return those of some ascending rows whose text has all the words of a phrase, and where."""
    if not len(rows) or not phrase:
        return PhrasePlaces(rows[:0], np.zeros(0, np.int64))
    split = words.split([decode(text) for text in texts.take(rows.astype(np.int64))], graph.tokenizer)
    hashes = [np.uint64(words.word_hash(word.encode())) for word in phrase]
    of, has_all = split.texts, np.ones(len(rows), np.bool_)
    for wanted in set(hashes):
        has = np.zeros(len(rows), np.bool_)
        has[of[split.hashes == wanted]] = True
        has_all &= has
    begins = np.ones(max(0, len(split.hashes) - len(phrase) + 1), np.bool_)
    for place, wanted in enumerate(hashes):
        begins &= split.hashes[place : place + len(begins)] == wanted
    starts = np.flatnonzero(begins)
    starts = starts[starts + len(phrase) <= split.firsts[of[starts] + 1]][::-1]
    first = np.full(len(rows), -1, np.int64)
    first[of[starts]] = starts - split.firsts[of[starts]]  # of several places in one text the first stays
    return PhrasePlaces(rows[has_all], first[has_all])


def named_in_part(graph: IndexedNames, name: str) -> Rows:
    """Return the rows whose name holds the words of a name in a row: (n,), ascending."""
    phrase = graph.tokenizer.words(name)
    places = phrase_places(graph, graph.names, having_words(graph, phrase), phrase)
    return places.rows[places.first >= 0]
