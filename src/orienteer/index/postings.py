"""Writes the text index: texts in, postings on disk out, in bounded memory.

Texts come in batches, from any thread. Each batch becomes (term, row, frequency), sorted by bucket (the first byte of
the term's hash) and by term, and is spooled to disk. `finish` then joins the batches bucket by bucket, so
that a bucket nearly fits the processor's cache, and writes the final arrays from first to last.

Files (one entry for each term, in the order of the terms' hashes, unless stated otherwise):
    term.u8         hashes, sorted
    posting.i8      (terms + 1) the begin of a term's postings
    best.f4         the largest tf / (tf + K) of a term, rounded up
    row.i4          one entry for each posting, ascending within a term
    frequency.u1    one entry for each posting; 255 stands for the value in `large`
    large_at.i8, large.i4      the postings of frequency 255 and more
    block.i8        (terms + 1) the begin of a term's blocks
    block_best.f4   the largest tf / (tf + K) of each block of `BLOCK` postings, rounded up
    length.i4       one entry for each row: its terms
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.index import words
from orienteer.index.arrays import Array, Folder, Rows, Strings, StringWriter, begins_of, inserted, runs, save
from orienteer.index.bm25 import BLOCK, K1, B, saturation
from orienteer.index.names import save_phrases, save_spelling, spelled
from orienteer.text.tokenizer import Tokenizer

BATCH_BYTES = 6_000_000  # of text: some million words, sorted and spooled at once
_PART_BYTES = 400_000  # of text, read at once: the columns of its words stay in a processor's cache
# An occurrence of a term is a number that sorts by bucket, term and row. A word's own number has no row.
_ROW_BITS = np.uint64(23)  # of a row within its batch: each takes a byte or more of `BATCH_BYTES`
_TERM_BITS = np.uint64(31)
_SEVERAL = np.uint64(1 << 54)  # marks a word that has further terms
_NONE = np.uint64((1 << 64) - 1)  # in place of a further term
_BUCKET_SHIFT = np.uint64(56)  # leaves the first byte of a hash
_BUCKETS = 256
_SLICE = 1 << 16  # postings whose maxima are taken at once: their columns stay in a processor's cache
_SPOOLS = {"terms": np.int32, "counts": np.int32, "rows": np.int32, "frequencies": np.uint8}


class _SpooledBatch(NamedTuple):
    first_terms: NDArray[np.int64]  # (buckets + 1,): the begin of each bucket's terms and counts in the spool
    first_postings: NDArray[np.int64]  # (buckets + 1,): the begin of its rows and frequencies


class PostingsWriter:
    """Collects texts and writes the index of all of them. Several threads may add texts at the same time."""

    def __init__(self, folder: Path, tokenizer: Tokenizer) -> None:
        self._folder, self._tokenizer = folder, tokenizer
        self._spools = {name: (folder / f"spool.{name}").open("wb") for name in _SPOOLS}
        self._spooled_terms = self._spooled = 0
        self._batches: list[_SpooledBatch] = []
        self._large: list[tuple[int, int, int]] = []  # term, row, frequency
        self._lengths: list[tuple[int, NDArray[np.int64]]] = []  # the first row of a batch, and its texts' lengths
        self._words = words.WordNumbers()
        self._terms = words.WordNumbers()
        self._word_terms = np.full((3, 1 << 16), _NONE)  # (3, words): occurrences of the terms of each word
        self._lock = threading.Lock()  # of what one batch learns for the next, and of the spool

    def __enter__(self) -> PostingsWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the spool files."""
        for spool in self._spools.values():
            spool.close()

    def add(self, first_row: int, texts: Sequence[str]) -> None:
        """Index the texts of a row and of those that follow it."""
        for low, high in _parts(texts, BATCH_BYTES):
            self._add_batch(first_row + low, texts[low:high])

    def _add_batch(self, first_row: int, texts: Sequence[str]) -> None:
        parts = [self._occurrences(low, texts[low:high]) for low, high in _parts(texts, _PART_BYTES)]
        occurrences, lengths = (np.concatenate(column) for column in zip(*parts, strict=True))
        # One sort counts the terms of each text: bucket by bucket, term by term, rows ascending within a term.
        occurrences.sort()
        occurrences, frequencies = runs(occurrences)
        rows = (occurrences & np.uint64((1 << int(_ROW_BITS)) - 1)).astype(np.int32) + np.int32(first_row)
        occurrences >>= _ROW_BITS
        terms, counts = runs(occurrences)
        first_terms = np.searchsorted(terms, np.arange(_BUCKETS + 1, dtype=np.uint64) << _BUCKET_SHIFT - _ROW_BITS)
        terms = (terms & np.uint64((1 << int(_TERM_BITS)) - 1)).astype(np.int32)
        begins = begins_of(counts)
        large = np.flatnonzero(frequencies >= 255)
        large_terms = terms[np.searchsorted(begins[1:], large, side="right")]
        with self._lock:
            self._lengths.append((first_row, lengths))
            self._large += zip(large_terms.tolist(), rows[large].tolist(), frequencies[large].tolist(), strict=True)
            columns = (terms, counts, rows, np.minimum(frequencies, 255))
            for name, column in zip(_SPOOLS, columns, strict=True):
                column.astype(_SPOOLS[name], copy=False).tofile(self._spools[name])
            self._batches.append(_SpooledBatch(self._spooled_terms + first_terms, self._spooled + begins[first_terms]))
            self._spooled_terms += len(terms)
            self._spooled += len(rows)

    def _occurrences(self, first: int, texts: Sequence[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Return the occurrences of terms in the texts of a batch, `first` and those that follow, and their lengths."""
        text_words = words.split(texts, self._tokenizer)
        with self._lock:
            numbers, new = self._words.number(text_words.hashes)
            self._learn(text_words, new)
            word_terms = self._word_terms
        lengths = np.diff(text_words.firsts)
        rows = np.repeat(np.arange(first, first + len(texts), dtype=np.uint64), lengths)
        occurrences = word_terms[0].take(numbers)
        several = np.flatnonzero(occurrences & _SEVERAL)
        occurrences |= rows
        if not len(several):
            return occurrences, lengths
        occurrences[several] ^= _SEVERAL
        further = word_terms[1:, numbers[several]]
        has = further != _NONE
        rows = np.broadcast_to(rows[several], has.shape)[has]
        lengths += np.bincount(rows.astype(np.int64) - first, minlength=len(texts))
        return np.concatenate([occurrences, further[has] | rows]), lengths

    def _learn(self, text_words: words.HashedWords, new: NDArray[np.int64]) -> None:
        """Number the terms of new words; `new` are the words' places in `text_words`."""
        if not len(new):
            return
        hashes = np.zeros((3, len(new)), np.uint64)  # (3, words): hashes of their terms, 0 for none
        hashes[0] = text_words.hashes[new]
        starts_with_digit, ends_with_digit = text_words.digits(new)
        mixed = np.flatnonzero(starts_with_digit != ends_with_digit)
        terms = [self._tokenizer.expand(word) for word in text_words.at(new[mixed])]
        counts = np.array([len(word_terms) for word_terms in terms], np.int64)
        column = np.repeat(mixed, counts)
        row = np.arange(len(column)) - np.repeat(np.cumsum(counts) - counts, counts)
        hashes[row, column] = words.hashes_of([term for word_terms in terms for term in word_terms])
        if self._tokenizer.stems:
            letters = np.flatnonzero(~(starts_with_digit | ends_with_digit))
            hashes[0, letters] = words.hashes_of(self._tokenizer.stems_of(text_words.at(new[letters])))
        has = np.nonzero(hashes)
        numbers, _ = self._terms.number(hashes[has])
        while len(self._words) > self._word_terms.shape[1]:
            self._word_terms = np.concatenate([self._word_terms, np.full_like(self._word_terms, _NONE)], axis=1)
        learnt = self._word_terms[:, len(self._words) - len(new) : len(self._words)]
        learnt[has] = hashes[has] >> _BUCKET_SHIFT << _BUCKET_SHIFT | numbers.astype(np.uint64) << _ROW_BITS
        learnt[0, learnt[1] != _NONE] |= _SEVERAL

    def finish(
        self, place_of_row: NDArray[np.int32] | None = None, *, measured: NDArray[np.bool_] | None = None
    ) -> dict[str, float]:
        """Write all files; return the statistics for the manifest. Row r becomes row `place_of_row[r]`.

        The mean length is taken over the rows under the mask `measured`, (rows,); over all rows without it.
        """
        self.close()
        # No more texts come, and of a large graph these are hundreds of megabytes.
        del self._words, self._word_terms
        by_row = np.concatenate(
            [np.zeros(0, np.int32), *(lengths for _, lengths in sorted(self._lengths, key=itemgetter(0)))]
        )
        row_place = place_of_row if place_of_row is not None else np.arange(len(by_row), dtype=np.int32)
        lengths = np.zeros(len(by_row), np.int32)
        lengths[row_place] = by_row
        save(self._folder, "length", lengths)
        hashes = self._terms.hashes
        del self._terms
        order = np.argsort(hashes)
        place = np.empty(len(order), np.int32)  # of each term among the sorted hashes
        place[order] = np.arange(len(order), dtype=np.int32)
        save(self._folder, "term", hashes[order])
        of_mean = lengths if measured is None else lengths[row_place[measured]]
        mean = float(of_mean.mean()) if len(of_mean) and of_mean.any() else 1.0
        first_terms = np.searchsorted(hashes[order] >> _BUCKET_SHIFT, np.arange(_BUCKETS + 1)).tolist()
        saturations = saturation(mean, lengths)
        term_counts: list[NDArray[np.int64]] = []  # of each bucket: (terms,)
        maxima: list[NDArray[np.float32]] = []  # of each bucket: (blocks,)
        with (self._folder / "row.i4").open("wb") as row_file, (self._folder / "frequency.u1").open("wb") as tf_file:
            for bucket, (low, high) in enumerate(pairwise(first_terms)):
                # A bucket has a run of postings for each term of each batch.
                terms = [batch.first_terms[bucket : bucket + 2].tolist() for batch in self._batches]
                postings = [batch.first_postings[bucket : bucket + 2].tolist() for batch in self._batches]
                run_terms = place[self._read("terms", terms)] - np.int32(low)
                run_counts = self._read("counts", terms)
                # The key that sorts its postings has the term, then the row in 31 bits, then the frequency in 8.
                keys = np.repeat(run_terms.astype(np.uint64) << np.uint64(39), run_counts)
                keys |= row_place[self._read("rows", postings)].astype(np.uint64) << np.uint64(8)
                keys |= self._read("frequencies", postings)
                keys.sort()
                frequencies = keys.astype(np.uint8)
                keys >>= np.uint64(8)
                rows = (keys & np.uint64((1 << 31) - 1)).astype(np.int32)
                counts = np.bincount(run_terms, run_counts, high - low).astype(np.int64)
                term_counts.append(counts)
                maxima.append(_block_maxima(begins_of(counts), rows, frequencies, saturations))
                rows.tofile(row_file)
                frequencies.tofile(tf_file)
        for name in _SPOOLS:
            (self._folder / f"spool.{name}").unlink()
        begins = begins_of(np.concatenate(term_counts))
        _save_terms(self._folder, begins, np.concatenate(maxima))
        # The frequencies that do not fit a byte, and the places of their postings.
        all_rows = Folder(self._folder).array("row", "i4")
        large: dict[int, int] = {}
        for term, row, frequency in self._large:
            low, high = begins[place[term] : place[term] + 2].tolist()
            large[low + int(all_rows[low:high].searchsorted(row_place[row]))] = frequency
        save(self._folder, "large_at", np.array(sorted(large), np.int64))
        save(self._folder, "large", np.array([large[at] for at in sorted(large)], np.int32))
        return {"terms": len(order), "postings": self._spooled, "mean_length": mean, "k1": K1, "b": B}

    def _read(self, name: str, parts: Sequence[list[int]]) -> Array:
        """Read several parts of a spool, one after another."""
        values = np.empty(sum(high - low for low, high in parts), _SPOOLS[name])
        size, at, room = values.itemsize, 0, values.view(np.uint8).data
        with (self._folder / f"spool.{name}").open("rb") as file:
            for low, high in parts:
                file.seek(low * size)
                at += file.readinto(room[at : at + (high - low) * size])
        return values


def _save_terms(folder: Path, begins: NDArray[np.int64], maxima: NDArray[np.float32]) -> None:
    """Write the begins of each term's postings and blocks, and the maxima of its blocks, (blocks,), rounded up."""
    blocks, best = begins_of(-(-np.diff(begins) // BLOCK)), np.nextafter(maxima, np.float32(2))
    save(folder, "posting", begins)
    save(folder, "block", blocks)
    save(folder, "block_best", best)
    save(folder, "best", np.maximum.reduceat(best, blocks[:-1]) if len(best) else best)


def _parts(texts: Sequence[str], size: int) -> Iterator[tuple[int, int]]:
    """Yield the first and the last index (exclusive) of consecutive texts that have about `size` bytes together."""
    first = total = 0
    for place, text in enumerate(texts, 1):
        total += len(text) + 1
        if total > size or place == len(texts):
            yield first, place
            first, total = place, 0


def _block_maxima(
    begins: NDArray[np.int64],
    rows: NDArray[np.int32],
    frequencies: NDArray[np.uint8],
    saturations: NDArray[np.float64],
) -> NDArray[np.float32]:
    """Return the largest tf / (tf + K) of each block of postings, rounded to the nearest float, shape (blocks,).

    `begins` is (terms + 1,), `rows` and `frequencies` are (postings,), `saturations` is (rows of the graph,).
    """
    blocks = begins_of(-(-np.diff(begins) // BLOCK))
    best = np.empty(blocks[-1], np.float32)
    # Every block's first posting: reduceat then takes the maximum up to the next block's.
    firsts = np.repeat(begins[:-1] - blocks[:-1] * BLOCK, np.diff(blocks)) + np.arange(blocks[-1]) * BLOCK
    low = 0
    while low < len(firsts):
        high = max(low + 1, int(np.searchsorted(firsts, firsts[low] + _SLICE)))
        end = int(firsts[high]) if high < len(firsts) else len(rows)
        tf = frequencies[firsts[low] : end].astype(np.float64)
        share = tf / (tf + saturations[rows[firsts[low] : end]])
        # A byte stores at most 255; the true frequency may be larger, but no share is above 1.
        share[tf == 255] = 1
        best[low:high] = np.maximum.reduceat(share, firsts[low:high] - firsts[low])
        low = high
    return best


# A revision: the files of an old index and of a small new one become those of one index, as a build of all rows would
# write them. The new rows are indexed alone, by the writers of a build. The text of the old rows that stay is not read:
# their postings are renumbered, and the new ones are inserted among them.


_TERM_SHIFT = np.uint64(32)  # of a term's number in a key that sorts postings; a row is below it


@dataclass(frozen=True, slots=True)
class Layout:
    """The new row of each row of an old index that stays, and of each row that is added."""

    old: NDArray[np.int32]
    """(old rows,): the new row of each, -1 for a removed row; the others keep their order."""
    new: Rows
    """(added rows,): the new row of each, ascending."""

    @property
    def stays(self) -> NDArray[np.bool_]:
        """Mark the old rows that stay: (old rows,)."""
        return self.old >= 0

    def __len__(self) -> int:
        """Count the rows of the new index."""
        return int(np.count_nonzero(self.stays)) + len(self.new)

    def merged(self, old: Array, new: Array) -> Array:
        """Return a value for each row of the new index, from one for each old row and one for each added row."""
        values = np.empty(len(self), np.result_type(old, new))
        values[self.old[self.stays]] = old[self.stays]
        values[self.new] = new
        return values

    @property
    def origin(self) -> NDArray[np.int64]:
        """Return the origin of each row of the new index: (rows,), an old row, or -1 - n for the n-th added row."""
        return self.merged(np.arange(len(self.old)), -1 - np.arange(len(self.new)))


def layout_of(ids: Strings, gone: Rows, new: Sequence[bytes]) -> Layout:
    """Return the layout of sorted ids without the rows `gone`, and with new ids, sorted and not among the old ones."""
    stays = np.ones(len(ids), np.bool_)
    stays[gone] = False
    before = np.fromiter((ids.place(each) for each in new), np.int64, len(new))  # old rows that come before each
    old = np.cumsum(stays) - 1 + np.searchsorted(before, np.arange(len(ids)), side="right")
    kept = np.concatenate([[0], np.cumsum(stays)])
    return Layout(np.where(stays, old, -1).astype(np.int32), (kept[before] + np.arange(len(new))).astype(np.int32))


def write_strings(
    folder: Path, name: str, old: Strings | None, origin: NDArray[np.int64], new: Sequence[bytes]
) -> None:
    """Write strings in the order of `origin`: indexes of old ones, or -1 - n for the n-th new one."""
    breaks = np.flatnonzero((origin[1:] != origin[:-1] + 1) | (origin[:-1] < 0)) + 1  # between two runs
    with StringWriter(folder, name) as writer:
        for low, high in zip([0, *breaks.tolist()], [*breaks.tolist(), len(origin)], strict=True):
            if low == high:
                continue
            first = int(origin[low])
            if first < 0:
                writer.add(new[-1 - first])
            elif old is not None:
                writer.copy(old, first, first + high - low)


class _Postings(NamedTuple):
    """The postings of several terms, term after term."""

    terms: NDArray[np.uint64]  # (terms,): hashes, ascending
    counts: NDArray[np.int64]  # (terms,): the postings of each
    rows: NDArray[np.int32]  # (postings,)
    frequencies: NDArray[np.uint8]  # (postings,)
    large_at: NDArray[np.int64]  # the postings of frequency 255 and more
    large: NDArray[np.int32]

    def keys(self, terms: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return a number for each posting, (postings,), that sorts by the term's place among `terms`, then by row."""
        places = np.searchsorted(terms, self.terms).astype(np.uint64)
        keys: NDArray[np.uint64] = np.repeat(places << _TERM_SHIFT, self.counts)
        keys |= self.rows.astype(np.uint64)
        return keys


def _postings(folder: Folder, place: NDArray[np.int32]) -> _Postings:
    """Read postings; row r becomes row `place[r]`, and those of rows without a place are dropped."""
    rows = place[folder.array("row", "i4")]
    begins, terms, large_at = folder.array("posting", "i8"), folder.array("term", "u8"), folder.array("large_at", "i8")
    frequencies, large = folder.array("frequency", "u1"), folder.array("large", "i4")
    if place.min(initial=0) >= 0:
        return _Postings(terms, np.diff(begins), rows, frequencies, large_at, large)
    stays = rows >= 0
    before = np.concatenate([[0], np.cumsum(stays)])
    counts, has_place = np.diff(before[begins]), stays[large_at]
    return _Postings(
        terms[counts > 0],
        counts[counts > 0],
        rows[stays],
        frequencies[stays],
        before[large_at[has_place]],
        large[has_place],
    )


def revise_texts(
    folder: Path, old: Folder, new: Folder, layout: Layout, *, measured: NDArray[np.bool_] | None = None
) -> dict[str, float]:
    """Write the text index of the rows of a layout; return the statistics for the manifest.

    The mean length is taken over the new rows under the mask `measured`, (rows,); over all rows without it.
    """
    stay, come = _postings(old, layout.old), _postings(new, layout.new)
    terms = np.union1d(stay.terms, come.terms)
    at = np.searchsorted(stay.keys(terms), come.keys(terms)).astype(np.int64)
    counts = np.zeros(len(terms), np.int64)
    for part in (stay, come):
        counts[np.searchsorted(terms, part.terms)] += part.counts
    rows, frequencies = inserted(stay.rows, at, come.rows), inserted(stay.frequencies, at, come.frequencies)
    lengths = layout.merged(old.array("length", "i4"), new.array("length", "i4"))
    of_mean = lengths if measured is None else lengths[measured]
    mean = float(of_mean.mean()) if len(of_mean) and of_mean.any() else 1.0
    for name, values in (("length", lengths), ("term", terms), ("row", rows), ("frequency", frequencies)):
        save(folder, name, values)
    begins = begins_of(counts)
    _save_terms(folder, begins, _block_maxima(begins, rows, frequencies, saturation(mean, lengths)))
    large_at = np.concatenate(
        [stay.large_at + np.searchsorted(at, stay.large_at, side="right"), at[come.large_at] + come.large_at]
    )
    order = np.argsort(large_at)
    save(folder, "large_at", large_at[order])
    save(folder, "large", np.concatenate([stay.large, come.large])[order])
    return {"terms": len(terms), "postings": len(rows), "mean_length": mean, "k1": K1, "b": B}


def revise_names(
    folder: Path,
    old: Folder,
    new: Folder,
    layout: Layout,
    tokenizer: Tokenizer,
    *,
    gone: Iterable[str],
    stay: Callable[[], Iterable[Sequence[str]]],
) -> None:
    """Write the name index of the rows of a layout.

    `gone` are the names, aliases and identifiers of removed rows; `stay` returns those of the old rows that stay, in
    parts. They are read only if a word of a removed name is in no added name.
    """
    for name in ("exact", "stem"):
        columns = (f"{name}.u8", f"{name}_row.i4", f"{name}_kind.u1")
        (keys, rows, kinds), (new_keys, new_rows, new_kinds) = (
            [part.array(*column.split(".")) for column in columns] for part in (old, new)
        )
        rows = layout.old[rows]
        stays = rows >= 0
        save_phrases(
            folder,
            name,
            np.concatenate([keys[stays], new_keys]),
            np.concatenate([rows[stays], layout.new[new_rows]]),
            np.concatenate([kinds[stays], new_kinds]),
        )
    coming = set(new.strings("spelling"))
    lost = spelled(tokenizer, gone) - coming
    for part in stay() if lost else ():
        lost -= spelled(tokenizer, part)
        if not lost:
            break
    save_spelling(folder, sorted((set(old.strings("spelling")) - lost) | coming))
