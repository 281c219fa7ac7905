"""Objects within objects as tables that lead to one another: JSON, YAML.

Rows are a list of objects, alone, under the keys of an object (`items`, `ports`), or objects of one form under keys,
which become the column `key`. An object within a row is a thing if an inner key recurs always with the same object or
is called id: its row is kept once, and the cell holds its key. Else its values are columns with their path. A list of
objects without such a key is a table whose rows name the row that they belong to: `order_id` of the orders.

All values are kept as columns, equal objects of a path once. What a path holds is told when all of it is there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice, product
from pathlib import Path
from typing import Any

from orienteer.display import counted
from orienteer.ingest.formats.table import Batch, Drop, FileNotes, columns_of, is_unicode

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
MOST_EMPTY, MOST_CELLS = 32, 1 << 24
"""Most cells of the columns of a path for each filled one, in more than `MOST_CELLS`; objects of ever new keys are
maps."""
MOST_UNLIKE = 2
"""Maps and lists beside rows that are none: a file of more is one of settings."""
FEWEST_ALIKE = 3
"""Objects under keys that show that they are rows."""
COLLECTION = "FeatureCollection"
"""What GeoJSON calls a list of features."""
MOST_NAMED = 10
"""Keys beside the rows that a note names."""
RECURRING = 0.9
"""Share of different keys among objects, up to which they recur."""
COMPARED = 20_000
"""Objects of a path that are compared with each other, even if they do not recur."""


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
        others = {key: inner for key, inner in value.items() if not any(path.startswith(f"{key}.") for path in read)}
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
        shapes += sum(map(_has_shape, rows))
        if objects.add(list(map(_feature, rows))) is None:
            return tables
    if shapes:
        table.said = (f"the geometry of {counted(shapes, 'feature')} is not read: of others than points",)
    _flatten(table, objects, range(objects.count), tables)
    return [each for each in tables if each.cells]


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
    if row.get("type") != "Feature" or not isinstance(row.get("properties"), dict):
        return row
    geometry = row.get("geometry")
    place = geometry.get("coordinates") if isinstance(geometry, dict) and geometry.get("type") == "Point" else None
    point = {"longitude": place[0], "latitude": place[1]} if isinstance(place, list) and len(place) > 1 else {}
    own = {"id": row["id"]} if "id" in row else {}
    return {**own, **row["properties"], **{name: at for name, at in point.items() if name not in row["properties"]}}


class _Objects:
    """The objects of one path as columns, by the numbers that `add` gives them; equal ones have one number."""

    def __init__(self, *, are_compared: bool = True) -> None:
        self.count = 0
        self.names: dict[str, None] = {}
        self.columns: dict[tuple[str, bool], list[Any]] = {}
        """By key, plain values, and numbers of objects within: of one, or of a list. None where nothing is said."""
        self.within: dict[str, _Objects] = {}
        self._known: dict[tuple[Any, ...], int] | None = {} if are_compared else None
        self._added = self._filled = 0

    def add(self, rows: Sequence[Row]) -> Sequence[int] | None:
        """Take objects in, and return their numbers; None, and none is taken, if their keys are ever new: maps."""
        count = self.count + len(rows)
        numbers: Sequence[int] = range(self.count, count)
        told = columns_of(rows)
        names = self.names | dict.fromkeys(told)
        if len(names) * count > MOST_CELLS + MOST_EMPTY * (self._filled + sum(map(len, rows))):
            return None
        self.names, self.count = names, count
        self._added += len(rows)
        parts = {key: cells for name, values in told.items() for key, cells in self._parts(name, values)}
        for key in parts:
            self.columns.setdefault(key, [None] * numbers[0])
        parts = {key: parts.get(key) or [None] * len(rows) for key in self.columns}
        if (known := self._known) is not None:
            contents = list(zip(*map(_hashable, parts.values()), strict=True)) or [()] * len(rows)
            fresh = set(contents).difference(known)
            first = dict(zip(reversed(contents), range(len(rows))[::-1], strict=True)) if fresh else {}
            new = sorted(map(first.__getitem__, fresh))
            known.update(zip([contents[place] for place in new], numbers, strict=False))
            parts = {key: [cells[place] for place in new] for key, cells in parts.items()}
            self.count = numbers[0] + len(new)
            numbers = list(map(known.__getitem__, contents))
            if self.count > max(COMPARED, RECURRING * self._added):
                self._known = None
        for key, cells in parts.items():
            self.columns[key] += cells
            self._filled += len(cells) - cells.count(None)
        return numbers

    def _parts(self, name: str, values: Sequence[Any]) -> Iterator[tuple[tuple[str, bool], Sequence[Any]]]:
        """Yield the plain values of a key, and the numbers of the objects within."""
        types = set(map(type, values))
        if types.isdisjoint((dict, list)):
            yield (name, True), values
            return
        members = list(map(_members, values))
        inner = list(chain.from_iterable(members))
        numbers = self.within.setdefault(name, _Objects()).add(inner) if inner else None
        if numbers is None:
            members = [()] * len(values)
        if not all(members):
            plain = [None if each or value in ({}, []) else value for value, each in zip(values, members, strict=True)]
            if plain.count(None) < len(plain):
                yield (name, True), plain
        if numbers is not None:
            left = iter(numbers)
            yield (
                (name, False),
                [
                    None if not each else tuple(islice(left, len(each))) if each is value else next(left)
                    for value, each in zip(values, members, strict=True)
                ],
            )

    def object(self, number: int) -> Row:
        """Return an object, without what says nothing."""
        told: Row = {}
        for (name, is_plain), cells in self.columns.items():
            if (cell := cells[number]) is not None:
                told[name] = cell if is_plain else self._inner(name, cell)
        return told

    def _inner(self, name: str, cell: Any) -> Any:
        """Return the object, or the several, that the cell of a key has the numbers of."""
        within = self.within[name]
        return list(map(within.object, cell)) if isinstance(cell, tuple) else within.object(cell)


def _members(value: Any) -> Sequence[Row]:
    """Return the objects that a value is, or has in a list; none where it is something else."""
    if isinstance(value, dict):
        return (value,) if 0 < len(value) <= MOST_KEYS else ()
    return value if isinstance(value, list) and all(isinstance(one, dict) and one for one in value) else ()


def _hashable(values: Sequence[Any]) -> Sequence[Any]:
    """Return values that are equal only if they are the same in JSON, where 1, 1.0 and true are not."""
    return values if set(map(type, values)) <= {str, int, tuple, type(None)} else [(repr(value),) for value in values]


@dataclass(eq=False)
class _Found:
    """The objects of one path within the rows of a table: the row and the number of each."""

    objects: _Objects
    rows: Sequence[int]
    numbers: Sequence[int]
    lists: Collection[int] = ()
    """The rows that have lists of them."""

    @classmethod
    def of(cls, objects: _Objects, rows: Sequence[int], cells: Sequence[Any], *types: type) -> _Found:
        """Return the objects of the rows whose cell is of one of these types: the number of one, or a tuple."""
        if set(map(type, cells)) == {int}:
            return cls(objects, rows, cells) if int in types else cls(objects, (), ())
        pairs = [(row, cell) for row, cell in zip(rows, cells, strict=True) if isinstance(cell, types)]
        several = [(row, cell if isinstance(cell, tuple) else (cell,)) for row, cell in pairs]
        lists = {row for row, cell in pairs if isinstance(cell, tuple)}
        rows = [row for row, cell in several for _ in cell]
        return cls(objects, rows, [number for _, cell in several for number in cell], lists)

    @cached_property
    def different(self) -> list[int]:
        """The numbers, each once."""
        return list(dict.fromkeys(self.numbers))

    @cached_property
    def key(self) -> str | None:
        """The key by which they are things: an id, or one that recurs always with the same object; None for others."""
        columns = self.objects.columns
        plain = {
            name: [cells[number] for number in self.different]
            for (name, is_plain), cells in columns.items()
            if is_plain
        }
        alike = [
            _hashable([None if isinstance(cell, list | dict) else cell for cell in cells]) for cells in plain.values()
        ]
        names = [name for name, (value, *_) in plain.items() if isinstance(value, str) or OWN_KEY.fullmatch(name)]
        for name in sorted(names, key=lambda name: (ID.fullmatch(name) is None, OWN_KEY.fullmatch(name) is None)):
            keys = list(map(str, plain[name]))
            size = len(set(keys))
            is_recurring = size <= RECURRING * len(self.numbers) and len(columns) > 1
            if not set(map(type, plain[name])) <= {str, int} or not (is_recurring or ID.fullmatch(name)):
                continue
            if size == len(keys) or len(set(zip(keys, *alike, strict=True))) == size:
                return name
        return None

    @cached_property
    def keys(self) -> dict[str, int]:
        """By the text of its key a number of each thing."""
        values = self.objects.columns[self.key or "", True]
        return {str(values[number]): number for number in self.different}

    def leading(self, column: list[Any]) -> list[Any]:
        """Put the keys of the things into a column of the table."""
        values = self.objects.columns[self.key or "", True]
        for row in self.lists:
            column[row] = []
        for row, number in zip(self.rows, self.numbers, strict=True):
            if row in self.lists:
                column[row].append(values[number])
            else:
                column[row] = values[number]
        return column


def _flatten(table: NestedTable, objects: _Objects, numbers: Sequence[int], tables: list[NestedTable]) -> None:
    """Fill a table with objects, and add it and the tables of what is within them to others."""
    table.called = _untaken(table.called, {each.called for each in tables})  # `a.b` beside the `b` within `a`
    tables.append(table)
    size, found = len(numbers), dict[str, _Found]()
    _spread(_Found(objects, range(size), numbers), "", table.cells, found, size)
    for path, places in _joined(found).items():
        below = NestedTable(path.rpartition(".")[2], f"{table.called}.{path}" if table.called else path)
        here = found[path]
        if here.key is None:
            column, keys = _key_of(table, size)
            name = f"{_singular(table.name)}_{column.strip('_#')}"
            below.links[name] = (table.called, column)
            below.cells[name] = [keys[row] for row in here.rows]
            _flatten(below, here.objects, here.numbers, tables)
            continue
        _flatten(below, *_once([found[place] for place in places]), tables)
        for place in places:
            table.links[place] = (below.called, here.key)
            table.cells[place] = found[place].leading(list(table.cells.get(place, [None] * size)))


def _spread(here: _Found, path: str, columns: dict[str, Sequence[Any]], found: dict[str, _Found], size: int) -> None:
    """Put plain values into the columns of a table, with their path; keep things and lists of objects apart."""
    single: dict[str, _Found] = {}
    for name, is_plain in product(here.objects.names, (True, False)):
        values = here.objects.columns.get((name, is_plain), [])
        if not values:
            continue
        full = f"{path}{name}"
        is_all = isinstance(here.numbers, range) and len(here.numbers) == here.objects.count
        cells = values if is_all else [values[number] for number in here.numbers]
        if is_plain:
            if cells.count(None) < len(cells):
                by_row = dict(zip(here.rows, cells, strict=True)) if len(cells) < size else {}
                columns[_untaken(full, columns)] = list(map(by_row.get, range(size))) if by_row else cells
            continue
        objects, several = (
            _Found.of(here.objects.within[name], here.rows, cells, *types) for types in ((int, tuple), (tuple,))
        )
        if several.rows and objects.key is None:
            single[full], objects = _Found.of(objects.objects, here.rows, cells, int), several
        elif not several.rows:
            single[full] = objects
            continue
        found[_untaken(full, found)] = objects  # `a.b` may be beside the `b` within `a`
    for full, objects in single.items():
        if objects.rows and objects.key is not None:
            found[_untaken(full, found)] = objects
        else:
            _spread(objects, f"{full}.", columns, found, size)


def _once(places: Sequence[_Found]) -> tuple[_Objects, Sequence[int]]:
    """Return the things of some paths, those of one key as one."""
    if len(places) == 1 and len(places[0].keys) == len(places[0].different):
        return places[0].objects, places[0].different
    known: dict[str, Row] = {}
    for found in places:
        for thing in map(found.objects.object, found.different):
            _add(known.setdefault(str(thing[found.key or ""]), {}), thing)
    objects = _Objects()
    return objects, objects.add(list(known.values())) or ()


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
        if all(isinstance(value, str | int) for value in values) and len(set(map(str, values))) == size:
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
