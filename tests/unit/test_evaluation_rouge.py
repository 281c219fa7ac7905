"""Rouge-1, Rouge-2 and Rouge-L, as Graph-CoT's evaluation of GRBench prints them."""

from itertools import combinations

import pytest
from hypothesis import given, strategies as st

from orienteer.errors import BadOption
from orienteer.lab.evaluation import (
    Example,
    Gold,
    RunLine,
    RunManifest,
    StoredRun,
    answer_measure,
    common_subsequence,
    default_measures,
    rouge_l,
    rouge_n,
    rouge_words,
)
from orienteer.records import Question

WORDS = st.lists(st.sampled_from("abc"), max_size=7)


def score(name, answer, *golds, kind=None):
    return answer_measure(name)(answer, Gold(answers=golds, answer_type=kind))


def brute_force(words, other):
    """Return the length of the longest common subsequence by trying all of one's."""
    theirs = {part for size in range(len(other) + 1) for part in combinations(other, size)}
    return max(size for size in range(len(words) + 1) for part in combinations(words, size) if part in theirs)


@given(WORDS, WORDS)
def test_the_longest_common_subsequence_against_brute_force(words, other):
    assert common_subsequence(words, other) == brute_force(words, other)
    assert rouge_l(words, other) == pytest.approx(rouge_l(other, words))


@given(WORDS, WORDS, st.integers(1, 3))
def test_runs_against_a_count_by_hand(words, other, n):
    left = [tuple(other[at : at + n]) for at in range(len(other) - n + 1)]
    ours, theirs = max(0, len(words) - n + 1), len(left)
    common = 0
    for at in range(ours):
        if (run := tuple(words[at : at + n])) in left:
            left.remove(run)
            common += 1
    expected = 0.0
    if common:
        precision, recall = common / ours, common / theirs
        expected = 2 * precision * recall / (precision + recall)
    assert rouge_n(words, other, n) == pytest.approx(expected)


# By the rules of rouge-score without stemming, worked out by hand.
@pytest.mark.parametrize(
    ("answer", "gold", "rouge_1", "two", "longest"),
    [
        ("the cat sat on the mat", "the cat on the mat", 10 / 11, 6 / 9, 10 / 11),
        ("mat the on sat cat the", "the cat sat on the mat", 1.0, 0.0, 6 / 12),
        ("Alzheimer's disease.", "alzheimer s disease", 1.0, 1.0, 1.0),
        ("neuron projection", "neuron", 2 / 3, 0.0, 2 / 3),
        ("yes", "True", 0.0, 0.0, 0.0),
        ("1,234", "1234", 0.0, 0.0, 0.0),
        ("", "salt", 0.0, 0.0, 0.0),
        ("林檎", "林檎", 0.0, 0.0, 0.0),
    ],
)
def test_by_hand(answer, gold, rouge_1, two, longest):
    assert score("Rouge-1", answer, gold) == pytest.approx(rouge_1)
    assert score("Rouge-2", answer, gold) == pytest.approx(two)
    assert score("Rouge-L", answer, gold) == pytest.approx(longest)


def test_words_are_those_of_rouge_score():
    assert rouge_words("Łódź-1st, naïve_x") == ["d", "1st", "na", "ve", "x"]
    assert score("Rouge-L (lenient)", "林檎", "林檎") == score("Rouge-L (lenient)", "Lódz", "Łódź") + 1.0 == 1.0


def test_the_best_gold_counts_and_a_set_is_one_text():
    assert score("Rouge-L", "Bombay", "Mumbai", "Bombay") == 1.0
    assert score("Rouge-L", "Salt, Night Ferry", "Salt", "Night Ferry", kind="set") == 1.0
    assert score("Rouge-L", "Night Ferry, Salt", "Salt", "Night Ferry", kind="set") == pytest.approx(4 / 6)


def test_an_unknown_one_is_an_error():
    with pytest.raises(BadOption, match="Rouge-L"):
        answer_measure("Rouge-3")


def test_a_run_over_grbench_shows_it(tmp_path):
    def measures(dataset):
        facts = {"graph": "g", "graph_sha256": "", "nodes": 1, "edges": 0, "questions_sha256": "", "count": 1}
        manifest = RunManifest(dataset=dataset, answers=True, orienteer="0", python="3", created="now", **facts)
        gold = Gold(answers=("Salt",))
        example = Example(question=Question(id="1", text="?"), gold=gold)
        line = RunLine(id="1", method="vanilla", question="?", answer="Salt", gold=gold)
        return default_measures(StoredRun(tmp_path, manifest, (example,), (line,)))

    assert measures("grbench") == ("EM", "F1", "SubEM", "SubEM (lenient)", "Rouge-L")
    assert "Rouge-L" not in measures("jsonl")
