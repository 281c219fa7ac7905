"""A number that no float can hold is no number: it is refused by name, or read as text, wherever a text becomes one."""

import pytest

from orienteer import Graph, Retriever
from orienteer.errors import Error
from orienteer.ingest import import_graph

NUMBERS = {
    "400 digits": "9" * 400,
    "400 digits below 0": "-" + "9" * 400,
    "400 digits and a half": "9" * 400 + ".5",
    "exponent": "1e400",
    "thousands": "1" + ",000" * 150,
    "devanagari": "१" * 400,
    "almost": "1e308",
    "none": "1e-400",
    "infinite": "Infinity",
    "not": "NaN",
}
QUESTIONS = (
    "films with year over {}",
    "top {} films",
    "the {} longest films",
    "{} films",
    "{} million films",
    "films between {} and 2000",
    "films from {}-01",
    "films directed by at least {} people",
    "the {}th film",
    "{}th century films",
    "films born on {} May 1990",
    "film #{}",
    "${} films",
)
CONDITIONS = ("year={}", "year<{}", "year>={}", "born>{}", "born={}-01-01")
READINGS = ("film year > {}", "most {} by year of film", "film where year < {}")


def refusal(call, *arguments, **named):
    """Call what may refuse by an error of ours, and return what that says."""
    try:
        call(*arguments, **named)
    except Error as error:
        return str(error)
    return ""


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
def test_a_question_with_one_is_answered(small, number):
    anchor = Retriever(small, method="anchor")
    for question in QUESTIONS:
        anchor.search(question.format(number))


@pytest.mark.parametrize("name", ["documents", "bm25", "hippo"])
def test_by_every_method_without_a_model(small, name):
    for number in NUMBERS.values():
        Retriever(small, method=name).search(QUESTIONS[0].format(number))


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
def test_a_condition_or_a_reading_with_one_is_held_or_refused(small, number):
    anchor = Retriever(small, method="anchor")
    for condition in CONDITIONS:
        assert len(refusal(small.list, where=[condition.format(number)])) < 1_000
        assert len(refusal(anchor.search, "films", where=[condition.format(number)])) < 1_000
    for reading in READINGS:
        assert len(refusal(anchor.search, "films", reading=reading.format(number))) < 1_000


def test_two_of_them_are_not_the_same_number(build):
    graph = build([{"id": "a", "type": "t", "properties": {"size": int("9" * 400)}}])
    assert graph.list(where=["size=" + "8" * 400]).total == 0
    with pytest.raises(Error, match="neither a number that can be compared"):
        graph.list(where=["size>" + "8" * 400])


@pytest.mark.parametrize("number", ["9" * 400, "-" + "9" * 400, "1e400", "Infinity"])
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("odd.csv", "id,name,size\na,A,{}\nb,B,2\n"),
        ("odd.jsonl", '{{"id": "a", "name": "A", "size": {}}}\n{{"id": "b", "name": "B", "size": 3}}\n'),
        ("odd.jsonl", '{{"id": "a", "name": "A", "sizes": [{}, 1]}}\n'),
        ("odd.json", '[{{"id": "a", "name": "A", "size": {}}}]'),
        ("edges.csv", "source,target,weight\np1,p2,{}\n"),
        ("edges.jsonl", '{{"source": "p1", "target": "p2", "weight": {}}}\n'),
        ("odd.gml", 'graph [ node [ id 1 label "A" size {} ] ]'),
    ],
)
def test_a_cell_with_one_is_kept_as_text_or_told(tmp_path, scratch, name, rows, number):
    (tmp_path / "ports.csv").write_text("id,name,year\np1,Basel,1501\np2,Bern,1353\n", encoding="utf-8")
    (tmp_path / name).write_text(rows.format(number), encoding="utf-8")
    path = scratch()
    assert len(refusal(import_graph, [tmp_path], path)) < 1_000
    if path.exists():
        assert Graph.open(path).node("p1").name == "Basel"
