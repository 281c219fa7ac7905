"""Splits many texts into words, hashes and numbers them, in numpy: about ten million words a second.

A text is first written as its words with spaces between them (`prepare`). The rest is arithmetic over one byte buffer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.index.arrays import Strings, begins_of, decode, runs
from orienteer.text.tokenizer import Tokenizer

_MASK = (1 << 64) - 1
# 2^64 over the golden ratio, and the multiplier of degski's 64-bit mix. Every index on disk is keyed by both.
_START = 0x9E3779B97F4A7C15
_PRIME = 0xD6E8FEB86659FD93
# Letters fold to lower case, digits stay, anything else separates words: the tokenizer's rule for plain ASCII.
_FOLD = bytes(
    code if chr(code).isalnum() and code < 128 and not 65 <= code <= 90 else code + 32 if 65 <= code <= 90 else 32
    for code in range(256)
)

_FOLD_LINES = _FOLD[:128] + bytes(range(128, 255)) + b"\n"


@lru_cache(maxsize=1 << 16)
def word_hash(word: bytes) -> int:
    """Return the 64-bit hash of a word; never 0, which marks an empty slot."""
    value = _mixed((_START ^ len(word)) & _MASK, word)
    value = value * _PRIME & _MASK
    value ^= value >> 29
    return value or 1


def _mixed(value: int, word: bytes) -> int:
    """Return a hash with the blocks of eight bytes mixed in."""
    for at in range(0, len(word), 8):
        value ^= int.from_bytes(word[at : at + 8], "little")
        value = value * _PRIME & _MASK
        value ^= value >> 32
    return value


def phrase_hash(hashes: Sequence[int]) -> int:
    """Return the hash of a sequence of words from the hashes of the words."""
    return next(run_hashes([hashes]))


def run_hashes(parts: Iterable[Sequence[int]]) -> Iterator[int]:
    """Yield the hash of the first part as a sequence of words, of the first two, and so on; parts are words' hashes."""
    total = place = 0
    for part in parts:
        for value in part:
            place += 1
            total += _placed(value, place)
        yield total & _MASK


@lru_cache(maxsize=1 << 16)
def _placed(value: int, place: int) -> int:
    """Return what a word of this hash, the `place`-th of a sequence, adds to the sequence's hash."""
    value = value + place * _START & _MASK
    value = (value ^ value >> 31) * _PRIME & _MASK
    return value ^ value >> 30


_FEW = 32  # words that are hashed one by one: in numpy, a word of a megabyte would take a hundred thousand rounds
_FIRST_BYTES = np.array([(1 << 8 * count) - 1 for count in range(9)], np.uint64)


class HashedWords(NamedTuple):
    """The words of several texts, in their order, hashed."""

    buffer: NDArray[np.uint8]  # (bytes,): the folded texts
    starts: NDArray[np.int64]  # (words,): the index of each word's first byte in the buffer
    lengths: NDArray[np.int64]  # (words,): in bytes
    firsts: NDArray[np.int64]  # (texts + 1,): the index of each text's first word
    hashes: NDArray[np.uint64]  # (words,)

    def digits(self, indexes: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return two masks, (indexes,) each: the words that begin with a digit, and those that end with one."""
        first = self.buffer[self.starts[indexes]]
        last = self.buffer[self.starts[indexes] + self.lengths[indexes] - 1]
        return (first >= 48) & (first <= 57), (last >= 48) & (last <= 57)

    def at(self, indexes: NDArray[np.int64]) -> list[str]:
        """Return the words at these indexes."""
        buffer = self.buffer.tobytes() if len(indexes) > 1_000 else self.buffer
        starts = self.starts[indexes].tolist()
        ends = (self.starts[indexes] + self.lengths[indexes]).tolist()
        return [bytes(buffer[start:end]).decode() for start, end in zip(starts, ends, strict=True)]

    @property
    def texts(self) -> NDArray[np.int64]:
        """Return the number of each word's text: (words,), ascending."""
        return np.repeat(np.arange(len(self.firsts) - 1), np.diff(self.firsts))

    @property
    def phrases(self) -> NDArray[np.uint64]:
        """Return the hash of each text as a sequence of words, (texts,); see `phrase_hash`."""
        return phrases(self.hashes, self.firsts)


def phrases(hashes: NDArray[np.uint64], firsts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the hash of each sequence of words, (sequences,), 0 for an empty one.

    `hashes`, (words,), are the words'; `firsts`, (sequences + 1,), has the begin of each sequence.
    """
    place = np.arange(len(hashes), dtype=np.uint64) - np.repeat(firsts[:-1], np.diff(firsts)).astype(np.uint64)
    value = hashes + (place + np.uint64(1)) * np.uint64(_START)
    value = (value ^ value >> np.uint64(31)) * np.uint64(_PRIME)
    value ^= value >> np.uint64(30)
    running = np.zeros(len(hashes) + 1, np.uint64)
    np.cumsum(value, out=running[1:])
    return running[firsts[1:]] - running[firsts[:-1]]


def hashes_of(folded: Sequence[str]) -> NDArray[np.uint64]:
    """Return the hashes of folded words: (words,)."""
    return _split([word.encode() for word in folded]).hashes


def string_hashes(strings: Strings) -> NDArray[np.uint64]:
    """Return the hash of each string, unfolded: (strings,), equal to `word_hash`'s."""
    utf8, sizes = strings.run(0, len(strings))
    # A string's last block may be read past its end: eight more bytes make that safe.
    buffer = np.frombuffer(b"".join((utf8, bytes(8))), np.uint8)
    return hashes_in(buffer, np.cumsum(sizes) - sizes, sizes)


def prepare(text: str, tokenizer: Tokenizer) -> bytes:
    """Return the words of a text, folded, with spaces between them, as UTF-8."""
    if text.isascii():
        return text.encode().translate(_FOLD)
    return " ".join(tokenizer.words(text)).encode()


def spaced(texts: Sequence[bytes], tokenizer: Tokenizer) -> list[bytes]:
    """Return the words of several texts, given as UTF-8, folded, with spaces before and after each word."""
    folded = (text if text.isascii() else prepare(decode(text), tokenizer) for text in texts)
    # No UTF-8 has the byte 255. All texts at once: a call for each would cost more than the work.
    joined = b" %b " % b" \xff ".join(folded)
    return joined.translate(_FOLD_LINES).split(b"\n")


def split(texts: Sequence[str], tokenizer: Tokenizer) -> HashedWords:
    """Find and hash the words of several texts."""
    return _split([prepare(text, tokenizer) for text in texts])


def _split(prepared: Sequence[bytes]) -> HashedWords:
    # One space before and after every text; eight more, so that a word's last block may be read past its end.
    buffer = np.frombuffer(b" " + b" ".join(prepared) + b" " * 9, np.uint8)
    is_word = buffer != 32
    edges = np.flatnonzero(is_word[1:] != is_word[:-1])  # a word's start less one, and its end less one, in turns
    starts, lengths = edges[0::2] + 1, edges[1::2] - edges[0::2]
    begins = begins_of(np.fromiter(map(len, prepared), np.int64, len(prepared)) + 1)
    firsts = np.searchsorted(starts, begins + 1)
    firsts[-1] = len(starts)
    return HashedWords(buffer, starts, lengths, firsts, hashes_in(buffer, starts, lengths))


def hashes_in(buffer: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the hash of each word of a buffer as `word_hash` does: (words,). Eight bytes follow the last word."""
    # Eight bytes in a round, from each place on; only longer words go on to the next round.
    blocks = np.ndarray((len(buffer) - 7,), "<u8", buffer, strides=(1,))
    value = lengths.view(np.uint64) ^ np.uint64(_START)
    _mix(value, blocks[starts], lengths)
    going = np.flatnonzero(lengths > 8)
    at, left = starts[going] + 8, lengths[going] - 8
    while len(going) > _FEW:
        mixed = value[going]
        _mix(mixed, blocks[at], left)
        value[going] = mixed
        longer = np.flatnonzero(left > 8)
        going, at, left = going[longer], at[longer] + 8, left[longer] - 8
    for place, start, count in zip(going.tolist(), at.tolist(), left.tolist(), strict=True):
        value[place] = _mixed(int(value[place]), buffer[start : start + count].tobytes())
    value *= np.uint64(_PRIME)
    value ^= value >> np.uint64(29)
    value[value == 0] = 1
    return value


def _mix(value: NDArray[np.uint64], blocks: NDArray[np.uint64], left: NDArray[np.int64]) -> None:
    """Mix a block into each hash: its first `left` bytes, eight at most."""
    blocks &= _FIRST_BYTES.take(left, mode="clip")
    value ^= blocks
    value *= np.uint64(_PRIME)
    value ^= value >> np.uint64(32)


class WordNumbers:
    """Numbers words by their hash, in the order of their first appearance: an open-addressed table in numpy."""

    def __init__(self) -> None:
        self._table = np.zeros(1 << 16, np.int32)  # a word's number + 1, at its hash's slot or the next free one
        self._hashes = np.zeros(1 << 16, np.uint64)  # by number + 1; 0 for an empty slot
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """Return the hash of each word, in the order of their numbers: (words,)."""
        return self._hashes[1 : self._count + 1]

    def number(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the number of each word, (words,), and the index in the input of the first of each new word.

        The new words of one call are numbered in the order of their hashes.
        """
        numbers = self.find(hashes)
        missing = np.flatnonzero(numbers < 0)
        if not len(missing):
            return numbers, missing
        earlier = self._count
        self._add(runs(np.sort(hashes[missing]))[0])
        numbers[missing] = self.find(hashes[missing])
        new = np.empty(self._count - earlier, np.int64)
        new[numbers[missing[::-1]] - earlier] = missing[::-1]  # of several places of one word the first stays
        return numbers, new

    def find(self, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the number of each word: (words,), -1 for words that were never numbered."""
        mask = len(self._table) - 1
        slots = (hashes & np.uint64(mask)).view(np.int64)
        entries = self._table.take(slots)
        open_ = np.flatnonzero(self._hashes.take(entries) != hashes)
        while len(open_):
            open_ = open_[entries[open_] != 0]
            slots[open_] = (slots[open_] + 1) & mask
            entries[open_] = self._table[slots[open_]]
            open_ = open_[self._hashes[entries[open_]] != hashes[open_]]
        entries -= 1
        return entries

    def _add(self, hashes: NDArray[np.uint64]) -> None:
        """Number distinct new words."""
        first, self._count = self._count + 1, self._count + len(hashes)
        while self._count >= len(self._hashes):
            self._hashes = np.concatenate([self._hashes, np.zeros_like(self._hashes)])
        self._hashes[first : self._count + 1] = hashes
        if self._count * 2 > len(self._table):
            self._table = np.zeros(len(self._table) << (self._count * 2 // len(self._table)).bit_length(), np.int32)
            first = 1
        # Backwards: if several words have one slot, the last gets it. It should be the earliest, often the commonest.
        left = np.arange(self._count, first - 1, -1, dtype=np.int32)
        mask = len(self._table) - 1
        slots = (self._hashes[left] & np.uint64(mask)).view(np.int64)
        while len(left):
            free = self._table[slots] == 0
            self._table[slots[free]] = left[free]
            homeless = self._table[slots] != left
            left, slots = left[homeless], (slots[homeless] + 1) & mask
