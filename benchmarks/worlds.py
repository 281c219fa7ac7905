"""Invented graphs of many vocabularies: what a student of tools learns on, so that it learns to read a schema.

    python benchmarks/worlds.py FOLDER [--variants N] [--names GRAPH ... --without GRAPH ...]

Each world is a graph of some hundred nodes with its own node types and edge types. Names are made of syllables and
common words; nothing of them is from anywhere. With `--names` they are those of the nodes of other graphs, but none
that `--without` has, so that a test graph stays unseen. A variant of a world lacks an edge type or two, has other
nodes, and writes its types in another way: `painted_by`, `PaintedBy`, `PAINTED_BY`, `painted by`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from orienteer import Edge, Graph, Node
from report import command_line

_DATA = json.loads((Path(__file__).parent / "data" / "worlds.json").read_text(encoding="utf-8"))
WORLDS: dict[str, list[tuple[str, str, str, int]]] = _DATA["worlds"]
"""Per world its edges: source type, edge type, target type, and how many of them a source has at the most."""
PEOPLE = frozenset(_DATA["people"])
"""Node types that are called as people are."""
SIZE = 45
"""Nodes of a type."""


def names(node_type: str, chance: random.Random) -> Iterator[str]:
    """Yield names for nodes of a type, each once: of people, or in one of three forms."""
    form, seen = chance.randrange(3), set[str]()

    def one(part: str) -> str:
        return str(chance.choice(_DATA[part]))

    while True:
        word = f"{one('begin')}{one('end')}".capitalize()
        if node_type.lower().replace(" ", "_") in PEOPLE:
            name = f"{one('first_names')} {word}"
        elif form == 0:
            name = f"The {one('adjectives').capitalize()} {one('nouns').capitalize()} of {word}"
        elif form == 1:
            name = f"{word} {one('nouns')}"
        else:
            name = word + chance.choice(("", " II", f" {one('nouns').capitalize()}"))
        if name not in seen:
            seen.add(name)
            yield name


def camel(name: str) -> str:
    """Return `PaintedBy` of `painted_by`."""
    return "".join(part.capitalize() for part in name.split("_"))


def spaced(name: str) -> str:
    """Return `painted by` of `painted_by`."""
    return name.replace("_", " ")


EDGE_STYLES = (str, camel, str.upper, spaced)
NODE_STYLES = (str, camel, spaced, camel)


def make(world: str, folder: Path, *, variant: int = 0, pool: Sequence[str] = ()) -> None:
    """Write the graph of a variant of a world, 0 the whole one; nodes are called as in the pool, where there is one."""
    chance = random.Random(f"{world}-{variant}")
    edges = WORLDS[world]
    if variant:
        left = sorted(chance.sample(range(len(edges)), len(edges) - chance.randint(1, 2)))
        of_node, of_edge = NODE_STYLES[variant % 4], EDGE_STYLES[variant % 4]
        edges = [
            (of_node(source), of_edge(edge), of_node(target), most)
            for source, edge, target, most in (edges[place] for place in left)
        ]
    types = sorted({end for source, _, target, _ in edges for end in (source, target)})
    nodes: dict[str, list[Node]] = {}
    given = iter(chance.sample(pool, len(types) * SIZE)) if pool else None
    for node_type in types:
        drawn = given or names(node_type, chance)
        nodes[node_type] = [
            Node(f"{node_type}:{number}", node_type, next(drawn), f"A {node_type.replace('_', ' ').lower()}.")
            for number in range(SIZE)
        ]
    joined = {
        (source.id, target.id, edge_type)
        for source_type, edge_type, target_type, most in edges
        for source in nodes[source_type]
        for target in chance.sample(nodes[target_type], chance.randint(1, most))
        if source.id != target.id
    }
    made = [Edge(source, edge_type, target) for source, target, edge_type in sorted(joined)]
    Graph.from_records([node for some in nodes.values() for node in some], made, path=folder)


def called(paths: Sequence[Path]) -> set[str]:
    """Return the short names of the nodes of graphs."""
    return {
        name
        for path in paths
        for name in Graph.open(path).arrays.names
        if isinstance(name, str) and 2 <= len(name) <= 40
    }


def main() -> None:
    """Write all worlds into a folder."""
    parser = command_line(__doc__, ())
    parser.add_argument("folder", type=Path)
    parser.add_argument("--variants", type=int, default=1)
    parser.add_argument("--names", type=Path, nargs="*", default=[])
    parser.add_argument("--without", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    pool = sorted(called(options.names) - called(options.without))
    for world in WORLDS:
        for variant in range(options.variants):
            folder = options.folder / (f"{world}-{variant}" if variant else world)
            make(world, folder, variant=variant, pool=pool)
            print(folder)


if __name__ == "__main__":
    main()
