"""The nodes of a graph and its types: by number, by id, and by the names that people use."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import AmbiguousNode, BadOption, Hint, NotAGraph, UnknownNode, UnknownType, nearest
from orienteer.graph.adjacency import KindMask
from orienteer.graph.damage import telling_damage
from orienteer.graph.format import TEXT_TYPES, Manifest
from orienteer.graph.names import named_in_part
from orienteer.graph.properties import Properties, node_id
from orienteer.graph.reserved import FACT, READ
from orienteer.index.arrays import Folder
from orienteer.index.bm25 import TextIndex
from orienteer.index.names import NameIndex
from orienteer.patience import check_patience, within
from orienteer.records import Direction, Kind, Node, Schema, Triple
from orienteer.text.english import STOP
from orienteer.text.proper_names import without_bracket
from orienteer.text.tokenizer import Tokenizer

Value = TypeVar("Value")

_SHORTEST_NEAR, _NEAR = 4, 0.75  # letters of a mistyped word, and its likeness to a suggestion: none is used unasked
_SHORTEST_PART = 3  # characters of a part of a name
_MOST_PARTS = 200  # names with a part in common that are compared
_LONGEST_NAME = 200  # characters of a text that is looked up as a name
_ROWS = 1 << 14  # ids whose rows are remembered: one question asks for the same few several times


class Nodes:
    """The nodes of a graph without its edges. `GraphArrays` adds these; it is the only subclass."""

    def __init__(self, path: Path, folder: Folder, manifest: Manifest) -> None:
        self.path, self.manifest, self._folder = path, manifest, folder
        self.generation = manifest.generation
        self.ids = folder.strings("id")
        self._row_of = lru_cache(_ROWS)(self.ids.find)
        """Return the row of an id, or None if it is unknown."""
        self.names = folder.strings("name")
        self.texts = folder.strings("text")
        self.node_types = folder.array("node_type", "u2")
        self._aliases = folder.strings("aliases")
        tokenizers = (Tokenizer(stem=stem) for stem in (True, False))
        tokenizer = next((tokenizer for tokenizer in tokenizers if tokenizer.id == manifest.tokenizer), None)
        if tokenizer is None:
            message = f"{path} was built with the tokenizer {manifest.tokenizer!r}: import it again with --force"
            raise NotAGraph(message, paths=[path])
        self.tokenizer = tokenizer
        # The nodes whose texts count for the rarity of a word, (nodes,); None for all.
        read = manifest.provenance.get(TEXT_TYPES) or ()
        numbers = [number for number, name in enumerate(manifest.node_types) if name in read]
        measured = np.isin(self.node_types, numbers) if numbers else None
        self.text_index = TextIndex(folder, manifest.text["mean_length"], measured=measured)
        """The postings of names, aliases and texts."""
        self.name_index = NameIndex(folder, self.tokenizer)
        """The nodes by name."""
        self.properties = Properties(folder, manifest.properties, manifest.nodes)
        """The properties of nodes by column."""
        self._once: dict[Hashable, Any] = {}  # Any: each key has its own type
        self._locks: dict[Hashable, Any] = {}  # Any: a lock has no type that can be named
        columns = self.ids, self.names, self.texts, self._aliases, self.node_types, self.text_index.lengths
        if any(len(column) != manifest.nodes for column in columns):
            raise ValueError(f"{', '.join(str(len(column)) for column in columns)} entries for {manifest.nodes} nodes")

    def __len__(self) -> int:
        return self.manifest.nodes

    def __contains__(self, node: object) -> bool:
        """Return whether there is a node with this id."""
        return isinstance(node, str) and self._row_of(node) is not None

    def once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of `make`, called at the first call for this key and kept while the graph is open.

        For costly values above the store, such as an engine over a copy of the graph. Concurrent threads call `make`
        once. Its error is raised, and the next call tries again.
        """
        if key not in self._once:
            with self._locks.setdefault(key, RLock()):
                if key not in self._once:
                    # No caller's time limit ends this: else a value that takes longer would never be there.
                    with within(None):
                        self._once[key] = make()
        value: Value = self._once[key]
        return value

    @cached_property
    def schema(self) -> Schema:
        """Return the types of the graph with their counts."""
        manifest = self.manifest
        return Schema(
            node_types=manifest.node_types,
            edges={Triple(edges.source, edges.type, edges.target): edges.count for edges in manifest.triples},
            symmetric=frozenset(manifest.symmetric),
            labels=manifest.labels,
            also_called=manifest.also_called,
            partial=frozenset(manifest.partial),
        )

    @cached_property
    def types(self) -> TypeNames:
        """Return the types by number and by name."""
        return TypeNames(self.schema, tuple(self.manifest.node_types), tuple(self.manifest.edge_types))

    @telling_damage
    def node_at(self, row: int) -> Node:
        """Return the node of a row."""
        return Node(
            id=self.ids[row],
            type=self.type_at(row),
            name=self.names[row],
            text=self.texts[row],
            aliases=self.aliases_at(row),
            properties=self.properties.of(row),
        )

    def type_at(self, row: int) -> str:
        """Return the node type of a row."""
        return str(self.types.nodes[self.node_types[row]])

    def aliases_at(self, row: int) -> tuple[str, ...]:
        """Return the aliases of a row."""
        return tuple(json.loads(self._aliases.raw(row) or b"[]"))

    @property
    def is_made_of_documents(self) -> bool:
        """Return whether `build` made the graph from documents: its nodes are chunks that name their source."""
        return bool(self.manifest.provenance.get("made_by") == "build")

    @cached_property
    def text_types(self) -> tuple[str, ...]:
        """Return the node types that were read, if entities and facts were made from them; empty for all types."""
        types = self.manifest.provenance.get(TEXT_TYPES)
        if types is None and any(triple.type == "states" and triple.target == FACT for triple in self.manifest.triples):
            types = READ
        return tuple(name for name in self.manifest.node_types if name in (types or ()))

    @telling_damage
    def row(self, node: str) -> int:
        """Return the row of a node by its id, or else by an exact name or alias.

        A whole number is an id. Raises `UnknownNode` with near names, `AmbiguousNode` with the ids of all nodes of that
        name, `BadOption` for other values.
        """
        if not isinstance(node, str):
            name = node_id(node)
            if name is None:
                raise BadOption(f"a node is named by its id or its name, a text; this is {node!r}")
            node = name
        rows = self.candidates(node)
        if len(rows) == 1:
            return rows[0]
        if rows:
            listed = "; ".join(f"{self.ids[row]} ({self.type_at(row)})" for row in rows[:10])
            more = f"; and {len(rows) - 10} more" if len(rows) > 10 else ""
            raise AmbiguousNode(
                f"{node!r} names {len(rows)} nodes: {listed}{more}. Use an id.",
                [self.ids[row] for row in rows],
                value=node,
            )

        def hint() -> Hint:
            near = self.near_names(node)
            return Hint(near, f"Near: {'; '.join(near)}." if near else "orienteer search finds nodes by words.")

        raise UnknownNode(f"No node {node!r}.", value=node, hint=hint)

    def candidates(self, node: str) -> list[int]:
        """Return the rows that a name may mean: the row with this id, or else all with this exact name or alias."""
        check_patience()
        row = self._row_of(node)
        if row is not None:
            return [row]
        links = self.name_index.called(node)
        best = min((link.kind for link in links), default=None)
        rows = [link.row for link in links if link.kind == best]
        for same in (lambda name: name == node, lambda name: name.casefold() == node.casefold()):
            # Words have no punctuation: by them, `C++` is `C` and `C#` as well.
            if spelled := [row for row in rows if any(map(same, (self.names[row], *self.aliases_at(row))))]:
                return spelled
        return rows

    @telling_damage
    def named_in_part(self, name: str) -> int | None:
        """Return the only row whose name contains the words of `name` in a row, or None.

        Stop words alone, such as `the`, are not part of a name.
        """
        if len(name.strip()) < _SHORTEST_PART or STOP.issuperset(self.tokenizer.words(name)):
            return None
        rows = named_in_part(self, name[:_LONGEST_NAME])
        return int(rows[0]) if len(rows) == 1 else None

    @cached_property
    def shorter_names(self) -> dict[tuple[str, ...], list[int]]:
        """Return the rows whose name ends in `(...)`, by the words of the name without it."""
        rows: dict[tuple[str, ...], list[int]] = {}
        for row, name in enumerate(self.names):
            if name.endswith(")") and (short := without_bracket(name)) != name:
                rows.setdefault(tuple(self.tokenizer.words(short)), []).append(row)
        return rows

    @telling_damage
    def near_names(self, text: str, *, most: int = 5) -> list[str]:
        """Return at most `most` names of nodes that look like a text, nearest first."""
        text = text[:_LONGEST_NAME]
        spellings = [
            [word, *self.name_index.spellings(word, shortest=_SHORTEST_NEAR, alike=_NEAR)]
            for word in self.tokenizer.words(text)
        ]
        terms = [term for word in dict.fromkeys(chain(*spellings)) for term in self.tokenizer.expand(word)]
        rows = [*self.text_index.search(terms, 50).rows.tolist(), *named_in_part(self, text)[:_MOST_PARTS].tolist()]
        names = dict.fromkeys(self.names[row] for row in rows)
        corrected = " ".join(words[min(1, len(words) - 1)] for words in spellings)
        return list(dict.fromkeys((*nearest(text, names, most=most), *nearest(corrected, names, most=most))))[:most]


@dataclass(frozen=True, slots=True)
class TypeNames:
    """The types of nodes and edges by number and by the names that people use: the code, or its readable label."""

    schema: Schema
    nodes: Sequence[str]
    edges: Sequence[str]

    def node_numbers(self, names: Iterable[str]) -> list[int]:
        """Return the numbers of node types, ascending. Raises `UnknownType`."""
        return _numbers("node type", names, self.nodes, self.schema.labels)

    def edge_numbers(self, names: Iterable[str]) -> list[int]:
        """Return the numbers of edge types, ascending; a shared label means all its types. Raises `UnknownType`."""
        return _numbers("edge type", names, self.edges, self.schema.labels)

    def node_mask(self, names: Collection[str]) -> NDArray[np.bool_]:
        """Mark node types: (node types,). Raises `UnknownType`."""
        mask = np.zeros(len(self.nodes), np.bool_)
        mask[self.node_numbers(names)] = True
        return mask

    def kind_mask(self, names: Collection[str] | None, direction: Direction | None) -> KindMask | None:
        """Mark the kinds of edges to walk: (2 * edge types,); None for all kinds. A symmetric edge has no direction.

        Raises `UnknownType`, `BadOption`.
        """
        if names is None and direction is None:
            return None
        if direction not in (None, "out", "in"):
            raise BadOption(f"direction is {direction!r}: it must be out or in")
        mask = np.zeros((len(self.edges), 2), np.bool_)
        numbers = range(len(self.edges)) if names is None else self.edge_numbers(names)
        for number in numbers:
            if direction is None or self.edges[number] in self.schema.symmetric:
                mask[number] = True
            else:
                mask[number, int(direction == "in")] = True
        return mask.ravel()

    def kind(self, kind: int, node_type: int) -> Kind:
        """Return the kind of an edge (edge type * 2 + incoming) to a neighbour of this node type, by names."""
        edge_type = self.edges[kind >> 1]
        incoming = kind & 1 and edge_type not in self.schema.symmetric
        return Kind(edge_type, "in" if incoming else "out", self.nodes[node_type])


def _numbers(what: str, names: Iterable[str], types: Sequence[str], labels: Mapping[str, str]) -> list[int]:
    number_of = {name: number for number, name in enumerate(types)}
    numbers: list[int] = []
    for name in names:
        if name in number_of:
            numbers.append(number_of[name])
            continue
        folded = name.casefold()
        same = [
            number
            for type_name, number in number_of.items()
            if folded in (type_name.casefold(), labels.get(type_name, type_name).casefold())
        ]
        if not same:
            readable = [labels.get(type_name, type_name) for type_name in types]
            near = nearest(name, dict.fromkeys([*types, *readable]))
            hint = f" Near: {', '.join(near)}." if near else ""
            listed = ", ".join(dict.fromkeys(readable[:40])) + (", ..." if len(readable) > 40 else "")
            raise UnknownType(f"No {what} {name!r}.{hint} In this graph: {listed}.", near, value=name)
        numbers += same
    return sorted(set(numbers))
