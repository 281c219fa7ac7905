"""What is said of nodes behind their noun: `that treat X`, `brewed by Y`, `with more than 5 Z`, `but not W`, `in V`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from orienteer.reading.context import Context, Parse, best
from orienteer.reading.edge_labels import Voice
from orienteer.reading.extents import Extents
from orienteer.reading.function_words import (
    ADVERBIAL,
    AUXILIARIES,
    BEING,
    DENIALS,
    FINDING,
    HAVING,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVE,
    phrases_of,
    words_of,
)
from orienteer.reading.joints import Joints, contrary, denied
from orienteer.reading.lexicon import PropertyFacts
from orienteer.reading.likenesses import Likenesses
from orienteer.reading.membership import Membership
from orienteer.reading.objects import Object as Object, ObjectLists, Objects as Objects
from orienteer.reading.phrases import PhraseRules
from orienteer.reading.places import Places
from orienteer.reading.possession import Having
from orienteer.reading.properties import Ground, NamedProperty, PropertyClauses
from orienteer.reading.query import Condition, Either, Filled, Joined, NodeSet, Valued
from orienteer.reading.rankings import Rankings
from orienteer.reading.relations import SchemaRelations
from orienteer.reading.subjects import Subjects
from orienteer.reading.traits import Traits
from orienteer.reading.verbs import VerbPhrases
from orienteer.reading.whose import Whose

_MOST_MODIFIERS = 5
_MOST_PARSES = 4  # of one end that are followed
_CLAUSE_WORDS = RELATIVE | AUXILIARIES | PREPOSITIONS | DENIALS
"""What begins another clause, as a noun does not."""
_FAR = 0.05  # cost
_OF_NEAREST = RELATIVE | words_of("in at on from inside within with")
"""Words behind a kind of things that say something of it, and of nothing further away."""
_FINITE = words_of("is are was were do does did has have had")
_AND = phrases_of("and also, and, but also, but, as well as, while also, while, plus, yet, all")
_OR = phrases_of("or are, or, or that, or which, or who")
_ASIDES = phrases_of("""are there, is there, there are, in all, in total, altogether, are the ones, are those,
    have they got, have we got, have you got, do we have, do you have, we have, we ve got, you have""")
"""What may stand between a noun and what is said of it: `how many ships are there that`."""
_USED = ("against", "for", "with")
_ARTICLES = phrases_of("a, an, one of the, the, a kind of, among the, to the")


class Described(NamedTuple):
    """A set with what was said of it so far."""

    parse: Parse[NodeSet]
    before: int
    """How many conditions it had before the last thing that was said."""


class Core(NamedTuple):
    """Where the words of a clause begin that say something, and whether they are denied."""

    place: int
    is_denied: bool


class Clauses:
    """Reads what is said of nodes in one question."""

    def __init__(self, context: Context, relations: SchemaRelations, phrases: PhraseRules) -> None:
        self._context, self._relations, self._phrases = context, relations, phrases
        ground = Ground(context, relations, phrases)
        properties, lists, joints = PropertyClauses(ground), ObjectLists(context), Joints(context, relations)
        self._properties = properties
        self._rankings = rankings = Rankings(ground, properties, joints)
        self._membership = Membership(ground, lists)
        self._whose = Whose(ground, properties, lists, joints, rankings)
        self._verbs = VerbPhrases(ground, lists, joints, rankings)
        self._having = Having(ground, properties, lists, joints, self._verbs, rankings)
        self._subjects = Subjects(ground, lists, self._verbs, self._having, rankings)
        self._places = Places(ground, properties, lists, joints)
        self._traits = Traits(ground, properties)
        self._extents = Extents(ground, self._verbs)
        self.likenesses = Likenesses(ground, properties, self._verbs, rankings)
        self.lists = lists
        self.objects, self.measures, self.named_property = lists.objects, rankings.measures, properties.named
        self._known: dict[tuple[int, NodeSet, tuple[NodeSet, ...], NodeSet | None], list[Parse[NodeSet]]] = {}
        context.described, context.modifiers = self.described, self.modifiers

    # ------------------------------------------------------------------------------------------------- all that is said

    def described(self, head: Parse[NodeSet]) -> list[Parse[NodeSet]]:
        """Return a set with nothing, some or all that is said of it behind its noun."""
        results = [head]
        front = [Described(head, len(head.value.conditions))]
        for _ in range(_MOST_MODIFIERS):
            further: list[Described] = []
            for described in front:
                if self._context.is_exhausted():
                    break
                further += self._and_more(described)
                further += self._or_else(described)
            front = _likeliest(further)
            if not front:
                break
            results += [described.parse for described in front]
        return best(results)

    def _and_more(self, described: Described) -> Iterator[Described]:
        """Yield a set with one more thing said of it: `that treat X` and `and cause Y`."""
        last, nodes, cost = described.parse
        begin = self._context.starts(last, *(_AND if _has_said(described) else _ASIDES))
        if begin is not None and self._is_bare_behind_denial(begin, described):
            return  # "neither games nor fonts and libs" may mean either
        # "operators of observatories in Kelmar": without a word between them, what is nearest is spoken of
        far = _FAR if begin is None and nodes.conditions and self._context.at(last) in PREPOSITIONS else 0.0
        if begin is None and nodes.conditions and not self._is_behind_comma(last):
            far = _FAR  # "students enrolled in courses taught by X": the courses are
        if begin is None and self._context.depth > 1 and self._context.at(last) in _FINITE:
            far = _FAR  # "which parts of cars are parts of bicycles" says it of the parts
        is_far = begin is None and _has_said(described) and _leads_to_kind(nodes)
        is_far = is_far and self._context.at(last) in _OF_NEAREST
        for modified in self._further(last if begin is None else begin, nodes, nodes):
            if is_far and _says_where(modified.value, nodes):
                continue  # "climbed peaks in X": the peaks are there, and nobody is born there
            parse = Parse(modified.last, modified.value, cost + modified.cost + far)
            yield Described(parse, len(nodes.conditions))

    def _is_behind_comma(self, place: int) -> bool:
        return place < self._context.end and self._context.reading.words[place].after_comma

    def _is_bare_behind_denial(self, place: int, described: Described) -> bool:
        """Tell whether a name or a value alone is joined to what is denied: `outside Ardony and Drusk`."""
        units, begin = self._context.units, self._context.skip(place)
        said = described.parse.value.conditions[described.before :]
        is_bare = bool(units.values.get(begin) or units.names.get(begin)) and not units.edges.get(begin)
        return is_bare and bool(said) and all(condition.negated for condition in said)

    def _further(self, place: int, nodes: NodeSet, spoken_of: NodeSet) -> list[Parse[NodeSet]]:
        """Return a set with one more thing said of it, in which `it` and `there` stand for what was named last."""
        if PRONOUNS.isdisjoint(self._context.words[place:]):
            return self.modifiers(place, nodes)
        before = self._context.antecedent
        targets = [condition.target for condition in spoken_of.conditions if isinstance(condition, Joined)]
        self._context.antecedent = targets[-1] if targets and targets[-1].named else before
        modified = self.modifiers(place, nodes)
        self._context.antecedent = before
        return modified

    def _or_else(self, described: Described) -> Iterator[Described]:
        """Yield a set with another thing that may be so instead of the last: `that treat X` and `or cause Y`."""
        (last, nodes, cost), before = described
        begin = self._context.starts(last, *_OR)
        said = nodes.conditions[before:]
        if begin is None or nodes.best is not None or not said:
            return
        base = replace(nodes, conditions=nodes.conditions[:before])
        is_denied = all(condition.negated for condition in said)
        goes_on = self._context.at(last + 1) not in AUXILIARIES | RELATIVE | DENIALS
        for modified in self._further(begin, base, nodes):
            other = modified.value.conditions[before:]
            if not other or modified.value.best is not None:
                continue
            if len(other) > 1 and self._context.at(begin) not in _CLAUSE_WORDS:
                continue  # "mages or knights are immortal" says it of both
            conditions: tuple[Condition, ...] = (Either((said, other)),)
            if is_denied and goes_on:  # "not X or Y" denies both
                if not _are_of_one_kind((*said, *other)):
                    continue
                conditions = (*said, *contrary(other))
            either = replace(base, types=modified.value.types).that(*conditions)
            yield Described(Parse(modified.last, either, cost + modified.cost), before)

    def valued(self, facts: PropertyFacts, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield the nodes of a set with what is said here of a property that was named before."""
        begin = self._context.starts(place, "made of", "made out of", "made from") or place
        yield from self._properties.described(NamedProperty(facts, begin, 0.0), nodes)

    def named_at(self, place: int) -> Iterator[Parse[NodeSet]]:
        """Yield the named nodes that begin at a place."""
        yield from self._phrases.names(place)

    def had_by_name(self, owner: Parse[NodeSet], nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield the nodes of a set that a named one has."""
        for relation in self._relations.unnamed(nodes, "of", owner.value, Voice.NOUN_OF):
            yield Parse(owner.last, relation.joined, relation.cost)

    def had_by(self, owners: Parse[Objects], nodes: Parse[NodeSet]) -> Iterator[Parse[NodeSet]]:
        """Yield the nodes of a set that things have."""
        for parse in self._having.things(owners, nodes.value):
            yield parse._replace(cost=parse.cost + nodes.cost)

    # ------------------------------------------------------------------------------------------------------ one clause

    def modifiers(self, place: int, nodes: NodeSet) -> list[Parse[NodeSet]]:
        """Return a set with one thing said of it that begins here."""
        if place >= self._context.end or self._context.is_exhausted():
            return []
        key = (place, nodes, tuple(self._context.referents), self._context.antecedent)
        if key not in self._known:
            self._known[key] = best(self._all_modifiers(place, nodes))
        return self._known[key]

    def _all_modifiers(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield `but not X`, `whose height is 5 m`, `[that] are not brewed by X`, `by which X is suggested`."""
        context = self._context
        yield from self._membership.excepted(place, nodes)
        yield from self._neither(place, nodes)
        yield from self._whose.said(place, nodes)
        if context.at(place) == "whose":
            yield from self.likenesses.whose(place + 1, nodes)
        begin = place
        if context.at(begin) in PREPOSITIONS and context.at(begin + 1) in ("which", "whom", "whose"):
            begin += 1
        begin = context.skip(begin, RELATIVE)
        if context.at(begin - 2) == "by" and begin - 2 >= place:  # "by which X is suggested"
            yield from self._subjects.said(begin, nodes, Voice.PASSIVE_OBJECT)
            return
        for core in dict.fromkeys(self._cores(begin)):
            for parse in self._said(core.place, nodes):
                value = denied(parse.value, nodes) if core.is_denied else parse.value
                if value is not None:
                    yield parse._replace(value=value)

    def _neither(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield `[are] neither lent by X nor sold to Y`, `neither treated nor palliated by any X`."""
        context = self._context
        begin = context.starts(context.skip(context.skip(place, RELATIVE), AUXILIARIES), "neither")
        if begin is None:
            return
        for first in self._context.modifiers(begin, nodes):
            nor = context.starts(first.last, "nor")
            for second in self._context.modifiers(nor, nodes) if nor is not None else ():
                denials = [denied(parse.value, nodes) for parse in (first, second)]
                if None not in denials:
                    new = (one.conditions[len(nodes.conditions) :] for one in denials if one is not None)
                    conditions = tuple(condition for some in new for condition in some)
                    yield Parse(second.last, nodes.that(*conditions), first.cost + second.cost)
        yield from self._verbs.neither(begin, nodes)

    def _cores(self, place: int) -> Iterator[Core]:
        """Yield what may be left out: auxiliaries with a denial, phrases between them and a verb, an article."""
        context = self._context
        begin, is_denied = place, False
        having: list[Core] = []
        while context.at(begin) in AUXILIARIES | DENIALS:
            if context.at(begin) in HAVING or context.at(begin) == "without":
                having.append(Core(begin, is_denied))
                if context.at(begin) not in AUXILIARIES:
                    break
            if context.at(begin) in DENIALS:
                is_denied = not is_denied
            begin += 1
        if context.at(begin - 1) not in ("have", "has", "had") or not context.at(begin).endswith("s"):
            yield Core(begin, is_denied)  # who "has mentors" mentors nobody
        yield from having
        finding = context.starts(place, *FINDING)
        if finding is not None:
            yield Core(finding, False)
        if context.at(begin) == "there" and context.at(begin - 1) in BEING:  # "which beers are there in X"
            yield Core(begin + 1, is_denied)
        adverb = self._adverb(place, begin)
        if adverb is not None:
            yield Core(adverb, is_denied)
        article = context.starts(begin, *_ARTICLES)
        nouns = context.units.edges.get(article, ()) if article is not None else ()
        if article is not None and any(context.at(noun.last) in PREPOSITIONS for noun in nouns):
            yield Core(article, is_denied)  # "the owner of X"; "the home port of X" is a port

    def _adverb(self, place: int, begin: int) -> int | None:
        """Return where words end that stand between an auxiliary and its verb; None where there are none."""
        context = self._context
        adverb = context.starts(begin, *ADVERBIAL)
        if adverb is None and (begin == place or context.at(begin - 1) in BEING | {"be", "been"}):
            # who "used to work" somewhere does so no longer; what is "used to treat" something does it
            adverb = context.starts(begin, "used to") if context.at(begin - 1) not in RELATIVE else None
        if adverb is None and context.at(begin) == "used" and context.at(begin + 1) in _USED:
            return begin + 1
        return adverb

    def _said(self, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
        """Yield what the words of a clause say, by every rule there is."""
        yield from self._verbs.said(place, nodes)
        yield from self._subjects.said(place, nodes)
        yield from self._having.said(place, nodes)
        yield from self._places.said(place, nodes)
        yield from self._traits.said(place, nodes)
        yield from self._places.beside(place, nodes)
        yield from self._membership.said(place, nodes)
        yield from self.likenesses.said(place, nodes)
        yield from self._extents.said(place, nodes)
        yield from self._rankings.most_bare(place, nodes)
        yield from self._having.role(place, nodes)
        yield from self._having.counted(place, nodes)


def _has_said(described: Described) -> bool:
    """Tell whether something was said of a set already, which `and` goes on with."""
    nodes = described.parse.value
    return len(nodes.conditions) > described.before or nodes.best is not None


def _leads_to_kind(nodes: NodeSet) -> bool:
    """Tell whether what was said last leads to things that are not named, of which more may be said."""
    best = nodes.best.measure.target if nodes.best is not None else None
    last = nodes.conditions[-1] if nodes.conditions else None
    target = best or (last.target if isinstance(last, Joined) else None)
    return target is not None and not target.named and not target.conditions


def _says_where(modified: NodeSet, nodes: NodeSet) -> bool:
    """Tell whether a set has one more condition than another, which may tell a place: over an edge, or by a text."""
    last = modified.conditions[-1] if len(modified.conditions) > len(nodes.conditions) else None
    return isinstance(last, Joined) or (isinstance(last, Valued) and isinstance(last.value, str))


def _are_of_one_kind(conditions: Sequence[Condition]) -> bool:
    """Tell whether all conditions are of one relation, or of one property."""
    kinds = {
        condition.kinds if isinstance(condition, Joined) else condition.property
        for condition in conditions
        if isinstance(condition, Joined | Valued | Filled)
    }
    return len(kinds) == 1 and all(isinstance(condition, Joined | Valued | Filled) for condition in conditions)


def _likeliest(described: Sequence[Described]) -> list[Described]:
    """Return the likeliest of the sets, each meaning once, a few for each end."""
    by_meaning: dict[tuple[int, NodeSet], Described] = {}
    for item in described:
        key = (item.parse.last, item.parse.value)
        if key not in by_meaning or item.parse.cost < by_meaning[key].parse.cost:
            by_meaning[key] = item
    ends: dict[int, int] = {}
    likeliest = []
    for item in sorted(by_meaning.values(), key=lambda item: item.parse.cost):
        ends[item.parse.last] = ends.get(item.parse.last, 0) + 1
        if ends[item.parse.last] <= _MOST_PARSES:
            likeliest.append(item)
    return likeliest
