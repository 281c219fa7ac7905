"""Comparisons with numbers, dates and other nodes: `over 100 MB`, `before 1800`, `tallest`, `more than Duvel`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from orienteer.reading.quantities import Quantity, converted
from orienteer.reading.query import Among, Best, Comparison, Condition, Joined, Measure, NodeSet, Valued
from orienteer.reading.rules import Context, Parse, part
from orienteer.reading.units import PropertyFacts
from orienteer.reading.vocabulary import ENGLISH, WORDS, Adjective
from orienteer.text.units import UNITS

Conditions: TypeAlias = Iterator[Parse[tuple[Condition, ...]]]
"""The ways to read what is said of a property, as conditions that all hold."""

# =========================================================================================================== adjectives
# Which property an adjective or a verb compares: `tallest`, `older`, `most expensive`, `weighs`.


class Superlative(NamedTuple):
    """A superlative: `tallest`, `most expensive`, `least expensive`."""

    adjective: Adjective
    is_more: bool
    """More of it is meant."""


def properties_of(context: Context, nodes: NodeSet) -> list[PropertyFacts]:
    """Return the properties that nodes of a set may have."""
    types = context.relations.types_of(nodes)
    return [facts for facts in context.lexicon.properties.values() if facts.types & types]


def compared_by(context: Context, adjective: Adjective, nodes: NodeSet, place: int) -> PropertyFacts | None:
    """Return the property that an adjective compares; None, with a complaint, where none or several are."""
    words, ages = _stems(context, adjective.words), list[PropertyFacts]()
    own = [facts for facts in properties_of(context, nodes) if facts.is_measured]
    fitting = [facts for facts in own if words.intersection(facts.stems) or facts.unit in adjective.words]
    if adjective.is_age:
        others = _stems(context, WORDS["no ages"])
        fitting = [facts for facts in own if facts.kind in ("year", "date") and not others.intersection(facts.stems)]
        fitting = [facts for facts in fitting if words.intersection(facts.stems)] or fitting
        births = _stems(context, WORDS["births"])
        ages = [facts for facts in own if is_age(context, facts)]
        if ages and not any(births.intersection(facts.stems) for facts in fitting):
            fitting += ages  # who has an `age` is old by that, and the most of it is the oldest: it has to be named
    is_wide = not (nodes.types or nodes.named)  # of no kind that is named: a `ticket_price` is no price of a thing
    if (len(fitting) > 1 or is_wide) and not ages:  # `price` is more the price of a thing than `purchase_price` is
        plain = [facts for facts in fitting if words.issuperset(facts.stems)]
        fitting = plain if is_wide else plain or fitting
    if len(fitting) == 1 and fitting[0] not in ages:
        return fitting[0]
    word = context.at(place)
    if fitting:
        names = ", ".join(facts.name for facts in fitting)
        context.complain(place, f"{word!r} may compare {names}: name {'one of them' if fitting[1:] else 'it'}")
    else:
        context.complain(place, f"nothing here is told that {word!r} compares")
    return None


def is_age(context: Context, facts: PropertyFacts) -> bool:
    """Return whether a property tells how old something is, in which the oldest has the most."""
    return facts.kind == "number" and set(facts.stems) == {context.lexicon.vocabulary.stem("age")}


def stated_by(context: Context, verb: str, nodes: NodeSet) -> PropertyFacts | None:
    """Return the property that `weigh` or `cost` states; None where no property or several are stated so."""
    stems = _stems(context, ENGLISH.stating[verb])
    fitting = [facts for facts in properties_of(context, nodes) if stems.intersection(facts.stems)]
    return fitting[0] if len(fitting) == 1 else None


def _stems(context: Context, words: frozenset[str]) -> set[str]:
    return {context.lexicon.vocabulary.stem(word) for word in words}


def superlatives_at(context: Context, place: int) -> Iterator[Parse[Superlative]]:
    """Yield `tallest`, `most expensive`, `least expensive`."""
    word, after = context.at(place), context.at(place + 1)
    if word in ENGLISH.superlatives:
        yield Parse(place + 1, Superlative(ENGLISH.superlatives[word], is_more=True), 0.0)
    if word in ("most", "least") and after in ENGLISH.adjectives:
        yield Parse(place + 2, Superlative(ENGLISH.adjectives[after], word == "most"), 0.0)


def best_of(context: Context, nodes: NodeSet, superlative: Superlative, first: int, place: int) -> NodeSet | None:
    """Return the nodes of a set that a superlative is meant for; None where nothing tells by what."""
    adjective, is_more = superlative
    if nodes.best is not None:
        return None
    facts = compared_by(context, adjective, nodes, place)
    if facts is None:
        return None
    return replace(nodes, best=Best(Measure(property=facts.name), adjective.ascending == is_more, first))


# =============================================================================================================== others
# Another node that nodes are compared with: `than Duvel`, `as that of Duvel`, `as Duvel does`, and what it has.


class Opening(NamedTuple):
    """Words that compare numbers of things or values, and the word that stands before the other node."""

    comparison: Comparison
    words: str
    joint: str
    times: float = 1.0
    """How many times as many as of the other node are asked for."""


_COMPARISONS: tuple[Comparison, ...] = (">=", "<=", "=", ">", "<")
_BEFORE_TIMES: tuple[tuple[Comparison, str], ...] = (
    ("=", ""),
    ("=", "exactly"),
    (">", "more than"),
    (">", "over"),
    (">=", "at least"),
    ("<", "less than"),
    ("<", "fewer than"),
    ("<=", "at most"),
)
_BY_FIRST: dict[str, list[tuple[list[str], Opening]]] = {}
"""The words of openings by their first, in their order."""
for _words, _times in ENGLISH.times.items():
    for _comparison, _before in _BEFORE_TIMES:
        for _many in ENGLISH.phrases["as many"]:
            _all = f"{_before} {_words} {_many}".split()
            _BY_FIRST.setdefault(_all[0], []).append((_all, Opening(_comparison, _words, "as", _times)))
for _joint in ("as", "than"):
    for _comparison in _COMPARISONS:
        for _words in ENGLISH.phrases.get(f"{_comparison} {_joint}", ()):
            _BY_FIRST.setdefault(_words.split()[0], []).append((_words.split(), Opening(_comparison, _words, _joint)))
_DENIED_BEFORE = 4  # words: "do not own as many ships as X"


def openings(context: Context, place: int) -> Iterator[Parse[Opening]]:
    """Yield the words that compare with another node here: `more` of `more beers than X`, `as many` of `as many as`.

    What is not "as many" is less: behind a denial `as many` is read as "at least as many".
    """
    for words, opening in _BY_FIRST.get(context.at(place), ()):
        if context.words[place : place + len(words)] != words:
            continue
        last = place + len(words)
        is_denied = not WORDS["not or never"].isdisjoint(context.words[max(0, place - _DENIED_BEFORE) : place])
        if opening.words in ENGLISH.phrases["as many"] and is_denied:
            opening = opening._replace(comparison=">=")
        yield Parse(last, opening, 0.0)


def another(context: Context, place: int, types: frozenset[int]) -> Iterator[Parse[int]]:
    """Yield the node of one of these types that is named here: `Duvel`, `that of Duvel`, `Duvel has`, `Duvel's`.

    Nothing where several nodes of these types have the name.
    """
    begin = context.end_of(place, "that of another")
    node_types = context.lexicon.graph.arrays.node_types
    for named in context.nodes(place if begin is None else begin):
        rows = [row for row in named.value.named if int(node_types[row]) in types]
        if len(rows) == 1:
            end = context.possessive(named.last)
            last = named.last if end is None else end
            if end is not None and (context.units.edges.get(end) or context.units.types.get(end)):
                continue  # "X's father" is not X
            yield Parse(last, rows[0], named.cost)
            if context.at(last) in WORDS["behind another"]:
                yield Parse(last + 1, rows[0], named.cost)


def measured_as(context: Context, measure: Measure, opening: Opening, row: int) -> tuple[Condition, ...]:
    """Return what it means that a measure compares so with that of a node; nothing where it has no value."""
    own, comparison = context.lexicon.measured(row, measure), opening.comparison
    if own is None:
        return ()
    value = opening.times * own
    if measure.property is not None:
        condition: Condition = Valued(measure.property, comparison, value)
    else:
        assert measure.target is not None
        condition = Joined(measure.kinds, measure.target, False, comparison, value)
    return (condition,) if comparison in (">", "<") else (condition, but_not(row))


def valued_as(context: Context, facts: PropertyFacts, row: int) -> tuple[Condition, ...]:
    """Return what it means that nodes have the value that a node has for a property; nothing where it has none."""
    value = context.lexicon.value(facts, row)
    return () if value is None else (Valued(facts.name, "=", value), but_not(row))


def but_not(row: int) -> Among:
    """Return the condition that leaves a node out: `the same brewery as Duvel` asks for other beers."""
    return Among((row,), negated=True)


# ========================================================================================================== comparisons
# Comparisons with numbers and dates: `over 100 MB`, `before 1800`, `between 2 and 5`, `taller than 1.2 km`.

_WHOLE_YEAR = 0.999
_AT_LEAST_OR_MOST: tuple[Comparison, ...] = (">=", "<=")  # they stand behind an amount: `5 or more`


def sign(context: Context, place: int, *, of_dates: bool = False) -> Iterator[Parse[Comparison]]:
    """Yield the comparisons that begin here: `over`, `at least`; `before` only where they are `of_dates`."""
    for comparison, phrase in ENGLISH.signs.get(context.at(place), ()):
        last = context.starts(place, phrase)
        if last is not None and (of_dates or phrase not in ENGLISH.phrases["of dates"]):
            yield Parse(last, comparison, 0.0)


def adjective(context: Context, place: int) -> Iterator[Parse[tuple[Adjective, bool]]]:
    """Yield the adjective of `taller`, `more expensive`, `less dear`, with whether more of it is meant."""
    word = context.at(place)
    if word in ENGLISH.comparatives:
        yield Parse(place + 1, (ENGLISH.comparatives[word], True), 0.0)
    if word in ("more", "less") and context.at(place + 1) in ENGLISH.adjectives:
        yield Parse(place + 2, (ENGLISH.adjectives[context.at(place + 1)], word == "more"), 0.0)


# ------------------------------------------------------------------------------------------------- numbers of things


@part
def count(context: Context, place: int) -> Iterator[Parse[tuple[Comparison, float]]]:
    """Read how many of something are asked for: `more than 8`, `exactly two`, `3`, `5 or more`."""
    for comparison, phrase in ENGLISH.signs.get(context.at(place), ()):
        after = context.starts(place, phrase) if phrase in ENGLISH.phrases["of counts"] else None
        amount = _bare_number(context, after) if after is not None else None
        if amount is not None:
            yield Parse(amount.last, (comparison, amount.value), 0.0)
    amount = _bare_number(context, place)
    if amount is not None:  # `5`, `5 or more`, `5+`
        meant, last = said_behind(context, amount.last, "or so") or ("=", amount.last)
        is_plus = last == amount.last and context.reading.text[context.reading.words[last - 1].end :][:1] == "+"
        yield Parse(last, (">=" if is_plus else meant, amount.value), 0.1 if meant == "=" and not is_plus else 0.0)
    single = context.starts(place, "a single", "only a single", "just a single")
    if single is not None:
        yield Parse(single, ("=", 1.0), 0.0)
    several = context.starts(place, "several", "multiple", "more than one")
    if several is not None:
        yield Parse(several, (">=", 2.0), 0.0)


def or_so(context: Context, parse: Parse[NodeSet], amount: tuple[Comparison, float]) -> Parse[tuple[Comparison, float]]:
    """Return how many are asked for by an amount, and where that ends: `5 ships or more`, where it is `5 ships`."""
    behind = said_behind(context, parse.last, "or so") if amount[0] == "=" else None
    return Parse(parse.last, amount, 0.0) if behind is None else Parse(behind[1], (behind[0], amount[1]), 0.0)


def said_behind(context: Context, place: int, key: str = "behind") -> tuple[Comparison, int] | None:
    """Return the comparison that is said behind an amount, and where that ends: `or more`; None where none is."""
    for comparison in _AT_LEAST_OR_MOST:
        last = context.end_of(place, f"{key} {comparison}")
        if last is not None:
            return comparison, last
    return None


def _bare_number(context: Context, place: int) -> Quantity | None:
    """Return the number of a place; None where it has a unit, or is a span of time."""
    amount = context.units.quantities.get(place)
    return amount if amount is not None and amount.unit is None and amount.span is None else None


# ---------------------------------------------------------------------------------------------- amounts of a property


def compared(context: Context, place: int, facts: PropertyFacts, *, default: Comparison | None = "=") -> Conditions:
    """Yield the conditions on a property that a comparison says which begins here.

    An amount with nothing before or behind it compares as the `default`; it says nothing where that is None.
    """
    yield from _between(context, place, facts)
    yield from _dashed(context, place, facts)
    for parse in sign(context, place, of_dates=facts.kind in ("year", "date")):
        amount = context.units.quantities.get(context.skip(parse.last, ("the", "year", "a")))
        if amount is not None:
            meant = said_behind(context, amount.last) if parse.value == "=" else None
            comparison, last = meant or (parse.value, amount.last)
            yield from compared_with(context, parse.last, facts, amount._replace(last=last), comparison)
    yield from _compared_with_another(context, place, facts)
    yield from _times_another(context, place, facts)
    yield from _within(context, place, facts)
    amount = context.units.quantities.get(place)
    meant = said_behind(context, amount.last) if amount is not None else None
    if amount is not None and (meant is not None or default is not None):
        comparison, last = meant or (default or "=", amount.last)
        yield from compared_with(context, place, facts, amount._replace(last=last), comparison)


def compared_or_twice(
    context: Context, place: int, facts: PropertyFacts, *, default: Comparison | None = "="
) -> Conditions:
    """Yield the conditions that one comparison says which begins here, and those of two."""
    yield from compared(context, place, facts, default=default)
    yield from compared_twice(context, place, facts)


def compared_twice(context: Context, place: int, facts: PropertyFacts) -> Conditions:
    """Yield the conditions of two comparisons: `over 5 and below 8`, `after 1990 but before 2000`."""
    for first in compared(context, place, facts, default=None):
        again = context.starts(first.last, "and also", "and", "but also", "but", "yet")
        for second in compared(context, again, facts, default=None) if again is not None else ():
            yield Parse(second.last, (*first.value, *second.value), first.cost + second.cost)


def _between(context: Context, place: int, facts: PropertyFacts) -> Conditions:
    """Yield `between 2 and 5`, `from 1890 to 1899`, `ranging from 10 to 50 million`."""
    begin = context.starts(
        place, "between", "from", "ranging from", "of between", "ranging between", "anywhere between"
    )
    begin = place if begin is None and place in context.units.quantities else begin
    low = context.units.quantities.get(context.skip(begin, ("the", "years"))) if begin is not None else None
    joints = ("to",) if begin == place else ("and", "to", "until", "through", "up to")
    middle = context.starts(low.last, *joints) if low is not None else None
    high = context.units.quantities.get(middle) if middle is not None else None
    if low is None or high is None:
        return
    if low.scale == 1 and high.scale > 1 and low.value < high.value / high.scale:  # "10 to 50 million"
        low = low._replace(value=low.value * high.scale)
    yield from _ranged(facts, low, high)


def _dashed(context: Context, place: int, facts: PropertyFacts) -> Conditions:
    """Yield `40-50 m`, `in 1890-1899`."""
    low = context.units.quantities.get(context.skip(place, ("in", "from", "of")))
    high = context.units.quantities.get(low.last) if low is not None and low.last < context.end else None
    if low is None or high is None:
        return
    words = context.reading.words
    if context.reading.text[words[low.last - 1].end : words[low.last].start].strip() in ("-", "–", "—"):
        is_year = high.is_year or (low.is_year and high.value == int(high.value))
        yield from _ranged(facts, low, high._replace(value=abs(high.value), is_year=is_year))


def _ranged(facts: PropertyFacts, low: Quantity, high: Quantity) -> Conditions:
    """Yield the conditions of a range, both ends included; the unit of the last is that of both."""
    lower = _conditions(facts, ">=", low._replace(unit=low.unit or high.unit))
    upper = _conditions(facts, "<=", high)
    if lower and upper:
        yield Parse(high.last, (*lower, *upper), 0.0)


def compared_with(
    context: Context, place: int, facts: PropertyFacts, amount: Quantity, comparison: Comparison
) -> Conditions:
    """Yield the conditions of a comparison with one amount, which ends with it."""
    conditions = _conditions(facts, comparison, amount)
    if amount.is_century and not _is_sure(context, facts, amount):
        context.complain(place, "the first or the last year of a century may be meant: say the years")
    elif conditions:
        yield Parse(amount.last, conditions, 0.0)
    elif amount.unit is not None:
        context.complain(place, f"{facts.name} is not told in {amount.unit}")


def _is_sure(context: Context, facts: PropertyFacts, amount: Quantity) -> bool:
    """Return whether no node has a moment of the years that some count to a century and others do not."""
    arrays = context.lexicon.graph.arrays
    values = arrays.properties.numbers(facts.name, arrays.properties.rows(facts.name))
    return not any(bool(((values >= year - 1) & (values < year)).any()) for year in amount.span or ())


def _compared_with_another(context: Context, place: int, facts: PropertyFacts) -> Conditions:
    """Yield `before X was`, `above that of X`, `in the same year as X`: a comparison with the value of a node."""
    year = context.end_of(place, "same year") if facts.kind in ("year", "date") else None
    same = context.starts(place, "the same as", "equal to", "equals", "identical to")
    for begin, alike in ((year, of_same_year), (same, valued_as)):
        for other in another(context, begin, facts.types) if begin is not None else ():
            if conditions := alike(context, facts, other.value):
                yield Parse(other.last, conditions, other.cost)
    for parse in sign(context, place, of_dates=facts.kind != "number") if facts.is_measured else ():
        if " ".join(context.words[place : parse.last]) in ENGLISH.phrases["of others"]:
            yield from than_another(context, parse.last, facts, parse.value, facts.types)


def than_another(
    context: Context,
    place: int,
    facts: PropertyFacts,
    comparison: Comparison,
    types: frozenset[int],
    *,
    times: float = 1.0,
    but_it: bool = False,
) -> Conditions:
    """Yield a comparison with what the node of one of these types has that is named here, or so many times that."""
    for other in another(context, place, types):
        value = context.lexicon.number(facts, other.value)
        if value is not None:
            valued = Valued(facts.name, comparison, times * value)
            yield Parse(other.last, (valued, but_not(other.value)) if but_it else (valued,), other.cost)


def factor(context: Context, place: int) -> Parse[tuple[Comparison, float]] | None:
    """Return how many times as much is asked for here: `twice`, `more than three times`, `at least double`."""
    begin, comparison, _ = max(
        sign(context, place), key=lambda sign: sign.last, default=Parse[Comparison](place, "=", 0.0)
    )
    times = ENGLISH.factors.get(context.at(begin))
    if times is not None:
        return Parse(begin + 1, (comparison, times), 0.0)
    amount = _bare_number(context, begin)
    last = context.starts(amount.last, "times") if amount is not None else None
    return Parse(last, (comparison, amount.value), 0.0) if amount is not None and last is not None else None


def _times_another(context: Context, place: int, facts: PropertyFacts) -> Conditions:
    """Yield `twice that of X`, `more than twice as long as X`, `double the duration of X`."""
    times = factor(context, place) if facts.kind == "number" else None
    if times is not None:
        comparison, number = times.value
        for begin in _times_what(context, times.last, facts):
            yield from than_another(context, begin, facts, comparison, facts.types, times=number)


def _times_what(context: Context, place: int, facts: PropertyFacts) -> Iterator[int]:
    """Yield where another node begins behind `that of`, `the duration of`, `as long as`, `as much as`."""
    of = context.starts(place, "that of", "what", "as much as", "as many as", "the one of")
    if of is not None:
        yield of
    stem = context.lexicon.vocabulary.stem
    meant = ENGLISH.adjectives.get(context.at(place + 1)) if context.at(place) == "as" else None
    if meant is not None and context.at(place + 2) == "as" and {stem(word) for word in meant.words} & set(facts.stems):
        yield place + 3
    for unit in context.units.properties.get(context.skip(place, ("the",)), ()):
        if unit.property == facts.name and context.at(unit.last) == "of":
            yield unit.last + 1


def _within(context: Context, place: int, facts: PropertyFacts) -> Conditions:
    """Yield `within ten years of 1860`, `within 5 m of 100 m`: both ends included."""
    begin = context.starts(place, "within")
    near = context.units.quantities.get(begin) if begin is not None else None
    of = context.starts(near.last, "of", "either side of", "on either side of") if near is not None else None
    middle = context.units.quantities.get(context.skip(of, ("the", "year"))) if of is not None else None
    if near is None or middle is None:
        return
    unit, (low, high) = near.unit or middle.unit, (middle.value - near.value, middle.value + near.value)
    if facts.kind == "year" and middle.is_year and near.unit is not None and UNITS[near.unit] == UNITS["year"]:
        yield Parse(middle.last, (Valued(facts.name, ">=", low), Valued(facts.name, "<=", high)), 0.0)
    elif facts.kind == "number":
        yield from _ranged(facts, middle._replace(value=low, unit=unit), middle._replace(value=high, unit=unit))


def of_same_year(context: Context, facts: PropertyFacts, row: int) -> tuple[Condition, ...]:
    """Return what it means that something was in the year in which it was of a node; nothing where that is not told."""
    moment = context.lexicon.number(facts, row) if facts.kind in ("year", "date") else None
    if moment is None:
        return ()
    return (*_conditions(facts, "=", Quantity(0, float(int(moment)), is_year=True)), but_not(row))


_CURRENCIES = {"euro": "eur", "dollar": "usd", "sterling": "gbp"}
"""The unit of an amount without one, by what a property's own unit measures."""


def _conditions(facts: PropertyFacts, comparison: Comparison, amount: Quantity) -> tuple[Condition, ...]:
    """Return what a comparison of a property with an amount means; none where the units do not agree."""
    if facts.kind in ("year", "date"):
        return _conditions_of_dates(facts, comparison, amount)
    if facts.kind != "number" or amount.span is not None:
        return ()
    unit = amount.unit
    if unit is None and amount.scale > 1 and facts.unit is not None:  # "25 million" of `budget_musd`
        dimension, factor_of = UNITS[facts.unit]
        unit = _CURRENCIES.get(dimension) if factor_of > 1 else None
    value = converted(amount.value, unit, facts.unit)
    return () if value is None else (Valued(facts.name, comparison, value),)


def _conditions_of_dates(facts: PropertyFacts, comparison: Comparison, amount: Quantity) -> tuple[Condition, ...]:
    """Return what a comparison with a span of time means: `after 1990` begins when 1991 does."""
    span = (amount.value, amount.value + 1) if amount.span is None and amount.is_year else amount.span
    if span is None:
        return ()
    begin, end = _rounded(facts, span[0]), _rounded(facts, span[1])
    if comparison == "=" and facts.kind == "year" and span[1] - span[0] < _WHOLE_YEAR:
        return ()  # a year does not tell a day, nor a month
    if comparison == "=" and facts.kind == "year" and end <= begin + 1:
        return (Valued(facts.name, "=", begin),)
    by_sign: Mapping[Comparison, tuple[Condition, ...]] = {
        "<": (Valued(facts.name, "<", begin),),
        "<=": (Valued(facts.name, "<", end),),
        ">": (Valued(facts.name, ">=", end),),
        ">=": (Valued(facts.name, ">=", begin),),
        "=": (Valued(facts.name, ">=", begin), Valued(facts.name, "<", end)),
    }
    return by_sign.get(comparison, ())


def _rounded(facts: PropertyFacts, moment: float) -> float:
    """Return a moment for a property: the years that have begun by then, where it holds whole years."""
    return moment if facts.kind == "date" or moment == int(moment) else float(int(moment) + 1)
