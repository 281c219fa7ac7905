"""Neighbours by any edge, what several share, and the nodes between two, over random graphs, against networkx."""

from __future__ import annotations

import random
from collections.abc import Iterator

import networkx as nx
import pytest

from orienteer import Cypher, Graph, Retriever
from orienteer.records import Edge, Node

PEOPLE = ("Ann Lee", "Bob Ray", "Cy Dunn", "Dee Fox", "Eli Orr", "Fay Moss", "Gus Hale")
CLUBS = ("Osterby Rovers", "Kellmouth Town", "Skerra Field", "Belmore United")
TOWNS = ("Varland", "Northgate", "Southmark")


@pytest.fixture(scope="module", params=range(6))
def world(request) -> tuple[Retriever, nx.Graph]:
    chance = random.Random(request.param)
    kinds = {"person": PEOPLE, "club": CLUBS, "town": TOWNS}
    nodes = [Node(name, kind, name) for kind, names in kinds.items() for name in names]
    ways = (("person", "plays_for", "club"), ("person", "coaches", "club"), ("person", "born_in", "town"))
    ways += (("club", "based_in", "town"), ("person", "mentors", "person"))
    edges = [Edge(kinds[near][0], label, kinds[far][-1]) for near, label, far in ways]
    for near, label, far in ways * 5:
        edges.append(Edge(chance.choice(kinds[near]), label, chance.choice(kinds[far])))
    edges = [edge for edge in edges if edge.source != edge.target]
    truth = nx.Graph((edge.source, edge.target) for edge in edges)
    truth.add_nodes_from(node.id for node in nodes)
    return Retriever(Graph.from_records(nodes, edges), method="anchor"), truth


def asked(truth: nx.Graph) -> Iterator[tuple[str, set[str] | int]]:
    for name in (*PEOPLE, *CLUBS, *TOWNS):
        around = set(truth[name])
        yield f"neighbours of {name}", around
        yield f"What is {name} linked to?", around
        yield f"everything connected with {name}", around
        yield f"{name}'s neighbours", around
        yield f"How many neighbours does {name} have?", len(around)
        yield f"people linked to {name}", around & set(PEOPLE)
        yield f"Which clubs is {name} connected to?", around & set(CLUBS)
        yield f"clubs that are not linked to {name}", set(CLUBS) - around
    links = {name: len(truth[name]) for name in CLUBS}
    yield "the most connected club", {name for name in CLUBS if links[name] == max(links.values())}
    people = {name: len(set(truth[name]) & set(PEOPLE)) for name in CLUBS}
    yield "which club is linked to the most people", {name for name in CLUBS if people[name] == max(people.values())}
    for one, other in zip(PEOPLE, PEOPLE[1:], strict=False):
        yield f"What do {one} and {other} have in common?", set(truth[one]) & set(truth[other])
        paths = list(nx.all_shortest_paths(truth, one, other)) if nx.has_path(truth, one, other) else []
        inner = {name for path in paths for name in path[1:-1]}
        yield f"Through what are {one} and {other} connected?", inner
        yield f"Through whom are {one} and {other} connected?", inner & set(PEOPLE)
        yield f"Through which clubs are {one} and {other} connected?", inner & set(CLUBS)


def test_neighbours_are_those_of_networkx(world) -> None:
    retriever, truth = world
    cypher = Cypher(retriever.graph)
    for question, wanted in asked(truth):
        result = retriever.ask(question, k=50)
        assert result.reading is not None
        if result.refusal is not None:
            assert (result.refusal.kind, wanted) == ("not_here", set()), question  # nothing at all is linked to it
            continue
        told: object = {hit.name for hit in result.hits if hit.complete}
        assert (told if isinstance(wanted, set) else int(result.answer or -1)) == wanted, result.reading.text
        again = retriever.ask(question, reading=result.reading.text, k=50)
        assert (again.answer, again.reading.text) == (result.answer, result.reading.text)
        if result.reading.cypher is not None and "ORDER BY" not in result.reading.cypher and isinstance(wanted, set):
            rows = cypher.query(result.reading.cypher, limit=None).rows
            assert {row[1] for row in rows} == wanted, result.reading.cypher
