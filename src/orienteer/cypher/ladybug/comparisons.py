"""Comparisons in forms that the engine answers rightly."""

from __future__ import annotations

from orienteer.cypher.checks import check_compared
from orienteer.cypher.kinds import BOOLEAN, Value, ValueKind, quoted, repeated
from orienteer.errors import BadQuery

_TURNED = {"<": ">", "<=": ">="}
_EXACT = 2**53  # from here on, floats skip whole numbers
_LARGEST = 2.0**63


def compared(operator: str, left: Value, right: Value) -> Value:
    """Return `left operator right`. Raises `BadQuery` for two kinds that can never be compared."""
    check_compared(operator, left, right)
    kind, other = left.kind, right.kind
    if {kind.name, other.name} & {"node", "edge"}:
        return _same(operator, left, right)
    if "map" in (kind.name, other.name) and "null" not in (kind.name, other.name):
        return _entries_compared(operator, left, right)
    if _may_hold_null(kind) or _may_hold_null(other):
        raise BadQuery(f"{operator} compares lists with something in them that may be null: compare their items")
    left, right = _exact(operator, left, right), _exact(operator, right, left)
    if operator in _TURNED and {kind.name, other.name} & {"float", ""}:
        # For the engine NaN (the root of -1) is less than any number, though never greater: turn the sign round.
        return Value(f"({right.text} {_TURNED[operator]} {left.text})", BOOLEAN)
    return Value(f"({left.text} {operator} {right.text})", BOOLEAN)


def _entries_compared(operator: str, left: Value, right: Value) -> Value:
    """Compare maps key by key: for the engine null is equal to null in them, and their order counts.

    Raises `BadQuery` for keys that differ, or are not known.
    """
    entries, others = left.kind.entries, right.kind.entries
    if entries is None or others is None or dict(entries).keys() != dict(others).keys():
        raise BadQuery(
            f"{operator} compares maps that may have different keys: compare their values, as in a.key = b.key"
        )
    repeated(operator, left, right)
    kinds = dict(others)
    same = [
        compared("=", Value(f"({left.text}).{quoted(key)}", kind), Value(f"({right.text}).{quoted(key)}", kinds[key]))
        for key, kind in entries
    ]
    text = f"({' AND '.join(value.text for value in same)})"
    return Value(text if operator == "=" else f"(NOT {text})", BOOLEAN)


def _may_hold_null(kind: ValueKind) -> bool:
    """Return whether a list may hold null, at any depth: the engine takes null for equal to null there."""
    return kind.may_hold_null or (kind.item is not None and (kind.item.name == "map" or _may_hold_null(kind.item)))


def _exact(operator: str, value: Value, other: Value) -> Value:
    """Return a value in a form that the engine compares exactly; it compares a whole number and a float as floats.

    Raises `BadQuery` for a whole number that may have no equal float.
    """
    number = value.known
    if not isinstance(number, int | float) or abs(number) < _EXACT:
        return value
    if {value.kind.name, other.kind.name} != {"integer", "float"}:
        return value
    if value.kind.name == "integer":
        raise BadQuery(
            f"{operator} compares {number} with a number with decimals, which is not exact from {_EXACT} on: "
            "write toInteger() around the other"
        )
    return value._replace(text=f"cast({value.text}, 'INT64')") if abs(number) < _LARGEST else value


def _same(operator: str, left: Value, right: Value) -> Value:
    if "null" in (left.kind.name, right.kind.name):
        return Value("NULL", BOOLEAN)
    return Value(f"(id({left.text}) {operator} id({right.text}))", BOOLEAN)
