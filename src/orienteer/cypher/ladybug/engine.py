"""The engine: ladybug, over a copy of the graph, in a process of its own."""

from __future__ import annotations

import logging
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from orienteer.cypher.ladybug.database import DATABASE, engine, read_catalog, write_copy
from orienteer.cypher.ladybug.process import Answer, Process
from orienteer.cypher.ladybug.results import Results
from orienteer.cypher.ladybug.translation import Rewritten, written_for_engine
from orienteer.cypher.names import Catalog, Names
from orienteer.cypher.syntax import Statement
from orienteer.cypher.table import Bounds, Table
from orienteer.cypher.view import View, identifiers
from orienteer.cypher.viewed_names import ViewedNames
from orienteer.errors import BadQuery, QueryStopped
from orienteer.graph.pieces import is_damaged, piece_or_made
from orienteer.records import JsonValue

if TYPE_CHECKING:
    from orienteer.graph.store import Graph

logger = logging.getLogger(__name__)

_PIECE = "cypher"
_PATIENCE = 600.0  # seconds that another process may take to make the copy
_ADVICE = "ask for less, with types in the pattern"


class Ladybug:
    """Answers statements over a graph. Safe to share among threads: they take turns."""

    def __init__(self, graph: Graph) -> None:
        engine()  # raises where it is not installed, before anything is made
        self._turn = threading.Lock()
        self._graph = weakref.ref(graph)  # who holds the other: a circle would keep the worker longer than the graph
        folder, catalog = _copy_of(graph, self)
        self.names = Names(graph.schema, catalog)
        self._viewed: dict[View | None, Results] = {None: Results(graph, self.names)}
        self.process = Process(folder / DATABASE)
        self._was_looked_into = False
        weakref.finalize(self, self.process.close)

    def answer(self, statement: Statement, parameters: Mapping[str, JsonValue], bounds: Bounds) -> Table:
        """Return what a statement finds. Raises as `Cypher.query` does."""
        results = self._results(statement.view)
        written = written_for_engine(statement, results.names, parameters)
        with self._turn_within(bounds.seconds):
            self._renew()
            try:
                answer = self._asked(written, bounds)
            except (BadQuery, QueryStopped):
                if not self._made_anew():
                    raise
                results = self._results(statement.view)
                written = written_for_engine(statement, results.names, parameters)
                answer = self._asked(written, bounds)
        rows = tuple(tuple(map(results.value, row)) for row in answer.rows)
        return Table(
            columns=written.columns,
            rows=rows,
            total=answer.total,
            truncated=len(rows) < answer.total,
            notes=written.notes,
        )

    @property
    def folder(self) -> Path:
        """Where the copy lies."""
        return self.process.file.parent

    @contextmanager
    def _turn_within(self, seconds: float) -> Iterator[None]:
        """Take the turn. Raises `QueryStopped` where others keep it for longer than a query may take."""
        if not self._turn.acquire(timeout=seconds):
            raise QueryStopped(f"other queries kept the Cypher engine busy for {seconds:g} s: ask again")
        try:
            yield
        finally:
            self._turn.release()

    def _asked(self, written: Rewritten, bounds: Bounds) -> Answer:
        """Return what the engine answers. Raises `QueryStopped`, and `BadQuery` for what it complains of."""
        answer = self.process.ask(written.text, written.parameters, bounds)
        if answer.error is not None:
            raise _complaint(answer.error)
        return answer

    def _renew(self) -> None:
        """Make the copy again where another process has published the graph anew and has taken it away."""
        if not self.process.is_running and not self.process.file.exists():
            self._take(_copy_of(self._held, self))

    def _made_anew(self) -> bool:
        """Make a copy that is damaged anew, and tell whether it was: looked into once, when the engine first fails."""
        if self._was_looked_into:
            return False
        self._was_looked_into = True
        graph, folder = self._held, self.folder
        if not is_damaged(graph.path, folder):
            return False
        logger.warning("%s is damaged: the copy is made anew", folder)
        self.process.close()
        self._take(_copy_of(graph, self, but=folder))
        return True

    def _take(self, copy: tuple[Path, Catalog]) -> None:
        """Go on with another copy."""
        folder, catalog = copy
        self.process.file = folder / DATABASE
        self.names = Names(self._held.schema, catalog)
        self._viewed = {None: Results(self._held, self.names)}

    @property
    def _held(self) -> Graph:
        graph = self._graph()
        assert graph is not None, "whoever asks holds the graph"
        return graph

    def close(self) -> None:
        """End the worker; the next query starts another."""
        with self._turn:
            self.process.close()

    def _results(self, view: View | None) -> Results:
        """Return what reads the engine's values, with the names of a view."""
        if view not in self._viewed:
            graph = self._held
            assert view is not None, "the graph's own names are there from the start"
            shown = identifiers(graph, view)
            names = ViewedNames(graph.schema, self.names.catalog, view, shown)
            self._viewed[view] = Results(graph, names, shown)
        return self._viewed[view]


def _copy_of(graph: Graph, owner: Ladybug, *, but: Path | None = None) -> tuple[Path, Catalog]:
    """Return the copy of a graph, but for a damaged one, made where there is none.

    One that cannot be published lives as long as its owner.
    """

    def read(folder: Path) -> tuple[Path, Catalog] | None:
        catalog = read_catalog(folder) if folder != but else None
        return None if catalog is None else (folder, catalog)

    kept, _ = piece_or_made(
        graph.path,
        graph.manifest.generation,
        _PIECE,
        read=read,
        write=lambda work: write_copy(graph, work),
        patience=_PATIENCE,
    )
    if kept is not None:
        return kept
    folder = Path(tempfile.mkdtemp(prefix="orienteer-cypher-"))
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    write_copy(graph, folder)
    catalog = read_catalog(folder)
    assert catalog is not None, folder
    return folder, catalog


def _complaint(error: str) -> BadQuery | QueryStopped:
    """Return the engine's complaint as an error; what it says of its own text helps nobody."""
    if "out of memory" in error or "Buffer manager exception" in error or "bad_alloc" in error:
        return QueryStopped(f"the query needs more memory than it may have: {_ADVICE}")
    first = error.splitlines()[0].removesuffix(":")
    return BadQuery(f"the engine cannot answer this form ({first}): write the query in simpler steps, with WITH")
