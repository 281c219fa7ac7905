"""Steps 3 and 4: what the anchors lead to, along the edges that the question speaks of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import distinct
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows, runs
from orienteer.reading.answer_type import Understanding, Wanted
from orienteer.reading.linker import AnchorConfig, LinkedPhrase
from orienteer.reading.vocabulary import Label, QuestionWords, SchemaHop, SchemaWords, alike
from orienteer.text import english

# How well an edge type fits the question: 1 if it is named. Tuned with the prototype: the words of edges are worth
# .14 Hit@1 on GRBench and .08 on DEB, directions .05 on DEB (docs/explanations/anchor.md, "Constants").
_ELSEWHERE = 0.6  # a word that is not next to the anchor: it may belong to another anchor
_MATCHED = 0.5  # the least fit that distinguishes parallel edge types
_EQUAL_FIT = 0.1  # edge types this close to the best fit as well
_OTHER_NAMED = 0.3  # another edge type between the same types is named: low, but it still leads somewhere
_NONE_NAMED = 0.8  # no edge type between these types is named: below 1, so that a path with named edges comes first
_BY_EDGE = 0.5  # sureness of a type that only a named edge leads to; no measurement: a type that texts
# teach is surer (.6 of its share)
_PART = 0.6  # another edge type has all its words and more; no measurement: between the two above
_AGAINST = 0.6  # the words contradict the direction
_AGAINST_UNNAMED = 0.85  # only the position of a verb contradicts it: a weaker sign costs less
# The score of a path; only paths of one question are compared. Tuned with the prototype on GRBench,
# PKG and DEB (docs/explanations/anchor.md, "Constants"), except where it says so.
_PER_TYPE_BETWEEN = 1.0  # for passing all types named besides; without it "which has the most" finds nothing (.80 to 0)
_PER_TYPE_BETWEEN_JOINT = 0.3  # the same with other anchors: a type named besides may belong to one of those
_PER_FIT = 0.4  # for edges that fit the words
_PER_EDGE_MORE = 0.35  # taken off: at equal fit one edge beats two, and a type named between beats one edge
_PER_SURENESS = 0.3  # for leading to a type that is surely wanted, if there are several
_PER_QUALITY = 0.1  # for starting at the better of two namesakes; less than any of the others, so it breaks ties
_PER_WORDS = 0.5  # for every edge being named by a word of its own; no measurement: it outweighs one edge more
_NEAR_BEST = 0.15  # paths this far below the best one that leads anywhere are walked too: more edges, surer recall
_ALIKE = 0.8  # parallel edges of at least this share of the best fit are walked together
_FADE = 0.7  # what a further edge leaves of the strength
_FADE_GUIDED = 0.9  # the same if the question names the types between: then the longer path is the one asked for
_UNFITTING = 0.5  # strength of a plain neighbour by an edge that fits nothing; by one that fits it is 1
_BESIDE_WANTED = 0.4  # a neighbour of any type, if the wanted one is known
_RARE = 20  # reaching one in so many of a type, or fewer, is the best evidence; worth .007 Hit@1 on PKG, else nothing

_NO_ROWS = np.zeros(0, np.int32)


class SchemaWalk(NamedTuple):
    """A walk over the schema from a type: the kinds of edge and the type of each step."""

    kinds: tuple[tuple[int, ...], ...]
    types: tuple[int, ...]
    fit: float
    is_guided: bool
    score: float


@dataclass(frozen=True, slots=True)
class Traversal:
    """The nodes that one schema walk reaches from some nodes of an anchor."""

    start: Rows
    way: SchemaWalk | None
    """None for plain neighbours."""
    rows: Rows
    strength: NDArray[np.float64]
    members: NDArray[np.int64]
    """By row, how many distinct nodes of the step before lead there."""


class _StartEdges(NamedTuple):
    """The edges of some nodes: who has each, its other end, and as a code its kind and the type that it leads to."""

    owner: NDArray[np.int32]
    neighbor: NDArray[np.int32]
    code: NDArray[np.intp]
    codes: frozenset[int]
    """The distinct codes."""


class _LabelMatch(NamedTuple):
    """How well a label fits: the mean over its words, and the position of its last word; -1 for none."""

    fit: float
    place: int


class AnchorWalker:
    """Walks from one anchor of a question, along the edges that fit the words around it."""

    def __init__(
        self, question: Understanding, at: int | None, graph: Graph, vocabulary: SchemaWords, config: AnchorConfig
    ) -> None:
        """If `at` is None, all words of the question count, and walks start from types."""
        self._graph, self._vocabulary, self._config = graph, vocabulary, config
        self._reading = reading = question.reading
        self._anchor = None if at is None else question.anchors[at]
        self._is_alone = len(question.anchors) < 2
        self._first = len(reading.words) if self._anchor is None else self._anchor.first
        # The words that may name an edge, each with its weight: those next to the anchor count more.
        taken = {place for anchor in question.anchors for place in anchor.words} | set(question.wanted.said_by)
        near = set(range(len(reading.words))) if at is None else _near_places(reading, question.anchors, at)
        words = [
            (1.0 if place in near else _ELSEWHERE, word.stem, place)
            for place, word in enumerate(reading.words)
            if place not in taken and not word.is_stop
        ]
        self._verb = max((place for weight, _, place in words if weight == 1.0), default=-1)
        """The word that most likely says the relation, if none is an edge type's."""

        def match(label: Label) -> _LabelMatch:
            total, last = 0.0, -1
            for stem in label.stems:
                likenesses = ((weight * alike(word, stem), place) for weight, word, place in words)
                likeness, place = max(likenesses, default=(0.0, -1))
                total += likeness
                last = place if likeness else last
            return _LabelMatch(total / len(label.stems), last)

        self._matches = [max(map(match, labels), default=_LabelMatch(0.0, -1)) for labels in vocabulary.edge_labels]
        """By edge type."""
        self._known_fits: dict[tuple[int, int], dict[SchemaHop, float]] = {}
        self._known_edges: dict[bytes, _StartEdges] = {}

    def named_types(self) -> dict[int, float]:
        """Return the node types that the named edges of the anchor lead to, with how well these are named."""
        types: dict[int, float] = {}
        candidates = self._anchor.candidates if self._anchor is not None else ()
        for source in {int(self._graph.arrays.node_types[candidate.row]) for candidate in candidates}:
            fits: dict[int, float] = {}
            for hop in self._vocabulary.hops[source]:
                fit = self._matches[hop.kind >> 1].fit
                if fit >= _MATCHED:
                    fits[hop.target] = max(fits.get(hop.target, 0.0), fit)
            best = max(fits.values(), default=0.0)
            for target, fit in fits.items():
                if fit >= best - _EQUAL_FIT:
                    types[target] = max(types.get(target, 0.0), _BY_EDGE * fit)
        return types

    def reach(self, wanted: Wanted) -> list[Traversal]:
        """Return all that the anchor leads to: along the best paths to the wanted types, and its plain neighbours.

        Without an anchor it starts from all nodes of the types that the question names besides.
        """
        node_types = self._graph.arrays.node_types
        if self._anchor is None:
            reached: list[Traversal] = []
            for source in wanted.via:
                start = np.flatnonzero(node_types == source).astype(np.int32)
                ways = ((way.score, start, 1.0, way) for way in self._ways(source, replace(wanted, via=())))
                reached += self._walk_best(sorted(ways, key=lambda scored: -scored[0]))
            return reached
        # Candidates of one type and quality start together.
        groups: dict[tuple[int, float], list[int]] = {}
        for row, quality in self._anchor.candidates:
            groups.setdefault((int(node_types[row]), quality), []).append(row)
        starts = [(np.array(sorted(rows), np.int32), quality) for (_, quality), rows in groups.items()]
        ways = (
            (_PER_QUALITY * quality + way.score, start, quality, way)
            for start, quality in starts
            for way in self._ways(int(node_types[start[0]]), wanted)
        )
        reached = list(self._walk_best(sorted(ways, key=lambda scored: -scored[0])))
        return [*reached, *(self._neighbors(start, quality, wanted) for start, quality in starts)]

    # ------------------------------------------------------------------------------------------- how well an edge fits

    def _fits(self, source: int, target: int) -> dict[SchemaHop, float]:
        """Return the fit of each kind of edge from nodes of a type to nodes of another."""
        fits = self._known_fits.setdefault((source, target), {})
        if fits:
            return fits
        hops = self._vocabulary.hops_to[source][target]
        best = max(self._matches[hop.kind >> 1].fit for hop in hops)
        # Edge types that fit equally well, by the words of their first label: `regulates`, `regulates twice`.
        equal = [hop for hop in hops if self._matches[hop.kind >> 1].fit >= best - _EQUAL_FIT]
        contents = [self._content(hop) for hop in equal] if best >= _MATCHED else []
        for hop in hops:
            fit = _NONE_NAMED if best < _MATCHED else 1.0 if hop in equal else _OTHER_NAMED
            if fit == 1.0 and any(self._content(hop) < other for other in contents):
                fit = _PART
            fits[hop] = fit * self._direction(hop, source)
        return fits

    def _content(self, hop: SchemaHop) -> frozenset[str]:
        return frozenset(stem for label in self._vocabulary.edge_labels[hop.kind >> 1][:1] for stem in label.stems)

    def _direction(self, hop: SchemaHop, source: int) -> float:
        """Return 1, or less if both directions join the same types and the words contradict this one."""
        if hop.target != source or self._vocabulary.is_symmetric(hop.kind):
            return 1.0
        fit, place = self._matches[hop.kind >> 1]
        if fit < _MATCHED:
            return 1.0 if self._leads_to_anchor(self._verb, frozenset()) == bool(hop.kind & 1) else _AGAINST_UNNAMED
        label = {word for form in self._vocabulary.edge_labels[hop.kind >> 1] for word in form.words}
        if self._next(place) == "with" and "with" not in label:
            return 1.0
        return 1.0 if self._leads_to_anchor(place, label) == bool(hop.kind & 1) else _AGAINST

    def _leads_to_anchor(self, place: int, label: Set[str]) -> bool:
        """Return whether edges go from the answer to the anchor: the word of the relation is before the anchor."""
        is_before, after = place < self._first, self._next(place)
        if (after == "by") != ("by" in label):
            return not is_before
        # In "the capital of X", X has it: the label is a plain noun, not a verb in the third person or a participle.
        is_noun = bool(label) and not any(word.endswith(("s", "ed", "ing")) for word in label)
        return is_before and not (after == "of" and is_noun and not label & english.STOP)

    def _next(self, place: int) -> str:
        words = self._reading.words
        return words[place + 1].text if 0 <= place < len(words) - 1 else ""

    # ---------------------------------------------------------------------------------------- paths over the schema

    def _ways(self, source: int, wanted: Wanted) -> Iterator[SchemaWalk]:
        """Yield the paths to the wanted types: of one step, or of more if types between are named or it fails."""
        longest = min(self._config.most_hops, 2 + len(wanted.via)) if wanted.via else 1
        for target, sureness in wanted.types.items():
            walks = list(self._type_walks(source, target, longest)) or list(self._type_walks(source, target, 2))
            if self._is_alone and longest == 1:
                two = [types for types in self._type_walks(source, target, 2) if len(types) == 2]
                walks += [types for types in two if self._is_named(source, types)]
            for types in walks:
                yield from self._scored(source, types, wanted, sureness)

    def _type_walks(self, source: int, target: int, longest: int) -> Iterator[tuple[int, ...]]:
        waiting: list[tuple[int, ...]] = [()]
        while waiting:
            walk = waiting.pop()
            for following in self._vocabulary.hops_to[walk[-1] if walk else source]:
                if following == target:
                    yield (*walk, following)
                if len(walk) + 1 < longest:
                    waiting.append((*walk, following))

    def _is_named(self, source: int, types: tuple[int, ...]) -> bool:
        """Return whether every step of a walk is named by a word of its own."""
        places: set[int] = set()
        for following in types:
            hops = self._vocabulary.hops_to[source].get(following, ())
            best = max((self._matches[hop.kind >> 1] for hop in hops), key=lambda match: match.fit, default=None)
            if best is None or best.fit < _MATCHED or best.place in places:
                return False
            places.add(best.place)
            source = following
        return True

    def _scored(self, source: int, types: tuple[int, ...], wanted: Wanted, sureness: float) -> Iterator[SchemaWalk]:
        kinds: list[tuple[int, ...]] = []
        values: list[float] = []
        for start, following in zip((source, *types), types, strict=False):
            fits = self._fits(start, following)
            best = max(fits.values())
            values.append(best)
            kinds.append(tuple(hop.kind for hop, value in fits.items() if value >= _ALIKE * best))
        passed = len(set(wanted.via) & set(types[:-1])) / len(wanted.via) if wanted.via else 0.0
        mean = sum(values) / len(values)
        between = (_PER_TYPE_BETWEEN if self._is_alone else _PER_TYPE_BETWEEN_JOINT) * passed
        score = between + _PER_FIT * mean - _PER_EDGE_MORE * (len(types) - 1) + _PER_SURENESS * sureness
        if len(types) > 1:
            is_named = self._is_alone and not wanted.via and self._is_named(source, types)
            yield SchemaWalk(tuple(kinds), types, mean, passed > 0 or is_named, score + _PER_WORDS * is_named)
            return
        for hop, value in self._fits(source, types[0]).items():
            yield SchemaWalk(((hop.kind,),), types, value, False, score + _PER_FIT * (value - mean))

    # ------------------------------------------------------------------------------------------- walks over the graph

    def _walk_best(self, ways: Sequence[tuple[float, Rows, float, SchemaWalk]]) -> Iterator[Traversal]:
        """Walk the best of these paths that leads anywhere, and those nearly as good."""
        best = -math.inf
        for score, start, quality, way in ways:
            if score < best - _NEAR_BEST:
                return
            rows, members = self._walk(start, way)
            if len(rows):
                best = max(best, score)
                fade = (_FADE_GUIDED if way.is_guided else _FADE) ** (len(way.kinds) - 1)
                # The fewer nodes of a type are reached, the more it means to be one of them.
                count = int(self._vocabulary.node_counts[way.types[-1]])
                share = math.log(count / len(rows)) / math.log(min(_RARE, max(2, count)))
                strength = quality * way.fit * fade * min(1.0, max(0.1, share))
                yield Traversal(start, way, rows, np.full(len(rows), strength), members)

    def _walk(self, start: Rows, way: SchemaWalk) -> tuple[Rows, NDArray[np.int64]]:
        """Return the nodes that a path reaches, and by row how many distinct nodes of the step before lead there."""
        arrays = self._graph.arrays
        rows, members = start, np.ones(len(start), np.int64)
        for step, (kinds, node_type) in enumerate(zip(way.kinds, way.types, strict=True)):
            if step:
                mask = np.zeros(2 * len(arrays.types.edges), np.bool_)
                mask[list(kinds)] = True
                entries = arrays.adjacency.entries(rows, mask)
                keep = arrays.node_types[entries.neighbor] == node_type
                owner, neighbor = entries.owner[keep], entries.neighbor[keep]
            else:
                owner, neighbor = self._first_step(start, kinds, node_type)
            if len(rows) == 1:
                rows = distinct(neighbor)
                members = np.ones(len(rows), np.int64)
            else:
                pairs = np.sort(neighbor.astype(np.int64) << 32 | owner)
                ends, members = runs(runs(pairs)[0] >> 32)
                rows = ends.astype(np.int32)
        return rows, members

    def _first_step(
        self, start: Rows, kinds: Sequence[int], node_type: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the edges of a path's first step: the node that has each, and its end. Many paths share the start."""
        edges = self._edges_of(start)
        codes = [code for kind in kinds if (code := self._code(kind, node_type)) in edges.codes]
        if not codes:  # so it is with most paths
            return _NO_ROWS, _NO_ROWS
        keep = edges.code == codes[0] if len(codes) == 1 else np.isin(edges.code, codes)
        return edges.owner[keep], edges.neighbor[keep]

    def _code(self, kind: int, node_type: int) -> int:
        return kind * len(self._graph.arrays.types.nodes) + node_type

    def _edges_of(self, start: Rows) -> _StartEdges:
        key = start.tobytes()
        if key not in self._known_edges:
            entries = self._graph.arrays.adjacency.entries(start)
            code = entries.kind.astype(np.intp) * len(self._graph.arrays.types.nodes)
            code += self._graph.arrays.node_types[entries.neighbor]
            codes = frozenset(np.flatnonzero(np.bincount(code)).tolist())
            self._known_edges[key] = _StartEdges(entries.owner, entries.neighbor, code, codes)
        return self._known_edges[key]

    def _neighbors(self, start: Rows, quality: float, wanted: Wanted) -> Traversal:
        """Return all neighbours of some nodes, of any type."""
        source = int(self._graph.arrays.node_types[start[0]])
        value = np.zeros(2 * len(self._graph.arrays.types.edges) * len(self._graph.arrays.types.nodes))
        for target in self._vocabulary.hops_to[source]:
            for hop, likeness in self._fits(source, target).items():
                value[self._code(hop.kind, target)] = likeness
        edges = self._edges_of(start)
        neighbor, code = edges.neighbor, edges.code
        # The edges of a single node are sorted by their other ends already.
        if len(start) > 1:
            order = np.argsort(neighbor, kind="stable")
            neighbor, code = neighbor[order], code[order]
        firsts = np.flatnonzero(np.diff(neighbor, prepend=-1))
        best = np.maximum.reduceat(value[code], firsts) if len(firsts) else np.zeros(0)
        strength = quality * (_UNFITTING + (1 - _UNFITTING) * best) * (_BESIDE_WANTED if wanted.types else 1.0)
        return Traversal(start, None, neighbor[firsts], strength, np.ones(len(firsts), np.int64))


def walkers_of(
    question: Understanding, graph: Graph, vocabulary: SchemaWords, config: AnchorConfig
) -> tuple[AnchorWalker, ...]:
    """Return a walker for each anchor of a question.

    A question for the most of something that names no node starts from the types that it names besides.
    """
    wanted = question.wanted
    starts: Sequence[int | None] = range(len(question.anchors))
    if not starts and wanted.superlative and wanted.types and wanted.via:
        starts = (None,)
    return tuple(AnchorWalker(question, at, graph, vocabulary, config) for at in starts)


def named_by_edges(walkers: Sequence[AnchorWalker]) -> dict[int, float]:
    """Return the node types that named edges lead to ("who designed X"), with how sure each is."""
    types: dict[int, float] = {}
    for walker in walkers:
        for target, sureness in walker.named_types().items():
            types[target] = max(types.get(target, 0.0), sureness)
    best = max(types.values(), default=0.0)
    return {number: sureness for number, sureness in types.items() if sureness == best}


def _near_places(reading: QuestionWords, anchors: Sequence[LinkedPhrase], at: int) -> set[int]:
    """Return the positions of the words near an anchor: its own clause, up to the next anchor on either side."""
    anchor = anchors[at]
    low = anchors[at - 1].last if at else 0
    high = anchors[at + 1].first if at + 1 < len(anchors) else len(reading.words)
    before: set[int] = set()
    for place in range(anchor.first - 1, low - 1, -1):
        if reading.words[place].text in english.CLAUSE:
            break
        before.add(place)
        if reading.words[place].after_comma:
            break
    before = {place for place in before if not reading.words[place].is_stop}
    if at and not before and all(word.text in english.JOINING for word in reading.words[low : anchor.first]):
        before = _near_places(reading, anchors, at - 1)
    after: set[int] = set()
    for place in range(anchor.last, high):
        if reading.words[place].text in english.CLAUSE or reading.words[place].after_comma:
            break
        after.add(place)
    return before | after


# Between steps 4 and 5: what all anchors together lead to, by node.


_GUESSED = 0.5  # sureness of a type that only the number of nodes that join the anchors suggests; the prototype's


@dataclass(frozen=True, slots=True)
class Connections:
    """What the anchors lead to: by anchor and node the strength, and by node how many nodes lead there."""

    rows: Rows
    strength: NDArray[np.float64]  # (anchors, rows)
    times: NDArray[np.int64]
    """By node, how many anchors lead there."""
    members: NDArray[np.int64]
    leads: bool
    """A path to a wanted type leads somewhere."""
    counts: bool
    """Paths to a wanted type were walked whose last step counts."""

    @property
    def joined(self) -> NDArray[np.bool_]:
        """Mark the nodes that two anchors or more lead to."""
        return np.asarray(self.times > 1)


def connect(question: Understanding, reached: Sequence[Sequence[Traversal]]) -> Connections:
    """Return the connections of all anchors, except an anchor's connection to itself."""
    anchors, wanted = question.anchors, question.wanted
    rows, where = unite_sorted([reach.rows for ways in reached for reach in ways])
    following = iter(where)
    strength = np.zeros((len(anchors), len(rows)))
    members = np.zeros(len(rows), np.int64)
    leads = counts = False
    for at, ways in enumerate(reached):
        for reach in ways:
            places = next(following)
            if at < len(anchors):
                mine = strength[at]
                mine[places] = np.maximum(mine[places], reach.strength)
            if reach.way is not None and (at >= len(anchors) or not wanted.via or reach.way.is_guided):
                members[places] = np.maximum(members[places], reach.members)
                leads = True
                counts |= len(reach.way.types) > 1 or at >= len(anchors)
        if at < len(anchors):
            own = np.array([candidate.row for candidate in anchors[at].candidates], np.int32)
            strength[at, places_of(rows, own)[0]] = 0.0
    return Connections(rows, strength, np.count_nonzero(strength > 0, axis=0), members, leads, counts)


def smallest_shared(connections: Connections, graph: Graph) -> dict[int, float]:
    """Return the type with the fewest nodes among those that the most anchors lead to, with how sure it is."""
    times = connections.times
    joined = connections.rows[connections.joined & (times == times.max(initial=0))]
    if not len(joined):
        return {}
    sizes = np.bincount(graph.arrays.node_types[joined])
    best = min(np.flatnonzero(sizes).tolist(), key=lambda number: (sizes[number], number))
    return {best: _GUESSED / float(np.log2(1 + sizes[best]))}


class _United(NamedTuple):
    """The distinct rows of several lists, and by list the indices of its rows among them."""

    rows: Rows
    places: list[NDArray[np.intp]]


def unite_sorted(lists: Sequence[Rows]) -> _United:
    """Unite sorted lists in one sort, which merges them: looking the rows of long ones up would cost more."""
    together = np.concatenate([np.zeros(0, np.int32), *lists])
    order = np.argsort(together, kind="stable")
    rows = together[order]
    is_new = np.diff(rows, prepend=-1) > 0
    places = np.empty(len(rows), np.intp)
    places[order] = np.cumsum(is_new) - 1
    return _United(rows[is_new], np.split(places, np.cumsum([len(part) for part in lists])[:-1]) if lists else [])


def places_of(rows: Rows, wanted: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices in `rows` of the `wanted` ones that are there, and the indices of these in `wanted`."""
    if not len(rows):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    at = rows.searchsorted(wanted)
    at[at == len(rows)] = 0
    here = np.flatnonzero(rows[at] == wanted)
    return at[here], here
