"""Tables as people have them -> their mappings: ids, names, columns that lead to other tables, kinds of things."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from orienteer.display import counted
from orienteer.graph.reserved import CHUNK
from orienteer.ingest.tables.categories import REPEATS, kind_of, kind_separator
from orienteer.ingest.tables.columns import EDGE_RANKS, NODE_RANKS, plainly
from orienteer.ingest.tables.decision import joined_columns, says_more
from orienteer.ingest.tables.draft import SURE, Draft, Link, TableKey
from orienteer.ingest.tables.forms import Dates, Numbers
from orienteer.ingest.tables.keys import id_column, joint_key, name_columns
from orienteer.ingest.tables.links import chosen, find_links
from orienteer.ingest.tables.mapping import IGNORED, PROPERTY, ColumnLink, FileMapping, FormedColumn, role_of_form
from orienteer.ingest.tables.plan import JOIN
from orienteer.ingest.tables.profile import ColumnProfile
from orienteer.ingest.tables.type_names import (
    edge_type_of,
    is_code as is_code_name,
    is_key,
    node_type_of,
    without_key,
    words_of,
)
from orienteer.ingest.tables.values import number


class Mapper:
    """Maps tables that belong together. The drafts keep what was guessed on the way."""

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
        self.prefixed = _colliding([key for key in self.keys if key.is_id]) - kept.keys()
        self.prefixed |= {name for name, mapping in kept.items() if mapping.having("prefixed id")}
        """The types whose ids get their type before them."""
        self._is_alone = not (self.prefixed or any(draft.links for draft in drafts))
        self._kinds = {
            kind_of(name)
            for draft in drafts
            for name, profile in draft.open.items()
            if name not in (draft.id_name, *draft.names, *draft.links) and kind_separator(profile) is not None
        }

    def _tell_apart(self) -> None:
        """Give tables that would have one type types of their own, unless they hold more rows of one thing."""
        for draft in self._drafts:
            draft.told_apart = _type_beside(draft, self._drafts)
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
            declared = dict(draft.declared or {})
            pair = joint_key(draft)
            declared |= {JOIN.join(pair): (draft.type, JOIN.join(pair))} if pair else {}
            for name, (node_type, key) in declared.items():
                other = next((other for other in self._drafts if other.type == node_type), None)
                if JOIN in name and other is not None and draft.table.has(name) and other.table.has(key):
                    draft.join(*name.split(JOIN))
                    other.join(*key.split(JOIN))
            for other in self._drafts if pair else ():
                spelled = {plainly(name): name for name in other.open}
                own = [spelled[plainly(name)] for name in pair if plainly(name) in spelled]
                if other is not draft and len(own) == len(pair):
                    other.join(*own)
            parts = draft.parts
            if parts and any(
                profile.has_blanks for other in self._drafts for profile in other.open.values() if other is not draft
            ):
                draft.join(*parts)
                draft.join(*reversed(parts))

    def _find(self) -> None:
        """Find what leads where, then what names the rows, for what others lead to is an id."""
        found = find_links(self._drafts)
        for draft in self._drafts:
            if draft.kept is not None:
                draft.id_name = next(iter(draft.kept.having("id", "prefixed id")), None)
                draft.names = tuple(draft.kept.having("name", "name part"))
                continue
            links = [link for link in found[draft.file] if link.column in draft.open]
            referred = Counter(
                link.key
                for other in self._drafts
                for link in found[other.file]
                if other is not draft and link.to == draft.type
            )
            away = {link.column for link in links if link.to != draft.type}
            referred.update(link.key for link in links if link.to == draft.type and link.column not in away)
            draft.id_name = draft.having("id")
            if draft.id_name is None and draft.declared is None:
                draft.id_name = id_column(draft, links, referred)
            named = draft.having("name")
            taken = {link.column for link in links if link.to != draft.type or link.bits > SURE}
            draft.names = (named,) if named else name_columns(draft, taken)
        for draft in self._drafts:
            if draft.kept is not None:
                kept = {name: link for name, link in draft.kept.links.items() if link.key}
                draft.links = {n: Link(n, x.node_type, x.key, 1.0, SURE, 1.0, x.separator) for n, x in kept.items()}
                continue
            draft.links = chosen(draft, found[draft.file], self._drafts) | self._declared(draft)
            if draft.having("name") is None and (set(draft.names) & draft.links.keys() or not draft.names):
                draft.names = name_columns(draft, draft.links)
        for draft in self._drafts:
            leads_by_name = {(other.type, other.names[0]) for other in self._drafts if len(other.names) == 1}
            draft.links = {
                name: replace(link, is_key_name=(link.to, link.key) in leads_by_name)
                for name, link in draft.links.items()
            }
            found_here = [link for link in draft.links.values() if link.column not in (draft.declared or ())]
            draft.guesses += [link.reason for link in found_here]
            draft.questions += [link.question for link in found_here if link.question]

    def _declared(self, draft: Draft) -> dict[str, Link]:
        """Return the foreign keys that a database declares, and what rows within rows are sure to lead to."""
        links = {}
        for name, (node_type, column) in (draft.declared or {}).items():
            other = next((o for o in self._drafts if o.type == node_type and column in o.open | o.joined), None)
            if other is None or name not in draft.open | draft.joined:
                continue
            if name == draft.id_name:
                draft.questions.append(
                    f"{name}: the id, which leads to {node_type}.{column} too: no edge is made of it"
                )
                continue
            links[name] = Link(name, node_type, column, 1.0, SURE, 1.0)
        for name, (file, column) in draft.stated.items():
            other = next((other for other in self._drafts if other.file == file and column in other.open), None)
            if other is not None and name in draft.open and name != draft.id_name:
                separator = "json" if draft.open[name].has_lists else ""
                links[name] = Link(name, other.type, column, 1.0, SURE, 1.0, separator)
        return links

    def mappings(self, edges: Sequence[FileMapping]) -> list[FileMapping]:
        """Return how each table is read, beside other tables, of edges."""
        ends = [link for mapping in edges for link in mapping.links.values()]
        return [
            draft.kept or (self._of_edges(draft) if self._edges[draft.file] else self._of_things(draft, ends))
            for draft in self._drafts
        ]

    def of_named(self, draft: Draft) -> FileMapping:
        """Return the mapping of a table whose columns have known names; the others are told by their values."""
        is_of_edges = "source" in draft.given.values()
        return draft.kept or _mapping(draft, dict(draft.given), [draft.why], is_of_edges=is_of_edges)

    def _of_edges(self, draft: Draft) -> FileMapping:
        """Return the mapping of a table whose rows join the things of two columns."""
        (first, source), (second, target) = self._edges[draft.file].items()
        roles = dict.fromkeys(draft.private, IGNORED)
        roles |= {first: str(replace(source, end="source")), second: str(replace(target, end="target"))}
        for name in draft.open.keys() - roles.keys():
            role = EDGE_RANKS.get(plainly(name), ("", 0))[0]
            roles |= {name: role} if role in ("text", "weight") else {}
        joins = f"each row joins {first} and {second}"
        draft.guesses.insert(0, joins)
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
            edge_type = link.to if name in draft.joined else edge_type_of_column(name)
            return str(ColumnLink(link.to, link.key, edge_type, "", link.separator))
        role = NODE_RANKS.get(plainly(name), ("", 0))[0]
        if role == "name" and draft.names and draft.open[draft.names[0]].filled == draft.rows:
            role = ""  # the title of a person, who has a name
        # Nodes beside edges have their kinds in a column; rows alone may, if it is called the type.
        has_kinds = self._has_edges or (self._is_alone and plainly(name) in ("type", "node_type", "entity_type"))
        if role in ("name", "aliases", "text") or (role == "type" and has_kinds and not draft.called):
            return role
        if name.startswith("Unnamed:") and profile.is_key:
            return IGNORED
        new = kind_of(name)
        fewest = 1 if new in self._kinds else REPEATS
        is_plain = self._has_edges or profile.form is not None
        separator = None if is_plain else kind_separator(profile, fewest=fewest)
        is_code = without_key(name) != "_".join(words_of(name)) and any(
            without_key(name) == "_".join(words_of(other)) for other in draft.profiles
        )
        is_part = any(name in joined.split(JOIN) for joined in draft.joined)
        if is_key(name) and profile.is_numeric and not (is_code or is_part):
            draft.questions.append(f"{name}: a key by its name, which leads to no table")
        is_corpus = draft.type == CHUNK  # what its passages share is said of them, and no answer
        if separator is None or new in self._types or is_code or is_corpus:  # a code is that of another column
            return _form_role(draft, profile)
        values = counted(len(profile.counts), "different value")
        draft.guesses.append(f"{name}: {values} in {counted(profile.filled, 'row')} become nodes too")
        return str(ColumnLink(new, "", edge_type_of_column(name), "", separator))

    def _named_roles(self, draft: Draft) -> tuple[dict[str, str], list[str]]:
        """Return the roles of the columns that name the rows, and why."""
        roles = {**dict.fromkeys(draft.private, IGNORED), **draft.given}
        why = ["type as given" if draft.called else "type by the file's name"]
        same = self._same[draft.file]
        if draft.declared:
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
            if not draft.having("id") and NODE_RANKS.get(plainly(draft.id_name), ("", 0))[0] != "id":
                draft.guesses.append(f"{draft.id_name}: taken for the id, for every row has its own")
        for name in draft.names:
            roles[name] = "name" if len(draft.names) == 1 else "name part"
            if name not in draft.given and NODE_RANKS.get(plainly(name), ("", 0))[0] != "name":
                draft.guesses.append(f"{name}: taken for the name")
        return roles, why


def _mapping(draft: Draft, roles: dict[str, str], why: list[str], *, is_of_edges: bool = False) -> FileMapping:
    """Return the mapping of a table, given roles of its columns; what the other columns are, their values tell."""
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


def _type_beside(draft: Draft, drafts: Sequence[Draft]) -> str:
    """Return the type of a table whose name begins with that of another: `product_copy` beside `products`."""
    own = node_type_of(draft.name)
    begun = [each.name for each in drafts if own.startswith(f"{edge_type_of(each.name)}_")]
    name = max(begun, key=len, default="")
    return node_type_of(name) + own.removeprefix(edge_type_of(name)) if name else ""


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


def edge_type_of_column(column: str) -> str:
    """Return the type of the edges that a column makes: its name, without the words for keys."""
    return without_key(column) or column


def _colliding(keys: Sequence[TableKey]) -> set[str]:
    """Return the types whose ids are ids of another table too."""
    return {
        key.table
        for key in keys
        for other in keys
        if other is not key and other.table != key.table and not key.values.isdisjoint(other.values)
    }


def _form_role(draft: Draft, profile: ColumnProfile) -> str:
    """Return the role of a column of numbers or dates that cells alone do not tell; `property` for others."""
    form = profile.form
    if profile.others and form is not None:
        what = "number" if isinstance(form, Numbers) else "date"
        rest = FormedColumn(profile.name, form, columns=draft.table.columns).rest
        words = [value for value in profile.others if any(map(str.isalnum, value))]
        kept = f"kept as {rest}" if words else "read as empty"
        draft.questions.append(f"{profile.name}: {_told_others(profile, what)}; {kept}")
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
        if form.is_open:
            draft.questions.append(f"{profile.name}: no day is over 12; taken for month before day")
        if profile.others or form.order != "iso":
            return role_of_form(form)
    else:
        return _text_role(draft, profile)
    return PROPERTY


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
        is_code = is_code_name(profile.name) or any(isinstance(number(value), str) for value in others)
        kept = "all are kept as texts" if is_code else "kept beside numbers"
        draft.questions.append(f"{profile.name}: {_told_others(profile, 'number or date')}; {kept}")
    if is_code and any(not isinstance(number(value), str) for value in profile.counts):
        return "code"
    return PROPERTY


def _ordered(roles: Mapping[str, str], draft: Draft) -> dict[str, str]:
    """Return the roles in the order of the columns, those of one role best first."""

    def order(name: str) -> int:
        if roles[name] == "name part":
            return draft.names.index(name)
        is_ranked = roles[name] in ("name", "type", "text", "aliases") and name not in draft.given
        return NODE_RANKS.get(plainly(name), ("", 0))[1] if is_ranked else -1

    return {name: roles[name] for name in sorted(roles, key=order)}
