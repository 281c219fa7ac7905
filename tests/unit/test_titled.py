"""Titles that stand in a question, and the bonus that they bring; by definition and brute force."""

import numpy as np
import pytest

from fakes.embedder import embedded
from orienteer.errors import BadOption
from orienteer.graph import Graph, TitleFinder
from orienteer.index import TitleBonus
from orienteer.llm import Allowance
from orienteer.methods import Hybrid, HybridConfig
from orienteer.records import Node, Question

TITLES = {
    "a": "Salt Bay",
    "b": "Salt Bay Lighthouse",
    "c": "Chicago (film)",
    "d": "Chicago",
    "e": "Time",
    "f": "1984",
    "g": "Van Hook Township, North Dakota",
}


@pytest.fixture(scope="module")
def graph():
    nodes = [Node(key, "chunk", title, "text of its own") for key, title in TITLES.items()]
    common = [Node(f"z{at:02}", "chunk", f"Other {at}", "the time of day") for at in range(30)]
    return Graph.from_records([*nodes, *common], [])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Who founded Salt Bay?", "a"),
        ("Who keeps the Salt Bay Lighthouse?", "b"),  # the longest, and no word is part of two
        ("Is Salt Bay older than Salt Bay Lighthouse?", "ab"),
        ("who founded salt bay?", ""),  # a name begins with a capital
        ("Who starred in Chicago?", "cd"),  # also without its bracket
        ("Who wrote 1984?", "f"),
        ("What Time is it?", ""),  # a single word that many nodes have
        ("Where is Van Hook Township, North Dakota?", "g"),
        ("Where is Van Hook?", ""),  # not the whole name
        ("", ""),
        ("???", ""),
    ],
)
def test_titles_that_stand_in_a_text(graph, text, found):
    assert [graph.arrays.ids[row] for row in TitleFinder(graph.arrays)(text)] == list(found)


class Fixed:
    """A searcher with a score for each row."""

    def __init__(self, scores):
        self.of = np.array(scores)

    def search(self, query, k, *, among=None, mask=None):
        from orienteer.index import ScoredRows

        rows = np.arange(len(self.of)) if among is None else np.asarray(among)
        rows = rows if mask is None else rows[mask[rows]]
        order = np.lexsort((rows, -self.of[rows]))[:k]
        return ScoredRows(rows[order].astype(np.int32), self.of[rows[order]])

    def scores(self, query, rows):
        return self.of[rows]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("k", [0, 1, 3, 10, 99])
def test_the_bonus_is_a_share_of_the_best_score(seed, k):
    random = np.random.default_rng(seed)
    scores = random.integers(0, 20, 40) / 10  # with ties
    titled = np.unique(random.integers(0, 40, 4)).astype(np.int32)
    among = np.unique(random.integers(0, 40, 25)).astype(np.int32)
    mask = random.random(40) < 0.7
    searcher = TitleBonus(Fixed(scores), lambda query: titled, 0.2)
    raised = scores + 0.2 * scores.max() * np.isin(np.arange(40), titled)
    assert searcher.scores("q", np.arange(40)).tolist() == pytest.approx(raised.tolist())
    for rows, options in (
        (np.arange(40), {}),
        (among, {"among": among}),
        (np.flatnonzero(mask), {"mask": mask}),
        (among[mask[among]], {"among": among, "mask": mask}),
    ):
        found = searcher.search("q", k, **options)
        best = sorted(rows.tolist(), key=lambda row: (-raised[row], row))[:k]
        assert found.rows.tolist() == best
        assert found.scores.tolist() == pytest.approx(raised[best].tolist())


def test_without_titles_nothing_changes():
    searcher = TitleBonus(Fixed([3.0, 1.0]), lambda query: np.zeros(0, np.int32), 1.0)
    assert searcher.search("q", 2).scores.tolist() == [3, 1]
    assert searcher.scores("q", np.array([1])).tolist() == [1]


@pytest.mark.parametrize("bonus", [-0.1, 1.1, float("nan")])
def test_a_bonus_is_0_to_1(bonus):
    with pytest.raises(BadOption, match="titles is"):
        TitleBonus(Fixed([1.0]), lambda query: np.zeros(0, np.int32), bonus)
    with pytest.raises(BadOption, match="titles is"):
        HybridConfig(titles=bonus)


@pytest.mark.parametrize("fusion", ["linear", "rrf"])
def test_hybrid_raises_what_the_question_names(fusion, tmp_path):
    nodes = [Node(f"n{at}", "chunk", f"Ferry {at}", "the ferry sails at night") for at in range(30)]
    nodes.append(Node("x", "chunk", "Ada Holm", "a captain born far away from any sea"))
    graph = embedded(Graph.from_records(nodes, [], path=tmp_path / "graph"), tmp_path / "cache")
    question = Question(text="On which ferry at night does Ada Holm sail the ferry?")

    def found(titles):
        hits = Hybrid(graph, HybridConfig(fusion=fusion, titles=titles)).retrieve(question, Allowance()).hits
        return {hit.id: (place, hit) for place, hit in enumerate(hits)}

    plain, raised = found(0.0), found(0.6)
    assert raised["x"][0] < plain.get("x", (99, None))[0]
    assert raised["x"][1].why.startswith("title in the question; ")
    best = max(hit.score for _, hit in plain.values())
    rows = np.array([graph.arrays.row("x")], np.int32)
    own = float(graph.arrays.searcher("hybrid", fusion=fusion).scores(question.text, rows)[0])
    assert raised["x"][1].score == pytest.approx(own + 0.6 * best)
    others = [node for node in raised if node != "x"]
    assert others == [node for node in plain if node != "x"][: len(others)]
