"""OTT-QA's tables and passages as nodes without edges, in its own files or as two tables of them.

A passage is a node of type `chunk` under its link; a table is cut into segments of ten rows, a rest under five rows
goes to the one before (SAGE, its table processor), each a node of type `table`: TABLE#0, TABLE#1 and so on, with
title, section, header and rows as its text. OTT-QA gives links from cells to passages; a benchmark of retrieval from
plain tables has to do without them, so they become no edges.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from orienteer.errors import BadInput, BadOption
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.reserved import CHUNK
from orienteer.ingest.bounds import parsed
from orienteer.ingest.documents.read.blocks import Block, Document, Grid, Prose
from orienteer.ingest.documents.read.files import File
from orienteer.ingest.documents.read.markdown import read_plain
from orienteer.ingest.formats import format_of
from orienteer.ingest.formats.files import opened_text, stem, whole_json
from orienteer.ingest.formats.jsonl import parse
from orienteer.ingest.formats.table import NODE_ROWS, refusing
from orienteer.ingest.layouts import KnownLayout, KnownSource
from orienteer.ingest.report import Tally
from orienteer.ingest.tables.columns import Columns
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.plan import listing
from orienteer.lab.formats.fields import node_of_fields
from orienteer.records import JsonValue, Node

SEGMENT_ROWS = 10
# A segment of fewer rows, but the first, is joined to the one before it.
LEAST_ROWS = 5
TABLE_COLUMNS = frozenset({"table_id", "title", "header", "rows"})
PASSAGE_COLUMNS = frozenset({"link", "text"})
# OTT-QA's own folders: a file a table, of the table and of the passages that it links to; and which are of which split.
TABLES, PASSAGES = "traindev_tables_tok", "traindev_request_tok"
FOLDERS = ("", "data")
IDS = "train_dev_test_table_ids.json"
IDS_FOLDERS = ("", "released_data", "data")
PREFIX = "/wiki/"


@dataclass(frozen=True, slots=True)
class WebTable:
    """One table with its title and section."""

    id: str
    title: str
    section: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def segments(self) -> Iterator[Node]:
        """Return the nodes of its segments."""
        for number, part in enumerate(segments(len(self.rows))):
            lines = [self.section, " | ".join(self.header), *(" | ".join(self.rows[row]) for row in part)]
            text = "\n".join(line for line in lines if line)
            properties: dict[str, JsonValue] = {"table": self.id, "first_row": part.start, "rows": len(part)}
            yield Node(segment_id(self.id, number), "table", self.title, text, (), properties)


def title_of(link: str) -> str:
    """Return the title of the passage that a link names."""
    return unquote(link.removeprefix(PREFIX)).replace("_", " ")


def segments(count: int) -> list[range]:
    """Cut `count` rows into segments; a table without rows has one."""
    starts = list(range(0, count, SEGMENT_ROWS)) or [0]
    if len(starts) > 1 and count - starts[-1] < LEAST_ROWS:
        starts.pop()
    return [range(start, end) for start, end in zip(starts, [*starts[1:], count], strict=True)]


def segment_id(table_id: str, number: int) -> str:
    """Return the node of a segment."""
    return f"{table_id}#{number}"


def segment_of(table_id: str, row: int, count: int) -> str:
    """Return the node of a row of a table with `count` rows. Raises `BadInput` if it has no such row."""
    number = next((number for number, part in enumerate(segments(count)) if row in part), None)
    if number is None:
        raise BadInput(
            f"the table {table_id!r} has {count} rows and no row {row}: fetch questions and tables of one release"
        )
    return segment_id(table_id, number)


@dataclass(frozen=True, slots=True)
class Tables:
    """OTT-QA's tables and passages: in its own files, one of each for each table, or as a table of each."""

    of_tables: tuple[Path, ...]
    of_passages: tuple[Path, ...]
    is_official: bool = True
    of_splits: tuple[Path, ...] = ()
    """The list of the tables of a split; None if all are read."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Return all files that are read."""
        return (*self.of_tables, *self.of_passages, *self.of_splits)

    def read(self, builder: GraphBuilder) -> Labels:
        """Read both into the builder; a passage that several tables link to is one node."""
        for link, text in self.passages():
            builder.add_node(Node(link, "chunk", title_of(link), text))
        for table in self.tables():
            for node in table.segments():
                builder.add_node(node)
        return Labels()

    def passages(self) -> Iterator[tuple[str, str]]:
        """Yield link and text of each passage, each link once."""
        if self.is_official:
            pairs = (pair for path in self.of_passages for pair in _object(path).items())
        else:
            pairs = ((row["link"], row["text"]) for row in _rows(*self.of_passages))
        seen: set[str] = set()
        for link, text in pairs:
            if link not in seen:
                seen.add(link)
                yield link, text

    def tables(self) -> Iterator[WebTable]:
        """Yield the tables."""
        for path in self.of_tables:
            if self.is_official:
                yield _table_of_object(_object(path), path)
            else:
                yield from (_table_of_row(row, path) for row in _rows(path))


def recognize(source: Path, split: str = "") -> Tables | None:
    """Return OTT-QA's tables and passages, all or those of a split, if a folder has both, else None.

    Raises `BadOption` for an unknown split, `BadInput` if its files are not there.
    """
    if not source.is_dir():
        return None
    for name in FOLDERS:
        folder = source / name
        if (folder / TABLES).is_dir() and (folder / PASSAGES).is_dir():
            tables, passages = (tuple(sorted((folder / part).glob("*.json"))) for part in (TABLES, PASSAGES))
            return _of_split(Tables(tables, passages), source, split) if split else Tables(tables, passages)
    tables, passages = (tuple(_with_columns(source, columns)) for columns in (TABLE_COLUMNS, PASSAGE_COLUMNS))
    if len(tables) != 1 or len(passages) != 1:
        return None
    if split:
        raise BadOption(
            f"--split chooses among OTT-QA's own files, and {source} holds two tables of them: leave it out"
        )
    return Tables(tables, passages, is_official=False)


def _of_split(every: Tables, source: Path, split: str) -> Tables:
    """Return the tables of a split, by OTT-QA's list of them, and the passages that they link to."""
    path = next((path for name in IDS_FOLDERS if (path := source / name / IDS).is_file()), None)
    if path is None:
        raise BadInput(
            f"--split {split}: {source} has no released_data/{IDS}: name OTT-QA's whole folder, with its questions"
        )
    splits = _object(path)
    if not isinstance(splits.get(split), list):
        raise BadOption(f"{path} has no split {split!r}. There are: {', '.join(sorted(splits))}.")
    ids = sorted(set(map(str, splits[split])))

    def chosen(files: tuple[Path, ...]) -> tuple[Path, ...]:
        named = {file.stem: file for file in files}
        if missing := [name for name in ids if name not in named]:
            raise BadInput(
                f"{source}: {len(missing):,} of the {len(ids):,} tables of {split!r} have no file there (first: "
                f"{missing[0]}): fetch OTT-QA's data again, which holds the tables of train and dev"
            )
        return tuple(map(named.__getitem__, ids))

    return Tables(chosen(every.of_tables), chosen(every.of_passages), of_splits=(path,))


def _with_columns(folder: Path, columns: frozenset[str]) -> list[Path]:
    """Return the Parquet files of a folder that have these columns."""
    found = []
    for path in listing(folder):
        form = format_of(path) if path.suffix == ".parquet" else None
        with suppress(BadInput):  # a file that cannot be read is reported when it is read as a table
            found += [path] if form and columns <= set(form.reader.columns(path)) else []
    return found


def _rows(path: Path) -> Iterator[dict[str, Any]]:  # Any: whatever a file format can hold
    form = format_of(path)
    assert form is not None  # it was found by its format
    drop = refusing(path, "fetch the file again", place="row")
    for batch in form.reader.batches(path, rows=NODE_ROWS, drop=drop, header=True):
        yield from batch.rows()


def _object(path: Path) -> dict[str, Any]:  # Any: JSON
    value = whole_json(path)
    if not isinstance(value, dict):
        raise BadInput(f"{path} is not a JSON object; fetch the file again")
    return value


def _table_of_row(row: dict[str, Any], path: Path) -> WebTable:  # Any: whatever a file format can hold
    """Return a table of a row whose cells are lists of texts, or those as JSON."""
    try:
        cells = parsed(row["rows"]) if isinstance(row["rows"], str) else row["rows"]
        rows = tuple(tuple(map(str, line)) for line in cells)
        header = tuple(map(str, row["header"]))
        return WebTable(str(row["table_id"]), str(row["title"]), row.get("section_title") or "", header, rows)
    except (TypeError, ValueError) as error:
        raise BadInput(
            f"{path}: {row['table_id']!r} is not a table of OTT-QA ({error}); fetch the file again"
        ) from error


def _table_of_object(value: dict[str, Any], path: Path) -> WebTable:  # Any: JSON
    """Return a table of OTT-QA's own files, in which each cell is a text and its links."""
    try:
        return WebTable(
            id=value["uid"],
            title=value["title"],
            section=value.get("section_title") or "",
            header=tuple(cell[0] for cell in value["header"]),
            rows=tuple(tuple(cell[0] for cell in row) for row in value["data"]),
        )
    except (KeyError, IndexError, TypeError) as error:
        raise BadInput(f"{path} is not a table of OTT-QA ({error} is missing); fetch the file again") from error


# Texts alone: HippoRAG's `NAME_corpus.json`, a list of `{title, text}`, and mFAR's `corpus` of `id<TAB>json`.
#
# They become a graph without edges. A passage of a list is named by its place in it, from 0. A corpus that is a table
# (`corpus.parquet` with `pid`, `title`, `text`) is read as any table of nodes is. HyperGraphRAG's
# `DOMAIN_contexts.json` (Medicine is `hypertension`) is a list of long texts without titles, which a build cuts as it
# cuts documents.


LIST_STEM, LINES_STEM, TEXTS_STEM = "_corpus", "corpus", "_contexts"
# The beginning of a file of long texts; any other of its name is not one.
FIRST_TEXT = re.compile(rb'\s*\[\s*"')
PEEKED_BYTES = 256


@dataclass(frozen=True, slots=True)
class Corpus:
    """One file of passages."""

    file: Path

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the file."""
        return (self.file,)

    def read(self, builder: GraphBuilder) -> Labels:
        """Read the passages into the builder."""
        for node in self.passages():
            builder.add_node(node)
        return Labels()

    def passages(self) -> Iterator[Node]:
        """Return the passages as nodes, in order."""
        if self.file.suffix != ".json":
            with opened_text(self.file) as lines:
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        node_id, tab, fields = line.partition("\t")
                        if not tab or not node_id.strip():
                            raise BadInput(f"{self.file}, line {number}: an id, a tab and a JSON object are expected")
                        yield _passage(node_id.strip(), parse(fields, self.file, number))
            return
        passages = whole_json(self.file)
        if not isinstance(passages, list) or not all(isinstance(fields, dict) for fields in passages):
            raise BadInput(f"{self.file} is not a list of passages with title and text")
        for place, fields in enumerate(passages):
            yield _passage(str(place), fields)


def _passage(node_id: str, fields: dict[str, Any]) -> Node:  # Any: JSON
    return node_of_fields(node_id, CHUNK, {key: value for key, value in fields.items() if key != "idx"})


def recognize_corpus(source: Path) -> Corpus | None:
    """Return the corpus of a file or folder, or None. Raises `BadInput` for several: a graph is made of one."""
    lines = (LINES_STEM, f"{LINES_STEM}.gz")
    file = _only(source, lambda path: stem(path).endswith(LIST_STEM) if path.suffix == ".json" else path.name in lines)
    return None if file is None else Corpus(file)


def recognize_texts(source: Path) -> Path | None:
    """Return the file of long texts, or None. Raises `BadInput` for several: each is a domain of its own."""

    def has_texts(path: Path) -> bool:
        if path.suffix != ".json" or not stem(path).endswith(TEXTS_STEM):
            return False
        with path.open("rb") as raw:
            return FIRST_TEXT.match(raw.read(PEEKED_BYTES)) is not None

    return _only(source, has_texts)


def _only(source: Path, is_corpus: Callable[[Path], bool]) -> Path | None:
    files = [path for path in listing(source) if path.is_file() and is_corpus(path)]
    if len(files) > 1:
        raise BadInput(f"{source} holds several corpora ({', '.join(path.name for path in files)}): name one of them")
    return files[0] if files else None


def texts(file: Path) -> list[str]:
    """Return the texts of a file, those that are empty left in place. Raises `BadInput`."""
    read = whole_json(file)
    if not isinstance(read, list) or not all(isinstance(text, str) for text in read):
        raise BadInput(f"{file} is not a list of texts: a corpus of passages with titles is called NAME_corpus.json")
    return read


def documents(source: Path, split: str = "") -> KnownSource | None:
    """Return the documents of a source: tables and passages, a corpus of passages, or long texts; None for others."""
    tables = recognize(source, split)
    if tables is not None:
        return KnownSource(_files(tables.files, source), lambda: _tables_and_passages(tables))
    if split:
        return None
    passages = recognize_corpus(source)
    if passages is not None:
        return KnownSource(_files(passages.files, source), lambda: _passages(passages))
    long_texts = recognize_texts(source)
    return None if long_texts is None else KnownSource(_files((long_texts,), source), lambda: _contexts(long_texts))


def _files(paths: tuple[Path, ...], source: Path) -> tuple[File, ...]:
    root = source if source.is_dir() else source.parent
    return tuple(File(path, path.relative_to(root).as_posix(), "table") for path in paths)


def _tables_and_passages(tables: Tables) -> Iterator[Document]:
    for link, text in tables.passages():
        yield _document(link, title_of(link), text, tables.of_passages[-1].name)
    for table in tables.tables():
        # As SAGE's code cuts them, and as the gold segments of its questions are counted.
        blocks: list[Block] = [Grid(table.header, table.rows, caption=table.section, rest_joins=True)]
        yield Document(table.id, table.title, blocks, tables.of_tables[0].name)


def _passages(corpus: Corpus) -> Iterator[Document]:
    for node in corpus.passages():
        yield _document(node.id, node.name if node.name != node.id else "", node.text, corpus.file.name)


def _contexts(file: Path) -> Iterator[Document]:
    """Yield long texts without titles, to be cut like any document; each is named by its place in the list."""
    for place, text in enumerate(texts(file)):
        yield Document(f"{file.name}#{place}", "", read_plain(text), file.name, has_title=False)


def _document(node_id: str, title: str, text: str, file: str) -> Document:
    return Document(node_id, title, [Prose(text)], file, is_whole=True, is_row=True, has_title=bool(title))


def _opened(source: Path, columns: Columns, tally: Tally, split: str = "") -> Tables | Corpus | None:
    return recognize(source, split) or (None if split else recognize_corpus(source))


LAYOUT = KnownLayout(graph=_opened, documents=documents, takes=frozenset({"split"}))
