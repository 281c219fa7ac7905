"""The meaning of single values in Cypher: equality, order, arithmetic and functions. Null is None.

openCypher 9 defines equality, comparability and orderability; docs/reference/query.md repeats them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import UnionType
from typing import Any

from orienteer.errors import BadQuery, QueryStopped
from orienteer.query import temporal
from orienteer.query.columns import EdgeRef, NodeRef, Path
from orienteer.query.temporal import Duration, Moment

LONGEST = 1_000_000
"""Characters of a text, or items of a list, that an expression may make."""
_LARGEST = 2**63
_WIDEST_RANGE = 10_000  # numbers
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NUMBERS = int | float
_BOOLEANS = {"true": True, "false": False}
_EXACT = 2**52  # floats from here on are whole numbers


def is_number(value: object) -> bool:
    """Return whether a value is a number; true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(a: Any, b: Any) -> bool | None:  # Any: Cypher's values, here and below
    """Return `a = b`; None if a null leaves it open."""
    if a is None or b is None:
        return None
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and _all_equal(zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and _all_equal((a[key], b[key]) for key in a)
    if is_number(a) and is_number(b):
        return bool(a == b)
    return type(a) is type(b) and bool(a == b)


def _all_equal(pairs: Any) -> bool | None:
    result: bool | None = True
    for a, b in pairs:
        same = equal(a, b)
        if same is False:
            return False
        result = None if same is None else result
    return result


def less(a: Any, b: Any) -> bool | None:
    """Return `a < b`; None if the values have no order."""
    if (is_number(a) and is_number(b)) or (type(a) is type(b) and isinstance(a, str | bool)):
        return bool(a < b)
    if isinstance(a, Moment) and isinstance(b, Moment) and a.kind == b.kind:
        return a.order < b.order
    if isinstance(a, list) and isinstance(b, list):
        for one, other in zip(a, b, strict=False):
            same = equal(one, other)
            if not same:
                return None if same is None else less(one, other)
        return len(a) < len(b)
    return None


def less_or_equal(a: Any, b: Any) -> bool | None:
    """Return `a <= b`; None if the values have no order."""
    below, same = less(a, b), equal(a, b)
    return below if below is None or below else same


def contained(item: Any, items: Any) -> bool | None:
    """Return `item IN items`. Raises `BadQuery` if `items` is not a list."""
    if items is None:
        return None
    if not isinstance(items, list):
        raise BadQuery("IN takes a list: write x IN [a, b]")
    found: bool | None = False
    for other in items:
        same = equal(item, other)
        if same:
            return True
        found = None if same is None else found
    return found


def rank(value: Any) -> tuple[Any, ...]:
    """Return a key that orders values of all kinds, null last."""
    if isinstance(value, dict):
        return (0, [(key, rank(item)) for key, item in sorted(value.items())])
    if isinstance(value, NodeRef | EdgeRef):
        return (1 if isinstance(value, NodeRef) else 2, value[0])
    if isinstance(value, list):
        return (3, [rank(item) for item in value])
    if isinstance(value, Path):
        return (4, [node.row for node in value.nodes])
    if isinstance(value, Moment | Duration):
        return (5, value.kind if isinstance(value, Moment) else "duration", value.order)
    if isinstance(value, str):
        return (6, value)
    if isinstance(value, bool):
        return (7, value)
    if value is None:
        return (10,)
    return (9,) if value != value else (8, value)


def whole(value: int) -> int:
    """Return a whole number of 64 bits. Raises `BadQuery` for a larger one."""
    if not -_LARGEST <= value < _LARGEST:
        raise BadQuery(f"{value} exceeds 64 bits (INT64), the limit of whole numbers: use toFloat()")
    return value


def grown(value: Any) -> Any:
    """Return a list or a text. Raises `QueryStopped` if it is too long."""
    if len(value) > LONGEST:
        raise QueryStopped(f"a text or a list has more than {LONGEST:,} characters or items: ask for less of it")
    return value


def calculated(operator: str, a: Any, b: Any) -> Any:
    """Return `a operator b`. Raises `BadQuery` for values that the operator does not take."""
    if a is None or b is None:
        return None
    if operator == "+" and (isinstance(a, list | str) or isinstance(b, list | str)):
        return _joined(a, b)
    if operator == "+" and isinstance(a, dict) and isinstance(b, dict):
        return a | b
    return _number(operator, a, b) if (moved := temporal.calculated(operator, a, b)) is None else moved


def _number(operator: str, a: Any, b: Any) -> Any:
    if not is_number(a) or not is_number(b):
        raise BadQuery(f"{operator} takes numbers: got {text_of(a)[:40]!r} and {text_of(b)[:40]!r}")
    if operator == "^":
        return _floating(lambda: float(a) ** float(b))
    are_whole = isinstance(a, int) and isinstance(b, int)
    if are_whole and operator in ("/", "%"):
        if b == 0:
            raise BadQuery("a whole number is divided by zero: leave such rows out by WHERE before")
        sign = 1 if a >= 0 else -1
        return abs(a) % abs(b) * sign if operator == "%" else whole(abs(a) // abs(b) * (sign if b > 0 else -sign))
    if operator == "%":
        return math.fmod(a, b) if b and math.isfinite(a) else math.nan
    if operator == "/":
        return a / b if b else math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)
    result = a + b if operator == "+" else a - b if operator == "-" else a * b
    return whole(result) if are_whole else float(result)


def _joined(a: Any, b: Any) -> Any:
    if isinstance(a, list) or isinstance(b, list):
        return grown((a if isinstance(a, list) else [a]) + (b if isinstance(b, list) else [b]))
    if isinstance(a, dict | tuple) or isinstance(b, dict | tuple):
        raise BadQuery("+ joins texts, not maps, nodes or edges: name a property")
    return grown(text_of(a) + text_of(b))


def _floating(make: Callable[[], Any]) -> float:
    try:
        value = make()
    except (OverflowError, ZeroDivisionError):
        return math.inf
    except ValueError:
        return math.nan
    return math.nan if isinstance(value, complex) else float(value)


def item_of(items: Any, at: Any) -> Any:
    """Return `items[at]`, of a list or a map; null if there is none. Raises `BadQuery` for other values."""
    if items is None or at is None:
        return None
    if isinstance(items, dict) and isinstance(at, str):
        return items.get(at)
    if not isinstance(items, list) or type(at) is not int:
        raise BadQuery("brackets take a place in a list, as in list[0], or a key of a map, as in map['key']")
    return items[at] if -len(items) <= at < len(items) else None


def slice_of(items: Any, begin: Any, end: Any) -> Any:
    """Return `items[begin..end]`. Raises `BadQuery` for values that are not a list and places."""
    if items is None:
        return None
    if not isinstance(items, list) or not all(type(place) is int for place in (begin, end)):
        raise BadQuery("a slice takes places in a list, as in list[0..3]")
    return items[begin:end]


# Functions.


def text_of(value: Any) -> str:
    """Return a value as a text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _of(kinds: type | UnionType, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that raises `TypeError` for a first value of other kinds; true and false are no numbers."""

    def checked(value: Any, *more: Any) -> Any:
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds == _NUMBERS):
            raise TypeError
        return function(value, *more)

    return checked


def _to_integer(value: Any) -> int | None:
    if isinstance(value, str):
        text = value.strip()
        return whole(int(Decimal(text))) if _NUMBER.fullmatch(text) else None
    if not is_number(value):
        raise TypeError
    return whole(int(value)) if math.isfinite(value) else None


def _to_float(value: Any) -> float | None:
    if isinstance(value, str):
        return float(value.strip()) if _NUMBER.fullmatch(value.strip()) else None
    if not is_number(value):
        raise TypeError
    return float(value)


def _rounded(value: Any, places: int = 0) -> float:
    """Round half up, as Neo4j does; with decimals, half away from zero."""
    if not 0 <= places <= 15:
        raise BadQuery("round(x, n) takes a whole number of decimals from 0 to 15, as in round(x, 2)")
    number = float(value)
    if not math.isfinite(number) or abs(number) >= _EXACT / 10.0**places:
        return number
    if not places:
        return float(math.floor(number) + (number - math.floor(number) >= 0.5))
    scaled = number * 10.0**places
    return math.copysign(math.floor(abs(scaled) + 0.5), scaled) / 10.0**places


def _substring(text: str, start: int, length: int | None = None) -> str | None:
    if start < 0 or (length is not None and length < 0):
        return None
    return text[start:] if length is None else text[start : start + length]


def _replaced(text: str, old: str, new: str) -> str | None:
    if not old:
        return None
    grown(range(len(text) + text.count(old) * (len(new) - len(old))))
    return text.replace(old, new)


def _range(begin: int, end: int, step: int = 1) -> list[int]:
    if any(type(bound) is not int for bound in (begin, end, step)):
        raise TypeError
    if not step:
        raise BadQuery("range() goes in steps of 1 or more, or of -1 or less, not of 0")
    if abs(end - begin) > _WIDEST_RANGE * abs(step):
        raise BadQuery(f"range({begin}, {end}, {step}) is too long: {_WIDEST_RANGE:,} numbers are allowed")
    return list(range(begin, end + (1 if step > 0 else -1), step))


def _cased(text: str, change: Callable[[str], str]) -> str:
    """Return a text in lower or upper case, letter by letter: no letter becomes two."""
    if text.isascii():
        return change(text)
    return "".join(other if len(other := change(letter)) == 1 else letter for letter in text)


def _numeric(function: Callable[[float], float]) -> Callable[[Any], float]:
    return _of(_NUMBERS, lambda value: _floating(lambda: function(float(value))))


SPELLED = {
    "percentilecont": "percentileCont", "percentiledisc": "percentileDisc", "startnode": "startNode",
    "endnode": "endNode", "tointeger": "toInteger", "tofloat": "toFloat", "tostring": "toString",
    "toboolean": "toBoolean", "isempty": "isEmpty", "tolower": "toLower", "toupper": "toUpper", "ltrim": "lTrim",
    "rtrim": "rTrim", "edges": "relationships",
}  # fmt: skip
"""The usual spelling of functions, by their names in lower case."""
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "tolower": lambda text: _cased(text, str.lower),
    "toupper": lambda text: _cased(text, str.upper),
    "trim": str.strip,
    "ltrim": str.lstrip,
    "rtrim": str.rstrip,
    "reverse": _of(list | str, lambda value: value[::-1]),
    "replace": _replaced,
    "substring": _substring,
    "left": lambda text, length: _substring(text, 0, length),
    "right": lambda text, length: None if length < 0 else text[max(len(text) - length, 0) :],
    "split": lambda text, at: grown(text.split(at)) if at else None,
    "size": _of(list | str, len),
    "isempty": _of(list | str | dict, lambda value: not value),
    "length": _of(list | str | Path, lambda value: len(value.edges if isinstance(value, Path) else value)),
    "abs": _of(_NUMBERS, lambda value: whole(abs(value)) if isinstance(value, int) else abs(value)),
    "ceil": _numeric(lambda x: float(math.ceil(x)) if math.isfinite(x) else x),
    "floor": _numeric(lambda x: float(math.floor(x)) if math.isfinite(x) else x),
    "sign": lambda value: (value > 0) - (value < 0),
    "sqrt": _numeric(lambda x: math.nan if x < 0 else math.sqrt(x)),
    "log": _numeric(lambda x: -math.inf if x == 0 else math.log(x)),
    "log10": _numeric(lambda x: -math.inf if x == 0 else math.log10(x)),
    "round": _rounded,
    "tointeger": _to_integer,
    "tofloat": _to_float,
    "tostring": _of(bool | int | float | str | Moment | Duration, text_of),
    "toboolean": _of(bool | str, lambda value: _BOOLEANS.get(text_of(value).strip().lower())),
    "range": _range,
    **temporal.FUNCTIONS,
    "head": _of(list, lambda items: items[0] if items else None),
    "last": _of(list, lambda items: items[-1] if items else None),
    "tail": _of(list, lambda items: items[1:]),
    "nodes": lambda path: list(path.nodes),
    "edges": lambda path: list(path.edges),
}
"""Functions of values of which none is null; a null argument gives null. They raise `BadQuery`, and `TypeError`,
`ValueError` or `AttributeError` for a value of a wrong kind."""
