"""One name map: types and properties by whatever name a query gives them, to what they are called in the copy.

The engine takes `Gene` and `gene` for one name, and keeps node types and edge types in one space; here they are told
apart. A type is named by its code, its label, another word for it, or any of these without regard to case, spaces and
signs; an edge type also together with the types that it joins: `DISEASE_DOWNREGULATES_GENE`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

from orienteer.cypher.ladybug.kinds import BOOLEAN, FLOAT, INTEGER, TEXT, Kind, Value, list_of
from orienteer.cypher.view import View
from orienteer.errors import UnknownProperty, UnknownType, nearest
from orienteer.records import Record, Schema, Triple

_MOST_SHOWN = 30
_OWN = ("id", "name")  # what every node has
_KINDS = {"text": TEXT, "integer": INTEGER, "float": FLOAT, "boolean": BOOLEAN}


class Column(Record):
    """A property that was copied."""

    column: str
    """What it is called in the copy."""
    kind: str
    """text, integer, float or boolean, or a list of these: `text[]`."""
    types: tuple[str, ...]
    """The node types, or edge types, of which some have it."""

    @property
    def value_kind(self) -> Kind:
        """What its values are."""
        return list_of(_KINDS[self.kind[:-2]]) if self.kind.endswith("[]") else _KINDS[self.kind]


class Catalog(Record):
    """What a copy holds, and under which names."""

    version: int
    engine: str
    """The engine and its version: another one makes the copy anew."""
    node_tables: dict[str, str]
    edge_tables: dict[str, str]
    table_numbers: dict[str, str]
    """Node type by the engine's number of its table."""
    node_columns: dict[str, Column]
    edge_columns: dict[str, Column]
    left_out: dict[str, str]
    """Properties that were not copied, each with the reason."""
    edge_left_out: dict[str, str]
    loops: dict[str, int] = {}
    """Edges from a node to itself by type; they are not copied."""


def engine_names(names: Iterable[str], taken: Collection[str] = ()) -> dict[str, str]:
    """Return a name for each that the engine can tell from all others: its own where that can be."""
    used = {one.casefold() for one in taken}
    found: dict[str, str] = {}
    for name in names:
        other, number = name, 2
        is_plain = name.isprintable() and not set("`.") & set(name)  # what stands before a dot it takes for a database
        if not name or name.startswith("_") or len(name) > 100 or not is_plain:
            other = f"x{len(found)}"
        stem = other
        while other.casefold() in used or other.upper().casefold() in used:
            other, number = f"{stem}~{number}", number + 1
        used |= {other.casefold(), other.upper().casefold()}
        found[name] = other
    return found


class Names:
    """Looks names up in a graph's schema and in its copy's catalog."""

    view: View | None = None
    """The view that gives the names; None where the graph has its own."""

    def __init__(self, schema: Schema, catalog: Catalog) -> None:
        self.schema, self.catalog = schema, catalog
        self.triples = tuple(schema.edges)
        self.undirected = schema.symmetric
        """Edge types whose edges fit a pattern whichever way its arrow points."""

    def called(self, type_name: str) -> str:
        """Return what results call a type."""
        return type_name

    def identifier(self, node: Value) -> str:
        """Return the id of a node as the engine takes it."""
        return f"{node.text}.id"

    # ---------------------------------------------------------------------------------------------------- types

    def node_types(self, name: str) -> frozenset[str]:
        """Return the node types that a name means. Raises `UnknownType`."""
        found = _look_up(name, self._node_words)
        if not found:
            raise self._unknown("node type", name, list(self.schema.node_types))
        return found

    def edge_triples(self, name: str) -> frozenset[Triple]:
        """Return the kinds of edge that a name means; one that names end types means those only.

        Raises `UnknownType`.
        """
        if types := _look_up(name, self._edge_words):
            return frozenset(one for one in self.triples if one.type in types)
        found = self._joining.get(_bare(name), frozenset())
        if not found:
            raise self._unknown("edge type", name, list(self.schema.edge_types), self._joined_words())
        return found

    @cached_property
    def _node_words(self) -> list[Mapping[str, frozenset[str]]]:
        return self._words(self.schema.node_types)

    @cached_property
    def _edge_words(self) -> list[Mapping[str, frozenset[str]]]:
        return self._words(self.schema.edge_types)

    def _words(self, types: Iterable[str]) -> list[Mapping[str, frozenset[str]]]:
        """Return what names mean, the closest reading first."""
        schema = self.schema
        exact, folded, bare = (dict[str, set[str]]() for _ in range(3))
        for one in types:
            exact.setdefault(one, set()).add(one)
            for word in (one, schema.label(one)):
                folded.setdefault(word.casefold(), set()).add(one)
            for word in (one, schema.label(one), *schema.also_called.get(one, ())):
                if key := _bare(word):
                    bare.setdefault(key, set()).add(one)
        return [{word: frozenset(found) for word, found in level.items()} for level in (exact, folded, bare)]

    @cached_property
    def _joining(self) -> Mapping[str, frozenset[Triple]]:
        found: dict[str, set[Triple]] = {}
        for triple in self.triples:
            sources, words, targets = (self._called(one) for one in (triple.source, triple.type, triple.target))
            for source in sources:
                for word in words:
                    for target in targets:
                        found.setdefault(_bare(f"{source}{word}{target}"), set()).add(triple)
        return {word: frozenset(triples) for word, triples in found.items()}

    def _called(self, name: str) -> set[str]:
        return {name, self.schema.label(name), *self.schema.also_called.get(name, ())}

    def _joined_words(self) -> list[str]:
        """Edge types with the types that they join, as a query may name them."""
        label = self.schema.label
        return ["_".join(map(label, (one.source, one.type, one.target))).upper() for one in self.triples]

    def _unknown(self, what: str, name: str, known: list[str], further: Sequence[str] = ()) -> UnknownType:
        readable = list(dict.fromkeys(self.schema.label(one) for one in known))
        near = _near(name, [*readable, *known, *further])
        hint = f" Near: {', '.join(near)}." if near else ""
        more = ", ..." if len(readable) > _MOST_SHOWN else ""
        return UnknownType(f"No {what} {name!r}.{hint} In this graph: {', '.join(readable[:_MOST_SHOWN])}{more}.", near)

    # ----------------------------------------------------------------------------------------------- properties

    def node_column(self, key: str, types: frozenset[str]) -> Column:
        """Return the column of a property of nodes of some types. Raises `UnknownProperty`."""
        return self._column("node", key, types, self.catalog.node_columns, self.catalog.left_out)

    def edge_column(self, key: str, types: frozenset[str]) -> Column:
        """Return the column of a property of edges of some types. Raises `UnknownProperty`."""
        return self._column("edge", key, types, self.catalog.edge_columns, self.catalog.edge_left_out)

    def _column(
        self, what: str, key: str, types: frozenset[str], columns: Mapping[str, Column], left_out: Mapping[str, str]
    ) -> Column:
        known = _known(key, columns)
        if known is not None:
            column = columns[known]
            if not types & set(column.types):
                raise UnknownProperty(
                    f"No {what} of {self._list(types)} has the property {key!r}: "
                    f"it belongs to {self._list(column.types)}. {self._having(what, types, columns)}"
                )
            return column
        missing = _known(key, left_out)
        if missing is not None:
            raise UnknownProperty(
                f"The property {key!r} is not in the copy that Cypher reads: {left_out[missing]}. "
                "Find words of it by search, and read it whole by showing the node."
            )
        near = nearest(key, self._properties(what, types, columns), most=3) or nearest(key, columns, most=3)
        hint = f" Near: {', '.join(near)}." if near else ""
        has = self._having(what, types, columns)
        raise UnknownProperty(f"No {what} has a property {key!r}.{hint} {has} For words of a text use search.", near)

    def _properties(self, what: str, types: frozenset[str], columns: Mapping[str, Column]) -> list[str]:
        """Return the properties of some types, with those that every node has."""
        own = [*_OWN] if what == "node" else []
        return own + [name for name, column in columns.items() if types & set(column.types) and name not in own]

    def _having(self, what: str, types: frozenset[str], columns: Mapping[str, Column]) -> str:
        has = ", ".join(self._properties(what, types, columns)[:_MOST_SHOWN]) or "none"
        return f"{self._list(types)} has: {has}."

    def _list(self, types: Collection[str]) -> str:
        shown = [self.schema.label(one) for one in sorted(types)]
        return ", ".join(dict.fromkeys(shown[:6])) + (", ..." if len(shown) > 6 else "")


def _look_up(name: str, levels: list[Mapping[str, frozenset[str]]]) -> frozenset[str]:
    for level, word in zip(levels, (name, name.casefold(), _bare(name)), strict=True):
        if word in level:
            return level[word]
    return frozenset()


def _near(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that look most like one, whatever joins their words; each meaning once."""
    spaced: dict[str, str] = {}
    for one in known:
        spaced.setdefault(one.replace("_", " "), one)
    found: dict[str, str] = {}
    for one in nearest(name.replace("_", " "), spaced, most=6):
        found.setdefault(_bare(one), spaced[one])
    return list(found.values())[:3]


def _known(key: str, known: Mapping[str, object]) -> str | None:
    if key in known:
        return key
    same = [one for one in known if one.casefold() == key.casefold()]
    return same[0] if len(same) == 1 else None


def _bare(name: str) -> str:
    """Return a name without case, spaces and signs."""
    return "".join(one for one in name.casefold() if one.isalnum())
