"""What the columns of a table hold, counted in a first reading: values, what says nothing, numbers, lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from orienteer.ingest.formats.table import EDGE_ROWS, NODE_ROWS
from orienteer.ingest.tables.cells import holds
from orienteer.ingest.tables.plan import Table
from orienteer.ingest.tables.values import identifier, is_prose, items, numeric
from orienteer.text.units import measured

NULL_WORDS = ("n/a", "N/A", "NA", "-", "null", "NULL", "None", "NaN", "nan", "\\N", "#N/A", "<NA>")
"""Words that say that there is no value, in tables of text."""
MOST_VALUES = 2_000_000
"""Different values of a column that are counted: what has more is compared with nothing."""
MOST_CHARACTERS = 1 << 27
"""Characters of a column's different values that are counted."""
FEWEST_MEASURED = 2
"""Different values that show that a column holds numbers with their unit."""
SAME_FORM = 0.8
"""Share of a column's other values that have the form of `NA` or `-` where these are values themselves."""
FEWEST_LISTS = 0.6
"""Share of cells in brackets that make a column one of lists."""


@dataclass(eq=False)
class ColumnProfile:
    """The cells of a column. `counts` holds how often each text is there, without what says nothing."""

    name: str
    rows: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    is_whole: bool = True
    """All cells were counted; else the column is too long, or its texts are."""
    null_words: dict[str, int] = field(default_factory=dict)
    kept_words: dict[str, int] = field(default_factory=dict)
    """Null words that are values here: `NA` among codes of countries, `-` beside `+`."""
    has_lists: bool = False
    """Some cells are lists of the file's format."""
    characters: int = 0

    @cached_property
    def filled(self) -> int:
        """Count the cells that say something."""
        return self.counts.total()

    @cached_property
    def is_key(self) -> bool:
        """Return whether every row has a value of its own."""
        return self.is_whole and 0 < self.rows == self.filled == len(self.counts) and not self.has_lists

    @cached_property
    def is_numeric(self) -> bool:
        """Return whether all values are numbers."""
        return self.is_whole and bool(self.counts) and all(numeric(value) is not None for value in self.counts)

    @cached_property
    def unit(self) -> str | None:
        """Return the unit with which all values are written, several of them at least: `kg` of `5400 kg`."""
        if not self.is_whole or len(self.counts) < FEWEST_MEASURED or self.has_lists:
            return None
        units = {written[1] if (written := measured(value)) is not None else None for value in self.counts}
        return units.pop() if len(units) == 1 else None

    @cached_property
    def has_words(self) -> bool:
        """Return whether most values begin with a letter: numbers, dates and paths do not."""
        return 2 * sum(1 for value in self.counts if value[:1].isalpha()) > len(self.counts)

    @cached_property
    def is_prose(self) -> bool:
        """Return whether the values are texts to read."""
        if not self.is_whole:
            return True
        return 3 * sum(map(is_prose, self.counts)) > len(self.counts)

    @cached_property
    def has_texts(self) -> bool:
        """Return whether the values are texts, not lists or objects."""
        return not self.has_lists and not any(value[:1] in "[{" for value in self.counts)

    @cached_property
    def separators(self) -> tuple[str, ...]:
        """Return what may part the values of a cell."""
        bracketed = sum(1 for value in self.counts if value[:1] == "[" and value[-1:] == "]")
        if self.has_lists or (bracketed and bracketed >= FEWEST_LISTS * len(self.counts)):
            return ("json",)
        return tuple(mark for mark in ("|", ";", ",") if any(mark in value for value in self.counts))


def profiles_of(table: Table, names: Collection[str] | None = None) -> dict[str, ColumnProfile]:
    """Read a table once, and return the profiles of its columns, or of some of them."""
    chosen = [name for name in table.columns if names is None or name in names]
    profiles = {name: ColumnProfile(name) for name in chosen}
    for batch in table.batches(rows=NODE_ROWS, drop=lambda reason, line, value: None):
        for name, profile in profiles.items():
            profile.rows += len(batch)
            if profile.is_whole:
                _count(profile, batch.columns.get(name, ()))
    if table.format.is_text:
        for profile in profiles.values():
            _take_nulls(profile)
    return profiles


def columns_with_nulls(table: Table, names: Collection[str]) -> set[str]:
    """Return those of some columns of a table of text that have a null word: faster than a profile of each."""
    columns = set[str]()
    for batch in table.batches(rows=EDGE_ROWS, drop=lambda reason, line, value: None):
        columns.update(name for name in names if name not in columns and holds(batch.columns[name], NULL_WORDS))
    return columns


def _count(profile: ColumnProfile, values: Sequence[Any]) -> None:
    texts: list[str] = []
    for value in values:
        if isinstance(value, list | tuple | dict):
            profile.has_lists = True
            texts += items(list(value)) if not isinstance(value, dict) else []
        else:
            texts.append(identifier(value).strip())
    before = len(profile.counts)
    profile.counts.update(texts)
    del profile.counts[""]
    if len(profile.counts) > before:
        profile.characters += sum(map(len, texts))
    if len(profile.counts) > MOST_VALUES or profile.characters > MOST_CHARACTERS:
        profile.is_whole = False
        profile.counts.clear()


def _take_nulls(profile: ColumnProfile) -> None:
    """Move the words that say nothing out of the counts. `NA` and `-` stay where the other values look like them."""
    words = {word: profile.counts.pop(word) for word in NULL_WORDS if word in profile.counts}
    for word, count in words.items():
        similar = sum(1 for value in profile.counts if _form(value) == _form(word))
        if word in ("NA", "-") and similar and similar >= SAME_FORM * len(profile.counts):
            profile.kept_words[word] = count
        else:
            profile.null_words[word] = count
    profile.counts.update(profile.kept_words)


def _form(value: str) -> str:
    """Return the form of a code: two capital letters, one sign; empty for all others."""
    if len(value) == 2 and value.isascii() and value.isalpha() and value.isupper():
        return "AA"
    return "+" if len(value) == 1 and not value.isalnum() else ""


def cleaned(table: Table, profiles: Mapping[str, ColumnProfile], notes: list[str]) -> Table:
    """Return the table with the null words of these columns as empty cells, and note them."""
    words = {name: frozenset(profile.null_words) for name, profile in profiles.items() if profile.null_words}
    if nulls := _told({name: profile.null_words for name, profile in profiles.items()}):
        notes.append(f"{table.file}: read as empty: {nulls}")
    if values := _told({name: profile.kept_words for name, profile in profiles.items()}):
        notes.append(f"{table.file}: read as values, for the others there look alike: {values}")
    return replace(table, null_words=words) if words else table


def _told(words: Mapping[str, Mapping[str, int]]) -> str:
    return ", ".join(
        f"{column} {', '.join(f'{count:,} {word}' for word, count in counts.items())}"
        for column, counts in words.items()
        if counts
    )
