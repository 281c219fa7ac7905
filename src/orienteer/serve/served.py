"""The graphs that a server gives out by name: opened at first use, and again when they have been published anew."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from orienteer.errors import BadOption, UsageError, nearest
from orienteer.graph.format import POINTER
from orienteer.llm.budget import Budget
from orienteer.settings import Settings

if TYPE_CHECKING:  # a server that lists its tools loads no graph
    from orienteer.graph.store import Graph
    from orienteer.protocols import LanguageModel
    from orienteer.retriever import Retriever

LOOK_SECONDS = 1.0
"""Between two looks at whether a graph has been published anew."""


class ServedGraphs:
    """Graphs by name, with the model and the budget of questions to them. Safe to share among threads.

    A generation that is replaced goes with its last request. Names come from whoever runs the server: no request names
    a path.
    """

    def __init__(
        self,
        paths: Mapping[str, Path],
        *,
        model: LanguageModel | None = None,
        budget: Budget | None = None,
        settings: Settings | None = None,
    ) -> None:
        """`budget` is that of a question, and `settings` those of its method; they name no model: it is `model`."""
        self.model = model
        self._budget = Budget() if budget is None else budget
        self._settings = Settings() if settings is None else replace(settings, model=None)
        self._slots = {name: _Slot(path.absolute()) for name, path in paths.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order in which they were given."""
        return tuple(self._slots)

    @property
    def paths(self) -> tuple[Path, ...]:
        """Where the graphs lie, and a model in a file: what no reply may tell."""
        from orienteer.llm.local import LocalModel

        of_model = (self.model.path.absolute(),) if isinstance(self.model, LocalModel) else ()
        return (*(slot.path for slot in self._slots.values()), *of_model)

    def graph(self, name: str) -> Graph:
        """Return a graph as it is now. Raises `BadOption` for another name; `NotAGraph`."""
        slot = self._slot(name)
        with slot.lock:
            return self._current(slot)

    def retriever(self, name: str) -> Retriever:
        """Return what answers questions to a graph as it is now. Raises as `graph` and `Retriever` do."""
        from orienteer.retriever import Retriever

        slot = self._slot(name)
        with slot.lock:
            graph = self._current(slot)
            if slot.retriever is None:
                slot.retriever = Retriever(graph, model=self.model, budget=self._budget, settings=self._settings)
            return slot.retriever

    def _slot(self, name: str) -> _Slot:
        if name not in self._slots:
            near = nearest(name[:100], self.names, most=1) or self.names
            raise BadOption(f"no graph {name[:100]!r} is served here: take {', '.join(near)}")
        return self._slots[name]

    def _current(self, slot: _Slot) -> Graph:
        """Return the graph of a slot, opened anew where its pointer is another file than it was."""
        from orienteer.graph.store import Graph

        now = time.monotonic()
        if slot.graph is None or now - slot.looked >= LOOK_SECONDS:
            mark = _mark(slot.path)  # before the graph is opened: what is published meanwhile is seen next time
            if slot.graph is None or mark != slot.mark:
                slot.graph, slot.retriever = Graph.open(slot.path, embedder=self._settings.open_embedder), None
            slot.mark, slot.looked = mark, now
        return slot.graph


@dataclass(slots=True)
class _Slot:
    """What is open of one graph."""

    path: Path
    graph: Graph | None = None
    retriever: Retriever | None = None
    mark: tuple[int, int, int] | None = None
    looked: float = 0.0
    lock: Lock = field(default_factory=Lock)


def _mark(path: Path) -> tuple[int, int, int] | None:
    """Return what tells a graph's pointer from the one before; None where it is gone."""
    try:
        status = (path / POINTER).stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def by_name(directories: Sequence[Path], named: Sequence[str]) -> dict[str, Path]:
    """Return the folders to serve by name: some by their own names, some as `NAME=DIR` says.

    Raises `UsageError` where there is none, where two have one name, and for a text of another form.
    """
    pairs = [(path.resolve().name, path) for path in directories]
    for text in named:
        name, equals, folder = text.partition("=")
        if not (name.strip() and equals and folder):
            raise UsageError(f"--name {text}: write NAME=DIR, as in --name beers={text or 'data/beers'}")
        pairs.append((name.strip(), Path(folder)))
    if not pairs:
        raise UsageError("no graph is named: give the directory of one, or a folder of tables or documents")
    paths: dict[str, Path] = {}
    for name, path in pairs:
        if name in paths:
            raise UsageError(f"{paths[name]} and {path} are both called {name!r}: name one with --name NAME={path}")
        paths[name] = path
    return paths
