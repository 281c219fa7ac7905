"""Questions whose words say something else than the nearest edge: told as pandas tells it, or refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

import pandas as pd
import pytest

from orienteer import Retriever

TOWNS = ["Holmby", "Tarrow", "Brackwater"]
NAMES = ["Ann Peel", "Bill Stokoe", "Cora Day", "Dan Frith", "Eve Marsh", "Finn Hale", "Gus Webb", "Ida North"]
SECTIONS = ["Palm House", "Fern Gully", "Rose Walk", "Orchid Room", "Moss Court"]
PLANTS = ["Vanilla", "Quince", "Medlar", "Saguaro", "Foxglove", "Waratah"]


class World(NamedTuple):
    """The tables of a garden, and a retriever over their folder."""

    staff: pd.DataFrame
    sections: pd.DataFrame
    plants: pd.DataFrame
    plantings: pd.DataFrame
    duties: pd.DataFrame
    anchor: Retriever

    def found(self, question: str) -> set[str] | None:
        """Return the names that answer a question, or the number alone; None where it is refused."""
        result = self.anchor.ask(question, k=50)
        if result.refusal is not None or result.reading is None or not result.reading.complete:
            return None
        told = {hit.name for hit in result.hits if hit.complete}
        return {result.answer} if result.answer and result.answer.isdigit() else told

    def names(self, ids: pd.Series) -> set[str]:
        return set(self.staff[self.staff.id.isin(ids)].name)


@pytest.fixture(scope="module", params=[1, 2, 3])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> World:
    rng = random.Random(request.param)
    staff = pd.DataFrame(
        {
            "id": range(1, 9),
            "name": NAMES,
            "job_title": ["director", *(rng.choice(["gardener", "botanist"]) for _ in NAMES[1:])],
            "home_town": [rng.choice(TOWNS) for _ in NAMES],
            "supervisor_id": [None, *(rng.randint(1, 3) for _ in NAMES[1:])],
            "section_id": [rng.randint(1, 5) for _ in NAMES],
            "monthly_wage": [rng.randrange(1800, 3000) for _ in NAMES],
        }
    ).astype({"supervisor_id": "Int64"})
    sections = pd.DataFrame(
        {
            "id": range(1, 6),
            "name": SECTIONS,
            "kind": ["glasshouse", "outdoor", "outdoor", "glasshouse", "outdoor"],
            "town": [rng.choice(TOWNS) for _ in SECTIONS],
            "keeper_id": [rng.randint(1, 8) for _ in SECTIONS],
            "area_m2": rng.sample(range(100, 900), 5),
        }
    )
    plants = pd.DataFrame({"id": range(1, 7), "name": PLANTS, "height_m": rng.sample(range(1, 40), 6)})
    plantings = pd.DataFrame(
        [(n, rng.randint(1, 6), rng.randint(1, 5), rng.randint(1, 8)) for n in range(1, 15)],
        columns=["id", "plant_id", "section_id", "planted_by_id"],
    )
    duties = pd.DataFrame(
        [(n, rng.randint(1, 8), rng.randint(1, 5), rng.choice(["night cover", "trainer"])) for n in range(1, 15)],
        columns=["id", "staff_id", "section_id", "role"],
    )
    folder = tmp_path_factory.mktemp("garden")
    tables = {"staff": staff, "sections": sections, "plants": plants, "plantings": plantings, "duties": duties}
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ORIENTEER_CACHE", str(tmp_path_factory.mktemp("cache")))
        return World(**tables, anchor=Retriever(str(folder), "anchor"))


def grown(world: World) -> pd.Series:
    """Return by section the names of the plants in it."""
    joined = world.plantings.merge(world.plants, left_on="plant_id", right_on="id")
    return joined.groupby("section_id").name.agg(set)


def lone(world: World, plant: str) -> set[str]:
    """Return the sections with a plant and no other."""
    only = [section for section, plants in grown(world).items() if plants == {plant}]
    return set(world.sections[world.sections.id.isin(only)].name)


def working_in(world: World, town: str) -> set[str]:
    joined = world.staff.merge(world.sections.add_prefix("s_"), left_on="section_id", right_on="s_id")
    return set(joined[joined.s_town == town].name)


def on_duty(world: World, role: str, section: str) -> set[str]:
    number = world.sections[world.sections.name == section].id.iloc[0]
    rows = world.duties[(world.duties.role == role) & (world.duties.section_id == number)]
    return world.names(rows.staff_id)


def never_in(world: World, *sections: str) -> set[str]:
    numbers = world.sections[world.sections.name.isin(sections)].id
    return set(world.staff.name) - world.names(world.plantings[world.plantings.section_id.isin(numbers)].planted_by_id)


def sharply_paid(world: World) -> set[str]:
    average = world.staff[world.staff.job_title == "gardener"].monthly_wage.mean()
    return set(world.staff[world.staff.monthly_wage > average].name)


def keepers(world: World, kind: str) -> set[str]:
    return world.names(world.sections[world.sections.kind == kind].keeper_id)


Truth = Callable[[World], set[str]]
TEMPTING: list[tuple[str, Truth]] = [
    *((f"Sections with {name} and no other plant", lambda w, n=name: lone(w, n)) for name in PLANTS),
    *((f"Who works in {town}?", lambda w, n=town: working_in(w, n)) for town in TOWNS),
    *((f"Who is the trainer of {section}?", lambda w, n=section: on_duty(w, "trainer", n)) for section in SECTIONS),
    *((f"Who is on night cover in {name}?", lambda w, n=name: on_duty(w, "night cover", n)) for name in SECTIONS),
    (
        "Who has planted neither in the Palm House nor in the Rose Walk?",
        lambda w: never_in(w, "Palm House", "Rose Walk"),
    ),
    ("Who earns more than the average gardener?", sharply_paid),
    ("Everybody on the staff who keeps a glasshouse", lambda w: keepers(w, "glasshouse")),
    ("Who is responsible for glasshouses?", lambda w: keepers(w, "glasshouse")),
    *((f"What is kept in {town}?", lambda w, n=town: set(w.sections[w.sections.town == n].name)) for town in TOWNS),
]


@pytest.mark.parametrize(("question", "truth"), TEMPTING, ids=[question for question, _ in TEMPTING])
def test_is_right_or_refused(world: World, question: str, truth: Truth) -> None:
    found = world.found(question)
    assert found is None or found == truth(world)


@pytest.mark.parametrize("name", PLANTS)
def test_no_other_leaves_out_what_is_said(world: World, name: str) -> None:
    assert world.found(f"sections that have {name} and no other plant") in (None, lone(world, name))


@pytest.mark.parametrize("section", ["Palm House", "Orchid Room"])
def test_one_thing_alone_has_no_rank(world: World, section: str) -> None:
    largest = world.sections[world.sections.kind == "glasshouse"].sort_values("area_m2").name.iloc[-1]
    result = world.anchor.ask(f"Is the {section} the largest glasshouse?")
    assert result.answer in (None, "yes" if section == largest else "no")


@pytest.mark.parametrize(
    "question",
    [
        "Sections with exactly two plantings, of which at least one is of Vanilla",
        "Sections with exactly two plantings, one of which is of Vanilla",
        "Was everything in the Palm House planted by Ann Peel?",
        "Which sections are kept by women?",
        "Who has worked with Ann Peel?",
        "Which section supervisors keep the Palm House?",
    ],
)
def test_is_refused(world: World, question: str) -> None:
    assert world.anchor.ask(question).answer is None


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder = tmp_path_factory.mktemp("packages")
    names = ["gimp", "vim", "babl", "zlib", "adverb", "cause"]
    pd.DataFrame({"id": names, "name": names, "type": "package"}).to_csv(folder / "nodes.csv", index=False)
    edges = [("gimp", "babl"), ("babl", "zlib"), ("vim", "gimp")]
    pd.DataFrame([(*edge, "depends") for edge in edges], columns=["source", "target", "type"]).to_csv(
        folder / "edges.csv", index=False
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ORIENTEER_CACHE", str(tmp_path_factory.mktemp("cache")))
        return Retriever(str(folder), "anchor")


def test_dependencies_include_what_one_edge_leads_to(packages: Retriever) -> None:
    whole = packages.ask("packages whose dependencies include babl", k=9)
    assert {hit.name for hit in whole.hits if hit.complete} == {"gimp"}
    of_gimp = packages.ask("What do gimp's dependencies include?", k=9)
    assert of_gimp.refusal is not None or {hit.name for hit in of_gimp.hits if hit.complete} == {"babl"}
