"""What Python programs have for values -> what JSON has: times, the numbers of numpy and pandas, what is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from orienteer.records import JsonValue

MISSING = frozenset({"NaT", "<NA>"})
"""How numpy and pandas write a value that is missing, beside NaN."""


def json_value(value: Any) -> JsonValue:  # Any: whatever a program holds
    """Return the value as JSON has it: a time as ISO 8601 writes it, NaN and its kin as None.

    Raises `TypeError` for what JSON has no likeness of.
    """
    if value is None or isinstance(value, str | bool) or type(value) is int:
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float | Decimal):
        number = float(value)
        return None if math.isnan(number) else number
    if isinstance(value, Mapping):
        return {str(key): json_value(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(member) for member in value]
    return scalar(value)


def scalar(value: Any) -> JsonValue:  # Any: whatever a program holds
    """Return a time, or what numpy and pandas hold, as JSON has it. Raises `TypeError` for anything else."""
    if str(value) in MISSING:
        return None
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    if type(value).__name__ == "datetime64":  # whose own `tolist` counts nanoseconds
        return str(value)
    if hasattr(value, "tolist"):
        return json_value(value.tolist())
    raise TypeError(f"a {type(value).__name__} is no value of JSON")


def node_id(value: Any) -> str | None:  # Any: whatever a program holds
    """Return an id as text: a whole number as its digits; None for what is no id."""
    if hasattr(value, "item"):  # numpy's own number
        value = value.item()
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return str(int(value)) if isinstance(value, int) or value.is_integer() else None
