"""Communities of a graph: groups of nodes with more edges among themselves than chance has it, by Leiden, in levels.

Traag, Waltman and van Eck 2019; the hierarchy of Microsoft's GraphRAG: a community of more than `LARGEST` nodes is cut
into smaller ones, and those again. They are made once a generation and stored next to the graph, as vectors are.

Deviations from the public code:
1. Edges count as one each. Weights of different types of edge do not compare: a number of times, a cosine, an idf.
2. Facts are members too, so that a graph that has facts alone, and no edges between entities, has communities.
3. Nodes without an edge are in none; the public code leaves out all but the largest connected part.
"""

from __future__ import annotations

import logging
import math
import random
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph import format, pieces
from orienteer.graph.reserved import COMMUNITY
from orienteer.graph.store import Graph
from orienteer.index.arrays import Folder, Rows, save
from orienteer.index.bm25 import Mask
from orienteer.index.searchers import KeyedCache
from orienteer.lab.bases.flow import ranges
from orienteer.llm.conversation import ask_for, prompt_of
from orienteer.llm.schema import object_of
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Node, Record, Trajectory
from orienteer.retrieval.graph_text import arrow
from orienteer.retrieval.query import Spaces
from orienteer.text.sentences import single_spaced

logger = logging.getLogger(__name__)

PIECE = "communities"
ABOUT = "communities.json"
LEVELS = 3
"""Levels that are made: nano-graphrag and Microsoft's GraphRAG read the first three."""
LARGEST = 10
"""Nodes of a community that is not cut further. Microsoft's max_cluster_size."""
_SEED = 0x0417
_PATIENCE = 60.0  # seconds that another process may take to make the piece


class CommunitiesAbout(Record):
    """Provenance of the communities stored next to a graph."""

    format: int = 1
    generation: str
    counts: tuple[int, ...]
    """Communities of each level."""
    seconds: float
    """Time to find them."""


def open_communities(graph: Graph, mask: Mask) -> NDArray[np.int32]:
    """Return the community of each marked row at each level, (levels, nodes), -1 for none. Raises `GraphBusy`."""
    # They are rebuilt if missing or damaged, and kept in memory if nothing may be written.
    levels, why = pieces.piece_or_made(
        graph.path,
        graph.arrays.manifest.generation,
        PIECE,
        read=lambda folder: _read(folder, len(graph)),
        write=lambda work: write_communities(graph, mask, work),
        patience=_PATIENCE,
    )
    if levels is None:
        logger.warning("communities are made by every process anew, for %s", why)
        return find_communities(graph, mask)
    return levels


def write_communities(graph: Graph, mask: Mask, folder: Path) -> None:
    """Find communities and write them into a folder."""
    started = time.perf_counter()
    levels = find_communities(graph, mask)
    save(folder, "community", levels.ravel())
    about = CommunitiesAbout(
        generation=graph.arrays.manifest.generation,
        counts=tuple(len(np.unique(level[level >= 0])) for level in levels),
        seconds=time.perf_counter() - started,
    )
    (folder / ABOUT).write_text(about.model_dump_json(indent=1), encoding="utf-8")


def _read(folder: Path, size: int) -> NDArray[np.int32]:
    """Map the arrays of `write_communities`. Raises `NotAGraph` for damage."""
    try:
        CommunitiesAbout.model_validate_json((folder / ABOUT).read_bytes())
        levels: NDArray[np.int32] = Folder(folder).array("community", "i4").reshape(LEVELS, size)
    except (FileNotFoundError, ValueError) as error:
        raise format.damaged(folder, error) from error
    if levels.size and not -1 <= levels.min() <= levels.max() < size:
        raise format.damaged(folder, "it names nodes that are not there")
    return levels


def find_communities(graph: Graph, mask: Mask) -> NDArray[np.int32]:
    """Return the community of each row at each level, (levels, nodes), -1 for none.

    The number of a community is its first row. One that is not cut is the same in the levels below.
    """
    levels = np.full((LEVELS, len(graph)), -1, np.int32)
    rows = np.flatnonzero(mask).astype(np.int32)
    # Parallel edges count as one edge with their number as its weight.
    entries = graph.arrays.adjacency.entries(rows)
    place = np.full(len(graph), -1, np.int64)
    place[rows] = np.arange(len(rows))
    is_inside = place[entries.neighbor] >= 0
    key = place[entries.owner[is_inside]] * max(len(rows), 1) + place[entries.neighbor[is_inside]]
    pairs, counts = np.unique(key, return_counts=True)
    begins = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(np.bincount(pairs // max(len(rows), 1), minlength=len(rows)), out=begins[1:])
    csr = Csr(begins, (pairs % max(len(rows), 1)).astype(np.int32), counts.astype(np.float64))
    joined = np.flatnonzero(np.diff(csr.begins))
    if not len(joined):
        return levels
    level = np.full(len(rows), -1, np.int32)  # (rows,): place of the community's first row
    level[joined] = _called(leiden(_part(csr, joined), _SEED), joined)
    for number in range(LEVELS):
        if number:
            # The level below: communities that are too large, in parts.
            below = level.copy()
            order = np.argsort(level, kind="stable")
            names, begins, counts = np.unique(level[order], return_index=True, return_counts=True)
            for name, begin, count in zip(names.tolist(), begins.tolist(), counts.tolist(), strict=True):
                if name >= 0 and count > LARGEST:
                    members = order[begin : begin + count]
                    below[members] = _called(leiden(_part(csr, members), _SEED), members)
            level = below
        levels[number, rows] = np.where(level >= 0, rows[level], -1)
    return levels


def _called(numbers: NDArray[np.int64], members: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return for each member the first of its community."""
    _, first, place = np.unique(numbers, return_index=True, return_inverse=True)
    return members[first][place].astype(np.int32)


def _part(csr: Csr, members: NDArray[np.int64]) -> Csr:
    """Return the part of a graph that lies among some sorted nodes."""
    owners, at = ranges(csr.begins, members)
    neighbor = csr.members[at]
    place = members.searchsorted(neighbor).clip(max=len(members) - 1)
    is_inside = members[place] == neighbor
    begins = np.zeros(len(members) + 1, np.int64)
    np.cumsum(np.bincount(owners[is_inside], minlength=len(members)), out=begins[1:])
    return Csr(begins, place[is_inside].astype(np.int32), csr.weights[at][is_inside])


# Communities by the Leiden algorithm, for modularity. Traag, Waltman and van Eck 2019, algorithm A.2.
#
# Nodes move to the community that gains most, as long as any gains (`_move`). Each community is then taken apart, and
# its nodes are merged again at random, better merges likelier, so that no community falls into parts (`_refine`). What
# was merged is a node of a smaller graph, which begins with the communities that were found, and so on.
#
# Deviations from the paper:
# 1. One pass down to a graph whose communities are its nodes, as GraphRAG's library has it; the paper repeats that
#    until nothing changes.
#
# Against that library (graspologic-native 1.3.1, which brings scipy) on three graphs, of 10,844, 116,650 and 33,680
# nodes and 10,893, 183,789 and 1,239,152 edges, with three seeds each: modularity .9754 (.9754), .8702 (.8699) and
# .3612 (.3609); .12, 2.6 and 4.8 s of processor time (.01, .34 and 1.0).


RANDOMNESS = 0.001
"""The paper's theta: how much likelier a better merge is; of gains in edges, not in modularity."""


_NOTHING = 1e-12  # a gain of rounding


class Csr(NamedTuple):
    """An undirected graph: its edges from either end, in compressed sparse rows."""

    begins: NDArray[np.int64]
    members: NDArray[np.int32]
    weights: NDArray[np.float64]


class _Graph(NamedTuple):
    """A graph as Python walks it fast: a node's edges become lists when they are looked at, all at once are large."""

    begins: list[int]
    members: memoryview[Any]  # Any: numpy's arrays have no type of their items here
    weights: memoryview[Any]
    strengths: list[float]
    """The sum of the weights of each node's edges, those within it twice."""
    total: float
    """The sum of the strengths."""

    def around(self, node: int) -> zip[tuple[int, float]]:
        """Return the neighbours of a node with the weights of the edges."""
        place = slice(self.begins[node], self.begins[node + 1])
        return zip(self.members[place].tolist(), self.weights[place].tolist(), strict=True)


def leiden(csr: Csr, seed: int) -> NDArray[np.int64]:
    """Return the community of each node, by numbers of no meaning: (nodes,) int64."""
    chance = random.Random(seed)
    size = len(csr.begins) - 1
    strengths = np.bincount(np.repeat(np.arange(size), np.diff(csr.begins)), csr.weights, size)
    place = np.arange(size)  # of each node of the graph, in the present one: (nodes,)
    csr = _merged(csr, place, size)  # without loops, which move no node
    community = list(range(size))
    while True:
        graph = _Graph(
            csr.begins.tolist(),
            csr.members.data,
            csr.weights.data,
            strengths.tolist(),
            float(strengths.sum()),
        )
        _move(graph, community, chance)
        if len(set(community)) == len(community):
            break
        refined = _refine(graph, community, chance)
        kept, first, number = np.unique(refined, return_index=True, return_inverse=True)
        if len(kept) == len(community):  # nothing could be merged well: take the communities as they are
            kept, first, number = np.unique(community, return_index=True, return_inverse=True)
        csr, strengths = _merged(csr, number, len(kept)), np.bincount(number, strengths, len(kept))
        community = np.unique(np.asarray(community)[first], return_inverse=True)[1].tolist()
        place = number[place]
    return np.asarray(community)[place]


def _move(graph: _Graph, community: list[int], chance: random.Random) -> None:
    """Move nodes to better communities, in `community`, until no move gains."""
    size = len(community)
    strength = [0.0] * size
    count = [0] * size
    for node, name in enumerate(community):
        strength[name] += graph.strengths[node]
        count[name] += 1
    free = [name for name in range(size) if not count[name]]
    order = list(range(size))
    chance.shuffle(order)
    queue, waits = deque(order), [True] * size
    while queue:
        node = queue.popleft()
        waits[node] = False
        own = community[node]
        strength[own] -= graph.strengths[node]
        best, gain = _best(graph, node, community, strength)
        if gain < -_NOTHING and count[own] > 1:  # alone is better
            best = free.pop()
        strength[best] += graph.strengths[node]
        if best != own:
            count[own] -= 1
            count[best] += 1
            if not count[own]:
                free.append(own)
            community[node] = best
            for neighbor, _ in graph.around(node):
                if not waits[neighbor] and community[neighbor] != best:
                    waits[neighbor] = True
                    queue.append(neighbor)


def _best(graph: _Graph, node: int, community: list[int], strength: list[float]) -> tuple[int, float]:
    """Return the best community near a node, preferring its own, and its gain over being alone."""
    own, share = community[node], graph.strengths[node] / (graph.total or 1.0)
    shared: dict[int, float] = {own: 0.0}
    for neighbor, weight in graph.around(node):
        name = community[neighbor]
        shared[name] = shared.get(name, 0.0) + weight
    best, gain = own, shared[own] - share * strength[own]
    for name, weight in shared.items():
        if (other := weight - share * strength[name]) > gain + _NOTHING:
            best, gain = name, other
    return best, gain


def _refine(graph: _Graph, community: list[int], chance: random.Random) -> list[int]:
    """Return parts of the communities, each well connected: a community's nodes, merged at random from single ones."""
    size = len(community)
    part, alone = list(range(size)), [True] * size
    of_part = list(graph.strengths)
    whole: dict[int, float] = defaultdict(float)
    inside = [0.0] * size  # weight of the edges from a part to the rest of its community
    for node, name in enumerate(community):
        whole[name] += graph.strengths[node]
        inside[node] = sum(weight for neighbor, weight in graph.around(node) if community[neighbor] == name)
    total = graph.total or 1.0
    order = list(range(size))
    chance.shuffle(order)
    for node in order:
        own, share = graph.strengths[node], graph.strengths[node] / total
        name = community[node]
        if not alone[node] or inside[node] < share * (whole[name] - own) - _NOTHING:
            continue
        shared: dict[int, float] = {}
        for neighbor, weight in graph.around(node):
            if community[neighbor] == name:
                to = part[neighbor]
                shared[to] = shared.get(to, 0.0) + weight
        choices, gains = [node], [0.0]
        for to, weight in shared.items():
            gain = weight - share * of_part[to]
            if gain >= 0 and inside[to] >= of_part[to] / total * (whole[name] - of_part[to]) - _NOTHING:
                choices.append(to)
                gains.append(gain)
        best = max(gains)
        odds = [*accumulate(math.exp((gain - best) / RANDOMNESS) for gain in gains)]
        chosen = chance.choices(choices, cum_weights=odds)[0]
        if chosen != node:
            part[node], alone[chosen] = chosen, False
            inside[chosen] += inside[node] - 2 * shared[chosen]
            of_part[chosen] += own
    return part


def _merged(csr: Csr, number: NDArray[np.int64], size: int) -> Csr:
    """Return the graph whose nodes are groups of nodes, by the number of each one's group."""
    owner = np.repeat(number, np.diff(csr.begins))
    other = number[csr.members]
    is_between = owner != other
    keys, back = np.unique(owner[is_between] * size + other[is_between], return_inverse=True)
    begins = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(keys // size, minlength=size), out=begins[1:])
    weights = np.bincount(back, csr.weights[is_between], len(keys)).astype(np.float64)
    return Csr(begins, (keys % size).astype(np.int32), weights)


# The communities of a graph and their reports: those that it holds, or else communities that are made at first use.


IN_COMMUNITY = "in_community"
_TITLE = 3
"""Names of members that make a title."""
_MEMBERS, _EDGES = 20, 20
"""Members and relations that a report lists, the best connected first; ours."""
_TEXT = 300
"""Characters of a member's text that a report holds."""
_SCHEMA = object_of({"title": {"type": "string"}, "report": {"type": "string"}})


class CommunityMatch(NamedTuple):
    """A community that some entities are in."""

    members: int
    """How many of them are in it."""
    rating: float
    row: int
    """The community's node, or its first member if it was made here."""


class CommunityReport(NamedTuple):
    """A community as a node, its report being the text."""

    node: Node
    trajectories: tuple[Trajectory, ...] = ()
    """The model call that wrote it, if it was written now."""


class Reports:
    """Finds the communities of entities, and their reports. Safe to share among threads."""

    def __init__(
        self, graph: Graph, spaces: Spaces, *, level: int, nodes: NDArray[np.bool_], model: LanguageModel | None = None
    ) -> None:
        self._graph, self._spaces, self._model = graph, spaces, model
        self._nodes, self._level = nodes, level
        self.is_given = bool(spaces.communities.any()) and IN_COMMUNITY in graph.arrays.types.edges
        """Whether the graph holds communities."""
        self._opening = Lock()
        self._written = KeyedCache[int, Node]()

    def of(self, rows: Sequence[int]) -> list[CommunityMatch]:
        """Return the communities that some entities are in: most of them first, then the better rated, the smaller."""
        if self.is_given:
            graph = self._graph
            entries = graph.arrays.adjacency.entries(
                np.unique(np.array(rows, np.int32)), graph.arrays.kind_mask([IN_COMMUNITY], "out")
            )
            entries = entries.where(self._spaces.communities[entries.neighbor])
            own, counts = np.unique(entries.neighbor, return_counts=True)
            levels, ratings = self._numbers("level", own), self._numbers("rating", own)
            communities = [
                CommunityMatch(count, rating, row)
                for row, count, level, rating in zip(own.tolist(), counts.tolist(), levels, ratings, strict=True)
                if level <= self._level
            ]
        else:
            numbers = self._community_of[np.array(rows, np.int64)] if len(rows) else np.zeros(0, np.int32)
            pairs = zip(*(part.tolist() for part in np.unique(numbers[numbers >= 0], return_counts=True)), strict=True)
            communities = [CommunityMatch(count, 0.0, row) for row, count in pairs]
        return sorted(communities, key=lambda community: (-community.members, -community.rating, community.row))

    def report(self, match: CommunityMatch, question: str, run: Run) -> CommunityReport:
        """Return a community as a node with its report as text. Raises `BudgetExhausted`, `ModelError`."""
        if self.is_given:
            return CommunityReport(self._graph.arrays.node_at(match.row))
        calls: list[Trajectory] = []
        node = self._written(match.row, lambda row: self._written_by_model(row, question, run, calls))
        return CommunityReport(node, tuple(calls))

    def listed(self, match: CommunityMatch) -> Node:
        """Return a community as a node without asking a model."""
        return self._graph.arrays.node_at(match.row) if self.is_given else self._list(match.row)

    # -------------------------------------------------------------------------------------------------------- given

    def _numbers(self, name: str, rows: Rows) -> list[float]:
        if name not in self._graph.arrays.properties.names:
            return [0.0] * len(rows)
        values = self._graph.arrays.properties.values(name, rows)
        return [float(value) if isinstance(value, int | float) else 0.0 for value in values]

    # --------------------------------------------------------------------------------------------------------- made

    @cached_property
    def _levels(self) -> NDArray[np.int32]:
        return open_communities(self._graph, self._nodes | self._spaces.facts)

    @property
    def _community_of(self) -> NDArray[np.int32]:
        """The community of each row at the finest level that is wanted."""
        with self._opening:
            community_of: NDArray[np.int32] = self._levels[min(self._level, LEVELS - 1)]
            return community_of

    def _written_by_model(self, row: int, question: str, run: Run, calls: list[Trajectory]) -> Node:
        """Return a report that a model writes, its call added to `calls`; or the list of members if it fails."""
        listed = self._list(row)
        if self._model is None:
            return listed
        prompt = prompt_of("community", "orienteer.retrieval")
        _, reply, trajectory = ask_for(self._model, run, prompt, _SCHEMA, question=question, community=listed.text)
        calls.append(trajectory)
        if reply is None or not reply["report"].strip():
            return listed
        return Node(listed.id, COMMUNITY, reply["title"].strip() or listed.name, reply["report"], (), listed.properties)

    def _list(self, row: int) -> Node:
        """Return a community with a list of its best connected members and their relations for a report."""
        graph = self._graph
        members = np.flatnonzero(self._community_of == self._community_of[row]).astype(np.int32)
        entries = graph.arrays.adjacency.entries(members)
        entries = entries.where(np.isin(entries.neighbor, members))
        degree = np.bincount(members.searchsorted(entries.owner), minlength=len(members))
        best = members[np.lexsort((members, -degree))]
        place = {int(row): at for at, row in enumerate(best)}
        going = np.flatnonzero((entries.kind & 1) == 0)
        rows = list(zip(*(column[going].tolist() for column in entries), strict=True))
        rows.sort(key=lambda entry: sorted((place[entry[0]], place[entry[1]])))
        edges = [graph.arrays.edge(*entry) for entry in rows[:_EDGES]]
        lines = []
        for one in best[:_MEMBERS].tolist():
            text = single_spaced(graph.arrays.texts[one])[:_TEXT]
            title = f"{single_spaced(graph.arrays.names[one])} ({graph.arrays.type_at(one)})"
            lines.append(f"{title}: {text}" if text else title)
        for edge in edges:
            ends = (graph.arrays.names[graph.arrays.row(end)] for end in (edge.source, edge.target))
            source, target = map(single_spaced, ends)
            text = single_spaced(edge.text)[:_TEXT]
            lines.append(f"{source} {arrow(edge.type, 'out')} {target}{': ' if text else ''}{text}")
        if len(members) > _MEMBERS:
            lines.append(f"and {len(members) - _MEMBERS} more")
        titling = best[~self._spaces.facts[best]]  # a fact's name repeats those of its members
        titling = titling if len(titling) else best
        names = ", ".join(list(dict.fromkeys(single_spaced(graph.arrays.names[int(row)]) for row in titling))[:_TITLE])
        return Node(
            id=f"{COMMUNITY}:{self._level}:{graph.arrays.ids[row]}",
            type=COMMUNITY,
            name=names,
            text="\n".join(lines),
            properties={"level": self._level, "members": len(members)},
        )
