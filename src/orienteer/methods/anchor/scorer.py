"""Step 5: one score for each node, all in units of idf."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadOption, BudgetExhausted, MissingExtra
from orienteer.graph.adjacency import distinct
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, Posting
from orienteer.index.searchers import HybridSearcher
from orienteer.methods.anchor.reach import Connections, places_of
from orienteer.protocols import Run
from orienteer.reading.answer_type import Understanding
from orienteer.reading.linker import AnchorConfig
from orienteer.reading.vocabulary import SchemaWords
from orienteer.records import Usage
from orienteer.remembered import cached_method
from orienteer.text import english

# Weights are the prototype's, tuned on GRBench, PKG and DEB (docs/explanations/anchor.md, "Constants").
_NAMED_JOINT = 0.3  # weight of the anchors' own words if nodes join anchors: else their namesakes win
_BY_COUNT = 0.01  # weight of words if the question asks for the most: they only break ties between equal counts
_NAMED_FIRST = 2.0  # times the best score: what is named stands first if the question asks about it
_COVERED = 0.3  # weight of the idf of the words that a node has, where no way leads anywhere: worth .03 Hit@5 on PKG
# beside the prior, .02 with vectors; without both it costs .02 MRR there, and where anchors lead .01 Hit@1 on HET
_UNSAID = 0.5  # share of the prior if a way leads to the wanted type and no node has some word: .02 Hit@5 on PKG
_POPULAR = 0.2  # weight of a node's degree if nothing is linked; worth .02 Hit@1 on PKG
_MOST_SCORED = 1_000  # nodes that get to the words, best connected first
_BY_WORDS = 100  # nodes that words alone bring in
_BY_MEANING = 100  # nodes that nearness alone brings in; the prototype's, not varied


@dataclass(frozen=True, slots=True)
class Scores:
    """Scored nodes, best first, and what each anchor has to do with them."""

    rows: NDArray[np.int32]
    scores: NDArray[np.float64]
    by_degree: bool = False
    """Texts could not tell: the nodes of the wanted types are in the order of their edges."""
    cosines: NDArray[np.float64] | None = None
    """By node, its cosine with the question; None without meaning."""

    def part(self, page: slice) -> Scores:
        """Return the scores of these places."""
        cosines = None if self.cosines is None else self.cosines[page]
        return Scores(self.rows[page], self.scores[page], self.by_degree, cosines)

    def with_more(self, other: Scores, *, but: Rows) -> Scores:
        """Return these, and behind them what another ranking has besides them, `but` for some rows."""
        is_new = ~np.isin(other.rows, np.concatenate([self.rows, but]))
        low = np.minimum(other.scores[is_new], self.scores.min(initial=np.inf))
        return Scores(np.concatenate([self.rows, other.rows[is_new]]), np.concatenate([self.scores, low]))


class NodeScorer:
    """Scores the nodes of one graph for one question."""

    def __init__(
        self,
        graph: Graph,
        config: AnchorConfig,
        question: Understanding,
        mask: Mask | None,
        k: int,
        *,
        prior: DegreePrior,
        nearness: HybridSearcher | None = None,
        text: str = "",
    ) -> None:
        self._graph, self._config, self._mask, self._k = graph, config, mask, k
        self._question, self._prior = question, prior
        self._nearness, self._text = nearness, text
        self._anchors, self._wanted, reading = question.anchors, question.wanted, question.reading
        tokenizer, index = graph.arrays.tokenizer, graph.arrays.text_index
        content = [word.text for word in reading.words if not word.is_stop]
        self.terms = list(dict.fromkeys(term for word in content for term in tokenizer.expand(word)))
        """The question's terms that name something."""
        postings = [index.posting(term) for term in self.terms]
        self.weights = {posting.term: posting.idf for posting in postings if posting is not None}
        self.whole = sum(self.weights.values()) or 1.0
        """The idf of the whole question: the unit of what words do not say."""
        kinds = (reading.words[place].text for place in self._wanted.kinds_at)
        self._kind_terms = {term for word in kinds for term in tokenizer.expand(word)}

    def anchor_weights(self) -> NDArray[np.float64]:
        """Return the weight of each anchor: half its own words', half the mean of all anchors."""
        index = self._graph.arrays.text_index
        # A name of stop words has no weight of its own: it gets that of a usual word.
        usual = self.whole / max(1, len(self.weights))
        own = np.array(
            [
                anchor.quality * max(usual, sum(posting.idf for posting in index.postings(anchor.terms)))
                for anchor in self._anchors
            ]
        )
        return 0.5 * own + 0.5 * own.mean() if len(own) else own

    def score(self, connections: Connections) -> Scores:
        """Return the nodes that words or anchors support, best first, ties broken by id."""
        config, wanted = self._config, self._wanted
        weights = self.anchor_weights()
        linked = weights @ connections.strength if self._anchors else np.zeros(len(connections.rows))
        # Whether a node of the wanted types joins two anchors or more.
        joined = self._graph.arrays.node_types[connections.rows[connections.joined]]
        joint = bool(np.isin(joined, list(wanted.types)).any() if wanted.types else len(joined))
        linked *= config.joint_weight if joint else config.connection_weight
        is_most = wanted.superlative and connections.counts
        leads = joint or connections.leads
        by_degree = 0.0 if is_most else self._by_degree(joint=joint, leads=leads)
        rows = self._candidates(connections, linked, joint=joint, by_degree=by_degree > 0)
        kind = self._kind(rows)
        places, here = places_of(connections.rows, rows)
        total = config.type_weight * self.whole * kind
        total[here] += linked[places]
        counts = np.zeros(len(rows))
        counts[here] = connections.members[places]
        by_words = self._words(rows, leads=leads)
        if is_most:  # the count decides; all else only among equals
            total += _BY_COUNT * by_words
            total += (1 + np.ptp(total)) * counts * (kind > 0)
        else:
            count = np.log1p(counts) / max(1e-9, float(np.log1p(counts.max(initial=0))))
            total += by_words + config.count_weight * weights.sum() * count
            total += self._other(rows, kind, by_words if not leads else np.zeros(len(rows)), by_degree)
        if wanted.yes_or_no or wanted.about:
            total += _NAMED_FIRST * (1 + total.max(initial=0)) * self._named(rows)
        order = np.lexsort((rows, -total))[: self._k]
        cosines = None if self._nearness is None or is_most else self._nearness.dense.scores(self._text, rows[order])
        return Scores(rows[order], total[order], by_degree > 0, cosines)

    def _by_degree(self, *, joint: bool, leads: bool) -> float:
        """Return the weight of a node's edges, from 0 if texts or anchors are enough."""
        wanted = self._wanted
        if joint or not wanted.types or wanted.yes_or_no or not self._config.prior_weight:
            return 0.0
        if not leads:
            return self._prior.dullness(self._question)
        return _UNSAID * self._prior.dullness(self._question) if self._prior.unknown(self._question) else 0.0

    def _other(
        self, rows: Rows, kind: NDArray[np.float64], words: NDArray[np.float64], by_degree: float
    ) -> NDArray[np.float64]:
        """Return the other part of each node's score, from edges and meaning: (rows,)."""
        config, total = self._config, np.zeros(len(rows))
        if by_degree or not self._anchors:
            degree = np.log1p(self._graph.arrays.adjacency.degree(rows).astype(np.float64))
            degree /= max(1e-9, float(degree.max(initial=0)))
            if not self._anchors:
                total += _POPULAR * self.whole * degree
            if by_degree and degree.any():
                total += by_degree * (config.prior_weight * self.whole * degree - words) * (kind > 0)
        if self._nearness is not None:
            total += config.meaning_weight * self.whole * self._nearness.shares(self._text, rows)[1]
        return total

    def _candidates(
        self, connections: Connections, linked: NDArray[np.float64], *, joint: bool, by_degree: bool
    ) -> Rows:
        """Return the nodes to score, ascending: the best connected, the named, and those that words find."""
        rows, wanted = connections.rows, self._wanted
        if len(rows) > _MOST_SCORED:
            promise = linked + self._config.type_weight * self.whole * self._kind(rows)
            promise += np.log1p(connections.members) * 1e-3 * (1 + 1e3 * wanted.superlative)
            rows = rows[highest_places(promise, _MOST_SCORED)]
        named = np.array([candidate.row for anchor in self._anchors for candidate in anchor.candidates], np.int32)
        pools = [rows, named]
        # Words alone cannot outdo what joins anchors if there is enough of it.
        is_enough = joint and np.count_nonzero(self._kind(connections.rows[connections.joined])) >= self._k
        if wanted.types and not is_enough:
            pools.append(self._by_words(self._allowed()))
        if not (wanted.types and joint):
            pools.append(self._by_words(self._mask))
        if by_degree:
            pools.append(self._prior.most_connected(wanted.types, self._k, self._mask))
        # Without a type, what is merely near is no answer.
        if wanted.types and self._nearness is not None:
            pools.append(self._nearness.dense.search(self._text, _BY_MEANING, mask=self._allowed()).rows)
        pool = distinct(np.sort(np.concatenate(pools))).astype(np.int32)
        pool = pool if self._mask is None else pool[self._mask[pool]]
        if len(pool):
            return pool
        # The question says nothing but a type: the best connected nodes of the type are what it can mean.
        rows = np.flatnonzero(np.isin(self._graph.arrays.node_types, list(wanted.types))).astype(np.int32)
        rows = rows if self._mask is None else rows[self._mask[rows]]
        order = np.lexsort((rows, -self._graph.arrays.adjacency.degree(rows)))[: self._k]
        return np.sort(rows[order])

    def _allowed(self) -> Mask | None:
        """Mark the nodes of the wanted types that pass the filters; None for all nodes."""
        types = self._graph.arrays.types.nodes
        typed = self._graph.arrays.mask([str(types[number]) for number in self._wanted.types] or None)
        return typed if self._mask is None else self._mask if typed is None else typed & self._mask

    def _by_words(self, mask: Mask | None) -> Rows:
        return self._graph.arrays.text_index.search(self.terms, _BY_WORDS, mask=mask).rows

    def _kind(self, rows: Rows) -> NDArray[np.float64]:
        """Return the sureness that each node is of a wanted type: (rows,), from 0 to 1."""
        by_type = np.zeros(len(self._graph.arrays.types.nodes))
        for number, sureness in self._wanted.types.items():
            by_type[number] = sureness
        return by_type[self._graph.arrays.node_types[rows]]

    def _words(self, rows: Rows, *, leads: bool) -> NDArray[np.float64]:
        """Return the BM25 of each node, words that linking has used up counting less: (rows,)."""
        index = self._graph.arrays.text_index
        named = {term for anchor in self._anchors for term in anchor.terms} if leads else set()
        spent = named | (self._kind_terms if self._anchors else set())
        own = index.scores([term for term in self.terms if term in spent], rows)
        total = index.scores([term for term in self.terms if term not in spent], rows) + _NAMED_JOINT * own
        # If no way leads anywhere, having a word counts too, however often a long text says the others.
        if not leads and self._wanted.types and (self._config.prior_weight or self._nearness is not None):
            for posting in index.postings([term for term in self.terms if term not in self._kind_terms]):
                total[rows.searchsorted(index.filter_rows(posting, rows))] += _COVERED * posting.idf
        return total

    def _named(self, rows: Rows) -> NDArray[np.float64]:
        """Return by node the quality of its name in the question: (rows,), 0 for none."""
        named = np.zeros(len(rows))
        for anchor in self._anchors:
            for row, quality in anchor.candidates:
                named[rows == row] = max(quality, float(named[rows == row].max(initial=0)))
        return named


def highest_places(values: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Return the places of the highest values, in order; of tied ones the first."""
    floor = np.partition(values, -count)[-count]
    above, tied = np.flatnonzero(values > floor), np.flatnonzero(values == floor)
    return np.sort(np.concatenate([above, tied[: count - len(above)]]))


def with_first(scores: Scores, rows: Rows, page: slice, *, is_ordered: bool) -> Scores:
    """Return the places `page` of a ranking with these rows in front, above the scores of all others.

    They keep their own order if it `is_ordered`; else the ranking's, those that it lacks behind, by id.
    """
    is_first = np.isin(scores.rows, rows, assume_unique=True)
    front = rows
    if not is_ordered:
        ranked = scores.rows[is_first]
        front = np.concatenate([ranked, rows[~np.isin(rows, ranked, assume_unique=True)]])
    others = scores.scores[~is_first]
    above = others.max() if len(others) else 0.0
    steps = np.linspace(1.0, 0.0, len(front), endpoint=False)
    every = np.concatenate([front, scores.rows[~is_first]]).astype(np.int32)
    return Scores(every, np.concatenate([above + steps, others])).part(page)


# ------------------------------------------------------------------------------------------- edges and vectors

# Tuned on PKG, where questions for a cellular component lie at 0 to .1 and all others at .2 to .6; chosen anew in five
# folds of it, the settings around give .626 Hit@5 against .637 (docs/explanations/anchor.md, "Constants").
_TELLING = 0.2  # share of the question's content that one node of the wanted type holds if texts tell
_SAYING_NOTHING = english.NO_NAMES | english.ASKING | english.FILLING  # no content, whether a node has them or not
_MOST_CONNECTED = 1_000  # nodes of a type that are kept in order: more than are asked for
_MOST_TYPES = 256  # whose order is remembered


class DegreePrior:
    """Measures how little the texts of a graph say about a question. Made once a graph; safe to share."""

    def __init__(self, graph: Graph, vocabulary: SchemaWords) -> None:
        self._graph, self._vocabulary = graph, vocabulary

    def unknown(self, question: Understanding) -> bool:
        """Return whether no node has some word of the question, apart from its names and the schema's words."""
        return any(posting is None for posting in self._content(question))

    def dullness(self, question: Understanding) -> float:
        """Return the dullness of the wanted types' texts for the question: 0 (informative) to 1.

        What counts is the greatest share of the question's content, by idf, that one node of these types holds. Names
        that are linked are no part of that content, nor are the schema's words; a word that no node has counts as the
        rarest.
        """
        content = self._content(question)
        postings = sorted((posting for posting in content if posting is not None), key=lambda posting: -posting.idf)
        whole = sum(posting.idf for posting in postings)
        whole += (len(content) - len(postings)) * float(np.log1p(len(self._graph)))
        if not whole:
            return 0.0
        index = self._graph.arrays.text_index
        is_wanted = np.asarray(
            self._graph.arrays.mask([self._graph.arrays.types.nodes[number] for number in question.wanted.types])
        )
        shares = np.zeros(len(self._graph))
        for posting in postings:
            rows = index.rows_of(posting)
            rows = rows[is_wanted[rows]]
            shares[rows] += posting.idf
            if len(rows) and shares[rows].max() >= _TELLING * whole:
                return 0.0
        return 1.0 - float(shares.max(initial=0)) / (_TELLING * whole)

    def _content(self, question: Understanding) -> list[Posting | None]:
        named = {place for anchor in question.anchors for place in anchor.words}
        return [
            self._vocabulary.posting(word.text)
            for place, word in enumerate(question.reading.words)
            if not (place in named or word.text in _SAYING_NOTHING or word.stem in self._vocabulary.stems)
        ]

    def most_connected(self, types: Iterable[int], k: int, mask: Mask | None) -> Rows:
        """Return the `k` nodes of each of these types, at most 1,000, that the most edges touch, in no order."""
        lists = [self._in_order(number) if mask is None else self._marked(number, mask) for number in types]
        return np.concatenate([np.zeros(0, np.int32), *(rows[:k] for rows in lists)])

    @cached_method(_MOST_TYPES)
    def _in_order(self, number: int) -> Rows:
        """Return the best connected nodes of a type, the most edges first, ties by id."""
        return self._marked(number, np.ones(len(self._graph), np.bool_))

    def _marked(self, number: int, mask: Mask) -> Rows:
        """Return the same of the marked nodes."""
        rows = np.flatnonzero((self._graph.arrays.node_types == number) & mask).astype(np.int32)
        degree = self._graph.arrays.adjacency.degree(rows)
        return rows[np.lexsort((rows, -degree))[:_MOST_CONNECTED]]


# How near nodes are to a question in meaning, where the graph has been embedded.


class EmbeddingPayment(NamedTuple):
    """What embedding a question has cost."""

    usage: Usage = Usage()
    lack: str | None = None
    """Why the question is not ranked by meaning though the graph has vectors; None if it is, or if it has none."""


class Meaning:
    """Nearness over one graph, if it has vectors and their embedder is at hand."""

    def __init__(self, graph: Graph, config: AnchorConfig) -> None:
        self._graph = graph
        self._searcher: HybridSearcher | None = None
        self._lack: str | None = None
        if config.meaning_weight and graph.arrays.searcher.has_vectors:
            try:
                searcher = graph.arrays.searcher("hybrid")
            except (BadOption, MissingExtra) as error:  # names and edges are still worth an answer
                self._lack = f"not ranked by meaning: {error}"
            else:
                assert isinstance(searcher, HybridSearcher)  # that is what this mode gives
                self._searcher = searcher

    def pay(self, text: str, run: Run) -> EmbeddingPayment:
        """Embed a question before it is ranked, and charge the run for it. Raises `ModelError`."""
        if self._searcher is None or not text.strip():
            return EmbeddingPayment(lack=self._lack)
        try:
            return EmbeddingPayment(self._graph.arrays.searcher.vectors.pay(run, text))
        except BudgetExhausted as error:
            return EmbeddingPayment(lack=f"not ranked by meaning, the question could not be embedded: {error}")

    def of(self, text: str) -> HybridSearcher | None:
        """Return the searcher for a question's nearness, or None."""
        return self._searcher if text.strip() else None
