"""The plan that a graph keeps, applied to today's tables, and the differences of a new plan.

A decision stays while its columns are there. What is new is planned around what stays; what leads nowhere any more is
planned anew. Nothing of this happens unsaid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from orienteer.errors import BadInput
from orienteer.ingest.tables.assignment import Assignment, ImportPlan, MappedTable
from orienteer.ingest.tables.mapping import IGNORED, PROPERTY, FileMapping, formed_column, link_of
from orienteer.ingest.tables.mapping_file import broken_links, plan_by
from orienteer.ingest.tables.plan import Table, in_encoding, names_of
from orienteer.records import Record

_ALONE = ("name", "name part", "text", "type", "weight", "label")
"""Roles that a new column does not take from one that has it."""


class Decision(Record):
    """A decision of the kept plan that a new plan would make otherwise."""

    file: str
    column: str = ""
    """Empty where it is about the whole table."""
    kept: str
    new: str
    why: str = ""
    """What tells a new plan so, where it says it."""

    @property
    def line(self) -> str:
        """Return it as a line for people."""
        what = f"{self.file}: {self.column}" if self.column else self.file
        why = f" ({self.why})" if self.why else ""
        formed = formed_column(self.column, self.kept) if self.column else None
        beside = f", texts of another form as {formed.rest}" if formed is not None and formed.form else ""
        return f"{what} would be {self.new}{why}, and is kept as {self.kept}{beside}; --replan makes it so"


class KeptPlan(NamedTuple):
    """A plan that keeps the decisions of another."""

    plan: ImportPlan
    became: tuple[str, ...]
    """What happened to tables and columns that came, went, or lead nowhere any more."""
    otherwise: tuple[Decision, ...]
    """What a new plan would decide."""


def kept_plan(kept: Sequence[FileMapping], assignment: Assignment) -> KeptPlan:
    """Plan today's tables around the mappings of a graph; nobody has looked for null words.

    Raises `BadInput` as a new plan does.
    """
    fresh = assignment.around({})
    known, became = _of_today(kept, fresh)
    stay: dict[str, MappedTable] = {}
    for table in fresh.all_tables:
        if table.file in known:
            fitting, told = _fitted(_as_kept(table, known[table.file]), known[table.file], fresh)
            became += told
            stay |= {table.file: fitting} if fitting is not None else {}
    while lost := [(each.table.file, column) for each, column, link in broken_links(stay.values()) if link.end]:
        file, column = lost[0]
        became.append(f"{file}: planned anew, for what {column} leads to is gone")
        del stay[file]
    if all(each.mapping.kind == IGNORED for each in stay.values()):
        return KeptPlan(fresh, (*became, "no table of the plan is there any more: all is planned anew"), ())
    given = fresh
    if len(stay) < len(fresh.all_tables):
        given = assignment.around({file: each.mapping for file, each in stay.items()})
    ignored = [
        MappedTable(t, FileMapping(file=t.file, kind="ignored", why="no part of the graph")) for t in fresh.others
    ]
    anew = {each.table.file: each for each in (*fresh.tables, *ignored)}
    tables = [stay.get(each.table.file, each) for each in (*given.tables, *ignored)]
    new = [each for each in tables if each.table.file not in stay]
    became += [f"{each.table.file}: new, read as {each.mapping.what}" for each in new if each.table.file not in known]
    tables, told = _leading_somewhere(_with_joined_keys(tables), anew)
    # Where nothing is decided otherwise, what led to it is told as it is today.
    for place, each in enumerate(tables):
        other = anew[each.table.file]
        if each.mapping.reads_as(other.mapping) and each.table.columns == other.table.columns:
            told_today = other.mapping.model_copy(update={"encoding": each.mapping.encoding})
            tables[place] = MappedTable(each.table, told_today)
    otherwise = [d for each in tables for d in _differences(each.mapping, anew[each.table.file].mapping)]
    starts = tuple(f"{each.table.file}: " for each in new)
    guesses = tuple(guess for guess in given.guesses if guess.startswith(starts))
    plan = replace(plan_by(tables, fresh.ignored), guesses=guesses, notes=fresh.notes)
    return KeptPlan(plan, (*became, *told), tuple(otherwise))


def _of_today(kept: Sequence[FileMapping], fresh: ImportPlan) -> tuple[dict[str, FileMapping], list[str]]:
    """Return the mappings of tables that still exist, by today's names, and a line for each that does not.

    The sources may be named in another way.
    """
    full = {f"{table.path.resolve()}{table.file.removeprefix(str(table.path))}": table for table in fresh.all_tables}
    found, gone = dict[str, FileMapping](), list[str]()
    for mapping in kept:
        here = full.get(str(Path(mapping.file).resolve()))
        ending = "/" + mapping.file.lstrip("./")
        several = [here] if here is not None else [table for name, table in full.items() if name.endswith(ending)]
        if len(several) == 1:
            found[several[0].file] = mapping.model_copy(update={"file": several[0].file})
        elif mapping.kind != IGNORED:
            gone.append(f"{mapping.file}: no table any more")
    return found, gone


def _as_kept(table: Table, mapping: FileMapping) -> Table:
    """Return a table with the header and in the letters that its mapping knows, while the file allows them."""
    if not table.has_header and mapping.kind != IGNORED:
        named = replace(table, columns=names_of(table.path, table.format), has_header=True)
        table = named if all(map(named.has, mapping.columns)) else table
    # A file that shows its letters today was written anew.
    return in_encoding(table, mapping.encoding) if mapping.encoding and table.notes.encoding else table


def _is_of_rows(role: str) -> bool:
    """Return whether a role decides the identity of rows: ids, types and ends."""
    link = link_of(role)
    return role in ("id", "prefixed id", "source", "target", "type") or (link is not None and bool(link.end))


def _fitted(table: Table, mapping: FileMapping, fresh: ImportPlan) -> tuple[MappedTable | None, list[str]]:
    """Return a table mapped for today's columns, or None if a column of ids or ends is gone; and the reasons."""
    if mapping.kind == IGNORED:
        return MappedTable(table, mapping), []
    gone = [name for name in mapping.columns if not table.has(name)]
    for name in gone:
        if _is_of_rows(mapping.columns[name]):
            return None, [f"{table.file}: planned anew, for {name} ({mapping.columns[name]}) is gone"]
    told = [f"{table.file}: {name} ({mapping.columns[name]}) is gone" for name in gone]
    roles = {name: role for name, role in mapping.columns.items() if table.has(name)}
    anew = next((each.mapping.columns for each in fresh.tables if each.table.file == table.file), {})
    for name in table.columns:
        if name not in roles:
            role = anew.get(name, PROPERTY)
            is_taken = role in _ALONE and not {role, role.removesuffix(" part")}.isdisjoint(roles.values())
            roles[name] = PROPERTY if is_taken or (_is_of_rows(role) and role != "type") else role
            told.append(f"{table.file}: {name} is new, read as {roles[name]}")
    text_from = tuple(name for name in mapping.text_from if name in table.columns)
    return MappedTable(table, mapping.with_columns(roles).model_copy(update={"text_from": text_from})), told


def _with_joined_keys(tables: Sequence[MappedTable]) -> list[MappedTable]:
    """Join the columns of tables to which a new table leads by several together."""
    wanted = dict.fromkeys((link.node_type, link.key) for each in tables for link in each.mapping.links.values())
    made = []
    for each in tables:
        keys = [key for node_type, key in wanted if node_type == each.mapping.type and not each.mapping.is_of_edges]
        joined = {key: IGNORED for key in each.table.joining(keys).joined if key not in each.mapping.columns}
        columns = {**each.mapping.columns, **joined}
        made.append(MappedTable(each.table, each.mapping.with_columns(columns)) if joined else each)
    return made


def _leading_somewhere(
    tables: Sequence[MappedTable], anew: Mapping[str, MappedTable]
) -> tuple[list[MappedTable], list[str]]:
    """Give columns whose key is gone the roles of a new plan, or make them properties.

    Raises `BadInput` where they are the ends of edges.
    """
    made, told, tried = list(tables), list[str](), set[tuple[str, str]]()
    while broken := broken_links(made):
        each, column, link = broken[0]
        file, roles = each.table.file, dict(each.mapping.columns)
        if link.end:
            raise BadInput(
                f"{file}: its rows are {each.mapping.what}, and {column} leads to {link.node_type}.{link.key}, which "
                "is gone; --replan makes a new plan"
            )
        role = anew[file].mapping.columns.get(column, PROPERTY)
        roles[column] = PROPERTY if (file, column) in tried or _is_of_rows(role) else role
        tried.add((file, column))
        told.append(f"{file}: {column} led to {link.node_type}.{link.key}, which is gone; read as {roles[column]}")
        changed = MappedTable(each.table, each.mapping.with_columns(roles))
        made = [changed if other is each else other for other in made]
    return made, told


def _differences(kept: FileMapping, new: FileMapping) -> list[Decision]:
    """Return the decisions of a new plan that differ for a table, and for its columns if its rows are the same."""
    found = [Decision(file=kept.file, kept=kept.what, new=new.what)] if kept.rows != new.rows else []
    if kept.rows[:2] != new.rows[:2]:
        return found
    told = [text.partition(": ") for text in (*new.questions, *new.why.split("; "))]
    for name in dict.fromkeys((*kept.columns, *new.columns)):
        role, other = (mapping.columns.get(name, "no column") for mapping in (kept, new))
        why = next((why for column, _, why in told if column == name), "")
        found += [Decision(file=kept.file, column=name, kept=role, new=other, why=why)] if role != other else []
    return found
