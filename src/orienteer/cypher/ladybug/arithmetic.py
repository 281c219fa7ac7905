"""Sums and other arithmetic for the engine: null with a null operand, and texts joined by +."""

from __future__ import annotations

from collections.abc import Iterable

from orienteer.cypher.checks import kind_of_calculation
from orienteer.cypher.kinds import NULL, TEXT, Value, constant
from orienteer.cypher.ladybug import functions, texts
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
    kind = kind_of_calculation(operator, left, right)
    if kind == NULL:
        return constant(None)
    if kind.name == "list":
        return Value(f"list_concat({left.text}, {right.text})", kind)
    return Value(f"({left.text} {operator} {right.text})", kind)
