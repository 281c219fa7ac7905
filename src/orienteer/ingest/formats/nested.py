"""Objects within objects as tables that lead to one another: JSON, YAML.

Rows are a list of objects, alone, under the keys of an object (`items`, `ports`), or objects of one form under keys,
which become the column `key`. An object within a row is a thing if an inner key recurs always with the same object or
is called id: its row is kept once, and the cell holds its key. Else its values are columns with their path. A list of
objects without such a key is a table whose rows name the row that they belong to: `order_id` of the orders.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orienteer.ingest.formats.table import Batch, Drop, FileNotes, ObjectRows, is_unicode

Row = dict[str, Any]  # Any: JSON values, here and below
GENERIC = frozenset(
    [
        *("items", "data", "results", "result", "records", "rows", "values", "value", "list", "entries", "objects"),
        *("elements", "features", "content"),
    ]
)
"""Keys that say nothing of what stands in the list under them: the file's name does."""
ASIDE = re.compile(r"(?i)_?(meta|metadata|info|links?|paging|pagination|page|summary|header|crs|query|request|stats)")
"""Keys beside a list that describe it."""
OWN_KEY = re.compile(r"(?i)_?(id|uid|uuid|guid|key|slug|login|code|iri|href|url|name|title|label|number)|.*_id")
"""Keys by which objects may be told apart."""
ID = re.compile(r"(?i)_?(id|uid|uuid|guid|login)")
"""Keys by which they are."""
KEY = "key"
"""The column of the keys under which objects stood, and of rows that have no key of their own."""
MOST_KEYS = 40
"""Keys of an object within a row, above which it is a map, no record."""
FEWEST_ALIKE = 3
"""Objects under keys that show that they are rows."""
COLLECTION = "FeatureCollection"
"""What GeoJSON calls a list of features."""
MOST_NAMED = 10
"""Keys beside the rows that a note names."""
RECURRING = 0.9
"""Share of different keys among objects, up to which they recur."""


@dataclass(eq=False)
class NestedTable:
    """Rows that were found within a value."""

    name: str
    """What they are called."""
    called: str
    """The path of keys to them."""
    rows: list[Row] = field(default_factory=list)
    links: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Columns that lead to rows that were within these, or around them: the path to those rows, and their key."""
    said: tuple[str, ...] = ()
    """What is beside the rows, or within them, and was not read."""

    def columns(self, path: Path) -> tuple[str, ...]:
        """Return the keys of the rows, in the order in which they come."""
        return tuple(dict.fromkeys(key for row in self.rows for key in row))

    def notes(self, path: Path) -> FileNotes:
        """Return what was not read."""
        return FileNotes(notes=self.said)

    def batches(self, path: Path, *, rows: int, drop: Drop, header: bool) -> Iterator[Batch]:
        """Return the rows in batches; a row's line is its number."""
        taken = ObjectRows()
        for number, row in enumerate(self.rows, 1):
            if all(is_unicode(cell) for cell in row.values() if isinstance(cell, str)):
                taken.add(row, number)
            else:
                drop("bad encoding", number, "")
            if len(taken.rows) == rows or taken.is_full:
                yield taken.batch()
                taken = ObjectRows()
        if taken.rows:
            yield taken.batch()


def tables_within(value: Any, name: str) -> list[NestedTable]:
    """Return the tables of a value, empty if it is none; each has rows, the outer ones first."""
    found: list[NestedTable] = []
    for called, rows in _row_sets(value, (), name):
        label = called.rpartition(".")[2]
        own = name if label.casefold() in GENERIC or not label else label
        table = NestedTable(own, called)
        shapes = sum(1 for row in rows if _has_shape(row))
        if shapes:
            table.said = (f"the geometry of {shapes:,} features is not read: of others than points",)
        found += _flattened(table, [_feature(row) for row in rows])
    found = [table for table in found if table.rows and any(table.rows)]
    for place, table in enumerate(found):  # `a.b` beside the `b` within `a`
        table.called = _untaken(table.called, {each.called for each in found[:place]})
    if found and isinstance(value, dict) and found[0].called:
        read = [f"{table.called}." for table in found]
        others = {key: inner for key, inner in value.items() if not any(path.startswith(f"{key}.") for path in read)}
        beside = [key for key, inner in others.items() if inner not in (None, "", [], {}, COLLECTION)]
        if beside:
            found[0].said += (f"beside the rows, not read: {', '.join(beside[:MOST_NAMED])}",)
    return found


def _untaken(called: str, taken: Collection[str]) -> str:
    """Return a path of keys, with a number where another table has it."""
    numbered = (called if number == 1 else f"{called}_{number}" for number in range(1, len(taken) + 2))
    return next(name for name in numbered if name not in taken)


def _has_shape(row: Row) -> bool:
    """Return whether a row is a feature of GeoJSON with more than a point."""
    geometry = row.get("geometry") if row.get("type") == "Feature" else None
    return isinstance(geometry, dict) and geometry.get("type") != "Point"


def _row_sets(value: Any, path: tuple[str, ...], name: str) -> Iterator[tuple[str, list[Row]]]:
    """Yield the lists of rows within a value, and the path to each."""
    called = ".".join(path)
    if isinstance(value, list):
        if _are_rows(value):
            yield called, value
        return
    if not isinstance(value, dict) or not value:
        return
    if _are_alike(value):
        column = KEY if not any(KEY in row for row in value.values()) else f"#{KEY}"
        yield called, [{column: key, **row} for key, row in value.items()]
        return
    lists = {key: inner for key, inner in value.items() if isinstance(inner, list) and _are_rows(inner)}
    others = [key for key, inner in value.items() if isinstance(inner, dict | list) and inner and key not in lists]
    if lists:
        if all(ASIDE.fullmatch(key) for key in others):
            for key, inner in lists.items():
                yield from _row_sets(inner, (*path, key), name)
    elif len(others) == 1 and len(path) < 2:
        yield from _row_sets(value[others[0]], (*path, others[0]), name)


def _are_rows(values: Sequence[Any]) -> bool:
    """Return whether a list has objects alone, and no maps in the first of them."""
    if not values or not all(isinstance(row, dict) for row in values) or not any(values):
        return False
    return not any(isinstance(inner, dict) and len(inner) > MOST_KEYS for inner in values[0].values())


def _are_alike(value: Mapping[str, Any]) -> bool:
    """Return whether the values of an object are objects of one form."""
    rows = [row for row in value.values() if isinstance(row, dict)]
    if len(rows) < max(FEWEST_ALIKE, len(value)):
        return False
    shared = frozenset.intersection(*(frozenset(row) for row in rows))
    return len(shared) > 1 and 2 * len(shared) > max(map(len, rows))


def _feature(row: Row) -> Row:
    """Return the properties of a feature of GeoJSON, with its point; any other row as it is."""
    if row.get("type") != "Feature" or not isinstance(row.get("properties"), dict):
        return row
    geometry = row.get("geometry")
    place = geometry.get("coordinates") if isinstance(geometry, dict) and geometry.get("type") == "Point" else None
    point = {"longitude": place[0], "latitude": place[1]} if isinstance(place, list) and len(place) > 1 else {}
    own = {"id": row["id"]} if "id" in row else {}
    return {**own, **row["properties"], **{name: at for name, at in point.items() if name not in row["properties"]}}


@dataclass(frozen=True, slots=True)
class _Inner:
    """An object within a row."""

    row: int
    path: str
    thing: Row
    is_of_list: bool


def _flattened(table: NestedTable, rows: Sequence[Row]) -> list[NestedTable]:
    """Fill a table with rows, and return it with the tables of what is within them."""
    flat: list[Row] = [{} for _ in rows]
    inner: dict[str, list[_Inner]] = defaultdict(list)
    _spread(list(enumerate(rows)), flat, inner, "")
    table.rows = flat
    tables = [table]
    for path, (key, found) in _joined(inner).items():
        label = path.rpartition(".")[2]
        below = NestedTable(label, f"{table.called}.{path}" if table.called else path)
        if key is None:
            column, keys = _key_of(table)
            name = f"{_singular(table.name)}_{column.strip('_#')}"
            below.links[name] = (table.called, column)
            tables += _flattened(below, [{name: keys[each.row], **each.thing} for each in found])
            continue
        table.links |= dict.fromkeys((each.path for each in found), (below.called, key))
        each_once: dict[str, Row] = {}
        for each in found:
            _add(each_once.setdefault(str(each.thing[key]), {}), each.thing)
            value = each.thing[key]
            flat[each.row][each.path] = [*flat[each.row].get(each.path, ()), value] if each.is_of_list else value
        tables += _flattened(below, list(each_once.values()))
    return tables


def _add(known: Row, thing: Row) -> None:
    """Add what an object says to what others of its key have said; of lists the members that are new."""
    for name, value in thing.items():
        before = known.get(name)
        if isinstance(before, list) and isinstance(value, list) and before != value:
            there = set(map(repr, before))
            known[name] = [*before, *(one for one in value if repr(one) not in there)]
        elif value is not None:
            known[name] = value


def _key_of(table: NestedTable) -> tuple[str, list[Any]]:
    """Return the column by which rows within a table's rows name these, and its values; a table without one gets it."""
    names = [name for name in table.rows[0] if OWN_KEY.fullmatch(name)]
    for name in sorted(names, key=lambda name: ID.fullmatch(name) is None):
        values = [row.get(name) for row in table.rows]
        if all(isinstance(value, str | int) for value in values) and len(set(map(str, values))) == len(values):
            return name, values
    column = f"#{KEY}" if any(KEY in row for row in table.rows) else KEY
    keys = [f"{_singular(table.name)}-{number}" for number in range(1, len(table.rows) + 1)]
    for row, value in zip(table.rows, keys, strict=True):
        row[column] = value
    return column, keys


def _singular(name: str) -> str:
    """Return what one row of a table is called."""
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def _spread(rows: Sequence[tuple[int, Row]], flat: list[Row], inner: dict[str, list[_Inner]], path: str) -> None:
    """Put plain values into the rows, with their path; keep things and lists of objects apart."""
    objects: dict[str, list[tuple[int, Row]]] = defaultdict(list)
    for place, row in rows:
        for key, value in row.items():
            full = f"{path}{key}"
            if isinstance(value, dict) and 0 < len(value) <= MOST_KEYS:
                objects[full].append((place, value))
            elif isinstance(value, list) and value and all(isinstance(one, dict) and one for one in value):
                inner[full] += (_Inner(place, full, one, True) for one in value)
            elif value != {} and value != []:
                flat[place][_untaken(full, flat[place])] = value
    for full, found in objects.items():
        if own_key([thing for _, thing in found]) is not None:
            inner[full] += (_Inner(place, full, thing, False) for place, thing in found)
        else:
            _spread(found, flat, inner, f"{full}.")


def own_key(objects: Sequence[Row]) -> str | None:
    """Return the key by which objects are things: an id, or one that recurs always with the same object; else None."""
    names = [name for name, value in objects[0].items() if isinstance(value, str) or OWN_KEY.fullmatch(name)]
    names.sort(key=lambda name: (ID.fullmatch(name) is None, OWN_KEY.fullmatch(name) is None))
    for name in names:
        values = [thing.get(name) for thing in objects]
        if any(value is None or isinstance(value, dict | list | float | bool) for value in values):
            continue
        seen: dict[str, str] = {}
        texts = map(_plain_text, objects)
        if not all(seen.setdefault(str(value), text) == text for value, text in zip(values, texts, strict=True)):
            continue
        is_recurring = len(seen) <= RECURRING * len(objects) and len(objects[0]) > 1
        if is_recurring or ID.fullmatch(name):
            return name
    return None


def _plain_text(thing: Row) -> str:
    """Return the plain values of an object as a text."""
    plain = {name: value for name, value in thing.items() if not isinstance(value, dict | list)}
    return json.dumps(plain, sort_keys=True, default=str)


def _joined(inner: Mapping[str, list[_Inner]]) -> dict[str, tuple[str | None, list[_Inner]]]:
    """Return the objects within rows by what they are: `author` and `reviewers` with the same ids are one table."""
    keys = {path: own_key([each.thing for each in found]) for path, found in inner.items()}
    things = {
        path: {str(each.thing[key]): each.thing for each in inner[path]}
        for path, key in keys.items()
        if key is not None
    }
    joined: dict[str, tuple[str | None, list[_Inner]]] = {}
    for path in sorted(inner, key=lambda path: -len(things.get(path, ()))):
        key = keys[path]
        alike = (other for other in joined if key is not None and keys[other] == key)
        same = next((other for other in alike if _agree(things[path], things[other])), path)
        joined.setdefault(same, (key, []))[1].extend(inner[path])
    return joined


def _agree(some: Mapping[str, Row], others: Mapping[str, Row]) -> bool:
    """Return whether most objects are among others, and say nothing else there."""
    common = Counter(key in others for key in some)[True]
    agree = all(others[key].get(name) == value for key in some if key in others for name, value in some[key].items())
    return 2 * common > len(some) and agree
