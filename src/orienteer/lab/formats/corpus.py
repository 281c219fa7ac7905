"""Texts alone: HippoRAG's `NAME_corpus.json`, a list of `{title, text}`, and mFAR's `corpus` of `id<TAB>json`.

They become a graph without edges. A passage of a list is named by its place in it, from 0. A corpus that is a table
(`corpus.parquet` with `pid`, `title`, `text`) is read as any table of nodes is. HyperGraphRAG's `DOMAIN_contexts.json`
(Medicine is `hypertension`) is a list of long texts without titles, which a build cuts as it cuts documents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orienteer.errors import BadInput
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.reserved import CHUNK
from orienteer.ingest.formats.files import opened_text, stem, whole_json
from orienteer.ingest.formats.jsonl import parse
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.nodes import node_of_fields
from orienteer.ingest.tables.plan import listing
from orienteer.records import Node

LIST_STEM, LINES_STEM, TEXTS_STEM = "_corpus", "corpus", "_contexts"
FIRST_TEXT = re.compile(rb'\s*\[\s*"')
"""How a file of long texts begins; any other of its name is none."""
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
            yield from self._lines()
            return
        passages = whole_json(self.file)
        if not isinstance(passages, list) or not all(isinstance(fields, dict) for fields in passages):
            raise BadInput(f"{self.file} is no list of passages with title and text")
        for place, fields in enumerate(passages):
            yield _passage(str(place), fields)

    def _lines(self) -> Iterator[Node]:
        with opened_text(self.file) as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    node_id, tab, fields = line.partition("\t")
                    if not tab or not node_id.strip():
                        raise BadInput(f"{self.file}, line {number}: an id, a tab and a JSON object are expected")
                    yield _passage(node_id.strip(), parse(fields, self.file, number))


def _passage(node_id: str, fields: dict[str, Any]) -> Node:  # Any: JSON
    return node_of_fields(node_id, CHUNK, {key: value for key, value in fields.items() if key != "idx"})


def recognize(source: Path) -> Corpus | None:
    """Return the one corpus: the file itself, or the one in the folder; None without one.

    Raises `BadInput` if several lie in a folder: a graph is made of one.
    """
    lines = (LINES_STEM, f"{LINES_STEM}.gz")
    file = _only(source, lambda path: stem(path).endswith(LIST_STEM) if path.suffix == ".json" else path.name in lines)
    return None if file is None else Corpus(file)


def recognize_texts(source: Path) -> Path | None:
    """Return the one file of long texts: the source itself, or the one in the folder; None without one.

    Raises `BadInput` if several lie in a folder: each is a domain of its own.
    """
    return _only(source, _holds_texts)


def _only(source: Path, is_corpus: Callable[[Path], bool]) -> Path | None:
    files = [path for path in listing(source) if path.is_file() and is_corpus(path)]
    if len(files) > 1:
        raise BadInput(f"{source} holds several corpora ({', '.join(path.name for path in files)}): name one of them")
    return files[0] if files else None


def _holds_texts(path: Path) -> bool:
    if path.suffix != ".json" or not stem(path).endswith(TEXTS_STEM):
        return False
    with path.open("rb") as raw:
        return FIRST_TEXT.match(raw.read(PEEKED_BYTES)) is not None


def texts(file: Path) -> list[str]:
    """Return the texts of a file, those that are empty left in place. Raises `BadInput`."""
    read = whole_json(file)
    if not isinstance(read, list) or not all(isinstance(text, str) for text in read):
        raise BadInput(f"{file} is no list of texts: a corpus of passages with titles is called NAME_corpus.json")
    return read
