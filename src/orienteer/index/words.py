"""Many texts at once become words, hashed and numbered, in numpy.

A text is first written as its words with spaces between them (`prepare`). All that follows is arithmetic over one byte
buffer: about ten million words a second without compiled code.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    total = 0
    for place, value in enumerate(hashes, 1):
        value = (value + place * _START) & _MASK
        value = (value ^ value >> 31) * _PRIME & _MASK
        total += value ^ value >> 30
    return total & _MASK


_FEW = 32  # words that are hashed one by one: in numpy, a word of a megabyte would take a hundred thousand rounds
_FIRST_BYTES = np.array([(1 << 8 * count) - 1 for count in range(9)], np.uint64)


class HashedWords(NamedTuple):
    """The words of several texts, in their order, hashed."""

    buffer: NDArray[np.uint8]  # (bytes,): the folded texts
    starts: NDArray[np.int64]  # (words,): where each word begins in the buffer
    lengths: NDArray[np.int64]  # (words,): in bytes
    firsts: NDArray[np.int64]  # (texts + 1,): where each text's words begin
    hashes: NDArray[np.uint64]  # (words,)

    def word(self, index: int) -> str:
        """Return the word at a place."""
        start = int(self.starts[index])
        return self.buffer[start : start + int(self.lengths[index])].tobytes().decode()

    def digits(self, indexes: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell whether each of several words begins with a digit, and whether it ends with one: (indexes,) each."""
        first = self.buffer[self.starts[indexes]]
        last = self.buffer[self.starts[indexes] + self.lengths[indexes] - 1]
        return (first >= 48) & (first <= 57), (last >= 48) & (last <= 57)

    def at(self, indexes: NDArray[np.int64]) -> list[str]:
        """Return the words at these places."""
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

    `hashes`, (words,), are the words'; `firsts`, (sequences + 1,), says where each sequence begins.
    """
    place = np.arange(len(hashes), dtype=np.uint64) - np.repeat(firsts[:-1], np.diff(firsts)).astype(np.uint64)
    value = hashes + (place + np.uint64(1)) * np.uint64(_START)
    value = (value ^ value >> np.uint64(31)) * np.uint64(_PRIME)
    value ^= value >> np.uint64(30)
    running = np.zeros(len(hashes) + 1, np.uint64)
    np.cumsum(value, out=running[1:])
    return running[firsts[1:]] - running[firsts[:-1]]


def hashes_of(folded: Sequence[str]) -> NDArray[np.uint64]:
    """Return the hashes of words that are folded already: (words,)."""
    return _split([word.encode() for word in folded]).hashes


def prepare(text: str, tokenizer: Tokenizer) -> bytes:
    """Return the words of a text, folded, with spaces between them, as UTF-8."""
    if text.isascii():
        return text.encode().translate(_FOLD)
    return " ".join(tokenizer.words(text)).encode()


def split(texts: Sequence[str], tokenizer: Tokenizer) -> HashedWords:
    """Find and hash the words of several texts."""
    return _split([prepare(text, tokenizer) for text in texts])


def _split(prepared: Sequence[bytes]) -> HashedWords:
    # One space before and after every text; eight more, so that a word's last block may be read past its end.
    buffer = np.frombuffer(b" " + b" ".join(prepared) + b" " * 9, np.uint8)
    is_word = buffer != 32
    edges = np.flatnonzero(is_word[1:] != is_word[:-1]) + 1
    starts, ends = edges[0::2], edges[1::2]
    begins = np.zeros(len(prepared) + 1, np.int64)
    np.cumsum([len(text) + 1 for text in prepared], out=begins[1:])
    firsts = np.searchsorted(starts, begins + 1)
    firsts[-1] = len(starts)
    return HashedWords(buffer, starts, ends - starts, firsts, _hash(buffer, starts, ends - starts))


def _hash(buffer: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Hash words as `word_hash` does, eight bytes in a round; only longer words go on to the next round."""
    prime = np.uint64(_PRIME)
    value = np.uint64(_START) ^ lengths.astype(np.uint64)
    blocks = np.ndarray((len(buffer) - 7,), "<u8", buffer, strides=(1,))  # the eight bytes from each place on
    going: NDArray[np.int64] | slice = slice(None)
    at, left = starts, lengths
    while len(at):
        if len(at) <= _FEW:
            places = np.arange(len(value))[going].tolist()
            for place, start, count in zip(places, at.tolist(), left.tolist(), strict=True):
                value[place] = _mixed(int(value[place]), buffer[start : start + count].tobytes())
            break
        mixed = (value[going] ^ (blocks[at] & _FIRST_BYTES[np.minimum(left, 8)])) * prime
        mixed ^= mixed >> np.uint64(32)
        value[going] = mixed
        longer = np.flatnonzero(left > 8)
        going = longer if isinstance(going, slice) else going[longer]
        at, left = at[longer] + 8, left[longer] - 8
    value *= prime
    value ^= value >> np.uint64(29)
    value[value == 0] = 1
    return value


class WordNumbers:
    """Numbers words by their hash, in the order of their first appearance: an open-addressed table in numpy."""

    def __init__(self) -> None:
        self._keys = np.zeros(1 << 16, np.uint64)
        self._values = np.zeros(1 << 16, np.int32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def number(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the number of each word, (words,), and the places in the input of the first of each new word."""
        numbers, missing = self._find(hashes)
        if not len(missing):
            return numbers, missing
        fresh, first, inverse = np.unique(hashes[missing], return_index=True, return_inverse=True)
        while (self._count + len(fresh)) * 2 > len(self._keys):
            self._grow()
        self._insert(fresh, np.arange(self._count, self._count + len(fresh), dtype=np.int32))
        numbers[missing] = self._count + inverse
        self._count += len(fresh)
        return numbers, missing[first]

    def find(self, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the number of each word: (words,), -1 for words that were never numbered."""
        numbers, missing = self._find(hashes)
        numbers[missing] = -1
        return numbers

    def _find(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        mask = np.uint64(len(self._keys) - 1)
        slots = (hashes & mask).astype(np.int64)
        numbers = self._values[slots]
        keys = self._keys[slots]
        misses: list[NDArray[np.int64]] = []
        open_ = np.flatnonzero(keys != hashes)
        while len(open_):
            empty = self._keys[slots[open_]] == 0
            misses.append(open_[empty])
            open_ = open_[~empty]
            slots[open_] = (slots[open_] + 1) & int(mask)
            here = self._keys[slots[open_]] == hashes[open_]
            numbers[open_[here]] = self._values[slots[open_[here]]]
            open_ = open_[~here]
        return numbers, np.sort(np.concatenate(misses)) if misses else np.zeros(0, np.int64)

    def _insert(self, keys: NDArray[np.uint64], values: NDArray[np.int32]) -> None:
        mask = len(self._keys) - 1
        slots = (keys & np.uint64(mask)).astype(np.int64)
        left = np.arange(len(keys))
        while len(left):
            free = left[self._keys[slots[left]] == 0]
            self._keys[slots[free]] = keys[free]  # of several keys for one slot the last stays
            placed = self._keys[slots[left]] == keys[left]
            self._values[slots[left[placed]]] = values[left[placed]]
            left = left[~placed]
            slots[left] = (slots[left] + 1) & mask

    def _grow(self) -> None:
        """Double the table and insert its words again."""
        used = np.flatnonzero(self._keys)
        keys, values = self._keys[used], self._values[used]
        self._keys = np.zeros(len(self._keys) * 2, np.uint64)
        self._values = np.zeros(len(self._keys), np.int32)
        self._insert(keys, values)
