"""Calls of functions as openCypher."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from orienteer.cypher.functions import DATE_FORM, SPELLED, kind_of_call, range_of
from orienteer.cypher.kinds import NULL, Value, constant

_REPLACED = 10  # what replace() may make of a text, in parts of it: it may put a longer one in place of each letter
_CALLED = {**SPELLED, "tolower": "toLower", "toupper": "toUpper", "ltrim": "lTrim", "rtrim": "rTrim"}


def call(name: str, arguments: Sequence[Value]) -> Value:
    """Return a call of a function on plain values. Raises `BadQuery` for wrong arguments."""
    kind = kind_of_call(name, arguments)
    if kind == NULL:
        return constant(None)
    if name in ("date", "toboolean") and arguments[0].kind == kind:
        return arguments[0]
    parts = max(argument.parts for argument in arguments)
    if name == "replace":
        parts = arguments[0].parts * arguments[2].parts * _REPLACED
    if name in _OTHERS:
        return Value(_OTHERS[name](*arguments), kind, parts=parts)
    return Value(f"{_CALLED.get(name, name)}({', '.join(argument.text for argument in arguments)})", kind, parts=parts)


def _date(value: Value) -> str:
    """Write date() of a text, null for one that is no date: servers fail then."""
    if value.known is not None:
        return f"date({value.text})"
    return f"CASE WHEN {value.text} =~ '{DATE_FORM}' THEN date({value.text}) END"


_OTHERS: Mapping[str, Callable[..., str]] = {
    "range": lambda *bounds: "range({}, {}, {})".format(*range_of(bounds)),
    "date": _date,
    "isempty": lambda value: f"(size({value.text}) = 0)",  # older servers have no such function
}
"""Calls with another form than `name(arguments)`."""
