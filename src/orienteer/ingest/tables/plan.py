"""The files of sources, and those that hold tables."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from orienteer.errors import BadInput, UnreadableFile
from orienteer.ingest.formats import CONTAINERS, FORMATS, GRAPHS, Batch, Drop, Format, format_of, suffixes
from orienteer.ingest.formats.delimited import DelimitedText, column_names
from orienteer.ingest.formats.files import require, stem, stray, suffix
from orienteer.ingest.formats.jsonl import JsonLines
from orienteer.ingest.formats.letters import encoding_of
from orienteer.ingest.formats.parquet import Parquet
from orienteer.ingest.formats.rdf.parser import is_rdf
from orienteer.ingest.formats.shape import without_totals
from orienteer.ingest.formats.table import JOIN as JOIN, NODE_ROWS, FileNotes, NotingReader, is_unicode, shown
from orienteer.ingest.report import Ignored
from orienteer.ingest.tables.columns import plainly
from orienteer.ingest.tables.values import identifier

NODE_WORDS = frozenset({"node", "nodes", "vertex", "vertices", "entities", "concepts"})
EDGE_WORDS = frozenset({"edge", "edges", "relationships", "relations", "links", "triples", "statements"})
"""Words of a file's name that tell what it holds."""
CORPUS_WORDS = frozenset({"corpus", "passages", "chunks"})
"""Words that tell a table of texts; its nodes are chunks unless a column says what they are."""
ASKED = frozenset({"question", "query"})
ANSWERED = frozenset({"answer", "answers", "answer_ids", "gold_pids"})
"""A table with a column of each kind holds a benchmark's questions, and is no part of the graph beside it."""
HEAD, SOME = 1 << 14, 20
"""Bytes, and lines, that tell whether a text is a table."""
PROSE = frozenset({"readme", "license", "licence", "copying", "notice", "changelog", "requirements"})
"""Names of texts that lie beside tables."""
NO_TABLES = frozenset({".md", ".rst", ".py", ".ipynb", ".sh", ".pdf", ".html", ".png", ".jpg", ".svg", ".toml"})
"""Suffixes of files that nobody takes for tables, so that an import does not mention them."""
OTHERS: Mapping[bytes, str] = {
    b"PK\x03\x04": "a ZIP archive, as workbooks are: name it with the suffix .xlsx or .ods, or unpack it",
    b"PAR1": "a Parquet file: name it with the suffix .parquet",
    b"\x1f\x8b": "packed with gzip: name it with the suffix .gz as well",
}
"""What a text file turns out to be by its first bytes."""
WIDE: Mapping[bytes, str] = dict.fromkeys((b"\xff\xfe", b"\xfe\xff"), "text in UTF-16: save it as UTF-8")
"""The same of formats that are always in UTF-8."""
UNNAMED = re.compile(r"(?i)(?:sheet|tabelle|feuille?|feuil|hoja|foglio|blad|ark|\u043b\u0438\u0441\u0442) ?[0-9]*")
"""Names that programs give to sheets."""
NO_PART, NO_TABLE = "no part of the graph", "no table"
"""Why a file of a folder is ignored."""
NO_GRAPH: Mapping[str, str] = {
    ".xml": "XML that is no RDF",
    ".json": "JSON that holds neither a graph nor rows",
    ".yaml": "YAML that holds no rows",
    ".yml": "YAML that holds no rows",
}
"""What a file is that could have held a graph, by its suffix."""


@dataclass(frozen=True, slots=True)
class Table:
    """A file that holds a table, and its columns."""

    path: Path
    format: Format
    columns: tuple[str, ...]
    has_header: bool = True
    is_named: bool = False
    """Named by hand or alone, so that not knowing what it holds is an error."""
    null_words: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Words that say that there is no value, by column."""
    called: str = ""
    """Its name in a file that holds several tables."""
    label: str = ""
    """What its rows are called, if that is neither its name nor the file's."""
    joined: tuple[str, ...] = ()
    """Columns that are made of several, each with a blank between their values: `row+seat`."""

    def has(self, name: str) -> bool:
        """Return whether there is such a column, or one can be made of several."""
        return not self.lacks(name)

    def lacks(self, name: str) -> tuple[str, ...]:
        """Return the columns that are missing for this one: itself, or the parts of one that is made of several."""
        parts = name.split(JOIN)
        absent = tuple(part for part in parts if part not in self.columns)
        return () if name in self.columns else absent if len(absent) < len(parts) else (name,)

    def joining(self, names: Iterable[str]) -> Table:
        """Return the table with the columns among these that are made of several."""
        return replace(self, joined=tuple(name for name in names if name not in self.columns and self.has(name)))

    @property
    def file(self) -> str:
        """Return what messages and mappings call it."""
        return f"{self.path}#{self.called}" if self.called else str(self.path)

    @property
    def is_corpus(self) -> bool:
        """Return whether the file's name is one of collections of texts."""
        return bool(words_in(self.path) & CORPUS_WORDS)

    @property
    def name(self) -> str:
        """Return its name in its file if a person gave it, else the file's without the suffix of its format."""
        own = "" if UNNAMED.fullmatch(self.called) else self.called
        return self.label or own or stem(self.path)

    @property
    def notes(self) -> FileNotes:
        """Return the notes about reading its file. Raises `UnreadableFile`."""
        reader = self.format.reader
        with unreadable(self.path):
            found = reader.notes(self.path) if isinstance(reader, NotingReader) else FileNotes()
        if self.has_header or not found.is_headless:
            return found
        return found._replace(notes=(*found.notes, "no row names its columns, which are numbered: column_1 ..."))

    def batches(self, *, rows: int = NODE_ROWS, drop: Drop = lambda reason, line, value: None) -> Iterator[Batch]:
        """Read the table in batches, with the null words of each column as empty cells.

        Raises `UnreadableFile`.
        """
        with unreadable(self.path):
            reader = self.format.reader
            found = reader.batches(self.path, rows=rows, drop=drop, header=self.has_header)
            is_typed = isinstance(reader, JsonLines | Parquet)  # the other readers leave totals out themselves
            for batch in without_totals(found, self.columns, drop) if is_typed else found:
                emptied = {
                    name: ["" if value in words else value for value in batch.columns[name]]
                    for name, words in self.null_words.items()
                    if name in batch.columns
                }
                columns = {**batch.columns, **emptied}
                columns |= {name: _joined(columns, name, len(batch)) for name in self.joined}
                yield Batch(columns, batch.lines)


def _joined(columns: Mapping[str, Sequence[Any]], name: str, rows: int) -> list[str]:  # Any: as files hold it
    """Return the values of a column that is made of several; empty if one of them is empty."""
    parts = (map(identifier, columns.get(part, ("",) * rows)) for part in name.split(JOIN))
    cells = ([cell.strip() for cell in row] for row in zip(*parts, strict=True))
    return [" ".join(row) if all(row) else "" for row in cells]


@contextmanager
def unreadable(path: Path) -> Iterator[None]:
    """Turn errors of a reader into `UnreadableFile`."""
    try:
        yield
    except BadInput as error:
        raise UnreadableFile(str(error), path) from error
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror or error}", path) from error


def listing(source: Path, root: Path | None = None) -> list[Path]:
    """Return the visible files of a folder, in the order of their names; a file is returned alone.

    Links that lead out of the folder, or of the folder that holds it, are left out: it may be anybody's folder.
    """
    if not source.is_dir():
        return [source]
    whole = (root or source).resolve()
    if root is not None and stray(source, whole):
        return []
    return sorted(path for path in _visible(source) if not (path.is_symlink() and stray(path, whole)))


def folders_within(source: Path) -> list[str]:
    """Return the visible subfolders that have files of tables, by suffix: no file is opened."""
    if not source.is_dir():
        return []
    tables = {*CONTAINERS, *(name for form in FORMATS for name in form.suffixes)} - {".txt"}
    found = []
    for path in source.iterdir():
        try:
            is_one = path.is_dir() and not path.is_symlink() and not path.name.startswith((".", "_"))
            found += [path.name] if is_one and any(suffix(file) in tables for file in path.iterdir()) else []
        except OSError:
            continue  # what cannot be listed is told elsewhere
    return sorted(found)


def links_out(sources: Sequence[Path]) -> list[Path]:
    """Return the links in folders that lead out of them, and are not followed."""
    return sorted(path for folder in sources if folder.is_dir() for path in {*_visible(folder)} - {*listing(folder)})


def misnamed(sources: Sequence[Path]) -> list[str]:
    """Return the files in folders whose names are no UTF-8, so that no graph can hold them, as they can be printed."""
    folders = [source for source in sources if source.is_dir()]
    return sorted(shown(path) for folder in folders for path in folder.iterdir() if not is_unicode(path.name))


def refuse_links(sources: Sequence[Path], files: Sequence[Path]) -> None:
    """Raise `BadInput` if a file that belongs to a folder is a link, or lies behind one, that leads out of it."""
    for source in sources:
        root = source.resolve()
        for file in files:
            if source.is_dir() and file.is_relative_to(source) and not file.resolve().is_relative_to(root):
                raise BadInput(f"{file} is a link out of the folder, and is not followed: put the file itself there")


def _visible(folder: Path) -> Iterator[Path]:
    names = (path for path in folder.iterdir() if not path.name.startswith(".") and is_unicode(path.name))
    return (path for path in names if path.is_file())


def graphs(source: Path, is_one: Callable[[Path], bool]) -> list[Path]:
    """Return the files of a source that hold a graph of some kind; empty for a folder that also has tables."""
    inside = listing(source)
    whole = [path for path in inside if is_one(path)]
    has_tables = source.is_dir() and any(format_of(path) for path in inside if path not in whole)
    return [] if has_tables else whole


def left_over(sources: Sequence[Path], files: Sequence[Path]) -> tuple[Ignored, ...]:
    """Return the foreign files in a folder that was read as a whole."""
    inside = [path for source in sources if source.is_dir() for path in listing(source)]
    return tuple(
        Ignored(file=str(path), reason=NO_PART) if is_candidate(path) else no_table(path)
        for path in inside
        if path not in files
    )


def no_table(path: Path) -> Ignored:
    """Return the report of a file that is not a table; one that clearly accompanies tables is shown on demand only."""
    is_beside = stem(path).casefold() in PROSE or path.suffix.lower() in NO_TABLES
    return Ignored(file=str(path), reason=NO_TABLE, is_telling=not is_beside)


def is_candidate(path: Path) -> bool:
    """Return whether a file can hold a table."""
    has_role = bool(words_in(path) & (NODE_WORDS | EDGE_WORDS))
    is_prose = stem(path).casefold() in PROSE or (path.stat().st_size == 0 and not has_role)
    is_prose = is_prose or (path.name.lower().endswith(".txt") and not has_role and _is_prose(path))
    return format_of(path) is not None and not is_prose


def is_beside_tables(path: Path) -> bool:
    """Return whether a file in a folder of tables is not read alone: a README, or a table named .txt."""
    return stem(path).casefold() in PROSE or (suffix(path) == ".txt" and not _is_prose(path))


def _is_prose(path: Path) -> bool:
    """Return whether a text has other lines than a table: no two fields in each, or not as many in all."""
    try:
        with path.open("rb") as raw:
            head = raw.read(HEAD)
        text = head.decode(encoding_of(path), "replace")
    except (BadInput, OSError):  # whoever reads it tells
        return True
    lines = text.splitlines()[: SOME if len(head) < HEAD else -1][:SOME]
    for mark, fewest in (("\t", 1), (",", 2), (";", 2), ("|", 2)):
        widths = {len(row) for row in csv.reader(lines, delimiter=mark) if row}
        if len(lines) >= fewest and len(widths) == 1 and widths != {1}:
            return False
    return True


def table_of(path: Path, *, is_named: bool) -> Table:
    """Return a file as a table. Raises `BadInput` for one that cannot be read as such."""
    if not path.exists():
        raise BadInput(f"{path} does not exist: name a folder of tables, or a table")
    form = format_of(path)
    if form is None:
        name = suffix(path)
        if name in CONTAINERS and name not in NO_GRAPH:
            raise BadInput(f"{path} holds tables of its own: import it without --nodes, --edges and --labels")
        if (name in GRAPHS and name != ".json") or is_rdf(path):
            raise BadInput(
                f"{path} holds a whole graph, not a table: import it alone, without --nodes, --edges and --labels"
            )
        what = NO_GRAPH.get(name) or path.suffix or "a file without a suffix"
        raise BadInput(f"{path}: {what} is not among the formats: {suffixes()}")
    require(path)
    if not isinstance(form.reader, Parquet) and path.suffix.lower() != ".gz":
        others = OTHERS if isinstance(form.reader, DelimitedText) else {**OTHERS, **WIDE}
        with path.open("rb") as raw:
            head = raw.read(max(map(len, others)))
        for first, what in others.items():
            if head.startswith(first):
                raise BadInput(f"{path} is {what}")
    columns = names_of(path, form)
    if not columns:
        raise BadInput(f"{path} has no columns: write the table again, or leave the file out")
    return Table(path, form, columns, is_named=is_named)


def in_encoding(table: Table, encoding: str) -> Table:
    """Return a table of text in an encoding that a person names. Raises `BadInput` for one that is unknown."""
    reader = table.format.reader
    if not isinstance(reader, DelimitedText):
        raise BadInput(f"{table.file} is not a table of text: leave out its encoding")
    try:
        known = codecs.lookup(encoding).name
    except LookupError as error:
        raise BadInput(f"unknown encoding {encoding!r} of {table.file}: write utf-8, cp1252, cp1251 ...") from error
    form = replace(table.format, reader=reader.in_encoding(known))
    with unreadable(table.path):
        return replace(table, format=form, columns=names_of(table.path, form))


def asks(table: Table) -> bool:
    """Return whether a table that nobody named holds questions and their answers."""
    names = set(map(plainly, table.columns))
    return not table.is_named and bool(names & ASKED) and bool(names & ANSWERED)


@lru_cache(maxsize=256)  # asked for every row of a table
def words_in(path: Path) -> frozenset[str]:
    """Return the words of a file's name."""
    return frozenset(re.split(r"[^a-z]+", stem(path).casefold()))


def names_of(path: Path, form: Format) -> tuple[str, ...]:
    """Return the names of a table's columns; one without a name is named by its place."""
    return tuple(column_names(form.reader.columns(path)))
