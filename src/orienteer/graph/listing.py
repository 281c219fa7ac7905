"""Lists nodes by type and property: their number, a page of them in order, or the number with each value.

All of it is exact: conditions, order and counts come from the arrays of the whole graph.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.elements import JsonValue, Node
from orienteer.errors import BadOption
from orienteer.graph.arrays import GraphArrays
from orienteer.graph.properties import number_of
from orienteer.index.arrays import Rows, decode
from orienteer.text.sentences import value_text

OWN = ("name", "id", "type", "degree")
"""Fields of every node, unless a property has the name; `degree` counts the ends of its edges."""
COUNT = "count"
"""The key to sort groups by their size."""

_NUMERIC = frozenset("+-.0123456789 ")  # what a number or a date begins with


@dataclass(frozen=True, slots=True)
class ListedGroup:
    """A value of a field with the number of its nodes."""

    value: JsonValue
    """None for the nodes without one."""
    count: int


class NodeListing(NamedTuple):
    """The nodes that pass the filters: their number, and a page of them or of their groups."""

    total: int
    """Nodes that pass the filters."""
    offset: int
    hits: tuple[Node, ...]
    """The nodes of the page; empty if they are grouped."""
    groups: tuple[ListedGroup, ...] = ()
    """The groups of the page; empty unless the nodes are grouped."""
    missing: int = 0
    """Nodes without the field that they are sorted or grouped by; they come last."""
    distinct: int = 0
    """All groups, that of the missing value included."""


class _Order(NamedTuple):
    rows: Rows
    """(n,): in their order, those without the field last."""
    missing: int


def matching(arrays: GraphArrays, node_types: Collection[str] | None, where: Sequence[str]) -> Rows:
    """Return the rows that pass the filters, ascending. Raises `UnknownType`, `UnknownProperty`, `BadOption`."""
    mask = arrays.mask(node_types, where)
    return np.arange(len(arrays), dtype=np.int32) if mask is None else np.flatnonzero(mask).astype(np.int32)


def ordered(arrays: GraphArrays, rows: Rows, sort: str | None, *, descending: bool = False) -> _Order:
    """Return ascending rows in the order of a field: numbers and dates first, then texts, then missing values.

    Ties are broken by id; without a field, rows are in the order of their ids. A list counts as its smallest number,
    or its largest if the order descends. Raises `UnknownProperty` with near names.
    """
    if sort is None:
        return _Order(rows[::-1] if descending else rows, 0)
    field = arrays.properties.spelling_of(sort, OWN)
    if field in arrays.properties.names:
        numbers = arrays.properties.extremes(field, rows, largest=descending)
        ranks = np.full(len(rows), -1)
        ranks[np.isnan(numbers)] = _text_ranks(arrays, field, rows[np.isnan(numbers)], largest=descending)
    elif field == "degree":
        numbers, ranks = arrays.adjacency.degree(rows).astype(np.float64), np.full(len(rows), -1)
    else:
        texts = [str(value).casefold() for value in _field_values(arrays, field, rows)]
        numbers, ranks = np.full(len(rows), np.nan), np.unique(np.array(texts, np.object_), return_inverse=True)[1]
    with_number, with_text = np.flatnonzero(~np.isnan(numbers)), np.flatnonzero(ranks >= 0)
    sign = -1 if descending else 1
    first = np.concatenate(
        [
            with_number[np.argsort(sign * numbers[with_number], kind="stable")],
            with_text[np.argsort(sign * ranks[with_text], kind="stable")],
        ]
    )
    missing = np.setdiff1d(np.arange(len(rows)), first)
    return _Order(rows[np.concatenate([first, missing])], len(missing))


def _text_ranks(arrays: GraphArrays, name: str, rows: Rows, *, largest: bool) -> NDArray[np.int64]:
    """Return the rank of each row's text among all texts of a property: (rows,), -1 for none."""
    owners, encoded = arrays.properties.column(name)
    at = np.flatnonzero(np.isin(owners, rows, assume_unique=True))
    own = [encoded[place] for place in at.tolist()]
    texts = {value: _text(json.loads(value), largest=largest) for value in set(own)}
    rank_of = {text: rank for rank, text in enumerate(sorted({text for text in texts.values() if text is not None}))}
    ranks = np.full(len(rows), -1, np.int64)
    ranks[rows.searchsorted(owners[at])] = [-1 if (text := texts[value]) is None else rank_of[text] for value in own]
    return ranks


def grouped(
    arrays: GraphArrays, rows: Rows, field: str, *, sort: str | None = None, descending: bool = False
) -> tuple[ListedGroup, ...]:
    """Count rows by the value of a field, the largest group first, and rows without a value last.

    `sort` orders the groups by `count` or by the value of the field, ascending unless `descending`. A node with a list
    is in the group of each member. Raises `UnknownProperty` with near names, `BadOption`.
    """
    name = arrays.properties.spelling_of(field, OWN)
    if sort is not None and sort.casefold() not in (COUNT, name.casefold()):
        raise BadOption(f"groups cannot be sorted by {sort!r}: sort them by {COUNT} or by {name}")
    is_by_count = sort is None or sort.casefold() == COUNT != name.casefold()
    missing = 0
    if name in arrays.properties.names:
        owners, encoded = arrays.properties.column(name)
        there = np.isin(owners, rows, assume_unique=True)
        missing = len(rows) - int(there.sum())
        by_text = Counter(value for value, is_in in zip(encoded, there.tolist(), strict=True) if is_in)
        counts = [(json.loads(text), count) for text, count in by_text.items()]
    else:
        counts = list(Counter(_field_values(arrays, name, rows)).items())
    groups = _groups(counts, missing)
    groups.sort(key=lambda group: _place(group.value), reverse=descending and not is_by_count)
    if is_by_count:
        groups.sort(key=lambda group: group.count, reverse=descending or sort is None)
    groups.sort(key=lambda group: group.value is None)
    return tuple(groups)


def _groups(counts: Iterable[tuple[JsonValue, int]], missing: int = 0) -> list[ListedGroup]:
    """Return a group for each value, or for each member of a list, and one for missing values."""
    sizes: Counter[tuple[bool, JsonValue]] = Counter()
    for value, count in counts:
        for member in dict.fromkeys(map(_key, value)) if isinstance(value, list) else (_key(value),):
            sizes[member] += count * (member[1] is not None)
        missing += count * (_text(value) is None)
    groups = [ListedGroup(value, size) for (_, value), size in sizes.items() if size]
    return [*groups, *([ListedGroup(None, missing)] if missing else [])]


def _field_values(arrays: GraphArrays, field: str, rows: Rows) -> list[JsonValue]:
    """Return a field that every node has, in the order of the rows."""
    if field == "degree":
        return list(arrays.adjacency.degree(rows).tolist())
    if field == "type":
        return [arrays.types.nodes[number] for number in arrays.node_types[rows].tolist()]
    texts = arrays.names if field == "name" else arrays.ids
    return [decode(text) for text in texts.take(rows.astype(np.int64))]


def _text(value: JsonValue, *, largest: bool = False) -> str | None:
    """Return the text that a value is sorted by, of a list the first or the last one; None if all is null."""
    members = value if isinstance(value, list) else [value]
    texts = [value_text(member).casefold() for member in members if member is not None]
    return (max if largest else min)(texts, default=None)


def _key(value: JsonValue) -> tuple[bool, JsonValue]:
    """Return a value as a key: `true` differs from 1, and a container is represented by its JSON."""
    is_plain = value is None or isinstance(value, bool | int | float | str)
    return isinstance(value, bool), value if is_plain else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _place(value: JsonValue) -> tuple[bool, float, str, str]:
    """Return the sort key of a value: numbers and dates by size, then texts."""
    text = value_text(value)
    number = number_of(value) if text[:1] in _NUMERIC else math.nan
    return (True, 0.0, text.casefold(), text) if math.isnan(number) else (False, number, text.casefold(), text)
