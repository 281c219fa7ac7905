"""Expressions as openCypher. A text of the statement goes as a parameter, never as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, cast

from orienteer.connect.opencypher.server_names import ServerNames
from orienteer.cypher import syntax
from orienteer.cypher.checks import check_count, kind_of_calculation
from orienteer.cypher.compiler import Compiled, ExpressionCompiler
from orienteer.cypher.functions import kind_of_aggregate, no_aggregation, range_of
from orienteer.cypher.kinds import BOOLEAN, DATE, INTEGER, NULL, TEXT, Value, ValueKind, constant, list_of, quoted
from orienteer.cypher.parser import PatternEdge, PatternNode, PatternReader, ReadPath
from orienteer.cypher.patterns import MOST_HOPS
from orienteer.cypher.syntax import HasType, PathPattern, PatternComprehension, Subquery, made_up
from orienteer.errors import BadQuery
from orienteer.query import expressions as ex
from orienteer.query.expressions import Binary, Expression, Tree, Variable, conjuncts, parts
from orienteer.query.values import SPELLED

# Texts or lists put together: WITH x + x AS x doubles them each time.
_MOST_PARTS = 1_000


@dataclass(frozen=True, slots=True)
class Written(Tree):
    """A part of a statement as openCypher."""

    text: str

    def __str__(self) -> str:
        return self.text


def _written(value: Value) -> Compiled:
    return Compiled(Written(value.text), value)


def _unary(part: ex.Unary) -> str:
    words = {"NOT": "NOT {}", "-": "-{}"}.get(part.operator, f"{{}} {part.operator}")
    return f"({words.format(part.operand)})"


def _case(part: ex.CaseExpression) -> str:
    whens = "".join(f" WHEN {condition} THEN {result}" for condition, result in part.whens)
    return f"CASE{whens}{'' if part.otherwise is None else f' ELSE {part.otherwise}'} END"


def _comprehension(part: ex.Comprehension) -> str:
    where = "" if part.where is None else f" WHERE {part.where}"
    return f"[{part.variable} IN {part.source}{where}{'' if part.result is None else f' | {part.result}'}]"


# How the parts of a statement are written, once their own parts are.
_TEXTS: Mapping[type, Callable[[Any], str]] = {
    Written: str,
    ex.Variable: lambda part: part.name,
    ex.Unary: _unary,
    ex.Binary: lambda part: f"({part.left} {part.operator} {part.right})",
    ex.ListOf: lambda part: f"[{', '.join(map(str, part.items))}]",
    ex.MapOf: lambda part: f"{{{', '.join(f'{quoted(key)}: {value}' for key, value in part.items)}}}",
    ex.Item: lambda part: f"({part.base})[{part.at}]",
    ex.Slice: lambda part: f"({part.base})[{part.begin or ''}..{part.end or ''}]",
    ex.CaseExpression: _case,
    ex.Comprehension: _comprehension,
    ex.Quantifier: lambda part: f"{part.kind}({part.variable} IN {part.source} WHERE {part.where})",
    ex.FunctionCall: lambda part: f"{part.name}({', '.join(map(str, part.arguments))})",
}


@dataclass(slots=True)
class ServerExpressions(ExpressionCompiler):
    """Writes the expressions of one query."""

    is_strict: ClassVar[bool] = True

    @property
    def _names(self) -> ServerNames:
        return cast(ServerNames, self.scope.names)

    def made(self, tree: Expression, kind: ValueKind, parts: int = 1) -> Compiled:
        """Write a part of the statement. Raises `BadQuery` for too many texts or lists in it."""
        if parts > _MOST_PARTS:
            raise BadQuery(
                f"the query puts more than {_MOST_PARTS:,} texts or lists together: use collect() after MATCH"
            )
        return _written(Value(_TEXTS[type(tree)](tree), kind, parts=parts))

    def literal(self, expression: ex.Literal_) -> Compiled:
        """Write a constant, a text as a parameter."""
        value = constant(expression.value)
        return _written(value._replace(text=self.scope.hold(value.known)) if value.kind == TEXT else value)

    def parameter(self, expression: ex.Parameter) -> Compiled:
        """Write a parameter."""
        return _written(self.scope.parameter(expression.name))

    def entry(self, expression: ex.Property) -> Compiled:
        """Write a property."""
        base = self.value(expression.base)
        if base.kind == DATE and expression.key in ("year", "month", "day"):
            return _written(Value(f"({base.text}).{expression.key}", INTEGER))
        return _written(self._names.property(base, expression.key))

    def calculated(self, operator: str, left: Compiled, right: Compiled) -> Compiled:
        """Write `left operator right`; what is added to a text becomes a text."""
        sides, kinds = (left, right), {left.kind.name, right.kind.name}
        parts = left.value.parts + right.value.parts
        if operator == "+" and any(side.kind.is_text for side in sides) and not kinds & {"list", "null"}:
            first, second = (side.tree if side.kind.is_text else Written(f"toString({side.tree})") for side in sides)
            return self.made(Binary(operator, first, second), TEXT, parts)
        kind = kind_of_calculation(operator, left.value, right.value)
        if kind == NULL:
            return _written(constant(None))
        return self.made(Binary(operator, left.tree, right.tree), kind, parts if kind.name == "list" else 1)

    def pattern_comprehension(self, expression: syntax.PatternComprehension) -> Compiled:
        """Write the list that a pattern makes."""
        matched = ServerPatterns(self).match([expression.path], expression.where)
        with self.scope.inner(matched.variables):
            result = self.value(expression.result)
        return _written(Value(f"[{matched.text} | {result.text}]", list_of(result.kind)))

    def subquery(self, expression: syntax.Subquery) -> Compiled:
        """Write EXISTS or COUNT."""
        matched = ServerPatterns(self).match(expression.paths, expression.where)
        text = f"{expression.kind} {{ MATCH {matched.text} }}"
        return _written(Value(text, BOOLEAN if expression.kind == "EXISTS" else INTEGER))

    def aggregation(self, expression: ex.FunctionCall) -> Compiled:
        """Write count(), collect() and the like. Raises `BadQuery` outside of WITH and RETURN."""
        name = expression.name
        if not self.scope.may_aggregate:
            raise no_aggregation(name)
        if expression.star:
            return _written(Value("count(*)", INTEGER))
        check_count(name, expression.arguments, 1, 1)
        with self.scope.aggregating(False):
            value = self.value(expression.arguments[0])
        text = f"{name}({'DISTINCT ' if expression.distinct else ''}{value.text})"
        return _written(Value(text, kind_of_aggregate(name, value), parts=value.parts if name == "collect" else 1))

    def called(self, name: str, arguments: Sequence[Compiled], kind: ValueKind) -> Compiled:
        """Write the call of a function, null for one of null."""
        values = [argument.value for argument in arguments]
        if kind == NULL:
            return _written(constant(None))
        if name in ("date", "toboolean") and values[0].kind == kind:
            return arguments[0]
        if name == "id" and values[0].kind.name == "node":
            return _written(Value(self._names.identifier(values[0]), kind))
        parts = max(value.parts for value in values)
        if name == "replace":
            parts = values[0].parts * values[2].parts * _REPLACED
        if name in _OTHERS:
            return self.made(Written(_OTHERS[name](*values)), kind, parts)
        if name == "length" and values[0].kind.name != "path":
            name = "size"
        trees = tuple(argument.tree for argument in arguments)
        return self.made(ex.FunctionCall(_CALLED.get(name, name), trees), kind, parts)

    # Types.

    def is_of(self, owner: Compiled, names: Sequence[str], *, is_edge: bool) -> Compiled:
        """Write the condition that the type of a node or an edge has one of these names; null for null."""
        if is_edge:
            types = {triple.type for name in names for triple in self._names.edge_triples(name)}
            text = f"(type({owner.tree}) IN {self.scope.hold(sorted(types))})"
        else:
            text = self._names.has_type(
                owner.value.text, {one for name in names for one in self._names.node_types(name)}
            )
        return _written(Value(text, BOOLEAN))

    def type_call(self, expression: ex.FunctionCall) -> Compiled:
        """Write the type of a node or an edge, or the list of it; null for null."""
        owner = self.owner(expression)
        if expression.name == "type":
            return _written(Value(f"type({owner.tree})", ValueKind("edge type")))
        kind = ValueKind("node type")
        text = self._names.type_of(owner.value.text, self.scope.hold(list(self._names.labels.order)))
        if expression.name == "labels":
            text, kind = f"CASE WHEN {owner.tree} IS NOT NULL THEN [{text}] END", list_of(kind)
        return _written(Value(text, kind))

    def item(self, expression: ex.Item) -> Compiled:
        """Write an item of a list; the first label of a node is its type."""
        base = expression.base
        if isinstance(base, ex.FunctionCall) and base.name == "labels" and expression.at == ex.Literal_(0):
            return self.type_call(ex.FunctionCall("nodetype", base.arguments))
        return ExpressionCompiler.item(self, expression)


# Calls of functions as openCypher.

# What replace() may make of a text, in parts of it: it may put a longer one in place of each letter.
_REPLACED = 10
_CALLED = {**SPELLED, "id": "elementId"}
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


def _compared_keys(conditions: Iterable[Expression], names: frozenset[str]) -> set[str]:
    """Return the properties of a variable, under any of its names, that conditions compare by = or IN."""
    return {
        side.key.casefold()
        for part in conditions
        if isinstance(part, Binary) and part.operator in ("=", "IN")
        for side, other in [(part.left, part.right), (part.right, part.left)][: 2 if part.operator == "=" else 1]
        if isinstance(side, ex.Property) and not isinstance(other, ex.Property)
        if isinstance(side.base, Variable) and side.base.name in names
    }


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
        read = [self.read(path) for path in paths]
        self.narrow()
        for edge in self.edges:
            # An edge type that was named with its end types is narrower than the type's name, which others may share.
            if narrower := self._narrower(edge):
                self.conditions.append(narrower)
            if edge.is_shortest:
                # There is no path from a node to itself: some servers fail then, others return a path without edges.
                self.conditions.append(f"({edge.start.value} <> {edge.end.value})")
        variables = self.variables | {name: self.node_value(node) for name, node in self.named.items()}
        left = [*self.equalities, *conjuncts(where)]
        # Some servers walk a pattern from left to right: it has to begin at known nodes, then at those with a given id,
        # name or other property.
        places: dict[str, int] = {}
        for node in self.nodes:
            keys = _compared_keys(left, _names(node))
            ranks = [_BY_ID if key == "id" else _BY_NAME if key == "name" else _BY_PROPERTY for key in keys]
            places[node.value] = min(ranks, default=_LAST) if node.is_new else _KNOWN
        with self.scope.inner({**variables, **self.owners}):
            anchors = self._anchored(left, places) if may_anchor and self.edges else ""
            read = [_reversed(path, places) for path in read]
            # Stable: equal paths keep their order.
            read.sort(key=lambda path: places[path.nodes[0].value])
            texts = [self._path_text(path, places) for path in read]
            self.conditions += [str(self.compiler.condition(part)) for part in left]
        return Matched(anchors, texts, self.conditions, variables)

    def _anchored(self, left: list[Expression], places: dict[str, int]) -> str:
        """Write the MATCH of nodes with a given id or name; the conditions that it uses are removed from `left`."""
        before = self.scope.variables.keys() - {*self.named, *self.variables, *self.owners}
        texts, own = [], list[str]()
        for node in self.nodes:
            names = _names(node)
            taken = [part for part in left if _reads(part) & names and _reads(part) <= before | names]
            if places[node.value] not in (_BY_ID, _BY_NAME) or not _compared_keys(taken, names) & {"id", "name"}:
                continue
            outside, self.conditions = self.conditions, own
            texts.append(self._node(node, places))
            self.conditions += [str(self.compiler.condition(part)) for part in taken]
            self.conditions = outside
            places[node.value] = _KNOWN
            left[:] = [part for part in left if part not in taken]
        return f"MATCH {_joined(texts, own)} " if texts else ""

    def _path_text(self, path: ReadPath, places: Mapping[str, int]) -> str:
        pieces = [self._node(path.nodes[0], places)]
        for near, edge, node in zip(path.nodes, path.edges, path.nodes[1:], strict=False):
            pieces += [self._edge(edge, is_reversed=edge.start is not near), self._node(node, places)]
        text, shortest = "".join(pieces), path.pattern.shortest
        begin = f"{path.value} = " if path.value else ""
        return f"{begin}{_SHORTEST[shortest]}({text})" if shortest else f"{begin}{text}"

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

    def _narrower(self, edge: PatternEdge) -> str:
        """Write the condition on the ends of an edge whose pattern alone allows more; empty if there is none."""
        if self.is_whole(edge):
            return ""
        forward, backward = (edge.start.value, edge.end.value), (edge.end.value, edge.start.value)
        ways = []
        for triple in sorted(edge.triples):
            is_type = f"type({edge.value}) = {self.scope.hold(triple.type)}"
            for source, target in {"out": (forward,), "in": (backward,), "both": (forward, backward)}[edge.direction]:
                pairs = ((source, triple.source), (target, triple.target))
                ends = " AND ".join(self.names.has_type(value, [one]) for value, one in pairs)
                ways.append(f"({is_type} AND startNode({edge.value}) = {source} AND {ends})")
        return f"({' OR '.join(ways)})"


def _names(node: PatternNode) -> frozenset[str]:
    """Return the names of a node in conditions: its own, and that of the owner of properties in braces."""
    return frozenset({made_up(node.value), *([] if node.name is None else [node.name])})


def _reads(tree: object) -> frozenset[str]:
    """Return the variables that a part of a statement reads; with a pattern inside, also an unknown one."""
    if any(parts(tree, Subquery)) or any(parts(tree, PatternComprehension)):
        return frozenset({_UNKNOWN})
    typed = {test.variable for test in parts(tree, HasType)}
    return frozenset(typed | {variable.name for variable in parts(tree, Variable)})


def _reversed(path: ReadPath, places: Mapping[str, int]) -> ReadPath:
    """Return a path from its other end, if that is the better start and its order does not matter."""
    is_asked_for = path.pattern.variable is not None or bool(path.pattern.shortest)
    is_list = any(edge.pattern.hops and edge.pattern.variable for edge in path.edges)
    if is_asked_for or is_list or places[path.nodes[-1].value] >= places[path.nodes[0].value]:
        return path
    return path._replace(nodes=path.nodes[::-1], edges=path.edges[::-1])
