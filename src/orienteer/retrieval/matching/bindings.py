"""The matches of triples, as bindings of their variables and as evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.store import Graph
from orienteer.retrieval.evidence import EdgePath, Evidence, Scored
from orienteer.retrieval.matching.partners import Surroundings
from orienteer.retrieval.matching.predicate import PredicateFit
from orienteer.retrieval.matching.slots import Slot
from orienteer.retrieval.query import Spaces

_T = TypeVar("_T")

UNBOUND = -1
NO_WAY = int(np.iinfo(np.int64).min)
"""The way of a triple that is not matched, or not yet."""
_SHOWN = 50  # answers whose edges are shown as evidence


class TriplePattern(NamedTuple):
    """A triple as a model wrote it. `?name`, `Entity#2` and `#1` are variables, and so is the name of a type alone."""

    subject: str
    predicate: str
    object: str

    def __str__(self) -> str:
        return f"({self.subject}, {self.predicate}, {self.object})"


class TripleMatch(NamedTuple):
    """What matches triples in a graph."""

    bindings: tuple[tuple[Mapping[str, str], float], ...]
    """Node id by variable as it is first written, and the score, best first; (({}, score),) for triples without any."""
    evidence: Evidence
    reason: str = ""
    """Names that could not be linked and triples that nothing matches, in words."""
    sound: tuple[Mapping[str, str], ...] = ()
    """The bindings, best first, for which an edge or a fact says each triple's predicate.

    The others are guesses by nearness: evidence to be read, nothing to put in a variable's place. Among the passages of
    a graph without entities all are guesses.
    """


class States(NamedTuple):
    """Partial answers, best first."""

    rows: NDArray[np.int32]  # (states, slots): what each end is, `UNBOUND` before it is known
    scores: NDArray[np.float64]
    ways: NDArray[np.int64]  # (states, triples): as `Partners.at`, else `NO_WAY`
    sound: NDArray[np.bool_]  # (states,): every triple so far is matched by what says its predicate

    def best(self, most: int) -> States:
        """Return the best; ties go to the smaller rows."""
        order = np.lexsort((*self.rows.T[::-1], -self.scores))[:most]
        return States(self.rows[order], self.scores[order], self.ways[order], self.sound[order])


@dataclass(frozen=True, slots=True)
class TripleJoin:
    """How triples were matched: what evidence is made of."""

    patterns: Sequence[TriplePattern]
    slots: Sequence[Slot]
    ends: Sequence[tuple[int, int]]
    """Numbers of the slots of each triple."""
    fits: Sequence[PredicateFit]
    states: States
    missed: Sequence[int]
    """Triples that nothing matches."""


def match_of(spaces: Spaces, surroundings: Surroundings, joined: TripleJoin) -> TripleMatch:
    """Return the bindings of variables, each once, and the evidence for them."""
    scores: dict[tuple[tuple[str, str], ...], float] = {}
    sound = dict.fromkeys(scores)
    variables = [
        (number, slot.written) for number, slot in enumerate(joined.slots) if slot.is_variable and slot.written
    ]
    states = joined.states
    if len(joined.missed) < len(joined.patterns):
        for row, score, is_sound in zip(states.rows.tolist(), states.scores.tolist(), states.sound, strict=True):
            binding = tuple((name, spaces.graph.arrays.ids[row[at]]) for at, name in variables if row[at] != UNBOUND)
            scores.setdefault(binding, score)
            if is_sound:
                sound[binding] = None
    reason = _reason(joined)
    evidence = _EvidenceBuilder(spaces, surroundings, joined).evidence(reason)
    bindings = tuple((dict(binding), score) for binding, score in scores.items())
    return TripleMatch(bindings, evidence, reason, tuple(map(dict, sound)))


def _reason(joined: TripleJoin) -> str:
    if not joined.patterns:
        return "there is no triple to match"
    unlinked = [f"nothing in the graph is named {slot.written!r}" for slot in joined.slots if slot.is_unlinked]
    reasons = []
    for number in joined.missed:
        ends = [joined.slots[end] for end in joined.ends[number]]
        if not any(slot.is_unlinked for slot in ends):
            has_known_end = any(
                joined.states.rows[0, end] != UNBOUND or len(joined.slots[end].rows) for end in joined.ends[number]
            )
            fault = "is matched by nothing" if has_known_end else "has no end that is known"
            reasons.append(f"{joined.patterns[number]} {fault}")
    return "; ".join((*unlinked, *reasons))


class _EvidenceBuilder:
    """Collects the nodes, edges, facts and paths of answers, each once with the score of the best answer."""

    def __init__(self, spaces: Spaces, surroundings: Surroundings, joined: TripleJoin) -> None:
        self._spaces, self._surroundings, self._joined = spaces, surroundings, joined
        self._graph: Graph = spaces.graph
        self._nodes: dict[int, tuple[float, str]] = {}
        self._edges: dict[int, tuple[float, str]] = {}
        self._paths: dict[tuple[int, ...], tuple[float, str]] = {}

    def evidence(self, reason: str) -> Evidence:
        """Return the evidence of the first answers; without any, the linked nodes."""
        states = self._joined.states
        for number in range(min(_SHOWN, len(states.scores))):
            self._add_answer(states.rows[number], states.ways[number].tolist(), float(states.scores[number]))
        nodes = [self._spaces.node(row, *reason) for row, reason in self._nodes.items()]
        edges = [Scored(self._graph.arrays.edge(*self._place(at), at), *reason) for at, reason in self._edges.items()]
        paths = [Scored(self._path(walk), *reason) for walk, reason in self._paths.items()]
        return Evidence(_best_first(nodes), _best_first(edges), _best_first(paths), reason)

    def _add_answer(self, rows: NDArray[np.int32], ways: Sequence[int], score: float) -> None:
        """Take in one answer. A better one has come before."""
        for slot, row in zip(self._joined.slots, rows.tolist(), strict=True):
            if row != UNBOUND:
                why = f"bound to {slot.written or 'an end'}" if slot.is_variable else f"named {slot.written!r}"
                self._nodes.setdefault(row, (score, why))
            for node, share in zip(slot.rows.tolist(), slot.shares.tolist(), strict=True):
                if row == UNBOUND:
                    self._nodes.setdefault(node, (score * share, f"named {slot.written!r}"))
        for triple, at in enumerate(ways):
            if at == NO_WAY:
                continue
            subject, other = (int(rows[end]) for end in self._joined.ends[triple])
            if at >= 0:
                self._add_edges(at, triple, subject, score)
            for walk in self._surroundings.ways[~at].paths if at < 0 else ():
                self._paths.setdefault(walk, (score, f"a path for {self._joined.patterns[triple]}"))
            if self._spaces.facts.any():
                self._add_facts(at, triple, (subject, other), score)

    def _add_edges(self, at: int, triple: int, subject: int, score: float) -> None:
        """Take in the edge at a place, with those parallel to it."""
        adjacency, fit = self._graph.arrays.adjacency, self._joined.fits[triple]
        owner, neighbor, kind = self._place(at)
        fits = fit.kinds_from(owner == subject)
        why = str(self._joined.patterns[triple])
        if fits[kind] == 0:
            is_said = not fit.is_open and self._surroundings.edge_share(at, fit) > 0
            why += "; by its text" if is_said else "; predicate unmatched"
        elif fits[kind] < fits[kind ^ 1]:
            why += "; against its direction"
        for parallel in adjacency.between(*sorted((owner, neighbor))).at.tolist():
            if int(adjacency.kind[parallel]) == (kind if owner < neighbor else kind ^ 1):
                self._edges.setdefault(parallel, (score, why))

    def _add_facts(self, at: int, triple: int, ends: tuple[int, int], score: float) -> None:
        """Take in the facts with both ends as members, as far as they say most of the predicate."""
        joining = self._surroundings.ways[~at].fact if at < 0 else None
        facts = self._surroundings.facts(*ends).tolist()
        texts = [self._graph.arrays.texts[fact] or self._graph.arrays.names[fact] for fact in facts]
        shares = dict(zip(facts, map(self._joined.fits[triple].share_in, texts), strict=True))
        for fact, share in shares.items():
            if share == max(shares.values()) and (share > 0 or fact == joining):
                pattern = self._joined.patterns[triple]
                why = f"states {pattern}" if share > 0 else f"has both ends of {pattern}; predicate unmatched"
                self._nodes.setdefault(fact, (score * (1 + share) / 2, why))

    def _place(self, at: int) -> tuple[int, int, int]:
        """Return the owner, the neighbour and the kind of the edge at a place of the adjacency arrays."""
        adjacency = self._graph.arrays.adjacency
        return int(adjacency.indptr.searchsorted(at, "right")) - 1, int(adjacency.neighbor[at]), int(adjacency.kind[at])

    def _path(self, walk: tuple[int, ...]) -> EdgePath:
        """Return one edge for each step of a walk."""
        steps = zip(walk, walk[1:], strict=False)
        return tuple(self._graph.arrays.edges_between(row, np.array([after], np.int32))[0] for row, after in steps)


def _best_first(items: list[Scored[_T]]) -> tuple[Scored[_T], ...]:
    return tuple(sorted(items, key=lambda item: -item.score))
