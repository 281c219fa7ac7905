"""Which columns of a table name its rows: its ids, its names, and other columns of different values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from orienteer.ingest.tables.columns import NODE_RANKS, plainly
from orienteer.ingest.tables.profile import ColumnProfile
from orienteer.ingest.tables.references import ID_WORDS, NAME_WORDS, TableKey
from orienteer.ingest.tables.type_names import is_key, node_type_of, without_key, words_of

FIRST, LAST = (
    frozenset({"first_name", "firstname", "given_name", "forename", "first"}),
    frozenset({"last_name", "lastname", "surname", "family_name", "last"}),
)
"""Columns that make a name together."""
DIFFERENT = 0.5
"""Share of rows with a name of their own that makes a column of words the rows' names."""


def id_column(type_name: str, profiles: Mapping[str, ColumnProfile], *, types: Collection[str] = ()) -> str | None:
    """Return the column of the ids: one with a value of its own in each row, by its name, else the first.

    A column that is called as one of the other `types` leads there: `beer` in a table that joins beers and breweries.
    """
    ranked: list[tuple[int, int, str]] = []
    for place, (name, profile) in enumerate(profiles.items()):
        role, rank = NODE_RANKS.get(plainly(name), ("", 0))
        words, about = words_of(name), node_type_of(without_key(name))
        if role == "id" and (profile.is_key or rank < 2):  # a repeated `id` is an error that is told with its rows
            ranked.append((0, rank, name))
        elif (
            not profile.is_key
            or profile.is_prose
            or (about := node_type_of(without_key(name))) in types
            and about != type_name
        ):
            continue
        elif is_key(name) and about == type_name:
            ranked.append((1, place, name))
        elif is_key(name) and place == 0:
            ranked.append((2, place, name))
        elif place == 0 and (profile.is_numeric or not set(words) & NAME_WORDS):
            ranked.append((3, place, name))
        elif is_key(name):
            ranked.append((4, place, name))
        elif not profile.is_numeric and set(words) & NAME_WORDS:
            ranked.append((5, place, name))
    return min(ranked)[2] if ranked else None


def name_columns(
    type_name: str, profiles: Mapping[str, ColumnProfile], *, id_name: str | None, taken: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the column of the rows' names; two where a person's name is in parts; none where no column has words.

    Columns that are `taken` lead to other tables. Ids that are names themselves need no other, nor do rows
    that only join others.
    """
    wordy = [
        name
        for name, profile in profiles.items()
        if name not in taken and name != id_name and profile.has_words and not profile.is_prose
    ]
    by_role = sorted(
        (NODE_RANKS[plainly(name)][1], name) for name in wordy if NODE_RANKS.get(plainly(name), ("", 0))[0] == "name"
    )
    first = next((name for name in wordy if "_".join(words_of(name)) in FIRST), None)
    last = next((name for name in wordy if "_".join(words_of(name)) in LAST), None)
    if first and last and (not by_role or plainly(by_role[0][1]) == "title"):  # the title of a person is Dr
        return (first, last)
    if by_role:
        return (by_role[0][1],)
    if (id_name is None and taken) or (id_name is not None and _is_worded(profiles[id_name])):
        return ()
    own = [
        name for name in wordy if node_type_of("_".join(w for w in words_of(name) if w not in NAME_WORDS)) == type_name
    ]
    worded = [name for name in wordy if set(words_of(name)) & NAME_WORDS and not is_key(name)]
    worded.sort(key=lambda name: -len(profiles[name].counts))
    distinct = [
        name for name in wordy if not is_key(name) and len(profiles[name].counts) >= DIFFERENT * profiles[name].rows
    ]
    coded = [  # GR100: routes are called by their numbers
        name
        for name, profile in profiles.items()
        if name not in (id_name, *taken) and profile.is_key and words_of(name)[-1] not in ID_WORDS
        if not profile.is_prose and all(any(map(str.isalpha, value)) for value in profile.counts)  # no dates
    ]
    return tuple((own or worded or distinct or coded)[:1])


def keys_of(
    type_name: str, profiles: Mapping[str, ColumnProfile], *, id_name: str | None, names: Sequence[str]
) -> list[TableKey]:
    """Return the columns by which other tables can name the rows, ids first."""
    keys = []
    for name, profile in profiles.items():
        is_id, is_name = name == id_name, tuple(names) == (name,)
        is_code = profile.is_key and not profile.is_numeric and not profile.is_prose
        if is_id or (is_name and profile.is_whole) or is_code:
            values: Collection[str] = profile.counts.keys()
            if is_name:  # a name of two rows names neither
                values = {value for value, count in profile.counts.items() if count == 1}
            keys.append(TableKey(type_name, name, values, is_id, is_name, 0 if is_id else 1 if is_name else 2))
    return sorted(keys, key=lambda key: key.rank)


def _is_worded(profile: ColumnProfile) -> bool:
    """Return whether ids are names: words in small letters, without digits."""
    worded = sum(1 for value in profile.counts if value != value.upper() and not any(map(str.isdigit, value)))
    return 2 * worded > len(profile.counts)
