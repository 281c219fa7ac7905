"""A file that holds one whole graph -> a graph, by the names that tables have for the same.

An edge without direction makes its type a symmetric one. Where a type has edges of both kinds, those that come second
get a type of their own, `TYPE (directed)` or `TYPE (undirected)`, for a type is either symmetric or not.

Nodes may follow the edges that join them: the file is then read a second time, for those edges alone. Memory holds ids
and the ends of edges. Ids of edges say nothing that their ends do not, and are not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from pathlib import Path
from typing import TypeAlias

from orienteer.errors import BadInput, BadOption
from orienteer.graph.builder import GraphBuilder
from orienteer.ingest.formats.element_maker import AttributedGraph, refuse_ids
from orienteer.ingest.formats.elements import EdgeElement, ElementGraph, GraphReader
from orienteer.ingest.formats.files import opened_text, suffix
from orienteer.ingest.formats.gexf import Gexf
from orienteer.ingest.formats.gml import Gml
from orienteer.ingest.formats.graphml import GraphMl
from orienteer.ingest.formats.node_link import ApocCsv, ApocJson, NodeLink, is_csv, is_json, is_node_link
from orienteer.ingest.portable import ExportedGraph
from orienteer.ingest.report import Tally
from orienteer.ingest.tables.columns import Columns
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.plan import graphs

MakeReader: TypeAlias = Callable[[Path, Tally], GraphReader]
READERS: Mapping[str, MakeReader] = {".graphml": GraphMl, ".gexf": Gexf, ".gml": Gml}
"""By suffix; each may be packed with gzip."""
JSON = frozenset({".json", ".jsonl", ".ndjson"})
HEAD = 1 << 16
"""Characters by which a file of a common suffix is recognised."""


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
        graph = self._graph(reader, builder)
        late = bytearray()  # for each edge whether one of its nodes comes after it
        for element in chain((first,), elements):
            if isinstance(element, EdgeElement):
                late.append(not (graph.has(element.source) and graph.has(element.target)))
                if late[-1]:
                    continue
            graph.add(element)
        if any(late):
            again = self._reader(Tally()).elements()  # the first reading has counted what it drops
            for edge in compress((element for element in again if isinstance(element, EdgeElement)), late):
                graph.add(edge)
        reader.typed.tell(self.tally, self.file)
        return graph.finish()

    def _reader(self, tally: Tally) -> GraphReader:
        make = reader_of(self.file)
        if make is None:
            raise BadInput(f"{self.file} has changed while it was read: import it again")
        return make(self.file, tally)

    def _graph(self, reader: GraphReader, builder: GraphBuilder) -> ElementGraph:
        columns = self.columns
        if reader.meta is None:
            refuse_ids(columns, self.file)
            return AttributedGraph(reader, columns, builder, self.tally)
        if columns.roles or columns.private or columns.explode or columns.text_from:
            raise BadOption(f"{self.file} is an export of a graph, and read as it is: leave out the options of columns")
        return ExportedGraph(self.file, reader.meta, builder)


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
