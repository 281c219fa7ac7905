"""Dates, times and durations in Cypher against Python's datetime, calendar and zoneinfo, 400 random ones of each."""

import calendar
import random
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from orienteer.cypher import ArraysEngine, Cypher
from orienteer.errors import BadQuery
from orienteer.graph import Graph
from orienteer.records import Node

ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Honolulu")


@pytest.fixture(scope="module")
def cypher(scratch):
    node = Node("a", "Day", "a", properties={"on": "2020-02-29", "said": "in spring"})
    return Cypher(Graph.from_records([node], [], path=scratch()), ArraysEngine)


def days(rng, first=1, last=9999):
    return [date(rng.randint(first, last), rng.randint(1, 12), rng.randint(1, 28)) for _ in range(400)]


def asked(cypher, query, **values):
    return list(cypher.query(f"UNWIND range(0, size($a) - 1) AS i WITH i, $a[i] AS a {query}", values, limit=None).rows)


def test_components_are_pythons(cypher):
    a = days(random.Random(1))
    read = ["year", "month", "day", "week", "weekYear", "dayOfWeek", "ordinalDay", "quarter"]
    rows = asked(cypher, f"WITH date(a) AS d RETURN d, {', '.join(f'd.{key}' for key in read)}", a=[str(d) for d in a])
    for row, d in zip(rows, a, strict=True):
        year, week, weekday = d.isocalendar()
        right = (d.year, d.month, d.day, week, year, weekday, int(f"{d:%j}"), (d.month + 2) // 3)
        assert row == (f"{d.year:04}-{d:%m-%d}", *right)


def test_days_and_months_are_added_as_by_a_calendar(cypher):
    rng = random.Random(2)
    a, n = days(rng, 1000, 8000), [rng.randint(-9000, 9000) for _ in range(400)]
    rows = asked(
        cypher,
        "WITH date(a) AS d, $n[i] AS n RETURN d + duration({days: n}), d - duration({months: n}), "
        "duration.inDays(d, d + duration({days: n})).days",
        a=[str(d) for d in a],
        n=n,
    )
    for (later, earlier, apart), d, count in zip(rows, a, n, strict=True):
        year, month = divmod(d.year * 12 + d.month - 1 - count, 12)
        last = calendar.monthrange(year, month + 1)[1]
        assert (later, apart) == (str(d + timedelta(count)), count)
        assert earlier == str(date(year, month + 1, min(d.day, last)))


@pytest.mark.parametrize("zone", ZONES)
def test_zones_move_as_in_their_database(cypher, zone):
    """A duration of seconds moves the instant; the local time and the offset follow, also over a leap of the clock."""
    rng = random.Random(zone)
    begin = datetime(2000, 1, 1, tzinfo=UTC)
    a = [begin + timedelta(seconds=rng.randrange(800_000_000)) for _ in range(400)]
    seconds = [rng.randrange(-40_000_000, 40_000_000) for _ in a]
    rows = asked(
        cypher,
        "WITH datetime({datetime: datetime(a), timezone: $zone}) AS d, duration({seconds: $s[i]}) AS s "
        "WITH d + s AS moved, d, s RETURN moved, moved.epochSeconds, duration.inSeconds(d, moved).seconds, moved > d",
        a=[d.isoformat() for d in a],
        s=seconds,
        zone=zone,
    )
    for (moved, epoch, apart, is_later), d, count in zip(rows, a, seconds, strict=True):
        right = (d + timedelta(seconds=count)).astimezone(ZoneInfo(zone))
        text, named = moved.split("[")
        assert (datetime.fromisoformat(text), named) == (right, f"{zone}]")
        assert datetime.fromisoformat(text).utcoffset() == right.utcoffset()
        assert (epoch, apart, is_later) == (int(right.timestamp()), count, count > 0)


def test_what_is_written_reads_as_itself(cypher):
    rng = random.Random(3)
    units = ("years", "months", "days", "hours", "minutes", "seconds", "nanoseconds")
    maps = [{unit: rng.randint(-50, 50) for unit in units if rng.random() < 0.5} for _ in range(400)]
    rows = asked(cypher, "WITH duration(a) AS d RETURN duration(toString(d)) = d, d.months, d.days, d.seconds", a=maps)
    for (same, months, some_days, seconds), each in zip(rows, maps, strict=True):
        of = lambda unit, each=each: each.get(unit, 0)  # noqa: E731
        whole = of("hours") * 3600 + of("minutes") * 60 + of("seconds") + (-1 if of("nanoseconds") < 0 else 0)
        assert (same, months, some_days) == (True, of("years") * 12 + of("months"), of("days"))
        assert seconds == whole
    texts = [
        f"{d}T{rng.randrange(24):02}:{rng.randrange(60):02}:07.{rng.randrange(10**9):09}-03:30" for d in days(rng, 1000)
    ]
    assert all(same for (same,) in asked(cypher, "RETURN datetime(toString(datetime(a))) = datetime(a)", a=texts))


def test_between_adds_up(cypher):
    """`a + duration.between(a, b)` is `b`, for dates of any distance."""
    rng = random.Random(4)
    a, b = ([str(d) for d in days(rng, 1000)] for _ in range(2))
    found = asked(cypher, "WITH date(a) AS d, date($b[i]) AS e RETURN d + duration.between(d, e) = e", a=a, b=b)
    assert found == [(True,)] * 400


def test_dates_sort_group_and_stay_apart_from_texts(cypher):
    a = [str(d) for d in days(random.Random(5), 1990, 1999)]
    found = asked(cypher, "WITH date(a) AS d RETURN d, count(*) AS k ORDER BY d", a=a)
    assert found == [(day, a.count(day)) for day in sorted(set(a))]
    assert cypher.query("MATCH (n) WHERE date(n.on) = date('2020-02-29') RETURN n.on").rows == (("2020-02-29",),)
    assert cypher.query("MATCH (n) RETURN date(n.said)").rows == ((None,),)
    for fault in ("n.on = date('2020-02-29')", "date('2020-02-30') = n.on", "date('2020-02-29') + 1 = n.on"):
        with pytest.raises(BadQuery):
            cypher.query(f"MATCH (n) WHERE {fault} RETURN n")
