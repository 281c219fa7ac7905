"""Other people's engines over the same texts. One that is not installed is None."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reference import Postings
from synthetic import Synthetic


class Peer(Protocol):
    """Ranks all nodes."""

    name: str

    def search(self, words: Sequence[int], k: int) -> list[int]:
        """Return the best rows."""


class PlainNumpy:
    """The obvious way: score every node, then partition the array."""

    name = "numpy"

    def __init__(self, postings: Postings) -> None:
        self._postings = postings

    def search(self, words: Sequence[int], k: int) -> list[int]:
        """Return the best rows."""
        return [int(row) for row in _top(self._postings.scores(words), k)]

    def among(self, words: Sequence[int], k: int, rows: NDArray[np.int32]) -> list[int]:
        """Return the best of some rows."""
        return [int(rows[at]) for at in _top(self._postings.scores(words)[rows], k)]


def _top(scores: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    k = min(k, len(scores))
    at = np.argpartition(scores, -k)[-k:]
    at = at[scores[at] > 0]
    return np.asarray(at[np.lexsort((at, -scores[at]))])


class Tantivy:
    """A search engine in Rust. Its scores are rounded: a text's length is kept in one byte."""

    name = "tantivy"

    def __init__(self, graph: Synthetic, folder: Path) -> None:
        import tantivy

        self._tantivy, self._words = tantivy, graph.words
        self.build_seconds: float | None = None
        builder = tantivy.SchemaBuilder()
        builder.add_unsigned_field("row", stored=False, indexed=False, fast=True)
        # Its default tokenizer parts at anything but letters and digits and folds case: our words pass unchanged.
        builder.add_text_field("text", stored=False, tokenizer_name="default", index_option="freq")
        self._schema = builder.build()
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        index = tantivy.Index(self._schema, path=str(folder))  # opens what is there already
        if is_new:
            started = time.perf_counter()
            self._fill(index, graph)
            self.build_seconds = time.perf_counter() - started
            index.reload()
        self._searcher = index.searcher()

    def _fill(self, index: Any, graph: Synthetic) -> None:  # Any: tantivy has no types
        writer = index.writer(heap_size=500_000_000, num_threads=1)
        for row, text in enumerate(graph.documents()):
            document = self._tantivy.Document()
            document.add_unsigned("row", row)
            document.add_text("text", text)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()

    def search(self, words: Sequence[int], k: int) -> list[int]:
        """Return the best rows."""
        query, should = self._tantivy.Query, self._tantivy.Occur.Should
        terms = [(should, query.term_query(self._schema, "text", self._words[word], "freq")) for word in words]
        hits = self._searcher.search(query.boolean_query(terms), k, count=False).hits
        rows: list[Any] = self._searcher.fast_field_values("row", [address for _, address in hits])  # Any: of any field
        return [int(row) for row in rows]


class Bm25s:
    """BM25 computed when the index is made: a sparse matrix of scores, searched with numpy."""

    name = "bm25s"

    def __init__(self, graph: Synthetic) -> None:
        import bm25s

        self._words = graph.words
        started = time.perf_counter()
        tokens = bm25s.tokenize(
            list(graph.documents()), stopwords=None, stemmer=None, token_pattern=r"(?u)\b\w+\b", show_progress=False
        )
        self._index = bm25s.BM25(k1=1.2, b=0.75, method="lucene", backend="numpy")
        self._index.index(tokens, show_progress=False)
        self.build_seconds = time.perf_counter() - started

    def search(self, words: Sequence[int], k: int) -> list[int]:
        """Return the best rows."""
        query = [self._words[word] for word in words]
        rows, scores = self._index.retrieve([query], k=k, show_progress=False, n_threads=0, backend_selection="numpy")
        return [int(row) for row, score in zip(rows[0], scores[0], strict=True) if score > 0]


def tantivy(graph: Synthetic, folder: Path) -> Tantivy | None:
    """Index the texts with tantivy, where it is installed."""
    return Tantivy(graph, folder) if _installed("tantivy") else None


def bm25s(graph: Synthetic) -> Bm25s | None:
    """Index the texts with bm25s, where it is installed."""
    return Bm25s(graph) if _installed("bm25s") else None


def _installed(package: str) -> Any:  # Any: a spec, taken for a truth value
    return importlib.util.find_spec(package) is not None
