"""Columns whose values are keys, or names, of the rows of another table: found by the values, and by the names.

Values decide, names help: numbers count from 1 in every table, so that a column of numbers needs a name that leads to
the table; words that are nearly all names of another table's rows need none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from orienteer.ingest.tables.profile import ColumnProfile
from orienteer.ingest.tables.type_names import is_key, node_type_of, without_key, words_of
from orienteer.ingest.tables.values import numeric, parts_of

NAMED_WORDS, UNNAMED_WORDS = 0.3, 0.9
"""Share of a column's different values that have to be keys: where its name leads to the table, and where not."""
NAMED_NUMBERS = 0.5
"""The same for numbers, which need a name: `userId` 1 to 9 are no movies, though movies have these ids."""
SAMPLE = 40
"""Values that are looked up before all are."""
GENERIC = frozenset({"id", "name", "code", "key", "index", "nr", "no", "number", "title", "label", "type", "value"})
"""Names of columns that lead to no table in particular."""
OWN_ROWS = frozenset(
    {"parent", "boss", "manager", "supervisor", "reports_to", "superior", "leader", "chief", "head", "mentor", "child"}
    | {"mother", "father", "spouse", "predecessor", "successor", "prequel", "sequel", "evolves_from", "reply_to"}
    | {"in_reply_to", "accepted_answer", "duplicate_of", "replaced_by", "superseded_by", "derived_from", "merged_into"}
    | {"previous", "next", "ancestor", "referred_by", "line_manager"}
    | {
        "partner",
        "friend",
        "neighbor",
        "neighbour",
        "sibling",
        "follower",
        "similar",
        "related",
        "see_also",
        "duplicate",
    }
)
"""Names of columns that lead to other rows of their own table."""
PERSONS = frozenset(
    {"person", "people", "staff", "employee", "worker", "user", "member", "personnel", "individual", "colleague"}
    | {"researcher", "contact", "human", "teacher", "player", "doctor", "volunteer"}
)
"""What tables of people are called."""
ROLES = (
    "er",
    "or",
    "ist",
    "ian",
    "ant",
    "ent",
    "eer",
    "by",
    "head",
    "lead",
    "boss",
    "chief",
    "captain",
    "chair",
    "host",
)
"""How columns end that name the part that somebody plays: `keeper_id`, `planted_by_id`, `technician`."""
PERSON_VALUES = 0.95
"""Share of such a column's values that have to be ids of the only table of people."""
OWN_UNNAMED = 0.9
"""Share of a column's values that have to be ids of its own table where its name leads nowhere."""
ID_WORDS = frozenset({"id", "ref", "fk"})
"""Words at the end of a column's name that say that it holds ids of rows, and not codes."""
NAME_WORDS = frozenset({"name", "title", "label", "nom", "nombre", "titel", "bezeichnung", "names"})
"""Words of columns that hold names."""
SHORTEST_HEAD = 4
"""Letters of a word that ends what a table is called."""
SHOWN = 3


class TableKey(NamedTuple):
    """A column by whose values the rows of a table can be named."""

    table: str
    """The table's type."""
    column: str
    values: Collection[str]
    is_id: bool
    is_name: bool
    rank: int
    """0 for ids, 1 for names, 2 for other columns of different values."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A column whose values are values of a key."""

    column: str
    key: TableKey
    separator: str
    share: float
    """Of the different values."""
    missing: tuple[str, ...]
    """The first values that are not there."""
    is_named: bool
    """The column's name leads to the table too."""

    @property
    def reason(self) -> str:
        """Say how it was found."""
        missing = f" (not: {', '.join(self.missing)})" if self.missing else ""
        what = "names" if self.key.is_name else "keys"
        share = f"{self.share:.0%}" if not self.missing else f"{min(self.share, 0.99):.0%}"
        return f"{self.column}: {share} of its values are {what} of {self.key.table} rows{missing}"


def reference(
    profile: ColumnProfile, own: str, keys: Sequence[TableKey], *, is_own_name: bool = False
) -> Reference | None:
    """Return what a column of the table with the type `own` refers to, None for a mere property.

    `is_own_name` is true of the column that names the rows: its words are no other table's by chance.
    """
    if not profile.is_whole or not profile.counts:
        return None
    best: tuple[tuple[float, ...], Reference] | None = None
    for key in keys:
        is_beside = key.table == own and bool(set(words_of(profile.name)) & NAME_WORDS)  # a second name
        if is_beside or (key.table == own and key.column == profile.name):
            continue
        strength = closeness(profile.name, own, key)
        match = _match(profile, key, strength)
        if match is None or not _is_enough(match, profile, strength, is_own_name=is_own_name):
            continue
        if key.table == own and match.share < PERSON_VALUES and _person(profile, own, keys) is not None:
            continue  # the heads of wards are people, though most of their numbers are those of wards, too
        order = (strength, match.separator == "", match.share, -key.rank)
        if best is None or order > best[0]:
            best = (order, match)
    return _person(profile, own, keys) or _own_rows(profile, own, keys) if best is None else best[1]


def _person(profile: ColumnProfile, own: str, keys: Sequence[TableKey]) -> Reference | None:
    """Return that a column called by a part that somebody plays leads to the only table of people."""
    people = [key for key in keys if key.is_id and words_of(key.table)[-1] in PERSONS]
    words = words_of(without_key(profile.name))
    if len(people) != 1 or not words or not words[-1].endswith(ROLES) or not is_key(profile.name):
        return None
    match = _match(profile, people[0], 1)
    return match if match is not None and match.share >= PERSON_VALUES else None


def _own_rows(profile: ColumnProfile, own: str, keys: Sequence[TableKey]) -> Reference | None:
    """Return that a column of ids leads to rows of its own table, `AnswerPostId` or `twin_id`, by its values alone.

    Its name leads to no table, each value is there once, all but some are ids of the table, and some rows have none: a
    chain has an end. A key of a table that is not there (`customer_id` of orders) repeats, or is in every row.
    """
    is_id = words_of(profile.name)[-1:] and words_of(profile.name)[-1] in ID_WORDS
    key = next((key for key in keys if key.table == own and key.is_id and key.column != profile.name), None)
    is_chain = 1 < len(profile.counts) == profile.filled < profile.rows
    if not is_id or key is None or not is_chain or any(closeness(profile.name, own, other) for other in keys):
        return None
    match = _match(profile, key, 1)
    if match is None or match.share < OWN_UNNAMED:
        return None
    return Reference(match.column, key, match.separator, match.share, match.missing, False)


def closeness(column: str, own: str, key: TableKey) -> int:
    """Return how well a column's name leads to a key: 2 for its table, 1 for a part of it, 0 for nothing."""
    plain, base, table = "_".join(words_of(column)), without_key(column), key.table
    if plain == "_".join(words_of(key.column)) and plain not in GENERIC:
        # two tables with a column `town` lead to the same towns, and neither to the rows of the other
        return 2 if key.rank < 2 or is_key(column) else 0
    if table == own:
        if {base, plain, node_type_of(base)} & OWN_ROWS or base.removesuffix(f"_{own}") in OWN_ROWS:
            return 2  # parent_id, ReportsTo, parent_category_id
        return 1 if base.endswith(f"_{own}") else 0  # manager_employee_id
    if table in (base, node_type_of(base), base.removesuffix("id")):
        return 2
    if is_key(column) and table.endswith(f"_{base}"):
        return 1  # type_id, of aircraft_types
    head, last = table.rpartition("_")[2], words_of(base)[-1:] or [""]
    if len(last[0]) >= SHORTEST_HEAD and head.endswith(last[0]) and head != last[0]:
        return 1  # from_port, of airports
    return 1 if node_type_of(base).endswith(f"_{table}") or table.startswith(f"{base}_") else 0


def _match(profile: ColumnProfile, key: TableKey, strength: int) -> Reference | None:
    """Return how far a column's values are values of the key, split where that resolves more of them."""
    sample = [value for value, _ in zip(profile.counts, range(SAMPLE), strict=False)]
    best: Reference | None = None
    for separator in ("", *profile.separators):
        if strength == 0 and 2 * resolved(_parts(sample, separator), key.values) < 1:
            continue
        parts = _parts(profile.counts, separator)
        if not parts:
            continue
        share = resolved(parts, key.values)
        if best is None or share > best.share:
            missing = [part for part in parts if not is_in(part, key.values)][:SHOWN]
            best = Reference(profile.name, key, separator, share, tuple(missing), strength > 0)
    return best


def _is_enough(match: Reference, profile: ColumnProfile, strength: int, *, is_own_name: bool) -> bool:
    if match.share == 0:
        return False
    if all(numeric(part) is not None for part in _parts(profile.counts, match.separator)):
        return strength > 0 and match.share >= NAMED_NUMBERS and not match.key.is_name
    return match.share >= (NAMED_WORDS if strength else UNNAMED_WORDS) and (strength > 0 or not is_own_name)


def _parts(values: Iterable[str], separator: str) -> list[str]:
    return list(dict.fromkeys(part for value in values for part in parts_of(value, separator)))


def resolved(parts: Sequence[str], values: Collection[str]) -> float:
    """Return the share of some values that are among the values of a key."""
    return sum(1 for part in parts if is_in(part, values)) / len(parts) if parts else 0.0


def is_in(part: str, values: Collection[str]) -> bool:
    """Return whether a value is among the values of a key."""
    return key_value(part, values) is not None


def key_value(part: str, values: Collection[str] | Mapping[str, str]) -> str | None:
    """Return the key that a value spells: itself, or `12` for the `12.0` that data frames make beside empty cells."""
    if part in values:
        return part
    whole = part.removesuffix(".0")
    return whole if whole != part and whole in values else None
