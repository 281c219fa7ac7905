"""The tables of a graph as data frames, and the few operations that golds are made of: pandas, nothing else.

Nodes have the columns `id`, `kind`, `name` and one for each property (missing where a node has none). Edges have
`source`, `kind` and `target`. Ids are those of the imported graph.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from .intent import Nodes, Number, Top, Values

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

    def id_of(self, kind: str, *names: str) -> frozenset[str]:
        """Return the nodes of a kind with one of these names, each of which only one node may bear."""
        ids = self.named(*names, kind=kind)
        if len(ids) != len(names):
            raise ValueError(f"shared by two: {', '.join(names)}")
        return ids

    def called(self, *names: str, kind: str | None = None) -> frozenset[str]:
        """Return the nodes with one of these names or aliases. Raises `LookupError` if a name has no node."""
        rows = (self.nodes if kind is None else self._by_kind[kind]).reset_index(drop=True)
        aliases = rows.assign(name=rows["aliases"].str.split("|")).explode("name")
        known = pd.concat([rows, aliases])[["id", "name"]]
        known = known[known["name"].isin(names)]
        if missing := set(names) - set(known["name"]):
            raise LookupError(f"no node has the name {', '.join(sorted(missing))}")
        return frozenset(known["id"])

    def synonym(self, text: str, *, kind: str) -> frozenset[str]:
        """Return the only node of a kind with a synonym."""
        synonyms = self._by_kind[kind]["synonyms"].explode()
        (id_,) = synonyms.index[synonyms == text]
        return frozenset([id_])

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

    def all_out(self, edge: str, sources: Iterable[str]) -> frozenset[str]:
        """Return the nodes that edges of a kind lead to from these nodes, over one edge or several in a row."""
        return _closure(lambda ids: self.out(edge, ids), sources)

    def all_into(self, edge: str, targets: Iterable[str]) -> frozenset[str]:
        """Return the nodes that edges of a kind lead from to these nodes, over one edge or several in a row."""
        return _closure(lambda ids: self.into(edge, ids), targets)

    def leading(self, kind: str, edge: str, targets: Iterable[str]) -> frozenset[str]:
        """Return the nodes of a kind with an edge to one of these nodes, where other kinds have that edge too."""
        return self.into(edge, targets) & self.all(kind)

    def same_set(self, edge: str, nodes: frozenset[str], among: frozenset[str]) -> frozenset[str]:
        """Return the nodes whose edges of a kind lead exactly where those of `nodes` lead, less `nodes` themselves."""
        targets = self.out(edge, nodes)
        return frozenset(id_ for id_ in among if self.out(edge, [id_]) == targets) - nodes

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

    def where(self, kind: str, holds: Callable[[pd.DataFrame], pd.Series[bool]]) -> frozenset[str]:
        """Return the nodes of a kind for whose rows `holds` is true: it takes their data frame and gives a mask."""
        rows = self._by_kind[kind]
        return frozenset(rows.index[holds(rows)])

    def column(self, among: Iterable[str], name: str) -> pd.Series[Any]:
        """Return a property of some nodes by their ids, without the nodes that lack it."""
        return self.nodes.loc[sorted(among), name].dropna()

    def value(self, node: str, name: str, *, kind: str | None = None) -> Number | Values:
        """Return what a property of the only node with a name says. Raises `ValueError` if it is not the only one."""
        content = self.column(self.called(node, kind=kind), name).item()
        return Values(frozenset([content])) if isinstance(content, str) else Number(float(content))

    # The cells of the parish are all texts; these read them.

    def numbers(self, kind: str, column: str) -> pd.Series[Any]:
        """Return a property as numbers, less any unit after them, by id; nodes without it are left out."""
        texts = self.values(kind, column)
        return texts.str.extract(r"^(-?\d+(?:\.\d+)?)(?: \w+)?$", expand=False).astype(float)

    def number_of(self, kind: str, name: str, column: str) -> float:
        """Return the number that a property of the only node with a name says."""
        (id_,) = self.id_of(kind, name)
        return float(self.numbers(kind, column)[id_])

    def text_of(self, kind: str, name: str, column: str) -> frozenset[str]:
        """Return the text that a property of the only node with a name says."""
        (id_,) = self.id_of(kind, name)
        return frozenset([str(self.values(kind, column)[id_])])

    def equal(self, kind: str, column: str, text: str) -> frozenset[str]:
        """Return the nodes of a kind whose property says exactly this."""
        values = self.values(kind, column)
        return frozenset(values.index[values == text])


def _closure(step: Callable[[Iterable[str]], frozenset[str]], ids: Iterable[str]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    while ids := step(ids) - found:
        found |= ids
    return found


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


def top(values: pd.Series[Any], size: int, *, largest: bool = True) -> Top:
    """Return the first nodes by value."""
    return Top(groups(values, size, largest=largest), size)


def highest(values: pd.Series[Any]) -> Nodes:
    """Return every node with the highest value."""
    return Nodes(chosen(values, values == values.max()))


def lowest(values: pd.Series[Any]) -> Nodes:
    """Return every node with the lowest value."""
    return Nodes(chosen(values, values == values.min()))


def above(values: pd.Series[Any], bound: float) -> Nodes:
    """Return every node with a value over the bound."""
    return Nodes(chosen(values, values > bound))


def tally(ids: Iterable[str], neighbours: Callable[[str], frozenset[str]]) -> pd.Series[Any]:
    """Return how many neighbours each node has, by its id."""
    return pd.Series({id_: len(neighbours(id_)) for id_ in sorted(ids)})


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
