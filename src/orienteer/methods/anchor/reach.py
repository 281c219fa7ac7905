"""Step 4: what the anchors lead to, along the ways of the schema that the question speaks of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import distinct
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows, runs
from orienteer.methods.anchor.edge_fit import EdgeFit
from orienteer.reading.answer_type import Understanding, Wanted
from orienteer.reading.config import AnchorConfig
from orienteer.reading.linker import LinkedPhrase
from orienteer.reading.words import SchemaWords

_NEAR_BEST = 0.15  # ways this far below the best one that leads anywhere are walked too: more edges, surer recall
_ALIKE = 0.8  # parallel edges of at least this share of the best fit are walked together
_FADE = 0.7  # what an edge more leaves of the strength
_FADE_GUIDED = 0.9  # the same where the question names the types between: then the longer way is the one asked for
# What a way scores; only ways of one question are compared. Tuned with the prototype on GRBench,
# PKG and DEB (docs/anchor.md, "Constants"), except where it says so.
_PER_TYPE_BETWEEN = 1.0  # for passing all types named besides; without it "which has the most" finds nothing (.80 to 0)
_PER_TYPE_BETWEEN_JOINT = 0.3  # the same beside other anchors: a type named besides may belong to one of those
_PER_FIT = 0.4  # for edges that fit the words
_PER_EDGE_MORE = 0.35  # taken off: at equal fit one edge beats two, and a type named between beats one edge
_PER_SURENESS = 0.3  # for leading to a type that is surely wanted, where several are
_PER_QUALITY = 0.1  # for starting at the better of two namesakes; less than any of the others, so it breaks ties
_PER_WORDS = 0.5  # for every edge being named by a word of its own; no measurement: it outweighs one edge more
_UNFITTING = 0.5  # strength of a plain neighbour by an edge that fits nothing, where one that fits counts 1
_BESIDE_WANTED = 0.4  # a neighbour of whatever type, where the wanted one is known
_RARE = 20  # reaching one in so many of a type, or fewer, tells most; worth .007 Hit@1 on PKG, nothing elsewhere


_NO_ROWS = np.zeros(0, np.int32)


class SchemaWalk(NamedTuple):
    """A walk over the schema from a type: the kinds of edge and the type of each step."""

    kinds: tuple[tuple[int, ...], ...]
    types: tuple[int, ...]
    fit: float
    is_guided: bool
    score: float


@dataclass(frozen=True, slots=True)
class Reach:
    """What one way leads to from some nodes of an anchor."""

    start: Rows
    way: SchemaWalk | None
    """None for plain neighbours."""
    rows: Rows
    strength: NDArray[np.float64]
    members: NDArray[np.int64]
    """By row, how many distinct nodes of the step before lead there."""


class _Around(NamedTuple):
    """The edges of some nodes: who has each, its other end, and as a code its kind and the type that it leads to."""

    owner: NDArray[np.int32]
    neighbor: NDArray[np.int32]
    code: NDArray[np.intp]
    codes: frozenset[int]
    """Those that there are."""


class Explorer:
    """Walks from the anchors of one question."""

    def __init__(self, graph: Graph, vocabulary: SchemaWords, config: AnchorConfig) -> None:
        self._graph, self._vocabulary, self._config = graph, vocabulary, config
        self._known: dict[bytes, _Around] = {}

    def reach(self, question: Understanding) -> tuple[list[Reach], ...]:
        """Return by anchor what it leads to, along the edges that the words around it fit.

        A question after the most that names no node starts from the types that it names besides.
        """
        wanted = question.wanted
        if question.anchors:
            fits = (EdgeFit(question, at, self._vocabulary) for at in range(len(question.anchors)))
            alone = len(question.anchors) == 1
            pairs = zip(question.anchors, fits, strict=True)
            return tuple(self._from_anchor(anchor, fit, wanted, alone=alone) for anchor, fit in pairs)
        if wanted.superlative and wanted.types and wanted.via:
            return (self._from_types(EdgeFit(question, None, self._vocabulary), wanted),)
        return ()

    def _from_anchor(self, anchor: LinkedPhrase, fit: EdgeFit, wanted: Wanted, *, alone: bool) -> list[Reach]:
        """Return all that an anchor leads to: along the best ways to the wanted types, and its plain neighbours."""
        starts = list(_starts(anchor, self._graph))
        ways = [
            (_PER_QUALITY * quality + way.score, start, quality, way)
            for start, quality in starts
            for way in self._ways(int(self._graph.arrays.node_types[start[0]]), fit, wanted, alone=alone)
        ]
        reached = list(self._walk_best(sorted(ways, key=lambda scored: -scored[0])))
        reached += [self._neighbors(start, quality, fit, wanted) for start, quality in starts]
        return reached

    def _from_types(self, fit: EdgeFit, wanted: Wanted) -> list[Reach]:
        """Return what all nodes of the types named besides lead to."""
        reached: list[Reach] = []
        for source in wanted.via:
            start = np.flatnonzero(self._graph.arrays.node_types == source).astype(np.int32)
            plain = replace(wanted, via=())
            ways = [(way.score, start, 1.0, way) for way in self._ways(source, fit, plain, alone=True)]
            reached += self._walk_best(sorted(ways, key=lambda scored: -scored[0]))
        return reached

    def _walk_best(self, ways: Sequence[tuple[float, Rows, float, SchemaWalk]]) -> Iterator[Reach]:
        """Walk the best of these ways that leads anywhere, and those nearly as good."""
        best = -math.inf
        for score, start, quality, way in ways:
            if score < best - _NEAR_BEST:
                return
            rows, members = self.walk(start, way)
            if len(rows):
                best = max(best, score)
                fade = (_FADE_GUIDED if way.is_guided else _FADE) ** (len(way.kinds) - 1)
                strength = quality * way.fit * fade * self._tells(way.types[-1], len(rows))
                yield Reach(start, way, rows, np.full(len(rows), strength), members)

    def _tells(self, node_type: int, reached: int) -> float:
        """Return how much it tells to be among those reached."""
        count = int(self._vocabulary.node_counts[node_type])
        share = math.log(count / reached) / math.log(min(_RARE, max(2, count)))
        return min(1.0, max(0.1, share))

    def walk(self, start: Rows, way: SchemaWalk) -> tuple[Rows, NDArray[np.int64]]:
        """Return what a way leads to, and by row how many distinct nodes of the step before lead there."""
        rows, members = start, np.ones(len(start), np.int64)
        for step, (kinds, node_type) in enumerate(zip(way.kinds, way.types, strict=True)):
            owner, neighbor = self._step(rows, kinds, node_type) if step else self._first(rows, kinds, node_type)
            if len(rows) == 1:
                rows = distinct(neighbor)
                members = np.ones(len(rows), np.int64)
            else:
                rows, members = _count(neighbor, owner)
        return rows, members

    def _first(self, start: Rows, kinds: Sequence[int], node_type: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the edges of a way's first step, whose nodes many ways start from: what each has, and its end."""
        around = self._around(start)
        codes = [code for kind in kinds if (code := self._code(kind, node_type)) in around.codes]
        if not codes:  # so it is with most ways
            return _NO_ROWS, _NO_ROWS
        keep = around.code == codes[0] if len(codes) == 1 else np.isin(around.code, codes)
        return around.owner[keep], around.neighbor[keep]

    def _step(self, rows: Rows, kinds: Sequence[int], node_type: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the same of a further step."""
        mask = np.zeros(2 * len(self._graph.arrays.types.edges), np.bool_)
        mask[list(kinds)] = True
        entries = self._graph.arrays.adjacency.entries(rows, mask)
        keep = self._graph.arrays.node_types[entries.neighbor] == node_type
        return entries.owner[keep], entries.neighbor[keep]

    def _code(self, kind: int, node_type: int) -> int:
        return kind * len(self._graph.arrays.types.nodes) + node_type

    def _around(self, start: Rows) -> _Around:
        """Return the edges of some nodes; remembered."""
        key = start.tobytes()
        if key not in self._known:
            entries = self._graph.arrays.adjacency.entries(start)
            code = entries.kind.astype(np.intp) * len(self._graph.arrays.types.nodes)
            code += self._graph.arrays.node_types[entries.neighbor]
            codes = frozenset(np.flatnonzero(np.bincount(code)).tolist())
            self._known[key] = _Around(entries.owner, entries.neighbor, code, codes)
        return self._known[key]

    def _neighbors(self, start: Rows, quality: float, fit: EdgeFit, wanted: Wanted) -> Reach:
        """Return all that touches some nodes, of whatever type."""
        source = int(self._graph.arrays.node_types[start[0]])
        value = np.zeros(2 * len(self._graph.arrays.types.edges) * len(self._graph.arrays.types.nodes))
        for target in self._vocabulary.hops_to[source]:
            for hop, likeness in fit.fits(source, target).items():
                value[self._code(hop.kind, target)] = likeness
        around = self._around(start)
        neighbor, code = around.neighbor, around.code
        if len(start) > 1:  # the edges of a single node are sorted by their other ends
            order = np.argsort(neighbor, kind="stable")
            neighbor, code = neighbor[order], code[order]
        firsts = np.flatnonzero(np.diff(neighbor, prepend=-1))
        best = np.maximum.reduceat(value[code], firsts) if len(firsts) else np.zeros(0)
        strength = quality * (_UNFITTING + (1 - _UNFITTING) * best) * (_BESIDE_WANTED if wanted.types else 1.0)
        return Reach(start, None, neighbor[firsts], strength, np.ones(len(firsts), np.int64))

    def _ways(self, source: int, fit: EdgeFit, wanted: Wanted, *, alone: bool) -> Iterator[SchemaWalk]:
        """Return the ways to the wanted types: of one step, of more where types between are named or none is."""
        longest = min(self._config.most_hops, 2 + len(wanted.via)) if wanted.via else 1
        for target, sureness in wanted.types.items():
            walks = list(self._type_walks(source, target, longest)) or list(self._type_walks(source, target, 2))
            if alone and longest == 1:
                two = [types for types in self._type_walks(source, target, 2) if len(types) == 2]
                walks += [types for types in two if self._is_said(source, types, fit)]
            for types in walks:
                yield from self._fitted(source, types, fit, wanted, sureness=sureness, alone=alone)

    def _is_said(self, source: int, types: tuple[int, ...], fit: EdgeFit) -> bool:
        """Tell whether every step of a walk is named by a word of its own."""
        places: set[int] = set()
        for following in types:
            place = fit.said(self._vocabulary.hops_to[source].get(following, ()))
            if place is None or place in places:
                return False
            places.add(place)
            source = following
        return True

    def _type_walks(self, source: int, target: int, longest: int) -> Iterator[tuple[int, ...]]:
        waiting: list[tuple[int, ...]] = [()]
        while waiting:
            walk = waiting.pop()
            for following in self._vocabulary.hops_to[walk[-1] if walk else source]:
                if following == target:
                    yield (*walk, following)
                if len(walk) + 1 < longest:
                    waiting.append((*walk, following))

    def _fitted(
        self, source: int, types: tuple[int, ...], fit: EdgeFit, wanted: Wanted, *, sureness: float, alone: bool
    ) -> Iterator[SchemaWalk]:
        kinds: list[tuple[int, ...]] = []
        values: list[float] = []
        at = source
        for following in types:
            fits = fit.fits(at, following)
            best = max(fits.values())
            values.append(best)
            kinds.append(tuple(hop.kind for hop, value in fits.items() if value >= _ALIKE * best))
            at = following
        passed = len(set(wanted.via) & set(types[:-1])) / len(wanted.via) if wanted.via else 0.0
        mean = sum(values) / len(values)
        between = (_PER_TYPE_BETWEEN if alone else _PER_TYPE_BETWEEN_JOINT) * passed
        score = between + _PER_FIT * mean - _PER_EDGE_MORE * (len(types) - 1) + _PER_SURENESS * sureness
        if len(types) > 1:
            is_said = alone and not wanted.via and self._is_said(source, types, fit)
            yield SchemaWalk(tuple(kinds), types, mean, passed > 0 or is_said, score + _PER_WORDS * is_said)
            return
        for hop, value in fit.fits(source, types[0]).items():
            yield SchemaWalk(((hop.kind,),), types, value, False, score + _PER_FIT * (value - mean))


def _starts(anchor: LinkedPhrase, graph: Graph) -> Iterator[tuple[Rows, float]]:
    """Return the nodes of an anchor, those of one type and quality together."""
    groups: dict[tuple[int, float], list[int]] = {}
    for row, quality in anchor.candidates:
        groups.setdefault((int(graph.arrays.node_types[row]), quality), []).append(row)
    for (_, quality), rows in groups.items():
        yield np.array(sorted(rows), np.int32), quality


def _count(rows: NDArray[np.int32], members: NDArray[np.int32]) -> tuple[Rows, NDArray[np.int64]]:
    """Return the distinct rows, and how many distinct members stand beside each."""
    pairs = np.sort(rows.astype(np.int64) << 32 | members)
    ends, counts = runs(runs(pairs)[0] >> 32)
    return ends.astype(np.int32), counts
