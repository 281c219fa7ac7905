"""Exact BM25 of the synthetic queries, from the tokens that were drawn, and other people's engines held against it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from synthetic import VOCABULARY, Asked, Synthetic, name_words, neighbors

K1, B = 1.2, 0.75
K = 10
"""How many places of a ranking are looked at."""
_TIE = 1 - 1e-9  # scores this close are equal but for rounding: either order is right


class Best(NamedTuple):
    """What a right answer may hold: these rows, ties at the last place included, and this many of them."""

    rows: frozenset[int]
    places: int


class Postings:
    """The texts that hold each word of the queries, and how often; the whole index would be as large as the texts."""

    def __init__(self, graph: Synthetic) -> None:
        self.nodes = graph.size.nodes
        lengths = np.diff(graph.token_at) + 3  # a name adds three words
        self.weight = K1 * (1 - B + B * lengths / lengths.mean())
        asked = [one for name, queries in graph.queries.items() if name != "path" for one in queries]
        self._words = np.unique([word for one in asked for word in one.words])
        self._rows, self._counts = _collect(graph, self._words)

    def contribution(self, word: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the rows that have a word and what it adds to the score of each."""
        at = int(self._words.searchsorted(word))
        rows, counts = self._rows[at], self._counts[at]
        idf = np.log1p((self.nodes - len(rows) + 0.5) / (len(rows) + 0.5))
        return rows, idf * counts / (counts + self.weight[rows])

    def scores(self, words: Sequence[int]) -> NDArray[np.float64]:
        """Score every node: one scatter-add a word."""
        total = np.zeros(self.nodes)
        for word in words:
            rows, added = self.contribution(word)
            total[rows] += added
        return total


def _collect(graph: Synthetic, words: NDArray[np.int64]) -> tuple[list[NDArray[np.int32]], list[NDArray[np.uint16]]]:
    number = np.full(VOCABULARY, -1, np.int32)
    number[words] = np.arange(len(words))
    rows: list[list[NDArray[np.int32]]] = [[] for _ in words]
    counts: list[list[NDArray[np.uint16]]] = [[] for _ in words]
    for low, high in graph.batches():
        tokens = number[graph.tokens[graph.token_at[low] : graph.token_at[high]]]
        owners = np.repeat(np.arange(low, high), np.diff(graph.token_at[low : high + 1]))
        names = [number[one] for one in name_words(np.arange(low, high))]
        tokens, owners = np.concatenate([tokens, *names]), np.concatenate([owners, *[np.arange(low, high)] * 2])
        wanted = np.flatnonzero(tokens >= 0)
        keys, times = np.unique(tokens[wanted].astype(np.int64) << 32 | owners[wanted], return_counts=True)
        word = keys >> 32
        bounds = np.searchsorted(word, np.arange(len(words) + 1))
        found, times = (keys & 0xFFFFFFFF).astype(np.int32), times.astype(np.uint16)
        for at in np.flatnonzero(np.diff(bounds)).tolist():
            rows[at].append(found[bounds[at] : bounds[at + 1]])
            counts[at].append(times[bounds[at] : bounds[at + 1]])
    return [np.concatenate(one) for one in rows], [np.concatenate(one) for one in counts]


def best(graph: Synthetic, postings: Postings) -> dict[str, list[Best]]:
    """Return the right answers to all query sets; worked out once, then kept beside the graph."""
    file = graph.folder / "best.json"
    if not file.exists():
        _write(file, graph, postings)
    content = json.loads(file.read_text())
    return {name: [Best(frozenset(one["rows"]), one["places"]) for one in found] for name, found in content.items()}


def _write(file: Path, graph: Synthetic, postings: Postings) -> None:
    sets = {name: asked for name, asked in graph.queries.items() if name != "path"}
    centers = np.array([one.node for asked in sets.values() for one in asked if one.node is not None])
    around = neighbors(graph, centers)
    found = {
        name: [_best(postings, one, None if one.node is None else around[one.node]) for one in asked]
        for name, asked in sets.items()
    }
    content = {
        name: [{"rows": sorted(one.rows), "places": one.places} for one in answers] for name, answers in found.items()
    }
    file.write_text(json.dumps(content))


def _best(postings: Postings, asked: Asked, among: NDArray[np.int32] | None) -> Best:
    scores = postings.scores(asked.words)
    rows = np.flatnonzero(scores) if among is None else among[scores[among] > 0]
    places = min(K, len(rows))
    if not places:
        return Best(frozenset(), 0)
    least = np.sort(scores[rows])[-places]
    return Best(frozenset(rows[scores[rows] >= least * _TIE].tolist()), places)


def agreement(answers: Sequence[Sequence[int]], right: Sequence[Best]) -> float:
    """Return the mean share of right places among the first `K`."""
    shares = [
        len(one.rows.intersection(given[:K])) / one.places if one.places else float(not len(given))
        for given, one in zip(answers, right, strict=True)
    ]
    return float(np.mean(shares))


# -------------------------------------------------------------------------------- other engines


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

    def among(self, case: tuple[Sequence[int], NDArray[np.int32]]) -> list[int]:
        """Return the best of some rows, for words and these rows."""
        words, rows = case
        return [int(rows[at]) for at in _top(self._postings.scores(words)[rows], K)]


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
        self._add_fields(builder)
        self._schema = builder.build()
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        index = tantivy.Index(self._schema, path=str(folder))  # opens what is there already
        if is_new:
            started = time.perf_counter()
            self._fill(index, graph)
            self.build_seconds = time.perf_counter() - started
            index.reload()
        self._index, self._searcher = index, index.searcher()

    def _add_fields(self, builder: Any) -> None:  # Any: tantivy has no types
        builder.add_unsigned_field("row", stored=False, indexed=False, fast=True)
        # Its default tokenizer parts at anything but letters and digits and folds case: our words pass unchanged.
        builder.add_text_field("text", stored=False, tokenizer_name="default", index_option="freq")

    def _fields(self, graph: Synthetic) -> Iterator[dict[str, str]]:
        return ({"text": text} for text in graph.documents())

    def _fill(self, index: Any, graph: Synthetic) -> None:  # Any: tantivy has no types
        writer = index.writer(heap_size=500_000_000, num_threads=1)
        for row, fields in enumerate(self._fields(graph)):
            document = self._tantivy.Document()
            document.add_unsigned("row", row)
            for field, text in fields.items():
                document.add_text(field, text)
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


class TantivyOfHits(Tantivy):
    """The same, as a program uses it that shows hits: it searches names and texts, stored too, for a line of words."""

    def _add_fields(self, builder: Any) -> None:  # Any: tantivy has no types
        builder.add_text_field("id", stored=True, tokenizer_name="raw")
        for field in ("name", "text"):
            builder.add_text_field(field, stored=True)
        builder.add_unsigned_field("row", stored=False, indexed=False, fast=True)

    def _fields(self, graph: Synthetic) -> Iterator[dict[str, str]]:
        for low, high in graph.batches():
            for row in zip(graph.ids[low:high], graph.names(low, high), graph.texts(low, high), strict=True):
                yield dict(zip(("id", "name", "text"), row, strict=True))

    def hits(self, line: str, k: int) -> list[str]:
        """Return the ids of the best nodes."""
        query, _ = self._index.parse_query_lenient(line, ["name", "text"])
        return [self._searcher.doc(address)["id"][0] for _, address in self._searcher.search(query, k).hits]


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
