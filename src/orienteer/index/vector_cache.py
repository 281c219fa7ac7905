"""Vectors by the text that they are of: what was embedded once is not embedded again, whichever graph asks.

One folder an embedder. A process appends to a file of its own, one record a text: 16 bytes of the text's SHA-256 and
the vector in halves. What a killed process left half written is the end of its file, and is passed over; all before it
counts. Vectors that cannot be found are made anew: the cache may be removed at any time.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import ModelError
from orienteer.index.quantize import Halves

Keys: TypeAlias = NDArray[np.uint64]
"""Hashes of texts: (texts, 2)."""

_SUFFIX = ".vectors"
_NAME = re.compile("[0-9a-f]{32}")


def keys_of(texts: Iterable[str]) -> Keys:
    """Return the hash of each text."""
    joined = b"".join(hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:16] for text in texts)
    return np.frombuffer(joined, "<u8").reshape(-1, 2)


def folder_of(cache: Path, fingerprint: str) -> Path:
    """Return where the vectors of an embedder lie."""
    return cache / "vectors" / fingerprint[:32]


def is_vectors(folder: Path) -> bool:
    """Tell whether a folder is an embedder's, with vectors and nothing else in it."""
    return _NAME.fullmatch(folder.name) is not None and all(file.suffix == _SUFFIX for file in folder.iterdir())


def _record(dimension: int) -> np.dtype[Any]:  # Any: a record of a key and a vector
    return np.dtype([("key", "<u8", 2), ("vector", "<f2", dimension)])


class VectorCache:
    """The vectors that a folder held when it was opened. Raises `ModelError` where their dimensions differ."""

    def __init__(self, folder: Path) -> None:
        files = sorted(folder.glob(f"*{_SUFFIX}")) if folder.is_dir() else []
        dimensions = {int(file.name.partition("-")[0]) for file in files}
        if len(dimensions) > 1:
            raise ModelError(f"{folder} holds vectors of {dimensions} dimensions under one name: remove the folder")
        self.dimension = dimensions.pop() if dimensions else 0
        """How long each vector is; 0 where there are none."""
        self._files = [found for file in files if (found := _mapped(file, self.dimension)) is not None]
        self._starts = np.cumsum([0, *(len(one) for one in self._files)])
        keys = np.concatenate([np.zeros((0, 2), np.uint64), *(one["key"] for one in self._files)])
        self._order = np.argsort(keys[:, 0], kind="stable")
        self._sorted = keys[self._order]

    def __len__(self) -> int:
        return len(self._sorted)

    def find(self, keys: Keys) -> NDArray[np.int64]:
        """Return where the vectors of these texts are, -1 for those that are not here."""
        if not len(self):
            return np.full(len(keys), -1)
        at = self._sorted[:, 0].searchsorted(keys[:, 0]).clip(max=len(self) - 1)
        is_here = (self._sorted[at] == keys).all(axis=1)
        return np.where(is_here, self._order[at], -1)

    def take(self, places: NDArray[np.int64]) -> Halves:
        """Return the vectors at some places."""
        taken = np.empty((len(places), self.dimension), np.float16)
        file = self._starts.searchsorted(places, side="right") - 1
        for number in np.unique(file):
            here = file == number
            taken[here] = self._files[number]["vector"][places[here] - self._starts[number]]
        return taken


def _mapped(file: Path, dimension: int) -> NDArray[Any] | None:  # Any: records
    kind = _record(dimension)
    whole = file.stat().st_size // kind.itemsize
    return np.memmap(file, kind, "r", shape=(whole,)) if whole else None


class CacheWriter:
    """Appends vectors to a file of its own. Safe among threads; each `add` is in the system's hands when it returns."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._name = folder, os.urandom(8).hex()
        self._lock = threading.Lock()

    def add(self, keys: Keys, vectors: NDArray[np.float32]) -> None:
        """Keep the vectors of some texts."""
        records = np.empty(len(keys), _record(vectors.shape[1]))
        records["key"], records["vector"] = keys, vectors
        with self._lock:
            self._folder.mkdir(parents=True, exist_ok=True)
            with (self._folder / f"{vectors.shape[1]}-{self._name}{_SUFFIX}").open("ab") as file:
                file.write(records.tobytes())
