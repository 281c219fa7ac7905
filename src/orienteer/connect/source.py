"""Imports a database over Bolt (Neo4j, ArcadeDB, Memgraph): one stream of nodes, then one of edges.

A node's rarest label is its type, for it says the most; the others are the property `labels`. Labels that begin with
`__` are marks of other programs and come last; one that every node has is dropped if a node has others. The id is the
first property with a known name for ids that each node has with a value of its own; else the database's element id.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from orienteer.connect.bolt import Server, is_time
from orienteer.cypher.kinds import quoted
from orienteer.display import Count
from orienteer.errors import BadInput, BadOption
from orienteer.graph.builder import GraphBuilder, Progress
from orienteer.graph.edges import EdgeTable
from orienteer.ingest.formats.element_maker import LABELS, AttributedGraph, labelled
from orienteer.ingest.formats.elements import EdgeElement, ElementSource, Fields, NodeElement
from orienteer.ingest.formats.table import shown
from orienteer.ingest.importer import ImportOptions, imported
from orienteer.ingest.report import EMPTY_ID, Ignored, Report, Tally
from orienteer.ingest.tables.columns import NODE_RANKS, Columns, plainly
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.values import identifier
from orienteer.records import Record

MARK = "__"
"""Start of the labels with which other programs mark nodes (`__Entity__`, `__KGBuilder__`)."""
SHORTEST_VECTOR = 64
"""Numbers in a list; a longer one is a vector, which nobody reads as a property."""
TOLD_EVERY = 2_000
"""Rows between two reports of progress."""
READING_NODES, READING_EDGES = "reading nodes", "reading edges"
"""Stages, as the builder calls them."""


@dataclass(frozen=True, slots=True)
class DatabaseCounts:
    """The numbers of nodes and edges."""

    nodes: int
    edges: int
    labels: Mapping[str, int]
    """Nodes by label."""
    sets: Mapping[tuple[str, ...], int]
    """Nodes by all their labels, sorted."""


@dataclass(slots=True)
class Database(ElementSource):
    """A database, from which nodes and edges are read."""

    server: Server
    columns: Columns
    tally: Tally
    totals: dict[str, int]
    """The counts of nodes and edges by stage, once they are known, for progress."""
    id_property: str = ""
    """The property whose values are the ids; empty for the element ids."""
    edge_names: dict[str, None] = field(default_factory=dict)
    counts: DatabaseCounts | None = None
    """None before it is read."""
    see_rows: Callable[[EdgeTable], None] | None = None
    """Called with all edges before any is dropped."""
    own_ids: list[str] = field(default_factory=list)
    """The database's own ids of the nodes, in reading order, for `see_rows`."""
    node_ids: list[str] = field(default_factory=list)
    """Their ids in the graph."""
    # Rows of the last statement.
    _given: int = 0
    _vectors: Counter[str] = field(default_factory=Counter)

    node_type = LABELS
    types_edges = True
    files: tuple[Path, ...] = ()
    path: str = field(init=False)
    """The address."""

    def __post_init__(self) -> None:
        self.path = str(self.server.address)

    def read(self, builder: GraphBuilder) -> Labels:
        """Read nodes, then edges. Raises `BadInput`, `BadOption`, `DatabaseAway`, `DatabaseRefused`."""
        columns = self.columns_but_the_id
        builder.tell("counting", 0)
        self.counts = counts = count_all(self.server)
        if not counts.nodes:
            raise BadInput(f"{self.path} holds no node: check the name of the database")
        self.totals |= {READING_NODES: counts.nodes, READING_EDGES: counts.edges}
        self.id_property = self.choose_ids()
        graph = AttributedGraph(self, columns, builder, self.tally)
        for node in self.nodes(counts):
            if node.line % TOLD_EVERY == 0:
                builder.tell(READING_NODES, node.line)
            if self.see_rows is not None:
                self.own_ids.append(node.own_id)
                self.node_ids.append(node.id)
            graph.add(node)
        for edge in self.edges(counts):
            if edge.line % TOLD_EVERY == 0:
                builder.tell(READING_EDGES, edge.line)
            graph.add(edge)
        graph.flush()
        if self.see_rows is not None:
            self.see_rows(builder.edges)
        labels = graph.finish()
        ids = f"the property {self.id_property!r}" if self.id_property else "the database's own, which may change"
        self.tally.notes.append(f"ids of nodes: {ids}")
        for name, count in sorted(self._vectors.items()):
            self.tally.notes.append(
                f"left out {count:,} vectors of the property {name!r}: orienteer embed makes others"
            )
        return labels

    @property
    def columns_but_the_id(self) -> Columns:
        """Return the roles of columns except the id. Raises `BadOption` for those of edges' ends."""
        for role in ("source", "target"):
            if role in self.columns.roles:
                raise BadOption(f"--column {role} has no meaning for {self.path}, which tells it: leave it out")
        others = {role: name for role, name in self.columns.roles.items() if role != "id"}
        return replace(self.columns, roles=others)

    def choose_ids(self) -> str:
        """Return the property of the ids, empty for element ids. Raises `BadInput` if a named one is not unique."""
        named = self.columns.roles.get("id")
        if named is None:
            return unique_property(self.server, without=self.columns.private)
        count = count_values(self.server, named)
        if not count.is_unique:
            raise BadInput(
                f"--column id={named}: of {count.nodes:,} nodes in {self.path} {count.have:,} have it, with "
                f"{count.differ:,} values; name a property that each node has and no two share, or leave it out"
            )
        return named

    def nodes(self, counts: DatabaseCounts) -> Iterator[NodeElement]:
        """Yield every node. Raises `BadInput` if the server withholds some."""
        yield from self.chosen_nodes(counts)
        self._require(counts.nodes, "MATCH (n) RETURN count(n) AS count", "nodes")

    def chosen_nodes(self, counts: DatabaseCounts, where: str = "", **values: Any) -> Iterator[NodeElement]:
        """Yield the nodes `n` that meet a condition; `values` are its parameters."""  # Any: of the database
        condition = f"WHERE {where} " if where else ""
        statement = f"MATCH (n) {condition}RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties"
        for number, (own_id, names, properties) in enumerate(self._counted(statement, values), start=1):
            node_id = identifier(properties.pop(self.id_property, "")) if self.id_property else own_id
            # The node came after the ids were counted.
            if not node_id.strip():
                self.tally.dropping(self.path)(EMPTY_ID, number, shown(own_id))
                continue
            fields = self._fields(properties, number)
            yield NodeElement(node_id, labelled(fields, telling_labels(names, counts)), number, own_id)

    def edges(self, counts: DatabaseCounts) -> Iterator[EdgeElement]:
        """Yield every edge. Raises `BadInput` if the server withholds some."""
        yield from self.chosen_edges("MATCH (a)-[r]->(b)")
        self._require(counts.edges, "MATCH ()-[r]->() RETURN count(r) AS count", "edges")

    def chosen_edges(self, match: str, **values: Any) -> Iterator[EdgeElement]:
        """Yield the edges `r` from `a` to `b` of a MATCH; `values` are its parameters."""  # Any: as above
        ends = [self.id_of(end) for end in "ab"]
        statement = f"{match} RETURN {ends[0]} AS a, type(r) AS type, {ends[1]} AS b, properties(r) AS more"
        for number, row in enumerate(self._counted(statement, values), start=1):
            source, kind, target, properties = identifier(row[0]), row[1], identifier(row[2]), row[3]
            # An end came after the ids were counted.
            if not (source.strip() and target.strip()):
                self.tally.dropping(self.path)(EMPTY_ID, number, shown(f"{source} -> {target}"))
                continue
            fields = self._fields(properties, number) if properties else {}
            yield EdgeElement(source, target, kind, True, fields, number)

    def _counted(self, statement: str, values: Mapping[str, Any]) -> Iterator[list[Any]]:  # Any: as above
        """Yield the rows of a statement, and count them in `_given`."""
        self._given = 0
        for row in self.server.stream(statement, **values):
            self._given += 1
            yield row

    def id_of(self, node: str) -> str:
        """Return the expression for the id of a node."""
        return f"{node}.{quoted(self.id_property)}" if self.id_property else f"elementId({node})"

    def _fields(self, properties: Mapping[str, Any], number: int) -> Fields:  # Any: values of the database
        """Return properties without bytes and vectors, which are counted."""
        fields: Fields = {}
        for name, value in properties.items():
            if isinstance(value, bytes | bytearray):
                self.tally.dropping(self.path)("bytes", number, shown(name))
            elif is_vector(value):
                self._vectors[name] += 1
            else:
                fields[name] = value
        return fields

    def _require(self, counted: int, statement: str, what: str) -> None:
        """Raise `BadInput` if fewer came than were counted and still exist: a server may limit a reader."""
        if self._given < counted and self.server.rows(statement)[0][0] > self._given:
            raise BadInput(
                f"{self.path} gave {self._given:,} of {counted:,} {what} and no error: its user is given only so many "
                "rows (in ArcadeDB resultSetLimit); import as one who is given all"
            )


def count_all(server: Server) -> DatabaseCounts:
    """Count the nodes and edges. Raises `DatabaseAway`, `DatabaseRefused`."""
    labels, sets = Counter[str](), Counter[tuple[str, ...]]()
    for names, count in server.stream("MATCH (n) RETURN labels(n) AS labels, count(*) AS count"):
        sets[tuple(sorted(names))] += count
        for name in names:
            labels[name] += count
    edges = server.rows("MATCH ()-[r]->() RETURN count(r) AS count")
    return DatabaseCounts(sets.total(), edges[0][0], labels, sets)


class ValueCount(NamedTuple):
    """The values of a property among the nodes of a database."""

    nodes: int
    """All nodes."""
    have: int
    """Those with the property."""
    differ: int
    """Its distinct values."""

    @property
    def is_unique(self) -> bool:
        """Return whether each node has a value of its own."""
        return self.nodes == self.have == self.differ


def count_values(server: Server, name: str) -> ValueCount:
    """Count the nodes that have a property, and its distinct values."""
    value = f"n.{quoted(name)}"
    statement = f"MATCH (n) RETURN count(n) AS nodes, count({value}) AS have, count(DISTINCT {value}) AS differ"
    return ValueCount(*server.rows(statement)[0])


def unique_property(server: Server, *, without: Collection[str] = ()) -> str:
    """Return the best known property for ids that each node has with a value of its own; empty for none."""
    # What every node has, the first one has too.
    first = server.rows("MATCH (n) RETURN properties(n) AS properties LIMIT 1")[0][0]
    ranked = sorted(
        (rank, name)
        for name, value in first.items()
        for role, rank in [NODE_RANKS.get(plainly(name), ("", 0))]
        if role == "id" and isinstance(value, str | int) and name not in without
    )
    return next((name for _, name in ranked if count_values(server, name).is_unique), "")


def telling_labels(names: Sequence[str], counts: DatabaseCounts) -> list[str]:
    """Return the labels of a node that not all nodes have, its type first."""
    telling = [name for name in names if counts.labels.get(name, 0) < counts.nodes]
    return sorted(telling or names, key=lambda name: (name.startswith(MARK), counts.labels.get(name, 0), name))


def is_vector(value: Any) -> bool:  # Any: a value of the database
    """Return whether a value is a vector: a long list of numbers, or the driver's own type."""
    if isinstance(value, list):
        return len(value) >= SHORTEST_VECTOR and all(isinstance(member, float | int) for member in value)
    return type(value).__name__ == "Vector"


def import_database(
    server: Server, target: Path | None, *, options: ImportOptions | None = None, progress: Progress | None = None
) -> Report:
    """Import a database and publish the graph at the target; without a target only report.

    Nothing is left behind if the server fails. Raises `BadInput`, `BadOption`, `DatabaseAway`, `DatabaseRefused`.
    """
    return imported_database(server, target, options=options or ImportOptions(), progress=progress).report


class ImportedDatabase(NamedTuple):
    """A finished import."""

    report: Report
    database: Database
    """With the counts and ids of the time of reading."""


def imported_database(
    server: Server,
    target: Path | None,
    *,
    options: ImportOptions,
    progress: Progress | None = None,
    see_rows: Callable[[EdgeTable], None] | None = None,
) -> ImportedDatabase:
    """Import as `import_database` does. `see_rows` is called with all edges before any is dropped."""
    for name in ("nodes", "edges", "mapping"):
        if getattr(options, name):
            raise BadOption(f"--{name} is about tables, and {server.address} is a database: leave it out")
    totals: dict[str, int] = {}
    opened: list[Database] = []

    def tell(stage: str, count: int) -> None:
        if progress is not None:
            progress(stage, Count(count, of=max(totals[stage], count)) if stage in totals else count)

    def open_layout(columns: Columns, tally: Tally) -> Database:
        opened.append(Database(server, columns, tally, totals, see_rows=see_rows))
        return opened[0]

    def origin(builder: GraphBuilder, left_out: Sequence[Ignored]) -> Mapping[str, Any]:  # Any: JSON
        about = {"address": str(server.address), "server": server.agent, "id": opened[0].id_property}
        return {"database": about | ({"changed_by": options.changed_by} if options.changed_by else {})}

    report = imported([], target, options=options, progress=tell, beside=origin, open_layout=open_layout).report
    return ImportedDatabase(report, opened[0])


# Changes of a database since it was read, by a property that rises with every change.
#
# The property is a number, a text or a time. A node or edge without it, or with another kind of value, may have
# changed, and is read every time: so a condition asks for all that is not certainly older.


TimeFunction: TypeAlias = Literal["", "date", "datetime", "localdatetime"]
"""The openCypher function that parses such a time; empty for numbers and texts."""


class Mark(Record):
    """The highest value of the property when the database was read."""

    function: TimeFunction
    value: int | float | str

    @property
    def term(self) -> str:
        """Return the expression for the value, which is the parameter `mark`."""
        return f"{self.function}($mark)" if self.function else "$mark"


class DatabaseMarks(Record):
    """The state of a database when it was read, for the next update."""

    changed_by: str
    """The property."""
    nodes: Mark
    edges: Mark | None
    """None if no edge has the property."""
    id_property: str
    labels: dict[str, int]
    """Nodes by label."""
    sets: tuple[tuple[tuple[str, ...], int], ...]
    """Nodes by all their labels."""
    unsure: tuple[str, ...] = ()
    """Edge types with an edge to a node that came after nodes were read: their counts cannot be compared."""
    edge_names: tuple[str, ...] = ()
    """The properties of edges, in reading order."""

    @property
    def counts(self) -> DatabaseCounts:
        """Return the counts of nodes; edges are counted by type elsewhere."""
        return DatabaseCounts(sum(count for _, count in self.sets), 0, self.labels, dict(self.sets))


class Newest(NamedTuple):
    """The highest value of a property among nodes, and among edges; None if no edge has it."""

    nodes: Mark
    edges: Mark | None


def newest(server: Server, name: str) -> Newest:
    """Return the highest values of a property. Raises `BadOption` for an unusable one, `BadInput` without nodes."""
    value = quoted(name)
    nodes = server.rows(f"MATCH (n) RETURN max(n.{value}) AS newest")[0][0]
    if nodes is None:
        if not server.rows("MATCH (n) RETURN count(n) AS count")[0][0]:
            raise BadInput(f"{server.address} holds no node: check the name of the database")
        raise BadOption(f"--changed-by {name}: no node in {server.address} has such a property", value=name)
    edges = server.rows(f"MATCH ()-[r]->() RETURN max(r.{value}) AS newest")[0][0]
    return Newest(_mark(nodes, server, name), None if edges is None else _mark(edges, server, name))


def _mark(value: Any, server: Server, name: str) -> Mark:  # Any: a value of the database
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if is_number or isinstance(value, str):
        return Mark(function="", value=value)
    functions: dict[str, TimeFunction] = {
        "Date": "date",
        "DateTime": "localdatetime",
        "date": "date",
        "datetime": "localdatetime",
    }
    function = functions.get(type(value).__name__) if is_time(value) else None
    if function is None:
        raise BadOption(
            f"--changed-by {name}: {server.address} has the value {value!r}; name a property of numbers, texts, "
            "dates or dates with times that rise with every change",
            value=name,
        )
    if function == "localdatetime" and value.tzinfo is not None:
        function = "datetime"
    return Mark(function=function, value=value.iso_format() if hasattr(value, "iso_format") else value.isoformat())


class EdgeCounts(NamedTuple):
    """The edges of a type in a database."""

    edges: int
    telling: int
    """Those with the property."""
    newer: int
    """Those that may be new or changed."""


class DatabaseChanges:
    """Reads the changes of a database since it was read."""

    def __init__(self, database: Database, marks: DatabaseMarks) -> None:
        self._database, self._marks = database, marks

    def nodes(self, counts: DatabaseCounts) -> Iterator[NodeElement]:
        """Yield the nodes that may be new or changed."""
        mark = self._marks.nodes
        return self._database.chosen_nodes(counts, self._is_not_older("n", mark), mark=mark.value)

    def ids(self) -> Iterator[str]:
        """Yield the ids of all nodes."""
        for (node_id,) in self._database.server.stream(f"MATCH (n) RETURN {self._database.id_of('n')} AS id"):
            yield identifier(node_id)

    def edge_counts(self) -> dict[str, EdgeCounts]:
        """Count the edges by type."""
        value, mark = f"r.{quoted(self._marks.changed_by)}", self._marks.edges
        newer = "count(r)" if mark is None else f"sum(CASE WHEN {self._is_not_older('r', mark)} THEN 1 ELSE 0 END)"
        statement = (
            f"MATCH ()-[r]->() RETURN type(r) AS type, count(r) AS edges, count({value}) AS telling, {newer} AS newer"
        )
        rows = self._database.server.stream(statement, **({} if mark is None else {"mark": mark.value}))
        return {name: EdgeCounts(*counts) for name, *counts in rows}

    def edges(self, types: Collection[str]) -> Iterator[EdgeElement]:
        """Yield the edges of these types that may be new or changed, and others of the type between the same nodes."""
        mark = self._marks.edges
        if mark is None or not types:
            return iter(())
        match = (
            f"MATCH (a)-[c]->(b) WHERE type(c) IN $types AND {self._is_not_older('c', mark)} "
            "WITH DISTINCT a, b, type(c) AS kind MATCH (a)-[r]->(b) WHERE type(r) = kind"
        )
        return self._database.chosen_edges(match, types=sorted(types), mark=mark.value)

    def edges_of(self, name: str) -> Iterator[EdgeElement]:
        """Yield all edges of a type."""
        return self._database.chosen_edges(f"MATCH (a)-[r:{quoted(name)}]->(b)")

    def _is_not_older(self, what: str, mark: Mark) -> str:
        return f"NOT coalesce({what}.{quoted(self._marks.changed_by)} < {mark.term}, false)"
