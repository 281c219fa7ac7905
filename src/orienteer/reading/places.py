"""Prepositions without a verb, and names without either: `in Belgium`, `for asthma or migraine`, `telescopes X`."""

from __future__ import annotations

from collections.abc import Iterator

from orienteer.reading.comparisons import compared, compared_twice
from orienteer.reading.context import Parse
from orienteer.reading.edge_labels import Voice
from orienteer.reading.function_words import DETERMINERS, PREPOSITIONS, words_of
from orienteer.reading.joints import Joints, denied, joined
from orienteer.reading.objects import ObjectLists
from orienteer.reading.properties import Ground, PropertyClauses
from orienteer.reading.query import NodeSet
from orienteer.reading.relations import Relation
from orienteer.reading.signs import OF_SIZES

_SAYING_MORE = words_of("behind about around because up off out near than alongside over above below")
"""Prepositions that no edge says by itself."""
_COUNTED = words_of("in on at with from for")
"""Prepositions before a number of things: `in three or more orchestras`."""
_LYING = words_of("lie lies lying located situated found based sit sits sitting stand stands standing")
"""Verbs that say no more than the preposition behind them."""


class Places:
    """Reads what nodes are beside, in one question: of these relations only a preposition speaks, or nothing."""

    def __init__(self, ground: Ground, properties: PropertyClauses, lists: ObjectLists, joints: Joints) -> None:
        self._context, self._relations, self._phrases = ground
        self._properties, self._lists, self._joints = properties, lists, joints

    def said(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield `in Belgium`, `for asthma or migraine`, `from Rodenbach`, `of colour X`, `in 1990`."""
        context = self._context
        lying = context.skip(place, _LYING)
        if context.at(lying) in ("outside", "in", "within"):
            yield from self._valued_place(lying, nodes, is_denied=context.at(lying) == "outside")
        word = context.at(place)
        is_behind_participle = word == "by" and context.at(place - 1).endswith("ed")  # of which it is the doer
        if word not in PREPOSITIONS or word in _SAYING_MORE or is_behind_participle:
            return
        begin = context.skip(place, PREPOSITIONS)
        yield from self._things(begin, nodes, word)
        for named in self._properties.named(begin, nodes):  # "in the country X", "of colour X"
            yield from self._properties.described(named, nodes)
        for unit, owners in self._properties.values(context.skip(begin), nodes):
            yield from self._properties.any_value(unit, owners, unit.cost + 0.1)
        dated = self._properties.dated(nodes)
        if dated is not None and not nodes.conditions and word not in OF_SIZES:
            for parse in (*compared(context, place, dated, default=None), *compared_twice(context, place, dated)):
                yield Parse(parse.last, nodes.that(*parse.value), parse.cost + 0.2)

    def _valued_place(self, place: int, nodes: NodeSet, *, is_denied: bool) -> Iterator[Parse[NodeSet]]:
        """Yield `[lies in] Ardony`, `outside Ardony`, of a property: where things are is no edge."""
        begin = self._context.skip(place + 1, ("of", "the"))
        for unit, owners in self._properties.values(begin, nodes):
            for parse in self._properties.any_value(unit, owners, unit.cost + 0.1):
                value = denied(parse.value, owners) if is_denied else parse.value
                if value is not None:
                    yield parse._replace(value=value)
        for objects in self._lists.objects(begin) if is_denied else ():
            others = self._joints.all_joined(nodes, objects, self._related_in, is_denied=True)
            if others is not None and objects.value.amount is None:
                yield others

    def _related_in(self, nodes: NodeSet, target: NodeSet) -> Relation | None:
        return next(self._relations.unnamed(nodes, "in", target), None)

    def _things(self, place: int, nodes: NodeSet, preposition: str) -> Iterator[Parse[NodeSet]]:
        """Yield `[in] Belgium`, `[for] asthma or migraine`."""
        frame = Voice.PASSIVE if preposition == "by" else Voice.SUBJECT

        def related(nodes: NodeSet, target: NodeSet) -> Relation | None:
            return next(self._relations.unnamed(nodes, preposition, target, frame), None)

        for objects in self._lists.objects(place):
            if objects.value.amount is not None and preposition not in _COUNTED:
                continue
            parse = self._joints.all_joined(nodes, objects, related)
            if parse is not None:
                yield parse

    def beside(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield `[telescopes] Plainwater`: a name right behind a kind that it is not of."""
        is_denied = self._context.at(place) == "not" and self._context.reading.words[place].after_comma
        if place == 0 or not nodes.types or (nodes.conditions and not is_denied):
            return
        if self._context.at(place) in DETERMINERS | PREPOSITIONS or self._context.at(place - 1) in PREPOSITIONS:
            return  # "drugs for X": the preposition says by which edges
        for named in self._phrases.names(place + is_denied):
            if not self._relations.types_of(named.value) & nodes.types:
                for relation in self._relations.unnamed(nodes, "", named.value):
                    if not relation.target.is_between:  # nor is it one of whatever stands between them
                        yield joined(relation, named.last, named.cost + 0.1, is_denied=is_denied)
