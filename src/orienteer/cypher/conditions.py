"""The parts of a condition, and what they compare."""

from __future__ import annotations

from collections.abc import Iterator

from orienteer.cypher import syntax
from orienteer.cypher.syntax import Expression


def conjuncts(where: Expression | None) -> Iterator[Expression]:
    """Yield the conditions that AND joins."""
    if isinstance(where, syntax.Binary) and where.operator == "AND":
        yield from conjuncts(where.left)
        yield from conjuncts(where.right)
    elif where is not None:
        yield where


def compared_keys(where: Expression | None) -> dict[str, list[tuple[str, int]]]:
    """Return, by variable, the properties that a condition compares with = or IN, with the number of values."""
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
