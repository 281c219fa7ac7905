"""Files of an old index and of a small new one become those of one index: what a build of all rows would write.

The new rows are indexed alone, by the writers of a build. Nothing of the old rows that stay is read as text: their
numbers are renumbered, and the new ones are put among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.index.arrays import Array, Folder, Rows, Strings, StringWriter, inserted, save
from orienteer.index.bm25 import K1, B, saturation
from orienteer.index.names import save_phrases, save_spelling, spelled
from orienteer.index.postings import begins_of, save_blocks
from orienteer.text.tokenizer import Tokenizer

_TERM_SHIFT = np.uint64(32)  # of a term's number in a key that sorts postings; a row is below it


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the rows of an old index, and those that come, stand in the new one."""

    old: NDArray[np.int32]
    """(old rows,): the new row of each, -1 for a row that goes; those that stay keep their order."""
    new: Rows
    """(rows that come,): the new row of each, ascending."""

    @property
    def stays(self) -> NDArray[np.bool_]:
        """Mark the old rows that stay: (old rows,)."""
        return self.old >= 0

    @property
    def kept(self) -> int:
        """Count the old rows that stay."""
        return int(np.count_nonzero(self.stays))

    def __len__(self) -> int:
        """Count the rows of the new index."""
        return self.kept + len(self.new)

    def merged(self, old: Array, new: Array) -> Array:
        """Return one value a row of the new index, from one a row of the old and one a row that comes."""
        values = np.empty(len(self), np.result_type(old, new))
        values[self.old[self.stays]] = old[self.stays]
        values[self.new] = new
        return values

    @property
    def origin(self) -> NDArray[np.int64]:
        """Return where each row of the new index comes from: (rows,), an old row, or -1 - n for the n-th that comes."""
        return self.merged(np.arange(len(self.old)), -1 - np.arange(len(self.new)))


def layout_of(ids: Strings, gone: Rows, new: Sequence[bytes]) -> Layout:
    """Return the layout of sorted ids without some rows, and with new ones, which are sorted and not among those."""
    stays = np.ones(len(ids), np.bool_)
    stays[gone] = False
    before = np.fromiter((ids.place(each) for each in new), np.int64, len(new))  # old rows that come before each
    old = np.cumsum(stays) - 1 + np.searchsorted(before, np.arange(len(ids)), side="right")
    kept = np.concatenate([[0], np.cumsum(stays)])
    return Layout(np.where(stays, old, -1).astype(np.int32), (kept[before] + np.arange(len(new))).astype(np.int32))


def write_strings(
    folder: Path, name: str, old: Strings | None, origin: NDArray[np.int64], new: Sequence[bytes]
) -> None:
    """Write strings in the order of `origin`: places of old ones, or -1 - n for the n-th new one.

    Old strings that stand together are copied together, unread.
    """
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


# ------------------------------------------------------------------------------------------------------------- texts


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
    """Read postings; row r becomes row `place[r]`, and those of rows without a place are left out."""
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
    """Write the text index of the old rows that stay and of those that come; return the statistics for the manifest.

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
    save_blocks(folder, begins_of(counts), rows, frequencies, saturation(mean, lengths))
    large_at = np.concatenate(
        [stay.large_at + np.searchsorted(at, stay.large_at, side="right"), at[come.large_at] + come.large_at]
    )
    order = np.argsort(large_at)
    save(folder, "large_at", large_at[order])
    save(folder, "large", np.concatenate([stay.large, come.large])[order])
    return {"terms": len(terms), "postings": len(rows), "mean_length": mean, "k1": K1, "b": B}


# ------------------------------------------------------------------------------------------------------------- names


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
    """Write the name index of the old rows that stay and of those that come.

    `gone` are the names, aliases and identifiers of rows that go; `stay` returns those of the old rows that stay, in
    parts. They are read only if a word of a name that goes is in none that comes.
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
