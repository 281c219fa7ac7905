"""Clauses about what nodes have: `whose height is over 5 m`, `whose brewery is in Belgium`, `whose supervisor is X`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orienteer.reading.comparisons import count
from orienteer.reading.context import Parse
from orienteer.reading.edge_labels import Voice
from orienteer.reading.function_words import ADVERBIAL, AUXILIARIES, PREPOSITIONS, phrases_of
from orienteer.reading.joints import Joints, joined
from orienteer.reading.objects import ObjectLists
from orienteer.reading.properties import Ground, PropertyClauses
from orienteer.reading.query import Among, Best, Filled, Joined, NodeSet
from orienteer.reading.rankings import Rankings
from orienteer.reading.thesaurus import MOST

_WHOSE = phrases_of(
    """whose, where the, for which the, with a, having a, having the, and whose, that have a, which have a, for whom
    the, of which the, with the, where its, where their, for which"""
)

_WE_LACK = phrases_of(
    """not we have, we not have, we have no, there no, we lack, we are missing, we do not have, we do not know,
    we not know, not we know"""
)
_FIGURES = phrases_of(
    """a figure for, any figure for, a value for, any value for, an entry for, any entry for, a record of, any
        record of, data on, any data on, information on, figure for, figures for, value for, entry for, data for,
        record of"""
)
_MISSING = phrases_of(
    """missing, unknown, not known, not recorded, blank, not given, empty, lacking, not stated, not there"""
)


class Whose:
    """Reads clauses whose subject belongs to the nodes that are described, in one question."""

    def __init__(
        self, ground: Ground, properties: PropertyClauses, lists: ObjectLists, joints: Joints, rankings: Rankings
    ) -> None:
        self._context, self._relations, self._phrases = ground
        self._lists = lists
        self._properties, self._joints, self._rankings = properties, joints, rankings

    def said(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield `whose height is over 5 m`, `whose brewery is in Belgium`, `whose supervisor is X`."""
        yield from self._unknown_to_us(place, nodes)
        begin = self._context.starts(place, *_WHOSE)
        if begin is None:
            return
        yield from self._measure(begin, nodes)
        for named in self._properties.named(begin, nodes):
            yield from self._properties.described(named, nodes)
        yield from self._kind(begin, nodes)
        yield from self._edge_noun(begin, nodes)

    def _unknown_to_us(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield `[for which X] is the height missing`, `[for which X] do we not have a height`."""
        context = self._context
        begin = context.starts(context.skip(place, AUXILIARIES), *_WE_LACK)
        if begin is not None:
            begin = context.starts(begin, *_FIGURES) or begin
            for named in self._properties.named(begin, nodes):
                yield Parse(named.last, nodes.that(Filled(named.facts.name, negated=True)), named.cost)
        if context.at(place) in ("is", "are", "was"):
            for named in self._properties.named(place + 1, nodes):
                last = context.starts(named.last, *_MISSING)
                if last is not None:
                    yield Parse(last, nodes.that(Filled(named.facts.name, negated=True)), named.cost)

    def _measure(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield `[whose] number of genes is 5`, `[whose] height is the largest`."""
        context = self._context
        for measure in self._rankings.measures(context.skip(place, ("the",)), nodes):
            begin = context.skip(measure.last, ("is", "are", "was", "were", "of"))
            target = measure.value.target
            if target is not None:
                for amount in count(context, begin):
                    condition = Joined(measure.value.kinds, target, False, *amount.value)
                    yield Parse(amount.last, nodes.that(condition), measure.cost + amount.cost)
            most = context.skip(begin)
            is_more = MOST.get(context.at(most))
            if is_more is not None and nodes.best is None:
                yield Parse(most + 1, replace(nodes, best=Best(measure.value, is_more)), measure.cost)

    def _kind(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield `[whose] brewery is in Belgium`: a kind of things that one relation leads to."""
        for head in self._phrases.heads(place):
            relation = next(self._relations.unnamed(nodes, "", head.value, Voice.HAS_NOUN), None)
            if relation is None:
                self._joints.complain_of_many(nodes, head.value, place)
                continue
            for described in self._own_clause(head.last, relation.target):
                if described.value.best is None:
                    cost = head.cost + described.cost
                    yield joined(relation._replace(target=described.value), described.last, cost)

    def _edge_noun(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield `[whose] supervisor is X`: a noun that names edges."""
        for unit in self._context.units.edges.get(place, ()):
            relation = next(self._phrases.having(nodes, unit, NodeSet()), None)
            if relation is None:
                continue
            for described in self._own_clause(unit.last, relation.target):
                cut = next(self._phrases.having(nodes, unit, described.value), None)
                if cut is not None:
                    yield joined(cut, described.last, described.cost)
            denied = self._context.starts(unit.last, "is not", "are not", "was not", "were not")
            for other in self._context.nodes(denied) if denied is not None else ():
                cut = next(self._phrases.having(nodes, unit, other.value), None)
                if cut is not None and other.value.named:
                    yield joined(cut, other.last, other.cost, is_denied=True)

    def _own_clause(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield what a clause says of its own subject: `is X`, `is in Y`, `treats Z`, `took place at X`."""
        yield from self._context.modifiers(place, nodes)
        begin = self._context.skip(place, AUXILIARIES)
        begin = self._context.skip(self._context.starts(begin, *ADVERBIAL) or begin, PREPOSITIONS)
        for named in self._context.nodes(begin):
            if named.value.named:
                yield named
        for objects in self._lists.objects(begin):
            rows = tuple(row for member in objects.value.members for row in member.nodes.named)
            if (
                objects.value.any
                and len(objects.value.members) > 1
                and all(m.nodes.named for m in objects.value.members)
            ):
                yield Parse(objects.last, NodeSet(conditions=(Among(rows),)), objects.cost)
