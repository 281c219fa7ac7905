"""Open words: what a first passage lacks of the question, asked of the passages that its names lead to. No model.

    question    Who is the spouse of the maker of Night Ferry?
    a seed      Night Ferry, "A film by Ada Holm, its maker": it leaves *who is the spouse* open
    led to      Ada Holm, "Her spouse is Noor Vik": it says *spouse*, and so comes before all else that names Ada Holm

Of the question's words, N passages, df of which have a term or hold a name, and idf = ln(1 + N / df):

    link(s, p)   the greatest of w(n) for names n that s holds and that title p, and of .7 w(n) for names n that both
                 hold; at most 1, and 0 where p is s. w(n) = idf / ln(1 + N / 2), 0 for names of the question
    lex(s, p)    idf of the terms that p has and s has not / idf of all terms of the question; stop words are no terms
    cos(s, p)    the cosine of p and the words that s leaves open, embedded as one text; 0 where it is negative
    f(p)         the greatest H(s) * link(s, p) * (.5 lex + .5 cos) of all seeds s; H is the flat score over the best
    score(p)     ln(W) + 22 f(p); W is the walk's share over the best, at least a millionth
    order        next comes the greatest score(p) + 4 * idf of the terms that p has and no earlier one / idf of all

Without vectors f has lex alone, and 16 stands for 22. docs/knowledge-bases.md has what each part carries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.pieces.incidence import Lists, Numbers
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.retrieval.expansion.incidence import Incidence
from orienteer.retrieval.spaces import Spaces
from orienteer.text.english import ASKING, STOP

SEEDS = 5
"""Passages that are asked what they leave open: 3 lose .7 on MuSiQue, 8 gain nothing."""
_LIFT = 22.0
"""What f counts beside the logarithm of the walk. Chosen on MuSiQue, 2Wiki and HotpotQA, where 11 to 44 are within a
point; no constant was chosen on OTT-QA."""
_LIFT_BY_WORDS = 16.0
"""The same where there are no vectors."""
_LEXICAL = 0.5
"""The share of words in f, beside meaning; .3 to .7 are level."""
_SHARED = 0.7
"""What a name counts that both passages hold, beside one that titles the other."""
_COVER = 4.0
"""What a whole question's worth of words counts that no earlier passage has: it keeps one that says all in front."""
_ORDERED = 20
"""Passages that are chosen one after the other, at least."""
_LEAST = 1e-6
"""The share of a passage that the walk is hardly ever at."""
_TOLD = 2
"""Open words that a reason tells."""
_TELLING = 0.5
"""What they must add to a passage's score to be told; the one that leaves them open comes before it."""
_WORD = re.compile(r"\w+")

Scores = NDArray[np.float64]


class Pool(NamedTuple):
    """Passages that are put in order."""

    rows: Rows
    """(n,): ascending."""
    walk: Scores
    """How often a walk is at each, over the one where it is most often."""
    flat: Scores
    """How well each fits the question by itself, over the best one."""

    def seeds(self) -> Pool:
        """Return the first ones by walk and fit, ascending."""
        best = np.sort(np.lexsort((self.rows, -(np.sqrt(self.walk) + self.flat)))[:SEEDS])
        return Pool(self.rows[best], self.walk[best], self.flat[best])


class OpenWordMatches(NamedTuple):
    """Open words that a passage says."""

    words: tuple[str, ...]
    """As the question writes them, the rarest first."""
    seed: int
    """The row of the passage that leaves them open."""


class PassageOrder(NamedTuple):
    """Passages in order."""

    rows: Rows
    scores: Scores
    """(n,): above 0, the first one's 1."""
    said: dict[int, OpenWordMatches]
    """By row: of those that were lifted for words that they say."""


Nearness = Callable[[Sequence[str]], Scores]
"""Returns how near passages are to texts: (texts, passages), 0 or more."""


class OpenWords:
    """Puts passages in order by what first ones leave open. Safe to share among threads."""

    def __init__(self, spaces: Spaces, incidence: Incidence) -> None:
        self._spaces, self._links = spaces, _Links(incidence)
        expand = spaces.graph.arrays.tokenizer.expand
        self._stop = frozenset(term for word in STOP | ASKING for term in expand(word))

    def __call__(
        self, question: str, pool: Pool, seeds: Pool, k: int, *, named: Numbers, near: Nearness | None
    ) -> PassageOrder:
        """Return the `k` best of the pool. `named` are the names of the question; without `near` words decide alone."""
        words = _Words(self._spaces, question, self._stop)
        has, lacks = words.held(pool.rows), ~words.held(seeds.rows)  # (pool, terms), (seeds, terms)
        link = seeds.flat.clip(0, 1)[:, None] * self._links(seeds.rows, pool.rows, named)  # (seeds, pool)
        says = (lacks * words.shares) @ has.T
        if near is not None:
            says = _LEXICAL * says + (1 - _LEXICAL) * _nearness(words, lacks, link, near)
        lifts = (_LIFT_BY_WORDS if near is None else _LIFT) * link * says
        scores = np.log(pool.walk.clip(min=_LEAST)) + lifts.max(axis=0, initial=0.0)
        order, values = _covering(scores, has, words.shares, max(_ORDERED, k))
        rows = pool.rows[order]
        said = {}
        for at, one in enumerate(order[:k].tolist()):
            seed = int(lifts[:, one].argmax())
            told = words.told(has[one] & lacks[seed])
            if told and lifts[seed, one] >= _TELLING and seeds.rows[seed] not in rows[at:]:
                said[int(rows[at])] = OpenWordMatches(told, int(seeds.rows[seed]))
        return PassageOrder(rows[:k], np.exp(values[:k] - values.max(initial=-np.inf)), said)


def _nearness(words: _Words, lacks: Mask, link: Scores, near: Nearness) -> Scores:
    """Return how near each passage is to what each seed leaves open: (seeds, pool); 0 where no name leads there."""
    texts = [words.left_open(one) if leads.any() else "" for one, leads in zip(lacks, link, strict=True)]
    distinct = list(dict.fromkeys(filter(None, texts)))  # seeds often leave the same words open
    found = np.vstack([near(distinct) if distinct else np.zeros((0, link.shape[1])), np.zeros((1, link.shape[1]))])
    return found[[distinct.index(text) if text else -1 for text in texts]]


def _covering(scores: Scores, has: Mask, shares: Scores, count: int) -> tuple[NDArray[np.int64], Scores]:
    """Return all places, best first, and what each was worth when it was chosen, which never rises.

    The first `count` are chosen one after the other, with a bonus for terms that no earlier one has. `scores`: (pool,);
    `has`: (pool, terms); `shares`: (terms,).
    """
    fresh = has * (_COVER * shares)  # (pool, terms): what is left of the bonus
    is_left = np.ones(len(scores), np.bool_)
    order, values = [], []
    for _ in range(min(count, len(scores))):
        value = np.where(is_left, scores + fresh.sum(axis=1), -np.inf)
        best = int(value.argmax())  # ties go to the smaller row
        order.append(best)
        values.append(value[best])
        is_left[best] = False
        fresh[:, has[best]] = 0
    rest = np.flatnonzero(is_left)
    rest = rest[np.argsort(-scores[rest], kind="stable")]
    return np.array([*order, *rest.tolist()], np.int64), np.array([*values, *scores[rest].tolist()])


class _Words:
    """A question's words, and which of its terms passages have."""

    def __init__(self, spaces: Spaces, question: str, stop: frozenset[str]) -> None:
        arrays = spaces.graph.arrays
        self._index = arrays.text_index
        self._words = [(word, frozenset(arrays.tokenizer.terms(word)) - stop) for word in _WORD.findall(question)]
        self._place: dict[str, int] = {}
        self._postings, idf = [], []
        total = np.count_nonzero(spaces.passages)
        for term in dict.fromkeys(arrays.tokenizer.terms(question)):
            posting = self._index.posting(term) if term not in stop else None
            if posting is None:
                continue
            if count := np.count_nonzero(spaces.passages[self._index.rows_of(posting)]):
                self._place[term] = len(self._place)
                self._postings.append(posting)
                idf.append(np.log1p(total / count))
        self.shares: Scores = np.array(idf, np.float64) / (sum(idf) or 1.0)
        """(terms,): the idf of each term that a passage has, over that of all."""

    def held(self, rows: Rows) -> Mask:
        """Mark the terms that passages have, given by ascending rows: (rows, terms)."""
        held = np.zeros((len(rows), len(self._postings)), np.bool_)
        for place, posting in enumerate(self._postings):
            held[rows.searchsorted(self._index.filter_rows(posting, rows)), place] = True
        return held

    def left_open(self, lacks: Mask) -> str:
        """Return the question without the words whose terms are all there; stop words stay. `lacks`: (terms,)."""
        return " ".join(
            word
            for word, terms in self._words
            if not terms or any(term not in self._place or lacks[self._place[term]] for term in terms)
        )

    def told(self, terms: Mask) -> tuple[str, ...]:
        """Return some words of which a marked term is one, the rarest first. `terms`: (terms,)."""
        shares = {
            word: max(self.shares[at] for at in places)
            for word, own in self._words
            if (places := [at for term in own if (at := self._place.get(term)) is not None and terms[at]])
        }
        return tuple(sorted(shares, key=lambda word: -shares[word])[:_TOLD])


class _Links:
    """How surely names lead from one passage to another."""

    def __init__(self, incidence: Incidence) -> None:
        self._incidence = incidence
        self._titles = incidence.titled.turned(len(incidence.passages))  # the names that title each passage
        self._weights = incidence.weights() / np.log1p(len(incidence.passages) / 2)  # (names,)

    def __call__(self, seeds: Rows, pool: Rows, named: Numbers) -> Scores:
        """Return how surely each seed leads to each passage: (seeds, pool), 0 to 1. Names of the question do not."""
        held = _entries(self._incidence.held, self._incidence.places(pool))
        titles = _entries(self._titles, self._incidence.places(pool))
        links = np.zeros((len(seeds), len(pool)))
        for link, seed in zip(links, self._incidence.places(seeds).tolist(), strict=True):
            names = np.setdiff1d(self._incidence.held.of(seed), named)
            for (owner, name), share in ((titles, 1.0), (held, _SHARED)):
                is_shared = np.isin(name, names)
                np.maximum.at(link, owner[is_shared], share * self._weights[name[is_shared]])
        links[seeds[:, None] == pool] = 0
        return links.clip(max=1)


def _entries(lists: Lists, owners: Numbers) -> tuple[NDArray[np.int64], Numbers]:
    """Return the members of some owners' lists, and of each the place of its owner among them: (n,) each."""
    begins, counts = lists.begins[owners], lists.counts()[owners]
    at = np.arange(counts.sum()) + np.repeat(begins - (counts.cumsum() - counts), counts)
    return np.repeat(np.arange(len(owners)), counts), lists.members[at]
