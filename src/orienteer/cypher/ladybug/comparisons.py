"""Comparisons with their checks: where Cypher finds a text and a number unequal, the engine converts or fails."""

from __future__ import annotations

import re

from orienteer.cypher.kinds import BOOLEAN, Value, ValueKind
from orienteer.errors import BadQuery

_TURNED = {"<": ">", "<=": ">="}
_EXACT = 2**53  # from here on, floats skip whole numbers
_LARGEST = 2.0**63
_LONGEST_EXPRESSION = 300  # characters of a regular expression
_MOST_REPEATS = 1_000  # the limit of RE2, the engine's library
_MISSING = re.compile(r"\(\?(?:[=!>]|<[=!]|P|#|\()|\\[1-9]|[*+?}]\+")  # forms that the engine's expressions lack
_REPEATS = re.compile(r"\{(\d+)(?:,(\d*))?\}")


def compared(operator: str, left: Value, right: Value) -> Value:
    """Return `left operator right`. Raises `BadQuery` for two kinds that can never be compared."""
    check_compared(operator, left, right)
    kind, other = left.kind, right.kind
    if {kind.name, other.name} & {"node", "edge"}:
        return _same(operator, left, right)
    left, right = _exact(operator, left, right), _exact(operator, right, left)
    if operator in _TURNED and {kind.name, other.name} & {"float", ""}:
        # For the engine NaN (the root of -1) is less than any number, though never greater: turn the sign round.
        return Value(f"({right.text} {_TURNED[operator]} {left.text})", BOOLEAN)
    return Value(f"({left.text} {operator} {right.text})", BOOLEAN)


def check_compared(operator: str, left: Value, right: Value) -> None:
    """Raise `BadQuery` for two kinds that can never be compared."""
    kind, other = left.kind, right.kind
    if {kind.name, other.name} & {"node", "edge"}:
        _check_same(operator, kind, other)
        return
    if kind.name and other.name and "null" not in (kind.name, other.name) and not _comparable(kind, other):
        raise BadQuery(_advice(operator, kind, other, right))
    if operator not in ("=", "<>") and (kind.name in ("map", "path", "list") or other.name in ("map", "path", "list")):
        raise BadQuery(f"{kind.shown} has no order: {operator} cannot compare it")


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


def _comparable(kind: ValueKind, other: ValueKind) -> bool:
    """Tell whether values of two kinds can be equal: two numbers, two texts, or two of the same kind."""
    return (kind.is_number and other.is_number) or (kind.is_text and other.is_text) or kind.name == other.name


def _advice(operator: str, kind: ValueKind, other: ValueKind, right: Value) -> str:
    what = f"{operator} compares {kind.shown} with {other.shown}, which is never true"
    if kind.name == "list":
        return f"{what}: write {right.text} IN list"
    if kind.is_text and other.is_number:
        return f"{what}: write the number as a text, '{right.text}', or toInteger() around the text"
    if kind.is_number and other.is_text:
        return f"{what}: write the number without quotes"
    if "date" in (kind.name, other.name):
        return f"{what}: write date() around the text"
    return f"{what}: compare values of one kind"


def _check_same(operator: str, left: ValueKind, right: ValueKind) -> None:
    if operator not in ("=", "<>"):
        raise BadQuery(f"nodes and edges have no order: compare properties, as in a.id {operator} b.id")
    for kind, other in ((left, right), (right, left)):
        if kind.name in ("node", "edge") and other.name not in (kind.name, "", "null"):
            raise BadQuery(f"{operator} compares {kind.shown} with {other.shown}: write .id or .name after the node")


def _same(operator: str, left: Value, right: Value) -> Value:
    if "null" in (left.kind.name, right.kind.name):
        return Value("NULL", BOOLEAN)
    return Value(f"(id({left.text}) {operator} id({right.text}))", BOOLEAN)


def check_expression(pattern: str) -> None:
    """Raise `BadQuery` for a regular expression that the engine cannot read: it would silently match nothing."""
    if len(pattern) > _LONGEST_EXPRESSION:
        raise BadQuery(
            f"a regular expression of {len(pattern)} characters is too long: {_LONGEST_EXPRESSION} are allowed"
        )
    if match := _MISSING.search(pattern):
        raise BadQuery(f"{match[0]!r} in a regular expression is not supported: use AND of several conditions")
    repeats = 1
    for least, most in _REPEATS.findall(pattern):
        repeats *= max(int(least), int(most or 0), 1)
    if repeats > _MOST_REPEATS:
        raise BadQuery(f"a regular expression repeats {repeats} times: {_MOST_REPEATS} are allowed")
    try:
        re.compile(pattern.removeprefix("(?i)").removeprefix("(?s)"))
    except (re.error, RecursionError, OverflowError) as error:
        raise BadQuery(f"{pattern!r} is no regular expression: {error}") from error
