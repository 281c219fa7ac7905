"""`[(a)-[..]->(b) WHERE p | e]` for the engine, which has no such form: an OPTIONAL MATCH and a collect() before.

    MATCH (a)-[:X]->(c) RETURN c.name, [(a)-[:Y]->(b) | b.name] AS names

is written as

    MATCH (a)-[:X]->(c) WITH a, c, collect(1) AS ones OPTIONAL MATCH (a)-[:Y]->(b)
    WITH a, c, ones, collect(b.name) AS names UNWIND ones AS one RETURN c.name, names

where the ones give each row back as often as it was there.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from orienteer.cypher import syntax
from orienteer.errors import BadQuery

ELSEWHERE = (
    "[(a)-[..]->(b) | b.name] may stand in RETURN and WITH only, and not inside another one, EXISTS or COUNT: "
    "write WITH a, [(a)-[..]->(b) | b.name] AS names WHERE size(names) > 1"
)
NULLS = "[(a)-[..]->(b) | b.x] leaves out what is null"


@dataclass(slots=True)
class PatternLists:
    """The pattern comprehensions of one clause, each with the variable that stands in its place."""

    taken: dict[syntax.PatternComprehension, str] = field(default_factory=dict)

    def without(self, expression: Any) -> Any:  # Any: an expression, or what a field of one holds
        """Return an expression with a variable in the place of each comprehension, which is taken."""
        if isinstance(expression, syntax.PatternComprehension):
            return syntax.Variable(self.taken.setdefault(expression, syntax.made_up("list", len(self.taken))))
        if isinstance(expression, tuple):
            return tuple(map(self.without, expression))
        if isinstance(expression, syntax.Comprehension | syntax.Quantifier):
            return replace(expression, source=self.without(expression.source))
        if isinstance(expression, syntax.Subquery) or not is_dataclass(expression):
            return expression
        assert not isinstance(expression, type), "a part of a statement is a value"
        changed = {one.name: self.without(getattr(expression, one.name)) for one in fields(expression)}
        return replace(expression, **changed)


def named(path: syntax.PathPattern, known: Collection[str]) -> syntax.PathPattern:
    """Return a pattern whose nodes all have names, its one edge too where all nodes are known.

    Raises `BadQuery` for a pattern without a known node, or without anything new to tell a match by.
    """
    if path.variable is not None or path.shortest:
        raise BadQuery("[p = (a)-[..]->(b) | p] is not supported: MATCH the path, and collect() what is wanted of it")
    if not path.variables & set(known):
        raise BadQuery("[(a)-[..]->(b) | b.name] must begin at a variable that is known: MATCH (a) first")
    nodes = tuple(
        node if node.variable is not None else replace(node, variable=syntax.made_up("node", place))
        for place, node in enumerate(path.nodes)
    )
    if any(node.variable not in known for node in nodes):
        return replace(path, nodes=nodes)
    first, *others = path.edges
    if first.hops is not None:
        raise BadQuery("[(a)-[*1..2]->(b) | ...] must reach something new: name a node that is not known before")
    return replace(path, edges=(first if first.variable else replace(first, variable=syntax.made_up("edge")), *others))
