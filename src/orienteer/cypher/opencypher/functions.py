"""Calls of functions as openCypher."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from orienteer.cypher.kinds import (
    BOOLEAN,
    DATE,
    FLOAT,
    INTEGER,
    NULL,
    TEXT,
    UNKNOWN,
    Value,
    ValueKind,
    common,
    list_of,
)
from orienteer.cypher.ladybug.functions import TABLE, check_count, check_kind
from orienteer.errors import BadQuery

_WIDEST_RANGE = 10_000  # numbers of a range(): a bound on the server's memory
_REPLACED = 10  # what replace() may make of a text, in parts of it: it may put a longer one in place of each letter
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CALLED = {
    "tolower": "toLower", "toupper": "toUpper", "ltrim": "lTrim", "rtrim": "rTrim", "tointeger": "toInteger",
    "tofloat": "toFloat", "tostring": "toString", "toboolean": "toBoolean", "isempty": "isEmpty",
}  # fmt: skip


def call(name: str, arguments: Sequence[Value]) -> Value:
    """Return a call of a function on plain values. Raises `BadQuery` for wrong arguments."""
    if name != "coalesce" and any(argument.kind.name == "null" for argument in arguments):
        return Value("null", NULL)
    if name in TABLE:
        function = TABLE[name]
        check_count(name, arguments, function.least, function.most)
        for value, wanted in zip(arguments, function.takes, strict=False):
            check_kind(name, value, wanted)
        gives = arguments[0].kind if name == "abs" else function.gives
        parts = arguments[0].parts * arguments[2].parts if name == "replace" else arguments[0].parts
        return Value(_called(name, arguments), gives, parts=parts * (_REPLACED if name == "replace" else 1))
    return _OTHERS[name](name, arguments)._replace(parts=max(argument.parts for argument in arguments))


def _called(name: str, arguments: Sequence[Value]) -> str:
    return f"{_CALLED.get(name, name)}({', '.join(argument.text for argument in arguments)})"


def _gives(least: int, most: int, takes: str, kind: ValueKind | None) -> Callable[[str, Sequence[Value]], Value]:
    """Return the writer of a call whose first argument is of a kind; without `kind` it gives that argument's."""

    def write(name: str, arguments: Sequence[Value]) -> Value:
        check_count(_CALLED.get(name, name), arguments, least, most)
        check_kind(f"{_CALLED.get(name, name)}()", arguments[0], takes)
        return Value(_called(name, arguments), arguments[0].kind if kind is None else kind)

    return write


def _item(name: str, arguments: Sequence[Value]) -> Value:
    """Write head() and last()."""
    check_count(name, arguments, 1, 1)
    check_kind(name, arguments[0], "list")
    return Value(_called(name, arguments), arguments[0].kind.item or UNKNOWN)


def _to_integer(name: str, arguments: Sequence[Value]) -> Value:
    """Write toInteger() of a number or a text."""
    check_count("toInteger", arguments, 1, 1)
    if not arguments[0].kind.is_number:
        check_kind("toInteger", arguments[0], "text")
    return Value(_called(name, arguments), INTEGER)


def _to_float(name: str, arguments: Sequence[Value]) -> Value:
    """Write toFloat() of a number or a text."""
    check_count("toFloat", arguments, 1, 1)
    if not arguments[0].kind.is_number:
        check_kind("toFloat", arguments[0], "text")
    return Value(_called(name, arguments), FLOAT)


def _to_boolean(name: str, arguments: Sequence[Value]) -> Value:
    """Write toBoolean() of a text or of what is true or false already."""
    check_count("toBoolean", arguments, 1, 1)
    if arguments[0].kind.name == "boolean":
        return arguments[0]
    check_kind("toBoolean", arguments[0], "text")
    return Value(_called(name, arguments), BOOLEAN)


def _coalesce(name: str, arguments: Sequence[Value]) -> Value:
    check_count("coalesce", arguments, 1, 20)
    kind = common([argument.kind for argument in arguments], "coalesce()")
    return Value(_called(name, arguments), kind)


def _range(name: str, arguments: Sequence[Value]) -> Value:
    """Write range() of known numbers. Raises `BadQuery` for others: it would fill the server's memory."""
    check_count("range", arguments, 2, 3)
    bounds = [argument.known for argument in (*arguments, Value("1", INTEGER, 1))[:3]]
    if not all(type(bound) is int for bound in bounds):
        raise BadQuery("range() takes whole numbers as they are, as in range(0, 10)")
    begin, end, step = (int(bound or 0) for bound in bounds)
    if not step:
        raise BadQuery("range() goes in steps of 1 or more, or of -1 or less, not of 0")
    if abs(end - begin) > _WIDEST_RANGE * abs(step):
        raise BadQuery(f"range({begin}, {end}, {step}) is too long: {_WIDEST_RANGE:,} numbers are allowed")
    return Value(f"range({begin}, {end}, {step})", list_of(INTEGER))


def _date(name: str, arguments: Sequence[Value]) -> Value:
    check_count("date", arguments, 1, 1)
    text, kind = arguments[0].text, arguments[0].kind
    if kind.name == "date":
        return arguments[0]
    check_kind("date", arguments[0], "text")
    literal = arguments[0].known
    if isinstance(literal, str):
        if not _DATE.fullmatch(literal):
            raise BadQuery(f"date() takes a year, a month and a day, as in '2001-12-31', not {literal[:40]!r}")
        return Value(f"date({text})", DATE)
    return Value(f"CASE WHEN {text} =~ '{_DATE.pattern}' THEN date({text}) END", DATE)


def _size(name: str, arguments: Sequence[Value]) -> Value:
    check_count("size", arguments, 1, 1)
    if arguments[0].kind.name not in ("list", "text", "", "null", "node type", "edge type"):
        raise BadQuery(f"size() takes a list or a text, not {arguments[0].kind.shown}; of a pattern: COUNT {{ ... }}")
    return Value(_called(name, arguments), INTEGER)


def _is_empty(name: str, arguments: Sequence[Value]) -> Value:
    """Write isEmpty() as a comparison of the size: older servers have no such function."""
    return Value(f"({_size('size', arguments).text} = 0)", BOOLEAN)


def _reverse(name: str, arguments: Sequence[Value]) -> Value:
    check_count("reverse", arguments, 1, 1)
    if arguments[0].kind.name != "list":
        check_kind("reverse", arguments[0], "text")
    return Value(_called(name, arguments), arguments[0].kind)


_OTHERS: Mapping[str, Callable[[str, Sequence[Value]], Value]] = {
    "round": _gives(1, 2, "number", FLOAT),
    "tointeger": _to_integer,
    "tofloat": _to_float,
    "tostring": _gives(1, 1, "", TEXT),
    "toboolean": _to_boolean,
    "coalesce": _coalesce,
    "range": _range,
    "date": _date,
    "size": _size,
    "isempty": _is_empty,
    "reverse": _reverse,
    "head": _item,
    "last": _item,
    "tail": _gives(1, 1, "list", None),
}
