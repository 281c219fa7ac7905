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
def hash_words(
    buffer: NDArray[np.uint8],
    ends: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Find the words, parted by spaces, of texts that end at `ends`, where a space stands.

    Fills in their hashes, as `index.words.word_hash` has them, their starts and their lengths. Returns where each
    text's words begin.
    """
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
def count_terms(
    numbers: NDArray[np.int32],
    firsts: NDArray[np.int64],
    expansion: NDArray[np.int32],
    state: NDArray[np.int32],
    lengths: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Count the terms of each text, given the numbers of its words and the one to three terms of each word.

    Returns the distinct terms and how many postings each has, then the postings, one term's after another's: rows,
    ascending within a term, and frequencies. Adds the texts' terms to `lengths`. `state` has a row (-1, 0) for every
    term, and has so again afterwards.
    """
    most = len(numbers)
    for word in numbers:
        most += (expansion[1, word] >= 0) + (expansion[2, word] >= 0)
    of, row_of, frequency = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.int32)
    distinct = np.empty(most, np.int32)
    postings = found = 0
    for row in range(len(firsts) - 1):
        begin = postings
        for at in range(firsts[row], firsts[row + 1]):
            for place in range(3):
                term = expansion[place, numbers[at]]
                if term < 0:
                    break
                lengths[row] += 1
                last = state[term, 0]
                if last >= begin:  # its posting belongs to this row
                    frequency[last] += 1
                    continue
                if last < 0:
                    distinct[found] = term
                    found += 1
                state[term, 0] = postings
                state[term, 1] += 1
                of[postings], row_of[postings], frequency[postings] = term, row, 1
                postings += 1
    counts = _starts(distinct[:found], state)
    rows, frequencies = np.empty(postings, np.int32), np.empty(postings, np.int32)
    for at in range(postings):
        target = state[of[at], 1]
        state[of[at], 1] = target + 1
        rows[target], frequencies[target] = row_of[at], frequency[at]
    for term in distinct[:found]:
        state[term, 0], state[term, 1] = -1, 0
    return distinct[:found].copy(), counts, rows, frequencies


@_jit
def _starts(terms: NDArray[np.int32], state: NDArray[np.int32]) -> NDArray[np.int32]:
    """Put in place of each term's count where its postings start; return the counts."""
    counts, total = np.empty(len(terms), np.int32), 0
    for one in range(len(terms)):
        counts[one] = state[terms[one], 1]
        state[terms[one], 1] = total
        total += counts[one]
    return counts


@_jit
def place_runs(
    terms: NDArray[np.int64],
    counts: NDArray[np.int32],
    cursor: NDArray[np.int64],
    source_rows: NDArray[np.int32],
    source_frequencies: NDArray[np.uint8],
    rows: NDArray[np.int32],
    frequencies: NDArray[np.uint8],
) -> NDArray[np.int64]:
    """Copy each term's run of postings to where its cursor stands; return where those of frequency 255 went."""
    large = np.empty(np.sum(source_frequencies == np.uint8(255)), np.int64)
    found = at = 0
    for one in range(len(terms)):
        target = cursor[terms[one]]
        for _ in range(counts[one]):
            rows[target], frequencies[target] = source_rows[at], source_frequencies[at]
            if source_frequencies[at] == 255:
                large[found] = target
                found += 1
            target += 1
            at += 1
        cursor[terms[one]] = target
    return large


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
