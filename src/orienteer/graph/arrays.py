"""The arrays of a graph: its nodes, types and edges by row, by id and by name, for methods, tools and importers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import chain, islice
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from orienteer.elements import Direction, Edge, Kind, Node, Schema, Triple
from orienteer.errors import AmbiguousNode, BadOption, Hint, NotAGraph, UnknownNode, UnknownType, nearest
from orienteer.graph import adjacency, properties
from orienteer.graph.adjacency import Adjacency, EdgeWeights, Entries, KindMask, Meeting, distinct, meet, span
from orienteer.graph.damage import telling_damage
from orienteer.graph.format import TEXT_TYPES, Manifest
from orienteer.graph.names import named_in_part
from orienteer.graph.properties import Properties, node_id
from orienteer.graph.reserved import FACT, READ
from orienteer.graph.searchers import Searchers
from orienteer.index.arrays import Folder, Rows
from orienteer.index.bm25 import Mask, TextIndex
from orienteer.index.names import NameIndex
from orienteer.index.searchers import LexicalSearcher, Mode
from orienteer.index.word_forms import WordForms
from orienteer.patience import check_patience, within
from orienteer.remembered import cached_method
from orienteer.text.english import STOP
from orienteer.text.proper_names import without_bracket
from orienteer.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from orienteer.protocols import OpenEmbedder

Value = TypeVar("Value")

_SHORTEST_NEAR, _NEAR = 4, 0.75  # letters of a mistyped word, and its likeness to a suggestion: none is used unasked
_SHORTEST_PART = 3  # characters of a part of a name
_MOST_PARTS = 200  # names with a part in common that are compared
_LONGEST_NAME = 200  # characters of a text that is looked up as a name
_BREAK = re.compile(r"\\[nrtbf]")  # within a text of JSON
_MOST_READ = 10_000  # values with a text in longer words alone that are read: bounds the time
_ROWS = 1 << 14  # ids whose rows are remembered: one question asks for the same few several times


class GraphArrays:
    """A graph by rows: `graph.arrays`. A row is the number of a node in the order of the ids.

        arrays = graph.arrays
        rows = arrays.rows(["Erlang", "Elixir"])
        neighbors = arrays.entries(rows).neighbor
        names = [arrays.names[row] for row in neighbors]

    `Graph` names nodes by ids; methods and tools use rows, which cost no text. Safe to share among threads.
    """

    def __init__(self, path: Path, folder: Path, manifest: Manifest, *, embedder: OpenEmbedder | None) -> None:
        files = Folder(folder, manifest.files)
        self.path, self.manifest = path, manifest
        self.generation = manifest.generation
        self.ids = files.strings("id")
        self._row_of = lru_cache(_ROWS)(self.ids.find)
        """Return the row of an id, or None if it is unknown."""
        self.names = files.strings("name")
        self.texts = files.strings("text")
        self.node_types = files.array("node_type", "u2")
        self._aliases = files.strings("aliases")
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
        self.text_index = TextIndex(files, manifest.text["mean_length"], measured=measured)
        """The postings of names, aliases and texts."""
        self.name_index = NameIndex(files, self.tokenizer)
        """The nodes by name."""
        self.word_forms = WordForms(self.tokenizer, self.text_index, self.texts)
        """The other ways in which the texts write a word."""
        self.properties = Properties(files, manifest.properties, manifest.nodes)
        """The properties of nodes by column."""
        self._once: dict[Hashable, Any] = {}  # Any: each key has its own type
        self._locks: dict[Hashable, Any] = {}  # Any: a lock has no type that can be named
        columns = self.ids, self.names, self.texts, self._aliases, self.node_types, self.text_index.lengths
        if any(len(column) != manifest.nodes for column in columns):
            raise ValueError(f"{', '.join(str(len(column)) for column in columns)} entries for {manifest.nodes} nodes")
        self.adjacency = Adjacency(files)
        if not manifest.edges <= len(self.adjacency.neighbor) <= 2 * manifest.edges:
            raise ValueError(f"{len(self.adjacency.neighbor)} ends of {manifest.edges} edges")
        self.edge_extras = files.strings("edge_extra") if files.has("edge_extra.utf8") else None
        """The text, weight and properties of every edge that has any, as JSON; None if no edge has."""
        # All files are mapped now: another process may replace this generation, and remove its files, at any time.
        lexical = LexicalSearcher(self.tokenizer, self.text_index)
        self.searcher = Searchers(path, manifest.generation, lexical, embedder)
        """The searchers that rank nodes by words, by meaning, or by both."""

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
        """Return the only row whose name contains the words of `name` in a row, or None; stop words do not count."""
        if len(name.strip()) < _SHORTEST_PART or STOP.issuperset(self.tokenizer.words(name)):
            return None
        rows = named_in_part(self, self.tokenizer.words(name[:_LONGEST_NAME]))
        return rows[0] if len(rows) == 1 else None

    @cached_property
    def shorter_names(self) -> dict[tuple[str, ...], list[int]]:
        """Return the rows whose name ends in `(...)`, by the words of the name without it."""
        rows: dict[tuple[str, ...], list[int]] = {}
        for row in self.names.ending(b")").tolist():
            if (short := without_bracket(self.names[row])) != self.names[row]:
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
        rows = [
            *self.text_index.search(terms, 50).rows.tolist(),
            *named_in_part(self, self.tokenizer.words(text))[:_MOST_PARTS],
        ]
        names = dict.fromkeys(self.names[row] for row in rows)
        corrected = " ".join(words[min(1, len(words) - 1)] for words in spellings)
        return list(dict.fromkeys((*nearest(text, names, most=most), *nearest(corrected, names, most=most))))[:most]

    @property
    def cypher_engine(self) -> Callable[[Any], Any] | None:  # Any: a `Graph`, and an `Engine` of Cypher, layers above
        """The engine that answers Cypher over this graph in place of a copy; None if a copy is made."""
        return None

    @telling_damage
    def mask(self, node_types: Collection[str] | None, where: Sequence[str] = ()) -> Mask | None:
        """Mark the nodes of these types that meet these conditions: (nodes,); None without types and conditions.

        Raises `UnknownType`, `UnknownProperty`, `BadOption`.
        """
        for name, names in (("node_types", node_types), ("where", where)):
            if isinstance(names, str):
                raise BadOption(f"{name} is the text {names!r}: write a list, [{names!r}]")
        check_patience()
        return None if node_types is None and not where else self._mask(node_types, where)

    def _mask(self, node_types: Collection[str] | None, where: Sequence[str]) -> Mask:
        mask = None if node_types is None else self._type_mask(tuple(sorted(node_types)))
        if where:
            is_met = self.properties.mask(properties.parse(where))
            mask = is_met if mask is None else mask & is_met
        return cast(Mask, mask)  # there are types or conditions

    @cached_method(16)
    def _type_mask(self, names: tuple[str, ...]) -> Mask:
        return self.types.node_mask(names)[self.node_types]

    def all_of(self, node_types: Collection[str]) -> Rows:
        """Return the nodes of these types: (n,) int32, ascending. Raises `UnknownType`."""
        return np.flatnonzero(np.asarray(self.mask(node_types))).astype(np.int32)

    def first_of(self, node_types: Collection[str], most: int) -> Rows:
        """Return the first `most` nodes of these types: (n,) int32, ascending. Raises `UnknownType`."""
        return self.all_of(node_types)[:most]

    def types_with(self, name: str) -> frozenset[str]:
        """Return the node types with a node that has this property. Raises `UnknownProperty`."""
        numbers = np.unique(self.node_types[self.properties.rows(name)])
        return frozenset(self.types.nodes[int(number)] for number in numbers)

    def rows_with(self, name: str, most: int) -> dict[str, Rows]:
        """Return at most `most` nodes with a property, by type, evenly spread. Raises `UnknownProperty`."""
        rows = self.properties.rows(name)
        types = self.node_types[rows]
        spread = {}
        for number in np.unique(types).tolist():
            here = rows[types == number]
            spread[self.types.nodes[number]] = here[np.unique(np.linspace(0, len(here) - 1, most).astype(np.intp))]
        return spread

    def rows(self, nodes: Iterable[str]) -> Rows:
        """Return the distinct rows of several nodes: (n,) int32, ascending. Raises `UnknownNode`, `AmbiguousNode`."""
        if not isinstance(nodes, Iterable) or isinstance(nodes, str):
            nodes = [nodes]
        return distinct(np.array([self.row(node) for node in nodes], np.int32))

    def entries(
        self,
        rows: Rows,
        node_types: Collection[str] | None = None,
        edge_types: Collection[str] | None = None,
        direction: Direction | None = None,
        where: Sequence[str] = (),
    ) -> Entries:
        """Return the edges of some rows that pass the filters. Raises `UnknownType`, `UnknownProperty`, `BadOption`."""
        entries = self._entries(rows, self.kind_mask(edge_types, direction), where)
        if where:
            keep = cast(Mask, self.mask(node_types, where))[entries.neighbor]
        elif node_types is not None:
            keep = self.types.node_mask(node_types)[self.node_types[entries.neighbor]]
        else:
            return entries
        return entries.where(keep)

    def _entries(self, rows: Rows, kinds: KindMask | None, where: Sequence[str]) -> Entries:
        """Return the edges of some rows; those to nodes that do not meet `where` may be among them."""
        return self.adjacency.entries(rows, kinds)

    def kind_mask(self, edge_types: Collection[str] | None, direction: Direction | None) -> KindMask | None:
        """Mark the kinds of edges that pass the filters: (2 * edge types,); None for all. Raises `UnknownType`."""
        return self.types.kind_mask(edge_types, direction)

    def rank(
        self, rows: Rows, query: str | None, k: int, *, offset: int = 0, mode: Mode = "lexical"
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Return a page of ascending rows and their scores: the best match first, then rows without a match, by id."""
        searcher, ranked, scores = self.searcher(mode), rows[:0], np.zeros(0)
        if query:
            ranked, scores = searcher.search(query, offset + k, among=rows)
        missing = offset + k - len(ranked)
        if missing > 0 and len(rows) > len(ranked):
            rest = np.setdiff1d(rows, ranked, assume_unique=True) if len(ranked) else rows
            rest = self.by_id(rest)[:missing]
            ranked, scores = np.concatenate([ranked, rest]), np.concatenate([scores, np.zeros(len(rest))])
        return ranked[offset : offset + k], scores[offset : offset + k]

    def by_id(self, rows: Rows) -> Rows:
        """Return ascending rows in the order of their ids."""
        return rows

    def shortest_walks(self, start: int, end: int, *, most_edges: int, k: int) -> list[tuple[int, ...]]:
        """Return up to `k` of the shortest paths between two nodes as rows, in row order."""
        return adjacency.shortest_paths(self.adjacency, start, end, most_edges=most_edges, k=k)

    def counts(self, entries: Entries) -> dict[Kind, int]:
        """Count distinct neighbours by edge type, direction and node type, the largest count first."""
        wide = len(self.types.nodes)
        kinds = entries.kind.astype(np.int64)
        if self.schema.symmetric:
            numbers = [number for number, name in enumerate(self.types.edges) if name in self.schema.symmetric]
            kinds = np.where(np.isin(kinds >> 1, numbers), kinds & ~1, kinds)
        code = kinds * wide + self.node_types[entries.neighbor]
        if len(entries.neighbor) and entries.owner[0] == entries.owner[-1]:
            # A single node's edges are sorted by neighbour and kind: parallel ones are adjacent.
            apart = np.concatenate([[True], (code[1:] != code[:-1]) | (entries.neighbor[1:] != entries.neighbor[:-1])])
            code = code[apart]
        else:
            most = int(code.max(initial=0)) + 1
            code = distinct(entries.neighbor.astype(np.int64) * most + code) % most
        counts = np.bincount(code)
        pairs = [
            (self.types.kind(number // wide, number % wide), int(counts[number]))
            for number in np.flatnonzero(counts).tolist()
        ]
        return dict(sorted(pairs, key=lambda item: (-item[1], item[0])))

    def edges_to(self, entries: Entries, row: int) -> tuple[Edge, ...]:
        """Return the given edges that lead to a neighbour."""
        if len(entries.owner) and entries.owner[0] == entries.owner[-1]:  # a single node's: sorted by neighbour
            at = np.arange(*span(entries.neighbor, row))
        else:
            at = np.flatnonzero(entries.neighbor == row)
        return tuple(
            self.edge(int(entries.owner[entry]), row, int(entries.kind[entry]), int(entries.at[entry])) for entry in at
        )

    def edge(self, owner: int, neighbor: int, kind: int, at: int) -> Edge:
        """Return the edge at a place of the adjacency arrays, in its own direction."""
        source, target = (neighbor, owner) if kind & 1 else (owner, neighbor)
        return Edge(self.ids[source], self.types.edges[kind >> 1], self.ids[target], **self.extras(at))

    @property
    def has_extras(self) -> bool:
        """Return whether any edge has a text, a weight or properties."""
        return self.edge_extras is not None

    def contains(self, text: str) -> bool:
        """Return whether one node's name and text have all words of a text, or a value of a node or edge contains it.

        A value contains it in the same letters, in small ones, or with capitals: at most 10,000 values are read.
        """
        postings = [self.text_index.posting(term) for term in self.tokenizer.terms(text)]
        if postings and None not in postings:
            rows = (self.text_index.rows_of(posting) for posting in postings if posting is not None)
            if len(reduce(np.intersect1d, rows)):
                return True
        spellings = {json.dumps(way, ensure_ascii=False)[1:-1] for way in (text, text.casefold(), text.title())}
        whole = re.compile("|".join(rf"(?<!\w){re.escape(spelling)}(?!\w)" for spelling in spellings))
        of_nodes = map(self.properties.having, spellings)
        of_edges = map(self.edge_extras.having, spellings) if self.edge_extras is not None else ()
        values = islice(chain.from_iterable(chain(of_nodes, of_edges)), _MOST_READ)
        return any(whole.search(_BREAK.sub(" ", value)) for value in values)

    def extras(self, at: int) -> dict[str, Any]:
        """Return the text, weight and properties that the edge at a place of the adjacency arrays has."""
        number = self.adjacency.extra(at)
        if self.edge_extras is None or number is None:
            return {}
        extra: dict[str, Any] = json.loads(self.edge_extras.raw(number))  # Any: JSON
        return extra

    @cached_property
    def weights(self) -> EdgeWeights:
        """Return the reader of weights, by the places of edges in the adjacency arrays."""
        return EdgeWeights(self.adjacency, self.edge_extras)

    def touching(self, groups: Sequence[NDArray[np.int32]], mask: Mask | None = None) -> Meeting:
        """Return the rows in all of these groups, (n,), ascending, or else in two or more; as `meet` does."""
        return meet(groups, len(self), mask)

    def edges_between(self, row: int, others: Rows) -> tuple[Edge, ...]:
        """Return all edges between a node and any of some others, in either direction."""
        edges: list[Edge] = []
        for other in others[others != row].tolist():
            entries = self.adjacency.between(row, other)
            edges += [
                self.edge(row, other, int(kind), int(at)) for kind, at in zip(entries.kind, entries.at, strict=True)
            ]
        return tuple(edges)


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
        """Mark the kinds of edges to walk, (2 * edge types,); None for all. Raises `UnknownType`, `BadOption`."""
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
