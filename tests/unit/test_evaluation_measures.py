"""Rank measures: names, denominators, duplicates, the candidate rule, and evidence recall. Oracles: tests/reference."""

import pytest
from hypothesis import given, strategies as st

from orienteer.errors import BadOption
from orienteer.lab.evaluation import evidence_recall, rank_measure, ranking_of
from orienteer.records import Message, Observed, Question, Ranked, Reply, Step, Trajectory

GOLD = {"a": 1.0, "b": 1.0, "c": 2.0, "judged but wrong": 0.0}
NAMES = (
    "Hit@1", "Hit@3", "Recall@2", "Recall@all", "AllGold@3", "AllGold@all", "Precision@4", "Precision@all", "nDCG@3",
    "nDCG@all", "MRR", "MAP",
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "ranking", "value"),
    [
        ("Hit@1", ["a", "x"], 1.0),
        ("Hit@1", ["x", "a"], 0.0),
        ("Hit@2", ["x", "a"], 1.0),
        ("Hit@5", ["judged but wrong"], 0.0),
        ("Recall@1", ["a"], 1 / 3),  # three are relevant: not min(k, 3)
        ("Recall@20", ["a", "x", "c"], 2 / 3),
        ("Recall@all", ["x", "a", "b", "c"], 1.0),
        ("AllGold@3", ["a", "x", "c", "b"], 0.0),
        ("AllGold@4", ["a", "x", "c", "b"], 1.0),
        ("AllGold@2", ["a", "c"], 0.0),  # three are relevant: two places never hold them
        ("Precision@5", ["a"], 1 / 5),  # also where the ranking is shorter
        ("Precision@2", ["a", "x", "b"], 1 / 2),
        ("Precision@all", ["a", "x", "b"], 2 / 3),
        ("MRR", ["x", "y", "b", "a"], 1 / 3),
        ("MAP", ["a", "x", "b"], (1 + 2 / 3) / 3),  # c is never found, and counts
        ("nDCG@1", ["c"], 1.0),
        ("nDCG@1", ["a"], 0.5),
    ],
)
def test_value(name, ranking, value):
    assert rank_measure(name)(ranking, GOLD) == pytest.approx(value)


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_ranking_is_zero(name):
    assert rank_measure(name)((), GOLD) == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_a_node_that_stands_twice_counts_once_and_takes_one_place(name):
    assert rank_measure(name)(["a", "a", "x", "a", "b"], GOLD) == rank_measure(name)(["a", "x", "b"], GOLD)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("gold", [{}, {"a": 0.0}])
def test_without_a_relevant_node_there_is_no_value(name, gold):
    with pytest.raises(ValueError, match="relevant"):
        rank_measure(name)(["a"], gold)


@given(st.permutations(["a", "b", "c", "x", "y"]), st.sampled_from(NAMES))
def test_a_relevant_node_moved_up_never_lowers_a_measure(ranking, name):
    measure = rank_measure(name)
    value = measure(ranking, GOLD)
    assert 0 <= value <= 1
    for place in range(1, len(ranking)):
        above, below = ranking[place - 1 : place + 1]
        if GOLD.get(below, 0) > GOLD.get(above, 0):
            better = [*ranking[: place - 1], below, above, *ranking[place + 1 :]]
            assert measure(better, GOLD) >= value - 1e-12


@pytest.mark.parametrize(
    "name", ["Hit", "Hit@0", "hit@1", "Hits@1", "MRR@5", "Recall@-1", "Recall@1.5", "", "Hit@1 (raw"]
)
def test_an_unknown_name_is_an_error_that_lists_what_there_is(name):
    with pytest.raises(BadOption, match="There is no measure") as caught:
        rank_measure(name)
    assert "Recall@20" in str(caught.value)


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(BadOption, match=r"Near: .*Recall@"):
        rank_measure("recal@20")


def test_raw_is_the_same_measure_marked():
    measure = rank_measure("Recall@7 (raw)")
    assert (measure.name, measure.is_raw, measure.k) == ("Recall@7 (raw)", True, 7)
    assert not rank_measure("Recall@7").is_raw


def test_what_cannot_answer_is_dropped_before_ranking():
    hits = [
        Ranked(id=node_id, type=kind, name=node_id, score=1.0) for node_id, kind in (("x", "brand"), ("a", "product"))
    ]
    assert ranking_of(hits, None) == ("x", "a")
    assert ranking_of(hits, ("product", "bundle")) == ("a",)
    assert ranking_of(hits, ()) == ()


def trajectory(*steps):
    """Make a trajectory of the nodes that each step's observations show."""
    return Trajectory(
        question=Question(text="?"),
        method="ark",
        steps=tuple(
            Step(
                reply=Reply(message=Message(role="assistant")),
                observations=tuple(Observed(call_id="c", text="", nodes=tuple(nodes)) for nodes in observations),
            )
            for observations in steps
        ),
    )


def test_evidence_recall_grows_with_what_was_seen():
    first = trajectory([["x"], ["a"]], [], [["a", "c"]], [["b"]])
    assert evidence_recall([first], GOLD) == pytest.approx([1 / 3, 1 / 3, 2 / 3, 1])


def test_agents_side_by_side_take_their_steps_together():
    assert evidence_recall([trajectory([["a"]]), trajectory([["b"]], [["c"]])], GOLD) == pytest.approx([2 / 3, 1])


def test_without_steps_there_is_no_evidence_curve():
    assert evidence_recall([], GOLD) == []
