"""`sage`: the best nodes by words and nearness, and of their neighbours those that fit. SAGE (paper 004), section 2.2.

    seeds      k1 nodes by any method; hybrid search unless another is named (`sage:spark`)
    expansion  all nodes one edge away from a seed: over what the graph was given and over `similar` edges alike
    pruning    the k2 of them whose hybrid score H is highest, weighed by the edges that led there
    union      k = k1 + k2 nodes in one order, seeds and neighbours scored against the question alike

No step of it calls a model.

Deviations, all undone by `faithful`, but for 4 and 5, on which the paper is silent:
1. Pruning is by `H * e^0.3` and not by H alone: what stands near a seed by meaning stands near the question too, so H
   alone gives back the flat list, the more so the denser the graph. e is the sum over the seeds of `H^4 * weight` of
   their edges, by its greatest.
2. Edges of names (`mentions`, `shares_names`) are walked beside those of similarity. They carry the gain.
3. BM25's share of H is 0.4 and not 0.6.
4. The union's beginnings are themselves unions of that size: the first 5 are 2 seeds and 3 of their neighbours.
5. Where fewer neighbours are found than there are places for, the flat list fills them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadOption
from orienteer.graph.adjacency import KindMask
from orienteer.graph.store import Graph
from orienteer.index.bm25 import Mask
from orienteer.index.searchers import WEIGHT, Mode
from orienteer.protocols import Run, Strategy
from orienteer.records import JsonValue, Question, Ranked, Result, Usage
from orienteer.strategies.hits import present
from orienteer.strategies.nearness import embedded
from orienteer.strategies.sage.config import NAME_EDGES, TOTALS, SageConfig, seeds_of
from orienteer.strategies.sage.hop import Floats, Meaning, Reached, one_hop
from orienteer.strategies.sage.policy import names_an_edge
from orienteer.strategies.workflow import Workflow, WorkflowConfig
from orienteer.tools.render import title

_OWN_SEEDS = ("auto", "hybrid")
_TEXT_SHARPNESS, _TABLE_SHARPNESS = 4.0, 2.0  # best on passages, and on passages with tables
_JOINT = 0.1  # evidence that a seed has of itself, in one list by score
_NO_VECTORS = "no vectors: BM25 stands in for the hybrid score (orienteer embed)"
_NO_SIMILAR = "not expanded: the graph has no edges but those of names, which the paper does not have"
_NAMED_AN_EDGE = "not expanded: the search for the seeds named an edge (policy -edge)"


class _Found(NamedTuple):
    """Seeds, best first, and how to find them again."""

    rows: list[int]
    saved: str | None = None
    """The set of the trail that holds them, where its own search has found them."""


class _Hop(NamedTuple):
    """The neighbours of the first few seeds and their scores."""

    reached: Reached
    scores: Floats
    """What pruning goes by."""


class Sage:
    """Hybrid seeds, or those of another method, expanded by one hop and pruned. Calls no model by itself."""

    name = "sage"

    def __init__(self, graph: Graph, config: SageConfig | None = None, seeds: Strategy | None = None) -> None:
        given = config if config is not None else SageConfig()
        if seeds is None and given.seeds not in _OWN_SEEDS:
            raise BadOption(f"seeds is {given.seeds!r}: write sage:{given.seeds}, or pass the strategy as seeds=")
        self.config = given.settled()
        self.seeds = seeds
        """The method that finds the seeds; None for hybrid search."""
        if seeds is not None:
            self.name = f"{self.name}:{seeds.name}"
        self._graph = graph
        self._mode: Mode = "hybrid" if graph.searcher.has_vectors else "lexical"
        self._searcher = graph.searcher(self._mode, weight=self.config.weight)
        self._is_tools_own = self._mode == "lexical" or self.config.weight == WEIGHT
        self._walked = self._edge_types()
        self._kinds: KindMask | None = graph.kind_mask(self._walked, None)
        self._meaning = Meaning(graph, backwards=given.backwards, unweighted=given.unweighted, similar=given.similar)
        self._mask = graph.mask(self.config.node_types or None, self.config.where)
        sharpness = _TABLE_SHARPNESS if "table" in graph.types.nodes else _TEXT_SHARPNESS
        self._sharpness = sharpness if self.config.sharpness is None else self.config.sharpness

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return seeds and neighbours, best first."""
        return _Course(self, question, run).result()

    # ------------------------------------------------------------------------------- what a course asks of the method

    def _edge_types(self) -> list[str] | None:
        """Return the edge types that are walked; None for all."""
        wanted = list(self.config.edge_types) or None
        if not self.config.faithful:
            return wanted
        return [name for name in wanted or self._graph.types.edges if name not in NAME_EDGES]

    def scores(self, query: str, rows: NDArray[np.int32]) -> Floats:
        """Return the hybrid score of each of these rows, in any order; BM25 where there are no vectors."""
        ordered, place = np.unique(rows, return_inverse=True)
        return self._searcher.scores(query, ordered).clip(min=0)[place]

    def hop(self, query: str, seeds: Sequence[int]) -> _Hop:
        """Return the neighbours of these seeds and what pruning goes by. SAGE, section 2.2.B."""
        rows = np.array(seeds, np.int32)
        own = self.scores(query, rows)
        strength = (own / own.max()) ** self._sharpness if own.any() else np.ones(len(rows))
        reached = one_hop(self._graph, rows, strength, meaning=self._meaning, kinds=self._kinds)
        scores = self.scores(query, reached.rows)
        return _Hop(
            reached, scores if self.config.pruning == "hybrid" else scores * reached.evidence**self.config.trust
        )


class _Course:
    """One question on its way. Not shared among threads."""

    def __init__(self, sage: Sage, question: Question, run: Run) -> None:
        self._sage, self._graph, self._config = sage, sage._graph, sage.config
        self._question, self._run, self._query = question, run, question.text
        config = WorkflowConfig(mode=sage._mode)
        self._flow = Workflow(sage._graph, None, run, question=question, method=sage.name, config=config)
        self._spent = Usage()
        self._before: Result | None = None
        self._why: dict[int, str] = {}

    def result(self) -> Result:
        started = time.perf_counter()
        found = self._flow.follow(self._ranked)
        usage = self._spent.model_copy(update={"seconds": time.perf_counter() - started})
        if self._before is None:
            return found.model_copy(update={"usage": usage})
        before = self._before
        stopped_by = found.stopped_by if found.stopped_by != "finish" else before.stopped_by
        spent = (usage + before.usage).model_copy(update={"seconds": usage.seconds})
        return found.model_copy(update={"usage": spent, "stopped_by": stopped_by})

    def _ranked(self) -> Iterable[Ranked]:
        config, graph = self._config, self._graph
        if self._sage._mode == "lexical":
            self._flow.notes.append(_NO_VECTORS)
        else:
            self._spent = embedded(graph, self._query, self._run)
        is_flat = config.policy == "none"
        seeds = self._seeds(config.k if is_flat else seeds_of(config.k))
        if self._before is not None and self._before.stopped_by == "error":
            return ()
        if self._before is not None and config.policy == "-edge" and names_an_edge(self._before.trajectories):
            self._flow.notes.append(_NAMED_AN_EDGE)
            is_flat = True
        if is_flat:
            return self._present(self._passing(self._before_rows() if self._before is not None else seeds.rows))
        self._record(seeds)
        return self._present(self._filled(self._union(seeds.rows)))

    # -------------------------------------------------------------------------------------------------------- seeds

    def _seeds(self, count: int) -> _Found:
        """Return the seeds, whichever types they are of, and with filters also the best nodes that pass them."""
        if self._sage.seeds is not None:
            self._before = before = self._sage.seeds.retrieve(self._question, self._run)
            for one in before.trajectories:
                self._flow.record(one)
            self._flow.notes += before.notes
            return _Found(self._before_rows()[:count])
        if self._config.policy == "none":
            return self._search(count, is_filtered=True)
        found = self._search(count, is_filtered=False)
        if self._sage._mask is None:
            return found
        passing = self._search(count, is_filtered=True)
        return _Found(list(dict.fromkeys([*found.rows, *passing.rows])), found.saved)

    def _before_rows(self) -> list[int]:
        assert self._before is not None
        return [self._graph.row(hit.id) for hit in self._before.hits]

    def _search(self, count: int, *, is_filtered: bool) -> _Found:
        """Return the best rows by a search of the trail, or by a direct one where the tools' is of another weight."""
        config = self._config
        if not self._sage._is_tools_own:
            mask: Mask | None = self._sage._mask if is_filtered else None
            return _Found(self._sage._searcher.search(self._query, count, mask=mask).rows.tolist())
        node_types, where = (config.node_types, config.where) if is_filtered else ((), ())
        rows = self._flow.search(self._query, count, node_types=node_types, where=where) if self._query.strip() else ()
        return _Found(list(rows), self._flow.last_set)

    # ---------------------------------------------------------------------------------------------------- expansion

    def _record(self, seeds: _Found) -> None:
        """Look at the neighbours through the tools, so that what is read is counted and can be read again."""
        walked = self._sage._walked
        if walked == []:
            self._flow.notes.append(_NO_SIMILAR)
            return
        starts = [seeds.saved] if seeds.saved is not None else [self._graph.ids[row] for row in seeds.rows]
        arguments: dict[str, JsonValue] = {"k": max(1, self._config.k // max(1, len(starts)))}
        if self._query.strip():
            arguments["query"] = self._query
        if walked is not None:
            arguments["edge_types"] = list(walked)
        for start in starts:
            self._flow.use("search_in_neighborhood", node=start, **arguments)

    def _union(self, seeds: list[int]) -> list[int]:
        """Return seeds and the neighbours that stay, in the order that is configured, at most k."""
        if not seeds:
            return []
        k = self._config.k
        if self._config.order == "splits":
            return self._splits(seeds)
        hop = self._sage.hop(self._query, seeds)
        kept = self._passing(seeds)
        union = [*kept, *self._pruned(hop, seeds, k - len(kept))][:k]
        return union if self._config.order == "seeds" else self._jointly(union, hop)

    def _splits(self, seeds: list[int]) -> list[int]:
        """Return an order of which each beginning of a size in the paper's splits is the union of that size."""
        union: list[int] = []
        k = self._config.k
        for total in [*(size for size in TOTALS if size < k), k]:
            some = seeds if total == k else seeds[: seeds_of(total)]
            new = [row for row in self._passing(some) if row not in union]
            union += new[: total - len(union)]
            if len(union) < total:
                hop = self._sage.hop(self._query, some)
                union += self._pruned(hop, [*some, *union], total - len(union))
        return union

    def _pruned(self, hop: _Hop, but: Sequence[int], count: int) -> list[int]:
        """Return the best neighbours that pass the filters and are none of some rows. Ties go to the smaller row."""
        rows = hop.reached.rows
        stay = ~np.isin(rows, np.array(but, np.int32)) & (hop.scores > 0)
        if self._sage._mask is not None:
            stay &= self._sage._mask[rows]
        places = np.flatnonzero(stay)
        places = places[np.lexsort((rows[places], -hop.scores[places]))][: max(0, count)]
        for place in places.tolist():
            self._why.setdefault(int(rows[place]), self._led(hop.reached, place))
        return [int(row) for row in rows[places]]

    def _jointly(self, union: list[int], hop: _Hop) -> list[int]:
        """Return the rows by one score for seeds and neighbours alike."""
        rows = np.array(union, np.int32)
        scores = self._sage.scores(self._query, rows)
        if self._config.pruning == "weighed":
            reached = hop.reached
            evidence = np.full(len(rows), _JOINT)  # what a seed has that no other seed leads to
            at = reached.rows.searchsorted(rows).clip(max=max(0, len(reached.rows) - 1))
            if len(reached.rows):
                led = reached.rows[at] == rows
                floor = np.array([0.0 if row in self._why else _JOINT for row in union])
                evidence = np.where(led, np.maximum(reached.evidence[at], floor), evidence)
            scores = scores * evidence**self._config.trust
        return [int(row) for row in rows[np.lexsort((rows, -scores))]]

    # --------------------------------------------------------------------------------------------------- what is said

    def _passing(self, rows: Sequence[int]) -> list[int]:
        mask = self._sage._mask
        return [row for row in rows if mask is None or mask[row]]

    def _filled(self, rows: list[int]) -> list[int]:
        """Return k rows, as far as the flat list has any that are missing."""
        k = self._config.k
        if len(rows) >= k:
            return rows[:k]
        flat = self._search(k, is_filtered=True).rows
        return [*rows, *(row for row in flat if row not in rows)][:k]

    def _led(self, reached: Reached, place: int) -> str:
        graph = self._graph
        kind = int(reached.kind[place])
        edge_type = graph.types.edges[kind >> 1]
        is_symmetric = edge_type in graph.schema.symmetric
        arrow = f"{'<' * (not is_symmetric and kind & 1)}-{graph.schema.label(edge_type)}-"
        return f"{title(graph, int(reached.through[place]))} {arrow}{'>' * (not is_symmetric and not kind & 1)}"

    def _present(self, rows: list[int]) -> list[Ranked]:
        rows = rows[: self._config.k]
        scores = self._sage.scores(self._query, np.array(rows, np.int32)) if rows else np.zeros(0)
        said = {hit.id: hit.why for hit in self._before.hits} if self._before is not None else {}
        hits = []
        for place, (row, score) in enumerate(zip(rows, scores.tolist(), strict=True)):
            found = said.get(self._graph.ids[row], "seed")
            why = f"{self._why.get(row) or found or 'seed'}; score {score:.2f}"
            hits.append(present(self._graph, row, score=len(rows) - place, query=self._query, why=why))
        return hits
