"""Questions for what holds a text, against plain loops over names and properties: right, or refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from orienteer import Graph, Retriever
from orienteer.ingest import ImportOptions, import_graph, mappings_as_toml
from orienteer.records import Edge, Node

FILMS = {
    "Salt of the Earth": "Two sisters row to the island of Sark",
    "The Basalt Cliff": "A geologist returns",
    "Sea of Love": "Murder by the sea",
    "The Season": "A cook opens an inn",
    "Red Sea": "Divers find a wreck",
    "Love and Salt": "A baker leaves the city",
    "Cliff Road": "Two brothers drive to the sea",
}
TEXTS = ("salt", "sea", "love", "cliff", "the", "road", "red sea")
PLOTS = ("sea", "island", "two", "baker", "inn")


@pytest.fixture(scope="module")
def films() -> Retriever:
    nodes = [Node(f"f{at}", "film", name, properties={"plot": plot}) for at, (name, plot) in enumerate(FILMS.items())]
    return Retriever(Graph.from_records(nodes, []), method="anchor")


def asked() -> Iterator[tuple[str, set[str] | int]]:
    for text in TEXTS:
        held = {name for name in FILMS if text in name.lower()}
        yield f'films whose title contains "{text}"', held
        yield f"films whose title contains {text.title()}", held
        yield f'Which films have "{text}" in their title?', held
        yield f'How many films have a title containing "{text}"?', len(held)
        yield f'films whose name does not contain "{text}"', FILMS.keys() - held
        words = {name for name in FILMS if f" {text} " in f" {name.lower()} "}
        yield f"films with the word {text} in the title", words
        yield f"films whose title mentions {text}", words
    for text in PLOTS:
        held = {name for name, plot in FILMS.items() if text in plot.lower()}
        yield f'Which films have a plot that contains "{text}"?', held
        yield f'films whose plot contains "{text}"', held
        words = {name for name, plot in FILMS.items() if f" {text} " in f" {plot.lower()} "}
        yield f"films with the word {text} in the plot", words
        both = {name for name in held if "the" in name.lower()}
        yield f'films whose plot contains "{text}" and whose title contains "the"', both


def test_what_holds_a_text_is_found_and_a_word_is_no_part_of_one(films) -> None:
    every = list(asked())
    refused = checked(films, every)
    assert len(every) > 60
    assert refused <= 7


def checked(graph: Retriever, every: list[tuple[str, set[str] | int]]) -> int:
    """Return how many questions are refused; the answers to all others are to be right."""
    refused = 0
    for question, wanted in every:
        result = graph.ask(question, k=20)
        if result.reading is None or not result.reading.complete:
            refused += 1
            continue
        told = (
            {hit.name for hit in result.hits if hit.complete} if isinstance(wanted, set) else int(result.answer or -1)
        )
        assert told == wanted, (question, result.reading.text)
        if not isinstance(wanted, set):
            continue
        again = graph.ask("by hand", reading=result.reading.text, k=20)
        assert {hit.name for hit in again.hits if hit.complete} == wanted, result.reading.text
    return refused


STADIUMS = {
    "Kell Ground": "A wooden stand and an old scoreboard",
    "The Furnace": "Loud, with a stand of steel",
    "Tollgate": "The Wooden stand burnt down",
    "Harbour Park": "",
    "Standish Oval": "Built in a former quarry",
}
REVIEWS = {
    "r1": ("Kell Ground", "Cold beer, wooden seats"),
    "r2": ("The Furnace", "Too loud for a beer"),
    "r3": ("Harbour Park", "A view of the sea, if the fog lifts"),
    "r4": ("Harbour Park", ""),
}


@pytest.fixture(scope="module")
def stadiums() -> Retriever:
    nodes = [Node(name, "stadium", name, text=text) for name, text in STADIUMS.items()]
    nodes += [Node(id, "review", id, text=text) for id, (_, text) in REVIEWS.items()]
    edges = [Edge(id, "reviewed", name) for id, (name, _) in REVIEWS.items()]
    return Retriever(Graph.from_records(nodes, edges), method="anchor")


def asked_of_texts() -> Iterator[tuple[str, set[str] | int]]:
    for text in ("wooden", "stand", "steel", "quarry", "wooden stand", "loud", "old scoreboard"):
        held = {name for name, own in STADIUMS.items() if text in own.lower()}
        words = {name for name, own in STADIUMS.items() if f" {text} " in f" {own.lower()} ".replace(",", " ")}
        for column in ("description", "notes", "text", "summary"):
            yield f'stadiums whose {column} contains "{text}"', held
            yield f"Which stadiums have a {text} in the {column}?", held
        yield f'How many stadiums have a description that contains "{text}"?', len(held)
        yield f"stadiums where the description says something about a {text}", words
        yield f"stadiums whose notes talk about the {text}", words
        yield f'stadiums that mention "{text}" in their notes', words
        yield f"stadiums with the word {text} in the description", words
        known = {name for name, own in STADIUMS.items() if own}
        yield f'stadiums whose description does not contain "{text}"', known - held
    for text in ("beer", "sea", "wooden", "fog", "loud"):
        reviews = {id for id, (_, own) in REVIEWS.items() if text in own.lower()}
        yield f"reviews that mention '{text}'", reviews
        yield f"How many reviews mention '{text}'?", len(reviews)
        yield f"reviews that contain the word '{text}'", reviews
        yield f"Which stadiums have reviews that mention '{text}'?", {REVIEWS[id][0] for id in reviews}


def test_what_the_texts_of_nodes_hold_is_found(stadiums) -> None:
    every = list(asked_of_texts())
    refused = checked(stadiums, every)
    assert len(every) > 100
    assert refused <= 4


@pytest.mark.parametrize(
    "question",
    [
        "stadiums whose comment is wooden",
        "stadiums whose notes mention beer and were built in 1990",
        "reviews that mention beer and sea",
        "stadiums with the word and in the description",
    ],
)
def test_what_is_no_text_of_a_node_is_refused(stadiums, question: str) -> None:
    reading = stadiums.ask(question).reading
    assert reading is None or not reading.complete, reading


@pytest.fixture
def tables(tmp_path: Path) -> Retriever:
    folder = tmp_path / "tables"
    folder.mkdir()
    rows = {
        "clubs": ["id,name,summary,description", "1,Kell,Rowers by the sea,Oldest of all", "2,Brack,Founded at sea,"],
        "matches": [
            "id,club_id,crowd,notes",
            "31,1,320,Played in heavy rain.",
            "32,1,411,",
            "33,2,207,Fog; 31 in rain.",
        ],
        "transfers": [
            "id,club_id,fee,note",
            "51,1,20,Medical passed at last.",
            "52,2,45,",
            "53,2,70,Back for a season.",
        ],
    }
    for name, lines in rows.items():
        (folder / f"{name}.csv").write_text("\n".join(lines))
    drafted = mappings_as_toml(import_graph([folder], None).mapping, [folder])
    for column in ("notes", "note"):
        drafted = drafted.replace(f'"{column}" = "property"', f'"{column}" = "name"')
    (tmp_path / "mapping.toml").write_text(drafted)
    import_graph([folder], tmp_path / "graph", options=ImportOptions(mapping=tmp_path / "mapping.toml"))
    return Retriever(Graph.open(tmp_path / "graph"), method="anchor")


def test_a_column_that_became_a_name_or_a_text_is_asked_for_by_its_own_name(tables) -> None:
    for question, wanted in {
        "Which matches have rain in the notes?": {"31", "33"},
        "matches whose notes mention fog": {"33"},
        "transfers that mention a medical in their note": {"51"},
        "Which transfers mention a season in their note?": {"53"},
    }.items():
        found = {hit.id.rpartition(":")[2] for hit in tables.ask(question, k=20).hits if hit.complete}
        assert found == wanted, question
    for question in (
        "matches whose notes do not contain rain",  # that without notes is called by its id
        "matches that do not have rain in the notes",
        "matches that do not mention rain in their notes",
        "matches without rain in the notes",
        "Do all matches have rain in the notes?",
        "matches with 32 in the notes",
        'clubs whose description contains "sea"',  # a summary, where there is no description
        'clubs whose summary contains "sea"',
    ):
        reading = tables.ask(question).reading
        assert reading is None or not reading.complete, reading


@pytest.mark.parametrize(
    "question",
    [
        "films with the word salt in the title",  # Basalt
        "films whose title contains love and were shot in Rome",
        "films with actors in the plot",
    ],
)
def test_a_text_takes_in_no_other_words(films, question: str) -> None:
    reading = films.ask(question).reading
    assert reading is None or not reading.complete, reading


def test_a_line_asks_for_a_part_of_a_text(films) -> None:
    for line, wanted in {
        'film that name contains "salt" and not plot contains "row"': {"The Basalt Cliff", "Love and Salt"},
        'count film that plot contains "SEA"': {"Sea of Love", "Cliff Road"},
    }.items():
        result = films.ask("by hand", reading=line, k=20)
        assert {hit.name for hit in result.hits if hit.complete} == wanted
        assert result.reading is not None
        assert result.reading.text == line
