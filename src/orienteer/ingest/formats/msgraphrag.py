"""The tables that Microsoft's GraphRAG writes, of its versions 0.x to 3.x, as Parquet.

    documents          id, title; 0.x: create_final_documents
    text_units         id, text, n_tokens; its document in document_id (3.x) or document_ids
    entities           id, title (0.x: name), type, description, text_unit_ids
    relationships      source, target (titles of entities), description, weight, text_unit_ids
    communities        community (0.x: id), level, title, entity_ids (not in 0.x)
    community_reports  community, level, title, full_content or summary, rank
    create_final_nodes title, community, level (0.x alone): who is in which community

Files are called `NAME.parquet`, up to 1.x `create_final_NAME.parquet`. Needed are text units, entities and
relationships. Covariates, embeddings and positions are left out. Relations point as the table says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from orienteer.graph.builder import GraphBuilder
from orienteer.ingest.extraction.records import entity_type
from orienteer.ingest.formats.knowledge import KnowledgeRow, KnowledgeWriter
from orienteer.ingest.formats.parquet import Parquet
from orienteer.ingest.formats.table import NODE_ROWS
from orienteer.ingest.report import RowPlace, Tally
from orienteer.ingest.tables.labels import Labels

PREFIX = "create_final_"
FOLDERS = ("", "output", "artifacts")
"""Where the tables may lie below what was named."""
NEEDED: Mapping[str, frozenset[str]] = {
    "text_units": frozenset({"id", "text"}),
    "entities": frozenset({"id", "type", "description"}),
    "relationships": frozenset({"source", "target", "description"}),
}
FURTHER = ("documents", "communities", "community_reports", "nodes")
NOBODY = frozenset({"", "-1"})
"""What 0.x writes of an entity that is in no community."""


@dataclass(frozen=True, slots=True)
class GraphRagOutput:
    """A folder with the tables of one index."""

    tables: Mapping[str, Path]
    tally: Tally

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the tables."""
        return tuple(self.tables.values())

    def read(self, builder: GraphBuilder) -> Labels:
        """Read the tables into the builder."""
        writer = KnowledgeWriter(builder, self.tally)
        self._read_passages(writer)
        titles = self._read_entities(writer)
        for row in self._rows("relationships"):
            ends, weight = (row.name("source"), row.name("target")), row.number("weight")
            writer.add_relation(
                ends,
                "\n".join(row.parts("description")),
                sources=row.parts("text_unit_ids", ","),
                place=row.place,
                weight=1.0 if weight is None else weight,
            )
        self._read_communities(titles, writer)
        return writer.finish()

    def _read_passages(self, writer: KnowledgeWriter) -> None:
        order: dict[str, int] = {}
        names: dict[str, str] = {}
        for row in self._rows("documents"):
            document = row.text("id")
            names[document] = row.text("title") or document
            writer.add_document(document, names[document])
            order.update({unit: place for place, unit in enumerate(row.parts("text_unit_ids", ","))})
        counts: defaultdict[str, int] = defaultdict(int)
        for row in self._rows("text_units"):
            text_unit = row.text("id")
            document = next(iter((*row.parts("document_id", ","), *row.parts("document_ids", ","))), "")
            writer.add_passage(
                text_unit,
                names.get(document, ""),
                row.text("text"),
                document=document,
                order=order.get(text_unit, counts[document]),
                tokens=row.whole("n_tokens"),
                place=row.place,
            )
            counts[document] += 1

    def _read_entities(self, writer: KnowledgeWriter) -> dict[str, str]:
        """Read the entities; return the title of each by its id, by which communities name them."""
        titles: dict[str, str] = {}
        kinds: defaultdict[str, set[str]] = defaultdict(set)
        for row in self._rows("entities"):
            title, kind = row.name("title", "name"), row.name("type")
            if not title:
                self.tally.drop("empty id", [row.place])
                continue
            kinds[title].add(entity_type(kind))
            titles[row.text("id")] = title
            text, sources = "\n".join(row.parts("description")), row.parts("text_unit_ids", ",")
            writer.add_entity(title, title, kind, text=text, sources=sources, place=row.place)
        several = sorted(title for title, types in kinds.items() if len(types) > 1)
        if several:
            self.tally.notes.append(
                f"{len(several):,} titles of entities have several types, {several[0]!r} first; relations name titles "
                "alone, and are tied to the entity that comes first"
            )
        return titles

    def _read_communities(self, titles: Mapping[str, str], writer: KnowledgeWriter) -> None:
        """Read communities with their reports, by the rows of either table."""
        members: defaultdict[str, list[str]] = defaultdict(list)
        for row in self._rows("nodes"):
            members[_community(row)].append(row.name("title"))
        reports = {_community(row): row for row in self._rows("community_reports")}
        rows = {_community(row): row for row in self._rows("communities")}
        for community, row in (rows | reports | rows).items():
            if community in NOBODY:
                continue
            report = reports.get(community, KnowledgeRow({}, row.place))
            named = [titles.get(entity, entity) for entity in row.parts("entity_ids", ",")]
            writer.add_community(
                community,
                report.text("title") or row.text("title"),
                report.text("full_content", "summary"),
                members=named or members[community],
                place=row.place,
                level=row.whole("level"),
                rating=report.number("rank"),
            )

    def _rows(self, name: str) -> Iterator[KnowledgeRow]:
        """Yield the rows of a table; nothing without its file."""
        path = self.tables.get(name)
        if path is None:
            return
        for batch in Parquet().batches(path, rows=NODE_ROWS, drop=self.tally.dropping(str(path)), header=True):
            for line, row in zip(batch.lines, batch.rows(), strict=True):
                yield KnowledgeRow(row, RowPlace(file=str(path), line=line, value=""))


def recognize(source: Path, tally: Tally) -> GraphRagOutput | None:
    """Return the tables in a folder, or None."""
    if not source.is_dir():
        return None
    for folder in FOLDERS:
        tables = {name: path for name in (*NEEDED, *FURTHER) if (path := _table(source / folder, name)) is not None}
        if tables.keys() >= NEEDED.keys() and all(
            columns <= set(Parquet().columns(tables[name])) for name, columns in NEEDED.items()
        ):
            return GraphRagOutput(tables, tally)
    return None


def _table(folder: Path, name: str) -> Path | None:
    files = [folder / f"{start}{name}.parquet" for start in ("", PREFIX)]
    return next((path for path in files if path.is_file()), None)


def _community(row: KnowledgeRow) -> str:
    """Return the community of a row; in 0.x, which lacks the column, its `id`."""
    return row.text("community" if "community" in row.fields else "id")
