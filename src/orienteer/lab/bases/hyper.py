"""`hyper`: n-ary facts and the entities they tie together, expanded both ways, and the passages of both. HyperGraphRAG.

    entities   60 by name and search                 -> the facts about them
    facts      60 by search                          -> the entities they tie together
    passages   what states the facts and names the entities, weighed against a search: H * v^.3

`orienteer.lab.bases.bipartite` defines the facts of each kind of graph.

Deviations from HyperGraphRAG's public code:
1. Its query goes through the extraction prompt, and finds nothing if that yields no fact; here facts are searched for
   by the query itself, and entities by its names.
2. Facts and entities come by degree and weight, hubs first. Here each shares out what it has: a hub hands little to
   each, and the two ways add up: a member of facts that were found weighs as a name of the query does.
3. Search scores count by their 16th power: the best facts decide, not the sixty.
4. Passages by search, entities and facts are one ranking; there passages by search are apart, unfused.
5. Entities and facts are cut at 4,000 tokens each. Passages are `k`; whatever shows them cuts them.
6. Of an entity, most goes to the passages that it titles; in a search what the query names has a bonus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from orienteer.graph.adjacency import KindMask
from orienteer.graph.reserved import RESERVED
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import ScoredRows
from orienteer.lab.bases.bipartite import (
    TITLES,
    Bipartite,
    EdgesAsFacts,
    Floats,
    NamesInPassages,
    SparseScores,
    added,
    fused,
    searched,
    shares,
    titled_spaces,
)
from orienteer.protocols import Run
from orienteer.records import Edge, Node
from orienteer.retrieval.analysis import AnalyzedConfig
from orienteer.retrieval.bases.gatherer import Gatherer
from orienteer.retrieval.evidence import Evidence, Scored
from orienteer.retrieval.expansion.incidence import open_incidence
from orienteer.retrieval.expansion.relations import HOLDING
from orienteer.retrieval.expansion.walk import NONE, Seeds, because, fact_of, name_of
from orienteer.retrieval.query import Query, Spaces
from orienteer.text.sentences import tokens as count_tokens

MEMBER, STATES = "member", "states"
SHARPNESS = 16
"""Power of search scores, as in the walk of `hippo`: 4 holds 1 to 6 points less of the gold passages in the first 5."""
_EXPANDED = 1_000  # entities that are expanded: what comes after has a thousandth of the best one's share
_BETWEEN = 20  # answers whose edges to one another are evidence, where no fact node is
_MOST_EDGES = 40


class HyperConfig(AnalyzedConfig):
    """What every retriever lets choose, and how much is expanded."""

    entities: int = Field(default=60, ge=1)
    """Entities by name and search. HyperGraphRAG's top_k."""
    facts: int = Field(default=60, ge=1)
    """Facts by search, and facts of the evidence. HyperGraphRAG's top_k."""
    names: float = Field(default=0.3, ge=0, le=1)
    """Share of the entities that the query names, beside those that its facts tie together; .3 and .5 are alike."""
    tokens: int = Field(default=4_000, ge=1)
    """Room for entities, and for facts. HyperGraphRAG."""
    titles: float = TITLES
    """Bonus of a passage or an entity whose name stands in the query, as a share of the best search score."""


class Hyper(Gatherer[HyperConfig]):
    """Gathers facts and entities by expansion both ways. Safe to share among threads."""

    name, config_class = "hyper", HyperConfig

    def _open_spaces(self) -> Spaces:
        return titled_spaces(self.graph, self.config.mode, self.config.titles)

    def _prepare(self) -> None:
        graph = self.graph
        self._seeds = Seeds(graph, self.spaces)
        self._has_facts = MEMBER in graph.arrays.types.edges and bool(self.spaces.facts.any())
        is_named = any(edge.type in HOLDING and edge.target not in RESERVED for edge in graph.schema.edges)
        self._incidence = open_incidence(graph, self.spaces) if is_named or not self._has_facts else None
        self._naming = NamesInPassages(self._incidence) if self._incidence is not None else None
        self._facts = self.spaces.facts if self._has_facts else self.spaces.passages
        self._sides: Bipartite = EdgesAsFacts(graph, self.spaces, None, is_own=True)
        if self._has_facts:
            self._sides = EdgesAsFacts(graph, self.spaces, graph.arrays.kind_mask([MEMBER], None), is_own=False)
        elif self._naming is not None:
            self._sides = self._naming
        self._has_nodes = self._has_facts or self._incidence is None or self._incidence.rows is not None
        self._states = graph.arrays.kind_mask([STATES], None) if STATES in graph.arrays.types.edges else None

    def _embedded(self, query: Query) -> Iterable[str]:
        return (query.text, ", ".join(query.low) if self._has_nodes else "")

    def _search(self, query: Query, run: Run) -> Evidence:
        """Return the facts and entities that the expansion comes to, and the passages of both."""
        answers = self.spaces.answers(query.node_types, query.where)
        hits = searched(self.spaces, query.text, max(self.config.facts, 2 * query.k), answers)
        facts = hits
        if self._facts is not answers:
            facts = searched(self.spaces, query.text, self.config.facts, self._facts)
        # The entities that the query names and those that its facts tie together, with their shares.
        best = self.config.facts
        tied, named = self._sides.to_entities(_sharp(facts.rows[:best], facts.scores[:best])), self._named(query)
        share = self.config.names if len(named.items) and len(tied.items) else float(len(named.items) > 0)
        entities = added(
            [SparseScores(tied.items, tied.values * (1 - share)), SparseScores(named.items, named.values * share)]
        )
        reached = self._sides.to_facts(entities.most(_EXPANDED))
        if not self._has_facts:
            passages = fused(self.spaces, query.text, reached, hits, query.k, among=answers)
            return self._evidence(NONE, entities, passages)
        facts = fused(self.spaces, query.text, reached, facts, self.config.facts, among=self._facts)
        # Each kind of evidence has its own scale: shares make them comparable.
        by_row = np.argsort(facts.rows)
        entries = self.graph.arrays.adjacency.entries(facts.rows[by_row], self._states)
        entries = entries.where(self.spaces.passages[entries.neighbor])
        scores = facts.scores[by_row][facts.rows[by_row].searchsorted(entries.owner)]
        stating = added([SparseScores(entries.neighbor.astype(np.int64), scores)])
        parts = [stating] if self._naming is None else [stating, self._naming.to_facts(entities.most(_EXPANDED))]
        stating = added([SparseScores(part.items, shares(part.values)) for part in parts])
        passages = fused(self.spaces, query.text, stating, hits, query.k, among=answers)
        return self._evidence(facts, entities, passages)

    def _named(self, query: Query) -> SparseScores:
        """Return the entities that the query names: names by how rare they are, nodes by how well they fit."""
        if self._incidence is None or self._naming is None or self._has_nodes:
            nodes = self._seeds.find(query.low, query.text, self.config.entities, self.spaces.entities)
            return _sharp(*nodes)
        names = np.unique(np.concatenate([self._incidence.find(text) for text in (query.text, *query.low)]))
        weights = self._naming.weights(names)
        return SparseScores(names.astype(np.int64), weights / weights.sum())

    # ----------------------------------------------------------------------------------------------------- evidence

    def _evidence(self, facts: ScoredRows, entities: SparseScores, passages: ScoredRows) -> Evidence:
        why = self._reasons(facts, entities.most(_EXPANDED))
        nodes = [self.spaces.node(row, score, why(row)) for row, score in zip(*passages, strict=True)]
        nodes += self._cut(facts.rows, facts.scores, "a fact")
        if self._has_nodes and self.spaces.has_passages:
            best = entities.first(self.config.entities)
            nodes += self._cut(entities.items[best], shares(entities.values)[best], "an entity")
        notes = [self._incidence.note if self._incidence is not None else ""]
        if not nodes:
            notes.append("nothing in the graph shares a word with the query, or is named by it")
        edges: tuple[Scored[Edge], ...] = ()
        if not self._has_facts:
            edges = self.spaces.joining(passages.rows[:_BETWEEN], passages.scores[:_BETWEEN], _MOST_EDGES)
        return Evidence.joined([Evidence(tuple(nodes), edges, reason="; ".join(filter(None, notes)))])

    def _reasons(self, facts: ScoredRows, entities: SparseScores) -> Callable[[int], str]:
        """Return the function for an answer's reason: the facts it states, else the entities that led to it."""
        place = {row: at for at, row in enumerate(facts.rows.tolist())}
        share = dict(zip(entities.items.tolist(), entities.values.tolist(), strict=True))

        def why(row: int) -> str:
            stated = sorted(place[fact] for fact in self._neighbors(row, self._states) if fact in place)
            if stated:
                return because("states", (fact_of(self.graph, int(facts.rows[fact])) for fact in stated), "")
            verb, led = "by", self._neighbors(row, None)
            if self._naming is not None and self.spaces.passages[row]:
                verb, led = "holds", self._naming.of(row).tolist()
            best = sorted((entity for entity in led if entity in share), key=lambda entity: (-share[entity], entity))
            written: Callable[[int], str] = partial(name_of, self.graph)
            if not self._has_nodes and self._incidence is not None:
                written = self._incidence.written
            return because(verb, map(written, best), self.spaces.mode)

        return why

    def _neighbors(self, row: int, kinds: KindMask | None) -> list[int]:
        entries = self.graph.arrays.adjacency.entries(np.array([row], np.int32), kinds)
        return list(dict.fromkeys(entries.neighbor.tolist()))

    def _cut(self, rows: NDArray[np.integer[Any]], scores: Floats, why: str) -> list[Scored[Node]]:
        """Return the first nodes that fit into the room."""
        nodes, left = list[Scored[Node]](), self.config.tokens
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
            node = self.spaces.node(row, score, why)
            left -= count_tokens(f"{node.item.name} {node.item.text}")
            if left < 0:
                break
            nodes.append(node)
        return nodes


def _sharp(rows: Rows, scores: Floats) -> SparseScores:
    """Return found rows with their shares of the whole, the best ones' raised."""
    order = np.argsort(rows)
    values = scores[order] ** SHARPNESS
    return SparseScores(rows[order].astype(np.int64), values / (values.sum() or 1.0))
