"""German questions over a German and an English graph, and what a language does where nothing can be answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from orienteer import Graph, Retriever
from orienteer.ingest import demo_records
from orienteer.reading import Foreign, ForeignReader, foreign_languages
from orienteer.records import Reading, Refusal, Result
from werften import ENGLISH, GERMAN, films, werften

GERMAN_WORDS = next(language for language in foreign_languages() if language.name == "german")


@pytest.fixture(scope="module")
def german_graph(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    return Retriever(werften(tmp_path_factory.mktemp("werften") / "graph"), "anchor")


@pytest.fixture(scope="module")
def english_graph(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    return Retriever(films(tmp_path_factory.mktemp("films") / "graph"), "anchor")


def _says(result: Result, expected: object) -> None:
    """Check an answer: the whole set, the number, yes or no; or a refusal."""
    if expected is None:
        assert result.refusal is not None
        assert result.answer is None
    elif isinstance(expected, set):
        assert set(str(result.answer).split(", ")) == expected
    elif isinstance(expected, str):
        assert result.answer == expected
    else:
        assert float(str(result.answer)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("question", "expected"), GERMAN, ids=[question for question, _ in GERMAN])
def test_german_questions_over_a_german_graph(german_graph: Retriever, question: str, expected: object) -> None:
    _says(german_graph.ask(question), expected)


@pytest.mark.parametrize(("question", "expected"), ENGLISH, ids=[question for question, _ in ENGLISH])
def test_german_questions_over_an_english_graph(english_graph: Retriever, question: str, expected: object) -> None:
    _says(english_graph.ask(question), expected)


def test_a_note_shows_how_a_question_was_put(german_graph: Retriever) -> None:
    notes = german_graph.ask("Welche Schiffe wurden von Kestrel gebaut?").notes
    assert "translated as 'which ships were built by Kestrel'" in notes


def test_words_that_nobody_put_are_named_as_they_are_written(german_graph: Retriever) -> None:
    refusal = german_graph.ask("Welche Schiffe schwimmen bäuchlings?").refusal
    assert refusal is not None
    assert refusal.words == ("schwimmen", "bäuchlings")


def test_two_orders_that_mean_two_things_are_refused(tmp_path: Path) -> None:
    people = ("Ada", "Ben", "Cleo")
    nodes = [{"id": name, "type": "person", "name": name} for name in people]
    edges = [{"source": one, "type": "supervised", "target": other} for one, other in (("Ada", "Ben"), ("Ben", "Cleo"))]
    retriever = Retriever(Graph.from_records(nodes, edges, path=tmp_path / "graph"), "anchor")
    refusal = retriever.ask("Welche Person betreute Ben?").refusal
    assert refusal is not None
    assert refusal.text.startswith("it may mean two things")
    assert retriever.ask("Wer betreute Ben?").answer == "Ada"
    assert retriever.ask("Wen betreute Ben?").answer == "Cleo"


@pytest.mark.parametrize(
    ("question", "is_german"),
    [
        ("Welche Schiffe gehören Nordfracht?", True),
        ("Liegt Kestrel in Halvik?", True),
        ("Wer drehte The Band Was in an Art?", True),
        ("Which band sang in Halvik?", False),
        ("Who was in Die Hard?", False),
        ("also in", False),
        ("", False),
    ],
)
def test_the_language_of_a_question_is_told_by_its_own_words(question: str, *, is_german: bool) -> None:
    assert GERMAN_WORDS.is_of(question) is is_german


@pytest.mark.parametrize(
    ("word", "put"),
    [
        ("Häfen", "ports"),
        ("Haefen", "ports"),
        ("Gründungsjahr", "founding year"),
        ("Schauspielerinnen", "actors"),
        ("drittgrößte", "third largest/third tallest"),
        ("längere", "longer"),
        ("erbaut", "built"),
        ("Quark", None),
    ],
)
def test_words_are_found_by_stem_and_by_parts(word: str, put: str | None) -> None:
    known = GERMAN_WORDS.word(word)
    assert (known.text if known is not None else None) == put


def test_the_language_of_the_page_is_data_alone(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "guides" / "languages.md").read_text(encoding="utf-8")
    file = tmp_path / "dutch.toml"
    file.write_text(page.split("```text\n")[1].split("```")[0], encoding="utf-8")
    dutch = Foreign(file)
    question = "Welke talen werden door Niklaus Wirth ontworpen?"
    reader = ForeignReader(Graph.from_records(*demo_records(), path=tmp_path / "graph"), dutch)
    read = reader.read(question)
    assert isinstance(read, Reading)
    assert read.text == 'language that -designed_by-> "Niklaus Wirth"'
    assert "translated as 'which language are designed by Niklaus Wirth'" in read.notes
    assert dutch.is_of(question)
    assert isinstance(reader.read("Welke talen werden door Niklaus Wirth vergeten?"), Refusal)
