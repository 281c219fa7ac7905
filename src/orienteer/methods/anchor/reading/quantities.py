"""Numbers, dates and units in words: `100 MB`, `twelve`, `March 2001`, `1.2 km` of a property in metres."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

NUMERALS: Mapping[str, int] = {
    word: number
    for number, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        ]
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "thousand": 1000, "dozen": 12}
_SCALES: Mapping[str, float] = {
    "hundred": 1e2, "thousand": 1e3, "k": 1e3, "million": 1e6, "mio": 1e6, "billion": 1e9, "bn": 1e9,
}  # fmt: skip
_MONTHS: Mapping[str, int] = {
    name: month
    for month, names in enumerate(
        [
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ],
        1,
    )
    for name in names.split()
}
UNITS: Mapping[str, tuple[str, float]] = {
    unit: (dimension, factor)
    for dimension, factor, names in (
        ("length", 1e-3, "mm millimetre millimeter"),
        ("length", 1e-2, "cm centimetre centimeter"),
        ("length", 1.0, "m metre meter"),
        ("length", 1e3, "km kilometre kilometer"),
        ("length", 0.3048, "ft foot feet"),
        ("length", 0.0254, "inch inches"),
        ("length", 1609.344, "mi mile"),
        ("length", 1852.0, "nmi"),
        ("mass", 1e-3, "mg milligram"),
        ("mass", 1.0, "g gram gramme"),
        ("mass", 1e3, "kg kilogram kilo"),
        ("mass", 1e6, "t tonne ton"),
        ("mass", 453.59237, "lb lbs pound"),
        ("time", 1e-3, "ms millisecond"),
        ("time", 1.0, "s sec second"),
        ("time", 60.0, "min minute"),
        ("time", 3600.0, "h hr hour"),
        ("time", 86400.0, "d day"),
        ("time", 604800.0, "week"),
        ("time", 31557600.0, "yr year"),
        ("volume", 1e-3, "ml millilitre milliliter"),
        ("volume", 1e-2, "cl centilitre centiliter"),
        ("volume", 1.0, "l litre liter"),
        ("volume", 100.0, "hl hectolitre hectoliter"),
        ("area", 1.0, "sqm m2"),
        ("area", 1e4, "ha hectare"),
        ("area", 1e6, "sqkm km2"),
        ("data", 1.0, "b byte"),
        ("data", 1e3, "kb kilobyte"),
        ("data", 1e6, "mb megabyte"),
        ("data", 1e9, "gb gigabyte"),
        ("data", 1024.0, "kib"),
        ("data", 1024.0**2, "mib"),
        ("data", 1024.0**3, "gib"),
        ("power", 1.0, "w watt"),
        ("power", 1e3, "kw kilowatt"),
        ("power", 1e6, "mw megawatt"),
        ("share", 1.0, "percent pct"),
        ("speed", 1.0, "kmh kph"),
        ("speed", 1.852, "kn kt knot"),
        ("euro", 1.0, "eur euro"),
        ("dollar", 1.0, "usd dollar"),
        ("sterling", 1.0, "gbp"),
        ("temperature", 1.0, "celsius degc"),
    )
    for name in names.split()
    for unit in ((name, f"{name}s") if len(name) > 3 and not name.endswith("s") else (name,))
}
"""By word, what a unit measures and how much of the dimension's base it is."""
_NUMBER = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_DAY = re.compile(r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?!\d)")
_GLUED = re.compile(r"([A-Za-z%€$£]+)")
_SIGNS: Mapping[str, str] = {"%": "percent", "€": "eur", "$": "usd", "£": "gbp"}


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
    scale: float = 1.0
    """What the number was multiplied by: `million`."""


class Written(NamedTuple):
    """A word with its place in a text."""

    text: str
    start: int
    end: int


def quantity(text: str, words: Sequence[Written], first: int) -> Quantity | None:
    """Return the number, quantity or date that begins with a word; None where none does."""
    return _date(text, words, first) or _number(text, words, first)


def _date(text: str, words: Sequence[Written], first: int) -> Quantity | None:
    word = words[first]
    if match := _DAY.match(text, word.start):
        year, month, day = int(match[1]), int(match[2]), match[3]
        last = next((at for at in range(first, len(words)) if words[at].start >= match.end()), len(words))
        return _day(last, year, month, int(day) if day else None)
    months = [
        (at, _MONTHS[words[at].text]) for at in (first, first + 1) if at < len(words) and words[at].text in _MONTHS
    ]
    if not months:
        return None
    at, month = months[0]
    days = [words[first].text] if at > first else []
    after = at + 1
    if not days and after + 1 < len(words) and _is_day(words[after].text) and _is_year(words[after + 1].text):
        days, after = [words[after].text], after + 1
    if at > first and not _is_day(words[first].text):
        return None
    if after < len(words) and _is_year(words[after].text):
        return _day(after + 1, int(words[after].text), month, int(days[0].rstrip("stndrh")) if days else None)
    return None


def _is_day(word: str) -> bool:
    digits = word.rstrip("stndrh")
    return digits.isdecimal() and 1 <= int(digits) <= 31


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdecimal()


def _day(last: int, year: int, month: int, day: int | None) -> Quantity | None:
    from datetime import date, timedelta

    try:
        begin = date(year, month, day or 1)
    except ValueError:
        return None
    end = begin + timedelta(days=1) if day else date(year + (month == 12), month % 12 + 1, 1)
    span = (part_of_year(begin.toordinal()), part_of_year(end.toordinal()))
    return Quantity(last, span[0], span=span)


def part_of_year(ordinal: int) -> float:
    """Return a day as its year and the part of it that has passed, as conditions on dates have it."""
    from datetime import date

    year = date.fromordinal(ordinal).year
    begin, end = date(year, 1, 1).toordinal(), date(year + 1, 1, 1).toordinal()
    return year + (ordinal - begin) / (end - begin)


def _number(text: str, words: Sequence[Written], first: int) -> Quantity | None:
    word = words[first]
    if word.text in NUMERALS and not word.text[0].isdigit():
        value, last = float(NUMERALS[word.text]), first + 1
        match_end = word.end
    else:
        match = _NUMBER.match(text, word.start)
        if not match or not word.text[0].isdigit():
            return None
        value = float(match[0].replace(",", ""))
        if word.start and text[word.start - 1] == "-" and (word.start == 1 or text[word.start - 2].isspace()):
            value = -value
        match_end = match.end()
        last = next((at for at in range(first, len(words)) if words[at].start >= match_end), len(words))
    is_year = last == first + 1 and _is_year(word.text)
    unit: str | None = None
    scale = 1.0
    before = text[word.start - 1 : word.start]
    if before in ("€", "$", "£"):
        unit = _SIGNS[before]
    rest = text[match_end:].lstrip()
    if glued := _GLUED.match(text, match_end):  # 100MB: the word goes on behind its digits
        if glued[1] == "s" and value % 10 == 0 and 1000 <= value <= 2090:  # "the 1990s"
            return Quantity(first + 1, value, span=(value, value + 10))
        scale = {"k": 1e3, "m": 1e6, "bn": 1e9}.get(glued[1].casefold(), 1.0) if unit or glued[1] != "m" else 1.0
        unit = unit if scale > 1 else _unit(glued[1])
        last = max(last, next((at for at in range(first, len(words)) if words[at].start >= glued.end()), len(words)))
        value *= scale
        if unit is None and scale == 1:
            return None
    elif rest[:1] in _SIGNS:
        unit = _SIGNS[rest[0]]
    elif last < len(words) and words[last].text in _SCALES and words[last].text != "k":
        scale = _SCALES[words[last].text]
        value, last, is_year = value * scale, last + 1, False
    if unit is None and last < len(words) and words[last].text in UNITS:
        square = None
        unit, last, is_year = square or words[last].text, last + 1, False
        if unit == "km" and last < len(words) and words[last].text in ("h", "hour"):
            unit, last = "kmh", last + 1
    elif unit is None and last + 1 < len(words) and words[last].text in ("square", "sq"):
        area = {"km": "sqkm", "kilometres": "sqkm", "kilometers": "sqkm", "m": "sqm", "metres": "sqm", "meters": "sqm"}
        if words[last + 1].text in area:
            unit, last, is_year = area[words[last + 1].text], last + 2, False
    return Quantity(last, value, unit, is_year=is_year and unit is None and scale == 1, scale=scale)


def _unit(glued: str) -> str | None:
    if glued in _SIGNS:
        return _SIGNS[glued]
    folded = glued.casefold()
    return folded if folded in UNITS else None


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
