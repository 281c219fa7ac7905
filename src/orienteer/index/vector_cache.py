"""A cache of vectors by text: a text embedded for one graph is not embedded again for another.

Each embedder has a folder. Each process appends to a file of its own, one record for each text: 16 bytes of the text's
SHA-256 and the vector in 16-bit floats. A half-written record at the end of a killed process's file is skipped.
Missing vectors are computed again: the cache may be removed at any time.
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
from orienteer.files import cache_folder, make_cache_folder
from orienteer.index.vectors import Halves

Keys: TypeAlias = NDArray[np.uint64]
"""Hashes of texts: (texts, 2)."""

_SUFFIX = ".vectors"
_NAME = re.compile("[0-9a-f]{32}")


def keys_of(texts: Iterable[str]) -> Keys:
    """Return the hash of each text: (texts, 2) uint64."""
    joined = b"".join(hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:16] for text in texts)
    return np.frombuffer(joined, "<u8").reshape(-1, 2)


def folder_of(cache: Path, fingerprint: str) -> Path:
    """Return the folder of an embedder's vectors. Raises `BadOption` for a cache that others may write to."""
    return cache_folder(cache, "vectors", fingerprint[:32])


def is_vectors(folder: Path) -> bool:
    """Return whether a folder is an embedder's and contains only vectors."""
    return _NAME.fullmatch(folder.name) is not None and all(file.suffix == _SUFFIX for file in folder.iterdir())


def _record(dimension: int) -> np.dtype[Any]:  # Any: a record of a key and a vector
    return np.dtype([("key", "<u8", 2), ("vector", "<f2", dimension)])


class VectorCache:
    """The vectors that a folder held when it was opened. Raises `ModelError` if their lengths differ."""

    def __init__(self, folder: Path) -> None:
        files = sorted(folder.glob(f"*{_SUFFIX}")) if folder.is_dir() else []
        dimensions = {int(file.name.partition("-")[0]) for file in files}
        if len(dimensions) > 1:
            message = f"{folder} has vectors of {dimensions} dimensions under one name: remove the folder"
            raise ModelError(message, paths=[folder])
        self.dimension = dimensions.pop() if dimensions else 0
        """The dimension of the vectors; 0 without any."""
        record = _record(self.dimension)
        wholes = [(file, file.stat().st_size // record.itemsize) for file in files]  # the whole records of each file
        self._files = [np.memmap(file, record, "r", shape=(whole,)) for file, whole in wholes if whole]
        self._starts = np.cumsum([0, *(len(records) for records in self._files)])
        keys = np.concatenate([np.zeros((0, 2), np.uint64), *(records["key"] for records in self._files)])
        self._order = np.argsort(keys[:, 0], kind="stable")
        self._sorted = keys[self._order]

    def __len__(self) -> int:
        return len(self._sorted)

    def find(self, keys: Keys) -> NDArray[np.int64]:
        """Return the place of each text's vector: (texts,), -1 if it is missing. `keys` is (texts, 2)."""
        if not len(self):
            return np.full(len(keys), -1)
        at = self._sorted[:, 0].searchsorted(keys[:, 0]).clip(max=len(self) - 1)
        is_here = (self._sorted[at] == keys).all(axis=1)
        return np.where(is_here, self._order[at], -1)

    def take(self, places: NDArray[np.int64]) -> Halves:
        """Return the vectors at these places: (places, dimension)."""
        taken = np.empty((len(places), self.dimension), np.float16)
        file = self._starts.searchsorted(places, side="right") - 1
        for number in np.unique(file):
            here = file == number
            taken[here] = self._files[number]["vector"][places[here] - self._starts[number]]
        return taken


class CacheWriter:
    """Appends vectors to a file of its own. Safe among threads; each `add` has written its vectors when it returns."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._name = folder, os.urandom(8).hex()
        self._lock = threading.Lock()

    def add(self, keys: Keys, vectors: NDArray[np.float32]) -> None:
        """Append the vectors of some texts: keys (texts, 2), vectors (texts, dimension)."""
        records = np.empty(len(keys), _record(vectors.shape[1]))
        records["key"], records["vector"] = keys, vectors
        with self._lock:
            make_cache_folder(self._folder.parents[1], *self._folder.parts[-2:])
            with (self._folder / f"{vectors.shape[1]}-{self._name}{_SUFFIX}").open("ab") as file:
                file.write(records.tobytes())
