"""Comparisons with numbers and dates: `over 100 MB`, `before 1800`, `between 2 and 5`, `taller than 1.2 km`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orienteer.methods.anchor.reading.context import Context, Parse
from orienteer.methods.anchor.reading.function_words import phrases_of
from orienteer.methods.anchor.reading.lexicon import PropertyFacts
from orienteer.methods.anchor.reading.quantities import Quantity, converted
from orienteer.methods.anchor.reading.query import Comparison, Condition, NodeSet, Valued
from orienteer.methods.anchor.reading.thesaurus import ADJECTIVES, COMPARATIVES, Adjective

_SIGNS: Mapping[Comparison, tuple[str, ...]] = {
    ">=": phrases_of(
        """at least, no less than, no fewer than, not less than, not fewer than, a minimum of, minimum of, since,
        starting from, as of, no earlier than, not before, in or after, on or after, in or since"""
    ),
    "<=": phrases_of(
        """at most, up to, no more than, not more than, a maximum of, maximum of, until, till, no later than, not over,
        not above, not exceeding, through, by the end of, by, in or before, on or before, up to and including"""
    ),
    ">": phrases_of(
        """more than, greater than, larger than, higher than, over, above, exceeding, exceeds, exceed, beyond,
        in excess of, bigger than, after, later than, past, upwards of"""
    ),
    "<": phrases_of(
        """less than, fewer than, smaller than, lower than, under, below, short of, before, prior to, earlier than,
        ahead of"""
    ),
    "=": phrases_of("exactly, equal to, equals, precisely, just, only, during, in the year, in year, in, on, from"),
}
"""What is said before an amount."""

_OF_DATES = frozenset(
    phrases_of(
        """since, until, till, after, before, prior to, later than, earlier than, in, on, during, from, in the year,
        in year, starting from, as of, through, past, by, by the end of, in or after, on or after, in or since,
        in or before,
        on or before"""
    )
)
"""Those that are said before dates alone."""

_OF_COUNTS = frozenset(
    phrases_of(
        """at least, no less than, no fewer than, a minimum of, at most, up to, no more than, a maximum of, more than,
        over, above, exceeding, less than, fewer than, under, below, exactly, precisely, just, only, not more than,
        not less than, greater than, upwards of"""
    )
)
"""Those that are said before a number of things."""

_BEHIND: Mapping[Comparison, tuple[str, ...]] = {
    ">=": phrases_of(
        """or more, or higher, or deeper, or taller, or longer, or heavier, or faster, or larger, or bigger,
        or greater, or younger, at the earliest, at the least, at least, and above, and up, or newer, onwards, or after,
        or above, or later, or over"""
    ),
    "<=": phrases_of(
        """at the latest, at the most, or smaller, or shorter, or lighter, or cheaper, or slower,
        or shallower, at most, or older, or before, or less, or fewer, or lower, or below,
        or earlier"""
    ),
}
"""What is said behind an amount."""

_OR_SO: Mapping[Comparison, tuple[str, ...]] = {
    ">=": phrases_of("or more, or greater, or over, plus, at least, at the least"),
    "<=": phrases_of("or fewer, or less, at most, at the most"),
}
"""What is said behind a number of things."""

_BY_FIRST: dict[str, list[tuple[Comparison, str]]] = {}
"""What is said before an amount, by the first word, in the order above."""
for _comparison, _phrases in _SIGNS.items():
    for _phrase in _phrases:
        _BY_FIRST.setdefault(_phrase.split()[0], []).append((_comparison, _phrase))


def sign(context: Context, place: int, *, of_dates: bool = False) -> Iterator[Parse[Comparison]]:
    """Yield the comparisons that begin here: `over`, `at least`; `before` only where they are `of_dates`."""
    for comparison, phrase in _BY_FIRST.get(context.at(place), ()):
        last = context.starts(place, phrase)
        if last is not None and (of_dates or phrase not in _OF_DATES):
            yield Parse(last, comparison, 0.0)


def adjective(context: Context, place: int) -> Iterator[Parse[tuple[Adjective, bool]]]:
    """Yield the adjective of `taller`, `more expensive`, `less dear`, with whether more of it is meant."""
    word = context.at(place)
    if word in COMPARATIVES:
        yield Parse(place + 1, (COMPARATIVES[word], True), 0.0)
    if word in ("more", "less") and context.at(place + 1) in ADJECTIVES:
        yield Parse(place + 2, (ADJECTIVES[context.at(place + 1)], word == "more"), 0.0)


# ------------------------------------------------------------------------------------------------- numbers of things


def count(context: Context, place: int) -> Iterator[Parse[tuple[Comparison, float]]]:
    """Yield how many of something are asked for: `more than 8`, `exactly two`, `3`, `5 or more`."""
    for comparison, phrase in _BY_FIRST.get(context.at(place), ()):
        after = context.starts(place, phrase) if phrase in _OF_COUNTS else None
        amount = _bare_number(context, after) if after is not None else None
        if amount is not None:
            yield Parse(amount.last, (comparison, amount.value), 0.0)
    amount = _bare_number(context, place)
    if amount is not None:
        yield _number_of_things(context, amount)
    single = context.starts(place, "a single", "only a single", "just a single")
    if single is not None:
        yield Parse(single, ("=", 1.0), 0.0)
    several = context.starts(place, "several", "multiple", "more than one")
    if several is not None:
        yield Parse(several, (">=", 2.0), 0.0)


def or_so(context: Context, parse: Parse[NodeSet], amount: tuple[Comparison, float]) -> Parse[tuple[Comparison, float]]:
    """Return how many are asked for by an amount, and where that ends: `5 ships or more`, where it is `5 ships`."""
    for comparison, phrases in _OR_SO.items():
        last = context.starts(parse.last, *phrases)
        if last is not None and amount[0] == "=":
            return Parse(last, (comparison, amount[1]), 0.0)
    return Parse(parse.last, amount, 0.0)


def _bare_number(context: Context, place: int) -> Quantity | None:
    """Return the number of a place; None where it has a unit, or is a span of time."""
    amount = context.units.quantities.get(place)
    return amount if amount is not None and amount.unit is None and amount.span is None else None


def _number_of_things(context: Context, amount: Quantity) -> Parse[tuple[Comparison, float]]:
    """Return what a number says that nothing stands before: `5`, `5 or more`, `5 or fewer`."""
    for comparison, phrases in _OR_SO.items():
        last = context.starts(amount.last, *phrases)
        if last is not None:
            return Parse(last, (comparison, amount.value), 0.0)
    if context.reading.text[context.reading.words[amount.last - 1].end :][:1] == "+":
        return Parse(amount.last, (">=", amount.value), 0.0)
    return Parse(amount.last, ("=", amount.value), 0.1)


# ---------------------------------------------------------------------------------------------- amounts of a property


def compared(
    context: Context, place: int, facts: PropertyFacts, *, default: Comparison | None = "="
) -> Iterator[Parse[tuple[Condition, ...]]]:
    """Yield the conditions on a property that a comparison says which begins here.

    An amount with nothing before or behind it compares as the `default`; it says nothing where that is None.
    """
    yield from _between(context, place, facts)
    yield from _dashed(context, place, facts)
    for parse in sign(context, place, of_dates=facts.kind in ("year", "date")):
        amount = context.units.quantities.get(context.skip(parse.last, ("the", "year", "a")))
        if amount is not None:
            meant, amount = _with_behind(context, amount) if parse.value == "=" else (None, amount)
            yield from _compared_with(context, parse.last, facts, amount, meant or parse.value)
    amount = context.units.quantities.get(place)
    if amount is not None and default is not None:
        meant, amount = _with_behind(context, amount)
        yield from _compared_with(context, place, facts, amount, meant or default)


def _with_behind(context: Context, amount: Quantity) -> tuple[Comparison | None, Quantity]:
    """Return the comparison that is said behind an amount, and where that ends: `1990 or later`."""
    for comparison in _BEHIND:
        last = behind(context, amount.last, comparison)
        if last is not None:
            return comparison, amount._replace(last=last)
    return None, amount


def behind(context: Context, place: int, comparison: Comparison) -> int | None:
    """Return where `or more`, `or earlier` and their like end that begin here; None where none does."""
    return context.starts(place, *_BEHIND.get(comparison, ()))


def _between(context: Context, place: int, facts: PropertyFacts) -> Iterator[Parse[tuple[Condition, ...]]]:
    """Yield `between 2 and 5`, `from 1890 to 1899`, `ranging from 10 to 50 million`."""
    begin = context.starts(place, "between", "from", "ranging from", "of between")
    low = context.units.quantities.get(context.skip(begin, ("the", "years"))) if begin is not None else None
    middle = context.starts(low.last, "and", "to", "until", "through") if low is not None else None
    high = context.units.quantities.get(middle) if middle is not None else None
    if low is None or high is None:
        return
    if low.scale == 1 and high.scale > 1 and low.value < high.value / high.scale:  # "10 to 50 million"
        low = low._replace(value=low.value * high.scale)
    yield from _ranged(facts, low, high)


def _dashed(context: Context, place: int, facts: PropertyFacts) -> Iterator[Parse[tuple[Condition, ...]]]:
    """Yield `40-50 m`, `in 1890-1899`."""
    low = context.units.quantities.get(context.skip(place, ("in", "from", "of")))
    high = context.units.quantities.get(low.last) if low is not None and low.last < context.end else None
    if low is None or high is None:
        return
    words = context.reading.words
    if context.reading.text[words[low.last - 1].end : words[low.last].start].strip() in ("-", "–", "—"):
        is_year = high.is_year or (low.is_year and high.value == int(high.value))
        yield from _ranged(facts, low, high._replace(value=abs(high.value), is_year=is_year))


def _ranged(facts: PropertyFacts, low: Quantity, high: Quantity) -> Iterator[Parse[tuple[Condition, ...]]]:
    """Yield the conditions of a range, both ends included; the unit of the last is that of both."""
    lower = _conditions(facts, ">=", low._replace(unit=low.unit or high.unit))
    upper = _conditions(facts, "<=", high)
    if lower and upper:
        yield Parse(high.last, (*lower, *upper), 0.0)


def _compared_with(
    context: Context, place: int, facts: PropertyFacts, amount: Quantity, comparison: Comparison
) -> Iterator[Parse[tuple[Condition, ...]]]:
    """Yield the conditions of a comparison with one amount, which ends with it."""
    conditions = _conditions(facts, comparison, amount)
    if conditions:
        yield Parse(amount.last, conditions, 0.0)
    elif amount.unit is not None:
        context.complain(place, f"{facts.name} is not told in {amount.unit}")


def _conditions(facts: PropertyFacts, comparison: Comparison, amount: Quantity) -> tuple[Condition, ...]:
    """Return what a comparison of a property with an amount means; none where the units do not agree."""
    if facts.kind in ("year", "date"):
        return _conditions_of_dates(facts, comparison, amount)
    if facts.kind != "number" or amount.span is not None:
        return ()
    value = converted(amount.value, amount.unit, facts.unit)
    return () if value is None else (Valued(facts.name, comparison, value),)


def _conditions_of_dates(facts: PropertyFacts, comparison: Comparison, amount: Quantity) -> tuple[Condition, ...]:
    """Return what a comparison with a span of time means: `after 1990` begins when 1991 does."""
    span = (amount.value, amount.value + 1) if amount.span is None and amount.is_year else amount.span
    if span is None:
        return ()
    begin, end = _rounded(facts, span[0]), _rounded(facts, span[1])
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
