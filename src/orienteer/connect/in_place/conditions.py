"""Conditions on properties (`year >= 2000`): the server leaves out what cannot meet them, and what it sends is tested.

The test is the store's own. The server is asked only for what it compares as the store does: numbers, and whether the
property is there at all; a text may be a date to the store, and counts whatever its case.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from orienteer.connect.bolt.server import Server, quoted
from orienteer.connect.in_place.seen import SeenNodes, StandIn
from orienteer.connect.opencypher.names import ServerNames
from orienteer.graph.properties import Condition, known, meets, number_of
from orienteer.index.bm25 import Mask
from orienteer.records import Node

_NUMBERS = frozenset({"integer", "float"})
_SIGNS = {"!=": "<>"}


class Conditions(NamedTuple):
    """Conditions that must all be met."""

    tests: tuple[Condition, ...] = ()
    """With the properties as the database spells them."""
    asked: tuple[str, ...] = ()
    """What the server is asked of them, with `{node}` for a node's variable."""
    parameters: Mapping[str, Any] = {}  # Any: values of the database

    def are_met(self, node: Node) -> bool:
        """Tell whether a node meets them all."""
        return all(meets(node.properties.get(test.property), test) for test in self.tests)

    def where(self, node: str) -> str:
        """Return what the server is asked of a node as ` AND ...`; empty for nothing."""
        return "".join(f" AND {text.format(node=node)}" for text in self.asked)


EVERY = Conditions()
"""Conditions that every node meets."""


class MaskInPlace(StandIn):
    """Marks the nodes of some types that meet some conditions."""

    def __init__(self, server: Server, types: Mask | None, conditions: Conditions, seen: SeenNodes) -> None:
        super().__init__(server)
        self._types, self.conditions, self._seen = types, conditions, seen

    def __getitem__(self, rows: Any) -> Any:  # Any: a row, or an array of rows
        nodes, met = self._seen.nodes, self.conditions.are_met
        is_of = np.True_ if self._types is None else self._types[self._seen.types(rows)]
        if not self.conditions.tests:
            return is_of if self._types is not None else np.ones(np.shape(rows), np.bool_)
        if np.ndim(rows) == 0:
            return bool(is_of) and met(nodes[int(rows)])
        return is_of & np.array([met(nodes[row]) for row in np.asarray(rows).tolist()], np.bool_)


def conditions_of(tests: Sequence[Condition], names: ServerNames, properties: Sequence[str]) -> Conditions:
    """Return conditions on properties that the database has. Raises `UnknownProperty`."""
    own = tuple(test._replace(property=known(test.property, properties)) for test in tests)
    asked, parameters = [], dict[str, float]()
    for place, test in enumerate(own):
        column = names.catalog.node_columns.get(test.property)
        if column is None:
            continue
        value = "{node}." + quoted(column.column).replace("{", "{{").replace("}", "}}")
        number = number_of(test.value)
        if column.kind in _NUMBERS and not math.isnan(number):
            asked.append(f"{value} {_SIGNS.get(test.comparison, test.comparison)} $where{place}")
            parameters[f"where{place}"] = number
        else:
            asked.append(f"{value} IS NOT NULL")
    return Conditions(own, tuple(asked), parameters)
