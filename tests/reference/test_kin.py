"""Siblings, grandparents, uncles and colleagues over random families, against plain sets: right, or refused."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from orienteer import Graph, Retriever
from orienteer.records import Edge, Node

NAMES = (
    *(
        "Ann Lee",
        "Bob Ray",
        "Cy Dunn",
        "Dee Fox",
        "Eli Orr",
        "Fay Moss",
        "Gus Hale",
        "Ida Penn",
        "Jon Beck",
        "Kit Vale",
    ),
    *("Lou Marsh", "Mia Stone", "Ned Wolf", "Ola Berg", "Pia Lund", "Rex Holt", "Sue Blom", "Tom Reed"),
)
FIRMS = ("Norware", "Sudware", "Westware")


class Person(NamedTuple):
    name: str
    sex: str
    parents: frozenset[str]
    firm: str


def family(seed: int) -> list[Person]:
    """Return people; each but the first few has a father and a mother among those before, or one of them."""
    chance = random.Random(seed)
    people: list[Person] = []
    for at, name in enumerate(NAMES):
        parents = set[str]()
        for sex in "MF":
            older = [one.name for one in people if one.sex == sex]
            if at > 5 and older and chance.random() < 0.85:
                parents.add(chance.choice(older[-4:]))
        people.append(Person(name, chance.choice("MF"), frozenset(parents), chance.choice(FIRMS)))
    return people


@pytest.fixture(
    scope="module", params=[(seed, form) for seed in range(4) for form in ("father and mother", "parent", "child")]
)
def kin(request) -> tuple[Retriever, list[Person]]:
    seed, form = request.param
    people = family(seed)
    sexes = {one.name: one.sex for one in people}
    nodes = [Node(one.name, "person", one.name, properties={"sex": one.sex}) for one in people]
    nodes += [Node(firm, "company", firm) for firm in FIRMS]
    edges = [Edge(one.name, "works_for", one.firm) for one in people]
    for one in people:
        for parent in one.parents:
            if form == "father and mother":
                edges.append(Edge(one.name, "father" if sexes[parent] == "M" else "mother", parent))
            elif form == "parent":
                edges.append(Edge(one.name, "parent", parent))
            else:
                edges.append(Edge(parent, "child", one.name))
    return Retriever(Graph.from_records(nodes, edges), method="anchor"), people


def asked(people: list[Person]) -> Iterator[tuple[str, set[str] | int]]:
    by_name = {one.name: one for one in people}

    def children(names: set[str] | frozenset[str]) -> set[str]:
        return {one.name for one in people if one.parents & names}

    def parents(names: set[str] | frozenset[str]) -> set[str]:
        return {parent for name in names for parent in by_name[name].parents}

    def of(sex: str, names: set[str]) -> set[str]:
        return {name for name in names if by_name[name].sex == sex}

    for one in people[4::2]:
        own = {one.name}
        siblings, grand = children(one.parents) - own, parents(one.parents)
        uncles = children(grand) - one.parents
        yield f"siblings of {one.name}", siblings
        yield f"Who are {one.name}'s siblings?", siblings
        yield f"How many siblings does {one.name} have?", len(siblings)
        yield f"brothers of {one.name}", of("M", siblings)
        yield f"{one.name}'s sisters", of("F", siblings)
        yield f"Who are the grandparents of {one.name}?", grand
        yield f"grandmother of {one.name}", of("F", grand)
        yield f"{one.name}'s grandfathers", of("M", grand)
        yield f"uncles of {one.name}", of("M", uncles)
        yield f"Who are {one.name}'s aunts?", of("F", uncles)
        yield f"colleagues of {one.name}", {p.name for p in people if p.firm == one.firm} - own
    for one in people[:12:2]:
        own = children({one.name})
        yield f"daughters of {one.name}", of("F", own)
        yield f"Who are the sons of {one.name}?", of("M", own)
        yield f"grandchildren of {one.name}", children(own)
        yield f"How many grandchildren does {one.name} have?", len(children(own))
        yield f"{one.name}'s granddaughters", of("F", children(own))


def test_kin_are_those_of_the_family(kin) -> None:
    retriever, people = kin
    refused, every = 0, list(asked(people))
    for question, wanted in every:
        result = retriever.ask(question, k=50)
        assert result.reading is not None
        if not result.reading.complete:
            refused += 1
            continue
        told = (
            {hit.name for hit in result.hits if hit.complete} if isinstance(wanted, set) else int(result.answer or -1)
        )
        assert told == wanted, (question, result.reading.text)
    assert len(every) > 90
    assert refused <= 0.15 * len(every)


def test_who_is_male_is_to_be_told() -> None:
    nodes = [Node(name, "person", name) for name in NAMES[:3]]
    edges = [Edge(name, "parent", NAMES[0]) for name in NAMES[1:3]]
    retriever = Retriever(Graph.from_records(nodes, edges), method="anchor")
    siblings = retriever.ask(f"siblings of {NAMES[1]}")
    assert [hit.name for hit in siblings.hits if hit.complete] == [NAMES[2]]
    for noun in ("brothers", "daughters"):
        reading = retriever.ask(f"{noun} of {NAMES[1]}").reading
        assert reading is None or not reading.complete, reading


def test_colleagues_by_one_of_two_things_are_refused() -> None:
    nodes = [Node(name, "person", name) for name in NAMES[:3]]
    nodes += [Node("Norware", "company", "Norware"), Node("Red", "team", "Red")]
    edges = [Edge(name, "works_for", "Norware") for name in NAMES[:2]] + [
        Edge(name, "plays_in", "Red") for name in NAMES[:3]
    ]
    retriever = Retriever(Graph.from_records(nodes, edges), method="anchor")
    result = retriever.ask(f"colleagues of {NAMES[0]}")
    assert result.reading is None or not result.reading.complete, result.reading
    assert result.refusal is not None
    assert "name one of" in result.refusal.text
    teammates = retriever.ask(f"teammates of {NAMES[0]}")
    assert {hit.name for hit in teammates.hits if hit.complete} == set(NAMES[1:3])
