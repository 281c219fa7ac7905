"""Mappings as a file in TOML that a person can change: drafted by `validate`, taken by `import`."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from orienteer.errors import BadInput
from orienteer.ingest.formats.delimited import numbered
from orienteer.ingest.report import Ignored
from orienteer.ingest.tables.assignment import ImportPlan, MappedTable, emptied
from orienteer.ingest.tables.kinds import headless, tables_of
from orienteer.ingest.tables.mapping import IGNORED, ColumnLink, FileMapping
from orienteer.ingest.tables.plan import Table, in_encoding
from orienteer.ingest.tables.spec import check_columns

HEAD = """\
# How each file is read. Change it and import it with: orienteer import SOURCE -o DIR --mapping THIS_FILE
# kind: nodes, edges, both (nodes with edges) or ignored. type: of the nodes or edges, where no column has it.
# text_from: the columns whose values are the text of nodes, which search ranks by, as ["name", "brand"].
# encoding: of a text whose bytes do not show it, as it was guessed: utf-8, cp1252, cp1250, cp1251 ...
# Roles of columns: id, prefixed id (the type is put before it), name, name part, text, aliases, type, weight, label,
# source, target, property, ignored, and what leads to other nodes:
#   "number", "number kg"          numbers, with their unit kept as the property COLUMN_kg; "comma number": 1.234,5
#   "date d/m/y"                   dates in this order, or m/d/y, y/m/d, yyyymmdd, in words
#   "list |", "code"               several values in a cell; kept as it is written, 01067
#   "edge TYPE -> TABLE.COLUMN"    an edge to the row of another table that has the value in this column
#   "edge TYPE -> new TYPE"        an edge to a node that is made of the value; "property" leaves it a property
#   "source TABLE.COLUMN", "target TABLE.COLUMN", "source new TYPE"   the ends of edges
# " split |" after these parts the values of a cell. "row+seat" is a column that is made of both, for ids and links.
"""


def written(mappings: Iterable[FileMapping], sources: Sequence[Path]) -> str:
    """Return mappings as TOML, files by their names within the folders that were given."""
    tables = []
    for mapping in mappings:
        lines = ["[[table]]", f"file = {_text(_within(mapping.file, sources))}", f"kind = {_text(mapping.kind)}"]
        lines += [f"type = {_text(mapping.type)}"] if mapping.type else []
        lines += [f"text_from = [{', '.join(map(_text, mapping.text_from))}]"] if mapping.text_from else []
        lines += ["undirected = true"] if mapping.undirected else []
        lines += [f"encoding = {_text(mapping.encoding)}"] if mapping.encoding else []
        lines += [f"# {mapping.why}".replace("\n", " ")] if mapping.why else []
        lines += [f"# QUESTION: {question}".replace("\n", " ") for question in mapping.questions]
        lines += ["[table.columns]"] if mapping.columns else []
        lines += [f"{_text(column)} = {_text(role)}" for column, role in mapping.columns.items()]
        tables.append("\n".join(lines))
    return "\n\n".join([HEAD, *tables]) + "\n"


def read_mappings(path: Path) -> list[FileMapping]:
    """Return the mappings of a file. Raises `BadInput` with the place of the fault."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}; draft one with: validate --write-mapping") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is no TOML ({error}): mend it, or draft it again") from error
    tables: Any = content.get("table")  # Any: whatever TOML can hold
    if not isinstance(tables, list) or not tables:
        raise BadInput(f"{path} names no table: begin each with [[table]]")
    mappings = []
    for place, table in enumerate(tables, 1):
        try:
            mapping = FileMapping.model_validate(table)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            raise BadInput(f"{path}, table {place}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
        try:
            _ = mapping.links  # each role is read
        except BadInput as error:
            raise BadInput(f"{path}, {mapping.file}: {error}") from error
        mappings.append(mapping)
    return mappings


def plan_of(mappings: Sequence[FileMapping], sources: Sequence[Path], path: Path) -> ImportPlan:
    """Return the plan that a file of mappings makes of some sources; tables that it does not name are left aside."""
    tables, ignored = tables_of(sources)
    mapped: list[MappedTable] = []
    by_file = {_within(table.file, sources): table for table in tables} | {table.file: table for table in tables}
    for mapping in mappings:
        table = by_file.get(mapping.file)
        if table is None:
            raise BadInput(f"{path} names {mapping.file}, which is none of the tables: {', '.join(by_file) or 'none'}")
        table = table_by(table, mapping)
        if mapping.text_from and mapping.is_of_edges:
            raise BadInput(f"{path}, {mapping.file}: text_from is for nodes, and its rows are edges: leave it out")
        check_columns(table, [*mapping.columns, *mapping.text_from])
        mapped.append(MappedTable(table, mapping.model_copy(update={"file": table.file})))
    named = {each.table.file for each in mapped}
    ignored += [Ignored(file=t.file, reason=f"not named by {path}") for t in tables if t.file not in named]
    if broken := broken_links(mapped):
        each, column, link = broken[0]
        of_type = (other.table for other in mapped if other.mapping.type == link.node_type)
        absent = next((absent for table in of_type for absent in table.lacks(link.key)), link.key)
        raise BadInput(
            f"{path}, {each.mapping.file}: {column} leads to {link.node_type}.{link.key}, and no table of "
            f"nodes of the type {link.node_type} has the column {absent}"
        )
    return emptied(plan_by(mapped, ignored))


def table_by(table: Table, mapping: FileMapping) -> Table:
    """Return a table in the letters of its mapping, without a header if the mapping names columns by their places."""
    if mapping.encoding:
        table = in_encoding(table, mapping.encoding)
    is_numbered = mapping.columns.keys() <= set(numbered(len(table.columns)))
    return headless(table) if is_numbered and not all(map(table.has, mapping.columns)) else table


def plan_by(mapped: Sequence[MappedTable], ignored: Sequence[Ignored]) -> ImportPlan:
    """Return the plan that reads tables by these mappings. Tables whose mapping ignores them may hold labels."""
    tables = sorted((x for x in mapped if x.mapping.kind != IGNORED), key=lambda each: each.mapping.is_of_edges)
    return ImportPlan(tuple(tables), tuple(x.table for x in mapped if x.mapping.kind == IGNORED), tuple(ignored))


def broken_links(mapped: Iterable[MappedTable]) -> list[tuple[MappedTable, str, ColumnLink]]:
    """Return the columns that lead to a column that no table of nodes has."""
    read = [each for each in mapped if each.mapping.kind != IGNORED]
    of_nodes = [each for each in read if not each.mapping.is_of_edges]
    keys = {(each.mapping.type, name) for each in of_nodes for name in (*each.table.columns, *each.table.joined)}
    links = [(each, *link) for each in read for link in each.mapping.links.items()]
    return [(each, name, link) for each, name, link in links if link.key and (link.node_type, link.key) not in keys]


def _within(file: str, sources: Sequence[Path]) -> str:
    """Return a file's name within the folder that was given, else its path."""
    for source in sources:
        if source.is_dir() and Path(file).is_relative_to(source):
            return Path(file).relative_to(source).as_posix()
    return file


def _text(text: str) -> str:
    """Return a text as TOML has it: JSON's strings are TOML's, but for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
