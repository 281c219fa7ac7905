"""Places within places and people under people over random graphs, against plain sets: right, or refused."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import pytest

from orienteer import Cypher, Graph, Retriever
from orienteer.errors import BadOption
from orienteer.records import Edge, Node

PLACES = ("Varland", "Northshire", "Southmark", "Kellmouth", "Osterby", "Brackmoor", "Skerra", "Dockside", "Belmore")
STADIUMS = ("The Furnace", "Dock Road", "Marsh Arena", "Grenz Stadion", "Tollgate Ground", "Lighthouse Park")
PEOPLE = ("Ann Lee", "Bob Ray", "Cy Dunn", "Dee Fox", "Eli Orr", "Fay Moss", "Gus Hale", "Ida Penn")
Pairs = dict[str, set[str]]


def upward(seed: int, names: tuple[str, ...]) -> Pairs:
    """Return of each name the wholes that it is part of: mostly one of those before, at times two, or one behind."""
    chance, wholes = random.Random(seed), Pairs()
    for at, name in enumerate(names):
        count = chance.choice((0, 1, 1, 1, 2)) if at else 0
        wholes[name] = set(chance.sample(names[:at], min(at, count)))
    if chance.random() < 0.3:  # data are not always free of circles
        wholes[names[1]].add(names[-1])
    return wholes


def beyond(name: str, wholes: Mapping[str, set[str]]) -> set[str]:
    """Return whatever is reached in one step or more."""
    found, front = set[str](), {name}
    while front:
        front = {whole for one in front for whole in wholes.get(one, ())} - found
        found |= front
    return found


@pytest.fixture(scope="module", params=[(seed, label) for seed in range(4) for label in ("part_of", "contains")])
def world(request) -> tuple[Retriever, Pairs, Pairs, Pairs]:
    seed, label = request.param
    chance = random.Random(seed)
    wholes, bosses = upward(seed, PLACES), upward(seed + 50, PEOPLE)
    places = {name: {chance.choice(PLACES)} for name in STADIUMS}
    kinds = (("region", PLACES), ("stadium", STADIUMS), ("person", PEOPLE))
    nodes = [Node(name, kind, name) for kind, names in kinds for name in names]
    nodes.append(Node("m", "match", "the first final"))
    edges = [Edge(name, "located_in", place) for name, own in places.items() for place in own]
    edges += [Edge(name, "reports_to", boss) for name, own in bosses.items() for boss in own]
    edges.append(Edge("m", "stadium", STADIUMS[0]))
    for name, own in wholes.items():
        edges += [Edge(name, label, one) if label == "part_of" else Edge(one, label, name) for one in own]
    return Retriever(Graph.from_records(nodes, edges), method="anchor"), wholes, places, bosses


def asked(wholes: Pairs, places: Pairs, bosses: Pairs) -> Iterator[tuple[str, set[str] | int | bool]]:
    for place in PLACES:
        inside = {name for name in PLACES if place in beyond(name, wholes)}
        there = {name for name, own in places.items() if own & (inside | {place})}
        yield f"stadiums in {place}", there
        yield f"How many stadiums are there in {place}?", len(there)
        yield f"Which stadiums are not in {place}?", set(STADIUMS) - there
        yield f"stadiums directly in {place}", {name for name, own in places.items() if place in own}
        yield f"regions in {place}", inside
        yield f"all places in {place}", inside
        yield f"regions directly in {place}", {name for name in PLACES if place in wholes[name]}
        yield f"everything in {place}", inside | there
        yield f"Is The Furnace in {place}?", "The Furnace" in there
        other = PLACES[0]
        others = {other, *(name for name in PLACES if other in beyond(name, wholes))}
        yield f"stadiums in {place} or {other}", there | {name for name, own in places.items() if own & others}
    for person in PEOPLE:
        below = {name for name in PEOPLE if person in beyond(name, bosses)}
        yield f"Who works under {person}, at any level?", below
        yield f"all people under {person}", below
        yield f"How many people report to {person}, directly or indirectly?", len(below)
        yield f"Who reports to {person}?", {name for name in PEOPLE if person in bosses[name]}
        yield f"Who works under {person}?", {name for name in PEOPLE if person in bosses[name]}
        yield f"Who does {person} report to, directly or indirectly?", beyond(person, bosses)


def test_relations_over_any_number_of_steps_are_those_of_plain_sets(world) -> None:
    retriever, *tables = world
    cypher = Cypher(retriever.graph)
    refused, in_cypher, every = 0, 0, list(asked(*tables))
    for question, wanted in every:
        result = retriever.ask(question, k=50)
        assert result.reading is not None
        if not result.reading.complete:
            refused += 1
            continue
        told: object = {hit.name for hit in result.hits if hit.complete}
        if isinstance(wanted, bool):
            assert result.answer in ("yes", "no")
            told = result.answer == "yes"
        elif isinstance(wanted, int):
            told = int(result.answer or -1)
        assert told == wanted, f"{question}: {result.reading.text}"
        again = retriever.ask(question, reading=result.reading.text, k=50)
        assert again.answer == result.answer, result.reading.text
        if isinstance(wanted, set) and result.reading.cypher is not None:
            in_cypher += 1
            rows = cypher.query(result.reading.cypher, limit=None).rows
            assert {row[1] for row in rows} == wanted, result.reading.cypher
    assert refused == 0, f"of {len(every)}"
    assert in_cypher > len(every) / 2


@pytest.mark.parametrize(
    "line",
    [
        'region that number of -part_of*-> "Varland" > 1',
        "region that -part_of*-> every region",
        "count region per -part_of*-> region",
    ],
)
def test_steps_of_any_depth_are_not_counted(line) -> None:
    nodes = [Node(name, "region", name) for name in PLACES[:2]]
    graph = Graph.from_records(nodes, [Edge(PLACES[1], "part_of", PLACES[0])])
    with pytest.raises(BadOption):
        Retriever(graph, method="anchor").ask("regions", reading=line)
