"""Words put together by the edges between what they name, where no rule reads a question.

    Pubs that Bill Stokoe has delivered to
    pub that <-pub- (delivery that -driver-> "Bill Stokoe")

Only where each word is known and none of them turns the meaning (`only`, `than`), and where there is one way alone that
passes by all that is named: of two ways, or of an edge between things of one kind, nobody tells which is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from typing import NamedTuple, TypeAlias, cast

from orienteer.reading.comparisons import compared, properties_of
from orienteer.reading.nouns import people_of
from orienteer.reading.properties import dated_property
from orienteer.reading.query import (
    Among,
    Best,
    Condition,
    ExactQuery,
    Form,
    Joined,
    Measure,
    NodeSet,
    Valued,
    negated,
)
from orienteer.reading.rules import Context, Parse
from orienteer.reading.units import LIGHT_FIT, SYNONYM, KindVerb, PropertyFacts, name_words
from orienteer.reading.vocabulary import ENGLISH, WORDS, SchemaHop

_EXAMPLE = "pubs that X has delivered to"
_FAR_FETCHED = 1.0  # cost of words that no rule reads
_SURE = 0.2  # cost of a unit that is surely what it is taken for
_NEAR = 0.1  # likeness below the likeliest edges
_ROLE, _VERB = 0.25, 0.5  # of a step: over an edge called by a part that somebody plays, and is not said; by a verb
_MOST_STEPS = 3
_MOST_SPANS = 6  # things that are named
_MOST_MEANINGS = 24  # of all of them together
_MOST_TREES = 400
_TOTALS = ("sum", "average", "median")
_TURNING = WORDS["turning"] | ENGLISH.superlatives.keys() | ENGLISH.most.keys() | ENGLISH.more.keys()
"""Words that say more than that things are joined."""

_Way: TypeAlias = tuple[SchemaHop, ...]


# --------------------------------------------------------------------------------------------------- what is named
class _End(NamedTuple):
    """What a way leads to: nodes of a type that are named, or that have a value; any of it without a condition."""

    type: int
    condition: Condition | None
    owners: frozenset[int] = frozenset()
    """Types of the noun that it stands right behind, with a preposition: *a reservation in Faro*. Empty if none."""
    is_doer: bool = False
    """It stands behind `by`."""


class _Kind(NamedTuple):
    """A kind that is named, by which a way is to pass."""

    types: frozenset[int]
    is_verb: bool = False
    """A verb names it, which does not say who of those that it joins did that."""


class _Verb(NamedTuple):
    """Edges that are named, one of which a way is to take, and what is said of it; none for a verb that says little."""

    edges: frozenset[int]
    where: tuple[Valued, ...] = ()


class _Column(NamedTuple):
    """A property that is named, and no value of it."""

    facts: PropertyFacts


class _Date(NamedTuple):
    """A time, with the word before it: `since 2024`."""

    place: int


_Meaning: TypeAlias = _End | _Kind | _Verb | _Column | _Date


class _Span(NamedTuple):
    """Words that name something, with all that they may mean."""

    first: int
    last: int
    meanings: tuple[_Meaning, ...]


_NOWHERE = _Span(0, 0, ())


@dataclass
class _Words:
    """What the words of a question name, and the parts that some of them play."""

    spans: list[_Span] = field(default_factory=list)
    total: Form | None = None
    each: list[_Span] = field(default_factory=list)
    """What numbers are told for each of."""
    most: list[_Span] = field(default_factory=list)
    """What the nodes that are asked for have the most of, or the fewest."""
    is_most: bool = True
    denied: list[_Span] = field(default_factory=list)
    """What stands behind `not`."""


def _read(context: Context, begin: int, each: list[_Span], *, is_test: bool) -> _Words | None:
    """Return what the words from a place on name; None if one of them is unknown, or turns the meaning."""
    read, place, role, before = _Words(each=each), begin, "", None
    while place < context.end:
        told = next(((form, last) for form in _TOTALS for last in context.ends_of(place, form)), None)
        told = told or next((("sum", last) for last in context.ends_of(place, "in total")), None)
        per = context.end_of(place, "per") or context.end_of(place, "does each")
        meanings = _meanings(context, place)
        longest = max(meanings, default=0)
        if told is not None and longest <= told[1] and read.total is None:
            read.total, place = cast(Form, told[0]), told[1]
        elif (
            per is not None
            and not role
            and not read.each
            and not (before is not None and _stands_for_doer(context, place, per, before))
        ):
            place, role = per, "each"
        elif context.at(place) in ("not", "never", "no", "without") and not role and not read.denied:
            place, role = place + 1, "denied"
        elif context.at(place) in ENGLISH.most and not role and not read.most and not longest:
            read.is_most, place, role = ENGLISH.most[context.at(place)], place + 1, "most"
        elif meanings:
            meant = dict.fromkeys(_placed(context, one, place, before) for one in meanings[longest])
            before = _Span(place, longest, tuple(meant))
            {"each": read.each, "denied": read.denied, "most": read.most}.get(role, read.spans).append(before)
            role, place = ("denied" if role == "denied" else ""), longest
        elif _says_nothing(context, place) or (context.at(place) == "any" and (is_test or role == "denied")):
            place += 1
        else:
            return None
    is_open = bool(role) and not (read.each or read.denied or read.most)
    if not read.spans:
        return None
    named = len(read.spans) + len(read.each) + len(read.denied) + len(read.most)
    return None if is_open or named > _MOST_SPANS else read


def _stands_for_doer(context: Context, place: int, last: int, before: _Span) -> bool:
    """Return whether `by` stands before whoever does something: `brewed by brewers`, and not `flights by month`."""
    behind = context.skip(last)
    are_named = any(name.cost < _SURE for name in context.units.names.get(behind, ()))
    is_noun = any(isinstance(one, _Kind | _Column) for one in before.meanings)
    is_plural = context.at(behind).endswith("s")
    return context.at(place) == "by" and (are_named or is_plural or not is_noun)


def _placed(context: Context, meaning: _Meaning, place: int, before: _Span | None) -> _Meaning:
    """Return an end with the noun and the preposition that it stands behind."""
    begin = place - (context.at(place - 1) in WORDS["determiners"])
    preposition = context.at(begin - 1)
    if not isinstance(meaning, _End) or preposition not in WORDS["all prepositions"]:
        return meaning
    is_behind = before is not None and before.last == begin - 1
    kinds = [one.types for one in before.meanings if isinstance(one, _Kind)] if before and is_behind else []
    return meaning._replace(owners=frozenset[int]().union(*kinds), is_doer=preposition == "by")


def _is_light(context: Context, place: int) -> bool:
    """Return whether a verb says no more than that something is there."""
    units = context.units.edges.get(place, ())
    return any(unit.fit <= LIGHT_FIT and not isinstance(unit.edges, KindVerb) for unit in units)


def _says_nothing(context: Context, place: int) -> bool:
    word, is_light = context.reading.words[place], _is_light(context, place)
    is_known = (
        word.is_stop or is_light or word.text in WORDS["empty"] | WORDS["determiners"] | WORDS["all prepositions"]
    )
    return is_known and word.text not in _TURNING and place not in context.units.quantities


def _meanings(context: Context, place: int) -> dict[int, list[_Meaning]]:
    """Return what words that begin at a place may mean, by where they end."""
    found: dict[int, list[_Meaning]] = {}
    for meant in (_ends(context, place), _kinds_and_edges(context, place), _columns(context, place)):
        for last, meaning in meant:
            found.setdefault(last, []).append(meaning)
    if place + 1 in found and _is_light(context, place):
        found[place + 1].append(_Verb(frozenset()))
    return {last: _without_twins(context, own) for last, own in found.items()}


def _without_twins(context: Context, meanings: list[_Meaning]) -> list[_Meaning]:
    """Return meanings without nodes that stand for a value which one of the meanings is."""
    labels, said = context.lexicon.vocabulary.node_labels, [one.condition for one in meanings if isinstance(one, _End)]
    values = {tuple(name_words(one.property)) for one in said if isinstance(one, Valued)}
    return [
        one
        for one in meanings
        if not (isinstance(one, _End) and isinstance(one.condition, Among))
        or values.isdisjoint(label.words for label in labels[one.type])
    ]


def _ends(context: Context, place: int) -> Iterator[tuple[int, _End]]:
    """Yield the nodes that are named here, by their types, and those that have a value."""
    node_types, properties = context.lexicon.graph.arrays.node_types, context.lexicon.properties
    for name in context.units.names.get(place, ()):
        types = dict.fromkeys(int(node_types[row]) for row in name.rows) if name.cost < _SURE else {}
        for kind in types:
            yield name.last, _End(kind, Among(tuple(row for row in name.rows if node_types[row] == kind)))
    for value in context.units.values.get(place, ()):
        facts = properties[value.property]
        for kind in facts.types if value.cost < _SURE and facts.kind != "number" else ():
            behind = context.units.properties.get(value.last, ())  # "enterprise plan"
            last = max((unit.last for unit in behind if unit.property == facts.name), default=value.last)
            yield last, _End(kind, Valued(facts.name, "=", value.value))
    for named in context.units.properties.get(place, ()):
        facts = properties[named.property]
        for kind in facts.types if facts.kind == "boolean" and named.cost < _SURE else ():
            yield named.last, _End(kind, Valued(facts.name, "=", facts.true))


def _kinds_and_edges(context: Context, place: int) -> Iterator[tuple[int, _Kind | _Verb]]:
    """Yield the kinds that are named here, by a verb or a noun, and the likeliest edges."""
    for kind in context.units.types.get(place, ()):
        if kind.cost < _SURE:
            yield kind.last, _Kind(kind.types)
    for unit in context.units.edges.get(place, ()):
        if isinstance(unit.edges, KindVerb):
            yield unit.last, _Kind(unit.edges.types, is_verb=True)
        elif unit.fit > SYNONYM:  # an author is no set designer
            yield unit.last, _Verb(frozenset(edge for edge, fit in unit.edges.items() if fit >= unit.fit - _NEAR))
    for value in context.units.edge_values.get(place, ()):
        facts = context.lexicon.edge_properties[value.property]
        behind = context.units.edge_properties.get(value.last, ())
        last = max((unit.last for unit in behind if unit.property == facts.name), default=value.last)
        if value.cost < _SURE and facts.kind != "number":
            yield last, _Verb(facts.edges, (Valued(facts.name, "=", value.value),))


def _columns(context: Context, place: int) -> Iterator[tuple[int, _Column | _Date]]:
    """Yield the properties that are named here without a value, and times."""
    for unit in context.units.properties.get(place, ()):
        facts = context.lexicon.properties[unit.property]
        if facts.kind != "boolean" and not unit.cost:  # "visitors" are no `max_visitors`
            yield unit.last, _Column(facts)
    dates = (facts for facts in context.lexicon.properties.values() if facts.kind in ("year", "date"))
    for parse in compared(context, place, dated) if (dated := next(dates, None)) is not None else ():
        if any(at in context.units.quantities for at in range(place, parse.last)):
            yield parse.last, _Date(place)


# ------------------------------------------------------------------------------------------------- what is asked
def assembled(context: Context) -> list[Parse[ExactQuery]]:
    """Return the query that the words of a question mean together; empty if they may mean several, or none."""
    if not context.words or context.complaints or context.units.unknown_ids:
        return []
    asked = _Asked.of(context)
    if asked is None:
        return []
    queries = [*_of_columns(context, asked), *_of_things(context, asked)]
    least = min((int(size) for size, _ in queries), default=0)
    meant = {query for size, query in queries if int(size) == least}
    doubts = [size % 1 for size, query in queries if query in meant]
    if _VERB in doubts or (any(doubts) and not all(size % 1 for size, _ in queries)):
        return []  # what verbs say of whom, rules know; who works in a house need not be its manager
    parses = [Parse(context.end, query, _FAR_FETCHED) for query in meant] if len(meant) == 1 else []
    context.fired.extend((_EXAMPLE, parse.value) for parse in parses)
    return parses


class _Asked(NamedTuple):
    """How a question begins, and what its other words name."""

    form: Form
    begin: int
    is_amount: bool
    """It begins with `how much`."""
    asks_who: bool
    asks_when: bool
    words: _Words

    @classmethod
    def of(cls, context: Context) -> _Asked | None:
        """Return what is asked by all words; None if one of them is unknown."""
        per, each = context.end_of(0, "per"), list[_Span]()
        place = 0
        if per is not None:  # "for each district, how many venues are there"
            behind = context.skip(per)
            meanings = _meanings(context, behind)
            place = max(meanings, default=0)
            if not place:
                return None
            each = [_Span(behind, place, tuple(dict.fromkeys(meanings[place])))]
        counting, when = context.end_of(place, "counting"), context.end_of(place, "when")
        is_test = context.at(place) in WORDS["auxiliaries"]
        amount = context.starts(place, "how much")
        listed = max(context.ends_of(place, "listing"), default=place + is_test)
        begin = next(last for last in (counting, amount, when, listed) if last is not None)
        words = _read(context, begin, each, is_test=is_test)
        if words is None:
            return None
        form: Form = "test" if is_test else "list" if counting is None else "count"
        asks_who = context.at(place) in WORDS["who"]
        return cls(form, begin, amount is not None, asks_who, when is not None and counting is None, words)


def _of_columns(context: Context, asked: _Asked) -> Iterator[tuple[float, ExactQuery]]:
    """Yield what values of things may be asked for, or their total, with the number of steps to what is named."""
    words, spans = asked.words, asked.words.spans
    if asked.form == "test" or asked.asks_who:
        return
    columns = [(span, one.facts) for span in spans for one in span.meanings if isinstance(one, _Column)]
    if not (words.total or asked.is_amount):
        columns = [(span, facts) for span, facts in columns if span is spans[0]]
    if asked.asks_when:
        named = {kind for span in spans for one in span.meanings if isinstance(one, _Kind) for kind in one.types}
        columns = [(_NOWHERE, facts) for facts in _dates(context) if facts.types & named]
    for span, facts in columns:
        is_number = facts.kind == "number"
        # tickets per venue, and no price per venue
        is_many = is_number and any(context.at(place).endswith("s") for place in range(span.first, span.last))
        form: Form = words.total or ("sum" if is_many and (asked.form == "count" or words.each) else "value")
        if (form == "value" and (words.each or asked.form == "count")) or not (is_number or form == "value"):
            continue
        rest = [other for other in spans if other is not span]
        for size, nodes in _sets(context, facts.types, rest, words, of_named=True):
            is_one = any(isinstance(one, Among) for one in nodes.conditions)
            told: Form = "value" if is_one and not words.each else form
            if is_one or told != "value" or asked.asks_when:
                query = ExactQuery(told, nodes, Measure(property=facts.name))
                yield from _told_for_each(context, size, query, words.each)


def _dates(context: Context) -> Iterator[PropertyFacts]:
    """Yield the properties that tell when something was, each the only one of a type."""
    for kind in range(len(context.lexicon.vocabulary.node_labels)):
        facts = dated_property(context, NodeSet(frozenset({kind})))
        if facts is not None and context.relations.is_nameless(kind):
            yield facts


def _of_things(context: Context, asked: _Asked) -> Iterator[tuple[float, ExactQuery]]:
    """Yield which things may be asked for, how many, or whether there are such, with the number of steps."""
    words, spans = asked.words, asked.words.spans
    if (
        asked.is_amount
        or asked.asks_when
        or (words.total is not None and (words.total, asked.form) != ("sum", "count"))
    ):
        return
    heads, rest = _head(context, spans)
    if asked.asks_who:
        people = people_of(context)
        named = {end.type for span in spans for end in span.meanings if isinstance(end, _End)}
        heads, rest = frozenset[int]() if named & people else people, [_doers(span) for span in spans]
    elif asked.form == "test" and not heads:
        yield from _tests(context, spans) if _is_undecided(context, asked) else ()
        return
    if any(span.first == place for place in [spans[0].last] for span in rest if spans and _is_named(span, heads)):
        return  # "section editors" is that section
    is_more = words.each or words.most or words.denied
    if not is_more and not _is_undecided(context, asked):
        return
    for size, nodes in _sets(context, heads, rest, words):
        if words.each and asked.form != "test":
            yield from _told_for_each(context, size, ExactQuery("count", nodes), words.each)
        elif not words.each:
            yield size, ExactQuery(asked.form, nodes)


def _doers(span: _Span) -> _Span:
    """Return what words mean of whoever does it: who ordered something is not the supplier of the order."""
    return span._replace(meanings=tuple(one for one in span.meanings if not (isinstance(one, _Kind) and one.is_verb)))


def _is_named(span: _Span, types: frozenset[int]) -> bool:
    """Return whether words may be a node of some types."""
    ends = (end for end in span.meanings if isinstance(end, _End) and isinstance(end.condition, Among))
    return any(end.type in types for end in ends)


def _told_for_each(
    context: Context, size: float, query: ExactQuery, each: list[_Span]
) -> Iterator[tuple[float, ExactQuery]]:
    """Yield a query told for each of what is named: values of a property, or nodes that one edge leads to."""
    if not each:
        yield size, query
    elif query.form != "value" and len(query.nodes.types) == 1:
        for meaning in each[0].meanings:
            if isinstance(meaning, _Column) and query.nodes.types <= meaning.facts.types:
                yield size, replace(query, group=Measure(property=meaning.facts.name))
            for hop in _hops_to(context, next(iter(query.nodes.types)), meaning):
                yield (
                    size + 1,
                    replace(query, group=Measure(kinds=(hop.kind,), target=NodeSet(frozenset({hop.target})))),
                )


def _hops_to(context: Context, head: int, meaning: _Meaning) -> Iterator[SchemaHop]:
    """Yield the edges of a type that are named, or that lead to a kind that is."""
    for hop in context.lexicon.vocabulary.hops[head]:
        is_to_kind = isinstance(meaning, _Kind) and hop.target in meaning.types and hop.target != head
        is_named = isinstance(meaning, _Verb) and hop.kind >> 1 in meaning.edges and not hop.kind & 1
        if (is_to_kind or is_named) and context.relations.labels.is_neutral(hop.kind >> 1):
            yield hop


def _tests(context: Context, spans: list[_Span]) -> Iterator[tuple[float, ExactQuery]]:
    """Yield what is asked of a named thing: that it is joined to all others."""
    for end in spans[0].meanings if len(spans) > 1 else ():
        if isinstance(end, _End) and isinstance(end.condition, Among):
            for size, nodes in _sets(context, frozenset({end.type}), spans[1:], _Words()):
                yield size, ExactQuery("test", NodeSet(conditions=(end.condition, *nodes.conditions)))


def _head(context: Context, spans: list[_Span]) -> tuple[frozenset[int], list[_Span]]:
    """Return the types that the first thing named asks for, and what else is named: `sold out screenings`.

    Several of a value are things that have it: `hops`, of ingredients.
    """
    at = next((at for at, span in enumerate(spans) if any(isinstance(one, _Kind) for one in span.meanings)), -1)
    are_values = all(any(isinstance(one, _End) for one in span.meanings) for span in spans[: max(at, 0)])
    are_before = all(one.last == other.first for one, other in pairwise(spans[: at + 1]))
    if at >= 0 and are_values and are_before:
        kinds = [one.types for one in spans[at].meanings if isinstance(one, _Kind)]
        return (kinds[0] if len(kinds) == 1 else frozenset()), [*spans[:at], *spans[at + 1 :]]
    ends = [end for span in spans[:1] for end in span.meanings if isinstance(end, _End)]
    is_plural = bool(spans) and context.at(spans[0].last - 1).endswith("s")
    valued = [(end.type, end.condition.value) for end in ends if isinstance(end.condition, Valued)]
    return frozenset(kind for kind, value in valued if is_plural and not str(value).endswith("s")), spans


def _is_undecided(context: Context, asked: _Asked) -> bool:
    """Return whether more than a preposition joins two things: rules know which edges that may say, and which not."""
    spans = asked.words.spans
    covered = {place for span in spans for place in range(span.first, span.last)}
    nothing = WORDS["all prepositions"] | WORDS["determiners"] | WORDS["relative"] | WORDS["be"]
    left = {context.at(place) for place in range(asked.begin, context.end) if place not in covered}
    light = [span for span in spans if not any(not isinstance(one, _Verb) or one.edges for one in span.meanings)]
    is_placed = context.at(spans[-1].first - 1) in WORDS["all prepositions"]
    number = len(spans) + asked.asks_who
    return number - is_placed * len(light) > 2 or (number > 1 and not left <= nothing)


# ------------------------------------------------------------------------------------------------- how it is joined
def _sets(
    context: Context, heads: frozenset[int], spans: list[_Span], read: _Words, *, of_named: bool = False
) -> Iterator[tuple[float, NodeSet]]:
    """Yield the sets that trees of ways describe, from a head over all that is named, each with its number of steps.

    `of_named` lets the head itself be what is named: of its value.
    """
    for head in heads:
        for size, nodes in _trees_of(context, head, spans, of_named=of_named):
            if read.most:
                hops = [hop for one in read.most[0].meanings for hop in _hops_to(context, head, one)]
                bests = [Measure(kinds=(hop.kind,), target=NodeSet(frozenset({hop.target}))) for hop in hops]
                yield from ((size + 1, replace(nodes, best=Best(one, read.is_most))) for one in bests)
            elif read.denied:
                for further, denied in _trees_of(context, head, read.denied, is_denied=True):
                    if len(denied.conditions) == 1:
                        yield size + further, nodes.that(negated(denied.conditions[0]))
            else:
                yield size, nodes


def _trees_of(
    context: Context, head: int, spans: list[_Span], *, of_named: bool = False, is_denied: bool = False
) -> Iterator[tuple[float, NodeSet]]:
    """Yield the sets of a type that lead to all that is named."""
    if not spans:
        yield 0, NodeSet(frozenset({head}))
    meanings = list(product(*(span.meanings for span in spans))) if spans else []
    if len(meanings) > _MOST_MEANINGS:
        return
    found = 0
    for meaning in meanings:
        for tree in _trees(context, head, meaning, of_named=of_named, is_denied=is_denied):
            found += 1
            if found > _MOST_TREES:
                return
            yield tree


def _trees(
    context: Context, head: int, meaning: tuple[_Meaning, ...], *, of_named: bool, is_denied: bool
) -> Iterator[tuple[float, NodeSet]]:
    """Yield the trees of ways from a type to all ends, over all kinds and edges that are named, with their sizes."""
    kinds = [one.types for one in meaning if isinstance(one, _Kind) and not (of_named and head in one.types)]
    verbs = [one for one in meaning if isinstance(one, _Verb)]
    ends = [one for one in meaning if isinstance(one, _End)]
    dates = [one for one in meaning if isinstance(one, _Date)]
    if any(isinstance(one, _Column) for one in meaning) or len(dates) > 1:
        return

    if not ends and kinds:  # "how many towns do we have pubs in"
        ends, kinds = [_End(kind, None) for kind in kinds[0]], kinds[1:]
    elif not ends and verbs and is_denied:  # films with no composer
        hops = [hop for verb in verbs for hop in _hops_to(context, head, verb)]
        yield from (
            (1, NodeSet(frozenset({head}), (Joined((hop.kind,), NodeSet(frozenset({hop.target}))),)))
            for hop in hops
            if len(verbs) == 1 and not dates
        )
        return
    named = frozenset[int]().union(*kinds)
    said = frozenset[int]().union(*(verb.edges for verb in verbs))
    for ways in product(*(list(_ways_to(context, head, end, named, of_named=of_named)) for end in ends)):
        fits = (_fits(head, way, end, verbs) for way, end in zip(ways, ends, strict=True))
        steps = {way[: at + 1] for way in ways for at in range(len(way))}
        passed = {head} | {step[-1].target for step in steps}
        taken = {step[-1].kind >> 1 for step in steps}
        # who "works remotely" is so; who appears in a film is in it by that edge
        are_said = all(taken & verb.edges if verb.edges else not steps for verb in verbs)
        if not (all(fits) and (ends or dates or of_named) and are_said and all(passed & kind for kind in kinds)):
            continue
        named_types = {end.type for end in ends if isinstance(end.condition, Among)}
        timed = _timed(context, passed - named_types, dates[0]) if dates else {}
        if timed is not None and not _is_said_twice(way_of_ends := list(zip(ways, ends, strict=True))):
            labels = context.relations.labels
            doubt = (
                _VERB
                if not all(map(labels.is_neutral, taken))
                else _ROLE
                if any(map(labels.is_role, taken - said))
                else 0
            )
            yield len(steps) + doubt, _described(head, way_of_ends, verbs, timed)


def _is_said_twice(ends: list[tuple[_Way, _End]]) -> bool:
    """Return whether one thing is to have two values of one property."""
    told = {(way, end.condition) for way, end in ends if isinstance(end.condition, Valued)}
    return len({(way, condition.property) for way, condition in told}) < len(told)


def _timed(context: Context, types: set[int], date: _Date) -> Mapping[int, tuple[Condition, ...]] | None:
    """Return the conditions of a time, by the only type that tells one; None if none or several do."""
    told = {kind: dated_property(context, NodeSet(frozenset({kind}))) for kind in types}
    dated = {
        kind: facts
        for kind, facts in told.items()
        if facts is not None
        or any(one.kind in ("year", "date") for one in properties_of(context, NodeSet(frozenset({kind}))))
    }
    if len(dated) != 1:
        return None
    kind, facts = next(iter(dated.items()))
    parses = list(compared(context, date.place, facts)) if facts is not None else []
    return {kind: parses[0].value} if len({parse.value for parse in parses}) == 1 else None


def _fits(head: int, way: _Way, end: _End, verbs: list[_Verb]) -> bool:
    """Return whether what stands behind a noun is joined to what that names, and `by` to who does what is said."""
    if end.is_doer and not any(way and way[-1].kind >> 1 in verb.edges for verb in verbs):
        return False
    passed = [head, *(hop.target for hop in way)]
    before = passed[-2:] if isinstance(end.condition, Among) or end.condition is None else passed[-1:]
    return not end.owners or not end.owners.isdisjoint(before)


def _ways_to(context: Context, head: int, end: _End, named: frozenset[int], *, of_named: bool) -> Iterator[_Way]:
    """Yield the ways to an end that need no word for what lies between: a row without a name, or what each has one of.

    A name of the head's own type is another thing than what is asked for, unless it is asked what that has.
    """
    relations = context.relations
    for way in _ways(context, head, end.type):
        are_told = all(
            hop.target in named or relations.is_nameless(hop.target) or relations.is_single((hop.kind ^ 1,))
            for hop in way[:-1]
        )
        is_itself = not way and isinstance(end.condition, Among)
        if (are_told or relations.is_single(tuple(hop.kind for hop in way))) and (of_named or not is_itself):
            yield way


def _ways(context: Context, source: int, target: int) -> Iterator[_Way]:
    """Yield the ways between two types that pass by no type twice."""
    hops: Sequence[Sequence[SchemaHop]] = context.lexicon.vocabulary.hops
    fronts: list[_Way] = [()]
    if source == target:
        yield ()
    for _ in range(_MOST_STEPS):
        longer: list[_Way] = []
        for way in fronts:
            at, before = way[-1].target if way else source, {source, *(hop.target for hop in way)}
            longer += [(*way, hop) for hop in hops[at] if hop.target not in before and _is_said(context, hop, source)]
        yield from (way for way in longer if way[-1].target == target)
        fronts = [way for way in longer if way[-1].target != target]


def _is_said(context: Context, hop: SchemaHop, head: int) -> bool:
    """Return whether edges lead to no value of a property, or values are asked for."""
    is_value = hop.kind not in context.relations.any_kinds
    return not is_value or head in _values(context, hop)


def _values(context: Context, hop: SchemaHop) -> set[int]:
    """Return the type of the values that edges of a property lead to."""
    hops = context.lexicon.vocabulary.hops
    return {other.target for own in hops for other in own if other.kind == hop.kind & ~1}


def _described(
    head: int,
    ends: list[tuple[_Way, _End]],
    verbs: list[_Verb],
    timed: Mapping[int, tuple[Condition, ...]],
    *,
    is_between: bool = False,
) -> NodeSet:
    """Return the nodes of a type from which ways lead to ends; those that begin alike, over the same nodes."""
    conditions: list[Condition] = [end.condition for way, end in ends if not way and end.condition is not None]
    for hop in dict.fromkeys(way[0] for way, _ in ends if way):
        further = [(way[1:], end) for way, end in ends if way and way[0] == hop]
        is_end = all(not way for way, _ in further)
        target = _described(hop.target, further, verbs, timed, is_between=not is_end)
        where = tuple(said for verb in verbs if hop.kind >> 1 in verb.edges for said in verb.where)
        conditions.append(Joined((hop.kind,), target, where=where))
    is_named = len(conditions) == 1 and isinstance(conditions[0], Among)
    conditions = list(dict.fromkeys((*conditions, *timed.get(head, ()))))
    return NodeSet(frozenset() if is_named else frozenset({head}), tuple(conditions), is_between=is_between)
