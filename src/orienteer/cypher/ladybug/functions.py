"""Calls of functions, each written in forms that the engine answers rightly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from orienteer.cypher.checks import check_place
from orienteer.cypher.functions import DATE_FORM, kind_of_call, range_of
from orienteer.cypher.kinds import INTEGER, NULL, TEXT, UNKNOWN, Value, constant, rendered, repeated
from orienteer.cypher.ladybug import texts
from orienteer.errors import BadQuery

LAST = 2**31 - 1  # a place beyond the end of any list
_WHOLE = r"^\s*\+?(-?[0-9]+)(?:\.[0-9]*)?\s*$"  # the engine's cast takes no plus sign and no decimals
_NOT_WHOLE = r"^\s*\+?(-?(?:\.[0-9]+|[0-9]+\.?[0-9]*[eE][+-]?[0-9]+|\.[0-9]+[eE][+-]?[0-9]+))\s*$"
_FLOAT = r"^\s*\+?(-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*$"
_DATE = f"^{DATE_FORM}$"
_MOST_DECIMALS = 15  # of round(): a float has no more exact ones
_EXACT = 2**52  # from here on, a float has no decimals


def call(name: str, arguments: Sequence[Value]) -> Value:
    """Return a call of a function on plain values. Raises `BadQuery` for wrong arguments."""
    kind = kind_of_call(name, arguments)
    if kind == NULL:
        return constant(None)  # a null crashes some of the engine's functions
    written = _WRITERS[name](*arguments)
    return written if isinstance(written, Value) else Value(written, kind)


def _plain(form: str) -> Callable[..., str]:
    return lambda *arguments: form.format(*(argument.text for argument in arguments))


def _truncated(number: str) -> str:
    return f"cast({number} - {number} % 1.0, 'INT64')"


def _number(text: str, pattern: str) -> str:
    return f"cast({texts.matching(text, pattern, 1)}, 'DOUBLE')"


def _round(number: Value, decimals: Value | None = None) -> str:
    repeated("round()", number)
    text = f"cast({number.text}, 'DOUBLE')"
    if decimals is None:
        return f"(floor({text}) + CASE WHEN {text} - floor({text}) >= 0.5 THEN 1.0 ELSE 0.0 END)"
    places = decimals.known
    if type(places) is not int or not 0 <= places <= _MOST_DECIMALS:
        raise BadQuery(f"round(x, n) takes a whole number of decimals from 0 to {_MOST_DECIMALS}, as in round(x, 2)")
    small = rendered(_EXACT / 10**places)
    return f"CASE WHEN abs({text}) < {small} THEN round({text}, {places}) ELSE {text} END"


def _to_integer(value: Value) -> Value | str:
    if value.kind == INTEGER:
        return value
    repeated("toInteger()", value)
    if value.kind.name == "float":
        return _truncated(value.text)
    text = f"cast({value.text}, 'STRING')"
    whole = f"cast({texts.matching(text, _WHOLE, 1)}, 'INT64')"
    number = f"coalesce({whole}, {_truncated(_number(text, _NOT_WHOLE))})"
    return f"cast({number}, 'INT64')"  # the null of a constant would be a text


def _to_float(value: Value) -> str:
    if value.kind.is_number:
        return f"cast({value.text}, 'DOUBLE')"
    return _number(f"cast({value.text}, 'STRING')", _FLOAT)


def _to_string(value: Value) -> str:
    if value.kind.is_text:
        return value.text
    if value.kind.name in ("integer", "date"):
        return f"cast({value.text}, 'STRING')"
    if value.kind.name == "boolean":
        return f"lower(cast({value.text}, 'STRING'))"
    raise BadQuery(
        f"toString() of {value.kind.description} that may have decimals loses some of them: compare the number, "
        "or write toString(toInteger(...))"
    )


def _to_boolean(value: Value) -> Value | str:
    if value.kind.name == "boolean":
        return value
    return f"CASE lower({texts.trim(value.text)}) WHEN 'true' THEN true WHEN 'false' THEN false END"


def _coalesce(*arguments: Value) -> str:
    """Write coalesce() without literal nulls."""
    return f"coalesce({', '.join(argument.text for argument in arguments if argument.kind.name != 'null')})"


def _date(value: Value) -> Value | str:
    return value if value.kind.name == "date" else f"date({texts.matching(value.text, _DATE)})"


def _size(value: Value) -> str:
    return texts.size(value.text) if value.kind.is_text else f"size({value.text})"


def _is_empty(value: Value) -> str:
    return texts.is_empty(value.text) if value.kind.is_text else f"({_size(value)} = 0)"


def _reverse(value: Value) -> Value | str:
    """Write reverse() of a list, or of what is taken for a text."""
    if value.kind.name == "list":
        return f"list_reverse({value.text})"
    return Value(texts.reverse(value.text), TEXT)


def item(source: Value, at: Value) -> Value:
    """Return the item of a list at a place: from 0, negative ones from the end, null outside the list."""
    check_place(source, at)
    if type(at.known) is int:
        place = str(at.known + (at.known >= 0))
    else:
        repeated("a place in a list", at)
        place = f"({at.text}) + CASE WHEN ({at.text}) >= 0 THEN 1 ELSE 0 END"
    return Value(_first(f"list_slice({source.text}, {place}, {place})"), source.kind.item or UNKNOWN)


def _first(items: str, place: int = 1) -> str:
    # The engine fails on an item of an empty list, but not on one of null.
    return f"list_extract(nullif({items}, []), {place})"


_WRITERS: Mapping[str, Callable[..., Value | str]] = {
    "tolower": _plain("lower({})"),
    "toupper": _plain("upper({})"),
    "trim": lambda text: texts.trim(text.text),
    "ltrim": lambda text: texts.ltrim(text.text),
    "rtrim": lambda text: texts.rtrim(text.text),
    "replace": texts.replace,
    "substring": texts.substring,
    "left": texts.left,
    "right": texts.right,
    "split": texts.split,
    "abs": _plain("abs({})"),
    "ceil": _plain("ceil(cast({}, 'DOUBLE'))"),
    "floor": _plain("floor(cast({}, 'DOUBLE'))"),
    "sign": _plain("cast(sign({} + 0), 'INT64')"),  # it takes -0.0 for -1
    "sqrt": _plain("sqrt(cast({}, 'DOUBLE'))"),
    "log": _plain("ln(cast({}, 'DOUBLE'))"),
    "log10": _plain("log10(cast({}, 'DOUBLE'))"),
    "round": _round,
    "tointeger": _to_integer,
    "tofloat": _to_float,
    "tostring": _to_string,
    "toboolean": _to_boolean,
    "coalesce": _coalesce,
    "range": lambda *bounds: "range({}, {}, {})".format(*range_of(bounds)),
    "date": _date,
    "size": _size,
    "isempty": _is_empty,
    "reverse": _reverse,
    "head": lambda items: _first(items.text),
    "last": lambda items: _first(items.text, -1),
    "tail": _plain(f"list_slice({{}}, 2, {LAST})"),
}
"""How a call is written, or the value where it is not of the kind that is usual."""
