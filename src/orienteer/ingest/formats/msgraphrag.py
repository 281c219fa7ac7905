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
from typing import Any, NamedTuple

from orienteer.graph.builder import GraphBuilder
from orienteer.ingest.extraction.records import entity_type
from orienteer.ingest.formats.knowledge import (
    Community,
    Entity,
    EntityRelation,
    KnowledgeWriter,
    Passage,
    text_of_value,
    unquoted,
)
from orienteer.ingest.formats.parquet import Parquet
from orienteer.ingest.formats.table import NODE_ROWS
from orienteer.ingest.report import RowPlace, Tally
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.values import finite, identifier, plain

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

Row = Mapping[str, Any]  # Any: whatever a Parquet file can hold


class _Line(NamedTuple):
    row: Row
    place: RowPlace


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
        for row, place in self._lines("relationships"):
            writer.add_relation(
                EntityRelation(
                    source=unquoted(_text(row, "source")),
                    target=unquoted(_text(row, "target")),
                    text=_description(row),
                    sources=_ids(row, "text_unit_ids"),
                    place=place,
                    weight=1.0 if (weight := _number(row, "weight")) is None else weight,
                )
            )
        for community in self._communities(titles):
            writer.add_community(community)
        return writer.finish()

    def _read_passages(self, writer: KnowledgeWriter) -> None:
        order: dict[str, int] = {}
        names: dict[str, str] = {}
        for row, _ in self._lines("documents"):
            document = identifier(row.get("id"))
            names[document] = _text(row, "title") or document
            writer.add_document(document, names[document])
            order.update({unit: place for place, unit in enumerate(_ids(row, "text_unit_ids"))})
        counts: defaultdict[str, int] = defaultdict(int)
        for row, place in self._lines("text_units"):
            text_unit = identifier(row.get("id"))
            documents = _ids(row, "document_id") or _ids(row, "document_ids")
            document = documents[0] if documents else ""
            tokens = _number(row, "n_tokens")
            writer.add_passage(
                Passage(
                    id=text_unit,
                    text=_text(row, "text"),
                    name=names.get(document, ""),
                    document=document,
                    order=order.get(text_unit, counts[document]),
                    tokens=None if tokens is None else int(tokens),
                ),
                place,
            )
            counts[document] += 1

    def _read_entities(self, writer: KnowledgeWriter) -> dict[str, str]:
        """Read the entities; return the title of each by its id, by which communities name them."""
        titles: dict[str, str] = {}
        kinds: defaultdict[str, set[str]] = defaultdict(set)
        for row, place in self._lines("entities"):
            title = unquoted(_text(row, "title") or _text(row, "name"))
            if not title:
                self.tally.drop("empty id", [place])
                continue
            kind = _text(row, "type")
            kinds[title].add(entity_type(unquoted(kind)))
            titles[identifier(row.get("id"))] = title
            text, sources = _description(row), _ids(row, "text_unit_ids")
            writer.add_entity(Entity(title, title, unquoted(kind), text, sources, place))
        several = sorted(title for title, types in kinds.items() if len(types) > 1)
        if several:
            self.tally.notes.append(
                f"{len(several):,} titles of entities have several types, {several[0]!r} first; relations name titles "
                "alone, and are tied to the entity that comes first"
            )
        return titles

    def _communities(self, titles: Mapping[str, str]) -> Iterator[Community]:
        """Yield communities with their reports, by the rows of either table."""
        reports = {_community(row): row for row, _ in self._lines("community_reports")}
        members: defaultdict[str, list[str]] = defaultdict(list)
        for row, _ in self._lines("nodes"):
            members[_community(row)].append(unquoted(_text(row, "title")))
        lines = {_community(row): _Line(row, place) for row, place in self._lines("communities")}
        for line in self._lines("community_reports"):
            lines.setdefault(_community(line.row), line)
        for community, (row, place) in lines.items():
            if community in NOBODY:
                continue
            report = reports.get(community, {})
            named = [titles.get(entity, entity) for entity in _ids(row, "entity_ids")]
            level = _number(row, "level")
            yield Community(
                id=community,
                title=_text(report, "title") or _text(row, "title") or f"Community {community}",
                text=_text(report, "full_content") or _text(report, "summary"),
                members=tuple(named or members[community]),
                place=place,
                level=None if level is None else int(level),
                rating=_number(report, "rank"),
            )

    def _lines(self, name: str) -> Iterator[_Line]:
        """Yield the rows of a table; nothing without its file."""
        path = self.tables.get(name)
        if path is None:
            return
        for batch in Parquet().batches(path, rows=NODE_ROWS, drop=self.tally.dropping(str(path)), header=True):
            for line, row in zip(batch.lines, batch.rows(), strict=True):
                yield _Line(row, RowPlace(file=str(path), line=line, value=""))


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


def _text(row: Row, name: str) -> str:
    return text_of_value(row.get(name))


def _ids(row: Row, name: str) -> tuple[str, ...]:
    value = plain(row.get(name))
    several = value if isinstance(value, list) else [] if value is None else [value]
    # Version 0.x joined some lists by commas.
    return tuple(part for joined in several for part in identifier(joined).split(",") if part)


def _description(row: Row) -> str:
    """Return the description of an entity or a relation, each line once."""
    lines = (text := _text(row, "description")).splitlines()
    return text if len(lines) < 2 else "\n".join(dict.fromkeys(line.strip() for line in lines if line.strip()))


def _number(row: Row, name: str) -> float | None:
    value = plain(row.get(name))
    return None if isinstance(value, str) else finite(value)


def _community(row: Row) -> str:
    """Return the community of a row; in 0.x, which lacks the column, its `id`."""
    return identifier(plain(row["community"] if "community" in row else row.get("id")))
