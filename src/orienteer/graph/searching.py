"""The ways to rank the nodes of a graph: by words always, by meaning where it has been embedded."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from orienteer.errors import BadOption, NotAGraph
from orienteer.graph import format
from orienteer.index.searchers import WEIGHT, Dense, Fusion, Hybrid, Lexical, Mode, Searcher

if TYPE_CHECKING:
    from orienteer.graph.vectors import GraphVectors
    from orienteer.protocols import Embedder

OpenEmbedder: TypeAlias = Callable[[str], "Embedder"]
"""Gives an embedder by its name."""

_MODES = ("lexical", "dense", "hybrid")
_FUSIONS = ("linear", "rrf")


class Searchers:
    """Gives the searcher of a mode; each is made once. Safe to share among threads."""

    def __init__(self, path: Path, generation: str, lexical: Lexical, embedder: OpenEmbedder | None = None) -> None:
        self._path, self._generation, self.open_embedder = path, generation, embedder
        self._lexical = lexical
        self._made: dict[tuple[Mode, float, Fusion, int], Searcher] = {}

    def __call__(
        self, mode: Mode = "lexical", *, weight: float = WEIGHT, fusion: Fusion = "linear", best: int = 1
    ) -> Searcher:
        """Return what ranks by words (BM25), by meaning (cosine), or by both. Raises `BadOption` without vectors.

        `weight` is BM25's share of a hybrid score, and `best` how many vectors of a node make its score, 0 for all.
        """
        if mode == "lexical":
            return self._lexical
        if mode not in _MODES:
            raise BadOption(f"mode is {mode!r}: it must be {', '.join(_MODES[:-1])} or {_MODES[-1]}")
        if fusion not in _FUSIONS:
            raise BadOption(f"fusion is {fusion!r}: it must be {' or '.join(_FUSIONS)}")
        key = (mode, weight, fusion, best)
        if key not in self._made:
            dense = Dense(self.vectors.index, self.vectors.encode, best=best)
            made = dense if mode == "dense" else Hybrid(self._lexical, dense, weight=weight, fusion=fusion)
            self._made.setdefault(key, made)
        return self._made[key]

    @cached_property
    def vectors(self) -> GraphVectors:
        """The vectors, as they are when they are first asked for. Raises `BadOption` where there are none."""
        from orienteer.graph.vectors import open_vectors

        return open_vectors(self._path, self._generation, self.open_embedder)

    @property
    def has_vectors(self) -> bool:
        """Tell whether the graph has been embedded."""
        if "vectors" in self.__dict__:
            return True
        try:
            pointer = format.read_pointer(self._path)
        except NotAGraph:  # it is gone; what is open can still be read
            return False
        return pointer.generation == self._generation and "vectors" in pointer.pieces
