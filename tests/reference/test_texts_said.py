"""Questions for what holds a text, against plain loops over names and properties: right, or refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orienteer import Graph, Retriever
from orienteer.records import Node

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
    refused = 0
    every = list(asked())
    for question, wanted in every:
        result = films.ask(question, k=20)
        if result.reading is None or not result.reading.complete:
            refused += 1
            continue
        told = {hit.name for hit in result.hits if hit.complete} if isinstance(wanted, set) else int(result.answer or 0)
        assert told == wanted, (question, result.reading.text)
    assert len(every) > 60
    assert refused <= 0.2 * len(every)


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
