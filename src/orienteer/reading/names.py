"""Named nodes: `Duvel`, `the brewery Duvel Moortgat`, `asthma disease`, and pronouns for what was spoken of."""

from __future__ import annotations

from collections.abc import Iterator

from orienteer.reading.context import Context, Parse
from orienteer.reading.function_words import phrases_of
from orienteer.reading.lexicon import NameUnit, PropertyFacts
from orienteer.reading.query import Among, NodeSet
from orienteer.reading.relations import SchemaRelations

_PRONOUNS = phrases_of(
    """those, these, them, they, it, that, each of them, any of them, all of them, him, her, he, she, there, their,
    its, the ones, ones, each, the two, both"""
)
_CALLED = phrases_of("by the name of, with the name, of the name, known as")
_PER_WORD = 0.03  # of two ways to read words, the longer name


class NamePhrases:
    """Reads the names of one question."""

    def __init__(self, context: Context, relations: SchemaRelations) -> None:
        self._context, self._relations = context, relations

    def at(self, place: int) -> Iterator[Parse[NodeSet]]:
        """Yield the named nodes that begin at a place."""
        for begin in self._context.skips(place):
            yield from self._referents(begin)
            yield from self._before_kind(begin)
            yield from self._behind_kind(begin)

    def _before_kind(self, begin: int) -> Iterator[Parse[NodeSet]]:
        """Yield `Duvel`, `asthma disease`."""
        units = self._context.units
        for unit in units.names.get(begin, ()):
            cost = unit.cost - _PER_WORD * (unit.last - begin)
            yield Parse(unit.last, NodeSet(conditions=(Among(unit.rows),)), cost)
            for kind in units.types.get(unit.last, ()):
                yield from self._of_types(unit, kind.types, kind.last, cost)
            for value in units.values.get(unit.last, ()):
                facts = self._context.lexicon.properties.get(value.property)
                rows = tuple(row for row in unit.rows if facts and self._is_so(facts, row, value.value))
                if rows and not value.value.endswith("ed"):  # "was X delivered by Y" does not say that X is
                    yield Parse(value.last, NodeSet(conditions=(Among(rows),)), cost + value.cost)

    def _is_so(self, facts: PropertyFacts, row: int, value: str) -> bool:
        """Tell whether a node has a value: `the Shipwreck overture` is one."""
        own = self._context.lexicon.value(facts, row)
        return isinstance(own, str) and own.casefold() == value.casefold()

    def _behind_kind(self, begin: int) -> Iterator[Parse[NodeSet]]:
        """Yield `the brewery Duvel Moortgat`, `the brewery called Duvel Moortgat`."""
        context = self._context
        for role in context.units.edges.get(begin, ()):
            word = context.at(role.last - 1)
            if not word.endswith("s") and any(self._relations.doers(role, word)):  # "director X"; "who tutors X" asks
                for unit in context.units.names.get(role.last, ()):
                    cost = unit.cost - _PER_WORD * (unit.last - begin) + 0.1
                    yield Parse(unit.last, NodeSet(conditions=(Among(unit.rows),)), cost)
        is_verb = context.at(begin).endswith(("ed", "ing")) or context.at(begin - 1) in ("who", "whom", "which", "that")
        for kind in context.units.types.get(begin, ()) if not is_verb else ():
            named = context.starts(kind.last, *_CALLED) or kind.last
            starts = context.skips(named, ("named", "called", "the", "titled"))
            for unit in (unit for start in starts for unit in context.units.names.get(start, ())):
                cost = unit.cost - _PER_WORD * (unit.last - begin)
                yield from self._of_types(unit, kind.types, unit.last, cost)
            if context.at(kind.last) == "of" and not context.at(kind.last - 1).endswith("s"):  # "the harbour of X"
                for unit in context.units.names.get(kind.last + 1, ()):
                    yield from self._of_types(unit, kind.types, unit.last, unit.cost)

    def _of_types(self, unit: NameUnit, types: frozenset[int], last: int, cost: float) -> Iterator[Parse[NodeSet]]:
        node_types = self._context.lexicon.graph.arrays.node_types
        rows = tuple(row for row in unit.rows if int(node_types[row]) in types)
        if rows:
            yield Parse(last, NodeSet(conditions=(Among(rows),)), cost - 0.05)

    def _referents(self, place: int) -> Iterator[Parse[NodeSet]]:
        """Yield what a pronoun stands for: `them`, `it`, `those harbours`, `these`."""
        context = self._context
        for pronoun in _PRONOUNS if context.referents else ():
            last = context.starts(place, pronoun)
            if last is None:
                continue
            for referent in context.referents:
                types = self._relations.types_of(referent)
                yield Parse(last, referent, 0.05)
                for kind in context.units.types.get(last, ()):
                    if kind.types & types:
                        yield Parse(kind.last, referent, 0.0)
