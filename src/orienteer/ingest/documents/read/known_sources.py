"""Sources that are known as a whole: OTT-QA's tables and passages, corpora in one JSON file, HyperGraphRAG's texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from orienteer.ingest.benchmarks import contexts, corpus, ottqa
from orienteer.ingest.documents.read.blocks import Block, Document, Grid, Prose
from orienteer.ingest.documents.read.files import File
from orienteer.ingest.documents.read.markdown import read_plain


@dataclass(frozen=True, slots=True)
class KnownSource:
    """The documents of sources in a layout of their own. A passage is one chunk under its own id."""

    files: tuple[File, ...]
    documents: Callable[[], Iterator[Document]]


def recognize(source: Path) -> KnownSource | None:
    """Return what a source is known as, None where its files are read one by one."""
    tables = ottqa.recognize(source)
    if tables is not None:
        return KnownSource(_files(tables.files, source), lambda: _ottqa(tables))
    passages = corpus.recognize(source)
    if passages is not None:
        return KnownSource(_files(passages.files, source), lambda: _corpus(passages))
    texts = contexts.recognize(source)
    return None if texts is None else KnownSource(_files((texts,), source), lambda: _contexts(texts))


def _files(paths: tuple[Path, ...], source: Path) -> tuple[File, ...]:
    root = source if source.is_dir() else source.parent
    return tuple(File(path, path.relative_to(root).as_posix(), "table") for path in paths)


def _ottqa(tables: ottqa.Tables) -> Iterator[Document]:
    for link, text in tables.passages():
        yield _passage(link, ottqa.title_of(link), text, tables.files[-1].name)
    for table in tables.tables():
        # As SAGE's code cuts them, and as the gold segments of its questions are counted.
        blocks: list[Block] = [Grid(table.header, table.rows, caption=table.section, rest_joins=True)]
        yield Document(table.id, table.title, blocks, tables.files[0].name)


def _corpus(passages: corpus.Corpus) -> Iterator[Document]:
    for node in passages.passages():
        yield _passage(node.id, node.name if node.name != node.id else "", node.text, passages.file.name)


def _contexts(file: Path) -> Iterator[Document]:
    """Yield long texts without titles, to be cut like any document; each is named by its place in the list."""
    for place, text in enumerate(contexts.texts(file)):
        yield Document(f"{file.name}#{place}", "", read_plain(text), file.name, has_title=False)


def _passage(node_id: str, title: str, text: str, file: str) -> Document:
    return Document(node_id, title, [Prose(text)], file, is_whole=True, is_row=True, has_title=bool(title))
