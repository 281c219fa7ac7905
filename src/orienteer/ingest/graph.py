"""The public `Graph`: a graph of the store, with conversions from and to Python objects."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from orienteer.display import counted, most_frequent
from orienteer.errors import BadOption
from orienteer.graph import store
from orienteer.ingest.stores import may_be_address
from orienteer.page.notebook import Bundle, Table

if TYPE_CHECKING:
    from orienteer.protocols import OpenEmbedder


class Graph(store.Graph):
    """A graph directory, opened for reading. Safe to share among threads and to open in many processes.

        >>> from orienteer import Graph
        >>> graph = Graph.open("languages")
        >>> len(graph), "language:rust" in graph
        (169, True)

    A node is given by its id, or by a unique name or alias. Results name nodes by their ids. `graph.arrays` is the same
    graph by rows, for your own methods and tools.
    """

    @classmethod
    def open(cls, path: str | Path, *, compiled: bool = False, embedder: OpenEmbedder | None = None) -> Self:
        """Open the graph directory at `path`, or the graph at an address, s3://BUCKET/NAME or https://HOST/PATH.

            >>> Graph.open("languages")
            Graph('languages', 169 nodes, 504 edges)

        A graph at an address is pulled into the cache and updated by each call, with the extra `s3`. An open graph
        stays at its generation. `embedder` opens the embedder of queries by its name, if the graph has vectors; the
        default knows Orienteer's own embedders.

        Raises `NotAGraph` if there is no graph at `path`, or a damaged one, `StoreFailed` if its store does not answer,
        `BadOption` for an address with a password, and for anything but a path, `MissingExtra`. `compiled` was removed.
        """
        if compiled:
            raise BadOption("compiled=True: compiled searches were removed; leave it out, results are the same")
        if not isinstance(path, str | Path):
            raise BadOption(f"path is {path!r}: give the path of a graph directory, or an address")
        if may_be_address(path):
            # Local graphs do not need the importer.
            from orienteer.ingest.sources import graph_directory
            from orienteer.settings import read_settings

            path = graph_directory(Path(path), cache=read_settings().cache)
        return super().open(path, embedder=embedder)

    @classmethod
    def from_networkx(cls, network: Any, *, path: str | Path | None = None, force: bool = False) -> Self:
        """Make and open a graph from a `network`, any graph of networkx.

            >>> import networkx
            >>> network = networkx.DiGraph()
            >>> network.add_node(1, label="Ada", kind="person")
            >>> network.add_edge(1, 2, relation="knows", since=1999)
            >>> graph_of_two = Graph.from_networkx(network)
            >>> graph_of_two.node("Ada").type, next(graph_of_two.iter_edges()).properties
            ('person', {'since': 1999})

        Attributes have the meaning of table columns with their names. Keys of parallel edges are types if they are
        texts, and undirected edges have symmetric types. `path` and `force` are those of `from_records`.

        Raises `BadOption` for anything but a network, `BadInput` for an attribute that JSON cannot represent.
        """
        from orienteer.ingest.frames import write_network

        return cls._made(lambda target: write_network(target, network, force=force), path)

    @classmethod
    def from_frames(cls, nodes: Any, edges: Any = None, *, path: str | Path | None = None, force: bool = False) -> Self:
        """Make and open a graph from data frames by their names: the graph of a folder of tables with these names.

            >>> import pandas
            >>> teams = pandas.DataFrame({"club": ["Ajax", "Union Berlin"], "founded": [1900, 1966]})
            >>> players = pandas.DataFrame({"player": ["Ada Holm", "Ben Vik"], "team": ["Union Berlin", "Ajax"]})
            >>> league = Graph.from_frames({"teams": teams, "players": players})
            >>> next(league.iter_edges()).type, league.node("Ajax").properties
            ('team', {'founded': 1900})

        They are frames of pandas or polars, or support Arrow's interface (`__arrow_c_stream__`). Their values decide
        what leads where, as for files; numbers, truths, dates and lists stay what they are. What was dropped, and what
        is open, is logged as warnings, and is in `orienteer info`.

        Two frames, `nodes` and `edges`, are short for `{"nodes": nodes, "edges": edges}`: their columns have the
        meaning of known names (docs/guides/tables.md), and others are properties. Either may be None; the
        nodes are then the ends of the edges. `path` and `force` are those of `from_records`.

            >>> people = pandas.DataFrame({"id": [1, 2], "name": ["Ada", "Ben"], "born": [1961, None]})
            >>> knows = pandas.DataFrame({"source": [1], "target": [2], "type": ["knows"]})
            >>> graph_of_two = Graph.from_frames(people, knows)
            >>> graph_of_two.node("Ada").properties, graph_of_two.node("Ben").properties
            ({'born': 1961.0}, {})

        Raises `BadOption` for anything but frames, `BadInput` for frames without ids or ends, two nodes with the same
        id, and values that JSON cannot represent.
        """
        from orienteer.ingest.frames import write_frames

        if isinstance(nodes, Mapping) and edges is not None:
            raise BadOption("edges is given beside frames by name: put it among them, under its own name")
        frames = nodes if isinstance(nodes, Mapping) else {"nodes": nodes, "edges": edges}
        return cls._made(lambda target: write_frames(target, frames, force=force), path)

    @classmethod
    def from_csv(cls, folder: str | Path, *, path: str | Path | None = None, force: bool = False) -> Self:
        """Make and open a graph from a `folder` of tables, or from any other source of `orienteer import`.

            >>> Path("tables").mkdir()
            >>> _ = Path("tables", "nodes.csv").write_text("id,name,type\\n1,Ada,person\\n2,Ben,person\\n")
            >>> _ = Path("tables", "edges.csv").write_text("source,target,type\\n1,2,knows\\n")
            >>> Graph.from_csv("tables").neighbors("Ada").total
            1

        Dropped rows and skipped files are logged as warnings. `path` and `force` are those of `from_records`.

        Raises `BadInput` for sources that are not a graph, `BadOption` for anything but a path.
        """
        from orienteer.ingest.frames import write_sources

        return cls._made(lambda target: write_sources(target, folder, force=force), path)

    def to_networkx(self) -> Any:
        """Return the graph as a `MultiDiGraph` of networkx, its nodes by id.

            >>> network = graph.to_networkx()
            >>> network.nodes["language:rust"]["name"], network.number_of_edges()
            ('Rust', 504)

        `type`, `name`, `text`, `aliases`, `weight` and properties are attributes; `from_networkx` reads them back. A
        property with one of these names is `property.NAME`.

        Raises `UsageError` if networkx is not installed.
        """
        from orienteer.ingest.frames import network_of

        return network_of(self)

    def to_frames(self) -> tuple[Any, Any]:
        """Return the nodes and the edges as two data frames of pandas.

            >>> nodes, edges = graph.to_frames()
            >>> len(nodes), len(edges), list(edges.columns[:3])
            (169, 504, ['source', 'type', 'target'])

        Properties are columns; one with the name of another column is `property.NAME`. `from_frames` reads them back.

        Raises `UsageError` if pandas is not installed.
        """
        from orienteer.ingest.frames import frames_of

        return frames_of(self)

    def _repr_html_(self) -> str:
        return self.schema.drawn.html(self._title, self._tables)

    def _repr_mimebundle_(self, **_: object) -> Bundle:
        return self.schema.drawn.view(self._title, self._tables)

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


def graph_from(value: object) -> Graph:
    """Return the graph of a frame, of frames by name, or of a network. Raises `BadOption` for anything else."""
    from orienteer.ingest.frames import ALONE, is_frame, is_network

    if isinstance(value, Mapping):
        return Graph.from_frames(value)
    if is_frame(value):
        return Graph.from_frames({ALONE: value})
    if is_network(value):
        return Graph.from_networkx(value)
    raise BadOption(
        f"graph is {value!r:.80}, a {type(value).__name__}: give a Graph, an address, the path of a graph, tables or "
        "documents, a data frame, a dict of frames by name, or a graph of networkx"
    )
