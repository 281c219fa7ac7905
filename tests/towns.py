"""Graphs at random, with parallel edges, mutual edges, loops, and names that would break a careless query."""

import random

from orienteer.records import Edge, Node

_TOPICS = ["river", "mountain", "forest", "harbour", "castle", "garden", "bridge", "market", "tower", "valley"]


def records(seed, types, edge_types, *, nodes=80, edges=340):
    """Return a graph with parallel edges, mutual edges and loops; names hold a quote and a backslash here and there."""
    chance = random.Random(seed)
    made = []
    for number in range(nodes):
        kind = types[number % len(types)]
        words = " ".join(chance.sample(_TOPICS, 3))
        mark = "'" if number % 17 == 0 else "\\" if number % 19 == 0 else ""
        syllables = "".join(chance.choice(["ba", "ko", "li", "mu", "ne", "ra", "tos"]) for _ in range(4))
        properties = {"area": chance.choice(["northern", "southern"])} if number % 2 else {}
        name = f"{syllables}{chr(97 + number % 26)}{chr(97 + number // 26)}"
        made.append(Node(f"n{mark}{number}", kind, name, f"Known for its {words}.", (), properties))
    joined = []
    for _ in range(edges):
        source, target = chance.choice(made), chance.choice(made)
        joined.append(Edge(source.id, chance.choice(edge_types), target.id))
        if chance.random() < 0.1:
            joined.append(joined[-1])
        if chance.random() < 0.1:
            joined.append(Edge(target.id, joined[-1].type, source.id))
    return made, joined
