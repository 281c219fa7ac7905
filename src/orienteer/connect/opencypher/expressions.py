"""Expressions as openCypher. A text of the statement goes as a parameter, never as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce, singledispatchmethod
from typing import NamedTuple, cast

from orienteer.connect.opencypher.server_names import ServerNames
from orienteer.cypher import syntax
from orienteer.cypher.checks import (
    check_compared,
    check_contained,
    check_count,
    check_graph_kind,
    check_kind,
    check_text_condition,
    condition_of,
    kind_of_calculation,
)
from orienteer.cypher.functions import (
    AGGREGATES,
    OF_GRAPH,
    SPELLED,
    TYPE_CALLS,
    kind_of_aggregate,
    kind_of_call,
    kind_of_graph_call,
    no_aggregation,
    range_of,
    type_test,
)
from orienteer.cypher.kinds import (
    BOOLEAN,
    DATE,
    INTEGER,
    NULL,
    TEXT,
    UNKNOWN,
    Value,
    ValueKind,
    common,
    constant,
    list_of,
    map_of,
    quoted,
)
from orienteer.cypher.parser import Keyed, PatternEdge, PatternNode, PatternReader
from orienteer.cypher.patterns import MOST_HOPS, Scope
from orienteer.cypher.syntax import HasType, PathPattern, PatternComprehension, Subquery
from orienteer.errors import BadQuery
from orienteer.query.expressions import Binary, Expression, Variable, conjuncts, parts
from orienteer.records import Triple

_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">="})
# Texts or lists put together: WITH x + x AS x doubles them each time.
_MOST_PARTS = 1_000


@dataclass(slots=True)
class ServerExpressions:
    """Writes the expressions of one query."""

    scope: Scope

    @property
    def _names(self) -> ServerNames:
        return cast(ServerNames, self.scope.names)

    def write(self, expression: Expression) -> Value:
        """Write an expression. Raises `BadQuery`, `UnknownType`, `UnknownProperty`."""
        value: Value = _WRITERS(type(expression))(self, expression)
        if value.parts > _MOST_PARTS:
            raise BadQuery(
                f"the query puts more than {_MOST_PARTS:,} texts or lists together: use collect() after MATCH"
            )
        return value

    @singledispatchmethod
    def _write(self, expression: Expression) -> Value:
        raise AssertionError(expression)

    def condition(self, expression: Expression) -> str:
        """Write a condition. Raises `BadQuery` for a value that cannot be true or false."""
        return condition_of(self.write(expression))

    @_write.register
    def _(self, expression: syntax.Literal_) -> Value:
        value = constant(expression.value)
        return value._replace(text=self.scope.hold(value.known)) if value.kind == TEXT else value

    @_write.register
    def _(self, expression: syntax.Parameter) -> Value:
        return self.scope.parameter(expression.name)

    @_write.register
    def _(self, expression: syntax.Variable) -> Value:
        return self.scope.variable(expression.name)

    @_write.register
    def _(self, expression: syntax.Property) -> Value:
        base = self.write(expression.base)
        if base.kind == DATE and expression.key in ("year", "month", "day"):
            return Value(f"({base.text}).{expression.key}", INTEGER)
        return self._names.property(base, expression.key)

    @_write.register
    def _(self, expression: HasType) -> Value:
        value = self.scope.variable(expression.variable)
        if value.kind.name != "edge":
            check_graph_kind(f"{expression.variable}:TYPE", value, "node")
        return Value(self._is_of(value, expression.types), BOOLEAN)

    @_write.register
    def _(self, expression: syntax.Unary) -> Value:
        if expression.operator == "NOT":
            return Value(f"(NOT {self.condition(expression.operand)})", BOOLEAN)
        value = self.write(expression.operand)
        if expression.operator == "-":
            check_kind("a minus sign", value, "number")
            return Value(f"(-{value.text})", value.kind)
        return Value(f"({value.text} {expression.operator})", BOOLEAN)

    @_write.register
    def _(self, expression: syntax.Binary) -> Value:
        operator = expression.operator
        if operator in ("AND", "OR", "XOR"):
            left, right = self.condition(expression.left), self.condition(expression.right)
            return Value(f"({left} {operator} {right})", BOOLEAN)
        if (about_types := self._type_condition(expression)) is not None:
            return about_types
        first, second = self.write(expression.left), self.write(expression.right)
        if operator in _COMPARISONS:
            check_compared(operator, first, second)
            return Value(f"({first.text} {operator} {second.text})", BOOLEAN)
        if operator == "IN":
            check_contained(first, second)
            return Value(f"({first.text} IN {second.text})", BOOLEAN)
        if operator in ("CONTAINS", "STARTS WITH", "ENDS WITH", "=~"):
            check_text_condition(operator, first, second, self.scope.constant(expression.right))
            return Value(f"({first.text} {operator} {second.text})", BOOLEAN)
        is_text = first.kind.is_text or second.kind.is_text
        if operator == "+" and is_text and not {first.kind.name, second.kind.name} & {"list", "null"}:
            texts = [value.text if value.kind.is_text else f"toString({value.text})" for value in (first, second)]
            return Value(f"({' + '.join(texts)})", TEXT, parts=first.parts + second.parts)
        kind = kind_of_calculation(operator, first, second)
        if kind == NULL:
            return constant(None)
        parts = first.parts + second.parts if kind.name == "list" else 1
        return Value(f"({first.text} {operator} {second.text})", kind, parts=parts)

    @_write.register
    def _(self, expression: syntax.ListOf) -> Value:
        values = [self.write(part) for part in expression.items]
        kind = common([value.kind for value in values], "a list")
        parts = sum(value.parts for value in values if value.parts > 1)
        return Value(f"[{', '.join(value.text for value in values)}]", list_of(kind), parts=max(parts, 1))

    @_write.register
    def _(self, expression: syntax.MapOf) -> Value:
        items, kinds, parts = [], [], 1
        for key, part in expression.items:
            if not key.isprintable():
                raise BadQuery(f"{key!r} cannot be a key of a map: begin it with a letter")
            value = self.write(part)
            items.append(f"{quoted(key)}: {value.text}")
            kinds.append((key, value.kind))
            parts += value.parts - 1
        return Value(f"{{{', '.join(items)}}}", map_of(kinds), parts=parts)

    @_write.register
    def _(self, expression: syntax.Item) -> Value:
        if isinstance(expression.base, syntax.FunctionCall) and expression.base.name == "labels":
            if expression.at != syntax.Literal_(0):
                raise BadQuery("a node has one type here: labels(n)[0]")
            return self._type_of(expression.base)
        base, at = self.write(expression.base), self.write(expression.at)
        if at.kind.is_text and base.kind.name in ("node", "edge", "map", ""):
            raise BadQuery("a property is named after a dot, as in n.name")
        check_kind("a place in brackets", base, "list")
        check_kind("a place in a list", at, "integer")
        return Value(f"({base.text})[{at.text}]", base.kind.item or UNKNOWN, parts=base.parts)

    @_write.register
    def _(self, expression: syntax.Slice) -> Value:
        base = self.write(expression.base)
        check_kind("a slice", base, "list")
        begin, end = ("" if bound is None else bound for bound in _plain_bounds(expression))
        return Value(f"({base.text})[{begin}..{end}]", base.kind, parts=base.parts)

    @_write.register
    def _(self, expression: syntax.CaseExpression) -> Value:
        tests = [self.condition(condition) for condition, _ in expression.whens]
        results = [self.write(result) for _, result in expression.whens]
        if expression.otherwise is not None:
            results.append(self.write(expression.otherwise))
        kind = common([value.kind for value in results], "CASE")
        whens = " ".join(f"WHEN {test} THEN {value.text}" for test, value in zip(tests, results, strict=False))
        otherwise = "" if expression.otherwise is None else f" ELSE {results[-1].text}"
        return Value(f"CASE {whens}{otherwise} END", kind, parts=max(value.parts for value in results))

    @_write.register
    def _(self, expression: syntax.Comprehension) -> Value:
        source, name = self._source(expression.source, "a list comprehension"), self.scope.fresh()
        with self.scope.inner({expression.variable: Value(name, source.kind.item or UNKNOWN, parts=source.parts)}):
            where = f" WHERE {self.condition(expression.where)}" if expression.where is not None else ""
            result = self.write(expression.result) if expression.result is not None else None
        if result is None:
            return Value(f"[{name} IN {source.text}{where}]", source.kind, parts=source.parts)
        parts = source.parts * result.parts
        return Value(f"[{name} IN {source.text}{where} | {result.text}]", list_of(result.kind), parts=parts)

    def _source(self, expression: Expression, what: str) -> Value:
        source = self.write(expression)
        check_kind(what, source, "list")
        return source

    @_write.register
    def _(self, expression: syntax.Quantifier) -> Value:
        source, name = self._source(expression.source, f"{expression.kind}()"), self.scope.fresh()
        with self.scope.inner({expression.variable: Value(name, source.kind.item or UNKNOWN, parts=source.parts)}):
            where = self.condition(expression.where)
        return Value(f"{expression.kind}({name} IN {source.text} WHERE {where})", BOOLEAN)

    @_write.register
    def _(self, expression: syntax.PatternComprehension) -> Value:
        if expression.path.shortest or expression.path.variable is not None:
            raise BadQuery("[p = (a)-[..]->(b) | p] is not supported: MATCH the path, and collect() what is wanted")
        matched = ServerPatterns(self.scope, self.write).match([expression.path], expression.where)
        with self.scope.inner(matched.variables):
            result = self.write(expression.result)
        return Value(f"[{matched.text} | {result.text}]", list_of(result.kind))

    @_write.register
    def _(self, expression: syntax.Subquery) -> Value:
        matched = ServerPatterns(self.scope, self.write).match(expression.paths, expression.where)
        text = f"{expression.kind} {{ MATCH {matched.text} }}"
        return Value(text, BOOLEAN if expression.kind == "EXISTS" else INTEGER)

    @_write.register
    def _(self, expression: syntax.FunctionCall) -> Value:
        name = expression.name
        if expression.star:
            self._check_aggregates(name)
            return Value("count(*)", INTEGER)
        if name in AGGREGATES:
            self._check_aggregates(name)
            check_count(name, expression.arguments, 1, 1)
            with self.scope.aggregating(False):
                value = self.write(expression.arguments[0])
            kind = kind_of_aggregate(name, value)
            text = f"{name}({'DISTINCT ' if expression.distinct else ''}{value.text})"
            return Value(text, kind, parts=value.parts if name == "collect" else 1)
        if name in TYPE_CALLS:
            return self._type_of(expression)
        if name == "labels":
            value, node = self._type_of(expression), self._owner(expression)
            return Value(f"CASE WHEN {node.text} IS NOT NULL THEN [{value.text}] END", list_of(value.kind))
        if name in OF_GRAPH:
            return self._of_graph(expression)
        return call(name, [self.write(argument) for argument in expression.arguments])

    def _check_aggregates(self, name: str) -> None:
        if not self.scope.may_aggregate:
            raise no_aggregation(name)

    def _of_graph(self, expression: syntax.FunctionCall) -> Value:
        name = expression.name
        check_count(name, expression.arguments, 1, 1)
        value = self.write(expression.arguments[0])
        kind = kind_of_graph_call(name, value, self.scope)
        if name == "id":
            is_node = value.kind.name == "node"
            return Value(self._names.identifier(value) if is_node else f"elementId({value.text})", kind)
        if value.kind.name != "path":
            return call("size", [value])
        return Value(f"{'relationships' if name == 'edges' else name}({value.text})", kind)

    # Types: `n:Gene`, `type(r)`, `labels(n)` and conditions on them.

    def _type_condition(self, expression: syntax.Binary) -> Value | None:
        """Write a condition on a type, such as `type(r) = 'TREATS'`; None for another. Raises `UnknownType`."""
        test = type_test(expression, self.scope.constant, None)
        if test is None:
            return None
        condition = self._is_of(self._owner(test.call), test.words or ())
        return Value(f"(NOT {condition})" if test.is_negated else condition, BOOLEAN)

    def _is_of(self, value: Value, words: Iterable[str]) -> str:
        """Write the condition that the type of a node or an edge has one of these names; null for null."""
        if value.kind.name == "edge":
            types = {triple.type for word in words for triple in self._names.edge_triples(word)}
            return f"(type({value.text}) IN {self.scope.hold(sorted(types))})"
        return self._names.has_type(value.text, {one for word in words for one in self._names.node_types(word)})

    def _type_of(self, call: syntax.FunctionCall) -> Value:
        """Write the type of a node or an edge; null for null. Raises `BadQuery` for anything else."""
        value = self._owner(call)
        if value.kind.name == "edge":
            return Value(f"type({value.text})", ValueKind("edge type"))
        text = self._names.type_of(value.text, self.scope.hold(list(self._names.labels.order)))
        return Value(text, ValueKind("node type"))

    def _owner(self, call: syntax.FunctionCall) -> Value:
        """Return the argument of type() or labels(). Raises `BadQuery` unless it is an edge or a node."""
        name = "type" if call.name == "type" else "labels"
        check_count(name, call.arguments, 1, 1)
        value = self.write(call.arguments[0])
        check_graph_kind(f"{name}()", value, "edge" if name == "type" else "node")
        return value


# The dispatch of `self._write`, without the wrapper that functools makes at each call.
_WRITERS = vars(ServerExpressions)["_write"].dispatcher.dispatch

# Calls of functions as openCypher.


# What replace() may make of a text, in parts of it: it may put a longer one in place of each letter.
_REPLACED = 10
_CALLED = {**SPELLED, "tolower": "toLower", "toupper": "toUpper", "ltrim": "lTrim", "rtrim": "rTrim"}


def call(name: str, arguments: Sequence[Value]) -> Value:
    """Return a call of a function on plain values. Raises `BadQuery` for wrong arguments."""
    kind = kind_of_call(name, arguments)
    if kind == NULL:
        return constant(None)
    if name in ("date", "toboolean") and arguments[0].kind == kind:
        return arguments[0]
    parts = max(argument.parts for argument in arguments)
    if name == "replace":
        parts = arguments[0].parts * arguments[2].parts * _REPLACED
    if name in _OTHERS:
        return Value(_OTHERS[name](*arguments), kind, parts=parts)
    return Value(f"{_CALLED.get(name, name)}({', '.join(argument.text for argument in arguments)})", kind, parts=parts)


_DATE_FORM = "[0-9]{4}-[0-9]{2}-[0-9]{2}"


def _date(value: Value) -> str:
    """Write date() of a text, null for a text that is not a date: servers would fail."""
    if value.known is None and value.kind.name in ("text", ""):
        return f"CASE WHEN {value.text} =~ '{_DATE_FORM}' THEN date({value.text}) END"
    if not isinstance(value.known, str) or not re.fullmatch(_DATE_FORM, value.known):
        raise BadQuery("date() takes a year, a month and a day, as in '2001-12-31'")
    return f"date({value.text})"


# Calls with another form than `name(arguments)`.
_OTHERS: Mapping[str, Callable[..., str]] = {
    "range": lambda *bounds: "range({}, {}, {})".format(*range_of(bounds)),
    "date": _date,
    "isempty": lambda value: f"(size({value.text}) = 0)",  # older servers have no such function
}


# Patterns as openCypher.

_MOST_EDGES = 8  # in a clause, a variable-length one counted with its most hops: planning more takes a server seconds


def _check_lengths(paths: Iterable[PathPattern]) -> None:
    """Raise `BadQuery` for more edges than a server plans in time, and for lengths that it cannot follow."""
    edges = [edge for path in paths for edge in path.edges]
    for hops in (edge.hops for edge in edges if edge.hops):
        if hops.most is None:
            raise BadQuery(f"a pattern of any length is not supported: give the most hops, as in *1..{MOST_HOPS}")
        if not hops.least:  # a server loses nodes that no edge of the pattern's types could reach
            raise BadQuery(
                f"no hop at all, *0..{hops.most}, is not supported: write *1..{hops.most}, and UNION the start"
            )
        if hops.most > MOST_HOPS:
            raise BadQuery(
                f"*{hops.least}..{hops.most} is not supported: hops go from 1 to {MOST_HOPS}; for paths use `paths`"
            )
    total = sum(edge.hops.most or 1 if edge.hops else 1 for edge in edges)
    if total > _MOST_EDGES:
        raise BadQuery(f"a pattern has {total} edges: {_MOST_EDGES} are allowed; put WITH between two MATCH")


def _compared_keys(where: Expression | None) -> dict[str, list[tuple[str, int]]]:
    """Return by variable the properties that a condition compares by = or IN, with the number of values."""
    keys: dict[str, list[tuple[str, int]]] = {}
    for part in conjuncts(where):
        if not isinstance(part, syntax.Binary) or part.operator not in ("=", "IN"):
            continue
        sides = [(part.left, part.right), (part.right, part.left)]
        for side, other in sides if part.operator == "=" else sides[:1]:
            if not isinstance(side, syntax.Property) or isinstance(other, syntax.Property):
                continue
            if isinstance(side.base, syntax.Variable):
                values = len(other.items) if isinstance(other, syntax.ListOf) else 1
                keys.setdefault(side.base.name, []).append((side.key.casefold(), values))
    return keys


def _plain_bounds(expression: syntax.Slice) -> tuple[int | None, int | None]:
    """Return the bounds of a slice. Raises `BadQuery` for others than whole numbers of 0 or more."""
    bounds: list[int | None] = []
    for bound in (expression.begin, expression.end):
        value = bound.value if isinstance(bound, syntax.Literal_) else None
        if bound is not None and (type(value) is not int or value < 0):
            raise BadQuery("the bounds of a slice must be whole numbers of 0 or more, as in list[0..3]")
        bounds.append(value if type(value) is int else None)
    return bounds[0], bounds[1]


_KNOWN, _BY_ID, _BY_NAME, _BY_PROPERTY, _LAST = range(5)
_UNKNOWN = "\0"  # no variable has this name
_SHORTEST: Mapping[str, str] = {"SHORTEST": "shortestPath", "ALL SHORTEST": "allShortestPaths"}


class Matched(NamedTuple):
    """The patterns of a clause as openCypher, with their conditions and variables."""

    anchors: str
    """A MATCH of the nodes with a given id or name, which comes first; empty if there is none."""
    paths: list[str]
    conditions: list[str]
    variables: dict[str, Value]
    """The new variables, and earlier ones with the types that remain."""

    @property
    def text(self) -> str:
        """Return the body of MATCH."""
        return _joined(self.paths, self.conditions)


def _joined(paths: Sequence[str], conditions: Sequence[str]) -> str:
    return ", ".join(paths) + (f" WHERE {' AND '.join(conditions)}" if conditions else "")


class _Path(NamedTuple):
    """A path that was read, before it is written."""

    pattern: PathPattern
    begin: str
    """The path's variable and `=`, if it has one."""
    nodes: list[PatternNode]
    edges: list[PatternEdge]
    is_reversed: bool = False
    """The path is written from its end."""


@dataclass(slots=True)
class ServerPatterns(PatternReader):
    """Writes the patterns of one clause."""

    conditions: list[str] = field(default_factory=list)

    @property
    def names(self) -> ServerNames:
        """Return the database's names."""
        return cast(ServerNames, self.scope.names)

    def match(self, paths: Sequence[PathPattern], where: Expression | None, *, may_anchor: bool = False) -> Matched:
        """Return the patterns, with the conditions of their braces and of `where`.

        With `may_anchor`, nodes with a given id or name are matched first: ArcadeDB tests whether two known nodes are
        joined in a hundredth of the time that it takes to walk from one of them.

        Types are known once all paths are read. Raises `BadQuery`, `UnknownType`, `UnknownProperty`.
        """
        _check_lengths(paths)
        read = [self._read(path) for path in paths]
        self.narrow()
        for edge in self.edges:
            # An edge type that was named with its end types is narrower than the type's name, which others may share.
            ways = []
            for triple, source, target in self.narrower(edge):
                is_type = f"type({edge.value}) = {self.scope.hold(triple.type)}"
                begins = f"startNode({edge.value}) = {source.value}"
                pairs = ((source.value, triple.source), (target.value, triple.target))
                ends = " AND ".join(self.names.has_type(value, [one]) for value, one in pairs)
                ways.append(f"({is_type} AND {begins} AND {ends})")
            if ways:
                self.conditions.append(f"({' OR '.join(ways)})")
            if edge.is_shortest:
                # There is no path from a node to itself: some servers fail then, others return a path without edges.
                self.conditions.append(f"({edge.start.value} <> {edge.end.value})")
        variables = self.variables | {name: self.node_value(node) for name, node in self.named.items()}
        # Some servers walk a pattern from left to right: it has to begin at known nodes, then at those with a given id,
        # name or other property.
        compared = _compared_keys(where)
        places: dict[str, int] = {}
        for node in self.nodes:
            keys = {key for key, _ in compared.get(node.name or "", ())}
            keys |= {key.casefold() for value, _, items in self.keyed if value == node.value for key, _ in items}
            ranks = [_BY_ID if key == "id" else _BY_NAME if key == "name" else _BY_PROPERTY for key in keys]
            places[node.value] = min(ranks, default=_LAST) if node.is_new else _KNOWN
        left = list(conjuncts(where))
        with self.scope.inner(variables):
            anchors = self._anchored(left, places) if may_anchor and self.edges else ""
            read = [_reversed(path, places) for path in read]
            # Stable: equal paths keep their order.
            read.sort(key=lambda path: places[path.nodes[0].value])
            texts = [self._path_text(path, places) for path in read]
            self.conditions += self._equal(self.keyed)
            self.conditions += [condition_of(self.write(part)) for part in left]
        return Matched(anchors, texts, self.conditions, variables)

    def _anchored(self, left: list[Expression], places: dict[str, int]) -> str:
        """Write the MATCH of nodes with a given id or name; the conditions that it uses are removed from `left`."""
        before = set(self.scope.variables) - set(self.named) - set(self.variables)
        texts, own = [], list[str]()
        for node in self.nodes:
            if places[node.value] not in (_BY_ID, _BY_NAME):
                continue
            known = before | ({node.name} if node.name is not None else set())
            taken = [part for part in left if _reads(part) and _reads(part) <= known and _reads(part) - before]
            keyed = [entry for entry in self.keyed if entry[0] == node.value and _reads(entry[2]) <= before]
            condition = reduce(lambda left, right: Binary("AND", left, right), taken) if taken else None
            keys = {key for key, _ in _compared_keys(condition).get(node.name or "", ())}
            keys |= {key.casefold() for _, _, items in keyed for key, _ in items}
            if not keys & {"id", "name"}:
                continue
            outside, self.conditions = self.conditions, []
            texts.append(self._node(node, places))
            self.conditions += self._equal(keyed)
            self.conditions += [condition_of(self.write(part)) for part in taken]
            own, self.conditions = [*own, *self.conditions], outside
            places[node.value] = _KNOWN
            self.keyed = [entry for entry in self.keyed if entry not in keyed]
            left[:] = [part for part in left if part not in taken]
        return f"MATCH {_joined(texts, own)} " if texts else ""

    def _read(self, path: PathPattern) -> _Path:
        begin = self.begin(path)
        nodes = [self.read_node(path.nodes[0])]
        edges = []
        for pattern, following in zip(path.edges, path.nodes[1:], strict=True):
            node = self.read_node(following)
            edges.append(self.read_edge(pattern, nodes[-1], node, is_shortest=bool(path.shortest)))
            nodes.append(node)
        return _Path(path, begin, nodes, edges)

    def _path_text(self, path: _Path, places: Mapping[str, int]) -> str:
        pieces = [self._node(path.nodes[0], places)]
        for edge, node in zip(path.edges, path.nodes[1:], strict=True):
            pieces += [self._edge(edge, is_reversed=path.is_reversed), self._node(node, places)]
        text, shortest = "".join(pieces), path.pattern.shortest
        return f"{path.begin}{_SHORTEST[shortest]}({text})" if shortest else f"{path.begin}{text}"

    def _node(self, node: PatternNode, places: Mapping[str, int]) -> str:
        """Write a node: with its types at its first occurrence, by its name afterwards."""
        if node.is_drawn or not node.is_new:
            if not node.is_new and (asked := self.wanted.pop(node.value, None)) is not None:
                self.conditions.append(self.names.has_type(node.value, asked))
            return f"({node.value})"
        node.is_drawn = True
        # Servers index ids by the label of all nodes: a node with a given id gets it.
        whole = self.names.fields.whole if places[node.value] == _BY_ID else None
        asked = self.wanted.pop(node.value, None)
        if whole is None and asked is not None and all(map(self.names.is_plain, asked)):
            return f"({node.value}:{'|'.join(map(quoted, sorted(asked)))})"
        if asked is not None:
            self.conditions.append(self.names.has_type(node.value, asked))
        return f"({node.value}:{quoted(whole)})" if whole is not None else f"({node.value})"

    def _edge(self, edge: PatternEdge, *, is_reversed: bool) -> str:
        types = "" if edge.all_triples else f":{'|'.join(map(quoted, edge.types))}"
        hops = edge.pattern.hops
        length = f"*{hops.least}..{hops.most}" if hops else ""
        left = "<-" if edge.direction == ("out" if is_reversed else "in") else "-"
        right = "->" if edge.direction == ("in" if is_reversed else "out") else "-"
        return f"{left}[{edge.value}{types}{length}]{right}"

    def narrower(self, edge: PatternEdge) -> list[tuple[Triple, PatternNode, PatternNode]]:
        """Return the possible triples of an edge, with source and target, if its pattern alone allows more.

        A query may name edge types with their end types. Empty if the types are enough. Raises `BadQuery`.
        """
        types = {triple.type for triple in edge.triples}
        everything = frozenset(triple for triple in self.scope.names.triples if triple.type in types)
        if edge.all_triples or edge.triples == everything:
            return []
        if edge.pattern.hops:
            raise BadQuery("in a pattern of variable length an edge type is named without the types that it joins")
        forward, backward = (edge.start, edge.end), (edge.end, edge.start)
        ways = {"out": (forward,), "in": (backward,), "both": (forward, backward)}[edge.direction]
        return [(triple, source, target) for triple in sorted(edge.triples) for source, target in ways]

    def _equal(self, keyed: Iterable[Keyed]) -> list[str]:
        """Write properties in braces as conditions, once the types are known. Raises `BadQuery`, `UnknownProperty`."""
        by_value, conditions = {node.value: node for node in self.nodes}, []
        for value, kind, items in keyed:
            node = by_value.get(value)
            owner = self.node_value(node) if node is not None else Value(value, kind)
            for key, expression in items:
                wanted = self.write(expression)
                if wanted.kind.name == "null":
                    raise BadQuery(f"{{{key}: null}} never matches: write WHERE ... IS NULL")
                own = self.names.property(owner, key)
                check_compared("=", own, wanted)
                conditions.append(f"({own.text} = {wanted.text})")
        return conditions


def _reads(tree: object) -> frozenset[str]:
    """Return the variables that a part of a statement reads; with a pattern inside, also an unknown one."""
    if any(parts(tree, Subquery)) or any(parts(tree, PatternComprehension)):
        return frozenset({_UNKNOWN})
    typed = {test.variable for test in parts(tree, HasType)}
    return frozenset(typed | {variable.name for variable in parts(tree, Variable)})


def _reversed(path: _Path, places: Mapping[str, int]) -> _Path:
    """Return a path from its other end, if that is the better start and its order does not matter."""
    is_asked_for = path.pattern.variable is not None or bool(path.pattern.shortest)
    is_list = any(edge.pattern.hops and edge.pattern.variable for edge in path.edges)
    if is_asked_for or is_list or places[path.nodes[-1].value] >= places[path.nodes[0].value]:
        return path
    return path._replace(nodes=path.nodes[::-1], edges=path.edges[::-1], is_reversed=True)
