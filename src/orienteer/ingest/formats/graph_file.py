"""A file that holds one whole graph -> a graph, by the names that tables have for the same.

An edge without direction makes its type a symmetric one. Where a type has edges of both kinds, those that come second
get a type of their own, `TYPE (directed)` or `TYPE (undirected)`, for a type is either symmetric or not.

Nodes may follow the edges that join them: the file is then read a second time, for those edges alone. Memory holds ids
and the ends of edges. Ids of edges say nothing that their ends do not, and are not kept.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from orienteer.display import counted
from orienteer.errors import BadInput, BadOption
from orienteer.graph.builder import GraphBuilder
from orienteer.ingest.formats.apoc import ApocCsv, ApocJson, is_csv, is_json
from orienteer.ingest.formats.elements import EdgeElement, GraphReader, NodeElement
from orienteer.ingest.formats.files import opened_text, suffix
from orienteer.ingest.formats.gexf import Gexf
from orienteer.ingest.formats.gml import Gml
from orienteer.ingest.formats.graphml import GraphMl
from orienteer.ingest.formats.node_link import NodeLink, is_node_link
from orienteer.ingest.formats.table import EDGE_ROWS, Batch, is_sparse
from orienteer.ingest.portable import ExportedGraph
from orienteer.ingest.report import Tally
from orienteer.ingest.tables import mirror
from orienteer.ingest.tables.columns import EDGE_RANKS, NODE_RANKS, Columns, EdgeRoles, check_named, plainly
from orienteer.ingest.tables.edges import EdgeMaker
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.nodes import NodeMaker, add_once, explode
from orienteer.ingest.tables.plan import graphs

MakeReader: TypeAlias = Callable[[Path, Tally], GraphReader]
READERS: Mapping[str, MakeReader] = {".graphml": GraphMl, ".gexf": Gexf, ".gml": Gml}
"""By suffix; each may be packed with gzip."""
JSON = frozenset({".json", ".jsonl", ".ndjson"})
HEAD = 1 << 16
"""Characters by which a file of a common suffix is recognised."""
SOURCE, TARGET, TYPE = "@source", "@target", "@type"
"""Columns of what the format itself says of an edge."""


class _Taker(Protocol):
    """Makes a graph of elements."""

    def add_node(self, element: NodeElement) -> None:
        """Take a node."""

    def add_edge(self, element: EdgeElement) -> None:
        """Take an edge, whose nodes were taken before."""

    def finish(self) -> Labels:
        """Finish when all is read, and return the labels of types."""


@dataclass(frozen=True, slots=True)
class GraphFile:
    """One such file."""

    file: Path
    columns: Columns
    tally: Tally

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the file."""
        return (self.file,)

    def read(self, builder: GraphBuilder) -> Labels:
        """Read the graph into the builder. Raises `BadInput`, and `BadOption` for a role that the format fills."""
        reader = self._reader(self.tally)
        elements = reader.elements()
        first = next(elements, None)
        if first is None:
            return Labels()  # the importer refuses a graph without nodes
        graph = self._taker(reader, builder)
        late, number = array("q"), 0
        for element in chain((first,), elements):
            if isinstance(element, NodeElement):
                graph.add_node(element)
                continue
            if builder.has(element.source) and builder.has(element.target):
                graph.add_edge(element)
            else:
                late.append(number)
            number += 1
        for edge in self._numbered(late):
            graph.add_edge(edge)
        reader.typed.tell(self.tally, self.file)
        return graph.finish()

    def _reader(self, tally: Tally) -> GraphReader:
        make = reader_of(self.file)
        if make is None:
            raise BadInput(f"{self.file} has changed while it was read: import it again")
        return make(self.file, tally)

    def _taker(self, reader: GraphReader, builder: GraphBuilder) -> _Taker:
        columns = self.columns
        if reader.meta is None:
            refuse_ids(columns, self.file)
            return AttributedGraph(reader, columns, builder, self.tally)
        if columns.roles or columns.private or columns.explode:
            raise BadOption(f"{self.file} is an export of a graph, and read as it is: leave out the options of columns")
        return ExportedGraph(self.file, reader.meta, builder)

    def _numbered(self, numbers: array[int]) -> Iterator[EdgeElement]:
        """Read the file again for the edges of these numbers, counted from 0 and rising."""
        if not numbers:
            return
        wanted = iter(numbers)
        next_number, number = next(wanted), 0
        for element in self._reader(Tally()).elements():  # the first reading has counted what it drops
            if isinstance(element, EdgeElement):
                if number == next_number:
                    yield element
                    next_number = next(wanted, -1)
                number += 1


def recognize(sources: Sequence[Path], columns: Columns, tally: Tally) -> GraphFile | None:
    """Return the graph file that is named, or that lies in a folder without tables; None without one.

    Raises `BadInput` if there are several: each is a graph of its own.
    """
    files = [path for source in sources for path in graphs(source, lambda file: reader_of(file) is not None)]
    if not files:
        return None
    if len(files) > 1 or len(sources) > 1:
        raise BadInput(f"{files[0]} is a graph of its own: import one such file at a time, and nothing beside it")
    return GraphFile(files[0], columns, tally)


def reader_of(path: Path) -> MakeReader | None:
    """Return what reads a file of a whole graph: by its suffix, else by how it begins; None for any other file."""
    name = suffix(path)
    if name in READERS or name not in (".csv", *JSON):
        return READERS.get(name)
    try:
        with opened_text(path, has_lines=False) as text:
            head = text.read(HEAD)
    except BadInput:
        return None  # whoever reads it as a table says so
    if name == ".csv":
        return ApocCsv if is_csv(head) else None
    if is_json(head):
        return ApocJson
    return NodeLink if name == ".json" and is_node_link(head, is_whole=len(head) < HEAD) else None


class ElementSource(Protocol):
    """What has to be known of the file, or the database, that elements come from."""

    @property
    def path(self) -> object:
        """Return what it is called in messages."""

    @property
    def node_type(self) -> str:
        """Return the attribute that holds the type of every node; empty for none."""

    @property
    def edge_type(self) -> str:
        """Return the attribute that holds the type of every edge; empty for none."""

    @property
    def declares_edges(self) -> bool:
        """Say whether every attribute of edges is known from the start."""

    @property
    def types_edges(self) -> bool:
        """Say whether every edge has a type of its own, beside its attributes."""

    edge_names: dict[str, None]
    """Attributes of edges that are known so far, in order."""


class AttributedGraph:
    """Takes the elements of one file, or of one database."""

    def __init__(self, reader: ElementSource, columns: Columns, builder: GraphBuilder, tally: Tally) -> None:
        # The attributes of nodes are asked for one by one, those of edges have to be known: `reader` knows them now.
        self._reader, self._columns, self._builder, self._tally = reader, columns, builder, tally
        self._nodes = NodeMaker(with_role(columns, "node_type", reader.node_type), tally=tally)
        self._edges, self._type_column = self._edge_maker()
        self._seen: set[str] = set()
        """What earlier makers of edges have seen."""
        self._waiting: list[EdgeElement] = []
        self._names: set[str] = set()
        """The attributes of those that wait: each of them has a cell for each."""
        self._filled = 0
        """Their cells that say something."""
        self._direction: dict[str, bool] = {}
        """Of each edge type whether it is directed."""
        self._second: dict[str, int] = {}
        """Edges by the types that were made for the second kind of a type."""

    def add_node(self, element: NodeElement) -> None:
        """Take a node. Raises `DuplicateNode`."""
        # LightRAG repeats the id of a node as `entity_id`.
        fields = {name: value for name, value in element.fields.items() if value != element.id or not is_id(name)}
        node = self._nodes.node(element.id, fields)
        add_once(self._builder, node, self._tally, file=str(self._reader.path), line=element.line)

    def add_edge(self, element: EdgeElement) -> None:
        """Take an edge, whose nodes were taken before."""
        self._waiting.append(element)
        self._names |= element.fields.keys()
        self._filled += len(element.fields)
        if len(self._waiting) == EDGE_ROWS or is_sparse(len(self._names) * len(self._waiting), self._filled):
            self._flush()

    def finish(self) -> Labels:
        """Mark the types without direction, and clean the edges."""
        self._flush()
        explode([self._nodes], self._columns, self._builder)
        seen = self._nodes.seen | self._edges.seen | self._seen | set(self._reader.edge_names)
        check_named(self._columns, seen - {SOURCE, TARGET, TYPE})
        table = self._builder.edges
        table.symmetric |= {name for name, is_directed in self._direction.items() if not is_directed}
        mirror.align(table)
        mirror.clean(table, self._tally)
        for own, count in self._second.items():
            kinds = ("directed", "undirected") if self._direction[own] else ("undirected", "directed")
            some = counted(count, f"{kinds[0]} edge")
            self._tally.notes.append(f"gave {some} of a type that has {kinds[1]} ones, too, the type {own!r}")
        return Labels()

    def _edge_maker(self) -> tuple[EdgeMaker, str]:
        """Return the maker, and the column of the types: an attribute, else what the format itself says."""
        reader = self._reader
        columns = with_role(self._columns, "edge_type", reader.edge_type)
        names = [name for name in reader.edge_names if name not in (SOURCE, TARGET, TYPE)]
        is_told = columns.role("edge_type", "type") is not None or any(
            EDGE_RANKS.get(plainly(name), ("", 0))[0] == "type" for name in names if not reader.types_edges
        )
        ours = {"source": SOURCE, "target": TARGET} | ({} if is_told else {"edge_type": TYPE})
        with_ours = replace(columns, roles={**columns.roles, **ours})
        roles = EdgeRoles.of([*ours.values(), *names], with_ours, reader.path)
        maker = EdgeMaker(roles, columns, tally=self._tally, file=str(reader.path), is_text=False)
        return maker, roles.type or TYPE

    def _flush(self) -> None:
        """Hand the edges so far to the builder."""
        elements, self._waiting = self._waiting, []
        attributes = self._names
        self._names, self._filled = set(), 0
        if not elements:
            return
        if not self._reader.declares_edges and not attributes <= self._reader.edge_names.keys():
            self._seen |= self._edges.seen
            self._reader.edge_names |= dict.fromkeys(name for element in elements for name in element.fields)
            self._edges, self._type_column = self._edge_maker()
        batch = self._edges.of_batch(_batch(elements, self._type_column))
        pairs = [(name, element.is_directed) for name, element in zip(batch.types, elements, strict=True)]
        names = {pair: self._type(*pair) for pair in dict.fromkeys(pairs)}
        types = [names[pair] for pair in pairs]
        for pair, count in Counter(pairs).items():
            if (own := names[pair]) != pair[0]:
                self._second[own] = self._second.get(own, 0) + count
        self._builder.add_edges(replace(batch, types=types))

    def _type(self, name: str, is_directed: bool) -> str:
        """Return the type of such an edge: a type of its own, if the type has edges of the other kind."""
        if self._direction.setdefault(name, is_directed) == is_directed:
            return name
        own = f"{name} ({'directed' if is_directed else 'undirected'})"
        self._direction[own] = is_directed
        return own


def _batch(elements: Sequence[EdgeElement], type_column: str) -> Batch:
    """Turn edges into columns. What the format itself calls an edge fills a lack of a type, else it is a `label`."""
    fields = [
        {"label" if type_column in element.fields else type_column: element.type, **element.fields}
        if element.type
        else element.fields
        for element in elements
    ]
    columns: dict[str, list[Any]] = {  # Any: JSON
        SOURCE: [element.source for element in elements],
        TARGET: [element.target for element in elements],
    }
    for name in dict.fromkeys(name for row in fields for name in row):
        columns[name] = [row.get(name) for row in fields]
    return Batch(columns, [element.line for element in elements])


def with_role(columns: Columns, role: str, column: str) -> Columns:
    """Give a role to a column, unless the person has given it to another or wants something else of this one."""
    if not column or columns.role(role, "type") or column in (*columns.private, *columns.explode):
        return columns
    roles: Mapping[str, str] = {role: column, **columns.roles}
    return replace(columns, roles=roles)


def refuse_ids(columns: Columns, source: Path) -> None:
    """Raise `BadOption` if the person names what the format itself tells."""
    for role in ("id", "source", "target"):
        if role in columns.roles:
            raise BadOption(f"--column {role} has no meaning for {source}, which tells it: leave it out")


def is_id(name: str) -> bool:
    """Say whether an attribute of this name holds ids of nodes."""
    return NODE_RANKS.get(plainly(name), ("", 0))[0] == "id"
