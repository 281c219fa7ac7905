"""Kinds of values, if they are known before the query runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from orienteer.errors import BadQuery
from orienteer.query.temporal import KINDS as TEMPORAL


@dataclass(frozen=True, slots=True)
class ValueKind:
    """A kind of value; the name is empty if nothing is known."""

    name: str = ""
    """text, integer, float, boolean, date and so on, duration, map, list, node, edge, path, a type's, null."""
    types: frozenset[str] = frozenset()
    """The possible types of a node or an edge."""
    item: ValueKind | None = None
    """The kind of a list's items."""
    deep: int = 0
    """Levels of nested lists and maps."""
    entries: tuple[tuple[str, ValueKind], ...] | None = None
    """The keys of a map with the kinds of their values; None if they are not known."""

    @property
    def is_number(self) -> bool:
        """Whether values are known to be numbers."""
        return self.name in ("integer", "float")

    @property
    def is_text(self) -> bool:
        """Whether values are known to be texts."""
        return self.name in ("text", "node type", "edge type")

    @property
    def is_temporal(self) -> bool:
        """Whether values are known to be dates, times or durations."""
        return self.name in TEMPORAL

    @property
    def description(self) -> str:
        """The kind for an error message."""
        return {"integer": "a number", "float": "a number", "boolean": "true or false", "edge": "an edge"}.get(
            self.name, f"a {self.name}" if self.name else "a value"
        )


UNKNOWN = ValueKind()
NULL = ValueKind("null")
TEXT, INTEGER, FLOAT = ValueKind("text"), ValueKind("integer"), ValueKind("float")
BOOLEAN, DATE, DURATION = ValueKind("boolean"), ValueKind("date"), ValueKind("duration")
KINDS = {bool: BOOLEAN, int: INTEGER, float: FLOAT, str: TEXT, type(None): NULL}
"""The kinds of single values."""


class Value(NamedTuple):
    """An expression in the engine's text, with its kind."""

    text: str
    kind: ValueKind = UNKNOWN
    known: None | bool | int | float | str = None
    """The value itself, for a literal or a parameter that is not a list."""
    parts: int = 1
    """The number of texts or lists joined in it, counted only for a server, whose memory we cannot limit."""


_MOST_NESTED = 24  # as in one statement; WITH after WITH could nest hundreds, which breaks JSON parsers


def kind_of_entry(kind: ValueKind, key: str) -> ValueKind:
    """Return the kind of an entry of a map, null without one. Raises `BadQuery` for a value without entries."""
    if kind.name not in ("map", ""):
        hint = ": name one of them, as in list[0].name" if kind.name == "list" else ""
        raise BadQuery(f"{kind.description} has no property {key!r}{hint}")
    if kind.entries is None:
        return ValueKind(deep=max(kind.deep - 1, 0))
    return dict(kind.entries).get(key, NULL)


def list_of(item: ValueKind) -> ValueKind:
    """Return the kind of a list. Raises `BadQuery` for too deep a nesting."""
    return ValueKind("list", item=item, deep=_deeper(item.deep))


def map_of(entries: Iterable[tuple[str, ValueKind]]) -> ValueKind:
    """Return the kind of a map. Raises `BadQuery` for too deep a nesting."""
    entries = tuple(sorted(entries, key=lambda entry: entry[0]))
    return ValueKind("map", deep=_deeper(max((kind.deep for _, kind in entries), default=0)), entries=entries)


def _deeper(deep: int) -> int:
    if deep >= _MOST_NESTED:
        raise BadQuery(f"lists and maps are nested more than {_MOST_NESTED} deep: take them apart with UNWIND")
    return deep + 1


def common(kinds: list[ValueKind], where: str) -> ValueKind:
    """Return the common kind of several values. Raises `BadQuery` if they have none."""
    definite = [kind for kind in kinds if kind.name not in ("", "null")]
    if not definite:
        return UNKNOWN
    if all(kind.is_number for kind in definite):
        return FLOAT if any(kind.name == "float" for kind in definite) else INTEGER
    if all(kind.is_text for kind in definite):
        return TEXT
    if len({kind.name for kind in definite}) > 1:
        shown = " and ".join(dict.fromkeys(kind.description for kind in definite))
        raise BadQuery(f"{where} mixes {shown}: return them apart, or make all texts with toString()")
    types = frozenset[str]().union(*(kind.types for kind in definite))
    items = [kind.item for kind in definite if kind.item is not None]
    # Maps have known entries only if all have the same keys.
    first, *others = ({} if kind.entries is None else dict(kind.entries) for kind in definite)
    entries: tuple[tuple[str, ValueKind], ...] | None = None
    if first and all(other.keys() == first.keys() for other in others):
        entries = tuple((key, common([kind, *(other[key] for other in others)], where)) for key, kind in first.items())
    return ValueKind(
        definite[0].name,
        types,
        common(items, where) if items else None,
        max(kind.deep for kind in definite),
        entries,
    )


def common_or_unknown(kinds: list[ValueKind]) -> ValueKind:
    """Return the common kind of several values; nothing is known of values of several kinds."""
    try:
        return common(kinds, "")
    except BadQuery:
        return ValueKind(deep=max(kind.deep for kind in kinds))


def rendered(value: None | bool | int | float | str) -> str:
    """Return a constant in the engine's text."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r") + "'"
    if isinstance(value, float):
        text = repr(value)
        if text in ("inf", "-inf", "nan"):
            raise BadQuery(f"the number {value} is not finite")
        text = text.replace("e+", "e")  # the engine reads no plus sign there
        return text if text[0] != "-" else f"({text})"
    return f"({value})" if value < 0 else str(value)


def constant(value: None | bool | int | float | str) -> Value:
    """Return a constant with its kind."""
    return Value(rendered(value), KINDS[type(value)], value)


def quoted(name: str) -> str:
    """Return a name in backticks."""
    return "`" + name.replace("`", "``") + "`"
