"""Which file holds nodes, which holds edges, and which is neither."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from orienteer.errors import BadInput
from orienteer.graph.format import is_graph
from orienteer.ingest.formats import GRAPHS, Batch, Drop, Format, format_of, suffixes
from orienteer.ingest.formats.delimited import numbered
from orienteer.ingest.formats.files import require, stem, stray, suffix
from orienteer.ingest.formats.parquet import Parquet
from orienteer.ingest.formats.rdf.parser import is_rdf
from orienteer.ingest.report import Ignored
from orienteer.ingest.tables.columns import EDGE_RANKS, NODE_RANKS, Columns, EdgeRoles, NodeRoles, ends, plainly

NODE_WORDS = frozenset({"node", "nodes", "vertex", "vertices", "entities", "concepts"})
EDGE_WORDS = frozenset({"edge", "edges", "relationships", "relations", "links", "triples", "statements"})
"""Words of a file's name that tell what it holds."""
CORPUS_WORDS = frozenset({"corpus", "passages", "chunks"})
"""Words that tell a table of texts; its nodes are chunks unless a column says what they are."""
ASKED = frozenset({"question", "query"})
ANSWERED = frozenset({"answer", "answers", "answer_ids", "gold_pids"})
"""A table with a column of each kind holds a benchmark's questions, and is no part of the graph beside it."""
PROSE = frozenset({"readme", "license", "licence", "copying", "notice", "changelog", "requirements"})
"""Names of texts that lie beside tables."""
NO_TABLES = frozenset({".md", ".rst", ".py", ".ipynb", ".sh", ".pdf", ".html", ".png", ".jpg", ".svg", ".toml"})
"""Suffixes of files that nobody takes for tables, so that an import does not mention them."""
OTHERS: Mapping[bytes, str] = {
    b"PK\x03\x04": "a ZIP archive, as spreadsheets (.xlsx) are: save the sheet as CSV, or unpack it",
    b"PAR1": "a Parquet file: name it with the suffix .parquet",
    b"\x1f\x8b": "packed with gzip: name it with the suffix .gz as well",
    b"\xff\xfe": "text in UTF-16: save it as UTF-8",
    b"\xfe\xff": "text in UTF-16: save it as UTF-8",
}
"""What a text file turns out to be by its first bytes."""
TRIPLE = 3
TELLING = frozenset({"name", "type", "text", "aliases"})
"""A table with an id and one of these describes nodes."""


@dataclass(frozen=True, slots=True)
class Table:
    """A file that holds a table, and its columns."""

    path: Path
    format: Format
    columns: tuple[str, ...]
    has_header: bool = True
    is_named: bool = False
    """Named by hand or alone, so that not knowing what it holds is an error."""

    @property
    def is_corpus(self) -> bool:
        """Say whether the file's name says that it holds texts."""
        return bool(_words(self.path) & CORPUS_WORDS)

    def batches(self, *, rows: int, drop: Drop) -> Iterator[Batch]:
        """Read the table in batches."""
        return self.format.reader.batches(self.path, rows=rows, drop=drop, header=self.has_header)

    def edge_roles(self, columns: Columns) -> EdgeRoles:
        """Tell the roles of the columns of a table of edges."""
        if not self.has_header:
            source, kind, target = self.columns
            return EdgeRoles(source, target, kind, (), None, None, {}, {})
        return EdgeRoles.of(self.columns, columns, self.path)

    def id_column(self, columns: Columns) -> str:
        """Return the column of the ids of a table of nodes. Raises `BadInput` without one."""
        column = NodeRoles(columns).id_column(self.columns)
        if column is None:
            raise BadInput(
                f"{self.path} has no column for the ids of its nodes. Its columns are: {', '.join(self.columns)}. "
                "Name it with --column id=COLUMN."
            )
        return column


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What is read as what."""

    nodes: tuple[Table, ...]
    edges: tuple[Table, ...]
    others: tuple[Table, ...] = ()
    """Tables beside them, which may hold the labels of codes."""
    ignored: tuple[Ignored, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the files that the graph is made of."""
        return tuple(table.path for table in (*self.nodes, *self.edges))


def plan(sources: Sequence[Path], columns: Columns, *, nodes: Sequence[Path], edges: Sequence[Path]) -> ImportPlan:
    """Tell what each file holds, by hand where files are named, else by names of files and columns."""
    by_hand = {path.resolve() for path in (*nodes, *edges)}
    tables, ignored = _tables(sources, by_hand)
    node_tables = [table_of(path, is_named=True) for path in nodes]
    edge_tables = [_sure_edges(table_of(path, is_named=True), columns) for path in edges]
    sorted_nodes, sorted_edges, others = _sort(tables, columns)
    if not nodes:
        node_tables = sorted_nodes
    if not edges:
        edge_tables = sorted_edges
    chosen = [*node_tables, *edge_tables]
    others += [table for table in (*sorted_nodes, *sorted_edges) if table not in chosen]
    unclear = [table for table in others if table.is_named]
    if unclear or not chosen:
        raise BadInput(_unclear(unclear or others))
    return ImportPlan(tuple(node_tables), tuple(edge_tables), tuple(others), tuple(ignored))


def _tables(sources: Sequence[Path], by_hand: set[Path]) -> tuple[list[Table], list[Ignored]]:
    tables: list[Table] = []
    ignored: list[Ignored] = []
    for source in sources:
        if is_graph(source):
            raise BadInput(f"{source} is a graph already: give the tables that it was made from, or export it first")
        if not source.is_dir():
            if source.resolve() not in by_hand:
                tables.append(table_of(source, is_named=True))
            continue
        inside = [path for path in listing(source) if path.resolve() not in by_hand]
        readable = [path for path in inside if _is_candidate(path)]
        tables += [table_of(path, is_named=False) for path in readable]
        ignored += [_no_table(path) for path in inside if path not in readable]
        if not readable and not by_hand:
            raise BadInput(f"{source} holds no table. Formats that can be read: {suffixes()}.")
    return tables, ignored


def listing(source: Path, root: Path | None = None) -> list[Path]:
    """Return the visible files of a folder, in the order of their names; a file stands for itself.

    Links that lead out of the folder, or of the folder that holds it, are left out: it may be anybody's folder.
    """
    if not source.is_dir():
        return [source]
    whole = (root or source).resolve()
    if root is not None and stray(source, whole):
        return []
    return sorted(path for path in _visible(source) if not _leads_out(path, whole))


def links_out(sources: Sequence[Path]) -> list[Path]:
    """Return the links in folders that lead out of them, and are not followed."""
    folders = [source for source in sources if source.is_dir()]
    return sorted(path for folder in folders for path in _visible(folder) if _leads_out(path, folder.resolve()))


def refuse_links(sources: Sequence[Path], files: Sequence[Path]) -> None:
    """Raise `BadInput` if a file that belongs to a folder is a link, or lies behind one, that leads out of it."""
    for source in sources:
        root = source.resolve()
        for file in files:
            if source.is_dir() and file.is_relative_to(source) and not file.resolve().is_relative_to(root):
                raise BadInput(f"{file} is a link out of the folder, and is not followed: put the file itself there")


def _visible(folder: Path) -> Iterator[Path]:
    return (path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))


def _leads_out(path: Path, root: Path) -> bool:
    return path.is_symlink() and bool(stray(path, root))


def graphs(source: Path, is_one: Callable[[Path], bool]) -> list[Path]:
    """Return the files of a source that hold a graph of some kind; none of a folder with tables, which come first."""
    inside = listing(source)
    return [] if source.is_dir() and any(map(format_of, inside)) else [path for path in inside if is_one(path)]


def left_over(sources: Sequence[Path], files: Sequence[Path]) -> tuple[Ignored, ...]:
    """Return the foreign files in a folder that was read as a whole."""
    inside = [path for source in sources if source.is_dir() for path in listing(source)]
    return tuple(
        Ignored(file=str(path), reason="no part of the graph") if _is_candidate(path) else _no_table(path)
        for path in inside
        if path not in files
    )


def _no_table(path: Path) -> Ignored:
    """Return a file that is no table; one that clearly accompanies tables is told of only on demand."""
    is_beside = stem(path).casefold() in PROSE or path.suffix.lower() in NO_TABLES
    return Ignored(file=str(path), reason="no table", is_telling=not is_beside)


def _is_candidate(path: Path) -> bool:
    has_role = bool(_words(path) & (NODE_WORDS | EDGE_WORDS))
    is_prose = stem(path).casefold() in PROSE or (path.stat().st_size == 0 and not has_role)
    return format_of(path) is not None and not is_prose


def table_of(path: Path, *, is_named: bool) -> Table:
    """Return a file as a table. Raises `BadInput` for one that cannot be read as such."""
    if not path.exists():
        raise BadInput(f"{path} does not exist: name a folder of tables, or a table")
    form = format_of(path)
    if form is None:
        name = suffix(path)
        if name in GRAPHS or is_rdf(path):
            raise BadInput(
                f"{path} holds a whole graph, not a table: import it alone, without --nodes, --edges and --labels"
            )
        what = "XML that is no RDF" if name == ".xml" else path.suffix or "a file without a suffix"
        raise BadInput(f"{path}: {what} is not among the formats: {suffixes()}")
    require(path)
    if not isinstance(form.reader, Parquet) and path.suffix.lower() != ".gz":
        _require_text(path)
    return Table(path, form, _names(path, form), is_named=is_named)


def _require_text(path: Path) -> None:
    """Raise `BadInput` for a file whose name says text where its first bytes say something else."""
    with path.open("rb") as raw:
        head = raw.read(max(map(len, OTHERS)))
    for first, what in OTHERS.items():
        if head.startswith(first):
            raise BadInput(f"{path} is {what}")


@lru_cache(maxsize=256)  # asked for every row of a table
def _words(path: Path) -> frozenset[str]:
    return frozenset(re.split(r"[^a-z]+", stem(path).casefold()))


def _sort(tables: Sequence[Table], columns: Columns) -> tuple[list[Table], list[Table], list[Table]]:
    """Return the tables of nodes, those of edges, and the others."""
    by_name = [table for table in tables if _words(table.path) & NODE_WORDS and not _words(table.path) & EDGE_WORDS]
    nodes: list[Table] = []
    edges: list[Table] = []
    bare: list[Table] = []
    others: list[Table] = []
    for table in tables:
        is_edges = bool(_words(table.path) & EDGE_WORDS) and table not in by_name
        as_edges = _sure_edges(table, columns) if is_edges else _bare(table, columns)
        if table in by_name:
            nodes.append(table)
        elif is_edges and as_edges is not None:
            edges.append(as_edges)
        elif _joins(table, columns):
            edges.append(table)
        elif as_edges is not None:
            bare.append(as_edges)
        elif (not by_name or table.is_named) and _describes(table, columns) and not asks(table):
            nodes.append(table)
        else:
            others.append(table)
    # Three unknown columns beside a table of edges are something else; alone they are the edges.
    if edges and not any(table.is_named for table in bare):
        others += [Table(table.path, table.format, _names(table.path, table.format)) for table in bare]
        return nodes, edges, others
    return nodes, [*edges, *bare], others


def _names(path: Path, form: Format) -> tuple[str, ...]:
    names = form.reader.columns(path)
    return tuple(name or number for name, number in zip(names, numbered(len(names)), strict=True))


def _joins(table: Table, columns: Columns) -> bool:
    """Say whether the columns are those of edges, and not those of nodes that have a `start` and an `end`."""
    if None in ends(table.columns, columns):
        return False
    roles = {NODE_RANKS.get(plainly(name), ("", 0))[0] for name in table.columns}
    return not {"id", "name"} <= roles or columns.role("source") is not None


def asks(table: Table) -> bool:
    """Say whether a table that nobody named holds questions and their answers."""
    names = set(map(plainly, table.columns))
    return not table.is_named and bool(names & ASKED) and bool(names & ANSWERED)


def _describes(table: Table, columns: Columns) -> bool:
    roles = NodeRoles(columns)
    meanings = {roles.of(name)[0] for name in table.columns}
    has_id = roles.id_column(table.columns) is not None
    return has_id and (bool(meanings & TELLING) or columns.role("id") in table.columns)


def _sure_edges(table: Table, columns: Columns) -> Table:
    """Return the table as a table of edges. Raises `BadInput` if it cannot be one."""
    if None not in ends(table.columns, columns):
        return table
    bare = _bare(table, columns)
    if bare is None:
        EdgeRoles.of(table.columns, columns, table.path)  # says which end is missing
    return bare or table


def _bare(table: Table, columns: Columns) -> Table | None:
    """Return the table as bare triples: three columns, and a first row that does not name them."""
    is_bare = table.format.is_text and len(table.columns) == TRIPLE and not _is_header(table.columns, columns)
    if not is_bare:
        return None
    return Table(table.path, table.format, tuple(numbered(TRIPLE)), has_header=False, is_named=table.is_named)


def _is_header(first: Sequence[str], columns: Columns) -> bool:
    """Say whether a first row of three holds names of columns; one known word alone may be data."""
    column_names = [name for name in map(plainly, first) if name in EDGE_RANKS or name in NODE_RANKS or name in _ENDS]
    return len(column_names) > 1 or bool(set(first) & set(columns.roles.values()))


_ENDS = frozenset({"source", "target", "subject", "object", "from", "to", "head", "tail", "src", "dst"})


def _unclear(tables: Sequence[Table]) -> str:
    if not tables:
        return f"There is no table of nodes or edges to read. What is read: {suffixes()}."
    seen = "; ".join(f"{table.path}: {', '.join(table.columns)}" for table in tables)
    return (
        f"It is not clear which table holds nodes and which edges. The columns are: {seen}. "
        "Say so with --nodes FILE and --edges FILE, and name columns with --column id=COLUMN, "
        "--column source=COLUMN, --column target=COLUMN, --column type=COLUMN."
    )
