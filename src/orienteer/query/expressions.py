"""Expressions over the names of a table: a tree of values, calls and conditions.

Cypher's parser writes these records. `Inner`, `IsOf` and `IsIn`, in `plan`, are the algebra's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Literal, TypeAlias, TypeVar

from orienteer.errors import BadQuery

MOST_DEEP = 200  # chained operators and nested forms: each takes up to 3 of the 1,000 calls that Python nests
_Part = TypeVar("_Part")


class Tree:
    """A part of a statement with parts of its own, which are counted when it is created."""

    __slots__ = ("depth", "size")
    depth: int
    """The levels of nesting."""
    size: int
    """All parts; a part that occurs twice counts twice."""

    def __post_init__(self) -> None:
        """Count depth and size. Raises `BadQuery` if a chain is too long or a nesting too deep."""
        depth, size = _measured(tuple(getattr(self, name) for name in self.__slots__))
        if depth >= MOST_DEEP:
            raise BadQuery(
                f"the query has more than {MOST_DEEP} chained operators or nested forms: write x IN [a, b] "
                "for x = a OR x = b, UNWIND and sum() for a + b, and name parts by WITH ... AS x"
            )
        # The record is frozen, but not complete yet.
        object.__setattr__(self, "depth", depth + 1)
        object.__setattr__(self, "size", size + 1)


def measured(part: object) -> tuple[int, int]:
    """Return the depth and the size of a part of a statement; a leaf has 0 and 1."""
    return (part.depth, part.size) if isinstance(part, Tree) else (0, 1)


def _measured(parts: tuple[object, ...]) -> tuple[int, int]:
    depth = size = 0
    for part in parts:
        deep, large = _measured(part) if isinstance(part, tuple) else measured(part)
        depth, size = max(depth, deep), size + large
    return depth, size


def children(tree: object) -> Iterator[object]:
    """Yield what a tuple or a record is made of."""
    if isinstance(tree, tuple):
        yield from tree
    elif is_dataclass(tree):
        for field in fields(tree):
            yield getattr(tree, field.name)


def parts(tree: object, kind: type[_Part]) -> Iterator[_Part]:
    """Yield the parts of a class in a statement, in the order of the text; the statement itself may be one.

    `parts(statement, EdgePattern)` yields every edge, also those in subqueries.
    """
    if isinstance(tree, kind):
        yield tree
    for part in children(tree):
        yield from parts(part, kind)


@dataclass(frozen=True, slots=True)
class Literal_:
    """A text, a number, true, false or null."""

    value: None | bool | int | float | str


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$name`."""

    name: str


@dataclass(frozen=True, slots=True)
class Variable:
    """A name that a clause introduced."""

    name: str


@dataclass(frozen=True, slots=True)
class Property(Tree):
    """`base.key`."""

    base: Expression
    key: str


@dataclass(frozen=True, slots=True)
class FunctionCall(Tree):
    """A call of a function that is listed; its name is in lower case."""

    name: str
    arguments: tuple[Expression, ...]
    distinct: bool = False
    star: bool = False


@dataclass(frozen=True, slots=True)
class Unary(Tree):
    """`NOT x`, `-x`, `x IS NULL`, `x IS NOT NULL`."""

    operator: Literal["NOT", "-", "IS NULL", "IS NOT NULL"]
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Tree):
    """Two operands: AND OR XOR = <> < <= > >= + - * / % ^ IN CONTAINS STARTS WITH ENDS WITH =~."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class ListOf(Tree):
    """`[a, b]`."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class MapOf(Tree):
    """`{a: 1}`; `n {.a, b: 1}` is read as `{a: n.a, b: 1}`."""

    items: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Item(Tree):
    """`list[at]`: from 0, or from the end if negative."""

    base: Expression
    at: Expression


@dataclass(frozen=True, slots=True)
class Slice(Tree):
    """`list[begin..end]`: from 0, or from the end if negative, without the end."""

    base: Expression
    begin: Expression | None
    end: Expression | None


@dataclass(frozen=True, slots=True)
class CaseExpression(Tree):
    """`CASE WHEN a THEN b ... ELSE c END`; `CASE x WHEN 1` is read as `CASE WHEN x = 1`."""

    whens: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None


@dataclass(frozen=True, slots=True)
class Comprehension(Tree):
    """`[x IN list WHERE p | e]`."""

    variable: str
    source: Expression
    where: Expression | None
    result: Expression | None


@dataclass(frozen=True, slots=True)
class Quantifier(Tree):
    """`any(x IN list WHERE p)`, and all, none, single."""

    kind: Literal["any", "all", "none", "single"]
    variable: str
    source: Expression
    where: Expression


Expression: TypeAlias = Literal_ | Parameter | Variable | Tree
"""Every other part is a `Tree`."""


def conjuncts(where: Expression | None) -> Iterator[Expression]:
    """Yield the conditions that AND joins."""
    if isinstance(where, Binary) and where.operator == "AND":
        yield from conjuncts(where.left)
        yield from conjuncts(where.right)
    elif where is not None:
        yield where
