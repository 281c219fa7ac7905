"""Tables as people have them -> their mappings: ids, names, columns that lead to other tables, kinds of things."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from orienteer.display import counted
from orienteer.ingest.tables.columns import EDGE_RANKS, NODE_RANKS, plainly
from orienteer.ingest.tables.keys import id_column, keys_of, name_columns
from orienteer.ingest.tables.mapping import IGNORED, PROPERTY, FileMapping, Link
from orienteer.ingest.tables.profile import ColumnProfile
from orienteer.ingest.tables.references import Key, Reference, reference
from orienteer.ingest.tables.type_names import edge_type_of, is_key, node_type_of, singular, without_key, words_of
from orienteer.ingest.tables.values import parts_of

REPEATS = 2
"""Rows a value, on average, that make the values of a column a kind of thing."""
MOST_KINDS = 1000
"""Different values of such a column."""
TRUTHS = frozenset({"yes", "no", "y", "n", "true", "false", "t", "f", "ja", "nein", "m", "male", "female"})
"""Values of columns that say yes or no, or sort all things into two halves: no kind of thing."""
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
    id_name: str | None = None
    names: tuple[str, ...] = ()
    references: dict[str, Reference] = field(default_factory=dict)
    guesses: list[str] = field(default_factory=list)
    """What was told by the values: everything that a person may want to settle."""

    @property
    def type(self) -> str:
        """Return the type of its rows."""
        return self.called or node_type_of(self.name)

    @property
    def open(self) -> dict[str, ColumnProfile]:
        """Return the profiles of the columns that are not private."""
        return {name: profile for name, profile in self.profiles.items() if name not in self.private}

    @property
    def keys(self) -> list[Key]:
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


class Mapper:
    """Maps tables that belong together. The drafts keep what was guessed on the way."""

    def __init__(self, drafts: Sequence[Draft], *, has_edges: bool) -> None:
        """Find ids, names and references. `has_edges`: other tables of the sources hold edges."""
        self._drafts = drafts
        self._has_edges = has_edges
        self._types = {draft.type for draft in drafts}
        for draft in drafts:
            draft.id_name = draft.having("id") or id_column(draft.type, draft.open, types=self._types)
            name = draft.having("name")
            draft.names = (name,) if name else name_columns(draft.type, draft.open, id_name=draft.id_name)
        self.keys = [key for draft in drafts for key in draft.keys]
        self.prefixed = _colliding([key for key in self.keys if key.is_id])
        """The types whose ids get their type before them."""
        for draft in drafts:
            _refer(draft, self.keys)
        self._takes_type = has_edges or not (self.prefixed or any(draft.references for draft in drafts))

    @property
    def mappings(self) -> list[FileMapping]:
        """Return how each table is read."""
        return [self._mapping(draft) for draft in self._drafts]

    def _mapping(self, draft: Draft) -> FileMapping:
        ends = _ends(draft, self._drafts)
        if ends:
            return _edges(draft, ends)
        roles = {**dict.fromkeys(draft.private, IGNORED), **draft.given}
        why = ["type as given" if draft.called else "type by the file's name"]
        if draft.id_name is None:
            draft.guesses.append(f"no column has a value of its own in each row: ids are {draft.type}:LINE")
        else:
            roles[draft.id_name] = "prefixed id" if draft.type in self.prefixed else "id"
            if draft.type in self.prefixed:
                why.append(f"{draft.type}: is put before ids, which another table has too")
            if not draft.having("id") and NODE_RANKS.get(plainly(draft.id_name), ("", 0))[0] != "id":
                draft.guesses.append(f"{draft.id_name}: taken for the id, for every row has its own")
        for name in draft.names:
            roles[name] = "name" if len(draft.names) == 1 else "name part"
            if name not in draft.given and NODE_RANKS.get(plainly(name), ("", 0))[0] != "name":
                draft.guesses.append(f"{name}: taken for the name")
        for name, profile in draft.open.items():
            if name not in roles:
                roles[name] = self._role(draft, name, profile)
        links = any(role.startswith("edge ") for role in roles.values())
        return FileMapping(
            file=draft.file,
            kind="both" if links else "nodes",
            type=draft.type,
            columns=_ordered(roles, draft),
            why="; ".join([*why, *draft.guesses]),
        )

    def _role(self, draft: Draft, name: str, profile: ColumnProfile) -> str:
        """Return the role of a column of a table of nodes that is neither id nor name."""
        match = draft.references.get(name)
        if match is not None:
            return str(Link(match.key.table, match.key.column, _edge_type(name), "", match.separator))
        role = NODE_RANKS.get(plainly(name), ("", 0))[0]
        if role in ("name", "aliases", "text") or (role == "type" and self._takes_type and not draft.called):
            return role
        if name.startswith("Unnamed:") and profile.is_key:
            return IGNORED
        separator = None if self._has_edges else kind_separator(profile)
        new = singular("_".join(words_of(name)))
        is_code = without_key(name) != "_".join(words_of(name)) and any(
            without_key(name) == "_".join(words_of(other)) for other in draft.profiles
        )
        if separator is None or new in self._types or is_code:  # the code of what another column names
            return PROPERTY
        values = counted(len(profile.counts), "different value")
        draft.guesses.append(f"{name}: {values} in {counted(profile.filled, 'row')} become nodes too")
        return str(Link(new, "", _edge_type(name), "", separator))


def _colliding(keys: Sequence[Key]) -> set[str]:
    """Return the types whose ids are ids of another table too."""
    return {
        key.table
        for key in keys
        for other in keys
        if other is not key and other.table != key.table and not set(key.values).isdisjoint(other.values)
    }


def _refer(draft: Draft, keys: Sequence[Key]) -> None:
    """Find the columns that lead to other tables; of two that lead the same way the first stays."""
    for name, profile in draft.open.items():
        if name == draft.id_name or name in draft.given or (name in draft.names and len(draft.names) > 1):
            continue
        match = reference(profile, draft.type, keys, is_own_name=name in draft.names)
        if match is not None:
            draft.references[name] = match
            draft.guesses.append(match.reason)
    if set(draft.names) & draft.references.keys():
        draft.names = name_columns(draft.type, draft.open, id_name=draft.id_name, taken=draft.references)


def kind_separator(profile: ColumnProfile) -> str | None:
    """Return what parts the values of a column that are a kind of thing, empty for nothing; None for a property.

    A kind of thing: words that repeat, not numbers, dates, signs or answers of yes and no.
    """
    if not profile.is_whole or profile.is_numeric or profile.is_prose or not profile.counts:
        return None
    separator = next((mark for mark in profile.separators if mark != ","), "")
    values: dict[str, int] = {}
    for cell, count in profile.counts.items():
        for part in parts_of(cell, separator):
            values[part] = values.get(part, 0) + count
    worded = [value for value in values if len(value) > 1 and not value[:1].isdigit() and "://" not in value]
    is_kind = (
        2 <= len(values) <= MOST_KINDS
        and REPEATS * len(values) <= sum(values.values())
        and len(worded) == len(values)
        and not {value.casefold() for value in values} <= TRUTHS
    )
    return separator if is_kind else None


def _edge_type(column: str) -> str:
    return without_key(column) or column


def _ends(draft: Draft, drafts: Sequence[Draft]) -> dict[str, Link]:
    """Return the two columns that a table joins, if joining them is all it does."""
    links = {
        name: Link(match.key.table, match.key.column, "", "", match.separator)
        for name, match in draft.references.items()
    }
    if draft.id_name is None and len(links) == 1:
        others = [name for name, profile in draft.open.items() if name not in links and is_key(name)]
        if len(others) == 1 and draft.profiles[others[0]].is_whole:
            links[others[0]] = Link(_edge_type(others[0]))
            links = {name: links[name] for name in draft.profiles if name in links}
            draft.guesses.append(f"{others[0]}: leads to no table here, so that nodes are made of its values")
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


def _edges(draft: Draft, ends: Mapping[str, Link]) -> FileMapping:
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
        file=draft.file, kind="edges", type=edge_type_of(draft.name), columns=_ordered(roles, draft), why="; ".join(why)
    )


def _ordered(roles: Mapping[str, str], draft: Draft) -> dict[str, str]:
    """Return the roles in the order of the columns, those of one role best first."""

    def order(name: str) -> int:
        if roles[name] == "name part":
            return draft.names.index(name)
        return NODE_RANKS.get(plainly(name), ("", 0))[1] if roles[name] in ("name", "type", "text", "aliases") else -1

    return {name: roles[name] for name in sorted(roles, key=order)}
