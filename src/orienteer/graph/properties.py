"""Properties in columns, and conditions on them.

Files of the property number P:
    pP_row.i4          the nodes that have it, ascending
    pP_value.utf8/.at  their values as JSON
    pP_entry.i4, pP_number.f8, pP_text.u8    what conditions read: one entry a value, a list giving one an item;
                       the number (a date as its ordinal day, NaN for neither) and the hash of the folded text
"""

from __future__ import annotations

import hashlib
import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadOption, UnknownProperty, nearest
from orienteer.index.arrays import Folder, Rows, Strings, StringWriter, encode, save
from orienteer.records import JsonValue

_LONGEST_COMPARED = 200  # characters; longer texts are for search, not for conditions
_json = json.JSONEncoder(ensure_ascii=False).encode
_DATE = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?(?:[T ].*)?")
_CONDITION = re.compile(r"\s*(.+?)\s*(!=|<=|>=|=|<|>)\s*(.*?)\s*", re.DOTALL)
_COMPARE: Mapping[str, Callable[[NDArray[np.float64], float], NDArray[np.bool_]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}


class Condition(NamedTuple):
    """What a property's value must be. `parse` reads one from text."""

    property: str
    comparison: str
    value: str

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read `year >= 2000` or `section = games`. Raises `BadOption`."""
        found = _CONDITION.fullmatch(text)
        if not found or not found[3]:
            raise BadOption(f"{text!r} is no condition: write PROPERTY=VALUE, with one of = != < <= > >=")
        condition = cls(*found.groups())
        if condition.comparison not in ("=", "!=") and math.isnan(number_of(condition.value)):
            raise BadOption(f"{condition.value!r} in {text!r} is neither a number nor a date (2001-12-31)")
        return condition


def number_of(value: JsonValue) -> float:
    """Return a value as a number, a date as its day; NaN for anything else."""
    if isinstance(value, bool):
        return math.nan
    if isinstance(value, int | float):
        return float(value)
    if not isinstance(value, str) or not value[:2].strip("+-. \t").isdecimal():
        return math.nan
    if found := _DATE.fullmatch(value.strip()):
        try:
            return float(date(int(found[1]), int(found[2]), int(found[3] or 1)).toordinal())
        except ValueError:
            return math.nan
    try:
        return float(value)
    except ValueError:
        return math.nan


def _text_hash(value: JsonValue) -> int:
    text = value if isinstance(value, str) else json.dumps(value)
    return int.from_bytes(hashlib.blake2b(encode(text.casefold()), digest_size=8).digest(), "little")


class PropertyWriter:
    """Collects one property of all nodes, in row order."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder, self._name = folder, f"p{number}"
        self._values = StringWriter(folder, f"{self._name}_value")
        self._rows: list[int] = []
        self._entries: list[int] = []
        self._numbers: list[float] = []
        self._texts: list[int] = []

    def add(self, row: int, value: JsonValue) -> None:
        """Take a node's value."""
        self._rows.append(row)
        self._values.add(encode(_json(value)))
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict | list) or (isinstance(item, str) and len(item) > _LONGEST_COMPARED):
                continue
            self._entries.append(row)
            self._numbers.append(number_of(item))
            self._texts.append(_text_hash(item))

    def close(self) -> None:
        """Write the files."""
        self._values.close()
        save(self._folder, f"{self._name}_row", np.array(self._rows, np.int32))
        save(self._folder, f"{self._name}_entry", np.array(self._entries, np.int32))
        save(self._folder, f"{self._name}_number", np.array(self._numbers, np.float64))
        save(self._folder, f"{self._name}_text", np.array(self._texts, np.uint64))


class _Column(NamedTuple):
    rows: Rows
    values: Strings
    entries: NDArray[np.int32]
    numbers: NDArray[np.float64]
    texts: NDArray[np.uint64]


def _column(folder: Folder, prefix: str) -> _Column:
    return _Column(
        folder.array(f"{prefix}_row", "i4"),
        folder.strings(f"{prefix}_value"),
        folder.array(f"{prefix}_entry", "i4"),
        folder.array(f"{prefix}_number", "f8"),
        folder.array(f"{prefix}_text", "u8"),
    )


class Properties:
    """The properties of every node, mapped."""

    def __init__(self, folder: Folder, names: Sequence[str], nodes: int) -> None:
        self._nodes = nodes
        self.names = tuple(names)
        self._columns = {name: _column(folder, f"p{number}") for number, name in enumerate(names)}

    def of(self, row: int) -> dict[str, JsonValue]:
        """Return all properties of a node."""
        return dict(self._of(row))

    def _of(self, row: int) -> Iterator[tuple[str, JsonValue]]:
        for name, column in self._columns.items():
            at = int(column.rows.searchsorted(row))
            if at < len(column.rows) and column.rows[at] == row:
                yield name, json.loads(column.values.raw(at))

    def mask(self, conditions: Sequence[Condition]) -> NDArray[np.bool_]:
        """Mark the nodes that meet every condition; a node without the property meets none on it.

        Raises `UnknownProperty`.
        """
        mask = np.ones(self._nodes, np.bool_)
        for condition in conditions:
            meets = np.zeros(self._nodes, np.bool_)
            meets[self._meeting(condition)] = True
            mask &= meets
        return mask

    def _meeting(self, condition: Condition) -> NDArray[np.int32]:
        column = self._columns[self._known(condition.property)]
        number = number_of(condition.value)
        is_same = column.texts == np.uint64(_text_hash(condition.value))
        if not math.isnan(number):
            with np.errstate(invalid="ignore"):
                compared = _COMPARE[condition.comparison](column.numbers, number)
            if condition.comparison == "=":
                compared |= is_same
            elif condition.comparison == "!=":
                compared, is_same = compared & ~is_same, ~compared | is_same
        else:
            compared = is_same
        if condition.comparison == "!=":
            return np.setdiff1d(column.rows, column.entries[is_same]).astype(np.int32)
        return np.asarray(column.entries[compared], np.int32)

    def _known(self, name: str) -> str:
        if name in self.names:
            return name
        folded = {known.casefold(): known for known in self.names}
        if name.casefold() in folded:
            return folded[name.casefold()]
        near = nearest(name, self.names)
        hint = f" Near: {', '.join(near)}." if near else ""
        has = ", ".join(self.names) if self.names else "none"
        raise UnknownProperty(f"No node has a property {name!r}.{hint} In this graph: {has}.", near)


def parse(conditions: Sequence[str]) -> tuple[Condition, ...]:
    """Read conditions such as `year >= 2000`. Raises `BadOption`."""
    return tuple(Condition.parse(text) for text in conditions)
