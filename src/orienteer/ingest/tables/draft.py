"""A table before it is mapped: the profiles of its columns, and the decisions so far."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from orienteer.display import counted
from orienteer.ingest.tables.cells import texts_of
from orienteer.ingest.tables.mapping import FileMapping
from orienteer.ingest.tables.plan import JOIN, Table
from orienteer.ingest.tables.profile import ColumnProfile
from orienteer.ingest.tables.type_names import header_words, is_key, node_type_of, says, words_of

HARDLY_TWICE = 0.97
"""Share of a column's values that differ, from which on the others are faults of a key."""
MOSTLY_DIFFERENT = 0.5
"""The same of a column that is called one of names: two rows may have one name, which then names neither."""
FEWEST_FILLED, MOSTLY_FILLED = 0.2, 0.5
"""Share of rows with a value in a column by which rows can be called, and in one that may have a value twice."""
SURE = 8.0
"""Bits of surprise by which a column leads to a table though its name does not."""
BEYOND_DOUBT = 4 * SURE
"""Bits by which a column leads to another key than ids or names, and of which nobody is asked."""


class TableKey(NamedTuple):
    """A column by whose values the rows of a table can be named."""

    table: str
    """The table's type."""
    column: str
    values: Set[str]
    rank: int
    """0 for ids, 1 for names, 2 for other columns of different values."""


@dataclass(frozen=True, slots=True)
class Link:
    """A column whose values are values of a key: of another table, or of its own."""

    column: str
    to: str
    """The type of the table that the key is of."""
    key: str
    share: float
    """Of the column's different values."""
    bits: float
    """How surprising it would be by chance."""
    named: float
    """How well the column's name leads there, from 0 to 1."""
    separator: str = ""
    missing: tuple[str, ...] = ()
    """The first values that are not there."""
    absent: int = 0
    """The number of different values that are not there."""
    different: int = 0
    """The number of different values."""
    is_key_name: bool = False
    """The key is the column of the rows' names."""

    @property
    def reason(self) -> str:
        """Say how it was found."""
        missing = f" (not: {', '.join(self.missing)})" if self.missing else ""
        share = "100%" if self.share == 1 else f"{math.floor(self.share * 100)}%"
        what = "names" if self.is_key_name else "keys"
        return f"{self.column}: {share} of its values are {what} of {self.to} rows{missing}"

    @property
    def question(self) -> str:
        """Return the open question about the link, or an empty text if its values prove it."""
        if self.missing:
            first, are = ", ".join(self.missing), "is" if self.absent == 1 else "are"
            share = f"{self.absent:,} of {counted(self.different, 'different value')}"
            return f"{self.column}: {share} {are} not the {self.key} of any {self.to} ({first}); no edge there"
        if self.named == 1 or self.bits >= BEYOND_DOUBT:
            return ""
        why = "by its name" if self.named else "by these"
        return f"{self.column}: few values; taken to lead to {self.to}.{self.key} {why}"


@dataclass(eq=False)
class Draft:
    """A table, the profiles of its columns, and the decisions so far."""

    table: Table
    name: str
    """The name of the file, or of the table in a database, without folder and suffix."""
    profiles: Mapping[str, ColumnProfile]
    given: Mapping[str, str] = field(default_factory=dict)
    """Plain roles by column, as a person gave them."""
    called: str = ""
    """The type of its rows, as a person gave it."""
    private: Collection[str] = ()
    why: str = ""
    """Why its columns have the roles that are given."""
    stated: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Columns that are sure to lead to rows of another table: its file, and its key."""
    is_declared: bool = False
    """The table is of a database that declares its foreign keys."""
    told_apart: str = ""
    """Its type where another table would have the same one."""
    kept: FileMapping | None = None
    """How a graph's plan reads it, which stays."""
    joined: dict[str, ColumnProfile] = field(default_factory=dict)
    """What is made of several columns: `row+seat`."""
    id_name: str | None = None
    names: tuple[str, ...] = ()
    links: dict[str, Link] = field(default_factory=dict)
    guesses: list[str] = field(default_factory=list)
    """What was told by the values: everything that a person may want to settle."""
    questions: list[str] = field(default_factory=list)
    """What neither values nor names settle, each with the answer that was taken."""

    @property
    def file(self) -> str:
        """Return what messages and mappings call the table."""
        return self.table.file

    @property
    def type(self) -> str:
        """Return the type of its rows."""
        return self.called or self.told_apart or node_type_of(self.name)

    @cached_property
    def rows(self) -> int:
        """Count its rows."""
        return max((profile.rows for profile in self.profiles.values()), default=0)

    @cached_property
    def open(self) -> dict[str, ColumnProfile]:
        """Return the profiles of the columns that are not private."""
        return {name: profile for name, profile in self.profiles.items() if name not in self.private}

    @cached_property
    def index(self) -> str | None:
        """Return the first column if it is the nameless index of a data frame, next to a key."""
        first, *others = self.open.items() if self.open else [("", ColumnProfile(""))]
        is_index = first[0] == "column_1" and first[1].is_counter
        return first[0] if is_index and any(is_key(name) and profile.is_key for name, profile in others) else None

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """Return the columns of first and last names; empty if one of them is missing."""
        worded = [name for name, column in self.open.items() if column.kind in ("name", "code")]
        first = next((name for name in worded if _says(name, header_words("first_names"))), None)
        others = [name for name in worded if name != first]
        last = next((name for name in others if _says(name, header_words("last_names"))), None)
        if first and not last:  # `Name` next to `Vorname`: most are single words
            named = ((name, self.open[name].counts) for name in others if _says(name, ()))
            last = next((name for name, own in named if 2 * sum(" " in value for value in own) < len(own)), None)
        return (first, last) if first and last else ()

    @cached_property
    def unique(self) -> dict[str, ColumnProfile]:
        """Return the columns that rows may be called by: hardly a value is there twice, or they are called names."""
        fit = {}
        for name, profile in (self.open | self.joined).items():
            is_mostly_filled = profile.filled > MOSTLY_FILLED * self.rows
            is_named = profile.kind == "name" and says(name, "names")
            share = MOSTLY_DIFFERENT if is_named else HARDLY_TWICE if is_mostly_filled else 1
            is_filled = profile.filled > FEWEST_FILLED * self.rows
            if name in (self.index, *self.parts) or not is_filled or len(profile.counts) < share * profile.filled:
                continue
            if profile.kind in ("code", "name") or (profile.whole_numbers is not None and is_mostly_filled):
                fit[name] = profile
        return fit

    @property
    def keys(self) -> list[TableKey]:
        """Return the columns by which other tables can name its rows, ids first."""
        found = []
        named = {name: (self.open | self.joined)[name] for name in (self.id_name, *self.names) if name}
        for name, profile in (self.unique | named).items():
            rank = 0 if name == self.id_name else 1 if self.names == (name,) else 2
            if rank < 2 or profile.whole_numbers is None:
                values: Set[str] = profile.counts.keys()
                if rank == 1:  # a name of two rows names neither
                    values = {value for value, count in profile.counts.items() if count == 1}
                found.append(TableKey(self.type, name, values, rank))
        places = [*self.profiles, *self.joined]
        return sorted(found, key=lambda key: (key.rank, places.index(key.column)))

    def having(self, role: str) -> str | None:
        """Return the column that a person gave this role."""
        return next((column for column, plain in self.given.items() if plain == role), None)

    def join(self, *names: str) -> None:
        """Profile a column made of several, unless one is private, or its name is taken."""
        profile = ColumnProfile(JOIN.join(names))
        if not set(names) <= self.open.keys() or JOIN in "".join(names) or profile.name in self.profiles:
            return
        for cells in self.cell_columns(*names):
            profile.rows += len(cells[0])
            profile.counts.update(" ".join(row) for row in zip(*cells, strict=True) if all(row))
        self.joined[profile.name] = profile
        self.__dict__.pop("unique", None)

    def cells(self, *names: str) -> Iterator[tuple[str, ...]]:
        """Read the table again, and give the cells of some columns row by row, as `cell_columns` does."""
        for columns in self.cell_columns(*names):
            yield from zip(*columns, strict=True)

    def cell_columns(self, *names: str) -> Iterator[list[list[str]]]:
        """Read the table again, and give some columns, a batch at a time, stripped; empty for null words."""
        nulls = [self.profiles[name].null_words if name in self.profiles else {} for name in names]
        for batch in self.table.joining(names).batches():
            columns = (texts_of(batch.columns.get(name, ("",) * len(batch))) for name in names)
            yield [
                ["" if text in words else text for text in map(str.strip, column)]
                for column, words in zip(columns, nulls, strict=True)
            ]


def _says(name: str, words: Collection[str]) -> bool:
    """Return whether a column's name is one of some words, alone or with the word for names: `first_name`."""
    own = words_of(name)
    return (not words or any(word in words for word in own)) and all(
        word in words or word in header_words("names") for word in own
    )
