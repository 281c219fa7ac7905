"""What nodes have as another one has it: `the same brewery as Duvel`, `more beers than X`, `shares a style with X`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from orienteer.reading.comparisons import of_same_year
from orienteer.reading.context import Parse
from orienteer.reading.edge_labels import Voice
from orienteer.reading.function_words import HAVING, PREPOSITIONS, phrases_of, words_of
from orienteer.reading.others import another, but_not, measured_as, openings, valued_as
from orienteer.reading.properties import Ground, PropertyClauses
from orienteer.reading.query import Among, Condition, Extent, Joined, NodeSet
from orienteer.reading.rankings import Rankings
from orienteer.reading.relations import Relation
from orienteer.reading.verbs import Action, VerbPhrases

Sameness: TypeAlias = Literal["plain", "whole", "every", "some"]
"""How much is the same: all of it and nothing else where it is `whole`; `plain` is told by singular and plural."""
_Relate: TypeAlias = Callable[[NodeSet], Iterable[Relation]]

_SAME: tuple[tuple[Sameness, tuple[str, ...]], ...] = (
    (
        "whole",
        phrases_of(
            """exactly the same, precisely the same, the very same, the exact same, an identical set of, identical,
            the identical set of, the same set of, exactly the same set of, the exact same set of, an identical"""
        ),
    ),
    ("every", phrases_of("all the same, all of the same")),
    ("some", phrases_of("some of the same, any of the same, at least one of the same, one of the same")),
    ("plain", phrases_of("the same, same")),
)
_SHARED: tuple[tuple[Sameness, tuple[str, ...]], ...] = (
    *_SAME,
    ("some", phrases_of("at least one, a common, a, an, any, some, one, their, its, the")),
)
_SHARING = words_of("share shares shared sharing")
_AS = phrases_of("as, to")
_WITH = phrases_of("in common with, with, as, of")
_EQUAL = phrases_of("the same as, identical to, exactly the same as, precisely the same as")
_BEING = words_of("is are was were")
_BOTH = words_of("both all each also being")
_PLURALS = words_of("people men women children staff")
_SOME_PLACE = words_of("place places thing things one ones")


class Partner(NamedTuple):
    """The node that others are compared with, where it was named before: of two, the second."""

    row: int


class Likenesses:
    """Reads what nodes have as another one has it, in one question."""

    def __init__(
        self, ground: Ground, properties: PropertyClauses, verb_phrases: VerbPhrases, rankings: Rankings
    ) -> None:
        self._context, self._relations, self._phrases = ground
        self._properties, self._verb_phrases, self._rankings = properties, verb_phrases, rankings

    def said(self, place: int, nodes: NodeSet, partner: Partner | None = None) -> Iterator[Parse[NodeSet]]:
        """Yield `brewed by the same brewery as X`, `has more beers than X`, `shares a style with X`."""
        for action in self._verb_phrases.actions(place):
            by_verb = self._by_verb(action, nodes)
            yield from self._same(action.begin, nodes, by_verb, partner)
            if partner is None:
                yield from self._as_many(action.begin, by_verb)
                yield from self._where_another(action, by_verb)
        word = self._context.at(place)
        if word in HAVING or word in _SHARING:
            yield from self._had(place, nodes, partner, is_shared=word in _SHARING)
        elif word == "same" and nodes.types:  # "customers same town as X"
            yield from self._had(place - 1, nodes, partner, is_shared=False)
        elif word in PREPOSITIONS:

            def by_place(target: NodeSet) -> Iterator[Relation]:
                return self._relations.unnamed(nodes, word, target)

            yield from self._same(place + 1, nodes, by_place, partner)
            yield from self._same_value(place + 1, nodes, partner, _SAME, _AS)

    def _by_verb(self, action: Action, nodes: NodeSet) -> _Relate:
        """Return what finds the relation of a set to others that a verb says."""

        def relate(target: NodeSet) -> Iterator[Relation]:
            edges = action.verbs.units[0].edges
            return self._relations.named(nodes, edges, action.frame, target, is_strict=action.is_strict)

        return relate

    def _had(self, place: int, nodes: NodeSet, partner: Partner | None, *, is_shared: bool) -> Iterator[Parse[NodeSet]]:
        """Yield `has the same brewery as X`, `shares a brewery with X`, `has more beers than X`."""
        sames, joints = (_SHARED, _WITH) if is_shared else (_SAME, _AS)

        def by_having(target: NodeSet) -> Iterator[Relation]:
            return self._relations.unnamed(nodes, "with", target)

        yield from self._same(place + 1, nodes, by_having, partner, sames, joints)
        yield from self._same_noun(place + 1, nodes, partner, sames, joints)
        yield from self._same_value(place + 1, nodes, partner, sames, joints)
        if partner is None and not is_shared:
            yield from self._more_had(place + 1, nodes)
        if partner is None and is_shared:
            yield from self._shared_with_owner(place + 1, nodes)

    def _shared_with_owner(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield `[share] X's home town`."""
        for other in another(self._context, place, self._relations.types_of(nodes)):
            if self._context.possessive(other.last) is None and self._context.at(other.last - 1) != "s":
                continue
            for named in self._properties.named(other.last, nodes):
                conditions = valued_as(self._context, named.facts, other.value)
                if conditions:
                    yield Parse(named.last, nodes.that(*conditions), named.cost + other.cost + 0.1)
            for unit in self._context.units.edges.get(other.last, ()):
                for relation in self._phrases.having(nodes, unit, NodeSet()):
                    conditions = _as_another(relation, other.value, "some")
                    yield Parse(unit.last, relation.nodes.that(*conditions), other.cost + relation.cost)
            for head in self._phrases.heads(other.last):
                for relation in self._relations.unnamed(nodes, "with", head.value) if not head.value.named else ():
                    conditions = _as_another(relation, other.value, "some")
                    yield Parse(head.last, relation.nodes.that(*conditions), other.cost + relation.cost + head.cost)

    def whose(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield `[whose] brewery is the same as that of X`, `[whose] universities are those of X`."""
        context = self._context
        heads = [
            (head.last, relation)
            for head in self._phrases.heads(place)
            for relation in self._relations.unnamed(nodes, "with", head.value, Voice.HAS_NOUN)
        ]
        heads += [
            (unit.last, relation)
            for unit in context.units.edges.get(place, ())
            for relation in self._phrases.having(nodes, unit, NodeSet())
        ]
        for last, relation in heads:
            begin = context.skip(last, _BEING)
            same = context.starts(begin, *_EQUAL) if begin > last else None
            if same is not None:
                sameness: Sameness = "whole" if self._is_plural(last - 1) else "some"
                for other in another(context, same, self._relations.types_of(relation.nodes)):
                    conditions = _as_another(relation, other.value, sameness)
                    yield Parse(other.last, relation.nodes.that(*conditions), other.cost + relation.cost)

    def of_pair(self, place: int, first: Parse[NodeSet], second: Parse[NodeSet]) -> Iterator[Parse[NodeSet]]:
        """Yield what two have alike: `[do X and Y] share a brewery`, `[are X and Y] in the same country`."""
        node_types = self._context.lexicon.graph.arrays.node_types
        kinds = {int(node_types[row]) for row in first.value.named}
        rows = [row for row in second.value.named if int(node_types[row]) in kinds]
        if len(rows) == 1:
            begin = self._context.skip(place, _BOTH)
            for start in range(begin, min(begin + 2, self._context.end)):
                if start == begin or self._context.at(begin) in _BEING:
                    yield from self.said(start, first.value, Partner(rows[0]))
                    yield from self._in_common(start, first.value, Partner(rows[0]))
                    yield from self._in_same_year(start, first.value, rows[0])

    def _in_common(self, place: int, nodes: NodeSet, partner: Partner) -> Iterator[Parse[NodeSet]]:
        """Yield `[do X and Y] have any Z in common`."""
        for had in self._had(place, nodes, partner, is_shared=True) if self._context.at(place) in HAVING else ():
            last = self._context.starts(had.last, "in common")
            if last is not None:
                yield had._replace(last=last)

    def _in_same_year(self, place: int, nodes: NodeSet, row: int) -> Iterator[Parse[NodeSet]]:
        """Yield `[were X and Y] born in the same year`."""
        for named in self._properties.named(place, nodes):
            last = self._context.starts(named.last, "in the same year", "the same year")
            conditions = of_same_year(self._context, named.facts, row) if last is not None else ()
            if conditions and last is not None:
                yield Parse(last, nodes.that(*conditions), named.cost)

    # -------------------------------------------------------------------------------------------------- the same things

    def _same(
        self,
        place: int,
        nodes: NodeSet,
        relate: _Relate,
        partner: Partner | None,
        sames: tuple[tuple[Sameness, tuple[str, ...]], ...] = _SAME,
        joints: tuple[str, ...] = _AS,
    ) -> Iterator[Parse[NodeSet]]:
        """Yield `the same brewery as X`, `exactly the same paradigms as X`."""
        for begin, sameness in self._openings(place, sames):
            heads = list(self._phrases.heads(begin)) if begin < self._context.end else []
            if self._context.at(begin) in _SOME_PLACE and not heads:
                heads.append(Parse(begin + 1, NodeSet(), 0.1))
            for head in heads:
                for relation in relate(head.value) if not head.value.named else ():
                    yield from self._alike(head.last, relation, sameness, partner, joints)

    def _same_noun(
        self,
        place: int,
        nodes: NodeSet,
        partner: Partner | None,
        sames: tuple[tuple[Sameness, tuple[str, ...]], ...],
        joints: tuple[str, ...],
    ) -> Iterator[Parse[NodeSet]]:
        """Yield `the same supervisor as X`: a noun that names edges."""
        for begin, sameness in self._openings(place, sames):
            for unit in self._context.units.edges.get(begin, ()):
                for relation in self._phrases.having(nodes, unit, NodeSet()):
                    yield from self._alike(unit.last, relation, sameness, partner, joints)

    def _alike(
        self, last: int, relation: Relation, sameness: Sameness, partner: Partner | None, joints: tuple[str, ...]
    ) -> Iterator[Parse[NodeSet]]:
        """Yield the nodes of a relation with those things that another one has, behind the word for the things."""
        if sameness == "plain":
            sameness = "whole" if self._is_plural(last - 1) else "some"
        for other in self._others(last, relation.nodes, partner, joints):
            conditions = _as_another(relation, other.value, sameness)
            yield Parse(other.last, relation.nodes.that(*conditions), other.cost + relation.cost)

    def _same_value(
        self,
        place: int,
        nodes: NodeSet,
        partner: Partner | None,
        sames: tuple[tuple[Sameness, tuple[str, ...]], ...],
        joints: tuple[str, ...],
    ) -> Iterator[Parse[NodeSet]]:
        """Yield `the same colour as X`: the value of a property."""
        for begin, _ in self._openings(place, sames):
            for named in self._properties.named(begin, nodes):
                for other in self._others(named.last, nodes, partner, joints):
                    conditions = valued_as(self._context, named.facts, other.value)
                    if conditions:
                        yield Parse(other.last, nodes.that(*conditions), named.cost + other.cost)

    def _openings(
        self, place: int, sames: tuple[tuple[Sameness, tuple[str, ...]], ...]
    ) -> Iterator[tuple[int, Sameness]]:
        """Yield where words end that say how much is the same; of those that begin alike, the longest."""
        ends = [
            (end, sameness)
            for sameness, phrases in sames
            for phrase in phrases
            if (end := self._context.starts(place, phrase)) is not None
        ]
        if ends:
            yield max(ends, key=lambda item: item[0])
        elif sames is _SHARED:
            yield place, "some"

    def _others(
        self, last: int, nodes: NodeSet, partner: Partner | None, joints: tuple[str, ...]
    ) -> Iterator[Parse[int]]:
        """Yield the node that others are compared with: `as X`; the partner where it was named before."""
        if partner is not None:
            yield Parse(last, partner.row, 0.0)
            return
        for joint in joints:
            begin = self._context.starts(last, joint)
            if begin is not None:
                yield from another(self._context, begin, self._relations.types_of(nodes))

    def _is_plural(self, place: int) -> bool:
        word = self._context.at(place)
        return word in _PLURALS or (word.endswith("s") and not word.endswith(("ss", "us", "is")))

    def _where_another(self, action: Action, relate: _Relate) -> Iterator[Parse[NodeSet]]:
        """Yield `[studied] where X studied`, and `[studied] where X studied and nowhere else`."""
        context, edges = self._context, set(action.verbs.units[0].edges)
        only = context.starts(action.begin, "only")
        begin = context.starts(action.begin if only is None else only, "where", "at the place where", "wherever")
        if begin is None:
            return
        for relation in relate(NodeSet()):
            for other in another(context, begin, self._relations.types_of(relation.nodes)):
                for unit in context.units.edges.get(other.last, ()):
                    if not edges & set(unit.edges):
                        continue
                    last = unit.last + (context.at(unit.last) in PREPOSITIONS)
                    closed = context.starts(last, "and nowhere else", "but nowhere else", "only")
                    extents: tuple[Extent, ...] = ("only",) if only is not None else ("some",)
                    whole = ("every", "only") if closed is not None else extents
                    conditions = _joined_as(relation, other.value, whole)
                    yield Parse(closed or last, relation.nodes.that(*conditions), other.cost)

    # ------------------------------------------------------------------------------------------------- as many, or more

    def _as_many(self, place: int, relate: _Relate) -> Iterator[Parse[NodeSet]]:
        """Yield `[brews] more beers than X`, `[brews] as many beers as X`."""
        for opening in openings(self._context, place):
            for head in self._phrases.heads(opening.last):
                begin = self._context.starts(head.last, opening.value.joint)
                if begin is None or head.value.named:
                    continue
                for relation in relate(head.value):
                    for other in another(self._context, begin, self._relations.types_of(relation.nodes)):
                        conditions = measured_as(self._context, relation.measure, opening.value, other.value)
                        if conditions:
                            yield Parse(other.last, relation.nodes.that(*conditions), head.cost + other.cost)

    def _more_had(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield `[has] more beers than X`, `[has] a higher salary than X`, `[has] the same number of beers as X`."""
        for opening in openings(self._context, place):
            for measure in self._rankings.measures(opening.last, nodes):
                begin = self._context.starts(measure.last, opening.value.joint)
                able = self._relations.able(nodes, measure.value)
                if begin is None:
                    continue
                for other in another(self._context, begin, self._relations.types_of(able)):
                    conditions = measured_as(self._context, measure.value, opening.value, other.value)
                    if conditions:
                        yield Parse(other.last, able.that(*conditions), measure.cost + other.cost)


def _as_another(relation: Relation, row: int, sameness: Sameness) -> tuple[Condition, ...]:
    """Return what it means that a relation leads to what it leads to from a node: to all of it, or to some."""
    if sameness == "whole":
        return _joined_as(relation, row, ("every", "only"))
    return _joined_as(relation, row, ("every",) if sameness == "every" else ("some",))


def _joined_as(relation: Relation, row: int, extents: tuple[Extent, ...]) -> tuple[Condition, ...]:
    back = tuple(sorted(kind ^ 1 for kind in relation.kinds))
    target = relation.target.that(Joined(back, NodeSet(conditions=(Among((row,)),))))
    joined = (Joined(relation.kinds, target, extent=extent) for extent in extents)
    return (*joined, but_not(row))
