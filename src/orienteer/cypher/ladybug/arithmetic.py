"""Sums and other arithmetic for the engine: null with a null operand, and texts joined by +."""

from __future__ import annotations

from collections.abc import Iterable

from orienteer.cypher.kinds import FLOAT, NULL, TEXT, UNKNOWN, Value, common
from orienteer.cypher.ladybug import functions, texts
from orienteer.cypher.ladybug.functions import check_kind
from orienteer.errors import BadQuery

LIST_ADVICE = "UNWIND the list first, as in UNWIND nodes(p) AS x WITH x WHERE toLower(x.name) = 'a'"


def total(operands: Iterable[Value], *, may_join_texts: bool) -> Value:
    """Add operands from left to right; from the first text on, the sum is a text. Raises `BadQuery`."""
    left, *others = operands
    parts: list[Value] = []
    for value in others:
        if {left.kind.name, value.kind.name} & {"list", "null"} or not (left.kind.is_text or value.kind.is_text):
            left, parts = calculated("+", left, value), []
            continue
        if not may_join_texts:
            raise BadQuery(f"texts cannot be joined inside [ ] or any(): {LIST_ADVICE}")
        parts = [*(parts or [_as_text(left)]), _as_text(value)]
        left = Value("", TEXT)  # a placeholder: the parts are joined at the end
    return Value(texts.sum_of(parts), TEXT) if parts else left


def _as_text(value: Value) -> Value:
    return value if value.kind.is_text else functions.call("tostring", [value])


def calculated(operator: str, left: Value, right: Value) -> Value:
    """Return `left operator right` for numbers or two lists. Raises `BadQuery` for other values."""
    kinds = (left.kind, right.kind)
    if any(kind.name == "null" for kind in kinds):
        return Value("NULL", NULL)
    if operator == "+" and any(kind.name == "list" for kind in kinds):
        if not all(kind.name in ("list", "") for kind in kinds):
            raise BadQuery("a list and a value are added as list + [value]")
        return Value(f"list_concat({left.text}, {right.text})", common(list(kinds), "a list"))
    for value in (left, right):
        check_kind(operator, value, "number")
    if operator == "^":
        return Value(f"({left.text} ^ {right.text})", FLOAT)
    kind = common(list(kinds), operator) if all(kind.is_number for kind in kinds) else UNKNOWN
    return Value(f"({left.text} {operator} {right.text})", kind)
