"""What two named things are compared by: `is X taller than Y`, `does X have more Z than Y`, `has a higher PROPERTY`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from orienteer.reading.clauses import Clauses
from orienteer.reading.comparisons import adjective
from orienteer.reading.context import Context, Parse
from orienteer.reading.edge_labels import Voice
from orienteer.reading.lexicon import EdgeUnit
from orienteer.reading.openings import ASKING
from orienteer.reading.phrases import PhraseRules
from orienteer.reading.query import ExactQuery, Measure, NodeSet
from orienteer.reading.relations import SchemaRelations
from orienteer.reading.thesaurus import COMPARATIVES, MORE

_DOES = ("does", "do", "has", "have", "is", "did")


class Contrast(NamedTuple):
    """What things are compared by, and whether more of it is asked for."""

    measure: Measure
    is_more: bool


class Contrasts:
    """Reads how one named thing is compared with another."""

    def __init__(self, context: Context, relations: SchemaRelations, phrases: PhraseRules, clauses: Clauses) -> None:
        self._context, self._relations, self._phrases, self._clauses = context, relations, phrases, clauses

    def queries(self, named: Parse[NodeSet]) -> Iterator[Parse[ExactQuery]]:
        """Yield `taller than Y`, `have more Z than Y`, `associated with more Z than Y`, behind a name."""
        begin = self._context.skip(named.last, ASKING)
        yield from self._by_adjective(named, begin)
        yield from self._by_measure(named, begin)

    def _by_adjective(self, named: Parse[NodeSet], begin: int) -> Iterator[Parse[ExactQuery]]:
        for meant in adjective(self._context, begin):
            than = self._context.starts(meant.last, "than")
            if than is None:
                continue
            word, is_more = meant.value
            facts = self._phrases.compared_by(word, named.value, begin)
            for other in self._context.nodes(than) if facts is not None else ():
                if other.value.named and facts is not None:
                    contrast = Contrast(Measure(property=facts.name), word.ascending == is_more)
                    yield self._compared(named, other, contrast, other.last)

    def _by_measure(self, named: Parse[NodeSet], begin: int) -> Iterator[Parse[ExactQuery]]:
        for contrast in self.measures(begin, named.value):
            than = self._context.starts(self._context.skip(contrast.last, ("it", "them")), "than")
            for other in self._context.nodes(than) if than is not None else ():
                if other.value.named:
                    end = self._context.starts(other.last, *_DOES) or other.last
                    parse = self._compared(named, other, contrast.value, end)
                    yield parse._replace(cost=parse.cost + contrast.cost)

    def _compared(
        self, named: Parse[NodeSet], other: Parse[NodeSet], contrast: Contrast, last: int
    ) -> Parse[ExactQuery]:
        ours, theirs = (self._relations.able(nodes, contrast.measure) for nodes in (named.value, other.value))
        query = ExactQuery("compare", ours, contrast.measure, theirs, contrast.is_more)
        return Parse(last, query, named.cost + other.cost)

    def measures(self, begin: int, nodes: NodeSet) -> Iterator[Parse[Contrast]]:
        """Yield `have more X`, `treat more X`, `a higher PROPERTY`, `more X associated with it`."""
        context = self._context
        start = context.skip(begin, ("a", "an", "the", "have", "has", "had", "with", "having"))
        if context.at(start) in MORE:
            for measure in self._clauses.measures(start + 1, nodes):
                yield Parse(measure.last, Contrast(measure.value, MORE[context.at(start)]), measure.cost)
        elif context.at(start) in COMPARATIVES:  # "the longer runtime"
            for facts, last, cost in self._clauses.named_property(start + 1, nodes):
                contrast = Contrast(Measure(property=facts.name), COMPARATIVES[context.at(start)].ascending)
                yield Parse(last, contrast, cost)
        for unit in context.units.edges.get(begin, ()):
            yield from self._by_verb(unit, nodes)

    def _by_verb(self, unit: EdgeUnit, nodes: NodeSet) -> Iterator[Parse[Contrast]]:
        """Yield `treat more X`, `associated with more X`."""
        context = self._context
        at = context.skip(unit.last, ("with", "on", "to", "in", "by", "for", "a", "the"))
        if context.at(at) not in MORE:
            return
        frame = Voice.PASSIVE if context.at(unit.last) == "by" else Voice.SUBJECT
        for head in self._phrases.heads(at + 1):
            for relation in self._relations.named(nodes, unit.edges, frame, head.value):
                yield Parse(head.last, Contrast(relation.measure, MORE[context.at(at)]), head.cost + relation.cost)
