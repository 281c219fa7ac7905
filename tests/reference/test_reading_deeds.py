"""Several deeds to one thing, and what is said of the edges of a deed: an answer by sets of rows, or a refusal.

The films are made at random.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

import pytest

from orienteer import Graph, Retriever
from orienteer.records import Edge, Node

PEOPLE = [
    f"{first} {last}"
    for first in ["Alma", "Bruno", "Carla", "Dario", "Edda", "Fabio", "Greta", "Hugo"]
    for last in ("Ek", "Orr")
]
FILMS = ["Night Ferry", "Salt Road", "Winter Harbour", "The Quiet Mill", "Grain of Sand", "Low Tide"]
DEEDS = {"wrote": "WROTE", "directed": "DIRECTED", "produced": "PRODUCED", "acted in": "ACTED_IN"}


class Cinema(NamedTuple):
    """Who did what to which film, the ratings of reviews, and the same asked by a method."""

    done: dict[str, set[tuple[str, str]]]
    ratings: dict[tuple[str, str], int]
    ask: Retriever

    def told(self, question: str) -> set[str] | None:
        """Return the names of an answer; None if the question was refused."""
        result = self.ask.ask(question, k=99)
        if result.reading is None or not result.reading.complete:
            return None
        return {hit.name for hit in result.hits if hit.complete}


@pytest.fixture(scope="module", params=range(3))
def cinema(request: pytest.FixtureRequest) -> Cinema:
    chance = random.Random(request.param)

    def some(most: int) -> set[tuple[str, str]]:
        return {(person, film) for person in PEOPLE for film in chance.sample(FILMS, chance.randrange(most))}

    done = {verb: some(5) for verb in DEEDS}
    ratings = {pair: chance.randrange(20, 100) for pair in sorted(some(5))}
    nodes = [*(Node(name, "Person", name) for name in PEOPLE), *(Node(name, "Film", name) for name in FILMS)]
    edges = [Edge(who, DEEDS[verb], film) for verb, pairs in done.items() for who, film in sorted(pairs)]
    edges += [Edge(who, "REVIEWED", film, properties={"rating": n}) for (who, film), n in ratings.items()]
    return Cinema(done, ratings, Retriever(Graph.from_records(nodes=nodes, edges=edges), "anchor"))


def leading(counts: Counter[str], number: int) -> set[str]:
    """Return those in front, with all that tie with the last of them."""
    order = sorted(counts.values(), reverse=True)
    return {name for name, count in counts.items() if count >= order[min(number, len(order)) - 1]}


def people(pairs: Iterable[tuple[str, str]]) -> set[str]:
    return {who for who, _ in pairs}


@pytest.mark.parametrize("number", [2, 3, 4])
def test_several_deeds_are_done_to_one_thing_by_one_person(cinema: Cinema, number: int) -> None:
    for verbs in combinations(DEEDS, number):
        said = f"{', '.join(verbs[:-1])} and {verbs[-1]}"
        same = people(set.intersection(*(cinema.done[verb] for verb in verbs)))
        for question in (f"Which people {said} the same film?", f"Who {said} the same film?"):
            assert cinema.told(question) == same, question
        film = FILMS[0]
        named = people(pair for pair in set.intersection(*(cinema.done[verb] for verb in verbs)) if pair[1] == film)
        assert cinema.told(f"Who {said} {film}?") in (named, None)


def test_verbs_that_and_and_or_join_by_turns_are_refused(cinema: Cinema) -> None:
    assert cinema.told("Who wrote or directed and produced the same film?") is None


@pytest.mark.parametrize("limit", [40, 60, 80])
def test_a_rating_is_of_the_reviews_that_are_counted(cinema: Cinema, limit: int) -> None:
    low = [pair for pair, rating in cinema.ratings.items() if rating < limit]
    counts = Counter(who for who, _ in low)
    asked = {
        f"top three people who have reviewed films with a rating less than {limit}": leading(counts, 3),
        f"List the top 3 people who reviewed films with a rating below {limit}": leading(counts, 3),
        f"Which people reviewed the most films with a rating below {limit}?": leading(counts, 1),
        f"Which people have reviewed films with a rating less than {limit}?": people(low),
    }
    for question, names in asked.items():
        assert cinema.told(question) in (names, None), question


def test_a_noun_of_a_deed_is_whoever_did_it(cinema: Cinema) -> None:
    for noun, verb in (("producers", "produced"), ("directors", "directed"), ("writers", "wrote")):
        film = FILMS[1]
        assert cinema.told(noun) == people(cinema.done[verb]), noun
        assert cinema.told(f"{noun} of {film}") == people(pair for pair in cinema.done[verb] if pair[1] == film), noun
    assert cinema.told("reviewers") == people(cinema.ratings)


@pytest.mark.parametrize("seed", range(3))
def test_what_was_not_done_has_no_date_of_it(seed: int) -> None:
    chance = random.Random(seed)
    closed = {f"Loan {at}": f"2024-01-{1 + at:02}" if chance.random() < 0.6 else None for at in range(20)}
    nodes = [Node(name, "loan", name, properties={"closed_on": day} if day else {}) for name, day in closed.items()]
    asked = Cinema({}, {}, Retriever(Graph.from_records(nodes=nodes, edges=[]), "anchor"))
    still_open = {name for name, day in closed.items() if day is None}
    for question in ("Which loans have not been closed?", "loans that have not been closed"):
        assert asked.told(question) == still_open, question
    assert asked.told("Which loans have been closed?") == set(closed) - still_open
