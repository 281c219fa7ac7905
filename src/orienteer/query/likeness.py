"""Values of properties compared as people mean them: numbers, dates and prices by size, texts by their words."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from orienteer.elements import JsonValue
from orienteer.graph.properties import COMPARE, number_of
from orienteer.text.sentences import value_text

ORDERED = ("<", "<=", ">", ">=")
"""Comparisons that need a number, a date or a price."""

_PRICE = re.compile(
    r"\s*+(?:[A-Z]{0,3}\s?[$€£¥]|[A-Z]{3}\s)?\s*(\d[\d,]*(?:\.\d+)?)\s*(?:[$€£¥]|[A-Z]{3}\b)?", re.ASCII
)
_CURRENCY = re.compile(r"[$€£¥]|\b(?:USD|EUR|GBP|CHF|JPY)\b")
_DATE = re.compile(r"\d{4}-\d{2}")
_LONGEST = 40  # characters of a price


def quantity(value: JsonValue) -> float:
    """Return a number, a date or a price such as `$1,299.00` as a number; NaN for anything else."""
    number = number_of(value)
    if not math.isnan(number) or not isinstance(value, str) or len(value) > _LONGEST:
        return number
    price = _PRICE.match(value) if is_price(value) or "," in value else None
    return float(price[1].replace(",", "")) if price and (is_price(value) or price.end() == len(value)) else number


def is_price(value: JsonValue) -> bool:
    """Return whether a value is a text with an amount of money."""
    return isinstance(value, str) and len(value) <= _LONGEST and bool(_CURRENCY.search(value) and _PRICE.match(value))


def is_date(value: JsonValue) -> bool:
    """Return whether a value is a date."""
    return isinstance(value, str) and bool(_DATE.match(value)) and not math.isnan(number_of(value))


def meets(value: JsonValue, comparison: str, wanted: str | float | bool) -> bool:
    """Return whether a property's value meets a comparison. One item of a list is enough, except for `!=`.

    A year stands for every date of that year. Texts are compared without regard to case.
    """
    items = value if isinstance(value, list) else [value]
    if comparison == "contains":
        part = value_text(wanted).casefold()
        return any(part in value_text(item).casefold() for item in items)
    if comparison == "=":
        return any(_is_same(item, wanted) for item in items)
    if comparison == "!=":
        return not any(_is_same(item, wanted) for item in items)
    return any(COMPARE[comparison](*_pair(item, wanted)) for item in items)


def _pair(item: JsonValue, wanted: str | float | bool) -> tuple[float, float]:
    """Return both as numbers; a date that is compared with a year becomes its year."""
    number, other = quantity(item), quantity(wanted)
    return (
        (math.floor(number), other) if is_date(item) and other.is_integer() and not is_date(wanted) else (number, other)
    )


def _is_same(item: JsonValue, wanted: str | float | bool) -> bool:
    if is_date(item) and is_date(wanted):
        return str(item).strip().startswith(str(wanted).strip())  # a month takes in its days
    number, other = _pair(item, wanted)
    return number == other or value_text(item).casefold() == value_text(wanted).casefold()


def sort_places(values: Sequence[JsonValue], *, descending: bool) -> list[int]:
    """Return the places of values in order: numbers, dates and prices first, then texts, then missing values.

    Ties stay in their order.
    """
    numbers = [quantity(value[0] if isinstance(value, list) and value else value) for value in values]
    counted = [place for place, number in enumerate(numbers) if not math.isnan(number)]
    named = [place for place, value in enumerate(values) if value is not None and math.isnan(numbers[place])]
    counted.sort(key=lambda place: -numbers[place] if descending else numbers[place])
    named.sort(key=lambda place: value_text(values[place]).casefold(), reverse=descending)
    there = {*counted, *named}
    return [*counted, *named, *(place for place in range(len(values)) if place not in there)]
