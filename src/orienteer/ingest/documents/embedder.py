"""An embedder that remembers: what was embedded once, for whichever build or graph, is not embedded again."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.builder import Progress
from orienteer.index.vector_cache import CacheWriter, Keys, VectorCache, folder_of, keys_of
from orienteer.records import Usage

if TYPE_CHECKING:
    from orienteer.protocols import Embedder, Vectors

_BLOCK = 64  # texts that are embedded and kept at a time: what a kill costs at the most, a thread
_TOLD = 8  # blocks that take long enough to tell of


class CachedEmbedder:
    """An embedder of documents over a cache on disk. Each block is kept as it comes, so that a kill loses only one."""

    def __init__(self, embedder: Embedder, cache: Path | None, *, progress: Progress) -> None:
        self._progress = progress
        self.embedder = embedder
        """Embeds what the cache lacks."""
        self._folder = None if cache is None else folder_of(cache, embedder.fingerprint)
        self.embedded = 0
        """Texts that were embedded, not found."""
        self.name, self.fingerprint, self.concurrency = embedder.name, embedder.fingerprint, embedder.concurrency

    @property
    def usage(self) -> Usage:
        """What its calls have spent so far."""
        return self.embedder.usage

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
        writer = CacheWriter(self._folder)
        blocks = [missing[at : at + _BLOCK] for at in range(0, len(missing), _BLOCK)]

        def work(block: NDArray[np.int64]) -> int:
            writer.add(keys[block], self.embedder.embed([texts[at] for at in block], kind="document"))
            return len(block)

        with ThreadPoolExecutor(max(1, self.concurrency), "embed") as pool:
            for count in pool.map(work, blocks):
                self.embedded += count
                if len(blocks) >= _TOLD:
                    self._progress("embedding", self.embedded)
