"""The functions that a query may call, with the kinds of their arguments and results, for any engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from orienteer.cypher.checks import check_count, check_graph_kind, check_kind, matches_kind
from orienteer.cypher.kinds import (
    BOOLEAN,
    DURATION,
    FLOAT,
    INTEGER,
    NULL,
    TEXT,
    UNKNOWN,
    Value,
    ValueKind,
    common,
    list_of,
)
from orienteer.cypher.syntax import CallClause, PatternComprehension, Reduction, Subquery
from orienteer.errors import BadQuery, nearest
from orienteer.query.expressions import Binary, Expression, FunctionCall, Item, ListOf, Literal_, MapOf, Slice, parts
from orienteer.query.temporal import FUNCTIONS as TEMPORAL_FUNCTIONS, MOMENTS
from orienteer.query.values import FUNCTIONS as VALUE_FUNCTIONS, SPELLED

if TYPE_CHECKING:
    from orienteer.cypher.patterns import Scope

_ALIASES = {
    "lower": "tolower", "upper": "toupper", "relationships": "edges", "rels": "edges", "toint": "tointeger",
    "ceiling": "ceil", "label": "nodetype", "elementid": "id", "len": "size",
}  # fmt: skip
OF_GRAPH = frozenset({"nodes", "edges", "length", "id"})
TYPE_CALLS = frozenset({"type", "nodetype"})
AGGREGATES = frozenset({"count", "sum", "avg", "min", "max", "collect", "percentilecont", "percentiledisc"})
PERCENTILES = frozenset({"percentilecont", "percentiledisc"})
_INSTEAD = {
    "exists": "n.key IS NOT NULL, or EXISTS { (a)-[..]-(b) }",
    "properties": "the node itself, or n.key for each property",
    "keys": "the schema, which lists the properties",
    "startnode": "name both ends in the pattern and give the arrow, as in (a)-[r]->(b)",
    "endnode": "name both ends in the pattern and give the arrow, as in (a)-[r]->(b)",
    "reduce": "UNWIND and sum(), or collect()",
    "shortestpath": "MATCH p = shortestPath((a)-[*..4]-(b))",
    "allshortestpaths": "MATCH p = allShortestPaths((a)-[*..4]-(b))",
    "timestamp": "datetime().epochMillis",
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


def check_portable(statement: object) -> None:
    """Raise `BadQuery` for parts of a statement that only the engine over the arrays answers."""
    for part in parts(statement, object):
        if fault := _unportable(part):
            raise BadQuery(fault)


def _unportable(part: object) -> str | None:
    match part:
        case FunctionCall(name) if name in _INSTEAD:
            return f"{SPELLED.get(name, name)}() is not supported: use {_INSTEAD[name]}"
        case FunctionCall(name) if name in TEMPORAL_FUNCTIONS and name != "date":
            return f"{name}() is not supported: use date('2001-12-31'), or compare the texts"
        case CallClause():
            return "CALL { } is not supported: use EXISTS { }, COUNT { }, or OPTIONAL MATCH and collect()"
        case Reduction():
            return f"reduce() is not supported: use {_INSTEAD['reduce']}"
        case Subquery(kind, clauses=(_, *_)):
            return f"{kind} {{ }} may hold one MATCH with a WHERE only"
        case PatternComprehension(path) if path.shortest or path.variable is not None:
            return "[p = (a)-[..]->(b) | p] is not supported: MATCH the path, and collect() what is wanted"
        case Slice(begin=begin, end=end) if not (_is_place(begin) and _is_place(end)):
            return "the bounds of a slice must be whole numbers of 0 or more, as in list[0..3]"
        case MapOf(items) if odd := [key for key, _ in items if not key.isprintable()]:
            return f"{odd[0]!r} cannot be a key of a map: begin it with a letter"
    return None


def _is_place(bound: Expression | None) -> bool:
    return bound is None or (isinstance(bound, Literal_) and type(bound.value) is int and bound.value >= 0)


class _Signature(NamedTuple):
    least: int
    most: int
    takes: tuple[str, ...]
    """The kind that each argument must have if its kind is known: `text`; `number or text` for either."""
    gives: ValueKind | Callable[[Sequence[Value]], ValueKind]
    """The kind of the result, or a function of the arguments that returns it."""
    check: Callable[[str, Sequence[Value]], object] | None = None
    """Raises `BadQuery` for other faults of the arguments; it is given the function's name."""


def kind_of_call(name: str, arguments: Sequence[Value]) -> ValueKind:
    """Return the kind of a function's result. Raises `BadQuery` for wrong arguments.

    It is null for a null, as in Cypher; some engines disagree for some functions.
    """
    if name != "coalesce" and any(argument.kind.name == "null" for argument in arguments):
        return NULL
    function, shown = _SIGNATURES[name], SPELLED.get(name, name)
    check_count(shown, arguments, function.least, function.most)
    for value, wanted in zip(arguments, function.takes, strict=False):
        *others, last = wanted.split(" or ")
        if not any(matches_kind(value.kind, other) for other in others):
            check_kind(shown, value, last)
    if function.check is not None:
        function.check(name, arguments)
    return function.gives if isinstance(function.gives, ValueKind) else function.gives(arguments)


def kind_of_graph_call(name: str, value: Value, scope: Scope) -> ValueKind:
    """Return the kind of nodes(), edges(), length() or id() of a value. Raises `BadQuery`.

    The length of a list or a text is its size.
    """
    schema = scope.names.schema
    if name == "id" and value.kind.name == "node":
        scope.note("id(n) is the node's id, a text: n.id")
        return TEXT
    if name == "length" and value.kind.name in ("list", "text"):
        return INTEGER
    check_graph_kind(f"{name}()", value, "edge" if name == "id" else "path")
    kinds = {
        "id": TEXT,
        "length": INTEGER,
        "nodes": list_of(ValueKind("node", frozenset(schema.node_types))),
        "edges": list_of(ValueKind("edge", frozenset(schema.edge_types))),
    }
    return kinds[name]


def no_aggregation(name: str) -> BadQuery:
    """Return the error for an aggregation in the wrong place."""
    return BadQuery(
        f"{name}() is allowed only in WITH and RETURN, and not inside another: "
        f"write WITH a, {name}(b) AS k WHERE k > 1, or RETURN a, {name}(b) AS k ORDER BY k"
    )


def kind_of_aggregate(name: str, value: Value) -> ValueKind:
    """Return the kind of an aggregation's result. Raises `BadQuery` for values that it does not accept."""
    if value.kind.name == "null":
        raise BadQuery(f"{name}(null) is invalid: leave it out")
    if name == "count":
        return INTEGER
    if name == "collect":
        return list_of(value.kind)
    if name in ("sum", "avg") or name in PERCENTILES:
        check_kind(f"{name}()", value, "number")
    elif value.kind.name in ("list", "map", "node", "edge", "path"):
        raise BadQuery(f"{name}() takes texts, numbers or dates, not {value.kind.description}")
    return FLOAT if name in ("avg", "percentilecont") else value.kind


def aggregate_signature(call: FunctionCall) -> None:
    """Raise `BadQuery` for a wrong number of arguments of an aggregation."""
    count = 2 if call.name in PERCENTILES else 1
    check_count(SPELLED.get(call.name, call.name), call.arguments, count, count)


def range_of(arguments: Sequence[Value]) -> tuple[int, int, int]:
    """Return begin, end and step of a range(). Raises `BadQuery` for variables, and for too many numbers."""
    bounds = [argument.known for argument in (*arguments, Value("1", INTEGER, 1))[:3]]
    if not all(type(bound) is int for bound in bounds):
        raise BadQuery("range() takes constant whole numbers, as in range(0, 10)")
    begin, end, step = (int(bound or 0) for bound in bounds)
    VALUE_FUNCTIONS["range"](begin, end, step)
    return begin, end, step


def _check_moment(name: str, arguments: Sequence[Value]) -> None:
    """Check a text that stands in the statement: others may be no date, and are null then."""
    text = arguments[0].known
    if isinstance(text, str) and TEMPORAL_FUNCTIONS[name](text) is None:
        form = {"date": "'2001-12-31'", "duration": "'P1DT2H'"}.get(name, "'2001-12-31T12:00'")
        raise BadQuery(f"{name}() does not read {text[:40]!r}: write it as in {form}")


def _check_letters(name: str, arguments: Sequence[Value]) -> None:
    """Check the numbers of letters that a function takes after its text."""
    for number in arguments[1:]:
        if number.kind.name == "float":
            raise BadQuery(
                f"{name}() takes a whole number of letters, not {number.kind.description} with decimals: toInteger()"
            )
        if isinstance(number.known, int) and number.known < 0:
            raise BadQuery(
                f"{name}() takes 0 letters or more, not {number.known}: "
                "for letters at the end write right(text, n), for all but some left(text, size(text) - n)"
            )


def _check_second(name: str, arguments: Sequence[Value]) -> None:
    if arguments[1].known == "":
        raise BadQuery(_NOT_EMPTY[name])


def _check_size(_: str, arguments: Sequence[Value]) -> None:
    kind = arguments[0].kind
    if kind.name not in ("list", "") and not kind.is_text:
        raise BadQuery(f"size() takes a list or a text, not {kind.description}; of a pattern: COUNT {{ ... }}")


def _same(arguments: Sequence[Value]) -> ValueKind:
    return arguments[0].kind


def _item(arguments: Sequence[Value]) -> ValueKind:
    return arguments[0].kind.item or UNKNOWN


def _common(arguments: Sequence[Value]) -> ValueKind:
    kinds = [argument.kind for argument in arguments]
    return NULL if all(kind == NULL for kind in kinds) else common(kinds, "coalesce()")


_MOMENT = " or ".join(MOMENTS)
_MADE_OF = f"{_MOMENT} or duration or map or text"
_NOT_EMPTY = {
    "replace": "replace() needs a text to look for: '' stands before every letter",
    "split": "split() takes 1 character or more to split at: for one letter write substring(n.name, 0, 1)",
}
_BETWEEN = ("duration.between", "duration.inmonths", "duration.indays", "duration.inseconds")
_SIGNATURES: Mapping[str, _Signature] = {
    **dict.fromkeys(("tolower", "toupper", "trim", "ltrim", "rtrim"), _Signature(1, 1, ("text",), TEXT)),
    "replace": _Signature(3, 3, ("text", "text", "text"), TEXT, _check_second),
    "substring": _Signature(2, 3, ("text", "number", "number"), TEXT, _check_letters),
    "left": _Signature(2, 2, ("text", "number"), TEXT, _check_letters),
    "right": _Signature(2, 2, ("text", "number"), TEXT, _check_letters),
    "split": _Signature(2, 2, ("text", "text"), list_of(TEXT), _check_second),
    "abs": _Signature(1, 1, ("number",), _same),
    "sign": _Signature(1, 1, ("number",), INTEGER),
    **dict.fromkeys(("ceil", "floor", "sqrt", "log", "log10"), _Signature(1, 1, ("number",), FLOAT)),
    "round": _Signature(1, 2, ("number",), FLOAT),
    "tointeger": _Signature(1, 1, ("number or text",), INTEGER),
    "tofloat": _Signature(1, 1, ("number or text",), FLOAT),
    "tostring": _Signature(1, 1, (), TEXT),
    "toboolean": _Signature(1, 1, ("boolean or text",), BOOLEAN),
    "coalesce": _Signature(1, 20, (), _common),
    "range": _Signature(2, 3, ("integer", "integer", "integer"), list_of(INTEGER)),
    "keys": _Signature(1, 1, (), list_of(TEXT)),
    "properties": _Signature(1, 1, (), UNKNOWN),
    **dict.fromkeys(("startnode", "endnode"), _Signature(1, 1, ("edge",), UNKNOWN)),
    "rand": _Signature(0, 0, (), FLOAT),
    "size": _Signature(1, 1, (), INTEGER, _check_size),
    "isempty": _Signature(1, 1, (), BOOLEAN, _check_size),
    "reverse": _Signature(1, 1, ("list or text",), _same),
    **dict.fromkeys(("head", "last"), _Signature(1, 1, ("list",), _item)),
    "tail": _Signature(1, 1, ("list",), _same),
    **{kind: _Signature(1, 1, (_MADE_OF,), ValueKind(kind), _check_moment) for kind in (*MOMENTS, "duration")},
    **{f"{kind}.truncate": _Signature(2, 3, ("text", _MOMENT, "map"), ValueKind(kind)) for kind in MOMENTS},
    **dict.fromkeys(_BETWEEN, _Signature(2, 2, (_MOMENT, _MOMENT), DURATION)),
    "datetime.fromepoch": _Signature(2, 2, ("integer", "integer"), ValueKind("datetime")),
    "datetime.fromepochmillis": _Signature(1, 1, ("integer",), ValueKind("datetime")),
}
_NAMES = frozenset({*_SIGNATURES, *OF_GRAPH, *TYPE_CALLS, "labels", *AGGREGATES})


# Conditions on types: `type(r) = 'TREATS'`, `'Gene' IN labels(n)`, `labels(n)[0] IN ['Gene', 'Disease']`.


class TypeTest(NamedTuple):
    """A condition on the type of a node or an edge."""

    call: FunctionCall
    """type(), labels() or nodeType() of it."""
    words: tuple[str, ...] | None
    """Names of types; None for the label that every node has in a view."""
    is_negated: bool


def type_test(expression: Binary, constant: Callable[[Expression], object], label: str | None) -> TypeTest | None:
    """Return the test of types that a comparison is; None for another.

    `constant` returns the value of a literal or a parameter, `label` is the label of every node in a view.
    """
    operator, left, right = expression.operator, expression.left, expression.right
    if operator == "IN" and isinstance(right, FunctionCall) and right.name == "labels":
        word = constant(left)
        if label is not None and isinstance(word, str) and word.casefold() == label.casefold():
            return TypeTest(right, None, False)
        operator, left, right = "=", Item(right, Literal_(0)), left
    elif operator in ("=", "<>") and _type_call(left) is None:
        left, right = right, left
    if calls(left, "labels") and isinstance(right, ListOf) and len(right.items) == 1 and label is None:
        left, right = Item(left, Literal_(0)), right.items[0]
    call = _type_call(left)
    if call is None or operator not in ("=", "<>", "IN"):
        return None
    value = [constant(item) for item in right.items] if isinstance(right, ListOf) else constant(right)
    words = value if isinstance(value, list) else [value]
    if isinstance(value, list) != (operator == "IN") or not all(isinstance(word, str) for word in words):
        return None
    return TypeTest(call, tuple(map(str, words)), operator == "<>")


def calls(expression: Expression, name: str) -> bool:
    """Return whether an expression is a call of a function."""
    return isinstance(expression, FunctionCall) and expression.name == name


def _type_call(expression: Expression) -> FunctionCall | None:
    """Return the call in an expression that is the type of an edge or the first label of a node, else None."""
    inner = expression
    if isinstance(expression, Item) and expression.at == Literal_(0):
        inner = expression.base
    elif calls(expression, "head") and isinstance(expression, FunctionCall) and len(expression.arguments) == 1:
        inner = expression.arguments[0]
    wanted = TYPE_CALLS if inner is expression else ("labels",)
    return inner if isinstance(inner, FunctionCall) and inner.name in wanted and inner.arguments else None
