"""What is claimed of one thing: `is X's owner Y`, `is the hull of X steel`, `did the designer of X win Y`."""

from __future__ import annotations

from collections.abc import Iterator

from orienteer.reading.clauses import Clauses
from orienteer.reading.context import Context, Parse
from orienteer.reading.function_words import words_of
from orienteer.reading.phrases import PhraseRules
from orienteer.reading.query import Among, ExactQuery, NodeSet
from orienteer.reading.relations import SchemaRelations

_OF_ONE = words_of("is was has does")
"""Verbs of a singular: "did" and "can" may be said of many, of which nobody tells whether one or all are meant."""
_SOME = words_of("a an any some anyone anybody someone somebody anything something")


class Claims:
    """Reads questions whether something is so of one thing, in one question."""

    def __init__(self, context: Context, relations: SchemaRelations, phrases: PhraseRules, clauses: Clauses) -> None:
        self._context, self._relations, self._phrases, self._clauses = context, relations, phrases, clauses

    def queries(self, start: int) -> Iterator[Parse[ExactQuery]]:
        """Yield the queries that begin behind the verb of a question."""
        yield from self._identical(start)
        yield from self._of_kind(start)
        yield from self._valued(start)
        yield from self._described(start)

    def _identical(self, start: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `X's owner Y`, `the owner of X Y`, `Y X's owner`, of which one is a name and one is described."""
        is_asked = self._context.at(start - 1) in ("is", "was", "are", "were")
        if not is_asked and self._context.at(start - 1) not in ("if", "whether", "that"):
            return
        for first in self._context.nodes(start):
            behind = first.last if is_asked else self._context.starts(first.last, "is", "was", "are", "were")
            for second in self._context.nodes(behind) if behind is not None else ():
                named, described = (first, second) if first.value.named else (second, first)
                rows = self._of_types(named.value, described.value)
                if rows and not described.value.named and described.value.conditions and not described.value.best:
                    nodes = described.value.that(Among(rows))
                    yield Parse(second.last, ExactQuery("test", nodes), first.cost + second.cost + 0.1)

    def _of_types(self, named: NodeSet, described: NodeSet) -> tuple[int, ...]:
        types = self._relations.types_of(described)
        node_types = self._context.lexicon.graph.arrays.node_types
        return tuple(row for row in named.named if int(node_types[row]) in types)

    def _of_kind(self, start: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `X a lighthouse`, where X is none."""
        if self._context.at(start - 1) not in ("is", "was"):
            return
        for named in self._phrases.names(start):
            article = self._context.starts(named.last, "a", "an")
            for unit in self._context.units.types.get(article, ()) if article is not None else ():
                if unit.types and named.value.named and self._context.is_over(unit.last):
                    nodes = NodeSet(unit.types, named.value.conditions)
                    yield Parse(unit.last, ExactQuery("test", nodes), named.cost + unit.cost + 0.1)

    def _valued(self, start: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `X's hull steel`, `the salary of X over 60,000 euros`, `the crew of X smaller than that of Y`."""
        context = self._context
        for unit in context.units.properties.get(context.skip(start), ()):
            of = context.starts(unit.last, "of", "for")
            for named in self._phrases.names(of) if of is not None else ():
                yield from self._said_of_property(unit.property, named, named.last, unit.cost)
        for named in self._phrases.names(start):
            begin = context.possessive(named.last)
            for unit in context.units.properties.get(begin, ()) if begin is not None else ():
                yield from self._said_of_property(unit.property, named, unit.last, unit.cost)

    def _said_of_property(
        self, name: str, named: Parse[NodeSet], last: int, cost: float
    ) -> Iterator[Parse[ExactQuery]]:
        facts = self._context.lexicon.properties[name]
        if facts.types & self._relations.types_of(named.value):
            for nodes in self._clauses.valued(facts, last, named.value):
                yield Parse(nodes.last, ExactQuery("test", nodes.value), named.cost + cost + nodes.cost)

    def _described(self, start: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `the designer of X received Y`, `anyone discover X`: whether something is so described."""
        word = self._context.at(start)
        is_some = word in _SOME
        is_singular = self._context.at(start - 1) in _OF_ONE or (word == "the" and not self._is_plural(start + 1))
        if not is_some and not is_singular and not self._is_owned_one(start):
            return
        for nodes in self._context.nodes(start) if word not in ("all", "every", "each") else ():
            # of "the designer of X" alone nothing is claimed
            if len(nodes.value.conditions) > (0 if is_some else 1) and not nodes.value.named and not nodes.value.best:
                yield Parse(nodes.last, ExactQuery("test", nodes.value), nodes.cost + 0.1)

    def _is_owned_one(self, start: int) -> bool:
        """Tell whether a possessive begins here whose thing is one: `Pascal's designer`."""
        for named in self._phrases.names(start):
            owned = self._context.possessive(named.last)
            if owned is not None and not self._is_plural(owned):
                return True
        return False

    def _is_plural(self, place: int) -> bool:
        word = self._context.at(place)
        return word == "people" or (word.endswith("s") and not word.endswith("ss"))
