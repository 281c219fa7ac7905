"""The tables of a graph as data frames, and the few set operations that golds are made of: pandas, nothing else.

Nodes have the columns `id`, `kind`, `name` and one for each property (missing where a node has none). Edges have
`source`, `kind` and `target`. Ids are those of the imported graph.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "src" / "orienteer" / "ingest" / "demo"
WORLDS = Path(__file__).parent / "worlds"
GRAPHS = (
    "demo",
    "hetionet",
    "debian_bookworm",
    "wordnet30",
    "observatories",
    "harbours",
    "orchestras",
    "parish",
    "railways",
    "go_genes",
    "disease_ontology",
)


class Frames:
    """The nodes and edges of one graph."""

    def __init__(self, nodes: pd.DataFrame, edges: pd.DataFrame) -> None:
        self.nodes = nodes.set_index("id", drop=False)
        """One row for each node, by its id."""
        self._edges = {str(kind): rows.drop_duplicates() for kind, rows in edges.groupby("kind", observed=True)}

    @cached_property
    def _by_kind(self) -> dict[str, pd.DataFrame]:
        return {str(kind): rows for kind, rows in self.nodes.groupby("kind", observed=True)}

    def all(self, kind: str) -> frozenset[str]:
        """Return the nodes of a kind."""
        return frozenset(self._by_kind[kind].index)

    def named(self, *names: str, kind: str) -> frozenset[str]:
        """Return the nodes of a kind with one of these names. Raises `LookupError` if a name has no node there."""
        rows = self._by_kind[kind]
        if missing := set(names) - set(rows["name"]):
            raise LookupError(f"no {kind} has the name {', '.join(sorted(missing))}")
        return frozenset(rows.index[rows["name"].isin(names)])

    def out(self, edge: str, sources: Iterable[str]) -> frozenset[str]:
        """Return where the edges of a kind that leave these nodes lead."""
        rows = self._edges[edge]
        return frozenset(rows["target"][rows["source"].isin(set(sources))])

    def into(self, edge: str, targets: Iterable[str]) -> frozenset[str]:
        """Return where the edges of a kind that lead to these nodes come from."""
        rows = self._edges[edge]
        return frozenset(rows["source"][rows["target"].isin(set(targets))])

    def both(self, edge: str, ends: Iterable[str]) -> frozenset[str]:
        """Return the neighbours of these nodes over the edges of a kind, whichever way they point."""
        ends = set(ends)
        return self.out(edge, ends) | self.into(edge, ends)

    def degrees(self, edge: str, of: str, *, by: str = "source", among: Iterable[str] | None = None) -> pd.Series[int]:
        """Return the number of neighbours of each node of the kind `of`, by id; zeros included.

        `by` is the end of the edge at which the node stands; `among` restricts the neighbours that count.
        """
        other = "target" if by == "source" else "source"
        rows = self._edges[edge]
        if among is not None:
            rows = rows[rows[other].isin(set(among))]
        counts: pd.Series[int] = rows.groupby(by)[other].nunique()
        return counts.reindex(sorted(self.all(of)), fill_value=0)

    def values(self, kind: str, column: str) -> pd.Series[Any]:
        """Return a property of the nodes of a kind, by id; nodes without it are left out."""
        column_of_kind: pd.Series[Any] = self._by_kind[kind][column]
        return column_of_kind.dropna()

    def lacking(self, kind: str, column: str) -> frozenset[str]:
        """Return the nodes of a kind that have no value for a property."""
        return self.all(kind) - frozenset(self.values(kind, column).index)


def chosen(values: pd.Series[Any], mask: pd.Series[bool]) -> frozenset[str]:
    """Return the ids for which the mask, over the same index as the values, is true."""
    return frozenset(values.index[mask])


def groups(values: pd.Series[Any], size: int, *, largest: bool = True) -> tuple[frozenset[str], ...]:
    """Return the ids in the order of their values, those of equal value together, until there are `size` of them."""
    together: list[frozenset[str]] = []
    for value in sorted(values.unique(), reverse=largest):
        if sum(map(len, together)) >= size:
            break
        together.append(frozenset(values.index[values == value]))
    return tuple(together)


def data_folder() -> Path:
    """Return the folder of real graphs: `ORIENTEER_DATA`, else `../shared/data` beside the checkout."""
    return Path(os.environ.get("ORIENTEER_DATA") or ROOT.parent / "shared" / "data")


@cache
def frames(graph: str) -> Frames:
    """Return the tables of one of `GRAPHS`, read once. Raises `FileNotFoundError` where the real graphs are not."""
    if graph == "demo":
        return _demo()
    if (WORLDS / graph / "nodes.csv").is_file():
        return _world(WORLDS / graph)
    if graph == "parish":
        return _parish(WORLDS / graph)
    folder = data_folder() / graph
    nodes, edges = pd.read_parquet(folder / "nodes.parquet"), pd.read_parquet(folder / "edges.parquet")
    nodes = nodes.rename(columns={"pos": "kind"})
    if "kind" not in nodes:
        nodes["kind"] = "node"
    edges = edges.rename(columns={"metaedge": "kind", "relation": "kind"})[["source", "kind", "target"]]
    if "extra" in nodes:
        extra = pd.DataFrame([json.loads(text) if text else {} for text in nodes["extra"]], index=nodes.index)
        nodes = pd.concat([nodes.drop(columns="extra"), extra], axis="columns")
    texts = nodes.select_dtypes(["object", "string"]).columns
    nodes[texts] = nodes[texts].mask(nodes[texts].map(lambda value: isinstance(value, str) and not value))
    return Frames(nodes, edges)


def _demo() -> Frames:
    nodes = pd.read_json(DEMO / "nodes.jsonl", lines=True).rename(columns={"type": "kind"})
    properties = pd.DataFrame(nodes["properties"].tolist(), index=nodes.index)
    edges = pd.read_json(DEMO / "edges.jsonl", lines=True).rename(columns={"type": "kind"})
    return Frames(pd.concat([nodes.drop(columns="properties"), properties], axis="columns"), edges)


def _world(folder: Path) -> Frames:
    """Return the tables of an invented world, where only an empty cell is no value."""
    nodes, edges = (
        pd.read_csv(folder / f"{name}.csv", keep_default_na=False, na_values=[""]).rename(columns={"type": "kind"})
        for name in ("nodes", "edges")
    )
    return Frames(nodes, edges)


PARISH_KEYS = {
    "building_id",
    "department_id",
    "garage_id",
    "head_id",
    "lead_id",
    "manager_id",
    "ordered_by",
    "project_id",
    "site_id",
    "supplier_id",
}
"""The columns of the parish that hold ids of other rows; the edges are called as the columns, less `_id`."""
PARISH_KINDS = {"job_title", "status", "item", "town", "fuel"}
"""The columns of the parish whose words become nodes too, such as `fuel:diesel`."""


def _parish(folder: Path) -> Frames:
    """Return the tables of the parish as one graph; an empty cell and `n/a` are no value."""
    nodes: list[pd.DataFrame] = []
    edges: list[pd.DataFrame] = []
    for path in sorted(folder.glob("*.csv")):
        rows = pd.read_csv(path, dtype="object", keep_default_na=False, na_values=["", "n/a"])
        if path.stem == "assignments":
            ends = rows.rename(columns={"employee_id": "source", "project_id": "target"})
            edges.append(ends[["source", "target"]].assign(kind="assignments"))
            continue
        for column in PARISH_KEYS.intersection(rows):
            ends = rows[["id", column]].dropna().set_axis(["source", "target"], axis="columns")
            edges.append(ends.assign(kind=column.removesuffix("_id")))
        for column in PARISH_KINDS.intersection(rows):
            ends = rows[["id", column]].dropna().set_axis(["source", "name"], axis="columns")
            ends["target"] = column + ":" + ends["name"]
            edges.append(ends[["source", "target"]].assign(kind=column))
            words = ends[["target", "name"]].drop_duplicates().rename(columns={"target": "id"})
            nodes.append(words.assign(kind=column))
        if "name" not in rows:
            rows["name"] = rows["id"]
        nodes.append(rows.assign(kind=path.stem.removesuffix("s")))
    return Frames(pd.concat(nodes, ignore_index=True), pd.concat(edges, ignore_index=True))
