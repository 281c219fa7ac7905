"""`path`: paths among what a query names, pruned by flow, and the passages that state them. PathRAG.

    seeds      40 entities by name and search; in a graph of passages alone 40 passages by search; in a graph that a
               person brings 40 nodes
    paths      of at most three edges among the seeds, the best 15 by flow: see `orienteer.lab.bases.flow`
    facts      the best 40 for the themes of the query, beside the paths, as `light` takes relations
    passages   H * v^.3: the search score, and the votes of what the paths are made of

Deviations from PathRAG's public code; `flow` lists those of the flow itself:
1. A path's score is its flow times the fourth power of how well its two ends fit the query. Flow alone ignores the
   query, and is highest if two nodes have to do with nothing else: by it the first five passages hold some 25 points
   less of the gold ones than a plain search.
2. Passages are ranked, by votes of the paths and search. There the texts that relations came from are listed with the
   paths. Facts have no vote: those that statistics make cost nine points of MuSiQue's first five.
3. Without keywords, relations or paths the rest is given, and a reason. There the result is an error or a refusal.
4. In a graph of passages, paths go over mentions, shared names and links, not over `next` and `similar`.
5. If entities are joined by n-ary facts alone, paths go over these.
6. In a search over a graph with passages, what the query names has a bonus.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from pydantic import Field

from orienteer.graph.adjacency import Entries
from orienteer.graph.reserved import RESERVED
from orienteer.index.bm25 import Mask, ScoredRows
from orienteer.lab.bases import flow
from orienteer.lab.bases.bipartite import TITLES, Floats, SparseScores, added, fused, searched, shares, titled_spaces
from orienteer.protocols import Run
from orienteer.records import Edge, Node
from orienteer.retrieval.analysis import AnalyzedConfig
from orienteer.retrieval.bases.gatherer import Gatherer
from orienteer.retrieval.evidence import Evidence, Scored
from orienteer.retrieval.expansion.relations import MembershipIndex, PassageMembership, holds
from orienteer.retrieval.expansion.walk import NONE, SEEDS, Seeds, name_of
from orienteer.retrieval.query import Query, Spaces

SHARPNESS = 4
"""Power of how well a seed fits. The best of 1, 4 and 8 on MuSiQue and 2Wiki."""
_ASIDE = ("next", "part_of", "similar")  # edge types among passages that say nothing of what they are about
_SYNONYM = "synonym"  # joins entities, and states nothing of them
_NOTHING = "nothing in the graph shares a word with the query"


class PathsConfig(AnalyzedConfig):
    """What every retriever lets choose, and how paths are found."""

    seeds: int = Field(default=SEEDS, ge=1)
    """Nodes among which paths are looked for. PathRAG's top_k."""
    facts: int = Field(default=SEEDS, ge=1)
    """Facts that the themes of the query find. PathRAG's top_k."""
    paths: int = Field(default=15, ge=1)
    """Paths that are kept. PathRAG."""
    alpha: float = Field(default=flow.ALPHA, gt=0, le=1)
    """What is left of a flow at each further edge. PathRAG."""
    theta: float = Field(default=flow.THETA, ge=0, lt=1)
    """Nothing flows on from where this or less has come to. PathRAG."""
    titles: float = TITLES
    """Bonus of a passage or an entity whose name stands in the query, as a share of the best search score."""


class Paths(Gatherer[PathsConfig]):
    """Gathers paths among seeds. Safe to share among threads."""

    name, config_class = "path", PathsConfig

    def _open_spaces(self) -> Spaces:
        return titled_spaces(self.graph, self.config.mode, self.config.titles)

    def _prepare(self) -> None:
        graph = self.graph
        self._seeds, self._holders = Seeds(graph, self.spaces), MembershipIndex(graph, self.spaces)
        self._has_entities, self._has_facts = bool(self.spaces.entities.any()), bool(self.spaces.facts.any())
        # The nodes and the kinds of edge, None for all, that paths go over.
        self._walked, self._kinds = self.spaces.entities, None
        if not self._has_entities:
            about = [name for name in graph.arrays.types.edges if name not in _ASIDE]
            self._walked, self._kinds = self.spaces.passages, graph.arrays.kind_mask(about, None)
        elif all(
            not RESERVED.isdisjoint((one.source, one.target)) for one in graph.schema.edges if one.type != _SYNONYM
        ):
            self._walked = self.spaces.entities | self.spaces.facts
        greatest = graph.arrays.manifest.provenance.get("greatest_weights") or {}
        self._greatest = np.array(
            [float(greatest.get(name) or 1.0) for name in graph.arrays.types.edges]
        )  # (edge types,)

    def _embedded(self, query: Query) -> Iterable[str]:
        names = ", ".join(query.low) if self._has_entities else ""
        return (query.text, names, _themes(query) if self._has_facts else "")

    def _search(self, query: Query, run: Run) -> Evidence:
        """Return the best paths, their nodes and edges, and the passages about them."""
        answers = self.spaces.answers(query.node_types, query.where)
        hits = searched(self.spaces, query.text, max(self.config.seeds, 2 * query.k), answers)
        seeds, facts = self._seeded(query, hits, answers), NONE
        if self._has_facts:
            facts = self._seeds.search(_themes(query), self.config.facts, self.spaces.facts)
        order = np.argsort(seeds.rows)
        rows, fit = seeds.rows[order], seeds.scores[order] ** SHARPNESS
        near = flow.around(self.graph.arrays.adjacency, rows, self._weigh, keep=self._walked, kinds=self._kinds)
        ways = flow.ways(near, alpha=self.config.alpha, theta=self.config.theta)
        last = ways.nodes[np.arange(len(ways.nodes)), (ways.nodes >= 0).sum(axis=1) - 1]
        ends = fit[rows.searchsorted(ways.nodes[:, 0])] * fit[rows.searchsorted(last)]
        best = flow.PathTable(ways.nodes, ways.scores * ends).once()
        walked = flow.PathTable(best.nodes[: self.config.paths], best.scores[: self.config.paths])
        # Passages that hold nodes of paths come by votes, rare nodes counting more, and others by a search.
        on_path = walked.nodes >= 0
        share = np.repeat(shares(walked.scores), on_path.sum(axis=1))
        holdings = self._holders.of(walked.nodes[on_path].tolist())
        holders = np.bincount(holdings.item, minlength=len(share)).clip(min=1)
        count = int(self.spaces.passages.sum())
        rare = np.log1p(count / holders) / np.log1p(count)  # (nodes on paths,)
        voted = added([SparseScores(holdings.passage.astype(np.int64), (share * rare)[holdings.item])])
        ranked = fused(self.spaces, query.text, voted, hits, query.k, among=answers)
        why = self._why
        passages = [
            self.spaces.node(row, score, why(row, walked, holdings)) for row, score in zip(*ranked, strict=True)
        ]
        return self._evidence(walked, seeds, facts, passages, answers)

    def _seeded(self, query: Query, hits: ScoredRows, answers: Mask) -> ScoredRows:
        """Return the seeds: entities, or else passages, from `hits` if all of them are answers."""
        if self._has_entities:
            return self._seeds.find(query.low, query.text, self.config.seeds, self.spaces.entities)
        if answers is not self.spaces.passages:
            hits = searched(self.spaces, query.text, self.config.seeds, self.spaces.passages)
        return ScoredRows(hits.rows[: self.config.seeds], hits.scores[: self.config.seeds])

    # -------------------------------------------------------------------------------------------------------- paths

    def _weigh(self, entries: Entries) -> Floats:
        weights = self.graph.arrays.weights(entries.at).clip(min=0)
        return np.asarray(weights / self._greatest[entries.kind.astype(np.int64) >> 1])

    def _step(self, one: int, other: int) -> Edge:
        """Return the edge between two nodes of a path, the heaviest of parallel ones."""
        entries = self.graph.arrays.adjacency.between(one, other)
        if self._kinds is not None:
            entries = entries.where(self._kinds[entries.kind])
        best = int(self._weigh(entries).argmax()) if len(entries.at) > 1 else 0
        return self.graph.arrays.edge(one, other, int(entries.kind[best]), int(entries.at[best]))

    # ----------------------------------------------------------------------------------------------------- evidence

    def _why(self, row: int, walked: flow.PathTable, held: PassageMembership) -> str:
        """Return the best path that an answer is on, or holds a node of, in words; else the search."""
        place = next(holds(held, row), None)
        if place is None:
            return self.spaces.mode
        walk, step = (int(places[place]) for places in np.nonzero(walked.nodes >= 0))
        rows = [row for row in walked.nodes[walk].tolist() if row >= 0]
        first, last, here = (name_of(self.graph, row) for row in (rows[0], rows[-1], rows[step]))
        whole = f"on a path from {first} to {last}"
        return whole if rows[step] == row else f"holds {here}, {whole}"

    def _evidence(
        self, walked: flow.PathTable, seeds: ScoredRows, facts: ScoredRows, passages: list[Scored[Node]], answers: Mask
    ) -> Evidence:
        paths, scores, nodes = [], shares(walked.scores).tolist(), list(passages)
        for walk, score in zip(walked.nodes.tolist(), scores, strict=True):
            rows = [row for row in walk if row >= 0]
            steps = tuple(map(self._step, rows, rows[1:]))
            paths.append(Scored(steps, score, "flow between two seeds"))
            nodes += [self.spaces.node(row, score, "on a path") for row in rows if not answers[row]]
        if not paths and self._has_entities:
            nodes += [self.spaces.node(row, score, "a seed") for row, score in zip(*seeds, strict=True)]
        nodes += [self.spaces.node(row, score, "a fact") for row, score in zip(*facts, strict=True)]
        edges = tuple(Scored(edge, path.score, "on a path") for path in paths for edge in path.item)
        reason = "" if nodes else _NOTHING
        if nodes and not paths:
            count = len(seeds.rows)
            reason = f"no path that much flows along joins the {count} nodes that the query finds (theta)"
            if count < 2:
                seen = "one node alone" if count else "no node"
                reason = f"no path: the query finds {seen}, and there is nothing to join"
        return Evidence.joined([Evidence(tuple(nodes), edges, tuple(paths), reason)])


def _themes(query: Query) -> str:
    return ", ".join(query.high) or query.text
