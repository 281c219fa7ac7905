"""Which property an adjective or a verb compares: `tallest`, `older`, `most expensive`, `weighs`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from orienteer.reading.context import Context, Parse
from orienteer.reading.lexicon import PropertyFacts
from orienteer.reading.query import Best, Measure, NodeSet
from orienteer.reading.vocabulary import ENGLISH, WORDS, Adjective


class Superlative(NamedTuple):
    """A superlative: `tallest`, `most expensive`, `least expensive`."""

    adjective: Adjective
    is_more: bool
    """More of it is meant."""


def properties_of(context: Context, nodes: NodeSet) -> list[PropertyFacts]:
    """Return the properties that nodes of a set may have."""
    types = context.relations.types_of(nodes)
    return [facts for facts in context.lexicon.properties.values() if facts.types & types]


def compared_by(context: Context, adjective: Adjective, nodes: NodeSet, place: int) -> PropertyFacts | None:
    """Return the property that an adjective compares; None, with a complaint, where none or several are."""
    words = _stems(context, adjective.words)
    own = [facts for facts in properties_of(context, nodes) if facts.kind in ("number", "year", "date")]
    fitting = [facts for facts in own if words.intersection(facts.stems)]
    if adjective.is_age:
        others = _stems(context, WORDS["no ages"])
        fitting = [facts for facts in own if facts.kind in ("year", "date") and not others.intersection(facts.stems)]
        fitting = [facts for facts in fitting if words.intersection(facts.stems)] or fitting
    if len(fitting) > 1:  # `price` is more the price of a thing than `purchase_price` is
        fitting = [facts for facts in fitting if words.issuperset(facts.stems)] or fitting
    if len(fitting) == 1:
        return fitting[0]
    word = context.at(place)
    if fitting:
        names = ", ".join(facts.name for facts in fitting)
        context.complain(place, f"{word!r} may compare {names}: name one of them")
    else:
        context.complain(place, f"nothing here is told that {word!r} compares")
    return None


def stated_by(context: Context, verb: str, nodes: NodeSet) -> PropertyFacts | None:
    """Return the property that `weigh` or `cost` states; None where no property or several are stated so."""
    stems = _stems(context, ENGLISH.stating[verb])
    fitting = [facts for facts in properties_of(context, nodes) if stems.intersection(facts.stems)]
    return fitting[0] if len(fitting) == 1 else None


def _stems(context: Context, words: frozenset[str]) -> set[str]:
    return {context.lexicon.vocabulary.stem(word) for word in words}


def superlatives_at(context: Context, place: int) -> Iterator[Parse[Superlative]]:
    """Yield `tallest`, `most expensive`, `least expensive`."""
    word, after = context.at(place), context.at(place + 1)
    if word in ENGLISH.superlatives:
        yield Parse(place + 1, Superlative(ENGLISH.superlatives[word], is_more=True), 0.0)
    if word in ("most", "least") and after in ENGLISH.adjectives:
        yield Parse(place + 2, Superlative(ENGLISH.adjectives[after], word == "most"), 0.0)


def best_of(context: Context, nodes: NodeSet, superlative: Superlative, first: int, place: int) -> NodeSet | None:
    """Return the nodes of a set that a superlative is meant for; None where nothing tells by what."""
    adjective, is_more = superlative
    if nodes.best is not None:
        return None
    facts = compared_by(context, adjective, nodes, place)
    if facts is None:
        return None
    descending = adjective.ascending == is_more
    if adjective.is_age and facts.kind == "number":
        descending = not descending
    return replace(nodes, best=Best(Measure(property=facts.name), descending, first))
