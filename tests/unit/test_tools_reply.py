"""Replies for a model: under their budget, with the words that each hit has."""

import os
import subprocess
import sys

import pytest

from clinic import ask
from orienteer.graph import QueryWords, WordCoverage, coverage_note
from orienteer.records import Node
from orienteer.tools import ReplyLines, Session, Toolbox, answer_state, open_plain


@pytest.mark.parametrize(
    ("match", "note"),
    [
        (WordCoverage(2, 2, ()), " 2/2 words"),
        (WordCoverage(7, 10, ("x", "y", "z")), " 7/10 words, not: x, y, z"),
        (WordCoverage(1, 6, ("a", "b", "c", "d", "e")), " 1/6 words, not: a, b, c and 2 more"),
        (WordCoverage(0, 0, ()), ""),
    ],
)
def test_coverage(match, note):
    assert coverage_note(match) == note


def test_matches_count_whole_words_and_name_the_missing_rarest_first(graph):
    words = QueryWords(graph.arrays, "pain fever zebra")
    [match] = words.coverages(graph.arrays.rows(["c2"]))
    assert (match.number, match.of) == (1, 3)
    assert match.missing == ("zebra", "fever")
    assert words.unknown == ("zebra",)


def test_matches_come_in_the_order_of_the_rows(graph):
    rows = graph.arrays.rows(["c1", "c2"])[::-1]
    assert [match.is_full for match in QueryWords(graph.arrays, "pain fever").coverages(rows)] == [False, True]


def test_a_snippet_stands_around_the_rarest_word(make):
    text = f"common {'filler ' * 100}the unicorn stood there {'filler ' * 100}common"
    graph = make([Node("a", text=text), *(Node(f"b{at}", text="common filler") for at in range(9))])
    shown = QueryWords(graph.arrays, "what is a common unicorn").snippet(0)
    assert "unicorn" in shown
    assert len(shown) <= 162


def test_the_state_of_the_answer(graph):
    session = Session(graph)
    assert answer_state(session) == "answer: 0 nodes"
    session.answer = [graph.arrays.row(one) for one in ("c1", "c2", "c3", "d1")]
    assert answer_state(session) == "answer: 4 nodes (Aspirin; Ibuprofen; Quinine; ...)"


def test_a_reply_ends_with_the_state_and_a_plain_one_does_not(graph):
    for saves, expected in ((True, "line\nanswer: 0 nodes"), (False, "line")):
        reply = ReplyLines(Session(graph, saves_sets=saves))
        reply.say("line")
        assert reply.text() == expected


@pytest.mark.parametrize("tokens", [100, 300, 1_200])
def test_a_reply_keeps_to_its_budget_whatever_is_put_in(graph, tokens):
    session = Session(graph, tokens)
    session.answer = [graph.arrays.row(one) for one in ("c1", "c2", "c3")]
    reply = ReplyLines(session)
    reply.say("x" * 10_000)
    reply.list([0, 1, 2] * 50, [f"row {at} {'y' * 50}" for at in range(150)])
    assert len(reply.text()) <= tokens * 4
    assert len(reply.shown) == sum(line.startswith("row") for line in reply.text().splitlines())


def test_what_did_not_fit_is_counted(graph):
    reply = ReplyLines(Session(graph, 100))
    reply.list(list(range(11)), ["y" * 60] * 11)
    more = 11 - len(reply.shown)
    assert more > 0
    assert f"... {more} more did not fit" in reply.text()


def test_the_head_of_a_page_tells_how_many_rows_are_shown_beneath_it(graph):
    for tokens in (100, 300, 1_200):
        reply = ReplyLines(Session(graph, tokens))
        reply.say("before")
        reply.page(list(range(90)), ["y" * 60] * 90, lambda shown: f"{shown} of 90")
        first, head, *rows, state_line = reply.text().splitlines()
        assert (first, head) == ("before", f"{len(reply.shown)} of 90")
        assert len(rows) == len(reply.shown) + (len(reply.shown) < 90)
        assert len(reply.text()) <= tokens * 4


@pytest.mark.parametrize("k", [5, 15, 16, 40, 100])
def test_snippets_keep_their_size_for_the_first_rows_then_names_stand_alone(make, k):
    birds = [Node(f"n{at:03}", "Bird", f"Bird {at}", "heron " + "gull tern osprey " * 40) for at in range(120)]
    toolbox = Toolbox.full(make([*birds, *(Node(f"z{at:03}", "Stone", "Stone") for at in range(200))]))
    found = ask(toolbox, "search_in_graph", query="heron tern bird", k=k)
    lines = [line for line in found.text.splitlines() if line.startswith("[")]
    first, others = lines[:15], lines[15:]
    assert len(lines) >= min(k, 40)
    assert all(len(line.partition("words: ")[2].split()) >= 18 for line in first)
    assert all(line.endswith("(Bird)") for line in others)
    plain = open_plain(toolbox.session.graph, "lexical")
    shown = ask(plain, "search_in_graph", query="heron tern bird", size=30).text.splitlines()
    assert len(shown) == 30
    assert all("(Bird): " in line and "tern" in line for line in shown)  # the paper's tool shows each row alike


def test_long_names_do_not_break_the_budget(make):
    graph = make([Node(f"n{at}", name=f"word {at} {'long ' * 300}") for at in range(5)])
    toolbox = Toolbox.full(graph)
    ask(toolbox, "add_to_answer", nodes=["n0", "n1", "n2"])
    found = ask(toolbox, "search_in_graph", query="word")
    assert found.nodes
    assert len(found.text) <= toolbox.session.reply_tokens * 4


SNIPPET = """
import random
from orienteer.text import snippet
for vocabulary in range(40):
    weights = {f"{name}{vocabulary}": weight for name, weight in zip("abcd", (0.1, 0.2, 0.3, 0.7))}
    orders = [random.Random(seed).sample(sorted(weights), 4) for seed in range(40)]
    text = " ".join(f"{number} {' '.join(order)} {'reed ' * 30}" for number, order in enumerate(orders))
    print(snippet(text, weights, str.split, width=80))
"""


@pytest.mark.process
def test_a_snippet_is_the_same_in_every_process():
    # Sums in the order of a set differ in their last digit from process to process, and a replay with them.
    shown = {
        subprocess.run(
            [sys.executable, "-c", SNIPPET], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in "012"
    }
    assert len(shown) == 1
