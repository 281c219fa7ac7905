"""What may be compared: where Cypher finds a text and a number unequal, engines convert or fail."""

from __future__ import annotations

import re

from orienteer.cypher.checks import check_kind
from orienteer.cypher.kinds import Value, ValueKind
from orienteer.errors import BadQuery

_LONGEST_EXPRESSION = 300  # characters of a regular expression
_MOST_REPEATS = 1_000  # the limit of RE2, the engine's library
_MISSING = re.compile(r"\(\?(?:[=!>]|<[=!]|P|#|\()|\\[1-9]|[*+?}]\+")  # forms that the engine's expressions lack
_REPEATS = re.compile(r"\{(\d+)(?:,(\d*))?\}")


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


def check_text_condition(operator: str, left: Value, right: Value, pattern: object) -> None:
    """Raise `BadQuery` for CONTAINS and the like between other values than texts.

    `pattern` is the right side where it is known before the query runs, as =~ needs it.
    """
    check_kind(operator, left, "text")
    check_kind(operator, right, "text")
    if operator == "=~":
        if not isinstance(pattern, str):
            raise BadQuery("=~ takes a regular expression as a text or a parameter")
        _check_expression(pattern)


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


def _check_expression(pattern: str) -> None:
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
