"""Questions that are not read: why, the nearest that are, and what a person sees of them."""

from __future__ import annotations

import json

import pytest

from orienteer import Graph, Retriever
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
