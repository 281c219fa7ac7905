"""Which numbers of JSON are numbers here: those that a double can hold."""

from __future__ import annotations

import sys

from orienteer.records import JsonValue

LARGEST = sys.float_info.max


def are_finite(value: JsonValue) -> bool:
    """Return whether every number in a value, at any depth, is one that a double can hold: `1e400` is not."""
    if isinstance(value, int | float):
        return abs(value) <= LARGEST
    if isinstance(value, list):
        return all(map(are_finite, value))
    return not isinstance(value, dict) or all(map(are_finite, value.values()))
