"""The functions that a query may call, each written in forms that the engine answers rightly. No other reaches it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from orienteer.cypher.kinds import (
    BOOLEAN,
    DATE,
    FLOAT,
    INTEGER,
    NULL,
    TEXT,
    UNKNOWN,
    Value,
    ValueKind,
    common,
    list_of,
    rendered,
    repeated,
)
from orienteer.cypher.ladybug import texts
from orienteer.errors import BadQuery, nearest

_WIDEST_RANGE = 10_000  # numbers of a range(): a bound on the engine's memory
LAST = 2**31 - 1  # a place beyond the end of any list
_WHOLE = r"^\s*\+?(-?[0-9]+)(?:\.[0-9]*)?\s*$"  # the engine's cast takes no plus sign and no decimals
_NOT_WHOLE = r"^\s*\+?(-?(?:\.[0-9]+|[0-9]+\.?[0-9]*[eE][+-]?[0-9]+|\.[0-9]+[eE][+-]?[0-9]+))\s*$"
_FLOAT = r"^\s*\+?(-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_MOST_DECIMALS = 15  # of round(): a float has no more exact ones
_EXACT = 2**52  # from here on, a float has no decimals
_ALIASES = {
    "lower": "tolower", "upper": "toupper", "relationships": "edges", "rels": "edges", "toint": "tointeger",
    "ceiling": "ceil", "label": "nodetype", "elementid": "id", "len": "size",
}  # fmt: skip
AGGREGATES = frozenset({"count", "sum", "avg", "min", "max", "collect"})
_NAMES = frozenset({
    "tolower", "toupper", "trim", "ltrim", "rtrim", "reverse", "replace", "substring", "left", "right", "split", "size",
    "abs", "ceil", "floor", "round", "sign", "sqrt", "log", "log10", "tointeger", "tofloat", "tostring", "toboolean",
    "coalesce", "range", "date", "isempty", "head", "last", "tail", "nodes", "edges", "length", "type", "labels",
    "nodetype", "id", *AGGREGATES,
})  # fmt: skip
_INSTEAD = {
    "exists": "n.key IS NOT NULL, or EXISTS { (a)-[..]-(b) }",
    "properties": "the node itself, or n.key for each property",
    "keys": "the schema tells which properties there are",
    "startnode": "name both ends in the pattern and give the arrow, as in (a)-[r]->(b)",
    "endnode": "name both ends in the pattern and give the arrow, as in (a)-[r]->(b)",
    "reduce": "UNWIND and sum(), or collect()",
    "shortestpath": "MATCH p = shortestPath((a)-[*..4]-(b))",
    "allshortestpaths": "MATCH p = allShortestPaths((a)-[*..4]-(b))",
    "datetime": "date('2001-12-31'), or compare the texts",
    "timestamp": "date('2001-12-31'), or compare the texts",
    "duration": "numbers of years, as in date(n.key).year",
    "percentilecont": "collect() in an ORDER BY, and a place in the list",
    "percentiledisc": "collect() in an ORDER BY, and a place in the list",
    "stdev": "collect() and your own sum",
    "rand": "ORDER BY a property",
    "haslabel": "n:Type",
}


def resolve(word: str) -> str:
    """Return a function's canonical name. Raises `BadQuery` for an unlisted one, with the form to write instead."""
    name = word.casefold()
    name = _ALIASES.get(name, name)
    if name in _NAMES:
        return name
    if name in _INSTEAD:
        raise BadQuery(f"{word}() is not supported: use {_INSTEAD[name]}")
    near = nearest(word, _NAMES, most=3)
    hint = f" Near: {', '.join(near)}." if near else ""
    raise BadQuery(f"there is no function {word}() here.{hint}")


class _Function(NamedTuple):
    least: int
    most: int
    takes: tuple[str, ...]
    """The kind that each argument must have, where its kind is known: `text` or `number`."""
    gives: ValueKind
    write: Callable[..., str]
    """Writes the call from the arguments' values."""


def _plain(form: str) -> Callable[..., str]:
    return lambda *arguments: form.format(*(argument.text for argument in arguments))


def _truncated(number: str) -> str:
    return f"cast({number} - {number} % 1.0, 'INT64')"


TABLE: Mapping[str, _Function] = {
    "tolower": _Function(1, 1, ("text",), TEXT, _plain("lower({})")),
    "toupper": _Function(1, 1, ("text",), TEXT, _plain("upper({})")),
    "trim": _Function(1, 1, ("text",), TEXT, lambda text: texts.trim(text.text)),
    "ltrim": _Function(1, 1, ("text",), TEXT, lambda text: texts.ltrim(text.text)),
    "rtrim": _Function(1, 1, ("text",), TEXT, lambda text: texts.rtrim(text.text)),
    "replace": _Function(3, 3, ("text", "text", "text"), TEXT, texts.replace),
    "substring": _Function(2, 3, ("text", "number", "number"), TEXT, texts.substring),
    "left": _Function(2, 2, ("text", "number"), TEXT, texts.left),
    "right": _Function(2, 2, ("text", "number"), TEXT, texts.right),
    "split": _Function(2, 2, ("text", "text"), list_of(TEXT), texts.split),
    "abs": _Function(1, 1, ("number",), UNKNOWN, _plain("abs({})")),
    "ceil": _Function(1, 1, ("number",), FLOAT, _plain("ceil(cast({}, 'DOUBLE'))")),
    "floor": _Function(1, 1, ("number",), FLOAT, _plain("floor(cast({}, 'DOUBLE'))")),
    "sign": _Function(1, 1, ("number",), INTEGER, _plain("cast(sign({} + 0), 'INT64')")),  # it takes -0.0 for -1
    "sqrt": _Function(1, 1, ("number",), FLOAT, _plain("sqrt(cast({}, 'DOUBLE'))")),
    "log": _Function(1, 1, ("number",), FLOAT, _plain("ln(cast({}, 'DOUBLE'))")),
    "log10": _Function(1, 1, ("number",), FLOAT, _plain("log10(cast({}, 'DOUBLE'))")),
}


def call(name: str, arguments: Sequence[Value]) -> Value:
    """Return a call of a function on plain values. Raises `BadQuery` for wrong arguments."""
    if name != "coalesce" and any(argument.kind.name == "null" for argument in arguments):
        return Value("NULL", NULL)  # as in Cypher; a null crashes some of the engine's functions
    if name in TABLE:
        function = TABLE[name]
        check_count(name, arguments, function.least, function.most)
        for value, wanted in zip(arguments, function.takes, strict=False):
            check_kind(name, value, wanted)
        gives = arguments[0].kind if name == "abs" else function.gives
        return Value(function.write(*arguments), gives)
    return _OTHERS[name](arguments)


def check_count(name: str, arguments: Sequence[object], least: int, most: int) -> None:
    """Raise `BadQuery` for too few or too many arguments."""
    if not least <= len(arguments) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise BadQuery(f"{name}() takes {wanted} arguments, not {len(arguments)}")


def check_kind(what: str, value: Value, wanted: str) -> None:
    """Raise `BadQuery` for a value that is known to be of another kind than `text`, `number` and so on."""
    kind = value.kind
    if kind.name in ("", "null") or not wanted:
        return
    is_right = kind.is_text if wanted == "text" else kind.is_number if wanted == "number" else kind.name == wanted
    if not is_right:
        hint = ": write toString() around it" if wanted == "text" and kind.is_number else ""
        hint = ": write x IN list, or any(x IN list WHERE x = ...)" if kind.name == "list" else hint
        raise BadQuery(f"{what} takes {'an' if wanted == 'edge' else 'a'} {wanted}, not {kind.shown}{hint}")


def check_graph_kind(what: str, value: Value, wanted: str) -> None:
    """Raise `BadQuery` unless a value is known to be a node, an edge or a path: other values may crash the engine."""
    if value.kind.name != wanted:
        raise BadQuery(
            f"{what} takes {'an' if wanted == 'edge' else 'a'} {wanted} of a pattern, not {value.kind.shown}"
        )


def _round(arguments: Sequence[Value]) -> Value:
    check_count("round", arguments, 1, 2)
    check_kind("round", arguments[0], "number")
    repeated("round()", *arguments)
    number = f"cast({arguments[0].text}, 'DOUBLE')"
    if len(arguments) == 1:
        return Value(f"(floor({number}) + CASE WHEN {number} - floor({number}) >= 0.5 THEN 1.0 ELSE 0.0 END)", FLOAT)
    decimals = arguments[1].known
    if type(decimals) is not int or not 0 <= decimals <= _MOST_DECIMALS:
        raise BadQuery(f"round(x, n) takes a whole number of decimals from 0 to {_MOST_DECIMALS}, as in round(x, 2)")
    small = rendered(_EXACT / 10**decimals)
    return Value(f"CASE WHEN abs({number}) < {small} THEN round({number}, {decimals}) ELSE {number} END", FLOAT)


def _to_integer(arguments: Sequence[Value]) -> Value:
    check_count("toInteger", arguments, 1, 1)
    text, kind = arguments[0].text, arguments[0].kind
    if kind.name == "integer":
        return arguments[0]
    repeated("toInteger()", arguments[0])
    if kind.name == "float":
        return Value(_truncated(text), INTEGER)
    check_kind("toInteger", arguments[0], "text")
    text = f"cast({text}, 'STRING')"
    whole = f"cast({texts.matching(text, _WHOLE, 1)}, 'INT64')"
    number = f"coalesce({whole}, {_truncated(_number(text, _NOT_WHOLE))})"
    return Value(f"cast({number}, 'INT64')", INTEGER)  # the null of a constant would be a text


def _number(text: str, pattern: str) -> str:
    return f"cast({texts.matching(text, pattern, 1)}, 'DOUBLE')"


def _to_float(arguments: Sequence[Value]) -> Value:
    check_count("toFloat", arguments, 1, 1)
    text, kind = arguments[0].text, arguments[0].kind
    if kind.is_number:
        return Value(f"cast({text}, 'DOUBLE')", FLOAT)
    check_kind("toFloat", arguments[0], "text")
    return Value(_number(f"cast({text}, 'STRING')", _FLOAT), FLOAT)


def _to_string(arguments: Sequence[Value]) -> Value:
    check_count("toString", arguments, 1, 1)
    text, kind = arguments[0].text, arguments[0].kind
    if kind.is_text:
        return Value(text, TEXT)
    if kind.name in ("integer", "date"):
        return Value(f"cast({text}, 'STRING')", TEXT)
    if kind.name == "boolean":
        return Value(f"lower(cast({text}, 'STRING'))", TEXT)
    raise BadQuery(
        f"toString() of {kind.shown} that may have decimals loses some of them: compare the number, "
        "or write toString(toInteger(...))"
    )


def _to_boolean(arguments: Sequence[Value]) -> Value:
    check_count("toBoolean", arguments, 1, 1)
    if arguments[0].kind.name == "boolean":
        return arguments[0]
    check_kind("toBoolean", arguments[0], "text")
    text = f"lower({texts.trim(arguments[0].text)})"
    return Value(f"CASE {text} WHEN 'true' THEN true WHEN 'false' THEN false END", BOOLEAN)


def _coalesce(arguments: Sequence[Value]) -> Value:
    """Write coalesce() without literal nulls; the kinds of the others must go together."""
    check_count("coalesce", arguments, 1, 20)
    kind = common([argument.kind for argument in arguments], "coalesce()")
    candidates = [argument.text for argument in arguments if argument.kind.name != "null"]
    return Value(f"coalesce({', '.join(candidates)})", kind) if candidates else arguments[0]


def _range(arguments: Sequence[Value]) -> Value:
    check_count("range", arguments, 2, 3)
    bounds = [argument.known for argument in (*arguments, Value("1", INTEGER, 1))[:3]]
    if not all(type(bound) is int for bound in bounds):
        raise BadQuery("range() takes whole numbers as they are, as in range(0, 10)")
    begin, end, step = (int(bound or 0) for bound in bounds)
    if not step:
        raise BadQuery("range() goes in steps of 1 or more, or of -1 or less, not of 0")
    if abs(end - begin) > _WIDEST_RANGE * abs(step):
        raise BadQuery(f"range({begin}, {end}, {step}) is too long: {_WIDEST_RANGE:,} numbers are allowed")
    return Value(f"range({begin}, {end}, {step})", list_of(INTEGER))


def _date(arguments: Sequence[Value]) -> Value:
    check_count("date", arguments, 1, 1)
    text, kind = arguments[0].text, arguments[0].kind
    if kind.name == "date":
        return arguments[0]
    check_kind("date", arguments[0], "text")
    literal = arguments[0].known
    if isinstance(literal, str) and not re.fullmatch(_DATE, literal):
        raise BadQuery(f"date() takes a year, a month and a day, as in '2001-12-31', not {literal[:40]!r}")
    return Value(f"date({texts.matching(text, _DATE)})", DATE)


def _size(arguments: Sequence[Value]) -> Value:
    check_count("size", arguments, 1, 1)
    if arguments[0].kind.name not in ("list", "text", "", "null", "node type", "edge type"):
        raise BadQuery(f"size() takes a list or a text, not {arguments[0].kind.shown}; of a pattern: COUNT {{ ... }}")
    size = texts.size(arguments[0].text) if arguments[0].kind.is_text else f"size({arguments[0].text})"
    return Value(size, INTEGER)


def _is_empty(arguments: Sequence[Value]) -> Value:
    """Write isEmpty() of a text or a list."""
    check_count("isEmpty", arguments, 1, 1)
    if arguments[0].kind.is_text:
        return Value(texts.is_empty(arguments[0].text), BOOLEAN)
    return Value(f"({_size(arguments).text} = 0)", BOOLEAN)


def _reverse(arguments: Sequence[Value]) -> Value:
    """Write reverse() of a text or a list."""
    check_count("reverse", arguments, 1, 1)
    if arguments[0].kind.name == "list":
        return Value(f"list_reverse({arguments[0].text})", arguments[0].kind)
    check_kind("reverse", arguments[0], "text")
    return Value(texts.reverse(arguments[0].text), TEXT)


def item(source: Value, at: Value) -> Value:
    """Return the item of a list at a place: from 0, negative ones from the end, null outside the list."""
    check_kind("a place in brackets", source, "list")
    check_kind("a place in a list", at, "integer")
    if type(at.known) is int:
        place = str(at.known + (at.known >= 0))
    else:
        repeated("a place in a list", at)
        place = f"({at.text}) + CASE WHEN ({at.text}) >= 0 THEN 1 ELSE 0 END"
    return _first(f"list_slice({source.text}, {place}, {place})", source)


def _first(items: str, source: Value, place: int = 1) -> Value:
    # The engine fails on an item of an empty list, but not on one of null.
    return Value(f"list_extract(nullif({items}, []), {place})", source.kind.item or UNKNOWN)


def _head(arguments: Sequence[Value]) -> Value:
    """Write head(): the first item of a list, null for an empty one."""
    check_count("head", arguments, 1, 1)
    check_kind("head", arguments[0], "list")
    return _first(arguments[0].text, arguments[0])


def _last(arguments: Sequence[Value]) -> Value:
    """Write last(): the last item of a list, null for an empty one."""
    check_count("last", arguments, 1, 1)
    check_kind("last", arguments[0], "list")
    return _first(arguments[0].text, arguments[0], -1)


def _tail(arguments: Sequence[Value]) -> Value:
    """Write tail(): a list without its first item."""
    check_count("tail", arguments, 1, 1)
    check_kind("tail", arguments[0], "list")
    return Value(f"list_slice({arguments[0].text}, 2, {LAST})", arguments[0].kind)


_OTHERS: Mapping[str, Callable[[Sequence[Value]], Value]] = {
    "round": _round,
    "tointeger": _to_integer,
    "tofloat": _to_float,
    "tostring": _to_string,
    "toboolean": _to_boolean,
    "coalesce": _coalesce,
    "range": _range,
    "date": _date,
    "size": _size,
    "isempty": _is_empty,
    "reverse": _reverse,
    "head": _head,
    "last": _last,
    "tail": _tail,
}
