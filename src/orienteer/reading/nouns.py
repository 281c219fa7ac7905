"""Noun phrases with all that is said of their nodes: `Duvel's brewery`, `beers that X brews`, `alumni of X and Y`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orienteer.reading.clauses import Clauses, Objects
from orienteer.reading.context import Context, Parse, best
from orienteer.reading.lexicon import EdgeUnit
from orienteer.reading.phrases import PhraseRules
from orienteer.reading.query import Condition, Either, Joined, NodeSet
from orienteer.reading.relations import SchemaRelations
from orienteer.reading.shared_things import SharedThings

_DOING = ("do", "does", "did")
_COMMON = ("common", "shared", "mutual", "joint")
_DEEPEST = 30  # noun phrases within one another; a question that needs more is refused


class NounPhrases:
    """Reads the noun phrases of one question, each place once."""

    def __init__(self, context: Context, relations: SchemaRelations, phrases: PhraseRules, clauses: Clauses) -> None:
        self._context, self._relations, self._phrases, self._clauses = context, relations, phrases, clauses
        self._shared = SharedThings(context, clauses.lists)
        self._parses: dict[int, list[Parse[NodeSet]]] = {}
        self.is_too_deep = False
        """A phrase had more phrases within it than are read."""

    def nodes(self, place: int) -> list[Parse[NodeSet]]:
        """Return the noun phrases that begin at a place, likeliest first."""
        if place in self._parses:
            return self._parses[place]
        if self._context.depth >= _DEEPEST:
            self.is_too_deep = True
            return []
        self._parses[place] = []  # a phrase does not begin with itself
        self._context.depth += 1
        self._parses[place] = best(self._all(place)) if place < self._context.end else []
        self._context.depth -= 1
        return self._parses[place]

    def forget(self) -> None:
        """Forget what was read: pronouns stand for something else now."""
        self._parses.clear()
        self._phrases.forget()

    def _all(self, place: int) -> Iterator[Parse[NodeSet]]:
        if self._context.is_exhausted():
            return
        for named in self._phrases.names(place):
            yield from self._with_name(place, named)
        for head in self._phrases.heads(place):
            yield from self._clauses.described(head)
            for owned in self._phrases.owned(head):
                yield from self._clauses.described(owned)
        for related in self._phrases.relational(place):
            yield from self._clauses.described(related)
        yield from self._nouns_of_many(place)
        yield from self._common(place)

    def _with_name(self, place: int, named: Parse[NodeSet]) -> Iterator[Parse[NodeSet]]:
        """Yield `Duvel`, `the Night Owl from Ballycrane`, `Duvel's brewery`."""
        yield named
        if not named.value.named or self._are_namesakes(named.value):
            yield from self._clauses.described(named)
        asks_what_it_does = self._context.at(place - 1) in _DOING  # "who did X mentor"
        for noun in self._phrases.noun_of(named.last, named.value, named.cost + 0.2) if not asks_what_it_does else ():
            yield from self._clauses.described(noun)
        for owned in self._phrases.owned(named):
            yield from self._clauses.described(owned)

    def _are_namesakes(self, nodes: NodeSet) -> bool:
        """Tell whether several nodes of one type are called the same."""
        arrays = self._context.lexicon.graph.arrays
        names = {(int(arrays.node_types[row]), arrays.names[row].casefold()) for row in nodes.named}
        return len(names) == 1 < len(nodes.named)

    def _nouns_of_many(self, place: int) -> Iterator[Parse[NodeSet]]:
        """Yield `alumni of X and Y`, `members of either X or Y`."""
        context = self._context
        for begin in context.skips(place):
            for unit in context.units.edges.get(begin, ()):
                of = context.starts(unit.last, "of", "both of", "of both", "of either")
                for objects in self._clauses.objects(of) if of is not None else ():
                    if len(objects.value.members) > 1:
                        yield from self._noun_of_many(unit, objects)
                for owners in self._shared.owners(context.starts(unit.last, "that", "which") or unit.last):
                    yield from self._noun_of_many(unit, owners)

    def _common(self, place: int) -> Iterator[Parse[NodeSet]]:
        """Yield `common symptoms of X and Y`, `shared paradigms of X and Y`: those that all of several have."""
        begin = self._context.skip(place)
        if self._context.at(begin) not in _COMMON:
            return
        for nodes in self.nodes(begin + 1):
            if len({condition for condition in nodes.value.conditions if _is_of_name(condition)}) > 1:
                yield nodes
            between = self._context.starts(nodes.last, "between", "among")
            for objects in self._clauses.objects(between) if between is not None else ():
                if len(objects.value.members) > 1 and not objects.value.any and not nodes.value.conditions:
                    yield from self._clauses.had_by(objects._replace(value=objects.value._replace(both=True)), nodes)

    def _noun_of_many(self, unit: EdgeUnit, objects: Parse[Objects]) -> Iterator[Parse[NodeSet]]:
        conditions: list[Condition] = []
        nodes = NodeSet()
        for member in objects.value.members:
            relation = next(self._relations.of_noun(unit, self._context.at(unit.last - 1), member.nodes), None)
            if relation is None:
                return
            nodes = replace(nodes, types=relation.nodes.types)
            conditions.append(Joined(relation.kinds, relation.target, member.negated))
        if objects.value.any:
            conditions = [Either(tuple((condition,) for condition in conditions))]
        yield Parse(objects.last, nodes.that(*conditions), objects.cost)


def _is_of_name(condition: Condition) -> bool:
    """Tell whether a condition is that an edge leads to a named node."""
    return isinstance(condition, Joined) and bool(condition.target.named) and not condition.negated
