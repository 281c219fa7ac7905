"""Whole questions: what is asked of the nodes that a question describes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orienteer.methods.anchor.reading.clauses import Clauses, Objects
from orienteer.methods.anchor.reading.comparisons import adjective
from orienteer.methods.anchor.reading.context import EMPTY, Context, Parse, best
from orienteer.methods.anchor.reading.lexicon import EdgeUnit, PropertyFacts
from orienteer.methods.anchor.reading.phrases import Phrases
from orienteer.methods.anchor.reading.query import (
    Among,
    Best,
    Condition,
    Either,
    Form,
    Joined,
    Measure,
    Nodes,
    Query,
    Valued,
)
from orienteer.methods.anchor.reading.relations import Frame, Relations
from orienteer.methods.anchor.reading.thesaurus import ADJECTIVES, AGES, MORE, MOST, VERBS

_POLITE = ("please", "can you", "could you", "would you", "i want to know", "i would like to know", "i d like to know", "do you know",
           "tell me", "show me", "give me", "find me", "i need to know", "i wonder", "we need", "i need", "i want", "i am looking for",
           "i m looking for", "looking for", "help me find", "let me know", "i d need", "i d want", "i m after", "take", "i m interested in", "i am interested in", "say",
           "i m curious", "i am curious", "i m trying to find", "just", "so", "and", "ok", "hi", "hello", "could i get", "could i have",
           "can i get", "can i see", "id like", "i d like", "may i have", "me", "about", "out", "for me", "each", "every", "all", "everything that is", "to know", "do we know", "us",
           "list me", "what about", "how about", "return", "get", "get me", "fetch", "see", "work out", "figure out", "check", "determine", "compute", "calculate")  # fmt: skip
_LISTING = ("list", "name", "find", "identify", "show", "give", "which", "what", "who", "whom", "whose", "enumerate", "display", "tell",
            "what are", "which are", "who are", "what is", "which is", "who is", "what s", "who s", "what were", "who were", "who was",
            "what was", "in which", "in what", "on which", "at which", "to which", "by which", "by whom", "from which", "for which", "with which",
            "into which", "of which", "under which", "with whom", "which of", "names of", "the names of", "name of", "the name of", "a list of", "the list of", "list of", "all", "are there", "is there",
            "what are the names of", "what is the name of", "where is", "where are", "where")  # fmt: skip
_COUNTING = ("how many different", "how many distinct", "how many of", "how many", "number of", "the number of", "total number of", "the total number of", "count of",
             "the count of", "count how many", "count all", "count the", "count", "what is the number of", "what is the total number of", "what s the number of", "tally of", "how large is the number of",
             "the headcount of", "what number of", "size of the set of", "what is the count of", "how big is the set of", "amount of", "the amount of", "in how many", "on how many", "to how many", "by how many", "for how many", "from how many", "with how many", "of how many")  # fmt: skip
_ASKING = frozenset(
    ["is", "are", "was", "were", "does", "do", "did", "has", "have", "had", "can", "could", "will", "would"]
)
_AVERAGES = ("average", "mean", "the average", "the mean", "avg", "on average")
_SUMS = (
    "total",
    "sum of",
    "the sum of",
    "combined",
    "summed",
    "overall",
    "the total",
    "the combined",
    "sum",
    "aggregate",
    "cumulative",
    "sum up",
    "add up",
    "all told",
)


class Questions:
    """Reads one question."""

    def __init__(self, context: Context, relations: Relations, phrases: Phrases, clauses: Clauses) -> None:
        self._context, self._relations, self._phrases, self._clauses = context, relations, phrases, clauses
        self._known: dict[int, list[Parse[Nodes]]] = {}
        context.nodes = self.nodes

    def nodes(self, place: int) -> list[Parse[Nodes]]:
        """Return the noun phrases that begin at a place."""
        if place not in self._known:
            self._known[place] = []  # a phrase does not begin with itself
            self._known[place] = best(self._all_nodes(place)) if place < self._context.end else []
        return self._known[place]

    def _all_nodes(self, place: int) -> Iterator[Parse[Nodes]]:
        if self._context.is_exhausted():
            return
        for named in self._phrases.names(place):
            yield named
            if not named.value.named or self._are_namesakes(named.value):  # "the Night Owl from Ballycrane"
                yield from self._clauses.described(named)
            for noun in self._phrases.noun_of(named.last, named.value, named.cost + 0.2):
                yield from self._clauses.described(noun)
            for owned in self._phrases.owned(named):
                yield from self._clauses.described(owned)
        for head in self._phrases.heads(place):
            yield from self._clauses.described(head)
            for owned in self._phrases.owned(head):
                yield from self._clauses.described(owned)
        for related in self._phrases.relational(place):
            yield from self._clauses.described(related)
        for begin in self._context.skips(place):  # "alumni of X and Y"
            for unit in self._context.units.edges.get(begin, ()):
                of = self._context.starts(unit.last, "of", "both of", "of both", "of either")
                for objects in self._clauses.objects(of) if of is not None else ():
                    if len(objects.value.members) > 1:
                        yield from self._of_many(unit, objects)

    def _of_many(self, unit: EdgeUnit, objects: Parse[Objects]) -> Iterator[Parse[Nodes]]:
        """Yield those who are the NOUN of several: `alumni of X and Y`."""
        conditions: list[Condition] = []
        nodes = Nodes()
        for member in objects.value.members:
            relation = next(self._relations.of_noun(unit, self._context.at(unit.last - 1), member.nodes), None)
            if relation is None:
                return
            nodes = replace(nodes, types=relation.nodes.types)
            conditions.append(Joined(relation.kinds, relation.target, member.negated))
        if objects.value.any:
            conditions = [Either(tuple((condition,) for condition in conditions))]
        yield Parse(objects.last, nodes.that(*conditions), objects.cost)

    def _are_namesakes(self, nodes: Nodes) -> bool:
        """Tell whether several nodes of one type are called the same."""
        arrays = self._context.lexicon.graph.arrays
        called = {(int(arrays.node_types[row]), arrays.names[row].casefold()) for row in nodes.named}
        return len(called) == 1 < len(nodes.named)

    # ------------------------------------------------------------------------------------------------------------ forms

    def read(self) -> list[Parse[Query]]:
        """Return the ways to read the whole question, likeliest first."""
        all_parses = self._read_from(0)
        self._context.reached = max((parse.last for parse in all_parses), default=0)
        parses = best(parse for parse in all_parses if self._context.is_over(parse.last))
        return parses or self._read_behind()

    def _read_behind(self) -> list[Parse[Query]]:
        """Return the ways to read a question behind a sentence that says what its pronouns stand for."""
        context = self._context
        for border in range(1, context.end):
            between = context.reading.text[context.reading.words[border - 1].end : context.reading.words[border].start]
            if not any(mark in between for mark in ".;:,"):
                continue
            spoken = [
                parse
                for begin in self._begins(0)
                for start in {
                    begin,
                    context.starts(begin, "some", "there are", "there is a", "there is an", "there is", "certain", "if")
                    or begin,
                }
                for parse in self.nodes(start)
                if parse.last == border or (parse.last < border and self._is_said(parse.last, border))
            ]
            for begin in self._begins(0):
                spoken += self._told(begin, border)
            for parse in sorted(spoken, key=lambda parse: parse.cost)[:3]:
                context.referents = [parse.value]
                self._known.clear()
                self._phrases.heads.cache_clear()
                parses = best(
                    asked._replace(cost=asked.cost + parse.cost)
                    for asked in self._read_from(border)
                    if context.is_over(asked.last) and _holds(asked.value.nodes, parse.value)
                )
                if parses:
                    return parses
        return []

    def _told(self, begin: int, border: int) -> Iterator[Parse[Nodes]]:
        """Yield what a sentence tells of: `X owns several ships`, `X is a side effect of some compounds`."""
        context = self._context
        for named in self._phrases.names(context.starts(begin, "there is", "there s") or begin):
            for asked in self._asked_behind(named):
                if asked.last == border:
                    yield Parse(border, asked.value.nodes, asked.cost)
            is_a = context.starts(named.last, "is a", "is an", "is the", "is one of the")
            for kind in context.units.types.get(is_a, ()) if is_a is not None else ():
                of = context.starts(
                    kind.last,
                    "of some",
                    "of certain",
                    "of several",
                    "of various",
                    "for some",
                    "in some",
                    "of many",
                    "for certain",
                )
                ends = [kind.last, *(other.last for other in context.units.types.get(of, ()) if of is not None)]
                if border in ends:
                    yield named._replace(last=border)
            have = context.starts(named.last, "has", "have")
            for head in self.nodes(have) if have is not None else ():
                there = context.starts(head.last, "there") or head.last
                for unit in context.units.edges.get(head.last, ()):
                    there = (
                        context.starts(context.skip(unit.last, ("at", "in", "by", "to", "on")), "there", "it")
                        or unit.last
                    )
                    if there == border:
                        for relation in self._relations.named(head.value, unit.edges, Frame.PASSIVE, named.value):
                            yield Parse(
                                border,
                                relation.nodes.that(Joined(relation.kinds, relation.target)),
                                named.cost + head.cost,
                            )
                if there == border and not head.value.named:
                    for relation in self._relations.unnamed(head.value, "", named.value):
                        yield Parse(
                            border, relation.nodes.that(Joined(relation.kinds, relation.target)), named.cost + head.cost
                        )

    def _is_said(self, place: int, border: int) -> bool:
        """Tell whether the rest of a sentence says nothing more: `aside`, `on the whole`."""
        return all(word in EMPTY for word in self._context.words[place:border])

    def _begins(self, first: int) -> list[int]:
        """Return where a question may begin behind polite words."""
        context = self._context
        begins = {first}
        front = [first]
        while front:
            begin = front.pop()
            for phrase in _POLITE:
                after = context.starts(begin, phrase)
                if after is not None and after not in begins:
                    begins.add(after)
                    front.append(after)
        return sorted(begins)

    def _read_from(self, first: int) -> list[Parse[Query]]:
        return [parse for begin in self._begins(first) for parse in self._queries(begin)]

    def _queries(self, begin: int) -> Iterator[Parse[Query]]:
        yield from self._counts(begin)
        yield from self._aggregates(begin)
        yield from self._values(begin)
        yield from self._comparisons(begin)
        yield from self._tests(begin)
        yield from self._lists(begin)

    def _counts(self, begin: int) -> Iterator[Parse[Query]]:
        context = self._context
        asked = context.starts(begin, "what is", "what s", "which is", "tell me") or begin
        start = context.skip(asked, ("the", "total", "overall", "exact", "full", "a"))
        number = context.starts(start, "number of", "count of", "tally of", "amount of", "headcount of")
        lasts = {after for phrase in _COUNTING if (after := context.starts(begin, phrase)) is not None}
        for last in lasts | ({number} if number is not None else set()):
            for parse in self.nodes(last):
                if not parse.value.named:
                    yield Parse(parse.last, Query("count", parse.value), parse.cost)
        for parse in self.nodes(begin):
            last = context.starts(
                parse.last,
                "how many",
                "count",
                "how many are there",
                "how many of them",
                "total number",
                "number",
                "in number",
                "total count",
                "how many in total",
            )
            if last is not None and not parse.value.named:
                yield Parse(last, Query("count", parse.value), parse.cost)
        # "of the beers that X brews, how many are Y": the set first
        of = context.starts(
            begin,
            "of",
            "among",
            "out of",
            "from among",
            "from",
            "looking at",
            "considering",
            "taking",
            "given",
            "amongst",
            "in the set of",
            "if you look at",
            "when it comes to",
        )
        if of is not None:
            for parse in self.nodes(of):
                last = context.starts(parse.last, "how many of them", "how many")
                if last is not None:
                    for further in [*self._clauses.modifiers(last, parse.value), Parse(last, parse.value, 0.0)]:
                        yield Parse(further.last, Query("count", further.value), parse.cost + further.cost)
                which = context.starts(
                    parse.last,
                    "which one of them",
                    "which of them",
                    "which ones",
                    "which one",
                    "which",
                    "what",
                    "who",
                    "name those",
                    "list those",
                    "show those",
                )
                if which is not None:
                    for further in self._clauses.modifiers(which, parse.value):
                        yield Parse(further.last, Query("list", further.value), parse.cost + further.cost)

    def _lists(self, begin: int) -> Iterator[Parse[Query]]:
        context = self._context
        begins = {begin: 0.05}
        for phrase in _LISTING:
            after = context.starts(begin, phrase)
            if after is not None:
                begins[after] = 0.0
                for further in _LISTING:
                    again = context.starts(after, further)
                    if again is not None:
                        begins[again] = 0.0
        for start, cost in begins.items():
            asks_all = context.at(start) in ("all", "every", "each", "any") or context.at(start - 1) in ("all", "where")
            for parse in self.nodes(start):
                if not (parse.value.named and (asks_all or context.at(parse.last - 1).endswith("s") and cost == 0)):
                    yield Parse(parse.last, Query("list", parse.value), parse.cost + cost)
            yield from self._top(start, cost)
        for phrase in (
            "leaving out",
            "excluding",
            "except for",
            "apart from",
            "aside from",
            "ignoring",
            "not counting",
            "other than",
            "besides",
            "without counting",
            "setting aside",
            "leaving aside",
            "other than",
            "if you ignore",
            "not including",
            "if we leave out",
            "with the exception of",
        ):
            after = context.starts(begin, phrase)
            for left in self.nodes(after) if after is not None else ():
                for asked in self._queries(left.last):
                    if (
                        asked.value.nodes.best is None
                        and asked.value.form in ("list", "count")
                        and left.value.conditions
                    ):
                        rows, conditions = left.value.named, left.value.conditions
                        denied: Condition = Among(rows, negated=True) if rows else Either((conditions,), negated=True)
                        yield Parse(
                            asked.last,
                            replace(asked.value, nodes=asked.value.nodes.that(denied)),
                            left.cost + asked.cost,
                        )
        asks_who = context.starts(
            begin,
            "who",
            "whom",
            "what",
            "which",
            "where",
            "by whom",
            "to whom",
            "for whom",
            "with whom",
            "to what",
            "in what",
            "from where",
        )
        if asks_who is not None:
            people = self._phrases.who() if context.at(asks_who - 1) in ("who", "whom") else frozenset()
            for said in self._clauses.described(Parse(asks_who, Nodes(people), 0.1)):
                if said.value.conditions or said.value.best is not None:
                    yield Parse(said.last, Query("list", said.value), said.cost)
        for left in self.nodes(begin):  # "X aside, how many"
            after = context.starts(left.last, "aside", "excluded", "excepted", "left out", "left aside")
            for asked in self._queries(after) if after is not None else ():
                if asked.value.nodes.best is None and asked.value.form in ("list", "count") and left.value.named:
                    for relation in self._relations.unnamed(asked.value.nodes, "", left.value):
                        denied = Joined(relation.kinds, relation.target, negated=True)
                        yield Parse(
                            asked.last, replace(asked.value, nodes=relation.nodes.that(denied)), left.cost + asked.cost
                        )
        which = context.starts(
            begin,
            "which ones",
            "which",
            "list them all",
            "list them",
            "name them",
            "show them",
            "who are they",
            "what are they",
            "who",
            "which are they",
        )
        if which is not None and context.is_over(which):
            for referent in context.referents:
                if not referent.named:
                    yield Parse(which, Query("list", referent), 0.1)
        for named in self._phrases.names(begin):  # "awk, designed by whom", "X is a Y of which Z"
            yield from self._asked_behind(named)

    def _asked_behind(self, named: Parse[Nodes]) -> Iterator[Parse[Query]]:
        """Yield `awk, designed by whom`, `gnuplot suggested by which packages`, `X is a part of which nouns`."""
        context = self._context
        verb = context.skip(named.last, _ASKING | {"a", "an", "the", "one", "of", "been"})
        for unit in context.units.edges.get(verb, ()):
            last = context.skip(unit.last, ("by", "of", "to", "in", "with", "on", "for", "at", "from", "through"))
            last = context.skip(
                last, ("several", "some", "certain", "many", "various", "multiple", "numerous", "a", "number")
            )
            asked = context.starts(last, "which", "what", "whom", "who", "how many")
            if asked is None and last == unit.last and not context.units.types.get(last):
                continue
            asked = last if asked is None else asked
            preposition = context.at(unit.last)
            frame = (
                Frame.PASSIVE_OBJECT if preposition == "by" else Frame.HAS_NOUN if preposition == "of" else Frame.OBJECT
            )
            form: Form = "count" if context.at(last) == "how" else "list"
            for head in [
                *self.nodes(asked),
                *([Parse(asked, Nodes(), 0.1)] if form == "list" and asked > last else []),
            ]:
                if head.value.named:
                    continue
                for relation in self._relations.named(head.value, unit.edges, frame, named.value):
                    nodes = relation.nodes.that(Joined(relation.kinds, relation.target))
                    yield Parse(head.last, Query(form, nodes), named.cost + head.cost + relation.cost)

    def _top(self, begin: int, cost: float) -> Iterator[Parse[Query]]:
        """Yield `top 3 X by height`, `3 X with the most Y`, `the five X that treat the most Y`, `X ranked by Y`."""
        context = self._context
        start = context.skip(begin)
        is_top = context.at(start) in ("top", "bottom", "first", "highest", "lowest", "biggest", "largest", "smallest")
        descending = context.at(start) not in ("bottom", "lowest", "smallest")
        at = start + 1 if is_top else start
        amount = context.units.quantities.get(at)
        first, at = (int(amount.value), amount.last) if amount is not None and amount.unit is None else (1, at)
        if first < 1 or (amount is None and not is_top):
            if amount is not None or not is_top:
                first = 1
        for parse in self.nodes(at):
            nodes = parse.value
            if nodes.best is not None and amount is not None:
                yield Parse(
                    parse.last,
                    Query("list", replace(nodes, best=replace(nodes.best, first=first))),
                    parse.cost + cost - 0.05,
                )
            by = context.starts(
                parse.last,
                "by",
                "ranked by",
                "ordered by",
                "sorted by",
                "in terms of",
                "according to",
                "in",
                "for",
                "with the highest",
                "with the largest",
                "measured by",
            )
            if by is None or nodes.best is not None or (amount is None and not is_top):
                continue
            for measure in self._clauses.measures(by, nodes):
                best_nodes = replace(nodes, best=Best(measure.value, descending, first))
                yield Parse(measure.last, Query("list", best_nodes), parse.cost + measure.cost + cost)

    def _properties(self, place: int, nodes: Nodes) -> Iterator[tuple[PropertyFacts, int, float]]:
        return self._clauses.named_property(place, nodes)

    def _aggregates(self, begin: int) -> Iterator[Parse[Query]]:
        """Yield `average height of X`, `the total mass of X`, `how much do X weigh in total` is not read."""
        context = self._context
        start = (
            context.starts(
                begin,
                "what is",
                "what s",
                "what was",
                "how much is",
                "what are",
                "which is",
                "how high is",
                "how large is",
                "what",
            )
            or begin
        )
        for form, phrases in (("average", _AVERAGES), ("sum", _SUMS)):
            for last in {after for phrase in phrases if (after := context.starts(start, phrase)) is not None}:
                of = context.skip(last, ("of", "the", "value", "all", "for"))
                for head in self._phrases.heads(of):  # "average captain salary"
                    for facts, end, cost in self._properties(head.last, head.value):
                        yield Parse(end, Query(form, head.value, Measure(property=facts.name)), head.cost + cost)  # type: ignore[arg-type]
                for unit in context.units.properties.get(of, ()):
                    facts = context.lexicon.properties[unit.property]
                    if facts.kind == "number":  # "average salary in Engineering"
                        for scope in self._clauses.described(Parse(unit.last, Nodes(facts.types), 0.15)):
                            yield Parse(
                                scope.last,
                                Query(form, scope.value, Measure(property=facts.name)),
                                scope.cost + unit.cost,
                            )  # type: ignore[arg-type]
                    for scope in self._of_nodes(unit.last):
                        facts = context.lexicon.properties[unit.property]
                        if facts.types & self._relations.types_of(scope.value):
                            yield Parse(
                                scope.last,
                                Query(form, scope.value, Measure(property=facts.name)),
                                scope.cost + unit.cost,
                            )  # type: ignore[arg-type]
            for scope in self.nodes(start):  # "X average height", "X's total mass"
                for last in {
                    after
                    for phrase in phrases
                    if (after := context.starts(context.possessive(scope.last) or scope.last, phrase)) is not None
                }:
                    for facts, end, cost in self._properties(last, scope.value):
                        yield Parse(end, Query(form, scope.value, Measure(property=facts.name)), scope.cost + cost)  # type: ignore[arg-type]

    def _of_nodes(self, place: int) -> Iterator[Parse[Nodes]]:
        context = self._context
        begin = (
            context.starts(
                place,
                "of all",
                "of",
                "for",
                "across all",
                "across",
                "among",
                "over",
                "does",
                "do",
                "did",
                "in",
                "that",
                "is",
                "was",
                "by",
                "has",
                "had",
            )
            or place
        )
        for parse in self.nodes(begin):
            last = context.starts(parse.last, "have", "has", "had", "been", "be", "got")
            yield parse if last is None else parse._replace(last=last)

    def _values(self, begin: int) -> Iterator[Parse[Query]]:
        """Yield `the height of X`, `X's height`, `how tall is X`, `when was X built`, `what height does X have`."""
        context = self._context
        starts = {begin} | {
            after
            for phrase in (
                "what is",
                "what s",
                "what was",
                "what are",
                "what",
                "which",
                "in what",
                "in which",
                "on what",
                "on which",
                "when was",
                "when were",
                "when did",
                "when is",
                "how much is",
                "give",
                "show",
                "find",
                "look up",
                "list",
                "what is the value of",
                "name",
                "at what",
                "since when",
                "how high is",
                "how large is",
                "tell me",
                "to what",
                "of what",
                "how many",
                "what were",
            )
            if (after := context.starts(begin, phrase)) is not None
        }
        for start in starts:
            at = context.skip(start)
            for unit in context.units.properties.get(at, ()):
                for scope in self._of_nodes(unit.last):
                    if not scope.value.named and context.units.types.get(context.skip(unit.last)):
                        continue  # "active employees" are not what `active` is of them
                    yield from self._value(unit.property, scope.value, scope.last, scope.cost + unit.cost)
            for scope in self.nodes(at):
                end = context.possessive(scope.last)
                for unit in context.units.properties.get(
                    context.skip(scope.last if end is None else end, ("have", "has", "a", "the", "is", "was", "were")),
                    (),
                ):
                    yield from self._value(
                        unit.property, scope.value, unit.last, scope.cost + unit.cost + 0.1 * (end is None)
                    )
        amounts = context.starts(begin, "how many", "how much", "what total", "what total number of")
        for unit in context.units.properties.get(amounts, ()) if amounts is not None else ():
            for scope in self._of_nodes(unit.last):
                facts = context.lexicon.properties[unit.property]
                if (
                    facts.kind == "number"
                    and facts.types & self._relations.types_of(scope.value)
                    and not scope.value.named
                ):
                    yield Parse(
                        scope.last,
                        Query("sum", scope.value, Measure(property=facts.name)),
                        scope.cost + unit.cost - 0.1,
                    )
        how = context.starts(begin, "how")
        if how is not None and context.at(how) in ADJECTIVES:
            for scope in self._of_nodes(how + 1):
                facts = self._phrases.compared_by(ADJECTIVES[context.at(how)], scope.value, how)
                if facts is not None and not (ADJECTIVES[context.at(how)].is_age and facts.kind != "number"):
                    yield from self._value(facts.name, scope.value, scope.last, scope.cost)
        for last in {
            after
            for phrase in (
                "how much does",
                "how much do",
                "how much did",
                "how long does",
                "what does",
                "what do",
                "what did",
            )
            if (after := context.starts(begin, phrase)) is not None
        }:
            for scope in self.nodes(last):
                for verb, words in VERBS.items():
                    if context.at(scope.last) == verb:
                        stems = {context.lexicon.vocabulary.stem(word) for word in words}
                        fitting = [
                            facts
                            for facts in self._phrases.properties_of(scope.value)
                            if stems.intersection(facts.stems)
                        ]
                        if len(fitting) == 1:
                            yield from self._value(fitting[0].name, scope.value, scope.last + 1, scope.cost)
        when = context.starts(
            begin,
            "when was",
            "when were",
            "when did",
            "since when is",
            "what year was",
            "in what year was",
            "in which year was",
            "which year was",
            "what year did",
            "in which year did",
            "what year were",
        )
        if when is not None:
            for scope in self.nodes(when):
                dated = [facts for facts in self._phrases.properties_of(scope.value) if facts.kind in ("year", "date")]
                if len(dated) == 1 and context.at(scope.last) in AGES | {"start", "begin", "open"}:
                    yield from self._value(dated[0].name, scope.value, scope.last + 1, scope.cost + 0.2)

    def _value(self, name: str, nodes: Nodes, last: int, cost: float) -> Iterator[Parse[Query]]:
        facts = self._context.lexicon.properties[name]
        if facts.kind == "boolean" and len(nodes.named) == 1 and facts.types & self._relations.types_of(nodes):
            yield Parse(last, Query("test", nodes.that(Valued(name, "=", "true"))), cost)
        elif facts.types & self._relations.types_of(nodes) and (nodes.named or nodes.conditions or nodes.best):
            yield Parse(last, Query("value", nodes, Measure(property=name)), cost)

    # ------------------------------------------------------------------------------------------ yes or no, and which of two

    def _tests(self, begin: int) -> Iterator[Parse[Query]]:
        """Yield `is X in Y`, `does X treat Y`, `are there X that`, `is X taller than Y`."""
        context = self._context
        if context.at(begin) == "any" and context.reading.text.rstrip().endswith("?"):
            for parse in self.nodes(begin):
                yield Parse(parse.last, Query("test", parse.value), parse.cost - 0.2)
        if context.reading.text.rstrip().endswith("?") and begin == 0:
            for parse in self._phrases.names(begin):  # "X depth over 10 m?"
                for said in self._clauses.modifiers(parse.last, parse.value):
                    if len(said.value.conditions) > 1:
                        yield Parse(said.last, Query("test", said.value), parse.cost + said.cost + 0.1)
        if context.at(begin) not in _ASKING:
            last = context.starts(begin, "is it true that", "whether", "if", "is it correct that", "true or false")
            if last is None:
                return
            begin = last - 1
        start = begin + 1
        there = context.starts(start, "there any", "there a", "there an", "there", "any")
        if there is not None:
            for parse in self.nodes(there):
                yield Parse(parse.last, Query("test", parse.value), parse.cost)
        for parse in self.nodes(start):
            if not parse.value.named:
                continue
            for modified in self._clauses.described(Parse(parse.last, parse.value, parse.cost)):
                if len(modified.value.conditions) > 1 or modified.value.types:
                    yield Parse(modified.last, Query("test", modified.value), modified.cost)
            yield from self._exceeds(parse)

    def _exceeds(self, parse: Parse[Nodes]) -> Iterator[Parse[Query]]:
        """Yield `is X taller than Y`, `does X have more Z than Y`, `is X associated with more Z than Y`."""
        context = self._context
        begin = context.skip(parse.last, _ASKING)
        for meant in adjective(context, begin):
            than = context.starts(meant.last, "than")
            word, is_more = meant.value
            if than is None:
                continue
            facts = self._phrases.compared_by(word, parse.value, begin)
            for other in self.nodes(than) if facts is not None else ():
                if other.value.named and facts is not None:
                    yield Parse(
                        other.last,
                        Query(
                            "compare", parse.value, Measure(property=facts.name), other.value, word.ascending == is_more
                        ),
                        parse.cost + other.cost,
                    )
        for measure, is_more in self._compared_measures(begin, parse.value):
            last = context.skip(measure.last, ("it", "them"))
            than = context.starts(last, "than")
            for other in self.nodes(than) if than is not None else ():
                if other.value.named:
                    end = context.starts(other.last, "does", "do", "has", "have", "is", "did") or other.last
                    yield Parse(
                        end,
                        Query("compare", parse.value, measure.value, other.value, is_more),
                        parse.cost + measure.cost + other.cost,
                    )

    def _compared_measures(self, begin: int, nodes: Nodes) -> Iterator[tuple[Parse[Measure], bool]]:
        """Yield `have more X`, `treat more X`, `a higher PROPERTY`, `more X associated with it`."""
        context = self._context
        start = context.skip(begin, ("a", "an", "the", "have", "has", "had", "with", "having"))
        if context.at(start) in MORE:
            is_more = MORE[context.at(start)]
            for measure in self._clauses.measures(start + 1, nodes):
                yield measure, is_more
        for unit in context.units.edges.get(begin, ()):
            at = context.skip(unit.last, ("with", "on", "to", "in", "by", "for", "a", "the"))
            if context.at(at) in MORE:
                frame = Frame.PASSIVE if context.at(unit.last) == "by" else Frame.SUBJECT
                for head in self._phrases.heads(at + 1):
                    for relation in self._relations.named(nodes, unit.edges, frame, head.value):
                        measure = Measure(kinds=relation.kinds, target=relation.target)
                        yield Parse(head.last, measure, head.cost + relation.cost), MORE[context.at(at)]

    def _comparisons(self, begin: int) -> Iterator[Parse[Query]]:
        """Yield `which is taller, X or Y`, `which has more Z, X or Y`, `who is older: X or Y`, `X or Y: which is taller`."""
        context = self._context
        which = context.starts(
            begin,
            "which of the two",
            "which one of",
            "which of",
            "which one",
            "which",
            "who",
            "what",
            "between",
            "of",
            "out of",
            "comparing",
            "compare",
        )
        if which is None:
            which = begin
        for pair in self._pairs(which):  # "which of X and Y is taller"
            at = context.skip(
                pair.last, ("which", "one", "is", "who", "that", "was", "are", "the", "of", "them", "has")
            )
            at = at - 1 if context.at(at - 1) in ("has", "the") else at
            yield from self._compared_pair(
                pair,
                context.skip(pair.last, ("which", "one", "is", "who", "was", "are", "what", "of", "them")),
                ends=True,
            )
        at = context.starts(which, "one is", "is", "was", "one has", "are", "one", "") or which
        if context.starts(which, "one"):
            at = context.starts(which, "one is", "one was", "one") or which
        # "which is taller, X or Y": what is compared stands before the names; find the names from their end
        for middle in range(at + 1, context.end):
            for pair in self._pairs(middle):
                if context.is_over(pair.last):
                    yield from self._compared_pair(pair, at, until=middle)
        for head in self._phrases.heads(which):  # "which tower is taller, X or Y"
            start = context.skip(head.last, ("is", "was", "are"))
            for middle in range(start + 1, context.end):
                for pair in self._pairs(middle):
                    if context.is_over(pair.last):
                        yield from self._compared_pair(pair, start, until=middle)

    def _pairs(self, place: int) -> Iterator[Parse[Nodes]]:
        """Yield two names joined by `or` or `and`."""
        context = self._context
        for first in self.nodes(context.skip(place, ("either", "between", "the", "of", "both"))):
            if not first.value.named:
                continue
            joined = context.starts(first.last, "or", "and", "versus", "vs", "or is it", "and the", "or the")
            if joined is None:
                continue
            for second in self.nodes(joined):
                if second.value.named:
                    types = self._relations.types_of(first.value) & self._relations.types_of(second.value)
                    node_types = context.lexicon.graph.arrays.node_types
                    rows = (*first.value.named, *second.value.named)
                    same = tuple(row for row in rows if int(node_types[row]) in types)
                    if same:
                        yield Parse(
                            second.last, Nodes(conditions=(Among(tuple(sorted(set(same)))),)), first.cost + second.cost
                        )

    def _compared_pair(
        self, pair: Parse[Nodes], at: int, *, until: int | None = None, ends: bool = False
    ) -> Iterator[Parse[Query]]:
        context = self._context

        def is_all(last: int) -> bool:
            return (
                context.is_over(last)
                if ends
                else context.skip(last, ("between", "of", "out", "the", "one", "among", "here", "two", "is", "it"))
                == until
            )

        def asked(measure: Measure, descending: bool, last: int, cost: float) -> Parse[Query]:
            nodes = replace(self._relations.able(pair.value, measure), best=Best(measure, descending, 1))
            return Parse(last if ends else pair.last, Query("list", nodes), pair.cost + cost)

        begin = context.skip(at)
        for meant in [
            *adjective(context, begin),
            *((Parse(p.last, (p.value[0], p.value[1]), 0.0)) for p in self._phrases.superlative(begin)),
        ]:
            word, is_more = meant.value
            last = context.starts(meant.last, "one") or meant.last
            if word is None or not is_all(last):
                continue
            facts = self._phrases.compared_by(word, pair.value, begin)
            if facts is not None:
                yield asked(Measure(property=facts.name), word.ascending == is_more, last, 0.0)
        for verb, words in VERBS.items():  # "who earns more"
            if context.at(begin) in (verb, f"{verb}s") and context.at(begin + 1) in MORE | MOST and is_all(begin + 2):
                stems = {context.lexicon.vocabulary.stem(word) for word in words}
                fitting = [
                    facts for facts in self._phrases.properties_of(pair.value) if stems.intersection(facts.stems)
                ]
                if len(fitting) == 1:
                    yield asked(Measure(property=fitting[0].name), (MORE | MOST)[context.at(begin + 1)], begin + 2, 0.0)
        for facts, last, cost in self._properties(begin, pair.value):  # "was born first"
            order = {
                "first": False,
                "earlier": False,
                "last": True,
                "later": True,
                "earliest": False,
                "latest": True,
            }.get(context.at(last))
            if order is not None and is_all(last + 1):
                yield asked(Measure(property=facts.name), order, last + 1, cost)
        for measure, is_more in self._compared_measures(at, pair.value):
            if is_all(measure.last):
                yield asked(measure.value, is_more, measure.last, measure.cost)
        start = context.skip(at, ("has", "have", "had", "with", "the", "a"))
        if context.at(start) in MOST:
            for measure in self._clauses.measures(start + 1, pair.value):
                if is_all(measure.last):
                    yield asked(measure.value, MOST[context.at(start)], measure.last, measure.cost)


def _holds(nodes: Nodes, spoken: Nodes) -> bool:
    """Tell whether what was spoken of is a part of a set: else a sentence was read for nothing."""
    if nodes == spoken:
        return True
    for condition in nodes.conditions:
        if isinstance(condition, Joined) and _holds(condition.target, spoken):
            return True
        if isinstance(condition, Either) and any(
            _holds(Nodes(conditions=option), spoken) for option in condition.options
        ):
            return True
    return set(spoken.conditions) <= set(nodes.conditions) and bool(spoken.conditions)
