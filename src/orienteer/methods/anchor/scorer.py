"""Step 5: one score for each node, all in units of idf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import distinct
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.methods.anchor.answer_type import Understanding
from orienteer.methods.anchor.config import AnchorConfig
from orienteer.methods.anchor.reach import Reach

# Weights are the prototype's, tuned on GRBench, PKG and DEB (docs/anchor.md, "Constants").
_NAMED_JOINT = 0.3  # weight of the anchors' own words where nodes join anchors: else their namesakes win
_BY_COUNT = 0.01  # weight of words where the question asks for the most: they only break ties between equal counts
_MOST = 2.0  # weight of the count there, in units of the whole question: more than words and kind together
_NAMED_FIRST = 2.0  # times the best score: what is named stands first where the question asks about it
_GUESSED = 0.5  # sureness of a type that only the size of what joins the anchors speaks for; the prototype's
_POPULAR = 0.2  # weight of a node's degree where nothing is linked; worth .02 Hit@1 on PKG
_MOST_SCORED = 1_000  # nodes that get to the words, best connected first
_BY_WORDS = 100  # nodes that words alone bring in


@dataclass(frozen=True, slots=True)
class Scores:
    """Scored nodes, best first, and what each anchor has to do with them."""

    rows: NDArray[np.int32]
    scores: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Connections:
    """What the anchors lead to: by anchor and node the strength, and by node how many nodes lead there."""

    rows: Rows
    strength: NDArray[np.float64]  # (anchors, rows)
    times: NDArray[np.int64]
    """By node, how many anchors lead there."""
    members: NDArray[np.int64]
    leads: bool
    """A way to a wanted type leads somewhere."""
    counts: bool
    """Ways to a wanted type were walked whose last step counts."""

    @property
    def joined(self) -> NDArray[np.bool_]:
        """Mark the nodes that two anchors or more lead to."""
        return np.asarray(self.times > 1)

    @property
    def most_joined(self) -> NDArray[np.bool_]:
        """Mark those of them that the most anchors lead to."""
        return np.asarray(self.joined & (self.times == self.times.max(initial=0)))


def connect(question: Understanding, reached: Sequence[Sequence[Reach]]) -> Connections:
    """Return what the anchors lead to; an anchor's connection to itself is left out."""
    anchors, wanted = question.anchors, question.wanted
    rows, where = _united([reach.rows for ways in reached for reach in ways])
    following = iter(where)
    strength = np.zeros((len(anchors), len(rows)))
    members = np.zeros(len(rows), np.int64)
    leads = counts = False
    for at, ways in enumerate(reached):
        for reach in ways:
            places = next(following)
            if at < len(anchors):
                mine = strength[at]
                mine[places] = np.maximum(mine[places], reach.strength)
            if reach.way is not None and (at >= len(anchors) or not wanted.via or reach.way.is_guided):
                members[places] = np.maximum(members[places], reach.members)
                leads = True
                counts |= len(reach.way.types) > 1 or at >= len(anchors)
        if at >= len(anchors):
            continue
        own = np.array([candidate.row for candidate in anchors[at].candidates], np.int32)
        strength[at, _places(rows, own)[0]] = 0.0
    return Connections(rows, strength, np.count_nonzero(strength > 0, axis=0), members, leads, counts)


def smallest_shared(connections: Connections, graph: Graph) -> dict[int, float]:
    """Return the type of which the fewest nodes join the anchors, with how sure it is: what a question can be after."""
    joined = connections.rows[connections.most_joined]
    if not len(joined):
        return {}
    sizes = np.bincount(graph.arrays.node_types[joined])
    best = min(np.flatnonzero(sizes).tolist(), key=lambda number: (sizes[number], number))
    return {best: _GUESSED / float(np.log2(1 + sizes[best]))}


class NodeScorer:
    """Scores the nodes of one graph for one question."""

    def __init__(self, graph: Graph, config: AnchorConfig, question: Understanding, mask: Mask | None, k: int) -> None:
        self._graph, self._config, self._mask, self._k = graph, config, mask, k
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
        """Return what each anchor weighs: half by its own words, half as all do."""
        index = self._graph.arrays.text_index
        usual = self.whole / max(1, len(self.weights))  # a name of stop words weighs as a usual word does
        own = np.array(
            [
                anchor.quality * max(usual, sum(posting.idf for posting in index.postings(anchor.terms)))
                for anchor in self._anchors
            ]
        )
        return 0.5 * own + 0.5 * own.mean() if len(own) else own

    def score(self, connections: Connections) -> Scores:
        """Return the nodes that words or anchors speak for, best first, ties by id."""
        config, wanted = self._config, self._wanted
        weights = self.anchor_weights()
        linked = weights @ connections.strength if self._anchors else np.zeros(len(connections.rows))
        joint = self._is_joint(connections)
        linked *= config.joint_weight if joint else config.connection_weight
        rows = self._candidates(connections, linked, joint=joint)
        kind = self._kind(rows)
        places, here = _places(connections.rows, rows)
        total = config.type_weight * self.whole * kind
        total[here] += linked[places]
        counts = np.zeros(len(rows))
        counts[here] = connections.members[places]
        count = np.log1p(counts) / max(1e-9, float(np.log1p(counts.max(initial=0))))
        by_words = self._words(rows, connected=joint or connections.leads)
        if wanted.superlative and connections.counts:
            total += _BY_COUNT * by_words + _MOST * self.whole * count
        else:
            total += by_words + config.count_weight * weights.sum() * count
        if not self._anchors:
            degree = np.log1p(self._graph.arrays.adjacency.degree(rows).astype(np.float64))
            total += _POPULAR * self.whole * degree / max(1e-9, float(degree.max(initial=0)))
        if wanted.yes_or_no or wanted.about:
            total += _NAMED_FIRST * (1 + total.max(initial=0)) * self._named(rows)
        order = np.lexsort((rows, -total))[: self._k]
        return Scores(rows[order], total[order])

    def _is_joint(self, connections: Connections) -> bool:
        """Tell whether some node of the wanted types joins two anchors or more."""
        joined = connections.rows[connections.joined]
        if self._wanted.types:
            joined = joined[np.isin(self._graph.arrays.node_types[joined], list(self._wanted.types))]
        return bool(len(joined))

    def _candidates(self, connections: Connections, linked: NDArray[np.float64], *, joint: bool) -> Rows:
        """Return the nodes that are worth a score, ascending: the best connected, the named, and those words find."""
        rows, wanted = connections.rows, self._wanted
        if len(rows) > _MOST_SCORED:
            promise = linked + self._config.type_weight * self.whole * self._kind(rows)
            promise += np.log1p(connections.members) * 1e-3 * (1 + 1e3 * wanted.superlative)
            rows = rows[_highest(promise, _MOST_SCORED)]
        named = np.array([candidate.row for anchor in self._anchors for candidate in anchor.candidates], np.int32)
        pools = [rows, named]
        # Words alone cannot outdo what joins anchors, where there is enough of it.
        is_enough = joint and np.count_nonzero(self._kind(connections.rows[connections.joined])) >= self._k
        if wanted.types and not is_enough:
            typed = self._graph.arrays.mask([str(self._graph.arrays.types.nodes[number]) for number in wanted.types])
            pools.append(self._by_words(typed if self._mask is None or typed is None else typed & self._mask))
        if not (wanted.types and joint):
            pools.append(self._by_words(self._mask))
        pool = distinct(np.sort(np.concatenate(pools))).astype(np.int32)
        pool = pool if self._mask is None else pool[self._mask[pool]]
        return pool if len(pool) else self._most_touched()

    def _most_touched(self) -> Rows:
        """Return the nodes of the wanted types that the most edges touch: for questions that say nothing else."""
        rows = np.flatnonzero(np.isin(self._graph.arrays.node_types, list(self._wanted.types))).astype(np.int32)
        rows = rows if self._mask is None else rows[self._mask[rows]]
        order = np.lexsort((rows, -self._graph.arrays.adjacency.degree(rows)))[: self._k]
        return np.sort(rows[order])

    def _by_words(self, mask: Mask | None) -> Rows:
        return self._graph.arrays.text_index.search(self.terms, _BY_WORDS, mask=mask).rows

    def _kind(self, rows: Rows) -> NDArray[np.float64]:
        """Return how surely each node is of a wanted type: (rows,), from 0 to 1."""
        by_type = np.zeros(len(self._graph.arrays.types.nodes))
        for number, sureness in self._wanted.types.items():
            by_type[number] = sureness
        return by_type[self._graph.arrays.node_types[rows]]

    def _words(self, rows: Rows, *, connected: bool) -> NDArray[np.float64]:
        """Return the BM25 of each node, words that linking has used up counting less: (rows,)."""
        index = self._graph.arrays.text_index
        named = {term for anchor in self._anchors for term in anchor.terms} if connected else set()
        spent = named | (self._kind_terms if self._anchors else set())
        own = index.scores([term for term in self.terms if term in spent], rows)
        return index.scores([term for term in self.terms if term not in spent], rows) + _NAMED_JOINT * own

    def _named(self, rows: Rows) -> NDArray[np.float64]:
        """Return how well each node answers to a phrase of the question: (rows,), 0 where it is not named."""
        named = np.zeros(len(rows))
        for anchor in self._anchors:
            for row, quality in anchor.candidates:
                named[rows == row] = max(quality, float(named[rows == row].max(initial=0)))
        return named


def _highest(values: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Return the places of the highest values, in order; of tied ones the first."""
    floor = np.partition(values, -count)[-count]
    above, tied = np.flatnonzero(values > floor), np.flatnonzero(values == floor)
    return np.sort(np.concatenate([above, tied[: count - len(above)]]))


class _United(NamedTuple):
    """The distinct rows of several lists, and by list where its rows stand among them."""

    rows: Rows
    places: list[NDArray[np.intp]]


def _united(lists: Sequence[Rows]) -> _United:
    """Unite sorted lists in one sort, which merges them: looking the rows of long ones up would cost more."""
    together = np.concatenate([np.zeros(0, np.int32), *lists])
    order = np.argsort(together, kind="stable")
    rows = together[order]
    is_new = np.diff(rows, prepend=-1) > 0
    places = np.empty(len(rows), np.intp)
    places[order] = np.cumsum(is_new) - 1
    return _United(rows[is_new], np.split(places, np.cumsum([len(part) for part in lists])[:-1]) if lists else [])


def _places(rows: Rows, wanted: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where in `rows` those of `wanted` stand that are there, and which of `wanted` these are."""
    if not len(rows):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    at = rows.searchsorted(wanted)
    at[at == len(rows)] = 0
    here = np.flatnonzero(rows[at] == wanted)
    return at[here], here


def with_first(scores: Scores, rows: Rows, k: int, *, is_ordered: bool) -> Scores:
    """Return a ranking of `k` nodes with these rows in front, above the scores of all others.

    They keep their own order where it `is_ordered`; else the ranking's, those that it lacks behind, by id.
    """
    ranked = scores.rows.tolist()
    first = set(rows.tolist())
    known = [row for row in ranked if row in first]
    front = rows.tolist()[:k] if is_ordered else [*known, *(row for row in rows.tolist() if row not in set(known))][:k]
    others = [(row, score) for row, score in zip(ranked, scores.scores.tolist(), strict=True) if row not in first]
    above = max((score for _, score in others), default=0.0)
    steps = np.linspace(1.0, 0.0, len(front), endpoint=False)
    return Scores(
        np.array([*front, *(row for row, _ in others)], np.int32)[:k],
        np.concatenate([above + steps, np.array([score for _, score in others])])[:k],
    )
