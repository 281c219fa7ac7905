"""Properties in columns, and conditions on them.

Files, each with all properties one after another, in the order of the manifest:
    property_at.i8, property_row.i4, property_code.u2 or .i4
        the begin of each property; the nodes that have it, ascending; the number of each one's value
    property_value_at.i8, property_value.utf8/.at
        the begin of each property's values; they are distinct, as JSON, in the order of the first nodes that have them
    property_entry_at.i8, property_entry.i4, property_number.f8, property_text.u8
        the entries that conditions read, one for each value and for each item of a list: the number of the value, it as
        a number (NaN for none; a date is its year and the part of the year that has passed), its folded text's hash
The number of files does not depend on that of properties: an open graph has a descriptor for each file. Graphs of
format 1 have no `property_code` and no `property_value_at`: there each node has a value of its own, and entries name
nodes.
"""

from __future__ import annotations

import hashlib
import json
import math
import operator
import re
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import islice, pairwise, starmap
from json.encoder import encode_basestring
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orienteer.elements import JsonValue, Node
from orienteer.errors import BadOption, UnknownProperty, nearest
from orienteer.graph.adjacency import distinct
from orienteer.index.arrays import (
    Array,
    Folder,
    Rows,
    StringWriter,
    begins_of,
    check_counts,
    check_ends,
    encode,
    inserted,
    save,
)
from orienteer.text.sentences import one_line

if TYPE_CHECKING:
    from orienteer.index.postings import Layout

_json = json.JSONEncoder(ensure_ascii=False).encode
_BATCH = 50_000  # values that are copied at once: bounds the memory
_LONGEST_CONDITION = 500  # characters: a bound on the pattern's time
_LONGEST_SHOWN = 100  # characters of a value in an error
_LONGEST_COMPARED = 200  # characters; longer texts are for search, not for conditions
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


def meets(value: JsonValue, condition: Condition) -> bool:
    """Return whether a value, or an item of a list, meets a condition, as `Properties.mask` does; None meets none."""
    return value is not None and len(ValueColumn.of((0,), (value,)).meeting(condition)) > 0


def encode_value(value: JsonValue) -> bytes:
    """Return a value as JSON; whole numbers and texts, nearly all values, are encoded faster."""
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return repr(value).encode()
    return encode(encode_basestring(value) if type(value) is str else _json(value))


class PropertyWriter:
    """Collects a property of all nodes, in any order of nodes. The values are on disk."""

    def __init__(self, spool: Path) -> None:
        self._spool = spool
        self._values = StringWriter(spool.parent, spool.name)
        self._rows = array("i")

    def extend(self, rows: Sequence[int], encoded: Iterable[bytes]) -> None:
        """Add the values of several nodes, as JSON."""
        self._rows.extend(rows)
        self._values.extend(encoded)

    def added(self) -> Iterator[tuple[int, JsonValue]]:
        """Yield the nodes, by the numbers of `add`, with their values."""
        self._values.close()
        spooled = Folder(self._spool.parent, ()).strings(self._spool.name)  # (): listing all columns' files takes long
        for low in range(0, len(self._rows), _BATCH):
            rows = self._rows[low : low + _BATCH]
            yield from zip(rows, _read(spooled.take(np.arange(low, low + len(rows)))), strict=True)

    def sort(self, place: NDArray[np.int32], values: StringWriter) -> ValueColumn:
        """Return the property with node r as `place[r]`, and write its distinct values."""
        self._values.close()
        rows = place[np.frombuffer(self._rows, np.int32)]
        order = np.argsort(rows)
        spooled = Folder(self._spool.parent, ()).strings(self._spool.name)
        known: dict[bytes, int] = {}
        codes, entries = [np.zeros(0, np.int32)], [_entries_of(())]
        for low in range(0, len(order), _BATCH):
            texts, before = spooled.take(order[low : low + _BATCH]), len(known)
            codes.append(np.array([known.setdefault(text, len(known)) for text in texts], np.int32))
            new = list(islice(known, before, None))
            values.extend(new)
            entries.append(_entries_of(_read(new), before))
        return ValueColumn(
            rows[order], np.concatenate(codes), 0, len(known), *map(np.concatenate, zip(*entries, strict=True))
        )


_Entries: TypeAlias = tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.uint64]]
"""What conditions read: numbers of values, ascending; each one's number and the hash of its text."""


def _entries_of(values: Iterable[JsonValue], first: int = 0) -> _Entries:
    """Return the entries of values that are numbered from `first` on."""
    entries = [(code, *entry) for code, value in enumerate(values, first) for entry in compared(value)]
    codes, numbers, texts = zip(*entries, strict=True) if entries else ((), (), ())
    return np.array(codes, np.int32), np.array(numbers, np.float64), np.array(texts, np.uint64)


def _renumbered(
    order: NDArray[np.int32], codes: NDArray[np.int32], numbers: NDArray[np.float64], texts: NDArray[np.uint64]
) -> _Entries:
    """Return the entries of the values with these numbers, (values,), which are numbered anew in this order."""
    first = codes.searchsorted(order)
    counts = codes.searchsorted(order, side="right") - first
    at = np.repeat(first - begins_of(counts)[:-1], counts) + np.arange(int(counts.sum()))
    return np.repeat(np.arange(len(order), dtype=np.int32), counts), numbers[at], texts[at]


def write(folder: Path, columns: Sequence[PropertyWriter], place: NDArray[np.int32]) -> None:
    """Write the files of all properties; row r becomes row `place[r]`."""
    with StringWriter(folder, "property_value") as values:
        stored = [column.sort(place, values) for column in columns]
    _save_columns(folder, stored)


def _save_columns(folder: Path, columns: Sequence[ValueColumn]) -> None:
    """Write the numbers of all properties, one file for each kind of column."""
    counts = [(len(column.rows), column.values, len(column.entries)) for column in columns]
    begins = np.cumsum(np.array([(0, 0, 0), *counts], np.int64), axis=0)
    for at, name in enumerate(("at", "value_at", "entry_at")):
        save(folder, f"property_{name}", begins[:, at])
    code = np.uint16 if max((column.values for column in columns), default=0) < 1 << 16 else np.int32
    kinds = {"row": np.int32, "code": code, "entry": np.int32, "number": np.float64, "text": np.uint64}
    attributes = ("rows", "codes", "entries", "numbers", "texts")
    for (name, kind), attribute in zip(kinds.items(), attributes, strict=True):
        parts = (getattr(column, attribute) for column in columns)
        save(folder, f"property_{name}", np.concatenate([np.zeros(0, kind), *parts]).astype(kind, copy=False))


class ValueColumn(NamedTuple):
    """A property of all nodes, or of all edges' extras, as conditions read it."""

    rows: Rows
    """The nodes that have it, ascending: (rows,)."""
    codes: Array
    """The number of each node's value among those of the property: (rows,)."""
    first: int
    """The index of the property's first value among all values."""
    values: int
    """Its distinct values."""
    entries: NDArray[np.int32]
    """Of each entry the number of its value, ascending."""
    numbers: NDArray[np.float64]
    texts: NDArray[np.uint64]

    @classmethod
    def of(cls, rows: Sequence[int], values: Sequence[JsonValue]) -> ValueColumn:
        """Return the column of these values: `rows` ascend, one for each value."""
        return cls(np.array(rows, np.int32), np.arange(len(rows)), 0, len(rows), *_entries_of(values))

    def meeting(self, condition: Condition) -> Rows:
        """Return the rows that meet a condition."""
        number, text = number_of(condition.value), np.uint64(_text_hash(condition.value))
        if math.isnan(number) or condition.comparison in ("=", "!="):
            entries = (self.numbers == number) | (self.texts == text)
        else:
            with np.errstate(invalid="ignore"):
                entries = COMPARE[condition.comparison](self.numbers, number)
        is_met = np.zeros(self.values, np.bool_)
        is_met[self.entries[entries]] = True
        if condition.comparison == "!=":
            is_met = ~is_met
        return self.rows[is_met[self.codes]]


class Properties:
    """The properties of every node, mapped."""

    def __init__(self, folder: Folder, names: Sequence[str], nodes: int) -> None:
        self._nodes = nodes
        self.names = tuple(names)
        self._values = folder.strings("property_value")
        begins, entry_begins = folder.array("property_at", "i8"), folder.array("property_entry_at", "i8")
        rows, entries = folder.array("property_row", "i4"), folder.array("property_entry", "i4")
        numbers, texts = folder.array("property_number", "f8"), folder.array("property_text", "u8")
        is_coded = folder.has("property_value_at.i8")
        value_begins = folder.array("property_value_at", "i8") if is_coded else begins
        codes = folder.array("property_code", "u2", "i4") if is_coded else rows
        for offsets, columns in (
            (begins, (rows, codes)),
            (value_begins, (self._values,)),
            (entry_begins, (entries, numbers, texts)),
        ):
            for column in columns:
                check_ends(offsets, len(column), "properties")
            check_counts(np.diff(offsets), len(columns[0]))
        self.columns: dict[str, ValueColumn] = {}
        spans = (starmap(slice, pairwise(each.tolist())) for each in (begins, value_begins, entry_begins))
        for name, part, values, entry in zip(names, *spans, strict=True):
            own_rows, own_codes, own_entries = rows[part], codes[part], entries[entry]
            if not is_coded:  # format 1
                own_codes, own_entries = np.arange(len(own_rows)), own_rows.searchsorted(own_entries).astype(np.int32)
            count = values.stop - values.start
            self.columns[name] = ValueColumn(
                own_rows, own_codes, values.start, count, own_entries, numbers[entry], texts[entry]
            )

    def of(self, row: int) -> dict[str, JsonValue]:
        """Return all properties of a node."""
        properties: dict[str, JsonValue] = {}
        for name, column in self.columns.items():
            at = int(column.rows.searchsorted(row))
            if at < len(column.rows) and column.rows[at] == row:
                properties[name] = json.loads(
                    self._values.raw(column.first + int(column.codes[at])).decode()
                )  # of bytes it takes twice as long
        return properties

    def having(self, text: str) -> Iterator[str]:
        """Yield each value that contains a text, as JSON."""
        return self._values.having(text)

    def column(self, name: str) -> tuple[Rows, list[bytes]]:
        """Return the nodes that have a property, ascending, and their values as JSON. Raises `UnknownProperty`."""
        column = self.columns[self.spelling_of(name)]
        return column.rows, list(map(self.texts_of(column).__getitem__, column.codes.tolist()))

    def read(self, name: str) -> tuple[Rows, list[JsonValue]]:
        """Return the nodes that have a property, ascending, and their values. Raises `UnknownProperty`."""
        column = self.columns[self.spelling_of(name)]
        return column.rows, list(map(_read(self.texts_of(column)).__getitem__, column.codes.tolist()))

    def texts_of(self, column: ValueColumn) -> list[bytes]:
        """Return the distinct values of a property, as JSON, by their numbers."""
        return self._values.take(np.arange(column.first, column.first + column.values))

    def rows(self, name: str) -> Rows:
        """Return the nodes that have a property, ascending. Raises `UnknownProperty`."""
        return self.columns[self.spelling_of(name)].rows

    def values(self, name: str, rows: Rows) -> list[JsonValue]:
        """Return the value of a property for each of these nodes, None for none. Raises `UnknownProperty`."""
        column = self.columns[self.spelling_of(name)]
        if not len(column.rows):
            return [None] * len(rows)
        at = column.rows.searchsorted(rows)
        there = column.rows.take(at, mode="clip") == rows
        codes = column.codes[at[there]].tolist()
        distinct_codes = list(dict.fromkeys(codes))
        texts = self._values.take(column.first + np.array(distinct_codes, np.int64))
        read = dict(zip(distinct_codes, _read(texts), strict=True))
        values = map(read.__getitem__, codes)
        return [next(values) if has else None for has in there.tolist()]

    def every(self, name: str, rows: Rows) -> list[JsonValue]:
        """Return the same as `values`; None for all if no node has the property."""
        return self.values(name, rows) if name in self.names else [None] * len(rows)

    def numbers(self, name: str, rows: Rows) -> NDArray[np.float64]:
        """Return the first number of each row, (rows,), NaN for none. Raises `UnknownProperty`."""
        column = self.columns[self.spelling_of(name)]
        numbers = np.full(len(rows), np.nan)
        if not len(column.entries):
            return numbers
        at = column.rows.searchsorted(rows)
        there = column.rows.take(at, mode="clip") == rows
        codes = column.codes[at[there]]
        first = column.entries.searchsorted(codes)
        has_entry = column.entries.take(first, mode="clip") == codes
        numbers[there] = np.where(has_entry, column.numbers.take(first, mode="clip"), np.nan)
        return numbers

    def extremes(self, name: str, rows: Rows, *, largest: bool = False) -> NDArray[np.float64]:
        """Return the smallest, or largest, number of each row: (rows,), NaN for none. Raises `UnknownProperty`."""
        column = self.columns[self.spelling_of(name)]
        of_value, numbers = np.full(column.values, np.nan), np.full(self._nodes, np.nan)
        (np.fmax if largest else np.fmin).at(of_value, column.entries, column.numbers)
        numbers[column.rows] = of_value[column.codes]
        return numbers[rows]

    def mask(self, conditions: Sequence[Condition]) -> NDArray[np.bool_]:
        """Mark the nodes, (nodes,), that have the properties and meet all conditions. Raises `UnknownProperty`."""
        mask = np.ones(self._nodes, np.bool_)
        for condition in conditions:
            meets = np.zeros(self._nodes, np.bool_)
            meets[self.columns[self.spelling_of(condition.property)].meeting(condition)] = True
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
        names, ends = list(self.columns), hashes.searchsorted(wanted[found], side="right")
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
        own = [distinct(column.texts) for column in self.columns.values()]
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


def revise(folder: Path, old: Folder, names: Sequence[str], layout: Layout, nodes: Sequence[Node]) -> tuple[str, ...]:
    """Write the properties of the old rows that stay and of added nodes, in their order; return the names of all.

    `names` are the old ones. A property that no row has any longer is dropped.
    """
    before = Properties(old, names, len(layout.old))
    columns: dict[str, ValueColumn] = {}
    with StringWriter(folder, "property_value") as writer:
        for name in dict.fromkeys([*names, *(name for node in nodes for name in node.properties)]):
            column = before.columns.get(name, ValueColumn.of((), ()))
            old_rows = layout.old[column.rows]
            stays = np.flatnonzero(old_rows >= 0)
            having = [at for at, node in enumerate(nodes) if name in node.properties]
            if not len(stays) and not having:
                continue
            # The added values are inserted among the old ones, by row. Of equal values the first counts.
            texts = [*before.texts_of(column), *(encode_value(nodes[at].properties[name]) for at in having)]
            known: dict[bytes, int] = {}
            first = np.array([known.setdefault(text, code) for code, text in enumerate(texts)], np.int32)
            entries = [(column.entries, column.numbers, column.texts)]
            entries.append(_entries_of(_read(texts[column.values :]), column.values))
            rows = layout.new[having]
            at = np.searchsorted(old_rows[stays], rows)
            codes = inserted(first[column.codes[stays]], at, first[column.values :])
            used, firsts = np.unique(codes, return_index=True)
            order = used[np.argsort(firsts)]
            renumbered = np.zeros(len(texts), np.int32)
            renumbered[order] = np.arange(len(order))
            writer.extend(texts[code] for code in order.tolist())
            columns[name] = ValueColumn(
                inserted(old_rows[stays], at, rows),
                renumbered[codes],
                0,
                len(order),
                *_renumbered(order, *map(np.concatenate, zip(*entries, strict=True))),
            )
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
