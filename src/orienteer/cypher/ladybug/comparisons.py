"""Comparisons, checked: the engine converts a text to a number or fails, where Cypher finds them unequal."""

from __future__ import annotations

import re

from orienteer.cypher.ladybug.kinds import BOOLEAN, Kind, Value
from orienteer.errors import BadQuery

_TURNED = {"<": ">", "<=": ">="}
_EXACT = 2**53  # from here on floats do not hold every whole number
_LARGEST = 2.0**63
_LONGEST_EXPRESSION = 300  # characters of a regular expression
_MOST_REPEATS = 1_000
_MISSING = re.compile(r"\(\?(?:[=!>]|<[=!]|P|#|\()|\\[1-9]|[*+?}]\+")  # what the engine's expressions do not know
_REPEATS = re.compile(r"\{(\d+)(?:,(\d*))?\}")


def compared(operator: str, left: Value, right: Value) -> Value:
    """Return `left operator right`. Raises `BadQuery` where both can never be compared."""
    one, other = left.kind, right.kind
    if {one.name, other.name} & {"node", "edge"}:
        return _same(operator, left, right)
    if one.name and other.name and "null" not in (one.name, other.name) and not _comparable(one, other):
        raise BadQuery(_advice(operator, one, other, right))
    if operator not in ("=", "<>") and (one.name in ("map", "path", "list") or other.name in ("map", "path", "list")):
        raise BadQuery(f"{one.shown} has no order: {operator} cannot compare it")
    left, right = _exact(operator, left, right), _exact(operator, right, left)
    if operator in _TURNED and {one.name, other.name} & {"float", ""}:
        # To the engine what is no number (the root of -1) is less than any other; it is not greater than any.
        return Value(f"({right.text} {_TURNED[operator]} {left.text})", BOOLEAN)
    return Value(f"({left.text} {operator} {right.text})", BOOLEAN)


def _exact(operator: str, value: Value, other: Value) -> Value:
    """Return a value as the engine compares it exactly with another: it makes floats of whole numbers.

    Raises `BadQuery` for a whole number that no float is equal to.
    """
    known = value.known
    if not isinstance(known, int | float) or abs(known) < _EXACT:
        return value
    if {value.kind.name, other.kind.name} != {"integer", "float"}:
        return value
    if value.kind.name == "integer":
        raise BadQuery(
            f"{operator} compares {known} with a number with decimals, which is not exact from {_EXACT} on: "
            "write toInteger() around the other"
        )
    return value._replace(text=f"cast({value.text}, 'INT64')") if abs(known) < _LARGEST else value


def _comparable(one: Kind, other: Kind) -> bool:
    return (one.is_number and other.is_number) or (one.is_text and other.is_text) or one.name == other.name


def _advice(operator: str, one: Kind, other: Kind, right: Value) -> str:
    what = f"{operator} compares {one.shown} with {other.shown}, which is never true"
    if one.name == "list":
        return f"{what}: write {right.text} IN list"
    if one.is_text and other.is_number:
        return f"{what}: write the number as a text, '{right.text}', or toInteger() around the text"
    if one.is_number and other.is_text:
        return f"{what}: write the number without quotes"
    if "date" in (one.name, other.name):
        return f"{what}: write date() around the text"
    return f"{what}: compare values of one kind"


def _same(operator: str, left: Value, right: Value) -> Value:
    if operator not in ("=", "<>"):
        raise BadQuery(f"nodes and edges have no order: compare properties, as in a.id {operator} b.id")
    for one, other in ((left.kind, right.kind), (right.kind, left.kind)):
        if one.name in ("node", "edge") and other.name not in (one.name, "", "null"):
            raise BadQuery(f"{operator} compares {one.shown} with {other.shown}: write .id or .name after the node")
    if "null" in (left.kind.name, right.kind.name):
        return Value("NULL", BOOLEAN)
    return Value(f"(id({left.text}) {operator} id({right.text}))", BOOLEAN)


def check_expression(pattern: str) -> None:
    """Raise `BadQuery` for a regular expression that the engine would take for one that fits nothing."""
    if len(pattern) > _LONGEST_EXPRESSION:
        raise BadQuery(
            f"a regular expression of {len(pattern)} characters is too long: {_LONGEST_EXPRESSION} are allowed"
        )
    if found := _MISSING.search(pattern):
        raise BadQuery(f"{found[0]!r} in a regular expression is not supported: use AND of several conditions")
    repeats = 1
    for least, most in _REPEATS.findall(pattern):
        repeats *= max(int(least), int(most or 0), 1)
    if repeats > _MOST_REPEATS:
        raise BadQuery(f"a regular expression repeats {repeats} times: {_MOST_REPEATS} are allowed")
    try:
        re.compile(pattern.removeprefix("(?i)").removeprefix("(?s)"))
    except (re.error, RecursionError, OverflowError) as error:
        raise BadQuery(f"{pattern!r} is no regular expression: {error}") from error
