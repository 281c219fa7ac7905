"""Which values an expression may have in it, by their kinds, whatever engine is told it."""

from __future__ import annotations

from collections.abc import Sequence

from orienteer.cypher.kinds import FLOAT, NULL, UNKNOWN, Value, ValueKind, common
from orienteer.errors import BadQuery


def is_of(kind: ValueKind, wanted: str) -> bool:
    """Tell whether a kind is the one that is wanted: `text`, `number`, or another by its name."""
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
    if not is_of(kind, wanted):
        hint = ": write toString() around it" if wanted == "text" and kind.is_number else ""
        hint = ": write x IN list, or any(x IN list WHERE x = ...)" if kind.name == "list" else hint
        raise BadQuery(f"{what} takes {'an' if wanted == 'edge' else 'a'} {wanted}, not {kind.shown}{hint}")


def check_graph_kind(what: str, value: Value, wanted: str) -> None:
    """Raise `BadQuery` unless a value is known to be a node, an edge or a path: other values may crash the engine."""
    if value.kind.name != wanted:
        raise BadQuery(
            f"{what} takes {'an' if wanted == 'edge' else 'a'} {wanted} of a pattern, not {value.kind.shown}"
        )


def check_place(source: Value, at: Value) -> None:
    """Raise `BadQuery` for `source[at]` that is not the item of a list at a place."""
    if at.kind.is_text and source.kind.name in ("node", "edge", "map", ""):
        raise BadQuery("a property is named after a dot, as in n.name")
    check_kind("a place in brackets", source, "list")
    check_kind("a place in a list", at, "integer")


def condition_of(value: Value) -> str:
    """Return the text of a condition. Raises `BadQuery` for a value that cannot be true or false."""
    if value.kind.name not in ("boolean", "", "null"):
        raise BadQuery(f"a condition is needed where {value.kind.shown} stands: compare it with something")
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
