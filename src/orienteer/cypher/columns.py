"""Which properties statements may ask for: those whose values are all of one kind, and short."""

from __future__ import annotations

import math
from collections.abc import Sequence

from orienteer.records import JsonValue

LONGEST_VALUE = 200  # characters: a property with a longer value is left to the search as a whole
_KINDS = {str: "text", int: "integer", float: "float", bool: "boolean"}
_LARGEST = 2**63


def kind_of_values(values: Sequence[JsonValue]) -> tuple[str, str]:
    """Return the kind of all values and an empty reason, or no kind and why statements cannot ask for them."""
    present = [value for value in values if value is not None]
    is_list = {isinstance(value, list) for value in present}
    items = [item for value in present for item in (value if isinstance(value, list) else (value,))]
    kinds = {type(item) for item in items}
    if reason := next(filter(None, map(_fault, items)), ""):
        return "", reason
    if len(is_list) > 1:
        return "", "it holds lists and single values"
    suffix = "[]" if True in is_list else ""
    if kinds == {int, float}:
        return f"float{suffix}", ""
    if len(kinds) > 1:
        return "", f"it mixes {' and '.join(sorted(_KINDS[kind] for kind in kinds))} values"
    longest = max((len(item) for item in items if isinstance(item, str)), default=0)
    if longest > LONGEST_VALUE:
        return "", f"its longest value has {longest:,} characters"
    return f"{_KINDS[kinds.pop()] if kinds else 'text'}{suffix}", ""


def _fault(item: JsonValue) -> str:
    """Return why statements cannot ask for a value; empty where they can."""
    if type(item) not in _KINDS:
        return "it holds nested values"
    if isinstance(item, int) and not -_LARGEST <= item < _LARGEST:
        return f"it holds {item}, which is too large"
    if isinstance(item, float) and not math.isfinite(item):
        return "it holds a number that is not finite"
    return ""
