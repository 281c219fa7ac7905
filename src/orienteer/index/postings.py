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
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.index import words
from orienteer.index.arrays import Array, create, runs, save
from orienteer.index.tokenizer import Tokenizer

K1 = 1.2  # Lucene's defaults, as everywhere in the field
B = 0.75
BLOCK = 64  # postings under one maximum: small enough to skip most of a common term, 1 % of the postings' size
BATCH_BYTES = 6_000_000  # of text: some million words, whose columns stay in the processor's cache
_SLICE = 1 << 22  # postings handled at once while the maxima are taken


class _Batch(NamedTuple):
    terms: NDArray[np.int32]
    counts: NDArray[np.int64]
    at: int  # where the batch's postings begin in the spool


class PostingsWriter:
    """Collects texts and writes the index of all of them."""

    def __init__(self, folder: Path, tokenizer: Tokenizer) -> None:
        self._folder, self._tokenizer = folder, tokenizer
        self._rows_spool = (folder / "spool.rows").open("wb")
        self._frequencies_spool = (folder / "spool.frequencies").open("wb")
        self._spooled = 0
        self._batches: list[_Batch] = []
        self._large: dict[int, int] = {}  # place in the spool -> frequency
        self._lengths: list[NDArray[np.int32]] = []
        self._rows = 0
        self._words = words.Vocabulary()
        self._terms = words.Vocabulary()
        self._term_hashes: list[NDArray[np.uint64]] = []
        self._expansion = np.full((1 << 16, 3), -1, np.int32)  # (words, 3): the terms of each word
        self._has_several = np.zeros(1 << 16, np.bool_)

    def __enter__(self) -> PostingsWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._rows_spool.close()
        self._frequencies_spool.close()

    def add(self, texts: Sequence[str]) -> None:
        """Index the next texts, one row each."""
        batch: list[str] = []
        size = 0
        for text in texts:
            batch.append(text)
            size += len(text) + 1
            if size > BATCH_BYTES:
                self._add(batch)
                batch, size = [], 0
        if batch:
            self._add(batch)

    def _add(self, texts: Sequence[str]) -> None:
        found = words.split(texts, self._tokenizer)
        numbers, new = self._words.number(found.hashes)
        self._learn(found, new)
        rows, term = found.texts, self._expansion[numbers, 0]
        several = np.flatnonzero(self._has_several[numbers])
        for extra in self._expansion[numbers[several], 1:].T:
            has = extra >= 0
            term = np.concatenate([term, extra[has]])
            rows = np.concatenate([rows, rows[several[has]]])
        self._lengths.append(np.bincount(rows, minlength=len(texts)).astype(np.int32))
        keys, frequencies = _count(term.astype(np.uint64) << np.uint64(32) | rows.astype(np.uint64))
        self._spool(keys, frequencies)
        self._rows += len(texts)

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
        while len(self._words) > len(self._expansion):
            self._expansion = np.concatenate([self._expansion, np.full_like(self._expansion, -1)])
            self._has_several = np.concatenate([self._has_several, np.zeros_like(self._has_several)])
        learnt = np.full(hashes.size, -1, np.int32)
        learnt[has] = numbers
        known = len(self._words) - len(new)
        self._expansion[known : len(self._words)] = learnt.reshape(-1, 3)
        self._has_several[known : len(self._words)] = hashes[:, 1] != 0

    def _spool(self, keys: NDArray[np.uint64], frequencies: NDArray[np.int64]) -> None:
        terms = (keys >> np.uint64(32)).astype(np.int32)
        rows = (keys & np.uint64(0xFFFFFFFF)).astype(np.int32) + self._rows
        for index in np.flatnonzero(frequencies >= 255):
            self._large[self._spooled + int(index)] = int(frequencies[index])
        rows.tofile(self._rows_spool)
        np.minimum(frequencies, 255).astype(np.uint8).tofile(self._frequencies_spool)
        unique, counts = runs(terms)
        self._batches.append(_Batch(unique, counts, self._spooled))
        self._spooled += len(keys)

    def finish(self) -> dict[str, float]:
        """Write all files; return the statistics that a manifest keeps."""
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
        _write_maxima(self._folder, begins, lengths, mean)
        return {"terms": len(order), "postings": self._spooled, "mean_length": mean, "k1": K1, "b": B}

    def _merge(self, begins: NDArray[np.int64], place: NDArray[np.int64]) -> None:
        rows = create(self._folder, "row", np.int32, self._spooled)
        frequencies = create(self._folder, "frequency", np.uint8, self._spooled)
        spools = (self._folder / "spool.rows", self._folder / "spool.frequencies")
        large: dict[int, int] = {}
        cursor = begins[:-1].copy()
        for batch in self._batches:
            terms = place[batch.terms]
            size = int(batch.counts.sum())
            starts = np.cumsum(batch.counts) - batch.counts
            target = np.repeat(cursor[terms] - starts, batch.counts) + np.arange(size)
            rows[target] = np.fromfile(spools[0], np.int32, size, offset=batch.at * 4)
            frequency = np.fromfile(spools[1], np.uint8, size, offset=batch.at)
            frequencies[target] = frequency
            cursor[terms] += batch.counts
            for at in np.flatnonzero(frequency == 255).tolist():
                large[int(target[at])] = self._large[batch.at + at]
        save(self._folder, "large_at", np.array(sorted(large), np.int64))
        save(self._folder, "large", np.array([large[at] for at in sorted(large)], np.int32))
        for spool in spools:
            spool.unlink()


def _count(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the distinct keys, sorted, and how often each stands."""
    keys.sort()
    return runs(keys)


def _read(path: Path, kind: type[np.generic]) -> Array:
    return np.memmap(path, kind, "r") if path.stat().st_size else np.zeros(0, kind)


def saturation(mean_length: float, lengths: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return BM25's K for rows of these lengths: a hit scores idf * tf / (tf + K)."""
    return K1 * (1 - B) + (K1 * B / mean_length) * lengths.astype(np.float64)


def _write_maxima(folder: Path, begins: NDArray[np.int64], lengths: NDArray[np.int32], mean: float) -> None:
    """Write the largest share tf / (tf + K) of every term and of every block of postings."""
    rows, frequencies = _read(folder / "row.i4", np.int32), _read(folder / "frequency.u1", np.uint8)
    counts = np.diff(begins)
    blocks = np.zeros(len(begins), np.int64)
    np.cumsum(-(-counts // BLOCK), out=blocks[1:])
    save(folder, "block", blocks)
    best = create(folder, "block_best", np.float32, int(blocks[-1]))
    # Every block's first posting: reduceat then takes the maximum up to the next block's.
    firsts = np.repeat(begins[:-1] - blocks[:-1] * BLOCK, np.diff(blocks)) + np.arange(blocks[-1]) * BLOCK
    low = 0
    while low < len(firsts):
        high = max(low + 1, int(np.searchsorted(firsts, firsts[low] + _SLICE)))
        end = int(firsts[high]) if high < len(firsts) else len(rows)
        tf = frequencies[firsts[low] : end].astype(np.float64)
        share = tf / (tf + saturation(mean, lengths[rows[firsts[low] : end]]))
        share[tf == 255] = 1  # the true frequency may be larger: no share is above 1
        largest = np.maximum.reduceat(share, firsts[low:high] - firsts[low])
        best[low:high] = np.nextafter(largest.astype(np.float32), np.float32(2))
        low = high
    save(folder, "best", np.maximum.reduceat(best, blocks[:-1]) if len(best) else np.zeros(0, np.float32))
    del best
