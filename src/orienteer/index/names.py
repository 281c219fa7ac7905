"""Names to nodes: exact phrases, stemmed phrases, and the words of names for spelling corrections.

Files (one entry for each name, alias and identifier; sorted by the key):
    exact.u8, exact_row.i4, exact_kind.u1    keyed by the phrase's folded words
    stem.u8, stem_row.i4, stem_kind.u1       keyed by their stems
    spelling.utf8, spelling.at.i8            the distinct words of names, for typing errors, sorted
    spelling_sketch.u8                       the pairs of letters of a word, as bits
"""

from __future__ import annotations

import re
import threading
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.index import words
from orienteer.index.arrays import Folder, StringWriter, begins_of, encode, save
from orienteer.patience import check_patience
from orienteer.text.tokenizer import Tokenizer

SHORTEST_SPELLED = 5  # letters; shorter words have too many neighbours to guess among
_SHORTEST_PART = 2  # letters; a single one is seldom a word of a name
_LONGEST_PARTED = 24  # letters of a word that may be two: each way to split it is a look-up
_MOST_PIECES = 5  # runs of letters or digits that are joined in all ways: 16
_LETTERS_OR_DIGITS = re.compile(r"[0-9]+|[^0-9]+")
_BATCH = 50_000  # names indexed at once: bounds the memory
ALIKE = 0.85  # least ratio (difflib's) of a mistyped word: a letter may be missing of five, or wrong of seven


_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_INITIALS = re.compile(r"\b(?:[^\W\d_]\.){2,}")
_FOLDED = re.compile(r"[^\x00-\x7f]|['.]")
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i"})


def folded(text: str) -> str:
    """Return a text as people type it: in lower case, without accents and apostrophes, and initials without dots.

    Umlauts lose their dots; other scripts stay as they are.
    """
    return _INITIALS.sub(lambda letters: letters[0].replace(".", ""), _APOSTROPHE.sub("", _unaccented(text)))


def _unaccented(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.casefold()).translate(_LETTERS)
    letters = "".join(letter for letter in letters if not unicodedata.combining(letter) or ord(letter) > 0x36F)
    return unicodedata.normalize("NFC", letters)


def _other_spellings(name: str) -> set[str]:
    """Return how people type a name, too: without accents, and without these and its apostrophes."""
    return {_unaccented(name), folded(name)} - {name.casefold()} if _FOLDED.search(name) else set()


class NameKind(IntEnum):
    """The role of a phrase for its node, best first."""

    NAME = 0
    IDENTIFIER = 1
    ALIAS = 2
    TURNED = 3
    """A name with one comma, inverted: `Pain, Intractable` as `intractable pain`."""
    FOLDED = 4
    """A name without its accents and apostrophes: `José O'Neil` as `jose oneil`."""


class Link(NamedTuple):
    """A node that a phrase names."""

    row: int
    kind: NameKind
    is_exact: bool
    """The words are equal; else only their stems are."""


class NamesWriter:
    """Collects names and writes their index. Several threads may add names at the same time."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._columns: list[tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int32], NDArray[np.uint8]]] = []
        self._rows, self._kinds, self._texts = array("i"), bytearray(), list[str]()  # of names that wait
        self._vocabulary = words.WordNumbers()
        self._stems = np.zeros(1 << 10, np.uint64)
        self._spelling: list[str] = []
        self._lock = threading.Lock()

    def add(self, rows: Sequence[int], kind: NameKind, texts: Sequence[str]) -> None:
        """Add names of one kind, in any order; `rows[i]` is the node of `texts[i]`."""
        with self._lock:
            self._rows.extend(rows)
            self._kinds += bytes([kind]) * len(rows)
            self._texts += texts
            if len(self._texts) >= _BATCH:
                self._index()
        turned = [at for at, text in enumerate(texts) if text.count(", ") == 1] if kind is NameKind.NAME else []
        if turned:
            pairs = [texts[at].split(", ") for at in turned]
            self.add([rows[at] for at in turned], NameKind.TURNED, [f"{first} {last}" for last, first in pairs])
        if kind in (NameKind.NAME, NameKind.ALIAS):
            new = [(row, other) for row, text in zip(rows, texts, strict=True) for other in _other_spellings(text)]
            if new:
                self.add([row for row, _ in new], NameKind.FOLDED, [text for _, text in new])

    def _index(self) -> None:
        """Index the names that were added since the last batch."""
        rows, kinds, texts = np.array(self._rows, np.int32), np.frombuffer(bytes(self._kinds), np.uint8), self._texts
        self._rows, self._kinds, self._texts = array("i"), bytearray(), []
        text_words = words.split(texts, self._tokenizer)
        numbers, new = self._vocabulary.number(text_words.hashes)
        stems = text_words.hashes[new]
        written = np.flatnonzero(~np.logical_and(*text_words.digits(new)))  # all but numbers
        fresh = text_words.at(new[written])
        stems[written] = words.hashes_of(self._tokenizer.stems_of(fresh))
        while len(self._vocabulary) > len(self._stems):
            self._stems = np.concatenate([self._stems, np.zeros_like(self._stems)])
        self._stems[len(self._vocabulary) - len(new) : len(self._vocabulary)] = stems
        self._spelling += filter(_is_spelled, fresh)
        exact, stemmed = text_words.phrases, words.phrases(self._stems[numbers], text_words.firsts)
        for at in np.flatnonzero(np.diff(text_words.firsts) == 0).tolist():
            exact[at] = stemmed[at] = _wordless(texts[at])
        self._columns.append((exact, stemmed, rows, kinds))

    def finish(self, folder: Path, place: NDArray[np.int32] | None = None) -> None:
        """Write all files; with `place`, (nodes,), row r becomes row `place[r]`."""
        self._index()
        # No more names come, and of a large graph these are hundreds of megabytes.
        del self._vocabulary, self._stems
        columns = [list(column) for column in zip(*self._columns, strict=True)]
        self._columns = []
        rows, kinds = np.concatenate(columns[2]), np.concatenate(columns[3])
        if place is not None:
            rows = place[rows]
        for name, keys in (("exact", columns[0]), ("stem", columns[1])):
            joined = np.concatenate(keys)
            keys.clear()
            save_phrases(folder, name, joined, rows, kinds)
            del joined
        save_spelling(folder, sorted(set(self._spelling)))


def save_phrases(
    folder: Path, name: str, keys: NDArray[np.uint64], rows: NDArray[np.int32], kinds: NDArray[np.uint8]
) -> None:
    """Write a table of phrases, sorted by key, row and kind: three arrays of the shape (phrases,), in any order."""
    order = np.argsort(keys)
    ordered = keys[order]
    # Few names have the same key: only these are sorted by row and kind.
    same = np.zeros(len(order) + 1, np.bool_)
    same[1:-1] = ordered[1:] == ordered[:-1]
    tied = np.flatnonzero(same[1:] | same[:-1])
    at = order[tied]
    order[tied] = at[np.lexsort((kinds[at], rows[at], ordered[tied]))]
    save(folder, name, ordered)
    save(folder, f"{name}_row", rows[order])
    save(folder, f"{name}_kind", kinds[order])


def save_spelling(folder: Path, spelling: Sequence[str]) -> None:
    """Write the words of names for spelling corrections, sorted and distinct."""
    encoded = [word.encode() for word in spelling]
    with StringWriter(folder, "spelling") as writer:
        writer.extend(encoded)
    save(folder, "spelling_sketch", _sketches(encoded))


def spelled(tokenizer: Tokenizer, texts: Iterable[str]) -> set[str]:
    """Return the words of some names for spelling corrections."""
    names = list(texts)
    text_words = words.split([*names, *(other for name in names for other in _other_spellings(name))], tokenizer)
    _, new = words.WordNumbers().number(text_words.hashes)
    written = np.flatnonzero(~np.logical_and(*text_words.digits(new)))
    return set(filter(_is_spelled, text_words.at(new[written])))


def _is_spelled(word: str) -> bool:
    return len(word) >= SHORTEST_SPELLED - 1 and word.isalpha()


class NameIndex:
    """Finds the nodes that a phrase names."""

    def __init__(self, folder: Folder, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._tables = {
            name: (folder.array(name, "u8"), folder.array(f"{name}_row", "i4"), folder.array(f"{name}_kind", "u1"))
            for name in ("exact", "stem")
        }
        self._spelling = folder.strings("spelling")
        self._sketches = folder.array("spelling_sketch", "u8")
        sizes = [{len(column) for column in table} for table in self._tables.values()]
        if any(len(lengths) > 1 for lengths in sizes) or len(self._spelling) != len(self._sketches):
            raise ValueError("the columns of the names are not of one length")

    def called(self, text: str) -> list[Link]:
        """Return the nodes with exactly this name, alias or identifier; case and punctuation do not count."""
        phrase = self._tokenizer.words(text)
        if not phrase:  # a name such as `+` or a picture
            return [Link(row, kind, True) for row, kind in self._rows("exact", _wordless(text))]
        return self.exact_links(phrase)

    def links(self, phrase: Sequence[str]) -> list[Link]:
        """Return the nodes whose name, alias or identifier is exactly these folded words; without any, their stems."""
        stems = self.stem_links(phrase)  # first, for most phrases are not names: whoever has the words has their stems
        return (stems and self.exact_links(phrase)) or stems

    def exact_links(self, phrase: Sequence[str]) -> list[Link]:
        """Return the nodes whose name, alias or identifier is exactly these folded words."""
        return [Link(row, kind, True) for row, kind in self._look_up("exact", phrase)]

    def stem_links(self, phrase: Sequence[str]) -> list[Link]:
        """Return the nodes with a name of the same stems as these words."""
        return [Link(row, kind, False) for row, kind in self._look_up("stem", phrase)]

    def runs(self, parts: Sequence[Sequence[str]], firsts: Iterable[int], longest: int) -> set[tuple[int, int]]:
        """Return the runs of parts with the stems of a name, alias or identifier: the first part, and where it ends.

        Only these can have its words. A part has any number of folded words. Runs begin at `firsts` and have at most
        `longest` parts.
        """
        begins, ends, keys = list[int](), list[int](), array("Q")
        ways, stem = [parts], self._tokenizer.stem
        if not all(word.isascii() for part in parts for word in part):
            ways.append([self._tokenizer.words(folded(" ".join(part))) for part in parts])
        hashes = [[[words.word_hash(stem(word).encode()) for word in part] for part in way] for way in ways]
        for first in firsts:
            check_patience()
            last = min(first + longest, len(parts))
            for way in hashes:
                begins += [first] * (last - first)
                ends += range(first + 1, last + 1)
                keys.extend(words.run_hashes(way[first:last]))
        table, wanted = self._tables["stem"][0], np.frombuffer(keys, np.uint64)
        if not len(table):
            return set()
        found = (table.take(table.searchsorted(wanted), mode="clip") == wanted).nonzero()[0]
        return {(begins[at], ends[at]) for at in found.tolist()}

    def parted_links(self, phrase: Sequence[str]) -> list[Link]:
        """Return the nodes with a name of the same letters and digits, in the same order, but split differently.

        For example `PRSS1` for the folded words `prss 1`, `COVID-19` for `covid19`, `JAK-STAT` for `jakstat`. Words are
        joined and split between letters and digits; a single word of letters is split anywhere. An overlong phrase
        gives no nodes.
        """
        pieces = [piece for word in phrase for piece in _LETTERS_OR_DIGITS.findall(word)]
        if len(pieces) == 1 and len(pieces[0]) <= _LONGEST_PARTED:
            word = pieces[0]
            ways = [[word[:at], word[at:]] for at in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1)]
        elif 1 < len(pieces) <= _MOST_PIECES:
            ways = [_joined(pieces, ends) for ends in range(1 << len(pieces) - 1)]
        else:
            return []
        links: dict[int, Link] = {}
        for way in ways:
            if way != list(phrase):
                for link in self.exact_links(way):
                    links.setdefault(link.row, link)
        return list(links.values())

    def _look_up(self, table: str, phrase: Sequence[str]) -> list[tuple[int, NameKind]]:
        def found(phrase: Sequence[str]) -> list[tuple[int, NameKind]]:
            keys = map(self._tokenizer.stem, phrase) if table == "stem" else phrase
            return self._rows(table, words.phrase_hash([words.word_hash(key.encode()) for key in keys]))

        # A name may be stored without the accents that it is asked for with.
        return found(phrase) or (
            [] if all(map(str.isascii, phrase)) else found(self._tokenizer.words(folded(" ".join(phrase))))
        )

    def _rows(self, table: str, key: int) -> list[tuple[int, NameKind]]:
        keys, rows, kinds = self._tables[table]
        wanted = np.uint64(key)
        low = int(keys.searchsorted(wanted))
        if low == len(keys) or keys[low] != wanted:  # most phrases are not names
            return []
        high = int(keys.searchsorted(wanted, side="right"))
        best: dict[int, NameKind] = {}
        for at in range(low, high):
            best.setdefault(int(rows[at]), NameKind(int(kinds[at])))  # kinds ascend within a row
        return list(best.items())

    def has_word(self, word: str) -> bool:
        """Return whether a word of four letters or more is one of a name, as it is written or folded."""
        at = bisect_left(self._spelling, word)
        return at < len(self._spelling) and self._spelling[at] == word

    def spellings(
        self, word: str, *, most: int = 5, shortest: int = SHORTEST_SPELLED, alike: float = ALIKE
    ) -> list[str]:
        """Return up to `most` corrections of a mistyped word, likeliest first.

        A word of fewer letters than `shortest` has none; `alike` is the least likeness, difflib's ratio.
        """
        check_patience()
        if len(word) < shortest:
            return []
        sketch = _sketches([word.encode()])[0]
        # One typing error touches two or three pairs of letters on either side.
        apart = np.bitwise_count(self._sketches ^ sketch)
        scored = []
        for at in np.flatnonzero(apart <= 6):
            other = self._spelling[int(at)]
            # A word of a million letters may have the pairs of a short one: comparing their lengths is cheap.
            if 2 * min(len(word), len(other)) < alike * (len(word) + len(other)):
                continue
            ratio = SequenceMatcher(None, word, other, autojunk=False).ratio()
            if ratio >= alike:
                scored.append((-ratio, other))
        return [other for _, other in sorted(scored)[:most]]


def _joined(pieces: Sequence[str], ends: int) -> list[str]:
    """Join pieces to words: a word ends after piece i if bit i of `ends` is set, and the last word at the end."""
    joined = [pieces[0]]
    for at, piece in enumerate(pieces[1:]):
        if ends >> at & 1:
            joined.append(piece)
        else:
            joined[-1] += piece
    return joined


def _wordless(text: str) -> int:
    """Return the key of a name that has no words."""
    return words.word_hash(encode(text.strip().casefold()))


def _sketches(encoded: Sequence[bytes]) -> NDArray[np.uint64]:
    """Return 64 bits for each word, (words,): a bit for each pair of neighbouring bytes, its two ends included."""
    if not encoded:
        return np.zeros(0, np.uint64)
    joined = np.frombuffer(b" " + b" ".join(encoded) + b" ", np.uint8).astype(np.uint64)
    pairs = np.uint64(1) << (joined[:-1] * np.uint64(31) + joined[1:]) % np.uint64(64)
    sizes = np.fromiter(map(len, encoded), np.int64, len(encoded)) + 1
    return np.bitwise_or.reduceat(pairs, begins_of(sizes)[:-1])
