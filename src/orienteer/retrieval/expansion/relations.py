"""Relations of a graph as retrievers pick them: facts if the graph states them, else edges between its nodes.

A relation is ranked by how well it fits the query, never by the degree of its ends: hubs get no advantage. An edge has
no vector of its own. It fits as its far end does, and by the share of the query's words, each by its idf, that its
type, text and keywords have; all times the share of the node that led to it and times its weight:

    fit(edge) = share(near) * (weight / most of the type's)^0.3 * (0.1 + fit(far) + words(edge))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import Entries
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, ScoredRows
from orienteer.records import Edge
from orienteer.retrieval.evidence import Scored as ScoredEvidence
from orienteer.retrieval.expansion.walk import MEMBER, Seeds, because, fact_of, name_of
from orienteer.retrieval.graph_text import arrow
from orienteer.retrieval.query import Spaces

HELD = ("mentions", "titled", "states", "in_community", MEMBER)
"""Edge types that tie reserved nodes to others, and relate no two entities."""
MOST_FAR = 2_000
"""Far ends that are scored one by one; of more, those that a search among them gives."""
# Edges that are read for their words, by each that is wanted.
_READ = 4
# What any edge has, so that edges that nothing speaks for come in the order of their weights; ours.
_FLOOR = 0.1
# Power of an edge's weight: the best over three sets of questions for edges among passages; ours.
_BY_WEIGHT = 0.3


class ScoredRelation(NamedTuple):
    """A fact, or an edge."""

    score: float
    ends: tuple[int, ...]
    """Rows of the nodes that it relates."""
    fact: int = -1
    """The row of the fact; -1 for an edge."""
    entry: tuple[int, int, int, int] = (-1, -1, -1, -1)
    """Owner, neighbour, kind and place of the edge in the adjacency arrays."""

    key: tuple[int, ...] = ()
    """What tells it apart from others, whichever end it was reached from."""


class Relations:
    """Picks relations around nodes and by themes. Safe to share among threads."""

    def __init__(self, graph: Graph, spaces: Spaces, seeds: Seeds) -> None:
        self._graph, self._spaces, self._seeds = graph, spaces, seeds
        self.nodes: Mask = spaces.entities if spaces.entities.any() else spaces.passages
        """What relations are between: entities, else the passages of a graph that has none."""
        self.holds_itself = bool(spaces.passages[self.nodes].all())
        """Whether what is related is what there is to read: a graph of passages alone, or one without any."""
        self.has_facts = bool(spaces.facts.any()) and MEMBER in graph.arrays.types.edges
        self._types = [
            frozenset(graph.arrays.tokenizer.terms(name.replace("_", " "))) for name in graph.arrays.types.edges
        ]
        self._members = graph.arrays.kind_mask([MEMBER], None) if self.has_facts else None

    def near(self, nodes: ScoredRows, text: str, k: int) -> list[ScoredRelation]:
        """Return the `k` relations of some nodes that fit a text best, best first."""
        facts = self._facts_around(nodes, text, k) if self.has_facts else []
        fact_ends = [frozenset(fact.ends) for fact in facts]
        edges = (
            edge
            for edge in self._edges_around(nodes, text, k)
            if not any(ends.issuperset(edge.ends) for ends in fact_ends)
        )
        return sorted([*facts, *edges], key=lambda relation: -relation.score)[:k]

    def matching(self, themes: str, text: str, k: int) -> list[ScoredRelation]:
        """Return the `k` relations that fit some themes best: facts, else edges of the nodes that fit them."""
        if self.has_facts:
            hits = self._seeds.search(themes, k, self._spaces.facts)
            return self._facts(hits.rows, hits.scores)
        return self._edges_around(self._seeds.search(themes, k, self.nodes), text, k)

    def edges_of(self, relations: Sequence[ScoredRelation]) -> list[ScoredEvidence[Edge]]:
        """Return the edges of relations; for a fact those between the nodes that it relates."""
        edges: list[ScoredEvidence[Edge]] = []
        for relation in relations:
            if relation.fact < 0:
                edges.append(self._spaces.edge(*relation.entry, relation.score, "a relation"))
                continue
            for at, end in enumerate(relation.ends):
                between = self._graph.arrays.edges_between(end, np.array(sorted(relation.ends[at + 1 :]), np.int32))
                edges += [ScoredEvidence(edge, relation.score, "stated by a fact") for edge in between]
        return edges

    def describe(self, relation: ScoredRelation) -> str:
        """Return a relation for a reason: a fact's short form, or an edge with its ends."""
        if relation.fact >= 0:
            return fact_of(self._graph, relation.fact)
        source, target, kind, _ = relation.key
        label = self._graph.arrays.types.edges[kind]
        return f"{name_of(self._graph, source)} {arrow(label, 'out')} {name_of(self._graph, target)}"

    def about(self, row: int, relations: Sequence[ScoredRelation]) -> str:
        """Return the reason for a node: the best relations with it as an end, else that it is near the query."""
        return because(
            "by", (self.describe(relation) for relation in relations if row in relation.ends), "near the query"
        )

    # -------------------------------------------------------------------------------------------------------- facts

    def _facts_around(self, nodes: ScoredRows, text: str, k: int) -> list[ScoredRelation]:
        """Return the facts about some nodes, by how well they fit a text and by the best share of their nodes."""
        share = _shares(nodes)
        entries = self._graph.arrays.adjacency.entries(share.rows, self._members)
        entries = entries.where(self._spaces.facts[entries.neighbor])
        if not len(entries.owner):
            return []
        rows, best = _best(entries.neighbor, share.scores[share.rows.searchsorted(entries.owner)])
        scores = best * self._seeds.fits(text)(rows)
        order = np.lexsort((rows, -scores))[:k]
        return self._facts(rows[order], scores[order])

    def _facts(self, rows: Rows, scores: NDArray[np.float64]) -> list[ScoredRelation]:
        ordered = np.sort(rows)
        entries = self._graph.arrays.adjacency.entries(ordered, self._members)
        entries = entries.where(self.nodes[entries.neighbor])
        begin, end = entries.owner.searchsorted(rows), entries.owner.searchsorted(rows, "right")
        return [
            ScoredRelation(
                float(score), tuple(dict.fromkeys(entries.neighbor[low:high].tolist())), int(row), key=(int(row),)
            )
            for row, score, low, high in zip(rows, scores, begin, end, strict=True)
        ]

    # -------------------------------------------------------------------------------------------------------- edges

    def _edges_around(self, nodes: ScoredRows, text: str, k: int) -> list[ScoredRelation]:
        share = _shares(nodes)
        entries = self._graph.arrays.adjacency.entries(share.rows)
        entries = entries.where(self.nodes[entries.neighbor])
        if not len(entries.owner):
            return []
        far = np.unique(entries.neighbor)
        if len(far) > MOST_FAR:
            far = np.sort(self._spaces.searcher.search(text, MOST_FAR, among=far).rows)
            entries = entries.where(np.isin(entries.neighbor, far))
        fit = self._seeds.fits(text)(far)
        near = share.scores[share.rows.searchsorted(entries.owner)]
        weights = near * self.strength(entries)
        fitting = _FLOOR + fit[far.searchsorted(entries.neighbor)]
        words = self._words_of(text)
        by_type = np.array([sum(words.get(term, 0.0) for term in terms) for terms in self._types])  # (edge types,)
        scores = weights * (fitting + by_type[entries.kind >> 1])
        order = np.lexsort((entries.at, -scores))
        # A number for each edge, the same one from either end: each edge counts once.
        going = (entries.kind & 1) == 0
        source = np.where(going, entries.owner, entries.neighbor)
        target = np.where(going, entries.neighbor, entries.owner)
        numbers = self._graph.arrays.adjacency.extras(entries.at)
        extra = np.zeros(len(source), np.int64) if numbers is None else numbers
        same = np.unique(np.stack([source, target, entries.kind >> 1, extra]), axis=1, return_inverse=True)[1].ravel()
        first = order[np.sort(np.unique(same[order], return_index=True)[1])][: _READ * k]
        # The words of the question in the type, text and keywords of each edge, as a share.
        pairs = zip(entries.kind[first].tolist(), entries.at[first].tolist(), strict=True)
        coverage = [
            sum(words.get(term, 0.0) for term in self._types[kind >> 1] | self._words(at)) for kind, at in pairs
        ]
        scores = weights[first] * (fitting[first] + np.array(coverage))
        again = np.argsort(-scores, kind="stable")[:k]
        return [self._relation(entries, int(first[at]), float(scores[at])) for at in again]

    def _relation(self, entries: Entries, at: int, score: float) -> ScoredRelation:
        owner, neighbor, kind = int(entries.owner[at]), int(entries.neighbor[at]), int(entries.kind[at])
        place = int(entries.at[at])
        source, target = (neighbor, owner) if kind & 1 else (owner, neighbor)
        number = self._graph.arrays.adjacency.extra(place)
        key = (source, target, kind >> 1, -1 if number is None else number)
        return ScoredRelation(score, (owner, neighbor), entry=(owner, neighbor, kind, place), key=key)

    def strength(self, entries: Entries) -> NDArray[np.float64]:
        """Return the strength of edges by their weights, 1 for the heaviest of its type."""
        if not self._graph.arrays.has_extras:
            return np.ones(len(entries.at))
        weights = self._graph.arrays.weights(entries.at).clip(min=0.0)
        most = np.zeros(2 * len(self._graph.arrays.types.edges))
        np.maximum.at(most, entries.kind, weights)
        np.maximum.at(most, entries.kind ^ 1, weights)
        top = most[entries.kind]
        share: NDArray[np.float64] = np.divide(weights, top, out=np.zeros(len(weights)), where=top > 0)
        return np.asarray(share**_BY_WEIGHT)

    def _words_of(self, text: str) -> dict[str, float]:
        """Return the share of each word of a text, by how rare it is."""
        graph = self._graph
        weights = {
            term: posting.idf
            for term in graph.arrays.tokenizer.query(text)
            if (posting := graph.arrays.text_index.posting(term))
        }
        whole = sum(weights.values())
        return {term: weight / whole for term, weight in weights.items()}

    def _words(self, at: int) -> frozenset[str]:
        carried = self._graph.arrays.extras(at)
        keywords = carried.get("properties", {}).get("keywords", ())
        texts = [carried.get("text", ""), *(keywords if isinstance(keywords, list) else [keywords])]
        return frozenset(self._graph.arrays.tokenizer.terms(" ".join(text for text in texts if isinstance(text, str))))


def _shares(nodes: ScoredRows) -> ScoredRows:
    """Return rows with their scores, by row."""
    order = np.argsort(nodes.rows)
    return ScoredRows(nodes.rows[order], nodes.scores[order])


def _best(rows: NDArray[np.int32], scores: NDArray[np.float64]) -> ScoredRows:
    """Return each row once, with its highest score."""
    distinct, place = np.unique(rows, return_inverse=True)
    best = np.zeros(len(distinct))
    np.maximum.at(best, place, scores)
    return ScoredRows(distinct.astype(np.int32), best)


# The chunk vote: picked items of a graph, best first, vote for the passages that contain them.
#
# After LightRAG's weighted polling: the first item sends five of its passages, the last one, those between in a
# straight line. An item's vote is as large as its quota, and is shared among the passages that it sends:
#
#     votes(p) = sum over items i that send p of quota(i) / 5 * share(i, p)
#     score(p) = (0.1 + fit(p)) * votes(p)^0.5
#
# Deviations:
# 1. The public code has no score: a passage is placed where the first item sent it. Here its votes are added up, and
#    its fit to the query counts.
# 2. An item sends the passages that it titles first, and these together get `TITLED` of its vote: a text about a thing
#    says more than one that mentions it. The others share the rest, or all of it without titled ones.
# 3. Of the others an item sends those that fit the query best; the public code takes those that most items hold, or, in
#    its other setting, the nearest of all items' passages together.
# 4. An item without more passages leaves the rest of its quota unused; the public code deals it out again.


MOST, LEAST = 5, 1
"""Passages that the first and the last item may send. LightRAG's related_chunk_number."""
TITLED = 0.7
"""Share of the vote for passages that an item titles. As tau in the walk over passages and names."""
# Power of the votes: between 0.3 and 1 it makes little difference on musique and 2WikiMultiHopQA; ours.
_DAMPING = 0.5
# What any passage fits, so that one that shares no word with the query is still told apart by its votes; ours.
_FLOOR = 0.1
_TITLE = "titled"
HOLDING = ("mentions", _TITLE, "states")
"""Edge types from a passage to what it holds."""

_T = TypeVar("_T")
Fits = Callable[[Rows], NDArray[np.float64]]
"""Says how well sorted rows fit a query, 0 to 1."""


class PassageMembership(NamedTuple):
    """Pairs of an item and a passage that contains it."""

    item: NDArray[np.int64]
    """Place of the item in its list."""
    passage: NDArray[np.int32]
    """Row of the passage."""
    is_title: NDArray[np.bool_]
    """Whether the item is what the passage is about: its title names it, or it is the item itself."""


class MembershipIndex:
    """Finds the passages that contain an entity, a fact or a relation. Safe to share among threads.

    A passage holds itself; so does every node of a graph that has no passages.
    """

    def __init__(self, graph: Graph, spaces: Spaces) -> None:
        self._graph, self._passages = graph, spaces.passages
        types = [name for name in HOLDING if name in graph.arrays.types.edges]
        self._kinds = graph.arrays.kind_mask(types, "in") if types and spaces.has_passages else None
        self._titling = [graph.arrays.types.edges.index(name) for name in types if name == _TITLE]

    def of(self, rows: Sequence[int]) -> PassageMembership:
        """Return the passages of each row of a list, in the order of the list."""
        wanted = np.array(rows, np.int64)
        own = self._passages[wanted] if len(wanted) else np.zeros(0, np.bool_)
        item, passage = np.flatnonzero(own), wanted[own].astype(np.int32)
        others = np.unique(wanted[~own]).astype(np.int32)
        if self._kinds is None or not len(others):
            return PassageMembership(item, passage, np.ones(len(item), np.bool_))
        pairs = self._pairs(others)
        begin, end = pairs.item.searchsorted(wanted), pairs.item.searchsorted(wanted, "right")
        counts = np.where(own, 0, end - begin)
        at = np.repeat(begin - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        return PassageMembership(
            np.concatenate([item, np.repeat(np.arange(len(wanted)), counts)]),
            np.concatenate([passage, pairs.passage[at]]),
            np.concatenate([np.ones(len(item), np.bool_), pairs.is_title[at]]),
        )

    def _pairs(self, rows: Rows) -> PassageMembership:
        """Return the passages of sorted rows, each pair once, by row."""
        entries = self._graph.arrays.adjacency.entries(rows, self._kinds)
        entries = entries.where(self._passages[entries.neighbor])
        size = len(self._graph)
        key, place = np.unique(entries.owner.astype(np.int64) * size + entries.neighbor, return_inverse=True)
        is_title = np.zeros(len(key), np.bool_)
        is_title[place[np.isin(entries.kind >> 1, self._titling)]] = True
        return PassageMembership(key // size, (key % size).astype(np.int32), is_title)

    def of_groups(self, groups: Sequence[Sequence[int]]) -> PassageMembership:
        """Return for each group of rows the passages that hold all of it; in a graph without passages each of the rows.

        A relation between two entities is held if both are. If no passage holds all, none holds the group; a
        passage of a group that is made of passages holds itself.
        """
        members = [np.unique(np.array(group, np.int64)) for group in groups]
        every = np.unique(np.concatenate([_NONE.item, *members]))
        pairs = self._pairs(every[~self._passages[every]].astype(np.int32)) if self._kinds is not None else _NONE
        parts = [_NONE]
        for number, rows in enumerate(members):
            own = rows[self._passages[rows]].astype(np.int32)
            if len(own):
                parts.append(PassageMembership(np.full(len(own), number), own, np.ones(len(own), np.bool_)))
            elif len(rows):
                parts.append(_held_by_all(pairs, rows, number))
        return PassageMembership(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


_NONE = PassageMembership(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.bool_))


def _held_by_all(pairs: PassageMembership, rows: NDArray[np.int64], number: int) -> PassageMembership:
    """Return the passages that hold each of some rows, as those of one item; the rows that few hold come first."""
    begins, ends = pairs.item.searchsorted(rows), pairs.item.searchsorted(rows, "right")
    first, *others = np.argsort(ends - begins, kind="stable").tolist()
    shared = pairs.passage[begins[first] : ends[first]]
    is_title = pairs.is_title[begins[first] : ends[first]]
    for other in others:
        theirs = slice(begins[other], ends[other])
        at = pairs.passage[theirs].searchsorted(shared)
        is_there = np.append(pairs.passage[theirs], -1)[at] == shared
        shared, at = shared[is_there], at[is_there]
        is_title = is_title[is_there] | pairs.is_title[theirs][at]
    return PassageMembership(np.full(len(shared), number), shared, is_title)


def vote(held: PassageMembership, items: int, fits: Fits) -> ScoredRows:
    """Return the passages that some items, best first, vote for, with their scores, best first; ties by row.

    `items` is how many there are, those that no passage holds too.
    """
    if not len(held.item):
        return ScoredRows(np.zeros(0, np.int32), np.zeros(0, np.float64))
    rows, place = np.unique(held.passage, return_inverse=True)
    fit = fits(rows)
    quota = np.linspace(MOST, LEAST, items) if items > 1 else np.full(1, float(MOST))
    order = np.lexsort((place, -fit[place], ~held.is_title, held.item))
    item, place, is_title = held.item[order], place[order], held.is_title[order]
    turn = np.arange(len(item)) - item.searchsorted(item)  # the item's own first, second, ...
    is_sent = turn < np.rint(quota[item])
    item, place, is_title = item[is_sent], place[is_sent], is_title[is_sent]
    strength = quota[item] / MOST * _share(item, is_title, items)
    votes = np.bincount(place, strength, minlength=len(rows)).astype(np.float64)
    scores = damped(votes, fit)
    best = np.lexsort((rows, -votes, -scores))
    best = best[votes[best] > 0]
    return ScoredRows(rows[best], scores[best])


def damped(votes: NDArray[np.float64], fit: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores from votes and fit."""
    return np.asarray((_FLOOR + fit) * votes**_DAMPING)


def _share(item: NDArray[np.int64], is_title: NDArray[np.bool_], items: int) -> NDArray[np.float64]:
    """Return the part of its item's vote that each passage gets that is sent."""
    titles = np.bincount(item[is_title], minlength=items)
    others = np.bincount(item[~is_title], minlength=items)
    both = (titles[item] > 0) & (others[item] > 0)
    part = np.where(both, np.where(is_title, TITLED, 1 - TITLED), 1.0)
    return part / np.where(is_title, titles[item], others[item])


def in_turns(*lists: Iterable[_T]) -> Iterator[_T]:
    """Yield the first of each list, then the second of each, and so on; lists that have ended are passed over."""
    for turn in zip_longest(*(((item,) for item in some) for some in lists), fillvalue=()):
        for item in turn:
            yield from item


def first_of(pairs: Iterable[tuple[int, _T]], most: int) -> dict[int, _T]:
    """Return the first `most` distinct rows, each with its first value."""
    first: dict[int, _T] = {}
    for row, value in pairs:
        if len(first) == most:
            break
        first.setdefault(row, value)
    return first


def holds(held: PassageMembership, row: int) -> Iterator[int]:
    """Yield the places of the items that a passage holds, the best first."""
    yield from np.unique(held.item[held.passage == row]).tolist()
