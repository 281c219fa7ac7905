"""A database in place beside an import of it: how long searches and neighbourhoods take, and how rankings agree.

    NEO4J_USERNAME=reader NEO4J_PASSWORD=... python benchmarks/in_place.py bolt://HOST/DB GRAPH [--questions 100]

Statements of Cypher are those that people and models ask, each with nodes and types drawn anew.
Queries are words of nodes that are drawn at random, neighbourhoods those of nodes drawn by degree, ranked by words of
one of their neighbours. Each is asked of both stores by the tools that agents have; what a node was seen for before is
still known, as in a session of an agent, so each node and query comes once.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orienteer.cypher.session import Cypher
from orienteer.errors import Error
from orienteer.graph.store import Graph
from orienteer.ingest.databases import open_database
from orienteer.settings import read_settings
from orienteer.tools.toolbox import Toolbox
from report import command_line

K = 10


class _Statement(NamedTuple):
    text: str
    parameters: Mapping[str, Any]


def main() -> None:
    parser = command_line(__doc__, ())
    parser.add_argument("address")
    parser.add_argument("graph", type=Path)
    parser.add_argument("--questions", type=int, default=100)
    arguments = parser.parse_args()
    local = Graph.open(arguments.graph)
    started = time.perf_counter()
    remote = open_database(arguments.address, read_settings()).in_place()
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
    for name, statements in _statements(local, arguments.questions, chance).items():
        _compare_statements(name, statements, local, remote)


def _statements(graph: Graph, number: int, chance: random.Random) -> dict[str, list[_Statement]]:
    """Return statements by their kind, about nodes that edges drawn at random join."""
    arrays, kinds = graph.arrays, dict[str, list[_Statement]]()
    for _ in range(number):
        row = int(arrays.adjacency.neighbor[chance.randrange(len(arrays.adjacency.neighbor))])
        entries = arrays.entries(np.array([row], np.int32))
        at = chance.randrange(len(entries.neighbor))
        other, kind = int(entries.neighbor[at]), int(entries.kind[at])
        here, there = (f"`{arrays.type_at(place)}`" for place in (row, other))
        edge = f"`{arrays.types.edges[kind >> 1]}`"
        words = {"id": arrays.ids[row], "name": arrays.names[row], "other": arrays.ids[other]}
        walk = f"MATCH (a {{id: $id}})-[:{edge}]-(b:{there})-[r]-(c:{here})"
        shapes = {
            "by id": f"MATCH (a:{here} {{id: $id}}) RETURN a",
            "by name": f"MATCH (a:{here} {{name: $name}}) RETURN a.id",
            "neighbours": f"MATCH (b:{there})-[:{edge}]-(a:{here} {{id: $id}}) RETURN b.id, b.name ORDER BY b.name",
            "edges counted": "MATCH (a {id: $id})-[r]-(b) RETURN type(r), count(DISTINCT b) AS n ORDER BY n DESC",
            "two hops": f"{walk} RETURN c.id, count(DISTINCT b) AS n ORDER BY n DESC, c.id LIMIT 10",
            "in common": "MATCH (a {id: $id})--(x)--(b {id: $other}) RETURN count(DISTINCT x)",
            "part of a name": f"MATCH (a:{here}) WHERE toLower(a.name) CONTAINS toLower($name) RETURN a.id",
            "most of a type": f"MATCH (a:{here})-[:{edge}]-(b:{there}) WITH a, count(b) AS n RETURN max(n)",
        }
        for name, text in shapes.items():
            kinds.setdefault(name, []).append(_Statement(text, {key: words[key] for key in words if f"${key}" in text}))
    return kinds


def _compare_statements(name: str, statements: Sequence[_Statement], local: Graph, remote: Graph) -> None:
    """Ask both stores each statement, and print how long that took and how many answers are the same."""
    seconds: dict[str, list[float]] = {"store": [], "in place": []}
    same = 0
    for statement in statements:
        answers: list[tuple[object, int]] = []
        for graph, times in zip((local, remote), seconds.values(), strict=True):
            started = time.perf_counter()
            try:
                table = Cypher(graph).query(statement.text, statement.parameters, limit=100)
                answers.append((Counter(map(repr, map(_sorted_out, table.rows))), table.total))
            except Error as error:
                answers.append((type(error).__name__, 0))
                print(f"{'store' if graph is local else 'in place'} refuses: {error}")
            times.append(time.perf_counter() - started)
        same += answers[0][1] == answers[1][1] and (answers[0] == answers[1] or answers[0][1] > 100)
    _show(f"cypher {name:<16} ", seconds)
    print(f"cypher {name:<16} {same} of {len(statements)} answers are the same")


def _show(name: str, seconds: Mapping[str, Sequence[float]]) -> None:
    for where, times in seconds.items():
        p50, p95 = np.percentile(np.array(times) * 1000, [50, 95])
        print(f"{name}{where:<10} p50 {p50:8.1f} ms   p95 {p95:8.1f} ms")


def _sorted_out(row: Sequence[Any]) -> list[Any]:
    """Return a row whose maps have their keys in one order."""
    return [json.loads(json.dumps(value, sort_keys=True)) for value in row]


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
    _show(f"{name:<24}", seconds)
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
