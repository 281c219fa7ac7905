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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from orienteer.errors import BadInput
from orienteer.graph.builder import GraphBuilder
from orienteer.ingest.formats.elements import EdgeElement, NodeElement
from orienteer.ingest.formats.files import whole_json
from orienteer.ingest.formats.graphml import JOINT, GraphMl
from orienteer.ingest.formats.knowledge import (
    Community,
    Entity,
    EntityRelation,
    HyperFact,
    KnowledgeWriter,
    Passage,
    text_of_value,
    unquoted,
)
from orienteer.ingest.report import RowPlace, Tally
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.values import finite, identifier

GRAPH = "graph_chunk_entity_relation.graphml"
CHUNKS, DOCUMENTS = "kv_store_text_chunks.json", "kv_store_full_docs.json"
ENTITY_CHUNKS, RELATION_CHUNKS = "kv_store_entity_chunks.json", "kv_store_relation_chunks.json"
REPORTS = "kv_store_community_reports.json"
HYPEREDGE, HYPEREDGE_ID = "hyperedge", "<hyperedge>"
"""HyperGraphRAG's role of a statement, and how the ids of statements begin."""
NO_FILE = frozenset({"", "unknown_source", "custom_kg", "no-file-path"})
"""What LightRAG writes where it knows no file."""

Fields = Mapping[str, Any]  # Any: JSON


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
        more = self._sources(ENTITY_CHUNKS)
        for node in nodes:
            if node.id not in statements:
                writer.add_entity(self._entity(node, more.get(node.id, ())))
        for node in nodes:
            if node.id in statements:
                writer.add_statement(self._statement(node))
        more = self._sources(RELATION_CHUNKS)
        for edge in edges:
            ends = edge.source, edge.target
            if not statements.isdisjoint(ends):
                statement, entity = ends if edge.source in statements else ends[::-1]
                writer.add_member(statement, entity, _weight(edge.fields), self._place(GRAPH, edge.line))
                continue
            keys = (JOINT.join(pair) for pair in (ends, ends[::-1]))
            writer.add_relation(self._relation(edge, next((more[key] for key in keys if key in more), ())))
        for community in self._communities():
            writer.add_community(community)
        return writer.finish()

    def _read_passages(self, writer: KnowledgeWriter) -> None:
        chunks = self._store(CHUNKS)
        files = {identifier(fields.get("full_doc_id")): _file(fields) for fields in chunks.values()}
        for key, fields in self._store(DOCUMENTS).items():
            file = _file(fields) or files.get(key, "")
            writer.add_document(key, PurePath(file).stem or key, {"file": file} if file else None)
        for number, (key, fields) in enumerate(chunks.items(), 1):
            order, tokens = (fields.get(name) for name in ("chunk_order_index", "tokens"))
            passage = Passage(
                id=key,
                text=text_of_value(fields.get("content")),
                name=PurePath(_file(fields)).stem,
                document=identifier(fields.get("full_doc_id")),
                order=order if isinstance(order, int) else None,
                tokens=tokens if isinstance(tokens, int) else None,
            )
            writer.add_passage(passage, self._place(CHUNKS, number))

    def _entity(self, node: NodeElement, more: tuple[str, ...]) -> Entity:
        fields = node.fields
        return Entity(
            key=node.id,
            name=unquoted(text_of_value(fields.get("entity_id")) or node.id),
            type=unquoted(text_of_value(fields.get("entity_type"))),
            text="\n".join(_parted(fields.get("description"))),
            sources=(*_parted(fields.get("source_id")), *more),
            place=self._place(GRAPH, node.line),
        )

    def _statement(self, node: NodeElement) -> HyperFact:
        score = node.fields.get("weight")
        return HyperFact(
            key=node.id,
            text=unquoted(node.id.removeprefix(HYPEREDGE_ID)),
            sources=tuple(_parted(node.fields.get("source_id"))),
            place=self._place(GRAPH, node.line),
            score=None if isinstance(score, str) else finite(score),
        )

    def _relation(self, edge: EdgeElement, more: tuple[str, ...]) -> EntityRelation:
        fields = edge.fields
        keywords = [word.strip() for part in _parted(fields.get("keywords")) for word in part.split(",")]
        return EntityRelation(
            source=edge.source,
            target=edge.target,
            text="\n".join(_parted(fields.get("description"))),
            sources=(*_parted(fields.get("source_id")), *more),
            place=self._place(GRAPH, edge.line),
            keywords=tuple(dict.fromkeys(filter(None, keywords))),
            weight=_weight(fields),
        )

    def _communities(self) -> Iterator[Community]:
        for number, (key, fields) in enumerate(self._store(REPORTS).items(), 1):
            level, rating = (fields.get(name) for name in ("level", "occurrence"))
            report = fields.get("report_json")
            titled = text_of_value(report.get("title")) if isinstance(report, dict) else ""
            if isinstance(report, dict) and isinstance(report.get("rating"), int | float):
                rating = report["rating"]
            yield Community(
                id=key,
                title=titled or text_of_value(fields.get("title")) or f"Community {key}",
                text=text_of_value(fields.get("report_string")),
                members=tuple(map(identifier, fields.get("nodes") or ())),
                place=self._place(REPORTS, number),
                level=level if isinstance(level, int) else None,
                rating=None if isinstance(rating, str) else finite(rating),
            )

    def _sources(self, name: str) -> dict[str, tuple[str, ...]]:
        return {key: tuple(map(identifier, fields.get("chunk_ids") or ())) for key, fields in self._store(name).items()}

    def _store(self, name: str) -> dict[str, Fields]:
        """Return the content of a store; empty without its file. Raises `BadInput`."""
        path = self.folder / name
        if not path.is_file():
            return {}
        store = whole_json(path, self.tally.dropping(str(path)))
        if not isinstance(store, dict) or not all(isinstance(fields, dict) for fields in store.values()):
            raise BadInput(f"{path} is no store of LightRAG's: an object of objects is expected")
        return store

    def _place(self, name: str, line: int) -> RowPlace:
        return RowPlace(file=str(self.folder / name), line=line, value="")


def recognize(source: Path, tally: Tally) -> WorkingDirectory | None:
    """Return the folder as a working directory, or None for any other folder."""
    is_one = source.is_dir() and (source / GRAPH).is_file() and (source / CHUNKS).is_file()
    return WorkingDirectory(source, tally) if is_one else None


def _parted(value: Any) -> list[str]:  # Any: JSON
    """Return the parts of what `<SEP>` joins; the reader of GraphML has parted some of it already."""
    several = value if isinstance(value, list) else [text_of_value(value)]
    parts = (part.strip() for joined in several for part in str(joined).replace(JOINT, "\n").split("\n"))
    return list(dict.fromkeys(part for part in map(unquoted, parts) if part))


def _weight(fields: Fields) -> float:
    weight = fields.get("weight")
    number = None if isinstance(weight, str) else finite(weight)
    return 1.0 if number is None else number


def _file(fields: Fields) -> str:
    """Return the first file that something is from; empty if LightRAG knows none."""
    files = _parted(fields.get("file_path"))
    return files[0] if files and files[0] not in NO_FILE else ""
