"""The engine: ladybug over a copy of the graph, in a process of its own."""

from __future__ import annotations

import logging
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, LifoQueue
from typing import TYPE_CHECKING

from orienteer.cypher.ladybug.database import DATABASE, engine, read_catalog, write_copy
from orienteer.cypher.ladybug.process import Answer, Process
from orienteer.cypher.ladybug.results import Results
from orienteer.cypher.ladybug.translation import EngineQuery, written_for_engine
from orienteer.cypher.names import Bounds, Catalog, NameMap, QueryTable, View, ViewedNames, identifiers
from orienteer.cypher.syntax import CypherStatement
from orienteer.errors import BadQuery, QueryStopped
from orienteer.graph.pieces import is_damaged, piece_or_made
from orienteer.records import JsonValue

if TYPE_CHECKING:
    from orienteer.graph.store import Graph

logger = logging.getLogger(__name__)

_PIECE = "cypher"
_PATIENCE = 600.0  # seconds to wait for another process that makes the copy
_ADVICE = "ask for less, with types in the pattern"


WORKERS = 4
"""Processes that may answer at once, each started when all others are busy. A question over a network has as many."""


class Ladybug:
    """Answers statements over a graph. Safe to share among threads: each takes a worker, or waits for one."""

    def __init__(self, graph: Graph) -> None:
        engine()  # raises where it is not installed, before any work is done
        self._copying, self._closing = threading.Lock(), threading.Lock()
        self._graph = weakref.ref(graph)  # the graph holds this: a circle would keep the worker longer than the graph
        folder, catalog = _copy_of(graph, self)
        self.names = NameMap(graph.schema, catalog)
        self._viewed: dict[View | None, Results] = {None: Results(graph, self.names)}
        self._file = folder / DATABASE
        self.processes = tuple(Process(self._file) for _ in range(WORKERS))
        """The one that is taken first comes first."""
        self._idle: LifoQueue[Process] = LifoQueue()  # whoever was idle last has warm memory, or runs at all
        for process in reversed(self.processes):
            self._idle.put(process)
        self._was_looked_into = False
        weakref.finalize(self, _end, self.processes)

    def answer(self, statement: CypherStatement, parameters: Mapping[str, JsonValue], bounds: Bounds) -> QueryTable:
        """Return the answer to a statement. Raises what `Cypher.query` raises."""
        results = self._results(statement.view)
        written = written_for_engine(statement, results.names, parameters)
        with self._worker_within(bounds.seconds) as process:
            self._renew(process)
            try:
                answer = _asked(process, written, bounds)
            except (BadQuery, QueryStopped):
                if not self._made_anew(process):
                    raise
                results = self._results(statement.view)
                written = written_for_engine(statement, results.names, parameters)
                answer = _asked(process, written, bounds)
        rows = tuple(tuple(map(results.value, row)) for row in answer.rows)
        return QueryTable(
            columns=written.columns,
            rows=rows,
            total=answer.total,
            truncated=len(rows) < answer.total,
            notes=written.notes,
        )

    def check(self, statement: CypherStatement, parameters: Mapping[str, JsonValue]) -> None:
        """Raise what `answer` raises of a statement before it asks for any of the graph."""
        written_for_engine(statement, self._results(statement.view).names, parameters)

    @property
    def folder(self) -> Path:
        """Return the folder of the copy."""
        return self._file.parent

    @contextmanager
    def _worker_within(self, seconds: float) -> Iterator[Process]:
        """Wait for an idle worker and take it. Raises `QueryStopped` after so many seconds of waiting."""
        try:
            process = self._idle.get(timeout=seconds)
        except Empty as fault:
            raise QueryStopped(f"other queries kept the Cypher engine busy for {seconds:g} s: ask again") from fault
        try:
            yield process
        finally:
            self._idle.put(process)

    def _renew(self, process: Process) -> None:
        """Make the copy again if another process has published the graph anew and removed the copy."""
        with self._copying:
            if not process.is_running and not self._file.exists():
                self._take(_copy_of(self._held, self))
            process.move_to(self._file)

    def _made_anew(self, process: Process) -> bool:
        """Make a damaged copy again; tell whether it was damaged. Checks once, at the engine's first failure."""
        with self._copying:
            if process.file != self._file:  # somebody else has made it anew meanwhile
                process.move_to(self._file)
                return True
            if self._was_looked_into:
                return False
            self._was_looked_into = True
            graph, folder = self._held, self.folder
            if not is_damaged(graph.path, folder):
                return False
            logger.warning("%s is damaged: the copy is made anew", folder)
            self._take(_copy_of(graph, self, but=folder))
            process.move_to(self._file)
            return True

    def _take(self, copy: tuple[Path, Catalog]) -> None:
        """Switch to another copy."""
        folder, catalog = copy
        self._file = folder / DATABASE
        self.names = NameMap(self._held.schema, catalog)
        self._viewed = {None: Results(self._held, self.names)}

    @property
    def _held(self) -> Graph:
        graph = self._graph()
        assert graph is not None, "whoever asks holds the graph"
        return graph

    def close(self) -> None:
        """End the workers once their queries have ended; the next query starts another."""
        with self._closing:  # two that close would each wait for what the other holds
            for _ in self.processes:
                self._idle.get().close()
            for process in reversed(self.processes):
                self._idle.put(process)

    def _results(self, view: View | None) -> Results:
        """Return the reader of the engine's values, with the names of a view."""
        if view not in self._viewed:
            graph = self._held
            assert view is not None, "the graph's own names are there from the start"
            shown = identifiers(graph.arrays, view)
            names = ViewedNames(graph.schema, self.names.catalog, view, shown)
            self._viewed[view] = Results(graph, names, shown)
        return self._viewed[view]


def _asked(process: Process, written: EngineQuery, bounds: Bounds) -> Answer:
    """Return the engine's answer. Raises `QueryStopped`, and `BadQuery` for a complaint of the engine."""
    answer = process.ask(written.text, written.parameters, bounds)
    if answer.error is None:
        return answer
    complaint = _complaint(answer.error)
    if isinstance(complaint, QueryStopped):
        process.close()  # what is left of its memory might be too little for the next query
    raise complaint


def _end(processes: Iterable[Process]) -> None:
    for process in processes:
        process.close()


def _copy_of(graph: Graph, owner: Ladybug, *, but: Path | None = None) -> tuple[Path, Catalog]:
    """Return the copy of a graph, and make it where there is none; `but` is a damaged copy to pass over.

    A copy that cannot be published beside the graph lives as long as its owner.
    """

    def read(folder: Path) -> tuple[Path, Catalog] | None:
        catalog = read_catalog(folder) if folder != but else None
        return None if catalog is None else (folder, catalog)

    piece, _ = piece_or_made(
        graph.path,
        graph.arrays.manifest.generation,
        _PIECE,
        read=read,
        write=lambda work: write_copy(graph, work),
        patience=_PATIENCE,
    )
    if piece is not None:
        return piece
    folder = Path(tempfile.mkdtemp(prefix="orienteer-cypher-"))
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    write_copy(graph, folder)
    catalog = read_catalog(folder)
    assert catalog is not None, folder
    return folder, catalog


def _complaint(error: str) -> BadQuery | QueryStopped:
    """Return the engine's complaint as an error, by its first line: the rest is about the engine's own text."""
    if "out of memory" in error or "Buffer manager exception" in error or "bad_alloc" in error:
        return QueryStopped(f"the query needs more memory than it may have: {_ADVICE}")
    first = error.splitlines()[0].removesuffix(":")
    return BadQuery(f"the engine cannot answer this form ({first}): write the query in simpler steps, with WITH")
