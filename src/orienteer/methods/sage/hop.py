"""One hop from the seeds, and the weight of the edges that lead to each neighbour.

A table names many things and each of its rows only a few: a mention counts by how well its row fits the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from orienteer.graph.adjacency import Entries, KindMask
from orienteer.graph.pieces.similar import SIMILAR, open_layer
from orienteer.graph.reserved import DOCUMENT, TABLE
from orienteer.graph.store import Graph
from orienteer.graph.titles import TitleFinder
from orienteer.index.arrays import Rows, runs
from orienteer.index.bm25 import Mask
from orienteer.index.searchers import PAPER_WEIGHT, WEIGHT, KeyedCache, Mode, Searcher, TitleBonus
from orienteer.options import Options
from orienteer.records import JsonValue, Question
from orienteer.remembered import cached_method

Floats = NDArray[np.float64]

MENTIONS = "mentions"
ONE_WAY = (MENTIONS, "links_to")
"""Edge types of a chunk graph that say less backwards: many chunks mention a country, and it mentions none of them."""
LAYER = -1
"""The kind, and the place, of an edge of a separate layer."""
_LEAST_SHARE = 0.1  # of the question, that any row is taken to hold
_REMEMBERED = 4096  # tables whose words are kept at hand


class SeedNeighbors(NamedTuple):
    """The neighbours of some seeds, in row order, the seeds that are neighbours of others among them."""

    rows: Rows
    evidence: Floats
    """How strongly the seeds' edges speak for each, the greatest 1."""
    through: NDArray[np.int32]
    """The seed that speaks most for each."""
    edge: NDArray[np.int64]
    """The place of its edge in the adjacency arrays, `LAYER` for one of a separate layer."""
    kind: NDArray[np.int64]
    """The kind of that edge, `LAYER` for one of a separate layer."""


class SeedEdges(NamedTuple):
    """Edges from seeds, one entry an edge, and how much each counts."""

    owner: NDArray[np.int32]
    neighbor: NDArray[np.int32]
    at: NDArray[np.int64]
    kind: NDArray[np.int64]
    counted: Floats


class EdgeWeight:
    """The count of an edge, 0 to 1: its weight over the greatest of its edge type, so that types compare."""

    def __init__(self, graph: Graph, config: SageConfig) -> None:
        self._graph, self._config = graph, config
        greatest: Mapping[str, float] = graph.arrays.manifest.provenance.get("greatest_weights") or {}
        names = graph.arrays.types.edges
        self._greatest = np.array([float(greatest.get(name) or np.nan) for name in names])  # (edge types,)
        self._plain = config.unweighted if greatest else 1.0
        self._share = np.array([config.similar if name == SIMILAR else 1.0 for name in names])  # (edge types,)
        is_one_way = [name in ONE_WAY and graph.arrays.is_made_of_documents for name in names]
        self._backwards = np.where(is_one_way, config.backwards, 1.0)  # (edge types,)
        self._is_mention = np.array([name == MENTIONS for name in names], np.bool_)  # (edge types,)
        self._rows = LinkingRows(graph)

    def of(self, entries: Entries, query: str) -> Floats:
        """Return the count of each of these edges, (edges,): 0 to 1.

        If the graph does not tell the greatest weight of an edge type, the greatest of these edges stands for it. A
        mention in a row of a table counts the more, the more of the question that row holds.
        """
        types = entries.kind.astype(np.int64) >> 1
        weights = self._graph.arrays.weights(entries.at).clip(min=0)
        greatest = self._greatest[types]
        scale = np.ones(len(types))
        for number in np.unique(types[np.isnan(greatest)]).tolist():
            here = types == number
            most = float(weights[here].max())
            greatest[here] = most or 1.0
            scale[here] = self._plain
        counted = scale * self._share[types] * weights / greatest
        counted = np.where(entries.kind & 1, counted * self._backwards[types], counted).clip(max=1)
        # A mention in a row of a table counts more.
        is_mention = self._is_mention[types]
        if self._config.rows and is_mention.any():
            shares = self._rows.shares(query, entries.where(is_mention))
            counted[is_mention] *= np.where(np.isnan(shares), 1.0, 1 + self._config.rows * (_LEAST_SHARE + shares))
        return np.asarray(counted)


class OneHop:
    """Walks one edge from seeds: over the graph's edges, and over its separate layer of similarity."""

    def __init__(self, graph: Graph, config: SageConfig) -> None:
        self._graph, self._similar = graph, config.similar
        wanted = config.edge_types or None
        has_layer = SIMILAR not in graph.arrays.types.edges and (wanted is None or SIMILAR in wanted)
        self._layer = open_layer(graph) if has_layer else None
        own = list(config.edge_types) or None
        if own is not None and self._layer is not None:
            own = [name for name in own if name != SIMILAR]
        if config.faithful:
            # The paper does not have these edges of a chunk graph.
            own = [name for name in (graph.arrays.types.edges if own is None else own) if name not in NAME_EDGES]
        self.edge_types = own
        """The edge types of the graph that are walked; None for all."""
        self._kinds: KindMask | None = graph.arrays.kind_mask(self.edge_types, None)
        self._weight = EdgeWeight(graph, config)
        self._read = graph.arrays.mask(graph.arrays.text_types or None)

    @property
    def has_layer(self) -> bool:
        """Return whether a separate layer of edges is walked, which no tool shows."""
        return self._layer is not None

    def neighbors(self, seeds: NDArray[np.int32]) -> Rows:
        """Return all nodes one edge away from these seeds, ascending."""
        rows = np.unique(seeds)
        own = self._entries(rows).neighbor
        return np.unique(own if self._layer is None else np.append(own, self._layer.neighbors_of(rows).neighbor))

    def from_(self, seeds: NDArray[np.int32], strength: Floats, query: str) -> SeedNeighbors:
        """Return all nodes one edge away from these seeds: SAGE, section 2.2.B.

        The evidence for a neighbour is the sum, over the edges that lead to it, of the seed's strength times what the
        edge counts, divided by the greatest such sum. `seeds` and `strength` are aligned, in any order.
        """
        order = np.argsort(seeds, kind="stable")
        seeds, strength = seeds[order], strength[order]
        edges = self._edges(seeds, query)
        share = strength[seeds.searchsorted(edges.owner)] * edges.counted  # (edges,)
        by_neighbor = np.lexsort((-edges.owner, share, edges.neighbor))
        rows, counts = runs(edges.neighbor[by_neighbor])
        ends = np.cumsum(counts)
        total = np.add.reduceat(share[by_neighbor], ends - counts) if len(rows) else np.zeros(0)
        best = by_neighbor[ends - 1]
        most = float(total.max(initial=0.0))
        evidence = total / most if most else total
        return SeedNeighbors(rows, evidence, edges.owner[best], edges.at[best], edges.kind[best])

    def _entries(self, rows: NDArray[np.int32]) -> Entries:
        """Return the edges of the graph; if entities were extracted from texts, those between texts alone."""
        entries = self._graph.arrays.adjacency.entries(rows, self._kinds)
        return entries if self._read is None else entries.where(self._read[entries.neighbor])

    def _edges(self, seeds: NDArray[np.int32], query: str) -> SeedEdges:
        entries = self._entries(seeds)
        kinds, counted = entries.kind.astype(np.int64), self._weight.of(entries, query)
        own = SeedEdges(entries.owner, entries.neighbor, entries.at, kinds, counted)
        if self._layer is None:
            return own
        alike = self._layer.neighbors_of(seeds)
        beside = np.full(len(alike.owner), LAYER, np.int64)
        weights = self._similar * (alike.weight / (self._layer.greatest or 1.0)).astype(np.float64).clip(0, 1)
        return SeedEdges(
            np.concatenate([own.owner, alike.owner]),
            np.concatenate([own.neighbor, alike.neighbor]),
            np.concatenate([own.at, beside]),
            np.concatenate([own.kind, beside]),
            np.concatenate([own.counted, weights]),
        )


class LinkingRows:
    """The words of the rows in which edges stand. Safe to share among threads."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._number = graph.arrays.types.nodes.index(TABLE) if TABLE in graph.arrays.types.nodes else None
        self._known = KeyedCache[str, dict[tuple[int, int], float]]()
        """By question: the share of it that each row of a table has."""

    def shares(self, query: str, entries: Entries) -> NDArray[np.float64]:
        """Return, (edges,), the share of the question that the row of each edge holds; NaN for an edge without a row.

        The share is of the question's terms, each by its idf; of several rows the best one counts.
        """
        shares = np.full(len(entries.at), np.nan)
        if self._number is None:
            return shares
        arrays = self._graph.arrays
        terms, posting_of = arrays.tokenizer.query(query), arrays.text_index.posting
        weights = {term: posting.idf for term in terms if (posting := posting_of(term)) is not None}
        total = sum(weights.values())
        # Without a lock: two threads that read the same row get the same.
        known = self._known(query, lambda _: {})

        def share_of(table: int, row: int) -> float:
            if (table, row) not in known:
                words = self._words(table).get(row, frozenset())
                weight = sum(weight for term, weight in weights.items() if term in words)
                known[table, row] = weight / total if total else 0.0
            return known[table, row]

        for index, rows in arrays.weights.rows(entries.at).items():
            # The end of the edge that is a table: its source, or else its target.
            ends = int(entries.owner[index]), int(entries.neighbor[index])
            ends = ends[::-1] if entries.kind[index] & 1 else ends
            table = next((end for end in ends if arrays.node_types[end] == self._number), None)
            if table is not None:
                shares[index] = max(share_of(table, row) for row in rows)
        return shares

    @cached_method(_REMEMBERED)
    def _words(self, table: int) -> dict[int, frozenset[str]]:
        """Return the terms of each row of a table, by its number in the table's file."""
        properties = self._graph.arrays.properties.of(table)
        first, count = _int_or_0(properties.get("first_row")), _int_or_0(properties.get("rows"))
        lines = self._graph.arrays.texts[table].split("\n")
        body = lines[len(lines) - count :] if 0 < count <= len(lines) else []
        return {first + at: frozenset(self._graph.arrays.tokenizer.terms(line)) for at, line in enumerate(body)}


def _int_or_0(value: JsonValue) -> int:
    return value if isinstance(value, int) else 0


# The options of SAGE, and how many of a result's places its seeds take.


TOTALS = (2, 5, 10, 20, 40, 50, 80, 100)
"""Sizes of results for which the authors' code says how many seeds there are: always half, rounded down."""
NAME_EDGES = frozenset({"mentions", "shares_names"})
"""Edge types of a chunk graph that the paper does not have."""


def seeds_of(total: int) -> int:
    """Return the number of seeds in a result of `total` nodes: half, rounded down, at least one."""
    return max(1, total // 2)


class SageConfig(Options):
    """Where seeds come from, which neighbours stay, and in what order."""

    deviations = (
        "The paper states no order of the union: here seeds and neighbours are in one list by hybrid score. k and k' "
        "are half of the result each, as the authors' code has them.",
        "The hybrid score is 0.6 BM25 and 0.4 cosine, each from 0 to 1 over the graph; the paper gives no scale. "
        "Words are stemmed. Vectors are compared without HNSW. Without vectors BM25 stands in, and the notes say so.",
        "Edges of all types are followed but `mentions` and `shares_names`, `similar` ones also beside the graph "
        "(`link`). A graph of other edges alone is not expanded, and the notes say so.",
        "In a graph of documents chunks and tables alone are seeds and answers. A question's conditions hold for "
        "answers; seeds are searched with them and without.",
        "`seeds=auto` takes `spark` on a graph with a schema if there is a model. The method of the seeds has options "
        "of its own, and is in its paper's form too unless they say `faithful=false`; where its seeds are not "
        "expanded, all k hits of it are the result. A step along an edge type counts, for `-edge`, as Cypher with an "
        "edge does.",
        "`ask` writes an answer from the ranking in one more call; `search` and `ask --no-answer` do not.",
    )

    seeds: str = "auto"
    """The method that finds the seeds: hybrid, any other, or auto: spark on a graph with a schema where there is a
    model, else hybrid."""
    policy: Literal["-edge", "+edge", "none"] = "-edge"
    """When to expand: not where the seeds' own search named an edge (-edge), always (+edge; both SAGE, section 3.2), or
    never (none): the Extended Baseline, as many nodes by the seeds' method alone."""
    pruning: Literal["weighed", "hybrid"] = "weighed"
    """Neighbours by hybrid score and the weight of the edges that lead there, or by hybrid score alone (the paper)."""
    order: Literal["splits", "seeds", "joint"] = "splits"
    """Order of the union: each beginning of 2, 5, 10, 20, 50 the result of that size (splits); seeds first, as in the
    authors' code; or both in one list by score (joint)."""
    edge_types: tuple[str, ...] = ()
    """Walk edges of these edge types only."""
    weight: float = Field(default=WEIGHT, ge=0, le=1)
    """BM25's share of the hybrid score; the rest is the vectors'. SAGE's is 0.6 (appendix E)."""
    sharpness: float = Field(default=4.0, ge=0, le=64)
    """Power of a seed's score in what its edges bring: the higher, the more the best seeds have to say."""
    trust: float | None = Field(default=None, ge=0, le=64)
    """Power of the edges' weight in a neighbour's score; 0 leaves the hybrid score. None: 0.3 in a graph of documents,
    1 elsewhere, where a node is little more than a name and what counts is the edge."""
    titles: float | None = Field(default=None, ge=0, le=1)
    """Bonus of a node whose title stands in the question when seeds are chosen, as a share of the best score. None: 0.2
    in a graph of documents, 0 elsewhere."""
    rows: float = Field(default=10.0, ge=0, le=64)
    """How much more a mention counts for the row of a table it stands in: times 1 + rows * (0.1 + the share of the
    question that the row holds)."""
    backwards: float = Field(default=0.5, ge=0, le=1)
    """What a mention or a hyperlink counts for, walked from what is mentioned to what mentions it."""
    unweighted: float = Field(default=0.2, ge=0, le=1)
    """What an edge of a type without weights counts for beside the strongest of a type with weights."""
    similar: float = Field(default=0.01, ge=0, le=1)
    """What the strongest edge of similarity counts for beside the strongest of another type: what is alike in meaning
    is near the question already, so that at 1 these edges drown those of names."""
    faithful: bool = False
    """The paper's recipe and nothing else: 0.6 BM25, no edges of names, pruned and ordered by hybrid score alone."""

    def settled(self) -> SageConfig:
        """Return the effective settings: under `faithful` the paper's values, whatever else is set."""
        if not self.faithful:
            return self
        return self.model_copy(update={"weight": PAPER_WEIGHT, "titles": 0.0, "pruning": "hybrid", "order": "joint"})


# Seeds to a ranking: their neighbours, the best of them, one order for both. Keeps no record and calls no model.


_TITLES = 0.2  # in graphs of documents: elsewhere what a question names is seldom what it asks for
_TEXT_TRUST, _GRAPH_TRUST = 0.3, 1.0  # of documents, whose edges lead to much that is not meant; of other graphs
_JOINT = 0.1  # evidence that a seed has of itself, in one list by score


class LeadingEdge(NamedTuple):
    """The edge that brought a neighbour into the union."""

    through: int
    """The seed."""
    kind: int
    """As in `Reached`."""


class RankedUnion(NamedTuple):
    """Seeds and neighbours in their order."""

    rows: list[int]
    edges: dict[int, LeadingEdge]
    """The edge that says most for each neighbour, by row; seeds have none."""


class _Hop(NamedTuple):
    """The neighbours of the first few seeds and their scores."""

    reached: SeedNeighbors
    scores: Floats
    """What pruning goes by."""


class _ScoredRows(NamedTuple):
    """The hybrid score of rows, which are sorted."""

    rows: Rows
    scores: Floats

    def of(self, rows: NDArray[np.int32]) -> Floats:
        """Return the scores of some of these rows, in the order given."""
        return self.scores[self.rows.searchsorted(rows)]


class Expander:
    """Expands seeds over a graph and prunes, for any question. Safe to share among threads."""

    def __init__(self, graph: Graph, config: SageConfig) -> None:
        self.graph, self.config = graph, config
        self.mode: Mode = "hybrid" if graph.arrays.searcher.has_vectors else "lexical"
        plain = graph.arrays.searcher(self.mode, weight=config.weight)
        self.searcher: Searcher = plain
        """Gives the hybrid score; BM25 if there are no vectors."""
        titles = config.titles
        if titles is None:
            titles = _TITLES if graph.arrays.is_made_of_documents else 0.0
        self.titled = TitleBonus(plain, TitleFinder(graph.arrays), titles) if titles else None
        """Ranks seeds with a bonus for titles in the question; None without such a bonus."""
        trust = config.trust
        if trust is None:
            trust = _TEXT_TRUST if graph.arrays.is_made_of_documents else _GRAPH_TRUST
        self.trust = trust
        self.walk = OneHop(graph, config)
        self.units = _units(graph)
        """The node types of seeds; empty for all. A document is found by its parts."""
        self.unit_mask: Mask | None = graph.arrays.mask(self.units or None)

    def of(self, question: Question) -> Expansion:
        """Return the expansion for one question. Raises `UnknownType`, `UnknownProperty`, `BadOption`."""
        return Expansion(self, question)


class Expansion:
    """Expands the seeds of one question: seeds may be of any type, what is returned passes the question's filters."""

    def __init__(self, expander: Expander, question: Question) -> None:
        self._expander, self._query, self._k = expander, question.text, question.k
        self.config, self.walk = expander.config, expander.walk
        self.node_types = question.node_types or expander.units
        """The node types of answers."""
        self.mask: Mask | None = expander.graph.arrays.mask(self.node_types or None, question.where)
        """Which nodes pass the filters."""
        self.has_filters = bool(question.node_types or question.where)

    def ranking(self) -> list[int]:
        """Return the k best rows from hybrid seeds: those of `Sage`, without their presentation."""
        k = self._k
        if self.config.policy == "none":
            return self.seeds(k, is_filtered=True)
        seeds = self.seeds(seeds_of(k), is_filtered=False)
        if self.has_filters:
            seeds = list(dict.fromkeys([*seeds, *self.seeds(seeds_of(k), is_filtered=True)]))
        rows = self.union(seeds).rows
        if len(rows) < k and not self.config.faithful:
            rows = list(dict.fromkeys([*rows, *self.seeds(k, is_filtered=True)]))
        return rows[:k]

    def seeds(self, count: int, *, is_filtered: bool) -> list[int]:
        """Return the best rows, best first; with `is_filtered`, among those that pass the filters."""
        searcher = self._expander.titled or self._expander.searcher
        mask = self.mask if is_filtered else self._expander.unit_mask
        return [int(row) for row in searcher.search(self._query, count, mask=mask).rows]

    def scores(self, rows: NDArray[np.int32]) -> Floats:
        """Return the hybrid score of each row, (rows,) in the order given; BM25 if there are no vectors."""
        ordered, place = np.unique(rows, return_inverse=True)
        return self._expander.searcher.scores(self._query, ordered).clip(min=0)[place]

    def passing(self, rows: Sequence[int]) -> list[int]:
        """Return the rows that pass the filters."""
        return [row for row in rows if self.mask is None or self.mask[row]]

    def union(self, seeds: list[int]) -> RankedUnion:
        """Return seeds and the neighbours that stay, in the order that is configured, at most k."""
        edges: dict[int, LeadingEdge] = {}
        if not seeds:
            return RankedUnion([], edges)
        k = self._k
        if self.config.order == "splits":
            return RankedUnion(self._splits(seeds, edges), edges)
        hop = self._hop(seeds, self._scores_around(seeds))
        passing = self.passing(seeds)
        room = k - (seeds_of(k) if self.config.faithful else len(passing))
        union = [*passing, *self._pruned(hop, seeds, room, edges)][:k]
        return RankedUnion(union if self.config.order == "seeds" else self._jointly(union, hop, edges), edges)

    def _scores_around(self, seeds: Sequence[int]) -> _ScoredRows:
        """Return the scores of seeds and their neighbours, which serve every hop from the first few seeds."""
        rows = np.array(seeds, np.int32)
        every = np.union1d(rows, self.walk.neighbors(rows)).astype(np.int32)
        return _ScoredRows(every, self.scores(every))

    def _hop(self, seeds: Sequence[int], around: _ScoredRows) -> _Hop:
        """Return the neighbours of these seeds and the scores that pruning goes by. SAGE, section 2.2.B."""
        rows = np.array(seeds, np.int32)
        own = around.of(rows)
        strength = (own / own.max()) ** self.config.sharpness if own.any() else np.ones(len(rows))
        reached = self.walk.from_(rows, strength, self._query)
        scores = around.of(reached.rows)
        by_score = self.config.pruning == "hybrid"
        return _Hop(reached, scores if by_score else scores * reached.evidence**self._expander.trust)

    def _splits(self, seeds: list[int], edges: dict[int, LeadingEdge]) -> list[int]:
        """Order the nodes so that the first 2, 5, 10, 20 and so on (`TOTALS`) are each the union of that size."""
        union: list[int] = []
        k = self._k
        around = self._scores_around(seeds)
        for total in [*(size for size in TOTALS if size < k), k]:
            some = seeds if total == k else seeds[: seeds_of(total)]
            new = [row for row in self.passing(some) if row not in union]
            union += new[: total - len(union)]
            if len(union) < total:
                hop = self._hop(some, around)
                union += self._pruned(hop, [*some, *union], total - len(union), edges)
        return union

    def _pruned(self, hop: _Hop, but: Sequence[int], count: int, edges: dict[int, LeadingEdge]) -> list[int]:
        """Return the best neighbours that pass the filters, without the rows `but`. Ties go to the smaller row.

        The edges that lead to them are added to `edges`.
        """
        reached = hop.reached
        rows = reached.rows
        stay = ~np.isin(rows, np.array(but, np.int32)) & ((hop.scores > 0) | self.config.faithful)
        if self.mask is not None:
            stay &= self.mask[rows]
        places = np.flatnonzero(stay)
        places = places[np.lexsort((rows[places], -hop.scores[places]))][: max(0, count)]
        for place in places.tolist():
            edges.setdefault(int(rows[place]), LeadingEdge(int(reached.through[place]), int(reached.kind[place])))
        return [int(row) for row in rows[places]]

    def _jointly(self, union: list[int], hop: _Hop, edges: dict[int, LeadingEdge]) -> list[int]:
        """Return the rows ordered by one score for seeds and neighbours alike."""
        rows = np.array(union, np.int32)
        scores = self.scores(rows)
        if self.config.pruning == "weighed":
            reached = hop.reached
            # A seed that no other seed leads to still has some evidence.
            evidence = np.full(len(rows), _JOINT)
            at = reached.rows.searchsorted(rows).clip(max=max(0, len(reached.rows) - 1))
            if len(reached.rows):
                is_reached = reached.rows[at] == rows
                floor = np.array([0.0 if row in edges else _JOINT for row in union])
                evidence = np.where(is_reached, np.maximum(reached.evidence[at], floor), evidence)
            scores = scores * evidence**self._expander.trust
        return [int(row) for row in rows[np.lexsort((rows, -scores))]]


def _units(graph: Graph) -> tuple[str, ...]:
    """Return the node types of a graph of documents that hold its text."""
    if graph.arrays.text_types:
        return tuple(name for name in graph.arrays.text_types if name != DOCUMENT)
    types = graph.arrays.types.nodes
    if not graph.arrays.is_made_of_documents or DOCUMENT not in types:
        return ()
    return tuple(name for name in types if name != DOCUMENT)
