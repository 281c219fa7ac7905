"""What nodes are ranked by: `treats the most diseases`, `with the highest fee`, `do the most packages depend on`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orienteer.reading.context import Parse
from orienteer.reading.edge_labels import Voice
from orienteer.reading.function_words import ANYONE_ELSE, AUXILIARIES, OTHERS, PREPOSITIONS, RELATIVE, words_of
from orienteer.reading.joints import Joints, measured, most
from orienteer.reading.lexicon import EdgeUnit
from orienteer.reading.properties import Ground, PropertyClauses
from orienteer.reading.query import Best, Measure, NodeSet
from orienteer.reading.relations import Relation
from orienteer.reading.thesaurus import MORE, MOST

_COUNTED = words_of("most least fewest more fewer less")
"""Words that count the things behind them; others need `number of`."""
_ARTICLES = words_of("the their its highest largest total a an")
_BEHIND_VERBS = words_of("on to with in for by")
_THERE = words_of("there it them")
_THEM = words_of("it them him her")


class Rankings:
    """Reads what nodes are compared by, and which of them have the most of it, in one question."""

    def __init__(self, ground: Ground, properties: PropertyClauses, joints: Joints) -> None:
        self._context, self._relations, self._phrases = ground
        self._properties, self._joints = properties, joints

    # ---------------------------------------------------------------------------------------------------- measures

    def measures(self, place: int, nodes: NodeSet) -> Iterator[Parse[Measure]]:
        """Yield what nodes are ranked by: a property, or a number of things."""
        begin = self._context.skip(place, _ARTICLES)
        for facts, last, cost in self._properties.named(begin, nodes):
            if facts.is_measured:
                yield Parse(last, Measure(property=facts.name), cost)
        begin = self._context.starts(begin, "number of", "count of", "how many") or begin
        yield from self._related_kinds(begin, nodes)
        for head in self._phrases.heads(begin):
            yield from self._things_had(head, nodes)
            yield from self._things_done(head, nodes)
        for unit in self._context.units.edges.get(begin, ()):
            for relation in self._phrases.having(nodes, unit, NodeSet()):
                yield measured(relation, unit.last, 0.1)

    def _related_kinds(self, place: int, nodes: NodeSet) -> Iterator[Parse[Measure]]:
        """Yield `associated genes`."""
        for unit in self._context.units.edges.get(place, ()):
            for head in self._phrases.heads(unit.last):
                for relation in self._phrases.having(nodes, unit, head.value):
                    yield measured(relation, head.last, head.cost)

    def _things_had(self, head: Parse[NodeSet], nodes: NodeSet) -> Iterator[Parse[Measure]]:
        """Yield `genes`, `genes that cause X`, `genes they have`."""
        for counted in self._context.described(head):
            for relation in self._counting(nodes, counted.value):
                last = self._context.starts(counted.last, "count", "they have", "it has") or counted.last
                yield measured(relation, last, counted.cost)

    def _counting(self, nodes: NodeSet, counted: NodeSet) -> Iterator[Relation]:
        """Yield the relation of nodes to what they have so many of: an edge joins them."""
        return (one for one in self._relations.unnamed(nodes, "with", counted) if not one.target.is_between)

    def _things_done(self, head: Parse[NodeSet], nodes: NodeSet) -> Iterator[Parse[Measure]]:
        """Yield `diseases they treat`, `packages it depends on`."""
        behind = self._context.skip(head.last, AUXILIARIES | RELATIVE | {"they", "it"})
        for unit in self._context.units.edges.get(behind, ()):
            for relation in self._relations.named(nodes, unit.edges, Voice.SUBJECT, head.value):
                yield measured(relation, unit.last + (self._context.at(unit.last) in _BEHIND_VERBS), head.cost)
            there = self._context.skip(unit.last, PREPOSITIONS)
            if self._context.at(there) in _THERE:  # "ships that call there"
                for relation in self._relations.named(nodes, unit.edges, Voice.OBJECT, head.value):
                    yield measured(relation, there + 1, head.cost)

    # ------------------------------------------------------------------------------------------------- superlatives

    def most_done(self, place: int, nodes: NodeSet, verb: EdgeUnit, frame: Voice) -> Iterator[Parse[NodeSet]]:
        """Yield `[treats] the most diseases`, `[depends on] the fewest packages`, `[treats] more X than any other`."""
        begin = self._context.skip(place)
        word = self._context.at(begin)
        is_more = MOST.get(word, MORE.get(word))
        if is_more is None or nodes.best is not None:
            return
        number = self._context.starts(begin + 1, "number of", "count of")
        if number is None and word not in _COUNTED:
            return  # "the largest ship" is one, and no number of ships
        begin = number or begin + 1
        heads = self._phrases.heads(begin)
        counted = [further for head in heads for further in self._context.described(head)]
        for head in counted if heads else [Parse(begin, NodeSet(), 0.2)]:
            last = head.last if word in MOST else self._than_others(head.last)
            relation = next(self._relations.named(nodes, verb.edges, frame, head.value), None)
            if relation is not None and last is not None:
                yield most(relation, last, head.cost, descending=is_more)

    def _than_others(self, place: int) -> int | None:
        """Return where `than any other company` ends; None where nothing is compared with all others."""
        than = self._context.starts(place, "than")
        others = self._context.starts(than, *OTHERS, *ANYONE_ELSE) if than is not None else None
        last = self._properties.kind_behind(others) if others is not None else None
        return None if last is None else self._context.skip(last, ("does", "has", "did", "do", "is"))

    def most_doers(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield `do the most packages depend on`, `do most genes that X binds participate in`."""
        begin = self._context.skip(place)
        is_more = MOST.get(self._context.at(begin))
        number = self._context.starts(begin + 1, "number of", "count of")
        if is_more is None or (number is None and self._context.at(begin) not in _COUNTED):
            return
        heads = self._phrases.heads(number or begin + 1)
        for counted in [further for head in heads for further in self._context.described(head)]:
            for unit in self._context.units.edges.get(self._context.skip(counted.last, AUXILIARIES), ()):
                last = unit.last + (self._context.at(unit.last) in PREPOSITIONS)
                relation = next(self._relations.named(nodes, unit.edges, Voice.OBJECT, counted.value), None)
                if relation is not None and nodes.best is None:
                    yield most(relation, last, counted.cost, descending=is_more)

    def most_had(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield `[with] the most X`, `[has] the highest PROPERTY`, `[with] the largest number of X`."""
        begin = self._context.skip(place)
        word = self._context.at(begin)
        is_more = MOST.get(word, MORE.get(word))
        if nodes.best is not None:
            return
        yield from self._property_had(begin, nodes)
        if is_more is None:
            return
        if word not in MOST:
            yield from self._more_had(begin + 1, nodes, descending=is_more)
            return
        number = self._context.starts(begin + 1, "number of", "count of", "amount of")
        if number is None and word not in _COUNTED:
            return
        begin = number or begin + 1
        for measure in self._related_kinds(begin, nodes):
            ranked = replace(self._relations.able(nodes, measure.value), best=Best(measure.value, is_more))
            yield Parse(measure.last, ranked, measure.cost)
        for head in self._phrases.heads(begin):
            yield from self._most_things_had(head, nodes, descending=is_more)
            yield from self._most_things_behind(head, nodes, descending=is_more)
        for unit in self._context.units.edges.get(begin, ()):
            relation = next(self._phrases.having(nodes, unit, NodeSet()), None)
            if relation is not None:
                yield most(relation, unit.last, 0.1, descending=is_more)

    def most_in(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield `in the most orders`, `part of the most teams`: the only edge between them is meant."""
        begin = self._context.skip(self._context.end_of(place, "part of") or place)
        is_more = MOST.get(self._context.at(begin))
        if begin == place or is_more is None or nodes.best is not None or self._context.at(begin) not in _COUNTED:
            return
        for head in self._phrases.heads(begin + 1):
            yield from self._most_things_had(head, nodes, descending=is_more)

    def most_bare(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield `[department] most vehicles`: words for a search, without a verb, at the end."""
        if self._context.at(place) in MOST and nodes.types:
            for parse in self.most_had(place, nodes):
                if self._context.is_over(parse.last):  # "pathway most genes that are ... participate in" counts those
                    yield parse._replace(cost=parse.cost + 0.2)

    def _more_had(self, place: int, nodes: NodeSet, *, descending: bool) -> Iterator[Parse[NodeSet]]:
        """Yield `[has] more ships than any other company`."""
        for measure in self.measures(place, nodes):
            last = self._than_others(measure.last)
            if last is not None:
                ranked = replace(self._relations.able(nodes, measure.value), best=Best(measure.value, descending))
                yield Parse(last, ranked, measure.cost)

    def _property_had(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield `[with the] highest PROPERTY`, `[with the] oldest PROPERTY`."""
        is_more = MOST.get(self._context.at(place))
        if is_more is None:
            adjective = next((parse.value[0] for parse in self._phrases.superlative(place)), None)
            if adjective is None:
                return
            is_more = adjective.ascending
        numbers = self._context.starts(place + 1, "number of", "count of", "amount of", "total of")
        for facts, last, cost in self._properties.named(place + 1 if numbers is None else numbers, nodes):
            if facts.is_measured:  # "the biggest stadium" is no text
                yield Parse(last, replace(nodes, best=Best(Measure(property=facts.name), is_more)), cost)

    def _most_things_had(self, head: Parse[NodeSet], nodes: NodeSet, *, descending: bool) -> Iterator[Parse[NodeSet]]:
        """Yield `the most genes`, `the most genes that cause X`."""
        for counted in self._context.described(head):
            relation = next(self._counting(nodes, counted.value), None)
            if relation is not None:
                yield most(relation, counted.last, counted.cost - 0.1, descending=descending)
            else:
                self._joints.complain_of_many(nodes, counted.value, counted.last)

    def _most_things_behind(
        self, head: Parse[NodeSet], nodes: NodeSet, *, descending: bool
    ) -> Iterator[Parse[NodeSet]]:
        """Yield `the most genes participating in it`, `the most diseases associated with them`, `the most X brewed`."""
        begin = self._context.skip(head.last, AUXILIARIES | RELATIVE)
        for unit in self._context.units.edges.get(begin, ()):
            last = self._context.skip(self._context.skip(unit.last, PREPOSITIONS), _THEM)
            frame = Voice.PASSIVE_OBJECT if self._context.at(unit.last) == "by" else Voice.OBJECT
            relation = next(self._relations.named(nodes, unit.edges, frame, head.value), None)
            if relation is not None:
                yield most(relation, last, head.cost, descending=descending)
