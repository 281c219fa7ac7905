"""Documents that come many in a file: the rows of tables, and corpora in a layout of their own.

A table that is a collection has a document a row, any other table is one document in segments. Known as a whole are
OTT-QA's tables and passages, corpora in one JSON file, and HyperGraphRAG's texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from orienteer.errors import BadInput
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.read.blocks import Block, Document, Grid, Place, Prose
from orienteer.ingest.documents.read.files import File
from orienteer.ingest.documents.read.markdown import read_plain
from orienteer.ingest.formats import Drop
from orienteer.ingest.formats.table import NODE_ROWS
from orienteer.ingest.layouts import KnownSource, layouts_of, refuse_untaken
from orienteer.ingest.tables.columns import Columns, NodeRoles, plainly
from orienteer.ingest.tables.plan import Table, asks, table_of
from orienteer.ingest.tables.values import cell_text, identifier, number, plain
from orienteer.records import JsonValue

TEXTS = (
    *("text", "contents", "content", "body", "passage", "passage_text"),
    *("abstract", "article", "document", "paragraph"),
)
"""Columns of a collection that hold its texts, best first."""
_MAY_NAME = frozenset(["article", "document", "abstract", "paragraph"])
"""Those that may as well hold names or numbers of what is called so."""
TITLES = ("title", "name", "headline", "heading", "subject")
IDS = ("_id", "doc_id", "docid", "document_id", "passage_id", "link", "url", "uid", "key")
"""Columns that name a row, beside those that name a node."""
_SAMPLE = 100  # rows that tell whether a column holds texts
_LEAST_WORDS = 4  # of a text
_TAKEN = frozenset(
    ["document", "order", "file", "page", "heading", "span", "anchors", "links", "tokens", "parts", "row"]
)
"""Properties of chunks that a column may not overwrite."""


class ColumnRoles(NamedTuple):
    """The columns of a collection."""

    id: str | None
    title: str | None
    text: str


def documents(file: File, title: str, config: BuildConfig, *, drop: Drop) -> Iterator[Document]:
    """Return the documents of a table file. Raises `BadInput` if it cannot be read."""
    table = table_of(file.path, is_named=False)
    roles = None if config.tables == "segments" else roles_of(table.columns)
    if roles is not None and config.tables == "auto" and plainly(roles.text) in _MAY_NAME:
        roles = roles if _holds_texts(table, roles.text) else None  # a price list has articles too
    if roles is None or (config.tables == "auto" and asks(table)):
        rows = _rows(table, config, drop)
        grid = Grid(table.columns, (tuple(map(cell_text, row.values())) for row in rows), Place())
        yield Document(file.name, title, [grid], file.name, (file.path.name,), has_title=False)
        return
    is_corpus = table.is_corpus
    for place, row in enumerate(_rows(table, config, drop)):
        yield _row(file, row, roles, place, is_corpus=is_corpus, is_text=table.format.is_text)


def _holds_texts(table: Table, column: str) -> bool:
    """Return whether a column holds texts, by its first rows: several words in one of ten at the least."""
    batch = next(iter(table.batches(rows=_SAMPLE, drop=lambda reason, line, value: None)), None)
    values = [cell_text(value) for value in batch.columns.get(column, ())] if batch is not None else []
    return not values or 10 * sum(len(value.split()) >= _LEAST_WORDS for value in values) >= len(values)


def is_questions(file: File) -> bool:
    """Return whether a table holds a benchmark's questions, which are no part of the documents beside it."""
    return file.kind == "table" and asks(table_of(file.path, is_named=False))


def roles_of(columns: Sequence[str]) -> ColumnRoles | None:
    """Return the columns of a collection, which has texts and an id or titles; None for any other table."""
    plainly_named = {plainly(name): name for name in reversed(columns)}

    def first(names: Sequence[str]) -> str | None:
        return next((plainly_named[name] for name in names if name in plainly_named), None)

    text, title = first(TEXTS), first(TITLES)
    node_id = NodeRoles(Columns()).id_column(columns) or first([plainly(name) for name in IDS])
    if text is None or (node_id is None and title is None):
        return None
    return ColumnRoles(node_id, title, text)


def _rows(
    table: Table, config: BuildConfig, drop: Drop
) -> Iterator[dict[str, Any]]:  # Any: whatever a file format can hold
    count = 0
    for batch in table.batches(rows=NODE_ROWS, drop=drop):
        count += len(batch)
        if count > config.most_rows:
            raise BadInput(f"more than most_rows = {config.most_rows:,} rows: split the table, or raise it")
        columns = [batch.columns.get(name, (None,) * len(batch)) for name in table.columns]
        for values in zip(*columns, strict=True):
            yield dict(zip(table.columns, values, strict=True))


def _row(
    file: File, row: Mapping[str, Any], roles: ColumnRoles, place: int, *, is_corpus: bool, is_text: bool
) -> Document:  # Any: whatever a file format can hold
    row_id = identifier(row[roles.id]).strip() if roles.id is not None else str(place)
    title = cell_text(row[roles.title]).strip() if roles.title is not None else ""
    text = cell_text(row[roles.text])
    properties: dict[str, JsonValue] = {"row": place + 1}
    for name, value in row.items():
        cell = plain(value)
        if name not in roles and cell is not None:
            cell = number(cell) if is_text and isinstance(cell, str) else cell
            properties[f"{name}_" if name in _TAKEN else name] = cell
    is_known = bool(row_id) and is_corpus
    blocks: list[Block] = [Prose(text)] if is_corpus else read_plain(text)
    return Document(
        id=row_id if is_known else f"{file.name}#{row_id or place}",
        title=title,
        blocks=blocks,
        file=file.name,
        properties=properties,
        is_whole=is_corpus,
        is_row=True,
        has_title=bool(title),
    )


def recognize(sources: Sequence[Path], split: str = "") -> KnownSource | None:
    """Return the layout of the one source, or None if the files of the sources are read one by one.

    Raises `BadOption` for a split of a source that has none.
    """
    chosen = {"split": split} if split else {}
    if not all(source.exists() for source in sources):
        return None
    if len(sources) == 1:
        for layout in layouts_of(sources[0]):
            known = layout.documents and layout.documents(sources[0], **layout.among(chosen))
            if known is not None:
                refuse_untaken(chosen, layout.takes, str(sources[0]))
                return known
    refuse_untaken(chosen, (), ", ".join(map(str, sources)))
    return None
