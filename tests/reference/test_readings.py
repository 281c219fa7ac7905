"""Questions read exactly: what two new users met, whole worlds of worded questions, and the line both ways."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from beers import beers
from orienteer import Graph, Result, Retriever
from orienteer.errors import BadOption, Error

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    return Retriever(beers(tmp_path_factory.mktemp("beers") / "graph"), "anchor")


@pytest.fixture(scope="module")
def ask_countries(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    return Retriever(beers(tmp_path_factory.mktemp("beers") / "graph", has_countries=True), "anchor")


def complete(result: Result) -> set[str]:
    return {hit.name for hit in result.hits if hit.complete}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many beers does Rodenbach brew?", "2"),
        ("beers not brewed by Rodenbach, how many", "8"),
        ("breweries in Germany, how many", "1"),
        ("breweries founded before 1800, how many", "2"),
        ("How many breweries are in Belgium or Germany?", "4"),
        ("highest ABV", "Samichlaus"),
        ("Which beer has the highest abv?", "Samichlaus"),
        ("oldest brewery", "Weihenstephan"),
        ("ABV of Duvel", "8.5"),
        ("What is the abv of Duvel?", "8.5"),
        ("Who brews Duvel?", "Duvel Moortgat"),
        ("Who brews Pliny the Elder?", "Russian River Brewing Company"),
        ("How many beers does Russian River brew?", "1"),
        ("How many beers are there?", "10"),
        ("Which brewery brews the most wheat beers?", "Weihenstephan"),
        ("Is Vitus brewed by Weihenstephan?", "yes"),
        ("Is Vitus brewed by Rodenbach?", "no"),
        ("average abv of beers brewed by Rodenbach", "5.8"),
        ("Which is stronger, Duvel or Vitus?", "Duvel"),
        ("beers without launch year", "Vitus"),
    ],
)
def test_what_new_users_asked_is_answered(ask: Retriever, question: str, answer: str | None) -> None:
    result = ask.ask(question)
    assert result.answer == answer, (result.reading, result.notes)
    assert result.reading is not None
    assert result.reading.complete == (answer is not None)


BELGIAN = {"Duvel Moortgat", "Rodenbach", "Bières de Chimay"}


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("brewer of Samichlaus", {"Schloss Eggenberg"}),
        ("Which beers is Rodenbach the brewer of?", {"Rodenbach Grand Cru", "Rodenbach Alexander"}),
        ("Rodenbach beers over 5.8 percent", {"Rodenbach Grand Cru"}),
        ("russian river brewing's beer", {"Pliny the Elder"}),
        ("Rodenbach or Chimay beers", {"Rodenbach Grand Cru", "Rodenbach Alexander", "Chimay Bleue"}),
        ("Belgium's breweries", BELGIAN),
        ("breweries from before 1850", {"Rodenbach", "Weihenstephan", "Schloss Eggenberg"}),
        ("breweries outside Belgium and the United States", {"Weihenstephan", "Schloss Eggenberg"}),
        ("In Belgium, which brewery is the oldest?", {"Rodenbach"}),
        ("Which brewery was founded last?", {"Russian River Brewing Company"}),
        ("2 largest beers by abv", {"Samichlaus", "Chimay Bleue"}),
        ("the 2 strongest beers, strongest first", {"Samichlaus", "Chimay Bleue"}),
        (
            "Which style has more beers than any other?",
            {"Belgian Strong Ale", "Flanders Red", "Wheat Beer", "Pale Ale"},
        ),
        ("breweries with two beers or more", {"Duvel Moortgat", "Rodenbach", "Weihenstephan"}),
        ("styles with a single beer", {"Pilsner", "Doppelbock"}),
        ("beers launched in or after 1986", {"Rodenbach Grand Cru", "Rodenbach Alexander", "Pliny the Elder"}),
        ("beers launched in the 1980s", {"Rodenbach Grand Cru", "Rodenbach Alexander", "Pale Ale"}),
        ("breweries in Belgium except Rodenbach", BELGIAN - {"Rodenbach"}),
        ("Besides Rodenbach and Duvel Moortgat, which breweries are in Belgium?", {"Bières de Chimay"}),
        (
            "Which beers were brewed neither by Duvel Moortgat nor by Rodenbach?",
            {"Hefeweissbier", "Vitus", "Pale Ale", "Pliny the Elder", "Samichlaus", "Chimay Bleue"},
        ),
        (
            "Which breweries are not in Belgium or the United States?",
            {"Weihenstephan", "Schloss Eggenberg"},
        ),
        (
            "Which breweries collaborate with Sierra Nevada but not with Weihenstephan, or do they?",
            None,
        ),
        ("Where is Duvel?", None),
    ],
)
def test_general_wordings_are_read(ask: Retriever, question: str, names: set[str] | None) -> None:
    result = ask.ask(question)
    assert result.reading is not None
    assert result.reading.complete == (names is not None), (result.reading.text, result.notes)
    assert complete(result) == (names or set())


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When did Vedett Blond launch?", "1945"),
        ("What was the year in which Rodenbach was founded?", "1821"),
        ("What is the average abv of Rodenbach's beers?", "5.8"),
        ("How strong are the beers of Rodenbach on average?", "5.8"),
        ("How many breweries are there that were founded before 1800?", "2"),
        ("How many breweries lie outside Belgium?", "4"),
        ("How many styles have at least two beers?", "4"),
    ],
)
def test_numbers_are_asked_for_in_many_words(ask: Retriever, question: str, answer: str) -> None:
    assert ask.ask(question).answer == answer


def test_a_possessive_leads_over_two_edges(ask: Retriever) -> None:
    result = ask.ask("breweries collaborating with Duvel's brewery")
    assert complete(result) == {"Rodenbach", "Sierra Nevada"}


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("How many beers does Heineken brew?", "Heineken"),
        ("Which beers are brewed by Heineken?", "Heineken"),
        ("Is Duvel brewed by Heineken?", "Heineken"),
        ("What is the calorie content of Duvel?", "calorie"),
        ("Which beer has the highest rating?", "rating"),
        ("beers recommended by sommeliers, how many", "sommeliers"),
    ],
)
def test_what_is_not_there_is_refused_by_its_name_and_never_counted(ask: Retriever, question: str, word: str) -> None:
    result = ask.ask(question)
    assert result.answer is None
    assert result.reading is not None
    assert not result.reading.complete
    assert not any(hit.complete for hit in result.hits)
    assert result.refusal is not None
    assert word in result.refusal.text


@pytest.mark.parametrize(
    "question", ["breweries with more than Rodenbach", "Which breweries have more than Rodenbach?"]
)
def test_more_than_a_name_is_refused(ask: Retriever, question: str) -> None:
    result = ask.ask(question)
    assert result.reading is not None
    assert not result.reading.complete
    assert result.refusal is not None
    assert result.refusal.kind == "not_understood"


def test_a_measure_that_no_unit_agrees_with_is_refused(ask: Retriever) -> None:
    assert ask.ask("beers over 100 MB, how many").answer is None


def test_hits_say_the_way_and_the_edges_that_speak_for_them(ask_countries: Retriever) -> None:
    result = ask_countries.ask("Which beers are brewed by breweries located in Austria?")
    best = result.hits[0]
    assert (best.name, best.complete) == ("Samichlaus", True)
    assert best.why == "Austria <-located_in- Schloss Eggenberg <-brewed_by- Samichlaus"
    assert [edge.model_dump() for edge in best.edges] == [
        {"source": "9", "type": "brewed_by", "target": "b6"},
        {"source": "b6", "type": "located_in", "target": "at"},
    ]


def test_what_meets_all_stands_above_what_meets_some(ask: Retriever) -> None:
    hits = ask.ask("Which beers are brewed by Rodenbach?").hits
    marks = [hit.complete for hit in hits]
    assert marks == sorted(marks, reverse=True)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert marks.count(True) == 2


def test_filters_count_too(ask: Retriever) -> None:
    assert ask.ask("How many beers are there?", where=["abv >= 8"]).answer == "4"


def test_a_reading_that_was_put_right_takes_the_place_of_the_words(ask: Retriever) -> None:
    line = ask.ask("Which beers are brewed by Rodenbach?").reading
    assert line is not None
    assert line.text == 'beer that -brewed_by-> "Rodenbach"'
    result = ask.ask("anything", reading='count beer that not -brewed_by-> "Rodenbach" and abv > 8')
    assert result.answer == "3"


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("count beeer", "near: beer"),
        ('beer that -brewed_bye-> "Rodenbach"', "near: brewed_by"),
        ('beer that -brewed_by-> "Rodenbahc"', "Rodenbach"),
        ("beer that -brewed_by-> style", "no edge"),
        ("beer that abv >", "a number or a date stands here"),
        ('beer that colour = "red"', "a condition stands here"),
        ("beer that (abv > 3", "close the bracket"),
        ("beer that abv > 3 )", "nothing behind the last"),
        ("", "a kind of nodes stands here"),
    ],
)
def test_a_line_that_cannot_be_read_is_refused_with_a_remedy(ask: Retriever, line: str, remedy: str) -> None:
    with pytest.raises(Error, match=remedy.replace("|", r"\|")):
        ask.ask("anything", reading=line)


def test_a_reading_goes_with_anchor_alone(ask: Retriever) -> None:
    with pytest.raises(BadOption, match="reading goes with anchor"):
        Retriever(ask.graph, "bm25").ask("anything", reading="count beer")


# -------------------------------------------------------------------------------------------- worded by fresh eyes


def worlds(tmp_path: Path, name: str) -> Graph:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    pytest.importorskip("pandas")
    from intents.frames import DEMO, WORLDS
    from orienteer.ingest import ImportOptions, import_graph

    import_graph([DEMO if name == "demo" else WORLDS / name], tmp_path / name, options=ImportOptions())
    return Graph.open(tmp_path / name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["demo", "observatories", "harbours"])
@pytest.mark.parametrize("split", ["dev", "held"])
def test_worded_questions_are_read_right_or_refused(tmp_path: Path, name: str, split: str) -> None:
    graph = worlds(tmp_path, name)
    from intents.frames import frames
    from intents.loader import entries
    from readings import MOST, judged

    anchor = Retriever(graph, "anchor")
    verdicts: list[str] = []
    for entry in entries((name,), (split,)):  # type: ignore[arg-type]  # one of the splits
        golds = [gold(frames(name)) for gold in (entry.intent.gold, *entry.intent.also)]
        verdicts += [judged(anchor.ask(text, k=MOST), golds) for text in entry.intent.phrasings]
    number = len(verdicts)
    assert verdicts.count("wrong") <= 0.04 * number
    assert verdicts.count("right") >= (0.65 if split == "held" else 0.8) * number


@pytest.mark.slow
@pytest.mark.parametrize("name", ["demo", "observatories", "harbours"])
def test_the_line_and_cypher_say_what_the_query_gives(tmp_path: Path, name: str) -> None:
    graph = worlds(tmp_path, name)
    from intents.loader import entries
    from orienteer import Cypher

    anchor, cypher = Retriever(graph, "anchor"), Cypher(graph)
    compared = 0
    for entry in entries((name,), ("dev",)):
        result = anchor.ask(entry.intent.phrasings[0], k=200)
        if result.reading is None or result.reading.text is None:
            continue
        again = anchor.ask("put right by hand", k=200, reading=result.reading.text)
        assert (again.answer, {hit.id for hit in again.hits if hit.complete}) == (
            result.answer,
            {hit.id for hit in result.hits if hit.complete},
        ), result.reading.text
        statement = result.reading.cypher
        if statement is None or "RETURN n.id, n.name" not in statement or "ORDER BY" in statement:
            continue
        rows = cypher.query(statement, limit=None).rows
        assert {row[0] for row in rows} == {hit.id for hit in result.hits if hit.complete}, statement
        compared += 1
    assert compared >= 5


def test_a_notebook_says_how_it_was_read_and_what_is_only_nearby(ask: Retriever) -> None:
    page = ask.ask("Which beers are brewed by Rodenbach?")._repr_html_()
    assert "read as: beer that -brewed_by-&gt; &quot;Rodenbach&quot;" in page
    assert "nearby; " in page
    assert "no exact answer: not in this graph: &#x27;Heineken&#x27;" in ask.ask("Who owns Heineken?")._repr_html_()


def test_a_count_over_edges_that_are_known_in_part_says_so(tmp_path: Path) -> None:
    from orienteer.ingest import ImportOptions, import_graph

    (tmp_path / "nodes.csv").write_text("id,type,name\ng1,gene,TP53\nt1,tissue,liver\nt2,tissue,lung\n")
    (tmp_path / "edges.csv").write_text("source,type,target\nt1,expresses,g1\nt2,expresses,g1\n")
    import_graph([tmp_path], tmp_path / "graph", options=ImportOptions(partial=("expresses",)))
    result = Retriever(tmp_path / "graph", "anchor").ask("How many tissues express TP53?")
    assert result.answer == "2"
    assert any("only a part of expresses" in note for note in result.notes)


def test_a_set_that_is_too_large_to_be_named_is_counted_in_its_place(tmp_path: Path) -> None:
    nodes = [{"id": f"b{at}", "type": "beer", "name": f"Ale {at}"} for at in range(30)]
    nodes.append({"id": "y", "type": "brewery", "name": "Holm"})
    edges = [{"source": f"b{at}", "type": "brewed_by", "target": "y"} for at in range(30)]
    anchor = Retriever(Graph.from_records(nodes, edges, path=tmp_path / "graph"), "anchor")
    few, every = (anchor.ask("Which beers are brewed by Holm?", k=k) for k in (7, 31))
    assert (few.answer, few.reading.total if few.reading else None) == (None, 30)
    assert few.meeting == "30 nodes meet all of it: the first 7 are listed"
    assert few.meeting not in few.notes
    assert few.meeting in few._repr_html_()
    assert every.meeting == "30 nodes meet all of it: all are listed"
    assert sum(hit.complete for hit in every.hits) == 30
    counted = anchor.ask("How many beers are brewed by Holm?", k=30)
    assert (counted.answer, counted.meeting) == ("30", None)


@pytest.mark.parametrize(
    "question",
    [
        "beers except Duvel, Vitus and Pilsner",
        "Which is older, Duvel or Rodenbach?",  # a brewery, and none of the beers of which it is a part of the name
        "Which brewery's beers are the strongest?",  # a brewery is asked for, and no beer
        "Which brewery's beers have the most styles?",
        "Whose beer is the strongest?",
        "All beers by Rodenbach are stronger than 5.6",
        "How many Belgian beers are there?",  # brewed in Belgium, and not of the style "Belgian Strong Ale"
        "Russian breweries",  # "Russian River" is in the United States
        "the strongest Belgian beer",
    ],
)
def test_another_question_than_the_one_that_is_asked_is_not_answered(ask: Retriever, question: str) -> None:
    result = ask.ask(question)
    assert result.answer is None, result.reading
    assert result.reading is None or not result.reading.complete, result.reading
    assert result.refusal is not None


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("beers by Duvel Moortgat except Duvel and Vitus", {"Vedett Blond"}),
        ("Which is older, Rodenbach or Weihenstephan?", {"Weihenstephan"}),
        ("Russian River beers", {"Pliny the Elder"}),
        ("Belgian Strong Ale beers", {"Duvel", "Chimay Bleue"}),
        ("all beers that are stronger than 8", {"Duvel", "Samichlaus", "Chimay Bleue"}),
        (  # a beer has one style, and no other
            "beers except pilsners and pale ales",
            {"Duvel", "Chimay Bleue", "Rodenbach Grand Cru", "Rodenbach Alexander", "Hefeweissbier", "Vitus"}
            | {"Samichlaus"},
        ),
    ],
)
def test_what_is_asked_in_words_like_them_is_answered(ask: Retriever, question: str, names: set[str]) -> None:
    assert complete(ask.ask(question)) == names


def test_who_and_what_are_not_read_against_the_edges(tmp_path: Path) -> None:
    nodes = [
        {"id": ident, "type": kind, "name": name}
        for ident, kind, name in (
            ("p", "person", "Ada Holm"),
            ("c", "language", "Cirrus"),
            ("g", "software", "Gale"),
        )
    ]
    edges = [
        {"source": "g", "type": "written_in", "target": "c"},
        {"source": "p", "type": "created", "target": "g"},
    ]
    anchor = Retriever(Graph.from_records(nodes, edges, path=tmp_path / "graph"), "anchor")
    for question in ("What is Cirrus written in?", "Who wrote Gale?"):
        assert anchor.ask(question).refusal is not None, question
    assert complete(anchor.ask("What is Gale written in?")) == {"Cirrus"}
    assert complete(anchor.ask("What is written in Cirrus?")) == {"Gale"}
    assert complete(anchor.ask("Who created Gale?")) == {"Ada Holm"}


def test_a_noun_with_a_word_before_it_is_no_verb(ask_countries: Retriever) -> None:
    assert ask_countries.ask("What is the home country of Duvel Moortgat?").answer is None


def test_a_name_before_a_question_is_no_claim(ask: Retriever) -> None:
    result = ask.ask("Rodenbach: which beers are brewed there?")
    assert complete(result) == {"Rodenbach Grand Cru", "Rodenbach Alexander"}
    assert result.answer_kind == "set"
