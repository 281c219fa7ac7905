"""The scope of an expression: its variables, parameters and names, and the notes for the caller."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from orienteer.cypher import syntax
from orienteer.cypher.kinds import NULL, UNKNOWN, Value, common, constant, list_of
from orienteer.cypher.names import NameMap
from orienteer.errors import BadQuery, nearest
from orienteer.records import JsonValue

Constant: TypeAlias = None | bool | int | float | str
_MOST_PARAMETER_ITEMS = 100_000  # of a list: a bound on a request to the worker
_LARGEST = 2**63
_LONGEST_PARAMETER = 1_000_000  # characters


@dataclass(slots=True)
class Scope:
    """The state of one query while it is written for the engine."""

    names: NameMap
    parameters: Mapping[str, JsonValue]
    largest_for_shortest: int | None = None
    """The most edges of a graph in which the engine searches for shortest paths; None for any number."""
    variables: dict[str, Value] = field(default_factory=dict)
    optional: dict[str, str] = field(default_factory=dict)
    """By path of an OPTIONAL MATCH, a part that is null if it is missing: the engine gives a path of nulls then."""
    used: dict[str, JsonValue] = field(default_factory=dict)
    """The engine's parameters."""
    notes: list[str] = field(default_factory=list)
    local: frozenset[str] = frozenset()
    """The variables of the enclosing list conditions."""
    may_aggregate: bool = False
    """Inside WITH and RETURN, but not inside another aggregation."""
    _numbers: Iterator[int] = field(default_factory=count)

    def fresh(self) -> str:
        """Return a new name for a variable: the engine takes `N` and `n` for the same name."""
        return f"v{next(self._numbers)}"

    def variable(self, name: str) -> Value:
        """Return a variable's value. Raises `BadQuery` for a variable that no clause has introduced."""
        if name not in self.variables:
            known = [variable for variable in self.variables if variable.isprintable()]  # none that is made up
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
        """Return the value of a parameter. Raises `BadQuery` where it was not passed."""
        if name not in self.parameters:
            names = ", ".join(self.parameters) or "none"
            raise BadQuery(f"The parameter ${name} was not given. Given: {names}.")
        return self.parameters[name]

    def parameter(self, name: str) -> Value:
        """Return a parameter in the engine's text. Raises `BadQuery` for values that the engine cannot take."""
        value = self.value(name)
        if value is None:
            return Value("NULL", NULL)  # the engine gives a null parameter one type for all its occurrences
        if isinstance(value, dict):
            raise BadQuery(f"The parameter ${name} is a map: pass texts, numbers, true, false or lists of these.")
        if isinstance(value, list):
            return self._list(name, value)
        return constant(_checked(name, value))._replace(text=self._used(name, value))

    def constant(self, expression: syntax.Expression) -> JsonValue:
        """Return the value of a literal or a parameter; None for any other expression."""
        if isinstance(expression, syntax.Parameter):
            return self.value(expression.name)
        return expression.value if isinstance(expression, syntax.Literal_) else None

    def _list(self, name: str, items: list[JsonValue]) -> Value:
        if not items:
            return Value("[]", list_of(UNKNOWN))
        if len(items) > _MOST_PARAMETER_ITEMS:
            raise BadQuery(f"The parameter ${name} has {len(items):,} items: {_MOST_PARAMETER_ITEMS:,} are allowed.")
        if any(item is None or isinstance(item, list | dict) for item in items):
            raise BadQuery(f"The parameter ${name} holds null, a list or a map: its items must be texts or numbers.")
        kind = common([constant(_checked(name, item)).kind for item in items], f"the parameter ${name}")
        if kind.name == "float":
            items = [float(item) for item in items if isinstance(item, int | float)]
        return Value(self._used(name, items), list_of(kind))

    def _used(self, name: str, value: JsonValue) -> str:
        parameter = f"p{sorted(self.parameters).index(name)}"
        self.used[parameter] = value
        return f"${parameter}"

    def hold(self, value: JsonValue) -> str:
        """Return a parameter that holds a value of the statement itself; the same one for the same value."""
        for name, held in self.used.items():
            if name.startswith("h") and type(held) is type(value) and held == value:
                return f"${name}"
        name = f"h{len(self.used)}"
        self.used[name] = value
        return f"${name}"

    def take_apart(self, source: Value, variable: str) -> str:
        """Introduce the variable of an UNWIND; return its name. Raises `BadQuery` for what is no list."""
        if source.kind.name not in ("list", "", "null"):
            raise BadQuery(f"UNWIND takes a list apart, not {source.kind.shown}")
        if variable in self.variables:
            raise BadQuery(f"the variable {variable!r} is there already: give what UNWIND takes out another name")
        item = Value(self.fresh(), source.kind.item or UNKNOWN, parts=source.parts)
        self.variables = {**self.variables, variable: item}
        return item.text

    @contextmanager
    def inner(self, variables: Mapping[str, Value], *, local: Collection[str] = ()) -> Iterator[None]:
        """Add variables inside the block."""
        before, before_local = self.variables, self.local
        self.variables, self.local = {**before, **variables}, self.local | frozenset(local)
        try:
            yield
        finally:
            self.variables, self.local = before, before_local


def _checked(name: str, value: JsonValue) -> Constant:
    if isinstance(value, str):
        if "\0" in value or any(0xD800 <= ord(character) < 0xE000 for character in value):
            raise BadQuery(f"The parameter ${name} holds a character that is none: U+0000 or half a pair.")
        if len(value) > _LONGEST_PARAMETER:
            raise BadQuery(f"The parameter ${name} has {len(value):,} characters: {_LONGEST_PARAMETER:,} are allowed.")
    elif type(value) is int and not -_LARGEST <= value < _LARGEST:
        raise BadQuery(f"The parameter ${name} is too large: whole numbers go up to {_LARGEST - 1}.")
    elif isinstance(value, float) and value - value != 0:
        raise BadQuery(f"The parameter ${name} is {value}: numbers must be finite.")
    assert not isinstance(value, list | dict)
    return value
