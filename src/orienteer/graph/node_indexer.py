"""The indexes of names and texts are written while nodes still come."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.index.names import NameKind, NamesWriter
from orienteer.index.postings import BATCH_BYTES, PostingsWriter
from orienteer.records import Node
from orienteer.text.tokenizer import Tokenizer

_BATCH = 20_000  # nodes that are handed to the thread at once
_BATCH_SIZE = BATCH_BYTES * 3 // 4  # characters of text: with the names, about one batch of words


class _Writers(NamedTuple):
    names: NamesWriter
    postings: PostingsWriter


class NodeIndexer:
    """Collects nodes and writes the index of their texts and the index of their names.

    It works in a thread, a batch at a time, so that few nodes wait in memory. A later call raises the thread's errors.
    """

    def __init__(self, folder: Path, tokenizer: Tokenizer) -> None:
        self._folder, self._tokenizer = folder, tokenizer
        self._worker = ThreadPoolExecutor(1, "indexer")
        self._running: Future[None] | None = None
        self._waiting: list[Node] = []
        self._waiting_size = 0
        self._rows = 0
        self._writers: _Writers | None = None

    def __enter__(self) -> NodeIndexer:
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.shutdown()
        if self._writers is not None:
            self._writers.postings.close()

    def add(self, node: Node) -> None:
        """Add the next node; the first one is row 0."""
        self._waiting.append(node)
        self._waiting_size += len(node.text)
        if self._waiting_size > _BATCH_SIZE or len(self._waiting) == _BATCH:
            self._hand_over()

    def _hand_over(self) -> None:
        self._wait()
        self._running = self._worker.submit(self._take, self._waiting)
        self._waiting, self._waiting_size = [], 0

    def _wait(self) -> None:
        if self._running is not None:
            self._running.result()

    def _take(self, nodes: list[Node]) -> None:
        """Index a batch, in the thread."""
        if self._writers is None:
            self._writers = _Writers(NamesWriter(self._tokenizer), PostingsWriter(self._folder, self._tokenizer))
        _add(self._writers, range(self._rows, self._rows + len(nodes)), nodes)
        self._rows += len(nodes)

    def finish(
        self,
        place: NDArray[np.int32],
        identifiers: Sequence[tuple[int, str]],
        *,
        measured: NDArray[np.bool_] | None = None,
    ) -> Future[dict[str, float]]:
        """Write all files while the caller goes on; the result is the statistics for the manifest.

        Row r becomes row `place[r]`. `identifiers` are further names of rows. The mean length is taken over the rows
        under the mask `measured`, (rows,); over all rows without it.
        """
        self._hand_over()
        self._wait()
        return self._worker.submit(self._finish, place, identifiers, measured)

    def _finish(
        self, place: NDArray[np.int32], identifiers: Sequence[tuple[int, str]], measured: NDArray[np.bool_] | None
    ) -> dict[str, float]:
        assert self._writers is not None  # `finish` has handed over a batch, be it empty
        names, postings = self._writers
        self._writers = None  # their memory is freed with this call
        with postings:
            names.add([row for row, _ in identifiers], NameKind.IDENTIFIER, [text for _, text in identifiers])
            names.finish(self._folder, place)
            del names
            return postings.finish(place, measured=measured)


def _add(writers: _Writers, rows: Sequence[int], nodes: Sequence[Node]) -> None:
    names = [node.name or node.id for node in nodes]
    writers.postings.add([" ".join((name, *node.aliases, node.text)) for name, node in zip(names, nodes, strict=True)])
    writers.names.add(rows, NameKind.NAME, names)
    apart = [at for at, (node, name) in enumerate(zip(nodes, names, strict=True)) if node.id != name]
    writers.names.add([rows[at] for at in apart], NameKind.IDENTIFIER, [nodes[at].id for at in apart])
    called = [(row, alias) for row, node in zip(rows, nodes, strict=True) for alias in node.aliases]
    writers.names.add([row for row, _ in called], NameKind.ALIAS, [alias for _, alias in called])
