"""Step 4: what the anchors lead to, along the ways of the schema that the question speaks of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import distinct
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows, runs
from orienteer.reading.answer_type import Understanding, Wanted
from orienteer.reading.linker import AnchorConfig, LinkedPhrase
from orienteer.reading.words import Label, QuestionWords, SchemaHop, SchemaWords, alike
from orienteer.text import english

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


# Between steps 4 and 5: what all anchors together lead to, by node.


_GUESSED = 0.5  # sureness of a type that only the size of what joins the anchors speaks for; the prototype's


@dataclass(frozen=True, slots=True)
class Connections:
    """What the anchors lead to: by anchor and node the strength, and by node how many nodes lead there."""

    rows: Rows
    strength: NDArray[np.float64]  # (anchors, rows)
    times: NDArray[np.int64]
    """By node, how many anchors lead there."""
    members: NDArray[np.int64]
    leads: bool
    """A way to a wanted type leads somewhere."""
    counts: bool
    """Ways to a wanted type were walked whose last step counts."""

    @property
    def joined(self) -> NDArray[np.bool_]:
        """Mark the nodes that two anchors or more lead to."""
        return np.asarray(self.times > 1)

    @property
    def most_joined(self) -> NDArray[np.bool_]:
        """Mark those of them that the most anchors lead to."""
        return np.asarray(self.joined & (self.times == self.times.max(initial=0)))


def connect(question: Understanding, reached: Sequence[Sequence[Reach]]) -> Connections:
    """Return what the anchors lead to; an anchor's connection to itself is left out."""
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
        if at >= len(anchors):
            continue
        own = np.array([candidate.row for candidate in anchors[at].candidates], np.int32)
        strength[at, places_of(rows, own)[0]] = 0.0
    return Connections(rows, strength, np.count_nonzero(strength > 0, axis=0), members, leads, counts)


def smallest_shared(connections: Connections, graph: Graph) -> dict[int, float]:
    """Return the type of which the fewest nodes join the anchors, with how sure it is: what a question can be after."""
    joined = connections.rows[connections.most_joined]
    if not len(joined):
        return {}
    sizes = np.bincount(graph.arrays.node_types[joined])
    best = min(np.flatnonzero(sizes).tolist(), key=lambda number: (sizes[number], number))
    return {best: _GUESSED / float(np.log2(1 + sizes[best]))}


class _United(NamedTuple):
    """The distinct rows of several lists, and by list where its rows stand among them."""

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
    """Return where in `rows` those of `wanted` stand that are there, and which of `wanted` these are."""
    if not len(rows):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    at = rows.searchsorted(wanted)
    at[at == len(rows)] = 0
    here = np.flatnonzero(rows[at] == wanted)
    return at[here], here


# Step 3: how well each type of edge fits what the question says around an anchor.


_ELSEWHERE = 0.6  # a word that does not stand beside the anchor: it may belong to another anchor
_MATCHED = 0.5  # the least fit that tells parallel edge types apart
_EDGE_FIT_ALIKE = 0.1  # edge types this near to the best fit as well
# What an edge type fits, 1 being named by the question. Tuned with the prototype, where the words of edges are worth
# .14 Hit@1 on GRBench and .08 on DEB, directions .05 on DEB (docs/anchor.md, "Constants").
_OTHER_NAMED = 0.3  # another edge type between the same types is named: low, but it still leads somewhere
_NONE_NAMED = 0.8  # no edge type between these types is named: below 1, so that a way with named edges comes first
_BY_EDGE = 0.5  # sureness of a type that only an edge named in the question leads to; no measurement: a type that texts
# teach is surer (.6 of its share)
_PART = 0.6  # another one says all that this says and more; no measurement: between the two above
_AGAINST = 0.6  # the words tell against the direction
_AGAINST_UNNAMED = 0.85  # the same where only the place of a verb tells: a weaker sign costs less


class _Place(NamedTuple):
    """A word of the question that may name an edge."""

    stem: str
    place: int
    weight: float


class _LabelMatch(NamedTuple):
    """How a label fits: the mean over its words, and where its last word stands; -1 for nowhere."""

    fit: float
    place: int


class EdgeFit:
    """The fit of every edge type to the words around one anchor."""

    def __init__(self, question: Understanding, at: int | None, vocabulary: SchemaWords) -> None:
        """Fit edges to the words around the anchor of this place; to all words where `at` is None."""
        reading, anchors = question.reading, question.anchors
        self._reading, self._vocabulary = reading, vocabulary
        self._first = len(reading.words) if at is None else anchors[at].first
        taken = {place for anchor in anchors for place in anchor.words} | set(question.wanted.said_by)
        near = set(range(len(reading.words))) if at is None else _beside(reading, anchors, at)
        self._words = [
            _Place(word.stem, place, 1.0 if place in near else _ELSEWHERE)
            for place, word in enumerate(reading.words)
            if place not in taken and not word.is_stop
        ]
        self._matches = [self._of(labels) for labels in vocabulary.edge_labels]
        near_words = [word.place for word in self._words if word.weight == 1.0]
        self._verb = near_words[-1] if near_words else -1
        """The place of the word that most likely says the relation, where none is an edge type's."""
        self._fits: dict[tuple[int, int], dict[SchemaHop, float]] = {}

    def _of(self, labels: Sequence[Label]) -> _LabelMatch:
        return max((self._match(label) for label in labels), default=_LabelMatch(0.0, -1))

    def _match(self, label: Label) -> _LabelMatch:
        total, last = 0.0, -1
        for stem in label.stems:
            likenesses = ((word.weight * alike(word.stem, stem), word.place) for word in self._words)
            likeness, place = max(likenesses, default=(0.0, -1))
            total += likeness
            last = place if likeness else last
        return _LabelMatch(total / len(label.stems), last)

    def said(self, hops: Sequence[SchemaHop]) -> int | None:
        """Return the place of the word that names the best fitting edges of these; None where none is named."""
        matches = [self._matches[hop.kind >> 1] for hop in hops]
        best = max(matches, key=lambda match: match.fit, default=_LabelMatch(0.0, -1))
        return best.place if best.fit >= _MATCHED else None

    def targets(self, hops: Sequence[SchemaHop]) -> dict[int, float]:
        """Return the node types that the edges named in the question lead to, with how well they are named."""
        types: dict[int, float] = {}
        for hop in hops:
            match = self._matches[hop.kind >> 1]
            if match.fit >= _MATCHED:
                types[hop.target] = max(types.get(hop.target, 0.0), match.fit)
        best = max(types.values(), default=0.0)
        return {target: fit for target, fit in types.items() if fit >= best - _EDGE_FIT_ALIKE}

    def fits(self, source: int, target: int) -> dict[SchemaHop, float]:
        """Return the fit of each of the ways from nodes of a type to nodes of another."""
        if (source, target) not in self._fits:
            self._fits[source, target] = self._fitted(source, self._vocabulary.hops_to[source][target])
        return self._fits[source, target]

    def _fitted(self, source: int, hops: Sequence[SchemaHop]) -> dict[SchemaHop, float]:
        best = max(self._matches[hop.kind >> 1].fit for hop in hops)
        fits: dict[SchemaHop, float] = {}
        for hop in hops:
            fit = _NONE_NAMED
            if best >= _MATCHED:
                fit = 1.0 if self._matches[hop.kind >> 1].fit >= best - _EDGE_FIT_ALIKE else _OTHER_NAMED
            if fit == 1.0 and self._is_part_of_another(hop, hops, best):
                fit = _PART
            fits[hop] = fit * self._direction(hop, source)
        return fits

    def _is_part_of_another(self, hop: SchemaHop, hops: Sequence[SchemaHop], best: float) -> bool:
        """Tell whether another edge type says all that this one does and more: `regulates`, `regulates twice`."""
        mine = self._content(hop.kind)
        return any(
            mine < self._content(other.kind)
            for other in hops
            if self._matches[other.kind >> 1].fit >= best - _EDGE_FIT_ALIKE
        )

    def _content(self, kind: int) -> frozenset[str]:
        return frozenset(stem for label in self._vocabulary.edge_labels[kind >> 1][:1] for stem in label.stems)

    def _direction(self, hop: SchemaHop, source: int) -> float:
        """Return 1, or less where both directions join the same types and the words tell against this one."""
        if hop.target != source or self._vocabulary.is_symmetric(hop.kind):
            return 1.0
        place = self._matches[hop.kind >> 1].place
        if self._matches[hop.kind >> 1].fit < _MATCHED:
            return 1.0 if self._towards_anchor(self._verb, ()) == bool(hop.kind & 1) else _AGAINST_UNNAMED
        label = {word for form in self._vocabulary.edge_labels[hop.kind >> 1] for word in form.words}
        if self._next(place) == "with" and "with" not in label:
            return 1.0
        return 1.0 if self._towards_anchor(place, label) == bool(hop.kind & 1) else _AGAINST

    def _towards_anchor(self, place: int, label: Iterable[str]) -> bool:
        """Tell whether edges go from what is asked for to the anchor: the relation is said before the anchor."""
        label = set(label)
        is_before = place < self._first
        after = self._next(place)
        if (after == "by") != ("by" in label):
            return not is_before
        if after == "of" and is_before and not label & english.STOP and self._is_bare(label):
            return False  # "the capital of X": X has it
        return is_before

    def _next(self, place: int) -> str:
        words = self._reading.words
        return words[place + 1].text if 0 <= place < len(words) - 1 else ""

    def _is_bare(self, label: Iterable[str]) -> bool:
        """Tell whether a label is a plain noun, not a verb in the third person or a participle."""
        return bool(label) and all(not word.endswith(("s", "ed", "ing")) for word in label)


def named_by_edges(question: Understanding, graph: Graph, vocabulary: SchemaWords) -> dict[int, float]:
    """Return the node types that the edges named in a question lead to ("who designed X"), with how sure each is."""
    types: dict[int, float] = {}
    for at, anchor in enumerate(question.anchors):
        fit = EdgeFit(question, at, vocabulary)
        for source in {int(graph.arrays.node_types[candidate.row]) for candidate in anchor.candidates}:
            for target, likeness in fit.targets(vocabulary.hops[source]).items():
                types[target] = max(types.get(target, 0.0), _BY_EDGE * likeness)
    best = max(types.values(), default=0.0)
    return {number: sureness for number, sureness in types.items() if sureness == best}


def _beside(reading: QuestionWords, anchors: Sequence[LinkedPhrase], at: int) -> set[int]:
    """Return the places of the words beside an anchor: its own clause, up to the next anchor on either side."""
    anchor = anchors[at]
    low = anchors[at - 1].last if at else 0
    high = anchors[at + 1].first if at + 1 < len(anchors) else len(reading.words)
    before = _back(reading, anchor.first, low)
    if at and not before and all(word.text in english.JOINING for word in reading.words[low : anchor.first]):
        before = _beside(reading, anchors, at - 1)
    after: set[int] = set()
    for place in range(anchor.last, high):
        if reading.words[place].text in english.CLAUSE or reading.words[place].after_comma:
            break
        after.add(place)
    return before | after


def _back(reading: QuestionWords, first: int, low: int) -> set[int]:
    """Return the places before an anchor back to the beginning of its clause."""
    places: set[int] = set()
    for place in range(first - 1, low - 1, -1):
        if reading.words[place].text in english.CLAUSE:
            break
        places.add(place)
        if reading.words[place].after_comma:
            break
    return {place for place in places if not reading.words[place].is_stop}
