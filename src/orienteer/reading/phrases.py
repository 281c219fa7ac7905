"""Noun phrases: names, kinds of things with the words before them, possessives, and nouns of relations."""

from __future__ import annotations

from collections.abc import Iterator

from orienteer.reading.adjectives import Adjectives
from orienteer.reading.context import Context, Parse
from orienteer.reading.edge_labels import Voice
from orienteer.reading.kinds import KindPhrases
from orienteer.reading.lexicon import EdgeUnit
from orienteer.reading.names import NamePhrases
from orienteer.reading.query import NodeSet
from orienteer.reading.relations import Relation, SchemaRelations
from orienteer.reading.synonyms import IRREGULAR_VERBS

_VERBS = frozenset(IRREGULAR_VERBS.values())
_LONGEST_CHAIN = 3  # possessives in a row


class PhraseRules:
    """Reads noun phrases of one question."""

    def __init__(self, context: Context, relations: SchemaRelations) -> None:
        self._context, self._relations = context, relations
        adjectives = Adjectives(context, relations)
        self.properties_of, self.compared_by = adjectives.properties_of, adjectives.compared_by
        self.stated_by, self.superlative, self.best_of = (
            adjectives.stated_by,
            adjectives.superlative,
            adjectives.best_of,
        )
        self.names = NamePhrases(context, relations).at
        kinds = KindPhrases(context, relations, adjectives, self.names)
        self.heads, self.who, self.forget = kinds.heads, kinds.who, kinds.forget

    def having(self, nodes: NodeSet, unit: EdgeUnit, target: NodeSet) -> Iterator[Relation]:
        """Yield the relation of nodes that have what words for edges say: a `manager`, a mentor."""
        return self._relations.having(nodes, unit, self._context.at(unit.last - 1), target)

    # --------------------------------------------------------------------------------------------------- possessives

    def owned(self, owner: Parse[NodeSet]) -> Iterator[Parse[NodeSet]]:
        """Yield what belongs to nodes: `Duvel's brewery`, `dog's hyponyms`, and on: `Duvel's brewery's country`."""
        links = [owner]
        for _ in range(_LONGEST_CHAIN):
            links = [further for link in links for further in self._owned_once(link)]
            if not links or self._context.is_exhausted():
                return
            yield from links

    def _owned_once(self, owner: Parse[NodeSet]) -> Iterator[Parse[NodeSet]]:
        begin = self._context.possessive(owner.last)
        if begin is None:
            yield from self._beside(owner)
            return
        for head in self.heads(begin):
            if not head.value.named:
                for relation in self._relations.unnamed(head.value, "of", owner.value, Voice.NOUN_OF):
                    cost = owner.cost + head.cost + relation.cost - 0.2
                    yield Parse(head.last, relation.joined, cost)
        yield from self.noun_of(begin, owner.value, owner.cost)

    def _beside(self, owner: Parse[NodeSet]) -> Iterator[Parse[NodeSet]]:
        """Yield `Duvel brewery country`: words for a search, at the end, without a possessive."""
        if owner.value.named or not owner.value.conditions:
            return  # a name before a kind is read with the kinds; "concert halls" are a kind of halls
        for unit in self._context.units.types.get(owner.last, ()):
            if unit.types and self._context.is_over(unit.last):
                for relation in self._relations.unnamed(NodeSet(unit.types), "of", owner.value, Voice.NOUN_OF):
                    yield Parse(unit.last, relation.joined, owner.cost + unit.cost + relation.cost + 0.2)

    def noun_of(self, place: int, owner: NodeSet, cost: float) -> Iterator[Parse[NodeSet]]:
        """Yield the nodes that are the NOUN of others, where the noun names edges: `hyponyms` behind `dog's`."""
        context = self._context
        for begin in context.skips(place):
            for unit in context.units.edges.get(begin, ()):
                if context.at(unit.last) == "by" or self._is_verb_form(unit):
                    continue
                yield from self._of(unit, owner, unit.last, cost + 0.1)
                for head in self.heads(unit.last):  # "warfarin's similar compounds"
                    for relation in self._relations.named(head.value, unit.edges, Voice.NOUN_OF, owner):
                        yield Parse(head.last, relation.joined, cost + relation.cost + 0.1)

    # --------------------------------------------------------------------------------------------- nouns of relations

    def relational(self, place: int) -> Iterator[Parse[NodeSet]]:
        """Yield `hyponyms of dog`, `the maintainer of gimp`: a noun that names edges, and whose they are."""
        for begin in self._context.skips(place):
            for unit in self._context.units.edges.get(begin, ()):
                yield from self._had(unit)
                of = self._context.starts(unit.last, "of", "for", "to", "in", "from")
                if of is None:
                    yield from self._before_name(unit)
                elif self._context.at(unit.last) == "of" or not self._is_verb(unit, begin):
                    for owner in self._context.nodes(of):
                        yield from self._of(unit, owner.value, owner.last, owner.cost + 0.05)

    def _had(self, unit: EdgeUnit) -> Iterator[Parse[NodeSet]]:
        """Yield `hyponyms does dog have`, `hyponyms that dog has`."""
        context = self._context
        begin = context.starts(unit.last, "does", "do", "did", "that", "which")
        for owner in self.names(begin) if begin is not None else ():
            last = context.starts(owner.last, "have", "has", "had", "got")
            if last is not None:
                yield from self._of(unit, owner.value, last, owner.cost)

    def _before_name(self, unit: EdgeUnit) -> Iterator[Parse[NodeSet]]:
        """Yield `antonym expensive`."""
        for owner in self.names(unit.last):
            if not self._is_verb_form(unit):
                yield from self._of(unit, owner.value, owner.last, owner.cost + 0.3)

    def _of(self, unit: EdgeUnit, owner: NodeSet, last: int, cost: float) -> Iterator[Parse[NodeSet]]:
        """Yield the nodes that are the NOUN of others."""
        for relation in self._relations.of_noun(unit, self._context.at(unit.last - 1), owner):
            yield Parse(last, relation.joined, cost + relation.cost)

    def _is_verb_form(self, unit: EdgeUnit) -> bool:
        word = self._context.at(unit.last - 1)
        return word.endswith(("ing", "ed")) or word in IRREGULAR_VERBS or word.removesuffix("s") in _VERBS

    def _is_verb(self, unit: EdgeUnit, begin: int) -> bool:
        """Tell whether words for edges are a verb: "reports to X" of `reports_to`, "who works for X"."""
        labels = self._context.lexicon.vocabulary.edge_labels
        words = {word for edge in unit.edges for label in labels[edge] for word in label.words}
        return self._context.at(unit.last) in words or self._context.at(begin - 1) in ("who", "that", "which", "what")
