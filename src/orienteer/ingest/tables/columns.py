"""The roles of columns, by the names that people give to the columns of their nodes and edges."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from orienteer.errors import BadInput, BadOption
from orienteer.ingest.formats.table import JOIN
from orienteer.ingest.tables.mapping import IGNORED, PROPERTY, FileMapping

NODE_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": (
        *("id", "node_id", "nodeid", "node_index", "node_idx", "index", "idx", "entity_id"),
        *("curie", "uri", "iri", "node", "pid"),
    ),
    "type": ("type", "kind", "pos", "category", "node_type", "entity_type"),
    "name": ("name", "title", "label", "display_name", "displayname", "node_name"),
    "text": ("text", "definition", "description", "summary"),
    "aliases": (
        *("lemmas", "synonyms", "aliases", "synonym", "alias", "also_known_as", "aka", "other_names"),
        *("alternate_names", "alternatenames", "alternative_names"),
    ),
}
"""Known names, best first. A row uses the first that it fills, and all that hold aliases."""

EDGE_NAMES: Mapping[str, tuple[str, ...]] = {
    "type": (
        *("type", "relation", "metaedge", "predicate", "edge_type", "edge_label", "relationship", "relation_type"),
        *("relationship_type", "rel", "r", "edge", "label", "kind", "display_relation"),
    ),
    "text": NODE_NAMES["text"],
    "weight": ("weight",),
}

ENDS = (
    ("source", "target"),
    ("subject", "object"),
    ("from", "to"),
    ("head", "tail"),
    ("start_node_index", "end_node_index"),
    ("x_index", "y_index"),
    ("source_id", "target_id"),
    ("subject_id", "object_id"),
    ("from_id", "to_id"),
    ("head_id", "tail_id"),
    ("start_id", "end_id"),
    ("start_node", "end_node"),
    ("source_index", "target_index"),
    ("src", "dst"),
    ("x_id", "y_id"),
    ("start", "end"),
    ("h", "t"),
    ("node1", "node2"),
)
"""Known names of the two ends of an edge, best first."""

UNSURE = (("from", "to"), ("start", "end"))
"""Those that other tables have too, for days."""

ROLES = ("id", "name", "text", "aliases", "type", "node_type", "edge_type", "source", "target", "weight")
"""What `--column ROLE=COLUMN` can name; `type` serves nodes and edges."""

REPEATED = frozenset(NODE_NAMES["type"] + NODE_NAMES["name"])
"""What the row of an edge may repeat about its ends (`head_type`, `x_name`)."""


@lru_cache(maxsize=4096)
def plainly(name: str) -> str:
    """Return a column's name as it is compared: `Node ID` and `:NODE_ID` as node_id."""
    return re.sub(r"\W+", "_", name.casefold()).strip("_")


@dataclass(frozen=True, slots=True)
class Columns:
    """A person's options for columns: roles, private ones, lists to turn into edges, the text of nodes."""

    roles: Mapping[str, str] = field(default_factory=dict)
    private: tuple[str, ...] = ()
    explode: Mapping[str, str] = field(default_factory=dict)
    text_from: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for role in self.roles:
            if role not in ROLES:
                raise BadOption(f"No role {role!r} for a column. There are: {', '.join(ROLES)}.")
        refuse_private(self.private, {*self.explode, *self.roles.values(), *self.text_from})

    def role(self, *names: str) -> str | None:
        """Return the column that was named for the first of these roles that has one."""
        return next((self.roles[name] for name in names if name in self.roles), None)


def refuse_private(private: Iterable[str], used: Collection[str]) -> None:
    """Raise `BadOption` if a private column is used."""
    both = sorted({*private} & {*used})
    if both:
        raise BadOption(f"Column {both[0]!r} cannot be private and used at once: leave out one of the options.")


def without_private(mapping: FileMapping, private: Collection[str]) -> FileMapping:
    """Return a mapping that ignores private columns. Raises `BadOption` if one is part of an id, an end or a text."""
    fixed = {*mapping.having("id", "prefixed id", "source", "target")}
    fixed |= {column for column, link in mapping.links.items() if link.end} | {*mapping.text_from}
    refuse_private(private, {part for column in fixed for part in (column, *column.split(JOIN))})
    hidden = {column for column in mapping.columns if not {column, *column.split(JOIN)}.isdisjoint(private)}
    roles = {column: IGNORED if column in hidden else role for column, role in mapping.columns.items()}
    return mapping.with_columns(roles) if hidden and mapping.kind != IGNORED else mapping


def ranks(names: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, int]]:
    """Return the role and the rank of each name."""
    return {name: (role, rank) for role, synonyms in names.items() for rank, name in enumerate(synonyms)}


NODE_RANKS = ranks(NODE_NAMES)
EDGE_RANKS = ranks(EDGE_NAMES)


def node_role(name: str) -> tuple[str, int]:
    """Return the role of a column of nodes by its name, and its rank, 0 for the best; ("", 0) if it is not known."""
    return NODE_RANKS.get(plainly(name), ("", 0))


def edge_role(name: str) -> tuple[str, int]:
    """Return the role of a column of edges by its name, and its rank, as `node_role` does."""
    return EDGE_RANKS.get(plainly(name), ("", 0))


class NodeRoles:
    """Role and rank of each column (or key of an opened object) of a table of nodes."""

    def __init__(self, columns: Columns, mapping: FileMapping | None = None) -> None:
        """Take the roles from a mapping, if there is one; names decide those of other columns."""
        by_hand = {column: (role.removeprefix("node_"), -1) for role, column in columns.roles.items()}
        self._given = {column: pair for column, pair in by_hand.items() if pair[0] in NODE_NAMES}
        if mapping is not None:
            formed, links = mapping.formed, mapping.links
            for rank, (column, role) in enumerate(mapping.columns.items()):
                kind = "formed" if column in formed else "link" if column in links else role.removeprefix("prefixed ")
                self._given[column] = ("", 0) if kind == PROPERTY else (kind, rank)
        self._given |= dict.fromkeys(columns.explode, ("explode", 0)) | dict.fromkeys(columns.private, ("private", 0))
        self._cached: dict[str, tuple[str, int]] = {}

    def of(self, column: str) -> tuple[str, int]:
        """Return the role and its rank, 0 the best; ("", 0) for a mere property."""
        if column not in self._cached:
            role, rank = self._given.get(column) or node_role(column)
            # An id column is named for a whole table; a second one is a property.
            self._cached[column] = ("", 0) if role == "id" else (role, rank)
        return self._cached[column]

    @property
    def seen(self) -> set[str]:
        """Every name that was asked for."""
        return set(self._cached)

    def id_column(self, names: Sequence[str]) -> str | None:
        """Return the column of the ids, or None."""
        roles = [(name, *(self._given.get(name) or node_role(name))) for name in names]
        return min(((rank, name) for name, role, rank in roles if role == "id"), default=(0, None))[1]


@dataclass(frozen=True, slots=True)
class EdgeRoles:
    """The columns of a table of edges by role."""

    source: str
    target: str
    type: str | None
    texts: tuple[str, ...]
    weight: str | None
    display: str | None
    """A readable word beside the type (PrimeKG's `display_relation`)."""
    source_sides: Mapping[str, str]
    """Columns about the source, and their names in a table of nodes."""
    target_sides: Mapping[str, str]

    @classmethod
    def of(cls, names: Sequence[str], columns: Columns, file: object) -> EdgeRoles:
        """Return the roles by the names of columns. Raises `BadInput` that names the option if an end is missing."""
        return cls.of_mapping(FileMapping(file=str(file), kind="edges", columns=edge_columns(names, columns, file)))

    @classmethod
    def of_mapping(cls, mapping: FileMapping) -> EdgeRoles:
        """Return the roles of a mapping of edges."""
        links = {link.end: column for column, link in mapping.links.items()}
        source, target = (links.get(end) or next(iter(mapping.having(end)), "") for end in ("source", "target"))
        if not source or not target:
            raise BadInput(f"{mapping.file}: its mapping names no {'target' if source else 'source'} of its edges")
        best = {role: next(iter(mapping.having(role)), None) for role in ("type", "weight", "label")}
        sides = {
            end: {name: plainly(name).removeprefix(_prefix(column)) for name in mapping.having(f"about {end}")}
            for end, column in (("source", source), ("target", target))
        }
        texts = tuple(mapping.having("text"))
        return cls(source, target, best["type"], texts, best["weight"], best["label"], sides["source"], sides["target"])


def edge_columns(names: Sequence[str], columns: Columns, file: object) -> dict[str, str]:
    """Return the roles of the columns of a table of edges by their names.

    Raises `BadInput` that names the option if an end is missing.
    """
    names = [name for name in names if name not in columns.private]
    source, target = ends(names, columns)
    if source is None or target is None:
        raise BadInput(
            f"{file} has no column for the {'source' if source is None else 'target'} of its edges. "
            f"Its columns are: {', '.join(names)}. Name it with --column source=COLUMN and --column target=COLUMN."
        )
    by_hand = {column: (role.removeprefix("edge_"), -1) for role, column in columns.roles.items()}
    ranked = {name: by_hand.get(name) or edge_role(name) for name in names if name not in (source, target)}
    best = sorted(ranked, key=lambda name: (ranked[name][1], name))
    roles = {source: "source", target: "target"}
    for role in ("type", "text", "weight"):
        having = [name for name in best if ranked[name][0] == role]
        roles |= dict.fromkeys(having if role == "text" else having[:1], role)
    display = (name for name in names if plainly(name) == "display_relation" and roles.get(name) != "type")
    roles |= dict.fromkeys(islice(display, 1), "label")
    first, second = _prefix(source), _prefix(target)
    others = {plainly(name): name for name in names if name not in (source, target)}
    keys = [key.removeprefix(first) for key in others if key.startswith(first) and first != second]
    keys = [key for key in keys if second + key in others]  # what describes the ends comes in pairs
    for end, prefix in (("about source", first), ("about target", second)):
        roles |= {others[prefix + key]: end for key in keys}
    return roles


def ends(names: Sequence[str], columns: Columns) -> tuple[str | None, str | None]:
    """Return the columns of source and target: those named by hand, else the best known pair."""
    by_name = {plainly(name): name for name in reversed(names)}
    whole = [pair for pair in ENDS if by_name.keys() >= set(pair)][:1]
    found = []
    for place, end in enumerate(("source", "target")):
        # Half a pair is for a message that names the missing half.
        known = (by_name[pair[place]] for pair in whole or ENDS[:8] if pair[place] in by_name)
        found.append(columns.role(end) or next(known, None))
    return (found[0] if found[0] in names else None), (found[1] if found[1] in names else None)


def has_sure_ends(names: Sequence[str], columns: Columns) -> bool:
    """Return whether ends are sure: named by hand, with unambiguous names, or next to a column of types."""
    pair = tuple(plainly(name or "") for name in ends(names, columns))
    has_types = any(edge_role(name)[0] == "type" for name in names)
    return columns.role("source", "target") is not None or has_types or pair not in UNSURE


def _prefix(end: str) -> str:
    return re.sub(r"_(node_)?(index|id)$", "", plainly(end)) + "_"


def check_named(columns: Columns, seen: Collection[str]) -> None:
    """Raise `BadInput` if an option names a column that no table has."""
    options = {"--column": columns.roles.values(), "--private": columns.private, "--explode": columns.explode}
    for option, wanted in (options | {"--text-from": columns.text_from}).items():
        for column in wanted:
            if column not in seen:
                raise BadInput(f"{option}: there is no column {column!r}. The columns are: {', '.join(sorted(seen))}.")
