"""Questions whose question word stands behind a name: `awk, designed by whom`, `X is a part of which nouns`."""

from __future__ import annotations

from collections.abc import Iterator

from orienteer.reading.context import Context, Parse
from orienteer.reading.edge_labels import Voice
from orienteer.reading.function_words import words_of
from orienteer.reading.lexicon import EdgeUnit
from orienteer.reading.openings import ASKING
from orienteer.reading.phrases import PhraseRules
from orienteer.reading.query import ExactQuery, Form, NodeSet
from orienteer.reading.relations import SchemaRelations

_BEFORE_VERBS = ASKING | {"a", "an", "the", "one", "of", "been"}
_PREPOSITIONS = words_of("by of to in with on for at from through")
_SOME = words_of("several some certain many various multiple numerous a number")


class TrailingQuestions:
    """Reads questions that begin with a name and end with what is asked of it."""

    def __init__(self, context: Context, relations: SchemaRelations, phrases: PhraseRules) -> None:
        self._context, self._relations, self._phrases = context, relations, phrases

    def queries(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield the queries that begin at a place."""
        for named in self._phrases.names(begin):
            yield from self.behind(named)

    def behind(self, named: Parse[NodeSet]) -> Iterator[Parse[ExactQuery]]:
        """Yield what is asked behind a name: `designed by whom`, `is suggested by which packages`."""
        verb = self._context.skip(named.last, _BEFORE_VERBS)
        for unit in self._context.units.edges.get(verb, ()):
            yield from self._behind_verb(named, unit)

    def _behind_verb(self, named: Parse[NodeSet], unit: EdgeUnit) -> Iterator[Parse[ExactQuery]]:
        context = self._context
        last = context.skip(context.skip(unit.last, _PREPOSITIONS), _SOME)
        question_word = context.starts(last, "which", "what", "whom", "who", "how many")
        if question_word is None and last == unit.last and not context.units.types.get(last):
            return
        asked = last if question_word is None else question_word
        form: Form = "count" if context.at(last) == "how" else "list"
        heads = context.nodes(asked)
        if form == "list" and asked > last:  # "by whom" names no kind
            heads = [*heads, Parse(asked, NodeSet(), 0.1)]
        for head in heads:
            if head.value.named:
                continue
            for relation in self._relations.named(head.value, unit.edges, self._frame(unit), named.value):
                cost = named.cost + head.cost + relation.cost
                yield Parse(head.last, ExactQuery(form, relation.joined), cost)

    def _frame(self, unit: EdgeUnit) -> Voice:
        """Return how the relation is said of what is asked for."""
        preposition = self._context.at(unit.last)
        return {"by": Voice.PASSIVE_OBJECT, "of": Voice.HAS_NOUN}.get(preposition, Voice.OBJECT)
