"""A file that holds one whole graph: GraphML or GEXF.

Nodes may follow the edges that join them: the file is then read a second time, for those edges alone. Memory holds ids
and the ends of edges. Ids of edges say nothing that their ends do not, and are not kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Protocol

from orienteer.errors import BadInput, BadOption
from orienteer.graph.builder import GraphBuilder
from orienteer.ingest.formats.attributed import Attributed, refuse_ids
from orienteer.ingest.formats.files import suffix
from orienteer.ingest.formats.gexf import Gexf
from orienteer.ingest.formats.graphml import GraphMl
from orienteer.ingest.formats.xml_stream import EdgeElement, ElementReader, NodeElement
from orienteer.ingest.portable import Exported
from orienteer.ingest.report import Tally
from orienteer.ingest.tables.columns import Columns
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.plan import graphs

READERS: Mapping[str, Callable[[Path, Tally], ElementReader]] = {".graphml": GraphMl, ".gexf": Gexf}
"""By suffix; each may be packed with gzip."""


class _Taker(Protocol):
    """Makes a graph of elements."""

    def add_node(self, element: NodeElement) -> None:
        """Take a node."""

    def add_edge(self, element: EdgeElement) -> None:
        """Take an edge, whose nodes were taken before."""

    def finish(self) -> Labels:
        """Do what is to be done when all is read, and return the labels of types."""


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
            return Labels()  # whoever asked says that there is no node
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

    def _reader(self, tally: Tally) -> ElementReader:
        return READERS[suffix(self.file)](self.file, tally)

    def _taker(self, reader: ElementReader, builder: GraphBuilder) -> _Taker:
        columns = self.columns
        if reader.meta is None:
            refuse_ids(columns, self.file)
            return Attributed(reader, columns, builder, self.tally)
        if columns.roles or columns.private or columns.explode:
            raise BadOption(f"{self.file} is an export of a graph, and read as it is: leave out the options of columns")
        return Exported(self.file, reader.meta, builder)

    def _numbered(self, numbers: array[int]) -> Iterator[EdgeElement]:
        """Read the file again for the edges of these numbers, counted from 0 and rising."""
        if not numbers:
            return
        wanted = iter(numbers)
        next_one, number = next(wanted), 0
        for element in self._reader(Tally()).elements():  # what it drops has been counted
            if isinstance(element, EdgeElement):
                if number == next_one:
                    yield element
                    next_one = next(wanted, -1)
                number += 1


def recognize(sources: Sequence[Path], columns: Columns, tally: Tally) -> GraphFile | None:
    """Return the graph file that is named, or that lies in a folder without tables; None without one.

    Raises `BadInput` where there are several: each is a graph of its own.
    """
    files = [path for source in sources for path in graphs(source, lambda file: suffix(file) in READERS)]
    if not files:
        return None
    if len(files) > 1 or len(sources) > 1:
        raise BadInput(f"{files[0]} is a graph of its own: import one such file at a time, and nothing beside it")
    return GraphFile(files[0], columns, tally)
