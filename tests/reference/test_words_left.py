"""Words that a reading may drop or take for names, over random worlds, against plain Python: right, or refused.

"On average", *direct* where a node is called so, *kB* where a node has it in its name.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean, median

import pytest

from orienteer import Graph, Retriever
from orienteer.records import Edge, Node, Result

ADJECTIVES = ("Direct", "Close", "Common", "Recorded", "Main", "New", "Listed")
COMPANIES = ("Crown Bulk", "Polar Tow", "Ardon Line")
YARDS = ("gprconfig-kb", "Halden T", "Dock M", "Yard EUR", "Old kg Works")
HARBOURS = ("Halvik", "Tarrow", "Grisholm", "Marlow")
CITIES = ("London", "Faro")


@dataclass
class Fleet:
    """Ships with what they are told in units, and where they call; parts with variants, and who supplies them."""

    anchor: Retriever
    ships: list[dict[str, object]]
    variants: dict[str, set[str]]
    suppliers: dict[str, set[str]]
    city: dict[str, str]

    def of(self, company: str) -> list[dict[str, object]]:
        return [ship for ship in self.ships if ship["owner"] == company]

    def asked(self, question: str) -> Result | None:
        """Return the answer to a question; None where it is refused."""
        result = self.anchor.ask(question, k=100)
        return result if result.reading is not None and result.reading.complete else None


@pytest.fixture(scope="module", params=range(4))
def fleet(request: pytest.FixtureRequest) -> Fleet:
    chance = random.Random(request.param)
    nodes = [Node(name, "company", name) for name in COMPANIES] + [Node(name, "yard", name) for name in YARDS]
    nodes += [Node(name, "harbour", name) for name in HARBOURS] + [Node(name, "city", name) for name in CITIES]
    edges, ships = list[Edge](), list[dict[str, object]]()
    for number in range(12):
        told = {"mass_t": chance.randrange(10, 90), "size_kb": chance.randrange(1, 9)}
        told |= {"length_m": chance.randrange(20, 99), "price_eur": 1000 * chance.randrange(1, 9)}
        ship = {"name": f"Ship {number}", "owner": chance.choice(COMPANIES[:2]), **told}
        calls = chance.sample(HARBOURS, chance.randrange(4))
        nodes.append(Node(f"s{number}", "ship", f"Ship {number}", properties=told))
        edges.append(Edge(f"s{number}", "owned_by", str(ship["owner"])))
        edges.append(Edge(f"s{number}", "built_at", chance.choice(YARDS)))
        edges += [Edge(f"s{number}", "calls_at", harbour) for harbour in calls]
        ships.append({**ship, "calls": calls})
    parts = [*ADJECTIVES, *(f"Part {letter}" for letter in "ABCDEFGH")]
    nodes += [Node(part, "part", part) for part in parts]
    city = {f"Supplier {number}": chance.choice(CITIES) for number in range(5)}
    nodes += [Node(name, "supplier", name) for name in city]
    edges += [Edge(name, "located_in", city[name]) for name in city]
    variants, suppliers = {part: set[str]() for part in parts}, {part: set[str]() for part in parts}
    for part in parts:
        variants[part] = {other for other in chance.sample(parts, 2) if other != part and chance.random() < 0.6}
        suppliers[part] = {name for name in chance.sample(sorted(city), 2) if chance.random() < 0.5}
        edges += [Edge(part, "variant", other) for other in sorted(variants[part])]
        edges += [Edge(name, "supplies", part) for name in sorted(suppliers[part])]
    graph = Graph.from_records(nodes, edges)
    return Fleet(Retriever(graph, method="anchor"), ships, variants, suppliers, city)


def names(result: Result) -> set[str]:
    return {hit.name for hit in result.hits if hit.complete}


# ------------------------------------------------------------------------------------------------ on average, in total


def means(fleet: Fleet) -> Iterator[tuple[str, float]]:
    """Yield questions for a mean, with it."""
    for company in COMPANIES[:2]:
        calls = mean(len(ship["calls"]) for ship in fleet.of(company))
        yield f"On average, how many harbours does a ship of {company} call at?", calls
        yield f"How many harbours does a ship of {company} call at on average?", calls
        yield f"How many harbours do the ships of {company} call at on average?", calls
        yield f"On average, how heavy are the ships of {company}?", mean(ship["mass_t"] for ship in fleet.of(company))
    yield "How many ships does a company own on average?", len(fleet.ships) / len(COMPANIES)


def test_a_mean_of_counts_is_that_of_each(fleet: Fleet) -> None:
    for question, wanted in means(fleet):
        result = fleet.asked(question)
        assert result is not None, question
        assert float(result.answer or "nan") == pytest.approx(wanted), (question, result.reading)


@pytest.mark.parametrize(
    "question",
    [
        "On average, how many ships are owned by {}?",
        "On average, which harbours do ships of {} call at?",
        "On average, does {} own Ship 1?",
        "Show me on average the ships of {}",
        "On average, is Ship 1 heavier than Ship 2?",
        "On average, which company owns the heaviest ships?",
        "Which company has the heaviest ships in total?",
        "In total, how heavy are the ships of {}?",
        "Overall, how heavy are the ships of {}?",
        "Altogether, how long are the ships of {}?",
        "On the whole, how many harbours does a ship of {} call at?",
    ],
)
def test_a_mean_or_a_total_that_is_not_told_is_refused(fleet: Fleet, question: str) -> None:
    result = fleet.asked(question.format("Crown Bulk"))
    assert result is None, result.reading


def test_a_count_is_a_total(fleet: Fleet) -> None:
    result = fleet.asked("In total, how many harbours do ships of Crown Bulk call at?")
    assert result is not None
    assert result.answer == str(len({harbour for ship in fleet.of("Crown Bulk") for harbour in ship["calls"]}))


# --------------------------------------------------------------------------------------------- adjectives before nouns


def described(fleet: Fleet, word: str) -> Iterator[tuple[str, set[str]]]:
    """Yield questions with an adjective, with what they ask for if it says no more of edges than that they are."""
    with_none = {part for part, own in fleet.variants.items() if not own}
    unsupplied = {part for part, own in fleet.suppliers.items() if not own}
    for none in ("no", "not any"):
        yield f"Which parts have {none} {word} variants?", with_none
    yield f"Which parts do not have {word} variants?", with_none
    yield f"parts without {word} variants", with_none
    yield f"parts with no {word} variants", with_none
    yield f"Which parts have {word} variants?", set(fleet.variants) - with_none
    yield f"Which parts have any {word} variants?", set(fleet.variants) - with_none
    yield f"Which parts have a {word} variant?", set(fleet.variants) - with_none
    yield (
        f"Which parts have more than 1 {word} variant?",
        {part for part, own in fleet.variants.items() if len(own) > 1},
    )
    yield f"Which parts have no {word} suppliers?", unsupplied
    yield f"parts without any {word} suppliers", unsupplied
    yield f"Which parts have {word} suppliers?", set(fleet.suppliers) - unsupplied
    supplying = set[str]().union(*fleet.suppliers.values())
    yield f"Which suppliers have no {word} parts?", set(fleet.city) - supplying


@pytest.mark.parametrize("word", [word.casefold() for word in ADJECTIVES])
def test_an_adjective_is_no_node_of_its_name(fleet: Fleet, word: str) -> None:
    read = 0
    for question, wanted in described(fleet, word):
        result = fleet.asked(question)
        if result is not None:
            read += 1
            assert word in ("direct", "recorded", "listed"), (question, result.reading)
            assert names(result) == wanted, (question, result.reading)
    assert read >= (7 if word == "direct" else 0)


def test_a_name_before_a_kind_is_what_its_edges_lead_to(fleet: Fleet) -> None:
    for city in CITIES:
        there = {part for part, own in fleet.suppliers.items() if any(fleet.city[name] == city for name in own)}
        some, none = (
            fleet.asked(f"Which parts have {word} {city} suppliers?".replace("  ", " ")) for word in ("", "no")
        )
        assert some is not None
        assert none is not None
        assert names(some) == there
        assert names(none) == set(fleet.suppliers) - there


# ------------------------------------------------------------------------------------------------ units of properties

MEASURES = {
    "size": ("size_kb", "kB"),
    "mass": ("mass_t", "t"),
    "length": ("length_m", "m"),
    "price": ("price_eur", "EUR"),
}


@pytest.mark.parametrize("word", list(MEASURES))
def test_a_unit_is_that_of_the_property(fleet: Fleet, word: str) -> None:
    name, unit = MEASURES[word]
    for company in COMPANIES[:2]:
        values = [ship[name] for ship in fleet.of(company)]
        for told, total in (("average", mean), ("total", sum), ("median", median)):
            for question in (
                f"What is the {told} {word} in {unit} of the ships of {company}?",
                f"What is the {told} {word} in {unit} of a ship of {company}?",
                f"What is the {told} {word} ({unit}) of the ships of {company}?",
                f"What is the {told} {word} of the ships of {company} in {unit}?",
            ):
                result = fleet.asked(question)
                assert result is not None, question
                assert float(result.answer or "nan") == pytest.approx(total(values)), (question, result.reading)


@pytest.mark.parametrize("word", list(MEASURES))
def test_another_unit_than_the_property_has_is_no_name(fleet: Fleet, word: str) -> None:
    for unit in ("kB", "MB", "t", "kg", "m", "EUR"):
        if unit != MEASURES[word][1]:
            for question in (
                "What is the average {} in {} of the ships of Crown Bulk?",
                "the largest {} in {} of ships",
            ):
                result = fleet.asked(question.format(word, unit))
                assert result is None, result.reading


@pytest.mark.parametrize("told", ["average", "total", "median"])
def test_a_total_of_nothing_says_that_nothing_meets_it(fleet: Fleet, told: str) -> None:
    result = fleet.asked(f"What is the {told} mass of the ships of Ardon Line?")
    assert result is not None
    assert result.answer is None
    assert any(note.startswith("nothing in the graph meets all of it: ") for note in result.notes)
