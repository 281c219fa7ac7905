"""What a database calls the types and the fields of nodes that our schema shows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from orienteer.cypher.kinds import Value, quoted
from orienteer.cypher.names import Catalog, NameMap
from orienteer.records import Schema


@dataclass(frozen=True, slots=True)
class TypeLabels:
    """How the labels of a node tell its type: of several, one comes before the others."""

    order: tuple[str, ...]
    """The types, each the label of that name; the first of them that a node bears is its type."""
    rivals: Mapping[str, tuple[str, ...]]
    """By type, the labels of those nodes that bear its label too and are of another type."""
    unlabelled: str | None = None
    """The type of nodes without a label; None where every node has one."""


@dataclass(frozen=True, slots=True)
class NameProperties:
    """Which properties hold the names of nodes of a type."""

    whole: tuple[str, ...] = ()
    """Those that are a name, the best first."""
    parts: tuple[str, ...] = ()
    """Those that are a part of one, in their order: a first name, a last name."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Where the database holds what every node of ours has, and which properties are not the texts that they seem."""

    id_property: str
    """Empty where element ids are the ids."""
    has_numbers: bool
    """The ids are whole numbers there, and texts with us."""
    names: Mapping[str, NameProperties]
    """By node type."""
    texts: frozenset[str]
    """Properties that hold dates, times or the numbers that name a node there, and their texts with us."""
    whole: str | None
    """A label that every node bears, by which ids are looked up; None where there is none."""


class ServerNames(NameMap):
    """Looks names up in the schema of a database, and writes what they are called there."""

    def __init__(self, schema: Schema, catalog: Catalog, labels: TypeLabels, fields: Fields) -> None:
        super().__init__(schema, catalog)
        self.labels, self.fields = labels, fields

    def has_type(self, value: str, types: Collection[str]) -> str:
        """Write the condition that a node has one of these types."""
        if set(types) >= set(self.labels.order):
            return f"({value} IS NOT NULL)"
        tests = [self._has_type(value, node_type) for node_type in sorted(types)]
        return tests[0] if len(tests) == 1 else f"({' OR '.join(tests)})"

    def is_plain(self, node_type: str) -> bool:
        """Tell whether its label alone tells a type."""
        return node_type != self.labels.unlabelled and not self.labels.rivals.get(node_type)

    def _has_type(self, value: str, node_type: str) -> str:
        bears = f"{value}:{quoted(node_type)}"
        if rivals := self.labels.rivals.get(node_type):
            bears += "".join(f" AND NOT {value}:{quoted(label)}" for label in rivals)
        if node_type == self.labels.unlabelled:
            return f"({bears} OR size(labels({value})) = 0)"
        return f"({bears})"

    def type_of(self, value: str, types: str) -> str:
        """Write the type of a node, null for null; `types` is the parameter with the types in their order."""
        found = f"head([t IN {types} WHERE t IN labels({value})])"
        if self.labels.unlabelled is None:
            return found
        return f"CASE WHEN {value} IS NOT NULL THEN coalesce({found}, {types}[{len(self.labels.order) - 1}]) END"

    def identifier(self, node: Value) -> str:
        """Write the id of a node."""
        if not self.fields.id_property:
            return f"elementId({node.text})"
        own = f"{node.text}.{quoted(self.fields.id_property)}"
        return f"toString({own})" if self.fields.has_numbers else own

    def name(self, node: Value) -> str:
        """Write the name of a node: of the properties that may hold it the first that is there, else its id."""
        types = node.kind.types or frozenset(self.schema.node_types)
        held = [self.fields.names.get(node_type, NameProperties()) for node_type in sorted(types)]
        orders = sorted({properties.whole for properties in held})
        several = dict.fromkeys(name for order in orders for name in order)
        candidates = [self.property_text(node.text, name) for name in several]
        if any(len(order) > 1 for order in orders) and len(orders) > 1:
            candidates = [self._by_type(node, types)]
        parts = {properties.parts for properties in held if properties.parts}
        candidates += [_joined(node.text, names) for names in sorted(parts)]
        if len(candidates) == 1 and not parts and all(properties.whole for properties in held):
            return candidates[0]
        return f"coalesce({', '.join([*candidates, self.identifier(node)])})"

    def _by_type(self, node: Value, types: Collection[str]) -> str:
        """Write the name of a node whose types disagree on which of two properties comes first."""
        cases = []
        for node_type in sorted(types):
            if whole := self.fields.names.get(node_type, NameProperties()).whole:
                held = ", ".join(self.property_text(node.text, name) for name in whole)
                cases.append(f"WHEN {self.has_type(node.text, [node_type])} THEN coalesce({held}, null)")
        return f"CASE {' '.join(cases)} END"

    def property_text(self, value: str, key: str) -> str:
        """Write a property of a node or an edge."""
        own = f"{value}.{quoted(key)}"
        return f"toString({own})" if key in self.fields.texts else own


def _joined(value: str, names: tuple[str, ...]) -> str:
    """Write the parts of a name as one; null where none is there."""
    own = [f"{value}.{quoted(name)}" for name in names]
    text = " + ".join(f"CASE WHEN {part} IS NULL THEN '' ELSE toString({part}) + ' ' END" for part in own)
    return f"CASE WHEN {' OR '.join(f'{part} IS NOT NULL' for part in own)} THEN trim({text}) END"
