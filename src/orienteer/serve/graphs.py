"""The graphs that a server gives out, by name: each opened again where another generation of it was published.

The pointer file is looked at once a second at the most. Who asks takes the generation of that moment, and keeps it: the
old one goes with its last request. A graph may be opened at its first request, for a host of tools waits for a list of
them and not for a graph. Or it is still made when the server begins: until it is there, what was read so far answers,
or the graph as it was before its sources changed, and every answer says so.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pydantic import BaseModel

from orienteer.display import Count
from orienteer.errors import BadOption, Error, Refused, Unknown, UsageError, nearest, without_paths
from orienteer.graph.format import POINTER, read_pointer
from orienteer.llm.budget import Budget
from orienteer.serve.making import Stage, told_of
from orienteer.serve.views.outside import machine_paths, message_outside
from orienteer.settings import Settings

if TYPE_CHECKING:  # a server that lists its tools loads no graph
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
_JOINED = ("auto", "documents")
"""Methods that go over names, which a part of a graph does not have: finding them takes as long as reading."""
WORDS_ALONE = "documents:bm25"
"""What answers in their place."""
_MOST_KEPT = 32  # retrievers of a generation
_LONGEST_NAME = 100  # characters of a name that a refusal repeats
_COME_AGAIN = "2"  # seconds, while a graph is made


@dataclass(frozen=True, slots=True)
class Answering:
    """What answers questions: the model, what each may spend, and the settings."""

    settings: Settings
    budget: Budget
    model: LanguageModel | None = None


@dataclass(slots=True)
class Generation:
    """One generation of a graph, with what was made for it. Safe to share among threads."""

    name: str
    """What the graph is called here."""
    graph: Graph
    answering: Answering
    tell_interim: Callable[[], str | None] = lambda: None
    """Says from what it answers while the graph that was asked for is being made; None of that graph itself."""
    is_part: bool = False
    """Whether it holds what was read so far, without what joins it."""
    _searchers: dict[str, Retriever] = field(default_factory=dict)
    _retrievers: dict[str, Retriever] = field(default_factory=dict)

    @property
    def paths(self) -> tuple[Path, ...]:
        """What of this machine sentences about the graph may name."""
        return machine_paths(self.graph, self.answering.model)

    def noted(self, record: _R) -> _R:
        """Return a record that has notes with a first one that says from what it was answered, unless from all."""
        told = self.tell_interim()
        if told is None or "notes" not in type(record).model_fields:
            return record
        return record.model_copy(update={"notes": (told, *getattr(record, "notes", ()))})

    def noted_event(self, event: Event) -> Event:
        """Return an event; the last one with its result noted."""
        return event.model_copy(update={"result": self.noted(event.result)}) if event.kind == "done" else event

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Have an error about a name say that not all is there yet, where that is so.

        Near names are looked for here, while whoever asked waits, and not where its message is read.
        """
        try:
            yield
        except Unknown as error:
            error.complete()
            if (told := self.tell_interim()) is not None:
                error.add(told)
            raise

    def searcher(self, mode: Mode) -> Retriever:
        """Return what searches by names and words, or by meaning. Raises `BadOption` for a mode that there is not."""
        from orienteer.serve.views import pages

        return self._kept(self._searchers, mode, lambda: pages.searcher(self.graph, mode))

    def retriever(self, method: str | None = None) -> Retriever:
        """Return what answers by a method, which the door has let in; None is that of the settings.

        Raises `BadOption` where it needs a model.
        """
        from orienteer.retriever import Retriever

        ask = self.answering
        if self.is_part and ask.model is None and (method or ask.settings.method) in _JOINED:
            method = WORDS_ALONE
        return self._kept(
            self._retrievers,
            method or "",
            lambda: Retriever(self.graph, method, model=ask.model, budget=ask.budget, settings=ask.settings),
        )

    @staticmethod
    def _kept(made: dict[str, Retriever], key: str, make: Callable[[], Retriever]) -> Retriever:
        retriever = made.get(key)
        if retriever is None:
            if len(made) >= _MOST_KEPT:
                made.clear()
            retriever = made.setdefault(key, make())
        return retriever


class _Meanwhile(NamedTuple):
    """What answers while a graph is being made."""

    interim: Interim
    generation: Generation


class ServedGraph:
    """A graph by its name."""

    def __init__(self, name: str, answering: Answering, *, count_reload: Callable[[], None] | None = None) -> None:
        self.name = name
        self.answering = answering
        self.stage: Stage | None = Stage("waiting")
        """How far its making has come; None once it answers."""
        self.failure: Error | None = None
        """Why it could not be made."""
        self.vectors_left: Callable[[Graph], float | None] = lambda graph: None
        """Returns in how many seconds its vectors will be there; None where they are not being made."""
        self._count_reload = count_reload
        self._generation: Generation | None = None
        self._interim: _Meanwhile | None = None
        self._folder, self._source = Path(), Path()
        self._stamp: tuple[int, int] | None = None
        self._looked = 0.0
        self._looking = threading.Lock()
        self._is_decided = threading.Event()
        """Set once it answers, or never will."""

    def lie_at(self, folder: Path) -> None:
        """Say where the graph lies, to be opened by its first request. Raises `NotAGraph`."""
        read_pointer(folder)
        self._folder = folder.absolute()
        self.stage = None
        self._is_decided.set()

    def open(self, folder: Path) -> None:
        """Open the graph directory. Raises `NotAGraph`."""
        read_pointer(folder)
        self._folder = folder.absolute()
        self._generation = self._opened()
        self.stage = None
        self._is_decided.set()

    def make(self, source: Path, directory: Callable[[Progress, HearInterim], Path]) -> None:
        """Begin to make the graph of some sources in a thread of its own.

        `directory` does it, and tells how far it is, and of graphs that answer meanwhile.
        """
        self._source = source.resolve()

        def work() -> None:
            try:
                self.open(directory(self._hear, self._hear_interim))
                self._interim = None
            except Error as error:
                logger.warning("%s: %s", self.name, error)
                self.failure = error
            except Exception as error:  # no caller waits for it: whoever asks is told
                logger.error("%s could not be made", self.name, exc_info=error)
                self.failure = Error("the server failed, which is its own fault: its log says how")

            finally:
                self._is_decided.set()

        threading.Thread(target=work, name="orienteer-make", daemon=True).start()

    def wait(self, seconds: float) -> None:
        """Wait until it answers or could not be made, but no longer than that."""
        self._is_decided.wait(seconds)

    @property
    def is_ready(self) -> bool:
        """Whether it answers from all that it is to be made of."""
        return self.stage is None

    @property
    def interim(self) -> Interim | None:
        """What it answers from while it is made; None where it does not answer, or is ready."""
        meanwhile = self._interim
        return None if meanwhile is None or self.is_ready or self.failure is not None else meanwhile.interim

    @property
    def paths(self) -> tuple[Path, ...]:
        """What of this machine sentences about it may name."""
        named = machine_paths(None, self.answering.model)
        return tuple(path for path in (*named, self._folder, self._source) if path != Path())

    def current(self) -> Generation:
        """Return the latest generation; while the graph is made, what answers meanwhile.

        Raises `Refused` where nothing does yet, or it could not be made; `NotAGraph` where it cannot be opened.
        """
        meanwhile = self._interim
        if not self.is_ready:
            if meanwhile is None or self.failure is not None:
                raise self._not_there()
            return meanwhile.generation
        generation = self._generation
        if generation is None:
            return self._first()
        if time.monotonic() - self._looked < LOOK_SECONDS or not self._looking.acquire(blocking=False):
            return generation
        try:
            return self._looked_again(generation)
        finally:
            self._looking.release()

    def _first(self) -> Generation:
        """Open the graph, once, whoever asks at the same time."""
        with self._looking:
            if self._generation is None:
                self._generation = self._opened()
            return self._generation

    def _looked_again(self, generation: Generation) -> Generation:
        """Return the generation that is published now; the one before where that cannot be opened."""
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

    def _opened(self) -> Generation:
        from orienteer.graph.store import Graph

        stamp = self._pointer_stamp()  # before the graph is opened: what is published meanwhile is seen next time
        graph = Graph.open(self._folder, embedder=self.answering.settings.open_embedder)
        self._stamp, self._looked = stamp, time.monotonic()
        return Generation(self.name, graph, self.answering)

    def _pointer_stamp(self) -> tuple[int, int] | None:
        """Return what tells a graph's pointer from the one before; None where it is gone."""
        try:
            status = (self._folder / POINTER).stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_ino

    def _hear(self, text: str, count: int) -> None:
        of = count.of if isinstance(count, Count) else None
        told, before = without_paths(text, self.paths), self.stage
        is_new = before is None or before.text.partition(",")[0] != told.partition(",")[0]
        began = time.monotonic() if before is None or is_new else before.began
        self.stage = Stage(told, int(count), of, began)

    def _hear_interim(self, interim: Interim) -> None:
        """Answer from a graph until the next one is there."""
        from orienteer.graph.store import Graph

        try:
            graph = Graph.open(interim.path, embedder=self.answering.settings.open_embedder)
        except Error as error:  # the one before is damaged: it is being made anew
            logger.warning("%s: %s", self.name, error)
            return
        is_part = interim.files is not None
        generation = Generation(self.name, graph, self.answering, lambda: told_of(interim, self.stage), is_part)
        self._interim = _Meanwhile(interim, generation)
        self._is_decided.set()

    def _not_there(self) -> Refused:
        if self.failure is not None:
            return Refused(
                500, f"the graph {self.name!r} could not be made: {message_outside(self.failure, self.paths)}"
            )
        return Refused(
            503,
            f"the graph {self.name!r} is still being made ({self.stage}): come again in a moment",
            value=self.name,
            headers={"retry-after": _COME_AGAIN},
        )


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
        """The names, in the order in which they were given."""
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
            told = f"no graph {name[:_LONGEST_NAME]!r} is served here: take {', '.join(near)}"
            raise Refused(404, told, value=name)
        return self._graphs[name]

    @property
    def paths(self) -> tuple[Path, ...]:
        """What of this machine sentences about any of them may name."""
        return tuple(path for graph in self for path in graph.paths)


def named_folders(folders: Sequence[Path], named: Sequence[str]) -> dict[str, Path]:
    """Return the folders to serve by name: some by their own names, some as `NAME=DIR` says.

    Raises `UsageError` where there is none, where two have one name, and for a text of another form.
    """
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
            told = f"{by_name[name]} and {folder} are both called {name!r}: name one with --name NAME={folder}"
            raise UsageError(told)
        by_name[name] = folder
    return by_name
