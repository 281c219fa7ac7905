"""Checks of the values in an expression by their kinds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orienteer.cypher.kinds import FLOAT, NULL, UNKNOWN, Value, ValueKind, common
from orienteer.errors import BadQuery


def matches_kind(kind: ValueKind, wanted: str) -> bool:
    """Return whether a kind is `wanted`: `text`, `number` or a kind's name."""
    return kind.is_text if wanted == "text" else kind.is_number if wanted == "number" else kind.name == wanted


def check_count(name: str, arguments: Sequence[object], least: int, most: int) -> None:
    """Raise `BadQuery` for too few or too many arguments."""
    if not least <= len(arguments) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise BadQuery(f"{name}() takes {wanted} arguments, not {len(arguments)}")


def check_kind(what: str, value: Value, wanted: str) -> None:
    """Raise `BadQuery` for a value that is known to be of another kind than `text`, `number` and so on."""
    kind = value.kind
    if kind.name in ("", "null"):
        return
    if not matches_kind(kind, wanted):
        hint = ": write toString() around it" if wanted == "text" and kind.is_number else ""
        hint = ": write x IN list, or any(x IN list WHERE x = ...)" if kind.name == "list" else hint
        raise BadQuery(f"{what} takes {'an' if wanted == 'edge' else 'a'} {wanted}, not {kind.description}{hint}")


def check_graph_kind(what: str, value: Value, wanted: str) -> None:
    """Raise `BadQuery` unless a value is known to be a node, an edge or a path."""
    if value.kind.name != wanted:
        raise BadQuery(
            f"{what} takes {'an' if wanted == 'edge' else 'a'} {wanted} of a pattern, not {value.kind.description}"
        )


def condition_of(value: Value) -> str:
    """Return the text of a condition. Raises `BadQuery` for a value that cannot be true or false."""
    if value.kind.name not in ("boolean", "", "null"):
        raise BadQuery(f"{value.kind.description} is not a condition: compare it with something")
    return value.text


def kind_of_calculation(operator: str, left: Value, right: Value) -> ValueKind:
    """Return the kind of `left operator right` for numbers or two lists. Raises `BadQuery` for other values."""
    kinds = [left.kind, right.kind]
    if any(kind.name == "null" for kind in kinds):
        return NULL
    if operator == "+" and any(kind.name == "list" for kind in kinds):
        if not all(kind.name in ("list", "") for kind in kinds):
            raise BadQuery("a list and a value are added as list + [value]")
        return common(kinds, "a list")
    for value in (left, right):
        check_kind(operator, value, "number")
    if operator == "^":
        return FLOAT
    return common(kinds, operator) if all(kind.is_number for kind in kinds) else UNKNOWN


# Comparisons.

_LONGEST_EXPRESSION = 300  # characters of a regular expression
_MOST_REPEATS = 1_000
# Forms that servers lack, or that go back without end.
_MISSING = re.compile(r"\(\?(?:[=!>]|<[=!]|P|#|\()|\\[1-9]|[*+?}]\+")
_REPEATS = re.compile(r"\{(\d+)(?:,(\d*))?\}")


def check_compared(operator: str, left: Value, right: Value) -> None:
    """Raise `BadQuery` for two kinds that can never be compared."""
    kind, other = left.kind, right.kind
    if {kind.name, other.name} & {"node", "edge"}:
        if operator not in ("=", "<>"):
            raise BadQuery(f"nodes and edges have no order: compare properties, as in a.id {operator} b.id")
        for one, another in ((kind, other), (other, kind)):
            if one.name in ("node", "edge") and another.name not in (one.name, "", "null"):
                fault = f"{operator} compares {one.description} with {another.description}"
                raise BadQuery(f"{fault}: write .id or .name after the node")
        return
    # Two numbers, two texts, or two values of the same kind can be equal.
    are_alike = (kind.is_number and other.is_number) or (kind.is_text and other.is_text) or kind.name == other.name
    if kind.name and other.name and "null" not in (kind.name, other.name) and not are_alike:
        raise BadQuery(_advice(operator, kind, other, right))
    if operator not in ("=", "<>") and (kind.name in ("map", "path", "list") or other.name in ("map", "path", "list")):
        raise BadQuery(f"{kind.description} has no order: {operator} cannot compare it")


def check_contained(left: Value, right: Value) -> None:
    """Raise `BadQuery` unless `left IN right` may be true: IN compares as = does, so a list of one kind obeys this."""
    check_kind("IN", right, "list")
    if right.kind.item is not None and right.kind.item.name:
        check_compared("=", left, Value("item", right.kind.item))


def check_text_condition(operator: str, left: Value, right: Value, pattern: object) -> None:
    """Raise `BadQuery` for CONTAINS and the like between values that are not texts.

    `pattern` is the right side if it is known before the query runs, which =~ needs.
    """
    check_kind(operator, left, "text")
    check_kind(operator, right, "text")
    if operator == "=~":
        if not isinstance(pattern, str):
            raise BadQuery("=~ takes a regular expression as a text or a parameter")
        _check_expression(pattern)


def _advice(operator: str, kind: ValueKind, other: ValueKind, right: Value) -> str:
    what = f"{operator} compares {kind.description} with {other.description}, which is never true"
    if kind.name == "list":
        return f"{what}: write {right.text} IN list"
    if kind.is_text and other.is_number:
        return f"{what}: write the number as a text, '{right.text}', or toInteger() around the text"
    if kind.is_number and other.is_text:
        return f"{what}: write the number without quotes"
    if kind.is_temporal != other.is_temporal:
        return f"{what}: write {kind.name if kind.is_temporal else other.name}() around the text"
    return f"{what}: compare values of one kind"


def _check_expression(pattern: str) -> None:
    """Raise `BadQuery` for a text that is not a regular expression, or that costs too much."""
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
        raise BadQuery(f"{pattern!r} is not a regular expression: {error}") from error
