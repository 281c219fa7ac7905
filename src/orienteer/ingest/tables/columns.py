"""The roles of columns, by the names that people give to the columns of their nodes and edges."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from orienteer.errors import BadInput, BadOption
from orienteer.ingest.formats.table import JOIN
from orienteer.ingest.tables.mapping import IGNORED, PROPERTY, FileMapping, formed_column, link_of

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
    """What a person says of the columns: roles by hand, columns to leave out, list columns to turn into edges."""

    roles: Mapping[str, str] = field(default_factory=dict)
    private: tuple[str, ...] = ()
    explode: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for role in self.roles:
            if role not in ROLES:
                raise BadOption(f"No role {role!r} for a column. There are: {', '.join(ROLES)}.")
        refuse_private(self.private, {*self.explode, *self.roles.values()})

    def role(self, *names: str) -> str | None:
        """Return the column that was named for the first of these roles that has one."""
        return next((self.roles[name] for name in names if name in self.roles), None)


def refuse_private(private: Iterable[str], used: Collection[str]) -> None:
    """Raise `BadOption` if a private column is used."""
    both = sorted({*private} & {*used})
    if both:
        raise BadOption(f"Column {both[0]!r} cannot be private and used at once: leave out one of the options.")


def without_private(mapping: FileMapping, private: Collection[str]) -> FileMapping:
    """Return a mapping that ignores private columns. Raises `BadOption` if one is, or is part of, an id or an end."""
    fixed = {*mapping.having("id", "prefixed id", "source", "target")}
    fixed |= {column for column, link in mapping.links.items() if link.end}
    refuse_private(private, {part for column in fixed for part in (column, *column.split(JOIN))})
    hidden = {column for column in mapping.columns if not {column, *column.split(JOIN)}.isdisjoint(private)}
    roles = {column: IGNORED if column in hidden else role for column, role in mapping.columns.items()}
    return mapping.with_columns(roles) if hidden and mapping.kind != IGNORED else mapping


def ranks(names: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, int]]:
    """Return the role and the rank of each name."""
    return {name: (role, rank) for role, synonyms in names.items() for rank, name in enumerate(synonyms)}


NODE_RANKS = ranks(NODE_NAMES)
EDGE_RANKS = ranks(EDGE_NAMES)


class NodeRoles:
    """Role and rank of each column (or key of an opened object) of a table of nodes."""

    def __init__(self, columns: Columns, mapping: FileMapping | None = None) -> None:
        """Take the roles from a mapping, where there is one; names tell those of the columns that it lacks."""
        by_hand = {column: (role.removeprefix("node_"), -1) for role, column in columns.roles.items()}
        self._given = {column: pair for column, pair in by_hand.items() if pair[0] in NODE_NAMES}
        for rank, (column, role) in enumerate(mapping.columns.items() if mapping else ()):
            kind = (
                "formed" if formed_column(column, role) is not None else "link" if link_of(role) is not None else role
            )
            kind = kind.removeprefix("prefixed ")
            self._given[column] = ("", 0) if kind == PROPERTY else (kind, rank)
        self._given |= dict.fromkeys(columns.explode, ("explode", 0)) | dict.fromkeys(columns.private, ("private", 0))
        self._cached: dict[str, tuple[str, int]] = {}

    def of(self, column: str) -> tuple[str, int]:
        """Return the role and its rank, 0 the best; ("", 0) for a mere property."""
        pair = self._cached.get(column)
        if pair is None:
            pair = self._given.get(column) or NODE_RANKS.get(plainly(column), ("", 0))
            if pair[0] == "id":
                pair = ("", 0)  # an id column is named for a whole table; a second one is a property
            self._cached[column] = pair
        return pair

    @property
    def seen(self) -> set[str]:
        """Every name that was asked for."""
        return set(self._cached)

    def id_column(self, names: Sequence[str]) -> str | None:
        """Return the column of the ids, or None."""
        ranked = []
        for name in names:
            role, rank = self._given.get(name) or NODE_RANKS.get(plainly(name), ("", 0))
            if role == "id":
                ranked.append((rank, name))
        return min(ranked)[1] if ranked else None


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
        """Tell the columns' roles. Raises `BadInput` that names the option where an end is missing."""
        names = [name for name in names if name not in columns.private]
        source, target = ends(names, columns)
        if source is None or target is None:
            raise BadInput(
                f"{file} has no column for the {'source' if source is None else 'target'} of its edges. "
                f"Its columns are: {', '.join(names)}. Name it with --column source=COLUMN and --column target=COLUMN."
            )
        by_hand = {column: (role.removeprefix("edge_"), -1) for role, column in columns.roles.items()}
        ranked: dict[str, list[tuple[int, str]]] = {"type": [], "text": [], "weight": []}
        for name in names:
            role, rank = by_hand.get(name) or EDGE_RANKS.get(plainly(name), ("", 0))
            if role in ranked and name not in (source, target):
                ranked[role].append((rank, name))
        best = {role: [name for _, name in sorted(candidates)] for role, candidates in ranked.items()}
        type_column = next(iter(best["type"]), None)
        display = next((n for n in names if plainly(n) == "display_relation" and n != type_column), None)
        source_sides, target_sides = _sides(names, source, target)
        texts, weight = tuple(best["text"]), next(iter(best["weight"]), None)
        return cls(source, target, type_column, texts, weight, display, source_sides, target_sides)

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


def ends(names: Sequence[str], columns: Columns) -> tuple[str | None, str | None]:
    """Return the columns of source and target: those named by hand, else the best known pair."""
    by_name = {plainly(name): name for name in reversed(names)}
    end_names = next((pair for pair in ENDS if pair[0] in by_name and pair[1] in by_name), None)
    source = columns.role("source") or (by_name[end_names[0]] if end_names else None)
    target = columns.role("target") or (by_name[end_names[1]] if end_names else None)
    if end_names is None:  # half a pair, for a message that names the missing half
        source = source or next((by_name[pair[0]] for pair in ENDS[:8] if pair[0] in by_name), None)
        target = target or next((by_name[pair[1]] for pair in ENDS[:8] if pair[1] in by_name), None)
    return (source if source in names else None), (target if target in names else None)


def has_sure_ends(names: Sequence[str], columns: Columns) -> bool:
    """Return whether columns are named as ends by hand, or as nothing else is named; or their types stand beside."""
    pair = tuple(plainly(name or "") for name in ends(names, columns))
    has_types = any(EDGE_RANKS.get(plainly(name), ("", 0))[0] == "type" for name in names)
    return columns.role("source", "target") is not None or has_types or pair not in UNSURE


def _prefix(end: str) -> str:
    return re.sub(r"_(node_)?(index|id)$", "", plainly(end)) + "_"


def _sides(names: Sequence[str], source: str, target: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the columns that describe the two ends, which come in pairs: head_type and tail_type."""
    first, second = _prefix(source), _prefix(target)
    if first == second:
        return {}, {}
    others = {plainly(name): name for name in names if name not in (source, target)}
    shared = [
        key.removeprefix(first)
        for key in others
        if key.startswith(first) and second + key.removeprefix(first) in others
    ]
    return {others[first + key]: key for key in shared}, {others[second + key]: key for key in shared}


def check_named(columns: Columns, seen: Collection[str]) -> None:
    """Raise `BadInput` if an option names a column that no table has."""
    options = {"--column": columns.roles.values(), "--private": columns.private, "--explode": columns.explode}
    for option, wanted in options.items():
        for column in wanted:
            if column not in seen:
                raise BadInput(f"{option}: there is no column {column!r}. The columns are: {', '.join(sorted(seen))}.")
