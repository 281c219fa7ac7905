"""`mini`: paths of two edges from the names in a question vote for answers, above all those of the right type.

MiniRAG (Fan et al. 2025), the retrieval of its public code. For each name entities that it may mean, each with a share;
from each of them all paths of one and of two edges. With s the share of where a path starts:

    vote(path)   = s * (1 + nodes of the answer's type on it + edges of it among the relations that fit) * w
    w            = the weight of its one edge among its type's, ^0.3; of two the second's share of its middle's edges
    votes(node)  = sum of the votes of the paths that end at it, and twice its own share where it is a start
    passages     (0.1 + fit) * votes^0.5, by the chunk vote over nodes; twice for what the first name's entities hold,
                 ten times for what the search gives too

Deviations:
1. The votes of all paths are added up. The public code keeps the counter of the last (operate.py:1206).
2. A path of two edges shares its vote among all the ends that its middle leads to: a hub leads anywhere, and its many
   paths say nothing.
3. A name that some entity has means those that have it; others mean the 60 nearest, as in the public code.
4. Of starts without an edge the best fifth are kept, rounded up; of fewer than five the public code keeps none.
5. Only the first `MOST_MIDDLES` middles that fit, and `MOST_ENDS` edges behind them, are walked.
6. In a graph whose nodes are their own passages, nodes of the answer's type come before all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from orienteer.graph.adjacency import Entries
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, ScoredRows
from orienteer.protocols import Run
from orienteer.retrieval.analysis import MOST_NAMES, MOST_TYPES, AnalyzedConfig
from orienteer.retrieval.bases.gatherer import Gatherer
from orienteer.retrieval.evidence import Evidence
from orienteer.retrieval.expansion.relations import MembershipIndex, Relations, ScoredRelation, damped, holds, vote
from orienteer.retrieval.expansion.walk import Seeds, because, name_of
from orienteer.retrieval.query import Query

MOST_MIDDLES = 500
"""Nodes next to a start that paths go on from; ours."""
MOST_ENDS = 200_000
"""Edge ends behind them that one question reads, those of nodes with few edges first; ours."""
ISOLATED = 0.2
"""Share of the starts without an edge that is kept. MiniRAG's."""
FIRST, DENSE = 2.0, 10.0
"""Weights of a passage that the first name's entities hold, and of one that the search gives too. MiniRAG's."""


class MiniConfig(AnalyzedConfig):
    """MiniRAG's settings."""

    entities: int = Field(default=60, ge=1)
    """Entities that a name may mean, relations that count as fitting, and nodes that vote. MiniRAG's top_k."""


class _Starts(NamedTuple):
    """Where paths start."""

    rows: Rows
    shares: NDArray[np.float64]
    is_first: NDArray[np.bool_]
    """Whether the first name means it."""


class Mini(Gatherer[MiniConfig]):
    """Names, the answer's type, and the paths between."""

    name, config_class = "mini", MiniConfig

    def _prepare(self) -> None:
        graph = self.graph
        self._seeds = Seeds(graph, self.spaces)
        self._relations = Relations(graph, self.spaces, self._seeds)
        self._holders = MembershipIndex(graph, self.spaces)

    def _embedded(self, query: Query) -> Iterable[str]:
        return (query.text, *query.low[:MOST_NAMES])

    def _search(self, query: Query, run: Run) -> Evidence:
        """Return passages, the entities that paths vote for, and the relations that fit, best first."""
        starts = self._starts(query)
        relations = self._relations.matching(query.text, query.text, self.config.entities)
        types = [name for name in query.answer_types if name in self.graph.arrays.types.nodes][:MOST_TYPES]
        mask = self.graph.arrays.mask(types) if types else None
        wanted = np.zeros(len(self.graph), np.bool_) if mask is None else mask
        votes = self._votes(query, starts, relations, wanted)
        order = np.lexsort((np.arange(len(votes)), -votes))[: self.config.entities]
        rows = order[votes[order] > 0].astype(np.int32)
        return self._evidence(query, rows, votes, starts, relations, wanted)

    def _starts(self, query: Query) -> _Starts:
        """Return the nodes that the names match; without any, those that match the text."""
        nodes, most = self._relations.nodes, self.config.entities
        share, first = np.zeros(len(self.graph)), np.zeros(len(self.graph), np.bool_)
        for place, name in enumerate(query.low[:MOST_NAMES]):
            named = self._seeds.named([name], nodes)[:most]
            matches = ScoredRows(named, np.ones(len(named))) if len(named) else self._seeds.search(name, most, nodes)
            share[matches.rows] = np.maximum(share[matches.rows], matches.scores)
            first[matches.rows] |= place == 0
        if not share.any():
            matches = self._seeds.search(query.text, most, nodes)
            share[matches.rows], first[matches.rows] = matches.scores, True
        rows = np.flatnonzero(share).astype(np.int32)
        # Isolated nodes lead nowhere: most of them are dropped.
        alone = self.graph.arrays.adjacency.degree(rows) == 0
        count = int(np.ceil(ISOLATED * alone.sum()))
        ranked = rows[alone][np.lexsort((rows[alone], -share[rows[alone]]))]
        rows = np.sort(np.concatenate([rows[~alone], ranked[:count]]))
        return _Starts(rows, share[rows], first[rows])

    # -------------------------------------------------------------------------------------------------------- paths

    def _votes(
        self, query: Query, starts: _Starts, relations: list[ScoredRelation], wanted: Mask
    ) -> NDArray[np.float64]:
        """Return the votes of the paths from the starts for each node."""
        size = len(self.graph)
        votes = np.zeros(size, np.float64)
        votes[starts.rows] = 2 * starts.shares
        steps = self._entries(starts.rows)
        if not len(steps.owner):
            return votes
        # A number for each two ends of the relations that fit, sorted.
        ends = [relation.ends for relation in relations]
        pairs = [one * size + other for some in ends for one in some for other in some if one != other]
        hits = np.unique(np.array(pairs, np.int64))
        share = starts.shares[starts.rows.searchsorted(steps.owner)]
        spoken = wanted[steps.neighbor].astype(np.float64) + self._is_hit(steps, hits)
        gains = share * (1 + spoken) * self._relations.strength(steps)
        votes += np.bincount(steps.neighbor, gains, minlength=size).astype(np.float64)
        # A middle passes on the same to each of its ends: the sums over the starts that lead to it.
        weight = np.bincount(steps.neighbor, share, minlength=size)
        carried = np.bincount(steps.neighbor, share * spoken, minlength=size)
        # Votes over all middles cost too much: those of a wanted type or relation come first, then those that fit.
        rows, place = np.unique(steps.neighbor, return_inverse=True)
        rows = rows.astype(np.int32)
        best = np.zeros(len(rows))
        np.maximum.at(best, place, spoken)
        if len(rows) > MOST_MIDDLES:
            fitting = self.spaces.searcher.search(query.text, MOST_MIDDLES, among=rows).rows
            order = np.lexsort((rows, ~np.isin(rows, fitting), -best))[:MOST_MIDDLES]
            rows = np.sort(rows[order])
        degree = self.graph.arrays.adjacency.degree(rows)
        few = np.argsort(degree, kind="stable")
        middles = np.sort(rows[few[np.cumsum(degree[few]) <= MOST_ENDS]])
        onward = self._entries(middles)
        strength = self._relations.strength(onward)
        out = np.bincount(onward.owner, strength, minlength=size)
        hit = self._is_hit(onward, hits)
        counted = 1.0 + wanted[onward.neighbor] + hit
        came = weight[onward.owner] * counted + carried[onward.owner]
        # The share of the start that each second edge leads back to, which is no path.
        place = starts.rows.searchsorted(onward.neighbor).clip(max=len(starts.rows) - 1)
        returning = np.where(starts.rows[place] == onward.neighbor, starts.shares[place], 0.0)
        back = returning * (counted + wanted[onward.owner] + hit)
        whole = out[onward.owner]
        part = np.divide(strength, whole, out=np.zeros(len(whole)), where=whole > 0)  # weights may all be 0
        return votes + np.bincount(onward.neighbor, (came - back) * part, minlength=size)

    def _entries(self, rows: Rows) -> Entries:
        """Return the edges of some rows to other nodes, one of several parallel ones."""
        entries = self.graph.arrays.adjacency.entries(rows)
        entries = entries.where(self._relations.nodes[entries.neighbor])
        key = entries.owner.astype(np.int64) * len(self.graph) + entries.neighbor
        return entries.where(np.concatenate([[True], key[1:] != key[:-1]])) if len(key) else entries

    def _is_hit(self, entries: Entries, hits: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.isin(entries.owner.astype(np.int64) * len(self.graph) + entries.neighbor, hits)

    # ----------------------------------------------------------------------------------------------------- evidence

    def _evidence(
        self,
        query: Query,
        rows: Rows,
        votes: NDArray[np.float64],
        starts: _Starts,
        relations: list[ScoredRelation],
        wanted: Mask,
    ) -> Evidence:
        first = starts.rows[starts.is_first]
        if self._relations.holds_itself:
            order = np.argsort(rows)
            fit = np.empty(len(rows))
            fit[order] = self._seeds.fits(query.text)(rows[order])
            scores = damped(votes[rows], fit)
            passages = self._boosted(query, rows, scores * np.where(np.isin(rows, first), FIRST, 1.0))
            if not query.node_types:
                passages = _preferred(passages, wanted)
            entities, why = [], self._led(starts, votes)
        else:
            holdings = self._holders.of(rows.tolist())
            voted = vote(holdings, len(rows), self._seeds.fits(query.text))
            named = self._holders.of(first.tolist()).passage
            passages = self._boosted(query, voted.rows, voted.scores * np.where(np.isin(voted.rows, named), FIRST, 1.0))
            entities = list(zip(rows.tolist(), (votes[rows] / votes.max()).tolist(), strict=True)) if len(rows) else []

            def why(row: int) -> str:
                names = (name_of(self.graph, int(rows[place])) for place in holds(holdings, row))
                return because("paths lead to", names, self.spaces.mode)

        top = passages[0][1] if passages and passages[0][1] > 0 else 1.0
        nodes = [self.spaces.node(row, score / top, why(row)) for row, score in passages[: query.k]]
        nodes += [self.spaces.node(row, score, "paths lead to it") for row, score in entities]
        reason = "" if nodes else "nothing in the graph is named in the query or like its names"
        return Evidence.joined([Evidence(tuple(nodes), tuple(self._relations.edges_of(relations)), reason=reason)])

    def _led(self, starts: _Starts, votes: NDArray[np.float64]) -> Callable[[int], str]:
        """Return the function for a node's reason: the nodes by which paths led to it, else the search."""
        begun = set(starts.rows.tolist())
        near = np.union1d(starts.rows, self._entries(starts.rows).neighbor)

        def why(row: int) -> str:
            if row in begun:
                return "near the query's names"
            around = np.intersect1d(self._entries(np.array([row], np.int32)).neighbor, near)
            best = around[np.lexsort((around, -votes[around]))]
            return because("by", (name_of(self.graph, node) for node in best.tolist()), self.spaces.mode)

        return why

    def _boosted(self, query: Query, rows: Rows, scores: NDArray[np.float64]) -> list[tuple[int, float]]:
        """Return the answers among some rows, then those of the search alone, best first."""
        answers = self.spaces.answers(query.node_types, query.where)
        hits = self._seeds.search(query.text, query.k, answers)
        allowed = answers[rows]
        both, place = np.unique(np.concatenate([rows[allowed], hits.rows]), return_inverse=True)
        total: NDArray[np.float64] = np.bincount(place[: allowed.sum()], scores[allowed], len(both)).astype(np.float64)
        total[place[allowed.sum() :]] *= DENSE
        searched = np.zeros(len(both))
        searched[place[allowed.sum() :]] = hits.scores
        order = np.lexsort((both, -searched, -total))
        return [(int(both[at]), float(total[at])) for at in order]


def _preferred(found: list[tuple[int, float]], wanted: Mask) -> list[tuple[int, float]]:
    """Return the wanted rows first, both parts in their order; those after them score no more."""
    preferred = [pair for pair in found if wanted[pair[0]]]
    others = [pair for pair in found if not wanted[pair[0]]]
    if not preferred or not others:
        return found
    least, most = preferred[-1][1], others[0][1]
    scale = min(1.0, least / most) if most > 0 else 1.0
    return [*preferred, *((row, score * scale) for row, score in others)]
