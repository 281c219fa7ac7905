"""Paths between some nodes and how much flows along each: what PathRAG prunes by, in one pass from each source.

    out(s)        the neighbours of s over which a way of at most three edges goes on to t
    flow(s, n)    1 / |out(s)|; by the weights of the edges, where they have any
    flow(n, m)    alpha * flow(s, n) / |out(n)|, and so on; nothing flows on from where theta or less has come to
    score         the mean flow over the edges of a path

A path lies within the seeds and their neighbours, so the edges among these are read once, whichever pairs they join.
How many ways go on from a node is counted before any is walked: where they are too many for theta, none is.

Deviations from PathRAG's public code:
1. It lists the paths of every pair by a search of its own and prunes after that; here what theta ends is never walked.
2. What flows along one path is its own. There flows of paths that share an edge are added up as they are met, and
   tested on the way, so that the result depends on the order of the edges.
3. out(n) is what follows n at its place in the path; there what follows it at another place counts too, and is lost.
4. Flow is split by the weights of edges. Without weights that is evenly, as in the source.
5. Nodes with very many edges are walked to and not on: see `MOST_ENDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import Adjacency, Entries, KindMask
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, ScoredRows
from orienteer.records import Edge
from orienteer.retrieval.evidence import Scored as ScoredEvidence
from orienteer.retrieval.expansion.walk import Seeds, because, fact_of, name_of
from orienteer.retrieval.graph_text import arrow
from orienteer.retrieval.spaces import Spaces

ALPHA = 0.8
"""What is left of a flow at each further edge. PathRAG."""
THETA = 0.3
"""Nothing flows on from where this or less has come to. PathRAG."""
HOPS = 3
"""Edges of a path at the most. PathRAG."""
MOST_ENDS = 200_000
"""Edge ends that a question reads, those of nodes with few edges first: a node with very many of them leads from
anywhere to anywhere, and says nothing of a pair. In a graph of passages, which have some fifty each, all are read."""
_LEAST = 1e-9  # weight: an edge that is there is walked

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Weigh = Callable[[Entries], Floats]
"""Gives what each of some edges counts for."""


class Ways(NamedTuple):
    """Paths by their nodes, each as it was walked: from one seed to another."""

    nodes: NDArray[np.int32]
    """(paths, 4): rows from end to end, -1 after the last one."""
    scores: Floats

    def once(self) -> Ways:
        """Return each path in its better direction alone, best first; ties by rows."""
        last = (self.nodes >= 0).sum(axis=1) - 1
        back = last[:, None] - np.arange(self.nodes.shape[1])
        turned = np.where(back >= 0, np.take_along_axis(self.nodes, np.abs(back), axis=1), -1)
        upward = np.where((self.nodes[:, 0] > turned[:, 0])[:, None], turned, self.nodes)
        order = np.lexsort((*self.nodes.T[::-1], -self.scores))
        first = np.unique(upward[order], axis=0, return_index=True)[1]
        places = order[np.sort(first)]
        return Ways(self.nodes[places], self.scores[places])


class Around(NamedTuple):
    """Some seeds, their neighbours, and the edges among all of these, by places in `rows`."""

    rows: Rows
    seeds: Numbers
    """The places of the seeds."""
    begins: Numbers  # (rows + 1,)
    members: Numbers
    """Neighbours of each node, ascending, each once."""
    pairs: Numbers
    """Of each member, the number of the pair of nodes."""
    entries: Entries
    """The edges, those of a pair together."""
    pair_begins: Numbers  # (pairs + 1,)
    weigh: Weigh

    def of(self, nodes: Numbers) -> tuple[Numbers, Numbers]:
        """Return the neighbours of some nodes: which of these each is of, and where it stands in `members`."""
        return _ranges(self.begins, nodes)

    def weights(self, at: Numbers) -> Floats:
        """Return what joins a node and its neighbour, by where these stand; edges of one pair are added up."""
        which, places = _ranges(self.pair_begins, self.pairs[at])
        counted = self.weigh(_taken(self.entries, places))
        return np.bincount(which, counted, len(at)).clip(min=_LEAST)


def _taken(entries: Entries, at: Numbers) -> Entries:
    return Entries(entries.owner[at], entries.neighbor[at], entries.kind[at], entries.at[at])


def _ranges(begins: Numbers, things: Numbers) -> tuple[Numbers, Numbers]:
    """Return what some things' ranges hold: the number of the thing, and the place."""
    counts = begins[things + 1] - begins[things]
    which = np.repeat(np.arange(len(things)), counts)
    return which, np.arange(len(which)) + np.repeat(begins[things] - np.cumsum(counts) + counts, counts)


def around(
    adjacency: Adjacency,
    seeds: Rows,
    weigh: Weigh,
    *,
    keep: Mask,
    kinds: KindMask | None = None,
    most_ends: int = MOST_ENDS,
) -> Around:
    """Read the edges of these kinds among sorted seeds and their neighbours, as far as those are marked."""
    reachable = np.zeros(len(keep), np.bool_)
    read = _affordable(adjacency, seeds, most_ends)
    near = adjacency.entries(read, kinds)
    near = near.where(keep[near.neighbor])
    reachable[near.neighbor] = True
    reachable[seeds] = False
    left = most_ends - int(adjacency.degree(read).sum())
    others = _affordable(adjacency, np.flatnonzero(reachable).astype(np.int32), left)
    reachable[seeds] = True
    further = adjacency.entries(others, kinds)
    further = further.where(reachable[further.neighbor])
    entries = Entries(
        np.concatenate([near.owner, further.owner]),
        np.concatenate([near.neighbor, further.neighbor]),
        np.concatenate([near.kind, further.kind]),
        np.concatenate([near.at, further.at]),
    )
    is_read = np.zeros(len(keep), np.bool_)
    is_read[read] = is_read[others] = True
    # An edge both of whose ends are read stands there twice: it counts where it goes out.
    entries = entries.where(((entries.kind & 1) == 0) | ~is_read[entries.neighbor])
    return _gathered(np.flatnonzero(reachable).astype(np.int32), seeds, entries, weigh)


def _affordable(adjacency: Adjacency, rows: Rows, most_ends: int) -> Rows:
    """Return as many of some rows as have so many edge ends together, those with few first; in row order."""
    ends = adjacency.degree(rows)
    order = np.lexsort((rows, ends))
    return np.sort(rows[order[np.cumsum(ends[order]) <= most_ends]])


def _gathered(rows: Rows, seeds: Rows, entries: Entries, weigh: Weigh) -> Around:
    size = len(rows)
    place = np.zeros(int(rows[-1]) + 1 if size else 0, np.int64)
    place[rows] = np.arange(size)
    owner, neighbor = place[entries.owner], place[entries.neighbor]
    keys = np.minimum(owner, neighbor) * size + np.maximum(owner, neighbor)
    order = np.argsort(keys, kind="stable")
    pairs, pair_begins = np.unique(keys[order], return_index=True)
    low, high = pairs // max(size, 1), pairs % max(size, 1)
    both = np.concatenate([pairs, high * size + low])
    turned = np.argsort(both, kind="stable")
    return Around(
        rows=rows,
        seeds=place[seeds],
        begins=np.searchsorted(both[turned], np.arange(size + 1) * size),
        members=np.concatenate([high, low])[turned],
        pairs=turned % max(len(pairs), 1),
        entries=_taken(entries, order),
        pair_begins=np.append(pair_begins, len(order)),
        weigh=weigh,
    )


class _Front(NamedTuple):
    """How far flow has come on its way from one seed to another; one entry a way."""

    source: Numbers  # number of a seed
    target: Numbers
    nodes: Numbers  # (ways, edges so far): places of the nodes after the source
    flow: Floats
    total: Floats  # of the flows over the edges so far

    def where(self, keep: NDArray[np.bool_]) -> _Front:
        return _Front(self.source[keep], self.target[keep], self.nodes[keep], self.flow[keep], self.total[keep])


def ways(graph: Around, *, alpha: float = ALPHA, theta: float = THETA) -> Ways:
    """Return the paths of at most three edges from each seed to each other that more than `theta` flows on along.

    With a `theta` below 0 these are all simple paths.
    """
    if len(graph.seeds) < 2:
        return Ways(np.zeros((0, HOPS + 1), np.int32), np.zeros(0))
    is_joined = np.zeros((len(graph.rows), len(graph.seeds)), np.bool_)  # (nodes, seeds)
    which, at = graph.of(graph.seeds)
    is_joined[graph.members[at], which] = True
    front = _first(graph, is_joined)
    walks: list[Ways] = []
    for length in range(1, HOPS + 1):
        is_there = front.nodes[:, -1] == graph.seeds[front.target]
        done = front.where(is_there)
        walked = np.full((len(done.flow), HOPS + 1), -1, np.int32)
        walked[:, 0] = graph.rows[graph.seeds[done.source]]
        walked[:, 1 : length + 1] = graph.rows[done.nodes]
        walks.append(Ways(walked, done.total / length))
        if length < HOPS:
            going = front.where(~is_there & (front.flow > theta))
            front = _onward(graph, going, is_joined, alpha, is_last=length + 1 == HOPS)
    return Ways(np.concatenate([ways.nodes for ways in walks]), np.concatenate([ways.scores for ways in walks]))


def _first(graph: Around, is_joined: NDArray[np.bool_]) -> _Front:
    """Return the first edges from each seed, for each target that a way goes on to over them."""
    size, count = is_joined.shape
    middle, seed = np.nonzero(is_joined)
    which, at = graph.of(middle)
    key = graph.members[at] * count + seed[which]
    over = np.bincount(key, minlength=size * count).reshape(size, count)  # nodes between each node and each seed
    source, at = graph.of(graph.seeds)
    cuts = source.searchsorted(np.arange(count + 1))
    near = np.split(graph.members[at], cuts[1:-1])
    goes = [_goes(graph, number, members, is_joined, over) for number, members in enumerate(near)]
    is_needed = np.concatenate([mask.any(axis=1) for mask in goes])
    weights = np.zeros(len(at))
    weights[is_needed] = graph.weights(at[is_needed])  # to read a weight takes longer than all else
    fronts = []
    for number, (members, own, leads) in enumerate(zip(near, np.split(weights, cuts[1:-1]), goes, strict=True)):
        step, target = np.nonzero(leads)
        flow = own[step] / (own @ leads)[target]
        fronts.append(_Front(np.full(len(step), number), target, members[step, None], flow, flow))
    return _Front(*(np.concatenate(columns) for columns in zip(*fronts, strict=True)))


def _goes(
    graph: Around, number: int, members: Numbers, is_joined: NDArray[np.bool_], over: Numbers
) -> NDArray[np.bool_]:
    """Tell over which of a seed's neighbours a way goes on to which other seed: (neighbours, seeds)."""
    own = graph.seeds[number]
    onward = over[members] > is_joined[own]  # a way back over the seed itself is none
    goes: NDArray[np.bool_] = (members[:, None] == graph.seeds) | is_joined[members] | onward
    goes &= graph.seeds != own
    return goes


def _onward(graph: Around, front: _Front, is_joined: NDArray[np.bool_], alpha: float, *, is_last: bool) -> _Front:
    """Return the next edges: to the target and, unless they are the last, to what is joined to it."""
    which, at = graph.of(front.nodes[:, -1])
    after, target = graph.members[at], front.target[which]
    goes = after == graph.seeds[target]
    if not is_last:
        goes |= is_joined[after, target] & (after != graph.seeds[front.source[which]])
    which, at, after = which[goes], at[goes], after[goes]
    weights = graph.weights(at)
    flow = alpha * front.flow[which] * weights / np.bincount(which, weights, len(front.flow))[which]
    nodes = np.column_stack([front.nodes[which], after])
    return _Front(front.source[which], front.target[which], nodes, flow, front.total[which] + flow)


# Relations of a graph as retrievers pick them: facts where the graph states them, else edges between its nodes.
#
# A relation is ranked by how well it fits the query, never by how many edges its ends have: hubs are not preferred. An
# edge has no vector of its own. It fits as its far end does, and by the share of the query's words, each by how rare it
# is, that its type, text and keywords say; all by the share of the node that led to it and by its weight:
#
#     fit(edge) = share(near) * (weight / most of the type's)^0.3 * (0.1 + fit(far) + said(edge))


MEMBER = "member"
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
