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
from itertools import islice, repeat
from pathlib import Path
from typing import Any, Literal, TypeAlias

from orienteer.ingest.formats.table import NODE_ROWS, Batch, Drop, FileNotes, columns_of, is_unicode

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
Kind: TypeAlias = Literal["plain", "object", "objects"]


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
        """Return the keys of the rows."""
        return tuple(self.cells)

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
            batch = Batch(columns, lines[first : first + rows])
            bad = {row for values in columns.values() for row in _undecodable(values)}
            for row in sorted(bad):
                drop("bad encoding", batch.lines[row], "")
            yield batch.without(bad)


def _undecodable(values: Sequence[Any]) -> list[int]:
    """Return the places of texts with halves of letters."""
    texts = [value if isinstance(value, str) else "" for value in values]
    return [] if is_unicode("".join(texts)) else [row for row, text in enumerate(texts) if not is_unicode(text)]


def tables_within(value: Any, name: str) -> list[NestedTable]:
    """Return the tables of a value, empty if it is none; each has rows, the outer ones first."""
    found: list[NestedTable] = []
    for called, rows in _row_sets(value, (), name):
        label = called.rpartition(".")[2]
        own = name if label.casefold() in GENERIC or not label else label
        parts = (rows[first : first + NODE_ROWS] for first in range(0, len(rows), NODE_ROWS))
        found += tables_of_rows(parts, NestedTable(own, called))
    for place, table in enumerate(found):  # `a.b` beside the `b` within `a`
        table.called = _untaken(table.called, {each.called for each in found[:place]})
    if found and isinstance(value, dict) and found[0].called:
        read = [f"{table.called}." for table in found]
        others = {key: inner for key, inner in value.items() if not any(path.startswith(f"{key}.") for path in read)}
        beside = [key for key, inner in others.items() if inner not in (None, "", [], {}, COLLECTION)]
        if beside:
            found[0].said += (f"beside the rows, not read: {', '.join(beside[:MOST_NAMED])}",)
    return found


def tables_of_rows(parts: Iterable[Sequence[Row]], table: NestedTable) -> list[NestedTable]:
    """Fill a table with rows, some thousand at a time, and return it with the tables of what is within them.

    Tables without a value are left out, and so is all where the rows have ever new keys.
    """
    objects, shapes = _Objects(are_compared=False), 0
    for rows in parts:
        shapes += sum(map(_has_shape, rows))
        objects.add(list(map(_feature, rows)))
    if objects.maps:
        return []
    if shapes:
        table.said = (f"the geometry of {shapes:,} features is not read: of others than points",)
    return [each for each in _flattened(table, objects, range(objects.count)) if each.cells]


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


class _Objects:
    """The objects of one path as columns, by the numbers that `add` gives them; equal ones have one number."""

    def __init__(self, *, are_compared: bool = True) -> None:
        self.count = 0
        self.columns: dict[tuple[str, Kind], list[Any]] = {}
        """By key: plain values, the number of an object, or those of several. None where an object says nothing."""
        self.within: dict[str, _Objects] = {}
        """By key the objects within these."""
        self.maps: list[Row] = []
        """The objects themselves, where they are maps, and have no columns."""
        self._known: dict[tuple[Any, ...], int] | None = {} if are_compared else None
        self._added = self._filled = 0

    def add(self, rows: list[Row]) -> Sequence[int]:
        """Take objects in, and return their numbers."""
        self._added += len(rows)
        if self.maps:
            self.maps += rows
            return range(len(self.maps) - len(rows), len(self.maps))
        parts: dict[tuple[str, Kind], Sequence[Any]] = {}
        for name, values in columns_of(rows).items():
            self._part(name, values, parts)
        for key in parts.keys() - self.columns.keys():
            self.columns[key] = [None] * self.count
        parts = {key: parts.get(key) or [None] * len(rows) for key in self.columns}
        numbers: Sequence[int] = range(self.count, self.count + len(rows))
        if self._known is not None:
            numbers, new = [], []
            for place, cells in enumerate(zip(*map(_hashable, parts.values()), strict=True) if parts else ((),) * len(rows)):
                number = self._known.setdefault(cells, self.count + len(new))
                if number == self.count + len(new):
                    new.append(place)
                numbers.append(number)
            parts = {key: [values[place] for place in new] for key, values in parts.items()}
            self.count += len(new)
            if self.count > max(COMPARED, RECURRING * self._added):
                self._known = None
        else:
            self.count += len(rows)
        for key, values in parts.items():
            self.columns[key] += values
            self._filled += len(values) - values.count(None)
        if len(self.columns) * self.count > MOST_CELLS + MOST_EMPTY * self._filled:
            self.maps = list(map(self.object, range(self.count)))
            self.columns = {}
        return numbers

    def _part(self, name: str, values: Sequence[Any], parts: dict[tuple[str, Kind], Sequence[Any]]) -> None:
        """Part the values of a key: plain ones, objects, and lists of objects."""
        types = set(map(type, values))
        if types.isdisjoint((dict, list)):
            parts[name, "plain"] = _shared(values) if types == {str} else values
            return
        kinds = list(map(_kind, values))
        within = self.within.get(name) or _Objects()
        if "object" in kinds:
            numbers = iter(within.add([value for value, kind in zip(values, kinds, strict=True) if kind == "object"]))
            parts[name, "object"] = [next(numbers) if kind == "object" else None for kind in kinds]
        if "objects" in kinds:
            lists = [value if kind == "objects" else () for value, kind in zip(values, kinds, strict=True)]
            numbers = iter(within.add([one for several in lists for one in several]))
            parts[name, "objects"] = [tuple(islice(numbers, len(several))) or None for several in lists]
        if "plain" in kinds:
            parts[name, "plain"] = [v if kind == "plain" else None for v, kind in zip(values, kinds, strict=True)]
        if within.count or within.maps:
            self.within[name] = within

    def object(self, number: int) -> Row:
        """Return an object, without what says nothing."""
        if self.maps:
            return self.maps[number]
        told = ((name, self.value(name, kind, values[number])) for (name, kind), values in self.columns.items())
        return {name: value for name, value in told if value is not None}

    def value(self, name: str, kind: Kind, cell: Any) -> Any:
        """Return what a cell of a column stands for."""
        if kind == "plain" or cell is None:
            return cell
        return self.within[name].object(cell) if kind == "object" else list(map(self.within[name].object, cell))


def _kind(value: Any) -> Kind | None:
    """Return what a value is; None if it says nothing."""
    if isinstance(value, dict):
        return "object" if 0 < len(value) <= MOST_KEYS else "plain" if value else None
    if isinstance(value, list):
        return "objects" if value and all(isinstance(one, dict) and one for one in value) else "plain" if value else None
    return "plain" if value is not None else None


def _hashable(values: Sequence[Any]) -> Sequence[Any]:
    """Return values that are equal only if they are the same in JSON, where 1, 1.0 and true are not."""
    return values if set(map(type, values)) <= {str, int, tuple, type(None)} else [(repr(value),) for value in values]


def _shared(texts: Sequence[str]) -> Sequence[str]:
    """Return texts, equal ones as one object if they recur."""
    once = dict(zip(texts, texts, strict=True))
    return list(map(once.__getitem__, texts)) if 2 * len(once) < len(texts) else texts


@dataclass(eq=False)
class _Found:
    """The objects of one path within the rows of a table: the row and the number of each."""

    objects: _Objects
    rows: list[int] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    lists: set[int] = field(default_factory=set)
    """The rows that have a list of them."""

    def key_values(self, key: str) -> list[str | int]:
        """Return the key of each object."""
        values = self.objects.columns[key, "plain"]
        return [values[number] for number in self.numbers]


def _flattened(table: NestedTable, objects: _Objects, numbers: Sequence[int]) -> list[NestedTable]:
    """Fill a table with objects, and return it with the tables of what is within them."""
    size, found = len(numbers), dict[str, _Found]()
    _spread(objects, range(size), numbers, table.cells, found, "", size)
    tables = [table]
    for path, (key, places) in _joined(found).items():
        label = path.rpartition(".")[2]
        below = NestedTable(label, f"{table.called}.{path}" if table.called else path)
        if key is None:
            column, keys = _key_of(table, size)
            name = f"{_singular(table.name)}_{column.strip('_#')}"
            below.links[name] = (table.called, column)
            below.cells[name] = [keys[row] for row in found[path].rows]
            tables += _flattened(below, found[path].objects, found[path].numbers)
            continue
        tables += _flattened(below, *_once([found[place] for place in places], key))
        for place in places:
            table.links[place] = (below.called, key)
            table.cells[place] = _leading(found[place], key, table.cells.get(place, repeat(None, size)))
    return tables


def _leading(found: _Found, key: str, before: Iterable[Any]) -> list[Any]:
    """Return a column of the keys of the objects that rows had, and what the column said in other rows."""
    cells = list(before)
    for row in found.lists:
        cells[row] = []
    for row, value in zip(found.rows, found.key_values(key), strict=True):
        if row in found.lists:
            cells[row].append(value)
        else:
            cells[row] = value
    return cells


def _once(places: Sequence[_Found], key: str) -> tuple[_Objects, Sequence[int]]:
    """Return the objects of some paths, those of one key as one."""
    if len(places) == 1:
        different = list(dict.fromkeys(places[0].numbers))
        if len(set(map(str, places[0].key_values(key)))) == len(different):
            return places[0].objects, different
    known: dict[str, Row] = {}
    for found in places:
        for number in dict.fromkeys(found.numbers):
            thing = found.objects.object(number)
            _add(known.setdefault(str(thing[key]), {}), thing)
    objects = _Objects()
    return objects, objects.add(list(known.values()))


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


def _spread(
    objects: _Objects,
    rows: Sequence[int],
    numbers: Sequence[int],
    cells: dict[str, Sequence[Any]],
    found: dict[str, _Found],
    path: str,
    size: int,
) -> None:
    """Put plain values of the objects that rows have into columns with their path; keep things and lists apart."""
    single: dict[str, _Found] = {}
    for (name, kind), values in objects.columns.items():
        full, within = f"{path}{name}", objects.within.get(name)
        if kind == "plain" or within is None or within.maps:
            told = values if kind == "plain" else [objects.value(name, kind, cell) for cell in values]
            if len(rows) == size == objects.count and isinstance(numbers, range):
                cells[_untaken(full, cells)] = told
            elif any(told[number] is not None for number in numbers):
                column: list[Any] = [None] * size
                for row, number in zip(rows, numbers, strict=True):
                    column[row] = told[number]
                cells[_untaken(full, cells)] = column
            continue
        here = [(row, values[number]) for row, number in zip(rows, numbers, strict=True) if values[number] is not None]
        if kind == "object" and here:
            single[full] = _Found(within, *map(list, zip(*here, strict=True)))
        elif here:
            lists = found.setdefault(full, _Found(within))
            lists.rows += [row for row, several in here for _ in several]
            lists.numbers += [number for _, several in here for number in several]
            lists.lists.update(row for row, _ in here)
    for full, objects_there in single.items():
        if own_key(objects_there) is None:
            _spread(objects_there.objects, objects_there.rows, objects_there.numbers, cells, found, f"{full}.", size)
        else:
            both = found.setdefault(full, _Found(objects_there.objects))
            both.rows += objects_there.rows
            both.numbers += objects_there.numbers


def own_key(found: _Found) -> str | None:
    """Return the key by which objects are things: an id, or one that recurs always with the same object; else None."""
    columns, first = found.objects.columns, found.numbers[0]
    told = {name: values for (name, kind), values in columns.items() if values[first] is not None}
    names = [name for name, values in told.items() if isinstance(values[first], str) or OWN_KEY.fullmatch(name)]
    names.sort(key=lambda name: (ID.fullmatch(name) is None, OWN_KEY.fullmatch(name) is None))
    different = list(dict.fromkeys(found.numbers))
    plain = [values for (_, kind), values in columns.items() if kind == "plain"]
    for name in names:
        values = [told[name][number] for number in different]
        if not set(map(type, values)) <= {str, int}:
            continue
        texts = list(map(str, values))
        keys = set(texts)
        if not ID.fullmatch(name) and (len(keys) > RECURRING * len(found.numbers) or len(told) < 2):
            continue
        if len(keys) == len(different):
            return name
        seen: dict[str, tuple[Any, ...]] = {}
        rows = zip(*(_scalars([values[number] for number in different]) for values in plain), strict=True)
        if all(seen.setdefault(text, row) == row for text, row in zip(texts, rows, strict=True)):
            return name
    return None


def _scalars(values: Sequence[Any]) -> Sequence[Any]:
    """Return values to be compared, without lists and objects."""
    return _hashable([None if isinstance(value, list | dict) else value for value in values])


def _joined(found: Mapping[str, _Found]) -> dict[str, tuple[str | None, list[str]]]:
    """Return the paths within rows by what they hold: `author` and `reviewers` with the same ids are one table."""
    keys = {path: own_key(places) for path, places in found.items()}
    things = {
        path: dict(zip(map(str, found[path].key_values(key)), found[path].numbers, strict=True))
        for path, key in keys.items()
        if key is not None
    }
    joined: dict[str, tuple[str | None, list[str]]] = {}
    for path in sorted(found, key=lambda path: -len(things.get(path, ()))):
        key = keys[path]
        alike = (other for other in joined if key is not None and keys[other] == key)
        agreeing = (
            other for other in alike if _agree(found[path].objects, things[path], found[other].objects, things[other])
        )
        joined.setdefault(next(agreeing, path), (key, []))[1].append(path)
    return joined


def _agree(objects: _Objects, some: Mapping[str, int], other: _Objects, others: Mapping[str, int]) -> bool:
    """Return whether most objects are among others, and say nothing else there."""
    common = some.keys() & others.keys()
    if 2 * len(common) <= len(some):
        return False
    pairs = ((objects.object(some[key]), other.object(others[key])) for key in common)
    return all(there.get(name) == value for here, there in pairs for name, value in here.items())
