"""`bm25`: the store's ranking, with reasons."""

from orienteer.llm import Allowance
from orienteer.methods import Bm25
from orienteer.records import Question


def test_it_is_the_stores_ranking(small):
    result = Bm25(small).retrieve(Question(text="salt coast captain"), Allowance())
    expected = small.search("salt coast captain", 20)
    assert [(hit.id, hit.score) for hit in result.hits] == [(hit.id, hit.score) for hit in expected]
    assert [(hit.name, hit.type) for hit in result.hits] == [
        (small.node(hit.id).name, small.node(hit.id).type) for hit in expected
    ]
    assert (result.method, result.answer, result.trajectories, result.usage.calls) == ("bm25", None, (), 0)


def test_it_keeps_to_k_types_and_conditions(small):
    question = Question(text="salt ferry", k=1, node_types=("film",), where=("year > 2000",))
    result = Bm25(small).retrieve(question, Allowance())
    assert [hit.id for hit in result.hits] == ["f2"]


def test_a_reason_names_the_words_that_are_there_and_those_that_are_not(small):
    result = Bm25(small).retrieve(Question(text="frozen sisters zebra"), Allowance())
    (hit,) = result.hits
    has, lacks = hit.why.split("; ")
    assert (set(has.removeprefix("has ").split(", ")), lacks) == ({"frozen", "sisters"}, "lacks zebra")
    assert result.notes == ("not in this graph: zebra",)
    assert "frozen" in hit.text


def test_a_question_without_words_finds_nothing(small):
    assert Bm25(small).retrieve(Question(text="?!"), Allowance()).hits == ()
