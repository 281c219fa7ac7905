"""Numbers, dates and units in words: `100 MB`, `twelve`, `March 2001`, `1.2 km` of a property in metres."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from orienteer.reading.vocabulary import ENGLISH
from orienteer.text.units import CURRENCIES, SIGNS, UNITS

_LAST_YEAR = 2199
_MOST_CENTURIES = 21
_GLUED_SCALES: Mapping[str, float] = {"k": 1e3, "bn": 1e9}
"""Letters that multiply the digits that they are glued to: `20k`. An `m` is metres, except behind a currency."""
_NUMBER = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_DAY = re.compile(r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?!\d)")
_GLUED = re.compile(r"([A-Za-z%€$£]+)")


class Quantity(NamedTuple):
    """A number with its unit, or a span of time."""

    last: int
    """Where its words end, exclusive."""
    value: float
    unit: str | None = None
    span: tuple[float, float] | None = None
    """A date as years and parts of years: the first moment, and the first one after it."""
    is_year: bool = False
    """A whole number that may be a year."""
    is_century: bool = False
    """`the 19th century`: from 1801 to 1900, though many mean from 1800 to 1899."""
    scale: float = 1.0
    """What the number was multiplied by: `million`."""


class Written(NamedTuple):
    """A word with its place in a text."""

    text: str
    start: int
    end: int


def quantity(text: str, words: Sequence[Written], first: int) -> Quantity | None:
    """Return the number, quantity or date that begins with a word; None where none does, or one too long to compare."""
    found = _date(text, words, first) or _century(words, first) or _decade(words, first) or _number(text, words, first)
    return found if found is not None and math.isfinite(found.value) else None


def _decade(words: Sequence[Written], first: int) -> Quantity | None:
    """Return `nineties`, `the eighties`: those of the twentieth century."""
    begin = ENGLISH.decades.get(words[first].text)
    return Quantity(first + 1, begin, span=(begin, begin + 10)) if begin is not None else None


def _century(words: Sequence[Written], first: int) -> Quantity | None:
    """Return `19th century`, `nineteenth century`."""
    if first + 1 >= len(words) or words[first + 1].text != "century":
        return None
    word = words[first].text
    digits = word.rstrip("stndrh")
    number = int(digits) if digits.isdecimal() and word != digits else ENGLISH.ordinals.get(word, 0)
    if not 1 <= number <= _MOST_CENTURIES:
        return None
    begin = 100.0 * (number - 1) + 1
    return Quantity(first + 2, begin, span=(begin, begin + 100), is_century=True)


def _date(text: str, words: Sequence[Written], first: int) -> Quantity | None:
    """Return `2001-03-05`, `2001-03`, `5 March 2001`, `March 5 2001`, `March 2001`."""
    if match := _DAY.match(text, words[first].start):
        last = _behind(words, first, match.end())
        return _day(last, int(match[1]), int(match[2]), int(match[3]) if match[3] else None)
    for shape in (("day", "month", "year"), ("month", "day", "year"), ("month", "year")):
        own = dict(zip(shape, (word.text for word in words[first:]), strict=False))
        month, day = ENGLISH.months.get(own.get("month", "")), _day_of_month(own["day"]) if "day" in own else None
        if month is not None and day != 0 and _is_year(own.get("year", "")):
            return _day(first + len(shape), int(own["year"]), month, day)
    return None


def _day_of_month(word: str) -> int:
    """Return the day of `5`, `5th`; 0 for any other word."""
    digits = word.rstrip("stndrh")
    return int(digits) if len(digits) <= 2 and digits.isdecimal() and int(digits) <= 31 else 0


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdecimal() and int(word) <= _LAST_YEAR


def _day(last: int, year: int, month: int, day: int | None) -> Quantity | None:
    try:
        begin = date(year, month, day or 1)
    except ValueError:
        return None
    end = begin + timedelta(days=1) if day else date(year + (month == 12), month % 12 + 1, 1)
    span = (part_of_year(begin.toordinal()), part_of_year(end.toordinal()))
    return Quantity(last, span[0], span=span)


def part_of_year(ordinal: int) -> float:
    """Return a day as its year and the part of it that has passed, as conditions on dates have it."""
    year = date.fromordinal(ordinal).year
    begin, end = date(year, 1, 1).toordinal(), date(year + 1, 1, 1).toordinal()
    return year + (ordinal - begin) / (end - begin)


class _Digits(NamedTuple):
    """A number without what stands around it."""

    last: int
    value: float
    end: int
    """Where its characters end."""


def _number(text: str, words: Sequence[Written], first: int) -> Quantity | None:
    """Return `12`, `1,200`, `twelve`, `-3.5 m`, `100MB`, `$20k`, `10 million`, `the 1990s`."""
    digits = _digits(text, words, first)
    if digits is None:
        return None
    is_year = digits.last == first + 1 and _is_year(words[first].text)
    currency = CURRENCIES.get(text[words[first].start - 1 : words[first].start])
    if glued := _GLUED.match(text, digits.end):
        return _glued(digits, glued, words, currency)
    sign = text[digits.end :].lstrip()[:1]
    if sign in SIGNS:
        return _with_unit(words, Quantity(digits.last, digits.value, SIGNS[sign]))
    scale = ENGLISH.scales.get(words[digits.last].text, 1.0) if digits.last < len(words) else 1.0
    if scale == 1:
        return _with_unit(words, Quantity(digits.last, digits.value, currency, is_year=is_year and currency is None))
    return _with_unit(words, Quantity(digits.last + 1, digits.value * scale, currency, scale=scale))


def _digits(text: str, words: Sequence[Written], first: int) -> _Digits | None:
    """Return the number that begins with a word, in digits or as a numeral."""
    word = words[first]
    if word.text in ENGLISH.numerals:
        return _Digits(first + 1, float(ENGLISH.numerals[word.text]), word.end)
    match = _NUMBER.match(text, word.start)
    if match is None or not word.text[0].isdigit():
        return None
    value = float(match[0].replace(",", ""))
    is_negative = text[word.start - 1 : word.start] == "-" and (word.start == 1 or text[word.start - 2].isspace())
    return _Digits(_behind(words, first, match.end()), -value if is_negative else value, match.end())


def _behind(words: Sequence[Written], first: int, end: int) -> int:
    """Return the first word from a place on that begins at a character or behind it."""
    return next((at for at in range(first, len(words)) if words[at].start >= end), len(words))


def _glued(digits: _Digits, glued: re.Match[str], words: Sequence[Written], currency: str | None) -> Quantity | None:
    """Return `100MB`, `20k`, `the 1990s`: the word goes on behind its digits."""
    letters, value = glued[1], digits.value
    if letters == "s" and value % 10 == 0 and 1000 <= value <= 2090:
        if value % 100 == 0:  # "the 1800s" are ten years or a hundred
            return None
        return Quantity(digits.last, value, span=(value, value + 10))
    scale = _GLUED_SCALES.get(letters.casefold(), 1e6 if letters.casefold() == "m" and currency is not None else 1.0)
    known = SIGNS.get(letters) or (letters.casefold() if letters.casefold() in UNITS else None)
    unit = currency if scale > 1 else known
    if unit is None and scale == 1:
        return None
    last = max(digits.last, _behind(words, 0, glued.end()))
    return _with_unit(words, Quantity(last, value * scale, unit, scale=scale))


def _with_unit(words: Sequence[Written], amount: Quantity) -> Quantity:
    """Return a number with the unit that is the word behind it: `5 kg`, `90 km / h`, `3 square metres`."""
    unit, after = (words[at].text if at < len(words) else "" for at in (amount.last, amount.last + 1))
    if amount.unit is not None:
        return amount
    if unit in UNITS:
        if unit == "km" and after in ("h", "hour"):
            return amount._replace(last=amount.last + 2, unit="kmh", is_year=False)
        return amount._replace(last=amount.last + 1, unit=unit, is_year=False)
    if unit in ("square", "sq") and after in ENGLISH.squares:
        return amount._replace(last=amount.last + 2, unit=ENGLISH.squares[after], is_year=False)
    return amount


def converted(value: float, unit: str | None, into: str | None) -> float | None:
    """Return a value of a unit in another one; None where they do not measure the same, or one of them is unknown."""
    if unit is None:
        return value
    if into is None:
        return value if UNITS[unit][0] == "share" else None
    theirs, ours = UNITS[unit], UNITS[into]
    if theirs[0] != ours[0]:
        return None
    return value if unit == into else value * theirs[1] / ours[1]
