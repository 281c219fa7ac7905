"""Relations of a graph as retrievers pick them: facts if the graph states them, else edges between its nodes.

A relation is ranked by how well it fits the query, never by the degree of its ends: hubs get no advantage. An edge has
no vector of its own. It fits as its far end does, and by the share of the query's words, each by its idf, that its
type, text and keywords have; all times the share of the node that led to it and times its weight:

    fit(edge) = share(near) * (weight / most of the type's)^0.3 * (0.1 + fit(far) + words(edge))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

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
from orienteer.retrieval.spaces import Spaces

HELD = ("mentions", "titled", "states", "in_community", MEMBER)
"""Edge types that tie reserved nodes to others, and relate no two entities."""
MOST_FAR = 2_000
"""Far ends that are scored one by one; of more, those that a search among them gives."""
_READ = 4
"""Edges that are read for their words, by each that is wanted."""
_FLOOR = 0.1
"""What any edge has, so that edges that nothing speaks for come in the order of their weights; ours."""
_BY_WEIGHT = 0.3
"""Power of an edge's weight: the best over three sets of questions for edges among passages; ours."""


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

    def around(self, nodes: ScoredRows, text: str, k: int) -> list[ScoredRelation]:
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

    def told(self, relation: ScoredRelation) -> str:
        """Return what a reason calls a relation: a fact's short form, or an edge with its ends."""
        if relation.fact >= 0:
            return fact_of(self._graph, relation.fact)
        source, target, kind, _ = relation.key
        label = self._graph.arrays.types.edges[kind]
        return f"{name_of(self._graph, source)} {arrow(label, 'out')} {name_of(self._graph, target)}"

    def about(self, row: int, relations: Sequence[ScoredRelation]) -> str:
        """Say which of some relations, best first, a node is an end of; else that it is near the query."""
        return because("by", (self.told(relation) for relation in relations if row in relation.ends), "near the query")

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
        scores = weights * (fitting + self._said_by_types(words)[entries.kind >> 1])
        order = np.lexsort((entries.at, -scores))
        same = self._same(entries)
        first = _first_seen(same, order)[: _READ * k]
        scores = weights[first] * (fitting[first] + self._said(entries, first, words))
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
        """Return what the weights of edges count for, 1 for the heaviest of its type."""
        if not self._graph.arrays.has_extras:
            return np.ones(len(entries.at))
        weights = self._graph.arrays.weights(entries.at).clip(min=0.0)
        most = np.zeros(2 * len(self._graph.arrays.types.edges))
        np.maximum.at(most, entries.kind, weights)
        np.maximum.at(most, entries.kind ^ 1, weights)
        top = most[entries.kind]
        share: NDArray[np.float64] = np.divide(weights, top, out=np.zeros(len(weights)), where=top > 0)
        return np.asarray(share**_BY_WEIGHT)

    def _same(self, entries: Entries) -> NDArray[np.int64]:
        """Return a number for each edge, the same one whichever end it is seen from."""
        going = (entries.kind & 1) == 0
        source = np.where(going, entries.owner, entries.neighbor)
        target = np.where(going, entries.neighbor, entries.owner)
        numbers = self._graph.arrays.adjacency.extras(entries.at)
        extra = np.zeros(len(source), np.int64) if numbers is None else numbers
        return np.unique(np.stack([source, target, entries.kind >> 1, extra]), axis=1, return_inverse=True)[1].ravel()

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

    def _said_by_types(self, words: Mapping[str, float]) -> NDArray[np.float64]:
        """Return which share of some words each edge type says."""
        return np.array([sum(words.get(term, 0.0) for term in terms) for terms in self._types])

    def _said(self, entries: Entries, places: NDArray[np.int64], words: Mapping[str, float]) -> NDArray[np.float64]:
        """Return which share of some words edges say: by type, text and keywords."""
        pairs = zip(entries.kind[places].tolist(), entries.at[places].tolist(), strict=True)
        return np.array(
            [sum(words.get(term, 0.0) for term in self._types[kind >> 1] | self._words(at)) for kind, at in pairs]
        )

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


def _first_seen(keys: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of an order, each key once."""
    return order[np.sort(np.unique(keys[order], return_index=True)[1])]
