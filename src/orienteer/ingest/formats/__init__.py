"""The file formats that can be imported: one module each, one line each in the table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from orienteer.errors import BadInput, Error
from orienteer.ingest.formats.delimited import DelimitedText
from orienteer.ingest.formats.edge_list import SUFFIXES, EdgeList, is_edge_list
from orienteer.ingest.formats.files import suffix
from orienteer.ingest.formats.gedcom import SUFFIXES as TREES
from orienteer.ingest.formats.jsonl import JsonLines
from orienteer.ingest.formats.objects import SUFFIXES as OBJECTS
from orienteer.ingest.formats.parquet import Parquet
from orienteer.ingest.formats.rdf.parser import SYNTAXES
from orienteer.ingest.formats.sniffer import DELIMITERS
from orienteer.ingest.formats.sqlite import SUFFIXES as DATABASES
from orienteer.ingest.formats.table import Batch, Drop, Format, Reader
from orienteer.ingest.formats.workbook import SUFFIXES as WORKBOOKS
from orienteer.plugins import fault, load, refused

EDGE_LIST = Format("edge list", SUFFIXES, EdgeList())
FORMATS = (
    Format("delimited text", tuple(DELIMITERS), DelimitedText(), is_text=True),
    Format("JSON lines", (".jsonl", ".ndjson"), JsonLines()),
    Format("Parquet", (".parquet", ".pq"), Parquet()),
    EDGE_LIST,
)
"""Every text format may be packed with gzip (`.gz`)."""

CONTAINERS = (*WORKBOOKS, *OBJECTS, *TREES)
"""Files that hold several tables, as `DATABASES` do."""
GRAPHS = (".graphml", ".gexf", ".gml", ".json")
"""Files that hold a whole graph, no tables: `graph_file` reads them, and CSV and JSON lines as APOC writes them."""

RDF = tuple(SYNTAXES)
"""Files of RDF, one graph together: `rdf` reads them. Of `.xml` only what says that it is RDF."""


_OWN = frozenset(
    name.removeprefix(".")
    for name in (*(name for form in FORMATS for name in form.suffixes), *GRAPHS, *RDF, *CONTAINERS)
)
"""Suffixes that no package may register, without their dot."""


def format_of(path: Path) -> Format | None:
    """Return the format of a file by its name, of an edge list by its first lines; None if no format fits."""
    kind = suffix(path)
    form_of_file = next((form for form in FORMATS if kind in form.suffixes), None) or _registered(kind)
    if form_of_file is not None and isinstance(form_of_file.reader, Parquet) and path.suffix.lower() == ".gz":
        return None  # Parquet is packed within; nothing writes it so, and it cannot be streamed
    return EDGE_LIST if kind in DELIMITERS and kind != ".sif" and is_edge_list(path) else form_of_file


def _registered(kind: str) -> Format | None:
    """Return the format that an installed package registers under a suffix without its dot. Raises `BadOption`."""
    name = kind.removeprefix(".")
    form = load("importers", name, _OWN)
    if form is None:
        return None
    if not isinstance(form, Format) or kind not in form.suffixes:
        raise refused("importers", name, f"{form!r} is no Format of files named *{kind}")
    return replace(form, reader=_PackageReader(form.reader, name))


@dataclass(frozen=True, slots=True)
class _PackageReader:
    """The reader of a package. Whatever it raises becomes `BadInput`, which names the package and the file."""

    reader: Reader
    name: str

    def columns(self, path: Path) -> tuple[str, ...]:
        with self._named(path):
            return self.reader.columns(path)

    def batches(self, path: Path, *, rows: int, drop: Drop, header: bool) -> Iterator[Batch]:
        with self._named(path):
            for batch in self.reader.batches(path, rows=rows, drop=drop, header=header):
                lengths = {"lines": len(batch), **{name: len(cells) for name, cells in batch.columns.items()}}
                if len(set(lengths.values())) > 1:
                    told = ", ".join(f"{name} {length}" for name, length in lengths.items())
                    raise ValueError(f"a Batch has columns of different lengths: {told}")
                yield batch

    @contextmanager
    def _named(self, path: Path) -> Iterator[None]:
        try:
            yield
        except (Error, OSError):
            raise
        except Exception as error:  # another package's code may fail in any way
            failure = f"it failed on {path} ({type(error).__name__}: {error})"
            raise BadInput(fault("importers", self.name, failure), paths=[path]) from error


def suffixes() -> str:
    """Return the suffixes that are read, for messages and help."""
    tables = " ".join(name for form in FORMATS for name in form.suffixes)
    graphs, rdf = " ".join(GRAPHS), " ".join(RDF)
    databases, several = " ".join(DATABASES), " ".join(CONTAINERS)
    return (
        f"{tables}; of several tables: {several}; {graphs}, each a graph of its own; RDF: {rdf} (text also as .gz); "
        f"SQLite: {databases}"
    )


__all__ = [
    "CONTAINERS",
    "DATABASES",
    "FORMATS",
    "GRAPHS",
    "RDF",
    "WORKBOOKS",
    "Batch",
    "Drop",
    "Format",
    "format_of",
    "suffixes",
]
