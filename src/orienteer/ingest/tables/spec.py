"""A table that a person names, with the roles of its columns: `beer_styles.csv:source=beer_id,target=style_code`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from orienteer.errors import BadOption
from orienteer.records import Record

NODE_KEYS = ("id", "name", "text", "aliases", "type")
EDGE_KEYS = ("source", "target", "type", "text", "weight")
"""What can be named of a table of nodes, and of one of edges."""
UNDIRECTED = ":undirected"
_PAIRS = re.compile(r":(?=\w+=)")


class TableSpec(Record):
    """A table with the roles that a person gives its columns. `type` is a column, or else the type of all rows."""

    path: Path
    columns: Mapping[str, str] = {}
    """Columns by role. An end may say what it leads to: `style_code@style`, `style_code@style.code`."""
    undirected: bool = False

    def __str__(self) -> str:
        pairs = ",".join(f"{role}={column}" for role, column in self.columns.items())
        return f"{self.path}{f':{pairs}' if pairs else ''}{UNDIRECTED if self.undirected else ''}"

    def end(self, role: str) -> tuple[str, str, str]:
        """Return the column of an end, the type that it leads to and the column of that, empty where not named."""
        column, _, key = self.columns[role].partition("@")
        node_type, _, name = key.partition(".")
        return column, node_type, name


def spec_of(text: str, *, is_edges: bool) -> TableSpec:
    """Return the table that `F` or `F:role=COLUMN,role=COLUMN[:undirected]` names. Raises `BadOption`."""
    flag, keys = ("--edges", EDGE_KEYS) if is_edges else ("--nodes", NODE_KEYS)
    if Path(text).exists():
        return TableSpec(path=Path(text))
    rest, undirected = text.removesuffix(UNDIRECTED), text.endswith(UNDIRECTED)
    path, *pairs = _PAIRS.split(rest, maxsplit=1)
    columns: dict[str, str] = {}
    for pair in re.split(r",(?=\w+=)", pairs[0]) if pairs else ():
        role, _, column = pair.partition("=")
        if role not in keys or not column:
            raise BadOption(f"{flag} {text}: {pair!r} gives no column a role: write {', '.join(keys)}, each =COLUMN")
        columns[role] = column
    if undirected and not is_edges:
        raise BadOption(f"{flag} {text}: nodes have no direction: leave out {UNDIRECTED}")
    missing = [end for end in ("source", "target") if is_edges and columns and end not in columns]
    if missing:
        raise BadOption(f"{flag} {text}: name both ends, source=COLUMN,target=COLUMN")
    return TableSpec(path=Path(path), columns=columns, undirected=undirected)
