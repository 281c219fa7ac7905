"""The names in the passages of a graph, and the passages that a name titles: a walk follows these.

Names are the entities of a graph that has them: what its passages have edges `mentions` and `titled` to. In a graph of
passages alone they are those that `orienteer build` found by statistics of the corpus and kept beside the graph
(`orienteer.graph.pieces.incidence`); they are found when they are missed.
"""

from __future__ import annotations

import logging
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph import pieces
from orienteer.graph.names import CorpusNames, find_names
from orienteer.graph.pieces.incidence import (
    PIECE,
    Lists,
    NameIncidence,
    Numbers,
    distinct_lists,
    incidence_of,
    read_names,
    write_names,
)
from orienteer.graph.reserved import DOCUMENT
from orienteer.graph.store import Graph
from orienteer.graph.titles import TitleFinder
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.records import Node
from orienteer.retrieval.query import Spaces
from orienteer.text.english import ASKING, STOP
from orienteer.text.proper_names import LEAST_CHUNKS, LONGEST

logger = logging.getLogger(__name__)

MENTIONS, TITLED = "mentions", "titled"
"""Edge types from a passage to an entity that it names, and to the one that its title names."""
_COMMON = 0.02  # share of the nodes that may have the one word of a name, as in graph/titles.py
_PATIENCE = 60.0  # seconds that another process may take to make the piece
_WORD = re.compile(r"\w+")
_JOINTS = (" ", "-", "'", "’")


@dataclass(frozen=True, slots=True)
class Incidence:
    """Names and passages by number, and where each stands."""

    passages: Rows
    """The row of each passage, ascending."""
    written: Callable[[int], str]
    """Returns a name, given its number, as it is first written."""
    held: Lists
    """Names of each passage."""
    holders: Lists
    """Passages of each name."""
    titled: Lists
    """Passages that each name titles, which hold it too."""
    find: Callable[[str], Numbers]
    """Returns the numbers of the names that stand in a text, ascending: the longest first, no word part of two. A name
    has a capital or a digit where it stands there; one of a single word is in few nodes; one that is no title is no
    part of a longer run of capitalised words."""
    rows: Rows | None = None
    """The row of each name, ascending; None unless names are entities."""
    note: str = ""
    """Why it could not be stored with the graph, if so."""

    def weights(self) -> NDArray[np.float32]:
        """Return the weight of each name: ln(1 + passages / passages with it)."""
        counts = np.maximum(self.holders.counts(), 1)
        return np.log1p(len(self.passages) / counts).astype(np.float32)  # (names,)

    def places(self, rows: Rows) -> Numbers:
        """Return the numbers of passages, given their rows."""
        return self.passages.searchsorted(rows).astype(np.int32)


def open_incidence(graph: Graph, spaces: Spaces) -> Incidence | None:
    """Return the names of a graph's passages: its entities, else what statistics find; None without passages.

    Raises `NotAGraph` for damage, `GraphBusy` if another process does not finish what it writes there.
    """
    if not spaces.has_passages:
        return None
    entities = _of_entities(graph, spaces)
    return entities if entities is not None else _stored(graph, spaces.passages)


# ------------------------------------------------------------------------------------------------------- entities


def _of_entities(graph: Graph, spaces: Spaces) -> Incidence | None:
    """Return the incidence of an extracted knowledge base, or None without edges from passages to entities."""
    kinds = [name for name in (MENTIONS, TITLED) if name in graph.arrays.types.edges]
    if not kinds or not spaces.entities.any():
        return None
    passages = np.flatnonzero(spaces.passages).astype(np.int32)
    rows = np.flatnonzero(spaces.entities).astype(np.int32)
    entries = graph.arrays.adjacency.entries(passages, graph.arrays.kind_mask(kinds, None))
    entries = entries.where(spaces.entities[entries.neighbor])
    if not len(entries.owner):
        return None
    holder, name = passages.searchsorted(entries.owner), rows.searchsorted(entries.neighbor)
    listing = distinct_lists(holder, name, len(passages), len(rows))
    is_title = np.isin(entries.kind >> 1, [graph.arrays.types.edges.index(name) for name in kinds if name == TITLED])
    titles = TitleFinder(graph.arrays)

    def find(text: str) -> Numbers:
        named = titles(text)
        return rows.searchsorted(named[spaces.entities[named]]).astype(np.int32)

    return Incidence(
        passages=passages,
        written=lambda number: str(graph.arrays.names[int(rows[number])]),
        held=listing,
        holders=listing.inverted(len(rows)),
        titled=distinct_lists(name[is_title], holder[is_title], len(rows), len(passages)),
        find=find,
        rows=rows,
    )


# -------------------------------------------------------------------------------------------- names by statistics


def _stored(graph: Graph, passages: Mask) -> Incidence:
    """Return the names stored with a graph; they are found and stored if they are missing."""

    def fitting(folder: Path) -> NameIncidence | None:
        names = read_names(folder, graph.arrays.manifest.generation)
        return names if names is not None and len(names.held.begins) == passages.sum() + 1 else None

    def find_all() -> CorpusNames:
        return find_names(_Ordered(graph, passages), progress=lambda stage, count: None)

    def write(work: Path) -> None:
        write_names(graph, find_all(), work)

    names, why = pieces.piece_or_made(
        graph.path, graph.arrays.manifest.generation, PIECE, read=fitting, write=write, patience=_PATIENCE
    )
    if names is not None:
        return _incidence(graph, passages, names)
    # Nothing may be written there: the names live as long as the process, and the result says so.
    note = f"names are found by every process anew, for {why}"
    logger.warning("%s", note)
    return _incidence(
        graph,
        passages,
        incidence_of(graph, find_names(_Ordered(graph, passages), progress=lambda stage, count: None)),
        note,
    )


def _incidence(graph: Graph, passages: Mask, names: NameIncidence, note: str = "") -> Incidence:
    return Incidence(
        passages=np.flatnonzero(passages).astype(np.int32),
        written=names.written.__getitem__,
        held=names.held,
        holders=names.holders,
        titled=names.titled,
        find=_NamesIn(graph, names),
        note=note,
    )


class _Ordered:
    """The documents and passages of a graph, each document before its parts and those in their order."""

    def __init__(self, graph: Graph, passages: Mask) -> None:
        self._graph = graph
        types = [DOCUMENT] if DOCUMENT in graph.arrays.types.nodes else []
        documents = graph.arrays.mask(types) if types else None
        rows = np.flatnonzero(passages if documents is None else passages | documents).astype(np.int32)
        named, order = (graph.arrays.properties.every(name, rows) for name in ("document", "order"))
        ids = [graph.arrays.ids[row] for row in rows.tolist()]
        places = [
            (name if isinstance(name, str) else own, isinstance(name, str), at if isinstance(at, int) else 0)
            for own, name, at in zip(ids, named, order, strict=True)
        ]
        self._rows = [int(rows[at]) for at in sorted(range(len(rows)), key=places.__getitem__)]

    def __iter__(self) -> Iterator[Node]:
        return map(self._graph.arrays.node_at, self._rows)


class _NamesIn:
    """Finds names in a text by their words, the longest first. Safe to share among threads."""

    def __init__(self, graph: Graph, names: NameIncidence) -> None:
        self._graph, self._keys, self._numbers = graph, names.keys, names.numbers
        self._is_title = names.titled.counts() > 0  # (names,)
        self._most = max(LEAST_CHUNKS, _COMMON * len(graph))

    def __call__(self, text: str) -> Numbers:
        words = list(_WORD.finditer(text))
        folded = [word[0].casefold() for word in words]
        has_capital = [not word[0][0].islower() for word in words]
        numbers: set[int] = set()
        at = 0
        while at < len(words):
            length, number = self._longest(folded, has_capital, at)
            if length:
                # A name within a longer run of capitals may be part of another name. The capital of the first word
                # of a text says nothing.
                end = at + length
                before = at > 1 and has_capital[at - 1] and text[words[at - 1].end() : words[at].start()] in _JOINTS
                after = end < len(words) and has_capital[end] and text[words[end - 1].end() : words[end].start()] == " "
                if self._is_title[number] or not (before or after):
                    numbers.add(number)
            at += max(1, length)
        return np.array(sorted(numbers), np.int32)

    def _longest(self, words: list[str], has_capital: list[bool], at: int) -> tuple[int, int]:
        """Return the length of the longest name at a word, and its number; 0 for none."""
        place = bisect_left(self._keys, words[at])
        if place == len(self._keys) or not self._keys[place].startswith(words[at]):  # no name begins so
            return 0, -1
        for length in range(min(LONGEST, len(words) - at), 0, -1):
            key = " ".join(words[at : at + length])
            place = bisect_left(self._keys, key)
            is_there = place < len(self._keys) and self._keys[place] == key
            if not is_there or not any(has_capital[at : at + length]):
                continue
            arrays = self._graph.arrays
            postings = map(arrays.text_index.posting, arrays.tokenizer.expand(key) if length == 1 else ())
            if not any(posting is not None and posting.end - posting.begin > self._most for posting in postings):
                return length, int(self._numbers[place])
        return 0, -1


# Open words: the question's words that a first passage lacks, looked for where its names lead. No model.
#
#     question    Who is the spouse of the maker of Night Ferry?
#     a seed      Night Ferry, "A film by Ada Holm, its maker": it leaves *who is the spouse* open
#     led to      Ada Holm, "Her spouse is Noor Vik": it says *spouse*, and so comes before all else that names Ada Holm
#
# Of the question's words, N passages, df of which have a term or hold a name, and idf = ln(1 + N / df):
#
#     link(s, p)   the greatest of w(n) for names n that s holds and that title p, and of .7 w(n) for names n that both
#                  hold; at most 1, and 0 if p is s. w(n) = idf / ln(1 + N / 2), 0 for names of the question
#     lex(s, p)    idf of the terms that p has and s has not / idf of all terms of the question; stop words are no terms
#     cos(s, p)    the cosine of p and the words that s leaves open, embedded as one text; 0 if it is negative
#     f(p)         the greatest H(s) * link(s, p) * (.5 lex + .5 cos) of all seeds s; H is the flat score over the best
#     score(p)     ln(W) + 22 f(p); W is the walk's share over the best, at least a millionth
#     order        next comes the greatest score(p) + 4 * idf of the terms that p has and no earlier one / idf of all
#
# Without vectors f has lex alone, and 16 stands for 22. docs/guides/knowledge-bases.md has what each part carries.


SEEDS = 5
"""Passages that are asked what they leave open: 3 lose .7 on MuSiQue, 8 gain nothing."""
# What f counts beside the logarithm of the walk. Chosen on MuSiQue, 2Wiki and HotpotQA, where 11 to 44 are within a
# point; no constant was chosen on OTT-QA.
_LIFT = 22.0
# The same if there are no vectors.
_LIFT_BY_WORDS = 16.0
# The share of words in f, beside meaning; .3 to .7 are level.
_LEXICAL = 0.5
# What a name counts that both passages hold, beside one that titles the other.
_SHARED = 0.7
# What a whole question's worth of words counts that no earlier passage has: it keeps one that says all in front.
_COVER = 4.0
# Passages that are chosen one after the other, at least.
_ORDERED = 20
# The share of a passage that the walk is hardly ever at.
_LEAST = 1e-6
# Open words that a reason tells.
_TOLD = 2
# What they must add to a passage's score to be told; the one that leaves them open comes before it.
_TELLING = 0.5

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
    """Orders passages by the words that the first ones lack. Safe to share among threads."""

    def __init__(self, spaces: Spaces, incidence: Incidence) -> None:
        self._spaces, self._links = spaces, _Links(incidence)
        expand = spaces.graph.arrays.tokenizer.expand
        self._stop = frozenset(term for word in STOP | ASKING for term in expand(word))

    def __call__(
        self, question: str, pool: Pool, seeds: Pool, k: int, *, named: Numbers, near: Nearness | None
    ) -> PassageOrder:
        """Return the `k` best of the pool. `named` are the names of the question; without `near` words decide alone."""
        words = _Words(self._spaces, question, self._stop)
        has, lacks = words.membership(pool.rows), ~words.membership(seeds.rows)  # (pool, terms), (seeds, terms)
        link = seeds.flat.clip(0, 1)[:, None] * self._links(seeds.rows, pool.rows, named)  # (seeds, pool)
        says = (lacks * words.shares) @ has.T
        if near is not None:
            # Seeds often leave the same words open: each text is embedded once. The last row, zeros, is for no words.
            texts = [words.left_open(one) if leads.any() else "" for one, leads in zip(lacks, link, strict=True)]
            distinct = list(dict.fromkeys(filter(None, texts)))
            found = near(distinct) if distinct else np.zeros((0, link.shape[1]))
            found = np.vstack([found, np.zeros((1, link.shape[1]))])
            nearness = found[[distinct.index(text) if text else -1 for text in texts]]  # (seeds, pool)
            says = _LEXICAL * says + (1 - _LEXICAL) * nearness
        lifts = (_LIFT_BY_WORDS if near is None else _LIFT) * link * says
        scores = np.log(pool.walk.clip(min=_LEAST)) + lifts.max(axis=0, initial=0.0)
        order, values = _covering(scores, has, words.shares, max(_ORDERED, k))
        rows = pool.rows[order]
        said = {}
        for at, one in enumerate(order[:k].tolist()):
            seed = int(lifts[:, one].argmax())
            rarest = words.rarest(has[one] & lacks[seed])
            if rarest and lifts[seed, one] >= _TELLING and seeds.rows[seed] not in rows[at:]:
                said[int(rows[at])] = OpenWordMatches(rarest, int(seeds.rows[seed]))
        return PassageOrder(rows[:k], np.exp(values[:k] - values.max(initial=-np.inf)), said)


def _covering(scores: Scores, has: Mask, shares: Scores, count: int) -> tuple[NDArray[np.int64], Scores]:
    """Return all places, best first, and what each was worth when it was chosen, which never rises.

    `scores`: (pool,); `has`: (pool, terms); `shares`: (terms,).
    """
    # The first `count` are chosen one after the other, with a bonus for terms that no earlier one has.
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

    def membership(self, rows: Rows) -> Mask:
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

    def rarest(self, terms: Mask) -> tuple[str, ...]:
        """Return the words with a marked term, the rarest first. `terms`: (terms,)."""
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
        self._titles = incidence.titled.inverted(len(incidence.passages))  # the names that title each passage
        self._weights = incidence.weights() / np.log1p(len(incidence.passages) / 2)  # (names,)

    def __call__(self, seeds: Rows, pool: Rows, named: Numbers) -> Scores:
        """Return the strength of each seed's links to each passage: (seeds, pool), 0 to 1; names of the question are
        0."""
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
