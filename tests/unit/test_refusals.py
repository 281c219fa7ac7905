"""Questions that are not read: why, the nearest that are, and what a person sees of them."""

from __future__ import annotations

import json

import pytest

from orienteer import Edge, Graph, Node, Retriever
from orienteer.ingest import demo_records
from orienteer.serve import main
from orienteer.settings import Settings

REFUSED = [
    ("Which languages designed by Niklaus Wirth are painted red?", "unknown_name|not_understood", {"painted", "red"}),
    ("Who influenced Pascal and Klingon?", "unknown_name", {"Klingon"}),
    ("Which languages did Taylor Swift design?", "unknown_name", {"Taylor"}),
    ("How many languages yodel?", "not_understood", {"yodel"}),
    ("When did Erlang sneeze in Pascal?", "not_understood", {"sneeze"}),
    ("languages of Go than", "not_understood", set()),
]


@pytest.fixture(scope="module")
def languages(tmp_path_factory):
    """Give the graph of programming languages."""
    nodes, edges = demo_records()
    return Graph.from_records(nodes, edges, path=tmp_path_factory.mktemp("refused") / "languages")


@pytest.fixture(scope="module")
def ask(languages):
    return Retriever(languages, "anchor", settings=Settings()).ask


@pytest.mark.parametrize(("question", "kind", "words"), REFUSED)
def test_each_question_that_is_offered_is_answered(ask, question, kind, words):
    result = ask(question)
    assert result.is_unread
    assert result.answer is None
    assert result.refusal.kind in kind.split("|")
    assert words <= {word for part in result.refusal.words for word in part.split()}
    assert "understood from" not in result.refusal.text
    assert 0 < len(result.refusal.questions) <= 3
    for offered in result.refusal.questions:
        again = ask(offered)
        assert again.reading.complete, offered
        assert again.refusal is None
        assert words.isdisjoint(offered.replace("?", "").split())


def test_a_name_that_is_no_name_here_is_in_no_question_that_is_offered(ask):
    # "Niklaus" alone would be another person.
    offered = ask("Which languages did Niklaus Holm design?").refusal.questions
    assert not any("Niklaus" in question for question in offered)


@pytest.mark.parametrize(
    ("name", "is_there"),
    [
        *((name, True) for name in ("Bronze", "Feather", "Gale", "Quarry", "Lantern", "Winter", "Ünder", "Iron Duke")),
        *((name, True) for name in ("Kwak", "Leffe", 'Old "Tom"')),
        *(
            (name, False)
            for name in ("Bron", "Zebra", "Quarrymen", "Smithwinter", "Feather Wind", "Nkwak", "Light Gold")
        ),
    ],
)
def test_what_a_text_or_a_value_says_is_not_said_to_be_nowhere(tmp_path, name, is_there):
    """One word each of a name's part, an alias, a text, a value, and of an edge's text and value."""
    note = 'works in the quarry,\nKwak and “Leffe” and old "tom" at The Iron Duke'
    nodes = [
        Node("a", "tool", "Old Bronze Anvil", "Light as a feather, wünder, ünder.", aliases=("The Gale",)),
        Node("b", "smith", "Smith", "wind and gold", properties={"note": note}),
    ]
    edges = [Edge("b", "owns", "a", text="Seen by lantern", properties={"since": "one winter"})]
    ask = Retriever(Graph.from_records(nodes, edges, path=tmp_path / "smiths"), "anchor", settings=Settings()).ask
    refusal = ask(f"Which tools are owned by '{name}'?").refusal
    assert ("not in this graph" in refusal.text) is not is_there, refusal.text


@pytest.mark.parametrize("top", ["top 2", "List the top 3", "What are the top 2"])
@pytest.mark.parametrize("done", ["directed", "written"])
@pytest.mark.parametrize("clause", ["people who acted in them", "someone who also acted in them"])
def test_a_clause_about_others_is_no_measure_of_the_top(tmp_path, top, done, clause):
    """The most of the actors are in the film whose director is none of them."""
    films = [Node(name, "film", name) for name in ("Heat", "Ran", "Unforgiven")]
    people = [Node(name, "person", name) for name in ("Ada", "Bo", "Cy", "Di")]
    acted = [("Ada", "Heat"), ("Bo", "Heat"), ("Cy", "Heat"), ("Di", "Ran"), ("Di", "Unforgiven")]
    made = [("Di", "Heat"), ("Ada", "Ran"), ("Di", "Unforgiven")]
    edges = [Edge(one, "acted_in", film) for one, film in acted]
    edges += [Edge(one, kind, film) for one, film in made for kind in ("directed", "wrote")]
    ask = Retriever(Graph.from_records([*films, *people], edges, path=tmp_path / "films"), "anchor").ask
    result = ask(f"{top} films {done} by {clause}")
    assert result.is_unread, result.reading.text


TABLES = {
    "breweries.csv": "id,brewery,founded\n1,Duvel,1871\n2,Bosteels,1791\n3,Alvinne,1904\n4,Dupont,1950\n",
    "beers.csv": "nr,beer,brewery_id,price\n11,Tripel,1,2.5\n12,Kwak,2,3.5\n13,Pale,9,ca. 4\n14,Blond,1,2\n15,Go,3,\n",
}


@pytest.mark.parametrize(
    ("question", "noted"),
    [
        ("Which beers have a price of 12 florins?", ["price: 1 of 4 values is no number (ca. 4)"]),
        ("Which breweries yodel?", ["brewery_id: 1 of 4 different values is not the id of any brewery (9)"]),
        ("Who painted ca. 4?", ["price: 1 of 4 values"]),
        ("Which beers yodel?", ["brewery_id: 1 of 4", "price: 1 of 4"]),
        ("Who was born in Atlantis?", []),
    ],
)
def test_a_refusal_names_the_open_questions_about_its_words(question, noted, tmp_path):
    (tmp_path / "brewing").mkdir()
    for name, text in TABLES.items():
        (tmp_path / "brewing" / name).write_text(text)
    result = Retriever(Graph.from_csv(tmp_path / "brewing"), "anchor", settings=Settings()).ask(question)
    assert result.refusal is not None
    notes = [note for note in result.notes if note.startswith("this was open when the tables were read: ")]
    assert len(notes) == (1 if noted else 0)
    found = notes[0].split(": ", 1)[1].split("; beers.csv: ") if notes else []
    assert len(found) == len(noted)
    for note, text in zip(found, noted, strict=True):
        assert text in note


def test_a_question_that_is_answered_has_no_note_of_open_ones(tmp_path):
    (tmp_path / "brewing").mkdir()
    for name, text in TABLES.items():
        (tmp_path / "brewing" / name).write_text(text)
    result = Retriever(Graph.from_csv(tmp_path / "brewing"), "anchor", settings=Settings()).ask(
        "Which beers are there?"
    )
    assert result.refusal is None
    assert not any("open" in note for note in result.notes)


def test_who_asks_hears_why_and_what_would_be_read(languages, capsys):
    question = REFUSED[0][0]
    assert main(["ask", str(languages.path), question]) == 1
    printed = capsys.readouterr()
    assert "no exact answer: not understood: 'painted', 'red'" in printed.out
    assert "you could ask: Which languages designed by Niklaus Wirth\n" in printed.out
    assert printed.out.count("\n3. ") == 1
    assert "\n4. " not in printed.out
    assert "17 more: -k 20 prints them" in printed.err
    assert main(["ask", str(languages.path), question, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["refusal"]["questions"][0] == "Which languages designed by Niklaus Wirth"
    assert len(told["hits"]) == 20


def test_the_rules_of_a_question_are_printed(languages, capsys):
    assert main(["ask", str(languages.path), "How many languages were designed by Niklaus Wirth?", "--why", "-q"]) == 0
    assert "\nread by: how many beers are brewed by X; beers brewed by X and Y\n" in capsys.readouterr().out
    line = "count language that year < 1970"
    assert main(["ask", str(languages.path), "x", "--reading", line, "--why", "-q"]) == 0
    assert "\nread by: a line of yours\n" in capsys.readouterr().out
