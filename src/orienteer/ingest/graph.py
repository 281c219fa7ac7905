"""`Graph` as people hold it: a graph of the store, with the ways from Python's objects to it and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from orienteer.display import counted, most_frequent, types_html
from orienteer.errors import BadOption
from orienteer.graph import store
from orienteer.ingest.remote.address import may_be_address
from orienteer.page.notebook import Bundle, Table
from orienteer.page.types import DrawnTypes
from orienteer.protocols import OpenEmbedder
from orienteer.settings import read_settings


class Graph(store.Graph):
    """A graph directory, opened for reading. Safe to share among threads and to open in many processes.

        >>> from orienteer import Graph
        >>> graph = Graph.open("languages")
        >>> len(graph), "language:rust" in graph
        (169, True)

    A node is named by its id, or by a name or an alias that it alone bears. What the graph gives back names nodes by
    their ids. `graph.arrays` is the same graph by rows, for methods and tools of your own.
    """

    @classmethod
    def open(cls, path: str | Path, *, compiled: bool = False, embedder: OpenEmbedder | None = None) -> Self:
        """Open the graph directory at `path`, or the graph at an address, s3://BUCKET/NAME or https://HOST/PATH.

            >>> Graph.open("languages")
            Graph('languages', 169 nodes, 504 edges)

        A graph at an address is pulled into the cache, once, and brought up to date by each call; the extra `s3` does
        it. An open graph stays at its generation.

        `embedder` opens the embedder of queries by its name, where the graph has vectors; without it, Orienteer's own
        are known.

        Raises `NotAGraph` where there is no graph at `path`, or a damaged one; `StoreFailed` where its store does not
        answer; `BadOption` for an address with a password in it, and for what is no path; `MissingExtra`. `compiled`
        was removed.
        """
        if compiled:
            raise BadOption("compiled=True: compiled searches were removed; leave it out, results are the same")
        if not isinstance(path, str | Path):
            raise BadOption(f"path is {path!r}: give the path of a graph directory, or an address")
        if may_be_address(path):
            from orienteer.ingest.sources import graph_directory  # here: whoever opens a graph needs no importer

            path = graph_directory(Path(path), cache=read_settings().cache)
        return super().open(path, embedder=embedder)

    @classmethod
    def from_networkx(cls, network: Any, *, path: str | Path | None = None, force: bool = False) -> Self:
        """Make a graph of a `network`, any graph of networkx, and open it.

            >>> import networkx
            >>> network = networkx.DiGraph()
            >>> network.add_node(1, label="Ada", kind="person")
            >>> network.add_edge(1, 2, relation="knows", since=1999)
            >>> graph_of_two = Graph.from_networkx(network)
            >>> graph_of_two.node("Ada").type, next(graph_of_two.iter_edges()).properties
            ('person', {'since': 1999})

        Attributes are known by the names that columns of tables have. Keys of parallel edges are their types where they
        are texts, and edges without direction are of symmetric types. `path` and `force` are those of `from_records`.

        Raises `BadOption` for what is no network, `BadInput` for an attribute that JSON cannot hold.
        """
        from orienteer.ingest.exchange import write_network

        return cls._made(lambda target: write_network(target, network, force=force), path)

    @classmethod
    def from_frames(cls, nodes: Any, edges: Any = None, *, path: str | Path | None = None, force: bool = False) -> Self:
        """Make a graph of two data frames, `nodes` and `edges`, and open it.

            >>> import pandas
            >>> people = pandas.DataFrame({"id": [1, 2], "name": ["Ada", "Ben"], "born": [1961, None]})
            >>> knows = pandas.DataFrame({"source": [1], "target": [2], "type": ["knows"]})
            >>> graph_of_two = Graph.from_frames(people, knows)
            >>> graph_of_two.node("Ada").properties, graph_of_two.node("Ben").properties
            ({'born': 1961.0}, {})

        They are frames of pandas or polars, or hand out their columns as Arrow does (`__arrow_c_stream__`). Columns are
        known by the names that they have in tables; others are properties. Without `edges` no nodes are joined; if
        `nodes` is None, they are the ends of the edges. `path` and `force` are those of `from_records`.

        Raises `BadOption` for what is no frame, `BadInput` for frames without ids or ends, and as `from_records` does.
        """
        from orienteer.ingest.exchange import write_frames

        return cls._made(lambda target: write_frames(target, nodes, edges, force=force), path)

    @classmethod
    def from_csv(cls, folder: str | Path, *, path: str | Path | None = None, force: bool = False) -> Self:
        """Make a graph of a `folder` of tables, or of any other source that `orienteer import` reads, and open it.

            >>> Path("tables").mkdir()
            >>> _ = Path("tables", "nodes.csv").write_text("id,name,type\\n1,Ada,person\\n2,Ben,person\\n")
            >>> _ = Path("tables", "edges.csv").write_text("source,target,type\\n1,2,knows\\n")
            >>> Graph.from_csv("tables").neighbors("Ada").total
            1

        What is left out is logged as a warning. `path` and `force` are those of `from_records`.

        Raises `BadInput` for sources that are no graph, `BadOption` for what is no path.
        """
        from orienteer.ingest.exchange import write_sources

        return cls._made(lambda target: write_sources(target, folder, force=force), path)

    def to_networkx(self) -> Any:
        """Return the graph as a `MultiDiGraph` of networkx, its nodes by id.

            >>> network = graph.to_networkx()
            >>> network.nodes["language:rust"]["name"], network.number_of_edges()
            ('Rust', 504)

        `type`, `name`, `text`, `aliases`, `weight` and properties are attributes; `from_networkx` gives the graph back.
        A property that is named as one of the former is `property.NAME`.

        Raises `UsageError` where networkx is not installed.
        """
        from orienteer.ingest.exchange import network_of

        return network_of(self)

    def to_frames(self) -> tuple[Any, Any]:
        """Return the nodes and the edges as two data frames of pandas.

            >>> nodes, edges = graph.to_frames()
            >>> len(nodes), len(edges), list(edges.columns[:3])
            (169, 504, ['source', 'type', 'target'])

        Properties are columns; one that is named as a column of ours is `property.NAME`. `from_frames` gives the graph
        back.

        Raises `UsageError` where pandas is not installed.
        """
        from orienteer.ingest.exchange import frames_of

        return frames_of(self)

    def _repr_html_(self) -> str:
        tables = [(table.header, table.rows) for table in self._tables]
        return types_html(self._title, tables, picture=self._drawn.svg())

    def _repr_mimebundle_(self, **_: object) -> Bundle:
        return self._drawn.view(self._title, self._tables)

    @property
    def _drawn(self) -> DrawnTypes:
        schema = self.schema
        return DrawnTypes(schema.node_types, schema.edges.items(), schema.labels, schema.symmetric)

    @property
    def _title(self) -> str:
        manifest = self.arrays.manifest
        return f"{self.path.name}: {counted(manifest.nodes, 'node')}, {counted(manifest.edges, 'edge')}"

    @property
    def _tables(self) -> list[Table]:
        schema = self.schema
        return [
            Table((kind, "number"), most_frequent({schema.label(name): count for name, count in counts.items()}))
            for kind, counts in (("node type", schema.node_types), ("edge type", schema.edge_types))
        ]
