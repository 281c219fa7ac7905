"""Properties in columns, and conditions on them.

Files, each with all properties one after another, in the order of the manifest:
    property_at.i8, property_row.i4, property_value.utf8/.at
        the begin of each property; the nodes that have it, ascending; their values as JSON
    property_entry_at.i8, property_entry.i4, property_number.f8, property_text.u8
        the entries that conditions read, one for each value and for each item of a list: the node, the number (NaN for
        none; a date is its year and the part of the year that has passed) and the hash of the folded text
The number of files does not depend on that of properties: an open graph has a descriptor for each file.
"""

from __future__ import annotations

import hashlib
import json
import math
import operator
import re
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import pairwise, starmap
from json.encoder import encode_basestring
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.elements import JsonValue, Node
from orienteer.errors import BadOption, UnknownProperty, nearest
from orienteer.graph.adjacency import distinct
from orienteer.graph.edges import CodedColumn
from orienteer.index.arrays import Folder, Rows, StringWriter, check_counts, check_ends, encode, inserted, save
from orienteer.text.sentences import one_line

if TYPE_CHECKING:
    from orienteer.index.postings import Layout

_json = json.JSONEncoder(ensure_ascii=False).encode
_BATCH = 50_000  # values that are copied at once: bounds the memory
_LONGEST_CONDITION = 500  # characters: a bound on the pattern's time
_LONGEST_SHOWN = 100  # characters of a value in an error
_LONGEST_COMPARED = 200  # characters; longer texts are for search, not for conditions
_SINGLE = frozenset({str, int, float, bool})
_DATE = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?(?:[T ].*)?")
_NUMBER = re.compile(r"\s*+[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?\s*", re.ASCII)
_CONDITION = re.compile(r"\s*(.+?)\s*([!<>=]=|=[<>!]|<>|=|<|>)\s*(.*?)\s*", re.DOTALL)
_MEANT = {"==": "=", "=>": ">=", "=<": "<=", "<>": "!=", "=!": "!="}  # other languages' forms
COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {  # Any: numbers, or an array of numbers and a number
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}


class Condition(NamedTuple):
    """A condition on a property's value: `year >= 2000`."""

    property: str
    comparison: str
    value: str

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Parse `year >= 2000` or `section = games`. Raises `BadOption`."""
        if len(text) > _LONGEST_CONDITION:
            raise BadOption(f"a condition of {len(text)} characters is too long: {_LONGEST_CONDITION} are allowed")
        match = _CONDITION.fullmatch(text.strip())
        if not match or not match[3]:
            raise BadOption(f"{text!r} is not a condition: write PROPERTY=VALUE, with one of = != < <= > >=")
        condition = cls(match[1], _MEANT.get(match[2], match[2]), match[3])
        if condition.comparison not in ("=", "!=") and math.isnan(number_of(condition.value)):
            value, text = one_line(condition.value, _LONGEST_SHOWN), one_line(text, 2 * _LONGEST_SHOWN)
            raise BadOption(f"{value!r} in {text!r} is neither a number that can be compared nor a date (2001-12-31)")
        return condition


def number_of(value: JsonValue) -> float:
    """Return a value as a number; NaN for a value that is neither a number nor a date, or too large to compare.

    A date is its year and the part of the year that has passed, so that dates compare with dates and with years.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        if not isinstance(value, str) or _NUMBER.fullmatch(value):
            number = float(value)
            # Digits beyond a float's range are infinite, and would equal one another.
            return number if math.isfinite(number) else math.nan
        match = _DATE.fullmatch(value.strip())
        if not match:
            return math.nan
        day = date(int(match[1]), int(match[2]), int(match[3] or 1)).toordinal()
        begin, end = (date(int(match[1]) + later, 1, 1).toordinal() for later in (0, 1))
    except (OverflowError, ValueError):
        return math.nan
    return int(match[1]) + (day - begin) / (end - begin)


def _read(texts: Sequence[bytes]) -> list[JsonValue]:
    """Return the values of JSON texts: one call for all takes a tenth of the time. Raises `ValueError` for damage."""
    values: list[JsonValue] = json.loads(b"[%b]" % b",".join(texts))
    if len(values) != len(texts):
        raise ValueError("a text of several values")
    return values


def _text_hash(value: JsonValue) -> int:
    text = value if isinstance(value, str) else str(value) if type(value) is int else json.dumps(value)
    return int.from_bytes(_digest(text), "little")


def _digest(text: str) -> bytes:
    return hashlib.blake2b(encode(text.casefold()), digest_size=8).digest()


@lru_cache(maxsize=1 << 16, typed=True)
def _compared(value: None | bool | int | float | str) -> tuple[float, int]:
    """Return the number and the text's hash of a value. Cached, for values repeat."""
    return number_of(value), _text_hash(value)


def compared(value: JsonValue) -> Iterator[tuple[float, int]]:
    """Yield the number and the text's hash of a value, or of each item of a list; conditions compare these."""
    for item in value if isinstance(value, list) else (value,):
        if not (isinstance(item, dict | list) or (isinstance(item, str) and len(item) > _LONGEST_COMPARED)):
            yield _compared(item)


def _entries(value: JsonValue) -> list[tuple[float, int]]:
    return list(compared(value))


def meets(value: JsonValue, condition: Condition) -> bool:
    """Return whether a value, or an item of a list, meets a condition, as `Properties.mask` does; None meets none."""
    if value is None:
        return False
    entries = list(compared(value))
    number, text = number_of(condition.value), _text_hash(condition.value)
    if condition.comparison in ("=", "!="):
        is_same = any(own == number or own_text == text for own, own_text in entries)
        return is_same == (condition.comparison == "=")
    numbers = np.array([own for own, _ in entries])
    return bool(COMPARE[condition.comparison](numbers, number).any())


def encode_value(value: JsonValue) -> bytes:
    """Return a value as JSON; whole numbers and texts, nearly all values, are encoded faster."""
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return repr(value).encode()
    return encode(encode_basestring(value) if type(value) is str else _json(value))


class PropertyWriter:
    """Collects a property of all nodes, in any order of nodes. Values are on disk, the rest in memory."""

    def __init__(self, spool: Path) -> None:
        self._spool = spool
        self._values = StringWriter(spool.parent, spool.name)
        self.rows = array("i")
        self.entries = array("i")
        self.numbers = array("d")
        self.texts = array("Q")

    def add(self, row: int, value: JsonValue, encoded: bytes) -> None:
        """Add a node's value, together with its JSON."""
        self.extend((row,), (value,), (encoded,))

    def extend(self, rows: Sequence[int], values: Sequence[JsonValue], encoded: Sequence[bytes]) -> None:
        """Add the values of several nodes, together with their JSON."""
        self.rows.extend(rows)
        self._values.extend(encoded)
        if set(map(type, values)) <= _SINGLE and max(map(len, encoded), default=0) <= _LONGEST_COMPARED:
            single: Sequence[Any] = values
            pairs = list(map(_compared, single))  # faster than lists of one
            self.entries.extend(rows)
            self.numbers.extend([number for number, _ in pairs])
            self.texts.extend([text for _, text in pairs])
            return
        entries = values.map(_entries) if isinstance(values, CodedColumn) else map(_entries, values)
        for row, several in zip(rows, entries, strict=True):
            for number, text in several:
                self.entries.append(row)
                self.numbers.append(number)
                self.texts.append(text)

    def values(self) -> Iterator[tuple[int, JsonValue]]:
        """Yield the nodes, by the numbers of `add`, with their values."""
        self._values.close()
        spooled = Folder(self._spool.parent, ()).strings(self._spool.name)  # (): listing all columns' files takes long
        for low in range(0, len(self.rows), _BATCH):
            rows = self.rows[low : low + _BATCH]
            yield from zip(rows, _read(spooled.take(np.arange(low, low + len(rows)))), strict=True)

    def sort(self, place: NDArray[np.int32]) -> Iterator[list[bytes]]:
        """Renumber the nodes, row r to `place[r]`, and yield the values as JSON in the new order, in parts."""
        self._values.close()
        rows = place[np.frombuffer(self.rows, np.int32)]
        order = np.argsort(rows)
        self.rows = array("i", rows[order].tobytes())
        entries = place[np.frombuffer(self.entries, np.int32)] if self.entries else np.zeros(0, np.int32)
        within = np.argsort(entries, kind="stable")
        self.entries = array("i", entries[within].tobytes())
        self.numbers = array("d", np.frombuffer(self.numbers)[within].tobytes()) if self.numbers else self.numbers
        self.texts = array("Q", np.frombuffer(self.texts, np.uint64)[within].tobytes()) if self.texts else self.texts
        spooled = Folder(self._spool.parent, ()).strings(self._spool.name)
        for low in range(0, len(order), _BATCH):
            yield spooled.take(order[low : low + _BATCH])


def write(folder: Path, columns: Sequence[PropertyWriter], place: NDArray[np.int32]) -> None:
    """Write the files of all properties; row r becomes row `place[r]`."""
    with StringWriter(folder, "property_value") as values:
        for column in columns:
            for part in column.sort(place):
                values.extend(part)
    _save_columns(folder, columns)


def _save_columns(folder: Path, columns: Sequence[PropertyWriter | _Revised]) -> None:
    """Write the numbers of all properties, one file for each kind of column."""
    save(folder, "property_at", np.cumsum([0, *(len(column.rows) for column in columns)], dtype=np.int64))
    save(folder, "property_entry_at", np.cumsum([0, *(len(column.entries) for column in columns)], dtype=np.int64))
    files = {"row": np.int32, "entry": np.int32, "number": np.float64, "text": np.uint64}
    for (name, kind), attribute in zip(files.items(), ("rows", "entries", "numbers", "texts"), strict=True):
        parts = (np.frombuffer(getattr(column, attribute), kind) for column in columns)
        save(folder, f"property_{name}", np.concatenate([np.zeros(0, kind), *parts]))


class ValueColumn(NamedTuple):
    """A property of all nodes, or of all edges' extras, as conditions read it."""

    rows: Rows
    """The nodes that have it, ascending: (rows,)."""
    first: int
    """The index of its first value among all values."""
    entries: NDArray[np.int32]
    numbers: NDArray[np.float64]
    texts: NDArray[np.uint64]

    @classmethod
    def of(cls, rows: Sequence[int], values: Sequence[JsonValue]) -> ValueColumn:
        """Return the column of these values: `rows` ascend, one for each value."""
        entries = [(row, *entry) for row, value in zip(rows, values, strict=True) for entry in compared(value)]
        columns = (
            np.array([entry[at] for entry in entries], kind) for at, kind in enumerate((np.int32, float, np.uint64))
        )
        return cls(np.array(rows, np.int32), 0, *columns)

    def meeting(self, condition: Condition) -> NDArray[np.int32]:
        """Return the rows that meet a condition; a row may occur several times."""
        number = number_of(condition.value)
        is_same = self.texts == np.uint64(_text_hash(condition.value))
        if not math.isnan(number):
            with np.errstate(invalid="ignore"):
                compared = COMPARE[condition.comparison](self.numbers, number)
            if condition.comparison == "=":
                compared |= is_same
            elif condition.comparison == "!=":
                compared, is_same = compared & ~is_same, ~compared | is_same
        else:
            compared = is_same
        if condition.comparison == "!=":
            return np.setdiff1d(self.rows, self.entries[is_same]).astype(np.int32)
        return np.asarray(self.entries[compared], np.int32)


class Properties:
    """The properties of every node, mapped."""

    def __init__(self, folder: Folder, names: Sequence[str], nodes: int) -> None:
        self._nodes = nodes
        self.names = tuple(names)
        self._values = folder.strings("property_value")
        begins, entry_begins = folder.array("property_at", "i8"), folder.array("property_entry_at", "i8")
        rows, entries = folder.array("property_row", "i4"), folder.array("property_entry", "i4")
        numbers, texts = folder.array("property_number", "f8"), folder.array("property_text", "u8")
        for offsets, columns in ((begins, (rows, self._values)), (entry_begins, (entries, numbers, texts))):
            for column in columns:
                check_ends(offsets, len(column), "properties")
            check_counts(np.diff(offsets), len(columns[0]))
        self._columns: dict[str, ValueColumn] = {}
        parts, entry_parts = (starmap(slice, pairwise(offsets.tolist())) for offsets in (begins, entry_begins))
        for name, part, entry in zip(names, parts, entry_parts, strict=True):
            self._columns[name] = ValueColumn(rows[part], part.start, entries[entry], numbers[entry], texts[entry])

    def of(self, row: int) -> dict[str, JsonValue]:
        """Return all properties of a node."""
        properties: dict[str, JsonValue] = {}
        for name, column in self._columns.items():
            at = int(column.rows.searchsorted(row))
            if at < len(column.rows) and column.rows[at] == row:
                properties[name] = json.loads(
                    self._values.raw(column.first + at).decode()
                )  # of bytes it takes twice as long
        return properties

    def having(self, text: str) -> Iterator[str]:
        """Yield each value that contains a text, as JSON."""
        return self._values.having(text)

    def column(self, name: str) -> tuple[Rows, list[bytes]]:
        """Return the nodes that have a property, ascending, and their values as JSON. Raises `UnknownProperty`."""
        column = self._columns[self.spelling_of(name)]
        first = column.first
        return column.rows, self._values.take(np.arange(first, first + len(column.rows)))

    def rows(self, name: str) -> Rows:
        """Return the nodes that have a property, ascending. Raises `UnknownProperty`."""
        return self._columns[self.spelling_of(name)].rows

    def values(self, name: str, rows: Rows) -> list[JsonValue]:
        """Return the value of a property for each of these nodes, None for none. Raises `UnknownProperty`."""
        column = self._columns[self.spelling_of(name)]
        if not len(column.rows):
            return [None] * len(rows)
        at = column.rows.searchsorted(rows)
        there = column.rows.take(at, mode="clip") == rows
        values = iter(_read(self._values.take(column.first + at[there])))
        return [next(values) if has else None for has in there.tolist()]

    def every(self, name: str, rows: Rows) -> list[JsonValue]:
        """Return the same as `values`, faster if most nodes have the property; None for all if no node has it."""
        if name not in self.names:
            return [None] * len(rows)
        having, texts = self.column(name)
        read = [*_read(texts), None]
        at = np.full(self._nodes, len(having))
        at[having] = np.arange(len(having))
        return [read[place] for place in at[rows].tolist()]

    def numbers(self, name: str, rows: Rows) -> NDArray[np.float64]:
        """Return the first number of each row, (rows,), NaN for none. Raises `UnknownProperty`."""
        column = self._columns[self.spelling_of(name)]
        if not len(column.entries):
            return np.full(len(rows), np.nan)
        at = column.entries.searchsorted(rows)
        there = column.entries.take(at, mode="clip") == rows
        return np.where(there, column.numbers.take(at, mode="clip"), np.nan)

    def extremes(self, name: str, rows: Rows, *, largest: bool = False) -> NDArray[np.float64]:
        """Return the smallest, or largest, number of each row: (rows,), NaN for none. Raises `UnknownProperty`."""
        column = self._columns[self.spelling_of(name)]
        numbers = np.full(self._nodes, np.nan)
        (np.fmax if largest else np.fmin).at(numbers, column.entries, column.numbers)
        return numbers[rows]

    def mask(self, conditions: Sequence[Condition]) -> NDArray[np.bool_]:
        """Mark the nodes, (nodes,), that have the properties and meet all conditions. Raises `UnknownProperty`."""
        mask = np.ones(self._nodes, np.bool_)
        for condition in conditions:
            meets = np.zeros(self._nodes, np.bool_)
            meets[self._columns[self.spelling_of(condition.property)].meeting(condition)] = True
            mask &= meets
        return mask

    def names_with_value(self, text: str) -> list[str]:
        """Return the properties in which a node's value is exactly this text, in any case."""
        return self.names_with_values([text]).get(text, [])

    def names_with_values(self, texts: Collection[str]) -> dict[str, list[str]]:
        """Return the same for several distinct texts, without those that are no value."""
        hashes, columns = self._texts
        # The JSON of a value has at least as many bytes as the value, folded to ASCII, has letters.
        texts = [text for text in texts if len(text) <= self._longest or not text.isascii()]
        if not texts or not len(hashes):
            return {}
        wanted = np.frombuffer(b"".join(map(_digest, texts)), "<u8")
        first = hashes.searchsorted(wanted)
        found = (hashes.take(first, mode="clip") == wanted).nonzero()[0].tolist()
        if not found:  # most texts are no value
            return {}
        names, ends = list(self._columns), hashes.searchsorted(wanted[found], side="right")
        return {
            texts[at]: [names[number] for number in columns[first[at] : end].tolist()]
            for at, end in zip(found, ends.tolist(), strict=True)
        }

    @cached_property
    def _longest(self) -> int:
        return int(self._values.sizes.max(initial=0))

    @cached_property
    def _texts(self) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
        """Return the hashes of every property's distinct texts, ascending, and the number of each one's property."""
        own = [distinct(column.texts) for column in self._columns.values()]
        hashes = np.concatenate([np.zeros(0, np.uint64), *own])
        order = np.argsort(hashes, kind="stable")  # some 10 ms for 150,000 values
        return hashes[order], np.repeat(np.arange(len(own)), [len(texts) for texts in own])[order]

    def spelling_of(self, name: str, others: Sequence[str] = ()) -> str:
        """Return the spelling of a property, or of one of `others`, in the graph. Raises `UnknownProperty`."""
        return spelling_of(name, (*self.names, *others))


def spelling_of(name: str, names: Sequence[str]) -> str:
    """Return a property in its spelling among `names`, given in any case. Raises `UnknownProperty` with near names."""
    folded = {own.casefold(): own for own in reversed(names)}
    if name in names or name.casefold() in folded:
        return name if name in names else folded[name.casefold()]
    near = nearest(name, names)
    hint = f" Near: {', '.join(near)}." if near else ""
    has = ", ".join(names) if names else "none"
    raise UnknownProperty(f"No node has a property {name!r}.{hint} In this graph: {has}.", near, value=name)


def parse(conditions: Sequence[str]) -> tuple[Condition, ...]:
    """Parse conditions such as `year >= 2000`. Raises `BadOption`."""
    return tuple(Condition.parse(text) for text in conditions)


class _Revised(NamedTuple):
    """A property of a revised graph: of the old rows that stay, and of added ones."""

    rows: NDArray[np.int32]
    values: NDArray[np.int64]
    """(rows,): the index of an old value among those of all properties, or -1 - n for the n-th added one."""
    entries: NDArray[np.int32]
    numbers: NDArray[np.float64]
    texts: NDArray[np.uint64]


def revise(folder: Path, old: Folder, names: Sequence[str], layout: Layout, nodes: Sequence[Node]) -> tuple[str, ...]:
    """Write the properties of the old rows that stay and of added nodes, in their order; return the names of all.

    `names` are the old ones. A property that no row has any longer is dropped.
    """
    from orienteer.index.postings import write_strings  # here: only an update writes

    ends = (pairwise(old.array(name, "i8").tolist()) for name in ("property_at", "property_entry_at"))
    parts = {name: (slice(*own), slice(*entry)) for name, own, entry in zip(names, *ends, strict=True)}
    old_rows, old_entries = (layout.old[old.array(name, "i4")] for name in ("property_row", "property_entry"))
    old_numbers, old_texts = old.array("property_number", "f8"), old.array("property_text", "u8")
    columns: dict[str, _Revised] = {}
    added: list[bytes] = []  # the values of added nodes, as JSON
    for name in dict.fromkeys([*names, *(name for node in nodes for name in node.properties)]):
        part, entry_part = parts.get(name, (slice(0, 0), slice(0, 0)))
        having = [at for at, node in enumerate(nodes) if name in node.properties]
        stays = np.flatnonzero(old_rows[part] >= 0)
        if not len(stays) and not having:
            continue
        # The added values are inserted among the old ones, by row.
        rows, values = layout.new[having], [nodes[at].properties[name] for at in having]
        at = np.searchsorted(old_rows[part][stays], rows)
        origin = inserted(stays + part.start, at, -1 - len(added) - np.arange(len(rows)))
        added += map(encode_value, values)
        new = [(row, *entry) for row, value in zip(rows.tolist(), values, strict=True) for entry in compared(value)]
        new_entries, new_numbers, new_texts = (
            np.array([entry[column] for entry in new], kind)
            for column, kind in ((0, np.int32), (1, np.float64), (2, np.uint64))
        )
        entries = old_entries[entry_part]
        staying = np.flatnonzero(entries >= 0)
        at_entries = np.searchsorted(entries[staying], new_entries)
        columns[name] = _Revised(
            inserted(old_rows[part][stays], at, rows),
            origin,
            inserted(entries[staying], at_entries, new_entries),
            inserted(old_numbers[entry_part][staying], at_entries, new_numbers),
            inserted(old_texts[entry_part][staying], at_entries, new_texts),
        )
    origins = np.concatenate([np.zeros(0, np.int64), *(column.values for column in columns.values())])
    write_strings(folder, "property_value", old.strings("property_value"), origins, added)
    _save_columns(folder, list(columns.values()))
    return tuple(columns)


MISSING = frozenset({"NaT", "<NA>"})
"""Missing values of numpy and pandas, as text; NaN is another."""


def json_value(value: Any) -> JsonValue:  # Any: any Python value
    """Return the value as JSON: a time in ISO 8601, NaN and its like as None. Raises `TypeError` for other values."""
    if value is None or isinstance(value, str | bool) or type(value) is int:
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float | Decimal):
        number = float(value)
        return None if math.isnan(number) else number
    if isinstance(value, Mapping):
        return {str(key): json_value(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(member) for member in value]
    return scalar(value)


def scalar(value: Any) -> JsonValue:  # Any: any Python value
    """Return a time, or a value of numpy or pandas, as JSON. Raises `TypeError` for anything else."""
    if str(value) in MISSING:
        return None
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    if type(value).__name__ == "datetime64":  # whose own `tolist` counts nanoseconds
        return str(value)
    if hasattr(value, "tolist"):
        return json_value(value.tolist())
    raise TypeError(f"a {type(value).__name__} is not a JSON value")


def node_id(value: Any) -> str | None:  # Any: any Python value
    """Return an id as text, of a whole number its digits; None if the value is not an id."""
    if hasattr(value, "item"):  # numpy's own number
        value = value.item()
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return str(int(value)) if isinstance(value, int) or value.is_integer() else None
