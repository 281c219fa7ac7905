"""Folders and files that are known as a whole: dumps, graph files, RDF, benchmarks, what other tools write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from orienteer.errors import BadInput, BadOption
from orienteer.graph.builder import GraphBuilder
from orienteer.ingest import portable
from orienteer.ingest.formats.table import is_unicode, shown
from orienteer.ingest.report import Tally
from orienteer.ingest.tables.columns import Columns
from orienteer.ingest.tables.labels import Labels


class Layout(Protocol):
    """A source that is read as a whole."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the files that the graph is made of."""

    def read(self, builder: GraphBuilder) -> Labels:
        """Read everything into the builder, and return the labels of types."""


OpenLayout = Callable[[Columns, Tally], Layout]
"""Opens a source that is no file, given what a person says of columns and where to count what is left out."""


def recognize(sources: Sequence[Path], columns: Columns, tally: Tally, *, language: str = "en") -> Layout | None:
    """Return the layout of the one source, or None if it is read table by table.

    Raises `BadInput` for a source that does not exist, `BadOption` for an option about columns that has no meaning.
    """
    missing = next((source for source in sources if not source.exists()), None)
    if missing is not None:
        raise BadInput(f"{missing} does not exist: name a folder of tables, a table, or the file of a graph")
    unnamed = next((source for source in sources if not is_unicode(str(source))), None)
    if unnamed is not None:
        raise BadInput(f"{shown(unnamed)} has a name that is no UTF-8: rename it")
    dump = portable.recognize(sources)
    if dump is not None:
        from orienteer.ingest.flat_tables import FlatDump

        return FlatDump(dump) if dump.tables else dump
    # Whoever opens a graph needs none of them.
    from orienteer.ingest.formats import graph_file, lightrag, msgraphrag, neo4j_admin
    from orienteer.ingest.formats.rdf import files
    from orienteer.lab.formats import corpus, grbench, ottqa, stark

    if len(sources) == 1 and not columns.roles:  # who names columns wants tables as they are
        knowledge: Layout | None = lightrag.recognize(sources[0], tally) or msgraphrag.recognize(sources[0], tally)
        if knowledge is not None:
            _check(sources[0], columns, takes_fields=False)
            return knowledge
    graph: Layout | None = graph_file.recognize(sources, columns, tally) or neo4j_admin.recognize(
        sources, columns, tally
    )
    graph = graph or files.recognize(sources, columns, tally, language=language)
    if graph is not None:
        return graph
    if len(sources) != 1:
        return None
    source = sources[0]
    base = stark.recognize(source, explode=columns.explode, private=columns.private) if source.is_dir() else None
    layout: Layout | None = (
        base or grbench.recognize(source, tally) or ottqa.recognize(source) or corpus.recognize(source)
    )
    if layout is not None:
        _check(source, columns, takes_fields=base is not None)
    return layout


def _check(source: Path, columns: Columns, *, takes_fields: bool) -> None:
    options = {"--column": columns.roles, "--private": columns.private, "--explode": columns.explode}
    for option, value in options.items():
        if value and not (takes_fields and option != "--column"):
            raise BadOption(f"{option} has no meaning for {source}, whose fields are known: leave it out")
