"""The graphs of a server, by name. Each is reopened when a new generation of it is published.

The pointer file is checked at most once a second. A request takes the current generation and keeps it: an old one is
freed with its last request. A graph may be opened at its first request, because a host of tools waits for a list of
them and not for a graph. Or it is still being built when the server starts: until then the files read so far answer,
or the graph from before its sources changed, and every answer says so.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel

from orienteer.display import Count, format_duration, seconds_left
from orienteer.errors import BadOption, Error, Refused, Unknown, UsageError, nearest, without_paths
from orienteer.graph.format import POINTER, read_manifest, read_pointer
from orienteer.llm.budget import Budget
from orienteer.serve.views.outside import machine_paths, message_outside
from orienteer.settings import Settings

# A server that lists its tools loads no graph, and no reader of documents.
if TYPE_CHECKING:
    from orienteer.agents.events import Event
    from orienteer.graph.builder import Progress
    from orienteer.graph.store import Graph
    from orienteer.index.searchers import Mode
    from orienteer.ingest.documents.so_far import HearInterim, Interim
    from orienteer.protocols import LanguageModel
    from orienteer.retriever import Retriever

_R = TypeVar("_R", bound=BaseModel)
logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""Between two looks at a pointer file."""
# Methods that use the names in a graph, which a partial graph lacks: finding them takes as long as reading.
_BY_NAMES = ("auto", "documents")
# The method that answers in their place.
_BY_WORDS = "documents:bm25"
_CHANGED = (
    "files of this folder have changed since they were read: answers come from the graph as it was before; "
    "orienteer ask FOLDER, or a new start, reads them again"
)
_MOST_RETRIEVERS = 32  # of a generation
_LONGEST_NAME = 100  # characters of a name that a refusal repeats


@dataclass(frozen=True, slots=True)
class Stage:
    """The progress of a build."""

    text: str
    done: int = 0
    of: int | None = None
    """The total, or None if unknown."""
    began: float = field(default_factory=time.monotonic)
    share: float | None = None
    """Of the work that is done, where that is not told by the number done."""

    def __str__(self) -> str:
        total = "" if self.of is None else f" of {self.of:,}"
        return (f"{self.text}: {self.done:,}{total}" if self.done else self.text) + self.left

    @property
    def seconds_left(self) -> float | None:
        """The time that the rest takes at the pace so far, or None if unknown."""
        if self.of is None:
            return None
        return seconds_left(Count(self.done, of=self.of, share=self.share), time.monotonic() - self.began)

    @property
    def left(self) -> str:
        """The same as the end of a sentence."""
        return "" if (seconds := self.seconds_left) is None else f", about {format_duration(seconds)} left"


def interim_note(interim: Interim, stage: Stage | None) -> str:
    """Return the note that a graph answers during its build, from which files, and about how long that will last."""
    left = "" if stage is None else stage.left
    if interim.files is None:
        return f"the sources have changed and are being read again{left}: answers come from the graph as it was before"
    if interim.files == interim.of:
        return f"all {interim.files:,} files are read, and answer by words: what joins them is being found{left}"
    total = "" if interim.of is None else f" of {interim.of:,}"
    return (
        f"{interim.files:,}{total} files are read so far{left}: answers come from these, "
        "and what is not found may be in the others"
    )


@dataclass(frozen=True, slots=True)
class Answering:
    """The settings of all questions: the model, the budget of each, and whether a statement in Cypher is run."""

    settings: Settings
    budget: Budget
    model: LanguageModel | None = None
    runs_cypher: bool = False


@dataclass(slots=True)
class Generation:
    """One generation of a graph, with the retrievers made for it. Safe to share among threads."""

    name: str
    """The graph's name on this server."""
    graph: Graph
    answering: Answering
    interim_note: Callable[[], str | None] = lambda: None
    """Returns the note of answers during a build; None once the graph is complete."""
    is_part: bool = False
    """Whether it holds only the files read so far, without the edges between them."""
    _retrievers: dict[str, Retriever] = field(default_factory=dict)
    _searchers: dict[str, Retriever] = field(default_factory=dict)

    @property
    def paths(self) -> tuple[Path, ...]:
        """Paths of this machine that sentences about the graph may name."""
        return machine_paths(self.graph, self.answering.model)

    def read(self, view: Callable[[Generation], _R]) -> _R:
        """Return the record of a view, with a note if the graph is not complete yet. Every look-up goes this way."""
        with self.explained():
            return self.noted(view(self))

    def noted(self, record: _R) -> _R:
        """Return a record that has notes with the note of an incomplete graph first."""
        note = self.interim_note()
        if note is None or "notes" not in type(record).model_fields:
            return record
        return record.model_copy(update={"notes": (note, *getattr(record, "notes", ()))})

    def noted_event(self, event: Event) -> Event:
        """Return an event; the last one with its result noted."""
        return event.model_copy(update={"result": self.noted(event.result)}) if event.kind == "done" else event

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Make an error about an unknown name say that the graph is not complete yet."""
        try:
            yield
        except Unknown as error:
            # Near names are searched here, while the client waits, and not when its message is read.
            error.complete()
            if (note := self.interim_note()) is not None:
                error.add(note)
            raise

    def searcher(self, mode: Mode) -> Retriever:
        """Return a retriever for searches by words or by meaning. Raises `BadOption` for an unknown mode."""
        from orienteer.serve.views import pages

        return self._made(self._searchers, mode, lambda: pages.searcher(self.graph, mode))

    def retriever(self, method: str | None = None) -> Retriever:
        """Return the retriever of an allowed method, None for the default. Raises `BadOption` if it needs a model."""
        from orienteer.retriever import Retriever

        ask = self.answering
        if self.is_part and (method or ask.settings.method) in _BY_NAMES:
            method = _BY_WORDS

        def make() -> Retriever:
            retriever = Retriever(self.graph, method, model=ask.model, budget=ask.budget, settings=ask.settings)
            retriever.runs_cypher = ask.runs_cypher
            return retriever

        return self._made(self._retrievers, method or "", make)

    @staticmethod
    def _made(made: dict[str, Retriever], key: str, make: Callable[[], Retriever]) -> Retriever:
        retriever = made.get(key)
        if retriever is None:
            if len(made) >= _MOST_RETRIEVERS:
                made.clear()
            retriever = made.setdefault(key, make())
        return retriever


class ServedGraph:
    """A graph of a server."""

    def __init__(self, name: str, answering: Answering, *, count_reload: Callable[[], None] | None = None) -> None:
        self.name = name
        self.answering = answering
        self.stage: Stage | None = Stage("waiting")
        """The progress of its build; None once it is complete."""
        self.failure: Error | None = None
        """Why its build failed."""
        self.vectors_left: Callable[[Graph], float | None] = lambda graph: None
        """Returns the seconds until its vectors are built; None if none are being built."""
        self._count_reload = count_reload
        self._generation: Generation | None = None
        self._partial: tuple[Interim, Generation] | None = None
        self._folder, self._source = Path(), Path()
        self._stamp: tuple[int, int] | None = None
        self._looked = 0.0
        self._sources_looked, self._has_changed = 0.0, False
        self._looking = threading.Lock()
        # Set once it answers, or never will.
        self._is_decided = threading.Event()

    def set_directory(self, folder: Path) -> None:
        """Set the graph directory; the first request opens it. Raises `NotAGraph`."""
        read_pointer(folder)
        self._folder = folder.absolute()
        self.stage = None
        self._is_decided.set()

    def open(self, folder: Path) -> None:
        """Open the graph directory. Raises `NotAGraph`."""
        read_pointer(folder)
        self._folder = folder.absolute()
        self._generation = self._opened()
        self.set_directory(folder)

    def make(self, source: Path, directory: Callable[[Progress, HearInterim], Path]) -> None:
        """Build the graph of some sources in a thread. `directory` does it; it reports progress and partial graphs."""
        self._source = source.resolve()

        def work() -> None:
            try:
                self.open(directory(self._on_progress, self._on_interim))
                self._partial = None
            except Error as error:
                logger.warning("%s: %s", self.name, error)
                self.failure = error
            except Exception as error:
                # No caller waits for it: requests report it.
                logger.error("%s could not be made", self.name, exc_info=error)
                self.failure = Error("the server failed, which is its own fault: its log says how")
            finally:
                self._is_decided.set()

        threading.Thread(target=work, name="orienteer-make", daemon=True).start()

    def wait(self, seconds: float) -> None:
        """Wait until it answers or its build has failed, at most `seconds`."""
        self._is_decided.wait(seconds)

    @property
    def is_ready(self) -> bool:
        """Whether it answers from all of its sources."""
        return self.stage is None

    @property
    def interim(self) -> Interim | None:
        """The partial graph that answers during its build, or None."""
        partial = self._partial
        return None if partial is None or self.is_ready or self.failure is not None else partial[0]

    @property
    def paths(self) -> tuple[Path, ...]:
        """Paths of this machine that sentences about it may name."""
        named = machine_paths(None, self.answering.model)
        return tuple(path for path in (*named, self._folder, self._source) if path != Path())

    def current(self) -> Generation:
        """Return the latest generation; during a build the partial graph. Raises `Refused` without one, `NotAGraph`."""
        partial = self._partial
        if not self.is_ready:
            if self.failure is not None:
                why = message_outside(self.failure, self.paths)
                raise Refused(500, f"the graph {self.name!r} could not be made: {why}")
            if partial is None:
                raise Refused(
                    503,
                    f"the graph {self.name!r} is still being made ({self.stage}): come again in a moment",
                    value=self.name,
                    headers={"retry-after": "2"},
                )
            return partial[1]
        generation = self._generation
        if generation is None:
            # It is opened once, however many requests come at the same time.
            with self._looking:
                self._generation = self._generation or self._opened()
                return self._generation
        if time.monotonic() - self._looked < LOOK_SECONDS or not self._looking.acquire(blocking=False):
            return generation
        try:
            self._looked = time.monotonic()
            try:
                if self._pointer_stamp() == self._stamp:
                    return generation
                opened = self._opened()
            except (OSError, Error) as error:
                logger.warning("%s stays at generation %s: %s", self.name, generation.graph.generation, error)
                return generation
            self._generation = opened
            if self._count_reload is not None:
                self._count_reload()
            logger.info("%s is at generation %s", self.name, opened.graph.generation)
            return opened
        finally:
            self._looking.release()

    def _opened(self) -> Generation:
        from orienteer.graph.store import Graph

        # The stamp is read before the graph is opened: a later generation is seen next time.
        stamp = self._pointer_stamp()
        graph = Graph.open(self._folder, embedder=self.answering.settings.open_embedder)
        self._stamp, self._looked = stamp, time.monotonic()
        self._sources_looked, self._has_changed = 0.0, False
        return Generation(self.name, graph, self.answering, self._sources_note)

    def _sources_note(self) -> str | None:
        """Return the note that files of a folder have changed since they were read, or None.

        Only of a graph in the cache, which stands for its folder. Looking takes at most a twentieth of the time.
        """
        from orienteer.ingest.cached import is_cached
        from orienteer.ingest.provenance import is_stale

        started = time.monotonic()
        if not self._has_changed and started >= self._sources_looked:
            try:
                manifest = read_manifest(self._folder, read_pointer(self._folder))
                self._has_changed = is_cached(self._folder) and is_stale(manifest)
            except (OSError, Error) as error:
                logger.warning("the sources of %s cannot be looked at: %s", self.name, error)
            self._sources_looked = time.monotonic() + max(LOOK_SECONDS, 20 * (time.monotonic() - started))
        return _CHANGED if self._has_changed else None

    def _pointer_stamp(self) -> tuple[int, int] | None:
        """Return the identity of a graph's pointer file, or None if it is gone."""
        try:
            status = (self._folder / POINTER).stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_ino

    def _on_progress(self, text: str, count: int) -> None:
        of = count.of if isinstance(count, Count) else None
        text, before = without_paths(text, self.paths), self.stage
        is_new = before is None or before.text.partition(",")[0] != text.partition(",")[0]
        began = time.monotonic() if before is None or is_new else before.began
        share = count.share if isinstance(count, Count) else None
        self.stage = Stage(text, int(count), of, began, share)

    def _on_interim(self, interim: Interim) -> None:
        """Answer from a partial graph until the next one comes."""
        from orienteer.graph.store import Graph

        try:
            graph = Graph.open(interim.path, embedder=self.answering.settings.open_embedder)
        except Error as error:
            # The previous graph is damaged: it is being rebuilt.
            logger.warning("%s: %s", self.name, error)
            return
        is_part = interim.files is not None
        generation = Generation(self.name, graph, self.answering, lambda: interim_note(interim, self.stage), is_part)
        self._partial = interim, generation
        self._is_decided.set()


class ServedGraphs:
    """The graphs of a server: a fixed list, by name and never by path."""

    def __init__(self) -> None:
        self._graphs: dict[str, ServedGraph] = {}

    def add(self, graph: ServedGraph) -> None:
        """Add a graph, before the server begins."""
        self._graphs[graph.name] = graph

    def __iter__(self) -> Iterator[ServedGraph]:
        return iter(self._graphs.values())

    def __contains__(self, name: object) -> bool:
        return name in self._graphs

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order in which they were added."""
        return tuple(self._graphs)

    @property
    def has_model(self) -> bool:
        """Whether a question to any of them may ask a model."""
        return any(graph.answering.model is not None for graph in self)

    def named(self, name: str | None) -> ServedGraph:
        """Return the graph of a name, or the only one. Raises `Refused` with 404, `BadOption`."""
        if name is None:
            if len(self._graphs) > 1:
                raise BadOption(f"graph is missing: this server has {', '.join(self._graphs)}")
            return next(iter(self))
        if name not in self._graphs:
            near = nearest(name[:_LONGEST_NAME], self.names, most=1) or self.names
            message = f"no graph {name[:_LONGEST_NAME]!r} is served here: take {', '.join(near)}"
            raise Refused(404, message, value=name)
        return self._graphs[name]

    @property
    def paths(self) -> tuple[Path, ...]:
        """Paths of this machine that sentences about any of them may name."""
        return tuple(path for graph in self for path in graph.paths)


def named_folders(folders: Sequence[Path], named: Sequence[str]) -> dict[str, Path]:
    """Return the folders to serve by name, `named` ones as `NAME=DIR`. Raises `UsageError` for none and equal names."""
    pairs = [(folder.resolve().name, folder) for folder in folders]
    for text in named:
        name, equals, folder_text = text.partition("=")
        if not (name.strip() and equals and folder_text):
            raise UsageError(f"--name {text}: write NAME=DIR, as in --name beers={text.strip('= ') or 'data/beers'}")
        pairs.append((name.strip(), Path(folder_text)))
    if not pairs:
        raise UsageError("no graph is named: give the directory of one, or a folder of tables or documents")
    by_name: dict[str, Path] = {}
    for name, folder in pairs:
        if name in by_name:
            both = f"{by_name[name]} and {folder} are both called {name!r}"
            raise UsageError(f"{both}: name one with --name NAME={folder}")
        by_name[name] = folder
    return by_name
