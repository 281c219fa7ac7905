"""A database in place beside an import of it: how long searches and neighbourhoods take, and how rankings agree.

    NEO4J_USERNAME=reader NEO4J_PASSWORD=... python benchmarks/in_place.py bolt://HOST/DB GRAPH [--questions 100]

Queries are words of nodes that are drawn at random, neighbourhoods those of nodes drawn by degree, ranked by words of
one of their neighbours. Each is asked of both stores by the tools that agents have; what a node was seen for before is
still known, as in a session of an agent, so each node and query comes once.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from orienteer.errors import Error
from orienteer.graph.store import Graph
from orienteer.ingest.in_place.graph import GraphInPlace
from orienteer.settings import read_settings
from orienteer.tools.toolbox import Toolbox

K = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("graph", type=Path)
    parser.add_argument("--questions", type=int, default=100)
    arguments = parser.parse_args()
    local = Graph.open(arguments.graph)
    started = time.perf_counter()
    remote = GraphInPlace.of(read_settings().open_database(arguments.address))
    print(f"opened in place in {time.perf_counter() - started:.1f} s")
    chance = random.Random(5)
    searches = [_search(local, chance) for _ in range(arguments.questions)]
    around = [_neighbourhood(local, chance) for _ in range(arguments.questions)]
    for name, calls in (
        ("search_in_graph", searches),
        ("search_in_neighborhood", around),
        ("read_node", [{"node": call["node"]} for call in around]),
    ):
        _compare(name, calls, local, remote)


def _search(graph: Graph, chance: random.Random) -> dict[str, Any]:
    """Return a search for two to four words of a node."""
    arrays = graph.arrays
    while True:
        row = chance.randrange(len(graph))
        words = arrays.tokenizer.words(f"{arrays.names[row]} {arrays.texts[row]}")
        if len(words) >= 2:
            return {"query": " ".join(chance.sample(words, min(len(words), chance.randint(2, 4)))), "k": K}


def _neighbourhood(graph: Graph, chance: random.Random) -> dict[str, Any]:
    """Return a search around a node that an edge drawn at random reaches."""
    adjacency, arrays = graph.arrays.adjacency, graph.arrays
    row = int(adjacency.neighbor[chance.randrange(len(adjacency.neighbor))])
    neighbor = int(chance.choice(adjacency.neighbors(row).tolist()))
    words = arrays.tokenizer.words(arrays.names[neighbor])
    return {"node": arrays.ids[row], "query": chance.choice(words or ["a"]), "k": K}


def _compare(name: str, calls: Sequence[Mapping[str, Any]], local: Graph, remote: Graph) -> None:
    """Ask both stores each call, and print how long that took and how the answers agree."""
    agreeing, firsts = [], []
    seconds: dict[str, list[float]] = {"store": [], "in place": []}
    for call in calls:
        stores = zip((local, remote), seconds.values(), strict=True)
        here, there = [_asked(name, call, graph, times) for graph, times in stores]
        if here:
            agreeing.append(len(set(here) & set(there)) / len(here))
            firsts.append(here[:1] == there[:1])
    for where, times in seconds.items():
        p50, p95 = np.percentile(np.array(times) * 1000, [50, 95])
        print(f"{name:<24}{where:<10} p50 {p50:8.1f} ms   p95 {p95:8.1f} ms")
    found, alike = np.mean(agreeing), np.mean(firsts)
    print(f"{name:<24}of the store's first {K}, {found:.1%} are found in place; {alike:.1%} begin alike")


def _asked(name: str, call: Mapping[str, Any], graph: Graph, times: list[float]) -> tuple[str, ...]:
    """Return the nodes that a call shows; none where it is refused."""
    tools = Toolbox.full(graph, names_first=False)
    started = time.perf_counter()
    try:
        return tools.call(name, call).nodes
    except Error as error:
        print(f"refused: {error}")
        return ()
    finally:
        times.append(time.perf_counter() - started)


if __name__ == "__main__":
    main()
