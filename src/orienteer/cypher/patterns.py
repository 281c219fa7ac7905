"""Patterns of nodes and edges, as text; and the scope in which a statement is compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Literal

from orienteer.cypher.kinds import KINDS, UNKNOWN, Value, ValueKind, common, common_or_unknown, list_of, map_of
from orienteer.cypher.names import NameMap
from orienteer.cypher.syntax import Direction, EdgePattern, Hops, NodePattern, PathPattern
from orienteer.cypher.tokens import TokenReader
from orienteer.elements import JsonValue
from orienteer.errors import BadQuery, nearest
from orienteer.query import expressions as ex
from orienteer.query.expressions import Expression

MOST_HOPS = 4  # edges of a variable-length pattern: at a larger distance, everything is connected to everything
_MOST_PARTS = 20  # edges, or paths, in a clause
_SHORTEST: dict[str, Literal["SHORTEST", "ALL SHORTEST"]] = {
    "shortestpath": "SHORTEST",
    "allshortestpaths": "ALL SHORTEST",
}
_ReadExpression = Callable[[TokenReader], Expression]


def read_paths(reader: TokenReader, read: _ReadExpression) -> tuple[PathPattern, ...]:
    """Return the paths of a clause. Raises `BadQuery`."""
    paths = [read_path(reader, read)]
    while reader.takes(","):
        paths.append(read_path(reader, read))
    edges = sum(len(path.edges) for path in paths)
    if edges > _MOST_PARTS or len(paths) > _MOST_PARTS:
        raise BadQuery(f"a pattern has {edges} edges: {_MOST_PARTS} are allowed; put WITH between two MATCH")
    return tuple(paths)


def read_path(reader: TokenReader, read: _ReadExpression) -> PathPattern:
    """Return the next path; `read` reads the values in its braces. Raises `BadQuery`."""
    variable = None
    if reader.is_variable() and reader.is_sign("=", ahead=1):
        variable = reader.variable()
        reader.expect("=", "after a path's name")
    word = reader.peek().value.casefold()
    if reader.is_call() and word in _SHORTEST:
        name = reader.next().value
        reader.expect("(", f"after {name}")
        path = read_path(reader, read)
        reader.expect(")", f"after {name}(...")
        if len(path.edges) != 1 or path.edges[0].hops is None or path.edges[0].hops.least > 1:
            raise BadQuery(f"{name} takes one pattern such as (a)-[:TYPE*..{MOST_HOPS}]-(b); else use the `paths` tool")
        edge = replace(path.edges[0], hops=Hops(1, path.edges[0].hops.most))
        return PathPattern(variable, path.nodes, (edge,), _SHORTEST[word])
    nodes, edges = [_node(reader, read)], list[EdgePattern]()
    while reader.is_sign("-", "<"):
        edges.append(_edge(reader, read))
        nodes.append(_node(reader, read))
    return PathPattern(variable, tuple(nodes), tuple(edges))


def _node(reader: TokenReader, read: _ReadExpression) -> NodePattern:
    reader.expect("(", "of a node")
    variable = reader.variable() if reader.is_variable() else None
    types = node_labels(reader)
    properties = _properties(reader, read)
    if reader.is_word("WHERE"):
        raise BadQuery("WHERE inside a node is not supported: write it after the pattern, as MATCH (n) WHERE n.x = 1")
    reader.expect(")", "after a node")
    return NodePattern(variable, types, properties)


def _edge(reader: TokenReader, read: _ReadExpression) -> EdgePattern:
    points_back = reader.takes("<")
    reader.expect("-", "of an edge")
    variable: str | None = None
    types: tuple[str, ...] = ()
    hops: Hops | None = None
    properties: tuple[tuple[str, Expression], ...] = ()
    if reader.takes("["):
        variable = reader.variable() if reader.is_variable() else None
        types = _edge_types(reader)
        hops = _hops(reader) if reader.takes("*") else None
        properties = _properties(reader, read)
        if reader.is_word("WHERE"):
            raise BadQuery("WHERE inside an edge is not supported: write it after the pattern")
        reader.expect("]", "after an edge")
    reader.expect("-", "after an edge")
    points_on = reader.takes(">")
    if reader.is_sign("+", "*", "{"):
        raise BadQuery(f"quantified patterns are not supported: write -[:TYPE*1..{MOST_HOPS}]-")
    direction: Direction = "both" if points_back == points_on else "in" if points_back else "out"
    return EdgePattern(variable, types, direction, hops, properties)


def node_labels(reader: TokenReader) -> tuple[str, ...]:
    """Read `:A|B`, in a view also `:A:domain`; return the alternative types, empty for any type.

    Raises `BadQuery` for more labels than a node has.
    """
    alternatives: list[list[str]] = []
    while reader.takes(":") or (alternatives and reader.takes("|")):
        if alternatives:
            reader.takes(":")
        _refuse_signs(reader, "node type")
        together = [reader.name("node type")]
        while reader.is_sign("&") or (reader.domain is not None and reader.is_sign(":")):
            reader.next()
            _refuse_signs(reader, "node type")
            together.append(reader.name("node type"))
        alternatives.append([label for label in together if not is_domain(reader.domain, label)])
        if len(alternatives[-1]) > 1 or (len(together) > 1 and reader.domain is None) or reader.is_sign(":"):
            label = f" besides the label {reader.domain}" if reader.domain is not None else ""
            raise BadQuery(f"a node has one type here{label}; to match either of two, write :A|B")
    types = [label for together in alternatives for label in together]
    return () if any(not together for together in alternatives) else tuple(types)


def is_domain(domain: str | None, name: str) -> bool:
    """Return whether a name is the label that every node has in a view."""
    return domain is not None and name.casefold() == domain.casefold()


def _refuse_signs(reader: TokenReader, what: str) -> None:
    if reader.is_sign("!", "%", "("):
        raise BadQuery(f"only alternatives of {what}s are supported: write :A|B")


def _edge_types(reader: TokenReader) -> tuple[str, ...]:
    """Read `:A|B` or the older `:A|:B`; return the alternative types."""
    types: list[str] = []
    while reader.takes(":") or (types and reader.takes("|")):
        if types:
            reader.takes(":")
        _refuse_signs(reader, "edge type")
        types.append(reader.name("edge type"))
        if reader.is_sign(":", "&"):
            raise BadQuery("an edge has one type; to match either of two, write :A|B")
    return tuple(types)


def _hops(reader: TokenReader) -> Hops:
    least = int(reader.next().value) if reader.peek().kind == "integer" else None
    has_range = reader.takes("..")
    most = int(reader.next().value) if has_range and reader.peek().kind == "integer" else None
    if not has_range:
        most = least
    least = 1 if least is None else least
    if most is not None and least > most:
        raise BadQuery(f"*{least}..{most} matches nothing: write *{most}..{least}")
    return Hops(least, most)


def _properties(reader: TokenReader, read: _ReadExpression) -> tuple[tuple[str, Expression], ...]:
    if reader.peek().kind == "parameter":
        raise BadQuery(f"properties cannot be one parameter: write {{key: ${reader.peek().value}}}")
    if not reader.takes("{"):
        return ()
    items: list[tuple[str, Expression]] = []
    for _ in reader.items("}", "between properties"):
        key = reader.name("property")
        reader.expect(":", f"after the property {key!r}")
        items.append((key, read(reader)))
    return tuple(items)


# The scope of an expression: its variables, parameters and names, and the notes for the caller.

MOST_PARAMETER_ITEMS = 100_000  # of a list: a bound on a request to the worker
_LARGEST = 2**63
_LONGEST_PARAMETER = 1_000_000  # characters


@dataclass(slots=True)
class Scope:
    """The state of one query while it is written for the engine."""

    names: NameMap
    parameters: Mapping[str, JsonValue]
    variables: dict[str, Value] = field(default_factory=dict)
    used: dict[str, JsonValue] = field(default_factory=dict)
    """The engine's parameters."""
    notes: list[str] = field(default_factory=list)
    may_aggregate: bool = False
    """Inside WITH and RETURN, but not inside another aggregation."""
    _numbers: Iterator[int] = field(default_factory=count)

    def fresh(self) -> str:
        """Return a new name for a variable."""
        return f"v{next(self._numbers)}"

    def variable(self, name: str) -> Value:
        """Return a variable's value. Raises `BadQuery` for a variable that no clause has introduced."""
        if name not in self.variables:
            known = [variable for variable in self.variables if variable.isprintable()]  # without made-up ones
            near = nearest(name, known, most=3)
            variables = ", ".join(known) or "none"
            hint = f" Near: {', '.join(near)}." if near else ""
            raise BadQuery(f"There is no variable {name!r} here.{hint} Known here: {variables}.")
        return self.variables[name]

    @contextmanager
    def aggregating(self, allowed: bool) -> Iterator[None]:
        """Allow or forbid count(), collect() and other aggregations inside the block."""
        before, self.may_aggregate = self.may_aggregate, allowed
        try:
            yield
        finally:
            self.may_aggregate = before

    def note(self, text: str) -> None:
        """Add a note for the caller, once."""
        if text not in self.notes:
            self.notes.append(text)

    def value(self, name: str) -> JsonValue:
        """Return the value of a parameter. Raises `BadQuery` if it was not passed."""
        if name not in self.parameters:
            names = ", ".join(self.parameters) or "none"
            raise BadQuery(f"The parameter ${name} was not given. Given: {names}.")
        return self.parameters[name]

    def parameter(self, name: str) -> Value:
        """Return a parameter in the server's text. Raises `BadQuery` for values that a server does not take."""
        value = self.value(name)
        kind = kind_of_parameter(name, value)
        if kind.name == "map":
            raise BadQuery(f"The parameter ${name} is a map: pass texts, numbers, true, false or lists of these.")
        if isinstance(value, list):
            if any(item is None or isinstance(item, list | dict) for item in value):
                raise BadQuery(
                    f"The parameter ${name} holds null, a list or a map: its items must be texts or numbers."
                )
            common([kind_of_parameter(name, item) for item in value], f"the parameter ${name}")
        if not value and isinstance(value, list | None):
            return Value("NULL" if value is None else "[]", kind)
        known = None if isinstance(value, list | dict) else value
        parameter = f"p{sorted(self.parameters).index(name)}"
        self.used[parameter] = value
        return Value(f"${parameter}", kind, known)

    def constant(self, expression: ex.Expression) -> JsonValue:
        """Return the value of a literal or a parameter; None for any other expression."""
        if isinstance(expression, ex.Parameter):
            return self.value(expression.name)
        return expression.value if isinstance(expression, ex.Literal_) else None

    def hold(self, value: JsonValue) -> str:
        """Return a parameter that holds a value of the statement itself; the same one for the same value."""
        for name, held in self.used.items():
            if name.startswith("h") and type(held) is type(value) and held == value:
                return f"${name}"
        name = f"h{len(self.used)}"
        self.used[name] = value
        return f"${name}"

    def take_apart(self, source: Value, variable: str) -> str:
        """Introduce the variable of an UNWIND; return its name. Raises `BadQuery` for a value that is not a list."""
        if source.kind.name not in ("list", "", "null"):
            raise BadQuery(f"UNWIND takes a list apart, not {source.kind.description}")
        if variable in self.variables:
            raise BadQuery(f"the variable {variable!r} is there already: give what UNWIND takes out another name")
        item = Value(self.fresh(), source.kind.item or UNKNOWN, parts=source.parts)
        self.variables = {**self.variables, variable: item}
        return item.text

    @contextmanager
    def inner(self, variables: Mapping[str, Value]) -> Iterator[None]:
        """Add variables inside the block."""
        before = self.variables
        self.variables = {**before, **variables}
        try:
            yield
        finally:
            self.variables = before


def kind_of_parameter(name: str, value: JsonValue) -> ValueKind:
    """Return the kind of a parameter. Raises `BadQuery` for a value that statements cannot use."""
    if isinstance(value, dict):
        return map_of((key, kind_of_parameter(name, item)) for key, item in value.items())
    if isinstance(value, list):
        if len(value) > MOST_PARAMETER_ITEMS:
            raise BadQuery(f"The parameter ${name} has {len(value):,} items: {MOST_PARAMETER_ITEMS:,} are allowed.")
        return list_of(common_or_unknown([kind_of_parameter(name, item) for item in value]))
    if isinstance(value, str):
        if "\0" in value or any(0xD800 <= ord(character) < 0xE000 for character in value):
            raise BadQuery(f"The parameter ${name} contains U+0000 or half a surrogate pair, which is not allowed.")
        if len(value) > _LONGEST_PARAMETER:
            raise BadQuery(f"The parameter ${name} has {len(value):,} characters: {_LONGEST_PARAMETER:,} are allowed.")
    elif type(value) is int and not -_LARGEST <= value < _LARGEST:
        raise BadQuery(f"The parameter ${name} is too large: whole numbers go up to {_LARGEST - 1}.")
    elif isinstance(value, float) and value - value != 0:
        raise BadQuery(f"The parameter ${name} is {value}: numbers must be finite.")
    return KINDS[type(value)]
