"""A working directory of LightRAG, nano-graphrag, its ancestor, or a descendant, as their default storages write it.

    graph_chunk_entity_relation.graphml  entities by name; relations, which the file declares undirected
    kv_store_text_chunks.json            chunk id -> content, full_doc_id, chunk_order_index, tokens, file_path
    kv_store_full_docs.json              document id -> content, file_path (not needed)
    kv_store_entity_chunks.json          entity -> all its chunks; kv_store_relation_chunks.json the same of relations:
                                         written by later versions, whose graph keeps the first few alone
    kv_store_community_reports.json      nano-graphrag alone: community -> title, level, nodes, report_string

In HyperGraphRAG's graph a node whose `role` is hyperedge is a statement, its text the node's id, and edges tie it to
its entities, weighted by their importance. Descriptions, keywords and sources that `<SEP>` joins are parted. The
vectors in `vdb_*.json` are of LightRAG's own texts and of an embedder that it does not name: they are left out, and
`orienteer embed` makes others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePath

from orienteer.errors import BadInput
from orienteer.graph.builder import GraphBuilder
from orienteer.ingest.formats.elements import EdgeElement, NodeElement
from orienteer.ingest.formats.files import whole_json
from orienteer.ingest.formats.graphml import JOINT, GraphMl
from orienteer.ingest.formats.knowledge import KnowledgeRow, KnowledgeWriter, unquoted
from orienteer.ingest.report import RowPlace, Tally
from orienteer.ingest.tables.labels import Labels

GRAPH = "graph_chunk_entity_relation.graphml"
CHUNKS, DOCUMENTS = "kv_store_text_chunks.json", "kv_store_full_docs.json"
ENTITY_CHUNKS, RELATION_CHUNKS = "kv_store_entity_chunks.json", "kv_store_relation_chunks.json"
REPORTS = "kv_store_community_reports.json"
HYPEREDGE, HYPEREDGE_ID = "hyperedge", "<hyperedge>"
"""HyperGraphRAG's role of a statement, and how the ids of statements begin."""
NO_FILE = frozenset({"", "unknown_source", "custom_kg", "no-file-path"})
"""What LightRAG writes where it knows no file."""


@dataclass(frozen=True, slots=True)
class WorkingDirectory:
    """A folder with the graph and the chunks of one LightRAG."""

    folder: Path
    tally: Tally

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the files that are read."""
        names = (GRAPH, CHUNKS, DOCUMENTS, ENTITY_CHUNKS, RELATION_CHUNKS, REPORTS)
        return tuple(path for name in names if (path := self.folder / name).is_file())

    def read(self, builder: GraphBuilder) -> Labels:
        """Read the folder into the builder."""
        elements = list(GraphMl(self.folder / GRAPH, self.tally).elements())
        edges = [element for element in elements if isinstance(element, EdgeElement)]
        writer = KnowledgeWriter(builder, self.tally, is_directed=any(edge.is_directed for edge in edges))
        self._read_passages(writer)
        nodes = [element for element in elements if isinstance(element, NodeElement)]
        statements = {node.id for node in nodes if node.fields.get("role") == HYPEREDGE}
        self._read_nodes(nodes, statements, writer)
        self._read_edges(edges, statements, writer)
        for key, row in self._store(REPORTS):
            report = row.fields.get("report_json")
            inner = KnowledgeRow(report if isinstance(report, dict) else {}, row.place)
            rating = inner.number("rating")
            writer.add_community(
                key,
                inner.text("title") or row.text("title"),
                row.text("report_string"),
                members=row.parts("nodes"),
                place=row.place,
                level=row.whole("level"),
                rating=row.number("occurrence") if rating is None else rating,
            )
        return writer.finish()

    def _read_passages(self, writer: KnowledgeWriter) -> None:
        chunks = self._store(CHUNKS)
        files = {row.text("full_doc_id"): _file(row) for _, row in chunks}
        for key, row in self._store(DOCUMENTS):
            file = _file(row) or files.get(key, "")
            writer.add_document(key, PurePath(file).stem or key, file=file)
        for key, row in chunks:
            writer.add_passage(
                key,
                PurePath(_file(row)).stem,
                row.text("content"),
                document=row.text("full_doc_id"),
                order=row.whole("chunk_order_index"),
                tokens=row.whole("tokens"),
                place=row.place,
            )

    def _read_nodes(self, nodes: Sequence[NodeElement], statements: Collection[str], writer: KnowledgeWriter) -> None:
        """Read entities, then statements."""
        more = self._sources(ENTITY_CHUNKS)
        for node in sorted(nodes, key=lambda node: node.id in statements):
            row = self._row(node)
            sources = row.parts("source_id")
            if node.id in statements:
                text, score = unquoted(node.id.removeprefix(HYPEREDGE_ID)), row.number("weight")
                writer.add_statement(node.id, text, sources=sources, place=row.place, score=score)
            else:
                name, text = row.name("entity_id") or unquoted(node.id), "\n".join(row.parts("description"))
                sources = (*sources, *more.get(node.id, ()))
                writer.add_entity(node.id, name, row.name("entity_type"), text=text, sources=sources, place=row.place)

    def _read_edges(self, edges: Iterable[EdgeElement], statements: Collection[str], writer: KnowledgeWriter) -> None:
        """Read the members of statements, and relations."""
        more = self._sources(RELATION_CHUNKS)
        for edge in edges:
            row, ends = self._row(edge), (edge.source, edge.target)
            weight = row.number("weight")
            weight = 1.0 if weight is None else weight
            if edge.source in statements or edge.target in statements:
                statement, entity = ends if edge.source in statements else ends[::-1]
                writer.add_member(statement, entity, weight=weight, place=row.place)
                continue
            keys = (JOINT.join(pair) for pair in (ends, ends[::-1]))
            writer.add_relation(
                ends,
                "\n".join(row.parts("description")),
                sources=(*row.parts("source_id"), *next((more[key] for key in keys if key in more), ())),
                place=row.place,
                keywords=row.parts("keywords", ","),
                weight=weight,
            )

    def _row(self, element: NodeElement | EdgeElement) -> KnowledgeRow:
        return KnowledgeRow(element.fields, RowPlace(file=str(self.folder / GRAPH), line=element.line, value=""))

    def _sources(self, name: str) -> dict[str, tuple[str, ...]]:
        return {key: row.parts("chunk_ids") for key, row in self._store(name)}

    def _store(self, name: str) -> list[tuple[str, KnowledgeRow]]:
        """Return the objects of a store by their keys; nothing without its file. Raises `BadInput`."""
        path = self.folder / name
        if not path.is_file():
            return []
        store = whole_json(path, self.tally.dropping(str(path)))
        if not isinstance(store, dict) or not all(isinstance(fields, dict) for fields in store.values()):
            raise BadInput(f"{path} is no store of LightRAG's: an object of objects is expected")
        places = (RowPlace(file=str(path), line=number, value="") for number in count(1))
        return [(key, KnowledgeRow(fields, next(places))) for key, fields in store.items()]


def recognize(source: Path, tally: Tally) -> WorkingDirectory | None:
    """Return the folder as a working directory, or None for any other folder."""
    is_one = source.is_dir() and (source / GRAPH).is_file() and (source / CHUNKS).is_file()
    return WorkingDirectory(source, tally) if is_one else None


def _file(row: KnowledgeRow) -> str:
    """Return the first file that something is from; empty if LightRAG knows none."""
    file = next(iter(row.parts("file_path")), "")
    return "" if file in NO_FILE else file
