"""Tables as people have them -> their mappings: ids, names, columns that lead to other tables, kinds of things."""

from __future__ import annotations

from collections.abc import Sequence

from orienteer.display import counted
from orienteer.graph.reserved import CHUNK
from orienteer.ingest.tables.categories import REPEATS, kind_of, kind_separator
from orienteer.ingest.tables.columns import NODE_RANKS, plainly
from orienteer.ingest.tables.draft import (
    Draft,
    colliding,
    declare_references,
    edge_type_of_column,
    edges_of,
    find_references,
    joined_columns,
    ordered,
    same_rows,
)
from orienteer.ingest.tables.keys import id_column, name_columns
from orienteer.ingest.tables.mapping import (
    IGNORED,
    NUMBER,
    PROPERTY,
    ColumnLink,
    FileMapping,
    measured_property,
)
from orienteer.ingest.tables.profile import ColumnProfile
from orienteer.ingest.tables.references import TableKey
from orienteer.ingest.tables.type_names import is_key, without_key, words_of


class Mapper:
    """Maps tables that belong together. The drafts keep what was guessed on the way."""

    def __init__(self, drafts: Sequence[Draft], *, has_edges: bool) -> None:
        """Find ids, names and references. `has_edges`: other tables of the sources hold edges."""
        self._drafts = drafts
        self._has_edges = has_edges
        self._types = {draft.type for draft in drafts}
        for draft in drafts:
            draft.id_name = draft.having("id")
            if draft.id_name is None and draft.declared is None:
                draft.id_name = id_column(draft.type, draft.open, types=self._types)
            name = draft.having("name")
            draft.names = (name,) if name else name_columns(draft.type, draft.open, id_name=draft.id_name)
        self._same = {draft.file: same for draft in drafts if (same := same_rows(draft, drafts)) is not None}
        self.keys = [key for draft in drafts if draft.file not in self._same for key in draft.keys]
        for draft in drafts:
            declare_references(draft, drafts)
            find_references(draft, self.keys)
        ids = [key for draft in drafts if not joined_columns(draft, drafts) for key in draft.keys if key.is_id]
        self.prefixed = colliding([key for key in ids if key in self.keys])
        """The types whose ids get their type before them."""
        self._kinds = {
            kind_of(name)
            for draft in drafts
            for name, profile in draft.open.items()
            if name not in (draft.id_name, *draft.names, *draft.references) and kind_separator(profile) is not None
        }
        self._takes_type = has_edges or not (self.prefixed or any(draft.references for draft in drafts))

    @property
    def mappings(self) -> list[FileMapping]:
        """Return how each table is read."""
        return [self._mapping(draft) for draft in self._drafts]

    def _mapping(self, draft: Draft) -> FileMapping:
        same = self._same.get(draft.file)
        ends = {} if same else joined_columns(draft, self._drafts)
        if ends:
            return edges_of(draft, ends)
        roles, why = self._named_roles(draft, same)
        for name, profile in draft.open.items():
            if name not in roles:
                roles[name] = self._role(draft, name, profile)
        prose = [name for name in draft.open if roles[name] == PROPERTY and draft.open[name].is_prose]
        if prose and "text" not in roles.values() and draft.open[prose[0]].has_texts:
            roles[prose[0]] = "text"
            draft.guesses.append(f"{prose[0]}: taken for the text, for it holds sentences")
        links = any(role.startswith("edge ") for role in roles.values())
        return FileMapping(
            file=draft.file,
            kind="both" if links else "nodes",
            type=draft.type,
            columns=ordered(roles, draft),
            why="; ".join(dict.fromkeys([*why, *draft.guesses, *draft.unclear])),
        )

    def _role(self, draft: Draft, name: str, profile: ColumnProfile) -> str:
        """Return the role of a column of a table of nodes that is neither id nor name."""
        match = draft.references.get(name)
        if match is not None:
            return str(ColumnLink(match.key.table, match.key.column, edge_type_of_column(name), "", match.separator))
        role = NODE_RANKS.get(plainly(name), ("", 0))[0]
        if role == "name" and len(draft.names) > 1:
            role = ""  # the title of a person, who has a first and a last name
        if role in ("name", "aliases", "text") or (role == "type" and self._takes_type and not draft.called):
            return role
        if name.startswith("Unnamed:") and profile.is_key:
            return IGNORED
        if profile.unit is not None:
            kept = measured_property(name, profile.unit)
            draft.guesses.append(f"{name}: numbers in {profile.unit}, kept as {kept}")
            return f"{NUMBER}{profile.unit}"
        new = kind_of(name)
        fewest = 1 if new in self._kinds else REPEATS
        separator = None if self._has_edges else kind_separator(profile, fewest=fewest)
        is_code = without_key(name) != "_".join(words_of(name)) and any(
            without_key(name) == "_".join(words_of(other)) for other in draft.profiles
        )
        if is_key(name) and profile.is_numeric and not is_code:
            draft.unclear.append(f"{name}: a key by its name, which leads to no table")
        is_corpus = draft.type == CHUNK  # what its passages share is said of them, and no answer
        if separator is None or new in self._types or is_code or is_corpus:  # a code is that of another column
            return PROPERTY
        values = counted(len(profile.counts), "different value")
        draft.guesses.append(f"{name}: {values} in {counted(profile.filled, 'row')} become nodes too")
        return str(ColumnLink(new, "", edge_type_of_column(name), "", separator))

    def _named_roles(self, draft: Draft, same: tuple[str, TableKey] | None) -> tuple[dict[str, str], list[str]]:
        """Return the roles of the columns that name the rows, and why."""
        roles = {**dict.fromkeys(draft.private, IGNORED), **draft.given}
        why = ["type as given" if draft.called else "type by the file's name"]
        if draft.declared:
            why.append("foreign keys as the database declares them")
        if same is not None:
            roles[same[0]] = str(ColumnLink(same[1].table, same[1].column, "", "same"))
            draft.guesses.append(f"{same[0]}: each row says more of a row of {same[1].table}")
        elif draft.id_name is None:
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
        return roles, why
