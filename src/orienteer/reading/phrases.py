"""Noun phrases: names, kinds of things with the words before them, possessives, and nouns of relations."""

from __future__ import annotations

from collections.abc import Iterator

from orienteer.reading.context import Context, Parse
from orienteer.reading.edge_labels import Voice
from orienteer.reading.kinds import heads_at
from orienteer.reading.lexicon import EdgeUnit
from orienteer.reading.names import names_at
from orienteer.reading.query import NodeSet
from orienteer.reading.relations import Relation
from orienteer.reading.vocabulary import ENGLISH

_VERBS = frozenset(ENGLISH.verb_of.values())
_LONGEST_CHAIN = 3  # possessives in a row


def noun_had(context: Context, nodes: NodeSet, unit: EdgeUnit, target: NodeSet) -> Iterator[Relation]:
    """Yield the relation of nodes that have what words for edges say: a `manager`, a mentor."""
    return context.relations.having(nodes, unit, context.at(unit.last - 1), target)


# --------------------------------------------------------------------------------------------------- possessives
def owned_by(context: Context, owner: Parse[NodeSet]) -> Iterator[Parse[NodeSet]]:
    """Yield what belongs to nodes: `Duvel's brewery`, `dog's hyponyms`, and on: `Duvel's brewery's country`."""
    links = [owner]
    for _ in range(_LONGEST_CHAIN):
        links = [further for link in links for further in _owned_once(context, link)]
        if not links or context.is_exhausted():
            return
        yield from links


def _owned_once(context: Context, owner: Parse[NodeSet]) -> Iterator[Parse[NodeSet]]:
    begin = context.possessive(owner.last)
    if begin is None:
        yield from _beside(context, owner)
        return
    for head in heads_at(context, begin):
        if not head.value.named:
            for relation in context.relations.unnamed(head.value, "of", owner.value, Voice.NOUN_OF):
                cost = owner.cost + head.cost + relation.cost - 0.2
                yield Parse(head.last, relation.joined, cost)
    yield from noun_of_owner(context, begin, owner.value, owner.cost)


def _beside(context: Context, owner: Parse[NodeSet]) -> Iterator[Parse[NodeSet]]:
    """Yield `Duvel brewery country`: words for a search, at the end, without a possessive."""
    if owner.value.named or not owner.value.conditions:
        return  # a name before a kind is read with the kinds; "concert halls" are a kind of halls
    for unit in context.units.types.get(owner.last, ()):
        if unit.types and context.is_over(unit.last):
            for relation in context.relations.unnamed(NodeSet(unit.types), "of", owner.value, Voice.NOUN_OF):
                yield Parse(unit.last, relation.joined, owner.cost + unit.cost + relation.cost + 0.2)


def noun_of_owner(context: Context, place: int, owner: NodeSet, cost: float) -> Iterator[Parse[NodeSet]]:
    """Yield the nodes that are the NOUN of others, where the noun names edges: `hyponyms` behind `dog's`."""
    for begin in context.skips(place):
        for unit in context.units.edges.get(begin, ()):
            if context.at(unit.last) == "by" or _is_verb_form(context, unit):
                continue
            yield from _of(context, unit, owner, unit.last, cost + 0.1)
            for head in heads_at(context, unit.last):  # "warfarin's similar compounds"
                for relation in context.relations.named(head.value, unit.edges, Voice.NOUN_OF, owner):
                    yield Parse(head.last, relation.joined, cost + relation.cost + 0.1)


# --------------------------------------------------------------------------------------------- nouns of relations
def relational_nouns(context: Context, place: int) -> Iterator[Parse[NodeSet]]:
    """Yield `hyponyms of dog`, `the maintainer of gimp`: a noun that names edges, and whose they are."""
    for begin in context.skips(place):
        for unit in context.units.edges.get(begin, ()):
            yield from _had(context, unit)
            of = context.starts(unit.last, "of", "for", "to", "in", "from")
            if of is None:
                yield from _before_name(context, unit)
            elif context.at(unit.last) == "of" or not _is_verb(context, unit, begin):
                for owner in context.nodes(of):
                    yield from _of(context, unit, owner.value, owner.last, owner.cost + 0.05)


def _had(context: Context, unit: EdgeUnit) -> Iterator[Parse[NodeSet]]:
    """Yield `hyponyms does dog have`, `hyponyms that dog has`."""
    begin = context.starts(unit.last, "does", "do", "did", "that", "which")
    for owner in names_at(context, begin) if begin is not None else ():
        last = context.starts(owner.last, "have", "has", "had", "got")
        if last is not None:
            yield from _of(context, unit, owner.value, last, owner.cost)


def _before_name(context: Context, unit: EdgeUnit) -> Iterator[Parse[NodeSet]]:
    """Yield `antonym expensive`."""
    for owner in names_at(context, unit.last):
        if not _is_verb_form(context, unit):
            yield from _of(context, unit, owner.value, owner.last, owner.cost + 0.3)


def _of(context: Context, unit: EdgeUnit, owner: NodeSet, last: int, cost: float) -> Iterator[Parse[NodeSet]]:
    """Yield the nodes that are the NOUN of others; a noun that is a kind as well is nothing of another kind."""
    own = [kind for kind in context.units.types.get(unit.first, ()) if kind.last == unit.last and not kind.cost]
    kinds = frozenset[int]().union(*(kind.types for kind in own))
    for relation in context.relations.of_noun(unit, context.at(unit.last - 1), owner):
        if not own or relation.nodes.types <= kinds:
            yield Parse(last, relation.joined, cost + relation.cost)


def _is_verb_form(context: Context, unit: EdgeUnit) -> bool:
    word = context.at(unit.last - 1)
    return word.endswith(("ing", "ed")) or word in ENGLISH.verb_of or word.removesuffix("s") in _VERBS


def _is_verb(context: Context, unit: EdgeUnit, begin: int) -> bool:
    """Return whether words for edges are a verb: "reports to X" of `reports_to`, "who works for X"."""
    labels = context.lexicon.vocabulary.edge_labels
    words = {word for edge in unit.edges for label in labels[edge] for word in label.words}
    return context.at(unit.last) in words or context.at(begin - 1) in ("who", "that", "which", "what")
