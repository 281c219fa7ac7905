"""The searchers of a graph: by words always, by meaning if the graph has been embedded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from orienteer.errors import BadOption, NotAGraph
from orienteer.graph import format
from orienteer.index.searchers import (
    DenseSearcher,
    Fusion,
    HybridSearcher,
    LexicalSearcher,
    Mode,
    Ranking,
    Searcher,
    ranking_of,
)

if TYPE_CHECKING:
    from orienteer.graph.pieces.vectors import GraphVectors
    from orienteer.protocols import OpenEmbedder

_FUSIONS = ("linear", "rrf")


class Searchers:
    """Returns the searcher of a mode; each is created once. Safe to share among threads."""

    def __init__(
        self, path: Path, generation: str, lexical: LexicalSearcher, embedder: OpenEmbedder | None = None
    ) -> None:
        self._path, self._generation, self.open_embedder = path, generation, embedder
        self._lexical = lexical
        self._opening = Lock()
        self._made: dict[tuple[Ranking, int, bool], Searcher] = {}

    def __call__(
        self,
        mode: Mode = "lexical",
        *,
        weight: float | None = None,
        fusion: Fusion | None = None,
        best: int = 1,
        telling: bool = False,
    ) -> Searcher:
        """Return the searcher by words (BM25), by meaning (cosine), or by both.

        `weight`, BM25's share of a hybrid score, and `fusion` override those of the mode; `best` is the number of a
        node's vectors that count, 0 for all. With `telling`, stop words do not count. Raises `BadOption` without
        vectors or without their embedder, `MissingExtra`.
        """
        wanted = ranking_of(mode)
        lexical = self._lexical.telling if telling else self._lexical
        if wanted.kind == "lexical":
            return lexical
        if fusion not in (None, *_FUSIONS):
            raise BadOption(f"fusion is {fusion!r}: it must be {' or '.join(_FUSIONS)}")
        wanted = Ranking(wanted.kind, wanted.weight if weight is None else weight, fusion or wanted.fusion)
        key = (wanted, best, telling)
        if key not in self._made:
            vectors = self.vectors
            # Raises for a missing embedder now, before a search or a model is paid for.
            _ = vectors.embedder
            dense = DenseSearcher(vectors.index, vectors.encode, best=best)
            self._made.setdefault(key, self._ranked(wanted, lexical, dense))
        return self._made[key]

    def near(self, mode: Mode, query: str, passages: Sequence[str]) -> Searcher:
        """Return the mode's searcher, with the mean of a query's vector and those of passages as the query's meaning.

        Raises `BadOption` without vectors, if the mode needs them.
        """
        wanted = ranking_of(mode)
        if wanted.kind == "lexical":
            return self._lexical
        dense = DenseSearcher(self.vectors.index, lambda _: self.vectors.encode(query, passages))
        return self._ranked(wanted, self._lexical, dense)

    @staticmethod
    def _ranked(wanted: Ranking, lexical: LexicalSearcher, dense: DenseSearcher) -> Searcher:
        if wanted.kind == "dense":
            return dense
        return HybridSearcher(lexical, dense, weight=wanted.weight, fusion=wanted.fusion)

    @property
    def vectors(self) -> GraphVectors:
        """Return the vectors, opened at the first call. Raises `BadOption` if the graph has none."""
        # Two instances would each embed, and pay for, the same queries.
        with self._opening:
            return self._opened

    @cached_property
    def _opened(self) -> GraphVectors:
        from orienteer.graph.pieces.vectors import open_vectors

        return open_vectors(self._path, self._generation, self.open_embedder)

    @property
    def has_vectors(self) -> bool:
        """Return whether the graph has been embedded."""
        if "_opened" in self.__dict__:
            return True
        try:
            pointer = format.read_pointer(self._path)
        except NotAGraph:  # it was removed; the open files can still be read
            return False
        return pointer.generation == self._generation and "vectors" in pointer.pieces
