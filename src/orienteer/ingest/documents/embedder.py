"""An embedder that remembers: what was embedded once, for whichever build or graph, is not embedded again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from orienteer.executors import Executor, Threads
from orienteer.graph.builder import Progress
from orienteer.graph.embedding import BLOCK, Block, embedded_blocks
from orienteer.index.vector_cache import CacheWriter, Keys, VectorCache, folder_of, keys_of
from orienteer.records import Usage

if TYPE_CHECKING:
    from orienteer.protocols import Embedder, Vectors

_LONG = 8  # blocks that take long enough to tell of, and to open an embedder elsewhere for


class CachedEmbedder:
    """An embedder of documents over a cache on disk. Each block is kept as it comes, so that a kill loses only one."""

    def __init__(
        self, embedder: Embedder, cache: Path | None, *, progress: Progress, executor: Executor | None = None
    ) -> None:
        self._progress, self._executor = progress, executor or Threads()
        self.embedder = embedder
        """Embeds what the cache lacks."""
        self._folder = None if cache is None else folder_of(cache, embedder.fingerprint)
        self.embedded = 0
        """Texts that were embedded, not found."""
        self.usage = Usage()
        """What was spent on documents that were not found."""
        self.name, self.fingerprint, self.concurrency = embedder.name, embedder.fingerprint, embedder.concurrency

    def parts(self, text: str) -> tuple[str, ...]:
        """Return a text in parts that are read whole."""
        return self.embedder.parts(text)

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "document"] = "document") -> Vectors:
        """Return a vector of length 1 for each text. Raises `ModelError`."""
        if self._folder is None or kind == "query":
            return self.embedder.embed(texts, kind=kind)
        keys = keys_of(texts)
        unique, first, back = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        cache = VectorCache(self._folder)
        missing = np.sort(first[cache.find(unique) < 0]).astype(np.int64)
        if len(missing):
            self._embed(texts, keys, missing)
            cache = VectorCache(self._folder)
        return cache.take(cache.find(unique))[back.reshape(-1)].astype(np.float32)

    def _embed(self, texts: Sequence[str], keys: Keys, missing: NDArray[np.int64]) -> None:
        assert self._folder is not None
        parts = (missing[at : at + BLOCK] for at in range(0, len(missing), BLOCK))
        blocks = (Block(tuple(texts[at] for at in part), keys[part]) for part in parts)
        takes_long = len(missing) > (_LONG - 1) * BLOCK
        executor = self._executor if takes_long else Threads()
        for block, embedded in embedded_blocks(executor, self.embedder, CacheWriter(self._folder), blocks):
            self.embedded += len(block.texts)
            self.usage += embedded.usage
            if takes_long:
                self._progress("embedding", self.embedded)
