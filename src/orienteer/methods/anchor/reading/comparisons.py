"""Comparisons with numbers and dates: `over 100 MB`, `before 1800`, `between 2 and 5`, `taller than 1.2 km`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orienteer.methods.anchor.reading.context import Context, Parse
from orienteer.methods.anchor.reading.lexicon import PropertyFacts
from orienteer.methods.anchor.reading.quantities import Quantity, converted
from orienteer.methods.anchor.reading.query import Comparison, Condition, Valued
from orienteer.methods.anchor.reading.thesaurus import COMPARATIVES, Adjective

_SIGNS: Mapping[Comparison, tuple[str, ...]] = {
    ">=": (
        "at least", "no less than", "no fewer than", "not less than", "not fewer than", "a minimum of", "minimum of", "since",
        "starting from", "as of", "no earlier than", "not before",
    ),
    "<=": (
        "at most", "up to", "no more than", "not more than", "a maximum of", "maximum of", "until", "till", "no later than",
        "not over", "not above", "not exceeding", "through", "by the end of", "by",
    ),
    ">": (
        "more than", "greater than", "larger than", "higher than", "over", "above", "exceeding", "exceeds", "exceed", "beyond",
        "in excess of", "bigger than", "after", "later than", "past", "upwards of",
    ),
    "<": (
        "less than", "fewer than", "smaller than", "lower than", "under", "below", "short of", "before", "prior to",
        "earlier than", "ahead of",
    ),
    "=": ("exactly", "equal to", "equals", "precisely", "just", "only", "during", "in the year", "in year", "in", "on", "from"),
}  # fmt: skip
_DATE_ONLY = {"since", "until", "till", "after", "before", "prior to", "later than", "earlier than", "in", "on", "during", "from",
              "in the year", "in year", "starting from", "as of", "through", "past", "by", "by the end of"}  # fmt: skip
_COUNTED = ("at least", "no less than", "no fewer than", "a minimum of", "at most", "up to", "no more than", "a maximum of",
            "more than", "over", "above", "exceeding", "less than", "fewer than", "under", "below", "exactly", "precisely",
            "just", "only", "not more than", "not less than", "greater than", "upwards of")  # fmt: skip

_BY_FIRST: dict[str, list[tuple[Comparison, str]]] = {}
"""The phrases by their first words, in the order above."""
for _comparison, _phrases in _SIGNS.items():
    for _phrase in _phrases:
        _BY_FIRST.setdefault(_phrase.split()[0], []).append((_comparison, _phrase))


def sign(context: Context, place: int, *, of_dates: bool = False) -> Iterator[Parse[Comparison]]:
    """Yield the comparisons that begin here."""
    for comparison, phrase in _BY_FIRST.get(context.at(place), ()):
        if phrase in _DATE_ONLY and not of_dates:
            continue
        last = context.starts(place, phrase)
        if last is not None:
            yield Parse(last, comparison, 0.0)


def count(context: Context, place: int) -> Iterator[Parse[tuple[Comparison, float]]]:
    """Yield how many of something are asked for: `more than 8`, `exactly two`, `3`, `5 or more`."""
    for comparison, phrase in _BY_FIRST.get(context.at(place), ()):
        if phrase in _COUNTED and (after := context.starts(place, phrase)) is not None:
            amount = context.units.quantities.get(after)
            if amount is not None and amount.unit is None and amount.span is None:
                yield Parse(amount.last, (comparison, amount.value), 0.0)
    amount = context.units.quantities.get(place)
    if amount is not None and amount.unit is None and amount.span is None:
        if (after := context.starts(amount.last, "or more", "or greater", "plus")) is not None:
            yield Parse(after, (">=", amount.value), 0.0)
        elif (after := context.starts(amount.last, "or fewer", "or less")) is not None:
            yield Parse(after, ("<=", amount.value), 0.0)
        else:
            yield Parse(amount.last, ("=", amount.value), 0.1)
    several = context.starts(place, "several", "multiple", "more than one", "many")
    if several is not None and context.at(place) != "many":
        yield Parse(several, (">=", 2.0), 0.0)


def compared(
    context: Context, place: int, facts: PropertyFacts, *, default: Comparison | None = "="
) -> Iterator[Parse[tuple[Condition, ...]]]:
    """Yield the conditions on a property that a comparison says which begins here."""
    of_dates = facts.kind in ("year", "date")
    between = context.starts(place, "between", "from", "ranging from", "of between")
    if (
        between is not None
        and (low := context.units.quantities.get(context.skip(between, ("the", "years")))) is not None
    ):
        middle = context.starts(low.last, "and", "to", "until", "through")
        high = context.units.quantities.get(middle) if middle is not None else None
        if high is not None:
            low = low._replace(unit=low.unit or high.unit)
            if low.scale == 1 and high.scale > 1 and low.value < high.value / high.scale:  # "10 to 50 million"
                low = low._replace(value=low.value * high.scale)
            conditions = (*_conditions(facts, ">=", low), *_conditions(facts, "<=", high))
            if len(conditions) == 2:
                yield Parse(high.last, conditions, 0.0)
    yield from _dashed(context, place, facts)
    for parse in sign(context, place, of_dates=of_dates):
        amount = context.units.quantities.get(context.skip(parse.last, ("the", "year", "a")))
        if amount is not None:
            yield from _said(context, facts, parse.value, amount, parse.last)
    amount = context.units.quantities.get(place)
    if amount is not None and default is not None:
        comparison: Comparison = default
        last = amount.last
        for words, meant in (("or more", ">="), ("or higher", ">="), ("at the earliest", ">="), ("at the latest", "<="), ("at the least", ">="), ("at the most", "<="), ("at least", ">="), ("at most", "<="), ("and above", ">="), ("and up", ">="), ("or newer", ">="), ("or older", "<="), ("onwards", ">="), ("or after", ">="), ("or before", "<="), ("or above", ">="), ("or later", ">="), ("or less", "<="),
                             ("or fewer", "<="), ("or lower", "<="), ("or below", "<="), ("or earlier", "<="), ("or over", ">=")):  # fmt: skip
            if (after := context.starts(amount.last, words)) is not None:
                comparison, last = meant, after  # type: ignore[assignment]  # a literal of the tuple
        yield from _said(context, facts, comparison, amount._replace(last=last), place)


def _dashed(context: Context, place: int, facts: PropertyFacts) -> Iterator[Parse[tuple[Condition, ...]]]:
    """Yield `40-50 m`, `in 1890-1899`."""
    begin = context.skip(place, ("in", "from", "of"))
    low = context.units.quantities.get(begin)
    high = context.units.quantities.get(low.last) if low is not None and low.last < context.end else None
    if low is None or high is None:
        return
    between = context.reading.text[
        context.reading.words[low.last - 1].end : context.reading.words[low.last].start
    ].strip()
    if between in ("-", "–", "—"):
        high = high._replace(
            value=abs(high.value), is_year=high.is_year or low.is_year and high.value == int(high.value)
        )
        conditions = (
            *_conditions(facts, ">=", low._replace(unit=low.unit or high.unit)),
            *_conditions(facts, "<=", high),
        )
        if len(conditions) == 2:
            yield Parse(high.last, conditions, 0.0)


def _said(
    context: Context, facts: PropertyFacts, comparison: Comparison, amount: Quantity, place: int
) -> Iterator[Parse[tuple[Condition, ...]]]:
    conditions = _conditions(facts, comparison, amount)
    if conditions:
        yield Parse(amount.last, conditions, 0.0)
    elif amount.unit is not None:
        context.complain(place, f"{facts.name} is not told in {amount.unit}")


def _conditions(facts: PropertyFacts, comparison: Comparison, amount: Quantity) -> tuple[Condition, ...]:
    """Return what a comparison of a property with an amount means; none where the units do not agree."""
    if facts.kind in ("year", "date"):
        span = amount.span
        if span is None and amount.is_year:
            span = (amount.value, amount.value + 1)
        if span is None:
            return ()
        low, high = _rounded(facts, span[0]), _rounded(facts, span[1])
        by_sign: Mapping[Comparison, tuple[Condition, ...]] = {
            "<": (Valued(facts.name, "<", low),),
            "<=": (Valued(facts.name, "<", high),),
            ">": (Valued(facts.name, ">=", high),),
            ">=": (Valued(facts.name, ">=", low),),
            "=": (Valued(facts.name, "=", low),)
            if facts.kind == "year"
            else (Valued(facts.name, ">=", low), Valued(facts.name, "<", high)),
        }
        return by_sign.get(comparison, ())
    if facts.kind != "number" or amount.span is not None:
        return ()
    value = converted(amount.value, amount.unit, facts.unit)
    return () if value is None else (Valued(facts.name, comparison, value),)


def _rounded(facts: PropertyFacts, moment: float) -> float:
    """Return a moment for a property: the years that have begun by then, where it holds whole years."""
    return moment if facts.kind == "date" or moment == int(moment) else float(int(moment) + 1)


def adjective(context: Context, place: int) -> Iterator[Parse[tuple[Adjective, bool]]]:
    """Yield the adjective of `taller than`, `more expensive than`, `older than`, with whether more of it is meant."""
    from orienteer.methods.anchor.reading.thesaurus import ADJECTIVES

    word = context.at(place)
    if word in COMPARATIVES:
        yield Parse(place + 1, (COMPARATIVES[word], True), 0.0)
    if word in ("more", "less") and context.at(place + 1) in ADJECTIVES:
        yield Parse(place + 2, (ADJECTIVES[context.at(place + 1)], word == "more"), 0.0)
