"""Cypher's rules for single values: equality, order, arithmetic and functions. Null is None."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from orienteer.errors import BadQuery
from orienteer.query.columns import EdgeRef, NodeRef, Path

_LARGEST = 2**63
_EXACT = 2**52  # from here on, a float has no decimals
_LONGEST = 1_000_000  # characters, or items, of one value
_WIDEST_RANGE = 10_000  # numbers of a range()
_MOST_SHOWN = 60  # characters of a value in an error
_MOST_DECIMALS = 15  # of round(): a float has no more exact ones
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# Values of different kinds in one order, as openCypher has it; null is last.
_KINDS = ("map", "node", "edge", "list", "path", "text", "boolean", "number", "date", "null")


def is_number(value: Any) -> bool:
    """Return whether a value is a number; true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(a: Any, b: Any) -> bool | None:
    """Return whether two values are equal; None if a null leaves it open."""
    if a is None or b is None:
        return None
    if is_number(a) and is_number(b):
        return bool(a == b)
    if isinstance(a, NodeRef | EdgeRef | Path) or type(a) is not type(b):
        return type(a) is type(b) and bool(a == b)
    if isinstance(a, list):
        return _all_equal([(x, y) for x, y in zip(a, b, strict=True)]) if len(a) == len(b) else False
    if isinstance(a, dict):
        return _all_equal([(a[key], b[key]) for key in a]) if a.keys() == b.keys() else False
    return bool(a == b)


def _all_equal(pairs: list[tuple[Any, Any]]) -> bool | None:
    same = [equal(x, y) for x, y in pairs]
    return False if False in same else None if None in same else True


def less(a: Any, b: Any) -> bool | None:
    """Return whether one value is less than another; None if they have no order."""
    if is_number(a) and is_number(b):
        return bool(a < b)
    if isinstance(a, list) and isinstance(b, list) and not isinstance(a, tuple):
        for x, y in zip(a, b, strict=False):
            if equal(x, y) is not True:
                return less(x, y) if equal(x, y) is False else None
        return len(a) < len(b)
    if type(a) is type(b) and isinstance(a, str | bool | date):
        return bool(a < b)
    return None


def ordered(operator: str, a: Any, b: Any) -> bool | None:
    """Return a comparison by `= <> < <= > >=`; NaN is in no order with any number."""
    if operator == "=":
        return equal(a, b)
    if operator == "<>":
        same = equal(a, b)
        return None if same is None else not same
    if operator in (">", ">="):
        a, b = b, a
    before = less(a, b)
    if before is None or before or operator in ("<", ">"):
        return before
    return equal(a, b)


def contained(item: Any, items: Any) -> bool | None:
    """Return `item IN items`."""
    if items is None:
        return None
    if not isinstance(items, list):
        raise BadQuery("IN takes a list on its right")
    found: bool | None = False
    for other in items:
        same = equal(item, other)
        if same:
            return True
        found = None if same is None else found
    return found


def rank(value: Any) -> tuple[int, Any]:
    """Return a key that orders values of all kinds; NaN is the largest number, null is last."""
    if value is None:
        return (_KINDS.index("null"), 0)
    if isinstance(value, bool):
        return (_KINDS.index("boolean"), value)
    if is_number(value):
        return (_KINDS.index("number"), (value != value, 0 if value != value else value))
    if isinstance(value, NodeRef | EdgeRef):
        return (_KINDS.index("node" if isinstance(value, NodeRef) else "edge"), value[0])
    if isinstance(value, Path):
        return (_KINDS.index("path"), tuple(value))
    if isinstance(value, list):
        return (_KINDS.index("list"), [rank(item) for item in value])
    if isinstance(value, dict):
        return (_KINDS.index("map"), [(key, rank(item)) for key, item in sorted(value.items())])
    return (_KINDS.index("date" if isinstance(value, date) else "text"), value)


def whole(value: int) -> int:
    """Return a whole number of 64 bits. Raises `BadQuery` for a larger one."""
    if not -_LARGEST <= value < _LARGEST:
        raise BadQuery("a whole number goes beyond 64 bits: use toFloat()")
    return value


def bounded(value: Any) -> Any:
    """Return a list or a text. Raises `BadQuery` for one that is too long."""
    if len(value) > _LONGEST:
        raise BadQuery(f"a text or a list grows beyond {_LONGEST:,}: ask for less of it")
    return value


def calculated(operator: str, a: Any, b: Any) -> Any:  # noqa: C901 (a case for each operator)
    """Return `a operator b`, of `+ - * / % ^`. Raises `BadQuery`."""
    if a is None or b is None:
        return None
    if operator == "+":
        if isinstance(a, list) or isinstance(b, list):
            return bounded((a if isinstance(a, list) else [a]) + (b if isinstance(b, list) else [b]))
        if isinstance(a, str) or isinstance(b, str):
            return bounded(text_of(a) + text_of(b))
    if not is_number(a) or not is_number(b):
        raise BadQuery(f"{operator} takes numbers")
    if operator == "^":
        return _floating(lambda: float(a) ** float(b))
    are_whole = isinstance(a, int) and isinstance(b, int)
    if operator in "/%":
        if are_whole and b == 0:
            raise BadQuery("a whole number is divided by 0: leave such rows out by WHERE before")
        # Whole numbers are divided towards 0, unlike Python's.
        if operator == "%":
            return _remainder(a, b)
        if are_whole:
            return whole(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))
        return a / b if b else math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)
    result = a + b if operator == "+" else a - b if operator == "-" else a * b
    return whole(result) if are_whole else float(result)


def _remainder(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return (abs(a) % abs(b)) * (1 if a >= 0 else -1)
    return math.fmod(a, b) if b else math.nan


def _floating(made: Callable[[], Any]) -> float:
    try:
        value = made()
    except (OverflowError, ZeroDivisionError):
        return math.inf
    except ValueError:
        return math.nan
    return math.nan if isinstance(value, complex) else float(value)


def text_of(value: Any) -> str:
    """Return a value as a text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, int | float | str | date):
        raise BadQuery("toString() takes numbers, true or false, dates and texts")
    return str(value)


def _whole_of(value: Any) -> int | None:
    if isinstance(value, str):
        text = value.strip()
        return whole(int(Decimal(text))) if _NUMBER.fullmatch(text) else None
    if isinstance(value, float):
        return whole(int(value)) if math.isfinite(value) else None
    return int(value)


def _float_of(value: Any) -> float | None:
    if isinstance(value, str):
        return float(value.strip()) if _NUMBER.fullmatch(value.strip()) else None
    return float(value)


def _boolean_of(value: Any) -> bool | None:
    return value if isinstance(value, bool) else {"true": True, "false": False}.get(str(value).strip().lower())


def _date_of(value: Any) -> date | None:
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value) if _DATE.fullmatch(value) else None
    except ValueError:
        return None


def _rounded(value: Any, places: int = 0) -> float:
    if not 0 <= places <= _MOST_DECIMALS:
        raise BadQuery(f"round(x, n) takes a whole number of decimals from 0 to {_MOST_DECIMALS}, as in round(x, 2)")
    number = float(value)
    if not math.isfinite(number) or abs(number) >= _EXACT / 10**places:
        return number
    if not places:
        return math.floor(number) + float(number - math.floor(number) >= 0.5)
    scaled = number * 10**places
    return math.copysign(math.floor(abs(scaled) + 0.5), scaled) / float(10**places)


def _substring(text: str, start: int, length: int | None = None) -> str:
    if start < 0 or (length is not None and length < 0):
        raise BadQuery("substring(text, start, length) takes numbers of 0 or more")
    return text[start:] if length is None else text[start : start + length]


def _cut(text: str, length: int, *, right: bool) -> str:
    if length < 0:
        raise BadQuery(f"{'right' if right else 'left'}(text, n) takes a number of 0 or more")
    return (text[-length:] if length else "") if right else text[:length]


def _range(begin: int, end: int, step: int = 1) -> list[int]:
    if not step or abs(end - begin) > _WIDEST_RANGE * abs(step):
        raise BadQuery(f"range() goes in steps that are not 0, over {_WIDEST_RANGE:,} numbers at the most")
    return list(range(begin, end + (1 if step > 0 else -1), step))


def _cased(text: str, change: Callable[[str], str]) -> str:
    """Change letters one by one, each that has one other form: `ß` and `İ` stay."""
    if text.isascii():
        return change(text)
    return "".join(changed if len(changed := change(letter)) == 1 else letter for letter in text)


def _numeric(function: Callable[[float], float], at_zero: float = math.nan) -> Callable[[Any], float]:
    return lambda value: at_zero if value == 0 else _floating(lambda: function(float(value)))


_FUNCTIONS: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "tolower": ("text", lambda text: _cased(text, str.lower)),
    "toupper": ("text", lambda text: _cased(text, str.upper)),
    "trim": ("text", str.strip),
    "ltrim": ("text", str.lstrip),
    "rtrim": ("text", str.rstrip),
    "reverse": ("text|list", lambda value: value[::-1]),
    "replace": ("text text text", lambda text, old, new: bounded(text.replace(old, new)) if old else text),
    "substring": ("text whole whole", _substring),
    "left": ("text whole", lambda text, length: _cut(text, length, right=False)),
    "right": ("text whole", lambda text, length: _cut(text, length, right=True)),
    "split": ("text text", lambda text, at: text.split(at) if at else list(text)),
    "size": ("text|list|map", len),
    "isempty": ("text|list|map", lambda value: not len(value)),
    "length": ("path|text|list", lambda value: len(value.edges) if isinstance(value, Path) else len(value)),
    "abs": ("number", lambda value: whole(abs(value)) if isinstance(value, int) else abs(value)),
    "ceil": ("number", lambda value: float(math.ceil(value)) if abs(value) < _EXACT else float(value)),
    "floor": ("number", lambda value: float(math.floor(value)) if abs(value) < _EXACT else float(value)),
    "sign": ("number", lambda value: (value > 0) - (value < 0)),
    "sqrt": ("number", _numeric(math.sqrt, 0.0)),
    "log": ("number", _numeric(math.log, -math.inf)),
    "log10": ("number", _numeric(math.log10, -math.inf)),
    "round": ("number whole", _rounded),
    "tointeger": ("number|text|boolean", _whole_of),
    "tofloat": ("number|text", _float_of),
    "tostring": ("", text_of),
    "toboolean": ("boolean|text|whole", _boolean_of),
    "range": ("whole whole whole", _range),
    "date": ("date|text", _date_of),
    "head": ("list", lambda items: items[0] if items else None),
    "last": ("list", lambda items: items[-1] if items else None),
    "tail": ("list", lambda items: items[1:]),
    "nodes": ("path", lambda path: list(path.nodes)),
    "edges": ("path", lambda path: list(path.edges)),
}
# Each with the kinds of its arguments: `number|text` for either; nothing if it checks by itself.


def called(name: str, arguments: tuple[Any, ...]) -> Any:
    """Return a function of values; a null argument makes a null. Raises `BadQuery` for arguments of a wrong kind."""
    if None in arguments:
        return None
    takes, function = _FUNCTIONS[name]
    for wanted, value in zip(takes.split(), arguments, strict=False):
        if not any(_IS[kind](value) for kind in wanted.split("|")):
            raise BadQuery(f"{name}() takes {wanted.replace('|', ' or ')} and not {shown(value)}")
    return function(*arguments)


def shown(value: Any) -> str:
    """Return a value for an error message, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


_IS: Mapping[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "number": is_number,
    "whole": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "date": lambda value: isinstance(value, date),
    "list": lambda value: isinstance(value, list),
    "map": lambda value: isinstance(value, dict),
    "path": lambda value: isinstance(value, Path),
}
