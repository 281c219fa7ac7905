"""The properties of a revised graph: columns of values that stay, with those of nodes that come put among them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.properties import compared, encode_value, save_joined
from orienteer.index.arrays import Folder, inserted, save
from orienteer.index.revision import Layout, write_strings
from orienteer.records import Node


class _Revised(NamedTuple):
    """A property of the rows that stay and of those that come: where its values and its entries are from."""

    rows: NDArray[np.int32]
    values: NDArray[np.int64]
    """(rows,): the place of an old value among those of all properties, or -1 - n for the n-th of those that come."""
    entries: NDArray[np.int32]
    numbers: NDArray[np.float64]
    texts: NDArray[np.uint64]


class _Reviser:
    """Puts the values of nodes that come among those of rows that stay, property by property."""

    def __init__(self, old: Folder, layout: Layout, nodes: Sequence[Node]) -> None:
        self._layout, self._nodes = layout, nodes
        self._begins, self._entry_begins = (
            old.array(name, "i8").tolist() for name in ("property_at", "property_entry_at")
        )
        self._rows, self._entries = (layout.old[old.array(name, "i4")] for name in ("property_row", "property_entry"))
        self._numbers, self._texts = old.array("property_number", "f8"), old.array("property_text", "u8")
        self.coming: list[bytes] = []
        """The values of nodes that come so far, as JSON."""

    def of(self, name: str, place: int | None) -> _Revised | None:
        """Return a property, that at a place of the old ones or a new one; None if no row has it any longer."""
        having = [at for at, node in enumerate(self._nodes) if name in node.properties]
        values = [self._nodes[at].properties[name] for at in having]
        rows = self._layout.new[having]
        part, entry_part = (
            slice(0) if place is None else slice(*begins[place : place + 2])
            for begins in (self._begins, self._entry_begins)
        )
        stays = np.flatnonzero(self._rows[part] >= 0)
        if not len(stays) and not having:
            return None
        old_rows = self._rows[part][stays]
        at = np.searchsorted(old_rows, rows)
        origin = inserted(stays + (part.start or 0), at, -1 - len(self.coming) - np.arange(len(rows)))
        self.coming += map(encode_value, values)
        found = [(row, *entry) for row, value in zip(rows.tolist(), values, strict=True) for entry in compared(value)]
        new_entries, new_numbers, new_texts = (
            np.array([entry[column] for entry in found], kind)
            for column, kind in ((0, np.int32), (1, np.float64), (2, np.uint64))
        )
        entries = self._entries[entry_part]
        staying = np.flatnonzero(entries >= 0)
        at_entries = np.searchsorted(entries[staying], new_entries)
        return _Revised(
            inserted(old_rows, at, rows),
            origin,
            inserted(entries[staying], at_entries, new_entries),
            inserted(self._numbers[entry_part][staying], at_entries, new_numbers),
            inserted(self._texts[entry_part][staying], at_entries, new_texts),
        )


def revise(folder: Path, old: Folder, names: Sequence[str], layout: Layout, nodes: Sequence[Node]) -> tuple[str, ...]:
    """Write the properties of rows that stay, and of nodes that come in their order; return the names of all.

    `names` are those of the old ones. A property that no row has any longer is left out.
    """
    reviser = _Reviser(old, layout, nodes)
    places: dict[str, int | None] = {name: place for place, name in enumerate(names)}
    for node in nodes:
        for name in node.properties:
            places.setdefault(name, None)
    revised = {name: reviser.of(name, place) for name, place in places.items()}
    columns = {name: column for name, column in revised.items() if column is not None}
    values = np.concatenate([np.zeros(0, np.int64), *(column.values for column in columns.values())])
    write_strings(folder, "property_value", old.strings("property_value"), values, reviser.coming)
    save(folder, "property_at", np.cumsum([0, *(len(column.rows) for column in columns.values())], dtype=np.int64))
    ends = np.cumsum([0, *(len(column.entries) for column in columns.values())], dtype=np.int64)
    save(folder, "property_entry_at", ends)
    save_joined(folder, "property_row", np.int32, [column.rows for column in columns.values()])
    save_joined(folder, "property_entry", np.int32, [column.entries for column in columns.values()])
    save_joined(folder, "property_number", np.float64, [column.numbers for column in columns.values()])
    save_joined(folder, "property_text", np.uint64, [column.texts for column in columns.values()])
    return tuple(columns)
