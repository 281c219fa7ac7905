"""A database's names for the types and the fields of nodes of our schema."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from orienteer.cypher.kinds import NULL, TEXT, Value, kind_of_entry, quoted
from orienteer.cypher.names import Catalog, NameMap
from orienteer.records import Schema


@dataclass(frozen=True, slots=True)
class TypeLabels:
    """The mapping from labels to types."""

    order: tuple[str, ...]
    """The types, named like their labels; the first that is a label of a node is its type."""
    rivals: Mapping[str, tuple[str, ...]]
    """By type, the other types of nodes that also have its label."""
    unlabelled: str | None = None
    """The type of nodes without a label; None if every node has one."""


@dataclass(frozen=True, slots=True)
class NameProperties:
    """The properties with the names of nodes of a type."""

    whole: tuple[str, ...] = ()
    """Whole names, the best first."""
    parts: tuple[str, ...] = ()
    """Parts of a name in their order, such as first name and last name."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The database's properties for ids and names, and those whose values have another type there."""

    id_property: str
    """Empty if element ids are the ids."""
    has_numbers: bool
    """The ids are whole numbers in the database, and texts with us."""
    names: Mapping[str, NameProperties]
    """By node type."""
    texts: frozenset[str]
    """Properties that are dates, times or numbers in the database, and texts with us."""
    whole: str | None
    """A label of all nodes, by which ids are looked up, or None."""


class ServerNames(NameMap):
    """Looks up names in the schema of a database, and writes its names for them."""

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
        """Return whether all nodes with the type's label are of the type."""
        return node_type != self.labels.unlabelled and not self.labels.rivals.get(node_type)

    def _has_type(self, value: str, node_type: str) -> str:
        bears = f"{value}:{quoted(node_type)}"
        if rivals := self.labels.rivals.get(node_type):
            bears += "".join(f" AND NOT {value}:{quoted(label)}" for label in rivals)
        if node_type == self.labels.unlabelled:
            return f"({bears} OR size(labels({value})) = 0)"
        return f"({bears})"

    def type_of(self, value: str, types: str) -> str:
        """Write the type of a node, null for null; `types` is the parameter with the types in order."""
        found = f"head([t IN {types} WHERE t IN labels({value})])"
        if self.labels.unlabelled is None:
            return found
        return f"CASE WHEN {value} IS NOT NULL THEN coalesce({found}, {types}[{len(self.labels.order) - 1}]) END"

    def property(self, base: Value, key: str) -> Value:
        """Write a property of a node or an edge, or an entry of a map. Raises `BadQuery`, `UnknownProperty`."""
        kind, own = base.kind, key.casefold()
        if kind.name not in ("node", "edge"):
            entry = kind_of_entry(kind, key)
            return Value("NULL" if entry == NULL else f"({base.text}).{quoted(key)}", entry, parts=base.parts)
        owner = base if base.text.isidentifier() else base._replace(text=f"({base.text})")
        if kind.name == "node" and own in ("id", "name") and key not in self.catalog.node_columns:
            return Value(self.identifier(owner) if own == "id" else self.name(owner), TEXT)
        column = self.column(kind.name, key, kind.types)
        return Value(self.property_text(owner.text, column.column), column.value_kind)

    def identifier(self, node: Value) -> str:
        """Write the id of a node."""
        if not self.fields.id_property:
            return f"elementId({node.text})"
        own = f"{node.text}.{quoted(self.fields.id_property)}"
        return f"toString({own})" if self.fields.has_numbers else own

    def name(self, node: Value) -> str:
        """Write the name of a node: the first name property that it has, else its id."""
        types = node.kind.types or frozenset(self.schema.node_types)
        held = [self.fields.names.get(node_type, NameProperties()) for node_type in sorted(types)]
        orders = sorted({properties.whole for properties in held})
        several = dict.fromkeys(name for order in orders for name in order)
        candidates = [self.property_text(node.text, name) for name in several]
        if any(len(order) > 1 for order in orders) and len(orders) > 1:
            # The types prefer different properties for a name: each has a case of its own.
            cases = []
            for node_type in sorted(types):
                if whole := self.fields.names.get(node_type, NameProperties()).whole:
                    values = ", ".join(self.property_text(node.text, name) for name in whole)
                    cases.append(f"WHEN {self.has_type(node.text, [node_type])} THEN coalesce({values}, null)")
            candidates = [f"CASE {' '.join(cases)} END"]
        parts = {properties.parts for properties in held if properties.parts}
        candidates += [_joined(node.text, names) for names in sorted(parts)]
        if len(candidates) == 1 and not parts and all(properties.whole for properties in held):
            return candidates[0]
        return f"coalesce({', '.join([*candidates, self.identifier(node)])})"

    def property_text(self, value: str, key: str) -> str:
        """Write a property of a node or an edge."""
        own = f"{value}.{quoted(key)}"
        return f"toString({own})" if key in self.fields.texts else own


def _joined(value: str, names: tuple[str, ...]) -> str:
    """Write the parts of a name as one text, null if all are missing."""
    own = [f"{value}.{quoted(name)}" for name in names]
    text = " + ".join(f"CASE WHEN {part} IS NULL THEN '' ELSE toString({part}) + ' ' END" for part in own)
    return f"CASE WHEN {' OR '.join(f'{part} IS NOT NULL' for part in own)} THEN trim({text}) END"
