"""Objects within objects as tables that lead to one another: JSON, YAML.

Rows are a list of objects, alone, under the keys of an object (`items`, `ports`), or objects of one form under keys,
which become the column `key`. An object within a row is a thing if an inner key recurs always with the same object or
is called id: its row is kept once, and the cell holds its key. Else its values are columns with their path. A list of
objects without such a key is a table whose rows name the row that they belong to: `order_id` of the orders.

All values are kept as columns, equal objects of a path once. A path is a thing, columns or rows: this is decided when
all of it has been read.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain, islice, repeat
from marshal import dumps
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orienteer.display import counted
from orienteer.ingest.formats.table import Batch, Drop, FileNotes, columns_of, is_unicode

Row = dict[str, Any]  # Any: JSON values, here and below
Numbers: TypeAlias = NDArray[np.integer[Any]]
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
MOST_EMPTY, MOST_CELLS = 32, 1 << 24
"""Most cells of the columns of a path for each filled one, in more than `MOST_CELLS`; objects of ever new keys are
maps."""
MOST_UNLIKE = 2
"""Maps and lists beside rows that are none: a file of more is one of settings."""
FEWEST_ALIKE = 3
"""Objects under keys that show that they are rows."""
FEATURE, COLLECTION = "Feature", "FeatureCollection"
"""What GeoJSON calls a row, and a list of these."""
MOST_NAMED = 10
"""Keys beside the rows that a note names."""
RECURRING = 0.9
"""Share of different keys among objects, up to which they recur."""
COMPARED = 20_000
"""Objects of a path that are compared with each other, even if they do not recur."""
MARSHAL = 2
"""The version of Python's format in which equal values, and no others, have equal bytes; 1, 1.0 and true differ."""
SINGLE = -1
"""The size of an object that is in no list."""


@dataclass(eq=False)
class NestedTable:
    """Rows that were found within a value."""

    name: str
    """What they are called."""
    called: str
    """The path of keys to them."""
    cells: dict[str, Sequence[Any]] = field(default_factory=dict)
    """Columns of one length; None where a row says nothing."""
    links: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Columns that lead to rows that were within these, or around them: the path to those rows, and their key."""
    lines: Sequence[int] = ()
    """The line of each row, or else its number."""
    said: tuple[str, ...] = ()
    """What is beside the rows, or within them, and was not read."""
    dropped: Sequence[tuple[str, int, str]] = ()
    """What `Drop` is told of rows that could not be used."""

    def columns(self, path: Path) -> tuple[str, ...]:
        """Return the keys of the rows, but for those that UTF-8 cannot have."""
        return tuple(filter(is_unicode, self.cells))

    def notes(self, path: Path) -> FileNotes:
        """Return what was not read."""
        return FileNotes(notes=self.said)

    def batches(self, path: Path, *, rows: int, drop: Drop, header: bool) -> Iterator[Batch]:
        """Return the rows in batches."""
        for told in self.dropped:
            drop(*told)
        size = max(map(len, self.cells.values()), default=0)
        lines = self.lines or range(1, size + 1)
        for first in range(0, size, rows):
            columns = {name: values[first : first + rows] for name, values in self.cells.items()}
            yield Batch(columns, lines[first : first + rows]).decoded(drop)


def tables_within(value: Any, name: str) -> list[NestedTable]:
    """Return the tables of a value, empty if it is none; each has rows, the outer ones first."""
    found: list[NestedTable] = []
    for called, rows in _row_sets(value, (), name):
        label = called.rpartition(".")[2]
        own = name if label.casefold() in GENERIC or not label else label
        found = tables_of_rows([rows], NestedTable(own, called), found)
    if found and isinstance(value, dict) and found[0].called:
        read = [f"{table.called}." for table in found]
        keys = {_writable(key): inner for key, inner in value.items()}
        others = {key: inner for key, inner in keys.items() if not any(path.startswith(f"{key}.") for path in read)}
        beside = [key for key, inner in others.items() if inner not in (None, "", [], {}, COLLECTION)]
        if beside:
            found[0].said += (f"beside the rows, not read: {', '.join(beside[:MOST_NAMED])}",)
    return found


def tables_of_rows(
    parts: Iterable[Sequence[Row]], table: NestedTable, beside: Iterable[NestedTable] = ()
) -> list[NestedTable]:
    """Fill a table with rows, some thousand at a time; return others, it, and the tables of what is within the rows.

    Tables without a value are left out, and so is all where the rows have ever new keys.
    """
    objects, shapes, tables = _Objects(are_compared=False), 0, list(beside)
    for rows in parts:
        if FEATURE in [row.get("type") for row in rows]:
            shapes += sum(map(_has_shape, rows))
            rows = list(map(_feature, rows))
        if objects.add(rows) is None:
            return tables
    if shapes:
        table.said = (f"the geometry of {counted(shapes, 'feature')} is not read: of others than points",)
    _flatten(table, objects, np.arange(objects.count), tables)
    return [each for each in tables if each.cells]


def _writable(key: str) -> str:
    """Return a key as a file can hold it: JSON may have half of a pair of UTF-16."""
    return key.encode(errors="replace").decode()


def _untaken(called: str, taken: Collection[str]) -> str:
    """Return a path of keys, with a number where another table has it."""
    numbered = (called if number == 1 else f"{called}_{number}" for number in range(1, len(taken) + 2))
    return next(name for name in numbered if name not in taken)


def _has_shape(row: Row) -> bool:
    """Return whether a row is a feature of GeoJSON with more than a point."""
    geometry = row.get("geometry") if row.get("type") == FEATURE else None
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
    inner_values = {key: inner for key, inner in value.items() if isinstance(inner, dict | list) and inner}
    are_sets = {key: _are_rows(v) if isinstance(v, list) else _are_alike(v) for key, v in inner_values.items()}
    others = [key for key, is_set in are_sets.items() if not is_set]
    if any(isinstance(inner, list) and are_sets[key] for key, inner in inner_values.items()):
        lists = [inner for key, inner in inner_values.items() if isinstance(inner, list) and are_sets[key]]
        is_clear = any(len(rows) > 1 and all(len(row) > 1 for row in rows) for rows in lists)
        if sum(ASIDE.fullmatch(key) is None for key in others) <= MOST_UNLIKE * is_clear:
            for key, inner in inner_values.items():
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
    if row.get("type") != FEATURE or not isinstance(row.get("properties"), dict):
        return row
    geometry = row.get("geometry")
    place = geometry.get("coordinates") if isinstance(geometry, dict) and geometry.get("type") == "Point" else None
    point = {"longitude": place[0], "latitude": place[1]} if isinstance(place, list) and len(place) > 1 else {}
    own = {"id": row["id"]} if "id" in row else {}
    return {**own, **row["properties"], **{name: at for name, at in point.items() if name not in row["properties"]}}


class _Objects:
    """The objects of one path as columns. Each has a number; equal ones share it while they are compared."""

    def __init__(self, *, are_compared: bool = True) -> None:
        self.count = self._added = self._filled = 0
        self.names: dict[str, None] = {}
        self.plain: dict[str, list[Any]] = {}
        """By key the values that are not objects; None if an object has none."""
        self.within: dict[str, _Within] = {}
        self._known: dict[bytes, int] | None = {} if are_compared else None

    def add(self, rows: Sequence[Row]) -> Sequence[int] | None:
        """Add objects, and return their numbers; return None, and add none, if their keys are ever new: maps."""
        known, contents, fresh = self._known, list[bytes](), dict[bytes, Row]()
        numbers: Sequence[int] = range(self.count, self.count + len(rows))
        if known is not None:
            contents = [dumps(row, MARSHAL) for row in rows]
            if None in map(known.get, contents):
                fresh = {content: row for content, row in zip(contents, rows, strict=True) if content not in known}
            rows = list(fresh.values())
        columns, count = columns_of(rows), self.count + len(rows)
        names, filled = self.names | dict.fromkeys(columns), self._filled + sum(map(len, rows))
        if len(names) * count > MOST_CELLS + MOST_EMPTY * filled:
            return None
        for name, values in columns.items():
            self._add_values(name, values)
        self.names, self.count, self._filled = names, count, filled
        for column in self.plain.values():
            column += [None] * (count - len(column))
        for within in self.within.values():
            within.extend([0] * (count - len(within.sizes)), ())
        if known is not None:
            known.update(zip(fresh, range(count - len(fresh), count), strict=True))
            self._added += len(contents)
            numbers = list(map(known.__getitem__, contents))
            if count > max(COMPARED, RECURRING * self._added):
                self._known = None
        return numbers

    def _add_values(self, name: str, values: Sequence[Any]) -> None:
        """Add the plain values of a key, and the objects within."""
        if not {dict, list}.isdisjoint(map(type, values)):
            members = list(map(_members, values))
            inner = list(chain.from_iterable(members))
            within = self.within.setdefault(name, _Within())
            if inner and (numbers := within.objects.add(inner)) is not None:
                sizes = [-len(each) if each.__class__ is tuple else len(each) for each in members]
                within.extend([0] * (self.count - len(within.sizes)) + sizes, numbers)
            else:
                members = [()] * len(values)
            if all(members):
                return
            values = [None if each or value in ({}, []) else value for value, each in zip(values, members, strict=True)]
            if values.count(None) == len(values):
                return
        column = self.plain.setdefault(name, [])
        column += [*repeat(None, self.count - len(column)), *values]

    def object(self, number: int) -> Row:
        """Return an object, without keys that say nothing."""
        found: Row = {}
        for name in self.names:
            if (value := self.plain[name][number] if name in self.plain else None) is not None:
                found[name] = value
            elif (within := self.within.get(name)) is not None and (size := within.sizes[number]):
                end = within.ends[number]
                objects = list(map(within.objects.object, within.numbers[end - abs(size) : end]))
                found[name] = objects[0] if size == SINGLE else objects
        return found


class _Within:
    """The objects that objects of a path have under one key."""

    def __init__(self) -> None:
        self.objects = _Objects()
        self.sizes, self.ends = array("i"), array("q")
        """How many members each outer object has, SINGLE if it has an object and no list; where they end."""
        self.numbers = array("i")
        """All members, one outer object after another."""

    def extend(self, sizes: Sequence[int], numbers: Sequence[int]) -> None:
        """Add the members of more outer objects."""
        self.ends.extend(islice(accumulate(map(abs, sizes), initial=len(self.numbers)), 1, None))
        self.sizes.extend(sizes)
        self.numbers.extend(numbers)

    def of(self, rows: Numbers, outer: Numbers, *, single: bool = True, lists: bool = True) -> _Found:
        """Return the objects within some outer objects, each of a row: those that are single, or in lists."""
        sizes, ends = np.asarray(self.sizes)[outer], np.asarray(self.ends)[outer]
        counts = np.abs(sizes) * (((sizes < 0) & single) | ((sizes > 0) & lists))
        at = np.repeat(ends - np.cumsum(counts), counts) + np.arange(counts.sum())
        return _Found(self.objects, np.repeat(rows, counts), np.asarray(self.numbers)[at], rows[(sizes > 0) & lists])


def _members(value: Any) -> Sequence[Row]:
    """Return the objects that a value is, or has in a list; none if it is something else."""
    if value.__class__ is dict:
        return (value,) if 0 < len(value) <= MOST_KEYS else ()
    return value if value.__class__ is list and set(map(type, value)) == {dict} and all(value) else ()


@dataclass(eq=False)
class _Found:
    """The objects of one path within the rows of a table: the row and the number of each, (objects,)."""

    objects: _Objects
    rows: Numbers
    numbers: Numbers
    lists: Numbers
    """The rows that have lists of them."""

    @cached_property
    def different(self) -> list[int]:
        """The numbers, each once."""
        return list(dict.fromkeys(self.numbers.tolist()))

    @cached_property
    def key(self) -> str | None:
        """The key by which they are things: an id, or one that recurs always with the same object; None for others."""
        plain, first = self.objects.plain, self.different[0]
        names = [name for name in plain if isinstance(plain[name][first], str) or OWN_KEY.fullmatch(name)]
        for name in sorted(names, key=lambda name: (ID.fullmatch(name) is None, OWN_KEY.fullmatch(name) is None)):
            values = [plain[name][number] for number in self.different]
            keys = list(map(str, values))
            size = len(set(keys))
            is_recurring = size <= RECURRING * len(self.numbers) and len(self.objects.names) > 1
            if not set(map(type, values)) <= {str, int} or not (is_recurring or ID.fullmatch(name)):
                continue
            numbers: dict[str, int] = {}
            pairs = (
                (numbers.setdefault(key, number), number) for key, number in zip(keys, self.different, strict=True)
            )
            if all(one == other or self._are_alike(one, other) for one, other in pairs):
                return name
        return None

    def _are_alike(self, one: int, other: int) -> bool:
        """Return whether two objects say the same, except for lists and what is within them."""
        both = ([column[number] for column in self.objects.plain.values()] for number in (one, other))
        first, second = ([None if isinstance(value, list | dict) else value for value in values] for values in both)
        return repr(first) == repr(second)

    @cached_property
    def keys(self) -> dict[str, int]:
        """By the text of its key a number of each thing."""
        values = self.objects.plain[self.key or ""]
        return {str(values[number]): number for number in self.different}

    def leading(self, column: list[Any]) -> list[Any]:
        """Put the keys of the things into a column of the table."""
        values, lists = self.objects.plain[self.key or ""], set(self.lists.tolist())
        for row in lists:
            column[row] = []
        for row, number in zip(self.rows.tolist(), self.numbers.tolist(), strict=True):
            if row in lists:
                column[row].append(values[number])
            else:
                column[row] = values[number]
        return column


def _flatten(table: NestedTable, objects: _Objects, numbers: Numbers, tables: list[NestedTable]) -> None:
    """Fill a table with objects, and add it and the tables of what is within them to others."""
    table.name = _writable(table.name)
    table.called = _untaken(
        _writable(table.called), {each.called for each in tables}
    )  # `a.b` beside the `b` within `a`
    tables.append(table)
    size, found = len(numbers), dict[str, _Found]()
    _spread(_Found(objects, np.arange(size), numbers, numbers[:0]), "", table.cells, found, size)
    for path, places in _joined(found).items():
        below = NestedTable(path.rpartition(".")[2], f"{table.called}.{path}" if table.called else path)
        here = found[path]
        if here.key is None:
            column, keys = _key_of(table, size)
            name = f"{_singular(table.name)}_{column.strip('_#')}"
            below.links[name] = (table.called, column)
            below.cells[name] = [keys[row] for row in here.rows.tolist()]
            _flatten(below, here.objects, here.numbers, tables)
            continue
        _flatten(below, *_once([found[place] for place in places]), tables)
        for place in places:
            table.links[place] = (below.called, here.key)
            table.cells[place] = found[place].leading(list(table.cells.get(place, [None] * size)))


def _spread(here: _Found, path: str, columns: dict[str, Sequence[Any]], found: dict[str, _Found], size: int) -> None:
    """Put plain values into the columns of a table, with their path; keep things and lists of objects apart."""
    single: dict[str, _Found] = {}
    numbers = here.numbers.tolist()
    is_all = numbers == list(range(here.objects.count))
    for name in here.objects.names:
        full = f"{path}{name}"
        if (values := here.objects.plain.get(name)) is not None:
            cells = values if is_all else [values[number] for number in numbers]
            if cells.count(None) < len(cells):
                by_row = dict(zip(here.rows.tolist(), cells, strict=True)) if len(cells) < size else {}
                columns[_untaken(full, columns)] = list(map(by_row.get, range(size))) if by_row else cells
        if (within := here.objects.within.get(name)) is None:
            continue
        objects = within.of(here.rows, here.numbers)
        if not len(objects.lists):
            single[full] = objects
            continue
        if objects.key is None:
            single[full] = within.of(here.rows, here.numbers, lists=False)
            objects = within.of(here.rows, here.numbers, single=False)
        found[_untaken(full, found)] = objects  # `a.b` may be beside the `b` within `a`
    for full, objects in single.items():
        if not len(objects.rows):
            continue
        if objects.key is not None:
            found[_untaken(full, found)] = objects
        else:
            _spread(objects, f"{full}.", columns, found, size)


def _once(places: Sequence[_Found]) -> tuple[_Objects, Numbers]:
    """Return the things of some paths, those of one key as one."""
    if len(places) == 1 and len(places[0].keys) == len(places[0].different):
        return places[0].objects, np.array(places[0].different)
    known: dict[str, Row] = {}
    for found in places:
        for thing in map(found.objects.object, found.different):
            _add(known.setdefault(str(thing[found.key or ""]), {}), thing)
    objects = _Objects()
    return objects, np.array(objects.add(list(known.values())) or (), np.int64)


def _add(known: Row, thing: Row) -> None:
    """Add what an object says to what others of its key have said; of lists the members that are new."""
    for name, value in thing.items():
        before = known.get(name)
        if isinstance(before, list) and isinstance(value, list) and before != value:
            there = set(map(repr, before))
            known[name] = [*before, *(one for one in value if repr(one) not in there)]
        elif value is not None:
            known[name] = value


def _key_of(table: NestedTable, size: int) -> tuple[str, Sequence[Any]]:
    """Return the column by which rows within a table's rows name these, and its values; a table without one gets it."""
    names = [name for name, values in table.cells.items() if OWN_KEY.fullmatch(name) and values[0] is not None]
    for name in sorted(names, key=lambda name: ID.fullmatch(name) is None):
        values = table.cells[name]
        if set(map(type, values)) <= {str, int, bool} and len(set(map(str, values))) == size:
            return name, values
    column = f"#{KEY}" if KEY in table.cells else KEY
    table.cells[column] = [f"{_singular(table.name)}-{number}" for number in range(1, size + 1)]
    return column, table.cells[column]


def _singular(name: str) -> str:
    """Return what one row of a table is called."""
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def _joined(found: Mapping[str, _Found]) -> dict[str, list[str]]:
    """Return the paths within rows by what they hold: `author` and `reviewers` with the same ids are one table."""
    joined: dict[str, list[str]] = {}
    for path in sorted(found, key=lambda path: -len(found[path].keys) if found[path].key else 0):
        same = next((other for other in joined if _agree(found[path], found[other])), path)
        joined.setdefault(same, []).append(path)
    return joined


def _agree(some: _Found, others: _Found) -> bool:
    """Return whether things have the same key, most are among others, and they say nothing else there."""
    if some.key is None or some.key != others.key:
        return False
    common = some.keys.keys() & others.keys.keys()
    pairs = ((some.objects.object(some.keys[key]), others.objects.object(others.keys[key])) for key in common)
    return 2 * len(common) > len(some.keys) and all(
        there.get(name) == value for here, there in pairs for name, value in here.items()
    )
