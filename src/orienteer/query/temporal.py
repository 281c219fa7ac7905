"""Dates, times and durations as Cypher has them: to the nanosecond, years 1 to 9999, zones by offset or by name.

ISO 8601 says how they are written; openCypher's test kit (Temporal1 to 10) what they mean. Functions return None for a
text that is no such value, and raise `BadQuery` for maps and values that they do not take.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

from orienteer.errors import BadQuery

MOMENTS = ("date", "localtime", "time", "localdatetime", "datetime")
CLOCKS = ("transaction", "statement", "realtime")
"""Behind a kind and a dot: the moment of the statement, in UTC."""
KINDS = frozenset({*MOMENTS, "duration"})
_SECOND = 10**9  # nanoseconds
_DAY = 86_400 * _SECOND
_MONTH = Fraction(30_436_875, 1_000_000)  # days, on average
_UNIX = date(1970, 1, 1).toordinal()
_LARGEST = 2**63
_DATE = r"(\d{4}(?:-\d\d-\d\d|\d{4}|-\d\d|\d\d|-?W\d\d|-W\d\d-\d|W\d{3}|-?\d{3}|-Q\d-\d\d|Q\d{3})?)"
_TIME = r"(\d\d(?::\d\d(?::\d\d(?:[.,]\d{1,9})?)?|\d\d(?:\d\d(?:[.,]\d{1,9})?)?)?)"
_ZONE = r"(Z|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)?(?:\[([A-Za-z_/+\-0-9]{1,40})\])?"
_AMOUNT = r"([-+]?\d{1,18}(?:[.,]\d{1,18})?)"
_LENGTH = "P" + "".join(f"(?:{_AMOUNT}{unit})?" for unit in "YMWD")
_LENGTH += "(?:T" + "".join(f"(?:{_AMOUNT}{unit})?" for unit in "HMS") + ")?"
_LENGTH_AS_DATE = r"P(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d(?:\.\d{1,9})?)"
# The units of a duration: months, days and nanoseconds of one.
_UNITS: Mapping[str, tuple[int, int, int]] = {
    "years": (12, 0, 0), "quarters": (3, 0, 0), "months": (1, 0, 0), "weeks": (0, 7, 0), "days": (0, 1, 0),
    "hours": (0, 0, 3600 * _SECOND), "minutes": (0, 0, 60 * _SECOND), "seconds": (0, 0, _SECOND),
    "milliseconds": (0, 0, 10**6), "microseconds": (0, 0, 1000), "nanoseconds": (0, 0, 1),
}  # fmt: skip
_CLOCK = ("hour", "minute", "second")
_PARTS_OF_SECOND = {"millisecond": 10**6, "microsecond": 1000, "nanosecond": 1}


@dataclass(frozen=True, slots=True)
class Moment:
    """A date, a time of day, or both, in a zone or not."""

    day: date | None = None
    clock: int | None = None
    """Nanoseconds since midnight."""
    offset: int | None = None
    """Seconds that the zone is before UTC; None for a local time."""
    zone: str | None = None
    """The name of the zone; None if only its offset is known."""

    @property
    def kind(self) -> str:
        """One of `MOMENTS`."""
        if self.clock is None:
            return "date"
        return ("local" if self.offset is None else "") + ("time" if self.day is None else "datetime")

    @property
    def order(self) -> tuple[int, int, str]:
        """A key that orders moments of one kind: by the instant, then by zone."""
        return self.instant, self.offset or 0, self.zone or ""

    @property
    def instant(self) -> int:
        """Nanoseconds since 1970 in UTC, of a time since midnight."""
        day = 0 if self.day is None else self.day.toordinal() - _UNIX
        return day * _DAY + (self.clock or 0) - (self.offset or 0) * _SECOND

    def __str__(self) -> str:
        text = "" if self.day is None else self.day.isoformat()
        if self.clock is not None:
            second, rest = divmod(self.clock, _SECOND)
            text += "T" if text else ""
            text += f"{second // 3600:02}:{second // 60 % 60:02}"
            text += f":{second % 60:02}" if second % 60 or rest else ""
            fraction = f"{rest:09}"
            while fraction.endswith("000"):
                fraction = fraction[:-3]
            text += f".{fraction}" if fraction else ""
        return (
            text + ("" if self.offset is None else _offset_text(self.offset)) + (f"[{self.zone}]" if self.zone else "")
        )

    def part(self, key: str) -> Any:  # Any: a number or a text
        """Return a component. Raises `BadQuery` for one that it does not have."""
        made = _PARTS.get(key)
        lacks = made is None or {"d": self.day, "c": self.clock, "z": self.offset}[made[0]] is None
        if made is None or lacks or (key.startswith("epoch") and None in (self.day, self.offset)):
            raise BadQuery(f"a {self.kind} has no {key!r}: take year, month, day, hour, minute, second and the like")
        return made[1](self)

    def moved(self, by: Duration) -> Moment:
        """Return the moment after a duration. Raises `BadQuery` for years outside 1 to 9999."""
        if self.day is None:
            return replace(self, clock=((self.clock or 0) + by.clock) % _DAY)
        if self.clock is None and abs(by.clock) >= _DAY:
            raise BadQuery(f"{by} has a day or more in hours: write them as days to add it to a date")
        day = _day_of(_months_later(self.day, by.months).toordinal() + by.days)
        if self.clock is None:
            return replace(self, day=day)
        moved = _zoned(replace(self, day=day), self.zone or self.offset)
        return _at(moved.instant + by.clock, moved)


@dataclass(frozen=True, slots=True)
class Duration:
    """Months, days, and nanoseconds: none of these has a fixed number of another."""

    months: int = 0
    days: int = 0
    clock: int = 0

    def __str__(self) -> str:
        sign = -1 if self.clock < 0 else 1
        second, rest = divmod(abs(self.clock), _SECOND)
        years, months = _split(self.months, 12)
        fraction = f".{rest:09}".rstrip("0") if rest else ""
        minus = "-" if sign < 0 else ""
        date_part = "".join(f"{n}{unit}" for n, unit in ((years, "Y"), (months, "M"), (self.days, "D")) if n)
        clock = "".join(f"{sign * n}{unit}" for n, unit in ((second // 3600, "H"), (second // 60 % 60, "M")) if n)
        clock += f"{minus}{second % 60}{fraction}S" if second % 60 or rest else ""
        return f"P{date_part}{'T' if clock else ''}{clock}" if date_part or clock else "PT0S"

    @property
    def order(self) -> Fraction:
        """The average number of seconds."""
        return (self.months * _MONTH + self.days) * 86_400 + Fraction(self.clock, _SECOND)

    def part(self, key: str) -> int:
        """Return a component: `minutes` are all, `minutesOfHour` those beyond whole hours. Raises `BadQuery`."""
        unit, _, of = key.partition("Of")
        months, days, clock = _UNITS.get(unit, (0, 0, 0))
        one, all_ = (months, self.months) if months else (days, self.days) if days else (clock, self.clock)
        larger = _UNITS.get(f"{of.lower()}s", (0, 0, 0)) if of else (0, 0, 0)
        whole = next((each for each, part in zip(larger, (months, days, clock), strict=True) if each and part), 0)
        if not one or (of and whole <= one):
            raise BadQuery(f"a duration has no {key!r}: take years, months, days, hours, minutes, seconds and the like")
        if clock:
            return (all_ % whole if of else all_) // one  # what is below a second counts up from it
        return _split(_split(all_, whole)[1] if of else all_, one)[0]

    def times(self, factor: Fraction, plus: Duration | None = None) -> Duration:
        """Return the duration so many times, and another added to it."""
        more = plus or Duration()
        months, days = self.months * factor + more.months, self.days * factor + more.days
        return _length(months, days, self.clock * factor + more.clock)


def _split(value: int, by: int) -> tuple[int, int]:
    """Return quotient and rest, both towards zero."""
    whole, rest = divmod(abs(value), by)
    return (whole, rest) if value >= 0 else (-whole, -rest)


def _length(months: Fraction, days: Fraction, clock: Fraction) -> Duration:
    """Return a duration; the fraction of a month becomes days, that of a day becomes nanoseconds."""
    whole = int(months)
    days += (months - whole) * _MONTH
    clock += (days - int(days)) * _DAY
    if max(abs(whole), abs(int(days)), abs(int(clock)) // _SECOND) >= _LARGEST:
        raise BadQuery("a duration is too long: months, days and seconds go up to 64 bits")
    return Duration(whole, int(days), int(clock))


def _offset_text(offset: int) -> str:
    if not offset:
        return "Z"
    minutes, second = divmod(abs(offset), 60)
    return f"{'-' if offset < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}{f':{second:02}' if second else ''}"


def _quarter_day(day: date) -> int:
    return (day - date(day.year, (day.month - 1) // 3 * 3 + 1, 1)).days + 1


_PARTS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "year": ("d", lambda of: of.day.year),
    "month": ("d", lambda of: of.day.month),
    "day": ("d", lambda of: of.day.day),
    "quarter": ("d", lambda of: (of.day.month + 2) // 3),
    "dayOfQuarter": ("d", lambda of: _quarter_day(of.day)),
    "week": ("d", lambda of: of.day.isocalendar()[1]),
    "weekYear": ("d", lambda of: of.day.isocalendar()[0]),
    **dict.fromkeys(("dayOfWeek", "weekDay"), ("d", lambda of: of.day.isoweekday())),
    "ordinalDay": ("d", lambda of: of.day.timetuple().tm_yday),
    "hour": ("c", lambda of: of.clock // (3600 * _SECOND)),
    "minute": ("c", lambda of: of.clock // (60 * _SECOND) % 60),
    "second": ("c", lambda of: of.clock // _SECOND % 60),
    "millisecond": ("c", lambda of: of.clock % _SECOND // 10**6),
    "microsecond": ("c", lambda of: of.clock % _SECOND // 1000),
    "nanosecond": ("c", lambda of: of.clock % _SECOND),
    "timezone": ("z", lambda of: of.zone or _offset_text(of.offset)),
    "offset": ("z", lambda of: _offset_text(of.offset)),
    "offsetMinutes": ("z", lambda of: of.offset // 60),
    "offsetSeconds": ("z", lambda of: of.offset),
    "epochSeconds": ("z", lambda of: of.instant // _SECOND),
    "epochMillis": ("z", lambda of: of.instant // 10**6),
}


def _day_of(ordinal: int) -> date:
    try:
        return date.fromordinal(ordinal)
    except (ValueError, OverflowError):
        raise BadQuery("a date is outside the years 1 to 9999") from None


def _months_later(day: date, months: int) -> date:
    """Return the day so many months later, the last of the month if it has no such day."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise BadQuery("a date is outside the years 1 to 9999")
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


# Zones.


def _seconds(name: str, at: datetime) -> int:
    """Return the offset of a named zone at a local time, or at one of UTC. Raises `BadQuery` for an unknown zone."""
    from zoneinfo import ZoneInfo  # most statements name no zone

    try:
        zone = ZoneInfo(name)
        offset = (at.astimezone(zone) if at.tzinfo else at.replace(tzinfo=zone)).utcoffset()
    except (OSError, ValueError, KeyError, OverflowError):
        raise BadQuery(f"the time zone {name!r} is not known here: write an offset, as in +01:00") from None
    seconds = int((offset or timedelta()).total_seconds())
    if seconds % 60:
        raise BadQuery(f"{name} had no standard time then: write an offset, as in +01:00")
    return seconds


def _zoned(moment: Moment, zone: str | int | None, wanted: int | None = None) -> Moment:
    """Return a local time in a zone, a name or an offset; `wanted` is the offset if a text says it too.

    A time that a clock leaps over is as much later. Raises `BadQuery` for an unknown zone, and for another offset.
    """
    if isinstance(zone, int) or zone is None:
        return replace(moment, offset=zone, zone=None)
    if (match := re.fullmatch(_ZONE, zone)) and match[1] and not match[2]:
        return replace(moment, offset=_offset(match[1]), zone=None)
    day, clock = moment.day or datetime.now(UTC).date(), moment.clock or 0
    if wanted is None:
        wanted = _seconds(zone, datetime(day.year, day.month, day.day) + timedelta(seconds=clock // _SECOND))
    made = _at(replace(moment, day=day, clock=clock, offset=wanted).instant, Moment(day, 0, 0, zone))
    return made if moment.day is not None else replace(moment, offset=made.offset)


def _offset(text: str) -> int:
    digits = text[1:].replace(":", "").ljust(6, "0") if text != "Z" else "000000"
    hours, minutes, seconds = (int(digits[at : at + 2]) for at in (0, 2, 4))
    if hours > 18 or minutes > 59 or seconds > 59:
        raise BadQuery(f"{text} is not the offset of a time zone")
    return (-1 if text[0] == "-" else 1) * (hours * 3600 + minutes * 60 + seconds)


def _at(instant: int, like: Moment) -> Moment:
    """Return an instant in the zone of another moment."""
    days, clock = divmod(instant, _DAY)
    if (offset := like.offset) is not None and like.zone is not None:
        day = _day_of(days + _UNIX)
        utc = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(seconds=clock // _SECOND)
        offset = _seconds(like.zone, utc)
    days, clock = divmod(instant + (offset or 0) * _SECOND, _DAY)
    return Moment(_day_of(days + _UNIX), clock, offset, like.zone)


# From texts and maps.


def moment(kind: str, value: Any) -> Moment | None:  # Any: Cypher's values
    """Return a date, time and so on of a text, a map, or another moment; None for a text that is none.

    Raises `BadQuery` for other values and maps, `TypeError` for values that are none of these.
    """
    if isinstance(value, str):
        return _parsed(kind, value)
    if isinstance(value, Moment):
        key = "date" if value.clock is None else "time" if value.day is None else "datetime"
        return _of_fields(kind, {key: value})
    if isinstance(value, dict):
        return None if None in value.values() else _of_fields(kind, value)
    raise TypeError


def _parsed(kind: str, text: str) -> Moment | None:
    has_day, has_clock, has_zone = "date" in kind, kind != "date", kind in ("time", "datetime")
    pattern = (_DATE if has_day else "()") + (
        f"(?:T{_TIME})?" if has_day and has_clock else _TIME if has_clock else "()"
    )
    match = re.fullmatch(pattern + (_ZONE if has_zone else "()()"), text, re.ASCII)
    if match is None:
        return None
    try:
        day = _parsed_day(match[1].replace("-", "")) if has_day else None
        clock = _parsed_clock(match[2] or "00") if has_clock else None
        made = Moment(day, clock)
        if not has_zone:
            return made
        wanted = _offset(match[3]) if match[3] and match[4] else None
        zoned = _zoned(made, match[4] or match[3] or "Z", wanted)
        return None if wanted is not None and zoned.offset != wanted else zoned
    except ValueError:
        return None


def _parsed_day(text: str) -> date:
    year, rest = int(text[:4]), text[4:]
    if rest[:1] == "W":
        return date.fromisocalendar(year, int(rest[1:3]), int(rest[3:] or 1))
    if rest[:1] == "Q":
        return _of_quarter(year, int(rest[1]), int(rest[2:]))
    if len(rest) == 3:
        return _of_ordinal(year, int(rest))
    return date(year, int(rest[:2] or 1), int(rest[2:] or 1))


def _of_ordinal(year: int, ordinal: int) -> date:
    day = date(year, 1, 1) + timedelta(ordinal - 1)
    if day.year != year:
        raise ValueError(ordinal)
    return day


def _of_quarter(year: int, quarter: int, number: int) -> date:
    day = date(year, 3 * quarter - 2, 1) + timedelta(number - 1)
    if (day.month + 2) // 3 != quarter or day.year != year:
        raise ValueError(number)
    return day


_OF_DATES: Mapping[tuple[str, ...], Callable[..., date]] = {
    ("year", "month", "day"): date,
    ("year", "week", "dayOfWeek"): date.fromisocalendar,
    ("year", "quarter", "dayOfQuarter"): _of_quarter,
    ("year", "ordinalDay"): _of_ordinal,
}


def _parsed_clock(text: str) -> int:
    whole, _, fraction = text.replace(":", "").replace(",", ".").partition(".")
    return _clock(int(whole[:2]), int(whole[2:4] or 0), int(whole[4:] or 0)) + int(fraction.ljust(9, "0") or 0)


def _clock(hour: int, minute: int, second: int) -> int:
    if not (0 <= hour < 24 and 0 <= minute < 60 and 0 <= second < 60):
        raise ValueError(hour, minute, second)
    return ((hour * 60 + minute) * 60 + second) * _SECOND


def _of_fields(  # noqa: C901 (a case for each thing that a map may name)
    kind: str, fields: Mapping[str, Any], cut: bool = False
) -> Moment:
    """Return a moment from a map; `cut` if its part of a second adds to what a truncated time keeps."""
    known = {"date", "time", "datetime", "timezone", *_CLOCK, *_PARTS_OF_SECOND}.union(*_OF_DATES)
    if unknown := sorted(fields.keys() - known):
        raise BadQuery(f"{kind}() does not know {unknown[0]!r}: take year, month, day, hour, minute, second, timezone")
    whole = fields.get("datetime")
    of_day, of_clock = fields.get("date", whole), fields.get("time", whole)
    numbers = {key: value for key, value in fields.items() if key not in ("date", "time", "datetime", "timezone")}
    if any(type(value) is not int for value in numbers.values()):
        raise BadQuery(f"{kind}() takes whole numbers for {', '.join(numbers)}")
    if any(part is not None and not isinstance(part, Moment) for part in (of_day, of_clock)):
        raise BadQuery(f"{kind}() takes dates and times for date, time and datetime")
    try:
        day = _day(kind, numbers, of_day) if "date" in kind else None
        if kind == "date":
            if numbers.keys() & {*_CLOCK, *_PARTS_OF_SECOND} or "timezone" in fields:
                raise BadQuery("a date has no hours and no zone: take datetime()")
            return Moment(day)
        zone, clock = fields.get("timezone"), None if of_clock is None else of_clock.clock
        if zone is not None and (not isinstance(zone, str) or kind.startswith("local")):
            raise BadQuery(
                f"{kind}() does not take {str(zone)[:40]!r} for a zone: take time() or datetime() and a text"
            )
        own = None if of_clock is None else of_clock.zone or of_clock.offset
        if of_clock is not None and own is not None and zone is not None and not cut:
            # The time is meant in its own zone, on the new day.
            there = _zoned(Moment(day or of_clock.day or datetime.now(UTC).date(), clock), own)
            moved = _at(there.instant, _zoned(there, zone))
            is_whole = whole is not None and not numbers.keys() - {*_CLOCK, *_PARTS_OF_SECOND}
            if day is not None and moved.day != day and not is_whole:
                raise BadQuery(f"{kind}() does not know the day of {of_clock} in {zone}: change the zone by itself")
            day, clock = day and moved.day, moved.clock
        made = Moment(day, _time_of_day(numbers, clock, cut))
    except (ValueError, OverflowError):
        raise BadQuery(f"{kind}() does not take {', '.join(f'{k}: {v}' for k, v in numbers.items())}") from None
    if kind.startswith("local"):
        return made
    return _zoned(made, zone if zone is not None else own if own is not None else "Z")


def _day(kind: str, numbers: Mapping[str, int], base: Moment | None) -> date:
    """Return the day that a map names, with what is not named from another moment."""
    like = None if base is None else base.day
    form = next((names for names in _OF_DATES if numbers.keys() & {*names[1:]}), ("year", "month", "day"))
    others = {name for names in _OF_DATES for name in names} - {*form}
    given = [name in numbers for name in form]
    if numbers.keys() & others or (like is None and (not given[0] or sorted(given, reverse=True) != given)):
        raise BadQuery(f"{kind}() takes year, month, day; year, week, dayOfWeek; and the like, the larger ones first")
    defaults = dict.fromkeys(form, 1)
    if like is not None:
        whole = Moment(like)
        defaults = {name: whole.part("weekYear" if (name, form[1]) == ("year", "week") else name) for name in form}
    return _OF_DATES[form](*(numbers.get(name, defaults[name]) for name in form))


def _time_of_day(numbers: Mapping[str, int], base: int | None, cut: bool) -> int:
    """Return the nanoseconds since midnight that a map names, with what is not named from another time."""
    given = [name in numbers for name in _CLOCK]
    parts = [(numbers[name], size) for name, size in _PARTS_OF_SECOND.items() if name in numbers]
    if base is None and (sorted(given, reverse=True) != given or (parts and not given[2])):
        raise BadQuery("a time takes hour, minute, second and parts of a second, the larger ones first")
    second, rest = divmod(base or 0, _SECOND)
    own = (second // 3600, second // 60 % 60, second % 60)
    hour, minute, sec = (numbers.get(name, value) for name, value in zip(_CLOCK, own, strict=True))
    limit = _SECOND
    for value, size in parts:  # each part stays below one of the larger part that is named
        if not 0 <= value * size < limit:
            raise ValueError(value)
        limit = size
    below = sum(value * size for value, size in parts)
    return _clock(hour, minute, sec) + (rest + below if cut else below if parts else rest)


def duration(value: Any) -> Duration | None:  # Any: Cypher's values
    """Return a duration from a text or a map; None for a text that is none. Raises `BadQuery`, `TypeError`."""
    if isinstance(value, Duration):
        return value
    if isinstance(value, str):
        match, units = re.fullmatch(_LENGTH, value, re.ASCII), ("years", "months", "weeks", "days", *list(_UNITS)[5:8])
        if match is None or not any(match.groups()) or value.endswith("T"):
            match, units = (
                re.fullmatch(_LENGTH_AS_DATE, value, re.ASCII),
                ("years", "months", "days", *list(_UNITS)[5:8]),
            )
        if match is None:
            return None
        value = {
            unit: Fraction(part.replace(",", ".")) for unit, part in zip(units, match.groups(), strict=True) if part
        }
    if not isinstance(value, dict):
        raise TypeError
    if None in value.values():
        return None
    if unknown := sorted(value.keys() - _UNITS.keys()):
        raise BadQuery(f"duration() does not know {unknown[0]!r}: take {', '.join(_UNITS)}")
    total = [Fraction(0)] * 3
    for unit, amount in value.items():
        if isinstance(amount, bool) or not isinstance(amount, int | float | Fraction) or amount - amount != 0:
            raise BadQuery(f"duration() takes numbers of {unit}")
        exact = Fraction(str(amount))
        total = [held + exact * each for held, each in zip(total, _UNITS[unit], strict=True)]
    return _length(*total)


def truncated(kind: str, unit: str, value: Moment, fields: Mapping[str, Any] | None = None) -> Moment:
    """Return a moment at the start of its year, day, hour and so on, with some fields set. Raises `BadQuery`."""
    if not isinstance(value, Moment) or not isinstance(unit, str):
        raise TypeError
    name, day, clock = unit.casefold(), value.day, value.clock or 0
    if name in _CUTS_OF_DAYS and day is not None:
        day, clock = _CUTS_OF_DAYS[name](day), 0
    elif name in _CUTS_OF_CLOCK and kind != "date" and (name != "day" or day is None or value.clock is not None):
        clock -= clock % _CUTS_OF_CLOCK[name]
    elif name == "day":
        clock = 0
    else:
        raise BadQuery(f"{kind}.truncate() cannot cut a {value.kind} to {unit[:30]!r}: take 'year', 'month', 'day'")
    if "date" in kind and day is None:
        raise BadQuery(f"{kind}.truncate() takes a value with a date, not a {value.kind}")
    base = replace(value, day=day, clock=clock)
    given = {key: of for key, of in (("date", base if base.day else None), ("time", base)) if of is not None}
    if kind == "date":
        del given["time"]
    return _of_fields(kind, {**given, **(fields or {})}, cut=True)


_CUTS_OF_CLOCK = {
    "day": _DAY, "hour": 3600 * _SECOND, "minute": 60 * _SECOND, "second": _SECOND,
    "millisecond": 10**6, "microsecond": 1000,
}  # fmt: skip
_CUTS_OF_DAYS: Mapping[str, Callable[[date], date]] = {
    "millennium": lambda day: date(max(day.year // 1000 * 1000, 1), 1, 1),
    "century": lambda day: date(max(day.year // 100 * 100, 1), 1, 1),
    "decade": lambda day: date(max(day.year // 10 * 10, 1), 1, 1),
    "year": lambda day: date(day.year, 1, 1),
    "weekyear": lambda day: date.fromisocalendar(day.isocalendar()[0], 1, 1),
    "quarter": lambda day: date(day.year, (day.month - 1) // 3 * 3 + 1, 1),
    "month": lambda day: date(day.year, day.month, 1),
    "week": lambda day: day - timedelta(day.isoweekday() - 1),
}


# Between two moments.


def between(a: Any, b: Any, unit: str = "") -> Duration:  # Any: Cypher's values
    """Return the duration from one moment to another: in months, days and time, or in one `unit` of these."""
    if not isinstance(a, Moment) or not isinstance(b, Moment):
        raise TypeError
    are_zoned = a.offset is not None and b.offset is not None
    if a.day is None or b.day is None:
        one, other = replace(a, day=None, clock=a.clock or 0), replace(b, day=None, clock=b.clock or 0)
        apart = other.instant - one.instant if are_zoned else (b.clock or 0) - (a.clock or 0)
        return Duration() if unit in ("months", "days") else Duration(0, 0, apart)
    begin, end = replace(a, clock=a.clock or 0), replace(b, clock=b.clock or 0)
    if are_zoned:
        end = _at(end.instant, begin)
    else:
        zone = a.zone or a.offset or b.zone or b.offset  # what has no zone is meant in the other's
        begin, end = _zoned(begin, zone), _zoned(end, zone)
    if unit == "seconds":
        return Duration(0, 0, end.instant - begin.instant)
    assert begin.day is not None
    assert end.day is not None
    months, days = (end.day.year - begin.day.year) * 12 + end.day.month - begin.day.month, 0
    months = 0 if unit == "days" else _whole(months, (begin.day.day, begin.clock), (end.day.day, end.clock))
    begin = begin.moved(Duration(months))
    if unit != "months":
        assert begin.day is not None
        days = _whole((end.day - begin.day).days, begin.clock, end.clock)
    if unit:
        return Duration(months, days)
    return Duration(months, days, end.instant - begin.moved(Duration(0, days)).instant)


def _whole(count: int, begin: Any, end: Any) -> int:  # Any: what is below the unit
    """Return a number of units between two moments, towards zero."""
    return count - 1 if count > 0 and end < begin else count + 1 if count < 0 and end > begin else count


def calculated(operator: str, a: Any, b: Any) -> Moment | Duration | None:  # Any: Cypher's values
    """Return a moment moved, or durations added and multiplied; None for other operands."""
    if isinstance(a, Duration) and isinstance(b, Moment) and operator == "+":
        a, b = b, a
    if isinstance(b, Duration) and operator in ("+", "-"):
        b = b if operator == "+" else Duration(-b.months, -b.days, -b.clock)
        if isinstance(a, Moment):
            return a.moved(b)
        return a.times(Fraction(1), plus=b) if isinstance(a, Duration) else None
    if isinstance(b, Duration) and operator == "*":
        a, b = b, a
    if not isinstance(a, Duration) or isinstance(b, bool) or not isinstance(b, int | float) or operator not in "*/":
        return None
    if b - b != 0 or (operator == "/" and not b):
        raise BadQuery(f"a duration cannot be calculated with {b}")
    return a.times(Fraction(b) if operator == "*" else 1 / Fraction(b))


def now(kind: str) -> str:
    """Return the moment of this call in UTC, as a text."""
    made = datetime.now(UTC)
    second = Moment(made.date(), _clock(made.hour, made.minute, made.second) + made.microsecond * 1000, 0)
    return str(moment(kind, second))


def _since(seconds: Any, nanoseconds: Any) -> Moment:  # Any: Cypher's values
    if type(seconds) is not int or type(nanoseconds) is not int:
        raise TypeError
    return _at(seconds * _SECOND + nanoseconds, Moment(date.min, 0, 0))


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{kind: lambda value, kind=kind: moment(kind, value) for kind in MOMENTS},
    **{f"{kind}.truncate": lambda *of, kind=kind: truncated(kind, *of) for kind in MOMENTS},
    "duration": duration,
    "duration.between": between,
    **{f"duration.in{unit}": lambda a, b, unit=unit: between(a, b, unit) for unit in ("months", "days", "seconds")},
    "datetime.fromepoch": _since,
    "datetime.fromepochmillis": lambda milliseconds: _since(0, milliseconds * 10**6),
}
"""Functions of values of which none is null, by their names in lower case."""
