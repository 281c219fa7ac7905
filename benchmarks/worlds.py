"""Invented graphs of many vocabularies: what a student of tools learns on, so that it learns to read a schema.

    python benchmarks/worlds.py FOLDER [--variants N] [--names GRAPH ... --without GRAPH ...]

Each world is a graph of some hundred nodes with its own node types and edge types. Names are made of syllables and
common words; nothing of them is from anywhere. With `--names` they are those of the nodes of other graphs, but none
that `--without` has, so that a test graph stays unseen. A variant of a world lacks an edge type or two, has other
nodes, and writes its types in another way: `painted_by`, `PaintedBy`, `PAINTED_BY`, `painted by`.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from orienteer import Edge, Graph, Node

WORLDS: dict[str, list[tuple[str, str, str, int]]] = {
    "cinema": [
        ("film", "directed_by", "director", 1),
        ("film", "stars", "actor", 3),
        ("film", "shot_in", "town", 1),
        ("film", "based_on", "novel", 1),
        ("actor", "trained_at", "academy", 1),
        ("film", "won", "prize", 1),
        ("novel", "written_by", "novelist", 1),
    ],
    "kitchen": [
        ("dish", "contains", "ingredient", 4),
        ("dish", "invented_by", "cook", 1),
        ("cook", "works_for", "restaurant", 1),
        ("restaurant", "located_in", "quarter", 1),
        ("ingredient", "grown_in", "region", 2),
        ("dish", "served_with", "drink", 2),
    ],
    "football": [
        ("player", "plays_for", "club", 1),
        ("club", "competes_in", "league", 1),
        ("club", "coached_by", "coach", 1),
        ("player", "represents", "nation", 1),
        ("club", "plays_at", "stadium", 1),
        ("coach", "coached", "club", 2),
        ("stadium", "designed_by", "architect", 1),
    ],
    "museum": [
        ("painting", "painted_by", "painter", 1),
        ("painting", "hangs_in", "museum", 1),
        ("painter", "taught_by", "painter", 1),
        ("painter", "belongs_to", "movement", 2),
        ("museum", "funded_by", "patron", 2),
        ("painting", "depicts", "motif", 2),
    ],
    "railway": [
        ("line", "calls_at", "station", 5),
        ("train", "runs_on", "line", 1),
        ("train", "built_by", "manufacturer", 1),
        ("station", "managed_by", "operator", 1),
        ("line", "owned_by", "operator", 1),
        ("station", "near", "landmark", 1),
    ],
    "software_team": [
        ("service", "depends_on", "service", 2),
        ("service", "owned_by", "team", 1),
        ("engineer", "member_of", "team", 1),
        ("incident", "affected", "service", 2),
        ("incident", "resolved_by", "engineer", 1),
        ("service", "deployed_to", "cluster", 1),
    ],
    "botany": [
        ("plant", "native_to", "country", 2),
        ("plant", "pollinated_by", "insect", 2),
        ("plant", "family_of", "family", 1),
        ("botanist", "described", "plant", 3),
        ("insect", "feeds_on", "plant", 2),
        ("plant", "used_against", "ailment", 1),
    ],
    "music": [
        ("album", "recorded_by", "band", 1),
        ("album", "produced_by", "producer", 1),
        ("song", "appears_on", "album", 1),
        ("band", "signed_to", "label", 1),
        ("musician", "member_of", "band", 1),
        ("musician", "plays", "instrument", 2),
        ("band", "formed_in", "city", 1),
    ],
    "university": [
        ("lecture", "taught_by", "professor", 1),
        ("lecture", "requires", "lecture", 1),
        ("professor", "employed_by", "faculty", 1),
        ("student", "attends", "lecture", 3),
        ("student", "supervised_by", "professor", 1),
        ("faculty", "housed_in", "building", 1),
    ],
    "hospital": [
        ("patient", "treated_by", "doctor", 1),
        ("doctor", "specialises_in", "discipline", 1),
        ("patient", "takes", "medicine", 2),
        ("medicine", "made_by", "company", 1),
        ("doctor", "works_on", "ward", 1),
        ("medicine", "interacts_with", "medicine", 1),
    ],
    "harbour": [
        ("ship", "registered_in", "port", 1),
        ("ship", "commanded_by", "captain", 1),
        ("ship", "carries", "cargo", 2),
        ("captain", "born_in", "port", 1),
        ("ship", "insured_by", "insurer", 1),
        ("cargo", "ordered_by", "merchant", 1),
    ],
    "parliament": [
        ("bill", "proposed_by", "deputy", 1),
        ("deputy", "belongs_to", "party", 1),
        ("deputy", "elected_in", "district", 1),
        ("bill", "amends", "law", 1),
        ("deputy", "sits_on", "committee", 2),
        ("committee", "examined", "bill", 2),
    ],
    "games": [
        ("game", "developed_by", "studio", 1),
        ("game", "runs_on", "console", 2),
        ("game", "features", "character", 3),
        ("character", "voiced_by", "speaker", 1),
        ("studio", "acquired_by", "publisher", 1),
        ("game", "sequel_of", "game", 1),
    ],
    "astronomy": [
        ("moon", "orbits", "planet", 1),
        ("planet", "orbits", "star", 1),
        ("star", "lies_in", "constellation", 1),
        ("astronomer", "discovered", "moon", 2),
        ("astronomer", "observed_from", "observatory", 1),
        ("probe", "visited", "planet", 2),
    ],
    "commerce": [
        ("product", "sold_by", "shop", 2),
        ("product", "made_of", "material", 2),
        ("customer", "bought", "product", 3),
        ("product", "designed_by", "designer", 1),
        ("shop", "supplied_by", "wholesaler", 1),
        ("customer", "lives_in", "town", 1),
    ],
    "farming": [
        ("farm", "grows", "crop", 3),
        ("farm", "owned_by", "farmer", 1),
        ("crop", "threatened_by", "pest", 2),
        ("farm", "delivers_to", "market", 1),
        ("pest", "fought_with", "remedy", 2),
        ("farmer", "member_of", "cooperative", 1),
    ],
}
"""Per world its edges: source type, edge type, target type, and how many of them a source has at the most."""
SIZE = 45
"""Nodes of a type."""
PEOPLE = frozenset(
    [
        "actor",
        "director",
        "novelist",
        "cook",
        "player",
        "coach",
        "architect",
        "painter",
        "patron",
        "engineer",
        "botanist",
        "musician",
        "producer",
        "professor",
        "student",
        "patient",
        "doctor",
        "captain",
        "merchant",
        "deputy",
        "speaker",
        "astronomer",
        "customer",
        "designer",
        "farmer",
    ]
)
_FIRST = [
    "Ada",
    "Bela",
    "Cato",
    "Dora",
    "Emil",
    "Fenja",
    "Goran",
    "Hilda",
    "Ivo",
    "Jana",
    "Karel",
    "Lotte",
    "Milan",
    "Nora",
    "Otto",
    "Pavla",
    "Rune",
    "Selma",
    "Tomas",
    "Ulla",
]
_BEGIN = [
    "bal",
    "cor",
    "dan",
    "el",
    "far",
    "gil",
    "hos",
    "im",
    "jor",
    "kal",
    "lin",
    "mar",
    "nov",
    "or",
    "per",
    "quin",
    "ros",
    "sel",
    "tor",
    "ul",
    "ven",
    "wil",
    "yar",
    "zan",
]
_END = [
    "dara",
    "den",
    "dorf",
    "fell",
    "gard",
    "holm",
    "ina",
    "kov",
    "land",
    "mere",
    "nik",
    "oss",
    "per",
    "rick",
    "sten",
    "tal",
    "und",
    "vik",
    "worth",
    "za",
]
_ADJECTIVES = [
    "silent",
    "golden",
    "bitter",
    "northern",
    "hidden",
    "broken",
    "early",
    "crimson",
    "gentle",
    "hollow",
    "amber",
    "restless",
    "distant",
]
_NOUNS = [
    "harbour",
    "lantern",
    "orchard",
    "mirror",
    "river",
    "winter",
    "garden",
    "tower",
    "feather",
    "compass",
    "meadow",
    "thunder",
    "ribbon",
    "cinder",
]


def names(node_type: str, chance: random.Random) -> Iterator[str]:
    """Yield names for nodes of a type, each once: of people, or in one of three forms."""
    form, seen = chance.randrange(3), set[str]()
    while True:
        word = (chance.choice(_BEGIN) + chance.choice(_END)).capitalize()
        if node_type.lower().replace(" ", "_") in PEOPLE:
            name = f"{chance.choice(_FIRST)} {word}"
        elif form == 0:
            name = f"The {chance.choice(_ADJECTIVES).capitalize()} {chance.choice(_NOUNS).capitalize()} of {word}"
        elif form == 1:
            name = f"{word} {chance.choice(_NOUNS)}"
        else:
            name = word + chance.choice(("", " II", f" {chance.choice(_NOUNS).capitalize()}"))
        if name not in seen:
            seen.add(name)
            yield name


def snake(name: str) -> str:
    """Return a type as it is."""
    return name


def camel(name: str) -> str:
    """Return `PaintedBy` of `painted_by`."""
    return "".join(part.capitalize() for part in name.split("_"))


def spaced(name: str) -> str:
    """Return `painted by` of `painted_by`."""
    return name.replace("_", " ")


EDGE_STYLES = (snake, camel, str.upper, spaced)
NODE_STYLES = (snake, camel, spaced, camel)


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
