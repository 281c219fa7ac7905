"""Tables as people have them -> their mappings: ids, names, columns that lead to other tables, kinds of things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from orienteer.display import counted
from orienteer.graph.reserved import CHUNK
from orienteer.ingest.tables.columns import edge_role, node_role, plainly
from orienteer.ingest.tables.draft import SURE, Draft, Link
from orienteer.ingest.tables.forms import Dates, Form, Numbers, are_unlike
from orienteer.ingest.tables.keys import id_column, joined_columns, joint_key, name_columns, says_more
from orienteer.ingest.tables.links import chosen, find_links
from orienteer.ingest.tables.mapping import IGNORED, PROPERTY, ColumnLink, FileMapping, FormedColumn, role_of_form
from orienteer.ingest.tables.plan import JOIN
from orienteer.ingest.tables.profile import REPEATS, ColumnProfile
from orienteer.ingest.tables.type_names import (
    edge_type_of,
    is_key,
    kind_of,
    node_type_of,
    says,
    without_key,
    words_of,
)
from orienteer.ingest.tables.values import number


class Mapper:
    """Maps tables that belong together. The drafts receive the guesses and questions."""

    def __init__(self, drafts: Sequence[Draft], *, has_edges: bool) -> None:
        """Find ids, names and links. `has_edges`: other tables of the sources hold edges."""
        self._drafts = drafts
        self._has_edges = has_edges
        self._tell_apart()
        self._types = {draft.type for draft in drafts}
        self._join()
        self._find()
        self._edges = {draft.file: joined_columns(draft, drafts) for draft in drafts if draft.kept is None}
        of_things = [d for d in drafts if not (d.kept.is_of_edges if d.kept is not None else self._edges[d.file])]
        self._same = {draft.file: says_more(draft, drafts) for draft in of_things if draft.kept is None}
        own = [d for d in of_things if not (d.kept.same if d.kept is not None else self._same[d.file])]
        self.keys = [key for draft in own for key in draft.keys]
        kept = {draft.type: draft.kept for draft in own if draft.kept is not None}
        ids = [key for key in self.keys if not key.rank]
        pairs = ((a, b) for a, b in combinations(ids, 2) if a.table != b.table and not a.values.isdisjoint(b.values))
        self.prefixed = {key.table for pair in pairs for key in pair} - kept.keys()
        self.prefixed |= {name for name, mapping in kept.items() if mapping.having("prefixed id")}
        """The types whose ids get their type before them."""
        self._is_alone = not (self.prefixed or any(draft.links for draft in drafts))
        self._kinds = {
            kind_of(name)
            for draft in drafts
            for name, profile in draft.open.items()
            if name not in (draft.id_name, *draft.names, *draft.links) and profile.kind_separator() is not None
        }

    def _tell_apart(self) -> None:
        """Give tables that would have one type types of their own, unless they hold more rows of one thing."""
        for draft in self._drafts:
            # A table whose name begins with that of another: `product_copy` next to `products`.
            own = node_type_of(draft.name)
            begun = [each.name for each in self._drafts if own.startswith(f"{edge_type_of(each.name)}_")]
            if name := max(begun, key=len, default=""):
                draft.told_apart = node_type_of(name) + own.removeprefix(edge_type_of(name))
        first: dict[str, Draft] = {}
        for draft in sorted(self._drafts, key=lambda draft: not draft.called):
            other = first.setdefault(draft.type, draft)
            if other is draft or draft.called or _is_more(draft, other):
                continue
            plain, names = edge_type_of(draft.name), {each.type for each in self._drafts}
            numbered = (f"{plain}_{place}" for place in range(2, len(self._drafts) + 2))
            draft.told_apart = plain if plain not in names else next(name for name in numbered if name not in names)
            first[draft.type] = draft

    def _join(self) -> None:
        """Make columns of several: keys of rows that no column alone has, what leads there, and names of people."""
        for draft in self._drafts:
            for name in draft.table.joining(draft.kept.columns).joined if draft.kept is not None else ():
                draft.join(*name.split(JOIN))
            pair = joint_key(draft)
            own_key = {JOIN.join(pair): (draft.file, JOIN.join(pair))} if pair else {}
            for name, (file, key) in ({**draft.stated} | own_key).items():
                other = next((other for other in self._drafts if other.file == file), None)
                if JOIN in name and other is not None and other.table.has(key):
                    draft.join(*name.split(JOIN))
                    other.join(*key.split(JOIN))
            for other in self._drafts if pair else ():
                spelled = {plainly(name): name for name in other.open}
                own = [spelled[plainly(name)] for name in pair if plainly(name) in spelled]
                if other is not draft and len(own) == len(pair):
                    other.join(*own)
            parts = draft.parts
            others = [profile for other in self._drafts if other is not draft for profile in other.open.values()]
            if parts and any(profile.has_blanks for profile in others):
                draft.join(*parts)
                draft.join(*reversed(parts))

    def _find(self) -> None:
        """Find links, then ids and names: a column that others lead to is an id."""
        found = find_links(self._drafts)
        for draft in self._drafts:
            if draft.kept is not None:
                draft.id_name = draft.kept.id_column
                draft.names = tuple(draft.kept.having("name", "name part"))
                kept = {name: link for name, link in draft.kept.links.items() if link.key}
                draft.links = {n: Link(n, x.node_type, x.key, 1.0, SURE, 1.0, x.separator) for n, x in kept.items()}
                continue
            links = [link for link in found[draft.file] if link.column in draft.open]
            away = {link.column for link in links if link.to != draft.type}
            referred = {
                link.key
                for other in self._drafts
                for link in found[other.file]
                if link.to == draft.type and (other is not draft or link.column not in away)
            }
            draft.id_name = draft.having("id")
            if draft.id_name is None and not draft.is_declared:
                draft.id_name = id_column(draft, links, referred)
            named = draft.having("name")
            taken = {link.column for link in links if link.to != draft.type or link.bits > SURE}
            draft.names = (named,) if named else name_columns(draft, taken)
        for draft in self._drafts:
            if draft.kept is None:
                draft.links = chosen(draft, found[draft.file], self._drafts) | self._stated(draft)
                if draft.having("name") is None and (set(draft.names) & draft.links.keys() or not draft.names):
                    draft.names = name_columns(draft, draft.links)
        leads_by_name = {(draft.type, draft.names[0]) for draft in self._drafts if len(draft.names) == 1}
        for draft in self._drafts:
            for name, link in draft.links.items():
                draft.links[name] = link = replace(link, is_key_name=(link.to, link.key) in leads_by_name)
                if not (draft.is_declared and name in draft.stated):
                    draft.guesses.append(link.reason)
                    draft.questions += [link.question] if link.question else []

    def _stated(self, draft: Draft) -> dict[str, Link]:
        """Return the links that are sure: foreign keys of a database, and rows within rows."""
        links = {}
        for name, (file, key) in draft.stated.items():
            other = next((o for o in self._drafts if o.file == file and key in o.open | o.joined), None)
            profile = (draft.open | draft.joined).get(name)
            if other is None or profile is None:
                continue
            if name != draft.id_name:
                links[name] = Link(name, other.type, key, 1.0, SURE, 1.0, "json" if profile.has_lists else "")
            elif draft.is_declared:
                draft.questions.append(f"{name}: the id, which leads to {other.type}.{key} too: no edge is made of it")
        return links

    def mappings(self, edges: Sequence[FileMapping]) -> list[FileMapping]:
        """Return the mapping of each table, given those of the tables of edges."""
        ends = [link for mapping in edges for link in mapping.links.values()]
        return [
            draft.kept or (self._of_edges(draft) if self._edges[draft.file] else self._of_things(draft, ends))
            for draft in self._drafts
        ]

    def of_named(self, draft: Draft) -> FileMapping:
        """Return the mapping of a table whose columns have known names; values decide the others."""
        is_of_edges = "source" in draft.given.values()
        return draft.kept or _mapping(draft, dict(draft.given), [draft.why], is_of_edges=is_of_edges)

    def _of_edges(self, draft: Draft) -> FileMapping:
        """Return the mapping of a table whose rows join the things of two columns."""
        (first, source), (second, target) = self._edges[draft.file].items()
        roles = dict.fromkeys(draft.private, IGNORED)
        roles |= {first: str(replace(source, end="source")), second: str(replace(target, end="target"))}
        for name in draft.open.keys() - roles.keys():
            role = edge_role(name)[0]
            roles |= {name: role} if role in ("text", "weight") else {}
        draft.guesses.insert(0, f"each row joins {first} and {second}")
        return _mapping(draft, roles, ["type by the file's name"], is_of_edges=True)

    def _of_things(self, draft: Draft, ends: Sequence[ColumnLink]) -> FileMapping:
        roles, why = self._named_roles(draft)
        for name, profile in draft.open.items():
            if name not in roles:
                roles[name] = self._role(draft, name, profile)
        led = {link.key for other in self._drafts for link in other.links.values() if link.to == draft.type}
        led |= {link.key for link in ends if link.node_type == draft.type}
        for name in draft.joined.keys() - roles.keys():
            if name in draft.links:
                roles[name] = self._role(draft, name, draft.joined[name])
            elif name in led:
                roles[name] = IGNORED
        return _mapping(draft, roles, why)

    def _role(self, draft: Draft, name: str, profile: ColumnProfile) -> str:
        """Return the role of a column of a table of things that is neither id nor name."""
        link = draft.links.get(name)
        if link is not None:
            edge_type = link.to if name in draft.joined else without_key(name) or name
            return str(ColumnLink(link.to, link.key, edge_type, "", link.separator))
        role = node_role(name)[0]
        if role == "name" and draft.names and draft.open[draft.names[0]].filled == draft.rows:
            role = ""  # the title of a person, who has a name
        # Nodes beside edges have their kinds in a column; rows alone may, if it is called the type.
        has_kinds = self._has_edges or (self._is_alone and plainly(name) in ("type", "node_type", "entity_type"))
        if role in ("name", "aliases", "text") or (role == "type" and has_kinds and not draft.called):
            return role
        if name.startswith("Unnamed:") and profile.is_key:
            return IGNORED  # the index of a data frame
        new = kind_of(name)
        fewest = 1 if new in self._kinds else REPEATS
        is_plain = self._has_edges or profile.form is not None
        separator = None if is_plain else profile.kind_separator(fewest=fewest)
        about = without_key(name)  # a code is that of another column
        is_code = about != "_".join(words_of(name)) and about in ("_".join(words_of(other)) for other in draft.profiles)
        is_part = any(name in joined.split(JOIN) for joined in draft.joined)
        if is_key(name) and profile.is_numeric and not (is_code or is_part):
            draft.questions.append(f"{name}: a key by its name, which leads to no table")
        is_corpus = draft.type == CHUNK  # what its passages share is said of them, and no answer
        if separator is None or new in self._types or is_code or is_corpus:
            return _form_role(draft, profile)
        values = counted(len(profile.counts), "different value")
        draft.guesses.append(f"{name}: {values} in {counted(profile.filled, 'row')} become nodes too")
        return str(ColumnLink(new, "", without_key(name) or name, "", separator))

    def _named_roles(self, draft: Draft) -> tuple[dict[str, str], list[str]]:
        """Return the roles of the columns that name the rows, and why."""
        roles = {**dict.fromkeys(draft.private, IGNORED), **draft.given}
        why = ["type as given" if draft.called else "type by the file's name"]
        same = self._same[draft.file]
        if draft.is_declared and draft.stated:
            why.append("foreign keys as the database declares them")
        if same is not None:
            link = draft.links[same]
            roles[same] = str(ColumnLink(link.to, link.key, "", "same"))
            draft.guesses.append(f"{same}: each row says more of a row of {link.to}")
        elif draft.id_name is None and (key := JOIN.join(joint_key(draft))):
            roles[key] = "prefixed id"
            why.append(f"{key}: together they are different in each row")
        elif draft.id_name is None:
            draft.guesses.append(f"no column has a value of its own in each row: ids are {draft.type}:LINE")
        else:
            roles[draft.id_name] = "prefixed id" if draft.type in self.prefixed else "id"
            if draft.type in self.prefixed:
                why.append(f"{draft.type}: is put before ids, which another table has too")
            if not draft.having("id") and node_role(draft.id_name)[0] != "id":
                draft.guesses.append(f"{draft.id_name}: taken for the id, for every row has its own")
        for name in draft.names:
            roles[name] = "name" if len(draft.names) == 1 else "name part"
            if name not in draft.given and node_role(name)[0] != "name":
                draft.guesses.append(f"{name}: taken for the name")
        return roles, why


def _mapping(draft: Draft, roles: dict[str, str], why: list[str], *, is_of_edges: bool = False) -> FileMapping:
    """Return the mapping of a table, given roles of some columns; values decide the others."""
    for name, profile in draft.open.items():
        if name not in roles:
            roles[name] = _form_role(draft, profile)
    prose = [name for name in draft.open if roles[name] == PROPERTY and draft.open[name].is_prose]
    if prose and not is_of_edges and "text" not in roles.values() and draft.open[prose[0]].has_texts:
        roles[prose[0]] = "text"
        draft.guesses.append(f"{prose[0]}: taken for the text, for it holds sentences")
    has_links = any(role.startswith("edge ") for role in roles.values())
    return FileMapping(
        file=draft.file,
        kind="edges" if is_of_edges else "both" if has_links else "nodes",
        type=draft.called or edge_type_of(draft.name) if is_of_edges else draft.type,
        columns=_ordered(roles, draft),
        why="; ".join(dict.fromkeys([*why, *draft.guesses])),
        questions=tuple(dict.fromkeys(draft.questions)),
    )


def _is_more(draft: Draft, other: Draft) -> bool:
    """Return whether a table has more rows of the things of another: no key of both is that of rows that differ."""
    names = list(other.profiles)
    if set(names) != set(draft.profiles) or not draft.unique:
        return False
    for key in (name for name in draft.unique if draft.profiles[name].is_key and other.profiles[name].is_key):
        if draft.profiles[key].counts.keys().isdisjoint(other.profiles[key].counts):
            return True
        place = names.index(key)
        rows = {row[place]: row for row in other.cells(*names)}
        return all(rows.get(row[place], row) == row for row in draft.cells(*names))
    return True


def _form_role(draft: Draft, profile: ColumnProfile) -> str:
    """Return the role of a column by the form of its values; `property` if cells can be read without it."""
    form = profile.form
    if profile.others and form is not None:
        rest = FormedColumn(profile.name, form, columns=draft.table.columns).rest
        has_words = any(any(map(str.isalnum, value)) for value in profile.others)
        kept = f"kept as {rest}" if has_words else "read as empty"
        draft.questions.append(f"{profile.name}: {_told_others(profile, _what(form, profile))}; {kept}")
    if isinstance(form, Numbers):
        if form.is_open:
            written = "." if any("." in value for value in profile.counts) else ","
            taken = "decimals" if form.decimal == written else "thousands"
            draft.questions.append(f"{profile.name}: 1{written}234 may be thousands or decimals; taken for {taken}")
        if FormedColumn(profile.name, form).name in {*draft.table.columns} - {profile.name}:
            form = Numbers(form.decimal)  # there is a column of that name
        if form.unit_word:
            kept = FormedColumn(profile.name, form).name
            draft.guesses.append(f"{profile.name}: numbers in {form.unit_word}, kept as {kept}")
        is_plain = profile.form == Numbers() and not any(isinstance(number(value), str) for value in profile.counts)
        if profile.others or not is_plain:
            return role_of_form(form)
    elif isinstance(form, Dates):
        if form.is_open and form.order != "iso":
            draft.questions.append(f"{profile.name}: no day is over 12; taken for month before day")
        if profile.others or form.order != "iso":
            return role_of_form(form)
    else:
        return _text_role(draft, profile)
    return PROPERTY


def _what(form: Form, profile: ColumnProfile) -> str:
    """Return what the other values of a column are none of."""
    if isinstance(form, Dates):
        return "date that says day from month" if form.is_open else "date"
    return f"number with {form.decimal} for decimals" if are_unlike(profile.counts) else "number"


def _told_others(profile: ColumnProfile, what: str) -> str:
    """Say how many values of a column are no number or date, and which."""
    count, shown = sum(profile.counts[value] for value in profile.others), ", ".join(profile.others[:3])
    are = "is" if count == 1 else "are"
    return f"{count:,} of {counted(profile.filled, 'value')} {are} no {what} ({shown})"


def _text_role(draft: Draft, profile: ColumnProfile) -> str:
    """Return the role of a column of texts: of lists, of codes that could be numbers, or `property`."""
    if profile.list_separator:
        return f"list {profile.list_separator}"
    is_code = profile.kind == "code"
    if profile.others:
        others = (value for value in profile.counts if value not in profile.others)
        is_code = says(profile.name, "codes") or any(isinstance(number(value), str) for value in others)
        kept = "all are kept as texts" if is_code else "kept beside numbers"
        draft.questions.append(f"{profile.name}: {_told_others(profile, 'number or date')}; {kept}")
    elif profile.is_whole and not profile.has_lists and are_unlike(profile.counts):
        draft.questions.append(f"{profile.name}: numbers of several decimal signs or currencies; kept as texts")
    if is_code and any(not isinstance(number(value), str) for value in profile.counts):
        return "code"
    return PROPERTY


def _ordered(roles: Mapping[str, str], draft: Draft) -> dict[str, str]:
    """Return the roles in the order of the columns, those of one role best first."""

    def order(name: str) -> int:
        if roles[name] == "name part":
            return draft.names.index(name)
        is_ranked = roles[name] in ("name", "type", "text", "aliases") and name not in draft.given
        return node_role(name)[1] if is_ranked else -1

    return {name: roles[name] for name in sorted(roles, key=order)}
