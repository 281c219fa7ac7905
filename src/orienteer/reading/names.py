"""Named nodes: `Duvel`, `the brewery Duvel Moortgat`, `asthma disease`, and pronouns for what was spoken of."""

from __future__ import annotations

from collections.abc import Iterator

from orienteer.reading.context import Context, Parse
from orienteer.reading.lexicon import NameUnit, PropertyFacts
from orienteer.reading.query import Among, NodeSet
from orienteer.reading.vocabulary import ENGLISH

_PER_WORD = 0.03  # of two ways to read words, the longer name


def names_at(context: Context, place: int) -> Iterator[Parse[NodeSet]]:
    """Yield the named nodes that begin at a place."""
    for begin in context.skips(place):
        yield from _referents(context, begin)
        yield from _before_kind(context, begin)
        yield from _behind_kind(context, begin)


def _before_kind(context: Context, begin: int) -> Iterator[Parse[NodeSet]]:
    """Yield `Duvel`, `asthma disease`."""
    units = context.units
    for unit in units.names.get(begin, ()):
        cost = unit.cost - _PER_WORD * (unit.last - begin)
        yield Parse(unit.last, NodeSet(conditions=(Among(unit.rows),)), cost)
        for kind in units.types.get(unit.last, ()):
            yield from _of_types(context, unit, kind.types, kind.last, cost)
        for value in units.values.get(unit.last, ()):
            facts = context.lexicon.properties.get(value.property)
            rows = tuple(row for row in unit.rows if facts and _is_so(context, facts, row, value.value))
            if rows and not value.value.endswith("ed"):  # "was X delivered by Y" does not say that X is
                yield Parse(value.last, NodeSet(conditions=(Among(rows),)), cost + value.cost)


def _is_so(context: Context, facts: PropertyFacts, row: int, value: str) -> bool:
    """Return whether a node has a value: `the Shipwreck overture` is one."""
    own = context.lexicon.value(facts, row)
    return isinstance(own, str) and own.casefold() == value.casefold()


def _behind_kind(context: Context, begin: int) -> Iterator[Parse[NodeSet]]:
    """Yield `the brewery Duvel Moortgat`, `the brewery called Duvel Moortgat`."""
    for role in context.units.edges.get(begin, ()):
        word = context.at(role.last - 1)
        # "director X"; "who tutors X" asks, and "the artist X" is one
        is_kind = word.endswith("s") or any(kind.last == role.last for kind in context.units.types.get(begin, ()))
        if not is_kind and any(context.relations.doers(role, word)):
            for unit in context.units.names.get(role.last, ()):
                cost = unit.cost - _PER_WORD * (unit.last - begin) + 0.1
                yield Parse(unit.last, NodeSet(conditions=(Among(unit.rows),)), cost)
    is_verb = context.at(begin).endswith(("ed", "ing")) or context.at(begin - 1) in ("who", "whom", "which", "that")
    for kind in context.units.types.get(begin, ()) if not is_verb else ():
        named = context.end_of(kind.last, "by the name of") or kind.last
        starts = context.skips(named, ("named", "called", "the", "titled"))
        for unit in (unit for start in starts for unit in context.units.names.get(start, ())):
            cost = unit.cost - _PER_WORD * (unit.last - begin)
            yield from _of_types(context, unit, kind.types, unit.last, cost)
        if context.at(kind.last) == "of" and not context.at(kind.last - 1).endswith("s"):  # "the harbour of X"
            for unit in context.units.names.get(kind.last + 1, ()):
                yield from _of_types(context, unit, kind.types, unit.last, unit.cost)


def _of_types(
    context: Context, unit: NameUnit, types: frozenset[int], last: int, cost: float
) -> Iterator[Parse[NodeSet]]:
    node_types = context.lexicon.graph.arrays.node_types
    rows = tuple(row for row in unit.rows if int(node_types[row]) in types)
    if rows:
        yield Parse(last, NodeSet(conditions=(Among(rows),)), cost - 0.05)


def _referents(context: Context, place: int) -> Iterator[Parse[NodeSet]]:
    """Yield what a pronoun stands for: `them`, `it`, `those harbours`, `these`."""
    for pronoun in ENGLISH.phrases["pronouns"] if context.referents else ():
        last = context.starts(place, pronoun)
        if last is None:
            continue
        for referent in context.referents:
            types = context.relations.types_of(referent)
            yield Parse(last, referent, 0.05)
            for kind in context.units.types.get(last, ()):
                if kind.types & types:
                    yield Parse(kind.last, referent, 0.0)
