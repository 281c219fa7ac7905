"""Writes the indexes of names and texts while nodes are still added."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from orienteer.index.names import NameKind, NamesWriter
from orienteer.index.postings import BATCH_BYTES, PostingsWriter
from orienteer.text.tokenizer import Tokenizer

_WORKERS = 2  # threads that index; more would wait for one another's Python
_BATCH = 20_000  # nodes that are handed to a thread at once
_BATCH_SIZE = BATCH_BYTES * 3 // 4  # characters of text: with the names, about one batch of words

IndexedNode: TypeAlias = tuple[str, str, tuple[str, ...], str]
"""The id, the name (never empty), the aliases and the text of a node: millions are made."""


class NodeIndexer:
    """Collects nodes and writes the index of their texts and the index of their names.

    It works in threads, a batch at a time in each, so that few nodes are in memory. A later call raises their errors.
    """

    def __init__(self, folder: Path, tokenizer: Tokenizer) -> None:
        self._folder = folder
        self._names: NamesWriter | None = NamesWriter(tokenizer)
        self._postings: PostingsWriter | None = PostingsWriter(folder, tokenizer)
        self._workers = ThreadPoolExecutor(_WORKERS, "indexer")
        self._running: deque[Future[None]] = deque()
        self._waiting: list[IndexedNode] = []
        self._waiting_size = 0
        self._rows = 0  # handed over

    def __enter__(self) -> NodeIndexer:
        return self

    def __exit__(self, *_: object) -> None:
        self._workers.shutdown()
        if self._postings is not None:
            self._postings.close()

    def add(self, nodes: Iterable[IndexedNode]) -> None:
        """Add the next nodes; the first one of all is row 0."""
        for node in nodes:
            self._waiting.append(node)
            self._waiting_size += len(node[3])
            if self._waiting_size > _BATCH_SIZE or len(self._waiting) == _BATCH:
                self._hand_over()

    def _hand_over(self) -> None:
        if len(self._running) == _WORKERS:
            self._running.popleft().result()
        self._running.append(self._workers.submit(self._index, self._rows, self._waiting))
        self._rows += len(self._waiting)
        self._waiting, self._waiting_size = [], 0

    def _index(self, first: int, nodes: Sequence[IndexedNode]) -> None:
        """Index a batch, in a thread; its first node is row `first`."""
        names = [name for _, name, _, _ in nodes]
        texts = [" ".join((name, *aliases, text)) for _, name, aliases, text in nodes]
        rows = range(first, first + len(nodes))
        apart = [at for at, (node_id, name, _, _) in enumerate(nodes) if node_id != name]
        aliases = [(row, alias) for row, node in zip(rows, nodes, strict=True) for alias in node[2]]
        assert self._names is not None  # nodes come before `finish`
        assert self._postings is not None
        self._postings.add(first, texts)
        self._names.add(rows, NameKind.NAME, names)
        self._names.add([rows[at] for at in apart], NameKind.IDENTIFIER, [nodes[at][0] for at in apart])
        self._names.add([row for row, _ in aliases], NameKind.ALIAS, [alias for _, alias in aliases])

    def finish(
        self,
        place: NDArray[np.int32],
        identifiers: Sequence[tuple[int, str]],
        *,
        measured: NDArray[np.bool_] | None = None,
    ) -> Future[dict[str, float]]:
        """Write all files in the background; the result is the statistics for the manifest.

        Row r becomes row `place[r]`. `identifiers` are further names of rows. The mean length is taken over the rows
        under the mask `measured`, (rows,); over all rows without it.
        """
        self._hand_over()
        for batch in self._running:
            batch.result()
        names, postings = self._names, self._postings
        assert names is not None  # this is called once
        assert postings is not None
        names.add([row for row, _ in identifiers], NameKind.IDENTIFIER, [text for _, text in identifiers])
        naming = self._workers.submit(names.finish, self._folder, place)
        self._names = self._postings = None  # their memory is freed as soon as they have finished

        def finish(postings: PostingsWriter) -> dict[str, float]:
            with postings:
                statistics = postings.finish(place, measured=measured)
            naming.result()
            return statistics

        return self._workers.submit(finish, postings)
