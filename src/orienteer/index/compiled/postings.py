"""Compiled twins of the loops that index texts: the same results as `index.counting`, many times sooner.

Loaded only where a build is large enough to earn back the seconds that compiling takes once on a machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

_F = TypeVar("_F", bound=Callable[..., Any])  # Any: whatever the function takes

_START = np.uint64(0x9E3779B97F4A7C15)
_PRIME = np.uint64(0xD6E8FEB86659FD93)
_SPACE = np.uint8(32)


def _jit(function: _F) -> _F:
    """Compile at first call, kept on disk; other threads run meanwhile."""
    return cast(_F, numba.njit(cache=True, nogil=True)(function))


@_jit
def _mixed(value: np.uint64, block: np.uint64) -> np.uint64:
    mixed = (value ^ block) * _PRIME
    return mixed ^ mixed >> np.uint64(32)


@_jit
def _block(buffer: NDArray[np.uint8], start: int, end: int) -> np.uint64:
    """Return up to eight bytes as a number, the first one lowest."""
    block = np.uint64(0)
    for place in range(min(8, end - start)):
        block |= np.uint64(buffer[start + place]) << np.uint64(8 * place)
    return block


@_jit
def _folded(byte: np.uint8) -> np.uint8:
    """Return an ASCII letter as a small one, a digit and what belongs to other scripts as it is, else a space."""
    small = byte | np.uint8(32)
    if np.uint8(97) <= small <= np.uint8(122):
        return small if byte < np.uint8(128) else byte
    return byte if np.uint8(48) <= byte <= np.uint8(57) or byte >= np.uint8(128) else _SPACE


@_jit
def hash_words(
    buffer: NDArray[np.uint8],
    ends: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Find the words of texts that end at `ends`, where a space stands, once the buffer is folded, which this does.

    Fills in their hashes, as `index.words.word_hash` has them, their starts and their lengths. Returns where each
    text's words begin.
    """
    for at in range(len(buffer)):
        buffer[at] = _folded(buffer[at])
    firsts = np.zeros(len(ends) + 1, np.int64)
    found = at = 0
    for text in range(len(ends)):
        while at < ends[text]:
            byte = buffer[at]
            if byte == _SPACE:
                at += 1
                continue
            start, block, shift = at, np.uint64(0), np.uint64(0)
            while byte != _SPACE and shift < np.uint64(64):
                block |= np.uint64(byte) << shift
                shift += np.uint64(8)
                at += 1
                byte = buffer[at]
            while buffer[at] != _SPACE:
                at += 1
            value = _mixed(_START ^ np.uint64(at - start), block)
            for further in range(start + 8, at, 8):
                value = _mixed(value, _block(buffer, further, at))
            value *= _PRIME
            value ^= value >> np.uint64(29)
            hashes[found] = value if value != np.uint64(0) else np.uint64(1)
            starts[found], lengths[found] = start, at - start
            found += 1
        firsts[text + 1] = found
    return firsts


@_jit
def number_words(
    hashes: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    values: NDArray[np.int32],
    count: int,
    numbers: NDArray[np.int32],
    new: NDArray[np.int64],
) -> tuple[int, int]:
    """Number words by a table of `count` entries; those that it lacks are added, in the order in which they come.

    Fills in the words' numbers and the places of the new ones. Returns how many words it took before the table was
    half full, and how many of these were new.
    """
    mask = np.uint64(len(keys) - 1)
    room, found = len(keys) // 2 - count, 0
    for at in range(len(hashes)):
        key = hashes[at]
        slot = key & mask
        while keys[slot] != key and keys[slot] != np.uint64(0):
            slot = (slot + np.uint64(1)) & mask
        if keys[slot] == np.uint64(0):
            if found == room:
                return at, found
            keys[slot], values[slot] = key, count + found
            new[found] = at
            found += 1
        numbers[at] = values[slot]
    return len(hashes), found


@_jit
def insert(
    keys: NDArray[np.uint64], values: NDArray[np.int32], table_keys: NDArray[np.uint64], table_values: NDArray[np.int32]
) -> None:
    """Put words into a table that lacks them and has room."""
    mask = np.uint64(len(table_keys) - 1)
    for at in range(len(keys)):
        slot = keys[at] & mask
        while table_keys[slot] != np.uint64(0):
            slot = (slot + np.uint64(1)) & mask
        table_keys[slot], table_values[slot] = keys[at], values[at]


@_jit
def count_terms(
    numbers: NDArray[np.int32],
    firsts: NDArray[np.int64],
    expansion: NDArray[np.int32],
    buckets: NDArray[np.uint8],
    state: NDArray[np.int32],
    lengths: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Count the terms of each text, given the numbers of its words and the one to three terms of each word; the
    first is inverted where others follow.

    Returns the distinct terms, bucket by bucket, and how many postings each has, then the postings, one term's after
    another's: rows, ascending within a term, and frequencies. Fills in how many terms each text has. `state` has a
    row (-1, 0) for every term, and has so again afterwards.
    """
    terms, rows, bounds = _by_bucket(numbers, firsts, expansion, buckets, lengths)
    distinct, counts = np.empty(len(terms), np.int32), np.empty(len(terms), np.int32)
    found_rows, frequencies = np.empty(len(terms), np.int32), np.empty(len(terms), np.int32)
    found = postings = 0
    for bucket in range(len(bounds) - 1):  # one at a time: what is noted of its terms stays at hand
        part = slice(bounds[bucket], bounds[bucket + 1])
        fresh, size = _count(
            terms[part],
            rows[part],
            state,
            distinct[found:],
            counts[found:],
            found_rows[postings:],
            frequencies[postings:],
        )
        found, postings = found + fresh, postings + size
    return distinct[:found].copy(), counts[:found].copy(), found_rows[:postings], frequencies[:postings]


@_jit
def _by_bucket(
    numbers: NDArray[np.int32],
    firsts: NDArray[np.int64],
    expansion: NDArray[np.int32],
    buckets: NDArray[np.uint8],
    lengths: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Return the terms of all words and the rows that they stand in, by bucket, and where each bucket begins."""
    most = 3 * len(numbers)  # of which memory holds only what is filled in
    read, bucket_of, bounds = np.empty(most, np.int32), np.empty(most, np.uint8), np.zeros(257, np.int64)
    found = 0
    for row in range(len(lengths)):
        begin = found
        for word in numbers[firsts[row] : firsts[row + 1]]:
            term, place = expansion[0, word], 0
            further = 2 if term < 0 else 0
            term = max(term, ~term)
            while term >= 0:
                read[found], bucket_of[found] = term, buckets[term]
                bounds[np.int64(buckets[term]) + 1] += 1
                found += 1
                if place == further:
                    break
                place += 1
                term = expansion[place, word]
        lengths[row] = found - begin
    bounds = np.cumsum(bounds)
    cursor = bounds[:-1].copy()
    terms, rows = np.empty(found, np.int32), np.empty(found, np.int32)
    end = 0
    for row in range(len(lengths)):
        begin, end = end, end + lengths[row]
        for at in range(begin, end):
            target = cursor[bucket_of[at]]
            terms[target], rows[target] = read[at], row
            cursor[bucket_of[at]] = target + 1
    return terms, rows, bounds


@_jit
def _count(
    terms: NDArray[np.int32],
    rows: NDArray[np.int32],
    state: NDArray[np.int32],
    distinct: NDArray[np.int32],
    counts: NDArray[np.int32],
    found_rows: NDArray[np.int32],
    frequencies: NDArray[np.int32],
) -> tuple[int, int]:
    """Count what stands in several rows, as `count_terms` does. Overwrites `terms` and `rows`."""
    times = np.empty(len(terms), np.int32)
    found = postings = 0
    for at in range(len(terms)):
        term, row = terms[at], rows[at]
        last = state[term, 0]
        if last >= 0 and rows[last] == row:
            times[last] += 1
            continue
        if last < 0:
            distinct[found] = term
            found += 1
        state[term, 0] = postings
        state[term, 1] += 1
        terms[postings], rows[postings], times[postings] = term, row, 1
        postings += 1
    total = 0
    for one in range(found):
        counts[one] = state[distinct[one], 1]
        state[distinct[one], 1] = total
        total += counts[one]
    for at in range(postings):
        target = state[terms[at], 1]
        state[terms[at], 1] = target + 1
        found_rows[target], frequencies[target] = rows[at], times[at]
    for one in range(found):
        state[distinct[one], 0], state[distinct[one], 1] = -1, 0
    return found, postings


@_jit
def block_maxima(
    begins: NDArray[np.int64],
    blocks: NDArray[np.int64],
    size: int,
    rows: NDArray[np.int32],
    frequencies: NDArray[np.uint8],
    saturation: NDArray[np.float64],
    best: NDArray[np.float32],
) -> None:
    """Fill in the largest tf / (tf + K) of each block of `size` postings, rounded to the nearest float."""
    for term in range(len(begins) - 1):
        for block in range(blocks[term + 1] - blocks[term]):
            low = begins[term] + block * size
            largest = 0.0
            for at in range(low, min(low + size, begins[term + 1])):
                tf = np.float64(frequencies[at])
                share = tf / (tf + saturation[rows[at]]) if frequencies[at] < 255 else 1.0
                largest = max(largest, share)
            best[blocks[term] + block] = np.float32(largest)
