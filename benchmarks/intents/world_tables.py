"""The two invented worlds as data frames, and the few operations that their golds need beyond those of `Frames`.

    python -m benchmarks.intents.world_tables

checks every question over them: golds compute and are not trivial, and no refused word is anywhere in the tables.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pandas as pd

from .frames import GRAPHS, WORLDS, Frames, frames, groups
from .intent import Gold, Intent, Nodes, Number, Refusal, Top, Values
from .loader import entries


def named(w: Frames, *names: str, kind: str | None = None) -> frozenset[str]:
    """Return the nodes with one of these names or aliases. Raises `LookupError` if a name has no node."""
    rows = w.nodes.reset_index(drop=True) if kind is None else w.nodes[w.nodes["kind"] == kind].reset_index(drop=True)
    aliases = rows.assign(name=rows["aliases"].str.split("|")).explode("name")
    known = pd.concat([rows, aliases])[["id", "name"]]
    known = known[known["name"].isin(names)]
    if missing := set(names) - set(known["name"]):
        raise LookupError(f"no node has the name {', '.join(sorted(missing))}")
    return frozenset(known["id"])


def where(w: Frames, kind: str, holds: Callable[[Any], Any]) -> frozenset[str]:
    """Return the nodes of a kind for whose rows `holds` is true: it takes their data frame and gives a mask."""
    rows = w.nodes[w.nodes["kind"] == kind]
    return frozenset(rows.index[holds(rows)])


def column(w: Frames, among: Iterable[str], name: str) -> pd.Series[Any]:
    """Return a property of some nodes by their ids, without the nodes that lack it."""
    return w.nodes.loc[sorted(among), name].dropna()


def value(w: Frames, node: str, name: str, *, kind: str | None = None) -> Number | Values:
    """Return what a property of the only node with a name says. Raises `ValueError` if it is not the only one."""
    content = column(w, named(w, node, kind=kind), name).item()
    return Values(frozenset([content])) if isinstance(content, str) else Number(float(content))


def highest(values: pd.Series[Any]) -> Nodes:
    """Return every node with the highest value."""
    return Nodes(frozenset(values.index[values == values.max()]))


def lowest(values: pd.Series[Any]) -> Nodes:
    """Return every node with the lowest value."""
    return Nodes(frozenset(values.index[values == values.min()]))


def above(values: pd.Series[Any], bound: float) -> Nodes:
    """Return every node with a value over the bound."""
    return Nodes(frozenset(values.index[values > bound]))


def top(values: pd.Series[Any], size: int, *, largest: bool = True) -> Top:
    """Return the first nodes by value."""
    return Top(groups(values, size, largest=largest), size)


def tally(ids: Iterable[str], neighbours: Callable[[str], frozenset[str]]) -> pd.Series[Any]:
    """Return how many neighbours each node has, by its id."""
    return pd.Series({id_: len(neighbours(id_)) for id_ in sorted(ids)})


def same_set(w: Frames, edge: str, nodes: frozenset[str], among: frozenset[str]) -> frozenset[str]:
    """Return the nodes whose edges of a kind lead exactly where those of `nodes` lead, less `nodes` themselves."""
    targets = w.out(edge, nodes)
    return frozenset(id_ for id_ in among if w.out(edge, [id_]) == targets) - nodes


def main() -> int:
    """Print the faults, and return 1 if there are any."""
    worlds = tuple(graph for graph in GRAPHS if (WORLDS / graph).is_dir())
    faults = [
        f"{graph} {split}: {intent.name}: {fault}"
        for graph, split, intent in entries(worlds)
        for fault in _faults(intent, frames(graph))
    ]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


def _faults(intent: Intent, w: Frames) -> Iterator[str]:
    """Say which gold is trivial or impossible, and which phrasing lacks the word that a refusal has to name."""
    golds = [gold(w) for gold in (intent.gold, *intent.also)]
    for gold in golds:
        yield from _faults_of_gold(gold, w)
    if words := [gold.word.casefold() for gold in golds if isinstance(gold, Refusal)]:
        for phrasing in intent.phrasings:
            if not any(word in phrasing.casefold() for word in words):
                yield f"none of {words} is in: {phrasing}"


def _faults_of_gold(gold: Gold, w: Frames) -> Iterator[str]:
    """Say what makes a gold trivial or impossible."""
    match gold:
        case Nodes(ids):
            if not ids:
                yield "no node"
            if any(ids >= w.all(kind) for kind in w.nodes["kind"].unique()):
                yield "every node of a kind"
        case Top(groups, size):
            before = sum(map(len, groups[:-1]))
            if size < 2 or before + len(groups[-1]) > size:
                yield "the last places are tied"
        case Number(number) if not number:
            yield "nothing to count"
        case Refusal(_, word):
            if word.casefold() in w.nodes.astype(str).to_csv().casefold():
                yield f"the world holds {word}"


if __name__ == "__main__":
    sys.exit(main())
