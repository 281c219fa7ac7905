"""Rank measures against ir-measures (trec_eval), and against the rules of STaRK's evaluator, written out.

STaRK's evaluator makes a dense vector over all candidates, with what the prediction does not list at min - 1, and hands
it to torchmetrics. Its rules are transcribed here twice: as they were before torchmetrics 1.7.4, and as they have been
since, with relevant items at scores of 0 and below ignored. Where torchmetrics is installed the transcription itself is
checked against it.
"""

import math
import random

import pytest
from hypothesis import given, strategies as st

from orienteer.lab.evaluation import rank_measure

NODES = [f"n{number:02d}" for number in range(30)]
NAMES = ("Hit@1", "Hit@5", "Hit@20", "Recall@5", "Recall@20", "Precision@1", "Precision@5", "MRR", "MAP", "nDCG@10")
STARK_NAMES = ("Hit@1", "Hit@5", "Recall@5", "Recall@20", "Precision@5", "MRR", "MAP")

rankings = st.lists(st.sampled_from(NODES), unique=True, max_size=30)
golds = st.dictionaries(st.sampled_from(NODES), st.just(1.0), min_size=1, max_size=12)
graded = st.dictionaries(st.sampled_from(NODES), st.integers(1, 4).map(float), min_size=1, max_size=12)


# ------------------------------------------------------------------------------------------------ trec_eval

# What ir-measures calls ours. nDCG's gain is the relevance itself in both.
PEERS = {
    "Hit@1": "Success@1",
    "Hit@5": "Success@5",
    "Hit@20": "Success@20",
    "Recall@5": "R@5",
    "Recall@20": "R@20",
    "Precision@1": "P@1",
    "Precision@5": "P@5",
    "MRR": "RR",
    "MAP": "AP",
    "nDCG@10": "nDCG@10",
}


@pytest.mark.parametrize("name", NAMES)
def test_equal_to_ir_measures_on_random_rankings(name):
    ir_measures = pytest.importorskip("ir_measures")
    peer = ir_measures.parse_measure(PEERS[name])
    generator = random.Random(name)
    ours, qrels, run = {}, {}, {}
    for number in range(300):
        question = f"q{number}"
        ranking = generator.sample(NODES, generator.randint(1, len(NODES)))
        gold = {node: float(generator.randint(1, 3)) for node in generator.sample(NODES, generator.randint(1, 12))}
        ours[question] = rank_measure(name)(ranking, gold)
        qrels[question] = {node: int(relevance) for node, relevance in gold.items()}
        run[question] = {node: float(len(ranking) - place) for place, node in enumerate(ranking)}
    theirs = {one.query_id: one.value for one in ir_measures.pytrec_eval.iter_calc([peer], qrels, run)}
    assert len(theirs) == 300
    for question, value in theirs.items():
        assert ours[question] == pytest.approx(value, abs=1e-9), question


def test_all_gold_is_where_trec_evals_recall_is_whole():
    """HippoRAG's all-recall; trec_eval has no name for it."""
    ir_measures = pytest.importorskip("ir_measures")
    generator = random.Random(5)
    ours, qrels, run = {}, {}, {}
    for number in range(300):
        question = f"q{number}"
        ranking = generator.sample(NODES, generator.randint(1, len(NODES)))
        gold = generator.sample(NODES, generator.randint(1, 3))
        ours[question] = rank_measure("AllGold@10")(ranking, dict.fromkeys(gold, 1.0))
        qrels[question] = dict.fromkeys(gold, 1)
        run[question] = {node: float(len(ranking) - place) for place, node in enumerate(ranking)}
    theirs = ir_measures.pytrec_eval.iter_calc([ir_measures.parse_measure("R@10")], qrels, run)
    assert ours == {one.query_id: float(one.value == 1) for one in theirs}
    assert 0 < sum(ours.values()) < 300


# ------------------------------------------------------------------------------------------------ the definitions


def by_definition(name, ranking, gold):
    """Say what a measure is worth, place by place, in the plainest way."""
    kind, _, cut = name.partition("@")
    k = int(cut) if cut else len(ranking)
    relevant = [node in gold for node in ranking]
    if kind == "Hit":
        return 1.0 if True in relevant[:k] else 0.0
    if kind == "Recall":
        return relevant[:k].count(True) / len(gold)
    if kind == "AllGold":
        return 1.0 if set(gold) <= set(ranking[:k]) else 0.0
    if kind == "Precision":
        return relevant[:k].count(True) / k
    if kind == "MRR":
        return 1 / (relevant.index(True) + 1) if True in relevant else 0.0
    if kind == "MAP":
        return sum(relevant[: place + 1].count(True) / (place + 1) for place in range(k) if relevant[place]) / len(gold)
    assert kind == "nDCG"
    gains = [gold.get(node, 0) for node in ranking][:k]
    best = sorted(gold.values(), reverse=True)[:k]
    return sum(g / math.log2(i + 2) for i, g in enumerate(gains)) / sum(
        g / math.log2(i + 2) for i, g in enumerate(best)
    )


@given(ranking=rankings, gold=graded, name=st.sampled_from((*NAMES, "AllGold@2", "AllGold@5", "AllGold@20")))
def test_equal_to_the_definitions(ranking, gold, name):
    assert rank_measure(name)(ranking, gold) == pytest.approx(by_definition(name, ranking, gold), abs=1e-12)


# ------------------------------------------------------------------------------------------------ STaRK's evaluator


def stark(name, scores, gold, candidates, *, ignores_nonpositive):
    """Evaluate one prediction {node: score} by the rules of STaRK's evaluator and of torchmetrics under it."""
    lowest = min(scores.values()) - 1
    dense = [scores.get(node, lowest) for node in candidates]
    target = [node in gold for node in candidates]
    order = sorted(range(len(dense)), key=lambda place: -dense[place])  # stable: unlisted ones stay in their order
    kind, _, cut = name.partition("@")
    if ignores_nonpositive and kind != "Hit":  # hit rate was left as it was
        relevant = [target[place] and dense[place] > 0 for place in order]
    else:
        relevant = [target[place] for place in order]
    k = min(int(cut), len(order)) if cut else len(order)
    if kind == "Hit":
        return float(any(relevant[:k]))
    if kind == "Recall":
        return sum(relevant[:k]) / sum(target)
    if kind == "Precision":
        return sum(relevant[:k]) / int(cut)
    places = [place + 1 for place, one in enumerate(relevant) if one]
    if kind == "MRR":
        return 1 / places[0] if places else 0.0
    assert kind == "MAP"
    return sum((found + 1) / place for found, place in enumerate(places)) / len(places) if places else 0.0


def positive(ranking):
    """Give the scores that the official evaluator should be fed: 1 / place, all above 0."""
    return {node: 1 / place for place, node in enumerate(ranking, 1)}


@st.composite
def listed_gold(draw):
    """Draw a ranking of at least 20 candidates that lists all of gold: nothing is left to the order of the unlisted."""
    ranking = draw(st.lists(st.sampled_from(NODES), unique=True, min_size=20, max_size=30))
    gold = draw(st.sets(st.sampled_from(ranking), min_size=1, max_size=8))
    return ranking, dict.fromkeys(gold, 1.0)


@given(drawn=listed_gold(), name=st.sampled_from(STARK_NAMES), rule=st.booleans())
def test_equal_to_stark_on_scores_above_zero_under_either_rule(drawn, name, rule):
    ranking, gold = drawn
    official = stark(name, positive(ranking), gold, NODES, ignores_nonpositive=rule)
    assert rank_measure(name)(ranking, gold) == pytest.approx(official, abs=1e-12)


@given(ranking=st.lists(st.sampled_from(NODES), unique=True, min_size=20), gold=golds, k=st.sampled_from([1, 5, 20]))
def test_cut_measures_equal_stark_wherever_the_ranking_is_as_long_as_the_cut(ranking, gold, k):
    for kind in ("Hit", "Recall"):
        official = stark(f"{kind}@{k}", positive(ranking), gold, NODES, ignores_nonpositive=False)
        assert rank_measure(f"{kind}@{k}")(ranking, gold) == pytest.approx(official, abs=1e-12)


def test_the_new_rule_makes_a_find_at_scores_below_zero_a_miss_and_ours_does_not():
    scores = {"n01": -1.0, "n02": -2.0, "n03": -3.0}
    gold = {"n02": 1.0}
    ranking = sorted(scores, key=scores.get, reverse=True)
    old = {name: stark(name, scores, gold, NODES, ignores_nonpositive=False) for name in STARK_NAMES}
    new = {name: stark(name, scores, gold, NODES, ignores_nonpositive=True) for name in STARK_NAMES}
    assert (old["MRR"], old["Recall@20"], old["Hit@5"]) == (0.5, 1.0, 1.0)
    assert (new["MRR"], new["Recall@20"], new["Hit@5"]) == (0.0, 0.0, 1.0)
    for name in STARK_NAMES:
        assert rank_measure(name)(ranking, gold) == pytest.approx(old[name])


@given(ranking=rankings.filter(bool), gold=golds)
def test_ours_never_credits_a_node_that_was_not_listed(ranking, gold):
    """The official evaluator gives an all-miss question a little MRR, from the order of the unlisted candidates."""
    ours = rank_measure("MRR")(ranking, gold)
    official = stark("MRR", positive(ranking), gold, NODES, ignores_nonpositive=False)
    if set(ranking) & set(gold):
        assert ours == pytest.approx(official)
    else:
        assert ours == 0.0 < official <= 1 / (len(ranking) + 1)


@given(gold=golds, name=st.sampled_from(NAMES))
def test_an_empty_prediction_is_zero_where_the_official_evaluator_fails(gold, name):
    assert rank_measure(name)([], gold) == 0.0
    with pytest.raises(ValueError, match="empty"):
        stark("MRR", {}, gold, NODES, ignores_nonpositive=False)


PEER_METRICS = {
    "Hit@5": ("retrieval_hit_rate", 5),
    "Recall@5": ("retrieval_recall", 5),
    "Precision@5": ("retrieval_precision", 5),
    "MRR": ("retrieval_reciprocal_rank", None),
    "MAP": ("retrieval_average_precision", None),
}


@pytest.mark.parametrize("name", PEER_METRICS)
def test_the_transcription_against_torchmetrics(name):
    torch = pytest.importorskip("torch")
    torchmetrics = pytest.importorskip("torchmetrics")
    functional = pytest.importorskip("torchmetrics.functional.retrieval")
    function, k = PEER_METRICS[name]
    version = tuple(int(part) for part in torchmetrics.__version__.split(".")[:3])
    generator = random.Random(name)
    for _ in range(100):
        ranking = generator.sample(NODES, generator.randint(5, len(NODES)))
        shift = generator.choice([0.0, 0.3, 2.0])  # some or all of the scores fall below 0
        scores = {node: score - shift for node, score in positive(ranking).items()}
        gold = dict.fromkeys(generator.sample(ranking, 3), 1.0)
        lowest = min(scores.values()) - 1
        predicted = torch.tensor([scores.get(node, lowest) for node in NODES])
        target = torch.tensor([node in gold for node in NODES])
        value = getattr(functional, function)(predicted, target, **({"top_k": k} if k else {}))
        ours = stark(name, scores, gold, NODES, ignores_nonpositive=version >= (1, 7, 4))
        assert float(value) == pytest.approx(ours, abs=1e-6)
