"""A table before it is mapped: what its columns hold, and what was found out about it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from orienteer.ingest.tables.columns import EDGE_RANKS, NODE_RANKS, plainly
from orienteer.ingest.tables.keys import keys_of, name_columns
from orienteer.ingest.tables.mapping import IGNORED, PROPERTY, ColumnLink, FileMapping
from orienteer.ingest.tables.profile import ColumnProfile
from orienteer.ingest.tables.references import Reference, TableKey, closeness, reference, resolved
from orienteer.ingest.tables.type_names import edge_type_of, is_key, node_type_of, singular, without_key, words_of

WHOLE = 0.9
"""Share of the rows of a table that say more of rows of another one."""
JOINING = frozenset({"by", "of", "has", "have", "in", "to", "with", "from", "at", "for", "on", "is", "links", "edges"})
"""Words of a file's name that say that its rows join others."""


@dataclass(eq=False)
class Draft:
    """A table, what its columns hold, and what has been found out about it."""

    file: str
    name: str
    """The name of the file, or of the table in a database, without folder and suffix."""
    profiles: Mapping[str, ColumnProfile]
    given: Mapping[str, str] = field(default_factory=dict)
    """Plain roles by column, as a person gave them."""
    called: str = ""
    """The type of its rows, as a person gave it."""
    private: Collection[str] = ()
    declared: Mapping[str, tuple[str, str]] | None = None
    """Of a table of a database that declares keys, the type and the column that each of its foreign keys leads to."""
    id_name: str | None = None
    names: tuple[str, ...] = ()
    references: dict[str, Reference] = field(default_factory=dict)
    guesses: list[str] = field(default_factory=list)
    """What was told by the values: everything that a person may want to settle."""
    unclear: list[str] = field(default_factory=list)
    """What neither values nor names tell."""

    @property
    def type(self) -> str:
        """Return the type of its rows."""
        return self.called or node_type_of(self.name)

    @property
    def open(self) -> dict[str, ColumnProfile]:
        """Return the profiles of the columns that are not private."""
        return {name: profile for name, profile in self.profiles.items() if name not in self.private}

    @property
    def keys(self) -> list[TableKey]:
        """Return the columns by which other tables can name its rows."""
        return keys_of(self.type, self.open, id_name=self.id_name, names=self.names)

    @property
    def is_clear(self) -> bool:
        """Say whether it is clear that its rows are things, or join things: some column has words, or leads there."""
        ids = self.profiles.get(self.id_name or "")
        return bool(self.names or self.references) or (ids is not None and not ids.is_numeric)

    def having(self, role: str) -> str | None:
        """Return the column that a person gave this role."""
        return next((column for column, plain in self.given.items() if plain == role), None)


def colliding(keys: Sequence[TableKey]) -> set[str]:
    """Return the types whose ids are ids of another table too."""
    return {
        key.table
        for key in keys
        for other in keys
        if other is not key and other.table != key.table and not set(key.values).isdisjoint(other.values)
    }


def declare_references(draft: Draft, drafts: Sequence[Draft]) -> None:
    """Take the foreign keys that a database declares."""
    for name, (node_type, column) in (draft.declared or {}).items():
        other = next((other for other in drafts if other.type == node_type and column in other.open), None)
        if other is None or name not in draft.open:
            continue
        if name == draft.id_name:
            draft.unclear.append(f"{name}: the id, which leads to {node_type}.{column} too: no edge is made of it")
            continue
        is_id, is_name = column == other.id_name, other.names == (column,)
        key = TableKey(node_type, column, other.open[column].counts.keys(), is_id, is_name, 0 if is_id else 2)
        draft.references[name] = Reference(name, key, "", 1.0, (), True)


def find_references(draft: Draft, keys: Sequence[TableKey]) -> None:
    """Find the columns that lead to other tables; of two that lead the same way the first stays.

    Where a database declares keys, nothing is found that it does not declare.
    """
    if draft.declared is not None:
        return
    for name, profile in draft.open.items():
        if name == draft.id_name or name in draft.given or (name in draft.names and len(draft.names) > 1):
            continue
        match = reference(profile, draft.type, keys, is_own_name=name in draft.names)
        if match is not None:
            draft.references[name] = match
            draft.guesses.append(match.reason)
    if set(draft.names) & draft.references.keys() or draft.id_name is None:
        draft.names = name_columns(draft.type, draft.open, id_name=draft.id_name, taken=draft.references)


def same_rows(draft: Draft, drafts: Sequence[Draft]) -> tuple[str, TableKey] | None:
    """Return the column by which each row says more of a row of another table, and that table's ids; else None.

    Such rows have no names and no ids of their own, lead to no further table, and are as many as that has at most.
    Two columns like one table's ids join two of its rows, and say more of none.
    """
    if draft.having("id") or draft.declared is not None or any(name in draft.names for name in draft.profiles):
        return None
    own = without_key(draft.id_name or "")
    if own and (own == "id" or node_type_of(own) == draft.type):
        return None
    ids = [key for other in drafts if other is not draft for key in other.keys if key.is_id]
    named = {key.table for name in draft.open for key in ids if closeness(name, draft.type, key) == 2}
    similar = {name for name in draft.open for key in ids if closeness(name, draft.type, key) > 0}
    if len(similar) > 1 and len(named) == 1:
        return None  # `drug_id` and `other_drug_id` join two of one table
    keys = [key for other in drafts if other is not draft and other.names for key in other.keys if key.is_id]
    for name, profile in draft.open.items() if len(named) < 2 else ():
        for key in keys:
            is_whole = profile.is_key and resolved(list(profile.counts), key.values) >= WHOLE
            if is_whole and closeness(name, draft.type, key) == 2:
                return name, key
    return None


def edge_type_of_column(column: str) -> str:
    """Return the type of the edges that a column makes: its name, without the words for keys."""
    return without_key(column) or column


def joined_columns(draft: Draft, drafts: Sequence[Draft]) -> dict[str, ColumnLink]:
    """Return the two columns that a table joins, if joining them is all it does."""
    links = {
        name: ColumnLink(match.key.table, match.key.column, "", "", match.separator)
        for name, match in draft.references.items()
    }
    if draft.id_name is None and draft.declared is None and len(links) == 1:
        others = [name for name, profile in draft.open.items() if name not in links and is_key(name)]
        if len(others) == 1 and draft.profiles[others[0]].is_whole:
            links[others[0]] = ColumnLink(edge_type_of_column(others[0]))
            links = {name: links[name] for name in draft.profiles if name in links}
            guess = f"{others[0]}: leads to no table here, so that nodes are made of its values"
            draft.guesses += [guess] if guess not in draft.guesses else []
    if len(links) != 2:
        return {}
    is_used = any(
        match.key.table == draft.type for other in drafts for match in other.references.values() if other is not draft
    )
    tells = any(NODE_RANKS.get(plainly(name), ("", 0))[0] in ("name", "text") for name in draft.profiles)
    words = set(words_of(draft.name))
    joins = bool(words & JOINING) or all(
        set(words_of(link.node_type)) <= {*map(singular, words)} for link in links.values()
    )
    if draft.id_name is not None and (is_used or tells or draft.id_name in links or not joins):
        return {}
    return links


def edges_of(draft: Draft, ends: Mapping[str, ColumnLink]) -> FileMapping:
    """Return the mapping of a table whose rows join the things of two columns."""
    roles = dict.fromkeys(draft.private, IGNORED)
    (first, source), (second, target) = ends.items()
    roles |= {first: str(replace(source, end="source")), second: str(replace(target, end="target"))}
    for name in draft.open:
        if name not in roles:
            role = EDGE_RANKS.get(plainly(name), ("", 0))[0]
            roles[name] = role if role in ("text", "weight") else PROPERTY
    why = [f"each row joins {' and '.join(ends)}", "type by the file's name", *draft.guesses]
    draft.guesses.insert(0, why[0])
    return FileMapping(
        file=draft.file, kind="edges", type=edge_type_of(draft.name), columns=ordered(roles, draft), why="; ".join(why)
    )


def ordered(roles: Mapping[str, str], draft: Draft) -> dict[str, str]:
    """Return the roles in the order of the columns, those of one role best first."""

    def order(name: str) -> int:
        if roles[name] == "name part":
            return draft.names.index(name)
        return NODE_RANKS.get(plainly(name), ("", 0))[1] if roles[name] in ("name", "type", "text", "aliases") else -1

    return {name: roles[name] for name in sorted(roles, key=order)}
