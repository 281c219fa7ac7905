"""Kinds of things with the words before them: `beers`, `Belgian beers`, `three oldest stone towers`, `a pilsner`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orienteer.reading.adjectives import best_of, superlatives_at
from orienteer.reading.context import Context, Parse, best
from orienteer.reading.edge_labels import Voice
from orienteer.reading.lexicon import EdgeUnit, NameUnit, PropertyFacts, ValueUnit
from orienteer.reading.names import names_at
from orienteer.reading.query import Among, Best, Either, Joined, Measure, NodeSet, Valued
from orienteer.reading.vocabulary import ENGLISH, WORDS

_MOST_RATED = {"best": True, "top": True, "worst": False}
"""Superlatives before a word for a property: `best rated`, `best paid`."""
_MOST_ASKED = 1_000  # nodes of a superlative


def people_of(context: Context) -> frozenset[int]:
    """Return the node types of people."""
    return context.lexicon.people


def heads_at(context: Context, place: int) -> list[Parse[NodeSet]]:
    """Return the kinds of things that begin here, with the words right before them."""
    return context.once(("heads", place), lambda: best(_all(context, place)))


def _all(context: Context, place: int) -> Iterator[Parse[NodeSet]]:
    for begin in context.skips(place):
        yield from _bare(context, begin)
    if context.is_exhausted():
        return
    begin = context.skip(place)
    yield from _most_of_property(context, begin)
    yield from _most_of_adjective(context, begin)
    yield from _most_done(context, begin)
    for unit in context.units.values.get(begin, ()):
        yield from _of_values(context, unit)
        yield from _of_value(context, unit)
        if context.at(unit.last - 1) == f"{unit.value.split()[-1]}s":  # "the serialists"
            facts = context.lexicon.properties[unit.property]
            yield Parse(unit.last, NodeSet(facts.types, (Valued(facts.name, "=", unit.value),)), unit.cost + 0.2)
    yield from _so(context, begin)
    yield from _of_amount(context, begin)
    for name in context.units.names.get(begin, ()):
        yield from _class_of(context, name)
    yield from _of_name(context, begin)


def _bare(context: Context, begin: int) -> Iterator[Parse[NodeSet]]:
    """Yield `beers`, `anybody`, `those`."""
    word, kinds = context.at(begin), context.units.types.get(begin, ())
    # "which ships" are ships, and "which professors" are professors
    asks_for_kind = word in WORDS["which or whichever"] and any(
        head.value.types and not head.value.named for head in heads_at(context, begin + 1)
    )
    if word in WORDS["something"] and not kinds and not asks_for_kind:
        yield Parse(begin + 1, NodeSet(people_of(context) if word in WORDS["somebody"] else frozenset()), 0.1)
        if word in WORDS["anybody"] and people_of(context):  # "funded by nobody" is funded by no foundation either
            yield Parse(begin + 1, NodeSet(), 0.25)
    for kind in kinds:
        yield Parse(kind.last, NodeSet(types=kind.types), kind.cost)
    if not kinds:
        yield from _doers(context, begin)
    for kind in kinds if not word.endswith("s") else ():  # "film directors"
        for parse in _doers(context, kind.last):
            yield parse._replace(cost=parse.cost + 0.1)


def _doers(context: Context, begin: int) -> Iterator[Parse[NodeSet]]:
    """Yield `directors`, `actors`: whoever does what edges say."""
    for unit in context.units.edges.get(begin, ()):
        if context.lexicon.is_name_or_value(context.reading, begin):
            return  # a "professor" is one by that value, and not by whatever a professor does
        for relation in context.relations.doers(unit, context.at(unit.last - 1)):
            yield Parse(unit.last, relation.joined, relation.cost)


def _of_amount(context: Context, begin: int) -> Iterator[Parse[NodeSet]]:
    """Yield `5-credit courses`."""
    amount = context.units.quantities.get(begin)
    if amount is None or amount.unit is not None:
        return
    for unit in context.units.properties.get(amount.last, ()):
        facts = context.lexicon.properties[unit.property]
        if facts.kind == "number" and unit.cost == 0:
            for head in _having(context, facts, unit.last):
                valued = Valued(facts.name, "=", amount.value)
                yield Parse(head.last, head.value.that(valued), head.cost + 0.05)


# ------------------------------------------------------------------------------------------- values before kinds
def _of_value(context: Context, unit: ValueUnit) -> Iterator[Parse[NodeSet]]:
    """Yield `stone towers`."""
    facts = context.lexicon.properties[unit.property]
    for head in _having(context, facts, _behind_value(context, unit)):
        if unit.last < head.last:
            nodes = head.value.that(Valued(unit.property, "=", unit.value))
            yield Parse(head.last, replace(nodes, types=_types_with(context, nodes, facts)), head.cost + unit.cost)


def _behind_value(context: Context, unit: ValueUnit) -> int:
    """Return where a kind begins behind a value: behind `Germany's`, and behind `standard priority`."""
    possessive = context.possessive(unit.last)
    if possessive is not None:
        return possessive
    own = context.units.properties.get(unit.last, ())
    return next((named.last for named in own if named.property == unit.property), unit.last)


def _of_values(context: Context, unit: ValueUnit) -> Iterator[Parse[NodeSet]]:
    """Yield `green or yellow buoys`."""
    facts = context.lexicon.properties[unit.property]
    joined = context.starts(unit.last, "or", "and")
    for other in context.units.values.get(joined, ()) if joined is not None else ():
        if other.property != unit.property:
            continue
        options = tuple((Valued(facts.name, "=", value),) for value in (unit.value, other.value))
        for head in _having(context, facts, other.last):
            nodes = replace(head.value, types=_types_with(context, head.value, facts)).that(Either(options))
            yield Parse(head.last, nodes, head.cost + unit.cost)


def _so(context: Context, begin: int) -> Iterator[Parse[NodeSet]]:
    """Yield `organic beers`, `non organic beers`: of a property that is true or false."""
    is_non = context.at(begin) == "non"
    for unit in context.units.properties.get(begin + is_non, ()):
        facts = context.lexicon.properties[unit.property]
        if facts.kind == "boolean" and unit.cost == 0:
            word = context.at(unit.last - 1)
            if word.endswith("s") and word[:-1] in facts.name.casefold():  # "the icebreakers"
                is_so = Valued(facts.name, "=", facts.true, negated=is_non)
                yield Parse(unit.last, NodeSet(facts.types, (is_so,)), unit.cost + 0.1)
            is_not = is_non or (begin > 0 and context.at(begin - 1) in ("non", "not"))
            for head in _having(context, facts, unit.last):
                nodes = head.value.that(Valued(facts.name, "=", facts.true, negated=is_not))
                yield Parse(head.last, nodes, head.cost + unit.cost)


def _having(context: Context, facts: PropertyFacts, place: int) -> Iterator[Parse[NodeSet]]:
    """Yield the kinds at a place that may have a property."""
    for head in heads_at(context, place):
        if context.relations.types_of(head.value) & facts.types:
            yield head


def _types_with(context: Context, nodes: NodeSet, facts: PropertyFacts) -> frozenset[int]:
    return context.relations.types_of(nodes) & facts.types


# -------------------------------------------------------------------------------------------- names before kinds
def _class_of(context: Context, unit: NameUnit) -> Iterator[Parse[NodeSet]]:
    """Yield `stouts`, `a pilsner`: the things of a style, where one kind of things alone has such styles."""
    arrays = context.lexicon.graph.arrays
    word = context.at(unit.last - 1)
    is_plural = word.endswith("s") and not any(arrays.names[row].casefold().endswith(word) for row in unit.rows)
    if not is_plural:
        return
    for relation in context.relations.unnamed(NodeSet(), "", NodeSet(conditions=(Among(unit.rows),))):
        if len(relation.nodes.types) == 1 and all(not kind & 1 for kind in relation.kinds):
            yield Parse(unit.last, relation.joined, unit.cost + 0.2)


def _of_name(context: Context, begin: int) -> Iterator[Parse[NodeSet]]:
    """Yield `Belgium beers`, `Bell Labs languages`."""
    for name in names_at(context, begin):
        joined = context.starts(name.last, "or")
        for other in names_at(context, joined) if joined is not None else ():
            yield from _of_either(context, name, other)
        for head in heads_at(context, name.last):
            if head.value.types and not head.value.named:
                for relation in context.relations.unnamed(head.value, "", name.value):
                    cost = head.cost + name.cost + relation.cost + 0.1
                    yield Parse(head.last, relation.joined, cost)


def _of_either(context: Context, first: Parse[NodeSet], second: Parse[NodeSet]) -> Iterator[Parse[NodeSet]]:
    """Yield `Crown Bulk or Polar Tow ships`."""
    for head in heads_at(context, second.last):
        if not head.value.types or head.value.named:
            continue
        options = [
            relation for name in (first, second) for relation in context.relations.unnamed(head.value, "", name.value)
        ]
        if len(options) == 2 and options[0].kinds == options[1].kinds:
            either = Either(tuple((Joined(relation.kinds, relation.target),) for relation in options))
            cost = head.cost + first.cost + second.cost + options[0].cost + 0.1
            yield Parse(head.last, options[0].nodes.that(either), cost)


# -------------------------------------------------------------------------------------------------- superlatives
def _most_of_property(context: Context, place: int) -> Iterator[Parse[NodeSet]]:
    """Yield `highest abv`, `highest abv of all beers`, `highest abv beer`, `three highest abv beers`."""
    first, at = _number(context, context.skip(place, ("top", "first")))
    recently = context.starts(at, "most recently", "least recently")
    descending = _MOST_RATED.get(context.at(at), ENGLISH.most.get(context.at(at)))
    if descending is None:
        return
    for unit in context.units.properties.get(at + 1 if recently is None else recently, ()):
        facts = context.lexicon.properties[unit.property]
        if facts.kind not in ("number", "year", "date"):
            continue
        best_by = Best(Measure(property=facts.name), descending, first)
        if context.depth <= 1:  # exhibitions with "the most visitors" are not in the museum that has them
            yield Parse(unit.last, NodeSet(facts.types, best=best_by), unit.cost + 0.2)
        scope = context.end_of(unit.last, "among kinds")
        for head in _having(context, facts, scope) if scope is not None else ():
            if not head.value.named:
                yield Parse(head.last, replace(head.value, best=best_by), head.cost + unit.cost)
        for head in heads_at(context, unit.last):
            if head.value.types & facts.types:
                yield Parse(head.last, replace(head.value, best=best_by), head.cost + unit.cost)


def _most_of_adjective(context: Context, place: int) -> Iterator[Parse[NodeSet]]:
    """Yield `oldest tower`, `three oldest towers`, `oldest three towers`."""
    begin = context.skip(place, ("top", "first"))
    first, at = _number(context, begin)
    for superlative in superlatives_at(context, at):
        number, last = first, superlative.last
        if at == begin:
            number, last = _number(context, superlative.last)
        for head in heads_at(context, last):
            nodes = best_of(context, head.value, superlative.value, number, at)
            if nodes is not None:
                yield Parse(head.last, nodes, head.cost)


def _most_done(context: Context, place: int) -> Iterator[Parse[NodeSet]]:
    """Yield `most supported paradigm`: by how many edges of this kind a node has."""
    is_more = {"most": True, "least": False}.get(context.at(place))
    for unit in context.units.edges.get(place + 1, ()) if is_more is not None else ():
        if is_more is not None and _is_participle(context, unit):
            for head in heads_at(context, unit.last):
                for relation in context.relations.named(head.value, unit.edges, Voice.PASSIVE, NodeSet()):
                    if relation.nodes.types and head.value.best is None:
                        nodes = replace(relation.nodes, best=Best(relation.measure, is_more))
                        yield Parse(head.last, nodes, head.cost + relation.cost)


def _is_participle(context: Context, unit: EdgeUnit) -> bool:
    """Return whether words for edges are a participle: "most influential" is not "most influenced"."""
    word = context.at(unit.last - 1)
    return word.endswith(ENGLISH.phrases["endings of participles"]) and not word.endswith("ent")


def _number(context: Context, place: int) -> tuple[int, int]:
    """Return how many are asked for, and where that ends: one where no whole number stands here."""
    amount = context.units.quantities.get(place)
    if amount is None or amount.unit is not None or amount.span is not None or amount.value != int(amount.value):
        return 1, place
    return (int(amount.value), amount.last) if 0 < amount.value <= _MOST_ASKED else (1, place)
