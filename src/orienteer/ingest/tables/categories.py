"""Columns whose values are a kind of thing: few words that repeat, of which nodes can be made."""

from __future__ import annotations

from orienteer.ingest.tables.profile import ColumnProfile
from orienteer.ingest.tables.type_names import singular, words_of
from orienteer.ingest.tables.values import parts_of

REPEATS = 2
"""Rows a value, on average, that make the values of a column a kind of thing."""
MOST_KINDS = 1000
"""Different values of such a column."""
TRUTHS = frozenset({"yes", "no", "y", "n", "true", "false", "t", "f", "ja", "nein", "m", "male", "female"})
"""Values of columns that say yes or no, or sort all things into two halves: no kind of thing."""


def kind_of(column: str) -> str:
    """Return the type of the nodes that are made of a column's values: `type` of both `Type 1` and `Type 2`."""
    words = words_of(column)
    while len(words) > 1 and words[-1].isdigit():
        words = words[:-1]
    return singular("_".join(words))


def kind_separator(profile: ColumnProfile, *, fewest: int = REPEATS) -> str | None:
    """Return what parts the values of a column that are a kind of thing, empty for nothing; None for a property.

    A kind of thing: words that repeat, not numbers, dates, signs or answers of yes and no.
    """
    is_too_many = len(profile.counts) > MOST_KINDS and not profile.separators
    if not profile.is_whole or is_too_many or profile.is_numeric or profile.is_prose or not profile.counts:
        return None
    separator = next((mark for mark in profile.separators if mark in ("json", "|", ";")), profile.list_separator)
    values: dict[str, int] = {}
    for cell, count in profile.counts.items():
        for part in parts_of(cell, separator):
            values[part] = values.get(part, 0) + count
    worded = [value for value in values if len(value) > 1 and not value[:1].isdigit() and "://" not in value]
    is_kind = (
        2 <= len(values) <= MOST_KINDS
        and fewest * len(values) <= sum(values.values())
        and len(worded) == len(values)
        and not {value.casefold() for value in values} <= TRUTHS
    )
    return separator if is_kind else None
