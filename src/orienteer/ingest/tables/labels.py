"""Readable labels of types that are codes, from a table of codes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orienteer.ingest.tables.columns import plainly
from orienteer.ingest.tables.plan import Table
from orienteer.ingest.tables.values import identifier, items, number

MOST_ROWS = 10_000
"""A table of codes is small; a larger one is something else."""
COVERED = 0.8
"""Share of the types that a column has to hold to be their codes."""
LABEL_NAMES = ("label", "name", "title", "readable", "display_name", "metaedge", "metanode", "relation", "phrase")
"""Columns that hold labels, best first; else the first column of words."""
PHRASE = re.compile(r"^(?P<from>.+?) (?P<arrow>[-<>]) (?P<verb>.+) (?P=arrow) (?P<to>.+)$")
"""How Hetionet spells an edge type: `Compound - treats - Disease`, `Gene > regulates > Gene`."""


@dataclass(slots=True)
class Labels:
    """Labels by type, further words for types, and the types of nodes that were read, not made of others."""

    labels: dict[str, str] = field(default_factory=dict)
    also_called: dict[str, tuple[str, ...]] = field(default_factory=dict)
    text_types: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    """Types of which the sources say that they hold only some."""

    def add(self, type_name: str, label: str, words: Sequence[str] = ()) -> None:
        """Give a type a label unless it has one; a phrase gives its verb, and stays as a further word."""
        phrase = PHRASE.match(label)
        if phrase is not None:
            label, words = phrase["verb"], (label, *words)
        if label and label != type_name:
            self.labels.setdefault(type_name, label)
        further = dict.fromkeys((*self.also_called.get(type_name, ()), *words))
        aliases = tuple(word for word in further if word and word not in (type_name, self.labels.get(type_name)))
        if aliases:
            self.also_called[type_name] = aliases

    def read(self, table: Table, types: Collection[str], *, by_hand: bool = False) -> bool:
        """Take the labels of a table, and return whether one of its columns has the types' codes.

        By hand any code counts, and all further columns are further words.
        """
        columns = _columns(table)
        code = _code_column(columns, types, by_hand=by_hand) if columns and types else None
        others = [name for name in columns if code is not None and name != code]
        labels = [name for wanted in LABEL_NAMES for name in others if plainly(name) == wanted]
        labels += [n for n in others if by_hand or all(isinstance(number(value), str) for value in columns[n][1:])]
        if code is None or not labels:
            return False
        label = labels[0]
        others = [name for name in others if by_hand and name != label]
        for row, type_name in enumerate(columns[code]):
            if type_name in types:
                words = [word for name in others for word in items(columns[name][row])]
                self.add(type_name, columns[label][row], words)
        return True


def _columns(table: Table) -> Mapping[str, list[str]]:
    """Return a small table's columns as text; of a delimited file also its first row, which may be data."""
    names = table.columns
    columns: dict[str, list[str]] = {name: [name] if table.format.is_text else [] for name in names}
    for batch in table.batches():
        for name in names:
            values: Sequence[Any] = batch.columns.get(name, ("",) * len(batch))
            columns[name] += [", ".join(items(v)) if isinstance(v, list) else identifier(v) for v in values]
        if len(columns[names[0]]) > MOST_ROWS:
            return {}
    return columns


def _code_column(columns: Mapping[str, list[str]], types: Collection[str], *, by_hand: bool) -> str | None:
    """Return the column that names the types: each once, most of them, and little else."""
    best, best_share = None, 0.0
    for name, values in columns.items():
        codes = [value for value in values if value in types]
        share = len(codes) / len(types)
        is_table_of_types = share >= COVERED and len(set(codes)) == len(codes) and 2 * len(codes) >= len(values) - 1
        if share > best_share and (by_hand or is_table_of_types):
            best, best_share = name, share
    return best
