"""What the rows of a table say, as numbers that can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.edges import CodedColumn
from orienteer.index.arrays import Strings
from orienteer.index.words import string_hashes, word_hash
from orienteer.ingest.formats.table import Batch

_PRIME = np.uint64(0xD6E8FEB86659FD93)  # degski's multiplier, as in `index.words`


def row_hashes(batch: Batch) -> NDArray[np.uint64]:
    """Return a hash of each row's cells with the names of their columns: (rows,).

    Texts count by their bytes, other values by their type and how Python writes them; a cell without a value counts
    as little as a column that is not there. The same rows have the same hashes, whichever reader they come from.
    """
    total = np.zeros(len(batch), np.uint64)
    for name, cells in batch.columns.items():
        hashes = _cell_hashes(cells)
        value = hashes ^ np.uint64(word_hash(name.encode(errors="surrogatepass")))
        for _ in range(2):
            value = (value ^ value >> np.uint64(31)) * _PRIME
        value ^= value >> np.uint64(30)
        value[hashes == 0] = 0
        total += value
    return total


def _cell_hashes(cells: Sequence[Any]) -> NDArray[np.uint64]:  # Any: whatever a file format can hold
    """Return the hash of each cell, (cells,); 0 for one without a value."""
    if isinstance(cells, CodedColumn):
        return np.asarray(_cell_hashes(cells.values)[cells.codes])
    if isinstance(cells, Strings):
        return string_hashes(cells)
    hashes = string_hashes(Strings.of(map(_written, cells)))
    hashes[[cell is None for cell in cells]] = 0
    return hashes


def _written(cell: Any) -> str:  # Any: whatever a file format can hold
    """Return a cell as a text that no other value has."""
    return cell if isinstance(cell, str) else f"\0{type(cell).__name__} {cell!r}"
