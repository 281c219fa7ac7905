"""Noun phrases: names, kinds of things with what is said of them, possessives, and nouns of relations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from orienteer.methods.anchor.reading.context import Context, Parse, best
from orienteer.methods.anchor.reading.lexicon import NameUnit, PropertyFacts
from orienteer.methods.anchor.reading.query import Among, Best, Either, Filled, Joined, Measure, Nodes, Valued
from orienteer.methods.anchor.reading.relations import Frame, Relations
from orienteer.methods.anchor.reading.thesaurus import ADJECTIVES, MOST, PEOPLE, SUPERLATIVES, Adjective

_PRONOUNS = frozenset(
    [
        "anything",
        "things",
        "those",
        "ones",
        "one",
        "what",
        "something",
        "everything",
        "who",
        "whoever",
        "whichever",
        "which",
        "whatever",
        "people",
        "person",
        "anyone",
        "someone",
        "everyone",
        "somebody",
        "everybody",
        "anybody",
    ]
)
_PEOPLE = frozenset(
    ("who", "whoever", "people", "person", "anyone", "someone", "everyone", "somebody", "everybody", "anybody")
)
_LONGEST_CHAIN = 3  # possessives in a row
_AMBIGUOUS_AGE = 2  # properties that tell when a thing began; of more nobody can tell


class Phrases:
    """Reads noun phrases of one question."""

    def __init__(self, context: Context, relations: Relations) -> None:
        self._context, self._relations = context, relations
        self.heads = lru_cache(maxsize=None)(self._heads)

    def who(self) -> frozenset[int]:
        """Return the node types of people, by what they are called; none where no type is called so."""
        stem = self._context.lexicon.vocabulary.stem
        stems = set(map(stem, PEOPLE))
        labels = self._context.lexicon.vocabulary.node_labels
        return frozenset(number for number, own in enumerate(labels) for label in own if stems & set(label.stems))

    # ---------------------------------------------------------------------------------------------------- properties

    def properties_of(self, nodes: Nodes) -> list[PropertyFacts]:
        """Return the properties that nodes of a set may have."""
        types = self._relations.types_of(nodes)
        return [facts for facts in self._context.lexicon.properties.values() if facts.types & types]

    def compared_by(self, adjective: Adjective, nodes: Nodes, place: int) -> PropertyFacts | None:
        """Return the property that an adjective compares; None, with a complaint, where none or several are."""
        stem = self._context.lexicon.vocabulary.stem
        words = {stem(word) for word in adjective.words}
        own = [facts for facts in self.properties_of(nodes) if facts.kind in ("number", "year", "date")]
        fitting = [facts for facts in own if words.intersection(facts.stems)]
        if adjective.is_age:
            fitting = [facts for facts in own if facts.kind in ("year", "date")]
            sure = [facts for facts in fitting if words.intersection(facts.stems)]
            fitting = sure or fitting
        word = self._context.at(place)
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            names = ", ".join(facts.name for facts in fitting)
            self._context.complain(place, f"{word!r} may compare {names}: name one of them")
        else:
            self._context.complain(place, f"nothing here is told that {word!r} compares")
        return None

    # --------------------------------------------------------------------------------------------------------- names

    def names(self, place: int) -> Iterator[Parse[Nodes]]:
        """Yield named nodes: `Duvel`, `the brewery Duvel Moortgat`, `asthma disease`."""
        context = self._context
        for begin in context.skips(place):
            yield from self._referents(begin)
            for unit in context.units.names.get(begin, ()):
                cost = unit.cost - 0.03 * (unit.last - begin)  # of two ways to read words, the longer name
                yield Parse(unit.last, Nodes(conditions=(Among(unit.rows),)), cost)
                for kind in context.units.types.get(unit.last, ()):
                    yield from self._apposed(unit, kind.types, kind.last, cost)
            for kind in context.units.types.get(begin, ()):
                named = (
                    context.starts(kind.last, "by the name of", "with the name", "of the name", "known as") or kind.last
                )
                named = context.skip(named, ("named", "called", "the", "titled"))
                for unit in context.units.names.get(named, ()):
                    yield from self._apposed(unit, kind.types, unit.last, unit.cost - 0.03 * (unit.last - begin))

    def _referents(self, place: int) -> Iterator[Parse[Nodes]]:
        """Yield what a pronoun stands for: `them`, `it`, `those harbours`, `these`."""
        context = self._context
        for words in (
            "those",
            "these",
            "them",
            "they",
            "it",
            "that",
            "each of them",
            "any of them",
            "all of them",
            "him",
            "her",
            "he",
            "she",
            "there",
            "their",
            "its",
            "the ones",
            "ones",
            "each",
            "the two",
            "both",
        ):
            last = context.starts(place, words)
            if last is None:
                continue
            for referent in context.referents:
                own = self._relations.types_of(referent)
                yield Parse(last, referent, 0.05)
                for kind in context.units.types.get(last, ()):
                    if kind.types & own:
                        yield Parse(kind.last, referent, 0.0)

    def _apposed(self, unit: NameUnit, types: frozenset[int], last: int, cost: float) -> Iterator[Parse[Nodes]]:
        node_types = self._context.lexicon.graph.arrays.node_types
        rows = tuple(row for row in unit.rows if int(node_types[row]) in types)
        if rows:
            yield Parse(last, Nodes(conditions=(Among(rows),)), cost - 0.05)

    # --------------------------------------------------------------------------------------------------------- kinds

    def _heads(self, place: int) -> list[Parse[Nodes]]:
        """Return the kinds of things that begin here, with the words right before them: `three oldest stone towers`."""
        return best(self._all_heads(place))

    def _all_heads(self, place: int) -> Iterator[Parse[Nodes]]:
        context = self._context
        for begin in context.skips(place):
            if context.at(begin) in _PRONOUNS and not context.units.types.get(begin):
                yield Parse(begin + 1, Nodes(self.who() if context.at(begin) in _PEOPLE else frozenset()), 0.1)
            for kind in context.units.types.get(begin, ()):
                yield Parse(kind.last, Nodes(types=kind.types), kind.cost)
        if context.is_exhausted():
            return
        begin = context.skip(place)
        yield from self._counted_best(begin)
        yield from self._most_done(begin)
        for unit in context.units.values.get(begin, ()):
            facts = context.lexicon.properties[unit.property]
            joined = context.starts(unit.last, "or", "and")
            for other in context.units.values.get(joined, ()) if joined is not None else ():  # "green or yellow buoys"
                if other.property == unit.property:
                    for head in self.heads(other.last):
                        if self._relations.types_of(head.value) & facts.types:
                            options = tuple((Valued(facts.name, "=", value),) for value in (unit.value, other.value))
                            nodes = replace(head.value, types=self._types_with(head.value, facts)).that(Either(options))
                            yield Parse(head.last, nodes, head.cost + unit.cost)
            for head in self.heads(unit.last):
                if self._relations.types_of(head.value) & facts.types and unit.last < head.last:
                    nodes = head.value.that(Valued(unit.property, "=", unit.value))
                    yield Parse(head.last, replace(nodes, types=self._types_with(nodes, facts)), head.cost + unit.cost)
        for prop in context.units.properties.get(begin, ()):
            facts = context.lexicon.properties[prop.property]
            if facts.kind == "boolean":
                is_not = begin > 0 and context.at(begin - 1) in ("non", "not")
                for head in self.heads(prop.last):
                    if self._relations.types_of(head.value) & facts.types:
                        nodes = head.value.that(Valued(facts.name, "=", "true", negated=is_not))
                        yield Parse(head.last, nodes, head.cost + prop.cost)
        for unit in context.units.names.get(begin, ()):
            yield from self._class_of(unit, begin)
        for name in self.names(begin):
            for head in self.heads(name.last):
                if head.value.types and not head.value.named:
                    for relation in self._relations.unnamed(head.value, "", name.value, Frame.SUBJECT):
                        joined = Joined(relation.kinds, relation.target)
                        yield Parse(head.last, relation.nodes.that(joined), head.cost + name.cost + relation.cost + 0.1)

    def _class_of(self, unit: NameUnit, begin: int) -> Iterator[Parse[Nodes]]:
        """Yield `stouts`, `a pilsner`: the things of a style, where one kind of things alone has such styles."""
        context, arrays = self._context, self._context.lexicon.graph.arrays
        last = context.at(unit.last - 1)
        is_plural = last.endswith("s") and not any(arrays.names[row].casefold().endswith(last) for row in unit.rows)
        if not is_plural:
            return
        classes = Nodes(conditions=(Among(unit.rows),))
        for relation in self._relations.unnamed(Nodes(), "", classes, Frame.SUBJECT):
            if len(relation.nodes.types) == 1 and all(not kind & 1 for kind in relation.kinds):
                yield Parse(unit.last, relation.nodes.that(Joined(relation.kinds, relation.target)), unit.cost + 0.2)

    def _most_done(self, place: int) -> Iterator[Parse[Nodes]]:
        """Yield `most supported paradigm`: by how many edges of this kind a node has."""
        context = self._context
        is_more = {"most": True, "least": False}.get(context.at(place))
        if is_more is None:
            return
        for unit in context.units.edges.get(place + 1, ()):
            if not context.at(unit.last - 1).endswith(("ed", "en", "n", "t", "d")) or context.at(
                unit.last - 1
            ).endswith("ent"):
                continue  # "most influential" is not "most influenced"
            for head in self.heads(unit.last):
                for relation in self._relations.named(head.value, unit.edges, Frame.PASSIVE, Nodes()):
                    if relation.nodes.types and head.value.best is None:
                        measure = Measure(kinds=relation.kinds, target=relation.target)
                        yield Parse(
                            head.last, replace(relation.nodes, best=Best(measure, is_more)), head.cost + relation.cost
                        )

    def _types_with(self, nodes: Nodes, facts: PropertyFacts) -> frozenset[int]:
        return self._relations.types_of(nodes) & facts.types

    # -------------------------------------------------------------------------------------------------- superlatives

    def superlative(self, place: int) -> Iterator[Parse[tuple[Adjective | None, bool, str]]]:
        """Yield `tallest`, `most expensive`, `highest`: the adjective, None for any property; whether more is meant."""
        word = self._context.at(place)
        if word in SUPERLATIVES:
            yield Parse(place + 1, (SUPERLATIVES[word], True, word), 0.0)
        if word in ("most", "least") and self._context.at(place + 1) in ADJECTIVES:
            yield Parse(place + 2, (ADJECTIVES[self._context.at(place + 1)], word == "most", word), 0.0)

    def best_of(
        self, nodes: Nodes, superlative: tuple[Adjective | None, bool, str], first: int, place: int
    ) -> Nodes | None:
        """Return the nodes of a set that a superlative is meant for; None where nothing tells by what."""
        adjective, is_more, _ = superlative
        if adjective is None or nodes.best is not None:
            return None
        facts = self.compared_by(adjective, nodes, place)
        if facts is None:
            return None
        descending = adjective.ascending == is_more
        if adjective.is_age and facts.kind == "number":
            descending = not descending
        return replace(nodes, best=Best(Measure(property=facts.name), descending, first))

    def _counted_best(self, place: int) -> Iterator[Parse[Nodes]]:
        """Yield `oldest tower`, `three oldest towers`, `oldest three towers`, `second` is not read."""
        context = self._context
        begin = context.skip(place, ("top", "first"))
        first, at = self._how_many(begin)
        more = MOST.get(context.at(at))
        for prop in context.units.properties.get(at + 1, ()) if more is not None else ():  # "highest abv"
            facts = context.lexicon.properties[prop.property]
            if facts.kind in ("number", "year", "date") and more is not None:
                scope = context.starts(prop.last, "of all", "of any", "of", "among all", "among", "in")
                heads = self.heads(scope) if scope is not None else []
                best_by = Best(Measure(property=facts.name), more, first)
                yield Parse(prop.last, Nodes(facts.types, best=best_by), prop.cost + 0.2)
                for head in heads:
                    if facts.types & self._relations.types_of(head.value) and not head.value.named:
                        yield Parse(head.last, replace(head.value, best=best_by), head.cost + prop.cost)
                for head in self.heads(prop.last):  # "highest abv beer"
                    if head.value.types & facts.types:
                        yield Parse(head.last, replace(head.value, best=best_by), head.cost + prop.cost)
        for parse in self.superlative(at):
            after, last = self._how_many(parse.last) if first == 1 and at == begin else (first, parse.last)
            for head in self.heads(last):
                nodes = self.best_of(head.value, parse.value, max(first, after), at)
                if nodes is not None:
                    yield Parse(head.last, nodes, head.cost)

    def _how_many(self, place: int) -> tuple[int, int]:
        amount = self._context.units.quantities.get(place)
        if amount is None or amount.unit is not None or amount.span is not None or amount.value != int(amount.value):
            return 1, place
        return (int(amount.value), amount.last) if 0 < amount.value <= 1000 else (1, place)

    # -------------------------------------------------------------------------------------------------------- phrases

    def owned(self, owner: Parse[Nodes]) -> Iterator[Parse[Nodes]]:
        """Yield what belongs to nodes: `Duvel's brewery`, `dog's hyponyms`, and on: `Duvel's brewery's country`."""
        context = self._context
        links = [owner]
        for _ in range(_LONGEST_CHAIN):
            owned = [further for link in links for further in self._owned_once(link)]
            if not owned or context.is_exhausted():
                return
            yield from owned
            links = owned

    def _owned_once(self, owner: Parse[Nodes]) -> Iterator[Parse[Nodes]]:
        begin = self._context.possessive(owner.last)
        if begin is None:
            return
        for head in self.heads(begin):
            if head.value.named:
                continue
            for relation in self._relations.unnamed(head.value, "of", owner.value, Frame.NOUN_OF):
                nodes = relation.nodes.that(Joined(relation.kinds, relation.target))
                yield Parse(head.last, nodes, owner.cost + head.cost + relation.cost - 0.2)
        yield from self.noun_of(begin, owner.value, owner.cost)

    def noun_of(self, place: int, owner: Nodes, cost: float, last: int | None = None) -> Iterator[Parse[Nodes]]:
        """Yield the nodes that are the NOUN of others, where the noun names edges."""
        context = self._context
        for begin in context.skips(place):
            for unit in context.units.edges.get(begin, ()):
                if context.at(unit.last) == "by" or context.at(unit.last - 1).endswith(("ing", "ed")):
                    continue
                for relation in self._relations.of_noun(unit, context.at(unit.last - 1), owner):
                    nodes = relation.nodes.that(Joined(relation.kinds, relation.target))
                    yield Parse(unit.last if last is None else last, nodes, cost + relation.cost + 0.1)
                for head in self.heads(unit.last):  # "warfarin's similar compounds"
                    for relation in self._relations.named(head.value, unit.edges, Frame.NOUN_OF, owner):
                        nodes = relation.nodes.that(Joined(relation.kinds, relation.target))
                        yield Parse(head.last, nodes, cost + relation.cost + 0.1)

    def relational(self, place: int) -> Iterator[Parse[Nodes]]:
        """Yield `hyponyms of dog`, `the maintainer of gimp`: a noun that names edges, and whose they are."""
        context = self._context
        for begin in context.skips(place):
            for unit in context.units.edges.get(begin, ()):
                of = context.starts(unit.last, "of", "for", "to", "in", "from")
                have = context.starts(unit.last, "does", "do", "did", "that", "which")
                if have is not None:  # "how many hyponyms does dog have"
                    for owner in self.names(have):
                        last = context.starts(owner.last, "have", "has", "had", "got")
                        for relation in (
                            self._relations.of_noun(unit, context.at(unit.last - 1), owner.value)
                            if last is not None
                            else ()
                        ):
                            yield Parse(
                                last,
                                relation.nodes.that(Joined(relation.kinds, relation.target)),
                                owner.cost + relation.cost,
                            )
                if of is not None and context.at(unit.last) != "of":
                    labels = context.lexicon.vocabulary.edge_labels
                    words = {word for edge in unit.edges for label in labels[edge] for word in label.words}
                    if context.at(unit.last) in words or context.at(begin - 1) in ("who", "that", "which"):
                        continue  # "reports to X" is a verb
                if of is None:
                    for owner in self.names(unit.last):  # "antonym expensive"
                        if not context.at(unit.last - 1).endswith(("ing", "ed")):
                            for relation in self._relations.of_noun(unit, context.at(unit.last - 1), owner.value):
                                nodes = relation.nodes.that(Joined(relation.kinds, relation.target))
                                yield Parse(owner.last, nodes, owner.cost + relation.cost + 0.3)
                    continue
                for owner in context.nodes(of):
                    for relation in self._relations.of_noun(unit, context.at(unit.last - 1), owner.value):
                        nodes = relation.nodes.that(Joined(relation.kinds, relation.target))
                        yield Parse(owner.last, nodes, owner.cost + relation.cost + 0.05)

    def filled(self, facts: PropertyFacts, nodes: Nodes, *, negated: bool) -> Nodes:
        """Return the nodes of a set that have a property, or that lack it."""
        return nodes.that(Filled(facts.name, negated))


def most_word(word: str) -> bool | None:
    """Return whether a superlative of numbers asks for more; None for any other word."""
    return MOST.get(word)
