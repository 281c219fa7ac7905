"""Building the text index: texts in, postings on disk out, in bounded memory.

Texts come in batches, in the order of their rows. Each batch is turned into (term, row, frequency) by one sort and
laid aside; `finish` then places every batch's postings straight into the final arrays, for the batches are in row
order already.

Files (one entry a term, in the order of the terms' hashes, unless said):
    term.u8         hashes, sorted
    posting.i8      (terms + 1) where a term's postings begin
    best.f4         the largest tf / (tf + K) of a term, rounded up
    row.i4          one entry a posting, ascending within a term
    frequency.u1    one entry a posting; 255 stands for the value in `large`
    large_at.i8, large.i4      the postings of frequency 255 and more
    block.i8        (terms + 1) where a term's blocks begin
    block_best.f4   the largest tf / (tf + K) of each block of `BLOCK` postings, rounded up
    length.i4       one entry a row: its terms
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.index import words
from orienteer.index.arrays import Array, create, runs, save
from orienteer.index.kernels import Kernels
from orienteer.index.tokenizer import Tokenizer

K1 = 1.2  # Lucene's defaults, as everywhere in the field
B = 0.75
BLOCK = 64  # postings under one maximum: small enough to skip most of a common term, 1 % of the postings' size
BATCH_BYTES = 6_000_000  # of text: some million words, whose columns stay in the processor's cache
_SLICE = 1 << 22  # postings handled at once while the maxima are taken


class _Batch(NamedTuple):
    terms: NDArray[np.int32]
    counts: NDArray[np.int32]
    at: int  # where the batch's postings begin in the spool


class _Counted(NamedTuple):
    """The postings of a batch, one term's after another's, rows ascending within a term."""

    terms: NDArray[np.int32]
    counts: NDArray[Any]  # Any: integers of some width, how many postings each term has
    rows: NDArray[np.int32]
    frequencies: NDArray[Any]  # Any: as above
    lengths: NDArray[np.int32]  # of the texts


class PostingsWriter:
    """Collects texts and writes the index of all of them."""

    def __init__(self, folder: Path, tokenizer: Tokenizer, *, kernels: Kernels | None = None) -> None:
        self._folder, self._tokenizer, self._kernels = folder, tokenizer, kernels
        self._worker = ThreadPoolExecutor(1, "postings")
        self._running: Future[None] | None = None
        self._rows_spool = (folder / "spool.rows").open("wb")
        self._frequencies_spool = (folder / "spool.frequencies").open("wb")
        self._spooled = 0
        self._batches: list[_Batch] = []
        self._large: dict[int, int] = {}  # place in the spool -> frequency
        self._lengths: list[NDArray[np.int32]] = []
        self._rows = 0
        self._words = words.Vocabulary(kernels)
        self._terms = words.Vocabulary(kernels)
        self._term_hashes: list[NDArray[np.uint64]] = []
        self._expansion = np.full((3, 1 << 16), -1, np.int32)  # (3, words): the terms of each word
        self._state = np.zeros((0, 2), np.int32)  # (terms, 2): where the compiled count keeps its notes

    def __enter__(self) -> PostingsWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.shutdown()
        self._rows_spool.close()
        self._frequencies_spool.close()

    def add(self, texts: Sequence[str]) -> None:
        """Index the next texts, one row each, while the caller goes on; what goes wrong is raised by the next call."""
        batch: list[str] = []
        size = 0
        for text in texts:
            batch.append(text)
            size += len(text) + 1
            if size > BATCH_BYTES:
                self._hand_over(batch)
                batch, size = [], 0
        if batch:
            self._hand_over(batch)

    def _hand_over(self, texts: Sequence[str]) -> None:
        """Index texts beside what the caller does; one batch at a time, so that few wait in memory."""
        self._wait()
        self._running = self._worker.submit(self._add, texts)

    def _wait(self) -> None:
        if self._running is not None:
            self._running.result()

    def _add(self, texts: Sequence[str]) -> None:
        found = words.split(texts, self._tokenizer, kernels=self._kernels)
        numbers, new = self._words.number(found.hashes)
        self._learn(found, new)
        counted = self._count(numbers, found) if self._kernels is None else self._counted(self._kernels, numbers, found)
        self._lengths.append(counted.lengths)
        self._spool(counted)
        self._rows += len(texts)

    def _count(self, numbers: NDArray[np.int32], found: words.Words) -> _Counted:
        """Count the terms of each text, by one sort of (term, row)."""
        rows, term = found.texts, self._expansion[0, numbers]
        several = np.flatnonzero(self._expansion[1, numbers] >= 0)
        for extra in self._expansion[1:, numbers[several]]:
            has = extra >= 0
            term = np.concatenate([term, extra[has]])
            rows = np.concatenate([rows, rows[several[has]]])
        lengths = np.bincount(rows, minlength=len(found.firsts) - 1).astype(np.int32)
        keys = term.astype(np.uint64) << np.uint64(32) | rows.astype(np.uint64)
        keys.sort()
        keys, frequencies = runs(keys)
        terms, counts = runs((keys >> np.uint64(32)).astype(np.int32))
        return _Counted(terms, counts, (keys & np.uint64(0xFFFFFFFF)).astype(np.int32), frequencies, lengths)

    def _counted(self, kernels: Kernels, numbers: NDArray[np.int32], found: words.Words) -> _Counted:
        """Count the terms of each text with compiled code; the terms come in another order."""
        if len(self._state) < len(self._terms):
            self._state = np.full((len(self._terms) * 2, 2), -1, np.int32)
            self._state[:, 1] = 0
        lengths = np.zeros(len(found.firsts) - 1, np.int32)
        return _Counted(*kernels.count_terms(numbers, found.firsts, self._expansion, self._state, lengths), lengths)

    def _learn(self, found: words.Words, new: NDArray[np.int64]) -> None:
        """Give the terms of new words their numbers."""
        if not len(new):
            return
        hashes = np.zeros((len(new), 3), np.uint64)  # (words, 3): hashes of their terms, 0 for none
        hashes[:, 0] = found.hashes[new]
        written = np.flatnonzero(~found.are_numbers[new])
        terms = [self._tokenizer.expand(word) for word in found.at(new[written])]
        counts = np.array([len(one) for one in terms], np.int64)
        row = np.repeat(written, counts)
        column = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
        hashes[row, column] = words.hashes_of([term for one in terms for term in one])
        has = np.flatnonzero(hashes)
        numbers, fresh = self._terms.number(hashes.ravel()[has])
        self._term_hashes.append(hashes.ravel()[has][fresh])
        while len(self._words) > self._expansion.shape[1]:
            self._expansion = np.concatenate([self._expansion, np.full_like(self._expansion, -1)], axis=1)
        learnt = np.full(hashes.size, -1, np.int32)
        learnt[has] = numbers
        known = len(self._words) - len(new)
        self._expansion[:, known : len(self._words)] = learnt.reshape(-1, 3).T

    def _spool(self, counted: _Counted) -> None:
        for index in np.flatnonzero(counted.frequencies >= 255):
            self._large[self._spooled + int(index)] = int(counted.frequencies[index])
        (counted.rows + np.int32(self._rows)).tofile(self._rows_spool)
        np.minimum(counted.frequencies, 255).astype(np.uint8).tofile(self._frequencies_spool)
        self._batches.append(_Batch(counted.terms, counted.counts.astype(np.int32), self._spooled))
        self._spooled += len(counted.rows)

    def finish(self) -> dict[str, float]:
        """Write all files; return the statistics that a manifest keeps."""
        self._wait()
        self._rows_spool.close()
        self._frequencies_spool.close()
        lengths = np.concatenate(self._lengths) if self._lengths else np.zeros(0, np.int32)
        save(self._folder, "length", lengths)
        hashes = np.concatenate([np.zeros(0, np.uint64), *self._term_hashes])
        order = np.argsort(hashes)
        place = np.empty(len(order), np.int64)  # of each term among the sorted hashes
        place[order] = np.arange(len(order))
        save(self._folder, "term", hashes[order])
        counts = np.zeros(len(order), np.int64)
        for batch in self._batches:
            counts[place[batch.terms]] += batch.counts
        begins = np.zeros(len(order) + 1, np.int64)
        np.cumsum(counts, out=begins[1:])
        save(self._folder, "posting", begins)
        self._merge(begins, place)
        mean = float(lengths.mean()) if len(lengths) and lengths.any() else 1.0
        _write_maxima(self._folder, begins, lengths, mean, self._kernels)
        return {"terms": len(order), "postings": self._spooled, "mean_length": mean, "k1": K1, "b": B}

    def _merge(self, begins: NDArray[np.int64], place: NDArray[np.int64]) -> None:
        rows = create(self._folder, "row", np.int32, self._spooled)
        frequencies = create(self._folder, "frequency", np.uint8, self._spooled)
        spools = (self._folder / "spool.rows", self._folder / "spool.frequencies")
        large: dict[int, int] = {}
        cursor = begins[:-1].copy()
        for batch in self._batches:
            size = int(batch.counts.sum())
            spooled = np.fromfile(spools[0], np.int32, size, offset=batch.at * 4)
            frequency = np.fromfile(spools[1], np.uint8, size, offset=batch.at)
            at = np.flatnonzero(frequency == 255)
            place_runs = _place_runs if self._kernels is None else self._kernels.place_runs
            target = place_runs(place[batch.terms], batch.counts, cursor, spooled, frequency, rows, frequencies)
            large |= zip(target.tolist(), (self._large[one] for one in (batch.at + at).tolist()), strict=True)
        save(self._folder, "large_at", np.array(sorted(large), np.int64))
        save(self._folder, "large", np.array([large[at] for at in sorted(large)], np.int32))
        for spool in spools:
            spool.unlink()


def _place_runs(
    terms: NDArray[np.int64],
    counts: NDArray[np.int32],
    cursor: NDArray[np.int64],
    source_rows: NDArray[np.int32],
    source_frequencies: NDArray[np.uint8],
    rows: NDArray[np.int32],
    frequencies: NDArray[np.uint8],
) -> NDArray[np.int64]:
    """Copy each term's run of postings to where its cursor stands; return where those of frequency 255 went."""
    starts = np.cumsum(counts, dtype=np.int64) - counts
    target = np.repeat(cursor[terms] - starts, counts) + np.arange(len(source_rows))
    rows[target] = source_rows
    frequencies[target] = source_frequencies
    cursor[terms] += counts
    return np.asarray(target[source_frequencies == 255])


def _read(path: Path, kind: type[np.generic]) -> Array:
    return np.memmap(path, kind, "r") if path.stat().st_size else np.zeros(0, kind)


def saturation(mean_length: float, lengths: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return BM25's K for rows of these lengths: a hit scores idf * tf / (tf + K)."""
    return K1 * (1 - B) + (K1 * B / mean_length) * lengths.astype(np.float64)


def _write_maxima(
    folder: Path, begins: NDArray[np.int64], lengths: NDArray[np.int32], mean: float, kernels: Kernels | None
) -> None:
    """Write the largest share tf / (tf + K) of every term and of every block of postings."""
    rows, frequencies = _read(folder / "row.i4", np.int32), _read(folder / "frequency.u1", np.uint8)
    counts = np.diff(begins)
    blocks = np.zeros(len(begins), np.int64)
    np.cumsum(-(-counts // BLOCK), out=blocks[1:])
    save(folder, "block", blocks)
    best = create(folder, "block_best", np.float32, int(blocks[-1]))
    take_maxima = _block_maxima if kernels is None else kernels.block_maxima
    take_maxima(begins, blocks, BLOCK, rows, frequencies, saturation(mean, lengths), best)
    for low in range(0, len(best), _SLICE):
        best[low : low + _SLICE] = np.nextafter(best[low : low + _SLICE], np.float32(2))
    save(folder, "best", np.maximum.reduceat(best, blocks[:-1]) if len(best) else np.zeros(0, np.float32))
    del best


def _block_maxima(
    begins: NDArray[np.int64],
    blocks: NDArray[np.int64],
    size: int,
    rows: NDArray[np.int32],
    frequencies: NDArray[np.uint8],
    saturations: NDArray[np.float64],
    best: NDArray[np.float32],
) -> None:
    """Fill in the largest tf / (tf + K) of each block of postings, rounded to the nearest float."""
    # Every block's first posting: reduceat then takes the maximum up to the next block's.
    firsts = np.repeat(begins[:-1] - blocks[:-1] * size, np.diff(blocks)) + np.arange(blocks[-1]) * size
    low = 0
    while low < len(firsts):
        high = max(low + 1, int(np.searchsorted(firsts, firsts[low] + _SLICE)))
        end = int(firsts[high]) if high < len(firsts) else len(rows)
        tf = frequencies[firsts[low] : end].astype(np.float64)
        share = tf / (tf + saturations[rows[firsts[low] : end]])
        share[tf == 255] = 1  # the true frequency may be larger: no share is above 1
        best[low:high] = np.maximum.reduceat(share, firsts[low:high] - firsts[low])
        low = high
