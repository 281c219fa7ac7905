"""Places within places, and relations over any number of steps: `stadiums in Northshire`, `parts of X at any depth`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from orienteer.reading.executor import Executor
from orienteer.reading.lexicon import Lexicon
from orienteer.reading.query import Among, Condition, Either, ExactQuery, Joined, NodeSet
from orienteer.reading.relations import SchemaRelations, turned
from orienteer.reading.vocabulary import ENGLISH, WORDS


class Widened(NamedTuple):
    """A query over any number of steps."""

    query: ExactQuery
    names: tuple[str, ...]
    """Places of which what is part of them is meant as well."""
    deep: int
    """How many relations lead over several steps."""


class Nesting:
    """Tells which edges of one graph lead from a part to the whole, and widens queries by them."""

    def __init__(self, lexicon: Lexicon, relations: SchemaRelations) -> None:
        self._graph, self._relations, self._hops = lexicon.graph, relations, lexicon.vocabulary.hops
        self._lying = frozenset(_called(lexicon, "lies in", 0))
        labels = lexicon.vocabulary.node_labels
        places = [
            kind
            for kind in lexicon.places
            if not any(label.words[-1] in WORDS["places of bodies"] for label in labels[kind])
        ]
        between = {  # districts that lead by `city` to a city are in it
            hop.kind
            for source in places
            for hop in self._hops[source]
            if hop.target in places and source != hop.target and not hop.kind & 1
            if relations.labels.is_called_as(hop.kind >> 1, [hop.target])
        }
        self._containing = self._lying.union(
            between, _called(lexicon, "part of whole", 0), _called(lexicon, "has as part", 1)
        )
        self.places = {kind: kinds for kind in places if (kinds := self._own(kind, self._containing))}
        """By type of places within others of it, the kinds of edges that lead to those."""
        others = {kind: self._own(kind, self._lying) for kind in range(len(self._hops)) if kind not in self.places}
        self.places |= {kind: kinds for kind, kinds in others.items() if kinds}

    def _own(self, kind: int, kinds: Collection[int]) -> tuple[int, ...]:
        own = sorted({hop.kind for hop in self._hops[kind] if hop.target == kind and hop.kind in kinds})
        onward = [one for one in own if not one & 1]  # `contains` beside `part_of` says the same
        return tuple(onward or own)

    def inward(self, types: Iterable[int]) -> tuple[int, ...]:
        """Return the kinds of all edges by which things are in nodes of some types, or in what is in them."""
        reached, kinds, front = set(types), set[int](), True
        while front:
            found = {
                (source, hop.kind)
                for source, hops in enumerate(self._hops)
                for hop in hops
                if hop.kind in self._containing and hop.target in reached
            }
            front = not {source for source, _ in found} <= reached
            reached |= {source for source, _ in found}
            kinds = {kind for _, kind in found}
        return tuple(sorted(kinds))

    def _outward(self, types: Iterable[int]) -> tuple[int, ...]:
        """Return the kinds of edges by which places of some types lead to those around them."""
        return tuple(sorted({kind for one in types for kind in self.places.get(one, ())}))

    def _number(self, condition: Condition) -> int:
        """Return how many nodes meet a condition."""
        return len(Executor(self._graph).run(ExactQuery("list", NodeSet(conditions=(condition,)))).rows)

    def whole_of(self, types: Collection[int], named: NodeSet) -> NodeSet | None:
        """Return the places of some types that named ones are part of; None where none may be."""
        own = frozenset(types) & self._relations.types_of(named)
        kinds = turned(self._outward(own))
        return NodeSet(own, (Joined(kinds, named),)) if kinds else None

    def are_in(self, kinds: Iterable[int]) -> bool:
        """Return whether edges lead from what is in a place to it."""
        return any(kind in self._containing for kind in kinds)

    def widened(self, query: ExactQuery, within: Collection[int] | None, *, is_far: bool) -> Widened:
        """Return a query in which what is `within` some places is in whatever lies in them, too; not so if it is None.

        If it `is_far`, relations between nodes of one type lead over any number of steps.
        """
        widening = _Widening(self, within, is_far=is_far)
        nodes = widening.of_set(query.nodes)
        other = None if query.other is None else widening.of_set(query.other)
        return Widened(replace(query, nodes=nodes, other=other), tuple(widening.names), widening.deep)

    def is_placing(self, kinds: Collection[int]) -> bool:
        """Return whether edges say by themselves where things are: `located_in`."""
        return set(kinds) <= self._lying

    def deepened(self, condition: Joined, is_plain: bool, found: dict[str, None]) -> Joined:
        """Return a relation to places that leads to what is in them as well; itself if nothing is."""
        target = condition.target
        types = self._relations.types_of(target)
        kinds = self._outward(types)
        if not kinds or condition.is_far or any(kind ^ 1 in kinds for kind in condition.kinds):
            return condition
        inner = Joined(kinds, NodeSet(conditions=(Among(target.named),)), is_far=True)
        own = set(condition.kinds) <= set(kinds)
        if own and not is_plain:
            return condition
        if self._number(inner) == (self._number(replace(inner, is_far=False)) if own else 0):
            return condition
        found |= dict.fromkeys(self._graph.arrays.names[row] for row in target.named)
        if own:
            return replace(condition, is_far=True)
        within = Either(((Among(target.named),), (inner,)))
        return replace(condition, target=NodeSet(types, (within,)))

    def inherited(self, condition: Joined, nodes: NodeSet, found: dict[str, None]) -> Condition:
        """Return the condition that nodes are in a place, or in what is in it: a district in a district of the city."""
        named = [one for one in nodes.conditions if isinstance(one, Among) and not one.negated]
        types = self._relations.types_of(replace(nodes, conditions=tuple(named[:1])))
        kinds = self._outward(types)
        if not kinds or not self.are_in(condition.kinds) or condition.is_far or not types <= self.places.keys():
            return condition
        plain = replace(condition, negated=False)
        inner = Joined(kinds, NodeSet(types, (plain,)), is_far=True)
        if not self._number(inner):
            return condition
        found |= dict.fromkeys(self._graph.arrays.names[row] for row in condition.target.named)
        return Either(((plain,), (inner,)), negated=condition.negated)

    def are_of_one_type(self, kinds: Collection[int]) -> bool:
        """Return whether edges join nodes of one type."""
        return any(hop.target == source and hop.kind in kinds for source, hops in enumerate(self._hops) for hop in hops)


class _Widening:
    """One query that is widened, and what was found on the way."""

    def __init__(self, nesting: Nesting, within: Collection[int] | None, *, is_far: bool) -> None:
        self._nesting, self._within, self._is_far = nesting, within, is_far
        self.names: dict[str, None] = {}
        self.deep = 0

    def of_set(self, nodes: NodeSet) -> NodeSet:
        """Return a set with all that is said of it widened."""
        best = nodes.best
        if best is not None and best.measure.target is not None:
            best = replace(best, measure=replace(best.measure, target=self.of_set(best.measure.target)))
        conditions = tuple(self._of_condition(condition, nodes) for condition in nodes.conditions)
        return replace(nodes, conditions=conditions, best=best)

    def _of_condition(self, condition: Condition, nodes: NodeSet) -> Condition:
        if isinstance(condition, Either):
            options = tuple(tuple(self._of_condition(one, nodes) for one in option) for option in condition.options)
            return replace(condition, options=options)
        if not isinstance(condition, Joined):
            return condition
        is_plain = condition.comparison is None and condition.extent == "some" and not condition.where
        if self._is_far and is_plain and self._nesting.are_of_one_type(condition.kinds):
            condition, self.deep = replace(condition, is_far=True), self.deep + 1
        named, within = condition.target.named, self._within
        is_within = within is not None and (set(named) <= set(within) or self._nesting.is_placing(condition.kinds))
        if not named or not is_within:
            return replace(condition, target=self.of_set(condition.target))
        deepened = self._nesting.deepened(condition, is_plain, self.names)
        return self._nesting.inherited(deepened, nodes, self.names) if deepened == condition and is_plain else deepened


def _called(lexicon: Lexicon, key: str, turned: int) -> Iterator[int]:
    """Yield the kinds of edges that are called by a phrase of a key, with or without a kind: `parent_region`."""
    vocabulary = lexicon.vocabulary
    kinds = {word for labels in vocabulary.node_labels for label in labels for word in label.words}
    for edge, labels in enumerate(vocabulary.edge_labels):
        for label in labels:
            texts = (" ".join(label.words), " ".join(word for word in label.words if word not in kinds))
            if not set(ENGLISH.phrases[key]).isdisjoint(texts):
                yield edge * 2 + turned
