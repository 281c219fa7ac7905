"""What the algebra reads of a graph: edges in parts, the number of an edge, properties as columns, average degrees."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.elements import JsonValue
from orienteer.graph.properties import Condition, ValueColumn
from orienteer.graph.store import Graph
from orienteer.query.budget import BATCH, Budget
from orienteer.query.columns import Col, Numbers, column, constant, groups_of, runs
from orienteer.query.plan import Compared, Hop, Without

_NULL = np.array(None, object)
_READ = 20_000  # values between two looks at the clock
_OWN = ("weight", "text")  # of an edge, beside its properties


class Walked(NamedTuple):
    """Edges of some rows, as aligned arrays (n,)."""

    near: Numbers
    """The place of the near end among the rows that were asked for."""
    far: Numbers
    """The row at the far end."""
    at: Numbers
    """The place in the adjacency arrays."""


class Store:
    """One open graph, as the algebra reads it. Safe to share among threads: whatever is kept is the same for all."""

    def __init__(self, graph: Graph) -> None:
        arrays = graph.arrays
        # Not the graph itself: it keeps its store, and the two would keep an old generation open.
        self.schema, self.types = arrays.schema, arrays.types
        self.ids, self.names = arrays.ids, arrays.names
        self.node_texts, self.properties = arrays.texts, arrays.properties
        self.adjacency, self.extras = arrays.adjacency, arrays.edge_extras
        self.node_types = np.asarray(arrays.node_types)
        self.size = len(self.node_types)
        self.symmetric = frozenset(
            number for number, name in enumerate(self.types.edges) if name in self.schema.symmetric
        )
        self._node_columns: dict[str, tuple[Numbers, Col]] = {}
        self._edge_conditions: dict[str, ValueColumn] = {}
        self._of_types: dict[frozenset[int], Numbers] = {}

    @staticmethod
    def of(graph: Graph) -> Store:
        """Return the store of a graph; all callers share one."""
        return graph.arrays.once("query", lambda: Store(graph))

    # Edges.

    def around(self, rows: Numbers, hop: Hop, budget: Budget, *, loops: bool = False) -> Iterator[Walked]:
        """Yield the edges of rows that a hop may walk, in parts of about a batch; the edges of one row may be split.

        Within a row edges are in the order of neighbours and kinds. Raises what `Budget.walk` raises.
        """
        begin = self.adjacency.indptr[rows]
        counts = self.adjacency.indptr[rows + 1] - begin
        budget.walk(int(counts.sum()))
        mask = self.kind_mask(hop.kinds) if hop.kinds else None
        carrying = self._carrying(hop) if hop.where else None
        for low, high in runs(counts):
            part = counts[low:high]
            total = int(part.sum())
            if high == low + 1:  # a single node: its entries lie side by side, and may be more than a batch
                for first in range(0, total, BATCH):
                    at = np.arange(int(begin[low]) + first, int(begin[low]) + min(first + BATCH, total))
                    yield self._walked(rows, np.full(len(at), low), at, mask, carrying, loops=loops)
                    budget.check()
            elif total:
                index = np.repeat(np.arange(low, high), part)
                at = np.arange(total) + np.repeat(begin[low:high] - np.cumsum(part) + part, part)
                yield self._walked(rows, index, at, mask, carrying, loops=loops)
                budget.check()

    def _walked(
        self,
        rows: Numbers,
        index: Numbers,
        at: Numbers,
        mask: NDArray[np.bool_] | None,
        carrying: NDArray[np.bool_] | None,
        *,
        loops: bool,
    ) -> Walked:
        """Return the entries that are walked. A loop is stored once, as outgoing, and has no direction."""
        kind = self.adjacency.kind[at]
        keep = np.ones(len(at), np.bool_) if mask is None else mask[kind]
        if self.has_loops:
            is_loop = self.adjacency.neighbor[at] == rows[index]
            if not loops:
                keep = keep & ~is_loop
            elif mask is not None:
                keep |= is_loop & mask[kind ^ 1]
        if carrying is not None:
            extras = self.adjacency.extras(at)
            keep = keep & (carrying[extras] if extras is not None else carrying[-1])
        if not keep.all():
            index, at = index[keep], at[keep]
        return Walked(index, self.adjacency.neighbor[at].astype(np.int64), at)

    def between(self, rows: Numbers, others: Numbers, kinds: frozenset[int]) -> tuple[Numbers, Numbers]:
        """Return the edges from each row to the other at its place, loops included: the place of the pair, (n,), and
        the place in the adjacency arrays, (n,). `rows` and `others` have one length."""
        first, last = self.adjacency.bounds(rows, others)
        counts = last - first
        ends = np.cumsum(counts)
        index = np.repeat(np.arange(len(rows)), counts)
        at = np.repeat(first - ends + counts, counts) + np.arange(int(ends[-1]) if len(ends) else 0)
        if kinds:
            kind, mask = self.adjacency.kind[at], self.kind_mask(kinds)
            keep = mask[kind] | ((rows[index] == others[index]) & mask[kind ^ 1])
            index, at = index[keep], at[keep]
        return index, at

    def kind_mask(self, kinds: frozenset[int]) -> NDArray[np.bool_]:
        """Mark kinds of edges, those of symmetric types both ways: (2 * edge types,)."""
        mask = np.zeros(2 * len(self.types.edges), np.bool_)
        for kind in kinds:
            mask[kind] = True
            if kind >> 1 in self.symmetric:
                mask[kind ^ 1] = True
        return mask

    @cached_property
    def has_loops(self) -> bool:
        """Whether any edge leads from a node to itself."""
        if all(triple.source != triple.target for triple in self.schema.edges):
            return False
        indptr = self.adjacency.indptr
        for low in range(0, self.size, BATCH):  # a part at a time: all owners at once take 4 bytes an edge
            part = indptr[low : low + BATCH + 1]
            owner = np.repeat(np.arange(low, low + len(part) - 1, dtype=np.int32), np.diff(part))
            if (owner == self.adjacency.neighbor[int(part[0]) : int(part[-1])]).any():
                return True
        return False

    def edge_numbers(self, rows: Numbers, walked: Numbers, at: Numbers) -> Numbers:
        """Return the place at which each edge goes out, (n,): the same number seen from either end.

        `rows` are the near ends and `walked` the far ends of the edges at `at`. Parallel edges have the same order at
        both ends, so an incoming edge is found by its rank among them.
        """
        kind = self.adjacency.kind[at].astype(np.int64)
        incoming = np.flatnonzero(kind & 1)
        if not len(incoming):
            return at
        near, far, kind = rows[incoming], walked[incoming], kind[incoming]
        rank = at[incoming] - self.adjacency.bounds(near, far, kind)[0]
        numbers = at.copy()
        numbers[incoming] = self.adjacency.bounds(far, near, kind ^ 1)[0] + rank
        return numbers

    def ends_of(self, at: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Return sources, targets and edge types of the edges that go out at these places: three arrays (n,)."""
        source = np.searchsorted(self.adjacency.indptr, at, "right") - 1
        return source, self.adjacency.neighbor[at].astype(np.int64), self.adjacency.kind[at].astype(np.int64) >> 1

    def _carrying(self, hop: Hop) -> NDArray[np.bool_]:
        """Mark the extras of edges that meet all conditions of a hop: (extras + 1,), the last for edges without."""
        mask = np.ones(1 + (0 if self.extras is None else len(self.extras)), np.bool_)
        for part in hop.where:
            condition = part.part if isinstance(part, Without) else part
            assert isinstance(condition, Compared), "edges are compared by their own properties"
            name = condition.property
            if name not in self._edge_conditions:
                numbers, values = self.property("edge", name)
                self._edge_conditions[name] = ValueColumn.of(numbers.tolist(), values.values())
            met = np.zeros(len(mask), np.bool_)
            met[self._edge_conditions[name].meeting(store_condition(condition))] = True
            mask &= ~met if isinstance(part, Without) else met
        return mask

    # Nodes.

    @cached_property
    def _counts(self) -> tuple[Numbers, dict[tuple[int, int], int]]:
        """Count the nodes of each type, and the edges of each kind at nodes of each type."""
        numbers = {name: number for number, name in enumerate(self.types.nodes)}
        edge_numbers = {name: number for number, name in enumerate(self.types.edges)}
        edges: dict[tuple[int, int], int] = {}
        for triple, count in self.schema.edges.items():
            kind = 2 * edge_numbers[triple.type]
            for way, near in ((kind, triple.source), (kind + 1, triple.target)):
                for same in (way, way ^ 1) if kind >> 1 in self.symmetric else (way,):
                    edges[same, numbers[near]] = edges.get((same, numbers[near]), 0) + count
        return np.bincount(self.node_types, minlength=len(numbers)), edges

    def fan(self, kinds: frozenset[int], types: frozenset[int]) -> float:
        """Return how many edges of these kinds a node of these types has on average; empty sets are all."""
        counts, edges = self._counts
        types = types or frozenset(range(len(counts)))
        kinds = kinds or frozenset(range(2 * len(self.types.edges)))
        total = sum(edges.get((kind, node_type), 0) for kind in kinds for node_type in types)
        return total / max(int(sum(counts[node_type] for node_type in types)), 1)

    def all_of(self, types: frozenset[int]) -> Numbers:
        """Return the nodes of these types, all nodes for an empty set: (n,), ascending."""
        if types not in self._of_types:
            wanted = np.zeros(len(self.types.nodes), np.bool_)
            wanted[list(types)] = True
            self._of_types[types] = np.flatnonzero(wanted[self.node_types]) if types else np.arange(self.size)
        return self._of_types[types]

    def count_of(self, types: frozenset[int]) -> int:
        """Count the nodes of these types, all nodes for an empty set."""
        return int(sum(self._counts[0][node_type] for node_type in types)) if types else self.size

    def called(self, name: str) -> list[int]:
        """Return the nodes with exactly this name."""
        rows: list[int] = self._named("=", name).tolist()
        return rows

    def names_with(self, where: str, text: str) -> NDArray[np.bool_]:
        """Mark the nodes whose name CONTAINS, STARTS WITH or ENDS WITH a text: (nodes,)."""
        mask = np.zeros(self.size, np.bool_)
        mask[self._named(where, text)] = True
        return mask

    def _named(self, where: str, text: str) -> Numbers:
        """Return the nodes with a text in their name, ascending; all names are searched as one run of bytes."""
        begins, ends = self.names.places(text) if text else (np.zeros(0, np.int64), np.zeros(0, np.int64))
        starts, stops = self.names.bounds
        rows = np.searchsorted(stops, begins, "right")
        fits = (starts[rows] == begins) if where in ("=", "STARTS WITH") else (starts[rows] <= begins)
        fits &= (stops[rows] == ends) if where in ("=", "ENDS WITH") else (stops[rows] >= ends)
        return rows[fits]

    # Properties.

    @property
    def edge_properties(self) -> Collection[str]:
        """The properties that some edge has, `weight` and `text` among them."""
        return self._edge_columns.keys()

    @cached_property
    def _edge_columns(self) -> dict[str, tuple[Numbers, Col]]:
        """The numbers of the extras with each property of edges, ascending, and its values."""
        texts = [] if self.extras is None else self.extras.take(np.arange(len(self.extras)))
        numbers: dict[str, list[int]] = defaultdict(list)
        values: dict[str, list[JsonValue]] = defaultdict(list)
        for low in range(0, len(texts), BATCH):  # a part at a time: a dictionary takes ten times the memory of its text
            extras: list[dict[str, Any]] = json.loads(b"[%b]" % b",".join(texts[low : low + BATCH]))  # Any: JSON
            for number, extra in enumerate(extras, low):
                own = {name: extra[name] for name in _OWN if name in extra} | extra.get("properties", {})
                for name, value in own.items():
                    if value is not None:
                        numbers[name].append(number)
                        values[name].append(value)
        return {name: (np.array(numbers[name], np.int64), column(values[name])) for name in numbers}

    def property(self, owner: str, name: str) -> tuple[Numbers, Col]:
        """Return the nodes, or the extras of edges, with a property, ascending, and its values.

        `owner` is `node` or `edge`. Both are empty if none has it.
        """
        nothing: tuple[Numbers, Col] = np.zeros(0, np.int64), column([])
        if owner == "edge":
            return self._edge_columns.get(name, nothing)
        if name not in self.properties.names:
            return nothing
        if name not in self._node_columns:
            rows, values = self.properties.read(name)
            self._node_columns[name] = rows.astype(np.int64), column(values)
        return self._node_columns[name]

    def types_with(self, owner: str, name: str) -> tuple[str, ...]:
        """Return the types of the nodes, or edges, with a property, sorted."""
        if owner == "node":
            rows = self.properties.rows(name) if name in self.properties.names else np.zeros(0, np.int32)
            own = np.flatnonzero(np.bincount(self.node_types[rows], minlength=1)).tolist()
            return tuple(sorted(self.types.nodes[number] for number in own))
        having, _ = self.property(owner, name)
        mask, found = np.zeros(1 + len(self.extras or ()), np.bool_), set[int]()
        mask[having] = True
        for low in range(0, len(self.adjacency.kind), 8 * BATCH):
            part = slice(low, low + 8 * BATCH)
            extras = self.adjacency.extras(part)
            if extras is not None:
                found.update(np.unique(self.adjacency.kind[part][mask[extras]] >> 1).tolist())
        return tuple(sorted(self.types.edges[number] for number in found))

    @cached_property
    def _weighed(self) -> NDArray[np.bool_]:
        """Mark the edge types with weights: (edge types,)."""
        return np.isin(np.array(self.types.edges), self.types_with("edge", "weight"))

    def values(self, name: str, rows: Numbers, budget: Budget) -> list[JsonValue]:
        """Return a property of some nodes, or if none is so called their names or texts: (n,), None for none.

        Raises `UnknownProperty`, and what `Budget.check` raises.
        """
        own = {"name": self.names, "text": self.node_texts}
        values: list[JsonValue] = []
        for low in range(0, len(rows), _READ):
            budget.check()
            part = rows[low : low + _READ].astype(np.int32)
            if name in own and name not in self.properties.names:
                values += [own[name][row] or None for row in part.tolist()]
            else:
                values += self.properties.values(name, part)
        return values

    def read(self, owner: str, name: str, rows: Numbers) -> Col:
        """Return a property of some nodes, or of the edges at some places, null for none: (n,). -1 is null."""
        places = rows
        if owner == "edge":
            extras = self.adjacency.extras(np.maximum(rows, 0))
            rows = np.full(len(rows), -1) if extras is None else np.where(rows < 0, -1, extras)
        having, values = self.property(owner, name)
        if not len(having):
            return constant(None, len(rows))
        at = having.searchsorted(rows)
        is_there = having.take(at, mode="clip") == rows
        taken = values.take(np.minimum(at, len(having) - 1))
        if owner == "edge" and name == "weight":
            # An edge without a weight weighs 1, if others of its type have any.
            is_weighed = (places >= 0) & self._weighed[self.adjacency.kind[np.maximum(places, 0)] >> 1]
            return Col("float", np.where(is_there, taken.data, 1.0), ~is_there & ~is_weighed)
        if taken.kind == "any":
            return Col("any", np.where(is_there, taken.data, _NULL))
        null = ~is_there if taken.null is None else ~is_there | taken.null
        return Col(taken.kind, taken.data, null if null.any() else None)

    def properties_of(self, owner: str, place: int) -> dict[str, Any]:  # Any: Cypher's values
        """Return the properties of one node, without id and name, or of the edge at a place."""
        names = self.properties.names if owner == "node" else self.edge_properties
        read = {name: self.read(owner, name, np.array([place])) for name in names}
        return {name: column.values()[0] for name, column in read.items() if not column.nulls[0]}

    def texts(self, what: str, rows: Numbers) -> Col:
        """Return the ids, or names, of nodes: (n,). Each distinct node is read once, and -1 is null."""
        strings = self.ids if what == "id" else self.names
        first, back = groups_of(rows + 1, self.size + 1)
        unique = rows[first]
        known = np.full(len(unique), None, object)
        is_there = unique >= 0
        known[is_there] = [text.decode() for text in strings.take(unique[is_there])]
        # Two nodes may share a name: rows are grouped by the text, not by the node.
        numbers: dict[str | None, int] = {}
        code = np.fromiter((numbers.setdefault(text, len(numbers)) for text in known), np.int64, len(known))
        return Col("any", known[back], None, (code[back], max(len(numbers), 1)))


def store_condition(compared: Compared) -> Condition:
    """Return a condition of the algebra as the graph's store takes it."""
    value = compared.value if isinstance(compared.value, str) else repr(compared.value)
    return Condition(compared.property, compared.comparison, value)
