"""Words that no rule reads, put together by the only edges between what they name; the answers by pandas."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest

from orienteer import Retriever

PUBS = ["Anchor", "Half Moon", "Otter", "Mill Wheel", "Red Kite", "Plough"]
TOWNS = ["Holmby", "Tarrow", "Brackwater"]
BEERS = ["Old Eel", "Mudlark", "Nine Bells", "Haywain"]
STYLES = ["bitter", "stout", "bitter", "porter"]
STAFF = ["Bill Stokoe", "Ann Peel", "Joe Marsh"]


class World(NamedTuple):
    """Tables, the same rows joined to what they point to, and a retriever over the folder."""

    deliveries: pd.DataFrame
    pubs: pd.DataFrame
    anchor: Retriever


@pytest.fixture(scope="module", params=[1, 2, 3])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> World:
    rng = random.Random(request.param)
    folder = tmp_path_factory.mktemp("cellars")
    pubs = pd.DataFrame(
        {
            "id": range(1, 7),
            "name": PUBS,
            "town": [rng.choice(TOWNS) for _ in PUBS],
            "landlord_id": [rng.randint(1, 3) for _ in PUBS],
            "rent": [rng.randrange(400, 900) for _ in PUBS],
            "has_garden": [rng.choice(["yes", "no"]) for _ in PUBS],
        }
    )
    beers = pd.DataFrame({"id": range(1, 5), "name": BEERS, "style": STYLES})
    staff = pd.DataFrame({"id": range(1, 4), "name": STAFF, "remote": ["yes", "no", "no"]})
    rows = [
        (
            n,
            rng.randint(1, 5),
            rng.randint(1, 4),
            rng.randint(1, 3),
            rng.randint(1, 9),
            f"{rng.choice([2023, 2024])}-0{rng.randint(1, 9)}-15",
        )
        for n in range(1, 31)
    ]
    deliveries = pd.DataFrame(rows, columns=["id", "pub_id", "beer_id", "driver_id", "casks", "delivered_on"])
    for name, table in {"pubs": pubs, "beers": beers, "staff": staff, "deliveries": deliveries}.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    joined = (
        deliveries.merge(pubs.add_prefix("pub_"), left_on="pub_id", right_on="pub_id")
        .merge(beers.add_prefix("beer_"), on="beer_id")
        .merge(staff.add_prefix("driver_"), on="driver_id")
    )
    return World(joined, pubs, Retriever(str(folder), "anchor"))


def names(column: pd.Series) -> set[str]:
    return set(column)


Oracle = Callable[[World], object]
LISTS: list[tuple[str, Oracle]] = [
    *(
        (
            f"Pubs that {name} has delivered to",
            lambda w, n=name: names(w.deliveries[w.deliveries.driver_name == n].pub_name),
        )
        for name in STAFF
    ),
    *(
        (f"which beers did the {pub} get", lambda w, n=pub: names(w.deliveries[w.deliveries.pub_name == n].beer_name))
        for pub in PUBS
    ),
    ("Which pubs did not get any delivery?", lambda w: set(w.pubs.name) - names(w.deliveries.pub_name)),
    *(
        (
            f"Which pubs never got a delivery from {name}?",
            lambda w, n=name: set(w.pubs.name) - names(w.deliveries[w.deliveries.driver_name == n].pub_name),
        )
        for name in STAFF
    ),
]
NUMBERS: list[tuple[str, Oracle]] = [
    *(
        (f"total casks delivered to {pub}", lambda w, n=pub: w.deliveries[w.deliveries.pub_name == n].casks.sum())
        for pub in PUBS[:5]
    ),
    *(
        (
            f"How many casks of {beer} did we deliver in total?",
            lambda w, n=beer: w.deliveries[w.deliveries.beer_name == n].casks.sum(),
        )
        for beer in BEERS
    ),
    *(
        (
            f"total delivery casks in {year}",
            lambda w, n=year: w.deliveries[w.deliveries.delivered_on.str.startswith(str(n))].casks.sum(),
        )
        for year in (2023, 2024)
    ),
    *(
        (
            f"In how many pubs do we have deliveries of {beer}",
            lambda w, n=beer: w.deliveries[w.deliveries.beer_name == n].pub_name.nunique(),
        )
        for beer in BEERS
    ),
    *((f"which rent does the {pub} have to pay us", lambda w, n=pub: None) for pub in PUBS[:1]),
]
TABLES: list[tuple[str, str, str]] = [
    ("casks delivered per pub", "pub_name", "casks"),
    ("casks for each beer", "beer_name", "casks"),
    ("For each driver, what is the total casks?", "driver_name", "casks"),
]


@pytest.mark.parametrize(("question", "oracle"), LISTS, ids=[question for question, _ in LISTS])
def test_lists(world: World, question: str, oracle: Oracle) -> None:
    result = world.anchor.ask(question, k=50)
    assert result.refusal is None
    assert {hit.name for hit in result.hits if hit.complete} == oracle(world)


@pytest.mark.parametrize(("question", "oracle"), NUMBERS, ids=[question for question, _ in NUMBERS])
def test_numbers(world: World, question: str, oracle: Oracle) -> None:
    answer, truth = world.anchor.ask(question).answer, oracle(world)
    assert answer is None if truth is None else answer is not None and float(answer) == truth


@pytest.mark.parametrize(("question", "by", "column"), TABLES)
def test_tables(world: World, question: str, by: str, column: str) -> None:
    answer = world.anchor.ask(question).answer
    told = {name: float(number) for name, _, number in (part.rpartition(": ") for part in (answer or "").split("; "))}
    assert told == world.deliveries.groupby(by)[column].sum().to_dict()


def test_yes_or_no(world: World) -> None:
    pairs = set(zip(world.deliveries.pub_name, world.deliveries.beer_name, strict=True))
    for pub in PUBS:
        for beer in BEERS:
            answer = world.anchor.ask(f"did the {pub} get a delivery of {beer}").answer
            assert answer == ("yes" if (pub, beer) in pairs else "no")


@pytest.mark.parametrize(
    "question",
    [
        "which staff did Bill Stokoe take along to the Anchor",
        "pubs that Bill Stokoe has never delivered to but kept",
        "staff that Bill Stokoe works with",  # edges between things of one kind are not told apart
        "which pubs complained about Ann Peel",
        "how many pubs per driver",  # the landlord, or by way of deliveries
        "deliveries by casks of Old Eel per",
        "who poisoned the Otter",
    ],
)
def test_words_of_which_two_things_may_be_meant_are_not_put_together(world: World, question: str) -> None:
    assert world.anchor.ask(question).answer is None


def test_what_only_a_verb_tells_is_left_to_the_rules(tmp_path: Path) -> None:
    """Who is `wounded_by` a dragon wounded none; whoever placed an order did not supply it."""
    rows = {
        "people": ["id,name,job", "1,Ann Peel,clerk"],
        "suppliers": ["id,name", "1,Van Houten"],
        "projects": ["id,name", "1,Flood Wall"],
        "orders": ["id,project_id,supplier_id,ordered_by", "1,1,1,1"],
    }
    for name, lines in rows.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert Retriever(str(tmp_path), "anchor").ask("who ordered for Flood Wall").answer in (None, "Ann Peel")
