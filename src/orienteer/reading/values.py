"""Questions for the value of a property: `the height of X`, `how tall is X`, `when was X built`."""

from __future__ import annotations

from collections.abc import Iterator

from orienteer.reading.context import Context, Parse
from orienteer.reading.function_words import RELATIVE, STATING, phrases_of, words_of
from orienteer.reading.lexicon import PropertyFacts
from orienteer.reading.openings import ends
from orienteer.reading.phrases import PhraseRules
from orienteer.reading.query import ExactQuery, Form, Measure, NodeSet, Valued
from orienteer.reading.relations import SchemaRelations
from orienteer.reading.synonyms import IRREGULAR_VERBS, PROPERTIES
from orienteer.reading.thesaurus import ADJECTIVES, AGES, VERBS
from orienteer.text.units import UNITS

_WHAT = phrases_of(
    """what is, what s, what was, what are, what, which, in what, in which, on what, on which, when was, when were,
    when did, when is, how much is, give, show, find, look up, list, what is the value of, name, at what, since when,
    how high is, how large is, tell me, to what, of what, how many, what were, what would, what might, on what date
    was, on what date were, on what date did, at what date was, on which date was, on which date did, on what day was,
    on which day was, number of, the number of, what is the number of"""
)
_WHEN = phrases_of(
    """when was, when were, when did, since when is, what year was, in what year was, in which year was,
    which year was, what year did, in which year did, what year were, in what year did, on what date was,
    on what date were, on what date did, on which date was, on which date did, at what date was, on what day was,
    on which day was, the year in which, the date on which, the day on which, the year when, the date when,
    what is the year in which, what was the year in which, what is the date on which, what was the date on which,
    what year is, when is, when has"""
)
_HOW_MUCH_DOES = phrases_of(
    """how much does, how much do, how much did, how long does, what does, what do, what did, how much is,
    how much was"""
)
_OF = phrases_of(
    """of all, of, for, across all, across, among, over, does, do, did, are there in, are there at, are there on,
    are in, are at, are, were, in, that, is, was, by, has, had, can"""
)
_BEHIND = (*phrases_of("made out of, made of, made from, been, be"), *sorted(STATING))
_BEGIN = AGES | {"start", "begin", "open", "appear", "appeared", "began", "arise", "debut", "emerge"}
_SAY_NOTHING = words_of("have has had a an the is was were are be been did do first get got see saw seen")


def scopes(context: Context, place: int) -> Iterator[Parse[NodeSet]]:
    """Yield the nodes whose property is asked for, behind its name: `of X`, `does X have`."""
    begin = context.starts(place, *_OF) or place
    for nodes in context.nodes(begin):
        last = context.starts(nodes.last, *_BEHIND)
        yield nodes if last is None else nodes._replace(last=last)


class Values:
    """Reads questions for the value of a property."""

    def __init__(self, context: Context, relations: SchemaRelations, phrases: PhraseRules) -> None:
        self._context, self._relations, self._phrases = context, relations, phrases

    def queries(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield the queries that begin at a place."""
        for start in sorted({begin, *ends(self._context, begin, _WHAT)}):
            at = self._context.skip(start)
            asks_time = "when" in self._context.words[:start]
            for query in (*self._of_nodes(at), *self._behind_nodes(at)):
                if asks_time and not self._is_time(query.value):
                    continue
                if self._context.words[max(0, start - 2) : start] != ["how", "many"] or self._is_number(query.value):
                    yield query
        yield from self._amounts(begin)
        yield from self._by_adjective(begin)
        yield from self._by_verb(begin)
        yield from self._times(begin)

    def _is_time(self, query: ExactQuery) -> bool:
        """Tell whether the answer is a year or a date."""
        name = query.measure.property if query.measure is not None else None
        return name is not None and self._context.lexicon.properties[name].kind in ("year", "date")

    def _is_number(self, query: ExactQuery) -> bool:
        """Tell whether the answer is a number, as `how many` asks for one."""
        name = query.measure.property if query.measure is not None else None
        return name is not None and self._context.lexicon.properties[name].kind == "number"

    def _of_nodes(self, place: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `height of X`, `what height does X have`."""
        context = self._context
        for unit in context.units.properties.get(place, ()):
            is_of_kind = bool(context.units.types.get(context.skip(unit.last)))
            for scope in scopes(context, unit.last):
                if scope.value.named or not is_of_kind:  # "active employees" are not what `active` is of them
                    yield from self._value(unit.property, scope.value, scope.last, scope.cost + unit.cost)

    def _behind_nodes(self, place: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `X's height`, `X height`."""
        context = self._context
        for scope in context.nodes(place):
            end = context.possessive(scope.last)
            named = context.skip(scope.last if end is None else end, _SAY_NOTHING)
            named = context.starts(named, "number of", "amount of", "year of", "date of") or named
            for unit in context.units.properties.get(named, ()):
                cost = scope.cost + unit.cost + 0.1 * (end is None)
                yield from self._value(unit.property, scope.value, unit.last, cost)

    def _amounts(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `how many passengers do the ships of X carry`: the sum of a property that is called so."""
        context = self._context
        start = context.starts(begin, "how many", "how much", "what total", "what total number of")
        for unit in context.units.properties.get(start, ()) if start is not None else ():
            facts = context.lexicon.properties[unit.property]
            for scope in scopes(context, unit.last):
                has_it = bool(facts.types & self._relations.types_of(scope.value))
                if facts.kind == "number" and has_it and not scope.value.named and unit.cost == 0:
                    query = ExactQuery("sum", scope.value, Measure(property=facts.name))
                    yield Parse(scope.last, query, scope.cost + unit.cost - 0.1)

    def _by_adjective(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `how tall is X`."""
        how = self._context.starts(begin, "how")
        if how is None or self._context.at(how) not in ADJECTIVES:
            return
        adjective = ADJECTIVES[self._context.at(how)]
        for scope in scopes(self._context, how + 1):
            facts = self._phrases.compared_by(adjective, scope.value, how)
            if facts is not None and not (adjective.is_age and facts.kind != "number"):
                yield from self._value(facts.name, scope.value, scope.last, scope.cost)

    def _by_verb(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `how much does X weigh`, `what does X cost`."""
        for start in ends(self._context, begin, _HOW_MUCH_DOES):
            for scope in self._context.nodes(start):
                at = self._context.skip(scope.last, ("get", "gets", "got", "be", "being"))
                verb = IRREGULAR_VERBS.get(self._context.at(at), self._context.at(at))
                is_stated = verb in VERBS and (verb != "last" or self._context.at(begin + 1) == "long")
                facts = self._phrases.stated_by(verb, scope.value) if is_stated else None
                if facts is not None:
                    yield from self._value(facts.name, scope.value, at + 1, scope.cost)

    def _times(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `when was X built`, where one property alone tells when something was."""
        when = self._context.starts(begin, *_WHEN)
        for scope in self._context.nodes(when) if when is not None else ():
            dated = [facts for facts in self._phrases.properties_of(scope.value) if facts.kind in ("year", "date")]
            verb = self._context.skip(scope.last, _SAY_NOTHING)
            if len(dated) == 1 and self._context.at(verb) in _BEGIN and self._may_tell(dated[0], verb):
                yield from self._value(dated[0].name, scope.value, verb + 1, scope.cost + 0.2)
            for unit in self._context.units.properties.get(verb, ()):
                if any(facts.name == unit.property for facts in dated):
                    yield from self._value(unit.property, scope.value, unit.last, scope.cost + unit.cost)
                    if self._context.at(unit.last) in RELATIVE:  # "when was the museum founded that X"
                        for said in self._context.modifiers(unit.last, scope.value):
                            yield from self._value(unit.property, said.value, said.last, scope.cost + said.cost)

    def _may_tell(self, facts: PropertyFacts, verb: int) -> bool:
        """Tell whether a date may be when something was done: `year` of anything, `opened` of what began."""
        if set(facts.stems) <= {self._context.lexicon.vocabulary.stem(word) for word in ("year", "date")}:
            return self._context.at(verb) not in ("opened", "closed", "ended")
        stem = self._context.lexicon.vocabulary.stem
        same = {stem(word) for group in PROPERTIES if self._context.at(verb) in group for word in group}
        return not ({stem(self._context.at(verb))} | same).isdisjoint(facts.stems)

    def _value(self, name: str, nodes: NodeSet, last: int, cost: float) -> Iterator[Parse[ExactQuery]]:
        """Yield the value of a property for nodes that may have it; whether it is so for one that is or is not."""
        facts = self._context.lexicon.properties[name]
        if not facts.types & self._relations.types_of(nodes):
            return
        if any(isinstance(condition, Valued) and condition.property == name for condition in nodes.conditions):
            return  # nobody asks what they have said
        if facts.kind == "boolean" and len(nodes.named) == 1:
            yield Parse(last, ExactQuery("test", nodes.that(Valued(name, "=", facts.true))), cost)
        elif facts.kind == "boolean":
            return  # "immortal bards" are those who are so
        elif facts.kind == "number" and not nodes.named and self._total(last) is not None:
            form, end = self._total(last) or ("sum", last)
            yield Parse(end, ExactQuery(form, nodes, Measure(property=name)), cost)
        elif nodes.conditions or nodes.best:
            last = self._in_its_unit(facts, last)
            yield Parse(last, ExactQuery("value", nodes, Measure(property=name)), cost)

    def _in_its_unit(self, facts: PropertyFacts, place: int) -> int:
        """Return where `in minutes` ends, of a property that is told in minutes; the place without it."""
        unit = self._context.at(self._context.skip(place, ("in", "measured", "given", "of", "expressed")))
        is_own = facts.unit is not None and unit in UNITS and UNITS[unit] == UNITS[facts.unit]
        return self._context.skip(place, ("in", "measured", "given", "of", "expressed")) + 1 if is_own else place

    def _total(self, last: int) -> tuple[Form, int] | None:
        """Return what is asked of all values, `on average`, and where that ends; None where nothing is."""
        context = self._context
        average = context.starts(last, "on average", "on the average", "in average")
        if average is not None:
            return "average", average
        if context.starts(0, "on average") is not None:
            return "average", last
        total = context.starts(last, "in total", "altogether", "in all", "all together", "together", "combined")
        return None if total is None else ("sum", total)
