"""Places within places, and relations over any number of steps: `stadiums in Northshire`, `parts of X at any depth`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from orienteer.reading.lexicon import Lexicon
from orienteer.reading.query import Among, Condition, Either, ExactQuery, Executor, Joined, NodeSet
from orienteer.reading.relations import SchemaRelations
from orienteer.reading.rules import Context, Parse, part
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
        self._containing = self._lying.union(_called(lexicon, "part of whole", 0), _called(lexicon, "has as part", 1))
        self.places = {kind: kinds for kind in lexicon.places if (kinds := self._own(kind, self._containing))}
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

    def widened(self, query: ExactQuery, within: Collection[int] | None, *, is_far: bool) -> Widened:
        """Return a query in which what is `within` some places is in whatever lies in them, too; not so if it is None.

        If it `is_far`, relations between nodes of one type lead over any number of steps.
        """
        found: dict[str, None] = {}
        far: list[Joined] = []

        def of_set(nodes: NodeSet) -> NodeSet:
            best = nodes.best
            if best is not None and best.measure.target is not None:
                best = replace(best, measure=replace(best.measure, target=of_set(best.measure.target)))
            conditions = tuple(of_condition(one, nodes) for one in nodes.conditions)
            return (
                nodes
                if conditions == nodes.conditions and best == nodes.best
                else replace(nodes, conditions=conditions, best=best)
            )

        def of_condition(condition: Condition, nodes: NodeSet) -> Condition:
            if isinstance(condition, Either):
                options = tuple(tuple(of_condition(one, nodes) for one in option) for option in condition.options)
                return condition if options == condition.options else replace(condition, options=options)
            if not isinstance(condition, Joined):
                return condition
            is_plain = condition.comparison is None and condition.extent == "some" and not condition.where
            if is_far and is_plain and self._are_of_one_type(condition.kinds):
                condition = replace(condition, is_far=True)
                far.append(condition)
            target = condition.target
            is_within = set(target.named) <= set(within or ()) or (
                within is not None and set(condition.kinds) <= self._lying
            )
            if not target.named or not is_within:
                inner = of_set(target)
                return condition if inner == target else replace(condition, target=inner)
            return self._within(condition, is_plain, found)

        nodes = of_set(query.nodes)
        other = None if query.other is None else of_set(query.other)
        return Widened(replace(query, nodes=nodes, other=other), tuple(found), len(far))

    def _within(self, condition: Joined, is_plain: bool, found: dict[str, None]) -> Joined:
        """Return a relation to places that leads to what is in them as well; itself if nothing is."""
        target = condition.target
        types = self._relations.types_of(target)
        kinds = tuple(sorted({kind for one in types for kind in self.places.get(one, ())}))
        if not kinds or condition.is_far or any(kind ^ 1 in kinds for kind in condition.kinds):
            return condition
        inner = Joined(kinds, NodeSet(conditions=(Among(target.named),)), is_far=True)
        own = set(condition.kinds) <= set(kinds)
        if own and not is_plain:
            return condition
        executor = Executor(self._graph)
        deep = len(executor.run(ExactQuery("list", NodeSet(conditions=(inner,)))).rows)
        near = len(executor.run(ExactQuery("list", NodeSet(conditions=(replace(inner, is_far=False),)))).rows)
        if deep == (near if own else 0):
            return condition
        found |= dict.fromkeys(self._graph.arrays.names[row] for row in target.named)
        if own:
            return replace(condition, is_far=True)
        within = Either(((Among(target.named),), (inner,)))
        return replace(condition, target=NodeSet(types, (within,)))

    def _are_of_one_type(self, kinds: Collection[int]) -> bool:
        """Return whether edges join nodes of one type."""
        return any(hop.target == source and hop.kind in kinds for source, hops in enumerate(self._hops) for hop in hops)


def _called(lexicon: Lexicon, key: str, turned: int) -> Iterator[int]:
    """Yield the kinds of edges that are called by a phrase of a key, with or without a kind: `parent_region`."""
    vocabulary = lexicon.vocabulary
    kinds = {word for labels in vocabulary.node_labels for label in labels for word in label.words}
    for edge, labels in enumerate(vocabulary.edge_labels):
        for label in labels:
            texts = (" ".join(label.words), " ".join(word for word in label.words if word not in kinds))
            if not set(ENGLISH.phrases[key]).isdisjoint(texts):
                yield edge * 2 + turned


def rows_within(context: Context) -> frozenset[int] | None:
    """Return the nodes whose names stand behind a word for being in a place: `in`, `from`; None of `directly in`."""
    if "directly" in context.words:
        return None
    units = context.units.names
    return frozenset(
        row for place in units for unit in units[place] if _is_behind_in(context, place) for row in unit.rows
    )


def _is_behind_in(context: Context, place: int) -> bool:
    kinds = {last - 1 for units in context.units.types.values() for last in (unit.last for unit in units)}
    at = place - 1
    while at >= 0 and (context.at(at) in WORDS["determiners"] or at in kinds or context.at(at) == "of"):
        if context.at(at) == "of" and at - 1 not in kinds:
            return False
        at -= 1
    if context.at(at) in WORDS["in places"] or context.at(at) == "outside":
        return True
    behind = at + (context.at(at) not in ("and", "or"))
    is_joined = behind == at or (behind < context.end and context.reading.words[behind].after_comma)
    firsts = [first for first, units in context.units.names.items() for unit in units if unit.last == behind]
    return is_joined and any(first < place and _is_behind_in(context, first) for first in firsts)


@part
def inside_it(context: Context, place: int, nodes: NodeSet, one: NodeSet) -> Parse[NodeSet] | None:
    """Read nothing: the places of a type that are part of others of it."""
    types = context.relations.types_of(nodes) & context.relations.types_of(one)
    kinds = tuple(sorted({kind for own in types for kind in context.nesting.places.get(own, ())}))
    if not kinds or not (nodes.types or nodes.named):
        return None
    return Parse(place, (nodes if nodes.named else replace(nodes, types=types)).that(Joined(kinds, one)), 0.2)


@part
def all_inside(context: Context, place: int, one: NodeSet) -> Parse[NodeSet] | None:
    """Read nothing: whatever is in named places, or in what is in them."""
    types = context.relations.types_of(one)
    kinds = context.nesting.inward(types)
    own = tuple(sorted({kind for kind in kinds for of in types if kind in context.nesting.places.get(of, ())}))
    others = tuple(kind for kind in kinds if kind not in own)
    if len({kind & 1 for kind in kinds}) == 1:  # a line says one direction
        return Parse(place, NodeSet(conditions=(Joined(kinds, one, is_far=True),)), 0.0)
    if not own or len({kind & 1 for kind in others}) != 1:
        return None
    inner = Joined(own, one, is_far=True)
    within = NodeSet(types, (Either(((Among(one.named),), (inner,))),))
    return Parse(place, NodeSet(conditions=(Either(((inner,), (Joined(others, within, is_far=True),))),)), 0.0)
